"""Usage logs of Cloud Storage, without the header, of which all lines behind it depend."""

_COLUMNS = (
    "time_micros", "c_ip", "c_ip_type", "c_ip_region", "cs_method", "cs_uri", "sc_status",
    "cs_bytes", "sc_bytes", "time_taken_micros", "cs_host", "cs_referer", "cs_user_agent",
    "s_request_id", "cs_operation", "cs_bucket", "cs_object",
)  # fmt: skip


def _values(number: int, **changes: str) -> dict[str, str]:
    key = f"train/shard-{number:06d}.tar"
    found = {
        "time_micros": str(1_773_144_121_500_613 + number),
        "c_ip": "10.20.1.51",
        "c_ip_type": "1",
        "c_ip_region": "",
        "cs_method": "GET",
        "cs_uri": f"/example-data/{key}?generation=17",
        "sc_status": "200",
        "cs_bytes": "0",
        "sc_bytes": str(1_048_576 + number),
        "time_taken_micros": "1250000",
        "cs_host": "storage.googleapis.com",
        "cs_referer": "",
        "cs_user_agent": "python-gcsfs/2025.3.0 app/run-42,gzip(gfe)",
        "s_request_id": f"ADPyEXAMPLE{number:04d}",
        "cs_operation": "GET_Object",
        "cs_bucket": "example-data",
        "cs_object": key,
    }
    return found | changes


def _line(values: list[str]) -> str:
    return ",".join('"' + value.replace('"', '""') + '"' for value in values)


def _file(*rows: dict[str, str]) -> bytes:
    return "".join(f"{_line([row[name] for name in _COLUMNS])}\n" for row in rows).encode()


_PUT = {"cs_method": "PUT", "cs_operation": "PUT_Object", "cs_bytes": "8388608", "sc_bytes": "0"}
_JSON = {"cs_uri": "/storage/v1/b/example-data/o?prefix=a%2Cb", "cs_operation": "", "cs_object": ""}
_BROKEN = {"sc_status": "0", "sc_bytes": "512", "c_ip": "2001:db8::1", "c_ip_type": "2"}
FILES: tuple[bytes, ...] = (
    _file(
        *(_values(n) for n in range(10)),
        _values(10, **_PUT),
        _values(11, **_JSON),
        _values(12, **_BROKEN),
        _values(13, cs_object='a "quoted", name 集'),
    ),
    _file(*(_values(n, cs_method="HEAD", cs_operation="HEAD_Object") for n in range(8))),
)

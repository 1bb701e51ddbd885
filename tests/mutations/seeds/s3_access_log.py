"""S3 server access logs: lines of every kind of operation, and objects as they are vended."""

import json
from typing import Any

_OWNER = "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be"
_SESSION = "arn:aws:sts::111122223333:assumed-role/trainer/eks-alder-train-0a1b"
_AGENT = '"Boto3/1.35.20 md/Botocore#1.35.20 ua/2.0 os/linux#6.1 lang/python#3.11 app/run-42"'
_TAIL = (
    "9vKBE6vMhrNiWHZmb2L0mXOcqPGzQOI5XLnCtZNPxev+Hf+7tpT6sxDwDty4LHBUOZJG96N1234= SigV4 "
    "TLS_AES_128_GCM_SHA256 AuthHeader example-data.s3.eu-west-1.amazonaws.com TLSv1.3 - -"
)


def _line(
    number: int,
    operation: str = "REST.GET.OBJECT",
    status: str = "200 -",
    sizes: str = "1048576 4194304 1250 31",
    uri: str | None = None,
    key: str | None = None,
    agent: str = _AGENT,
    tail: str = _TAIL,
    who: str = f"10.20.1.51 {_SESSION}",
) -> str:
    key = f"train/shard-{number:06d}.tar" if key is None else key
    method = operation.split(".")[1]
    uri = f'"{method} /{key} HTTP/1.1"' if uri is None else uri
    return (
        f"{_OWNER} example-data [10/Mar/2026:12:02:{number:02d} +0000] {who} "
        f"6NTNFZKAGUI7{number:04d} {operation} {key} {uri} {status} {sizes} "
        f"{'-' if agent == '-' else chr(34) + '-' + chr(34)} {agent} - {tail}"
    )


def _object(number: int, **changes: Any) -> str:
    key = f"train/shard-{number:06d}.tar"
    found = {
        "schema_version_id": "V_1_0",
        "bucket_arn": "arn:aws:s3:::example-data",
        "bucket_name": "example-data",
        "request_time": f"2026-03-10T12:02:{number:02d}.250Z",
        "bucket_owner_id": _OWNER,
        "remote_ip": "10.20.1.51",
        "requester": _SESSION,
        "request_id": f"6NTNFZKAGUI7{number:04d}",
        "operation": "REST.GET.OBJECT",
        "key_name": key,
        "request_uri": f"GET /{key} HTTP/1.1",
        "http_status": 200,
        "error_code": None,
        "bytes_sent": 1_048_576,
        "object_size": 4_194_304,
        "total_time": 1_250,
        "turn_around_time": 31,
        "referrer": None,
        "user_agent": "Boto3/1.35.20 app/run-42",
        "version_id": None,
        "host_id": "9vKBE6vMhrNiWHZmb2L0mXOcqPGzQOI5XLnCtZNPxev=",
        "signature_version": "SigV4",
        "authentication_type": "AuthHeader",
        "host_header": "example-data.s3.eu-west-1.amazonaws.com",
        "source_region": "eu-west-1",
    }
    return json.dumps(found | changes)


def _text(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


FILES: tuple[bytes, ...] = (
    _text(
        *(_line(n) for n in range(24, 58)),
        *(_line(n, status="206 -") for n in range(14)),
        _line(14, status="404 NoSuchKey", sizes="272 - 11 -"),
        _line(15, "REST.PUT.OBJECT", sizes="- 8388608 340 22"),
        _line(16, "REST.HEAD.OBJECT", sizes="- 4194304 9 8"),
        _line(17, status="304 -", sizes="- 4194304 9 8"),
        _line(18, "REST.GET.BUCKET", key="-", uri='"GET /?list-type=2&prefix=train HTTP/1.1"'),
        _line(19, "REST.PUT.PART", uri='"PUT /a?partNumber=2&uploadId=VXBsb2Fk HTTP/1.1"'),
        _line(20, uri='"GET /train/a.tar?x-id=GetObject HTTP/1.1"'),
        _line(21, key="year%253D2026/part-0.parquet"),
        _line(22, tail=f"{_TAIL} eu-west-1"),
        _line(23, tail=_TAIL.rsplit(" ", 2)[0]),
    ),
    _text(
        _line(0, "S3.EXPIRE.OBJECT", "- -", "- 4194304 - -", '"-"', agent='"-"', who="- AmazonS3"),
        _line(1, "BATCH.DELETE.OBJECT", "204 -", "- 4194304 - -", "-", agent="-"),
        _line(2, "REST.COPY.OBJECT_GET", "200 -", "- 4194304 - -", "-", agent="-"),
        _line(3, agent='""Mozilla/5.0 (X11; Linux x86_64)""'),
        _line(4, uri='"GET /train/a.tar?filename="a.tar" HTTP/1.1"'),
        _line(5, who="10.20.1.51 -"),
        _line(6, tail="-"),
        *(_line(n) for n in range(7, 12)),
    ),
    _text(
        *(_object(n) for n in range(8)),
        _object(8, operation="REST.GET.BUCKET", key_name=None, request_uri=None),
        _object(9, http_status=404, error_code="NoSuchKey", object_size=None),
        _object(10, requester=None, remote_ip=None, operation="S3.EXPIRE.OBJECT"),
    ),
)

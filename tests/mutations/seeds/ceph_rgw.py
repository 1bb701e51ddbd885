"""Operations logs of Ceph's gateway: lines, what the socket writes, and one bucket's log."""

import json
from typing import Any


def _record(number: int, operation: str = "get_obj", **changes: Any) -> dict[str, Any]:
    key = f"train/shard-{number:06d}.tar"
    method = {"put_obj": "PUT", "delete_obj": "DELETE"}.get(operation, "GET")
    found = {
        "bucket": "example-data",
        "time": f"2026-03-10T12:02:{number:02d}.500613Z",
        "time_local": f"2026-03-10T13:02:{number:02d}.500613+0100",
        "remote_addr": "10.20.1.51",
        "object_owner": "trainer",
        "user": "trainer",
        "operation": operation,
        "uri": f"{method} /example-data/{key} HTTP/1.1",
        "http_status": "200",
        "error_code": "",
        "bytes_sent": 1_048_576 + number,
        "bytes_received": 0,
        "object_size": 1_048_576 + number,
        "total_time": 1_250,
        "user_agent": "Boto3/1.35.20 app/run-42",
        "referrer": "",
        "trans_id": f"tx00000a1b2c3d-0065ee{number:04d}-1a2b-default",
        "authentication_type": "Local",
        "access_key_id": "EXAMPLEKEY",
        "temp_url": False,
    }
    return found | changes


_RECORDS = [
    *(_record(n) for n in range(8)),
    _record(8, "put_obj"),
    _record(9, "list_bucket", uri="GET /example-data?prefix=train HTTP/1.1", object_size=0),
    _record(10, http_status="404", error_code="NoSuchKey", object_size=0),
    _record(11, uri="GET /swift/v1/example-data/a HTTP/1.1", user="anonymous"),
]
_TEXTS = [json.dumps(record) for record in _RECORDS]
FILES: tuple[bytes, ...] = (
    "".join(f"{text}\n" for text in _TEXTS).encode(),
    json.dumps({"bucket_id": "1", "bucket": "example-data", "log_entries": _RECORDS}).encode(),
)

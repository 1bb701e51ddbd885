"""Audit logs of MinIO: requests of many kinds as lines."""

import json
from typing import Any


def _record(number: int, name: str = "GetObject", **changes: Any) -> dict[str, Any]:
    key = f"train/shard-{number:06d}.tar"
    found = {
        "version": "1",
        "deploymentid": "0a1b2c3d-0000-4000-8000-000000000001",
        "time": f"2026-03-10T12:02:{number:02d}.500613982Z",
        "event": "",
        "trigger": "incoming",
        "api": {
            "name": name,
            "bucket": "example-data",
            "object": key,
            "status": "OK",
            "statusCode": 200,
            "rx": 0,
            "tx": 1_048_576 + number,
            "timeToFirstByte": "31000000ns",
            "timeToFirstByteInNS": "31000000",
            "timeToResponse": "1250000000ns",
            "timeToResponseInNS": "1250000000",
        },
        "remotehost": "10.20.1.51",
        "requestID": f"17CDC1F4D7E6{number:04d}",
        "userAgent": "MinIO (linux; amd64) minio-go/v7.0.70 app/run-42",
        "requestPath": f"/example-data/{key}",
        "requestHost": "minio.example.com:9000",
        "requestQuery": {},
        "requestHeader": {"Content-Length": "0"},
        "responseHeader": {"Content-Length": str(1_048_576 + number), "ETag": "0a1b2c"},
        "accessKey": "trainer",
        "parentUser": "team",
    }
    return found | changes


_RANGE = {"requestHeader": {"Range": "bytes=0-99"}, "responseHeader": {}}
_PART = {"requestQuery": {"partNumber": "2", "uploadId": "VXBsb2Fk"}}
FILES: tuple[bytes, ...] = (
    "".join(
        f"{json.dumps(record)}\n"
        for record in (
            *(_record(n) for n in range(10)),
            _record(10, "PutObject"),
            _record(11, "PutObjectPart", **_PART),
            _record(12, **_RANGE),
            _record(13, "ListObjectsV2", remotehost="[2001:db8::1]:4000"),
            _record(14, trigger="internal-scanner"),
        )
    ).encode(),
    json.dumps(_record(0), indent=2).encode(),
)

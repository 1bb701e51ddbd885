"""Audit logs of Cloud Storage: entries as a sink, the command line and BigQuery write them."""

import json
from typing import Any


def _entry(number: int, method: str = "storage.objects.get", **changes: Any) -> dict[str, Any]:
    key = f"train/shard-{number:06d}.tar"
    payload = {
        "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
        "serviceName": "storage.googleapis.com",
        "methodName": method,
        "resourceName": f"projects/_/buckets/example-data/objects/{key}",
        "status": {},
        "authenticationInfo": {"principalEmail": "trainer@example.iam.gserviceaccount.com"},
        "authorizationInfo": [{"permission": method, "granted": True}],
        "requestMetadata": {
            "callerIp": "10.20.1.51",
            "callerSuppliedUserAgent": "python-gcsfs/2025.3.0 app/run-42,gzip(gfe)",
        },
        "resourceLocation": {"currentLocations": ["us-east1"]},
    }
    return {
        "logName": "projects/p/logs/cloudaudit.googleapis.com%2Fdata_access",
        "insertId": f"1a2b3c4d{number:04d}",
        "timestamp": f"2026-03-10T12:02:{number:02d}.500613639Z",
        "receiveTimestamp": f"2026-03-10T12:03:{number:02d}.000000001Z",
        "severity": "INFO",
        "resource": {
            "type": "gcs_bucket",
            "labels": {"bucket_name": "example-data", "location": "us-east1", "project_id": "p"},
        },
        "protoPayload": payload | changes,
    }


_DENIED = {"status": {"code": 7, "message": "denied"}}
_COPY = {"metadata": {"destination": "projects/_/buckets/other/objects/x", "requested_bytes": 5}}
_NOBODY = {"authenticationInfo": {}, "requestMetadata": {"callerIp": "private"}}
_RECORDS = [
    *(_entry(n) for n in range(8)),
    _entry(8, "storage.objects.create"),
    _entry(9, "storage.objects.list", resourceName="projects/_/buckets/example-data"),
    _entry(10, **_DENIED),
    _entry(11, **_COPY),
    _entry(12, **_NOBODY),
    _entry(13, serviceName="pubsub.googleapis.com"),
]
FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(record)}\n" for record in _RECORDS).encode(),
    json.dumps(_RECORDS, indent=2).encode(),
    "".join(
        f"{json.dumps(record | {'timestamp': record['timestamp'].replace('T', ' ').rstrip('Z')})}\n"
        for record in _RECORDS[:8]
    ).encode(),
)

"""Access logs of SeaweedFS' S3 gateway: requests of many kinds as lines."""

import json
from typing import Any


def _record(number: int, operation: str = "REST.GET.OBJECT", **changes: Any) -> dict[str, Any]:
    found = {
        "bucket": "example-data",
        "time": 1_773_144_100 + number,
        "remote_ip": "10.20.1.51:40122",
        "requester": "trainer",
        "request_id": f"177314412100{number:04d}",
        "operation": operation,
        "key": f"/train/shard-{number:06d}.tar",
        "host_id": "weed-s3-0",
        "host_header": "s3.example.com:8333",
        "user_agent": "aws-cli/2.17.60 app/run-42",
        "status": 200,
        "signature_version": "SigV4",
    }
    return {key: value for key, value in (found | changes).items() if value is not None}


FILES: tuple[bytes, ...] = (
    "".join(
        f"{json.dumps(record)}\n"
        for record in (
            *(_record(n) for n in range(10)),
            _record(10, "REST.PUT.OBJECT"),
            _record(11, "REST.GET.BUCKET", key="/"),
            _record(12, status=404, error_code="NoSuchKey"),
            _record(13, requester=None, remote_ip="2001:db8::1"),
        )
    ).encode(),
)

"""Logs of registries: distribution's combined form, text and JSON, Harbor's nginx and audit log."""

import json
import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z0-9._/@^+-]+")
_BLOB = "sha256:" + "0123456789abcdef" * 4


def _combined(number: int, request: str, status: int = 200) -> str:
    return (
        f"192.0.2.10 - trainer [10/Mar/2026:12:00:{number:02d} +0000] "
        f'"{request} HTTP/1.1" {status} {1_000 + number} "" "containerd/1.7.2"'
    )


_COMBINED = [
    _combined(0, "GET /v2/"),
    *(_combined(n, f"GET /v2/ml/trainer/blobs/{_BLOB}") for n in range(1, 8)),
    _combined(8, "HEAD /v2/ml/trainer/manifests/1.4"),
    _combined(9, f"GET /v2/ml/trainer/blobs/{_BLOB}", 307),
    _combined(10, f"POST /v2/ml/other/blobs/uploads/?mount={_BLOB}&from=ml/trainer", 201),
    _combined(11, "GET /v2/ml/trainer/tags/list?n=100"),
    _combined(12, "GET /healthz"),
]


def _completed(number: int, **changes: Any) -> dict[str, Any]:
    found = {
        "time": f"2026-03-10T12:00:{number:02d}.123456789Z",
        "level": "info",
        "msg": "response completed",
        "go.version": "go1.23.7",
        "http.request.host": "registry.example.com",
        "http.request.id": f"0a1b2c3d-0000-4000-8000-00000000{number:04d}",
        "http.request.method": "GET",
        "http.request.remoteaddr": "192.0.2.10:51234",
        "http.request.uri": f"/v2/ml/trainer/blobs/{_BLOB}",
        "http.request.useragent": "containerd/1.7.2 app/run-42",
        "http.response.contenttype": "application/octet-stream",
        "http.response.duration": "4.218327ms",
        "http.response.status": 200,
        "http.response.written": 1_048_576 + number,
        "auth.user.name": "trainer",
    }
    return found | changes


_RECORDS = [
    *(_completed(n) for n in range(6)),
    _completed(6, **{"http.response.status": 307, "http.response.written": 0}),
    _completed(7, **{"msg": "response completed with error", "err.code": "manifest unknown",
                     "http.request.uri": "/v2/ml/trainer/manifests/9",
                     "http.response.status": 404}),
    _completed(8, msg="authorized request"),
]  # fmt: skip


def _text(record: dict[str, Any]) -> str:
    """A line of logrus, which quotes `time`, `msg` and what is not plain."""
    return " ".join(
        f"{key}={value}"
        if key not in {"time", "msg"} and _PLAIN.fullmatch(str(value))
        else f"{key}={json.dumps(value)}"
        for key, value in record.items()
    )


_NGINX = [
    f'Mar 10 12:00:{n:02d} 192.0.2.1 proxy[812]: 192.0.2.10 - "GET /v2/ml/trainer/blobs/{_BLOB} '
    f'HTTP/1.1" 200 {1_000 + n} "-" "containerd/1.7.2" 0.012 0.011 .'
    for n in range(8)
]


def _audited(number: int, **changes: Any) -> dict[str, Any]:
    found = {
        "id": number,
        "username": "robot$trainer",
        "resource": f"ml/trainer@{_BLOB}",
        "resource_type": "artifact",
        "operation": "pull",
        "op_time": f"2026-03-10T12:00:{number:02d}.000Z",
    }
    return found | changes


_AUDIT = [
    *(_audited(n) for n in range(5)),
    _audited(5, resource="ml/trainer:1.4", operation="create"),
    _audited(6, resource_type="project"),
]

FILES: tuple[bytes, ...] = (
    "".join(f"{line}\n" for line in _COMBINED).encode(),
    "".join(f"{json.dumps(record)}\n" for record in _RECORDS).encode(),
    "".join(f"{_text(record)}\n" for record in _RECORDS).encode(),
    "".join(f"{line}\n" for line in _NGINX).encode(),
    json.dumps(_AUDIT, indent=1).encode(),
)

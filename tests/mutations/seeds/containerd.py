"""Messages of containerd: records and lines of its journal, and its own file."""

import json
from typing import Any

_IMAGE = "registry.example.com/ml/trainer:1.4"
_DIGEST = "sha256:" + "0123456789abcdef" * 4


def _messages(number: int) -> list[dict[str, str]]:
    image = f"{_IMAGE}-{number}"
    found: list[dict[str, str]] = [
        {"msg": f'PullImage "{image}"'},
        {"msg": f"stop pulling image {image}: active requests=0, bytes read={1_048_576 + number}"},
        {
            "msg": f'Pulled image "{image}" with image id "{_DIGEST}", repo tag "{image}", repo '
            f'digest "registry.example.com/ml/trainer@{_DIGEST}", size "{2_097_152 + number}" in '
            "1m21.284220239s"
        },
        {"msg": f'PullImage "{image}" returns image reference "{_DIGEST}"'},
        {
            "level": "error",
            "msg": f'PullImage "{image}" failed',
            "error": "failed to resolve reference: unexpected status code 403: 403 Forbidden",
        },
        {"msg": "trying next host", "error": "dial tcp: i/o timeout", "host": "mirror.example.com"},
        {"msg": 'RunPodSandbox for &PodSandboxMetadata{Name:train-x7k2p,} returns sandbox id "0a"'},
    ]
    return [
        {"time": f"2026-03-10T12:{number:02d}:{n:02d}.123456789Z", "level": "info"} | each
        for n, each in enumerate(found)
    ]


_ALL = [message for number in range(2) for message in _messages(number)]


def _text(fields: dict[str, str]) -> str:
    return " ".join(
        f"{key}={value if key == 'level' else json.dumps(value)}" for key, value in fields.items()
    )


def _journal(number: int, message: dict[str, str]) -> dict[str, Any]:
    return {
        "__CURSOR": f"s=0a1b;i={number}",
        "__REALTIME_TIMESTAMP": str(1_773_144_000_000_000 + number),
        "_HOSTNAME": "node-1",
        "_SYSTEMD_UNIT": "containerd.service",
        "SYSLOG_IDENTIFIER": "containerd",
        "_PID": "812",
        "PRIORITY": "6",
        "MESSAGE": _text(message),
    }


FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(_journal(n, m))}\n" for n, m in enumerate(_ALL)).encode(),
    "".join(f"Mar 10 12:00:01 node-1 containerd[812]: {_text(m)}\n" for m in _ALL).encode(),
    "".join(f"{_text(m)}\n" for m in _ALL).encode(),
    "".join(f"{json.dumps(m)}\n" for m in _ALL).encode(),
)

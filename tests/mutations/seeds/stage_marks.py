"""Marks of stages: events as lines of JSON and in OTLP logs, and lines of libraries."""

import json
from typing import Any


def _event(number: int, name: str, **changes: Any) -> dict[str, Any]:
    found = {
        "time_unix_nano": 1_773_144_000_000_000_000 + number * 1_000_000_000,
        "level": "INFO",
        "event.name": name,
        "message": "data.example.com",
        "resource.id": "s3://example-data/train@v3",
        "elapsed_s": 41.2,
        "attempts": 3,
        "bytes": 1_048_576 + number,
        "cache": "miss",
        "outcome": "ok",
        "k8s.pod.uid": "5f8c1e1a-7f0c-4b7e-9a53-0f4c3a2b1d00",
        "k8s.container.name": "polyaxon-main",
        "polyaxon.run.uuid": "0123456789abcdef0123456789abcdef",
    }
    return found | changes


_EVENTS = [
    *(_event(n, "dataset_download_finished") for n in range(6)),
    _event(6, "model.load.start", elapsed_s=None),
    _event(7, "checkpoint_upload_failed", outcome="error", **{"error.type": "SlowDown"}),
    _event(8, "user_login"),
    {"timestamp": "2026-03-10T12:00:09Z", "stage": "first_batch", "phase": "started"},
]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _record(number: int) -> dict[str, Any]:
    return {
        "timeUnixNano": str(1_773_144_000_000_000_000 + number),
        "severityNumber": 9,
        "severityText": "INFO",
        "eventName": "dataset.download.end",
        "attributes": _attributes(
            {"elapsed_s": 41.5, "attempts": 3, "bytes": 1_048_576 + number, "url.full":
             "https://data.example.com/train"}
        ),
    }  # fmt: skip


_RESOURCE = {
    "attributes": _attributes(
        {"k8s.pod.name": "train-0", "k8s.namespace.name": "ml", "k8s.node.name": "node-1"}
    )
}
_DOCUMENTS = [
    {
        "resourceLogs": [
            {"resource": _RESOURCE, "scopeLogs": [{"scope": {"name": "app"}, "logRecords": found}]}
        ]
    }
    for found in ([_record(0), _record(1)], *([_record(n)] for n in range(2, 8)))
]
_TEXT = [
    f"2026-03-10 12:00:{n:02d},123 {text}"
    for n, text in enumerate(
        (
            "INFO Downloading data",
            "INFO Fetching 5 files:   0%|          | 0/5",
            "WARN HTTP Error 503 thrown while requesting GET https://data.example.com/model",
            "WARN Retrying in 1s [Retry 1/5].",
            "INFO Saving model checkpoint to /outputs/checkpoint-500",
            "INFO step 500 loss 0.25",
            "INFO Training completed.",
            *(f"INFO Downloading {name}-1.0.whl" for name in ("torch", "numpy", "scipy", "polars")),
        )
    )
]

FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(event)}\n" for event in _EVENTS).encode(),
    "".join(f"{json.dumps(document)}\n" for document in _DOCUMENTS).encode(),
    "".join(f"{line}\n" for line in _TEXT).encode(),
)

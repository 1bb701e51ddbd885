"""Kubernetes events as exporters write them: lines of both exporters, and one pretty event."""

import json
from typing import Any

from tests.transforms.staging.kubernetes_objects import event


def _exported(number: int, **changes: Any) -> dict[str, Any]:
    found = event(clusterName="alder", count=number, **changes)
    del found["kind"], found["apiVersion"]
    found["involvedObject"] = {**found["involvedObject"], "labels": {"app": "train"}}
    return found


_SCHEDULED = _exported(
    0, firstTimestamp=None, lastTimestamp=None, eventTime="2026-03-10T06:00:01.123456Z"
)

FILES: tuple[bytes, ...] = (
    "".join(
        f"{json.dumps(line)}\n" for line in (*map(_exported, range(1, 6)), _SCHEDULED)
    ).encode(),
    "".join(
        f"{json.dumps({'verb': verb, 'event': event(count=number), 'old_event': event()})}\n"
        for number, verb in enumerate(("ADDED", "UPDATED", "UPDATED"), 4)
    ).encode(),
    json.dumps(_exported(7), indent=2).encode(),
)

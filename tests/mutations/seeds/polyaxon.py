"""Polyaxon: answers of the API as documents and as lines, archives, events, custom resources."""

import json
from typing import Any

from tests.transforms.staging.kubernetes_objects import pod
from tests.transforms.staging.polyaxon_answers import (
    PARENT,
    RUN,
    artifact,
    condition,
    detail,
    listed,
    logged,
    page,
    resource,
    status,
    statuses,
)

OTHER = "11111111111141118111111111111111"
CHILD = listed(
    uuid=OTHER,
    status="running",
    finished_at=None,
    pipeline={"uuid": PARENT, "name": "sweep", "kind": "matrix"},
)
CLONE = listed(uuid=PARENT, original={"uuid": RUN, "name": "train-resnet", "kind": "restart"})
CONDITIONS = (
    status("created", "2026-03-10T06:00:00.807Z", "2026-03-10T06:00:00.807Z"),
    status("starting", "2026-03-10T06:00:05.804Z", "2026-03-10T06:00:05.804Z"),
    status("warning", "2026-03-10T06:01:05.804Z", "2026-03-10T06:00:05.804Z"),
    status("succeeded", "2026-03-10T07:00:12.375Z", "2026-03-10T06:00:05.804Z"),
)
CODE = artifact(
    name="9f1c2ab4d0e1",
    kind="coderef",
    path=None,
    summary={
        "commit": "9f1c2ab4d0e1",
        "branch": "main",
        "url": "https://git.example.com/ml/train.git",
        "is_dirty": False,
    },
)
MODEL = artifact(
    name="best", kind="model", is_input=False, path="outputs/m.pt", summary={"hash": "1f0c"}
)
METRIC = artifact(
    name="loss",
    kind="metric",
    is_input=False,
    path="events/metric/loss.plx",
    summary={
        "is_event": True,
        "step": {"count": 2, "min": 1, "max": 2},
        "timestamp": {
            "min": "2026-03-10T06:10:00.260213+00:00",
            "max": "2026-03-10T06:11:00.260459+00:00",
        },
    },
)
ARCHIVE = {
    "pods": {
        f"plx-operation-{RUN}-x7k2p": pod()
        | {
            "events": [
                {
                    "reason": "Pulling",
                    "message": 'Pulling image "registry.example.com/ml/train:1.4"',
                    "first_timestamp": "2026-03-10T06:00:07+00:00",
                    "last_timestamp": "2026-03-10T06:00:07+00:00",
                    "count": 1,
                    "type": "Normal",
                },
                {
                    "reason": "Started",
                    "message": "Started container polyaxon-main",
                    "first_timestamp": "2026-03-10T06:03:07+00:00",
                    "last_timestamp": "2026-03-10T06:03:07+00:00",
                    "count": 1,
                    "type": "Normal",
                },
            ]
        }
    },
    "services": {},
}
OPERATION = resource(
    apiVersion="core.polyaxon.com/v1",
    kind="Operation",
    status={
        "conditions": [condition("Succeeded", "2026-03-10T07:00:12Z")],
        "completionTime": "2026-03-10T07:00:12Z",
    },
)


def _document(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode() + b"\n"


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


FILES: tuple[bytes, ...] = (
    _document(page(listed(), CHILD, CLONE)),
    _document(detail()),
    _document(statuses(*CONDITIONS)),
    _document(page(artifact(), CODE, MODEL, METRIC)),
    _document(listed(managed_by="user", status_conditions=list(CONDITIONS[:2]))),
    _document(ARCHIVE),
    _document({"data": {RUN: [logged(), logged(name="accuracy")], OTHER: [logged()]}}),
    _document({"apiVersion": "v1", "kind": "List", "items": [resource(), OPERATION]}),
    _lines(
        detail(),
        statuses(*CONDITIONS),
        CHILD,
        artifact(),
        CODE,
        METRIC,
        resource(),
        {"type": "MODIFIED", "object": OPERATION},
        {"data": {OTHER: [logged()]}},
        page(listed(), CLONE),
        listed(updated_at="2026-03-10T07:30:00Z"),
        ARCHIVE,
    ),
)

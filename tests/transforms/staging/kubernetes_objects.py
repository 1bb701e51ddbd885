"""Kubernetes objects of documentation values, to change in tests."""

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from transforms.staging.parser import RawRecord

Json = dict[str, Any]

RUN = "0123456789abcdef0123456789abcdef"
OTHER_RUN = "fedcba9876543210fedcba9876543210"
POD_UID = "11111111-2222-4333-8444-555555555555"
DIGEST = "sha256:" + "ab" * 32

RUN_LABELS = {
    "app.kubernetes.io/component": "polyaxon-jobs",
    "app.kubernetes.io/instance": RUN,
    "app.kubernetes.io/managed-by": "polyaxon",
    "operation.polyaxon.com/uuid": RUN,
}


def instant(text: str) -> datetime:
    """An instant of 10 March 2026, such as `06:00:05`; a date may stand before it."""
    day, _, clock = text.rpartition(" ")
    return datetime.fromisoformat(f"{day or '2026-03-10'}T{clock}+00:00").astimezone(UTC)


def stamp(clock: str) -> str:
    """The same as the API writes it."""
    return instant(clock).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod(**changes: Any) -> Json:
    """A finished training pod with an init container, changed at `section__key=value`."""
    found: Json = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": f"plx-operation-{RUN}-x7k2p",
            "namespace": "ml",
            "uid": POD_UID,
            "resourceVersion": "4711",
            "creationTimestamp": stamp("06:00:00"),
            "labels": dict(RUN_LABELS),
        },
        "spec": {
            "nodeName": "ip-10-20-1-11.ec2.internal",
            "serviceAccountName": "ml-runs",
            "restartPolicy": "Never",
            "initContainers": [{"name": "polyaxon-init-auth", "image": "example.com/init:1"}],
            "containers": [
                {
                    "name": "polyaxon-main",
                    "image": "registry.example.com/ml/train:1.4",
                    "resources": {"limits": {"nvidia.com/gpu": "2"}},
                }
            ],
        },
        "status": {
            "phase": "Succeeded",
            "hostIP": "10.20.1.11",
            "podIP": "192.0.2.7",
            "podIPs": [{"ip": "192.0.2.7"}, {"ip": "2001:DB8::7"}],
            "startTime": stamp("06:00:02"),
            "conditions": [
                condition("PodScheduled", "True", "06:00:01"),
                condition("PodReadyToStartContainers", "False", "07:00:12"),
            ],
            "initContainerStatuses": [ended("polyaxon-init-auth", "06:00:05", "06:00:06")],
            "containerStatuses": [ended("polyaxon-main", "06:00:20", "07:00:10")],
        },
    }
    for place, value in changes.items():
        *parents, key = place.split("__")
        section = found
        for parent in parents:
            section = section[parent]
        section[key] = value
    return found


def condition(type_: str, status: str, clock: str) -> Json:
    """A condition of a pod."""
    return {"type": type_, "status": status, "lastTransitionTime": stamp(clock)}


def ended(name: str, start: str, end: str, exit_code: int = 0) -> Json:
    """Status of a container that ended."""
    return {
        "name": name,
        "restartCount": 0,
        "imageID": f"registry.example.com/ml/train@{DIGEST}",
        "containerID": "containerd://" + "c0" * 32,
        "state": {
            "terminated": {
                "exitCode": exit_code,
                "reason": "Error" if exit_code else "Completed",
                "startedAt": stamp(start),
                "finishedAt": stamp(end),
            }
        },
        "lastState": {},
    }


def running(name: str, start: str) -> Json:
    """Status of a container that runs."""
    return {"name": name, "state": {"running": {"startedAt": stamp(start)}}}


def event(**changes: Any) -> Json:
    """A kubelet's event in the core spelling."""
    found: Json = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {
            "name": "train-x7k2p.17a",
            "namespace": "ml",
            "uid": "22222222-2222-4333-8444-555555555555",
            "resourceVersion": "90",
            "creationTimestamp": stamp("06:00:07"),
        },
        "involvedObject": {
            "kind": "Pod",
            "namespace": "ml",
            "name": "train-x7k2p",
            "uid": POD_UID,
            "fieldPath": "spec.containers{polyaxon-main}",
        },
        "reason": "Pulling",
        "message": 'Pulling image "registry.example.com/ml/train:1.4"',
        "source": {"component": "kubelet", "host": "ip-10-20-1-11.ec2.internal"},
        "firstTimestamp": stamp("06:00:07"),
        "lastTimestamp": stamp("06:02:07"),
        "count": 3,
        "type": "Normal",
        "eventTime": None,
        "reportingComponent": "kubelet",
        "reportingInstance": "ip-10-20-1-11.ec2.internal",
    }
    return found | changes


def document(value: Any) -> list[RawRecord]:
    """A file that is one JSON document."""
    return [RawRecord("$", 0, json.dumps(value, indent=1).encode())]


def pod_list(*items: Any, kind: str = "PodList") -> Json:
    """A List of items."""
    return {"kind": kind, "apiVersion": "v1", "metadata": {}, "items": list(items)}


def mutations(value: Any) -> Iterator[Any]:
    """Copies of a JSON value, each with one of its parts replaced by one of another type."""
    for path in _paths(value):
        for other in (None, True, -1, 1.5, "x\x00", [], {}, [{"a": [1]}], "9" * 400):
            changed = copy.deepcopy(value)
            place = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = other
            yield changed


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from _paths(value[key], (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _paths(entry, (*path, index))

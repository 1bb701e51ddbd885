"""Answers of Polyaxon's API with documentation values, to change in tests."""

import json
from typing import Any

RUN = "0123456789abcdef0123456789abcdef"
PARENT = "00000000aaaa4bbb8cccdddddddddddd"

Json = dict[str, Any]

CONTENT: Json = {
    "version": 1.1,
    "kind": "compiled_operation",
    "name": "train-resnet",
    "queue": "gpu-agent/a100",
    "namespace": "ml",
    "termination": {"maxRetries": 3, "ttl": 3600},
    "run": {
        "kind": "job",
        "connections": ["data"],
        "environment": {"imagePullSecrets": ["pull-keys", {"name": "more-keys"}]},
        "init": [
            {
                "git": {"url": "https://git.example.com/ml/train.git", "revision": "9f1c2ab"},
                "connection": "code",
            },
            {"artifacts": {"dirs": ["sets/v3"]}, "connection": "data"},
            {"container": {"name": "warm", "image": "busybox:1.36"}},
        ],
        "sidecars": [{"name": "board", "image": "tensorboard:2"}],
        "container": {
            "image": "registry.example.com/ml/train:1.4",
            "args": ["--lr=0.001"],
            "env": [
                {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "t"}}},
                {"name": "MODE", "value": "fast"},
            ],
            "resources": {"requests": {"cpu": 8}, "limits": {"nvidia.com/gpu": 2}},
        },
    },
}


def listed(**changes: Any) -> Json:
    """A run as the list states it."""
    found: Json = {
        "uuid": RUN,
        "name": "train-resnet",
        "created_at": "2026-03-10T06:00:00.807997Z",
        "updated_at": "2026-03-10T07:00:12.375381Z",
        "started_at": "2026-03-10T06:00:05.360854Z",
        "finished_at": "2026-03-10T07:00:12.375323Z",
        "schedule_at": None,
        "wait_time": 4.55,
        "duration": 3607.01,
        "kind": "job",
        "runtime": "job",
        "meta_info": {"ttl": 3600},
        "status": "succeeded",
        "pipeline": None,
        "original": None,
        "is_managed": True,
        "managed_by": "agent",
        "pending": None,
        "inputs": {"lr": 0.001, "ds": "imagenet-v3"},
        "outputs": None,
        "tags": ["gpu", "nightly"],
        "settings": {"namespace": "polyaxon", "component": None},
        "user": "ada",
        "bookmarked": False,
        "resources": {"memory": 0.0, "cpu": 8.0, "gpu": 2.0, "custom": 0.0, "cost": 0.0},
    }
    return found | changes


def detail(content: Any = CONTENT, **changes: Any) -> Json:
    """A run as the detail states it; content is written as the JSON text that it is."""
    return (
        listed()
        | {
            "settings": {
                "namespace": "polyaxon",
                "agent": None,
                "queue": None,
                "artifacts_store": None,
                "models": [],
            },
            "owner": "acme",
            "project": "vision",
            "readme": None,
            "description": None,
            "raw_content": json.dumps({"version": 1.1}),
            "content": content if isinstance(content, str) else json.dumps(content),
            "live_state": 1,
        }
        | changes
    )


def page(*results: Any) -> Json:
    """A page of a list."""
    return {"count": len(results), "next": None, "previous": None, "results": list(results)}


def status(type_: str, updated: str | None, transition: str | None, **changes: Any) -> Json:
    """A condition of a run."""
    return {
        "type": type_,
        "status": "True",
        "reason": "OperatorController",
        "message": f"Operation is {type_}",
        "last_update_time": updated,
        "last_transition_time": transition,
    } | changes


def statuses(*conditions: Any, **changes: Any) -> Json:
    """The statuses of a run."""
    return {
        "uuid": RUN,
        "status": "running",
        "status_conditions": list(conditions),
        "meta_info": {},
    } | changes

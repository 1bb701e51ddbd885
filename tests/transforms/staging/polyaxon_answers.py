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


def artifact(**changes: Any) -> Json:
    """An artifact of a run's lineage."""
    return {
        "name": "train-set",
        "kind": "data",
        "is_input": True,
        "path": "sets/v3",
        "summary": {"path": "s3://example-data/sets/v3", "hash": "sha256:ab12"},
        "state": "11111111222233334444555555555555",
        "run": RUN,
        "meta_info": {"run": {"name": "train-resnet", "uuid": RUN}},
    } | changes


def events(*entries: Any) -> Json:
    """The answer with events of one run."""
    return {"data": list(entries)}


def logged(**changes: Any) -> Json:
    """Events of one artifact, in columns."""
    return {
        "name": "loss",
        "kind": "metric",
        "data": {
            "step": [1, 2, 3],
            "timestamp": [
                "2026-03-10 06:10:00.260213+00:00",
                "2026-03-10 06:09:00+00:00",
                "2026-03-10 06:12:00.5+00:00",
            ],
            "metric": [0.9, 0.5, None],
        },
    } | changes


def container(name: str, image: str, **changes: Any) -> Json:
    """A container of a pod template."""
    return {"name": name, "image": image} | changes


TEMPLATE: Json = {
    "metadata": {"name": f"plx-operation-{RUN}", "namespace": "ml"},
    "spec": {
        "serviceAccountName": "ml-runs",
        "imagePullSecrets": [{"name": "pull-keys"}],
        "initContainers": [
            container(
                "polyaxon-init-git-code-0123456789",
                "polyaxon/polyaxon-init:2.18.0",
                command=["polyaxon", "initializer", "git"],
                args=[
                    "--url=https://git.example.com/ml/train.git",
                    "--revision=9f1c2ab",
                    "--connection=code",
                ],
            )
        ],
        "containers": [
            container(
                "polyaxon-main",
                "registry.example.com/ml/train:1.4",
                args=["--lr=0.001"],
                env=[
                    {"name": "POLYAXON_RUN_INSTANCE", "value": f"acme.vision.runs.{RUN}"},
                    {"name": "POLYAXON_ARTIFACTS_STORE_NAME", "value": "store"},
                    {
                        "name": "HF_TOKEN",
                        "valueFrom": {"secretKeyRef": {"name": "hub", "key": "t"}},
                    },
                ],
                resources={"limits": {"nvidia.com/gpu": "2"}},
            ),
            container("polyaxon-sidecar", "polyaxon/polyaxon-sidecar:2.18.0"),
        ],
        "volumes": [{"persistentVolumeClaim": {"claimName": "scratch"}}, {"emptyDir": {}}],
    },
}


def condition(type_: str, updated: str | None, **changes: Any) -> Json:
    """A condition of a custom resource."""
    return {
        "type": type_,
        "status": "True",
        "reason": "OperatorController",
        "message": f"Operation is {type_.lower()}",
        "lastUpdateTime": updated,
        "lastTransitionTime": "2026-03-10T06:00:05Z",
    } | changes


def resource(**changes: Any) -> Json:
    """The custom resource of a job, as 2.12 and later write it."""
    return {
        "apiVersion": "polyaxon.com/v1",
        "kind": "Job",
        "metadata": {
            "name": f"plx-operation-{RUN}",
            "namespace": "ml",
            "uid": "33333333-2222-4333-8444-555555555555",
            "resourceVersion": "77",
            "creationTimestamp": "2026-03-10T06:00:04Z",
            "labels": {
                "app.kubernetes.io/instance": RUN,
                "app.kubernetes.io/managed-by": "polyaxon",
                "app.kubernetes.io/component": "polyaxon-jobs",
                "operation.polyaxon.com/uuid": RUN,
            },
            "annotations": {
                "operation.polyaxon.com/name": "train-resnet",
                "operation.polyaxon.com/owner": "acme",
                "operation.polyaxon.com/project": "vision",
                "operation.polyaxon.com/kind": "job",
            },
        },
        "termination": {"backoffLimit": 3, "ttlSecondsAfterFinished": 3600},
        "collectLogs": True,
        "batchJobSpec": {"template": TEMPLATE},
        "status": {
            "conditions": [
                condition("Starting", "2026-03-10T06:00:05Z"),
                condition("Running", "2026-03-10T06:03:35Z"),
            ],
            "startTime": "2026-03-10T06:00:05Z",
            "lastReconcileTime": "2026-03-10T06:03:40Z",
        },
    } | changes

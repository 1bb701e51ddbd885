"""Answers about runs of Polyaxon with a secret in every place."""

import json

from tests.canaries.exports_kubernetes import pod
from tests.canaries.planter import Planter
from tests.canaries.records import DAY, OTHER_RUN, RUN


def polyaxon_detail(p: Planter) -> str:
    """A run detail, with the content that its user wrote."""
    where = "polyaxon"
    content = {
        "version": 1.1,
        "kind": "compiled_operation",
        "queue": "agent/gpu",
        "run": {
            "kind": "job",
            "connections": [p.keep("connection")],
            "init": [
                {
                    "git": {
                        "url": (
                            f"https://ci:{p.plain(f'{where} git URL')}@git.example.com"
                            f"/{p.keep()}.git"
                        ),
                        "revision": "9f1c2ab",
                        "flags": [p.plain(f"{where} git flags")],
                    }
                },
                {"artifacts": {"files": [p.plain(f"{where} artifacts")]}, "connection": "data"},
                {"file": {"content": p.plain(f"{where} init file")}},
                {
                    "container": {
                        "name": "warm",
                        "image": f"registry.example.com/ml/{p.keep()}:1",
                        "env": {"KEY": p.plain(f"{where} init environment")},
                        "args": [p.plain(f"{where} init arguments")],
                    }
                },
            ],
            "sidecars": [
                {
                    "name": "s",
                    "image": "busybox",
                    "env": [{"name": "A", "value": p.plain(f"{where} sidecar environment")}],
                }
            ],
            "container": {
                "image": f"registry.example.com/ml/train:{p.hugging_face(f'{where} image tag')}",
                "command": ["sh", "-c", p.plain(f"{where} command")],
                "args": [f"--lr=0.1 --note {p.plain(f'{where} arguments')}"],
                "env": [
                    {"name": "HF_TOKEN", "value": p.plain(f"{where} environment")},
                    {"name": "HF_HOME", "value": p.plain(f"{where} environment, harmless name")},
                ],
                "workingDir": p.plain(f"{where} working directory"),
            },
            "environment": {
                "annotations": {"note": p.plain(f"{where} annotation")},
                "imagePullSecrets": [p.keep("pull")],
            },
        },
    }
    detail = {
        "uuid": RUN,
        "name": f"{p.keep('run')} {p.github(f'{where} name')}",
        "created_at": f"{DAY}T08:00:00Z",
        "updated_at": f"{DAY}T09:00:00Z",
        "started_at": f"{DAY}T08:00:10Z",
        "finished_at": f"{DAY}T09:00:00Z",
        "kind": "job",
        "runtime": "job",
        "status": "succeeded",
        "owner": "acme",
        "project": p.keep("project"),
        "user": {"username": p.keep("user"), "email": p.plain(f"{where} e-mail")},
        "description": p.plain(f"{where} description"),
        "readme": p.plain(f"{where} readme"),
        "meta_info": {"note": p.plain(f"{where} meta info")},
        "settings": {
            "namespace": "ml",
            "queue": {"name": "gpu"},
            "build": p.plain(f"{where} build"),
        },
        "tags": [p.keep("tag"), p.jwt(f"{where} tag")],
        "inputs": {
            "lr": 0.1,
            "api_key": p.plain(f"{where} input of a secret name"),
            "note": f"{p.keep()} {p.openai(f'{where} input')}",
            "nested": {"password": p.plain(f"{where} nested input")},
            "source": p.url_password(f"{where} input, URL"),
        },
        "outputs": {"token": p.plain(f"{where} output of a secret name"), "url": p.keep()},
        "raw_content": p.plain(f"{where} raw content"),
        "content": json.dumps(content),
    }
    return json.dumps(detail, indent=2)


def polyaxon_list(p: Planter) -> str:
    """A page of runs, of which two are refused."""
    where = "polyaxon list"
    runs = [
        {
            "uuid": OTHER_RUN,
            "name": p.keep("run"),
            "created_at": f"{DAY}T08:00:00Z",
            "updated_at": f"{DAY}T09:00:00Z",
            "status": "running",
            "kind": "job",
            "runtime": "job",
            "meta_info": {"note": p.plain(f"{where} meta info")},
            "tags": [f"{p.keep()} {text}" for text in p.of_every_shape(f"{where} tag")],
            "inputs": None,
        },
        {
            "uuid": p.github(f"{where} uuid"),
            "name": p.keep("rejected"),
            "status": "failed",
            "runtime": "job",
            "inputs": {"note": p.plain(f"{where} input of a rejected run")},
        },
        {
            "uuid": RUN,
            "status": "failed",
            "runtime": "job",
            "created_at": 7,
            "content": p.plain(f"{where} content of a rejected run"),
        },
    ]
    return json.dumps({"count": 3, "next": None, "previous": None, "results": runs})


def polyaxon_statuses(p: Planter) -> str:
    """Conditions of a run."""
    where = "polyaxon statuses"
    conditions = [
        {
            "type": "failed",
            "status": "True",
            "reason": p.keep("reason"),
            "message": f"{p.keep()} {text}",
            "last_update_time": f"{DAY}T08:00:{n:02d}Z",
            "last_transition_time": f"{DAY}T08:00:00Z",
        }
        for n, text in enumerate(p.of_every_shape(f"{where} message"))
    ]
    conditions.append(
        {
            "type": "failed",
            "message": p.plain(f"{where} message of a rejected condition"),
            "last_update_time": "noon",
        }
    )
    return json.dumps(
        {
            "uuid": RUN,
            "status": "failed",
            "status_conditions": conditions,
            "meta_info": {"note": p.plain(f"{where} meta info")},
        }
    )


def polyaxon_archive(p: Planter) -> str:
    """Pods and events of a run as its sidecar saw them."""
    where = "polyaxon archive"
    good, broken = pod(p, where, 1), pod(p.refused(), f"{where}, rejected", 2)
    del broken["metadata"]["uid"]
    good["events"] = [
        {
            "reason": "Failed",
            "message": f"{p.keep()} {text}",
            "type": "Warning",
            "count": 1,
            "first_timestamp": f"{DAY}T08:00:00Z",
            "last_timestamp": f"{DAY}T08:00:{n:02d}Z",
        }
        for n, text in enumerate(p.of_every_shape(f"{where} event"))
    ]
    service = {"spec": {"note": p.plain(f"{where} service")}}
    return json.dumps({"pods": {"a": good, "b": broken}, "services": {"c": service}})

"""Polyaxon API answers: nightly lists, details and statuses of some runs, one archived spec.

A list has no project, owner or content, which is why the path of the export names the project. The
operator repeats the time of `starting` in every later `last_transition_time`, as the real one does;
`last_update_time` is right. One result, detail or condition is one record; which of them repeat an
earlier day's is not stated.
"""

import json
from datetime import date, datetime
from typing import Any

from tests.fleet import secrets
from tests.fleet.clock import DAYS, day_end, seconds, to_micro, to_milli
from tests.fleet.export import ExportFile
from tests.fleet.render_kubernetes import pod_events, pod_object
from tests.fleet.world import Condition, Fleet, Run

Json = dict[str, Any]
LIST_ONLY = {"sweep-lr-2", "sweep-lr-3", "sweep-lr-4", "asr-batch"}
ARCHIVED = "asr-train"
CLUSTER_OF_PROJECT = {"vision": "alder", "nlp": "alder", "speech": "birch"}


def render(fleet: Fleet) -> list[ExportFile]:
    """Return the API exports of each project and day, and the archived spec of one run."""
    files = []
    for project in sorted(CLUSTER_OF_PROJECT):
        runs = [run for run in fleet.runs if run.project == project]
        for day in DAYS:
            known = [run for run in runs if run.created < day_end(day)]
            files.append(_list(project, day, known))
            for run in known:
                if run.name not in LIST_ONLY and is_active(run, day):
                    files += _details(run, day)
    archived = next(run for run in fleet.runs if run.name == ARCHIVED)
    return [*files, _spec(archived)]


def is_active(run: Run, day: date) -> bool:
    """Return whether anything happened to a run on a day."""
    return any(step.time.date() == day for step in run.conditions)


def status_at(run: Run, moment: datetime) -> str:
    """Return the run's status as the API said at a moment."""
    return [step.type for step in run.conditions if step.time < moment][-1]


def _file(run_project: str, day: date, tail: str, export: str) -> ExportFile:
    cluster = CLUSTER_OF_PROJECT[run_project]
    return ExportFile(
        path=f"exports/{cluster}/polyaxon/{run_project}/{day}/{tail}",
        export=export,
        format="polyaxon",
        cluster=cluster,
        node=None,
        project=run_project,
        landing_date=day,
        counts_stated=False,
    )


def _brief(run: Run, moment: datetime) -> Json:
    """Return what the list says of a run."""
    steps = [step for step in run.conditions if step.time < moment]
    started = run.started if run.started is not None and run.started < moment else None
    finished = run.finished if run.finished is not None and run.finished < moment else None
    return {
        "uuid": run.uuid,
        "name": run.name,
        "created_at": to_micro(run.created),
        "updated_at": to_micro(steps[-1].time),
        "started_at": None if started is None else to_micro(started),
        "finished_at": None if finished is None else to_micro(finished),
        "schedule_at": None,
        "wait_time": None if started is None else _length(run.created, started),
        "duration": None if started is None or finished is None else _length(started, finished),
        "kind": run.kind,
        "runtime": run.runtime,
        "meta_info": run.meta_info,
        "status": status_at(run, moment),
        "pipeline": None
        if run.parent is None
        else {"uuid": run.parent.uuid, "name": run.parent.name, "kind": "matrix"},
        "original": None,
        "is_managed": True,
        "managed_by": "agent",
        "pending": None,
        "inputs": run.inputs or None,
        "outputs": run.outputs if finished is not None else None,
        "tags": run.tags or None,
        "settings": {"namespace": "polyaxon", "component": None},
        "user": run.user,
        "bookmarked": False,
        "resources": {"memory": 0.0, "cpu": 0.0, "gpu": 1.0, "custom": 0.0, "cost": 0.0},
    }


def _length(start: datetime, end: datetime) -> float:
    return round((end - start).total_seconds(), 2)


def _list(project: str, day: date, runs: list[Run]) -> ExportFile:
    file = _file(project, day, "runs.json", "polyaxon-lists")
    items = [_brief(run, day_end(day)) for run in runs]
    body = ",\n".join(json.dumps(item, separators=(",", ":")) for item in items)
    file.text = (
        f'{{"count": {len(items)}, "next": null, "previous": null, "results": [\n{body}\n]}}\n'
    )
    file.accepted = len(items)
    return file


def _content(run: Run) -> Json:
    main: Json = {
        "image": next(
            (item.image for pod in run.pods for item in pod.containers if item.role == "main"),
            "registry.example.com/ml/train:1.4.2",
        ),
        "command": ["python", "main.py"],
        "env": [{"name": "API_KEY", "value": secrets.POLYAXON_ENVIRONMENT}],
        "resources": {"limits": {"nvidia.com/gpu": 1}},
    }
    body: Json = {"kind": run.runtime, "container": main}
    if run.runtime == "pytorchjob":
        body = {
            "kind": "pytorchjob",
            "master": {"replicas": 1, "container": main},
            "worker": {"replicas": 2, "container": main},
        }
    clone = [item for item in run.declares if item.operation == "clone"]
    if clone:
        url, revision = clone[0].resource_id.removeprefix("git+https://").split("@")
        body["init"] = [
            {
                "git": {
                    "url": f"https://ci:{secrets.POLYAXON_GIT_USERINFO}@{url}",
                    "revision": revision,
                },
                "connection": "train-repo",
            }
        ]
    content: Json = {"version": 1.1, "kind": "compiled_operation", "name": run.name}
    if run.queue is not None:
        content["queue"] = run.queue
    if run.kind == "matrix":
        content["matrix"] = {"kind": "grid", "params": {"lr": {"kind": "choice", "value": [0.1]}}}
        body = {"kind": "job", "container": main}
    content["run"] = body
    return content


def _details(run: Run, day: date) -> list[ExportFile]:
    moment = day_end(day)
    detail = _file(run.project, day, f"{run.uuid}/run.json", "polyaxon-runs")
    body = _brief(run, moment)
    body["settings"] = {
        "namespace": "polyaxon", "agent": None, "queue": None, "artifacts_store": None,
        "tensorboard": None, "build": None, "component": None, "models": [], "artifacts": [],
    }  # fmt: skip
    body |= {
        "owner": run.owner,
        "project": run.project,
        "readme": None,
        "description": None,
        "raw_content": None,
        "content": json.dumps(_content(run), separators=(",", ":")),
        "live_state": 1,
    }
    detail.text = json.dumps(body, indent=1) + "\n"
    detail.accepted = 1
    statuses = _file(run.project, day, f"{run.uuid}/statuses.json", "polyaxon-runs")
    steps = [step for step in run.conditions if step.time < moment]
    answer = {
        "uuid": run.uuid,
        "status": steps[-1].type,
        "status_conditions": [_condition(run, step) for step in steps],
        "meta_info": run.meta_info,
    }
    statuses.text = json.dumps(answer, indent=1) + "\n"
    statuses.accepted = len(steps)
    return [detail, statuses]


def _condition(run: Run, step: Condition) -> Json:
    frozen = step.time
    if step.reason in {"OperatorController", "ImagePullBackOff"}:
        starts = [item.time for item in run.conditions if item.type == "starting"]
        frozen = max((time for time in starts if time <= step.time), default=step.time)
    return {
        "type": step.type,
        "status": "True",
        "reason": step.reason,
        "message": step.message,
        "last_update_time": to_milli(step.time),
        "last_transition_time": to_milli(frozen),
    }


def _spec(run: Run) -> ExportFile:
    """Return the sidecar's archive: the pod as last synced, events without uid or container."""
    pod = run.pods[0]
    end = pod.containers[1].end
    assert end is not None
    file = _file(run.project, end.date(), f"{run.uuid}/outputs/spec.json", "polyaxon-specs")
    body = pod_object(pod, end + seconds(5))
    for container in body["spec"]["containers"]:
        container.setdefault("env", []).append(
            {"name": "WANDB_API_KEY", "value": secrets.POLYAXON_SPEC_ENVIRONMENT}
        )
    kept = ("reason", "message", "type")
    events = []
    for moment, event in pod_events(pod):
        is_kubelet = event["firstTimestamp"] is not None
        events.append(
            {
                **{key: event[key] for key in kept},
                "first_timestamp": to_micro(moment) if is_kubelet else None,
                "last_timestamp": to_micro(moment) if is_kubelet else None,
                "count": event.get("count"),
            }
        )
    body["events"] = events
    file.text = json.dumps({"pods": {pod.name: body}, "services": {}}, indent=1) + "\n"
    file.accepted = 1
    return file

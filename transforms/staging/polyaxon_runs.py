"""Rows of Polyaxon runs: versions of a run, and the conditions in its life."""

from typing import Any

import msgspec

from transforms.staging.json_records import Item, RecordError
from transforms.staging.kubernetes_metadata import Observed, Sight, StatedTimes, observe
from transforms.staging.parser import FileContext, Row
from transforms.staging.polyaxon_content import content_facts
from transforms.staging.polyaxon_values import (
    Named,
    Reference,
    content_id,
    name_of,
    run_uuid_of,
)
from transforms.staging.stored_text import free_text, name_text, pairs
from transforms.staging.values import identity

DONE = frozenset({"succeeded", "failed", "upstream_failed", "stopped", "skipped", "done"})
"""Statuses in which nothing of a run is there any more."""
CHANGED = Sight(has_own_time=True)
"""How the API's versions are seen: each states when it last changed."""


class _Settings(msgspec.Struct):
    namespace: str | None = None
    agent: str | Named | None = None
    queue: str | Named | None = None
    artifacts_store: str | Named | None = None


class Run(msgspec.Struct):
    """A run as the API, the command line and offline folders write it."""

    uuid: str | None = None
    name: str | None = None
    kind: str | None = None
    runtime: str | None = None
    status: str | None = None
    is_managed: bool | None = None
    managed_by: str | None = None
    project: str | None = None
    owner: str | None = None
    user: str | Named | None = None
    created_at: str | None = None
    updated_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    original: Reference | str | None = None
    pipeline: Reference | str | None = None
    settings: _Settings | None = None
    tags: list[str] | None = None
    inputs: dict[str, Any] | None = None
    outputs: dict[str, Any] | None = None
    content: msgspec.Raw = msgspec.Raw()


class _Condition(msgspec.Struct):
    type: str | None = None
    status: bool | str | None = None
    reason: str | None = None
    message: str | None = None
    last_update_time: str | None = None
    last_transition_time: str | None = None


RUN = msgspec.json.Decoder(Run)
CONDITION = msgspec.json.Decoder(_Condition)


def run_rows(run: Run, item: Item, context: FileContext, view: str) -> tuple[Row, ...]:
    """Row of one version of a run.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    run_uuid = run_uuid_of(run.uuid, f"{item.path}.uuid")
    times = StatedTimes(item.path)
    created = times.read(run.created_at, ".created_at")
    updated = times.read(run.updated_at, ".updated_at")
    started = times.read(run.started_at, ".started_at")
    finished = times.read(run.finished_at, ".finished_at")
    content = content_facts(bytes(run.content), f"{item.path}.content")
    settings = run.settings or _Settings()
    observed = observe_run(context, times, run.status)
    original, pipeline = _reference(run.original), _reference(run.pipeline)
    original_uuid = _other_run(original, f"{item.path}.original.uuid")
    pipeline_uuid = _other_run(pipeline, f"{item.path}.pipeline.uuid")
    values = {
        "record_id": identity(
            "run",
            view,
            run_uuid,
            observed.at,
            content_id(item),
            None if run.project else context.project,
        ),
        "observed_at": observed.at,
        "observed_basis": observed.basis,
        "view": view,
        "run_uuid": run_uuid,
        "name": free_text(run.name),
        "kind": free_text(run.kind),
        "runtime": free_text(run.runtime),
        "status": free_text(run.status),
        "is_managed": run.is_managed,
        "managed_by": free_text(run.managed_by),
        "project": name_text(run.project or context.project),
        "run_owner": name_text(run.owner),
        "author": name_of(run.user),
        "created_at": created,
        "updated_at": updated,
        "started_at": started,
        "finished_at": finished,
        "original_uuid": original_uuid,
        "cloning_kind": free_text(original.kind),
        "pipeline_uuid": pipeline_uuid,
        "pipeline_kind": free_text(pipeline.kind),
        "queue": name_of(settings.queue) or content.queue,
        "agent": name_of(settings.agent) or content.agent,
        "artifacts_store": name_of(settings.artifacts_store),
        "namespace": content.namespace or name_text(settings.namespace),
        "tags": [free_text(tag) or "" for tag in run.tags] if run.tags is not None else None,
        "inputs": pairs(run.inputs),
        "outputs": pairs(run.outputs),
        "images": content.images,
        "replicas": content.replicas,
        "gpu_count": content.gpu_count,
        "max_retries": content.max_retries,
        "code_url": content.code_url,
        "code_revision": content.code_revision,
        "declared_accesses": content.declared_accesses,
    }
    return (("run_versions", values),)


def condition_rows(
    condition: _Condition, item: Item, run_uuid: str, ordinal: int
) -> tuple[Row, ...]:
    """Row of one condition.

    The operator copies the first transition time into all later conditions; the last update is the
    time at which the condition came (reference: Polyaxon's operator, `condition.go`).

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    if not condition.type:
        message = f"no_status: expected {item.path}.type, got none"
        raise RecordError(message)
    times = StatedTimes(item.path)
    updated = times.read(condition.last_update_time, ".last_update_time")
    transition = times.read(condition.last_transition_time, ".last_transition_time")
    values = {
        "record_id": identity(
            "condition", run_uuid, condition.type, condition.reason, condition.message, updated,
            transition,
        ),
        "event_at": updated,
        "run_uuid": run_uuid,
        "status": free_text(condition.type),
        "reason": free_text(condition.reason),
        "message": free_text(condition.message),
        "transition_at": transition,
        "ordinal": ordinal,
    }  # fmt: skip
    return (("run_statuses", values),)


def observe_run(
    context: FileContext, times: StatedTimes, status: str | None, sight: Sight = CHANGED
) -> Observed:
    """When a version was observed.

    A version of a run that is over says nothing more when it is listed again, so that it keeps its
    own time and counts as a repeat; a version of a run that is not over says that it still was so.
    """
    if status in DONE and times.newest is not None:
        return Observed(times.newest, "record")
    return observe(context, times.newest, sight)


def _reference(value: Reference | str | None) -> Reference:
    return value if isinstance(value, Reference) else Reference(value)


def _other_run(reference: Reference, where: str) -> str | None:
    return run_uuid_of(reference.uuid, where) if reference.uuid else None

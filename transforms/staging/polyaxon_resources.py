"""Rows of Polyaxon's custom resources: what the operator in a cluster was told, and what it saw.

Until 2.11 there is one kind, `core.polyaxon.com/v1 Operation`; since 2.12 there are `Job`,
`Service`, `KfJob` and `Cluster` of `polyaxon.com/v1`, whose names other groups use too. Shapes:
mloperator, `api/v1`. The operator deletes a resource when its run is over and its time to live has
passed, so that a listing holds the runs of the moment.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from transforms.staging import declared_accesses, run_identity
from transforms.staging.gpu_requests import effective_gpus, gpus_asked
from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.kubernetes_metadata import (
    Count,
    Metadata,
    Sight,
    StatedTimes,
    object_record_id,
    read_deletion,
    read_metadata,
    required,
)
from transforms.staging.kubernetes_pods import MAIN_NAMES
from transforms.staging.parser import FileContext, Row
from transforms.staging.polyaxon_runs import observe_run
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import INT64_MAX

GROUPS = frozenset({"core.polyaxon.com", "polyaxon.com"})
KINDS = frozenset({"Operation", "Job", "Service", "KfJob", "Cluster"})
STORE_VARIABLE = "POLYAXON_ARTIFACTS_STORE_NAME"

_ANNOTATION = "operation.polyaxon.com/"
_NOT_REACHED = frozenset({"False", "false"})
_OTHER_ROLES = frozenset({"notifier", "watchdog"})
"""Resources that work for a run and are none."""


class _SecretKey(msgspec.Struct):
    name: str | None = None


class _ValueFrom(msgspec.Struct, rename="camel"):
    secret_key_ref: _SecretKey | None = None


class _Variable(msgspec.Struct, rename="camel"):
    name: str | None = None
    value: str | None = None
    value_from: _ValueFrom | None = None


class _Resources(msgspec.Struct):
    requests: dict[str, str | int | float] | None = None
    limits: dict[str, str | int | float] | None = None
    claims: list[msgspec.Raw] | None = None


class _Container(msgspec.Struct, rename="camel"):
    name: str | None = None
    image: str | None = None
    command: list[str] | None = None
    args: list[str] | None = None
    env: list[_Variable] | None = None
    resources: _Resources | None = None
    restart_policy: str | None = None


class _Claim(msgspec.Struct, rename="camel"):
    claim_name: str | None = None


class _Volume(msgspec.Struct, rename="camel"):
    persistent_volume_claim: _Claim | None = None


class _Secret(msgspec.Struct):
    name: str | None = None


class _Pod(msgspec.Struct, rename="camel"):
    init_containers: list[_Container] | None = None
    containers: list[_Container] | None = None
    volumes: list[_Volume] | None = None
    image_pull_secrets: list[_Secret] | None = None


class _Template(msgspec.Struct):
    metadata: Metadata | None = None
    spec: _Pod | None = None


class _Replica(msgspec.Struct):
    """Pods that are alike: a batch job is one, a distributed one has several."""

    replicas: Count | None = None
    template: _Template | None = None


class _Work(_Replica, rename="camel"):
    """What is to run: one template, replicas by type, or a head and groups of workers."""

    replica_specs: dict[str, _Replica] | None = None
    head: _Replica | None = None
    workers: list[_Replica] | None = None


class _Termination(msgspec.Struct, rename="camel"):
    backoff_limit: Count | None = None


class _Condition(msgspec.Struct, rename="camel"):
    type: str | None = None
    status: bool | str | None = None
    reason: str | None = None
    message: str | None = None
    last_update_time: str | None = None
    last_transition_time: str | None = None


class _Status(msgspec.Struct, rename="camel"):
    conditions: list[_Condition] | None = None
    start_time: str | None = None
    completion_time: str | None = None
    last_reconcile_time: str | None = None


class _Operation(msgspec.Struct, rename="camel"):
    kind: str | None = None
    metadata: Metadata | None = None
    termination: _Termination | None = None
    status: _Status | None = None
    batch_job_spec: _Work | None = None
    service_spec: _Work | None = None
    tf_job_spec: _Work | None = None
    pytorch_job_spec: _Work | None = None
    mpi_job_spec: _Work | None = None
    mx_job_spec: _Work | None = None
    paddle_job_spec: _Work | None = None
    xgboost_job_spec: _Work | None = None
    spark_job_spec: _Work | None = None
    dask_job_spec: _Work | None = None
    ray_job_spec: _Work | None = None
    dask_cluster_spec: _Work | None = None
    ray_cluster_spec: _Work | None = None


class _Conditions(NamedTuple):
    """What the conditions of a resource say.

    Attributes:
        rows: Values of `run_statuses`, without their identity.
        status: Status of the last one that holds.
        updated_at: Newest of their updates.
    """

    rows: list[dict[str, Any]]
    status: str | None
    updated_at: datetime | None


_OPERATION = msgspec.json.Decoder(_Operation)

_WORKS = (
    ("batch_job_spec", "job", "job"),
    ("service_spec", "service", "service"),
    ("tf_job_spec", "job", "tfjob"),
    ("pytorch_job_spec", "job", "pytorchjob"),
    ("mpi_job_spec", "job", "mpijob"),
    ("mx_job_spec", "job", "mxjob"),
    ("paddle_job_spec", "job", "paddlejob"),
    ("xgboost_job_spec", "job", "xgbjob"),
    ("spark_job_spec", "job", "sparkjob"),
    ("dask_job_spec", "job", "daskjob"),
    ("ray_job_spec", "job", "rayjob"),
    ("dask_cluster_spec", "service", "daskcluster"),
    ("ray_cluster_spec", "service", "raycluster"),
)
"""Where the work stands, and the kind and runtime that the API gives to such a run."""


def is_operation(kind: str | None, api_version: str | None) -> bool:
    """Whether an object is a run's custom resource; `Job` and `Service` are other groups' too."""
    return kind in KINDS and (api_version or "").partition("/")[0] in GROUPS


def operation_rows(item: Item, context: FileContext, sight: Sight) -> tuple[Row, ...] | str:
    """Rows of one observed state of a run's custom resource.

    Args:
        item: The object.
        context: The file.
        sight: How it was seen.

    Returns:
        One row for run_versions, then one per condition for run_statuses; or the word for which
        the resource is left out: it works for a run but is none.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    operation = decode(_OPERATION, item.data, item.path)
    metadata = operation.metadata or Metadata()
    name = required(metadata.name, "name", f"{item.path}.metadata.name")
    kind, runtime, work = _work(operation)
    replicas = list(_replicas(work)) if work is not None else []
    labels, annotations = _described(metadata, replicas)
    role = run_identity.role_in_name(name)
    component = labels.get(run_identity.COMPONENT_LABEL)
    if role == "cleaner" or component == run_identity.CLEANER_COMPONENT:
        return "cleaner"
    if role in _OTHER_ROLES:
        return "other_kind"
    run_uuid = _run_uuid(name, labels, replicas, item)
    times = StatedTimes(item.path)
    created = read_metadata(metadata, times)
    read_deletion(metadata, item.path, times)
    status = operation.status or _Status()
    started = times.read(status.start_time, ".status.startTime")
    finished = times.read(status.completion_time, ".status.completionTime")
    times.read(status.last_reconcile_time, ".status.lastReconcileTime")
    conditions = _conditions(status, item, times)
    updates = [t for t in (conditions.updated_at, finished) if t is not None]
    observed = observe_run(context, times, conditions.status, sight)
    record_id = object_record_id("Operation", metadata, item, sight.watch_event, observed)
    runtime_word = free_text(annotations.get(f"{_ANNOTATION}kind")) or runtime
    version = {
        "record_id": record_id,
        "observed_at": observed.at,
        "observed_basis": observed.basis,
        "view": "resource",
        "run_uuid": run_uuid,
        "name": free_text(annotations.get(f"{_ANNOTATION}name")),
        "kind": kind,
        "runtime": runtime_word,
        "status": conditions.status,
        "is_managed": None,
        "managed_by": None,
        "project": name_text(annotations.get(f"{_ANNOTATION}project") or context.project),
        "run_owner": name_text(annotations.get(f"{_ANNOTATION}owner")),
        "author": None,
        "created_at": created,
        "updated_at": max(updates, default=None),
        "started_at": started,
        "finished_at": finished,
        "namespace": name_text(metadata.namespace),
        "max_retries": operation.termination.backoff_limit if operation.termination else None,
        **_described_work(replicas, metadata.namespace or "", context, item),
    }
    statuses = (
        ("run_statuses", {"record_id": record_id, "run_uuid": run_uuid, **row})
        for row in conditions.rows
    )
    return (("run_versions", version), *statuses)


def _run_uuid(name: str, labels: dict[str, str], replicas: Sequence[_Replica], item: Item) -> str:
    match = run_identity.run_of_pod(
        labels=labels,
        instances=[
            variable.value
            for replica in replicas
            for _, container in _containers(replica)
            for variable in container.env or ()
            if variable.name == run_identity.RUN_VARIABLE and variable.value
        ],
        names=[name],
    )
    if match.run_uuid is None:
        got = "several" if match.kind == "conflict" else "none"
        message = f"no_uuid: expected one run's labels and name, got {got} at {item.path}.metadata"
        raise RecordError(message)
    return match.run_uuid


def _work(operation: _Operation) -> tuple[str | None, str | None, _Work | None]:
    for attribute, kind, runtime in _WORKS:
        work = getattr(operation, attribute)
        if work is not None:
            return kind, runtime, work
    return None, None, None


def _replicas(work: _Work) -> Iterator[_Replica]:
    """The kinds of replica; a job or service is one by itself."""
    found = [
        *(work.replica_specs or {}).values(),
        *([work.head] if work.head is not None else []),
        *(work.workers or ()),
    ]
    yield from found or [work]


def _described(
    metadata: Metadata, replicas: Sequence[_Replica]
) -> tuple[dict[str, str], dict[str, str]]:
    """Labels and annotations; those of the pods stand in where the resource has none."""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    templates = [r.template.metadata for r in replicas if r.template and r.template.metadata]
    for found in (*templates, metadata):
        labels |= found.labels or {}
        annotations |= found.annotations or {}
    return labels, annotations


def _conditions(status: _Status, item: Item, times: StatedTimes) -> _Conditions:
    """Conditions in the order in which they came; the API writes their words in lower case."""
    rows: list[dict[str, Any]] = []
    last, newest = None, None
    for ordinal, condition in enumerate(status.conditions or ()):
        where = f".status.conditions[{ordinal}]"
        stated = required(condition.type, "status", f"{item.path}{where}.type")
        # In lower case a credential would no longer be told.
        word = (free_text(stated) or "").lower()
        updated = times.read(condition.last_update_time, f"{where}.lastUpdateTime")
        transition = times.read(condition.last_transition_time, f"{where}.lastTransitionTime")
        if condition.status is False or condition.status in _NOT_REACHED:
            continue
        last = word
        newest = max((t for t in (newest, updated) if t is not None), default=None)
        rows.append(
            {
                "event_at": updated,
                "status": word,
                "reason": free_text(condition.reason),
                "message": free_text(condition.message),
                "transition_at": transition,
                "ordinal": ordinal,
            }
        )
    return _Conditions(rows, last, newest)


# -- pods ----------------------------------------------------------------------------------------


def _containers(replica: _Replica) -> Iterator[tuple[str, _Container]]:
    """Containers of a replica's pods with their role, init containers first."""
    pod = (replica.template.spec if replica.template else None) or _Pod()
    for container in pod.init_containers or ():
        yield "sidecar" if container.restart_policy == "Always" else "init", container
    mains = pod.containers or []
    known = {c.name for c in mains} & MAIN_NAMES
    for container in mains:
        name = container.name
        is_main = name in known if known else name != declared_accesses.SIDECAR_NAME
        yield "main" if is_main else "sidecar", container


def _described_work(
    replicas: Sequence[_Replica], namespace: str, context: FileContext, item: Item
) -> dict[str, Any]:
    """What the pods will be: images, replicas, GPUs, code, accesses."""
    stated = [r for r in replicas if r.template is not None]
    images = {
        name_text(container.image)
        for replica in stated
        for _, container in _containers(replica)
        if container.image
    }
    gpus = {_gpus(replica, item.path) for replica in stated}
    found = [a for replica in stated for a in _accesses(replica, namespace, context)]
    code = {
        (a["resource_id"], a["version"])
        for a in found
        if a["resource_kind"] == "git" and a["declared_in"] == "pod_spec"
    }
    url, revision = code.pop() if len(code) == 1 else (None, None)
    stores = {
        variable.value
        for replica in stated
        for role, container in _containers(replica)
        if role == "main"
        for variable in container.env or ()
        if variable.name == STORE_VARIABLE and variable.value
    }
    return {
        "artifacts_store": name_text(stores.pop()) if len(stores) == 1 else None,
        "images": sorted(image for image in images if image) or None,
        "replicas": _sum(stated),
        "gpu_count": gpus.pop() if len(gpus) == 1 else None,
        "code_url": _code_url(url, revision),
        "code_revision": revision,
        "declared_accesses": declared_accesses.ordered(found),
    }


def _sum(replicas: Sequence[_Replica]) -> int | None:
    total = sum(1 if r.replicas is None else r.replicas for r in replicas)
    return min(total, INT64_MAX) if replicas else None


def _gpus(replica: _Replica, path: str) -> int | None:
    """GPUs of a replica; null where a claim, which stands elsewhere, says how many it has."""
    asked = [(role, c.resources) for role, c in _containers(replica) if c.resources is not None]
    count = effective_gpus(
        (role == "init", gpus_asked(resources.requests, resources.limits, path))
        for role, resources in asked
    )
    return None if any(resources.claims for _, resources in asked) else count


def _code_url(resource_id: str | None, revision: str | None) -> str | None:
    if resource_id is None:
        return None
    url = resource_id.removeprefix("git+")
    return url.removesuffix(f"@{revision}") if revision else url


def _accesses(replica: _Replica, namespace: str, context: FileContext) -> Iterator[dict[str, Any]]:
    pod = (replica.template.spec if replica.template else None) or _Pod()
    secrets = tuple(
        sorted({name for s in pod.image_pull_secrets or () if (name := name_text(s.name))})
    )
    for role, container in _containers(replica):
        yield from declared_accesses.of_container(
            _facts(container, role),
            namespace=namespace,
            cluster=context.cluster,
            pull_secrets=secrets,
        )
    for volume in pod.volumes or ():
        if volume.persistent_volume_claim and (name := volume.persistent_volume_claim.claim_name):
            yield declared_accesses.claim(cluster=context.cluster, namespace=namespace, name=name)


def _facts(container: _Container, role: str) -> declared_accesses.ContainerFacts:
    return declared_accesses.ContainerFacts(
        name=name_text(container.name),
        role=role,
        image=container.image,
        command=(*(container.command or ()), *(container.args or ())),
        environment={v.name: v.value for v in container.env or () if v.name},
        variable_secrets={
            v.name: v.value_from.secret_key_ref.name
            for v in container.env or ()
            if v.name
            and v.value_from
            and v.value_from.secret_key_ref
            and v.value_from.secret_key_ref.name
        },
    )

"""Rows of a pod: its state and the states of its containers.

Used for objects of the Kubernetes API and for Polyaxon's archive of the same objects.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from transforms.staging import declared_accesses, run_identity
from transforms.staging.gpu_requests import effective_gpus, gpus_asked
from transforms.staging.json_records import Item, RecordError
from transforms.staging.kubernetes_metadata import (
    LISTED,
    Count,
    Metadata,
    Name,
    Number,
    Port,
    Sight,
    StatedTimes,
    object_record_id,
    observe,
    read_addresses,
    read_deletion,
    read_metadata,
    required,
    uid_text,
)
from transforms.staging.parser import FileContext, Row
from transforms.staging.stored_text import free_text, name_text, pairs

MAIN_NAMES = frozenset(
    {"polyaxon-main", "pytorch", "tensorflow", "mxnet", "xgboost", "paddle", "polyaxon-job"}
)
"""Names that Polyaxon and the training operators give the container that does the work."""
DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"

_ANNOTATION = "operation.polyaxon.com/"
_RUNTIMES = frozenset({"containerd", "cri-o", "docker"})
_DIGEST = re.compile(r"@(sha(?:256|512):[0-9a-f]{64,128})\Z")
Quantities = dict[str, str | int | float]


class _Named(msgspec.Struct):
    name: str | None = None


class _SecretKey(msgspec.Struct):
    name: str | None = None
    key: str | None = None


class _ValueFrom(msgspec.Struct, rename="camel"):
    secret_key_ref: _SecretKey | None = None


class _Variable(msgspec.Struct, rename="camel"):
    name: Name
    value: str | None = None
    value_from: _ValueFrom | None = None


class _ContainerPort(msgspec.Struct, rename="camel"):
    name: str | None = None
    container_port: Port | None = None
    protocol: str | None = None


class _Resources(msgspec.Struct):
    requests: Quantities | None = None
    limits: Quantities | None = None


class _Container(msgspec.Struct, rename="camel"):
    name: Name
    image: str | None = None
    command: list[str] | None = None
    args: list[str] | None = None
    env: list[_Variable] | None = None
    ports: list[_ContainerPort] | None = None
    resources: _Resources | None = None
    restart_policy: str | None = None


class _Claim(msgspec.Struct, rename="camel"):
    claim_name: str | None = None


class _Volume(msgspec.Struct, rename="camel"):
    name: str | None = None
    persistent_volume_claim: _Claim | None = None


class _ResourceClaim(msgspec.Struct, rename="camel"):
    name: str | None = None
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None
    host_network: bool | None = None
    service_account_name: str | None = None
    service_account: str | None = None
    restart_policy: str | None = None
    init_containers: list[_Container] | None = None
    containers: list[_Container] | None = None
    ephemeral_containers: list[_Container] | None = None
    volumes: list[_Volume] | None = None
    image_pull_secrets: list[_Named] | None = None
    resource_claims: list[_ResourceClaim] | None = None


class _Address(msgspec.Struct):
    ip: str | None = None


class _Condition(msgspec.Struct, rename="camel"):
    type: Name
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None
    last_probe_time: str | None = None


class _Waiting(msgspec.Struct):
    reason: str | None = None
    message: str | None = None


class _Running(msgspec.Struct, rename="camel"):
    started_at: str | None = None


class _Terminated(msgspec.Struct, rename="camel"):
    exit_code: Number | None = None
    reason: str | None = None
    message: str | None = None
    started_at: str | None = None
    finished_at: str | None = None


class _State(msgspec.Struct):
    waiting: _Waiting | None = None
    running: _Running | None = None
    terminated: _Terminated | None = None


class _ContainerStatus(msgspec.Struct, rename={"image_id": "imageID", "container_id": "containerID",
                                               "last_state": "lastState",
                                               "restart_count": "restartCount"}):  # fmt: skip
    name: Name
    state: _State | None = None
    last_state: _State | None = None
    restart_count: Count | None = None
    image: str | None = None
    image_id: str | None = None
    container_id: str | None = None


class _Status(msgspec.Struct, rename={"pod_ip": "podIP", "pod_ips": "podIPs", "host_ip": "hostIP",
                                      "host_ips": "hostIPs", "start_time": "startTime",
                                      "init_container_statuses": "initContainerStatuses",
                                      "container_statuses": "containerStatuses",
                                      "ephemeral_container_statuses":
                                      "ephemeralContainerStatuses",
                                      "claim_statuses": "resourceClaimStatuses"}):  # fmt: skip
    phase: str | None = None
    reason: str | None = None
    pod_ip: str | None = None
    pod_ips: list[_Address] | None = None
    host_ip: str | None = None
    host_ips: list[_Address] | None = None
    start_time: str | None = None
    conditions: list[_Condition] | None = None
    init_container_statuses: list[_ContainerStatus] | None = None
    container_statuses: list[_ContainerStatus] | None = None
    ephemeral_container_statuses: list[_ContainerStatus] | None = None
    claim_statuses: list[_ResourceClaim] | None = None


class Pod(msgspec.Struct):
    """A pod of the core API, as far as it is read."""

    metadata: Metadata | None = None
    spec: _Spec | None = None
    status: _Status | None = None


POD = msgspec.json.Decoder(Pod)


@dataclass(frozen=True)
class _Part:
    """One container: what is asked for, what is said of it, and its place."""

    role: str
    ordinal: int
    name: str
    spec: _Container | None
    status: _ContainerStatus | None
    where: str


@dataclass
class _Life:
    """Starts and ends of a pod's containers.

    Attributes:
        starts: Starts that are known.
        ends: Ends that are known.
        is_running: A container is said to run.
        is_open: A container other than an init container has not ended, or not begun.
    """

    starts: list[datetime] = field(default_factory=list)
    ends: list[datetime] = field(default_factory=list)
    is_running: bool = False
    is_open: bool = False


def pod_rows(
    pod: Pod,
    item: Item,
    context: FileContext,
    sight: Sight = LISTED,
    *,
    folder_run: str | None = None,
    also_there: datetime | None = None,
) -> tuple[Row, ...]:
    """Rows of one observed state of a pod.

    Args:
        pod: The pod.
        item: Its record, for the JSON paths of what is wrong.
        context: The file.
        sight: How it was seen.
        folder_run: Run whose archive holds the pod.
        also_there: Another time at which the pod was there (an event beside it in an archive).

    Returns:
        One row for pod_states, then one row per container for container_states.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    metadata = pod.metadata or Metadata()
    spec, status = pod.spec or _Spec(), pod.status or _Status()
    uid = uid_text(required(metadata.uid, "uid", f"{item.path}.metadata.uid"))
    name = required(metadata.name, "name", f"{item.path}.metadata.name")
    namespace = required(metadata.namespace, "namespace", f"{item.path}.metadata.namespace")
    times = StatedTimes(item.path)
    times.note(also_there)
    created = read_metadata(metadata, times)
    if created is None:
        message = f"no_time: expected {item.path}.metadata.creationTimestamp, got none"
        raise RecordError(message)
    deletion = read_deletion(metadata, item.path, times)
    started = times.read(status.start_time, ".status.startTime")
    conditions = _conditions(status, times)
    parts = list(_parts(metadata, spec, status))
    life = _Life()
    container_values = [_container_values(part, times, life) for part in parts]
    observed = observe(context, times.newest, sight)
    record_id = object_record_id("Pod", metadata, item, sight.watch_event, observed)
    identity = {
        "record_id": record_id,
        "observed_at": observed.at,
        "namespace": name_text(namespace),
        "pod_name": name_text(name),
        "pod_uid": uid,
        "node": name_text(spec.node_name),
    }
    state = {
        **identity,
        "observed_basis": observed.basis,
        "watch_event": sight.watch_event,
        "addresses": _addresses(status.pod_ips, status.pod_ip, item, "podIPs"),
        "host_addresses": _addresses(status.host_ips, status.host_ip, item, "hostIPs"),
        "host_network": bool(spec.host_network),
        "labels": pairs(metadata.labels),
        **_owner(metadata),
        "service_account": name_text(spec.service_account_name or spec.service_account),
        "ports": _ports(parts),
        "phase": name_text(status.phase),
        "reason": free_text(status.reason),
        "conditions": conditions,
        "created_at": created,
        **_moments(conditions or [], life),
        "last_finished_at": _last_finish(spec, status, life, sight.watch_event),
        "start_time_at": started,
        "deletion_at": deletion,
        "is_deleted": sight.watch_event == "DELETED",
        **run_values(metadata, _instances(parts), context, folder_run),
        "gpu_count": _gpu_count(parts, item.path),
        "resource_claims": _claims(spec, status),
        "declared_accesses": _declared(spec, parts, namespace, context),
    }
    containers = (("container_states", {**identity, **values}) for values in container_values)
    return (("pod_states", state), *containers)


# -- containers ----------------------------------------------------------------------------------


def _parts(metadata: Metadata, spec: _Spec, status: _Status) -> Iterator[_Part]:
    """All containers in the order in which a pod lists them: init, main, ephemeral."""
    mains = spec.containers or []
    named = (metadata.annotations or {}).get(DEFAULT_CONTAINER)
    known = {c.name for c in mains if c.name == named} or {
        c.name for c in mains if c.name in MAIN_NAMES
    }

    def role(container: _Container | None, name: str, group: str) -> str:
        if group == "init":
            is_restartable = container is not None and container.restart_policy == "Always"
            return "sidecar" if is_restartable else "init"
        if group == "ephemeral":
            return "ephemeral"
        is_main = name in known if known else name != declared_accesses.SIDECAR_NAME
        return "main" if is_main else "sidecar"

    groups = (
        ("init", spec.init_containers, status.init_container_statuses, "initContainer"),
        ("main", mains, status.container_statuses, "container"),
        (
            "ephemeral",
            spec.ephemeral_containers,
            status.ephemeral_container_statuses,
            "ephemeralContainer",
        ),
    )
    for group, specs, statuses, key in groups:
        places = {s.name: (index, s) for index, s in enumerate(statuses or ())}
        names = [c.name for c in specs or ()]
        specs_by_name = {c.name: c for c in specs or ()}
        for ordinal, name in enumerate([*names, *(n for n in places if n not in specs_by_name)]):
            index, container_status = places.get(name, (0, None))
            container = specs_by_name.get(name)
            yield _Part(
                role=role(container, name, group),
                ordinal=ordinal,
                name=name,
                spec=container,
                status=container_status,
                where=f".status.{key}Statuses[{index}]",
            )


def _container_values(part: _Part, times: StatedTimes, life: _Life) -> dict[str, Any]:
    """Values of one container_states row, and what they say of the pod's life."""
    status = part.status or _ContainerStatus(part.name)
    spec = part.spec or _Container(part.name)
    state, last = status.state or _State(), (status.last_state or _State()).terminated
    running, terminated = state.running, state.terminated
    start = finish = None
    if terminated is not None:
        start = times.read(terminated.started_at, f"{part.where}.state.terminated.startedAt")
        finish = times.read(terminated.finished_at, f"{part.where}.state.terminated.finishedAt")
    elif running is not None:
        start = times.read(running.started_at, f"{part.where}.state.running.startedAt")
    last = last or _Terminated()
    last_start = times.read(last.started_at, f"{part.where}.lastState.terminated.startedAt")
    last_finish = times.read(last.finished_at, f"{part.where}.lastState.terminated.finishedAt")
    life.starts += [t for t in (start, last_start) if t is not None]
    life.ends += [t for t in (finish, last_finish) if t is not None]
    life.is_running |= terminated is None and running is not None
    life.is_open |= terminated is None and part.role != "init"
    said = terminated or state.waiting or _Waiting()
    resources = spec.resources or _Resources()
    return {
        "container": name_text(part.name),
        "container_role": part.role,
        "ordinal": part.ordinal,
        "image": name_text(spec.image or status.image),
        "image_digest": image_digest(status.image_id),
        "container_id": without_runtime(status.container_id),
        "state": _state_name(state),
        "reason": free_text(said.reason),
        "message": free_text(said.message),
        "exit_code": terminated.exit_code if terminated else None,
        "started_at": start,
        "finished_at": finish,
        "restart_count": status.restart_count,
        "last_reason": free_text(last.reason),
        "last_exit_code": last.exit_code,
        "last_started_at": last_start,
        "last_finished_at": last_finish,
        "requests": _quantities(resources.requests),
        "limits": _quantities(resources.limits),
    }


def image_digest(image_id: str | None) -> str | None:
    """Digest in `repository@sha256:…`.

    A bare `sha256:…` is the id of a configuration in the node's store, not what was pulled.
    """
    match = _DIGEST.search(image_id) if image_id else None
    return match[1] if match else None


def without_runtime(container_id: str | None) -> str | None:
    """Id of a container without the runtime in front of it; what is no such id is redacted whole.

    A runtime in front makes no URL of what follows, in which userinfo would be masked.
    """
    runtime, _, own = (container_id or "").partition("://")
    if runtime in _RUNTIMES and "@" not in own:
        return name_text(own)
    return (name_text(container_id) or "").rpartition("://")[2] or None


def _state_name(state: _State) -> str:
    if state.terminated is not None:
        return "terminated"
    if state.running is not None:
        return "running"
    return "waiting" if state.waiting is not None else "unknown"


def _quantities(values: Quantities | None) -> list[dict[str, str | None]] | None:
    return pairs({name: str(value) for name, value in values.items()} if values else None)


def _gpu_count(parts: Sequence[_Part], path: str) -> int:
    """GPUs of the pod's effective request; an ephemeral container has no resources."""
    return effective_gpus(
        (
            part.role == "init",
            gpus_asked(part.spec.resources.requests, part.spec.resources.limits, f"{path}.spec"),
        )
        for part in parts
        if part.spec is not None and part.spec.resources is not None and part.role != "ephemeral"
    )


# -- the pod -------------------------------------------------------------------------------------


def _claims(spec: _Spec, status: _Status) -> list[dict[str, Any]] | None:
    """Claims of the pod; one made from a template has a name of its own, once it is made."""
    made = {c.name: c.resource_claim_name for c in status.claim_statuses or ()}
    found = [
        {
            "name": name_text(claim.name),
            "claim": name_text(claim.resource_claim_name or made.get(claim.name)),
            "template": name_text(claim.resource_claim_template_name),
        }
        for claim in spec.resource_claims or ()
    ]
    return found or None


def _conditions(status: _Status, times: StatedTimes) -> list[dict[str, Any]] | None:
    found = []
    for index, condition in enumerate(status.conditions or ()):
        where = f".status.conditions[{index}]"
        times.read(condition.last_probe_time, f"{where}.lastProbeTime")
        found.append(
            {
                "type": name_text(condition.type),
                "status": name_text(condition.status),
                "reason": free_text(condition.reason),
                "message": free_text(condition.message),
                "transition_at": times.read(
                    condition.last_transition_time, f"{where}.lastTransitionTime"
                ),
            }
        )
    return found or None


def _moments(conditions: list[dict[str, Any]], life: _Life) -> dict[str, datetime | None]:
    """When the pod passed from one stage to the next, as far as this state still says it."""

    def since(type_: str, status: str) -> datetime | None:
        times = [
            c["transition_at"] for c in conditions if (c["type"], c["status"]) == (type_, status)
        ]
        return times[0] if times else None

    ended = since("PodReadyToStartContainers", "False") if life.starts else None
    return {
        "scheduled_at": since("PodScheduled", "True"),
        "sandbox_ready_at": since("PodReadyToStartContainers", "True"),
        "sandbox_ended_at": ended,
        "first_started_at": min(life.starts, default=None),
    }


def _last_finish(
    spec: _Spec, status: _Status, life: _Life, watch_event: str | None
) -> datetime | None:
    """End of the last container, where none can start again.

    That is so in a final phase, where a container that waits never starts, in a pod that is
    deleted, and where all have ended and are not restarted. A final phase beside a running
    container comes from a lost node and says nothing of the end.
    """
    is_over = (
        status.phase in {"Succeeded", "Failed"}
        or watch_event == "DELETED"
        or (spec.restart_policy == "Never" and not life.is_open)
    )
    return max(life.ends, default=None) if is_over and not life.is_running else None


def _addresses(
    listed: list[_Address] | None, single: str | None, item: Item, key: str
) -> list[str] | None:
    return read_addresses([*(a.ip for a in listed or ()), single], f"{item.path}.status.{key}")


def _owner(metadata: Metadata) -> dict[str, str | None]:
    owners = [o for o in metadata.owner_references or () if o.controller]
    return {
        "owner_kind": name_text(owners[0].kind) if owners else None,
        "owner_name": name_text(owners[0].name) if owners else None,
    }


def _ports(parts: Sequence[_Part]) -> list[dict[str, Any]] | None:
    found = [
        {
            "name": name_text(port.name),
            "port": port.container_port,
            "target_port": None,
            "protocol": name_text(port.protocol) or "TCP",
            "container": name_text(part.name),
        }
        for part in parts
        if part.spec is not None
        for port in part.spec.ports or ()
        if port.container_port
    ]
    return found or None


def _instances(parts: Sequence[_Part]) -> list[str]:
    return [
        variable.value
        for part in parts
        if part.spec is not None
        for variable in part.spec.env or ()
        if variable.name == run_identity.RUN_VARIABLE and variable.value
    ]


def run_values(
    metadata: Metadata,
    instances: Iterable[str],
    context: FileContext,
    folder_run: str | None = None,
) -> dict[str, Any]:
    """The run of a pod and what annotations say of it.

    Args:
        metadata: Metadata of the pod.
        instances: Values of POLYAXON_RUN_INSTANCE in its containers.
        context: The file.
        folder_run: Run whose archive holds the pod.
    """
    labels, annotations = metadata.labels or {}, metadata.annotations or {}
    names = [metadata.name or "", *(o.name or "" for o in metadata.owner_references or ())]
    match = run_identity.run_of_pod(
        labels=labels, instances=instances, names=names, folder_run=folder_run
    )
    component = labels.get(run_identity.COMPONENT_LABEL)
    if not component and match.is_cleaner:
        component = run_identity.CLEANER_COMPONENT
    replica = run_identity.replica_of_pod(labels, names)
    is_of_run = match.run_uuid is not None
    return {
        "run_uuid": match.run_uuid,
        "run_match_kind": match.kind,
        "run_component": name_text(component),
        "run_name": free_text(annotations.get(f"{_ANNOTATION}name")),
        "run_owner": name_text(annotations.get(f"{_ANNOTATION}owner")),
        "project": name_text(
            annotations.get(f"{_ANNOTATION}project") or (context.project if is_of_run else None)
        ),
        "run_kind": name_text(annotations.get(f"{_ANNOTATION}kind")),
        "replica_type": name_text(replica.replica_type),
        "replica_index": name_text(replica.replica_index),
    }


def _declared(
    spec: _Spec, parts: Sequence[_Part], namespace: str, context: FileContext
) -> list[dict[str, Any]] | None:
    secrets = tuple(
        sorted({name for s in spec.image_pull_secrets or () if (name := name_text(s.name))})
    )
    found: list[dict[str, Any]] = []
    for part in parts:
        if part.spec is None:
            continue
        found += declared_accesses.of_container(
            _facts(part.spec, part.role),
            namespace=namespace,
            cluster=context.cluster,
            pull_secrets=secrets,
        )
    found += [
        declared_accesses.claim(cluster=context.cluster, namespace=namespace, name=name)
        for volume in spec.volumes or ()
        if volume.persistent_volume_claim and (name := volume.persistent_volume_claim.claim_name)
    ]
    return declared_accesses.ordered(found)


def _facts(container: _Container, role: str) -> declared_accesses.ContainerFacts:
    return declared_accesses.ContainerFacts(
        name=name_text(container.name),
        role=role,
        image=container.image,
        command=(*(container.command or ()), *(container.args or ())),
        environment={v.name: v.value for v in container.env or ()},
        variable_secrets={
            v.name: v.value_from.secret_key_ref.name
            for v in container.env or ()
            if v.value_from and v.value_from.secret_key_ref and v.value_from.secret_key_ref.name
        },
    )

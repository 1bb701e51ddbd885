"""Pods as kube-state-metrics tells of them: many series, each with one fact, put together.

Sources: kube-state-metrics 2.x, internal/store/pod.go and docs/metrics/workload/pod-metrics.md.
Every series of a pod has the labels `namespace`, `pod` and `uid`; Prometheus puts `exported_` in
front of them where they would contradict the target's own. A value is 1 or 0 (information, or which
of several states holds), seconds since 1970, or an amount.

**States.** A text without times is one look at the cluster and gives one state per pod. Of samples
with times, a state holds as long as no series says another thing, and gives a row at its first and
one at its last sample, however many lie between. A sample counts for five minutes, as in Prometheus
itself, unless its series says otherwise earlier, so that looks of the same moment which lie
seconds apart are one. What a pod was born with (creation, start, scheduling, owner, node) is taken
from any sample; its end only from samples that were taken by then.

**Labels.** kube-state-metrics writes `label_app_kubernetes_io_instance`: lower case, with `_` for
all that is no letter or digit. That cannot be undone by rule, so that only labels of a list are
read, whose prefix belongs to a known project; a pod's run is known by these, else by its name.

**GPUs.** A pod of which no GPU is requested has no series that says so. Where a text without times
holds the family of requests, it holds all of them, and the pod has none; else that is unknown.

A pod's row needs its creation (`kube_pod_created`) and its information (`kube_pod_info`, which
tells whether it shares its node's network); a pod without one of them is refused.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from transforms.staging import declared_accesses
from transforms.staging.gpu_requests import effective_gpus, gpus_asked
from transforms.staging.json_records import RecordError
from transforms.staging.kubernetes_metadata import (
    Metadata,
    Observed,
    OwnerReference,
    observe,
    read_addresses,
    uid_text,
)
from transforms.staging.kubernetes_pods import MAIN_NAMES, image_digest, run_values, without_runtime
from transforms.staging.parser import FileContext, Parsed, Row
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import free_text, name_text, pairs
from transforms.staging.values import INT64_MAX, identity, instant_of_microseconds, microseconds_of

FRESH = 300_000_000
"""Microseconds for which a sample counts: the look-back of Prometheus."""

MAX_WORK = 10_000_000
"""Changes of a pod times its series: a pod of a day has some dozens of each."""

_LAST_SECOND = 253_402_300_799
_FLAG, _TIME, _AMOUNT = "flag", "time", "amount"


class _Family(NamedTuple):
    """One family: what its value is, and which of its labels say something."""

    value: str
    labels: tuple[str, ...] = ()


_POD_FAMILIES = {
    "info": _Family(_FLAG, ("host_ip", "pod_ip", "node", "created_by_kind", "created_by_name",
                            "host_network")),
    "ips": _Family(_FLAG, ("ip",)),
    "owner": _Family(_FLAG, ("owner_kind", "owner_name", "owner_is_controller")),
    "service_account": _Family(_FLAG, ("service_account",)),
    "labels": _Family(_FLAG),
    "created": _Family(_TIME),
    "start_time": _Family(_TIME),
    "completion_time": _Family(_TIME),
    "deletion_timestamp": _Family(_TIME),
    "status_phase": _Family(_FLAG, ("phase",)),
    "status_reason": _Family(_FLAG, ("reason",)),
    "status_scheduled_time": _Family(_TIME),
    "status_initialized_time": _Family(_TIME),
    "status_container_ready_time": _Family(_TIME),
    "status_ready_time": _Family(_TIME),
}  # fmt: skip
_CONTAINER_FAMILIES = {
    "info": _Family(_FLAG, ("image_spec", "image", "image_id", "container_id", "restart_policy")),
    "state_started": _Family(_TIME),
    "status_waiting": _Family(_FLAG),
    "status_running": _Family(_FLAG),
    "status_terminated": _Family(_FLAG),
    "status_waiting_reason": _Family(_FLAG, ("reason",)),
    "status_terminated_reason": _Family(_FLAG, ("reason",)),
    "status_last_terminated_reason": _Family(_FLAG, ("reason",)),
    "status_last_terminated_exitcode": _Family(_AMOUNT),
    "status_last_terminated_timestamp": _Family(_TIME),
    "status_restarts_total": _Family(_AMOUNT),
    "resource_requests": _Family(_AMOUNT, ("resource",)),
    "resource_limits": _Family(_AMOUNT, ("resource",)),
}
_CONDITIONS = {
    "ContainersReady": "status_container_ready_time",
    "Initialized": "status_initialized_time",
    "PodScheduled": "status_scheduled_time",
    "Ready": "status_ready_time",
}
_POD_NAME = re.compile(r"kube_pod_(init_)?(container_)?([a-z_]+)\Z")
_REQUESTS = frozenset(
    {"kube_pod_container_resource_requests", "kube_pod_init_container_resource_requests"}
)

KNOWN_LABELS = (
    "operation.polyaxon.com/uuid",
    "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version",
    "app.kubernetes.io/component", "app.kubernetes.io/part-of", "app.kubernetes.io/managed-by",
    "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-completion-index", "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index", "training.kubeflow.org/job-name",
    "training.kubeflow.org/replica-type", "training.kubeflow.org/replica-index",
    "training.kubeflow.org/job-role", "training.kubeflow.org/operator-name",
    "jobset.sigs.k8s.io/jobset-name", "kueue.x-k8s.io/queue-name", "ray.io/cluster",
    "ray.io/group", "ray.io/node-type", "dask.org/cluster-name", "dask.org/component",
    "topology.kubernetes.io/region", "topology.kubernetes.io/zone",
)  # fmt: skip
"""Labels of pods whose names are known, however they are written."""

_UNMANGLED = {"label_" + re.sub("[^a-z0-9]", "_", name): name for name in KNOWN_LABELS}
_RESOURCES = {
    "nvidia_com_gpu": "nvidia.com/gpu",
    "amd_com_gpu": "amd.com/gpu",
    "gpu_intel_com_i915": "gpu.intel.com/i915",
    "gpu_intel_com_xe": "gpu.intel.com/xe",
    "nvidia_com_gpu_shared": "nvidia.com/gpu.shared",
    "ephemeral_storage": "ephemeral-storage",
}


class Reading(NamedTuple):
    """One value of one series.

    Attributes:
        name: Name of the metric.
        labels: Its labels.
        value: The value as written.
        at: When it held; null where nothing says it.
    """

    name: str
    labels: Mapping[str, str]
    value: str | float
    at: datetime | None


class Place(NamedTuple):
    """Where something stands: what a record of it shows."""

    locator: str
    offset: int | None
    raw: bytes


class _Spans:
    """Values of one series over time: from when to when each held, as far as it was sampled."""

    __slots__ = ("is_sorted", "spans")

    def __init__(self) -> None:
        self.spans: list[tuple[int, int, float]] = []
        self.is_sorted = True

    def add(self, at: int, value: float) -> None:
        if self.spans:
            first, last, known = self.spans[-1]
            if at >= last and value == known:
                self.spans[-1] = (first, at, value)
                return
            self.is_sorted &= at >= last
        self.spans.append((at, at, value))

    def settle(self) -> None:
        """Bring what was read out of order into order."""
        if self.is_sorted:
            return
        found, self.spans, self.is_sorted = sorted(self.spans), [], True
        for first, last, value in found:
            self.add(first, value)
            self.add(last, value)

    def at(self, time: int) -> tuple[int, float] | None:
        """When the newest sample up to a time was taken, and its value."""
        index = bisect_right(self.spans, (time, math.inf, math.inf)) - 1
        if index < 0:
            return None
        _, last, value = self.spans[index]
        return min(last, time), value


_Families = dict[str, dict[tuple[str, ...], _Spans]]
"""Series by family and by the labels that say something."""


class _Fact(NamedTuple):
    """A value of a family at a time: its labels, value, and when it was sampled."""

    labels: tuple[str, ...]
    value: float
    seen: int


class _Pod:
    """All that was said of one pod."""

    def __init__(
        self, place: Place, uid: str, namespace: str, name: str, *, is_timed: bool
    ) -> None:
        self.place = place
        self.uid, self.namespace, self.name = uid, namespace, name
        self.is_timed = is_timed
        self.series: _Families = {}
        self.containers: dict[tuple[bool, str], _Families] = {}
        self.labels: dict[str, str] = {}

    def add(self, owner: tuple[bool, str] | None, part: str, key: tuple[str, ...], at: int,
            value: float) -> None:  # fmt: skip
        families = self.series if owner is None else self.containers.setdefault(owner, {})
        spans = families.setdefault(part, {}).setdefault(key, _Spans())
        if not self.is_timed and spans.spans and spans.spans[-1][2] != value:
            refuse("no_time", "a time where a series has two values")
        spans.add(at, value)

    def all_spans(self) -> Iterator[_Spans]:
        for families in (self.series, *self.containers.values()):
            for series in families.values():
                yield from series.values()


def _fresh(families: _Families, part: str, time: int) -> list[_Fact]:
    """Facts of a family that hold at a time: all of its newest look that is fresh enough."""
    return [f for f in _known(families, part, time) if time - f.seen <= FRESH]


def _known(families: _Families, part: str, time: int) -> list[_Fact]:
    """Facts of a family that were sampled by a time, newest first; of flags those that hold."""
    found = []
    for labels, spans in families.get(part, {}).items():
        newest = spans.at(time)
        if newest is not None:
            found.append(_Fact(labels, newest[1], newest[0]))
    return sorted(found, key=lambda fact: (-fact.seen, fact.labels))


def _newest(facts: list[_Fact]) -> list[_Fact]:
    return [fact for fact in facts if fact.seen == facts[0].seen]


def _set(facts: Iterable[_Fact]) -> list[_Fact]:
    return [fact for fact in facts if fact.value == 1]


class _Understood(NamedTuple):
    """A reading, understood: of which pod and container, of which family, and what it says."""

    pod: tuple[str, str, str, bool]
    owner: tuple[bool, str] | None
    part: str
    stated: tuple[str, ...]
    labels: Mapping[str, str]
    at: int
    value: float


class Pods:
    """Collects readings and puts the pods together that they tell of."""

    def __init__(self, context: FileContext) -> None:
        """Begin a file."""
        self._context = context
        self._pods: dict[tuple[str, str, str, bool], _Pod] = {}
        self._families: set[str] = set()
        self._cluster: str | None = None

    def note_family(self, name: str) -> None:
        """Note that a text has a family, which may be empty."""
        self._families.add(name)

    def add(self, readings: Iterable[Reading], place: Place) -> str | None:
        """Take the readings of one series.

        Args:
            readings: The readings; either all are taken or none.
            place: Where the series stands.

        Returns:
            The word for which the series is no record with rows: `partial` where it is part of what
            was said before of a pod; none where it is the first of a pod, whose record it is.

        Raises:
            RefusedError: A reading cannot be used.
        """
        taken = [self._understood(reading) for reading in readings]
        known = [reading for reading in taken if not isinstance(reading, str)]
        words: list[str | None] = [reading for reading in taken if isinstance(reading, str)]
        words += [self._store(reading, place) for reading in known]
        return next(w for w in (None, "partial", "other_metric", "stale") if w in words)

    def _understood(self, reading: Reading) -> "_Understood | str":
        match = _POD_NAME.match(reading.name)
        families = _CONTAINER_FAMILIES if match and match[2] else _POD_FAMILIES
        family = families.get(match[3]) if match else None
        if match is None or family is None or (match[1] and not match[2]):
            return "other_metric"
        value = _number(reading.value)
        if math.isnan(value):
            return "stale"
        _check(family, value)
        labels = reading.labels
        name, namespace, uid = (_own(labels, key) for key in ("pod", "namespace", "uid"))
        if not (name and namespace and uid):
            refuse("no_uid", "labels namespace, pod and uid (before 2.0 there is no uid)")
        cluster = labels.get("cluster")
        if cluster:
            self._cluster = self._cluster or cluster
            if cluster != self._cluster:
                refuse("wrong_cluster", "series of one cluster in a file, by the label cluster")
        owner = None
        if match[2]:
            container = _own(labels, "container")
            if not container:
                refuse("no_container", "a label container")
            owner = (match[1] is not None, container)
        return _Understood(
            pod=(uid, namespace, name, reading.at is not None),
            owner=owner,
            part=match[3],
            stated=tuple(_own(labels, label) or "" for label in family.labels),
            labels=labels,
            at=microseconds_of(reading.at) if reading.at is not None else 0,
            value=value,
        )

    def _store(self, reading: "_Understood", place: Place) -> str | None:
        pod = self._pods.get(reading.pod)
        is_first = pod is None
        if pod is None:
            uid, namespace, name, is_timed = reading.pod
            pod = _Pod(place, uid, namespace, name, is_timed=is_timed)
            self._pods[reading.pod] = pod
        pod.add(reading.owner, reading.part, reading.stated, reading.at, reading.value)
        if reading.part == "labels" and reading.owner is None:
            known = {_UNMANGLED[k]: v for k, v in reading.labels.items() if k in _UNMANGLED and v}
            pod.labels |= known
        return None if is_first else "partial"

    def records(self) -> Iterator[Parsed]:
        """One record per pod, in the order in which they were first told of."""
        for pod in self._pods.values():
            place = pod.place
            try:
                rows = _rows(pod, self._context, has_requests=self._families >= _REQUESTS)
            except RecordError as error:
                yield Parsed(place.locator, place.offset, place.raw, reject=str(error))
            else:
                yield Parsed(place.locator, place.offset, place.raw, rows=rows)
        self._pods.clear()


def _own(labels: Mapping[str, str], key: str) -> str | None:
    """A label of the series itself, also where the target has one of that name."""
    return labels.get(f"exported_{key}") or labels.get(key)


def _number(value: str | float) -> float:
    try:
        return float(value)
    except (ValueError, OverflowError):
        refuse("wrong_value", "a number")


def _check(family: _Family, value: float) -> None:
    if family.value == _FLAG and value not in {0.0, 1.0}:
        refuse("wrong_value", "1 or 0")
    if family.value == _TIME and not 0 <= value <= _LAST_SECOND:
        refuse("wrong_time", "seconds from 1970 to the year 9999")
    if family.value == _AMOUNT and not (math.isfinite(value) and value >= 0):
        refuse("wrong_value", "an amount from 0")


def _instant(seconds: float) -> datetime | None:
    return instant_of_microseconds(round(seconds * 1_000_000))


# -- states --------------------------------------------------------------------------------------


def _rows(pod: _Pod, context: FileContext, *, has_requests: bool) -> tuple[Row, ...]:
    """Rows of all states of a pod.

    Raises:
        RecordError: What a row needs is missing or wrong.
    """
    for spans in pod.all_spans():
        spans.settle()
    _check_size(pod)
    times = sorted(
        {t for s in pod.all_spans() for first, last, _ in s.spans for t in (first, last)}
    )
    states = [_state(pod, time, context, has_requests=has_requests) for time in times]
    if not pod.is_timed:
        newest = max(_stated_times(states[0]), default=None)
        kept = [(observe(context, newest), states[0])]
    else:
        kept = [
            (_observed(time), state)
            for index, (time, state) in enumerate(zip(times, states, strict=True))
            if index in {0, len(states) - 1}
            or state != states[index - 1]
            or state != states[index + 1]
        ]
    rows: list[Row] = []
    for observed, (values, containers) in kept:
        shared = {"observed_at": observed.at}
        rows.append(("pod_states", {**values, **shared, "observed_basis": observed.basis}))
        rows += [("container_states", {**container, **shared}) for container in containers]
    text = msgspec.json.encode(rows, order="sorted").decode()
    record_id = identity("kube_state_metrics", pod.namespace, pod.name, pod.uid, text)
    return tuple((table, {**values, "record_id": record_id}) for table, values in rows)


def _check_size(pod: _Pod) -> None:
    series = list(pod.all_spans())
    changes = sum(len(spans.spans) for spans in series)
    if changes * len(series) > MAX_WORK:
        message = f"too_large: expected at most {MAX_WORK} changes times series of a pod, got more"
        raise RecordError(message)


def _observed(time: int) -> Observed:
    at = instant_of_microseconds(time)
    if at is None:
        message = "wrong_time: expected a year from 1 to 9999, got another"
        raise RecordError(message)
    return Observed(at, "record")


_State = tuple[dict[str, Any], list[dict[str, Any]]]


def _stated_times(state: _State) -> Iterator[datetime]:
    values, containers = state
    names = ("created_at", "scheduled_at", "start_time_at", "first_started_at", "last_finished_at")
    yield from (values[name] for name in names if values[name] is not None)
    yield from (c["transition_at"] for c in values["conditions"] or ())
    yield from (c["last_finished_at"] for c in containers if c["last_finished_at"] is not None)


def _state(pod: _Pod, time: int, context: FileContext, *, has_requests: bool) -> _State:
    series = pod.series
    info = _information(pod, time)
    node = info["node"] or None
    phase = _word(series, "status_phase", time)
    is_over = phase in {"Succeeded", "Failed"}
    identity_values = {
        "namespace": name_text(pod.namespace),
        "pod_name": name_text(pod.name),
        "pod_uid": uid_text(pod.uid),
        "node": name_text(node),
    }
    containers = list(_containers(pod, time))
    created = _born(series, "created")
    if created is None:
        message = "no_time: expected the pod's kube_pod_created, got none"
        raise RecordError(message)
    owner = _owner(series, info)
    metadata = Metadata(
        name=pod.name,
        namespace=pod.namespace,
        labels=pod.labels,
        owner_references=[OwnerReference(*owner, controller=True)] if owner else None,
    )
    addresses = [
        *(f.labels[1] for f in _set(_fresh(series, "info", time))[:1]),
        *(f.labels[0] for f in _newest(_set(_fresh(series, "ips", time)))),
    ]
    values: dict[str, Any] = {
        **identity_values,
        "watch_event": None,
        "addresses": read_addresses(addresses, "pod_ip"),
        "host_addresses": read_addresses([info["host_ip"]], "host_ip"),
        "host_network": _shares_network(info),
        "labels": pairs(pod.labels),
        "owner_kind": name_text(owner[0]) if owner else None,
        "owner_name": name_text(owner[1]) if owner else None,
        "service_account": name_text(_born_label(series, "service_account")),
        "ports": None,
        "phase": name_text(phase),
        "reason": free_text(_word(series, "status_reason", time)),
        "conditions": _conditions(series, time),
        "created_at": created,
        "scheduled_at": _born(series, "status_scheduled_time"),
        "start_time_at": _born(series, "start_time"),
        "sandbox_ready_at": None,
        "sandbox_ended_at": None,
        "first_started_at": _first_start(pod, time),
        "last_finished_at": _by(series, "completion_time", time) if is_over else None,
        "deletion_at": _by(series, "deletion_timestamp", time),
        "is_deleted": False,
        **run_values(metadata, (), context),
        "gpu_count": _gpus(containers, has_requests=has_requests and not pod.is_timed),
        "declared_accesses": _declared(containers, pod.namespace, context),
    }
    return values, [{**identity_values, **container} for container in containers]


def _first_start(pod: _Pod, time: int) -> datetime | None:
    values = [
        value
        for families in pod.containers.values()
        for spans in families.get("state_started", {}).values()
        for first, _, value in spans.spans
        if first <= time
    ]
    return _instant(min(values)) if values else None


def _information(pod: _Pod, time: int) -> dict[str, str]:
    """The newest information up to a time, else the first behind it, which says the same.

    Only an address is not taken from here, as it comes and goes.
    """
    known = _set(_known(pod.series, "info", time)) or _first(pod.series, "info")
    if not known:
        message = "no_info: expected the pod's kube_pod_info, got none"
        raise RecordError(message)
    return dict(zip(_POD_FAMILIES["info"].labels, known[0].labels, strict=True))


def _first(families: _Families, part: str) -> list[_Fact]:
    found = [
        _Fact(labels, spans.spans[0][2], spans.spans[0][0])
        for labels, spans in families.get(part, {}).items()
        if spans.spans[0][2] == 1
    ]
    return sorted(found, key=lambda fact: (fact.seen, fact.labels))


def _shares_network(info: dict[str, str]) -> bool:
    if info["host_network"] in {"true", "false"}:
        return info["host_network"] == "true"
    if info["pod_ip"] and info["host_ip"]:
        return info["pod_ip"] == info["host_ip"]
    message = "no_host_network: expected the label host_network of kube_pod_info, got none"
    raise RecordError(message)


def _word(families: _Families, part: str, time: int) -> str | None:
    """The one of several states that holds; null where none or several do."""
    newest = _newest(_set(_fresh(families, part, time)))
    return newest[0].labels[0] or None if len(newest) == 1 else None


def _born(families: _Families, part: str) -> datetime | None:
    """A time that a pod has from its beginning, whenever it was sampled."""
    values = [v for s in families.get(part, {}).values() for _, _, v in s.spans]
    return _instant(min(values)) if values else None


def _born_label(families: _Families, part: str) -> str | None:
    facts = _first(families, part)
    return facts[0].labels[0] or None if facts else None


def _by(families: _Families, part: str, time: int) -> datetime | None:
    """A time that was sampled by then."""
    facts = _known(families, part, time)
    return _instant(facts[0].value) if facts else None


def _owner(families: _Families, info: dict[str, str]) -> tuple[str, str] | None:
    """Kind and name of the controlling owner; `<none>` says that there is none."""
    stated = [f.labels for f in _first(families, "owner") if f.labels[2] == "true"]
    kind, name = stated[0][:2] if stated else (info["created_by_kind"], info["created_by_name"])
    return None if kind in {"", "<none>"} or name in {"", "<none>"} else (kind, name)


def _conditions(families: _Families, time: int) -> list[dict[str, Any]] | None:
    """Conditions that are true; what is false has no series."""
    return [
        {
            "type": type_,
            "status": "True",
            "reason": None,
            "message": None,
            "transition_at": _instant(facts[0].value),
        }
        for type_, part in _CONDITIONS.items()
        if (facts := _fresh(families, part, time))
    ] or None


# -- containers ----------------------------------------------------------------------------------


def _containers(pod: _Pod, time: int) -> Iterator[dict[str, Any]]:
    present = {
        owner: families
        for owner, families in pod.containers.items()
        if any(s.spans[0][0] <= time for f in families.values() for s in f.values())
    }
    mains = {name for is_init, name in present if not is_init}
    known = mains & MAIN_NAMES
    for (is_init, name), families in sorted(present.items(), key=lambda i: (not i[0][0], i[0][1])):
        information = _set(_known(families, "info", time))
        spec, image, image_id, container_id, policy = (
            information[0].labels if information else ("",) * 5
        )
        role = "sidecar" if policy == "Always" else "init"
        if not is_init:
            is_main = name in known if known else name != declared_accesses.SIDECAR_NAME
            role = "main" if is_main else "sidecar"
        state = _container_state(families, time)
        reason = None
        if state in {"waiting", "terminated"}:
            reason = _word(families, f"status_{state}_reason", time)
        last_reason = _word(families, "status_last_terminated_reason", time)
        started = _fresh(families, "state_started", time)
        yield {
            "container": name_text(name),
            "container_role": role,
            "ordinal": None,
            "image": name_text(spec or image),
            "image_digest": image_digest(image_id),
            "container_id": without_runtime(container_id),
            "state": state,
            "reason": free_text(reason),
            "message": None,
            "exit_code": None,
            "started_at": _instant(started[0].value) if started else None,
            "finished_at": None,
            "restart_count": _whole(families, "status_restarts_total", time),
            "last_reason": free_text(last_reason),
            "last_exit_code": _whole(families, "status_last_terminated_exitcode", time),
            "last_started_at": None,
            "last_finished_at": _by(families, "status_last_terminated_timestamp", time),
            "requests": _amounts(families, "resource_requests", time),
            "limits": _amounts(families, "resource_limits", time),
        }


def _container_state(families: _Families, time: int) -> str:
    found = [
        (fact.seen, state)
        for state in ("running", "terminated", "waiting")
        for fact in _set(_fresh(families, f"status_{state}", time))
    ]
    newest = [state for seen, state in found if seen == max(found)[0]] if found else []
    return newest[0] if len(newest) == 1 else "unknown"


def _whole(families: _Families, part: str, time: int) -> int | None:
    facts = _fresh(families, part, time)
    value = facts[0].value if facts else None
    return int(value) if value is not None and value.is_integer() and value <= INT64_MAX else None


def _amounts(families: _Families, part: str, time: int) -> list[dict[str, str | None]] | None:
    """Resources as quantities: cores and bytes, in plain digits."""
    facts = _known(families, part, time)
    return pairs({_resource(f.labels[0]): _quantity(f.value) for f in facts if f.labels[0]})


def _resource(name: str) -> str:
    if name.startswith("nvidia_com_mig_"):
        return f"nvidia.com/mig-{name.removeprefix('nvidia_com_mig_')}"
    return _RESOURCES.get(name, name)


def _quantity(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _gpus(containers: list[dict[str, Any]], *, has_requests: bool) -> int | None:
    asked = [
        (
            container["container_role"] == "init",
            gpus_asked(_mapping(container["requests"]), _mapping(container["limits"]), "requests"),
        )
        for container in containers
    ]
    if not has_requests and not any(gpus for _, gpus in asked):
        return None
    return effective_gpus(asked)


def _mapping(amounts: list[dict[str, str]] | None) -> dict[str, str | int | float]:
    return {entry["name"]: entry["value"] for entry in amounts or ()}


def _declared(
    containers: list[dict[str, Any]], namespace: str, context: FileContext
) -> list[dict[str, Any]] | None:
    found: list[dict[str, Any]] = []
    for container in containers:
        facts = declared_accesses.ContainerFacts(
            name=container["container"], role=container["container_role"], image=container["image"]
        )
        found += declared_accesses.of_container(
            facts, namespace=namespace, cluster=context.cluster, pull_secrets=()
        )
    return declared_accesses.ordered(found)

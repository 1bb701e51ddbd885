"""Byte counters of pods, nodes and pairs of ends, however their series are exported.

Which metric counts what is declared here, per metric, and only an export's `temporality` setting
says otherwise. Values decide nothing, and neither do the types that a text states.

Sources: cAdvisor lib/metrics/prometheus.go (`container_network_*`, labels of the kubelet
and of its predecessors), node_exporter collector/netdev (`node_network_*`), the collector's
kubeletstats receiver behind a Prometheus exporter (`k8s_pod_network_io_*`), OBI and Beyla network
metrics, network-costs of Kubecost and OpenCost.

**Interface counters** become `counter_samples`, at the layer of frames. A pod's counters are those
of its sandbox: rows of other containers are left out as `not_sandbox`, as they would be the same
bytes again. The pod's UID stands in the cgroup path (`id`), or in a label. Rows of the root cgroup
(`id="/"`), and such that name neither a container nor a pod, are the node's; containers of no pod
are left out as `no_pod`. Host-network pods show their node's interfaces, which nothing here tells.

A series is named by pod, sandbox and interface: what else labels say (job, image, relabelling) may
differ between two who read one counter. Where neither UID nor sandbox is stated, the node, else the
scraped instance, stands in the key.

**Counters that state peers** (OBI, Beyla, Kubecost) become `volume_records` of temporality
`cumulative` whose interval is the instant of the reading. OBI forgets a series that is idle for its
TTL (5 minutes), which then begins at 0 again. Bytes between zones
(`*_network_inter_zone_bytes`) are part of the flow bytes and are left out.

**Values** are 64-bit floats in all these formats: whole numbers up to 2**53 are exact, larger ones
were rounded where they were stored. What is not whole (OBI scales packets) is cut to whole bytes,
so that it never grows. NaN marks that a series was no longer shown: it ended, or its exporter did
not answer. It is no reading; of an interface's counter the mark is kept (`sample_kind` is `stale`),
so that what lies behind it is a gap.

**Starts.** A counter began from 0 at what the sample itself states (`st@`), else at its `_created`
sample of the same time, else, for a sandbox, at its `container_start_time_seconds`: the network
of a sandbox is as old as the sandbox. As these may stand behind the counter, counters are held back
until the end of the file. In a dump, which is sorted by name, all starts may stand behind all
counters: where more than `MAX_HELD` values are held, the file is read again for its starts, and
nothing is held from then on. Two different starts of one sandbox say nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from transforms.staging.parser import FileContext, Parsed, RawRecord, Row
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import (
    INT64_MAX,
    canonical_address,
    dashed_uid,
    identity,
    instant_of_microseconds,
    integer,
)
from transforms.staging.volume_fields import stated_transport

MAX_HELD = 20_000
"""Values that are held back for their start; a node's scrape has some hundreds."""
MAX_QUEUED = 60_000
"""Records, most of them other metrics, that are held back with them; as many as a scrape has."""
MAX_KNOWN = 4_096
"""Series that are remembered as they were read."""
MAX_STARTS = 400_000
"""Starts that are remembered, some 100 MB; a file of more leaves the others unknown."""

GRID_POINT = "grid_point"
PATH_TIME = "path_time"
STALE = "stale"

_START_METRIC = "container_start_time_seconds"
_CREATED = "_created"
_TELLS_START = re.compile(rb"container_start_time_seconds|_created\b")
_POD_UID = re.compile(
    r"pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})(?![0-9a-f])"
)
_CONTAINER_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
KUBERNETES_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
INTERFACE = re.compile(r"[ -~]{1,64}")
_LABEL_OF_POD = "container_label_io_kubernetes"
_PAUSE = re.compile(r"(?:.*/)?pause(?:[-:@].*)?\Z", re.DOTALL)
_OBSERVER = ("prometheus", "prometheus_replica", "__replica__", "replica", "job", "instance")
_AGENT = ("obi_ip", "beyla_ip")
_OF_THE_TARGET = frozenset(
    {*_OBSERVER, *_AGENT, "container", "endpoint", "host_ip", "metrics_path", "namespace", "node",
     "obi_revision", "obi_version", "pod", "service", "service_instance_id"}
)  # fmt: skip
_OF_THE_TARGET_PREFIXES = ("otel_scope_", "telemetry_sdk_")
_TRUTHS = {"true": True, "false": False}
_ENDS = (("src", "source"), ("dst", "destination"))


class Declared(NamedTuple):
    """What a metric counts.

    Attributes:
        temporality: `cumulative` or `delta`.
        byte_layer: Layer at which it counts.
        direction: `receive` or `transmit`; empty where a label, or no one, says it.
        read: Reads the labels of a series.
    """

    temporality: str
    byte_layer: str
    direction: str
    read: "Callable[[Declared, Mapping[str, str], FileContext], _Described | str]"


class Value(NamedTuple):
    """One value of a series.

    Attributes:
        at: Its time; null where nothing says it.
        value: As written.
        start_at: When the counter began, where the value itself says so.
    """

    at: datetime | None
    value: str | float
    start_at: datetime | None = None


class _Described(NamedTuple):
    """What a series is of.

    Attributes:
        key: What names it, but for the metric.
        columns: What its rows hold.
        observer: Names of who read it, beyond the labels of any series.
        sandbox: Id of the sandbox, where it is known.
    """

    key: tuple[str | None, ...]
    columns: dict[str, Any]
    observer: tuple[str | None, ...] = ()
    sandbox: str | None = None


class _Series(NamedTuple):
    """One series."""

    table: str
    series_id: str
    columns: dict[str, Any]
    is_delta: bool
    sandbox: str | None
    created: tuple[str, frozenset[tuple[str, str]]]


class _Reading(NamedTuple):
    """One reading, or, without a value, the mark that there was none."""

    at: datetime | None
    value: int | None
    start_at: datetime | None


class _Held(NamedTuple):
    """A record that waits for what its file says of starts."""

    accept: "Accept"
    series: _Series
    readings: list[_Reading]
    kind: str | None


Accept = Callable[[tuple[Row, ...]], Parsed]
"""Makes the record of rows."""


class CounterFile:
    """Takes the series of one file, and gives their records."""

    def __init__(
        self, context: FileContext, note_starts: Callable[[RawRecord, "CounterFile"], None]
    ) -> None:
        """Begin a file.

        Args:
            context: What is known of it.
            note_starts: Gives `note_start` the values of a record that may tell starts.
        """
        self._context = context
        self._note_starts = note_starts
        self._has_all_starts = False
        self._queue: list[_Held | Parsed] = []
        self._held_count = 0
        self._starts: dict[object, datetime | None] = {}
        self._cluster: str | None = None
        self._known: dict[tuple[str, int], tuple[Mapping[str, str], _Series | str]] = {}

    def take(
        self,
        name: str,
        labels: Mapping[str, str],
        values: Iterable[Value],
        accept: Accept,
        kind: str | None = None,
    ) -> str | None:
        """Take values of one series: all of them, or none.

        Args:
            name: Name of the metric.
            labels: Its labels.
            values: The values.
            accept: Makes the record.
            kind: What their times are, if not that of a reading.

        Returns:
            The word for which there are no rows; none where the record is held.

        Raises:
            RefusedError: The series, or one of its values, cannot be used.
        """
        word = self.note_start(name, labels, values)
        if word is not None:
            return word
        series = self._series(name, labels)
        if isinstance(series, str):
            return series
        # A mark holds at its own time only; a query evaluates it away.
        keeps_marks = series.table == "counter_samples" and kind is None
        readings = [
            _Reading(value.at, number, value.start_at)
            for value in values
            if (number := _whole(value.value)) is not None or (keeps_marks and value.at is not None)
        ]
        if not readings:
            return "stale"
        self._queue.append(_Held(accept, series, readings, kind))
        self._held_count += len(readings)
        return None

    def put(self, parsed: Parsed) -> None:
        """Take a record that needs nothing, in its place between the others."""
        self._queue.append(parsed)

    def ready(self) -> Iterator[Parsed]:
        """Records that wait for nothing, or of which too many wait."""
        is_long = self._held_count > MAX_HELD or len(self._queue) > MAX_QUEUED
        if is_long and self._context.read_again is not None and not self._has_all_starts:
            self._has_all_starts = True
            self._starts.clear()
            for raw in self._context.read_again():
                if _TELLS_START.search(raw.data):
                    self._note_starts(raw, self)
        if self._held_count == 0 or is_long or self._has_all_starts:
            yield from self.rest()

    def rest(self) -> Iterator[Parsed]:
        """All records that are left, in source order."""
        queue, self._queue, self._held_count = self._queue, [], 0
        for one in queue:
            yield one if isinstance(one, Parsed) else one.accept(tuple(self._rows(one)))

    # -- series ----------------------------------------------------------------------------------

    def _series(self, name: str, labels: Mapping[str, str]) -> _Series | str:
        declared = METRICS.get(plain_name(name))
        if declared is None:
            return "other_metric"
        # A text's reader gives the same labels for the same series; they are kept with it, so that
        # no others can take their place.
        before = self._known.get((name, id(labels)))
        if before is not None:
            return before[1]
        known = _plain_labels(labels)
        found = declared.read(declared, known, self._context)
        series = found if isinstance(found, str) else self._named(name, declared, known, found)
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[name, id(labels)] = (labels, series)
        return series

    def _named(
        self, name: str, declared: Declared, labels: Mapping[str, str], found: _Described
    ) -> _Series:
        self._check_cluster(labels.get("cluster"))
        temporality = self._context.temporality or declared.temporality
        if temporality not in {"cumulative", "delta"}:
            refuse("temporality", "the setting cumulative or delta", temporality)
        metric = plain_name(name)
        base = metric.removesuffix("_total")
        # Each name is redacted alone: behind a secret that may hold slashes no slash may stand.
        observers = (*(labels.get(key) for key in _OBSERVER), *found.observer)
        observer = "/".join(shown for name in observers if (shown := name_text(name)))
        series_id = identity(
            self._context.cluster, labels.get("cluster"), base, temporality, *found.key
        )
        columns = found.columns | {
            "series_id": series_id,
            "observer": name_text(observer) or self._context.export,
            "metric": name_text(name),
            "temporality": temporality,
            "byte_layer": declared.byte_layer,
        }
        return _Series(
            table="counter_samples" if "direction" in columns else "volume_records",
            series_id=series_id,
            columns=columns,
            is_delta=temporality == "delta",
            sandbox=found.sandbox,
            created=(base, frozenset(labels.items())),
        )

    def _check_cluster(self, cluster: str | None) -> None:
        if cluster:
            self._cluster = self._cluster or cluster
            if cluster != self._cluster:
                refuse("wrong_cluster", "series of one cluster in a file, by the label cluster")

    # -- starts ----------------------------------------------------------------------------------

    def note_start(
        self, name: str, labels: Mapping[str, str], values: Iterable[Value]
    ) -> str | None:
        """Note when counters began; the word for which there are no rows, none of another metric.

        Raises:
            RefusedError: One of the values is no time.
        """
        if name != _START_METRIC and not name.endswith(_CREATED):
            return None
        known = _plain_labels(labels)
        keys: Callable[[datetime | None], object]
        if name == _START_METRIC:
            sandbox = _sandbox_of(known)
            if sandbox is None:
                return "other_metric"
            # Other containers have no network of their own.
            is_asked = _is_sandbox(known)
            keys = lambda _: sandbox  # noqa: E731  a key that no time is part of
        else:
            base = plain_name(name).removesuffix(_CREATED)
            if base not in METRICS:
                return "other_metric"
            is_asked = True
            series = frozenset(known.items())
            keys = lambda at: (base, series, at)  # noqa: E731
        is_stale = True
        for value in values:
            start = _instant(value.value)
            if start is None:
                continue
            is_stale = False
            if is_asked:
                self._keep_start(keys(value.at), start)
        return "stale" if is_stale else "counter_start"

    def _keep_start(self, key: object, start: datetime) -> None:
        if key not in self._starts and len(self._starts) < MAX_STARTS:
            self._starts[key] = start
        elif self._starts.get(key, start) != start:
            self._starts[key] = None

    def _start(self, series: _Series, reading: _Reading) -> datetime | None:
        if reading.start_at is not None or series.is_delta:
            return reading.start_at
        start = self._starts.get((*series.created, reading.at))
        if start is None and series.sandbox is not None:
            start = self._starts.get(series.sandbox)
        return start

    # -- rows ------------------------------------------------------------------------------------

    def _rows(self, held: _Held) -> Iterator[Row]:
        series = held.series
        for reading in held.readings:
            at, kind = reading.at, held.kind
            if at is None:
                at, kind = _time_of_file(self._context), PATH_TIME
            if reading.value is None:
                kind = STALE
            start = None if kind == STALE else self._start(series, reading)
            if start is not None and start >= at:
                start = None
            values = series.columns | {
                "record_id": identity(
                    series.series_id, series.columns["observer"], at, reading.value, kind
                ),
                "counter_start_at": start,
                "sample_kind": kind,
            }
            if series.table == "counter_samples":
                own: dict[str, Any] = {
                    "event_at": at,
                    "value": reading.value or 0,
                    **self._context.counters.columns,
                }
            else:
                own = {
                    "start_at": at,
                    "end_at": at,
                    "bytes": reading.value,
                    "scaled": "raw",
                    "expires_after_seconds": self._context.counters.expires_after,
                }
            yield series.table, values | own


def plain_name(name: str) -> str:
    """The name of a metric as Prometheus wrote it before version 3: without dots."""
    return name.replace(".", "_") if "." in name else name


def _plain_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels without dots in their names, and without empty values, which say nothing."""
    dotted = {plain_name(k): v for k, v in labels.items() if v and "." in k}
    return dotted | {k: v for k, v in labels.items() if v and "." not in k}


def _time_of_file(context: FileContext) -> datetime:
    """The hour or day in the path, else the end of the landing day (definitions.md 1)."""
    if context.path_at is not None:
        return context.path_at
    day = context.landing_date
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)


# -- values --------------------------------------------------------------------------------------


def _whole(value: str | float) -> int | None:
    """Bytes that a counter shows; null where it shows none (NaN)."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        return int(value)
    number = _decimal(value)
    if number.is_nan():
        return None
    if not 0 <= number <= INT64_MAX:
        refuse("value", "bytes from 0 to 2**63 - 1", value)
    return int(number)


def _instant(value: str | float) -> datetime | None:
    """A start in seconds since 1970; null where there is none (NaN)."""
    number = _decimal(value)
    if number.is_nan():
        return None
    # The bounds are compared first: arithmetic of decimals has limits of its own.
    is_usual = 0 < number < 10**12
    instant = instant_of_microseconds(int(number.scaleb(6))) if is_usual else None
    if instant is None:
        refuse("value", "seconds since 1970, up to the year 9999", value)
    return instant


def _decimal(value: str | float) -> Decimal:
    """A number as it is written."""
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        refuse("value", "a number", value)
    try:
        return Decimal(value)
    except (InvalidOperation, ValueError):
        refuse("value", "a number", value)


# -- labels --------------------------------------------------------------------------------------


def _own(labels: Mapping[str, str], *keys: str) -> str | None:
    """The first of some labels; what the target has, too, Prometheus calls `exported_`."""
    for key in keys:
        found = labels.get(f"exported_{key}") or labels.get(key)
        if found:
            return found
    return None


def _kubernetes(word: str, text: str | None) -> str | None:
    return shaped(word, text, KUBERNETES_NAME)


def shaped(word: str, text: str | None, shape: re.Pattern[str]) -> str | None:
    """A text as it is stored; null where there is none.

    Raises:
        RefusedError: It has another shape; the reason begins with the word.
    """
    if text is not None and not shape.fullmatch(text):
        refuse(word, f"`{shape.pattern}`", text)
    return name_text(text)


def _node(labels: Mapping[str, str], context: FileContext) -> str | None:
    keys = ("node", "k8s_node_name", "kubernetes_node", "nodename", "kubernetes_io_hostname")
    return _kubernetes("node", _own(labels, *keys)) or context.node


def _sandbox_of(labels: Mapping[str, str]) -> str | None:
    """Id of the container of a row: its 64 hex digits, else its cgroup, else its name."""
    path, name = labels.get("id"), labels.get("name")
    found = _CONTAINER_ID.findall(path or "") or _CONTAINER_ID.findall(name or "")
    return found[-1] if found else (path if path != "/" else None) or name


def _is_sandbox(labels: Mapping[str, str]) -> bool:
    """Whether a row of a pod is of its sandbox, and not of one of its other containers."""
    container = labels.get(f"{_LABEL_OF_POD}_container_name")
    container = container or _own(labels, "container_name", "container")
    return container in {None, "POD"} or _PAUSE.match(labels.get("image", "")) is not None


def _cadvisor(
    declared: Declared, labels: Mapping[str, str], context: FileContext
) -> _Described | str:
    own = _LABEL_OF_POD
    path = labels.get("id", "")
    in_path = _POD_UID.search(path)
    stated = in_path[1] if in_path else _own(labels, f"{own}_pod_uid", "pod_uid", "uid")
    uid = dashed_uid(stated) if stated else None
    pod = labels.get(f"{own}_pod_name") or _own(labels, "pod_name", "pod")
    node = _node(labels, context)
    interface = shaped("interface", labels.get("interface"), INTERFACE)
    if path == "/" or not (pod or uid):
        if path != "/" and (path or labels.get("name") or labels.get("image")):
            return "no_pod"
        return _of_node(declared, labels, node, interface)
    if not _is_sandbox(labels):
        return "not_sandbox"
    namespace = labels.get(f"{own}_pod_namespace") or _own(labels, "namespace")
    return _of_pod(
        declared.direction,
        pod=_kubernetes("pod", pod),
        uid=uid,
        namespace=_kubernetes("namespace", namespace),
        node=node,
        target=labels.get("instance"),
        interface=interface,
        sandbox=_sandbox_of(labels),
    )


def _kubeletstats(
    declared: Declared,  # noqa: ARG001  one signature for all readers
    labels: Mapping[str, str],
    context: FileContext,
) -> _Described | str:
    direction = _own(labels, "direction", "network_io_direction")
    if direction not in {"receive", "transmit"}:
        refuse("direction", "receive or transmit", direction)
    text = labels.get("k8s_pod_uid")
    uid = dashed_uid(text) if text else None
    if text and uid is None:
        refuse("pod_uid", "a UUID", text)
    pod = _kubernetes("pod", labels.get("k8s_pod_name"))
    if not (uid or pod):
        return "no_pod"
    interface = _own(labels, "interface", "network_interface_name")
    return _of_pod(
        direction,
        pod=pod,
        uid=uid,
        namespace=_kubernetes("namespace", labels.get("k8s_namespace_name")),
        node=_node(labels, context),
        target=labels.get("instance"),
        interface=shaped("interface", interface, INTERFACE),
        sandbox=None,
    )


def _of_pod(
    direction: str,
    *,
    pod: str | None,
    uid: str | None,
    namespace: str | None,
    node: str | None,
    target: str | None,
    interface: str | None,
    sandbox: str | None,
) -> _Described:
    names = (None,) * 3 if uid or sandbox else (namespace, pod, node or target)
    return _Described(
        key=("pod", uid, sandbox, *names, interface, direction),
        columns={
            "node": node,
            "namespace": namespace,
            "pod_name": pod,
            "pod_uid": uid,
            "interface": interface,
            "direction": direction,
        },
        sandbox=sandbox,
    )


def _node_exporter(
    declared: Declared, labels: Mapping[str, str], context: FileContext
) -> _Described | str:
    interface = shaped("interface", _own(labels, "device", "interface"), INTERFACE)
    return _of_node(declared, labels, _node(labels, context), interface)


def _of_node(
    declared: Declared, labels: Mapping[str, str], node: str | None, interface: str | None
) -> _Described:
    name = node or labels.get("instance")
    if name is None:
        refuse("no_node", "a label node or instance, or the node in the path")
    return _Described(
        key=("node", name, interface, declared.direction),
        columns={
            "node": node,
            "namespace": None,
            "pod_name": None,
            "pod_uid": None,
            "interface": interface,
            "direction": declared.direction,
        },
    )


# -- counters that state peers -------------------------------------------------------------------


def _obi(
    declared: Declared,  # noqa: ARG001  one signature for all readers
    labels: Mapping[str, str],
    context: FileContext,
) -> _Described | str:
    columns: dict[str, Any] = {"node": _node(labels, context)}
    for short, end in _ENDS:
        columns |= {f"{end}_{key}": value for key, value in _end(labels, short).items()}
    interface = shaped("interface", labels.get("iface"), INTERFACE)
    way = labels.get("iface_direction") or labels.get("direction")
    columns |= {
        "transport": stated_transport(labels.get("transport"), "transport"),
        "interfaces": [interface] if interface else None,
        "flow_direction": way if way in {"ingress", "egress"} else None,
    }
    key = sorted(
        f"{name}={text}"
        for name, text in labels.items()
        if name not in _OF_THE_TARGET and not name.startswith(_OF_THE_TARGET_PREFIXES)
    )
    return _Described(("peers", *key), columns, tuple(labels.get(name) for name in _AGENT))


def _end(labels: Mapping[str, str], short: str) -> dict[str, Any]:
    """What OBI says of one end: a pod, a service, a node, or an address outside."""
    address, port = labels.get(f"{short}_address"), labels.get(f"{short}_port")
    canonical = canonical_address(address) if address else None
    if address and canonical is None:
        refuse(f"{short}_address", "an IP address", address)
    number = integer(port, maximum=65_535) if port else None
    if port and number is None:
        refuse(f"{short}_port", "a port", port)
    kind, name = labels.get(f"k8s_{short}_type"), labels.get(f"k8s_{short}_name")
    namespace = _kubernetes(f"{short}_namespace", labels.get(f"k8s_{short}_namespace"))
    known = _kubernetes(f"{short}_name", name if kind in {"Pod", "Service", "Node"} else None)
    node = _kubernetes(f"{short}_node", labels.get(f"k8s_{short}_node_name"))
    owner = (labels.get(f"k8s_{short}_owner_type"), labels.get(f"k8s_{short}_owner_name"))
    return {
        "address": canonical,
        "port": number or None,
        "namespace": namespace,
        "pod_name": known if kind == "Pod" else None,
        "workload": name_text("/".join(filter(None, owner))) if owner[1] else None,
        "cluster_services": [f"{namespace}/{known}"] if kind == "Service" and namespace else None,
        "node": known if kind == "Node" else node,
        "zone": name_text(labels.get(f"{short}_zone")),
    }


def _kubecost(
    declared: Declared,
    labels: Mapping[str, str],
    context: FileContext,
) -> _Described | str:
    pod = _kubernetes("pod", _own(labels, "pod_name"))
    namespace = _kubernetes("namespace", _own(labels, "namespace"))
    if pod is None:
        return "no_pod"
    service = name_text(_own(labels, "service"))
    stated = {
        key: labels.get(key) or labels.get(old)
        for key, old in (
            ("internet", "internet"),
            ("same_zone", "sameZone"),
            ("same_region", "sameRegion"),
        )
    }
    is_sent = declared.direction == "transmit"
    here, there = ("source", "destination") if is_sent else ("destination", "source")
    return _Described(
        key=("peers", declared.direction, namespace, pod, service, *stated.values()),
        columns={
            "node": _node(labels, context),
            f"{here}_namespace": namespace,
            f"{here}_pod_name": pod,
            f"{there}_service": service,
            "flow_direction": "egress" if is_sent else "ingress",
            "stated_distance": _distance(stated),
        },
    )


def _distance(stated: Mapping[str, str | None]) -> str | None:
    """How far Kubecost says that bytes went, by its three labels."""
    internet, zone, region = (_TRUTHS.get(text or "") for text in stated.values())
    if internet:
        return "internet"
    if internet is None or zone is None:
        return None
    if zone:
        return "same_zone"
    return {True: "cross_zone", False: "cross_region", None: None}[region]


_DECLARED = {
    "container_network_receive_bytes_total": Declared("cumulative", "frame", "receive", _cadvisor),
    "container_network_transmit_bytes_total": Declared(
        "cumulative", "frame", "transmit", _cadvisor
    ),
    "node_network_receive_bytes_total": Declared("cumulative", "frame", "receive", _node_exporter),
    "node_network_transmit_bytes_total": Declared(
        "cumulative", "frame", "transmit", _node_exporter
    ),
    "k8s_pod_network_io_total": Declared("cumulative", "frame", "", _kubeletstats),
    "k8s_pod_network_io_bytes_total": Declared("cumulative", "frame", "", _kubeletstats),
    "obi_network_flow_bytes_total": Declared("cumulative", "frame", "", _obi),
    "beyla_network_flow_bytes_total": Declared("cumulative", "frame", "", _obi),
    "kubecost_pod_network_egress_bytes_total": Declared(
        "cumulative", "packet", "transmit", _kubecost
    ),
    "kubecost_pod_network_ingress_bytes_total": Declared(
        "cumulative", "packet", "receive", _kubecost
    ),
}

METRICS: Mapping[str, Declared] = {
    form: declared
    for name, declared in _DECLARED.items()
    for form in (name, name.removesuffix("_total"))
}
"""What each metric counts, by its name; OpenMetrics 2 has counters without the suffix."""

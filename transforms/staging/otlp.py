"""OpenTelemetry metrics as OTLP JSON: the pod network counter of the kubelet stats receiver.

Sources: opentelemetry-proto (metrics.proto, JSON encoding), the specification's data model and file
exporter pages, the collector's kubeletstats receiver. A file holds one `MetricsData` document per
line, or one document; 64-bit integers are strings, enums integers, times nanoseconds.

`k8s.pod.network.io` counts a pod interface's bytes since the sandbox began, at the device, so
Ethernet headers are in them. A point speaks for (start, time]; where start equals time the start is
unknown, and the value says nothing but where the counter stands. The time is the collector's. A
point without `isMonotonic` is no counter and is refused, as JSON leaves out what is false. Whether
points are differences the metric states, and the export's `temporality` setting above it.

A series is named by the pod's UID and the point's attributes. Other attributes of the resource are
left out where the UID is known: processors add them minutes late, or change them, and a series that
seems new there would count its bytes again.
"""

import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from transforms.staging.byte_counters import INTERFACE, KUBERNETES_NAME, STALE, shaped
from transforms.staging.json_heads import first_value
from transforms.staging.json_records import Item, RecordError, decode, documents
from transforms.staging.otlp_gauges import names_in
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import RefusedError, refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import (
    INT64_MAX,
    dashed_uid,
    identity,
    instant_of_microseconds,
    integer,
)

METRIC = "k8s.pod.network.io"
_UNITS = frozenset({"By", "bytes", "", None})
_TEMPORALITIES: dict[int | str | None, str] = {
    1: "delta",
    2: "cumulative",
    "AGGREGATION_TEMPORALITY_DELTA": "delta",
    "AGGREGATION_TEMPORALITY_CUMULATIVE": "cumulative",
}
_UNSPECIFIED = (None, 0, "AGGREGATION_TEMPORALITY_UNSPECIFIED")
_NO_RECORDED_VALUE = 1
_RENAMED = {"network.io.direction": "direction", "network.interface.name": "interface"}
"""Semantic conventions renamed the attributes; a collector's upgrade must not begin new series."""
_OBSERVER = "service.instance.id"
_VALUES = frozenset(
    {"stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue",
     "bytesValue"}
)  # fmt: skip
"""The one key that a value has; receivers must ignore keys that they do not know."""

_Integer = int | str | None
_Points = list[msgspec.Raw] | None


class _KeyValue(msgspec.Struct):
    key: str
    value: dict[str, Any] | None = None


class _Attributed(msgspec.Struct):
    attributes: list[_KeyValue] | None = None


class _Document(msgspec.Struct, rename="camel"):
    resource_metrics: _Points = None
    resource_logs: msgspec.Raw = msgspec.Raw()
    resource_spans: msgspec.Raw = msgspec.Raw()
    resource_profiles: msgspec.Raw = msgspec.Raw()


class _ResourceMetrics(msgspec.Struct, rename="camel"):
    resource: _Attributed | None = None
    scope_metrics: _Points = None


class _Scope(msgspec.Struct):
    name: str | None = None


class _ScopeMetrics(msgspec.Struct):
    scope: _Scope | None = None
    metrics: _Points = None


class _Data(msgspec.Struct, rename="camel"):
    data_points: _Points = None
    aggregation_temporality: _Integer = None
    is_monotonic: bool | None = None


class _Metric(msgspec.Struct, rename="camel"):
    name: str | None = None
    unit: str | None = None
    sum: _Data | None = None
    gauge: _Data | None = None
    histogram: _Data | None = None
    exponential_histogram: _Data | None = None
    summary: _Data | None = None


class _Point(msgspec.Struct, rename="camel"):
    attributes: list[_KeyValue] | None = None
    start_time_unix_nano: _Integer = None
    time_unix_nano: _Integer = None
    as_int: _Integer = None
    as_double: float | int | str | None = None
    flags: _Integer = None


class _PartlyRead(msgspec.Struct, rename="camel"):
    """A resource's metrics, whose attributes are compared before they are read."""

    resource: msgspec.Raw = msgspec.Raw()
    scope_metrics: _Points = None


class _PointPartlyRead(msgspec.Struct, rename="camel"):
    """A point, whose attributes are compared before they are read."""

    attributes: msgspec.Raw = msgspec.Raw()
    start_time_unix_nano: _Integer = None
    time_unix_nano: _Integer = None
    as_int: _Integer = None
    as_double: float | int | str | None = None
    flags: _Integer = None


_DOCUMENT_DECODER = msgspec.json.Decoder(_Document)
_RESOURCE_METRICS_DECODER = msgspec.json.Decoder(_ResourceMetrics)
_SCOPE_METRICS_DECODER = msgspec.json.Decoder(_ScopeMetrics)
_METRIC_DECODER = msgspec.json.Decoder(_Metric)
_POINT_DECODER = msgspec.json.Decoder(_Point)
_PARTLY_READ_DECODER = msgspec.json.Decoder(_PartlyRead)
_POINT_PARTLY_READ_DECODER = msgspec.json.Decoder(_PointPartlyRead)
_KNOWN_AT_MOST = 50_000
"""Pods and series of a file that are kept at one time."""


class _Pod(NamedTuple):
    """What a resource says of the pod, and who read it."""

    uid: str | None
    name: str | None
    namespace: str | None
    node: str | None
    observer: str
    series: tuple[str | None, ...]


class _Series(NamedTuple):
    """What the attributes of a point say, under its pod."""

    series_id: str
    direction: str
    interface: str | None


class _Known:
    """What was read before, by its very bytes: most points of a file are of few pods and series.

    What cannot be read is not kept, so that it is refused each time for its own reason.
    """

    def __init__(self) -> None:
        self.resources: dict[bytes, tuple[list[_KeyValue] | None, _Pod | None]] = {}
        self.series: dict[tuple[object, ...], _Series] = {}

    def bounded(self) -> None:
        """Forget everything where it became much."""
        if len(self.resources) + len(self.series) > _KNOWN_AT_MOST:
            self.resources.clear()
            self.series.clear()


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    if isinstance(value, dict) and isinstance(value.get("resourceMetrics"), list):
        names = names_in(value)
        if names and all(name.startswith("kube_") for name in names):
            # Series of kube-state-metrics, which another parser reads.
            return Recognition(1, "OTLP JSON metrics")
        return Recognition(3, "OTLP JSON metrics")
    return Recognition(0)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    known = _Known()
    for raw in records:
        known.bounded()
        for document in documents(raw):
            yield from _parse_document(document, known, context)


def _parse_document(item: Item, known: _Known, context: FileContext) -> Iterator[Parsed]:
    try:
        document = decode(_DOCUMENT_DECODER, item.data, item.path)
    except RecordError as error:
        yield item.rejected(error)
        return
    if document.resource_metrics is None:
        others = (document.resource_logs, document.resource_spans, document.resource_profiles)
        if any(bytes(other) for other in others):
            yield item.ignored("other_signal")
        else:
            yield item.rejected("no_metrics: expected a document with resourceMetrics")
        return
    is_empty = True
    for part in _parts(item, "resourceMetrics", document.resource_metrics):
        for parsed in _parse_resource(part, known, context):
            is_empty = False
            yield parsed
    if is_empty:
        yield item.ignored("empty")


def _parts(item: Item, name: str, parts: _Points) -> Iterator[Item]:
    for index, part in enumerate(parts or ()):
        yield item.part(f".{name}[{index}]", bytes(part))


def _parse_resource(item: Item, known: _Known, context: FileContext) -> Iterator[Parsed]:
    try:
        key, scopes = _read_resource(item, known)
    except RecordError as error:
        yield item.rejected(error)
        return
    for part in _parts(item, "scopeMetrics", scopes):
        try:
            scope = decode(_SCOPE_METRICS_DECODER, part.data, part.path)
        except RecordError as error:
            yield part.rejected(error)
            continue
        scope_name = scope.scope.name if scope.scope else None
        for metric in _parts(part, "metrics", scope.metrics):
            yield from _parse_metric(metric, key, scope_name, known, context)


def _read_resource(item: Item, known: _Known) -> tuple[bytes, _Points]:
    """The bytes of a resource, of which the attributes are known then, and its metrics.

    Raises:
        RecordError: It cannot be decoded.
    """
    try:
        partly = _PARTLY_READ_DECODER.decode(item.data)
        key = bytes(partly.resource)
        if key in known.resources:
            return key, partly.scope_metrics
    except (ValueError, RecursionError):
        # The whole of it says what is wrong.
        key = item.data
    resource = decode(_RESOURCE_METRICS_DECODER, item.data, item.path)
    attributes = resource.resource.attributes if resource.resource else None
    known.resources[key] = (attributes, None)
    return key, resource.scope_metrics


def _parse_metric(
    item: Item, resource: bytes, scope: str | None, known: _Known, context: FileContext
) -> Iterator[Parsed]:
    try:
        metric = decode(_METRIC_DECODER, item.data, item.path)
    except RecordError as error:
        yield item.rejected(error)
        return
    for kind, data in (
        ("sum", metric.sum),
        ("gauge", metric.gauge),
        ("histogram", metric.histogram),
        ("exponentialHistogram", metric.exponential_histogram),
        ("summary", metric.summary),
    ):
        if data is None:
            continue
        parts = _parts(item, f"{kind}.dataPoints", data.data_points)
        if metric.name != METRIC:
            for part in parts:
                yield Parsed(part.locator, None, b"", ignore="other_metric")
            continue
        try:
            temporality = _temporality(metric, kind, data, context)
            pod = _known_pod(resource, known, context)
        except RefusedError as error:
            yield from (part.rejected(error) for part in parts)
            continue
        for part in parts:
            try:
                yield _parse_point(part, pod, (resource, scope, temporality), known, context)
            except (RecordError, RefusedError) as error:
                yield part.rejected(error)


def _known_pod(resource: bytes, known: _Known, context: FileContext) -> _Pod:
    attributes, pod = known.resources[resource]
    if pod is None:
        pod = _pod(_attributes(attributes), context)
        known.resources[resource] = (attributes, pod)
    return pod


def _parse_point(
    item: Item,
    pod: _Pod,
    of: tuple[bytes, str | None, str],
    known: _Known,
    context: FileContext,
) -> Parsed:
    """Read one data point of the counter.

    Args:
        item: The point.
        pod: Its pod.
        of: Bytes of its resource, scope and temporality.
        known: What was read before.
        context: What is known of the file.

    Raises:
        RecordError: The point cannot be decoded.
        RefusedError: The point is no reading of a byte counter.
    """
    try:
        point = _POINT_PARTLY_READ_DECODER.decode(item.data)
    except (ValueError, RecursionError):
        # The whole of it says what is wrong.
        decode(_POINT_DECODER, item.data, item.path)
        raise
    key = (*of, bytes(point.attributes))
    series = known.series.get(key)
    stated = None if series else decode(_POINT_DECODER, item.data, item.path).attributes
    is_stale = bool((_whole("flags", point.flags) or 0) & _NO_RECORDED_VALUE)
    if series is None:
        series = known.series[key] = _series(stated, pod, of, context)
    event_at, start_at = _times(point)
    value = 0 if is_stale else _reading(point)
    row = {
        "record_id": identity(series.series_id, event_at, STALE if is_stale else value),
        "series_id": series.series_id,
        "observer": pod.observer,
        "metric": METRIC,
        "node": pod.node,
        "namespace": pod.namespace,
        "pod_name": pod.name,
        "pod_uid": pod.uid,
        "interface": shaped("interface", series.interface, INTERFACE),
        "direction": series.direction,
        "temporality": of[-1],
        "byte_layer": "frame",
        "value": value,
        "event_at": event_at,
        "counter_start_at": None if is_stale else start_at,
        "sample_kind": STALE if is_stale else None,
        **context.counters.columns,
    }
    return Parsed(item.locator, None, b"", rows=(("counter_samples", row),))


def _series(
    stated: list[_KeyValue] | None,
    pod: _Pod,
    of: tuple[bytes, str | None, str],
    context: FileContext,
) -> _Series:
    """What a point's attributes say.

    Raises:
        RefusedError: They contradict themselves, or tell no direction.
    """
    attributes: dict[str, str] = {}
    for name, text in _attributes(stated).items():
        known = _RENAMED.get(name, name)
        if attributes.setdefault(known, text) != text:
            refuse("attributes", f"one {known}, got two")
    direction = attributes.get("direction")
    if direction not in {"receive", "transmit"}:
        refuse("direction", "receive or transmit", direction)
    named = sorted(f"{name}={text}" for name, text in attributes.items())
    _, scope, temporality = of
    series_id = identity(context.cluster, METRIC, scope, temporality, *pod.series, *named)
    return _Series(series_id, direction, attributes.get("interface"))


def _temporality(metric: _Metric, kind: str, data: _Data, context: FileContext) -> str:
    """What the metric's values count, where they count a pod's bytes."""
    if kind != "sum":
        refuse("metric_type", f"a sum, got a {kind}")
    if not data.is_monotonic:
        refuse("not_monotonic", "a sum with isMonotonic true")
    if metric.unit not in _UNITS:
        refuse("unit", "By", metric.unit)
    stated = data.aggregation_temporality
    known = _TEMPORALITIES.get(stated)
    temporality = context.temporality or known
    if temporality not in {"delta", "cumulative"} or (known is None and stated not in _UNSPECIFIED):
        refuse("temporality", "1 (delta) or 2 (cumulative)", stated)
    return temporality


def _pod(attributes: dict[str, str], context: FileContext) -> _Pod:
    text = attributes.get("k8s.pod.uid")
    uid = dashed_uid(text) if text else None
    if text and uid is None:
        refuse("pod_uid", "a UUID", text)
    node = _kubernetes_name(attributes, "k8s.node.name") or context.node
    others = sorted(f"{name}={text}" for name, text in attributes.items() if name != _OBSERVER)
    return _Pod(
        uid=uid,
        name=_kubernetes_name(attributes, "k8s.pod.name"),
        namespace=_kubernetes_name(attributes, "k8s.namespace.name"),
        node=node,
        observer=name_text(attributes.get(_OBSERVER)) or context.export,
        series=(uid,) if uid else (None, node, *others),
    )


def _kubernetes_name(attributes: dict[str, str], name: str) -> str | None:
    return shaped(name, attributes.get(name) or None, KUBERNETES_NAME)


def _attributes(pairs: list[_KeyValue] | None) -> dict[str, str]:
    """Attributes by key; what is no text becomes compact JSON with its type."""
    found: dict[str, str] = {}
    for pair in pairs or ():
        stated = pair.value or {}
        text = stated.get("stringValue")
        if isinstance(text, str) and len(stated) == 1:
            found[pair.key] = text
            continue
        value = {key: stated[key] for key in stated.keys() & _VALUES}
        try:
            found[pair.key] = (
                text
                if isinstance(text, str) and len(value) == 1
                else msgspec.json.encode(value, order="sorted").decode()
            )
        except RecursionError:
            refuse("too_deep", "an attribute of a few levels")
    if len(found) < len(pairs or ()):
        refuse("attributes", "each key once")
    return found


def _whole(name: str, value: _Integer) -> int | None:
    """Read a 64-bit integer, which JSON writes as a string; null where it is absent."""
    if value is None:
        return None
    number = integer(value, maximum=2**64 - 1) if isinstance(value, str) else value
    if number is None or not 0 <= number < 2**64:
        refuse(name, "a whole number", value)
    return number


def _times(point: _PointPartlyRead) -> tuple[datetime, datetime | None]:
    """Time of the reading, and when the counter began; null where that is not known."""
    time = _whole("timeUnixNano", point.time_unix_nano)
    if not time:
        refuse("no_time", "timeUnixNano", None)
    start = _whole("startTimeUnixNano", point.start_time_unix_nano)
    if start and start > time:
        refuse("start_time", "no time behind timeUnixNano")
    event_at = instant_of_microseconds(time // 1000)
    start_at = instant_of_microseconds(start // 1000) if start else None
    if event_at is None:
        refuse("no_time", "a year up to 9999")
    return event_at, None if start_at == event_at else start_at


def _reading(point: _PointPartlyRead) -> int:
    """Bytes that the counter shows: a whole number, though it may be written as a double."""
    if (point.as_int is None) == (point.as_double is None):
        refuse("value", "either asInt or asDouble")
    value: object = point.as_int if point.as_double is None else point.as_double
    if isinstance(value, str):
        number = integer(value)
    elif isinstance(value, float):
        number = int(value) if math.isfinite(value) and value.is_integer() else None
    else:
        number = value if isinstance(value, int) else None
    if number is None or not 0 <= number <= INT64_MAX:
        refuse("value", "a whole number of bytes", value)
    return number


PARSER = Parser(
    name="otlp",
    title="OpenTelemetry metrics (OTLP JSON)",
    tables=("counter_samples",),
    shape="json",
    record="One data point of one metric.",
    cannot_tell="Peers, what moved before a counter's first reading where its start is unknown.",
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
    version=3,
)

"""Read the points of gauges and sums of OTLP JSON metrics as samples of series.

Source: opentelemetry-proto, metrics.proto and its JSON encoding. The Prometheus receiver keeps the
names of metrics and their labels, as attributes of the points.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.otlp_values import instant_of_nanoseconds, pairs_of
from transforms.staging.parser import Parsed
from transforms.staging.refusal import RefusedError, refuse

_NO_RECORDED_VALUE = 1
_Parts = list[msgspec.Raw] | None


class Point(NamedTuple):
    """One point.

    Attributes:
        item: Where it stands.
        name: Name of the metric.
        labels: Its attributes that are text.
        value: The value as written.
        at: Its time.
    """

    item: Item
    name: str
    labels: dict[str, str]
    value: str | float
    at: datetime


class _Document(msgspec.Struct, rename="camel"):
    resource_metrics: _Parts = None


class _ResourceMetrics(msgspec.Struct, rename="camel"):
    scope_metrics: _Parts = None


class _ScopeMetrics(msgspec.Struct):
    metrics: _Parts = None


class _Data(msgspec.Struct, rename="camel"):
    data_points: _Parts = None


class _Metric(msgspec.Struct, rename="camel"):
    name: str | None = None
    gauge: _Data | None = None
    sum: _Data | None = None
    histogram: _Data | None = None
    exponential_histogram: _Data | None = None
    summary: _Data | None = None


class _Point(msgspec.Struct, rename="camel"):
    attributes: list[Any] | None = None
    time_unix_nano: int | str | None = None
    as_int: int | str | None = None
    as_double: float | str | None = None
    flags: int | None = None


_DOCUMENT = msgspec.json.Decoder(_Document)
_RESOURCE = msgspec.json.Decoder(_ResourceMetrics)
_SCOPE = msgspec.json.Decoder(_ScopeMetrics)
_METRIC = msgspec.json.Decoder(_Metric)
_POINT = msgspec.json.Decoder(_Point)


def points_of(document: Item) -> Iterator[Point | Parsed]:
    """The points of a document, and what of it cannot be used; histograms are left out."""
    is_empty = True
    for found in _metrics(document):
        for point in (found,) if isinstance(found, Parsed) else _points(found):
            is_empty = False
            yield point
    if is_empty:
        yield document.ignored("empty")


def _metrics(document: Item) -> Iterator[Item | Parsed]:
    try:
        resources = decode(_DOCUMENT, document.data, document.path).resource_metrics
    except RecordError as error:
        yield document.rejected(error)
        return
    for resource in _parts(document, "resourceMetrics", resources):
        try:
            scopes = decode(_RESOURCE, resource.data, resource.path).scope_metrics
        except RecordError as error:
            yield resource.rejected(error)
            continue
        for scope in _parts(resource, "scopeMetrics", scopes):
            try:
                metrics = decode(_SCOPE, scope.data, scope.path).metrics
            except RecordError as error:
                yield scope.rejected(error)
                continue
            yield from _parts(scope, "metrics", metrics)


def _parts(item: Item, name: str, parts: _Parts) -> Iterator[Item]:
    for index, part in enumerate(parts or ()):
        yield item.part(f".{name}[{index}]", bytes(part))


def _points(item: Item) -> Iterator[Point | Parsed]:
    try:
        metric = decode(_METRIC, item.data, item.path)
    except RecordError as error:
        yield item.rejected(error)
        return
    for kind, data in (
        ("gauge", metric.gauge),
        ("sum", metric.sum),
        ("histogram", metric.histogram),
        ("exponentialHistogram", metric.exponential_histogram),
        ("summary", metric.summary),
    ):
        for part in _parts(item, f"{kind}.dataPoints", data.data_points if data else None):
            if kind in {"gauge", "sum"}:
                yield _point(part, metric.name or "")
            else:
                yield Parsed(part.locator, None, b"", ignore="other_metric")


def _point(item: Item, name: str) -> Point | Parsed:
    try:
        point = decode(_POINT, item.data, item.path)
        if (point.flags or 0) & _NO_RECORDED_VALUE:
            return Parsed(item.locator, None, b"", ignore="stale")
        attributes = pairs_of(point.attributes)
        at = instant_of_nanoseconds(point.time_unix_nano)
        if at is None:
            refuse("no_time", "timeUnixNano", None)
        value = point.as_int if point.as_double is None else point.as_double
        if value is None:
            refuse("no_value", "asInt or asDouble", None)
    except (RecordError, RefusedError) as error:
        return item.rejected(error)
    labels = {key: text for key, text in attributes.items() if isinstance(text, str)}
    return Point(item, name, labels, value, at)


def names_in(value: Any) -> set[str]:  # noqa: ANN401  any JSON value
    """Names of the metrics in the beginning of a document; empty where it is none."""
    found: set[str] = set()
    resources = value.get("resourceMetrics") if isinstance(value, dict) else None
    for resource in _dicts(resources):
        for scope in _dicts(resource.get("scopeMetrics")):
            for metric in _dicts(scope.get("metrics")):
                name = metric.get("name")
                found |= {name} if isinstance(name, str) else set()
    return found


def _dicts(entries: object) -> Iterator[dict[str, Any]]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield entry

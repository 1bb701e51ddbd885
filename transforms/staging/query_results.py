"""Read answers of the Prometheus HTTP API: instant vectors and range matrices, as JSON.

Sources: the HTTP API page of Prometheus (expression query result formats) and what `promtool query
-o json` prints, which is the result alone. Times are seconds with milliseconds, values are text.
Prometheus, Thanos, Mimir and VictoriaMetrics answer alike.
"""

import math
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from transforms.staging.exposition import NAME_LABEL
from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.parser import Parsed
from transforms.staging.refusal import RefusedError, refuse
from transforms.staging.values import instant_of_microseconds


class Series(NamedTuple):
    """One series of an answer.

    Attributes:
        item: Where it stands.
        name: Name of the metric; empty where an operator took it off.
        labels: Its labels, without the name.
        samples: When it had which value, as text.
        is_instant: Whether it is of a vector: one value, at the time of the query.
    """

    item: Item
    name: str
    labels: dict[str, str]
    samples: list[tuple[datetime, str]]
    is_instant: bool


class _Data(msgspec.Struct, rename="camel"):
    result_type: str | None = None
    result: msgspec.Raw = msgspec.Raw()


class _Answer(msgspec.Struct, rename="camel"):
    status: str | None = None
    data: _Data | None = None
    result_type: str | None = None
    result: msgspec.Raw = msgspec.Raw()


class _Result(msgspec.Struct):
    metric: dict[str, str]
    value: tuple[float, str] | None = None
    values: list[tuple[float, str]] | None = None
    histogram: msgspec.Raw = msgspec.Raw()
    histograms: msgspec.Raw = msgspec.Raw()


_ANSWER = msgspec.json.Decoder(_Answer)
_RESULT = msgspec.json.Decoder(_Result)
_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])


def series_of(document: Item) -> Iterator[Series | Parsed]:
    """The series of an answer, and what of it cannot be used."""
    try:
        found = _result(document)
        if isinstance(found, Parsed):
            yield found
            return
        step, data = found
        items = decode(_ITEMS, data, f"{document.path}{step}")
    except RecordError as error:
        yield document.rejected(error)
        return
    if not items:
        yield document.ignored("empty")
    for index, item in enumerate(items):
        yield _series(document.part(f"{step}[{index}]", bytes(item)))


def _result(document: Item) -> tuple[str, bytes] | Parsed:
    """Path step and bytes of the list of series."""
    if document.data.lstrip()[:1] == b"[":
        return "", document.data
    answer = decode(_ANSWER, document.data, document.path)
    if answer.status == "error":
        return document.rejected("no_result: expected the result of a query, got an error")
    step, data = (".data", answer.data) if answer.data else ("", answer)
    if data.result_type in {"scalar", "string"}:
        return document.ignored("no_series")
    if not bytes(data.result):
        return document.rejected(f"no_result: expected {document.path}.data.result, got none")
    return f"{step}.result", bytes(data.result)


def _series(item: Item) -> Series | Parsed:
    try:
        result = decode(_RESULT, item.data, item.path)
        stated = [*(result.values or ()), *((result.value,) if result.value else ())]
        if not stated:
            if bytes(result.histogram) or bytes(result.histograms):
                return item.ignored("histogram")
            return item.rejected(f"no_value: expected {item.path}.value or values, got none")
        samples = [(_instant(seconds), value) for seconds, value in stated]
    except (RecordError, RefusedError) as error:
        return item.rejected(error)
    name = result.metric.pop(NAME_LABEL, "")
    return Series(item, name, result.metric, samples, result.value is not None)


def _instant(seconds: float) -> datetime:
    # Times have three fraction digits; a float of this size is exact to a microsecond or better.
    if not math.isfinite(seconds) or abs(seconds) > 10**12:
        refuse("wrong_time", "seconds since 1970, up to the year 9999")
    instant = instant_of_microseconds(round(seconds * 1_000) * 1_000)
    if instant is None:
        refuse("wrong_time", "seconds since 1970, up to the year 9999")
    return instant


def names_in(value: Any) -> set[str]:  # noqa: ANN401  any JSON value
    """Names of the metrics in the beginning of an answer; empty where it is none."""
    if isinstance(value, dict):
        data = value.get("data", value)
        value = data.get("result") if isinstance(data, dict) else None
    found = set()
    for entry in value if isinstance(value, list) else ():
        metric = entry.get("metric") if isinstance(entry, dict) else None
        name = metric.get(NAME_LABEL) if isinstance(metric, dict) else None
        found |= {name} if isinstance(name, str) else set()
    return found

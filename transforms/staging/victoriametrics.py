"""VictoriaMetrics' native JSON lines (`/api/v1/export`): byte counters of the network.

Source: VictoriaMetrics, docs (how to export data in JSON line format) and
app/vmselect/prometheus/export.qtpl. A line holds samples of one series as they were stored, with
times in milliseconds; a series may stand on several lines. A marker of the series' end is `null`,
an infinity is text. Whole numbers below 2**55 are exact. Samples may be thinned by
`-dedup.minScrapeInterval`; those that remain are as they were read. What the series mean:
byte_counters.py.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial

import msgspec

from transforms.staging.byte_counters import CounterFile, Value
from transforms.staging.exposition import NAME_LABEL
from transforms.staging.json_heads import first_value
from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import RefusedError, refuse
from transforms.staging.values import instant_of_microseconds

_MAX_MILLISECONDS = 253_402_300_799_999
_BOM = b"\xef\xbb\xbf"


class _Line(msgspec.Struct):
    metric: dict[str, str]
    values: list[int | float | str | None]
    timestamps: list[int]


_LINE = msgspec.json.Decoder(_Line)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    counters = CounterFile(context, _note_starts)
    for raw in records:
        item = Item(raw.locator, "$", raw.offset, raw.data.removeprefix(_BOM))
        try:
            word = _take(item, counters)
        except (RecordError, RefusedError) as error:
            counters.put(item.rejected(error))
        else:
            if word is not None:
                counters.put(Parsed(item.locator, item.offset, b"", ignore=word))
        yield from counters.ready()
    yield from counters.rest()


def _note_starts(raw: RawRecord, counters: CounterFile) -> None:
    """Note the starts of a line that is read again; what is wrong with it is told once."""
    with suppress(RecordError, RefusedError):
        name, line = _line(raw.data.removeprefix(_BOM), "$")
        counters.note_start(name, line.metric, _values(line))


def _line(data: bytes, path: str) -> tuple[str, _Line]:
    line = decode(_LINE, data, path)
    if len(line.values) != len(line.timestamps):
        refuse("timestamps", f"{len(line.values)}, one per value", len(line.timestamps))
    return line.metric.pop(NAME_LABEL, ""), line


def _take(item: Item, counters: CounterFile) -> str | None:
    """Read one line; returns the word for which it has no rows.

    Raises:
        RecordError: It is no JSON, or not of this form.
        RefusedError: Its series, or one of its samples, cannot be used.
    """
    name, line = _line(item.data, item.path)
    place = Item(item.locator, item.path, item.offset, b"")
    return counters.take(name, line.metric, _values(line), partial(Item.accepted, place))


def _values(line: _Line) -> Iterator[Value]:
    for value, milliseconds in zip(line.values, line.timestamps, strict=True):
        if not 0 <= milliseconds <= _MAX_MILLISECONDS:
            refuse("wrong_time", "milliseconds since 1970, up to the year 9999", milliseconds)
        yield Value(
            instant_of_microseconds(milliseconds * 1_000), "NaN" if value is None else value
        )


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    if not isinstance(value, dict) or not isinstance(value.get("metric"), dict):
        return Recognition(0)
    values = value.get("values")
    if not isinstance(values, list):
        return Recognition(0)
    if isinstance(value.get("timestamps"), list):
        return Recognition(3, "VictoriaMetrics export lines")
    # The times stand behind the values, and may be beyond the beginning of the file.
    if set(value) == {"metric", "values"} and values and not isinstance(values[0], list | dict):
        return Recognition(2, "VictoriaMetrics export lines")
    return Recognition(0)


PARSER = Parser(
    name="victoriametrics",
    title="VictoriaMetrics export (JSON lines): the network bytes that `prometheus` reads",
    tables=("counter_samples", "volume_records"),
    shape="lines",
    record="One line: samples of one series.",
    cannot_tell="What `prometheus` cannot, but when a counter was read; samples that were thinned.",
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
    optional_columns=("counter_samples.counter_start_at", "counter_samples.pod_uid"),
    version=3,
)

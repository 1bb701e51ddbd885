"""Metrics of Prometheus, whichever way these were exported: byte counters of the network.

Sources: the exposition formats page of Prometheus, OpenMetrics 1.0 and 2.0, `promtool tsdb dump`
and `dump-openmetrics`, the HTTP API page (vectors and matrices). What the series mean:
byte_counters.py.

**Points of a grid.** A range query evaluates at each step, and repeats the newest sample, up to
five minutes old, under the step's time; a vector does so once. Restarts between two steps vanish.
Such values are staged with `sample_kind = grid_point` and never become increments. The API's
answer to an instant query of a range (`metric[1h]`) has the same shape and holds the samples as
they were read. Nothing in a file tells the two apart for sure, so that every answer counts as
evaluated, unless the export's `record_format` says otherwise:

* `samples=raw`: all answers are those of instant queries of a range;
* `step=15s scrape_interval=30s`: steps of matrices are no longer than the time between two scrapes
  (longer ones are refused), and their points count as readings, with times that may be late by a
  step. A vector stays one point.

**Times.** Exposition text may have none. A reading then stands for the hour or day in the file's
path, else for the end of its landing day, as `path_time`, and becomes no increment.

**Mixed files.** Pods' states (`kube_pod_*`) are read by the format `kube_state_metrics`, bytes by
this one. A file whose beginning shows both is of both: detection asks for `format`, and two exports
over the same files, one of each format, read all of it. Either may be stated for a text that shows
only the other's metrics at its beginning.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial

from transforms.staging import query_results
from transforms.staging.byte_counters import GRID_POINT, METRICS, CounterFile, Value, plain_name
from transforms.staging.exposition import ExpositionReader, Note, Sample, is_json, lines_of
from transforms.staging.json_heads import first_value
from transforms.staging.json_records import Item, documents
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    Row,
    accepted,
    ignored,
)
from transforms.staging.query_results import Series
from transforms.staging.refusal import RefusedError, refuse, refused

_STEP = re.compile(r"step=([1-9][0-9]{0,6})(ms|s|m|h) scrape_interval=([1-9][0-9]{0,6})(ms|s|m|h)")
_RAW = "samples=raw"
_MILLISECONDS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_HEAD_LINES = 400


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    reader = ExpositionReader()
    counters = CounterFile(context, partial(_note_starts, reader))
    for raw in records:
        if is_json(raw.data):
            for document in documents(raw):
                yield from _parse_answer(document, counters, context.record_format)
            continue
        for line in lines_of(raw):
            _take_line(line, reader, counters)
            yield from counters.ready()
    yield from counters.rest()


def _take_line(raw: RawRecord, reader: ExpositionReader, counters: CounterFile) -> None:
    try:
        sample = reader.read(raw.data)
        if isinstance(sample, Note):
            word: str | None = "comment"
        else:
            value = Value(sample.at, sample.value, sample.start_at)
            word = counters.take(sample.name, sample.labels, (value,), partial(_accepted, raw))
    except RefusedError as error:
        counters.put(refused(raw, error))
        return
    if word is not None:
        counters.put(ignored(raw, word))


def _note_starts(reader: ExpositionReader, raw: RawRecord, counters: CounterFile) -> None:
    """Note the starts of a record that is read again; what is wrong with it is told once."""
    if is_json(raw.data):
        for document in documents(raw):
            for series in query_results.series_of(document):
                if isinstance(series, query_results.Series):
                    values = (Value(at, value) for at, value in series.samples)
                    with suppress(RefusedError):
                        counters.note_start(series.name, series.labels, values)
        return
    for line in lines_of(raw):
        with suppress(RefusedError):
            sample = reader.read(line.data)
            if isinstance(sample, Sample):
                value = Value(sample.at, sample.value, sample.start_at)
                counters.note_start(sample.name, sample.labels, (value,))


def _accepted(raw: RawRecord, rows: tuple[Row, ...]) -> Parsed:
    return accepted(raw, *rows)


def _parse_answer(document: Item, counters: CounterFile, setting: str | None) -> Iterator[Parsed]:
    try:
        stated = _stated(setting)
    except RefusedError as error:
        counters.put(document.rejected(error))
        return
    for series in query_results.series_of(document):
        _take_series(series, counters, stated)
        yield from counters.ready()


def _take_series(series: Series | Parsed, counters: CounterFile, stated: str | None) -> None:
    if isinstance(series, Parsed):
        counters.put(series)
        return
    item = Item(series.item.locator, series.item.path, series.item.offset, b"")
    values = (Value(at, value) for at, value in series.samples)
    is_read = stated == _RAW or (stated is not None and not series.is_instant)
    kind = None if is_read else GRID_POINT
    try:
        word = counters.take(series.name, series.labels, values, partial(Item.accepted, item), kind)
    except RefusedError as error:
        counters.put(series.item.rejected(error))
        return
    if word is not None:
        counters.put(item.ignored(word))


def _stated(setting: str | None) -> str | None:
    """What the setting says of the answers of queries.

    Raises:
        RefusedError: It is none of the forms, or its steps are longer than its scrapes.
    """
    expected = None if setting is None else _expected_form(setting)
    if expected is not None:
        refuse("record_format", expected, setting)
    return setting


def _expected_form(stated: str) -> str | None:
    if stated == _RAW:
        return None
    match = _STEP.fullmatch(stated)
    if match is None:
        return "samples=raw or step=15s scrape_interval=30s"
    step, interval = (int(match[n]) * _MILLISECONDS[match[n + 1]] for n in (1, 3))
    return "a step no longer than scrape_interval" if step > interval else None


# -- recognition ---------------------------------------------------------------------------------


def _recognise(head: bytes) -> Recognition:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if is_json(text):
        value = first_value(head)
        names = query_results.names_in(value)
        if not _is_answer(value):
            return Recognition(0)
        return _judged(names, "query result")
    return _judged_text(text)


def _is_answer(value: object) -> bool:
    """Whether JSON is the answer to a query, or its list of series."""
    if isinstance(value, dict):
        data = value.get("data", value)
        if not isinstance(data, dict) or not isinstance(data.get("result"), list):
            return False
        return data.get("resultType") in ("vector", "matrix")
    entry = value[0] if isinstance(value, list) and value else None
    if not isinstance(entry, dict) or not isinstance(entry.get("metric"), dict):
        return False
    return "value" in entry or "values" in entry


def _judged(names: set[str], variant: str) -> Recognition:
    if any(plain_name(name) in METRICS for name in names):
        return Recognition(3, f"network counters, {variant}")
    if names and all(name.startswith("kube_") for name in names):
        # Those are of kube_state_metrics; bytes may stand further down.
        return Recognition(1, variant)
    return Recognition(2, variant)


def _judged_text(text: bytes) -> Recognition:
    """Judge text: lines of samples with labels, or notes of families, and little else."""
    # The last line may be cut.
    lines = [line for line in text.split(b"\n")[:-1] if line.strip()]
    if not lines and text.strip():
        lines = [text]
    reader = ExpositionReader()
    names: set[str] = set()
    sure = broken = 0
    for line in lines[:_HEAD_LINES]:
        try:
            read = reader.read(line.rstrip(b"\r"))
        except RefusedError as error:
            # All but the time, which is read last, was as it should be.
            is_sample = str(error).startswith("wrong_time")
            sure, broken = sure + is_sample, broken + (not is_sample)
            continue
        if isinstance(read, Sample) or read.kind == "type":
            names.add(read.name)
        sure += bool(read.labels) if isinstance(read, Sample) else read.kind in {"help", "type"}
    if not sure or broken > sure:
        return Recognition(0)
    later = set(_BYTE_NAMES.findall(text))
    names |= {name.decode() for name in later}
    return _judged(names, "OpenMetrics text" if reader.is_openmetrics else "Prometheus text")


_BYTE_NAMES = re.compile(
    rb"(?:^|\n)(?:\{[ \t]*(?:__name__=)?\")?("
    + b"|".join(sorted((name.encode() for name in METRICS), reverse=True))
    + rb")(?=[\"{ ])"
)


PARSER = Parser(
    name="prometheus",
    title="Prometheus (exposition text, OpenMetrics, promtool dumps, query results): network bytes "
    "of cAdvisor, node_exporter, kubeletstats, OBI/Beyla, Kubecost",
    tables=("counter_samples", "volume_records"),
    shape="json",
    record="One line, or one series of a query's answer.",
    cannot_tell=(
        "Peers, where interfaces are counted; which container of a pod; what moved before a "
        "counter's first sample where its start is unknown; anything but where counters stood, "
        "where a query evaluated them at steps or the text has no times; whether a series of "
        "OBI/Beyla ended or was forgotten; remote memory access (RDMA, EFA)."
    ),
    recognise=_recognise,
    parse=_parse,
    expected_form=_expected_form,
    tested_on="real",
    reads_path=True,
    optional_columns=("counter_samples.counter_start_at", "counter_samples.pod_uid"),
    version=3,
)

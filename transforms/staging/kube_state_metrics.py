"""Pods in the metrics of kube-state-metrics, whichever way these were exported.

Read are Prometheus text and OpenMetrics (a scrape, `promtool tsdb dump`), answers of the Prometheus
API (vectors and matrices), and OTLP JSON metrics of the collector's Prometheus receiver, which keep
the names. How series become states of a pod: kube_state_pods.py.

**Records.** A pod's facts stand on many lines, which may be far apart. Each line (series, point) is
one record. The first one about a pod is the pod's: accepted with its states, or refused where what
they need was not among its lines; as that is not known before, it comes behind the others. The
other lines of a pod are ignored as `partial`, lines of no pod as `other_metric`, `comment` or
`stale`. A line that cannot be read is refused where it stands, and takes nothing from the pod but
its fact.

Names of metrics stand for the format: a query whose result lost them (`sum by (uid) (…)`) holds no
state, while `{__name__=~"kube_pod_.+"}` gives all that is read. One file must hold one cluster.
"""

import re
from collections.abc import Iterable, Iterator

from transforms.staging import otlp_gauges, query_results
from transforms.staging.exposition import ExpositionReader, Note, is_json, lines_of
from transforms.staging.json_heads import first_value
from transforms.staging.json_records import Item, documents
from transforms.staging.kube_state_pods import Place, Pods, Reading
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    ignored,
)
from transforms.staging.refusal import RefusedError, refused

_NAMED = re.compile(
    rb'^(?:# (?:HELP|TYPE) )?(?:\{[ \t]*__name__="|\{[ \t]*")?(kube_[a-z0-9]+_[a-z0-9_]+)',
    re.MULTILINE,
)
_OTHER_NAMED = re.compile(
    rb'^(?:\{__name__=")?(?!kube_)([a-zA-Z_:][a-zA-Z0-9_:]*)[{ ]', re.MULTILINE
)
_SERIES = re.compile(
    rb'^(?:[a-zA-Z_:][a-zA-Z0-9_:]*\{|\{__name__=")[^\n]{0,4096}\} [0-9.eE+-]+(?: [0-9.]+)?\r?$',
    re.MULTILINE,
)
_OTLP = re.compile(rb'\{\s*"resourceMetrics"')


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    pods = Pods(context)
    reader = ExpositionReader()
    for raw in records:
        if is_json(raw.data):
            for document in documents(raw):
                yield from _parse_json(document, pods)
            continue
        for line in lines_of(raw):
            parsed = _parse_line(line, reader, pods)
            if parsed is not None:
                yield parsed
    yield from pods.records()


def _parse_line(raw: RawRecord, reader: ExpositionReader, pods: Pods) -> Parsed | None:
    try:
        sample = reader.read(raw.data)
        if isinstance(sample, Note):
            if sample.kind in {"help", "type"}:
                pods.note_family(sample.name)
            return ignored(raw, "comment")
        reading = Reading(sample.name, sample.labels, sample.value, sample.at)
        word = pods.add([reading], Place(*raw[:3]))
        return None if word is None else ignored(raw, word)
    except RefusedError as error:
        return refused(raw, error)


def _parse_json(document: Item, pods: Pods) -> Iterator[Parsed]:
    if _OTLP.match(document.data):
        for point in otlp_gauges.points_of(document):
            if isinstance(point, Parsed):
                yield point
            else:
                reading = Reading(point.name, point.labels, point.value, point.at)
                yield from _part(point.item, [reading], pods)
        return
    for series in query_results.series_of(document):
        if isinstance(series, Parsed):
            yield series
        else:
            readings = [
                Reading(series.name, series.labels, value, at) for at, value in series.samples
            ]
            yield from _part(series.item, readings, pods)


def _part(item: Item, readings: list[Reading], pods: Pods) -> Iterator[Parsed]:
    try:
        word = pods.add(readings, Place(item.locator, item.offset, b""))
    except RefusedError as error:
        yield item.rejected(error)
        return
    if word is not None:
        yield Parsed(item.locator, item.offset, b"", ignore=word)


# -- recognition ---------------------------------------------------------------------------------


def _recognise(head: bytes) -> Recognition:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if is_json(text):
        value = first_value(head)
        for names, variant in (
            (otlp_gauges.names_in(value), "OTLP metrics"),
            (query_results.names_in(value), "query result"),
        ):
            if any(name.startswith("kube_pod_") for name in names):
                return Recognition(3, f"kube-state-metrics {variant}")
            if names and all(name.startswith("kube_") for name in names):
                return Recognition(2, f"kube-state-metrics {variant}")
        return Recognition(0)
    names_ = _NAMED.findall(text)
    if any(name.startswith(b"kube_pod_") for name in names_):
        return Recognition(3, "kube-state-metrics text")
    # The families stand in the order of their names: pods come behind what may be long.
    if names_ and _OTHER_NAMED.search(text) is None:
        return Recognition(3, "kube-state-metrics text")
    # Pods may come behind other metrics, further down than the beginning: who states it, is right.
    return Recognition(1, "metrics as text") if _SERIES.search(text) else Recognition(0)


PARSER = Parser(
    name="kube_state_metrics",
    title="kube-state-metrics (Prometheus text, OpenMetrics, query results, OTLP)",
    tables=("pod_states", "container_states"),
    shape="json",
    record="One line, series or point; the first of each pod is the record of the pod.",
    cannot_tell=(
        "Pods that lived between two scrapes; when a pod was deleted; ends and exit codes of "
        "containers that do not restart; labels beside well-known ones; the order of containers; "
        "GPUs of resource claims, and any where the family of requests is not exported; the "
        "environment."
    ),
    recognise=_recognise,
    parse=_parse,
    reads_path=True,
    optional_columns=(
        "pod_states.addresses", "pod_states.labels", "pod_states.gpu_count",
        "container_states.image_digest",
    ),
)  # fmt: skip

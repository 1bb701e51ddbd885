r"""Tell which wrapper stands around a record, and take that one off.

Text: CRI lines (`<RFC 3339 time> stdout|stderr P|F <text>`), files of Fluentd (time, tag and
object, parted by tabs) and of Fluent Bit (`tag: [time, object]`).

JSON: Docker's json-file; the objects of Fluent Bit, Fluentd, Vector, Filebeat and OpenShift (`log`
or `message`) and of Azure Monitor (`LogMessage`); Loki pushes, query results and `logcli -o jsonl`;
hits of Elasticsearch; subscriptions of CloudWatch, also as Lambda gets them; LogEntry of Google
Cloud; Azure `records` and their `properties.log`; arrays of wrappers, and objects that stand behind
each other without line ends, as Firehose writes them.

A wrapper that cannot be anything else is sure; whether another is one, what stands in it must tell.

Sources: kubelet's CRI logging design; the docs of Fluent Bit's kubernetes filter, Fluentd's
out_file, Docker's logging drivers, Vector's kubernetes_logs, Elastic's Filebeat fields, Loki's HTTP
API, CloudWatch's subscription filters, Cloud Logging's LogEntry, Azure Monitor's resource logs and
ContainerLogV2.
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain

from transforms.staging.cloud_envelopes import (
    azure_properties,
    azure_records,
    cloudwatch,
    lambda_event,
    log_entry,
)
from transforms.staging.line_pieces import Piece
from transforms.staging.log_stores import (
    elasticsearch,
    elasticsearch_hit,
    loki_line,
    loki_push,
    loki_query,
    loki_stream,
)
from transforms.staging.shipper_objects import container_log, shipper
from transforms.staging.wrapper_content import Inner, Peeled, compact, one, placed, without_end
from transforms.staging.wrapper_fields import (
    Fields,
    counted_time,
    fields,
    is_object,
    items,
    wrapper,
    written_time,
)

_CRI = re.compile(rb"(\S{20,40}) (stdout|stderr) ([FP])(?::\S*)?(?: (.*))?\Z", re.DOTALL)
_FLUENTD_FILE = re.compile(rb"(\S{20,40})\t[^\t]{1,300}\t(\{.*\})\s*\Z", re.DOTALL)
_FLUENT_BIT_FILE = re.compile(rb"[^\s:]{1,300}: \[(\d{9,10}\.\d{1,9}), (\{.*\})\]\s*\Z", re.DOTALL)
_BEHIND_EACH_OTHER = re.compile(rb'\{\s*"[^"\\]{1,128}"\s*:')
_MAX_TRIED = 20
"""Places at which an object is looked for behind a torn one."""
_BOM = b"\xef\xbb\xbf"

LABELS = {
    "array": "JSON array",
    "azure_log": "Azure Monitor records",
    "azure_properties": "Azure resource logs",
    "azure_records": "Azure records",
    "cloudwatch": "CloudWatch subscription",
    "concatenated": "objects without line ends",
    "cri": "CRI",
    "docker": "Docker json-file",
    "elasticsearch": "Elasticsearch hits",
    "fluent_file": "Fluentd file",
    "lambda": "Lambda event",
    "log_entry": "GCP LogEntry",
    "loki": "Loki",
    "shipper": "log shipper's JSON",
}
"""Wrappers for people, by the first word of their kind."""


def peel(data: bytes) -> Peeled | None:
    """Take the outermost wrapper off; none where no wrapper is known around the bytes."""
    data = data.removeprefix(_BOM)
    start = data[:64].lstrip()[:1] or data.lstrip()[:1]
    if start == b"{":
        found = fields(data)
        return _object(data, found) if found is not None else _concatenated(data)
    if start == b"[":
        return _array(data)
    return _text(data)


def _text(data: bytes) -> Peeled | None:
    match = _CRI.match(data)
    if match is not None:
        time = written_time(match[1].decode("utf-8", "replace"))
        if time is None:
            return None
        stream = match[2].decode()
        piece = Piece() if match[3] == b"P" else None
        said = wrapper(time, stream)
        inner = Inner(without_end(match[4] or b""), said, source=stream, piece=piece)
        return Peeled("cri", is_sure=True, inner=iter((inner,)))
    match = _FLUENTD_FILE.match(data)
    time = written_time(match[1].decode("utf-8", "replace")) if match else None
    if match is None:
        match = _FLUENT_BIT_FILE.match(data)
        time = counted_time(match[1].decode(), "s") if match else None
    if match is None or time is None:
        return None
    return one("fluent_file", Inner(match[2], wrapper(time)))


def _object(data: bytes, found: Fields) -> Peeled | None:
    for keys, read in _BY_KEYS:
        if keys <= found.keys() and (peeled := read(data, found)) is not None:
            return peeled
    return shipper(found)


def _array(data: bytes) -> Peeled | None:
    listed = items(data)
    if not listed or not is_object(listed[0]):
        return None
    inner = (
        Inner(compact(item), step=f"[{index}]", at=at) for index, (item, at) in placed(data, listed)
    )
    return Peeled("array", is_sure=False, inner=inner)


def _concatenated(data: bytes) -> Peeled | None:
    """Objects behind each other; a broken one among them costs only itself.

    `}{"key":` stands in no valid JSON: what is inside of a text has its quotes escaped. Behind an
    object that is torn, the next one is found by the beginning that the first one has.
    """
    start = len(data) - len(data.lstrip())
    first = _BEHIND_EACH_OTHER.match(data, start)
    if first is None:
        return None
    spans = _spans(data, start, first[0])
    one, other = next(spans), next(spans, None)
    if other is None:
        return None
    inner = (
        Inner(data[begin:end].strip(), step=f"[{index}]", at=begin)
        for index, (begin, end) in enumerate(chain((one, other), spans))
    )
    return Peeled("concatenated", is_sure=True, inner=inner)


def _spans(data: bytes, start: int, opening: bytes) -> Iterator[tuple[int, int]]:
    """Where objects behind each other begin and end, in order."""
    for match in _BEHIND_EACH_OTHER.finditer(data, start + 1):
        place = match.start()
        if data[max(0, place - 64) : place].rstrip()[-1:] == b"}":
            yield from _parted(data, start, place, opening)
            start = place
    yield from _parted(data, start, len(data), opening)


def _parted(data: bytes, start: int, end: int, opening: bytes) -> Iterator[tuple[int, int]]:
    """A span, or two where an object stands whole behind one that is torn."""
    whole = data[start:end]
    place = 0
    if fields(whole) is None:
        for _ in range(_MAX_TRIED):
            place = max(whole.find(opening, place + 1), 0)
            if not place or fields(whole[place:]) is not None:
                break
        else:
            place = 0
    if place:
        yield start, start + place
    yield start + place, end


_Read = Callable[[bytes, Fields], Peeled | None]
_BY_KEYS: tuple[tuple[frozenset[str], _Read], ...] = (
    (frozenset({"logEvents"}), cloudwatch),
    (frozenset({"awslogs"}), lambda_event),
    (frozenset({"streams"}), loki_push),
    (frozenset({"data"}), loki_query),
    (frozenset({"stream", "values"}), loki_stream),
    (frozenset({"labels", "line"}), loki_line),
    (frozenset({"_source"}), elasticsearch_hit),
    (frozenset({"hits"}), elasticsearch),
    (frozenset({"records"}), azure_records),
    (frozenset({"properties"}), azure_properties),
    (frozenset({"textPayload"}), log_entry),
    (frozenset({"jsonPayload"}), log_entry),
    (frozenset({"LogMessage"}), container_log),
    (frozenset({"LogEntry"}), container_log),
)
"""By the keys that an object must have."""

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

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import msgspec

from transforms.staging.line_pieces import Piece
from transforms.staging.parser import Wrapper
from transforms.staging.wrapper_fields import (
    Fields,
    Time,
    counted_time,
    fields,
    is_array,
    is_object,
    is_text,
    items,
    label_names,
    name,
    text,
    time_in,
    time_of,
    uid,
    value,
    wrapper,
    written_labels,
    written_time,
)

DOCKER_PIECE = 16_384
"""Docker cuts at this many bytes; a shorter text without a line end is whole."""
MAX_INFLATED = 32 << 20
"""Bytes of a compressed message; CloudWatch packs at most 1 MiB."""
TIME_KEYS = ("time", "timestamp", "@timestamp", "date")

_CRI = re.compile(rb"(\S{20,40}) (stdout|stderr) ([FP])(?::\S*)?(?: (.*))?\Z", re.DOTALL)
_FLUENTD_FILE = re.compile(rb"(\S{20,40})\t[^\t]{1,300}\t(\{.*\})\s*\Z", re.DOTALL)
_FLUENT_BIT_FILE = re.compile(rb"[^\s:]{1,300}: \[(\d{9,10}\.\d{1,9}), (\{.*\})\]\s*\Z", re.DOTALL)
_BEHIND_EACH_OTHER = re.compile(rb'\{\s*"[^"\\]{1,128}"\s*:')
_MAX_TRIED = 20
"""Places at which an object is looked for behind a torn one."""
_DOCKER_KEYS = frozenset({"log", "stream", "time", "attrs"})
_SHIPPER_MARKS = frozenset({"kubernetes", "_p", "logtag", "partial_message", "_partial", "docker"})
_TEXT_KEYS = ("log", "message")
_OBJECT_KEYS = ("message", "log", "log_processed", "structured", "json")
_AZURE_TEXT_KEYS = ("LogMessage", "LogEntry")
_GOOGLE_NODE = "compute.googleapis.com/resource_name"
_BOM = b"\xef\xbb\xbf"


class Inner(NamedTuple):
    """What stood in a wrapper.

    Attributes:
        data: Its bytes, without line end.
        wrapper: What the wrapper says of it.
        step: JSON path of it in the wrapper; empty where the wrapper holds one record.
        at: Its place in the wrapper, where that holds several.
        source: Names what writes lines one behind the other: a stream of a container.
        piece: Set where it is a piece of a line.
        problem: Why it cannot be read.
        left_out: Why it is no record.
    """

    data: bytes
    wrapper: Wrapper = Wrapper()
    step: str = ""
    at: int = 0
    source: str = ""
    piece: Piece | None = None
    problem: str | None = None
    left_out: str | None = None


class Peeled(NamedTuple):
    """A wrapper that was taken off.

    Attributes:
        kind: Which one, with the key where it has several.
        is_sure: Whether it cannot be anything else.
        inner: What stood in it, in order; read as it is asked for.
    """

    kind: str
    is_sure: bool
    inner: Iterator[Inner]


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
        inner = Inner(_without_end(match[4] or b""), said, source=stream, piece=piece)
        return Peeled("cri", is_sure=True, inner=iter((inner,)))
    match = _FLUENTD_FILE.match(data)
    time = written_time(match[1].decode("utf-8", "replace")) if match else None
    if match is None:
        match = _FLUENT_BIT_FILE.match(data)
        time = counted_time(match[1].decode(), "s") if match else None
    if match is None or time is None:
        return None
    return _one("fluent_file", Inner(match[2], wrapper(time)))


def _object(data: bytes, found: Fields) -> Peeled | None:
    for keys, read in _BY_KEYS:
        if keys <= found.keys() and (peeled := read(data, found)) is not None:
            return peeled
    return _shipper(found)


def _array(data: bytes) -> Peeled | None:
    listed = items(data)
    if not listed or not is_object(listed[0]):
        return None
    inner = (
        Inner(_compact(item), step=f"[{index}]", at=at)
        for index, (item, at) in _placed(data, listed)
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
        Inner(data[begin:end].strip(), step=f" value {number}", at=begin)
        for number, (begin, end) in enumerate(chain((one, other), spans), 1)
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


def _placed(
    data: bytes, listed: list[msgspec.Raw]
) -> Iterator[tuple[int, tuple[msgspec.Raw, int]]]:
    """Items with their places in the bytes, which they follow in order."""
    place = 0
    for index, item in enumerate(listed):
        found = data.find(memoryview(item), place)
        place = found if found >= 0 else place
        yield index, (item, place)
        place += len(memoryview(item)) if found >= 0 else 0


def _one(kind: str, inner: Inner, *, is_sure: bool = True) -> Peeled:
    return Peeled(kind, is_sure, iter((inner,)))


def _content(raw: msgspec.Raw) -> tuple[bytes, str | None]:
    """The record under a key: an object as it is, a text without its escapes."""
    if is_object(raw):
        return _compact(raw), None
    if is_text(raw):
        stated = text(raw)
        if stated is not None:
            return _without_end(stated.encode("utf-8", "replace")), None
        return b"", "wrong_text: expected a text of Unicode characters, got another"
    return b"", "wrong_type: expected a text or an object, got another value"


def _compact(raw: msgspec.Raw) -> bytes:
    """A record that stands in a wrapper as an object, written like a record on a line.

    It is the same record however the wrapper was laid out.
    """
    return msgspec.json.format(bytes(raw), indent=-1)


def _without_end(data: bytes) -> bytes:
    return data.rstrip(b"\r\n")


# --- objects of log shippers


def _shipper(found: Fields) -> Peeled | None:
    key = next((k for k in _TEXT_KEYS if k in found and is_text(found[k])), None)
    if key is None:
        key = next((k for k in _OBJECT_KEYS if is_object(found.get(k))), None)
    if key is None:
        return None
    data, problem = _content(found[key])
    stream = text(found.get("stream"))
    is_docker = key == "log" and found.keys() <= _DOCKER_KEYS and len(found) > 1
    has_mark = not found.keys().isdisjoint(_SHIPPER_MARKS) or stream in {"stdout", "stderr"}
    kind = "docker" if is_docker else f"shipper.{key}"
    said = wrapper(time_in(found, TIME_KEYS), stream, **_kubernetes(found.get("kubernetes")))
    piece = _piece(found, data, raw=found[key], is_docker=is_docker)
    inner = Inner(data, said, source=_source(found, said, stream), piece=piece, problem=problem)
    return _one(kind, inner, is_sure=is_docker or has_mark)


def _piece(found: Fields, data: bytes, raw: msgspec.Raw, *, is_docker: bool) -> Piece | None:
    if is_docker:
        has_end = memoryview(raw)[-3:] == b'\\n"'
        return Piece() if not has_end and len(data) >= DOCKER_PIECE else None
    if "partial_message" in found or "partial_id" in found:
        if not _is_true(found.get("partial_message")) and "partial_id" not in found:
            return None
        ordinal = value(found.get("partial_ordinal"))
        number = int(ordinal) if isinstance(ordinal, int | str) and _is_small(ordinal) else None
        is_last = _is_true(found.get("partial_last"))
        return Piece(is_last, (text(found.get("partial_id")) or "")[:128], number)
    tag = text(found.get("_p")) or text(found.get("logtag")) or ""
    return Piece() if tag.partition(":")[0] == "P" or _is_true(found.get("_partial")) else None


def _is_true(raw: msgspec.Raw | None) -> bool:
    return value(raw) in (True, "true")


def _is_small(number: int | str) -> bool:
    return len(str(number)) <= 6 and str(number).isdecimal()


def _kubernetes(raw: msgspec.Raw | None) -> dict[str, str | None]:
    """Node and pod as Fluent Bit, Fluentd, Vector and Filebeat state them."""
    found = fields(raw)
    if found is None:
        return {}
    node, pod, container = (fields(found.get(key)) or {} for key in ("node", "pod", "container"))

    def stated(key: str) -> str | None:
        return text(found.get(key))

    return {
        "node": name(stated("host"), stated("pod_node_name"), text(node.get("name"))),
        "namespace": name(stated("namespace_name"), stated("pod_namespace"), stated("namespace")),
        "pod_name": name(stated("pod_name"), text(pod.get("name"))),
        "pod_uid": uid(stated("pod_id"), stated("pod_uid"), text(pod.get("uid"))),
        "container": name(stated("container_name"), text(container.get("name"))),
    }


def _source(found: Fields, said: Wrapper, stream: str | None) -> str:
    """What writes the lines: the stream of one container."""
    kubernetes = fields(found.get("kubernetes")) or {}
    log = fields(found.get("log")) or {}
    file = fields(log.get("file")) or {}
    parts = (
        stream,
        said.node,
        said.pod_uid,
        said.namespace,
        said.pod_name,
        said.container,
        text(kubernetes.get("docker_id")) or text(kubernetes.get("container_id")),
        text(found.get("container_id")),
        text(found.get("file")) or text(found.get("filename")) or text(file.get("path")),
    )
    return chr(31).join((part or "")[:512] for part in parts)


def _container_log(_data: bytes, found: Fields) -> Peeled | None:
    """A line of ContainerLog or ContainerLogV2 of Azure Monitor."""
    key = next((k for k in _AZURE_TEXT_KEYS if k in found), None)
    if key is None or is_array(found[key]):
        return None
    content, problem = _content(found[key])
    said = wrapper(
        time_in(found, ("TimeGenerated", "TimeOfCommand")),
        text(found.get("LogSource")) or text(found.get("LogEntrySource")),
        node=name(text(found.get("Computer"))),
        namespace=name(text(found.get("PodNamespace"))),
        pod_name=name(text(found.get("PodName"))),
        container=name(text(found.get("ContainerName"))),
    )
    container = text(found.get("ContainerId")) or text(found.get("ContainerID")) or ""
    source = f"{said.stream} {container[:128]}"
    return _one("azure_log", Inner(content, said, source=source, problem=problem))


# --- log stores and clouds


def _loki_query(data: bytes, found: Fields) -> Peeled | None:
    answer = fields(found["data"])
    if answer is None or text(answer.get("resultType")) != "streams":
        return None
    streams = items(answer.get("result"))
    if streams is None:
        return None
    return Peeled("loki", is_sure=True, inner=_loki_streams(data, streams, ".data.result"))


def _loki_push(data: bytes, found: Fields) -> Peeled | None:
    streams = items(found["streams"])
    if streams is None or (streams and not _is_stream(streams[0])):
        return None
    return Peeled("loki", is_sure=True, inner=_loki_streams(data, streams, ".streams"))


def _loki_stream(data: bytes, found: Fields) -> Peeled | None:
    if not is_object(found["stream"]) or not is_array(found["values"]):
        return None
    return Peeled("loki", is_sure=True, inner=_loki_values(data, found, "", 0))


def _loki_line(_data: bytes, found: Fields) -> Peeled | None:
    """A line of `logcli -o jsonl`."""
    labels = value(found["labels"])
    if not isinstance(labels, dict) or not is_text(found["line"]):
        return None
    content, problem = _content(found["line"])
    time = time_in(found, ("timestamp",), "ns")
    said = wrapper(time, labels.get("stream"), **label_names(labels))
    return _one("loki.line", Inner(content, said, problem=problem))


def _is_stream(raw: msgspec.Raw) -> bool:
    found = fields(raw)
    return found is not None and ("values" in found or "entries" in found)


def _is_newest_first(listed: list[msgspec.Raw]) -> bool:
    """Whether the newest line stands first, as in an answer unless it was asked otherwise."""
    entries = [_loki_entry(listed[i]) for i in (0, -1)] if listed else []
    times = [entry[0].nanoseconds for entry in entries if entry is not None and entry[0]]
    return len(times) == 2 and times[0] > times[1]


def _loki_streams(data: bytes, streams: list[msgspec.Raw], path: str) -> Iterator[Inner]:
    place = 0
    for index, stream in enumerate(streams):
        step = f"{path}[{index}]"
        found_at = data.find(memoryview(stream), place)
        place = found_at if found_at >= 0 else place
        found = fields(stream)
        if found is None:
            problem = "wrong_type: expected an object with labels and values, got another value"
            yield Inner(b"", step=step, at=place, problem=problem)
            continue
        yield from _loki_values(bytes(stream), found, step, place)
        place += len(memoryview(stream)) if found_at >= 0 else 0


def _loki_values(data: bytes, found: Fields, step: str, base: int) -> Iterator[Inner]:
    labels = value(found.get("stream"))
    if not isinstance(labels, dict):
        labels = written_labels(text(found.get("labels")) or "")
    key = "values" if "values" in found else "entries"
    listed = items(found.get(key))
    if listed is None:
        problem = "wrong_type: expected a list of values, got another value"
        yield Inner(b"", step=step, at=base, problem=problem)
        return
    source = chr(31).join(f"{name}={labels[name]}"[:512] for name in sorted(labels)[:50])
    placed = _placed(data, listed)
    if b" P" in data and _is_newest_first(listed):
        # Pieces of a line can be joined in the order only in which they were written.
        placed = iter(list(placed)[::-1])
    for index, (item, at) in placed:
        where, place = f"{step}.{key}[{index}]", base + at
        entry = _loki_entry(item)
        if entry is None:
            problem = "wrong_type: expected a time and a line, got another value"
            yield Inner(b"", step=where, at=place, problem=problem)
            continue
        time, line, more = entry
        content, problem = _content(line)
        said = wrapper(time, labels.get("stream"), **label_names({**more, **labels}))
        yield Inner(content, said, where, place, source, problem=problem)


def _loki_entry(item: msgspec.Raw) -> tuple[Time | None, msgspec.Raw, dict[str, object]] | None:
    """Time, line and structured metadata of `[time, line, …]` or `{"ts": …, "line": …}`."""
    if is_object(item):
        found = fields(item) or {}
        if "line" not in found:
            return None
        return time_in(found, ("ts", "timestamp"), "ns"), found["line"], {}
    parts = items(item)
    if parts is None or len(parts) < 2:
        return None
    more = value(parts[2]) if len(parts) > 2 else None
    if isinstance(more, dict) and isinstance(more.get("structuredMetadata"), dict):
        more = more["structuredMetadata"]
    return time_of(parts[0], "ns"), parts[1], more if isinstance(more, dict) else {}


def _cloudwatch(data: bytes, found: Fields) -> Peeled | None:
    if "messageType" not in found and "logGroup" not in found:
        return None
    listed = items(found["logEvents"])
    if listed is None:
        return None
    if text(found.get("messageType")) == "CONTROL_MESSAGE":
        return _one("cloudwatch", Inner(b"", left_out="control_message"))
    source = f"{text(found.get('logGroup'))}{chr(31)}{text(found.get('logStream'))}"[:1_100]
    return Peeled("cloudwatch", is_sure=True, inner=_log_events(data, listed, source))


def _log_events(data: bytes, listed: list[msgspec.Raw], source: str) -> Iterator[Inner]:
    for index, (item, at) in _placed(data, listed):
        found = fields(item) or {}
        step = f".logEvents[{index}].message"
        if "message" not in found:
            problem = "no_message: expected an event with a message, got none"
            yield Inner(b"", step=step, at=at, problem=problem)
            continue
        content, problem = _content(found["message"])
        said = wrapper(time_in(found, ("timestamp",), "ms"))
        yield Inner(content, said, step, at, source, problem=problem)


def _lambda(_data: bytes, found: Fields) -> Peeled | None:
    """What a function gets from CloudWatch: the subscription's object, packed."""
    packed = text((fields(found["awslogs"]) or {}).get("data"))
    if packed is None:
        return None
    try:
        content = _inflated(base64.b64decode(packed, validate=True))
    except (binascii.Error, ValueError, zlib.error):
        problem = "damaged: expected a gzip stream as base64, got another text"
        return _one("lambda", Inner(b"", problem=problem))
    if content is None:
        problem = f"too_large: expected at most {MAX_INFLATED} bytes in a packed message"
        return _one("lambda", Inner(b"", problem=problem))
    return _one("lambda", Inner(content.strip()))


def _inflated(packed: bytes) -> bytes | None:
    """Decompress a gzip stream; none where it is too large."""
    stream = zlib.decompressobj(wbits=31)
    content = stream.decompress(packed, MAX_INFLATED)
    if stream.unconsumed_tail:
        return None
    if not stream.eof:
        raise zlib.error
    return content


def _log_entry(_data: bytes, found: Fields) -> Peeled | None:
    key = next((k for k in ("textPayload", "jsonPayload") if k in found), None)
    if key is None or found.keys().isdisjoint({"logName", "insertId", "resource"}):
        return None
    content, problem = _content(found[key])
    labels = value((fields(found.get("resource")) or {}).get("labels"))
    labels = labels if isinstance(labels, dict) else {}
    entry_labels = fields(found.get("labels")) or {}
    log = text(found.get("logName")) or ""
    names = label_names(labels)
    names["node"] = name(text(entry_labels.get(_GOOGLE_NODE)), names["node"])
    said = wrapper(time_in(found, ("timestamp",)), log.rpartition("/")[2], **names)
    source = chr(31).join([log[:512], *(f"{labels[k]}"[:255] for k in sorted(labels)[:20])])
    piece = _split(fields(found.get("split")))
    inner = Inner(content, said, source=source, piece=piece, problem=problem)
    return _one(f"log_entry.{key}", inner, is_sure=False)


def _split(found: Fields | None) -> Piece | None:
    """The piece of an entry that Cloud Logging split."""
    if found is None:
        return None
    index, total = value(found.get("index")) or 0, value(found.get("totalSplits"))
    if not isinstance(index, int) or not isinstance(total, int):
        return None
    return Piece(index + 1 == total, (text(found.get("uid")) or "")[:128], index + 1)


def _elasticsearch(data: bytes, found: Fields) -> Peeled | None:
    listed = items((fields(found["hits"]) or {}).get("hits"))
    return None if listed is None else Peeled(
        "elasticsearch.hits", is_sure=True, inner=_hits(data, listed)
    )  # fmt: skip


def _hits(data: bytes, listed: list[msgspec.Raw]) -> Iterator[Inner]:
    for index, (item, at) in _placed(data, listed):
        source = (fields(item) or {}).get("_source")
        problem = None if is_object(source) else "no_source: expected a hit with its source"
        content = b"" if problem or source is None else _compact(source)
        yield Inner(content, step=f".hits.hits[{index}]._source", at=at, problem=problem)


def _hit(_data: bytes, found: Fields) -> Peeled | None:
    if not is_object(found["_source"]) or found.keys().isdisjoint({"_index", "_id"}):
        return None
    return _one("elasticsearch", Inner(_compact(found["_source"])))


def _azure_records(data: bytes, found: Fields) -> Peeled | None:
    listed = items(found["records"])
    if listed is None or (listed and not is_object(listed[0])):
        return None
    inner = (
        Inner(_compact(item), step=f".records[{index}]", at=at)
        for index, (item, at) in _placed(data, listed)
    )
    return Peeled("azure_records", is_sure=False, inner=inner)


def _azure_properties(_data: bytes, found: Fields) -> Peeled | None:
    """A resource log whose properties hold a log line, such as those of AKS."""
    if found.keys().isdisjoint({"category", "Category", "resourceId"}):
        return None
    raw: bytes | msgspec.Raw = found["properties"]
    if is_text(found["properties"]):
        raw = (text(found["properties"]) or "").encode("utf-8", "replace")
    properties = fields(raw) or {}
    if "log" not in properties:
        return None
    content, problem = _content(properties["log"])
    said = wrapper(
        time_in(found, ("time", "TimeGenerated")),
        text(properties.get("stream")),
        pod_name=name(text(properties.get("pod"))),
    )
    source = chr(31).join(
        (text(properties.get(key)) or "")[:255] for key in ("stream", "pod", "containerID")
    )
    return _one("azure_properties", Inner(content, said, source=source, problem=problem))


_Read = Callable[[bytes, Fields], Peeled | None]
_BY_KEYS: tuple[tuple[frozenset[str], _Read], ...] = (
    (frozenset({"logEvents"}), _cloudwatch),
    (frozenset({"awslogs"}), _lambda),
    (frozenset({"streams"}), _loki_push),
    (frozenset({"data"}), _loki_query),
    (frozenset({"stream", "values"}), _loki_stream),
    (frozenset({"labels", "line"}), _loki_line),
    (frozenset({"_source"}), _hit),
    (frozenset({"hits"}), _elasticsearch),
    (frozenset({"records"}), _azure_records),
    (frozenset({"properties"}), _azure_properties),
    (frozenset({"textPayload"}), _log_entry),
    (frozenset({"jsonPayload"}), _log_entry),
    (frozenset({"LogMessage"}), _container_log),
    (frozenset({"LogEntry"}), _container_log),
)
"""By the keys that an object must have."""

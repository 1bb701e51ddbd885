"""What log stores answer: streams of Loki, hits of Elasticsearch. Many lines in one document."""

from collections.abc import Iterator

import msgspec

from transforms.staging.wrapper_content import Inner, Peeled, compact, content, one, placed
from transforms.staging.wrapper_fields import (
    Fields,
    Time,
    fields,
    is_array,
    is_object,
    is_text,
    items,
    label_names,
    text,
    time_in,
    time_of,
    value,
    wrapper,
    written_labels,
)

_NO_LIST = "wrong_type: expected a list of values, got another value"
_NO_ENTRY = "wrong_type: expected a time and a line, got another value"


def loki_query(data: bytes, found: Fields) -> Peeled | None:
    """The answer of Loki to a query of log lines."""
    answer = fields(found["data"])
    if answer is None or text(answer.get("resultType")) != "streams":
        return None
    streams = items(answer.get("result"))
    if streams is None:
        return None
    return Peeled("loki", is_sure=True, inner=_loki_streams(data, streams, ".data.result"))


def loki_push(data: bytes, found: Fields) -> Peeled | None:
    """What is sent to Loki."""
    streams = items(found["streams"])
    if streams is None or (streams and not _is_stream(streams[0])):
        return None
    return Peeled("loki", is_sure=True, inner=_loki_streams(data, streams, ".streams"))


def loki_stream(data: bytes, found: Fields) -> Peeled | None:
    """One stream of an answer, as `jq '.data.result[]'` prints it."""
    if not is_object(found["stream"]) or not is_array(found["values"]):
        return None
    return Peeled("loki", is_sure=True, inner=_loki_values(data, found, "", (0, len(data))))


def loki_line(_data: bytes, found: Fields) -> Peeled | None:
    """A line of `logcli -o jsonl`."""
    labels = value(found["labels"])
    if not isinstance(labels, dict) or not is_text(found["line"]):
        return None
    record, problem = content(found["line"])
    time = time_in(found, ("timestamp",), "ns")
    said = wrapper(time, labels.get("stream"), **label_names(labels))
    return one("loki.line", Inner(record, said, problem=problem))


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
        yield from _loki_values(data, found, step, (place, place + len(memoryview(stream))))
        place += len(memoryview(stream)) if found_at >= 0 else 0


def _loki_values(data: bytes, found: Fields, step: str, span: tuple[int, int]) -> Iterator[Inner]:
    """Lines of a stream, which stands in a span of the bytes."""
    labels = value(found.get("stream"))
    if not isinstance(labels, dict):
        labels = written_labels(text(found.get("labels")) or "")
    key = "values" if "values" in found else "entries"
    listed = items(found.get(key))
    if listed is None:
        yield Inner(b"", step=step, at=span[0], problem=_NO_LIST)
        return
    source = chr(31).join(f"{name}={labels[name]}"[:512] for name in sorted(labels)[:50])
    in_order = placed(data, listed, span[0])
    if data.find(b" P", *span) >= 0 and _is_newest_first(listed):
        # Pieces of a line can be joined in the order only in which they were written.
        in_order = iter(list(in_order)[::-1])
    for index, (item, at) in in_order:
        where = f"{step}.{key}[{index}]"
        entry = _loki_entry(item)
        if entry is None:
            yield Inner(b"", step=where, at=at, problem=_NO_ENTRY)
            continue
        time, line, more = entry
        record, problem = content(line)
        said = wrapper(time, labels.get("stream"), **label_names({**more, **labels}))
        yield Inner(record, said, where, at, source, problem=problem)


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


def elasticsearch(data: bytes, found: Fields) -> Peeled | None:
    """The answer of Elasticsearch to a search."""
    listed = items((fields(found["hits"]) or {}).get("hits"))
    return None if listed is None else Peeled(
        "elasticsearch.hits", is_sure=True, inner=_hits(data, listed)
    )  # fmt: skip


def _hits(data: bytes, listed: list[msgspec.Raw]) -> Iterator[Inner]:
    for index, (item, at) in placed(data, listed):
        source = (fields(item) or {}).get("_source")
        problem = None if is_object(source) else "no_source: expected a hit with its source"
        record = b"" if problem or source is None else compact(source)
        yield Inner(record, step=f".hits.hits[{index}]._source", at=at, problem=problem)


def elasticsearch_hit(_data: bytes, found: Fields) -> Peeled | None:
    """One hit on a line."""
    if not is_object(found["_source"]) or found.keys().isdisjoint({"_index", "_id"}):
        return None
    return one("elasticsearch", Inner(compact(found["_source"])))

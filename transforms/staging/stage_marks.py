"""Boundaries that applications log of their own stages: download, load, checkpoint, upload.

Sources: OpenTelemetry's conventions for events (`eventName` of a log record, `event.name` in lines
of JSON) and its attribute names; texts of libraries (stage_libraries.py).

* A structured event, a line of JSON or a log record of OTLP, is a mark where its name says a phase
  (`dataset_download_finished`, `model.load.start`) or is of an activity of a run; other events are
  ignored as `other_event`. Objects with `stage` and `phase` or `status` are read alike, and so are
  lines of Polyaxon's stored logs (`value`) and text events (`text`).
* A line of text is a mark where a library wrote it, or where it matches the pattern of
  `record_format` (stage_patterns.py); every other line of a log is ignored as `other_line`. A
  library's mark tells when something began or ended, never how many bytes exactly.
* The time is the record's own, else the wrapper's, else the one that a line of text begins with; a
  time without a zone is UTC. A mark without any is refused.
* Applications write what they like: a value that is not what its name says is null.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any

import msgspec

from transforms.staging import stage_fields as s
from transforms.staging.json_heads import first_value
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_lookups import recognise_records
from transforms.staging.json_records import Item, RecordError, decode, documents
from transforms.staging.otlp_log_records import LogRecord, log_records
from transforms.staging.otlp_values import instant_of_nanoseconds, pairs_of, plain
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    Row,
    Wrapper,
    accepted,
    ignored,
    rejected,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.stage_libraries import LibraryMark, library_marks
from transforms.staging.stage_names import StageName, has_phase, stage_name
from transforms.staging.stage_patterns import LinePattern, expected_form, fields_of, line_pattern
from transforms.staging.values import identity, parse_instant

TABLE = "stage_marks"
MAX_LINE = 1 << 16
HEAD_LINES = 50
CHUNK_LINES = 256
"""Lines that are matched together with a pattern, which takes its engine half a millisecond."""
CHUNK_BYTES = 4 << 20
SHOWN_KEYS = frozenset(
    {
        b"event.name", b"event_name", b"eventName", b"timestamp", b"time", b"level", b"levelname",
        b"timeUnixNano", b"time_unix_nano", b"severityText",
    }
)  # fmt: skip
"""Keys of a refused record whose text an excerpt may show."""

_TEXT_KEYS = ("value", "text", "message", "msg", "log", "body")
_LOOSE_KEYS = ("event", "text", "value", "message", "msg")
"""Keys under which a text may be an event's name; it is one only where it says a phase, too."""
_LOGS = frozenset({"timestamp", "node", "pod", "container", "value"})
_SURE_KEYS = ("event.name", "event_name", "stage")
"""Keys by which events are told; `eventName` is a word of other logs, too."""
_TEXT_EVENT = frozenset({"timestamp", "step", "text"})
_TIME = re.compile(
    r"\s{0,8}\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)"
)
_OBJECT = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)
_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])


class _LogRecord(msgspec.Struct, rename="camel"):
    time_unix_nano: int | str | None = None
    observed_time_unix_nano: int | str | None = None
    event_name: str | None = None
    body: dict[str, Any] | None = None
    attributes: list[Any] | None = None


_LOG_RECORD = msgspec.json.Decoder(_LogRecord)
_Found = list[dict[str, Any]] | str
"""The rows of a record, or the word for which it is left out."""


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    stated = context.record_format
    pattern = line_pattern(stated) if stated else None
    if isinstance(pattern, str):
        for raw in records:
            yield rejected(raw, f"record_format: expected {pattern}")
        return
    source = iter(records)
    while chunk := _chunk(source, pattern):
        texts = [r.data.decode("utf-8", "replace") if _is_line(r) else "" for r in chunk]
        matched = pattern.match(texts) if pattern else [None] * len(chunk)
        for raw, text, groups in zip(chunk, texts, matched, strict=True):
            if raw.data.lstrip()[:1] in {b"{", b"["} and not _is_line(raw):
                yield from _json(raw, context)
            elif not _is_line(raw):
                yield rejected(raw, f"unreadable_line: expected at most {MAX_LINE} bytes")
            else:
                yield _line(raw, text, groups, context)


def _chunk(source: Iterator[RawRecord], pattern: LinePattern | None) -> list[RawRecord]:
    """The next record, or several where a pattern is to be matched."""
    if pattern is None:
        return list(islice(source, 1))
    found: list[RawRecord] = []
    size = 0
    for raw in source:
        found.append(raw)
        size += len(raw.data)
        if len(found) >= CHUNK_LINES or size >= CHUNK_BYTES:
            break
    return found


def _is_line(raw: RawRecord) -> bool:
    """Whether a record is a line of text: a bracket may begin one, such as `[2026-03-10 …`."""
    start = raw.data.lstrip()[:64]
    is_json = start[:1] == b"{" or (start[:1] == b"[" and start[1:].lstrip()[:1] in b'{["')
    return not is_json and len(raw.data) <= MAX_LINE


def _json(raw: RawRecord, context: FileContext) -> Iterator[Parsed]:
    for document in documents(raw):
        if b'"resourceLogs"' in document.data[: 64 << 10]:
            for record in log_records(document):
                if isinstance(record, LogRecord):
                    yield _otlp(record, raw.wrapper, context)
                else:
                    yield record
        elif document.data.lstrip()[:1] == b"[":
            yield from _listed(document, raw.wrapper, context)
        else:
            yield _event(document, raw.wrapper, context)


def _listed(item: Item, wrapper: Wrapper | None, context: FileContext) -> Iterator[Parsed]:
    try:
        parts = decode(_ITEMS, item.data, item.path)
    except RecordError as error:
        yield item.rejected(error, SHOWN_KEYS)
        return
    for index, data in enumerate(parts):
        yield _event(item.part(f"[{index}]", bytes(data)), wrapper, context)


def _event(item: Item, wrapper: Wrapper | None, context: FileContext) -> Parsed:
    """One object of JSON."""
    try:
        values = decode(_OBJECT, item.data, item.path)
        fields = s.flat(values)
        found = _marks(fields, s.event_time(fields), wrapper, context)
        record_id = "" if isinstance(found, str) else _record_id(whole_record_id(item), wrapper)
    except (RecordError, RefusedError) as error:
        return item.rejected(error, SHOWN_KEYS)
    return item.ignored(found) if isinstance(found, str) else item.accepted(_rows(found, record_id))


def _otlp(record: LogRecord, wrapper: Wrapper | None, context: FileContext) -> Parsed:
    """One log record of OTLP; a body of keys and values holds attributes, too."""
    item = record.item
    try:
        values = decode(_LOG_RECORD, item.data, item.path)
        body = plain(values.body)
        fields = s.flat(pairs_of(record.resource)) | s.flat(pairs_of(values.attributes))
        if isinstance(body, dict):
            fields = s.flat(body) | fields
        elif isinstance(body, str):
            fields["body"] = body
        if values.event_name:
            fields["event.name"] = values.event_name
        happened_at = instant_of_nanoseconds(values.time_unix_nano)
        happened_at = happened_at or instant_of_nanoseconds(values.observed_time_unix_nano)
        found = _marks(fields, happened_at, wrapper, context)
        record_id = "" if isinstance(found, str) else _record_id(whole_record_id(item), wrapper)
    except (RecordError, RefusedError) as error:
        return item.rejected(error, SHOWN_KEYS)
    return item.ignored(found) if isinstance(found, str) else item.accepted(_rows(found, record_id))


def _marks(
    fields: Mapping[str, Any],
    happened_at: datetime | None,
    wrapper: Wrapper | None,
    context: FileContext,
) -> _Found:
    """The marks of a structured record.

    Raises:
        RefusedError: It is a mark without any time.
    """
    name = _name(fields)
    found = s.places(fields, wrapper, context)
    if name is not None:
        return [_row(name, found, s.measures(fields), _time(happened_at, wrapper), "event")]
    text = s.first_text(fields, _TEXT_KEYS)
    marks = list(library_marks(text)) if text else []
    if not marks:
        return "other_event" if s.first_text(fields, s.EVENT_KEYS) else "other_line"
    event_at = _time(happened_at, wrapper)
    return [_library_row(mark, found, event_at) for mark in marks]


def _name(fields: Mapping[str, Any]) -> StageName | None:
    """The name of the event that an object tells; none where it tells no boundary."""
    stage = s.first_text(fields, s.STAGE_KEYS)
    stated = s.first_text(fields, s.EVENT_KEYS)
    if stated is not None:
        name = stage_name(stated, stage)
        return name if name and (name.is_of_run or has_phase(name)) else None
    if stage is not None:
        phase = s.first_text(fields, s.PHASE_KEYS)
        name = stage_name(f"{stage}.{phase}") if phase else None
        if name is not None and has_phase(name):
            return name
    for key in _LOOSE_KEYS:
        text = fields.get(key)
        if isinstance(text, str) and " " not in text.strip():
            name = stage_name(text, stage)
            if name is not None and name.is_of_run and has_phase(name):
                return name
    return None


def _line(raw: RawRecord, text: str, groups: dict[str, str] | None, context: FileContext) -> Parsed:
    try:
        found = _of_line(text, groups, raw.wrapper, context)
    except RefusedError as error:
        return refused(raw, error)
    if isinstance(found, str):
        return ignored(raw, found)
    return accepted(raw, *_rows(found, _record_id(text, raw.wrapper)))


def _of_line(
    text: str, groups: dict[str, str] | None, wrapper: Wrapper | None, context: FileContext
) -> _Found:
    found = s.places({}, wrapper, context)
    if groups is not None:
        fields = fields_of(groups)
        name = stage_name(groups.get("event", ""))
        if name is None:
            refuse("event", "a name of letters, digits, dots and underscores")
        event_at = _time(s.event_time(fields), wrapper, text)
        return [_row(name, found, s.measures(fields), event_at, "pattern")]
    marks = list(library_marks(text))
    if not marks:
        return "other_line"
    event_at = _time(None, wrapper, text)
    return [_library_row(mark, found, event_at) for mark in marks]


def _time(stated: datetime | None, wrapper: Wrapper | None, text: str = "") -> datetime:
    """The record's own time, else its wrapper's, else the one that its text begins with.

    Raises:
        RefusedError: There is none.
    """
    found = stated or (wrapper.at if wrapper else None)
    if found is None:
        match = _TIME.match(text)
        found = parse_instant(match[1]) if match else None
    if found is None:
        refuse("no_time", "a time in the record, or around it")
    return found


def _row(
    name: StageName,
    found: Mapping[str, Any],
    measured: Mapping[str, Any],
    event_at: datetime,
    basis: str,
) -> dict[str, Any]:
    outcome = measured["outcome"] or name.outcome
    if outcome is None and measured["error_type"] is not None:
        outcome = "error"
    return {
        **found,
        **measured,
        "event_at": event_at,
        "event_name": name.event_name,
        "activity": name.activity,
        "phase": name.phase,
        "outcome": outcome,
        "basis": basis,
    }


def _library_row(mark: LibraryMark, found: Mapping[str, Any], event_at: datetime) -> dict[str, Any]:
    behind = "" if mark.phase == "point" else f".{mark.phase}"
    return {
        **found,
        **mark.values,
        "event_at": event_at,
        "event_name": f"{mark.activity}{behind}",
        "activity": mark.activity,
        "phase": mark.phase,
        "basis": "library",
        "source_library": mark.source,
    }


def _rows(found: list[dict[str, Any]], record_id: str) -> tuple[Row, ...]:
    return tuple((TABLE, row | {"record_id": record_id}) for row in found)


def _record_id(text: str, wrapper: Wrapper | None) -> str:
    """Id of a record: itself with the time, node and pod that its wrapper supplied, if any."""
    said = wrapper or Wrapper()
    supplied = (said.written, said.node, said.namespace, said.pod_name)
    return identity(text, *supplied) if any(supplied) else identity(text)


def _recognise(head: bytes) -> Recognition:
    first = head.lstrip()[:1]
    if first == b"{" and b'"resourceLogs"' in head:
        return _recognise_otlp(first_value(head))
    found = recognise_records(head, _variant) if first in {b"{", b"["} else Recognition(0)
    if found.score:
        return Recognition(1, found.variant) if found.variant in _UNSURE else found
    for line in head.split(b"\n")[:HEAD_LINES]:
        text = line[:MAX_LINE].decode("utf-8", "replace")
        if text[:1] not in {"{", "["} and next(library_marks(text), None) is not None:
            return Recognition(2, "lines of libraries")
    return Recognition(0)


_UNSURE = ("Polyaxon's stored log", "Polyaxon's text event", "events as JSON by eventName")
"""What other formats hold, too, so that it is read here only where the format is stated."""


def _variant(record: dict[str, Any]) -> str | None:
    if record.keys() == _LOGS:
        return _UNSURE[0]
    if record.keys() == _TEXT_EVENT:
        return _UNSURE[1]
    fields = s.flat(record)
    name = _name(fields)
    if name is None:
        return None
    if s.first_text(fields, _SURE_KEYS):
        return "events as JSON"
    return _UNSURE[2] if "eventName" in fields else None


def _recognise_otlp(value: Any) -> Recognition:  # noqa: ANN401  any JSON value
    for record in _otlp_heads(value):
        stated = record.get("eventName")
        names: list[Any] = [stated]
        for entry in record.get("attributes") or ():
            if isinstance(entry, dict) and entry.get("key") == "event.name":
                text = entry.get("value")
                names.append(text.get("stringValue") if isinstance(text, dict) else None)
        for name in names:
            read = stage_name(name) if isinstance(name, str) else None
            if read is not None and (read.is_of_run or has_phase(read)):
                return Recognition(3, "OTLP logs of events")
    return Recognition(0)


def _otlp_heads(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401  any JSON value
    """Log records of a document's beginning."""
    for resource in _dicts(value, "resourceLogs"):
        for scope in _dicts(resource, "scopeLogs"):
            yield from _dicts(scope, "logRecords")


def _dicts(value: Any, key: str) -> Iterator[dict[str, Any]]:  # noqa: ANN401  any JSON value
    listed = value.get(key) if isinstance(value, dict) else None
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            yield entry


PARSER = Parser(
    name="stage_marks",
    title="Stage marks: what applications log of their stages (JSON, OTLP logs, text)",
    tables=(TABLE,),
    shape="json",
    record="one line, object or log record; lines that bound nothing are ignored",
    cannot_tell=(
        "stages of which an application logs nothing; retries that a library logs at level DEBUG "
        "only; bytes, but where an event states them; the pod, where neither event nor wrapper "
        "names it"
    ),
    recognise=_recognise,
    parse=_parse,
    expected_form=expected_form,
    optional_columns=(
        "elapsed_seconds", "attempts", "bytes", "resource", "outcome", "error_type", "run_uuid",
        "pod_uid",
    ),
)  # fmt: skip

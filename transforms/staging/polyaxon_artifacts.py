"""Rows of a run's artifacts: its lineage, answers with events, and the lines of event files.

The values of events (metrics, texts, charts) are nobody's resource and may be anything, so only
that and when an artifact or event was logged is kept. Shapes: haupt 2.18 (`lineage/artifacts`,
`events/{kind}`), traceml 1.5 (`lineages.plx.json`, `events/{kind}/{name}.plx`).
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

import msgspec

from transforms.redaction import clean_url, path_without_query
from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.kubernetes_metadata import Count, Observed, StatedTimes, observe
from transforms.staging.parser import FileContext, Parsed, Row
from transforms.staging.polyaxon_values import (
    Named,
    Reference,
    content_id,
    name_of,
    run_uuid_of,
)
from transforms.staging.resource_ids import (
    git_resource,
    image_resource,
    object_resource,
    revision_text,
)
from transforms.staging.run_identity import event_file, run_of_folder
from transforms.staging.stored_text import NAME_LIMIT, free_text, name_text
from transforms.staging.values import hex_uuid, identity

EVENT_KINDS = frozenset(
    {
        "artifact", "audio", "chart", "confusion", "csv", "curve", "dataframe", "histogram", "html",
        "image", "metric", "model", "psv", "span", "ssv", "system", "table", "text", "tsv", "video",
    }
)  # fmt: skip
"""Kinds of which events are logged; one of them is the key of an event's value."""
EVENT_HEADER = b"step|timestamp|"

_EVENT_LINE = re.compile(r"-?[0-9.]{0,20}\|([^|]{0,40})\|")
_USERINFO = re.compile(r"\A[^/:@]*:[^/@]*@")
_MISSING = frozenset({"", "None", "NaT", "nan", "null"})
"""How a table of events writes that an event has no time."""


class _RunInfo(msgspec.Struct):
    run: Reference | None = None


class Artifact(msgspec.Struct):
    """An artifact of a run's lineage; what a user may have put into the summary stays undecoded."""

    name: str | None = None
    kind: str | None = None
    path: str | None = None
    state: str | None = None
    summary: dict[str, msgspec.Raw] | None = None
    run: str | Reference | None = None
    meta_info: msgspec.Raw = msgspec.Raw()
    connection: str | Named | None = None
    is_input: bool | None = None


class _Steps(msgspec.Struct):
    count: Count | None = None


class _Range(msgspec.Struct):
    min: str | None = None
    max: str | None = None


class _EventsOfRun(msgspec.Struct):
    """Events of one artifact as an answer holds them: columns, or the text of the event file."""

    name: str | None = None
    kind: str | None = None
    data: msgspec.Raw = msgspec.Raw()


class _Event(msgspec.Struct):
    timestamp: str | None = None


class _Resource(NamedTuple):
    """What an artifact is outside of the run's own folder."""

    kind: str | None = None
    resource_id: str | None = None
    version: str | None = None


class _EventSpan(NamedTuple):
    """How many events there are, and when the first and the last happened."""

    size: int
    first_at: datetime | None
    last_at: datetime | None


ARTIFACT = msgspec.json.Decoder(Artifact)
_RUN_INFO = msgspec.json.Decoder(_RunInfo)
_STEPS = msgspec.json.Decoder(_Steps)
_RANGE = msgspec.json.Decoder(_Range)
_EVENTS_OF_RUN = msgspec.json.Decoder(_EventsOfRun)
_EVENT = msgspec.json.Decoder(_Event)
_TEXT = msgspec.json.Decoder(str)
_BOOL = msgspec.json.Decoder(bool)
_COLUMNS: "msgspec.json.Decoder[dict[str, msgspec.Raw]]" = msgspec.json.Decoder(
    dict[str, msgspec.Raw]
)
_LIST: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])
_TIMES: "msgspec.json.Decoder[list[str | None]]" = msgspec.json.Decoder(list[str | None])


def artifact_rows(item: Item, context: FileContext) -> tuple[Row, ...]:
    """Row of one artifact of a lineage.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    artifact = decode(ARTIFACT, item.data, item.path)
    run_uuid = run_uuid_of(_run_of(artifact, item, context), f"{item.path}.run")
    summary = artifact.summary or {}
    times, count = StatedTimes(item.path), None
    first = last = None
    if _summary_flag(summary, "is_event"):
        where = f"{item.path}.summary"
        count = decode(_STEPS, _member(summary, "step"), f"{where}.step").count
        span = decode(_RANGE, _member(summary, "timestamp"), f"{where}.timestamp")
        ends = (
            times.read(span.min, ".summary.timestamp.min"),
            times.read(span.max, ".summary.timestamp.max"),
        )
        # They are those of the first and the last line, which need not be in order.
        first = min((t for t in ends if t is not None), default=None)
        last = max((t for t in ends if t is not None), default=None)
    observed = observe(context, times.newest)
    resource = _resource(artifact.kind, artifact.path, summary)
    values = {
        "record_id": identity("artifact", run_uuid, observed.at, content_id(item)),
        **_identity(run_uuid, observed, "lineage", artifact.name, artifact.kind),
        "is_input": artifact.is_input,
        "path": path_text(artifact.path),
        "resource_kind": resource.kind,
        "resource_id": resource.resource_id,
        "version": resource.version,
        "content_hash": name_text(_summary_text(summary, "hash")),
        "state": hex_uuid(artifact.state) if artifact.state else None,
        "connection": name_of(artifact.connection),
        "is_dirty": _summary_flag(summary, "is_dirty") if artifact.kind == "coderef" else None,
        "event_count": count,
        "first_event_at": first,
        "last_event_at": last,
    }
    return (("run_artifacts", values),)


def path_text(path: str | None) -> str | None:
    """A path or URL as it is stored: without userinfo, query and fragment."""
    if not path:
        return None
    text = path[: 2 * NAME_LIMIT]
    if "://" in text or text.startswith("//"):
        return name_text(clean_url(text).partition("?")[0])
    return name_text(path_without_query(_USERINFO.sub("", text, count=1)))


# -- events --------------------------------------------------------------------------------------


def events_answer(document: Item, data: bytes, context: FileContext) -> Iterator[Parsed]:
    """One result per artifact in the answer `{"data": …}` of the events of one run, or of several.

    Args:
        document: The answer.
        data: The value of `data`: a list of the folder's run, or lists by run.
        context: The file.

    Raises:
        RecordError: The answer has not the shape of one.
    """
    path = f"{document.path}.data"
    if data[:1] == b"[":
        run = run_of_folder(context.path)
        entries: list[msgspec.Raw] = decode(_LIST, data, path)
        for index, entry in enumerate(entries):
            yield _events_record(document.part(f".data[{index}]", bytes(entry)), run, context)
        return
    for place, (text, value) in enumerate(decode(_COLUMNS, data, path).items()):
        run = hex_uuid(text)
        step = f".data.{text}" if run == text else f".data[{place}]"
        try:
            entries = decode(_LIST, bytes(value), f"{document.path}{step}")
        except RecordError as error:
            yield document.part(step, bytes(value)).rejected(error)
            continue
        for index, entry in enumerate(entries):
            item = document.part(f"{step}[{index}]", bytes(entry))
            yield _events_record(item, run or text, context)


def _events_record(item: Item, run: str | None, context: FileContext) -> Parsed:
    try:
        return item.accepted(_events_rows(item, run, context))
    except RecordError as error:
        return item.rejected(error)


def _events_rows(item: Item, run: str | None, context: FileContext) -> tuple[Row, ...]:
    answer = decode(_EVENTS_OF_RUN, item.data, item.path)
    run_uuid = run_uuid_of(run, "the run in the answer or in the path")
    events = _events_of(bytes(answer.data), item)
    observed = _observed_event(events.last_at, context)
    values = {
        "record_id": identity("events", run_uuid, observed.at, content_id(item)),
        **_identity(run_uuid, observed, "events", answer.name, answer.kind),
        "event_count": events.size,
        "first_event_at": events.first_at,
        "last_event_at": events.last_at,
    }
    return (("run_artifacts", values),)


def _events_of(data: bytes, item: Item) -> _EventSpan:
    """Count the events of an artifact, and find the first and the last."""
    if data[:1] == b'"':
        lines = decode(_TEXT, data, f"{item.path}.data").split("\n")
        texts = [_time_in_line(line) for line in lines if line.strip()]
        in_lines = [text for text in texts if text is not None]
        return _span(in_lines, len(in_lines), item)
    if data in {b"", b"null"}:
        return _span([], 0, item)
    columns = decode(_COLUMNS, data, f"{item.path}.data")
    sizes = [
        len(decode(_LIST, bytes(value), f"{item.path}.data"))
        for value in columns.values()
        if bytes(value)[:1] == b"["
    ]
    times = bytes(columns.get("timestamp", b"null"))
    stated: list[str | None] = []
    if times != b"null":
        stated = decode(_TIMES, times, f"{item.path}.data.timestamp")
    return _span(stated, max(sizes, default=0), item)


def _time_in_line(line: str) -> str | None:
    """Time of a line of an event file, empty where it has none; null for a line that is none."""
    match = _EVENT_LINE.match(line)
    if match is not None:
        return match[1]
    if line[:1] == "{":
        try:
            return _EVENT.decode(line).timestamp or ""
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
    return None


def _span(texts: Iterable[str | None], size: int, item: Item) -> _EventSpan:
    times = StatedTimes(item.path)
    first: datetime | None = None
    for text in texts:
        if text is None or text.strip() in _MISSING:
            continue
        instant = times.read(text.strip(), ".data")
        if instant is not None and (first is None or instant < first):
            first = instant
    return _EventSpan(size, first, times.newest)


def event_line(item: Item, context: FileContext) -> Parsed:
    """One line `step|timestamp|value` of an event file."""
    if item.data.startswith(EVENT_HEADER):
        return item.ignored("header")
    line = identity(item.data.decode("utf-8", "replace"))
    match = _EVENT_LINE.match(item.data[:128].decode("utf-8", "replace"))
    # A value may be any text; an excerpt ends before it.
    shown = item._replace(data=match[0].encode() if match else b"")
    if match is None:
        return shown.rejected("wrong_event: expected step|timestamp|value, got other text at $")
    return _event_record(shown, line, match[1].strip(), None, context)


def json_event(item: Item, kind: str, context: FileContext) -> Parsed:
    """One line `{"timestamp": …, "step": …, "text": …}` of an event file."""
    try:
        text = decode(_EVENT, item.data, item.path).timestamp or ""
        line = content_id(item)
    except RecordError as error:
        return item.rejected(error)
    return _event_record(item, line, text, kind, context)


def _event_record(
    item: Item, line: str, text: str, kind: str | None, context: FileContext
) -> Parsed:
    try:
        file = event_file(context.path)
        run_uuid = run_uuid_of(file.run_uuid, "the run's folder in the path")
        times = StatedTimes(item.path)
        happened = times.read("" if text in _MISSING else text, ".timestamp")
    except RecordError as error:
        return item.rejected(error)
    observed = _observed_event(happened, context)
    values = {
        "record_id": identity("event", run_uuid, file.kind, file.name, observed.at, line),
        **_identity(run_uuid, observed, "event_file", file.name, file.kind or kind),
        "event_count": 1,
        "first_event_at": happened,
        "last_event_at": happened,
    }
    return item.accepted((("run_artifacts", values),))


def _observed_event(happened: datetime | None, context: FileContext) -> Observed:
    """An event that happened says nothing more when it is exported again."""
    if happened is not None:
        return Observed(happened, "record")
    return observe(context, None)


# -- parts ---------------------------------------------------------------------------------------


def _identity(
    run_uuid: str, observed: Observed, stated_in: str, name: str | None, kind: str | None
) -> dict[str, object]:
    return {
        "observed_at": observed.at,
        "observed_basis": observed.basis,
        "stated_in": stated_in,
        "run_uuid": run_uuid,
        "name": free_text(name),
        "kind": free_text(kind),
    }


def _run_of(artifact: Artifact, item: Item, context: FileContext) -> str | None:
    """The run that an artifact states, else the run in whose folder the lineage lies."""
    run = artifact.run
    stated = run.uuid if isinstance(run, Reference) else run
    if not stated and bytes(artifact.meta_info)[:1] == b"{":
        of_run = decode(_RUN_INFO, bytes(artifact.meta_info), f"{item.path}.meta_info").run
        stated = of_run.uuid if of_run else None
    return stated or run_of_folder(context.path)


def _resource(kind: str | None, path: str | None, summary: dict[str, msgspec.Raw]) -> _Resource:
    if kind == "coderef":
        commit = _summary_text(summary, "commit")
        url = _summary_text(summary, "url")
        found = git_resource(url, commit) if url else None
        return _Resource("git" if found else None, found, revision_text(commit))
    if kind == "docker_image":
        reference = _summary_text(summary, "image")
        image = image_resource(reference) if reference else None
        return _Resource("image", image.resource_id, image.version) if image else _Resource()
    for text in (path, _summary_text(summary, "path")):
        found = object_resource(text) if text else None
        if found is not None:
            return _Resource("bucket", found)
    return _Resource()


def _member(summary: dict[str, msgspec.Raw], name: str) -> bytes:
    value = bytes(summary.get(name, b"{}"))
    return b"{}" if value == b"null" else value


def _summary_text(summary: dict[str, msgspec.Raw], name: str) -> str | None:
    """A text of a summary, which a user may have filled with anything."""
    try:
        return _TEXT.decode(summary[name]) or None if name in summary else None
    except (msgspec.DecodeError, UnicodeError):
        return None


def _summary_flag(summary: dict[str, msgspec.Raw], name: str) -> bool | None:
    try:
        return _BOOL.decode(summary[name]) if name in summary else None
    except (msgspec.DecodeError, UnicodeError):
        return None

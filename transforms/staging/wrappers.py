r"""Take off what a container runtime or a log shipper put around a line.

Known wrappers: CRI log lines (`<RFC 3339 time> stdout|stderr P|F <text>`), Docker's json-file
(`{"log": "…\n", "stream": "stdout", "time": "…"}`) and the JSON of log shippers with a text under
`log` or `message`. A line with none of them is its own text.

A runtime cuts long lines into pieces: CRI tags all but the last with `P`, Docker leaves the line
end off. Pieces of one stream are joined within a file; the joined text belongs to the record that
ends it, the pieces before it are ignored as `partial`. A line that never ends is refused. To stay
in source order, records behind an unfinished line wait for it, but only so many.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from transforms.staging.json_records import RecordError, malformed_at, rejected_masked
from transforms.staging.parser import Parsed, RawRecord, ignored, rejected
from transforms.staging.refusal import RefusedError, refused
from transforms.staging.stored_text import name_text
from transforms.staging.values import instant_of_microseconds, parse_instant

MAX_WAITING = 10_000
"""Records that wait for an unfinished line to end."""
MAX_JOINED = 1 << 20
"""Characters of a joined line."""
DOCKER_PIECE = 16_384
"""Docker cuts at this many bytes; a shorter text without a line end is whole."""

_CRI = re.compile(rb"(\S{20,40}) (stdout|stderr) ([FP])(?::\S*)?(?: (.*))?\Z", re.DOTALL)
_TEXT_KEYS = ("log", "message")
SHOWN_KEYS = frozenset(
    {b"@timestamp", b"date", b"log", b"message", b"stream", b"time", b"timestamp"}
)
"""Keys whose text an excerpt may show; shippers add labels and annotations beside them."""
_TIME_KEYS = ("time", "timestamp", "@timestamp", "date")


class Unwrapped(NamedTuple):
    """A record without its wrapper.

    Attributes:
        raw: The record; for a joined line the record that ends it, with the whole text.
        wrapped_at: Time that the wrapper states; none without one.
        text: The text, without line end.
        stamp: The wrapper's time as written, for the identity of the record.
        node: Node that the wrapper names.
        verdict: Set where the record is no line of its own or cannot be read; text is then empty.
    """

    raw: RawRecord
    wrapped_at: datetime | None
    text: str
    stamp: str | None = None
    node: str | None = None
    verdict: Parsed | None = None


@dataclass(slots=True)
class _Waiting:
    """A record in source order whose result may not be known yet."""

    line: Unwrapped
    head: bytes
    result: Unwrapped | None = None


class _Line(NamedTuple):
    unwrapped: Unwrapped
    stream: str
    is_piece: bool
    head: bytes


def unwrap(records: Iterable[RawRecord]) -> Iterator[Unwrapped]:
    """Take wrappers off and join pieces; yields one result per record, in source order."""
    waiting: deque[_Waiting] = deque()
    pieces: dict[str, list[_Waiting]] = {}
    sizes: dict[str, int] = {}
    for raw in records:
        line = _read(raw)
        if not waiting and not line.is_piece:
            yield line.unwrapped
            continue
        entry = _Waiting(line.unwrapped, line.head)
        waiting.append(entry)
        if line.is_piece:
            pieces.setdefault(line.stream, []).append(entry)
            sizes[line.stream] = sizes.get(line.stream, 0) + len(line.unwrapped.text)
            if sizes[line.stream] > MAX_JOINED:
                _give_up(pieces.pop(line.stream))
                del sizes[line.stream]
        elif line.unwrapped.verdict is None and line.stream in pieces:
            entry.result = _joined(pieces.pop(line.stream), entry)
            del sizes[line.stream]
        else:
            entry.result = line.unwrapped
        if len(waiting) > MAX_WAITING:
            for stream in list(pieces):
                _give_up(pieces.pop(stream))
            sizes.clear()
        yield from _finished(waiting)
    for entries in pieces.values():
        _give_up(entries)
    yield from _finished(waiting)


def _finished(waiting: deque[_Waiting]) -> Iterator[Unwrapped]:
    while waiting and waiting[0].result is not None:
        yield waiting[0].result
        waiting.popleft()


def _joined(before: list[_Waiting], last: _Waiting) -> Unwrapped:
    for entry in before:
        entry.result = _settled(entry.line, ignored(entry.line.raw, "partial"))
    text = "".join(entry.line.text for entry in (*before, last))
    data = last.head + text.encode("utf-8", "replace")
    return last.line._replace(text=text, raw=last.line.raw._replace(data=data))


def _give_up(entries: list[_Waiting]) -> None:
    for entry in entries:
        # The text of a piece is not shown: a secret may be cut in it beyond recognition.
        raw = entry.line.raw._replace(data=entry.head)
        reason = "unfinished_line: expected a record that ends this line, got none"
        entry.result = _settled(entry.line, rejected(raw, reason))


def _settled(line: Unwrapped, verdict: Parsed) -> Unwrapped:
    return line._replace(text="", verdict=verdict)


def _read(raw: RawRecord) -> _Line:
    if raw.data.lstrip()[:1] == b"{":
        return _read_json(raw)
    match = _CRI.match(raw.data)
    stamp = match[1].decode("utf-8", "replace") if match else ""
    at = parse_instant(stamp)
    if match is None or at is None:
        text = raw.data.decode("utf-8", "replace").rstrip("\r\n")
        return _Line(Unwrapped(raw, None, text), "", is_piece=False, head=b"")
    text = (match[4] or b"").decode("utf-8", "replace").rstrip("\r\n")
    line = Unwrapped(raw, at, text, stamp)
    head = raw.data[: match.end(3)] + b" "
    return _Line(line, match[2].decode(), is_piece=match[3] == b"P", head=head)


def _read_json(raw: RawRecord) -> _Line:
    try:
        value = msgspec.json.decode(raw.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = "invalid_json: expected JSON, got a line that begins like it"
        broken_at = malformed_at(str(error), raw.data)
        return _refused(raw, RecordError(reason, raw.data, broken_at))
    if not isinstance(value, dict):
        return _refused(raw, "not_an_object: expected an object with a text")
    text = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
    if text is None:
        return _refused(raw, "no_text: expected a text under log or message")
    at, stamp = _time(value)
    is_piece = value.get("_p") == "P" or value.get("_partial") is True or _is_tagged_piece(value)
    if value.keys() <= {"log", "stream", "time", "attrs"}:
        is_piece = not text.endswith("\n") and len(text.encode("utf-8", "replace")) >= DOCKER_PIECE
    line = Unwrapped(raw, at, text.rstrip("\r\n"), stamp, _node(value))
    stream = value.get("stream")
    return _Line(line, stream if isinstance(stream, str) else "", is_piece, b"")


def _refused(raw: RawRecord, reason: str | RecordError) -> _Line:
    line = Unwrapped(raw, None, "", verdict=refused_line(raw, reason))
    return _Line(line, "", is_piece=False, head=b"")


def refused_line(raw: RawRecord, problem: str | RecordError | RefusedError) -> Parsed:
    """Refuse a line, wrapped or not; beside the text of a wrapper in JSON, nothing of it shows."""
    if raw.data.lstrip()[:1] == b"{":
        return rejected_masked(raw, problem, SHOWN_KEYS)
    if isinstance(problem, RefusedError):
        return refused(raw, problem)
    return rejected(raw, str(problem))


def _is_tagged_piece(value: dict[str, Any]) -> bool:
    tag = value.get("logtag")
    return isinstance(tag, str) and tag.partition(":")[0] == "P"


def _time(value: dict[str, Any]) -> tuple[datetime | None, str | None]:
    """The first key that holds a time: RFC 3339, or seconds since 1970 as Fluent Bit writes."""
    for key in _TIME_KEYS:
        stated = value.get(key)
        at = None
        if isinstance(stated, str):
            at = parse_instant(stated)
        elif isinstance(stated, int | float) and 1 < stated < 10**11:
            at = instant_of_microseconds(round(stated * 1_000_000))
        if at is not None:
            return at, str(stated)
    return None, None


def _node(value: dict[str, Any]) -> str | None:
    """Node as Fluent Bit, Vector and Filebeat state it; at most 253 characters."""
    kubernetes = value.get("kubernetes")
    if not isinstance(kubernetes, dict):
        return None
    node = kubernetes.get("node")
    stated = (
        kubernetes.get("host"),
        kubernetes.get("pod_node_name"),
        node.get("name") if isinstance(node, dict) else None,
    )
    return name_text(next((n for n in stated if isinstance(n, str) and _NODE.fullmatch(n)), None))


_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")

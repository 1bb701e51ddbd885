"""Records of text without their wrappers, for parsers of lines.

Landing takes wrappers off before parsing (`wrapped_files`); what they said then stands in
`RawRecord.wrapper`. A line that comes with its wrapper loses it here: CRI log lines, Docker's
json-file, and the JSON of log shippers with a text under `log` or `message`. A line with none of
them is its own text.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

import msgspec

from transforms.staging.json_records import RecordError, malformed_at, rejected_masked
from transforms.staging.line_pieces import Line, join_pieces
from transforms.staging.parser import Parsed, RawRecord, ignored, rejected
from transforms.staging.refusal import RefusedError, refused
from transforms.staging.wrapper_fields import fields
from transforms.staging.wrapper_kinds import peel

SHOWN_KEYS = frozenset(
    {b"@timestamp", b"date", b"log", b"message", b"stream", b"time", b"timestamp"}
)
"""Keys whose text an excerpt may show; shippers add labels and annotations beside them."""

_CRI_HEAD = re.compile(rb"\S{20,40} (?:stdout|stderr) [FP](?=[ :]|\Z)")
_KINDS = frozenset({"cri", "docker", "shipper.log", "shipper.message"})


class Unwrapped(NamedTuple):
    """A record without its wrapper.

    Attributes:
        raw: The record; for a joined line the record that ends it, with the whole text.
        wrapped_at: Time that the wrapper states; none without one.
        text: The text, without line end.
        stamp: The wrapper's time in nanoseconds since 1970, for the identity of the record: equal
            however a wrapper writes it.
        node: Node that the wrapper names.
        verdict: Set where the record is no line of its own or cannot be read; text is then empty.
        pod_name: Pod that the wrapper names.
    """

    raw: RawRecord
    wrapped_at: datetime | None
    text: str
    stamp: str | None = None
    node: str | None = None
    verdict: Parsed | None = None
    pod_name: str | None = None


def unwrap(
    records: Iterable[RawRecord], own: Callable[[RawRecord], Parsed | None] | None = None
) -> Iterator[Unwrapped]:
    """Take wrappers off and join pieces; yields one result per record, in source order.

    Args:
        records: The records.
        own: Reads an object that is no wrapper of a line but may be a line itself; none where it is
            no line either. Its result is the verdict.
    """
    return join_pieces((_read(raw, own) for raw in records), _OUTCOMES)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\r\n")


def _read(raw: RawRecord, own: Callable[[RawRecord], Parsed | None] | None) -> Line[Unwrapped]:
    if raw.wrapper is not None:
        return Line(_said(raw, raw.data))
    is_json = raw.data.lstrip()[:1] == b"{"
    peeled = peel(raw.data)
    inner = None if peeled is None or peeled.kind not in _KINDS else next(peeled.inner)
    if inner is None or inner.problem is not None:
        found = own(raw) if own is not None and is_json else None
        if found is not None:
            return Line(Unwrapped(raw, None, "", verdict=found))
        if inner is not None and inner.problem is not None:
            return Line(_refused(raw, inner.problem))
        return Line(_without_text(raw) if is_json else Unwrapped(raw, None, _text(raw.data)))
    item = _said(raw._replace(wrapper=inner.wrapper), inner.data)
    return Line(item._replace(raw=raw), inner.data, inner.source, inner.piece)


def _said(raw: RawRecord, text: bytes) -> Unwrapped:
    """A record with what its wrapper said."""
    said = raw.wrapper
    if said is None:
        return Unwrapped(raw, None, _text(text))
    stamp = None if said.nanoseconds is None else str(said.nanoseconds)
    return Unwrapped(raw, said.at, _text(text), stamp, said.node, pod_name=said.pod_name)


def _without_text(raw: RawRecord) -> Unwrapped:
    if fields(raw.data) is not None:
        return _refused(raw, "no_text: expected a text under log or message")
    reason = "invalid_json: expected JSON, got a line that begins like it"
    try:
        msgspec.json.decode(raw.data)
    except (ValueError, RecursionError) as error:
        return _refused(raw, RecordError(reason, raw.data, malformed_at(str(error), raw.data)))
    return _refused(raw, reason)


class _Pieces:
    """What becomes of pieces of lines."""

    def joined(self, item: Unwrapped, text: bytes) -> Unwrapped:
        """The record that ends a line, with the whole text behind what the runtime wrote."""
        raw = item.raw._replace(data=_head(item.raw.data) + text)
        return item._replace(raw=raw, text=_text(text))

    def part(self, item: Unwrapped) -> Unwrapped:
        """A piece whose text went into a later record."""
        return item._replace(text="", verdict=ignored(item.raw, "partial"))

    def refused(self, item: Unwrapped, reason: str) -> Unwrapped:
        """A piece of a line that cannot be read: a secret may be cut in it, so it is not shown."""
        raw = item.raw._replace(data=_head(item.raw.data))
        return item._replace(text="", verdict=rejected(raw, reason))


_OUTCOMES = _Pieces()


def _head(data: bytes) -> bytes:
    """What CRI writes in front of a text."""
    match = _CRI_HEAD.match(data)
    return b"" if match is None else match[0] + b" "


def _refused(raw: RawRecord, reason: str | RecordError) -> Unwrapped:
    return Unwrapped(raw, None, "", verdict=refused_line(raw, reason))


def refused_line(raw: RawRecord, problem: str | RecordError | RefusedError) -> Parsed:
    """Refuse a line, wrapped or not; beside the text of a wrapper in JSON, nothing of it shows."""
    if raw.data.lstrip()[:1] == b"{":
        return rejected_masked(raw, problem, SHOWN_KEYS)
    if isinstance(problem, RefusedError):
        return refused(raw, problem)
    return rejected(raw, str(problem))

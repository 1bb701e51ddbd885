"""Files whose records stand in wrappers: which wrappers they are, and the records without them.

Which wrappers a file has is told by its beginning: those behind which a format is recognised. Each
record is then taken out of its own wrappers, at most MAX_DEPTH deep. One that stands in other
wrappers than the beginning, or in none, is taken out as far as it is sure what they are, or as far
as the format recognises it; what then is no record of the format is its parser's to refuse, and
other JSON is refused here, as a parser of lines would show what a shipper puts beside them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from transforms.staging.json_heads import completed, whole_parts
from transforms.staging.json_records import RecordError, documents, malformed_at, rejected_masked
from transforms.staging.line_pieces import Line, join_pieces
from transforms.staging.parser import Parsed, Parser, RawRecord, Recognition, ignored, rejected
from transforms.staging.wrapper_content import Inner, Peeled
from transforms.staging.wrapper_fields import fields, merged
from transforms.staging.wrapper_kinds import LABELS, peel

MAX_DEPTH = 4
"""Wrappers around one record, at most; arrays and objects behind each other are none."""
SHOWN_KEYS = frozenset({b"@timestamp", b"date", b"stream", b"time", b"timestamp"})
"""Keys whose text an excerpt of a refused wrapper may show. What a text under `log` holds may be
JSON in which a secret of any shape stands."""

_MAX_STAGES = MAX_DEPTH + 2
_MAX_LINES = 200
"""Lines of a beginning that are judged."""
_MAX_BYTES = 1 << 20
"""The same bound for lines that were packed."""
_SHAPELESS = frozenset({"array", "concatenated"})
_IN_SAME_DOCUMENT = frozenset({"array", "azure_records", "concatenated", "elasticsearch.hits"})
_TEXT_WRAPPERS = re.compile(r"cri|docker|shipper\.(?:log|message)|fluent_file|concatenated")
_LIST_DEPTHS = {
    "array": (1,),
    "azure_records": (2,),
    "cloudwatch": (2,),
    "elasticsearch.hits": (3,),
    "loki": (2, 4, 5),
}
"""Brackets around the records of lists that many records share."""
_MAX_LIST_DEPTH = 5
_TORN = "invalid_json: expected the rest of a list, got something else"
_BOM = b"\xef\xbb\xbf"

Chain = tuple[str, ...]
"""Kinds of wrappers, from the outside in."""
Recognise = Callable[[bytes], Recognition]


@dataclass(frozen=True)
class Wrapping:
    """Wrappers that the beginning of a file shows.

    Attributes:
        chain: The wrappers.
        is_sure: Whether the outermost cannot be anything else.
        lines: Beginnings of what stands in them.
    """

    chain: Chain
    is_sure: bool
    lines: tuple[bytes, ...]

    @property
    def label(self) -> str:
        """The wrappers for people, from the inside out; empty where lists are all they are."""
        names = [LABELS[kind.partition(".")[0]] for kind in reversed(self.chain)]
        return " in ".join(name for name in names if name != LABELS["array"])

    @property
    def holds_json(self) -> bool:
        """Whether what stands in them is JSON."""
        return any(_is_json(line) for line in self.lines)

    def recognition(self, recognise: Recognise) -> Recognition:
        """How surely what stands in the wrappers is of a format.

        Lines that are not of it may stand in front of the first that is.
        """
        json_lines = [line for line in self.lines if _is_json(line)]
        best = Recognition(0)
        for lines in (self.lines, *(json_lines[start:] for start in range(4))):
            if lines and (found := recognise(b"\n".join(lines) + b"\n")).score > best.score:
                best = found
            if best.score:
                break
        return best


class _Open(NamedTuple):
    """A record from which wrappers may still come off.

    Attributes:
        raw: The record, without the wrappers of its chain.
        chain: Wrappers that came off.
        verdict: Set where it is no record of its own or cannot be read.
        is_done: Whether nothing more comes off.
        is_verbatim: Whether its bytes stand in the file as they are, so that places in them count.
    """

    raw: RawRecord
    chain: Chain = ()
    verdict: Parsed | None = None
    is_done: bool = False
    is_verbatim: bool = True


_Decide = Callable[[_Open, Peeled], bool]
"""Whether a wrapper that was found around a record comes off."""


def wrappings(head: bytes) -> list[Wrapping]:
    """The wrappers that the beginning of a file shows, each with what stands in it.

    Args:
        head: The first bytes of the text, which may end anywhere.
    """
    opened = [_Open(raw) for raw in _head_records(head)]
    total = len(opened)
    found: dict[Chain, list[bytes]] = {}
    sure: set[Chain] = set()
    torn = 0

    def decide(item: _Open, peeled: Peeled) -> bool:
        nonlocal torn
        if peeled.is_sure:
            sure.add((*item.chain, peeled.kind))
        torn += peeled.kind == "concatenated"
        return True

    for level in range(_MAX_STAGES):
        opened = list(_stage(opened, decide, limit=_MAX_LINES))
        for item in opened:
            if len(item.chain) == level + 1:
                lines = found.setdefault(item.chain, [])
                size = sum(len(line) for line in lines)
                if item.verdict is None and len(lines) < _MAX_LINES and size < _MAX_BYTES:
                    lines.append(item.raw.data)
    # A line that is torn holds two objects, too; it does not make a file one without line ends.
    has_line_ends = torn < total or (total == 1 and not _is_next_concatenated(head))
    return [
        Wrapping(chain, chain[:1] in sure, tuple(lines))
        for chain, lines in found.items()
        if not (has_line_ends and chain[0] == "concatenated")
    ]


def _is_next_concatenated(head: bytes) -> bool:
    """Whether the line behind the first one holds several objects, too, if there is one."""
    rest = head.strip().partition(b"\n")[2].lstrip().partition(b"\n")[0]
    peeled = peel(rest) if rest else None
    return not rest or (peeled is not None and peeled.kind == "concatenated")


def wrapping_for(
    parser: Parser, head: bytes, found: Sequence[Wrapping] | None = None
) -> Wrapping | None:
    """The wrappers to take off before a parser reads a file; none where it reads it as it is.

    A format that is a log entry or a list of records itself is read as it is.

    Args:
        parser: The parser.
        head: The first bytes of the text.
        found: The wrappers that they show, where those are known.
    """
    found = wrappings(head) if found is None else found
    if not found:
        return None
    as_it_is = parser.recognise(head).score
    scored = [(item.recognition(parser.recognise).score, item) for item in found]
    score, best = max(scored, key=lambda pair: (pair[0], -len(pair[1].chain)))
    if score:
        comes_off = _TEXT_WRAPPERS.fullmatch(best.chain[0]) is not None
        if best.chain[0] == "concatenated" and parser.shape == "lines":
            comes_off = False  # A parser of lines says itself what it makes of a glued line.
        if score < as_it_is or (score == as_it_is and not comes_off):
            return None
        return _innermost(best, [item for reached, item in scored if reached == score])
    best = max(found, key=lambda item: (len(item.lines), len(item.chain)))
    return best if as_it_is == 0 and best.is_sure else None


def _innermost(best: Wrapping, equal: Sequence[Wrapping]) -> Wrapping:
    """The wrapping without the text wrappers behind it, which some parsers of lines know, too."""
    for item in sorted(equal, key=lambda item: len(item.chain)):
        if item.chain[:-1] == best.chain and _TEXT_WRAPPERS.fullmatch(item.chain[-1]):
            best = item
    return best


def is_document(head: bytes) -> bool:
    """Whether a text that begins with a bracket is one document over several lines.

    A line end stands in a document between a bracket or comma and what follows; a torn line ends
    anywhere else, and the next one begins anew.
    """
    first, line_end, rest = head.removeprefix(_BOM).lstrip().partition(b"\n")
    if not line_end:
        return False
    second = rest.lstrip()[:1]
    return first.rstrip()[-1:] in {b"{", b"[", b",", b":"} or second in {b"}", b"]", b",", b":"}


def take_off(
    records: Iterable[RawRecord], wrapping: Wrapping, recognise: Recognise
) -> Iterator[RawRecord | Parsed]:
    """Take wrappers off; pieces and what cannot be read become results, all in source order.

    Args:
        records: Lines of the file, or its one document.
        wrapping: Wrappers that its beginning shows.
        recognise: Recognises the format, for records in other wrappers.
    """
    chain, holds_json = _families(wrapping.chain), wrapping.holds_json

    def decide(item: _Open, peeled: Peeled) -> bool:
        # One log store's entries may hold a text or an object; both are in the same wrapper.
        if chain[: len(item.chain) + 1] == _families((*item.chain, peeled.kind)):
            return True
        if peeled.is_sure:
            return True
        if recognise(item.raw.data).score > 0:
            return False
        again = peel(item.raw.data)
        first = None if again is None else next(again.inner, None)
        return first is not None and recognise(first.data).score > 0

    def is_needless(item: _Open) -> bool:
        return _families(item.chain) == chain and (holds_json or not _is_json(item.raw.data))

    opened: Iterator[_Open] = (_Open(raw) for record in records for raw in _whole_documents(record))
    for _ in range(_MAX_STAGES):
        opened = _stage(opened, decide, is_needless)
    for item in opened:
        if item.verdict is not None:
            yield item.verdict
        elif not item.raw.data.strip():
            yield ignored(item.raw, "blank")
        elif is_needless(item) or not _is_json(data := item.raw.data) or recognise(data).score:
            yield item.raw
        elif not wrapping.label and fields(data) is not None:
            yield item.raw  # What stands beside a list is judged by the parser, too.
        else:
            yield _refused(item.raw, wrapping)


def _families(chain: Chain) -> Chain:
    """Wrappers without the key under which each holds its record."""
    return tuple(kind.partition(".")[0] for kind in chain)


def _whole_documents(raw: RawRecord) -> Iterator[RawRecord]:
    """Indented documents that stand behind each other, one by one."""
    for item in documents(raw):
        yield raw._replace(locator=item.locator, offset=item.offset or 0, data=item.data)


def _refused(raw: RawRecord, wrapping: Wrapping) -> Parsed:
    if fields(raw.data) is None and raw.data.lstrip()[:1] == b"{":
        return _refused_as(raw, _broken(raw.data))
    expected = wrapping.label or "a list"
    return _refused_as(raw, f"other_json: expected a record in {expected}, got other JSON")


def _broken(data: bytes) -> RecordError:
    """Why bytes that begin like JSON are none."""
    reason = "invalid_json: expected JSON, got a record that begins like it"
    try:
        msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        return RecordError(reason, data, malformed_at(str(error), data))
    return RecordError(reason)


def _refused_as(raw: RawRecord, problem: str | RecordError) -> Parsed:
    return rejected_masked(raw, problem, SHOWN_KEYS)


def _is_json(data: bytes) -> bool:
    return data[:64].lstrip()[:1] in {b"{", b"["}


def _never(_: _Open) -> bool:
    return False


def _stage(
    opened: Iterable[_Open],
    decide: _Decide,
    is_needless: Callable[[_Open], bool] = _never,
    limit: int | None = None,
) -> Iterator[_Open]:
    """Take one wrapper off each record that has one, and join what it cut."""
    return join_pieces(_peeled(opened, decide, is_needless, limit), _OUTCOMES)


def _peeled(
    opened: Iterable[_Open],
    decide: _Decide,
    is_needless: Callable[[_Open], bool],
    limit: int | None,
) -> Iterator[Line[_Open]]:
    for item in opened:
        depth = sum(kind not in _SHAPELESS for kind in item.chain)
        if item.verdict is not None or item.is_done or is_needless(item) or depth >= MAX_DEPTH:
            yield Line(item)
            continue
        peeled = peel(item.raw.data)
        torn_at = None
        if peeled is None and _is_json(item.raw.data):
            peeled, torn_at = _whole_part(item.raw.data)
        is_again = peeled is not None and peeled.kind in _SHAPELESS and peeled.kind in item.chain
        if peeled is None or is_again or not decide(item, peeled):
            yield Line(item._replace(is_done=True))
            continue
        yield from _inner(item, peeled, limit)
        if torn_at is not None:
            # What is left of it may be cut anywhere, also inside of a secret: it is not shown.
            raw = item.raw._replace(offset=item.raw.offset + torn_at, data=b"")
            yield Line(item._replace(verdict=rejected(raw, _TORN), is_done=True))


def _whole_part(data: bytes) -> tuple[Peeled | None, int | None]:
    """The records of a list that breaks off that stand whole in it, and where they end."""
    error = _broken(data)
    if error.at is None:
        return None, None
    for depth, end, part in whole_parts(data[: error.at], _MAX_LIST_DEPTH):
        peeled = peel(part)
        if peeled is not None and depth in _LIST_DEPTHS.get(peeled.kind, ()):
            return peeled, end
    return None, None


def _inner(item: _Open, peeled: Peeled, limit: int | None) -> Iterator[Line[_Open]]:
    count = 0
    chain = (*item.chain, peeled.kind)
    for inner in peeled.inner:
        if limit is not None and count >= limit:
            return
        count += 1
        yield _line(item, inner, chain)
    if not count:
        verdict = ignored(item.raw._replace(data=b""), "empty")
        yield Line(item._replace(chain=chain, verdict=verdict, is_done=True))


def _line(item: _Open, inner: Inner, chain: Chain) -> Line[_Open]:
    outer = item.raw
    locator, offset = outer.locator, outer.offset
    if inner.step:
        locator = _locator(outer.locator, inner.step, chain)
        offset += inner.at if item.is_verbatim else 0
    raw = RawRecord(locator, offset, inner.data, merged(outer.wrapper, inner.wrapper))
    is_verbatim = item.is_verbatim and outer.data.startswith(inner.data, inner.at)
    opened = _Open(raw, chain, is_verbatim=is_verbatim)
    if inner.problem is not None:
        verdict = _refused_as(raw, inner.problem)
        return Line(opened._replace(verdict=verdict, is_done=True))
    if inner.left_out is not None:
        return Line(opened._replace(verdict=ignored(raw, inner.left_out), is_done=True))
    # Pieces are joined within what stood in the same wrappers.
    source = f"{_said(outer)}{chr(30)}{inner.source}"
    return Line(opened, inner.data, source, inner.piece)


def _said(raw: RawRecord) -> str:
    """What outer wrappers say of the writer: pieces of two containers never belong together."""
    said = raw.wrapper
    return "" if said is None else chr(31).join(part or "" for part in said[3:])


def _locator(outer: str, step: str, chain: Chain) -> str:
    """The place of a record in what held it: a path in the same document, or in a text in it."""
    in_same = len(chain) > 1 and chain[-2] in _IN_SAME_DOCUMENT
    if outer == "$" or in_same:
        return f"{outer}{step}"
    return f"{outer} ${step}"


class _Pieces:
    """What becomes of pieces of lines."""

    def joined(self, item: _Open, text: bytes) -> _Open:
        """The record that ends a line, with the whole text."""
        return item._replace(raw=item.raw._replace(data=text), is_verbatim=False)

    def part(self, item: _Open) -> _Open:
        """A piece whose text went into a later record."""
        raw = item.raw._replace(data=b"")
        return item._replace(raw=raw, verdict=ignored(raw, "partial"), is_done=True)

    def refused(self, item: _Open, reason: str) -> _Open:
        """A piece of a line that cannot be read: a secret may be cut in it, so it is not shown."""
        raw = item.raw._replace(data=b"")
        return item._replace(raw=raw, verdict=rejected(raw, reason), is_done=True)


_OUTCOMES = _Pieces()


def _head_records(head: bytes) -> Iterator[RawRecord]:
    """Records of the beginning of a file, without the one in which it ends."""
    text = head.removeprefix(_BOM)
    if _is_json(text) and is_document(text) and fields(text.lstrip().partition(b"\n")[0]) is None:
        yield RawRecord("$", 0, completed(text))
        return
    lines = text.split(b"\n")
    if len(lines) > 1:
        lines.pop()
    given = 0
    for line in lines[: 2 * _MAX_LINES]:
        if line.strip():
            given += 1
            yield RawRecord("line", given, line.rstrip(b"\r"))
    if given == 1 and _is_json(text) and peel(text) is None:
        yield RawRecord("line", 0, completed(text))

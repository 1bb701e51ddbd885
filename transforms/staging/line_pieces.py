"""Join the pieces into which a runtime or a log store cut long lines.

CRI tags all pieces but the last with `P`, Docker leaves the line end off, its drivers and Cloud
Logging number the pieces. Pieces of one source (a container's stream) are joined within a file;
the joined text belongs to the record that ends it, the pieces before it are ignored as `partial`.
A line that never ends, or of which a piece is missing, is refused. To stay in source order, records
behind an unfinished line wait for it, but only so many.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

MAX_WAITING = 10_000
"""Records that wait for an unfinished line to end."""
MAX_WAITING_BYTES = 64 << 20
"""The same bound for few large records."""
MAX_JOINED = 1 << 22
"""Bytes of a joined line; runtimes cut at 16 KiB, and no format's lines come near."""

UNFINISHED = "unfinished_line: expected a record that ends this line, got none"
MISSING = "missing_piece: expected the pieces of this line one behind the other, got a gap"


class Piece(NamedTuple):
    """What a record says of the line that it is a piece of.

    Attributes:
        is_last: Whether it ends the line.
        id: Names the line, where a driver numbers its pieces; only its own pieces end it then.
        ordinal: Number of the piece, from 1; none where pieces stand in order.
    """

    is_last: bool = False
    id: str = ""
    ordinal: int | None = None


T = TypeVar("T")


class Line(NamedTuple, Generic[T]):
    """A record that may be a piece.

    Attributes:
        item: The record.
        text: Its text.
        source: What writes lines one behind the other; none for what is no part of any line.
        piece: Set where it is a piece, other than a last piece that nothing marks.
    """

    item: T
    text: bytes = b""
    source: str | None = None
    piece: Piece | None = None


class Outcomes(Protocol[T]):
    """What becomes of pieces."""

    def joined(self, item: T, text: bytes) -> T:
        """The record that ends a line, with the whole text."""
        ...

    def part(self, item: T) -> T:
        """A piece whose text went into a later record."""
        ...

    def refused(self, item: T, reason: str) -> T:
        """A piece of a line that cannot be read."""
        ...


@dataclass(slots=True)
class _Waiting(Generic[T]):
    """A record in source order whose result may not be known yet."""

    line: Line[T]
    result: T | None = None
    is_known: bool = False

    def settle(self, result: T) -> None:
        self.result, self.is_known = result, True


class _Unfinished(Generic[T]):
    """Lines that have begun, by source and id."""

    def __init__(self, outcomes: Outcomes[T]) -> None:
        self._outcomes = outcomes
        self._pieces: dict[tuple[str, str], list[_Waiting[T]]] = {}
        self._sizes: dict[tuple[str, str], int] = {}

    def take(self, entry: _Waiting[T]) -> None:
        """Take a record in: a piece, the end of a line, or what is whole."""
        line = entry.line
        if line.source is None:
            entry.settle(line.item)
            return
        piece = line.piece or Piece(is_last=True)
        key = (line.source, piece.id)
        is_whole = piece.is_last and key not in self._pieces
        if is_whole and piece.ordinal in {None, 1}:
            entry.settle(line.item)
            return
        self._pieces.setdefault(key, []).append(entry)
        self._sizes[key] = self._sizes.get(key, 0) + len(line.text)
        if self._sizes[key] > MAX_JOINED:
            self._refuse(key, UNFINISHED)
        elif piece.is_last:
            self._join(key)

    def give_up(self) -> None:
        """Refuse all that has no end."""
        for key in list(self._pieces):
            self._refuse(key, UNFINISHED)

    def _join(self, key: tuple[str, str]) -> None:
        entries = self._pieces[key]
        ordinals = [e.line.piece.ordinal if e.line.piece else None for e in entries]
        ordered = entries
        if None not in ordinals:
            ordered = sorted(entries, key=_ordinal)
            if [_ordinal(e) for e in ordered] != list(range(1, len(ordered) + 1)):
                self._refuse(key, MISSING)
                return
        del self._pieces[key], self._sizes[key]
        text = b"".join(entry.line.text for entry in ordered)
        *before, last = entries
        for entry in before:
            entry.settle(self._outcomes.part(entry.line.item))
        last.settle(self._outcomes.joined(last.line.item, text))

    def _refuse(self, key: tuple[str, str], reason: str) -> None:
        for entry in self._pieces.pop(key):
            entry.settle(self._outcomes.refused(entry.line.item, reason))
        del self._sizes[key]


def _ordinal(entry: _Waiting[T]) -> int:
    piece = entry.line.piece
    return (piece.ordinal if piece else None) or 0


def join_pieces(lines: Iterable[Line[T]], outcomes: Outcomes[T]) -> Iterator[T]:
    """Join pieces; yields one result per record, in source order."""
    waiting: deque[_Waiting[T]] = deque()
    size = 0
    unfinished = _Unfinished(outcomes)
    for line in lines:
        if not waiting and line.piece is None:
            yield line.item
            continue
        entry = _Waiting(line)
        waiting.append(entry)
        size += len(line.text)
        unfinished.take(entry)
        if len(waiting) > MAX_WAITING or size > MAX_WAITING_BYTES:
            unfinished.give_up()
        while waiting and waiting[0].is_known:
            done = waiting.popleft()
            size -= len(done.line.text)
            yield _result(done)
    unfinished.give_up()
    while waiting:
        yield _result(waiting.popleft())


def _result(entry: _Waiting[T]) -> T:
    if entry.result is None:
        raise AssertionError  # every entry is settled before it is given
    return entry.result

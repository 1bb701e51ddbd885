"""Text in blocks of whole lines, of which single records can be looked up again.

A reader of columns reads a file twice: one engine turns its lines into columns, and this looks at
the same lines as text, so that the columns can be trusted and a line that needs it can be read on
its own. Blocks are held only until they are let go.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from transforms.staging.parser import Parsed, RawRecord

LONG_LINE = 1 << 20
"""Bytes of a line that is not left to the engine; an event has some kilobytes."""
_LONG_BLOCK = 4 * LONG_LINE
_NOTHING = b"{}\n"


class TextBlock(NamedTuple):
    """Whole lines of a file.

    Attributes:
        first_line: Number of its first line, from 1, blank lines counted.
        lines: Lines in it, blank ones counted.
        offset: Byte offset of its first byte in the decompressed text.
        data: The bytes; ends with a line end unless it is the last block.
    """

    first_line: int
    lines: int
    offset: int
    data: bytes


@dataclass
class _Held:
    """A block that was looked at.

    Attributes:
        block: The block, or a record that the reader refused.
        first: Index of its first record in the file.
        count: Records in it.
        lines: Its lines; none until needed.
        full: Which of them are not blank, one per record.
    """

    block: TextBlock | Parsed
    first: int
    count: int = 1
    lines: list[bytes] | None = None
    full: list[int] = field(default_factory=list)

    def split(self, block: TextBlock) -> list[bytes]:
        """The lines, without their ends; the last one is empty if the block ends with one."""
        if self.lines is None:
            self.lines = block.data.split(b"\n")
            self.full = [i for i, x in enumerate(self.lines) if x[:1] == b"{" or x.strip()]
        return self.lines


class LineBlocks:
    """The records of a file, read on as far as asked.

    Attributes:
        count: Records read so far.
        ended: Whether that is all of them.
        doubtful: Indexes of held records that an engine may read otherwise than a strict parser.
    """

    def __init__(
        self, blocks: Iterable[TextBlock | Parsed], trusted: Callable[[bytes], int | None]
    ) -> None:
        """Start before the first block.

        Args:
            blocks: Blocks in order; a `Parsed` is a record that the reader itself refused.
            trusted: How many values a text holds, if it holds nothing that a strict parser refuses;
                else none. Asked of blocks, and of lines where that is not one value per line.
        """
        self.count = 0
        self.ended = False
        self.doubtful: set[int] = set()
        self._blocks = iter(blocks)
        self._trusted = trusted
        self._held: deque[_Held] = deque()
        self._is_close = False

    def read_to(self, end: int) -> None:
        """Read on until `end` records are known or the file ends."""
        while self.count < end and not self.ended:
            block = next(self._blocks, None)
            if block is None:
                self.ended = True
            else:
                self._hold(block)

    def read_bytes(self, start: int, size: int) -> int:
        """Read on until about `size` bytes of text are held from a record on.

        Returns:
            Index behind the last record that is known.
        """
        held = sum(len(h.block.data) for h in self._held if isinstance(h.block, TextBlock))
        while held < size and not self.ended:
            before = self.count
            self.read_to(before + 1)
            if self._held and self.count > before:
                block = self._held[-1].block
                held += len(block.data) if isinstance(block, TextBlock) else 0
        return max(start, self.count)

    def let_go(self, before: int) -> None:
        """Forget blocks whose records all lie before an index."""
        while self._held and self._held[0].first + self._held[0].count <= before:
            held = self._held.popleft()
            if self.doubtful:
                self.doubtful.difference_update(range(held.first, held.first + held.count))

    def record(self, index: int) -> RawRecord | Parsed:
        """One held record.

        Raises:
            IndexError: It is not held.
        """
        place = bisect_right(self._held, index, key=lambda held: held.first) - 1
        held = self._held[max(place, 0)]
        block = held.block
        if isinstance(block, Parsed):
            return block
        lines = held.split(block)
        place = held.full[index - held.first]
        offset = block.offset + place + sum(map(len, lines[:place]))
        return RawRecord(f"line {block.first_line + place}", offset, lines[place].rstrip(b"\r"))

    def examine_closely(self, *, for_good: bool = False) -> None:
        """Find the lines of every held block, and of every block to come if `for_good`.

        Blocks are told by the number of their values alone otherwise. That is enough where the
        engine has read the same lines without an error, and not where it has not: a line with two
        values and a blank one look like two lines of one value.
        """
        self._is_close = for_good
        blocks = [held.block for held in self._held]
        self.count = self._held[0].first if self._held else self.count
        self._held.clear()
        self.doubtful.clear()
        for block in blocks:
            self._hold(block, is_close=True)

    def engine_text(self, start: int, end: int) -> Iterator[bytes]:
        """Text of held records for the engine, one line per record; doubtful ones are `{}`."""
        for held in self._held:
            low, high = max(start, held.first), min(end, held.first + held.count)
            if low >= high:
                continue
            block = held.block
            if isinstance(block, Parsed):
                yield _NOTHING
                continue
            yield from self._engine_lines(held, block, low, high)

    def _engine_lines(self, held: _Held, block: TextBlock, low: int, high: int) -> Iterator[bytes]:
        if high - low == block.lines and self.doubtful.isdisjoint(range(low, high)):
            yield block.data
            if not block.data.endswith(b"\n"):
                yield b"\n"
            return
        lines = held.split(block)
        for index in range(low, high):
            if index in self.doubtful:
                yield _NOTHING
            else:
                yield lines[held.full[index - held.first]] + b"\n"

    def _hold(self, block: TextBlock | Parsed, *, is_close: bool = False) -> None:
        held = _Held(block, self.count)
        if isinstance(block, Parsed):
            self.doubtful.add(self.count)
        else:
            held.count = self._count(held, block, is_close=is_close)
        if held.count:
            self._held.append(held)
            self.count += held.count

    def _count(self, held: _Held, block: TextBlock, *, is_close: bool) -> int:
        """Count the records of a block and note the doubtful ones."""
        data = block.data
        is_trusted = len(data) <= _LONG_BLOCK and self._trusted(data) == block.lines
        if is_trusted and not (is_close or self._is_close):
            return block.lines
        lines = held.split(block)
        if is_trusted and len(held.full) == block.lines:
            return block.lines
        for index, place in enumerate(held.full, held.first):
            if len(lines[place]) > LONG_LINE or self._trusted(lines[place]) != 1:
                self.doubtful.add(index)
        return len(held.full)

"""The lines of a text that are one JSON object each, and pieces of the text by their numbers."""

import re
from functools import cached_property

import msgspec
import numpy as np

from transforms.staging.json_numbers import huge_numbers
from transforms.staging.line_columns import Places

_CHUNK_BYTES = 128 << 10
"""Text that is looked at at once; only chunks with damage are looked at line by line."""
_LONG_LINE = 1 << 20
"""Bytes of a line that is not left to the engine."""
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ANY: "msgspec.json.Decoder[msgspec.Struct]" = msgspec.json.Decoder(msgspec.defstruct("Any", []))
NEWLINE, _OPEN, _CLOSE = 10, ord("{"), ord("}")


class ObjectLines:
    """The lines of a text.

    Attributes:
        data: The text.
        starts: First byte of each line.
        ends: Byte behind its last, without the line end.
    """

    def __init__(self, data: bytes, starts: Places, ends: Places) -> None:
        """Take a text and the places of its lines."""
        self.data = data
        self.starts = starts
        self.ends = ends

    def objects(self) -> Places:
        """Numbers of the lines that are one JSON object each, of UTF-8.

        Behind `}` a value that goes on in the next line goes on with another sign than `{`, so that
        lines of these two signs begin and end as values do.
        """
        found = []
        data = np.frombuffer(self.data, np.uint8)
        usual = self.ends > self.starts
        chosen = np.flatnonzero(usual)
        usual[chosen] = (data[self.starts[chosen]] == _OPEN) & (
            data[self.ends[chosen] - 1] == _CLOSE
        )
        cuts = np.searchsorted(self.starts, np.arange(0, len(self.data), _CHUNK_BYTES)).tolist()
        for low, high in zip(cuts, [*cuts[1:], len(self.starts)], strict=True):
            if low == high:
                continue
            text = self.data[self.starts[low] : self.ends[high - 1]]
            if usual[low:high].all() and _are_objects(text, high - low):
                found.append(np.arange(low, high))
            else:
                good = [n for n in range(low, high) if _is_object(self.line(n))]
                found.append(np.array(good, np.int64))
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    @cached_property
    def huge(self) -> list[int]:
        """Places at which a number that no float holds may stand."""
        return huge_numbers(self.data)

    def line(self, number: int) -> bytes:
        """The bytes of a line."""
        return self.data[self.starts[number] : self.ends[number]]

    def without(self, pattern: bytes, word: bytes, numbers: Places) -> Places:
        """Lines in which a pattern stands nowhere, given a word without which it does not."""
        if word not in self.data:
            return numbers
        return self.without_places([m.start() for m in re.finditer(pattern, self.data)], numbers)

    def without_places(self, places: list[int], numbers: Places) -> Places:
        """Lines in which none of some places of the text is."""
        if not places:
            return numbers
        found = np.searchsorted(self.starts, np.array(places, np.int64), side="right") - 1
        return numbers[~np.isin(numbers, found)]

    def text(self, numbers: Places) -> bytes:
        """The text of some lines, in their order; each line ends with a line end."""
        if not len(numbers):
            return b""
        breaks = np.flatnonzero(np.diff(numbers) != 1)
        lows = self.starts[numbers[np.append(0, breaks + 1)]].tolist()
        highs = (self.ends[numbers[np.append(breaks, len(numbers) - 1)]] + 1).tolist()
        data = self.data
        text = b"".join([data[low:high] for low, high in zip(lows, highs, strict=True)])
        return text if text[-1] == NEWLINE else text + b"\n"


def _are_objects(text: bytes, count: int) -> bool:
    """Whether lines that begin and end as objects are one object each."""
    try:
        if not text.isascii():
            text.decode()
        return len(_ANY.decode_lines(text)) == count
    except _UNREADABLE:
        return False


def _is_object(line: bytes) -> bool:
    if line[:1] != b"{" or len(line) > _LONG_LINE:
        return False
    try:
        if not line.isascii():
            line.decode()
        _ANY.decode(line)
    except _UNREADABLE:
        return False
    return True

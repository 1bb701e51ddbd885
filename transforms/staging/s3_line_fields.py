"""Cut many lines of an S3 server access log into fields at once, by the places of their bytes.

A line is plain where its six quotes and its blanks stand as `s3_access_log` splits them: eight
fields and the time in front of the request URI, six between URI and referer, any number behind the
user agent, no empty field, nothing but ASCII; or where it has no quotes, as all three are `-`. Of
such a line each field is known by its first byte and the one behind its last; all other lines are
left to the reader of lines.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TAIL_FIELDS = 10
"""Fields behind the user agent that are told apart."""

_NEWLINE, _BLANK, _QUOTE, _RETURN = 10, 32, 34, 13
_OPEN, _CLOSE, _DASH = 91, 93, 45
_PADDING = bytes(64)
_INLINE = 12
"""A view holds texts of up to so many bytes itself."""
_QUOTES = 6
_LONGEST = 60_000
"""Bytes of a plain line."""
_HEAD_FIELDS = ("owner", "bucket", "address", "requester", "request_id", "operation", "key")
_MIDDLE_FIELDS = ("status", "error", "sent", "size", "total", "turn_around")
_TAIL = (
    "version", "host_id", "signature_version", "cipher", "authentication", "host", "tls_version",
    "access_point", "acl_required", "source_region",
)  # fmt: skip
_READ = frozenset({"version", "authentication", "host", "access_point", "source_region"})
_INLINE_MASKS = np.array(
    [
        [(1 << 8 * min(4, max(0, n - 4 * word))) - 1 for word in range(3)]
        for n in range(_INLINE + 1)
    ],
    dtype=np.uint32,
)
"""Which bits of three words a text of a length takes."""


@dataclass
class Lines:
    """The lines of a text.

    Attributes:
        starts: First byte of each line.
        ends: Byte behind its last, without the line end.
        plain: Which lines are plain; the fields are those of these lines, in order.
        data: The text.
    """

    starts: Places
    ends: Places
    plain: Mask
    data: bytes
    _beginnings: npt.NDArray[np.void]
    _fields: dict[str, tuple[Places, Places]]

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self.starts)

    def line(self, number: int) -> bytes:
        """The bytes of a line."""
        return self.data[self.starts[number] : self.ends[number]]

    def text(self, name: str) -> pa.Array:
        """A field of all plain lines; null where it is `-`, empty or absent."""
        starts, ends = self._fields[name]
        lengths = ends - starts
        first = self._beginnings[starts].view("<u4").reshape(-1, _INLINE // 4)
        empty = np.flatnonzero(lengths <= 1)
        is_stated = (lengths[empty] == 1) & ((first[empty, 0] & 255) != _DASH)
        empty = empty[~is_stated]
        if len(empty) == len(starts):
            return pa.nulls(len(starts), pa.large_string())
        lengths[empty] = 0
        valid = lengths > 0
        # A view holds a short text itself; of others it holds the first bytes and the place.
        views = np.empty((len(starts), 4), dtype=np.uint32)
        views[:, 0] = lengths
        if lengths.max() <= _INLINE:
            np.bitwise_and(first, _INLINE_MASKS[lengths], out=views[:, 1:])
        else:
            views[:, 1] = first[:, 0]
            views[:, 2] = 0
            views[:, 3] = starts
            short = np.flatnonzero(lengths <= _INLINE)
            if len(short):
                views[short, 1:] = first[short] & _INLINE_MASKS[lengths[short]]
        validity = None if not len(empty) else pa.py_buffer(np.packbits(valid, bitorder="little"))
        buffers = [validity, pa.py_buffer(views), pa.py_buffer(self.data)]
        array = pa.Array.from_buffers(pa.string_view(), len(starts), buffers)
        return pc.cast(array, pa.large_string())


def cut(data: bytes) -> Lines:
    """Cut a text of whole lines.

    Args:
        data: The text; only its last line may have no end. Its size is bounded by the caller.
    """
    size = len(data)
    padded = np.frombuffer(data + _PADDING, dtype=np.uint8)
    text = padded[:size]
    beginnings = _beginnings(padded)
    # One look at all bytes finds the few that are marks; no other printable sign is below them.
    marked = np.flatnonzero(text <= _QUOTE)
    kinds = text[marked]
    line_ends = marked[kinds == _NEWLINE]
    if size and text[-1] != _NEWLINE:
        line_ends = np.append(line_ends, size)
    starts = np.concatenate((np.zeros(1, np.int64), line_ends[:-1] + 1))[: len(line_ends)]
    usual = (line_ends - starts < _LONGEST) & (line_ends > starts)
    if not data.isascii():
        strange = np.searchsorted(line_ends, np.flatnonzero(text >= 128))
        usual[np.unique(strange[strange < len(usual)])] = False
    last = padded[np.maximum(line_ends - 1, 0)]
    usual &= (last != _RETURN) & (last != _BLANK)
    quotes = marked[kinds == _QUOTE]
    first_quote = np.searchsorted(quotes, starts)
    count = np.append(first_quote[1:], len(quotes)) - first_quote
    blanks = np.append(marked[kinds == _BLANK], [size + 1] * 40)
    marks = _Marks(padded, blanks, _doubled(blanks, size), _asks(data))
    quoted = np.flatnonzero(usual & (count == _QUOTES))
    bare = np.flatnonzero(usual & (count == 0))
    parts = [
        _quoted_fields(marks, quotes, first_quote[quoted], starts[quoted], line_ends[quoted]),
        _bare_fields(marks, starts[bare], line_ends[bare]),
    ]
    numbers = np.concatenate(
        [chosen[good] for chosen, (_, good) in zip((quoted, bare), parts, strict=True)]
    )
    order = np.argsort(numbers, kind="stable")
    fields = {
        name: (
            np.concatenate([found[name][0][good] for found, good in parts])[order],
            np.concatenate([found[name][1][good] for found, good in parts])[order],
        )
        for name in parts[0][0]
    }
    plain = np.zeros(len(starts), np.bool_)
    plain[numbers] = True
    return Lines(starts, line_ends, plain, data, beginnings, fields)


class _Marks(NamedTuple):
    """The bytes of a text, padded; where its blanks are, the first of two neighbours, and its `?`.

    The lists of places end with places behind the text.
    """

    text: npt.NDArray[np.uint8]
    blanks: Places
    doubled: Places
    asks: Places


def _asks(data: bytes) -> Places:
    """The places of `?`, and one behind the text; few lines have a query."""
    found = []
    place = data.find(b"?")
    while place >= 0:
        found.append(place)
        place = data.find(b"?", place + 1)
    return np.array([*found, len(data) + 1], np.int64)


def _doubled(blanks: Places, size: int) -> Places:
    return np.append(blanks[:-1][np.diff(blanks) == 1], size + 1)


def _beginnings(padded: npt.NDArray[np.uint8]) -> npt.NDArray[np.void]:
    """The bytes from each byte on that a view may hold; nothing is copied."""
    return np.ndarray((len(padded) - _INLINE + 1,), f"V{_INLINE}", padded, strides=(1,))


_Fields = dict[str, tuple[Places, Places]]


def _quoted_fields(
    marks: _Marks, quotes: Places, first_quote: Places, starts: Places, ends: Places
) -> tuple[_Fields, Mask]:
    """Fields of lines with six quotes, and for which lines they are right."""
    q = [quotes[first_quote + n] for n in range(_QUOTES)]
    before = np.searchsorted(marks.blanks, starts)
    # Blanks in front of the URI: one behind each field, and one inside the time.
    b = [marks.blanks[before + n] for n in range(10)]
    fields, good = _head(marks, b, starts)
    good &= (b[8] == q[0] - 1) & (b[9] > q[0])
    middle = np.searchsorted(marks.blanks, q[1])
    m = [marks.blanks[middle + n] for n in range(7)]
    good &= (m[0] == q[1] + 1) & (m[6] == q[2] - 1)
    good &= _middle(m, fields)
    good &= (q[4] == q[3] + 2) & (marks.text[q[3] + 1] == _BLANK)
    behind = np.searchsorted(marks.blanks, q[5])
    t = [marks.blanks[behind + n] for n in range(TAIL_FIELDS + 1)]
    good &= (t[0] == q[5] + 1) & (t[0] < ends)
    _tail(t, ends, fields)
    # Behind the user agent no field is empty.
    good &= marks.doubled[np.searchsorted(marks.doubled, q[5])] >= ends
    fields["agent"] = (q[4] + 1, q[5])
    fields["uri"] = (q[0] + 1, q[1])
    # The method is what stands in front of the URI's first blank.
    fields["method"] = (q[0] + 1, np.where(b[9] < q[1], b[9], q[0] + 1))
    asked = marks.asks[np.searchsorted(marks.asks, q[0])]
    fields["query"] = (np.where(asked < q[1], asked, q[1]), q[1])
    return fields, good


def _bare_fields(marks: _Marks, starts: Places, ends: Places) -> tuple[_Fields, Mask]:
    """Fields of lines without quotes, where the client said nothing; and which are right."""
    before = np.searchsorted(marks.blanks, starts)
    b = [marks.blanks[before + n] for n in range(18)]
    fields, good = _head(marks, b, starts)
    good &= _middle(b[9:16], fields)
    for low, high in ((b[8], b[9]), (b[15], b[16]), (b[16], b[17])):
        good &= (high - low == 2) & (marks.text[np.minimum(low + 1, ends)] == _DASH)
    good &= b[17] < ends
    t = [marks.blanks[before + n] for n in range(17, 18 + TAIL_FIELDS)]
    _tail(t, ends, fields)
    good &= marks.doubled[np.searchsorted(marks.doubled, starts)] >= ends
    for name in ("agent", "method", "query", "uri"):
        fields[name] = (starts, starts)
    return fields, good


def _head(marks: _Marks, b: list[Places], starts: Places) -> tuple[_Fields, Mask]:
    """The fields in front of the request URI, by the blanks behind them."""
    last = len(marks.text) - 1
    good = b[0] > starts
    for low, high in pairwise(b[:9]):
        good &= high - low > 1
    good &= marks.text[np.minimum(b[1] + 1, last)] == _OPEN
    good &= marks.text[np.minimum(b[3] - 1, last)] == _CLOSE
    befores = (starts - 1, b[0], b[3], b[4], b[5], b[6], b[7])
    behinds = (b[0], b[1], b[4], b[5], b[6], b[7], b[8])
    fields = {
        name: (low + 1, high)
        for name, low, high in zip(_HEAD_FIELDS, befores, behinds, strict=True)
    }
    fields["time"] = (b[1] + 2, b[3] - 1)
    return fields, good


def _middle(m: list[Places], fields: _Fields) -> Mask:
    """Note the six fields between seven blanks; whether none is empty."""
    good = m[1] - m[0] > 1
    for name, (low, high) in zip(_MIDDLE_FIELDS, pairwise(m), strict=True):
        good &= high - low > 1
        fields[name] = (low + 1, high)
    return good


def _tail(t: list[Places], ends: Places, fields: _Fields) -> None:
    """Note the fields behind the user agent, by the blanks in front of them."""
    for name, (before, behind) in zip(_TAIL, pairwise(t), strict=True):
        if name not in _READ:
            continue
        # Behind the last field the next blank is another line's.
        high = np.minimum(behind, ends)
        fields[name] = (np.minimum(before + 1, high), high)

"""Cut many lines of an S3 server access log into fields at once, by the places of their bytes.

A line is plain where its six quotes and its blanks stand as `s3_access_log` splits them: eight
fields and the time in front of the request URI, six between URI and referer, any number behind the
user agent, no empty field, nothing but ASCII. Of such a line each field is known by its first byte
and the one behind its last; all other lines are left to the reader of lines.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TAIL_FIELDS = 10
"""Fields behind the user agent that are told apart."""

_NEWLINE, _BLANK, _QUOTE, _RETURN, _ASK = 10, 32, 34, 13, 63
_OPEN, _CLOSE, _DASH = 91, 93, 45
_PADDING = bytes(64)
_INLINE = 12
"""A view holds texts of up to so many bytes itself."""
_LONGEST = 60_000
"""Bytes of a plain line."""
_HEAD_FIELDS = ("owner", "bucket", "address", "requester", "request_id", "operation", "key")
_MIDDLE_FIELDS = ("status", "error", "sent", "size", "total", "turn_around")
_TAIL = (
    "version", "host_id", "signature_version", "cipher", "authentication", "host", "tls_version",
    "access_point", "acl_required", "source_region",
)  # fmt: skip
_INLINE_MASKS = np.array(
    [
        [(1 << 8 * min(4, max(0, n - 4 * word))) - 1 for n in range(_INLINE + 1)]
        for word in range(3)
    ],
    dtype=np.uint32,
)


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
    _words: npt.NDArray[np.uint32]
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
        words = self._words
        first = words[starts]
        is_dash = (lengths == 1) & ((first & 255) == _DASH)
        valid = (lengths > 0) & ~is_dash
        if not valid.any():
            return pa.nulls(len(starts), pa.large_string())
        lengths = np.where(valid, lengths, 0)
        views = np.empty((len(starts), 4), dtype=np.uint32)
        views[:, 0] = lengths
        is_long = lengths > _INLINE
        inline = np.minimum(lengths, _INLINE)
        views[:, 1] = np.where(is_long, first, first & _INLINE_MASKS[0][inline])
        views[:, 2] = np.where(is_long, 0, words[starts + 4] & _INLINE_MASKS[1][inline])
        views[:, 3] = np.where(is_long, starts, words[starts + 8] & _INLINE_MASKS[2][inline])
        validity = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
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
    words = _words(padded)
    line_ends = np.flatnonzero(text == _NEWLINE)
    if size and text[-1] != _NEWLINE:
        line_ends = np.append(line_ends, size)
    starts = np.concatenate((np.zeros(1, np.int64), line_ends[:-1] + 1))[: len(line_ends)]
    plain = (line_ends - starts < _LONGEST) & (line_ends > starts)
    quotes = np.flatnonzero(text == _QUOTE)
    first_quote = np.searchsorted(quotes, starts)
    plain &= np.append(first_quote[1:], len(quotes)) - first_quote == 6
    if not data.isascii():
        strange = np.searchsorted(line_ends, np.flatnonzero(text >= 128))
        plain[np.unique(strange[strange < len(plain)])] = False
    blanks = np.append(np.flatnonzero(text == _BLANK), [size + 1] * 20)
    chosen = np.flatnonzero(plain)
    fields, good = _fields(text, blanks, quotes, starts[chosen], line_ends[chosen],
                           first_quote[chosen])  # fmt: skip
    plain[chosen[~good]] = False
    if not good.all():
        fields = {name: (low[good], high[good]) for name, (low, high) in fields.items()}
    return Lines(starts, line_ends, plain, data, words, fields)


def _words(padded: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """The four bytes that begin at each byte, as a number."""
    words = np.zeros(len(padded), dtype="<u4")
    for shift in range(4):
        aligned = padded[shift : shift + (len(padded) - shift) // 4 * 4].view("<u4")
        words[shift::4][: len(aligned)] = aligned
    return words


def _fields(
    text: npt.NDArray[np.uint8],
    blanks: Places,
    quotes: Places,
    starts: Places,
    ends: Places,
    first_quote: Places,
) -> tuple[dict[str, tuple[Places, Places]], Mask]:
    """First and last places of fields, and the lines for which they are right."""
    q = [quotes[first_quote + n] for n in range(6)]
    before = np.searchsorted(blanks, starts)
    # Blanks in front of the URI: one behind each field, and one inside the time.
    b = [blanks[before + n] for n in range(10)]
    good = (b[8] == q[0] - 1) & (b[9] > q[0]) & (b[0] > starts)
    for low, high in pairwise(b[:9]):
        good &= high - low > 1
    good &= (text[np.minimum(b[1] + 1, len(text) - 1)] == _OPEN) & (text[b[3] - 1] == _CLOSE)
    fields = {
        name: (low + 1, high)
        for name, low, high in zip(
            _HEAD_FIELDS,
            (starts - 1, b[0], b[3], b[4], b[5], b[6], b[7]),
            (b[0], b[1], b[4], b[5], b[6], b[7], b[8]),
            strict=True,
        )
    }
    fields["time"] = (b[1] + 2, b[3] - 1)
    fields["agent"] = (q[4] + 1, q[5])
    # The method is what stands in front of the URI's first blank.
    fields["method"] = (q[0] + 1, np.where(b[9] < q[1], b[9], q[0] + 1))
    middle = np.searchsorted(blanks, q[1])
    m = [blanks[middle + n] for n in range(7)]
    good &= (m[0] == q[1] + 1) & (m[6] == q[2] - 1)
    for low, high in pairwise(m):
        good &= high - low > 1
    for name, low, high in zip(_MIDDLE_FIELDS, m[:6], m[1:], strict=True):
        fields[name] = (low + 1, high)
    good &= (q[4] == q[3] + 2) & (text[q[3] + 1] == _BLANK)
    behind = np.searchsorted(blanks, q[5])
    t = [blanks[behind + n] for n in range(TAIL_FIELDS + 1)]
    good &= (t[0] == q[5] + 1) & (t[0] < ends) & (text[ends - 1] != _RETURN)
    for name, low, high in zip(_TAIL, t[:-1], t[1:], strict=True):
        # Behind the last field the next blank is another line's.
        high = np.minimum(high, ends)  # noqa: PLW2901
        low = np.minimum(low + 1, high)  # noqa: PLW2901
        fields[name] = (low, high)
    # An empty field, or a blank at the end, is a blank next to a blank or to the end.
    pairs = np.flatnonzero(np.diff(blanks) == 1)
    doubled = blanks[pairs]
    at = np.searchsorted(doubled, q[5])
    doubled = np.append(doubled, len(text) + 1)
    good &= (doubled[at] >= ends) & (text[ends - 1] != _BLANK)
    asks = np.append(np.flatnonzero(text == _ASK), len(text) + 1)
    asked = asks[np.searchsorted(asks, q[0])]
    fields["query"] = (np.where(asked < q[1], asked, q[1]), q[1])
    return fields, good

"""Follow the structure of a JSON value that may end in another line, or not at all."""

import re
from enum import Enum, auto

MAX_DEPTH = 64
"""Levels at most; an event has ten."""

_TOKEN = re.compile(
    rb'"(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+"|[{}\[\],:]|[-+.0-9A-Za-z]++', re.DOTALL
)
_BLANK = re.compile(rb"[ \t\r\n]*+")
_CLOSER = {b"{": b"}", b"[": b"]"}
_KINDS = frozenset({b"{", b"}", b"[", b"]", b",", b":", b'"'})


class _Next(Enum):
    """What may come next."""

    VALUE = auto()
    VALUE_OR_END = auto()
    KEY = auto()
    KEY_OR_END = auto()
    COLON = auto()
    COMMA_OR_END = auto()


_BEGINS_VALUE = {b"{": _Next.KEY_OR_END, b"[": _Next.VALUE_OR_END}
_IS_VALUE = {b'"': _Next.COMMA_OR_END, b"": _Next.COMMA_OR_END, **_BEGINS_VALUE}
_ENDS = {b"}": _Next.COMMA_OR_END, b"]": _Next.COMMA_OR_END}
_FOLLOWING: dict[_Next, dict[bytes, _Next]] = {
    _Next.VALUE: _IS_VALUE,
    _Next.VALUE_OR_END: _IS_VALUE | _ENDS,
    _Next.KEY: {b'"': _Next.COLON},
    _Next.KEY_OR_END: {b'"': _Next.COLON} | _ENDS,
    _Next.COLON: {b":": _Next.VALUE},
    _Next.COMMA_OR_END: {b",": _Next.VALUE} | _ENDS,
}
"""What may follow, by what is expected and the first byte of a token; a word has none."""


class Prefix:
    """The structure of one JSON object or list, read piece by piece.

    Only the structure is checked: that texts are closed, brackets fit and commas and colons stand
    where they must. What numbers, words and escapes hold is left to a decoder.
    """

    def __init__(self) -> None:
        """Start in front of the value."""
        self._opened: list[bytes] = []
        self._next = _Next.VALUE
        self.is_broken = False

    def feed(self, text: bytes, start: int = 0, end: int | None = None) -> int | None:
        """Read on.

        A piece may end wherever a line may: between tokens, not inside one.

        Args:
            text: A text that holds the next piece.
            start: Where in the text the piece begins.
            end: Where it ends; the text's end if none.

        Returns:
            Where in the text the value ends; none where it does not end in the piece. `is_broken`
            is set where no value can go on like this.
        """
        place, end = start, len(text) if end is None else end
        while True:
            blank = _BLANK.match(text, place, end)
            place = blank.end() if blank else place
            if place == end:
                return None
            token = _TOKEN.match(text, place, end)
            if token is None or not self._take(token[0]):
                self.is_broken = True
                return None
            place = token.end()
            if not self._opened:
                return place

    def _take(self, token: bytes) -> bool:
        """Take one token; whether it may stand here."""
        kind = token[:1] if token[:1] in _KINDS else b""
        following = _FOLLOWING[self._next].get(kind)
        opened = self._opened
        if following is None or (not opened and kind not in _CLOSER):
            return False
        if kind in _CLOSER:
            opened.append(kind)
        elif kind in _ENDS and _CLOSER[opened.pop()] != kind:
            return False
        is_key_next = kind == b"," and opened[-1] == b"{"
        self._next = _Next.KEY if is_key_next else following
        return len(opened) <= MAX_DEPTH

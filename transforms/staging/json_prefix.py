"""Follow the structure of a JSON value that may end in another line, or not at all."""

import re
from typing import Any

MAX_DEPTH = 64
"""Levels at most; an event has ten."""

_TOKEN = re.compile(
    rb'"(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+"|[{}\[\],:]|[-+.0-9A-Za-z]++', re.DOTALL
)
_BLANK = re.compile(rb"[ \t\r\n]*+")
_CLOSER = {b"{": b"}", b"[": b"]"}
_KINDS = frozenset({b"{", b"}", b"[", b"]", b",", b":", b'"'})


_State = dict[bytes, Any]
"""What may come next: the state behind a token by the first byte of it; a word has none."""
_VALUE: _State = {}
_VALUE_OR_END: _State = {}
_KEY: _State = {}
_KEY_OR_END: _State = {}
_COLON: _State = {b":": _VALUE}
_COMMA_OR_END: _State = {}
_ENDS: _State = {b"}": _COMMA_OR_END, b"]": _COMMA_OR_END}
_VALUE.update({b'"': _COMMA_OR_END, b"": _COMMA_OR_END, b"{": _KEY_OR_END, b"[": _VALUE_OR_END})
_VALUE_OR_END.update(_VALUE | _ENDS)
_KEY.update({b'"': _COLON})
_KEY_OR_END.update(_KEY | _ENDS)
_COMMA_OR_END.update({b",": _VALUE} | _ENDS)


class Prefix:
    """The structure of one JSON object or list, read piece by piece.

    Only the structure is checked: that texts are closed, brackets fit and commas and colons stand
    where they must. What numbers, words and escapes hold is left to a decoder.
    """

    def __init__(self) -> None:
        """Start in front of the value."""
        self._opened: list[bytes] = []
        self._next = _VALUE
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
        kind = token[:1]
        following = self._next.get(kind if kind in _KINDS else b"")
        opened = self._opened
        if following is None or (not opened and kind not in _CLOSER):
            return False
        if kind in _CLOSER:
            opened.append(kind)
        elif kind in _ENDS and _CLOSER[opened.pop()] != kind:
            return False
        self._next = _KEY if kind == b"," and opened[-1] == b"{" else following
        return len(opened) <= MAX_DEPTH

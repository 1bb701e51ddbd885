"""A text as it reads after its escapes are taken off, with the way back to the original places.

A secret hides behind percent-encoding (once or twice), JSON escapes, HTML entities and NUL bytes.
Looking for it in the decoded text and masking it in the original keeps everything else as it was.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

MAX_LEVELS = 4
"""Deepest nesting that is taken off: a twice-encoded URL inside a JSON string inside JSON."""

_ESCAPE = re.compile(
    r"""%[0-7][0-9A-Fa-f]|\\u00[0-7][0-9A-Fa-f]|\\x[0-7][0-9A-Fa-f]|\\["'/\\nrtbf]"""
    r"""|&(?:amp|quot|apos|lt|gt|\#38|\#34|\#39|\#61|\#x26|\#x3[dD]|\#x22|\#x27);|\x00""",
    re.VERBOSE,
)
_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_ENTITY = {
    "amp": "&", "quot": '"', "apos": "'", "lt": "<", "gt": ">",
    "#38": "&", "#34": '"', "#39": "'", "#61": "=",
    "#x26": "&", "#x3d": "=", "#x22": '"', "#x27": "'",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class View:
    """A text and where its characters stand in the text that it was decoded from.

    Attributes:
        text: The decoded text.
        places: Positions in `text` from which a new shift holds, ascending.
        origins: Position in the parent's text for each of `places`.
        parent: The view it was decoded from; none for the original.
    """

    text: str
    places: list[int]
    origins: list[int]
    parent: "View | None"

    def origin(self, position: int) -> int:
        """Translate a position in this view into one in the original text."""
        view: View = self
        while view.parent is not None:
            index = bisect_right(view.places, position) - 1
            position = view.origins[index] + position - view.places[index]
            view = view.parent
        return position


def is_plain(text: str) -> bool:
    """Whether a text holds no sign with which an escape begins."""
    return "%" not in text and "\\" not in text and "&" not in text and "\x00" not in text


def views(text: str) -> list[View]:
    """List the text and its decoded forms, until decoding changes nothing."""
    found = [View(text, [0], [0], None)]
    while len(found) <= MAX_LEVELS:
        decoded = _decode(found[-1])
        if decoded is None:
            break
        found.append(decoded)
    return found


def _decode(view: View) -> View | None:
    """Take one level of escapes off; none where there is none."""
    text = view.text
    if is_plain(text):
        return None
    pieces: list[str] = []
    places, origins = [0], [0]
    length = end = 0
    for match in _ESCAPE.finditer(text):
        start = match.start()
        if start > end:
            pieces.append(text[end:start])
            length += start - end
        character = _character(match[0])
        places += (length, length + len(character))
        end = match.end()
        origins += (start, end)
        pieces.append(character)
        length += len(character)
    if not pieces:
        return None
    pieces.append(text[end:])
    return View("".join(pieces), places, origins, view)


def _character(escape: str) -> str:
    """Character that an escape stands for; nothing for NUL."""
    if escape[0] == "%":
        return chr(int(escape[1:], 16))
    if escape[0] == "&":
        return _ENTITY[escape[1:-1].lower()]
    if escape == "\x00":
        return ""
    if escape[1] in "ux" and len(escape) > 2:
        return chr(int(escape[-2:], 16))
    return _CONTROL.get(escape[1], escape[1])

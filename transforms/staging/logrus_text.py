r"""Lines of logrus' text formatter, which containerd and the image registry use.

Source: sirupsen/logrus, text_formatter.go: `key=value` parted by blanks, `time`, `level` and `msg`
first; a value that holds more than letters, digits and `-._/@^+` is quoted as Go's `%q` does.
"""

import re

MAX_FIELDS = 200
"""A line has some thirty fields."""

_LINE = re.compile(r'time="(?:[^"\\]|\\.){1,64}+" level=[a-z]{1,10} ')
_FIELD = re.compile(r'([A-Za-z_@][\w.@-]{0,100})=("(?:[^"\\]|\\.)*+"|[^\s"]*+)(?:\s|\Z)', re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\\"'])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
)
_LETTERS = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", '"': '"', "'": "'",
}  # fmt: skip


def is_logrus(text: str) -> bool:
    """Whether a line begins as logrus begins its lines."""
    return _LINE.match(text) is not None


def logrus_fields(text: str) -> dict[str, str] | None:
    """The fields of a line by their names; none where it is no such line.

    Of a name that stands twice the first value counts. A line that breaks off inside a value is
    none.
    """
    if not is_logrus(text):
        return None
    found: dict[str, str] = {}
    place = 0
    while place < len(text):
        match = _FIELD.match(text, place)
        if match is None or len(found) >= MAX_FIELDS:
            return found if not text[place:].strip() else None
        value = match[2]
        found.setdefault(match[1], _unquoted(value[1:-1]) if value[:1] == '"' else value)
        place = match.end()
    return found


def _unquoted(text: str) -> str:
    return _ESCAPE.sub(_letter, text) if "\\" in text else text


def _letter(match: re.Match[str]) -> str:
    if match[1]:
        return _LETTERS[match[1]]
    code = int(match[2] or match[3] or match[4], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"

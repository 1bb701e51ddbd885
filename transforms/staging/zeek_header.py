r"""Header lines and escapes of Zeek's text logs.

Source: zeek/zeek, src/logging/writers/ascii and src/threading/formatters/Ascii. A header gives the
separator first, after a blank, and then, after the separator, what parts the elements of a set or
vector, what stands for empty and for unset, the log's name, and the fields in their order. Every
other text of the log has bytes that are not printable, separators and backslashes as `\xHH`; text
that would be read as empty or unset has its first character so.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|\\)")
_DEFAULTS = {"separator": "\t", "set_separator": ",", "empty_field": "(empty)", "unset_field": "-"}
_PASSED_OVER = frozenset({"open", "close", "types"})
_MAX_FIELDS = 1_000
_MAX_MARK = 32
"""Characters of a separator or of a mark for empty or unset; Zeek's own have at most 7."""


def unescaped(text: str) -> bytes:
    """Bytes of a text without Zeek's escapes."""
    data = text.encode("utf-8", "replace")
    if "\\" not in text:
        return data
    return _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]) if m[1] else b"\\", data)


def unescaped_text(text: str) -> str:
    """Text without Zeek's escapes; bytes that are no UTF-8 are replaced."""
    return text if "\\" not in text else unescaped(text).decode("utf-8", "replace")


@dataclass(frozen=True)
class ZeekHeader:
    """What the header lines so far say, at first what Zeek writes if it is not told otherwise.

    Attributes:
        path: Name of the log; none before it is stated.
        fields: Names of the fields in their order; empty before they are stated.
        problem: Why lines cannot be read by this header, if they cannot.
        marks: What parts fields (`separator`) and elements of a set or vector (`set_separator`),
            and what stands for an empty text or list (`empty_field`) and for none (`unset_field`).
    """

    path: str | None = None
    fields: tuple[str, ...] = ()
    problem: str | None = None
    marks: Mapping[str, str] = field(default_factory=lambda: _DEFAULTS)

    def read(self, line: str) -> "ZeekHeader | None":
        """The header with one more line, which begins with `#`; none where it is no header line."""
        if line.startswith("#separator "):
            # The first line of a header: logs may stand behind each other in a file.
            return _with_mark(ZeekHeader(), "separator", line.partition(" ")[2])
        name, _, value = line[1:].partition(self.marks["separator"])
        if name in _DEFAULTS:
            return _with_mark(self, name, value)
        if name == "path":
            return replace(self, path=unescaped_text(value)[:_MAX_MARK])
        if name == "fields" and value:
            return _with_fields(self, tuple(value.split(self.marks["separator"])))
        return self if name.partition(" ")[0] in _PASSED_OVER else None

    def values(self, line: str) -> Mapping[str, str | None] | int:
        """Values of a line by field, still escaped; unset is none.

        Returns:
            The values, or the number of values where it is not that of the fields.
        """
        parts = line.split(self.marks["separator"])
        if len(parts) != len(self.fields):
            return len(parts)
        unset = self.marks["unset_field"]
        return {
            name: None if part == unset else part
            for name, part in zip(self.fields, parts, strict=True)
        }

    def text(self, value: str) -> str:
        """A text, still escaped; the mark for empty is none."""
        return "" if value == self.marks["empty_field"] else value

    def elements(self, value: str) -> list[str | None]:
        """Elements of a set or vector, still escaped; unset ones are none."""
        if value == self.marks["empty_field"]:
            return []
        unset = self.marks["unset_field"]
        return [
            None if part == unset else self.text(part)
            for part in value.split(self.marks["set_separator"])
        ]


def _with_mark(header: ZeekHeader, name: str, stated: str) -> ZeekHeader:
    mark = unescaped_text(stated)
    if 0 < len(mark) <= _MAX_MARK:
        return replace(header, marks={**header.marks, name: mark})
    return replace(header, problem=f"header: expected 1 to {_MAX_MARK} characters in #{name}")


def _with_fields(header: ZeekHeader, names: tuple[str, ...]) -> ZeekHeader:
    if len(names) <= _MAX_FIELDS and len(set(names)) == len(names):
        return replace(header, fields=names)
    return replace(header, problem=f"header: expected at most {_MAX_FIELDS} fields, each once")


def header_at(head: bytes, lines: int) -> ZeekHeader:
    """The header that the beginning of a text log states.

    Args:
        head: The first bytes of the text.
        lines: How many of its lines are read at most.
    """
    header = ZeekHeader()
    for line in head.split(b"\n")[:lines]:
        if line.strip() and not line.startswith(b"#"):
            break
        header = header.read(line.decode("utf-8", "replace").rstrip("\r")) or header
    return header

"""Markdown of at most 100 columns, in which hostile text stays text.

What has a meaning in Markdown or HTML is escaped, characters that move a cursor or break a line are
written as escapes, and what is too long for its place is shortened in its middle.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len

from pipelines.cli.output import printable

WIDTH = 100
"""Cells of a line at most."""
SHORTEST = 6
"""Cells to which a column may be shortened."""

_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_ESCAPED = frozenset("\\`*_[]|~$@")
_BLOCK = re.compile(r"\A(\d*)([-#+=.)])")
"""What makes a heading or a list of a line that begins with it."""
_LINK = re.compile(r"(?i)(?:https?|ftp)(?=:)|www(?=\.)")


def pieces(text: str) -> list[str]:
    """A text as what each of its characters is in Markdown; none can be cut in two.

    >>> "".join(pieces("a <i>"))
    'a &lt;i&gt;'
    """
    shown = printable(text)
    # A renderer makes links of bare URLs, too; an escaped character inside keeps it from that.
    links = {match.end() for match in _LINK.finditer(shown)}
    found = []
    for position, character in enumerate(shown):
        # An underscore within a word has no meaning.
        around = shown[max(position - 1, 0) : position + 2]
        is_plain = character == "_" and len(around) == 3 and _is_word(around[0] + around[2])
        is_marked = (character in _ESCAPED and not is_plain) or position in links
        found.append(_ENTITIES.get(character, f"\\{character}" if is_marked else character))
    return found


def _is_word(text: str) -> bool:
    return text.isascii() and text.replace("_", "a").isalnum()


def fitted(text: str, width: int) -> str:
    """A text as Markdown of at most so many cells, shortened in its middle."""
    parts = pieces(text)
    sizes = [cell_len(part) for part in parts]
    if sum(sizes) <= width:
        return "".join(parts)
    head_room = (width - 1) * 2 // 3
    tail_room = width - 1 - head_room
    head, tail = 0, len(parts)
    while head < len(parts) and sizes[head] <= head_room:
        head_room -= sizes[head]
        head += 1
    while tail > head and sizes[tail - 1] <= tail_room:
        tail -= 1
        tail_room -= sizes[tail]
    return "".join([*parts[:head], "…", *parts[tail:]])


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int = WIDTH) -> list[str]:
    """A table of at most so many cells a line; numbers are never shortened, the longest text is.

    Args:
        columns: Headings, as Markdown, with a trailing `>` where the column stands at the right.
        rows: Cells; null is shown as `?`.
        width: Cells of a line at most.
    """
    names = [name.removesuffix(">") for name in columns]
    is_right = [name.endswith(">") for name in columns]
    cells = [[_text(cell) for cell in row] for row in rows]
    whole = [[sum(map(cell_len, pieces(cell))) for cell in row] for row in cells]
    widths = [max([cell_len(name), 3, *(row[i] for row in whole)]) for i, name in enumerate(names)]
    least = [
        size if right else min(size, max(cell_len(name), SHORTEST))
        for size, name, right in zip(widths, names, is_right, strict=True)
    ]
    room = width - 3 * (len(names) - 1) - 4
    while sum(widths) > room and widths != least:
        widest = max(
            (i for i in range(len(widths)) if widths[i] > least[i]), key=widths.__getitem__
        )
        widths[widest] -= 1
    rule = [
        "-" * (size - 1) + (":" if right else "-")
        for size, right in zip(widths, is_right, strict=True)
    ]
    shown = [[fitted(c, s) for c, s in zip(row, widths, strict=True)] for row in cells]
    return [
        "| "
        + " | ".join(_padded(c, s, right=r) for c, s, r in zip(line, widths, is_right, strict=True))
        + " |"
        for line in [names, rule, *shown]
    ]


def _text(cell: Any) -> str:  # noqa: ANN401  any cell
    if cell is None:
        return "?"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)


def _padded(cell: str, width: int, *, right: bool) -> str:
    pad = " " * (width - cell_len(cell))
    return pad + cell if right else cell + pad


def bullets(items: Sequence[tuple[str, str | None]]) -> list[str]:
    """One line a fact; null is shown as `not known`."""
    return [
        f"- {name}: {fitted('not known' if value is None else value, WIDTH - len(name) - 4)}"
        for name, value in items
    ]


def statement(about: str, text: str) -> list[str]:
    """What is said of something, in as many lines as it takes.

    Args:
        about: Any text, shortened where it does not fit.
        text: What is said of it.
    """
    head = f"- {fitted(about, WIDTH - 3)}:"
    said = pieces(text)
    if cell_len(head) + 1 + sum(map(cell_len, said)) <= WIDTH:
        return [f"{head} {''.join(said)}"]
    # One cell is left for the escape of a mark that would begin a block.
    return [head, *(f"  {_BLOCK.sub(_escaped, line)}" for line in _wrapped(said, WIDTH - 3))]


def _escaped(mark: re.Match[str]) -> str:
    return f"{mark[1]}\\{mark[2]}"


def _wrapped(parts: list[str], width: int) -> list[str]:
    """Lines of at most so many cells, broken at spaces where there are any."""
    lines: list[str] = []
    start = used = 0
    for position, part in enumerate(parts):
        if used + cell_len(part) > width:
            spaces = [at for at in range(start, position) if parts[at] == " "]
            end = spaces[-1] + 1 if spaces else position
            lines.append("".join(parts[start:end]).strip())
            start = end
            used = sum(map(cell_len, parts[start:position]))
        used += cell_len(part)
    return [*lines, "".join(parts[start:]).strip()]

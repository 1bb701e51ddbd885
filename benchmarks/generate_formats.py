"""Write seeded files of any format that is read by lines, from the shapes of its test lines.

The lines of `tests/mutations/seeds` hold every variant of a format. Each is taken apart once: what
is an instant, an address, a host name, an id or a longer number differs from line to line, within
what keeps the line valid; all else stays. JSON is written as the systems themselves write it,
without blanks between values. All numbers of one line get the same last digits, so that
an end stays behind its start.
"""

import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Literal

import msgspec

SEED = 20_260_310
NAMES = 5_000
"""Different host names and paths; caches must not hide what reading them costs."""

_VARIES = re.compile(
    rb"(?P<clock>(?<=[T: ]\d\d:)\d\d:\d\d(?![\d:]))"
    rb"|(?P<address>(?<![\d.])(?:10|192|198|203)\.\d{1,3}\.\d{1,3}\.)\d{1,3}(?![\d.])"
    rb"|(?P<hex>(?<![0-9A-Za-z])(?=[0-9a-f-]*[0-9])(?=[0-9a-f-]*[a-f])[0-9a-f-]{8,}?)"
    rb"[0-9a-f]{8}(?![0-9A-Za-z])"
    rb"|(?P<host>(?<![\w.\\-])(?=(?:[a-z0-9-]+\.){0,3}example\.(?:com|net|org)\b))"
    rb"|(?P<number>(?<![\w.-])(?!9223372036854775)\d{4,17})\d\d(?![\w.])"
)
Kind = Literal["json", "text"]


@dataclass(frozen=True)
class Template:
    """A line, cut where it varies.

    Attributes:
        parts: What stays, and between two of them the kind of what varies.
    """

    parts: tuple[bytes | str, ...]

    def draw(self, random: Random) -> bytes:
        """One line."""
        number = random.randrange(NAMES)
        drawn = {
            "clock": b"%02d:%02d" % divmod(random.randrange(3_600), 60),
            "address": b"%d" % random.randrange(1, 255),
            "hex": b"%08x" % random.getrandbits(32),
            "host": b"h%d." % number,
            "number": b"%02d" % random.randrange(100),
        }
        return b"".join(drawn[p] if isinstance(p, str) else p for p in self.parts)


@dataclass(frozen=True)
class Lines:
    """The lines of one format and kind.

    Attributes:
        header: Lines that stand before the records.
        templates: The records.
        hang_together: All templates are one thing's records, so that they are drawn together.
    """

    header: tuple[bytes, ...]
    templates: tuple[Template, ...]
    hang_together: bool = False


def lines_of(format_name: str, folder: Path) -> dict[Kind, Lines]:
    """The lines of a format's seeds that are records, as JSON and as text."""
    from tests.mutations.exports import plant
    from tests.mutations.rules import RULES
    from tests.transforms.staging.export_text import CONTEXT

    hang_together = format_name in RULES and RULES[format_name].together is not None
    kept = ("accepted", "ignored") if hang_together else ("accepted",)
    found: dict[Kind, Lines] = {}
    for data in import_module(f"tests.mutations.seeds.{format_name}").FILES:
        seed = plant(folder / "seed", format_name, data, CONTEXT)
        accepted = [
            seed.lines[number - 1]
            for number, results in seed.results.items()
            if any(result.fate in kept for result in results) and number not in seed.joined
        ]
        if seed.reading != "lines" or len(accepted) < 2:
            continue
        kind: Kind = "json" if accepted[0][:1] == b"{" else "text"
        header = tuple(
            line for number, line in enumerate(seed.lines, 1) if number not in seed.results
        )
        known = found.get(kind)
        if known is not None and (known.header or header or hang_together):
            continue  # the first header holds for all lines
        if kind == "json":
            accepted = [msgspec.json.format(line, indent=-1) for line in accepted]
        templates = tuple(_template(line) for line in accepted)
        known_templates = known.templates if known else ()
        found[kind] = Lines(header, known_templates + templates, hang_together)
    return found


def _template(line: bytes) -> Template:
    parts: list[bytes | str] = []
    end = 0
    for match in _VARIES.finditer(line):
        kind = match.lastgroup or ""
        kept = match[kind] if kind in {"address", "hex", "number"} else b""
        parts += [line[end : match.start()] + kept, kind]
        end = match.end()
    return Template((*parts, line[end:]))


def write(lines: Lines, path: Path, size: int, number: int) -> int:
    """Write one file of about so many bytes; returns its records."""
    random = Random(SEED + number)
    path.parent.mkdir(parents=True, exist_ok=True)
    records = written = 0
    with path.open("wb", 1 << 20) as file:
        file.writelines(line + b"\n" for line in lines.header)
        while written < size:
            if lines.hang_together:
                state = random.random()
                drawn = [template.draw(Random(state)) for template in lines.templates]
            else:
                drawn = [random.choice(lines.templates).draw(random)]
            written += sum(file.write(line + b"\n") for line in drawn)
            records += len(drawn)
    return records

r"""The pattern of a logger's own lines, as the export's `record_format` states it.

    record_format: '^(?P<time>\S+) \w+ stage=(?P<event>\w+) took=(?P<elapsed>[\d.]+)s'

Named groups: `event` (needed: a name such as `download_start`), `time` (RFC 3339, also with a blank
or a comma, or seconds since 1970; without it the wrapper's time), `elapsed` (seconds), `attempts`,
`bytes`, `resource`, `outcome`, `error`, `cache`, `status`.

Lines are hostile and a pattern may be careless, so that lines are matched by an engine without
backtracking: its time grows with the length of a line and not faster, whatever the pattern is. It
knows neither look-around nor back references, and refuses patterns that grow too large.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

MAX_PATTERN = 2_000
MAX_LINE = 16_384
"""Characters of a line that are looked at."""
GROUPS = frozenset(
    {
        "event", "time", "elapsed", "attempts", "bytes", "resource", "outcome", "error", "cache",
        "status",
    }
)  # fmt: skip

_GROUP = re.compile(r"\(\?P?<([A-Za-z_]\w*)>")
_COUNT = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_MAX_COUNT = 1_000


class LinePattern(NamedTuple):
    """A pattern that may be used.

    Attributes:
        text: The pattern.
    """

    text: str

    def match(self, lines: Sequence[str]) -> list[dict[str, str] | None]:
        """The named groups of each line; none where it does not match."""
        texts = pl.Series("line", [line[:MAX_LINE] for line in lines], dtype=pl.String)
        found = texts.str.extract_groups(self.text).struct.unnest()
        names = found.columns
        rows = found.select(n for n in names if n in GROUPS).to_dicts()
        matched = texts.str.contains(self.text).to_list()
        return [
            {name: value for name, value in row.items() if value} if is_match else None
            for row, is_match in zip(rows, matched, strict=True)
        ]


def line_pattern(stated: str) -> LinePattern | str:
    """A pattern of the settings, or why it cannot be used."""
    if len(stated) > MAX_PATTERN:
        return f"a pattern of at most {MAX_PATTERN} characters"
    groups = _GROUP.findall(stated)
    if "event" not in groups:
        return "a pattern with a group named event"
    unknown = sorted(set(groups) - GROUPS)
    if unknown or len(set(groups)) < len(groups):
        return f"each group once, of the names {', '.join(sorted(GROUPS))}"
    if any(int(n or 0) > _MAX_COUNT for counts in _COUNT.findall(stated) for n in counts):
        return f"repetitions of at most {_MAX_COUNT}"
    pattern = LinePattern(stated)
    try:
        pattern.match([""])
    except pl.exceptions.PolarsError:
        return "a pattern without look-around and back references that is not too large"
    return pattern


def expected_form(stated: str) -> str | None:
    """What is expected in the place of a pattern; nothing where it can be used."""
    found = line_pattern(stated)
    return found if isinstance(found, str) else None


def fields_of(groups: dict[str, str]) -> dict[str, Any]:
    """Groups of a line by the names that a structured event has."""
    names = {"event": "event.name", "elapsed": "elapsed_s", "error": "error.type",
             "status": "http.response.status_code"}  # fmt: skip
    return {names.get(name, name): value for name, value in groups.items()}

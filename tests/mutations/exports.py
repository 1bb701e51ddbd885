"""An export file whose records are known by where they stand, so that a change can be followed.

A file is read by lines, or as one document; which, is a rule of the readers. In a file of lines a
change touches lines, or, inside a line of JSON that holds several records, one record. In a
document a change that leaves it JSON touches a record; any other damage touches all of it: a
document that is no JSON is refused as a whole, once.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unittest import mock

from pipelines.landing import parsing
from pipelines.landing.formats import parsers
from pipelines.landing.readers import Break, raw_records
from tests.mutations.json_spans import at_path, spans
from tests.mutations.rules import RULES, Rules
from transforms.staging.parser import FileContext, Parsed

_LINE = re.compile(r"line (\d+)(?: byte \d+)?(?: (\$.*))?\Z")


class Result(NamedTuple):
    """What became of one record."""

    locator: str
    fate: str
    word: str
    rows: tuple[tuple[str, dict[str, Any]], ...]

    def same_as(self, other: "Result", left_out: Iterable[str] = ()) -> bool:
        """Whether two results say the same, wherever the records stand."""
        return (self.fate, self.word, stated(self.rows, left_out)) == (
            other.fate,
            other.word,
            stated(other.rows, left_out),
        )


def stated(
    rows: Iterable[tuple[str, Mapping[str, Any]]], left_out: Iterable[str]
) -> list[tuple[str, dict[str, Any]]]:
    """What rows state, without some columns."""
    names = set(left_out)
    return [(table, {k: v for k, v in row.items() if k not in names}) for table, row in rows]


@dataclass(frozen=True)
class Read:
    """What a file gives, by landing's own way of reading it.

    Attributes:
        results: One per record, in order.
        problems: What breaks the rules that hold for any bytes.
    """

    results: list[Result]
    problems: list[str]


def read(path: Path, format_name: str, context: FileContext) -> Read:
    """Parse a file as `podledger check` and landing do, frames and checks of tables included."""
    seen: list[Parsed] = []
    records = parsing.parse_records

    def noted(*arguments: Any) -> Any:
        for parsed in records(*arguments):
            seen.append(parsed)
            yield parsed

    with mock.patch.object(parsing, "parse_records", noted):
        findings = parsing.check_file(path, format_name, context, 1 << 40)
    outcome = findings.outcome
    problems = []
    counts = (outcome.accepted_count, outcome.rejected_count, sum(outcome.ignored.values()))
    if not outcome.record_count == len(seen) == sum(counts):
        problems.append(f"{outcome.record_count} records, {len(seen)} seen, but fates {counts}")
    refused = {reject.record_index: reject.reason for reject in findings.rejects}
    if len(refused) != outcome.rejected_count:
        problems.append(f"{outcome.rejected_count} refused, {len(refused)} shown")
    results = []
    for index, parsed in enumerate(seen):
        fates = (bool(parsed.rows), parsed.reject is not None, parsed.ignore is not None)
        if sum(fates) != 1:
            problems.append(f"{parsed.locator}: rows, reject, ignore: {fates}")
        reason = refused.get(index)
        if reason is not None:
            if not re.match(r"[\w.-]{1,60}: (?:.{0,60}: )?expected .{1,250}\Z", reason, re.DOTALL):
                problems.append(f"{parsed.locator}: reason {reason[:200]!r}")
            results.append(Result(parsed.locator, "rejected", reason.partition(":")[0], ()))
        elif parsed.ignore is not None:
            results.append(Result(parsed.locator, "ignored", parsed.ignore, ()))
        else:
            results.append(Result(parsed.locator, "accepted", "", parsed.rows))
    return Read(results, problems)


def line_of(locator: str) -> int | None:
    """Line number of a locator; none for a document's records and a stream's break."""
    match = _LINE.match(locator)
    return int(match[1]) if match else None


def path_of(locator: str) -> str:
    """JSON path of a locator."""
    match = _LINE.match(locator)
    return (match[2] or "$") if match else locator


def is_within(path: str, parent: str) -> bool:
    """Whether a JSON path is another or leads into it."""
    return path == parent or (path.startswith(parent) and path[len(parent)] in ".[")


@dataclass
class Piece:
    """A line of the mutated text, or what stands in the place of one.

    Attributes:
        data: The text, without line end; it may hold line ends after damage.
        origin: Line of the original file, from 1; none for what was added.
        touched: JSON paths of the records that were changed; `$` for all of the line.
        renamed: New path of an old one inside this line; none where it is gone.
        oracle: For each changed path: `same` meaning, `valid`, or nothing known.
        operators: What was done.
    """

    data: bytes
    origin: int | None
    touched: list[str] = field(default_factory=list)
    renamed: Callable[[str], str | None] = lambda path: path
    oracle: dict[str, str] = field(default_factory=dict)
    operators: list[str] = field(default_factory=list)


Reading = Literal["lines", "document", "documents"]
"""How a file is read: by lines, as one document, or as documents over many lines each."""


@dataclass(frozen=True)
class Seed:
    """A whole file that is as it should be.

    Attributes:
        format: Its format.
        data: The text.
        context: What is known of it.
        reading: How it is read.
        lines: The lines, the one document, or the documents.
        results: What each of `lines` gives, by number from 1; headers and what is no record have
            none.
        joined: Lines of which the meaning hangs on others: pieces of long lines and what ends them.
    """

    format: str
    data: bytes
    context: FileContext
    reading: Reading
    lines: tuple[bytes, ...]
    results: dict[int, list[Result]]
    joined: frozenset[int]

    def common(self, number: int, path: str) -> bytes | None:
        """What a record has in common with others that become one row with it, if with any."""
        together = RULES.get(self.format, Rules()).together
        if together is None:
            return None
        line = self.lines[number - 1]
        tree = spans(line)
        node = at_path(tree, path) if tree else None
        match = together.search(line[node.start : node.end] if node else line)
        return match[0] if match else None


def plant(path: Path, format_name: str, data: bytes, context: FileContext) -> Seed:
    """Read a file that is as it should be."""
    path.write_bytes(data)
    found = read(path, format_name, context)
    if found.problems or not found.results:
        message = f"{format_name}: the seed itself breaks a rule: {found.problems}"
        raise AssertionError(message)
    reading = _reading(path, format_name, found)
    lines = (data,) if reading == "document" else tuple(data.removesuffix(b"\n").split(b"\n"))
    results: dict[int, list[Result]] = {}
    for result in found.results:
        if result.word == "header":
            continue
        results.setdefault(line_of(result.locator) or 1, []).append(result)
    if reading == "documents":
        starts = sorted(results)
        ends = [*(start - 1 for start in starts[1:]), len(lines)]
        lines = tuple(b"\n".join(lines[s - 1 : e]) for s, e in zip(starts, ends, strict=True))
        results = {n: results[start] for n, start in enumerate(starts, 1)}
    pieces = [n for n, each in results.items() if any(r.word == "partial" for r in each)]
    is_joined = pieces and not RULES.get(format_name, Rules()).together
    joined = range(min(pieces), max(pieces) + 4) if is_joined else ()
    return Seed(format_name, data, context, reading, lines, results, frozenset(joined))


def _reading(path: Path, format_name: str, found: Read) -> Reading:
    first = next(iter(raw_records(path, parsers()[format_name].shape)))
    if isinstance(first, Break) or first.locator != "$":
        return "lines"
    return "documents" if found.results[0].locator.startswith("line") else "document"

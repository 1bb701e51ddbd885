"""`podledger check`: what a file is, what it carries, what would be refused and why."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.options import AsJson
from pipelines.cli.output import print_plain, printable, to_json
from pipelines.errors import InputError, PodledgerError
from pipelines.landing.detection import Detected, detect, verify
from pipelines.landing.formats import format_names, parsers
from pipelines.landing.parsing import check_file
from pipelines.landing.readers import head
from transforms.redaction import KeyedHash
from transforms.staging.parser import FileContext

SHOWN_REJECTS = 5


@dataclass
class FileCheck:
    """What one file is.

    Attributes:
        path: The file.
        format: Its format; none if unknown.
        variant: What exactly.
        problem: Why it is unknown.
        counts: Records by kind.
        rows: Rows by table.
        ignored: Ignored records by reason.
        rejects: (locator, byte offset, reason, excerpt) of the first rejects.
        capabilities: Optional columns that hold a value.
        first_event_at: Earliest event.
        last_event_at: Latest event.
    """

    path: str
    format: str | None = None
    variant: str = ""
    problem: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    rejects: list[tuple[str, int | None, str, str]] = field(default_factory=list)
    capabilities: list[str] = field(default_factory=list)
    first_event_at: dt.datetime | None = None
    last_event_at: dt.datetime | None = None


def check(
    files: Annotated[list[str], typer.Argument(help="Export files.")],
    format_name: Annotated[
        str | None, typer.Option("--format", help="Say what a header-less file is.")
    ] = None,
    record_format: Annotated[
        str | None, typer.Option("--record-format", help="Header, or custom log line.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what files are and what would be refused; writes nothing.

    Example: podledger check events.log
    """
    if format_name is not None and format_name not in format_names():
        message = f"--format {format_name}: expected one of {', '.join(format_names())}"
        raise PodledgerError(message)
    found = [check_one(Path(name), format_name, record_format) for name in files]
    if as_json:
        print_plain(to_json([vars(item) for item in found]))
    else:
        for item in found:
            _print(item)
    raise typer.Exit(2 if any(item.problem for item in found) else 0)


def check_one(path: Path, format_name: str | None, record_format: str | None) -> FileCheck:
    """Look at one file.

    Raises:
        InputError: It is no readable file.
    """
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "absent"
        message = f"{path}: {kind}; expected a file"
        raise InputError(message)
    result = FileCheck(str(path))
    beginning = head(path)
    if format_name is None:
        detected = detect(beginning)
        if not isinstance(detected, Detected):
            result.problem = detected
            return result
        parser, result.variant = detected.parser, detected.variant
    else:
        parser = parsers()[format_name]
        contradiction = verify(parser, beginning)
        if contradiction is not None:
            result.problem = contradiction
            return result
    result.format = parser.name
    context = FileContext(
        export="check",
        path=str(path),
        cluster=None,
        node=None,
        project=None,
        region=None,
        landing_date=dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC).date(),
        path_at=None,
        record_format=record_format,
        temporality=None,
        key_hash=KeyedHash(None),
    )
    outcome = check_file(path, parser.name, context)
    result.counts = {
        "record": outcome.record_count,
        "accepted": outcome.accepted_count,
        "rejected": len(outcome.rejects),
        "ignored": outcome.ignored.total(),
    }
    result.rows = {table: count for table, (_, count) in sorted(outcome.tables.items())}
    result.ignored = dict(sorted(outcome.ignored.items()))
    result.rejects = [
        (r.locator, r.byte_offset, r.reason, r.excerpt) for r in outcome.rejects[:SHOWN_REJECTS]
    ]
    result.capabilities = sorted(outcome.capabilities)
    result.first_event_at = outcome.first_event_at
    result.last_event_at = outcome.last_event_at
    return result


def _print(item: FileCheck) -> None:
    if item.problem is not None:
        print_plain(f"{item.path}: {item.problem}")
        return
    counts = ", ".join(f"{n} {kind}" for kind, n in item.counts.items() if kind != "record")
    variant = f" ({item.variant})" if item.variant else ""
    print_plain(f"{item.path}: {item.format}{variant}, {item.counts['record']} records: {counts}")
    for table, rows in item.rows.items():
        names = [c.split(".", 1)[1] for c in item.capabilities if c.startswith(f"{table}.")]
        print_plain(f"  {rows} row(s) of {table}, with {', '.join(names) or 'no optional column'}")
    if item.first_event_at is not None:
        print_plain(f"  events from {item.first_event_at} to {item.last_event_at}")
    for reason, n in item.ignored.items():
        print_plain(f"  ignored: {reason} ({n})")
    reasons = Counter(reason.split(":", 1)[0] for _, _, reason, _ in item.rejects)
    for locator, offset, reason, excerpt in item.rejects:
        where = locator if offset is None else f"{locator}, byte {offset}"
        print_plain(f"  rejected: {where}: {printable(reason)}")
        if excerpt:
            print_plain(f"    {printable(excerpt)}")
            print_plain("    ^")
    more = item.counts["rejected"] - sum(reasons.values())
    if more > 0:
        print_plain(f"  and {more} more reject(s)")

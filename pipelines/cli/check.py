"""`podledger check`: what a file is, what it carries, what would be refused and why."""

import datetime as dt
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.cells import cell_len

from pipelines.cli.options import AsJson
from pipelines.cli.output import print_plain, printable, to_json
from pipelines.errors import wrong_option
from pipelines.landing.detection import Detected, identify
from pipelines.landing.formats import expected_form, format_names, parsers
from pipelines.landing.parsing import Findings, check_file
from transforms.redaction import KeyedHash, redact, redact_name
from transforms.staging.naming_facts import LOOKUPS, no_lookups_note
from transforms.staging.parser import FileContext

SHOWN_REJECTS = 5
ANY_KEY = KeyedHash(b"podledger check")
"""So that what is kept as a keyed hash counts among what a file carries; no hash is shown."""


@dataclass
class RejectedRecord:
    """A record that would be refused.

    Attributes:
        locator: Where it stands.
        byte_offset: Offset in the decompressed text; none for a part of a document.
        reason: Why.
        excerpt: What may be shown of it.
        caret: Character of the excerpt at which it breaks, where that is known.
    """

    locator: str
    byte_offset: int | None
    reason: str
    excerpt: str
    caret: int | None


@dataclass
class FileCheck:
    """What one file is.

    Attributes:
        path: The file.
        format: Its format; none if unknown.
        variant: What exactly.
        problem: Why it is unknown or cannot be read.
        counts: Records by kind.
        rows: Rows by table.
        ignored: Ignored records by reason.
        rejected: Refused records by the first word of their reason.
        rejects: The first refused records.
        capabilities: `table.column` of optional columns that hold a value.
        first_event_at: Earliest event.
        last_event_at: Latest event.
        notes: What its look-ups cannot tell of names.
    """

    path: str
    format: str | None = None
    variant: str = ""
    problem: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    rejects: list[RejectedRecord] = field(default_factory=list)
    capabilities: list[str] = field(default_factory=list)
    first_event_at: dt.datetime | None = None
    last_event_at: dt.datetime | None = None
    notes: list[str] = field(default_factory=list)


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
        known = f"one of {', '.join(format_names())}"
        raise wrong_option(option="--format", value=format_name, expected=known)
    if record_format is not None:
        expected = expected_form(format_name or "auto", record_format)
        if expected is not None:
            raise wrong_option(option="--record-format", value=record_format, expected=expected)
    found = []
    for name in files:
        item = check_one(name, format_name, record_format)
        found.append(item)
        if not as_json:
            _print(item)
    if as_json:
        print_plain(to_json([asdict(item) for item in found]))
    raise typer.Exit(2 if any(item.problem for item in found) else 0)


def check_one(name: str, format_name: str | None, record_format: str | None) -> FileCheck:
    """Look at one file; what hinders that is its `problem`."""
    path, result = Path(name), FileCheck(redact_name(name))
    try:
        result.problem = _unreadable(path)
        if result.problem is None:
            _fill(result, path, format_name, record_format)
    except OSError as error:
        result.problem = f"{error.strerror or 'cannot be read'}; expected a readable file"
    return result


def _unreadable(path: Path) -> str | None:
    if path.is_file():
        return None
    if path.is_dir():
        return "a folder; expected a file"
    if str(path).startswith("s3:"):
        return "not a local file; fetch it to check it"
    return "no regular file; expected a file" if path.exists() else "absent; expected a file"


def _fill(
    result: FileCheck, path: Path, format_name: str | None, record_format: str | None
) -> None:
    detected = identify(path, format_name, record_format)
    if not isinstance(detected, Detected):
        result.problem = detected
        return
    result.format, result.variant = detected.parser.name, detected.variant
    context = FileContext(
        export="check",
        path=result.path,
        cluster=None,
        node=None,
        project=None,
        region=None,
        landing_date=dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC).date(),
        path_at=None,
        record_format=record_format,
        temporality=None,
        key_hash=ANY_KEY,
    )
    _take(result, check_file(path, detected.parser.name, context, SHOWN_REJECTS))


def _take(result: FileCheck, found: Findings) -> None:
    outcome = found.outcome
    result.counts = {
        "record": outcome.record_count,
        "accepted": outcome.accepted_count,
        "rejected": outcome.rejected_count,
        "ignored": outcome.ignored.total(),
    }
    result.rows = {table: count for table, (_, count) in sorted(outcome.tables.items())}
    result.ignored = dict(sorted(outcome.ignored.items()))
    result.rejected = dict(sorted(found.reasons.items()))
    result.rejects = [
        RejectedRecord(r.locator, r.byte_offset, r.reason, r.excerpt, r.caret)
        for r in found.rejects
    ]
    result.capabilities = sorted(outcome.capabilities)
    result.first_event_at = outcome.first_event_at
    result.last_event_at = outcome.last_event_at
    is_query_log = result.format is not None and parsers()[result.format].tables == (LOOKUPS,)
    read_count = outcome.record_count - outcome.rejected_count
    if is_query_log and read_count and not outcome.naming.counts["lookups"]:
        result.notes = [no_lookups_note(read_count)]
    else:
        result.notes = outcome.naming.notes()


def _print(item: FileCheck) -> None:
    path = printable(item.path)
    if item.problem is not None:
        print_plain(f"{path}: {printable(redact(item.problem))}")
        return
    counts = ", ".join(f"{n} {kind}" for kind, n in item.counts.items() if kind != "record")
    variant = f" ({printable(item.variant)})" if item.variant else ""
    print_plain(f"{path}: {item.format}{variant}, {item.counts['record']} record(s): {counts}")
    for table, rows in item.rows.items():
        names = [c.split(".", 1)[1] for c in item.capabilities if c.startswith(f"{table}.")]
        print_plain(f"  {rows} row(s) of {table}, with {', '.join(names) or 'no optional column'}")
    if item.first_event_at is not None:
        print_plain(f"  events from {_time(item.first_event_at)} to {_time(item.last_event_at)}")
    for reason, n in item.ignored.items():
        print_plain(f"  ignored: {printable(reason)} ({n})")
    for word, n in item.rejected.items():
        print_plain(f"  rejected: {printable(word)} ({n})")
    for reject in item.rejects:
        where = reject.locator
        if reject.byte_offset is not None and not where.startswith("byte "):
            where += f", byte {reject.byte_offset}"
        print_plain(f"  {where}: {printable(reject.reason)}")
        if reject.excerpt:
            shown = printable(reject.excerpt)
            print_plain(f"    {shown}")
            if reject.caret is not None:
                before = printable(reject.excerpt[: reject.caret])
                print_plain(f"    {' ' * cell_len(before)}^")
    more = item.counts["rejected"] - len(item.rejects)
    if more > 0:
        print_plain(f"  and {more} more rejected record(s)")
    for note in item.notes:
        print_plain(f"  note: {note}")


def _time(instant: dt.datetime | None) -> str:
    return "" if instant is None else f"{instant:%Y-%m-%dT%H:%M:%S.%fZ}"

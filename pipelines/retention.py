"""Retention: which files of the lake are older than the settings keep them and needed no more.

The ledger is never pruned: it tells for ever which files are known, so that nothing lands twice.
Kept, however old, is what a day that is not final yet, or any later one, reads: by the look-backs,
and of a run that is still seen its whole life. A final day that reads something pruned is closed
first: it keeps its answers and is built no more, so that late files, settings and new versions
cannot make it come out without its inputs.

A record that is dated long behind the day on which its file landed is of a clock that ran ahead
(`status` names its file). It keeps nothing: a part is needed until `LONG_RANGE` behind its landing
day at most, whatever its records say.

Notes are written before anything is removed: first which days are closed, then which parts readers
do without. A run that dies in between leaves a lake that reads as before, and the next one, or the
next landing, removes what is left.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.build import build_day_of, runs_of, span_start
from pipelines.catalog import is_current
from pipelines.errors import PodledgerError
from pipelines.finality import BUILT, final_basis, is_asked, is_closed, last_awaited, note_closed
from pipelines.ledger import REJECTED_RECORDS, Ledger, note_pruned
from pipelines.publication import note_of
from pipelines.run import LONG_RANGE, Workspace, event_days, write_catalogue
from pipelines.storage import Lake
from schemas.registry import tables
from transforms.day import BuildDay
from transforms.registry import transforms

STAGED = tuple(name for name, spec in tables().items() if spec.layer == "staging")
LONGEST_PODS = dt.timedelta(days=2)
"""A run that is seen on one of the last days before an open one may go on on it."""


@dataclass
class Pruning:
    """What is to be removed, and what stays although it is old.

    Attributes:
        parts: Parts of staging and refused records, by landing day.
        files: Files of intermediate tables and marts.
        closed: Final days that read any of it and are built no more.
        needed: (table, day) of old files that a day which is not final yet reads.
        first_open: First day that is not final.
    """

    first_open: dt.date
    parts: dict[dt.date, set[str]] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    closed: set[dt.date] = field(default_factory=set)
    needed: set[tuple[str, dt.date]] = field(default_factory=set)

    def paths(self, lake: Lake, ledger: Ledger) -> Iterator[tuple[str, dt.date, Path]]:
        """Table, day and path of every file to remove, those of a run that died among them."""
        for table in (*STAGED, REJECTED_RECORDS):
            for day in lake.days(table):
                for path in lake.files(table, day):
                    name = path.stem
                    is_left = (day, name) not in ledger.listed
                    if is_left or name.rpartition("-")[2] in self.parts.get(day, ()):
                        yield table, day, path
        for path in self.files:
            yield _table_of(path), _day_of(path), path


def plan(workspace: Workspace, ledger: Ledger) -> Pruning:
    """What the settings ask to be removed today, and may be.

    Raises:
        PodledgerError: The settings do not say how long anything is kept.
    """
    kept = workspace.settings.retention_days
    if kept is None or not kept.model_dump(exclude_none=True):
        message = (
            "retention_days: not set; expected days such as 90, or a mapping such as "
            "{staging: 60, intermediate: 90, marts: 730}"
        )
        raise PodledgerError(message)
    found = Pruning(_first_open(workspace))
    first = _as_day(workspace, ledger, found.first_open)
    if kept.staging is not None:
        _plan_parts(found, ledger, first, workspace.today - dt.timedelta(days=kept.staging))
    for layer, days in (("intermediate", kept.intermediate), ("marts", kept.marts)):
        if days is not None:
            _plan_files(found, workspace.lake, layer, first, workspace.today - dt.timedelta(days))
    _close(found, workspace, ledger)
    return found


def _first_open(workspace: Workspace) -> dt.date:
    """First day that is not published as final, or was asked for: it and later ones are built."""
    lake, settings = workspace.lake, workspace.settings
    day = workspace.today
    while last_awaited(settings, day - dt.timedelta(days=1)) >= workspace.today:
        day -= dt.timedelta(days=1)
    known = {*event_days(lake), *lake.days(BUILT)}
    open_days = {d for d in known if final_basis(lake, d) is None or is_asked(lake, d)}
    return min({day, *(d for d in open_days if not is_closed(lake, d))})


def _as_day(workspace: Workspace, ledger: Ledger, day: dt.date) -> BuildDay:
    return build_day_of(workspace.settings, workspace.lake, ledger, day, workspace.today)


def _plan_parts(found: Pruning, ledger: Ledger, first: BuildDay, before: dt.date) -> None:
    """Parts of old landing days of which no day from the first open one on reads anything."""
    starts = {table: _start(first, table) for table in STAGED}
    lasting: dict[tuple[dt.date, str], list[str]] = {}
    for day, part, last, rows in ledger.files.select(
        "landing_date", "part", "last_event_at", "rows_by_table"
    ).iter_rows():
        if part is None or day >= before:
            continue
        until = _until(day, last)
        # No day reads a table of an older version that is none any more.
        tables = [r["table_name"] for r in rows if r["table_name"] in starts]
        needed = [table for table in tables if until >= starts[table]]
        lasting.setdefault((day, part), []).extend(needed)
    for (day, part), needed in lasting.items():
        if needed:
            found.needed.update((table, day) for table in needed)
        else:
            found.parts.setdefault(day, set()).add(part)


def _until(landing: dt.date, last: dt.datetime | None) -> dt.datetime:
    """When the newest event of a file counts; what has no time counts as of its landing day."""
    end = dt.datetime.combine(landing, dt.time(), dt.UTC) + dt.timedelta(days=1)
    return end if last is None else min(last, end + LONG_RANGE)


def _start(day: BuildDay, table: str) -> dt.datetime:
    """First instant that a day reads of a staging table."""
    reads = [r for t in transforms().values() for r in t.reads if r.table == table]
    starts = [span_start(day, read.span) for read in reads]
    least = dt.datetime.min.replace(tzinfo=dt.UTC)
    return min((least if start is None else start for start in starts), default=day.start_at)


def _plan_files(found: Pruning, lake: Lake, layer: str, first: BuildDay, before: dt.date) -> None:
    """Files of old days of a layer that no day from the first open one on reads."""
    for table, spec in tables().items():
        if spec.layer != layer:
            continue
        reads = [r for t in transforms().values() for r in t.reads if r.table == table]
        starts = [span_start(first, read.span) for read in reads]
        since = min((start.date() for start in starts if start is not None), default=first.date)
        of_runs = any(start is None for start in starts)
        for day in lake.days(table):
            if day >= before:
                continue
            if day >= since or (of_runs and _runs_go_on(lake, day, first.date)):
                found.needed.update((table, day) for _ in lake.files(table, day)[:1])
            else:
                found.files.extend(lake.files(table, day))


def _runs_go_on(lake: Lake, day: dt.date, first_open: dt.date) -> bool:
    """Whether a run of a day is seen on an open day, or may be."""
    recent = [d for d in lake.days(BUILT) if d >= first_open - LONGEST_PODS]
    active = frozenset[str]().union(*(runs_of(lake, d) for d in recent))
    return not active.isdisjoint(runs_of(lake, day))


def _close(found: Pruning, workspace: Workspace, ledger: Ledger) -> None:
    """Name the final days that read what is pruned."""
    lake = workspace.lake
    newest = _newest_events(found, ledger)
    pruned: dict[str, set[dt.date]] = {}
    for path in found.files:
        pruned.setdefault(_table_of(path), set()).add(_day_of(path))
    for date in lake.days(BUILT):
        if date >= found.first_open or is_closed(lake, date):
            continue
        day = _as_day(workspace, ledger, date)
        if any(
            _reads_pruned(lake, day, read.table, span_start(day, read.span), newest, pruned)
            for transform in transforms().values()
            for read in transform.reads
        ) or any(date in days for days in pruned.values()):
            found.closed.add(date)


def _reads_pruned(
    lake: Lake,
    day: BuildDay,
    table: str,
    start: dt.datetime | None,
    newest: dict[str, dt.datetime],
    pruned: dict[str, set[dt.date]],
) -> bool:
    if table in newest:
        return start is None or start <= newest[table]
    days = {d for d in pruned.get(table, ()) if d <= day.date}
    if start is not None:
        return any(d >= start.date() for d in days)
    runs = runs_of(lake, day.date)
    return any(not runs.isdisjoint(runs_of(lake, d)) for d in days)


def _newest_events(found: Pruning, ledger: Ledger) -> dict[str, dt.datetime]:
    """Newest instant of what is pruned of each staging table."""
    newest: dict[str, dt.datetime] = {}
    for day, part, last, rows in ledger.files.select(
        "landing_date", "part", "last_event_at", "rows_by_table"
    ).iter_rows():
        if part in found.parts.get(day, ()):
            until = _until(day, last)
            for listed in rows:
                table = listed["table_name"]
                newest[table] = max(until, newest.get(table, until))
    return newest


def prune(workspace: Workspace) -> int:
    """Remove what the plan names; returns how many files.

    Raises:
        PodledgerError: The settings do not say how long anything is kept.
    """
    removed = 0
    with workspace.locked() as lake:
        ledger = Ledger.read(lake)
        found = plan(workspace, ledger)
        for day in sorted(found.closed):
            note_closed(lake, day)
        for day, parts in sorted(found.parts.items()):
            note_pruned(lake, day, parts)
        for path in found.files:
            # A file whose note stands without it would count as lost.
            lake.remove(note_of(path))
            lake.remove(path)
            removed += 1
        removed += Ledger.read(lake).remove_unlisted_parts(STAGED)
        newest = max(lake.days(BUILT), default=None)
        if newest is not None and not is_current(lake, workspace.settings.catalog_path):
            write_catalogue(workspace.settings, lake, newest)
    return removed


def _table_of(path: Path) -> str:
    return path.parent.parent.name


def _day_of(path: Path) -> dt.date:
    return dt.date.fromisoformat(path.parent.name.removeprefix("date="))

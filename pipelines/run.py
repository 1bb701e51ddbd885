"""Land and build: what the schedule does each night and what `podledger build` does when asked.

Dagster's assets and the command line both come here, so that they cannot differ.
"""

import datetime as dt
import getpass
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from pipelines.build import (
    Outcome,
    basis_of,
    build_day_of,
    build_table,
    engine_memory,
    gather,
    room_of,
    scopes_of,
    span_start,
)
from pipelines.catalog import is_current, write_catalog
from pipelines.catalog import made_from as catalogue_made_from
from pipelines.deliveries import (
    DELIVERIES,
    delivery_rows,
    export_scopes,
    note_left_out,
    noted_left_out,
    write_deliveries,
)
from pipelines.errors import LakeOutdatedError, PodledgerError
from pipelines.finality import (
    BUILT,
    final_basis,
    forget_asked,
    has_watermark_passed,
    is_asked,
    is_closed,
    note_asked,
    note_final,
)
from pipelines.ingredients import causes
from pipelines.landing.land import LandReport, land
from pipelines.late import Waiting, cause_of, late_files, waiting
from pipelines.layout import note_layout, require_known_layout
from pipelines.ledger import Ledger
from pipelines.manifests import write_manifests
from pipelines.parquet import scan_files
from pipelines.publication import Made, digest, is_lost, made_from
from pipelines.remote_lake import lake_of, open_lake
from pipelines.restatements import OF_OPEN_PERIODS, Restating, last_cause, settle
from pipelines.settings import Settings, find_settings_file, load_settings
from pipelines.side_by_side import SideBySide, Task
from pipelines.storage import Lake
from schemas.registry import table_spec
from schemas.table import FLEET, TableSpec
from transforms.registry import transforms

STATES = {
    "run_versions", "pod_states", "node_states", "services", "kube_event_states", "namespaces",
    "network_policies", "resource_claims",
}  # fmt: skip
"""Tables whose rows speak for a time that may have begun long before they were exported."""
OF_ONE_CLUSTER = {
    "hubble", "coredns", "dns_collector", "kubernetes", "kubernetes_audit", "event_exporter",
    "otel_k8sobjects", "kube_state_metrics", "otlp",
}  # fmt: skip
"""Formats whose records are of use only to the cluster that they come from."""
FIRST_DAY = dt.date(2024, 1, 1)
"""No day before this one is landed or built: it is older than the formats."""
BILL = "billing_lines"
LOST = "its file is missing"
NOT_BUILT = "not built"
SEEN_AFTER_SECONDS = 60.0
"""A lake on S3 is listed again no more often than this by one who only reads."""
LONG_RANGE = dt.timedelta(days=3)
"""Of a log file with a longer event range the rows are asked for their days; a clock that runs this
far ahead of the landing day is wrong."""


def now() -> dt.datetime:
    """The clock, read here and nowhere below."""
    return dt.datetime.now(dt.UTC)


class Listener:
    """Told what a run does; this one keeps nothing and shows nothing."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Landing is this far."""

    def landed(self, report: LandReport) -> None:
        """A landing ended."""

    def built(self, outcome: Outcome) -> None:
        """A table of a day and scope was built, left as it was, or refused."""

    def not_written(self, reason: str) -> None:
        """The manifest of a run could not be written beside its artifacts."""


@dataclass
class Workspace:
    """Settings and lake, as a Dagster resource and for the command line.

    Attributes:
        settings_file: File to read settings from; the environment decides if none.
        listener: Told what is done.
        only_cluster: Build this cluster's tables only, and the fleet's.
        failed: (day, scope) of which a table failed its checks: it stays unpublished from there on.
        clock: What time it is.
        restating: Days published as final that are built again, and why.
        sides: Tables built at one time at most, one in its own step; as many as memory allows if
            none.
        begun: Days whose tables are being built side by side.
    """

    settings_file: Path | None = None
    listener: Listener = field(default_factory=Listener)
    only_cluster: str | None = None
    failed: set[tuple[dt.date, str]] = field(default_factory=set)
    clock: Callable[[], dt.datetime] = now
    restating: dict[dt.date, Restating] = field(default_factory=dict, repr=False)
    sides: int | None = None
    begun: "dict[dt.date, Begun]" = field(default_factory=dict, repr=False)
    _settings: Settings | None = field(default=None, repr=False)
    _held: Lake | None = field(default=None, repr=False)
    _read: Lake | None = field(default=None, repr=False)
    _read_at: float = field(default=0.0, repr=False)

    @property
    def settings(self) -> Settings:
        """Settings, read at first use."""
        if self._settings is None:
            self._settings = load_settings(self.settings_file or find_settings_file(None))
        return self._settings

    @property
    def today(self) -> dt.date:
        """The day, UTC."""
        return self.clock().date()

    @property
    def lake(self) -> Lake:
        """The lake, to read; what others publish is seen a minute later at most."""
        if self._held is not None:
            return self._held
        if self._read is None or time.monotonic() - self._read_at > SEEN_AFTER_SECONDS:
            self._read, self._read_at = open_lake(self.settings), time.monotonic()
            require_known_layout(self._read)
        return self._read

    def scopes(self, spec: TableSpec) -> tuple[str, ...]:
        """Names under which a table's files of a day are to be built."""
        found = scopes_of(spec, self.settings)
        return tuple(s for s in found if self.only_cluster in {None, s} or s == FLEET)

    @contextmanager
    def locked(self) -> Iterator[Lake]:
        """The lake, to write: locked once for the process, however deep the calls nest."""
        if self._held is not None:
            yield self._held
            return
        lake = lake_of(self.settings)
        with lake.locked(_owner()):
            require_known_layout(lake)
            note_layout(lake)
            self._held = lake
            try:
                yield lake
            finally:
                self._held = None


def warnings_of(settings: Settings) -> list[str]:
    """What a person should know of settings that are allowed, in words."""
    found = []
    if settings.redaction_key_file is None:
        found.append("no redaction_key_file: access key ids become null and join nothing")
    found.extend(
        f"exports.{export.name}: neither {{cluster}} in its path nor clusters: its records belong "
        "to no cluster, so that no pod is found for them"
        for export in settings.exports
        if export.format in OF_ONE_CLUSTER and export_scopes(settings, export) == (FLEET,)
    )
    return found


def _owner() -> str:
    """Who runs this, for the message to whoever finds the lake locked."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # A container's user often has a number and no name.
        user = f"user {os.getuid()}"
    return f"{user} on {os.uname().nodename}"


def is_possible(day: dt.date) -> bool:
    """Whether a day can be landed and built: not before FIRST_DAY, not in the future."""
    return FIRST_DAY <= day <= now().date()


def require_possible(days: list[dt.date]) -> None:
    """Refuse days that cannot be built.

    Raises:
        PodledgerError: Names the first such day.
    """
    for day in days:
        if not is_possible(day):
            message = f"{day}: expected a day from {FIRST_DAY} to {now().date()} (today, UTC)"
            raise PodledgerError(message)


def land_days(workspace: Workspace, days: frozenset[dt.date] | None) -> LandReport:
    """Land what is new of the landing days and write the deliveries."""
    with workspace.locked() as lake:
        report = land(workspace.settings, lake, workspace.today, workspace.listener.progress, days)
        note_deliveries(workspace, days or frozenset())
    workspace.listener.landed(report)
    return report


def note_deliveries(workspace: Workspace, asked: Iterable[dt.date]) -> None:
    """Write what was delivered, from the first landed or asked day to the newest.

    A day on which nothing came has rows once it was asked for, and keeps them.
    """
    with workspace.locked() as lake:
        days = {*asked, *lake.days(DELIVERIES)}
        left_out = {day: left_out_clusters(workspace, day) for day in lake.days(BUILT)}
        settings, ledger = workspace.settings, Ledger.read(lake)
        rows = delivery_rows(settings, ledger, workspace.today, days, left_out, workspace.clock())
        write_deliveries(lake, rows)


def missing_deliveries(workspace: Workspace, days: list[dt.date]) -> list[str]:
    """What was expected on the days but did not come, in words."""
    ledger = Ledger.read(workspace.lake)
    rows = delivery_rows(workspace.settings, ledger, asked=days, now=workspace.clock())
    return [
        f"{row['cluster']}: {row['export']} of {row['landing_date']}: {row['status']}"
        f" ({row['reason']})"
        for row in rows.iter_rows(named=True)
        if row["landing_date"] in days and row["status"] in {"missing", "partial"}
    ]


def missing_clusters(workspace: Workspace, days: list[dt.date]) -> list[str]:
    """Clusters that the fleet's tables of the days leave out (definitions.md 14), in words."""
    return [
        f"{cluster}: no published tables of {day}; the fleet's answers leave it out"
        for day in days
        for cluster in left_out_clusters(workspace, day)
    ]


def left_out_clusters(workspace: Workspace, day: dt.date) -> list[str]:
    """Clusters without a published file of a built day."""
    lake, settings = workspace.lake, workspace.settings
    if is_closed(lake, day):
        # Its files may be gone; what was left out stands in its deliveries.
        return noted_left_out(lake, day)
    if not lake.files(BUILT, day):
        return []
    tables = [t for t in transforms() if table_spec(t).scope == "cluster"]
    return [
        cluster
        for cluster in sorted(settings.clusters)
        if not all(lake.path(table, day, cluster).is_file() for table in tables)
    ]


def event_days(lake: Lake) -> list[dt.date]:
    """Days on which landed files have events.

    The range of a file of object states begins at the oldest object's creation, so such a file
    asks only for the day of its newest state, not later than its landing day. A record of a clock
    that runs far ahead asks for no day behind the day on which its file landed, and one of a clock
    that was never set for no day between. A bill asks for none: it is held against the days that
    others ask for. Nor does a file that was pruned, of which nothing else is known any more.
    """
    ledger = Ledger.read(lake)
    days: set[dt.date] = set()
    for file in ledger.files.select(
        "export_file_id",
        "cluster",
        "landing_date",
        "part",
        "first_event_at",
        "last_event_at",
        "rows_by_table",
    ).iter_rows(named=True):
        first, last, landing = file["first_event_at"], file["last_event_at"], file["landing_date"]
        if first is None or last is None or file["part"] is None or _is_bill(file):
            continue
        if {rows["table_name"] for rows in file["rows_by_table"]} & STATES:
            days.add(min(last.date(), landing))
        elif last - first <= LONG_RANGE and last.date() <= landing + dt.timedelta(days=1):
            days.update(days_between(first.date(), last.date()))
        else:
            days.update(d for d in _days_of_rows(ledger, file) if d <= landing + LONG_RANGE)
    return sorted(day for day in days if is_possible(day))


def misdated_files(lake: Lake) -> list[dict[str, Any]]:
    """Log files with events that ask for no day: too old, or of a clock that runs ahead.

    Returns:
        `path`, `landing_date`, `first_event_at`, `last_event_at`.
    """
    shown = ("path", "landing_date", "first_event_at", "last_event_at")
    found = []
    files = Ledger.read(lake).files.filter(pl.col("part").is_not_null())
    for row in files.select(*shown, "rows_by_table").iter_rows(named=True):
        first, last = row["first_event_at"], row["last_event_at"]
        if first is None or {rows["table_name"] for rows in row["rows_by_table"]} & STATES:
            continue
        if _is_bill(row):
            continue
        if first.date() < FIRST_DAY or last.date() > row["landing_date"] + LONG_RANGE:
            found.append({name: row[name] for name in shown})
    return found


def _is_bill(file: dict[str, Any]) -> bool:
    """Whether a file speaks for a whole billing period, whatever its lines are about."""
    return {rows["table_name"] for rows in file["rows_by_table"]} == {BILL}


def _days_of_rows(ledger: Ledger, file: dict[str, Any]) -> set[dt.date]:
    """Days on which rows of a file begin or end."""
    found: set[dt.date] = set()
    for rows in file["rows_by_table"]:
        spec = table_spec(rows["table_name"])
        path = ledger.part_path(spec.name, file["landing_date"], file["cluster"], file["part"])
        staged = scan_files([path]).filter(pl.col("export_file_id") == file["export_file_id"])
        for column in spec.covers:
            dates = staged.select(pl.col(column).dt.date().unique()).collect().to_series()
            found.update(dates.drop_nulls().to_list())
    return found


def build_table_of_day(workspace: Workspace, table: str, day: dt.date) -> list[Outcome]:
    """Build one table of a day for every scope of which no table failed its checks before.

    A cluster one of whose tables fails stays unpublished from there on; the others and the fleet's
    tables are built, from what that cluster published last. A day that was published as final is
    left as it is, unless it was asked for or a file of it is missing; what follows an open bill is
    built all the same. Scopes are built side by side where memory allows.
    """
    begun = workspace.begun.get(day)
    if begun is not None:
        outcomes = begun.of(table)
    else:
        with workspace.locked(), _begun(workspace, day, (table,)) as begun:
            outcomes = begun.of(table)
    for outcome in outcomes:
        workspace.listener.built(outcome)
    return outcomes


@contextmanager
def tables_side_by_side(workspace: Workspace, day: dt.date) -> Iterator[None]:
    """Build all tables of a day in the background; `build_table_of_day` waits for its own.

    A day that is restated is built table by table, as what it changes is written down in order.
    Call it under the lake's lock.
    """
    with workspace.locked() as lake:
        restating = _restating_of(workspace, Ledger.read(lake), day)
        is_final = restating is not None or final_basis(lake, day) is not None
        if is_final or workspace.sides == 1:
            yield
            return
        with _begun(workspace, day, tuple(transforms())) as begun:
            workspace.begun[day] = begun
            try:
                yield
            finally:
                del workspace.begun[day]


@dataclass(frozen=True)
class Begun:
    """Builds of a day's tables that began.

    Attributes:
        tasks: What runs.
        scopes: Scopes of each table.
    """

    tasks: SideBySide[Outcome | None]
    scopes: dict[str, tuple[str, ...]]

    def of(self, table: str) -> list[Outcome]:
        """What became of a table, once it ended; scopes that are left out are not told."""
        results = [self.tasks.result((table, scope)) for scope in self.scopes[table]]
        return [outcome for outcome in results if outcome is not None]


@contextmanager
def _begun(workspace: Workspace, day: dt.date, names: tuple[str, ...]) -> Iterator[Begun]:
    """Begin to build tables of a day; what did not begin when the block ends never does."""
    lake, settings = workspace.lake, workspace.settings
    ledger = Ledger.read(lake)
    build = build_day_of(settings, lake, ledger, day, workspace.today)
    restating = _restating_of(workspace, ledger, day)
    room = room_of(settings, lake, workspace.sides if restating is None else 1)
    is_kept = restating is None and final_basis(lake, day) is not None

    def one(table: str, scope: str) -> Outcome | None:
        if (day, scope) in workspace.failed or is_closed(lake, day):
            return None
        if is_kept and table not in OF_OPEN_PERIODS:
            return Outcome(table, day, scope)
        outcome = build_table(settings, lake, ledger, table, build, scope, room, restating)
        if outcome.problem is not None:
            workspace.failed.add((day, scope))
        return outcome

    scopes = {name: workspace.scopes(table_spec(name)) for name in names}
    tasks = SideBySide(_needs(scopes), one, room.sides)
    try:
        yield Begun(tasks, scopes)
    finally:
        tasks.stop(room.interrupt)


def _needs(scopes: dict[str, tuple[str, ...]]) -> dict[Task, list[Task]]:
    """What each table and scope of a day is made from of the others.

    A cluster reads its own files and the fleet's, the fleet reads all.
    """
    return {
        (table, scope): [
            (read, other)
            for read in {read.table for read in transforms()[table].reads} - {table}
            for other in scopes.get(read, ())
            if scope == FLEET or other in {scope, FLEET}
        ]
        for table, of_table in scopes.items()
        for scope in of_table
    }


def ask_for(workspace: Workspace, day: dt.date) -> None:
    """Have a day built the next time, though it may be published as final.

    Raises:
        PodledgerError: Its inputs were pruned.
    """
    require_open(workspace, [day])
    with workspace.locked() as lake:
        if final_basis(lake, day) is not None:
            note_asked(lake, day)


def require_open(workspace: Workspace, days: Iterable[dt.date]) -> None:
    """Refuse days that cannot be built again.

    Raises:
        PodledgerError: Inputs of a day were pruned.
    """
    for day in days:
        if is_closed(workspace.lake, day):
            message = (
                f"{day}: its inputs were pruned, so that it would come out without them; its "
                "answers stay as they are; expected a later day"
            )
            raise PodledgerError(message)


def _restating_of(workspace: Workspace, ledger: Ledger, day: dt.date) -> Restating | None:
    """Why a day that was published as final is built again; none if it is not to be.

    Found once, before anything of the day is replaced.
    """
    lake = workspace.lake
    if day not in workspace.restating:
        basis = final_basis(lake, day)
        if basis is None or not _must_be_built_again(workspace, day):
            return None
        note_asked(lake, day)
        settle(lake, day)
        found = waiting_for(workspace, ledger, day)
        restated = {d: last_cause(lake, d) for d in found.earlier}
        causes = {d: why for d, why in restated.items() if why is not None}
        workspace.restating[day] = Restating(
            workspace.clock(),
            cause_of(found, causes),
            tuple((file.export_file_id, file.path) for file in found.files),
        )
    return workspace.restating[day]


def _must_be_built_again(workspace: Workspace, day: dt.date) -> bool:
    """Whether a day that was published as final was asked for, or has lost a file."""
    lake = workspace.lake
    if is_closed(lake, day):
        return False
    return is_asked(lake, day) or any(
        is_lost(lake.path(table, day, scope))
        for table in transforms()
        for scope in workspace.scopes(table_spec(table))
    )


def waiting_for(workspace: Workspace, ledger: Ledger, day: dt.date) -> Waiting:
    """What waits for a day that was published as final; nothing for a provisional one."""
    lake, settings = workspace.lake, workspace.settings
    basis = final_basis(lake, day)
    if basis is None:
        return Waiting()
    build = build_day_of(settings, lake, ledger, day, workspace.today)
    if is_closed(lake, day):
        # Files that come for it are told all the same.
        late = late_files(settings, ledger, build, basis.files, frozenset(STATES))
        return Waiting(tuple(late), is_closed=True)
    return waiting(settings, lake, ledger, build, basis, STATES)


def waiting_days(workspace: Workspace) -> dict[dt.date, str]:
    """Days published as final that something waits for, with what."""
    ledger = Ledger.read(workspace.lake)
    found = {day: waiting_for(workspace, ledger, day) for day in workspace.lake.days(BUILT)}
    return {day: str(what) for day, what in found.items() if what and not what.is_closed}


def publish_catalogue(workspace: Workspace, day: dt.date) -> dict[str, int] | None:
    """Put what a day's build published before people, as its last step.

    Returns:
        Rows by table of the catalogue; none if it holds all that is published already.
    """
    with workspace.locked() as lake:
        settings = workspace.settings
        settle(lake, day)
        note_left_out(lake, day, left_out_clusters(workspace, day))
        rows = None
        if not is_current(lake, settings.catalog_path):
            rows = write_catalogue(settings, lake, day)
        _conclude(workspace, lake, day)
        refused = write_manifests(settings, lake, day)
    for reason in refused:
        workspace.listener.not_written(reason)
    return rows


def write_catalogue(settings: Settings, lake: Lake, day: dt.date) -> dict[str, int] | None:
    """Write the catalogue; where a later day is to be built again first, that one writes it.

    Raises:
        LakeOutdatedError: Files of another version cannot be read, and no later day's build is to
            replace them.
    """
    threads, memory = settings.workers, engine_memory(settings)
    try:
        return write_catalog(lake, settings.catalog_path, threads=threads, memory_limit=memory)
    except LakeOutdatedError as error:
        if all(other <= day for other in error.days):
            raise
    return None


def _conclude(workspace: Workspace, lake: Lake, day: dt.date) -> None:
    """Note that a day is published as final, once all of it is, and what that asks of others.

    Later days that were final before are asked for if they read what was restated, or wait for a
    file that this day is made from now.
    """
    settings = workspace.settings
    basis = final_basis(lake, day)
    workspace.restating.pop(day, None)
    if basis is None and not has_watermark_passed(settings, day, workspace.today):
        return
    if basis is not None and not is_asked(lake, day):
        return
    ledger = Ledger.read(lake)
    wanted = _wanted(workspace, ledger, day, everywhere=True)
    if not lake.files(BUILT, day) or any(made_from(path) != made for path, made in wanted):
        return
    now_made_from = basis_of(
        settings, lake, ledger, build_day_of(settings, lake, ledger, day, workspace.today)
    )
    if basis is not None:
        for later in lake.days(BUILT):
            if later > day and final_basis(lake, later) is not None and not is_closed(lake, later):
                found = waiting_for(workspace, ledger, later)
                files = {file.reading for file in found.files}
                if day in found.earlier or files & now_made_from.files:
                    note_asked(lake, later)
    note_final(lake, day, now_made_from)
    forget_asked(lake, day)


def unbuilt_days(workspace: Workspace) -> list[dict[str, Any]]:
    """Days that look-backs of built days need and that are not built (definitions.md 3).

    Returns:
        Ranges of days by look-back: `look_back`, `first`, `last`, `days`.
    """
    lake, settings = workspace.lake, workspace.settings
    ledger, today = Ledger.read(lake), workspace.today
    built = lake.days(BUILT)
    starts = {day: build_day_of(settings, lake, ledger, day, today) for day in built}
    spans = sorted({read.span for t in transforms().values() for read in t.reads})
    found: list[dict[str, Any]] = []
    for span in spans:
        needed: set[dt.date] = set()
        for day, build in starts.items():
            start = span_start(build, span)
            if start is not None:
                needed.update(days_between(start.date(), day - dt.timedelta(days=1)))
        for day in sorted(needed - set(built)):
            known = found[-1] if found and found[-1]["look_back"] == span else None
            if known is not None and known["last"] == day - dt.timedelta(days=1):
                known["last"] = day
                known["days"] += 1
            else:
                found.append({"look_back": span, "first": day, "last": day, "days": 1})
    return found


def days_between(first: dt.date, last: dt.date) -> list[dt.date]:
    """All days from the first to the last, both among them."""
    return [first + dt.timedelta(days=n) for n in range((last - first).days + 1)]


def stale_days(workspace: Workspace) -> list[dt.date]:
    """Days that are to be built without being asked for, as `is_stale` says."""
    lake = workspace.lake
    ledger = Ledger.read(lake)
    days = sorted({*event_days(lake), *lake.days(BUILT)})
    return [day for day in days if is_stale(workspace, ledger, day)]


def is_stale(
    workspace: Workspace, ledger: Ledger, day: dt.date, asked: Iterable[dt.date] = ()
) -> bool:
    """Whether a day is to be built: it is not yet, or would come out otherwise if built now.

    A day that was published as final is only if it was asked for, a file of it is missing, or what
    follows an open bill would come out otherwise. The newest day is stale, too, while the catalogue
    does not hold what is published.
    """
    lake = workspace.lake
    if is_closed(lake, day):
        return day == _newest(lake) and not is_current(lake, workspace.settings.catalog_path)
    wanted = _wanted(workspace, ledger, day)
    is_whole = final_basis(lake, day) is None or day in asked
    if not is_whole and not _must_be_built_again(workspace, day):
        open_ones = _wanted(workspace, ledger, day, of=OF_OPEN_PERIODS)
        wanted = ((path, made) for path, made in open_ones if path.is_file())
    if any(made_from(path) != made for path, made in wanted):
        return True
    if is_asked(lake, day):
        return True
    return day == _newest(lake) and not is_current(lake, workspace.settings.catalog_path)


@dataclass(frozen=True)
class StaleFile:
    """A file of a built day that would be made otherwise now.

    Attributes:
        table: Table.
        scope: Cluster or `fleet`.
        causes: Why, in words.
    """

    table: str
    scope: str
    causes: tuple[str, ...]


def stale_files(workspace: Workspace, ledger: Ledger, day: dt.date) -> list[StaleFile]:
    """Files of a day that were made from something else, with why; tables made of them may follow.

    Of a day that was published as final only what changed of settings and logic is told.
    """
    found = []
    is_kept = final_basis(workspace.lake, day) is not None
    for path, now_made in _wanted(workspace, ledger, day):
        noted = made_from(path)
        table, scope = path.parent.parent.name, path.stem
        if not path.is_file():
            why = [LOST if is_lost(path) else NOT_BUILT]
        elif noted != now_made:
            why = causes(noted, now_made, table, of_final=is_kept)
        else:
            why = []
        if why:
            found.append(StaleFile(table, scope, tuple(why)))
    return found


def _newest(lake: Lake) -> dt.date | None:
    return max(lake.days(BUILT), default=None)


def state_of(workspace: Workspace, ledger: Ledger, day: dt.date) -> str:
    """Digest of all that a day would be built from now: inputs, settings, logic."""
    lake = workspace.lake
    texts = [f"{path.parent} {made}" for path, made in _wanted(workspace, ledger, day)]
    if day == _newest(lake):
        texts.append(catalogue_made_from(lake))
    if is_asked(lake, day):
        # What was published as final before may be asked for again.
        texts.append(f"asked for, made from {final_basis(lake, day)}")
    return digest(texts)


def _wanted(
    workspace: Workspace,
    ledger: Ledger,
    day: dt.date,
    *,
    everywhere: bool = False,
    of: Collection[str] | None = None,
) -> Iterator[tuple[Path, Made]]:
    """Every file of a built day, with what it would be made from now.

    Args:
        workspace: Settings and lake.
        ledger: The ledger.
        day: The day.
        everywhere: Of all clusters, whichever alone are built.
        of: Of these tables alone.
    """
    lake, settings = workspace.lake, workspace.settings
    build = build_day_of(settings, lake, ledger, day, workspace.today)
    for table, transform in transforms().items():
        if of is not None and table not in of:
            continue
        spec = table_spec(table)
        for scope in scopes_of(spec, settings) if everywhere else workspace.scopes(spec):
            inputs = gather(settings, lake, ledger, transform, build.of(scope))
            yield lake.path(table, day, scope), inputs.made


def days_to_build(workspace: Workspace, asked: list[dt.date]) -> list[dt.date]:
    """The asked days, and the built days behind the first of them that they may change."""
    if not asked:
        return []
    lake = workspace.lake
    later = [day for day in lake.days(BUILT) if day > min(asked) and not is_closed(lake, day)]
    return sorted({*asked, *later})

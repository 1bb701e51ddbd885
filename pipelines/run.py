"""Land and build: what the schedule does each night and what `podledger build` does when asked.

Dagster's assets and the command line both come here, so that they cannot differ.
"""

import datetime as dt
import getpass
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from pipelines.build import Outcome, build_day_of, build_table, gather, scopes_of, span_start
from pipelines.catalog import is_current
from pipelines.catalog import made_from as catalogue_made_from
from pipelines.deliveries import DELIVERIES, delivery_rows, export_scopes, write_deliveries
from pipelines.errors import PodledgerError
from pipelines.landing.land import LandReport, land
from pipelines.ledger import Ledger
from pipelines.parquet import scan_files
from pipelines.publication import Made, digest, made_from
from pipelines.settings import Settings, find_settings_file, load_settings
from pipelines.storage import Lake
from schemas.registry import table_spec
from schemas.table import FLEET, TableSpec
from transforms.registry import transforms

BUILT = "run_dependency_days"
"""A day is built when this table has a file of it."""
STATES = {"run_versions", "pod_states", "node_states", "services", "kube_event_states"}
"""Tables whose rows speak for a time that may have begun long before they were exported."""
OF_ONE_CLUSTER = {"hubble", "coredns", "dns_collector", "kubernetes", "otlp"}
"""Formats whose records are of use only to the cluster that they come from."""
FIRST_DAY = dt.date(2024, 1, 1)
"""No day before this one is landed or built: it is older than the formats."""
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


@dataclass
class Workspace:
    """Settings and lake, as a Dagster resource and for the command line.

    Attributes:
        settings_file: File to read settings from; the environment decides if none.
        listener: Told what is done.
        only_cluster: Build this cluster's tables only, and the fleet's.
        failed: (day, scope) of which a table failed its checks: it stays unpublished from there on.
    """

    settings_file: Path | None = None
    listener: Listener = field(default_factory=Listener)
    only_cluster: str | None = None
    failed: set[tuple[dt.date, str]] = field(default_factory=set)
    _settings: Settings | None = field(default=None, repr=False)
    _held: Lake | None = field(default=None, repr=False)

    @property
    def settings(self) -> Settings:
        """Settings, read at first use."""
        if self._settings is None:
            self._settings = load_settings(self.settings_file or find_settings_file(None))
        return self._settings

    @property
    def lake(self) -> Lake:
        """The lake, to read."""
        return self._held or Lake(self.settings.lake_path)

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
        lake = Lake(self.settings.lake_path)
        with lake.locked(_owner()):
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
        report = land(workspace.settings, lake, now().date(), workspace.listener.progress, days)
        note_deliveries(workspace, days or frozenset())
    workspace.listener.landed(report)
    return report


def note_deliveries(workspace: Workspace, asked: Iterable[dt.date]) -> None:
    """Write what was delivered, up to the newest landed or asked day.

    A day on which nothing came has rows once it was asked for, and keeps them.
    """
    with workspace.locked() as lake:
        until = max((*asked, *lake.days(DELIVERIES)), default=None)
        rows = delivery_rows(workspace.settings, Ledger.read(lake), now().date(), until)
        write_deliveries(lake, rows)


def missing_deliveries(workspace: Workspace, days: list[dt.date]) -> list[str]:
    """What was expected on the days but did not come, in words."""
    rows = delivery_rows(
        workspace.settings, Ledger.read(workspace.lake), until=max(days, default=None)
    )
    return [
        f"{row['cluster']}: {row['export']} of {row['landing_date']}: {row['status']}"
        f" ({row['reason']})"
        for row in rows.iter_rows(named=True)
        if row["landing_date"] in days and row["status"] in {"missing", "partial"}
    ]


def missing_clusters(workspace: Workspace, days: list[dt.date]) -> list[str]:
    """Clusters that the fleet's tables of the days leave out (definitions.md 14), in words."""
    lake, settings = workspace.lake, workspace.settings
    tables = [t for t in transforms() if table_spec(t).scope == "cluster"]
    return [
        f"{cluster}: no published tables of {day}; the fleet's answers leave it out"
        for day in days
        for cluster in sorted(settings.clusters)
        if lake.files(BUILT, day)
        and not all(lake.path(table, day, cluster).is_file() for table in tables)
    ]


def event_days(lake: Lake) -> list[dt.date]:
    """Days on which landed files have events.

    The range of a file of object states begins at the oldest object's creation, so such a file
    asks only for the day of its newest state, not later than its landing day. A record of a clock
    that runs far ahead asks for no day behind the day on which its file landed, and one of a clock
    that was never set for no day between.
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
        if first is None or last is None:
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
    for row in Ledger.read(lake).files.select(*shown, "rows_by_table").iter_rows(named=True):
        first, last = row["first_event_at"], row["last_event_at"]
        if first is None or {rows["table_name"] for rows in row["rows_by_table"]} & STATES:
            continue
        if first.date() < FIRST_DAY or last.date() > row["landing_date"] + LONG_RANGE:
            found.append({name: row[name] for name in shown})
    return found


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
    tables are built, from what that cluster published last.
    """
    outcomes = []
    with workspace.locked() as lake:
        ledger = Ledger.read(lake)
        build = build_day_of(workspace.settings, lake, ledger, day, now().date())
        for scope in workspace.scopes(table_spec(table)):
            if (day, scope) in workspace.failed:
                continue
            outcome = build_table(workspace.settings, lake, ledger, table, build, scope)
            if outcome.problem is not None:
                workspace.failed.add((day, scope))
            outcomes.append(outcome)
    for outcome in outcomes:
        workspace.listener.built(outcome)
    return outcomes


def unbuilt_days(workspace: Workspace) -> list[dict[str, Any]]:
    """Days that look-backs of built days need and that are not built (definitions.md 3).

    Returns:
        Ranges of days by look-back: `look_back`, `first`, `last`, `days`.
    """
    lake, settings = workspace.lake, workspace.settings
    ledger, today = Ledger.read(lake), now().date()
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
    """Days that are not built, or that would come out otherwise if built now."""
    lake = workspace.lake
    ledger = Ledger.read(lake)
    days = sorted({*event_days(lake), *lake.days(BUILT)})
    return [day for day in days if is_stale(workspace, ledger, day)]


def is_stale(workspace: Workspace, ledger: Ledger, day: dt.date) -> bool:
    """Whether a day is not built, or would come out otherwise if built now.

    The newest day is stale too while the catalogue does not hold what is published.
    """
    if any(made_from(path) != made for path, made in _wanted(workspace, ledger, day)):
        return True
    lake = workspace.lake
    return day == _newest(lake) and not is_current(lake, workspace.settings.catalog_path)


def _newest(lake: Lake) -> dt.date | None:
    return max(lake.days(BUILT), default=None)


def state_of(workspace: Workspace, ledger: Ledger, day: dt.date) -> str:
    """Digest of all that a day would be built from now: inputs, settings, logic."""
    texts = [f"{path.parent} {made}" for path, made in _wanted(workspace, ledger, day)]
    if day == _newest(workspace.lake):
        texts.append(catalogue_made_from(workspace.lake))
    return digest(texts)


def _wanted(workspace: Workspace, ledger: Ledger, day: dt.date) -> Iterator[tuple[Path, Made]]:
    """Every file of a built day, with what it would be made from now."""
    lake, settings = workspace.lake, workspace.settings
    build = build_day_of(settings, lake, ledger, day, now().date())
    for table, transform in transforms().items():
        for scope in workspace.scopes(table_spec(table)):
            inputs = gather(settings, lake, ledger, transform, build.of(scope))
            yield lake.path(table, day, scope), Made(inputs.fingerprint, transform.version)


def days_to_build(workspace: Workspace, asked: list[dt.date]) -> list[dt.date]:
    """The asked days, and the built days behind the first of them that they may change."""
    if not asked:
        return []
    later = [day for day in workspace.lake.days(BUILT) if day > min(asked)]
    return sorted({*asked, *later})

"""`podledger build`: land what is new, build what is stale."""

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from pipelines.build import Outcome
from pipelines.catalog import require_replaceable
from pipelines.cli.options import AsJson, Config, days_of, settings_file
from pipelines.cli.output import errors, print_plain, to_json
from pipelines.errors import PodledgerError, wrong_option
from pipelines.landing.land import LandReport, new_files
from pipelines.landing.reading import read_otherwise
from pipelines.landing.rereading import Reread, read_again
from pipelines.ledger import Ledger
from pipelines.orchestration import instance_of, run_job
from pipelines.run import (
    Listener,
    Workspace,
    ask_for,
    days_to_build,
    is_possible,
    is_stale,
    missing_clusters,
    missing_deliveries,
    note_deliveries,
    require_possible,
    stale_days,
    waiting_days,
    warnings_of,
)
from pipelines.usable import require_usable
from transforms.redaction import redact
from transforms.registry import transforms

if TYPE_CHECKING:
    import dagster as dg


class BuildReport(Listener):
    """Collects what a build does and shows it in a progress bar."""

    def __init__(self, progress: Progress | None) -> None:
        """Show progress in the given bar, or nowhere."""
        self._progress = progress
        self._task = progress.add_task("", total=None) if progress else None
        self.lands: list[LandReport] = []
        self.outcomes: list[Outcome] = []
        self.missing: list[str] = []
        self.unlisted: list[tuple[str, str]] = []
        self.waiting: dict[dt.date, str] = {}
        self.reread = Reread()

    def progress(self, what: str, done: int, total: int) -> None:
        """Landing is this far."""
        self._show(f"landing: {what}", done, total)

    def landed(self, report: LandReport) -> None:
        """A landing ended."""
        self.lands.append(report)

    def built(self, outcome: Outcome) -> None:
        """A table was built."""
        self.outcomes.append(outcome)
        tables = list(transforms())
        self._show(
            f"building {outcome.day}: {outcome.table}",
            tables.index(outcome.table) + 1,
            len(tables),
        )

    def not_written(self, reason: str) -> None:
        """A manifest was expected and is missing."""
        self.missing.append(reason)

    def _show(self, what: str, done: int, total: int) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=what, completed=done, total=total)

    @property
    def unknown(self) -> list[tuple[str, str]]:
        """Files that stay unread and places that cannot be listed, with the reason."""
        found = self.unlisted + [pair for report in self.lands for pair in report.unknown]
        return list(dict.fromkeys(found))

    @property
    def records(self) -> dict[str, int]:
        """Records landed, by kind."""
        totals: dict[str, int] = {}
        for report in self.lands:
            for kind, n in report.records.items():
                totals[kind] = totals.get(kind, 0) + n
        return totals

    @property
    def exit_code(self) -> int:
        """0 done, 1 a check failed, 3 published but something expected is missing."""
        if any(o.problem for o in self.outcomes):
            return 1
        return 3 if self.missing or self.unknown else 0


def run_build(
    workspace: Workspace, report: BuildReport, asked: list[dt.date], *, stale: bool = False
) -> None:
    """Land everything new, then build the asked days, or all stale ones if none is asked.

    Args:
        workspace: Settings and lake.
        report: Told what is done.
        asked: Days to build.
        stale: Read again what would be read otherwise now, and build final days, too, that wait.
    """
    require_possible(asked)
    require_replaceable(workspace.settings.catalog_path)
    for warning in warnings_of(workspace.settings):
        errors.print(f"warning: {warning}", markup=False, soft_wrap=True)
    workspace.listener = report
    if not stale:
        _warn_of_readings(workspace)
    with workspace.locked() as lake, instance_of(workspace) as instance:
        new = new_files(workspace.settings, lake, workspace.today)
        report.unlisted = new.problems
        if stale:
            report.reread = read_again(workspace.settings, lake, report.progress)
        for export in workspace.settings.exports:
            if export.name in new.unmatched:
                message = f"exports.{export.name}: no file matches {export.path}, and none ever did"
                errors.print(f"warning: {redact(message)}", markup=False, soft_wrap=True)
        for day in new.days:
            if is_possible(day):
                run_job(workspace, instance, "land", day)
            else:
                report.missing.append(f"files of landing day {day}: not landed; impossible day")
        note_deliveries(workspace, asked)
        if stale:
            asked = sorted({*stale_days(workspace), *waiting_days(workspace)})
        built = _build_days(workspace, instance, asked)
        if any(land.files for land in report.lands):
            report.waiting = waiting_days(workspace)
        days = asked or built
        report.missing += [f"{path}: {reason}" for path, reason in report.reread.left]
        report.missing += missing_deliveries(workspace, days)
        report.missing += missing_clusters(workspace, days)


def _build_days(
    workspace: Workspace, instance: "dg.DagsterInstance", asked: list[dt.date]
) -> list[dt.date]:
    """Build the asked days, else all stale ones, and what follows; returns those that were."""
    built = []
    for day in days_to_build(workspace, asked or stale_days(workspace)):
        if is_stale(workspace, Ledger.read(workspace.lake), day, asked):
            if day in asked:
                ask_for(workspace, day)
            run_job(workspace, instance, "build", day)
            built.append(day)
    return built


def _warn_of_readings(workspace: Workspace) -> None:
    """Say of which exports files would be read otherwise now."""
    otherwise = read_otherwise(workspace.settings, Ledger.read(workspace.lake))
    for name, count in sorted(Counter(file.export for file in otherwise).items()):
        message = (
            f"warning: exports.{name}: {count} file(s) were read under other settings or by an "
            "earlier parser and stay as they were read; `podledger status --json` names them, "
            "`podledger build --stale` reads them again"
        )
        errors.print(message, markup=False, soft_wrap=True)


def build(
    date: Annotated[str | None, typer.Option(help="Event day, such as 2026-03-10.")] = None,
    first: Annotated[str | None, typer.Option("--from", help="First event day.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last event day.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Only this cluster, and the fleet.")] = None,
    stale: Annotated[
        bool,
        typer.Option(
            "--stale",
            help="All that is stale: files that would be read otherwise now, and final days, too.",
        ),
    ] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Land new export files, then build event days; what did not change stays.

    Example: podledger build --from 2026-03-10 --to 2026-03-11
    """
    asked = days_of(date, first, last)
    if stale and asked:
        message = "--stale chooses the days itself; leave out --date, --from and --to"
        raise PodledgerError(message)
    workspace = Workspace(settings_file(config), only_cluster=cluster)
    if cluster is not None and cluster not in workspace.settings.clusters:
        raise wrong_option(
            option="--cluster",
            value=cluster,
            expected=f"one of {', '.join(workspace.settings.clusters)}",
        )
    require_usable(settings_file(config), workspace.settings)
    for remark in workspace.settings.remarks:
        typer.echo(f"warning: {remark}", err=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    ) as progress:
        report = BuildReport(progress)
        run_build(workspace, report, asked, stale=stale)
    if as_json:
        print_plain(to_json(summary(workspace, report)))
    else:
        print_summary(workspace, report)
    raise typer.Exit(report.exit_code)


def summary(workspace: Workspace, report: BuildReport) -> dict[str, object]:
    """What a build did, for scripts."""
    published = [o for o in report.outcomes if o.published is not None]
    return {
        "landed_files": sum(r.files for r in report.lands),
        "same_content_files": sum(r.same_content for r in report.lands),
        "read_again_files": report.reread.files,
        "records": report.records,
        "unread": [{"path": path, "reason": reason} for path, reason in report.unknown],
        "days": sorted({o.day.isoformat() for o in report.outcomes}),
        "published": len(published),
        "published_rows": sum(o.published.rows for o in published if o.published),
        "problems": [
            {"table": o.table, "day": o.day, "cluster": o.scope, "problem": o.problem}
            for o in report.outcomes
            if o.problem
        ],
        "missing": report.missing,
        "waiting": [{"day": day, "waits_for": why} for day, why in report.waiting.items()],
        "catalog": str(workspace.settings.catalog_path),
        "exit_code": report.exit_code,
    }


def print_summary(workspace: Workspace, report: BuildReport) -> None:
    """What a build did, for people."""
    files = sum(r.files for r in report.lands)
    published = [o for o in report.outcomes if o.published is not None]
    changed = files + report.reread.files + len(published)
    if not changed and not any(o.problem for o in report.outcomes):
        print_plain("nothing changed")
    if report.reread.files:
        print_plain(f"read again {report.reread.files} file(s)")
    if files:
        counts = ", ".join(f"{n} {kind}" for kind, n in report.records.items() if kind != "record")
        same = sum(r.same_content for r in report.lands)
        print_plain(
            f"landed {files} file(s), {same} of them known by content: "
            f"{report.records.get('record', 0)} records ({counts})"
        )
    for day in sorted({o.day for o in published}):
        rows = sum(o.published.rows for o in published if o.day == day and o.published)
        tables = sum(1 for o in published if o.day == day)
        print_plain(f"built {day}: {tables} file(s), {rows} rows")
    for outcome in report.outcomes:
        if outcome.problem:
            print_plain(f"not published: {outcome.scope} {outcome.day}: {outcome.problem}")
    for path, reason in report.unknown:
        print_plain(f"not read: {path}: {reason}")
    for line in report.missing:
        print_plain(f"missing: {line}")
    for day, why in report.waiting.items():
        print_plain(f"waiting: {day} is final: {why}; podledger build --date {day} builds it in")
    catalogue = workspace.settings.catalog_path
    shown = catalogue if catalogue.exists() else "none yet, as no day is built"
    print_plain(f"catalogue: {shown}")

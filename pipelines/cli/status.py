"""`podledger status`: days, deliveries, rejects, lateness, coverage."""

import datetime as dt
from collections import Counter
from typing import Annotated, Any

import polars as pl
import typer

from pipelines.cli.accuracy import show_accuracy
from pipelines.cli.options import AsJson, Config, day_of, settings_file
from pipelines.cli.output import print_plain, print_rows, to_json
from pipelines.cli.prune import pruning_of
from pipelines.damage import REMEDY, reading
from pipelines.deliveries import DELIVERIES, delivery_rows
from pipelines.errors import PodledgerError
from pipelines.finality import BUILT, is_closed, is_final
from pipelines.landing.reading import ReadOtherwise, read_otherwise
from pipelines.late import some
from pipelines.ledger import Ledger
from pipelines.parquet import scan_files
from pipelines.run import (
    Workspace,
    event_days,
    misdated_files,
    stale_days,
    stale_files,
    unbuilt_days,
    waiting_for,
)
from pipelines.storage import Lake
from pipelines.unpriced import unpriced
from pipelines.usable import catalogue_problem, require_usable
from schemas.table import FLEET

OTHERWISE = (
    "files read under other settings or by an earlier parser (--json names them; podledger build "
    "--stale reads them again)"
)


def status(
    config: Config = None,
    as_json: AsJson = False,
    accuracy: Annotated[
        bool,
        typer.Option("--accuracy", help="Show which rungs of the ladders named a day's rows."),
    ] = False,
    date: Annotated[
        str | None, typer.Option(help="With --accuracy: the day, else the newest built one.")
    ] = None,
) -> None:
    """Show what is built, what is missing and how much was observed.

    Example: podledger status

    Example: podledger status --accuracy --date 2026-03-10
    """
    workspace = Workspace(settings_file(config))
    require_usable(settings_file(config), workspace.settings)
    if date is not None and not accuracy:
        message = "--date goes with --accuracy"
        raise PodledgerError(message)
    if accuracy:
        asked = None if date is None else day_of(date, "--date")
        with reading(workspace.lake.everything(), REMEDY):
            show_accuracy(workspace.lake, asked, as_json=as_json)
        raise typer.Exit(0)
    with reading(workspace.lake.everything(), REMEDY):
        content = status_of(workspace)
    if as_json:
        print_plain(to_json(content))
        raise typer.Exit(0)
    for title, key in (
        ("days", "days"),
        ("the catalogue, where it is not what is published", "catalogue"),
        ("clusters, on the newest landing day", "clusters"),
        ("what is stale and why (podledger build --stale builds it)", "stale"),
        ("late files of final days, built in on request (podledger build --date DATE)", "late"),
        ("days that look-backs need and that are not built", "look_backs"),
        ("what retention would remove (podledger prune --yes)", "prune"),
        ("deliveries that are not complete", "deliveries"),
        ("what the newest look-ups of an export cannot tell", "naming"),
        (OTHERWISE, "read_otherwise"),
        ("records by export", "records"),
        ("rejects by reason", "rejects"),
        ("files with events on days that are never built (wrong clocks)", "misdated"),
        ("coverage by cluster, source and status (hours)", "coverage"),
        ("events of flows that are in no connection, by reason", "unconnected"),
        (
            "charges without a price in the price book (reference: {prices: FILE} adds one)",
            "unpriced",
        ),
    ):
        rows = content[key]
        if rows:
            columns = list(rows[0])
            print_rows(columns, [list(row.values()) for row in rows], title=title)
        else:
            print_plain(f"{title}: none")
        print_plain("")


def status_of(workspace: Workspace) -> dict[str, list[dict[str, Any]]]:
    """The status as plain rows by topic."""
    lake, settings = workspace.lake, workspace.settings
    ledger = Ledger.read(lake)
    today = workspace.today
    stale = set(stale_days(workspace))
    built = set(lake.days(BUILT))
    waits = {day: waiting_for(workspace, ledger, day) for day in sorted(built)}
    to_build = [
        day for day in sorted(built) if day in stale or (waits[day] and not waits[day].is_closed)
    ]
    days = [
        {
            "date": day,
            "built": day in built,
            "stale": day in to_build,
            "state": _state(workspace, day),
            "waits_for": str(waits[day]) if day in built else "",
        }
        for day in sorted({*event_days(lake), *built})
    ]
    late = [
        {
            "date": day,
            "path": file.path,
            "landing_date": file.landing_date,
            "records": file.records,
            "nearby_records": file.nearby_records,
        }
        for day, found in waits.items()
        for file in found.files
    ]
    otherwise = read_otherwise(settings, ledger)
    delivered = delivery_rows(settings, ledger, today, lake.days(DELIVERIES), now=workspace.clock())
    deliveries = delivered.filter(pl.col("is_expected") & (pl.col("status") != "complete"))
    records = (
        ledger.files.group_by("export", "format")
        .agg(
            pl.len().alias("files"),
            *(
                pl.col(f"{kind}_count").sum().alias(kind)
                for kind in ("record", "accepted", "duplicate", "rejected", "ignored")
            ),
        )
        .sort("export", "format")
    )
    return {
        "days": days,
        "catalogue": _catalogue(workspace),
        "clusters": _clusters(ledger, delivered),
        "stale": _stale(workspace, ledger, to_build),
        "late": late,
        "read_otherwise": _read_otherwise(otherwise),
        "read_otherwise_files": [
            {
                "export": file.export,
                "path": file.path,
                "landing_date": file.landing_date,
                "commit": str(file.commit),
            }
            for file in otherwise
        ],
        "look_backs": unbuilt_days(workspace),
        "prune": _retained(workspace),
        "deliveries": deliveries.select(
            "cluster", "export", "landing_date", "status", "reason"
        ).to_dicts(),
        "naming": _naming(delivered),
        "records": records.to_dicts(),
        "rejects": _rejects(ledger),
        "misdated": misdated_files(lake),
        "coverage": _coverage(lake),
        "unconnected": _unconnected(lake),
        "unpriced": unpriced(lake),
    }


def _catalogue(workspace: Workspace) -> list[dict[str, Any]]:
    """What is wrong with the catalogue."""
    problem = catalogue_problem(workspace.settings, workspace.lake)
    path = str(workspace.settings.catalog_path)
    return [] if problem is None else [{"path": path, "problem": problem}]


def _state(workspace: Workspace, day: dt.date) -> str:
    """`provisional`, `final`, or `final, pruned`: its inputs are gone and it is built no more."""
    lake = workspace.lake
    if is_closed(lake, day):
        return "final, pruned"
    is_over = is_final(workspace.settings, lake, day, workspace.today)
    return "final" if is_over else "provisional"


def _retained(workspace: Workspace) -> list[dict[str, Any]]:
    """What `podledger prune --yes` would remove."""
    if workspace.settings.retention_days is None:
        return []
    found: list[dict[str, Any]] = pruning_of(workspace)["prune"]
    return found


def _stale(workspace: Workspace, ledger: Ledger, days: list[dt.date]) -> list[dict[str, Any]]:
    """How many files of built days are stale for which cause, and of which tables."""
    found: dict[tuple[dt.date, str], list[str]] = {}
    for day in days:
        for file in stale_files(workspace, ledger, day):
            for cause in file.causes:
                found.setdefault((day, cause), []).append(file.table)
    return [
        {
            "date": day,
            "why": cause,
            "files": len(tables),
            "tables": some(list(dict.fromkeys(tables))),
        }
        for (day, cause), tables in found.items()
    ]


def _read_otherwise(files: list[ReadOtherwise]) -> list[dict[str, Any]]:
    """How many files of each export and landing day would be read otherwise."""
    counted = Counter((file.export, file.landing_date) for file in files)
    return [
        {"export": export, "landing_date": day, "files": count}
        for (export, day), count in sorted(counted.items())
    ]


def _clusters(ledger: Ledger, delivered: pl.DataFrame) -> list[dict[str, Any]]:
    """What came of each cluster, and of the fleet's exports, on the newest landing day."""
    if delivered.is_empty():
        return []
    newest = delivered["landing_date"].max()
    damaged = pl.col("record_count") == pl.col("rejected_count")
    files = ledger.files.filter(
        (pl.col("landing_date") == newest) & (pl.col("record_count") > 0) & damaged
    )
    unread = dict(files.group_by(pl.col("cluster").fill_null(FLEET)).len().iter_rows())
    rows = delivered.filter((pl.col("landing_date") == newest) & pl.col("is_expected"))
    is_complete = pl.col("status") == "complete"
    return [
        row | {"damaged_files": unread.get(row["cluster"], 0)}
        for row in rows.group_by("cluster")
        .agg(
            landing_date=pl.col("landing_date").first(),
            awaited=pl.len(),
            complete=is_complete.sum(),
            not_complete=pl.col("export").filter(~is_complete).sort().str.join(", "),
            records=pl.col("record_count").sum(),
            rejected=pl.col("rejected_count").sum(),
        )
        .sort("cluster")
        .to_dicts()
    ]


def _naming(delivered: pl.DataFrame) -> list[dict[str, Any]]:
    """Notes of the newest day on which an export delivered, a row each."""
    return (
        delivered.filter(pl.col("record_count") > 0)
        .filter(pl.col("landing_date") == pl.col("landing_date").max().over("cluster", "export"))
        .select("cluster", "export", "landing_date", note="naming_notes")
        .explode("note")
        .drop_nulls("note")
        .to_dicts()
    )


def _rejects(ledger: Ledger) -> list[dict[str, Any]]:
    paths = ledger.reject_paths()
    if not paths:
        return []
    return (
        scan_files(paths)
        .group_by(reason=pl.col("reason").str.split(":").list.first())
        .agg(count=pl.len())
        .sort("count", "reason", descending=[True, False])
        .collect()
        .to_dicts()
    )


def _coverage(lake: Lake) -> list[dict[str, Any]]:
    paths = [p for day in lake.days("node_coverage") for p in lake.files("node_coverage", day)]
    if not paths:
        return []
    return (
        scan_files(paths)
        .group_by("cluster", "source", "status")
        .agg(us=(pl.col("end_at") - pl.col("start_at")).dt.total_microseconds().sum())
        .with_columns(hours=(pl.col("us") / 3_600_000_000).round(2))
        .drop("us")
        .sort("cluster", "source", "status")
        .collect()
        .to_dicts()
    )


def _unconnected(lake: Lake) -> list[dict[str, Any]]:
    table = "unconnected_events"
    paths = [p for day in lake.days(table) for p in lake.files(table, day)]
    if not paths:
        return []
    return (
        scan_files(paths)
        .group_by("cluster", "reason")
        .agg(
            events=pl.col("event_count").sum(),
            # Only aggregated lines count flows; of others the number is not known.
            flows=pl.when(pl.col("flow_count").count() > 0).then(pl.col("flow_count").sum()),
        )
        .sort("cluster", "reason")
        .collect()
        .to_dicts()
    )

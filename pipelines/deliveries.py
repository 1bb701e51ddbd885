"""What each export delivered on each landing day, and what did not come.

Dense from the first landed or asked day to the newest: a day on which nothing came has a row that
says so, also where nothing came before it.
"""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from statistics import median_low
from typing import Any

import polars as pl

from pipelines.landing.formats import parsers
from pipelines.ledger import Ledger
from pipelines.parquet import scan_files
from pipelines.publication import TableWriter, content_of
from pipelines.settings import ExportSettings, Settings
from pipelines.storage import Lake
from schemas.registry import table_spec
from schemas.table import FLEET
from transforms.staging.naming_facts import LOOKUPS, NamingFacts, no_lookups_note

DELIVERIES = "deliveries"
KEY = ["cluster", "export", "landing_date"]
UNDATED = "before the first landing; the path names no day"


def export_scopes(settings: Settings, export: ExportSettings) -> tuple[str, ...]:
    """Clusters that an export serves; `fleet` if it belongs to no single one."""
    if export.clusters is not None:
        return tuple(sorted(export.clusters))
    return tuple(sorted(settings.clusters)) if "{cluster}" in export.path else (FLEET,)


def delivery_rows(
    settings: Settings,
    ledger: Ledger,
    today: dt.date | None = None,
    asked: Collection[dt.date] = (),
    left_out: Mapping[dt.date, Sequence[str]] | None = None,
    now: dt.datetime | None = None,
) -> pl.DataFrame:
    """Rows of `deliveries`, by its key.

    Args:
        settings: Settings.
        ledger: The ledger.
        today: With a day given, what is missing but may still come is `late`, not `missing`.
        asked: Days that have rows although nothing may have landed on them or beside them.
        left_out: Clusters that the fleet's published answers of a day leave out.
        now: With a moment given, what need not have come by its `by_hour_utc` is `late`, too.
    """
    spec = table_spec(DELIVERIES)
    dates: list[dt.date] = ledger.files["landing_date"].drop_nulls().unique().to_list()
    if not dates and not asked:
        return spec.empty()
    first_landed = min(dates, default=None)
    first, last = min((*dates, *asked)), max((*dates, *asked))
    days = [first + dt.timedelta(days=n) for n in range((last - first).days + 1)]
    pod_nodes = _nodes_with_pods(ledger)
    node_addresses = _node_addresses(ledger)
    scoped = ledger.files.with_columns(pl.col("cluster").fill_null(FLEET))
    landed = dict(iter(scoped.group_by("cluster", "export", "landing_date")))
    rows = []
    for export in settings.exports:
        for scope in export_scopes(settings, export):
            earlier: list[int] = []
            for day in days:
                group = landed.get((scope, export.name, day))
                row = _row(settings, export, scope, day, group, earlier, pod_nodes, today, now)
                if not _has_day(export) and (first_landed is None or day < first_landed):
                    row |= {"is_expected": False, "status": "not_configured", "reason": UNDATED}
                row["naming_notes"] = _naming_notes(group, node_addresses.get(scope, frozenset()))
                row["left_out_clusters"] = _of_row(scope, (left_out or {}).get(day, ()))
                rows.append(row)
                if row["file_count"]:
                    earlier.append(row["bytes"])
    frame = pl.DataFrame(
        {c: [row[c] for row in rows] for c in spec.polars_schema}, schema=spec.polars_schema
    )
    return _as_noted(ledger, frame).sort(spec.order)


def _as_noted(ledger: Ledger, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with those of pruned landing days as they were published: nodes are known no more."""
    kept = []
    for day in ledger.pruned_days:
        path = ledger.lake.path(DELIVERIES, day, FLEET)
        if path.is_file():
            noted = pl.read_parquet(path, glob=False, hive_partitioning=False)
            if set(noted.columns) == set(rows.columns):
                kept.append(noted.select(rows.columns))
    if not kept:
        return rows
    published = pl.concat(kept)
    return pl.concat([rows.join(published, on=KEY, how="anti"), published])


def _has_day(export: ExportSettings) -> bool:
    """Whether files say their landing day; others land on the day on which they are first seen."""
    return "%d" in export.path


def _of_row(scope: str, left_out: Sequence[str]) -> list[str]:
    """Clusters that a row of a cluster, or of the fleet, speaks of."""
    return sorted(cluster for cluster in left_out if scope in {cluster, FLEET})


def noted_left_out(lake: Lake, day: dt.date) -> list[str]:
    """Clusters that the published deliveries of a day say are left out."""
    path = lake.path(DELIVERIES, day, FLEET)
    if not path.is_file():
        return []
    rows = pl.read_parquet(path, glob=False, hive_partitioning=False)
    if "left_out_clusters" not in rows.columns:
        return []
    return sorted(set(rows["left_out_clusters"].explode().drop_nulls().to_list()))


def note_left_out(lake: Lake, day: dt.date, left_out: Sequence[str]) -> None:
    """Name the clusters that the fleet's published answers of a day leave out (definitions.md 14).

    A day that has no deliveries yet names them when they are written.
    """
    path = lake.path(DELIVERIES, day, FLEET)
    if not path.is_file():
        return
    rows = scan_files([path]).collect()
    named = [_of_row(scope, left_out) for scope in rows["cluster"]]
    column = pl.Series("left_out_clusters", named, pl.List(pl.String))
    if "left_out_clusters" in rows.columns and rows["left_out_clusters"].to_list() == named:
        return
    rows = rows.with_columns(column)
    schema = table_spec(DELIVERIES).polars_schema
    if set(rows.columns) == set(schema):
        write_deliveries(lake, rows.select(list(schema)))


def write_deliveries(lake: Lake, rows: pl.DataFrame) -> int:
    """Write changed days of `deliveries`, one file per day; returns how many."""
    spec = table_spec(DELIVERIES)
    written = 0
    for (day,), group in sorted(rows.group_by("landing_date"), key=lambda pair: pair[0]):
        if not isinstance(day, dt.date):
            continue
        path = lake.path(DELIVERIES, day, FLEET)
        with lake.replacing(path) as temporary:
            with TableWriter(spec, temporary) as writer:
                writer.write(group.sort(spec.order))
            if content_of(path) == writer.content:
                temporary.unlink()
            else:
                written += 1
    return written


def _row(
    settings: Settings,
    export: ExportSettings,
    scope: str,
    day: dt.date,
    group: pl.DataFrame | None,
    earlier: list[int],
    pod_nodes: dict[tuple[str, dt.date], frozenset[str]],
    today: dt.date | None,
    now: dt.datetime | None,
) -> dict[str, Any]:
    nodes = set(group["node"].drop_nulls().to_list()) if group is not None else set()
    file_count = group.height if group is not None else 0
    expected_nodes: int | None = None
    missing_nodes: list[str] = []
    if "{node}" in export.path:
        if export.expect is not None and export.expect.nodes is not None:
            expected_nodes = export.expect.nodes
        else:
            with_pods = pod_nodes.get((scope, day), frozenset())
            expected_nodes = len(with_pods)
            missing_nodes = sorted(with_pods - nodes)
    status, reason = _status(export, file_count, len(nodes), expected_nodes, missing_nodes)
    if status == "missing" and today is not None and today <= day + settings.final_after:
        status = "late"
    due = _due(export, day)
    if status in {"missing", "partial"} and now is not None and due is not None and now < due:
        status, reason = "late", f"{reason}; awaited until {due:%Y-%m-%d %H:%M} UTC"
    return {
        "cluster": scope,
        "export": export.name,
        "format": export.format,
        "landing_date": day,
        "is_expected": export.expect is not None,
        "file_count": file_count,
        "node_count": len(nodes),
        "expected_node_count": expected_nodes,
        "bytes": _total(group, "size_bytes"),
        "median_bytes": median_low(earlier) if earlier else None,
        "record_count": _total(group, "record_count"),
        "rejected_count": _total(group, "rejected_count"),
        "latest_event_at": group["last_event_at"].max() if group is not None else None,
        "status": status,
        "reason": reason,
    }


def _due(export: ExportSettings, day: dt.date) -> dt.datetime | None:
    """When at the latest a landing day's files are there; none if the settings do not say."""
    if export.expect is None or export.expect.by_hour_utc is None:
        return None
    behind = day + dt.timedelta(days=1)
    return dt.datetime.combine(behind, dt.time(export.expect.by_hour_utc), dt.UTC)


def _naming_notes(group: pl.DataFrame | None, node_addresses: frozenset[str]) -> list[str]:
    """What the look-ups of the files cannot tell of names; nothing is said of uncounted ones."""
    if group is None or group["naming_facts"].has_nulls():
        return []
    facts, read_count = NamingFacts(), 0
    read = pl.col("record_count") - pl.col("rejected_count")
    for format_name, count, texts, clients in group.select(
        "format", read, "naming_facts", "lookup_clients"
    ).iter_rows():
        facts.add_texts(texts, clients)
        parser = parsers().get(format_name)
        if parser is not None and parser.tables == (LOOKUPS,):
            read_count += count
    if read_count and not facts.counts["lookups"]:
        return [no_lookups_note(read_count)]
    return facts.notes(node_addresses)


def _total(group: pl.DataFrame | None, name: str) -> int:
    return int(group[name].sum()) if group is not None else 0


def _status(
    export: ExportSettings,
    file_count: int,
    node_count: int,
    expected_nodes: int | None,
    missing_nodes: list[str],
) -> tuple[str, str | None]:
    if export.expect is None:
        return ("complete", None) if file_count else ("not_configured", None)
    if file_count == 0:
        return "missing", "no file came"
    if missing_nodes:
        return "partial", f"no file of node(s) {', '.join(missing_nodes)}"
    if expected_nodes is not None and node_count < expected_nodes:
        return "partial", f"files of {node_count} node(s), expected {expected_nodes}"
    hourly = 24 * max(1, node_count) if export.expect.every == "hour" else 0
    if file_count < hourly:
        return "partial", f"{file_count} file(s), expected {hourly}"
    return "complete", None


def _node_addresses(ledger: Ledger) -> dict[str, frozenset[str]]:
    """Addresses of nodes, by cluster and for the fleet, from the staged states."""
    found: dict[str, set[str]] = {FLEET: set()}
    for table, column in (("node_states", "addresses"), ("pod_states", "host_addresses")):
        parts = ledger.parts(table, None, None, None)
        if not parts:
            continue
        states = scan_files(part.path for part in parts).select("cluster", column).explode(column)
        for cluster, address in states.drop_nulls().unique().collect().iter_rows():
            found.setdefault(cluster, set()).add(address)
            found[FLEET].add(address)
    return {scope: frozenset(addresses) for scope, addresses in found.items()}


def _nodes_with_pods(ledger: Ledger) -> dict[tuple[str, dt.date], frozenset[str]]:
    """Nodes that had a pod on a day, by cluster and day, from the staged states."""
    parts = ledger.parts("pod_states", None, None, None)
    if not parts:
        return {}
    states = (
        scan_files(part.path for part in parts)
        .filter(pl.col("node").is_not_null() & pl.col("cluster").is_not_null())
        .select(
            "cluster",
            "node",
            first=pl.coalesce("scheduled_at", "created_at").dt.date(),
            last=pl.coalesce("last_finished_at", "observed_at").dt.date(),
        )
        .unique()
        .collect()
    )
    found: dict[tuple[str, dt.date], set[str]] = {}
    for cluster, node, first, last in states.iter_rows():
        for n in range(min((last - first).days, 400) + 1):
            found.setdefault((cluster, first + dt.timedelta(days=n)), set()).add(node)
    return {key: frozenset(nodes) for key, nodes in found.items()}

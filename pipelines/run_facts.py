"""All that the catalogue and the lake say of one run, for its manifest and for comparing it.

A run is asked for by its uuid or by its name, where one run alone has that name.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import duckdb

from pipelines.build import show_parts
from pipelines.errors import PodledgerError
from pipelines.ledger import Ledger
from pipelines.settings import Settings
from pipelines.storage import Lake
from schemas.registry import table_spec
from transforms.marts.manifest import RunFacts
from transforms.sql import SqlSession
from transforms.staging.values import hex_uuid

TABLES = (
    "runs", "run_dependencies", "run_dependency_days", "waits", "storms", "run_outputs",
    "transfer_costs", "repeat_transfers", "run_coverage", "findings", "image_pulls",
)  # fmt: skip
"""Tables of the catalogue with rows about runs; some may be absent from an older one."""
NAMED_AT_MOST = 5
NODE_STATES = "node_states"
ALWAYS_READ = frozenset({
    "run_versions", "run_statuses", "pod_states", "container_states", NODE_STATES,
    "kube_event_states", "resource_claims",
})  # fmt: skip
"""Staging tables that what is known of any run comes from."""
MADE_FROM = {
    "connections": ("flows",),
    "object_transfers": ("object_requests",),
    "image_pulls": ("kube_event_states", "registry_requests"),
    "stages": ("pod_states", "container_states", "kube_event_states", "run_statuses"),
}
"""Staging tables behind the intermediate ones that rows name as their sources."""

Row = Mapping[str, Any]


def run_named(connection: duckdb.DuckDBPyConnection, wanted: str) -> str:
    """The uuid of the run that a person means.

    Args:
        connection: The catalogue.
        wanted: Its uuid, with or without dashes, or its name.

    Raises:
        PodledgerError: No run is called so, or several are.
    """
    found = runs_meant(connection, wanted)
    if not found:
        message = f"no run {wanted!r}; expected the uuid or the name of a run of the table runs"
        raise PodledgerError(message)
    if len(found) > 1:
        shown = ", ".join(found[:NAMED_AT_MOST]) + (", …" if len(found) > NAMED_AT_MOST else "")
        message = f"{len(found)} runs are called {wanted!r}; expected the uuid of one: {shown}"
        raise PodledgerError(message)
    return found[0]


def runs_meant(connection: duckdb.DuckDBPyConnection, wanted: str) -> list[str]:
    """Uuids of the run of a uuid, else of all runs of a name; connection as of `run_named`."""
    if wanted.encode(errors="ignore").decode() != wanted:
        # No name holds what is no UTF-8.
        return []
    uuid = hex_uuid(wanted)
    rows = connection.execute(
        "SELECT DISTINCT run_uuid FROM runs WHERE run_uuid = $uuid OR name = $name ORDER BY 1",
        {"uuid": uuid, "name": wanted},
    ).fetchall()
    found = [str(row[0]) for row in rows]
    return [uuid] if uuid is not None and uuid in found else found


def runs_of_project(
    connection: duckdb.DuckDBPyConnection, project: str, first: dt.date, last: dt.date
) -> list[str]:
    """Runs of a project that ended and whose first pod was created on one of the days."""
    rows = connection.execute(
        "SELECT run_uuid FROM runs WHERE project = $project GROUP BY run_uuid "
        "HAVING COUNT(*) = COUNT(end_at) "
        "AND CAST(MIN(start_at) AS DATE) BETWEEN $first AND $last ORDER BY 1",
        {"project": project, "first": first, "last": last},
    ).fetchall()
    return [str(row[0]) for row in rows]


def ended_runs(connection: duckdb.DuckDBPyConnection, day: dt.date) -> list[str]:
    """Runs whose newest rows cover a day and that ended up to it."""
    rows = connection.execute(
        "SELECT run_uuid FROM runs GROUP BY run_uuid "
        "HAVING MAX(as_of_date) = $day AND COUNT(*) = COUNT(end_at) ORDER BY 1",
        {"day": day},
    ).fetchall()
    return [str(row[0]) for row in rows]


@dataclass(frozen=True)
class RunReader:
    """Gathers the rows about runs; what all of them share is read once.

    Attributes:
        connection: The catalogue.
        settings: Settings.
        lake: The lake, for what nodes are.
    """

    connection: duckdb.DuckDBPyConnection
    settings: Settings
    lake: Lake

    def facts(self, run_uuid: str) -> RunFacts:
        """All rows about a run of the table `runs`."""
        rows: dict[str, list[Row] | None] = dict.fromkeys(TABLES)
        for table in self._tables:
            found = self.connection.execute(
                f'SELECT * FROM "{table}" WHERE run_uuid = $run',  # noqa: S608  names of ours
                {"run": run_uuid},
            )
            rows[table] = _rows(found)
        runs = rows["runs"] or []
        rows["nodes"] = self._nodes(runs)
        rows["observations"] = _observations(self.connection, runs, _staging_tables(rows))
        return RunFacts(run_uuid, rows)

    @cached_property
    def _tables(self) -> list[str]:
        """Tables that the catalogue has; one written by an older build may lack some."""
        known = {row[0] for row in self.connection.execute("SHOW TABLES").fetchall()}
        return [table for table in TABLES if table in known]

    def _nodes(self, runs: Iterable[Row]) -> list[Row]:
        """Nodes of a run with the types that their labels state; null where none does."""
        wanted = sorted({(row["cluster"], node) for row in runs for node in row["nodes"]})
        found: list[Row] = []
        for cluster, node in wanted:
            known: list[str | None] = [*sorted(self._node_types.get((cluster, node), ()))]
            found.extend(
                {"cluster": cluster, "node": node, "instance_type": instance_type}
                for instance_type in known or [None]
            )
        return found

    @cached_property
    def _node_types(self) -> dict[tuple[str, str], set[str]]:
        types: dict[tuple[str, str], set[str]] = {}
        parts = Ledger.read(self.lake).parts(NODE_STATES, None, None, None)
        if parts:
            with SqlSession(threads=self.settings.workers) as session:
                show_parts(session, table_spec(NODE_STATES), parts)
                stated = session.connection.execute(
                    "SELECT DISTINCT cluster, node, instance_type FROM node_states "
                    "WHERE instance_type IS NOT NULL"
                )
                for cluster, node, instance_type in stated.fetchall():
                    types.setdefault((cluster, node), set()).add(instance_type)
        return types


def _rows(found: duckdb.DuckDBPyConnection) -> list[Row]:
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _staging_tables(rows: Mapping[str, list[Row] | None]) -> list[str]:
    """Staging tables that the rows of a run name as their sources."""
    named = set(ALWAYS_READ)
    for table in ("run_dependencies", "waits", "storms", "run_outputs"):
        for row in rows[table] or ():
            named.update(row["sources"])
    for row in rows["run_coverage"] or ():
        if row["covered_us"]:
            named.add(row["source"].partition(":")[0])
    return sorted(named.union(*(MADE_FROM.get(name, ()) for name in named)))


def _observations(
    connection: duckdb.DuckDBPyConnection, runs: Iterable[Row], tables: list[str]
) -> list[Row]:
    """Export files of the run's clusters, nodes and time that filled one of the tables.

    The name of a file is the last part of its path: folders are of one machine and no evidence.
    """
    clusters = sorted({row["cluster"] for row in runs if row["cluster"] is not None})
    nodes = sorted({node for row in runs for node in row["nodes"]})
    begins = [t for row in runs for t in (row["created_at"], row["start_at"]) if t is not None]
    ends = [row["end_at"] for row in runs]
    found = connection.execute(
        "SELECT *, list_last(string_split(path, '/')) AS file FROM export_files "
        "WHERE same_content_as IS NULL "
        "AND (cluster IS NULL OR list_contains($clusters, cluster)) "
        "AND (node IS NULL OR list_contains($nodes, node)) "
        "AND list_has_any(list_transform(rows_by_table, lambda t: t.table_name), $tables) "
        "AND (first_event_at IS NULL OR $until IS NULL OR first_event_at < $until) "
        "AND (last_event_at IS NULL OR $since IS NULL OR last_event_at >= $since)",
        {
            "clusters": clusters,
            "nodes": nodes,
            "tables": tables,
            "since": min(begins, default=None),
            "until": None if None in ends else max(ends, default=None),
        },
    )
    return _rows(found)

"""One asset per intermediate and mart table: build it for every cluster, or for the fleet."""

import datetime as dt
from collections.abc import Iterator

import dagster as dg

from pipelines.assets.partitions import event_days
from pipelines.build import Outcome
from pipelines.run import Workspace, ask_for, build_table_of_day
from schemas.registry import table_spec, tables
from transforms.registry import transforms

MODEL = "model_and_key"
BY_COMMAND = "podledger/command"
"""Tag of runs that `podledger build` starts, which asks for days itself."""
UNASKED = {"dagster/sensor_name", "dagster/schedule_name", BY_COMMAND}
"""Tags of runs that nobody started by hand: a run without one asks for its day, final or not."""


def table_assets() -> list[dg.AssetsDefinition]:
    """The assets, in the order of their needs."""
    return [_asset_of(table) for table in transforms()]


def _asset_of(table: str) -> dg.AssetsDefinition:
    transform, spec = transforms()[table], table_spec(table)

    @dg.asset(
        name=table,
        group_name=spec.layer,
        description=spec.grain,
        partitions_def=event_days,
        deps=[
            _dep(read.table, read.span) for read in transform.reads if _is_asset(read.table, table)
        ],
        check_specs=[dg.AssetCheckSpec(MODEL, asset=table)],
        code_version=str(transform.version),
        kinds={"duckdb"},
    )
    def build(
        context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]
    ) -> Iterator[dg.MaterializeResult[None]]:
        day = dt.date.fromisoformat(context.partition_key)
        if not set(context.run.tags) & UNASKED:
            ask_for(workspace, day)
        yield _result(table, build_table_of_day(workspace, table, day))

    return build


def _is_asset(name: str, table: str) -> bool:
    return name in tables() and name != table


def _dep(name: str, span: str) -> dg.AssetDep:
    """How a table's day depends on another table's days.

    Staging is partitioned by landing day, and which landing days hold an event day's records only
    the ledger knows; likewise a table that reads all earlier days.
    """
    if table_spec(name).partition == "landing_day" or span == "history":
        return dg.AssetDep(name, partition_mapping=dg.AllPartitionMapping())
    if span == "day":
        return dg.AssetDep(name)
    back = 30 if span == "repeats" else 2
    return dg.AssetDep(name, partition_mapping=dg.TimeWindowPartitionMapping(start_offset=-back))


def _result(table: str, outcomes: list[Outcome]) -> dg.MaterializeResult[None]:
    published = [o.published for o in outcomes if o.published is not None]
    problems = {o.scope: o.problem for o in outcomes if o.problem is not None}
    return dg.MaterializeResult(
        metadata={
            "dagster/partition_row_count": sum(p.rows for p in published),
            "published_bytes": sum(p.bytes for p in published),
            "unchanged": sum(1 for o in outcomes if o.published is None and o.problem is None),
            "unpublished": ", ".join(sorted(problems)) or "none",
        },
        check_results=[
            dg.AssetCheckResult(
                passed=not problems,
                check_name=MODEL,
                asset_key=table,
                metadata={scope: str(problem) for scope, problem in sorted(problems.items())},
            )
        ],
    )

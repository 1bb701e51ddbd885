"""One asset per intermediate and mart table: build it for every cluster, or for the fleet."""

import datetime as dt
from collections.abc import Iterator

import dagster as dg

from pipelines.accuracy import SOURCES, split_of
from pipelines.assets.partitions import event_days
from pipelines.build import Outcome
from pipelines.run import Workspace, ask_for, build_table_of_day
from pipelines.storage import Lake
from schemas.registry import table_spec, tables
from transforms.registry import transforms

MODEL = "model_and_key"
ATTRIBUTION = "attribution"
"""Whether the ladders name as many of the day's rows as in the week before; a warning if not."""
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
        check_specs=[dg.AssetCheckSpec(name, asset=table) for name in _checks_of(table)],
        code_version=str(transform.version),
        kinds={"duckdb"},
    )
    def build(
        context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]
    ) -> Iterator[dg.MaterializeResult[None]]:
        day = dt.date.fromisoformat(context.partition_key)
        if not set(context.run.tags) & UNASKED:
            ask_for(workspace, day)
        result = _result(table, build_table_of_day(workspace, table, day))
        if ATTRIBUTION in _checks_of(table):
            check = attribution_check(workspace.lake, table, day)
            result = result._replace(check_results=[*(result.check_results or ()), check])
        yield result

    return build


def _checks_of(table: str) -> list[str]:
    return [MODEL, ATTRIBUTION] if table in SOURCES else [MODEL]


def attribution_check(lake: Lake, table: str, day: dt.date) -> dg.AssetCheckResult:
    """Warn of ladders that name far more or less of a table's rows than in the week before."""
    changes = split_of(lake, day, [table]).changes(table)
    return dg.AssetCheckResult(
        passed=not changes,
        check_name=ATTRIBUTION,
        asset_key=table,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            f"{change.cluster}, {change.ladder}": (
                f"{change.named_share:.2%} named, {change.named_share_before:.2%} in the week "
                "before"
            )
            for change in changes
        },
    )


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

"""The last steps of a built day: what it restated, and the catalogue that people read.

The catalogue is replaced behind every built day, so that all marts change together.
"""

import datetime as dt

import dagster as dg

from pipelines.assets.partitions import event_days
from pipelines.restatements import RESTATEMENTS, settle
from pipelines.run import Workspace, publish_catalogue
from schemas.registry import table_spec, tables

MARTS = tuple(name for name, spec in tables().items() if spec.layer == "marts")


@dg.asset(
    name=RESTATEMENTS, group_name="ledger", deps=list(MARTS), partitions_def=event_days,
    description=table_spec(RESTATEMENTS).grain, kinds={"duckdb"},
)  # fmt: skip
def restatements(
    context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]
) -> dg.MaterializeResult[None]:
    """Keep what the marts wrote down of the values that they changed of a final day."""
    day = dt.date.fromisoformat(context.partition_key)
    with workspace.locked() as lake:
        settle(lake, day)
        files = len(lake.files(RESTATEMENTS, day))
    return dg.MaterializeResult(metadata={"files": files})


@dg.asset(
    name="catalogue", group_name="people", deps=[*MARTS, RESTATEMENTS], partitions_def=event_days,
    kinds={"duckdb"},
)  # fmt: skip
def catalogue(
    context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]
) -> dg.MaterializeResult[None]:
    """Write the DuckDB file that analysts read."""
    rows = publish_catalogue(workspace, dt.date.fromisoformat(context.partition_key))
    if rows is None:
        return dg.MaterializeResult(metadata={"unchanged": 1})
    return dg.MaterializeResult(metadata={f"{name}_rows": n for name, n in rows.items()})

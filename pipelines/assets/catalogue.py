"""The catalogue asset: replaced behind every built day, so that all marts change together."""

import dagster as dg

from pipelines.assets.partitions import event_days
from pipelines.build import engine_memory
from pipelines.catalog import is_current, write_catalog
from pipelines.run import Workspace
from schemas.registry import tables

MARTS = tuple(name for name, spec in tables().items() if spec.layer == "marts")


@dg.asset(
    name="catalogue", group_name="people", deps=list(MARTS), partitions_def=event_days,
    kinds={"duckdb"},
)  # fmt: skip
def catalogue(workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[None]:
    """Write the DuckDB file that analysts read."""
    with workspace.locked() as lake:
        settings = workspace.settings
        if is_current(lake, settings.catalog_path):
            return dg.MaterializeResult(metadata={"unchanged": 1})
        rows = write_catalog(
            lake,
            settings.catalog_path,
            threads=settings.workers,
            memory_limit=engine_memory(settings),
        )
    return dg.MaterializeResult(metadata={f"{name}_rows": n for name, n in rows.items()})

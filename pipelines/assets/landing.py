"""The landing asset: a file is read once and may fill several staging tables."""

import datetime as dt
from collections.abc import Iterator

import dagster as dg
import polars as pl

from pipelines.assets.partitions import landing_days
from pipelines.ledger import EXPORT_FILES, Ledger
from pipelines.restatements import RESTATEMENTS
from pipelines.run import Workspace, land_days, warnings_of
from schemas.registry import table_spec, tables

LANDED = tuple(
    n for n, s in tables().items() if s.layer in {"ledger", "staging"} and n != RESTATEMENTS
)
ACCOUNTED = "records_accounted_for"


@dg.multi_asset(
    name="land_day",  # the job of all days is `land`, and no two may have one name
    specs=[
        dg.AssetSpec(
            name,
            group_name=table_spec(name).layer,
            description=table_spec(name).grain,
            kinds={"parquet"},
        )
        for name in LANDED
    ],
    check_specs=[dg.AssetCheckSpec(ACCOUNTED, asset=EXPORT_FILES)],
    partitions_def=landing_days,
)
def land(
    context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]
) -> Iterator[dg.MaterializeResult[None]]:
    """Parse the files of one landing day into staging parts and account for every record."""
    day = dt.date.fromisoformat(context.partition_key)
    report = land_days(workspace, frozenset({day}))
    files = Ledger.read(workspace.lake).files.filter(pl.col("landing_date") == day)
    for warning in warnings_of(workspace.settings):
        context.log.warning("%s", warning)
    for path, reason in report.unknown:
        context.log.warning("%s is left unread: %s", path, reason)
    rows = _rows_by_table(files)
    for name in LANDED:
        checks = [_accounted(files)] if name == EXPORT_FILES else []
        yield dg.MaterializeResult(
            asset_key=name,
            metadata={
                "dagster/partition_row_count": rows.get(name, 0),
                "new_files": report.files,
                **{f"new_{kind}_records": n for kind, n in report.records.items()},
            },
            check_results=checks,
        )


def _rows_by_table(files: pl.DataFrame) -> dict[str, int]:
    counted = {EXPORT_FILES: files.height, "rejected_records": int(files["rejected_count"].sum())}
    for listed in files["rows_by_table"].to_list():
        for row in listed:
            repeated = sum(r["count"] for r in row["repeated"])
            name = row["table_name"]
            counted[name] = counted.get(name, 0) + row["row_count"] - repeated
    return counted


def _accounted(files: pl.DataFrame) -> dg.AssetCheckResult:
    """Per file: records = accepted + duplicate + rejected + ignored."""
    kinds = ("accepted_count", "duplicate_count", "rejected_count", "ignored_count")
    wrong = files.filter(pl.col("record_count") != pl.sum_horizontal(*kinds))
    return dg.AssetCheckResult(
        passed=wrong.is_empty(),
        check_name=ACCOUNTED,
        asset_key=EXPORT_FILES,
        metadata={
            "files": files.height,
            "wrong_files": wrong.height,
            "samples": ", ".join(wrong["path"].head(3).to_list()),
        },
    )

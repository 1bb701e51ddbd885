"""What Dagster runs: assets, the jobs `land` and `build`, the nightly schedule, the sensor.

Clusters are settings, not assets: forty clusters need forty lines of settings.
"""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from pipelines.assets.catalogue import catalogue, restatements
from pipelines.assets.landing import LANDED
from pipelines.assets.landing import land as land_asset
from pipelines.assets.tables import table_assets
from pipelines.landing.land import new_files
from pipelines.ledger import Ledger
from pipelines.restatements import RESTATEMENTS
from pipelines.run import Workspace, is_possible, stale_days, state_of
from transforms.registry import transforms

LAND = "land"
BUILD = "build"

land_job = dg.define_asset_job(LAND, selection=dg.AssetSelection.assets(*LANDED))
build_job = dg.define_asset_job(
    BUILD, selection=dg.AssetSelection.assets(*transforms(), RESTATEMENTS, "catalogue")
)


@dg.schedule(job=land_job, cron_schedule="0 2 * * *", execution_timezone="UTC")
def nightly(
    context: dg.ScheduleEvaluationContext, workspace: dg.ResourceParam[Workspace]
) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """Land every landing day that has files the ledger does not know."""
    new = new_files(workspace.settings, workspace.lake, workspace.today)
    for path, reason in new.problems:
        context.log.warning("%s is left unread: %s", path, reason)
    days = [day for day in new.days if is_possible(day)]
    if not days:
        yield dg.SkipReason("no new files")
    for day in days:
        tick = context.scheduled_execution_time
        yield dg.RunRequest(run_key=f"{day}-{tick:%Y%m%d}", partition_key=day.isoformat())


@dg.sensor(job=build_job, minimum_interval_seconds=600)
def days_to_build(
    context: dg.SensorEvaluationContext, workspace: dg.ResourceParam[Workspace]
) -> dg.SensorResult | dg.SkipReason:
    """Build the days that are not built, or that late files, settings or logic changed.

    A day that was published as final is left as it is until somebody asks for it: by
    `podledger build --date`, or by starting the job for it. A day is run once per state, so that
    one that fails its checks is not built for ever.
    """
    days = stale_days(workspace)
    if not days:
        return dg.SkipReason("every day is built from all that has landed")
    del context
    ledger = Ledger.read(workspace.lake)
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                run_key=f"{day}-{state_of(workspace, ledger, day)[:16]}",
                partition_key=day.isoformat(),
            )
            for day in days
        ]
    )


def build_definitions(settings_file: Path | None = None) -> dg.Definitions:
    """All definitions; settings are read when a run or a sensor first needs them."""
    return dg.Definitions(
        assets=[land_asset, *table_assets(), restatements, catalogue],
        jobs=[land_job, build_job],
        schedules=[nightly],
        sensors=[days_to_build],
        resources={"workspace": Workspace(settings_file)},
        executor=dg.in_process_executor,
    )


defs = build_definitions()

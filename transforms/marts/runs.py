"""runs: what ran, per run and attempt, as known at the end of the day.

**Active** on the day is a run that has a pod on it, a condition or an object transfer of that day,
or that was created before its end and had not ended before its start. It has a row for every
attempt of its life so far, also of pods that ended on earlier days; a run without pods has one row
with a null attempt.

**Facts** of list and detail are merged: per fact the newest version that states it counts, a detail
before a list of the same version. The project is that of a detail, else of the pods' annotations,
else of the export's path (definitions.md 29).

**Status** is the later word of conditions and versions that speak for the end of the day; a version
observed only later counts where it states an end before the day's end. Status and outcome are the
run's and the same on all its attempts. `is_final` needs an end of the run, of all its pods, and a
final day.

**Outputs** are as sure as the weakest of the run's `run_outputs`: contradicted, else unproven, else
not observed, else proven. The same on all attempts.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
STEPS = (
    "run_conditions",
    "run_versions_merged",
    "active_runs",
    "run_pods",
    "run_pod_times",
    "run_images",
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the rows of all runs that were active on the day."""
    values = {
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "is_final": day.is_final,
    }
    with session.dropped(*STEPS):
        for step in STEPS:
            session.create(step, PACKAGE, step, values)
        return session.create("runs_built", PACKAGE, "runs", values)


TRANSFORM = Transform(
    table="runs",
    reads=(
        Reads("run_versions", "pods"),
        Reads("run_statuses", "pods"),
        Reads("container_states", "pods"),
        Reads("object_transfers"),
        Reads("pod_intervals", "history"),
        Reads("image_pulls", "history"),
        Reads("run_outputs"),
        Reads("run_coverage_days", "history"),
    ),
    rows_from=(
        "run_versions",
        "run_statuses",
        "container_states",
        "object_transfers",
        "pod_intervals",
    ),
    build=build,
    version=3,
)

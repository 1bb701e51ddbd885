"""run_coverage_days: how far each source observed the pods of each run on one day.

As run_coverage of a run's whole life, but of one day and cluster, so that the rows of a day carry
a coverage that days before and behind it do not change (row_coverage.py). Rows are dense: every run
with a pod that held an address, and all pods of a cluster that no run owns as one, times every
source of the cluster and of the fleet. `lost_count` counts a report once per row: it does not add
up over runs.
"""

from transforms.day import BuildDay
from transforms.marts.run_coverage import STEPS, show_expected
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the rows of one day, of all clusters."""
    show_expected(session, day)
    values = {"date": day.date}
    with session.dropped("active_runs", *(name for name, _ in STEPS)):
        session.create("active_runs", PACKAGE, "asked_runs")
        for name, file in STEPS:
            session.create(name, PACKAGE, file, values)
        return session.create("run_coverage_days_built", PACKAGE, "run_coverage_days", values)


TRANSFORM = Transform(
    table="run_coverage_days",
    reads=(Reads("pod_intervals"), Reads("node_coverage")),
    rows_from=("pod_intervals",),
    build=build,
)

"""run_coverage: whether a run was observed at all, by each source that should have shown it.

Rows are dense: every run active on the day, times every source of its cluster and of the fleet. A
source is a staging table; logs of object storage count per bucket. Sources are the tables named in
`OBSERVING` that the cluster's exports can fill, and all that node_coverage speaks of.

Expected is the time of the run's bound pods, up to the end of the day; covered is what of it lies
in intervals with status `covered`, whichever export says so. Lossy, sampled, masked and unknown
time is in doubt: it is not covered, and a run with such time is never `nothing_happened`. So is the
time of a pod on its node's network, for sources that tell it as the node's. A pod that has an
address but no known node is expected to be seen, and no source of nodes covers it.
"""

import polars as pl

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
OBSERVING = ("flows", "dns_lookups", "object_requests", "counter_samples", "volume_records")
"""Staging tables that show what a pod does hour by hour; a state or event speaks for no hour."""
STEPS = (
    ("run_pod_times", "run_pod_times"),
    ("coverage_sources", "coverage_sources"),
    ("coverage_intervals", "coverage_intervals"),
    ("coverage_islands", "coverage_islands"),
    ("coverage_overlaps", "coverage_overlaps"),
    ("coverage_gaps", "coverage_gaps"),
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the rows of all runs that were active on the day."""
    show_expected(session, day)
    values = {"date": day.date}
    with session.dropped("active_runs", *(name for name, _ in STEPS)):
        session.create("active_runs", PACKAGE, "runs_of_day", values)
        for name, file in STEPS:
            session.create(name, PACKAGE, file, values)
        return session.create("run_coverage_built", PACKAGE, "run_coverage", values)


def show_expected(session: SqlSession, day: BuildDay) -> None:
    """Show `expected_tables`, which exports fill that observe hours, and `cluster_names`."""
    expected = sorted({pair for pair in day.export_tables if pair[1] in OBSERVING})
    session.register(
        "expected_tables",
        pl.DataFrame(expected, schema={"scope": pl.String, "source": pl.String}, orient="row"),
    )
    session.register(
        "cluster_names",
        pl.DataFrame({"cluster": [c.name for c in day.clusters]}, schema={"cluster": pl.String}),
    )


TRANSFORM = Transform(
    table="run_coverage",
    reads=(
        Reads("runs"),
        Reads("pod_intervals", "history"),
        Reads("node_coverage", "history"),
    ),
    rows_from=("runs",),
    build=build,
    version=2,
)

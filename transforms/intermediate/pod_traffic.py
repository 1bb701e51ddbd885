"""Bytes of each pod's interfaces in windows of five minutes, cut exactly from the increments.

What a window holds is told in `traffic_windows`.
"""

from datetime import timedelta

from transforms.day import BuildDay
from transforms.intermediate.traffic_windows import sum_windows
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
WINDOW = timedelta(minutes=5)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `pod_traffic` of one cluster and day."""
    with session.dropped("traffic_windows"):
        sum_windows(session, day, WINDOW)
        return session.create("pod_traffic", PACKAGE, "pod_traffic", {"cluster": day.cluster})


TRANSFORM = Transform(
    table="pod_traffic",
    reads=(Reads("counter_increments"), Reads("pod_intervals")),
    rows_from=("counter_increments",),
    build=build,
    version=2,
)

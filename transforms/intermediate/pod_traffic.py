"""Bytes of each pod's interfaces in windows of five minutes, cut exactly from the increments.

Method: reference/counters.md 3.2, steps 7 and 8. An increment of `b` bytes over `[start, end)`
gives a window `F(window end) - F(window start)` with `F(e) = floor(b * (e - start) / (end -
start))`, `e` clamped to the increment: windows add up to the increment, whatever edges are cut
later. `min_bytes` sums the increments wholly inside the window, `max_bytes` those that overlap it.

An increment across midnight whose end lies `look_ahead` or more behind it is seen by the later day
only. All its bytes stand there, from midnight on, so that days still add up to the counter.

One observer counts per pod, interface, direction and UTC hour (definitions.md 38): the one with
most readings in the hour, then the smallest name.
"""

from datetime import timedelta

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
MICROSECOND = timedelta(microseconds=1)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `pod_traffic` of one cluster and day."""
    values = {
        "cluster": day.cluster,
        "start_us": int(day.start_at.timestamp()) * 1_000_000,
        "end_us": int(day.end_at.timestamp()) * 1_000_000,
        "look_ahead_us": day.look_ahead // MICROSECOND,
    }
    with session.dropped("pod_traffic_parts"):
        session.create("pod_traffic_parts", PACKAGE, "pod_traffic_parts", values)
        return session.create("pod_traffic", PACKAGE, "pod_traffic", values)


TRANSFORM = Transform(
    table="pod_traffic",
    reads=(Reads("counter_increments"), Reads("pod_intervals")),
    build=build,
    version=1,
)

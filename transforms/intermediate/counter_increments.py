"""Bytes that a cumulative counter grew by between two adjacent readings.

Method: reference/counters.md 3.2. Repeated readings collapse, readings are sorted by time, then
each is compared with the one before it:

* no reading before it, or none within the look-back: the value counts only if the counter is known
  to have started within the look-back (`known_start`); else it is a baseline and gives no bytes;
* a stated start behind the previous reading: the counter restarted there (`reset_known_start`).
  What it counted between that reading and its end is lost: that time has an increment of its own,
  of 0 bytes with `is_reset`;
* a value that fell by less than an eighth under an unchanged start is a stale reading: growth is
  measured from the largest value of the last look-back, so that the dip counts once;
* a value that fell further: a restart at an unknown time (`reset`), the value is a lower bound;
* else the growth is the difference (`sample`).

A delta reading is taken as it is (`delta_start`), from its stated start, else from the reading
before it; without either its bytes stand in its last microsecond.

`is_gap` compares the time between two readings with the median of the three times before it (the
larger of two, where only two are known).

An increment stands, whole, on each day that it meets and whose build sees its end, that is up to
`look_ahead` behind the day.

Host-network pods have their node's counters: `match_kind` is `node` and no pod is named. A stated
UID of a pod that no export shows stands beside `none`.
"""

from datetime import timedelta

from transforms.day import BuildDay
from transforms.intermediate.pod_match import match_pods
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
MICROSECOND = timedelta(microseconds=1)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `counter_increments` of one cluster and day."""
    values = {
        "cluster": day.cluster,
        "start_us": int(day.start_at.timestamp()) * 1_000_000,
        "end_us": int(day.end_at.timestamp()) * 1_000_000,
        "look_back_us": day.look_back.counters // MICROSECOND,
        "look_ahead_us": day.look_ahead // MICROSECOND,
    }
    helpers = ("counter_series", "counter_growth", "match_input", "match_output")
    with session.dropped(*helpers):
        session.create("counter_series", PACKAGE, "counter_series", values)
        session.create("counter_growth", PACKAGE, "counter_growth", values)
        session.create("match_input", PACKAGE, "counter_match_input", values)
        match_pods(session, day)
        return session.create("counter_increments", PACKAGE, "counter_increments", values)


TRANSFORM = Transform(
    table="counter_increments",
    reads=(
        Reads("counter_samples", "counters", ahead=True),
        Reads("pod_intervals", "counters"),
        Reads("node_states", "pods"),
    ),
    build=build,
    version=1,
)

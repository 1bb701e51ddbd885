"""Bytes that a cumulative counter grew by between two adjacent readings.

Method: reference/counters.md 3.2. Repeated readings collapse, readings are sorted by time, then
each is compared with the one before it, in this order:

* no reading before it, or none within the look-back: the value counts only if the counter is known
  to have started within the look-back (`known_start`); else it is a baseline and gives no bytes;
* a stated start behind the previous reading: the counter restarted there (`reset_known_start`).
  What it counted between that reading and its end is lost: that time has an increment of its own,
  of 0 bytes with `is_reset`;
* longer ago than the declared time after which the exporter forgets a counter: it began anew
  (`reset`), at the earliest the usual time between readings ago. The time before that hides bytes
  as above;
* a value that fell, of a counter declared to have 32 bits, where one turn is no more than the
  declared link can carry: the turn is added (`sample`). Without a declared link nothing tells one
  turn from several, and no turn is assumed;
* a value that fell by less than an eighth under an unchanged start is a stale reading: growth is
  measured from the largest value of the last look-back, so that the dip counts once;
* a value that fell further: a restart at an unknown time (`reset`), the value is a lower bound;
* else the growth is the difference (`sample`).

A delta reading is taken as it is (`delta_start`), from its stated start, else from the reading
before it; without either its bytes stand in its last microsecond. Of two with one start only the
longer is told, which holds the other.

Not told are increments that begin on a day whose readings contradict what is declared of the
series, and such that are faster than 1.2 times the declared link: `counter_findings` names them.

`is_gap` compares the time between two readings (of a delta, the time that it tells of) with the
median of the three times before it (the larger of two, or the one, where no more are known). So is
time in which a mark says that the series was no longer shown: what a counter that comes back has
grown by still counts, as it is the same counter. The
bytes of a gap are spread only over the time that the
pod lived, from its creation to its proven end, as the day on which the increment begins knows it.

An increment stands, whole, on each day that it meets and whose build sees its end, that is up to
`look_ahead` behind the day.

Host-network pods have their node's counters: `match_kind` is `node` and no pod is named. So do pods
of which no export says so, and that show interfaces that only nodes have. A stated UID of a pod
that no export shows stands beside `none`.
"""

from transforms.day import BuildDay
from transforms.intermediate.counter_growth import TABLES, grow_counters
from transforms.intermediate.pod_match import match_pods
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `counter_increments` of one cluster and day."""
    grow_counters(session, day)
    session.create("match_input", PACKAGE, "counter_match_input", {"cluster": day.cluster})
    match_pods(session, day)
    # A day has as many rows as readings: publication reads them once, and nobody has to hold them.
    over = (*TABLES, "match_input", "match_output")
    return session.create_view("counter_increments", PACKAGE, "counter_increments", over)


TRANSFORM = Transform(
    table="counter_increments",
    reads=(
        Reads("counter_samples", "counters", ahead=True),
        Reads("pod_intervals", "counters"),
        Reads("node_states", "pods"),
    ),
    rows_from=("counter_samples",),
    build=build,
    version=4,
)

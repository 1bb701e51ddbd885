"""Bytes between two ends as intervals, whatever a source's numbers mean.

Input is `volume_records`, whose format declares what its numbers are (`temporality`); only the
export's setting says otherwise, values never do. `find_intervals` makes the view
`volume_intervals`, in which every row is bytes of one interval:

* `delta`: as recorded. A tuple of Azure's counts since the flow's last one within the look-back
  `counters`, which may be in another file (`volume_begun`). What several of its rule lists or rules
  tell counts once (`volume_told_again`).
* `per_connection_total`: as recorded, over the connection's life, on each day that it meets. Of
  several records of one connection (its `flow_id` and beginning) the last counts.
* `cumulative`: what the series grew by between two readings, by the rules for cumulative series
  (reference/counters.md 3.2). A series is one direction of one connection as one observer names it,
  or one counter of a pair of ends. A running total began where its record says that the connection
  did; one that began, or was last read, further back than the look-back `counters` has nothing to
  grow from. A value that falls by less than an eighth is an old reading; one that falls further
  began anew, and what it held before is lost (`hides_bytes`). OBI forgets a series that was idle
  for 5 minutes, or as long as the export's `expires_after` says: what it then reads began anew
  within the last spacing of readings, of which only what is above the reading before is certain.
  Between a counter's last reading and its new beginning it may have held more: that time is an
  interval of its own, of 0 bytes (`hides_bytes`). The new beginning of a connection's total is
  another connection's. Values that were not read at their time are left out.

Remote memory access (EFA), which AWS tells beside IP traffic, is in no interval: it passes no
interface that counters and other records see, and its bytes would balance against nothing.

A record that has both a difference and a total is read by its total, as reports get lost.

**Held back**, so that it is in no sum: what contradicts its declaration. `volume_false_deltas` are
differences that only grow, and such of observers without a name that overlap; `volume_false_totals`
are totals that fall and come back, or whose beginning moves on while they grow. Both are judged by
UTC day, as counters are: what begins on a day whose records contradict it is held back, so that all
days that meet it say the same. Connections cannot overlap on one pair of ports: where records of an
observer without a name say so, two saw one connection, and the record of more bytes counts
(`second_observer`).
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD, BuildDay
from transforms.sql import SqlSession

PACKAGE = "transforms.intermediate"
HELPERS = (
    "volume_intervals", "volume_left_out", "volume_told_again", "volume_begun",
    "volume_false_deltas", "volume_false_totals", "volume_growth", "volume_series", "volume_named",
)  # fmt: skip
"""What `find_intervals` makes; to be dropped in this order."""
_MICROSECOND = timedelta(microseconds=1)


def find_intervals(session: SqlSession, day: BuildDay) -> str:
    """Make `volume_intervals` of the day.

    Args:
        session: Session that shows `volume_records`, with the look-back `counters`.
        day: The built day.

    Returns:
        `volume_intervals`, a temporary view over the helpers in `HELPERS`. It also holds intervals
        that do not meet the day.
    """
    values = {
        "start_us": day.start_us,
        "end_us": day.end_us,
        "look_back_us": day.look_back.counters // _MICROSECOND,
        "look_ahead_us": day.look_ahead // _MICROSECOND,
        "guard_us": SKEW_GUARD // _MICROSECOND,
    }
    session.create_view("volume_named", PACKAGE, "volume_named")
    session.create("volume_series", PACKAGE, "volume_series")
    session.create("volume_growth", PACKAGE, "volume_growth", values)
    session.create("volume_false_totals", PACKAGE, "volume_false_totals")
    session.create("volume_false_deltas", PACKAGE, "volume_false_deltas", values)
    session.create("volume_begun", PACKAGE, "volume_begun", values)
    session.create("volume_told_again", PACKAGE, "volume_told_again", values)
    session.create("volume_left_out", PACKAGE, "volume_left_out")
    return session.create_view("volume_intervals", PACKAGE, "volume_intervals")

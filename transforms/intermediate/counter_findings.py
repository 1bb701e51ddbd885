"""What readings of counters show beside bytes, and what is held back for it.

Values never decide what a counter is: that is declared. But where a day's readings, each compared
with those before it on that day, contradict what is declared of their series, no increment that
begins on that day is told:

* `delta_only_grows`: a delta that counts on. At least 8 readings are larger than the one before,
  and at most one in 16 of that number is smaller;
* `interleaved_observers`: two counters under one name, read in turns. At least 8 readings, and a
  third of all but the turn that the day's ends cut, are smaller, without a restart that is stated,
  than the one before but not than the one before that; of a delta, begin before the one before
  ends;
* `falls_like_delta`: a cumulative counter whose value falls, without a restart that is stated, at
  least 12 times and three quarters as often as it grows. One of 32 bits may: it turns.

Left out one by one are readings that claim another temporality than the series has
(`mixed_temporality`), and increments faster than 1.2 times the declared link (`faster_than_link`):
wrong units, or restarts that were none.

The rest is counted on, and told: several values at one time (`conflicting_values`), stated starts
that overlap readings (`overlapping_starts`), stale readings (`small_drops`), turns of 32 bits
(`wraps`), and first readings of unknown start (`unknown_start`; `bytes` is what stood on the
counter). `observers_disagree`: of two observers of one counter only one counts in each hour; the
other one is compared with it, in hours that both saw wholly.
"""

from transforms.day import BuildDay
from transforms.intermediate.counter_growth import TABLES, grow_counters
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `counter_findings` of one cluster and day."""
    values = {
        "date": day.date,
        "start_us": day.start_us,
        "end_us": day.end_us,
    }
    with session.dropped(*TABLES, "counter_mixed", "counter_compared"):
        grow_counters(session, day, only_compared=True)
        session.create("counter_mixed", PACKAGE, "counter_mixed", values)
        session.create("counter_compared", PACKAGE, "counter_compared", values)
        return session.create("counter_findings", PACKAGE, "counter_findings", values)


TRANSFORM = Transform(
    table="counter_findings",
    reads=(Reads("counter_samples", "counters", ahead=True),),
    rows_from=("counter_samples",),
    build=build,
    version=3,
)

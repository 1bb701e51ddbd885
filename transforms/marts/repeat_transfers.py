"""repeat_transfers: what was fetched again within a run, a node or the fleet (definitions.md 26).

Reads are successful reads that moved bytes. One object is one provider, bucket, key and version; an
unknown version is part of the identity. Where the version is unknown and two reads state different
sizes, the object was replaced between them: that earlier read counts for nothing.

With S the bytes of the object that reads of the scope beginning in [start_at - 30 d, start_at) had
moved by the end of the day on which this read began, plus its own bytes of earlier days, and b its
bytes of this day: min = max(0, S + b - size) - max(0, S - size), 0 where the size is unknown; max =
b if there was an earlier read, else min. So the minima of a scope add up to what was read beyond
one whole object, over reads and over days.

A read whose run or node is not known has a row in that scope with min 0 and the fleet's max, where
the fleet has one. An earlier read whose place is not known may have been in the scope: it raises
max, never min, and is named as previous only where no earlier read of the scope is known.
"""

import datetime as dt

import polars as pl

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
STEPS = (
    "repeat_reads",
    "repeat_told",
    "repeat_before",
    "repeat_places",
    "repeat_day",
    "repeat_old",
    "repeat_judged",
    "runs_of_day",
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the repeats of one day, of all clusters."""
    values = {
        "date": day.date,
        "look_back_us": day.look_back.repeats // dt.timedelta(microseconds=1),
    }
    with session.dropped(*STEPS):
        for step in STEPS:
            session.create(step, PACKAGE, step, values)
        session.register("repeat_history", _history(session, day))
        return session.create("repeat_transfers_built", PACKAGE, "repeat_transfers", values)


def history_basis(start_date: dt.date, day: BuildDay) -> str:
    """`complete`, or the days not built in which earlier reads may hide.

    Args:
        start_date: Day on which the read began.
        day: The built day.
    """
    first = (dt.datetime.combine(start_date, dt.time(), dt.UTC) - day.look_back.repeats).date()
    built = set(day.built_days)
    days = [first + dt.timedelta(days=n) for n in range((day.date - first).days)]
    spans: list[list[dt.date]] = []
    for missing in (d for d in days if d not in built):
        if spans and missing - spans[-1][-1] == dt.timedelta(days=1):
            spans[-1][1:] = [missing]
        else:
            spans.append([missing])
    named = [" to ".join(d.isoformat() for d in span) for span in spans]
    return f"not built: {', '.join(named)}" if named else "complete"


def _history(session: SqlSession, day: BuildDay) -> pl.DataFrame:
    found = session.connection.execute(
        "SELECT DISTINCT start_date FROM repeat_reads ORDER BY start_date"
    ).fetchall()
    return pl.DataFrame(
        [(start, history_basis(start, day)) for (start,) in found],
        schema={"start_date": pl.Date, "history_basis": pl.String},
        orient="row",
    )


TRANSFORM = Transform(
    table="repeat_transfers",
    reads=(Reads("object_transfers", "repeats"), Reads("runs")),
    build=build,
)

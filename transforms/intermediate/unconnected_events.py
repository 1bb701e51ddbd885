"""unconnected_events: what became of Hubble's events that are in no connection.

An event tells its own reason (an agent's event, a line of an aggregated export, a socket event, a
look-up, an address that a mask removed, another protocol, Cilium's health endpoints), or belongs to
a connection that is nobody's: a host that probes its own pods, a proxy's upstream leg, a resolver
on another port. Those are what is left of the day's events behind all others and behind the events
of `connections`, so that nothing disappears and nothing counts twice.

Aggregated lines count flows: they hold only the fields that the export was told to group by, so
that what they count cannot be told apart as connections even where they hold both ends. Of them and
of masked events the pods, the port and the verdict are kept, as far as they are exported.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the rows of one cluster and day."""
    values = {
        "cluster": day.cluster,
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
    }
    return session.create(
        "unconnected_events_built", "transforms.intermediate", "unconnected_events", values
    )


TRANSFORM = Transform(
    table="unconnected_events",
    reads=(Reads("flows"), Reads("connections")),
    rows_from=("flows",),
    build=build,
)

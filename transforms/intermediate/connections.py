"""Connections: all events of one oriented tuple, from all nodes and trace points, in one row.

**Orientation** of an event, best first: `is_reply`; the trace reason; SYN (against SYN with ACK).
An event without any of these takes the orientation of the others of its tuple, if they agree; else
the side with the lower port answers; else (`unknown`) the first that was seen to send began.

**Stitching** (definitions.md 16). An opening is a SYN without ACK or a NEW packet of the initiator.
TCP: an opening more than 5 s after the previous one (or after the tuple's first event) begins
another connection if FIN or RST, 60 s of silence or another pod name lies between, else it is one
more attempt. Events up to 2 s before a start belong to it, unless FIN or RST or the old pod's name
comes later; up to 2 s after FIN or RST they belong to the connection that ended. Other transports:
60 s of silence.

**Start.** A TCP connection's start is seen if its first events hold an opening or a SYN with ACK.
If not, although flags or reasons are exported, it is `opened_before`, and so is what was seen
within 60 s of the look-back's edge where no start can be told. Such a connection has ordinal 0 and
the built date in its id; no name that an address has now says what it had when that one began, so
it is named by HTTP or Hubble only.

**End** on this day: FIN or RST; `reuse` where the tuple's next connection shows that this one had
ended; `drop` (only drops) and `silence` (not TCP) if nothing followed for 60 s. Else it is open.

**Left out**, and counted in unconnected_events: DNS to a resolver, other protocols, socket events,
health endpoints, a host's own pods as it probes them, the upstream leg of a proxy (the pod's
identity with an address of no pod), lines of aggregated exports, which count flows and tell no
connections apart, and events whose addresses a mask removed. Those of them that only the matched
ends tell stand in the session's table `connections_ignored` (reason, events of the day).

**Names** (design.md 5): HTTP host; a live binding of the pod, its node or the cluster; what Hubble
states within 2 s of the start; the only external name that the pod asked in the 5 s before, where
the log has no answers and the address is not known as other names' only; the service; an address
known everywhere; the provider's service whose published network holds the address (never a host's
name: the resource stays the address). Inside the cluster the resource is the service or workload
whatever the name.
"""

from datetime import timedelta
from typing import Any

from transforms.day import BuildDay
from transforms.intermediate.container_match import match_containers
from transforms.intermediate.name_match import match_names
from transforms.intermediate.pod_match import match_pods
from transforms.intermediate.range_match import match_ranges
from transforms.intermediate.stage_match import match_stages
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
MICROSECOND = timedelta(microseconds=1)
REPEATED_OPENING = timedelta(seconds=5)
SILENCE = timedelta(seconds=60)
NEIGHBOUR = timedelta(seconds=2)
JUST_BEFORE = timedelta(seconds=5)
LONG = timedelta(minutes=10)
"""Tuples with events over a longer time are summed apart: each slice of them reads most events."""
TUPLES_AT_ONCE = 300_000
"""Tuples whose events are summed together; a third of a gigabyte holds their sums."""


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `connections` of one cluster and day."""
    values = {
        "cluster": day.cluster,
        "date": day.date,
        "from_at": day.start_at - day.look_back.connections,
        "until_at": day.read_until,
        "from_us": day.start_us - day.look_back.connections // MICROSECOND,
        "start_us": day.start_us,
        "end_us": day.end_us,
        "opening_us": REPEATED_OPENING // MICROSECOND,
        "silence_us": SILENCE // MICROSECOND,
        "neighbour_us": NEIGHBOUR // MICROSECOND,
        "just_before_us": JUST_BEFORE // MICROSECOND,
        "long_us": LONG // MICROSECOND,
    }
    # Views: they are read several times, and never held in memory.
    session.create_view("connection_events", PACKAGE, "connection_events")
    helpers = (
        "stage_input", "stage_output",
        "connection_tuples", "connection_complex", "connection_segments",
        "connection_ordinals", "match_input", "match_output", "connection_peers", "name_input",
        "name_output", "connection_asked", "container_input", "container_output",
        "well_known_addresses", "range_input", "range_output", "connection_sides",
        "connection_events",
    )  # fmt: skip
    with session.dropped(*helpers):
        session.create("connection_tuples", PACKAGE, "connection_tuples", values)
        session.create_view("connection_sides", PACKAGE, "connection_sides")
        session.create("connection_complex", PACKAGE, "connection_complex", values)
        for bounds in _slices(session):
            make = session.insert if bounds["first_tuple"] > 1 else session.create
            make("connection_segments", PACKAGE, "connection_segments", {**values, **bounds})
        session.create("connection_ordinals", PACKAGE, "connection_ordinals", values)
        session.create("match_input", PACKAGE, "connection_match_input", values)
        match_pods(session, day)
        session.create("well_known_addresses", PACKAGE, "well_known_addresses")
        session.create("connection_peers", PACKAGE, "connection_peers", values)
        session.create("connections_ignored", PACKAGE, "connections_ignored", values)
        session.create("name_input", PACKAGE, "connection_name_input", values)
        match_names(session)
        session.create("range_input", PACKAGE, "connection_range_input")
        match_ranges(session)
        session.create("connection_asked", PACKAGE, "connection_asked", values)
        session.create("container_input", PACKAGE, "connection_container_input", values)
        match_containers(session)
        session.create("stage_input", PACKAGE, "connection_stage_input", values)
        match_stages(session)
        return session.create("connections", PACKAGE, "connections", values)


def _slices(session: SqlSession) -> list[dict[str, Any]]:
    """Tuples that are summed together, with the time in which their events lie; at least one.

    Where files are in order of time a slice reads its own part of them, so that all slices together
    read each event about once.
    """
    values = {"at_once": TUPLES_AT_ONCE}
    found = session.query(PACKAGE, "connection_slices", values).fetchall()
    names = ("first_tuple", "last_tuple", "first_at", "last_at")
    return [dict(zip(names, row, strict=True)) for row in found or [(1, 0, None, None)]]


TRANSFORM = Transform(
    table="connections",
    reads=(
        Reads("flows", "connections"),
        Reads("dns_lookups", "names"),
        Reads("pod_intervals", "connections"),
        Reads("node_states", "pods"),
        Reads("pod_states", "pods"),
        Reads("container_states", "pods"),
        Reads("services", "pods"),
        Reads("name_bindings", "names"),
        Reads("stages", "connections"),
        Reads("address_ranges"),
    ),
    rows_from=("flows",),
    build=build,
    version=8,
)

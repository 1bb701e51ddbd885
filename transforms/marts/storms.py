"""storms: what failed over and over, how that ended, and who can end it (definitions.md 45).

**What is a storm**: five failures or more of one (pod, container, resource, error class), each at
most 300 s behind the one before. Failures are requests to object storage without success (a 404
too), connections that a policy dropped, that were refused or never answered, and look-ups that
failed (what the search path made of a name is none). The kubelet's failures (pulls, mounts,
sandboxes, containers that end with an error) are counted by events and states, which keep first,
last and count: they are one storm where they are 300 s apart on the whole. Failures without a
certain pod are of none: several pods' would make a storm that nobody had.

**Retries** are bounded where a success followed (`recovered`) or where the container lived on for
more than 300 s without another failure or ended itself (`gave_up`); `unbounded` where they went on
until something from outside ended the container, or the day.

**Lost** is the time of `waits` that the same pod and container waited for that resource by the
cause that such a failure makes (a refusal `denied`, a 503 `throttled`), from the first failure up
to the next success: beside computing nothing is lost. One wait is of one storm, the last begun of
those that it meets, and so lost time adds up; its GPU time goes by the part that lies within.

**Owners**: pull 401, 403, 429, 5xx: registry; not found: ml_team; disk, time-out, and all of
mounting: platform; names, connections, policies, sandboxes: network; refused credentials: identity;
403, 5xx, throttling of a bucket: storage; what ends with an error: ml_team.
"""

from datetime import timedelta

import polars as pl

from transforms.day import BuildDay
from transforms.marts.attempts import MADE, make_attempts
from transforms.marts.row_coverage import cover_rows_of_day
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
NAMES_BEFORE = timedelta(days=1)
NO_PODS = pl.Schema(
    {"cluster": pl.String(), "pod_uid": pl.String(), "start_us": pl.Int64(), "end_us": pl.Int64()}
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the storms of one day, of all clusters."""
    values = {
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "span_start": day.start_at - day.look_back.pods,
    }
    steps = ("runs_of_day", "owner_rules", "storm_attempts", "storm_events")
    session.register("attempt_pods", pl.DataFrame(schema=NO_PODS))
    with session.dropped(*MADE, *steps):
        make_attempts(session, day, NAMES_BEFORE)
        session.create("runs_of_day", PACKAGE, "runs_of_day", values)
        session.create("owner_rules", PACKAGE, "owner_rules")
        session.create("storm_attempts", PACKAGE, "storm_attempts", values)
        session.create("storm_events", PACKAGE, "storm_events", values)
        session.create("mart_rows", PACKAGE, "storms", values)
    return cover_rows_of_day(session)


TRANSFORM = Transform(
    table="storms",
    reads=(
        Reads("waits"),
        Reads("stages"),
        Reads("pod_intervals", "pods"),
        Reads("node_states", "pods"),
        Reads("container_states", "pods"),
        Reads("kube_event_states", "pods"),
        Reads("image_pulls", "pods"),
        Reads("object_requests", "transfers"),
        Reads("object_transfers", "transfers"),
        Reads("connections", "connections"),
        Reads("flows", "connections"),
        Reads("dns_lookups", "names"),
        Reads("run_dependency_days"),
        Reads("runs"),
        Reads("run_coverage_days"),
    ),
    rows_from=(
        "waits",
        "container_states",
        "kube_event_states",
        "image_pulls",
        "object_requests",
        "object_transfers",
        "connections",
        "flows",
        "dns_lookups",
    ),
    build=build,
    version=4,
)

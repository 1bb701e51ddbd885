"""object_transfers: one client moving one object version in one burst, with its pod and place.

**Requests** of the day and of the look-back `transfers` before it are grouped by provider, bucket,
key, version (an unknown one is part of the identity), client (address, principal, user agent) and
operation. A read answered 200 with all of the object's bytes is a transfer of its own; the others
are cut where a request begins more than 300 s after the one before it. A failed request belongs to
its burst and adds no bytes (definitions.md 25).

**Days.** A burst over midnight has a row on each day, under one id, with that day's requests. A
burst that may have begun before the look-back (its first visible request lies within 300 s of it)
starts anew at the day's edge, with `opened_before`.

**Bytes** are of the body: what was sent to the reader, or received from the writer. S3 logs the
size of a written object or part, not what was received, so that counts; the completion of an
upload states the total and counts none. A copy moves nothing between client and storage.

**Pod** by the ladder of design.md 5 on the client's address, at the burst's first request, over
all clusters: an address that two clusters hold is ambiguous. Where no pod is found and the user
agent's `app/` names a known run, the run is filled (`app_id`). **Place**: zone and region of the
pod's node, else the cluster's region if every node of it agrees.
"""

from datetime import timedelta

import polars as pl

from transforms.day import BuildDay
from transforms.intermediate.pod_match import match_pods
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
GAP = timedelta(seconds=300)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the object transfers of the fleet on one day."""
    _register_settings(session, day)
    values = {
        "date": day.date,
        "span_start": day.start_at - day.look_back.transfers,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "gap_us": GAP // timedelta(microseconds=1),
    }
    helpers = (
        "transfer_requests",
        "transfer_bursts",
        "transfer_resources",
        "transfer_places",
        "match_input",
        "match_output",
    )
    with session.dropped(*helpers):
        session.create("transfer_requests", PACKAGE, "transfer_requests", values)
        session.create("transfer_bursts", PACKAGE, "transfer_bursts", values)
        session.create("transfer_resources", PACKAGE, "transfer_resources", values)
        session.create("transfer_places", PACKAGE, "transfer_places", values)
        session.create("match_input", PACKAGE, "transfer_match_input", values)
        match_pods(session, day)
        return session.create("object_transfers_built", PACKAGE, "object_transfers", values)


def _register_settings(session: SqlSession, day: BuildDay) -> None:
    """Show datasets, bucket regions and cluster regions of the settings as small tables."""
    session.register(
        "setting_datasets",
        pl.DataFrame(
            [(n, *pair) for n, pair in enumerate(day.datasets)],
            schema={"ordinal": pl.Int64, "dataset_id": pl.String, "pattern": pl.String},
            orient="row",
        ),
    )
    session.register(
        "setting_buckets",
        pl.DataFrame(
            [(n, *pair) for n, pair in enumerate(day.buckets)],
            schema={"ordinal": pl.Int64, "pattern": pl.String, "region": pl.String},
            orient="row",
        ),
    )


TRANSFORM = Transform(
    table="object_transfers",
    reads=(
        Reads("object_requests", "transfers"),
        Reads("pod_intervals", "transfers"),
        Reads("node_states", "pods"),
        Reads("declared_dependencies"),
        Reads("run_versions", "pods"),
    ),
    build=build,
)

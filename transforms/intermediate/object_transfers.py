"""Transfers of objects: requests to storage, grouped by client, object version and burst.

**Requests.** A record that two exports show is one. One request in a server's log and in an audit
trail is one: the server's bytes, size, status and time count, and the trail's principal where the
server's log has none. A request that only the trail tells counts where no server's log has a record
of that bucket in that hour (definitions.md 37). Two records of one server's log are two requests,
even under one request id, as the parts of a batch delete have.

**Bursts.** A complete read (200, all bytes) is a transfer of its own. The rest of one client
(address, principal and user agent), object version and operation is cut where more than 300 s lie
between two requests, as the log stamps them, and where the address comes to mean another pod. A
burst has a row on each day that holds one of its requests, under the id of its first request, with
that day's counts and bytes; one that reaches back to the edge of the look-back may be older than
anything seen and starts anew with the day (`opened_before`).

**Bytes.** Reads and listings move the body sent, writes the body received; S3 logs no body received
but the size stored, which counts for objects and parts and not again for the completion, which
alone tells the size of what was put together. S3 writes `-` for no bytes. Copies, heads and deletes
move nothing between client and storage. What a request without success was sent, a redirect too, is
`error_bytes`, so that every body stands in one of two sums. A request without status succeeded if
the audit trail gives no error. Sizes that differ within a burst are of several contents under one
name, and none is stated.

**Pod** by the client's address at each request, over all clusters: an address that two clusters
hold is ambiguous. Where no pod is found, or only a node, and the user agent's `app/` names a known
run, the run is filled (`app_id`). A container is named if it was the only one that ran at each
request.

**Resource.** The longest path that anyone declares above the object, else the dataset of the
settings (the first whose pattern holds), else the bucket.

**Regions.** The reader's is its node's label, else its cluster's setting unless a node disagrees;
the bucket's is the log's, else what all other requests to the bucket say, else the settings'.
"""

from datetime import timedelta

import polars as pl

from transforms.day import BuildDay
from transforms.intermediate.container_match import match_containers
from transforms.intermediate.pod_match import match_pods
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
MICROSECOND = timedelta(microseconds=1)
BURST_GAP = timedelta(seconds=300)

REGIONS = pl.Schema({"cluster": pl.String(), "region": pl.String()})
DATASETS = pl.Schema({"ordinal": pl.Int64(), "dataset_id": pl.String(), "pattern": pl.String()})
BUCKETS = pl.Schema({"ordinal": pl.Int64(), "pattern": pl.String(), "region": pl.String()})


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `object_transfers` of one day."""
    start_us = int(day.start_at.timestamp()) * 1_000_000
    values = {
        "from_us": start_us - day.look_back.transfers // MICROSECOND,
        "start_us": start_us,
        "end_us": int(day.end_at.timestamp()) * 1_000_000,
        "gap_us": BURST_GAP // MICROSECOND,
    }
    _register_settings(session, day)
    helpers = (
        "transfer_groups", "transfer_matched", "container_input", "container_output",
        "transfer_totals", "transfer_resources", "transfer_buckets", "node_places",
    )  # fmt: skip
    with session.dropped(*helpers):
        with session.dropped("transfer_requests", "match_input", "match_output"):
            session.create("transfer_requests", PACKAGE, "transfer_requests", values)
            session.create("transfer_groups", PACKAGE, "transfer_groups", values)
            session.create("match_input", PACKAGE, "transfer_match_input")
            match_pods(session, day)
            session.create("transfer_matched", PACKAGE, "transfer_matched", values)
        session.create("container_input", PACKAGE, "transfer_container_input")
        match_containers(session)
        # Small statements: each of them leaves the engine room to spill.
        with session.dropped("transfer_bursts", "transfer_sums"):
            session.create("transfer_bursts", PACKAGE, "transfer_bursts", values)
            session.create("transfer_sums", PACKAGE, "transfer_sums")
            session.create("transfer_totals", PACKAGE, "transfer_totals", values)
        session.create("transfer_resources", PACKAGE, "transfer_resources")
        session.create("transfer_buckets", PACKAGE, "transfer_buckets")
        session.create("node_places", PACKAGE, "node_places")
        return session.create("object_transfers", PACKAGE, "object_transfers", values)


def _register_settings(session: SqlSession, day: BuildDay) -> None:
    regions = [(facts.name, facts.region) for facts in day.clusters]
    datasets = [(n, name, pattern) for n, (name, pattern) in enumerate(day.datasets)]
    buckets = [(n, pattern, region) for n, (pattern, region) in enumerate(day.buckets)]
    session.register("cluster_regions", pl.DataFrame(regions, schema=REGIONS, orient="row"))
    session.register("dataset_patterns", pl.DataFrame(datasets, schema=DATASETS, orient="row"))
    session.register("bucket_patterns", pl.DataFrame(buckets, schema=BUCKETS, orient="row"))


TRANSFORM = Transform(
    table="object_transfers",
    reads=(
        Reads("object_requests", "transfers"),
        Reads("pod_intervals", "transfers"),
        Reads("node_states", "pods"),
        Reads("container_states", "pods"),
        Reads("declared_dependencies"),
        Reads("run_versions", "pods"),
    ),
    build=build,
)

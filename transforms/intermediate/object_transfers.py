"""Transfers of objects: requests to storage, grouped by client, object version and burst.

**Requests.** A record that two exports show is one. One request in a server's log and in an audit
trail is one: the server's bytes, size, status and time count, and the trail's principal where the
server's log has none. Google's two logs share no id: their records are one by what they say of the
request (transfer_google.sql). A request that only the trail tells counts where no server's log has
a record of that bucket in that hour (definitions.md 37). Two records of one server's log are two
requests, even under one request id, as the parts of a batch delete have.

**Bursts.** A complete read (200, all bytes) is a transfer of its own. The rest of one client
(address, principal and user agent, in which the order of botocore's features says nothing, as each
process has its own), object version and operation is cut where more than 300 s lie between two
requests, as the log stamps them, and where the address comes to mean another pod. A burst has a row
on each day that holds one of its requests, under the id of its first request, with that day's
counts and bytes; one that reaches back to the edge of the look-back may be older than anything seen
and starts anew with the day (`opened_before`).

**Bytes.** Reads and listings move the body sent, writes the body received; S3 logs no body received
but the size stored, which counts for objects and parts and not again for the completion, which
alone tells the size of what was put together. S3 writes `-` for no bytes. Copies, heads and deletes
move nothing between client and storage, and a 304 has no body, whatever its log says. What a
request without success was sent, a redirect too, is `error_bytes`, so that every body stands in one
of two sums. A request without status succeeded if the audit trail gives no error. Sizes that differ
within a burst are of several contents under one name, and none is stated.

**Ranges.** `read_ranges` says which parts of the object a day's reads of a burst moved, where each
of them has a place: a 206 begins where its log says, or with the object if it sent all of it, and a
200 that broke off began with the object. What is said to lie beyond the object's size has no place.

**Who**, best first, at each request and over all clusters:

* the pod to which the request's temporary credentials were given (`access_key`, `session_arn`;
  chains of roles are followed back). It stands even if no export knows the pod. It is a `conflict`
  if that pod did not live then, or if another pod held the address; sessions of one name that were
  given to several pods leave them as candidates, unless one of them holds the address;
* the pod that held the client's address (`address_window`); an address that two clusters hold is
  ambiguous, but for the one whose name the session bears;
* the pod after which the session is named (`session_name`): by its whole name, or by the first ten
  characters that EKS takes where sessions carry no tags;
* the run that the user agent's `app/` names, if it is known (`app_id`);
* the only run of all pods that lived under the service account (`service_account`); of several runs
  the pods are candidates;
* the node that held the address, or whose machine the session is named after (`node`);
* an address that the settings name as shared: every pod behind it is a candidate
  (`shared_address`).

Lists of more than 100 candidates are left out. A container is named if it was the only one that ran
at each request.

**Changes.** `change_times` holds when an object got another content, or none: writes (an upload in
parts when it was completed), copies onto it, deletions. Parts, blocks not yet put together and the
source's record of a copy change nothing.

**Resource.** The longest path above the object that the transfer's run declares; where that run
declares none, or no run is known, the longest that anyone declares; else the dataset of the
settings (the first whose pattern holds), else the bucket. So a run's rows bear the name that the
run itself states, on every day, whoever else runs beside it. Two runs may name one object
differently: what is the same content is told by `object_id`, never by this name.

**Dataset.** The declared path, unless it is a whole bucket, else the dataset of the settings, else
the longest stable prefix of the key (transfer_prefixes.sql): its folders before the first that is a
number, a date, a hash or UUID, a `name=value`, or a word that counts with its number (`epoch-3`).
The prefix is a function of the key alone, so that a dataset means the same on every day, whoever
else reads it. definitions.md 20 leaves the dataset null where only the bucket is known: that is so
where nothing is declared or set and the key has no stable folder. `resource_id` stays the bucket
where nothing but a prefix names the dataset; `dataset_basis` says which of the three it is.

**Regions.** The reader's is its node's label, else its cluster's setting unless a node disagrees;
the bucket's is the log's, else what all other requests to the bucket say, else the settings'.
"""

from datetime import timedelta

import polars as pl

from transforms.day import SKEW_GUARD, BuildDay
from transforms.intermediate.cluster_regions import cluster_regions
from transforms.intermediate.container_match import match_containers
from transforms.intermediate.nat_addresses import nat_addresses
from transforms.intermediate.pod_match import match_pods
from transforms.intermediate.stage_match import match_stages
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
MICROSECOND = timedelta(microseconds=1)
BURST_GAP = timedelta(seconds=300)
LONGEST_SESSION = timedelta(hours=12)
"""A role's session lives no longer; for sessions whose end is not stated."""
MOST_CANDIDATES = 100
MOST_RANGES = 1000
"""Parts of one burst that do not touch; of more of them only sums are kept."""

DATASETS = pl.Schema({"ordinal": pl.Int64(), "dataset_id": pl.String(), "pattern": pl.String()})
BUCKETS = pl.Schema({"ordinal": pl.Int64(), "pattern": pl.String(), "region": pl.String()})


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `object_transfers` of one day."""
    values = {
        "from_us": day.start_us - day.look_back.transfers // MICROSECOND,
        "start_us": day.start_us,
        "end_us": day.end_us,
        "gap_us": BURST_GAP // MICROSECOND,
        "date": day.date,
        "guard_us": SKEW_GUARD // MICROSECOND,
        "longest_us": LONGEST_SESSION // MICROSECOND,
        "most": MOST_CANDIDATES,
        "range_limit": MOST_RANGES,
    }
    _register_settings(session, day)
    helpers = (
        "stage_input", "stage_output",
        "transfer_groups", "transfer_matched", "container_input", "container_output",
        "transfer_totals", "transfer_prefixes", "transfer_resources", "transfer_buckets",
        "node_places", "agreed_regions",
    )  # fmt: skip
    with session.dropped(*helpers):
        evidence = (
            "transfer_agents", "transfer_google", "transfer_bounds", "transfer_requests",
            "transfer_credentials", "transfer_sessions", "transfer_pods", "transfer_names",
            "transfer_holders", "transfer_identities", "transfer_gateways", "match_input",
            "match_output",
        )  # fmt: skip
        with session.dropped(*evidence):
            for name in (
                "transfer_agents", "transfer_google", "transfer_bounds", "transfer_requests",
                "transfer_groups",
            ):  # fmt: skip
                session.create(name, PACKAGE, name, values)
            with session.dropped("pod_match_windows"):
                session.create("pod_match_windows", PACKAGE, "pod_match_windows", values)
                session.create("transfer_pods", PACKAGE, "transfer_pods")
            for name in (
                "transfer_credentials", "transfer_sessions", "transfer_names",
                "transfer_holders", "transfer_identities", "transfer_gateways",
            ):  # fmt: skip
                session.create(name, PACKAGE, name, values)
            session.create("match_input", PACKAGE, "transfer_match_input")
            match_pods(session, day)
            session.create("transfer_matched", PACKAGE, "transfer_matched", values)
        session.create("container_input", PACKAGE, "transfer_container_input")
        match_containers(session)
        # Small statements: each of them leaves the engine room to spill.
        parts = ("transfer_bursts", "transfer_sums", "transfer_changes", "transfer_ranges")
        with session.dropped(*parts):
            session.create("transfer_bursts", PACKAGE, "transfer_bursts", values)
            session.create("transfer_sums", PACKAGE, "transfer_sums")
            session.create("transfer_changes", PACKAGE, "transfer_changes")
            session.create("transfer_ranges", PACKAGE, "transfer_ranges", values)
            session.create("transfer_totals", PACKAGE, "transfer_totals", values)
        session.create("transfer_prefixes", PACKAGE, "transfer_prefixes")
        session.create("transfer_resources", PACKAGE, "transfer_resources")
        session.create("transfer_buckets", PACKAGE, "transfer_buckets")
        session.create("node_places", PACKAGE, "node_places")
        session.create("agreed_regions", PACKAGE, "agreed_regions")
        session.create("stage_input", PACKAGE, "transfer_stage_input")
        match_stages(session)
        return session.create("object_transfers", PACKAGE, "object_transfers", values)


def _register_settings(session: SqlSession, day: BuildDay) -> None:
    datasets = [(n, name, pattern) for n, (name, pattern) in enumerate(day.datasets)]
    buckets = [(n, pattern, region) for n, (pattern, region) in enumerate(day.buckets)]
    session.register("cluster_regions", cluster_regions(day))
    session.register("dataset_patterns", pl.DataFrame(datasets, schema=DATASETS, orient="row"))
    session.register("nat_addresses", nat_addresses(day))
    session.register("bucket_patterns", pl.DataFrame(buckets, schema=BUCKETS, orient="row"))


TRANSFORM = Transform(
    table="object_transfers",
    reads=(
        Reads("object_requests", "transfers"),
        Reads("credential_sessions", "credentials"),
        Reads("pod_intervals", "transfers"),
        Reads("node_states", "pods"),
        Reads("container_states", "pods"),
        Reads("declared_dependencies"),
        Reads("stages", "transfers"),
        Reads("run_versions", "pods"),
    ),
    rows_from=("object_requests",),
    build=build,
    version=10,
)

"""node_coverage: what was observed at all, per source and node, as intervals that tile the day.

A source is a staging table that the exports of the scope can fill (`BuildDay.export_tables`). The
scope is one cluster, or `fleet` for exports of no single cluster: then the rows' cluster is
`fleet`. Other staging tables (states of objects, runs) have no coverage: a state speaks for a time,
not for one hour of it.

`flows`, per node with a pod that day, or with a file. Covered is from the first to the last event
of an unbroken chain of Hubble files; a file goes on with another one of its export if it grew from
it, shares a record with it (both mean that they overlap in time), or begins at most 60 s after that
one's rotation, which its name tells, else after its last event. Files of the days before and after
(up to `look_ahead`) carry a chain over midnight. Several exports are united. All else is missing:
no file, before the first or after the last event, between two files. Of what is covered, lost
events make their stretch lossy (1 s on both sides of a report without a stretch; the whole file for
one without a time), and a file that holds records which a field mask robbed of their time, or of
both ends, is masked from its first to its last event. Files without any time count on the day on
which they landed: what lies between the node's other files is masked, not missing. An export whose
lines count flows (field aggregation) tells no connection: masked from its first to its last event.
One that tells drops alone all day (a filter by verdict) shows nothing else: unknown.

`dns_lookups`, `counter_samples`, `volume_records`, and `object_requests` per bucket: by the hour,
for the source as a whole (node null). An hour is covered when every delivery of an export, from the
hour's day to `final_after` behind the hour, is complete and the export has a record later than the
hour. It is missing once nothing is awaited any more and a delivery did not come; it is unknown
while deliveries are awaited, or are partial, or no later record exists. Of several exports that
fill one table the best counts; of those that log one bucket likewise, and a bucket that no export
names lately is judged by all of them together. Buckets are those that the look-back `transfers`
or an earlier row of the last 30 days names. Reports of loss cast doubt on covered hours, and so do
records that were sampled, that the source made from samples, or of which it does not say so.

Look-ups are covered only by a log that shows whose they are and what they were answered. Of all
that an export told of the day: no client, or no answers, is masked; no success (of any type, or of
type A: CoreDNS's `class denial error`) is unknown. A node whose own address asked while none of its
pods did has a cache that may speak for them: masked; then the source has rows per node. Hubble's
DNS events do not cover: its proxy sees only endpoints that a DNS policy selects. Where no other log
is known, hours are unknown, and missing if it told no look-up all day.

`lost_count` stands on the interval in which a report's stretch begins, `masked_count` on the one in
which the file begins, on the day's first one for a file without any time, so that both add up over
intervals and days.
"""

import polars as pl

from schemas.table import FLEET
from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
HOURLY_FORMATS = {
    "dns_lookups": (
        "coredns", "dns_collector", "gcp_dns", "zeek_dns", "inspektor_gadget",
    ),
    "object_requests": (
        "s3_access_log", "cloudtrail", "gcs_usage", "gcs_audit", "azure_storage", "minio_audit",
        "ceph_rgw", "seaweedfs",
    ),
    "counter_samples": ("otlp", "prometheus", "victoriametrics"),
    "volume_records": (
        "aws_vpc_flow_log", "gcp_vpc_flow_log", "azure_flow_log", "netobserv", "antrea",
        "zeek_conn", "netflow_json",
    ),
}  # fmt: skip
"""Which formats tell a table's hours; one that fills a table only in part is not among them.

Route 53's query log is not: it has no line for a look-up that its cache answered.
"""


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the coverage of one cluster, or of the fleet's own exports, on one day."""
    expected = {table for scope, table in day.export_tables if scope == day.cluster}
    hourly = sorted(expected & (set(HOURLY_FORMATS) | ({"flows"} if _is_fleet(day) else set())))
    values = {
        "cluster": day.cluster,
        "scope": None if _is_fleet(day) else day.cluster,
        "owner": day.cluster,
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "final_after": day.final_after,
        "has_flows": "flows" in expected and not _is_fleet(day),
        "sources": hourly,
    }
    formats = [(t, f) for t, names in HOURLY_FORMATS.items() for f in names]
    session.register(
        "source_formats",
        pl.DataFrame(
            formats, schema={"source_table": pl.String, "format": pl.String}, orient="row"
        ),
    )
    steps = (
        "coverage_files", "coverage_chains", "coverage_losses", "coverage_partial",
        "coverage_nodes",
        "coverage_lookups", "coverage_lookup_nodes", "coverage_hours", "coverage_statements",
    )  # fmt: skip
    with session.dropped(*steps):
        for step in steps:
            session.create(step, PACKAGE, step, values)
        return session.create("node_coverage_built", PACKAGE, "node_coverage", values)


def _is_fleet(day: BuildDay) -> bool:
    return day.cluster == FLEET


TRANSFORM = Transform(
    table="node_coverage",
    reads=(
        Reads("export_files", "transfers", ahead=True),
        Reads("flows", "transfers", ahead=True, repeated=True),
        Reads("loss_reports", "transfers", ahead=True, repeated=True),
        Reads("object_requests", "transfers", repeated=True),
        Reads("dns_lookups", repeated=True),
        Reads("volume_records", "day", ahead=True),
        Reads("deliveries"),
        Reads("pod_intervals"),
        Reads("node_states", "pods"),
        Reads("node_coverage", "repeats"),
    ),
    build=build,
    version=5,
)

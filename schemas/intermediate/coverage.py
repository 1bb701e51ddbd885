"""What was observed at all."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant
from schemas.table import Table, table


@table("intermediate", key=("cluster", "source", "node", "start_at"), scope="both")
class NodeCoverage(Table):
    """One interval in which one source covered, or did not cover, one node.

    Intervals of a (cluster, source, node) tile the part of the day that is expected.
    """

    node_coverage_id: str = c.row_id("interval", "cluster, source, node, start_at")
    cluster: str = c.column("Cluster, or `fleet` for logs of no single cluster.")
    source: str = c.column(
        "Staging table; for object requests the bucket stands behind it: `object_requests:bucket`."
    )
    node: str = c.node(null="a source that is not one per node")
    start_at: Instant = c.start_at()
    end_at: Instant = c.end_at()
    status: str = c.column(
        "What can be said of the interval.",
        allowed=("covered", "lossy", "sampled", "masked", "missing", "unknown"),
    )
    lost_count: pl.Int64 = c.count("Events known to be lost.", null="not counted")
    masked_count: pl.Int64 = c.count("Records without a time, which enter no day.")
    sampled_ratio: pl.Float64 = c.ratio("Share observed.", null="not sampled, or unknown")
    reason: str = c.column("Why not covered.", null="covered")


@table(
    "intermediate",
    key=(
        "cluster", "reason", "node", "verdict", "source_namespace", "source_pod_name",
        "destination_namespace", "destination_pod_name", "destination_port",
    ),
)  # fmt: skip
class UnconnectedEvents(Table):
    """Hubble's events of one day that are in no connection, by the reason and what they still say.

    With the events of `connections` they are all events of the day. Verdict, pods and port are
    told of `aggregated` and `masked` events only, which may be connections of pods that the export
    does not tell apart.
    """

    unconnected_event_id: str = c.row_id(
        "group of events",
        "cluster, reason, node, verdict, source_namespace, source_pod_name, "
        "destination_namespace, destination_pod_name, destination_port",
    )
    cluster: str = c.cluster()
    reason: str = c.column(
        "Why: `agent_event` tells of an agent, `aggregated` lines count flows, `socket` events "
        "are before the network, `dns` stands in dns_lookups, `masked` has lost an address, "
        "`other_protocol` is no TCP, UDP or SCTP, `health` endpoints are Cilium's, `host_or_proxy` "
        "is a host's own pods as it probes them, a proxy's upstream leg or a resolver on another "
        "port.",
        allowed=(
            "agent_event", "aggregated", "socket", "dns", "masked", "other_protocol", "health",
            "host_or_proxy",
        ),
    )  # fmt: skip
    node: str = c.node(null="not told, or not exported")
    verdict: str = c.column("Hubble's verdict.", null="not told, or not exported")
    source_namespace: str = c.namespace(null="not told, or not exported")
    source_pod_name: str = c.pod_name(null="not told, or not exported")
    destination_namespace: str = c.namespace(null="not told, or not exported")
    destination_pod_name: str = c.pod_name(null="not told, or not exported")
    destination_port: pl.Int64 = c.column("Port.", null="not told, or not exported")
    event_count: pl.Int64 = c.count("Exported records.")
    flow_count: pl.Int64 = c.count(
        "Events that aggregated lines folded.", null="the lines are not aggregated"
    )
    first_event_at: Instant = c.column("Earliest event.", null="not told for host_or_proxy")
    last_event_at: Instant = c.column("Latest event.", null="not told for host_or_proxy")

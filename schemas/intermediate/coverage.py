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

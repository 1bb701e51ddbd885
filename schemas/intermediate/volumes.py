"""What records of bytes between two ends contradict or leave unknown."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant
from schemas.table import Table, table


@table(
    "intermediate",
    key=("scope", "source_format", "observer", "kind", "temporality"),
    scope="fleet",
)
class VolumeFindings(Table):
    """Records of one day and observer that are in no sum of bytes, by the reason.

    A record counts on the day on which it begins, a reading of a counter on that on which it was
    read.
    """

    volume_finding_id: str = c.row_id("finding", "all columns of the key, day")
    scope: str = c.column("Cluster, or `fleet` for the cloud's records.")
    cluster: str = c.cluster(null="the records are of no single cluster")
    source_format: str = c.source_format()
    observer: str = c.column("Interface, node, agent or exporter that observed, else the format.")
    kind: str = c.column(
        "Why: what contradicts its declaration (`delta_only_grows`, `falls_like_delta`, "
        "`moving_start`, `interleaved_observers`, `second_observer`), or what nothing tells.",
        allowed=(
            "delta_only_grows", "falls_like_delta", "moving_start", "interleaved_observers",
            "second_observer", "unknown_start", "no_reading", "no_address", "unknown_scale",
            "remote_memory",
        ),
    )  # fmt: skip
    is_contradiction: pl.Boolean = c.column("The records contradict what their format declares.")
    temporality: str = c.column(
        "What the records are declared to be.",
        allowed=("delta", "cumulative", "per_connection_total"),
    )
    detail: str = c.column("The finding in words, with the connection of the most bytes.")
    record_count: pl.Int64 = c.count("Records, or readings.")
    connection_count: pl.Int64 = c.count(
        "Directions of connections, or of pairs of ends.", adds_up=False
    )
    bytes: pl.Int64 = c.byte_count(
        "Bytes that these records state; of counters and running totals what they grew by, where "
        "they contradict nothing and were read, else the largest reading.",
        adds_up=False,
    )
    first_at: Instant = c.column("Beginning of the first.")
    last_at: Instant = c.column("End of the last.")
    record_id: str = c.column("Record of the most bytes, as its source names it.")

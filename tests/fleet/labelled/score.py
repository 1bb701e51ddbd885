"""Compare what was built from a labelled fleet with its truth.

A row of `connections` is paired with the true connection of the same addresses and ports whose
first exported event is nearest to its start. An end's pod is `right`, `wrong` or not named; a name
likewise.
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb

NEAR_US = 3_000_000
"""A row further from every true start than this stands for no true connection."""

_PAIRS = """
CREATE TEMP TABLE pairs AS
WITH built AS (
    SELECT *, epoch_us(start_at) AS start_us
    FROM read_parquet($connections, hive_partitioning = TRUE)
    WHERE NOT opened_before
    QUALIFY ROW_NUMBER() OVER (PARTITION BY connection_id ORDER BY date) = 1
)
SELECT
    b.connection_id, b.cluster AS built_cluster, b.initiator_pod_uid, b.initiator_match_kind,
    b.responder_pod_uid, b.responder_match_kind, b.run_uuid AS built_run_uuid,
    b.attempt AS built_attempt, b.peer_name, b.name_kind, t.*
FROM built AS b
LEFT JOIN truth AS t
    ON b.cluster = t.cluster
    AND b.initiator_address = t.client_address AND b.initiator_port = t.client_port
    AND b.responder_address = t.server_address AND b.responder_port = t.server_port
    AND ABS(b.start_us - t.first_seen) <= $near
QUALIFY ROW_NUMBER() OVER (
    PARTITION BY b.connection_id ORDER BY ABS(b.start_us - t.first_seen), t.first_seen
) = 1
"""

_ENDS = """
SELECT
    side, kind, match_kind, determined,
    COUNT(*) AS ends,
    COUNT(*) FILTER (WHERE built = truth) AS right_pod,
    COUNT(*) FILTER (WHERE built IS NOT NULL AND built IS DISTINCT FROM truth) AS wrong_pod,
    COUNT(*) FILTER (WHERE built IS NULL) AS unnamed
FROM (
    SELECT 'client' AS side, kind, initiator_match_kind AS match_kind,
        client_determined AS determined, initiator_pod_uid AS built, client_uid AS truth
    FROM pairs WHERE kind IS NOT NULL
    UNION ALL
    SELECT 'server', kind, responder_match_kind, server_determined, responder_pod_uid, server_uid
    FROM pairs WHERE kind IS NOT NULL
)
GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True)
class Score:
    """Figures of one fleet; shares are of the things counted beside them.

    Attributes:
        events: Flow events exported.
        connections: True connections of which an event was exported.
        paired: Of those, with a row.
        unpaired_rows: Rows that stand for no true connection.
        ends: Ends of paired connections.
        determined: Ends that are determined.
        named: Determined ends with the right pod.
        wrong: Ends with another pod than the true one.
        undetermined_named: Ends that name a pod, though what was exported determines none.
        names: Connections whose own answer was exported and was the only valid name.
        right_names: Of those, with that name.
        named_peers: Connections to outside hosts with a name.
        wrong_names: Of those, with another name than the one asked.
        forced: Connections to an address for which the pod had several valid names, with one.
        runs: Connections whose pod is named and truly of a run, or truly of none.
        wrong_runs: Of those, with another run or attempt.
    """

    events: int
    connections: int
    paired: int
    unpaired_rows: int
    ends: int
    determined: int
    named: int
    wrong: int
    undetermined_named: int
    names: int
    right_names: int
    named_peers: int
    wrong_names: int
    forced: int
    runs: int
    wrong_runs: int


class Scorer:
    """Compares one built lake with one truth."""

    def __init__(self, lake: Path, truth: Path, events: int) -> None:
        self.events = events
        self.db = duckdb.connect()
        self.db.execute(f"CREATE VIEW truth AS FROM read_parquet('{truth}/connections.parquet')")
        self.db.execute(f"CREATE VIEW pods AS FROM read_parquet('{truth}/pods.parquet')")
        self.db.execute(_PAIRS, {"connections": f"{lake}/connections/*/*.parquet", "near": NEAR_US})

    def one(self, sql: str) -> int:
        """One number."""
        row = self.db.execute(sql).fetchone()
        assert row is not None
        return int(row[0])

    def ends(self) -> duckdb.DuckDBPyRelation:
        """Ends by rung of the ladder."""
        return self.db.sql(_ENDS)

    def score(self) -> Score:
        """All figures."""
        ends = f"({_ENDS})"
        return Score(
            events=self.events,
            connections=self.one("SELECT COUNT(*) FROM truth WHERE kind <> 'proxied'"),
            paired=self.one("SELECT COUNT(*) FROM pairs WHERE kind IS NOT NULL"),
            unpaired_rows=self.one("SELECT COUNT(*) FROM pairs WHERE kind IS NULL"),
            ends=self.one(f"SELECT SUM(ends) FROM {ends}"),
            determined=self.one(f"SELECT SUM(ends) FROM {ends} WHERE determined"),
            named=self.one(f"SELECT SUM(right_pod) FROM {ends} WHERE determined"),
            wrong=self.one(f"SELECT SUM(wrong_pod) FROM {ends}"),
            undetermined_named=self.one(
                f"SELECT SUM(right_pod + wrong_pod) FROM {ends} WHERE NOT determined"
            ),
            names=self.one("SELECT COUNT(*) FROM pairs WHERE name_determined"),
            right_names=self.one(
                "SELECT COUNT(*) FROM pairs WHERE name_determined AND peer_name = asked"
            ),
            named_peers=self.one(
                "SELECT COUNT(*) FROM pairs WHERE asked IS NOT NULL AND peer_name IS NOT NULL"
            ),
            wrong_names=self.one(
                "SELECT COUNT(*) FROM pairs WHERE asked IS NOT NULL AND peer_name <> asked"
            ),
            forced=self.one(
                "SELECT COUNT(*) FROM pairs WHERE own_names > 1 AND peer_name IS NOT NULL"
            ),
            runs=self.one("SELECT COUNT(*) FROM pairs WHERE initiator_pod_uid IS NOT NULL"),
            wrong_runs=self.one(
                "SELECT COUNT(*) FROM pairs WHERE initiator_pod_uid = client_uid"
                " AND (built_run_uuid IS DISTINCT FROM run_uuid"
                " OR built_attempt IS DISTINCT FROM attempt)"
            ),
        )

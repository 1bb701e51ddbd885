"""Compare what was built from a labelled fleet with its truth.

A row of `connections` is paired with the true connection of the same addresses and ports whose
first exported event is nearest to its start, a row of `object_transfers` with the request for its
object. An end's pod is right, wrong or not named; a name likewise.
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb

NEAR_US = 3_000_000
"""A row further from every true start than this stands for no true connection."""
TOLERANCE_US = 1_000_000
"""So much of an injected gap may be told as covered: losses are told to the second."""

_PAIRS = """
CREATE TEMP TABLE pairs AS
WITH built AS (
    SELECT *, epoch_us(start_at) AS start_us FROM built_connections
    QUALIFY ROW_NUMBER() OVER (PARTITION BY connection_id ORDER BY date) = 1
)
SELECT
    b.connection_id, b.initiator_pod_uid, b.initiator_match_kind,
    b.responder_pod_uid, b.responder_match_kind, b.run_uuid AS built_run_uuid,
    b.attempt AS built_attempt, b.peer_name, b.name_kind,
    b.container AS built_container, b.container_kind, t.*
FROM built AS b
LEFT JOIN truth_connections AS t
    ON b.cluster = t.cluster
    AND b.initiator_address = t.client_address AND b.initiator_port = t.client_port
    AND b.responder_address = t.server_address AND b.responder_port = t.server_port
    AND ABS(b.start_us - t.first_seen) <= $near
QUALIFY ROW_NUMBER() OVER (
    PARTITION BY b.connection_id ORDER BY ABS(b.start_us - t.first_seen), t.first_seen
) = 1
"""

_ENDS = """
CREATE TEMP TABLE ends AS
SELECT 'client' AS side, kind, initiator_match_kind AS match_kind,
    client_determined AS determined, initiator_pod_uid AS built, client_uid AS truth
FROM pairs
WHERE kind IS NOT NULL
UNION ALL
SELECT 'server', kind, responder_match_kind, server_determined, responder_pod_uid, server_uid
FROM pairs
WHERE kind IS NOT NULL
UNION ALL
SELECT 'storage', t.cluster, b.match_kind, t.determined, b.pod_uid, t.pod_uid
FROM truth_requests AS t
INNER JOIN built_transfers AS b ON t.key = b.key
"""

_CONTAINERS = """
CREATE TEMP TABLE acting AS
SELECT container, containers, container_told, built_container, container_kind
FROM pairs
WHERE initiator_pod_uid = client_uid AND kind <> 'proxied'
UNION ALL
SELECT t.container, t.containers, t.container_told, b.container AS built_container,
    b.container_kind
FROM truth_requests AS t
INNER JOIN built_transfers AS b ON t.key = b.key
WHERE b.pod_uid = t.pod_uid
"""

_COUNTED = """
CREATE TEMP TABLE counted AS
SELECT t.pod_uid, t.determined, c.pod_uid AS built
FROM truth_readings AS t
INNER JOIN (
    SELECT DISTINCT cluster, pod_name, end_at, pod_uid, counter_increment_id
    FROM built_increments
) AS c
    ON t.cluster = c.cluster AND t.pod_name = c.pod_name AND t.at = epoch_us(c.end_at)
"""

_SENT = """
CREATE TEMP TABLE sent AS
SELECT t.pod_uid, t.determined, v.pod_uid AS built
FROM truth_records AS t
INNER JOIN built_volumes AS v
    ON t.peer_address = v.peer_address AND t.peer_port = v.peer_port
WHERE v.direction = 'transmit'
"""

_GAPS = """
SELECT g.cluster, g.node, g.kind, g.start, g."end",
    COALESCE(SUM(
        GREATEST(0, LEAST(epoch_us(c.end_at), g."end") - GREATEST(epoch_us(c.start_at), g.start))
    ) FILTER (WHERE c.status = 'covered'), 0) AS covered_us
FROM truth_gaps AS g
LEFT JOIN built_coverage AS c
    ON g.cluster = c.cluster AND g.node = c.node AND c.source = 'flows'
WHERE g.kind <> 'lost' OR g.lost > 0
GROUP BY ALL
"""

_PODS = """
CREATE TEMP TABLE placed AS
SELECT
    t.pod_uid,
    COUNT(b.pod_uid) > 0
    AND BOOL_AND(
        b.run_uuid IS NOT DISTINCT FROM t.run_uuid
        AND (t.run_uuid IS NULL OR b.attempt IS NOT DISTINCT FROM t.attempt)
    ) AS is_right
FROM truth_pods AS t
LEFT JOIN built_pods AS b ON t.cluster = b.cluster AND t.pod_uid = b.pod_uid
WHERE t.is_exported
GROUP BY t.pod_uid
"""

_COUNTED_FLOWS = """
SELECT ABS(
    (SELECT COALESCE(SUM(flow_count), 0) FROM built_unconnected WHERE reason = 'aggregated')
    - (SELECT COALESCE(SUM(lost), 0) FROM truth_gaps WHERE kind = 'aggregated')
)
"""

_MASKED_RECORDS = """
SELECT ABS(
    (
        SELECT COALESCE(SUM(masked_count), 0) FROM built_coverage
        WHERE source = 'flows'
            AND node IN (SELECT node FROM truth_gaps WHERE kind = 'masked')
    )
    - (SELECT COALESCE(SUM(lost), 0) FROM truth_gaps WHERE kind = 'masked')
)
"""

_CERTAIN_INSIDE = """
SELECT COUNT(DISTINCT p.pod_uid)
FROM truth_pods AS p
INNER JOIN truth_gaps AS g
    ON p.cluster = g.cluster AND p.node = g.node
    AND p.started + 3000000 < g."end" AND p."end" - 3000000 > g.start
    AND (g.kind <> 'lost' OR g.lost > 0)
INNER JOIN built_run_coverage AS c
    ON p.run_uuid = c.run_uuid AND c.source = 'flows' AND c.empty_means = 'nothing_happened'
WHERE p.is_exported
    AND c.date = (SELECT MAX(date) FROM built_run_coverage)
"""

_FALSE_GAPS = """
WITH reach AS (
    SELECT cluster, node, MIN(start_at) AS first_at, MAX(end_at) AS last_at
    FROM built_coverage
    WHERE source = 'flows' AND status = 'covered'
    GROUP BY cluster, node
)
SELECT COALESCE(SUM(
    GREATEST(
        0,
        LEAST(epoch_us(c.end_at), epoch_us(r.last_at))
        - GREATEST(epoch_us(c.start_at), epoch_us(r.first_at))
    )
), 0)
FROM built_coverage AS c
INNER JOIN reach AS r ON c.cluster = r.cluster AND c.node = r.node
WHERE c.source = 'flows' AND c.status <> 'covered'
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
        pods: Pods that any export of Kubernetes names, cleaners and those of no run among them.
        misplaced: Of those, without a row, or with another run or attempt than their own, or one
            where they have none.
        runs: Connections whose pod is named, and requests whose run is.
        wrong_runs: Of those, with another run or attempt.
        doubled: Rows that stand for a true connection for which another row stands, too.
        containers: Connections and requests of named pods of which just one container can have run.
        right_containers: Of those, with that container.
        acted: Connections and requests of named pods whose acting container is told.
        untold_containers: Those by a container that no state shows, while one of another is.
        wrong_containers: Of those, with another container than the one that acted.
        crowded: Connections and requests of named pods of which several containers can have run.
        chosen_containers: Of those, with one of them.
        counted: Increments of counters that name a pod by its name, by their second reading.
        counted_determined: Of those, determined ones.
        counted_named: Determined ones with the right pod.
        counted_wrong: Increments with another pod than the true one.
        sent: Windows of flow records.
        sent_determined: Of those, of determined records.
        sent_named: Of determined records, with the right pod.
        sent_wrong: Windows with another pod than the true one.
        gaps: Injected gaps that leave a trace.
        missed_gaps: Of those, told as covered for more than a second.
        certain_inside: Pods that lived inside a gap and whose run is said to have done nothing.
        aggregated: Events that an exporter counted instead of telling them.
        miscounted: By how many the counts differ from these.
        masked: Records that an exporter told without a time.
        unmasked: By how many the masked ones that coverage counts differ from these.
        false_gap_us: Microseconds between a node's first and last event that are not told as
            covered; with injected gaps, theirs too.
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
    pods: int
    misplaced: int
    runs: int
    wrong_runs: int
    doubled: int
    containers: int
    right_containers: int
    acted: int
    untold_containers: int
    wrong_containers: int
    crowded: int
    chosen_containers: int
    counted: int
    counted_determined: int
    counted_named: int
    counted_wrong: int
    sent: int
    sent_determined: int
    sent_named: int
    sent_wrong: int
    gaps: int
    missed_gaps: int
    certain_inside: int
    aggregated: int
    miscounted: int
    masked: int
    unmasked: int
    false_gap_us: int


MEASURED = {
    "built_connections": "connections",
    "built_transfers": "object_transfers",
    "built_increments": "counter_increments",
    "built_volumes": "peer_traffic",
    "built_pods": "pod_intervals",
    "built_coverage": "node_coverage",
    "built_unconnected": "unconnected_events",
    "built_run_coverage": "run_coverage",
}
"""Tables that are compared with the truth, by the name of their view."""


class Scorer:
    """Compares one built lake with one truth."""

    def __init__(self, lake: Path, truth: Path, events: int) -> None:
        """Pair what was built with what is true.

        Args:
            lake: The lake.
            truth: Folder of the truth's tables.
            events: Flow events exported.
        """
        self.events = events
        self.db = duckdb.connect()
        for name in ("connections", "requests", "readings", "records", "pods", "gaps"):
            self._show(f"truth_{name}", str(truth / f"{name}.parquet"))
        for name, table in MEASURED.items():
            self._show(name, str(lake / table / "*" / "*.parquet"))
        self.pair()

    def _show(self, name: str, files: str) -> None:
        self.db.read_parquet(files, hive_partitioning=True).create_view(name)

    def pair(self) -> None:
        """Pair rows with the truth, again if the view `built_connections` was replaced."""
        for name in ("pairs", "ends", "acting", "counted", "sent", "placed"):
            self.db.execute(f"DROP TABLE IF EXISTS {name}")
        self.db.execute(_PAIRS, {"near": NEAR_US})
        self.db.execute(_ENDS)
        self.db.execute(_CONTAINERS)
        self.db.execute(_COUNTED)
        self.db.execute(_SENT)
        self.db.execute(_PODS)

    def one(self, sql: str) -> int:
        """One number."""
        row = self.db.execute(sql).fetchall()[0]
        return int(row[0] or 0)

    def rungs(self) -> list[tuple[str, str, int, int, int]]:
        """Ends by side and rung: (side, rung, ends, with the right pod, with another)."""
        return self.db.execute(
            """
            SELECT side, match_kind, COUNT(*), COUNT(*) FILTER (WHERE built = truth),
                COUNT(*) FILTER (WHERE built IS DISTINCT FROM truth AND built IS NOT NULL)
            FROM ends GROUP BY ALL ORDER BY side, COUNT(*) DESC, match_kind
            """
        ).fetchall()

    def score(self) -> Score:
        """All figures."""
        is_wrong = "built IS NOT NULL AND built IS DISTINCT FROM truth"
        return Score(
            events=self.events,
            connections=self.one("SELECT COUNT(*) FROM truth_connections WHERE kind <> 'proxied'"),
            paired=self.one(
                """
                SELECT COUNT(DISTINCT (
                    cluster, client_address, client_port, server_address, server_port, first_seen
                )) FROM pairs WHERE kind <> 'proxied'
                """
            ),
            unpaired_rows=self.one("SELECT COUNT(*) FROM pairs WHERE kind IS NULL"),
            ends=self.one("SELECT COUNT(*) FROM ends"),
            determined=self.one("SELECT COUNT(*) FROM ends WHERE determined"),
            named=self.one("SELECT COUNT(*) FROM ends WHERE determined AND built = truth"),
            wrong=self.one(f"SELECT COUNT(*) FROM ends WHERE {is_wrong}"),
            undetermined_named=self.one(
                "SELECT COUNT(*) FROM ends WHERE NOT determined AND built IS NOT NULL"
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
            pods=self.one("SELECT COUNT(*) FROM placed"),
            misplaced=self.one("SELECT COUNT(*) FROM placed WHERE NOT is_right"),
            runs=self.one("SELECT COUNT(*) FROM pairs WHERE initiator_pod_uid IS NOT NULL")
            + self.one("SELECT COUNT(*) FROM built_transfers WHERE run_uuid IS NOT NULL"),
            wrong_runs=self.one(
                """
                SELECT COUNT(*) FROM pairs
                WHERE initiator_pod_uid = client_uid AND (
                    built_run_uuid IS DISTINCT FROM run_uuid
                    OR built_attempt IS DISTINCT FROM attempt
                )
                """
            )
            + self.one(
                """
                SELECT COUNT(*) FROM truth_requests AS t
                INNER JOIN built_transfers AS b ON t.key = b.key
                WHERE b.run_uuid IS NOT NULL AND b.run_uuid IS DISTINCT FROM t.run_uuid
                """
            ),
            doubled=self.one(
                """
                SELECT COUNT(*) - COUNT(DISTINCT (
                    cluster, client_address, client_port, server_address, server_port, first_seen
                )) FROM pairs WHERE kind IS NOT NULL
                """
            ),
            containers=self.one(
                "SELECT COUNT(*) FROM acting WHERE containers = 1 AND container_told"
            ),
            right_containers=self.one(
                """
                SELECT COUNT(*) FROM acting
                WHERE containers = 1 AND container_told AND built_container = container
                """
            ),
            acted=self.one("SELECT COUNT(*) FROM acting WHERE containers > 0 AND container_told"),
            untold_containers=self.one(
                "SELECT COUNT(*) FROM acting WHERE containers > 0 AND NOT container_told"
            ),
            wrong_containers=self.one(
                """
                SELECT COUNT(*) FROM acting
                WHERE containers > 0 AND container_told AND built_container <> container
                """
            ),
            crowded=self.one("SELECT COUNT(*) FROM acting WHERE containers > 1"),
            chosen_containers=self.one(
                """
                SELECT COUNT(*) FROM acting
                WHERE containers > 1
                    AND (built_container IS NOT NULL OR container_kind <> 'several')
                """
            ),
            counted=self.one("SELECT COUNT(*) FROM counted"),
            counted_determined=self.one("SELECT COUNT(*) FROM counted WHERE determined"),
            counted_named=self.one(
                "SELECT COUNT(*) FROM counted WHERE determined AND built = pod_uid"
            ),
            counted_wrong=self.one("SELECT COUNT(*) FROM counted WHERE built <> pod_uid"),
            sent=self.one("SELECT COUNT(*) FROM sent"),
            sent_determined=self.one("SELECT COUNT(*) FROM sent WHERE determined"),
            sent_named=self.one("SELECT COUNT(*) FROM sent WHERE determined AND built = pod_uid"),
            sent_wrong=self.one("SELECT COUNT(*) FROM sent WHERE built <> pod_uid"),
            gaps=self.one(f"SELECT COUNT(*) FROM ({_GAPS})"),
            missed_gaps=self.one(
                f"SELECT COUNT(*) FROM ({_GAPS}) WHERE covered_us > {TOLERANCE_US}"
            ),
            certain_inside=self.one(_CERTAIN_INSIDE),
            aggregated=self.one("SELECT SUM(lost) FROM truth_gaps WHERE kind = 'aggregated'"),
            miscounted=self.one(_COUNTED_FLOWS),
            masked=self.one("SELECT SUM(lost) FROM truth_gaps WHERE kind = 'masked'"),
            unmasked=self.one(_MASKED_RECORDS),
            false_gap_us=self.one(_FALSE_GAPS),
        )

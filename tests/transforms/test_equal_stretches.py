"""Stretches of time that are equal, as of a pod with two addresses, never join others."""

import datetime as dt

import pytest

from transforms.sql import SqlSession

# 50 holders, each with 140 stretches of a minute, ten minutes apart, stated 20 times, in no order.
STRETCHES = """
CREATE TEMP TABLE stretches AS
SELECT
    DATE '2026-03-02' AS date, 'alder' AS cluster, 'node-' || k AS node, 'pod-' || k AS pod_uid,
    CAST(k AS BIGINT) AS pod_number, 'run' AS run_uuid, 1 AS attempt, FALSE AS host_network,
    REPEAT('x', CAST(HASH(k + d + w) % 40 AS INTEGER)) AS source_text,
    1772409600000000 + w * 600000000 AS start_us, 1772409660000000 + w * 600000000 AS end_us
FROM range(50) AS t (k), range(20) AS u (d), range(140) AS v (w)
ORDER BY HASH(d * 31 + w)
"""
STEPS = {
    "transforms.marts.run_pod_times": (
        "CREATE TEMP TABLE active_runs AS SELECT 'run' AS run_uuid",
        (
            "CREATE TEMP VIEW pod_intervals AS SELECT *, source_text AS address,"
            " make_timestamptz(start_us) AS start_at, make_timestamptz(end_us) AS end_at"
            " FROM stretches"
        ),
    ),
    "transforms.marts.coverage_islands": (
        (
            "CREATE TEMP VIEW coverage_intervals AS"
            " SELECT *, source_text AS reason, 'flows' AS source, 3 AS doubt FROM stretches"
        ),
    ),
    "transforms.intermediate.pod_match_claims": (
        (
            "CREATE TEMP TABLE pod_match_wanted AS"
            " SELECT '*' AS key_cluster, '10.0.0.1' AS address, 1 AS place"
        ),
        (
            "CREATE TEMP VIEW pod_match_lives AS"
            " SELECT *, '10.0.0.1' AS address, FALSE AS is_single FROM stretches"
        ),
        (
            "CREATE TEMP VIEW pod_match_nodes AS"
            " SELECT *, '' AS address, 1 AS node_number FROM stretches WHERE FALSE"
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_equal_stretches_are_one_and_no_part_of_the_one_before(step: str) -> None:
    package, _, file = step.rpartition(".")
    with SqlSession(threads=2) as session:
        run = session.connection.execute
        run("SET preserve_insertion_order = false")
        for statement in (STRETCHES, *STEPS[step]):
            run(statement)
        session.create("found", package, file, {"date": dt.date(2026, 3, 2), "guard_us": 0})
        asked = "SELECT COUNT(*), MIN(end_us - start_us), MAX(end_us - start_us) FROM found"
        assert run(asked).fetchall() == [(50 * 140, 60_000_000, 60_000_000)]

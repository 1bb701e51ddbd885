"""When exchanges between two ends began."""

import pytest

from transforms.sql import SqlSession

ENDS = """
CREATE TEMP TABLE peer_ends AS
SELECT 1 AS end_number, 1 AS first_holder, 1 AS last_holder, 'address_window' AS match_kind
"""
# 20 equal intervals for each of 400 exchanges of 50 addresses, 700 s apart each, in no order.
RECORDS = """
CREATE TEMP TABLE peer_ended AS
SELECT
    1 AS observer_number, FALSE AS is_gateway_interface, FALSE AS tells_service,
    NULL::VARCHAR AS traffic_path, 'TCP' AS transport, 700000000 * w AS true_from_us,
    700000000 * w AS from_us, 700000000 * w + 5 AS until_us, 1 AS bytes, 1 AS certain_bytes,
    FALSE AS hides_bytes, TRUE AS is_record, NULL::BIGINT AS packets, FALSE AS is_rejected,
    NULL::BIGINT AS sampling_interval, 'none' AS sampling_kind, FALSE AS is_sampled,
    'packet' AS byte_layer, k AS source_number, 443 AS source_port, FALSE AS is_source_interface,
    9 AS destination_number, 5 AS destination_port, FALSE AS is_destination_interface,
    NULL::VARCHAR AS source_service,
    REPEAT('x', CAST(HASH(k + d) % 50 AS INTEGER)) AS destination_service,
    1 AS source_first, 1 AS source_last, NULL::INTEGER AS destination_first,
    NULL::INTEGER AS destination_last, 'egress' AS flow_direction, NULL::VARCHAR AS reporter,
    TRUE AS is_source_near
FROM range(50) AS t (k), range(20) AS u (d), range(400) AS v (w)
ORDER BY HASH(d * 31 + w)
"""


@pytest.mark.slow
def test_equal_intervals_belong_to_the_exchange_that_begins_with_them() -> None:
    with SqlSession(threads=2) as session:
        run = session.connection.execute
        run("SET preserve_insertion_order = false")
        run(ENDS)
        run(RECORDS)
        session.create("peer_sides", "transforms.intermediate", "peer_sides")
        # Each gap is above 600 s: every record's exchange began with the record.
        asked = "SELECT COUNT(*), COUNT(*) FILTER (WHERE began_us = from_us) FROM peer_sides"
        assert run(asked).fetchall() == [(400_000, 400_000)]

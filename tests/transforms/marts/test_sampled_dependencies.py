"""Of sampled records a run's bytes are the estimate; certain is only what was observed."""

from tests.transforms.marts.test_run_dependency_days import built, flow


def test_sampled_bytes_stand_for_more_than_was_observed():
    sampled = {"measured_by": "sampled_flow_record", "max_bytes": None}
    rows = built(
        peer_traffic=[
            flow("receive", 40, estimated_bytes=2_000, sampling_kind="packets", **sampled),
            flow("receive", 7, "10:05", estimated_bytes=None, sampling_kind="unknown", **sampled),
            flow("transmit", 3, "11:00", estimated_bytes=150, sampling_kind="flows", **sampled),
        ]
    )
    shown = ("received_bytes", "min_received_bytes", "max_received_bytes", "sent_bytes")
    assert rows.select(shown).rows() == [(2_007, 47, None, 150)]

"""Counters of pairs of ends grow by the rules of interface counters: both equal one plain pass."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, show
from tests.transforms.intermediate.counter_oracle import (
    EPOCH,
    LOOK_AHEAD,
    MICROSECOND,
    by_series,
    growths,
    troubled_readings,
)
from tests.transforms.intermediate.test_peer_traffic import OUT, POD, record
from transforms.day import BuildDay
from transforms.intermediate import volume_intervals
from transforms.sql import SqlSession


@given(seed=st.integers(0, 2**32))
@settings(max_examples=1)
def test_what_counters_of_ends_grew_by_is_what_the_plain_pass_finds(seed: int):
    """500 series with every trouble, in no order; each day is built alone."""
    readings = troubled_readings(
        seed, series=500, first=at("12:00"), hours=40, step=timedelta(hours=5)
    )
    records = [
        record(
            item["event_at"], item["event_at"], POD, OUT, bytes=item["value"], packets=None,
            series_id=item["series_id"], counter_start_at=item["counter_start_at"],
            temporality="cumulative",
        )
        for item in readings
    ]  # fmt: skip
    passes = {series: growths(items) for series, items in by_series(readings).items()}
    for days in range(3):
        day = BuildDay(date=DAY + timedelta(days=days), cluster="fleet", clusters=())
        with SqlSession(threads=1) as session:
            show(session, volume_records=records)
            volume_intervals.find_intervals(session, day)
            found = session.connection.execute(
                "SELECT s.series_id, g.true_from_us, g.until_us, g.bytes FROM volume_growth AS g "
                "INNER JOIN volume_records AS s USING (export_file_id, record_index, row_index) "
                "WHERE g.basis <> 'baseline'"
            ).fetchall()
        told = [
            (series, (g.start - EPOCH) // MICROSECOND, (g.end - EPOCH) // MICROSECOND, g.bytes)
            for series, several in passes.items()
            for g in several
            if g.end > day.start_at
            and g.read_at < day.end_at + LOOK_AHEAD
            and max(g.start, g.seen_from) < min(g.end, day.end_at)
        ]
        assert len(told) > 200
        assert sorted(found) == sorted(told)

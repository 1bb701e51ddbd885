"""Laws of counters: bytes add up exactly, however days are cut and readings are ordered."""

from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.intermediate.counter_fleet import DAYS, Fleet, built, make_fleet

GRAINS = tuple(timedelta(minutes=n) for n in (5, 60, 24 * 60))


def totals(rows: pl.DataFrame) -> dict[int, int]:
    """Bytes by pod, in numbers of 128 bits."""
    summed = rows.group_by("pod").agg(pl.col("bytes").cast(pl.Int128).sum())
    return dict(summed.iter_rows())


def check_laws(fleet: Fleet, seed: int) -> None:
    """Build each day alone, and compare with what the counters were made from."""
    increments, windows = built(fleet, fleet.readings, DAYS, GRAINS)
    single = increments.unique(maintain_order=False)
    assert single.height == single.unique(("pod", "start_us")).height, (
        "two days tell one increment differently"
    )
    assert totals(single) == fleet.shown
    assert single.filter(pl.col("bytes") < 0).is_empty()
    for rows in windows:
        assert totals(rows) == fleet.shown
        most = pl.col("max_bytes").fill_null(2**63 - 1)
        assert rows.filter(
            (pl.col("min_bytes") < 0)
            | (pl.col("min_bytes") > pl.col("bytes"))
            | (most < pl.col("bytes"))
        ).is_empty()
    for fine, coarse, scale in zip(windows[:-1], windows[1:], (12, 24), strict=True):
        summed = fine.group_by("pod", window_number=pl.col("window_number") // scale).agg(
            fine_bytes=pl.col("bytes").sum(),
            fine_min=pl.col("min_bytes").sum(),
            fine_max=pl.when(pl.col("max_bytes").is_null().any())
            .then(None)
            .otherwise(pl.col("max_bytes").cast(pl.Int128).sum()),
        )
        both = coarse.join(summed, on=("pod", "window_number"), how="full", coalesce=True)
        assert both.height == coarse.height == summed.height
        assert both.filter(
            (pl.col("bytes") != pl.col("fine_bytes"))
            | (pl.col("min_bytes") < pl.col("fine_min"))
            | (pl.col("max_bytes") > pl.col("fine_max"))
            | (pl.col("max_bytes").is_null() != pl.col("fine_max").is_null())
        ).is_empty()
    # In another order, a fifth of the readings twice.
    repeated = fleet.readings.sample(fraction=0.2, seed=seed % 2**32)
    shuffled = pl.concat([fleet.readings, repeated]).sample(
        fraction=1, shuffle=True, seed=seed % 2**32
    )
    again, _ = built(fleet, shuffled, DAYS)
    order = ("pod", "start_us", "end_us", "whole")
    assert again.sort(order).equals(increments.sort(order))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=1)
def test_bytes_add_up_to_what_was_counted(seed):
    check_laws(make_fleet(seed, 2_000, steps=24), seed)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=1)
def test_bytes_of_fifty_thousand_series_add_up(seed):
    check_laws(make_fleet(seed, 50_000, steps=32), seed)

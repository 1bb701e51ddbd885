"""Bytes of pods in windows of five minutes."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, frame, show
from tests.transforms.intermediate.counter_oracle import (
    by_series,
    growths,
    traffic,
    troubled_readings,
    windows,
)
from transforms.day import BuildDay
from transforms.intermediate import pod_traffic
from transforms.intermediate.traffic_windows import sum_windows
from transforms.sql import SqlSession

BYTES = ("window_start_at", "bytes", "min_bytes", "max_bytes")


def increment(start: datetime, end: datetime, size: int, **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "series_id": "a",
        "observer": "scraper-a",
        "namespace": "ml",
        "pod_name": "pod-a",
        "pod_uid": "uid-a",
        "match_kind": "uid",
        "interface": "eth0",
        "direction": "receive",
        "byte_layer": "frame",
        "start_at": start,
        "end_at": end,
        "spread_start_at": start,
        "spread_end_at": end,
        "bytes": size,
        "start_basis": "sample",
        **more,
    }


def of(*increments: dict[str, Any], pods: list[dict[str, Any]] | None = None, days: int = 0):
    """Rows of the pod traffic of these increments."""
    day = DAY + timedelta(days=days)
    with SqlSession(threads=1) as session:
        show(session, pod_intervals=pods or [])
        session.register(
            "counter_increments",
            frame("counter_increments", [i | {"date": day} for i in increments], date_column=True),
        )
        name = pod_traffic.build(session, BuildDay(date=day, cluster="alder"))
        return checked(session, "pod_traffic", name).to_dicts()


def shares(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in BYTES) for row in rows]


def test_an_increment_is_cut_at_window_edges_by_the_cumulative_floor():
    rows = of(increment(at("08:04"), at("08:11"), 100))
    assert shares(rows) == [
        (at("08:00"), 14, 0, 100),
        (at("08:05"), 71, 0, 100),
        (at("08:10"), 15, 0, 100),
    ]


def test_an_increment_inside_a_window_is_certain():
    rows = of(increment(at("08:05"), at("08:10"), 7))
    assert shares(rows) == [(at("08:05"), 7, 7, 7)]


def test_a_window_without_an_increment_has_no_row():
    rows = of(increment(at("08:01"), at("08:02"), 0), increment(at("08:21"), at("08:22"), 0))
    assert shares(rows) == [(at("08:00"), 0, 0, 0), (at("08:20"), 0, 0, 0)]


def test_a_restart_hides_what_the_window_holds_at_most():
    rows = of(
        increment(at("08:01"), at("08:02"), 5),
        increment(at("08:02"), at("08:03"), 6, is_reset=True, start_basis="reset"),
    )
    assert shares(rows) == [(at("08:00"), 11, 11, None)]
    assert rows[0]["reset_count"] == 1


def test_gaps_and_time_without_increments_are_told():
    rows = of(
        increment(at("08:01"), at("08:02:30"), 5),
        increment(at("08:02:30"), at("08:06"), 5, is_gap=True),
    )
    assert [(row["gap_seconds"], row["uncovered_seconds"]) for row in rows] == [
        (150.0, 60.0),
        (60.0, 240.0),
    ]


def test_time_that_two_series_cover_counts_once_and_their_bytes_both():
    rows = of(
        increment(at("08:00"), at("08:03"), 5),
        increment(at("08:02"), at("08:04"), 6, series_id="b"),
    )
    assert rows[0]["bytes"] == 11
    assert rows[0]["uncovered_seconds"] == 60.0


def test_the_observer_with_most_readings_of_the_hour_counts():
    rows = of(
        increment(at("08:00"), at("08:02"), 100),
        increment(at("08:00"), at("08:01"), 40, observer="scraper-b"),
        increment(at("08:01"), at("08:02"), 50, observer="scraper-b"),
        increment(at("09:00"), at("09:02"), 7),
        increment(at("09:00"), at("09:02"), 8, observer="scraper-b"),
    )
    assert [(row["observer"], row["bytes"]) for row in rows] == [
        ("scraper-b", 90),
        ("scraper-a", 7),
    ]


def test_hidden_time_is_no_reading():
    rows = of(
        increment(at("08:00"), at("08:02"), 0, is_reset=True, observer="scraper-b"),
        increment(at("08:02"), at("08:03"), 9, observer="scraper-b"),
        increment(at("08:00"), at("08:03"), 8),
    )
    assert [(row["observer"], row["bytes"]) for row in rows] == [("scraper-a", 8)]


def test_two_layers_of_one_observer_are_never_added():
    rows = of(
        increment(at("08:00"), at("08:02"), 100),
        increment(at("08:00"), at("08:02"), 90, series_id="b", byte_layer="payload"),
    )
    assert [(row["byte_layer"], row["bytes"]) for row in rows] == [("frame", 100)]


def test_interfaces_and_directions_stand_apart():
    rows = of(
        increment(at("08:00"), at("08:02"), 1),
        increment(at("08:00"), at("08:02"), 2, interface="net1"),
        increment(at("08:00"), at("08:02"), 3, interface=None),
        increment(at("08:00"), at("08:02"), 4, direction="transmit"),
    )
    assert sorted(row["bytes"] for row in rows) == [1, 2, 3, 4]


def summed(grain: timedelta, *increments: dict[str, Any]) -> list[tuple[Any, ...]]:
    """(start, bytes, least, most) of windows of any length."""
    with SqlSession(threads=1) as session:
        rows = [i | {"date": DAY} for i in increments]
        session.register("counter_increments", frame("counter_increments", rows, date_column=True))
        day = BuildDay(date=DAY, cluster="alder")
        found = session.frame(sum_windows(session, day, grain)).sort("window_number")
    return [
        (datetime.fromtimestamp(n * grain.total_seconds(), UTC), *sizes)
        for n, *sizes in found.select(
            "window_number", "bytes", "min_bytes", "max_bytes"
        ).iter_rows()
    ]


def test_longer_windows_have_closer_bounds_than_sums_of_shorter_ones():
    """Two increments over ten minutes each, and one that half of is of the next hour."""
    parts = (
        increment(at("08:38"), at("08:48"), 10),
        increment(at("08:48"), at("08:58"), 20),
        increment(at("08:58"), at("09:02"), 8),
    )
    fine = summed(timedelta(minutes=5), *parts)
    assert sum(least for _, _, least, _ in fine) == 0
    assert summed(timedelta(hours=1), *parts) == [
        (at("08:00"), 34, 30, 38),
        (at("09:00"), 4, 0, 8),
    ]
    assert summed(timedelta(days=1), *parts) == [(at("00:00"), 38, 38, 38)]
    assert summed(timedelta(hours=12), *parts) == [(at("00:00"), 38, 38, 38)]


def test_a_longer_window_holds_the_hours_of_each_observer_that_counts_then():
    """The second observer counts from 09:00 on; an increment over that edge is half of each."""
    rows = summed(
        timedelta(days=1),
        increment(at("08:10"), at("08:50"), 40),
        increment(at("08:50"), at("09:10"), 20),
        increment(at("08:50"), at("09:10"), 22, observer="scraper-b"),
        increment(at("09:10"), at("09:20"), 5, observer="scraper-b"),
    )
    # 40, half of 20, half of 22, and 5; certain are 40 and 5.
    assert rows == [(at("00:00"), 66, 45, 87)]


@pytest.mark.parametrize("minutes", [0, 7, 90, 60 * 7])
def test_windows_that_fit_neither_an_hour_nor_a_day_are_refused(minutes):
    with pytest.raises(ValueError, match="neither an hour nor a day"):
        summed(timedelta(minutes=minutes))


def test_a_gap_fills_only_the_time_that_the_pod_lived():
    gap = increment(at("08:01"), at("08:21"), 20, is_gap=True, spread_end_at=at("08:11"))
    assert shares(of(gap)) == [
        (at("08:00"), 8, 0, 20),
        (at("08:05"), 10, 0, 20),
        (at("08:10"), 2, 0, 20),
        (at("08:15"), 0, 0, 20),
        (at("08:20"), 0, 0, 20),
    ]


def test_a_bridge_in_a_pod_is_not_added():
    assert of(increment(at("08:00"), at("08:02"), 1, interface="cni0", is_overlay=True)) == []


def test_what_is_no_pod_has_no_traffic():
    assert of(increment(at("08:00"), at("08:02"), 1, match_kind="node", pod_uid=None)) == []
    assert of(increment(at("08:00"), at("08:02"), 1, match_kind="none")) == []


def test_the_run_is_that_of_the_pod():
    pod = {
        "cluster": "alder", "namespace": "ml", "pod_name": "pod-a", "pod_uid": "uid-a",
        "run_uuid": "0123456789abcdef0123456789abcdef", "attempt": 3,
    }  # fmt: skip
    rows = of(increment(at("08:00"), at("08:02"), 1), pods=[pod])
    assert [(row["run_uuid"], row["attempt"]) for row in rows] == [(pod["run_uuid"], 3)]


def test_only_windows_of_the_day_are_told():
    crossing = increment(at("23:58"), at("00:02", days=1), 8)
    assert shares(of(crossing)) == [(at("23:55"), 4, 0, 8)]
    assert shares(of(crossing, days=1)) == [(at("00:00", days=1), 4, 0, 8)]


def test_what_the_earlier_day_could_not_see_stands_on_the_later_one():
    late = increment(at("23:00"), at("01:00", days=1), 120)
    rows = of(late, days=1)
    assert sum(row["bytes"] for row in rows) == 120
    assert {row["min_bytes"] for row in rows} == {0}
    assert rows[0]["window_start_at"] == at("00:00", days=1)


def test_more_bytes_than_a_column_holds_do_not_stop_the_day():
    largest = 2**63 - 1
    rows = of(
        increment(at("08:00"), at("08:01"), largest), increment(at("08:01"), at("08:02"), largest)
    )
    assert shares(rows) == [(at("08:00"), largest, largest, largest)]


@given(seed=st.integers(0, 2**32))
@settings(max_examples=2)
def test_days_add_up_to_the_whole_pass(seed):
    """2,000 series over midnight: windows, bounds and totals equal one plain pass."""
    readings = troubled_readings(
        seed, series=2_000, first=at("19:00"), hours=8, step=timedelta(minutes=40)
    )
    random.Random(seed).shuffle(readings)
    passes = {series: growths(items) for series, items in by_series(readings).items()}
    expected = {
        (f"uid-{series}", window, *share)
        for series, found in passes.items()
        for window, share in windows(found).items()
    }
    rows = traffic(readings, [DAY + timedelta(days=n) for n in (0, 1)])
    found = rows.select("pod_uid", *BYTES, "reset_count").rows()
    assert len(found) == len(expected)
    assert set(found) == expected
    assert rows["bytes"].sum() == sum(g.bytes for p in passes.values() for g in p)
    assert rows.filter(
        (pl.col("min_bytes") > pl.col("bytes")) | (pl.col("max_bytes") < pl.col("bytes"))
    ).is_empty()

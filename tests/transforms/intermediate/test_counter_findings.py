"""What readings of counters show beside bytes, and what is held back for it."""

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.intermediate.counter_oracle import increments, pods_of, reading, traffic
from transforms.day import BuildDay, LookBack
from transforms.intermediate import counter_findings
from transforms.sql import SqlSession

DELTA = {"temporality": "delta"}


def found(*readings: dict[str, Any], days: int = 0, **settings: Any) -> list[tuple[Any, ...]]:
    """(kind, held back, how many show it, bytes) of the findings."""
    return [
        (row["kind"], row["is_held_back"], row["contradicting_count"], row["bytes"])
        for row in rows_of(*readings, days=days, **settings)
    ]


def rows_of(*readings: dict[str, Any], days: int = 0, **settings: Any) -> list[dict[str, Any]]:
    with SqlSession(threads=1) as session:
        show(session, counter_samples=readings)
        day = BuildDay(date=DAY + timedelta(days=days), cluster="alder", **settings)
        name = counter_findings.build(session, day)
        return checked(session, "counter_findings", name).to_dicts()


def grown(*readings: dict[str, Any], days: int = 0) -> list[int]:
    rows = increments(list(readings), [DAY + timedelta(days=days)])
    return rows["bytes"].to_list()


def each_minute(values: list[int], *, first: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Readings from 08:00 on."""
    return [
        reading("a", at("08:00") + timedelta(minutes=first + n), value, **more)
        for n, value in enumerate(values)
    ]


def known(readings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The readings, the first one with a known start."""
    start = {"counter_start_at": readings[0]["event_at"] - timedelta(minutes=1)}
    return [readings[0] | start, *readings[1:]]


def test_a_healthy_series_has_no_finding():
    assert found(*known(each_minute([5, 7, 7, 90]))) == []


def test_what_stood_on_a_counter_of_unknown_start_is_told_on_the_day_of_its_first_reading():
    readings = each_minute([700, 900])
    assert found(*readings) == [("unknown_start", False, 1, 700)]
    assert found(*readings, reading("a", at("00:10", days=1), 950), days=1) == []


def test_a_delta_that_only_grows_is_held_back():
    """The readings of a counter, declared a delta: 100 + 110 + … would be counted."""
    readings = each_minute([100 + 10 * n for n in range(12)], **DELTA)
    assert found(*readings) == [("delta_only_grows", True, 11, None)]
    assert grown(*readings) == []


def test_a_counter_declared_a_delta_that_restarts_is_still_one():
    values = [100 + 10 * n for n in range(20)] + [3 + 5 * n for n in range(15)]
    assert found(*each_minute(values, **DELTA)) == [("delta_only_grows", True, 33, None)]


def test_a_delta_that_grows_a_few_times_is_one():
    assert found(*each_minute([1, 2, 3, 4, 5, 6, 7, 8], **DELTA)) == []
    assert found(*each_minute([9] * 60, **DELTA)) == []
    assert found(*each_minute([4, 9, 2, 7, 1, 8, 3, 9, 5, 6] * 5, **DELTA)) == []


def test_only_the_contradicted_day_is_held_back():
    """The increment that crosses midnight begins on the contradicted day."""
    readings = [
        reading("a", at("22:00") + timedelta(minutes=10 * n), size, **DELTA)
        for n, size in enumerate([*range(10, 22), 30, 4, 9, 2])
    ]
    assert grown(*readings) == []
    assert grown(*readings, days=1) == [4, 9, 2]
    assert found(*readings, days=1) == []


def test_two_counters_read_in_turns_are_held_back():
    """One at 1,000,000, one at 1,000: each turn would count a thousand or a million again."""
    values = [1_000_000 + 50 * (n // 2) if n % 2 == 0 else 1_000 + n for n in range(24)]
    readings = each_minute(values)
    # The first fall has no second reading before it.
    assert found(*readings)[:1] == [("interleaved_observers", True, 11, None)]
    assert grown(*readings) == []


def test_two_copies_of_one_observer_of_which_one_lags_are_held_back():
    fresh = [(30 * n, 10_000 + 3_000 * n) for n in range(12)]
    late = [(30 * n + 1, 10_000 + 3_000 * n - 300) for n in range(12)]
    readings = [
        reading("a", at("08:00") + timedelta(seconds=second), value)
        for second, value in fresh + late
    ]
    assert [kind for kind, is_held, *_ in found(*readings) if is_held] == ["interleaved_observers"]
    assert grown(*readings) == []


def test_two_streams_of_deltas_that_overlap_are_held_back():
    readings = [
        reading(
            "a",
            at("08:00") + timedelta(seconds=30 * n + 60),
            (7, 3, 9, 5, 1)[n % 5],
            counter_start_at=at("08:00") + timedelta(seconds=30 * n),
            **DELTA,
        )
        for n in range(20)
    ]
    assert found(*readings) == [
        ("interleaved_observers", True, 19, None),
        ("overlapping_starts", False, 19, None),
    ]
    assert grown(*readings) == []


def test_a_counter_whose_values_are_deltas_is_held_back():
    values = [900, 50, 700, 20, 800, 10, 600, 300, 650, 40] * 5
    kinds = [kind for kind, is_held, *_ in found(*each_minute(values)) if is_held]
    assert kinds == ["falls_like_delta"]
    assert grown(*each_minute(values)) == []


def test_a_counter_that_restarts_often_is_one():
    values = [v for n in range(12) for v in (10, 200 + n, 400, 900)]
    kinds = [kind for kind, is_held, *_ in found(*each_minute(values)) if is_held]
    assert kinds == []


def test_a_counter_that_states_each_restart_is_one_wherever_the_start_stands():
    values = [900, 50, 700, 20, 800, 10, 600, 300, 650, 40] * 5
    minute = timedelta(minutes=1)
    # It began anew at the reading before each, or half a minute behind that: all bytes are known.
    for late in (timedelta(0), minute / 2):
        readings = [
            row | {"counter_start_at": row["event_at"] - minute + late}
            for row in each_minute(values)
        ]
        assert [kind for kind, is_held, *_ in found(*readings) if is_held] == []
        assert sum(grown(*readings)) == 5 * 4070


def test_readings_of_another_temporality_are_left_out():
    readings = each_minute([100, 130], counter_start_at=at("07:59"))
    others = each_minute([7, 7, 7], first=2, **DELTA)
    assert found(*readings, *others) == [("mixed_temporality", True, 3, None)]


def test_growth_beyond_the_declared_link_is_no_growth():
    """1,000 bits a second: 1.2 times that over a minute are 9,000 bytes."""
    readings = known(each_minute([10, 9_010, 18_011, 18_020], link_bits_per_second=1_000))
    assert found(*readings) == [("faster_than_link", True, 1, 9_001)]
    assert grown(*readings) == [10, 9_000, 9]


def test_several_values_at_one_time_are_told_once():
    readings = known([*each_minute([1, 5]), *each_minute([5, 4, 5, 3])[1:2]])
    assert found(*readings) == [("conflicting_values", False, 1, None)]
    assert grown(*readings) == [1, 4]


def test_a_start_that_moves_back_is_told():
    first = reading("a", "08:01", 10, counter_start_at=at("08:00"))
    second = reading("a", "08:02", 20, counter_start_at=at("07:30"))
    assert found(first, second) == [("overlapping_starts", False, 1, None)]


def test_stale_readings_are_counted():
    readings = each_minute([800, 701, 750, 830], counter_start_at=at("07:59"))
    assert found(*readings) == [("small_drops", False, 1, None)]


WIDTH = {"counter_bits": 32, "link_bits_per_second": 10_000_000_000}


def test_a_turn_of_a_counter_of_32_bits_is_added():
    """2**32 - 96 to 4 is 100."""
    readings = known(each_minute([2**32 - 96, 4, 10], **WIDTH))
    assert found(*readings) == [("wraps", False, 1, None)]
    assert grown(*readings) == [2**32 - 96, 100, 6]


@pytest.mark.parametrize(
    "declared",
    [{}, {"counter_bits": 32}, {"counter_bits": 32, "link_bits_per_second": 13}],
    ids=["not declared", "no link", "slower than the turn"],
)
def test_without_proof_of_one_turn_a_fall_is_a_restart(declared):
    """100 bytes in a minute are 13.3 bits a second."""
    readings = each_minute([2**32 - 96, 4], **declared)
    assert grown(*readings) == [4]
    assert [kind for kind, *_ in found(*readings)] == ["unknown_start"]


def test_a_forgotten_counter_begins_anew():
    """Read each minute, forgotten after five: 08:02 to 08:08 is a restart, begun at 08:07."""
    readings = [*each_minute([10, 20, 30]), reading("a", "08:08", 90), reading("a", "08:09", 95)]
    forgetful = [r | {"expires_after_seconds": 300} for r in readings]
    rows = increments(forgetful, [DAY]).select("start_at", "end_at", "bytes", "is_reset").rows()
    assert rows[2:] == [
        (at("08:02"), at("08:07"), 0, True),
        (at("08:07"), at("08:08"), 90, True),
        (at("08:08"), at("08:09"), 5, False),
    ]
    assert grown(*readings) == [10, 10, 60, 5]


def test_two_observers_of_one_counter_are_compared_where_both_saw_an_hour():
    """Read each ten minutes from 06:50 to 09:20, so that 07 and 08 o'clock are whole hours."""
    times = [at("06:50") + timedelta(minutes=10 * n) for n in range(16)]
    first = [reading("a", t, 100 * n) for n, t in enumerate(times)]

    def compared(values: list[int]) -> list[tuple[Any, ...]]:
        second = [
            reading("a", t, value, observer="scraper-b")
            for t, value in zip(times, values, strict=True)
        ]
        rows = rows_of(*first, *second)
        return [
            (r["observer"], r["other_observer"], r["contradicting_count"])
            for r in rows
            if r["kind"] == "observers_disagree"
        ]

    assert compared([100 * n - n % 7 for n in range(16)]) == []
    # At 08:30 it seems to restart, and counts 700 again: 1,000 from 08:10 to 08:50, where the other
    # one shows 800 from 07:50 to 09:10.
    restarts = [100 * n - (300 if n >= 10 else 0) for n in range(16)]
    assert compared(restarts) == [("scraper-b", "scraper-a", 1)]
    assert compared([11 * n for n in range(16)]) == [("scraper-b", "scraper-a", 2)]


@pytest.mark.parametrize(
    ("first", "step", "begun"),
    [("07:40", 1, None), ("07:50", 1_000, timedelta(minutes=5))],
    ids=["readings at the hour's edges", "time that a restart hid"],
)
def test_the_observer_that_is_compared_with_is_the_one_whose_bytes_count(first, step, begun):
    """Both have three readings in the hour behind 08:00, so that the smaller name is chosen.

    Of the other one more increments touch the hour, or end in it though not at a reading: where it
    began anew five minutes before each.
    """
    twenty = timedelta(minutes=20)
    chosen = [reading("a", at("07:50") + n * twenty, 100 * n) for n in range(5)]
    other = [
        reading("a", t, step * n, observer="scraper-b", counter_start_at=begun and t - begun)
        for n, t in enumerate(at(first) + n * twenty for n in range(6))
    ]
    rows = [r for r in rows_of(*chosen, *other) if r["kind"] == "observers_disagree"]
    assert [(r["observer"], r["other_observer"], r["contradicting_count"]) for r in rows] == [
        ("scraper-b", "scraper-a", 1)
    ]
    moved = traffic([*chosen, *other], [DAY]).filter(
        pl.col("window_start_at").is_between(at("08:00"), at("08:55"))
    )
    assert moved["observer"].unique().to_list() == ["scraper-a"]


def test_a_short_look_back_still_judges_whole_days():
    """Held back as a whole, though an hour before its last readings counts as absent."""
    readings = each_minute([100 + 10 * n for n in range(12)], **DELTA)
    short = LookBack(counters=timedelta(minutes=30))
    assert found(*readings, look_back=short) == [("delta_only_grows", True, 11, None)]


def spread(**pod: Any) -> tuple[Any, ...]:
    """Where the bytes of a gap from 08:01 to 08:21 are put."""
    readings = [
        reading("a", f"{time}", n) for n, time in enumerate(("07:59", "08:00", "08:01", "08:21"))
    ]
    pods = [pods_of(readings, DAY)[0] | {"end_basis": "finished"} | pod]
    rows = increments(readings, [DAY], pods).sort("start_at")
    return rows.select("spread_start_at", "spread_end_at").rows()[-1]


def test_a_gap_is_spread_over_the_life_of_the_pod():
    assert spread() == (at("08:01"), at("08:21"))
    assert spread(end_at=at("08:11")) == (at("08:01"), at("08:11"))
    assert spread(end_at=at("08:11"), end_basis="last_seen") == (at("08:01"), at("08:21"))
    assert spread(created_at=at("08:05")) == (at("08:05"), at("08:21"))


def matched(interfaces: list[str], pods: list[dict[str, Any]] | None) -> list[tuple[Any, ...]]:
    """(interface, match kind, overlay) of counters of one pod."""
    readings = [
        reading("a" + name, time, n, interface=name, pod_uid="uid-a", pod_name="pod-a")
        for name in interfaces
        for n, time in enumerate(("08:00", "08:01"))
    ]
    rows = increments(readings, [DAY], pods)
    return sorted(rows.select("interface", "match_kind", "is_overlay").rows())


def test_a_bridge_inside_a_pod_is_told_and_not_added():
    assert matched(["eth0", "docker0"], None) == [
        ("docker0", "uid", True),
        ("eth0", "uid", False),
    ]


def test_a_pod_that_shows_interfaces_of_nodes_has_its_nodes_counters_where_nothing_else_is_known():
    assert matched(["eth0", "cali0123456789a"], []) == [
        ("cali0123456789a", "node", True),
        ("eth0", "node", False),
    ]
    assert matched(["eth0", "net1"], []) == [("eth0", "none", False), ("net1", "none", False)]

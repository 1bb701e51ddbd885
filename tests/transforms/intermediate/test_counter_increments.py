"""What counters grew by between two readings."""

import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.intermediate.counter_oracle import (
    by_series,
    growths,
    increments,
    pods_of,
    reading,
    troubled_readings,
)
from transforms.day import BuildDay
from transforms.intermediate import counter_increments
from transforms.sql import SqlSession

SHOWN = ("start_at", "end_at", "bytes", "is_reset", "is_gap", "start_basis")


def grown(*readings: dict[str, Any], days: int = 0) -> list[tuple[Any, ...]]:
    """Increments of the readings' only series, as tuples."""
    return increments(list(readings), [DAY + timedelta(days=days)]).select(SHOWN).rows()


def test_the_difference_of_two_readings_is_an_increment():
    assert grown(reading("a", "08:00", 100), reading("a", "08:01", 350)) == [
        (at("08:00"), at("08:01"), 250, False, False, "sample")
    ]


def test_a_first_reading_counts_whole_from_its_known_start():
    first = reading("a", "08:01", 350, counter_start_at=at("08:00:20"))
    assert grown(first) == [(at("08:00:20"), at("08:01"), 350, False, False, "known_start")]


@pytest.mark.parametrize("start", [None, "08:01", "08:01:01"])
def test_a_first_reading_of_unknown_start_is_only_a_baseline(start):
    first = reading("a", "08:01", 350, counter_start_at=at(start) if start else None)
    assert grown(first) == []


def test_a_start_beyond_the_look_back_counts_as_unknown():
    reached = reading("a", "08:00", 9, counter_start_at=at("08:00", days=-1))
    beyond = reading("a", "08:00:00.000001", 9, counter_start_at=at("08:00", days=-1))
    assert grown(reached) == [(at("08:00", days=-1), at("08:00"), 9, False, False, "known_start")]
    assert grown(beyond) == []


def test_a_previous_reading_beyond_the_look_back_counts_as_absent():
    old = reading("a", at("08:00", days=-1), 5)
    assert grown(old, reading("a", "08:00", 9))[0][2] == 4
    assert grown(old, reading("a", "08:00:00.000001", 9)) == []


@pytest.mark.parametrize("kind", ["grid_point", "path_time"])
def test_a_value_that_was_not_read_at_its_time_gives_no_increment(kind):
    readings = [reading("a", "08:00", 100), reading("a", "08:02", 350)]
    between = reading("a", "08:01", 200, sample_kind=kind)
    assert grown(*readings, between) == grown(*readings)
    assert grown(between, reading("a", "08:01:30", 300, sample_kind=kind)) == []


def stale(series: str, clock: str, **more: Any) -> dict[str, Any]:
    return reading(series, clock, 0, sample_kind="stale", **more)


def test_a_series_that_is_no_longer_shown_ends():
    readings = [reading("a", "08:00", 100), reading("a", "08:01", 350)]
    assert grown(*readings, stale("a", "08:02")) == grown(*readings)
    assert grown(*readings, stale("a", "08:02"))[0][1:3] == (at("08:01"), 250)
    assert grown(stale("a", "08:02")) == []


def test_a_series_that_is_shown_again_has_a_gap_and_all_its_bytes():
    """Nothing was read at 08:02; at 08:03 the same counter had grown by 50."""
    readings = [
        reading("a", clock, value)
        for clock, value in (("08:00", 100), ("08:01", 350), ("08:03", 400), ("08:04", 410))
    ]
    expected = [
        (at("08:00"), at("08:01"), 250, False, False, "sample"),
        (at("08:01"), at("08:03"), 50, False, True, "sample"),
        (at("08:03"), at("08:04"), 10, False, False, "sample"),
    ]
    assert grown(*readings, stale("a", "08:02")) == expected
    twice = [stale("a", "08:02"), stale("a", "08:03"), stale("a", "08:01")]
    assert grown(*readings, *twice) == expected


def test_a_mark_at_the_time_of_a_reading_or_of_another_observer_is_none():
    readings = [reading("a", "08:00", 100), reading("a", "08:01", 350)]
    marks = [stale("a", "08:01"), stale("a", "08:00"), stale("a", "08:00:30", observer="scraper-b")]
    assert grown(*readings, *marks) == grown(*readings)


def test_a_fall_to_less_than_seven_eighths_is_a_restart_with_a_lower_bound():
    assert grown(reading("a", "08:00", 800), reading("a", "08:01", 700)) == [
        (at("08:00"), at("08:01"), 700, True, False, "reset")
    ]


def test_a_small_fall_is_a_stale_reading_and_growth_is_measured_from_the_largest_value():
    rows = grown(
        reading("a", "08:00", 800),
        reading("a", "08:01", 701),
        reading("a", "08:02", 750),
        reading("a", "08:03", 830),
    )
    assert [row[2] for row in rows] == [0, 0, 30]
    assert not any(row[3] for row in rows)


def test_a_small_fall_under_another_start_is_a_restart():
    rows = grown(
        reading("a", "08:01", 800, counter_start_at=at("08:00:30")),
        reading("a", "08:02", 790, counter_start_at=at("08:00:10")),
    )
    assert rows[-1] == (at("08:01"), at("08:02"), 790, True, False, "reset")


def test_the_largest_value_is_forgotten_after_the_look_back():
    """A dip at 22:00 hides under the reading of a day before only as long as that is reached."""
    rows = grown(
        reading("a", at("21:00", days=-1), 1_000),
        reading("a", at("22:00", days=-1), 900),
        reading("a", "20:59", 950),
        reading("a", "21:30", 960),
    )
    assert [row[2] for row in rows] == [0, 10]


def test_a_start_behind_the_last_reading_is_a_restart_and_the_hidden_time_stands_apart():
    rows = grown(
        reading("a", "08:01", 800, counter_start_at=at("08:00:30")),
        reading("a", "08:02", 900, counter_start_at=at("08:01:20")),
    )
    assert rows[1:] == [
        (at("08:01"), at("08:01:20"), 0, True, False, "sample"),
        (at("08:01:20"), at("08:02"), 900, False, False, "reset_known_start"),
    ]


def test_a_new_start_at_the_last_reading_hides_nothing():
    rows = grown(
        reading("a", "08:01", 800, counter_start_at=at("08:00:30")),
        reading("a", "08:02", 900, counter_start_at=at("08:01")),
    )
    assert rows[1:] == [(at("08:01"), at("08:02"), 900, False, False, "reset_known_start")]


def test_a_start_at_the_last_reading_that_had_no_start_is_no_restart():
    rows = grown(
        reading("a", "08:01", 800, counter_start_at=at("08:01")),
        reading("a", "08:02", 900, counter_start_at=at("08:01")),
    )
    assert rows == [(at("08:01"), at("08:02"), 100, False, False, "sample")]


def test_repeated_readings_collapse_to_the_larger_value():
    rows = grown(
        reading("a", "08:02", 120),
        reading("a", "08:01", 40),
        reading("a", "08:01", 50),
        reading("a", "08:01", 50),
        reading("a", "08:02", 120),
    )
    assert [row[2] for row in rows] == [70]


def test_a_gap_is_longer_than_three_times_the_usual_spacing():
    times = ("08:00", "08:01", "08:02", "08:05", "08:08:01", "08:09")
    rows = grown(*(reading("a", time, n) for n, time in enumerate(times)))
    assert [row[4] for row in rows] == [False, False, False, True, False]


def test_a_reboot_makes_new_sandboxes_and_restarts_what_is_not_named_by_one():
    """The node is down from 08:01 to 08:10: the sandbox's series is another, the node's falls."""
    node = {"pod_uid": None, "pod_name": None, "namespace": None, "node": "node-a"}
    rows = increments(
        [
            reading("sandbox-1", "08:00", 500), reading("sandbox-1", "08:01", 600),
            reading("sandbox-2", "08:11", 40, counter_start_at=at("08:10")),
            reading("sandbox-2", "08:12", 90, counter_start_at=at("08:10")),
            reading("node", "08:00", 9_000, **node), reading("node", "08:01", 9_500, **node),
            reading("node", "08:11", 70, **node), reading("node", "08:12", 75, **node),
        ],
        [DAY],
    )  # fmt: skip
    assert rows.select("series_id", "bytes", "is_reset", "start_basis").rows() == [
        ("node", 500, False, "sample"),
        ("node", 70, True, "reset"),
        ("node", 5, False, "sample"),
        ("sandbox-1", 100, False, "sample"),
        ("sandbox-2", 40, False, "known_start"),
        ("sandbox-2", 50, False, "sample"),
    ]


def test_observers_are_kept_apart():
    late = {"observer": "scraper-b"}
    rows = increments(
        [
            reading("a", "08:00", 10),
            reading("a", "08:00:01", 4, **late),
            reading("a", "08:01", 20),
            reading("a", "08:01:01", 14, **late),
        ],
        [DAY],
    )
    assert rows.select("observer", "bytes").rows() == [
        ("scraper-a", 10),
        ("scraper-b", 10),
    ]


def test_delta_readings_count_as_they_are():
    delta = {"temporality": "delta"}
    rows = grown(
        reading("a", "08:01", 7, counter_start_at=at("08:00"), **delta),
        reading("a", "08:02", 5, **delta),
        reading("a", "08:03", 6, counter_start_at=at("08:02:30"), **delta),
    )
    assert rows == [
        (at("08:00"), at("08:01"), 7, False, False, "delta_start"),
        (at("08:01"), at("08:02"), 5, False, False, "delta_start"),
        (at("08:02:30"), at("08:03"), 6, False, False, "delta_start"),
    ]


def test_a_delta_reading_without_any_start_stands_in_its_last_microsecond():
    rows = grown(reading("a", "08:01", 7, temporality="delta"))
    assert rows == [(at("08:00:59.999999"), at("08:01"), 7, False, False, "delta_start")]


def test_of_delta_readings_with_one_start_the_longer_holds_the_other():
    delta = {"temporality": "delta", "counter_start_at": at("08:00")}
    rows = grown(reading("a", "08:01", 7, **delta), reading("a", "08:02", 9, **delta))
    assert [(row[1], row[2]) for row in rows] == [(at("08:02"), 9)]


def test_a_series_that_mixes_temporalities_is_read_as_cumulative_only():
    rows = grown(
        reading("a", "08:00", 100),
        reading("a", "08:00:30", 7, temporality="delta"),
        reading("a", "08:01", 130),
    )
    assert [row[2] for row in rows] == [30]


def test_an_increment_stands_on_each_day_that_it_meets_and_that_sees_its_end():
    crossing = (reading("a", "23:59", 10), reading("a", at("00:59:59", days=1), 30))
    late = (reading("a", "23:59", 10), reading("a", at("01:00", days=1), 30))
    assert grown(*crossing) == grown(*crossing, days=1) != []
    assert grown(*late) == []
    assert [row[2] for row in grown(*late, days=1)] == [20]


def test_an_increment_that_ends_at_midnight_is_no_part_of_the_next_day():
    ends = (reading("a", "23:59", 10), reading("a", at("00:00", days=1), 30))
    assert [row[2] for row in grown(*ends)] == [20]
    assert grown(*ends, days=1) == []


def match(pods: list[dict[str, Any]], **stated: Any) -> list[tuple[Any, ...]]:
    rows = increments(
        [reading("a", "08:00", 1, **stated), reading("a", "08:01", 2, **stated)], [DAY], pods
    )
    return rows.select("pod_uid", "match_kind", "node").rows()


POD = {
    "cluster": "alder", "namespace": "ml", "pod_name": "pod-a", "pod_uid": "uid-a",
    "address": "192.0.2.1", "start_at": at("07:00"), "created_at": at("07:00"), "node": "node-a",
}  # fmt: skip


def test_a_stated_uid_names_the_pod():
    assert match([POD]) == [("uid-a", "uid", "node-a")]


def test_a_uid_that_contradicts_the_stated_name_names_no_pod():
    assert match([POD], pod_name="other") == [(None, "conflict", "node-a")]


def test_a_uid_of_an_unknown_pod_is_kept_without_a_match():
    assert match([]) == [("uid-a", "none", None)]


def test_a_name_inside_one_life_names_the_pod():
    assert match([POD], pod_uid=None) == [("uid-a", "name_window", "node-a")]


def test_a_returned_name_is_taken_at_the_time_of_the_reading():
    first = POD | {"end_at": at("07:59:30")}
    second = POD | {"pod_uid": "uid-b", "start_at": at("08:00:30"), "created_at": at("08:00:30")}
    assert match([first, second], pod_uid=None) == [("uid-b", "name_window", "node-a")]


@pytest.mark.parametrize("stated", [{}, {"pod_uid": None}])
def test_a_host_network_pod_has_its_nodes_counters(stated):
    assert match([POD | {"host_network": True}], **stated) == [(None, "node", "node-a")]


def test_a_series_of_the_node_itself_is_no_pod():
    stated = {"pod_uid": None, "namespace": None, "pod_name": None, "node": "node-b"}
    assert match([POD], **stated) == [(None, "node", "node-b")]


def test_a_series_that_names_nothing_matches_nothing():
    stated = {"pod_uid": None, "namespace": None, "pod_name": None}
    assert match([POD], **stated) == [(None, "none", None)]


def test_the_largest_readings_that_a_column_holds_do_no_harm():
    largest = 2**63 - 1
    rows = grown(
        reading("a", "08:00", 0),
        reading("a", "08:01", largest),
        reading("a", "08:02", largest - 1),
        reading("a", "08:03", 0),
        reading("a", "08:04", largest, counter_start_at=at("00:00", days=-700_000)),
    )
    assert [row[2] for row in rows] == [largest, 0, 0, largest]


def test_rows_keep_the_schema_and_its_key():
    readings = troubled_readings(
        7, series=20, first=at("00:00"), hours=24, step=timedelta(minutes=20)
    )
    with SqlSession() as session:
        show(
            session,
            counter_samples=readings,
            pod_intervals=pods_of(readings, DAY),
            node_states=[],
        )
        name = counter_increments.build(session, BuildDay(date=DAY, cluster="alder"))
        assert checked(session, "counter_increments", name).height > 500


@given(seed=st.integers(0, 2**32))
@settings(max_examples=2)
def test_every_increment_is_the_one_that_the_plain_pass_finds(seed):
    """2,000 series with every trouble, in no order: all days equal one pass over everything."""
    readings = troubled_readings(
        seed, series=2_000, first=at("12:00"), hours=40, step=timedelta(hours=5)
    )
    random.Random(seed).shuffle(readings)
    expected = {
        (series, g.start, g.end, g.bytes, g.is_reset, g.is_gap, g.basis)
        for series, items in by_series(readings).items()
        for g in growths(items)
        if g.end > g.seen_from  # else no day that it meets sees it
    }
    days = [DAY + timedelta(days=n) for n in range(3)]
    assert set(increments(readings, days).select("series_id", *SHOWN).rows()) == expected

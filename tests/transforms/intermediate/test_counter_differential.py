"""counter_increments equals a plain reading of its rules on random series, row by row."""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, frame, show
from tests.transforms.intermediate.counter_reading import (
    DAY_MICROS,
    SECOND,
    Increment,
    Key,
    Limits,
    Reading,
    increments_of_day,
    kinds_of,
)
from transforms.day import BuildDay, LookBack
from transforms.intermediate.counter_increments import TRANSFORM
from transforms.sql import SqlSession

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
LOOK_BACK = timedelta(hours=13)
LIMITS = Limits(
    day_start=int(datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC).timestamp()) * SECOND,
    look_back=int(LOOK_BACK.total_seconds()) * SECOND,
    look_ahead=HOUR,
)
BUILD_DAY = BuildDay(DAY, "alder", look_back=LookBack(counters=LOOK_BACK))
GIGABIT = 1_000_000_000
EVERY_KIND = {
    "baseline", "known_start", "grown", "small_drop", "wrap", "reset", "restart_known", "marked",
    "restart_at_reading", "expired", "gap", "too_fast", "delta_stated", "delta_from_reading",
    "delta_instant", "delta_only_grows", "falls_like_delta", "interleaved_observers",
}  # fmt: skip

Series = list[Reading]


def later(draw: random.Random, at: int, spacing: int) -> int:
    """When the next reading is: about regular, with gaps, some exactly at an edge of the rules."""
    after = at + spacing
    if draw.random() < 0.3:
        after += draw.randrange(-spacing // 3, spacing // 2)
    chance = draw.random()
    if chance < 0.04:
        after = at + spacing * draw.randrange(2, 8)
    elif chance < 0.06:
        after = at + draw.choice([6 * HOUR, LIMITS.look_back, LIMITS.look_back + 1, 30 * HOUR])
    for midnight in (LIMITS.day_start, LIMITS.day_start + DAY_MICROS):
        if at < midnight < after and draw.random() < 0.3:
            return midnight
    return after


def changed(draw: random.Random, value: int, link: int | None, elapsed: int) -> int:
    """What a counter shows next: mostly more, now and then a dip, a fall, or more than can be."""
    value += draw.choice([0, 1, draw.randrange(10**5), draw.randrange(10**8)])
    happened = draw.random()
    if happened < 0.08:
        return value - value // draw.choice([8, 9, 20, 1000])
    if happened < 0.13:
        return draw.randrange(value // 2 + 1)
    if happened < 0.16:
        return value + draw.choice([GIGABIT * 60, GIGABIT * 4])
    if happened < 0.18 and link is not None:
        fastest = draw.choice([10, 12]) * link * elapsed // (80 * SECOND)
        return value + fastest + draw.choice([0, 1])
    return value


def mixed(draw: random.Random, name: str) -> Series:
    """A cumulative counter to which anything happens."""
    bits, link = draw.choice([(None, None), (None, GIGABIT), (32, GIGABIT), (32, GIGABIT // 10)])
    if bits and draw.random() < 0.2:
        link = None
    expires = draw.choice([None, None, 300, 3600])
    most = 2**bits if bits else 2**63
    at = LIMITS.day_start + draw.randrange(-16 * HOUR, 25 * HOUR)
    spacing = draw.choice([15, 30, 60, 300, 1800]) * SECOND
    value = draw.choice([0, 10**6, most - 10**5, most // 2])
    start = draw.choice([None, at, at - MINUTE, at - LIMITS.look_back, at - LIMITS.look_back - 1])
    states_start = draw.random() < 0.8
    rows: Series = []
    for _ in range(draw.randrange(1, 60)):
        stated = start if states_start and start != at else None
        rows.append(Reading(name, "o1", at, value, stated, "cumulative", bits, link, expires))
        before, at = at, later(draw, at, spacing)
        value = changed(draw, value, link, at - before)
        value = value % most if bits else min(value, most - 1)
        happened = draw.random()
        if happened < 0.05:
            start, value = draw.randrange(before - MINUTE, at), draw.randrange(10**6)
        elif happened < 0.08:
            start = before
        elif happened < 0.1:
            start = draw.choice([None, before - HOUR, before - 1, at + MINUTE])
    return rows


def restated(draw: random.Random, name: str) -> Series:
    """A cumulative counter that states to begin anew at each reading, or at most of them."""
    at = LIMITS.day_start + draw.randrange(-2 * HOUR, 24 * HOUR)
    share = draw.choice([1.0, 0.9, 0.3])
    start: int | None = at - MINUTE
    rows: Series = []
    for _ in range(draw.randrange(10, 50)):
        rows.append(Reading(name, "o1", at, draw.randrange(10**6), start))
        start = at if draw.random() < share else start
        at += MINUTE
    return rows


def delta(draw: random.Random, name: str) -> Series:
    """Bytes since the last reading, some with a stated start."""
    link = draw.choice([None, None, GIGABIT])
    spacing = draw.choice([15, 60, 600]) * SECOND
    at = LIMITS.day_start + draw.randrange(-10 * HOUR, 24 * HOUR)
    states_start = draw.random() < 0.6
    rows: Series = []
    before: int | None = None
    for _ in range(draw.randrange(1, 40)):
        start = before if before is not None else at - spacing
        if draw.random() < 0.2:
            start = draw.randrange(start, at + 1)
        stated = start if states_start and draw.random() < 0.9 else None
        value = draw.choice([0, draw.randrange(10**4), draw.randrange(10**9)])
        rows.append(Reading(name, "o1", at, value, stated, "delta", None, link))
        if draw.random() < 0.04 and stated is not None:
            # Two with one start: the longer holds the other.
            at += SECOND
            rows.append(Reading(name, "o1", at, value + 5, stated, "delta", None, link))
        before = at
        at += spacing + draw.choice([0, 0, 7, spacing // 5, 5 * spacing])
        if draw.random() < 0.02:
            at += LIMITS.look_back
    return rows


def growing_delta(draw: random.Random, name: str) -> Series:
    """A delta that counts on, now and then with a smaller value."""
    at = LIMITS.day_start + draw.randrange(-3 * HOUR, 23 * HOUR)
    value = 1000
    rows: Series = []
    for _ in range(draw.randrange(5, 45)):
        rows.append(Reading(name, "o1", at, value, None, "delta"))
        at += draw.choice([MINUTE, 3 * MINUTE])
        value += draw.randrange(1, 10**6)
        if draw.random() < 0.04:
            value //= 2
    return rows


def falling(draw: random.Random, name: str) -> Series:
    """A counter declared as cumulative whose values go up and down like a delta's."""
    at = LIMITS.day_start + draw.randrange(-2 * HOUR, 23 * HOUR)
    rows: Series = []
    for _ in range(draw.randrange(10, 60)):
        rows.append(Reading(name, "o1", at, draw.randrange(10**6)))
        at += draw.choice([MINUTE, MINUTE, 4 * MINUTE])
    return rows


def interleaved(draw: random.Random, name: str) -> Series:
    """Two counters under one name, read in turns."""
    at = LIMITS.day_start + draw.randrange(-HOUR, 24 * HOUR)
    values = [draw.randrange(10**9), draw.randrange(10**9)]
    rows: Series = []
    for number in range(draw.randrange(10, 50)):
        rows.append(Reading(name, "o1", at, values[number % 2]))
        at += MINUTE
        values[number % 2] += draw.randrange(10**5)
    return rows


def overlapping_delta(draw: random.Random, name: str) -> Series:
    """Deltas of two observers under one name: each begins before the one before it ends."""
    at = LIMITS.day_start + draw.randrange(-HOUR, 24 * HOUR)
    rows: Series = []
    for _ in range(draw.randrange(6, 40)):
        start = at - (MINUTE if draw.random() < 0.7 else 30 * SECOND)
        rows.append(Reading(name, "o1", at, draw.randrange(10**6), start + len(rows), "delta"))
        at += 30 * SECOND
    return rows


def observed_twice(draw: random.Random, name: str) -> Series:
    """One counter that two read: each is kept."""
    first = mixed(draw, name)
    second = [
        row._replace(observer="o2", at=row.at + draw.randrange(SECOND))
        for row in first
        if draw.random() < 0.8
    ]
    return first + second


SHAPES: list[tuple[Callable[[random.Random, str], Series], int]] = [
    (mixed, 60),
    (observed_twice, 8),
    (delta, 14),
    (growing_delta, 5),
    (falling, 5),
    (interleaved, 4),
    (overlapping_delta, 4),
    (restated, 4),
]


def readings_of(draw: random.Random, count: int) -> Series:
    """Readings of so many series, some repeated or contradicted, in no order."""
    rows: Series = []
    shapes = draw.choices([s for s, _ in SHAPES], [w for _, w in SHAPES], k=count)
    for number, shape in enumerate(shapes):
        rows += shape(draw, f"s{number:05}")
    for row in list(rows):
        chance = draw.random()
        if chance < 0.04:
            rows.append(row)
        elif chance < 0.06 and row.value > 0:
            rows.append(row._replace(value=draw.randrange(row.value)))
        elif chance < 0.07 and row.temporality == "cumulative":
            rows.append(row._replace(start=None))
        elif chance < 0.08:
            rows.append(row._replace(value=row.value // 2, at=row.at + 1, kind="grid_point"))
        elif chance < 0.1:
            rows.append(
                row._replace(value=0, at=row.at + draw.choice([0, 1, MINUTE]), kind="stale")
            )
    draw.shuffle(rows)
    return rows


def samples(rows: Series) -> pl.DataFrame:
    """The readings as counter_samples, made by columns: there may be many."""
    filler = frame("counter_samples", [{"cluster": "alder", "namespace": "ml", "node": "n1"}])
    columns: dict[str, list[Any]] = {
        "series_id": [r.series for r in rows],
        "observer": [r.observer for r in rows],
        "event_at": [r.at for r in rows],
        "value": [r.value for r in rows],
        "counter_start_at": [r.start for r in rows],
        "temporality": [r.temporality for r in rows],
        "counter_bits": [r.bits for r in rows],
        "link_bits_per_second": [r.link for r in rows],
        "expires_after_seconds": [r.expires for r in rows],
        "sample_kind": [r.kind for r in rows],
        "record_index": list(range(len(rows))),
        "record_id": [f"r{number}" for number in range(len(rows))],
    }
    typed = {name: filler.schema[name] for name in columns}
    varied = pl.DataFrame(
        [
            pl.Series(name, values, pl.Int64).cast(typed[name])
            if typed[name] == pl.Datetime("us", "UTC")
            else pl.Series(name, values, typed[name])
            for name, values in columns.items()
        ]
    )
    fixed = [
        pl.lit(filler[name][0], filler.schema[name]).alias(name)
        for name in filler.columns
        if name not in columns
    ]
    return varied.with_columns(fixed).select(filler.columns)


def built(rows: Series) -> dict[Key, list[Increment]]:
    """What the transform tells of the day."""
    with SqlSession() as session:
        show(session, pod_intervals=[], node_states=[])
        session.register("counter_samples", samples(rows))
        table = session.frame(TRANSFORM.build(session, BUILD_DAY))
    told: dict[Key, list[Increment]] = {}
    times = [pl.col(name).dt.epoch("us") for name in ("start_at", "end_at")]
    columns = ["bytes", "is_reset", "is_gap", "start_basis"]
    for series, observer, *row in table.select("series_id", "observer", *times, *columns).rows():
        told.setdefault((series, observer), []).append(Increment(*row))
    return {key: sorted(increments) for key, increments in told.items()}


def differences(rows: Series) -> Iterator[str]:
    """The counters on which the two disagree, with what only one of them tells."""
    expected = increments_of_day(rows, LIMITS)
    found = built(rows)
    for key in sorted(expected.keys() | found.keys()):
        ours, theirs = set(expected.get(key, ())), set(found.get(key, ()))
        if sorted(expected.get(key, ())) != found.get(key, []):
            only = f"expected {sorted(ours - theirs)[:3]}, built {sorted(theirs - ours)[:3]}"
            yield f"{key}: {only}"


def test_random_series_as_a_plain_reading_of_the_rules_has_them() -> None:
    rows = readings_of(random.Random(5), 400)
    assert kinds_of(rows, LIMITS.look_back).keys() >= EVERY_KIND
    assert len(increments_of_day(rows, LIMITS)) > 200
    assert list(differences(rows)) == []


@pytest.mark.slow
def test_ten_thousand_random_series_as_a_plain_reading_of_the_rules_has_them() -> None:
    rows = readings_of(random.Random(32), 10_000)
    assert len({row.series for row in rows}) == 10_000
    counts = kinds_of(rows, LIMITS.look_back)
    assert min(counts[kind] for kind in EVERY_KIND) >= 50
    assert list(differences(rows)) == []

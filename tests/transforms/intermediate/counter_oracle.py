"""The counter pass in plain Python, written from reference/counters.md 3.2, and frames for it.

Slow and obvious on purpose: one reading after the other, nothing shared with the SQL.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

import polars as pl

from tests.transforms.frames import at, show
from transforms.day import BuildDay
from transforms.intermediate import counter_increments, pod_traffic
from transforms.sql import SqlSession

LOOK_BACK = timedelta(days=1)
LOOK_AHEAD = timedelta(hours=1)
WINDOW = timedelta(minutes=5)
MICROSECOND = timedelta(microseconds=1)
EPOCH = at("00:00", date(1970, 1, 1))


@dataclass(frozen=True)
class Growth:
    """What a counter grew by between two moments, known from the reading at `read_at`."""

    start: datetime
    end: datetime
    bytes: int
    is_reset: bool
    is_gap: bool
    basis: str
    read_at: datetime

    @property
    def seen_from(self) -> datetime:
        """The first instant of the first day whose build sees the reading."""
        return (self.read_at - LOOK_AHEAD).replace(hour=0, minute=0, second=0, microsecond=0)


def reading(series: str, clock: str | datetime, value: int, **more: Any) -> dict[str, Any]:
    """One cumulative reading of pod `uid-<series>`."""
    return {
        "cluster": "alder",
        "series_id": series,
        "observer": "scraper-a",
        "metric": "k8s.pod.network.io",
        "namespace": "ml",
        "pod_name": f"pod-{series}",
        "pod_uid": f"uid-{series}",
        "interface": "eth0",
        "direction": "receive",
        "temporality": "cumulative",
        "byte_layer": "frame",
        "value": value,
        "event_at": at(clock) if isinstance(clock, str) else clock,
        **more,
    }


def pods_of(readings: Iterable[dict[str, Any]], day: date) -> list[dict[str, Any]]:
    """Pods that live as long as it takes, one per stated UID."""
    uids = sorted({r["pod_uid"] for r in readings if r["pod_uid"] is not None})
    return [
        {
            "cluster": "alder",
            "namespace": "ml",
            "pod_name": uid.replace("uid-", "pod-"),
            "pod_uid": uid,
            "address": f"192.0.2.{number % 250}",
            "start_at": at("00:00", day, days=-9),
            "created_at": at("00:00", day, days=-9),
            "node": "node-a",
            "run_uuid": "0123456789abcdef0123456789abcdef",
            "attempt": 2,
            "date": day,
        }
        for number, uid in enumerate(uids)
    ]


def increments(
    readings: list[dict[str, Any]], days: Iterable[date], pods: list[dict[str, Any]] | None = None
) -> pl.DataFrame:
    """Rows of `counter_increments` of some days, each built alone."""
    grown = [rows for _, _, rows in _each_day(readings, days, pods)]
    return pl.concat(grown).sort("series_id", "observer", "start_at", "end_at")


def traffic(readings: list[dict[str, Any]], days: Iterable[date]) -> pl.DataFrame:
    """Rows of `pod_traffic` of some days, each built from its own `counter_increments`."""
    moved = []
    for session, build, rows in _each_day(readings, days, None):
        session._drop("counter_increments")
        session.register("counter_increments", rows.with_columns(date=pl.lit(build.date)))
        moved.append(session.frame(pod_traffic.build(session, build)))
        session.connection.unregister("counter_increments")
    return pl.concat(moved).sort("pod_uid", "interface", "direction", "window_start_at")


def _each_day(
    readings: list[dict[str, Any]], days: Iterable[date], pods: list[dict[str, Any]] | None
) -> Iterator[tuple[SqlSession, BuildDay, pl.DataFrame]]:
    with SqlSession(threads=2) as session:
        show(session, counter_samples=readings, node_states=[])
        for day in days:
            build = BuildDay(date=day, cluster="alder")
            show(session, pod_intervals=pods_of(readings, day) if pods is None else pods)
            rows = session.frame(counter_increments.build(session, build))
            yield session, build, rows


def growths(readings: Iterable[dict[str, Any]], look_back: timedelta = LOOK_BACK) -> list[Growth]:
    """What one series of one observer grew by, over all its readings."""
    best: dict[datetime, tuple[int, datetime | None]] = {}
    for item in readings:
        time, start = item["event_at"], item.get("counter_start_at")
        start = start if start is not None and start < time else None
        value, known = best.get(time, (0, None))
        starts = [s for s in (start, known) if s is not None]
        best[time] = (max(value, item["value"]), max(starts, default=None))
    found: list[Growth] = []
    times: list[datetime] = []
    since_start: list[tuple[datetime, int]] = []
    for time in sorted(best):
        value, start = best[time]
        before = times[-1] if times and time - times[-1] <= look_back else None
        if before is None:
            if start is not None and time - start <= look_back:
                found.append(Growth(start, time, value, False, False, "known_start", time))
            since_start = [(time, value)]
        else:
            held = [t for t in times[-4:] if time - t <= look_back]
            spacings = sorted(b - a for a, b in pairwise(held))
            usual = spacings[1] if len(spacings) > 1 else (spacings[0] if spacings else None)
            is_gap = usual is not None and time - before > 3 * usual
            last, last_start = best[before]
            if start is not None and (
                start > before
                or (start == before and last_start is not None and last_start != start)
            ):
                if start > before:
                    found.append(Growth(before, start, 0, True, is_gap, "sample", time))
                found.append(Growth(start, time, value, False, is_gap, "reset_known_start", time))
                since_start = [(time, value)]
            elif value < last and not ((last - value) * 8 < last and start == last_start):
                found.append(Growth(before, time, value, True, is_gap, "reset", time))
                since_start = [(time, value)]
            else:
                highest = max(v for t, v in since_start if time - t <= look_back)
                growth = max(0, value - highest)
                found.append(Growth(before, time, growth, False, is_gap, "sample", time))
                since_start.append((time, value))
        times.append(time)
    return found


def windows(found: Iterable[Growth]) -> dict[datetime, tuple[int, int, int | None, int]]:
    """Bytes, least, most and resets per window, over all days at once."""
    shares: dict[datetime, list[int]] = {}
    for growth in found:
        start = max(growth.start, growth.seen_from)
        length = (growth.end - start) // MICROSECOND
        window = start - (start - EPOCH) % WINDOW
        while window < growth.end:
            low, high = max(start, window), min(growth.end, window + WINDOW)
            share = shares.setdefault(window, [0, 0, 0, 0])
            share[0] += growth.bytes * ((high - start) // MICROSECOND) // length
            share[0] -= growth.bytes * ((low - start) // MICROSECOND) // length
            if low == growth.start and high == growth.end:
                share[1] += growth.bytes
            share[2] += growth.bytes
            share[3] += growth.is_reset
            window += WINDOW
    return {w: (s[0], s[1], None if s[3] else s[2], s[3]) for w, s in shares.items()}


def troubled_readings(
    seed: int, *, series: int, first: datetime, hours: int, step: timedelta
) -> list[dict[str, Any]]:
    """Readings of many series with everything that goes wrong, in no order.

    Restarts with and without a stated start, stale dips, repeated, conflicting and missing
    readings, long silences, huge values, starts that are unknown or equal to the reading.
    """
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for number in range(series):
        name = f"{number:05d}"
        states_start = draw.random() < 0.6
        began = first + timedelta(seconds=draw.randrange(hours * 3000))
        started = began - timedelta(seconds=draw.randrange(90))
        size = draw.choice([1, 1_000, 10**9, 10**15])
        value, time = draw.randrange(size * 3), began
        silence = draw.random() < 0.05
        while time < first + timedelta(hours=hours):
            trouble = draw.random()
            if trouble < 0.03:
                value, started = draw.randrange(size), time - step * draw.random()
            elif trouble < 0.06:
                value = draw.randrange(size)
            else:
                value += draw.randrange(size)
            shown = value - value // 20 if draw.random() < 0.04 else value
            stated: datetime | None = started if states_start else None
            if draw.random() < 0.02:
                stated = time
            row = reading(name, time, shown, counter_start_at=stated)
            if draw.random() > 0.05:
                rows.append(row)
            if draw.random() < 0.03:
                rows.append(dict(row))
            if draw.random() < 0.02:
                rows.append(row | {"value": shown + draw.randrange(5)})
            time += step if draw.random() < 0.98 else step * draw.randrange(2, 9)
            if silence and draw.random() < 0.05:
                time += timedelta(hours=draw.randrange(20, 30))
                silence = False
    draw.shuffle(rows)
    return rows


def by_series(readings: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Readings of each series."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for item in readings:
        grouped.setdefault(item["series_id"], []).append(item)
    return grouped

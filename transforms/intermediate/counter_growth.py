"""What counters grew by, series by series, without naming pods.

Readings are numbered by series and sorted for some series at a time, so that memory does not grow
with the day. `counter_pass` says what each means.
"""

from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pyarrow as pa

from transforms.day import BuildDay
from transforms.intermediate.counter_pass import (
    DAY_US,
    NOTES,
    Growth,
    Longs,
    Series,
    Window,
    grow,
)
from transforms.sql import SqlSession

PACKAGE = "transforms.intermediate"
TABLES = ("counter_series", "counter_growth", "counter_notes")
"""What `grow_counters` makes."""
MICROSECOND = timedelta(microseconds=1)
READINGS_AT_ONCE = 2_000_000
MOST_SLICES = 40
"""All readings are looked through once a slice; more readings go into each instead."""


def grow_counters(session: SqlSession, day: BuildDay, *, only_compared: bool = False) -> None:
    """Make `counter_series`, `counter_growth` and `counter_notes` of one cluster and day.

    Args:
        session: The session; it shows `counter_samples`.
        day: The day.
        only_compared: Tell the growth only of series that several observers read.
    """
    window = _window(day)
    look_ahead = day.look_ahead // MICROSECOND
    values = {
        "cluster": day.cluster,
        "read_from_us": window.start - max(2 * window.look_back, DAY_US),
        "read_until_us": window.end + look_ahead,
    }
    session.create("counter_series", PACKAGE, "counter_series", values)
    with session.dropped("counter_readings"):
        session.create("counter_readings", PACKAGE, "counter_readings", values)
        for number, (growth, notes) in enumerate(_grown(session, window, only_compared)):
            session.connection.register("counter_grown", growth)
            session.connection.register("counter_noted", notes)
            make = session.insert if number else session.create
            make("counter_growth", PACKAGE, "counter_growth")
            make("counter_notes", PACKAGE, "counter_notes")
            session.connection.unregister("counter_grown")
            session.connection.unregister("counter_noted")


def _window(day: BuildDay) -> Window:
    look_back = day.look_back.counters // MICROSECOND
    first = (day.start_us - max(2 * look_back, DAY_US) - look_back) // DAY_US
    last = (day.end_us + day.look_ahead // MICROSECOND) // DAY_US
    return Window(day.start_us, day.end_us, look_back, first, last - first + 1)


def _grown(
    session: SqlSession, window: Window, only_compared: bool
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Growth and notes, some series at a time; at least once."""
    known = session.query(PACKAGE, "counter_declared").fetchnumpy()
    is_told = known["is_compared"] if only_compared else np.ones(known["link"].size, np.bool_)
    for first, last in _slices(known["reading_count"]):
        rows = session.query(
            PACKAGE, "counter_slice", {"first_series": first, "last_series": last - 1}
        ).fetchnumpy()
        some = slice(first, last)
        series = Series(
            np.searchsorted(rows["series"], np.arange(first, last + 1)).astype(np.int64),
            _plain(known["is_delta"][some], np.bool_),
            _plain(known["is_narrow"][some], np.bool_),
            _plain(known["link"][some], np.int64),
            _plain(known["expires"][some], np.int64),
            _plain(is_told[some], np.bool_),
        )
        growth, notes = grow(
            _plain(rows["at_us"], np.int64),
            _plain(rows["value"], np.int64),
            _plain(rows["stated_us"], np.int64),
            series,
            window,
        )
        yield _growth_table(growth, first), _notes_table(notes, first)


def _slices(counts: Longs) -> Iterator[tuple[int, int]]:
    """(first series, behind the last) of each slice, so that slices hold about as many readings."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    wanted = max(READINGS_AT_ONCE, total // MOST_SLICES)
    first = 0
    while True:
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + wanted, side="right")), first + 1)
        last = min(last, int(ends.size))
        yield first, last
        if last == ends.size:
            return
        first = last


def _plain(column: np.ndarray, kind: type[np.generic]) -> np.ndarray:
    """A column of one type that the pass may change; it holds no nulls."""
    return np.require(np.asarray(column), kind, ["C", "W"])


def _growth_table(growth: Growth, first: int) -> pa.Table:
    columns = growth._asdict()
    columns["series"] = growth.series + np.int32(first)
    return pa.table(columns)


def _notes_table(notes: Longs, first: int) -> pa.Table:
    columns = {"series": np.arange(first, first + len(notes), dtype=np.int32)}
    columns |= {name: np.ascontiguousarray(notes[:, n]) for n, name in enumerate(NOTES)}
    return pa.table(columns)

"""One pass over the readings of each counter, in order of time (reference/counters.md 3.2).

The pass is compiled (numba), as it keeps a state for each series, where SQL would sort all readings
once for each thing that it has to know of the ones before. What it decides of a reading depends on
readings at most a look-back before it, and on those of one UTC day: so that every day that sees an
increment sees the same one (definitions.md 3). What a reading means is told in
`counter_increments`, what a finding means in `counter_findings`.

Readings of one series at one time count as one: the largest value, the latest start. A start at or
behind its reading is none.
"""

from importlib import import_module
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]

KERNEL = "transforms.intermediate.counter_kernel"
"""Loaded where a day has readings: no other command needs to wait for the compiler."""
NONE = -(2**63)
"""No start."""
STALE = -1
"""In place of a value: the exporter no longer showed the series, which ended or was not read."""
DAY_US = 86_400_000_000

SAMPLE, KNOWN_START, RESET, RESET_KNOWN_START, DELTA_START, HIDDEN = range(6)
"""What an increment is; `HIDDEN` is the time between a reading and a restart behind it."""
ONLY_GROWS, INTERLEAVED, FALLS = 1, 2, 3
"""How a day's readings of a series contradict what is declared of it."""

(
    READINGS, FIRST, LAST, CONFLICTS, SMALL_DROPS, OVERLAPS, BASELINES, BASELINE_BYTES, WRAPS,
    TOO_FAST, TOO_FAST_BYTES, HELD, CONTRADICTING,
) = range(13)  # fmt: skip
NOTES = (
    "reading_count", "first_us", "last_us", "conflict_count", "small_drop_count", "overlap_count",
    "baseline_count", "baseline_bytes", "wrap_count", "fast_count", "fast_bytes", "held",
    "contradicting_count",
)  # fmt: skip
"""What the built day's readings of a series show; `contradicting_count` is that of `held`."""

FASTEST = 1.2
"""Growth above this many times the declared link is none."""
LARGEST = 2**63 - 1
"""Most bytes that a note holds."""


class Window(NamedTuple):
    """Which increments are told, in microseconds.

    Attributes:
        start: Start of the built day.
        end: Its end.
        look_back: What lies further before a reading counts as absent.
        first_day: Number of the earliest day that an increment may begin on.
        days: How many days there may be.
    """

    start: int
    end: int
    look_back: int
    first_day: int
    days: int


class Series(NamedTuple):
    """What is declared of each series, and where its readings stand.

    Attributes:
        offsets: Position of each series' first reading, and the end.
        is_delta: Whether a reading counts since the one before.
        is_narrow: Whether the counter begins at 0 again behind 2**32.
        link: Bits per second of the fastest interface; 0 if not declared.
        expires: Microseconds after which the exporter forgets the counter; 0 if it never does.
        is_told: Whether increments are told, not only notes.
    """

    offsets: Longs
    is_delta: Flags
    is_narrow: Flags
    link: Longs
    expires: Longs
    is_told: Flags


class Growth(NamedTuple):
    """Increments, by series and time.

    Attributes:
        series: Position of the series.
        from_us: Start.
        until_us: End.
        bytes: Bytes.
        basis: What it is.
        is_gap: Whether it is longer than three times the usual spacing, or holds a mark.
    """

    series: NDArray[np.int32]
    from_us: Longs
    until_us: Longs
    bytes: Longs
    basis: NDArray[np.int8]
    is_gap: Flags

    def rows(self, which: slice | Flags) -> "Growth":
        """Some of the increments."""
        return Growth(
            self.series[which],
            self.from_us[which],
            self.until_us[which],
            self.bytes[which],
            self.basis[which],
            self.is_gap[which],
        )


def grow(
    at: Longs, value: Longs, stated: Longs, series: Series, window: Window
) -> tuple[Growth, Longs]:
    """Find what each series grew by, and what its readings show.

    Args:
        at: Time of each reading, by series and time; changed in place, as are the two others.
        value: What it shows, or `STALE`.
        stated: When the counter began, or `NONE`.
        series: The series.
        window: Which increments are told.

    Returns:
        The increments that meet the day, and notes of each series (a column of `NOTES` each).
    """
    room, count = 2 * at.size, series.offsets.size - 1
    growth = Growth(
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int8),
        np.empty(room, np.bool_),
    )
    notes = np.zeros((count, len(NOTES)), np.int64)
    held = np.zeros((count, window.days, 2), np.int64)
    largest = int(np.diff(series.offsets).max(initial=0))
    queue = np.empty((largest + 1, 2), np.int64)
    is_behind_mark = np.empty(at.size, np.bool_)
    made = 0
    if at.size:
        kernel = import_module(KERNEL)
        made = kernel.grow_all(
            at, value, stated, series, window, growth, notes, held, queue, is_behind_mark, 0
        )
    growth = _single(growth.rows(slice(made)))
    today = window.start // DAY_US - window.first_day
    notes[:, HELD], notes[:, CONTRADICTING] = held[:, today, 0], held[:, today, 1]
    return _told(growth, series, window, notes, held), notes


def _single(growth: Growth) -> Growth:
    """Of two deltas with one start only the longer, which holds the other."""
    found = np.flatnonzero(growth.basis == DELTA_START)
    order = np.lexsort((growth.until_us[found], growth.from_us[found], growth.series[found]))
    number, begun = growth.series[found][order], growth.from_us[found][order]
    is_held = (number[1:] == number[:-1]) & (begun[1:] == begun[:-1])
    if not is_held.any():
        return growth
    is_kept = np.ones(growth.series.size, np.bool_)
    is_kept[found[order[:-1][is_held]]] = False
    return growth.rows(is_kept)


def _told(growth: Growth, series: Series, window: Window, notes: Longs, held: Longs) -> Growth:
    """Increments that meet the day and are not held back; notes what is too fast."""
    from_us, until_us, number = growth.from_us, growth.until_us, growth.series
    is_told = (from_us < window.end) & (until_us > window.start) & series.is_told[number]
    if held.any():
        day = from_us // DAY_US - window.first_day
        is_seen = day >= 0
        is_told &= ~(is_seen & (held[number, np.where(is_seen, day, 0), 0] > 0))
    if series.link.any():
        link = series.link[number]
        most = FASTEST * link * ((until_us - from_us) / 8e6)
        is_fast = (link > 0) & (growth.bytes > most)
        is_told &= ~is_fast
        for n in np.flatnonzero(is_fast & (until_us > window.start) & (until_us <= window.end)):
            note = notes[number[n]]
            note[TOO_FAST] += 1
            note[TOO_FAST_BYTES] += min(growth.bytes[n], LARGEST - note[TOO_FAST_BYTES])
    return growth if is_told.all() else growth.rows(is_told)

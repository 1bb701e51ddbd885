"""A slow, plain reading of the rules of counter_increments, for tests only.

Written from reference/counters.md 3.2, definitions.md 3 and the rules in words of the tables, not
from the transform: dictionaries and loops, one series at a time, whole history at hand. Times are
integer microseconds since 1970, as are days' bounds.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

SECOND = 1_000_000
DAY_MICROS = 86_400 * SECOND


class Reading(NamedTuple):
    """One row of counter_samples, as far as bytes depend on it."""

    series: str
    observer: str
    at: int
    value: int
    start: int | None = None
    temporality: str = "cumulative"
    bits: int | None = None
    link: int | None = None
    expires: int | None = None
    kind: str | None = None


class Increment(NamedTuple):
    """One row of counter_increments."""

    start: int
    end: int
    bytes: int
    is_reset: bool
    is_gap: bool
    basis: str


@dataclass(frozen=True)
class Limits:
    """What a build knows of time.

    Attributes:
        day_start: First instant of the built day.
        look_back: After this time an earlier reading, a start or a maximum is absent.
        look_ahead: How far behind the day the next reading may lie.
    """

    day_start: int
    look_back: int
    look_ahead: int


Key = tuple[str, str]


def increments_of_day(readings: Iterable[Reading], limits: Limits) -> dict[Key, list[Increment]]:
    """All rows of one day, by (series, observer); each observer is a counter of its own.

    A row stands on each day that it meets and whose build sees the reading that ends it.
    """
    told: dict[Key, list[Increment]] = {}
    seen_until = limits.day_start + DAY_MICROS + limits.look_ahead
    seen = [r for r in readings if r.at < seen_until]
    marks = _marks(seen)
    for key, mine in _by_counter(seen).items():
        held = _contradicted_days(mine)
        rows = []
        for row in _longest(_all_increments(mine, limits.look_back, marks[key])):
            if row.start // DAY_MICROS in held or _is_too_fast(row, mine[0].link):
                continue
            if row.start < limits.day_start + DAY_MICROS and row.end > limits.day_start:
                rows.append(row)
        if rows:
            told[key] = sorted(rows)
    return told


def kinds_of(readings: Iterable[Reading], look_back: int) -> dict[str, int]:
    """How often each rule spoke, so that a test can prove that its series are mixed."""
    counts: dict[str, int] = defaultdict(int)
    readings = list(readings)
    marks = _marks(readings)
    for key, mine in _by_counter(readings).items():
        notes: dict[str, int] = {}
        _all_increments(mine, look_back, marks[key], notes)
        for note, number in notes.items():
            counts[note] += number
        for kinds in _contradicted_days(mine).values():
            for kind in kinds:
                counts[kind] += 1
    return dict(counts)


def _by_counter(readings: Iterable[Reading]) -> dict[Key, list[Reading]]:
    """Steps 1 to 3: observers apart, one reading per time (largest value and start), sorted.

    A start that is not before its reading is none.
    """
    at_time: dict[Key, dict[int, Reading]] = {}
    for reading in readings:
        if reading.kind is not None:
            continue
        times = at_time.setdefault((reading.series, reading.observer), {})
        other = times.get(reading.at, reading)
        starts = [s for s in (reading.start, other.start) if s is not None and s < reading.at]
        times[reading.at] = other._replace(
            value=max(reading.value, other.value), start=max(starts) if starts else None
        )
    return {key: [times[at] for at in sorted(times)] for key, times in at_time.items()}


def _marks(readings: Iterable[Reading]) -> dict[Key, list[int]]:
    """Step 2: when a counter was said to be shown no longer."""
    marks: dict[Key, list[int]] = defaultdict(list)
    for reading in readings:
        if reading.kind == "stale":
            marks[reading.series, reading.observer].append(reading.at)
    return marks


def _all_increments(
    mine: list[Reading],
    look_back: int,
    marks: list[int],
    notes: dict[str, int] | None = None,
) -> list[Increment]:
    """Steps 4 and 6 on one counter: every increment of its whole life."""
    life = _Life(mine, look_back, marks)
    for number in range(len(mine)):
        life.read(number)
    if notes is not None:
        notes.update(life.notes)
    return life.rows


class _Life:
    """One counter, read from its first reading to its last."""

    def __init__(self, mine: list[Reading], look_back: int, marks: list[int]) -> None:
        self.mine = mine
        self.look_back = look_back
        self.marks = marks
        self.rows: list[Increment] = []
        self.notes: dict[str, int] = defaultdict(int)
        # What the counter stood at since it last began at 0, turns added: (time, value).
        self.segment: list[tuple[int, int]] = []
        self.turned = 0

    def read(self, number: int) -> None:
        """Tell what one reading adds, classified in the order of step 4."""
        c = self.mine[number]
        p = self.mine[number - 1] if number > 0 else None
        if p is not None and p.at < c.at - self.look_back:
            p = None
        usual = None if p is None else self.usual_spacing(number)
        is_marked = p is not None and any(p.at < mark < c.at for mark in self.marks)
        self.notes["marked"] += is_marked
        is_gap = is_marked or (p is not None and usual is not None and c.at - p.at > 3 * usual)
        if c.temporality == "delta":
            rows = [self.delta(p, c, usual, is_marked)]
        elif p is None:
            rows = self.first(c)
        elif _is_stated_restart(p, c):
            rows = self.stated_restart(p, c, is_gap)
        elif c.expires is not None and c.at - p.at > c.expires * SECOND:
            self.begin_anew(c, "expired")
            begin = p.at if usual is None else max(p.at, c.at - usual)
            rows = [Increment(begin, c.at, c.value, True, is_gap, "reset")]
            if begin > p.at:
                rows.insert(0, Increment(p.at, begin, 0, True, is_gap, "sample"))
        elif c.value >= p.value:
            rows = [self.growth(p, c, is_gap, "grown")]
        elif _is_turn(p, c):
            self.turned += 1 << (c.bits or 64)
            rows = [self.growth(p, c, is_gap, "wrap")]
        elif (p.value - c.value) * 8 < p.value and c.start == p.start:
            rows = [self.growth(p, c, is_gap, "small_drop")]
        else:
            self.begin_anew(c, "reset")
            rows = [Increment(p.at, c.at, c.value, True, is_gap, "reset")]
        for row in rows:
            self.notes["gap"] += row.is_gap
            self.notes["too_fast"] += _is_too_fast(row, c.link)
            self.rows.append(row)

    def usual_spacing(self, number: int) -> int | None:
        """Median of the three times between readings before that which `number` ends.

        The larger of two, or the one, where no more are known.
        """
        oldest = self.mine[number].at - self.look_back
        spacings: list[int] = []
        for later in range(number - 1, 0, -1):
            if len(spacings) == 3 or self.mine[later - 1].at < oldest:
                break
            spacings.append(self.mine[later].at - self.mine[later - 1].at)
        if not spacings:
            return None
        return sorted(spacings)[len(spacings) // 2]

    def known_start(self, c: Reading) -> int | None:
        """The stated start, if it is before the reading and within the look-back."""
        if c.start is None or c.start < c.at - self.look_back:
            return None
        return c.start

    def delta(self, p: Reading | None, c: Reading, usual: int | None, is_marked: bool) -> Increment:
        """A delta is taken as it is, over a time that it states: that tells whether it is a gap."""
        if c.start is not None:
            self.notes["delta_stated"] += 1
            begin = c.start
        elif p is not None:
            self.notes["delta_from_reading"] += 1
            begin = p.at
        else:
            self.notes["delta_instant"] += 1
            return Increment(c.at - 1, c.at, c.value, False, False, "delta_start")
        is_gap = usual is not None and c.at - begin > 3 * usual
        is_gap = is_gap or (is_marked and c.start is None)
        return Increment(begin, c.at, c.value, False, is_gap, "delta_start")

    def first(self, c: Reading) -> list[Increment]:
        """a: the whole value with a known start, else a baseline."""
        start = self.known_start(c)
        if start is None:
            self.begin_anew(c, "baseline")
            return []
        self.begin_anew(c, "known_start")
        return [Increment(start, c.at, c.value, False, False, "known_start")]

    def stated_restart(self, p: Reading, c: Reading, is_gap: bool) -> list[Increment]:
        """b: the value since the start; before it an unknown number of bytes was lost."""
        assert c.start is not None
        row = Increment(c.start, c.at, c.value, False, is_gap, "reset_known_start")
        if c.start == p.at:
            self.begin_anew(c, "restart_at_reading")
            return [row]
        self.begin_anew(c, "restart_known")
        return [Increment(p.at, c.start, 0, True, is_gap, "sample"), row]

    def growth(self, p: Reading, c: Reading, is_gap: bool, kind: str) -> Increment:
        """d to f: growth over the largest value that the look-back still holds."""
        self.notes[kind] += 1
        stood = c.value + self.turned
        largest = max(v for at, v in self.segment if at >= c.at - self.look_back)
        self.segment.append((c.at, stood))
        return Increment(p.at, c.at, max(0, stood - largest), False, is_gap, "sample")

    def begin_anew(self, c: Reading, kind: str) -> None:
        """The counter began at 0 before this reading."""
        self.notes[kind] += 1
        self.segment = [(c.at, c.value)]
        self.turned = 0


def _is_stated_restart(p: Reading, c: Reading) -> bool:
    """Whether a stated start lies behind the previous reading."""
    if c.start is None or c.start < p.at:
        return False
    return c.start > p.at or p.start is not None


def _longest(rows: list[Increment]) -> list[Increment]:
    """Of several deltas with one start only the longest, which holds the others."""
    deltas: dict[int, Increment] = {}
    for row in rows:
        if row.basis == "delta_start" and row.end >= deltas.get(row.start, row).end:
            deltas[row.start] = row
    return [row for row in rows if row.basis != "delta_start" or deltas[row.start] is row]


def _is_turn(p: Reading, c: Reading) -> bool:
    """Whether a value that fell is one turn that the declared link can carry."""
    if c.bits is None or c.bits >= 64 or c.link is None:
        return False
    grown: int = c.value + (1 << c.bits) - p.value
    return grown * 8 * SECOND <= c.link * (c.at - p.at)


def _is_too_fast(row: Increment, link: int | None) -> bool:
    """Step 5: more than 1.2 times the declared link."""
    return link is not None and row.bytes * 8 * SECOND * 10 > 12 * link * (row.end - row.start)


def _contradicted_days(mine: list[Reading]) -> dict[int, set[str]]:
    """Days whose readings contradict what is declared, with the findings."""
    days: dict[int, list[int]] = defaultdict(list)
    for number, c in enumerate(mine):
        days[c.at // DAY_MICROS].append(number)
    found = {day: _contradictions(mine, numbers) for day, numbers in days.items()}
    return {day: kinds for day, kinds in found.items() if kinds}


def _contradictions(mine: list[Reading], numbers: list[int]) -> set[str]:
    """What the readings of one day show, each compared with those before it on that day.

    So that every day that sees them says the same. A third is one of the times between readings;
    one is forgiven, as the ends of the day cut the turns. Counters of 32 bits fall as they turn.
    """
    first = mine[numbers[0]]
    grows = falls = unstated_falls = overlaps = turns = 0
    for number in numbers[1:]:
        p, c = mine[number - 1], mine[number]
        grows += c.value > p.value
        falls += c.value < p.value
        overlaps += c.start is not None and c.start < p.at
        if c.value < p.value and not _is_stated_restart(p, c):
            unstated_falls += 1
            turns += number > numbers[1] and c.value >= mine[number - 2].value
    kinds = set()
    if first.temporality == "delta":
        turns = overlaps
        if grows >= 8 and 16 * falls <= grows:
            kinds.add("delta_only_grows")
    elif first.bits != 32 and unstated_falls >= 12 and 4 * unstated_falls >= 3 * grows:
        kinds.add("falls_like_delta")
    if turns >= 8 and 3 * (turns + 1) >= len(numbers) - 1:
        kinds.add("interleaved_observers")
    return kinds

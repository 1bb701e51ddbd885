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
    """All rows of one day, by (series, observer); each observer is a counter of its own."""
    told: dict[Key, list[Increment]] = {}
    for key, mine in _by_counter(readings).items():
        held = _contradicted_days(mine)
        rows = []
        for row in _all_increments(mine, limits.look_back):
            if row.start // DAY_MICROS in held:
                continue
            if _stands_on(row, limits):
                rows.append(row)
        if rows:
            told[key] = sorted(rows)
    return told


def kinds_of(readings: Iterable[Reading], look_back: int) -> dict[str, int]:
    """How often each rule spoke, so that a test can prove that its series are mixed."""
    counts: dict[str, int] = defaultdict(int)
    for mine in _by_counter(readings).values():
        notes: dict[str, int] = {}
        _all_increments(mine, look_back, notes)
        for note, number in notes.items():
            counts[note] += number
        for kinds in _contradicted_days(mine).values():
            for kind in kinds:
                counts[kind] += 1
    return dict(counts)


def _by_counter(readings: Iterable[Reading]) -> dict[Key, list[Reading]]:
    """Steps 1 to 3: observers apart, one reading per time (largest value and start), sorted."""
    at_time: dict[Key, dict[int, Reading]] = {}
    for reading in readings:
        if reading.kind is not None:
            continue
        times = at_time.setdefault((reading.series, reading.observer), {})
        other = times.get(reading.at)
        if other is not None:
            starts = [s for s in (reading.start, other.start) if s is not None]
            times[reading.at] = other._replace(
                value=max(reading.value, other.value), start=max(starts) if starts else None
            )
        else:
            times[reading.at] = reading
    return {key: [times[at] for at in sorted(times)] for key, times in at_time.items()}


def _stands_on(row: Increment, limits: Limits) -> bool:
    """An increment stands on each day that it meets and whose build sees its end."""
    day_end = limits.day_start + DAY_MICROS
    meets = row.start < day_end and row.end > limits.day_start
    return meets and row.end <= day_end + limits.look_ahead


def _all_increments(
    mine: list[Reading], look_back: int, notes: dict[str, int] | None = None
) -> list[Increment]:
    """Steps 4 to 6 on one counter: every increment of its whole life."""
    life = _Life(mine, look_back)
    for number in range(len(mine)):
        life.read(number)
    if notes is not None:
        notes.update(life.notes)
    return life.rows


class _Life:
    """One counter, read from its first reading to its last."""

    def __init__(self, mine: list[Reading], look_back: int) -> None:
        self.mine = mine
        self.look_back = look_back
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
        is_gap = p is not None and usual is not None and c.at - p.at > 3 * usual
        self.notes["gap"] += is_gap
        if c.temporality == "delta":
            rows = [self.delta(p, c, is_gap)]
        elif p is None:
            rows = self.first(c)
        elif _is_stated_restart(p, c):
            rows = self.stated_restart(p, c, is_gap)
        elif c.expires is not None and c.at - p.at > c.expires * SECOND:
            self.begin_anew(c, "expired")
            begin = p.at if usual is None else max(p.at, c.at - usual)
            rows = [Increment(begin, c.at, c.value, True, is_gap, "reset")]
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
            if _is_too_fast(row, c.link):
                self.notes["too_fast"] += 1
            else:
                self.rows.append(row)

    def usual_spacing(self, number: int) -> int | None:
        """Median of the three times between readings before that which `number` ends.

        The larger of two; nothing where fewer are known.
        """
        oldest = self.mine[number].at - self.look_back
        spacings: list[int] = []
        for later in range(number - 1, 0, -1):
            if len(spacings) == 3 or self.mine[later - 1].at < oldest:
                break
            spacings.append(self.mine[later].at - self.mine[later - 1].at)
        if len(spacings) < 2:
            return None
        return sorted(spacings)[len(spacings) // 2]

    def known_start(self, c: Reading) -> int | None:
        """The stated start, if it is before the reading and within the look-back."""
        if c.start is None or c.start >= c.at or c.start < c.at - self.look_back:
            return None
        return c.start

    def delta(self, p: Reading | None, c: Reading, is_gap: bool) -> Increment:
        """A delta is taken as it is; what is not known is only where it begins."""
        begin = self.known_start(c)
        if begin is not None:
            self.notes["delta_stated"] += 1
        elif p is not None:
            self.notes["delta_from_reading"] += 1
            begin = p.at
        else:
            self.notes["delta_instant"] += 1
            begin = c.at - 1
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
    if c.start is None or c.start >= c.at:
        return False
    if c.start == p.at:
        return p.start is not None and p.start != p.at
    return c.start > p.at


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
    """What the readings of one day show, each compared with those before it."""
    is_delta = mine[numbers[0]].temporality == "delta"
    grows = falls = unstated_falls = in_turns = 0
    for number in numbers:
        if number == 0:
            continue
        p, c = mine[number - 1], mine[number]
        falls += c.value < p.value
        grows += c.value > p.value
        unstated_falls += c.value < p.value and not _is_stated_restart(p, c)
        if is_delta:
            in_turns += c.start is not None and c.start < p.at
        else:
            in_turns += number > 1 and mine[number - 2].value <= c.value < p.value
    kinds = set()
    if is_delta and grows >= 8 and 16 * falls <= grows:
        kinds.add("delta_only_grows")
    if not is_delta and unstated_falls >= 12 and 4 * unstated_falls >= 3 * grows:
        kinds.add("falls_like_delta")
    if in_turns >= 8 and 3 * in_turns >= len(numbers):
        kinds.add("interleaved_observers")
    return kinds

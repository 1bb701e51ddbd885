"""What the exported samples can tell, by the rules and nothing else.

A counter that is known to have begun counts from 0; else its first reading is where that begins.
Between two readings it grew by their difference. A stated start behind the reading before, or a
value that fell by an eighth or more, is a restart: from there it counts from 0 again, and what it
counted behind the reading before is hidden. A smaller fall is a reading that came late.

Of two observers one counts in each UTC hour, the one with more readings, then the smaller name; an
interval that spans hours is shared out evenly, cut to whole bytes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.fleet.bursts.scrapes import Reading
from tests.fleet.bursts.world import HOUR


@dataclass(frozen=True)
class Growth:
    """What a counter grew by over a time.

    Attributes:
        start: From.
        end: To.
        size: Bytes.
        hides: Whether a restart hid bytes in it.
        ends_at_reading: Whether its end is a reading's time.
    """

    start: int
    end: int
    size: int
    hides: bool = False
    ends_at_reading: bool = True

    def until(self, moment: int) -> int:
        """Bytes by an instant, shared out evenly."""
        passed = min(max(moment, self.start), self.end) - self.start
        return self.size * passed // (self.end - self.start)


@dataclass(frozen=True)
class Part:
    """What of a growth counts: all of it, or its share of some hours."""

    start: int
    end: int
    growth: Growth

    @property
    def size(self) -> int:
        """Bytes."""
        return self.growth.until(self.end) - self.growth.until(self.start)


def growths(readings: Sequence[Reading], *, tells_start: bool) -> list[Growth]:
    """What one series grew by."""
    found: list[Growth] = []
    before: Reading | None = None
    top = 0
    for reading in readings:
        if before is None:
            if tells_start:
                found.append(Growth(reading.begun, reading.at, reading.value))
            top = reading.value
        elif tells_start and reading.begun > before.at:
            found.append(Growth(before.at, reading.begun, 0, hides=True, ends_at_reading=False))
            found.append(Growth(reading.begun, reading.at, reading.value))
            top = reading.value
        elif 8 * (top - reading.value) >= top and reading.value < top:
            found.append(Growth(before.at, reading.at, reading.value, hides=True))
            top = reading.value
        else:
            found.append(Growth(before.at, reading.at, max(reading.value - top, 0)))
            top = max(top, reading.value)
        before = reading
    return found


def chosen_parts(observers: dict[str, Iterable[Growth]]) -> list[Part]:
    """What counts of a pod's direction, of growths by observer."""
    told = {name: list(several) for name, several in observers.items()}
    counts: dict[str, Counter[int]] = {
        name: Counter((g.end - 1) // HOUR for g in several if g.ends_at_reading)
        for name, several in told.items()
    }
    cut = [
        (hour, name, Part(max(g.start, hour * HOUR), min(g.end, (hour + 1) * HOUR), g))
        for name, several in told.items()
        for g in several
        for hour in range(g.start // HOUR, (g.end - 1) // HOUR + 1)
    ]
    best: dict[int, str] = {}
    for hour, name, _ in sorted(cut, key=lambda c: (c[0], -counts[c[1]][c[0]], c[1])):
        best.setdefault(hour, name)
    return [part for hour, name, part in cut if best[hour] == name]

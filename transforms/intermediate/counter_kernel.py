"""The compiled part of the pass over readings of counters: one loop over each series.

`counter_pass` says what it finds; a series' readings stand together, by time.
"""

from transforms.compiled import compiled
from transforms.intermediate.counter_pass import (
    BASELINE_BYTES,
    BASELINES,
    CONFLICTS,
    DAY_US,
    DELTA_START,
    FALLS,
    FIRST,
    HIDDEN,
    INTERLEAVED,
    KNOWN_START,
    LARGEST,
    LAST,
    NONE,
    ONLY_GROWS,
    OVERLAPS,
    READINGS,
    RESET,
    RESET_KNOWN_START,
    SAMPLE,
    SMALL_DROPS,
    STALE,
    WRAPS,
    Flags,
    Growth,
    Longs,
    Series,
    Window,
)

_LEAST = 8
"""So many readings must contradict, before a series is held back for a day."""
_LEAST_FALLS = 12
_SHARE_OF_RISES = 16
_SHARE_OF_STEPS = 3
_WRAP = 2**32


@compiled
def grow_all(
    at: Longs,
    value: Longs,
    stated: Longs,
    series: Series,
    window: Window,
    growth: Growth,
    notes: Longs,
    held: Longs,
    queue: Longs,
    is_behind_mark: Flags,
    made: int,
) -> int:
    """Go through all series, and write down what `counter_pass.grow` makes rows of.

    Args:
        at: Time of each reading, by series and time; it and the next two are changed.
        value: What it shows, or `STALE`.
        stated: When the counter began, or `NONE`.
        series: The series.
        window: The built day.
        growth: Room for two increments a reading.
        notes: Notes of each series.
        held: Contradictions of each series and day, and how many readings show them.
        queue: Room for (time, value) of as many readings as a series has.
        is_behind_mark: Room for a flag of each reading.
        made: How many increments there are already.

    Returns:
        How many increments there are.
    """
    for number in range(series.offsets.size - 1):
        first, note, days = series.offsets[number], notes[number], held[number]
        end = series.offsets[number + 1]
        last = _collapse(at, value, stated, is_behind_mark, first, end, window, note)
        before = made
        if series.is_delta[number]:
            _judge_delta(at, value, stated, first, last, window, days)
            made += _delta(
                at, value, stated, is_behind_mark, first, last, window, growth, made, note
            )
        else:
            is_narrow = series.is_narrow[number]
            _judge(at, value, stated, first, last, is_narrow, window, days)
            wrap_link = series.link[number] if is_narrow else 0
            made += _cumulative(
                at, value, stated, is_behind_mark, first, last, wrap_link, series.expires[number],
                window, growth, made, note, queue,
            )  # fmt: skip
        growth.series[before:made] = number
    return made


@compiled
def _collapse(
    at: Longs,
    value: Longs,
    stated: Longs,
    is_behind_mark: Flags,
    first: int,
    end: int,
    window: Window,
    note: Longs,
) -> int:
    """Make one reading of those at one time, and none of marks; the end of what is left."""
    last = first
    is_conflict = False
    mark = NONE
    for i in range(first, end):
        start = stated[i] if stated[i] < at[i] else NONE
        if value[i] == STALE:
            # The first behind the reading before.
            if last > first and mark <= at[last - 1]:
                mark = at[i]
            continue
        if last > first and at[i] == at[last - 1]:
            k = last - 1
            if value[i] != value[k] and not is_conflict and window.start <= at[i] < window.end:
                note[CONFLICTS] += 1
            is_conflict = is_conflict or value[i] != value[k]
            value[k] = max(value[k], value[i])
            stated[k] = max(stated[k], start)
            continue
        # One that was read at the time of the mark was shown to somebody.
        is_behind_mark[last] = last > first and at[last - 1] < mark < at[i]
        at[last], value[last], stated[last] = at[i], value[i], start
        is_conflict = False
        last += 1
    for i in range(first, last):
        if window.start <= at[i] < window.end:
            if note[READINGS] == 0:
                note[FIRST] = at[i]
            note[READINGS] += 1
            note[LAST] = at[i]
    return last


@compiled
def _day(at: int, window: Window) -> int:
    return at // DAY_US - window.first_day


@compiled
def _restarts(before: int, stated_before: int, stated: int) -> bool:
    """Whether a reading states that the counter began anew behind the reading before, or at it.

    At it only where that one stated another start: else it is the first whose start is known.
    """
    return stated > before or (stated == before and stated_before != NONE)


@compiled
def _judge(
    at: Longs,
    value: Longs,
    stated: Longs,
    first: int,
    last: int,
    is_narrow: bool,
    window: Window,
    held: Longs,
) -> None:
    """Find the days on which a cumulative series cannot be one counter.

    Woven: a value falls behind the one before, but not behind the one before that, as two counters
    do that are read in turns.
    """
    steps = rises = falls = woven = 0
    for i in range(first + 1, last + 1):
        if i == last or _day(at[i], window) != _day(at[i - 1], window):
            day = _day(at[i - 1], window)
            if woven >= _LEAST and _SHARE_OF_STEPS * (woven + 1) >= steps:
                held[day, 0], held[day, 1] = INTERLEAVED, woven
            elif falls >= _LEAST_FALLS and 4 * falls >= 3 * rises and not is_narrow:
                held[day, 0], held[day, 1] = FALLS, falls
            steps = rises = falls = woven = 0
            continue
        steps += 1
        if value[i] > value[i - 1]:
            rises += 1
        elif value[i] < value[i - 1] and not _restarts(at[i - 1], stated[i - 1], stated[i]):
            falls += 1
            # There is a step before it on this day.
            if steps > 1 and value[i] >= value[i - 2]:
                woven += 1


@compiled
def _judge_delta(
    at: Longs, value: Longs, stated: Longs, first: int, last: int, window: Window, held: Longs
) -> None:
    """Find the days on which readings that are declared a delta count on, or overlap."""
    steps = rises = falls = overlaps = 0
    for i in range(first + 1, last + 1):
        if i == last or _day(at[i], window) != _day(at[i - 1], window):
            day = _day(at[i - 1], window)
            if rises >= _LEAST and falls * _SHARE_OF_RISES <= rises:
                held[day, 0], held[day, 1] = ONLY_GROWS, rises
            elif overlaps >= _LEAST and _SHARE_OF_STEPS * (overlaps + 1) >= steps:
                held[day, 0], held[day, 1] = INTERLEAVED, overlaps
            steps = rises = falls = overlaps = 0
            continue
        steps += 1
        rises += value[i] > value[i - 1]
        falls += value[i] < value[i - 1]
        overlaps += stated[i] != NONE and stated[i] < at[i - 1]


@compiled
def _usual_spacing(at: Longs, i: int, first: int, look_back: int) -> int:
    """Median of the three times between readings before the last; the larger of two; 0 if none."""
    a = at[i - 1] - at[i - 2] if i - 2 >= first and at[i] - at[i - 2] <= look_back else 0
    b = at[i - 2] - at[i - 3] if i - 3 >= first and at[i] - at[i - 3] <= look_back else 0
    c = at[i - 3] - at[i - 4] if i - 4 >= first and at[i] - at[i - 4] <= look_back else 0
    if c == 0:
        return max(a, b)
    return max(min(a, b), min(max(a, b), c))


@compiled
def _wraps(before: int, value: int, elapsed: int, link: int) -> bool:
    """Whether a counter of 32 bits that passed its end once is what the interface can carry."""
    if link == 0 or before >= _WRAP:
        return False
    bits = (value + _WRAP - before) * 8_000_000
    return (bits + elapsed - 1) // elapsed <= link


@compiled
def _cumulative(  # noqa: C901, PLR0912  one state machine, compiled as a whole
    at: Longs,
    value: Longs,
    stated: Longs,
    is_behind_mark: Flags,
    first: int,
    last: int,
    wrap_link: int,
    expires: int,
    window: Window,
    growth: Growth,
    begin: int,
    note: Longs,
    queue: Longs,
) -> int:
    """Write a cumulative series' increments from position `begin` on; how many they are."""
    made = begin
    # (time, value) of the readings of this segment that may yet be its largest within a look-back,
    # the largest first.
    head = tail = 0
    for i in range(first, last):
        t, v, st = at[i], value[i], stated[i]
        is_of_day = window.start <= t < window.end
        pt, begun, size, basis = t, t, v, KNOWN_START
        is_fresh, is_gap = True, False
        if i == first or t - at[i - 1] > window.look_back:
            if st != NONE and t - st <= window.look_back:
                pt = begun = st
            elif is_of_day:
                note[BASELINES] += 1
                note[BASELINE_BYTES] += min(v, LARGEST - note[BASELINE_BYTES])
        else:
            pt, pv, pst = at[i - 1], value[i - 1], stated[i - 1]
            usual = _usual_spacing(at, i, first, window.look_back)
            is_gap = is_behind_mark[i] or (usual > 0 and t - pt > 3 * usual)
            begun, basis = pt, RESET
            while queue[head, 0] < t - window.look_back:
                head += 1
            if _restarts(pt, pst, st):
                begun, basis = st, RESET_KNOWN_START
            elif expires > 0 and t - pt > expires:
                begun = max(pt, t - usual) if usual > 0 else pt
            elif v < pv and _wraps(pv, v, t - pt, wrap_link):
                # From the largest value: a dip before the turn was none.
                size, basis = max(v + _WRAP - queue[head, 1], 0), SAMPLE
                note[WRAPS] += is_of_day
            elif v >= pv or (st == pst and pv - v <= (pv - 1) // 8):
                is_fresh, basis = False, SAMPLE
                size = max(v - queue[head, 1], 0)
                if is_of_day:
                    note[SMALL_DROPS] += v < pv
                    note[OVERLAPS] += st not in (NONE, pst)
        if is_fresh:
            head = tail = 0
        while tail > head and queue[tail - 1, 1] <= v:
            tail -= 1
        queue[tail, 0], queue[tail, 1] = t, v
        tail += 1
        # Between a reading and a later start the counter may have counted more, unseen.
        if begun > pt:
            growth.from_us[made], growth.until_us[made] = pt, begun
            growth.bytes[made], growth.basis[made], growth.is_gap[made] = 0, HIDDEN, is_gap
            made += 1
        if begun < t:
            growth.from_us[made], growth.until_us[made] = begun, t
            growth.bytes[made], growth.basis[made], growth.is_gap[made] = size, basis, is_gap
            made += 1
    return made - begin


@compiled
def _delta(
    at: Longs,
    value: Longs,
    stated: Longs,
    is_behind_mark: Flags,
    first: int,
    last: int,
    window: Window,
    growth: Growth,
    begin: int,
    note: Longs,
) -> int:
    """Write the increments of a series of deltas from position `begin` on; how many they are."""
    made = begin
    for i in range(first, last):
        is_reached = i > first and at[i] - at[i - 1] <= window.look_back
        begun = stated[i] if stated[i] != NONE else at[i - 1] if is_reached else at[i] - 1
        if is_reached and window.start <= at[i] < window.end:
            note[OVERLAPS] += begun < at[i - 1]
        usual = _usual_spacing(at, i, first, window.look_back)
        is_placed = is_reached or stated[i] != NONE
        growth.from_us[made], growth.until_us[made] = begun, at[i]
        growth.bytes[made], growth.basis[made] = value[i], DELTA_START
        is_long = is_placed and usual > 0 and at[i] - begun > 3 * usual
        growth.is_gap[made] = is_long or (is_reached and stated[i] == NONE and is_behind_mark[i])
        made += 1
    return made - begin

"""Prometheus' `increase()`, as it is documented and as dashboards sum it.

Source: prometheus, promql/functions.go (`extrapolatedRate`). The samples of a range that is open at
its start give last minus first, plus the value before each fall. That is extrapolated to each edge
of the range if the edge is closer than 1.1 times the mean spacing of the samples, else by half a
spacing; at the start not further than to where the counter would have been 0. Fewer than two
samples give nothing. Starts are not looked at.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from tests.fleet.bursts.scrapes import Reading


def increase(samples: Sequence[Reading], start: int, end: int) -> float:
    """Growth over `(start, end]`."""
    first = bisect_right(samples, start, key=lambda s: s.at)
    inside = samples[first : bisect_right(samples, end, key=lambda s: s.at)]
    if len(inside) < 2:
        return 0.0
    grown = float(inside[-1].value - inside[0].value)
    grown += sum(a.value for a, b in pairwise(inside) if b.value < a.value)
    sampled = inside[-1].at - inside[0].at
    spacing = sampled / (len(inside) - 1)
    to_start, to_end = float(inside[0].at - start), float(end - inside[-1].at)
    if to_start >= 1.1 * spacing:
        to_start = spacing / 2
    if grown > 0:
        to_start = min(to_start, sampled * (inside[0].value / grown))
    if to_end >= 1.1 * spacing:
        to_end = spacing / 2
    return grown * (sampled + to_start + to_end) / sampled


def summed(samples: Sequence[Reading], window: int) -> float:
    """The sum over windows side by side that hold the samples."""
    if not samples:
        return 0.0
    # A sample at an edge is the last of the window that ends there.
    first, last = (samples[0].at - 1) // window, (samples[-1].at - 1) // window
    return sum(
        increase(samples, number * window, (number + 1) * window)
        for number in range(first, last + 1)
    )

"""What observers read: every 30 s, at a time of the node's own, with gaps.

Two replicas scrape each node whose counters cAdvisor exports, one collector reads the others. Each
misses single scrapes, and some for minutes. On one node of each kind the exporter started late, and
on every node it restarted once, which all observers miss.
"""

import random
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tests.fleet.bursts.world import (
    BARE,
    DIRECTIONS,
    HOUR,
    IDENTIFIED,
    MIDNIGHT,
    MILLISECOND,
    MINUTE,
    SECOND,
    STARTED,
    Pod,
)

INTERVAL = 30 * SECOND


@dataclass(frozen=True)
class Reading:
    """One reading.

    Attributes:
        at: When.
        begun: When the counter began, which an export may tell.
        value: What it showed.
    """

    at: int
    begun: int
    value: int


@dataclass(frozen=True)
class Series:
    """One counter as one observer read it.

    Attributes:
        pod: Whose.
        direction: Which.
        replica: Who read.
        sandbox: Number of the sandbox, where each has a series of its own.
        tells_start: Whether the export says when the counter began.
        readings: In order of time.
    """

    pod: Pod
    direction: str
    replica: str
    sandbox: int | None
    tells_start: bool
    readings: tuple[Reading, ...]

    @cached_property
    def quiet(self) -> tuple[Reading, ...]:
        """The readings, had the pod moved nothing in its first minute."""
        return tuple(
            Reading(r.at, r.begun, self.pod.moved(self.direction, r.begun, r.at, is_quiet=True))
            for r in self.readings
        )


def read_all(rng: random.Random, pods: Iterable[Pod]) -> list[Series]:
    """Everything that anyone read."""
    pods = list(pods)
    nodes = {pod.node.name: pod.node for pod in pods}
    found = []
    for name in sorted(nodes):
        node = nodes[name]
        opened = MIDNIGHT + (3 * HOUR if node.number % 2 else 0)
        # The exporter starts again.
        restarted = _outage(rng, 1, 4)
        for replica in ("collector",) if node.kind == STARTED else ("a", "b"):
            outages = [restarted, *(_outage(rng, 2, 15) for _ in range(14))]
            first = opened + rng.randrange(30_000) * MILLISECOND
            times = [
                at
                for at in range(first, MIDNIGHT + 24 * HOUR, INTERVAL)
                if rng.random() > 0.01 and not any(start <= at < end for start, end in outages)
            ]
            for pod in pods:
                if pod.node is node:
                    found += _series(pod, replica, times)
    return found


def _outage(rng: random.Random, least: int, most: int) -> tuple[int, int]:
    start = MIDNIGHT + rng.randrange(24 * 60) * MINUTE
    return start, start + rng.randrange(least, most) * MINUTE


def _series(pod: Pod, replica: str, times: list[int]) -> Iterable[Series]:
    for direction in DIRECTIONS:
        several = [
            tuple(
                Reading(at, start, pod.moved(direction, start, at))
                for at in times[bisect_left(times, start + 1) : bisect_left(times, end)]
            )
            for start, end in pod.sandboxes
        ]
        if pod.node.kind == IDENTIFIED:
            for number, readings in enumerate(several):
                yield Series(pod, direction, replica, number, True, readings)
        else:
            joined = tuple(reading for readings in several for reading in readings)
            yield Series(pod, direction, replica, None, pod.node.kind != BARE, joined)

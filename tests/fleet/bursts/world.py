"""Pods of one day on six nodes, and every byte that they moved. Nothing here knows an export.

Times are whole microseconds since 1970. A flow moves its bytes evenly, cut to whole bytes, so that
what moved between two instants is exact.
"""

import random
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

MILLISECOND = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
MIDNIGHT = int(datetime(2026, 3, 10, tzinfo=UTC).timestamp()) * SECOND
DATE = "2026-03-10"
DIRECTIONS = ("receive", "transmit")
MEGABYTE = 1_000_000

IDENTIFIED, BARE, STARTED = "identified", "bare", "started"
"""How a node's counters are exported: cAdvisor with cgroup paths and starts; cAdvisor without the
labels `id` and `name`, so that a new sandbox resets the counter in place; OTLP with starts."""


@dataclass(frozen=True)
class Flow:
    """Bytes that moved evenly over a time."""

    start: int
    end: int
    size: int

    def until(self, moment: int) -> int:
        """Bytes that had moved by an instant."""
        passed = min(max(moment, self.start), self.end) - self.start
        return self.size * passed // (self.end - self.start)


@dataclass(frozen=True)
class Node:
    """A node."""

    name: str
    number: int
    kind: str


@dataclass(frozen=True)
class Pod:
    """A pod.

    Attributes:
        sandboxes: (start, end) of each of its sandboxes; a counter counts from 0 in each.
        flows: Its bytes, by direction.
    """

    name: str
    uid: str
    node: Node
    created: int
    finished: int
    sandboxes: tuple[tuple[int, int], ...]
    flows: dict[str, list[Flow]]

    def moved(self, direction: str, start: int, end: int, *, is_quiet: bool = False) -> int:
        """Bytes between two instants; if quiet, without those of the pod's first minute."""
        flows = self.flows[direction]
        found = sum(flow.until(end) - flow.until(start) for flow in flows)
        if is_quiet and start < self.first_minute[1]:
            found -= self.moved(direction, start, min(end, self.first_minute[1]))
        return found

    @property
    def first_minute(self) -> tuple[int, int]:
        """The minute that begins with its first sandbox."""
        begun = self.sandboxes[0][0]
        return begun, begun + MINUTE

    def truth(self, direction: str) -> int:
        """All its bytes."""
        return self.moved(direction, self.created, self.finished)


def make_pods(rng: random.Random, count: int) -> list[Pod]:
    """Make pods; everything follows from the generator's state."""
    kinds = (IDENTIFIED, IDENTIFIED, BARE, BARE, STARTED, STARTED)
    nodes = [Node(f"node-{n + 1}", n + 1, kind) for n, kind in enumerate(kinds)]
    return [_pod(rng, nodes[number % len(nodes)], number) for number in range(count)]


def _pod(rng: random.Random, node: Node, number: int) -> Pod:
    low, high = rng.choices(((40, 120), (120, 600), (600, 2000), (3600, 9000)), (4, 12, 6, 1))[0]
    life = rng.randrange(low, high) * SECOND
    created = MIDNIGHT + rng.randrange(300, 19 * 3600) * SECOND
    finished = created + life
    begun = created + rng.randrange(500, 4000) * MILLISECOND
    sandboxes = [(begun, finished)]
    if life > 8 * MINUTE and rng.random() < 0.25:
        broken = begun + life * rng.randrange(20, 80) // 100 // SECOND * SECOND
        again = broken + rng.randrange(2000, 9000) * MILLISECOND
        sandboxes = [(begun, broken), (again, finished)]
    flows: dict[str, list[Flow]] = {direction: [] for direction in DIRECTIONS}
    dataset = rng.randrange(1_500, 40_000) * MEGABYTE + rng.randrange(MEGABYTE)
    for start, end in sandboxes:
        pulled = _pull(rng, flows, start, dataset)
        if end - start > 5 * MINUTE and rng.random() < 0.3:
            # A container that starts again pulls again; the sandbox and its counter stay.
            _pull(rng, flows, start + (end - start) // 2, dataset // 3)
        tail = dataset * rng.randrange(5, 40) // 100
        flows["receive"].append(Flow(pulled, end, tail))
        flows["transmit"].append(Flow(pulled, end, tail // 7))
    # A checkpoint goes out in the last seconds.
    upload = rng.randrange(50, 2_000) * MEGABYTE + rng.randrange(MEGABYTE)
    flows["transmit"].append(Flow(finished - rng.randrange(2, 8) * SECOND, finished, upload))
    uid = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    return Pod(f"train-{number}", uid, node, created, finished, tuple(sandboxes), flows)


def _pull(rng: random.Random, flows: dict[str, list[Flow]], start: int, size: int) -> int:
    """Pull a dataset within seconds; returns when it is there."""
    begun = start + rng.randrange(300, 2000) * MILLISECOND
    ended = begun + rng.randrange(2000, 12000) * MILLISECOND
    flows["receive"].append(Flow(begun, ended, size))
    flows["transmit"].append(Flow(begun, ended, size // 90))
    return ended

"""Byte counters of the labelled fleet's pods, as Prometheus text with times.

Labels name a pod by namespace and name only, so that a name that returns is the only way to take
one pod for another. Nodes with an even number are scraped, one after another.
"""

import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tests.fleet.labelled.files import write_lines
from tests.fleet.labelled.moments import MINUTE, SECOND, day_of
from tests.fleet.labelled.scenarios import Scenarios
from tests.fleet.labelled.world import END, NAMESPACE, START, Pod, World

EVERY = 2 * MINUTE
METRIC = "container_network_receive_bytes_total"


@dataclass(frozen=True)
class Reading:
    """One reading: whose counter, when, and where it stood."""

    pod: Pod
    at: int
    value: int


def make_readings(rng: random.Random, scenarios: Scenarios, world: World) -> list[Reading]:
    """Read the counters of all pods that have an address of their own."""
    if not scenarios.counters:
        return []
    readings = []
    pods: dict[str, list[Pod]] = defaultdict(list)
    for pod in world.pods:
        if not pod.host_network and pod.node.number % 2 == 0:
            pods[pod.node.name].append(pod)
    for node in sorted(pods):
        first = START + rng.randrange(EVERY // SECOND) * SECOND
        values: dict[str, int] = defaultdict(int)
        for moment in range(first, END, EVERY):
            for pod in pods[node]:
                if pod.holds(moment):
                    values[pod.uid] += rng.randrange(1, 10**8)
                    readings.append(Reading(pod, moment, values[pod.uid]))
    return readings


def write(folder: Path, readings: list[Reading]) -> None:
    """Write a file for each cluster and day."""
    lines: dict[tuple[str, str], list[str]] = defaultdict(list)
    for reading in readings:
        pod = reading.pod
        lines[pod.cluster.name, str(day_of(reading.at))].append(
            f'{METRIC}{{namespace="{NAMESPACE}",pod="{pod.name}",node="{pod.node.name}",'
            f'interface="eth0"}} {reading.value} {reading.at // 1_000}'
        )
    for (cluster, day), several in lines.items():
        path = folder / "exports" / cluster / "prometheus" / day / "network.prom"
        write_lines(path, [f"# TYPE {METRIC} counter", *several])

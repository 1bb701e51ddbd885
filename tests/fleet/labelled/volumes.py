"""Flow records of the labelled fleet's pods: what each sent to a peer over some seconds.

Records show the machine's address outside and the pod's inside of the packet. No two records have
the same peer address and port, so that each is known again where it was counted.
"""

import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tests.fleet.labelled.files import write_lines
from tests.fleet.labelled.moments import SECOND, day_of, to_whole_second
from tests.fleet.labelled.scenarios import Scenarios
from tests.fleet.labelled.storage import ACCOUNT
from tests.fleet.labelled.world import START, Pod, World

FIRST_PORT = 20_000
PORTS = 40_000
HEADER = (
    "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes "
    "start end action log-status pkt-srcaddr pkt-dstaddr flow-direction"
)


@dataclass(frozen=True)
class Record:
    """One record: whose bytes, from when to when in whole seconds, and to whom."""

    pod: Pod
    start: int
    end: int
    peer_address: str
    peer_port: int
    size: int


def make_records(
    rng: random.Random, scenarios: Scenarios, world: World, count: int
) -> list[Record]:
    """Let pods send bytes; one in three at the edges of the pod's life."""
    if not scenarios.volumes:
        return []
    pods = [pod for pod in world.pods if not pod.host_network and pod.workload != "features"]
    records = []
    for number, pod in enumerate(rng.choices(pods, k=count)):
        low, high = max(pod.started, START), pod.end - SECOND
        start = round(rng.uniform(low, max(low, high)))
        chance = rng.random()
        if chance < 1 / 6:
            start = low
        elif chance < 1 / 3:
            start = max(low, high - round(rng.uniform(0, 5) * SECOND))
        end = max(start, min(start + round(rng.uniform(0, 60) * SECOND), high))
        records.append(
            Record(
                pod=pod,
                start=to_whole_second(start),
                end=to_whole_second(end),
                peer_address=f"198.18.{number // PORTS}.1",
                peer_port=FIRST_PORT + number % PORTS,
                size=rng.randrange(1, 10**8),
            )
        )
    return records


def write(folder: Path, records: list[Record]) -> None:
    """Write a file for each cluster and day on which records end."""
    lines: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record in records:
        pod = record.pod
        interface = f"eni-{pod.cluster.number:08x}{pod.node.number:09x}"
        lines[pod.cluster.name, str(day_of(record.end))].append(
            f"5 {ACCOUNT} {interface} {pod.node.address} {record.peer_address} 50000 "
            f"{record.peer_port} 6 {1 + record.size // 1_400} {record.size} "
            f"{record.start // SECOND} {record.end // SECOND} ACCEPT OK {pod.address} "
            f"{record.peer_address} egress"
        )
    for (cluster, day), several in lines.items():
        path = folder / "exports" / cluster / "flow_logs" / day / "records.log"
        write_lines(path, [HEADER, *several])

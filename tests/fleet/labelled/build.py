"""Make one labelled fleet: exports, settings and truth."""

import random
from dataclasses import dataclass
from pathlib import Path

from tests.fleet.labelled import (
    counters,
    render_dns,
    render_hubble,
    render_kubernetes,
    storage,
    volumes,
)
from tests.fleet.labelled.evidence import Judge
from tests.fleet.labelled.scenarios import Scenarios
from tests.fleet.labelled.storage import make_requests
from tests.fleet.labelled.traffic import make_traffic
from tests.fleet.labelled.truth import Truth, make_truth
from tests.fleet.labelled.world import count_attempts, make_world

SETTINGS = """\
lake: lake
catalog: podledger.duckdb
memory_limit: 4GB
workers: 2
redaction_key_file: redaction.key
clusters:
  oak: {cloud: aws, region: us-east-1, account_id: "111122223333"}
  elm: {cloud: aws, region: eu-west-1, account_id: "111122223333"}
exports:
  - name: hubble
    format: hubble
    path: exports/{cluster}/hubble/%Y-%m-%d/{node}/*.log
    expect: {every: day}
  - name: collector
    format: dns_collector
    path: exports/{cluster}/dns_collector/%Y-%m-%d/{node}.log
  - {name: coredns, format: coredns, path: "exports/{cluster}/coredns/%Y-%m-%d/{node}.log"}
  - {name: watch, format: kubernetes, path: "exports/{cluster}/kubernetes/%Y-%m-%d/*.jsonl"}
  - {name: bucket-log, format: s3_access_log, path: "exports/s3/%Y-%m-%d-%H-*"}
  - {name: trail, format: cloudtrail, path: "exports/cloudtrail/%Y-%m-%d/*.json"}
  - {name: counters, format: prometheus, path: "exports/{cluster}/prometheus/%Y-%m-%d/*.prom"}
  - {name: volumes, format: aws_vpc_flow_log, path: "exports/{cluster}/flow_logs/%Y-%m-%d/*.log"}
  - {name: nodes, format: kubernetes, path: "exports/{cluster}/kubernetes/%Y-%m-%d/*-%H.json"}
reference: {nat_addresses: nat.csv}
"""


@dataclass(frozen=True)
class Fleet:
    """What was made.

    Attributes:
        settings: The settings file.
        truth: What is true.
        events: Flow events exported, copies left out.
    """

    settings: Path
    truth: Truth
    events: int


def make_fleet(
    folder: Path, seed: int, scenarios: Scenarios, events: int, nodes: int = 8, slots: int = 14
) -> Fleet:
    """Make a fleet's exports below a folder.

    Args:
        folder: Where; its truth stands beside it, in no folder of an export.
        seed: Everything follows from it and the other arguments.
        scenarios: What may go wrong.
        events: Flow events to export, about.
        nodes: Nodes of each of the two clusters.
        slots: Addresses per node that jobs use.
    """
    rng = random.Random(seed)
    world = make_world(rng, scenarios, nodes, slots)
    traffic = make_traffic(rng, scenarios, world, events)
    told = render_kubernetes.states(rng, scenarios, world)
    count_attempts(world.runs, set(told))
    requests = make_requests(rng, scenarios, world, events // 40)
    readings = counters.make_readings(rng, scenarios, world)
    records = volumes.make_records(rng, scenarios, world, events // 50)
    judge = Judge(world, told, traffic)
    truth = make_truth(world, traffic, requests, readings, records, judge, set(told))
    render_kubernetes.write(folder, world, told)
    render_dns.write(folder, rng, traffic)
    storage.write(folder, rng, requests)
    counters.write(folder, readings)
    volumes.write(folder, records)
    files = render_hubble.write(folder, rng, scenarios, world, traffic)
    (folder / "redaction.key").write_text("public-test-key-of-the-labelled-fleet\n")
    settings = folder / "podledger.yaml"
    settings.write_text(SETTINGS, encoding="utf-8")
    return Fleet(settings, truth, files.lines)

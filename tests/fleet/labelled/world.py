"""Nodes, pods and runs of the labelled fleet, with the true times of everything.

Addresses are slots: on each node a fixed number of addresses, each held by one pod after another.
So the truth of who held an address is a list, and reuse after seconds is the rule.
"""

import random
from dataclasses import dataclass, field
from uuid import UUID

from tests.fleet.labelled.moments import HOUR, MIDNIGHT, MINUTE, SECOND
from tests.fleet.labelled.scenarios import Scenarios

START = MIDNIGHT - 6 * HOUR
END = MIDNIGHT + 6 * HOUR
CLEANER = "polyaxon-cleaners"
PROJECTS = ("vision", "nlp", "speech")
NAMESPACE = "ml"
RESOLVERS = ("collector", "hubble", "node_cache", "silent")


@dataclass(frozen=True)
class Cluster:
    """One cluster and what its versions can tell.

    Attributes:
        name: Name.
        number: Second byte of its addresses.
        has_sandbox_condition: Kubernetes 1.29 or later: pods say when their sandbox was ready.
        is_new: Cilium 1.19: events have a UUID, lost events their interval.
        region: Cloud region.
    """

    name: str
    number: int
    has_sandbox_condition: bool
    is_new: bool
    region: str


OAK = Cluster("oak", 40, has_sandbox_condition=True, is_new=True, region="us-east-1")
ELM = Cluster("elm", 50, has_sandbox_condition=False, is_new=False, region="eu-west-1")


@dataclass(frozen=True)
class Node:
    """One machine.

    Attributes:
        cluster: Its cluster.
        number: Third byte of its addresses, from 1.
        skew: What its clock is ahead, microseconds.
        resolver: How look-ups of its pods are told.
        masks_names: Its exporter leaves pod names out.
        tells_uids: Its exporter states pod UIDs.
    """

    cluster: Cluster
    number: int
    skew: int
    resolver: str
    masks_names: bool
    tells_uids: bool

    @property
    def name(self) -> str:
        """Node name."""
        return f"{self.cluster.name}-node-{self.number}"

    @property
    def address(self) -> str:
        """The node's own address."""
        return f"10.{self.cluster.number}.{self.number}.1"

    @property
    def router(self) -> str:
        """The address with which a proxy's upstream leg leaves."""
        return f"10.{self.cluster.number}.{self.number}.2"


@dataclass
class Run:
    """One Polyaxon run; `attempt` of its pods counts per replica."""

    uuid: str
    name: str
    cluster: Cluster
    project: str
    kind: str
    pods: list["Pod"] = field(default_factory=list)


@dataclass(frozen=True)
class Container:
    """One container and when it ran, truly; `end` is none within what is simulated.

    `role` is `init`, `main`, `sidecar` or `ephemeral`.
    """

    name: str
    role: str
    start: int
    end: int | None


@dataclass
class Pod:
    """One pod.

    Attributes:
        cluster: Its cluster.
        node: Its node.
        uid: UID, dashed.
        name: Name; may return with another UID.
        addresses: Addresses; the node's for host-network pods.
        host_network: Shares the node's network.
        created: Written to the API.
        ready: Its sandbox had its addresses.
        started: Its container started.
        finished: Its container ended; none within what is simulated.
        torn_down: Its sandbox and addresses were given back.
        deleted: It went from the API.
        run: Its run, the true one: none for cleaners.
        labelled_run: The run that its labels name.
        named_by: How its objects name the run.
        replica: Index of the replica, for distributed runs.
        attempt: Attempt among the pods of the run that any export names.
        is_exported: Whether any export of Kubernetes tells of it.
        identity: Security identity of its workload.
        workload: Name of its workload.
        others: Its containers beside `main`.
    """

    cluster: Cluster
    node: Node
    uid: str
    name: str
    addresses: tuple[str, ...]
    host_network: bool
    created: int
    ready: int
    started: int
    finished: int | None
    torn_down: int | None
    deleted: int | None
    run: Run | None = None
    labelled_run: Run | None = None
    named_by: str = "label"
    replica: int | None = None
    attempt: int | None = None
    is_exported: bool = True
    identity: int = 0
    workload: str = ""
    others: tuple[Container, ...] = ()

    @property
    def address(self) -> str:
        """Its first address."""
        return self.addresses[0]

    @property
    def end(self) -> int:
        """End of its container, or of what is simulated."""
        return END if self.finished is None else self.finished

    @property
    def containers(self) -> tuple[Container, ...]:
        """All its containers."""
        return (Container("main", "main", self.started, self.finished), *self.others)

    def running(self, moment: int) -> list[Container]:
        """Its containers that truly ran."""
        return [
            c for c in self.containers
            if c.start <= moment and (c.end is None or moment < c.end)
        ]  # fmt: skip

    def holds(self, moment: int) -> bool:
        """Whether it had its addresses, truly."""
        return self.ready <= moment and (self.torn_down is None or moment < self.torn_down)


@dataclass
class World:
    """All that exists."""

    nodes: list[Node]
    pods: list[Pod]
    runs: list[Run]
    servers: dict[str, list[Pod]]


def make_world(rng: random.Random, scenarios: Scenarios, nodes: int, slots: int) -> World:
    """Make nodes, pods and runs.

    Args:
        rng: Source of all chance.
        scenarios: What may go wrong.
        nodes: Nodes per cluster.
        slots: Addresses per node that jobs use.
    """
    machines = [
        _node(rng, scenarios, cluster, number)
        for cluster in (OAK, ELM)
        for number in range(1, nodes + 1)
    ]
    pods: list[Pod] = []
    servers: dict[str, list[Pod]] = {OAK.name: [], ELM.name: []}
    for node in machines:
        if scenarios.host_network:
            pods.append(_daemon(rng, node))
        server = _server(rng, scenarios, node)
        servers[node.cluster.name].append(server)
        pods.append(server)
        for slot in range(slots):
            pods += _lives(rng, scenarios, node, slot)
    jobs = [pod for pod in pods if not pod.workload]
    runs = _give_runs(rng, scenarios, sorted(jobs, key=lambda pod: (pod.created, pod.uid)))
    if scenarios.containers:
        for pod in jobs:
            pod.others = _other_containers(rng, pod)
    if scenarios.missing_pods:
        share = rng.uniform(0.01, 0.05)
        for pod in jobs:
            pod.is_exported = rng.random() >= share
    return World(machines, pods, runs, servers)


def _node(rng: random.Random, scenarios: Scenarios, cluster: Cluster, number: int) -> Node:
    resolvers = ["collector", "hubble"]
    resolvers += ["node_cache"] if scenarios.node_cache else []
    resolvers += ["silent"] if scenarios.silent_resolver else []
    return Node(
        cluster=cluster,
        number=number,
        skew=round(rng.uniform(-1, 1) * SECOND) if scenarios.clock_skew else 0,
        resolver=resolvers[number % len(resolvers)],
        masks_names=scenarios.nameless_events and number % 4 == 3,
        tells_uids=scenarios.uid_column and number % 4 == 1,
    )


def uid(rng: random.Random) -> str:
    """A random UUID."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def _addresses(scenarios: Scenarios, node: Node, last: int) -> tuple[str, ...]:
    first = f"10.{node.cluster.number}.{node.number}.{last}"
    if scenarios.ipv6 and node.cluster == ELM:
        return (first, f"2001:db8:{node.cluster.number:x}:{node.number:x}::{last:x}")
    return (first,)


def _daemon(rng: random.Random, node: Node) -> Pod:
    return Pod(
        cluster=node.cluster, node=node, uid=uid(rng), name=f"node-agent-{node.number}x7",
        addresses=(node.address,), host_network=True, created=START - HOUR,
        ready=START - HOUR + 2 * SECOND, started=START - HOUR + 3 * SECOND, finished=None,
        torn_down=None, deleted=None, identity=1, workload="node-agent",
    )  # fmt: skip


def _server(rng: random.Random, scenarios: Scenarios, node: Node) -> Pod:
    """A pod behind the cluster's service; one on each node, for all the time."""
    return Pod(
        cluster=node.cluster, node=node, uid=uid(rng), name=f"features-{node.number}",
        addresses=_addresses(scenarios, node, 10), host_network=False, created=START - HOUR,
        ready=START - HOUR + 2 * SECOND, started=START - HOUR + 3 * SECOND, finished=None,
        torn_down=None, deleted=None, identity=20_001, workload="features",
    )  # fmt: skip


def _lives(rng: random.Random, scenarios: Scenarios, node: Node, slot: int) -> list[Pod]:
    """The pods that held one address, one after another."""
    pods: list[Pod] = []
    addresses = _addresses(scenarios, node, 20 + slot)
    ready = START + round(rng.uniform(0, 10 * MINUTE))
    last = END if scenarios.midnight else MIDNIGHT - MINUTE
    while ready < last - MINUTE:
        pod = _pod(rng, scenarios, node, addresses, ready)
        if pod.torn_down is None or pod.torn_down > last:
            # What would end behind the end of the simulation lives on.
            if scenarios.midnight:
                pod.finished = pod.torn_down = pod.deleted = None
                pods.append(pod)
            break
        pods.append(pod)
        soon = scenarios.address_reuse and rng.random() < 0.7
        gap = rng.uniform(0, 90 * SECOND) if soon else rng.uniform(2 * MINUTE, 20 * MINUTE)
        ready = pod.torn_down + round(gap)
    return pods


def _pod(
    rng: random.Random, scenarios: Scenarios, node: Node, addresses: tuple[str, ...], ready: int
) -> Pod:
    """One job pod that has its addresses from `ready` on."""

    def span(low: float, high: float) -> int:
        return round(rng.uniform(low, high) * SECOND)

    start_time = ready - span(0.5, 3)
    started = ready + (span(5, 60) if rng.random() < 0.2 else span(0.3, 3))
    kind = rng.random()
    life = span(20, 300) if kind < 0.5 else span(300, 3_600) if kind < 0.85 else span(3_600, 21_600)
    finished = started + life
    torn_down = finished + span(0.3, 3)
    stays = scenarios.completed_pods and rng.random() < 0.6
    return Pod(
        cluster=node.cluster,
        node=node,
        uid=uid(rng),
        name="",
        addresses=addresses,
        host_network=False,
        created=start_time - span(0.5, 5),
        ready=ready,
        started=started,
        finished=finished,
        torn_down=torn_down,
        deleted=torn_down + (span(30, 7_200) if stays else span(0.5, 10)),
        identity=rng.randrange(30_000, 60_000),
    )


def _other_containers(rng: random.Random, pod: Pod) -> tuple[Container, ...]:
    """Containers that run before the main one, beside it and into it."""
    found = []
    if rng.random() < 0.35:
        wait = pod.started - pod.ready
        found.append(Container("fetch", "init", pod.ready + wait // 10, pod.started - wait // 10))
    if rng.random() < 0.3:
        found.append(Container("polyaxon-sidecar", "sidecar", pod.started + 50_000, pod.finished))
    if rng.random() < 0.05:
        start = pod.started + round(rng.uniform(0.2, 0.8) * (pod.end - pod.started))
        found.append(Container("debugger", "ephemeral", start, pod.finished))
    return tuple(found)


def start_time(pod: Pod) -> int:
    """When the kubelet saw the pod: a known share of the way from creation to its addresses."""
    return pod.created + (pod.ready - pod.created) // 2


def _give_runs(rng: random.Random, scenarios: Scenarios, jobs: list[Pod]) -> list[Run]:
    """Make the jobs' pods replicas, retries and resumed parts of runs, or pods of none."""
    runs: list[Run] = []
    waiting: dict[str, list[tuple[Run, int]]] = {OAK.name: [], ELM.name: []}
    over: dict[str, list[Pod]] = {OAK.name: [], ELM.name: []}
    taken: set[str] = set()
    for pod in jobs:
        place = pod.cluster.name
        gone = [
            other for other in over[place]
            if other.deleted is not None and other.deleted < pod.created - 5 * SECOND
            and other.uid not in taken
        ]  # fmt: skip
        chance = rng.random()
        if waiting[place]:
            run, replica = waiting[place].pop(0)
            _join(rng, pod, run, replica)
        elif scenarios.returning_names and gone and chance < 0.15:
            before = gone[rng.randrange(len(gone))]
            taken.add(before.uid)
            assert before.run is not None
            _join(rng, pod, before.run, before.replica)
            pod.name, pod.named_by = before.name, before.named_by
        elif scenarios.resumed_runs and gone and chance < 0.2:
            before = gone[rng.randrange(len(gone))]
            assert before.run is not None
            if before.replica is None and _is_over(before.run, pod.created):
                taken.add(before.uid)
                _join(rng, pod, before.run, None)
            else:
                _stand_alone(rng, pod)
        elif scenarios.cleaner_pods and runs and chance < 0.25:
            _clean(rng, pod, runs)
        elif chance < 0.4:
            _stand_alone(rng, pod)
        else:
            run = _run(rng, pod)
            runs.append(run)
            if scenarios.distributed_runs and rng.random() < 0.25:
                run.kind = "pytorchjob"
                waiting[place] = [(run, index) for index in range(1, rng.randrange(2, 5))]
                _join(rng, pod, run, 0)
            else:
                _join(rng, pod, run, None)
        if pod.run is not None:
            over[place].append(pod)
    return runs


def _is_over(run: Run, moment: int) -> bool:
    return all(pod.deleted is not None and pod.deleted < moment for pod in run.pods)


def _run(rng: random.Random, pod: Pod) -> Run:
    uuid = f"{rng.getrandbits(128):032x}"
    return Run(uuid, f"job-{uuid[:6]}", pod.cluster, PROJECTS[rng.randrange(3)], "job")


def _join(rng: random.Random, pod: Pod, run: Run, replica: int | None) -> None:
    pod.run = pod.labelled_run = run
    pod.replica = replica
    pod.named_by = rng.choice(("label", "label", "label", "instance_label", "environment", "name"))
    if replica is None:
        pod.name = f"plx-operation-{run.uuid}-{rng.getrandbits(20):05x}"
    else:
        pod.name = f"plx-operation-{run.uuid}-worker-{replica}"
    pod.workload = f"plx-operation-{run.uuid}"
    run.pods.append(pod)


def _clean(rng: random.Random, pod: Pod, runs: list[Run]) -> None:
    own = [run for run in runs[-40:] if run.cluster == pod.cluster]
    if not own:
        _stand_alone(rng, pod)
        return
    pod.labelled_run = own[rng.randrange(len(own))]
    pod.name = f"plx-cleaner-{pod.labelled_run.uuid}-{rng.getrandbits(20):05x}"
    pod.workload = f"plx-cleaner-{pod.labelled_run.uuid}"


def _stand_alone(rng: random.Random, pod: Pod) -> None:
    pod.workload = f"batch-{rng.getrandbits(16):04x}"
    pod.name = f"{pod.workload}-{rng.getrandbits(20):05x}"


def count_attempts(runs: list[Run], told: set[str]) -> None:
    """Count the attempts of a run's pods that are told of.

    Pods of one replica count by creation, from 1; without replicas, pods whose lives overlap share
    an attempt.
    """
    for run in runs:
        for replica in {pod.replica for pod in run.pods}:
            attempt, until = 0, -1
            same = [pod for pod in run.pods if pod.replica == replica and pod.uid in told]
            for pod in sorted(same, key=lambda pod: (pod.created, pod.uid)):
                if replica is not None or pod.created >= until:
                    attempt += 1
                pod.attempt = attempt
                until = max(until, END if pod.deleted is None else pod.deleted)

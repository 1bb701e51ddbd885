"""What the pods of the labelled fleet do: connections, look-ups, and what of it was lost."""

import itertools
import random
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

from tests.fleet.labelled.hosts import API_SERVER, Host, Hosts, life_of, make_hosts
from tests.fleet.labelled.moments import HOUR, MINUTE, SECOND
from tests.fleet.labelled.scenarios import Scenarios
from tests.fleet.labelled.world import END, OAK, START, Node, Pod, World

MAX_EVENTS = 60
FIRST_PORT = 32_768


@dataclass(slots=True)
class Lookup:
    """One answer; `answered` is true time.

    Attributes:
        pod: Who asked.
        host: What for.
        address: What was answered and used.
        addresses: All that was answered.
        answered: When.
        port: Client port.
        is_exported: Whether an export holds it with an answer.
    """

    pod: Pod
    host: Host
    address: str
    addresses: tuple[str, ...]
    answered: int
    port: int


@dataclass(slots=True)
class Event:
    """One told packet: true time, what it is, and which node told it."""

    time: int
    code: str
    node: Node
    nameless: bool = False


@dataclass(slots=True)
class Connection:
    """One connection.

    Attributes:
        kind: `external` `service` `replica` `api` `refused` `pull` `daemon` `proxied`.
        node: Node of the client.
        client: Pod that began; none for a node.
        client_address: Its address as it shows.
        client_port: Its port.
        server: Pod that answers; none outside of the cluster.
        server_address: Address that answers.
        server_port: Its port.
        start: True start.
        end: True end.
        lookup: Answer that the client used; none where it asked no name.
        events: Told packets, lost ones taken out later.
        wrong_uid: What nodes that tell UIDs say of the client, where that is wrong.
        container: Container of the client that began; none for a node.
    """

    kind: str
    node: Node
    client: Pod | None
    client_address: str
    client_port: int
    server: Pod | None
    server_address: str
    server_port: int
    start: int
    end: int
    lookup: Lookup | None
    events: list[Event] = field(default_factory=list)
    wrong_uid: str | None = None
    container: str | None = None


@dataclass(frozen=True)
class Gap:
    """An interval, on a node's own clock, of which its export tells little or nothing.

    Attributes:
        node: The node.
        kind: `missing`, `rotated` or `lost`; `aggregated` where flows are counted only, `masked`
            where they are told without a time.
        start: Its start.
        end: Its end.
        lost: Events of connections that did not come as such.
    """

    node: Node
    kind: str
    start: int
    end: int
    lost: int = 0


GONE = ("missing", "rotated", "aggregated", "masked")
"""Kinds of gaps in which nothing is told of its own, and at its time."""


@dataclass
class Traffic:
    """All that happened; `hidden` are the events of connections that aggregation or a mask took."""

    connections: list[Connection]
    lookups: list[Lookup]
    probes: list[tuple[int, Node]]
    gaps: list[Gap]
    hosts: Hosts
    hidden: list[tuple[str, Connection, Event]] = field(default_factory=list)


class _Life:
    """Makes the traffic of one seed."""

    def __init__(self, rng: random.Random, scenarios: Scenarios, world: World) -> None:
        self.rng = rng
        self.scenarios = scenarios
        self.world = world
        self.hosts = make_hosts(rng)
        self.ports: dict[str, int] = defaultdict(lambda: FIRST_PORT)
        self.connections: list[Connection] = []
        self.lookups: list[Lookup] = []
        self.asked: dict[tuple[str, str], Lookup] = {}
        self.told = 0
        # A few favourites per pod, so that answers are used again.
        self.favourites: dict[str, list[Host]] = {}

    # -- choices ---------------------------------------------------------------------------------

    def port(self, address: str) -> int:
        """A port that this address never used."""
        self.ports[address] += 1
        return self.ports[address]

    def moment(self, pod: Pod) -> int:
        """When a pod does something: often at the edges of its life."""
        low, high = max(pod.started, START), pod.end - SECOND // 5
        if high <= low:
            return low
        for container in pod.others:
            if container.role == "init" and self.rng.random() < 0.1:
                assert container.end is not None
                begun = max(container.start, START)
                return max(begun, round(self.rng.uniform(begun, container.end - SECOND // 20)))
        chance = self.rng.random()
        if chance < 0.15:
            return min(high, low + round(self.rng.uniform(0, 5 * SECOND)))
        if chance < 0.25:
            return max(low, high - round(self.rng.uniform(0, 3 * SECOND)))
        return round(self.rng.uniform(low, high))

    def duration(self) -> int:
        """How long a connection lives."""
        chance = self.rng.random()
        if chance < 0.6:
            return round(self.rng.uniform(0.05, 5) * SECOND)
        if chance < 0.9 or not self.scenarios.long_connections:
            return round(self.rng.uniform(5, 120) * SECOND)
        return round(self.rng.uniform(2, 90) * MINUTE)

    # -- look-ups --------------------------------------------------------------------------------

    def address_of(self, pod: Pod, host: Host, moment: int, *, is_v6: bool) -> Lookup:
        """The answer with which a pod connects now: a fresh one, or one that it kept."""
        known = self.asked.get((pod.uid, host.name))
        if known is not None and known.answered <= moment:
            age = moment - known.answered
            life = life_of(host.ttl)
            # Neither in the last moments of an answer's life nor in the first behind it.
            keeps = 0.5 if age < life - 5 * SECOND else 0.0
            if self.scenarios.stale_answers and age > life + 10 * SECOND:
                keeps = 0.1
            if (":" in known.address) == is_v6 and self.rng.random() < keeps:
                return known
        answers = host.addresses6 if is_v6 else host.addresses
        found = Lookup(
            pod=pod,
            host=host,
            address=answers[self.rng.randrange(len(answers))],
            addresses=answers,
            answered=moment - round(self.rng.uniform(0.005, 0.3) * SECOND),
            port=self.rng.randrange(20_000, 32_000),
        )
        self.lookups.append(found)
        self.asked[pod.uid, host.name] = found
        return found

    # -- connections -----------------------------------------------------------------------------

    def add(self, connection: Connection) -> None:
        """Tell a connection's packets and keep it; nothing happens behind the end."""
        client = connection.client
        if client is not None:
            # Where one container runs, nothing is drawn.
            several = client.running(connection.start)
            index = self.rng.randrange(len(several)) if len(several) > 1 else 0
            connection.container = several[index].name if several else None
        last = max(connection.start + SECOND // 100, END - 5 * SECOND)
        connection.end = min(connection.end, last)
        _tell(self.rng, self.scenarios, connection)
        self.told += len(connection.events)
        self.connections.append(connection)

    def act(self, pod: Pod) -> None:
        """Let a pod do one thing."""
        s = self.scenarios
        chance = self.rng.random()
        moment = self.moment(pod)
        if s.services and chance < 0.18:
            servers = self.world.servers[pod.cluster.name]
            self.to_pod(pod, servers[self.rng.randrange(len(servers))], 8080, "service", moment)
        elif chance < 0.28 and pod.run is not None and pod.replica is not None:
            peers = [p for p in pod.run.pods if p is not pod and p.started < moment < p.end]
            if peers:
                peer = peers[self.rng.randrange(len(peers))]
                self.to_pod(pod, peer, 29_500, "replica", moment)
        elif chance < 0.32:
            self.outside(pod, None, "api", moment)
        elif s.refused and chance < 0.35:
            self.outside(pod, self.host(pod), "refused", moment)
        elif s.proxied_flows and chance < 0.37:
            self.outside(pod, self.host(pod), "proxied", moment)
        else:
            self.outside(pod, self.host(pod), "external", moment)

    def host(self, pod: Pod) -> Host:
        """A host that a pod talks to."""
        known = self.favourites.get(pod.uid)
        if known is None:
            known = [self.hosts.own[self.rng.randrange(len(self.hosts.own))] for _ in range(4)]
            if self.scenarios.shared_addresses:
                known.append(self.hosts.shared[self.rng.randrange(len(self.hosts.shared))])
                if self.rng.random() < 0.3:
                    # A second name on the same address, asked by the same pod.
                    twins = [
                        host for host in self.hosts.shared
                        if host.addresses == known[4].addresses and host != known[4]
                    ]  # fmt: skip
                    known.append(twins[self.rng.randrange(len(twins))])
            self.favourites[pod.uid] = known
        return known[self.rng.randrange(len(known))]

    def to_pod(self, pod: Pod, server: Pod, port: int, kind: str, moment: int) -> None:
        """A connection inside of the cluster."""
        end = min(moment + self.duration(), pod.end + SECOND // 10, server.end)
        self.add(
            Connection(
                kind, pod.node, pod, pod.address, self.port(pod.address), server, server.address,
                port, moment, max(end, moment + SECOND // 100), None,
            )
        )  # fmt: skip

    def outside(self, pod: Pod, host: Host | None, kind: str, moment: int) -> None:
        """A connection that leaves the cluster."""
        lookup = None
        client = pod.address
        if host is None:
            server, port = API_SERVER.format(pod.cluster.number), 6443
        else:
            is_v6 = len(pod.addresses) > 1 and bool(host.addresses6) and self.rng.random() < 0.3
            lookup = self.address_of(pod, host, moment, is_v6=is_v6)
            server, port = lookup.address, 443
            client = pod.addresses[1] if is_v6 else pod.address
        if kind == "proxied":
            client = pod.node.router
        end = min(moment + self.duration(), pod.end + SECOND // 10)
        self.add(
            Connection(
                kind, pod.node, pod, client, self.port(client), None, server, port, moment,
                max(end, moment + SECOND // 100), lookup,
            )
        )  # fmt: skip

    # -- others ----------------------------------------------------------------------------------

    def neighbours(self) -> None:
        """Pods of the same node ask other names of a shared address, without connecting."""
        pods = defaultdict(list)
        for pod in self.world.pods:
            if not pod.host_network:
                pods[pod.node.name].append(pod)
        for pod in [p for several in pods.values() for p in several if self.rng.random() < 0.2]:
            host = self.hosts.shared[self.rng.randrange(len(self.hosts.shared))]
            self.address_of(pod, host, self.moment(pod), is_v6=False)

    def nodes(self) -> None:
        """What nodes and their host-network pods do."""
        for node in self.world.nodes:
            daemon = next((p for p in self.world.pods if p.node == node and p.host_network), None)
            for _ in range(10):
                moment = START + round(self.rng.random() * (END - START - MINUTE))
                if self.scenarios.kubelet_pulls:
                    self.add(
                        Connection(
                            "pull", node, None, node.address, self.port(node.address), None,
                            self.hosts.registry.addresses[0], 443, moment,
                            moment + self.duration(), None,
                        )
                    )  # fmt: skip
                if daemon is not None:
                    self.add(
                        Connection(
                            "daemon", node, daemon, node.address, self.port(node.address), None,
                            API_SERVER.format(node.cluster.number), 6443, moment,
                            moment + self.duration(), None,
                        )
                    )  # fmt: skip

    def successors(self) -> None:
        """Successors on an address that dial the same peer from the same port."""
        by_client = defaultdict(list)
        for connection in self.connections:
            if connection.kind == "external" and connection.client is not None:
                by_client[connection.client.uid].append(connection)
        by_address = defaultdict(list)
        for pod in self.world.pods:
            if not pod.host_network:
                by_address[pod.address].append(pod)
        for pods in by_address.values():
            ordered = sorted(pods, key=lambda pod: pod.ready)
            for before, pod in itertools.pairwise(ordered):
                of_before = by_client.get(before.uid)
                if not of_before or self.rng.random() >= 0.1:
                    continue
                model = of_before[self.rng.randrange(len(of_before))]
                assert model.lookup is not None
                moment = self.moment(pod)
                lookup = Lookup(
                    pod, model.lookup.host, model.lookup.address, model.lookup.addresses,
                    moment - SECOND // 20, self.rng.randrange(20_000, 32_000),
                )  # fmt: skip
                self.lookups.append(lookup)
                self.add(
                    Connection(
                        "external", pod.node, pod, model.client_address, model.client_port, None,
                        model.server_address, model.server_port, moment,
                        max(min(moment + self.duration(), pod.end), moment + SECOND // 100), lookup,
                    )
                )  # fmt: skip


def make_traffic(rng: random.Random, scenarios: Scenarios, world: World, events: int) -> Traffic:
    """Let the pods live until they were told of by so many events."""
    life = _Life(rng, scenarios, world)
    life.nodes()
    pods = [pod for pod in world.pods if not pod.host_network and pod.workload != "features"]
    weights = [3 + min(120, (pod.end - pod.started) // MINUTE) for pod in pods]
    probes = [
        (moment, node)
        for node in world.nodes
        for moment in range(START, END, 40 * SECOND)
    ]  # fmt: skip
    wanted = events - len(probes)
    while life.told < wanted * 0.98:
        for pod in rng.choices(pods, weights, k=max(1, (wanted - life.told) // 40)):
            life.act(pod)
    if scenarios.reused_ports:
        life.successors()
    if scenarios.neighbour_names and scenarios.shared_addresses:
        life.neighbours()
    if scenarios.wrong_uids:
        _misstate_uids(rng, world, life.connections)
    gaps = _gaps(rng, scenarios, world)
    counted, hidden = _lose(rng, life.connections, gaps)
    return Traffic(life.connections, life.lookups, probes, counted, life.hosts, hidden)


# -- what of a connection is told ----------------------------------------------------------------


def _tell(rng: random.Random, scenarios: Scenarios, connection: Connection) -> None:
    """Fill in the events of a connection; see render_hubble for the codes."""
    start, end = connection.start, connection.end
    events = connection.events
    client_node = connection.node
    server = connection.server
    if connection.kind == "refused":
        for seconds in (0, 1, 3):
            if start + seconds * SECOND <= connection.end + 3 * SECOND:
                events.append(Event(start + seconds * SECOND, "drop", client_node))
        _forget_names(rng, scenarios, events)
        return
    is_local = server is not None and server.node == client_node
    client = "" if is_local else "c_"
    trip = round(rng.uniform(0.2, 20) * 1_000)
    packets = [(start, "syn"), (start + trip, "syn_ack"), (start + trip + 300, "ack")]
    times = range(start + trip + 1_000, end, 5 * SECOND)
    if not scenarios.aggregation:
        times = range(start + trip + 1_000, end, SECOND)
    for moment in times[: MAX_EVENTS // 2]:
        packets += [(moment, "data"), (moment + trip, "reply")]
    packets += [(end, "fin"), (end + trip // 2, "reply_fin")]
    for moment, code in packets:
        if client:
            events.append(Event(moment, client + code, client_node))
        if server is not None and (is_local or scenarios.both_vantages):
            # At the server's node only what enters it or leaves it is told.
            events.append(Event(moment + trip // 4, "s_" + code, server.node))
    _forget_names(rng, scenarios, events)


def _forget_names(rng: random.Random, scenarios: Scenarios, events: list[Event]) -> None:
    """An agent that has just begun knows no names: all events of few connections are nameless."""
    if scenarios.nameless_events and rng.random() < 0.03:
        for event in events:
            event.nameless = True


def _misstate_uids(rng: random.Random, world: World, connections: list[Connection]) -> None:
    """Let a few connections carry the UID of the pod that had the address before."""
    before: dict[str, str] = {}
    newest: dict[str, str] = {}
    for pod in sorted(world.pods, key=lambda pod: pod.ready):
        if pod.address in newest:
            before[pod.uid] = newest[pod.address]
        newest[pod.address] = pod.uid
    for connection in connections:
        client = connection.client
        if client is not None and client.uid in before and rng.random() < 0.01:
            connection.wrong_uid = before[client.uid]


# -- gaps ----------------------------------------------------------------------------------------


def _gaps(rng: random.Random, scenarios: Scenarios, world: World) -> list[Gap]:
    gaps = []
    for number, node in enumerate(world.nodes):
        if scenarios.missing_nodes and number % 8 == 6:
            gaps.append(Gap(node, "missing", END - 6 * HOUR, END + HOUR))
        if scenarios.rotation_gaps and number % 4 == 1:
            start = START + round(rng.uniform(1, 4) * HOUR)
            gaps.append(Gap(node, "rotated", start, start + round(rng.uniform(3, 15) * MINUTE)))
        # Exporters count flows since Cilium 1.19, and mask fields since 1.15.
        if scenarios.aggregated_exports and number % 8 == 2 and is_of_new_agent(node):
            gaps.append(Gap(node, "aggregated", START + 7 * HOUR, START + 10 * HOUR))
        if scenarios.masked_exports and number % 8 == 0 and is_of_new_agent(node):
            gaps.append(Gap(node, "masked", START + 2 * HOUR, START + 5 * HOUR))
        if scenarios.lost_events:
            for _ in range(3):
                start = START + round(rng.uniform(0.2, 11.5) * HOUR)
                end = start + round(rng.uniform(20, 60) * SECOND)
                if all(end < g.start or start > g.end for g in gaps if g.node == node):
                    gaps.append(Gap(node, "lost", start, end))
    return gaps


def _lose(
    rng: random.Random, connections: list[Connection], gaps: list[Gap]
) -> tuple[list[Gap], list[tuple[str, Connection, Event]]]:
    """Take away what the gaps swallow, count it, and keep what is told in another way."""
    by_node: dict[str, list[Gap]] = defaultdict(list)
    for gap in sorted(gaps, key=lambda gap: gap.start):
        by_node[gap.node.name].append(gap)
    starts = {name: [gap.start for gap in several] for name, several in by_node.items()}
    lost: dict[Gap, int] = defaultdict(int)
    hidden: list[tuple[str, Connection, Event]] = []

    def survives(connection: Connection, event: Event) -> bool:
        name = event.node.name
        if name not in by_node:
            return True
        moment = event.time + event.node.skew
        index = bisect_right(starts[name], moment) - 1
        if index < 0 or moment >= by_node[name][index].end:
            return True
        gap = by_node[name][index]
        if gap.kind == "lost" and rng.random() < 0.5:
            return True
        lost[gap] += 1
        if gap.kind in {"aggregated", "masked"}:
            hidden.append((gap.kind, connection, event))
        return False

    for connection in connections:
        connection.events = [event for event in connection.events if survives(connection, event)]
    return [Gap(g.node, g.kind, g.start, g.end, lost[g]) for g in gaps], hidden


def is_in_gap(gaps: list[Gap], node: Node, moment: int, kinds: tuple[str, ...]) -> bool:
    """Whether a moment on a node's clock falls into one of its gaps."""
    return any(
        gap.node == node and gap.kind in kinds and gap.start <= moment < gap.end for gap in gaps
    )


def is_of_new_agent(node: Node) -> bool:
    """Whether the node's agent writes event UUIDs and intervals of losses."""
    return node.cluster == OAK

"""Hubble exports of the labelled fleet: one chain of files per node.

Cilium 1.19 in oak (event UUIDs, trace reasons, intervals of losses), 1.13 in elm. Lines hold the
fields that matter, in the exporter's spelling. Files are cut every two hours and at midnight; where
events are missing between two files, no file names the time between. For some hours one node's
exporter counts flows by the minute, and another's leaves out when and where they were.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from tests.fleet.labelled.files import next_day, write_lines
from tests.fleet.labelled.moments import HOUR, MIDNIGHT, MINUTE, SECOND, day_of, to_nano_text
from tests.fleet.labelled.scenarios import Scenarios
from tests.fleet.labelled.traffic import GONE, Connection, Event, Gap, Lookup, Traffic
from tests.fleet.labelled.world import END, NAMESPACE, START, Node, Pod, World

EVERY = 2 * HOUR
HOST = '{"identity":1,"labels":["reserved:host"]}'
REMOTE_NODE = '{"identity":6,"labels":["reserved:remote-node"]}'
WORLD = '{"identity":2,"labels":["reserved:world"]}'
API = '{"identity":7,"labels":["reserved:kube-apiserver","reserved:remote-node"]}'

_FLAGS = {
    "syn": '"SYN":true',
    "syn_ack": '"SYN":true,"ACK":true',
    "ack": '"ACK":true',
    "data": '"PSH":true,"ACK":true',
    "reply": '"PSH":true,"ACK":true',
    "fin": '"FIN":true,"ACK":true',
    "reply_fin": '"FIN":true,"ACK":true',
}
_REPLIES = {"syn_ack", "reply", "reply_fin"}
_POINTS = {"TO_ENDPOINT": 0, "TO_STACK": 3, "TO_OVERLAY": 4}


@dataclass(frozen=True)
class Counted:
    """Flows of one minute that an exporter counts.

    Attributes:
        source: Pod that sent, as it is told.
        target: Pod to which, as it is told.
        verdict: What became of them.
        count: How many.
    """

    source: str
    target: str
    verdict: str
    count: int


@dataclass(frozen=True)
class HubbleFiles:
    """What was written.

    Attributes:
        lines: Events in all files, copies left out.
        copies: Events in copied files.
    """

    lines: int
    copies: int


def write(
    folder: Path, rng: random.Random, scenarios: Scenarios, world: World, traffic: Traffic
) -> HubbleFiles:
    """Write all files of all nodes."""
    told: dict[str, list[tuple[int, str, object]]] = defaultdict(list)
    for connection in traffic.connections:
        for event in connection.events:
            node = event.node
            told[node.name].append((event.time + node.skew, "flow", (connection, event)))
    for lookup in traffic.lookups:
        node = lookup.pod.node
        if node.resolver == "hubble":
            told[node.name].append((lookup.answered + node.skew, "answer", lookup))
    for kind, connection, event in traffic.hidden:
        if kind == "masked":
            moment = event.time + event.node.skew
            told[event.node.name].append((moment, kind, (connection, event)))
    for node_name, moment, counted in _count(traffic):
        told[node_name].append((moment, "aggregated", counted))
    for moment, node in traffic.probes:
        told[node.name].append((moment + node.skew, "probe", node))
    servers = {pod.node.name: pod for pods in world.servers.values() for pod in pods}
    lines = copies = 0
    for node in world.nodes:
        gaps = [gap for gap in traffic.gaps if gap.node == node]
        entries = [e for e in told.pop(node.name) if not _is_swallowed(e, gaps)]
        entries += [(m, "lost", gap) for gap in gaps for m in _losses(gap)]
        entries.sort(key=lambda entry: entry[0])
        render = _Renderer(rng, node, servers[node.name])
        for number, piece in enumerate(_pieces(entries, gaps)):
            text = [render.line(*entry) for entry in piece]
            day = day_of(piece[0][0])
            is_late = scenarios.late_files and rng.random() < 0.05
            landing = next_day(day) if is_late else day
            name = f"events-{number:02d}.log"
            place = folder / "exports" / node.cluster.name / "hubble" / str(landing) / node.name
            write_lines(place / name, text)
            lines += len(text)
            if scenarios.copied_files and rng.random() < 0.1:
                # The copy is longer or shorter by nothing, or by its last lines.
                kept = text if rng.random() < 0.5 else text[: len(text) // 2]
                write_lines(place / f"again-events-{number:02d}.log", kept)
                copies += len(kept)
    return HubbleFiles(lines, copies)


def _is_swallowed(entry: tuple[int, str, object], gaps: list[Gap]) -> bool:
    """Whether a look-up or probe falls into a gap that swallows all; flows are judged already."""
    moment, kind, _ = entry
    return kind in {"answer", "probe"} and any(
        gap.kind in GONE and gap.start <= moment < gap.end for gap in gaps
    )


def _count(traffic: Traffic) -> list[tuple[str, int, Counted]]:
    """Nodes, first instants and counts of what exporters count."""
    firsts: dict[tuple[str, int, str, str, str], int] = {}
    counts: Counter[tuple[str, int, str, str, str]] = Counter()
    for kind, connection, event in traffic.hidden:
        if kind == "aggregated":
            moment = event.time + event.node.skew
            ends = [_counted_end(connection.client), _counted_end(connection.server)]
            if _code(event.code)[2] in _REPLIES:
                ends.reverse()
            verdict = "DROPPED" if event.code == "drop" else "FORWARDED"
            key = (event.node.name, moment // MINUTE, ends[0], ends[1], verdict)
            firsts[key] = min(moment, firsts.get(key, moment))
            counts[key] += 1
    return [
        (name, firsts[key], Counted(source, target, verdict, counts[key]))
        for key in counts
        for name, _, source, target, verdict in [key]
    ]


def _counted_end(pod: Pod | None) -> str:
    """A pod as an aggregate's key."""
    if pod is None or pod.host_network:
        return "{}"
    return f'{{"namespace":"{NAMESPACE}","pod_name":"{pod.name}"}}'


def _losses(gap: Gap) -> Iterator[int]:
    """When the agent tells of a loss: once behind it, or all the time without an interval."""
    if gap.kind == "lost":
        if gap.node.cluster.is_new:
            yield gap.end
        else:
            yield from range(gap.start, gap.end + SECOND, 2 * SECOND)


def _pieces(
    entries: list[tuple[int, str, object]], gaps: list[Gap]
) -> Iterator[list[tuple[int, str, object]]]:
    """Cut a node's events into files."""
    edges = set(range(START + EVERY, END, EVERY)) | {MIDNIGHT}
    edges |= {gap.start for gap in gaps if gap.kind == "rotated"}
    # Another configuration begins another file.
    changes = [gap for gap in gaps if gap.kind in {"aggregated", "masked"}]
    edges |= {edge for gap in changes for edge in (gap.start, gap.end)}
    ordered = iter(sorted(edges))
    edge = next(ordered, None)
    piece: list[tuple[int, str, object]] = []
    for entry in entries:
        while edge is not None and entry[0] >= edge:
            if piece:
                yield piece
            piece = []
            edge = next(ordered, None)
        piece.append(entry)
    if piece:
        yield piece


class _Renderer:
    """Writes the lines of one node."""

    def __init__(self, rng: random.Random, node: Node, server: Pod) -> None:
        self.rng = rng
        self.node = node
        self.server = server
        self.node_name = f"{node.cluster.name}/{node.name}"
        self.ends: dict[tuple[str, bool, str | None], str] = {}

    def line(self, moment: int, kind: str, what: object) -> str:
        """One line."""
        if isinstance(what, tuple):
            connection, event = what
            if kind == "masked":
                return self.masked(connection, event)
            return self.flow(moment, connection, event)
        if isinstance(what, Counted):
            return self.counted(moment, what)
        if isinstance(what, Lookup):
            return self.answer(moment, what)
        if isinstance(what, Gap):
            return self.loss(moment, what)
        assert kind == "probe"
        return self.probe(moment)

    def envelope(self, moment: int, verdict: str, rest: str) -> str:
        """A flow with its head and its envelope."""
        time = to_nano_text(moment, self.rng.randrange(1, 1000))
        head = f'"time":"{time}",'
        if self.node.cluster.is_new:
            uuid = UUID(int=self.rng.getrandbits(128), version=4)
            head += f'"uuid":"{uuid}","emitter":{{"name":"Hubble","version":"1.19.2"}},'
        return (
            f'{{"flow":{{{head}"verdict":"{verdict}",{rest}}},"node_name":"{self.node_name}",'
            f'"time":"{time}"}}'
        )

    def flow(self, moment: int, connection: Connection, event: Event) -> str:
        """One packet of a connection."""
        side, _, code = event.code.rpartition("_") if event.code == "drop" else _code(event.code)
        client = self.client(connection, nameless=event.nameless)
        server = self.server_end(connection, nameless=event.nameless)
        if event.code == "drop":
            rest = self.packet(connection, client, server, "syn", is_reply=False)
            return self.envelope(
                moment,
                "DROPPED",
                f'"drop_reason":133,{rest},"event_type":{{"type":1,"sub_type":133}},'
                '"traffic_direction":"EGRESS","drop_reason_desc":"POLICY_DENIED"',
            )
        is_reply = code in _REPLIES
        rest = self.packet(connection, client, server, code, is_reply=is_reply)
        is_entering = (side == "c") == is_reply
        if is_entering or (
            connection.node == self.node
            and connection.server is not None
            and (connection.server.node == self.node)
        ):
            point = "TO_ENDPOINT"
        else:
            point = "TO_STACK" if connection.server is None else "TO_OVERLAY"
        is_egress = side == "c" or (point == "TO_ENDPOINT" and is_reply)
        sub_type = f',"sub_type":{_POINTS[point]}' if _POINTS[point] else ""
        reason = ""
        if self.node.cluster.is_new:
            word = "NEW" if code == "syn" else "REPLY" if is_reply else "ESTABLISHED"
            reason = f',"trace_reason":"{word}"'
        return self.envelope(
            moment,
            "FORWARDED",
            f'{rest}{self.replied(is_reply=is_reply)},"event_type":{{"type":4{sub_type}}},'
            f'"traffic_direction":"{"EGRESS" if is_egress else "INGRESS"}",'
            f'"trace_observation_point":"{point}"{reason},"is_reply":{str(is_reply).lower()}',
        )

    def masked(self, connection: Connection, event: Event) -> str:
        """One packet of a connection behind a mask that keeps neither time, node nor UUID."""
        code = "syn" if event.code == "drop" else _code(event.code)[2]
        rest = self.packet(
            connection,
            self.client(connection, nameless=event.nameless),
            self.server_end(connection, nameless=event.nameless),
            code,
            is_reply=code in _REPLIES,
        )
        verdict = "DROPPED" if event.code == "drop" else "FORWARDED"
        rest = rest.removesuffix(f',"node_name":"{self.node_name}"')
        return f'{{"flow":{{"verdict":"{verdict}",{rest}}}}}'

    def counted(self, moment: int, counted: Counted) -> str:
        """Flows of a minute: what they are counted by, and the time of the first."""
        time = to_nano_text(moment, 0)
        return (
            f'{{"flow":{{"time":"{time}","verdict":"{counted.verdict}","source":{counted.source},'
            f'"destination":{counted.target},'
            f'"aggregate":{{"egress_flow_count":{counted.count}}}}},"time":"{time}"}}'
        )

    def replied(self, *, is_reply: bool) -> str:
        """The deprecated mark of a reply."""
        return ',"reply":true' if is_reply else ""

    def packet(
        self, connection: Connection, client: str, server: str, code: str, *, is_reply: bool
    ) -> str:
        """Addresses, ports and ends."""
        ends = [
            (connection.client_address, connection.client_port, client),
            (connection.server_address, connection.server_port, server),
        ]
        if is_reply:
            ends.reverse()
        (source, source_port, source_end), (target, target_port, target_end) = ends
        version = "IPv6" if ":" in source else "IPv4"
        return (
            f'"IP":{{"source":"{source}","destination":"{target}","ipVersion":"{version}"}},'
            f'"l4":{{"TCP":{{"source_port":{source_port},"destination_port":{target_port},'
            f'"flags":{{{_FLAGS[code]}}}}}}},"source":{source_end},"destination":{target_end},'
            f'"Type":"L3_L4","node_name":"{self.node_name}"'
        )

    def client(self, connection: Connection, *, nameless: bool) -> str:
        """The client as this node knows it."""
        if connection.kind == "proxied":
            assert connection.client is not None
            return self.end(connection.client, is_nameless=True, uid=None)
        if connection.client is None or connection.client.host_network:
            return HOST if connection.node == self.node else REMOTE_NODE
        uid = connection.wrong_uid or connection.client.uid
        return self.end(connection.client, is_nameless=nameless, uid=uid)

    def server_end(self, connection: Connection, *, nameless: bool) -> str:
        """The server as this node knows it."""
        if connection.server is None:
            return API if connection.server_port == 6443 else WORLD
        uid = connection.server.uid
        return self.end(connection.server, is_nameless=nameless, uid=uid)

    def end(self, pod: Pod, *, is_nameless: bool, uid: str | None) -> str:
        """A pod's end."""
        is_nameless |= self.node.masks_names
        key = (pod.uid, is_nameless, uid if self.node.tells_uids else None)
        found = self.ends.get(key)
        if found is None:
            found = self.ends[key] = self._end(pod, is_nameless=is_nameless, uid=uid)
        return found

    def _end(self, pod: Pod, *, is_nameless: bool, uid: str | None) -> str:
        parts = ['"ID":1234'] if pod.node == self.node else []
        parts.append(f'"identity":{pod.identity}')
        if self.node.cluster.is_new:
            parts.append(f'"cluster_name":"{pod.cluster.name}"')
        if not is_nameless:
            parts.append(f'"namespace":"{NAMESPACE}"')
        parts.append(
            f'"labels":["k8s:app={pod.workload}","k8s:io.kubernetes.pod.namespace={NAMESPACE}"]'
        )
        if not is_nameless:
            parts.append(f'"pod_name":"{pod.name}"')
            if self.node.tells_uids and uid is not None:
                parts.append(f'"pod_uid":"{uid}"')
        return f"{{{','.join(parts)}}}"

    def answer(self, moment: int, lookup: Lookup) -> str:
        """An answer that the DNS proxy saw."""
        resolver = f"10.{self.node.cluster.number}.0.10"
        pod = lookup.pod
        addresses = ",".join(f'"{address}"' for address in lookup.addresses)
        record = "AAAA" if ":" in lookup.address else "A"
        records = ",".join(f'"{record}"' for _ in lookup.addresses)
        return self.envelope(
            moment,
            "FORWARDED",
            f'"IP":{{"source":"{resolver}","destination":"{pod.address}","ipVersion":"IPv4"}},'
            f'"l4":{{"UDP":{{"source_port":53,"destination_port":{lookup.port}}}}},'
            '"source":{"identity":16,"namespace":"kube-system","labels":["k8s:k8s-app=kube-dns"],'
            '"pod_name":"coredns-0"},'
            f'"destination":{self.end(pod, is_nameless=False, uid=pod.uid)},"Type":"L7",'
            f'"node_name":"{self.node_name}","reply":true,"l7":{{"type":"RESPONSE","dns":{{'
            f'"query":"{lookup.host.name}.","ips":[{addresses}],"ttl":{lookup.host.ttl},'
            f'"observation_source":"proxy","qtypes":["{record}"],"rrtypes":[{records}]}}}},'
            '"event_type":{"type":129},"traffic_direction":"EGRESS","is_reply":true',
        )

    def probe(self, moment: int) -> str:
        """The kubelet asks the node's own server pod how it is."""
        port = 33_000 + moment // SECOND % 20_000
        ends = self.end(self.server, is_nameless=False, uid=self.server.uid)
        return self.envelope(
            moment,
            "FORWARDED",
            f'"IP":{{"source":"{self.node.address}","destination":"{self.server.address}",'
            f'"ipVersion":"IPv4"}},"l4":{{"TCP":{{"source_port":{port},"destination_port":8080,'
            f'"flags":{{"SYN":true}}}}}},"source":{HOST},"destination":{ends},"Type":"L3_L4",'
            f'"node_name":"{self.node_name}","event_type":{{"type":4}},'
            '"traffic_direction":"INGRESS","trace_observation_point":"TO_ENDPOINT",'
            '"is_reply":false',
        )

    def loss(self, moment: int, gap: Gap) -> str:
        """The agent tells that it lost events."""
        interval = ""
        if self.node.cluster.is_new:
            interval = (
                f',"first":"{to_nano_text(gap.start, 0)}","last":"{to_nano_text(gap.end, 0)}"'
            )
        return (
            '{"lost_events":{"source":"OBSERVER_EVENTS_QUEUE",'
            f'"num_events_lost":"{max(1, gap.lost)}"{interval}}},"node_name":"{self.node.name}",'
            f'"time":"{to_nano_text(moment, 0)}"}}'
        )


def _code(code: str) -> tuple[str, str, str]:
    """The side that tells (`c` or `s`) and the packet."""
    side, _, packet = code.partition("_")
    return side, "", packet

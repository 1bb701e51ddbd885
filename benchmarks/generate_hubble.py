"""Write seeded Hubble export files for the benchmark, clean or with known damage.

The lines have the keys, lengths and mix of a busy cluster: packets of pods and of the world, DNS
through the proxy, some HTTP, drops, IPv6, lost events and agent events. One file is one node.

    python -m benchmarks.generate_hubble FOLDER --megabytes 1500 [--damage]
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

from isal import igzip

SEED = 20_260_310
DAMAGED_ONE_IN = 10_000
START_NANOSECONDS = 1_773_100_800_000_000_000  # 2026-03-10T00:00:00Z
KINDS = (
    "cut", "log_line", "no_utf8", "wrong_type", "torn_and_joined", "nul_bytes", "no_object",
    "brace_too_many", "comma_too_many", "no_number", "wrong_value", "no_address",
)  # fmt: skip


@dataclass(frozen=True)
class Written:
    """One file.

    Attributes:
        path: Where it stands.
        lines: Lines in it, all of them records.
        text_bytes: Bytes of text.
        rejects: (line, byte offset, kind of damage) of the lines that must be refused.
        flows: Lines that give a row of `flows`.
        lookups: Lines that give a row of `dns_lookups`.
        losses: Lines that give a row of `loss_reports`.
    """

    path: Path
    lines: int
    text_bytes: int
    rejects: tuple[tuple[int, int, str], ...]
    flows: int
    lookups: int
    losses: int


def generate(
    folder: Path, megabytes: int, *, files: int = 4, damage: bool = False
) -> list[Written]:
    """Write files of equal size, every second one compressed; equal arguments give equal files."""
    size = megabytes * 1_000_000 // files
    return [_write(folder, number, size, damage) for number in range(files)]


def _write(folder: Path, number: int, size: int, damage: bool) -> Written:
    random = Random(SEED + number)
    name = f"node-{number}"
    path = folder / name / ("events.log.gz" if number % 2 else "events.log")
    path.parent.mkdir(parents=True, exist_ok=True)
    events = _Events(random, name)
    kinds = iter(KINDS * (size // 1_000 + 1))
    lines, offset, rejects = 0, 0, []
    given = {"flow": 0, "dns": 0, "loss": 0, "none": 0}
    opened = igzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb", 1 << 20)
    with opened as file:
        pending: list[bytes] = []
        while offset < size:
            kind, line = events.draw()
            if damage and random.random() * DAMAGED_ONE_IN < 1:
                harm = next(kinds)
                line = _damaged(line, harm, random)
                rejects.append((lines + 1, offset, harm))
                kind = "none"
            given[kind] += 1
            lines += 1
            offset += len(line) + 1
            pending.append(line)
            if len(pending) == 5_000:
                file.write(b"\n".join(pending) + b"\n")
                pending.clear()
        file.write(b"".join(line + b"\n" for line in pending))
    return Written(
        path,
        lines,
        offset,
        tuple(rejects),
        given["flow"] + given["dns"],
        given["dns"],
        given["loss"],
    )


def _damaged(line: bytes, kind: str, random: Random) -> bytes:
    """The line as a crash, a full disk or a stranger would leave it."""
    event: dict[str, object] = {
        "time": "2026-03-10T10:00:00Z",
        "uuid": f"{random.getrandbits(128):032x}",
    }
    harmed = {
        "cut": line[: random.randrange(2, len(line) - 1)],
        "log_line": b'time="2026-03-10T10:00:00Z" level=error msg="write failed" subsys=hubble',
        "no_utf8": line.replace(b'"node_name":"', b'"node_name":"\xff\xfe', 1),
        "wrong_type": line[:-1] + b',"node_status":"gone"}',
        "torn_and_joined": line[: random.randrange(10, 200)] + line,
        "nul_bytes": line[:60] + bytes(16) + line[76:],
        "no_object": b"[1,2,3]",
        "brace_too_many": line + b"}",
        "comma_too_many": line[:-1] + b",}",
        "no_number": line[:-1] + b',"weight":NaN}',
        "wrong_value": _flow(event | {"traffic_direction": "SIDEWAYS"}),
        "no_address": _flow(event | {"IP": {"source": "192.0.2.300"}}),
    }
    return harmed[kind]


def _flow(event: dict[str, object]) -> bytes:
    return json.dumps({"flow": event}).encode()


class _Events:
    """Draws the lines of one node."""

    def __init__(self, random: Random, node: str) -> None:
        self._random = random
        self._node = node
        self._now = START_NANOSECONDS
        self._pods = [self._pod(i, is_local=i < 40) for i in range(400)]
        self._hosts = [
            (f"203.0.113.{i}", f"bucket-{i}.s3.us-east-1.amazonaws.com") for i in range(1, 250)
        ]
        labels = (
            "beta.kubernetes.io/arch=amd64", "beta.kubernetes.io/os=linux",
            "kubernetes.io/arch=amd64", f"kubernetes.io/hostname={node}",
            "node.kubernetes.io/instance-type=m6i.2xlarge",
            "topology.kubernetes.io/region=us-east-1", "topology.kubernetes.io/zone=us-east-1a",
        )  # fmt: skip
        self._tail = f'"node_name":"alder/{node}","node_labels":{_compact(list(labels))}'

    def _pod(self, index: int, *, is_local: bool) -> tuple[str, str]:
        """Address and endpoint of a pod."""
        random = self._random
        team = f"team-{index % 25}"
        job = f"train-{index % 97}-{index}"
        endpoint = {
            **({"ID": random.randrange(1, 4_096)} if is_local else {}),
            "identity": 10_000 + index % 5_000,
            "cluster_name": "alder",
            "namespace": team,
            "labels": [
                f"k8s:app={job}",
                f"k8s:app.kubernetes.io/instance={job}",
                "k8s:app.kubernetes.io/managed-by=polyaxon",
                f"k8s:io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name={team}",
                "k8s:io.cilium.k8s.policy.cluster=alder",
                "k8s:io.cilium.k8s.policy.serviceaccount=runner",
                f"k8s:io.kubernetes.pod.namespace={team}",
            ],
            "pod_name": f"{job}-{random.getrandbits(40):010x}",
            **({"workloads": [{"name": job, "kind": "Job"}]} if is_local else {}),
        }
        family = f"2001:db8::{index + 1:x}" if index % 50 == 7 else None
        return family or f"10.0.{index // 250}.{index % 250 + 2}", _compact(endpoint)

    def _stamp(self) -> str:
        self._now += self._random.randrange(2_000_000)
        seconds, nano = divmod(self._now, 1_000_000_000)
        hours, seconds = divmod(seconds % 86_400, 3_600)
        fraction = f".{nano:09d}".rstrip("0") if nano % 1_000 else f".{nano // 1_000:06d}"
        return f"2026-03-10T{hours:02d}:{seconds // 60:02d}:{seconds % 60:02d}{fraction}Z"

    def _uuid(self) -> str:
        text = f"{self._random.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"

    def draw(self) -> tuple[str, bytes]:
        """What the next line gives (`flow`, `dns`, `loss`, `none`), and the line."""
        share = self._random.random()
        if share < 0.001:
            return "loss", self._other(
                "lost_events",
                '{"source":"PERF_EVENT_RING_BUFFER","num_events_lost":"'
                f'{self._random.randrange(1, 900)}","cpu":1}}',
            )
        if share < 0.004:
            body = '{"type":"POLICY_UPDATED","policy_update":{"revision":"7","rule_count":"3"}}'
            return "none", self._other("agent_event", body)
        if share < 0.029:
            return "flow", self._dns(is_response=False)
        if share < 0.054:
            return "dns", self._dns(is_response=True)
        if share < 0.064:
            return "flow", self._http()
        return "flow", self._packet()

    def _other(self, kind: str, body: str) -> bytes:
        at = self._stamp()
        return f'{{"{kind}":{body},"node_name":"{self._node}","time":"{at}"}}'.encode()

    def _line(self, head: str, ends: str, tail: str) -> bytes:
        at = self._stamp()
        return (
            f'{{"flow":{{"time":"{at}","uuid":"{self._uuid()}",'
            f'"emitter":{{"name":"Hubble","version":"1.19.2+g3977f6a1"}},{head},{ends},'
            f'{self._tail},{tail}}},"node_name":"alder/{self._node}","time":"{at}"}}'
        ).encode()

    def _packet(self) -> bytes:
        random = self._random
        address, pod = random.choice(self._pods[:40])
        if random.random() < 0.35:
            other, peer = random.choice(self._pods)
            names = ""
        else:
            other, name = random.choice(self._hosts)
            peer = '{"identity":16777217,"labels":["cidr:203.0.113.0/24","reserved:world"]}'
            names = f'"destination_names":["{name}"],'
        port, well_known = random.randrange(32_768, 60_999), random.choice((443, 443, 80, 5432))
        is_reply = random.random() < 0.45
        if is_reply:
            address, other, pod, peer = other, address, peer, pod
            port, well_known, names = well_known, port, ""
        flags, summary = random.choice(_FLAGS)
        l4 = f'{{"TCP":{{"source_port":{port},"destination_port":{well_known},"flags":{flags}}}}}'
        if random.random() < 0.03:
            l4 = f'{{"UDP":{{"source_port":{port},"destination_port":{well_known}}}}}'
        verdict, event, drop = '"verdict":"FORWARDED"', '{"type":4,"sub_type":3}', ""
        trace = '"trace_observation_point":"TO_STACK","trace_reason":"ESTABLISHED",'
        if random.random() < 0.01:
            verdict = '"verdict":"DROPPED","drop_reason":133'
            event, trace = '{"type":5}', ""
            drop = '"drop_reason_desc":"POLICY_DENIED",'
        mac = f"02:00:00:00:00:{random.randrange(256):02x}"
        family = "IPv6" if ":" in address else "IPv4"
        return self._line(
            f'{verdict},"ethernet":{{"source":"{mac}","destination":"02:00:00:00:01:01"}},'
            f'"IP":{{"source":"{address}","destination":"{other}","ipVersion":"{family}"}},"l4":{l4}',
            f'"source":{pod},"destination":{peer},"Type":"L3_L4"',
            f'{names}"event_type":{event},"traffic_direction":"EGRESS",{trace}{drop}'
            f'"is_reply":{"true" if is_reply else "false"},"Summary":"{summary}"',
        )

    def _dns(self, *, is_response: bool) -> bytes:
        random = self._random
        address, pod = random.choice(self._pods[:40])
        host, name = random.choice(self._hosts)
        is_found = random.random() < 0.4
        query = name if is_found else f"{name}.svc.cluster.local"
        body = f'{{"query":"{query}.","observation_source":"proxy","qtypes":["A"]}}'
        ends = [(address, random.randrange(32_768, 60_999), pod), ("10.0.0.10", 53, _RESOLVER)]
        if is_response:
            ends.reverse()
            answer = (
                f'"ips":["{host}"],"ttl":{random.randrange(1, 60)},"cnames":["s3.example.com."],'
            )
            code = "" if is_found else '"rcode":3,'
            body = (
                f'{{"query":"{query}.",{answer if is_found else _NO_ANSWER}'
                f'"observation_source":"proxy",{code}"qtypes":["A"],"rrtypes":["CNAME","A"]}}'
            )
        (source, port, one), (target, other, two) = ends
        kind = "RESPONSE" if is_response else "REQUEST"
        return self._line(
            f'"verdict":"FORWARDED","IP":{{"source":"{source}","destination":"{target}",'
            f'"ipVersion":"IPv4"}},"l4":{{"UDP":{{"source_port":{port},"destination_port":{other}}}}}',
            f'"source":{one},"destination":{two},"Type":"L7"',
            f'"l7":{{"type":"{kind}","dns":{body}}},"event_type":{{"type":129}},'
            f'"traffic_direction":"EGRESS","is_reply":{"true" if is_response else "false"},'
            f'"Summary":"DNS {kind} {query}. A"',
        )

    def _http(self) -> bytes:
        random = self._random
        address, pod = random.choice(self._pods[:40])
        path = f"/simple/package-{random.randrange(500)}/"
        return self._line(
            f'"verdict":"FORWARDED","IP":{{"source":"203.0.113.9","destination":"{address}",'
            '"ipVersion":"IPv4"},"l4":{"TCP":{"source_port":80,"destination_port":40100}}',
            f'"source":{{"identity":2,"labels":["reserved:world"]}},"destination":{pod},"Type":"L7"',
            f'"l7":{{"type":"RESPONSE","latency_ns":"{random.randrange(10**8)}","http":'
            f'{{"code":200,"method":"GET","url":"http://mirror.example.com{path}?token=x",'
            '"protocol":"HTTP/1.1","headers":[{"key":"User-Agent","value":"pip/24.0"}]}},'
            '"event_type":{"type":129},"traffic_direction":"EGRESS","is_reply":true',
        )


_FLAGS = (
    ('{"SYN":true}', "TCP Flags: SYN"),
    ('{"ACK":true}', "TCP Flags: ACK"),
    ('{"PSH":true,"ACK":true}', "TCP Flags: ACK, PSH"),
    ('{"FIN":true,"ACK":true}', "TCP Flags: ACK, FIN"),
    ('{"SYN":true,"ACK":true}', "TCP Flags: SYN, ACK"),
)
_NO_ANSWER = '"ttl":4294967295,'


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


_RESOLVER = _compact(
    {
        "identity": 104,
        "cluster_name": "alder",
        "namespace": "kube-system",
        "labels": ["k8s:k8s-app=kube-dns"],
        "pod_name": "coredns-6f6b679f8f-x2x2x",
    }
)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megabytes", type=int, default=1_500)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--damage", action="store_true")
    options = parser.parse_args()
    for file in generate(
        options.folder, options.megabytes, files=options.files, damage=options.damage
    ):
        print(file.path, file.lines, file.text_bytes, len(file.rejects))


if __name__ == "__main__":
    _main()

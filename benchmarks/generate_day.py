"""Write a seeded, coherent day of one cluster: all that a platform exports, at any size, as .gz.

Pods of runs live one behind the other at the addresses of their node. They ask for names, connect
to buckets through the gateway endpoint (so that the bucket's log shows their own address), to hosts
outside and to services of their node, and Hubble, the resolver, the buckets' logs, the kubelet's
counters, the watch of Kubernetes and Polyaxon's API tell of that, each in files of its own. Nodes,
pods, runs, connections and files grow with the number of events; nothing else does. One node has
about 500,000 events, 520 pods, and four files of Hubble's.

Lines of Hubble are rendered once a pod, peer and kind of packet; only time, UUID and port differ
from line to line, so that 30 million can be made. `late/` holds what did not come in time: the last
events of the first node, 1 % of the day unless its last file has fewer.

    python -m benchmarks.generate_day FOLDER --events 1000000
"""

import argparse
import json
import multiprocessing
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from isal import igzip

from benchmarks.hubble_lines import (
    FLAGS,
    WORLD,
    Body,
    NodeLines,
    compact,
    dns,
    endpoint,
    http,
    packet,
    tcp,
)

Json = dict[str, Any]
SEED = 20_260_310
DAY = "2026-03-10"
START = int(datetime(2026, 3, 10, tzinfo=UTC).timestamp())
SECOND = 1_000_000_000
DAY_SECONDS = 86_400
NODE_EVENTS = 500_000
SLOTS = 40
"""Addresses of a node that pods of runs use, one behind the other."""
FILES = 4
"""Hubble's files of a node and day."""
BUCKETS = 8
OBJECTS = 5_000
PROJECTS = 10
ACCOUNT = "111122223333"
CHUNK = 8_192
OWNER = "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be"
_COMPRESSION = 1
# A line's kinds: packets of a connection, and what may stand around them.
_SYN, _SYN_ACK, _ACK, _DATA, _REPLY, _FIN, _FIN_REPLY, _ASKED, _ANSWERED, _HTTP, _DENIED = range(11)
_KINDS = 11
_BUCKET_TARGETS, _HOST_TARGETS, _SERVICE_TARGETS = 2, 3, 3
_TARGETS = _BUCKET_TARGETS + _HOST_TARGETS + _SERVICE_TARGETS
SETTINGS = """\
lake: lake
catalog: podledger.duckdb
memory_limit: 4GB
workers: 2
redaction_key_file: redaction.key
clusters:
  alder: {cloud: aws, region: us-east-1, account_id: "111122223333"}
exports:
  - {name: hubble, format: hubble, path: "exports/{cluster}/hubble/%Y-%m-%d/{node}/events*.log.gz"}
  - {name: answers, format: dns_collector, path: "exports/{cluster}/dns_collector/%Y-%m-%d/*.gz"}
  - {name: bucket-logs, format: s3_access_log, path: "exports/s3/*/%Y-%m-%d-*.gz"}
  - {name: counters, format: otlp, path: "exports/{cluster}/otlp/%Y-%m-%d/*.gz"}
  - {name: kubernetes, format: kubernetes, path: "exports/{cluster}/kubernetes/%Y-%m-%d/*.gz"}
  - {name: runs, format: polyaxon, path: "exports/{cluster}/polyaxon/{project}/%Y-%m-%d/*.gz"}
buckets: {BUCKETS}
datasets: [{id: "s3://example-0/imagenet", pattern: "s3://example-0/imagenet/*"}]
"""


@dataclass
class Written:
    """What was written, late events apart.

    Attributes:
        events: Lines of Hubble's.
        text_bytes: Bytes of these as text.
        late_events: Lines of Hubble's in `late/`.
        answers: Lines of the resolver.
        requests: Lines of the buckets' logs.
        readings: Readings of counters.
        objects: Lines of the watch.
        runs: Runs.
    """

    events: int = 0
    text_bytes: int = 0
    late_events: int = 0
    answers: int = 0
    requests: int = 0
    readings: int = 0
    objects: int = 0
    runs: int = 0

    def add(self, other: "Written") -> None:
        """Count another's lines, too."""
        for name, count in asdict(other).items():
            setattr(self, name, getattr(self, name) + count)


@dataclass(frozen=True)
class Pod:
    """One pod of a run. Times are whole seconds of the day.

    Attributes:
        run: Number of its run on its node.
        attempt: Which pod of its run it is.
        address: Its address.
        created: When the API server made it.
        started: When its container started; its network is ready a second before.
        finished: When that ended.
        image: Number of its image.
    """

    number: int
    run: int
    attempt: int
    address: str
    created: int
    started: int
    finished: int
    image: int


def generate(folder: Path, events: int, *, processes: int = 2) -> Written:
    """Write a day of about so many Hubble events; equal events give equal files.

    Returns:
        What was written; it also stands in `written.json`.
    """
    nodes = max(2, events // NODE_EVENTS)
    shares = [events // nodes + (n < events % nodes) for n in range(nodes)]
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [(folder, n, share, events // 100 if n == 0 else 0) for n, share in enumerate(shares)]
    total = Written()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for written in pool.imap_unordered(_write_node, tasks, chunksize=1):
            total.add(written)
    _write_nodes(folder, nodes)
    buckets = ", ".join(
        f"example-{n}: us-{'east-1' if n % 4 else 'west-2'}" for n in range(BUCKETS)
    )
    settings = SETTINGS.replace("{BUCKETS}", f"{{{buckets}}}")
    (folder / "podledger.yaml").write_text(settings, encoding="utf-8")
    (folder / "redaction.key").write_text("public-test-key-of-the-benchmark\n", encoding="utf-8")
    (folder / "written.json").write_text(json.dumps(asdict(total)), encoding="utf-8")
    return total


def _write_node(task: tuple[Path, int, int, int]) -> Written:
    folder, number, events, late = task
    return _Node(folder, number, events).write(late)


class _Node:
    """One node and all that is told of it."""

    def __init__(self, folder: Path, number: int, events: int) -> None:
        self._exports = folder / "exports"
        self._late = folder / "late"
        self._number = number
        self._name = f"node-{number:03d}"
        self._rng = np.random.default_rng([SEED, number])
        self._events = events
        self._network = f"10.{64 + number // 200}.{number % 200}"
        self._pods = self._make_pods(max(4, SLOTS * events // NODE_EVENTS // 2 * 2))
        self._written = Written()
        self._lines = NodeLines(self._name)

    # -- pods and runs ---------------------------------------------------------------------------

    def _make_pods(self, slots: int) -> list[Pod]:
        """Pods at pairs of addresses: a run takes both, or one, some of these again."""
        rng = self._rng
        pods: list[Pod] = []
        run = 0
        for pair in range(slots // 2):
            free = [int(rng.integers(0, 3_600)), int(rng.integers(0, 3_600))]
            while min(free) < DAY_SECONDS - 1_800:
                is_both = rng.random() < 0.3
                which = [0, 1] if is_both else [free.index(min(free))]
                created = max(free) if is_both else min(free)
                image = int(rng.integers(0, 20))
                retries = 1 + (not is_both and rng.random() < 0.2)
                for attempt in range(retries):
                    started = created + 4 + int(rng.integers(0, 60))
                    finished = started + int(rng.integers(1_200, 10_800))
                    finished = min(finished, DAY_SECONDS - 60)
                    if finished - started < 300:
                        break
                    for side in which:
                        address = f"{self._network}.{2 + 2 * pair + side}"
                        pods.append(
                            Pod(
                                len(pods), run, attempt + side, address, created, started,
                                finished, image,
                            )
                        )  # fmt: skip
                    created = finished + 10 + int(rng.integers(0, 200))
                for side in which:
                    free[side] = created + 20
                run += 1
        return pods

    def _run_uuid(self, run: int) -> str:
        return f"{self._number:08x}{run:08x}4000a00000000000"

    def _pod_uid(self, pod: Pod) -> str:
        return f"{self._number:08x}-{pod.number:04x}-4000-8000-{pod.run:012x}"

    def _job(self, pod: Pod) -> str:
        return f"plx-train-{self._run_uuid(pod.run)[:16]}"

    def _pod_name(self, pod: Pod) -> str:
        return f"{self._job(pod)}-{self._pod_uid(pod)[:8]}{pod.number:04x}"

    def _team(self, pod: Pod) -> str:
        return f"team-{pod.run % PROJECTS}"

    # -- connections -----------------------------------------------------------------------------

    def write(self, late: int) -> Written:
        """Write all files of the node, the last events of Hubble apart."""
        rng = self._rng
        ready = np.array([p.started for p in self._pods])
        end = np.array([p.finished for p in self._pods])
        weights = (end - ready) * rng.lognormal(0, 0.7, len(self._pods))
        # A connection has 7 packets; some have a look-up that Hubble sees, an HTTP response, or are
        # denied, so that it comes to about 7.6.
        count = int(self._events / 7.55) + 200
        pod = rng.choice(len(self._pods), count, p=weights / weights.sum())
        at = (ready[pod] + 1 + rng.random(count) * (end[pod] - ready[pod] - 45)) * SECOND
        at = at.astype(np.int64)
        lasts = np.minimum(rng.exponential(5, count) + 0.05, 40)
        target = rng.choice(_TARGETS, count, p=(0.35, 0.15, 0.1, 0.08, 0.07, 0.1, 0.1, 0.05))
        port = rng.integers(32_768, 60_999, count)
        self._write_hubble(pod, at, (lasts * SECOND).astype(np.int64), target, port, late)
        self._write_answers(pod, at, target, port)
        self._write_requests(pod, at, lasts, target)
        self._write_counters()
        self._write_watch()
        self._write_runs()
        return self._written

    def _peer(self, pod: Pod, target: int) -> tuple[str, str | None, int]:
        """Address, name and port of what a pod connects to; a service of the node has no name."""
        if target < _BUCKET_TARGETS:
            bucket = self._bucket(pod, target)
            return f"198.51.100.{bucket + 1}", _bucket_host(bucket), 443
        if target < _BUCKET_TARGETS + _HOST_TARGETS:
            host = (pod.run * 7 + target * 83) % 249 + 1
            return f"203.0.113.{host}", f"api-{host}.example.com", 80 if host == 9 else 443
        service = target - _BUCKET_TARGETS - _HOST_TARGETS
        return f"{self._network}.{200 + service}", None, 5432

    @staticmethod
    def _bucket(pod: Pod, target: int) -> int:
        return (pod.run + target * 3) % BUCKETS

    def _templates(self) -> list[bytes]:
        """A line for each pod, target and kind; behind them that of a loss and of a rule."""
        found: list[bytes] = []
        services = [
            endpoint(f"store-{n}", "platform", f"store-{n}-{self._number}", 9_000 + n, 4_000 + n)
            for n in range(_SERVICE_TARGETS)
        ]
        for pod in self._pods:
            one = endpoint(
                self._job(pod), self._team(pod), self._pod_name(pod), 10_000 + pod.run,
                1 + pod.number,
            )  # fmt: skip
            mac = f"02:00:00:00:00:{pod.number % 256:02x}"
            for target in range(_TARGETS):
                address, name, well_known = self._peer(pod, target)
                is_service = name is None
                other = services[target - _BUCKET_TARGETS - _HOST_TARGETS] if is_service else WORLD
                names = () if name is None else (name,)
                for kind in range(_KINDS):
                    body = self._body(
                        kind, pod.address, one, mac, (address, well_known), other, names
                    )
                    found.append(self._flow(body))
        loss = '{"source":"PERF_EVENT_RING_BUFFER","num_events_lost":"7","cpu":1}'
        rule = '{"type":"POLICY_UPDATED","policy_update":{"revision":"7","rule_count":"3"}}'
        for kind, text in (("lost_events", loss), ("agent_event", rule)):
            line = self._lines.other(kind, text, "%b").encode()
            # Port and UUID, and the second time, are not shown.
            found.append(line.replace(b"%b", b"%b%.0b%.0b%.0b"))
        return found

    def _flow(self, body: Body) -> bytes:
        """A line with room for time, UUID, port and time."""
        return self._lines.flow("%b", "%b", body).encode()

    @staticmethod
    def _body(
        kind: int,
        address: str,
        pod: str,
        mac: str,
        peer: tuple[str, int],
        other: str,
        names: tuple[str, ...],
    ) -> Body:
        to, port = peer
        name = names[0] if names else "store.platform.svc.cluster.local"
        if kind == _ASKED:
            return dns(address, "%b", pod, name, None)
        if kind == _ANSWERED:
            return dns(address, "%b", pod, name, f'"ips":["{to}"],"ttl":30,')
        if kind == _HTTP:
            return http(address, "%b", pod, "/simple/package-7/", 1_234_567)
        is_reply = kind in {_SYN_ACK, _REPLY, _FIN_REPLY}
        flags, summary = FLAGS[
            {_SYN: 0, _DENIED: 0, _SYN_ACK: 4, _ACK: 1, _DATA: 2, _REPLY: 2}.get(kind, 3)
        ]
        if is_reply:
            return packet(
                (to, address), (other, pod), tcp(port, "%b", flags), summary, mac=mac,
                is_reply=True,
            )  # fmt: skip
        return packet(
            (address, to), (pod, other), tcp("%b", port, flags), summary, mac=mac, names=names,
            is_dropped=kind == _DENIED,
        )  # fmt: skip

    def _write_hubble(
        self,
        pod: np.ndarray,
        at: np.ndarray,
        lasts: np.ndarray,
        target: np.ndarray,
        port: np.ndarray,
        late: int,
    ) -> None:
        rng = self._rng
        templates = self._templates()
        base = (pod * _TARGETS + target) * _KINDS
        is_denied = rng.random(pod.size) < 0.01
        is_named = target < _BUCKET_TARGETS + _HOST_TARGETS
        is_asked = is_named & (pod % 3 == 0) & ~is_denied
        is_http = (target == _BUCKET_TARGETS) & (rng.random(pod.size) < 0.3) & ~is_denied
        everything, ms = np.ones(pod.size, bool), 1_000_000
        planned: tuple[tuple[int, np.ndarray, np.ndarray | int], ...] = (
            (_SYN, ~is_denied, 0), (_SYN_ACK, ~is_denied, 2 * ms), (_ACK, ~is_denied, 3 * ms),
            (_DATA, ~is_denied, 5 * ms), (_REPLY, ~is_denied, lasts // 2),
            (_FIN, ~is_denied, lasts), (_FIN_REPLY, ~is_denied, lasts + ms),
            (_ASKED, is_asked, -8 * ms), (_ANSWERED, is_asked, -3 * ms), (_HTTP, is_http, 9 * ms),
            (_DENIED, is_denied, 0), (_DENIED, is_denied, SECOND), (_DENIED, is_denied, 3 * SECOND),
        )  # fmt: skip
        times, kinds, ports = [], [], []
        for kind, chosen, after in planned:
            times.append((at + after * everything)[chosen])
            kinds.append(base[chosen] + kind)
            ports.append(port[chosen])
        for share, template in ((0.001, len(templates) - 2), (0.003, len(templates) - 1)):
            told = int(share * self._events)
            times.append(rng.integers(0, DAY_SECONDS * SECOND - 1, told))
            kinds.append(np.full(told, template))
            ports.append(np.full(told, 10_000))
        moment, kind, shown = map(np.concatenate, (times, kinds, ports))
        # Which are too many is drawn, so that the day's end is as full as its middle.
        kept = np.sort(rng.permutation(moment.size)[: self._events])
        kept = kept[np.argsort(moment[kept], kind="stable")]
        moment, kind, shown = moment[kept], kind[kept], shown[kept]
        edges = np.searchsorted(moment, np.arange(FILES + 1) * (DAY_SECONDS // FILES) * SECOND)
        edges[-1] = moment.size
        late = min(late, int(edges[-1] - edges[-2]) - 1)
        pieces = [(f"events-{n}", edges[n], edges[n + 1]) for n in range(FILES)]
        pieces[-1] = (pieces[-1][0], edges[-2], edges[-1] - late)
        for name, first, last in pieces:
            path = self._exports / "alder/hubble" / DAY / self._name / f"{name}.log.gz"
            rows = slice(first, last)
            size = self._write_lines(path, templates, moment[rows], kind[rows], shown[rows])
            self._written.events += int(last - first)
            self._written.text_bytes += size
        if late:
            path = self._late / "alder/hubble" / DAY / self._name / "events-late.log.gz"
            rows = slice(edges[-1] - late, edges[-1])
            self._write_lines(path, templates, moment[rows], kind[rows], shown[rows])
            self._written.late_events += late

    def _write_lines(
        self,
        path: Path,
        templates: list[bytes],
        moment: np.ndarray,
        kind: np.ndarray,
        port: np.ndarray,
    ) -> int:
        size = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        with igzip.open(path, "wb", _COMPRESSION) as file:
            for first in range(0, moment.size, CHUNK):
                rows = slice(first, first + CHUNK)
                at = _stamps(moment[rows])
                uuids = _uuids(self._rng, len(at))
                shown = _digits(port[rows], 5)
                text = b"\n".join(
                    [
                        templates[n] % (a, u, p, a)
                        for n, a, u, p in zip(kind[rows].tolist(), at, uuids, shown, strict=True)
                    ]
                )
                size += len(text) + 1
                file.write(text + b"\n")
        return size

    # -- other exports ---------------------------------------------------------------------------

    def _write_answers(
        self, pod: np.ndarray, at: np.ndarray, target: np.ndarray, port: np.ndarray
    ) -> None:
        """What the resolver's dnstap tells: one answer before each connection to a name."""
        order = np.argsort(at, kind="stable")
        order = order[target[order] < _BUCKET_TARGETS + _HOST_TARGETS]
        templates: dict[int, bytes] = {}
        path = self._exports / "alder/dns_collector" / DAY / f"{self._name}.jsonl.gz"
        ids = _digits(10_000 + self._rng.integers(0, 50_000, order.size), 5)
        stamps = _stamps(at[order] - 3_000_000)
        lines = []
        for p, t, moment, shown, number in zip(
            pod[order].tolist(), target[order].tolist(), stamps, _digits(port[order], 5), ids,
            strict=True,
        ):  # fmt: skip
            key = p * _TARGETS + t
            if key not in templates:
                templates[key] = self._answer(self._pods[p], t)
            lines.append(templates[key] % (shown, number, moment))
        _write(path, lines)
        self._written.answers += len(lines)

    def _answer(self, pod: Pod, target: int) -> bytes:
        address, name, _ = self._peer(pod, target)
        record = {"name": name, "rdatatype": "A", "class": "IN", "ttl": 30, "rdata": address}
        flags = {"qr": True, "tc": False, "aa": False, "ra": True, "ad": False, "rd": True,
                 "cd": False}  # fmt: skip
        line = {
            "network": {
                "family": "IPv4", "protocol": "UDP", "query-ip": pod.address, "query-port": "%b",
                "response-ip": "10.0.0.10", "response-port": "53", "ip-defragmented": False,
                "tcp-reassembled": False,
            },
            "dns": {
                "id": "%b", "length": 80, "opcode": 0, "rcode": "NOERROR", "qname": name,
                "qtype": "A", "qclass": "IN", "qdcount": 1, "ancount": 1, "nscount": 0,
                "arcount": 0, "flags": flags, "malformed-packet": False,
                "resource-records": {"an": [record], "ns": [], "ar": []},
            },
            "edns": {"udp-size": 0, "rcode": 0, "version": 0, "dnssec-ok": 0, "options": []},
            "dnstap": {
                "operation": "CLIENT_RESPONSE", "identity": self._name, "version": "CoreDNS-1.12.0",
                "extra": "-", "timestamp-rfc3339ns": "%b", "latency": 0.0005,
            },
        }  # fmt: skip
        return compact(line).replace('"id":"%b"', '"id":%b').encode()

    def _write_requests(
        self, pod: np.ndarray, at: np.ndarray, lasts: np.ndarray, target: np.ndarray
    ) -> None:
        """The buckets' logs, one to three requests a connection, in a file a bucket and quarter."""
        rng = self._rng
        chosen = np.flatnonzero(target < _BUCKET_TARGETS)
        chosen = np.repeat(chosen, rng.integers(1, 4, chosen.size))
        moment = at[chosen] // SECOND + (lasts[chosen] * rng.random(chosen.size)).astype(np.int64)
        bucket = np.array([p.run for p in self._pods])[pod[chosen]] + target[chosen] * 3
        bucket %= BUCKETS
        item = (rng.random(chosen.size) ** 2 * OBJECTS).astype(np.int64)
        verb = rng.choice(3, chosen.size, p=(0.9, 0.05, 0.05))
        spent = rng.integers(5, 20_000, chosen.size)
        words = rng.integers(0, 2**60, chosen.size)
        quarter = moment // (DAY_SECONDS // FILES)
        addresses = [p.address for p in self._pods]
        clocks = [
            f"10/Mar/2026:{h:02d}:{m:02d}:{s:02d} +0000"
            for h in range(24) for m in range(60) for s in range(60)
        ]  # fmt: skip
        order = np.lexsort((moment, quarter, bucket))
        role = f"arn:aws:sts::{ACCOUNT}:assumed-role/ml-role/{self._name}"
        lines: list[str] = []
        where: tuple[int, int] | None = None
        columns = (bucket, quarter, moment, pod[chosen], item, verb, spent, words)
        for b, q, second, p, k, v, ms, word in zip(
            *(c[order].tolist() for c in columns), strict=True
        ):
            if where != (b, q):
                self._write_log(where, lines)
                where, lines = (b, q), []
            key = f"imagenet/part-{k:06d}.tar"
            size = k * 7_919_333 % 100_000_000 + 1_000
            method = ("GET", "PUT", "HEAD")[v]
            sent = size if v == 0 else "-"
            lines.append(
                f"{OWNER} example-{b} [{clocks[second]}] {addresses[p]} {role} {word:016X} "
                f'REST.{method}.OBJECT {key} "{method} /{key} HTTP/1.1" 200 - {sent} '
                f'{size} {ms} {ms // 2 + 1} "-" "Boto3/1.34.11 md/Botocore#1.34.11 ua/2.0 '
                'os/linux#6.1 md/arch#x86_64 lang/python#3.11.7 cfg/retry-mode#legacy" - '
                f"Yj3{word:x}EXAMPLE= SigV4 TLS_AES_128_GCM_SHA256 AuthHeader {_bucket_host(b)} "
                "TLSv1.3 - -"
            )
        self._write_log(where, lines)
        self._written.requests += int(chosen.size)

    def _write_log(self, where: tuple[int, int] | None, lines: list[str]) -> None:
        if where is None:
            return
        bucket, quarter = where
        hour = (quarter + 1) * 24 // FILES - 1
        name = f"{DAY}-{hour:02d}-59-59-{self._number:08X}EXAMPLE0.gz"
        _write(self._exports / "s3" / f"example-{bucket}" / name, (t.encode() for t in lines))

    def _write_counters(self) -> None:
        """The kubelet's counters, read once a minute, all pods of a moment in one line."""
        rng = self._rng
        count = len(self._pods)
        rates = (rng.lognormal(14, 1.5, (count, 2)) * 60).astype(np.int64)
        minutes: list[list[str]] = [[] for _ in range(DAY_SECONDS // 60)]
        for pod, rate in zip(self._pods, rates.tolist(), strict=True):
            start = (START + pod.started - 1) * SECOND
            head = (
                '{"resource":{"attributes":[{"key":"k8s.namespace.name","value":{"stringValue":"'
                f'{self._team(pod)}"}}}},{{"key":"k8s.pod.name","value":{{"stringValue":"'
                f'{self._pod_name(pod)}"}}}},{{"key":"k8s.pod.uid","value":{{"stringValue":"'
                f'{self._pod_uid(pod)}"}}}}]}},"scopeMetrics":[{{"scope":{{"name":"kubeletstats"}},'
                '"metrics":[{"name":"k8s.pod.network.io","unit":"By","sum":{"dataPoints":['
            )
            point = (
                '{{"attributes":[{{"key":"interface","value":{{"stringValue":"eth0"}}}},'
                '{{"key":"direction","value":{{"stringValue":"{}"}}}}],'
                f'"startTimeUnixNano":"{start}",'
                '"timeUnixNano":"{}","asInt":"{}"}}'
            )
            receive, transmit = rate
            first = pod.started // 60 + 1
            for turn, minute in enumerate(range(first, pod.finished // 60), 1):
                time = (START + minute * 60) * SECOND
                minutes[minute].append(
                    f"{head}{point.format('receive', time, receive * turn)},"
                    f"{point.format('transmit', time, transmit * turn)}],"
                    '"aggregationTemporality":2,"isMonotonic":true}}]}]}'
                )
                self._written.readings += 2
        lines = (f'{{"resourceMetrics":[{",".join(m)}]}}'.encode() for m in minutes if m)
        _write(self._exports / "alder/otlp" / DAY / f"{self._name}.jsonl.gz", lines)

    def _write_watch(self) -> None:
        """Each pod as it came, ran, ended and went, and the events of its image."""
        lines: list[tuple[int, bytes]] = []

        def tell(moment: int, kind: str, what: Json) -> None:
            lines.append((moment, compact({"type": kind, "object": what}).encode()))

        for pod in self._pods:
            tell(pod.created + 1, "ADDED", self._object(pod, pod.created + 1))
            tell(pod.started + 1, "MODIFIED", self._object(pod, pod.started + 1))
            tell(pod.finished + 2, "MODIFIED", self._object(pod, pod.finished + 2))
            tell(pod.finished + 5, "DELETED", self._object(pod, pod.finished + 5))
            name = f'"{_image(pod.image)}"'
            pulled = pod.started - 1
            seconds, size = pulled - pod.created - 2, 10**9 + pod.image
            for reason, text, moment in (
                ("Pulling", f"Pulling image {name}", pod.created + 2),
                (
                    "Pulled",
                    f"Successfully pulled image {name} in {seconds}s. Image size: {size} bytes.",
                    pulled,
                ),
            ):
                tell(moment, "ADDED", self._event(pod, reason, text, moment))
        lines.sort(key=lambda pair: pair[0])
        path = self._exports / "alder/kubernetes" / DAY / f"watch-{self._name}.jsonl.gz"
        _write(path, (line for _, line in lines))
        self._written.objects += len(lines)

    def _object(self, pod: Pod, moment: int) -> Json:
        is_running, is_over = moment > pod.started, moment > pod.finished
        container: Json = {"name": "main", "image": _image(pod.image)}
        status: Json = {"phase": "Pending", "hostIP": f"192.0.2.{self._number % 250 + 1}"}
        conditions = [_condition("PodScheduled", pod.created)]
        if is_running:
            started = {"startedAt": _clock(pod.started)}
            state: Json = {"running": started}
            if is_over:
                ended = {"finishedAt": _clock(pod.finished)}
                state = {"terminated": {"exitCode": 0, "reason": "Completed", **started, **ended}}
            status |= {
                "phase": "Succeeded" if is_over else "Running",
                "podIP": pod.address,
                "podIPs": [{"ip": pod.address}],
                "startTime": _clock(pod.created + 1),
                "containerStatuses": [
                    {
                        "name": "main", "ready": not is_over, "restartCount": 0, "state": state,
                        "lastState": {}, "image": container["image"],
                        "imageID": f"registry.example.com/ml/train@sha256:{pod.image:064x}",
                    }
                ],
            }  # fmt: skip
            ready = _condition("PodReadyToStartContainers", pod.started - 1)
            if is_over:
                ready = _condition("PodReadyToStartContainers", pod.finished + 1, status="False")
            conditions.append(ready)
        status["conditions"] = conditions
        uuid = self._run_uuid(pod.run)
        metadata: Json = {
            "name": self._pod_name(pod),
            "namespace": self._team(pod),
            "uid": self._pod_uid(pod),
            "resourceVersion": str(moment),
            "creationTimestamp": _clock(pod.created),
            "labels": {
                "app": self._job(pod),
                "app.kubernetes.io/instance": uuid,
                "app.kubernetes.io/managed-by": "polyaxon",
                "operation.polyaxon.com/uuid": uuid,
            },
        }
        if moment > pod.finished + 3:
            metadata["deletionTimestamp"] = _clock(pod.finished + 3)
            metadata["deletionGracePeriodSeconds"] = 0
        return {
            "kind": "Pod", "apiVersion": "v1", "metadata": metadata,
            "spec": {"nodeName": self._name, "containers": [container]}, "status": status,
        }  # fmt: skip

    def _event(self, pod: Pod, reason: str, message: str, moment: int) -> Json:
        uid = self._pod_uid(pod)
        return {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {
                "name": f"{self._pod_name(pod)}.{reason.lower()}",
                "namespace": self._team(pod),
                "uid": f"{uid[:14]}5{uid[15:19]}{'b' if reason == 'Pulled' else 'a'}{uid[20:]}",
                "resourceVersion": str(moment),
                "creationTimestamp": _clock(moment),
            },
            "involvedObject": {
                "kind": "Pod", "namespace": self._team(pod), "name": self._pod_name(pod),
                "uid": uid, "apiVersion": "v1", "fieldPath": "spec.containers{main}",
            },
            "reason": reason,
            "message": message,
            "source": {"component": "kubelet", "host": self._name},
            "firstTimestamp": _clock(moment),
            "lastTimestamp": _clock(moment),
            "count": 1,
            "type": "Normal",
            "eventTime": None,
            "reportingComponent": "kubelet",
            "reportingInstance": self._name,
        }  # fmt: skip

    def _write_runs(self) -> None:
        """Polyaxon's list of each project, and the details and conditions of its runs."""
        of_run: dict[int, list[Pod]] = {}
        for pod in self._pods:
            of_run.setdefault(pod.run, []).append(pod)
        for project in range(PROJECTS):
            runs = {n: pods for n, pods in of_run.items() if n % PROJECTS == project}
            folder = self._exports / "alder/polyaxon" / f"team-{project}" / DAY
            briefs = [self._brief(pods) for pods in runs.values()]
            answer = {"count": len(briefs), "next": None, "previous": None, "results": briefs}
            _write(folder / f"list-{self._name}.json.gz", [compact(answer).encode()])
            details = [
                compact(value).encode()
                for brief, pods in zip(briefs, runs.values(), strict=True)
                for value in (self._detail(brief, project, pods[0]), _statuses(brief, pods))
            ]
            _write(folder / f"details-{self._name}.jsonl.gz", details)
            self._written.runs += len(runs)

    def _brief(self, pods: list[Pod]) -> Json:
        first, last = min(p.created for p in pods), max(p.finished for p in pods)
        started = min(p.started for p in pods)
        return {
            "uuid": self._run_uuid(pods[0].run), "name": f"train-{pods[0].run}",
            "created_at": _clock(first - 5), "updated_at": _clock(last + 1),
            "started_at": _clock(started), "finished_at": _clock(last + 1), "schedule_at": None,
            "wait_time": started - first + 5.0, "duration": last + 1.0 - started, "kind": "job",
            "runtime": "job", "meta_info": {}, "status": "succeeded", "pipeline": None,
            "original": None, "is_managed": True, "managed_by": "agent", "pending": None,
            "inputs": {"epochs": 3}, "outputs": None, "tags": None,
            "settings": {"namespace": f"team-{pods[0].run % PROJECTS}", "component": None},
            "user": "lin", "bookmarked": False,
            "resources": {"memory": 0.0, "cpu": 0.0, "gpu": 1.0, "custom": 0.0, "cost": 0.0},
        }  # fmt: skip

    @staticmethod
    def _detail(brief: Json, project: int, pod: Pod) -> Json:
        content = {
            "version": 1.1,
            "kind": "compiled_operation",
            "name": brief["name"],
            "run": {
                "kind": "job",
                "container": {"image": _image(pod.image), "command": ["python", "main.py"]},
            },
        }
        return {
            **brief, "owner": "example", "project": f"team-{project}", "readme": None,
            "description": None, "raw_content": None, "content": compact(content), "live_state": 1,
        }  # fmt: skip


def _statuses(brief: Json, pods: list[Pod]) -> Json:
    started, last = min(p.started for p in pods), max(p.finished for p in pods)
    moments = (("created", min(p.created for p in pods) - 5), ("running", started),
               ("succeeded", last + 1))  # fmt: skip
    return {
        "uuid": brief["uuid"],
        "status": "succeeded",
        "status_conditions": [
            {
                "type": kind, "status": "True", "reason": "OperatorController", "message": None,
                "last_update_time": _clock(at), "last_transition_time": _clock(at),
            }
            for kind, at in moments
        ],
        "meta_info": {},
    }  # fmt: skip


def _write_nodes(folder: Path, nodes: int) -> None:
    items = [
        {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {
                "name": f"node-{n:03d}",
                "uid": f"00000000-0000-4000-8000-{n:012x}",
                "resourceVersion": "1",
                "creationTimestamp": "2026-03-01T00:00:00Z",
                "labels": {
                    "topology.kubernetes.io/region": "us-east-1",
                    "topology.kubernetes.io/zone": f"us-east-1{'ab'[n % 2]}",
                },
            },
            "spec": {},
            "status": {"addresses": [{"type": "InternalIP", "address": f"192.0.2.{n % 250 + 1}"}]},
        }
        for n in range(nodes)
    ]
    document = {"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": items}
    path = folder / "exports/alder/kubernetes" / DAY / "nodes.json.gz"
    _write(path, [compact(document).encode()])


def _write(path: Path, lines: Iterator[bytes] | list[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with igzip.open(path, "wb", _COMPRESSION) as file:
        file.write(b"\n".join(lines) + b"\n")


def _bucket_host(bucket: int) -> str:
    return f"example-{bucket}.s3.us-{'east-1' if bucket % 4 else 'west-2'}.amazonaws.com"


def _image(number: int) -> str:
    return f"registry.example.com/ml/train:{number}"


def _condition(kind: str, at: int, *, status: str = "True") -> Json:
    return {"type": kind, "status": status, "lastTransitionTime": _clock(at)}


def _clock(second: int) -> str:
    return datetime.fromtimestamp(START + second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _digits(numbers: np.ndarray, width: int) -> list[bytes]:
    """Decimal digits of numbers that have so many."""
    return _into_digits(numbers, width).reshape(-1).view(f"S{width}").tolist()


def _into_digits(numbers: np.ndarray, width: int) -> np.ndarray:
    found = np.empty((numbers.size, width), np.uint8)
    rest = numbers.astype(np.int64)
    for place in range(width - 1, -1, -1):
        found[:, place] = rest % 10 + ord("0")
        rest = rest // 10
    return found


def _stamps(moments: np.ndarray) -> list[bytes]:
    """Nanoseconds of the day as RFC 3339."""
    shape = np.frombuffer(f"{DAY}T00:00:00.000000000Z".encode(), np.uint8)
    found = np.tile(shape, (moments.size, 1))
    seconds, nano = np.divmod(np.maximum(moments, 0), SECOND)
    for place, part in ((11, seconds // 3_600), (14, seconds // 60 % 60), (17, seconds % 60)):
        found[:, place : place + 2] = _into_digits(part, 2)
    found[:, 20:29] = _into_digits(nano, 9)
    return np.ascontiguousarray(found).reshape(-1).view(f"S{shape.size}").tolist()


_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


def _uuids(rng: np.random.Generator, count: int) -> list[bytes]:
    """Version 4 UUIDs."""
    drawn = np.frombuffer(rng.bytes(16 * count), np.uint8).reshape(count, 16)
    digits = np.empty((count, 32), np.uint8)
    digits[:, 0::2], digits[:, 1::2] = _HEX[drawn >> 4], _HEX[drawn & 15]
    digits[:, 12], digits[:, 16] = ord("4"), ord("a")
    found = np.full((count, 36), ord("-"), np.uint8)
    for to, start, end in ((0, 0, 8), (9, 8, 12), (14, 12, 16), (19, 16, 20), (24, 20, 32)):
        found[:, to : to + end - start] = digits[:, start:end]
    return found.reshape(-1).view("S36").tolist()


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    options = parser.parse_args()
    print(generate(options.folder, options.events))


if __name__ == "__main__":
    _main()

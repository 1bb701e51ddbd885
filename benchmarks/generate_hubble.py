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

from benchmarks.hubble_lines import (
    DNS_NO_ANSWER,
    FLAGS,
    WORLD,
    Body,
    NodeLines,
    dns,
    endpoint,
    http,
    packet,
    tcp,
    udp,
)

SEED = 20_260_310
DAMAGED_ONE_IN = 10_000
START_NANOSECONDS = 1_773_100_800_000_000_000  # 2026-03-10T00:00:00Z
KINDS = (
    "cut", "log_line", "no_utf8", "wrong_type", "torn_and_joined", "nul_bytes", "no_object",
    "brace_too_many", "comma_too_many", "no_number", "wrong_value", "no_address",
)  # fmt: skip
MORE_RECORDS = {"torn_and_joined": 1, "no_object": 2}
"""Records beyond the first of a damaged line: a torn beginning stands for itself, and so do the
items of a list."""


@dataclass(frozen=True)
class Written:
    """One file.

    Attributes:
        path: Where it stands.
        lines: Lines in it.
        records: Records in them; a line may hold several.
        text_bytes: Bytes of text.
        rejects: (locator, byte offset, kind of damage) of the records that must be refused.
        flows: Lines that give a row of `flows`.
        lookups: Lines that give a row of `dns_lookups`.
        losses: Lines that give a row of `loss_reports`.
    """

    path: Path
    lines: int
    records: int
    text_bytes: int
    rejects: tuple[tuple[str, int, str], ...]
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
    lines, more, offset = 0, 0, 0
    rejects: list[tuple[str, int, str]] = []
    given = {"flow": 0, "dns": 0, "loss": 0, "none": 0}
    opened = igzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb", 1 << 20)
    with opened as file:
        pending: list[bytes] = []
        while offset < size:
            kind, line = events.draw()
            if damage and random.random() * DAMAGED_ONE_IN < 1:
                harm = next(kinds)
                line = _damaged(line, harm, random)
                rejects += [(at, where, harm) for at, where in _refused(harm, lines + 1, offset)]
                more += MORE_RECORDS.get(harm, 0)
                # Behind a torn beginning the whole event is read.
                kind = kind if harm == "torn_and_joined" else "none"
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
        lines + more,
        offset,
        tuple(rejects),
        given["flow"] + given["dns"],
        given["dns"],
        given["loss"],
    )


def _refused(kind: str, number: int, offset: int) -> list[tuple[str, int]]:
    """Locator and offset of what must be refused of a damaged line.

    A line of an agent's own log is left out, and each item of a list is refused by itself.
    """
    if kind == "log_line":
        return []
    if kind == "no_object":
        return [(f"line {number} $[{n}]", offset + 1 + 2 * n) for n in range(3)]
    return [(f"line {number}", offset)]


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
        self._lines = NodeLines(node)
        self._now = START_NANOSECONDS
        self._pods = [self._pod(i, is_local=i < 40) for i in range(400)]
        self._hosts = [
            (f"203.0.113.{i}", f"bucket-{i}.s3.us-east-1.amazonaws.com") for i in range(1, 250)
        ]

    def _pod(self, index: int, *, is_local: bool) -> tuple[str, str]:
        """Address and endpoint of a pod."""
        random = self._random
        job = f"train-{index % 97}-{index}"
        endpoint_id = random.randrange(1, 4_096) if is_local else None
        pod = endpoint(
            job,
            f"team-{index % 25}",
            f"{job}-{random.getrandbits(40):010x}",
            10_000 + index % 5_000,
            endpoint_id,
        )
        family = f"2001:db8::{index + 1:x}" if index % 50 == 7 else None
        return family or f"10.0.{index // 250}.{index % 250 + 2}", pod

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
            return "flow", self._flow(self._dns(is_response=False))
        if share < 0.054:
            return "dns", self._flow(self._dns(is_response=True))
        if share < 0.064:
            return "flow", self._flow(self._http())
        return "flow", self._flow(self._packet())

    def _other(self, kind: str, body: str) -> bytes:
        return self._lines.other(kind, body, self._stamp()).encode()

    def _flow(self, body: Body) -> bytes:
        at = self._stamp()
        return self._lines.flow(at, self._uuid(), body).encode()

    def _packet(self) -> Body:
        random = self._random
        address, pod = random.choice(self._pods[:40])
        names: tuple[str, ...] = ()
        if random.random() < 0.35:
            other, peer = random.choice(self._pods)
        else:
            other, name = random.choice(self._hosts)
            peer, names = WORLD, (name,)
        port, well_known = random.randrange(32_768, 60_999), random.choice((443, 443, 80, 5432))
        is_reply = random.random() < 0.45
        if is_reply:
            address, other, pod, peer = other, address, peer, pod
            port, well_known, names = well_known, port, ()
        flags, summary = random.choice(FLAGS)
        l4 = tcp(port, well_known, flags)
        if random.random() < 0.03:
            l4 = udp(port, well_known)
        is_dropped = random.random() < 0.01
        return packet(
            (address, other),
            (pod, peer),
            l4,
            summary,
            mac=f"02:00:00:00:00:{random.randrange(256):02x}",
            names=names,
            is_reply=is_reply,
            is_dropped=is_dropped,
        )

    def _dns(self, *, is_response: bool) -> Body:
        random = self._random
        address, pod = random.choice(self._pods[:40])
        host, name = random.choice(self._hosts)
        is_found = random.random() < 0.4
        query = name if is_found else f"{name}.svc.cluster.local"
        port = random.randrange(32_768, 60_999)
        if not is_response:
            return dns(address, port, pod, query, None)
        answer = f'"ips":["{host}"],"ttl":{random.randrange(1, 60)},"cnames":["s3.example.com."],'
        found = answer if is_found else DNS_NO_ANSWER
        return dns(address, port, pod, query, found, is_found=is_found)

    def _http(self) -> Body:
        random = self._random
        address, pod = random.choice(self._pods[:40])
        path = f"/simple/package-{random.randrange(500)}/"
        return http(address, 40100, pod, path, random.randrange(10**8))


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

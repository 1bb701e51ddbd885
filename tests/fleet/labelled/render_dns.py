"""DNS logs of the labelled fleet: DNS-collector, with the pod or its node's cache as client, and
CoreDNS without answers. Nodes whose agent tells of DNS are in the Hubble exports."""

import json
import random
from collections import defaultdict
from pathlib import Path

from tests.fleet.labelled.files import write_lines
from tests.fleet.labelled.moments import day_of, to_nano_text
from tests.fleet.labelled.traffic import Lookup, Traffic


def write(folder: Path, rng: random.Random, traffic: Traffic) -> None:
    """Write one file per node and day."""
    told: dict[tuple[str, str, str, str], list[tuple[int, str]]] = defaultdict(list)
    for lookup in traffic.lookups:
        node = lookup.pod.node
        if node.resolver == "hubble":
            continue
        moment = lookup.answered + node.skew
        kind = "coredns" if node.resolver == "silent" else "dns_collector"
        line = _coredns(rng, moment, lookup) if kind == "coredns" else _collector(moment, lookup)
        told[kind, node.cluster.name, str(day_of(moment)), node.name].append((moment, line))
    for (kind, cluster, day, node_name), lines in told.items():
        path = folder / "exports" / cluster / kind / day / f"{node_name}.log"
        write_lines(path, [line for _, line in sorted(lines)])


def _coredns(rng: random.Random, moment: int, lookup: Lookup) -> str:
    record = "AAAA" if ":" in lookup.address else "A"
    return (
        f"{to_nano_text(moment, 1)} stdout F [INFO] {lookup.pod.address}:{lookup.port} - "
        f'{rng.randrange(65_536)} "{record} IN {lookup.host.name}. udp 60 false 1232" NOERROR '
        "qr,rd,ra 94 0.000150566s"
    )


def _collector(moment: int, lookup: Lookup) -> str:
    node = lookup.pod.node
    record = "AAAA" if ":" in lookup.address else "A"
    answers = [
        {"name": lookup.host.name, "rdatatype": record, "ttl": lookup.host.ttl, "rdata": address}
        for address in lookup.addresses
    ]
    client = node.address if node.resolver == "node_cache" else lookup.pod.address
    value = {
        "network": {
            "family": "IPv4", "protocol": "UDP", "query-ip": client,
            "query-port": str(lookup.port), "response-ip": f"10.{node.cluster.number}.0.10",
            "response-port": "53",
        },
        "dns": {
            "id": 7, "opcode": 0, "rcode": "NOERROR", "qname": lookup.host.name, "qtype": record,
            "qclass": "IN", "resource-records": {"an": answers, "ns": [], "ar": []},
        },
        "dnstap": {
            "operation": "CLIENT_RESPONSE", "identity": node.name,
            "timestamp-rfc3339ns": to_nano_text(moment, 1), "latency": 0.001,
        },
    }  # fmt: skip
    return json.dumps(value, separators=(",", ":"))

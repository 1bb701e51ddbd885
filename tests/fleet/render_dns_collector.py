"""DNS-collector lines of cluster birch: nested JSON of one node, flat JSON of the other.

Only responses are exported. The flat form writes an empty list as the text `-` under the list's own
name, so the same key is a text in one line and missing in the next.
"""

import json
from datetime import date
from typing import Any

from tests.fleet import draw
from tests.fleet.clock import DAYS, to_nano
from tests.fleet.export import ExportFile
from tests.fleet.places import B1, B2, BIRCH
from tests.fleet.world import Fleet, Lookup, Node

Json = dict[str, Any]


def render(fleet: Fleet) -> list[ExportFile]:
    """Return one file per node and day."""
    return [_file(fleet, node, day) for node in (B1, B2) for day in DAYS]


def _file(fleet: Fleet, node: Node, day: date) -> ExportFile:
    file = ExportFile(
        path=f"exports/{BIRCH.name}/dns_collector/{day}/{node.name}.jsonl",
        export="birch-dns-collector",
        format="dns_collector",
        cluster=BIRCH.name,
        node=node.name,
        landing_date=day,
    )
    today = [
        item for item in fleet.lookups if item.pod.node == node and item.answered.date() == day
    ]
    today.sort(key=lambda item: item.answered)
    for index, lookup in enumerate(today):
        nested = _nested(lookup)
        value = nested if node == B1 else _flat(nested)
        line = json.dumps(value, separators=(",", ":"))
        file.accept(line)
        if node == B2 and day == DAYS[0] and index == 2:
            file.reject(line[:-40], "invalid_json")
    return file


def _nested(lookup: Lookup) -> Json:
    records = [
        {"name": item.name, "rdatatype": item.type, "class": "IN", "ttl": item.ttl,
         "rdata": item.data}
        for item in lookup.answers
    ]  # fmt: skip
    return {
        "network": {
            "family": "IPv4",
            "protocol": "UDP",
            "query-ip": lookup.pod.address,
            "query-port": str(lookup.port),
            "response-ip": BIRCH.resolver,
            "response-port": "53",
            "ip-defragmented": False,
            "tcp-reassembled": False,
        },
        "dns": {
            "id": draw.below(65_536, "dns-id", lookup.time, lookup.asked_as, lookup.type),
            "length": 64 + 16 * len(records),
            "opcode": 0,
            "rcode": lookup.rcode,
            "qname": lookup.asked_as,
            "qtype": lookup.type,
            "qclass": "IN",
            "qdcount": 1,
            "ancount": len(records),
            "nscount": 0,
            "arcount": 0,
            "flags": {
                "qr": True, "tc": False, "aa": False, "ra": True, "ad": False, "rd": True,
                "cd": False,
            },
            "malformed-packet": False,
            "resource-records": {"an": records, "ns": [], "ar": []},
        },
        "edns": {"udp-size": 0, "rcode": 0, "version": 0, "dnssec-ok": 0, "options": []},
        "dnstap": {
            "operation": "CLIENT_RESPONSE",
            "identity": lookup.pod.node.name,
            "version": "CoreDNS-1.9.3",
            "extra": "-",
            "timestamp-rfc3339ns": to_nano(
                lookup.answered, draw.between(1, 999, "dnstap", lookup.answered)
            ),
            "latency": lookup.latency_micros / 1_000_000,
        },
    }  # fmt: skip


def _flat(value: Json) -> Json:
    """Return the flat form: paths joined by dots, lists as numbered keys."""
    flat: Json = {}

    def walk(path: str, item: object) -> None:
        if isinstance(item, dict):
            for key, inner in item.items():
                walk(f"{path}.{key}" if path else key, inner)
        elif isinstance(item, list):
            if not item:
                flat[path] = "-"
            for index, inner in enumerate(item):
                walk(f"{path}.{index}", inner)
        else:
            flat[path] = item

    walk("", value)
    return flat

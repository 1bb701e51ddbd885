"""Hosts outside of the clusters: their names, and the addresses that stand for them."""

import random
from dataclasses import dataclass

from tests.fleet.labelled.moments import SECOND

API_SERVER = "10.{}.250.1"
NAT_ADDRESS = "198.51.100.250"


@dataclass(frozen=True)
class Host:
    """One name; its addresses may be those of other names too."""

    name: str
    addresses: tuple[str, ...]
    addresses6: tuple[str, ...]
    ttl: int
    is_shared: bool


@dataclass(frozen=True)
class Hosts:
    """Hosts with addresses of their own, and hosts behind a shared edge."""

    own: tuple[Host, ...]
    shared: tuple[Host, ...]
    registry: Host


def make_hosts(rng: random.Random) -> Hosts:
    """Make the hosts; an address of its own belongs to one name only."""
    own = []
    for number in range(1, 121):
        addresses = (f"203.0.113.{number}", f"198.51.100.{number}")[: 1 + number % 2]
        own.append(
            Host(
                name=f"host-{number:03d}.example.com",
                addresses=addresses,
                addresses6=(f"2001:db8:ffff::{number:x}",),
                ttl=rng.choice((5, 30, 60, 300)),
                is_shared=False,
            )
        )
    shared = [
        Host(f"edge-{number:02d}.example.net", (f"192.0.2.{1 + number % 6}",), (), 60, True)
        for number in range(24)
    ]
    registry = Host("registry.example.org", ("203.0.113.200",), (), 300, False)
    return Hosts(tuple(own), tuple(shared), registry)


def life_of(ttl: int) -> int:
    """How long an answer holds, microseconds: at least a minute (definitions.md 36)."""
    return max(ttl, 60) * SECOND

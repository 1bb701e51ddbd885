"""What the settings say of where a cluster's addresses lie, as tables."""

from collections.abc import Sequence

import polars as pl

from transforms.day import BuildDay
from transforms.intermediate.address_prefixes import CLUSTER_SUBNETS, subnet_row
from transforms.sql import SqlSession

ACCOUNTS = pl.Schema({"cluster": pl.String(), "account_id": pl.String(), "cloud": pl.String()})
ZONES = pl.Schema({"cluster": pl.String(), "zone_id": pl.String(), "zone_name": pl.String()})
ENDPOINTS = pl.Schema({"cluster": pl.String(), "address": pl.String(), "endpoint_id": pl.String()})


def show_places(session: SqlSession, day: BuildDay) -> None:
    """Show `cluster_accounts`, `cluster_zones`, `cluster_subnets` and `cluster_endpoints`.

    Of endpoints only interface ones have addresses of their own in the cluster's network.
    """
    accounts = [(facts.name, facts.account_id, facts.cloud) for facts in day.clusters]
    zones = [(facts.name, *zone) for facts in day.clusters for zone in facts.zones]
    subnets = [
        subnet_row(facts.name, *subnet) for facts in day.clusters for subnet in facts.subnets
    ]
    endpoints = [
        (facts.name, address, endpoint)
        for facts in day.clusters
        for endpoint, kind, addresses in facts.endpoints
        for address in addresses
        if kind == "interface"
    ]
    tables: tuple[tuple[str, Sequence[Sequence[str | int | None]], pl.Schema], ...] = (
        ("cluster_accounts", accounts, ACCOUNTS),
        ("cluster_zones", zones, ZONES),
        ("cluster_subnets", subnets, CLUSTER_SUBNETS),
        ("cluster_endpoints", endpoints, ENDPOINTS),
    )
    for name, rows, schema in tables:
        session.register(name, pl.DataFrame(rows, schema=schema, orient="row"))

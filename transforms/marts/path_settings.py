"""What the settings say of clouds, endpoints, shared addresses and owners of buckets, as tables."""

import polars as pl

from transforms.day import BuildDay
from transforms.intermediate.nat_addresses import nat_addresses
from transforms.sql import SqlSession

_TEXT = pl.String()
CLOUDS = pl.Schema({"cluster": _TEXT, "cloud": _TEXT, "region": _TEXT, "account_id": _TEXT})
ENDPOINTS = pl.Schema({"endpoint_id": _TEXT, "kind": _TEXT})
BUCKET_OWNERS = pl.Schema(
    {
        "ordinal": pl.Int64(),
        "pattern": _TEXT,
        "account_id": _TEXT,
        "requester_pays": pl.Boolean(),
    }
)


def show_path_settings(session: SqlSession, day: BuildDay) -> None:
    """Register cluster_clouds, cluster_endpoints, nat_addresses and bucket_owners."""
    clouds = [(c.name, c.cloud, c.region, c.account_id) for c in day.clusters]
    endpoints = sorted({(e[0], e[1]) for c in day.clusters for e in c.endpoints})
    owners = [(n, *owner) for n, owner in enumerate(day.bucket_owners)]
    for name, rows, schema in (
        ("cluster_clouds", clouds, CLOUDS),
        ("cluster_endpoints", endpoints, ENDPOINTS),
        ("bucket_owners", owners, BUCKET_OWNERS),
    ):
        session.register(name, pl.DataFrame(rows, schema=schema, orient="row"))
    session.register("nat_addresses", nat_addresses(day))

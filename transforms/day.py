"""The day that a build makes, and what settings it needs to know."""

import datetime as dt
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

SKEW_GUARD = timedelta(seconds=2)
"""Clocks of nodes differ by at most this much (definitions.md 35)."""


@dataclass(frozen=True)
class LookBack:
    """How far back a table reads before its day (definitions.md 3)."""

    connections: timedelta = timedelta(days=1)
    pods: timedelta = timedelta(hours=36)
    names: timedelta = timedelta(days=1)
    counters: timedelta = timedelta(days=1)
    credentials: timedelta = timedelta(days=1)
    transfers: timedelta = timedelta(days=1)
    repeats: timedelta = timedelta(days=30)


@dataclass(frozen=True)
class ClusterFacts:
    """What the settings say of a cluster.

    Attributes:
        name: Cluster.
        cloud: Provider: `aws`, `gcp`, `azure` or another.
        region: Its region.
        account_id: Account that owns it.
        zones: (zone id, zone name in this cluster's account).
        subnets: (network such as `10.0.0.0/20`, zone id or name, region); null what is not stated.
        endpoints: (endpoint id, `gateway` or `interface`, its addresses in the cluster's network).
    """

    name: str
    cloud: str | None = None
    region: str | None = None
    account_id: str | None = None
    zones: tuple[tuple[str, str], ...] = ()
    subnets: tuple[tuple[str, str | None, str | None], ...] = ()
    endpoints: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class BuildDay:
    """One day of one cluster, or of the fleet.

    Attributes:
        date: The event day.
        cluster: Cluster, or `fleet`.
        clusters: All clusters of the settings.
        look_back: How far back each table reads.
        look_ahead: How far the next reading of bytes and coverage may lie behind the day.
        final_after: How long after an hour its logs are awaited.
        datasets: (dataset id, pattern over object ids), in the order of the settings.
        buckets: (pattern over bucket names, region), in the order of the settings.
        bucket_owners: (pattern over bucket names, account that owns them or none if it is not
            stated, whether the requester pays), in the order of the settings.
        nat_addresses: (address that many pods share, its cluster or none if it is not stated).
        export_tables: (cluster or fleet, staging table) that the settings' exports can fill.
        built_days: Days before this one that are built (for look-backs over marts).
        is_final: The day's watermark has passed.
    """

    date: dt.date
    cluster: str
    clusters: tuple[ClusterFacts, ...] = ()
    look_back: LookBack = field(default_factory=LookBack)
    look_ahead: timedelta = timedelta(hours=1)
    final_after: timedelta = timedelta(days=3)
    datasets: tuple[tuple[str, str], ...] = ()
    buckets: tuple[tuple[str, str], ...] = ()
    bucket_owners: tuple[tuple[str, str | None, bool], ...] = ()
    nat_addresses: tuple[tuple[str, str | None], ...] = ()
    export_tables: tuple[tuple[str, str], ...] = ()
    built_days: tuple[dt.date, ...] = ()
    is_final: bool = False

    def of(self, cluster: str) -> "BuildDay":
        """The same day of one cluster, or of the fleet."""
        return replace(self, cluster=cluster)

    @property
    def start_at(self) -> datetime:
        """First instant of the day."""
        return datetime(self.date.year, self.date.month, self.date.day, tzinfo=UTC)

    @property
    def end_at(self) -> datetime:
        """First instant behind the day."""
        return self.start_at + timedelta(days=1)

    @property
    def start_us(self) -> int:
        """First microsecond of the day since 1970."""
        return int(self.start_at.timestamp()) * 1_000_000

    @property
    def end_us(self) -> int:
        """First microsecond behind the day since 1970."""
        return int(self.end_at.timestamp()) * 1_000_000

    @property
    def read_until(self) -> datetime:
        """What is read ends here, but for bytes and coverage."""
        return self.end_at + SKEW_GUARD

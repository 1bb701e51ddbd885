"""What a cache per node, zone or region would have saved: the real reads, replayed.

A cache is asked once for each object transfer (a burst of requests for one object), holds whole
objects and fetches an object whole on its first read. Reads of an object whose size no log states
are never answered from it, nor are those of readers whose place is not known: both are counted.
What is the same content tells cache_reads.sql.

`cold` begins with an empty cache on the first day asked; `warm` replays the days of the warm-up
before it and counts from the first day asked on. Seconds are those that the answered transfers
took: the most that can be saved, as the cache takes time, too. Money is what
`repeat_transfers` calls avoidable in the scope of the placement.
"""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

import polars as pl

from transforms.marts.cache_replay import Policy, Reads, replay
from transforms.sql import SqlSession

PACKAGE = "transforms.marts"
Placement = Literal["node", "zone", "region"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)
SHARES = (10, 25, 50, 75, 100)
"""Sizes to try where none are stated, in percent of what the fullest place read."""
_LARGEST = 2**63 - 1


class Point(NamedTuple):
    """One size of cache at one placement.

    Attributes:
        placement: Where the caches stand.
        policy: What they drop first.
        start: `cold` or `warm`.
        capacity_bytes: Size of each cache.
        cache_count: Caches, one for each place whose reads count.
        read_count: Reads that count.
        hit_count: Answered from a cache.
        unplaced_count: Reads whose place is not known; never answered.
        unsized_count: Reads of an object of unknown size; never answered.
        read_bytes: Bytes read.
        hit_bytes: Of them from a cache.
        fetched_bytes: Bytes that the caches and their readers would have fetched still.
        max_saved_seconds: Time that the answered transfers took.
        min_saved_usd: Least saved; null if the price of one is not known.
        max_saved_usd: Most saved; null if the price of one is not known.
        unpriced_count: Answered reads without a price.
    """

    placement: Placement
    policy: Policy
    start: Literal["cold", "warm"]
    capacity_bytes: int
    cache_count: int
    read_count: int
    hit_count: int
    unplaced_count: int
    unsized_count: int
    read_bytes: int
    hit_bytes: int
    fetched_bytes: int
    max_saved_seconds: float
    min_saved_usd: Decimal | None
    max_saved_usd: Decimal | None
    unpriced_count: int

    @property
    def hit_ratio(self) -> float | None:
        """Share of the reads; null if there are none."""
        return self.hit_count / self.read_count if self.read_count else None


class Study(NamedTuple):
    """A curve and what it must be read with.

    Attributes:
        points: By placement, policy, start and size.
        cold_endpoints: (resource, operation, runs) that only cold runs contacted.
    """

    points: tuple[Point, ...]
    cold_endpoints: tuple[tuple[str, str, int], ...]


def study(
    session: SqlSession,
    first: dt.date,
    last: dt.date,
    warm_up: dt.timedelta,
    *,
    placements: Sequence[Placement] = PLACEMENTS,
    policies: Sequence[Policy] = ("lru", "s3-fifo"),
    capacities: Sequence[int] = (),
) -> Study:
    """Replay the reads of a range of days.

    Args:
        session: Shows `object_transfers`, `repeat_transfers` and `run_dependency_days` with their
            `date`.
        first: First day that counts.
        last: Last day that counts.
        warm_up: How long before it the warm caches begin.
        placements: Where caches stand.
        policies: What they drop first.
        capacities: Bytes of each cache; SHARES of what the fullest place read if none.
    """
    start = dt.datetime.combine(first, dt.time(), dt.UTC)
    values = {
        "first": first - warm_up,
        "last": last,
        "from_us": int(start.timestamp()) * 1_000_000,
    }
    points: list[Point] = []
    with session.dropped("cache_reads", "object_reads"):
        session.create_view("object_reads", PACKAGE, "object_reads")
        session.create("cache_reads", PACKAGE, "cache_reads", values)
        for placement in placements:
            points.extend(
                _curve(session, placement, policies, capacities, {**values, "placement": placement})
            )
        cold = session.query(PACKAGE, "cache_cold_endpoints", {**values, "first": first}).fetchall()
    return Study(tuple(points), tuple((str(r), str(o), int(n)) for r, o, n in cold))


def _curve(
    session: SqlSession,
    placement: Placement,
    policies: Sequence[Policy],
    capacities: Sequence[int],
    values: dict[str, object],
) -> list[Point]:
    with session.dropped("cache_items"):
        name = session.create("cache_items", PACKAGE, "cache_items", values)
        items = session.frame(name).sort("number")
    places = (
        items.group_by("item_number").agg(pl.col("place_number").first()).sort("item_number")
    )["place_number"]
    counted = session.connection.execute(
        "SELECT is_counted FROM cache_reads ORDER BY rowid"
    ).fetchnumpy()["is_counted"]
    is_counted = counted[items["number"]]
    cache_count = items.filter(is_counted)["place_number"].n_unique()
    chosen = capacities or _shares(items)
    points = []
    with session.dropped("cache_prices"):
        session.create("cache_prices", PACKAGE, "cache_prices", values)
        for policy in policies:
            for start in get_args(Literal["cold", "warm"]):
                asked = items if start == "warm" else items.filter(is_counted)
                reads = Reads(
                    asked["item_number"].to_numpy(),
                    asked["size_bytes"].to_numpy(),
                    places.to_numpy(),
                )
                for capacity in chosen:
                    answers = replay(reads, capacity, policy)
                    hits = asked.select("number").with_columns(
                        is_hit=pl.Series(answers.hits, dtype=pl.Boolean),
                        is_kept=pl.Series(answers.kept, dtype=pl.Boolean),
                    )
                    points.append(
                        _point(session, hits, (placement, policy, start), capacity, cache_count)
                    )
    return points


def _point(
    session: SqlSession,
    hits: pl.DataFrame,
    kind: tuple[Placement, Policy, Literal["cold", "warm"]],
    capacity: int,
    cache_count: int,
) -> Point:
    session.register("cache_hits", hits)
    found = session.query(PACKAGE, "cache_curve")
    names = [name for name, *_ in found.description or ()]
    (row,) = found.fetchall()
    told = dict(zip(names, row, strict=True))
    seconds = told.pop("hit_us") / 1_000_000
    return Point(*kind, capacity, cache_count, max_saved_seconds=seconds, **told)


def _shares(items: pl.DataFrame) -> tuple[int, ...]:
    """Parts of the distinct bytes that the fullest place read; none where no size is known."""
    held = (
        items.filter(pl.col("size_bytes") >= 0)
        .group_by("place_number", "item_number")
        .agg(pl.col("size_bytes").max())
    )
    # A client may forge sizes: their sum may not fit 64 bits, but a cache's size must.
    sums = held.group_by("place_number").agg(pl.col("size_bytes").cast(pl.Int128).sum())
    most = sums["size_bytes"].max()
    whole = min(int(most), _LARGEST) if isinstance(most, int) else 0
    return tuple(sorted({-(-whole * share // 100) for share in SHARES if whole}))

"""Made-up pod intervals and connections for the benchmark of the pod ladder.

Addresses are taken by one pod after another, as in a small pod range: each address's day is cut
into equal turns, a pod starts 0 to 90 s after its turn begins and ends with it, except one in
twenty whose end is seen ten minutes late, so that two pods hold the address. One pod in twenty has
a name that returns. Connections fall on the addresses unevenly; some are of no pod. A share of them
states namespace and name: nearly always those of the pod whose turn it is, sometimes another's.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import polars as pl

ADDRESSES_BY_INTERVALS = 100
"""Pods that follow each other on one address."""
_SECOND = 1_000_000
_DAY_US = 86_400 * _SECOND
_LATE_END = 600 * _SECOND
_NODES = 500


@dataclass(frozen=True)
class Files:
    """Parquet files of one made-up day."""

    intervals: Path
    connections: Path


def generate(
    folder: Path,
    connections: int,
    intervals: int,
    *,
    day: date,
    cluster: str,
    named: float = 0.3,
    seed: int = 1,
) -> Files:
    """Write one day's files.

    Args:
        folder: Where to; made if missing.
        connections: How many connections, one end of each.
        intervals: How many pod intervals.
        day: The UTC day of all of them.
        cluster: Of all of them.
        named: Share of the connections that state namespace and pod name.
        seed: Of the random numbers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    pods = _intervals(rng, intervals, day, cluster)
    files = Files(folder / "pod_intervals.parquet", folder / "connections.parquet")
    pods.write_parquet(files.intervals, compression="zstd")
    _connections(rng, pods, connections, named).write_parquet(
        files.connections, compression="zstd", row_group_size=245_760
    )
    return files


def _intervals(rng: np.random.Generator, count: int, day: date, cluster: str) -> pl.DataFrame:
    number = np.arange(count)
    address, turn = number // ADDRESSES_BY_INTERVALS, number % ADDRESSES_BY_INTERVALS
    length = _DAY_US // ADDRESSES_BY_INTERVALS
    turn_start = _start_us(day) + turn * length
    start = turn_start + rng.integers(0, 90 * _SECOND, count)
    end = turn_start + length + np.where(rng.random(count) < 0.05, _LATE_END, 0)
    uids = rng.integers(0, 2**63, (count, 2)).astype(np.uint64)
    name_number = np.where(rng.random(count) < 0.05, number // 40, number)
    owned = rng.random(count) < 0.7
    return pl.DataFrame(
        {
            "pod_interval_id": [f"{n:032x}" for n in number],
            "cluster": cluster,
            "pod_uid": [_uid(int(high), int(low)) for high, low in uids],
            "namespace": [f"team-{n % 40}" for n in number],
            "pod_name": [f"trainer-{n:07d}-worker-0" for n in name_number],
            "address": [_address(int(n)) for n in address],
            "host_network": False,
            "node": [f"ip-10-0-{n % _NODES}.example.com" for n in rng.integers(0, _NODES, count)],
            "run_uuid": [f"{n // 2:032x}" if has else None for n, has in enumerate(owned)],
            "attempt": pl.Series(np.where(owned, 1, 0)).replace(0, None),
            "date": pl.Series([day]).new_from_index(0, count),
            "created_at": _times(start - 5 * _SECOND),
            "start_at": _times(start),
            "end_at": _times(end),
        }
    )


def _connections(
    rng: np.random.Generator, pods: pl.DataFrame, count: int, named: float
) -> pl.DataFrame:
    addresses = -(-pods.height // ADDRESSES_BY_INTERVALS)
    at = np.sort(rng.integers(0, _DAY_US, count))
    # One in six is of no pod.
    held = (rng.random(count) ** 1.7 * addresses).astype(np.int64)
    outside = rng.random(count) < 1 / 6
    address = np.where(outside, addresses + held % 3_000, held)
    length = _DAY_US // ADDRESSES_BY_INTERVALS
    holder = held * ADDRESSES_BY_INTERVALS + np.minimum(at // length, ADDRESSES_BY_INTERVALS - 1)
    holder = np.minimum(holder, pods.height - 1)
    stated = np.where(rng.random(count) < 0.002, rng.integers(0, pods.height, count), holder)
    is_named = (rng.random(count) < named) & ~outside
    names = pods.select("namespace", "pod_name")[stated]
    texts = pl.Series([_address(int(n)) for n in range(addresses + 3_000)])
    return (
        pl.DataFrame(
            {
                "connection": np.arange(count),
                "cluster": pods["cluster"].gather(np.zeros(count, np.uint32)),
                "address": texts.gather(address),
                "event_at": _times(_start_us(pods["date"][0]) + at),
                "is_named": is_named,
            }
        )
        .hstack(names)
        .select(
            "connection",
            "cluster",
            "address",
            pl.when("is_named").then("namespace").alias("namespace"),
            pl.when("is_named").then("pod_name").alias("pod_name"),
            pl.lit(None, pl.String).alias("pod_uid"),
            "event_at",
        )
    )


def _start_us(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * _SECOND


def _times(micros: np.ndarray) -> pl.Series:
    return pl.Series(micros).cast(pl.Datetime("us", "UTC"))


def _address(number: int) -> str:
    return f"10.{64 + number // 65_536}.{number // 256 % 256}.{number % 256}"


def _uid(high: int, low: int) -> str:
    text = f"{high:016x}{low:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

"""Made-up readings of byte counters for the benchmark of counters.

One day of one cluster: each series is read once a minute, a few seconds behind the minute, by one
observer. Traffic is uneven. One series in two starts within the day, so that its start is known,
one in ten restarts once (from 0, to less than seven eighths of where it stood), one in fifty is
read stale now and then (by a twentieth). Files are parts of `counter_samples` as landing writes
them, but for the ids of records; beside them stands the life of each pod.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.registry import table_spec

DAY = date(2026, 3, 2)
CLUSTER = "alder"
MINUTES = 1_440
ROW_GROUP = 122_880
_SECOND = 1_000_000
_MINUTE = 60 * _SECOND
_START_US = int(datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC).timestamp()) * _SECOND
_FILES = 24


@dataclass(frozen=True)
class Expected:
    """What the readings come to.

    Attributes:
        readings: How many readings there are.
        rows: Increments: one between two readings of a series, one to the first of a known start.
        bytes: What all counters grew by, as far as readings show it.
        resets: Restarts.
    """

    readings: int
    rows: int
    bytes: int
    resets: int


def generate(folder: Path, series: int, *, is_shuffled: bool, seed: int = 1) -> Expected:
    """Write one day's parts of `counter_samples`, and the pods' `pod_intervals`.

    Args:
        folder: Where to; made if missing.
        series: How many series.
        is_shuffled: Whether each file holds rows of the whole day, in no order; else of an hour, by
            time.
        seed: Of the random numbers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    at, value, start, expected = _readings(rng, series)
    texts = _texts(rng, series)
    _pods(texts).write_parquet(folder / "pods.parquet")
    number = np.tile(np.arange(series, dtype=np.int32), MINUTES)
    order = rng.permutation(number.size) if is_shuffled else None
    part = -(-number.size // _FILES)
    for file in range(_FILES):
        rows: slice | np.ndarray = slice(file * part, (file + 1) * part)
        if order is not None:
            rows = order[rows]
        _write(
            folder / f"part-{file:02d}.parquet",
            number[rows],
            at.reshape(-1)[rows],
            value.reshape(-1)[rows],
            start,
            texts,
        )
    return expected


def _readings(
    rng: np.random.Generator, series: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Expected]:
    """Times and values by minute and series, the start of each series (0: unknown), the truth."""
    minute = _START_US + np.arange(MINUTES, dtype=np.int64)[:, None] * _MINUTE
    at = minute + rng.integers(5 * _SECOND, 20 * _SECOND, series)[None, :]
    rate = rng.lognormal(13, 3, series)
    value = np.empty((MINUTES, series), dtype=np.int64)
    running = (rate * rng.random(series) * 100).astype(np.int64)
    restart = np.where(rng.random(series) < 0.1, rng.integers(1, MINUTES, series), MINUTES)
    is_stale = rng.random(series) < 0.02
    has_start = rng.random(series) < 0.5
    # The largest value of this segment that was read; the bytes that readings show.
    largest, shown, resets = np.zeros(series, np.int64), 0, 0
    for row in range(MINUTES):
        grown = (rate * rng.random(series) * 2).astype(np.int64)
        restarts = (restart == row) & (grown < running // 8 * 7) & (largest > 0)
        running = np.where(restarts, grown, running + grown)
        dip = is_stale & (rng.random(series) < 0.01) & ~restarts & (row > 0)
        # Not behind a restart, where a twentieth less might be an eighth below a reading before.
        seen = np.where(dip, np.maximum(largest - largest // 20, 0), running)
        value[row] = seen
        base = np.where(restarts, 0, largest)
        told = np.maximum(seen - base, 0) if row else np.where(has_start, seen, 0)
        shown += int(told.sum())
        resets += int(restarts.sum())
        largest = np.where(restarts, seen, np.maximum(largest, seen))
    start = np.where(has_start, at[0] - 30 * _SECOND, 0)
    rows = (MINUTES - 1) * series + int(has_start.sum())
    return at, value, start, Expected(MINUTES * series, rows, shown, resets)


def _pods(texts: dict[str, pa.Array]) -> pl.DataFrame:
    """The pods that the series name, alive all day."""
    pods = pl.DataFrame(
        {k: pl.Series(texts[k]) for k in ("namespace", "pod_name", "pod_uid", "node")}
    )
    day = datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC)
    return pods.unique(maintain_order=True).with_columns(
        cluster=pl.lit(CLUSTER),
        pod_interval_id=pl.col("pod_uid"),
        address=pl.lit(None, pl.String),
        host_network=pl.lit(value=False),
        start_at=pl.lit(day, pl.Datetime("us", "UTC")),
        created_at=pl.lit(day, pl.Datetime("us", "UTC")),
        end_at=pl.lit(None, pl.Datetime("us", "UTC")),
        end_basis=pl.lit("open"),
        run_uuid=pl.lit(None, pl.String),
        attempt=pl.lit(None, pl.Int64),
        date=pl.lit(DAY),
    )


def _texts(rng: np.random.Generator, series: int) -> dict[str, pa.Array]:
    """Text columns by series: one receive and one transmit counter a pod."""
    pods = np.arange(series) // 2
    words = rng.integers(0, 2**63, (series, 2)).astype(np.uint64)
    ids = [f"{int(a):016x}{int(b):016x}" for a, b in words]
    of_pods = [ids[2 * (n // 2)] for n in range(series)]
    return {
        "series_id": pa.array(ids),
        "observer": pa.array([f"prometheus-0/kubelet/192.0.2.{n % 250}:10250" for n in pods // 30]),
        "metric": pa.array(
            [
                f"container_network_{('receive', 'transmit')[n % 2]}_bytes_total"
                for n in range(series)
            ]
        ),
        "node": pa.array([f"node-{n // 30}.example.com" for n in pods]),
        "namespace": pa.array([f"team-{n % 40}" for n in pods]),
        "pod_name": pa.array([f"trainer-{n:07d}-worker-0" for n in pods]),
        "pod_uid": pa.array([f"{t[:8]}-{t[8:12]}-{t[12:16]}-{t[16:20]}-{t[20:]}" for t in of_pods]),
        "interface": pa.array(["eth0"] * series),
        "direction": pa.array([("receive", "transmit")[n % 2] for n in range(series)]),
    }


def _write(
    path: Path,
    number: np.ndarray,
    at: np.ndarray,
    value: np.ndarray,
    start: np.ndarray,
    texts: dict[str, pa.Array],
) -> None:
    schema = table_spec("counter_samples").arrow_schema
    constants = {
        "record_id": "",
        "export_file_id": path.stem,
        "row_index": 0,
        "source_format": "prometheus",
        "cluster": CLUSTER,
        "temporality": "cumulative",
        "byte_layer": "frame",
    }
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1) as writer:
        for first in range(0, number.size, ROW_GROUP):
            rows = slice(first, first + ROW_GROUP)
            some = number[rows]
            taken = {
                "record_index": np.arange(first, first + some.size),
                "event_at": at[rows],
                "value": value[rows],
                "counter_start_at": np.ma.masked_equal(start[some], 0),
            } | {name: text.take(pa.array(some)) for name, text in texts.items()}
            columns = []
            for field in schema:
                if field.name in constants:
                    column = pa.repeat(pa.scalar(constants[field.name], field.type), some.size)
                elif field.name in taken:
                    column = pa.array(taken[field.name]).cast(field.type)
                else:
                    column = pa.nulls(some.size, field.type)
                columns.append(column)
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))

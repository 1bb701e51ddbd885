"""Made-up readings of byte counters for the benchmark of counters.

One day of one cluster: each series is read once a minute, a few seconds behind the minute, by one
observer. Traffic is uneven. One series in two starts within the day, so that its start is known,
one in ten restarts once, one in fifty is read stale now and then. Files are parts of
`counter_samples` as landing writes them, but for the ids of records.
"""

from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
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


def generate(folder: Path, series: int, *, shuffled: bool, seed: int = 1) -> int:
    """Write one day's parts of `counter_samples`.

    Args:
        folder: Where to; made if missing.
        series: How many series.
        shuffled: Whether each file holds rows of the whole day, in no order; else of an hour, by
            time.
        seed: Of the random numbers.

    Returns:
        How many rows there are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    at, value, start = _readings(rng, series)
    texts = _texts(rng, series)
    number = np.tile(np.arange(series, dtype=np.int32), MINUTES)
    order = rng.permutation(number.size) if shuffled else None
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
    return number.size


def _readings(rng: np.random.Generator, series: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times and values by minute and series, and the start of each series (0: unknown)."""
    minute = _START_US + np.arange(MINUTES, dtype=np.int64)[:, None] * _MINUTE
    at = minute + rng.integers(5 * _SECOND, 20 * _SECOND, series)[None, :]
    rate = rng.lognormal(13, 3, series)
    value = np.empty((MINUTES, series), dtype=np.int64)
    running = (rate * rng.random(series) * 100).astype(np.int64)
    restart = np.where(rng.random(series) < 0.1, rng.integers(1, MINUTES, series), MINUTES)
    is_stale = rng.random(series) < 0.02
    for row in range(MINUTES):
        grown = (rate * rng.random(series) * 2).astype(np.int64)
        running = np.where(restart == row, grown, running + grown)
        dip = is_stale & (rng.random(series) < 0.01)
        value[row] = np.where(dip, running - running // 20, running)
    start = np.where(rng.random(series) < 0.5, at[0] - 30 * _SECOND, 0)
    return at, value, start


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

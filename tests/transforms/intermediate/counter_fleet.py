"""Many counters whose bytes are known, as they were made from what they count.

Each series is made of segments: stretches between restarts. What its readings can show at most is
the largest value read in each segment less where that segment began: at 0 behind a restart or at a
known start, else at the first reading. Counters of 32 bits show what they counted modulo 2**32.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from tests.transforms.frames import DAY, frame
from transforms.day import BuildDay
from transforms.intermediate import counter_increments
from transforms.intermediate.traffic_windows import sum_windows
from transforms.sql import SqlSession

SECOND = 1_000_000
FIRST_US = int(datetime(DAY.year, DAY.month, DAY.day, 15, tzinfo=UTC).timestamp()) * SECOND
STEP_US = 2_400 * SECOND
NO_START = 0
DAYS = [DAY + timedelta(days=n) for n in range(2)]


@dataclass(frozen=True)
class Fleet:
    """Readings, and the bytes that they show of each series, by its number, which is its pod's."""

    readings: pl.DataFrame
    pods: pl.DataFrame
    shown: dict[int, int]


def make_fleet(seed: int, series: int, steps: int = 50) -> Fleet:
    """Make counters that restart, wrap, are read stale, or are not read now and then.

    Half begin at a known start, a tenth have 32 bits, a tenth stand near 2**63, a tenth are deltas.
    """
    rng = np.random.default_rng(seed)
    number = np.arange(series)
    is_narrow, is_delta, is_huge = number % 10 == 1, number % 10 == 2, number % 10 == 3
    has_start = rng.random(series) < 0.5
    rate = rng.integers(1, 2**30, series)
    rate = np.where(is_huge, rng.integers(1, 2**20, series), rate)
    count = np.where(is_huge, 2**63 - 1 - steps * 2**20, rng.integers(0, 2**31, series))
    at = FIRST_US + rng.integers(0, STEP_US, series)
    start = np.where(has_start, at - 30 * SECOND, NO_START)
    # Of the segment so far: its largest reading, and where it began.
    largest, base = count.copy(), np.where(has_start, 0, count)
    last_read, before_at = count.copy(), at.copy()
    shown = np.zeros(series, dtype=object)
    # A delta's first reading counts whole.
    shown += np.where(is_delta, count % 2**20, 0)
    taken = []

    def take(which: np.ndarray, value: np.ndarray) -> None:
        stated = np.where(is_delta, before_at, start) if taken else start
        taken.append((number[which], at[which], value[which], stated[which]))

    take(number >= 0, np.where(is_narrow, count % 2**32, np.where(is_delta, count % 2**20, count)))
    for _ in range(steps):
        before_at = at.copy()
        at = at + rng.integers(STEP_US // 2, STEP_US, series)
        grown = (rate * rng.random(series) ** 3).astype(np.int64)
        luck = rng.random(series)
        # What is not read is not gone: the next reading shows it.
        is_read = rng.random(series) > 0.1
        # One counter near 2**63 is what a window holds; two are more.
        may_end = ~is_delta & ~is_huge & is_read
        falls = ~is_narrow & may_end & (luck < 0.02) & (last_read > 16)
        restarts = may_end & has_start & (luck > 0.98)
        ends = falls | restarts
        shown += np.where(ends & ~is_delta, largest - base, 0)
        count = np.where(falls, (last_read // 2 * rng.random(series)).astype(np.int64), count)
        count = np.where(restarts, grown, np.where(falls, count, count + grown))
        start = np.where(restarts, at - rng.integers(1, STEP_US // 4, series), start)
        base = np.where(ends, 0, base)
        largest = np.where(ends, 0, largest)
        stale = ~is_narrow & ~is_delta & ~ends & (luck > 0.5) & (luck < 0.54)
        value = np.where(stale, largest - largest // 9, count)
        value = np.where(is_delta, grown % 2**20, value)
        shown += np.where(is_delta & is_read, value, 0)
        take(is_read, np.where(is_narrow, value % 2**32, value))
        last_read = np.where(is_read, value, last_read)
        largest = np.where(is_read, np.maximum(largest, value), largest)
    shown += np.where(is_delta, 0, largest - base)
    columns = [np.concatenate(column) for column in zip(*taken, strict=True)]
    return Fleet(
        _readings(columns, is_narrow, is_delta),
        _pods(series),
        {n: int(total) for n, total in enumerate(shown)},
    )


def _readings(
    columns: list[np.ndarray], is_narrow: np.ndarray, is_delta: np.ndarray
) -> pl.DataFrame:
    number, at, value, start = columns
    empty = frame("counter_samples", [])
    name = pl.Series(number).cast(pl.String).str.zfill(5)
    rows = pl.DataFrame(
        {
            "series_id": name,
            "pod_uid": "uid-" + name,
            "pod_name": "pod-" + name,
            "event_at": _instants(at),
            "value": value,
            "counter_start_at": _instants(start, nulls=start == NO_START),
            "temporality": pl.Series(is_delta[number]).replace_strict(
                {True: "delta", False: "cumulative"}, return_dtype=pl.String
            ),
            "counter_bits": pl.Series(np.where(is_narrow[number], 32, 0)).replace(0, None),
        }
    ).with_columns(
        cluster=pl.lit("alder"),
        observer=pl.lit("scraper-a"),
        metric=pl.lit("k8s.pod.network.io"),
        namespace=pl.lit("ml"),
        interface=pl.lit("eth0"),
        direction=pl.lit("receive"),
        byte_layer=pl.lit("frame"),
        link_bits_per_second=pl.when(pl.col("counter_bits").is_not_null()).then(10**12),
        source_format=pl.lit("otlp"),
        export_file_id=pl.lit("file"),
        record_id=pl.lit(""),
        record_index=pl.lit(0),
        row_index=pl.lit(0),
    )
    missing = [pl.lit(None).alias(c) for c in empty.columns if c not in rows.columns]
    return rows.with_columns(missing).select(empty.columns).cast(dict(empty.schema))


def _instants(micros: np.ndarray, nulls: np.ndarray | None = None) -> pl.Series:
    known = pl.Series(micros).cast(pl.Datetime("us", "UTC"))
    if nulls is None:
        return known
    return pl.select(pl.when(~pl.Series(nulls)).then(known)).to_series()


def _pods(series: int) -> pl.DataFrame:
    some = {"cluster": "alder", "namespace": "ml", "end_basis": "open", "node": "node-a"}
    return frame(
        "pod_intervals",
        [
            some | {"pod_uid": f"uid-{n:05d}", "pod_name": f"pod-{n:05d}", "date": day}
            for n in range(series)
            for day in DAYS[:1]
        ],
        date_column=True,
    )


def built(
    fleet: Fleet, readings: pl.DataFrame, days: list[date], grains: tuple[timedelta, ...] = ()
) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Increments of some days, each built alone, and windows of each length.

    Frames hold what laws ask of: numbers, and of increments `whole`, a hash of all columns. All
    texts of ten million windows would need several gigabytes.
    """
    grown: list[pl.DataFrame] = []
    windows: list[list[pl.DataFrame]] = [[] for _ in grains]
    with TemporaryDirectory() as folder:
        for day in days:
            with SqlSession(threads=2, memory_limit="3GB", temp_directory=Path(folder)) as session:
                session.register("counter_samples", readings)
                session.register("pod_intervals", fleet.pods)
                session.register("node_states", frame("node_states", []))
                build = BuildDay(date=day, cluster="alder")
                counter_increments.build(session, build)
                grown.append(_rows(session, _INCREMENTS))
                for found, grain in zip(windows, grains, strict=True):
                    sum_windows(session, build, grain)
                    found.append(_rows(session, _WINDOWS))
    return pl.concat(grown), [pl.concat(found) for found in windows]


_POD = "CAST(substr(pod_uid, 5) AS INTEGER) AS pod"
_INCREMENTS = f"""
    SELECT {_POD}, epoch_us(start_at) AS start_us, epoch_us(end_at) AS end_us, bytes,
        hash(i) AS whole
    FROM counter_increments AS i
"""
_WINDOWS = f"""
    SELECT {_POD}, window_number, bytes, min_bytes, max_bytes
    FROM traffic_windows
"""


def _rows(session: SqlSession, text: str) -> pl.DataFrame:
    rows: pl.DataFrame = session.connection.sql(text).pl()
    return rows

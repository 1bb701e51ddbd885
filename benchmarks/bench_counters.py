"""Increments of cumulative counters beside DuckDB's plain lag, from the same Parquet files.

Ours: the whole transform `counter_increments`: repeated readings, known starts, restarts, stale
readings, gaps, the pods' lives; its rows are copied to zstd Parquet. Peer (`counter_peer.sql`):
`lag` over series and observer, copied to the same columns. Both have the same threads and the same
limit of memory (for ours it is that of the whole process, of which the engine gets its share as
in a build) and may spill; each is a process of its own, interpreter and imports included.

The input is parts of `counter_samples`, once by time within each file, once in no order at all.

Bounds, on 50,000 series read once a minute over a day (72 million readings): wall time by the
peer's at most 1.0 by time and 1.5 in no order; peak memory of ours at most the limit. At any size
it is an error if the bytes, restarts or rows of ours differ from those that a numpy pass over each
series finds, where what it does is what the rules say of these readings.

    python -m benchmarks.bench_counters [--series 5000] [--rounds 1]
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.generate_counters import CLUSTER, DAY, Expected, generate
from benchmarks.measuring import COPY, quoted, take_turns

THREADS = 2
MEMORY_LIMIT = 4_000_000_000
BOUNDS = {"by time": 1.0, "in no order": 1.5}
LEAST_SERIES = 50_000


def ours(folder: Path) -> None:
    """Make the increments and copy them; the child process of our side."""
    from pipelines.build import MEMORY_FOR_ENGINE, show_parts
    from pipelines.ledger import StagedPart
    from schemas.registry import table_spec
    from transforms.day import BuildDay
    from transforms.intermediate import counter_increments
    from transforms.sql import SqlSession

    parts = [StagedPart(path, ()) for path in sorted(folder.glob("part-*.parquet"))]
    with SqlSession(
        threads=THREADS,
        memory_limit=f"{int(MEMORY_LIMIT * MEMORY_FOR_ENGINE)}B",
        temp_directory=folder / "spill",
    ) as session:
        run = session.connection.execute
        run("SET preserve_insertion_order = false")
        show_parts(session, table_spec("counter_samples"), parts)
        run(
            f"CREATE TEMP VIEW pod_intervals AS SELECT * "
            f"FROM read_parquet({quoted(folder / 'pods.parquet')})"
        )
        session.register("node_states", table_spec("node_states").empty())
        name = counter_increments.build(session, BuildDay(date=DAY, cluster=CLUSTER))
        run(f"COPY (SELECT * FROM {name}) TO {quoted(folder / 'ours.parquet')} {COPY}")


def peer(folder: Path) -> None:
    """Lag and copy by DuckDB alone; the child process of the peer's side."""
    import duckdb

    text = Path(__file__).with_name("counter_peer.sql").read_text(encoding="utf-8")
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {THREADS}")
        connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}B'")
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(f"SET temp_directory = {quoted(folder / 'spill')}")
        connection.execute(
            f"COPY ({text}) TO {quoted(folder / 'peer.parquet')} {COPY}",
            {"readings": str(folder / "part-*.parquet")},
        )


def check(folder: Path, expected: Expected) -> list[str]:
    """What ours got wrong."""
    import duckdb

    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT COUNT(*), CAST(SUM(bytes) AS HUGEINT), COUNT(*) FILTER (WHERE is_reset), "
            "COUNT(*) FILTER (WHERE match_kind = 'uid') "
            f"FROM read_parquet({quoted(folder / 'ours.parquet')})"
        ).fetchone()
    wanted = (expected.rows, expected.bytes, expected.resets, expected.rows)
    return [] if found == wanted else [f"rows, bytes, restarts, pods: {found}, expected {wanted}"]


def compare(folder: Path, order: str, expected: Expected, rounds: int) -> tuple[bool, bool]:
    """Measure both sides in turns and print the ratios.

    Returns:
        Whether ours is exact, and whether the bounds are met.
    """
    turns = take_turns("benchmarks.bench_counters", folder, rounds)
    is_met = turns.wall <= BOUNDS[order] and turns.memory <= MEMORY_LIMIT
    wrong = check(folder, expected)
    for problem in wrong:
        print(f"  WRONG {problem}")
    print(f"  {order}: {'exact' if not wrong else 'WRONG'}; wall {turns.wall:.2f} x "
          f"(bound {BOUNDS[order]}), cpu {turns.cpu:.2f} x, memory {turns.memory / 1e6:.0f} MB "
          f"(bound {MEMORY_LIMIT / 1e6:.0f}): {'met' if is_met else 'NOT MET'}",
          flush=True)  # fmt: skip
    return not wrong, is_met


def _main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ours", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.ours or options.peer:
        (ours if options.ours else peer)(options.ours or options.peer)
        return 0
    are_exact, are_met = True, True
    for order in BOUNDS:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            expected = generate(
                folder, options.series, is_shuffled=order == "in no order", seed=options.seed
            )
            print(f"counters: {options.series:,} series, {expected.readings:,} readings {order}, "
                  f"{options.rounds} rounds", flush=True)  # fmt: skip
            is_exact, is_met = compare(folder, order, expected, options.rounds)
        are_exact, are_met = are_exact and is_exact, are_met and is_met
    is_small = options.series < LEAST_SERIES
    if is_small:
        print(f"  below {LEAST_SERIES:,} series the start of processes counts most")
    return 0 if are_exact and (are_met or is_small) else 1


if __name__ == "__main__":
    sys.exit(_main())

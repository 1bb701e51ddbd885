"""Landing of big Hubble exports beside DuckDB's own lossy reader, in the same run.

Ours: the whole of `land` with two workers: hashing, parsing with exact rejects, redaction, checks
of every batch, search for repeated records, commit. Peer: DuckDB `read_ndjson(columns=…,
ignore_errors=true)` copied to one zstd Parquet file with the columns of `flows` and two threads
(`hubble_peer.sql`), once with its default of keeping the order of rows and once without.

Two sets of files, each half plain and half .gz: clean ones, and ones in which one line in 10,000 is
damaged in a known way. Ours and the peer's take turns, each a process of its own.

    python -m benchmarks.bench_hubble [--megabytes 1500] [--rounds 3] [--folder FOLDER]
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.generate_hubble import Written, generate
from benchmarks.measuring import Run, measure

WORKERS = 2
GOALS = {"clean": 1.15, "damaged": 1.45}
"""Wall time of landing by that of the peer."""
MEMORY_GOAL = 2_000_000_000
LEAST_MEGABYTES = 1_000

SETTINGS = """
lake: lake
catalog: podledger.duckdb
workers: {workers}
clusters: {{alder: {{cloud: aws, region: us-east-1}}}}
exports:
  - {{name: hubble, format: hubble, clusters: [alder], path: "{folder}/{{node}}/events*"}}
"""


def land(exports: Path, lake: Path) -> None:
    """Land a folder of exports; the child process of our side."""
    from pipelines.landing.start import leave_out_pandas

    # A peer of other benchmarks brings it; an installation without benchmarks has none.
    leave_out_pandas()
    from pipelines.landing.land import land as land_files
    from pipelines.settings import load_settings
    from pipelines.storage import Lake

    lake.mkdir(parents=True)
    path = lake / "podledger.yaml"
    path.write_text(SETTINGS.format(folder=exports.resolve(), workers=WORKERS), encoding="utf-8")
    settings = load_settings(path)
    land_files(settings, Lake(settings.lake_path), date(2026, 3, 11))


def peer(exports: Path, target: Path, *, in_order: bool) -> None:
    """Copy a folder of exports by DuckDB alone; the child process of the peer's side."""
    import duckdb

    text = Path(__file__).with_name("hubble_peer.sql").read_text(encoding="utf-8")
    files = [str(path) for path in sorted(exports.glob("*/events*"))]
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {WORKERS}")
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET preserve_insertion_order = {str(in_order).lower()}")
        connection.execute(
            f"COPY ({text}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)", {"files": files}
        )


def check(written: Sequence[Written], lake: Path) -> list[str]:
    """What landing got wrong: counts, rows, and every refused line with its place."""
    import duckdb

    wrong = []
    with duckdb.connect() as connection:

        def read(table: str, what: str) -> list[tuple[Any, ...]]:
            if not (lake / "lake" / table).is_dir():
                return []
            files = f"{lake}/lake/{table}/*/*.parquet"
            return connection.execute(
                f"SELECT {what} FROM read_parquet('{files}', hive_partitioning = false)"
            ).fetchall()

        ids = dict(read("export_files", "path, export_file_id"))
        rejects = {
            (file_id, locator, offset)
            for file_id, locator, offset in read(
                "rejected_records", "export_file_id, locator, byte_offset"
            )
        }
        expected = {
            (ids.get(str(file.path)), locator, offset)
            for file in written
            for locator, offset, _ in file.rejects
        }
        if rejects != expected:
            wrong.append(
                f"rejects: {len(expected - rejects)} missing, {len(rejects - expected)} too many"
            )
        for table, count in (
            ("flows", sum(file.flows for file in written)),
            ("dns_lookups", sum(file.lookups for file in written)),
            ("loss_reports", sum(file.losses for file in written)),
        ):
            found = sum(int(n) for (n,) in read(table, "count(*)"))
            if found != count:
                wrong.append(f"{table}: {found} rows, expected {count}")
        records = sum(int(n) for (n,) in read("export_files", "sum(record_count)"))
        expected_records = sum(file.records for file in written)
        if records != expected_records:
            wrong.append(f"records: {records}, expected {expected_records}")
    return wrong


def compare(kind: str, written: Sequence[Written], folder: Path, rounds: int) -> tuple[bool, bool]:
    """Measure one set of files and print the ratios.

    Returns:
        Whether all is exact, and whether the goals are met.
    """
    exports = written[0].path.parents[1]
    module = [sys.executable, "-m", "benchmarks.bench_hubble"]
    runs: dict[str, list[Run]] = {"ours": [], "peer": [], "peer without order": []}
    wrong: list[str] = []
    for number in range(rounds):
        lake = folder / f"lake-{kind}-{number}"
        target = str(folder / "peer.parquet")
        runs["ours"].append(measure([*module, "--land", str(exports), str(lake)]))
        wrong += check(written, lake)
        shutil.rmtree(lake)
        runs["peer"].append(measure([*module, "--peer", str(exports), target]))
        runs["peer without order"].append(
            measure([*module, "--peer-without-order", str(exports), target])
        )
    text = sum(file.text_bytes for file in written)
    print(f"\n{kind}: {len(written)} files, {text / 1e6:.0f} MB of text, "
          f"{sum(file.lines for file in written)} lines, "
          f"{sum(len(file.rejects) for file in written)} records to refuse")  # fmt: skip
    for name, found in runs.items():
        wall, cpu = median(r.wall for r in found), median(r.cpu for r in found)
        print(f"  {name:20s} {wall:7.2f} s wall {cpu:7.2f} s cpu {text / 1e6 / wall:5.0f} MB/s "
              f"{max(r.memory for r in found) / 1e6:6.0f} MB")  # fmt: skip
    ours = median(r.wall for r in runs["ours"])
    cpu = median(r.cpu for r in runs["ours"])
    for name in ("peer", "peer without order"):
        by_wall = ours / median(r.wall for r in runs[name])
        by_cpu = cpu / median(r.cpu for r in runs[name])
        print(f"  by {name}: {by_wall:.2f} x wall, {by_cpu:.2f} x cpu")
    ratio = ours / median(r.wall for r in runs["peer"])
    memory = max(r.memory for r in runs["ours"])
    for problem in wrong:
        print(f"  WRONG {problem}")
    print(f"  rejects, rows and counts: {'exact' if not wrong else 'WRONG'}; "
          f"goals: wall {ratio:.2f} <= {GOALS[kind]}, "
          f"memory {memory / 1e6:.0f} MB < {MEMORY_GOAL / 1e6:.0f} MB")  # fmt: skip
    return not wrong, ratio <= GOALS[kind] and memory < MEMORY_GOAL


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_500, help="text of each set")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=int, default=4, help="files of each set")
    parser.add_argument("--folder", type=Path, help="where files are kept; a temporary one if not")
    parser.add_argument("--land", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peer", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peer-without-order", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.land:
        land(*options.land)
        return 0
    if options.peer or options.peer_without_order:
        peer(*(options.peer or options.peer_without_order), in_order=bool(options.peer))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        exact = good = True
        for kind in ("clean", "damaged"):
            written = generate(
                folder / kind,
                options.megabytes,
                files=options.files,
                damage=kind == "damaged",
            )
            is_exact, is_good = compare(kind, written, folder, options.rounds)
            exact, good = exact and is_exact, good and is_good
            if not options.folder:
                shutil.rmtree(folder / kind)
    print("\nall goals met" if good else "\nnot all goals met")
    if options.megabytes < LEAST_MEGABYTES:
        print(f"below {LEAST_MEGABYTES} MB the start of processes counts most")
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(_main())

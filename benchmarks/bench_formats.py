"""Landing of each format that is read by lines, beside a peer that reads the same files.

Ours: the whole of `land` with two workers: hashing, parsing with exact rejects, redaction, checks
of every batch, search for repeated records, commit. Peers, with two threads and the same files:

* Lines of JSON: DuckDB `read_ndjson(columns=…)` with the types of the whole record, copied to one
  zstd Parquet file. It neither redacts nor looks at what values mean, and finds no repeats.
* S3 access logs: a query that takes every line apart by one regular expression, in DuckDB
  (`s3_peer.sql`), copied likewise. It has no bound, as it does a part of what landing does; the
  lines of `fields` compare that part alone, in one engine (`s3_fields`).
* Other text has no peer and no bound; its rates are reported.

Bounds: our wall time by the peer's at most 2 for JSON; for the fields of S3 our rate at least 1.8
times that of the path that has only the regular expression, by processor seconds, as both have one
thread. A missed bound makes the exit code 1 where files are as large as LEAST_MEGABYTES or larger;
smaller ones measure the start of processes. What is not read (rejects in files that have none)
is an error at any size. Hubble has a benchmark of its own.

    python -m benchmarks.bench_formats [--megabytes 60] [--formats route53,otlp] [--kind json]
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from benchmarks.bench_hubble import WORKERS
from benchmarks.generate_formats import Kind, lines_of, write
from benchmarks.measuring import Run, measure
from benchmarks.s3_fields import Side, differences, take_apart

JSON_BOUND = 2.0
"""Our wall time by that of the typed read, at most."""
S3_BOUND = 1.8
"""Our rate of taking lines apart by that of the regex-only path, at least."""
KINDS = ("json", "text")
ROUNDS = 3
LEAST_MEGABYTES = 50
FILES = 2
_OWN_BENCHMARK = frozenset({"hubble"})
_SETTINGS = """
lake: lake
catalog: podledger.duckdb
workers: {workers}
clusters: {{alder: {{cloud: aws, region: us-east-1}}}}
exports:
  - {{name: bench, format: {format}, clusters: [alder], path: "{folder}/*.log"}}
"""


@dataclass(frozen=True)
class Measured:
    """One format and kind of line.

    Attributes:
        title: Format and kind.
        megabytes: Text read.
        records: Records in it.
        ours: Our run.
        peer: The peer's run, where there is a peer.
        bound: What is asked, as text; empty where nothing is.
        is_met: Whether it is so.
        problem: What landing got wrong.
    """

    title: str
    megabytes: float
    records: int
    ours: Run
    peer: Run | None
    bound: str
    is_met: bool
    problem: str

    def line(self) -> str:
        """A line of the table."""
        peer = self.peer
        ratio = f"{self.ours.wall / peer.wall:6.2f} x" if peer else "       -"
        cpu = f"{self.ours.cpu / peer.cpu:6.2f} x" if peer else "       -"
        wall = f"{peer.wall:6.2f}" if peer else "     -"
        verdict = f"{self.bound}: {'met' if self.is_met else 'NOT MET'}" if self.bound else ""
        return (
            f"{self.title:30s} {self.megabytes:5.0f} {self.records:9,d} {self.ours.wall:6.2f} "
            f"{self.records / self.ours.wall:9,.0f} {self.megabytes / self.ours.wall:6.1f} "
            f"{self.ours.memory / 1e6:6.0f} {wall} {ratio} {cpu}  {verdict}{self.problem}"
        )


HEADING = (
    f"{'format':30s} {'MB':>5s} {'records':>9s} {'wall s':>6s} {'records/s':>9s} {'MB/s':>6s} "
    f"{'mem MB':>6s} {'peer s':>6s} {'by wall':>8s} {'by cpu':>8s}  bound"
)


def land(format_name: str, exports: Path, lake: Path) -> None:
    """Land a folder; the child process of our side."""
    from pipelines.landing.land import land as land_files
    from pipelines.settings import load_settings
    from pipelines.storage import Lake

    lake.mkdir(parents=True)
    path = lake / "podledger.yaml"
    text = _SETTINGS.format(folder=exports.resolve(), workers=WORKERS, format=format_name)
    path.write_text(text, encoding="utf-8")
    settings = load_settings(path)
    report = land_files(settings, Lake(settings.lake_path), date(2026, 3, 11))
    (lake / "records.json").write_text(json.dumps(report.records), encoding="utf-8")


def columns_of(sample: Path) -> dict[str, str]:
    """Types of a format's records, from a small file that holds all its variants."""
    import duckdb

    with duckdb.connect() as connection:
        found = connection.execute(
            "DESCRIBE SELECT * FROM read_ndjson($path, sample_size = -1)", {"path": str(sample)}
        ).fetchall()
    return {name: kind for name, kind, *_ in found}


def peer(query: Path, exports: Path, target: Path) -> None:
    """Copy a folder by DuckDB alone; the child process of the peer's side."""
    import duckdb

    files = [str(path) for path in sorted(exports.glob("*.log"))]
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {WORKERS}")
        connection.execute("SET enable_progress_bar = false")
        connection.execute(
            f"COPY ({query.read_text(encoding='utf-8')}) TO '{target}' "
            "(FORMAT parquet, COMPRESSION zstd)",
            {"files": files},
        )


def _peer_query(format_name: str, kind: Kind, folder: Path, sample: Path) -> Path | None:
    if format_name == "s3_access_log" and kind == "text":
        return Path(__file__).with_name("s3_peer.sql")
    if kind == "text":
        return None
    path = folder / "peer.sql"
    columns = ", ".join(
        f"{_quoted(name)}: {_quoted(type_name)}" for name, type_name in columns_of(sample).items()
    )
    path.write_text(
        f"SELECT * FROM read_ndjson($files, columns = {{{columns}}}, ignore_errors = true)",
        encoding="utf-8",
    )
    return path


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def bench(format_name: str, megabytes: int, folder: Path, kinds: Collection[str]) -> list[Measured]:
    """Measure a format's kinds of lines."""
    found = []
    for kind, lines in lines_of(format_name, folder).items():
        if kind not in kinds:
            continue
        exports = folder / f"{format_name}-{kind}"
        size = megabytes * 1_000_000 // FILES
        records = sum(write(lines, exports / f"{n}.log", size, n) for n in range(FILES))
        sample = folder / "sample.json"
        write(lines, sample, 400_000, FILES)
        query = _peer_query(format_name, kind, folder, sample)
        lake = folder / "lake"
        module = [sys.executable, "-m", "benchmarks.bench_formats"]
        ours = measure([*module, "--land", format_name, str(exports), str(lake)])
        counts = json.loads((lake / "records.json").read_text(encoding="utf-8"))
        other = (
            measure([*module, "--peer", str(query), str(exports), str(folder / "peer.parquet")])
            if query
            else None
        )
        text = sum(path.stat().st_size for path in exports.glob("*.log")) / 1e6
        title = f"{format_name} ({kind})"
        found.append(_judged(title, kind, text, records, ours, other, counts))
        if format_name == "s3_access_log" and kind == "text":
            found.append(_fields(exports, text, records, folder / "fields.parquet"))
        shutil.rmtree(exports)
        shutil.rmtree(lake)
    return found


def _fields(exports: Path, text: float, records: int, target: Path) -> Measured:
    """Lines of S3 taken apart, beside the regex-only path in the same engine; in turns."""
    runs: dict[Side, list[Run]] = {"places": [], "pattern": []}
    for _ in range(ROUNDS):
        for side, found in runs.items():
            found.append(Run(*take_apart(side, exports, target)))
    ours, other = (min(found, key=lambda run: run.cpu) for found in runs.values())
    others = differences(exports)
    return Measured(
        "s3_access_log (fields)",
        text,
        records,
        ours,
        other,
        f"rate >= {S3_BOUND} x",
        other.cpu >= S3_BOUND * ours.cpu,
        f" WRONG: {others} lines have other fields" if others else "",
    )


def _judged(
    title: str,
    kind: Kind,
    text: float,
    records: int,
    ours: Run,
    other: Run | None,
    counts: dict[str, int],
) -> Measured:
    bound, is_met = "", True
    if other is not None and kind == "json":
        bound, is_met = f"<= {JSON_BOUND} x", ours.wall <= JSON_BOUND * other.wall
    problem = ""
    if counts["rejected"] or counts["record"] < records:
        problem = f" WRONG: {counts} of {records}"
    return Measured(title, text, records, ours, other, bound, is_met, problem)


def _names(asked: str | None) -> Sequence[str]:
    from pipelines.landing.formats import format_names

    if asked:
        return asked.split(",")
    return [name for name in format_names() if name not in _OWN_BENCHMARK]


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=60, help="text of each format and kind")
    parser.add_argument("--formats", help="names parted by commas; all but Hubble if not given")
    parser.add_argument("--kind", choices=KINDS, help="kind of lines; both if not given")
    parser.add_argument("--land", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--peer", nargs=3, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.land:
        name, exports, lake = options.land
        land(name, Path(exports), Path(lake))
        return 0
    if options.peer:
        peer(*options.peer)
        return 0
    kinds = KINDS if options.kind is None else (options.kind,)
    print(HEADING, flush=True)
    all_met = all_right = True
    with tempfile.TemporaryDirectory() as temporary:
        for name in _names(options.formats):
            for measured in bench(name, options.megabytes, Path(temporary), kinds):
                print(measured.line(), flush=True)
                all_met = all_met and measured.is_met
                all_right = all_right and not measured.problem
    print("all bounds met" if all_met else "not all bounds met")
    is_small = options.megabytes < LEAST_MEGABYTES
    if is_small:
        print(f"below {LEAST_MEGABYTES} MB the start of processes counts most")
    return 0 if all_right and (all_met or is_small) else 1


if __name__ == "__main__":
    sys.exit(_main())

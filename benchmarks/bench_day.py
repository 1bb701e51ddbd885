"""A whole day, from exports to catalogue, step by step, beside landing its Hubble files alone.

The day is that of `generate_day`. What is measured is what `podledger build` runs, with a memory
limit of 4 GB and two workers, each measurement a process of its own: landing each format alone, the
whole build, the build again with nothing new, a late file of 1 % of the day and the build after
that. Tables are built side by side, so that each table's share is measured in a build of its own,
table by table. The clock stands on the morning after the day, so that it is provisional.

Beside it, in the same run: DuckDB, Polars and chDB read the same Hubble files into zstd Parquet,
DuckDB with the columns of `flows`, the others with the fields as they are, with two threads, which
is what one would write instead; and limits of the machine on a part of the files: decompression
alone, simdjson over each line, DuckDB writing the finished columns. chDB and simdjson are in the
extra `bench` and left out where they are not installed.

Goals: the whole build takes at most 3 times the wall time of landing Hubble's files, the peak of
the process tree stays below the limit, a build with nothing new takes less than 10 s, the build
after a late file at most 0.4 of the first.

    python -m benchmarks.bench_day --events 1000000 [--memory 4000] [--folder FOLDER] [--no-peers]
    python -m benchmarks.bench_day --scale 1 3 10 30
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from benchmarks.generate_day import Written, generate
from benchmarks.measuring import COPY, Run, measure, quoted
from benchmarks.timeline import Timeline, follow, mark

WORKERS = 2
MEMORY_LIMIT = 4_000_000_000
MORNING_AFTER = datetime(2026, 3, 11, 5, tzinfo=UTC)
EXPORTS = ("hubble", "answers", "bucket-logs", "counters", "kubernetes", "runs")
GOAL_OF_HUBBLE, GOAL_LATE, GOAL_UNCHANGED = 3.0, 0.4, 10.0
GOAL_PER_EVENT, GOAL_MEMORY = 1.1, 1.1
LIMIT_LINES = 1_000_000
"""The machine's limits are measured on the first files up to so many lines."""
MODULE = (sys.executable, "-m", "benchmarks.bench_day")


def build(settings_file: Path, marks: Path, sides: int | None = None) -> None:
    """What `podledger build` runs, telling each step; the child process of our side.

    Args:
        settings_file: Settings.
        marks: Where the steps are told.
        sides: Tables built at one time at most; as many as memory allows if none.
    """
    from pipelines.build import Outcome
    from pipelines.cli.build import BuildReport, run_build
    from pipelines.landing.land import LandReport
    from pipelines.run import Workspace

    class Told(BuildReport):
        def landed(self, report: LandReport) -> None:
            super().landed(report)
            mark(marks, "landing")

        def built(self, outcome: Outcome) -> None:
            super().built(outcome)
            mark(marks, outcome.table)

    mark(marks, "start of Python")
    report = Told(None)
    run_build(Workspace(settings_file, clock=lambda: MORNING_AFTER, sides=sides), report, [])
    mark(marks, "catalogue")
    problems = [f"{o.table} {o.scope}: {o.problem}" for o in report.outcomes if o.problem]
    if problems or report.unknown:
        print(*problems, *report.unknown, sep="\n", file=sys.stderr)
        sys.exit(1)


def build_in_steps(settings_file: Path, marks: Path) -> None:
    """The same table by table, so that what falls to each can be told."""
    build(settings_file, marks, sides=1)


def land(settings_file: Path) -> None:
    """Land what the settings name; the child process of our side."""
    from pipelines.landing.land import land as land_files
    from pipelines.settings import load_settings
    from pipelines.storage import Lake

    settings = load_settings(settings_file)
    settings.lake_path.mkdir(parents=True)
    land_files(settings, Lake(settings.lake_path), MORNING_AFTER.date())


def hubble_files(folder: Path) -> list[str]:
    """Hubble's files of a day."""
    return [str(path) for path in sorted((folder / "exports").glob("alder/hubble/*/*/*.gz"))]


def duckdb_peer(folder: Path, target: Path) -> None:
    """DuckDB's own lossy reader."""
    import duckdb

    text = Path(__file__).with_name("hubble_peer.sql").read_text(encoding="utf-8")
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {WORKERS}")
        connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}B'")
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(
            f"COPY ({text}) TO {quoted(target)} {COPY}", {"files": hubble_files(folder)}
        )


def polars_peer(folder: Path, target: Path) -> None:
    """Polars' own reader, with the schema stated."""
    os.environ["POLARS_MAX_THREADS"] = str(WORKERS)
    import polars as pl

    ports = {"source_port": pl.Int64, "destination_port": pl.Int64}
    flags = pl.Struct(dict.fromkeys(("FIN", "SYN", "RST", "PSH", "ACK"), pl.Boolean))
    end = pl.Struct(
        {
            "ID": pl.Int64, "identity": pl.Int64, "namespace": pl.String, "pod_name": pl.String,
            "pod_uid": pl.String, "labels": pl.List(pl.String),
            "workloads": pl.List(pl.Struct({"name": pl.String, "kind": pl.String})),
        }
    )  # fmt: skip
    dns = pl.Struct(
        {
            "query": pl.String, "ips": pl.List(pl.String), "ttl": pl.Int64,
            "cnames": pl.List(pl.String), "rcode": pl.Int64, "qtypes": pl.List(pl.String),
        }
    )  # fmt: skip
    http = pl.Struct({"code": pl.Int64, "method": pl.String, "url": pl.String})
    flow = pl.Struct(
        {
            "time": pl.String, "uuid": pl.String, "node_name": pl.String, "verdict": pl.String,
            "drop_reason": pl.Int64, "drop_reason_desc": pl.String,
            "traffic_direction": pl.String, "is_reply": pl.Boolean,
            "event_type": pl.Struct({"type": pl.Int64, "sub_type": pl.Int64}),
            "trace_observation_point": pl.String, "trace_reason": pl.String,
            "IP": pl.Struct({"source": pl.String, "destination": pl.String}),
            "l4": pl.Struct(
                {"TCP": pl.Struct({**ports, "flags": flags}), "UDP": pl.Struct(ports)}
            ),
            "source": end, "destination": end, "destination_names": pl.List(pl.String),
            "l7": pl.Struct(
                {"type": pl.String, "latency_ns": pl.String, "dns": dns, "http": http}
            ),
        }
    )  # fmt: skip
    read = pl.scan_ndjson(
        hubble_files(folder),
        schema={"flow": flow, "node_name": pl.String, "time": pl.String},
        ignore_errors=True,
    )
    read.unnest("flow", separator="_").sink_parquet(target, compression="zstd")


_END = (
    "Tuple(ID Nullable(Int64), identity Nullable(Int64), namespace Nullable(String), "
    "pod_name Nullable(String), pod_uid Nullable(String), labels Array(String), "
    "workloads Array(Tuple(name String, kind String)))"
)
_PORTS = "source_port Nullable(Int64), destination_port Nullable(Int64)"
_CHDB_SCHEMA = f"""
time Nullable(String), node_name Nullable(String), flow Tuple(
    time Nullable(String), uuid Nullable(String), node_name Nullable(String),
    verdict Nullable(String), drop_reason Nullable(Int64), drop_reason_desc Nullable(String),
    traffic_direction Nullable(String), is_reply Nullable(Bool),
    event_type Tuple(type Nullable(Int64), sub_type Nullable(Int64)),
    trace_observation_point Nullable(String), trace_reason Nullable(String),
    IP Tuple(source Nullable(String), destination Nullable(String)),
    l4 Tuple(
        TCP Tuple({_PORTS}, flags Tuple(FIN Nullable(Bool), SYN Nullable(Bool),
            RST Nullable(Bool), PSH Nullable(Bool), ACK Nullable(Bool))),
        UDP Tuple({_PORTS})),
    source {_END}, destination {_END}, destination_names Array(String),
    l7 Tuple(type Nullable(String), latency_ns Nullable(String),
        dns Tuple(query Nullable(String), ips Array(String), ttl Nullable(Int64),
            cnames Array(String), rcode Nullable(Int64), qtypes Array(String)),
        http Tuple(code Nullable(Int64), method Nullable(String), url Nullable(String))))
"""


def chdb_peer(folder: Path, target: Path) -> None:
    """ClickHouse's own reader, with the schema stated."""
    import chdb

    schema = " ".join(_CHDB_SCHEMA.split()).replace("'", "\\'")
    files = f"{(folder / 'exports').resolve()}/alder/hubble/*/*/*.gz"
    chdb.query(
        f"SELECT * FROM file('{files}', 'JSONEachRow', '{schema}') "
        f"INTO OUTFILE '{target}' TRUNCATE FORMAT Parquet "
        f"SETTINGS max_threads = {WORKERS}, output_format_parquet_compression_method = 'zstd', "
        f"max_memory_usage = {MEMORY_LIMIT}, input_format_skip_unknown_fields = 1, "
        "input_format_allow_errors_num = 1000000, "
        "input_format_json_defaults_for_missing_elements_in_named_tuple = 1, "
        "input_format_json_ignore_unknown_keys_in_named_tuple = 1"
    )


def limits(folder: Path, told: Path) -> None:
    """What the machine can do at best with the first files, one thread; seconds by limit."""
    from isal import igzip

    found: dict[str, float] = {}
    files, lines = [], 0
    for path in hubble_files(folder):
        start = time.process_time()
        with igzip.open(path) as file:
            lines += sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))
        found["decompression"] = found.get("decompression", 0.0) + time.process_time() - start
        files.append(path)
        if lines >= LIMIT_LINES:
            break
    if find_spec("simdjson") is not None:
        import simdjson

        for path in files:
            with igzip.open(path) as file:
                parser = simdjson.Parser()
                while block := list(islice(file, 50_000)):
                    start = time.process_time()
                    for line in block:
                        parser.parse(line)
                    spent = time.process_time() - start
                    found["simdjson"] = found.get("simdjson", 0.0) + spent
    found["writing Parquet"] = _writing(files, told.with_suffix(".parquet"))
    told.write_text(json.dumps({"lines": lines, **found}), encoding="utf-8")


def _writing(files: Sequence[str], target: Path) -> float:
    """Processor seconds of DuckDB writing the finished columns of the files, file by file."""
    import duckdb

    text = Path(__file__).with_name("hubble_peer.sql").read_text(encoding="utf-8")
    seconds = 0.0
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("SET enable_progress_bar = false")
        for file in files:
            connection.execute(f"CREATE OR REPLACE TEMP TABLE f AS {text}", {"files": [file]})
            start = time.process_time()
            connection.execute(f"COPY f TO {quoted(target)} {COPY}")
            seconds += time.process_time() - start
    target.unlink()
    return seconds


@dataclass(frozen=True)
class Result:
    """What was measured of a day of one size.

    Attributes:
        written: The day.
        alone: Landing of each export alone.
        first: The first build.
        again: The build with nothing new.
        late: The build after a late file.
        is_clean: The folder of what was spilled is empty after each build.
    """

    written: Written
    alone: dict[str, Run]
    first: Timeline
    again: Timeline
    late: Timeline
    is_clean: bool


def measure_day(
    folder: Path, events: int, limit: int, *, with_peers: bool, with_steps: bool
) -> Result:
    """Make a day, and measure everything on it under a limit of memory in bytes."""
    from pipelines.storage import Lake

    if not (folder / "written.json").is_file():
        generate(folder, events)
    written = Written(**json.loads((folder / "written.json").read_text(encoding="utf-8")))
    settings = folder / "podledger.yaml"
    text = settings.read_text(encoding="utf-8")
    text = re.sub("(?m)^memory_limit: .*$", f"memory_limit: {limit}", text)
    settings.write_text(text, encoding="utf-8")
    _forget(folder)
    for held in (folder / "exports").rglob("events-late.log.gz"):
        held.unlink()
    size = f"{written.events / 1e6:.2f} M events"
    print(f"\n{size}, {written.text_bytes / 1e9:.2f} GB of text; {written}", flush=True)
    alone = {name: _land_alone(folder, name) for name in EXPORTS}
    for name, run in alone.items():
        _show(f"landing {name} alone", run, written)
    if with_peers:
        _peers(folder, alone["hubble"], written)
    marks, spill = folder / "steps.jsonl", Lake(folder / "lake").spill
    if with_steps:
        steps = follow([*MODULE, "--steps", str(settings), str(marks)], marks)
        print(
            f"\n  {'step':34s} {'wall s':>8s} {'cpu s':>8s} {'us/event':>9s} {'MB':>6s} "
            f"{'MB out':>8s}"
        )
        for step in steps.steps:
            _show(step.name, Run(step.wall, step.cpu, step.memory), written, step.written)
        _show("all, table by table", steps.run, written, steps.written)
        _forget(folder)
    command = [*MODULE, "--build", str(settings), str(marks)]
    first = follow(command, marks, lambda: _spilled(spill))
    is_clean = _spilled(spill) == 0
    _show("whole build", first.run, written, first.written)
    print(f"  spilled at once: {first.watched / 1e6:.0f} MB; left behind: {_spilled(spill)} bytes")
    again = follow(command, marks)
    _show("again, nothing new", again.run, written)
    for late_file in (folder / "late").rglob("*.gz"):
        shutil.copy(late_file, folder / "exports" / late_file.relative_to(folder / "late"))
    late = follow(command, marks, lambda: _spilled(spill))
    share = written.late_events / (written.events + written.late_events)
    _show(f"late file of {100 * share:.2f} %", late.run, written, late.written)
    is_clean = is_clean and _spilled(spill) == 0
    return Result(written, alone, first, again, late, is_clean)


def _land_alone(folder: Path, name: str) -> Run:
    """Landing of one export into a lake of its own."""
    kept = [
        line
        for line in (folder / "podledger.yaml").read_text(encoding="utf-8").splitlines()
        if not line.startswith("  - {name:") or line.startswith(f"  - {{name: {name},")
    ]
    settings = folder / "one.yaml"
    text = "\n".join(kept).replace("lake: lake", "lake: lake-alone")
    settings.write_text(text, encoding="utf-8")
    run = measure([*MODULE, "--land", str(settings)])
    shutil.rmtree(folder / "lake-alone")
    return run


def _peers(folder: Path, ours: Run, written: Written) -> None:
    target = folder / "peer.parquet"
    for name, package in (("duckdb", "duckdb"), ("polars", "polars"), ("chdb", "chdb")):
        if find_spec(package) is None:
            print(f"  {name}: not installed (extra `bench`)")
            continue
        run = measure([*MODULE, f"--{name}", str(folder), str(target)])
        _show(f"{name}: Hubble to Parquet", run, written, target.stat().st_size)
        print(f"    landing Hubble by it: wall {ours.wall / run.wall:.2f}, "
              f"cpu {ours.cpu / run.cpu:.2f}, memory {ours.memory / run.memory:.2f}")  # fmt: skip
        target.unlink()
    told = folder / "limits.json"
    measure([*MODULE, "--limits", str(folder), str(told)])
    found = json.loads(told.read_text(encoding="utf-8"))
    lines = found.pop("lines")
    for name, seconds in found.items():
        print(f"  limit: {name:27s} {'':8s} {seconds:8.2f} {seconds / lines * 1e6:9.2f}"
              f"   (of {lines} lines)")  # fmt: skip


def _forget(folder: Path) -> None:
    """Remove what was built of a day."""
    for name in ("lake", ".dagster"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "podledger.duckdb").unlink(missing_ok=True)


def _spilled(spill: Path) -> int:
    """Bytes that engines have spilled, each into a folder of its own."""
    return sum(_size(folder) for folder in spill.parent.glob(f"{spill.name}*"))


def _size(folder: Path) -> int:
    """Bytes below a folder, some of which may vanish meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def _show(name: str, run: Run, written: Written, out: int | None = None) -> None:
    text = "" if out is None else f" {out / 1e6:8.1f}"
    print(f"  {name:34s} {run.wall:8.2f} {run.cpu:8.2f} {run.cpu / written.events * 1e6:9.2f} "
          f"{run.memory / 1e6:6.0f}{text}", flush=True)  # fmt: skip


def judge(result: Result, limit: int) -> bool:
    """Print the goals of one day; whether all are met."""
    first, hubble = result.first.run, result.alone["hubble"]
    by_wall, by_cpu = first.wall / hubble.wall, first.cpu / hubble.cpu
    late = result.late.run.wall / first.wall
    late_cpu = result.late.run.cpu / first.cpu
    peak = max(first.memory, result.late.run.memory, *(r.memory for r in result.alone.values()))
    again = result.again.run.wall
    print(f"  whole build by landing Hubble alone: wall {by_wall:.2f}, cpu {by_cpu:.2f} "
          f"(goal {GOAL_OF_HUBBLE})\n"
          f"  late file by the whole build: wall {late:.2f}, cpu {late_cpu:.2f} "
          f"(goal {GOAL_LATE})\n"
          f"  nothing new: {again:.1f} s (goal {GOAL_UNCHANGED})\n"
          f"  peak {peak / 1e6:.0f} MB (limit {limit / 1e6:.0f})\n"
          f"  spilled files are gone: {result.is_clean}", flush=True)  # fmt: skip
    return (
        by_wall <= GOAL_OF_HUBBLE
        and late <= GOAL_LATE
        and again < GOAL_UNCHANGED
        and peak <= limit
        and result.is_clean
    )


def judge_growth(results: dict[int, Result]) -> bool:
    """Print time per event and peak memory by size; whether both grow as little as they should."""
    print("\n  events   wall us/event   cpu us/event   peak MB")
    walls, peaks = {}, {}
    for size, result in results.items():
        run, count = result.first.run, result.written.events
        walls[size], peaks[size] = run.wall / count * 1e6, run.memory
        print(f"  {size:4d} M   {walls[size]:13.1f}   {run.cpu / count * 1e6:12.1f}"
              f"   {run.memory / 1e6:7.0f}")  # fmt: skip
    is_good = True
    for name, values, base, goal in (
        ("time per event", walls, 3, GOAL_PER_EVENT),
        ("peak", peaks, 10, GOAL_MEMORY),
    ):
        if base in values and 30 in values:
            ratio = values[30] / values[base]
            print(f"  {name} of 30 M by that of {base} M: {ratio:.2f} (goal {goal})")
            is_good = is_good and ratio <= goal
    return is_good


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--scale", type=int, nargs="+", help="millions of events, one day each")
    parser.add_argument("--folder", type=Path, help="where files are kept; a temporary one if not")
    parser.add_argument("--memory", type=int, default=MEMORY_LIMIT // 10**6, help="limit in MB")
    parser.add_argument("--no-peers", action="store_true", help="measure our side alone")
    parser.add_argument("--no-steps", action="store_true", help="leave out the table of steps")
    for name in ("build", "steps", "duckdb", "polars", "chdb", "limits"):
        parser.add_argument(f"--{name}", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--land", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    children = {
        "build": build, "steps": build_in_steps, "duckdb": duckdb_peer, "polars": polars_peer,
        "chdb": chdb_peer, "limits": limits,
    }  # fmt: skip
    for name, child in children.items():
        if getattr(options, name):
            child(*getattr(options, name))
            return 0
    if options.land:
        land(options.land)
        return 0
    limit = options.memory * 1_000_000
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if not options.scale:
            result = measure_day(
                folder,
                options.events,
                limit,
                with_peers=not options.no_peers,
                with_steps=not options.no_steps,
            )
            return 0 if judge(result, limit) else 1
        results, good = {}, True
        for millions in options.scale:
            day = folder / f"{millions}m"
            results[millions] = measure_day(
                day, millions * 1_000_000, limit, with_peers=False, with_steps=False
            )
            good = judge(results[millions], limit) and good
            if not options.folder:
                shutil.rmtree(day)
        return 0 if judge_growth(results) and good else 1


if __name__ == "__main__":
    sys.exit(_main())

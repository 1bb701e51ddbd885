"""Lines of S3 access logs taken apart: our way beside one regular expression, in the same engine.

Both sides read the same files in the same blocks, give the same fields as columns of Arrow, and
write them to Parquet by the same writer, each a process of one thread, which measures itself once
it has imported what it needs. Neither redacts nor reads what a field
means. Ours cuts lines by the places of their quotes and blanks, and takes those apart by the
regular expression that have other quotes; the peer takes every line apart by it, in Polars.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transforms.staging.s3_columns import S3Lines
from transforms.staging.s3_line_fields import cut

Side = Literal["places", "pattern"]
FIELDS = (
    "owner", "bucket", "time", "address", "requester", "request_id", "operation", "key", "uri",
    "status", "error", "sent", "size", "total", "turn_around", "agent", "version", "authentication",
    "host", "access_point", "source_region",
)  # fmt: skip
_PATTERN = (
    r"^(?<owner>\S+) (?<bucket>\S+) \[(?<time>[^\]]+)\] (?<address>\S+) (?<requester>\S+) "
    r"(?<request_id>\S+) (?<operation>\S+) (?<key>\S+) (?:\"(?<uri>.*?)\"|-) (?<status>\d{3}|-) "
    r"(?<error>\S+) (?<sent>\d+|-) (?<size>\d+|-) (?<total>\d+|-) (?<turn_around>\d+|-) "
    r"(?:\".*?\"|-) (?:\"(?<agent>.*?)\"|-) (?<version>[^\s\"]+)(?: [^\s\"]+)?(?: [^\s\"]+)?"
    r"(?: [^\s\"]+)?(?: (?<authentication>[^\s\"]+))?(?: (?<host>[^\s\"]+))?(?: [^\s\"]+)?"
    r"(?: (?<access_point>[^\s\"]+))?(?: [^\s\"]+)?(?: (?<source_region>[^\s\"]+))?.*$"
)


def by_places(data: bytes) -> pa.Table:
    """Fields of lines, cut where their quotes and blanks stand; else by the pattern."""
    found = cut(data)
    table = pa.table({name: found.text(name) for name in FIELDS})
    others = np.flatnonzero(~found.plain)
    if not len(others):
        return table
    rest = _matched([found.line(number).decode("utf-8", "replace") for number in others.tolist()])
    order = np.argsort(np.concatenate((np.flatnonzero(found.plain), others)), kind="stable")
    return pa.concat_tables([table, rest.cast(table.schema)]).take(pa.array(order))


def by_pattern(data: bytes) -> pa.Table:
    """Fields of lines, each taken apart by the pattern."""
    return _matched(data.decode("utf-8", "replace").removesuffix("\n").split("\n"))


def _matched(lines: list[str]) -> pa.Table:
    found = pl.Series("line", lines).str.extract_groups(_PATTERN).struct.unnest()
    return found.to_arrow(compat_level=pl.CompatLevel.oldest())


def stated(table: pa.Table) -> pa.Table:
    """The fields with null in the place of nothing, as the one side gives it."""
    columns = [
        pc.if_else(pc.is_in(column, pa.array(["-", ""], column.type)), None, column)
        for column in (table.column(name).cast(pa.large_string()) for name in FIELDS)
    ]
    return pa.Table.from_arrays(columns, list(FIELDS))


def batches(files: list[Path]) -> Iterator[bytes]:
    """The text of files in blocks of whole lines."""
    for path in files:
        data = path.read_bytes()
        start = 0
        while start < len(data):
            end = data.rfind(b"\n", start, start + S3Lines.batch_bytes) + 1 or len(data)
            yield data[start:end]
            start = end


def take_apart(side: Side, folder: Path, target: Path) -> tuple[float, float, int]:
    """Take all files of a folder apart and write the fields, in a process of its own.

    Returns:
        Wall and processor seconds, and peak bytes of memory.
    """
    command = [sys.executable, "-m", "benchmarks.s3_fields", side, str(folder), str(target)]
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(command, env=environment, check=True, capture_output=True)
    wall, cpu, memory = json.loads(done.stdout)
    return wall, cpu, memory


def _main(side: str, folder: Path, target: Path) -> None:
    read = by_places if side == "places" else by_pattern
    schema = pa.schema([(name, pa.large_string()) for name in FIELDS])
    read(b"")
    wall, cpu = time.perf_counter(), time.process_time()
    with pq.ParquetWriter(target, schema, compression="zstd", compression_level=1) as writer:
        for data in batches(sorted(folder.glob("*.log"))):
            writer.write_table(read(data).select(FIELDS).cast(schema))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024
    print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu, memory]))


def differences(folder: Path) -> int:
    """Lines among the first of every file of which the two sides give other fields."""
    found = 0
    for path in sorted(folder.glob("*.log")):
        data = next(batches([path]))
        ours, peers = stated(by_places(data)).to_pylist(), stated(by_pattern(data)).to_pylist()
        found += sum(our != peer for our, peer in zip(ours, peers, strict=True))
    return found


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))

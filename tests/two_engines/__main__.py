"""Joins by time agree on DuckDB and Spark: `make two-engines`, or `python -m tests.two_engines`.

A small labelled fleet is built on DuckDB; what the joins by time bucket read and made is kept. Then
Spark runs the same `.sql` text on what they read. sqlglot puts it into Spark's dialect, and three
names that it does not know are replaced. Exits 1 if one row is another, or a join has no rows.

Beside the suite, because Spark takes half a gigabyte and a Java runtime (extra `spark`).
"""

import re
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import sqlglot

from tests.fleet.labelled.build import make_fleet
from tests.fleet.labelled.scenarios import Scenarios
from tests.pipelines.plain_build import build_all
from tests.two_engines.kept import Kept
from transforms.sql import statement

JOINS = frozenset({
    "pod_match_buckets", "pod_match_evidence", "pod_match", "container_hours", "container_match",
    "name_match_hours", "name_match", "stage_hours", "stage_match", "transfer_holders",
    "coverage_overlaps",
})  # fmt: skip
"""Joins by (key, time bucket) with the steps that cut their intervals into buckets."""
UNKNOWN_NAMES = {"EPOCH_US": "UNIX_MICROS", "MAKE_TIMESTAMPTZ": "TIMESTAMP_MICROS"}
CONFIGURATION = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
NUMBERS = {"BIGINT", "HUGEINT", "INTEGER", "DOUBLE", "UBIGINT"}


def in_spark(text: str, values: dict[str, Any]) -> str:
    """A statement in Spark's dialect, with its values in it."""
    for name, value in values.items():
        written = str(value) if isinstance(value, int) else f"'{value}'"
        text = re.sub(rf"\${name}\b", written, text)
    # The dialect of DuckDB has one LEN for texts and lists; the joins ask lists only.
    text = re.sub(r"\bLEN\(", "ARRAY_LENGTH(", text)
    tree = sqlglot.parse_one(text, read="duckdb")
    found = tree.sql(dialect="spark", unsupported_level=sqlglot.ErrorLevel.RAISE)
    for ours, theirs in UNKNOWN_NAMES.items():
        found = re.sub(rf"\b{ours}\(", f"{theirs}(", found)
    return found


def differing(ours: Path, theirs: Path) -> tuple[int, int]:
    """Rows of the first, and how many rows are in one of two Parquet files only."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        made = connection.read_parquet(str(ours))
        columns = ", ".join(
            f'CAST("{name}" AS {"HUGEINT" if str(kind) in NUMBERS else "VARCHAR"}) AS "{name}"'
            for name, kind in zip(made.columns, made.types, strict=True)
        )
        made = made.project(columns)
        again = connection.read_parquet(str(theirs / "*.parquet")).project(columns)
        only = len(made.except_(again).fetchall()) + len(again.except_(made).fetchall())
        # EXCEPT of relations is of sets: equal counts leave no row to stand once more.
        counts = [int(rows.count("*").fetchall()[0][0]) for rows in (made, again)]
    return counts[0], only + abs(counts[0] - counts[1])


def main() -> int:
    """Build, run again on Spark, compare."""
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[2]")
    for key, value in CONFIGURATION.items():
        builder = builder.config(key, value)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = Kept(folder / "kept", JOINS)
        kept.watch(setattr)
        fleet = make_fleet(folder, 7, Scenarios(), 35_000, nodes=4, slots=6)
        build_all(fleet.settings, tables=("connections", "object_transfers", "run_coverage"))
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        different = 0
        for run, bound in sorted(kept.values.items(), key=lambda item: item[1]["file"]):
            values = dict(bound)
            text = statement(values.pop("package"), values.pop("file"))
            for path in run.glob("*.parquet"):
                spark.read.parquet(str(path)).createOrReplaceTempView(path.stem)
            spark.sql(in_spark(text, values)).write.parquet(str(run / "spark"))
            rows, others = differing(run / "made.parquet", run / "spark")
            different += others
            sys.stdout.write(f"{bound['file']:<20} {rows:>8,} rows, {others} differ\n")
        spark.stop()
    unseen = JOINS - {bound["file"] for bound in kept.values.values()}
    sys.stdout.write("".join(f"{file}: made no row\n" for file in sorted(unseen)))
    return 1 if different or unseen else 0


if __name__ == "__main__":
    raise SystemExit(main())

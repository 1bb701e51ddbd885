"""Read the lake's Parquet files by their exact paths.

A lake may lie in a folder such as `/data/cluster=one/[old]/`. Engines would take `[old]` for a glob
and `cluster=one` for a column that hides the file's own, so that both are switched off here and the
day is read from the file's own folder. What lies on S3 is fetched first.
"""

from collections.abc import Iterable
from pathlib import Path

import duckdb
import polars as pl

from pipelines.mirror import present
from schemas.table import TableSpec

_DAY_OF_FILE = "CAST(regexp_extract(filename, '.*/date=([0-9-]+)/[^/]*$', 1) AS DATE)"


def read_files(
    connection: duckdb.DuckDBPyConnection, paths: Iterable[Path], *, dated: bool = False
) -> duckdb.DuckDBPyRelation:
    """Rows of files as a relation of DuckDB.

    DuckDB takes a path of a file that exists as it is.

    Args:
        connection: Where the relation lives.
        paths: Files of one table; at least one.
        dated: Add the day of each file's folder as a column `date`.
    """
    relation = connection.read_parquet(
        [str(path) for path in present(paths)],
        union_by_name=True,
        hive_partitioning=False,
        filename=dated,
    )
    if not dated:
        return relation
    return relation.project(f'* EXCLUDE (filename), {_DAY_OF_FILE} AS "date"')


def with_all_columns(
    connection: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, spec: TableSpec
) -> duckdb.DuckDBPyRelation:
    """Rows with null in columns that came to a table after all of its files were written."""
    missing = {c.name for c in spec.columns} - set(relation.columns)
    if not missing:
        return relation
    typed = connection.from_arrow(spec.empty().to_arrow(compat_level=pl.CompatLevel.oldest()))
    added = ", ".join(
        f'CAST(NULL AS {kind}) AS "{name}"'
        for name, kind in zip(typed.columns, typed.types, strict=True)
        if name in missing
    )
    return relation.project(f"*, {added}")


def scan_files(paths: Iterable[Path]) -> pl.LazyFrame:
    """Rows of files as a lazy frame of Polars.

    Args:
        paths: Files of one table; at least one.
    """
    return pl.scan_parquet(present(paths), glob=False, hive_partitioning=False)

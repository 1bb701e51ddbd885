"""Read the lake's Parquet files by their exact paths.

A lake may lie in a folder such as `/data/cluster=one/[old]/`. Engines would take `[old]` for a glob
and `cluster=one` for a column that hides the file's own, so that both are switched off here and the
day is read from the file's own folder. What lies on S3 is fetched first.
"""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq

from pipelines.mirror import present
from schemas.registry import table_spec
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


def with_all_columns(relation: duckdb.DuckDBPyRelation, spec: TableSpec) -> duckdb.DuckDBPyRelation:
    """Rows of files of any version with the columns of now.

    A column that came to the table later is null; one that had another type is cast when the rows
    are read, which fails where a value does not fit.
    """
    stated = _types(spec.name)
    present_types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    others = {n for n, kind in stated.items() if present_types.get(n) not in {kind, None}}
    missing = stated.keys() - present_types.keys()
    if not missing and not others:
        return relation
    kept = (
        f'CAST("{n}" AS {stated[n]}) AS "{n}"' if n in others else f'"{n}"' for n in present_types
    )
    added = (f'CAST(NULL AS {kind}) AS "{n}"' for n, kind in stated.items() if n in missing)
    return relation.project(", ".join([*kept, *added]))


@lru_cache(maxsize=256)
def _types(table: str) -> dict[str, str]:
    """DuckDB's types of a table's columns."""
    empty = table_spec(table).empty().to_arrow(compat_level=pl.CompatLevel.oldest())
    with _engine().cursor() as cursor:
        typed = cursor.from_arrow(empty)
        return dict(zip(typed.columns, map(str, typed.types), strict=True))


@lru_cache(maxsize=1)
def _engine() -> duckdb.DuckDBPyConnection:
    """An engine that is asked for names of types; starting one for each table would cost more."""
    return duckdb.connect()


def outdated_columns(path: Path, spec: TableSpec) -> list[str]:
    """Columns that have other types in a file than now, as `name (type there, now type)`."""
    (there,) = present([path])
    found = pq.read_schema(there)
    return [
        f"{now.name} ({found.field(now.name).type}, now {now.type})"
        for now in spec.arrow_schema
        if now.name in found.names and found.field(now.name).type != now.type
    ]


def scan_files(paths: Iterable[Path]) -> pl.LazyFrame:
    """Rows of files as a lazy frame of Polars.

    Args:
        paths: Files of one table; at least one.
    """
    return pl.scan_parquet(present(paths), glob=False, hive_partitioning=False)

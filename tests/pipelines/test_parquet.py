"""The lake reads well wherever it lies."""

import datetime as dt
from pathlib import Path

import duckdb
import polars as pl

from pipelines.landing.land import land
from pipelines.ledger import Ledger
from pipelines.parquet import read_files, scan_files, with_all_columns
from pipelines.storage import Lake
from schemas.registry import table_spec
from tests.pipelines.landing_zone import FIRST_SEEN, line, put, zone

HOSTILE = "a [b] *?/cluster=other/date=2020-01-01/dätä"
"""A folder that an engine would take for a glob and for columns."""


def test_folders_of_the_lake_are_no_columns_and_no_globs(tmp_path: Path) -> None:
    path = Lake(tmp_path / HOSTILE).path("runs", dt.date(2026, 3, 10), "alder")
    path.parent.mkdir(parents=True)
    pl.DataFrame({"cluster": ["alder"], "n": [1]}).write_parquet(path)
    with duckdb.connect() as connection:
        relation = read_files(connection, [path], dated=True)
        assert relation.columns == ["cluster", "n", "date"]
        assert relation.fetchall() == [("alder", 1, dt.date(2026, 3, 10))]
        assert read_files(connection, [path]).fetchall() == [("alder", 1)]
    assert scan_files([path]).collect().rows() == [("alder", 1)]


def test_a_lake_in_such_a_folder_lands_and_finds_repeated_records(tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE
    folder.mkdir(parents=True)
    put(folder, "a.log", [line(1), line(2)])
    settings = zone(folder)
    lake = Lake(settings.lake_path)
    land(settings, lake, FIRST_SEEN)
    put(folder, "b.log", [line(2), line(3)])
    land(settings, lake, FIRST_SEEN)
    files = Ledger.read(lake).files
    assert (files["accepted_count"].sum(), files["duplicate_count"].sum()) == (3, 1)


def test_a_column_that_came_later_is_null_in_files_of_before(tmp_path: Path) -> None:
    spec = table_spec("deliveries")
    path = tmp_path / "old.parquet"
    pl.DataFrame({"cluster": ["alder"], "export": ["logs"]}).write_parquet(path)
    with duckdb.connect() as connection:
        rows = with_all_columns(read_files(connection, [path]), spec)
        assert set(rows.columns) == {c.name for c in spec.columns}
        kinds = dict(zip(rows.columns, map(str, rows.types), strict=True))
        assert (kinds["landing_date"], kinds["naming_notes"]) == ("DATE", "VARCHAR[]")
        assert rows.project("cluster, status, naming_notes").fetchall() == [("alder", None, None)]

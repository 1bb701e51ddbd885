"""Every transform of the registry: what it reads exists, and from nothing it makes nothing."""

import ast
from pathlib import Path

import polars as pl
import pytest

from pipelines.reference.prices import PRICES_SCHEMA
from schemas.registry import table_spec, tables
from schemas.table import FLEET
from tests.transforms.frames import DAY, checked
from transforms.day import BuildDay
from transforms.intermediate.address_prefixes import ADDRESS_RANGES
from transforms.registry import MODULES, transforms
from transforms.sql import SqlSession

ROOT = Path(__file__).parents[2]
CLUSTER = "alder"
ENDPOINTS = pl.Schema(
    {
        "pattern": pl.String(),
        "service": pl.String(),
        "operation": pl.String(),
        "kind": pl.String(),
        "source": pl.String(),
        "as_of": pl.Date(),
        "is_verified": pl.Boolean(),
    }
)
"""Columns of the view `endpoints`, the catalogue of reference data."""
SPECIAL_VIEWS = {"endpoints", "prices", "address_ranges", "deliveries", "export_files"}
"""What a build shows beside staging, intermediate and mart tables."""


def empty_view(name: str) -> pl.DataFrame:
    if name == "endpoints":
        return pl.DataFrame(schema=ENDPOINTS)
    if name == "address_ranges":
        return pl.DataFrame(schema=ADDRESS_RANGES)
    if name == "prices":
        return pl.DataFrame(schema=PRICES_SCHEMA)
    spec = table_spec(name)
    empty = spec.empty()
    if spec.layer in {"intermediate", "marts"}:
        return empty.with_columns(date=pl.lit(None, pl.Date))
    return empty


def scopes(table: str) -> tuple[str, ...]:
    return {"cluster": (CLUSTER,), "fleet": (FLEET,), "both": (CLUSTER, FLEET)}[
        table_spec(table).scope
    ]


@pytest.mark.parametrize(
    ("table", "scope"), [(table, scope) for table in transforms() for scope in scopes(table)]
)
def test_nothing_is_made_of_nothing(table: str, scope: str):
    transform = transforms()[table]
    with SqlSession(threads=1) as session:
        for read in transform.reads:
            session.register(read.table, empty_view(read.table))
            if read.repeated:
                session.register(f"all_{read.table}", empty_view(read.table))
        made = transform.build(session, BuildDay(DAY, scope))
        assert checked(session, table, made).is_empty()


def test_each_transform_makes_another_derived_table():
    assert len(transforms()) == len(MODULES)
    for table, transform in transforms().items():
        assert transform.table == table
        assert table_spec(table).layer in {"intermediate", "marts"}


def test_each_table_that_is_read_is_one_of_the_schemas_or_a_special_view():
    for table, transform in transforms().items():
        read = [r.table for r in transform.reads]
        assert len(read) == len(set(read)), table
        for name in read:
            known = name in SPECIAL_VIEWS or table_spec(name).layer != "ledger"
            assert known, f"{table} reads {name}"


def test_each_derived_table_that_is_read_is_made_before():
    made: set[str] = set()
    for table, transform in transforms().items():
        for read in transform.reads:
            if read.table in transforms() and read.table != table:
                assert read.table in made, f"{table} reads {read.table}"
        made.add(table)


def test_each_derived_table_of_the_schemas_is_made():
    derived = {name for name, spec in tables().items() if spec.layer in {"intermediate", "marts"}}
    assert derived == set(transforms())


def test_each_sql_file_is_named_by_a_module():
    named = {
        node.value
        for layer in ("transforms", "pipelines")
        for path in (ROOT / layer).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    files = {path.stem for path in (ROOT / "transforms").rglob("*.sql")}
    assert files
    assert files - named == set()

"""`show TABLE --by …`: sums of what adds up, ranges kept, what is unknown said."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pipelines.catalog import write_catalog
from pipelines.publication import Made, publish
from pipelines.settings import load_settings
from pipelines.storage import Lake
from schemas.registry import table_spec
from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import DAY, small_catalogue
from tests.transforms.frames import frame
from transforms.sql import SqlSession

LARGEST = 2**63 - 1


def charge(number: int, usd: str | None, low: str | None, high: str | None, **more: Any) -> dict:
    money = {"usd": usd, "min_usd": low, "max_usd": high}
    return {
        "transfer_cost_id": str(number),
        "resource_id": f"s3://b{number}",
        "project": "vision",
        "distance": "cross_region",
        "charge_kind": "transfer",
        "bytes": LARGEST,
        "min_bytes": 1,
        "max_bytes": LARGEST,
        **{name: value and Decimal(value) for name, value in money.items()},
        **more,
    }


CHARGES = [
    charge(1, "0.1", "0.1", "0.1"),
    charge(2, "0.2", "0.1", "0.3"),
    charge(3, None, "0.5", "0.9", project="speech"),
    charge(4, "0.4", "0.4", "0.4", project="speech", bytes=None),
    charge(5, "0.045", "0.045", "0.045", charge_kind="nat_processing"),
    charge(6, None, None, None, project="speech", charge_kind="nat_processing"),
    charge(7, "7", "7", "7", distance="internet", project="=cmd()"),
]
BILLED = [
    {"bill_reconciliation_id": "1", "account_id": "1", "billed_usd": Decimal(3)},
    {"bill_reconciliation_id": "2", "account_id": "1", "billed_usd": None, "provider": "aws"},
]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = small_catalogue(tmp_path_factory.mktemp("lake"))
    settings = load_settings(path)
    lake = Lake(settings.lake_path)
    for table, rows in (("transfer_costs", CHARGES), ("bill_reconciliation", BILLED)):
        with SqlSession() as session:
            session.register("rows", frame(table, rows))
            publish(lake, session, table_spec(table), "rows", DAY, "fleet", Made("by hand", 1))
    write_catalog(lake, settings.catalog_path)
    return path


def summed(config: Path, table: str, *arguments: str) -> list[dict[str, Any]]:
    ended = podledger("show", table, *arguments, "--json", "--config", config)
    assert (ended.code, ended.err) == (0, "")
    rows: list[dict[str, Any]] = json.loads(ended.out)
    return rows


def test_ranges_are_summed_and_a_best_value_stands_only_if_every_row_has_one(config: Path) -> None:
    rows = summed(config, "transfer_costs", "--by", "project", "--distance", "cross_region")
    money = ("project", "charge_kind", "row_count", "min_usd", "usd", "max_usd")
    assert [tuple(row[name] for name in money) for row in rows] == [
        # What is open comes first, then what is dearest.
        ("speech", "nat_processing", 1, None, None, None),
        ("speech", "transfer", 2, "0.900000000", None, "1.300000000"),
        ("vision", "transfer", 2, "0.200000000", "0.300000000", "0.400000000"),
        ("vision", "nat_processing", 1, "0.045000000", "0.045000000", "0.045000000"),
    ]
    by_kind = {(row["project"], row["charge_kind"]): row for row in rows}
    # More than 64 bits; and not of two kinds of charge together, which are of the same bytes.
    assert by_kind["vision", "transfer"]["bytes"] == 2 * LARGEST
    assert by_kind["speech", "transfer"]["bytes"] is None
    assert by_kind["speech", "transfer"]["min_bytes"] == 2


def test_any_column_is_a_filter_and_values_are_no_sql(config: Path) -> None:
    def kinds(*arguments: str) -> int:
        return sum(row["row_count"] for row in summed(config, "transfer_costs", *arguments))

    assert kinds("--by", "distance", "--charge-kind", "transfer") == 5
    assert kinds("--by", "distance", "--charge-kind=transfer", "--project", "vision") == 2
    assert kinds("--by", "date,distance", "--resource_id", "s3://b1") == 1
    assert kinds("--by", "distance", "--resource-id", "' OR 1=1 --") == 0
    assert kinds("--by", "distance", "--from", "2026-03-11") == 0
    assert len(summed(config, "transfer_costs", "--charge-kind", "nat_processing")) == 2


def test_other_tables_sum_what_adds_up_and_say_what_they_leave_out(config: Path) -> None:
    rows = summed(config, "run_dependency_days", "--by", "run")
    assert {row["run_uuid"]: row["received_bytes"] for row in rows} == {
        "0123456789abcdef0123456789abcdef": 100,
        "fedcba9876543210fedcba9876543210": None,
    }
    (row,) = summed(config, "bill_reconciliation", "--by", "account")
    assert (row["account_id"], row["billed_usd"], row["billed_usd_unknown_count"]) == (
        "1", "3.000000000", 1,
    )  # fmt: skip


def test_a_terminal_shows_unknown_between_its_ends_and_no_formula(config: Path) -> None:
    ended = podledger("show", "transfer_costs", "--by", "project", "--config", config)
    lines = [line.split() for line in ended.out.splitlines()]
    assert lines.count(["usd", "unknown"]) == 1
    assert ["max_usd", "1.300000000"] in lines
    # A column that has no value anywhere is left out.
    assert "request_count" not in ended.out
    ended = podledger(
        "show", "transfer_costs", "--by", "project", "--format", "csv", "--config", config
    )
    assert "'=cmd()" in ended.out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--by", "projekt"), "transfer_costs has no column(s) projekt; it has: "),
        (("--by", "missing_prices"), "--by missing_prices: expected a column of single values"),
        (("--by", "project", "--columns", "usd"), "expected no --columns beside it"),
        (("--by", "project", "--distnce", "x"), "transfer_costs has no column(s) distnce"),
        (("--by", "project", "--distance"), "--distance: expected one value"),
        (("--by", "project", "--distance", "a", "--distance", "b"), "--distance: expected one"),
        (("--by", "project", "--price-kind", "' OR 1=1 --"), "--price-kind ' OR 1=1 --: expected"),
        (("--by", "project", "stray"), "stray: expected an option such as --distance"),
    ],
)
def test_a_wrong_option_is_named(config: Path, arguments: tuple[str, ...], expected: str) -> None:
    ended = podledger("show", "transfer_costs", *arguments, "--config", config)
    assert ended.code == 2
    assert expected in ended.err

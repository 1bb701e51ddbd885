"""Totals of whole months are the sums of their days, as `show` tells them over ranges of days.

Two months, 59 days, each day built alone: a nightly run reads an object of one GiB whole and
another of ten GiB in parts over midnight, from a bucket of another region, and every day somebody
else's bytes stand on the same lines of the bill. What the months hold is counted by hand.
"""

import datetime as dt
import json
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipelines.catalog import write_catalog
from pipelines.publication import Made, publish
from pipelines.settings import load_settings
from pipelines.storage import Lake
from schemas.registry import table_spec
from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import small_catalogue
from tests.transforms.frames import at, frame
from tests.transforms.marts import test_bill_reconciliation as bill
from tests.transforms.marts import test_repeat_transfers as repeats
from tests.transforms.marts import test_transfer_costs as costs
from tests.transforms.marts.price_sheet import BY_HAND, GIB, amount
from transforms.sql import SqlSession

ONE = dt.timedelta(days=1)
FEBRUARY = [dt.date(2026, 2, 1) + n * ONE for n in range(28)]
MARCH = [dt.date(2026, 3, 1) + n * ONE for n in range(31)]
DAYS = [*FEBRUARY, *MARCH]
CUTS = ((DAYS[0], DAYS[9]), (DAYS[10], DAYS[46]), (DAYS[47], DAYS[-1]))
"""Ranges that end within months; together they are both."""
USAGE = "EUW1-USE1-AWS-Out-Bytes"


def written(folder: Path, tables: dict[str, dict[dt.date, pl.DataFrame]]) -> Path:
    """Publish rows by table and day, and write the catalogue; returns the settings."""
    path = small_catalogue(folder)
    settings = load_settings(path)
    lake = Lake(settings.lake_path)
    for table, days in tables.items():
        for day, rows in days.items():
            with SqlSession() as session:
                session.register("rows", rows)
                publish(lake, session, table_spec(table), "rows", day, "fleet", Made("by hand", 1))
    write_catalog(lake, settings.catalog_path)
    return path


def shown(config: Path, table: str, *options: object) -> list[dict[str, Any]]:
    """Sums as a script reads them."""
    ended = podledger("show", table, *options, "--json", "--limit", 1000, "--config", config)
    assert (ended.code, ended.err) == (0, "")
    rows: list[dict[str, Any]] = json.loads(ended.out)
    return rows


def total(rows: Iterable[dict[str, Any]], name: str) -> Decimal:
    """What a column of the rows comes to."""
    return sum((Decimal(str(row[name])) for row in rows), Decimal(0))


def over(config: Path, table: str, days: list[dt.date] | tuple[dt.date, ...], *options: object):
    """Sums over the days from the first to the last."""
    return shown(config, table, "--from", days[0], "--to", days[-1], *options)


def check(
    config: Path, table: str, by: str, expected: dict[str, dict[dt.date, Decimal]], *filters: object
) -> None:
    """Sums of columns over each day, each month and any ranges are those of the days expected."""
    by_day = over(config, table, DAYS, "--by", "date", *filters)
    for name, amounts in expected.items():
        stated = {dt.date.fromisoformat(row["date"]): Decimal(str(row[name])) for row in by_day}
        assert stated == amounts, (table, name)
    for days in (FEBRUARY, MARCH, *CUTS):
        (one,) = over(config, table, days, "--by", by, *filters)
        first, last = days[0].isoformat(), days[-1].isoformat()
        of_days = [row for row in by_day if first <= row["date"] <= last]
        for name, amounts in expected.items():
            hand = sum((usd for day, usd in amounts.items() if days[0] <= day <= days[-1]),
                       Decimal(0))  # fmt: skip
            assert Decimal(str(one[name])) == total(of_days, name) == hand, (table, name, days)


# -- what each day holds, by hand ----------------------------------------------------------------


def odd(day: dt.date) -> int:
    """Bytes of a third read, which no price divides evenly."""
    return 123_456_789 + 7 * day.toordinal()


def moved(day: dt.date) -> int:
    """What the night moved on a day: 1 GiB, 4 of 10 GiB, the other 6 of the night before's."""
    return (1 + 4 + (6 if day > DAYS[0] else 0)) * GIB + odd(day)


def foreign(day: dt.date) -> int:
    """Bytes of somebody else on the same lines of the bill."""
    return 1_000_003 * day.toordinal()


def again(day: dt.date) -> int:
    """Bytes that a day fetched again: nothing on the first night, all of it on each later one."""
    night = 0 if day == DAYS[0] else 1 + 4
    return (night + (6 if day > DAYS[1] else 0)) * GIB


def nightly() -> list[repeats.Read]:
    """Reads of each night: whole, and in parts until after midnight."""
    facts = {
        "dataset_id": "s3://bucket/data", "dataset_basis": "declared",
        "bucket_region": "eu-west-1", "client_address": "10.0.0.1", "vpc_endpoint_id": "vpce-9",
    }  # fmt: skip
    found = []
    for n, day in enumerate(DAYS):
        run = {"run": f"{n:032x}", "facts": facts}
        over_midnight = {day: 4 * GIB, day + ONE: 6 * GIB}
        found += [
            repeats.Read(f"w{n:02}", at("22:00", day), {day: GIB}, GIB, is_whole=True, **run),
            repeats.Read(f"p{n:02}", at("23:50", day), over_midnight, 10 * GIB,
                         "s3://bucket/parts@v1", **run),
        ]  # fmt: skip
    return found


def charged(day: dt.date) -> pl.DataFrame:
    """Costs of a day's transfers, all of one run."""
    across = {"bucket_region": "eu-west-1", "vpc_endpoint_id": "vpce-1", "request_count": 0}
    rows = [
        costs.transfer(f"{day} {n}", count, date=day, **across)
        for n, count in enumerate((GIB, 4 * GIB, 6 * GIB if day > DAYS[0] else 0, odd(day)))
        if count
    ]
    return costs.built(
        object_transfers=rows, day=day, bucket_owners=(("*", bill.OWN, False),),
        runs=[{"run_uuid": costs.RUN, "project": "vision", "date": day}],
    )  # fmt: skip


def billed() -> list[dict[str, Any]]:
    """A line for each day, of the fleet's bytes and the others'."""
    return [
        bill.line(
            USAGE, moved(day) + foreign(day), str(amount(moved(day) + foreign(day), "0.03")),
            billing_period=f"{day:%Y-%m}", period_start_at=at("00:00", day.replace(day=1)),
            delivered_at=at("00:00", dt.date(2026, 4, 9)), delivery_id="final",
            usage_start_at=at("10:00", day), usage_end_at=at("11:00", day),
            resource_id="bucket", **bill.PAIR,
        )
        for day in DAYS
    ]  # fmt: skip


@pytest.mark.slow
def test_totals_of_two_months_are_those_of_their_days_each_built_alone(tmp_path: Path) -> None:
    reads, lines = nightly(), billed()
    tables: dict[str, dict[dt.date, pl.DataFrame]] = {
        "repeat_transfers": {
            day: repeats.built(reads, day, tuple(DAYS), prices=BY_HAND) for day in DAYS
        },
        "transfer_costs": {day: charged(day) for day in DAYS},
    }
    tables["bill_reconciliation"] = {
        day: bill.reconciled(
            lines, tables["transfer_costs"][day].with_columns(date=pl.lit(day)), day
        )
        for day in DAYS
    }
    config = written(tmp_path, tables)

    fleet = ("--scope", "fleet", "--by", "dataset")
    (february,) = over(config, "repeat_transfers", FEBRUARY, *fleet)
    (march,) = over(config, "repeat_transfers", MARCH, *fleet)
    # By hand. 28 whole reads, of which the first is none again; of the parts 27 nights again before
    # midnight and 26 behind it. In March all 31 nights, the rest of February's last one with them.
    assert february["min_repeat_bytes"] == (27 + 27 * 4 + 26 * 6) * GIB
    assert march["min_repeat_bytes"] == (31 + 31 * 4 + 31 * 6) * GIB
    # Between the regions 0.03 a GiB; the endpoint passed is free or 0.01.
    assert (february["min_avoidable_usd"], february["max_avoidable_usd"]) == (
        "8.730000000", "11.640000000",
    )  # fmt: skip
    assert (march["min_avoidable_usd"], march["max_avoidable_usd"]) == (
        "10.230000000", "13.640000000",
    )  # fmt: skip
    repeated = {day: Decimal(again(day)) for day in DAYS if again(day)}
    scoped = ("--scope", "fleet")
    bounds = dict.fromkeys(("min_repeat_bytes", "max_repeat_bytes"), repeated)
    check(config, "repeat_transfers", "dataset", bounds, *scoped)
    # The first repeat of March is of the last read of February.
    rows = shown(config, "repeat_transfers", *scoped, "--from", MARCH[0], "--to", MARCH[0])
    assert {row["previous_at"][:10] for row in rows} == {"2026-02-28", "2026-02-27"}

    paid = ("--charge-kind", "transfer", "--distance", "cross_region")
    usd = {day: amount(moved(day), "0.03") for day in DAYS}
    charges = dict.fromkeys(("min_usd", "usd", "max_usd"), usd)
    charges["bytes"] = {day: Decimal(moved(day)) for day in DAYS}
    check(config, "transfer_costs", "project", charges, *paid)
    (month,) = over(config, "transfer_costs", FEBRUARY, "--by", "project", *paid)
    assert month["bytes"] == (28 + 28 * 4 + 27 * 6) * GIB + sum(odd(day) for day in FEBRUARY)

    line = ("--usage-type", USAGE)
    whole = {day: amount(moved(day) + foreign(day), "0.03") for day in DAYS}
    sums = {
        "billed_usd": whole,
        "explained_usd": usd,
        "residual_usd": {day: whole[day] - usd[day] for day in DAYS},
        "residual_bytes": {day: Decimal(foreign(day)) for day in DAYS},
    }
    check(config, "bill_reconciliation", "account", sums, *line)


def test_show_adds_up_any_range_of_days_exactly(tmp_path: Path) -> None:
    """Rows of days by hand: largest counts and ninth decimals are lost in no sum."""
    days, largest = DAYS[::3], 2**63 - 1
    usd = {day: Decimal(day.toordinal()).scaleb(-9) for day in days}
    charges = {
        day: frame(
            "transfer_costs",
            [
                {"transfer_cost_id": f"{day}{n}", "run_uuid": f"{n:032x}", "project": "vision",
                 "charge_kind": "transfer", "resource_id": "s3://b", "bytes": largest,
                 "min_usd": usd[day], "usd": usd[day], "max_usd": usd[day]}
                for n in range(2)
            ],
        )
        for day in days
    }  # fmt: skip
    config = written(tmp_path, {"transfer_costs": charges})
    doubled = {
        "usd": {day: 2 * one for day, one in usd.items()},
        "bytes": dict.fromkeys(days, Decimal(2 * largest)),
    }
    check(config, "transfer_costs", "project", doubled)

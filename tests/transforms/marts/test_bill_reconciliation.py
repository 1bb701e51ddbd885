"""bill_reconciliation: bills written by hand, and one made from a truth and foreign traffic."""

import random
from datetime import timedelta
from decimal import Decimal

import polars as pl
import pytest

from schemas.registry import table_spec
from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.marts.price_sheet import GIB, amount
from tests.transforms.marts.test_transfer_costs import EAST, WEST, built, transfer
from transforms.day import BuildDay
from transforms.marts.bill_reconciliation import TRANSFORM
from transforms.sql import SqlSession

OWN = "111122223333"
OWNER = "999900001111"
SHOWN = (
    "usage_type", "resource_id", "billed_usd", "explained_usd", "residual_usd", "billed_bytes",
    "explained_bytes", "residual_bytes",
)  # fmt: skip


def reconciled(lines: list[dict], costs: list[dict] | pl.DataFrame, day=DAY) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        show(session, all_billing_lines=lines)
        if isinstance(costs, pl.DataFrame):
            session.register("transfer_costs", costs)
        else:
            show(session, transfer_costs=costs)
        name = TRANSFORM.build(session, BuildDay(day, "fleet"))
        return checked(session, "bill_reconciliation", name)


def line(usage_type: str, count: int | None, usd: str, **more) -> dict:
    return {
        "provider": "aws",
        "billing_period": "2026-03",
        "period_start_at": at("00:00", DAY.replace(day=1)),
        "account_id": OWN,
        "delivered_at": at("00:00", days=9),
        "line_item_type": "usage",
        "usage_start_at": at("10:00"),
        "usage_end_at": at("11:00"),
        "usage_type": usage_type,
        "usage_bytes": count,
        "cost_usd": Decimal(usd),
        "currency": "USD",
        "source_format": "aws_cur",
        "is_final": False,
    } | more


def cost(usage_type: str | None, count: int, usd: str, **more) -> dict:
    return {
        "transfer_cost_id": f"{usage_type} {count} {sorted(more.items())}",
        "provider": "aws",
        "charge_kind": "transfer",
        "usage_type": usage_type,
        "account_id": OWN,
        "distance": "cross_region",
        "gateway": "none",
        "from_region": "eu-west-1",
        "to_region": "us-east-1",
        "bytes": count,
        "min_bytes": count,
        "max_bytes": count,
        "min_usd": Decimal(usd),
        "usd": Decimal(usd),
        "max_usd": Decimal(usd),
        "price_kind": "listed",
        "measured_by": "storage_log",
    } | more


def shown(rows: pl.DataFrame, *columns: str) -> list[tuple]:
    return sorted(rows.select(columns or SHOWN).rows(), key=repr)


def usd(*amounts: str | None) -> tuple:
    return tuple(None if a is None else Decimal(a) for a in amounts)


PAIR = {"from_region": "eu-west-1", "to_region": "us-east-1"}
OUT = "EUW1-USE1-AWS-Out-Bytes"


@pytest.fixture(scope="module")
def day() -> pl.DataFrame:
    gateways = {"from_region": None, "region": "us-east-1"}
    lines = [
        # Two hours of one bucket are one row; another account's bucket is foreign.
        line(OUT, 3 * GIB, "0.06", resource_id="data", **PAIR),
        line(OUT, GIB, "0.02", resource_id="data", usage_start_at=at("12:00"),
             usage_end_at=at("13:00"), **PAIR),
        line(OUT, 5 * GIB, "0.1", resource_id="arn:aws:s3:::foreign", **PAIR),
        # Nobody knows which of the gateways a pod's bytes passed.
        line("USE1-NatGateway-Bytes", 2 * GIB, "0.09", resource_id="natgateway/nat-1", **gateways),
        line("USE1-NatGateway-Bytes", GIB, "0.045", resource_id="natgateway/nat-2", **gateways),
        # Bytes between zones are billed at both ends.
        line("USE1-DataTransfer-Regional-Bytes", 4 * GIB, "0.04", **gateways),
        line("USE1-Requests-Tier2", None, "0.0008", resource_id="data", usage_amount=Decimal(2000),
             from_region="eu-west-1"),
        # What is no usage, no volume and of another day is left apart or out.
        line(OUT, GIB, "-0.01", line_item_type="credit", resource_id="data", **PAIR),
        line("EUW1-TimedStorage-ByteHrs", None, "7", resource_id="data"),
        line(OUT, GIB, "9", resource_id="data", usage_start_at=at("10:00", days=1),
             usage_end_at=at("11:00", days=1), **PAIR),
        # The bill reaches over the day.
        line("x", None, "0", usage_start_at=at("10:00", days=2), usage_end_at=at("11:00", days=2)),
    ]  # fmt: skip
    lines.append(
        line(OUT, 77 * GIB, "77", delivered_at=at("00:00", days=3), delivery_id="older", **PAIR)
    )
    costs = [
        cost("AWS-Out-Bytes", GIB, "0.02", billed_resource_id="data", run_uuid="a" * 32),
        cost("AWS-Out-Bytes", 2 * GIB, "0.04", billed_resource_id="data", account_id=None),
        cost("NatGateway-Bytes", GIB, "0.045", from_region="us-east-1", to_region="us-east-1",
             charge_kind="nat_processing"),
        cost("DataTransfer-Regional-Bytes", GIB, "0.02", from_region="us-east-1",
             to_region="us-east-1"),
        cost("Requests-Tier2", 0, "0.0004", charge_kind="request", request_count=1000,
             billed_resource_id="data", to_region=None, bytes=None, min_bytes=None,
             max_bytes=None),
        # Charged, and on no line of the bill.
        cost("AWS-Out-Bytes", GIB, "0.02", billed_resource_id="data", to_region="us-west-2"),
        cost(None, GIB, "0", distance="same_zone", to_region="eu-west-1"),
        cost("AWS-Out-Bytes", GIB, "0.02", account_id=OWNER, billed_resource_id="data"),
    ]  # fmt: skip
    return reconciled(lines, costs)


def test_explained_stands_on_the_most_specific_line_and_the_rest_alone(day):
    assert shown(day.filter(pl.col("usage_type") != "Requests-Tier2")) == sorted(
        [
            (OUT, "data", *usd("0.08", "0.06", "0.02"), 4 * GIB, 3 * GIB, GIB),
            (OUT, "arn:aws:s3:::foreign", *usd("0.1", "0", "0.1"), 5 * GIB, 0, 5 * GIB),
            (OUT, "data", *usd("-0.01", "0", "-0.01"), GIB, 0, GIB),
            ("USE1-NatGateway-Bytes", None, *usd("0.135", "0.045", "0.09"), 3 * GIB, GIB, 2 * GIB),
            ("USE1-DataTransfer-Regional-Bytes", None, *usd("0.04", "0.02", "0.02"), 4 * GIB,
             2 * GIB, 2 * GIB),
            ("USE1-Requests-Tier2", "data", *usd("0.0008", "0.0004", "0.0004"), None, None, None),
            # The bill of the account reaches over the day, so that no line means nothing billed.
            ("AWS-Out-Bytes", "data", *usd(None, "0.02", "-0.02"), None, GIB, -GIB),
            # Of the owner's account no bill was delivered.
            ("AWS-Out-Bytes", "data", *usd(None, "0.02", None), None, GIB, None),
        ],
        key=repr,
    )  # fmt: skip
    unknown = day.filter(pl.col("usage_type").is_null()).row(0, named=True)
    assert (unknown["explained_bytes"], unknown["billed_usd"]) == (GIB, None)


def test_a_row_says_at_what_rate_and_from_what_it_was_made(day):
    row = day.filter(usage_type=OUT, resource_id="data", line_item_type="usage").row(0, named=True)
    # 3 of 4 GiB at 0.08 for all of them.
    assert row["effective_usd"] == Decimal("0.06")
    assert (row["billed_line_count"], row["explained_row_count"]) == (2, 2)
    assert len(row["transfer_cost_ids"]) == 2
    asked = day.filter(usage_type="USE1-Requests-Tier2").row(0, named=True)
    assert asked["effective_usd"] == Decimal("0.0004")
    foreign = day.filter(resource_id="arn:aws:s3:::foreign").row(0, named=True)
    assert (foreign["effective_usd"], foreign["transfer_cost_ids"]) == (None, None)


def test_the_residual_stands_first():
    names = [column.name for column in table_spec("bill_reconciliation").columns]
    assert names[:3] == ["bill_reconciliation_id", "residual_usd", "residual_bytes"]


def test_nothing_is_lost_between_charges_lines_and_rows(day):
    usage = day.filter(line_item_type="usage")
    assert usage["billed_usd"].sum() == Decimal("0.3558")
    assert day["explained_usd"].sum() == Decimal("0.1654")
    assert day["explained_row_count"].sum() == 8


def test_units_are_the_vendors_own_and_a_usage_type_not_stated_tells_nothing_apart():
    place = {"provider": "azure", "account_id": None, "from_region": "eastus"}
    rows = reconciled(
        [line(None, 10**9, "0.087", unit="1 GB", unit_bytes=10**9, **place)],
        [cost(None, 10**9, "0.087", **{**place, "to_region": "internet"})],
    )
    assert shown(rows, "billed_bytes", "explained_bytes", "residual_usd") == [
        (10**9, 10**9, Decimal(0))
    ]


def test_a_line_of_a_month_is_billed_on_its_first_day_and_explained_on_each():
    first = DAY.replace(day=1)
    month = line(OUT, 10 * GIB, "0.2", resource_id="data", usage_start_at=at("00:00", first),
                 usage_end_at=at("00:00", first, days=31), **PAIR)  # fmt: skip
    days = [first + timedelta(days=n) for n in range(3)]
    costs = [
        cost("AWS-Out-Bytes", n * GIB, f"0.0{2 * n}", billed_resource_id="data", date=day)
        for n, day in enumerate(days)
        if n
    ]
    parts = [reconciled([month], costs, day) for day in days]
    assert [shown(part, "billed_usd", "explained_usd", "residual_usd") for part in parts] == [
        [usd("0.2", "0", "0.2")],
        [usd(None, "0.02", "-0.02")],
        [usd(None, "0.04", "-0.04")],
    ]
    whole = pl.concat(parts)
    assert whole["residual_usd"].sum() == Decimal("0.14")
    assert set(whole["period_end_at"]) == {at("00:00", first, days=31)}
    assert reconciled([month], [], days[1]).is_empty()


def test_what_is_not_known_leaves_no_residual():
    lines = [line(OUT, GIB, "0.02", resource_id="data", **PAIR)]
    unsure = {"usd": None, "max_usd": Decimal("0.5"), "bytes": None}
    charge = cost("AWS-Out-Bytes", GIB, "0", billed_resource_id="data") | unsure
    rows = reconciled(lines, [charge])
    assert shown(rows, "explained_usd", "residual_usd", "residual_bytes", "max_explained_usd") == [
        (None, None, None, Decimal("0.5"))
    ]
    rows = reconciled([{**lines[0], "cost_usd": None, "currency": "EUR"}], [])
    assert shown(rows, "billed_usd", "residual_usd", "residual_bytes") == [(None, None, GIB)]


def test_a_fee_of_the_month_does_not_say_that_the_bill_reaches_over_days_to_come():
    first = DAY.replace(day=1)
    fee = line("Fee", None, "10", line_item_type="fee", usage_start_at=at("00:00", first),
               usage_end_at=at("00:00", first, days=31))  # fmt: skip
    charge = cost("AWS-Out-Bytes", GIB, "0.02")
    for delivered_at, residual in ((at("06:00"), None), (at("06:00", first, days=32), "-0.02")):
        rows = reconciled([fee | {"delivered_at": delivered_at}], [charge])
        assert shown(rows, "explained_usd", "residual_usd") == [usd("0.02", residual)]


def test_a_bill_of_a_truth_and_foreign_traffic_is_explained_and_left_to_the_cent():
    """Each part is computed without the other: the fleet's logs never see the foreign bytes."""
    draw = random.Random(7)
    buckets = {f"bucket-{n}": draw.choice(("eu-west-1", "us-east-1")) for n in range(6)}
    rate = {"eu-west-1": "0.03", "us-east-1": "0"}
    code = {"eu-west-1": OUT, "us-east-1": "USE1-C3DataTransfer-Out-Bytes"}
    fleet: dict[str, int] = dict.fromkeys(buckets, 0)
    foreign: dict[str, int] = {name: draw.randint(1, 900 * GIB) for name in buckets}
    foreign["elsewhere"] = 40 * GIB
    reads = []
    for n in range(80):
        bucket = draw.choice(sorted(buckets))
        count = draw.randint(1, 300 * GIB)
        fleet[bucket] += count
        reads.append(
            transfer(
                f"t{n}", count, bucket=bucket, bucket_region=buckets[bucket],
                run_uuid=f"{n % 9:032x}", vpc_endpoint_id="vpce-1", request_count=0,
            )
        )  # fmt: skip
    costs = built(
        clusters=(EAST, WEST), object_transfers=reads, bucket_owners=(("*", OWN, False),)
    ).with_columns(date=pl.lit(DAY))
    lines = [
        line(
            code[region], fleet[name] + foreign[name],
            str(amount(fleet[name] + foreign[name], rate[region])), resource_id=name,
            from_region=region, to_region="us-east-1",
        )
        for name, region in buckets.items()
    ]  # fmt: skip
    lines.append(line(OUT, foreign["elsewhere"], str(amount(foreign["elsewhere"], "0.03")),
                      resource_id="elsewhere", **PAIR))  # fmt: skip
    rows = reconciled(lines, costs)
    cent = Decimal("0.01")
    found = {row["resource_id"]: row for row in rows.iter_rows(named=True)}
    assert set(found) == {*buckets, "elsewhere"}
    for name, row in found.items():
        price = rate[buckets.get(name, "eu-west-1")]
        ours = amount(fleet.get(name, 0), price)
        theirs = amount(foreign[name], price)
        assert row["explained_usd"].quantize(cent) == ours.quantize(cent)
        assert row["residual_usd"].quantize(cent) == theirs.quantize(cent)
        assert row["explained_bytes"] == fleet.get(name, 0)
        assert row["residual_bytes"] == foreign[name]

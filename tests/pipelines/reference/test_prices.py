"""The price book is that of its sources, and a user's file is checked as hard."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from pipelines.errors import SettingsError
from pipelines.reference.prices import KEY, PRICES_SCHEMA, load_prices

HEADER = ",".join(PRICES_SCHEMA) + "\n"
ROW = "own,aws,transfer,cross_region,,us-east-1,,0.015,1073741824,,,,2026-01-01,,contract,true\n"


def written(folder: Path, rows: str, header: str = HEADER) -> Path:
    path = folder / "own.csv"
    path.write_text(header + rows, encoding="utf-8")
    return path


def problem(folder: Path, rows: str, header: str = HEADER) -> str:
    with pytest.raises(SettingsError) as caught:
        load_prices(written(folder, rows, header))
    return str(caught.value)


def of(prices: pl.DataFrame, **where) -> list[tuple]:
    return prices.filter(**where).select("price_id", "valid_from", "valid_to").rows()


def test_every_shipped_price_has_a_source_a_date_and_one_unit():
    prices = load_prices()
    assert dict(prices.schema) == dict(PRICES_SCHEMA)
    for column in ("price_id", "source", "valid_from", "is_verified", "usd_per_unit"):
        assert prices[column].null_count() == 0
    assert prices["price_id"].is_unique().all()
    assert prices["price_id"].to_list() == sorted(prices["price_id"].to_list())
    one = prices["unit_bytes"].is_null() != prices["unit_requests"].is_null()
    assert one.all()
    assert set(prices["provider"].drop_nulls()) == {"aws", "gcp", "azure"}
    keyed = prices.select(*KEY, "tier_from_bytes", "valid_from")
    assert not keyed.is_duplicated().any()


@pytest.mark.parametrize(
    ("price_id", "usd", "unit"),
    [
        # reference/object_storage.md section 7, written down again.
        ("aws-us-east-1-internet-0", "0.09", 2**30),
        ("aws-us-east-1-internet-3", "0.05", 2**30),
        ("aws-eu-west-1-other-region", "0.02", 2**30),
        ("aws-us-east-1-us-east-2", "0.01", 2**30),
        ("aws-ap-southeast-1-other-region", "0.09", 2**30),
        ("aws-ap-south-2-internet-0", "0.1093", 2**30),
        ("aws-sa-east-1-cross-zone", "0.02", 2**30),
        ("aws-s3-same-region", "0", 2**30),
        ("aws-gateway-endpoint", "0", 2**30),
        ("aws-nat", "0.045", 2**30),
        ("aws-interface-endpoint-0", "0.01", 2**30),
        ("aws-s3-requests-tier2", "0.0004", 1000),
        ("gcp-europe-europe", "0.02", 2**30),
        ("gcp-asia-asia", "0.08", 2**30),
        ("gcp-internet-0", "0.12", 2**30),
        ("gcp-nat", "0.045", 2**30),
        ("azure-us-internet-0", "0.087", 10**9),
        ("azure-private-endpoint-2", "0.004", 10**9),
    ],
)
def test_a_shipped_price_is_that_of_its_source(price_id, usd, unit):
    row = load_prices().filter(price_id=price_id).row(0, named=True)
    assert (row["usd_per_unit"], row["unit_bytes"] or row["unit_requests"]) == (Decimal(usd), unit)


SENT = {
    # Regions: to the internet (first 10 TB behind the free ones, next 40, next 100, more), to other
    # regions, across zones both ways. The same section, written down again.
    "us-east-1 us-east-2 us-west-1 us-west-2 ca-* eu-west-1 eu-west-2 eu-west-3 eu-central-1 "
    "eu-north-1 eu-south-1": (".09 .085 .07 .05", ".02"),
    "ap-northeast-1 ap-northeast-3": (".114 .089 .086 .084", ".09"),
    "ap-northeast-2": (".126 .122 .117 .108", ".08"),
    "ap-southeast-1 ap-east-1": (".12 .085 .082 .08", ".09"),
    "ap-southeast-2": (".114 .098 .094 .092", ".098"),
    "ap-southeast-5": (".108 .0765 .0738 .072", ".08"),
    "ap-south-1 ap-south-2": (".1093 .085 .082 .08", ".086"),
    "sa-east-1": (".15 .138 .126 .114", ".138"),
    "af-south-1": (".154 .147 .126 .112", ".147"),
    "me-south-1": (".117 .1105 .091 .065", ".1105"),
    "il-central-1": (".11 .085 .077 .055", ".08"),
    "us-gov-*": (".155 .115 .09 .065", ".03"),
}


def test_what_amazons_regions_send_costs_what_the_source_lists():
    prices = load_prices().filter(provider="aws", charge_kind="transfer")
    tb = 2**40
    for regions, (internet, elsewhere) in SENT.items():
        for region in regions.split():
            sent = prices.filter(from_region=region)
            tiers = sent.filter(distance="internet").sort("tier_from_bytes")
            assert tiers.select("tier_from_bytes", "usd_per_unit").rows() == [
                (0, Decimal(0)),
                *zip((100 * 2**30, 10 * tb, 50 * tb, 150 * tb),
                     map(Decimal, internet.split()), strict=True),
            ], region  # fmt: skip
            assert tiers["is_verified"].to_list() == [False, True, True, True, True]
            for distance, usd in (("cross_region", elsewhere), ("cross_zone", ".02")):
                rows = sent.filter(pl.col("distance") == distance, pl.col("to_region").is_null())
                assert rows["usd_per_unit"].to_list() == [Decimal(usd)], (region, distance)


def test_what_is_not_confirmed_says_so():
    prices = load_prices()
    unsigned = prices.filter(pl.col("source").str.contains("UNVERIFIED|unattributed"))
    assert unsigned.height > 0
    assert not unsigned["is_verified"].any()


def test_a_users_price_takes_the_place_of_all_tiers_of_its_key_while_it_is_valid(tmp_path):
    flat = ROW.replace("cross_region", "internet").replace("2026-01-01,", "2026-01-01,2027-01-01")
    prices = load_prices(written(tmp_path, flat))
    rows = prices.filter(distance="internet", from_region="us-east-1")
    assert rows.filter(price_id="own").height == 1
    free = of(rows, price_id="aws-us-east-1-internet-free")
    assert free == [
        ("aws-us-east-1-internet-free", date(2024, 9, 25), date(2026, 1, 1)),
        ("aws-us-east-1-internet-free", date(2027, 1, 1), None),
    ]
    shipped = load_prices()
    others = pl.col("from_region") != "us-east-1"
    assert prices.filter(others).equals(shipped.filter(others))


def test_a_users_price_of_a_shipped_id_replaces_it_wholly(tmp_path):
    prices = load_prices(
        written(tmp_path, ROW.replace("own,", "aws-nat,").replace("aws,t", "aws,t"))
    )
    assert of(prices, price_id="aws-nat") == [("aws-nat", date(2026, 1, 1), None)]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            ROW.replace(",1073741824,,", ",,,"),
            "unit_bytes, unit_requests: '' and '': expected exac",
        ),
        (ROW.replace(",1073741824,,", ",1,1,"), "unit_bytes, unit_requests: '1' and '1': expected"),
        (
            ROW.replace(",1073741824,,", ",,1,"),
            "unit_bytes: '': expected a number where charge_kin",
        ),
        (
            ROW.replace("transfer", "request"),
            "line 2: unit_requests: '': expected a number where charge_kind is request",
        ),
        (ROW.replace("0.015", "-1"), "usd_per_unit: '-1': expected an amount below 1000000"),
        (ROW.replace("0.015", "1e-3"), "usd_per_unit: '1e-3': expected an amount"),
        (ROW.replace("0.015", "0.0000000001"), "usd_per_unit: '0.0000000001': expected an amount"),
        (ROW.replace("cross_region", "far"), "distance: 'far': expected same_node, same_zone"),
        (ROW.replace("cross_region", "unknown"), "distance: 'unknown': expected same_node"),
        (ROW.replace("transfer", "storage"), "charge_kind: 'storage': expected transfer, nat_proc"),
        (ROW.replace("us-east-1", "US East"), "from_region: 'US East': expected a region"),
        (ROW.replace("us-east-1", "[a-z]"), "from_region: '[a-z]': expected a region"),
        (ROW.replace(",,2026", ",x,2026"), "tier_from_bytes: 'x': expected a whole number"),
        (ROW.replace("2026-01-01", "2026-02-30"), "valid_from: '2026-02-30': expected a date"),
        (
            ROW.replace("2026-01-01,", "2026-01-01,2026-01-01"),
            "valid_to: '2026-01-01': expected a day after valid_from 2026-01-01",
        ),
        (ROW.replace("contract", ""), "source: '': expected 1 to 500 printable characters"),
        (ROW.replace("contract", "UNVERIFIED"), "is_verified: 'true': expected false where"),
        (ROW.replace("own,", "=cmd(),"), "price_id: '=cmd()': expected 1 to 100 of"),
        (ROW + ROW, "line 3: price_id: 'own': stands on line 2 too; expected each once"),
        (
            ROW + ROW.replace("own", "other").replace("2026-01-01", "2026-06-01"),
            "line 3: valid_from: '2026-06-01': overlaps own of line 2; expected one row of a key",
        ),
    ],
)
def test_a_wrong_row_is_refused_with_line_column_value_and_expectation(tmp_path, row, expected):
    message = problem(tmp_path, row)
    assert message.startswith(f"{tmp_path / 'own.csv'}: wrong reference file\n")
    assert expected in message


def test_rows_of_one_key_may_differ_in_tier_or_follow_each_other(tmp_path):
    ended = ROW.replace("2026-01-01,", "2026-01-01,2026-06-01")
    later = ROW.replace("own", "later").replace("2026-01-01", "2026-06-01")
    tier = ROW.replace("own", "tier").replace(",,2026", ",1099511627776,2026")
    prices = load_prices(written(tmp_path, ended + later + tier))
    assert prices.filter(pl.col("price_id").is_in(["own", "later", "tier"])).height == 3


def test_a_wrong_header_and_an_unreadable_file_are_refused(tmp_path):
    assert "line 1: header: 'price_id'; expected price_id, provider" in problem(
        tmp_path, "", header="price_id\n"
    )
    with pytest.raises(SettingsError, match="expected a readable CSV file in UTF-8"):
        load_prices(tmp_path / "none.csv")

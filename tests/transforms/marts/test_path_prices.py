"""path_prices: which rows of the shipped price book fit a path, and which of them counts."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from pipelines.reference.prices import load_prices
from tests.transforms.frames import DAY
from tests.transforms.marts.price_sheet import GIB, price, sheet
from transforms.day import BuildDay
from transforms.marts.path_prices import price_paths
from transforms.sql import SqlSession

TEXTS = (
    "path_id", "from_provider", "to_provider", "gateway_provider", "gateway_region",
    "storage_provider", "storage_region", "operation", "distance", "gateway", "from_region",
    "to_region",
)  # fmt: skip
FLAGS = ("is_storage", "is_incoming", "is_private", "is_one_network")
SCHEMA = dict.fromkeys(TEXTS, pl.String) | dict.fromkeys(FLAGS, pl.Boolean)


def path(provider: str, distance: str, start: str | None, end: str | None, **more: Any) -> dict:
    return {
        "from_provider": provider,
        "to_provider": provider,
        "gateway_provider": provider,
        "gateway_region": end,
        "storage_provider": None,
        "storage_region": None,
        "operation": None,
        "distance": distance,
        "gateway": "none",
        "from_region": start,
        "to_region": end,
        "is_storage": False,
        "is_incoming": False,
        "is_private": True,
        "is_one_network": False,
    } | more


def usd_per(found: dict | None) -> tuple[Decimal, int] | None:
    return found and (Decimal(int(found["nano"])).scaleb(-9), int(found["units"]))


# Path, charge, cheapest, best and dearest in USD per unit, price.
CASES: dict[str, tuple[dict, str, tuple]] = {
    "receiver's continent": (
        path("gcp", "cross_region", "europe-west4", "europe-west1"),
        "transfer", ("0.02", "0.02", "0.02", GIB, "gcp-europe-europe"),
    ),
    "a word before a glob": (
        path("gcp", "cross_region", "asia-southeast2", "asia-east1"),
        "transfer", ("0.1", "0.1", "0.1", GIB, "gcp-indonesia-asia"),
    ),
    "a bucket of several regions": (
        path("gcp", "cross_region", "us", "us-central1", is_storage=True),
        "transfer", ("0.02", "0.02", "0.02", GIB, "gcp-multi-us-us"),
    ),
    "one for the gateway before one for the region": (
        path("azure", "cross_region", "eastus", "westus2", gateway="peering"),
        "transfer", ("0.07", None, "0.18", 10**9, None),
    ),
    "tiers": (
        path("aws", "internet", "eu-west-1", None),
        "transfer", ("0", "0.09", "0.09", GIB, "aws-eu-west-1-internet-0"),
    ),
    "tiers without a free one": (
        path("gcp", "internet", "europe-west4", None),
        "transfer", ("0.08", "0.12", "0.12", GIB, "gcp-internet-0"),
    ),
    "tiers of an endpoint": (
        path("azure", "same_region", "eastus", "eastus", gateway="interface_endpoint"),
        "endpoint_processing", ("0.004", "0.01", "0.01", 10**9, "azure-private-endpoint-0"),
    ),
    # Whoever sends pays, and who sends from outside pays elsewhere.
    **{
        f"what comes into {provider}": (
            path(provider, "internet", None, region, is_incoming=True, is_private=False),
            "transfer", ("0", "0", "0", unit, f"{provider}-internet-in"),
        )
        for provider, region, unit in (
            ("aws", "us-east-1", GIB), ("gcp", "europe-west4", GIB), ("azure", "eastus", 10**9),
        )
    },
    "what comes into a cloud's storage": (
        path("gcp", "internet", None, "us-central1", is_incoming=True, is_storage=True,
             from_provider=None),
        "transfer", ("0", "0", "0", GIB, "gcp-internet-in"),
    ),
    "a sender that nobody knows": (
        path("aws", "cross_region", None, "eu-west-1", gateway="peering"),
        "transfer", ("0.02", None, "0.147", GIB, None),
    ),
    "the sender's price, not the receiver's": (
        path("aws", "cross_region", "ap-southeast-1", "eu-west-1"),
        "transfer", ("0.09", "0.09", "0.09", GIB, "aws-ap-southeast-1-other-region"),
    ),
    "a region that the book does not have": (
        path("aws", "cross_region", "xx-new-1", "eu-west-1"), "transfer", (None,) * 5,
    ),
    "a provider that the book does not have": (
        path("minio", "same_region", "home", "home", is_storage=True), "transfer", (None,) * 5,
    ),
}  # fmt: skip


def priced(rows: list[dict], book: pl.DataFrame, day: date) -> dict[str, dict]:
    with SqlSession(threads=1) as session:
        session.register("paths", pl.DataFrame(rows, schema=SCHEMA))
        session.register("prices", book)
        price_paths(session, BuildDay(day, "fleet"))
        found = session.frame("path_prices").iter_rows(named=True)
        return {f"{row['path_id']}/{row['charge_kind']}": row for row in found}


@pytest.fixture(scope="module")
def prices() -> dict[str, dict]:
    rows = [{**facts, "path_id": name} for name, (facts, _, _) in CASES.items()]
    return priced(rows, load_prices(), DAY)


@pytest.mark.parametrize("case", CASES)
def test_the_narrowest_row_counts(prices, case):
    _, kind, (cheapest, best, dearest, unit, price_id) = CASES[case]
    row = prices[f"{case}/{kind}"]
    found = [usd_per(row[name]) for name in ("cheapest", "best", "dearest")]
    # What is free is free per one.
    expected = [
        None if usd is None else (Decimal(usd), 1 if usd == "0" else unit)
        for usd in (cheapest, best, dearest)
    ]
    assert (found, row["price_id"]) == (expected, price_id)
    assert (row["missing_prices"] is None) == (cheapest is not None)


def test_a_price_of_any_region_is_not_that_of_what_comes_from_outside():
    book = sheet(price("out", "transfer", "0.1", distance="internet"))
    ways = {"out": path("aws", "internet", "us-east-1", None),
            "in": path("aws", "internet", None, "us-east-1", is_incoming=True)}  # fmt: skip
    found = priced([row | {"path_id": way} for way, row in ways.items()], book, DAY)
    assert {way: found[f"{way}/transfer"]["price_id"] for way in ways} == {"out": "out", "in": None}
    assert found["in/transfer"]["missing_prices"] == [
        "aws transfer internet DataTransfer-In-Bytes from internet to us-east-1"
    ]


def test_prices_hold_from_their_first_day_to_the_day_before_their_last():
    book = sheet(
        price("old", "transfer", "0.1", distance="cross_region", valid_to=DAY),
        price("new", "transfer", "0.2", distance="cross_region", valid_from=DAY),
    )
    row = path("aws", "cross_region", "us-east-1", "eu-west-1") | {"path_id": "p"}
    for day, expected in ((DAY, "new"), (DAY - timedelta(days=1), "old")):
        assert priced([row], book, day)["p/transfer"]["price_id"] == expected

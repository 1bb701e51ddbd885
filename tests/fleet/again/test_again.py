"""Through the front door: what was fetched again, what it cost, and what of the bill it explains.

The truth is counted from what the fleet did, the foreign traffic is drawn beside it, and neither is
in what the other is computed from.
"""

import random
from collections import defaultdict
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.fleet.again import render
from tests.fleet.again.render import BLOCK, EARLIER, GIB
from tests.fleet.again.world import (
    BUCKET_REGION,
    FIRST,
    IMAGE,
    LAST,
    ROBOT,
    SCOPES,
    World,
    fleet,
    truth,
)
from tests.pipelines.plain_build import build_all

TABLES = ("repeat_transfers", "transfer_costs", "bill_reconciliation")
CENT = Decimal("0.01")
RATES = {("eu-west-1", "us-east-1"): render.FROM_WEST, ("us-east-1", "eu-west-1"): render.FROM_EAST}
BILLED = {
    ("eu-west-1", "us-east-1"): "EU-USE1-AWS-Out-Bytes",
    ("us-east-1", "eu-west-1"): "USE1-EU-AWS-Out-Bytes",
}
SENDERS = {"EU-USE1-AWS-Out-Bytes": "lake", "USE1-EU-AWS-Out-Bytes": "i-0123example"}
"""Who sends is charged: of what is read the bucket, of what is written a machine."""

Charge = tuple[str, datetime, str, str]
"""Run, day, and the regions from and to."""


def amount(count: int, usd: str) -> Decimal:
    """Price times count, divided by the unit, rounded half to even at the ninth decimal."""
    exact = Context(prec=80, rounding=ROUND_HALF_EVEN)
    found = exact.divide(exact.multiply(Decimal(count), Decimal(usd)), Decimal(GIB))
    return found.quantize(Decimal("1e-9"), context=exact)


def moved(world: World) -> dict[Charge, int]:
    """Bytes between the bucket `lake` and each run, by day and direction."""
    found: dict[Charge, int] = defaultdict(int)
    for request in world.requests:
        if request["bucket"] != "lake" or request["principal"] == ROBOT:
            continue
        place = world.places[request["client_address"]]
        day = request["event_at"].replace(hour=0, minute=0, second=0)
        ends = (BUCKET_REGION, place.region)
        count = render.sent_bytes(request)
        if request["operation"] == "write":
            ends, count = (place.region, BUCKET_REGION), request["object_size_bytes"] * BLOCK
        if count:
            found[place.run, day, *ends] += count
    return found


class Built:
    """The fleet and what was built of its exports."""

    def __init__(self, folder: Path, seed: int) -> None:
        draw = random.Random(seed)
        self.world = fleet(seed, minio=("data/ranges",))
        self.moved = moved(self.world)
        self.own: dict[tuple[datetime, str], int] = defaultdict(int)
        for (_, day, *ends), count in self.moved.items():
            self.own[day, BILLED[ends[0], ends[1]]] += count
        self.foreign = {key: draw.randrange(1, 900 * GIB) for key in self.own}
        rates = {name: RATES[ends] for ends, name in BILLED.items()}
        lines = [
            render.line(day, name, SENDERS[name], count, amount(count, rates[name]))
            for (day, name), own in self.own.items()
            for count in [own + self.foreign[day, name]]
        ]
        elsewhere = 40 * GIB
        lines.append(
            render.line(LAST, BILLED["eu-west-1", "us-east-1"], "elsewhere", elsewhere,
                        amount(elsewhere, render.FROM_WEST))
        )  # fmt: skip
        self.rates = rates
        build_all(render.write(folder, self.world, lines), tables=TABLES)
        self.lake = folder / "lake"

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.lake / name / "*" / "*.parquet", hive_partitioning=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("again"), 1)


def thing_of(object_id: str) -> str:
    if object_id.startswith("oci://"):
        assert object_id == f"oci://{render.REFERENCE.rpartition(':')[0]}@{render.DIGEST}"
        return IMAGE
    return object_id.split("/", 3)[3]


@pytest.mark.slow
def test_repeats_hold_the_truth_and_equal_it_where_it_is_determined(built: Built):
    hidden = {(f.thing, f.at): f.place.run for f in built.world.fetches if f.is_hidden}
    stated: dict[tuple[str, str, datetime, str], dict[str, Any]] = {}
    for row in built.table("repeat_transfers").filter(grade="object").to_dicts():
        thing, start = thing_of(row["object_id"]), row["start_at"] + EARLIER
        run = row["run_uuid"] or hidden[thing, start]
        stated[row["scope"], thing, start, run] = row
    told = truth(built.world)
    assert set(stated) <= set(told)
    exact = ("data/train", "data/epochs", "data/changed", "data/broken", "data/ranges")
    months: dict[tuple[str, str], int] = defaultdict(int)
    for key, (again, _) in told.items():
        row = stated.get(key)
        least, most = (row["min_repeat_bytes"], row["max_repeat_bytes"]) if row else (0, 0)
        assert again * BLOCK <= most, (key, again, row)
        months[key[0], key[1]] += again
        if key[1].startswith(exact) or (key[0] in {"node", "run"} and key[1] == IMAGE):
            assert least == again * BLOCK == most, (key, again, row)
    # The first 20 runs of the sweep read in February, the others repeat it in March.
    sweep = [stated["fleet", "data/train/a", f.at, f.place.run] for f in built.world.fetches
             if f.thing == "data/train/a" and f.at > LAST]  # fmt: skip
    assert len(sweep) == 20
    assert min(row["previous_at"] for row in sweep).month == 2
    rows = built.table("repeat_transfers").filter(pl.col("object_id").str.contains("data/train"))
    for scope in SCOPES:
        total = rows.filter(scope=scope)["min_repeat_bytes"].sum()
        assert total == BLOCK * sum(months[scope, f"data/train/{key}"] for key in "ab")


@pytest.mark.slow
def test_costs_are_those_of_the_sheet_where_the_path_is_determined(built: Built):
    costs = built.table("transfer_costs").filter(resource_id="s3://lake")
    stated = {
        (row["run_uuid"], at_midnight(row["date"]), row["from_region"], row["to_region"]): row
        for row in costs.filter(charge_kind="transfer").iter_rows(named=True)
    }
    assert set(stated) == set(built.moved)
    for key, count in built.moved.items():
        row, usd = stated[key], amount(count, RATES[key[2], key[3]])
        assert (row["bytes"], row["min_usd"], row["usd"], row["max_usd"]) == (count, usd, usd, usd)
    # The sweep went through the NAT gateway, which is charged beside the way between the regions.
    sweep = {p.run for p in built.world.places.values() if render.is_sweep(p)}
    through = costs.filter(charge_kind="nat_processing", gateway="nat")
    assert {row["run_uuid"]: row["usd"] for row in through.iter_rows(named=True)} == {
        key[0]: amount(count, render.THROUGH_NAT)
        for key, count in built.moved.items()
        if key[0] in sweep
    }


@pytest.mark.slow
def test_the_bill_is_explained_to_the_cent_and_the_rest_is_foreign(built: Built):
    rows = built.table("bill_reconciliation").filter(pl.col("billed_usd").is_not_null())
    found = {
        (at_midnight(row["date"]), row["usage_type"], row["resource_id"]): row
        for row in rows.iter_rows(named=True)
    }
    elsewhere = found.pop((LAST, BILLED["eu-west-1", "us-east-1"], "elsewhere"))
    assert (elsewhere["explained_bytes"], elsewhere["residual_bytes"]) == (0, 40 * GIB)
    # No log says which machine sent what.
    known = {name: "lake" if sender == "lake" else None for name, sender in SENDERS.items()}
    assert set(found) == {(day, name, known[name]) for day, name in built.own}
    for (day, name, _), row in found.items():
        own, foreign = built.own[day, name], built.foreign[day, name]
        assert (row["explained_bytes"], row["residual_bytes"]) == (own, foreign)
        usd = (amount(own, built.rates[name]), amount(foreign, built.rates[name]))
        stated = (row["explained_usd"], row["residual_usd"])
        assert [s.quantize(CENT) for s in stated] == [u.quantize(CENT) for u in usd]


def at_midnight(day: date) -> datetime:
    """The day of the world that a day of the lake is."""
    return FIRST if day == (FIRST - EARLIER).date() else LAST

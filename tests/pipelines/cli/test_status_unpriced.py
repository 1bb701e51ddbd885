"""What `podledger status` says of charges without a price."""

import json
from pathlib import Path

from pipelines.publication import Made, publish
from pipelines.settings import load_settings
from pipelines.storage import Lake
from schemas.registry import table_spec
from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import DAY, small_catalogue
from tests.transforms.frames import frame
from transforms.sql import SqlSession

TABLE = "transfer_costs"
NAT = "aws nat_processing nat NatGateway-Bytes from eu-west-1"
GET = "aws request Requests-Tier2 from eu-west-1"
LARGEST = 2**63 - 1


def charge(name: str, missing: list[str] | None, **more: object) -> dict[str, object]:
    kind = "missing" if missing else "listed"
    return {"transfer_cost_id": name, "price_kind": kind, "missing_prices": missing, **more}


ROWS = [
    charge("1", [NAT], charge_kind="nat_processing", resource_id="a", max_bytes=LARGEST),
    charge("2", [NAT, GET], charge_kind="nat_processing", resource_id="b", max_bytes=LARGEST),
    charge("3", [GET], charge_kind="request", resource_id="a", request_count=7),
    charge("4", None, charge_kind="transfer", resource_id="a", max_bytes=5),
]


def test_charges_without_a_price_are_named_with_what_they_are_of(tmp_path: Path) -> None:
    path = small_catalogue(tmp_path)
    told = json.loads(podledger("status", "--json", "--config", path).out)["unpriced"]
    assert told == []
    lake = Lake(load_settings(path).lake_path)
    with SqlSession() as session:
        session.register("rows", frame(TABLE, ROWS))
        publish(lake, session, table_spec(TABLE), "rows", DAY, "fleet", Made("by hand", 1))
    ended = podledger("status", "--json", "--config", path)
    day = {"first_day": "2026-03-10", "last_day": "2026-03-10"}
    assert json.loads(ended.out)["unpriced"] == [
        {"missing_price": NAT, **day, "charges": 2, "max_bytes": 2 * LARGEST, "requests": None},
        {"missing_price": GET, **day, "charges": 2, "max_bytes": LARGEST, "requests": 7},
    ]
    shown = podledger("status", "--config", path).out
    assert "charges without a price in the price book" in shown
    assert NAT in shown

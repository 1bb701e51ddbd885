"""A newer bill rebuilds what it is held against, on final days too, and nothing else."""

import csv
import datetime as dt
import io
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from pipelines.cli.status import status_of
from pipelines.finality import final_basis
from pipelines.ledger import Ledger
from pipelines.publication import content_of
from pipelines.run import Workspace, is_stale, land_days, misdated_files
from pipelines.storage import Lake
from tests.pipelines.landing_zone import SETTINGS, line, put, zone
from tests.pipelines.plain_build import build_all

DAY = dt.date(2026, 3, 10)
BILLS = '  - {name: bills, format: aws_cur, path: "bills/%Y-%m-%d/*.csv", clusters: [alder]}\n'
NIGHT = dt.datetime(2026, 3, 20, 2, tzinfo=dt.UTC)
LATER = dt.datetime(2026, 4, 4, 2, tzinfo=dt.UTC)
KEPT = ("run_dependency_days", "transfer_costs", "object_transfers")


def bill(folder: Path, day: str, cost: str) -> None:
    """One line about the bucket, and the usage of another day."""
    rows = [
        {
            "identity_line_item_id": f"line{number}",
            "bill_billing_period_start_date": "2026-03-01T00:00:00.000Z",
            "bill_billing_period_end_date": "2026-04-01T00:00:00.000Z",
            "bill_payer_account_id": "111122223333",
            "line_item_usage_account_id": "111122223333",
            "line_item_line_item_type": "Usage",
            "line_item_usage_start_date": f"2026-03-{usage}T00:00:00.000Z",
            "line_item_usage_end_date": f"2026-03-{usage}T01:00:00.000Z",
            "line_item_usage_type": "USE1-C3DataTransfer-Out-Bytes",
            "line_item_resource_id": "example-bucket",
            "line_item_usage_amount": "1",
            "line_item_currency_code": "USD",
            "line_item_unblended_cost": cost,
            "pricing_unit": "GB",
        }
        for number, usage in ((1, 10), (2, 11), (3, "02"))
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path = folder / "bills" / day / "bill.csv"
    path.parent.mkdir(parents=True)
    path.write_text(text.getvalue(), encoding="utf-8")


def billed(folder: Path) -> list[tuple[dt.date, Decimal]]:
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as connection:
        return connection.execute(
            'SELECT "date", billed_usd FROM bill_reconciliation WHERE billed_usd IS NOT NULL'
        ).fetchall()


@pytest.mark.slow
def test_a_newer_bill_rebuilds_its_reconciliation_on_final_days_and_nothing_else(
    tmp_path: Path,
) -> None:
    put(tmp_path, "a.log", [line(1), line(2)])
    bill(tmp_path, "2026-03-11", "0.25")
    zone(tmp_path, SETTINGS + BILLS)
    file = tmp_path / "podledger.yaml"
    workspace = build_all(file, at=NIGHT)
    lake = Lake(tmp_path / "lake")
    # A bill asks for no day, though it has lines and a period of others.
    assert lake.days("run_dependency_days") == [DAY]
    assert misdated_files(lake) == []
    assert final_basis(lake, DAY) is not None
    assert billed(tmp_path) == [(DAY, Decimal("0.25"))]
    kept = {table: content_of(lake.path(table, DAY, "fleet")) for table in KEPT}

    # Changed settings leave it as they leave the day.
    changed = zone(tmp_path, SETTINGS + BILLS + "buckets: {example-bucket: eu-west-1}\n")
    workspace = Workspace(file, clock=lambda: LATER, _settings=changed)
    assert not is_stale(workspace, Ledger.read(lake), DAY)
    zone(tmp_path, SETTINGS + BILLS)

    bill(tmp_path, "2026-04-03", "0.5")
    workspace = Workspace(file, clock=lambda: LATER)
    land_days(workspace, None)
    assert is_stale(workspace, Ledger.read(lake), DAY)
    status = status_of(workspace)
    assert status["late"] == []
    assert [(row["date"], row["state"], row["waits_for"]) for row in status["days"]] == [
        (DAY, "final", "")
    ]
    build_all(file, at=LATER)
    assert billed(tmp_path) == [(DAY, Decimal("0.5"))]
    assert {table: content_of(lake.path(table, DAY, "fleet")) for table in KEPT} == kept
    assert lake.days("restatements") == []
    assert not is_stale(Workspace(file, clock=lambda: LATER), Ledger.read(lake), DAY)

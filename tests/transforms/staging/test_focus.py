"""Bills in FOCUS: columns of 1.0 to 1.2, and what each vendor means by its units.

Rows are built from the specification's columns and the vendors' own (`x_…`).
"""

import csv
import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.landing.detection import Detected, detect
from pipelines.landing.parsing import parse_records
from tests.transforms.staging.export_text import (
    CONTEXT,
    check_each,
    check_rows,
    parse,
    rows,
    stated,
    word,
    written,
)
from tests.transforms.staging.lookup_rows import but
from transforms.staging.focus import PARSER

LINE = {
    "AvailabilityZone": "us-east-1a",
    "BilledCost": "0.0300000000025",
    "BillingAccountId": "111122223333",
    "BillingCurrency": "USD",
    "BillingPeriodEnd": "2026-04-01T00:00:00Z",
    "BillingPeriodStart": "2026-03-01T00:00:00Z",
    "ChargeCategory": "Usage",
    "ChargeClass": "",
    "ChargeDescription": "$0.02 per GB, to EU",
    "ChargePeriodEnd": "2026-03-10T01:00:00Z",
    "ChargePeriodStart": "2026-03-10T00:00:00Z",
    "ConsumedQuantity": "1.5",
    "ConsumedUnit": "GB",
    "EffectiveCost": "0.027",
    "InvoiceId": "INV-1",
    "ListCost": "0.03",
    "PricingQuantity": "1.25",
    "PricingUnit": "GiB",
    "ProviderName": "AWS",
    "RegionId": "us-east-1",
    "ResourceId": "arn:aws:s3:::example-data",
    "ResourceName": "example-data",
    "ServiceCategory": "Storage",
    "ServiceName": "Amazon Simple Storage Service",
    "ServiceSubcategory": "Object Storage",
    "SkuId": "ABCDEFGH12345678",
    "SkuPriceId": "ABCDEFGH12345678.1",
    "SubAccountId": "444455556666",
    "x_Operation": "GetObject",
    "x_UsageType": "USE1-EUW1-AWS-Out-Bytes",
}
ROW = {
    "provider": "aws",
    "billing_period": "2026-03",
    "period_start_at": datetime(2026, 3, 1, tzinfo=UTC),
    "period_end_at": datetime(2026, 4, 1, tzinfo=UTC),
    "payer_account_id": "111122223333",
    "account_id": "444455556666",
    "delivered_at": datetime(2026, 3, 11, tzinfo=UTC),
    "delivered_basis": "landing_day",
    "delivery_part": "file",
    "invoice_id": "INV-1",
    "is_final": True,
    "line_item_type": "usage",
    "line_item_type_name": "Usage",
    "is_correction": False,
    "usage_start_at": datetime(2026, 3, 10, tzinfo=UTC),
    "usage_end_at": datetime(2026, 3, 10, 1, tzinfo=UTC),
    "product": "Amazon Simple Storage Service",
    "product_family": "Object Storage",
    "usage_type": "USE1-EUW1-AWS-Out-Bytes",
    "operation": "GetObject",
    "sku_id": "ABCDEFGH12345678",
    "price_id": "ABCDEFGH12345678.1",
    "description": "$0.02 per GB, to EU",
    "region": "us-east-1",
    "zone": "us-east-1a",
    "from_region": "us-east-1",
    "to_region": "eu-west-1",
    "resource_id": "arn:aws:s3:::example-data",
    "resource_name": "example-data",
    "usage_amount": Decimal("1.5"),
    "unit": "GB",
    "unit_bytes": 1 << 30,
    "usage_bytes": 3 << 29,
    "currency": "USD",
    "billed_cost": Decimal("0.0300000000025"),
    "list_cost": Decimal("0.03"),
    "effective_cost": Decimal("0.027"),
    "cost_usd": Decimal("0.030000000"),
}
IDS = ("record_id", "bill_id", "delivery_id")


def as_csv(*lines: dict[str, str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, lines[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def line(changes: dict, **context):
    record = {k: v for k, v in (LINE | changes).items() if v is not ...}
    header, parsed = parse(PARSER, as_csv(record), **context)
    check_each([header, parsed])
    assert word(header) == "header"
    return parsed


def row(changes: dict, **context):
    [found] = rows([line(changes, **context)], "billing_lines")
    return stated(found, *IDS)


def test_every_column_of_a_charge_is_read():
    check_rows([line({}), line({"ConsumedQuantity": "", "ChargeClass": ...})])
    assert row({}) == ROW


def test_parquet_gives_the_same_row(tmp_path):
    columns = {name: [value or None] for name, value in LINE.items()}
    for name in ("BilledCost", "ListCost", "EffectiveCost", "ConsumedQuantity", "PricingQuantity"):
        columns[name] = pa.array([Decimal(LINE[name])], pa.decimal128(38, 14))
    for name in [n for n in columns if n.endswith(("PeriodStart", "PeriodEnd"))]:
        columns[name] = pa.array([datetime.fromisoformat(LINE[name])], pa.timestamp("us", "UTC"))
    columns["Tags"] = pa.array([[("k", "v")]], pa.map_(pa.string(), pa.string()))
    path = tmp_path / "file"
    pq.write_table(pa.table(columns), path)
    found = list(parse_records(path, PARSER, CONTEXT))
    check_rows(found)
    assert [stated(r, *IDS) for r in rows(found, "billing_lines")] == [ROW]


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"InvoiceId": ""}, {"invoice_id": None, "is_final": False}),
        ({"InvoiceId": ...}, {"invoice_id": None, "is_final": None}),
        ({"ChargeClass": "Correction"}, {"is_correction": True}),
        ({"ChargeClass": ...}, {"is_correction": None}),
        ({"ConsumedQuantity": "", "ConsumedUnit": ""},
         {"usage_amount": Decimal("1.25"), "unit": "GiB", "usage_bytes": 5 << 28}),
        ({"ConsumedQuantity": ..., "PricingQuantity": ...},
         {"usage_amount": None, "unit": None, "unit_bytes": None, "usage_bytes": None}),
        ({"SubAccountId": ...}, {"account_id": "111122223333"}),
        ({"x_UsageType": ..., "SkuMeter": "Inter-Region"},
         {"usage_type": "Inter-Region", "from_region": None, "to_region": None}),
        ({"x_UsageType": ...}, {"usage_type": None, "from_region": None, "to_region": None}),
        ({"x_ServiceCode": "AmazonS3"}, {"product": "AmazonS3"}),
        ({"ServiceSubcategory": ...}, {"product_family": "Storage"}),
        ({"RegionId": ..., "Region": "us-east-2"}, {"region": "us-east-2"}),
        ({"ListCost": ..., "EffectiveCost": ""}, {"list_cost": None, "effective_cost": None}),
        ({"BillingCurrency": "EUR"}, {"currency": "EUR", "cost_usd": None}),
        ({"BillingPeriodEnd": ..., "ChargePeriodEnd": ...},
         {"period_end_at": None, "usage_end_at": None}),
        ({"ResourceName": ..., "AvailabilityZone": ...}, {"resource_name": None, "zone": None}),
        ({"Tags": "{}", "x_Other": "1"}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert row(changes) == but(ROW, fields)


@pytest.mark.parametrize(
    ("provider", "unit", "size"),
    [
        ("AWS", "GB", 1 << 30), ("Amazon Web Services", "GB", 1 << 30), ("AWS", "TB", 1 << 40),
        ("AWS", "Bytes", 1), ("Microsoft", "GB", 10**9), ("Microsoft", "100 GB", 10**11),
        ("Microsoft Azure", "1 TB", 10**12), ("Google Cloud", "gibibyte", 1 << 30),
        ("Google Cloud", "GiBy", 1 << 30), ("Google", "byte", 1), ("Google", "GB", 10**9),
        ("Oracle", "GB", 10**9), ("Oracle", "MiB", 1 << 20), ("AWS", "GB-Months", None),
        ("AWS", "Requests", None), ("Microsoft", "GB/Month", None), ("AWS", "GBs", None),
    ],
)  # fmt: skip
def test_a_unit_is_as_large_as_its_vendor_means(provider, unit, size):
    found = row({"ProviderName": provider, "ConsumedUnit": unit, "ConsumedQuantity": "2"})
    assert (found.get("unit_bytes"), found.get("usage_bytes")) == (size, size and 2 * size)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"ChargeCategory": "Purchase"}, "fee"),
        ({"ChargeCategory": "Purchase", "CommitmentDiscountId": "arn:x"}, "commitment"),
        ({"ChargeCategory": "Tax"}, "tax"),
        ({"ChargeCategory": "Credit", "BilledCost": "-5"}, "credit"),
        ({"ChargeCategory": "Adjustment"}, "adjustment"),
        ({"ChargeCategory": "Usage", "CommitmentDiscountId": "arn:x"}, "usage"),
        ({"ChargeCategory": "New"}, "other"),
    ],
)
def test_kinds_of_charges_are_kept_apart(changes, kind):
    assert row(changes)["line_item_type"] == kind


@pytest.mark.parametrize(
    ("stated_name", "provider"),
    [("Microsoft", "azure"), ("Google Cloud", "gcp"), ("Amazon Web Services", "aws"),
     ("Oracle Cloud", "oracle cloud")],
)  # fmt: skip
def test_providers_are_named_alike(stated_name, provider):
    assert row({"ProviderName": stated_name})["provider"] == provider
    renamed = {"ProviderName": ..., "ServiceProviderName": stated_name}
    assert row(renamed)["provider"] == provider


@pytest.mark.parametrize(
    ("written_as", "at"),
    [
        ("2026-03-10T00:00Z", datetime(2026, 3, 10, tzinfo=UTC)),
        ("2026-03-10 00:00:00 UTC", datetime(2026, 3, 10, tzinfo=UTC)),
        ("2026-03-10", datetime(2026, 3, 10, tzinfo=UTC)),
        ("2026-03-10T02:00:00+02:00", datetime(2026, 3, 10, tzinfo=UTC)),
        ("2026-03-10T02:00+02:00", datetime(2026, 3, 10, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_each_vendor_writes_them(written_as, at):
    assert row({"ChargePeriodStart": written_as})["usage_start_at"] == at


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ChargeCategory": ""}, "no_charge"),
        ({"ChargePeriodStart": ""}, "no_charge"),
        ({"ChargePeriodStart": "3/10/2026"}, "ChargePeriodStart"),
        ({"ChargePeriodEnd": "2026-03-09"}, "ChargePeriodEnd"),
        ({"BillingPeriodStart": ""}, "no_period"),
        ({"ProviderName": ""}, "no_provider"),
        ({"BilledCost": "free"}, "BilledCost"),
        ({"BilledCost": "1e10"}, "cost"),
        ({"ConsumedQuantity": "1,5"}, "ConsumedQuantity"),
        ({"ConsumedQuantity": "1e19"}, "usage"),
    ],
)
def test_values_that_are_not_what_their_column_says_are_refused(changes, reason):
    assert word(line(changes)) == reason


def test_an_azure_export_names_its_delivery_in_the_path():
    found = row({}, path="c/exports/focus/20260301-20260331/202603101530/0a1b/part_0_0001.csv")
    assert found["delivered_at"] == datetime(2026, 3, 10, 15, 30, tzinfo=UTC)
    assert (found["delivered_basis"], found["delivery_part"]) == ("path", "part_0_0001.csv")


@pytest.mark.parametrize(
    ("text", "variant"), [(as_csv(LINE), "CSV"), (json.dumps(LINE), "rows")]
)  # fmt: skip
def test_each_form_is_told_by_its_columns(text, variant):
    found = detect(text.encode())
    assert isinstance(found, Detected)
    assert (found.parser.name, found.variant) == ("focus", variant)


def test_secrets_are_never_kept():
    token = "ghp_" + "A1b2C3d4E5" * 4
    changes = {"ChargeDescription": f"x password={token}", "ResourceId": token, "Tags": token,
               "ProviderName": token}  # fmt: skip
    found = [line(changes), line(changes | {"BilledCost": "x"})]
    assert token not in written(found)
    assert token.lower() not in written(found)

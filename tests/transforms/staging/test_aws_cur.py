"""AWS Cost and Usage Reports: CUR 2.0 and the legacy spelling, CSV and Parquet, to the last digit.

Lines are built from the data dictionaries of both reports.
"""

import csv
import io
import json
from datetime import UTC, date, datetime
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
    words,
    written,
)
from tests.transforms.staging.lookup_rows import but
from transforms.staging.aws_cur import PARSER, canonical
from transforms.staging.aws_usage_types import is_volume, regions_of

GB = 1 << 30
LINE = {
    "identity_line_item_id": "abcdefghij0123456789",
    "identity_time_interval": "2026-03-10T00:00:00Z/2026-03-10T01:00:00Z",
    "bill_billing_period_start_date": "2026-03-01T00:00:00.000Z",
    "bill_billing_period_end_date": "2026-04-01T00:00:00.000Z",
    "bill_invoice_id": "EUINV26-1",
    "bill_payer_account_id": "111122223333",
    "line_item_usage_account_id": "444455556666",
    "line_item_line_item_type": "Usage",
    "line_item_usage_start_date": "2026-03-10T00:00:00.000Z",
    "line_item_usage_end_date": "2026-03-10T01:00:00.000Z",
    "line_item_product_code": "AmazonS3",
    "line_item_usage_type": "USE1-EUW1-AWS-Out-Bytes",
    "line_item_operation": "GetObject",
    "line_item_availability_zone": "us-east-1a",
    "line_item_resource_id": "example-data",
    "line_item_usage_amount": "1.5000000001",
    "line_item_currency_code": "USD",
    "line_item_unblended_cost": "0.0300000000025",
    "line_item_net_unblended_cost": "0.027",
    "line_item_line_item_description": "$0.02 per GB - US East, to EU",
    "pricing_unit": "GB",
    "pricing_rate_id": "12345",
    "pricing_public_on_demand_cost": "0.0300000000",
    "product": '{"transfer_type":"InterRegion Outbound","from_location":"US East (N. Virginia)"}',
    "product_sku": "ABCDEFGH12345678",
    "product_product_family": "Data Transfer",
    "product_region_code": "us-east-1",
    "product_from_region_code": "us-east-1",
    "product_to_region_code": "eu-west-1",
    "product_to_location": "EU (Ireland)",
}
PERIOD = datetime(2026, 3, 1, tzinfo=UTC)
ROW = {
    "provider": "aws",
    "billing_period": "2026-03",
    "period_start_at": PERIOD,
    "period_end_at": datetime(2026, 4, 1, tzinfo=UTC),
    "payer_account_id": "111122223333",
    "account_id": "444455556666",
    "delivered_at": datetime(2026, 3, 11, tzinfo=UTC),
    "delivered_basis": "landing_day",
    "delivery_part": "file",
    "invoice_id": "EUINV26-1",
    "is_final": True,
    "line_item_id": "abcdefghij0123456789",
    "line_item_type": "usage",
    "line_item_type_name": "Usage",
    "usage_start_at": datetime(2026, 3, 10, tzinfo=UTC),
    "usage_end_at": datetime(2026, 3, 10, 1, tzinfo=UTC),
    "product": "AmazonS3",
    "product_family": "Data Transfer",
    "usage_type": "USE1-EUW1-AWS-Out-Bytes",
    "operation": "GetObject",
    "sku_id": "ABCDEFGH12345678",
    "price_id": "12345",
    "description": "$0.02 per GB - US East, to EU",
    "region": "us-east-1",
    "zone": "us-east-1a",
    "from_region": "us-east-1",
    "to_region": "eu-west-1",
    "from_location": "US East (N. Virginia)",
    "to_location": "EU (Ireland)",
    "transfer_type": "InterRegion Outbound",
    "resource_id": "example-data",
    "usage_amount": Decimal("1.500000000100000000"),
    "unit": "GB",
    "unit_bytes": GB,
    # 1.5000000001 times 2^30 is 1610612736.107…
    "usage_bytes": 1_610_612_736,
    "currency": "USD",
    "billed_cost": Decimal("0.030000000002500000"),
    "list_cost": Decimal("0.030000000000000000"),
    "effective_cost": Decimal("0.027000000000000000"),
    "cost_usd": Decimal("0.030000000"),
}
IDS = ("record_id", "bill_id", "delivery_id")
LEGACY = {
    "identity_line_item_id": "identity/LineItemId",
    "identity_time_interval": "identity/TimeInterval",
    "bill_billing_period_start_date": "bill/BillingPeriodStartDate",
    "bill_billing_period_end_date": "bill/BillingPeriodEndDate",
    "bill_invoice_id": "bill/InvoiceId",
    "bill_payer_account_id": "bill/PayerAccountId",
    "line_item_usage_account_id": "lineItem/UsageAccountId",
    "line_item_line_item_type": "lineItem/LineItemType",
    "line_item_usage_start_date": "lineItem/UsageStartDate",
    "line_item_usage_end_date": "lineItem/UsageEndDate",
    "line_item_product_code": "lineItem/ProductCode",
    "line_item_usage_type": "lineItem/UsageType",
    "line_item_operation": "lineItem/Operation",
    "line_item_availability_zone": "lineItem/AvailabilityZone",
    "line_item_resource_id": "lineItem/ResourceId",
    "line_item_usage_amount": "lineItem/UsageAmount",
    "line_item_currency_code": "lineItem/CurrencyCode",
    "line_item_unblended_cost": "lineItem/UnblendedCost",
    "line_item_net_unblended_cost": "lineItem/NetUnblendedCost",
    "line_item_line_item_description": "lineItem/LineItemDescription",
    "pricing_unit": "pricing/unit",
    "pricing_rate_id": "pricing/RateId",
    "pricing_public_on_demand_cost": "pricing/publicOnDemandCost",
    "product_sku": "product/sku",
    "product_product_family": "product/productFamily",
    "product_region_code": "product/regionCode",
    "product_from_region_code": "product/fromRegionCode",
    "product_to_region_code": "product/toRegionCode",
    "product_to_location": "product/toLocation",
    "product_from_location": "product/fromLocation",
    "product_transfer_type": "product/transferType",
}


def as_csv(*lines: dict[str, str], names: dict[str, str] | None = None) -> str:
    columns = names or {name: name for name in lines[0]}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns.values())
    writer.writerows([line.get(name, "") for name in columns] for line in lines)
    return text.getvalue()


def bill(*lines: dict[str, str], **context):
    found = parse(PARSER, as_csv(*lines), **context)
    check_each(found)
    assert [word(parsed) for parsed in found[:1]] == ["header"]
    return found[1:]


def line(changes: dict, **context):
    record = {k: v for k, v in (LINE | changes).items() if v is not ...}
    [parsed] = bill(record, **context)
    return parsed


def row(changes: dict, **context):
    [found] = rows([line(changes, **context)], "billing_lines")
    return stated(found, *IDS)


def test_every_column_of_a_line_is_read():
    check_rows([line({}), line({"line_item_usage_start_date": "", "bill_invoice_id": ...})])
    assert row({}) == ROW


def test_the_legacy_spelling_gives_the_same_row():
    product = json.loads(LINE["product"])
    legacy = LINE | {f"product_{name}": value for name, value in product.items()}
    found = parse(PARSER, as_csv(legacy, names=LEGACY))
    check_rows(found)
    assert [stated(r, *IDS) for r in rows(found, "billing_lines")] == [ROW]


def test_parquet_gives_the_same_row_with_numbers_times_and_a_map(tmp_path):
    columns = {name: [value] for name, value in LINE.items()}
    for name in ("amount", "cost"):
        columns |= {n: [float(v[0])] for n, v in columns.items() if n.endswith(f"_{name}")}
    for name in [n for n in columns if n.endswith("_date")]:
        moment = datetime.fromisoformat(LINE[name])
        columns[name] = pa.array([moment.replace(tzinfo=None)], pa.timestamp("ms"))
    product = list(json.loads(LINE["product"]).items())
    columns["product"] = pa.array([product], pa.map_(pa.string(), pa.string()))
    path = tmp_path / "file"
    pq.write_table(pa.table(columns), path)
    found = list(parse_records(path, PARSER, CONTEXT))
    check_rows(found)
    assert [stated(r, *IDS) for r in rows(found, "billing_lines")] == [ROW]
    assert [parsed.locator for parsed in found] == ["row 1"]


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"bill_invoice_id": ""}, {"invoice_id": None, "is_final": False}),
        ({"bill_invoice_id": ...}, {"invoice_id": None, "is_final": None}),
        ({"bill_billing_period_end_date": ...}, {"period_end_at": None}),
        ({"line_item_usage_account_id": ...}, {"account_id": None}),
        ({"line_item_resource_id": ""}, {"resource_id": None}),
        ({"identity_line_item_id": ...}, {"line_item_id": None}),
        ({"product_from_region_code": ..., "product_to_region_code": ...}, {}),
        ({"product_from_region_code": "", "product_to_region_code": "",
          "line_item_usage_type": "USE1-DataTransfer-Out-Bytes"},
         {"from_region": None, "to_region": None, "usage_type": "USE1-DataTransfer-Out-Bytes"}),
        ({"product": ""}, {"transfer_type": None, "from_location": None}),
        ({"product": "{broken"}, {"transfer_type": None, "from_location": None}),
        ({"product_region_code": ..., "product": '{"region":"us-east-2"}'},
         {"region": "us-east-2", "transfer_type": None, "from_location": None}),
        ({"pricing_unit": ...}, {"unit": None}),
        ({"pricing_unit": "GB-Mo"},
         {"unit": "GB-Mo", "unit_bytes": None, "usage_bytes": None}),
        ({"pricing_unit": ..., "line_item_usage_type": "Requests-Tier1"},
         {"unit": None, "unit_bytes": None, "usage_bytes": None, "usage_type": "Requests-Tier1"}),
        ({"line_item_usage_amount": ""}, {"usage_amount": None, "usage_bytes": None}),
        ({"line_item_currency_code": "EUR"}, {"currency": "EUR", "cost_usd": None}),
        ({"line_item_unblended_cost": "-1.0E-9"},
         {"billed_cost": Decimal("-1e-9").quantize(Decimal("1e-18")),
          "cost_usd": Decimal("-0.000000001")}),
        ({"line_item_unblended_cost": "0.0000000005"},
         {"billed_cost": Decimal("5e-10").quantize(Decimal("1e-18")),
          "cost_usd": Decimal("0.000000000")}),
        ({"line_item_net_unblended_cost": ...},
         {"effective_cost": Decimal("0.030000000002500000")}),
        ({"pricing_public_on_demand_cost": ...}, {"list_cost": None}),
        ({"line_item_line_item_type": "Tax", "line_item_usage_start_date": "",
          "line_item_usage_end_date": ""},
         {"line_item_type": "tax", "line_item_type_name": "Tax", "usage_start_at": None,
          "usage_end_at": None, "effective_cost": None}),
        ({"tag_of_a_user": "x"}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert row(changes) == but(ROW, fields)


@pytest.mark.parametrize(
    ("stated_type", "kind"),
    [
        ("Usage", "usage"), ("DiscountedUsage", "usage"), ("SavingsPlanCoveredUsage", "usage"),
        ("SavingsPlanNegation", "commitment"), ("SavingsPlanRecurringFee", "commitment"),
        ("RIFee", "commitment"), ("Fee", "fee"), ("Credit", "credit"), ("Refund", "refund"),
        ("EdpDiscount", "discount"), ("PrivateRateDiscount", "discount"),
        ("BundledDiscount", "discount"), ("Rounding", "adjustment"), ("Anniversary", "other"),
    ],
)  # fmt: skip
def test_credits_refunds_taxes_and_discounts_are_kept_apart(stated_type, kind):
    found = row({"line_item_line_item_type": stated_type})
    assert (found["line_item_type"], found["line_item_type_name"]) == (kind, stated_type)


def test_the_cost_behind_commitments_is_that_of_the_commitment():
    covered = {
        "line_item_line_item_type": "SavingsPlanCoveredUsage",
        "savings_plan_savings_plan_effective_cost": "0.5",
    }
    assert row(covered)["effective_cost"] == Decimal("0.5")
    reserved = {"line_item_line_item_type": "DiscountedUsage", "reservation_effective_cost": "0.25"}
    assert row(reserved)["effective_cost"] == Decimal("0.25")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"line_item_line_item_type": ""}, "no_type"),
        ({"bill_billing_period_start_date": ""}, "no_period"),
        ({"bill_billing_period_start_date": "March"}, "period_start"),
        ({"line_item_usage_start_date": "3/10/2026"}, "usage_start"),
        ({"line_item_usage_end_date": "2026-03-09T00:00:00Z"}, "usage_end"),
        ({"line_item_usage_amount": "NaN"}, "usage_amount"),
        ({"line_item_usage_amount": "1e400"}, "usage_amount"),
        ({"line_item_usage_amount": "9" * 25}, "usage_amount"),
        ({"line_item_usage_amount": "99999999999"}, "usage"),
        ({"line_item_unblended_cost": "0x10"}, "unblended_cost"),
        ({"line_item_unblended_cost": "1000000000"}, "cost"),
    ],
)
def test_values_that_are_not_what_their_column_says_are_refused(changes, reason):
    assert word(line(changes)) == reason


@pytest.mark.parametrize(
    ("path", "period", "at", "basis"),
    [
        ("b/cur/data/BILLING_PERIOD=2026-02/2026-03-02T04:05:06Z-0a1b/x.csv", "2026-02",
         datetime(2026, 3, 2, 4, 5, 6, tzinfo=UTC), "path"),
        ("b/cur/data/BILLING_PERIOD=2026-02/x.csv", "2026-02",
         datetime(2026, 3, 11, tzinfo=UTC), "landing_day"),
        ("b/cur/20260201-20260301/5f8c1e1a-7f0c-4b7e-9a53-0f4c3a2b1d00/x-1.csv", "2026-02",
         datetime(2026, 3, 11, tzinfo=UTC), "landing_day"),
        ("b/cur/cur/year=2026/month=2/x.parquet", "2026-02",
         datetime(2026, 3, 11, tzinfo=UTC), "landing_day"),
        ("b/202612112359/cur/data/BILLING_PERIOD=2026-02/x.csv", "2026-02",
         datetime(2026, 3, 11, tzinfo=UTC), "landing_day"),
        ("b/20260301T000000Z/data/BILLING_PERIOD=2026-02/20260302T000000Z-1/x.csv", "2026-02",
         datetime(2026, 3, 2, tzinfo=UTC), "path"),
    ],
)  # fmt: skip
def test_the_path_tells_the_period_and_the_delivery(path, period, at, basis):
    found = row({"bill_billing_period_start_date": ...}, path=path)
    assert (found["billing_period"], found["delivered_at"], found["delivered_basis"]) == (
        period, at, basis,
    )  # fmt: skip


def test_a_line_that_is_delivered_again_is_another_record_of_the_same_bill():
    def ids(**context):
        [found] = rows([line({}, **context)], "billing_lines")
        return found["bill_id"], found["delivery_id"], found["record_id"]

    one = ids(path="b/data/BILLING_PERIOD=2026-03/20260310T010203Z-0a/x.csv")
    same = ids(path="b/data/BILLING_PERIOD=2026-03/20260310T010203Z-0a/y.csv")
    newer = ids(path="b/data/BILLING_PERIOD=2026-03/20260311T010203Z-0b/x.csv")
    other = ids(path="c/data/BILLING_PERIOD=2026-03/20260310T010203Z-0a/x.csv")
    assert one == same
    assert one[0] == newer[0] != other[0]
    assert len({one[1], newer[1], other[1]}) == len({one[2], newer[2], other[2]}) == 3


def test_an_overwritten_delivery_is_told_by_its_landing_day():
    path = "b/data/BILLING_PERIOD=2026-03/x.csv"
    days = (date(2026, 3, 10), date(2026, 3, 11))
    found = [rows([line({}, path=path, landing_date=d)], "billing_lines")[0] for d in days]
    assert found[0]["bill_id"] == found[1]["bill_id"]
    assert found[0]["delivery_id"] != found[1]["delivery_id"]
    assert found[0]["delivered_at"] < found[1]["delivered_at"]


@pytest.mark.parametrize(
    ("usage_type", "regions"),
    [
        ("USE1-EUW1-AWS-Out-Bytes", ("us-east-1", "eu-west-1")),
        ("USE1-EU-AWS-In-Bytes", ("eu-west-1", "us-east-1")),
        ("APS3-USW2-AWS-Out-ABytes-T1", ("ap-south-1", "us-west-2")),
        ("USE1-USW2-S3RTC-Out-Bytes", ("us-east-1", "us-west-2")),
        ("USE1-XX9-AWS-Out-Bytes", ("us-east-1", None)),
        ("EUW1-DataTransfer-Regional-Bytes", (None, None)),
        ("USE1-NatGateway-Bytes", (None, None)),
        ("x" * 500, (None, None)),
    ],
)
def test_usage_types_name_the_regions_of_a_transfer(usage_type, regions):
    assert regions_of(usage_type) == regions


@pytest.mark.parametrize(
    ("usage_type", "is_one"),
    [
        ("DataTransfer-Out-Bytes", True), ("USE1-NatGateway-Bytes", True),
        ("EU-C3DataTransfer-In-Bytes", True), ("USE1-USW2-AWS-Out-ABytes-T2", True),
        ("TimedStorage-ByteHrs", False), ("Requests-Tier1", False), ("BoxUsage:p5.48xlarge", False),
    ],
)  # fmt: skip
def test_usage_types_tell_volumes_from_other_things(usage_type, is_one):
    assert is_volume(usage_type) is is_one


@pytest.mark.parametrize(("name", "found"), [(v, k) for k, v in LEGACY.items()])
def test_legacy_names_become_those_of_cur_2(name, found):
    assert canonical(name) == found
    assert canonical(found) == found


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        (as_csv(LINE), "CSV"),
        (as_csv(LINE, names=LEGACY), "legacy CSV"),
        (json.dumps(LINE), "rows"),
    ],
)
def test_each_form_is_told_by_its_header(text, variant):
    found = detect(text.encode())
    assert isinstance(found, Detected)
    assert (found.parser.name, found.variant) == ("aws_cur", variant)


def test_secrets_of_tags_and_descriptions_are_never_kept():
    token = "ghp_" + "A1b2C3d4E5" * 4
    changes = {
        "line_item_line_item_description": f"per GB password={token}",
        "line_item_resource_id": f"bucket-{token}",
        "resource_tags_user_key": token,
        "product": json.dumps({"transfer_type": token}),
    }
    found = [line(changes), line(changes | {"line_item_usage_amount": "x"})]
    assert words(found) == {"accepted": 1, "usage_amount": 1}
    assert token not in written(found)

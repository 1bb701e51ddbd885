"""AWS bills: CUR 2.0 as CSV and as rows, legacy CSV; a description over two lines."""

import csv
import io
import json
from typing import Any


def _line(number: int, **changes: str) -> dict[str, str]:
    found = {
        "identity_line_item_id": f"abcdefghij{number:04d}",
        "identity_time_interval": "2026-03-10T00:00:00Z/2026-03-10T01:00:00Z",
        "bill_billing_period_start_date": "2026-03-01T00:00:00.000Z",
        "bill_billing_period_end_date": "2026-04-01T00:00:00.000Z",
        "bill_invoice_id": "",
        "bill_payer_account_id": "111122223333",
        "line_item_usage_account_id": "444455556666",
        "line_item_line_item_type": "Usage",
        "line_item_usage_start_date": "2026-03-10T00:00:00.000Z",
        "line_item_usage_end_date": "2026-03-10T01:00:00.000Z",
        "line_item_product_code": "AmazonS3",
        "line_item_usage_type": "USE1-EUW1-AWS-Out-Bytes",
        "line_item_operation": "GetObject",
        "line_item_resource_id": "example-data",
        "line_item_usage_amount": f"1.5{number}",
        "line_item_currency_code": "USD",
        "line_item_unblended_cost": f"0.030{number}",
        "line_item_line_item_description": "per GB, US East to EU",
        "pricing_unit": "GB",
        "pricing_public_on_demand_cost": "0.0300000000",
        "product": '{"transfer_type":"InterRegion Outbound","region":"us-east-1"}',
        "product_from_region_code": "us-east-1",
        "product_to_region_code": "eu-west-1",
    }
    return found | changes


_LEGACY = {
    "identity_line_item_id": "identity/LineItemId",
    "identity_time_interval": "identity/TimeInterval",
    "bill_billing_period_start_date": "bill/BillingPeriodStartDate",
    "bill_billing_period_end_date": "bill/BillingPeriodEndDate",
    "bill_payer_account_id": "bill/PayerAccountId",
    "line_item_usage_account_id": "lineItem/UsageAccountId",
    "line_item_line_item_type": "lineItem/LineItemType",
    "line_item_usage_start_date": "lineItem/UsageStartDate",
    "line_item_usage_end_date": "lineItem/UsageEndDate",
    "line_item_usage_type": "lineItem/UsageType",
    "line_item_resource_id": "lineItem/ResourceId",
    "line_item_usage_amount": "lineItem/UsageAmount",
    "line_item_currency_code": "lineItem/CurrencyCode",
    "line_item_unblended_cost": "lineItem/UnblendedCost",
    "line_item_line_item_description": "lineItem/LineItemDescription",
    "pricing_unit": "pricing/unit",
    "product_from_region_code": "product/fromRegionCode",
    "product_to_region_code": "product/toRegionCode",
}
_TAX = {"line_item_line_item_type": "Tax", "line_item_usage_type": "", "line_item_usage_amount": ""}
_CREDIT = {"line_item_line_item_type": "Credit", "line_item_unblended_cost": "-1.25"}


def _csv(rows: list[dict[str, str]], names: dict[str, str]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names.values())
    writer.writerows([row[name] for name in names] for row in rows)
    return text.getvalue().encode()


def _row(line: dict[str, str]) -> dict[str, Any]:
    """The row of a Parquet file, whose numbers and maps are no texts."""
    amounts = {name: float(line[name]) for name in line if name.endswith(("amount", "cost"))}
    times = {name: line[name].rstrip("Z") for name in line if name.endswith("_date")}
    return line | amounts | times | {"product": json.loads(line["product"])}


_LINES = [
    *(_line(n) for n in range(8)),
    _line(8, **_TAX),
    _line(9, **_CREDIT),
]
_TWO = _line(10, line_item_line_item_description='per GB "first"\nsecond line, of two')

FILES: tuple[bytes, ...] = (
    _csv(_LINES, {name: name for name in _LINES[0]}),
    _csv([*_LINES, _TWO, *(_line(n) for n in range(11, 18))], _LEGACY),
    "".join(f"{json.dumps(_row(_line(n)))}\n" for n in range(10)).encode(),
)

"""AWS Cost and Usage Reports: CUR 2.0 of data exports, and the legacy report; CSV and Parquet.

Sources: the data exports user guide (table dictionary of CUR 2.0, delivery), the Cost and Usage
Reports user guide (data dictionary), the S3 user guide on usage types.

* Legacy CSV names columns `lineItem/UsageAmount`, everything else `line_item_usage_amount`; both
  are read alike. CUR 2.0 keeps rarer attributes in one column `product`, a map or a text of JSON.
* Amounts of bytes are in GB of 2^30 bytes. Costs are unblended: what the usage itself costs.
* Credits, refunds, taxes and discounts are lines of their own; `SavingsPlanNegation` takes back
  what `SavingsPlanCoveredUsage` lists, and both stand (`commitment`, `usage`).
* Regions of a transfer are the product's; where the columns are left out, those of the usage type.
* A file speaks for its delivery (bill_deliveries.py). An invoice id means that the line is final.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any

import msgspec

from transforms.staging import bill_amounts as b
from transforms.staging.aws_usage_types import is_volume, regions_of
from transforms.staging.bill_deliveries import Delivery, delivery_of
from transforms.staging.bill_fields import (
    TABLE,
    of_amounts,
    of_delivery,
    of_period,
    of_usage,
    text,
)
from transforms.staging.csv_tables import Table, head_columns, parse_table
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import free_text, name_text

TYPE, COST = "line_item_line_item_type", "line_item_unblended_cost"
NEEDED = frozenset({TYPE, COST})
MARKS = (b"LineItemType", b"line_item_type")
SHOWN_KEYS = frozenset(
    {
        b"line_item_line_item_type", b"line_item_usage_start_date", b"line_item_usage_end_date",
        b"line_item_usage_amount", b"line_item_unblended_cost", b"line_item_currency_code",
        b"bill_billing_period_start_date", b"pricing_unit",
    }
)  # fmt: skip
"""Columns of a refused row whose text an excerpt may show; tags hold any text of users."""
MAX_MAP = 64 << 10

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TYPES = {
    "Usage": "usage",
    "DiscountedUsage": "usage",
    "SavingsPlanCoveredUsage": "usage",
    "SavingsPlanNegation": "commitment",
    "SavingsPlanRecurringFee": "commitment",
    "SavingsPlanUpfrontFee": "commitment",
    "RIFee": "commitment",
    "Fee": "fee",
    "Tax": "tax",
    "Credit": "credit",
    "Refund": "refund",
    "Discount": "discount",
    "EdpDiscount": "discount",
    "PrivateRateDiscount": "discount",
    "BundledDiscount": "discount",
    "RiVolumeDiscount": "discount",
    "Rounding": "adjustment",
    "Adjustment": "adjustment",
}
"""Everything else is `other`."""
_EFFECTIVE = {
    "Usage": ("line_item_net_unblended_cost", COST),
    "DiscountedUsage": ("reservation_net_effective_cost", "reservation_effective_cost"),
    "SavingsPlanCoveredUsage": (
        "savings_plan_net_savings_plan_effective_cost", "savings_plan_savings_plan_effective_cost",
    ),
}  # fmt: skip
"""Where the cost behind discounts stands, by type; of other lines none is stated."""
_PROVIDER = "aws"
_MAP = msgspec.json.Decoder(dict[str, Any])


@lru_cache(maxsize=4_096)
def canonical(name: str) -> str:
    """A column's name as CUR 2.0 writes it: `lineItem/UsageAmount` → `line_item_usage_amount`."""
    return _HUMP.sub("_", name.strip().replace("/", "_")).replace("__", "_").lower()


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    read = partial(_row, delivery_of(context))
    yield from parse_table(records, Table(canonical, NEEDED, MARKS, read, SHOWN_KEYS))


def _row(delivery: Delivery, line: Mapping[str, Any], text_id: str) -> Row:
    """The row of a line.

    Raises:
        RefusedError: A value is not what its column says.
    """
    kind = text(line, TYPE)
    if kind is None:
        refuse("no_type", f"a type in {TYPE}", None)
    product = _map(line.get("product"))
    usage_type = text(line, "line_item_usage_type")
    unit = text(line, "pricing_unit")
    used = b.amount(line.get("line_item_usage_amount"), "usage_amount")
    currency = text(line, "line_item_currency_code")
    cost = b.amount(line.get(COST), "unblended_cost")
    invoice = text(line, "bill_invoice_id")
    return TABLE, {
        **of_delivery(delivery, text_id),
        "provider": _PROVIDER,
        **of_period(
            line, delivery, "bill_billing_period_start_date", "bill_billing_period_end_date"
        ),
        "payer_account_id": name_text(text(line, "bill_payer_account_id")),
        "account_id": name_text(text(line, "line_item_usage_account_id")),
        "invoice_id": name_text(invoice),
        "is_final": invoice is not None if "bill_invoice_id" in line else None,
        "line_item_id": name_text(text(line, "identity_line_item_id")),
        "line_item_type": _TYPES.get(kind, "other"),
        "line_item_type_name": name_text(kind),
        **of_usage(line, "line_item_usage_start_date", "line_item_usage_end_date"),
        "product": name_text(text(line, "line_item_product_code")),
        "product_family": name_text(text(line, "product_product_family")),
        "usage_type": name_text(usage_type),
        "operation": name_text(text(line, "line_item_operation")),
        "sku_id": name_text(text(line, "product_sku")),
        "price_id": name_text(text(line, "pricing_rate_id")),
        "description": free_text(text(line, "line_item_line_item_description")),
        "zone": name_text(text(line, "line_item_availability_zone")),
        **_places(line, product, usage_type),
        "resource_id": name_text(text(line, "line_item_resource_id")),
        **of_amounts(used, unit, _unit_bytes(unit, usage_type), cost, currency),
        "list_cost": b.amount(line.get("pricing_public_on_demand_cost"), "on_demand_cost"),
        "effective_cost": _effective(line, kind),
    }


def _places(
    line: Mapping[str, Any], product: Mapping[str, Any], usage_type: str | None
) -> dict[str, str | None]:
    """Where the resource is, and where bytes went from and to."""

    def of_product(name: str) -> str | None:
        return name_text(text(line, f"product_{name}") or text(product, name))

    came, went = regions_of(usage_type) if usage_type else (None, None)
    return {
        "region": of_product("region_code") or of_product("region"),
        "from_region": of_product("from_region_code") or came,
        "to_region": of_product("to_region_code") or went,
        "from_location": of_product("from_location"),
        "to_location": of_product("to_location"),
        "transfer_type": of_product("transfer_type"),
    }


def _unit_bytes(unit: str | None, usage_type: str | None) -> int | None:
    """Bytes of a unit; a transfer whose unit is left out is in GB."""
    if unit is not None:
        return b.unit_bytes(unit, gb_is_binary=True)
    return 1 << 30 if usage_type is not None and is_volume(usage_type) else None


def _effective(line: Mapping[str, Any], kind: str) -> Decimal | None:
    for name in _EFFECTIVE.get(kind, ()):
        found = b.amount(line.get(name), "effective_cost")
        if found is not None:
            return found
    return None


def _map(stated: object) -> Mapping[str, Any]:
    """The column `product`: a map, or its text of JSON; empty where it is neither."""
    if isinstance(stated, str) and stated[:1] == "{" and len(stated) <= MAX_MAP:
        try:
            return _MAP.decode(stated)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return {}
    return stated if isinstance(stated, dict) else {}


def _recognise(head: bytes) -> Recognition:
    if not any(mark in head for mark in MARKS):
        return Recognition(0)
    columns = head_columns(head, canonical)
    if not columns >= NEEDED:
        return Recognition(0)
    is_rows = head.lstrip()[:1] == b"{"
    is_legacy = b"lineItem/" in head
    return Recognition(3, "rows" if is_rows else "legacy CSV" if is_legacy else "CSV")


PARSER = Parser(
    name="aws_cur",
    title="AWS Cost and Usage Report (2.0 and legacy; CSV, Parquet)",
    tables=(TABLE,),
    shape="lines",
    record="one line or row: a line item; the header is none",
    cannot_tell=(
        "when a line item's bytes moved within its hour or day; the run or pod; which price tier "
        "of several a line is of; deliveries of one overwritten report that land on one day"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=(
        "resource_id", "from_region", "to_region", "is_final", "list_cost", "effective_cost",
    ),
    reads_path=True,
)  # fmt: skip

"""Bills in FOCUS 1.0 to 1.2 (FinOps Open Cost and Usage Specification); CSV and Parquet.

Sources: the specification's columns and its unit format; AWS, Microsoft and Google on their
exports' own columns (`x_…`).

* A row has no id: equal rows of one file are told apart by where they stand only, so that readers
  take all rows of a file (see `transforms/marts/bill_newest.sql`).
* There are no regions of a transfer. AWS writes its usage type as `x_UsageType`, which names them.
* Units are the vendor's: GB is 2^30 bytes at AWS and 10^9 elsewhere, GiB is 2^30 anywhere.
* A purchase of a commitment is a `commitment`, any other purchase a `fee`. Negotiated discounts are
  in the costs and no rows of their own.
* `InvoiceId` exists from 1.2 on; without the column nothing says whether a row is final.
* Microsoft writes times without seconds.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from transforms.staging import bill_amounts as b
from transforms.staging.aws_usage_types import regions_of
from transforms.staging.bill_deliveries import Delivery, delivery_of
from transforms.staging.csv_tables import Table, head_columns, parse_table
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import identity

TABLE = "billing_lines"
NEEDED = frozenset({"BilledCost", "ChargePeriodStart", "ChargeCategory"})
MARKS = (b"BilledCost",)
SHOWN_KEYS = frozenset(
    {
        b"BilledCost", b"BillingCurrency", b"BillingPeriodStart", b"ChargeCategory",
        b"ChargePeriodStart", b"ChargePeriodEnd", b"ConsumedQuantity", b"ConsumedUnit",
        b"PricingQuantity", b"PricingUnit",
    }
)  # fmt: skip
"""Columns of a refused row whose text an excerpt may show; tags hold any text of users."""

_CATEGORIES = {
    "usage": "usage",
    "purchase": "fee",
    "tax": "tax",
    "credit": "credit",
    "adjustment": "adjustment",
}
"""Everything else is `other`."""
_PROVIDERS = (
    ("amazon", "aws"),
    ("aws", "aws"),
    ("microsoft", "azure"),
    ("azure", "azure"),
    ("google", "gcp"),
)
"""Beginnings of providers' names, in lower case."""


def _canonical(name: str) -> str:
    return name.strip()


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    read = partial(_row, delivery_of(context))
    yield from parse_table(records, Table(_canonical, NEEDED, MARKS, read, SHOWN_KEYS))


def _row(delivery: Delivery, line: Mapping[str, Any], text_id: str) -> Row:
    """The row of a line.

    Raises:
        RefusedError: A value is not what its column says.
    """
    category = _text(line, "ChargeCategory")
    start_at = b.instant(line.get("ChargePeriodStart"), "ChargePeriodStart")
    if category is None or start_at is None:
        refuse("no_charge", "values in ChargeCategory and ChargePeriodStart", None)
    end_at = b.instant(line.get("ChargePeriodEnd"), "ChargePeriodEnd")
    if end_at is not None and end_at < start_at:
        refuse("ChargePeriodEnd", "an end behind the start")
    period_at = _period_start(line, delivery)
    provider = _provider(line)
    used, unit = _used(line)
    unit_bytes = b.unit_bytes(unit, gb_is_binary=provider == "aws") if unit else None
    currency = _text(line, "BillingCurrency")
    cost = b.amount(line.get("BilledCost"), "BilledCost")
    usage_type = _first(line, "x_UsageType", "SkuMeter", "x_SkuMeterName", "x_SkuDescription")
    came, went = regions_of(usage_type) if usage_type else (None, None)
    kind = _CATEGORIES.get(category.lower(), "other")
    if kind == "fee" and _text(line, "CommitmentDiscountId"):
        kind = "commitment"
    invoice = _text(line, "InvoiceId")
    correction = (_text(line, "ChargeClass") or "").lower() == "correction"
    return TABLE, {
        "record_id": identity(delivery.delivery_id, text_id),
        "provider": provider,
        "billing_period": f"{period_at:%Y-%m}",
        "period_start_at": period_at,
        "period_end_at": b.instant(line.get("BillingPeriodEnd"), "BillingPeriodEnd"),
        "payer_account_id": name_text(_text(line, "BillingAccountId")),
        "account_id": name_text(_first(line, "SubAccountId", "BillingAccountId")),
        "bill_id": delivery.bill_id,
        "delivery_id": delivery.delivery_id,
        "delivery_part": delivery.part,
        "delivered_at": delivery.delivered_at,
        "delivered_basis": delivery.basis,
        "invoice_id": name_text(invoice),
        "is_final": invoice is not None if "InvoiceId" in line else None,
        "line_item_type": kind,
        "line_item_type_name": name_text(category),
        "is_correction": correction if "ChargeClass" in line else None,
        "usage_start_at": start_at,
        "usage_end_at": end_at,
        "product": name_text(_first(line, "x_ServiceCode", "ServiceName")),
        "product_family": name_text(_first(line, "ServiceSubcategory", "ServiceCategory")),
        "usage_type": name_text(usage_type),
        "operation": name_text(_text(line, "x_Operation")),
        "sku_id": name_text(_text(line, "SkuId")),
        "price_id": name_text(_text(line, "SkuPriceId")),
        "description": free_text(_text(line, "ChargeDescription")),
        "region": name_text(_first(line, "RegionId", "Region", "RegionName")),
        "zone": name_text(_text(line, "AvailabilityZone")),
        "from_region": came,
        "to_region": went,
        "resource_id": name_text(_text(line, "ResourceId")),
        "resource_name": name_text(_text(line, "ResourceName")),
        "usage_amount": used,
        "unit": name_text(unit),
        "unit_bytes": unit_bytes,
        "usage_bytes": b.bytes_of(used, unit_bytes),
        "currency": name_text(currency),
        "billed_cost": cost,
        "list_cost": b.amount(line.get("ListCost"), "ListCost"),
        "effective_cost": b.amount(line.get("EffectiveCost"), "EffectiveCost"),
        "cost_usd": b.usd(cost, currency),
    }


def _period_start(line: Mapping[str, Any], delivery: Delivery) -> datetime:
    stated = b.instant(line.get("BillingPeriodStart"), "BillingPeriodStart")
    if stated is not None:
        return stated
    first = delivery.period_start
    if first is None:
        refuse("no_period", "a time in BillingPeriodStart, or a period in the path")
    return datetime(first.year, first.month, first.day, tzinfo=UTC)


def _used(line: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Amount and unit: what was consumed, else what was priced."""
    for kind in ("Consumed", "Pricing"):
        used = b.amount(line.get(f"{kind}Quantity"), f"{kind}Quantity")
        if used is not None:
            return used, _text(line, f"{kind}Unit")
    return None, None


def _provider(line: Mapping[str, Any]) -> str:
    stated = _first(line, "ProviderName", "ServiceProviderName", "InvoiceIssuerName")
    if stated is None:
        refuse("no_provider", "a name in ProviderName", None)
    # In lower case a token is not known any more.
    name = (name_text(stated) or "").lower()
    return next((known for start, known in _PROVIDERS if name.startswith(start)), name)


def _first(line: Mapping[str, Any], *names: str) -> str | None:
    return next(filter(None, (_text(line, name) for name in names)), None)


def _text(line: Mapping[str, Any], name: str) -> str | None:
    """A value as text; account ids may be numbers."""
    value = line.get(name)
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64:
        return str(value)
    if value is not None:
        refuse("wrong_value", f"a text in {name}", None)
    return None


def _recognise(head: bytes) -> Recognition:
    if MARKS[0] not in head or not head_columns(head, _canonical) >= NEEDED:
        return Recognition(0)
    return Recognition(3, "rows" if head.lstrip()[:1] == b"{" else "CSV")


PARSER = Parser(
    name="focus",
    title="Bills in FOCUS (AWS, Azure, Google Cloud; CSV, Parquet)",
    tables=(TABLE,),
    shape="lines",
    record="one line or row: a charge; the header is none",
    cannot_tell=(
        "the regions of a transfer, but for AWS' usage types; whether two equal rows are one; "
        "whether a row is final, before 1.2; negotiated discounts as rows of their own; the run "
        "or pod"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=("resource_id", "usage_type", "invoice_id", "list_cost", "effective_cost"),
    reads_path=True,
)

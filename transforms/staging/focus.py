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
from functools import partial
from typing import Any

from transforms.staging import bill_amounts as b
from transforms.staging.aws_usage_types import regions_of
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
    category = text(line, "ChargeCategory")
    usage = of_usage(line, "ChargePeriodStart", "ChargePeriodEnd")
    if category is None or usage["usage_start_at"] is None:
        refuse("no_charge", "values in ChargeCategory and ChargePeriodStart", None)
    provider = _provider(line)
    used, unit = _used(line)
    unit_bytes = b.unit_bytes(unit, gb_is_binary=provider == "aws") if unit else None
    currency = text(line, "BillingCurrency")
    cost = b.amount(line.get("BilledCost"), "BilledCost")
    usage_type = _first(line, "x_UsageType", "SkuMeter", "x_SkuMeterName", "x_SkuDescription")
    came, went = regions_of(usage_type) if usage_type else (None, None)
    kind = _CATEGORIES.get(category.lower(), "other")
    if kind == "fee" and text(line, "CommitmentDiscountId"):
        kind = "commitment"
    invoice = text(line, "InvoiceId")
    correction = (text(line, "ChargeClass") or "").lower() == "correction"
    return TABLE, {
        **of_delivery(delivery, text_id),
        "provider": provider,
        **of_period(line, delivery, "BillingPeriodStart", "BillingPeriodEnd"),
        "payer_account_id": name_text(text(line, "BillingAccountId")),
        "account_id": name_text(_first(line, "SubAccountId", "BillingAccountId")),
        "invoice_id": name_text(invoice),
        "is_final": invoice is not None if "InvoiceId" in line else None,
        "line_item_type": kind,
        "line_item_type_name": name_text(category),
        "is_correction": correction if "ChargeClass" in line else None,
        **usage,
        "product": name_text(_first(line, "x_ServiceCode", "ServiceName")),
        "product_family": name_text(_first(line, "ServiceSubcategory", "ServiceCategory")),
        "usage_type": name_text(usage_type),
        "operation": name_text(text(line, "x_Operation")),
        "sku_id": name_text(text(line, "SkuId")),
        "price_id": name_text(text(line, "SkuPriceId")),
        "description": free_text(text(line, "ChargeDescription")),
        "region": name_text(_first(line, "RegionId", "Region", "RegionName")),
        "zone": name_text(text(line, "AvailabilityZone")),
        "from_region": came,
        "to_region": went,
        "resource_id": name_text(text(line, "ResourceId")),
        "resource_name": name_text(text(line, "ResourceName")),
        **of_amounts(used, unit, unit_bytes, cost, currency),
        "list_cost": b.amount(line.get("ListCost"), "ListCost"),
        "effective_cost": b.amount(line.get("EffectiveCost"), "EffectiveCost"),
    }


def _used(line: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Amount and unit: what was consumed, else what was priced."""
    for kind in ("Consumed", "Pricing"):
        used = b.amount(line.get(f"{kind}Quantity"), f"{kind}Quantity")
        if used is not None:
            return used, text(line, f"{kind}Unit")
    return None, None


def _provider(line: Mapping[str, Any]) -> str:
    stated = _first(line, "ProviderName", "ServiceProviderName", "InvoiceIssuerName")
    if stated is None:
        refuse("no_provider", "a name in ProviderName", None)
    # In lower case a token is not known any more.
    name = (name_text(stated) or "").lower()
    return next((known for start, known in _PROVIDERS if name.startswith(start)), name)


def _first(line: Mapping[str, Any], *names: str) -> str | None:
    return next(filter(None, (text(line, name) for name in names)), None)


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

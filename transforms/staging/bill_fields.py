"""Columns that lines of all bills have, from the delivery, the period and the amounts."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from transforms.staging import bill_amounts as b
from transforms.staging.bill_deliveries import Delivery
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import identity

TABLE: Final = "billing_lines"

_LONG = re.compile(r"^(?:bill_billing|line_item)_|_date$")


def text(line: Mapping[str, Any], name: str) -> str | None:
    """A value as text; account ids may be numbers.

    Raises:
        RefusedError: It is neither.
    """
    value = line.get(name)
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64:
        return str(value)
    if value is not None:
        refuse("wrong_value", f"a text in {name}", None)
    return None


def of_delivery(delivery: Delivery, text_id: str) -> dict[str, Any]:
    """What the file says of a line: of which delivery it is, and its id there."""
    return {
        "record_id": identity(delivery.delivery_id, text_id),
        "bill_id": delivery.bill_id,
        "delivery_id": delivery.delivery_id,
        "delivery_part": delivery.part,
        "delivered_at": delivery.delivered_at,
        "delivered_basis": delivery.basis,
    }


def of_period(line: Mapping[str, Any], delivery: Delivery, start: str, end: str) -> dict[str, Any]:
    """The billing period: that of the line, else that of the path.

    Args:
        line: The line.
        delivery: What the path says.
        start: Column with the period's start.
        end: Column with its end.

    Raises:
        RefusedError: Neither states a period, or a value is no time.
    """
    start_at = _instant(line, start)
    if start_at is None:
        first = delivery.period_start
        if first is None:
            refuse("no_period", f"a time in {start}, or a period in the path")
        start_at = datetime(first.year, first.month, first.day, tzinfo=UTC)
    return {
        "billing_period": f"{start_at:%Y-%m}",
        "period_start_at": start_at,
        "period_end_at": _instant(line, end),
    }


def of_usage(line: Mapping[str, Any], start: str, end: str) -> dict[str, datetime | None]:
    """When the usage was.

    Args:
        line: The line.
        start: Column with its start.
        end: Column with its end.

    Raises:
        RefusedError: A value is no time, or it ends before it starts.
    """
    start_at, end_at = _instant(line, start), _instant(line, end)
    if start_at is not None and end_at is not None and end_at < start_at:
        refuse(_word(end), "an end behind the start")
    return {"usage_start_at": start_at, "usage_end_at": end_at}


def of_amounts(
    used: Decimal | None,
    unit: str | None,
    unit_bytes: int | None,
    cost: Decimal | None,
    currency: str | None,
) -> dict[str, Any]:
    """How much was used, and what it costs."""
    return {
        "usage_amount": used,
        "unit": name_text(unit),
        "unit_bytes": unit_bytes,
        "usage_bytes": b.bytes_of(used, unit_bytes),
        "currency": name_text(currency),
        "billed_cost": cost,
        "cost_usd": b.usd(cost, currency),
    }


def _instant(line: Mapping[str, Any], name: str) -> datetime | None:
    return b.instant(line.get(name), _word(name))


def _word(name: str) -> str:
    """A column in a reason: `line_item_usage_end_date` is `usage_end`."""
    return _LONG.sub("", name)

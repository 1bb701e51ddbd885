"""A price sheet made by hand, with prices that no two paths share, and sums in exact decimals."""

from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal

import polars as pl

from pipelines.reference.prices import PRICES_SCHEMA

GIB = 2**30
EXACT = Context(prec=80, rounding=ROUND_HALF_EVEN)


def price(price_id: str, kind: str, usd: str, **more) -> dict:
    """One row of a sheet; what is left out means any."""
    unit = {"unit_requests": 1000} if kind == "request" else {"unit_bytes": GIB}
    return {
        **dict.fromkeys(PRICES_SCHEMA),
        "price_id": price_id,
        "provider": "aws",
        "charge_kind": kind,
        "usd_per_unit": Decimal(usd),
        "tier_from_bytes": 0,
        "valid_from": date(2026, 1, 1),
        "source": "by hand",
        "is_verified": True,
        **unit,
        **more,
    }


def sheet(*rows: dict) -> pl.DataFrame:
    """Rows as a build shows them."""
    return pl.DataFrame(rows, schema=PRICES_SCHEMA, orient="row")


BY_HAND = (
    price("node", "transfer", "0", distance="same_node", provider=None),
    price("zone", "transfer", "0", distance="same_zone"),
    price("zones", "transfer", "0.013", distance="cross_zone"),
    price("storage", "transfer", "0", distance="same_region"),
    price("regions-east", "transfer", "0.02", distance="cross_region", from_region="us-east-1"),
    price("regions-west", "transfer", "0.03", distance="cross_region", from_region="eu-west-1"),
    price(
        "east-ohio", "transfer", "0.007", distance="cross_region", from_region="us-east-1",
        to_region="us-east-2",
    ),
    price("in", "transfer", "0", distance="internet", from_region="internet"),
    price("out-free", "transfer", "0", distance="internet", from_region="us-*"),
    price(
        "out-1", "transfer", "0.09", distance="internet", from_region="us-*",
        tier_from_bytes=100 * GIB,
    ),
    price(
        "out-2", "transfer", "0.05", distance="internet", from_region="us-*",
        tier_from_bytes=1000 * GIB, is_verified=False,
    ),
    price("nat", "nat_processing", "0.045", gateway="nat", from_region="us-east-1"),
    price("endpoint", "endpoint_processing", "0.01", gateway="interface_endpoint"),
    price("puts", "request", "0.005", usage_type="*Requests-Tier1", from_region="us-east-1"),
    price("gets", "request", "0.0004", usage_type="*Requests-Tier2", from_region="us-east-1"),
)  # fmt: skip


def amount(count: int, usd: str, units: int = GIB) -> Decimal:
    """Price times count, divided by the unit, rounded half to even at the ninth decimal."""
    exact = EXACT.divide(EXACT.multiply(Decimal(count), Decimal(usd)), Decimal(units))
    return exact.quantize(Decimal("1e-9"), context=EXACT)

"""Staging table of bills."""

import polars as pl

from schemas import columns as c
from schemas.columns import Amount, Instant, Usd
from schemas.staging.provenance import STAGING_KEY, StagingTable
from schemas.table import table

LINE_ITEM_TYPES = (
    "usage", "commitment", "discount", "credit", "refund", "tax", "fee", "adjustment", "other",
)  # fmt: skip


@table(
    "staging",
    key=STAGING_KEY,
    covers=("period_start_at", "period_end_at", "usage_start_at", "usage_end_at"),
)
class BillingLines(StagingTable):
    """One line of one delivery of a bill.

    A provider delivers a billing period again and again, each time whole: lines of all but the
    newest delivery of a period (`delivered_at`) are replaced and must not be added, which
    `transforms/marts/bill_newest.sql` sees to. Usage, credits, refunds, taxes and discounts are
    lines of their own (`line_item_type`). A file speaks for its whole period, so that each day of
    it knows the newest delivery.
    """

    provider: str = c.column("Who bills: aws, azure, gcp, or another provider's name, lower case.")
    billing_period: str = c.column("Month that is billed, `YYYY-MM`.")
    period_start_at: Instant = c.column("Start of the billing period, UTC, inclusive.")
    period_end_at: Instant = c.column("End of the billing period, exclusive.", null="not stated")
    payer_account_id: str = c.column("Account that pays the bill.", null="not stated")
    account_id: str = c.column(
        "Account, subscription or project whose usage it is.", null="not stated"
    )
    bill_id: str = c.column(
        "Hash of the export and the folder in which deliveries of one bill stand: a later one of a "
        "period replaces the earlier ones of that bill."
    )
    delivery_id: str = c.column(
        "Hash that files of one delivery share: export, folder and the delivery's name or day."
    )
    delivery_part: str = c.column("Name of the file within its delivery.")
    delivered_at: Instant = c.column("When the bill was delivered; it speaks for all before.")
    delivered_basis: str = c.column(
        "Where delivered_at comes from: the file's path, or the end of the landing day.",
        allowed=("path", "landing_day"),
    )
    invoice_id: str = c.column("Invoice that the line stands on.", null="not invoiced yet")
    is_final: pl.Boolean = c.column(
        "Whether the line stands on an invoice, so that it changes no more.", null="not stated"
    )
    line_item_id: str = c.column("Id of the line in its period.", null="the format has none")
    line_item_type: str = c.column(
        "What kind of line it is; `commitment` are prepaid or covered amounts (reservations and "
        "savings plans), `adjustment` corrections and rounding.",
        allowed=LINE_ITEM_TYPES,
    )
    line_item_type_name: str = c.column("The same as the bill names it.", null="not stated")
    is_correction: pl.Boolean = c.column(
        "Whether the line corrects an earlier period's.", null="not stated"
    )
    usage_start_at: Instant = c.column(
        "Start of the usage, inclusive.", null="of a line without usage"
    )
    usage_end_at: Instant = c.column("End of the usage, exclusive.", null="not stated")
    product: str = c.column("Service as the bill names it.", null="not stated")
    product_family: str = c.column("Family or category of the service.", null="not stated")
    usage_type: str = c.column(
        "Usage type (AWS, `USE1-EUW1-AWS-Out-Bytes`), else the meter or SKU's name.",
        null="not stated",
    )
    operation: str = c.column("Operation, such as GetObject.", null="not stated")
    sku_id: str = c.column("SKU.", null="not stated")
    price_id: str = c.column("Id of the price within its SKU.", null="not stated")
    description: str = c.column("Description, redacted.", null="not stated")
    region: str = c.column("Region of the resource.", null="not stated, or global")
    zone: str = c.column("Zone of the resource.", null="not stated")
    from_region: str = c.column("Region that bytes left.", null="no transfer, or not stated")
    to_region: str = c.column("Region that bytes reached.", null="no transfer, or not stated")
    from_location: str = c.column("Place that bytes left, in words.", null="not stated")
    to_location: str = c.column("Place that bytes reached, in words.", null="not stated")
    transfer_type: str = c.column(
        "Kind of transfer, as the bill names it, such as `InterRegion Outbound`.", null="not stated"
    )
    resource_id: str = c.column("Bucket, gateway, instance or ARN.", null="not stated")
    resource_name: str = c.column("Name of the resource.", null="not stated")
    usage_amount: Amount = c.column(
        "Amount used, exactly as billed.", null="of a line without usage", unit="of `unit`"
    )
    unit: str = c.column("Unit of usage_amount, as the bill names it.", null="not stated")
    unit_bytes: pl.Int64 = c.byte_count(
        "Bytes of one unit: 2^30 of a GB at AWS and of a GiB anywhere, 10^9 of a GB elsewhere.",
        null="the unit is no volume of data",
        adds_up=False,
    )
    usage_bytes: pl.Int64 = c.signed_bytes(
        "usage_amount in bytes, rounded half to even.", null="the unit is no volume of data"
    )
    currency: str = c.column("Currency of the costs, ISO 4217.", null="not stated")
    billed_cost: Amount = c.column(
        "What is billed for the line, exactly, before amortisation.",
        null="not stated",
        unit="of `currency`",
        adds_up=True,
    )
    list_cost: Amount = c.column(
        "The same at list prices.", null="not stated", unit="of `currency`", adds_up=True
    )
    effective_cost: Amount = c.column(
        "The same after discounts and with commitments spread over their usage.",
        null="not stated",
        unit="of `currency`",
        adds_up=True,
    )
    cost_usd: Usd = c.usd(
        "billed_cost rounded half to even.", null="not stated, or in another currency"
    )

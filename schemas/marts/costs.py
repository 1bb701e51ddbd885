"""What the moving of bytes costs, and whether the bill agrees."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, TextList, Usd
from schemas.staging.billing import LINE_ITEM_TYPES
from schemas.table import Table, table

CHARGE_KINDS = ("transfer", "nat_processing", "endpoint_processing", "request")
PRICE_KINDS = ("listed", "candidates", "missing")

_TOO_LARGE = "or more than the column holds"
_NO_PRICE = f"bytes or the price of a candidate are not known, {_TOO_LARGE}"


@table(
    "marts",
    key=(
        "cluster", "run_uuid", "resource_id", "provider", "distance", "gateway", "charge_kind",
        "from_region", "to_region", "usage_type", "account_id", "billed_resource_id",
        "candidate_paths", "measured_by",
    ),
    scope="fleet",
    adds_within=("charge_kind",),
)  # fmt: skip
class TransferCosts(Table):
    """What one kind of charge for one run, resource and path comes to on one day, at list prices.

    Bytes pass several charges: they and the requests add up within one charge_kind only. Money adds
    up over all of them.
    """

    transfer_cost_id: str = c.row_id("row", "date and all columns of the key")
    cluster: str = c.cluster(null="no pod is named, or it is in none or several clusters")
    run_uuid: str = c.run_uuid()
    project: str = c.project()
    resource_id: str = c.column("Resource, as in design.md section 4.")
    provider: str = c.column(
        "Whose prices: the cloud that charges, else the kind of storage.",
        null="the cloud is not stated in the settings",
    )
    distance: str = c.column("How far the bytes went.", allowed=c.DISTANCES)
    gateway: str = c.column("What they passed.", allowed=c.GATEWAYS)
    charge_kind: str = c.column("What is charged.", allowed=CHARGE_KINDS)
    from_region: str = c.column(
        "Region that sent; of processing the gateway's, of requests the bucket's; `internet`: "
        "outside.",
        null="not known",
    )
    to_region: str = c.column(
        "Region that received; of processing the gateway's; `internet`: outside.",
        null="not known, or of requests none",
    )
    usage_type: str = c.column(
        "Usage type of the bill without its region codes, or a glob over usage types.",
        null="not known",
    )
    account_id: str = c.column(
        "Account that pays: the bucket owner's, the requester's if the settings say that it pays, "
        "else the cluster's.",
        null="not known",
    )
    billed_resource_id: str = c.column(
        "Resource of the bill's line: bucket, VPC endpoint.", null="not known"
    )
    candidate_paths: str = c.column(
        "Paths that evidence does not exclude, as `distance` or `distance/gateway`, with `; ` "
        "between them.",
        null="there is one",
    )
    measured_by: str = c.column("What measured the bytes or requests.", allowed=c.MEASURED_BY)
    bytes: pl.Int64 = c.byte_count(
        "Bytes charged.", null="not measured, not known whether they passed this, or of requests"
    )
    min_bytes: pl.Int64 = c.byte_count("Certain.", null="of requests")
    max_bytes: pl.Int64 = c.byte_count("Possible.", null="unbounded, or of requests")
    request_count: pl.Int64 = c.count("Requests charged.", null="not of requests")
    min_usd: Usd = c.usd("min_bytes, or the requests, at the cheapest price.", null=_NO_PRICE)
    usd: Usd = c.usd(
        "At the one price that holds; of several tiers the first that is not free.",
        null=f"bytes are not known, several prices are possible, {_TOO_LARGE}",
    )
    max_usd: Usd = c.usd("max_bytes, or the requests, at the dearest price.", null=_NO_PRICE)
    price_id: str = c.column("Price of `usd`.", null="several or none")
    price_kind: str = c.column(
        "`listed`: one price holds, whichever the path; `candidates`: several prices, or bytes "
        "that may not have passed it; `missing`: the price book has none for a candidate.",
        allowed=PRICE_KINDS,
    )
    missing_prices: TextList = c.column(
        "What the price book has no price for: provider, charge kind, distance, gateway and "
        "regions of each candidate.",
        null="none is missing",
    )
    is_price_verified: pl.Boolean = c.column(
        "All prices used are verified in the price book.", null="no price is used"
    )
    expected_us: pl.Int64 = c.pod_time_expected(
        "the run in this cluster on this day (of no run: of all pods without one)"
    )
    covered_us: pl.Int64 = c.pod_time_covered()
    empty_means: str = c.row_empty_means()


@table(
    "marts",
    key=(
        "provider", "account_id", "usage_type", "line_item_type", "from_region", "to_region",
        "resource_id", "period_end_at",
    ),
    scope="fleet",
)  # fmt: skip
class BillReconciliation(Table):
    """What is billed for moved bytes and requests beside what podledger explains, by line of bill.

    One row per account, day, usage type, region pair and resource as far as the bill's line states
    them. The charges of transfer_costs go to the most specific line that they fit; what fits none
    has a row without a bill, what nothing explains one that is all residual. A line of more than a
    day is billed on its first day; what is charged on its later days has rows of that key there.

    No run and no node: a row has no coverage of its own. What was not observed is in the residual;
    the rows of `transfer_cost_ids` say how far each was covered.
    """

    bill_reconciliation_id: str = c.row_id("row", "date and all columns of the key")
    residual_usd: Usd = c.usd(
        "Billed less explained.",
        null="explained or billed is not known, or no bill reaches over the day",
    )
    residual_bytes: pl.Int64 = c.signed_bytes(
        "Billed less explained.",
        null="explained is not known, no bill reaches over the day, or it is about requests",
    )
    provider: str = c.column("Who bills.", null="not billed, and the cloud is not stated")
    account_id: str = c.column("Account whose usage it is.", null="not stated or not known")
    usage_type: str = c.column("Usage type as the bill names it.", null="not stated or not known")
    line_item_type: str = c.column(
        "Kind of line; only `usage` is explained.", null="not billed", allowed=LINE_ITEM_TYPES
    )
    from_region: str = c.column("Region that bytes left.", null="not stated or not known")
    to_region: str = c.column("Region that bytes reached.", null="not stated or not known")
    resource_id: str = c.column("Bucket, gateway or ARN.", null="not stated or not known")
    period_end_at: Instant = c.column("End of the billed usage.", null="within the day")
    billed_bytes: pl.Int64 = c.signed_bytes("Bytes billed.", null="not billed by bytes")
    billed_usd: Usd = c.usd("Amount billed.", null="not billed, or in another currency")
    explained_bytes: pl.Int64 = c.byte_count(
        "Bytes explained, as the bill counts them.", null="not known, or it is about requests"
    )
    min_explained_usd: Usd = c.usd("Certain.", null="not known")
    explained_usd: Usd = c.usd("Best estimate.", null="not known")
    max_explained_usd: Usd = c.usd("Possible.", null="not known")
    effective_usd: Usd = c.usd(
        "The explained bytes or requests at the billed rate of the line.",
        null="not billed, nothing or not known what is explained",
    )
    billed_line_count: pl.Int64 = c.count("Lines of the bill.")
    explained_row_count: pl.Int64 = c.count("Rows of transfer_costs.")
    transfer_cost_ids: TextList = c.column(
        "Rows of transfer_costs, sorted, at most 100.", null="none"
    )
    is_final: pl.Boolean = c.column("All its lines are invoiced.", null="not stated, or no line")

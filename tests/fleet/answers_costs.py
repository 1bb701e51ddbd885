"""Answers: what the transfers whose path is determined cost, by list prices written down by hand.

Who sends pays, by the prices of its region: between the two regions 0.02 USD per 2^30 bytes either
way, between storage and clusters of one region nothing. Bodies of failed requests are charged like
others.
"""

from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal

from tests.fleet.answer import Table
from tests.fleet.transfers import transfers
from tests.fleet.world import Fleet

OTHER_REGION = Decimal("0.02")
GIB = 2**30
EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN)


def transfer_costs(fleet: Fleet) -> Table:
    """Return the charges for bytes of reads and writes between known regions."""
    table = Table(
        name="transfer_costs",
        columns=(
            "date", "cluster", "run_uuid", "project", "resource_id", "provider", "distance",
            "from_region", "to_region", "usage_type", "bytes", "min_bytes", "max_bytes", "min_usd",
            "usd", "max_usd", "price_kind",
        ),
        key=(
            "date", "cluster", "run_uuid", "resource_id", "from_region", "to_region", "usage_type",
        ),
        rows_where=(
            "charge_kind = 'transfer' AND measured_by = 'storage_log' AND distance <> 'unknown'"
        ),
    )  # fmt: skip
    moved: dict[tuple[date, str, str | None, str | None, str, str, str, bool], int] = {}
    for item in transfers(fleet):
        count = item.bytes + item.error_bytes
        if item.pod is None or item.reader_region is None or item.bucket_region is None:
            continue
        if item.operation not in {"read", "write", "list"} or count == 0:
            continue
        is_write = item.operation == "write"
        ends = (item.bucket_region, item.reader_region)
        run = (item.run.uuid, item.run.project) if item.run is not None else (None, None)
        start, end = reversed(ends) if is_write else ends
        key = (
            item.start.date(), item.pod.cluster.name, *run, item.resource_id, start, end, is_write,
        )  # fmt: skip
        moved[key] = moved.get(key, 0) + count
    for (day, cluster, uuid, project, resource, start, end, is_write), count in moved.items():
        rate = OTHER_REGION if start != end else Decimal(0)
        usd = EXACT.divide(EXACT.multiply(Decimal(count), rate), Decimal(GIB))
        amount = f"{usd.quantize(Decimal('1e-9'), context=EXACT):f}"
        near = f"C3DataTransfer-{'In' if is_write else 'Out'}-Bytes"
        table.add(
            date=day,
            cluster=cluster,
            run_uuid=uuid,
            project=project,
            resource_id=resource,
            provider="aws",
            distance="same_region" if start == end else "cross_region",
            from_region=start,
            to_region=end,
            usage_type=near if start == end else "AWS-Out-Bytes",
            bytes=count,
            min_bytes=count,
            max_bytes=count,
            min_usd=amount,
            usd=amount,
            max_usd=amount,
            price_kind="listed",
        )
    return table

"""The rows that the six example queries of the fixtures' README return."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

from tests.fleet.answer import Table
from tests.fleet.answers_dependencies import Use, dependencies, uses
from tests.fleet.answers_runs import active_days, observed
from tests.fleet.answers_storage import Fetch, repeats
from tests.fleet.world import Fleet

GIB = 2**30
OTHER_REGION = Decimal("0.02")
INTERFACE_ENDPOINT = Decimal("0.01")
"""List prices in USD of 2^30 bytes."""


def queries(fleet: Fleet) -> list[Table]:
    """Return the six answers; the SQL stands in the README beside them."""
    return [
        _inventory(fleet),
        _across_regions(fleet),
        _repeats_by_node(fleet),
        _denied(fleet),
        _incomplete(fleet),
        _again_across_regions(fleet),
    ]


def _inventory(fleet: Fleet) -> Table:
    """State which resources most runs of the project vision depend on."""
    table = Table(
        "readme_queries/1",
        ("resource_id", "operation", "run_count", "received_bytes"),
        ("resource_id", "operation"),
    )
    for row in dependencies(fleet).rows:
        if row["project"] == "vision" and row["operation"] in {"connect", "read"}:
            table.add(**{name: row[name] for name in table.columns})
    return table


def _across_regions(fleet: Fleet) -> Table:
    """State the bytes that each project read from a bucket of another region."""
    table = Table(
        "readme_queries/2",
        ("project", "reader_region", "bucket_region", "received_bytes"),
        ("project", "reader_region", "bucket_region"),
    )
    sums: dict[tuple[str, str, str], int] = {}
    for use in uses(fleet):
        region = _only(use)
        if use.operation != "read" or use.run is None or region is None or use.received is None:
            continue
        assert use.bucket_region is not None
        if region != use.bucket_region:
            key = (use.run.project, region, use.bucket_region)
            sums[key] = sums.get(key, 0) + use.received
    for (project, reader, bucket), count in sums.items():
        table.add(project=project, reader_region=reader, bucket_region=bucket, received_bytes=count)
    return table


def _only(use: Use) -> str | None:
    return next(iter(use.reader_regions)) if len(use.reader_regions) == 1 else None


def _repeats_by_node(fleet: Fleet) -> Table:
    """State which object a node fetched again, for which run, and the bytes."""
    table = Table(
        "readme_queries/3",
        ("node", "object_id", "run_name", "previous_at", "start_at", "min_repeat_bytes"),
        ("node", "object_id", "start_at"),
    )
    for row in repeats(fleet):
        item = row["fetch"]
        assert isinstance(item, Fetch)
        if row["scope"] != "node" or row["scope_id"] is None:
            continue
        table.add(
            node=row["scope_id"],
            object_id=item.object_id,
            run_name=item.run.name if item.run is not None else None,
            previous_at=row["previous_at"],
            start_at=item.start,
            min_repeat_bytes=row["min_repeat_bytes"],
        )
    return table


def _denied(fleet: Fleet) -> Table:
    """State what runs were denied or did not find."""
    table = Table(
        "readme_queries/4",
        ("run_name", "resource_id", "operation", "denied_count", "not_found_count"),
        ("run_name", "resource_id", "operation"),
    )
    sums: dict[tuple[str, str, str], tuple[int, int]] = {}
    for use in uses(fleet):
        if use.run is None or not (use.denied_count or use.not_found_count):
            continue
        key = (use.run.name, use.resource_id, use.operation)
        denied, missing = sums.get(key, (0, 0))
        sums[key] = (denied + use.denied_count, missing + use.not_found_count)
    for (name, resource, operation), (denied, missing) in sums.items():
        table.add(
            run_name=name,
            resource_id=resource,
            operation=operation,
            denied_count=denied,
            not_found_count=missing,
        )
    return table


def _incomplete(fleet: Fleet) -> Table:
    """State the runs that Hubble saw only in part, as last known."""
    table = Table(
        "readme_queries/5",
        ("run_name", "source", "covered_us", "expected_us", "lost_count", "empty_means"),
        ("run_name", "source"),
    )
    for run in fleet.runs:
        days = active_days(fleet, run)
        seen = observed(fleet, run, days[-1])
        if seen.expected and seen.covered < seen.expected:
            table.add(
                run_name=run.name,
                source="flows",
                covered_us=seen.covered,
                expected_us=seen.expected,
                lost_count=seen.lost,
                empty_means=seen.empty_means,
            )
    return table


def _again_across_regions(fleet: Fleet) -> Table:
    """State what runs read again from a bucket of another region, and what it cost.

    The storage saw private addresses and named no endpoint: the bytes passed a gateway endpoint,
    which is free, or an interface endpoint, which is charged beside the way between the regions.
    """
    table = Table(
        "readme_queries/6",
        (
            "project", "run_name", "dataset_id", "bucket_region", "reader_region",
            "min_repeat_bytes", "max_repeat_bytes", "min_usd", "max_usd", "unpriced_count",
        ),
        ("run_name", "dataset_id", "bucket_region", "reader_region"),
    )  # fmt: skip
    sums: dict[tuple[str | None, ...], tuple[int, int, Decimal, Decimal]] = {}
    for row in repeats(fleet):
        item, least, most = row["fetch"], row["min_repeat_bytes"], row["max_repeat_bytes"]
        assert isinstance(item, Fetch)
        assert isinstance(least, int)
        assert isinstance(most, int)
        region = item.place("region")
        if row["scope"] != "region" or None in {region, item.bucket_region}:
            continue
        if region == item.bucket_region:
            continue
        run = (item.run.project, item.run.name) if item.run is not None else (None, None)
        key = (*run, item.dataset_id, item.bucket_region, region)
        before = sums.get(key, (0, 0, Decimal(0), Decimal(0)))
        sums[key] = (
            before[0] + least,
            before[1] + most,
            before[2] + _usd(least, OTHER_REGION),
            before[3] + _usd(most, OTHER_REGION) + _usd(most, INTERFACE_ENDPOINT),
        )
    for (project, name, dataset, bucket, reader), (least, most, low, high) in sums.items():
        table.add(
            project=project,
            run_name=name,
            dataset_id=dataset,
            bucket_region=bucket,
            reader_region=reader,
            min_repeat_bytes=least,
            max_repeat_bytes=most,
            min_usd=f"{low:f}",
            max_usd=f"{high:f}",
            unpriced_count=0,
        )
    return table


def _usd(count: int, price: Decimal) -> Decimal:
    exact = Context(prec=60, rounding=ROUND_HALF_EVEN)
    usd = exact.divide(exact.multiply(Decimal(count), price), Decimal(GIB))
    return usd.quantize(Decimal("1e-9"), context=exact)

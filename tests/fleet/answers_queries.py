"""The rows that the five example queries of the fixtures' README return."""

from tests.fleet.answer import Table
from tests.fleet.answers_dependencies import Use, dependencies, uses
from tests.fleet.answers_runs import active_days, observed
from tests.fleet.answers_storage import Fetch, repeats
from tests.fleet.world import Fleet


def queries(fleet: Fleet) -> list[Table]:
    """Return the five answers; the SQL stands in the README beside them."""
    return [
        _inventory(fleet),
        _across_regions(fleet),
        _repeats_by_node(fleet),
        _denied(fleet),
        _incomplete(fleet),
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

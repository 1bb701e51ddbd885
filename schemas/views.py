"""Views of the catalogue: computed from tables, and no file of the lake."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant
from schemas.table import SPEC_ATTRIBUTE, Table, TableSpec, table

_UNBOUNDED = "not measured or unbounded"
_SIGNED = "; of `(unresolved)` negative where rows show more than the source that counts"


@table("marts", key=("project", "resource_id", "operation"), scope="fleet")
class Dependencies(Table):
    """What one project does to one resource over a range of days, without the day in between.

    Resource `(unresolved)` holds the bytes that byte_balance chose and no other row shows: with it
    rows add up to what was chosen. The view is over all days, the macro
    `dependencies(from_date, to_date)` over the given ones.
    """

    project: str = c.column(
        "Project; `(no run)` for pods of no run, `(unattributed)` for what no pod is known for.",
        null="runs whose project nothing names",
    )
    resource_id: str = c.column("Resource, as in design.md section 4.")
    operation: str = c.column("What was done.", allowed=c.OPERATIONS)
    service: str = c.column(
        "Group of hosts that serve one thing.",
        null="not in the catalogue, or only in an unverified row",
    )
    resource_kind: str = c.column("bucket, dataset, host, address, service, node, image, git, ….")
    run_count: pl.Int64 = c.count("Runs that did it.", adds_up=False)
    pod_count: pl.Int64 = c.count("Pods that did it.", adds_up=False)
    connection_count: pl.Int64 = c.count("Connections started.")
    request_count: pl.Int64 = c.count("Requests in a request log.")
    denied_count: pl.Int64 = c.count("Connections dropped by policy, requests 401 or 403.")
    throttled_count: pl.Int64 = c.count("Requests 429 or 503.")
    not_found_count: pl.Int64 = c.count("Requests 404.")
    error_count: pl.Int64 = c.count("Other failures.")
    received_bytes: pl.Int64 = c.signed_bytes(f"Bytes to the pods{_SIGNED}.", null="not measured")
    min_received_bytes: pl.Int64 = c.signed_bytes("Certain.", null="not measured")
    max_received_bytes: pl.Int64 = c.signed_bytes("Possible.", null=_UNBOUNDED)
    sent_bytes: pl.Int64 = c.signed_bytes(f"Bytes from the pods{_SIGNED}.", null="not measured")
    min_sent_bytes: pl.Int64 = c.signed_bytes("Certain.", null="not measured")
    max_sent_bytes: pl.Int64 = c.signed_bytes("Possible.", null=_UNBOUNDED)
    first_seen_at: Instant = c.column("First time in the range.")
    last_seen_at: Instant = c.column("Last time in the range.")
    coverage_ratio: pl.Float64 = c.ratio(
        "Covered share of the pod time behind those of its rows that a source of hours shows.",
        null="no pod is known, or no source of hours is able to show any of them",
    )
    is_new: bool = c.column(
        "Not seen in the 30 days before the range.",
        null="not seen in those of the 30 days that are built, but not all are; or `(unresolved)`",
    )


def views() -> dict[str, TableSpec]:
    """All views by name."""
    spec = vars(Dependencies)[SPEC_ATTRIBUTE]
    return {spec.name: spec}

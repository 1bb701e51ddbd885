"""What runs connect to."""

from typing import Any

import polars as pl

from schemas import columns as c
from schemas.columns import CoveredSources, Instant, KindCounts, TextList
from schemas.table import Table, table

DECLARATIONS = (
    "declared_seen", "declared_not_seen", "declared_denied", "declared_not_observable",
    "seen_not_declared",
)  # fmt: skip
ENDPOINT_KINDS = ("primary", "redirect", "blob", "auth", "metadata")


def _endpoint_kind() -> Any:  # noqa: ANN401  pandera's Field is untyped
    return c.column(
        "Part that the endpoint plays in its service.",
        null="not in the catalogue, or only in an unverified row",
        allowed=ENDPOINT_KINDS,
    )


def _primary() -> Any:  # noqa: ANN401  pandera's Field is untyped
    return c.column(
        "Primary host of the same service that sent the pods on to this redirect or blob host, or "
        "to which this one sent them, within 10 s.",
        null="not such a host, or none or several can have",
    )


@table(
    "marts",
    key=(
        "cluster", "run_uuid", "attempt", "container_role", "stage", "resource_id", "endpoint",
        "operation", "measured_by",
    ),
    scope="fleet",
)  # fmt: skip
class RunDependencyDays(Table):
    """What one attempt of one run did to one resource on one day; rows add up over days.

    `run_uuid` is null for what no run owns, `project` then is null too. Bytes of what a request
    log explains stand once: the network row has null bytes and `accounted_in`.
    """

    run_dependency_day_id: str = c.row_id("row", "date and all columns of the key")
    cluster: str = c.cluster(null="no pod is named")
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    container_role: str = c.container_role()
    stage: str = c.stage()
    resource_id: str = c.column("Resource, as in design.md section 4.")
    endpoint: str = c.column(
        "Host contacted.", null="not logged, or inside the cluster: resource_id names it"
    )
    operation: str = c.column("What was done.", allowed=c.OPERATIONS)
    measured_by: str = c.column("What measured the bytes.", allowed=c.MEASURED_BY)
    project: str = c.project()
    service: str = c.column(
        "Group of hosts that serve one thing.",
        null="not in the catalogue, or only in an unverified row",
    )
    purpose: str = c.column(
        "What the endpoint is for, in words; behind `unverified:` only a hint.",
        null="not in the catalogue",
    )
    resource_kind: str = c.column("bucket, dataset, host, address, service, node, image, git, ….")
    endpoint_kind: str = _endpoint_kind()
    primary_resource_id: str = _primary()
    principal: str = c.column("Who asked, if one.", null="none, several or not logged")
    reader_region: str = c.column("Region of the pods, if one.", null="unknown or several")
    resource_region: str = c.column("Region of the resource, if one.", null="unknown or several")
    pod_uids: TextList = c.column("Pods that did it, sorted.")
    first_seen_at: Instant = c.column("First time on this day.")
    last_seen_at: Instant = c.column("Last time on this day.")
    connection_count: pl.Int64 = c.count("Connections started.")
    request_count: pl.Int64 = c.count("Requests in a request log.")
    denied_count: pl.Int64 = c.count("Connections dropped by policy, requests 401 or 403.")
    throttled_count: pl.Int64 = c.count("Requests 429 or 503.")
    not_found_count: pl.Int64 = c.count("Requests 404.")
    error_count: pl.Int64 = c.count("Other failures.")
    retry_count: pl.Int64 = c.count("Attempts after the first of a connection.")
    first_error: str = c.column("First error.", null="none")
    received_bytes: pl.Int64 = c.byte_count("Bytes to the pods.", null="not measured")
    min_received_bytes: pl.Int64 = c.byte_count("Certain.", null="not measured")
    max_received_bytes: pl.Int64 = c.byte_count("Possible.", null="not measured or unbounded")
    sent_bytes: pl.Int64 = c.byte_count("Bytes from the pods.", null="not measured")
    min_sent_bytes: pl.Int64 = c.byte_count("Certain.", null="not measured")
    max_sent_bytes: pl.Int64 = c.byte_count("Possible.", null="not measured or unbounded")
    accounted_in: str = c.column("Resource whose row has these bytes.", null="bytes stand here")
    byte_layer: str = c.column("Layer.", null="not measured", allowed=c.BYTE_LAYERS)
    match_kind: str = c.column("Weakest rung.", allowed=c.POD_MATCH_KINDS)
    match_kind_counts: KindCounts = c.kind_counts("pod")
    name_kind: str = c.column(
        "Weakest rung.", null="no name is needed: a request log names it", allowed=c.NAME_KINDS
    )
    name_kind_counts: KindCounts = c.kind_counts("name")
    sources: TextList = c.column("Staging tables that tell it, sorted.")
    expected_us: pl.Int64 = c.pod_time_expected(
        "the run in this cluster on this day (of no run: of all pods without one)"
    )
    covered_us: pl.Int64 = c.pod_time_covered()
    empty_means: str = c.row_empty_means()


@table(
    "marts",
    key=("run_uuid", "attempt", "container_role", "stage", "resource_id", "endpoint", "operation"),
    scope="fleet",
    as_of=True,
)
class RunDependencies(Table):
    """What one attempt of one run did to one resource in its life up to the end of the day.

    Whether bytes support a statement: the macro `supports(min_received_bytes, max_received_bytes,
    1000000000)` says yes, no or unknown of "more than a gigabyte"; of whole runs, the macro
    `runs_reading_more_than(1000000000)`.
    """

    run_dependency_id: str = c.row_id("row", "all columns of the key")
    run_uuid: str = c.run_uuid(null=None)
    attempt: pl.Int64 = c.attempt(null="declared, but no pod of the run was seen")
    container_role: str = c.container_role()
    stage: str = c.stage()
    resource_id: str = c.column("Resource, as in design.md section 4.")
    endpoint: str = c.column(
        "Host contacted.",
        null="not contacted or not logged, or inside the cluster: resource_id names it",
    )
    operation: str = c.column("What was done or declared.", allowed=c.OPERATIONS)
    cluster: str = c.cluster(null="no pod of the run was seen")
    project: str = c.project()
    service: str = c.column(
        "Group of hosts.", null="not in the catalogue, or only in an unverified row"
    )
    purpose: str = c.column("What the endpoint is for.", null="not in the catalogue")
    resource_kind: str = c.column("Kind of the resource.")
    endpoint_kind: str = _endpoint_kind()
    primary_resource_id: str = _primary()
    version: str = c.column("Version used.", null="not known")
    version_basis: str = c.column("How: declared, observed.", null="no version")
    credential: str = c.column("Name of the secret declared.", null="none declared")
    principal: str = c.column("Who asked, if one.", null="none, several or not logged")
    declaration: str = c.column("Declared, seen, or both.", allowed=DECLARATIONS)
    first_seen_at: Instant = c.column("First time.", null="not seen")
    last_seen_at: Instant = c.column("Last time.", null="not seen")
    connection_count: pl.Int64 = c.count("Connections started.", adds_up=False)
    request_count: pl.Int64 = c.count("Requests in a request log.", adds_up=False)
    denied_count: pl.Int64 = c.count("Denied.", adds_up=False)
    throttled_count: pl.Int64 = c.count("Throttled.", adds_up=False)
    not_found_count: pl.Int64 = c.count("Not found.", adds_up=False)
    error_count: pl.Int64 = c.count("Other failures.", adds_up=False)
    retry_count: pl.Int64 = c.count("Attempts after the first.", adds_up=False)
    first_error: str = c.column("First error.", null="none")
    received_bytes: pl.Int64 = c.byte_count("To the pods.", null="not measured", adds_up=False)
    min_received_bytes: pl.Int64 = c.byte_count("Certain.", null="not measured", adds_up=False)
    max_received_bytes: pl.Int64 = c.byte_count(
        "Possible. The macro supports(min_received_bytes, max_received_bytes, X) says yes, no or "
        "unknown of `more than X`, runs_reading_more_than(X) of whole runs.",
        null="unbounded",
        adds_up=False,
    )
    sent_bytes: pl.Int64 = c.byte_count("From the pods.", null="not measured", adds_up=False)
    min_sent_bytes: pl.Int64 = c.byte_count("Certain.", null="not measured", adds_up=False)
    max_sent_bytes: pl.Int64 = c.byte_count("Possible.", null="unbounded", adds_up=False)
    measured_by: str = c.column("Best source of the bytes.", allowed=c.MEASURED_BY)
    accounted_in: str = c.column("Resource whose row has these bytes.", null="bytes stand here")
    byte_layer: str = c.column("Layer.", null="not measured or several", allowed=c.BYTE_LAYERS)
    match_kind: str = c.column("Weakest rung.", null="not seen", allowed=c.POD_MATCH_KINDS)
    match_kind_counts: KindCounts = c.kind_counts("pod")
    name_kind: str = c.column("Weakest rung.", null="no name is needed", allowed=c.NAME_KINDS)
    name_kind_counts: KindCounts = c.kind_counts("name")
    sources: TextList = c.column("Staging tables that tell it, sorted.")
    coverage: CoveredSources = c.column("Pod time covered per source able to show it.")
    coverage_ratio: pl.Float64 = c.ratio(
        "Covered share of the best source able to show it.", null="no source able to show it"
    )
    empty_means: str = c.column("What absence says.", allowed=c.EMPTY_MEANS)
    is_final: pl.Boolean = c.column("The run has ended and the day is final.")

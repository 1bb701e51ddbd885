"""The shared column types and the columns that several tables have under one name.

A column always has a description; a column that may be null says what null means; a number has a
unit and says whether it adds up. Shared columns are functions so that each table can say what null
means there.
"""

from typing import Annotated, Any

import pandera.polars as pa
import polars as pl

Instant = Annotated[pl.Datetime, "us", "UTC"]
Usd = Annotated[pl.Decimal, 18, 9]
Amount = Annotated[pl.Decimal, 38, 18]
"""An amount exactly as a bill states it; bills have ten to eighteen decimal places."""
TextList = Annotated[pl.List, pl.String]
Instants = Annotated[pl.List, pl.Datetime("us", "UTC")]

BYTE_RANGE = pl.Struct({"start": pl.Int64, "stop": pl.Int64, "count": pl.Int64})
ByteRanges = Annotated[pl.List, BYTE_RANGE]

PAIR = pl.Struct({"name": pl.String, "value": pl.String})
Pairs = Annotated[pl.List, PAIR]

ANSWER = pl.Struct({"name": pl.String, "type": pl.String, "data": pl.String, "ttl": pl.Int64})
Answers = Annotated[pl.List, ANSWER]

CONDITION = pl.Struct(
    {
        "type": pl.String,
        "status": pl.String,
        "reason": pl.String,
        "message": pl.String,
        "transition_at": pl.Datetime("us", "UTC"),
    }
)
Conditions = Annotated[pl.List, CONDITION]

PORT = pl.Struct(
    {
        "name": pl.String,
        "port": pl.Int64,
        "target_port": pl.String,
        "protocol": pl.String,
        "container": pl.String,
    }
)
Ports = Annotated[pl.List, PORT]

CLAIM = pl.Struct({"name": pl.String, "claim": pl.String, "template": pl.String})
Claims = Annotated[pl.List, CLAIM]

DECLARED_ACCESS = pl.Struct(
    {
        "component": pl.String,
        "container_role": pl.String,
        "resource_kind": pl.String,
        "resource_id": pl.String,
        "operation": pl.String,
        "version": pl.String,
        "credential": pl.String,
        "connection": pl.String,
        "needed_in_stage": pl.String,
        "declared_in": pl.String,
    }
)
DeclaredAccesses = Annotated[pl.List, DECLARED_ACCESS]

ROW_RANGE = pl.Struct({"first": pl.Int64, "count": pl.Int64})

TABLE_ROWS = pl.Struct(
    {
        "table_name": pl.String,
        "first_row": pl.Int64,
        "row_count": pl.Int64,
        "repeated": pl.List(ROW_RANGE),
    }
)
TableRows = Annotated[pl.List, TABLE_ROWS]

KIND_COUNT = pl.Struct({"kind": pl.String, "count": pl.Int64})
KindCounts = Annotated[pl.List, KIND_COUNT]

COVERED_SOURCE = pl.Struct({"source": pl.String, "covered_us": pl.Int64, "expected_us": pl.Int64})
CoveredSources = Annotated[pl.List, COVERED_SOURCE]

CONTAINER_ROLES = ("init", "main", "sidecar", "ephemeral", "node_runtime")
OPERATIONS = (
    "read", "write", "list", "head", "delete", "copy", "other",
    "connect", "resolve", "pull", "clone",
)  # fmt: skip
OBJECT_OPERATIONS = ("read", "write", "list", "head", "delete", "copy", "other")
DATASET_BASES = ("declared", "settings", "prefix")
STAGES = (
    "admission", "queued", "scheduling", "volume_mount", "sandbox", "image_pull", "init",
    "startup", "download", "compute", "interactive", "upload", "teardown", "unknown",
)  # fmt: skip
DIRECTIONS = ("receive", "transmit")
BYTE_LAYERS = ("frame", "packet", "payload", "body")
MEASURED_BY = (
    "storage_log", "registry_log", "flow_record", "sampled_flow_record", "interface_counter",
    "application_log", "image_size", "none",
)  # fmt: skip
POD_MATCH_KINDS = (
    "uid", "access_key", "session_arn", "name_window", "address_window", "session_name", "app_id",
    "service_account", "node", "shared_address", "ambiguous", "conflict", "none",
)  # fmt: skip
"""The pod ladder of design.md section 5, best first; the last four are no match."""
NAME_KINDS = (
    "http_host", "tls_name", "dns_pod", "dns_node", "dns_cluster", "flow_names", "dns_time",
    "kube_service", "well_known_address", "address_range", "ambiguous", "none",
)  # fmt: skip
CONTAINER_KINDS = (
    "socket", "user_agent", "only_running", "declared_by_one", "several", "none",
)  # fmt: skip
RUN_MATCH_KINDS = ("label", "instance_label", "environment", "name", "conflict", "none")
DISTANCES = (
    "same_node", "same_zone", "cross_zone", "same_region", "cross_region", "internet", "unknown",
)  # fmt: skip
GATEWAYS = (
    "none", "nat", "proxy", "gateway_endpoint", "interface_endpoint", "peering", "transit",
    "unknown",
)  # fmt: skip
EMPTY_MEANS = ("nothing_happened", "not_observed", "partly_observed")
NOT_OBSERVABLE = "no pod is known, or no source of hours is able to show it"


def column(
    description: str,
    *,
    null: str | None = None,
    unit: str = "",
    adds_up: bool = False,
    allowed: tuple[str, ...] = (),
    minimum: int | None = None,
) -> Any:  # noqa: ANN401  pandera's Field is untyped
    """Declare one column.

    Args:
        description: What the value is.
        null: What null means; leaving it out forbids null.
        unit: Unit of a number.
        adds_up: Whether values of several rows may be added.
        allowed: The only values a text may hold.
        minimum: Smallest number allowed.
    """
    return pa.Field(
        description=description,
        nullable=null is not None,
        isin=list(allowed) or None,
        ge=minimum,
        metadata={
            "null_meaning": null or "",
            "unit": unit,
            "adds_up": adds_up,
            "allowed": allowed,
            "minimum": minimum,
        },
    )


def byte_count(description: str, *, null: str | None = None, adds_up: bool = True) -> Any:  # noqa: ANN401
    """A number of bytes, never negative."""
    return column(description, null=null, unit="bytes", adds_up=adds_up, minimum=0)


def signed_bytes(description: str, *, null: str | None = None) -> Any:  # noqa: ANN401
    """A difference of bytes, which may be negative."""
    return column(description, null=null, unit="bytes", adds_up=True)


def count(description: str, *, null: str | None = None, adds_up: bool = True) -> Any:  # noqa: ANN401
    """A number of things, never negative."""
    return column(description, null=null, unit="count", adds_up=adds_up, minimum=0)


def seconds(description: str, *, null: str | None = None, adds_up: bool = False) -> Any:  # noqa: ANN401
    """A duration in seconds."""
    return column(description, null=null, unit="seconds", adds_up=adds_up)


def microseconds(description: str, *, null: str | None = None) -> Any:  # noqa: ANN401
    """A duration as a whole number, so that sums do not depend on their order."""
    return column(description, null=null, unit="microseconds", adds_up=True, minimum=0)


def ratio(description: str, *, null: str | None = None) -> Any:  # noqa: ANN401
    """A share between 0 and 1; ratios never add up."""
    return column(description, null=null, unit="ratio")


def usd(description: str, *, null: str | None = None) -> Any:  # noqa: ANN401
    """An amount of money."""
    return column(description, null=null, unit="USD", adds_up=True)


def row_id(table_singular: str, key: str) -> Any:  # noqa: ANN401
    """Id of a derived row: md5 of its key (definitions.md 11)."""
    return column(f"Id of this {table_singular}: lower-case hex md5 of {key}.")


def cluster(null: str | None = None) -> Any:  # noqa: ANN401
    """Cluster name of the settings."""
    return column("Cluster, as named in the settings.", null=null)


def namespace(null: str | None = "not stated by the source") -> Any:  # noqa: ANN401
    """Kubernetes namespace."""
    return column("Kubernetes namespace.", null=null)


def pod_name(null: str | None = "not stated by the source") -> Any:  # noqa: ANN401
    """Pod name, which may return with another UID."""
    return column("Pod name; names return, only the UID identifies a pod.", null=null)


def pod_uid(null: str | None = "exactly one pod is not named by the evidence") -> Any:  # noqa: ANN401
    """Pod UID, dashed lower case."""
    return column("Pod UID, lower case with dashes.", null=null)


def node(null: str | None = "not stated by the source") -> Any:  # noqa: ANN401
    """Node name without a cluster prefix."""
    return column("Node name, without the cluster prefix that some sources add.", null=null)


def container(null: str | None = "no single container is named by the evidence") -> Any:  # noqa: ANN401
    """Container name."""
    return column("Container name.", null=null)


def container_role(null: str | None = "no single container is named by the evidence") -> Any:  # noqa: ANN401
    """Role of the container in its pod."""
    return column("Role of the container in its pod.", null=null, allowed=CONTAINER_ROLES)


def run_uuid(null: str | None = "no run owns this") -> Any:  # noqa: ANN401
    """Polyaxon run uuid."""
    return column("Polyaxon run uuid, 32 hex digits.", null=null)


def attempt(null: str | None = "no run, or the pod's order in it is unknown") -> Any:  # noqa: ANN401
    """Attempt of a run."""
    return column(
        "Attempt of the run, from 1: pods by creation within run, replica type and index.",
        null=null,
        unit="ordinal",
        minimum=1,
    )


def project(null: str | None = "no detail, annotation or path names it") -> Any:  # noqa: ANN401
    """Polyaxon project."""
    return column("Polyaxon project of the run.", null=null)


def run_owner(null: str | None = "no detail or annotation names it") -> Any:  # noqa: ANN401
    """Polyaxon owner."""
    return column("Polyaxon owner (organisation or user) of the run.", null=null)


def event_at(null: str | None = None) -> Any:  # noqa: ANN401
    """When it happened."""
    return column("When it happened, UTC.", null=null)


def start_at(null: str | None = None) -> Any:  # noqa: ANN401
    """Start, inclusive."""
    return column("Start, UTC, inclusive.", null=null)


def end_at(null: str | None = None) -> Any:  # noqa: ANN401
    """End, exclusive."""
    return column("End, UTC, exclusive.", null=null)


def observed_at() -> Any:  # noqa: ANN401
    """Time at which a state held."""
    return column("When this state was observed; it speaks for the time from creation to here.")


def observed_basis() -> Any:  # noqa: ANN401
    """Where observed_at comes from."""
    return column(
        "Where observed_at comes from: the record, the file's path or the end of the landing day.",
        allowed=("record", "path", "landing_day"),
    )


def source_format() -> Any:  # noqa: ANN401
    """Parser that read the record."""
    return column("Parser that read the record, as named in the settings.")


def record_id() -> Any:  # noqa: ANN401
    """Identity of the record in its source."""
    return column("Identity of the record in its source; equal ids in one scope and format repeat.")


def export_file_id() -> Any:  # noqa: ANN401
    """File that holds the record."""
    return column("Export file that holds the record.")


def record_index() -> Any:  # noqa: ANN401
    """Place of the record in its file."""
    return column("Ordinal of the record among the file's non-blank records, from 0.", minimum=0)


def stage() -> Any:  # noqa: ANN401
    """Stage of the container's life."""
    return column("Stage of the container's life; `unknown` where none is known.", allowed=STAGES)


def kind_counts(what: str) -> Any:  # noqa: ANN401
    """How many rows stand on each rung of a ladder."""
    return column(f"How many of the rows counted stand on each rung of the {what} ladder.")


def pod_time_expected(of: str, null: str = NOT_OBSERVABLE) -> Any:  # noqa: ANN401
    """Pod time that should have been observed by what shows such a row."""
    # Several rows are about the same pod time.
    return column(
        f"Pod time of {of} that the source able to show this row should have observed.",
        null=null,
        unit="microseconds",
        minimum=0,
    )


def pod_time_covered(null: str = NOT_OBSERVABLE) -> Any:  # noqa: ANN401
    """Pod time that was observed by what shows such a row."""
    return column(
        "That of it which the source covered: of a named host the lesser of flows and look-ups, of "
        "an address the greater of flows and flow records, of an object its bucket's log.",
        null=null,
        unit="microseconds",
        minimum=0,
    )


def row_empty_means() -> Any:  # noqa: ANN401
    """What it says that nothing more was seen of a row's kind."""
    return column(
        "What it says that no more such rows are there: `nothing_happened` only where all of that "
        "time is covered and none in doubt.",
        null="states, events or the node tell it, which speak for no hours",
        allowed=EMPTY_MEANS,
    )

"""Where the time went, and what failed over and over."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, TextList
from schemas.intermediate.stages import STAGE_STEPS
from schemas.table import Table, table

CAUSES = (
    "working", "placement", "sandbox", "image_pull", "volume", "resolve", "authenticate", "connect",
    "transfer", "throttled", "retry", "denied", "upload", "unexplained",
)  # fmt: skip
ACTIVITIES = (
    "object_access", "resolve", "connect", "image_pull", "volume_mount", "sandbox", "container",
)  # fmt: skip
ERROR_CLASSES = (
    "policy_drop", "connection_failure", "name_failure", "credentials", "forbidden", "not_found",
    "throttled", "server_error", "timeout", "disk", "exit", "other",
)  # fmt: skip
OWNERS = ("ml_team", "platform", "storage", "network", "registry", "identity")
RETRY_ENDS = ("recovered", "gave_up", "unbounded", "unknown")


@table(
    "marts",
    key=("cluster", "run_uuid", "pod_uid", "container", "start_at"),
    scope="fleet",
)
class Waits(Table):
    """One part of one stage on one day with one cause; the parts tile the stage exactly.

    Days add up: what crosses midnight is cut there. Container and pod_uid are null as in `stages`.
    """

    wait_id: str = c.row_id("part", "cluster, run_uuid, pod_uid, container, start_at")
    cluster: str = c.cluster(null="no pod of the run was seen yet")
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt(null="no run, or no pod that it led to was seen")
    project: str = c.project()
    namespace: str = c.namespace(null="before a pod")
    pod_name: str = c.pod_name(null="before a pod")
    pod_uid: str = c.pod_uid(null="before a pod")
    node: str = c.node(null="not bound to a node yet")
    container: str = c.container(null="the pod as a whole, or the run before its pod")
    container_role: str = c.container_role(null="the pod as a whole, or the run before its pod")
    stage: str = c.stage()
    stage_id: str = c.column("Stage of `stages` that it is a part of.")
    step: str = c.column(
        "Part of the stage, as in `stages`.",
        null="nothing tells parts apart",
        allowed=STAGE_STEPS,
    )
    cause: str = c.column("What it waited for; `working` where it did not wait.", allowed=CAUSES)
    resource_id: str = c.column(
        "What it waited for, as in design.md section 4.", null="no resource, or several at once"
    )
    start_at: Instant = c.start_at()
    end_at: Instant = c.column("End, UTC, exclusive; at most the end of the day.")
    duration_us: pl.Int64 = c.microseconds("Length of this part.")
    seconds: pl.Float64 = c.seconds("duration_us in seconds; add up duration_us instead.")
    gpu_us: pl.Int64 = c.column(
        "GPUs of the pod times the time that stands to its account, once per pod.",
        null="the pod's requests are not known",
        unit="GPU microseconds",
        adds_up=True,
        minimum=0,
    )
    gpu_seconds: pl.Float64 = c.column(
        "gpu_us in GPU-seconds; add up gpu_us instead.",
        null="the pod's requests are not known",
        unit="GPU seconds",
    )
    transferred_bytes: pl.Int64 = c.byte_count(
        "Body bytes of the logged requests that ended within this part.",
        null="no request log tells of it",
    )
    bytes_per_second: pl.Float64 = c.column(
        "Throughput: transferred_bytes by seconds.",
        null="it is no transfer, or no request log tells of it",
        unit="bytes per second",
        minimum=0,
    )
    first_error: str = c.column("First error within its evidence.", null="none")
    match_kind: str = c.column(
        "Weakest rung of the pod ladder of its evidence.",
        null="its evidence is the pod's own states and events, or there is none",
        allowed=c.POD_MATCH_KINDS,
    )
    container_kind: str = c.column(
        "Weakest rung of the container ladder of its evidence.",
        null="its evidence is the pod's own states and events, or there is none",
        allowed=c.CONTAINER_KINDS,
    )
    sources: TextList = c.column("Tables that tell it, sorted.")
    evidence_ids: TextList = c.column(
        "Rows that tell it, sorted, ten at most: connections, transfers, records."
    )
    expected_us: pl.Int64 = c.pod_time_expected(
        "the run in this cluster on this day (of no run: of all pods without one)"
    )
    covered_us: pl.Int64 = c.pod_time_covered()
    empty_means: str = c.row_empty_means()


@table(
    "marts",
    key=("cluster", "pod_uid", "container", "resource_id", "error_class", "start_at"),
    scope="fleet",
)
class Storms(Table):
    """At least five failures of one (pod, container, resource, error class), 300 s apart at most.

    A storm has a row on each day with a failure of it, under one id. Counts and times are those up
    to the end of the day, but for the `day_` columns, which add up.
    """

    storm_id: str = c.row_id(
        "storm", "cluster, pod_uid, container, resource_id, error_class, start_at"
    )
    cluster: str = c.cluster()
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    project: str = c.project()
    namespace: str = c.namespace(null=None)
    pod_name: str = c.pod_name(null=None)
    pod_uid: str = c.pod_uid(null=None)
    node: str = c.node(null="not known")
    container: str = c.container()
    container_role: str = c.container_role()
    resource_id: str = c.column("What was asked, as in design.md section 4.")
    activity: str = c.column("What failed.", allowed=ACTIVITIES)
    error_class: str = c.column("How it failed.", allowed=ERROR_CLASSES)
    start_at: Instant = c.column("First failure that the look-back reaches.")
    end_at: Instant = c.column("Last failure up to the end of the day.")
    failure_count: pl.Int64 = c.count("Failures, at least.", adds_up=False)
    day_failure_count: pl.Int64 = c.count("Failures of this day, at least.")
    first_error: str = c.column("First error, redacted.", null="none is stated")
    status: pl.Int64 = c.column("HTTP status of the first failure.", null="none is stated")
    denied_by: TextList = c.column("Policies that denied, sorted.")
    succeeded_at: Instant = c.column(
        "Next success of the same (pod, container, resource).", null="none up to the day's end"
    )
    retry_end: str = c.column(
        "Whether the retries are bounded: `recovered` by a success, `gave_up` although the "
        "container lived on or by ending itself, `unbounded` where they went on until it was ended "
        "from outside or until the end of the day, `unknown` where its end is not known.",
        allowed=RETRY_ENDS,
    )
    responsible: str = c.column(
        "Who can end it, by the rules of definitions.md 45.", allowed=OWNERS
    )
    day_lost_us: pl.Int64 = c.microseconds("Time of the day's waits that it caused.")
    day_lost_seconds: pl.Float64 = c.seconds("day_lost_us in seconds; add up day_lost_us instead.")
    day_lost_gpu_us: pl.Int64 = c.column(
        "GPU time of the day's waits that it caused.",
        null="the pod's requests are not known",
        unit="GPU microseconds",
        adds_up=True,
        minimum=0,
    )
    match_kind: str = c.column("Weakest rung of the pod ladder.", allowed=c.POD_MATCH_KINDS)
    container_kind: str = c.column(
        "Weakest rung of the container ladder.",
        null="the pod's own events tell it",
        allowed=c.CONTAINER_KINDS,
    )
    sources: TextList = c.column("Tables that tell it, sorted.")
    evidence_ids: TextList = c.column("Rows that tell it, sorted, ten at most.")
    expected_us: pl.Int64 = c.pod_time_expected(
        "the run in this cluster on this day (of no run: of all pods without one)"
    )
    covered_us: pl.Int64 = c.pod_time_covered()
    empty_means: str = c.row_empty_means()

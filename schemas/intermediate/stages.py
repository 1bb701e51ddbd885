"""Stages of runs, pods and containers."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant
from schemas.table import Table, table

EDGE_BASES = (
    "created", "terminated", "condition", "event", "mark", "deletion", "polyaxon", "last_seen",
    "open",
)  # fmt: skip
STAGE_STEPS = ("node_queue", "pulling", "back_off")


@table(
    "intermediate",
    key=("cluster", "run_uuid", "pod_uid", "container", "start_at"),
    scope="both",
)
class Stages(Table):
    """One stage of a run before its pod, of a pod before its containers, or of a container.

    Rows of one (run, pod, container) never overlap and leave no time between them: what no
    evidence names is a stage `unknown`. A stage that crosses midnight has a row on each day, under
    one id, that says nothing later than its day. Stages of no length have no row. The fleet's file
    holds runs of which no cluster has a pod yet.
    """

    stage_id: str = c.row_id("stage", "cluster, run_uuid, pod_uid, container, start_at")
    cluster: str = c.cluster(null="no pod of the run was seen yet")
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt(null="no run, or no pod that it led to was seen")
    namespace: str = c.namespace(null="before a pod")
    pod_name: str = c.pod_name(null="before a pod")
    pod_uid: str = c.pod_uid(null="before a pod")
    node: str = c.node(null="not bound to a node yet")
    container: str = c.container(null="the pod as a whole, or the run before its pod")
    container_role: str = c.container_role(null="the pod as a whole, or the run before its pod")
    stage: str = c.stage()
    step: str = c.column(
        "Part of a stage: waiting for the node's other pulls, pulling, or waiting after a failure "
        "to pull, or to be started again.",
        null="nothing tells parts apart",
        allowed=STAGE_STEPS,
    )
    start_at: Instant = c.start_at()
    end_at: Instant = c.end_at(null="still open at the end of the day")
    start_basis: str = c.column("What proves the start.", allowed=EDGE_BASES)
    end_basis: str = c.column(
        "What proves the end: `open` where it is after the day, `last_seen` where only the last "
        "sign of life is known.",
        allowed=EDGE_BASES,
    )
    start_earliest_at: Instant = c.column("It began no earlier; start_at where that is proven.")
    start_latest_at: Instant = c.column("It began no later; start_at where that is proven.")
    end_earliest_at: Instant = c.column(
        "It ended no earlier; end_at where that is proven.", null="still open at the end of the day"
    )
    end_latest_at: Instant = c.column(
        "It ended no later; end_at where that is proven.",
        null="still open at the end of the day, or nothing bounds it",
    )
    restart_count: pl.Int64 = c.count(
        "Which run of the container in place it is, or leads to, from 0.",
        null="no container, or not known",
        adds_up=False,
    )
    reason: str = c.column(
        "Reason word of what kept it or ended it, such as FailedScheduling or OOMKilled.",
        null="none is stated",
    )
    message: str = c.column(
        "Its message, redacted, such as the scheduler's first one.", null="none is stated"
    )
    resource_id: str = c.column(
        "What it was for, as in design.md section 4: the image pulled, the node.",
        null="no single resource",
    )
    event_count: pl.Int64 = c.count(
        "Events or failures that the reason speaks of, at least, up to the end of the day.",
        null="no event tells of it",
        adds_up=False,
    )

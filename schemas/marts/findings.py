"""What someone should do."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, TextList, Usd
from schemas.marts.waits import OWNERS
from schemas.table import Table, table

KINDS = (
    "pull_failure", "slow_pull", "placement_wait", "volume_wait", "denied_storage",
    "denied_network", "retry_storm", "failed_import", "failed_container", "cross_project_read",
    "undeclared_principal", "output_contradicted", "output_unproven", "byte_balance_violation",
    "contradicted_counter", "contradicted_volume", "repeat_transfer", "missing_coverage",
)  # fmt: skip
SEVERITIES = ("high", "medium", "low")


@table(
    "marts",
    key=("run_uuid", "cluster", "kind", "resource_id", "subject"),
    order=("rank", "run_uuid", "cluster", "kind", "resource_id", "subject"),
    scope="fleet",
    as_of=True,
)
class Findings(Table):
    """One thing that someone should do, with who, why, what it costs and what shows that it worked.

    Of a run it covers the run's life up to the day; what is of no run is of that day alone.
    """

    finding_id: str = c.row_id("finding", "run_uuid, cluster, kind, resource_id, subject")
    rank: pl.Int64 = c.column(
        "Place among the day's findings, from 1: most GPU time lost first, then most money that "
        "can be avoided, then severity.",
        unit="ordinal",
        minimum=1,
    )
    kind: str = c.column("What is wrong.", allowed=KINDS)
    severity: str = c.column("How bad, whatever it costs.", allowed=SEVERITIES)
    responsible: str = c.column("Who can end it, by definitions.md 45.", allowed=OWNERS)
    run_uuid: str = c.run_uuid()
    cluster: str = c.cluster(null="no pod is named, or of the whole fleet")
    project: str = c.project()
    resource_id: str = c.column(
        "What it is about, as in design.md section 4.", null="the run or the telemetry as a whole"
    )
    subject: str = c.column(
        "What else tells it apart: container, storm, principal, series, remedy.",
        null="the run and the resource do",
    )
    detail: str = c.column("What was found, in words.")
    first_at: Instant = c.column("First time that it shows.", null="it has no time of its own")
    last_at: Instant = c.column(
        "Last time up to the end of the day.", null="it has no time of its own"
    )
    occurrence_count: pl.Int64 = c.count("How often it shows, at least.", adds_up=False)
    suggested_change: str = c.column("What to change.")
    shown_by: str = c.column("What would show that the change worked.")
    lost_us: pl.Int64 = c.column(
        "Time that containers waited for it; 0 where it made none wait. An instant stands in one "
        "finding only, but for storms, which have their own account.",
        unit="microseconds",
        minimum=0,
    )
    lost_gpu_us: pl.Int64 = c.column(
        "The same in GPU time.",
        null="the requests of a pod are not known",
        unit="GPU microseconds",
        minimum=0,
    )
    lost_gpu_seconds: pl.Float64 = c.column(
        "lost_gpu_us in GPU-seconds.",
        null="the requests of a pod are not known",
        unit="GPU seconds",
    )
    avoidable_usd: Usd = c.usd(
        "Least that the change would have saved, at list prices.", null="no price known"
    )
    max_avoidable_usd: Usd = c.usd(
        "Most that it would have saved.", null="no price known, or unbounded bytes"
    )
    sources: TextList = c.column("Tables that tell it, sorted.")
    evidence_ids: TextList = c.column("Rows that tell it, sorted, ten at most.")
    expected_us: pl.Int64 = c.pod_time_expected("the run up to the end of the day")
    covered_us: pl.Int64 = c.pod_time_covered()
    empty_means: str = c.row_empty_means()
    is_final: pl.Boolean = c.column(
        "The run has ended and the day is final; of no run: the day is final."
    )

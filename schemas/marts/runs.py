"""What ran, and whether it was observed."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, TextList
from schemas.table import Table, table


@table("marts", key=("run_uuid", "attempt"), scope="fleet", as_of=True)
class Runs(Table):
    """One attempt of one run, as known at the end of the day."""

    run_id: str = c.row_id("run and attempt", "run_uuid, attempt")
    run_uuid: str = c.run_uuid(null=None)
    attempt: pl.Int64 = c.attempt(null="no pod of the run was seen")
    cluster: str = c.cluster(null="no pod of the run was seen")
    namespace: str = c.namespace(null="no pod of the run was seen")
    name: str = c.column("Run name; not unique.", null="not stated")
    kind: str = c.column("Kind.", null="not stated")
    runtime: str = c.column("Runtime.", null="not stated")
    project: str = c.project()
    run_owner: str = c.run_owner()
    queue: str = c.column("Queue.", null="not stated")
    pipeline_uuid: str = c.column("Run it belongs to.", null="of no pipeline")
    original_uuid: str = c.column("Run it was cloned from.", null="not a clone")
    status: str = c.column("Last status known.", null="not stated")
    outcome: str = c.column(
        "What became of the run; the same on all its attempts.",
        allowed=("succeeded", "failed", "stopped", "running", "skipped", "unknown"),
    )
    created_at: Instant = c.column("Creation of the run.", null="not stated")
    start_at: Instant = c.column("First pod's creation of this attempt.", null="no pod was seen")
    end_at: Instant = c.column("Last pod's end of this attempt.", null="open, or no pod was seen")
    pod_uids: TextList = c.column("Pods of this attempt, sorted.")
    pod_count: pl.Int64 = c.count("Pods of this attempt.")
    nodes: TextList = c.column("Nodes of those pods, sorted.")
    gpu_count: pl.Int64 = c.count(
        "GPUs requested by the pods of this attempt.", null="the requests of a pod are not known"
    )
    pod_us: pl.Int64 = c.microseconds("Pod time of this attempt up to the end of the day.")
    code_revision: str = c.column("Revision of the code.", null="not stated")
    image_digests: TextList = c.column("Digests of the images run, sorted.")
    run_match_kind: str = c.column(
        "Weakest way in which its pods are known.",
        null="no pod was seen",
        allowed=c.RUN_MATCH_KINDS,
    )
    outputs_proof: str = c.column(
        "Whether outputs were persisted: the weakest proof of `run_outputs`, of which "
        "`contradicted` is the weakest, then `unproven`, then `not_observed`.",
        null="no output is expected, or the run did not succeed and none was seen",
        allowed=("proven", "contradicted", "unproven", "not_observed"),
    )
    expected_us: pl.Int64 = c.column(
        "Pod time of the run, all attempts, up to the end of the day, in which flows should have "
        "observed it.",
        null="no pod was seen",
        unit="microseconds",
        minimum=0,
    )
    covered_us: pl.Int64 = c.column(
        "That of it which flows cover; other sources stand in `run_coverage`.",
        null="no pod was seen",
        unit="microseconds",
        minimum=0,
    )
    empty_means: str = c.column(
        "What it says that flows show nothing of the run.", allowed=c.EMPTY_MEANS
    )
    is_final: pl.Boolean = c.column("The run has ended and the day is final.")


@table("marts", key=("cluster", "run_uuid", "source"), scope="fleet")
class RunCoverageDays(Table):
    """How far one source observed the pods of one run in one cluster on one day; dense over runs.

    The coverage of the rows of other marts that hold one day. Run null: all pods that no run owns.
    """

    run_coverage_day_id: str = c.row_id("statement", "cluster, run_uuid, source")
    cluster: str = c.cluster()
    run_uuid: str = c.run_uuid()
    source: str = c.column("Staging table, with the bucket behind it for object requests.")
    expected_us: pl.Int64 = c.microseconds("Pod time of the day that should have been observed.")
    covered_us: pl.Int64 = c.microseconds("Pod time inside covered intervals.")
    doubtful_us: pl.Int64 = c.microseconds("Pod time inside lossy, sampled, masked or unknown.")
    lost_count: pl.Int64 = c.count(
        "Events known to be lost on its nodes in its time.", adds_up=False
    )
    reasons: TextList = c.column("Why time is not covered, sorted.")
    empty_means: str = c.column("What an empty answer says.", allowed=c.EMPTY_MEANS)


@table("marts", key=("run_uuid", "source"), scope="fleet", as_of=True)
class RunCoverage(Table):
    """One run and one source that should have observed it; dense."""

    run_coverage_id: str = c.row_id("statement", "run_uuid, source")
    run_uuid: str = c.run_uuid(null=None)
    source: str = c.column("Staging table, with the bucket behind it for object requests.")
    cluster: str = c.cluster(null="no pod of the run was seen")
    project: str = c.project()
    expected_us: pl.Int64 = c.microseconds("Pod time that should have been observed.")
    covered_us: pl.Int64 = c.microseconds("Pod time inside covered intervals.")
    doubtful_us: pl.Int64 = c.microseconds("Pod time inside lossy, sampled, masked or unknown.")
    covered_seconds: pl.Float64 = c.seconds("covered_us in seconds.")
    coverage_ratio: pl.Float64 = c.ratio("covered_us / expected_us.", null="no pod time")
    lost_count: pl.Int64 = c.count("Events known to be lost on its nodes in its time.")
    reasons: TextList = c.column("Why time is not covered, sorted.")
    empty_means: str = c.column("What an empty answer says.", allowed=c.EMPTY_MEANS)
    is_final: pl.Boolean = c.column("The run has ended and the day is final.")

"""Whether runs left what they were to leave, and whether a deployment works."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, TextList
from schemas.table import Table, table

PROOFS = ("proven", "contradicted", "unproven", "not_observed")
EXPECTED_FROM = ("artifacts_store", "lineage", "checkpoint", "declared")
STEPS = (
    "submitted", "data_and_accelerator", "outputs_retrievable", "interruption_handled",
    "failure_visible", "cleaned_up",
)  # fmt: skip
RESULTS = ("passed", "failed", "not_observable")


@table("marts", key=("run_uuid", "resource_id", "name"), scope="fleet", as_of=True)
class RunOutputs(Table):
    """One output that a run was expected to leave, and what shows that it is there."""

    run_output_id: str = c.row_id("output", "run_uuid, resource_id, name")
    run_uuid: str = c.run_uuid(null=None)
    resource_id: str = c.column(
        "Path under which it is expected, as in design.md section 4.",
        null="only the name of the artifact store is stated, or a path below it",
    )
    name: str = c.column(
        "Name of the store, the artifact or the connection.", null="none is stated"
    )
    expected_from: str = c.column(
        "What lets expect it: the artifact store of the run, its lineage, a checkpoint of the "
        "lineage or of the application's marks, or a declared write.",
        allowed=EXPECTED_FROM,
    )
    bucket: str = c.column("Bucket or container.", null="the path is not known")
    proof: str = c.column(
        "`proven`: it was written and stands. `contradicted`: the run succeeded, but evidence says "
        "that it does not stand. `unproven`: the run succeeded, requests to the bucket were all "
        "logged, and none wrote it. `not_observed`: the run succeeded, the log has gaps.",
        allowed=PROOFS,
    )
    reason: str = c.column("What led to the proof, in words.")
    uploaded_at: Instant = c.column("Last successful write that stands.", null="none was seen")
    deleted_at: Instant = c.column(
        "Last deletion of an object of it, by anyone.", null="none was seen"
    )
    object_count: pl.Int64 = c.count(
        "Objects that the run wrote and did not delete.", adds_up=False
    )
    remaining_object_count: pl.Int64 = c.count(
        "Those of them that nobody deleted up to the end of the day.", adds_up=False
    )
    bytes: pl.Int64 = c.byte_count(
        "Size of the objects that stand.",
        null="none stands, or a size is not logged",
        adds_up=False,
    )
    stated_bytes: pl.Int64 = c.byte_count(
        "Bytes that the application says it moved there.", null="it says nothing", adds_up=False
    )
    max_transmitted_bytes: pl.Int64 = c.byte_count(
        "Most that the run's pods can have sent, by their interfaces.",
        null="a pod of the run has no counter, or its counter sets no bound",
        adds_up=False,
    )
    sidecar_exit_code: pl.Int64 = c.column(
        "Exit code of the platform's sidecar, which uploads to the store, in the run's last pod.",
        null="not of the store, no sidecar, or its end is not known",
    )
    sources: TextList = c.column("Tables that tell it, sorted.")
    evidence_ids: TextList = c.column("Rows that tell it, sorted, ten at most.")
    expected_us: pl.Int64 = c.column(
        "Time in which the output may be written that the bucket's log should have observed.",
        null="the bucket is not known",
        unit="microseconds",
        minimum=0,
    )
    covered_us: pl.Int64 = c.column(
        "That of it which the log covered.",
        null="the bucket is not known",
        unit="microseconds",
        minimum=0,
    )
    empty_means: str = c.column("What it says where no write was seen.", allowed=c.EMPTY_MEANS)
    is_final: pl.Boolean = c.column("The run has ended and the day is final.")


@table("marts", key=("run_uuid", "step"), order=("run_uuid", "step_number", "step"), scope="fleet",
       as_of=True)  # fmt: skip
class RunChecks(Table):
    """One of the six steps that accept a deployment, judged on one run; dense."""

    run_check_id: str = c.row_id("check", "run_uuid, step")
    run_uuid: str = c.run_uuid(null=None)
    step_number: pl.Int64 = c.column("Place of the step, from 1.", unit="ordinal", minimum=1)
    step: str = c.column(
        "Submitted to the stated queue, namespace and resources; the application saw data and "
        "accelerator; metric and artifact can be retrieved; an interruption was handled as "
        "declared; a failure shows with evidence; resources are gone while artifacts remain.",
        allowed=STEPS,
    )
    result: str = c.column(
        "`not_observable` where there is nothing to judge, or no source shows it.",
        allowed=RESULTS,
    )
    sentence: str = c.column("Why.")
    cluster: str = c.cluster(null="no pod of the run was seen")
    project: str = c.project()
    sources: TextList = c.column("Tables that tell it, sorted.")
    evidence_ids: TextList = c.column("Rows that tell it, sorted, ten at most.")
    expected_us: pl.Int64 = c.column(
        "Time that the source which shows the step should have observed: the run's pod time by "
        "flows, or the times in which its outputs may be written by their buckets' logs.",
        null="states and versions show the step, or no such source or output is known",
        unit="microseconds",
        minimum=0,
    )
    covered_us: pl.Int64 = c.column(
        "That of it which was covered.",
        null="states and versions show the step, or no such source or output is known",
        unit="microseconds",
        minimum=0,
    )
    empty_means: str = c.row_empty_means()
    is_final: pl.Boolean = c.column("The run has ended and the day is final.")

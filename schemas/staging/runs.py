"""Staging tables of Polyaxon runs."""

import polars as pl

from schemas import columns as c
from schemas.columns import DeclaredAccesses, Instant, Pairs, TextList
from schemas.staging.provenance import STAGING_KEY, StagingTable
from schemas.table import table


@table("staging", key=STAGING_KEY, covers=("created_at", "observed_at"))
class RunVersions(StagingTable):
    """One version of a Polyaxon run, as a list, a detail or an archive states it."""

    observed_at: Instant = c.observed_at()
    observed_basis: str = c.observed_basis()
    view: str = c.column(
        "Which answer states it; lists lack project, owner and content.",
        allowed=("list", "detail", "archive"),
    )
    run_uuid: str = c.run_uuid(null=None)
    name: str = c.column("Run name; not unique.", null="unnamed or not stated")
    kind: str = c.column("job, service, dag, matrix, schedule, ….", null="not stated")
    runtime: str = c.column("Runtime within the kind, such as pytorchjob.", null="not stated")
    status: str = c.column("Last status.", null="not stated")
    is_managed: pl.Boolean = c.column("Managed by the platform.", null="not stated")
    managed_by: str = c.column("user, cli or agent; user means no pods.", null="not stated")
    project: str = c.project()
    run_owner: str = c.run_owner()
    author: str = c.column("User who created it.", null="not stated")
    created_at: Instant = c.column("When it was created.", null="not stated")
    updated_at: Instant = c.column("When it last changed.", null="not stated")
    started_at: Instant = c.column(
        "When the operator began; not the start of the main container.", null="not started"
    )
    finished_at: Instant = c.column("When it ended.", null="not ended, or not stated")
    original_uuid: str = c.column("Run it was cloned from.", null="not a clone")
    cloning_kind: str = c.column("copy, restart or cache.", null="not a clone")
    pipeline_uuid: str = c.column("Run it belongs to, such as a sweep.", null="of no pipeline")
    pipeline_kind: str = c.column("matrix, dag or schedule.", null="of no pipeline")
    queue: str = c.column("Queue.", null="not stated")
    agent: str = c.column("Agent.", null="not stated")
    artifacts_store: str = c.column("Artifact store.", null="not stated")
    namespace: str = c.namespace(null="not stated; pods may run in another one")
    tags: TextList = c.column("Tags.", null="not stated")
    inputs: Pairs = c.column("Inputs, values redacted.", null="not stated")
    outputs: Pairs = c.column("Outputs, values redacted.", null="not stated")
    images: TextList = c.column(
        "Images of the content's containers.", null="no content, or it only starts other runs"
    )
    replicas: pl.Int64 = c.count(
        "Replicas that the content asks for.", null="no content, or it only starts other runs"
    )
    gpu_count: pl.Int64 = c.count(
        "GPUs of one replica's content.", null="not stated, or replicas differ"
    )
    max_retries: pl.Int64 = c.count("Retries that the content allows.", null="not stated")
    code_url: str = c.column("Repository of the code, without userinfo.", null="not stated")
    code_revision: str = c.column("Revision of the code.", null="not stated")
    declared_accesses: DeclaredAccesses = c.column(
        "What the content declares that its containers use.", null="no content, or nothing"
    )


@table("staging", key=STAGING_KEY, covers=("event_at",))
class RunStatuses(StagingTable):
    """One condition in a run's life."""

    event_at: Instant = c.column(
        "Last update of the condition; its transition time is frozen by the operator.",
        null="the condition has no time",
    )
    run_uuid: str = c.run_uuid(null=None)
    status: str = c.column("created, queued, scheduled, starting, running, succeeded, ….")
    reason: str = c.column("Reason word.", null="none")
    message: str = c.column("Message, redacted.", null="none")
    transition_at: Instant = c.column("Stated transition time.", null="not stated")
    ordinal: pl.Int64 = c.column("Place in the list of conditions, from 0.", minimum=0)

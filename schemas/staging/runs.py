"""Staging tables of Polyaxon runs."""

import polars as pl

from schemas import columns as c
from schemas.columns import DeclaredAccesses, Instant, Pairs, TextList
from schemas.staging.provenance import STAGING_KEY, StagingTable
from schemas.table import table


@table("staging", key=STAGING_KEY, covers=("created_at", "observed_at"))
class RunVersions(StagingTable):
    """One version of a Polyaxon run, as an answer, an archive or its custom resource states it."""

    observed_at: Instant = c.observed_at()
    observed_basis: str = c.observed_basis()
    view: str = c.column(
        "What states it: an answer of the API (lists lack project, owner and content), an archive, "
        "or the custom resource in the cluster.",
        allowed=("list", "detail", "archive", "resource"),
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
    created_at: Instant = c.column(
        "When it was created; a custom resource is created only when the run leaves its queue.",
        null="not stated",
    )
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
        "Images of the containers in the content, or in the pods of the custom resource.",
        null="neither stated, or it only starts other runs",
    )
    replicas: pl.Int64 = c.count(
        "Replicas that the content or the custom resource asks for.",
        null="neither stated, or it only starts other runs",
    )
    gpu_count: pl.Int64 = c.count(
        "GPUs of one replica as described.",
        null="not stated, replicas differ, or it uses resource claims",
    )
    max_retries: pl.Int64 = c.count("Retries that are allowed.", null="not stated")
    code_url: str = c.column("Repository of the code, without userinfo.", null="not stated")
    code_revision: str = c.column("Revision of the code.", null="not stated")
    declared_accesses: DeclaredAccesses = c.column(
        "What the content or the custom resource declares that the containers use.",
        null="neither stated, or nothing",
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


@table("staging", key=STAGING_KEY, covers=("first_event_at", "last_event_at", "observed_at"))
class RunArtifacts(StagingTable):
    """One statement about an artifact of a run: by its lineage, an events answer or an event."""

    observed_at: Instant = c.observed_at()
    observed_basis: str = c.observed_basis()
    stated_in: str = c.column(
        "What states it: the lineage, an answer with events, or one line of an event file.",
        allowed=("lineage", "events", "event_file"),
    )
    run_uuid: str = c.run_uuid(null=None)
    name: str = c.column("Name of the artifact.", null="not stated")
    kind: str = c.column("data, model, coderef, docker_image, metric, text, ….", null="not stated")
    is_input: pl.Boolean = c.column("The run read it; else the run made it.", null="not stated")
    path: str = c.column(
        "Path or URL as stated, without credentials and query; a path is below the run's folder in "
        "the artifact store.",
        null="not stated",
    )
    resource_kind: str = c.column(
        "bucket, git or image: the kind of the resource.", null="it names no resource"
    )
    resource_id: str = c.column(
        "Resource, as in design.md section 4.", null="it names none, such as a path in the store"
    )
    version: str = c.column("Commit, tag or digest.", null="not stated")
    content_hash: str = c.column("Hash of the content as logged.", null="not stated")
    state: str = c.column("Polyaxon's id of this state, 32 hex digits.", null="not stated")
    connection: str = c.column("Polyaxon connection.", null="not stated")
    is_dirty: pl.Boolean = c.column("The code had changes that no commit holds.", null="no code")
    event_count: pl.Int64 = c.count(
        "Events that this statement speaks of; an answer may hold a sample.",
        null="no events",
        adds_up=False,
    )
    first_event_at: Instant = c.column("First event.", null="no event has a time")
    last_event_at: Instant = c.column("Last event.", null="no event has a time")

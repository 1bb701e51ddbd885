"""Staging table of what applications log of their own stages."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant
from schemas.staging.provenance import STAGING_KEY, StagingTable
from schemas.table import table

MARK_PHASES = ("start", "end", "point")
MARK_OUTCOMES = ("ok", "error", "retry")
MARK_BASES = ("event", "library", "pattern")
CACHE_STATES = ("hit", "miss", "unknown")


@table("staging", key=STAGING_KEY, covers=("event_at",))
class StageMarks(StagingTable):
    """One boundary that an application logged."""

    event_at: Instant = c.event_at()
    node: str = c.node()
    namespace: str = c.namespace()
    pod_name: str = c.pod_name()
    pod_uid: str = c.pod_uid(null="not stated by the source")
    container: str = c.container(null="neither the record nor its wrapper states it")
    restart_count: pl.Int64 = c.count(
        "Restarts of the container before.", null="not stated", adds_up=False
    )
    run_uuid: str = c.run_uuid(null="the record states none")
    event_name: str = c.column(
        "Name of the event, lower case, words joined by dots or underscores, such as "
        "`dataset_download.started`.",
    )
    activity: str = c.column(
        "What it bounds: the event's name without its phase, such as `dataset_download`, "
        "`model_load`, `checkpoint_save`."
    )
    phase: str = c.column(
        "Whether the activity begins, ends, or something happened within it.", allowed=MARK_PHASES
    )
    elapsed_seconds: pl.Float64 = c.seconds("How long the activity took.", null="not stated")
    attempts: pl.Int64 = c.count("Attempts that were made.", null="not stated")
    bytes: pl.Int64 = c.byte_count("Bytes that the activity moved.", null="not stated")
    resource: str = c.column(
        "What it used, without userinfo and query: `s3://bucket/prefix`, a host, a path.",
        null="not stated",
    )
    cache: str = c.column("Whether a cache had it.", null="not stated", allowed=CACHE_STATES)
    outcome: str = c.column(
        "How it went; `retry` is a failure that is tried again.",
        null="not stated",
        allowed=MARK_OUTCOMES,
    )
    error_type: str = c.column("Class or code of the error.", null="none, or not stated")
    status: pl.Int64 = c.column("HTTP status that the record names.", null="none")
    basis: str = c.column(
        "How it is known: a structured event, a line whose text is a library's own, or a line that "
        "matches the pattern of the settings.",
        allowed=MARK_BASES,
    )
    source_library: str = c.column(
        "Library or logger that wrote the line.", null="an event of the application's own"
    )

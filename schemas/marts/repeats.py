"""What was fetched again."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, Usd
from schemas.table import Table, table

RESOURCE_KINDS = ("object", "image", "git", "model_hub", "package_index")
DATASET_BASES = (*c.DATASET_BASES, "image")
REMEDIES = (
    "pin_revision", "node_cache", "zone_cache", "image_pre_pull", "image_mirror", "bucket_replica",
    "move_job", "gateway_endpoint",
)  # fmt: skip


@table(
    "marts",
    key=("transfer_id", "scope"),
    order=("start_at", "transfer_id", "scope"),
    scope="fleet",
    adds_within=("scope",),
)
class RepeatTransfers(Table):
    """One fetch that repeats an earlier one within a scope; scopes nest and are never added.

    One row per transfer, scope and day; bytes are this day's part, so days add up.
    """

    repeat_transfer_id: str = c.row_id("repeat", "date, transfer_id, scope")
    transfer_id: str = c.column(
        "The later fetch: of an object its transfer_id, of an image its image_pull_id, else the "
        "hash of a run's contact (day, cluster, run, attempt, object_id)."
    )
    scope: str = c.column(
        "Within what it repeats.", allowed=("run", "node", "zone", "region", "fleet")
    )
    scope_id: str = c.column("Run, node, zone or region.", null="unknown, or the whole fleet")
    start_at: Instant = c.start_at()
    previous_at: Instant = c.column(
        "Start of the latest earlier fetch; start_at itself where the transfer repeats itself."
    )
    previous_transfer_id: str = c.column("Latest earlier fetch.", null="it repeats itself")
    previous_run_uuid: str = c.run_uuid(null="no run, or it repeats itself")
    cluster: str = c.cluster(null="no pod is named")
    node: str = c.node(null="no pod is named")
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    project: str = c.project()
    resource_kind: str = c.column("Kind of what was fetched.", allowed=RESOURCE_KINDS)
    object_id: str = c.column(
        "What was fetched: object, image with its digest or tag, repository with its revision, "
        "else the host."
    )
    resource_id: str = c.column("Declared path, dataset or bucket; else as object_id.")
    dataset_id: str = c.column(
        "Dataset; of images and declared repositories the repository without digest or revision.",
        null="only the bucket or host is known",
    )
    dataset_basis: str = c.column(
        "What names the dataset.", null="no dataset", allowed=DATASET_BASES
    )
    grade: str = c.column(
        "What the evidence shows: which content was fetched, or only from where.",
        allowed=("object", "endpoint"),
    )
    object_size_bytes: pl.Int64 = c.byte_count(
        "Size of the object or image.", null="not logged, or of an endpoint", adds_up=False
    )
    transferred_bytes: pl.Int64 = c.byte_count(
        "This day's bytes of the transfer.", null="only bounded, or not measured"
    )
    min_transferred_bytes: pl.Int64 = c.byte_count("The least of them.")
    max_transferred_bytes: pl.Int64 = c.byte_count("The most of them.", null="unbounded")
    min_repeat_bytes: pl.Int64 = c.byte_count(
        "Certainly fetched before: what offsets show, else this row's share, in the order of time, "
        "of what the scope fetched beyond one whole object."
    )
    max_repeat_bytes: pl.Int64 = c.byte_count("Possibly fetched before.", null="unbounded")
    measured_by: str = c.column("What measured the bytes.", allowed=c.MEASURED_BY)
    min_avoidable_usd: Usd = c.usd("Least that the repeated bytes cost.", null="no price known")
    max_avoidable_usd: Usd = c.usd(
        "Most that the repeated bytes cost.", null="no price known, or unbounded bytes"
    )
    reader_zone: str = c.column("Zone of the reader.", null="not known")
    reader_region: str = c.column("Region of the reader.", null="not known")
    bucket_region: str = c.column("Region of the bucket.", null="not known")
    match_kind: str = c.column("Pod ladder.", allowed=c.POD_MATCH_KINDS)
    remedy: str = c.column(
        "What would avoid it.", null="its place or the regions are not known", allowed=REMEDIES
    )
    remedy_evidence: str = c.column("What led to the remedy.", null="no remedy")
    test_after: str = c.column(
        "What to test after the change: a cold worker, and an updated model.", null="no remedy"
    )
    history_basis: str = c.column("`complete`, or days of the look-back that are not built.")
    expected_us: pl.Int64 = c.pod_time_expected(
        "the run in this cluster on this day (of no run: of all pods without one)"
    )
    covered_us: pl.Int64 = c.pod_time_covered()
    empty_means: str = c.row_empty_means()

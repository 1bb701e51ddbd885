"""What was fetched again."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, Usd
from schemas.table import Table, table


@table(
    "marts", key=("transfer_id", "scope"), order=("start_at", "transfer_id", "scope"), scope="fleet"
)
class RepeatTransfers(Table):
    """One read that repeats an earlier one within a scope; scopes nest and are never added.

    One row per transfer, scope and day; bytes are this day's part, so days add up.
    """

    repeat_transfer_id: str = c.row_id("repeat", "date, transfer_id, scope")
    transfer_id: str = c.column("The later transfer.")
    scope: str = c.column(
        "Within what it repeats.", allowed=("run", "node", "zone", "region", "fleet")
    )
    scope_id: str = c.column("Run, node, zone or region.", null="unknown, or the whole fleet")
    start_at: Instant = c.start_at()
    previous_at: Instant = c.column(
        "Latest earlier read; start_at itself where the transfer repeats itself."
    )
    previous_transfer_id: str = c.column("Latest earlier transfer.", null="it repeats itself")
    previous_run_uuid: str = c.run_uuid(null="no run, or it repeats itself")
    cluster: str = c.cluster(null="no pod is named")
    node: str = c.node(null="no pod is named")
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    project: str = c.project()
    object_id: str = c.column("Object read.")
    resource_id: str = c.column("Declared path, dataset or bucket.")
    dataset_id: str = c.column("Dataset.", null="only the bucket is known")
    grade: str = c.column("What repeats.", allowed=("object", "endpoint"))
    object_size_bytes: pl.Int64 = c.byte_count("Object size.", null="not logged", adds_up=False)
    transferred_bytes: pl.Int64 = c.byte_count("This day's bytes of the transfer.")
    min_repeat_bytes: pl.Int64 = c.byte_count("Certainly read before.")
    max_repeat_bytes: pl.Int64 = c.byte_count("Possibly read before.")
    min_avoidable_usd: Usd = c.usd("Least that a cache would have saved.", null="no price known")
    max_avoidable_usd: Usd = c.usd("Most that a cache would have saved.", null="no price known")
    reader_region: str = c.column("Region of the reader.", null="not known")
    bucket_region: str = c.column("Region of the bucket.", null="not known")
    match_kind: str = c.column("Pod ladder.", allowed=c.POD_MATCH_KINDS)
    remedy: str = c.column("What would avoid it.", null="not judged yet")
    history_basis: str = c.column("`complete`, or days of the look-back that are not built.")

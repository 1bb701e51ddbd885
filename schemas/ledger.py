"""The ledger: what came in, what was refused, what did not come."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, TableRows, TextList
from schemas.table import Table, table


@table("ledger", key=("export_file_id",), order=("landing_date", "path", "export_file_id"))
class ExportFiles(Table):
    """One export file, by content and path.

    A commit of one landed batch is one Parquet file of these rows, written last; a part of staging
    exists once a commit lists it.
    """

    export_file_id: str = c.column("Hash of scope, path and content hash.")
    export: str = c.column("Name of the export in the settings.")
    format: str = c.column("Parser that read it.")
    cluster: str = c.cluster(null="the export belongs to no single cluster (scope fleet)")
    node: str = c.node(null="the path names no node")
    project: str = c.project(null="the path names no project")
    path: str = c.column("Path or URL, without credentials.")
    landing_date: pl.Date = c.column("Day in the path, else the day its content was first seen.")
    stored_mark: str = c.column(
        "Size with modification time or ETag: a file with the same mark need not be read again."
    )
    size_bytes: pl.Int64 = c.byte_count("Size as stored, compressed or not.")
    text_bytes: pl.Int64 = c.byte_count("Size after decompression.")
    content_hash: str = c.column("SHA-256 of the decompressed bytes.")
    read_as: str = c.column(
        "Digest of what its reading depends on beside its content: format and version of its "
        "parser, `record_format`, `temporality`, `region`, what its path says, and which "
        "redaction key there is.",
        null="it was landed before this was noted",
    )
    same_content_as: str = c.column(
        "The file that was read in its place.", null="the file was read itself"
    )
    grown_from: str = c.column(
        "The earlier file whose whole content this one begins with.", null="grown from none"
    )
    record_count: pl.Int64 = c.count("Records in the file: accepted, repeated, rejected, ignored.")
    accepted_count: pl.Int64 = c.count("Records that gave rows and were new.")
    duplicate_count: pl.Int64 = c.count("Records that an earlier record of this scope equals.")
    rejected_count: pl.Int64 = c.count("Records refused; each stands in rejected_records.")
    ignored_count: pl.Int64 = c.count("Records of a kind that podledger does not use.")
    ignored_reasons: TextList = c.column("Why records were ignored, as `reason=count`.")
    part: str = c.column(
        "Name of the staging part that holds its rows.",
        null="it was not read: its content is known",
    )
    rows_by_table: TableRows = c.column(
        "Per table: first row in the part, number of rows, and ranges of repeated rows within them."
    )
    first_event_at: Instant = c.column("Earliest event of its rows.", null="no row has a time")
    last_event_at: Instant = c.column("Latest event of its rows.", null="no row has a time")
    capabilities: TextList = c.column(
        "Optional columns that the file really carries, as `table.column`."
    )
    naming_facts: TextList = c.column(
        "What its look-ups are worth for naming connections, as `fact=rows`; facts of no row are "
        "left out."
    )
    lookup_clients: TextList = c.column(
        "Different client addresses of its look-ups.", null="more than 256"
    )


@table("ledger", key=("export_file_id", "locator"), order=("export_file_id", "record_index"))
class RejectedRecords(Table):
    """One record that was refused."""

    export_file_id: str = c.export_file_id()
    record_index: pl.Int64 = c.record_index()
    locator: str = c.column("Where it stands: `line N`, a JSON path, or `row N`.")
    byte_offset: pl.Int64 = c.column(
        "Offset of its first byte in the decompressed text.",
        null="the place has no single offset (part of a JSON document)",
        unit="bytes",
    )
    reason: str = c.column("Why: a stable word, then what was expected and what stood there.")
    excerpt: str = c.column("The beginning of the record, redacted.")


@table("ledger", key=("cluster", "export", "landing_date"))
class Deliveries(Table):
    """What one export delivered, or did not deliver, on one landing day."""

    cluster: str = c.column("Cluster, or `fleet` for an export of no single cluster.")
    export: str = c.column("Name of the export in the settings.")
    format: str = c.column("Format in the settings.")
    landing_date: pl.Date = c.column("Landing day.")
    is_expected: pl.Boolean = c.column("Whether the settings expect a delivery that day.")
    file_count: pl.Int64 = c.count("Files that landed.")
    node_count: pl.Int64 = c.count("Distinct nodes among them.", adds_up=False)
    expected_node_count: pl.Int64 = c.count(
        "Nodes that should deliver: the settings' number, else nodes with a pod that day.",
        null="the export is not one per node",
        adds_up=False,
    )
    bytes: pl.Int64 = c.byte_count("Size as stored of the files that landed.")
    median_bytes: pl.Int64 = c.byte_count(
        "Median of the bytes of the earlier days.", null="no earlier day", adds_up=False
    )
    record_count: pl.Int64 = c.count("Records in the files.")
    rejected_count: pl.Int64 = c.count("Records that were refused.")
    latest_event_at: Instant = c.column("Latest event in the files.", null="no event has a time")
    status: str = c.column(
        "Whether all that was expected came.",
        allowed=("complete", "late", "partial", "missing", "not_configured"),
    )
    reason: str = c.column("What is missing, in words.", null="nothing is missing")
    naming_notes: TextList = c.column(
        "What the look-ups that came cannot tell of names, each `word: fact`: `no_lookups`, "
        "`no_dns_events`, `no_responses`, `only_failures`, `no_answers`, `no_addresses`, "
        "`no_clients`, `node_clients`; empty where nothing is to be said."
    )
    left_out_clusters: TextList = c.column(
        "Clusters of this row that have no published tables of that day, so that the fleet's "
        "answers of the day leave them out; empty while the day is not built."
    )


@table(
    "ledger",
    key=("table_name", "event_date", "row_key", "column_name", "published_at"),
    order=("event_date", "published_at", "table_name", "row_key", "column_name"),
)
class Restatements(Table):
    """One value of a final day's answers that a later build of that day changed."""

    table_name: str = c.column(
        "Mart whose row changed; `export_files` for a file that the day is made from since then."
    )
    event_date: pl.Date = c.column("Day whose published rows changed.")
    row_key: str = c.column(
        "Key of the row, as a JSON object of the table's key columns; `(table)` where a column "
        "came or went for all rows, with a new version."
    )
    column_name: str = c.column(
        "Column whose value changed; `(row)` for a row that came or went, each of whose values "
        "stands in a row of its own, too."
    )
    value_before: str = c.column(
        "Value before, as text; of `(row)` whether the row was `present` or `absent`.",
        null="the value was null, or the row was not there",
    )
    value_after: str = c.column(
        "Value after, as text; of `(row)` whether the row is `present` or `absent`.",
        null="the value is null, or the row is not there any more",
    )
    cause: str = c.column(
        "Why the day was built again: late files by path (all of them stand in rows of "
        "`export_files`), earlier days that were built again, or settings and logic."
    )
    published_at: Instant = c.column("When the build that changed it began.")

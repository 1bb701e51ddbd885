"""Where a staging row comes from: the columns that every staging table begins with."""

import polars as pl

from schemas import columns as c
from schemas.table import Table

STAGING_KEY = ("export_file_id", "record_index", "row_index")


class StagingTable(Table):
    """Base of staging tables; `podledger explain` walks these columns back to the export."""

    export_file_id: str = c.export_file_id()
    record_index: pl.Int64 = c.record_index()
    row_index: pl.Int64 = c.column(
        "Ordinal of the row among those that its record gave to this table, from 0.", minimum=0
    )
    record_id: str = c.record_id()
    source_format: str = c.source_format()
    cluster: str = c.cluster(null="the export belongs to no single cluster (scope fleet)")

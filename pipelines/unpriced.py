"""Charges for which the price book has no price, as `podledger status` names them."""

import datetime as dt
from typing import Any

import polars as pl

from pipelines.parquet import scan_files
from pipelines.storage import Lake

TABLE = "transfer_costs"


def unpriced(lake: Lake) -> list[dict[str, Any]]:
    """What has no price, a row each, with the days and the most that was charged without it.

    Returns:
        `missing_price`, `first_day`, `last_day`, `charges`, `max_bytes` (null where unbounded or
        of requests), `requests` (null where of bytes).
    """
    days = [part for day in lake.days(TABLE) if (part := _of_day(lake, day)) is not None]
    if not days:
        return []
    return (
        pl.concat(days)
        .group_by("missing_price")
        .agg(
            first_day=pl.col("day").min(),
            last_day=pl.col("day").max(),
            charges=pl.col("charges").sum(),
            max_bytes=pl.when(pl.col("max_bytes").count() == pl.len()).then(
                pl.col("max_bytes").sum()
            ),
            requests=pl.when(pl.col("requests").count() > 0).then(pl.col("requests").sum()),
        )
        .sort("missing_price")
        .collect()
        .to_dicts()
    )


def _of_day(lake: Lake, day: dt.date) -> pl.LazyFrame | None:
    paths = lake.files(TABLE, day)
    if not paths:
        return None
    is_request = pl.col("charge_kind") == "request"
    return (
        scan_files(paths)
        .select("missing_prices", "charge_kind", "max_bytes", "request_count")
        .drop_nulls("missing_prices")
        .explode("missing_prices")
        .group_by(missing_price="missing_prices")
        .agg(
            charges=pl.len(),
            # The sum of a day may need more than 64 bits where clients forge sizes.
            max_bytes=pl.when(
                ~is_request.all() & (pl.col("max_bytes").count() == (~is_request).sum())
            ).then(pl.col("max_bytes").cast(pl.Int128).sum()),
            requests=pl.when(is_request.any()).then(pl.col("request_count").sum()),
        )
        .with_columns(day=pl.lit(day))
    )

"""Addresses that the settings name as shared by many pods."""

import polars as pl

from transforms.day import BuildDay

SCHEMA = pl.Schema({"address": pl.String(), "cluster": pl.String()})


def nat_addresses(day: BuildDay) -> pl.DataFrame:
    """One row for each shared address and cluster; the cluster is null where none is stated."""
    return pl.DataFrame(day.nat_addresses, schema=SCHEMA, orient="row")

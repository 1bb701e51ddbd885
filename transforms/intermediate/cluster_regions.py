"""Regions that the settings state for clusters."""

import polars as pl

from transforms.day import BuildDay

SCHEMA = pl.Schema({"cluster": pl.String(), "region": pl.String()})


def cluster_regions(day: BuildDay) -> pl.DataFrame:
    """One row for each cluster of the settings; the region is null where none is stated."""
    rows = [(facts.name, facts.region) for facts in day.clusters]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")

"""Dagster assets: thin, one per table; what they do stands in `pipelines.run` and `build`."""

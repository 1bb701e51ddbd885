"""Joins by time on DuckDB and on Spark."""

"""Staging tables: what the sources said, one row per record or part of a record."""

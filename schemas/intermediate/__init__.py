"""Intermediate tables: what happened, joined from several sources, one file per day and cluster."""

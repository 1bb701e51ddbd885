"""Marts: the answers, one table per question."""

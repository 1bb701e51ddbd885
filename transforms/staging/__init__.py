"""Parsers: from records of one export format to rows of staging tables, one module per format."""

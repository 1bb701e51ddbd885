"""Pure functions from tables to tables: Python for parsing, SQL for joining and summing.

Belongs here: parsers, joins, sums and redaction. Nothing here reads the clock, the environment, the
network or a file other than its own `.sql` files, and nothing here imports `pipelines`.
"""

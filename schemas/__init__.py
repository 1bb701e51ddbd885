"""What every table holds: one pandera model per table, and what is generated from the models.

Belongs here: models, shared column types, the registry and the data dictionary. Nothing here reads
a file, the clock or the environment, and nothing here imports `transforms` or `pipelines`.
"""

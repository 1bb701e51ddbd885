"""What the reading of a file depends on beside its content, and what would be read otherwise.

A content is read once. A setting that changes how it is read changes nothing that was read before.
Which files that concerns is told, so that a person can decide to have them read again
(`pipelines.landing.rereading`).
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl

from pipelines.landing.context import context_of_row
from pipelines.landing.formats import parsers
from pipelines.ledger import Ledger
from pipelines.publication import digest
from pipelines.settings import Settings
from transforms.staging.parser import CounterFacts, FileContext

_TOLD = ("export", "format", "cluster", "node", "project", "path", "landing_date")
_WHICH_KEY = "podledger: which redaction key"
"""Hashed with the key, this tells two keys apart and says nothing else of them."""


@dataclass(frozen=True)
class ReadOtherwise:
    """A file that would be read otherwise now.

    Attributes:
        export_file_id: Its id.
        export: Name of the export.
        path: The file.
        landing_date: Its landing day.
        commit: The commit that lists it: without it, all of its files are landed again.
    """

    export_file_id: str
    export: str
    path: str
    landing_date: date
    commit: Path


def read_as(format_name: str, context: FileContext) -> str:
    """Digest of what the reading of a file depends on, 32 hex digits."""
    stated = (
        format_name,
        parsers()[format_name].version,
        context.record_format,
        context.temporality,
        context.region,
        context.cluster,
        context.node,
        context.project,
        context.key_hash.of(_WHICH_KEY),
        # What older readings knew nothing of is told only where it is stated.
        *([context.counters] if context.counters != CounterFacts() else []),
    )
    return digest(repr(part) for part in stated)[:32]


def read_otherwise(settings: Settings, ledger: Ledger) -> list[ReadOtherwise]:
    """Files that were read, and that the settings of now would have read otherwise, by path.

    Files of exports that the settings do not have any more, and of formats that there are no more,
    are as they were.
    """
    exports = {export.name: export for export in settings.exports}
    now: dict[tuple[str | None, ...], str] = {}
    found = []
    read = ledger.files.filter(
        pl.col("part").is_not_null()
        & pl.col("read_as").is_not_null()
        & pl.col("export").is_in(list(exports))
        & pl.col("format").is_in(list(parsers()))
    )
    for row in read.select(*_TOLD, "read_as", "export_file_id", "part").iter_rows(named=True):
        export = exports[row["export"]]
        format_name = row["format"] if export.format == "auto" else export.format
        # The path is no part of it, but for what it says.
        question = (export.name, format_name, row["cluster"], row["node"], row["project"])
        if question not in now:
            now[question] = read_as(format_name, context_of_row(settings, export, row))
        if now[question] != row["read_as"]:
            day, path = row["landing_date"], row["path"]
            commit = ledger.commit_of(day, row["cluster"], row["part"])
            found.append(ReadOtherwise(row["export_file_id"], export.name, path, day, commit))
    return sorted(found, key=lambda file: (file.path, file.commit))

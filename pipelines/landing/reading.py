"""What the reading of a file depends on beside its content, and what would be read otherwise.

A content is read once. A setting that changes how it is read changes nothing that was read before:
the ledger is never changed. Which files that concerns is told, so that a person can decide to have
them read again, by removing their commits.
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pipelines.landing.context import file_context
from pipelines.landing.formats import parsers
from pipelines.ledger import EXPORT_FILES, Ledger
from pipelines.publication import digest
from pipelines.settings import Settings
from schemas.table import FLEET
from transforms.staging.parser import CounterFacts, FileContext

_WHICH_KEY = "podledger: which redaction key"
"""Hashed with the key, this tells two keys apart and says nothing else of them."""


@dataclass(frozen=True)
class ReadOtherwise:
    """A file that would be read otherwise now.

    Attributes:
        export: Name of the export.
        path: The file.
        landing_date: Its landing day.
        commit: The commit that lists it: without it, all of its files are landed again.
    """

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
    found = []
    for row in ledger.files.iter_rows(named=True):
        export = exports.get(row["export"])
        if (
            export is None
            or row["part"] is None
            or row["read_as"] is None
            or row["format"] not in parsers()
        ):
            continue
        format_name = row["format"] if export.format == "auto" else export.format
        context = file_context(
            settings,
            export,
            path=row["path"],
            cluster=row["cluster"],
            node=row["node"],
            project=row["project"],
            landing_date=row["landing_date"],
            path_at=None,
        )
        if read_as(format_name, context) != row["read_as"]:
            name = f"{row['cluster'] or FLEET}-{row['part']}"
            commit = ledger.lake.path(EXPORT_FILES, row["landing_date"], name)
            found.append(ReadOtherwise(export.name, row["path"], row["landing_date"], commit))
    return sorted(found, key=lambda file: (file.path, file.commit))

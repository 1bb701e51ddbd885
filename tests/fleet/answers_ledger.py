"""Answers: export_files and rejected_records, as the renderers counted them while writing."""

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.export import ExportFile


def export_files(files: list[ExportFile]) -> Table:
    """Return every file with the number of records of each fate."""
    table = Table(
        "export_files",
        (
            "date", "export", "format", "cluster", "node", "project", "path", "landing_date",
            "same_content_as", "grown_from", "record_count", "accepted_count",
            "duplicate_count", "rejected_count", "ignored_count",
        ),
        ("path",),
    )  # fmt: skip
    for file in files:
        is_known = file.same_content_as is not None
        stated = file.counts_stated or is_known
        table.add(
            date=file.landing_date,
            export=file.export,
            format=file.format,
            cluster=file.cluster,
            node=file.node,
            project=file.project,
            path=file.stored_path,
            landing_date=file.landing_date,
            same_content_as=_stored(files, file.same_content_as),
            grown_from=_stored(files, file.grown_from),
            record_count=NOT_STATED if file.path.endswith("spec.json") else file.record_count,
            accepted_count=file.accepted if stated else NOT_STATED,
            duplicate_count=file.duplicate if stated else NOT_STATED,
            rejected_count=len(file.rejects),
            ignored_count=file.ignored if stated else NOT_STATED,
        )
    return table


def _stored(files: list[ExportFile], path: str | None) -> str | None:
    return next((file.stored_path for file in files if file.path == path), None)


def rejected_records(files: list[ExportFile]) -> Table:
    """Return every broken record, and where it stands in the decompressed text."""
    table = Table(
        "rejected_records",
        ("date", "path", "locator", "record_index", "byte_offset", "reason"),
        ("path", "locator"),
        relation="rejected_records JOIN export_files USING (export_file_id)",
    )
    for file in files:
        for reject in file.rejects:
            table.add(
                date=file.landing_date,
                path=file.stored_path,
                locator=reject.locator,
                record_index=reject.record_index,
                byte_offset=reject.byte_offset,
                reason=reject.reason,
            )
    return table

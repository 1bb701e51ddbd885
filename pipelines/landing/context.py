"""What is known of a file beside its content, gathered for its parser."""

import datetime as dt

from pipelines.settings import ExportSettings, Settings
from transforms.staging.parser import FileContext


def file_context(
    settings: Settings,
    export: ExportSettings,
    *,
    path: str,
    cluster: str | None,
    node: str | None,
    project: str | None,
    landing_date: dt.date,
    path_at: dt.datetime | None,
) -> FileContext:
    """Join what the path says with what the settings say of its export."""
    return FileContext(
        export=export.name,
        path=path,
        cluster=cluster,
        node=node,
        project=project,
        region=export.region,
        landing_date=landing_date,
        path_at=path_at,
        record_format=export.record_format,
        temporality=export.temporality,
        key_hash=settings.key_hash,
    )

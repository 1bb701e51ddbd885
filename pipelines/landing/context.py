"""What is known of a file beside its content, gathered for its parser."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from pipelines.landing.inputs import storable
from pipelines.settings import ExportSettings, Settings
from transforms.redaction import clean_url, redact_name
from transforms.staging.parser import CounterFacts, FileContext


def stored_path(path: str) -> str:
    """A path as the ledger may hold it: URLs without userinfo and query, names without tokens."""
    path = storable(path)
    return clean_url(path) if "://" in path else redact_name(path)


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
    """Join what the path says, without credentials, with what the settings say of its export."""
    return FileContext(
        export=export.name,
        path=path,
        cluster=cluster,
        node=redact_name(node) if node else node,
        project=redact_name(project) if project else project,
        region=export.region,
        landing_date=landing_date,
        path_at=path_at,
        record_format=export.record_format,
        temporality=export.temporality,
        key_hash=settings.key_hash,
        counters=CounterFacts() if export.counters is None else export.counters.facts,
    )


def context_of_row(
    settings: Settings,
    export: ExportSettings,
    row: Mapping[str, Any],
    path_at: dt.datetime | None = None,
) -> FileContext:
    """The same of a file that was landed, from its row in `export_files`."""
    return file_context(
        settings,
        export,
        path=row["path"],
        cluster=row["cluster"],
        node=row["node"],
        project=row["project"],
        landing_date=row["landing_date"],
        path_at=path_at,
    )

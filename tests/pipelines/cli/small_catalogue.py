"""A lake of a few published rows and its catalogue, for commands that read them."""

import datetime as dt
from pathlib import Path
from typing import Any

from pipelines.catalog import write_catalog
from pipelines.landing.land import land
from pipelines.publication import Made, publish
from pipelines.settings import load_settings
from pipelines.storage import Lake
from schemas.registry import table_spec
from tests.pipelines.landing_zone import SETTINGS, line, put
from tests.transforms.frames import frame
from transforms.sql import SqlSession

DAY = dt.date(2026, 3, 10)
RUN = "0123456789abcdef0123456789abcdef"
OTHER_RUN = "fedcba9876543210fedcba9876543210"
DEPENDENCY = "00000000000000000000000000000001"

ROWS: dict[str, list[dict[str, Any]]] = {
    "runs": [
        {
            "run_id": "r1", "run_uuid": RUN, "attempt": 1, "project": "vision", "outcome":
            "succeeded", "cluster": "alder", "name": "train [bold]x[/bold]",
        },
        {
            "run_id": "r2", "run_uuid": OTHER_RUN, "attempt": 1, "project": "speech", "outcome":
            "failed", "cluster": "alder", "name": "=cmd()",
        },
    ],
    "run_dependency_days": [
        {
            "run_dependency_day_id": DEPENDENCY, "cluster": "alder", "run_uuid": RUN, "attempt": 1,
            "project": "vision", "resource_id": "s3://example-datasets", "resource_kind": "bucket",
            "operation": "read", "stage": "unknown", "measured_by": "storage_log",
            "received_bytes": 100, "pod_uids": ["p1"],
        },
        {
            "run_dependency_day_id": "00000000000000000000000000000002", "cluster": "alder",
            "run_uuid": OTHER_RUN, "attempt": 1, "project": "speech",
            "resource_id": "dns://huggingface.co:443", "resource_kind": "host",
            "operation": "connect", "stage": "unknown", "measured_by": "none", "pod_uids": ["p2"],
        },
    ],
}  # fmt: skip


def small_catalogue(folder: Path) -> Path:
    """Publish the rows, land two requests of which one is there twice; returns the settings."""
    put(folder, "a.log", [line(1), line(2)])
    put(folder, "b.log", [line(2)])
    path = folder / "podledger.yaml"
    path.write_text(SETTINGS, encoding="utf-8")
    settings = load_settings(path)
    lake = Lake(settings.lake_path)
    land(settings, lake, DAY)
    for name, rows in ROWS.items():
        with SqlSession() as session:
            session.register("rows", frame(name, rows))
            publish(lake, session, table_spec(name), "rows", DAY, "fleet", Made("by hand", 1))
    write_catalog(lake, settings.catalog_path)
    return path

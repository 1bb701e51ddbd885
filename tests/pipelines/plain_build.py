"""Land and build without Dagster: the same functions, started by tests and killed by them."""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb

from pipelines.catalog import write_catalog
from pipelines.fixtures import lay_out
from pipelines.run import Workspace, build_table_of_day, event_days, land_days
from pipelines.storage import Lake
from schemas.registry import tables
from transforms.registry import transforms

DERIVED = tuple(n for n, s in tables().items() if s.layer in {"intermediate", "marts"})
SMALL = (
    "exports/alder/hubble/2026-03-10/ip-10-20-1-11.ec2.internal/",
    "exports/alder/kubernetes/2026-03-10/",
    "exports/alder/polyaxon/vision/2026-03-10/",
    "exports/s3/example-datasets/2026-03-10-",
    "exports/alder/otlp/2026-03-10/",
)


def lay_out_small_day(folder: Path) -> Path:
    """One cluster and one day of the fixtures; returns the settings file."""
    settings = lay_out(folder)
    for path in sorted((folder / "exports").rglob("*")):
        relative = path.relative_to(folder).as_posix()
        if path.is_file() and not relative.startswith(SMALL):
            path.unlink()
    return settings


def build_all(
    settings_file: Path,
    hook: Callable[[str, Path], None] | None = None,
    *,
    workers: int | None = None,
    memory_limit: int | None = None,
) -> Workspace:
    """Land everything and build every day that has events, then the catalogue."""
    workspace = Workspace(settings_file)
    changed = {"workers": workers, "memory_limit": memory_limit}
    for name, value in changed.items():
        if value is not None:
            object.__setattr__(workspace.settings, name, value)
    if hook is not None:
        workspace._held = Lake(workspace.settings.lake_path, hook)
    with workspace.locked() as lake:
        land_days(workspace, None)
        published = 0
        for day in event_days(lake):
            outcomes = [o for t in transforms() for o in build_table_of_day(workspace, t, day)]
            problems = [o.problem for o in outcomes if o.problem]
            assert not problems, problems
            published += sum(1 for o in outcomes if o.published)
        if published or not workspace.settings.catalog_path.exists():
            write_catalog(lake, workspace.settings.catalog_path)
    return workspace


def digests(root: Path, names: tuple[str, ...] = DERIVED) -> dict[str, str]:
    """SHA-256 of every published file of the tables, by path below the lake."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for name in names
        for path in sorted((root / name).rglob("*.parquet"))
    }


def catalogue_rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Rows of every mart in the catalogue."""
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        marts = [n for n, s in tables().items() if s.layer == "marts"]
        return {name: connection.table(name).fetchall() for name in marts}


if __name__ == "__main__":
    build_all(Path(sys.argv[1]))

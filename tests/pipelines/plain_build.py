"""Land and build without Dagster: the same functions, started by tests and killed by them."""

import datetime as dt
import hashlib
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path

import duckdb
import polars as pl
import yaml

from pipelines.fixtures import lay_out
from pipelines.ledger import Ledger
from pipelines.run import (
    Workspace,
    ask_for,
    build_table_of_day,
    days_to_build,
    is_stale,
    land_days,
    publish_catalogue,
    stale_days,
)
from pipelines.storage import Lake
from schemas.registry import tables
from transforms.registry import transforms

DERIVED = tuple(n for n, s in tables().items() if s.layer in {"intermediate", "marts"})
SMALL = (
    "exports/alder/hubble/2026-03-10/ip-10-20-1-11.ec2.internal/",
    "exports/alder/kubernetes/2026-03-10/nodes-23.json",
    "exports/alder/kubernetes/2026-03-10/pods-23.json",
    "exports/alder/otlp/2026-03-10/",
    "exports/alder/polyaxon/vision/2026-03-10/runs.json",
    "exports/s3/example-datasets/2026-03-10-",
)


def lay_out_small_day(folder: Path) -> Path:
    """One cluster and one day of the fixtures; returns the settings file."""
    settings = lay_out(folder)
    for path in sorted((folder / "exports").rglob("*")):
        relative = path.relative_to(folder).as_posix()
        if path.is_file() and not relative.startswith(SMALL):
            path.unlink()
    content = yaml.safe_load(settings.read_text(encoding="utf-8"))
    content["clusters"] = {"alder": content["clusters"]["alder"]}
    content["exports"] = [e for e in content["exports"] if e.get("clusters") != ["birch"]]
    settings.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return settings


def build_all(
    settings_file: Path,
    hook: Callable[[str, Path], None] | None = None,
    *,
    workers: int | None = None,
    memory_limit: int | None = None,
    at: dt.datetime | None = None,
    asked: tuple[dt.date, ...] = (),
    tables: tuple[str, ...] = (),
) -> Workspace:
    """Land everything and build every stale day, or asked ones, each with the catalogue behind it.

    Without a time given, every day of the fixtures is final. Where tables are given, only they and
    what they are made from are built.
    """
    workspace = _workspace(settings_file, hook, at)
    changed = {"workers": workers, "memory_limit": memory_limit}
    for name, value in changed.items():
        if value is not None:
            object.__setattr__(workspace.settings, name, value)
    with workspace.locked() as lake:
        land_days(workspace, None)
        for day in days_to_build(workspace, list(asked) or stale_days(workspace)):
            if is_stale(workspace, Ledger.read(lake), day, asked):
                if day in asked:
                    ask_for(workspace, day)
                _build(workspace, day, tables)
    return workspace


def build_day(
    settings_file: Path, day: dt.date, hook: Callable[[str, Path], None] | None = None
) -> None:
    """Build one day from what has landed, as Dagster's job does."""
    workspace = _workspace(settings_file, hook)
    with workspace.locked():
        _build(workspace, day)


def _build(workspace: Workspace, day: dt.date, tables: tuple[str, ...] = ()) -> None:
    wanted = _with_sources(tables or tuple(transforms()))
    outcomes = [
        o for t in transforms() if t in wanted for o in build_table_of_day(workspace, t, day)
    ]
    problems = [o.problem for o in outcomes if o.problem]
    assert not problems, problems
    publish_catalogue(workspace, day)


def _with_sources(tables: tuple[str, ...]) -> set[str]:
    """The tables and all that they are made from."""
    wanted, left = set(tables), list(tables)
    while left:
        reads = {r.table for r in transforms()[left.pop()].reads} & transforms().keys()
        left.extend(reads - wanted)
        wanted |= reads
    return wanted


def _workspace(
    settings_file: Path,
    hook: Callable[[str, Path], None] | None,
    at: dt.datetime | None = None,
) -> Workspace:
    workspace = Workspace(settings_file)
    if at is not None:
        workspace.clock = lambda: at
    if hook is not None:
        # A lake that counts as locked already: what a test does at a rename stands in its hook.
        workspace._held = Lake(workspace.settings.lake_path, hook)
    return workspace


def land_all(settings_file: Path, hook: Callable[[str, Path], None] | None = None) -> None:
    """Land everything and build nothing."""
    workspace = _workspace(settings_file, hook)
    with workspace.locked():
        land_days(workspace, None)


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


def assert_readable(folder: Path) -> None:
    """Whatever stands there is whole, and all that the ledger lists is there."""
    lake = Lake(folder / "lake")
    for path in lake.everything():
        pl.read_parquet(path, hive_partitioning=False)
    for part in Ledger.read(lake).all_parts():
        assert part.path.is_file()
    if (folder / "podledger.duckdb").exists():
        catalogue_rows(folder / "podledger.duckdb")


def published(folder: Path) -> set[str]:
    """Every file of the lake that a rename put there."""
    return {
        path.relative_to(folder).as_posix()
        for path in (folder / "lake").glob("*/date=*/*")
        if not path.name.startswith(".tmp-")
    }


def untouched_processes() -> ForkServerContext:
    """Processes that are forked from one that has imported everything and done nothing."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.pipelines.plain_build"])
    return context

"""A full disk, a read-only lake, a damaged file, a second build: each ends with a clear message.

What can go wrong, what is said of it, and with which exit code: 2 ends the command and leaves what
was published; 3 goes on without that input, which lands with the next run. Each test runs again
without the fault and compares the files with those of an undisturbed build.

| here | message | code |
|---|---|---|
| the disk is full | `FILE: No space left on device; nothing half-written is visible, …` | 2 |
| the history cannot grow | `Dagster's history in FOLDER: disk I/O error; …` | 2 |
| the catalogue cannot grow | `CATALOGUE: cannot be written: …` | 2 |
| the lake is read-only | `lake FOLDER: Read-only file system; expected a folder …` | 2 |
| a folder of it is refused | `FILE: Permission denied; nothing half-written …` | 2 |
| a part is missing or damaged | `FILE: missing; …`, `FILE: damaged (…); …` | 1 |
| a commit is damaged | `FILE: damaged (…); restore it; …` | 2 |
| memory runs out in a table | none: one thread builds it | 0 |
| a parsing process is ended | `a process that parsed was ended from outside, …` | 2 |
| a second build | `lake FOLDER is in use by OWNER (process N); try again later` | 2 |

| test_crash, test_storage | message | code |
|---|---|---|
| SIGKILL at each rename, at any moment | none: the rerun finishes, the lock is free | 0 |

| landing.test_land, cli.test_build | message | code |
|---|---|---|
| an input or its folder is refused | `not read: PATH: Permission denied; …` | 3 |
| an input vanished | `…: vanished; expected a file of N bytes` | 3 |
| an input is replaced while it is read | `…: replaced while it was read; …` | 3 |
| an input grows while it is read | none: it is read as it was listed, the rest is read later | 0 |

| test_remote_lake | message | code |
|---|---|---|
| 500, SlowDown, 403, full store, reset: PUT | `URL: cannot be written (REASON); nothing …` | 2 |
| 500, SlowDown, reset, wrong length: an input | `URL: cannot be fetched (REASON)` | 3 |
| the same: a file of the lake | `URL: cannot be fetched (REASON)` | 2 |
| each of them now and then | none: the store is asked again | 0 |
| the store cannot be listed or reached | `URL: cannot be listed (REASON)` | 2 |
| no credentials | `URL: cannot be listed (NoCredentialsError: Unable to …)` | 2 |
| no room for the copy | `FILE: No space left on device` | 2 |
| SIGKILL at any moment | none: the rerun takes the lock over at once | 0 |
| a second build | `lake URL is in use by OWNER (process N); if that one is dead, …` | 2 |
| the lock of a build of another machine | the same, until it was not renewed for 5 minutes | 2 |
| a lock that cannot be renewed | `lake URL: its lock could not be renewed for 210 s, …` | 2 |
"""

import errno
import os
import re
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

import pipelines.landing.land as land_module
import pipelines.side_by_side as side_by_side_module
from pipelines.catalog import write_catalog
from pipelines.errors import LakeDamagedError, LakeWriteError, ResourceError
from pipelines.ledger import Ledger
from pipelines.publication import _Hashed
from pipelines.run import Workspace, build_table_of_day
from pipelines.storage import Lake
from tests.pipelines.cli.command import Ended, podledger
from tests.pipelines.plain_build import (
    assert_readable,
    build_all,
    build_day,
    digests,
    land_all,
    lay_out_small_day,
    published,
    untouched_processes,
)
from tests.pipelines.test_crash import DAY
from transforms.sql import SqlSession


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    build_all(lay_out_small_day(folder))
    return folder


@pytest.fixture
def lake(built: Path, tmp_path: Path) -> Path:
    """A built lake to damage."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    return tmp_path


def build(folder: Path, *arguments: object) -> Ended:
    return podledger("build", "--config", folder / "podledger.yaml", *arguments)


def make_stale(folder: Path) -> None:
    """Change a setting that goes into every table of every day."""
    path = folder / "podledger.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["look_ahead"] = "2h"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def part_of(folder: Path, table: str) -> Path:
    return Ledger.read(Lake(folder / "lake")).parts(table, None, None, None)[0].path


class Disk:
    """A disk with room for some bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room = room
        write = _Hashed.write

        def write_if_room(file: _Hashed, data: bytes) -> int:
            self.room -= len(data)
            if self.room < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file._path))
            return write(file, data)

        monkeypatch.setattr(_Hashed, "write", write_if_room)


def test_a_disk_that_fills_again_and_again_leaves_whole_files_and_a_rerun_finishes(
    tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = lay_out_small_day(tmp_path)
    for room in (0, 5_000, 40_000, 80_000, 120_000, 60_000, 60_000, 60_000):
        with monkeypatch.context() as patch:
            Disk(patch, room)
            with pytest.raises(LakeWriteError, match=r"\.parquet: No space left on device;"):
                build_all(settings)
        assert_readable(tmp_path)
        assert not list((tmp_path / "lake").rglob(".tmp-*.parquet"))
    build_all(settings)
    assert digests(tmp_path / "lake") == digests(built / "lake")


def without_room(what: str, folder: Path, most: int) -> None:
    """Do something where no file can have more bytes, whoever writes it; note how it ended."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    if what == "build":
        ended = build(folder)
    else:
        try:
            write_catalog(Lake(folder / "lake"), folder / "podledger.duckdb")
        except LakeWriteError as error:
            ended = Ended(error.exit_code, "", str(error))
    (folder / "ended").write_text(f"{ended.code}\n{ended.out}{ended.err}", encoding="utf-8")


@pytest.mark.parametrize(
    ("what", "most", "message"),
    [
        ("build", 30_000, "Dagster's history in {0}/.dagster: disk I/O error; expected a folder"),
        ("catalogue", 1_000_000, "{0}/podledger.duckdb: cannot be written: FATAL Error: Failed"),
    ],
)
def test_a_disk_that_refuses_the_history_or_the_catalogue_is_named(
    lake: Path, what: str, most: int, message: str
) -> None:
    before = (lake / "podledger.duckdb").read_bytes()
    process = untouched_processes().Process(target=without_room, args=(what, lake, most))
    process.start()
    process.join()
    code, printed = (lake / "ended").read_text(encoding="utf-8").split("\n", 1)
    assert code == "2"
    assert message.format(lake) in printed
    assert "Traceback" not in printed
    assert (lake / "podledger.duckdb").read_bytes() == before
    assert not list(lake.glob(".tmp-*"))
    assert_readable(lake)


def test_a_lake_that_cannot_be_written_is_named(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = published(lake)
    opened = os.open

    def refuse(path: object, flags: int, *arguments: int) -> int:
        if str(path).startswith(str(lake / "lake")) and flags & os.O_RDWR:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, flags, *arguments)

    monkeypatch.setattr("os.open", refuse)
    ended = build(lake)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"error: lake {lake / 'lake'}: Read-only file system; "
        "expected a folder that can be written\n"
    )
    assert published(lake) == before


def test_a_table_whose_folder_cannot_be_written_is_named(
    tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = lay_out_small_day(tmp_path)
    land_all(settings)
    make = Path.mkdir

    def refuse(path: Path, *arguments: object, **named: object) -> None:
        if path.parent.name == "runs":
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        make(path, *arguments, **named)

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(LakeWriteError, match=r"runs/date=2026-03-10/fleet\.parquet: Permission"):
        build_day(settings, DAY)
    monkeypatch.undo()
    build_all(settings)
    assert digests(tmp_path / "lake") == digests(built / "lake")


def test_a_missing_part_is_named_and_what_does_not_need_it_is_built(lake: Path) -> None:
    make_stale(lake)
    part = part_of(lake, "object_requests")
    part.unlink()
    ended = build(lake, "--date", DAY)
    assert ended.code == 1
    assert f"{part}: missing; restore it, or remove the commit of the same name" in ended.out
    assert "Traceback" not in ended.out + ended.err
    assert "built 2026-03-10" not in ended.out


def damage_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def damage_pages(path: Path) -> None:
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    path.write_bytes(bytes(byte ^ 0xFF for byte in data[:footer]) + data[footer:])


@pytest.mark.parametrize("damage", [damage_end, damage_pages])
def test_a_damaged_part_is_named(lake: Path, damage: Callable[[Path], None]) -> None:
    part = part_of(lake, "counter_samples")
    damage(part)
    workspace = Workspace(lake / "podledger.yaml")
    (lake / "lake/counter_increments/date=2026-03-10/alder.parquet").unlink()
    (outcome,) = build_table_of_day(workspace, "counter_increments", DAY)
    assert outcome.problem.startswith(f"{part}: damaged (")


def test_a_damaged_commit_is_named(lake: Path) -> None:
    commit = min((lake / "lake/export_files").rglob("*.parquet"))
    damage_end(commit)
    for command in ("build", "status"):
        ended = podledger(command, "--config", lake / "podledger.yaml")
        assert ended.code == 2
        assert ended.err.startswith(f"error: {commit}: damaged (no whole Parquet file); restore it")


def test_a_damaged_intermediate_file_is_named_and_made_again_once_it_is_removed(
    lake: Path, built: Path
) -> None:
    path = lake / "lake/pod_intervals/date=2026-03-10/alder.parquet"
    damage_pages(path)
    (lake / "lake/runs/date=2026-03-10/fleet.parquet").unlink()
    workspace = Workspace(lake / "podledger.yaml")
    (outcome,) = build_table_of_day(workspace, "runs", DAY)
    assert outcome.problem.startswith(f"{path}: damaged (")
    assert outcome.problem.endswith("; remove it and build its day again")
    with pytest.raises(LakeDamagedError, match=re.escape(f"{path}: damaged (")):
        write_catalog(Lake(lake / "lake"), lake / "podledger.duckdb")
    path.unlink()
    build_all(lake / "podledger.yaml")
    assert digests(lake / "lake") == digests(built / "lake")


def test_a_part_that_is_gone_lands_again_once_its_commit_is_removed(
    lake: Path, built: Path
) -> None:
    part = part_of(lake, "flows")
    part.unlink()
    (lake / "lake/export_files" / part.parent.name / part.name).unlink()
    build_all(lake / "podledger.yaml")
    assert digests(lake / "lake") == digests(built / "lake")


def test_reading_commands_name_a_damaged_file(lake: Path) -> None:
    part = part_of(lake, "counter_samples")
    damage_pages(part)
    ended = podledger("show", "counter_samples", "--config", lake / "podledger.yaml")
    assert ended.code == 2
    assert ended.err.startswith(f"error: {part}: damaged")


def test_the_second_of_two_builds_is_told_who_holds_the_lake(lake: Path) -> None:
    before = published(lake)
    with Lake(lake / "lake").locked("night job on node-1"):
        ended = build(lake)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"error: lake {lake / 'lake'} is in use by night job on node-1 "
        f"(process {os.getpid()}); try again later\n"
    )
    assert published(lake) == before


def test_a_table_that_needs_too_much_memory_is_built_with_one_thread(
    lake: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that has not enough for two threads stands in for a large day."""
    asked = []

    class Engine(SqlSession):
        def __init__(self, *, threads: int, **settings: Any) -> None:
            asked.append(threads)
            if threads > 1:
                message = "Out of Memory Error: failed to pin block"
                raise duckdb.OutOfMemoryException(message)
            super().__init__(threads=threads, **settings)

    monkeypatch.setattr(side_by_side_module, "SqlSession", Engine)
    (lake / "lake/runs/date=2026-03-10/fleet.parquet").unlink()
    (outcome,) = build_table_of_day(Workspace(lake / "podledger.yaml"), "runs", DAY)
    assert outcome.published is not None
    assert asked == [2, 1]
    assert digests(lake / "lake") == digests(built / "lake")


def end_at_once(*_arguments: object) -> None:
    """What the system does to the largest process when memory runs out."""
    os._exit(9)


def test_a_parsing_process_that_is_ended_from_outside_ends_with_a_message(
    tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = lay_out_small_day(tmp_path)
    monkeypatch.setattr(land_module, "PARALLEL_FROM", 0)
    monkeypatch.setattr(land_module, "MEMORY_OF_WORKER", 1)
    monkeypatch.setattr(land_module, "parse_batch", end_at_once)
    with pytest.raises(ResourceError, match="a process that parsed was ended from outside"):
        land_all(settings)
    monkeypatch.undo()
    build_all(settings)
    assert digests(tmp_path / "lake") == digests(built / "lake")

"""A build that dies at any moment leaves everything readable, and a rerun finishes the work."""

import datetime as dt
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.pipelines.landing_zone import SETTINGS, line, put, zone
from tests.pipelines.plain_build import (
    assert_readable,
    build_all,
    build_day,
    catalogue_rows,
    digests,
    land_all,
    lay_out_small_day,
    published,
    untouched_processes,
)

DAY = dt.date(2026, 3, 10)
KILLS_PER_LAKE = 10
LITTLE = ("pod_traffic",)
LONGEST_STEP_SECONDS = 0.2
"""About what passes between two renames."""
LANDED = ("export_files", "rejected_records", "object_requests", "deliveries")


class Killed(BaseException):
    """What a test raises in place of a kill; nothing catches it."""


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small day that has landed and is not built."""
    folder = tmp_path_factory.mktemp("landed")
    land_all(lay_out_small_day(folder))
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same day landed and built in one go."""
    folder = tmp_path_factory.mktemp("undisturbed")
    build_all(lay_out_small_day(folder))
    return folder


def assert_equal(folder: Path, undisturbed: Path) -> None:
    assert digests(folder / "lake") == digests(undisturbed / "lake")
    assert catalogue_rows(folder / "podledger.duckdb") == catalogue_rows(
        undisturbed / "podledger.duckdb"
    )
    assert not list((folder / "lake").rglob(".tmp-*.*"))


def die_everywhere(folder: Path, run: Callable[[Callable[[str, Path], None]], None]) -> set[str]:
    """Run again and again, each time to a new place to die: before and after every rename.

    Returns:
        Every path below the folder at whose rename a run died, twice.
    """
    died: set[tuple[str, str]] = set()

    def die(moment: str, path: Path) -> None:
        place = (moment, path.relative_to(folder).as_posix())
        if place not in died:
            died.add(place)
            raise Killed

    for _ in range(400):
        try:
            run(die)
        except Killed:
            assert_readable(folder)
        else:
            break
    places = {name for _, name in died}
    assert died == {(moment, name) for moment in ("before", "after") for name in places}
    return places


def test_landing_that_dies_at_every_rename_lands_every_record_once(tmp_path: Path) -> None:
    """Two landing days, repeated and refused records; parts, rejects, commits and deliveries."""
    for number, name in enumerate(("calm", "dying")):
        folder = tmp_path / name
        put(folder, "a.log", [line(1), line(2), "this is no log line"])
        put(folder, "b.log", [line(2), line(3)], day="2026-03-11")
        zone(folder, SETTINGS)
        settings_file = folder / "podledger.yaml"
        if number == 0:
            land_all(settings_file)
            continue
        places = die_everywhere(folder, lambda die, file=settings_file: land_all(file, die))
        assert published(folder) <= places
    assert_staged_equal(tmp_path / "calm", tmp_path / "dying")


def assert_staged_equal(calm: Path, dying: Path) -> None:
    """The same rows, but for what the folder's own name goes into."""
    for table in LANDED:
        rows = [
            pl.concat(
                pl.read_parquet(path, hive_partitioning=False)
                for path in sorted((folder / "lake" / table).rglob("*.parquet"))
            ).drop("export_file_id", "path", "part", "stored_mark", strict=False)
            for folder in (calm, dying)
        ]
        assert rows[0].sort(pl.all()).equals(rows[1].sort(pl.all())), table


def test_a_build_that_dies_at_every_rename_gives_the_same_files(
    tmp_path: Path, landed: Path, undisturbed: Path
) -> None:
    shutil.copytree(landed, tmp_path, dirs_exist_ok=True)
    before = published(tmp_path)

    def run(die: Callable[[str, Path], None]) -> None:
        build_day(tmp_path / "podledger.yaml", DAY, die)

    places = die_everywhere(tmp_path, run)
    assert published(tmp_path) - before <= places
    assert "podledger.duckdb" in places
    build_all(tmp_path / "podledger.yaml")
    assert_equal(tmp_path, undisturbed)


@pytest.mark.parametrize(
    ("kills", "tables"), [(20, LITTLE), pytest.param(200, (), marks=pytest.mark.slow)]
)
def test_a_build_killed_at_random_moments_gives_the_same_files(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, kills: int, tables: tuple[str, ...]
) -> None:
    """Kills spread over all that there is to do, writes among it; a lake suffers up to ten.

    Twenty while what is landed becomes one answer and the catalogue; two hundred of all answers.
    """
    undisturbed = tmp_path_factory.mktemp("undisturbed")
    build_all(lay_out_small_day(undisturbed), tables=tables)
    rng = random.Random(20260310)
    files = len(published(undisturbed))
    suffered = 0
    while suffered < kills:
        folder = tmp_path / f"after-{suffered}-kills"
        settings = lay_out_small_day(folder)
        for progress in sorted(rng.sample(range(files), KILLS_PER_LAKE)):
            process = untouched_processes().Process(
                target=build_all, args=(settings,), kwargs={"tables": tables}
            )
            process.start()
            while len(published(folder)) < progress and process.exitcode is None:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, LONGEST_STEP_SECONDS))
            if process.exitcode is not None:
                assert process.exitcode == 0
                break
            process.kill()
            process.join()
            suffered += 1
            assert_readable(folder)
        build_all(settings, tables=tables)
        assert_equal(folder, undisturbed)
        shutil.rmtree(folder)

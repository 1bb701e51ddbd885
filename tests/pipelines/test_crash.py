"""A build that dies at any moment leaves everything readable, and a rerun finishes the work."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipelines.ledger import Ledger
from tests.pipelines.plain_build import (
    build_all,
    catalogue_rows,
    digests,
    lay_out_small_day,
)


class Killed(BaseException):
    """What a test raises in place of a kill; nothing catches it."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    build_all(lay_out_small_day(folder))
    return folder


def assert_equal(folder: Path, undisturbed: Path) -> None:
    assert digests(folder / "lake") == digests(undisturbed / "lake")
    assert catalogue_rows(folder / "podledger.duckdb") == catalogue_rows(
        undisturbed / "podledger.duckdb"
    )
    assert not list((folder / "lake").rglob(".tmp-*"))


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_rerun_after_a_death_at_every_rename_gives_the_same_files(
    tmp_path: Path, undisturbed: Path, moment: str
) -> None:
    """Each run dies at its first rename that no earlier run died at, until one gets through."""
    settings = lay_out_small_day(tmp_path)
    died_at: set[str] = set()

    def die(when: str, path: Path) -> None:
        name = path.relative_to(tmp_path).as_posix()
        if when == moment and name not in died_at:
            died_at.add(name)
            raise Killed

    for _ in range(400):
        try:
            build_all(settings, die)
        except Killed:
            readable(tmp_path)
        else:
            break
    published = {p.relative_to(tmp_path).as_posix() for p in (tmp_path / "lake").rglob("*.parquet")}
    assert published <= died_at
    assert "podledger.duckdb" in died_at
    build_all(settings)
    assert_equal(tmp_path, undisturbed)


def readable(folder: Path) -> None:
    """Whatever stands there is whole."""
    ledger = Ledger.read(build_lake(folder))
    for table in ("flows", "pod_states", "object_requests"):
        for part in ledger.parts(table, None, None, None):
            assert part.path.is_file()
    if (folder / "podledger.duckdb").exists():
        catalogue_rows(folder / "podledger.duckdb")


def build_lake(folder: Path):
    from pipelines.storage import Lake

    return Lake(folder / "lake")


@pytest.mark.parametrize("seed", range(4))
def test_a_rerun_after_a_kill_at_random_moments_gives_the_same_files(
    tmp_path: Path, undisturbed: Path, seed: int
) -> None:
    """Five kills per seed, each into an empty lake; twenty in all."""
    rng = random.Random(seed)
    for number in range(5):
        folder = tmp_path / str(number)
        settings = lay_out_small_day(folder)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipelines.plain_build", str(settings)],
            cwd=Path(__file__).parents[2],
        )
        wait_for_lake(folder, process)
        time.sleep(rng.uniform(0, 3.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        readable(folder)
        build_all(settings)
        assert_equal(folder, undisturbed)


def wait_for_lake(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until the build has begun, so that no kill is spent on imports."""
    for _ in range(600):
        if (folder / "lake").exists() or process.poll() is not None:
            return
        time.sleep(0.05)

"""A partition is a pure function of its inputs."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from pipelines.fixtures import lay_out
from tests.pipelines.plain_build import build_all, catalogue_rows, digests, land_all

PROVISIONAL = dt.datetime(2026, 3, 12, 2, tzinfo=dt.UTC)
"""A night on which both days still await files."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both fixture days of both clusters, landed and built in one go."""
    folder = tmp_path_factory.mktemp("built")
    build_all(lay_out(folder))
    return folder


def assert_equal(folder: Path, built: Path) -> None:
    assert digests(folder / "lake") == digests(built / "lake")
    assert catalogue_rows(folder / "podledger.duckdb") == catalogue_rows(built / "podledger.duckdb")


def test_order_of_inputs_workers_and_memory_change_no_byte(built: Path, tmp_path: Path) -> None:
    settings = lay_out(tmp_path)
    content = yaml.safe_load(settings.read_text(encoding="utf-8"))
    content["exports"].reverse()
    settings.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    build_all(settings, workers=1, memory_limit=256_000_000)
    assert_equal(tmp_path, built)


@pytest.mark.slow
def test_files_that_land_in_portions_backwards_give_the_same_bytes(
    built: Path, tmp_path: Path
) -> None:
    """Grown files before what they grew from, copies before originals, late files after a build."""
    settings = lay_out(tmp_path)
    portions = arriving(tmp_path)
    next(portions)
    land_all(settings)
    next(portions)
    build_all(settings, at=PROVISIONAL)
    assert digests(tmp_path / "lake") != digests(built / "lake")
    next(portions)
    build_all(settings)
    assert_equal(tmp_path, built)


def arriving(folder: Path) -> Iterator[int]:
    """Hold all exports back, then let a third of them come each time, the last ones first."""
    exports, held = folder / "exports", folder / "held"
    exports.rename(held)
    paths = sorted(path.relative_to(held) for path in held.rglob("*") if path.is_file())
    for portion in (2, 1, 0):
        for path in paths[portion::3]:
            (exports / path).parent.mkdir(parents=True, exist_ok=True)
            (held / path).rename(exports / path)
        yield portion


def test_a_rerun_publishes_nothing(built: Path) -> None:
    def times() -> dict[Path, int]:
        return {p: p.stat().st_mtime_ns for p in built.rglob("*") if p.is_file()}

    before = times()
    build_all(built / "podledger.yaml")
    after = times()
    changed = {p.relative_to(built).as_posix() for p in after if before.get(p) != after[p]}
    assert changed == {"lake/.lock"}
    assert before.keys() == after.keys()

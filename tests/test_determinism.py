"""A partition is a pure function of its inputs."""

from pathlib import Path

import pytest
import yaml

from pipelines.fixtures import lay_out
from tests.pipelines.plain_build import build_all, catalogue_rows, digests


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    build_all(lay_out(folder))
    return folder


def test_order_of_inputs_workers_and_memory_change_no_byte(built: Path, tmp_path: Path) -> None:
    settings = lay_out(tmp_path)
    content = yaml.safe_load(settings.read_text(encoding="utf-8"))
    content["exports"].reverse()
    settings.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    build_all(settings, workers=1, memory_limit=256_000_000)
    assert digests(tmp_path / "lake") == digests(built / "lake")
    assert catalogue_rows(tmp_path / "podledger.duckdb") == catalogue_rows(
        built / "podledger.duckdb"
    )


def test_files_that_land_one_by_one_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    """Late files, in three landings, backwards: the last build equals the single one."""
    settings = lay_out(tmp_path)
    held = tmp_path / "held"
    paths = sorted(p for p in (tmp_path / "exports").rglob("*") if p.is_file())
    for number, path in enumerate(paths):
        if number % 3:
            target = held / str(number % 3) / path.relative_to(tmp_path)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
    build_all(settings)
    for group in ("2", "1"):
        for path in sorted(p for p in (held / group).rglob("*") if p.is_file()):
            target = tmp_path / path.relative_to(held / group)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        build_all(settings)
    assert digests(tmp_path / "lake") == digests(built / "lake")


def test_a_rerun_publishes_nothing(built: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in (built / "lake").rglob("*.parquet")}
    build_all(built / "podledger.yaml")
    assert {p: p.stat().st_mtime_ns for p in (built / "lake").rglob("*.parquet")} == before

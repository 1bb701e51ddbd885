"""The whole process tree keeps to `memory_limit`."""

import sys
from pathlib import Path

import pytest

from benchmarks.generate_day import generate
from benchmarks.timeline import follow
from pipelines.build import memory_of_engines, room_of
from pipelines.settings import LEAST_MEMORY, Settings
from pipelines.storage import Lake

GIGABYTE = 1_000_000_000


@pytest.mark.parametrize(
    ("limit", "engines", "sides"),
    [
        (LEAST_MEMORY, 400_000_000, 1),
        (2 * GIGABYTE, 900_000_000, 1),
        (4 * GIGABYTE, 2_400_000_000, 2),
        (20 * GIGABYTE, 12 * GIGABYTE, 2),
    ],
)
def test_engines_get_what_python_leaves(
    tmp_path: Path, limit: int, engines: int, sides: int
) -> None:
    settings = Settings.model_construct(memory_limit=limit, workers=2, temp_directory=None)
    assert memory_of_engines(settings) == engines
    room = room_of(settings, Lake(tmp_path))
    assert room.sides == sides
    with room.beside() as share:
        assert share.memory * sides == engines


@pytest.mark.slow
def test_a_day_is_built_within_the_least_limit(tmp_path: Path) -> None:
    generate(tmp_path, 300_000)
    settings = tmp_path / "podledger.yaml"
    text = settings.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("memory_limit:")]
    settings.write_text("\n".join([*lines, f"memory_limit: {LEAST_MEMORY}"]), encoding="utf-8")
    marks = tmp_path / "steps.jsonl"
    command = (sys.executable, "-m", "benchmarks.bench_day", "--build", str(settings), str(marks))
    timeline = follow(command, marks)
    assert {"landing", "repeat_transfers", "catalogue"} <= {step.name for step in timeline.steps}
    assert 300_000_000 < timeline.run.memory <= LEAST_MEMORY
    assert not list((tmp_path / "lake").glob(".tmp-*"))

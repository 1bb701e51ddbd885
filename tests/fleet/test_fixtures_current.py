"""The committed fixtures are what the simulator writes, and it knows nothing of the product."""

import ast
from pathlib import Path

from tests.fleet import secrets
from tests.fleet.__main__ import FIXTURES, WRITTEN_BY_PEOPLE
from tests.fleet.build import all_files

PRODUCT = {"schemas", "transforms", "pipelines"}


def _committed() -> dict[str, str]:
    return {
        path.relative_to(FIXTURES).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(FIXTURES.rglob("*"))
        if path.is_file()
    }


def test_committed_files_equal_what_the_simulator_writes() -> None:
    """A change of the simulator is committed together with the files that it writes."""
    committed = {name: text for name, text in _committed().items() if name not in WRITTEN_BY_PEOPLE}
    written = all_files()
    assert sorted(committed) == sorted(written)
    differing = [name for name, text in written.items() if committed[name] != text]
    assert differing == []


def test_two_simulations_are_equal() -> None:
    """The seed alone decides; neither time nor the order of a set does."""
    assert all_files() == all_files()


def test_simulator_imports_nothing_of_the_product() -> None:
    """The answers would prove nothing if they shared code with what they check."""
    imported = set()
    for source in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
    assert imported & PRODUCT == set()


def test_files_are_small() -> None:
    """People read the fixtures: no file above 200 kB, all together below 1.5 MB."""
    sizes = {name: len(text.encode()) for name, text in _committed().items()}
    assert [name for name, size in sizes.items() if size > 200_000] == []
    assert sum(sizes.values()) < 1_500_000


def test_every_planted_secret_stands_in_an_export() -> None:
    """A secret that no export holds would make the search for leaks vacuous."""
    text = "\n".join(text for name, text in _committed().items() if name.startswith("exports/"))
    assert [value for value in secrets.ALL if value not in text] == []


def test_no_planted_secret_stands_in_an_answer() -> None:
    """What is expected of the product never names a secret."""
    text = "\n".join(text for name, text in _committed().items() if name.startswith("expected/"))
    assert [value for value in secrets.ALL if value in text] == []

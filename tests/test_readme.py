"""README says what the code says."""

import re
from pathlib import Path

import pytest

from pipelines.landing.formats import formats_markdown

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_of_formats_is_that_of_the_parsers() -> None:
    assert formats_markdown() in README


@pytest.mark.parametrize("target", ["demo", "test", "dagster", "bench"])
def test_a_make_target_of_the_readme_exists(target: str) -> None:
    assert f"make {target}" in README
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert any(line.startswith(f"{target}:") for line in makefile.splitlines())


def test_every_command_of_the_readme_exists() -> None:
    from pipelines.cli.main import app

    commands = {c.callback.__name__ for c in app.registered_commands if c.callback}
    named = {word for line in README.splitlines() for word in _commands(line)}
    assert named <= commands
    assert {"build", "check", "status", "query", "explain", "dictionary"} <= named


def _commands(line: str) -> set[str]:
    """Words behind `podledger` where it begins a line of code or a piece of inline code."""
    return set(re.findall(r"(?:^|`)podledger ([a-z]+)", line))


def test_the_example_settings_are_valid(tmp_path: Path) -> None:
    from pipelines.settings import load_settings

    text = README.split("```yaml\n", 1)[1].split("```", 1)[0]
    path = tmp_path / "podledger.yaml"
    path.write_text(text, encoding="utf-8")
    assert load_settings(path).clusters

"""What the fixtures' README quotes stands where it says."""

import re
from pathlib import Path

import pytest

from tests.fleet.__main__ import FIXTURES

README = (FIXTURES / "README.md").read_text(encoding="utf-8")
LINES = re.findall(r"`(exports/[^`:\s]+):(\d+)` holds `([^`]+)`", README)
ROWS = re.findall(r"`(expected/[^`\s]+\.csv)` has `([^`]+)`", README)


def test_ten_rows_are_derived() -> None:
    assert len(ROWS) == 10
    assert len(LINES) >= 10


@pytest.mark.parametrize(("path", "number", "text"), LINES)
def test_line_of_an_export(path: str, number: str, text: str) -> None:
    lines = (FIXTURES / path).read_text(encoding="utf-8").split("\n")
    assert text in lines[int(number) - 1]


@pytest.mark.parametrize(("path", "text"), ROWS)
def test_row_of_an_answer(path: str, text: str) -> None:
    assert text in (FIXTURES / path).read_text(encoding="utf-8")


def test_every_answer_has_a_key() -> None:
    keys = (FIXTURES / "expected/keys.csv").read_text(encoding="utf-8").splitlines()[1:]
    named = {line.split(",")[0] for line in keys}
    assert named == {path.stem for path in Path(FIXTURES / "expected").glob("*.csv")} - {"keys"}

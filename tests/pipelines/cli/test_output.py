"""What is printed is safe to look at and to open, whatever an export held."""

import datetime as dt
import json
import time
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pipelines.cli.output import (
    Format,
    people_bytes,
    print_blocks,
    print_rows,
    table_lines,
    text,
    to_csv,
    to_json,
)

HOSTILE = "[red]x[/red]\x1b[2J\n\r\u202e=cmd"


def test_cells_are_one_printable_line() -> None:
    assert text(HOSTILE) == "[red]x[/red]\\x1b[2J\\n\\r\\u202e=cmd"
    assert text(None) == ""
    assert text(True) == "true"
    assert text(dt.datetime(2026, 3, 10, 1, 2, 3, tzinfo=dt.UTC)) == "2026-03-10T01:02:03.000000Z"
    assert text(Decimal("1.500000000")) == "1.500000000"
    assert text(["a", None]) == '["a", null]'


@given(st.text())
def test_any_text_is_printable(value: str) -> None:
    assert text(value).isprintable()


@pytest.mark.parametrize("first", ["=", "+", "-", "@"])
def test_a_spreadsheet_runs_no_cell(first: str) -> None:
    assert to_csv(["a"], [[f"{first}1+1"]]) == f"a\n'{first}1+1\n"


def test_a_negative_number_stays_a_number_in_csv() -> None:
    assert to_csv(["a", "b"], [[-5, None]]) == "a,b\n-5,\n"


def test_json_keeps_numbers_and_nulls() -> None:
    assert json.loads(to_json([{"a": 1, "b": None, "c": [dt.date(2026, 3, 10)]}])) == [
        {"a": 1, "b": None, "c": ["2026-03-10"]}
    ]


def test_json_holds_any_cell_of_the_engine() -> None:
    values = [
        dt.timedelta(hours=1),
        dt.time(10),
        UUID("6f1e3c36-0000-4000-8000-00000000000a"),
        float("nan"),
        float("-inf"),
        1.5,
    ]
    assert json.loads(to_json(values)) == [
        "1:00:00",
        "10:00:00",
        "6f1e3c36-0000-4000-8000-00000000000a",
        "nan",
        "-inf",
        1.5,
    ]


def test_columns_of_one_name_are_all_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["a", "a", "a_1", "a"], [[1, 2, 3, 4]], Format.JSON)
    assert json.loads(capsys.readouterr().out) == [{"a": 1, "a_1": 2, "a_1_1": 3, "a_2": 4}]


@pytest.mark.parametrize("form", [Format.JSON, Format.CSV])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_scripts_get_the_same_text_however_rows_are_parted(
    form: Format, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [[n, f"line {n}\nand\u2028more", [n, {"of": []}]] for n in range(count)]
    blocks = [rows[n : n + 2] for n in range(0, count, 2)]
    print_blocks(["n", "text", "list"], blocks, form)
    found = capsys.readouterr().out
    if form is Format.JSON:
        whole = to_json([dict(zip(["n", "text", "list"], row, strict=True)) for row in rows])
    else:
        whole = to_csv(["n", "text", "list"], rows).removesuffix("\n")
    assert found == f"{whole}\n"


def test_each_block_of_a_table_has_its_names_and_none_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_blocks(["name"], [[["a"]], [["long"]]])
    assert capsys.readouterr().out == "name\na\n\nname\nlong\n"
    print_blocks(["name"], [])
    assert capsys.readouterr().out == "no rows\n"


def test_a_time_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert text(dt.datetime(2026, 3, 10, 1)) == "2026-03-10T01:00:00.000000Z"  # noqa: DTZ001
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("width", [1, 12, 40])
def test_what_is_to_stay_whole_is_never_shortened(width: int) -> None:
    lines = table_lines(["range", "name"], [["0.00 to 12.34", "x" * 99]], width, {"range"})
    assert "0.00 to 12.34" in "\n".join(lines)
    assert "x" * 99 not in "\n".join(lines)


@pytest.mark.parametrize("width", [1, 3, 20])
def test_a_number_is_whole_in_any_terminal(width: int) -> None:
    lines = table_lines(["bytes", "name"], [[9_223_372_036_854_775_807, "x" * 99]], width)
    assert "9223372036854775807" in "\n".join(lines)
    assert "x" in "\n".join(lines)


def test_markup_is_shown_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["a"], [["[bold]x[/bold]"]])
    assert "[bold]x[/bold]" in capsys.readouterr().out


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("count", [1, 5, 30])
def test_a_table_fits_the_terminal(width: int, count: int) -> None:
    columns = [f"column_{n}" for n in range(count)]
    rows = [["x" * 50, *[n * 10**9 for n in range(1, count)]]] * 2
    lines = table_lines(columns, rows, width)
    assert max(cell_len(printed) for printed in lines) <= width


def test_numbers_are_never_shortened_and_texts_lose_their_middle() -> None:
    lines = table_lines(["name", "bytes"], [["abcdefghij" * 3, 123456789012]], 30)
    assert lines == ["name                     bytes", "abcdefghij…fghij  123456789012"]


def test_rows_of_many_columns_stand_upright_without_their_nulls() -> None:
    columns = [f"column_{n}" for n in range(9)]
    lines = table_lines(columns, [[1, None, 3, 4, 5, 6, 7, 8, 9]], 40)
    assert lines[0] == "column_0  1"
    assert lines[1] == "column_2  3"
    assert len(lines) == 8


def test_a_name_between_colons_is_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["image"], [("registry.example.com:key:1",)], Format.JSON)
    assert json.loads(capsys.readouterr().out) == [{"image": "registry.example.com:key:1"}]


def test_csv_and_json_are_never_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["a"], [["x" * 500]], Format.CSV)
    assert capsys.readouterr().out == "a\n" + "x" * 500 + "\n"


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (-2_000_000, "-2.0 MB"), (None, "not measured")],
)
def test_bytes_for_people(size: int | None, shown: str) -> None:
    assert people_bytes(size) == shown

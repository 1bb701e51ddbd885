"""Tables as CSV whose values hold line ends: what a reader of the whole text finds, by lines."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.staging.export_text import check_each, lines, word, words
from transforms.staging.csv_tables import MAX_LINES, Table, head_columns, parse_table
from transforms.staging.parser import RawRecord


def table() -> Table:
    return Table(
        canonical=str.lower,
        needed=frozenset({"id", "note"}),
        marks=(b"note", b"NOTE"),
        read=lambda row, text_id: ("t", {**row, "record_id": text_id}),
        shown=frozenset(),
    )


def parsed(text: str | list[RawRecord]):
    found = list(parse_table(lines(text) if isinstance(text, str) else text, table()))
    check_each(found)
    return found


def values(found):
    return [{k: v for k, v in r.rows[0][1].items() if k != "record_id"} for r in found if r.rows]


# Blank lines are no records, so that a line end never stands at a line's beginning.
CELL = st.text(st.sampled_from('ab,";{é\n '), max_size=8).map(
    lambda text: "\n".join(part.strip(" \r") or "x" for part in text.split("\n"))
)
ROWS = st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=12)


@settings(max_examples=30)
@given(ROWS, st.sampled_from(("\n", "\r\n")))
def test_any_table_gives_the_rows_that_a_reader_of_its_whole_text_finds(cells, end):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(("id", "note", "more"))
    writer.writerows(cells)
    found = parsed(text.getvalue())
    whole = list(csv.reader(io.StringIO(text.getvalue())))
    assert [tuple(row.values()) for row in values(found)] == [tuple(row) for row in whole[1:]]
    assert set(words(found)) <= {"header", "partial", "accepted"}
    assert len(found) == len([x for x in text.getvalue().split("\n") if x.strip()])


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(("id", "two", "open", "cut")), min_size=1, max_size=30),
)
def test_a_quote_that_does_not_end_costs_its_own_line_only(kinds):
    text, expected = ["id,note,more"], []
    for number, kind in enumerate(kinds):
        if kind == "two":
            text += [f'{number},"first', f'second",{kind}']
        elif kind == "open":
            # Neither a record nor the beginning of one, whatever stands behind it.
            text.append(f'{number},a,b,c,"never closed')
        elif kind == "cut":
            text.append(f"{number},a")
        else:
            text.append(f"{number},plain,{kind}")
        if kind in {"id", "two"}:
            expected.append(str(number))
    found = parsed("\n".join(text))
    assert {row["id"] for row in values(found)} <= set(expected)
    if "two" not in kinds:
        assert [row["id"] for row in values(found)] == expected
    assert len(found) == len(text)


def test_a_record_has_the_place_of_its_last_line_and_the_others_are_partial():
    found = parsed('ID,NOTE\n1,"a\nb\nc"\n2,d\n')
    assert [(p.locator, p.offset, word(p)) for p in found] == [
        ("line 1", 0, "header"),
        ("line 2", 8, "partial"),
        ("line 3", 13, "partial"),
        ("line 4", 15, "accepted"),
        ("line 5", 18, "accepted"),
    ]
    assert values(found) == [{"id": "1", "note": "a\nb\nc"}, {"id": "2", "note": "d"}]


def test_a_record_of_too_many_lines_is_refused_line_by_line():
    text = "id,note\n1," + '"a\n' + "b\n" * MAX_LINES + 'c"\n2,d\n'
    found = parsed(text)
    assert values(found) == [{"id": "2", "note": "d"}]
    assert words(found)["unreadable_line"] >= 1
    assert len(found) == MAX_LINES + 4


@pytest.mark.parametrize(
    ("text", "fates"),
    [
        ("1,a", ["no_header"]),
        ("id,note\n1", ["header", "columns"]),
        ("id,note,ID\n1,a,b", ["duplicate_column", "no_header"]),
        ("id,note,,\n1,a,,", ["duplicate_column", "no_header"]),
        ("id,note," + ",".join(f"c{n}" for n in range(2_000)), ["too_many_columns"]),
        ("id,note\n1,a\nnote,id\nb,2", ["header", "accepted", "header", "accepted"]),
        ('{"id": 1}', ["no_columns"]),
        ('{"ID": 1.5, "note": null}', ["accepted"]),
        ('{"id": 1', ["invalid_json"]),
        ('id,note\n1,a"b', ["header", "accepted"]),
        ('id,note\n"1"x,a', ["header", "unreadable_line"]),
        ("id,note\n1," + "x" * 200_000, ["header", "unreadable_line"]),
    ],
)
def test_what_is_no_record_is_refused_with_its_reason(text, fates):
    assert [word(p) for p in parsed(text)] == fates


def test_numbers_of_rows_keep_every_digit():
    [found] = parsed('{"id": 0.1000000000000000055511151231257827, "note": 12345678901234567890}')
    assert str(found.rows[0][1]["id"]) == "0.1000000000000000055511151231257827"
    assert found.rows[0][1]["note"] == 12345678901234567890


def test_columns_of_a_head_are_those_of_its_first_line_or_row():
    assert head_columns(b"ID,Note\n1,2", str.lower) == {"id", "note"}
    assert head_columns(b'{"ID": 1, "Note": "x", "More', str.lower) >= {"id", "note"}
    assert head_columns(b"", str.lower) <= {""}
    assert head_columns(b'"open', str.lower) == frozenset()

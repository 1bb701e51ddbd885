from datetime import UTC, datetime

import pyarrow as pa
import pytest

from transforms.staging.column_rules import (
    INSTANT,
    INTEGER,
    TEXT,
    TEXTS,
    Doubts,
    Rule,
    Rules,
    instants,
    numbers,
    texts,
)
from transforms.staging.hubble_values import instant, number
from transforms.staging.refusal import refuse


def short(text: str) -> str | None:
    if len(text) > 3:
        refuse("wrong_value", "a short text")
    return text.lower() or None


SHORT = Rule(short, TEXT)
NUMBER = Rule(lambda text: number(text, "", 99), INTEGER, is_text=False)
TIME = Rule(lambda text: instant(text, ""), INSTANT)


def column(*values: str | None) -> pa.Array:
    return pa.array(values, TEXT)


def doubted(doubts: Doubts) -> list[int]:
    mask = doubts.mask.to_pylist() if doubts.mask is not None else []
    return [i for i, is_doubtful in enumerate(mask) if is_doubtful]


def test_a_rule_reads_each_value_and_keeps_nulls():
    doubts = Doubts()
    assert SHORT.apply(column("A", None, "b", "", "A"), doubts).to_pylist() == [
        "a", None, "b", None, "a",
    ]  # fmt: skip
    assert doubted(doubts) == []


def test_a_rule_reads_a_distinct_text_once():
    read = []
    rule = Rule(lambda text: read.append(text) or text, TEXT)
    for _ in range(3):
        rule.apply(column(*"abcabc"), Doubts())
    assert read == ["a", "b", "c"]


@pytest.mark.parametrize(
    "text", ["long text", "1", "-1", "1.5", "1e5", "true", "null", "{}", "[1]", '{"a":\n1}']
)
def test_what_cannot_be_read_or_may_be_no_text_is_in_doubt(text):
    doubts = Doubts()
    found = SHORT.apply(column("ab", text, None), doubts)
    assert found.to_pylist() == ["ab", None, None]
    assert doubted(doubts) == [1]


@pytest.mark.parametrize("text", ["1.2.3.4", "1-2", "1e", "tru", "NaN", "a1", "-"])
def test_what_no_json_value_but_a_text_looks_like_is_a_text(text):
    doubts = Doubts()
    rule = Rule(str, TEXT)
    assert rule.apply(column(text), doubts).to_pylist() == [text]
    assert doubted(doubts) == []


def test_rules_give_several_columns_of_one():
    doubts = Doubts()
    rules = Rules(
        lambda text: {"low": short(text), "size": len(text)}, {"low": TEXT, "size": INTEGER}
    )
    found = rules.apply(column("A", None, "long text", "BC"), doubts)
    assert found["low"].to_pylist() == ["a", None, None, "bc"]
    assert found["size"].to_pylist() == [1, None, None, 2]
    assert doubted(doubts) == [2]
    empty = rules.apply(column(None), doubts)
    assert [values.to_pylist() for values in empty.values()] == [[None], [None]]


def test_lists_are_read_by_element():
    doubts = Doubts()
    lists = pa.array([["A"], [], None, ["b", "c"]], TEXTS)
    assert texts(lists, SHORT, doubts).to_pylist() == [["a"], None, None, ["b", "c"]]
    kept = pa.array([True, True, False, False])
    assert texts(lists, SHORT, doubts, valid=kept).to_pylist() == [["a"], [], None, None]
    assert doubted(doubts) == []


def test_an_element_that_cannot_be_read_leaves_its_row_in_doubt():
    doubts = Doubts()
    lists = pa.array([["A"], ["b", "long text"], None, ["c", None], ["d", ""], ["e"]], TEXTS)
    texts(lists, SHORT, doubts)
    assert doubted(doubts) == [1, 3, 4]


def test_lists_of_a_slice_are_those_of_its_rows():
    lists = pa.array([["A"], ["B"], ["C", "D"], None, ["E"]], TEXTS).slice(2, 2)
    assert texts(lists, SHORT, Doubts()).to_pylist() == [["c", "d"], None]


def test_numbers_are_decimal_digits_up_to_a_maximum():
    doubts = Doubts()
    good = column("0", "7", None, "007", "99")
    assert numbers(good, NUMBER, doubts, maximum=99).to_pylist() == [0, 7, None, 7, 99]
    assert numbers(good, NUMBER, doubts, maximum=99, zero_is_null=True).to_pylist() == [
        None, 7, None, 7, 99,
    ]  # fmt: skip
    assert doubted(doubts) == []
    odd = column("1", "100", "-1", "1.0", "0x11", " 1", "", "9" * 30, "true")
    assert numbers(odd, NUMBER, doubts, maximum=99).to_pylist()[0] == 1
    assert doubted(doubts) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_times_are_cut_to_microseconds():
    doubts = Doubts()
    found = instants(
        column("2026-03-10T10:00:30Z", None, "2026-03-10T10:00:30.123456999Z"), TIME, doubts
    )
    assert found.to_pylist() == [
        datetime(2026, 3, 10, 10, 0, 30, tzinfo=UTC),
        None,
        datetime(2026, 3, 10, 10, 0, 30, 123_456, UTC),
    ]
    assert doubted(doubts) == []


def test_unusual_times_are_read_by_the_rule():
    doubts = Doubts()
    found = instants(
        column(
            "1969-12-31T23:59:59.9999999Z",
            "2026-03-10T11:00:30+01:00",
            "9999-12-31T23:59:59Z",
            "2026-03-10T10:00Z",
            "2026-03-10",
            "1773136830",
        ),
        TIME,
        doubts,
    )
    assert found.to_pylist()[:3] == [
        datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
        datetime(2026, 3, 10, 10, 0, 30, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    ]
    assert doubted(doubts) == [3, 4, 5]

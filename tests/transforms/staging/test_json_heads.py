import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging.json_heads import first_value

VALUE = {"kind": "List", "a": {"b": [1, {"c": "}],["}]}, "d": [True, None]}


def test_a_whole_first_line_is_its_value() -> None:
    assert first_value(b'\n {"a": 1}\n{"b": 2}\n{"c":') == {"a": 1}


def test_an_indented_document_is_its_value() -> None:
    assert first_value(json.dumps(VALUE, indent=1).encode()) == VALUE


def test_a_document_that_ends_anywhere_gives_its_whole_parts() -> None:
    assert first_value(b'{"kind": "List", "items": [{"a": 1, "b": {"c": [1, 2') == {
        "kind": "List", "items": [{"a": 1, "b": {"c": [1]}}],
    }  # fmt: skip
    assert first_value(b'{"kind": "List", "it') == {"kind": "List"}
    assert first_value(b'{"kind": "Li') == {}


def test_brackets_in_a_text_that_is_cut_are_none() -> None:
    assert first_value(rb'{"a": 1, "log": ["one", "{\"b\": [1, 2], \"c') == {"a": 1, "log": ["one"]}


def test_a_document_before_others_is_the_first_one() -> None:
    assert first_value(b'{\n "a": 1\n}\n{\n "b": 2') == {"a": 1}


@pytest.mark.parametrize(
    "head", [b"", b"text", b"12", b'"a"', b"{]", b"[}", b"]", b"{'a': 1}", b"[" * 70_000, b"\xff{"]
)
def test_what_is_no_json_gives_nothing(head: bytes) -> None:
    assert not first_value(head)


@given(st.integers(0, 90), st.sampled_from([None, 1]))
def test_every_beginning_of_a_document_is_answered(length: int, indent: int | None) -> None:
    found = first_value(json.dumps(VALUE, indent=indent).encode()[:length])
    assert found is None or set(found) <= set(VALUE)

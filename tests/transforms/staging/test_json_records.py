import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging.json_records import (
    Item,
    RecordError,
    decode,
    documents,
    masked,
    masked_place,
)
from transforms.staging.parser import RawRecord


class Part(msgspec.Struct):
    count: int | None = None
    names: list[str] | None = None


class Named(msgspec.Struct):
    name: str


PART = msgspec.json.Decoder(Part)


def test_a_part_of_a_document_is_located_by_its_path() -> None:
    whole = Item("$", "$", 0, b"{}")
    part = whole.part(".items[3]", b"{}")
    assert (part.locator, part.path, part.offset) == ("$.items[3]", "$.items[3]", None)
    assert part.part(".events[1]", b"{}").locator == "$.items[3].events[1]"


def test_a_part_of_a_line_is_located_behind_its_line() -> None:
    line = Item("line 7", "$", 90, b"{}")
    part = line.part(".items[3]", b"{}")
    assert (part.locator, part.path) == ("line 7 $.items[3]", "$.items[3]")
    assert part.part(".a", b"{}").locator == "line 7 $.items[3].a"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"count": "x"}', "wrong_type: expected int | null, got str at $.items[2].count"),
        (b'{"names": ["a", 5]}', "wrong_type: expected str, got int at $.items[2].names[1]"),
        (b"[]", "wrong_type: expected object, got array at $.items[2]"),
        (b'{"count": 1e999}',
         "out_of_range: expected another value, got: number out of range at $.items[2].count"),
        (b'{"count"', "invalid_json: expected JSON, got an end inside a value at $.items[2]"),
        (b'{"count": 1}}',
         "invalid_json: expected JSON, got trailing characters (byte 13) at $.items[2]"),
        (b'{"names": ["\xff"]}',
         "invalid_json: expected JSON, got Invalid UTF-8 encoded string at $.items[2]"),
        (b'{"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
         "too_deep: expected JSON of a few levels, got too many at $.items[2]"),
    ],
)  # fmt: skip
def test_what_cannot_be_decoded_says_where_and_why(data: bytes, reason: str) -> None:
    with pytest.raises(RecordError) as caught:
        decode(PART, data, "$.items[2]")
    assert str(caught.value) == reason


def test_a_missing_field_is_named() -> None:
    with pytest.raises(RecordError, match=r"\Ano_name: expected \$\.a\.name, got none\Z"):
        decode(msgspec.json.Decoder(Named), b"{}", "$.a")


def test_one_document_is_one_item() -> None:
    text = json.dumps({"a": [1, {"b": "}\n{"}]}, indent=2).encode()
    assert list(documents(RawRecord("$", 0, text))) == [Item("$", "$", 0, text)]


def test_a_line_is_one_item_without_its_byte_order_mark() -> None:
    raw = RawRecord("line 1", 0, b"\xef\xbb\xbf{}")
    assert list(documents(raw)) == [Item("line 1", "$", 0, b"{}")]


def test_documents_behind_each_other_are_told_apart() -> None:
    text = b'{\n "a": 1\n}\n{\n "a": "}\\n{"\n}\n\n[\n 2\n]\n'
    found = list(documents(RawRecord("$", 100, text)))
    assert [(item.locator, item.offset) for item in found] == [
        ("line 1", 100), ("line 4", 112), ("line 8", 130),
    ]  # fmt: skip
    assert [json.loads(item.data) for item in found] == [{"a": 1}, {"a": "}\n{"}, [2]]


def test_an_excerpt_keeps_structure_and_harmless_keys_only() -> None:
    data = (
        b'{"kind": "Pod", "metadata": {"name": "a", "labels": {"x": "planted"}}, '
        b'"spec": {"env": [{"name": "A", "value": "planted"}], "args": ["planted", "planted"]}, '
        b'"count": 12, "is": true, "note": plain, "cut": "plan'
    )
    assert masked(data).decode() == (
        '{"kind": "Pod", "metadata": {"name": "a", "labels": {"x": "…"}}, '
        '"spec": {"env": [{"name": "A", "value": "…"}], "args": ["…", "…"]}, '
        '"count": 12, "is": true, "note": …, "cut": "…"'
    )


def test_an_excerpt_of_what_is_no_json_is_left_to_redaction() -> None:
    assert masked(b"plain text") == b"plain text"


@given(st.integers(0, 200), st.sampled_from(['"', "\\", "\\\\", '\\"', ""]))
def test_no_cut_and_no_escape_shows_a_masked_text(cut: int, end: str) -> None:
    data = json.dumps({"name": "a", "spec": {"value": f"x{end}planted{end}", "b": ["planted"]}})
    assert b"planted" not in masked(data.encode()[:cut])


@pytest.mark.parametrize(
    ("data", "at", "shown"),
    [
        (b'{"kind":"Pod","x":1}', 8, b'"Pod","x":1}'),
        (b'{"kind":"Pod","x":1}', 18, b"1}"),
        (b'{"note":"free text","x":1}', 12, '…","x":1}'.encode()),
        (b'{"note":"free text","x":1}', 24, b"1}"),
        (b'{"note":nonsense,"x":1}', 8, '…,"x":1}'.encode()),
        (b'{"note":"cut', 12, b""),
        (b"no json at all", 3, b"json at all"),
    ],
)
def test_a_place_stays_at_its_value_when_texts_are_masked(data, at, shown):
    place = masked_place(data, at)
    assert place.raw[place.at :] == shown


def test_a_place_far_behind_the_beginning_is_not_sought():
    assert masked_place(b"[" + b"1," * 1_000_000, 1_500_000) is None
    assert masked_place(b"{}", None) is None

"""Records of JSON are found in lines, documents, arrays and lists under a key."""

import pytest

from tests.transforms.staging.export_text import CONTEXT
from transforms.staging.json_items import parse_items
from transforms.staging.parser import RawRecord
from transforms.staging.refusal import refuse


def read(item, _context):
    if b"ignored" in item.data:
        return "left_out"
    if b"refused" in item.data:
        refuse("word", "another word")
    return (("object_requests", {"text": item.data.decode()}),)


def found(locator: str, text: str, list_key: str | None = "Records"):
    raw = RawRecord(locator, 0, text.encode())
    parsed = parse_items([raw], CONTEXT, read, frozenset(), list_key)
    return [(p.locator, p.ignore or p.reject or p.rows[0][1]["text"]) for p in parsed]


@pytest.mark.parametrize(
    ("locator", "text", "places"),
    [
        ("line 3", '{"a":1}', ["line 3"]),
        ("$", '{"a":1}', ["$"]),
        ("$", '[{"a":1},{"b":2}]', ["$[0]", "$[1]"]),
        ("line 3", '[{"a":1}]', ["line 3 $[0]"]),
        ("$", '{"Records":[{"a":1},{"b":2}]}', ["$.Records[0]", "$.Records[1]"]),
        ("line 1", '{"x":0,"Records":[5]}', ["line 1 $.Records[0]"]),
        ("$", '{"Records":[]}', []),
        ("$", '{"a":1}\n{"b":2}', ["$"]),
        ("$", '{\n"a":1\n}\n{\n"b":2\n}', ["line 1", "line 4"]),
    ],
)
def test_each_record_has_its_place(locator, text, places):
    assert [place for place, _ in found(locator, text)] == places


def test_a_list_under_another_key_is_part_of_one_record():
    assert found("$", '{"records":[1]}') == [("$", '{"records":[1]}')]
    assert found("$", '{"Records":[1]}', None) == [("$", '{"Records":[1]}')]


def test_fates_stand_beside_each_other():
    assert found("$", '["ignored","refused","kept"]') == [
        ("$[0]", "left_out"), ("$[1]", "word: expected another word"), ("$[2]", '"kept"'),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"Records":{}}', "wrong_type: expected array, got object at $.Records"),
        ('{"Records":[1', "invalid_json: expected JSON, got an end inside a value at $"),
        ("5", "wrong_type: expected object, got int at $"),
    ],
)
def test_a_document_whose_list_cannot_be_read_is_one_reject(text, reason):
    assert found("$", text) == [("$", reason)]

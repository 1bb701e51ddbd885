"""The place of a JSON path is the byte at which its value begins."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging.json_places import place_of

TEXT = b'{"a": {"b": [1, {"c": "x"}, []]}, "flow": {"time": null}, "d":tru'


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", b'{"a"'),
        ("$.a", b'{"b"'),
        ("$.a.b", b"[1,"),
        ("$.a.b[0]", b"1,"),
        ("$.a.b[1].c", b'"x"'),
        ("$.a.b[2]", b"[]]"),
        ("$.flow.time", b"null"),
        ("$.d", b"tru"),
    ],
)
def test_a_path_leads_to_its_value(path: str, found: bytes) -> None:
    assert place_of(TEXT, path) == TEXT.index(found)


@pytest.mark.parametrize(
    "path",
    [
        "$.x",
        "$.a.b[3]",
        "$.a[0]",
        "$.a.b.c",
        "$.a.b[2][0]",
        "$.d.e",
        "a",
        "$.a..b",
        '$["a"]',
        "$[...]",
    ],
)
def test_a_path_to_nothing_has_no_place(path: str) -> None:
    assert place_of(TEXT, path) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(r"[a-z]{1,3}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=20,
)


@given(JSON)
def test_every_value_of_a_document_is_found(value: object) -> None:
    data = json.dumps(value).encode()
    waiting = [("$", value)]
    while waiting:
        path, part = waiting.pop()
        place = place_of(data, path)
        assert place is not None
        assert json.JSONDecoder().raw_decode(data[place:].decode())[0] == part
        if isinstance(part, dict):
            waiting += [(f"{path}.{key}", item) for key, item in part.items()]
        if isinstance(part, list):
            waiting += [(f"{path}[{index}]", item) for index, item in enumerate(part)]


@given(st.binary(max_size=40), st.sampled_from(["$", "$.a", "$[1]", "$.a[0].b"]))
def test_any_bytes_have_a_place_inside_or_none(data: bytes, path: str) -> None:
    place = place_of(data, path)
    assert place is None or 0 <= place < len(data)

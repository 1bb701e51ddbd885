import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging.json_prefix import MAX_DEPTH, Prefix

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=9,
)
WHOLE = st.lists(VALUE, max_size=4) | st.dictionaries(st.text(max_size=5), VALUE, max_size=4)


def read(*pieces: bytes) -> tuple[int | None, bool]:
    """Where the last piece ends the value, and whether the value is broken."""
    prefix = Prefix()
    end = None
    for piece in pieces:
        end = prefix.feed(piece)
    return end, prefix.is_broken


@given(WHOLE, st.sampled_from([None, 0, 2]))
def test_a_value_ends_where_it_ends_however_many_lines_it_has(value, indent):
    text = json.dumps(value, indent=indent).encode()
    lines = text.split(b"\n")
    assert read(*lines) == (len(lines[-1]), False)
    assert read(*lines[:-1], lines[-1] + b', {"next": 1}') == (len(lines[-1]), False)
    if len(lines) > 1:
        assert read(*lines[:-1]) == (None, False)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":"b', b'{"a"', b'{"a":', b'{"a":1,', b"{", b"[", b'["a",', b'{"a":[{"b":tru',
        b'{"a":{"b":"c"}',
    ],
)  # fmt: skip
def test_what_ends_inside_a_value_does_not_end_it(text):
    end, is_broken = read(text)
    assert end is None
    # A text that its line does not close is broken; another token may go on in the next line.
    assert is_broken == text.endswith(b"b")


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":{"b"{"flow":1}}', b'{"a" "b"}', b'{"a":1 "b":2}', b"{1:2}", b'{"a":}', b'{"a":1,}',
        b"[1,]", b"[,1]", b"{,}", b"[1 2]", b"[}", b"{]", b'{"a":[}', b"17", b'"a"', b"x", b"]",
        b"\x00{}", b'{"a":\x01}', b'{"a":"\x01"}',
    ],
)  # fmt: skip
def test_what_no_value_can_begin_with_is_broken(text):
    assert read(text) == (None, True)


def test_a_part_of_a_text_is_read_without_what_stands_around_it():
    assert Prefix().feed(b'xx{"a":1}yy', 2) == 9
    prefix = Prefix()
    assert prefix.feed(b'xx{"a":1}yy', 2, 7) is None
    assert not prefix.is_broken


def test_depth_is_bounded():
    assert read(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) == (2 * MAX_DEPTH, False)
    assert read(b"[" * (MAX_DEPTH + 1)) == (None, True)

"""Numbers that no float holds are found wherever they stand."""

import json
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging.json_numbers import huge_numbers

DIGITS = st.integers(1, 400).flatmap(lambda n: st.text("0123456789", min_size=n, max_size=n))


@given(DIGITS, st.sampled_from(["", ".0", ".125"]), st.integers(-400, 400), st.booleans())
def test_what_is_refused_as_too_large_is_found(digits, fraction, exponent, is_spread):
    number = f"{digits.lstrip('0') or '0'}{fraction}e{exponent:+d}"
    text = json.dumps({"a": "x" * 150 if is_spread else ""})[:-1] + f', "b":{number}}}'
    try:
        is_refused = math.isinf(msgspec.json.decode(text)["b"])
    except msgspec.DecodeError:
        is_refused = True
    assert not is_refused or huge_numbers(text.encode())


@pytest.mark.parametrize("text", ['{"a":1e400}', '{"a":-1E+400}', '{"a":1.5e309}', "9" * 309])
def test_places_are_those_of_the_number(text):
    (place, *_) = huge_numbers(text.encode())
    assert text[place].isdigit() or text[place] in "eE"


@pytest.mark.parametrize("text", ["", "1", "{}", '{"a":1e30,"b":1e-400,"c":12345678901234567890}'])
def test_usual_numbers_are_not_found(text):
    assert huge_numbers(text.encode()) == []

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.transforms.staging.otlp_logs import any_value, pairs
from transforms.staging.otlp_values import instant_of_nanoseconds, nanoseconds, pairs_of, plain
from transforms.staging.refusal import RefusedError


@pytest.mark.parametrize(
    "value",
    [
        "x",
        "",
        True,
        False,
        0,
        -(2**63),
        2**63 - 1,
        1.5,
        None,
        [],
        {},
        ["a", 1, None, ["b"]],
        {"a": {"b": [1.5, {"c": False}]}},
    ],
)
def test_a_value_is_read_back(value: Any) -> None:
    assert plain(any_value(value)) == value


def test_keys_that_are_not_known_are_ignored() -> None:
    assert plain({"new": 1, "stringValue": "x"}) == "x"
    assert plain({"new": 1}) is None
    assert plain({"intValue": 7}) == 7
    assert plain({"kvlistValue": {}}) == {}
    assert plain({"arrayValue": {}}) == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (5, "wrong_value: expected a value of OTLP, got 5"),
        ({"stringValue": 5}, "wrong_value: expected a text, got 5"),
        ({"boolValue": "true"}, "wrong_value: expected true or false, got text of 4 characters"),
        ({"intValue": "1.5"}, "wrong_value: expected a whole number of 64 bits, got `1.5`"),
        ({"intValue": 2**63},
         "wrong_value: expected a whole number of 64 bits, got 9223372036854775808"),
        ({"intValue": True}, "wrong_value: expected a whole number of 64 bits, got true"),
        ({"doubleValue": "NaN"}, "wrong_value: expected a finite number, got text of 3 characters"),
        ({"doubleValue": 10**400},
         "wrong_value: expected a finite number, got a number of more than 80 bits"),
        ({"doubleValue": float("inf")}, "wrong_value: expected a finite number, got inf"),
        ({"arrayValue": {"values": {}}}, "wrong_value: expected a list, got an object"),
        ({"kvlistValue": {"values": [{"value": {}}]}},
         "wrong_value: expected keys and values"),
        ({"kvlistValue": {"values": [*pairs({"a": 1}), *pairs({"a": 1})]}},
         "attributes: expected each key once"),
    ],
)  # fmt: skip
def test_what_is_no_value_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(RefusedError) as caught:
        plain(value)
    assert str(caught.value) == reason


def test_a_value_of_too_many_levels_is_refused() -> None:
    value: Any = {"stringValue": "x"}
    for _ in range(63):
        value = {"arrayValue": {"values": [value]}}
    assert plain(value) is not None
    for _ in range(2):
        value = {"arrayValue": {"values": [value]}}
    with pytest.raises(RefusedError, match="too_deep: expected at most 64 levels"):
        plain(value)


def test_attributes_are_a_mapping() -> None:
    assert pairs_of(None) == {}
    assert pairs_of(pairs({"a": "b", "c": 1})) == {"a": "b", "c": 1}


@pytest.mark.parametrize(
    ("value", "at"),
    [
        (None, None),
        (0, None),
        ("0", None),
        ("1773124200000000000", datetime(2026, 3, 10, 6, 30, tzinfo=UTC)),
        (1_999, datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        (2**64 - 1, datetime(2554, 7, 21, 23, 34, 33, 709_551, tzinfo=UTC)),
    ],
)
def test_times_are_nanoseconds(value: object, at: datetime | None) -> None:
    assert instant_of_nanoseconds(value) == at


@pytest.mark.parametrize("value", [-1, "x", 1.5, True, 2**64, [], "1e9"])
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(RefusedError, match="wrong_time: expected whole nanoseconds since 1970"):
        nanoseconds(value)

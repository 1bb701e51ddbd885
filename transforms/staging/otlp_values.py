"""Values of OTLP JSON: attributes and bodies, as plain values.

Source: opentelemetry-proto, common.proto and the JSON encoding of its specification: 64-bit
integers are strings, keys that are not known are ignored.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import isfinite
from typing import Any

from transforms.staging.refusal import refuse
from transforms.staging.values import instant_of_microseconds, integer

MAX_DEPTH = 64
"""Levels of a value that are read; objects of Kubernetes have about fifteen."""

_DOUBLE_BITS = 1_023


def plain(value: object, depth: int = 0) -> Any:  # noqa: ANN401  any JSON value
    """A value without its type tags.

    Args:
        value: An `AnyValue`, such as `{"stringValue": "x"}`; null and `{}` are null.
        depth: Level at which it stands.

    Raises:
        RefusedError: It is no such value, or nested too deep.
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        refuse("wrong_value", "a value of OTLP", value)
    if depth > MAX_DEPTH:
        refuse("too_deep", f"at most {MAX_DEPTH} levels")
    for key, read in _READERS.items():
        if key in value:
            return read(value[key], depth)
    return None


def pairs_of(values: object, depth: int = 0) -> dict[str, Any]:
    """A list of keys and values as a mapping.

    Raises:
        RefusedError: It is no such list, or a key stands twice.
    """
    found: dict[str, Any] = {}
    for entry in _listed(values):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("key"), str):
            refuse("wrong_value", "keys and values")
        key = entry["key"]
        if key in found:
            refuse("attributes", "each key once")
        found[key] = plain(entry.get("value"), depth + 1)
    return found


def nanoseconds(value: object) -> int | None:
    """A time in nanoseconds since 1970; null where none is stated (0 says none).

    Raises:
        RefusedError: It is no whole number of 64 bits.
    """
    if value is None:
        return None
    number = integer(value, maximum=2**64 - 1) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**64:
        refuse("wrong_time", "whole nanoseconds since 1970", value)
    return number or None


def instant_of_nanoseconds(value: object) -> datetime | None:
    """An instant, truncated to microseconds; null where none is stated.

    Raises:
        RefusedError: It is no time of the years up to 9999.
    """
    number = nanoseconds(value)
    if number is None:
        return None
    instant = instant_of_microseconds(number // 1_000)
    if instant is None:
        refuse("wrong_time", "a year up to 9999")
    return instant


def _listed(values: object) -> Iterable[Any]:
    if values is None:
        return ()
    if not isinstance(values, list):
        refuse("wrong_value", "a list", values)
    return values


def _text(value: object, _depth: int) -> str:
    if not isinstance(value, str):
        refuse("wrong_value", "a text", value)
    return value


def _whole(value: object, _depth: int) -> int:
    number = (
        integer(value, minimum=-(2**63), maximum=2**63 - 1) if isinstance(value, str) else value
    )
    if isinstance(number, bool) or not isinstance(number, int) or not -(2**63) <= number < 2**63:
        refuse("wrong_value", "a whole number of 64 bits", value)
    return number


def _double(value: object, _depth: int) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse("wrong_value", "a finite number", value)
    # Whether a whole number that no double holds is finite cannot be asked.
    is_good = value.bit_length() <= _DOUBLE_BITS if isinstance(value, int) else isfinite(value)
    if not is_good:
        refuse("wrong_value", "a finite number", value)
    return value


def _truth(value: object, _depth: int) -> bool:
    if not isinstance(value, bool):
        refuse("wrong_value", "true or false", value)
    return value


def _array(value: object, depth: int) -> list[Any]:
    values = value.get("values") if isinstance(value, Mapping) else value
    return [plain(entry, depth + 1) for entry in _listed(values)]


def _mapping(value: object, depth: int) -> dict[str, Any]:
    return pairs_of(value.get("values") if isinstance(value, Mapping) else value, depth)


_READERS = {
    "stringValue": _text,
    "kvlistValue": _mapping,
    "arrayValue": _array,
    "intValue": _whole,
    "boolValue": _truth,
    "doubleValue": _double,
    "bytesValue": _text,
}

"""What wrappers say beside the record in them: times, node, pod, container, stream."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from transforms.staging.parser import Wrapper
from transforms.staging.stored_text import name_text
from transforms.staging.values import dashed_uid, microseconds_of, parse_instant

Fields = dict[str, msgspec.Raw]
"""An object of which only the values that are asked for are decoded."""
Unit = Literal["s", "ms", "us", "ns"]

_FIELDS = msgspec.json.Decoder(Fields)
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_ANY = msgspec.json.Decoder()
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,252}")
_FRACTION = re.compile(r"[.,](\d{1,12})")
_PLACES: dict[Unit, int] = {"s": 9, "ms": 6, "us": 3, "ns": 0}
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_NANOSECONDS = 253_402_300_800 * 10**9
"""The year 10000."""
_PAIR = re.compile(r'([A-Za-z_][A-Za-z0-9_]{0,100})="((?:[^"\\]|\\.){0,300})"')

NODE_LABELS = ("node_name", "nodename", "node", "k8s_node_name")
POD_LABELS = ("pod", "pod_name", "k8s_pod_name")
UID_LABELS = ("pod_uid", "k8s_pod_uid")
NAMESPACE_LABELS = ("namespace", "namespace_name", "k8s_namespace_name")
CONTAINER_LABELS = ("container", "container_name", "k8s_container_name")


class Time(NamedTuple):
    """A time that a wrapper states: as an instant, as written, as nanoseconds since 1970."""

    at: datetime
    written: str
    nanoseconds: int


def fields(data: bytes | msgspec.Raw | None) -> Fields | None:
    """The values of an object by key; none where the bytes are no object."""
    if data is None:
        return None
    try:
        return _FIELDS.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def items(data: bytes | msgspec.Raw | None) -> list[msgspec.Raw] | None:
    """The items of an array; none where the bytes are no array."""
    if data is None:
        return None
    try:
        return _ITEMS.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def value(data: msgspec.Raw | None) -> Any:  # noqa: ANN401  any JSON value
    """A decoded value; none where it cannot be decoded."""
    if data is None:
        return None
    try:
        return _ANY.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def text(data: msgspec.Raw | None) -> str | None:
    """A text; none where the value is none."""
    if data is None or not is_text(data):
        return None
    found = value(data)
    return found if isinstance(found, str) else None


def is_text(data: msgspec.Raw) -> bool:
    """Whether a value is a text."""
    return memoryview(data)[0] == ord('"')


def is_object(data: msgspec.Raw | None) -> bool:
    """Whether a value is an object."""
    return data is not None and memoryview(data)[0] == ord("{")


def is_array(data: msgspec.Raw | None) -> bool:
    """Whether a value is an array."""
    return data is not None and memoryview(data)[0] == ord("[")


def written_time(stated: str) -> Time | None:
    """Read a time that is written as RFC 3339."""
    at = _instant(stated)
    if at is None:
        return None
    fraction = _FRACTION.search(stated)
    digits = (fraction[1] if fraction else "").ljust(9, "0")[:9]
    nanoseconds = microseconds_of(at) * 1_000
    if nanoseconds % 10**9 == int(digits) // 1_000 * 1_000:
        nanoseconds += int(digits) % 1_000
    return Time(at, stated, nanoseconds)


@lru_cache(maxsize=1_024)
def _instant(stated: str) -> datetime | None:
    return parse_instant(stated) if len(stated) <= 64 else None


def counted_time(stated: str, unit: Unit) -> Time | None:
    """Read a time that is counted from 1970; none before 1970 and behind the year 9999."""
    if _NUMBER.fullmatch(stated) is None:
        return None
    try:
        nanoseconds = int(Decimal(stated).scaleb(_PLACES[unit]))
    except (InvalidOperation, OverflowError):
        return None
    if not 0 < nanoseconds < _MAX_NANOSECONDS:
        return None
    return Time(_EPOCH + timedelta(microseconds=nanoseconds // 1_000), stated, nanoseconds)


def time_of(data: msgspec.Raw | None, unit: Unit) -> Time | None:
    """Read a time: RFC 3339, or a number or digits in the unit."""
    if data is None:
        return None
    if not is_text(data):
        return counted_time(bytes(data).decode("ascii", "replace"), unit)
    stated = text(data) or ""
    return written_time(stated) or counted_time(stated, unit)


def time_in(values: Fields, keys: Iterable[str], unit: Unit = "s") -> Time | None:
    """The time under the first of the keys that holds one."""
    for key in keys:
        if key in values and (found := time_of(values[key], unit)) is not None:
            return found
    return None


def name(*stated: object) -> str | None:
    """The first text that is shaped like the name of an object; at most 253 characters."""
    for one in stated:
        if isinstance(one, str) and _NAME.fullmatch(one):
            return name_text(one)
    return None


def uid(*stated: object) -> str | None:
    """The first text that is a UID."""
    for one in stated:
        if isinstance(one, str) and len(one) <= 64 and (found := dashed_uid(one)):
            return found
    return None


def stream_name(stated: object) -> str | None:
    """`stdout` or `stderr`."""
    return stated if isinstance(stated, str) and stated in {"stdout", "stderr"} else None


def wrapper(time: Time | None, stream: object = None, **names: str | None) -> Wrapper:
    """What a wrapper says."""
    at, written, nanoseconds = time or (None, None, None)
    return Wrapper(at, written, nanoseconds, stream=stream_name(stream), **names)


def merged(outer: Wrapper | None, inner: Wrapper) -> Wrapper:
    """What two wrappers say together; the inner one stood nearer to what wrote the record."""
    if outer is None or outer == Wrapper():
        return inner
    time = inner[:3] if inner.at is not None else outer[:3]
    rest = (i if i is not None else o for i, o in zip(inner[3:], outer[3:], strict=True))
    return Wrapper(*time, *rest)


def label_names(labels: Mapping[str, object]) -> dict[str, str | None]:
    """Node, pod and container in the labels of a log store."""

    def first(keys: tuple[str, ...]) -> str | None:
        return name(*(labels.get(key) for key in keys))

    return {
        "node": first(NODE_LABELS),
        "namespace": first(NAMESPACE_LABELS),
        "pod_name": first(POD_LABELS),
        "pod_uid": uid(*(labels.get(key) for key in UID_LABELS)),
        "container": first(CONTAINER_LABELS),
    }


def written_labels(stated: str) -> dict[str, str]:
    """Labels that are written as `{name="value", …}`."""
    return {match[1]: match[2] for match in _PAIR.finditer(stated[:16_384])}

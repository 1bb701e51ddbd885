"""Read JSON for the places at which its values stand, so that one can be changed and no other byte.

Written for the tests alone and with the standard library, as it judges what parsers say.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(rb'[ \t\r\n]*(?:("(?:[^"\\\x00-\x1f]|\\.)*")|([\[\]{},:])|([^\s\[\]{},:"]+))')
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]")
_MAX_DEPTH = 60


class Node(NamedTuple):
    """A value: `object`, `array`, `string`, `number` or `word` (true, false, null)."""

    kind: str
    start: int
    end: int
    members: tuple["Member", ...] = ()


class Member(NamedTuple):
    """A member of an object, or an item of an array (key empty)."""

    start: int
    key: str
    value: Node


class _NoJsonError(Exception):
    pass


def is_json(data: bytes) -> bool:
    """Whether a text is JSON by the standard library, or several values behind each other.

    Bytes that are no UTF-8 are let pass: what msgspec skips over it does not decode, which harms
    nothing.
    """

    def refuse(word: str) -> None:
        raise ValueError(word)

    text = data.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    decoder = json.JSONDecoder(parse_constant=refuse)
    try:
        while text:
            _, end = decoder.raw_decode(text)
            text = text[end:].lstrip()
    except (ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=4096)
def spans(data: bytes) -> Node | None:
    """The value that a text holds; none where it is no JSON or very deep."""
    try:
        node, end = _value(data, 0, 0)
    except _NoJsonError:
        return None
    return None if data[end:].strip() else node


def _token(data: bytes, place: int) -> tuple[re.Match[bytes], int]:
    match = _TOKEN.match(data, place)
    if match is None:
        raise _NoJsonError
    return match, match.end()


def _value(data: bytes, place: int, depth: int) -> tuple[Node, int]:
    match, end = _token(data, place)
    if depth > _MAX_DEPTH:
        raise _NoJsonError
    if match[1] is not None:
        return Node("string", match.start(1), end), end
    if match[3] is not None:
        kind = "word" if match[3][:1] in b"tfn" else "number"
        return Node(kind, match.start(3), end), end
    if match[2] not in {b"{", b"["}:
        raise _NoJsonError
    return _members(data, match.start(2), end, depth, is_object=match[2] == b"{")


def _members(
    data: bytes, start: int, place: int, depth: int, *, is_object: bool
) -> tuple[Node, int]:
    closing = b"}" if is_object else b"]"
    members: list[Member] = []
    match, end = _token(data, place)
    if match[2] == closing:
        return Node("object" if is_object else "array", start, end), end
    while True:
        key, at = "", place + len(match[0]) - len(match[0].lstrip())
        if is_object:
            if match[1] is None:
                raise _NoJsonError
            key = json.loads(match[1], strict=False)
            match, place = _token(data, end)
            if match[2] != b":":
                raise _NoJsonError
        value, place = _value(data, place, depth + 1)
        members.append(Member(at, key, value))
        match, end = _token(data, place)
        if match[2] == closing:
            return Node("object" if is_object else "array", start, end, tuple(members)), end
        if match[2] != b",":
            raise _NoJsonError
        place = end
        match, end = _token(data, place)


def nodes(node: Node) -> Iterator[Node]:
    """A value and all values inside it."""
    yield node
    for member in node.members:
        yield from nodes(member.value)


def at_path(node: Node, path: str) -> Node | None:
    """The value at a JSON path such as `$.items[3]`; none where there is none."""
    place = 1
    while place < len(path):
        step = _STEP.match(path, place)
        if step is None:
            return None
        place = step.end()
        if step[1] is not None:
            found = next((m.value for m in node.members if m.key == step[1]), None)
        else:
            number = int(step[2])
            is_there = node.kind == "array" and number < len(node.members)
            found = node.members[number].value if is_there else None
        if found is None:
            return None
        node = found
    return node

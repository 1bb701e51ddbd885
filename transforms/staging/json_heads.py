"""Read the beginning of a JSON file, which may end anywhere, to judge what the file is."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\],"]', re.DOTALL)
_CLOSER = {b"{": b"}", b"[": b"]"}
_MAX_DEPTH = 200


def first_value(head: bytes) -> Any:  # noqa: ANN401  any JSON value
    """The first JSON value of a text, completed where the text ends inside it.

    A whole value on the first line that is not blank is that line; else the text is read as one
    document, cut behind its last whole part and closed.

    Returns:
        The value, or none where the text is no JSON.
    """
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] not in {b"{", b"["}:
        return None
    line = text.partition(b"\n")[0]
    whole, value = _value(line)
    if whole:
        return value
    return _value(_closed(text))[1]


def completed(head: bytes) -> bytes:
    """The first JSON document of a text, cut behind its last whole part and closed."""
    return _closed(head.removeprefix(b"\xef\xbb\xbf").lstrip())


def _value(text: bytes) -> tuple[bool, Any]:
    try:
        return True, msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False, None


def whole_parts(text: bytes, depths: int) -> Iterator[tuple[int, int, bytes]]:
    """A document that breaks off, cut behind the last part of it that is whole, and closed.

    Args:
        text: The text up to where it breaks.
        depths: The lists that are looked for are at most this deep.

    Returns:
        For each depth, the deepest first, where it is cut, and the document.
    """
    opened: list[bytes] = []
    found: dict[int, tuple[int, bytes]] = {}
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in _CLOSER:
            opened.append(_CLOSER[token])
        elif token in {b"}", b"]"}:
            if not opened or opened.pop() != token:
                break
            if 0 < len(opened) <= depths:
                found[len(opened)] = (match.end(), b"".join(reversed(opened)))
        elif token == b'"':
            break
    for depth in sorted(found, reverse=True):
        end, closers = found[depth]
        yield depth, end, text[:end] + closers


@lru_cache(maxsize=4)
def _closed(text: bytes) -> bytes:
    """Cut a text behind the last whole part of its first value and close the open brackets.

    Every format looks at the same beginning of a file, so that the last ones are kept.
    """
    opened: list[bytes] = []
    good, closers = 0, b""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == b'"':
            break  # the text ends inside of a text, in which brackets are none
        if token in _CLOSER:
            opened.append(_CLOSER[token])
            good, closers = match.end(), b"".join(reversed(opened))
            if len(opened) > _MAX_DEPTH:
                return b""
        elif token in {b"}", b"]"}:
            if not opened or opened.pop() != token:
                return b""
            good, closers = match.end(), b"".join(reversed(opened))
            if not opened:
                break
        elif token == b",":
            good, closers = match.start(), b"".join(reversed(opened))
    return text[:good] + closers

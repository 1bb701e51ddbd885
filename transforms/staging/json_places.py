"""Find the place of a JSON path in the bytes of a record, to show where a wrong value stands."""

import re
from collections.abc import Iterator

MAX_SEARCHED = 1 << 20
"""Bytes of a record that are searched; places behind them stay unknown."""

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)
_PATH = re.compile(r"\$(?:\.[A-Za-z0-9_]{1,128}|\[[0-9]{1,9}\])*\Z")
_STEP = re.compile(r"\.([A-Za-z0-9_]+)|\[([0-9]+)\]")

_Tokens = Iterator[re.Match[bytes]]


def place_of(data: bytes, path: str) -> int | None:
    """Byte at which the value of a JSON path begins.

    Args:
        data: JSON, which may be malformed behind the value.
        path: `$` with steps `.key` and `[index]`.

    Returns:
        The place, or none where the path names no value, or cannot be followed.
    """
    if _PATH.match(path) is None:
        return None
    tokens = _TOKEN.finditer(data, 0, MAX_SEARCHED)
    for step in _STEP.finditer(path):
        opening = next(tokens, None)
        is_key = step[1] is not None
        if opening is None or opening[0] != (b"{" if is_key else b"["):
            return None
        found = _to_key(tokens, step[1].encode()) if is_key else _to_index(tokens, int(step[2]))
        if not found:
            return None
    value = next(tokens, None)
    return None if value is None or value[0] in {b"}", b"]", b",", b":"} else value.start()


def _to_key(tokens: _Tokens, name: bytes) -> bool:
    """Go on to the value of a key; whether there is one."""
    for key in tokens:
        if key[0] == b",":
            continue
        colon = next(tokens, None)
        if key[0][:1] != b'"' or colon is None or colon[0] != b":":
            return False
        if key[0][1:-1] == name:
            return True
        _skip(tokens)
    return False


def _to_index(tokens: _Tokens, index: int) -> bool:
    """Go on to an item of an array; whether there is one."""
    for _ in range(index):
        _skip(tokens)
        comma = next(tokens, None)
        if comma is None or comma[0] != b",":
            return False
    return True


def _skip(tokens: _Tokens) -> None:
    depth = 0
    for token in tokens:
        if token[0] in {b"{", b"["}:
            depth += 1
        elif token[0] in {b"}", b"]"}:
            depth -= 1
        if depth <= 0:
            return

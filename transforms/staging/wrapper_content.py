"""What stands in a wrapper, and how it is taken out."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from transforms.staging.line_pieces import Piece
from transforms.staging.parser import Wrapper
from transforms.staging.wrapper_fields import is_object, is_text, text


class Inner(NamedTuple):
    """What stood in a wrapper.

    Attributes:
        data: Its bytes, without line end.
        wrapper: What the wrapper says of it.
        step: JSON path of it in the wrapper; empty where the wrapper holds one record.
        at: Its place in the wrapper, where that holds several.
        source: Names what writes lines one behind the other: a stream of a container.
        piece: Set where it is a piece of a line.
        problem: Why it cannot be read.
        left_out: Why it is no record.
    """

    data: bytes
    wrapper: Wrapper = Wrapper()
    step: str = ""
    at: int = 0
    source: str = ""
    piece: Piece | None = None
    problem: str | None = None
    left_out: str | None = None


class Peeled(NamedTuple):
    """A wrapper that was taken off.

    Attributes:
        kind: Which one, with the key where it has several.
        is_sure: Whether it cannot be anything else.
        inner: What stood in it, in order; read as it is asked for.
    """

    kind: str
    is_sure: bool
    inner: Iterator[Inner]


def one(kind: str, inner: Inner, *, is_sure: bool = True) -> Peeled:
    """A wrapper of one record."""
    return Peeled(kind, is_sure, iter((inner,)))


def content(raw: msgspec.Raw) -> tuple[bytes, str | None]:
    """The record under a key: an object as it is, a text without its escapes."""
    if is_object(raw):
        return compact(raw), None
    if is_text(raw):
        stated = text(raw)
        if stated is not None:
            return without_end(stated.encode("utf-8", "replace")), None
        return b"", "wrong_text: expected a text of Unicode characters, got another"
    return b"", "wrong_type: expected a text or an object, got another value"


def compact(raw: msgspec.Raw) -> bytes:
    """A record that stands in a wrapper as an object, written like a record on a line.

    It is the same record however the wrapper was laid out.
    """
    return msgspec.json.format(bytes(raw), indent=-1)


def without_end(data: bytes) -> bytes:
    """A text without its line end."""
    return data.rstrip(b"\r\n")


def placed(
    data: bytes, listed: list[msgspec.Raw], start: int = 0
) -> Iterator[tuple[int, tuple[msgspec.Raw, int]]]:
    """Items with their places in the bytes, in which they stand in order from the start on."""
    place = start
    for index, item in enumerate(listed):
        found = data.find(memoryview(item), place)
        place = found if found >= 0 else place
        yield index, (item, place)
        place += len(memoryview(item)) if found >= 0 else 0

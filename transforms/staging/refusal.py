"""Say why a record is refused, without quoting what may be a secret."""

import re
from functools import partial
from typing import Final, NoReturn

from transforms.staging.parser import Parsed, Place, RawRecord

MAX_SEARCHED = 64 << 10
"""A longer record is not searched for the text that was refused."""

_SHORT_NUMBER = re.compile(r"[-+]?[0-9.]{1,20}|-")
_ALONE = rb"(?<![0-9A-Za-z])%s(?![0-9A-Za-z])"
_NOTHING: Final = object()


class RefusedError(ValueError):
    """A record cannot be used; the message is the reject's reason.

    Attributes:
        text: The text that was refused, to find its place; never shown by itself.
        at: Byte of the record at which reading stopped, where that is known.
    """

    def __init__(self, reason: str, text: str | None = None, at: int | None = None) -> None:
        """Keep the reason and what tells the place."""
        super().__init__(reason)
        self.text = text
        self.at = at


def refuse(word: str, expected: str, got: object = _NOTHING) -> NoReturn:
    """Refuse a record.

    Args:
        word: What is wrong, one word, such as the field's name.
        expected: What should stand there.
        got: What stands there; left out where there is nothing to describe.

    Raises:
        RefusedError: Always.
    """
    message = f"{word}: expected {expected}"
    raise RefusedError(
        message if got is _NOTHING else f"{message}, got {shown(got)}",
        got if isinstance(got, str) else None,
    )


def refused(raw: RawRecord, error: RefusedError) -> Parsed:
    """Refuse a record of text for what went wrong in it."""
    place = partial(_place_in_text, error.text, error.at, raw.data)
    return Parsed(raw.locator, raw.offset, raw.data, reject=str(error), find_place=place)


def _place_in_text(text: str | None, at: int | None, data: bytes) -> Place | None:
    at = _at(text, at, data)
    return None if at is None else Place(data, at)


def place_of_refusal(error: RefusedError, data: bytes) -> int | None:
    """Byte of a record at which it was refused.

    Returns:
        The place that is stated, else that of the one word that equals the refused text; none where
        there are several such words, or the record is long.
    """
    return _at(error.text, error.at, data)


def _at(text: str | None, at: int | None, data: bytes) -> int | None:
    if at is not None or not text or len(data) > MAX_SEARCHED:
        return at
    word = re.escape(text.encode("utf-8", "replace"))
    places = [match.start() for match in re.finditer(_ALONE % word, data)]
    return places[0] if len(places) == 1 else None


def shown(value: object) -> str:
    """Describe a value: short numbers as they are, of text the length, of other JSON the type."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 80 else "a number of more than 80 bits"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        if _SHORT_NUMBER.fullmatch(value):
            return f"`{value}`"
        return f"text of {len(value)} characters" if value else "empty text"
    return "an array" if isinstance(value, list) else "an object"

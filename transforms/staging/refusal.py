"""Say why a record is refused, without quoting what may be a secret."""

import re
from typing import Final, NoReturn

_SHORT_NUMBER = re.compile(r"[-+]?[0-9.]{1,20}|-")
_NOTHING: Final = object()


class RefusedError(ValueError):
    """A record cannot be used; the message is the reject's reason."""


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
    raise RefusedError(message if got is _NOTHING else f"{message}, got {shown(got)}")


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

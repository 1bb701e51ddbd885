"""Chance that does not depend on the order in which it is asked.

Every draw is a hash of the seed and of the thing it is for. A pod that is added to the scenario
therefore changes no identifier of any other, and the fixtures' diffs stay small.
"""

import hashlib
import string
import uuid

SEED = "podledger-fleet-1"
_BASE36 = string.digits + string.ascii_lowercase
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def _number(parts: tuple[object, ...]) -> int:
    text = "|".join([SEED, *(str(part) for part in parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def below(limit: int, *parts: object) -> int:
    """Return a whole number in [0, limit)."""
    return _number(parts) % limit


def between(low: int, high: int, *parts: object) -> int:
    """Return a whole number in [low, high]."""
    return low + below(high - low + 1, *parts)


def hex_digits(count: int, *parts: object) -> str:
    """Return lower-case hex digits."""
    return f"{_number(parts):064x}"[:count]


def uuid4(*parts: object) -> str:
    """Return a dashed random-looking UUID of version 4."""
    return str(uuid.UUID(hex=hex_digits(32, "uuid", *parts), version=4))


def run_uuid(*parts: object) -> str:
    """Return a run's UUID as Polyaxon writes it: 32 hex digits without dashes."""
    return uuid.UUID(uuid4("run", *parts)).hex


def suffix(count: int, *parts: object) -> str:
    """Return the random ending that Kubernetes gives to a pod's name."""
    number = _number(("suffix", *parts))
    letters = []
    for _ in range(count):
        number, index = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[index])
    return "".join(letters)


def capitals(count: int, *parts: object) -> str:
    """Return upper-case letters and digits, as in S3 request ids."""
    number = _number(("capitals", *parts))
    letters = []
    for _ in range(count):
        number, index = divmod(number, len(_BASE36))
        letters.append(_BASE36[index].upper())
    return "".join(letters)


def mac(*parts: object) -> str:
    """Return a locally administered MAC address."""
    digits = "02" + hex_digits(10, "mac", *parts)
    return ":".join(digits[index : index + 2] for index in range(0, 12, 2))

"""Amounts, units and times of bills, exactly as they are written.

Units: AWS writes GB and means 2^30 bytes (the edges of its price tiers and its own user guide say
so), Google writes gibibytes, Azure and FOCUS' own unit format mean 10^9 by GB. Storage over time
(`GB-Mo`) is no volume of data.
"""

import re
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

from transforms.staging.refusal import refuse
from transforms.staging.values import INT64_MAX, parse_instant

MAX_TEXT = 80
"""Doubles are written with at most 25 characters, decimals with some 40."""

_EXACT = Context(prec=80, rounding=ROUND_HALF_EVEN)
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,2})?")
_AMOUNT_PLACES, _USD_PLACES = Decimal("1e-18"), Decimal("1e-9")
_AMOUNT_LIMIT, _USD_LIMIT = Decimal("1e20"), Decimal("1e9")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NO_SECONDS = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(Z|[+-]\d\d:?\d\d)?")

_BINARY = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_UNIT = re.compile(
    r"(?:(?P<count>[1-9]\d{0,5}) ?)?(?:(?P<prefix>[kmgtp])(?P<binary>i)?b(?:ytes?|y)?"
    r"|(?P<word>kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi|pebi)bytes?|(?P<bytes>bytes?|by|b))"
)


def amount(stated: object, word: str) -> Decimal | None:
    """A number of a bill with at most 18 decimal places, others rounded half to even.

    Args:
        stated: Text, or a number of JSON; null and empty text are none.
        word: Name of its column, for the reason.

    Raises:
        RefusedError: It is no finite number, or of more than 20 digits before the point.
    """
    if stated is None or stated == "":
        return None
    if isinstance(stated, str):
        text = stated.strip()
    elif isinstance(stated, bool) or not isinstance(stated, int | float | Decimal):
        refuse(word, "a number", stated)
    else:
        text = str(stated)
    if len(text) > MAX_TEXT or not _NUMBER.fullmatch(text):
        refuse(word, "a number of at most 30 digits", stated if isinstance(stated, str) else None)
    found = Decimal(text)
    if abs(found) >= _AMOUNT_LIMIT:
        refuse(word, "a number below 10^20")
    return found.quantize(_AMOUNT_PLACES, context=_EXACT)


def usd(cost: Decimal | None, currency: str | None) -> Decimal | None:
    """A cost in US dollars with nine places, rounded half to even; null in another currency.

    Raises:
        RefusedError: It is a thousand million dollars or more.
    """
    if cost is None or currency != "USD":
        return None
    found = cost.quantize(_USD_PLACES, context=_EXACT)
    if abs(found) >= _USD_LIMIT:
        refuse("cost", "less than 10^9 dollars")
    return found


def bytes_of(used: Decimal | None, unit_bytes: int | None) -> int | None:
    """An amount in bytes, rounded half to even; null where it is no volume.

    Raises:
        RefusedError: It has more than 63 bits.
    """
    if used is None or unit_bytes is None:
        return None
    found = int(_EXACT.multiply(used, Decimal(unit_bytes)).to_integral_value(ROUND_HALF_EVEN))
    if abs(found) > INT64_MAX:
        refuse("usage", "less than 2^63 bytes")
    return found


@lru_cache(maxsize=4_096)
def unit_bytes(unit: str, *, gb_is_binary: bool) -> int | None:
    """Bytes of a unit such as `GB`, `1 GiB`, `gibibyte`, `Bytes`; null where it is no volume.

    Args:
        unit: The unit.
        gb_is_binary: Whether the provider means 2^30 bytes by GB.
    """
    match = _UNIT.fullmatch(unit.strip().lower()) if len(unit) <= MAX_TEXT else None
    if match is None:
        return None
    count = int(match["count"] or 1)
    if match["bytes"]:
        return count
    word = match["word"]
    letter = match["prefix"] or word[0]
    is_binary = gb_is_binary or bool(match["binary"]) or (word is not None and word[2:] == "bi")
    return count * (_BINARY if is_binary else _DECIMAL)[letter]


@lru_cache(maxsize=65_536)
def bill_instant(text: str) -> datetime | None:
    """A time of a bill: RFC 3339, also without seconds, a date, or with ` UTC` behind it."""
    text = text.removesuffix(" UTC")
    if _DATE.fullmatch(text):
        return parse_instant(f"{text}T00:00:00Z")
    match = _NO_SECONDS.fullmatch(text)
    if match is not None:
        return parse_instant(f"{match[1]}:00{match[2] or 'Z'}")
    return parse_instant(text)


def instant(stated: object, word: str) -> datetime | None:
    """A time of a bill; null where none is stated.

    Raises:
        RefusedError: It is no time.
    """
    if stated is None or stated == "":
        return None
    found = bill_instant(stated) if isinstance(stated, str) and len(stated) <= MAX_TEXT else None
    if found is None:
        refuse(word, "a time such as 2026-03-01T00:00:00Z", stated)
    return found

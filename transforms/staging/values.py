"""Reading single values as exports write them: instants, addresses, names, numbers, hashes."""

import hashlib
import ipaddress
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

INT64_MAX = 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SEPARATOR, _NOTHING = chr(31), chr(30)
"""What stands between the parts of an identity, and in the place of a null."""
_HEX_DIGITS = frozenset("0123456789abcdef")
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,12}))?"
    r"(?:([Zz])|([+-])([01]\d|2[0-3]):?([0-5]\d))?\Z",
    re.ASCII,
)
_LONGEST_TIME = len("2026-03-10T12:00:00.123456789012+00:00")


def parse_instant(text: str) -> datetime | None:
    """Read an RFC 3339 time with 0 to 12 fraction digits; truncate to microseconds.

    A time without a zone is UTC, as the formats that omit it state. Second 60 is read as the last
    microsecond of second 59, so that a leap second stays in its minute.

    Returns:
        The instant in UTC, or none where the text is no time.
    """
    second = _whole_second(text[:19]) if text[19:20] == "." and text[-1:] == "Z" else None
    fraction = text[20:-1]
    if second is not None and len(fraction) <= 12 and fraction.isascii() and fraction.isdigit():
        return second.replace(microsecond=int(fraction[:6].ljust(6, "0")))
    return _parse_any(text) if len(text) <= _LONGEST_TIME else None


@lru_cache(maxsize=4_096)
def _whole_second(text: str) -> datetime | None:
    """The instant of `2026-03-10T12:00:00`, in UTC; none where the text is none of 19 signs."""
    return _parse_any(text) if len(text) == 19 and text[10] == "T" and text[17:] != "60" else None


@lru_cache(maxsize=4_096)
def _parse_any(text: str) -> datetime | None:
    match = _RFC3339.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[i]) for i in range(1, 7))
    micro = int((match[7] or "0")[:6].ljust(6, "0"))
    if second == 60:
        second, micro = 59, 999_999
    try:
        instant = datetime(year, month, day, hour, minute, second, micro, tzinfo=UTC)
        if match[9]:
            shift = timedelta(hours=int(match[10]), minutes=int(match[11]))
            instant = instant - shift if match[9] == "+" else instant + shift
    except (ValueError, OverflowError):
        return None
    return instant


def instant_of_microseconds(value: int) -> datetime | None:
    """Read microseconds since 1970; none where the year is not 1 to 9999."""
    try:
        return _EPOCH + timedelta(microseconds=value)
    except OverflowError:
        return None


def later(at: datetime, by: timedelta) -> datetime | None:
    """Add a duration to an instant; none where that lies behind the year 9999."""
    try:
        return at + by
    except OverflowError:
        return None


@lru_cache(maxsize=65_536)
def canonical_address(text: str) -> str | None:
    """Write an IP address canonically: lower case, compressed, no zone, mapped IPv4 as IPv4.

    Returns:
        The address, or none where the text is none.
    """
    try:
        address = ipaddress.ip_address(text.strip("[]").split("%", 1)[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


def canonical_name(text: str) -> str:
    """Write a DNS name in lower case without the final dot; the root stays `.`."""
    name = text.strip().lower()
    return name.rstrip(".") or ("." if name else "")


def integer(text: str, *, minimum: int = 0, maximum: int = INT64_MAX) -> int | None:
    """Read a plain decimal integer within bounds; none where it is not one."""
    digits = text[1:] if text[:1] == "-" else text
    if not digits.isascii() or not digits.isdigit() or len(digits) > 20:
        return None
    value = int(text)
    return value if minimum <= value <= maximum else None


def dashed_uid(text: str) -> str | None:
    """Write a UUID in lower case with dashes; none where the text is no UUID."""
    digits = text.replace("-", "").replace("_", "").lower()
    if len(digits) != 32 or not _HEX_DIGITS.issuperset(digits):
        return None
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def hex_uuid(text: str) -> str | None:
    """Write a UUID as 32 hex digits; none where the text is no UUID."""
    uid = dashed_uid(text)
    return uid.replace("-", "") if uid else None


def identity(*parts: object) -> str:
    """Id of definitions.md 11: md5 of the parts joined by chr(31), null as chr(30).

    Times count as integer microseconds since 1970. md5 is used for identity, never for secrecy.
    """
    text = _SEPARATOR.join([part if type(part) is str else _identifying(part) for part in parts])
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _identifying(part: object) -> str:
    if part is None:
        return _NOTHING
    return str(microseconds_of(part)) if isinstance(part, datetime) else str(part)


def microseconds_of(instant: datetime) -> int:
    """Whole microseconds since 1970."""
    delta = instant - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds

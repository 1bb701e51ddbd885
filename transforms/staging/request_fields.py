"""Fields of a request as logs of object storage state them, in the form of `object_requests`.

Functions that take what a format must hold refuse what it cannot hold; the others take text that a
client chose and give null where it tells nothing.
"""

import re
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final
from urllib.parse import unquote

from transforms.redaction import KeyedHash, redact_name
from transforms.staging.parser import Parsed, Place
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import INT64_MAX, canonical_address, integer

TABLE: Final = "object_requests"
MAX_PART = 10_000
"""S3 numbers the parts of an upload from 1 to this; so do the stores that speak its protocol."""
MAX_SECONDS: Final = 7 * 86_400.0
"""A longer request is a wrong number; the longest upload of one part takes hours."""

_QUERY = re.compile(rb'\?[^\s"]*')
_NO_QUERY = "?…".encode()
_FRONTEND = ",gzip(gfe)"
_ADDRESS_LENGTH = 64
_CACHED_LENGTH = 512
"""Longer text is not kept in a cache, which bounds what hostile records may hold in memory."""
_METHODS = frozenset({"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH"})
_APP_ID = re.compile(r"(?:^|(?<= ))app/([!#$%&'*+.^_`|~0-9A-Za-z-]{1,50})(?= |$)")
_UPLOAD_ID = re.compile(r"[A-Za-z0-9._~-]{1,1024}")
_KEY_ID = re.compile(r"[A-Za-z0-9]{3,128}")
_WORD = re.compile(r"[A-Za-z0-9]{1,32}")
_ARN = re.compile(r"arn:[a-z0-9-]+:[!-~]{1,512}")
_SESSION = re.compile(
    r"arn:[a-z0-9-]+:sts::[0-9]{1,12}:(?:assumed-role/[!-.0-~]{1,128}|federated-user)/[!-~]{1,128}"
)
_HOST = re.compile(r"[a-z0-9._-]{1,255}")
_ASKED_RANGE = re.compile(r"bytes=([0-9]{0,19})-([0-9]{0,19})")
_SENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-[0-9]{1,19}/(?:[0-9]{1,19}|\*)")
_REGION_TEXT = r"[a-z]{2}(?:-[a-z]{3,12}){1,3}-[0-9]{1,2}"
_REGION = re.compile(_REGION_TEXT)
_HOST_REGION = re.compile(
    rf"(?:^|\.)s3(?:express)?[a-z0-9.-]*?[.-]({_REGION_TEXT})\.(?:vpce\.)?amazonaws\.com(?:\.cn)?$"
)
_HOST_VPC_ENDPOINT = re.compile(r"(?:^|\.)(vpce-[0-9a-f]{8,17})-[0-9a-z-]+\.s3\.")

Parameters = dict[str, list[str]]
"""Query parameters of a URL, decoded; they are never stored as they are."""


def shaped(pattern: re.Pattern[str], text: str | None) -> str | None:
    """The text if it is of a shape."""
    return text if text is not None and pattern.fullmatch(text) else None


def word(text: str | None) -> str | None:
    """One word of letters and digits, redacted."""
    return name_text(shaped(_WORD, text))


def arn(text: str | None) -> str | None:
    """An ARN, redacted."""
    return name_text(shaped(_ARN, text))


def session_arn(principal: str | None) -> str | None:
    """The principal if it is a session of temporary credentials (assumed role, federation)."""
    return name_text(shaped(_SESSION, principal))


def aws_region(text: str | None) -> str | None:
    """Name of a region of AWS."""
    return shaped(_REGION, text)


def arn_region(text: str | None) -> str | None:
    """Region that an ARN names."""
    parts = text.split(":") if text else []
    return aws_region(parts[3]) if len(parts) > 3 else None


def app_id(agent: str | None) -> str | None:
    """Give the `app/…` part of a user agent; null where two say different things, or a mask."""
    found = set(_APP_ID.findall(agent or ""))
    stated = found.pop() if len(found) == 1 else None
    return None if stated is None or "***" in stated else stated


def key_id_hash(stated: str | None, key_hash: KeyedHash) -> str | None:
    """Keyed hash of an access key id; null where the text is none."""
    return key_hash.of(stated) if stated and _KEY_ID.fullmatch(stated) else None


def method(stated: str | None) -> str | None:
    """HTTP method; null where the text is none."""
    return stated if stated in _METHODS else None


def s3_host(text: str) -> tuple[str | None, str | None, str | None]:
    """Give host, region and VPC endpoint that a Host header names."""
    return _named_by_host(text) if len(text) <= _CACHED_LENGTH else (None, None, None)


def host(text: str | None) -> str | None:
    """Host of a Host header, lower case, without port; null where it is none."""
    return s3_host(text)[0] if text else None


@lru_cache(maxsize=4_096)
def _named_by_host(text: str) -> tuple[str | None, str | None, str | None]:
    stated = text.rstrip(".")
    name, colon, port = stated.rpartition(":")
    stated = name if colon and port.isdigit() else stated
    place = stated.lower()
    if place == "-" or not _HOST.fullmatch(place):
        return None, None, None
    region = _HOST_REGION.search(place)
    endpoint = _HOST_VPC_ENDPOINT.search(place)
    # The client chooses the header, so that it may hold anything; in lower case a token is not
    # known any more.
    return (
        redact_name(stated).lower(),
        region[1] if region else None,
        endpoint[1] if endpoint else None,
    )


def query_parameters(query: str) -> Parameters:
    """Read the parameters behind the `?` of a URL."""
    asked: Parameters = {}
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        asked.setdefault(unquote(name), []).append(unquote(value))
    return asked


def only(asked: Parameters, name: str) -> str | None:
    """Value of a parameter that stands once; two values of one parameter say nothing."""
    found = asked.get(name, [])
    return found[0] if len(found) == 1 else None


def upload_id(stated: str | None) -> str | None:
    """Id of a multipart upload; null where it is none, or looks like a credential."""
    found = shaped(_UPLOAD_ID, stated)
    return found if found and redact_name(found) == found else None


def part_number(stated: str | None) -> int | None:
    """Number of a part of an upload; null where it is none."""
    return integer(stated, minimum=1, maximum=MAX_PART) if stated else None


def is_range(
    operation: str, status: int | None, *, asks_for_part: bool | None = None
) -> bool | None:
    """Say whether a part of an object was asked for, as far as a log says it.

    206 and 416 answer ranges. A 200 is a whole object, maybe cut short; any other answer leaves
    open what was asked.

    Args:
        operation: What was done.
        status: HTTP status.
        asks_for_part: Whether the request itself names a part; null where the log has no headers.
    """
    if operation != "read":
        return None
    if status in {206, 416} or asks_for_part:
        return True
    return False if status == 200 or asks_for_part is False else None


def response_offset(
    operation: str, status: int | None, asked: str | None, sent: str | None, size: int | None
) -> int | None:
    """Where in the object the body of a 206 begins, by its headers (RFC 9110, 14.1.2 and 14.4).

    Args:
        operation: What was done.
        status: HTTP status.
        asked: `Range` of the request; of several ranges in one header none is told.
        sent: `Content-Range` of the response, which goes before what was asked.
        size: Size of the object, from which a range counts that is asked from the end.
    """
    if operation != "read" or status != 206:
        return None
    told = _SENT_RANGE.fullmatch(sent or "")
    if told:
        return integer(told[1])
    match = _ASKED_RANGE.fullmatch(asked or "")
    if match is None:
        return None
    if match[1]:
        return integer(match[1])
    last = integer(match[2])
    return None if last is None or size is None else max(size - last, 0)


def address(stated: str | None, word: str) -> str | None:
    """An address; null where none is stated.

    Raises:
        RefusedError: The text is no address; the reason begins with the word.
    """
    if not stated:
        return None
    found = address_if_any(stated)
    if found is None:
        refuse(word, "an IP address", stated)
    return found


def address_if_any(text: str | None) -> str | None:
    """An address; null where the text is none."""
    return canonical_address(text) if text and len(text) <= _ADDRESS_LENGTH else None


def address_without_port(stated: str | None, word: str) -> str | None:
    """The address of `192.0.2.1:443` or `[2001:db8::1]:443`; null where none is stated.

    Raises:
        RefusedError: The text holds no address; the reason begins with the word.
    """
    if not stated:
        return None
    place, colon, port = stated.rpartition(":")
    # An IPv6 address without brackets has colons, too.
    is_split = colon and port.isdigit() and (":" not in place or place[-1:] == "]")
    return address(place if is_split else stated, word)


def whole(stated: object, word: str, *, minimum: int = 0, maximum: int = INT64_MAX) -> int | None:
    """A whole number, also written as text or as `224.0`; null where it is absent.

    Raises:
        RefusedError: It is no such number; the reason begins with the word.
    """
    value = stated
    if isinstance(value, str):
        if not value:
            return None
        value = integer(value, minimum=-INT64_MAX)
    if value is None and stated is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        refuse(word, "a whole number", stated)
    if not minimum <= value <= maximum:
        refuse(word, f"{minimum} to {maximum}", value)
    return value


def status(stated: object, word: str = "status") -> int | None:
    """An HTTP status; null where it is absent.

    Raises:
        RefusedError: It is none.
    """
    return whole(stated, word, minimum=100, maximum=999)


def seconds(stated: float | None, units_per_second: int) -> float | None:
    """A duration; null where it is negative or longer than a week.

    Args:
        stated: How long, in the log's unit.
        units_per_second: How many of them are a second.
    """
    if stated is None or not 0 <= stated <= MAX_SECONDS * units_per_second:
        return None
    return stated / units_per_second


def duration(stated: object, word: str, units_per_second: int) -> float | None:
    """A duration in whole units; null where it is absent, negative or longer than a week.

    Clocks that are set make durations negative, which says nothing against the request.

    Raises:
        RefusedError: It is no whole number; the reason begins with the word.
    """
    return seconds(whole(stated, word, minimum=-INT64_MAX), units_per_second)


def etag(stated: str | None) -> str | None:
    """An entity tag without its quotes."""
    return name_text(stated.removeprefix("W/").strip('"')) if stated else None


def decoded(text: str) -> str:
    """Percent-decode once; text that would not be UTF-8 stays, so that different keys differ."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text


def google_agent(stated: str | None) -> str | None:
    """A user agent without what Google's frontend puts behind it, redacted."""
    return free_text(stated.removesuffix(_FRONTEND)) if stated else None


def without_queries(refused_line: Parsed) -> Parsed:
    """Take the queries of URLs out of what may be shown of a refused line of text."""
    shown = _QUERY.sub(_NO_QUERY, refused_line.raw)
    find_place = partial(_place_without_queries, refused_line)
    return replace(refused_line, data=shown, find_place=find_place)


def _place_without_queries(refused_line: Parsed) -> Place | None:
    place = refused_line.place
    if place is None:
        return None
    before = len(_QUERY.sub(_NO_QUERY, place.raw[: place.at]))
    return Place(_QUERY.sub(_NO_QUERY, place.raw), before)

"""Fields of a look-up as DNS logs state them, in the form in which `dns_lookups` holds them.

Every function takes what a log states, null where it states nothing, and refuses what the field
cannot hold.
"""

import re
from collections.abc import Sequence
from typing import Any

from transforms.redaction import redact_within
from transforms.staging.dns_names import (
    MAX_NAME,
    asked_name,
    masked_presentation,
    query_type,
    rcode_name,
    safe_presentation,
)
from transforms.staging.refusal import refuse
from transforms.staging.search_suffix import without_search_suffix
from transforms.staging.values import canonical_address

TABLE = "dns_lookups"
MAX_ANSWERS = 4_096
"""A response of 64 KiB holds at most some 4,000 answers of the smallest kind."""
MAX_DATA = 1_024
"""Characters of an answer's data that are kept; only texts and keys are longer."""
MAX_TTL = 2**31 - 1
MAX_LATENCY_SECONDS = 86_400.0
NETBIOS_PORT = 137
MULTICAST_PORTS = frozenset({5353, 5355})
"""Multicast DNS and LLMNR: a question to all neighbours, which has no resolver."""

_MAX_ADDRESS = 64
_MAX_PORT = 65_535
_TRANSPORT = re.compile(r"[A-Z]{2,12}")
_NAME_TYPES = frozenset({"CNAME", "NS", "PTR", "DNAME"})
_ADDRESS_TYPES = frozenset({"A", "AAAA"})

Answer = dict[str, Any]


def raw_name(raw: str | bytes) -> str:
    """A name that a log writes without escapes.

    Raises:
        RefusedError: It is longer than a name can be.
    """
    return _bounded(masked_presentation(raw) if len(raw) <= MAX_NAME else str(raw))


def escaped_name(presentation: str) -> str:
    """A name that a log writes in presentation form.

    Raises:
        RefusedError: It is longer than a name can be.
    """
    is_short = len(presentation) <= MAX_NAME
    return _bounded(safe_presentation(presentation) if is_short else presentation)


def _bounded(name: str) -> str:
    if len(name) > MAX_NAME:
        refuse("name", f"at most {MAX_NAME} characters", name)
    return asked_name(name)


def asked(
    name: str,
    rcode: str | None,
    *,
    namespace: str | None = None,
    answers: Sequence[Answer] | None = None,
) -> dict[str, str]:
    """Columns of the name asked, with and without a search suffix."""
    return {
        "query_name": without_search_suffix(
            name,
            exists={"NOERROR": True, "NXDOMAIN": False}.get(rcode or ""),
            namespace=namespace,
            alias=_alias(name, answers or ()),
        ),
        "original_query_name": name,
    }


def _alias(name: str, answers: Sequence[Answer]) -> str | None:
    """Target of the CNAME that answers the name itself; the first answer does, if none is owned."""
    for index, answer in enumerate(answers):
        is_own = answer["name"] == name or (index == 0 and answer["name"] is None)
        if answer["type"] == "CNAME" and is_own:
            data = answer["data"]
            return data if isinstance(data, str) else None
    return None


def record_type(stated: str | None) -> str | None:
    """A record type by name.

    Raises:
        RefusedError: The text names none.
    """
    if stated is None:
        return None
    name = query_type(stated)
    if name is None:
        refuse("query_type", "a record type", stated)
    return name


def response_code(stated: str | None) -> str:
    """A response code by name.

    Raises:
        RefusedError: The text is none.
    """
    name = rcode_name(stated) if stated is not None else None
    if name is None:
        refuse("rcode", "a response code", stated)
    return name


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


def address_if_any(text: str) -> str | None:
    """An address; null where the text is none."""
    return canonical_address(text) if len(text) <= _MAX_ADDRESS else None


def number(stated: object, maximum: int, word: str) -> int | None:
    """A whole number from 0, also written as text; null where it is absent.

    Raises:
        RefusedError: It is no such number; the reason begins with the word.
    """
    value = stated
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10:
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        refuse(word, "a whole number", value)
    if not 0 <= value <= maximum:
        refuse(word, f"0 to {maximum}", value)
    return value


def port(stated: object, word: str) -> int | None:
    """A port; null where none is stated.

    Raises:
        RefusedError: It is none.
    """
    return number(stated, _MAX_PORT, word)


def transport(stated: str | None) -> str | None:
    """Transport in capitals; null where the text is no word."""
    upper = (stated or "")[:16].upper()
    return upper if _TRANSPORT.fullmatch(upper) else None


def measured_seconds(seconds: float | None) -> float | None:
    """A latency; null where it is not positive (not measured) or longer than a day."""
    return seconds if seconds is not None and 0 < seconds <= MAX_LATENCY_SECONDS else None


def answer(
    kind: str | None, data: str | None, *, owner: str | None = None, ttl: int | None = None
) -> Answer:
    """One answer record.

    Args:
        kind: Type; null where the log does not tell it.
        data: Data in the form of `answer_data`.
        owner: Name that it answers.
        ttl: Time to live in seconds; null is stored where it is out of range.
    """
    has_ttl = ttl is not None and 0 <= ttl <= MAX_TTL
    return {"name": owner, "type": kind, "data": data, "ttl": ttl if has_ttl else None}


def answer_data(kind: str, data: str, *, is_escaped: bool) -> str | None:
    """Data of an answer: address or name in canonical form, else redacted text.

    Args:
        kind: Type of the answer.
        data: As the log writes it.
        is_escaped: Whether names in it are in presentation form.

    Returns:
        The data; null for an address that is none.

    Raises:
        RefusedError: A name is too long.
    """
    if kind in _ADDRESS_TYPES:
        return address_if_any(data)
    if kind in _NAME_TYPES:
        return escaped_name(data) if is_escaped else raw_name(data)
    return data_text(data)


def data_text(data: str) -> str:
    """Data that is neither address nor name."""
    return redact_within(data, MAX_DATA, prose=True)


def not_too_many(answers: list[Any]) -> list[Any]:
    """The answers, if a response can hold so many.

    Raises:
        RefusedError: There are more.
    """
    if len(answers) > MAX_ANSWERS:
        refuse("answers", f"at most {MAX_ANSWERS}", len(answers))
    return answers

"""Names, types and codes of DNS as the tables write them."""

import re
from functools import lru_cache

import dns.exception
import dns.rcode
import dns.rdatatype

from transforms.redaction import redact_name

MAX_NAME = 1_020
"""Longest presentation of a name: 255 bytes, each escaped as a backslash and three digits."""
MAX_CODE = 16
"""Longest name of a type or code."""

_TYPE = re.compile(r"[A-Z][A-Z0-9-]{0,15}")
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_SPECIAL = frozenset(" '@;()\"\\")


@lru_cache(maxsize=65_536)
def asked_name(presentation: str) -> str:
    r"""Write a name in presentation form in lower case without the final dot; the root stays `.`.

    Escapes (`\.` inside a label, `\032`) stay: they keep one label one label. What looks like a
    credential is masked. Callers bound the length by MAX_NAME, as names are remembered.
    """
    name = presentation.translate(_LOWER)
    if len(name) > 1 and name.endswith(".") and not name.endswith("\\."):
        name = name[:-1]
    return redact_name(name) or "."


def presentation_of(raw: str) -> str:
    r"""Escape a name that an export wrote without escapes, as DNS software prints names.

    A dot is taken as the end of a label. Bytes that are no printable ASCII become `\DDD`.
    """
    if raw.isascii() and raw.isprintable() and _SPECIAL.isdisjoint(raw):
        return raw
    return "".join(
        f"\\{c}" if c in _SPECIAL else c if 32 < ord(c) < 127 else _escaped(c) for c in raw
    )


def _escaped(character: str) -> str:
    return "".join(f"\\{byte:03d}" for byte in character.encode("utf-8", "replace"))


def query_type(text: str) -> str | None:
    """Name of a record type: `TYPE65` becomes `HTTPS`, an unknown mnemonic stays.

    Returns:
        The name, or none where the text names no type.
    """
    return _query_type(text.upper()) if len(text) <= MAX_CODE else None


@lru_cache(maxsize=1_024)
def _query_type(name: str) -> str | None:
    try:
        return dns.rdatatype.to_text(dns.rdatatype.from_text(name))
    except dns.exception.DNSException:
        return name if _TYPE.fullmatch(name) else None
    except ValueError:
        return None


def rcode_name(text: str) -> str | None:
    """Name of a response code, also where the text is its number; a number without name stays.

    CoreDNS prints 16 as `BADSIG`, its name in signed messages; in answers it is `BADVERS`.

    Returns:
        The name, or none where the text is no response code.
    """
    return _rcode_name(text) if len(text) <= MAX_CODE else None


@lru_cache(maxsize=1_024)
def _rcode_name(text: str) -> str | None:
    try:
        return dns.rcode.to_text(dns.rcode.from_text(text))
    except (dns.exception.DNSException, ValueError):
        return None

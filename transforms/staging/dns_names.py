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
_ESCAPE = re.compile(r"\\([01][0-9]{2}|2[0-4][0-9]|25[0-5]|.)", re.DOTALL)
_UNSAFE = re.compile(r"[^ -~]+")


@lru_cache(maxsize=65_536)
def asked_name(presentation: str) -> str:
    r"""Write a name in presentation form in lower case without the final dot; the root stays `.`.

    Escapes (`\.` inside a label, `\032`) stay: they keep one label one label. What looks like a
    credential is masked, before its case is lost. Callers bound the length by MAX_NAME, as names
    are remembered.
    """
    name = presentation
    if len(name) > 1 and name.endswith(".") and not name.endswith("\\."):
        name = name[:-1]
    if "\\" in name:
        raw = _ESCAPE.sub(_unescaped, name)
        masked = redact_name(raw)
        name = name if masked == raw else presentation_of(masked)
    return redact_name(name).translate(_LOWER) or "."


def masked_presentation(raw: str | bytes) -> str:
    """Escape a name as `presentation_of` does; escapes would hide a credential in it."""
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    if text.isascii() and text.isprintable() and _SPECIAL.isdisjoint(text):
        return text
    masked = redact_name(text)
    return presentation_of(raw if masked == text else masked)


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code)) if code.isdigit() and len(code) == 3 else code


def presentation_of(raw: str | bytes) -> str:
    r"""Escape a name that an export wrote without escapes, as DNS software prints names.

    A dot is taken as the end of a label. Bytes that are no printable ASCII become `\DDD`.
    """
    text = raw if isinstance(raw, str) else raw.decode("ascii", "replace")
    if text.isascii() and text.isprintable() and _SPECIAL.isdisjoint(text):
        return text
    data = raw.encode("utf-8", "replace") if isinstance(raw, str) else raw
    return "".join(_PRESENTED[byte] for byte in data)


def _presented(byte: int) -> str:
    character = chr(byte)
    if character in _SPECIAL:
        return f"\\{character}"
    return character if 32 < byte < 127 else f"\\{byte:03d}"


_PRESENTED = [_presented(byte) for byte in range(256)]


def safe_presentation(presentation: str) -> str:
    r"""A name in presentation form, in which characters that must not stand there are escaped."""
    if presentation.isascii() and presentation.isprintable():
        return presentation
    return _UNSAFE.sub(lambda match: presentation_of(match[0]), presentation)


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

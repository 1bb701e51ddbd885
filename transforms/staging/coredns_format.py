r"""The placeholders of CoreDNS's formats, as regular expressions.

Source: coredns/coredns, plugin/log and plugin/pkg/replacer. `common` and `combined` are the two
named formats; any other text is literal but for its placeholders. A placeholder that CoreDNS does
not know is printed as it stands, so it is literal here too. Up to 1.2 there was `{when}`, and the
two named formats had it.

A format may be JSON, such as `{"client":"{remote}","asked":"{name}","bytes":{size}}`. CoreDNS
prints it as a text like any other; where a log shipper has decoded the line, its keys are known.

The same language describes `extra` of the dnstap plugin.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

COMMON = (
    '{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" '
    "{rcode} {>rflags} {rsize} {duration}"
)
COMBINED = COMMON + ' "{>opcode}"'
OLD_COMMON = COMMON.replace("{>id}", "[{when}] {>id}", 1)
OLD_COMBINED = OLD_COMMON + ' "{>opcode}"'

MAX_LINE = 8_192
"""Characters of a line; a name has at most 1,020, the rest of a line some 200."""

_ADDRESS = (
    r"(?:\[[0-9A-Fa-f:.]{2,45}(?:%[^\]\s]{1,32})?\]|[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
    r"|[0-9A-Fa-f:]{2,45})"
)
_NUMBER = r"(?:[0-9]{1,10}|-)"
# Printable ASCII but blank, quote and backslash, or a backslash and what it escapes.
_NAME = r"(?:[!#-\[\]-~]|\\[ -~])+"
# As Go prints it (`1m2.5s`), with either sign for a millionth; none is negative but by a fault.
_DURATION = (
    r"(?:-?(?:[0-9]{1,6}h)?(?:[0-9]{1,2}m)?[0-9]{1,10}(?:\.[0-9]{1,12})?"
    r"(?:s|ms|us|\u00b5s|\u03bcs|ns)|-)"
)
_PLACEHOLDERS = {
    "remote": ("remote", _ADDRESS),
    "port": ("port", "[0-9]{1,5}"),
    "local": ("local", _ADDRESS),
    ">id": ("id", _NUMBER),
    "type": ("type", "[A-Za-z0-9-]{0,16}"),
    "class": ("class", "[A-Z0-9]{0,10}"),
    "name": ("name", _NAME),
    "proto": ("proto", "(?:udp|tcp)"),
    "size": ("size", _NUMBER),
    ">do": ("do", "(?:true|false|-)"),
    ">bufsize": ("bufsize", _NUMBER),
    ">opcode": ("opcode", _NUMBER),
    "rcode": ("rcode", "(?:[A-Z0-9]{1,16}|-)"),
    ">rflags": ("rflags", "(?:[a-z,]{0,32}|-)"),
    "rsize": ("rsize", _NUMBER),
    "duration": ("duration", _DURATION),
    "when": ("when", "[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}(?::[0-9]{2}){3} [+-][0-9]{4}"),
    "/kubernetes/client-namespace": ("namespace", "(?:[a-z0-9-]{1,63}|)"),
    "/kubernetes/client-pod-name": ("pod_name", "(?:[a-z0-9.-]{1,253}|)"),
}
_PLACEHOLDER = re.compile(r"\{([^{}\s]{1,200})\}")


@lru_cache(maxsize=64)
def pattern_of(text: str) -> re.Pattern[str]:
    """Translate a format into a pattern for whole lines.

    Args:
        text: `common`, `combined` or a format with placeholders.

    Returns:
        Pattern with a group for each placeholder that is read: remote, port, local, id, type,
        class, name, proto, size, do, bufsize, opcode, rcode, rflags, rsize, duration, when,
        namespace, pod_name.
    """
    named = {"common": COMMON, "combined": COMBINED, "{common}": COMMON, "{combined}": COMBINED}
    text = named.get(text.strip(), text).strip()
    pieces: list[str] = []
    seen: set[str] = set()
    place = 0
    for match in _PLACEHOLDER.finditer(text):
        pieces.append(re.escape(text[place : match.start()]))
        pieces.append(_piece(match[1], seen) or re.escape(match[0]))
        place = match.end()
    pieces.append(re.escape(text[place:]))
    return re.compile("".join(pieces))


def _piece(placeholder: str, seen: set[str]) -> str | None:
    """Pattern of a placeholder; a group the first time it stands; none for literal text."""
    if placeholder.startswith(">"):  # these may be written in any case
        placeholder = placeholder.lower()
    known = _PLACEHOLDERS.get(placeholder)
    if known is None:
        return r"[^\s\"]*" if placeholder.startswith("/") else None
    group, pattern = known
    if group in seen:
        return pattern
    seen.add(group)
    return f"(?P<{group}>{pattern})"


VALUES: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {group: re.compile(pattern) for group, pattern in _PLACEHOLDERS.values()}
)
"""Group → pattern of the value that its placeholder prints."""

_STRING_OR_PLACEHOLDER = re.compile(r'"(?:[^"\\]|\\.)*"|\{[^{}\s"]{1,200}\}')
_MAX_DEPTH = 8


@lru_cache(maxsize=64)
def keys_of(text: str) -> Mapping[tuple[str, ...], re.Pattern[str]]:
    """Keys of a format that is JSON, each with the pattern of the text under it.

    Args:
        text: The format; a placeholder outside of quotes stands for a number.

    Returns:
        Path of keys → pattern, of the values with a placeholder; empty for any other format.
    """
    quoted = _STRING_OR_PLACEHOLDER.sub(
        lambda match: match[0] if match[0].startswith('"') else f'"{match[0]}"', text.strip()
    )
    try:
        value = msgspec.json.decode(quoted)
    except (msgspec.DecodeError, RecursionError):
        return MappingProxyType({})
    return MappingProxyType(
        {
            path: pattern_of(leaf)
            for path, leaf in _leaves(value, ())
            if _PLACEHOLDER.search(leaf) is not None
        }
    )


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict) and len(path) < _MAX_DEPTH:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, str) and path:
        yield path, value


def text_at(value: Any, path: tuple[str, ...]) -> str | None:  # noqa: ANN401  any JSON value
    """The text or number under a path of keys, as text; none where it is neither."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, str):
        return value
    is_number = isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 64
    return str(value) if is_number else None

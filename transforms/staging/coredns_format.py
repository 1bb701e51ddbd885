r"""The placeholders of CoreDNS's formats, as regular expressions.

Source: coredns/coredns, plugin/log and plugin/pkg/replacer. `common` and `combined` are the two
named formats; any other text is literal but for its placeholders. A placeholder that CoreDNS does
not know is printed as it stands, so it is literal here too.

The same language describes `extra` of the dnstap plugin.
"""

import re
from functools import lru_cache

COMMON = (
    '{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" '
    "{rcode} {>rflags} {rsize} {duration}"
)
COMBINED = COMMON + ' "{>opcode}"'

MAX_LINE = 8_192
"""Characters of a line; a name has at most 1,020, the rest of a line some 200."""

_ADDRESS = (
    r"(?:\[[0-9A-Fa-f:.]{2,45}(?:%[^\]\s]{1,32})?\]|[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
    r"|[0-9A-Fa-f:]{2,45})"
)
_NUMBER = r"(?:[0-9]{1,10}|-)"
# Printable ASCII but blank, quote and backslash, or a backslash and what it escapes.
_NAME = r"(?:[!#-\[\]-~]|\\[ -~])+"
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
    "duration": ("duration", r"(?:[0-9]{1,10}(?:\.[0-9]{1,12})?(?:s|ms|us|µs|ns)|-)"),
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
        class, name, proto, size, do, bufsize, opcode, rcode, rflags, rsize, duration, namespace,
        pod_name.
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
    known = _PLACEHOLDERS.get(placeholder)
    if known is None:
        return r"\S*" if placeholder.startswith("/") else None
    group, pattern = known
    if group in seen:
        return pattern
    seen.add(group)
    return f"(?P<{group}>{pattern})"

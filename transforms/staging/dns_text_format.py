"""Lines of DNS-collector's text format, as its `text-format` setting states them.

Source: DNS-collector's docs/dnsconversions.md and its text formatter. The setting is a list of
directives, `timestamp-rfc3339ns identity operation rcode queryip queryport qname qtype`; the
delimiter is that between the directives of the stated setting, a blank if there is none other. A
value that holds the delimiter is written in quotes, with quotes in it behind a backslash; `{text}`
is literal; `-` is no value. Directives of transforms are passed over.

The fields come out as the flat JSON form has them, so that both are read by one rule. Only
`answer-ips` tells all addresses; a first answer alone would be taken for all of them.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

from transforms.staging.dns_vector import text_of_instant

NEEDED = frozenset({"operation", "qname"})
"""Directives without which lines tell no look-up."""

_FIELDS = {
    "timestamp-rfc3339ns": "dnstap.timestamp-rfc3339ns",
    "timestamp": "dnstap.timestamp-rfc3339ns",
    "operation": "dnstap.operation",
    "extra": "dnstap.extra",
    "latency": "dnstap.latency",
    "opcode": "dns.opcode",
    "rcode": "dns.rcode",
    "id": "dns.id",
    "qname": "dns.qname",
    "qtype": "dns.qtype",
    "qclass": "dns.qclass",
    "malformed": "dns.malformed-packet",
    "queryip": "network.query-ip",
    "queryport": "network.query-port",
    "responseip": "network.response-ip",
    "responseport": "network.response-port",
    "protocol": "network.protocol",
}
_UNIX = {"timestamp-unixms": "ms", "timestamp-unixus": "us", "timestamp-unixns": "ns"}
_DIRECTIVE = re.compile(r"[a-z][a-z0-9-]{0,60}(?::\S{0,60})?|\{[^{}\s]{0,200}\}")
_FIRST = re.compile(r"(?:[a-z0-9-]+|\{[^{}\s]*\})([^a-z0-9{\s-]|\s)")
_ESCAPED = re.compile(r"\\(.)")


class TextForm(NamedTuple):
    """A text format.

    Attributes:
        pattern: Pattern of a line, a group per directive.
        directives: Its directives, in order; literal text is none.
    """

    pattern: re.Pattern[str]
    directives: tuple[str, ...]


@lru_cache(maxsize=64)
def text_form(stated: str) -> TextForm | None:
    """Read a setting; none where it states no text format."""
    first = _FIRST.match(stated.strip())
    delimiter = first[1] if first and not first[1].isspace() else None
    parts = stated.strip().split(delimiter)
    if not NEEDED.issubset(parts) or not all(_DIRECTIVE.fullmatch(part) for part in parts):
        return None
    mark = re.escape(delimiter or " ")
    value = rf'("(?:[^"\\]|\\.)*"|[^{mark}]*)'
    pieces = [re.escape(p[1:-1]) if p.startswith("{") else value for p in parts]
    directives = tuple(part for part in parts if not part.startswith("{"))
    return TextForm(re.compile(mark.join(pieces)), directives)


def text_fields(line: str, form: TextForm) -> dict[str, Any] | None:
    """The fields of a line by their flat names; none where it has another form."""
    match = form.pattern.fullmatch(line)
    if match is None:
        return None
    values = {
        directive: _unquoted(text)
        for directive, text in zip(form.directives, match.groups(), strict=True)
        if text not in {"-", ""}
    }
    fields: dict[str, Any] = {
        _FIELDS[directive]: text for directive, text in values.items() if directive in _FIELDS
    }
    for directive, precision in _UNIX.items():
        text = values.get(directive, "")
        if text.isascii() and text.isdigit() and len(text) <= 20:
            fields.setdefault(_FIELDS["timestamp"], text_of_instant(int(text), precision))
    if "answer-ips" in form.directives:
        fields |= _answers(values)
    return fields


def _answers(values: dict[str, str]) -> dict[str, Any]:
    """Answers with an address; without one they are none, or none that is told."""
    found: dict[str, Any] = {}
    addresses = [each for each in values.get("answer-ips", "").split(",") if each]
    if not addresses and values.get("ancount") == "0":
        found["dns.resource-records.an"] = "-"
    for index, address in enumerate(addresses):
        prefix = f"dns.resource-records.an.{index}."
        found |= {
            f"{prefix}rdatatype": "AAAA" if ":" in address else "A",
            f"{prefix}rdata": address,
        }
    return found


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text.startswith('"') and text.endswith('"')
    return _ESCAPED.sub(r"\1", text[1:-1]) if is_quoted else text

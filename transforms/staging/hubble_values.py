"""Single values of Hubble lines as the tables hold them, or the reason why they cannot.

Each function takes a value as exported and its JSON path. The line reader and the column reader
call the same functions, so that both give the same rows.

A name that an export writes is never refused: it is redacted and bounded as in every other table,
so that names of one pod agree. An address, a number, a time or an enum that is none is refused.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from transforms.redaction import path_without_query, redact_name
from transforms.staging.dns_names import asked_name, query_type, rcode_name
from transforms.staging.hubble_lines import (
    Aggregate,
    Enum,
    Number,
    Policy,
    TcpFlags,
    Workload,
    Wrapped,
    decode_retina,
)
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import (
    INT64_MAX,
    canonical_address,
    canonical_name,
    dashed_uid,
    parse_instant,
)

COUNTERS = ("ingress_flow_count", "egress_flow_count", "unknown_direction_flow_count")
"""Counters of an aggregated flow, by direction."""
RETINA_COUNTERS = {
    "packet_bytes": "bytes",
    "unreported_bytes": "previously_observed_bytes",
    "unreported_packets": "previously_observed_packets",
}
"""Fields of Retina's extension by column."""
UINT32_MAX = 2**32 - 1
PORT_MAX = 65_535
NO_ANSWER_TTL = UINT32_MAX
"""TTL that Cilium's DNS proxy writes where a response has no answer record."""

_ZERO_TIME = "0001-01-01T00:00:00Z"
_DIGITS = re.compile(r"[0-9]{1,10}")
_ENUM_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_METHOD = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}")
_ID = re.compile(r"[!-~]{1,128}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}")
_PORT = re.compile(r"(.*):\d{0,5}", re.DOTALL)


class Enumeration(NamedTuple):
    """An enum of the proto.

    Attributes:
        title: What it is, for reasons.
        names: Names by number; 0 stands for unknown in all of them.
        is_open: Names and numbers that are not known here are kept.
        unknown: Names of 0.
        known: The names.
    """

    title: str
    names: dict[int, str]
    is_open: bool
    unknown: frozenset[str]
    known: frozenset[str]


def _enumeration(
    title: str, names: dict[int, str], unknown: str, *, is_open: bool = True
) -> Enumeration:
    return Enumeration(title, names, is_open, frozenset({unknown}), frozenset(names.values()))


VERDICT = _enumeration(
    "a verdict",
    {
        1: "FORWARDED", 2: "DROPPED", 3: "ERROR", 4: "AUDIT", 5: "REDIRECTED", 6: "TRACED",
        7: "TRANSLATED",
    },
    "VERDICT_UNKNOWN",
)  # fmt: skip
DIRECTION = _enumeration(
    "INGRESS or EGRESS",
    {1: "INGRESS", 2: "EGRESS"},
    "TRAFFIC_DIRECTION_UNKNOWN",
    is_open=False,
)
L7_TYPE = _enumeration(
    "REQUEST, RESPONSE or SAMPLE",
    {1: "REQUEST", 2: "RESPONSE", 3: "SAMPLE"},
    "UNKNOWN_L7_TYPE",
    is_open=False,
)
OBSERVATION_POINT = _enumeration(
    "a trace observation point",
    {
        1: "TO_PROXY", 2: "TO_HOST", 3: "TO_STACK", 4: "TO_OVERLAY", 5: "FROM_ENDPOINT",
        6: "FROM_PROXY", 7: "FROM_HOST", 8: "FROM_STACK", 9: "FROM_OVERLAY", 10: "FROM_NETWORK",
        11: "TO_NETWORK", 12: "FROM_CRYPTO", 13: "TO_CRYPTO", 101: "TO_ENDPOINT",
    },
    "UNKNOWN_POINT",
)  # fmt: skip
TRACE_REASON = _enumeration(
    "a trace reason",
    {
        1: "NEW", 2: "ESTABLISHED", 3: "REPLY", 4: "RELATED", 5: "REOPENED", 6: "SRV6_ENCAP",
        7: "SRV6_DECAP", 8: "ENCRYPT_OVERLAY",
    },
    "TRACE_REASON_UNKNOWN",
)  # fmt: skip
DROP_REASON = _enumeration("a drop reason", {}, "DROP_REASON_UNKNOWN")
"""Numbers stay numbers here: names of this enum went stale between versions (136)."""
LOST_EVENT_SOURCE = _enumeration(
    "a source of lost events",
    {1: "PERF_EVENT_RING_BUFFER", 2: "OBSERVER_EVENTS_QUEUE", 3: "HUBBLE_RING_BUFFER"},
    "UNKNOWN_LOST_EVENT_SOURCE",
)
AGENT_EVENT = _enumeration(
    "an agent event",
    {9: "IPCACHE_UPSERTED", 10: "IPCACHE_DELETED"},
    "AGENT_EVENT_UNKNOWN",
)
NODE_STATE = _enumeration(
    "a node state",
    {1: "NODE_CONNECTED", 2: "NODE_UNAVAILABLE", 3: "NODE_GONE", 4: "NODE_ERROR"},
    "UNKNOWN_NODE_STATE",
)


def enum_name(value: Enum, enumeration: Enumeration, path: str) -> str | None:
    """Name of an enum value; a number that an open enumeration does not know stays a number.

    Returns:
        The name, or none where it is absent, unknown (0), or a number that a closed one lacks.

    Raises:
        RefusedError: It is no value of the enumeration.
    """
    if value is None or value == "":
        return None
    if value in enumeration.known:
        return str(value)
    if isinstance(value, str) and not _DIGITS.fullmatch(value):
        if value in enumeration.unknown:
            return None
        if enumeration.is_open and _ENUM_NAME.fullmatch(value):
            return value
    elif 0 <= int(value) <= UINT32_MAX:
        other = str(int(value)) if int(value) and enumeration.is_open else None
        return enumeration.names.get(int(value), other)
    return refuse("wrong_value", f"{enumeration.title} at {path}", value)


def number(value: Number, path: str, maximum: int = UINT32_MAX) -> int | None:
    """An unsigned integer, given as a number or as its decimal digits.

    Raises:
        RefusedError: It is none, or larger than the maximum.
    """
    if value is None:
        return None
    whole = value
    if isinstance(whole, str):
        digits = whole.lstrip("0") or "0"
        is_number = whole != "" and digits.isascii() and digits.isdigit() and len(digits) <= 20
        whole = int(digits) if is_number else -1
    if 0 <= whole <= maximum:
        return whole
    return refuse("wrong_value", f"an integer from 0 to {maximum} at {path}", value)


def number_not_zero(value: Number, path: str, maximum: int = UINT32_MAX) -> int | None:
    """An unsigned integer of which 0 means not set: ports, identities, endpoint ids.

    Raises:
        RefusedError: It is none, or larger than the maximum.
    """
    return number(value, path, maximum) or None


def instant(text: str | None, path: str) -> datetime | None:
    """A time, cut to microseconds; none where it is the zero of Go's times.

    Raises:
        RefusedError: It is no RFC 3339 time.
    """
    if not text or text == _ZERO_TIME:
        return None
    found = parse_instant(text)
    if found is None:
        refuse("wrong_value", f"an RFC 3339 time at {path}", text)
    return found


def address(text: str | None, path: str) -> str | None:
    """An IP address, written canonically.

    Raises:
        RefusedError: It is none.
    """
    if not text:
        return None
    found = canonical_address(text)
    if found is None:
        refuse("wrong_value", f"an IP address at {path}", text)
    return found


def addresses(texts: list[str] | None, path: str) -> list[str]:
    """IP addresses, written canonically, in their order.

    Raises:
        RefusedError: One is none.
    """
    found = (address(text, f"{path}[{i}]") for i, text in enumerate(texts or ()))
    return [text for text in found if text is not None]


def flag(value: bool | Wrapped | None) -> bool | None:
    """A yes or no, which may stand in the message that wraps it."""
    return value.value if isinstance(value, Wrapped) else value


def event_id(text: str | None, path: str) -> str | None:
    """The event's own id, an opaque word.

    Raises:
        RefusedError: It is no word.
    """
    if not text:
        return None
    if not _ID.fullmatch(text) or (dashed_uid(text) is None and redact_name(text) != text):
        refuse("wrong_value", f"a UUID at {path}", text)
    return text


def pod_uid(text: str | None) -> str | None:
    """A pod UID in lower case with dashes; null where the text is no UID."""
    return dashed_uid(text) if text else None


def node_name(text: str | None) -> str | None:
    """A node without the cluster that stands before it where a cluster has a name.

    It is redacted while it is whole: a private key may hold slashes.
    """
    if not text:
        return None
    whole = name_text(text) if "/" in text else text
    return name_text((whole or "").rpartition("/")[2])


def label_texts(texts: list[str] | None) -> list[str] | None:
    """Labels as exported (the agent sorts them); null where there are none."""
    return [text for label in texts or () if (text := name_text(label))] or None


def dns_name(text: str | None) -> str | None:
    """A DNS name in lower case without the final dot."""
    shown = name_text(text)
    return asked_name(shown) if shown else None


def dns_names(texts: list[str] | None) -> list[str]:
    """DNS names in their order."""
    return [name for text in texts or () if (name := dns_name(text))]


def query_types(texts: list[str] | None, path: str) -> list[str]:
    """DNS query types by name.

    Raises:
        RefusedError: One is none.
    """
    found = []
    for i, text in enumerate(texts or ()):
        name = query_type(text) if len(text) <= 32 else None
        if name is None:
            refuse("wrong_value", f"a DNS query type at {path}[{i}]", text)
        found.append(name)
    return found


def response_code(value: int, path: str) -> str:
    """A DNS response code by name.

    Raises:
        RefusedError: It is no response code.
    """
    name = rcode_name(str(value))
    if name is None:
        refuse("wrong_value", f"a DNS response code at {path}", value)
    return name


def http_method(text: str | None, path: str) -> str | None:
    """An HTTP method.

    Raises:
        RefusedError: It is no token.
    """
    if not text:
        return None
    if not _METHOD.fullmatch(text):
        refuse("wrong_value", f"an HTTP method at {path}", text)
    return text


@lru_cache(maxsize=16_384)
def url_parts(url: str) -> tuple[str | None, str | None]:
    """Host and path of a URL: without port, userinfo, query and fragment.

    Takes absolute URLs, paths, and `host:port` of CONNECT; what looks like a credential in the
    path is masked.

    Returns:
        Host and path, each null where the URL has none.
    """
    rest = url.partition("#")[0].partition("?")[0]
    scheme, mark, behind = rest.partition("://")
    if mark and _SCHEME.fullmatch(scheme):
        authority, slash, path = behind.partition("/")
        path = slash + path or "/"
    elif rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path or "/"
    elif rest[:1] in {"", "/", "*"}:
        authority, path = "", rest
    else:
        authority, slash, path = rest.partition("/")
        path = slash + path
    return _host(authority), (name_text(path_without_query(path)) if path else None)


def _host(authority: str) -> str | None:
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        host = host[1:].partition("]")[0]
        return canonical_address(host) or name_text(host)
    with_port = _PORT.fullmatch(host)
    if with_port is not None:
        host = with_port[1]
    return name_text(canonical_name(host))


def tcp_flags(flags: TcpFlags | None) -> str | None:
    """Flags set, in the order of the proto; null without flags, empty where none is set."""
    if flags is None:
        return None
    return ",".join(name for name in TcpFlags.__struct_fields__ if getattr(flags, name))


def workload(workloads: list[Workload] | None) -> str | None:
    """The first workload as `Kind/name`; the name alone where the kind is not stated."""
    if not workloads:
        return None
    name, kind = name_text(workloads[0].name), name_text(workloads[0].kind)
    return f"{kind}/{name}" if kind and name else name


def service(name: str | None, namespace: str | None) -> str | None:
    """A service as `namespace/name`; the name alone where no namespace is stated."""
    name, namespace = name_text(name), name_text(namespace)
    return f"{namespace}/{name}" if namespace and name else name


def flow_count(counts: Aggregate | None, path: str) -> int | None:
    """Events that an aggregated line stands for; null where it is none.

    Raises:
        RefusedError: A counter is no number.
    """
    if counts is None:
        return None
    return sum(number(getattr(counts, name), f"{path}.{name}") or 0 for name in COUNTERS)


def retina(data: bytes, path: str) -> dict[str, Any]:
    """What Retina adds to a flow, by column, and its own reason for a drop.

    Raises:
        RefusedError: A counter is no number, or the reason no name.
    """
    stated = decode_retina(data, path)
    if stated is None:
        return {}
    counters = {
        name: number(getattr(stated, field), f"{path}.{field}", INT64_MAX)
        for name, field in RETINA_COUNTERS.items()
    }
    reason = enum_name(stated.drop_reason, DROP_REASON, f"{path}.drop_reason")
    return {**counters, "retina_drop_reason": reason}


def policies(*lists: Iterable[Policy] | None) -> list[str] | None:
    """Policies as `kind/namespace/name`, an unknown part empty; null where there are none."""
    found = [
        "/".join(name_text(part) or "" for part in (policy.kind, policy.namespace, policy.name))
        for each in lists
        for policy in each or ()
    ]
    return found or None


def latency(nanoseconds: int | None) -> float | None:
    """Nanoseconds as seconds."""
    return None if nanoseconds is None else nanoseconds / 1_000_000_000


def dns_answers(
    canonical_names: list[str], addresses_: list[str], ttl: int | None
) -> list[dict[str, Any]]:
    """Answer records: aliases, then addresses.

    Hubble states one time to live, the smallest of the chain, and not which name owns which record.
    """
    aliases = [
        {"name": None, "type": "CNAME", "data": name, "ttl": ttl} for name in canonical_names
    ]
    hosts = [
        {"name": None, "type": "AAAA" if ":" in text else "A", "data": text, "ttl": ttl}
        for text in addresses_
    ]
    return aliases + hosts

"""Access logs of Squid: its own format, and the common and combined ones.

Source: squid, src/cf.data.pre (`logformat squid`, `common`, `combined`) and src/tunnel.cc.

* A line stands at the end of a request and tells only what went to the client, with the headers of
  the reply (`payload`). What the client sent is in none of these formats, so an upload through a
  tunnel (CONNECT) cannot be seen: there is no row of that direction, and never a 0.
* Squid's own format has the end and the duration, the others only an instant.
* The peer is the server only where the hierarchy says that Squid asked it itself; what the cache
  answered (`TCP_HIT`, in `response_flags`) came from no server. What was denied (`REJECT`) is an
  error page of Squid's.
* Of a URL only its host is kept.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from transforms.staging import lookup_fields as f
from transforms.staging import request_fields
from transforms.staging import volume_fields as v
from transforms.staging.parser import FileContext
from transforms.staging.refusal import refuse
from transforms.staging.values import instant_of_microseconds

MAX_LENGTH = timedelta(days=366)

_NATIVE = re.compile(
    r"\s*(?P<seconds>[0-9]{9,11})\.(?P<fraction>[0-9]{3})\s+(?P<elapsed>-?[0-9]{1,12})"
    r" (?P<client>\S+) (?P<result>[A-Z_]+)/(?P<status>[0-9]{3}) (?P<size>[0-9]{1,20})"
    r" (?P<method>\S+) (?P<url>\S+) \S+ (?P<hierarchy>[A-Z_]+)/(?P<peer>\S+) \S+\s*\Z"
)
_COMMON = re.compile(
    r"(?P<client>\S+) \S+ \S+ \[(?P<time>[^\]]{26})\]"
    r' "(?P<method>\S+) (?P<url>\S+) [A-Z]+/[0-9.]+" (?P<status>[0-9]{3}) (?P<size>[0-9]{1,20})'
    r'(?: "[^"]*" "[^"]*")? (?P<result>[A-Z_]+):(?P<hierarchy>[A-Z_]+)\s*\Z'
)
_METHOD = re.compile(r"[A-Z]{3,20}")
_PORT = re.compile(r"[0-9]{1,5}")
_DIRECT = frozenset({"HIER_DIRECT", "DIRECT", "ORIGINAL_DST", "PINNED"})
"""The peer is the server, and no other proxy."""


def is_line(text: str) -> bool:
    """Whether a text is a line of one of Squid's formats."""
    return _match(text) is not None


def _match(text: str) -> re.Match[str] | None:
    return _NATIVE.fullmatch(text) or _COMMON.fullmatch(text)


def volumes(text: str, context: FileContext) -> list[dict[str, Any]]:
    """The row of a line: what went to the client.

    Raises:
        RefusedError: The line is of none of the formats, or a value is none that it can have.
    """
    match = _match(text)
    if match is None:
        refuse("format", "a line of Envoy, or of Squid's own, common or combined format")
    values = match.groupdict()
    start_at, end_at = _interval(values)
    v.check_interval(start_at, end_at, MAX_LENGTH)
    method, status = values["method"], int(values["status"])
    host, port = _host(values["url"])
    is_direct = values["hierarchy"] in _DIRECT
    is_denied = "DENIED" in values["result"]
    return [
        {
            "start_at": start_at,
            "end_at": end_at,
            "source_address": f.address_if_any(values.get("peer") or "") if is_direct else None,
            "source_port": port if is_direct else None,
            "destination_address": f.address_if_any(values["client"]),
            "destination_port": None,
            "transport": "TCP",
            "action": "REJECT" if is_denied else None,
            "reject_reason": values["result"][:64] if is_denied else None,
            "bytes": v.octets(values["size"], "size"),
            "http_method": method if _METHOD.fullmatch(method) else None,
            "http_host": host,
            "http_status": status or None,
            "response_flags": values["result"][:64],
            "sampling_interval": None,
            "scaled": "raw",
            "reporter": None,
            "temporality": context.temporality or "per_connection_total",
            "byte_layer": "payload",
        }
    ]


def _interval(values: dict[str, Any]) -> tuple[datetime, datetime]:
    if values.get("seconds") is None:
        try:
            at = datetime.strptime(values["time"], "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC)
        except (ValueError, OverflowError):
            refuse("no_time", "a time such as 10/Mar/2026:03:01:59 +0000", values["time"])
        return at, at
    end = int(values["seconds"]) * 1_000_000 + int(values["fraction"]) * 1_000
    lasted = max(0, int(values["elapsed"])) * 1_000
    start_at, end_at = instant_of_microseconds(end - lasted), instant_of_microseconds(end)
    if start_at is None or end_at is None:
        refuse("interval", "a beginning behind the year 0", values["elapsed"])
    return start_at, end_at


def _host(url: str) -> tuple[str | None, int | None]:
    """Host and port of a URL, or of `host:port` of a tunnel."""
    scheme, mark, rest = url.partition("://")
    authority = (rest if mark else scheme).partition("/")[0].rpartition("@")[2]
    name, colon, stated = authority.rpartition(":")
    port = (
        int(stated) if colon and stated.isascii() and stated.isdigit() and len(stated) < 6 else None
    )
    if port is None and mark:
        port = {"http": 80, "https": 443}.get(scheme.lower())
    return request_fields.host(name if colon and port is not None and stated else authority), port

"""Access logs of Envoy and of Istio's sidecars: the default lines of text, and JSON.

Source: Envoy, docs on access logging (default format, command operators); Istio, its default text
and JSON formats; envoyproxy/envoy#23630 on records that are written before the end.

* A record stands at the end of a request, or of a connection that is passed through, and tells it
  whole (`per_connection_total`). Bytes of a request are those of bodies (`body`), of a connection
  those of its payload (`payload`). `bytes_received` went from the client, `bytes_sent` to it.
* With a flush interval Envoy also writes records before the end, counted from the beginning. They
  are ignored as `intermediate` where the record's type is logged; where it is not, they cannot be
  told, and share the `flow_id` of the request.
* `upstream_cluster` says whose sidecar speaks: `outbound|…` is the client's (`reporter` SRC for
  what was sent), `inbound|…` the server's. The pod whose container wrote the line is then that end.
* The path is not kept, nor is what the client says of itself or of proxies before this one.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from transforms.staging import lookup_fields as f
from transforms.staging import request_fields
from transforms.staging import volume_fields as v
from transforms.staging.parser import FileContext, Wrapper
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import microseconds_of, parse_instant

MARKS = frozenset({"bytes_received", "bytes_sent", "response_flags", "upstream_host"})
SHOWN_KEYS = frozenset(
    {b"start_time", b"method", b"protocol", b"response_code", b"response_flags", b"duration"}
)  # fmt: skip
MAX_LENGTH = timedelta(days=366)

_QUOTED = r'"((?:[^"\\]|\\.)*+)"'
_REQUEST = (
    rf"\[(?P<start_time>[^\]]{{1,64}})\] {_QUOTED} (?P<response_code>\S+) (?P<response_flags>\S+)"
)
_BEHIND = (
    r" (?P<bytes_received>\S+) (?P<bytes_sent>\S+) (?P<duration>\S+) \S+"
    rf" {_QUOTED} {_QUOTED} {_QUOTED.replace('((', '(?P<request_id>(', 1)}"
    rf" {_QUOTED.replace('((', '(?P<authority>(', 1)}"
    rf" {_QUOTED.replace('((', '(?P<upstream_host>(', 1)}"
)
_ENVOY = re.compile(_REQUEST + _BEHIND + r"\s*\Z")
_ISTIO = re.compile(
    _REQUEST + rf" \S+ \S+ {_QUOTED}" + _BEHIND + r" (?P<upstream_cluster>\S+) \S+"
    r" (?P<downstream_local_address>\S+) (?P<downstream_remote_address>\S+)"
    r" (?P<requested_server_name>\S+) \S+\s*\Z"
)
_BEGINNING = re.compile(_REQUEST)
_METHOD = re.compile(r"[A-Z]{3,20}")
_FLAGS = re.compile(r"[A-Z0-9_,]{1,100}")
_EARLY = re.compile(r"Periodic|Start|Connected|Tunnel")
_ID = re.compile(r"[0-9A-Za-z-]{1,64}")


def line_values(text: str) -> Mapping[str, Any] | None:
    """Values of a line of text by the names that JSON has; none where it is no such line."""
    for form in (_ISTIO, _ENVOY):
        match = form.fullmatch(text)
        if match is not None:
            method, _, rest = match[2].partition(" ")
            protocol = rest.rpartition(" ")[2]
            return match.groupdict() | {"method": method, "protocol": protocol}
    return None


def is_line(text: str) -> bool:
    """Whether a text begins as Envoy's lines do."""
    return _BEGINNING.match(text) is not None


def volumes(
    values: Mapping[str, Any], context: FileContext, wrapper: Wrapper | None
) -> list[dict[str, Any]] | str:
    """The rows of a record, or the word for which it is left out.

    Raises:
        RefusedError: A value is none that its field can have.
    """
    if _EARLY.search(_text(values, "access_log_type") or ""):
        return "intermediate"
    start_at = _start(values)
    milliseconds = _number(values, "duration") or 0
    end_at = v.instant(microseconds_of(start_at) + milliseconds * 1_000, 1, "duration")
    v.check_interval(start_at, end_at, MAX_LENGTH)
    method = _text(values, "method")
    is_request = method is not None and _METHOD.fullmatch(method) is not None
    common = {
        "start_at": start_at,
        "end_at": end_at,
        "flow_id": _flow_id(values),
        "transport": "UDP" if _text(values, "protocol") == "HTTP/3" else "TCP",
        "http_method": method if is_request else None,
        "http_host": request_fields.host(_text(values, "authority"))
        or request_fields.host(_text(values, "requested_server_name")),
        "http_status": _number(values, "response_code") or None,
        "response_flags": _flags(values),
        "sampling_interval": None,
        "scaled": "raw",
        "temporality": context.temporality or "per_connection_total",
        "byte_layer": "body" if is_request else "payload",
    }
    client, server = _ends(values)
    side = (_text(values, "upstream_cluster") or "").partition("|")[0]
    writer = _writer(wrapper)
    client_pod = writer if side == "outbound" else {}
    server_pod = writer if side == "inbound" else {}
    there = {"outbound": "SRC", "inbound": "DEST"}.get(side)
    back = {"outbound": "DEST", "inbound": "SRC"}.get(side)
    sent, received = _number(values, "bytes_received"), _number(values, "bytes_sent")
    rows = []
    if sent is not None:
        asked = v.columns_of("destination_original", _asked(values))
        rows.append(
            common | v.columns_of("source", client | client_pod)
            | v.columns_of("destination", server | server_pod) | asked
            | {"bytes": sent, "reporter": there}
        )  # fmt: skip
    if received is not None:
        rows.append(
            common | v.columns_of("source", server | server_pod)
            | v.columns_of("destination", client | client_pod)
            | {"bytes": received, "reporter": back}
        )  # fmt: skip
    return rows or "no_bytes"


def _start(values: Mapping[str, Any]) -> datetime:
    stated = _text(values, "start_time")
    at = parse_instant(stated) if stated else None
    if at is None:
        refuse("no_time", "an RFC 3339 time in start_time", stated)
    return at


def _ends(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Client and server, as far as they are addresses."""
    return (
        _end(_text(values, "downstream_remote_address")),
        _end(_text(values, "upstream_host")),
    )


def _asked(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the client addressed, where that is not the server."""
    stated = _text(values, "downstream_local_address")
    return {} if stated == _text(values, "upstream_host") else _end(stated)


def _end(stated: str | None) -> dict[str, Any]:
    """Address and port of `192.0.2.1:80` or `[2001:db8::1]:80`; empty where it is neither."""
    address, _, port = (stated or "")[:80].rpartition(":")
    found = f.address_if_any(address) if address else None
    number = int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else None
    return {} if found is None else {"address": found, "port": number}


def _writer(wrapper: Wrapper | None) -> dict[str, Any]:
    """The pod whose container wrote the line."""
    if wrapper is None:
        return {}
    return {
        "namespace": name_text(wrapper.namespace),
        "pod_name": name_text(wrapper.pod_name),
        "pod_uid": wrapper.pod_uid,
        "node": name_text(wrapper.node),
    }


def _number(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    return None if value == "-" else v.octets(value, name)


def _flags(values: Mapping[str, Any]) -> str | None:
    text = _text(values, "response_flags")
    return text if text is not None and _FLAGS.fullmatch(text) else None


def _flow_id(values: Mapping[str, Any]) -> str | None:
    text = _text(values, "request_id")
    return name_text(text) if text is not None and _ID.fullmatch(text) else None


def _text(values: Mapping[str, Any], name: str) -> str | None:
    text = v.text(values, name)
    return None if text == "-" else text

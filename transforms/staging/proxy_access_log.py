"""Access logs of proxies that traffic passes: Envoy and Istio's sidecars, Squid.

The formats stand in proxy_envoy.py and proxy_squid.py. Both ends' sidecars may log one request;
`reporter` tells which, and their records are never added to each other.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from transforms.staging import proxy_envoy as envoy
from transforms.staging import proxy_squid as squid
from transforms.staging.json_items import parse_items, whole_record_id
from transforms.staging.json_lookups import recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    Row,
    Wrapper,
    accepted,
    ignored,
    rejected,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.values import identity
from transforms.staging.volume_fields import TABLE

MAX_LINE = 1 << 16
HEAD_LINES = 20

_OBJECT = msgspec.json.Decoder(dict[str, Any])


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    for raw in records:
        if raw.data.lstrip()[:1] == b"{" or _is_list(raw.data):
            read = partial(_read, raw.wrapper)
            yield from parse_items([raw], context, read, envoy.SHOWN_KEYS)
        elif len(raw.data) > MAX_LINE:
            yield rejected(raw, f"unreadable_line: expected at most {MAX_LINE} bytes")
        else:
            yield _line(raw, context)


def _is_list(data: bytes) -> bool:
    """Whether a bracket begins a list of JSON, and not the time of a line."""
    return data.lstrip()[:1] == b"[" and data[1:].lstrip()[:1] in {b"{", b"]", b"["}


def _line(raw: RawRecord, context: FileContext) -> Parsed:
    text = raw.data.decode("utf-8", "replace")
    try:
        values = envoy.line_values(text)
        if values is not None:
            found = envoy.volumes(values, context, raw.wrapper)
        else:
            found = squid.volumes(text, context)
    except RefusedError as error:
        return refused(raw, error)
    if isinstance(found, str):
        return ignored(raw, found)
    return accepted(raw, *_rows(found, _record_id(text, raw.wrapper)))


def _read(wrapper: Wrapper | None, item: Item, context: FileContext) -> tuple[Row, ...] | str:
    values = decode(_OBJECT, item.data, item.path)
    if envoy.MARKS.isdisjoint(values):
        refuse("no_request", "keys such as bytes_sent and response_flags", None)
    found = envoy.volumes(values, context, wrapper)
    if isinstance(found, str):
        return found
    return _rows(found, _record_id(whole_record_id(item), wrapper))


def _record_id(text: str, wrapper: Wrapper | None) -> str:
    """Id of a record: itself with the time, node and pod that its wrapper supplied."""
    if wrapper is None:
        return identity(text)
    return identity(text, wrapper.written, wrapper.node, wrapper.namespace, wrapper.pod_name)


def _rows(found: list[dict[str, Any]], record_id: str) -> tuple[Row, ...]:
    return tuple((TABLE, row | {"record_id": record_id}) for row in found)


def _recognise(head: bytes) -> Recognition:
    for line in head.split(b"\n")[:HEAD_LINES]:
        text = line[:MAX_LINE].decode("utf-8", "replace")
        if envoy.line_values(text) is not None:
            return Recognition(3, "Envoy, text")
        if squid.is_line(text):
            return Recognition(2, "Squid, text")
    return recognise_records(head, _variant)


def _variant(values: dict[str, Any]) -> str | None:
    is_envoy = len(envoy.MARKS & values.keys()) > 2 and "start_time" in values
    return "Envoy, JSON" if is_envoy else None


PARSER = Parser(
    name="proxy_access_log",
    title="Access logs of Envoy, Istio and Squid",
    tables=(TABLE,),
    shape="lines",
    record="one line: one request, or one connection that was passed through, told at its end",
    cannot_tell=(
        "what passes no proxy; requests that last still; with Squid, what clients sent; when "
        "within a request its bytes went; headers and paths, which are not kept"
    ),
    recognise=_recognise,
    parse=_parse,
)

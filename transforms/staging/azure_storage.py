"""Requests to Azure Blob Storage: resource logs, and the classic Storage Analytics log.

Sources: the Azure documentation's pages on the resource logs of blob storage and on monitoring
data; public records. Resource logs are one JSON object per line, or `{"records": […]}` where an
event hub passed them on; a workspace of Log Analytics gives them back as rows of a table.

* The time is that at which a request was received. `durationMs` is the whole request,
  `serverLatencyMs` what the storage spent.
* The address has a port. Names of operations differ in case.
* The status may be text, and `Unknown` where the connection broke.
* One request may have several records, told apart by the operation count; with the correlation id
  it identifies a record, in both logs alike.
* A shared access signature names nobody. Its hash, the URI's query and the query of a copy's source
  are not kept.
* Tables, queues and files, and records of other resources are ignored.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging import azure_requests as a
from transforms.staging import request_fields as f
from transforms.staging.azure_log_analytics import as_resource_log, is_row
from transforms.staging.azure_storage_analytics import START, read_line
from transforms.staging.json_heads import first_value
from transforms.staging.json_items import parse_items, whole_record_id
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    Row,
    accepted,
    ignored,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import identity, parse_instant

SHOWN_KEYS = frozenset(
    {
        b"time", b"category", b"operationName", b"operationVersion", b"statusCode", b"statusText",
        b"callerIpAddress", b"location", b"protocol", b"type", b"serviceType",
        b"metricResponseType", b"TimeGenerated", b"OperationName", b"StatusCode", b"StatusText",
        b"Category",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; URIs hold signatures."""
LIST_KEY = "records"

Number = int | float | str | None
"""A number, as numbers are written."""


class _Requester(msgspec.Struct, rename="camel"):
    upn: str | None = None
    object_id: str | None = None
    app_id: str | None = None


class _Identity(msgspec.Struct):
    type: str | None = None
    requester: _Requester | None = None


class _Properties(msgspec.Struct, rename="camel"):
    account_name: str | None = None
    user_agent_header: str | None = None
    etag: str | None = None
    service_type: str | None = None
    operation_count: Number = None
    request_body_size: Number = None
    response_body_size: Number = None
    server_latency_ms: Number = None
    object_key: str | None = None
    source_uri: str | None = None
    metric_response_type: str | None = None


class _Head(msgspec.Struct, rename="camel"):
    """What tells resources apart; records of others may hold anything else."""

    resource_id: str | None = None
    operation_name: str | None = None


class Record(msgspec.Struct, rename="camel"):
    """One request."""

    time: str | None = None
    operation_name: str | None = None
    status_code: Number = None
    status_text: str | None = None
    duration_ms: Number = None
    caller_ip_address: str | None = None
    correlation_id: str | None = None
    location: str | None = None
    uri: str | None = None
    identity: _Identity | None = None
    properties: _Properties | None = None


_HEAD = msgspec.json.Decoder(_Head)
_RECORD = msgspec.json.Decoder(Record)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    for raw in records:
        if raw.data.lstrip()[:1] in {b"{", b"["} or raw.locator == "$":
            yield from parse_items([raw], context, _read, SHOWN_KEYS, LIST_KEY)
        else:
            yield _line(raw, context)


def _line(raw: RawRecord, context: FileContext) -> Parsed:
    try:
        found = read_line(raw, context)
    except RefusedError as problem:
        return f.without_queries(refused(raw, problem))
    return ignored(raw, found) if isinstance(found, str) else accepted(raw, (f.TABLE, found))


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    item = as_resource_log(item)
    head = decode(_HEAD, item.data, item.path)
    resource = (head.resource_id or "").lower()
    if "/storageaccounts/" not in resource:
        if head.operation_name is None:
            refuse("no_operation", "a name such as GetBlob in operationName", None)
        return "other_resource"
    record = decode(_RECORD, item.data, item.path)
    properties = record.properties or _Properties()
    service = (properties.service_type or "").lower()
    if (service or "blob") != "blob" or (not service and "/blobservices/" not in resource):
        return "other_service"
    name = a.operation_name(record.operation_name)
    if name is None:
        refuse("operation", "a name such as GetBlob", record.operation_name)
    event_at = parse_instant(record.time) if record.time else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in time", record.time)
    count = f.whole(properties.operation_count, "operation_count") or 0
    request_id = record.correlation_id
    values = {
        "record_id": identity(request_id, count) if request_id else whole_record_id(item),
        "event_at": event_at,
    }
    account = account_of(resource)
    return ((f.TABLE, values | _request(record, properties, name, account, context)),)


def _request(
    record: Record, properties: _Properties, name: str, account: str, context: FileContext
) -> dict[str, Any]:
    asker = record.identity or _Identity()
    requester = asker.requester or _Requester()
    # The status is text where the connection broke.
    is_unknown = isinstance(record.status_code, str) and not record.status_code.isdigit()
    status = None if is_unknown else f.status(record.status_code)
    operation = a.operation(name)
    agent = free_text(properties.user_agent_header)
    location = (record.location or "").replace(" ", "").lower()
    return {
        "provider": "azure",
        **placed(properties.object_key, properties.account_name or account),
        "version_id": a.version(record.uri),
        "etag": f.etag(properties.etag),
        "operation": operation,
        "operation_name": name,
        "status": status,
        "error": a.error(record.status_text or properties.metric_response_type),
        "response_bytes": response_bytes(properties.response_body_size),
        "request_bytes": request_bytes(properties.request_body_size),
        "is_range": f.is_range(operation, status),
        "duration_seconds": _milliseconds(record.duration_ms, "duration_ms"),
        "turn_around_seconds": _milliseconds(properties.server_latency_ms, "server_latency_ms"),
        "client_address": address(record.caller_ip_address),
        "principal": name_text(requester.upn or requester.object_id or requester.app_id),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": name_text(record.correlation_id),
        "authentication": f.word(asker.type),
        "bucket_region": f.word(location) or context.region,
        "endpoint": a.endpoint(record.uri),
        "copy_source": a.copy_source(properties.source_uri),
    }


def account_of(resource_id: str | None) -> str:
    """Account that a resource belongs to; empty where it is none of storage."""
    return (resource_id or "").lower().partition("/storageaccounts/")[2].partition("/")[0]


def placed(object_key: str | None, account: str | None) -> dict[str, str | None]:
    """Account, container and key."""
    place = a.place(object_key, account)
    return {"bucket_owner": place.account, "bucket": place.container, "key": place.key}


def response_bytes(stated: object) -> int | None:
    """Bytes of the answer."""
    return f.whole(stated, "response_body_size")


def request_bytes(stated: object) -> int | None:
    """Bytes of the request."""
    return f.whole(stated, "request_body_size")


def address(stated: str | None) -> str | None:
    """Address of who asked."""
    return f.address_without_port(stated, "caller_ip_address")


def _milliseconds(stated: Number, word: str) -> float | None:
    """A duration that is written as a number or as text, with or without a fraction."""
    if isinstance(stated, str):
        try:
            stated = float(stated) if stated and len(stated) <= 40 else None
        except ValueError:
            refuse(word, "milliseconds", stated)
    return f.seconds(stated, 1_000)


def _recognise(head: bytes) -> Recognition:
    first = next((line for line in head.split(b"\n") if line.strip()), b"")
    if START.match(first.removeprefix(b"\xef\xbb\xbf")):
        return Recognition(3, "Storage Analytics lines")
    value = first_value(head)
    if isinstance(value, dict) and isinstance(value.get(LIST_KEY), list):
        value = value[LIST_KEY]
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict) and is_row(value):
        return Recognition(3, "rows of Log Analytics")
    if not isinstance(value, dict) or not isinstance(value.get("resourceId"), str):
        return Recognition(0)
    is_record = isinstance(value.get("operationName"), str) and isinstance(value.get("time"), str)
    is_storage = "/storageaccounts/" in value["resourceId"].lower()
    return Recognition(3, "resource logs") if is_record and is_storage else Recognition(0)


PARSER = Parser(
    name="azure_storage",
    title="Azure Blob Storage logs",
    tables=(f.TABLE,),
    shape="json",
    record="one resource log record, or one line of the classic Storage Analytics log",
    cannot_tell=(
        "byte ranges and sizes of objects; who holds a shared access signature or an account key; "
        "the pod behind a managed identity; the region, in classic logs"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=(
        "status", "response_bytes", "request_bytes", "duration_seconds", "principal", "etag",
    ),
    tested_on="real",
)  # fmt: skip

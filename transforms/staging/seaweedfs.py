"""Access log of SeaweedFS' S3 gateway, as it sends it to Fluentd or Fluent Bit.

Source: `weed/s3api/s3err/audit_fluent.go` of SeaweedFS, which states the fields and leaves those
that are empty out. What the collector writes is one JSON object per request.

* The time is that at which the request was answered, in whole seconds since 1970.
* There are no bytes, no sizes and no durations.
* Operations are named as S3's server access log names them; keys begin with a slash, which is none
  of the key's.
* The address is what a proxy states in `X-Real-IP` or `X-Forwarded-For`, else that of the
  connection, with its port: a client that is not behind a proxy may state any.
* The format has no id of a record: two equal records are one.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging import request_fields as f
from transforms.staging.json_heads import first_value
from transforms.staging.json_items import parse_items, whole_record_id
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.refusal import refuse
from transforms.staging.s3_operations import operation_of
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import INT64_MAX, instant_of_microseconds

SHOWN_KEYS = frozenset(
    {b"bucket", b"operation", b"status", b"remote_ip", b"error_code", b"signature_version"}
)
"""Keys whose text an excerpt may show."""

_KNOWN = frozenset(
    {
        "bucket", "time", "remote_ip", "requester", "requester_arn", "request_id", "operation",
        "key", "error_code", "host_id", "host_header", "user_agent", "status", "signature_version",
    }
)  # fmt: skip
_MARKS = frozenset({"host_id", "host_header", "remote_ip", "status", "signature_version"})
_ANONYMOUS = frozenset({"anonymous", "-"})
_LONG_AGO = 1
_MAX_SECONDS = 253_402_300_799
"""The end of the year 9999."""

_Number = int | float | str | None


class _Record(msgspec.Struct):
    bucket: str | None = None
    time: _Number = None
    remote_ip: str | None = None
    requester: str | None = None
    requester_arn: str | None = None
    request_id: str | None = None
    operation: str | None = None
    key: str | None = None
    error_code: str | None = None
    host_header: str | None = None
    user_agent: str | None = None
    status: _Number = None


_RECORD = msgspec.json.Decoder(_Record)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_items(records, context, _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    record = decode(_RECORD, item.data, item.path)
    name = record.operation or ""
    operation = operation_of(name)
    if operation is None:
        refuse("operation", "a name such as REST.GET.OBJECT in operation", record.operation)
    seconds = f.whole(record.time, "time", minimum=-INT64_MAX)
    if seconds is None or not _LONG_AGO <= seconds <= _MAX_SECONDS:
        refuse("no_time", "seconds since 1970 in time", seconds)
    agent = free_text(record.user_agent)
    status = f.status(record.status or None)
    principal = record.requester_arn or record.requester or ""
    endpoint, region, vpc_endpoint = f.s3_host(record.host_header or "-")
    values: dict[str, Any] = {
        "record_id": whole_record_id(item),
        "event_at": instant_of_microseconds(seconds * 1_000_000),
        "provider": "seaweedfs",
        "bucket": name_text(record.bucket),
        "key": name_text((record.key or "").removeprefix("/")),
        "operation": operation,
        "operation_name": name,
        "http_method": _method(name),
        "status": status,
        "error": name_text(record.error_code),
        "is_range": f.is_range(operation, status),
        "client_address": _address(record.remote_ip),
        "principal": None if principal in _ANONYMOUS else name_text(principal),
        "session_arn": f.session_arn(record.requester_arn),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": name_text(record.request_id),
        "bucket_region": region or context.region,
        "endpoint": endpoint,
        "vpc_endpoint_id": vpc_endpoint,
    }
    return ((f.TABLE, values),)


def _method(name: str) -> str | None:
    kind, _, rest = name.partition(".")
    return f.method(rest.partition(".")[0]) if kind == "REST" else None


def _address(stated: str | None) -> str | None:
    """The address, with or without a port; null where the header holds none, or several."""
    if not stated:
        return None
    place, colon, port = stated.rpartition(":")
    is_split = colon and port.isdigit() and (":" not in place or place[-1:] == "]")
    return f.address_if_any(place if is_split else stated)


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict) or "bucket" not in value or not value.keys() & _MARKS:
        return Recognition(0)
    name = value.get("operation")
    is_ours = (
        isinstance(name, str)
        and operation_of(name) is not None
        and isinstance(value.get("time"), int)
        and not isinstance(value["time"], bool)
    )
    if not is_ours:
        return Recognition(0)
    return Recognition(3 if value.keys() <= _KNOWN else 2, "access log records")


PARSER = Parser(
    name="seaweedfs",
    title="SeaweedFS S3 access log",
    tables=(f.TABLE,),
    shape="json",
    record="one object: one request",
    cannot_tell=(
        "bytes, sizes of objects and durations; byte ranges but by the status; versions; whether "
        "the address is what a client claims"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=("status", "client_address", "principal", "session_arn", "request_id"),
)

"""Operations log of Ceph's RADOS Gateway: one JSON object per request.

Source: `src/rgw/rgw_log.cc` of Ceph, which writes the object, and `radosgw-admin log show`, which
lists objects under `log_entries`. The file sink writes objects behind each other, the socket sink
begins with `[` and parts objects by `,` and a line end, without a closing bracket.

* The time is that at which a request was received; `total_time` is in milliseconds. A time that was
  never set is written as a small number and is none.
* The object stands in the URI only: in path style behind the bucket, else it is the whole path.
  Swift's paths have a prefix. The query of a URI may hold a signature and is never stored.
* `get_obj` is also the name of a question for the head, which the method tells apart; a part of an
  upload is `put_obj` with `partNumber`.
* `object_size` is 0 where no object was looked at; it is believed where one was read, asked for or
  written with success, 0 only where all of it was read.
* Bucket and user may name a tenant in front (`tenant/bucket`, `tenant$user`).
* Headers that an operator chose to log (`rgw_log_http_headers`) are never stored, but for the
  source of a copy and the offset of a `Range`.
* The format has no id of a record: two equal records are one.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging import request_fields as f
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
    ignored,
)
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import parse_instant

SHOWN_KEYS = frozenset(
    {b"time", b"operation", b"http_status", b"bucket", b"remote_addr", b"error_code"}
)
"""Keys whose text an excerpt may show; URIs and headers hold credentials."""
LIST_KEY = "log_entries"

_OPERATIONS = {
    "get_obj": "read",
    "stat_obj": "head",
    "stat_bucket": "head",
    "put_obj": "write",
    "post_obj": "write",
    "complete_multipart": "write",
    "copy_obj": "copy",
    "list_bucket": "list",
    "list_buckets": "list",
    "delete_obj": "delete",
    "multi_object_delete": "delete",
    "bulk_delete": "delete",
}
"""Everything else is `other`: settings, and beginning or aborting an upload."""
_OBJECT_OPERATIONS = frozenset({"read", "write", "copy", "head", "delete"})
_WITHOUT_OBJECT = frozenset({"stat_bucket", "multi_object_delete", "bulk_delete"})
_NAME = re.compile(r"[a-z0-9_]{1,100}")
_URI = re.compile(r"(?:([A-Z]{1,10}) )?(\S*)(?: HTTP/[0-9.]{1,5})?")
_SWIFT = re.compile(r"/swift/v1(?:/AUTH_[^/]*)?(?=/)")
_STREAM_ITEM = re.compile(rb"\s*\[?\s*(\{.*\})\s*,?\s*\]?\s*", re.DOTALL)
_STREAM_BRACKET = re.compile(rb"\s*[\[\],]\s*")
_COPY_SOURCE = "HTTP_X_AMZ_COPY_SOURCE"
_RANGE = "HTTP_RANGE"

_Number = int | float | str | None


class Record(msgspec.Struct):
    """One request."""

    bucket: str | None = None
    time: str | None = None
    remote_addr: str | None = None
    user: str | None = None
    operation: str | None = None
    uri: str | None = None
    http_status: _Number = None
    error_code: str | None = None
    bytes_sent: _Number = None
    bytes_received: _Number = None
    object_size: _Number = None
    total_time: _Number = None
    user_agent: str | None = None
    http_x_headers: Any = None
    trans_id: str | None = None
    access_key_id: str | None = None
    temp_url: Any = None


_RECORD = msgspec.json.Decoder(Record)
_LISTED: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    for raw in records:
        for piece in _pieces(raw):
            if isinstance(piece, Parsed):
                yield piece
            else:
                yield from parse_items([piece], context, _read, SHOWN_KEYS, LIST_KEY)


def _pieces(raw: RawRecord) -> Iterator[RawRecord | Parsed]:
    """The objects of what the socket sink wrote, which is no JSON as a whole; else the record."""
    if raw.locator != "$":
        yield _without_commas(raw)
        return
    if raw.data.lstrip()[:1] != b"[" or _is_list(raw.data):
        yield raw
        return
    offset = raw.offset
    for number, line in enumerate(raw.data.split(b"\n"), 1):
        if line.strip():
            piece = raw._replace(locator=f"line {number}", offset=offset, data=line)
            yield _without_commas(piece)
        offset += len(line) + 1


def _without_commas(raw: RawRecord) -> RawRecord | Parsed:
    """A line without the bracket and the commas around its object."""
    if _STREAM_BRACKET.fullmatch(raw.data):
        return ignored(raw, "bracket")
    first, last = raw.data.lstrip()[:1], raw.data.rstrip()[-1:]
    if first == b"{" and last == b"}":
        return raw
    match = _STREAM_ITEM.fullmatch(raw.data)
    if match is None or (first == b"[" and last == b"]"):
        return raw
    return raw._replace(offset=raw.offset + match.start(1), data=match[1])


def _is_list(data: bytes) -> bool:
    try:
        _LISTED.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    record = decode(_RECORD, item.data, item.path)
    if not _NAME.fullmatch(record.operation or ""):
        refuse("operation", "a name such as get_obj in operation", record.operation)
    event_at = parse_instant(record.time) if record.time else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in time", record.time)
    values = {"record_id": whole_record_id(item), "event_at": event_at}
    return ((f.TABLE, values | _request(record, context)),)


def _request(record: Record, context: FileContext) -> dict[str, Any]:
    name = record.operation or ""
    status = f.status(record.http_status or None)
    agent = free_text(record.user_agent)
    return {
        "provider": "ceph",
        "bucket": stated(record.bucket),
        "operation_name": name_text(name) or "",
        "status": status,
        "error": stated(record.error_code),
        "response_bytes": bytes_sent(record.bytes_sent),
        "request_bytes": bytes_received(record.bytes_received),
        "duration_seconds": f.duration(record.total_time, "total_time", 1_000),
        "client_address": f.address_if_any(record.remote_addr),
        "principal": None if record.user == "anonymous" else stated(record.user),
        "access_key_id_hash": f.key_id_hash(record.access_key_id, context.key_hash),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": name_text(record.trans_id),
        "bucket_region": context.region,
        **asked_of(
            name,
            record.uri,
            record.bucket,
            record.http_status,
            record.object_size,
            record.http_x_headers,
            record.temp_url,
        ),
    }


def bytes_sent(stated: object) -> int | None:
    """Bytes of the answer."""
    return f.whole(stated, "bytes_sent")


def bytes_received(stated: object) -> int | None:
    """Bytes of the request."""
    return f.whole(stated, "bytes_received")


def asked_of(
    name: str,
    uri: str | None,
    bucket: str | None,
    http_status: _Number,
    object_size: _Number,
    headers: Any,  # noqa: ANN401  any JSON value
    temp_url: object,
) -> dict[str, Any]:
    """What the request line tells, beside what else belongs to it."""
    match = _URI.fullmatch(uri or "")
    method = f.method(match[1]) if match else None
    path, _, query = (match[2] if match else "").partition("?")
    asked = f.query_parameters(query)
    operation = _OPERATIONS.get(name, "other")
    if operation == "read" and method == "HEAD":
        operation = "head"
    names = {parameter.lower() for parameter in asked}
    is_signed = temp_url is True or names & {"x-amz-signature", "signature", "temp_url_sig"}
    status = f.status(http_status or None)
    size = f.whole(object_size, "object_size")
    part = f.part_number(f.only(asked, "partNumber"))
    size = _size(size, name, operation, status)
    return {
        "key": name_text(_key(path, bucket, name, operation)),
        "version_id": name_text(f.only(asked, "versionId")),
        "operation": operation,
        "http_method": method,
        "upload_id": f.upload_id(f.only(asked, "uploadId")),
        "part_number": part,
        "authentication": "QueryString" if is_signed else None,
        "object_size_bytes": size,
        "is_range": f.is_range(operation, status, asks_for_part=part is not None or None),
        "response_offset_bytes": f.response_offset(
            operation, status, _header(headers, _RANGE), None, size
        ),
        "copy_source": _copy_source(headers) if operation == "copy" else None,
    }


def stated(text: str | None) -> str | None:
    """A name; null where `-` stands for none."""
    return None if text == "-" else name_text(text)


def _size(stated: int | None, name: str, operation: str, status: int | None) -> int | None:
    """Size of the object; 0 is believed only where all of an object was read."""
    is_success = status is not None and 200 <= status < 300
    if not is_success or operation not in {"read", "write", "head", "copy"}:
        return None
    return stated if stated or (name == "get_obj" and status == 200) else None


def _key(path: str, bucket: str | None, name: str, operation: str) -> str | None:
    """The object of a path: behind the bucket, else, where the host names the bucket, all of it."""
    if operation not in _OBJECT_OPERATIONS | {"other"} or name in _WITHOUT_OBJECT:
        return None
    path = _SWIFT.sub("", f.decoded(path), count=1)
    rest = path.removeprefix("/")
    stated = (bucket or "").rpartition("/")[2]
    first, _, behind = rest.partition("/")
    if stated and first.rpartition(":")[2] == stated:
        return behind or None
    return (rest or None) if operation in _OBJECT_OPERATIONS else None


def _copy_source(headers: Any) -> str | None:  # noqa: ANN401  any JSON value
    """Source of a copy, where the operator logs the header; without its query."""
    stated = _header(headers, _COPY_SOURCE)
    bucket, _, key = f.decoded((stated or "").partition("?")[0]).lstrip("/").partition("/")
    return name_text(f"s3://{bucket}/{key}") if bucket and key else None


def _header(headers: Any, name: str) -> str | None:  # noqa: ANN401  any JSON value
    """A header that the operator logs; null where it is absent or stands twice."""
    listed = headers if isinstance(headers, list) else []
    stated = [h[name] for h in listed if isinstance(h, dict) and name in h]
    return stated[0] if len(stated) == 1 and isinstance(stated[0], str) else None


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    variant = "operations log"
    if isinstance(value, dict) and isinstance(value.get(LIST_KEY), list):
        value, variant = value[LIST_KEY], "operations of one bucket"
    if isinstance(value, list):
        value = value[0] if value else None
    needed = ("operation", "uri", "http_status", "bytes_sent", "bytes_received", "total_time")
    if not isinstance(value, dict) or any(key not in value for key in needed):
        return Recognition(0)
    is_ours = isinstance(value.get("time"), str) and "remote_addr" in value and "user" in value
    return Recognition(3, variant) if is_ours else Recognition(0)


PARSER = Parser(
    name="ceph_rgw",
    title="Ceph RADOS Gateway operations log",
    tables=(f.TABLE,),
    shape="json",
    record="one object: one request",
    cannot_tell=(
        "byte ranges and sources of copies, but where the operator logs these headers; keys of a "
        "batch delete; the pod behind a user; an object whose key begins with its bucket's name, "
        "where the host names the bucket"
    ),
    recognise=_recognise,
    parse=_parse,
    version=2,
    optional_columns=("object_size_bytes", "principal", "access_key_id_hash", "request_id"),
)

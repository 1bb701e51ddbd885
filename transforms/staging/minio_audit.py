"""Audit logs of MinIO: one JSON object per request, as its webhook or Kafka target sends it.

Source: MinIO's page on logging; a public record, whose request id is the nanosecond at which the
request began: `time` is that at which it was answered.

* `rx` counts the body as it came, which for a body that is signed in chunks is more than the
  object; `X-Amz-Decoded-Content-Length` is the object's size, if it all came. -1 is unknown.
* The `Authorization` header, the query and the claims hold credentials and are never stored. The
  access key of a request is a name or a key id, and is kept as a keyed hash.
* A response to a read of a whole object, or to a question for its head, states the object's size.
  A part's place in the object is its `Content-Range`, else the `Range` that was asked.
* What MinIO itself does (life cycle, healing) has another trigger than `incoming` and is ignored.
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
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import INT64_MAX, integer, parse_instant

SHOWN_KEYS = frozenset(
    {b"version", b"time", b"event", b"trigger", b"name", b"status", b"remotehost", b"bucket"}
)
"""Keys whose text an excerpt may show; headers, queries and claims hold credentials."""

_OPERATIONS = {
    "GetObject": "read",
    "SelectObjectContent": "read",
    "HeadObject": "head",
    "HeadBucket": "head",
    "PutObject": "write",
    "PutObjectPart": "write",
    "PostPolicyBucket": "write",
    "CompleteMultipartUpload": "write",
    "CopyObject": "copy",
    "CopyObjectPart": "copy",
    "ListObjectsV1": "list",
    "ListObjectsV2": "list",
    "ListObjectsV2M": "list",
    "ListObjectVersions": "list",
    "ListObjectVersionsM": "list",
    "ListBuckets": "list",
    "DeleteObject": "delete",
    "DeleteMultipleObjects": "delete",
}
"""Everything else is `other`."""
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_NANOSECONDS = re.compile(r"([0-9]{1,18})(?:ns)?")
_CONTENT_RANGE = re.compile(r"bytes [0-9]+-[0-9]+/([0-9]{1,19})")

_Number = int | float | str | None
_Texts = dict[str, Any] | None


class _Api(msgspec.Struct, rename="camel"):
    name: str | None = None
    bucket: str | None = None
    object: str | None = None
    status: str | None = None
    status_code: _Number = None
    rx: _Number = None
    tx: _Number = None
    first_byte: str | None = msgspec.field(name="timeToFirstByte", default=None)
    first_byte_ns: _Number = msgspec.field(name="timeToFirstByteInNS", default=None)
    response: str | None = msgspec.field(name="timeToResponse", default=None)
    response_ns: _Number = msgspec.field(name="timeToResponseInNS", default=None)


class Record(msgspec.Struct, rename="camel"):
    """One request."""

    time: str | None = None
    trigger: str | None = None
    api: _Api | None = None
    remotehost: str | None = None
    request_id: str | None = msgspec.field(name="requestID", default=None)
    user_agent: str | None = None
    request_host: str | None = None
    request_query: _Texts = None
    request_header: _Texts = None
    response_header: _Texts = None
    access_key: str | None = None
    parent_user: str | None = None


_RECORD = msgspec.json.Decoder(Record)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_items(records, context, _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    record = decode(_RECORD, item.data, item.path)
    if record.api is None:
        refuse("no_api", "a call in api", None)
    if record.trigger not in {"incoming", "", None}:
        return "internal"
    if not _NAME.fullmatch(record.api.name or ""):
        refuse("operation", "a name such as GetObject in api.name", record.api.name)
    event_at = parse_instant(record.time) if record.time else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in time", record.time)
    values = {"record_id": whole_record_id(item), "event_at": event_at}
    return ((f.TABLE, values | _request(record, record.api, context)),)


def _request(record: Record, api: _Api, context: FileContext) -> dict[str, Any]:
    name = api.name or ""
    agent = free_text(record.user_agent)
    return {
        "provider": "minio",
        "bucket": name_text(api.bucket),
        "key": name_text(api.object),
        "operation": _OPERATIONS.get(name, "other"),
        "operation_name": name_text(name) or "",
        "status": f.status(api.status_code or None),
        "response_bytes": _bytes(api.tx, "tx"),
        "duration_seconds": _seconds(api.response_ns, api.response),
        "turn_around_seconds": _seconds(api.first_byte_ns, api.first_byte),
        "client_address": address(record.remotehost),
        "principal": name_text(record.parent_user),
        "access_key_id_hash": f.key_id_hash(record.access_key, context.key_hash),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": name_text(record.request_id),
        "bucket_region": context.region,
        "endpoint": f.host(record.request_host),
        **of_headers(
            name,
            api.status,
            api.status_code,
            api.rx,
            record.request_query,
            record.request_header,
            record.response_header,
        ),
    }


def address(stated: str | None) -> str | None:
    """Address of who asked."""
    return f.address_without_port(stated, "remotehost")


def of_headers(
    name: str,
    status_text: str | None,
    code: _Number,
    rx: _Number,
    stated_query: _Texts,
    request_header: _Texts,
    response_header: _Texts,
) -> dict[str, Any]:
    """What headers and query tell, beside name, status and received bytes of the call."""
    asked, answer = _Headers(request_header), _Headers(response_header)
    query = stated_query or {}
    status = f.status(code or None)
    part = f.part_number(_text(query.get("partNumber")))
    received = _bytes(rx, "rx")
    if status is not None and status < 300:
        stated = integer(asked.of("x-amz-decoded-content-length") or "")
        received = received if stated is None else stated
    is_part = asked.has("range") or part is not None if request_header else None
    operation = _OPERATIONS.get(name, "other")
    size = _size(name, status, received, answer)
    return {
        "version_id": name_text(answer.of("x-amz-version-id") or _text(query.get("versionId"))),
        "etag": f.etag(answer.of("etag")),
        "error": _error(status_text, status, answer),
        "request_bytes": received,
        "object_size_bytes": size,
        "is_range": f.is_range(operation, status, asks_for_part=is_part),
        "response_offset_bytes": f.response_offset(
            operation, status, asked.of("range"), answer.of("content-range"), size
        ),
        "upload_id": f.upload_id(_text(query.get("uploadId"))),
        "part_number": part,
        "authentication": _authentication(asked, query),
        "copy_source": _copy_source(asked.of("x-amz-copy-source")),
    }


class _Headers:
    """Headers by name in lower case; only those that are asked for are ever read."""

    def __init__(self, stated: _Texts) -> None:
        """Take the headers as they are stated."""
        self._values = {name.lower(): value for name, value in (stated or {}).items()}

    def of(self, name: str) -> str | None:
        """Text of a header."""
        return _text(self._values.get(name))

    def has(self, name: str) -> bool:
        """Whether a header was sent."""
        return name in self._values


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _bytes(stated: _Number, word: str) -> int | None:
    """A number of bytes; -1 is unknown."""
    count = f.whole(stated, word, minimum=-1, maximum=INT64_MAX)
    return None if count == -1 else count


def _seconds(nanoseconds: _Number, text: str | None) -> float | None:
    """A duration in nanoseconds, as a number or as text with or without its unit."""
    stated = nanoseconds if nanoseconds is not None else text
    if isinstance(stated, str):
        match = _NANOSECONDS.fullmatch(stated)
        stated = int(match[1]) if match else None
    return f.seconds(stated, 1_000_000_000)


def _size(name: str, status: int | None, received: int | None, answer: _Headers) -> int | None:
    """Size of the object, where request or response states it."""
    if name == "PutObject" and status == 200:
        return received
    if name not in {"GetObject", "HeadObject"}:
        return None
    if status == 200:
        return integer(answer.of("content-length") or "")
    match = _CONTENT_RANGE.fullmatch(answer.of("content-range") or "")
    return integer(match[1]) if match and status == 206 else None


def _error(stated: str | None, status: int | None, answer: _Headers) -> str | None:
    if status is None or status < 400:
        return None
    return name_text(answer.of("x-minio-error-code") or stated)


def _authentication(asked: _Headers, query: dict[str, Any]) -> str | None:
    if asked.has("authorization"):
        return "AuthHeader"
    names = {name.lower() for name in query}
    return "QueryString" if names & {"x-amz-signature", "signature"} else None


def _copy_source(stated: str | None) -> str | None:
    bucket, _, key = (stated or "").partition("?")[0].lstrip("/").partition("/")
    return name_text(f"s3://{bucket}/{f.decoded(key)}") if bucket and key else None


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict) or not isinstance(value.get("deploymentid"), str):
        return Recognition(0)
    api = value.get("api")
    is_audit = isinstance(api, dict) and isinstance(api.get("name"), str)
    return Recognition(3, "audit records") if is_audit and "time" in value else Recognition(0)


PARSER = Parser(
    name="minio_audit",
    title="MinIO audit log",
    tables=(f.TABLE,),
    shape="json",
    record="one object: one request",
    cannot_tell=(
        "keys of a batch delete; the pod behind an access key; the region; sizes of objects read "
        "in ranges, and the ranges, where headers are left out"
    ),
    recognise=_recognise,
    parse=_parse,
    version=2,
    optional_columns=(
        "object_size_bytes", "is_range", "response_offset_bytes", "etag", "version_id", "principal",
        "access_key_id_hash",
    ),
    tested_on="real",
)  # fmt: skip

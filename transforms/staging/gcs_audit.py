"""Audit logs of Google Cloud Storage: LogEntry objects whose payload is one audited call.

Sources: the Cloud Audit Logs documentation's pages on the audit log format and on Cloud Storage;
public entries. A sink writes one entry per line, `gcloud logging read --format=json` an array;
BigQuery exports spell `@type` as `at_sign_type` and write times with a blank and without a zone.

* There are no bytes, sizes, HTTP status or durations. A call without a status code succeeded.
* `storage.objects.get` is said of content and of metadata alike; with a destination it is the
  source side of a copy.
* The address may be `private` or `gce-internal-ip`, which is none.
* `insertId` and time identify an entry; it is no request id of the usage log.
* Entries of other logs and other services are ignored.
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
from transforms.staging.stored_text import name_text
from transforms.staging.values import identity, parse_instant

SHOWN_KEYS = frozenset(
    {
        b"timestamp", b"receiveTimestamp", b"logName", b"type", b"methodName", b"serviceName",
        b"callerIp", b"severity", b"location", b"bucket_name",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; metadata and requests may hold texts of any kind."""
SERVICE = "storage.googleapis.com"

_OPERATIONS = {
    "storage.objects.get": "read",
    "storage.objects.list": "list",
    "storage.objects.create": "write",
    "storage.objects.insert": "write",
    "storage.objects.copy": "copy",
    "storage.objects.rewrite": "copy",
    "storage.objects.delete": "delete",
    "storage.buckets.list": "list",
}
"""Everything else is `other`."""
_CODES = {
    1: "CANCELLED", 2: "UNKNOWN", 3: "INVALID_ARGUMENT", 4: "DEADLINE_EXCEEDED", 5: "NOT_FOUND",
    6: "ALREADY_EXISTS", 7: "PERMISSION_DENIED", 8: "RESOURCE_EXHAUSTED",
    9: "FAILED_PRECONDITION", 10: "ABORTED", 11: "OUT_OF_RANGE", 12: "UNIMPLEMENTED",
    13: "INTERNAL", 14: "UNAVAILABLE", 15: "DATA_LOSS", 16: "UNAUTHENTICATED",
}  # fmt: skip
"""google/rpc/code.proto."""
_METHOD = re.compile(r"[A-Za-z0-9_.]{1,200}")
_NAME = re.compile(r"projects/[^/]+/buckets/([^/]+)(?:/objects/(.+))?\Z", re.DOTALL)
_REGION = re.compile(r"[a-z0-9-]{1,40}")


class _Labels(msgspec.Struct):
    bucket_name: str | None = None
    location: str | None = None


class _Resource(msgspec.Struct):
    labels: _Labels | None = None


class _Status(msgspec.Struct):
    code: int | None = None


class _Authentication(msgspec.Struct, rename="camel"):
    principal_email: str | None = None
    principal_subject: str | None = None
    service_account_key_name: str | None = None


class _Request(msgspec.Struct, rename="camel"):
    caller_ip: str | None = None
    caller_supplied_user_agent: str | None = None


class _Location(msgspec.Struct, rename="camel"):
    current_locations: list[str] | None = None


class _Metadata(msgspec.Struct):
    destination: Any = None


class Payload(msgspec.Struct, rename="camel"):
    """The audited call."""

    service_name: str | None = None
    method_name: str | None = None
    resource_name: str | None = None
    status: _Status | None = None
    authentication_info: _Authentication | None = None
    request_metadata: _Request | None = None
    resource_location: _Location | None = None
    metadata: _Metadata | None = None


class Head(msgspec.Struct, rename="camel"):
    """What tells the logs apart; entries of other logs may have any payload."""

    insert_id: str | None = None
    timestamp: str | None = None
    resource: _Resource | None = None
    proto_payload: msgspec.Raw = msgspec.Raw()


class _Service(msgspec.Struct, rename="camel"):
    """What tells the services apart; other services may fill the rest of a payload otherwise."""

    service_name: str | None = None


_HEAD = msgspec.json.Decoder(Head)
_SERVICE: "msgspec.json.Decoder[_Service | None]" = msgspec.json.Decoder(_Service | None)
_PAYLOAD = msgspec.json.Decoder(Payload)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_items(records, context, _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    head = decode(_HEAD, item.data, item.path)
    payload_text, path = bytes(head.proto_payload) or b"null", f"{item.path}.protoPayload"
    service = decode(_SERVICE, payload_text, path)
    if service is None:
        return "other_log"
    if service.service_name != SERVICE:
        return "other_service"
    payload = decode(_PAYLOAD, payload_text, path)
    if not _METHOD.fullmatch(payload.method_name or ""):
        refuse("method", "a name in methodName", payload.method_name)
    event_at = parse_instant(head.timestamp) if head.timestamp else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in timestamp", head.timestamp)
    insert_id = head.insert_id
    record_id = identity(insert_id, event_at) if insert_id else whole_record_id(item)
    labels = head.resource.labels if head.resource else None
    values = {"record_id": record_id, "event_at": event_at}
    return ((f.TABLE, values | _request(payload, labels or _Labels(), context)),)


def _request(payload: Payload, labels: _Labels, context: FileContext) -> dict[str, Any]:
    bucket, key = place(payload.resource_name, labels.bucket_name)
    asker = payload.authentication_info or _Authentication()
    request = payload.request_metadata or _Request()
    is_source = payload.metadata is not None and is_destination(payload.metadata.destination)
    operation = _OPERATIONS.get(payload.method_name or "", "other")
    agent = f.google_agent(request.caller_supplied_user_agent)
    return {
        "provider": "gcs",
        "bucket": bucket,
        "key": key,
        "operation": "copy" if is_source and operation == "read" else operation,
        "operation_name": name_text(payload.method_name),
        "error": _error(payload.status),
        "client_address": f.address_if_any(request.caller_ip),
        "principal": name_text(asker.principal_email or asker.principal_subject),
        "access_key_id_hash": f.key_id_hash(
            (asker.service_account_key_name or "").rpartition("/keys/")[2], context.key_hash
        ),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "bucket_region": _region(payload, labels) or context.region,
        "copy_source": f"gs://{bucket}/{key}" if is_source and bucket and key else None,
    }


def is_destination(stated: object) -> bool:
    """Whether a call is the source side of a copy, as it names a destination."""
    return isinstance(stated, str)


def place(resource: str | None, labelled: str | None) -> tuple[str | None, str | None]:
    """Bucket and key, by the resource's name and the bucket's label."""
    name = _NAME.match(resource or "")
    bucket = name_text(labelled or (name[1] if name else None))
    return bucket, name_text(name[2] if name else None)


def _error(status: _Status | None) -> str | None:
    code = status.code if status else None
    return _CODES.get(code, "UNKNOWN") if code else None


def _region(payload: Payload, labels: _Labels) -> str | None:
    """Location of the bucket, lower case, as the resource or the call states it."""
    current = (payload.resource_location or _Location()).current_locations or []
    stated = labels.location or (current[0] if len(current) == 1 else None)
    return f.shaped(_REGION, stated.lower()) if stated else None


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    if isinstance(value, list):
        value = value[0] if value else None
    payload = value.get("protoPayload") if isinstance(value, dict) else None
    if not isinstance(payload, dict) or not isinstance(payload.get("methodName"), str):
        return Recognition(0)
    service = payload.get("serviceName")
    if service == SERVICE:
        return Recognition(3, "audit log entries")
    return Recognition(1, "audit log entries of another service") if service else Recognition(0)


PARSER = Parser(
    name="gcs_audit",
    title="Google Cloud Storage audit log",
    tables=(f.TABLE,),
    shape="json",
    record="one log entry: one audited call",
    cannot_tell=(
        "bytes, sizes and durations; HTTP status; content or metadata of a read; generations; the "
        "pod behind a service account"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=("client_address", "principal", "access_key_id_hash", "user_agent"),
    tested_on="real",
)

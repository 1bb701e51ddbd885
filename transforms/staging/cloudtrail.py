"""AWS CloudTrail: data events of S3, credentials that were given to pods, pulls from ECR.

Sources: the CloudTrail user guide's pages on record contents and on log files; the S3 user guide's
page on its entries; public events. A file is one object `{"Records": […]}`, gzipped; other tools
write one event per line, EventBridge in an envelope, Athena and CloudTrail Lake with names in lower
case and requests as text.

* The time is that at which a request was completed, in whole seconds.
* There is no HTTP status, no range, no size of the object and no duration. An event without an
  error code succeeded. `bytesTransferredOut` counts the body sent, also of errors.
* The region is the bucket's, but where S3 sent the client elsewhere.
* The address is a service's name where a service asked on someone's behalf.
* S3 writes the user agent in brackets, and Outposts the key as `Key`. Where an access point was
  asked, the bucket is the one that the event's resources name.
* Network activity events state what a VPC endpoint refused, without bytes, and are ignored; so are
  insights, management events (but for given credentials and calls of ECR that move images) and
  data events of other services.
* `AssumeRoleForPodIdentity` names node and cluster, but neither the pod nor the credentials, which
  the event `AssumeRole` of the same second does.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from transforms.redaction import redact_name
from transforms.staging import request_fields as f
from transforms.staging.cloudtrail_events import (
    EVENT,
    Event,
    Resource,
    Transferred,
    UserIdentity,
    record_id,
    text_of,
)
from transforms.staging.cloudtrail_exports import (
    ENVELOPE_KEY,
    EVENT_KEY,
    LOWER_CASE_KEY,
    as_written,
    name_of,
)
from transforms.staging.cloudtrail_registry import TABLE as REGISTRY_TABLE
from transforms.staging.cloudtrail_registry import is_of_images, read_registry_event
from transforms.staging.cloudtrail_sessions import read_session
from transforms.staging.json_heads import first_value
from transforms.staging.json_items import parse_items
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import parse_instant

SHOWN_KEYS = frozenset(
    {
        b"eventVersion", b"eventTime", b"eventSource", b"eventName", b"eventType",
        b"eventCategory", b"awsRegion", b"errorCode", b"sourceIPAddress", b"type", b"invokedBy",
        b"bucketName", b"eventtime", b"eventsource", b"eventname", b"awsregion", b"errorcode",
        b"detail-type",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; requests and responses may hold tokens and keys."""
LIST_KEY = "Records"
S3_SOURCES = frozenset({"s3.amazonaws.com", "s3express.amazonaws.com", "s3-outposts.amazonaws.com"})
SESSION_EVENTS = frozenset({"AssumeRole", "AssumeRoleWithWebIdentity"})

_OPERATIONS = {
    "GetObject": "read",
    "GetObjectTorrent": "read",
    "SelectObjectContent": "read",
    "HeadObject": "head",
    "HeadBucket": "head",
    "PutObject": "write",
    "PostObject": "write",
    "UploadPart": "write",
    "CompleteMultipartUpload": "write",
    "CopyObject": "copy",
    "UploadPartCopy": "copy",
    "ListObjects": "list",
    "ListObjectsV2": "list",
    "ListObjectVersions": "list",
    "DeleteObject": "delete",
    "DeleteObjects": "delete",
}
"""Everything else is `other`; `CompleteMultipartUpload` is the write of an upload in parts."""
_OTHER_DATA_EVENTS = frozenset(
    {
        "AbortMultipartUpload", "CreateMultipartUpload", "CreateSession", "DeleteObjectTagging",
        "GetObjectAcl", "GetObjectAttributes", "GetObjectLegalHold", "GetObjectRetention",
        "GetObjectTagging", "ListMultipartUploads", "ListParts", "PutObjectAcl",
        "PutObjectLegalHold", "PutObjectRetention", "PutObjectTagging", "RenameObject",
        "RestoreObject",
    }
)  # fmt: skip
"""Events before version 1.05 do not say whether they are data events."""
_NAME = re.compile(r"[A-Za-z0-9]{1,100}")
_WRONG_REGION = frozenset(
    {"PermanentRedirect", "TemporaryRedirect", "Redirect", "AuthorizationHeaderMalformed"}
)
_ANONYMOUS = frozenset({"anonymous", "anonymous_principal"})
_BUCKET_TYPES = frozenset({"AWS::S3::Bucket", "AWS::S3Express::Bucket"})
_ACCESS_POINT_TYPES = frozenset({"AWS::S3::AccessPoint", "AWS::S3Outposts::AccessPoint"})
_ALIAS_ENDS = ("-s3alias", "--ol-s3", "-opalias")


class Parameters(msgspec.Struct):
    """Parameters of a request to S3; those that only some clients or versions write are any."""

    bucket: str | None = msgspec.field(name="bucketName", default=None)
    key: str | None = None
    outposts_key: str | None = msgspec.field(name="Key", default=None)
    host: Any = msgspec.field(name="Host", default=None)
    old_host: Any = msgspec.field(name="host", default=None)
    copy_source: Any = msgspec.field(name="x-amz-copy-source", default=None)
    version: Any = msgspec.field(name="versionId", default=None)
    upload: Any = msgspec.field(name="uploadId", default=None)
    part: Any = msgspec.field(name="partNumber", default=None)


class Response(msgspec.Struct):
    """Answer of S3."""

    version: Any = msgspec.field(name="x-amz-version-id", default=None)
    etag: Any = msgspec.field(name="ETag", default=None)


_PARAMETERS: "msgspec.json.Decoder[Parameters | None]" = msgspec.json.Decoder(Parameters | None)
_RESPONSE: "msgspec.json.Decoder[Response | None]" = msgspec.json.Decoder(Response | None)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_items(records, context, _read, SHOWN_KEYS, LIST_KEY)


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    item, is_enveloped = as_written(item)
    event = decode(EVENT, item.data, item.path)
    if is_enveloped and event.event_source is None:
        return "other_event"
    if not event.event_source or not _NAME.fullmatch(event.event_name or ""):
        refuse("no_event", "a service in eventSource and a call in eventName")
    if event.event_type == "AwsVpceEvent" or event.event_category == "NetworkActivity":
        return "network_activity"
    if event.event_type == "AwsCloudTrailInsight" or event.event_category == "Insight":
        return "insight"
    is_data = _is_data(event)
    if event.event_source in S3_SOURCES and is_data:
        return ((f.TABLE, _request(event, item, context)),)
    if event.event_source == "sts.amazonaws.com" and event.event_name in SESSION_EVENTS:
        return read_session(event, item, context)
    if is_of_images(event):
        return read_registry_event(event, item, context)
    if event.event_name == "AssumeRoleForPodIdentity":
        return "no_credentials"
    return "other_service" if is_data else "management_event"


def _is_data(event: Event) -> bool:
    """Whether an event is about data, as it says, else by the name that S3 gives it."""
    if event.event_category:
        return event.event_category == "Data"
    if event.management_event is not None:
        return not event.management_event
    is_of_objects = event.event_name in _OPERATIONS or event.event_name in _OTHER_DATA_EVENTS
    return event.event_source in S3_SOURCES and is_of_objects


def _request(event: Event, item: Item, context: FileContext) -> dict[str, Any]:
    event_at = parse_instant(event.event_time) if event.event_time else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in eventTime", event.event_time)
    path = f"{item.path}.requestParameters"
    asked = decode(_PARAMETERS, bytes(event.request_parameters), path)
    path = f"{item.path}.responseElements"
    answer = decode(_RESPONSE, bytes(event.response_elements), path)
    moved = event.additional_event_data or Transferred()
    asker = event.user_identity or UserIdentity()
    name = event.event_name or ""
    operation = _OPERATIONS.get(name, "other")
    tls = event.tls_details
    parts = of_parameters(
        asked, answer, event.resources, tls.client_provided_host_header if tls else None
    )
    agent = free_text(_without_brackets(event.user_agent))
    error = name_text(event.error_code)
    region = None if error in _WRONG_REGION else f.aws_region(event.aws_region)
    is_part = operation == "read" and parts["part_number"] is not None
    return {
        "record_id": record_id(event, item),
        "event_at": event_at,
        "provider": "s3",
        **parts,
        "operation": operation,
        "operation_name": name_text(name) or "",
        "error": error,
        "response_bytes": bytes_out(moved.bytes_transferred_out),
        "request_bytes": bytes_in(moved.bytes_transferred_in),
        "is_range": True if is_part else None,
        "client_address": f.address_if_any(event.source_ip_address),
        "principal": name_text(_principal(asker)),
        "session_arn": f.session_arn(asker.arn),
        "access_key_id_hash": f.key_id_hash(asker.access_key_id, context.key_hash),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": name_text(event.request_id),
        "authentication": f.word(moved.authentication_method),
        "bucket_region": region or context.region,
        "vpc_endpoint_id": name_text(event.vpc_endpoint_id) or parts["vpc_endpoint_id"],
    }


def bytes_out(stated: object) -> int | None:
    """Bytes of the answer."""
    return f.whole(stated, "bytes_out")


def bytes_in(stated: object) -> int | None:
    """Bytes of the request."""
    return f.whole(stated, "bytes_in")


def of_parameters(
    parameters: Parameters | None,
    answer: Response | None,
    resources: list[Resource] | None,
    tls_host: str | None,
) -> dict[str, Any]:
    """What parameters, answer and resources tell; the endpoint by the host that was asked."""
    asked, answer = parameters or Parameters(), answer or Response()
    bucket, owner, access_point = _bucket(asked.bucket, resources or [])
    host = text_of(asked.host) or text_of(asked.old_host) or tls_host
    endpoint, _, vpc_endpoint = f.s3_host(host or "-")
    return {
        "bucket_owner": name_text(owner),
        "bucket": name_text(bucket),
        "key": name_text(asked.key or asked.outposts_key),
        "version_id": name_text(text_of(asked.version) or text_of(answer.version)),
        "etag": f.etag(text_of(answer.etag)),
        "upload_id": f.upload_id(text_of(asked.upload)),
        "part_number": f.part_number(text_of(asked.part)),
        "endpoint": endpoint,
        "access_point": f.arn(access_point),
        "vpc_endpoint_id": vpc_endpoint,
        "copy_source": _copy_source(text_of(asked.copy_source)),
    }


def _bucket(
    stated: str | None, resources: list[Resource]
) -> tuple[str | None, str | None, str | None]:
    """Bucket, its owner's account and the access point that was asked.

    Requests name an access point's ARN or alias in the place of the bucket; the resources name
    both.
    """
    buckets = {r.arn.rpartition(":")[2]: r for r in resources if r.type in _BUCKET_TYPES and r.arn}
    points = {r.arn for r in resources if r.type in _ACCESS_POINT_TYPES and r.arn}
    bucket = stated or None
    if bucket is not None and bucket.startswith("arn:"):
        points.add(bucket)
        bucket = None
    elif bucket is not None and bucket.endswith(_ALIAS_ENDS):
        bucket = None if buckets else bucket
    if bucket is None and len(buckets) == 1:
        (bucket,) = buckets
    found = buckets.get(bucket or "")
    return bucket, found.account_id if found else None, points.pop() if len(points) == 1 else None


def _without_brackets(agent: str | None) -> str | None:
    if agent and agent.startswith("[") and agent.endswith("]"):
        return agent[1:-1]
    return agent


def _principal(asker: UserIdentity) -> str | None:
    """Who asked: ARN, service, else name or principal id; null for anyone."""
    stated = asker.arn or asker.invoked_by or asker.user_name or asker.principal_id
    return None if (stated or "").lower() in _ANONYMOUS else stated


def _copy_source(stated: str | None) -> str | None:
    """Source of a copy, without its query, in which a signature may stand."""
    if stated is None or stated.startswith("arn:"):
        return None
    bucket, _, key = stated.partition("?")[0].lstrip("/").partition("/")
    if not bucket or not key:
        return None
    return name_text(f"s3://{redact_name(bucket)}/{f.decoded(key)}")


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    variant = "events"
    if isinstance(value, dict) and isinstance(value.get(LIST_KEY), list):
        value, variant = value[LIST_KEY], "a log file"
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict) and ENVELOPE_KEY in value:
        value, variant = value.get(EVENT_KEY), "events of EventBridge"
    if not isinstance(value, dict) or not _is_event(value):
        return Recognition(0)
    return Recognition(3, "events of a table" if LOWER_CASE_KEY in value else variant)


def _is_event(value: dict[str, Any]) -> bool:
    """Whether a value is an event; notifications of S3 have `Records` of another kind."""
    source = name_of(value, "eventSource")
    return (
        isinstance(source, str)
        and source.endswith(".amazonaws.com")
        and isinstance(name_of(value, "eventName"), str)
        and (
            isinstance(name_of(value, "userIdentity"), dict)
            or isinstance(name_of(value, "eventType"), str)
        )
    )


PARSER = Parser(
    name="cloudtrail",
    title="AWS CloudTrail",
    tables=(f.TABLE, "credential_sessions", REGISTRY_TABLE),
    shape="json",
    record="one event: an item of `Records`, a line or a single object",
    cannot_tell=(
        "HTTP status, byte ranges, sizes of objects, durations, keys of a batch delete; the pod "
        "behind an event, but through credentials of EKS Pod Identity; bytes of image layers; what "
        "the trail's selectors leave out"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=(
        "object_requests.response_bytes", "object_requests.request_bytes",
        "object_requests.access_key_id_hash", "object_requests.session_arn",
        "object_requests.vpc_endpoint_id", "credential_sessions.pod_uid",
    ),
    tested_on="real",
    version=2,
)  # fmt: skip

"""CloudTrail's events of ECR: who pulled which image, layer by layer, without bytes.

Source: the Amazon ECR user guide's page on CloudTrail; the API reference's request parameters.

* A pull is `BatchGetImage` (the manifest) and one `GetDownloadUrlForLayer` for each layer that was
  not there already. The layer itself comes from S3 by a signed URL: its bytes are in no event, so
  that they are the size of the layer in its manifest.
* `GetAuthorizationToken` is a login; it names no repository.
* A call about several images or layers is one row for each of them.
"""

from typing import Any, Final

import msgspec

from transforms.staging import request_fields as f
from transforms.staging.cloudtrail_events import Event, UserIdentity, record_id, text_of
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Row
from transforms.staging.refusal import refuse
from transforms.staging.registry_paths import digest
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import parse_instant

TABLE: Final = "registry_requests"
SOURCES: Final = frozenset({"ecr.amazonaws.com", "ecr-public.amazonaws.com"})
MAX_IMAGES = 100
"""ECR takes at most a hundred images or layers in one call."""

_EVENTS = {
    "BatchGetImage": ("manifest", "read"),
    "GetDownloadUrlForLayer": ("blob", "read"),
    "BatchCheckLayerAvailability": ("blob", "head"),
    "GetAuthorizationToken": ("token", "other"),
    "PutImage": ("manifest", "write"),
    "BatchDeleteImage": ("manifest", "delete"),
    "ListImages": ("tags", "list"),
    "InitiateLayerUpload": ("upload", "write"),
    "UploadLayerPart": ("upload", "write"),
    "CompleteLayerUpload": ("upload", "write"),
}
"""Calls that move images; descriptions and settings of repositories are not."""
_PUBLIC_HOST = "public.ecr.aws"
_CHINA = "cn-"


class _ImageId(msgspec.Struct, rename="camel"):
    image_tag: str | None = None
    image_digest: str | None = None


class _Parameters(msgspec.Struct, rename="camel"):
    """Parameters of a request; those that only some clients write are any."""

    registry_id: Any = None
    repository_name: str | None = None
    image_ids: list[_ImageId] | None = None
    image_tag: str | None = None
    image_digest: str | None = None
    layer_digest: str | None = None
    layer_digests: list[str] | None = None
    part_first_byte: Any = None
    part_last_byte: Any = None


class _Image(msgspec.Struct, rename="camel"):
    image_id: _ImageId | None = None


class _Response(msgspec.Struct, rename="camel"):
    image: _Image | None = None
    layer_digest: str | None = None


_PARAMETERS: "msgspec.json.Decoder[_Parameters | None]" = msgspec.json.Decoder(_Parameters | None)
_RESPONSE: "msgspec.json.Decoder[_Response | None]" = msgspec.json.Decoder(_Response | None)


def is_of_images(event: Event) -> bool:
    """Whether an event is a call that moves images."""
    return event.event_source in SOURCES and event.event_name in _EVENTS


def read_registry_event(event: Event, item: Item, context: FileContext) -> tuple[Row, ...]:
    """The rows of an event for which `is_of_images` holds.

    Raises:
        RecordError: Its parameters are not those of its call.
        RefusedError: A value is none that its field can have.
    """
    event_at = parse_instant(event.event_time) if event.event_time else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in eventTime", event.event_time)
    path = f"{item.path}.requestParameters"
    given = decode(_PARAMETERS, bytes(event.request_parameters), path) or _Parameters()
    path = f"{item.path}.responseElements"
    answer = decode(_RESPONSE, bytes(event.response_elements), path) or _Response()
    name = event.event_name or ""
    target, operation = _EVENTS[name]
    asker = event.user_identity or UserIdentity()
    account = _account(event, given, asker)
    region = f.aws_region(event.aws_region)
    agent = free_text(event.user_agent)
    error = name_text(event.error_code)
    common: dict[str, Any] = {
        "record_id": record_id(event, item),
        "event_at": event_at,
        "provider": "ecr",
        "log_kind": "audit",
        "registry": _host(event, account, region),
        "account_id": account,
        "region": region or context.region,
        "repository": name_text(given.repository_name),
        "target": target,
        "operation": operation,
        "operation_name": name_text(name) or "",
        "error": error,
        "is_redirected": error is None if name == "GetDownloadUrlForLayer" else None,
        "request_bytes": _part_bytes(given),
        "client_address": f.address_if_any(event.source_ip_address),
        "principal": name_text(_principal(asker)),
        "session_arn": f.session_arn(asker.arn),
        "access_key_id_hash": f.key_id_hash(asker.access_key_id, context.key_hash),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": name_text(event.request_id),
        "vpc_endpoint_id": name_text(event.vpc_endpoint_id),
    }
    return tuple((TABLE, common | named) for named in _named(given, answer, target))


def _named(given: _Parameters, answer: _Response, target: str) -> list[dict[str, str | None]]:
    """Reference and digest of each image or layer that a call is about; one row at least."""
    if target == "manifest":
        images = given.image_ids or []
        if not images:
            put = answer.image.image_id if answer.image and answer.image.image_id else _ImageId()
            images = [
                _ImageId(given.image_tag or put.image_tag, given.image_digest or put.image_digest)
            ]
        return [
            {
                "reference": name_text(image.image_tag or image.image_digest),
                "digest": digest(image.image_digest),
            }
            for image in images[:MAX_IMAGES]
        ]
    layers = [given.layer_digest] if given.layer_digest else given.layer_digests or []
    if not layers and answer.layer_digest:
        layers = [answer.layer_digest]
    return [{"digest": digest(layer)} for layer in layers[:MAX_IMAGES]] or [{}]


def _account(event: Event, given: _Parameters, asker: UserIdentity) -> str | None:
    """Account of the registry: as asked, as the repository's ARN says, else the caller's own."""
    owners = {r.account_id for r in event.resources or [] if r.account_id}
    stated = text_of(given.registry_id) or (owners.pop() if len(owners) == 1 else None)
    return f.word(stated or asker.account_id)


def _host(event: Event, account: str | None, region: str | None) -> str | None:
    if event.event_source == "ecr-public.amazonaws.com":
        return _PUBLIC_HOST
    if account is None or region is None or not account.isdigit():
        return None
    end = "amazonaws.com.cn" if region.startswith(_CHINA) else "amazonaws.com"
    return f"{account}.dkr.ecr.{region}.{end}"


def _part_bytes(given: _Parameters) -> int | None:
    first = f.whole(given.part_first_byte, "partFirstByte")
    last = f.whole(given.part_last_byte, "partLastByte")
    return None if first is None or last is None or last < first else last - first + 1


def _principal(asker: UserIdentity) -> str | None:
    return asker.arn or asker.invoked_by or asker.user_name or asker.principal_id

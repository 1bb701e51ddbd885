"""Temporary credentials in events of the token service, for `credential_sessions`.

* EKS Pod Identity: `AssumeRole` invoked by `pods.eks.amazonaws.com`, with session tags of cluster,
  namespace, service account and pod. Only there the tags are believed: whoever may tag sessions can
  state any pod. They are absent where the association disables them. Sources: the EKS user guide's
  page on session tags; a public event.
* IRSA: `AssumeRoleWithWebIdentity` of `system:serviceaccount:NAMESPACE:NAME`, which is no pod.
* Node roles: `AssumeRole` invoked by `ec2.amazonaws.com`; the session is named after the instance.
* A chain of roles: `AssumeRole` asked with temporary credentials, from which the pod follows.
* The expiry is text of the locale `en_US` in UTC (`Dec 13, 2023, 7:14:20 AM`; newer runtimes write
  a narrow blank before AM).
* The event holds a session token in clear text. It is not decoded.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from transforms.redaction import KeyedHash
from transforms.staging import request_fields as f
from transforms.staging.cloudtrail_events import Event, UserIdentity, record_id
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Row
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import dashed_uid, later, parse_instant

TABLE = "credential_sessions"
POD_IDENTITY = "pods.eks.amazonaws.com"
INSTANCES = "ec2.amazonaws.com"
MAX_LIFE = timedelta(hours=36)
"""The token service gives no credentials for longer."""

_SUBJECT = re.compile(r"system:serviceaccount:([^:]{1,253}):([^:]{1,253})")
_INSTANCE = re.compile(r"i-[0-9a-f]{8,17}")
_EXPIRY = re.compile(
    r"([A-Z][a-z]{2}) (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d):(\d\d)\s([AP]M)", re.ASCII
)
_MONTHS = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
_BLANKS = re.compile("[\u00a0\u202f ]+")


class _Tag(msgspec.Struct):
    key: str | None = None
    value: str | None = None


class _Parameters(msgspec.Struct, rename="camel"):
    role_arn: str | None = None
    duration_seconds: int | float | None = None
    tags: list[_Tag] | None = None
    principal_tags: dict[str, Any] | None = None
    incoming_transitive_tags: dict[str, Any] | None = None


class _Credentials(msgspec.Struct, rename="camel"):
    access_key_id: str | None = None
    expiration: str | None = None


class _AssumedRoleUser(msgspec.Struct):
    arn: str | None = None


class _Response(msgspec.Struct, rename="camel"):
    credentials: _Credentials | None = None
    assumed_role_user: _AssumedRoleUser | None = None
    subject_from_web_identity_token: str | None = None
    provider: str | None = None


_PARAMETERS: "msgspec.json.Decoder[_Parameters | None]" = msgspec.json.Decoder(_Parameters | None)
_RESPONSE: "msgspec.json.Decoder[_Response | None]" = msgspec.json.Decoder(_Response | None)


def read_session(event: Event, item: Item, context: FileContext) -> tuple[Row, ...] | str:
    """The row of credentials that were given, or why there is none.

    Raises:
        RecordError: A value is of another type.
        RefusedError: The time or a pod's UID is none.
    """
    asker = event.user_identity or UserIdentity()
    response_path = f"{item.path}.responseElements"
    response = decode(_RESPONSE, bytes(event.response_elements), response_path)
    credentials = response.credentials if response else None
    if response is None or credentials is None or event.error_code:
        return "no_credentials"
    issued_by = _issued_by(event, asker)
    subject = _SUBJECT.fullmatch(response.subject_from_web_identity_token or asker.user_name or "")
    if issued_by is None or (issued_by == "web_identity" and subject is None):
        return "other_identity"
    parameters = (
        decode(_PARAMETERS, bytes(event.request_parameters), f"{item.path}.requestParameters")
        or _Parameters()
    )
    start_at = parse_instant(event.event_time) if event.event_time else None
    if start_at is None:
        refuse("no_time", "an RFC 3339 time in eventTime", event.event_time)
    user = response.assumed_role_user
    is_web = issued_by == "web_identity"
    values = {
        "record_id": record_id(event, item),
        "start_at": start_at,
        "end_at": _end(start_at, credentials.expiration, parameters.duration_seconds),
        "issued_by": issued_by,
        "access_key_id_hash": f.key_id_hash(credentials.access_key_id, context.key_hash),
        "session_arn": f.session_arn(user.arn if user else None),
        "role_arn": f.arn(parameters.role_arn),
        **_source(asker, context.key_hash),
        **(_of_tags(_tags(parameters)) if issued_by == "pod_identity" else _of_no_tags()),
        "identity_provider": (
            name_text(response.provider or asker.identity_provider) if is_web else None
        ),
        "instance_id": _instance(user, issued_by),
        "client_address": f.address_if_any(event.source_ip_address),
        "account_id": name_text(event.recipient_account_id),
        "region": f.aws_region(event.aws_region),
        "request_id": name_text(event.request_id),
    }
    if is_web and subject is not None:
        values["namespace"], values["service_account"] = map(name_text, subject.groups())
    return ((TABLE, values),)


def _issued_by(event: Event, asker: UserIdentity) -> str | None:
    if event.event_name == "AssumeRoleWithWebIdentity":
        return "web_identity"
    if asker.invoked_by == POD_IDENTITY:
        return "pod_identity"
    if asker.invoked_by == INSTANCES:
        return "instance_role"
    is_temporary = asker.type == "AssumedRole" and not asker.invoked_by
    return "role_chain" if is_temporary and (asker.access_key_id or asker.arn) else None


def _instance(user: _AssumedRoleUser | None, issued_by: str) -> str | None:
    """The instance to which a role was given, after which its session is named."""
    name = (user.arn if user and user.arn else "").rpartition("/")[2]
    return f.shaped(_INSTANCE, name) if issued_by == "instance_role" else None


def _source(asker: UserIdentity, key_hash: KeyedHash) -> dict[str, str | None]:
    """Credentials that asked; the pod identity service itself has none."""
    return {
        "source_access_key_id_hash": f.key_id_hash(asker.access_key_id, key_hash),
        "source_session_arn": f.session_arn(asker.arn),
    }


def _tags(parameters: _Parameters) -> dict[str, str]:
    """Session tags: a list, or a map where a token brings them or a chain passes them on."""
    found: dict[str, str] = {}
    for more in (parameters.incoming_transitive_tags, parameters.principal_tags):
        found |= {key: value for key, value in (more or {}).items() if isinstance(value, str)}
    return found | {tag.key: tag.value for tag in parameters.tags or [] if tag.key and tag.value}


def _of_tags(tags: dict[str, str]) -> dict[str, str | None]:
    stated = tags.get("kubernetes-pod-uid")
    uid = dashed_uid(stated) if stated else None
    if stated and uid is None:
        refuse("pod_uid", "a UID in the tag kubernetes-pod-uid", stated)
    return {
        "pod_uid": uid,
        "namespace": name_text(tags.get("kubernetes-namespace")),
        "pod_name": name_text(tags.get("kubernetes-pod-name")),
        "service_account": name_text(tags.get("kubernetes-service-account")),
        "eks_cluster_name": name_text(tags.get("eks-cluster-name")),
        "eks_cluster_arn": f.arn(tags.get("eks-cluster-arn")),
    }


def _of_no_tags() -> dict[str, str | None]:
    return _of_tags({})


def _end(start_at: datetime, stated: str | None, duration: float | None) -> datetime | None:
    """When credentials expire: as stated, else by their duration; null where that is no time."""
    end_at = _expiry(stated) if stated else None
    if end_at is None and duration is not None and 0 < duration <= MAX_LIFE.total_seconds():
        end_at = later(start_at, timedelta(seconds=duration))
    latest = later(start_at, MAX_LIFE)
    return end_at if end_at and latest and start_at <= end_at <= latest else None


def _expiry(text: str) -> datetime | None:
    match = _EXPIRY.fullmatch(_BLANKS.sub(" ", text[:64]))
    if match is None or match[1] not in _MONTHS:
        return parse_instant(text)
    hour = int(match[4]) % 12 + (12 if match[7] == "PM" else 0)
    month = _MONTHS.index(match[1]) + 1
    try:
        return datetime(
            int(match[3]), month, int(match[2]), hour, int(match[5]), int(match[6]), tzinfo=UTC
        )
    except ValueError:
        return None

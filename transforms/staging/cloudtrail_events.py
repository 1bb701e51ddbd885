"""What a CloudTrail event holds, as far as it is read.

Source: the CloudTrail user guide's pages on record contents (event versions 1.03 to 1.11) and on
the user identity. Events gain fields by version, and request parameters are those of each service,
so that everything may be absent.
"""

from typing import Any

import msgspec

from transforms.staging.json_items import whole_record_id
from transforms.staging.json_records import Item
from transforms.staging.values import identity


class UserIdentity(msgspec.Struct, rename="camel"):
    """Who asked."""

    type: str | None = None
    principal_id: str | None = None
    arn: str | None = None
    account_id: str | None = None
    access_key_id: str | None = None
    user_name: str | None = None
    invoked_by: str | None = None
    identity_provider: str | None = None


class Resource(msgspec.Struct):
    """An object, bucket, access point or role that the event is about."""

    type: str | None = None
    arn: str | None = msgspec.field(name="ARN", default=None)
    account_id: str | None = msgspec.field(name="accountId", default=None)


class Transferred(msgspec.Struct, rename="camel"):
    """What only data events have."""

    bytes_transferred_in: int | float | None = None
    bytes_transferred_out: int | float | None = None
    authentication_method: str | None = msgspec.field(name="AuthenticationMethod", default=None)


class TlsDetails(msgspec.Struct, rename="camel"):
    """The connection."""

    client_provided_host_header: str | None = None


class Addendum(msgspec.Struct, rename="camel"):
    """What an event delivered again says of the first one."""

    original_event_id: str | None = msgspec.field(name="originalEventID", default=None)


class Event(msgspec.Struct, rename="camel"):
    """One event; request and response are decoded by what they are of."""

    event_time: str | None = None
    event_source: str | None = None
    event_name: str | None = None
    event_type: str | None = None
    event_category: str | None = None
    management_event: bool | None = None
    aws_region: str | None = None
    error_code: str | None = None
    source_ip_address: str | None = msgspec.field(name="sourceIPAddress", default=None)
    user_agent: str | None = None
    user_identity: UserIdentity | None = None
    request_parameters: msgspec.Raw = msgspec.Raw(b"null")
    response_elements: msgspec.Raw = msgspec.Raw(b"null")
    additional_event_data: Transferred | None = None
    resources: list[Resource] | None = None
    tls_details: TlsDetails | None = None
    addendum: Addendum | None = None
    vpc_endpoint_id: str | None = None
    recipient_account_id: str | None = None
    request_id: str | None = msgspec.field(name="requestID", default=None)
    event_id: str | None = msgspec.field(name="eventID", default=None)
    shared_event_id: str | None = msgspec.field(name="sharedEventID", default=None)


EVENT = msgspec.json.Decoder(Event)


def record_id(event: Event, item: Item) -> str:
    """Identity of an event, also where it was delivered again or to another account.

    Each account gets its own copy of what crosses accounts: another `eventID`, one `sharedEventID`.
    An event that replaces an earlier one names it in its addendum.
    """
    if event.shared_event_id:
        return identity("sharedEventID", event.shared_event_id)
    original = event.addendum.original_event_id if event.addendum else None
    event_id = original or event.event_id
    return identity("eventID", event_id) if event_id else whole_record_id(item)


def text_of(value: Any) -> str | None:  # noqa: ANN401  any JSON value
    """A request parameter as text; old events write it as a list of one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64:
        return str(value)
    return value if isinstance(value, str) and value else None

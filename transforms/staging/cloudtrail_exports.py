"""CloudTrail events as other services write them: EventBridge, Athena and CloudTrail Lake.

Sources: the EventBridge user guide (an event stands under `detail` of an envelope); the Athena
user guide's table of CloudTrail logs (names in lower case, request and response as text of JSON);
the CloudTrail user guide's schema of event data stores (the same names, request and response as
maps whose values are texts).

The event is given back as CloudTrail writes it, so that it has one reading whatever brought it.
"""

from functools import cache
from typing import Any

import msgspec

from transforms.staging.cloudtrail_events import (
    Addendum,
    Event,
    Resource,
    TlsDetails,
    Transferred,
    UserIdentity,
)
from transforms.staging.json_records import Item, RecordError

ENVELOPE_KEY = "detail-type"
"""What an envelope of EventBridge has beside the event."""
EVENT_KEY = "detail"
LOWER_CASE_KEY = "eventsource"
"""What an event has in tables of Athena and Lake, where CloudTrail writes `eventSource`."""

_NESTED: dict[str, type[msgspec.Struct]] = {
    "userIdentity": UserIdentity,
    "additionalEventData": Transferred,
    "tlsDetails": TlsDetails,
    "addendum": Addendum,
    "resources": Resource,
}
_TEXTS_OF_JSON = frozenset({"requestParameters", "responseElements", "additionalEventData"})
_TRUTH = {"true": True, "false": False}


class _Peek(msgspec.Struct):
    """What tells the forms apart."""

    envelope: Any = msgspec.field(name=ENVELOPE_KEY, default=None)
    detail: msgspec.Raw = msgspec.field(name=EVENT_KEY, default=msgspec.Raw())
    lower: Any = msgspec.field(name=LOWER_CASE_KEY, default=None)


_PEEK = msgspec.json.Decoder(_Peek)


def as_written(item: Item) -> tuple[Item, bool]:
    """The event of a record as CloudTrail writes it, and whether it came in an envelope.

    What is no event in another form is given back as it is.
    """
    if ENVELOPE_KEY.encode() not in item.data and LOWER_CASE_KEY.encode() not in item.data:
        return item, False
    try:
        found = _PEEK.decode(item.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return item, False
    is_enveloped = isinstance(found.envelope, str) and bool(bytes(found.detail))
    if is_enveloped:
        item = item._replace(path=f"{item.path}.{EVENT_KEY}", data=bytes(found.detail))
    elif isinstance(found.lower, str):
        item = item._replace(data=_renamed(item))
    return item, is_enveloped


def name_of(value: dict[str, Any], name: str) -> Any:  # noqa: ANN401  any JSON value
    """A field of an event by CloudTrail's name, in whatever form the event is."""
    return value.get(name, value.get(name.lower()))


def _renamed(item: Item) -> bytes:
    try:
        value = msgspec.json.decode(item.data)
        return msgspec.json.encode(_event(value))
    except (msgspec.DecodeError, ValueError, RecursionError):
        message = f"invalid_json: expected an event of texts of JSON, got another at {item.path}"
        raise RecordError(message) from None


def _event(value: dict[str, Any]) -> dict[str, Any]:
    event = {_names(Event).get(key, key): found for key, found in value.items()}
    for key in _TEXTS_OF_JSON & event.keys():
        event[key] = _of_text(event[key])
    for key, kind in _NESTED.items():
        found = event.get(key)
        if isinstance(found, dict):
            event[key] = _with_names(found, kind)
        elif isinstance(found, list):
            event[key] = [_with_names(v, kind) if isinstance(v, dict) else v for v in found]
    if isinstance(event.get("managementEvent"), str):
        event["managementEvent"] = _TRUTH.get(event["managementEvent"].lower())
    return event


def _with_names(value: dict[str, Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {_names(kind).get(key, key): found for key, found in value.items()}


@cache
def _names(kind: type[msgspec.Struct]) -> dict[str, str]:
    """CloudTrail's names by the same in lower case."""
    return {field.encode_name.lower(): field.encode_name for field in msgspec.structs.fields(kind)}


def _of_text(value: Any) -> Any:  # noqa: ANN401  any JSON value
    """A value that was written as text of JSON, or as a map of texts.

    Raises:
        ValueError: The text is no JSON.
    """
    if isinstance(value, str):
        return msgspec.json.decode(value) if value.strip() else None
    if isinstance(value, dict):
        return {key: _part(found) if key in _PARTS else found for key, found in value.items()}
    return value


def _part(value: Any) -> Any:  # noqa: ANN401  any JSON value
    try:
        return msgspec.json.decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, RecursionError):
        return value


_PARTS = frozenset(
    {
        "tags", "principalTags", "incomingTransitiveTags", "credentials", "assumedRoleUser",
        "durationSeconds", "bytesTransferredIn", "bytesTransferredOut",
    }
)  # fmt: skip
"""Parts of requests and responses that are no text; a map of texts holds them as text of JSON."""

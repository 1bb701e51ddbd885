"""Decoded dnstap as Vector writes it (source `dnstap`, function `parse_dnstap`), as flat fields.

Source: vectordotdev/vector, docs/generated/parse_dnstap.json. One JSON object per dnstap message:
`messageType` such as `ClientResponse`, `sourceAddress` (who asked) and `responseAddress`, `time`
with its `timePrecision` or `timestamp`, and the two messages under `requestData` and
`responseData`. Names are in presentation form.

The fields come out as DNS-collector's flat form has them, so that both are read by one rule.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from transforms.staging.lookup_fields import MAX_ANSWERS, not_too_many
from transforms.staging.refusal import refuse
from transforms.staging.values import instant_of_microseconds

Json = Mapping[str, Any]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
UNSPECIFIED = frozenset({"::", "0.0.0.0"})  # noqa: S104  told apart, not bound
"""What stands in the place of an address that is not known."""


def is_vector(value: Json) -> bool:
    """Whether an object is a message in Vector's words."""
    return isinstance(value.get("messageType"), str) and (
        "dataType" in value or "messageTypeId" in value
    )


def flat_fields(value: Json) -> dict[str, Any]:
    """The fields of a message by DNS-collector's flat names.

    Raises:
        RefusedError: The collector could not decode the message, or a part is no object.
    """
    if value.get("error") is not None:
        refuse("undecoded", "a decoded message, not the collector's error")
    operation = _operation(value["messageType"])
    is_response = operation.endswith("_RESPONSE")
    found: dict[str, Any] = {
        "dnstap.operation": operation,
        "dnstap.timestamp-rfc3339ns": _time(value),
        "dnstap.extra": value.get("extraInfo") or None,
        "network.query-ip": _address(value.get("sourceAddress")),
        "network.query-port": value.get("sourcePort"),
        "network.response-ip": _address(value.get("responseAddress")),
        "network.protocol": value.get("socketProtocol"),
    }
    data = _object(value, "responseData" if is_response else "requestData")
    if not data:
        return found
    found |= _message(data)
    if is_response:
        found["dnstap.latency"] = latency(_object(value, "requestData"), data)
    return found


def _message(data: Json) -> dict[str, Any]:
    header = _object(data, "header")
    rcode = data.get("fullRcode", header.get("rcode"))
    found: dict[str, Any] = {
        "dns.id": header.get("id"),
        "dns.opcode": header.get("opcode"),
        "dns.rcode": str(rcode) if isinstance(rcode, int) else data.get("rcodeName"),
    }
    questions = _objects(data, "question")
    if questions:
        found |= {
            "dns.qname": questions[0].get("domainName"),
            "dns.qtype": questions[0].get("questionType"),
            "dns.qclass": questions[0].get("class"),
        }
    answers = _objects(data, "answers")
    if not answers:
        found["dns.resource-records.an"] = "-"
    for index, answer in enumerate(answers):
        prefix = f"dns.resource-records.an.{index}."
        found |= {
            f"{prefix}name": answer.get("domainName"),
            f"{prefix}rdatatype": answer.get("recordType"),
            f"{prefix}ttl": answer.get("ttl"),
            f"{prefix}rdata": answer.get("rData"),
        }
    return found


def _operation(stated: str) -> str:
    """`ClientResponse` as `CLIENT_RESPONSE`."""
    for end in ("Query", "Response"):
        if stated.endswith(end):
            return f"{stated.removesuffix(end)}_{end}".upper()
    return stated


def _time(value: Json) -> str | None:
    stated = value.get("timestamp")
    if isinstance(stated, str):
        return stated
    return text_of_instant(value.get("time"), value.get("timePrecision"))


def text_of_instant(count: object, precision: object) -> str | None:
    """A count since 1970 of seconds or parts of one, as RFC 3339; none where it is none."""
    per_second = _PER_SECOND.get(precision) if isinstance(precision, str) else None
    if per_second is None or not isinstance(count, int) or isinstance(count, bool):
        return None
    at: datetime | None = instant_of_microseconds(count * 10**6 // per_second)
    return None if at is None else at.isoformat()


def latency(request: Json, response: Json) -> float | None:
    """Seconds from query to response, where both tell their time alike."""
    start, end = request.get("time"), response.get("time")
    precision = response.get("timePrecision")
    if precision != request.get("timePrecision") or not isinstance(precision, str):
        return None
    if not isinstance(start, int) or not isinstance(end, int) or precision not in _PER_SECOND:
        return None
    duration = end - start
    return duration / _PER_SECOND[precision] if duration.bit_length() <= 63 else None


def _address(stated: object) -> object:
    return None if isinstance(stated, str) and stated in UNSPECIFIED else stated


def _object(value: Json, key: str) -> Json:
    found = value.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        refuse(key, "an object", found)
    return found


def _objects(value: Json, key: str) -> list[Json]:
    found = value.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(
        isinstance(each, dict) for each in found[: MAX_ANSWERS + 1]
    ):
        refuse(key, "a list of objects", found)
    return not_too_many(found)

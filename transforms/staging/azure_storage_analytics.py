"""Lines of the classic Storage Analytics log of Azure, versions 1.0 and 2.0.

Source: the Azure documentation's pages on Storage Analytics logging and its log format. Fields are
parted by `;` and read by position: 30 of version 1.0, 38 of version 2.0. A field with a quote, a
semicolon or a line end is quoted and HTML-encoded.

Trap: URLs stand unquoted although their `&` are encoded as `&amp;`, so that a `;` may end an entity
and no field. It is taken for the entity's; a line that then has another number of fields is
refused.
"""

import html
import re
from typing import Any

from transforms.staging import azure_requests as a
from transforms.staging import request_fields as f
from transforms.staging.parser import FileContext, RawRecord
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import identity, parse_instant

MAX_LINE_BYTES = 64 << 10
FIELDS = (
    "version", "time", "operation", "status_text", "status", "end_to_end_ms", "server_ms",
    "authentication", "requester", "owner", "service", "url", "object_key", "request_id",
    "operation_count", "client", "request_version", "request_header_size", "request_packet_size",
    "response_header_size", "response_packet_size", "content_length", "request_md5", "server_md5",
    "etag", "last_modified", "conditions", "user_agent", "referrer", "client_request_id",
    "user_object_id", "tenant_id", "application_id", "audience", "issuer", "upn", "reserved",
    "authorization",
)  # fmt: skip
COUNTS = {"1.0": 30, "2.0": 38}
START = re.compile(rb"[12]\.0;\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z;[A-Za-z0-9]+;")

_ENTITY = r"&(?:amp|quot|lt|gt|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});"
_FIELD = re.compile(rf'"[^"]*"|(?:{_ENTITY}|[^;"])*+')


def read_line(raw: RawRecord, context: FileContext) -> dict[str, Any] | str:
    """The row of a line, or the word for which it is left out.

    Raises:
        RefusedError: The line is none, or a field does not hold what its place says.
    """
    line = _named(raw.data)
    if line["service"] != "blob":
        return "other_service"
    name = a.operation_name(line["operation"])
    if name is None:
        refuse("operation", "a name such as GetBlob", line["operation"])
    event_at = parse_instant(line["time"])
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in the second field", line["time"])
    place = a.place(line["object_key"], line["owner"])
    status = f.status(line["status"])
    operation = a.operation(name)
    agent = free_text(line["user_agent"])
    count = f.whole(line["operation_count"], "operation_count") or 0
    request_id = line["request_id"]
    return {
        "record_id": identity(request_id, count) if request_id else _whole(raw),
        "event_at": event_at,
        "provider": "azure",
        "bucket_owner": place.account,
        "bucket": place.container,
        "key": place.key,
        "version_id": a.version(line["url"]),
        "etag": f.etag(line["etag"]),
        "operation": operation,
        "operation_name": name,
        "status": status,
        "error": a.error(line["status_text"]),
        "response_bytes": f.whole(line["response_packet_size"], "response_packet_size"),
        "request_bytes": f.whole(line["request_packet_size"], "request_packet_size"),
        "is_range": f.is_range(operation, status),
        "duration_seconds": f.duration(line["end_to_end_ms"], "end_to_end_ms", 1_000),
        "turn_around_seconds": f.duration(line["server_ms"], "server_ms", 1_000),
        "client_address": f.address_without_port(line["client"], "client"),
        "principal": name_text(
            line["upn"] or line["user_object_id"] or line["application_id"] or line["requester"]
        ),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": name_text(request_id),
        "authentication": f.word(line["authentication"]),
        "bucket_region": context.region,
        "endpoint": a.endpoint(line["url"]),
    }


def _whole(raw: RawRecord) -> str:
    return identity(raw.data.decode("utf-8", "replace").strip())


def _named(data: bytes) -> dict[str, str]:
    """Fields by name, decoded; those that version 1.0 does not have are empty."""
    if len(data) > MAX_LINE_BYTES:
        refuse("unreadable_line", f"at most {MAX_LINE_BYTES} bytes", len(data))
    fields = _split(data.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n"))
    expected = COUNTS.get(fields[0])
    if expected is None:
        refuse("unreadable_line", "a line of version 1.0 or 2.0")
    if len(fields) != expected:
        refuse("fields", f"{expected} fields of version {fields[0]}", len(fields))
    values = [html.unescape(field.removeprefix('"').removesuffix('"')) for field in fields]
    values += [""] * (len(FIELDS) - len(values))
    return dict(zip(FIELDS, values, strict=True))


def _split(text: str) -> list[str]:
    """Cut a line at the semicolons that stand neither in quotes nor at the end of an entity."""
    fields: list[str] = []
    place = 0
    while len(fields) <= len(FIELDS):
        match = _FIELD.match(text, place)
        field = match[0] if match else ""
        fields.append(field)
        place += len(field)
        if place == len(text):
            break
        if text[place] != ";":
            refuse("unreadable_line", "fields parted by semicolons, quoted where they hold one")
        place += 1
    return fields

r"""Amazon S3 server access logs: one line per request, fields parted by blanks, or one object.

Sources: the user guide's page on the log format, and real lines. Fields are read by position;
lines end after field 18 (old logs) or later, and fields that AWS may append are passed over.

S3 does not escape `"` inside the three quoted fields (request URI, referer, user agent), whose text
the client chooses. It quotes all three or none. So a line with at most six quotes has one reading:
split at the quotes, or one anchored pattern where a client is not quoted or blanks are doubled.
With more quotes, every place that may end the URI is tried: a lazy pattern would take the first, a
greedy one the last. Where they disagree the line is refused, as one of the readings is forged.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote, unquote_plus

from transforms.redaction import KeyedHash, redact, redact_name
from transforms.staging import request_fields as f
from transforms.staging.json_heads import first_value
from transforms.staging.json_items import parse_items, whole_record_id
from transforms.staging.json_records import Item
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    Row,
    accepted,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.s3_access_log_json import SHOWN_KEYS, is_record, read_fields
from transforms.staging.s3_operations import COPY_SOURCE_SIDE, operation_of
from transforms.staging.values import canonical_address, integer

MAX_LINE_BYTES = 64 << 10
"""S3 refuses request lines and headers beyond 8 KiB each; a longer line is no access log line."""

_PLAIN_QUOTES = 6
_ADDRESS_LENGTH = 64
_CACHED_LENGTH = 512
"""Longer text is not kept in a cache, which bounds what hostile lines may hold in memory."""
_HEAD = r'([^ "]+) ([^ "]+) \[([^\]"]+)\] +([^ "]+) +([^ "]+) ([^ "]+) ([^ "]+) ([^ "]+) '
"""Owner, bucket, time, address, requester, request id, operation, key."""
_MIDDLE = r'([0-9]{3}|-) ([^ "]+) ([0-9]+|-) ([0-9]+|-) (-?[0-9]+|-) (-?[0-9]+|-) '
"""Status, error, bytes sent, object size, total time, turn-around time."""
_BEGINNING = re.compile(_HEAD)
_PLAIN = re.compile(_HEAD + r'("[^"]*"|-) ' + _MIDDLE + r'("[^"]*"|-) ("[^"]*"|-)((?: [^ "]+)+)')
_URI_END = re.compile(r'" ' + _MIDDLE + r'(?=")')
_RECOGNISED = re.compile(
    rb"[^ \"]+ [^ \"]+ \[[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9:]{8} [+-][0-9]{4}\] +[^ \"]+ +[^ \"]+"
    rb" [^ \"]+ (?:REST|SOAP|WEBSITE|BATCH|S3)\.[A-Za-z0-9._]+ "
)

_TIME = re.compile(
    r"([0-9]{2})/([A-Z][a-z]{2})/([0-9]{4}):([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r" ([+-])([0-9]{2})([0-9]{2})"
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
_METHOD = re.compile(r"(GET|HEAD|PUT|POST|DELETE|OPTIONS|PATCH) ")
WRONG_REGION = frozenset({301, 302, 307, 308, 400})
"""Answers that a client gets who asked the endpoint of a region where the bucket is not."""


class _Reading(NamedTuple):
    """The fields of one line as text, without quotes.

    Attributes:
        head: The eight fields before the request URI.
        uri: The request line.
        middle: The six fields between request URI and referer.
        agent: The user agent.
        tail: The fields behind it, as many as there are.
    """

    head: Sequence[str]
    uri: str
    middle: Sequence[str]
    agent: str
    tail: Sequence[str]


def _recognise(head: bytes) -> Recognition:
    lines = [line for line in head.split(b"\n")[:50] if line.strip()]
    marks = [_RECOGNISED.match(line) is not None for line in lines]
    if not any(marks):
        value = first_value(head)
        if isinstance(value, list):
            value = value[0] if value else None
        is_ours = isinstance(value, dict) and is_record(value)
        return Recognition(3, "server access log objects") if is_ours else Recognition(0)
    return Recognition(3 if marks[0] else 2, "server access log lines")


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    for raw in records:
        if raw.data.lstrip()[:1] in {b"{", b"["} or raw.locator == "$":
            yield from parse_items([raw], context, _read_item, SHOWN_KEYS)
        else:
            yield parse_line(raw, context)


def parse_line(raw: RawRecord, context: FileContext) -> Parsed:
    """Parse one line of text."""
    try:
        values = _row(_read(raw.data), context)
    except RefusedError as problem:
        return f.without_queries(refused(raw, problem))
    values["record_id"] = hashlib.md5(raw.data, usedforsecurity=False).hexdigest()
    return accepted(raw, (f.TABLE, values))


def _read_item(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    fields = read_fields(item)
    reading = _Reading(fields.head, fields.uri, fields.middle, fields.agent, fields.tail)
    values = _row(reading, context, event_at=fields.at, encodings=fields.key_encodings)
    values["record_id"] = whole_record_id(item)
    return ((f.TABLE, values),)


def _read(data: bytes) -> _Reading:
    """Cut a line into its fields.

    Raises:
        RefusedError: The line has no reading, or several.
    """
    if len(data) > MAX_LINE_BYTES:
        refuse("unreadable_line", f"at most {MAX_LINE_BYTES} bytes", len(data))
    line = data.decode("utf-8", "replace").rstrip(" ")
    quotes = line.count('"')
    if quotes > _PLAIN_QUOTES:
        return _read_quotes_inside(line)
    return (_split(line) if quotes == _PLAIN_QUOTES else None) or _match(line)


def _split(line: str) -> _Reading | None:
    """Read a line with six quotes by splitting; none where its parts are not as they should be."""
    before, uri, middle, _, between, agent, after = line.split('"')
    head = before.split(" ")
    numbers = middle.split(" ")
    tail = after.split(" ")
    if (
        between != " "
        or len(head) != 10
        or head.count("") != 1
        or head[2][:1] != "["
        or head[3][-1:] != "]"
        or len(numbers) != 8
        or numbers.count("") != 2
        or tail.count("") != 1
        or len(tail) < 2
        or head[9] + numbers[0] + numbers[7] + tail[0]
    ):
        return None
    time = f"{head[2][1:]} {head[3][:-1]}"
    return _Reading((head[0], head[1], time, *head[4:9]), uri, numbers[1:7], agent, tail[1:])


def _match(line: str) -> _Reading:
    """Read a line none of whose fields holds a quote."""
    match = _PLAIN.fullmatch(line)
    if match is None:
        refuse("unreadable_line", "18 or more fields, of which three are quoted, or `-`")
    *fields, _, agent, tail = match.groups()
    uri = fields[8].strip('"')
    return _Reading(fields[:8], uri, fields[9:], agent.strip('"'), tail[1:].split(" "))


def _read_quotes_inside(line: str) -> _Reading:
    """Read a line whose quoted fields hold quotes, if there is one way to read it.

    No field behind the user agent is quoted, so the line's last quote ends the user agent. What
    ends the URI is a quote before status, error, four numbers and the referer's quote; what ends
    the referer is `" "`.
    """
    start = _BEGINNING.match(line)
    if start is None or line[start.end()] != '"':
        refuse("unreadable_line", "eight fields before the request URI")
    last = line.rindex('"')
    tail = line[last + 1 :].split(" ")
    if tail[0] or len(tail) < 2 or tail.count("") != 1:
        refuse("unreadable_line", "fields behind the user agent")
    agent_at = line.rfind('" "', start.end(), last)
    ends = [
        end
        for end in _URI_END.finditer(line, start.end() + 1)
        if end.end() < agent_at  # the referer's first quote is not its last
    ]
    if not ends:
        refuse("unreadable_line", "status and sizes between URI, referer and user agent")
    (end, *others) = ends
    if others or line.find('" "', end.end() + 1) != agent_at:
        refuse("ambiguous_quotes", "one way to read the quotes, got several")
    uri = line[start.end() + 1 : end.start()]
    agent = line[agent_at + 3 : last]
    return _Reading(start.groups(), uri, end.groups(), agent, tail[1:])


def _row(
    line: _Reading,
    context: FileContext,
    *,
    event_at: datetime | None = None,
    encodings: int | None = None,
) -> dict[str, Any]:
    """Give the columns of `object_requests`.

    Args:
        line: The fields.
        context: What is known of the file.
        event_at: When the request was received, if it is not the field's text.
        encodings: How often the key is encoded; as the operation encodes it if none.

    Raises:
        RefusedError: A field does not hold what its place says.
    """
    owner, bucket, time, address, requester, request_id, operation_name, key = line.head
    status_text, error, sent, size, total, turn_around = line.middle
    operation = read_operation(operation_name)
    status = _status(status_text)
    asked = asked_of(line.uri, context.key_hash)
    tail = dict(zip(_TAIL_FIELDS, line.tail, strict=False))
    principal = _present(requester)
    authentication = f.word(tail.get("authentication"))
    access_point = f.arn(tail.get("access_point"))
    endpoint, region, vpc_endpoint = f.s3_host(tail.get("host", "-"))
    agent = redacted_text(_present(line.agent))
    method = _METHOD.match(line.uri)
    bucket_name = redacted_name(_present(bucket))
    object_key = key_of(key, operation_name, encodings)
    return {
        "event_at": event_at or read_instant(time),
        "provider": "s3",
        "bucket_owner": redacted_name(_present(owner)),
        "bucket": bucket_name,
        "key": object_key,
        "version_id": redacted_name(_present(tail.get("version", "-"))),
        "operation": operation,
        "operation_name": operation_name,
        "http_method": method[1] if method else None,
        "status": status,
        "error": redacted_name(_present(error)),
        "response_bytes": _number("bytes_sent", sent),
        "object_size_bytes": _number("object_size", size),
        "is_range": f.is_range(operation, status, asks_for_part=asked["asks_for_part"]),
        "duration_seconds": _seconds(total, "total_time"),
        "turn_around_seconds": _seconds(turn_around, "turn_around_time"),
        "client_address": read_address(address),
        "principal": redacted_name(principal),
        "session_arn": f.session_arn(principal),
        "access_key_id_hash": (
            asked["key_id_hash"]
            # The key id of a request that S3 did not authenticate is only what a client claims.
            if authentication == "QueryString" and principal is not None
            else None
        ),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": redacted_name(_present(request_id)),
        "upload_id": asked["upload_id"],
        "part_number": asked["part_number"],
        "authentication": authentication,
        "bucket_region": _bucket_region(region, access_point, status) or context.region,
        "endpoint": endpoint,
        "access_point": access_point,
        "vpc_endpoint_id": vpc_endpoint,
        "source_region": f.aws_region(tail.get("source_region")),
        "copy_source": (
            f"s3://{bucket_name}/{object_key}"
            if operation_name in COPY_SOURCE_SIDE and bucket_name and object_key
            else None
        ),
    }


_TAIL_FIELDS = (
    "version", "host_id", "signature_version", "cipher", "authentication", "host", "tls_version",
    "access_point", "acl_required", "source_region",
)  # fmt: skip


def _present(text: str) -> str | None:
    return None if text in {"-", ""} else text


def _number(name: str, text: str) -> int | None:
    if text == "-":
        return None
    value = integer(text)
    if value is None:
        refuse(name, "a whole number or `-`", text)
    return value


def _status(text: str) -> int | None:
    status = _number("status", text)
    if status is not None and not 100 <= status <= 999:
        refuse("status", "three digits or `-`", text)
    return status


def _seconds(text: str, name: str) -> float | None:
    return None if text == "-" else f.duration(text, name, 1_000)


def read_instant(text: str) -> datetime:
    """The time of a request; refuses what is none."""
    if len(text) > _CACHED_LENGTH:
        refuse("time", "`[06/Feb/2019:00:00:38 +0000]`", text)
    return _read_time(text)


@lru_cache(maxsize=4096)
def _read_time(text: str) -> datetime:
    match = _TIME.fullmatch(text)
    month = _MONTHS.get(match[2]) if match else None
    if match is None or month is None:
        refuse("time", "`[06/Feb/2019:00:00:38 +0000]`", text)
    shift = timedelta(hours=int(match[8]), minutes=int(match[9]))
    second, micro = int(match[6]), 0
    if second == 60:  # a leap second stays in its minute
        second, micro = 59, 999_999
    try:
        local = datetime(
            int(match[3]), month, int(match[1]), int(match[4]), int(match[5]), second, micro, UTC
        )
        return local - shift if match[7] == "+" else local + shift
    except (ValueError, OverflowError):
        refuse("time", "a day and time that exist")


def read_address(text: str) -> str | None:
    """An address; refuses what is none."""
    if text == "-":
        return None
    address = canonical_address(text) if len(text) <= _ADDRESS_LENGTH else None
    if address is None:
        refuse("client_address", "an IP address or `-`", text)
    return address


def read_operation(name: str) -> str:
    """What was done; refuses what is no operation."""
    operation = operation_of(name)
    if operation is None:
        refuse("operation", "a name such as REST.GET.OBJECT", name)
    return operation


def key_of(text: str, operation: str, encodings: int | None = None) -> str | None:
    """Decode a key, as often as stated, else as the operation encodes it.

    A key of a request line is encoded twice (`=` stands as `%253D`), one of a batch delete, which
    comes in a body, once as a form (a blank stands as `+`). What lifecycle rules log is decoded
    once. Text that would not be UTF-8 stays as it is, so that different keys stay different.
    """
    if text == "-":
        return None
    if "%" not in text and not operation.startswith("BATCH."):
        return redacted_name(text)
    try:
        if encodings is not None:
            for _ in range(encodings):
                text = unquote(text, errors="strict")
        elif operation.startswith("BATCH."):
            text = unquote_plus(text, errors="strict")
        else:
            text = unquote(text, errors="strict")
            if not operation.startswith("S3."):
                text = unquote(text, errors="strict")
    except UnicodeDecodeError:
        pass
    return redacted_name(text)


def asked_of(uri: str, key_hash: KeyedHash) -> dict[str, Any]:
    """What the query of a request line asks for: a part, an upload; and by which key."""
    asked = f.query_parameters(uri.rpartition(" HTTP/")[0].partition("?")[2])
    return {
        "asks_for_part": "partNumber" in asked or None,
        "part_number": f.part_number(f.only(asked, "partNumber")),
        "upload_id": f.upload_id(f.only(asked, "uploadId")),
        "key_id_hash": _access_key_id_hash(asked, key_hash),
    }


def _access_key_id_hash(asked: f.Parameters, key_hash: KeyedHash) -> str | None:
    """Hash the access key id of a request that was signed in its query (signature 4 or 2)."""
    found = [
        value
        for name, values in asked.items()
        if name.lower() in {"x-amz-credential", "awsaccesskeyid"}
        for value in values
    ]
    return f.key_id_hash(found[0].partition("/")[0], key_hash) if len(found) == 1 else None


def _bucket_region(region: str | None, access_point: str | None, status: int | None) -> str | None:
    """Region of the bucket: the endpoint's, unless S3 sent the client elsewhere.

    A regional endpoint serves the buckets of its region, and an access point lies in its bucket's.
    """
    if region is not None:
        return None if status in WRONG_REGION else region
    return f.arn_region(access_point)


_cached_redact = lru_cache(maxsize=16_384)(redact)
_cached_redact_name = lru_cache(maxsize=16_384)(redact_name)


def redacted_text(text: str | None) -> str | None:
    """Redact a text that a client chose."""
    if text is None:
        return None
    return _cached_redact(text) if len(text) <= _CACHED_LENGTH else redact(text)


def redacted_name(text: str | None) -> str | None:
    """Redact a name."""
    if text is None:
        return None
    return _cached_redact_name(text) if len(text) <= _CACHED_LENGTH else redact_name(text)


PARSER = Parser(
    name="s3_access_log",
    title="Amazon S3 server access log",
    tables=("object_requests",),
    shape="lines",
    record="One line, which is one request, one object of a batch delete or one lifecycle action.",
    cannot_tell="Byte ranges, bytes received, entity tags, where the reader was; `-` may be zero.",
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
)

"""S3 server access logs as objects: vended by CloudWatch Logs, or kept as tables.

Sources: the S3 user guide's page on the log format in CloudWatch Logs (`bucket_name`,
`request_time`, `key_name`, …; null in the place of `-`; times with milliseconds), and its page on
querying the log with Athena (`bucket_name`, `requestdatetime`, `key`, `sigv`, …). Where the first
page's name of a field is not known, it is taken for the text log's name; case and underscores do
not matter.

The fields are given back as those of a line, so that both forms have one reading. How a key is
encoded is told by the request line, which names the object once encoded.
"""

from collections.abc import Set
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from transforms.staging.json_records import Item, decode
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant

SHOWN_KEYS = frozenset(
    {
        b"schema_version_id", b"bucket_name", b"request_time", b"requestdatetime", b"operation",
        b"http_status", b"httpstatus", b"error_code", b"errorcode", b"remote_ip", b"remoteip",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; URIs and referers hold signatures."""

_NAMES = (
    ("owner", "bucketownerid", "bucketowner"),
    ("bucket", "bucketname"),
    ("text_time", "requestdatetime"),
    ("time", "requesttime"),
    ("address", "remoteip"),
    ("requester", "requester"),
    ("request_id", "requestid"),
    ("operation", "operation"),
    ("key", "keyname", "key"),
    ("uri", "requesturi"),
    ("status", "httpstatus"),
    ("error", "errorcode"),
    ("sent", "bytessent"),
    ("size", "objectsize"),
    ("total", "totaltime", "totaltimems"),
    ("turn_around", "turnaroundtime", "turnaroundtimems"),
    ("agent", "useragent"),
    ("version", "versionid"),
    ("host_id", "hostid"),
    ("signature_version", "signatureversion", "sigv"),
    ("cipher", "ciphersuite"),
    ("authentication", "authenticationtype", "authtype"),
    ("host", "hostheader", "endpoint"),
    ("tls_version", "tlsversion"),
    ("access_point", "accesspointarn"),
    ("acl_required", "aclrequired"),
    ("source_region", "sourceregion"),
)
_FIELDS = {name: field for field, *names in _NAMES for name in names}
_LONGEST_NAME = 64
_NEEDED = frozenset({"bucket", "address", "operation", "request_id"})
_HEAD = (
    "owner", "bucket", "text_time", "address", "requester", "request_id", "operation", "key",
)  # fmt: skip
_MIDDLE = ("status", "error", "sent", "size", "total", "turn_around")
_TAIL = (
    "version", "host_id", "signature_version", "cipher", "authentication", "host", "tls_version",
    "access_point", "acl_required", "source_region",
)  # fmt: skip
_OBJECT: "msgspec.json.Decoder[dict[str, Any]]" = msgspec.json.Decoder(dict[str, Any])


class Fields(NamedTuple):
    """The fields of a record as those of a line: texts, `-` where nothing is stated.

    Attributes:
        head: The eight fields before the request URI; without the time where `at` states it.
        uri: The request line.
        middle: The six fields between request URI and referer.
        agent: The user agent.
        tail: The ten fields behind it.
        at: When the request was received, where it is stated as RFC 3339.
        key_encodings: How often the key is percent-encoded; none where nothing tells.
    """

    head: list[str]
    uri: str
    middle: list[str]
    agent: str
    tail: list[str]
    at: datetime | None
    key_encodings: int | None


def is_record(value: dict[str, Any]) -> bool:
    """Whether an object holds what every request of the log has."""
    return is_request({field_of(name) for name in value})


def is_request(fields: Set[str | None]) -> bool:
    """Whether fields are those that every request of the log has."""
    return fields >= _NEEDED and bool(fields & {"time", "text_time"})


def read_fields(item: Item) -> Fields:
    """The fields of a record.

    Raises:
        RecordError: It is no object.
        RefusedError: It is another kind of record, or a field is a list or an object.
    """
    value = decode(_OBJECT, item.data, item.path)
    stated = {
        field: _text(field, found)
        for name, found in value.items()
        if (field := field_of(name)) is not None
    }
    if not stated.keys() >= _NEEDED:
        refuse("not_a_request", "bucket, address, request id and operation of a request")
    at = parse_instant(stated["time"]) if stated.get("time", "-") != "-" else None
    if at is None and stated.get("text_time", "-") == "-":
        refuse("no_time", "an RFC 3339 time in request_time", stated.get("time"))
    uri, key = stated.get("uri", "-"), stated.get("key", "-")
    return Fields(
        [stated.get(name, "-") for name in _HEAD],
        uri,
        [stated.get(name, "-") for name in _MIDDLE],
        stated.get("agent", "-"),
        [stated.get(name, "-") for name in _TAIL],
        at,
        encodings_of(key, uri),
    )


@lru_cache(maxsize=1_024)
def field_of(name: str) -> str | None:
    """The field that a name stands for; none where it is no field's."""
    return _FIELDS.get(name.replace("_", "").lower()) if len(name) <= _LONGEST_NAME else None


def _text(field: str, value: object) -> str:
    if isinstance(value, str):
        # Tables keep the quotes of the line, and the bracket of the time.
        if value[:1] == '"' and value[-1:] == '"' and len(value) > 1:
            value = value[1:-1]
        return (value.strip("[]") if field == "text_time" else value) or "-"
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "Yes" if value else "-"
    if not isinstance(value, int | float) or (isinstance(value, float) and not value.is_integer()):
        refuse("wrong_type", f"a text or a whole number in {field}", value)
    return str(int(value))


def encodings_of(key: str, uri: str) -> int | None:
    """How often a key is percent-encoded, as its request line tells; none where nothing does."""
    if "%" not in key:
        return 0
    path = uri.partition(" ")[2].rpartition(" HTTP/")[0].partition("?")[0]
    if path.endswith(f"/{unquote(key)}"):
        return 2
    if path.endswith(f"/{key}"):
        return 1
    return 0 if unquote(path).endswith(f"/{key}") else None

"""S3 server access logs of JSON by columns; the rules are those of `s3_access_log`.

Both documented spellings of the fields have columns: that of the log which CloudWatch Logs vends,
and that of the user guide's table. Records with another spelling, or with both of one field, are
the row parser's.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import request_fields as f
from transforms.staging import s3_access_log
from transforms.staging import s3_access_log_json as objects
from transforms.staging.column_rules import INSTANT, TEXT, Doubts, Rule
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.parser import FileContext
from transforms.staging.plain_names import are_plain
from transforms.staging.s3_columns import S3Columns
from transforms.staging.values import parse_instant

_SPELLINGS = {
    "owner": ("bucket_owner_id", "bucket_owner", "bucketowner"),
    "bucket": ("bucket_name", "bucket"),
    "text_time": ("requestdatetime",),
    "time": ("request_time",),
    "address": ("remote_ip", "remoteip"),
    "requester": ("requester",),
    "request_id": ("request_id", "requestid"),
    "operation": ("operation",),
    "key": ("key_name", "key"),
    "uri": ("request_uri",),
    "status": ("http_status", "httpstatus"),
    "error": ("error_code", "errorcode"),
    "sent": ("bytes_sent", "bytessent"),
    "size": ("object_size", "objectsize"),
    "total": ("total_time", "total_time_ms", "totaltime"),
    "turn_around": ("turn_around_time", "turn_around_time_ms", "turnaroundtime"),
    "agent": ("user_agent", "useragent"),
    "version": ("version_id", "versionid"),
    "host_id": ("host_id", "hostid"),
    "signature_version": ("signature_version", "sigv"),
    "cipher": ("cipher_suite", "ciphersuite"),
    "authentication": ("authentication_type", "auth_type", "authtype"),
    "host": ("host_header", "endpoint"),
    "tls_version": ("tls_version", "tlsversion"),
    "access_point": ("access_point_arn", "accesspointarn"),
    "acl_required": ("acl_required", "aclrequired"),
    "source_region": ("source_region", "sourceregion"),
}
"""Field → keys that have columns."""
_SPELLED = frozenset(name for names in _SPELLINGS.values() for name in names)
_RECORD = msgspec.defstruct(
    "Record", [(name, str | None, None) for names in _SPELLINGS.values() for name in names]
)
_METHOD = r"^([A-Z]+) "
_QUERY = r"(?s)(\?.*)$"
_LINE_END = "\n"


def _has_columns(keys: tuple[str, ...]) -> bool:
    """Whether the keys of a record are of a request, and each field stands once, under a column."""
    fields = [objects.field_of(key) for key in keys]
    known = [field for field in fields if field is not None]
    return (
        len(known) == len(set(known))
        and objects.is_request(set(known))
        and all(key in _SPELLED for key, field in zip(keys, fields, strict=True) if field)
    )


class _Texts:
    """The fields of records as texts; null where nothing is stated."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._found: dict[str, pa.Array] = {}

    def __call__(self, name: str) -> pa.Array:
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._text(name)
        return found

    def _text(self, name: str) -> pa.Array:
        if name == "method":
            return pl.Series(self("uri")).str.extract(_METHOD, 1).to_arrow().cast(TEXT)
        if name == "query":
            return pl.Series(self("uri")).str.extract(_QUERY, 1).to_arrow().cast(TEXT)
        found = None
        for path in _SPELLINGS[name]:
            if self._records.is_stated(path):
                column = self._records.words(path)
                found = column if found is None else pc.coalesce(found, column)
        if found is None:
            return pa.nulls(len(self._records), TEXT)
        # Tables keep the quotes of the line, and the brackets of the time.
        is_quoted = pc.and_(pc.starts_with(found, '"'), pc.ends_with(found, '"'))
        is_quoted = pc.and_(is_quoted, pc.greater(pc.binary_length(found), 1))
        if pc.any(is_quoted).as_py():
            found = pc.if_else(is_quoted, pc.utf8_slice_codeunits(found, 1, -1), found)
        if name == "text_time":
            found = pc.utf8_trim(found, "[]")
        is_nothing = pc.is_in(found, pa.array(["", "-"], TEXT))
        if pc.any(is_nothing).as_py():
            found = pc.if_else(is_nothing, pa.scalar(None, TEXT), found)
        return found


class _Reader:
    """Rules of one file, each of which remembers what it read."""

    def __init__(self, context: FileContext) -> None:
        self.fields = S3Columns(context)
        self.time = Rule(s3_access_log.read_instant, INSTANT, is_text=False)
        self._key = Rule(_key, TEXT, is_text=False)

    def keys(self, text: Callable[[str], pa.Array], doubts: Doubts) -> pa.Array:
        """Keys, decoded as often as their request line tells."""
        keys = text("key")
        is_plain = pc.fill_null(are_plain(pl.Series(keys)).to_arrow(), True)
        if pc.all(is_plain).as_py():
            return keys
        parts = [text("operation"), pc.fill_null(text("uri"), ""), keys]
        for part in parts[:2]:
            doubts.note(pc.match_substring(part, _LINE_END))
        stated = pc.binary_join_element_wise(*parts, pa.scalar(_LINE_END, TEXT))
        odd = pc.if_else(is_plain, pa.scalar(None, TEXT), stated)
        return pc.if_else(is_plain, keys, self._key.apply(odd, doubts))


def _key(text: str) -> str | None:
    operation, uri, key = text.split(_LINE_END, 2)
    return s3_access_log.key_of(key, operation, objects.encodings_of(key, uri))


def _columns(records: Records) -> dict[str, Any]:
    texts, reader = _Texts(records), records.once(_Reader)
    if records.is_stated("requestdatetime"):
        records.doubt(texts("time").is_valid())
        event_at = reader.time.apply(texts("text_time"), records.doubts)
    else:
        event_at = records.instants("request_time", parse_instant)
    keys = reader.keys(texts, records.doubts)
    columns = reader.fields.read(texts, records.doubts, event_at=event_at, keys=keys)
    return {**columns, "provider": "s3"}


COLUMNS = JsonColumns(
    s3_access_log.PARSER, f.TABLE, Shape(_RECORD, judge=_has_columns, decodes_all=True), _columns
)

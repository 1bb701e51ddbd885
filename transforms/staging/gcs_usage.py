"""Usage logs of Google Cloud Storage: CSV with a header, one line per request.

Source: the Cloud Storage documentation's page on usage logs and storage logs. All values are
quoted, a quote in them is doubled; names of objects are UTF-8 while the URI is percent-encoded.

* The time is that at which a request was completed, in microseconds.
* Nobody is named: the log has no principal. `Signature` and the like in the URI are never stored.
* `cs_operation` is empty for requests of the JSON API, of which path and method tell what they do.
  There, a `GET` of an object without `alt=media` asks for its metadata.
* Requests of one batch share `s_request_id`, so that a record is identified by its whole line.
* Several files of an hour may stand behind each other, each with its header; where the header was
  taken off, the columns are those of the documentation.
* A storage log (`bucket`, `storage_byte_hours`) holds no requests and is ignored.
"""

import csv
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from transforms.staging import request_fields as f
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    accepted,
    ignored,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.stored_text import name_text
from transforms.staging.values import instant_of_microseconds

MAX_LINE_BYTES = 128 << 10
"""The front end refuses request lines and headers of some 16 KiB each."""
USAGE_COLUMNS = (
    "time_micros", "c_ip", "c_ip_type", "c_ip_region", "cs_method", "cs_uri", "sc_status",
    "cs_bytes", "sc_bytes", "time_taken_micros", "cs_host", "cs_referer", "cs_user_agent",
    "s_request_id", "cs_operation", "cs_bucket", "cs_object",
)  # fmt: skip
STORAGE_COLUMNS = ("bucket", "storage_byte_hours")
MAX_COLUMNS = 100
"""The log has had 17 columns for years; more may be added behind them."""
MAX_NAME = 256
"""Characters of a column's name."""

_LOOK = re.compile(
    r"[0-9]{12,17}\n[0-9a-fA-F.:]*\n[12]?\n[^\n]*\n[A-Z]{3,7}\n[^\n]*\n[0-9]{1,3}"
    r"(?:\n[0-9]*){3}\n(?s:.*)"
)
"""What the values of a line without a header look like, each on a line of its own."""
_NEEDED = frozenset({"time_micros", "cs_method", "cs_uri", "sc_status", "sc_bytes", "cs_bucket"})
_JSON_API = re.compile(
    r"/(?:(?P<way>upload|download|resumable/upload|batch)/)?storage/v1\w*/b"
    r"(?:/[^/]+(?P<objects>/o(?P<object>/[^/]+(?P<verb>/\w+)?)?)?)?"
)
_OPERATIONS = {
    "get_object": "read",
    "head_object": "head",
    "head_bucket": "head",
    "put_object": "write",
    "post_object": "write",
    "copy_object": "copy",
    "delete_object": "delete",
    "get_bucket": "list",
    "get_service": "list",
}
"""Everything else is `other`."""
_METHODS = {"GET": "read", "HEAD": "head", "PUT": "write", "POST": "write", "DELETE": "delete"}
_VERBS = {"/copyTo": "copy", "/rewriteTo": "copy"}


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    columns: tuple[str, ...] = USAGE_COLUMNS
    for raw in records:
        try:
            values = _values(raw.data)
            header = _header(values)
            if header is not None:
                columns = header
                yield ignored(raw, "header")
            elif columns == STORAGE_COLUMNS:
                yield ignored(raw, "storage_usage")
            else:
                row = _row(_named(columns, values), context)
                row["record_id"] = hashlib.md5(raw.data, usedforsecurity=False).hexdigest()
                yield accepted(raw, (f.TABLE, row))
        except RefusedError as problem:
            yield f.without_queries(refused(raw, problem))


def _values(data: bytes) -> list[str]:
    """Cut a line into its values.

    Raises:
        RefusedError: It is too long, or no CSV.
    """
    if len(data) > MAX_LINE_BYTES:
        refuse("unreadable_line", f"at most {MAX_LINE_BYTES} bytes", len(data))
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        [values] = csv.reader([text], strict=True)
    except (csv.Error, ValueError):
        refuse("unreadable_line", "one line of CSV")
    return values


def _header(values: list[str]) -> tuple[str, ...] | None:
    """The columns that a line names, if it is a header.

    Raises:
        RefusedError: It names too many columns, too long ones, or one twice.
    """
    if not (set(values) >= _NEEDED or tuple(values) == STORAGE_COLUMNS):
        return None
    if len(values) > MAX_COLUMNS:
        refuse("too_many_columns", f"at most {MAX_COLUMNS}", len(values))
    if max(map(len, values)) > MAX_NAME:
        refuse("name_too_long", f"names of columns of at most {MAX_NAME} characters")
    if len(set(values)) < len(values):
        refuse("duplicate_column", "one column of each name")
    return tuple(values)


def _named(columns: tuple[str, ...], values: list[str]) -> dict[str, str]:
    if len(values) != len(columns):
        refuse("columns", f"{len(columns)} values", len(values))
    return {name: value for name, value in zip(columns, values, strict=True) if value}


def _row(line: dict[str, str], context: FileContext) -> dict[str, Any]:
    """Give the columns of `object_requests`.

    Raises:
        RefusedError: A value is not what its column says.
    """
    microseconds = f.whole(line.get("time_micros"), "time_micros")
    event_at = None if microseconds is None else instant_of_microseconds(microseconds)
    if event_at is None:
        refuse("no_time", "microseconds since 1970 in time_micros", line.get("time_micros"))
    path, _, query = line.get("cs_uri", "").partition("#")[0].partition("?")
    asked = f.query_parameters(query)
    key = name_text(line.get("cs_object"))
    method = f.method(line.get("cs_method"))
    operation = _operation(line.get("cs_operation"), method, path, asked, has_key=key is not None)
    # A connection that broke before the answer has the status 0.
    status = f.status(line.get("sc_status") if line.get("sc_status") != "0" else None)
    agent = f.google_agent(line.get("cs_user_agent"))
    return {
        "event_at": event_at,
        "provider": "gcs",
        "bucket": name_text(line.get("cs_bucket")),
        "key": key,
        "version_id": name_text(f.only(asked, "generation")),
        "operation": operation,
        "operation_name": name_text(line.get("cs_operation")) or method or "unknown",
        "http_method": method,
        "status": status,
        "response_bytes": f.whole(line.get("sc_bytes"), "sc_bytes"),
        "request_bytes": f.whole(line.get("cs_bytes"), "cs_bytes"),
        "is_range": f.is_range(operation, status),
        "duration_seconds": f.duration(
            line.get("time_taken_micros"), "time_taken_micros", 1_000_000
        ),
        "client_address": f.address(line.get("c_ip"), "c_ip"),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": name_text(line.get("s_request_id")),
        "part_number": f.part_number(f.only(asked, "partNumber")),
        "authentication": "QueryString" if _is_signed(asked) else None,
        "bucket_region": context.region,
        "endpoint": f.host(line.get("cs_host")),
    }


def _operation(
    stated: str | None, method: str | None, path: str, asked: f.Parameters, *, has_key: bool
) -> str:
    """What was done: by path of the JSON API, else by the operation, else by the method."""
    match = _JSON_API.match(path)
    if match is not None:
        return _json_operation(match, method, asked)
    if stated:
        return _OPERATIONS.get(stated.lower(), "other")
    if has_key:
        return _METHODS.get(method or "", "other")
    return {"GET": "list", "HEAD": "head"}.get(method or "", "other")


def _json_operation(match: re.Match[str], method: str | None, asked: f.Parameters) -> str:
    way, verb = match["way"], match["verb"]
    if way in {"upload", "resumable/upload"}:
        return "write" if method in {"POST", "PUT"} else "other"
    if verb is not None:
        return _VERBS.get(verb, "other")
    if match["object"] is None:
        is_list = method == "GET" and (match["objects"] is not None or not match[0].count("/b/"))
        return "list" if is_list else "other"
    if method == "GET":
        return "read" if way == "download" or f.only(asked, "alt") == "media" else "head"
    return "delete" if method == "DELETE" else "other"


def _is_signed(asked: f.Parameters) -> bool:
    return any(name.lower() in {"signature", "x-goog-signature"} for name in asked)


def _recognise(head: bytes) -> Recognition:
    line = next((line for line in head.split(b"\n") if line.strip()), b"")
    try:
        values = _values(line.rstrip(b"\r"))
        header = _header(values)
    except RefusedError:
        return Recognition(0)
    if header is None:
        is_usage = len(values) == len(USAGE_COLUMNS) and _LOOK.fullmatch("\n".join(values))
        return Recognition(2, "usage log without its header") if is_usage else Recognition(0)
    return Recognition(3, "storage log" if header == STORAGE_COLUMNS else "usage log")


PARSER = Parser(
    name="gcs_usage",
    title="Google Cloud Storage usage log",
    tables=(f.TABLE,),
    shape="lines",
    record="one line: one request",
    cannot_tell=(
        "who asked; byte ranges; sizes and generations of objects; whether a part of an upload "
        "completed it"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=("client_address", "user_agent", "duration_seconds", "version_id"),
    tested_on="real",
)

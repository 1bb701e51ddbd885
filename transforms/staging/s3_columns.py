"""Big S3 server access logs, column by column: the same rows as the line reader gives, faster.

`S3Lines` reads lines of text; `S3Columns` reads the fields of any form, once they are texts.

The result equals that of `s3_access_log.PARSER`, record for record and row for row, in the same
order; provenance columns are filled. Lines are cut where their quotes and blanks stand; the rules
of the line reader are applied to each distinct text, and names that redaction surely leaves alone
stay as they are. Whatever is not plainly right is read by the line reader itself: lines whose
quotes are not six, other than ASCII, objects, and values that their place should not hold.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from transforms.redaction import KeyedHash
from transforms.staging import request_fields as f
from transforms.staging import s3_access_log as lines
from transforms.staging.column_rules import (
    FLAG,
    INSTANT,
    INTEGER,
    NUMBER,
    TEXT,
    Columns,
    Doubts,
    Rule,
    Rules,
)
from transforms.staging.line_columns import Part, Stretch
from transforms.staging.parser import FileContext
from transforms.staging.plain_names import are_canonical_ipv4, are_plain
from transforms.staging.s3_line_fields import Lines, cut
from transforms.staging.s3_operations import COPY_SOURCE_SIDE

_MAX_DIGITS = 18
_MAX_MILLISECONDS = int(f.MAX_SECONDS * 1_000)


class S3Lines:
    """Reads the lines of one file by columns; see `line_columns.LineColumns`."""

    parser = lines.PARSER
    batch_bytes = 2 << 20
    """Text that stays in the processor's cache while its fields are gathered."""

    def __init__(self, context: FileContext) -> None:
        """Start a file."""
        self._fields = S3Columns(context)

    def read(self, data: bytes) -> Stretch:
        """Read a text of whole lines; lines that it does not name are read by the line reader."""
        found = cut(data)
        doubts = Doubts()
        columns = self._fields.read(found.text, doubts)
        plain = np.flatnonzero(found.plain)
        if doubts.mask is not None:
            sure = pc.invert(doubts.mask)
            columns = {name: column.filter(sure) for name, column in columns.items()}
            plain = plain[sure.to_numpy(zero_copy_only=False)]
        columns["record_id"] = pa.array(_hashes(found, plain), TEXT)
        part = Part(f.TABLE, plain, {**columns, "provider": "s3"})
        return Stretch(data, found.starts, found.ends, [part])


class S3Columns:
    """Reads the fields of requests, which are texts, and null where nothing is stated."""

    def __init__(self, context: FileContext) -> None:
        """Start a file."""
        self._region = context.region
        self._rules = _RuleBook(context.key_hash)

    def read(
        self,
        text: Callable[[str], pa.Array],
        doubts: Doubts,
        *,
        event_at: pa.Array | None = None,
        keys: pa.Array | None = None,
    ) -> Columns:
        """Columns of requests; rows that must be read again are doubted.

        Args:
            text: Gives a field by its name in `s3_line_fields`.
            doubts: Where doubts are noted.
            event_at: When requests were received, if that is not a field's text.
            keys: Keys of the objects, if they are not as their operation encodes them in a line.
        """
        rules = self._rules
        operation_name = text("operation")
        doubts.note(operation_name.is_null())
        operation = rules.operation.apply(operation_name, doubts)
        status_text = text("status")
        status = _numbers(status_text, doubts)
        doubts.note(pc.not_equal(pc.binary_length(status_text), 3))
        doubts.note(pc.or_(pc.less(status, 100), pc.greater(status, 999)))
        requester = rules.requester.apply(text("requester"), doubts)
        agent = rules.agent.apply(text("agent"), doubts)
        host = rules.host.apply(text("host"), doubts)
        point = rules.access_point.apply(text("access_point"), doubts)
        asked = rules.query.apply(text("query"), doubts)
        authentication = rules.word.apply(text("authentication"), doubts)
        bucket = _names(text("bucket"), rules.name, doubts)
        key = self._keys(text("key"), operation_name, doubts) if keys is None else keys
        is_signed = pc.and_(
            pc.fill_null(pc.equal(authentication, "QueryString"), False),
            requester["principal"].is_valid(),
        )
        region = _region(host["region"], point["region"], status)
        if self._region is not None:
            region = pc.fill_null(region, self._region)
        if event_at is None:
            event_at = rules.time.apply(text("time"), doubts)
        doubts.note(event_at.is_null())
        return {
            "event_at": event_at,
            "bucket_owner": _names(text("owner"), rules.name, doubts),
            "bucket": bucket,
            "key": key,
            "version_id": _names(text("version"), rules.name, doubts),
            "operation": operation,
            "operation_name": operation_name,
            "http_method": rules.method.apply(text("method"), doubts),
            "status": status,
            "error": rules.name.apply(text("error"), doubts),
            "response_bytes": _numbers(text("sent"), doubts),
            "object_size_bytes": _numbers(text("size"), doubts),
            "is_range": _is_range(operation, status, asked["asks_for_part"]),
            "duration_seconds": _seconds(text("total"), doubts),
            "turn_around_seconds": _seconds(text("turn_around"), doubts),
            "client_address": _addresses(text("address"), rules.address, doubts),
            "principal": requester["principal"],
            "session_arn": requester["session_arn"],
            "access_key_id_hash": pc.if_else(is_signed, asked["key_id_hash"], _NO_TEXT),
            "user_agent": agent["user_agent"],
            "app_id": agent["app_id"],
            "request_id": _names(text("request_id"), rules.name, doubts),
            "upload_id": asked["upload_id"],
            "part_number": asked["part_number"],
            "authentication": authentication,
            "bucket_region": region,
            "source_region": rules.region.apply(text("source_region"), doubts),
            "endpoint": host["endpoint"],
            "access_point": point["access_point"],
            "vpc_endpoint_id": host["vpc_endpoint_id"],
            "copy_source": _copy_source(operation_name, bucket, key),
        }

    def _keys(self, keys: pa.Array, operation: pa.Array, doubts: Doubts) -> pa.Array:
        """Keys, decoded as their operation encodes them."""
        if keys.null_count == len(keys):
            return keys
        is_plain = are_plain(pl.Series(keys))
        is_batch = pl.Series(operation).str.starts_with("BATCH.")
        odd = (~is_plain | is_batch).to_arrow()
        if not pc.any(odd).as_py():
            return keys
        encoded = pc.binary_join_element_wise(operation, keys, _LINE_END)
        chosen = pc.if_else(pc.fill_null(odd, False), encoded, _NO_TEXT)
        read = self._rules.key.apply(chosen, doubts)
        return pc.if_else(pc.fill_null(odd, False), read, keys)


def _hashes(found: Lines, numbers: Any) -> list[str]:  # noqa: ANN401  an array of line numbers
    """Ids of records: those of their whole lines."""
    starts, ends = found.starts[numbers].tolist(), found.ends[numbers].tolist()
    data, md5 = found.data, partial(hashlib.md5, usedforsecurity=False)
    return [md5(data[low:high]).hexdigest() for low, high in zip(starts, ends, strict=True)]


_NO_TEXT = pa.scalar(None, TEXT)
_SCHEME, _NOTHING, _SLASH, _LINE_END = (pa.scalar(t, TEXT) for t in ("s3://", "", "/", "\n"))


def _names(column: pa.Array, rule: Rule, doubts: Doubts) -> pa.Array:
    """Names that differ from row to row; only those that are not plain are looked at singly."""
    if column.null_count == len(column):
        return column
    return _odd_ones(column, are_plain(pl.Series(column)), rule, doubts)


def _addresses(column: pa.Array, rule: Rule, doubts: Doubts) -> pa.Array:
    """Addresses; only those that are no plain IPv4 address are looked at singly."""
    if column.null_count == len(column):
        return column
    return _odd_ones(column, are_canonical_ipv4(pl.Series(column)), rule, doubts)


def _odd_ones(column: pa.Array, is_plain: pl.Series, rule: Rule, doubts: Doubts) -> pa.Array:
    """Apply a rule to the texts that are not as they should be."""
    odd = (~is_plain).to_arrow()
    if not pc.any(odd).as_py():
        return column
    odd = pc.fill_null(odd, False)
    return pc.if_else(odd, rule.apply(pc.if_else(odd, column, _NO_TEXT), doubts), column)


def _numbers(column: pa.Array, doubts: Doubts) -> pa.Int64Array:
    """Whole numbers; what is no short one is doubted."""
    if column.null_count == len(column):
        return pa.nulls(len(column), INTEGER)
    is_number = pc.and_(
        pc.ascii_is_decimal(column), pc.less_equal(pc.binary_length(column), _MAX_DIGITS)
    )
    if not pc.all(is_number).as_py():
        doubts.note(pc.invert(is_number))
        column = pc.if_else(is_number, column, _NO_TEXT)
    return column.cast(INTEGER)


def _seconds(column: pa.Array, doubts: Doubts) -> pa.DoubleArray:
    """Durations, which are written in milliseconds."""
    found = _numbers(column, doubts)
    is_long = pc.greater(found, _MAX_MILLISECONDS)
    if pc.any(is_long).as_py():
        doubts.note(is_long)
        found = pc.if_else(is_long, pa.scalar(None, INTEGER), found)
    return pc.divide(found.cast(NUMBER), 1_000.0)


def _is_range(operation: pa.Array, status: pa.Array, asks: pa.Array) -> pa.BooleanArray:
    is_read = pc.equal(operation, "read")
    is_part = pc.or_(
        pc.fill_null(pc.is_in(status, pa.array([206, 416])), False), pc.fill_null(asks, False)
    )
    is_whole = pc.fill_null(pc.equal(status, 200), False)
    null = pa.scalar(None, FLAG)
    return pc.if_else(is_read, pc.if_else(is_part, True, pc.if_else(is_whole, False, null)), null)


def _region(of_host: pa.Array, of_point: pa.Array, status: pa.Array) -> pa.Array:
    """Region of the bucket: the endpoint's, unless S3 sent the client elsewhere."""
    if of_host.null_count == len(of_host):
        return of_point
    is_wrong = pc.is_in(status, pa.array(sorted(lines.WRONG_REGION)))
    here = pc.if_else(is_wrong, _NO_TEXT, of_host)
    return pc.if_else(of_host.is_null(), of_point, here)


def _copy_source(operation: pa.Array, bucket: pa.Array, key: pa.Array) -> pa.Array:
    is_source = pc.is_in(operation, pa.array(sorted(COPY_SOURCE_SIDE), TEXT))
    if not pc.any(is_source).as_py():
        return pa.nulls(len(operation), TEXT)
    place = pc.binary_join_element_wise(_SCHEME, bucket, _NOTHING)
    return pc.if_else(is_source, pc.binary_join_element_wise(place, key, _SLASH), _NO_TEXT)


class _RuleBook:
    """The line reader's rules of single fields, each of which remembers what it read."""

    def __init__(self, key_hash: KeyedHash) -> None:
        def asked(text: str) -> dict[str, Any]:
            return lines.asked_of("x " + text, key_hash)

        self.name = Rule(lines.redacted_name, TEXT, is_text=False)
        self.time = Rule(lines.read_instant, INSTANT, is_text=False)
        self.operation = Rule(lines.read_operation, TEXT, is_text=False)
        self.method = Rule(f.method, TEXT, is_text=False)
        self.address = Rule(lines.read_address, TEXT, is_text=False)
        self.word = Rule(f.word, TEXT, is_text=False)
        self.region = Rule(f.aws_region, TEXT, is_text=False)
        self.key = Rule(_key, TEXT, is_text=False)
        self.requester = Rules(_requester, {"principal": TEXT, "session_arn": TEXT})
        self.agent = Rules(_agent, {"user_agent": TEXT, "app_id": TEXT})
        self.host = Rules(_host, {"endpoint": TEXT, "region": TEXT, "vpc_endpoint_id": TEXT})
        self.access_point = Rules(_access_point, {"access_point": TEXT, "region": TEXT})
        self.query = Rules(
            asked,
            {
                "asks_for_part": FLAG, "part_number": INTEGER, "upload_id": TEXT,
                "key_id_hash": TEXT,
            },
        )  # fmt: skip


def _key(text: str) -> str | None:
    operation, _, key = text.partition("\n")
    return lines.key_of(key, operation)


def _requester(text: str) -> dict[str, Any]:
    return {"principal": lines.redacted_name(text), "session_arn": f.session_arn(text)}


def _agent(text: str) -> dict[str, Any]:
    agent = lines.redacted_text(text)
    return {"user_agent": agent, "app_id": f.app_id(agent)}


def _host(text: str) -> dict[str, Any]:
    endpoint, region, vpc_endpoint = f.s3_host(text)
    return {"endpoint": endpoint, "region": region, "vpc_endpoint_id": vpc_endpoint}


def _access_point(text: str) -> dict[str, Any]:
    found = f.arn(text)
    return {"access_point": found, "region": f.arn_region(found)}

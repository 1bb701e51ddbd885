"""Columns of requests that several logs of object storage state alike."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import request_fields as f
from transforms.staging.column_rules import FLAG, TEXT
from transforms.staging.json_columns import Records

_ADDRESS = r"^([0-9.]+):[0-9]+$"
_PATH = r"^([^?#/]*://[^?#/]*)/[^?#]*$"


def is_range(operation: pa.Array, status: pa.Array) -> pa.BooleanArray:
    """`request_fields.is_range` of requests of which nothing more is known."""
    none = pa.scalar(None, FLAG)
    is_part = pc.fill_null(pc.is_in(status, pa.array([206, 416])), False)
    is_whole = pc.fill_null(pc.equal(status, 200), False)
    found = pc.if_else(is_part, True, pc.if_else(is_whole, False, none))
    return pc.if_else(pc.equal(operation, "read"), found, none)


def etags(records: Records, path: str) -> pa.Array:
    """Entity tags, as `request_fields.etag` reads them."""
    stated = records.text(path)
    is_weak = pc.starts_with(stated, "W/")
    plain = pc.if_else(is_weak, pa.scalar(None, TEXT), pc.utf8_trim(stated, '"'))
    return records.names(path, f.etag, plain)


def addresses_without_port(
    records: Records, path: str, read: Callable[[str], str | None]
) -> pa.Array:
    """Addresses with or without a port, as `request_fields.address_without_port` reads them."""
    plain = pc.replace_substring_regex(records.text(path), _ADDRESS, r"\1")
    return records.addresses(path, read, plain)


def add_hosts(records: Records, path: str, name: str) -> None:
    """Add a part of URLs without their paths, but where one has a query or a fragment."""
    url = records.text(path)
    records.add_texts(name, pc.replace_substring_regex(url, _PATH, r"\1/"))

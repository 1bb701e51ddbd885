"""Read and check reference files: the endpoint catalogue and the well-known addresses.

What is shipped stands beside this module; a file of the settings extends it, and a row whose
pattern is shipped replaces the shipped row.
"""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path

import polars as pl

from pipelines.reference.reference_file import (
    Check,
    ReferenceFile,
    ReferenceRow,
    day,
    one_of,
    text,
)

ENDPOINT_KINDS = ("primary", "redirect", "blob", "auth", "metadata")
ADDRESS_KINDS = ("metadata", "dns", "time", "platform")

_PATTERN = re.compile(r"[a-z0-9._:*?-]{1,253}")


def load_endpoints(path: str | Path | None = None) -> pl.DataFrame:
    """Read the endpoint catalogue.

    Args:
        path: A file of the user's that extends what is shipped and replaces rows of equal patterns.

    Returns:
        Columns pattern, service, operation, kind, source, as_of (date), is_verified (boolean), by
        pattern.

    Raises:
        SettingsError: A file cannot be read or a row is wrong; the message has a line per wrong
            place with file, line, key, value and what was expected.
    """
    rows = ENDPOINTS.shipped()
    if path is not None:
        rows |= ENDPOINTS.stated(path)
    return _frame(ENDPOINTS, rows)


def load_well_known_addresses() -> pl.DataFrame:
    """Read the addresses that mean the same everywhere, by address.

    Returns:
        Columns address, name, kind, provider (null where none), source, as_of, is_verified.
    """
    return _frame(ADDRESSES, ADDRESSES.shipped())


def _pattern(value: str) -> str | None:
    if not _PATTERN.fullmatch(value):
        return "expected a glob over lower-case host names: a-z 0-9 . - _ : * ?"
    if not re.search(r"[a-z0-9]", value):
        return "expected at least one letter or digit, else it matches every host"
    return None


def _address(value: str) -> str | None:
    try:
        canonical = str(ip_address(value))
    except ValueError:
        return "expected an IP address"
    return None if canonical == value else f"expected the canonical form {canonical}"


def _text_or_empty(value: str) -> str | None:
    return text(value) if value else None


_PROVENANCE: dict[str, Check] = {
    "source": text,
    "as_of": day,
    "is_verified": one_of("true", "false"),
}

ENDPOINTS = ReferenceFile(
    "endpoints.csv",
    {
        "pattern": _pattern,
        "service": text,
        "operation": text,
        "kind": one_of(*ENDPOINT_KINDS),
        **_PROVENANCE,
    },
)
ADDRESSES = ReferenceFile(
    "well_known_addresses.csv",
    {
        "address": _address,
        "name": text,
        "kind": one_of(*ADDRESS_KINDS),
        "provider": _text_or_empty,
        **_PROVENANCE,
    },
)


def _frame(reference: ReferenceFile, rows: Mapping[str, ReferenceRow]) -> pl.DataFrame:
    ordered = [rows[key].cells for key in sorted(rows)]
    return pl.DataFrame(
        {column: [row[column] or None for row in ordered] for column in reference.checks},
        schema=dict.fromkeys(reference.checks, pl.String),
    ).with_columns(
        pl.col("as_of").str.to_date("%Y-%m-%d"),
        is_verified=pl.col("is_verified") == "true",
    )

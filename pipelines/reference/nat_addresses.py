"""Addresses that many pods share on their way out, such as those of NAT gateways and proxies.

The settings name the file (`reference.nat_addresses`): CSV with the columns `address` and
`cluster`; an empty cluster means any.
"""

import csv
import ipaddress
from collections.abc import Collection
from pathlib import Path

from pipelines.errors import SettingsError

KEY = "reference.nat_addresses"
COLUMNS = ["address", "cluster"]
LONGEST_FILE = 1 << 20


def load_nat_addresses(path: str, clusters: Collection[str]) -> tuple[tuple[str, str | None], ...]:
    """Read the file.

    Args:
        path: The file.
        clusters: Clusters of the settings.

    Returns:
        (address in canonical form, cluster or none), in order and each once.

    Raises:
        SettingsError: The file cannot be read, or a line is wrong: names file, line, value and
            what was expected.
    """
    try:
        text = Path(path).read_bytes()[: LONGEST_FILE + 1].decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        message = f"{KEY}: {path}: {reason}; expected a readable CSV file"
        raise SettingsError(message) from None
    if len(text) > LONGEST_FILE:
        message = f"{KEY}: {path}: more than {LONGEST_FILE} bytes; expected a list of addresses"
        raise SettingsError(message)
    lines = csv.reader(text.splitlines())
    if next(lines, None) != COLUMNS:
        message = f"{KEY}: {path} line 1: expected the header {','.join(COLUMNS)}"
        raise SettingsError(message)
    found = set()
    for cells in lines:
        if cells:
            found.add(_row(cells, f"{KEY}: {path} line {lines.line_num}", clusters))
    return tuple(sorted(found, key=lambda row: (row[0], row[1] or "")))


def _row(cells: list[str], place: str, clusters: Collection[str]) -> tuple[str, str | None]:
    if len(cells) != len(COLUMNS):
        message = f"{place}: {len(cells)} value(s); expected {len(COLUMNS)}"
        raise SettingsError(message)
    address, cluster = (cell.strip() for cell in cells)
    try:
        canonical = str(ipaddress.ip_address(address))
    except ValueError:
        message = f"{place}: address {address[:60]!r}; expected an IPv4 or IPv6 address"
        raise SettingsError(message) from None
    if cluster and cluster not in clusters:
        message = (
            f"{place}: cluster {cluster[:60]!r}; expected one of {', '.join(sorted(clusters))}, "
            "or nothing"
        )
        raise SettingsError(message)
    return canonical, cluster or None

"""Addresses that many pods share on their way out, such as those of NAT gateways and proxies.

The settings name the file (`reference.nat_addresses`): CSV with the columns `address` and
`cluster`; an empty cluster means any.
"""

import csv
import ipaddress
from collections.abc import Collection

from pipelines.errors import Clean, SettingsError
from pipelines.stated_file import NotReadError, read_stated
from transforms.redaction import redact

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
    file = f"{KEY}: {path}"
    try:
        text = read_stated(path, LONGEST_FILE).decode("utf-8-sig")
    except (NotReadError, UnicodeDecodeError) as error:
        reason = str(error) if isinstance(error, NotReadError) else "not UTF-8 text"
        expected = f": {reason}; expected a readable CSV file, a list of addresses"
        raise SettingsError(file, Clean(expected)) from None
    lines = csv.reader(text.splitlines())
    if next(lines, None) != COLUMNS:
        expected = f" line 1: expected the header {','.join(COLUMNS)}"
        raise SettingsError(file, Clean(expected))
    found = set()
    for cells in lines:
        if cells:
            found.add(_row(cells, f"{file} line {lines.line_num}", clusters))
    return tuple(sorted(found, key=lambda row: (row[0], row[1] or "")))


def _row(cells: list[str], place: str, clusters: Collection[str]) -> tuple[str, str | None]:
    if len(cells) != len(COLUMNS):
        expected = f": {len(cells)} value(s); expected {len(COLUMNS)}"
        raise SettingsError(place, Clean(expected))
    address, cluster = (cell.strip() for cell in cells)
    try:
        canonical = str(ipaddress.ip_address(address))
    except ValueError:
        shown = redact(repr(address))[:60]
        expected = f": address {shown}; expected an IPv4 or IPv6 address"
        raise SettingsError(place, Clean(expected)) from None
    if cluster and cluster not in clusters:
        known = ", ".join(sorted(clusters))
        expected = f": cluster {redact(repr(cluster))[:60]}; expected one of {known}, or nothing"
        raise SettingsError(place, Clean(expected))
    return canonical, cluster or None

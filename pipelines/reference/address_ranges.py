"""The networks that cloud providers publish, read from the providers' own JSON files.

The settings name the files (`reference.address_ranges`); nothing is fetched and none is shipped.

| file | provider | its date |
|---|---|---|
| `ip-ranges.json` | AWS | `syncToken`, seconds since 1970, else `createDate`, UTC |
| `cloud.json`, `goog.json` | Google | `syncToken`, milliseconds since 1970 |
| `ServiceTags_*.json` | Azure | none: `valid_from`, else the day in the file's name |

Google's `creationTime` names no zone (it is seven or eight hours behind the token), and Azure's
`changeNumber` only counts.

A file of the settings may state `valid_from` itself, which is taken before the file's date. Of the
files of one kind the newest one that is no younger than a day is in force on that day; days before
the oldest file know none of its networks, as nobody says what held then.

A network that stands several times has the one service that is named beside the provider's general
one (`AMAZON`, `Google`, `AzureCloud`); the general one where several are named, as no winner is
forced; and the region that all of its entries with a region agree on. A network of two providers
has neither.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from pipelines.errors import Clean, SettingsError
from pipelines.stated_file import NotReadError, read_stated
from transforms.intermediate.address_prefixes import ADDRESS_RANGES, network_key
from transforms.redaction import redact

KEY = "reference.address_ranges"
MAX_BYTES = 16_000_000
MAX_PROBLEMS = 20
SHORTEST_PREFIX = {4: 8, 6: 16}
"""Shorter ones hold a good part of all addresses, which no provider owns."""
GENERAL = {"aws": "AMAZON", "gcp": "Google", "azure": "AzureCloud"}
"""Service of what a provider owns and gives no other name."""

_SERVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ -]{0,79}")
"""No dots: a service's name must not look like a host's."""
_REGION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")
_NAMED_DAY = re.compile(r"^ServiceTags_[A-Za-z]+_(\d{8})\.json$")
_EARLIEST = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
_LATEST = dt.datetime(2200, 1, 1, tzinfo=dt.UTC)

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Entry:
    """One line of a provider's list: a network, its service and its region (none if general)."""

    network: Network
    service: str
    region: str | None


@dataclass(frozen=True)
class Snapshot:
    """One file: what a provider listed from a moment on.

    Attributes:
        provider: `aws`, `gcp` or `azure`.
        kind: Files of one kind follow each other; those of two kinds stand beside each other.
        valid_from: From when on.
        entries: What is listed.
        content: Digest of the file.
    """

    provider: str
    kind: str
    valid_from: dt.datetime
    entries: tuple[Entry, ...]
    content: str


@dataclass
class AddressRanges:
    """All files of the settings."""

    snapshots: tuple[Snapshot, ...] = ()
    _frames: dict[tuple[str, ...], pl.DataFrame] = field(default_factory=dict)

    def in_force(self, end_at: dt.datetime) -> tuple[str, pl.DataFrame]:
        """The networks of a day.

        Args:
            end_at: First instant behind the day.

        Returns:
            Digest of the files in force, and the table `address_ranges`, by network.
        """
        newest: dict[str, Snapshot] = {}
        for snapshot in self.snapshots:
            if snapshot.valid_from < end_at:
                newest[snapshot.kind] = snapshot
        chosen = [newest[kind] for kind in sorted(newest)]
        contents = tuple(f"{s.kind} {s.valid_from.isoformat()} {s.content}" for s in chosen)
        if contents not in self._frames:
            self._frames[contents] = _frame(chosen)
        return sha256("\n".join(contents).encode()).hexdigest(), self._frames[contents]


def load_address_ranges(files: Sequence[tuple[str, dt.date | None]]) -> AddressRanges:
    """Read the files.

    Args:
        files: Path, and the day from which it holds if the settings state one.

    Raises:
        SettingsError: A file cannot be read, is no such list, has a wrong entry, or is as old as
            another of its kind: names file, place, value and what was expected.
    """
    found = sorted(
        (_read(path, stated) for path, stated in files), key=lambda s: (s.kind, s.valid_from)
    )
    for one, other in pairwise(found):
        if (one.kind, one.valid_from) == (other.kind, other.valid_from):
            date = one.valid_from.isoformat()
            message = f"{KEY}: two {one.kind!r} files hold from {date} on; expected one for a date"
            raise SettingsError(message)
    return AddressRanges(tuple(found))


def _frame(snapshots: Iterable[Snapshot]) -> pl.DataFrame:
    entries: dict[Network, list[tuple[Snapshot, Entry]]] = {}
    for snapshot in snapshots:
        for entry in snapshot.entries:
            entries.setdefault(entry.network, []).append((snapshot, entry))
    rows = [_row(network, said) for network, said in entries.items()]
    return pl.DataFrame(rows, schema=ADDRESS_RANGES, orient="row").sort("network")


def _row(network: Network, said: list[tuple[Snapshot, Entry]]) -> tuple[object, ...]:
    providers = {snapshot.provider for snapshot, _ in said}
    provider = service = region = None
    if len(providers) == 1:
        (provider,) = providers
        special = {entry.service for _, entry in said} - {GENERAL[provider]}
        service = special.pop() if len(special) == 1 else GENERAL[provider]
        regions = {entry.region for _, entry in said if entry.region is not None}
        region = regions.pop() if len(regions) == 1 else None
    valid_from = max(snapshot.valid_from for snapshot, _ in said)
    return network_key(network), network.prefixlen, provider, service, region, valid_from


def _read(path: str, stated: dt.date | None) -> Snapshot:
    content = _content_of(path)
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = "too deep" if isinstance(error, RecursionError) else str(error)[:200]
        raise _wrong(path, f"no JSON: {reason}; expected {_EXPECTED}") from None
    kind, found, date = _recognised(document)
    if kind is None:
        raise _wrong(path, f"unknown content; expected {_EXPECTED}")
    entries: list[Entry] = []
    problems: list[str] = []
    for entry in found:
        if isinstance(entry, Entry):
            entries.append(entry)
        elif len(problems) < MAX_PROBLEMS:
            problems.append(entry)
        else:
            problems.append("… and perhaps more")
            break
    if not entries and not problems:
        problems.append("no network; expected at least one")
    if problems:
        raise _wrong(path, "wrong address ranges\n" + "\n".join(f"  {p}" for p in problems))
    provider = kind.partition(" ")[0]
    valid_from = _valid_from(path, stated, date)
    return Snapshot(provider, kind, valid_from, tuple(entries), sha256(content).hexdigest())


_EXPECTED = "AWS's ip-ranges.json, Google's cloud.json or goog.json, or Azure's ServiceTags_*.json"


def _wrong(path: str, why: str) -> SettingsError:
    """What is wrong with a file, in words that hold its values as `_shown`."""
    return SettingsError(f"{KEY}: {path}", Clean(f": {why}"))


def _content_of(path: str) -> bytes:
    try:
        return read_stated(path, MAX_BYTES)
    except NotReadError as error:
        raise _wrong(path, f"{error}; expected a readable file: {_EXPECTED}") from None


def _recognised(
    document: Any,  # noqa: ANN401  any JSON
) -> tuple[str | None, Iterator[Entry | str], dt.datetime | None]:
    """Kind of a document, its entries or what is wrong with them, and its own date."""
    if isinstance(document, dict):
        prefixes, values = document.get("prefixes"), document.get("values")
        if isinstance(prefixes, list) and "ipv6_prefixes" in document:
            return "aws", _of_aws(document), _aws_date(document)
        if isinstance(prefixes, list):
            has_scopes = any(isinstance(p, dict) and "scope" in p for p in prefixes)
            kind = "gcp cloud" if has_scopes else "gcp goog"
            return kind, _of_google(prefixes), _of_epoch(document.get("syncToken"), 1000)
        if isinstance(values, list) and "changeNumber" in document:
            return f"azure {_text(document.get('cloud'))[:40]}", _of_azure(values), None
    return None, iter(()), None


def _of_aws(document: dict[str, Any]) -> Iterator[Entry | str]:
    for key, field_name in (("prefixes", "ip_prefix"), ("ipv6_prefixes", "ipv6_prefix")):
        items = document[key]
        if not isinstance(items, list):
            yield f"{key}: expected a list"
            continue
        for index, item in enumerate(items):
            place = f"{key}[{index}]"
            if isinstance(item, dict):
                region = item.get("region")
                yield _entry(
                    f"{place}.{field_name}",
                    item.get(field_name),
                    item.get("service"),
                    None if region == "GLOBAL" else region,
                )
            else:
                yield f"{place}: expected an object"


def _of_google(prefixes: list[Any]) -> Iterator[Entry | str]:
    for index, item in enumerate(prefixes):
        place = f"prefixes[{index}]"
        if isinstance(item, dict):
            name = "ipv4Prefix" if "ipv4Prefix" in item else "ipv6Prefix"
            scope = item.get("scope")
            yield _entry(
                f"{place}.{name}",
                item.get(name),
                item.get("service", GENERAL["gcp"]),
                None if scope == "global" else scope,
            )
        else:
            yield f"{place}: expected an object"


def _of_azure(values: list[Any]) -> Iterator[Entry | str]:
    for index, tag in enumerate(values):
        place = f"values[{index}]"
        about = tag.get("properties") if isinstance(tag, dict) else None
        prefixes = about.get("addressPrefixes") if isinstance(about, dict) else None
        if not isinstance(about, dict) or not isinstance(prefixes, list):
            yield f"{place}.properties.addressPrefixes: expected a list"
            continue
        # The tag's own name has a region behind a dot; without a system service it is general.
        service = about.get("systemService") or _text(tag.get("name")).partition(".")[0]
        for number, prefix in enumerate(prefixes):
            where = f"{place}.properties.addressPrefixes[{number}]"
            yield _entry(where, prefix, service, about.get("region") or None)


def _entry(place: str, cidr: object, service: object, region: object) -> Entry | str:
    if not isinstance(cidr, str) or "/" not in cidr:
        return f"{place}: {_shown(cidr)}: expected a network such as 192.0.2.0/24"
    try:
        network = ip_network(cidr)
    except ValueError as error:
        return f"{place}: {_shown(cidr)}: {redact(str(error))[:120]}; expected a network"
    least = SHORTEST_PREFIX[network.version]
    if network.prefixlen < least:
        return f"{place}: {_shown(cidr)}: expected a prefix of at least {least} bits"
    if not isinstance(service, str) or not _SERVICE.fullmatch(service):
        return f"{place}: service {_shown(service)}: expected a name of letters, digits, _ and -"
    if region is not None and (not isinstance(region, str) or not _REGION.fullmatch(region)):
        return f"{place}: region {_shown(region)}: expected a region's name"
    return Entry(network, service, region)


def _aws_date(document: dict[str, Any]) -> dt.datetime | None:
    token = _of_epoch(document.get("syncToken"), 1)
    if token is not None:
        return token
    return _of_parts(_text(document.get("createDate")), "%Y-%m-%d-%H-%M-%S")


def _of_parts(text: str, form: str) -> dt.datetime | None:
    try:
        return dt.datetime.strptime(f"{text}+0000", f"{form}%z")
    except ValueError:
        return None


def _of_epoch(token: object, units: int) -> dt.datetime | None:
    text = str(token) if isinstance(token, int) else _text(token)
    if not re.fullmatch(r"[0-9]{1,15}", text):
        return None
    seconds, rest = divmod(int(text), units)
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(
        seconds=min(seconds, 10**11), microseconds=rest * (1_000_000 // units)
    )


def _valid_from(path: str, stated: dt.date | None, date: dt.datetime | None) -> dt.datetime:
    if stated is not None:
        date = dt.datetime(stated.year, stated.month, stated.day, tzinfo=dt.UTC)
    elif date is None:
        named = _NAMED_DAY.match(Path(path).name)
        date = _of_parts(named[1], "%Y%m%d") if named else None
    if date is None or not _EARLIEST <= date < _LATEST:
        raise _wrong(
            path,
            "the file does not say from when on it holds; expected "
            "{path: …, valid_from: YYYY-MM-DD} in the settings",
        )
    return date


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _shown(value: object) -> str:
    return redact(repr(value))[:80]

"""What all Kubernetes objects share: metadata, times, and when a state was observed."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, NamedTuple

import msgspec

from transforms.staging.json_records import Item, RecordError
from transforms.staging.parser import FileContext
from transforms.staging.stored_text import name_text
from transforms.staging.values import (
    INT64_MAX,
    canonical_address,
    dashed_uid,
    identity,
    parse_instant,
)

Name = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=0, le=INT64_MAX)]
Number = Annotated[int, msgspec.Meta(ge=-INT64_MAX, le=INT64_MAX)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65_535)]

_GRACE_LIMIT = 10_000_000
"""Seconds of grace that are believed; a longer one would lie before the epoch."""


class OwnerReference(msgspec.Struct):
    """metadata.ownerReferences[]."""

    kind: str | None = None
    name: str | None = None
    controller: bool | None = None


class ManagedField(msgspec.Struct):
    """metadata.managedFields[]: only when it was written."""

    time: str | None = None


class Metadata(msgspec.Struct, rename="camel"):
    """metadata of any object."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: Count | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    finalizers: list[str] | None = None
    managed_fields: list[ManagedField] | None = None


class Observed(NamedTuple):
    """When a state was observed.

    Attributes:
        at: The instant; the state speaks for the time from creation to here.
        basis: `record`, `path` or `landing_day`.
    """

    at: datetime
    basis: str


class Sight(NamedTuple):
    """How an object was seen.

    Attributes:
        watch_event: ADDED, MODIFIED or DELETED, where a change was seen.
        has_own_time: Whether the record is a change (watch, archive, run version), not a listing.
        at: When it was seen, where the record around the object states that.
    """

    watch_event: str | None = None
    has_own_time: bool = False
    at: datetime | None = None


LISTED = Sight()


class StatedTimes:
    """Reads the times of one object and remembers the newest, which it was observed after."""

    def __init__(self, path: str) -> None:
        """Start with nothing read; `path` is the object's JSON path."""
        self._path = path
        self.newest: datetime | None = None

    def read(self, text: str | None, where: str) -> datetime | None:
        """Read an RFC 3339 time; null and the year 1, Go's zero time, are not stated.

        Args:
            text: The time.
            where: Its JSON path inside the object.

        Raises:
            RecordError: The text is no time.
        """
        if not text:
            return None
        instant = parse_instant(text)
        if instant is None:
            message = (
                f"wrong_time: expected an RFC 3339 time, got other text at {self._path}{where}"
            )
            raise RecordError(message)
        if instant.year == 1:
            return None
        self.note(instant)
        return instant

    def note(self, instant: datetime | None) -> None:
        """Remember an instant at which the object was there."""
        if instant is not None and (self.newest is None or instant > self.newest):
            self.newest = instant


def observe(context: FileContext, newest: datetime | None, sight: Sight = LISTED) -> Observed:
    """Say when a state was observed (definitions.md 1).

    A state was there at each time that it states and, as files are written behind the hour or day
    in their path, at that time too: the later of the two is proven. A list of states has no time of
    its own, so that without a time in the path it stands for the end of its landing day. A watch
    line or an archived state was written when it changed, and so never stands for that. A record
    that states when the object was seen, such as that of an audited request, needs none of this.

    Args:
        context: The file.
        newest: Newest time that the state itself proves.
        sight: How the object was seen.
    """
    if sight.at is not None:
        return Observed(sight.at, "record")
    known = [Observed(newest, "record")] if newest is not None else []
    if context.path_at is not None:
        known.append(Observed(context.path_at, "path"))
    elif not (known and sight.has_own_time):
        day = context.landing_date
        end = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
        known.append(Observed(end, "landing_day"))
    return max(known, key=lambda observed: (observed.at, observed.basis == "record"))


def read_metadata(metadata: Metadata | None, times: StatedTimes) -> datetime | None:
    """Note the times of metadata; returns the creation."""
    if metadata is None:
        return None
    created = times.read(metadata.creation_timestamp, ".metadata.creationTimestamp")
    for index, entry in enumerate(metadata.managed_fields or ()):
        times.read(entry.time, f".metadata.managedFields[{index}].time")
    return created


def read_deletion(metadata: Metadata, path: str, times: StatedTimes) -> datetime | None:
    """Time by which a deleted object is to be gone.

    It lies the grace period behind the request, so only the request proves that the object was
    there.
    """
    deletion = StatedTimes(path).read(metadata.deletion_timestamp, ".metadata.deletionTimestamp")
    if deletion is not None:
        grace = min(metadata.deletion_grace_period_seconds or 0, _GRACE_LIMIT)
        try:
            times.note(deletion - timedelta(seconds=grace))
        except OverflowError:
            return deletion
    return deletion


def required(value: str | None, word: str, where: str) -> str:
    """A text that must be there.

    Raises:
        RecordError: It is not; the reason begins with `no_<word>`.
    """
    if not value:
        message = f"no_{word}: expected {where}, got none"
        raise RecordError(message)
    return value


def uid_text(text: str) -> str:
    """A UID in lower case with dashes; other text, such as a node's name, in lower case."""
    return dashed_uid(text) or (name_text(text) or "").lower()


def read_addresses(texts: Iterable[str | None], where: str) -> list[str] | None:
    """Canonical addresses without repeats; null where there are none.

    Raises:
        RecordError: A text is no address.
    """
    found: list[str] = []
    for text in texts:
        if not text:
            continue
        address = canonical_address(text)
        if address is None:
            message = f"wrong_address: expected an IP address, got other text at {where}"
            raise RecordError(message)
        if address not in found:
            found.append(address)
    return found or None


def object_record_id(
    kind: str, metadata: Metadata, item: Item, watch_event: str | None, observed: Observed
) -> str:
    """Identity of one observed state: the object's version, and when it was seen.

    The same version seen again later is another record, because it says that the object was still
    there. Where no version is stated, the bytes stand for it.
    """
    version = metadata.resource_version or identity(item.data.decode("utf-8", "replace"))
    return identity(
        kind, metadata.namespace, metadata.name, metadata.uid, version, watch_event, observed.at
    )


class StatedObject:
    """What the rows of all kinds of objects begin with.

    Attributes:
        name: As stated.
        namespace: As stated; null where the kind has none.
        uid: In lower case with dashes; null if not stated.
        times: The times that were read so far.
        created_at: The creation, if stated.
    """

    def __init__(self, metadata: Metadata, item: Item, *, is_namespaced: bool = True) -> None:
        """Read the metadata of an object.

        Args:
            metadata: Metadata.
            item: The object.
            is_namespaced: Whether objects of the kind lie in a namespace.

        Raises:
            RecordError: The name or the namespace is missing, or a time is none.
        """
        where = f"{item.path}.metadata"
        self._metadata, self._item = metadata, item
        self.name = required(metadata.name, "name", f"{where}.name")
        self.namespace = metadata.namespace
        if is_namespaced:
            self.namespace = required(metadata.namespace, "namespace", f"{where}.namespace")
        self.uid = uid_text(metadata.uid) if metadata.uid else None
        self.times = StatedTimes(item.path)
        self.created_at = read_metadata(metadata, self.times)

    def deletion(self) -> datetime | None:
        """Time by which it is to be gone, if it is being deleted (`read_deletion`)."""
        return read_deletion(self._metadata, self._item.path, self.times)

    def observed(self, context: FileContext, sight: Sight) -> Observed:
        """When its state was observed, once all its times are read (`observe`)."""
        return observe(context, self.times.newest, sight)

    def record_id(self, kind: str, sight: Sight, observed: Observed) -> str:
        """Identity of the observed state of an object of this kind (`object_record_id`)."""
        return object_record_id(kind, self._metadata, self._item, sight.watch_event, observed)

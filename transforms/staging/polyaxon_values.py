"""Values that all answers of Polyaxon write alike: uuids of runs, names of other entities."""

import msgspec

from transforms.staging.json_items import whole_record_id
from transforms.staging.json_records import Item, RecordError
from transforms.staging.stored_text import name_text
from transforms.staging.values import hex_uuid


class Reference(msgspec.Struct):
    """Another run: the one cloned, or the pipeline that this one belongs to."""

    uuid: str | None = None
    kind: str | None = None


class Named(msgspec.Struct):
    """A user, queue, agent or store, which some versions name and others describe."""

    name: str | None = None
    username: str | None = None


def content_id(item: Item) -> str:
    """Id of what a record says, however the file is laid out.

    Raises:
        RecordError: It is deeper than can be written again, though just not too deep to be read.
    """
    try:
        return whole_record_id(item)
    except RecursionError:
        message = f"too_deep: expected JSON of a few levels, got too many at {item.path}"
        raise RecordError(message) from None


def run_uuid_of(text: str | None, where: str) -> str:
    """The uuid of a run as 32 hex digits.

    Args:
        text: The uuid in any spelling.
        where: Its JSON path, or in words where it should stand.

    Raises:
        RecordError: There is none, or it is no UUID.
    """
    if not text:
        message = f"no_uuid: expected {where}, got none"
        raise RecordError(message)
    uuid = hex_uuid(text)
    if uuid is None:
        message = f"wrong_uuid: expected a UUID, got other text at {where}"
        raise RecordError(message)
    return uuid


def name_of(value: str | Named | None) -> str | None:
    """The name of an entity."""
    if isinstance(value, Named):
        return name_text(value.name or value.username)
    return name_text(value)

"""Log records of OTLP JSON documents, each with the attributes of its resource.

Source: opentelemetry-proto, logs.proto, and the JSON encoding of its specification. The file
exporter of the collector writes one `LogsData` document per line.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.parser import Parsed

Parts = list[msgspec.Raw] | None


class Attributed(msgspec.Struct):
    """A resource."""

    attributes: list[Any] | None = None


class _Document(msgspec.Struct, rename="camel"):
    resource_logs: Parts = None
    resource_metrics: msgspec.Raw = msgspec.Raw()
    resource_spans: msgspec.Raw = msgspec.Raw()
    resource_profiles: msgspec.Raw = msgspec.Raw()


class _ResourceLogs(msgspec.Struct, rename="camel"):
    resource: Attributed | None = None
    scope_logs: Parts = None


class _ScopeLogs(msgspec.Struct, rename="camel"):
    log_records: Parts = None


class LogRecord(NamedTuple):
    """A log record that is not decoded yet.

    Attributes:
        item: Where it stands, and its bytes.
        resource: Attributes of its resource, as OTLP writes them.
    """

    item: Item
    resource: list[Any] | None


_DOCUMENT = msgspec.json.Decoder(_Document)
_RESOURCE_LOGS = msgspec.json.Decoder(_ResourceLogs)
_SCOPE_LOGS = msgspec.json.Decoder(_ScopeLogs)


def log_records(document: Item) -> Iterator[LogRecord | Parsed]:
    """The log records of a document in order, and what is refused or ignored on the way."""
    try:
        found = decode(_DOCUMENT, document.data, document.path)
    except RecordError as error:
        yield document.rejected(error)
        return
    if found.resource_logs is None:
        others = (found.resource_metrics, found.resource_spans, found.resource_profiles)
        if any(bytes(other) for other in others):
            yield document.ignored("other_signal")
        else:
            yield document.rejected(f"no_logs: expected {document.path}.resourceLogs, got none")
        return
    is_empty = True
    for part in _parts(document, "resourceLogs", found.resource_logs):
        for record in _of_resource(part):
            is_empty = False
            yield record
    if is_empty:
        yield document.ignored("empty")


def _parts(item: Item, name: str, parts: Parts) -> Iterator[Item]:
    for index, part in enumerate(parts or ()):
        yield item.part(f".{name}[{index}]", bytes(part))


def _of_resource(item: Item) -> Iterator[LogRecord | Parsed]:
    try:
        logs = decode(_RESOURCE_LOGS, item.data, item.path)
    except RecordError as error:
        yield item.rejected(error)
        return
    resource = logs.resource.attributes if logs.resource else None
    for part in _parts(item, "scopeLogs", logs.scope_logs):
        try:
            scope = decode(_SCOPE_LOGS, part.data, part.path)
        except RecordError as error:
            yield part.rejected(error)
            continue
        for record in _parts(part, "logRecords", scope.log_records):
            yield LogRecord(record, resource)

"""What clouds put around log lines on their way: CloudWatch, Cloud Logging, Azure Monitor."""

import base64
import binascii
import zlib
from collections.abc import Iterator

import msgspec

from transforms.staging.line_pieces import Piece
from transforms.staging.wrapper_content import Inner, Peeled, compact, content, one, placed
from transforms.staging.wrapper_fields import (
    Fields,
    fields,
    is_object,
    is_text,
    items,
    label_names,
    name,
    text,
    time_in,
    value,
    wrapper,
)

MAX_INFLATED = 32 << 20
"""Bytes of a compressed message; CloudWatch packs at most 1 MiB."""

_GOOGLE_NODE = "compute.googleapis.com/resource_name"


def cloudwatch(data: bytes, found: Fields) -> Peeled | None:
    """What a subscription filter of CloudWatch sends: a batch of one log stream."""
    if "messageType" not in found and "logGroup" not in found:
        return None
    listed = items(found["logEvents"])
    if listed is None:
        return None
    if text(found.get("messageType")) == "CONTROL_MESSAGE":
        return one("cloudwatch", Inner(b"", left_out="control_message"))
    source = f"{text(found.get('logGroup'))}{chr(31)}{text(found.get('logStream'))}"[:1_100]
    return Peeled("cloudwatch", is_sure=True, inner=_log_events(data, listed, source))


def _log_events(data: bytes, listed: list[msgspec.Raw], source: str) -> Iterator[Inner]:
    for index, (item, at) in placed(data, listed):
        found = fields(item) or {}
        step = f".logEvents[{index}].message"
        if "message" not in found:
            missing = "no_message: expected an event with a message, got none"
            yield Inner(b"", step=step, at=at, problem=missing)
            continue
        record, problem = content(found["message"])
        said = wrapper(time_in(found, ("timestamp",), "ms"))
        yield Inner(record, said, step, at, source, problem=problem)


def lambda_event(_data: bytes, found: Fields) -> Peeled | None:
    """What a function gets from CloudWatch: the subscription's object, packed."""
    packed = text((fields(found["awslogs"]) or {}).get("data"))
    if packed is None:
        return None
    try:
        unpacked = _inflated(base64.b64decode(packed, validate=True))
    except (binascii.Error, ValueError, zlib.error):
        problem = "damaged: expected a gzip stream as base64, got another text"
        return one("lambda", Inner(b"", problem=problem))
    if unpacked is None:
        problem = f"too_large: expected at most {MAX_INFLATED} bytes in a packed message"
        return one("lambda", Inner(b"", problem=problem))
    return one("lambda", Inner(unpacked.strip()))


def _inflated(packed: bytes) -> bytes | None:
    """Decompress a gzip stream; none where it is too large."""
    stream = zlib.decompressobj(wbits=31)
    unpacked = stream.decompress(packed, MAX_INFLATED)
    if stream.unconsumed_tail:
        return None
    if not stream.eof:
        raise zlib.error
    return unpacked


def log_entry(_data: bytes, found: Fields) -> Peeled | None:
    """An entry of Cloud Logging with a text or an object; audit entries hold neither."""
    key = next((k for k in ("textPayload", "jsonPayload") if k in found), None)
    if key is None or found.keys().isdisjoint({"logName", "insertId", "resource"}):
        return None
    record, problem = content(found[key])
    labels = value((fields(found.get("resource")) or {}).get("labels"))
    labels = labels if isinstance(labels, dict) else {}
    entry_labels = fields(found.get("labels")) or {}
    log = text(found.get("logName")) or ""
    names = label_names(labels)
    names["node"] = name(text(entry_labels.get(_GOOGLE_NODE)), names["node"])
    said = wrapper(time_in(found, ("timestamp",)), log.rpartition("/")[2], **names)
    source = chr(31).join([log[:512], *(f"{labels[k]}"[:255] for k in sorted(labels)[:20])])
    piece = _split(fields(found.get("split")))
    inner = Inner(record, said, source=source, piece=piece, problem=problem)
    return one(f"log_entry.{key}", inner, is_sure=False)


def _split(found: Fields | None) -> Piece | None:
    """The piece of an entry that Cloud Logging split."""
    if found is None:
        return None
    index, total = value(found.get("index")) or 0, value(found.get("totalSplits"))
    if not isinstance(index, int) or not isinstance(total, int):
        return None
    return Piece(index + 1 == total, (text(found.get("uid")) or "")[:128], index + 1)


def azure_records(data: bytes, found: Fields) -> Peeled | None:
    """The batch that Azure Monitor sends to an event hub or a storage account."""
    listed = items(found["records"])
    if listed is None or (listed and not is_object(listed[0])):
        return None
    inner = (
        Inner(compact(item), step=f".records[{index}]", at=at)
        for index, (item, at) in placed(data, listed)
    )
    return Peeled("azure_records", is_sure=False, inner=inner)


def azure_properties(_data: bytes, found: Fields) -> Peeled | None:
    """A resource log whose properties hold a log line, such as those of AKS."""
    if found.keys().isdisjoint({"category", "Category", "resourceId"}):
        return None
    raw: bytes | msgspec.Raw = found["properties"]
    if is_text(found["properties"]):
        raw = (text(found["properties"]) or "").encode("utf-8", "replace")
    properties = fields(raw) or {}
    if "log" not in properties:
        return None
    record, problem = content(properties["log"])
    said = wrapper(
        time_in(found, ("time", "TimeGenerated")),
        text(properties.get("stream")),
        pod_name=name(text(properties.get("pod"))),
    )
    source = chr(31).join(
        (text(properties.get(key)) or "")[:255] for key in ("stream", "pod", "containerID")
    )
    return one("azure_properties", Inner(record, said, source=source, problem=problem))

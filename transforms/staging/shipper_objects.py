"""Objects that runtimes, log shippers and agents put around a line: one line an object."""

import msgspec

from transforms.staging.line_pieces import Piece
from transforms.staging.parser import Wrapper
from transforms.staging.wrapper_content import Inner, Peeled, content, one
from transforms.staging.wrapper_fields import (
    Fields,
    fields,
    is_array,
    is_object,
    is_text,
    name,
    text,
    time_in,
    uid,
    value,
    wrapper,
)

DOCKER_PIECE = 16_384
"""Docker cuts at this many bytes; a shorter text without a line end is whole."""
TIME_KEYS = ("time", "timestamp", "@timestamp", "date")

_DOCKER_KEYS = frozenset({"log", "stream", "time", "attrs"})
_SHIPPER_MARKS = frozenset({"kubernetes", "_p", "logtag", "partial_message", "_partial", "docker"})
_TEXT_KEYS = ("log", "message")
_OBJECT_KEYS = ("message", "log", "log_processed", "structured", "json")
_AZURE_TEXT_KEYS = ("LogMessage", "LogEntry")


def shipper(found: Fields) -> Peeled | None:
    """A line of Docker's json-file, or the object that a log shipper makes of a line."""
    key = next((k for k in _TEXT_KEYS if k in found and is_text(found[k])), None)
    if key is None:
        key = next((k for k in _OBJECT_KEYS if is_object(found.get(k))), None)
    if key is None:
        return None
    data, problem = content(found[key])
    stream = text(found.get("stream"))
    is_docker = key == "log" and found.keys() <= _DOCKER_KEYS and len(found) > 1
    has_mark = not found.keys().isdisjoint(_SHIPPER_MARKS) or stream in {"stdout", "stderr"}
    kind = "docker" if is_docker else f"shipper.{key}"
    said = wrapper(time_in(found, TIME_KEYS), stream, **_kubernetes(found.get("kubernetes")))
    piece = _piece(found, data, raw=found[key], is_docker=is_docker)
    inner = Inner(data, said, source=_source(found, said, stream), piece=piece, problem=problem)
    return one(kind, inner, is_sure=is_docker or has_mark)


def container_log(_data: bytes, found: Fields) -> Peeled | None:
    """A line of ContainerLog or ContainerLogV2 of Azure Monitor."""
    key = next((k for k in _AZURE_TEXT_KEYS if k in found), None)
    if key is None or is_array(found[key]):
        return None
    record, problem = content(found[key])
    said = wrapper(
        time_in(found, ("TimeGenerated", "TimeOfCommand")),
        text(found.get("LogSource")) or text(found.get("LogEntrySource")),
        node=name(text(found.get("Computer"))),
        namespace=name(text(found.get("PodNamespace"))),
        pod_name=name(text(found.get("PodName"))),
        container=name(text(found.get("ContainerName"))),
    )
    container = text(found.get("ContainerId")) or text(found.get("ContainerID")) or ""
    source = f"{said.stream} {container[:128]}"
    return one("azure_log", Inner(record, said, source=source, problem=problem))


def _piece(found: Fields, data: bytes, raw: msgspec.Raw, *, is_docker: bool) -> Piece | None:
    if is_docker:
        has_end = memoryview(raw)[-3:].tobytes() == b'\\n"'
        return Piece() if not has_end and len(data) >= DOCKER_PIECE else None
    if "partial_message" in found or "partial_id" in found:
        if not _is_true(found.get("partial_message")) and "partial_id" not in found:
            return None
        ordinal = value(found.get("partial_ordinal"))
        number = int(ordinal) if isinstance(ordinal, int | str) and _is_small(ordinal) else None
        is_last = _is_true(found.get("partial_last"))
        return Piece(is_last, (text(found.get("partial_id")) or "")[:128], number)
    tag = text(found.get("_p")) or text(found.get("logtag")) or ""
    return Piece() if tag.partition(":")[0] == "P" or _is_true(found.get("_partial")) else None


def _is_true(raw: msgspec.Raw | None) -> bool:
    return value(raw) in (True, "true")


def _is_small(number: int | str) -> bool:
    return len(str(number)) <= 6 and str(number).isdecimal()


def _kubernetes(raw: msgspec.Raw | None) -> dict[str, str | None]:
    """Node and pod as Fluent Bit, Fluentd, Vector and Filebeat state them."""
    found = fields(raw)
    if found is None:
        return {}
    node, pod, container = (fields(found.get(key)) or {} for key in ("node", "pod", "container"))

    def stated(key: str) -> str | None:
        return text(found.get(key))

    return {
        "node": name(stated("host"), stated("pod_node_name"), text(node.get("name"))),
        "namespace": name(stated("namespace_name"), stated("pod_namespace"), stated("namespace")),
        "pod_name": name(stated("pod_name"), text(pod.get("name"))),
        "pod_uid": uid(stated("pod_id"), stated("pod_uid"), text(pod.get("uid"))),
        "container": name(stated("container_name"), text(container.get("name"))),
    }


def _source(found: Fields, said: Wrapper, stream: str | None) -> str:
    """What writes the lines: the stream of one container."""
    kubernetes = fields(found.get("kubernetes")) or {}
    log = fields(found.get("log")) or {}
    file = fields(log.get("file")) or {}
    parts = (
        stream,
        said.node,
        said.pod_uid,
        said.namespace,
        said.pod_name,
        said.container,
        text(kubernetes.get("docker_id")) or text(kubernetes.get("container_id")),
        text(found.get("container_id")),
        text(found.get("file")) or text(found.get("filename")) or text(file.get("path")),
    )
    return chr(31).join((part or "")[:512] for part in parts)

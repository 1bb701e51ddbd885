"""CoreDNS lines that are JSON: its own (`-log-format=json`), and formats that users write as JSON.

Sources: coredns/coredns pull request 8553, which names the fields of a query record (`client_ip`,
`qname`, `qtype`, `rcode`, `duration_seconds`; a query without a response has the code null) and
keeps the formatted line in `msg`, with the time and level of Go's slog; issues 4460 and 4564 on
formats such as `{"client": "{remote}", "asked": "{name}"}`.

A record is read by what it surely is: by the keys of the stated format, by the line in `msg`, or by
keys that are named as CoreDNS names the values.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from transforms.staging.coredns_format import VALUES, text_at
from transforms.staging.refusal import refuse
from transforms.staging.wrapper_fields import name

Keys = Mapping[tuple[str, ...], re.Pattern[str]]

_NAMED = {
    "remote": ("client_ip", "remote"),
    "port": ("client_port", "port"),
    "local": ("local",),
    "id": ("id", ">id"),
    "type": ("qtype", "type"),
    "class": ("qclass", "class"),
    "name": ("qname", "name"),
    "proto": ("proto",),
    "rcode": ("rcode",),
    "rflags": ("rflags", ">rflags"),
    "rsize": ("rsize",),
    "duration": ("duration",),
    "opcode": ("opcode", ">opcode"),
}
"""Value → keys that say it: those of CoreDNS's own records, and the names of placeholders."""
_TIMES = ("time", "timestamp", "@timestamp", "date")


class JsonLine(NamedTuple):
    """A JSON line, read.

    Attributes:
        fields: Group → text of the values that it has; none where `msg` is the line.
        msg: The line in it.
        plugin: Plugin that wrote it; empty where CoreDNS itself did.
        stamp: Its own time.
        node: Node, where a log shipper that took the line apart says it.
    """

    fields: dict[str, str] | None
    msg: str | None
    plugin: str | None
    stamp: str | None
    node: str | None


def read_json_line(text: str, keys: Keys) -> JsonLine | None:
    """Read a line that is a JSON object; none where it is no such line, or none that is known.

    Args:
        text: The line, without prefix.
        keys: Keys of the stated format; empty where it is no JSON.

    Raises:
        RefusedError: A value is none that its key can have.
    """
    if not text.startswith("{"):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    stamp = next((value[key] for key in _TIMES if isinstance(value.get(key), str)), None)
    node = _node(value.get("kubernetes"))
    fields = _stated(value, keys)
    if fields is not None:
        return JsonLine(fields, None, None, stamp, node)
    msg, plugin = _text(value, "msg"), _text(value, "plugin") or ""
    is_asked = _named(value, "remote") and _named(value, "name") and _has(value, "type")
    if is_asked and plugin in {"log", ""}:
        return JsonLine(_by_name(value), msg, "log", stamp, node)
    if msg is None or _text(value, "level") is None:
        return None
    return JsonLine(None, msg, plugin, stamp, node)


def _node(kubernetes: object) -> str | None:
    """The node in the metadata that Fluent Bit, Vector and Filebeat add."""
    if not isinstance(kubernetes, dict):
        return None
    node = kubernetes.get("node")
    named = node.get("name") if isinstance(node, dict) else None
    return name(kubernetes.get("host"), kubernetes.get("pod_node_name"), named)


def _stated(value: dict[str, Any], keys: Keys) -> dict[str, str] | None:
    """Values by the stated format; none where a key is missing or holds another text."""
    fields: dict[str, str] = {}
    for path, pattern in keys.items():
        text = text_at(value, path)
        match = pattern.fullmatch(text) if text is not None else None
        if match is None:
            return None
        fields.update(match.groupdict())
    return fields if "name" in fields else None


def _by_name(value: dict[str, Any]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for group in _NAMED:
        text = "-" if group == "rcode" and _is_null(value, group) else _named(value, group)
        if text is None:
            continue
        if VALUES[group].fullmatch(text) is None:
            refuse(group, "a value as CoreDNS writes it", text)
        fields[group] = text
    seconds = value.get("duration_seconds")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool):
        if abs(seconds) > 10**9:
            refuse("duration", "a number of seconds", seconds)
        fields["duration"] = f"{seconds:.9f}s"
    return fields


def _named(value: dict[str, Any], group: str) -> str | None:
    """The first text or number under the keys of a value, in CoreDNS's spelling."""
    for key in _NAMED[group]:
        text = text_at(value, (key,))
        if text is not None:
            return text
    return None


def _has(value: dict[str, Any], group: str) -> bool:
    return any(isinstance(value.get(key), str) for key in _NAMED[group])


def _is_null(value: dict[str, Any], group: str) -> bool:
    return all(value.get(key) is None for key in _NAMED[group]) and any(
        key in value for key in _NAMED[group]
    )


def _text(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) else None

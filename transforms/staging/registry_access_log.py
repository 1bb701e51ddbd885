r"""Logs of image registries: CNCF distribution's, and those of Harbor, which wraps it.

Sources: distribution/distribution, registry/handlers/app.go and internal/dcontext (`response
completed` with its `http.*` fields); gorilla/handlers (Apache's combined form); goharbor/harbor,
make/photon/prepare/templates/nginx (`timed_combined`) and src/pkg/audit (audit log).

* distribution writes a request twice: Apache's combined form on its output (`access`, whole
  seconds), and `response completed` in its own log (`application`, text or JSON), which alone has
  the host, a duration and a user. Harbor's nginx writes it a third time (`proxy`), without a time
  and a user: the time is that of the wrapper or of syslog. Harbor's audit log knows user and digest
  but no bytes.
* A registry whose storage is an object store answers a read of a blob by a redirect (307): the
  bytes never pass the registry.
* Lines of other things (authorisation, start, web pages of Harbor) are ignored.
* Syslog writes no year: it is that in which the time is at most a day behind the landing day.
* The registry's own host stands only in `response completed`; `record_format: registry=HOST` states
  it for the others.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from transforms.staging import request_fields as f
from transforms.staging.go_durations import seconds_of_go_duration
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_lookups import recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.logrus_text import is_logrus, logrus_fields
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    Row,
    Wrapper,
)
from transforms.staging.refusal import refuse
from transforms.staging.registry_paths import Asked, asked, digest
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.text_or_json import MAX_LINE, parse_text_or_json
from transforms.staging.values import identity, parse_instant

TABLE = "registry_requests"
HEAD_LINES = 20
SHOWN_KEYS = frozenset(
    {
        b"time", b"level", b"http.request.method", b"http.response.status", b"op_time",
        b"operation", b"resource_type",
    }
)  # fmt: skip
"""Keys of a refused record whose text an excerpt may show."""

_TEXT = r'"((?:[^"\\]|\\.)*+)"'
_COMBINED = re.compile(
    rf"(?P<address>\S+) \S+ (?P<user>\S+) \[(?P<time>[^\]]{{1,40}})\] {_TEXT}"
    rf" (?P<status>\d{{3}}|-) (?P<bytes>\d+|-)(?: {_TEXT} {_TEXT})?\s*"
)
_TIMED = re.compile(
    rf"(?P<address>\S+) - {_TEXT} (?P<status>\d{{3}}|-) (?P<bytes>\d+|-) {_TEXT} {_TEXT}"
    r" (?P<seconds>[0-9.]+|-) (?P<upstream>[0-9., :-]+) [.p]\s*"
)
_SYSLOG = re.compile(
    r"(?:<\d{1,3}>)?(?:(?P<short>[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d)"
    r"|(?P<full>\d{4}-\d\d-\d\dT[0-9:.+Z-]{8,30})) \S{1,255} [\w./-]{1,64}(?:\[\d{1,10}\])?: "
)
_APACHE_TIME = "%d/%b/%Y:%H:%M:%S %z"
_STATED = re.compile(r"registry=([A-Za-z0-9.-]{1,255}(?::\d{1,5})?)")
_COMPLETED = ("response completed", "response completed with error")
_AUDIT_KEYS = frozenset({"resource", "resource_type", "operation", "op_time"})
_AUDITED = {"pull": "read", "create": "write", "push": "write", "delete": "delete"}
_RESOURCE = re.compile(r"(?P<name>[^@\s]{1,500}?)(?:@|:(?=sha256:))(?P<digest>\S{1,140})")
_TAGGED = re.compile(r"(?P<name>[^@\s]{1,500}?)(?::(?P<tag>[\w.-]{1,128}))?")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_text_or_json(records, context, _read, _read_line, SHOWN_KEYS)


def _read_line(text: str, wrapper: Wrapper | None, context: FileContext) -> tuple[Row, ...] | str:
    found = _row_of_text(text, wrapper, context)
    if isinstance(found, str):
        return found
    return ((TABLE, found | {"record_id": _record_id(text, wrapper)}),)


def _record_id(text: str, wrapper: Wrapper | None) -> str:
    """Id of a record: itself with the time, node and pod that its wrapper supplied, if any."""
    said = wrapper or Wrapper()
    supplied = (said.written, said.node, said.namespace, said.pod_name)
    return identity(text, *supplied) if any(supplied) else identity(text)


def _row_of_text(text: str, wrapper: Wrapper | None, context: FileContext) -> dict[str, Any] | str:
    """The row of a line, or the word for which it is left out.

    Raises:
        RefusedError: It is no line of a registry, or a value is none that its field can have.
    """
    syslog = _SYSLOG.match(text)
    line = text[syslog.end() :] if syslog else text
    fields = logrus_fields(line)
    if fields is not None:
        return _application(fields, wrapper, context)
    match = _COMBINED.fullmatch(line)
    if match is not None:
        return _combined(match, context)
    match = _TIMED.fullmatch(line)
    if match is not None:
        at = _syslog_time(syslog, context) if syslog else None
        return _timed(match, at or (wrapper.at if wrapper else None), context)
    if syslog is None or is_logrus(line):
        refuse("unreadable_line", "a request in the combined form, or fields of logrus")
    return "other_line"


def _combined(match: re.Match[str], context: FileContext) -> dict[str, Any] | str:
    method, uri = _request_line(match[4])
    wanted = asked(method, uri)
    if wanted is None:
        return "other_request"
    try:
        event_at = datetime.strptime(match["time"], _APACHE_TIME).astimezone(UTC)
    except (ValueError, OverflowError):
        refuse("no_time", "a time such as 10/Mar/2026:12:00:01 +0000", match["time"])
    agent = free_text(_dash(match[8]))
    return {
        "event_at": event_at,
        "provider": "distribution",
        "log_kind": "access",
        "registry": _stated_registry(context),
        **_asked_columns(wanted, method, _status(match["status"])),
        "response_bytes": f.whole(_dash(match["bytes"]), "bytes"),
        "client_address": f.address_if_any(match["address"].strip("[]")),
        "principal": name_text(_dash(match["user"])),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "region": context.region,
    }


def _timed(
    match: re.Match[str], event_at: datetime | None, context: FileContext
) -> dict[str, Any] | str:
    method, uri = _request_line(match[2])
    wanted = asked(method, uri)
    if wanted is None:
        return "other_request"
    if event_at is None:
        refuse("no_time", "the time of a log driver around the line")
    agent = free_text(_dash(match[6]))
    return {
        "event_at": event_at,
        "provider": "harbor",
        "log_kind": "proxy",
        "registry": _stated_registry(context),
        **_asked_columns(wanted, method, _status(match["status"])),
        "response_bytes": f.whole(_dash(match["bytes"]), "bytes"),
        "duration_seconds": _seconds(match["seconds"]),
        "upstream_seconds": _seconds(*re.split("[,:]", match["upstream"])),
        "client_address": f.address_if_any(match["address"]),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "region": context.region,
    }


def _application(
    fields: Mapping[str, Any], wrapper: Wrapper | None, context: FileContext
) -> dict[str, Any] | str:
    """A line of distribution's own log, by the names of its fields."""
    if fields.get("msg") not in _COMPLETED:
        return "other_line"
    method = f.method(_text(fields, "http.request.method"))
    wanted = asked(method, _text(fields, "http.request.uri") or "")
    if wanted is None:
        return "other_request"
    stated = _text(fields, "time")
    event_at = parse_instant(stated) if stated else (wrapper.at if wrapper else None)
    if event_at is None:
        refuse("no_time", "an RFC 3339 time", stated)
    agent = free_text(_text(fields, "http.request.useragent"))
    status = f.status(fields.get("http.response.status"))
    return {
        "event_at": event_at,
        "provider": "distribution",
        "log_kind": "application",
        "registry": f.host(_text(fields, "http.request.host")) or _stated_registry(context),
        **_asked_columns(wanted, method, status),
        "error": name_text(_text(fields, "err.code")),
        "response_bytes": f.whole(fields.get("http.response.written"), "written"),
        "duration_seconds": _duration(fields.get("http.response.duration")),
        "client_address": _remote(_text(fields, "http.request.remoteaddr")),
        "principal": name_text(_text(fields, "auth.user.name")),
        "user_agent": agent,
        "app_id": f.app_id(agent),
        "request_id": name_text(_text(fields, "http.request.id")),
        "region": context.region,
    }


def _read(wrapper: Wrapper | None, item: Item, context: FileContext) -> tuple[Row, ...] | str:
    fields = decode(_OBJECT, item.data, item.path)
    if fields.keys() >= _AUDIT_KEYS:
        found: dict[str, Any] | str = _audited(fields, context)
    elif "msg" in fields or "http.request.uri" in fields:
        found = _application(fields, wrapper, context)
    else:
        refuse("no_request", "keys such as http.request.uri, or op_time and resource")
    if isinstance(found, str):
        return found
    record_id = _record_id(whole_record_id(item), wrapper)
    return ((TABLE, found | {"record_id": record_id}),)


def _audited(fields: Mapping[str, Any], context: FileContext) -> dict[str, Any] | str:
    """A record of Harbor's audit log."""
    if _text(fields, "resource_type") != "artifact":
        return "other_resource"
    stated = _text(fields, "op_time")
    event_at = parse_instant(stated) if stated else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in op_time", stated)
    name, reference = _resource(_text(fields, "resource") or "")
    operation = _text(fields, "operation") or "unknown"
    is_done = fields.get("operation_result")
    return {
        "event_at": event_at,
        "provider": "harbor",
        "log_kind": "audit",
        "registry": _stated_registry(context),
        "repository": name_text(name),
        "reference": name_text(reference),
        "digest": digest(reference),
        "target": "manifest",
        "operation": _AUDITED.get(operation.partition("_")[0], "other"),
        "operation_name": name_text(operation),
        "error": "failed" if is_done is False else None,
        "principal": name_text(_text(fields, "username")),
        "client_address": f.address_if_any(_text(fields, "client_ip")),
        "region": context.region,
    }


def _resource(text: str) -> tuple[str | None, str | None]:
    """Repository and reference of `ml/trainer@sha256:…`, `ml/trainer:sha256:…`, `ml/trainer:1`."""
    match = _RESOURCE.fullmatch(text)
    if match is not None:
        return match["name"], match["digest"]
    match = _TAGGED.fullmatch(text)
    return (match["name"], match["tag"]) if match else (None, None)


def _asked_columns(wanted: Asked, method: str | None, status: int | None) -> dict[str, Any]:
    return {
        **wanted._asdict(),
        "operation_name": method or "unknown",
        "http_method": method,
        "status": status,
        "is_redirected": _is_redirected(wanted, status),
    }


def _is_redirected(wanted: Asked, status: int | None) -> bool | None:
    if wanted.target != "blob" or wanted.operation not in {"read", "head"}:
        return None
    return True if status in _REDIRECTS else False if status in {200, 206} else None


def _request_line(text: str) -> tuple[str | None, str]:
    """Method and path of `GET /v2/ HTTP/1.1`; a path may hold blanks."""
    method, _, rest = text.partition(" ")
    uri, blank, protocol = rest.rpartition(" ")
    return f.method(method), uri if blank and protocol.startswith("HTTP/") else rest


def _syslog_time(match: re.Match[str], context: FileContext) -> datetime | None:
    if match["full"]:
        return parse_instant(match["full"])
    day = context.landing_date
    latest = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=2)
    for year in (day.year + 1, day.year, day.year - 1):
        try:
            at = datetime.strptime(f"{year} {match['short']} +0000", "%Y %b %d %H:%M:%S %z")
        except ValueError:
            continue
        if at < latest:
            return at.astimezone(UTC)
    return None


def _expected_form(stated: str) -> str | None:
    match = _STATED.fullmatch(stated)
    is_host = match is not None and f.host(match[1]) is not None
    return None if is_host else "registry=HOST, such as registry=registry.example.com"


def _stated_registry(context: FileContext) -> str | None:
    match = _STATED.fullmatch(context.record_format or "")
    return f.host(match[1]) if match else None


def _remote(stated: str | None) -> str | None:
    """Address of `192.0.2.1:443`, or of what a proxy in front states without a port."""
    if not stated:
        return None
    place, colon, port = stated.rpartition(":")
    is_split = colon and port.isdigit() and (":" not in place or place[-1:] == "]")
    return f.address_if_any(place.strip("[]") if is_split else stated)


def _status(text: str) -> int | None:
    return f.status(_dash(text))


def _dash(text: str | None) -> str | None:
    return None if text in {None, "", "-"} else text


def _seconds(*texts: str) -> float | None:
    """Seconds with thousandths, summed exactly; null where one is no number."""
    milliseconds = 0
    for text in texts:
        match = re.fullmatch(r"\s*([0-9]{1,7})\.([0-9]{3})\s*", text)
        if match is None:
            return None
        milliseconds += int(match[1]) * 1_000 + int(match[2])
    return f.seconds(milliseconds, 1_000)


def _duration(stated: object) -> float | None:
    """A duration of Go, as text or in nanoseconds."""
    if isinstance(stated, str):
        return f.seconds(seconds_of_go_duration(stated), 1)
    return f.duration(stated, "duration", 1_000_000_000)


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        refuse("wrong_value", f"a text in {name}", value)
    return value or None


def _recognise(head: bytes) -> Recognition:
    for line in head.split(b"\n")[:HEAD_LINES]:
        text = line[:MAX_LINE].decode("utf-8", "replace")
        variant = _variant_of_text(text)
        if variant is not None:
            return Recognition(3, variant)
    return recognise_records(head, _variant)


def _variant_of_text(text: str) -> str | None:
    syslog = _SYSLOG.match(text)
    line = text[syslog.end() :] if syslog else text
    if is_logrus(line):
        fields = logrus_fields(line) or {}
        return "distribution, text" if _is_completed(fields) else None
    for form, group, variant in ((_COMBINED, 4, "combined form"), (_TIMED, 2, "Harbor's nginx")):
        match = form.fullmatch(line)
        if match is not None and _request_line(match[group])[1].startswith("/v2/"):
            return variant
    return None


def _is_completed(fields: Mapping[str, Any]) -> bool:
    return fields.get("msg") in _COMPLETED and "http.request.uri" in fields


def _variant(fields: dict[str, Any]) -> str | None:
    if fields.keys() >= _AUDIT_KEYS:
        return "Harbor's audit log"
    return "distribution, JSON" if _is_completed(fields) else None


PARSER = Parser(
    name="registry_access_log",
    title="Image registries: distribution and Harbor",
    tables=(TABLE,),
    shape="json",
    record="one line or object: one request, as one of the registry's logs tells it",
    cannot_tell=(
        "bytes of blobs that the client fetched from object storage behind a redirect; the pod or "
        "node behind an address that is shared; the registry's host, in lines of the combined form "
        "and of Harbor; bytes, in Harbor's audit log; the user, in Harbor's nginx log"
    ),
    recognise=_recognise,
    parse=_parse,
    expected_form=_expected_form,
    optional_columns=(
        "registry", "digest", "response_bytes", "duration_seconds", "client_address", "principal",
    ),
)  # fmt: skip

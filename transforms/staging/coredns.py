r"""CoreDNS `log` plugin: one line per query that the server answered or gave up.

Source: coredns/coredns, plugin/log and plugin/pkg/replacer; lines of versions 1.0 to 1.14.

* The line has no answers, no resolver and, since 1.6.3, no time. Time comes from the wrapper (CRI,
  Docker, log shipper, `kubectl logs --timestamps`) or, before 1.6.3, from the line. A look-up
  without either is refused as `no_time`.
* CoreDNS writes the line after the response, so `event_at` of a response is the time of the line.
  A query without a response (`- - 0 6.0s`; up to 1.8.4 `NOERROR - 0 6.0s`) stands at the time at
  which it came, the time of the line less the duration; it has no latency.
* `{name}` is printed in lower case with a final dot and with escapes, which stay.
* A retry and the TCP query after a truncated UDP answer are queries of their own and stay rows.
* Lines of other plugins, the banner and klog lines are CoreDNS's own words but no look-ups; they
  are ignored with a reason. So are the self-test of the loop plugin and queries of other classes
  or operations than a look-up in `IN`.
* `client_address` is the node's where a node-local cache or address translation stands between.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from transforms.staging.coredns_format import COMBINED, COMMON, MAX_LINE, pattern_of
from transforms.staging.dns_names import MAX_NAME, asked_name, query_type, rcode_name
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    accepted,
    ignored,
)
from transforms.staging.refusal import RefusedError, refuse, shown
from transforms.staging.search_suffix import without_search_suffix
from transforms.staging.values import canonical_address, identity, parse_instant
from transforms.staging.wrappers import Unwrapped, refused_line, unwrap

TABLE = "dns_lookups"
HEAD_LINES = 200
"""Lines of a head that are judged."""

_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:Z|[+-]\d\d:\d\d)"
_PREFIX = re.compile(
    r"(?:\[pod/[^\]\s]{1,600}\] )?"  # kubectl logs --prefix
    rf"(?:(?P<first>{_STAMP}) )?(?:(?P<second>{_STAMP}) )?"
    r"(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )?"  # Go's date up to 1.0, without a zone
    r"(?:\[(?P<level>DEBUG|INFO|WARNING|ERROR|FATAL)\] )?",
    re.ASCII,
)
_DEFAULTS = (pattern_of(COMMON), pattern_of(COMBINED))
_LOOKS_ASKED = re.compile(r'\[?[0-9A-Fa-f.:%a-z]{2,60}\]?:\d{1,5}\b|.{0,300}"')
"""A line that begins with a client or holds a quoted part was meant to be a look-up."""
_PLUGIN = re.compile(r"plugin/([a-z0-9_]{1,40}): ")
_SERVER = re.compile(
    r"SIGTERM: |SIGINT: |SIGUSR1: |SIGQUIT: |Reloading\b|Restart |Shutting down|Running config"
    r"|No files matching |Caddy |Corefile |Starting |Successfully |Failed to |ready: |Serving "
    r"|Still waiting |Trapped |Unable to "
)
_BANNER = re.compile(
    r"(?:[a-z+]{3,8}://)?[^\s\"]{0,300}\.:\d{1,5}(?: on \S{1,45})?\Z"
    r"|CoreDNS-\d+\.\d+\.\S{1,30}\Z|[a-z]{3,10}/[a-z0-9]{3,10}, go\d+\.\S{1,60}(?: \S{0,40})?\Z"
    r"|maxprocs: "
)
_KLOG = re.compile(r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{3,9} +\d+ [\w./-]{1,100}:\d+\] ")
_LOOP_NAME = re.compile(r"\d{5,20}\.\d{5,20}(?:\.|\Z)")
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_MAX_DURATION_SECONDS = 86_400.0


@dataclass(frozen=True)
class _Line:
    """A look-up line, read.

    Attributes:
        fields: Group → text of the placeholders that the format has.
        stamp: Time in the line itself.
    """

    fields: dict[str, str]
    stamp: str | None


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    patterns: tuple[re.Pattern[str], ...] = _DEFAULTS
    if context.record_format is not None:
        stated = pattern_of(context.record_format)
        patterns = (stated, *_DEFAULTS) if "name" in stated.groupindex else ()
    for item in unwrap(records):
        if item.verdict is not None:
            yield item.verdict
        elif not patterns:
            reason = "record_format: expected a placeholder {name}, got none"
            yield refused_line(item.raw, reason)
        else:
            yield _parse_line(item, patterns, context)


def _parse_line(
    item: Unwrapped, patterns: tuple[re.Pattern[str], ...], context: FileContext
) -> Parsed:
    line = _read(item.text, patterns)
    if line is None:
        reason = _not_asked(item.text)
        if reason is not None:
            return ignored(item.raw, reason)
        return refused_line(item.raw, _unreadable(item.text))
    try:
        left_out = _left_out(line.fields)
        if left_out is not None:
            return ignored(item.raw, left_out)
        row = _row(line, item, context)
    except RefusedError as error:
        return refused_line(item.raw, error)
    return accepted(item.raw, (TABLE, row))


def _unreadable(text: str) -> str:
    if len(text) > MAX_LINE:
        return f"unreadable_line: expected at most {MAX_LINE} characters, got {len(text)}"
    return (
        "unreadable_line: expected the common or combined form or that of record_format, "
        f"got {shown(text)}"
    )


def _read(text: str, patterns: tuple[re.Pattern[str], ...]) -> _Line | None:
    """Read a look-up line; none where it is no such line."""
    if len(text) > MAX_LINE:
        return None
    prefix = _PREFIX.match(text)
    if prefix is None:
        return None
    body = text[prefix.end() :].rstrip()
    for pattern in patterns:
        match = pattern.fullmatch(body)
        if match is not None:
            return _Line(match.groupdict(), prefix["second"] or prefix["first"])
    return None


def _not_asked(text: str) -> str | None:
    """Why a line that is no look-up is left out; none where it is not known as CoreDNS's own."""
    prefix = _PREFIX.match(text[:MAX_LINE])
    body = text[prefix.end() : MAX_LINE].rstrip() if prefix else text[:MAX_LINE].rstrip()
    if prefix is not None and prefix["level"]:
        plugin = _PLUGIN.match(body)
        if plugin is not None:
            return f"plugin_{plugin[1]}" if plugin[1] in {"errors", "reload"} else "plugin"
        if _SERVER.match(body) and not _LOOKS_ASKED.match(body):
            return "server"
        return None
    if _BANNER.match(body):
        return "banner"
    return "klog" if _KLOG.match(body) else None


def _left_out(fields: dict[str, str]) -> str | None:
    """Why a look-up line is left out by rule."""
    if fields.get("class", "IN") not in {"IN", ""}:
        return "other_class"
    if fields.get("opcode", "0") not in {"0", "-"}:
        return "other_operation"
    client = fields.get("remote", "").strip("[]")
    is_own = client in {"127.0.0.1", "::1"}
    if is_own and fields.get("type") == "HINFO" and _LOOP_NAME.match(fields["name"]):
        return "loop_probe"
    return None


def _row(line: _Line, item: Unwrapped, context: FileContext) -> dict[str, Any]:
    fields = line.fields
    if len(fields["name"]) > MAX_NAME:
        refuse("name", f"at most {MAX_NAME} characters", fields["name"])
    written_at = item.wrapped_at or (parse_instant(line.stamp) if line.stamp else None)
    if written_at is None:
        refuse("no_time", "a time from the wrapper or in the line", None)
    rcode = _rcode(fields)
    duration = _seconds(fields.get("duration", "-"))
    asked = asked_name(fields["name"])
    namespace = _stated(fields, "namespace")
    return {
        "record_id": identity(item.stamp, item.node or context.node, item.text),
        "event_at": written_at if rcode is not None else _before(written_at, duration),
        "node": item.node or context.node,
        "client_address": _address(fields, "remote"),
        "client_port": _number(fields, "port", 65_535),
        "client_namespace": namespace,
        "client_pod_name": _stated(fields, "pod_name"),
        "client_pod_uid": None,
        "resolver_address": _address(fields, "local"),
        "transport": fields["proto"].upper() if "proto" in fields else None,
        "query_name": without_search_suffix(
            asked,
            exists={"NOERROR": True, "NXDOMAIN": False}.get(rcode or ""),
            namespace=namespace,
        ),
        "original_query_name": asked,
        "query_type": _type(fields),
        "rcode": rcode,
        "answers": None,
        "latency_seconds": duration if rcode is not None else None,
        "is_response": rcode is not None,
        "dns_message_id": _number(fields, "id", 65_535),
    }


def _rcode(fields: dict[str, str]) -> str | None:
    """Response code; none where no response was written, also where `NOERROR` claims one."""
    stated = fields.get("rcode", "-")
    has_response = stated != "-" and fields.get("rflags") != "-"
    if "rflags" not in fields and fields.get("rsize", "1") in {"0", "-"}:
        has_response = False
    if not has_response:
        return None
    name = rcode_name(stated)
    if name is None:
        refuse("rcode", "a response code", stated)
    return name


def _type(fields: dict[str, str]) -> str | None:
    stated = fields.get("type", "")
    if not stated:
        return None
    name = query_type(stated)
    if name is None:
        refuse("query_type", "a record type", stated)
    return name


def _address(fields: dict[str, str], group: str) -> str | None:
    stated = fields.get(group)
    if stated is None:
        return None
    address = canonical_address(stated)
    if address is None:
        refuse("address", "an IP address", stated)
    return address


def _number(fields: dict[str, str], group: str, maximum: int) -> int | None:
    stated = fields.get(group, "-")
    if stated == "-":
        return None
    if int(stated) > maximum:
        refuse(group, f"at most {maximum}", int(stated))
    return int(stated)


def _seconds(stated: str) -> float | None:
    """Seconds of a duration; none for `-`."""
    if stated == "-":
        return None
    number = stated.rstrip("smnuµ")
    seconds = float(number) * _UNITS[stated[len(number) :]]
    if seconds > _MAX_DURATION_SECONDS:
        refuse("duration", f"at most {_MAX_DURATION_SECONDS:.0f} seconds", stated)
    return seconds


def _stated(fields: dict[str, str], group: str) -> str | None:
    value = fields.get(group)
    return value if value not in {None, "", "-"} else None


def _before(written_at: datetime, seconds: float | None) -> datetime:
    try:
        return written_at - timedelta(seconds=seconds or 0.0)
    except OverflowError:
        return written_at


def _recognise(head: bytes) -> Recognition:
    lines = head.split(b"\n")
    if len(lines) > 1:
        lines.pop()  # may be cut, or empty
    asked = own = may_be = 0
    wrapped = False
    records = (RawRecord("", 0, line) for line in lines if line.strip())
    for item in unwrap(islice(records, HEAD_LINES)):
        if item.verdict is not None:
            continue
        if _read(item.text, _DEFAULTS) is not None:
            asked += 1
            wrapped |= item.wrapped_at is not None
        elif _not_asked(item.text) is not None:
            own += not _KLOG.match(item.text)
        else:
            prefix = _PREFIX.match(item.text)
            body = item.text[prefix.end() :] if prefix and prefix["level"] else ""
            may_be += _LOOKS_ASKED.match(body) is not None
    if asked:
        return Recognition(3, f"log lines, {'wrapped' if wrapped else 'not wrapped'}")
    if own:
        return Recognition(2, "lines of other plugins")
    if may_be:
        return Recognition(1, "log lines of a custom form; `record_format` must state it")
    return Recognition(0)


PARSER = Parser(
    name="coredns",
    title="CoreDNS query log",
    tables=(TABLE,),
    shape="lines",
    record="one line; a line that the runtime cut into pieces is the record of its last piece",
    cannot_tell=(
        "answers, CNAMEs and times to live; the resolver; the client's pod UID; its pod without "
        "the metadata plugin; the client behind a node-local cache"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=(
        "client_address", "client_namespace", "client_pod_name", "resolver_address", "transport",
        "latency_seconds", "dns_message_id",
    ),
    tested_on="real",
)  # fmt: skip

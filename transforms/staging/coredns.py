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
  The errors plugin's lines are among them: such a line tells no client, and is of a look-up that
  `log`, where it is on, has told already; where it is off, failures alone are no log of queries.
* Lines may be JSON: CoreDNS's own, or a format that is JSON (coredns_json.py).
* Before 1.9.4 a `%` in a name was printed as a broken format verb; such a name is refused.
* `client_address` is the node's where a node-local cache or address translation stands between.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from transforms.staging.coredns_format import (
    COMBINED,
    COMMON,
    MAX_LINE,
    OLD_COMBINED,
    OLD_COMMON,
    keys_of,
    pattern_of,
)
from transforms.staging.coredns_json import Keys, read_json_line
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
_DEFAULTS = tuple(pattern_of(form) for form in (COMMON, COMBINED, OLD_COMMON, OLD_COMBINED))
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
_GARBLED = re.compile(r"%!.{0,8}\((?:missing|noverb|badindex|badprec|badwidth)\)", re.IGNORECASE)
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "\u00b5s": 10**6, "\u03bcs": 10**6, "ns": 10**9}
_DURATION = re.compile(r"(-?)(?:(\d+)h)?(?:(\d+)m(?!s))?([0-9.]+)([a-z\u00b5\u03bc]+)")
_MAX_DURATION_SECONDS = 86_400.0
_WHEN = re.compile(r"(\d\d)/([A-Z][a-z]{2})/(\d{4}):([0-9:]{8}) ([+-]\d\d)(\d\d)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class _Line:
    """A look-up line, read.

    Attributes:
        fields: Group → text of the placeholders that the format has.
        stamp: Time in the line itself.
        node: Node in the line itself.
    """

    fields: dict[str, str]
    stamp: str | None
    node: str | None = None


class _Forms(NamedTuple):
    """The forms that lines of a file may have.

    Attributes:
        lines: Patterns of whole lines; empty where the stated form has no name.
        keys: Keys of the stated form, where it is JSON.
    """

    lines: tuple[re.Pattern[str], ...]
    keys: Keys


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    forms = _Forms(_DEFAULTS, {})
    if context.record_format is not None:
        stated = pattern_of(context.record_format)
        if "name" not in stated.groupindex:
            forms = _Forms((), {})
        else:
            forms = _Forms((stated, *_DEFAULTS), keys_of(context.record_format))

    def own(raw: RawRecord) -> Parsed | None:
        return _own_json(raw, forms, context)

    for item in unwrap(records, own):
        if not forms.lines and (item.verdict is None or item.verdict.ignore is None):
            reason = "record_format: expected a placeholder {name}, got none"
            yield refused_line(item.raw, reason)
        elif item.verdict is None:
            yield _parse_line(item, forms, context)
        else:
            yield item.verdict


def _own_json(raw: RawRecord, forms: "_Forms", context: FileContext) -> Parsed | None:
    """A record of JSON that is no wrapper of a line but the line itself; none for any other."""
    text = raw.data.decode("utf-8", "replace").strip()
    parsed = _parse_line(Unwrapped(raw, None, text), forms, context)
    is_unread = parsed.reject is not None and parsed.reject.startswith("unreadable_line")
    return None if is_unread else parsed


def _parse_line(item: Unwrapped, forms: "_Forms", context: FileContext) -> Parsed:
    try:
        line = _read(item.text, forms)
        if line is None:
            reason = _not_asked(item.text)
            if reason is not None:
                return ignored(item.raw, reason)
            return refused_line(item.raw, _unreadable(item.text))
        word = left_out(line.fields)
        if word is not None:
            return ignored(item.raw, word)
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


def _read(text: str, forms: "_Forms") -> _Line | None:
    """Read a look-up line; none where it is no such line.

    Raises:
        RefusedError: It is one, but a value in it is none.
    """
    if len(text) > MAX_LINE:
        return None
    prefix = _PREFIX.match(text)
    if prefix is None:
        return None
    body, stamp = text[prefix.end() :].rstrip(), prefix["second"] or prefix["first"]
    line = _matched(body, forms.lines, stamp)
    if line is not None:
        return line
    record = read_json_line(body, forms.keys)
    if record is None:
        return None
    stamp = stamp or record.stamp
    if record.msg is not None and record.plugin in {"log", ""}:
        line = _matched(record.msg, forms.lines, stamp)
    if line is None and record.fields is not None:
        line = _Line(record.fields, stamp)
    return None if line is None else replace(line, node=record.node)


def _matched(body: str, lines: tuple[re.Pattern[str], ...], stamp: str | None) -> _Line | None:
    for pattern in lines:
        match = pattern.fullmatch(body)
        if match is not None:
            fields = match.groupdict()
            return _Line(fields, stamp or _when(fields.get("when")))
    return None


def _when(stated: str | None) -> str | None:
    """The time that CoreDNS printed up to 1.2, as RFC 3339."""
    match = _WHEN.fullmatch(stated) if stated else None
    if match is None or match[2] not in _MONTHS:
        return None
    month = _MONTHS.index(match[2]) + 1
    return f"{match[3]}-{month:02}-{match[1]}T{match[4]}{match[5]}:{match[6]}"


def _not_asked(text: str) -> str | None:
    """Why a line that is no look-up is left out; none where it is not known as CoreDNS's own."""
    prefix = _PREFIX.match(text[:MAX_LINE])
    body = text[prefix.end() : MAX_LINE].rstrip() if prefix else text[:MAX_LINE].rstrip()
    record = read_json_line(body, {})
    if record is not None:
        name = f"plugin/{record.plugin}: " if record.plugin else ""
        return _not_asked_here(f"{name}{record.msg}", has_level=True)
    return _not_asked_here(body, has_level=prefix is not None and bool(prefix["level"]))


def _not_asked_here(body: str, *, has_level: bool) -> str | None:
    if has_level:
        plugin = _PLUGIN.match(body)
        if plugin is not None:
            return f"plugin_{plugin[1]}" if plugin[1] in {"errors", "reload"} else "plugin"
        if _SERVER.match(body) and not _LOOKS_ASKED.match(body):
            return "server"
        return "banner" if _BANNER.match(body) else None
    if _BANNER.match(body):
        return "banner"
    return "klog" if _KLOG.match(body) else None


def left_out(fields: Mapping[str, str]) -> str | None:
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
    fields, node = line.fields, item.node or line.node or context.node
    check_name(fields["name"])
    written_at = item.wrapped_at or (parse_instant(line.stamp) if line.stamp else None)
    if written_at is None:
        refuse("no_time", "a time from the wrapper or in the line", None)
    rcode = _rcode(fields)
    duration = seconds(fields.get("duration", "-"))
    namespace = _stated(fields, "namespace")
    return {
        "record_id": identity(item.stamp, item.node or context.node or item.pod_name, item.text),
        "event_at": written_at if rcode is not None else _before(written_at, duration),
        "node": node,
        "client_address": _address(fields, "remote"),
        "client_port": _number(fields, "port", 65_535),
        "client_namespace": namespace,
        "client_pod_name": _stated(fields, "pod_name"),
        "client_pod_uid": None,
        "resolver_address": _address(fields, "local"),
        "transport": fields["proto"].upper() if "proto" in fields else None,
        **named(fields["name"], rcode, namespace),
        "query_type": type_asked(fields.get("type", "")),
        "rcode": rcode,
        "answers": None,
        "latency_seconds": duration if rcode is not None else None,
        "is_response": rcode is not None,
        "dns_message_id": _number(fields, "id", 65_535),
    }


def check_name(stated: str) -> None:
    """Refuse a name that is none.

    Raises:
        RefusedError: It is too long, or was printed wrongly.
    """
    if len(stated) > MAX_NAME:
        refuse("name", f"at most {MAX_NAME} characters", stated)
    if _GARBLED.search(stated):
        refuse("name", "a name, not a broken format verb (CoreDNS before 1.9.4)", stated)


def named(stated: str, rcode: str | None, namespace: str | None) -> dict[str, str]:
    """The name asked, with and without a search suffix."""
    asked = asked_name(stated)
    return {
        "query_name": without_search_suffix(
            asked,
            exists={"NOERROR": True, "NXDOMAIN": False}.get(rcode or ""),
            namespace=namespace,
        ),
        "original_query_name": asked,
    }


def _rcode(fields: dict[str, str]) -> str | None:
    """Response code; none where no response was written, also where `NOERROR` claims one."""
    stated = fields.get("rcode", "-")
    has_response = stated != "-" and fields.get("rflags") != "-"
    if "rflags" not in fields and fields.get("rsize", "1") in {"0", "-"}:
        has_response = False
    return response_code(stated) if has_response else None


def response_code(stated: str) -> str:
    """Name of a response code.

    Raises:
        RefusedError: It is none.
    """
    name = rcode_name(stated)
    if name is None:
        refuse("rcode", "a response code", stated)
    return name


def type_asked(stated: str) -> str | None:
    """Type asked; null where none is stated.

    Raises:
        RefusedError: It is none.
    """
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


def seconds(stated: str) -> float | None:
    """Seconds of a duration; none for `-`.

    Raises:
        RefusedError: It is none, negative or longer than a day.
    """
    if stated == "-":
        return None
    match = _DURATION.fullmatch(stated)
    if match is None or match[5] not in _UNITS:
        refuse("duration", "a duration such as 0.5s", stated)
    whole = int(match[2] or 0) * 3_600 + int(match[3] or 0) * 60
    found = whole + float(match[4]) / _UNITS[match[5]]
    if match[1] or found > _MAX_DURATION_SECONDS:
        refuse("duration", f"0 to {_MAX_DURATION_SECONDS:.0f} seconds", stated)
    return found


def _stated(fields: dict[str, str], group: str) -> str | None:
    value = fields.get(group)
    return value if value not in {None, "", "-"} else None


def _before(written_at: datetime, duration: float | None) -> datetime:
    try:
        return written_at - timedelta(seconds=duration or 0.0)
    except OverflowError:
        return written_at


def _is_read(text: str) -> bool:
    """Whether a line is a look-up of a form that needs no setting."""
    try:
        return _read(text, _Forms(_DEFAULTS, {})) is not None
    except RefusedError:
        return False


def _is_of_plugin(text: str) -> bool:
    """Whether a JSON line names the plugin that wrote it, which no other log does."""
    try:
        record = read_json_line(text, {})
    except RefusedError:
        return False
    return record is not None and bool(record.plugin) and _not_asked(text) is not None


def _recognise(head: bytes) -> Recognition:
    lines = head.split(b"\n")
    if len(lines) > 1:
        lines.pop()  # may be cut, or empty
    asked = own = may_be = 0
    wrapped = False
    records = (RawRecord("", 0, line) for line in lines if line.strip())
    for item in unwrap(islice(records, HEAD_LINES)):
        if item.verdict is not None:
            text = item.raw.data.decode("utf-8", "replace").strip()
            if text.startswith("{"):
                asked += _is_read(text)
                own += _is_of_plugin(text)
            continue
        if _is_read(item.text):
            asked += 1
            wrapped |= item.wrapped_at is not None
        elif _not_asked(item.text) is not None:
            own += not _KLOG.match(item.text)
        else:
            prefix = _PREFIX.match(item.text)
            body = item.text[prefix.end() :] if prefix and prefix["level"] else ""
            may_be += _LOOKS_ASKED.match(body) is not None
    if asked:
        return Recognition(3, "log lines, wrapped" if wrapped else "log lines")
    if own:
        return Recognition(2, "lines of other plugins")
    if may_be:
        return Recognition(1, "log lines of a custom form; `record_format` must state it")
    return Recognition(0)


def _expected_form(stated: str) -> str | None:
    has_name = "name" in pattern_of(stated).groupindex
    return None if has_name else "the form of CoreDNS's `log`, with a placeholder {name}"


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
    expected_form=_expected_form,
    optional_columns=(
        "client_address", "client_namespace", "client_pod_name", "resolver_address", "transport",
        "latency_seconds", "dns_message_id",
    ),
    tested_on="real",
)  # fmt: skip

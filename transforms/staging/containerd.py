r"""Lines of containerd about pulling images: from its journal (JSON or text), or from its own file.

Sources: containerd/containerd, internal/cri/server/images/image_pull.go and core/remotes/docker
(message texts of 1.6 to 2.1); systemd, journalctl(1) and systemd.journal-fields(7).

* `stop pulling image REF: active requests=A, bytes read=B` is the one line that tells bytes which
  moved. It stands where a progress timeout is set, as it is by default since 1.7.
* `Pulled image "REF" … size "N" in D` tells the size of the image in the registry and how long it
  took; layers that were there already are in the size and not in the bytes.
* No line names a pod: only image, node and time do.
* The time is containerd's own (nanoseconds, cut to microseconds), else the journal's. Text of the
  journal in its short form has no year, so that there only containerd's own time counts.
* `trying next host` names a host and no image. Everything else is ignored: `other_line`, and
  `other_unit` where another service wrote it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from transforms.redaction import redact_name
from transforms.staging.go_durations import seconds_of_go_duration
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
from transforms.staging.refusal import RefusedError, refuse
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.text_or_json import MAX_LINE, parse_text_or_json
from transforms.staging.values import identity, instant_of_microseconds, integer, parse_instant

TABLE = "image_pull_logs"
HEAD_LINES = 200
SHOWN_KEYS = frozenset(
    {
        b"time", b"level", b"__REALTIME_TIMESTAMP", b"_SYSTEMD_UNIT", b"SYSLOG_IDENTIFIER",
        b"PRIORITY", b"_PID",
    }
)  # fmt: skip
"""Keys of a refused record whose text an excerpt may show."""

_NAME = "containerd"
_JOURNAL = re.compile(
    r"(?:[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d(?:\.\d{1,9})?"
    r"|(?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d))"
    r"|(?P<unix>\d{9,10}\.\d{1,6})"
    r"|(?:[A-Z][a-z]{2} )?(?P<full>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?) UTC)"
    r" (?P<node>\S{1,253}) (?P<unit>[^\s\[\]:]{1,100})(?:\[(?P<pid>\d{1,10})\])?: (?P<text>.*)",
    re.DOTALL,
)
_NOTE = re.compile(r"-- .{1,200} --\s*")
_REF = r'\\?"(?P<image>[^"\\\s]{1,1024})\\?"'
_REQUESTED = re.compile(rf"PullImage {_REF}")
_RETURNED = re.compile(
    rf'PullImage {_REF} returns image reference \\?"(?P<id>[^"\\\s]{{1,300}})\\?"'
)
_FAILED = re.compile(rf"PullImage {_REF} failed")
_FETCHED = re.compile(
    r"stop pulling image (?P<image>\S{1,1024}): active requests=(?P<active>\d{1,18}),"
    r" bytes read=(?P<bytes>\d{1,18})"
)
_PULLED = re.compile(
    rf'Pulled image {_REF} with image id \\?"(?P<id>[^"\\]{{0,300}})\\?",'
    r' repo tag \\?"(?P<tag>[^"\\]{0,1024})\\?", repo digest \\?"(?P<digest>[^"\\]{0,1200})\\?",'
    r' size \\?"(?P<size>\d{1,18})\\?"(?: in (?P<duration>[0-9a-zµμ.]{1,40}))?'
)
_CANCELLED = re.compile(
    r"cancel pulling image (?P<image>\S{1,1024}) because of no progress in"
    r" (?P<duration>[0-9a-zµμ.]{1,40})"
)
_NEXT_HOST = re.compile(r"trying next host\b.*", re.DOTALL)
_DIGEST = re.compile(r"@(sha(?:256|512):[0-9a-f]{64,128})\Z")
_STATUS = re.compile(r"(?:status(?: code)?:? |StatusCode[=: ]+|http\.Status ?)([1-5]\d\d)\b")
_NAMED_STATUS = re.compile(r"http\.Status(NotFound|Forbidden|Unauthorized|TooManyRequests)\b")
_STATUSES = {"NotFound": 404, "Forbidden": 403, "Unauthorized": 401, "TooManyRequests": 429}
_OBJECT = msgspec.json.Decoder(dict[str, Any])

Fields = Mapping[str, Any]


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_text_or_json(records, context, _read, _read_line, SHOWN_KEYS)


def _read_line(text: str, wrapper: Wrapper | None, context: FileContext) -> tuple[Row, ...] | str:
    found = _row_of_text(text, wrapper, context)
    return found if isinstance(found, str) else ((TABLE, found),)


def _row_of_text(text: str, wrapper: Wrapper | None, context: FileContext) -> dict[str, Any] | str:
    """The row of a line, or the word for which it is left out.

    Raises:
        RefusedError: It is no line of the journal or of containerd.
    """
    match = _JOURNAL.fullmatch(text)
    if match is not None:
        if match["unit"] != _NAME:
            return "other_unit"
        at = _journal_time(match)
        return _row(match["text"], at, match["node"], match["pid"], wrapper, context)
    if _NOTE.fullmatch(text):
        return "journal_note"
    if not is_logrus(text):
        refuse("unreadable_line", "a line of the journal, or of containerd")
    return _row(text, None, None, None, wrapper, context)


def _journal_time(match: re.Match[str]) -> datetime | None:
    if match["unix"]:
        seconds, _, fraction = match["unix"].partition(".")
        return instant_of_microseconds(int(seconds + fraction.ljust(6, "0")))
    stated = match["iso"] or match["full"]
    return parse_instant(stated) if stated else None


def _read(wrapper: Wrapper | None, item: Item, context: FileContext) -> tuple[Row, ...] | str:
    record = decode(_OBJECT, item.data, item.path)
    if "MESSAGE" in record or "__REALTIME_TIMESTAMP" in record:
        found = _of_journal(record, wrapper, context)
    elif isinstance(record.get("msg"), str):
        found = _row_of_fields(record, None, None, None, wrapper, context)
    else:
        refuse("no_message", "a record of the journal with MESSAGE, or of containerd with msg")
    return found if isinstance(found, str) else ((TABLE, found),)


def _of_journal(
    record: Fields, wrapper: Wrapper | None, context: FileContext
) -> dict[str, Any] | str:
    """A record of `journalctl -o json`, whose values are texts, lists of bytes or null."""
    names = (_text(record, "SYSLOG_IDENTIFIER"), _text(record, "_COMM"))
    unit = _text(record, "_SYSTEMD_UNIT")
    if _NAME not in names and unit != f"{_NAME}.service":
        return "other_unit"
    message = _text(record, "MESSAGE")
    if message is None:
        return "too_long_for_the_journal"
    microseconds = integer(_text(record, "__REALTIME_TIMESTAMP") or "", minimum=1)
    at = None if microseconds is None else instant_of_microseconds(microseconds)
    node, pid = _text(record, "_HOSTNAME"), _text(record, "_PID")
    return _row(message, at, node, pid, wrapper, context)


def _text(record: Fields, name: str) -> str | None:
    value = record.get(name)
    if isinstance(value, list):
        try:
            return bytes(value).decode("utf-8", "replace")
        except (TypeError, ValueError):
            refuse("wrong_value", f"a text or a list of bytes in {name}", value)
    if value is not None and not isinstance(value, str):
        refuse("wrong_value", f"a text in {name}", value)
    return value


def _row(
    text: str,
    at: datetime | None,
    node: str | None,
    pid: str | None,
    wrapper: Wrapper | None,
    context: FileContext,
) -> dict[str, Any] | str:
    """The row of a message of containerd."""
    if len(text) > MAX_LINE:
        refuse("unreadable_line", f"at most {MAX_LINE} characters")
    fields = logrus_fields(text)
    if fields is None and is_logrus(text):
        refuse("unreadable_line", "fields of logrus")
    if fields is None:
        return "other_line"
    return _row_of_fields(fields, at, node, pid, wrapper, context)


def _row_of_fields(
    fields: Fields,
    at: datetime | None,
    node: str | None,
    pid: str | None,
    wrapper: Wrapper | None,
    context: FileContext,
) -> dict[str, Any] | str:
    told = _told(fields)
    if told is None:
        return "other_line"
    stated = _text(fields, "time")
    event_at = (parse_instant(stated) if stated else None) or at
    event_at = event_at or (wrapper.at if wrapper else None)
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in time, or one of the journal", stated)
    node = name_text(node or (wrapper.node if wrapper else None)) or context.node
    return {
        "record_id": identity(stated or event_at, fields.get("msg"), told.get("error"), node),
        "event_at": event_at,
        "node": node,
        "runtime": _NAME,
        "process_id": integer(pid, minimum=1) if pid else None,
        **told,
    }


def _told(fields: Fields) -> dict[str, Any] | None:
    """What a message tells of a pull; none where it tells of something else."""
    message = fields.get("msg")
    if not isinstance(message, str):
        return None
    matches = ((event, form.fullmatch(message)) for event, form in _FORMS)
    event, match = next((found for found in matches if found[1] is not None), ("", None))
    if match is None:
        return None
    groups = match.groupdict()
    error = _text(fields, "error") or (message if event == "retried" else None)
    image = groups.get("image")
    duration = groups.get("duration")
    found = {
        "event": event,
        "image": name_text(image),
        "image_id": name_text(groups.get("id")),
        "image_tag": name_text(groups.get("tag")),
        "image_digest": _digest(groups.get("digest") or image),
        "registry": _host(_text(fields, "host")) if event == "retried" else registry_of(image),
        "image_bytes": _number(groups.get("size")),
        "transferred_bytes": _number(groups.get("bytes")),
        "active_request_count": _number(groups.get("active")),
        "pull_seconds": seconds_of_go_duration(duration) if duration else None,
        "error": free_text(error) if event in {"failed", "retried"} else None,
        "status": _status(error) if event in {"failed", "retried"} else None,
    }
    return {name: value for name, value in found.items() if value is not None}


_FORMS = (
    ("requested", _REQUESTED),
    ("returned", _RETURNED),
    ("fetched", _FETCHED),
    ("pulled", _PULLED),
    ("failed", _FAILED),
    ("cancelled", _CANCELLED),
    ("retried", _NEXT_HOST),
)


def registry_of(image: str | None) -> str | None:
    """Host of the registry that an image names; that of Docker Hub where it names none.

    The first part is a host where it holds a dot or a port, or is `localhost`.
    """
    if not image:
        return None
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return _host(first)
    return "docker.io"


def _host(text: str | None) -> str | None:
    if not text or len(text) > 300:
        return None
    return redact_name(text).lower()


def _digest(text: str | None) -> str | None:
    match = _DIGEST.search(text) if text else None
    return match[1] if match else None


def _number(text: str | None) -> int | None:
    return None if text is None else integer(text)


def _status(error: str | None) -> int | None:
    """The one HTTP status that an error names."""
    text = (error or "")[:8_192]
    found = {int(code) for code in _STATUS.findall(text)}
    found |= {_STATUSES[name] for name in _NAMED_STATUS.findall(text)}
    return found.pop() if len(found) == 1 else None


def _recognise(head: bytes) -> Recognition:
    for line in head.split(b"\n")[:HEAD_LINES]:
        text = line[:MAX_LINE].decode("utf-8", "replace")
        match = _JOURNAL.fullmatch(text)
        if match is not None and match["unit"] == _NAME:
            return Recognition(3, "journal, text")
        fields = logrus_fields(text)
        if fields is not None and _told(fields) is not None:
            return Recognition(3, "containerd's file")
    return recognise_records(head, _variant)


def _variant(record: dict[str, Any]) -> str | None:
    if "__REALTIME_TIMESTAMP" in record and "MESSAGE" in record:
        named = (record.get("SYSLOG_IDENTIFIER"), record.get("_COMM"))
        unit = record.get("_SYSTEMD_UNIT")
        return "journal, JSON" if _NAME in named or unit == f"{_NAME}.service" else None
    try:
        return "containerd's file, JSON" if _told(record) is not None else None
    except RefusedError:
        return None


PARSER = Parser(
    name="containerd",
    title="Pulls in containerd's log (journal or file)",
    tables=(TABLE,),
    shape="json",
    record="one line or object: one message",
    cannot_tell=(
        "the pod that a pull is for; bytes that moved, where no progress timeout is set; which "
        "layers were there already; the registry's mirror that gave the bytes"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=("transferred_bytes", "image_bytes", "pull_seconds", "node"),
)

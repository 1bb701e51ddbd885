"""Fields of a structured event that bounds an activity, by the names that loggers give them.

Source: OpenTelemetry's semantic conventions (`k8s.*`, `error.type`, `url.full`, `http.*`,
`aws.s3.*`), and plain names of JSON loggers. What an application wrote in another form than its
name says tells nothing and is null; nothing of it is refused but the time.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from transforms.redaction import clean_url
from transforms.staging.parser import FileContext, Wrapper
from transforms.staging.stored_text import name_text
from transforms.staging.values import (
    INT64_MAX,
    dashed_uid,
    hex_uuid,
    instant_of_microseconds,
    integer,
    parse_instant,
)

MAX_KEYS = 500
MAX_DEPTH = 4
EVENT_KEYS = ("event.name", "event_name", "eventName")
"""Keys under which an event has its name and nothing else."""
STAGE_KEYS = ("stage", "stage.name", "activity")
PHASE_KEYS = ("phase", "stage.phase", "status", "state")

_TIMES = (
    "time_unix_nano", "timeUnixNano", "timestamp", "@timestamp", "time", "ts", "asctime",
    "datetime", "observedTimeUnixNano",
)  # fmt: skip
_SECONDS = ("elapsed_s", "elapsed_seconds", "duration_s", "duration_seconds", "elapsed", "took_s")
_MILLISECONDS = ("elapsed_ms", "duration_ms", "took_ms")
_NANOSECONDS = ("event.duration", "elapsed_ns", "duration_ns")
_ATTEMPTS = ("attempts", "attempt", "attempt_count", "tries")
_BYTES = (
    "bytes", "size_bytes", "bytes_transferred", "transferred_bytes", "total_bytes", "file.size",
    "http.response.body.size",
)  # fmt: skip
_RESOURCES = (
    "resource.id", "resource", "resource_id", "url.full", "uri", "url", "dataset", "model",
    "artifact", "artifact.filename", "path", "file.path",
)  # fmt: skip
_STATUSES = ("http.response.status_code", "http.status_code", "status_code")
_ERRORS = ("error.type", "exception.type", "error_type", "error.class", "error", "exception")
_OUTCOMES = {
    **dict.fromkeys(("ok", "success", "succeeded", "true", "pass", "passed"), "ok"),
    **dict.fromkeys(("error", "failure", "failed", "false", "fail", "timeout"), "error"),
    **dict.fromkeys(("retry", "retrying", "retried"), "retry"),
}
_CACHES = {"hit": "hit", "true": "hit", "miss": "miss", "false": "miss", "unknown": "unknown"}
_ERROR_CLASS = re.compile(r"[\w.:$-]{1,100}")
_CONTAINER = re.compile(r"[a-z0-9]([a-z0-9-]{0,62})")
_WEEK = 7 * 86_400
_LARGE = 10**18
_LATEST = 10**20

Fields = Mapping[str, Any]


def flat(values: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """Nested objects as one mapping whose names are joined by dots; lists stay out."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if len(found) >= MAX_KEYS:
            break
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            if depth < MAX_DEPTH:
                found |= flat(value, f"{name}.", depth + 1)
        elif not isinstance(value, list):
            found[name] = value
    return found


def first_text(fields: Fields, names: Iterable[str]) -> str | None:
    """The first of several fields that holds a text."""
    return next((v for name in names if isinstance(v := fields.get(name), str) and v), None)


def event_time(fields: Fields) -> datetime | None:
    """When an event happened, as its fields say; null where none of them is a time."""
    for name in _TIMES:
        found = _instant(fields.get(name))
        if found is not None:
            return found
    return None


def _instant(value: object) -> datetime | None:
    if isinstance(value, str):
        return parse_instant(value) or _counted(value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return _counted(str(value)) if 0 < value < _LATEST else None


def _counted(text: str) -> datetime | None:
    """A time as a count since 1970, in seconds, milli-, micro- or nanoseconds by its size."""
    whole, point, fraction = text.partition(".")
    number = integer(whole, minimum=1)
    if number is None or (point and not (fraction.isascii() and fraction.isdigit())):
        return None
    places = next((p for p, limit in ((6, 11), (3, 14), (0, 17)) if number < 10**limit), None)
    if places is None:
        return instant_of_microseconds(number // 1_000)
    return instant_of_microseconds(int(whole + fraction.ljust(places, "0")[:places]))


def measures(fields: Fields) -> dict[str, Any]:
    """What an event says of the activity: how long, how often, how much, on what, how it went."""
    resent = _whole(fields.get("http.request.resend_count"))
    attempts = _first_whole(fields, _ATTEMPTS)
    if attempts is None and resent is not None:
        attempts = resent + 1
    return {
        "elapsed_seconds": _elapsed(fields),
        "attempts": attempts,
        "bytes": _first_whole(fields, _BYTES),
        "resource": resource(first_text(fields, _RESOURCES) or _bucket(fields)),
        "cache": _word(fields, ("cache", "cache_hit", "cache.hit", "cache.status"), _CACHES),
        "outcome": _word(fields, ("outcome", "event.outcome", "result"), _OUTCOMES),
        "error_type": _error(fields),
        "status": _status(fields),
    }


_USERINFO = re.compile(r"\A[^/@\s]*:(?!//)[^/@\s]*@")
"""`user:password@` in front of a host without a scheme; `git@host:path` has no password."""


def resource(stated: str | None) -> str | None:
    """What was used, without userinfo, query and fragment, redacted."""
    if not stated:
        return None
    text = _USERINFO.sub("", stated[:8_192])
    return name_text(clean_url(text).partition("?")[0] if "://" in text else text)


def _bucket(fields: Fields) -> str | None:
    bucket, key = fields.get("aws.s3.bucket"), fields.get("aws.s3.key")
    if not isinstance(bucket, str) or not bucket:
        return first_text(fields, ("server.address", "host"))
    return f"s3://{bucket}/{key}" if isinstance(key, str) and key else f"s3://{bucket}"


def _elapsed(fields: Fields) -> float | None:
    for names, unit in ((_SECONDS, 1), (_MILLISECONDS, 1_000), (_NANOSECONDS, 10**9)):
        for name in names:
            value = fields.get(name)
            number = _number(value)
            if number is not None and 0 <= number / unit <= _WEEK:
                return number / unit
    return None


def _number(value: object) -> float | None:
    if isinstance(value, str) and len(value) <= 40 and re.fullmatch(r"\d+(?:\.\d+)?", value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return float(value) if -_LARGE < value < _LARGE else None


def _first_whole(fields: Fields, names: Iterable[str]) -> int | None:
    return next((n for name in names if (n := _whole(fields.get(name))) is not None), None)


def _whole(value: object) -> int | None:
    if isinstance(value, str):
        return integer(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if not 0 <= value <= INT64_MAX or value != int(value):
        return None
    return int(value)


def _word(fields: Fields, names: Iterable[str], known: Mapping[str, str]) -> str | None:
    for name in names:
        value = fields.get(name)
        text = str(value).lower() if isinstance(value, str | bool) else ""
        if text in known:
            return known[text]
    return None


def _error(fields: Fields) -> str | None:
    """Class or code of an error; a sentence is none."""
    for name in _ERRORS:
        value = fields.get(name)
        if isinstance(value, str) and _ERROR_CLASS.fullmatch(value):
            return name_text(value)
    return None


def _status(fields: Fields) -> int | None:
    number = _first_whole(fields, _STATUSES)
    return number if number is not None and 100 <= number <= 599 else None


def places(fields: Fields, wrapper: Wrapper | None, context: FileContext) -> dict[str, Any]:
    """Where an event happened: as its fields say, else the wrapper around it, else the path."""
    said = wrapper or Wrapper()
    uid = first_text(fields, ("k8s.pod.uid",))
    run = first_text(fields, ("polyaxon.run.uuid", "run.uuid", "run_uuid", "cicd.pipeline.run.id"))
    container = first_text(fields, ("k8s.container.name", "container")) or said.container
    return {
        "node": name_text(first_text(fields, ("k8s.node.name", "node")) or said.node)
        or context.node,
        "namespace": name_text(first_text(fields, ("k8s.namespace.name",)) or said.namespace),
        "pod_name": name_text(first_text(fields, ("k8s.pod.name", "pod")) or said.pod_name),
        "pod_uid": (dashed_uid(uid) if uid else None) or said.pod_uid,
        "container": container if container and _CONTAINER.fullmatch(container) else None,
        "restart_count": _first_whole(fields, ("k8s.container.restart_count",)),
        "run_uuid": hex_uuid(run) if run else None,
    }

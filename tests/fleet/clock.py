"""Times as the exports print them.

The truth is kept in whole microseconds, because that is the precision of every answer. Formats that
print nanoseconds get three more digits here, so that a reader which rounds instead of cutting them
off is found out.
"""

from datetime import UTC, date, datetime, timedelta

DAYS = (date(2026, 3, 10), date(2026, 3, 11))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def at(text: str) -> datetime:
    """Return the UTC time of `10 08:00:00` or `11 08:00:00.25`: day of March 2026 and time."""
    day, clock = text.split(" ")
    moment = datetime.fromisoformat(f"2026-03-{day}T{clock}")
    return moment.replace(tzinfo=UTC)


def day_start(day: date) -> datetime:
    """Return the first instant of a day."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def day_end(day: date) -> datetime:
    """Return the first instant after a day."""
    return day_start(day) + timedelta(days=1)


def seconds(count: float) -> timedelta:
    """Return a duration in whole microseconds, so that no float reaches an answer."""
    return timedelta(microseconds=round(count * 1_000_000))


def epoch_micros(moment: datetime) -> int:
    """Return whole microseconds since 1970."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def epoch_seconds(moment: datetime) -> int:
    """Return whole seconds since 1970."""
    return (moment - EPOCH) // timedelta(seconds=1)


def to_second(moment: datetime) -> str:
    """Print as Kubernetes objects do: RFC 3339, one second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def to_milli(moment: datetime) -> str:
    """Print as Polyaxon status conditions do: RFC 3339, milliseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def to_micro(moment: datetime) -> str:
    """Print as the Polyaxon API and the answers do: RFC 3339, microseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def to_nano(moment: datetime, below_micro: int) -> str:
    """Print with nine digits; `below_micro` are the three that a microsecond answer cuts off."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + f"{below_micro:03d}Z"


def to_nano_count(moment: datetime, below_micro: int = 0) -> str:
    """Print as OTLP JSON does: nanoseconds since 1970, as a string."""
    return str(epoch_micros(moment) * 1000 + below_micro)


def to_access_log(moment: datetime) -> str:
    """Print as S3 server access logs do: `10/Mar/2026:08:00:00 +0000`."""
    return moment.strftime("%d/%b/%Y:%H:%M:%S +0000")


def days_met(start: datetime, end: datetime | None) -> list[date]:
    """Return the fixture days that a half-open interval touches; no end means still open."""
    return [day for day in DAYS if start < day_end(day) and (end is None or end > day_start(day))]

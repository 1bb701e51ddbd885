"""Time in the labelled fleet: integer microseconds since 1970, written as exports write it."""

from datetime import UTC, date, datetime, timedelta
from functools import cache

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(moment: datetime) -> int:
    """Microseconds of an aware datetime."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


FIRST_DAY = date(2026, 3, 10)
MIDNIGHT = instant(datetime(2026, 3, 11, tzinfo=UTC))
"""The end of the first day, in the middle of what happens."""


def day_of(moment: int) -> date:
    """UTC date of an instant."""
    return (_EPOCH + timedelta(microseconds=moment)).date()


def to_whole_second(moment: int) -> int:
    """What the API server keeps of an instant."""
    return moment - moment % SECOND


@cache
def _second(second: int) -> str:
    return (_EPOCH + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S")


def to_seconds_text(moment: int) -> str:
    """RFC 3339 in whole seconds."""
    return _second(moment // SECOND) + "Z"


def to_nano_text(moment: int, nanoseconds: int) -> str:
    """RFC 3339 with nine digits."""
    return f"{_second(moment // SECOND)}.{moment % SECOND:06d}{nanoseconds:03d}Z"


def to_access_log_text(moment: int) -> str:
    """`[10/Mar/2026:08:00:00 +0000]` without the brackets."""
    return (_EPOCH + timedelta(microseconds=moment)).strftime("%d/%b/%Y:%H:%M:%S +0000")

"""Which delivery of a bill a file belongs to, as its path says.

A billing period is delivered again and again, each time whole, so that a file speaks for its
delivery only. Sources: AWS, delivery of data exports and of Cost and Usage Reports; Microsoft, cost
exports. Layouts below the place of an export:

    data/BILLING_PERIOD=2026-03/<time>-<execution id>/<name>-00001.csv.gz      AWS, kept
    data/BILLING_PERIOD=2026-03/<name>-00001.snappy.parquet                    AWS, overwritten
    20260301-20260401/<assembly id>/<name>-1.csv.gz                            AWS, legacy, kept
    20260301-20260401/<name>-00001.csv.gz, year=2026/month=3/<name>.parquet    AWS, legacy
    20260301-20260331/202603101530/<id>/part_0_0001.csv                        Azure

A part of the path that holds a time, or is a UUID, names the delivery. Where there is none, files
of one landing day are one delivery; it was delivered by the end of that day. Files of one
overwritten delivery that land on different days cannot be told to belong together.
"""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from transforms.staging.parser import FileContext
from transforms.staging.stored_text import name_text
from transforms.staging.values import identity

_TIME = re.compile(
    r"(?<!\d)(20\d\d)-?([01]\d)-?([0-3]\d)[T_]?([0-2]\d)[:-]?([0-5]\d)(?:[:-]?([0-5]\d))?(?!\d)"
)
_PERIOD_RANGE = re.compile(r"(20\d\d)([01]\d)[0-3]\d-20\d{6}")
_PERIOD = re.compile(r"billing_?period=(20\d\d)-([01]\d)(?:-\d\d)?", re.IGNORECASE)
_YEAR = re.compile(r"year=(20\d\d)", re.IGNORECASE)
_MONTH = re.compile(r"month=([01]?\d)", re.IGNORECASE)
_DAY = re.compile(r"20\d\d(?:-?[01]\d(?:-?[0-3]\d)?)?|[0-3]?\d")
_ONE = timedelta(days=1)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Delivery(NamedTuple):
    """A delivery of a bill.

    Attributes:
        bill_id: Hash of the export and the folder without periods and deliveries.
        delivery_id: Hash that its files share.
        part: Name of the file.
        delivered_at: When, or by when.
        basis: `path` or `landing_day`.
        period_start: First day of the period in the path, if it names one.
    """

    bill_id: str
    delivery_id: str
    part: str
    delivered_at: datetime
    basis: str
    period_start: date | None


def delivery_of(context: FileContext) -> Delivery:
    """The delivery that a file belongs to."""
    return _delivery(context.export, context.path, context.landing_date)


@lru_cache(maxsize=64)
def _delivery(export: str, path: str, landing_date: date) -> Delivery:
    *folders, name = [part for part in path.split("/") if part]
    day = datetime(landing_date.year, landing_date.month, landing_date.day, tzinfo=UTC)
    # Digits that would be a time to come, as of an account, are none.
    times = [at for at in map(_time, folders) if at is not None and at < day + 2 * _ONE]
    delivered_at = times[-1] if times else None
    is_named = delivered_at is not None or any(map(_UUID.search, folders))
    bill = [folder for folder in folders if not _is_of_delivery(folder)]
    return Delivery(
        identity("bill", export, *bill),
        identity("delivery", export, *folders, None if is_named else landing_date.isoformat()),
        name_text(name) or "",
        delivered_at or day + _ONE,
        "landing_day" if delivered_at is None else "path",
        _period(folders),
    )


def _time(folder: str) -> datetime | None:
    match = None if _PERIOD_RANGE.fullmatch(folder) else _TIME.search(folder)
    if match is None:
        return None
    numbers = [int(part or 0) for part in match.groups()]
    try:
        return datetime(*numbers, tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        return None


def _is_of_delivery(folder: str) -> bool:
    """Whether a part of a path names a period or a delivery, and not the bill."""
    forms = (_PERIOD_RANGE, _PERIOD, _YEAR, _MONTH, _DAY)
    return (
        any(form.fullmatch(folder) for form in forms)
        or _UUID.search(folder) is not None
        or _time(folder) is not None
    )


def _period(folders: list[str]) -> date | None:
    for folder in reversed(folders):
        match = _PERIOD_RANGE.fullmatch(folder) or _PERIOD.fullmatch(folder)
        if match is not None:
            return _month(int(match[1]), int(match[2]))
    years = [match for match in map(_YEAR.fullmatch, folders) if match]
    months = [match for match in map(_MONTH.fullmatch, folders) if match]
    return _month(int(years[-1][1]), int(months[-1][1])) if years and months else None


def _month(year: int, month: int) -> date | None:
    return date(year, month, 1) if 1 <= month <= 12 else None

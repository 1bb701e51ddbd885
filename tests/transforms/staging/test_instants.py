"""Instants are read as RFC 3339 writes them; what is none is none."""

import datetime as dt

import pytest

from transforms.staging.values import parse_instant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-10T10:00:05Z", (10, 0, 5, 0)),
        ("2026-03-10t10:00:05.1234567z", (10, 0, 5, 123_456)),
        ("2026-03-10T10:00:05+02:00", (8, 0, 5, 0)),
        ("2026-03-10T10:00:05-0130", (11, 30, 5, 0)),
        ("2026-03-10T23:59:60Z", (23, 59, 59, 999_999)),
    ],
)
def test_a_time_is_cut_to_microseconds_in_utc(
    text: str, expected: tuple[int, int, int, int]
) -> None:
    hour, minute, second, micro = expected
    instant = dt.datetime(2026, 3, 10, hour, minute, second, micro, tzinfo=dt.UTC)
    assert parse_instant(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-02-29T00:00:00Z",
        "2026-03-10T24:00:00Z",
        "2026-03-10T10:00:61Z",
        "2026-03-10T10:00:05.Z",
        "2026-03-10T10:00:05+24:00",
        "2026-03-10T10:00:05+99:00",
        "2026-03-10T10:00:05-01:60",
        "٢٠٢٦-03-10T10:00:05Z",
        "2026-03-10T10:00:05.²Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "1773136800",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_instant(text) is None

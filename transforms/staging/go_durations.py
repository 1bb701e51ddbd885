"""Durations as Go prints them: `954ms`, `1m21.284220239s`, `1h2m3.004s`."""

import re

_WHOLE = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})(?:\.(\d{1,9}))?s)?")
_SMALL = re.compile(r"(\d{1,6})(?:\.(\d{1,9}))?(ms|µs|μs|us|ns)")
_PLACES = {"ms": 6, "µs": 3, "μs": 3, "us": 3, "ns": 0}


def seconds_of_go_duration(text: str) -> float | None:
    """Seconds of a duration; null where the text is none, or a negative one.

    Go writes a duration below one second in one smaller unit, others in hours, minutes, seconds.
    """
    if not text or len(text) > 40:
        return None
    small = _SMALL.fullmatch(text)
    if small is not None:
        nanoseconds = _scaled(small[1], small[2], _PLACES[small[3]])
    else:
        whole = _WHOLE.fullmatch(text)
        if whole is None:
            return None
        minutes = int(whole[1] or 0) * 60 + int(whole[2] or 0)
        nanoseconds = minutes * 60_000_000_000 + _scaled(whole[3] or "0", whole[4], 9)
    return nanoseconds / 1_000_000_000


def _scaled(digits: str, fraction: str | None, places: int) -> int:
    return int(digits + (fraction or "").ljust(places, "0")[:places])

"""Durations and sizes as people write them in settings: `36h`, `3d`, `4GB`."""

import re
from datetime import timedelta

_DURATION = re.compile(r"(\d{1,6})\s*(s|m|h|d)\Z")
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)\s*(B|KB|MB|GB|TB|KIB|MIB|GIB|TIB)\Z", re.IGNORECASE)
LONGEST = timedelta(days=3_650)
"""No day minus a longer duration need be a date; no setting means more than ten years."""
LARGEST = 10**15
"""Bytes that a size may say; engines read no larger limit."""
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_FACTORS = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}


def parse_duration(text: object) -> timedelta:
    """Read `90s`, `15m`, `36h` or `3d`.

    Raises:
        ValueError: The text is no duration.
    """
    match = _DURATION.match(text.strip()) if isinstance(text, str) else None
    if match is None:
        message = "expected a duration such as 36h or 3d"
        raise ValueError(message)
    duration = timedelta(seconds=int(match[1]) * _SECONDS[match[2]])
    if duration > LONGEST:
        message = f"expected at most {LONGEST.days}d"
        raise ValueError(message)
    return duration


def parse_size(text: object) -> int:
    """Read `4GB`, `512MiB` or a number of bytes.

    Raises:
        ValueError: The text is no size.
    """
    if isinstance(text, int) and not isinstance(text, bool) and 0 < text <= LARGEST:
        return text
    match = _SIZE.match(text.strip()) if isinstance(text, str) else None
    if match is None:
        message = "expected a size such as 4GB or 512MiB"
        raise ValueError(message)
    size = int(float(match[1]) * _FACTORS[match[2].upper()])
    if size > LARGEST:
        message = f"expected at most {LARGEST // 10**12}TB"
        raise ValueError(message)
    return size

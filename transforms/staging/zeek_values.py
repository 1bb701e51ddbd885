"""Values that several of Zeek's logs have, in text or JSON: times, intervals, names of ends."""

import re

from transforms.staging.refusal import refuse
from transforms.staging.values import microseconds_of, parse_instant

RENAMED = {
    "id_orig_h": "id.orig_h", "id_orig_p": "id.orig_p",
    "id_resp_h": "id.resp_h", "id_resp_p": "id.resp_p",
}  # fmt: skip
"""Fields where the writer was told to part scopes by `_`."""

DECIMAL = re.compile(r"(-?)([0-9]{1,12})(?:\.([0-9]{1,12}))?")
_MOST_SECONDS = 10**11
"""A number above is no count of seconds before the year 5138."""
_LEAST_MILLISECONDS, _MOST_MILLISECONDS = 788_918_400_000, 253_402_300_799_999
"""From Zeek's first year to 9999; what stands between both counts may be either."""
_LONGEST_SECONDS = 10**10


def microseconds(stated: object) -> int | None:
    """Microseconds since 1970; none where the value is no time. 0 is what Zeek has at its start."""
    if isinstance(stated, str):
        match = DECIMAL.fullmatch(stated)
        if match is None:
            at = parse_instant(stated)
            return microseconds_of(at) if at is not None else None
        found = _exact(match)
        return found if found > 0 and not match[1] else None
    if isinstance(stated, bool) or not isinstance(stated, int | float) or stated <= 0:
        return None
    if stated < _MOST_SECONDS:
        return round(stated * 1_000_000)
    is_known = _LEAST_MILLISECONDS <= stated <= _MOST_MILLISECONDS
    return round(stated * 1_000) if is_known else None


def interval_microseconds(stated: object, word: str) -> int | None:
    """Microseconds of an interval; none where it is unset.

    Raises:
        RefusedError: The value is no number of seconds from 0; the reason begins with the word.
    """
    match = DECIMAL.fullmatch(stated) if isinstance(stated, str) else None
    if match is not None and not match[1]:
        return _exact(match)
    if stated is None:
        return None
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        refuse(word, "seconds from 0", stated)
    if not 0 <= stated < _LONGEST_SECONDS:
        refuse(word, "seconds from 0", stated)
    return round(stated * 1_000_000)


def _exact(match: re.Match[str]) -> int:
    return int(match[2]) * 1_000_000 + int((match[3] or "")[:6].ljust(6, "0"))

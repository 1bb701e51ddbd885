"""Find numbers in JSON that are beyond what a float holds, without decoding.

A row parser that decodes all of a record refuses it for such a number wherever it stands; columns
look only at the parts that they read.
"""

import re

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]

_STEP = 150
_LONG = re.compile(rb"[0-9]{150}")
"""Numbers below 1e309 have fewer digits, or an exponent of fewer."""
_HUGE = re.compile(rb"[0-9]\.?[eE]\+?[0-9]{3}")
_E, _LOWER, _PLUS = ord("e"), 0x20, ord("+")
_LONGEST = 1_000
"""Digits in front of an exponent that are looked at; longer runs are found as such."""
_BEFORE_NUMBER = b" \t\r\n:,["
_ZERO, _NINE = ord("0"), ord("9")


def huge_numbers(text: bytes) -> list[int]:
    """Places at which a number that no float holds may stand; texts that look like one count too.

    Args:
        text: JSON.
    """
    data = np.frombuffer(text, np.uint8)
    if len(data) < 3:
        return []
    signs = np.flatnonzero((data[1:-1] | _LOWER) == _E) + 1
    signs = signs[_is_digit(data[signs - 1])]
    following = data[signs + 1]
    signs = signs[_is_digit(following) | (following == _PLUS)]
    found = [at for at in signs.tolist() if _HUGE.match(text, at - 1) and _is_number(text, at)]
    # A long run of digits has one at every so many bytes.
    samples = np.arange(0, len(data), _STEP)
    for at in samples[_is_digit(data[samples])].tolist():
        match = _LONG.search(text, max(0, at - _STEP), at + _STEP)
        if match is not None:
            found.append(match.start())
    return found


def _is_number(text: bytes, at: int) -> bool:
    """Whether what stands in front of an exponent may be a number, and not the middle of a text."""
    front = text[max(0, at - _LONGEST) : at].rstrip(b"0123456789.").removesuffix(b"-")
    return not front or front[-1] in _BEFORE_NUMBER


def _is_digit(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    return (values >= _ZERO) & (values <= _NINE)

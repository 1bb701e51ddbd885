"""Find numbers in JSON that are beyond what a float holds, without decoding.

A row parser that decodes all of a record refuses it for such a number wherever it stands; columns
look only at the parts that they read.
"""

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]

_STEP, _IN_A_ROW = 50, 4
"""A number without an exponent of three digits has 200 digits or more, if no float holds it; of so
many, four in a row stand at every fiftieth byte."""
_E, _LOWER, _PLUS, _POINT = ord("e"), 0x20, ord("+"), ord(".")
_BEHIND = 5
"""Bytes behind the sign that are looked at, and the sign."""
_LONGEST = 1_000
"""Digits in front of an exponent that are looked at; longer runs are found as such."""
_BEFORE_NUMBER = b" \t\r\n:,["
_ZERO, _NINE = ord("0"), ord("9")


def huge_numbers(text: bytes) -> list[int]:
    """Places at which a number that no float holds may stand; texts that look like one count too.

    Args:
        text: JSON.
    """
    data = np.frombuffer(text + bytes(_BEHIND), np.uint8)
    is_digit = _is_digit(data[::_STEP])
    runs = np.lib.stride_tricks.sliding_window_view(
        np.append(is_digit, np.zeros(_IN_A_ROW, np.bool_)), _IN_A_ROW
    )
    long = (_STEP * np.flatnonzero(runs.all(axis=1))).tolist()
    return long + [at for at in _exponents(data) if _is_number(text, at)]


def _exponents(data: npt.NDArray[np.uint8]) -> list[int]:
    """Places of signs behind which an exponent of three digits, not negative, may stand."""
    signs = np.flatnonzero((data[1:-_BEHIND] | _LOWER) == _E) + 1
    before = data[signs - 1]
    signs = signs[_is_digit(before) | (before == _POINT)]
    first = signs + 1 + (data[signs + 1] == _PLUS)
    is_huge = _is_digit(data[first]) & _is_digit(data[first + 1]) & _is_digit(data[first + 2])
    found: list[int] = signs[is_huge].tolist()
    return found


def _is_number(text: bytes, at: int) -> bool:
    """Whether what stands in front of an exponent may be a number, and not the middle of a text."""
    front = text[max(0, at - _LONGEST) : at].rstrip(b"0123456789.").removesuffix(b"-")
    return not front or front[-1] in _BEFORE_NUMBER


def _is_digit(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    return (values >= _ZERO) & (values <= _NINE)

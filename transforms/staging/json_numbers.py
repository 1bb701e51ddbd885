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
_E, _LOWER, _PLUS, _MINUS, _POINT, _NOTHING = ord("e"), 0x20, ord("+"), ord("-"), ord("."), 0
_BEHIND = 5
"""Bytes behind the sign that are looked at, and the sign."""
_LONGEST = 1_000
"""Digits in front of an exponent that are looked at; longer runs are found as such."""
_IS_BEFORE_NUMBER = np.zeros(256, np.bool_)
_IS_BEFORE_NUMBER[list(b" \t\r\n:,[")] = True
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
    return long + _behind_numbers(data, _exponents(data))


def _exponents(data: npt.NDArray[np.uint8]) -> Places:
    """Places of signs behind which an exponent of three digits, not negative, may stand."""
    signs = np.flatnonzero((data[1:-_BEHIND] | _LOWER) == _E) + 1
    signs = signs[_is_of_number(data[signs - 1])]
    first = signs + 1 + (data[signs + 1] == _PLUS)
    is_huge = _is_digit(data[first]) & _is_digit(data[first + 1]) & _is_digit(data[first + 2])
    found: Places = signs[is_huge]
    return found


def _behind_numbers(data: npt.NDArray[np.uint8], signs: Places) -> list[int]:
    """Exponents in front of which a number may stand, and not the middle of a text."""
    # In front of the text stands what is behind its end.
    places = signs - 1
    waiting = np.arange(len(signs))
    for _ in range(_LONGEST):
        waiting = waiting[_is_of_number(data[places[waiting]])]
        if not len(waiting):
            break
        places[waiting] -= 1
    is_long = np.zeros(len(signs), np.bool_)
    is_long[waiting] = True
    places -= data[places] == _MINUS
    before = data[places]
    found: list[int] = signs[is_long | (before == _NOTHING) | _IS_BEFORE_NUMBER[before]].tolist()
    return found


def _is_of_number(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    return np.asarray(_is_digit(values) | (values == _POINT), np.bool_)


def _is_digit(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    return (values >= _ZERO) & (values <= _NINE)

"""Apply the rules of single values to whole columns: each distinct text is read once.

A rule is the function that reads one value of a record. Where it cannot read a text, or where the
text may not have been a text in the JSON (engines turn any JSON scalar into one), the row is left
in doubt: it must be read again from its line.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging.refusal import RefusedError

TEXT = pa.large_string()
TEXTS = pa.large_list(pa.large_string())
INTEGER = pa.int64()
NUMBER = pa.float64()
FLAG = pa.bool_()
INSTANT = pa.timestamp("us", "UTC")

Columns = dict[str, pa.Array]
"""Columns of equal length by name."""

_NO_TEXT = re.compile(
    r"[\[{].*|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null", re.DOTALL
)
"""What a JSON value that is no text looks like as a text."""
_REMEMBERED = 8 << 20
"""Characters of texts that a rule remembers; what it read from them takes a few times as much."""
_DOUBTFUL: Any = object()
_UNREADABLE = (RefusedError, msgspec.DecodeError, RecursionError)
_INSTANT_LENGTHS = (len("2026-01-01T00:00:00Z"), len("2026-01-01T00:00:00.000000000Z"))


class Doubts:
    """Which rows of a batch must be read again.

    Attributes:
        mask: True for such rows; none where there are none.
    """

    def __init__(self) -> None:
        """Start without doubts."""
        self.mask: pa.BooleanArray | None = None

    def note(self, mask: pa.BooleanArray) -> None:
        """Doubt the rows where the mask is true."""
        if not pc.any(mask).as_py():
            return
        mask = pc.fill_null(mask, False)
        self.mask = mask if self.mask is None else pc.or_(self.mask, mask)


class Rules:
    """A rule that reads several columns from one column of texts, such as of JSON objects."""

    def __init__(self, read: Callable[[str], Any], results: dict[str, pa.DataType]) -> None:
        """Take the function that reads one value.

        Args:
            read: Gives the values of the columns, by name, or raises that it cannot.
            results: Arrow type of each column.
        """
        self._results = results
        self._rule = Rule(read, pa.null(), is_text=False)
        self._forget()

    def _forget(self) -> None:
        self._places: dict[str, int] = {}
        self._doubtful: set[int] = set()
        self._known = {name: pa.array([], kind) for name, kind in self._results.items()}
        self._size = 0

    def apply(self, column: pa.Array, doubts: Doubts) -> Columns:
        """Read a column; a row that cannot be read is doubted and null."""
        if column.null_count == len(column):
            return {name: pa.nulls(len(column), kind) for name, kind in self._results.items()}
        encoded = column.dictionary_encode()
        places = self._places_of(encoded.dictionary.to_pylist())
        rows = pa.array(places, pa.int32()).take(encoded.indices)
        bad = self._doubtful.intersection(places)
        if bad:
            doubts.note(pc.is_in(rows, pa.array(sorted(bad), rows.type)))
        return {name: known.take(rows) for name, known in self._known.items()}

    def _places_of(self, texts: list[str]) -> list[int]:
        """Where in the known columns each text stands; what is new is read and put behind them."""
        if self._size > _REMEMBERED:
            self._forget()
        places = self._places
        new = [text for text in texts if text not in places]
        if new:
            values = self._rule.values(new)
            found = [{} if value is _DOUBTFUL or value is None else value for value in values]
            # All or none: a value that no column can hold must not leave columns of two lengths.
            self._known = {
                name: pa.concat_arrays(
                    [self._known[name], pa.array([value.get(name) for value in found], kind)]
                )
                for name, kind in self._results.items()
            }
            for text, value in zip(new, values, strict=True):
                if value is _DOUBTFUL:
                    self._doubtful.add(len(places))
                places[text] = len(places)
                self._size += len(text)
        return [places[text] for text in texts]


class Rule:
    """A rule for one column of texts.

    Attributes:
        result: Type of the column it gives.
    """

    def __init__(
        self, read: Callable[[str], Any], result: pa.DataType, *, is_text: bool = True
    ) -> None:
        """Take the function that reads one value.

        Args:
            read: Reads a value, or raises that it cannot.
            result: Arrow type of what it gives.
            is_text: Only a JSON text is right, so that what may be another JSON value is doubted;
                if false, the function refuses other values by itself or takes them as well.
        """
        self.result = result
        self._read = read
        self._is_text = is_text
        self._known: dict[str, Any] = {}
        self._size = 0

    def apply(self, column: pa.Array, doubts: Doubts) -> pa.Array:
        """Read a column; a row that cannot be read is doubted and null."""
        if column.null_count == len(column):
            return pa.nulls(len(column), self.result)
        encoded, values = self.encoded(column, doubts)
        if self.result == TEXT and values == encoded.dictionary.to_pylist():
            return column
        return pa.array(values, self.result).take(encoded.indices)

    def encoded(self, column: pa.Array, doubts: Doubts) -> tuple[pa.DictionaryArray, list[Any]]:
        """The column by distinct texts, and what each of them gives; none where it is in doubt."""
        encoded = column.dictionary_encode()
        values = self.values(encoded.dictionary.to_pylist())
        bad = [i for i, value in enumerate(values) if value is _DOUBTFUL]
        if bad:
            values = [None if value is _DOUBTFUL else value for value in values]
            doubts.note(pc.is_in(encoded.indices, pa.array(bad, encoded.indices.type)))
        return encoded, values

    def values(self, texts: list[str]) -> list[Any]:
        """What each text gives; `_DOUBTFUL` where it cannot be read."""
        known = self._known
        if self._size > _REMEMBERED:
            known.clear()
            self._size = 0
        try:
            return [known[text] for text in texts]
        except KeyError:
            for text in texts:
                if text not in known:
                    known[text] = self._value(text)
                    self._size += len(text)
            return [known[text] for text in texts]

    def _value(self, text: str) -> Any:  # noqa: ANN401  whatever the rule reads
        if self._is_text and _NO_TEXT.fullmatch(text):
            return _DOUBTFUL
        try:
            return self._read(text)
        except _UNREADABLE:
            return _DOUBTFUL


def texts(
    column: pa.LargeListArray,
    rule: Rule,
    doubts: Doubts,
    *,
    valid: pa.BooleanArray | None = None,
) -> pa.LargeListArray:
    """Read a column of lists of texts; an element that gives nothing leaves its row in doubt.

    Args:
        column: The lists.
        rule: Rule for one element.
        doubts: Where doubts are noted.
        valid: Rows that have a list, empty where none is stated; if none, a row without elements
            has null.
    """
    if column.null_count == len(column) and valid is None:
        return pa.nulls(len(column), TEXTS)
    lengths = pc.list_value_length(column)
    if column.offset or pc.sum(lengths).as_py() != len(column.values):
        column = pa.array(column.to_pylist(), TEXTS)
    inner = Doubts()
    values = rule.apply(column.values, inner)
    if values.null_count:
        inner.note(values.is_null())
    if inner.mask is not None:
        rows = pc.list_parent_indices(column).filter(inner.mask)
        doubts.note(pc.is_in(pa.array(range(len(column)), rows.type), pc.unique(rows)))
    missing = pc.equal(lengths, 0) if valid is None else pc.invert(valid)
    mask = pc.fill_null(missing, True)
    return pa.LargeListArray.from_arrays(column.offsets, values, mask=mask)


def numbers(
    column: pa.Array, rule: Rule, doubts: Doubts, *, maximum: int, zero_is_null: bool = False
) -> pa.Int64Array:
    """Read a column of unsigned integers; `rule` reads what is not plainly one."""
    if column.null_count == len(column):
        return pa.nulls(len(column), INTEGER)
    if pc.all(pc.ascii_is_decimal(column)).as_py():
        try:
            found = column.cast(INTEGER)
        except pa.ArrowInvalid:
            return rule.apply(column, doubts)
        extremes = pc.min_max(found).as_py()
        if extremes["max"] <= maximum:
            if zero_is_null and extremes["min"] == 0:
                return pc.if_else(pc.equal(found, 0), pa.scalar(None, INTEGER), found)
            return found
    return rule.apply(column, doubts)


def instants(column: pa.Array, rule: Rule, doubts: Doubts) -> pa.TimestampArray:
    """Read a column of RFC 3339 times, cut to microseconds; `rule` reads unusual ones."""
    if column.null_count == len(column):
        return pa.nulls(len(column), INSTANT)
    lengths = pc.min_max(pc.binary_length(column)).as_py()
    shortest, longest = _INSTANT_LENGTHS
    is_plain = lengths["min"] >= shortest and lengths["max"] <= longest
    if is_plain and pc.all(pc.ends_with(column, "Z")).as_py():
        try:
            exact = column.cast(pa.timestamp("ns", "UTC"))
        except pa.ArrowInvalid:
            return rule.apply(column, doubts)
        # Before 1970 cutting would round up.
        if pc.min(exact.cast(INTEGER)).as_py() >= 0:
            return exact.cast(INSTANT, safe=False)
    return rule.apply(column, doubts)


def fields(column: pa.StructArray) -> dict[str, pa.Array]:
    """The fields of a column of objects by name; null where the object is."""
    return dict(zip((field.name for field in column.type), column.flatten(), strict=True))


def choose(first: pa.Array, second: pa.Array) -> pa.Array:
    """The first column, and where it is null the second."""
    return pc.coalesce(first, second) if first.null_count else first

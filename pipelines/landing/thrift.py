"""Read the compact protocol of Thrift, in which Parquet writes its footer and its page headers.

Source: the specification of the protocol. A reader of our own is needed because nothing may be
taken on trust before it is looked at, and pyarrow ends the process on some damaged footers.
"""

from typing import Any

MAX_DEPTH = 16
"""Structs in structs; a footer has some seven."""

Fields = dict[int, Any]
"""The fields of a struct by number: truth values, integers, bytes, lists and structs."""

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_UUID = 13


class ThriftError(ValueError):
    """The bytes are no such struct; the message says what stood there."""


class ShortError(Exception):
    """The bytes end inside the struct."""


class ThriftReader:
    """Reads structs from bytes.

    Attributes:
        place: Byte behind what was read.
    """

    def __init__(self, data: bytes, max_items: int) -> None:
        """Start at the first byte.

        Args:
            data: The bytes.
            max_items: Elements of all lists together at most.
        """
        self.place = 0
        self._data = data
        self._items_left = max_items

    def struct(self, depth: int = 0) -> Fields:
        """The struct at the current place.

        Raises:
            ThriftError: It is none.
            ShortError: The bytes end inside it.
        """
        if depth > MAX_DEPTH:
            message = "too many levels"
            raise ThriftError(message)
        fields: Fields = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            is_truth = kind in {_TRUE, _FALSE}
            fields[number] = kind == _TRUE if is_truth else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:  # noqa: ANN401  any value of Thrift
        if _BYTE < kind < _DOUBLE:
            return self._integer()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in {_LIST, _SET}:
            return self._list(depth + 1)
        if kind == _BYTE:
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _UUID:
            return self._bytes(16)
        message = "values of an unknown type"
        raise ThriftError(message)

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        self._items_left -= count
        if depth > MAX_DEPTH or self._items_left < 0:
            message = "too many parts"
            raise ThriftError(message)
        kind = head & 15
        if kind in {_TRUE, _FALSE}:
            return [self._byte() == _TRUE for _ in range(count)]
        return [self._value(kind, depth) for _ in range(count)]

    def _byte(self) -> int:
        if self.place >= len(self._data):
            raise ShortError
        self.place += 1
        return self._data[self.place - 1]

    def _bytes(self, count: int) -> bytes:
        start = self.place
        self.place += count
        if self.place > len(self._data):
            raise ShortError
        return self._data[start : self.place]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                message = "a number that is too long"
                raise ThriftError(message)

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

"""What of a JSON record is read by columns: the leaves of the message that the row parser decodes.

A shape is made from the message itself, so that both read the same keys as the same types. Every
leaf has the decoder of its type, with which its JSON is read once per distinct text.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

LISTED = "listed_records"
"""Part that holds a list of records, which is not for columns."""


@dataclass(frozen=True)
class Leaf:
    """A part of a record that is read as a whole.

    Attributes:
        keys: Keys that lead to it.
        decoder: Decodes its JSON; of a list, that of an element; none where the row parser takes
            its bytes.
        is_list: Whether the elements of a list are read singly.
        is_text: Whether its type is a text or null.
    """

    keys: tuple[str, ...]
    decoder: "msgspec.json.Decoder[Any] | None"
    is_list: bool = False
    is_text: bool = False


class Shape:
    """The leaves of a message, by path, such as `api.name`.

    Attributes:
        leaves: The leaves.
        columns: What the engine reads, by the key at the top: a type of its own language.
        list_key: Key under which a record may hold a list of records.
        foreign: Words of lines that are not for columns.
        never_null: Ends of keys; a line in which one of these is null is not for columns.
        judge: Whether a record with these keys at the top is for columns; none if all are.
        decodes_all: Whether the row parser decodes also what is not read.
    """

    def __init__(
        self,
        message: type[msgspec.Struct],
        whole: Collection[str] = (),
        inner: Mapping[str, type[msgspec.Struct]] | None = None,
        list_key: str | None = None,
        foreign: Collection[str] = (),
        unread: Collection[str] = (),
        *,
        judge: Callable[[tuple[str, ...]], bool] | None = None,
        decodes_all: bool = False,
        never_null: Collection[str] = (),
    ) -> None:
        """Take the message apart.

        Args:
            message: What the row parser decodes.
            whole: Paths of objects that are read as a whole; `answers[]` reads the elements of a
                list singly.
            inner: Messages by which the row parser decodes parts that it takes as bytes.
            list_key: Key under which a record may hold a list of records.
            unread: Paths of parts that the row parser takes as bytes, and that no column needs.
            foreign: Words in lines that are of another form, or may be, and not for columns.
            judge: Whether a record with these keys at the top is for columns; none if all are.
            decodes_all: Whether the row parser decodes also what is not read, and so refuses a
                record for what stands there.
            never_null: Ends of keys of which the row parser asks whether they are there, which
                columns do not tell from null.
        """
        self.never_null = tuple(end.encode() for end in never_null)
        self.judge = judge
        self.decodes_all = decodes_all
        self.foreign = tuple(word.encode() for word in foreign)
        self.leaves: dict[str, Leaf] = {}
        self.list_key = list_key
        self._whole = frozenset(whole)
        self._inner = inner or {}
        self._unread = frozenset(unread)
        self.columns = self._parts(message, "", ())
        if list_key is not None:
            self.leaves[LISTED] = Leaf((list_key,), None)
            self.columns[list_key] = "JSON"
        unknown = {path.removesuffix("[]") for path in self._whole} - self.leaves.keys()
        if unknown or self._inner.keys() & self.leaves.keys():
            problem = f"{message.__name__}: no such parts: {sorted(unknown) or list(self._inner)}"
            raise TypeError(problem)

    def _parts(
        self, message: type[msgspec.Struct], parent: str, keys: tuple[str, ...]
    ) -> dict[str, str]:
        config = message.__struct_config__
        if config.tag is not None or config.array_like or config.forbid_unknown_fields:
            problem = f"{message.__name__}: only a plain message has a shape"
            raise TypeError(problem)
        found = {}
        for field in msgspec.structs.fields(message):
            path, key = f"{parent}{field.name}", field.encode_name
            kind = self._inner.get(path, field.type)
            if path in self._unread and kind is msgspec.Raw:
                continue
            is_absent = field.default is None or isinstance(field.default, msgspec.Raw)
            if not is_absent:
                problem = f"{message.__name__}.{field.name}: what is absent must be null"
                raise TypeError(problem)
            inner = None if path in self._whole else _message(kind)
            if inner is not None:
                parts = self._parts(inner, f"{path}.", (*keys, key))
                stated = ", ".join(f"{_quoted(name)} {part}" for name, part in parts.items())
                found[key] = f"STRUCT({stated})"
            elif f"{path}[]" in self._whole:
                element = msgspec.json.Decoder(_element(kind))
                self.leaves[path] = Leaf((*keys, key), element, is_list=True)
                found[key] = "JSON[]"
            else:
                decoder = None if kind is msgspec.Raw else msgspec.json.Decoder(kind)
                is_text = set(_alternatives(kind)) == {str, NoneType}
                self.leaves[path] = Leaf((*keys, key), decoder, is_text=is_text)
                found[key] = "JSON"
        return found


def _message(kind: Any) -> type[msgspec.Struct] | None:  # noqa: ANN401  a type of any kind
    """The message that a type is, or null; none for other types."""
    parts = [part for part in _alternatives(kind) if part is not NoneType]
    if len(parts) == 1 and isinstance(parts[0], type) and issubclass(parts[0], msgspec.Struct):
        return parts[0]
    return None


def _element(kind: Any) -> Any:  # noqa: ANN401  a type of any kind
    """Type of the elements of a list."""
    lists = [part for part in _alternatives(kind) if get_origin(part) is list]
    return get_args(lists[0])[0]


def _alternatives(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401  a type of any kind
    return get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

"""Plant a secret in every place of the small whole files that each format has for mutations.

A place is a text anywhere in a JSON record, a name of one of its keys, a further key of any of its
objects, or a word of a line of text. Beside each secret stands a word, and each planted file has a
twin in which every letter and digit of a secret is an `x`: where the twin's rows keep the word, the
planted file's rows must keep it, too. So nobody has to say by hand which places are kept.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pipelines.landing.formats import format_names
from tests.canaries.planter import Planter

Json = Any
_SEPARATORS = (" ", "/", ".")
_KINDS = (
    "kind", "type", "eventName", "operationName", "OperationName", "messageType", "verb", "level",
)  # fmt: skip
"""Keys that say of what kind a record is: the places of each kind are planted."""
_WORD = re.compile(r"[^\s\";,=?&{}()\[\]]{2,}")
_ALNUM = re.compile("[A-Za-z0-9]")
_BASE64 = re.compile("[A-Za-z0-9+/]{16}")
_FEW = 15
"""Places of a file of which few hold a secret."""
_FREE = re.compile(
    r"data\.example\.com|Pulling image|python-gcsfs|Boto3|azsdk|MinIO|aws-cli|train-resnet"
    r"|app=train|eth0|eni-|plx-operation"
)
"""Texts that a user, a client or a controller writes: secrets of every shape stand beside them."""


@dataclass(frozen=True)
class PlantedFile:
    """A file with secrets, and its twin without.

    Attributes:
        format: Its format.
        number: Ordinal among the files of the format.
        text: The text with secrets.
        twin: The same text with harmless texts.
        words: What stands beside the secrets.
        shapes: Shapes of the secrets beside a text that somebody writes freely.
    """

    format: str
    number: int
    text: str
    twin: str
    words: tuple[str, ...]
    shapes: frozenset[str]


Text = Callable[[str], str]
"""Writes a line around a text that stands for a secret."""


@dataclass(frozen=True)
class _Place:
    """One place.

    Attributes:
        name: Where it is, for people.
        write: The line with another text in this place.
        old: The text that stands there.
    """

    name: str
    write: Text
    old: str


def planted_formats() -> tuple[str, ...]:
    """Formats whose files can be planted."""
    return tuple(
        name for name in format_names() if find_spec(f"tests.mutations.seeds.{name}") is not None
    )


def planted_files(
    format_name: str, p: Planter, *, fully: bool = False, few: bool = False
) -> Iterator[PlantedFile]:
    """The format's files, planted.

    Args:
        format_name: The format.
        p: Hands out the secrets.
        fully: Whether every place holds a secret in every spelling of what is around it; else in
            one, by turns.
        few: Whether few places of each file hold one, and only the first file has records that
            break off.
    """
    found: tuple[bytes, ...] = import_module(f"tests.mutations.seeds.{format_name}").FILES
    for number, data in enumerate(found):
        yield _planted(format_name, number, data.decode(), p, 3 if fully else 1, few=few)


def _planted(
    format_name: str, number: int, text: str, p: Planter, spellings: int, *, few: bool
) -> PlantedFile:
    lines = _lines(text)
    pair = _Pair(p)
    kinds = Planter.shape_names()
    places = {place.name: (line, place) for line in reversed(lines) for place in _places(line)}
    free = next((n for n, (_, place) in places.items() if _FREE.search(place.old)), None)
    free = free or next(iter(places), None)
    names = [name for n, name in enumerate(places) if name == free or not few or n < _FEW]
    by_line: dict[str, list[_Place]] = {}
    for name in names:
        by_line.setdefault(places[name][0], []).append(places[name][1])
    turn = number
    for line in lines:
        pair.add(line)
        for place in by_line.pop(line, ()):
            count = len(kinds) if place.name == free else spellings
            for n in range(turn, turn + count):
                where = f"{format_name} {place.name}"
                pair.plant(place, kinds[n % len(kinds)], _SEPARATORS[n % 3], where)
            turn += count
    if places and not (few and number):
        _break_off(pair, list(_places(lines[0]))[:2], kinds, format_name)
    shapes = frozenset(kinds if free else ())
    return PlantedFile(
        format_name, number, _file(pair.lines), _file(pair.twin), tuple(pair.words), shapes
    )


class _Pair:
    """The lines of a planted file and of its twin.

    Attributes:
        lines: Lines with secrets.
        twin: The same lines without.
        words: What stands beside the secrets.
    """

    def __init__(self, p: Planter) -> None:
        self.planter = p
        self.lines: list[str] = []
        self.twin: list[str] = []
        self.words: list[str] = []

    def add(self, line: str) -> None:
        """A line of both."""
        self.lines.append(line)
        self.twin.append(line)

    def plant(self, place: _Place, kind: str, separator: str, where: str) -> None:
        """A line with a secret in a place."""
        word = f"beside{len(self.planter.canaries):06d}x"
        secret = self.planter.of_shape(kind, where)
        before = f"{place.old}{separator}{word}{separator}"
        self.lines.append(place.write(before + secret))
        self.twin.append(place.write(before + _ALNUM.sub("x", secret)))
        # Behind a slash, nothing tells a run of base64 from the path in front of it.
        if not (separator == "/" and _BASE64.match(secret)):
            self.words.append(word)


def _break_off(pair: _Pair, places: list[_Place], kinds: Iterable[str], format_name: str) -> None:
    """Add records that break off, also inside of a secret, and lines of no record at all."""
    for kind in kinds:
        for place in places:
            secret = pair.planter.of_shape(kind, f"{format_name} record that breaks off")
            line = place.write(secret)
            written = line.find(json.dumps(secret)[1:-1])
            end = written + len(secret) * 2 // 3 if written >= 0 else len(line) - 1
            pair.lines += (line[:-1], line[:end])
        for form in ('{{"a":"b","note":"{}"', "x {} y", '"{}",', "[{}"):
            text = form.format(pair.planter.of_shape(kind, f"{format_name} line of no record"))
            pair.lines.append(text.replace("\n", "\\n"))


def _file(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines of a file; a document for each record of its one document."""
    found = []
    for line in [text] if _is_json(text) else text.splitlines():
        if _is_json(line):
            found += [json.dumps(document) for document in _with_one_record(json.loads(line), 4)]
        else:
            found.append(line)
    return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _with_one_record(document: Json, depth: int) -> list[Json]:
    """Copies of a document in which each list of records holds one of them."""
    if isinstance(document, list):
        if len(document) > 1 and all(isinstance(each, dict) for each in document):
            return [[one] for each in document for one in _with_one_record(each, depth - 1)]
        return [document]
    if not isinstance(document, dict) or depth == 0:
        return [document]
    for key, value in document.items():
        found = _with_one_record(value, depth - 1)
        if len(found) > 1:
            return [{**document, key: each} for each in found]
    return [document]


def _places(line: str) -> Iterator[_Place]:
    if _is_json(line):
        yield from _places_of_json(json.loads(line))
    else:
        yield from _places_of_text(line)


def _places_of_text(line: str) -> Iterator[_Place]:
    # A word's ordinal names the place: fields of one format stand in one order.
    shape = len(line.split(" ", 2)[0]) if line.startswith("#") else ""
    for number, match in enumerate(_WORD.finditer(line)):
        write = partial(_with_word, line, *match.span())
        yield _Place(f"word {number} of {line[:1]}{shape}", write, match[0])


def _with_word(line: str, start: int, end: int, text: str) -> str:
    text = text.replace("\n", " ")
    if line[:start].count('"') % 2 == 0:
        text = text.replace(" ", "%20")  # outside of quotes a blank would end the field
    return line[:start] + text + line[end:]


_Path = tuple[str | int, ...]


def _places_of_json(record: Json) -> Iterator[_Place]:
    for path, kind, value in _nodes(record, (), ""):
        name = f"{kind}{'.'.join('[]' if isinstance(step, int) else step for step in path)}"
        if isinstance(value, str):
            yield _Place(name, partial(_with_value, record, path), value)
        elif isinstance(value, dict):
            yield _Place(f"{name}.(key)", partial(_with_key, record, path), "k")
            yield _Place(f"{name}.(further)", partial(_with_member, record, path, "further"), "v")
        elif value is None or isinstance(value, int | float):
            yield _Place(name, partial(_with_value, record, path), f"{value}")


def _nodes(value: Json, path: _Path, kind: str) -> Iterator[tuple[_Path, str, Json]]:
    yield path, kind, value
    if isinstance(value, dict):
        said = [str(value[key]) for key in _KINDS if isinstance(value.get(key), str)]
        kind = f"{kind}{'/'.join(said)} " if said and not path[5:] else kind
        for key, each in value.items():
            yield from _nodes(each, (*path, key), kind)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _nodes(each, (*path, index), kind)


def _changed(record: Json, path: _Path, change: Callable[[Json], Json]) -> Json:
    """A copy in which one node is another."""
    if not path:
        return change(record)
    step = path[0]
    copied = record.copy()
    copied[step] = _changed(record[step], path[1:], change)
    return copied


def _with_value(record: Json, path: _Path, text: str) -> str:
    return json.dumps(_changed(record, path, lambda _: text))


def _with_key(record: Json, path: _Path, text: str) -> str:
    return json.dumps(_changed(record, path, lambda node: {**node, text: "v"}))


def _with_member(record: Json, path: _Path, key: str, text: str) -> str:
    return json.dumps(_changed(record, path, lambda node: {key: text, **node}))

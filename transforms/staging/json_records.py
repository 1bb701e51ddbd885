"""Cut JSON exports into records, and say of a record that cannot be read where and why.

A document holds many records (a list), so the items are taken out as bytes first and each is
decoded on its own: one broken item is one reject with its JSON path, the others stay, and memory
holds one decoded item at a time.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, TypeVar

import msgspec

from transforms.staging.json_places import MAX_SEARCHED, place_of
from transforms.staging.parser import Parsed, Place, RawRecord, Row
from transforms.staging.refusal import RefusedError, place_of_refusal

T = TypeVar("T")

MASKED_WINDOW = 2_048
"""Bytes of a record that an excerpt may show."""

SHOWN_KEYS = frozenset(
    {
        b"apiVersion", b"count", b"created_at", b"creationTimestamp", b"firstTimestamp", b"kind",
        b"lastTimestamp", b"name", b"namespace", b"phase", b"reason", b"resourceVersion",
        b"runtime", b"status", b"type", b"uid", b"updated_at", b"uuid",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; environment, arguments and annotations may hold secrets of
any shape, so every other text is left out."""

_STRING = re.compile(rb'"((?:[^"\\]++|\\.)*+)("\s*+:|"|\\?\Z)', re.DOTALL)
_BARE = re.compile(rb"[^\s{}\[\],:]+")
_HARMLESS = re.compile(rb"(?:true|false|null|-?[0-9][0-9.eE+-]{0,30})\Z")
_MALFORMED = re.compile(r" \(byte ([0-9]{1,12})\)\Z")
_WHERE = re.compile(r" at (\$\S*)\Z")
_MESSAGE = re.compile(r"(?P<what>.*?)(?: - at `(?:key in )?(?P<where>\$.*)`)?\Z", re.DOTALL)
_MASKED_TEXT, _MASKED_WORD = '"…"'.encode(), "…".encode()
_TOP_LEVEL_END = re.compile(rb"^[}\]][ \t\r]*\n\s*+(?=[{\[])", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"


class RecordError(Exception):
    """A record cannot be read; the message is the reject's reason.

    Attributes:
        data: The bytes that were decoded, where they are malformed.
        at: The byte in them at which decoding stopped.
    """

    def __init__(self, reason: str, data: bytes = b"", at: int | None = None) -> None:
        """Keep the reason and the place."""
        super().__init__(reason)
        self.data = data
        self.at = at


class Item(NamedTuple):
    """One record inside a file of JSON.

    Attributes:
        locator: Where it stands, as the ledger writes it.
        path: Its JSON path in its document, such as `$.items[3]`.
        offset: Byte offset in the decompressed text; null for a part of a document.
        data: Its bytes.
    """

    locator: str
    path: str
    offset: int | None
    data: bytes

    def part(self, step: str, data: bytes) -> "Item":
        """A record inside this one, at the JSON path step behind it.

        Where this one stood in a wrapper, the path of that stays in front.
        """
        path = f"{self.path}{step}"
        head = self.locator.removesuffix(self.path).rstrip()
        return Item(f"{head} {path}".lstrip(), path, None, data)

    def accepted(self, rows: tuple[Row, ...]) -> Parsed:
        """Accept it."""
        return Parsed(self.locator, self.offset, self.data, rows=rows, conceal=masked)

    def rejected(
        self,
        problem: "str | RecordError | RefusedError",
        shown: frozenset[bytes] = SHOWN_KEYS,
    ) -> Parsed:
        """Refuse it for a reason, or for what went wrong in it."""
        return Parsed(
            self.locator,
            self.offset,
            masked(self.data, shown),
            reject=str(problem),
            find_place=partial(_place, _alone(problem), self.data, self.path, shown),
        )

    def ignored(self, reason: str) -> Parsed:
        """Leave it out by rule."""
        return Parsed(self.locator, self.offset, self.data, ignore=reason, conceal=masked)


def documents(raw: RawRecord) -> Iterator[Item]:
    """The JSON documents of a raw record: one, or several that stand behind each other.

    `kubectl get --watch -o json` prints one indented document after the other. An indented document
    ends with a bracket in the first column, where no line inside a document begins with one.
    """
    if raw.locator != "$":
        yield Item(raw.locator, "$", raw.offset, raw.data.removeprefix(_BOM))
        return
    ends = [match.end() for match in _TOP_LEVEL_END.finditer(raw.data)]
    if not ends:
        yield Item("$", "$", raw.offset, raw.data.removeprefix(_BOM))
        return
    line, start = 1, 0
    for end in (*ends, len(raw.data)):
        data = raw.data[start:end]
        blank = len(data) - len(data.lstrip())
        line += data.count(b"\n", 0, blank)
        yield Item(f"line {line}", "$", raw.offset + start + blank, data.strip().removeprefix(_BOM))
        line += data.count(b"\n", blank)
        start = end


def decode(decoder: "msgspec.json.Decoder[T]", data: bytes, path: str) -> T:
    """Decode bytes by a type.

    Args:
        decoder: Decoder of the type.
        data: JSON.
        path: JSON path of the bytes in their document, for the reason.

    Raises:
        RecordError: The bytes are no JSON, or not of the type; the reason never shows a value.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise RecordError(_wrong_value(str(error), path)) from None
    except msgspec.DecodeError as error:
        message = f"invalid_json: expected JSON, got {_malformed(str(error))} at {path}"
        raise RecordError(message, data, malformed_at(str(error), data)) from None
    except UnicodeDecodeError:
        message = f"invalid_json: expected UTF-8, got other bytes at {path}"
        raise RecordError(message) from None
    except RecursionError:
        message = f"too_deep: expected JSON of a few levels, got too many at {path}"
        raise RecordError(message) from None


def break_of(
    problem: "str | RecordError | RefusedError", data: bytes, path: str = "$"
) -> int | None:
    """Byte of a record at which it breaks; none where that is not known.

    Args:
        problem: What is wrong; a JSON path at the end of its text tells the place, too.
        data: The record.
        path: JSON path of the record.
    """
    at = None
    if isinstance(problem, RefusedError):
        at = place_of_refusal(problem, data)
    elif isinstance(problem, RecordError) and problem.data is data:
        at = problem.at
    where = _WHERE.search(str(problem))
    if at is None and where is not None and where[1].startswith(path):
        at = place_of(data, f"${where[1][len(path) :]}")
    return at


def rejected_masked(
    raw: RawRecord, problem: "str | RecordError | RefusedError", shown: frozenset[bytes]
) -> Parsed:
    """Refuse a line, of which only the texts under the shown keys may be shown."""
    return Parsed(
        raw.locator,
        raw.offset,
        masked(raw.data, shown),
        reject=str(problem),
        find_place=partial(_place, _alone(problem), raw.data, "$", shown),
    )


def _alone(
    problem: "str | RecordError | RefusedError",
) -> "str | RecordError | RefusedError":
    """The problem without the frames it came through, which hold all that was read with it."""
    if isinstance(problem, Exception):
        problem.__traceback__ = problem.__context__ = problem.__cause__ = None
    return problem


def _place(
    problem: "str | RecordError | RefusedError", data: bytes, path: str, shown: frozenset[bytes]
) -> Place | None:
    return masked_place(data, break_of(problem, data, path), shown)


def malformed_at(message: str, data: bytes) -> int | None:
    """Byte at which msgspec stopped decoding, as its message says; none where it does not."""
    if "truncated" in message:
        return len(data.rstrip())
    if "UTF-8" in message:
        return len(data) - len(data.decode("utf-8", "ignore").encode())
    match = _MALFORMED.search(message)
    return min(int(match[1]), len(data)) if match else None


def masked_place(data: bytes, at: int | None, shown: frozenset[bytes] = SHOWN_KEYS) -> Place | None:
    """A place in a record as it stands in the masked record."""
    if at is None or at > MAX_SEARCHED:
        return None
    pieces = list(_pieces(bytes(data[: at + MASKED_WINDOW]), shown))
    place = 0
    for start, end, text in pieces:
        if at < end:
            is_whole = end - start == len(text)
            # Inside a text that is masked it is the first character behind the quote.
            place += at - start if is_whole else min(at - start, 1)
            break
        place += len(text)
    return Place(b"".join(text for _, _, text in pieces), place)


def masked(data: bytes, shown: frozenset[bytes] = SHOWN_KEYS, size: int = MASKED_WINDOW) -> bytes:
    """The beginning of a record without the texts in which a secret of any shape may stand.

    Only texts under the shown keys, keys, numbers and structure stay. What is no JSON at all stays
    as it is: what looks like a secret in it is taken out with every excerpt.

    Args:
        data: The record.
        shown: Keys whose text stays.
        size: Bytes of the record that are looked at.
    """
    return b"".join(text for _, _, text in _pieces(bytes(data[:size]), shown))


def _pieces(window: bytes, shown: frozenset[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """Cut a text into pieces: start, end, and what may be shown of it."""
    if window.removeprefix(_BOM).lstrip()[:1] not in {b"{", b"["}:
        yield 0, len(window), window
        return
    key, place = b"", 0
    for match in _STRING.finditer(window):
        yield from _bare_pieces(window, place, match.start())
        place = match.end()
        is_key = match[2].endswith(b":")
        key = match[1] if is_key else key
        is_shown = is_key or (key in shown and match[2] == b'"')
        yield match.start(), place, match[0] if is_shown else _MASKED_TEXT
    yield from _bare_pieces(window, place, len(window))


def _bare_pieces(window: bytes, start: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Cut what stands between two texts: numbers, words and structure."""
    for match in _BARE.finditer(window, start, end):
        if match.start() > start:
            yield start, match.start(), window[start : match.start()]
        start = match.end()
        is_harmless = _HARMLESS.match(match[0]) is not None
        yield match.start(), start, match[0] if is_harmless else _MASKED_WORD
    if end > start:
        yield start, end, window[start:end]


def _wrong_value(message: str, path: str) -> str:
    match = _MESSAGE.match(message)
    what = match["what"] if match else message
    where = path + (match["where"] or "$")[1:] if match else path
    what = what.replace("`", "")
    missing = what.removeprefix("Object missing required field ")
    if missing != what:
        return f"no_{missing}: expected {where}.{missing}, got none"
    if not what.startswith("Expected"):
        return f"out_of_range: expected another value, got: {what.lower()} at {where}"
    got = "" if ", got" in what else ", got another value"
    return f"wrong_type: expected{what.removeprefix('Expected')}{got} at {where}"


def _malformed(message: str) -> str:
    if "truncated" in message:
        return "an end inside a value"
    return message.removeprefix("JSON is malformed: ")

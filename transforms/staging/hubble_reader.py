"""Find the events in a Hubble export, whatever stands around them.

The exporter writes one event per line, and such a line is read at once. What is no such line:

* Lists and documents. `[{…},{…}]` on one line or many, pretty-printed objects, objects behind each
  other without a line end. Brackets, commas and blanks between events are no records.
* Torn lines. A writer that was killed leaves the beginning of an event; after its restart the next
  event follows on the same line. A restart of the node can leave NUL bytes. The whole event behind
  (or in front of) the torn part is taken, the torn part is refused.
* Text: logs of the agent and its proxy (export to `stdout`), what cilium-bugtool writes around the
  output of a command, events printed as text, archives.

How records are counted, so that `record_count = accepted + duplicate + rejected + ignored`:

* each whole JSON object at the top of the text, or in a list there, is one record, on however many
  lines it stands;
* each torn stretch between two records of a line, or of an object that its following lines do not
  finish, is one record, however many events were torn in it;
* each line of text is one record; an archive is one record;
* a list that does not end is one more record, because events may be missing behind it. A list of
  all that follows begins at the beginning of the file or behind such a list; a bracket elsewhere is
  a line of text.

An event is taken from a damaged line only if it is provably whole: it begins with the key of an
event, is a JSON value, and nothing but the next one or the end of the line follows: a bracket too
many may have closed it too early. Events do not nest, so that what begins an event cannot be a part
of another one.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from transforms.staging import hubble_text
from transforms.staging.json_prefix import Prefix
from transforms.staging.json_records import masked
from transforms.staging.parser import Parsed, RawRecord

MAX_DOCUMENT = 1 << 20
"""Bytes of an object on several lines; an event has some kilobytes."""
TORN = "torn: expected a whole event, got a part of one"
UNFINISHED_LIST = "unfinished_list: expected ] behind the last event, got the end of the file"

_MALFORMED = ("invalid_json:", "not_an_object:", "too_deep:")
_DECODED = ("wrong_type:", "out_of_range:")


class _Object(msgspec.Struct, gc=False):
    """Any object: the decoder checks all of it and keeps nothing."""


_OBJECT: "msgspec.json.Decoder[_Object]" = msgspec.json.Decoder(_Object)
_START = re.compile(
    rb'\{\s*+"(?:flow|lost_events|agent_event|debug_event|node_status|lostEvents|agentEvent'
    rb'|debugEvent|nodeStatus)"\s*+:\s*+(?=\{)'
    rb'|(?<!"flow":)(?<!"flow": )(?<!"agent_start":)(?<!"agent_start": )'
    rb'(?<!"agentStart":)(?<!"agentStart": )\{\s*+"(?:time|level)"\s*+:\s*+"'
)
"""Beginning of an event, a bare flow, or a line of a log as JSON; `time` begins some parts, too."""
_LIST: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])
_BETWEEN = b" \t\r\n,[]"
_LEADING = re.compile(rb"(?:\xef\xbb\xbf)?+[ \t\r\n,\[\]]*+")
_ANY = re.compile(b"")
_MAY_BE_ONE = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+\{")
_EVENT_KEY = re.compile(
    rb'"(?:IP|Summary|Type|destination|dns|event_type|flow|headers|http|is_reply|key|l4|l7|labels'
    rb"|message|node_name|nodeName|pod_name|query|source|time|traffic_direction|url|uuid|value"
    rb'|verdict|workloads)"\s*+:'
)
_AFTER = re.compile(rb"[ \t\r\n,\[\]]*+(?:\{|\x00*+\Z)")
"""What may follow a whole object: another one, or nothing. Anything else makes it doubtful that the
object ended where it was meant to."""
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+")

Read = Callable[[RawRecord], Parsed]
"""Says what the text of one JSON object is."""


class _Find(NamedTuple):
    """A stretch of a line: a record, or something torn where there is none."""

    start: int
    end: int
    record: Parsed | None


@dataclass
class _Document:
    """An object that its line does not finish.

    Attributes:
        prefix: Its structure so far.
        lines: Its lines so far.
        size: Bytes of them.
    """

    prefix: Prefix
    lines: list[RawRecord]
    size: int

    def add(self, raw: RawRecord) -> None:
        """Note a line."""
        self.lines.append(raw)
        self.size += len(raw.data) + 1

    @property
    def indent(self) -> int:
        """Blanks in front of its first line."""
        first = self.lines[0].data
        return len(first) - len(first.lstrip())

    def is_inside(self, line: bytes) -> bool:
        """Whether a line is indented deeper than the first one."""
        return line[: self.indent + 1].isspace()

    def ends_with(self, line: bytes) -> bool:
        """Whether a line of a broken object closes it, as it is indented like its first one."""
        return not self.is_inside(line) and line.strip(b" \t\r\n,") == b"}"

    def is_left_by(self, line: bytes) -> bool:
        """Whether a line behind a broken object is none of it."""
        if self.is_inside(line):
            return False
        return line.lstrip()[:1] in {b"{", b"["} or hubble_text.is_log(line)

    def is_followed_by(self, line: bytes) -> bool:
        """Whether a line begins the next object, as this one indents its own lines."""
        if self.is_inside(line) or len(self.lines) == 1:
            return False
        return self.is_inside(self.lines[1].data) and self.is_left_by(line)


class EventReader:
    """Reads the records of one file, of which each gives what `read` says of it.

    Attributes:
        may_begin_list: Whether a bracket may begin a list of all that follows: at the beginning of
            the file, or behind such a list.
    """

    def __init__(self, read: Read, shown: frozenset[bytes] = frozenset()) -> None:
        """Take the function that reads one object.

        Args:
            read: Reads one object; called with text that may be none, which it refuses.
            shown: Keys whose text an excerpt of a torn part may show.
        """
        self._read = read
        self._shown = shown
        self._document: _Document | None = None
        self._list: RawRecord | None = None
        self._is_archive = False
        self.may_begin_list = True

    @property
    def is_open(self) -> bool:
        """Whether what the next lines are depends on the lines before them."""
        return self._document is not None or self._list is not None or self._is_archive

    def read(self, raw: RawRecord) -> Iterator[Parsed]:
        """Read the next line; what it begins and does not finish is given with a later one."""
        if self._document is not None:
            yield from self._continued(self._document, raw)
            return
        if self._is_archive:
            return
        if raw.offset == 0 and (found := hubble_text.archive(raw.data)) is not None:
            self._is_archive = True
            yield Parsed(raw.locator, raw.offset, b"", reject=found.reason)
            return
        parsed = None
        if _MAY_BE_ONE.match(raw.data) and raw.data.rstrip()[-1:] == b"}":
            parsed = self._read(raw)
            if not _is_malformed(parsed, raw.data):
                self.may_begin_list = False
                yield parsed
                return
        if items := _items(raw):
            self.may_begin_list = False
            yield from map(self._read, items)
        else:
            yield from self._taken_apart(raw, refusal=parsed)

    def settled(self, following: RawRecord | None) -> list[Parsed] | None:
        """What was left open, if the following line, or the end of the file, already settles it.

        Returns:
            The records; none where the following line has to be read first.
        """
        if self._list is not None or self._is_archive:
            return None
        document = self._document
        if document is not None:
            if following is not None and _START.match(following.data) is None:
                return None
            self._document = None
            return list(self._salvaged(document.lines))
        return []

    def reset(self) -> None:
        """Forget what is open."""
        self._document = self._list = None
        self._is_archive = False

    def end(self) -> Iterator[Parsed]:
        """What the end of the file leaves unfinished."""
        document, opening = self._document, self._list
        self.reset()
        if document is not None:
            yield from self._salvaged(document.lines)
        if opening is not None:
            yield Parsed(opening.locator, opening.offset, b"", reject=UNFINISHED_LIST)

    def _taken_apart(
        self, raw: RawRecord, start: int = 0, refusal: Parsed | None = None
    ) -> Iterator[Parsed]:
        """Records of a line that is not one object.

        Args:
            raw: The line.
            start: Where reading begins in it.
            refusal: Why it is not one object, if that was tried.
        """
        torn: _Find | None = None
        is_empty, was_open = True, self.is_open
        for find in self._finds(raw, start):
            is_empty = self.may_begin_list = False
            if find.record is None:
                torn = find if torn is None else torn._replace(end=find.end)
                continue
            if torn is not None:
                yield self._torn(raw, torn)
                torn = None
            yield find.record
        is_all = torn is not None and torn.end == len(raw.data) and _is_first(raw, torn.start)
        if is_all or (is_empty and start == 0 and not (was_open or self.is_open)):
            yield refusal or self._read(raw)
        elif torn is not None:
            yield self._torn(raw, torn)

    def _finds(self, raw: RawRecord, start: int) -> Iterator[_Find]:
        data = raw.data
        if start == 0:
            text = data.strip()
            # In front of brackets, as those of a log's time are none of a list.
            if hubble_text.is_log(text) and _START.search(data) is None:
                yield _Find(0, len(data), _left_out(raw, hubble_text.AGENT_LOG))
                return
        for match in _START.finditer(data, start):
            if match.start() > start:
                yield from self._segment(raw, start, match.start())
                start = match.start()
        yield from self._segment(raw, start, len(data))

    def _segment(self, raw: RawRecord, start: int, end: int) -> Iterator[_Find]:
        """What stands between two beginnings of events."""
        data = raw.data
        first = _behind(data, start, end)
        last = first + len(data[first:end].rstrip(_BETWEEN))
        if first < last and data[first:last] != data:
            alone = self._read(_part(raw, first, last))
            if not _is_malformed(alone, data[first:last]):
                self._punctuated(raw, start, first)
                yield _Find(first, last, alone)
                self._punctuated(raw, last, end)
                return
        while first < end and data[first] == ord("{"):
            prefix = Prefix()
            stop = prefix.feed(data, first, end)
            if stop is None and not prefix.is_broken and end == len(data):
                self._punctuated(raw, start, first)
                self.may_begin_list = False
                self._document = _Document(prefix, [_part(raw, first, end)], end - first)
                return
            parsed = None
            if stop is not None and _AFTER.match(data, stop, end):
                parsed = self._read(_part(raw, first, stop))
            if stop is None or parsed is None or _is_malformed(parsed, data[first:stop]):
                yield _Find(start, end, None)
                return
            self._punctuated(raw, start, first)
            yield _Find(first, stop, parsed)
            start = stop
            first = _behind(data, start, end)
        if first < end:
            yield _Find(start, end, _of_text(raw, start, first, end))
        elif start < end and not self._punctuated(raw, start, end):
            yield _Find(start, end, None)

    def _punctuated(self, raw: RawRecord, start: int, end: int) -> bool:
        """Note the bracket of a list; whether it, or the commas, may stand there."""
        text = raw.data[start:end].removeprefix(b"\xef\xbb\xbf")
        signs = text.translate(None, b" \t\r\n,")
        if signs == b"[" and self._list is None and self.may_begin_list:
            place = raw.data.index(b"[", start)
            self._list = _part(raw, place, place)
            return True
        if signs == b"]" and self._list is not None:
            # What follows a list on one line stands on lines, too.
            self.may_begin_list = self._list.offset < raw.offset
            self._list = None
            return True
        return not signs and (self._list is not None or not text.strip())

    def _continued(self, document: _Document, raw: RawRecord) -> Iterator[Parsed]:
        """Read a line as the next one of an object."""
        begins = _START.search(raw.data)
        limit = begins.start() if begins else len(raw.data)
        prefix = document.prefix
        was_broken = prefix.is_broken
        if document.is_followed_by(raw.data) or document.size + limit > MAX_DOCUMENT:
            begins, limit = begins or _ANY.match(raw.data), 0
        stop = None if prefix.is_broken else prefix.feed(raw.data, 0, limit)
        if stop is not None and _AFTER.match(raw.data, stop) is None:
            self._document = None
            yield self._torn_lines([*document.lines, raw])
        elif stop is not None:
            self._document = None
            self.may_begin_list = False
            text = b"\n".join([*(line.data for line in document.lines), raw.data[:stop]])
            yield self._read(document.lines[0]._replace(data=text))
            if raw.data[stop:].strip():
                yield from self._taken_apart(raw, stop)
        elif begins is None and not prefix.is_broken:
            document.add(raw)
        elif begins is not None or len(document.lines) == 1 or document.is_left_by(raw.data):
            self._document = None
            yield from self._salvaged(document.lines)
            yield from self.read(raw)
        else:
            # The rest of a broken object is a part of it.
            document.add(raw)
            if was_broken and document.ends_with(raw.data):
                self._document = None
                yield from self._salvaged(document.lines)

    def _salvaged(self, lines: list[RawRecord]) -> Iterator[Parsed]:
        """Records of lines that began an object and did not finish it.

        A line may be a whole event that stood where a value of the torn one could stand.
        """
        torn: list[RawRecord] = []
        for raw in lines:
            parsed = self._read(raw._replace(data=raw.data.strip(_BETWEEN)))
            if parsed.reject is not None:
                torn.append(raw)
                continue
            if torn:
                yield self._torn_lines(torn)
                torn = []
            yield parsed
        if torn:
            yield self._torn_lines(torn)

    def _torn_lines(self, lines: list[RawRecord]) -> Parsed:
        first = lines[0]
        if len(lines) == 1:
            return self._read(first)
        text = b"\n".join(line.data for line in lines)
        shown = shown_part(text, self._shown)
        return Parsed(first.locator, first.offset, shown, reject=TORN)

    def _torn(self, raw: RawRecord, find: _Find) -> Parsed:
        part = _part(raw, find.start, find.end)
        shown = shown_part(part.data, self._shown)
        return Parsed(part.locator, part.offset, shown, reject=TORN)


def is_part(text: bytes) -> bool:
    """Whether a text is a part of an event: it closes what it did not open, or has its keys."""
    is_open = text.count(b"}") > text.count(b"{") or text.count(b"]") > text.count(b"[")
    return b'"' in text and (is_open or _EVENT_KEY.search(text) is not None)


def shown_part(text: bytes, shown: frozenset[bytes]) -> bytes:
    """What may be shown of a part of an event, which may begin inside a text, or of other text."""
    if text.lstrip()[:1] == b"{" or not is_part(text):
        return masked(text, shown)
    return masked(b'{"' + text, shown)[2:]


def _items(raw: RawRecord) -> list[RawRecord]:
    """Items of a line that is one list."""
    if raw.data[:512].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"[":
        return []
    try:
        items = _LIST.decode(raw.data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, RecursionError):
        return []
    path = raw.locator if "$" in raw.locator else f"{raw.locator} $"
    found, place = [], 0
    for index, item in enumerate(items):
        data = bytes(item)
        place = raw.data.index(data, place)
        offset = raw.offset + place
        found.append(raw._replace(locator=f"{path}[{index}]", offset=offset, data=data))
        place += len(data)
    return found


def _is_malformed(parsed: Parsed, data: bytes) -> bool:
    """Whether a refused text is no JSON object; a wrong value may be found before that is."""
    if parsed.reject is None:
        return False
    if parsed.reject.startswith(_DECODED):
        try:
            _OBJECT.decode(data.removeprefix(b"\xef\xbb\xbf"))
        except (msgspec.DecodeError, RecursionError):
            return True
    return parsed.reject.startswith(_MALFORMED)


def _behind(data: bytes, start: int, end: int) -> int:
    """The first byte that stands not between events."""
    between = _LEADING.match(data, start, end)
    return between.end() if between else start


def _is_first(raw: RawRecord, place: int) -> bool:
    """Whether only blanks stand in a line before a place."""
    blank = _BLANK.match(raw.data)
    return blank is not None and place <= blank.end()


def _part(raw: RawRecord, start: int, end: int) -> RawRecord:
    """A part of a line, with its place."""
    locator = raw.locator if _is_first(raw, start) else f"{raw.locator} byte {start}"
    return raw._replace(locator=locator, offset=raw.offset + start, data=raw.data[start:end])


def _left_out(raw: RawRecord, reason: str) -> Parsed:
    return Parsed(raw.locator, raw.offset, raw.data, ignore=reason)


def _of_text(raw: RawRecord, start: int, first: int, end: int) -> Parsed | None:
    """What a text is that is no JSON; none where that is not known."""
    text = raw.data[first:end].strip()
    part = _part(raw, start, end)
    if hubble_text.is_log(raw.data[start:end].strip()):
        return _left_out(part, hubble_text.AGENT_LOG)
    if hubble_text.is_markdown(text):
        return _left_out(part, hubble_text.MARKDOWN)
    form = hubble_text.printed_form(text)
    if form is not None:
        reason = f"{hubble_text.EVENT_TEXT} -o {form} text"
        return Parsed(part.locator, part.offset, part.data, reject=reason)
    return None

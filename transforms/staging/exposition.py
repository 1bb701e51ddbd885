"""Read metrics as text, line by line: Prometheus text exposition and OpenMetrics.

Sources: the exposition formats page of Prometheus (text format 0.0.4, quoted names of 3.0), the
specifications of OpenMetrics 1.0 and 2.0, and what `promtool tsdb dump` writes (the name among the
labels). A line is a sample, a note (`# HELP`, `# TYPE`, `# UNIT`, `# EOF`) or a comment.

The two formats differ in their clocks: Prometheus writes whole milliseconds, OpenMetrics seconds.
A time with a fraction is of OpenMetrics, as is a text with one of its own notes. In a text of which
neither is known, a whole number that would be a time before March 1973 in milliseconds may be
seconds instead, and is refused. A larger one would be behind the year 5138 in seconds, and is
milliseconds in any text, so that one damaged line does not change the clock of all others.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from transforms.staging.parser import RawRecord
from transforms.staging.refusal import RefusedError, refuse
from transforms.staging.values import instant_of_microseconds

MAX_LABELS = 256
"""Labels of a series that are read; Prometheus itself refuses far fewer."""
NAME_LABEL = "__name__"

_KNOWN_LENGTH = 2_048
"""Characters of labels that are kept, to read them once where a series stands on many lines."""
_FIRST_SURE_MILLISECOND = 100_000_000_000
_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*+"
_QUOTED = r'"(?:[^"\\\n]++|\\.)*+"'
_BRACES = rf'\{{(?:[^"{{}}\n]++|{_QUOTED})*+\}}'
_NUMBER = (
    r"[+-]?(?:(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,4})?"
    r"|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)|[nN][aA][nN]"
)
_TIME = r"-?[0-9]{1,20}(?:\.[0-9]{0,20})?(?:[eE][+-]?[0-9]{1,2})?"
_SAMPLE = re.compile(
    rf"(?:(?P<name>{_NAME})[ \t]*+(?P<labels>{_BRACES})?|(?P<unnamed>{_BRACES}))[ \t]*+"
    rf"(?P<value>{_NUMBER})(?:[ \t]++(?P<time>{_TIME}))?(?:[ \t]++st@(?P<start>{_TIME}))?"
    r"(?:[ \t]++\#[ \t]*+\{.*)?[ \t]*+\Z"
)
_LABEL = re.compile(
    rf"[ \t]*+(?:(?P<key>{_NAME})|(?P<quoted>{_QUOTED}))[ \t]*+(?:=[ \t]*+(?P<value>{_QUOTED}))?"
    r"[ \t]*+(?P<end>,|\Z)"
)
_PLAIN_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*+)="([^"\\\n]*+)"(?:,|\Z)')
_NOTE = re.compile(rf"#[ \t]+(HELP|TYPE|UNIT)[ \t]+({_NAME}|{_QUOTED})(?:[ \t]+(.*))?\Z")
_TEXT_IN_BRACES = re.compile(
    rb'\{[ \t]*(?:[a-zA-Z_:][a-zA-Z0-9_:]*[ \t]*=|"(?:[^"\\\n]|\\.)*"[ \t]*[,=}])'
)
_EOF = re.compile(r"#[ \t]+EOF[ \t]*\Z")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", '"': '"', "\\": "\\"}
_TOKEN = re.compile(r"[^ \t]*")
_OPENMETRICS_TYPES = frozenset({"unknown", "info", "stateset", "gaugehistogram"})


class Sample(NamedTuple):
    """One value of one series.

    Attributes:
        name: Name of the metric.
        labels: Its labels, without the name.
        value: The value as written, a number, an infinity or NaN.
        at: When it held; null where the line does not say.
        start_at: When a counter began, where the line says so.
    """

    name: str
    labels: Mapping[str, str]
    value: str
    at: datetime | None
    start_at: datetime | None


class Note(NamedTuple):
    """What a text says of a metric, or of itself.

    Attributes:
        kind: `help`, `type`, `unit`, `eof` or `comment`.
        name: Name of the metric; empty where it is about none.
        text: What it says.
    """

    kind: str
    name: str
    text: str


class ExpositionReader:
    """Reads the lines of one text, in order."""

    def __init__(self, *, is_openmetrics: bool | None = None) -> None:
        """Begin a text; which of the two formats it is may be known."""
        self.is_openmetrics = is_openmetrics
        self._read_last: tuple[str, datetime] | None = None

    def read(self, line: bytes) -> Sample | Note:
        """Read one line that is not blank, without its end.

        Raises:
            RefusedError: The line is of neither format.
        """
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            reason = "invalid_text: expected UTF-8, got other bytes"
            raise RefusedError(reason, at=error.start) from None
        text = text.strip(" \t\r")
        if text[:1] == "#":
            return self._note(text)
        match = _SAMPLE.match(text)
        if match is None:
            raise _broken(text)
        name, labels = _series_of(match["name"], match["labels"] or match["unnamed"] or "")
        return Sample(
            name, labels, match["value"], self._time(match["time"]), self._time(match["start"])
        )

    def _note(self, text: str) -> Note:
        if _EOF.match(text):
            self.is_openmetrics = True
            return Note("eof", "", "")
        match = _NOTE.match(text)
        if match is None:
            return Note("comment", "", text[1:].strip())
        kind, said = match[1].lower(), match[3] or ""
        if kind == "unit" or (kind == "type" and said in _OPENMETRICS_TYPES):
            self.is_openmetrics = True
        name = match[2] if match[2][0] != '"' else _unescaped(match[2][1:-1])
        return Note(kind, name, said)

    def _time(self, text: str | None) -> datetime | None:
        if text is None:
            return None
        if self._read_last is not None and self._read_last[0] == text:
            return self._read_last[1]
        instant = self._instant(text)
        self._read_last = (text, instant)
        return instant

    def _instant(self, text: str) -> datetime:
        is_whole = text.lstrip("-").isdigit()
        if not is_whole:
            self.is_openmetrics = True
        if self.is_openmetrics and not (is_whole and int(text) >= _FIRST_SURE_MILLISECOND):
            microseconds = int(Decimal(text).scaleb(6))
        else:
            milliseconds = int(text)
            if self.is_openmetrics is None and 0 < milliseconds < _FIRST_SURE_MILLISECOND:
                refuse("wrong_time", "milliseconds since 1970 (or the notes of OpenMetrics)", text)
            microseconds = milliseconds * 1_000
        instant = instant_of_microseconds(microseconds)
        if instant is None:
            refuse("wrong_time", "a year from 1 to 9999", text)
        return instant


def is_json(data: bytes) -> bool:
    """Whether metrics are JSON; a text may begin with a brace, too."""
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text[:1] == b"[" or (text[:1] == b"{" and _TEXT_IN_BRACES.match(text) is None)


def lines_of(raw: RawRecord) -> Iterator[RawRecord]:
    """The lines of a record: a text whose first line begins with a brace may come as one."""
    if raw.locator != "$":
        yield raw
        return
    offset = raw.offset
    for number, line in enumerate(raw.data.split(b"\n"), 1):
        if line.strip():
            yield RawRecord(f"line {number}", offset, line.rstrip(b"\r"))
        offset += len(line) + 1


def _series_of(name: str | None, braces: str) -> tuple[str, Mapping[str, str]]:
    read = _known_series if len(braces) <= _KNOWN_LENGTH else _series
    return read(name, braces)


def _series(name: str | None, braces: str) -> tuple[str, Mapping[str, str]]:
    """Name and labels of a series; the name may stand among the labels."""
    text = braces[1:-1]
    plain = _PLAIN_LABEL.findall(text)
    # Each ends with a comma, but for the last one, which may.
    size = len(text) + (text[-1:] != ",")
    if name is not None and sum(len(key) + len(value) + 4 for key, value in plain) == size:
        # Nearly all series: nothing stands beside the labels, and nothing is escaped.
        found = dict(plain)
        if len(found) == len(plain) <= MAX_LABELS and NAME_LABEL not in found:
            return name, found
    labels: dict[str, str] = {}
    place = 0
    while text[place:].strip(" \t"):
        match = _LABEL.match(text, place)
        if match is None:
            refuse("wrong_labels", 'labels such as name="value"')
        place = match.end()
        key = match["key"] or _unescaped(match["quoted"][1:-1])
        if match["value"] is None:
            if match["quoted"] is None or name is not None:
                refuse("wrong_labels", 'labels such as name="value"')
            name = key
            continue
        if key in labels:
            refuse("wrong_labels", "each label once")
        labels[key] = _unescaped(match["value"][1:-1])
        if len(labels) > MAX_LABELS:
            refuse("wrong_labels", f"at most {MAX_LABELS} labels")
    stated = labels.pop(NAME_LABEL, None)
    if stated is not None and name is not None and stated != name:
        refuse("wrong_labels", "one name")
    name = name if name is not None else stated
    if not name:
        refuse("no_name", "the name of a metric")
    return name, labels


_known_series = lru_cache(maxsize=16_384)(_series)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def plain(match: re.Match[str]) -> str:
        found = _ESCAPED.get(match[1])
        if found is None:
            refuse("wrong_escape", 'one of \\\\, \\" and \\n')
        return found

    return _ESCAPE.sub(plain, text)


def _broken(text: str) -> RefusedError:
    """Why a line is no sample, and where it breaks."""
    name = re.match(_NAME, text)
    place = name.end() if name else 0
    if name is None and text[:1] != "{":
        return _error("no_name: expected the name of a metric", text, 0)
    rest = text[place:].lstrip(" \t")
    place = len(text) - len(rest)
    if rest[:1] == "{":
        braces = re.match(_BRACES, rest)
        if braces is None:
            return _error("wrong_labels: expected labels and a closing brace", text, place)
        place = _behind_blanks(text, place + braces.end())
    value = _TOKEN.match(text, place)
    if value is None or not value[0]:
        return _error("no_value: expected a number behind the series", text, place)
    if re.fullmatch(_NUMBER, value[0]) is None:
        return _error("wrong_value: expected a number", text, place)
    place = _behind_blanks(text, value.end())
    time = _TOKEN.match(text, place)
    if time is not None and re.fullmatch(_TIME, time[0]) is None:
        return _error("wrong_time: expected a number", text, place)
    place = _behind_blanks(text, time.end() if time else place)
    return _error("trailing_text: expected the end of the line", text, place)


def _behind_blanks(text: str, place: int) -> int:
    rest = text[place:]
    return place + len(rest) - len(rest.lstrip(" \t"))


def _error(reason: str, text: str, place: int) -> RefusedError:
    return RefusedError(f"{reason}, got other text", at=len(text[:place].encode()))

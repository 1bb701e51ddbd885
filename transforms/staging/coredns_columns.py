"""CoreDNS's own JSON by columns; the rules are those of `coredns`.

A record holds the usual line in `msg`, which is taken apart for all records at once; where it holds
none, the values are those of its keys. Lines of other keys, among them all that log shippers wrap,
may be pieces of lines that are joined, so that only files without such keys are for columns; so are
files of which the export states the form.
"""

from typing import Any

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import coredns
from transforms.staging.column_rules import FLAG, INSTANT, INTEGER, NUMBER, TEXT, Rule
from transforms.staging.coredns_format import COMBINED, COMMON, MAX_LINE, VALUES, pattern_of
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.parser import FileContext
from transforms.staging.refusal import refuse
from transforms.staging.values import canonical_address, parse_instant

_MAX_NUMBER, _MAX_DURATION = 65_535, 86_400.0
_SECONDS = r"^[0-9]{1,4}\.[0-9]{1,12}s$"
_NUMBER = r"^[0-9]{1,9}(?:\.[0-9]{1,12})?(?:e-[0-9]{1,2})?$"
_PLAIN_NUMBER = r"^[0-9]{1,5}(?:\.[0-9]{1,9})?$"
"""Of so many digits a number is that of its nine decimals."""
_MICROSECONDS = 1_000_000
_WRAPPERS = ("log", "message")
"""Keys of wrappers whose texts may be pieces of lines."""
_CHECKED = {
    "client_ip": "remote", "client_port": "port", "local": "local", "id": "id", "qtype": "type",
    "qclass": "class", "qname": "name", "proto": "proto", "rcode": "rcode", "rflags": "rflags",
    "rsize": "rsize", "duration": "duration", "opcode": "opcode",
}  # fmt: skip
"""Key → the value of the line that it repeats."""
_SECONDS_KEY = "duration_seconds"
_KEYS = frozenset({"time", "level", "msg", "plugin", _SECONDS_KEY, *_CHECKED})


class _Record(msgspec.Struct):
    time: str | None = None
    level: str | None = None
    msg: str | None = None
    plugin: str | None = None
    duration_seconds: Any = None
    client_ip: Any = None
    client_port: Any = None
    local: Any = None
    id: Any = None
    qtype: Any = None
    qclass: Any = None
    qname: Any = None
    proto: Any = None
    rcode: Any = None
    rflags: Any = None
    rsize: Any = None
    duration: Any = None
    opcode: Any = None


def _has_columns(keys: tuple[str, ...]) -> bool:
    return _KEYS.issuperset(keys)


class _Reader:
    """Rules of one file."""

    def __init__(self, _context: FileContext) -> None:
        forms = (pattern_of(form).pattern for form in (COMMON, COMBINED))
        self.forms = tuple(f"^(?:{form})$" for form in forms)
        self.address = Rule(canonical_address, TEXT, is_text=False)
        self.seconds = Rule(coredns.seconds, NUMBER, is_text=False)
        self.measured = Rule(_measured, NUMBER, is_text=False)
        self.values = {
            key: Rule(_Valid(group), FLAG, is_text=False) for key, group in _CHECKED.items()
        }


class _Valid:
    """Whether a text is one that CoreDNS writes as a value."""

    def __init__(self, group: str) -> None:
        self._pattern = VALUES[group]

    def __call__(self, text: str) -> bool:
        if self._pattern.fullmatch(text) is None:
            refuse("value", "a value as CoreDNS writes it", text)
        return True


def _measured(number: str) -> float | None:
    return coredns.seconds(f"{float(number):.9f}s")


def _asked(
    kind: str, of_class: str | None, name: str, opcode: str | None, rcode: str | None
) -> dict[str, Any] | str:
    fields = {"class": of_class or "", "name": name, "type": kind, "opcode": opcode or "0"}
    if kind == "HINFO":
        refuse("type", "one that no loop probe asks", kind)
    word = coredns.left_out(fields)
    if word is not None:
        return word
    coredns.check_name(name)
    code = None if rcode is None else coredns.response_code(rcode)
    return {
        **coredns.named(name, code, None),
        "query_type": coredns.type_asked(kind),
        "rcode": code,
    }


def _lines(records: Records, reader: _Reader, stated: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """The values of each record by group, and those of its keys where it has no line.

    Args:
        records: The records; one that has neither is in doubt.
        reader: Rules.
        stated: Values of keys, by group.
    """
    text = records.text("msg")
    found: dict[str, pa.Array] = {}
    for form in reader.forms:
        if found:
            if not found["name"].null_count:
                break
            text = pc.if_else(found["name"].is_null(), text, pa.scalar(None, TEXT))
        groups = pl.Series(text).str.extract_groups(form).struct.unnest()
        for name in groups.columns:
            column = groups.get_column(name).to_arrow().cast(TEXT)
            found[name] = pc.coalesce(found[name], column) if name in found else column
    none = pa.nulls(len(records), TEXT)
    is_line = found["name"].is_valid()
    needed = [stated.get(group, none).is_valid() for group in ("remote", "name")]
    # A type that is no text tells nothing.
    is_named = pc.and_(pc.and_(*needed), pc.starts_with(records.checked("qtype"), '"'))
    is_named = pc.and_not(pc.fill_null(is_named, False), is_line)
    records.doubt(pc.invert(pc.or_(is_named, is_line)))
    if not pc.any(is_named).as_py():
        return {group: found.get(group, none) for group in (*_CHECKED.values(), *found)}
    return {
        group: pc.if_else(is_named, stated.get(group, none), found.get(group, none))
        for group in (*_CHECKED.values(), _SECONDS_KEY)
    }


def _check(records: Records, reader: _Reader) -> dict[str, pa.Array]:
    """Doubt records whose keys are not as CoreDNS writes them, and give their values by group."""
    for path in ("level", "msg"):
        records.need(path)
    records.text("level")
    plugin = records.text("plugin")
    records.doubt(pc.not_equal(plugin, "log"))
    found = {}
    for path, rule in reader.values.items():
        if records.is_stated(path):
            found[_CHECKED[path]] = records.words(path)
            rule.apply(found[_CHECKED[path]], records.doubts)
    if records.is_stated(_SECONDS_KEY):
        found[_SECONDS_KEY] = records.checked(_SECONDS_KEY)
        records.doubt(pc.invert(pc.match_substring_regex(found[_SECONDS_KEY], _NUMBER)))
    return found


def _has_response(line: dict[str, pa.Array]) -> pa.BooleanArray:
    """Whether a response was written: `coredns` has the rule."""
    rcode, flags, size = line["rcode"], line["rflags"], line["rsize"]
    is_code = pc.fill_null(pc.not_equal(rcode, "-"), False)
    is_empty = pc.and_(flags.is_null(), pc.is_in(size, pa.array(["0", "-"], TEXT)))
    is_lost = pc.or_(pc.fill_null(pc.equal(flags, "-"), False), is_empty)
    return pc.and_not(is_code, is_lost)


def _columns(records: Records) -> dict[str, Any]:
    reader = records.once(_Reader)
    if records.context.record_format is not None:
        records.doubt(pa.array([True] * len(records)))
        return {}
    line = _lines(records, reader, _check(records, reader))
    is_response = _has_response(line)
    line["rcode"] = pc.if_else(is_response, line["rcode"], pa.scalar(None, TEXT))
    for name in ("type", "class", "name", "opcode", "rcode"):
        records.add_texts(name, line[name])
    record_id = records.line_ids(None, records.context.node, longest=MAX_LINE)
    duration = _durations(records, reader, line)
    return {
        "record_id": record_id,
        "event_at": _times(records, duration, is_response),
        "node": records.context.node,
        "client_address": reader.address.apply(line["remote"], records.doubts),
        "client_port": _number(records, line["port"]),
        "resolver_address": reader.address.apply(line["local"], records.doubts),
        "transport": pc.utf8_upper(line["proto"]),
        **records.each(
            _asked,
            ("type", "class", "name", "opcode", "rcode"),
            ("query_name", "original_query_name", "query_type", "rcode"),
        ),
        "latency_seconds": pc.if_else(is_response, duration, pa.scalar(None, NUMBER)),
        "is_response": is_response,
        "dns_message_id": _number(records, line["id"]),
    }


def _times(records: Records, duration: pa.Array, is_response: pa.BooleanArray) -> pa.TimestampArray:
    """Times of lines, which are written behind the response; of a query without, when it came."""
    written = records.instants("time", parse_instant)
    if pc.all(is_response).as_py():
        return written
    seconds = pc.fill_null(duration, 0.0)
    whole = pc.floor(seconds)
    part = pc.multiply(pc.subtract(seconds, whole), _MICROSECONDS)
    length = pc.add(pc.multiply(whole, _MICROSECONDS), pc.round(part, round_mode="half_to_even"))
    earlier = pc.subtract(written.cast(INTEGER), length.cast(INTEGER))
    records.doubt(pc.and_not(pc.less(earlier, 0), is_response))
    return pc.if_else(is_response, written, earlier.cast(INSTANT))


def _number(records: Records, column: pa.Array) -> pa.Array:
    stated = pc.if_else(pc.equal(column, "-"), pa.scalar(None, TEXT), column)
    found = stated.cast(INTEGER)
    records.doubt(pc.greater(found, _MAX_NUMBER))
    return found


def _durations(records: Records, reader: _Reader, line: dict[str, pa.Array]) -> pa.Array:
    """Seconds until the response; those of `duration_seconds`, where it is told."""
    found = _numbers(records, reader.seconds, line["duration"], _SECONDS)
    if _SECONDS_KEY in line:
        told = _numbers(records, reader.measured, line[_SECONDS_KEY], _PLAIN_NUMBER)
        records.doubt(pc.greater(told, _MAX_DURATION))
        found = pc.coalesce(told, found)
    return found


def _numbers(records: Records, rule: Rule, column: pa.Array, form: str) -> pa.Array:
    """Texts as numbers; a rule reads those that are not of the form."""
    is_plain = pc.fill_null(pc.match_substring_regex(column, form), True)
    none = pa.scalar(None, TEXT)
    plain = pc.utf8_rtrim(pc.if_else(is_plain, column, none), "s").cast(NUMBER)
    if pc.all(is_plain).as_py():
        return plain
    return pc.coalesce(plain, rule.apply(pc.if_else(is_plain, none, column), records.doubts))


COLUMNS = JsonColumns(
    coredns.PARSER,
    coredns.TABLE,
    Shape(_Record, judge=_has_columns, decodes_all=True),
    _columns,
    alone=_WRAPPERS,
)

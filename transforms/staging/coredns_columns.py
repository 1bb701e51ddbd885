"""CoreDNS's own JSON by columns; the rules are those of `coredns`.

A record holds the usual line in `msg`, which is taken apart for all records at once. Lines of other
keys, among them all that log shippers wrap, may be pieces of lines that are joined, so that only
files without such keys are for columns; so are files of which the export states the form.
"""

from typing import Any

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import coredns
from transforms.staging.column_rules import FLAG, INTEGER, NUMBER, TEXT, Rule
from transforms.staging.coredns_format import COMBINED, COMMON, MAX_LINE, VALUES, pattern_of
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.parser import FileContext
from transforms.staging.refusal import refuse
from transforms.staging.values import canonical_address, parse_instant

_MAX_NUMBER = 65_535
_SECONDS = r"^[0-9]{1,4}\.[0-9]{1,12}s$"
_NUMBER = r"^[0-9]{1,9}(?:\.[0-9]{1,12})?(?:e-[0-9]{1,2})?$"
_WRAPPERS = ("log", "message")
"""Keys of wrappers whose texts may be pieces of lines."""
_CHECKED = {
    "client_ip": "remote", "client_port": "port", "local": "local", "id": "id", "qtype": "type",
    "qclass": "class", "qname": "name", "proto": "proto", "rcode": "rcode", "rflags": "rflags",
    "rsize": "rsize", "duration": "duration", "opcode": "opcode",
}  # fmt: skip
"""Key → the value of the line that it repeats."""
_KEYS = frozenset({"time", "level", "msg", "plugin", "duration_seconds", *_CHECKED})


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


def _asked(
    kind: str, of_class: str, name: str, opcode: str | None, rcode: str
) -> dict[str, Any] | str:
    fields = {"class": of_class, "name": name, "type": kind, "opcode": opcode or "0"}
    if kind == "HINFO":
        refuse("type", "one that no loop probe asks", kind)
    word = coredns.left_out(fields)
    if word is not None:
        return word
    coredns.check_name(name)
    code = coredns.response_code(rcode)
    return {
        **coredns.named(name, code, None),
        "query_type": coredns.type_asked(kind),
        "rcode": code,
    }


def _lines(records: Records, reader: _Reader) -> dict[str, pa.Array]:
    """The values of the line in each record, by group; a record without one is in doubt."""
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
    found.setdefault("opcode", pa.nulls(len(records), TEXT))
    records.doubt(found["name"].is_null())
    return found


def _check(records: Records, reader: _Reader) -> None:
    """Doubt records whose other keys are not as CoreDNS writes them."""
    for path in ("level", "msg"):
        records.need(path)
    records.text("level")
    plugin = records.text("plugin")
    records.doubt(pc.not_equal(plugin, "log"))
    for path, rule in reader.values.items():
        if records.is_stated(path):
            rule.apply(records.words(path), records.doubts)
    if records.is_stated("duration_seconds"):
        is_number = pc.match_substring_regex(records.checked("duration_seconds"), _NUMBER)
        records.doubt(pc.invert(is_number))


def _columns(records: Records) -> dict[str, Any]:
    reader = records.once(_Reader)
    if records.context.record_format is not None:
        records.doubt(pa.array([True] * len(records)))
        return {}
    _check(records, reader)
    line = _lines(records, reader)
    for name in ("type", "class", "name", "opcode", "rcode"):
        records.add_texts(name, line[name])
    # A query that got no response has another time.
    records.doubt(pc.or_(pc.equal(line["rcode"], "-"), pc.equal(line["rflags"], "-")))
    record_id = records.line_ids(None, records.context.node, longest=MAX_LINE)
    return {
        "record_id": record_id,
        "event_at": records.instants("time", parse_instant),
        "node": records.context.node,
        "client_address": reader.address.apply(line["remote"], records.doubts),
        "client_port": _number(records, line["port"]),
        "transport": pc.utf8_upper(line["proto"]),
        **records.each(
            _asked,
            ("type", "class", "name", "opcode", "rcode"),
            ("query_name", "original_query_name", "query_type", "rcode"),
        ),
        "latency_seconds": _latency(records, reader, line["duration"]),
        "is_response": True,
        "dns_message_id": _number(records, line["id"]),
    }


def _number(records: Records, column: pa.Array) -> pa.Array:
    stated = pc.if_else(pc.equal(column, "-"), pa.scalar(None, TEXT), column)
    found = stated.cast(INTEGER)
    records.doubt(pc.greater(found, _MAX_NUMBER))
    return found


def _latency(records: Records, reader: _Reader, column: pa.Array) -> pa.Array:
    is_plain = pc.fill_null(pc.match_substring_regex(column, _SECONDS), True)
    none = pa.scalar(None, TEXT)
    plain = pc.utf8_rtrim(pc.if_else(is_plain, column, none), "s").cast(NUMBER)
    if pc.all(is_plain).as_py():
        return plain
    others = reader.seconds.apply(pc.if_else(is_plain, none, column), records.doubts)
    return pc.coalesce(plain, others)


COLUMNS = JsonColumns(
    coredns.PARSER,
    coredns.TABLE,
    Shape(_Record, judge=_has_columns, decodes_all=True),
    _columns,
    alone=_WRAPPERS,
)

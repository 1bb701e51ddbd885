"""Columns of JSON lines give what the row parser gives: rows, refusals, what is left out, in order.

Every format that has columns is read both ways: its seeds, its seeds after changes of every kind
that the tests of mutations know, and lines of any JSON.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from random import Random
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.landing.columns import JSON_FORMATS, json_columns
from pipelines.landing.columns import _memory as memory
from schemas.registry import table_spec
from tests.mutations import operators
from tests.transforms.staging.export_text import CONTEXT
from tests.transforms.staging.test_s3_access_log_json import OF_TABLE, RECORD
from tests.transforms.staging.test_s3_columns import blocks_of
from transforms.sql import SqlSession
from transforms.staging import json_columns as engine
from transforms.staging.json_ids import whole_ids
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_records import Item
from transforms.staging.json_texts import unquoted
from transforms.staging.line_columns import parse_lines
from transforms.staging.parser import FileContext, RawRecord
from transforms.staging.s3_access_log_json import field_of

FILE_ID = "f" * 32
BOM = b"\xef\xbb\xbf"
FORMATS = sorted(JSON_FORMATS)
CHANGES = tuple(
    change
    for changes in (
        operators.MEANING_KEPT, operators.VALIDITY_KEPT, operators.JSON_CHANGES,
        operators.JSON_CHANGES, operators.LINE_MEANING_KEPT, operators.DAMAGE,
    )
    for change in changes.values()
)  # fmt: skip
ROUNDS = 3
"""Times that every line of a format's seeds is changed in the default tests."""
MORE = {"node": "n1", "region": "eu-west-1"}


@cache
def lines_of(format_name: str) -> tuple[bytes, ...]:
    """The lines of a format's seeds that hold one object each."""
    found = []
    for data in import_module(f"tests.mutations.seeds.{format_name}").FILES:
        for line in data.split(b"\n"):
            try:
                if isinstance(msgspec.json.decode(line), dict):
                    found.append(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
    return tuple(found)


Read = tuple[dict[str, list[dict[str, Any]]], list[Any], Counter[str]]


def by_rows(format_name: str, data: bytes, context: FileContext) -> Read:
    parser = json_columns(format_name).parser
    records, offset = [], 0
    if data.startswith(BOM):
        data, offset = data.removeprefix(BOM), len(BOM)
    for number, text in enumerate(data.split(b"\n"), 1):
        if text.strip():
            records.append(RawRecord(f"line {number}", offset, text.rstrip(b"\r")))
        offset += len(text) + 1
    tables: dict[str, list[dict[str, Any]]] = {}
    rejects, ignored = [], Counter[str]()
    for index, parsed in enumerate(parser.parse(iter(records), context)):
        if parsed.reject is not None:
            rejects.append((index, parsed.locator, parsed.offset, parsed.raw, parsed.reject))
        elif parsed.ignore is not None:
            ignored[parsed.ignore] += 1
        ordinals = Counter[str]()
        for table, values in parsed.rows:
            row = {
                "export_file_id": FILE_ID, "record_index": index, "row_index": ordinals[table],
                "source_format": format_name, "cluster": context.cluster, **values,
            }  # fmt: skip
            names = table_spec(table).arrow_schema.names
            tables.setdefault(table, []).append({name: row.get(name) for name in names})
            ordinals[table] += 1
    return tables, rejects, ignored


def by_columns(format_name: str, data: bytes, size: int, context: FileContext) -> Read:
    tables: dict[str, list[pa.Table]] = {}
    rejects, ignored = [], Counter[str]()
    count = accepted = 0
    with SqlSession(threads=1) as session, memory() as scratch:
        reader = json_columns(format_name).reader(context, session, scratch)
        for batch in parse_lines(blocks_of(data, size), context, reader, export_file_id=FILE_ID):
            assert batch.record_count == (
                batch.accepted_count + len(batch.rejects) + sum(batch.ignored.values())
            )
            for name, table in batch.tables.items():
                tables.setdefault(name, []).append(table.cast(table_spec(name).arrow_schema))
            rejects += [(i, p.locator, p.offset, p.raw, p.reject) for i, p in batch.rejects]
            ignored.update(batch.ignored)
            count += batch.record_count
            accepted += batch.accepted_count
    assert count == accepted + len(rejects) + sum(ignored.values())
    return {n: pa.concat_tables(t).to_pylist() for n, t in tables.items()}, rejects, ignored


def check(format_name: str, lines: list[bytes], size: int = 1 << 20, **known: Any) -> Read:
    """See that both give the same."""
    context = replace(CONTEXT, **known)
    data = b"\n".join(lines)
    rows, rejects, ignored = expected = by_rows(format_name, data, context)
    found, found_rejects, found_ignored = by_columns(format_name, data, size, context)
    for table in rows.keys() | found.keys():
        pairs = zip(found.get(table, []), rows.get(table, []), strict=False)
        for got, row in pairs:
            assert got == row, {n: (got[n], row[n]) for n in got if got[n] != row[n]}
    assert {t: len(r) for t, r in found.items()} == {t: len(r) for t, r in rows.items()}
    assert found_rejects == rejects
    assert found_ignored == ignored
    return expected


def changed(format_name: str, seed: int, rounds: int) -> Iterator[bytes]:
    """The lines of a format's seeds, each changed some times, whole ones between them."""
    random = Random(seed)
    lines = lines_of(format_name)
    for _ in range(rounds):
        for line in lines:
            change = random.choice(CHANGES)
            found = change(line, random)
            yield line if found is None else found.replace(b"\n", b" ")
            if random.random() < 0.2:
                yield random.choice(lines)


@pytest.mark.parametrize("format_name", FORMATS)
def test_good_lines_are_read_alike(format_name: str) -> None:
    lines = [line for line in lines_of(format_name) for _ in range(2)]
    rows, _, _ = check(format_name, lines)
    assert rows
    check(format_name, lines, 1, cluster=None, **MORE)


def is_for(table: str, read: Read) -> bool:
    """Whether a line that gave this is for columns: of a table, or of what is left out."""
    rows, _, ignored = read
    return table in rows if table else bool(ignored)


@pytest.mark.parametrize("format_name", FORMATS)
def test_accepted_lines_are_read_by_columns(
    format_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = json_columns(format_name)
    lines = [
        line
        for line in lines_of(format_name)
        if is_for(columns.table, by_rows(format_name, line, CONTEXT))
        and not any(word in line for word in columns.shape.foreign)
        and f'"{columns.shape.list_key}"'.encode() not in line
        and (columns.shape.judge is None or columns.shape.judge(tuple(msgspec.json.decode(line))))
    ]
    seen = []
    read = engine.JsonLines.read

    def noted(self: engine.JsonLines, data: bytes) -> Any:
        stretch = read(self, data)
        left_out = sum(map(len, stretch.ignored.values()))
        by_column = {number for part in stretch.parts for number in part.numbers.tolist()}
        seen.append((len(stretch.starts), len(by_column) + left_out))
        return stretch

    monkeypatch.setattr(engine.JsonLines, "read", noted)
    by_columns(format_name, b"\n".join(lines), 1 << 20, CONTEXT)
    ((count, by_column),) = seen
    assert 2 * by_column > count


@pytest.mark.parametrize("format_name", FORMATS)
def test_changed_lines_are_read_alike(format_name: str) -> None:
    check(format_name, list(changed(format_name, 1, ROUNDS)))


@pytest.mark.slow
@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("seed", range(20))
def test_many_changed_lines_are_read_alike(format_name: str, seed: int) -> None:
    check(format_name, list(changed(format_name, seed, 10)), 20_000 if seed % 2 else 1 << 22)


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**65), 2**65)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8") | st.sampled_from('\\"\t :,{}[]'), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=4,
)


def replaced(value: Any, path: int, new: Any) -> Any:
    """A JSON value in which one value, found by a number, is another; or is gone."""
    if not isinstance(value, dict) or not value:
        return new
    key = sorted(value)[path % len(value)]
    rest = path // len(value)
    inner = replaced(value[key], rest, new) if rest else new
    return {**value, key: inner}


@pytest.mark.parametrize("format_name", FORMATS)
@settings(max_examples=3)
@given(
    st.lists(st.tuples(st.integers(0, 10_000), ANY_JSON, st.booleans()), min_size=40, max_size=80)
)
def test_any_value_has_one_reading(format_name: str, changes: list[tuple[int, Any, bool]]) -> None:
    lines = lines_of(format_name)
    texts = []
    for number, (path, new, is_spread) in enumerate(changes):
        value = replaced(msgspec.json.decode(lines[number % len(lines)]), path, new)
        text = msgspec.json.encode(value)
        texts.append(
            msgspec.json.format(text, indent=1).replace(b"\n", b" ") if is_spread else text
        )
    check(format_name, texts)


ODD_LINES = (
    b"", b"  ", b"{}", b"{} {}", b"[", b"[]", b"null", b"{", b'{"a":1,}', b'{"a":NaN}', b"{}\r",
    b'{"a":"\xff"}', b'{"a":{"a":[}}', b"[{}]", b'{"\\u0061":1}', b"\xef\xbb\xbf{}", b"\x00{}",
)  # fmt: skip


@pytest.mark.parametrize("format_name", FORMATS)
def test_odd_lines_are_read_alike(format_name: str) -> None:
    lines = list(lines_of(format_name))
    for number, line in enumerate(ODD_LINES):
        lines.insert(2 * number, line)
    lines += [line + b"\r" for line in lines_of(format_name)]
    lines += [line + line for line in lines_of(format_name)[:2]]
    lines += [b"[" + b",".join(lines_of(format_name)[:3]) + b"]"]
    for line in lines_of(format_name)[:3]:
        value = msgspec.json.decode(line)
        for key in value:
            first = msgspec.json.encode({key: 7})[:-1]
            lines += [first + b"," + line[1:], line[:-1] + b"," + first[1:] + b"}"]
    check(format_name, lines)
    check(format_name, [b"\xef\xbb\xbf" + lines_of(format_name)[0], *lines], 1)


def test_lines_that_the_engine_refuses_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    line, *_ = lines_of("route53")
    twice = line[:-1] + b',"rcode":"NOERROR","rcode":"NXDOMAIN"}'
    lines = [line] * 50
    lines[7] = lines[31] = twice
    check("route53", lines)
    monkeypatch.setattr(engine, "_MOST_QUERIES", 3)
    check("route53", lines)


S3_CHANGES: tuple[dict[str, Any], ...] = (
    {}, {"key": None}, {"key": "-"}, {"key": ""}, {"key": '"a"'}, {"key": 7}, {"key": "a%3Db"},
    {"key": "a%253Db", "uri": "GET /a%25253Db HTTP/1.1"}, {"key": "a\nb%20c"}, {"key": "ü"},
    {"key": "a%20b", "uri": None}, {"key": "a%FF"}, {"operation": "BATCH.DELETE.OBJECT"},
    {"operation": None}, {"operation": "REST.COPY.OBJECT_GET"}, {"operation": "x\ny", "key": "%"},
    {"uri": "GET /a?partNumber=2&uploadId=VXBsb2Fk HTTP/1.1"}, {"uri": "a"}, {"uri": "get /a"},
    {"uri": "GET /?a=1\nb HTTP/1.1"}, {"uri": "GET HTTP/ ?partNumber=1"}, {"uri": True},
    {"status": "200"}, {"status": 200.0}, {"status": 99}, {"status": True}, {"status": [1]},
    {"status": 10**20}, {"sent": 10**17}, {"sent": 10**30}, {"total": 99999999999999999},
    {"total": -3}, {"total": 1.5}, {"turn_around": "31"}, {"size": "007"}, {"size": "1 "},
    {"time": "2026-03-10T12:02:01Z"}, {"time": "2026-03-10T12:02:01.5+01:00"}, {"time": None},
    {"text_time": "[10/Mar/2026:12:02:01 +0000]"}, {"text_time": "10/Mar/2026:12:02:60 +0100"},
    {"text_time": '"[10/Mar/2026:12:02:01 +0000]"'}, {"text_time": "10/XXX/2026"},
    {"address": "2001:DB8::1"}, {"address": "x"}, {"address": 5}, {"bucket": ["a"]},
    {"cipher": {"a": 1}}, {"cipher": 1.5}, {"acl_required": True}, {"agent": '"'}, {"agent": '""'},
)  # fmt: skip


@pytest.mark.parametrize("record", [RECORD, OF_TABLE], ids=["vended", "table"])
def test_fields_of_s3_are_read_alike_in_every_spelling(record: dict[str, Any]) -> None:
    names = {field_of(name): name for name in record}
    lines = []
    for change in S3_CHANGES:
        stated = {names.get(field, field): value for field, value in change.items()}
        lines.append(record | stated)
    lines += [
        record | {"Key_Name": "other"}, record | {"keyname": "b"}, record | {"key": "c"},
        {name.upper(): value for name, value in record.items()}, record | {"unknown": {"a": [1]}},
        record | {"unknown": 1e308}, record | {"unknown": 10**400},
        *({k: v for k, v in record.items() if k != name} for name in record),
    ]  # fmt: skip
    texts = [json.dumps(line).encode() for line in lines]
    texts += [text[:-1] + b', "unknown": -1E400}' for text in texts[:2]]
    check("s3_access_log", texts)
    check("s3_access_log", texts, 1, region="eu-west-1")


TEXTS = st.text(st.sampled_from('\\"  \t,:ab{}\x1f') | st.characters(codec="utf-8"), max_size=12)
VALUES = st.recursive(
    TEXTS | st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
)


@given(
    st.lists(st.text(st.sampled_from('\\"/nu0 a\x1f') | st.characters(codec="utf-8")), min_size=1)
)
def test_texts_without_their_quotes_and_escapes_are_those_of_the_decoder(texts: list[str]) -> None:
    column = pa.array([msgspec.json.encode(text).decode() for text in texts], pa.large_string())
    assert unquoted(column).to_pylist() == texts


@settings(max_examples=25)
@given(st.lists(st.tuples(VALUES, st.sampled_from([None, 0, 1, 3])), min_size=1, max_size=40))
def test_ids_of_many_records_are_those_of_each(records: list[tuple[Any, int | None]]) -> None:
    lines = []
    for value, indent in records:
        text = msgspec.json.encode({"a": value})
        if indent is not None:
            text = msgspec.json.format(text, indent=indent).replace(b"\n", b"\t")
        lines.append(text)
    with SqlSession(threads=1) as session:
        ids = whole_ids(b"".join(x + b"\n" for x in lines), len(lines), session.connection)
    assert ids.to_pylist() == [whole_record_id(Item("", "$", 0, line)) for line in lines]

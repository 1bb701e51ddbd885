"""Big files are landed by columns as small ones are by lines."""

import gzip
from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from pipelines.errors import DataCheckError
from pipelines.landing import columns, parsing, readers
from pipelines.landing.columns import text_blocks
from pipelines.landing.formats import parsers
from pipelines.landing.land import land
from pipelines.landing.parsing import parse_records
from pipelines.publication import check_table
from pipelines.storage import Lake
from schemas.registry import table_spec
from tests.pipelines.landing_zone import FIRST_SEEN, zone
from tests.transforms.staging.export_text import CONTEXT
from tests.transforms.staging.hubble_events import DNS_RESPONSE, TIME, flow_line, line
from tests.transforms.staging.hubble_variants import VARIANTS
from tests.transforms.staging.test_json_columns import lines_of
from transforms.staging import hubble_columns
from transforms.staging.hubble import PARSER
from transforms.staging.line_blocks import LineBlocks
from transforms.staging.parser import Parsed

SETTINGS = """
lake: {lake}
catalog: podledger.duckdb
clusters: {{alder: {{cloud: aws, region: us-east-1}}}}
exports:
  - {{name: hubble, format: hubble, clusters: [alder], path: "in/%Y-%m-%d/{{node}}/events*"}}
"""
LINES = [
    flow_line(),
    line(DNS_RESPONSE),
    line({"num_events_lost": "3"}, "lost_events", node_name="node-1", time=TIME),
    flow_line()[:400],
    line({}, "debug_event"),
    flow_line(uuid=..., verdict=2),
    '{"flow":{}}',
    flow_line(IP__source="nowhere"),
    "",
    flow_line(uuid="another", l4={"UDP": {"destination_port": 53}}),
]
TEXT = "\n".join(LINES * 20).encode()


def put(folder: Path, node: str, name: str, data: bytes) -> None:
    path = folder / "in" / "2026-03-10" / node / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def landed(folder: Path, lake: str):
    settings = zone(folder, SETTINGS.format(lake=lake))
    report = land(settings, Lake(settings.lake_path), FIRST_SEEN)
    files = sorted((folder / lake).rglob("*.parquet"))
    return report, {str(p.relative_to(folder / lake)): pl.read_parquet(p) for p in files}


def test_a_landing_by_columns_equals_one_by_lines(tmp_path, monkeypatch):
    put(tmp_path, "node-1", "events.log", TEXT)
    put(tmp_path, "node-2", "events.log.gz", gzip.compress(TEXT))
    put(tmp_path, "node-3", "events.log.zst", pa.compress(TEXT, "zstd", True))
    put(tmp_path, "node-4", "events.log.gz", gzip.compress(TEXT)[:-30])
    monkeypatch.setattr(parsing, "COLUMNS_FROM", 1)
    by_columns, rows = landed(tmp_path, "by-columns")
    monkeypatch.setattr(parsing, "COLUMNS_FROM", 1 << 60)
    by_lines, expected = landed(tmp_path, "by-lines")
    assert by_columns == by_lines
    assert by_lines.records["rejected"] > 0
    assert rows.keys() == expected.keys()
    for name, frame in expected.items():
        assert rows[name].equals(frame), name


def test_every_variant_lands_by_columns_as_by_lines(tmp_path, monkeypatch):
    for number, variant in enumerate(VARIANTS.values()):
        put(tmp_path, f"node-{number}", "events.log", variant.data)
    monkeypatch.setattr(parsing, "COLUMNS_FROM", 1)
    by_columns, rows = landed(tmp_path, "by-columns")
    monkeypatch.setattr(parsing, "COLUMNS_FROM", 1 << 60)
    by_lines, expected = landed(tmp_path, "by-lines")
    assert by_columns == by_lines
    assert by_lines.unknown == []
    assert by_lines.files == len(VARIANTS)
    assert by_lines.records["record"] == sum(sum(v.fates.values()) for v in VARIANTS.values())
    assert rows.keys() == expected.keys()
    for name, frame in expected.items():
        assert rows[name].equals(frame), name


JSON_SETTINGS = """
lake: {lake}
catalog: podledger.duckdb
clusters: {{alder: {{cloud: aws, region: us-east-1}}}}
exports:
"""


def test_every_format_of_json_lines_lands_by_columns_as_by_rows(tmp_path, monkeypatch):
    text = JSON_SETTINGS
    folder = tmp_path / "in/2026-03-10"
    folder.mkdir(parents=True)
    for name in sorted(columns.JSON_FORMATS):
        lines = lines_of(name)
        damaged = [line[: len(line) // 2] for line in lines[:3]]
        (folder / f"{name}.log").write_bytes(b"\n".join([*lines, *damaged, *lines]))
        text += (
            f"  - {{{{name: {name}, format: {name}, clusters: [alder], "
            f'path: "in/%Y-%m-%d/{name}.log"}}}}\n'
        )
    results = []
    for number, columns_from in enumerate((1, 1 << 60)):
        monkeypatch.setattr(parsing, "COLUMNS_FROM", columns_from)
        lake = f"lake-{number}"
        settings = zone(tmp_path, text.format(lake=lake))
        report = land(settings, Lake(settings.lake_path), FIRST_SEEN)
        files = sorted((tmp_path / lake).rglob("*.parquet"))
        frames = {str(p.relative_to(tmp_path / lake)): pl.read_parquet(p) for p in files}
        results.append((report, frames))
    (by_columns, rows), (by_rows, expected) = results
    assert by_columns == by_rows
    assert by_rows.files == len(columns.JSON_FORMATS)
    assert by_rows.records["rejected"] > 0
    assert by_rows.unknown == []
    assert rows.keys() == expected.keys()
    for name, frame in expected.items():
        assert_frame_equal(rows[name], frame)


ZEEK_TEXT = b"#separator \\x09\n#fields\tts\tquery\n1773111719.5\tdata.example.com\n#close\tx\n"
CRI = b"2026-03-10T08:00:01.000000001Z stdout %s "
LINE = b'192.0.2.31:40001 - 1 "A IN data.example.com. udp 63 false 1232" NOERROR qr 94 0.0012s'
PIECES = b"".join((CRI % b"P", LINE[:30], b"\n{}\n", CRI % b"F", LINE[30:], b"\n"))


@pytest.mark.parametrize(("format_name", "more"), [("zeek_dns", ZEEK_TEXT), ("coredns", PIECES)])
def test_lines_that_change_how_later_ones_are_read_keep_a_file_from_columns(
    tmp_path, monkeypatch, format_name, more
):
    path = tmp_path / "in/2026-03-10/a.log"
    path.parent.mkdir(parents=True)
    judge = columns.json_columns(format_name).shape.judge
    assert judge is not None
    objects = [x for x in lines_of(format_name) if judge(tuple(msgspec.json.decode(x)))]
    lines = b"".join(line + b"\n" for line in objects)
    path.write_bytes(lines)
    parser = parsers()[format_name]
    assert columns.has_columns(path, parser)
    path.write_bytes(lines + more + lines)
    assert not columns.has_columns(path, parser)
    text = JSON_SETTINGS + f'  - {{{{name: a, format: {format_name}, path: "in/%Y-%m-%d/*"}}}}\n'
    results = []
    for number, columns_from in enumerate((1, 1 << 60)):
        monkeypatch.setattr(parsing, "COLUMNS_FROM", columns_from)
        settings = zone(tmp_path, text.format(lake=f"lake-{number}"))
        results.append(land(settings, Lake(settings.lake_path), FIRST_SEEN))
    assert results[0] == results[1]
    assert results[0].records["accepted"] > 0


@pytest.mark.parametrize("block", [3, 7, 1 << 20])
@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        (b'{"a":1}\n{"b":2}\n', True),
        (b'{"a":1}\n{"b":2}', True),
        (b'{"a":1}\n\n{"b":2}\n', False),
        (b'{"a":1}\n#b\n{"b":2}\n', False),
        (b'#b\n{"b":2}\n', False),
        (b'{"a":1}\n{"log": 2}\n{"b":2}\n', False),
        (b'{"a":1}\n{"a":"log"}\n{"b":2}\n', True),
    ],
)
def test_files_of_objects_are_told_from_others(tmp_path, monkeypatch, block, text, is_alone):
    monkeypatch.setattr(readers, "BLOCK", block)
    path = tmp_path / "text"
    path.write_bytes(text)
    assert columns._is_of_objects(path, ("log",)) == is_alone


def records(path: Path):
    """The records of the blocks, as the line reader would have them."""
    blocks = LineBlocks(text_blocks(path), lambda _: None)
    blocks.read_to(10_000)
    for index in range(blocks.count):
        record = blocks.record(index)
        yield record if isinstance(record, Parsed) else tuple(record[:3])


def expected_records(path: Path):
    def parse(raws, _context):
        for raw in raws:
            yield Parsed(raw.locator, raw.offset, raw.data, ignore="kept")

    for parsed in parse_records(path, replace(PARSER, parse=parse), CONTEXT):
        if parsed.ignore:
            yield (parsed.locator, parsed.offset, parsed.raw)
        else:
            yield parsed


TEXTS = st.lists(
    st.sampled_from([b"", b" ", b"\r", b"a", b"bc\r", b"d" * 40, b"e" * 90, b"f" * 300, b"\x00"]),
    max_size=12,
)


@given(TEXTS, st.sampled_from([7, 64, 1 << 20]), st.booleans(), st.booleans())
def test_blocks_hold_the_records_that_the_line_reader_cuts(
    tmp_path_factory, each, block, has_end, is_broken
):
    text = b"\n".join(each) + (b"\n" if has_end else b"")
    path = tmp_path_factory.mktemp("blocks") / "text"
    stored = gzip.compress(text, mtime=0)
    path.write_bytes(stored[:-5] if is_broken else text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "BLOCK", block)
        patch.setattr(columns, "BLOCK_BYTES", block // 3)
        for module in (readers, columns):
            patch.setattr(module, "MAX_LINE_BYTES", 80)
        patch.setattr(parsing, "MAX_LINE_BYTES", 80)
        assert list(records(path)) == list(expected_records(path))


def test_the_memory_of_a_file_is_refilled_whole():
    with columns._memory() as memory:
        if memory is not None:
            memory.fill([b"abc", b"defg"])
            assert Path(memory.path).read_bytes() == b"abcdefg"
            memory.fill([b"x"])
            assert Path(memory.path).read_bytes() == b"x"
            memory.fill([])
            assert Path(memory.path).read_bytes() == b""


def damaged_rows(parse, change):
    """A row parser, some of whose rows hold what no table can hold."""

    def parsed(records, context):
        for number, found in enumerate(parse(records, context)):
            if found.rows and number % 3 == 1:
                ((table, values), *rest) = found.rows
                yield replace(found, rows=((table, values | change), *rest))
            else:
                yield found

    return parsed


UNFIT = {
    "event_at": "yesterday",
    "client_port": 2**70,
    "rcode": object(),
    "is_response": None,
    "original_query_name": "\ud800",
}


@pytest.mark.parametrize("column", UNFIT)
def test_records_that_no_table_can_hold_are_refused_by_columns_as_by_rows(
    tmp_path, monkeypatch, column
):
    lines = lines_of("route53")[:3]
    path = tmp_path / "in/2026-03-10/a.log"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\n".join([*lines, lines[0][:40]]))
    known = dict(parsers())
    route53 = known["route53"]
    parse = damaged_rows(route53.parse, {column: UNFIT[column]})
    known["route53"] = replace(route53, parse=parse)
    monkeypatch.setattr(parsing, "parsers", lambda: known)
    found = columns.json_columns("route53")

    def none(records):
        """No record is for columns, so that all rows come from the row parser."""
        records.doubt(records.json("query_name").is_valid())
        return {}

    by_rows = replace(found, parser=known["route53"], columns=none)
    monkeypatch.setattr(columns, "json_columns", lambda _: by_rows)
    text = JSON_SETTINGS + '  - {{name: a, format: route53, path: "in/%Y-%m-%d/*"}}\n'
    results = []
    for number, columns_from in enumerate((1, 1 << 60)):
        monkeypatch.setattr(parsing, "COLUMNS_FROM", columns_from)
        settings = zone(tmp_path, text.format(lake=f"lake-{number}"))
        report = land(settings, Lake(settings.lake_path), FIRST_SEEN)
        (rejects,) = (tmp_path / f"lake-{number}").glob("rejected_records/**/*.parquet")
        results.append((report.records, pl.read_parquet(rejects).rows(named=True)))
    (counts, rejects), expected = results
    assert (counts, rejects) == expected
    assert counts == {"record": 4, "accepted": 2, "duplicate": 0, "rejected": 2, "ignored": 0}
    assert rejects[0]["reason"].startswith("not_representable: ")


@pytest.mark.parametrize("change", [{"rcode": 7}, {"client_port": "x"}, {"is_response": None}])
def test_a_batch_whose_columns_no_table_can_hold_is_read_by_rows(tmp_path, monkeypatch, change):
    lines = lines_of("route53")
    path = tmp_path / "text"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    found = columns.json_columns("route53")
    expected = list(columns.column_batches(path, "route53", CONTEXT, "f"))
    changed = replace(found, columns=lambda records: found.columns(records) | change)
    monkeypatch.setattr(columns, "json_columns", lambda _: changed)
    assert list(columns.column_batches(path, "route53", CONTEXT, "f")) == expected


def test_hubble_events_that_no_table_can_hold_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "events.log"
    lost = line({"num_events_lost": "3"}, "lost_events", node_name="node-1", time=TIME)
    path.write_text("\n".join([flow_line(), lost, flow_line()]))
    parse = hubble_columns.parse_line

    def damaged(raw, context, lineage):
        found = parse(raw, context, lineage)
        ((table, values),) = found.rows
        return replace(found, rows=((table, values | {"lost_count": 2**70}),))

    monkeypatch.setattr(hubble_columns, "parse_line", damaged)
    (batch,) = columns.column_batches(path, "hubble", CONTEXT, "f")
    assert (batch.record_count, batch.accepted_count) == (3, 2)
    assert batch.tables["flows"].num_rows == 2
    ((index, parsed),) = batch.rejects
    assert index == 1
    assert parsed.reject.startswith("not_representable: ")


def loss_table(**changes):
    row = {
        "export_file_id": "file", "record_index": 0, "row_index": 0, "record_id": "r",
        "source_format": "hubble", "source": "flows", "lost_count": 3, "kind": "lost",
    } | changes  # fmt: skip
    return pa.Table.from_pylist([row], schema=table_spec("loss_reports").arrow_schema)


def test_rows_that_fit_the_model_pass():
    check_table(table_spec("loss_reports"), loss_table())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": None}, "source: not_nullable"),
        ({"lost_count": -1}, "lost_count: at least 0"),
        ({"kind": "forgotten"}, "kind: isin"),
    ],
)
def test_rows_that_break_the_model_are_named(changes, message):
    with pytest.raises(DataCheckError, match=message):
        check_table(table_spec("loss_reports"), loss_table(**changes))


def test_other_types_break_the_model():
    table = loss_table().drop_columns(["node"])
    with pytest.raises(DataCheckError, match="columns or types differ"):
        check_table(table_spec("loss_reports"), table)

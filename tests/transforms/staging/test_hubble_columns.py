import gzip
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import CONTEXT, CUTS, damaged
from tests.transforms.staging.hubble_events import (
    DNS_RESPONSE,
    FLOW,
    HTTP_RESPONSE,
    TIME,
    changed,
    flow_line,
    line,
)
from tests.transforms.staging.hubble_files import (
    FILE_ID,
    LineReads,
    Scratch,
    blocks,
    by_columns,
    by_lines,
    check_equal,
    collect,
)
from tests.transforms.staging.hubble_variants import LOGS, RETINA, VARIANTS, WHOLE, camel
from transforms.sql import SqlSession
from transforms.staging import hubble_columns
from transforms.staging.hubble_columns import TextFile, parse_columns
from transforms.staging.line_blocks import TextBlock
from transforms.staging.parser import Parsed

LOST = line({"num_events_lost": "3"}, "lost_events", node_name="node-1", time=TIME)
AGENT = line({"type": "POLICY_UPDATED"}, "agent_event", node_name="node-1", time=TIME)
IPCACHE = line(
    {
        "type": "IPCACHE_UPSERTED",
        "ipcache_update": {"cidr": "192.0.2.9/32", "namespace": "ml", "pod_name": "train-9"},
    },
    "agent_event",
    node_name="node-1",
    time=TIME,
)
REQUEST = changed(
    DNS_RESPONSE, {"l7": {"type": "REQUEST", "dns": {"query": "a.example.com.", "qtypes": ["A"]}}}
)
REFUSED = changed(REQUEST, {"verdict": "DROPPED", "uuid": "refused"})
NXDOMAIN = changed(
    DNS_RESPONSE,
    {
        "l7.dns": {
            "query": "storage.example.com.ml.svc.cluster.local.",
            "rcode": 3,
            "ttl": 2**32 - 1,
        }
    },
)
DENIED = changed(
    FLOW,
    {
        "verdict": "DROPPED",
        "drop_reason": 181,
        "drop_reason_desc": "POLICY_DENY",
        "is_reply": ...,
        "egress_denied_by": [{"name": "deny", "namespace": "ml", "kind": "CiliumNetworkPolicy"}],
    },
)
PLAIN = [
    flow_line(),
    line(DNS_RESPONSE),
    line(REQUEST),
    line(REFUSED),
    line(NXDOMAIN),
    line(HTTP_RESPONSE),
    line(DENIED),
    flow_line(IP={"source": "2001:DB8::1", "destination": "2001:db8:0::2"}),
    flow_line(l4={"UDP": {"source_port": 5353, "destination_port": 53}}),
    flow_line(l4={"ICMPv6": {"type": 133}}, time="2026-03-10T10:00:31Z"),
    flow_line(is_reply=..., reply=True, verdict=2, source__identity="7"),
    flow_line(uuid=..., node_name="node-2"),
]
"""Lines that need no second look."""
OTHERS = [LOST, AGENT, IPCACHE, '{"flow":{}}', line(FLOW, "debug_event"), json.dumps(FLOW)]
"""Lines that the line reader has to read."""


@pytest.fixture(scope="module")
def session():
    with SqlSession(threads=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("columns")


def text_of(*each: str | bytes) -> bytes:
    return b"".join((e.encode() if isinstance(e, str) else e) + b"\n" for e in each)


def test_rows_counts_and_provenance_are_those_of_the_line_reader(folder, session):
    text = text_of(*PLAIN, *OTHERS, *PLAIN, "{", *PLAIN)
    found = by_columns(text, folder, session)
    check_equal(found, by_lines(text))
    flows = found.tables["flows"]
    assert flows["export_file_id"].unique().to_list() == [FILE_ID]
    assert flows["cluster"].unique().to_list() == ["alder"]
    assert flows["record_index"].is_sorted()
    assert found.record_count == 3 * len(PLAIN) + len(OTHERS) + 1


def test_plain_lines_are_read_by_columns_alone(folder, session, monkeypatch):
    reads = LineReads(monkeypatch)
    text = text_of(*PLAIN * 50)
    check_equal(by_columns(text, folder, session), by_lines(text))
    assert reads.locators == []


def test_only_lines_that_need_it_are_read_as_lines(folder, session, monkeypatch):
    reads = LineReads(monkeypatch)
    odd = flow_line(node_name="17")
    text = text_of(*PLAIN, LOST, *PLAIN, odd, *PLAIN)
    check_equal(by_columns(text, folder, session), by_lines(text))
    assert reads.locators == [f"line {len(PLAIN) + 1}", f"line {2 * len(PLAIN) + 2}"]


def test_behind_a_damaged_line_columns_are_read_again(folder, session, monkeypatch):
    reads = LineReads(monkeypatch)
    text = text_of(*PLAIN * 9, "{", *PLAIN * 9, flow_line()[:80] + flow_line(), *PLAIN)
    check_equal(by_columns(text, folder, session), by_lines(text))
    first, second = f"line {9 * len(PLAIN) + 1}", f"line {18 * len(PLAIN) + 2}"
    assert set(reads.locators) == {first, second, f"{second} byte 80"}


def test_without_memory_the_line_reader_reads_behind_damage(folder, session, monkeypatch):
    reads = LineReads(monkeypatch)
    text = text_of("{", *PLAIN)
    check_equal(by_columns(text, folder, session, with_scratch=False), by_lines(text))
    assert len(set(reads.locators)) == 1 + len(PLAIN)


@pytest.mark.parametrize(
    "tail",
    [
        ",}", ', "x":[1,]}', ',"x":NaN}', ',"x":nan}', ',"x":-Infinity}', ',"x":inf}', ",\t}",
        ',"x":' + "[" * 3_000 + "]" * 3_000 + "}",
    ],
)  # fmt: skip
def test_lines_that_the_engine_would_take_though_they_are_no_json_are_refused(
    folder, session, tail
):
    text = text_of(*PLAIN, flow_line()[:-1] + tail, *PLAIN)
    found = by_columns(text, folder, session)
    check_equal(found, by_lines(text))
    assert [index for index, _ in found.rejects] == [len(PLAIN)]


@pytest.mark.parametrize(
    "odd",
    [
        flow_line().replace('"verdict":', '"verdict":"DROPPED","verdict":', 1),
        flow_line()[:-1] + ',"flow":{}}',
        flow_line(source=5),
        flow_line(source__labels="x"),
        flow_line(source__labels=[5]),
        flow_line(IP=[]),
        flow_line(l4__TCP=5),
        flow_line(l7=[]),
        flow_line(event_type=4),
        flow_line(destination_names={}),
        flow_line().encode().replace(b"Hubble", b"\xff\xfe"),
        flow_line().encode().replace(b"train-0", b"\xff\xfe"),
        flow_line() + flow_line(),
        b"\xef\xbb\xbf" + flow_line().encode(),
        b"\x00" * 30,
        '{"flow":null}',
        "null",
        "[]",
        flow_line().replace("{", "{ ", 2).replace(":", " : ", 2),
        flow_line().replace('"flow"', '"fl\\u006fw"', 1),
        flow_line()[:-1] + ',"x":1e999}',
        flow_line()[:-1] + ',"x":"\\ud800"}',
    ],
)
def test_one_odd_line_among_plain_ones_is_read_as_the_line_reader_reads_it(folder, session, odd):
    text = text_of(*PLAIN, odd, *PLAIN, LOST)
    check_equal(by_columns(text, folder, session), by_lines(text))


@pytest.mark.parametrize("length", range(60, 64))
def test_a_refusal_that_quotes_half_a_character_is_a_refusal(folder, session, length):
    twice = "é" * length
    odd = json.dumps({"flow": {"uuid": "x" * (length % 4) + twice}}, ensure_ascii=False)
    text = text_of(*PLAIN, odd[:-2] + ',"uuid":"y"}}', *PLAIN)
    check_equal(by_columns(text, folder, session), by_lines(text))


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("blank", [b"", b"  ", b"\t\r", b"\x0b\x0c"])
def test_blank_lines_count_in_line_numbers_only(folder, session, ends, blank):
    each = [text.encode() for text in (PLAIN[0], "{", PLAIN[1], LOST, PLAIN[2])]
    text = blank + ends + (ends + blank + ends).join(each)
    for size in (50, 1 << 20):
        check_equal(by_columns(text, folder, session, size=size), by_lines(text))


def test_a_blank_line_and_a_line_of_two_events_are_not_two_lines_of_one(folder, session):
    two = flow_line() + flow_line()
    text = text_of(PLAIN[0], "", LOST, *PLAIN, two, *PLAIN)
    check_equal(by_columns(text, folder, session), by_lines(text))


@pytest.mark.parametrize("with_scratch", [True, False])
def test_lines_that_no_engine_reads_are_found_one_by_one(folder, session, with_scratch):
    two = flow_line() + flow_line()
    text = text_of("{", *PLAIN, *[PLAIN[0], "", LOST, two, ""] * 3, *PLAIN)
    for size in (100, 3_000, 1 << 20):
        found = by_columns(text, folder, session, size=size, with_scratch=with_scratch)
        check_equal(found, by_lines(text))


def test_an_empty_file_gives_nothing(folder, session):
    assert by_columns(b"", folder, session).record_count == 0
    assert by_columns(b"\n \n", folder, session).record_count == 0


def test_a_file_without_flows_is_read_by_lines(folder, session):
    text = text_of(*[LOST, AGENT, "{"] * 20)
    check_equal(by_columns(text, folder, session), by_lines(text))


def test_long_stretches_of_other_events_are_cut_into_batches(folder, session, monkeypatch):
    monkeypatch.setattr(hubble_columns, "BATCH_ROWS", 8)
    monkeypatch.setattr(hubble_columns, "GAP_RECORDS", 16)
    text = text_of(
        *[AGENT] * 100, PLAIN[0], *[LOST] * 30, *PLAIN, *[IPCACHE] * 7, *PLAIN * 3, *[AGENT] * 40
    )
    path = folder / "many.log"
    path.write_bytes(text)
    found = list(
        parse_columns(
            TextFile(str(path), "none"),
            blocks(text, 500),
            CONTEXT,
            session,
            export_file_id=FILE_ID,
        )
    )
    assert max(batch.record_count for batch in found) <= 16
    check_equal(collect(found), by_lines(text))


def test_a_long_line_is_read_by_the_line_reader(folder, session):
    long = flow_line()[:-1] + ',"x":"' + "y" * 1_200_000 + '"}'
    longer = flow_line()[:-1] + ',"x":"' + "y" * 5_000_000 + '"}'
    text = text_of(*PLAIN, long, *PLAIN, longer, *PLAIN)
    check_equal(by_columns(text, folder, session), by_lines(text))


def test_records_that_the_reader_refused_keep_their_place(folder, session):
    before, after = text_of(*PLAIN), text_of(*PLAIN, LOST)
    skipped = b"x" * 100 + b"\n"
    refused = Parsed("line 13", len(before), b"", reject="line_too_long: expected less")
    path = folder / "refused.log"
    path.write_bytes(before + skipped + after)
    first, second = TextBlock(1, 12, 0, before), TextBlock(14, 13, len(before) + 101, after)
    for scratch in (None, Scratch(folder / "scratch")):
        found = collect(
            parse_columns(
                TextFile(str(path), "none"),
                [first, refused, second],
                CONTEXT,
                session,
                export_file_id=FILE_ID,
                scratch=scratch,
            )
        )
        assert found.rejects == [(12, refused)]
        assert found.record_count == 2 * len(PLAIN) + 2
        assert found.tables["loss_reports"]["record_index"].to_list() == [25]
        assert found.tables["flows"].height == 2 * len(PLAIN)


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed_files_are_read_as_they_are(folder, session, monkeypatch, compression):
    reads = LineReads(monkeypatch)
    text = text_of(*PLAIN * 20)
    path = folder / "events.compressed"
    stored = gzip.compress(text) if compression == "gzip" else pa.compress(text, "zstd", True)
    path.write_bytes(stored)
    file = TextFile(str(path), compression)
    found = collect(parse_columns(file, blocks(text), CONTEXT, session, export_file_id=FILE_ID))
    check_equal(found, by_lines(text))
    assert reads.locators == []


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        text_of(*PLAIN[::-1]),
        text_of(*PLAIN[:5]),
        text_of(*PLAIN, *PLAIN),
        text_of(PLAIN[0], "", *PLAIN[1:]),
        text_of(*PLAIN)[:-100],
        b"\x1f\x8b not gzip",
    ],
)
def test_the_text_counts_where_the_engine_reads_something_else(folder, session, stored):
    text = text_of(*PLAIN)
    path = folder / "other.log"
    path.write_bytes(stored)
    file = TextFile(str(path), "none")
    found = collect(parse_columns(file, blocks(text), CONTEXT, session, export_file_id=FILE_ID))
    check_equal(found, by_lines(text))


def test_a_file_that_the_engine_cannot_open_is_read_by_lines(folder, session):
    text = text_of(*PLAIN)
    file = TextFile(str(folder / "none.log"), "none")
    found = collect(parse_columns(file, blocks(text), CONTEXT, session, export_file_id=FILE_ID))
    check_equal(found, by_lines(text))


def test_an_error_of_the_block_source_reaches_the_caller(folder, session):
    text = text_of(*PLAIN)
    path = folder / "error.log"
    path.write_bytes(text + text)

    def broken():
        yield from blocks(text)
        message = "disk"
        raise OSError(message)

    batches = parse_columns(
        TextFile(str(path), "none"), broken(), CONTEXT, session, export_file_id=FILE_ID
    )
    with pytest.raises(OSError, match="disk"):
        list(batches)


def test_the_path_names_the_node_of_lines_without_one(folder, session):
    text = text_of(flow_line(node_name=...), flow_line(node_name=..., uuid=...), flow_line())
    context = replace(CONTEXT, node="node-of-path", cluster=None)
    found = by_columns(text, folder, session, context=context)
    check_equal(found, by_lines(text, context))
    assert found.tables["flows"]["node"].to_list() == [
        "node-of-path",
        "node-of-path",
        "node-1.example.com",
    ]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_read_alike_alone_and_among_plain_lines(folder, session, name):
    data = VARIANTS[name].data
    for size in (200, 1 << 20):
        check_equal(by_columns(data, folder, session, size=size), by_lines(data))
    if not data.startswith(b"\xef\xbb\xbf"):
        text = text_of(*PLAIN, data, *PLAIN)
        for size, with_scratch in ((3_000, True), (1 << 20, True), (3_000, False)):
            found = by_columns(text, folder, session, size=size, with_scratch=with_scratch)
            check_equal(found, by_lines(text))


def test_columns_go_on_behind_lines_of_several_records(folder, session, monkeypatch):
    reads = LineReads(monkeypatch)
    torn = flow_line()[:300]
    glued = (torn + flow_line(), flow_line() + line(DNS_RESPONSE), torn, torn + LOST + IPCACHE)
    text = text_of(*PLAIN * 9, *(part for each in glued for part in (each, *PLAIN * 9)))
    found = by_columns(text, folder, session)
    check_equal(found, by_lines(text))
    lines = {locator.split(" byte ")[0] for locator in reads.locators}
    assert len(lines) == len(glued)
    assert found.record_count == 5 * 9 * len(PLAIN) + 2 + 2 + 1 + 3
    indexes = found.tables["flows"]["record_index"]
    assert indexes.is_sorted()
    assert indexes.max() == found.record_count - 1


def test_columns_go_on_behind_a_line_that_is_torn_between_tokens(folder, session, monkeypatch):
    reads = LineReads(monkeypatch)
    torn = '{"flow":{"time":"2026-03-10T10:00:30Z","source":{"labels":['
    text = text_of(*PLAIN * 9, torn, *PLAIN * 9, torn + flow_line(), *PLAIN * 9, torn)
    check_equal(by_columns(text, folder, session), by_lines(text))
    assert len({locator.split(" byte ")[0] for locator in reads.locators}) == 3


def test_a_line_of_very_many_records_is_left_to_the_line_reader(folder, session, monkeypatch):
    monkeypatch.setattr(hubble_columns, "MOST_RECORDS", 20)
    monkeypatch.setattr(hubble_columns, "BATCH_ROWS", 8)
    text = text_of(*PLAIN, flow_line() * 90, *PLAIN)
    path = folder / "glued.log"
    path.write_bytes(text)
    batches = list(
        parse_columns(
            TextFile(str(path), "none"), blocks(text), CONTEXT, session, export_file_id=FILE_ID
        )
    )
    assert max(batch.record_count for batch in batches) <= 20
    check_equal(collect(batches), by_lines(text))


@pytest.mark.parametrize("most_runs", [0, hubble_columns.MOST_RUNS])
def test_rows_of_lines_stand_where_their_lines_do(folder, session, monkeypatch, most_runs):
    monkeypatch.setattr(hubble_columns, "MOST_RUNS", most_runs)
    between = [PLAIN[0], json.dumps(FLOW), flow_line() * 3, *PLAIN, json.dumps(FLOW)]
    text = text_of(json.dumps(FLOW), *between * 9)
    found = by_columns(text, folder, session)
    check_equal(found, by_lines(text))
    assert found.tables["flows"]["record_index"].is_sorted()


def test_other_names_and_wrapped_values_are_found_among_plain_lines(folder, session, monkeypatch):
    reads = LineReads(monkeypatch)
    extensions = {"@type": "type.googleapis.com/utils.RetinaMetadata", "bytes": "74"}
    odd = [
        *(json.dumps(camel(event)) for event in WHOLE),
        *(
            flow_line(**{f"{place}": value})
            for place, value in (
                ("nodeName", "n"), ("IP__sourceXlated", "203.0.113.1"), ("isReply", True),
                ("l4__UDP__sourcePort", 7), ("l4__TCP__destinationPort", 7),
                ("source__podName", "x"), ("aggregate__egressFlowCount", 5),
                ("event_type__subType", 5), ("l7__latencyNs", "5"), ("dropReason", 5),
            )
        ),
        json.dumps({"flow": FLOW, "nodeName": "n"}),
    ]  # fmt: skip
    plain = [
        flow_line(is_reply={"value": True}),
        flow_line(is_reply={}),
        flow_line(extensions=extensions),
        flow_line(extensions=extensions, verdict="DROPPED"),
        flow_line(extensions={"@type": "x"}),
        line(RETINA),
        flow_line(Summary='"nodeName":'),
        flow_line(source__labels=["nodeName"]),
    ]
    text = text_of(*PLAIN, *plain, *PLAIN)
    check_equal(by_columns(text, folder, session), by_lines(text))
    retina = len(PLAIN) + plain.index(line(RETINA)) + 1
    assert reads.locators in ([], [f"line {retina}"])
    text = text_of(*PLAIN, *odd, *PLAIN)
    check_equal(by_columns(text, folder, session), by_lines(text))


@pytest.mark.samples
def test_real_files_are_read_alike(samples, folder, session):
    for path in sorted((samples / "hubble").glob("*.jsonl")):
        text = path.read_bytes()
        check_equal(by_columns(text, folder, session, size=50_000), by_lines(text))


# --- any file


LEAVES = st.sampled_from(
    [
        None, True, False, 0, 1, 17, -1, 65_536, 2**32, 10**30, 1.5, 1e3, -0.0, "", "x", "17",
        "007", "1.5", "1e3", "true", "null", "NaN", "{}", "[1]", "-5", " 17", "0x11", "2",
        "FORWARDED", "forwarded", "EGRESS", "REQUEST", "RESPONSE", "DROPPED", TIME,
        "2026-03-10 10:00:30Z", "2026-03-10T10:00:60Z", "2026-03-10T10:00:30+01:00",
        "2026-03-10T10:00:30.1234567891Z", "1969-12-31T23:59:59.9999999Z",
        "9999-01-01T00:00:00Z", "2026-03-10T10:00Z", "192.0.2.1", "::FFFF:192.0.2.1",
        "2001:DB8::1", "alder/n", "a/", "Ünï", "a\u0000b", "\u2028", "x" * 300,
        "0001-01-01T00:00:00Z", {"value": True}, {"value": "x"}, {"podName": "x"}, {"bytes": 5},
        {"@type": "type.googleapis.com/utils.RetinaMetadata", "bytes": "7", "drop_reason": "X_Y"},
        {"@type": "type.googleapis.com/utils.RetinaMetadata", "previouslyObservedBytes": -1},
        "hf_FAKEtokenFAKEtokenFAKEtoken", "http://u:p@h/p?q", "a.b.svc.cluster.local.",
    ]
)  # fmt: skip
TEXT_PATHS = (
    "time", "uuid", "node_name", "verdict", "drop_reason", "drop_reason_desc",
    "traffic_direction", "is_reply", "reply", "trace_observation_point", "trace_reason",
    "IP.source", "IP.destination", "IP.source_xlated", "l4.UDP.source_port",
    "l4.UDP.destination_port", "l4.TCP.source_port", "l4.TCP.flags", "source", "destination",
    "source.ID", "source.identity", "source.namespace", "source.pod_name", "source.pod_uid",
    "destination.namespace", "destination.labels", "source.workloads", "source_service",
    "event_type", "event_type.type", "event_type.sub_type", "l7.type", "l7.latency_ns",
    "l7.dns.query", "l7.dns.ttl", "l7.dns.rcode", "l7.http.code", "l7.http.method",
    "l7.http.url", "egress_denied_by", "ingress_denied_by", "proxy_port", "aggregate", "extensions",
    "nodeName", "isReply", "source.podName", "IP.sourceXlated", "l4.UDP.sourcePort",
    "l7.latencyNs", "event_type.subType",
)  # fmt: skip
LIST_PATHS = (
    "source.labels", "destination_names", "source_names", "l7.dns.ips", "l7.dns.cnames",
    "l7.dns.qtypes",
)  # fmt: skip
CHANGE = st.tuples(st.sampled_from(TEXT_PATHS), LEAVES) | st.tuples(
    st.sampled_from(LIST_PATHS), st.lists(LEAVES, max_size=3)
)
EVENT = st.sampled_from([FLOW, DNS_RESPONSE, REQUEST, HTTP_RESPONSE, DENIED, NXDOMAIN])


@st.composite
def odd_lines(draw) -> str:
    """A flow line in which one or two values are something else, or are gone."""
    event = draw(EVENT)
    for path, value in draw(st.lists(CHANGE, max_size=2)):
        parent = event
        for key in path.split(".")[:-1]:
            parent = parent.get(key, {}) if isinstance(parent, dict) else None
        if isinstance(parent, dict):
            event = changed(event, {path: ... if draw(st.integers(0, 9)) == 0 else value})
    return line(event) if draw(st.booleans()) else json.dumps({"flow": event})


@given(st.lists(odd_lines(), min_size=1, max_size=30), st.sampled_from([200, 5_000, 1 << 20]))
def test_odd_values_are_read_alike(folder, session, odd, size):
    text = text_of(*odd)
    check_equal(by_columns(text, folder, session, size=size), by_lines(text))


PARTS = (
    "[", "]", ",", "[]", "[[", "]]", "},", "}", "{", '{"flow":{', '{"flow":{"labels":[', "\0\0",
    f"[{PLAIN[0]},", f"{PLAIN[1]},", f"{PLAIN[2]}]", f"[{PLAIN[3]},{LOST}]", PLAIN[0] + PLAIN[1],
    json.dumps(json.loads(PLAIN[0]), indent=1), json.dumps(json.loads(LOST), indent=1),
    json.dumps([json.loads(PLAIN[1])], indent=1), json.dumps(json.loads(PLAIN[2]), indent=1)[:300],
    json.dumps(json.loads(PLAIN[2]), indent=0)[200:], f"{PLAIN[0]}\0\0", f"x{PLAIN[0]}",
    f"{PLAIN[0]}}}{PLAIN[1]}", "```", "Mar 10 10:00:30.500: a (ID:1) -> b (ID:2) x FORWARDED (x)",
)  # fmt: skip
"""Brackets, documents and what stands around events."""


@st.composite
def any_lines(draw) -> bytes:
    """A plain, odd, other or damaged line, or several."""
    kind = draw(st.integers(0, 7))
    if kind == 6:
        return draw(st.sampled_from(PARTS)).encode()
    if kind == 7:
        return draw(st.sampled_from(LOGS)).encode()
    if kind == 0:
        return draw(odd_lines()).encode()
    if kind == 1:
        return draw(st.sampled_from(OTHERS)).encode()
    plain = draw(st.sampled_from(PLAIN)).encode()
    if kind == 2:
        return damaged(plain, draw(CUTS))
    if kind == 3:
        cut = draw(st.integers(0, len(plain)))
        return plain[:cut] + draw(st.sampled_from(PLAIN)).encode()[draw(st.integers(0, 900)) :]
    return plain


@given(
    st.lists(any_lines(), max_size=40),
    st.sampled_from([200, 5_000, 1 << 20]),
    st.booleans(),
    st.booleans(),
)
def test_damaged_files_are_read_alike(folder, session, each, size, with_scratch, has_end):
    text = text_of(*each)[: None if has_end else -1]
    found = by_columns(text, folder, session, size=size, with_scratch=with_scratch)
    check_equal(found, by_lines(text))

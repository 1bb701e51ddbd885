"""Files of wrapped lines give the rows of the bare lines, with the wrapper's time and node."""

import json
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pipelines.landing import parsing
from pipelines.landing.detection import Detected, detect, identify
from pipelines.landing.formats import parsers
from pipelines.landing.land import land
from pipelines.landing.parsing import parse_records
from pipelines.ledger import Ledger
from pipelines.storage import Lake
from tests.pipelines.landing_zone import FIRST_SEEN, line, zone
from tests.transforms.staging import wrapped_texts as w
from tests.transforms.staging.export_text import CONTEXT, check_each, words
from tests.transforms.staging.hubble_events import DNS_RESPONSE, FLOW
from transforms.staging.parser import RawRecord, Wrapper

LOOKUP = (
    '[INFO] 192.0.2.11:40213 - {} "A IN example.com. udp 29 false 512" NOERROR qr,rd,ra 56 0.001s'
)
ROUTE53 = {
    "version": "1.100000",
    "account_id": "111122223333",
    "region": "us-east-1",
    "vpc_id": "vpc-1",
    "query_timestamp": "2026-03-10T07:00:00Z",
    "query_name": "example.com.",
    "query_type": "A",
    "query_class": "IN",
    "rcode": "NOERROR",
    "answers": [{"Rdata": "198.51.100.7", "Type": "A", "Class": "IN"}],
    "srcaddr": "192.0.2.11",
    "srcport": "40213",
    "transport": "UDP",
}
AGENT = 'level=info msg="agent started"'


def hubble(number):
    flow = FLOW | {"uuid": f"56dced30-2f83-4c15-9370-{number:012d}"}
    return json.dumps({"flow": flow, "node_name": flow["node_name"], "time": flow["time"]})


def route53(number):
    return json.dumps(ROUTE53 | {"srcport": f"{40_000 + number}"})


MAKE = {
    "hubble": hubble,
    "coredns": LOOKUP.format,
    "s3_access_log": line,
    "route53": route53,
}


def read(folder, parser, text):
    path = folder / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = list(parse_records(path, parser, CONTEXT))
    check_each(found)
    return found


def fates(found):
    return [
        (p.rows, (p.reject or "").partition(":")[0], p.ignore) for p in found
    ]  # fmt: skip


def expected(parser, lines, saids):
    """What the parser says of the lines, told what wrappers would say."""
    records = [
        RawRecord(f"line {n}", 10 * n, text.encode(), wrapper)
        for n, (text, wrapper) in enumerate(zip(lines, saids, strict=True))
    ]
    return fates(parser.parse(records, CONTEXT))


def order_of(file_wrapper, count):
    """The order in which a file holds the lines."""
    if file_wrapper == "loki_push":
        return [*range(0, count, 2), *range(1, count, 2)]
    return list(range(count))


@given(
    st.sampled_from(sorted(MAKE)),
    st.lists(st.sampled_from(sorted(w.LINE_WRAPPERS)), max_size=3),
    st.sampled_from(sorted(w.FILE_WRAPPERS)),
    st.lists(st.one_of(st.integers(1, 999), st.none()), min_size=1, max_size=6),
)
@example("coredns", ["fluent_bit", "cri"], "subscription", [1, 2, None, 3])
@example("hubble", ["fluent_bit"], "entries", [None, 1, 2])
@example("route53", ["cri", "docker"], "loki_answer", [1, None])
def test_rows_are_those_of_the_bare_lines(tmp_path_factory, name, layers, file_wrapper, numbers):
    parser = parsers()[name]
    if all(number is None for number in numbers) or not (layers or file_wrapper != "lines"):
        return
    lines = [AGENT if number is None else MAKE[name](number) for number in numbers]
    wrapped, stamped, node_layer = lines, None, None
    for layer, kind in enumerate(layers):
        wrap, has_node = w.LINE_WRAPPERS[kind]
        wrapped = [wrap(text, layer, n) for n, text in enumerate(wrapped)]
        stamped = layer if stamped is None else stamped
        node_layer = layer if has_node and node_layer is None else node_layer
    depth = len(layers)
    if file_wrapper != "lines" and node_layer is None and file_wrapper != "subscription":
        node_layer = depth
    node = None if node_layer is None else f"n{node_layer}"
    text = w.FILE_WRAPPERS[file_wrapper](wrapped, depth)
    saids = [w.said(depth if stamped is None else stamped, n, node) for n in range(len(lines))]
    if stamped is None and file_wrapper == "subscription":
        saids = [
            replace_time(said, nanoseconds=said.nanoseconds // 10**6 * 10**6) for said in saids
        ]
    order = order_of(file_wrapper, len(lines))
    wanted = expected(parser, [lines[n] for n in order], [saids[n] for n in order])
    found = read(tmp_path_factory.mktemp("wrapped"), parser, text)
    assert fates(found) == wanted
    assert len({p.locator for p in found}) == len(found)


def replace_time(said, nanoseconds):
    at = w.BASE.fromtimestamp(nanoseconds // 10**6 / 1_000, w.BASE.tzinfo)
    return said._replace(at=at, nanoseconds=nanoseconds)


@pytest.mark.parametrize(
    ("file_wrapper", "locators"),
    [
        ("lines", ["line 1", "line 2"]),
        ("loki_answer", ["$.data.result[0].values[0]", "$.data.result[0].values[1]"]),
        ("loki_push", ["line 1 $.streams[0].values[0]", "line 1 $.streams[1].values[0]"]),
        (
            "subscription",
            ["line 1 $[0].logEvents[0].message", "line 1 $[1].logEvents[0].message"],
        ),
        ("entries", ["$[0]", "$[1]"]),
    ],
)
def test_a_record_is_found_where_its_locator_says(tmp_path, file_wrapper, locators):
    text = w.FILE_WRAPPERS[file_wrapper]([w.cri(hubble(1)), w.cri(hubble(2), 0, 1)], 1)
    found = read(tmp_path, parsers()["hubble"], text)
    assert [p.locator for p in found] == locators
    assert [p.rows[0][1]["uuid"][-1] for p in found] == ["1", "2"]
    for p in found:
        assert text[p.offset] in "{[2"
    assert found[0].offset < found[1].offset


def test_a_list_in_a_wrapped_line_keeps_the_line_and_its_path(tmp_path):
    events = {"Records": [{}, {}]}
    text = w.loki_push([json.dumps(events)], 0)
    found = list(parse_records_of(tmp_path, "cloudtrail", text))
    assert [p.locator for p in found] == [
        f"line 1 $.streams[0].values[0] $.Records[{n}]" for n in (0, 1)
    ]


def parse_records_of(folder, name, text):
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    return parse_records(path, parsers()[name], CONTEXT)


@pytest.mark.parametrize("name", sorted(MAKE))
@pytest.mark.parametrize("file_wrapper", sorted(w.FILE_WRAPPERS))
@pytest.mark.parametrize("kind", ["cri", "fluent_bit", "log_entry"])
def test_the_format_is_told_through_wrappers(name, file_wrapper, kind):
    wrap, _ = w.LINE_WRAPPERS[kind]
    text = w.FILE_WRAPPERS[file_wrapper]([wrap(MAKE[name](n)) for n in range(1, 60)], 1)
    found = detect(text.encode()[: 64 << 10])
    assert isinstance(found, Detected), found
    assert found.parser.name == name


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        (w.by_lines([w.cri(hubble(1))], 0), "Hubble event lines in CRI"),
        (
            w.loki_answer([w.cri(LOOKUP.format(1))], 0),
            "log lines in CRI in Loki",
        ),
        (
            w.subscription([w.cri(w.fluent_bit(hubble(1)))], 0),
            "Hubble event lines in log shipper's JSON in CRI in CloudWatch subscription",
        ),
        (w.by_lines([hubble(1)], 0), "Hubble event lines"),
    ],
)
def test_the_variant_names_the_wrappers(text, variant):
    assert detect(text.encode()).variant == variant


def test_a_format_that_is_a_log_entry_itself_stays():
    entry = {
        "logName": "projects/p/logs/dns.googleapis.com%2Fdns_queries",
        "insertId": "x",
        "jsonPayload": {"queryName": "example.com.", "message": LOOKUP.format(1)},
    }
    assert detect(json.dumps(entry).encode()).parser.name == "gcp_dns"
    assert detect(w.by_lines([w.cri(json.dumps(entry))], 0).encode()).parser.name == "gcp_dns"


def test_a_beginning_of_bare_and_wrapped_lines_is_read_as_both(tmp_path):
    found = read(tmp_path, parsers()["s3_access_log"], f"{line(1)}\n{w.cri(line(2))}\n{line(3)}\n")
    assert [p.rows[0][1]["key"] for p in found] == ["key-1", "key-2", "key-3"]


def test_a_file_that_begins_without_wrappers_is_read_as_it_is(tmp_path):
    bare = "".join(f"{line(number)}\n" for number in range(300))
    found = read(tmp_path, parsers()["s3_access_log"], f"{bare}{w.cri(line(2))}\n")
    assert [bool(p.rows) for p in found] == [True] * 300 + [False]


def test_each_record_keeps_its_own_truth_in_a_mixed_file(tmp_path):
    text = "\n".join(
        [
            w.cri(hubble(1)),
            hubble(2),
            w.cri(AGENT),
            w.docker(hubble(3)),
            w.fluent_bit(w.cri(hubble(4))),
            '{"level":"info","token":"swordfish-17"}',
            '{"log":"torn swordfish-17',
            AGENT,
            w.cri(hubble(5)),
            w.cri(""),
        ]
    )
    found = read(tmp_path, parsers()["hubble"], text)
    assert [p.locator for p in found] == [f"line {n}" for n in range(1, 11)]
    uuids = [p.rows[0][1]["uuid"][-1] if p.rows else None for p in found]
    assert uuids == ["1", "2", None, "3", "4", None, None, None, "5", None]
    assert found[5].reject == "other_json: expected a record in CRI, got other JSON"
    assert found[6].reject.startswith("invalid_json: expected JSON")
    assert found[9].ignore == "blank"
    assert all(b"swordfish" not in p.raw for p in found)
    assert all(p.place is None or b"swordfish" not in p.place.raw for p in found if p.reject)


def test_what_stands_beside_a_list_is_judged_by_its_parser(tmp_path):
    """A bracket before lines makes no list of them: logs between metrics are another signal."""
    text = '[\n{"resourceMetrics":[]}\n{"resourceLogs":[]}\n{"resourceMetrics":[]}\nnull\n'
    found = read(tmp_path, parsers()["otlp"], text)
    told = [(p.reject or p.ignore or "").partition(":")[0] for p in found]
    assert told[1:4] == ["empty", "other_signal", "empty"]
    assert all(p.reject for p in (found[0], found[4]))


def test_a_line_without_wrapper_among_wrapped_ones_has_no_time(tmp_path):
    text = f"{w.cri(LOOKUP.format(1))}\n{LOOKUP.format(2)}\n{w.cri(LOOKUP.format(3), 0, 1)}\n"
    found = read(tmp_path, parsers()["coredns"], text)
    assert [(p.reject or "").partition(":")[0] for p in found] == ["", "no_time", ""]


def pieces(text, count):
    size = -(-len(text) // count)
    return [text[i : i + size] for i in range(0, len(text), size)]


def test_pieces_of_streams_and_containers_stay_apart(tmp_path):
    def shipped(pod, tag, text):
        kubernetes = {"pod_name": pod, "namespace_name": "ml", "container_name": "c"}
        value = {"log": text, "_p": tag, "stream": "stdout", "time": w.stamp(0, 0)}
        return json.dumps(value | {"kubernetes": kubernetes})

    one, two = pieces(hubble(1), 3), pieces(hubble(2), 2)
    text = "\n".join(
        [
            shipped("a", "P", one[0]),
            shipped("b", "P", two[0]),
            shipped("a", "P", one[1]),
            shipped("b", "F", two[1]),
            shipped("a", "F", one[2]),
            shipped("a", "F", hubble(3)),
        ]
    )
    found = read(tmp_path, parsers()["hubble"], text)
    assert [p.ignore for p in found] == ["partial"] * 3 + [None] * 3
    assert [p.rows[0][1]["uuid"][-1] for p in found[3:]] == ["2", "1", "3"]
    streams = [("stdout", "P", one[0]), ("stderr", "P", two[0]), ("stdout", "F", "".join(one[1:]))]
    text = "\n".join(f"{w.stamp(0, 0)} {s} {tag} {t}" for s, tag, t in streams)
    text = f"{w.cri(hubble(4))}\n{text}\n{w.stamp(0, 0)} stderr F {two[1]}"
    found = read(tmp_path, parsers()["hubble"], text)
    assert [p.rows[0][1]["uuid"][-1] if p.rows else p.ignore for p in found] == [
        "4", "partial", "partial", "1", "2",
    ]  # fmt: skip


def test_pieces_in_a_store_are_joined_before_what_stands_in_them(tmp_path):
    whole = w.fluent_bit(hubble(1))
    cut = pieces(whole, 3)
    tags = ("P", "P", "F")
    lines = [
        f"{w.stamp(0, n)} stdout {tag} {text}"
        for n, (tag, text) in enumerate(zip(tags, cut, strict=True))
    ]
    lines += [w.cri(w.fluent_bit(hubble(2)), 0, 9)]
    values = [[f"{w.nanoseconds(0, n)}", text] for n, text in enumerate(lines)]
    push = {"streams": [{"stream": {"pod": "p-1"}, "values": values}]}
    result = [{"stream": {"pod": "p-1"}, "values": values[::-1]}]
    answer = {"data": {"resultType": "streams", "result": result}}
    for document in (push, answer):
        found = read(tmp_path, parsers()["hubble"], json.dumps(document))
        assert [p.rows[0][1]["uuid"][-1] if p.rows else p.ignore for p in found] == [
            "partial", "partial", "1", "2",
        ]  # fmt: skip


def test_numbered_pieces_are_joined_by_number_or_refused(tmp_path):
    def piece(number, text, *, last=False, name="x"):
        value = {"log": text, "partial_message": "true", "partial_id": name, "container_id": "c"}
        return json.dumps(
            value | {"partial_ordinal": f"{number}", "partial_last": "true" if last else "false"}
        )

    cut = pieces(hubble(1), 3)
    text = "\n".join(
        [
            w.fluent_bit(hubble(9)),
            piece(2, cut[1]),
            piece(1, cut[0]),
            piece(3, cut[2], last=True),
            piece(1, cut[0], name="y"),
            piece(3, cut[2], last=True, name="y"),
        ]
    )
    found = read(tmp_path, parsers()["hubble"], text)
    assert words(found) == {"accepted": 2, "partial": 2, "missing_piece": 2}
    assert found[3].rows[0][1]["uuid"][-1] == "1"


def test_torn_wrappers_cost_themselves_only(tmp_path):
    whole = w.subscription([hubble(n) for n in range(1, 6)], 0)
    middle = whole.index('{"messageType"', 10)
    torn = whole[: middle - 40] + whole[middle:]
    found = read(tmp_path, parsers()["hubble"], torn)
    assert [p.rows[0][1]["uuid"][-1] if p.rows else None for p in found] == [None, *"2345"]
    assert found[0].reject.startswith("invalid_json: expected JSON")
    text = w.by_lines([w.fluent_bit(hubble(n)) for n in range(1, 4)], 0)
    found = read(tmp_path, parsers()["hubble"], text[100:])
    assert [p.rows[0][1]["uuid"][-1] if p.rows else None for p in found] == [None, *"23"]


@pytest.mark.parametrize("file_wrapper", ["loki_answer", "loki_push", "entries"])
@pytest.mark.parametrize("break_it", ["cut", "damage"])
def test_what_stands_whole_in_front_of_a_break_is_kept(tmp_path, file_wrapper, break_it):
    text = w.FILE_WRAPPERS[file_wrapper]([w.cri(hubble(n)) for n in range(1, 7)], 1)
    whole = read(tmp_path, parsers()["hubble"], text)
    assert len(whole) == 6
    place = whole[4].offset + 30
    torn = text[:place] if break_it == "cut" else text[:place] + "\x01" + text[place + 1 :]
    found = read(tmp_path, parsers()["hubble"], torn)
    assert [p.rows for p in found[:4]] == [p.rows for p in whole[:4]]
    (broken,) = found[4:]
    assert broken.reject == "invalid_json: expected the rest of a list, got something else"
    assert whole[3].offset < broken.offset <= whole[4].offset
    assert broken.raw == b""


SECRET = "swordfish-17-albatross"


@pytest.mark.parametrize("name", sorted(MAKE))
def test_what_shippers_add_is_not_shown(tmp_path, name):
    good = MAKE[name](1)
    kubernetes = {"labels": {"password": SECRET}, "annotations": {"a": SECRET}, "host": "n1"}
    value = {"log": "no record", "time": w.stamp(0, 0), "kubernetes": kubernetes}
    labels = {"app": SECRET, "node_name": "n1"}
    shipped = json.dumps(value | {"log": good})
    text = "\n".join(
        [
            shipped,
            json.dumps(value),
            json.dumps(value | {"log": 5}),
            json.dumps(value | {"log": good})[:-3],
            json.dumps({"streams": [{"stream": labels, "values": [["1", "no record"], 5]}]}),
            json.dumps({"streams": [{"stream": labels, "values": [["1", good]]}]})[:-4],
            json.dumps({"message": {"a": SECRET}, "kubernetes": kubernetes}),
            w.cri(json.dumps(value | {"log": 5})),
        ]
    )
    found = read(tmp_path, parsers()[name], text)
    assert found[0].rows
    rejects = [p for p in found if p.reject]
    assert len(rejects) >= 6
    for p in found:
        shown = [p.raw, (p.reject or "").encode(), repr(p.rows).encode()]
        if p.reject and p.place is not None:
            shown.append(p.place.raw)
        assert all(SECRET.encode() not in text for text in shown), p


def test_an_answer_without_lines_is_no_record_but_counted(tmp_path):
    answer = {"status": "success", "data": {"resultType": "streams", "result": []}}
    found = read(tmp_path, parsers()["coredns"], json.dumps(answer))
    assert [p.ignore for p in found] == ["empty"]


def test_wrappers_deeper_than_the_limit_are_refused(tmp_path):
    text = hubble(1)
    for layer in range(4):
        text = w.docker(text, layer)
    assert read(tmp_path, parsers()["hubble"], text)[0].rows
    found = read(tmp_path, parsers()["hubble"], f"{w.docker(hubble(2))}\n{w.docker(text)}")
    assert [bool(p.rows) for p in found] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        '{"log":' * 500,
        '{"log":"' + '{\\"log\\":\\"' * 500,
        "[" * 70_000,
        '{"streams":' + "[" * 70_000,
        '{"streams":[' + '{"stream":{},"values":[]},' * 5_000,
        "\x00" * 1_000,
        w.stamp(0, 0) + " stdout F " + "{" * 60_000,
        '{"a":' * 10_000,
    ],
)
@pytest.mark.parametrize("name", ["hubble", "coredns", "route53"])
def test_hostile_files_are_answered(tmp_path, name, text):
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    identify(path, None, None)
    assert read(tmp_path, parsers()[name], text)
    assert read(tmp_path, parsers()[name], f"{w.cri(MAKE[name](1))}\n{text}\n{w.docker(text)}")


CUTS = st.lists(
    st.tuples(st.integers(0, 3_000), st.integers(0, 40), st.binary(max_size=3)),
    min_size=1,
    max_size=3,
)


@given(
    st.sampled_from(["hubble", "coredns"]),
    st.sampled_from(sorted(w.FILE_WRAPPERS)),
    st.sampled_from(sorted(w.LINE_WRAPPERS)),
    CUTS,
)
@hypothesis_settings(max_examples=100)
def test_damage_is_answered(tmp_path_factory, name, file_wrapper, kind, cuts):
    wrap, _ = w.LINE_WRAPPERS[kind]
    data = w.FILE_WRAPPERS[file_wrapper]([wrap(MAKE[name](n)) for n in range(1, 4)], 1).encode()
    for start, length, inserted in cuts:
        place = start % (len(data) + 1)
        data = data[:place] + inserted + data[place + length :]
    folder = tmp_path_factory.mktemp("damage")
    found = read(folder, parsers()[name], data)
    (folder / "file").write_bytes(data)
    identify(folder / "file", None, None)
    assert found or not data.strip()


def test_a_bare_file_of_objects_without_line_ends_is_read(tmp_path):
    text = "".join(route53(n) for n in range(1, 4))
    assert detect(text.encode()).parser.name == "route53"
    found = read(tmp_path, parsers()["route53"], text)
    assert [p.rows[0][1]["client_port"] for p in found] == [40_001, 40_002, 40_003]


def test_one_glued_line_does_not_make_a_file_one_without_line_ends(tmp_path):
    long = json.dumps(ROUTE53 | {"note": "x" * (80 << 10)})
    text = f"{route53(1)}{route53(2)}\n{long}\n{route53(3)}\n"
    found = read(tmp_path, parsers()["route53"], text)
    assert [(p.locator, bool(p.rows)) for p in found] == [
        ("line 1", False), ("line 2", True), ("line 3", True),
    ]  # fmt: skip


def test_a_stated_form_is_read_through_a_store(tmp_path):
    path = tmp_path / "file"
    path.write_text(w.loki_answer(["q example.com. A", "q example.org. A"], 0), encoding="utf-8")
    context = replace(CONTEXT, record_format="q {name} {type}")
    assert isinstance(identify(path, "coredns", "q {name} {type}"), Detected)
    found = list(parse_records(path, parsers()["coredns"], context))
    assert [p.rows[0][1]["query_name"] for p in found] == ["example.com", "example.org"]
    assert [p.rows[0][1]["node"] for p in found] == ["n0", "n0"]


def test_a_wrong_format_is_contradicted_through_wrappers(tmp_path):
    path = tmp_path / "file"
    path.write_text(w.loki_answer([hubble(1)], 0), encoding="utf-8")
    reason = identify(path, "route53", None)
    assert reason == "stated as route53, but the content is hubble"


HUBBLE_SETTINGS = """
lake: lake
catalog: podledger.duckdb
clusters:
  alder: {cloud: aws, region: us-east-1}
exports:
  - {name: flows, format: auto, path: "in/%Y-%m-%d/*", clusters: [alder]}
"""


def landed(folder, files):
    (folder / "in/2026-03-10").mkdir(parents=True)
    for name, text in files.items():
        (folder / "in/2026-03-10" / name).write_text(text, encoding="utf-8")
    settings = zone(folder, HUBBLE_SETTINGS)
    lake = Lake(settings.lake_path)
    report = land(settings, lake, FIRST_SEEN)
    frames = {
        table: pl.concat(
            [
                pl.read_parquet(part.path)
                for part in Ledger.read(lake).parts(table, None, None, None)
            ]
        )
        for table in ("flows", "dns_lookups")
        if Ledger.read(lake).parts(table, None, None, None)
    }
    return report, frames


PROVENANCE = ("export_file_id", "record_index", "row_index")


def test_lines_land_alike_in_every_wrapper(tmp_path):
    dns = json.dumps({"flow": DNS_RESPONSE, "node_name": "alder/node-1.example.com"})
    lines = [hubble(1), dns, hubble(2)]
    forms = {
        "bare": w.by_lines(lines, 0),
        "cri": w.by_lines([w.cri(text, 0, n) for n, text in enumerate(lines)], 0),
        "loki": w.loki_answer(lines, 0),
        "nested": w.subscription([w.cri(w.vector(text)) for text in lines], 0),
    }
    frames = {}
    for form, text in forms.items():
        report, found = (
            landed(tmp_path / form, {"a": text}) if (tmp_path / form).mkdir() is None else None
        )
        assert (report.records["record"], report.records["accepted"]) == (3, 3), form
        frames[form] = {table: frame.drop(PROVENANCE) for table, frame in found.items()}
    for form in ("cri", "loki", "nested"):
        for table, frame in frames["bare"].items():
            assert frames[form][table].equals(frame), (form, table)


def test_the_same_lines_in_two_wrappers_count_once(tmp_path):
    lookups = [LOOKUP.format(n) for n in range(1, 5)]
    files = {
        "a": w.by_lines([w.fluent_bit(text, 0, n) for n, text in enumerate(lookups)], 0),
        "b": w.loki_answer([*lookups, LOOKUP.format(9)], 0),
    }
    report, frames = landed(tmp_path, files)
    names = ("record", "accepted", "duplicate", "rejected", "ignored")
    assert tuple(report.records[name] for name in names) == (9, 5, 4, 0, 0)
    assert frames["dns_lookups"]["record_id"].n_unique() == 5
    assert frames["dns_lookups"]["node"].unique().to_list() == ["n0"]


def test_a_big_wrapped_file_is_read_by_lines(tmp_path, monkeypatch):
    def columns(*_args):
        raise AssertionError

    monkeypatch.setattr(parsing, "COLUMNS_FROM", 1)
    monkeypatch.setattr(parsing, "column_batches", columns)
    report, frames = landed(tmp_path, {"a": w.by_lines([w.cri(hubble(n)) for n in range(9)], 0)})
    assert report.records["accepted"] == 9
    assert frames["flows"].height == 9


def test_a_pod_tells_lines_apart_where_no_node_is_known():
    def record_id(**names):
        at = Wrapper(w.BASE, "x", w.BASE_NANOSECONDS, **names)
        raw = RawRecord("line 1", 0, LOOKUP.format(1).encode(), at)
        (found,) = parsers()["coredns"].parse([raw], CONTEXT)
        return found.rows[0][1]["record_id"]

    assert len({record_id(), record_id(pod_name="a"), record_id(pod_name="b")}) == 3
    assert record_id(node="n", pod_name="a") == record_id(node="n")

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.transforms.staging.export_text import (
    CONTEXT,
    check_each,
    check_rows,
    parse,
    rows,
    stated,
    words,
    written,
)
from tests.transforms.staging.hubble_events import FLOW, changed, flow_line, line
from tests.transforms.staging.hubble_variants import (
    BARE,
    COMPACT,
    LINES,
    LOGS,
    VARIANTS,
    WHOLE,
    camel,
    text,
)
from transforms.staging.hubble import PARSER
from transforms.staging.hubble_reader import MAX_DOCUMENT
from transforms.staging.parser import Parsed, RawRecord, Wrapper

PLAIN = parse(PARSER, text(*LINES))
PRETTY = [json.dumps(event, indent=2) for event in WHOLE]


def tables(parsed: list[Parsed]) -> list[tuple[str, dict]]:
    """Rows of all records, in order."""
    return [row for record in parsed for row in record.rows]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_record_of_every_variant_meets_its_fate(name):
    data, fates = VARIANTS[name]
    parsed = parse(PARSER, data)
    check_each(parsed)
    check_rows(parsed)
    assert words(parsed) == fates
    locators = [record.locator for record in parsed]
    assert len(set(locators)) == len(locators)


@pytest.mark.parametrize(
    "name",
    [
        "lines without a final line end", "bare flows", "a list on one line",
        "a list of bare flows", "a list with an event per line",
        "a list that opens and closes beside events", "a pretty-printed list",
        "a pretty-printed list of bare flows", "documents behind each other",
        "documents of lines without indentation", "events without line ends",
        "bare flows without line ends", "zeros where a node crashed", "events among log lines",
        "output that cilium-bugtool kept", "AKS, without an envelope's keys",
        "protojson's own names", "bare flows under protojson's own names",
        "Windows line ends and a byte order mark", "hubble observe",
    ],
)  # fmt: skip
def test_the_same_events_give_the_same_rows_in_every_shape(name):
    """`PLAIN` is what test_hubble.py checks value by value."""
    found = [row for row in tables(parse(PARSER, VARIANTS[name].data)) if row[0] != "loss_reports"]
    assert [(table, stated(values)) for table, values in found] == [
        (table, stated(values)) for table, values in tables(PLAIN)
    ]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_recognised_by_its_content(name):
    found = PARSER.recognise(VARIANTS[name].data[: 64 << 10])
    is_bare = "bare" in name
    is_printed = "printed " in name and "pretty" not in name
    assert found.score == (2 if is_bare or is_printed else 3), found
    assert ("not readable; use -o jsonpb" in found.variant) == is_printed
    assert ("to be unpacked" in found.variant) == (" as zip" in name or " as tar" in name)


def test_a_log_without_events_may_hold_them_further_on():
    found = PARSER.recognise(text(*LOGS[:5]))
    assert (found.score, found.variant) == (1, "log of a Cilium agent")
    assert PARSER.recognise(text("level=info msg=x component=y")).score == 0


def test_other_formats_are_not_taken_for_printed_events():
    for head in (
        b"TYPE: x\nSOURCE: y\nSUMMARY: z\n" * 9,
        b"PK\x03\x04" + b"\0" * 90,
        b"- a: 1\n",
        b"TIMESTAMP,SOURCE,DESTINATION\n1,2,3\n",
        b"TIMESTAMP   LEVEL   TEXT\nMar 10 10:00:30 host app: a -> b\n" * 9,
        b"Mar 10 10:00:30 host app[7]: a -> b c\n" * 9,
    ):
        assert PARSER.recognise(head).score == 0


# --- where records stand


def places(data: bytes) -> list[tuple[str, int | None]]:
    return [(p.locator, p.offset) for p in parse(PARSER, data)]


def test_items_of_a_list_have_their_path_and_their_byte():
    data = f"\n [{LINES[0]}, {LINES[1]}]".encode()
    assert places(data) == [("line 2 $[0]", 3), ("line 2 $[1]", 5 + len(LINES[0]))]


def test_parts_of_a_line_have_their_byte():
    data = text(LINES[0], LINES[1][:200] + LINES[2] + LINES[1])
    start = len(LINES[0]) + 1
    second = 200 + len(LINES[2])
    assert places(data) == [
        ("line 1", 0),
        ("line 2", start),
        ("line 2 byte 200", start + 200),
        (f"line 2 byte {second}", start + second),
    ]


def test_a_document_stands_where_it_begins():
    data = text("[", PRETTY[0] + ",", PRETTY[1], "]")
    offset = 2 + len(PRETTY[0]) + 2
    number = 2 + len(PRETTY[0].split("\n"))
    assert places(data) == [("line 2", 2), (f"line {number}", offset)]


def test_documents_that_begin_where_another_ends_are_apart():
    joined = text(f"{PRETTY[0]}, {PRETTY[1]}{PRETTY[2]}")
    parsed = parse(PARSER, joined)
    assert words(parsed) == {"accepted": 3}
    assert [stated(v) for _, v in tables(parsed)] == [stated(v) for _, v in tables(PLAIN)]


# --- what is provable


@pytest.mark.parametrize("cut", range(1, len(LINES[0]), 7))
def test_wherever_an_event_is_torn_the_one_behind_it_is_whole(cut):
    """The next line settles it, whether it is glued on or not."""
    glued = parse(PARSER, text(LINES[0][:cut] + LINES[1], LINES[2]))
    apart = parse(PARSER, text(LINES[0][:cut], LINES[1], LINES[2]))
    for parsed in (glued, apart):
        check_each(parsed)
        assert tables(parsed) == tables(PLAIN)[1:]
        assert len(parsed) == 3


@pytest.mark.parametrize("cut", range(1, len(BARE[0]), 11))
def test_wherever_a_bare_flow_is_torn_the_one_behind_it_is_whole(cut):
    expected = tables(parse(PARSER, text(*BARE[1:])))
    # Behind the name of a message only a part of the torn flow can begin with a time.
    parsed = parse(PARSER, text(BARE[0][:cut] + BARE[1], BARE[2]))
    assert tables(parsed) == expected


def is_json(data: str) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("place", range(1, len(LINES[0]), 13))
def test_a_bracket_in_a_wrong_place_never_gives_a_part_of_an_event(place):
    for sign in "{}[]":
        damaged = LINES[0][:place] + sign + LINES[0][place:]
        if is_json(damaged):
            continue
        for record in parse(PARSER, text(damaged, LINES[1])):
            for table, values in record.rows:
                clean = tables(PLAIN)[:1] if values["record_id"] == FLOW["uuid"] else tables(PLAIN)
                assert (table, values) in clean


def test_an_event_inside_a_text_is_no_event():
    inner = json.dumps(LINES[1])
    parsed = parse(PARSER, text(flow_line(Summary=LINES[1]), f'{{"flow":{{"Summary":{inner}'))
    assert words(parsed) == {"accepted": 1, "invalid_json": 1}


def test_a_torn_line_does_not_swallow_what_follows():
    opening = '{"flow":{"time":"2026-03-10T10:00:30Z","l4":{"TCP":{'
    for following in (LINES[1], LOGS[0], LOGS[3], LOGS[5], "x", PRETTY[1]):
        apart = parse(PARSER, text(following))
        parsed = parse(PARSER, text(opening, following))
        assert parsed[0].reject is not None
        assert [record.rows for record in parsed[1:]] == [record.rows for record in apart]


def test_an_object_that_never_ends_is_bounded():
    huge = ["{", '"flow": {', *['"x": [1, 2, 3],' * 40] * (MAX_DOCUMENT // 600 + 9), LINES[1]]
    parsed = parse(PARSER, text(*huge))
    check_each(parsed)
    assert words(parsed)["accepted"] == 1
    assert [stated(row) for _, row in tables(parsed)] == [
        stated(row) for _, row in tables(parse(PARSER, text(LINES[1])))
    ]


@pytest.mark.parametrize(
    "hostile",
    [
        b'{"flow":{' * 10_000, b"{}" * 16_000, b"[" * 33_000, b"[{" * 10_000, b"]" * 16_666,
        b'{"a":[' * 8_000, b",\n" * 8_000, b'{"a":[\n' * 3_000, b"[\n" * 8_000,
        b'{"time":"' * 10_000, b'{"level":"' * 10_000, b'{"flow":{}}' * 3_000, b"\\" * 16_666,
        b'{"flow":{"x":"' + b"\\" * 16_666, b"{ " * 15_000, b'"' * 16_666, b"\x00" * 16_666,
        b'{\n"a":{\n' * 3_000, b"}\n" * 8_000,
    ],
)  # fmt: skip
def test_hostile_repetition_is_accounted_for_in_bounded_time(hostile):
    parsed = parse(PARSER, hostile)
    check_each(parsed)
    assert parsed


@pytest.mark.parametrize("bracket", ["[", "]", ",", "[]", "[[", "]["])
def test_a_bracket_alone_among_lines_is_refused_where_it_stands(bracket):
    parsed = parse(PARSER, text(LINES[0], bracket, LINES[1], bracket, LINES[2]))
    assert [record.locator for record in parsed] == [f"line {n}" for n in range(1, 6)]
    assert words(parsed)["accepted"] == 3


def test_lists_behind_each_other_are_read():
    whole = text("[", LINES[0], "]", "[", LINES[1] + ",", LINES[2], "]")
    assert words(parse(PARSER, whole)) == {"accepted": 3}


# --- text beside events


def test_printed_events_are_refused_with_the_option_that_writes_json():
    (first, *_) = parse(PARSER, text(*COMPACT))
    assert first.reject == (
        "text_output: expected JSON, as `hubble observe -o jsonpb` prints it, got -o compact text"
    )


def test_an_archive_is_one_refused_record_and_nothing_of_it_is_shown():
    (only,) = parse(PARSER, VARIANTS["a sysdump as zip"].data)
    assert only.reject == (
        "archive: expected the unpacked files of a sysdump (hubble-flows-*.json), got a zip archive"
    )
    assert only.raw == b""


def test_a_line_of_a_log_as_json_is_told_from_an_event_of_a_kind_not_known_yet():
    log, unknown = LOGS[3], '{"rate_limit_info":{},"node_name":"n","time":"2026-03-10T10:00:30Z"}'
    parsed = parse(PARSER, text(log, unknown, '{"level":"info"}', '{"msg":"x"}'))
    assert [record.ignore for record in parsed] == ["agent_log", "unknown_event", None, None]


SECRET = "a plain secret"


def test_nothing_of_a_torn_part_shows_but_structure():
    event = changed(
        WHOLE[2]["flow"],
        {"l7.http.headers": [{"key": "X-Internal", "value": SECRET}], "Summary": SECRET},
    )
    whole = line(event)
    for start in range(0, len(whole), 5):
        for end in (len(whole) - 2, len(whole) - 40):
            for data in (
                text(whole[start:end]),
                text(whole[start:end] + LINES[0]),
                text(whole[start:end] + "\0"),
                text(json.dumps({"flow": event}, indent=1)[start:end], LINES[0]),
            ):
                assert SECRET not in written(parse(PARSER, data)), data


# --- names of protojson, wrapper messages


@pytest.mark.parametrize(
    ("changes", "column", "expected"),
    [
        ({"source": {"podName": "train-1"}}, "source_pod_name", "train-1"),
        ({"source": {"podUid": "30eaab61-3761-407b-bd1e-03cd0774362e"}}, "source_pod_uid",
         "30eaab61-3761-407b-bd1e-03cd0774362e"),
        ({"IP": {"source": "192.0.2.1", "sourceXlated": "203.0.113.1"}}, "source_xlated_address",
         "203.0.113.1"),
        ({"l4": {"UDP": {"sourcePort": 53, "destinationPort": 5353}}}, "destination_port", 5_353),
        ({"l4": {"SCTP": {"sourcePort": 7}}}, "source_port", 7),
        ({"event_type": ..., "eventType": {"type": 4, "subType": 11}}, "event_sub_type", 11),
        ({"is_reply": ..., "isReply": True}, "is_reply", True),
        ({"trace_reason": ..., "traceReason": "REPLY"}, "trace_reason", "REPLY"),
        ({"aggregate": {"egressFlowCount": 4}}, "flow_count", 4),
        ({"proxyPort": 14_213}, "proxy_port", 14_213),
        ({"l7": {"type": "RESPONSE", "latencyNs": "1000000"}}, "latency_seconds", 0.001),
        ({"destination_names": ..., "destinationNames": ["a.example.com"]}, "destination_names",
         ["a.example.com"]),
        ({"sourceService": {"name": "a", "namespace": "b"}}, "source_service", "b/a"),
        ({"ingressDeniedBy": [{"name": "a", "kind": "b", "namespace": "c"}]}, "denied_by",
         ["b/c/a"]),
    ],
)  # fmt: skip
def test_a_field_is_read_under_its_other_name(changes, column, expected):
    (row,) = rows(parse(PARSER, line(changed(FLOW, changes))), "flows")
    assert row[column] == expected


def test_the_other_name_inside_a_text_is_a_text():
    label = 'k8s:note="nodeName":'
    (row,) = rows(parse(PARSER, line(camel(changed(FLOW, {"source.labels": [label]})))), "flows")
    assert row["source_labels"] == [label]
    assert row["node"] == "node-1.example.com"


def test_a_wrong_value_under_the_other_name_is_refused_with_its_path():
    (parsed,) = parse(PARSER, line(camel(changed(FLOW, {"source.pod_name": 5}))))
    assert parsed.reject is not None
    assert parsed.reject.startswith("wrong_type: expected")
    assert parsed.reject.endswith("$.flow.source.pod_name")


@pytest.mark.parametrize(
    ("value", "expected"), [({"value": True}, True), ({"value": False}, False), ({}, False)]
)
def test_a_reply_may_stand_in_the_message_that_wraps_it(value, expected):
    (row,) = rows(parse(PARSER, flow_line(is_reply=value)), "flows")
    assert row["is_reply"] is expected


def test_lost_events_without_an_envelope_are_a_loss_that_says_not_when():
    data = text('{"source":"HUBBLE_RING_BUFFER","num_events_lost":"3","cpu":0}')
    (row,) = rows(parse(PARSER, data, node="node-of-path"), "loss_reports")
    assert stated(row, "record_id") == {
        "source": "flows",
        "node": "node-of-path",
        "lost_count": 3,
        "kind": "lost",
        "reason": "HUBBLE_RING_BUFFER",
    }


def test_the_node_of_a_wrapper_goes_before_that_of_the_path():
    def records() -> Iterator[RawRecord]:
        for wrapper in (Wrapper(node="node-of-wrapper"), Wrapper(), None):
            yield RawRecord("line 1", 0, b'{"flow":{}}', wrapper)

    found = parse(PARSER, records(), node="node-of-path")
    assert [row["node"] for row in rows(found, "flows")] == [
        "node-of-wrapper", "node-of-path", "node-of-path",
    ]  # fmt: skip


def test_masked_records_of_one_wrapper_are_apart():
    records = [RawRecord(f"line 1 $.streams[{i}]", 0, b'{"flow":{}}') for i in range(3)]
    found = list(PARSER.parse(records, CONTEXT))
    assert len({values["record_id"] for _, values in tables(found)}) == 3


# --- later versions, Retina


def test_what_a_later_version_adds_is_taken_where_a_column_holds_it():
    (row,) = rows(parse(PARSER, VARIANTS["a later version"].data), "flows")
    assert row["source_pod_uid"] == "30eaab61-3761-407b-bd1e-03cd0774362e"
    assert row["destination_pod_uid"] == "5a6dbb53-6a3a-4f0f-b8a8-2a9f40d0a6c5"
    assert (row["verdict"], row["trace_reason"], row["observation_point"]) == ("23", "19", "14")
    assert row["drop_reason"] == "290"
    # Counters that no release names are no measurement.
    assert row.get("packet_bytes") is None
    assert row["source_address"] == "192.0.2.11"


def test_a_drop_that_retina_saw():
    (bare, enveloped, renamed) = rows(parse(PARSER, VARIANTS["Retina"].data), "flows")
    assert stated(bare, "record_id") == {
        "event_at": datetime(2026, 3, 10, 10, 0, 33, 0, UTC),
        "node": "aks-pool-1",
        "verdict": "DROPPED",
        "drop_reason": "SKB_DROP_REASON_NETFILTER_DROP",
        "direction": "EGRESS",
        "is_reply": False,
        "event_type": 1,
        "event_sub_type": 0,
        "observation_point": "TO_STACK",
        "transport": "TCP",
        "source_address": "192.0.2.11",
        "source_port": 41_012,
        "destination_address": "192.0.2.12",
        "destination_port": 8_080,
        "tcp_flags": "SYN",
        "packet_bytes": 74,
        "unreported_bytes": 3_000,
        "unreported_packets": 2,
        "is_masked": False,
    }
    for other in (enveloped, renamed):
        assert stated(other, "record_id") == stated(bare, "record_id")


@pytest.mark.parametrize(
    ("extensions", "expected"),
    [
        ({"@type": "type.googleapis.com/utils.RetinaMetadata"}, None),
        ({"@type": "type.googleapis.com/utils.RetinaMetadata", "bytes": 66}, 66),
        ({"@type": "retina.sh/utils.RetinaMetadata", "bytes": "66"}, 66),
        ({"@type": "type.googleapis.com/other.utils.RetinaMetadata", "bytes": {}}, None),
        ({"@type": "type.googleapis.com/x.Other", "bytes": {}, "n": "utils.RetinaMetadata"}, None),
        ({"bytes": 66, "note": "/utils.RetinaMetadata"}, None),
        ("utils.RetinaMetadata", None),
        (["utils.RetinaMetadata"], None),
        (None, None),
    ],
)
def test_only_extensions_of_retinas_type_say_something(extensions, expected):
    (row,) = rows(parse(PARSER, flow_line(extensions=extensions)), "flows")
    assert row.get("packet_bytes") == expected


@pytest.mark.parametrize("value", [-1, 1.5, [], 2**63, "x", True])
def test_a_counter_of_retina_that_is_none_refuses_the_event(value):
    extensions = {"@type": "type.googleapis.com/utils.RetinaMetadata", "bytes": value}
    (parsed,) = parse(PARSER, flow_line(extensions=extensions))
    assert parsed.reject is not None
    assert " at $.flow.extensions.bytes" in parsed.reject


def test_the_reason_of_cilium_goes_before_that_of_retina_and_only_drops_have_one():
    extensions = {
        "@type": "type.googleapis.com/utils.RetinaMetadata",
        "drop_reason": "SKB_DROP_REASON_NO_SOCKET",
    }
    parsed = parse(
        PARSER,
        text(
            flow_line(extensions=extensions, verdict="DROPPED", drop_reason_desc="POLICY_DENIED"),
            flow_line(extensions=extensions, verdict="DROPPED"),
            flow_line(extensions=extensions),
        ),
    )
    reasons = [row["drop_reason"] for row in rows(parsed, "flows")]
    assert reasons == ["POLICY_DENIED", "SKB_DROP_REASON_NO_SOCKET", None]


def test_an_aggregated_event_says_how_many_it_stands_for_and_no_more():
    (row, *_) = rows(parse(PARSER, VARIANTS["an aggregated export"].data), "flows")
    assert stated(row, "record_id") == {
        "event_at": datetime(2026, 3, 10, 10, 0, 30, 500_000, UTC),
        "verdict": "FORWARDED",
        "source_namespace": "ml",
        "source_pod_name": "train-0",
        "destination_namespace": "ml",
        "destination_pod_name": "store-0",
        "flow_count": 7,
        "is_masked": False,
    }


# --- times


@pytest.mark.parametrize(
    ("stated_time", "expected"),
    [
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("1969-12-31T23:59:59.9999999Z", datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("9999-12-31T23:59:59.999999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("2016-12-31T23:59:60Z", datetime(2016, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("2016-12-31T23:59:60.5Z", datetime(2016, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("2026-03-10T10:00:30Z", datetime(2026, 3, 10, 10, 0, 30, tzinfo=UTC)),
        ("2026-03-10T10:00:30.123Z", datetime(2026, 3, 10, 10, 0, 30, 123_000, UTC)),
        ("2026-03-10T10:00:30.123456Z", datetime(2026, 3, 10, 10, 0, 30, 123_456, UTC)),
        ("2026-03-10T10:00:30.123456789Z", datetime(2026, 3, 10, 10, 0, 30, 123_456, UTC)),
        ("2026-03-10T23:30:00-08:00", datetime(2026, 3, 11, 7, 30, tzinfo=UTC)),
        ("2026-03-10T00:15:00.5+05:45", datetime(2026, 3, 9, 18, 30, 0, 500_000, UTC)),
        ("2026-03-10t10:00:30z", datetime(2026, 3, 10, 10, 0, 30, tzinfo=UTC)),
    ],
)
def test_times_at_the_edges_are_read(stated_time, expected):
    (row,) = rows(parse(PARSER, flow_line(time=stated_time)), "flows")
    assert row["event_at"] == expected


@pytest.mark.parametrize(
    "no_time",
    [
        "9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "10000-01-01T00:00:00Z",
        "2026-03-10T24:00:00Z", "2026-03-10T10:00:61Z", "2026-02-29T00:00:00Z",
        "2026-03-10T10:00:30+25:00x", "1773136830", "now",
    ],
)  # fmt: skip
def test_what_is_no_time_refuses_the_event(no_time):
    (parsed,) = parse(PARSER, flow_line(time=no_time))
    assert parsed.reject is not None
    assert parsed.reject.startswith("wrong_value: expected an RFC 3339 time at $.flow.time")


def test_the_zero_time_of_go_is_no_time():
    (row,) = rows(parse(PARSER, flow_line(time="0001-01-01T00:00:00Z")), "flows")
    assert row["event_at"] is None
    assert row["is_masked"]


@pytest.mark.parametrize("latency", [-1, "-1", "-0", "1e3", 2**63])
def test_a_latency_that_is_none_refuses_the_event(latency):
    (parsed,) = parse(PARSER, flow_line(l7={"type": "RESPONSE", "latency_ns": latency}))
    assert parsed.reject is not None
    assert parsed.reject.startswith("wrong_value: expected an integer from 0 to")


def test_an_interval_that_ends_before_it_begins_is_none():
    lost = {"num_events_lost": "1", "first": "2026-03-10T10:00:31Z", "last": "2026-03-10T10:00:30Z"}
    (row,) = rows(parse(PARSER, line(lost, "lost_events")), "loss_reports")
    assert (row["start_at"], row["end_at"], row["lost_count"]) == (None, None, 1)

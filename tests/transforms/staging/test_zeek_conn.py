r"""Zeek conn.log: a connection is two rows of its whole bytes; text and JSON say the same."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    parse,
    rows,
    stated,
    word,
    words,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, but, with_changes
from tests.transforms.staging.volume_rows import VolumeReader
from transforms.redaction import excerpt
from transforms.staging.parser import RawRecord
from transforms.staging.zeek_conn import PARSER

RECORD = {
    "ts": 1773111719.500613,
    "uid": "CHhAvVGS1DHFjwGM9",
    "id.orig_h": "192.0.2.71",
    "id.orig_p": 39745,
    "id.resp_h": "203.0.113.7",
    "id.resp_p": 443,
    "proto": "tcp",
    "service": "ssl",
    "duration": 10.04836,
    "orig_bytes": 538,
    "resp_bytes": 2902,
    "conn_state": "SF",
    "local_orig": True,
    "local_resp": False,
    "missed_bytes": 7,
    "history": "ShADadgF",
    "orig_pkts": 5,
    "orig_ip_bytes": 750,
    "resp_pkts": 4,
    "resp_ip_bytes": 3070,
    "ip_proto": 6,
}
COMMON = {
    "start_at": datetime(2026, 3, 10, 3, 1, 59, 500_613, tzinfo=UTC),
    "end_at": datetime(2026, 3, 10, 3, 2, 9, 548_973, tzinfo=UTC),
    "node": "sensor-1",
    "flow_id": "CHhAvVGS1DHFjwGM9",
    "transport": "TCP",
    "missed_bytes": 7,
    "connection_state": "SF",
    "packet_history": "ShADadgF",
    "scaled": "raw",
    "temporality": "per_connection_total",
    "byte_layer": "packet",
}
SENT = COMMON | {
    "source_address": "192.0.2.71", "source_port": 39_745,
    "destination_address": "203.0.113.7", "destination_port": 443,
    "bytes": 750, "packets": 5, "payload_bytes": 538,
}  # fmt: skip
RECEIVED = COMMON | {
    "source_address": "203.0.113.7", "source_port": 443,
    "destination_address": "192.0.2.71", "destination_port": 39_745,
    "bytes": 3_070, "packets": 4, "payload_bytes": 2_902,
}  # fmt: skip
HEADER = [
    "#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-",
    "#path\tconn", "#open\t2026-03-10-03-00-00",
    "\t".join(["#fields", *RECORD, "tunnel_parents"]),
]  # fmt: skip
LINE = (
    "1773111719.500613\tCHhAvVGS1DHFjwGM9\t192.0.2.71\t39745\t203.0.113.7\t443\ttcp\tssl\t"
    "10.048360\t538\t2902\tSF\tT\tF\t7\tShADadgF\t5\t750\t4\t3070\t6\t-"
)

reader = VolumeReader(PARSER, node="sensor-1")
text_reader = VolumeReader(PARSER, "\n".join(HEADER), node="sensor-1")
record = with_changes(RECORD)


def test_every_column_of_a_connection_is_read_from_json_and_from_text():
    assert reader.volumes(RECORD) == [SENT, RECEIVED]
    assert text_reader.volumes(LINE) == [SENT, RECEIVED]


def test_scopes_parted_by_underlines_are_the_same_fields():
    renamed = {key.replace("id.", "id_"): value for key, value in RECORD.items()}
    assert reader.volumes(renamed) == [SENT, RECEIVED]


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"uid": ...}, {"flow_id": None}),
        ({"history": ...}, {"packet_history": None}),
        ({"history": "^hADdFaf"}, {"packet_history": "^hADdFaf"}),
        ({"missed_bytes": 0}, {"missed_bytes": 0}),
        ({"missed_bytes": ...}, {"missed_bytes": None}),
        ({"conn_state": "OTH"}, {"connection_state": "OTH"}),
        ({"proto": "udp", "ip_proto": ...}, {"transport": "UDP"}),
        ({"proto": "udp", "ip_proto": 17}, {"transport": "UDP"}),
        ({"ip_proto": 132}, {"transport": "SCTP"}),
        ({"duration": ...}, {"end_at": COMMON["start_at"]}),
        ({"duration": 0}, {"end_at": COMMON["start_at"]}),
        ({"service": ...}, {}),
        ({"service": "vxlan"}, {"repeats": "overlay"}),
        ({"service": "ssl,geneve"}, {"repeats": "overlay"}),
        ({"tunnel_parents": ["CAb1"]}, {}),
        ({"_path": "conn"}, {}),
        ({"local_orig": ..., "local_resp": ...}, {}),
        ({"ts": "2026-03-10T03:01:59.500613Z"}, {}),
    ],
)
def test_every_optional_value_is_read(changes, fields):
    assert reader.volumes(record(changes)) == [but(SENT, fields), but(RECEIVED, fields)]


def test_milliseconds_are_read_as_such():
    sent, _ = reader.volumes(record({"ts": 1773111719500.613}))
    assert sent["start_at"] == COMMON["start_at"]


def test_without_the_packets_the_payload_is_what_is_known():
    off = dict.fromkeys(("orig_ip_bytes", "resp_ip_bytes", "orig_pkts", "resp_pkts"), ...)
    found = reader.volumes(record(off))
    assert found == [
        but(SENT, {"bytes": 538, "packets": None, "byte_layer": "payload"}),
        but(RECEIVED, {"bytes": 2_902, "packets": None, "byte_layer": "payload"}),
    ]


def test_packets_without_a_known_payload_are_still_bytes():
    found = reader.volumes(record({"orig_bytes": ..., "resp_bytes": ...}))
    assert found == [but(SENT, {"payload_bytes": None}), but(RECEIVED, {"payload_bytes": None})]


def test_an_attempt_without_an_answer_sent_and_received_nothing():
    attempt = {
        "conn_state": "S0", "orig_bytes": ..., "resp_bytes": ..., "orig_ip_bytes": 60,
        "orig_pkts": 1, "resp_ip_bytes": 0, "resp_pkts": 0, "duration": ...,
    }  # fmt: skip
    assert [row["bytes"] for row in reader.volumes(record(attempt))] == [60, 0]


def test_a_direction_without_any_number_has_no_row():
    [only] = reader.volumes(record({"resp_bytes": ..., "resp_ip_bytes": ...}))
    assert only == SENT
    nothing = {f"{end}_{what}": ... for end in ("orig", "resp") for what in ("bytes", "ip_bytes")}
    assert reader.one(record(nothing)).ignore == "no_bytes"


@pytest.mark.parametrize(
    ("changes", "transport"),
    [
        ({"proto": "icmp", "ip_proto": ...}, "ICMP"),
        ({"proto": "icmp", "ip_proto": 58}, "ICMPv6"),
        (
            {"proto": "icmp", "ip_proto": ..., "id.orig_h": "2001:db8::1",
             "id.resp_h": "2001:db8::2"},
            "ICMPv6",
        ),
        ({"proto": "unknown_transport", "ip_proto": 47}, "GRE"),
        ({"proto": "unknown_transport", "ip_proto": ...}, None),
    ],
)  # fmt: skip
def test_types_and_codes_are_no_ports(changes, transport):
    for row in reader.volumes(record(changes)):
        assert row.get("transport") == transport
        assert not {"source_port", "destination_port"} & row.keys()


def test_values_never_decide_temporality_and_the_setting_does():
    for octets in (0, 2**63 - 1):
        found = reader.volumes(record({"orig_ip_bytes": octets}))
        assert {row["temporality"] for row in found} == {"per_connection_total"}
    found = reader.volumes(RECORD, temporality="cumulative")
    assert {row["temporality"] for row in found} == {"cumulative"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ts": ...}, "no_time"),
        ({"ts": "XXXXXXXXXX.XXXXXX"}, "no_time"),
        ({"ts": 0}, "no_time"),
        ({"ts": 253_402_300_799.0}, "no_time"),
        ({"duration": -1}, "duration"),
        ({"duration": "x"}, "duration"),
        ({"duration": 10**9}, "interval"),
        ({"duration": 10**11}, "duration"),
        ({"id.orig_h": "x"}, "id.orig_h"),
        ({"id.resp_p": 65_536}, "id.resp_p"),
        ({"ip_proto": 256}, "ip_proto"),
        ({"orig_bytes": -1}, "orig_bytes"),
        ({"resp_ip_bytes": 2**63}, "resp_ip_bytes"),
        ({"orig_ip_bytes": "many"}, "orig_ip_bytes"),
        ({"missed_bytes": True}, "missed_bytes"),
        ({"history": 5}, "history"),
        ({"uid": []}, "uid"),
        ({"service": {}}, "service"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(changes, reason):
    assert word(reader.one(record(changes))) == reason


def test_an_end_behind_all_years_is_refused():
    late = record({"ts": 253_402_300_799_000, "duration": 5})
    assert word(reader.one(late)) == "interval"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"_path": "conn_long"}, "intermediate"), ({"_path": "http"}, "other_log")],
)
def test_other_logs_are_ignored(changes, reason):
    assert reader.one(record(changes)).ignore == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("free text", "no_fields"), ("{}", "no_connection"), ('{"ts":1}', "no_connection"),
        ("[5]", "wrong_type"), (json.dumps(RECORD)[:-9], "invalid_json"),
        ('{"x":' + "[" * 100_000, "too_deep"),
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused(text, reason):
    assert word(reader.one(text)) == reason


def test_lines_of_text_that_do_not_fit_are_refused_or_ignored():
    text = "\n".join(
        [*HEADER, LINE, LINE + "\tmore", LINE[:40], "# a remark", "#close\tx", "x" * 70_000]
    )
    assert [word(p) for p in parse(PARSER, text)] == [
        "accepted", "field_count", "field_count", "comment", "unreadable_line",
    ]  # fmt: skip
    other = [line.replace("#path\tconn", "#path\tdns") for line in HEADER[:-1]] + [
        "#fields\tts\tuid",
        "1\t2",
    ]
    assert words(parse(PARSER, "\n".join(other))) == {"other_log": 1}
    long = [line.replace("#path\tconn", "#path\tconn_long") for line in HEADER]
    assert words(parse(PARSER, "\n".join([*long, LINE]))) == {"intermediate": 1}
    renamed = [line.replace("#path\tconn", "#path\tcluster_conn") for line in HEADER]
    assert words(parse(PARSER, "\n".join([*renamed, LINE]))) == {"accepted": 1}


def test_a_list_gives_one_result_per_connection():
    whole = json.dumps([RECORD, 5, RECORD], indent=1).encode()
    found = parse(PARSER, [RawRecord("$", 0, whole)])
    assert [(p.locator, word(p)) for p in found] == [
        ("$[0]", "accepted"), ("$[1]", "wrong_type"), ("$[2]", "accepted"),
    ]  # fmt: skip


def test_both_rows_have_the_id_of_the_whole_record():
    first, again = (rows([reader.one(r)], "volume_records") for r in (RECORD, json.dumps(RECORD)))
    assert {row["record_id"] for row in first + again} == {first[0]["record_id"]}
    [other, _] = rows([reader.one(record({"orig_pkts": 6}))], "volume_records")
    assert other["record_id"] != first[0]["record_id"]


def test_a_secret_in_a_record_is_not_stored():
    hidden = "AKIAIOSFODNN7EXAMPLE"
    value = record({"uid": hidden, "conn_state": hidden, "history": hidden, "service": hidden})
    kept = written([reader.one(value), reader.one(record({"id.orig_h": "FAKE-address"}))])
    assert hidden not in kept
    assert "FAKE" not in kept
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(RECORD)[1:-5])
    assert "FAKE" not in excerpt(broken.raw)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(RECORD) + "\n" + json.dumps(RECORD)[:50], 3),
        ("\n".join([*HEADER, LINE]), 3),
        ("\n".join(HEADER[:6]), 2),
        ("#separator \\x09", 0),
        ("\n".join(HEADER[:4]) + "\n#path\tdns\n#fields\tts\tuid\tquery", 0),
        (json.dumps({"ts": 1.0, "id.orig_h": "192.0.2.1", "query": "x"}), 0),
        (json.dumps(record({"_path": "dns"})), 0),
        ("[]", 0),
        ("free text", 0),
    ],
)
def test_a_file_is_recognised_by_its_header_or_first_record(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
@pytest.mark.parametrize(
    ("name", "sent", "received"),
    [
        (
            "miss-end-data",
            {
                "end_at": datetime(2026, 3, 10, 3, 2, 9, 548_360, tzinfo=UTC),
                "source_address": "192.168.122.230", "source_port": 60_648,
                "destination_address": "77.238.160.184", "destination_port": 80,
                "missed_bytes": 2_902, "packet_history": "ShADafgF",
                "bytes": 750, "packets": 5, "payload_bytes": 538,
            },
            # The payload is what TCP acknowledged; only 12 bytes beyond the headers were seen.
            {
                "source_address": "77.238.160.184", "source_port": 80,
                "destination_address": "192.168.122.230", "destination_port": 60_648,
                "bytes": 172, "packets": 4, "payload_bytes": 2_902,
            },
        ),
        (
            "missing-syn",
            {
                "end_at": datetime(2026, 3, 10, 3, 2, 1, 50_793, tzinfo=UTC),
                "source_address": "141.42.64.125", "source_port": 56_730,
                "destination_address": "125.190.109.199", "destination_port": 80,
                "missed_bytes": 0, "packet_history": "^hADdFaf",
                "bytes": 670, "packets": 11, "payload_bytes": 98,
            },
            {
                "source_address": "125.190.109.199", "source_port": 80,
                "destination_address": "141.42.64.125", "destination_port": 56_730,
                "bytes": 9_945, "packets": 10, "payload_bytes": 9_417,
            },
        ),
    ],
)  # fmt: skip
def test_the_samples_state_what_their_connections_are(samples, name, sent, received):
    path = samples / "counters" / f"zeek_core.tcp.{name}_conn.log"
    text = path.read_text().replace("XXXXXXXXXX.XXXXXX", "1773111719.500000")
    remark, connection = parse(PARSER, text)
    assert remark.ignore == "comment"
    there, back = (stated(row, "record_id") for row in rows([connection], "volume_records"))
    common = COMMON | {"start_at": datetime(2026, 3, 10, 3, 1, 59, 500_000, tzinfo=UTC)}
    assert there == but(common, {"node": None}) | sent
    assert back == but(common, {"node": None}) | sent | received


@given(st.sampled_from(sorted({*RECORD, "_path", "tunnel_parents"})), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(key, new):
    reader.one(record({key: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_connection_changes_no_other(at, cuts):
    reader.check_damage([json.dumps(record({"orig_pkts": n})) for n in range(4)], at, cuts)
    text_reader.check_damage([LINE.replace("538", str(n)) for n in range(4)], at, cuts)

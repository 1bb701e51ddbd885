"""NetFlow of three collectors: the same element means something else in each."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, but, with_changes
from tests.transforms.staging.volume_rows import VolumeReader
from transforms.redaction import excerpt
from transforms.staging.netflow_json import PARSER
from transforms.staging.parser import RawRecord

START = datetime(2026, 3, 10, 3, 1, 59, 500_000, tzinfo=UTC)
END = datetime(2026, 3, 10, 3, 2, 4, 507_000, tzinfo=UTC)
ENDS = {
    "source_address": "192.0.2.71", "source_port": 39_745,
    "destination_address": "203.0.113.7", "destination_port": 443, "transport": "TCP",
}  # fmt: skip
TURNED = {
    "source_address": "203.0.113.7", "source_port": 443,
    "destination_address": "192.0.2.71", "destination_port": 39_745, "transport": "TCP",
}  # fmt: skip

reader = VolumeReader(PARSER)

# -- goflow2 -------------------------------------------------------------------------------------

GOFLOW2 = {
    "type": "IPFIX",
    "time_received_ns": 1_773_111_725_000_000_000,
    "sequence_num": 7,
    "sampling_rate": 100,
    "sampler_address": "198.51.100.1",
    "time_flow_start_ns": 1_773_111_719_500_000_000,
    "time_flow_end_ns": 1_773_111_724_507_000_000,
    "bytes": 9_400,
    "packets": 12,
    "src_addr": "192.0.2.71",
    "dst_addr": "203.0.113.7",
    "etype": "IPv4",
    "proto": "TCP",
    "src_port": 39_745,
    "dst_port": 443,
    "in_if": 3,
    "out_if": 5,
    "tcp_flags": 18,
}
GOFLOW2_VOLUME = {
    "start_at": START, "end_at": END, **ENDS, "bytes": 9_400, "packets": 12, "tcp_flags": 18,
    "interfaces": ["3", "5"], "sampling_interval": 100, "scaled": "raw",
    "reporter": "198.51.100.1", "temporality": "delta", "byte_layer": "packet",
}  # fmt: skip
goflow2 = with_changes(GOFLOW2)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({}, {}),
        # Nothing is multiplied, and a rate that was not told is none.
        ({"sampling_rate": 1}, {"sampling_interval": 1}),
        ({"sampling_rate": 0}, {"sampling_interval": None, "scaled": "unknown"}),
        ({"sampling_rate": ...}, {"sampling_interval": None, "scaled": "unknown"}),
        ({"type": "SFLOW_5"}, {"byte_layer": "frame"}),
        ({"type": "NETFLOW_V9"}, {}),
        ({"proto": 6}, {}),
        ({"proto": "ICMP"}, {"transport": "ICMP", "source_port": None, "destination_port": None}),
        ({"proto": "IPv6-ICMP"},
         {"transport": "ICMPv6", "source_port": None, "destination_port": None}),
        ({"proto": ...}, {"transport": None}),
        ({"in_if": 0}, {"interfaces": ["5"]}),
        ({"in_if": ..., "out_if": ...}, {"interfaces": None}),
        ({"packets": ...}, {"packets": None}),
        ({"tcp_flags": ...}, {"tcp_flags": None}),
        ({"src_addr": "FD01::1"}, {"source_address": "fd01::1"}),
        ({"src_addr": ""}, {"source_address": None}),
        ({"sampler_address": ...}, {"reporter": None}),
        ({"time_flow_end_ns": 0},
         {"end_at": datetime(2026, 3, 10, 3, 2, 5, tzinfo=UTC)}),
        ({"bytes": 2**63 - 1}, {"bytes": 2**63 - 1}),
    ],
)  # fmt: skip
def test_goflow2_is_read_as_differences_that_nobody_multiplied(changes, fields):
    assert reader.volume(goflow2(changes)) == but(GOFLOW2_VOLUME, fields)


def test_goflow2_says_nothing_of_totals():
    """It knows no octetTotalCount: an exporter that sends only that has 0 bytes."""
    for changes in ({"bytes": 0}, {"bytes": ...}):
        assert reader.one(goflow2(changes)).ignore == "no_bytes"


# -- nfdump --------------------------------------------------------------------------------------

NFDUMP = {
    "cnt": 1,
    "type": "FLOW",
    "export_sysid": 4,
    "first": "2026-03-10T03:01:59.500",
    "last": "2026-03-10T03:02:04.507",
    "received": "2026-03-10T03:02:05.000",
    "in_packets": 12,
    "in_bytes": 940_000,
    "out_packets": 1,
    "out_bytes": 77,
    "proto": 6,
    "tcp_flags": "...A..S.",
    "src_port": 39_745,
    "dst_port": 443,
    "src4_addr": "192.0.2.71",
    "dst4_addr": "203.0.113.7",
    "input_snmp": 3,
    "output_snmp": 5,
    "src4_xlt_ip": "198.51.100.9",
    "dst4_xlt_ip": "203.0.113.7",
    "src_xlt_port": 61_000,
    "dst_xlt_port": 443,
    "ip4_router": "198.51.100.1",
    "flowID": 99,
    "sampled": 1,
}
NFDUMP_VOLUME = {
    "start_at": START, "end_at": END, "flow_id": "99", **ENDS,
    "source_xlated_address": "198.51.100.9", "source_xlated_port": 61_000,
    "bytes": 940_000, "packets": 12, "tcp_flags": 18, "interfaces": ["3", "5"],
    "scaled": "scaled", "reporter": "198.51.100.1", "temporality": "delta",
    "byte_layer": "packet",
}  # fmt: skip
nfdump = with_changes(NFDUMP)
in_utc = VolumeReader(PARSER, record_format="TZ=UTC")


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({}, {}),
        ({"sampled": 0}, {"scaled": "raw"}),
        ({"sampled": ...}, {"scaled": "unknown"}),
        ({"ip4_router": ...}, {"reporter": "exporter 4"}),
        ({"ip4_router": "0.0.0.0"}, {"reporter": "exporter 4"}),
        ({"ip4_router": ..., "export_sysid": ...}, {"reporter": None}),
        ({"src4_addr": ..., "src6_addr": "2001:DB8::1"}, {"source_address": "2001:db8::1"}),
        ({"src4_xlt_ip": "192.0.2.71", "src_xlt_port": 39_745},
         {"source_xlated_address": None, "source_xlated_port": None}),
        ({"src_xlt_port": 0}, {"source_xlated_port": None}),
        ({"tcp_flags": "CEUAPRSF"}, {"tcp_flags": 255}),
        ({"proto": 1}, {"transport": "ICMP", "source_port": None, "destination_port": None,
                        "source_xlated_port": None}),
        ({"first": "2026-03-10T04:01:59.500+01:00", "last": "2026-03-10T03:02:04.507Z"}, {}),
        ({"first": ..., "last": ..., "t_first": "2026-03-10T03:01:59.500",
          "t_last": "2026-03-10T03:02:04.507"}, {}),
        ({"in_bytes": 240}, {"bytes": 240}),
        ({"in_packets": ...}, {"packets": None}),
        ({"flowID": ...}, {"flow_id": None}),
    ],
)  # fmt: skip
def test_nfdump_multiplied_what_it_says_was_sampled(changes, fields):
    assert in_utc.volume(nfdump(changes)) == but(NFDUMP_VOLUME, fields)


def test_nfdump_needs_the_zone_of_its_times():
    assert word(reader.one(NFDUMP)) == "no_zone"
    assert word(reader.one(NFDUMP, record_format="Europe/Berlin")) == "no_zone"
    found = reader.volume(NFDUMP, record_format="TZ=+01:00")
    assert found["start_at"] == datetime(2026, 3, 10, 2, 1, 59, 500_000, tzinfo=UTC)


def test_a_release_of_nfdump_that_wrote_packets_as_bytes_is_refused():
    assert word(in_utc.one(nfdump({"in_bytes": 12}))) == "in_bytes"
    assert word(in_utc.one(nfdump({"in_bytes": 239}))) == "in_bytes"


def test_events_and_records_without_bytes_are_ignored():
    assert in_utc.one(nfdump({"type": "EVENT"})).ignore == "event"
    assert in_utc.one(nfdump({"in_bytes": 0})).ignore == "no_bytes"


NEW_CSV = (
    "cnt,af,firstSeen,lastSeen,proto,srcAddr,srcPort,dstAddr,dstPort,srcAS,dstAS,input,output,"
    "flags,srcTos,packets,bytes\n"
    "1,2,1773111719500,1773111724507,6,192.0.2.71,39745,203.0.113.7,443,0,0,3,5,...A..S.,0,12,9400"
)
OLD_CSV = (
    "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt,in,out,sas,das,ra,eng,exid,tr\n"
    "2026-03-10 03:01:59.500,2026-03-10 03:02:04.507,5.007,192.0.2.71,203.0.113.7,39745,443,TCP,"
    "...A..S.,0,0,12,9400,0,0,3,5,0,0,198.51.100.1,0/0,1,2026-03-10 03:02:05.000"
)
CSV_VOLUME = {
    "start_at": START, "end_at": END, **ENDS, "bytes": 9_400, "packets": 12, "tcp_flags": 18,
    "interfaces": ["3", "5"], "scaled": "unknown", "temporality": "delta", "byte_layer": "packet",
}  # fmt: skip


def test_both_forms_of_nfdumps_csv_are_read():
    assert reader.volume(NEW_CSV) == CSV_VOLUME
    assert in_utc.volume(OLD_CSV) == CSV_VOLUME | {"reporter": "198.51.100.1"}
    assert word(reader.one(OLD_CSV)) == "no_zone"


def test_lines_of_csv_that_are_no_flow_say_what_they_are():
    line = NEW_CSV.split("\n")[1]
    text = f"{line}\n{NEW_CSV}\n{line},1\n{line[:30]}\nSummary\nflows,bytes,packets\n1,9400,12"
    assert [word(p) for p in parse(PARSER, text)] == [
        "no_fields", "accepted", "field_count", "field_count", "summary", "summary", "summary",
    ]  # fmt: skip
    assert word(reader.one("x" * 70_000)) == "unreadable_line"


# -- ipfixcol2 -----------------------------------------------------------------------------------

IPFIXCOL2 = {
    "@type": "ipfix.entry",
    "iana:octetDeltaCount": 9_400,
    "iana:packetDeltaCount": 12,
    "iana:flowStartMilliseconds": "2026-03-10T03:01:59.500Z",
    "iana:flowEndMilliseconds": "2026-03-10T03:02:04.507Z",
    "iana:ingressInterface": 3,
    "iana:egressInterface": 5,
    "iana:sourceIPv4Address": "192.0.2.71",
    "iana:destinationIPv4Address": "203.0.113.7",
    "iana:protocolIdentifier": "TCP",
    "iana:tcpControlBits": ".A..S.",
    "iana:sourceTransportPort": 39_745,
    "iana:destinationTransportPort": 443,
    "iana:postNATSourceIPv4Address": "198.51.100.9",
    "iana:postNAPTSourceTransportPort": 61_000,
    "iana:flowDirection": 1,
    "iana:flowId": 99,
    "iana:samplingInterval": 100,
    "ipfix:srcAddr": "198.51.100.1",
}
IPFIXCOL2_VOLUME = {
    "start_at": START, "end_at": END, "flow_id": "99", **ENDS,
    "source_xlated_address": "198.51.100.9", "source_xlated_port": 61_000,
    "bytes": 9_400, "packets": 12, "tcp_flags": 18, "flow_direction": "egress",
    "interfaces": ["3", "5"], "sampling_interval": 100, "scaled": "raw",
    "reporter": "198.51.100.1", "temporality": "delta", "byte_layer": "packet",
}  # fmt: skip
TOTAL = {"iana:octetTotalCount": 70_000, "iana:packetTotalCount": 90}
ipfixcol2 = with_changes(IPFIXCOL2)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({}, {}),
        ({"iana:samplingInterval": 0}, {"sampling_interval": None, "scaled": "unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling_interval": None, "scaled": "unknown"}),
        ({"iana:samplingInterval": ..., "iana:samplerRandomInterval": 7}, {"sampling_interval": 7}),
        ({"iana:flowDirection": 0}, {"flow_direction": "ingress"}),
        ({"iana:flowDirection": ...}, {"flow_direction": None}),
        ({"iana:tcpControlBits": 18}, {}),
        ({"iana:tcpControlBits": ...}, {"tcp_flags": None}),
        ({"iana:protocolIdentifier": 17}, {"transport": "UDP"}),
        ({"iana:flowStartMilliseconds": 1_773_111_719_500}, {}),
        ({"iana:flowStartMilliseconds": ..., "iana:flowStartNanoseconds":
          "2026-03-10T03:01:59.500000000Z"}, {}),
        ({"iana:sourceIPv4Address": ..., "iana:sourceIPv6Address": "2001:DB8::1"},
         {"source_address": "2001:db8::1"}),
        ({"iana:postNAPTSourceTransportPort": 39_745}, {"source_xlated_port": None}),
        ({"iana:packetDeltaCount": ...}, {"packets": None}),
        ({"iana:ingressInterface": 0}, {"interfaces": ["5"]}),
        ({"ipfix:srcAddr": ...}, {"reporter": None}),
        ({"iana:flowId": ...}, {"flow_id": None}),
        ({"nccc:sslServerName": "x", "en6871:id1": 5}, {}),
    ],
)  # fmt: skip
def test_ipfixcol2_is_read_by_its_elements(changes, fields):
    assert reader.volume(ipfixcol2(changes)) == but(IPFIXCOL2_VOLUME, fields)


def test_ipfixcol2_tells_totals_from_differences():
    since_the_start = {"bytes": 70_000, "packets": 90, "temporality": "cumulative"}
    only = {"iana:octetDeltaCount": ..., "iana:packetDeltaCount": ...}
    assert reader.volumes(ipfixcol2(TOTAL | only)) == [IPFIXCOL2_VOLUME | since_the_start]
    both = ipfixcol2(TOTAL)
    assert reader.volumes(both) == [IPFIXCOL2_VOLUME, IPFIXCOL2_VOLUME | since_the_start]
    # The setting chooses between the two, or says what the only one is.
    assert reader.volumes(both, temporality="delta") == [IPFIXCOL2_VOLUME]
    assert reader.volumes(both, temporality="cumulative") == [IPFIXCOL2_VOLUME | since_the_start]
    [one] = reader.volumes(ipfixcol2(TOTAL | only), temporality="delta")
    assert (one["bytes"], one["temporality"]) == (70_000, "delta")
    assert reader.one(ipfixcol2(only)).ignore == "no_bytes"


def test_the_reverse_direction_is_a_row_of_its_own():
    there, back = reader.volumes(
        ipfixcol2({"iana@reverse:octetDeltaCount": 500, "iana@reverse:packetDeltaCount": 4})
    )
    assert there == IPFIXCOL2_VOLUME
    behind = {
        "destination_xlated_address": "198.51.100.9", "destination_xlated_port": 61_000,
        "source_xlated_address": None, "source_xlated_port": None,
    }  # fmt: skip
    assert back == but(IPFIXCOL2_VOLUME | TURNED | {"bytes": 500, "packets": 4}, behind)


def test_elements_by_number_are_the_same():
    numbers = {
        "iana:octetDeltaCount": 1, "iana:packetDeltaCount": 2, "iana:protocolIdentifier": 4,
        "iana:tcpControlBits": 6, "iana:sourceTransportPort": 7, "iana:sourceIPv4Address": 8,
        "iana:ingressInterface": 10, "iana:destinationTransportPort": 11,
        "iana:destinationIPv4Address": 12, "iana:egressInterface": 14, "iana:samplingInterval": 34,
        "iana:flowDirection": 61, "iana:flowId": 148, "iana:flowStartMilliseconds": 152,
        "iana:flowEndMilliseconds": 153, "iana:postNATSourceIPv4Address": 225,
        "iana:postNAPTSourceTransportPort": 227,
    }  # fmt: skip
    numbered = {
        f"en0:id{numbers[key]}" if key in numbers else key: value
        for key, value in IPFIXCOL2.items()
    }
    assert reader.volume(numbered) == IPFIXCOL2_VOLUME


@pytest.mark.parametrize("kind", ["ipfix.template", "ipfix.optionsEntry", "ipfix.optionsTemplate"])
def test_records_that_are_no_flow_are_ignored(kind):
    assert reader.one(ipfixcol2({"@type": kind})).ignore == "other_record"


# -- all -----------------------------------------------------------------------------------------


def test_values_never_decide_temporality_and_the_setting_does():
    for record in (goflow2({"bytes": 2**62}), nfdump({"in_bytes": 2**62})):
        assert in_utc.volume(record)["temporality"] == "delta"
        found = in_utc.volume(record, temporality="cumulative")
        assert found["temporality"] == "cumulative"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (goflow2({"bytes": -1}), "bytes"),
        (goflow2({"bytes": "many"}), "bytes"),
        (goflow2({"packets": 2**63}), "packets"),
        (goflow2({"src_addr": "x"}), "src_addr"),
        (goflow2({"src_addr": 5}), "src_addr"),
        (goflow2({"src_port": 65_536}), "src_port"),
        (goflow2({"proto": 256}), "proto"),
        (goflow2({"sampling_rate": -1}), "sampling_rate"),
        (goflow2({"tcp_flags": "?"}), "tcp_flags"),
        (goflow2({"time_flow_start_ns": 1_773_111_724_508_000_000}), "interval"),
        (goflow2({"time_flow_start_ns": 1}), "interval"),
        (goflow2({"time_flow_start_ns": 0, "time_received_ns": 0}), "no_time"),
        (nfdump({"first": ...}), "no_time"),
        (nfdump({"first": "yesterday, at noon"}), "no_time"),
        (nfdump({"last": "2026-03-10T03:01:59.499"}), "interval"),
        (nfdump({"sampled": 2}), "sampled"),
        (nfdump({"dst4_addr": "x"}), "dst4_addr"),
        (nfdump({"type": 5}), "type"),
        (ipfixcol2({"iana:octetDeltaCount": [1, 2]}), "octetDeltaCount"),
        (ipfixcol2({"iana:flowStartMilliseconds": ...}), "no_time"),
        (ipfixcol2({"iana:flowStartMilliseconds": "x"}), "no_time"),
        (ipfixcol2({"iana:flowEndMilliseconds": 10**15}), "flowEndMilliseconds"),
        (ipfixcol2({"iana:flowDirection": 2}), "flowDirection"),
        (ipfixcol2({"iana:sourceIPv4Address": "x"}), "sourceIPv4Address"),
        (ipfixcol2({"iana:protocolIdentifier": {}}), "protocolIdentifier"),
        ({"bytes": 5}, "no_flow"),
        ({}, "no_flow"),
        ("[5]", "wrong_type"),
        ("free text", "no_fields"),
        ('{"x":' + "[" * 100_000, "too_deep"),
        (json.dumps(GOFLOW2)[:-3], "invalid_json"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(record, reason):
    assert word(in_utc.one(record)) == reason


def test_a_list_gives_one_result_per_record():
    whole = json.dumps([GOFLOW2, 5, IPFIXCOL2], indent=1).encode()
    found = parse(PARSER, [RawRecord("$", 0, whole)])
    assert [(p.locator, word(p)) for p in found] == [
        ("$[0]", "accepted"), ("$[1]", "wrong_type"), ("$[2]", "accepted"),
    ]  # fmt: skip


def test_the_id_of_a_record_is_the_whole_record():
    for record in (GOFLOW2, IPFIXCOL2, NEW_CSV):
        first, again = (rows([reader.one(record)], "volume_records")[0] for _ in range(2))
        assert first["record_id"] == again["record_id"]
    other = rows([reader.one(goflow2({"sequence_num": 8}))], "volume_records")[0]
    [plain] = rows([reader.one(GOFLOW2)], "volume_records")
    assert other["record_id"] != plain["record_id"]


def test_a_secret_in_a_record_is_not_stored():
    hidden = "AKIAIOSFODNN7EXAMPLE"
    found = [
        reader.one(goflow2({"type": hidden, "etype": hidden})),
        in_utc.one(nfdump({"received": hidden, "user_id": hidden})),
        reader.one(ipfixcol2({"nccc:sslServerName": hidden})),
        reader.one(goflow2({"src_addr": "FAKE-address"})),
    ]
    assert hidden not in written(found)
    assert "FAKE" not in written(found)
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(GOFLOW2)[1:-5])
    assert "FAKE" not in excerpt(broken.raw)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(GOFLOW2) + "\n" + json.dumps(GOFLOW2)[:50], 3),
        (json.dumps([NFDUMP, NFDUMP], indent=2)[:1_500], 3),
        (json.dumps(IPFIXCOL2), 3),
        (NEW_CSV, 3),
        (OLD_CSV, 3),
        (NEW_CSV.split("\n")[1], 0),
        (json.dumps({"type": "FLOW", "bytes": 1}), 0),
        ("[]", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_keys_or_names(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_the_samples_state_what_their_records_are(samples):
    [sflow] = rows(parse_file(PARSER, samples / "counters" / "goflow2_sflow.json"),
                   "volume_records")  # fmt: skip
    at = datetime(2023, 4, 15, 18, 28, 15, 157_626, tzinfo=UTC)
    assert stated(sflow, "record_id") == {
        "start_at": at, "end_at": at,
        "source_address": "fd01::1", "source_port": 443,
        "destination_address": "fd01::2", "destination_port": 50_001, "transport": "TCP",
        "bytes": 1_500, "packets": 1, "sampling_interval": 100, "scaled": "raw",
        "reporter": "192.168.0.1", "temporality": "delta", "byte_layer": "frame",
    }  # fmt: skip
    found = parse_file(PARSER, samples / "counters" / "ipfixcol2_entry.json")
    assert words(found) == {"accepted": 1}
    [entry] = rows(found, "volume_records")
    assert stated(entry, "record_id") == {
        "start_at": datetime(2018, 5, 11, 19, 44, 29, 6_000, tzinfo=UTC),
        "end_at": datetime(2018, 5, 11, 19, 44, 30, 364_000, tzinfo=UTC),
        "source_address": "192.168.0.100", "source_port": 47_200,
        "destination_address": "192.168.0.101", "destination_port": 20_810, "transport": "TCP",
        "bytes": 3_568_720, "packets": 2_383, "tcp_flags": 26, "interfaces": ["1"],
        "scaled": "unknown", "temporality": "delta", "byte_layer": "packet",
    }  # fmt: skip


RECORDS = (GOFLOW2, NFDUMP, IPFIXCOL2)


@given(st.sampled_from([(r, key) for r in RECORDS for key in r]), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(place, new):
    record, key = place
    in_utc.one(record | {key: new})


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_record_changes_no_other(at, cuts):
    reader.check_damage([json.dumps(goflow2({"sequence_num": n})) for n in range(4)], at, cuts)

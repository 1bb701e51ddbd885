import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    check_each,
    check_rows,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from transforms.staging.azure_flow_log import PARSER
from transforms.staging.parser import RawRecord

SUBSCRIPTION = "0a1b2c3d-0000-4000-8000-00000000abcd"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Ml"
NETWORK = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/Train"
NETWORK_ID = NETWORK.lower()
MAC = "00224871C205"
ACL = "00000000-1234-abcd-ef00-c1c2c3c4c5c6"
AT = datetime(2026, 3, 11, 10, 0, tzinfo=UTC)
MS = 1_773_223_200_000
"""The same time in milliseconds."""
ENDS = "10.20.1.6,198.51.100.180,23956,443,6"
BEGIN = f"{MS},{ENDS},O,B,NX,0,0,0,0"
CONTINUED = f"{MS + 300_000},{ENDS},O,C,NX,21,2767,33,41580"
END = f"{MS + 360_500},{ENDS},O,E,NX,3,180,2,120"
DENIED = f"{MS},203.0.113.153,10.20.1.6,55188,22,6,I,D,NX,0,0,0,0"
COMMON = {
    "account_id": SUBSCRIPTION,
    "interface_id": MAC,
    "vpc_id": NETWORK_ID,
    "rule_list": ACL,
    "transport": "TCP",
    "action": "ACCEPT",
    "connection_state": "C",
    "encryption": "NX",
    "scaled": "raw",
    "temporality": "delta",
    "byte_layer": "packet",
    "start_at": AT,
    "end_at": AT + timedelta(minutes=5),
}
SENT = COMMON | {
    "source_address": "10.20.1.6",
    "source_port": 23_956,
    "destination_address": "198.51.100.180",
    "destination_port": 443,
    "bytes": 2_767,
    "packets": 21,
    "flow_direction": "egress",
}
RECEIVED = COMMON | {
    "source_address": "198.51.100.180",
    "source_port": 443,
    "destination_address": "10.20.1.6",
    "destination_port": 23_956,
    "bytes": 41_580,
    "packets": 33,
    "flow_direction": "ingress",
}


def network(*tuples, rule="AllowOut", acl=ACL, **changes) -> dict:
    """A record of a network's log."""
    return {
        "time": "2026-03-11T10:05:52.5625085Z",
        "flowLogVersion": 4,
        "flowLogGUID": "0a1b2c3d-2345-6789-0abc-def012345678",
        "macAddress": MAC,
        "category": "FlowLogFlowEvent",
        "flowLogResourceID": f"{GROUP}/PROVIDERS/MICROSOFT.NETWORK/NETWORKWATCHERS/W/FLOWLOGS/F",
        "targetResourceID": NETWORK,
        "operationName": "FlowLogFlowEvent",
        "flowRecords": {
            "flows": [{"aclID": acl, "flowGroups": [{"rule": rule, "flowTuples": list(tuples)}]}]
        },
    } | changes


def security_group(*tuples, rule="DefaultRule_AllowInternetOutBound", mac=MAC, **changes) -> dict:
    """A record of a security group's log."""
    return {
        "time": "2026-03-11T10:05:52.5625085Z",
        "systemId": "0a1b2c3d-2345-6789-0abc-def012345678",
        "macAddress": MAC,
        "category": "NetworkSecurityGroupFlowEvent",
        "resourceId": f"{GROUP.upper()}/PROVIDERS/MICROSOFT.NETWORK/NETWORKSECURITYGROUPS/N",
        "operationName": "NetworkSecurityGroupFlowEvents",
        "properties": {
            "Version": 2,
            "flows": [{"rule": rule, "flows": [{"mac": mac, "flowTuples": list(tuples)}]}],
        },
    } | changes


def whole(text: str) -> list[RawRecord]:
    return [RawRecord("$", 0, text.encode())]


def read(*records, **context):
    """What a document of these records gives."""
    found = parse(PARSER, whole(json.dumps({"records": list(records)})), **context)
    check_each(found)
    check_rows(found)
    return found


def volumes(*records, **context):
    return rows(read(*records, **context), "volume_records")


def fate(*tuples, make=network) -> list[str]:
    return [word(parsed) for parsed in read(make(*tuples))]


# -- what a tuple gives --------------------------------------------------------------------------


def test_a_tuple_gives_a_row_per_direction_and_every_field_fills_its_column():
    sent, received = volumes(network(CONTINUED))
    assert stated(sent, "record_id") == SENT
    assert stated(received, "record_id") == RECEIVED
    assert sent["record_id"] == received["record_id"]


@pytest.mark.parametrize(
    ("text", "make"),
    [
        (BEGIN, network),
        (BEGIN.replace("0,0,0,0", ",,,"), network),
        (f"{MS // 1000},10.20.1.6,198.51.100.180,23956,443,T,O,A,B,,,,", security_group),
    ],
)
def test_a_tuple_that_begins_a_flow_gives_rows_of_no_bytes(text, make):
    shown = ("start_at", "end_at", "bytes", "packets", "connection_state", "flow_direction")
    assert [[row[name] for name in shown] for row in volumes(make(text))] == [
        [AT, AT, 0, 0, "B", way] for way in ("egress", "ingress")
    ]


def test_a_flow_that_came_in_was_received_by_the_network_card():
    sent, received = volumes(network(CONTINUED.replace(",O,", ",I,")))
    assert stated(sent, "record_id") == SENT | {"flow_direction": "ingress"}
    assert stated(received, "record_id") == RECEIVED | {"flow_direction": "egress"}


def test_a_tuple_of_a_security_group_gives_the_same():
    text = f"{MS // 1000 + 300},10.20.1.6,198.51.100.180,23956,443,T,O,A,C,21,2767,33,41580"
    sent, received = volumes(security_group(text))
    absent = {"encryption", "vpc_id", "rule_list"}
    for found, whole in ((sent, SENT), (received, RECEIVED)):
        expected = {k: v for k, v in whole.items() if k not in absent} | {"reporter": "n"}
        assert stated(found, "record_id") == expected


def test_what_was_denied_is_rejected_with_its_rule_and_has_one_direction():
    (found,) = volumes(network(DENIED, rule="BlockSsh"))
    assert stated(found, "record_id") == COMMON | {
        "start_at": AT - timedelta(milliseconds=1),
        "end_at": AT,
        "source_address": "203.0.113.153",
        "source_port": 55_188,
        "destination_address": "10.20.1.6",
        "destination_port": 22,
        "action": "REJECT",
        "reject_reason": "BlockSsh",
        "connection_state": "D",
        "bytes": 0,
        "packets": 0,
        "flow_direction": "ingress",
    }
    counted = DENIED.replace("0,0,0,0", "2,120,1,40")
    assert [row["bytes"] for row in volumes(network(counted))] == [120, 40]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{MS // 1000},203.0.113.5,10.20.1.6,55188,22,T,I,D,B,,,,", "denied"),
        (f"{MS // 1000},203.0.113.5,10.20.1.6,55188,22,T,I,A", "no_counters"),
    ],
)
def test_tuples_without_numbers_are_ignored(text, reason):
    assert fate(text, make=security_group) == [reason]


def test_one_direction_without_bytes_is_told_as_such():
    sent, received = volumes(network(f"{MS},{ENDS},O,E,NX,1,60,0,0"))
    assert (sent["bytes"], received["bytes"], received["packets"]) == (60, 0, 0)


@pytest.mark.parametrize(
    "word_of_azure",
    ["X", "NX", "NX_HW_NOT_SUPPORTED", "NX_SW_NOT_READY", "NX_NOT_ACCEPTED", "NX_NOT_SUPPORTED",
     "NX_LOCAL_DST", "NX_FALLBACK"],
)  # fmt: skip
def test_encryption_is_told_in_azures_words(word_of_azure):
    (sent, _) = volumes(network(END.replace("NX", word_of_azure)))
    assert sent["encryption"] == word_of_azure


@pytest.mark.parametrize(
    ("protocol", "transport", "port"),
    [("6", "TCP", 0), ("17", "UDP", 0), ("1", "ICMP", None), ("253", "253", None)],
)
def test_protocols_have_names_and_port_0_is_none_where_there_are_no_ports(
    protocol, transport, port
):
    text = f"{MS},10.20.1.6,198.51.100.180,0,0,{protocol},O,E,NX,1,60,0,0"
    found, _ = volumes(network(text))
    assert (found["transport"], found["source_port"]) == (transport, port)


def test_addresses_and_network_cards_are_written_in_one_way():
    text = f"{MS},2001:DB8:0:0::1,::ffff:192.0.2.1,1,2,6,O,E,NX,1,60,0,0"
    found, _ = volumes(network(text, macAddress="00-22-48-71-c2-05"))
    assert found["source_address"] == "2001:db8::1"
    assert found["destination_address"] == "192.0.2.1"
    assert found["interface_id"] == MAC


@pytest.mark.parametrize(
    ("target", "columns"),
    [
        (NETWORK, {"vpc_id": NETWORK_ID, "account_id": SUBSCRIPTION}),
        (
            f"{NETWORK}/subnets/Nodes",
            {
                "vpc_id": NETWORK_ID,
                "subnet_id": f"{NETWORK_ID}/subnets/nodes",
                "account_id": SUBSCRIPTION,
            },
        ),
        (
            f"{GROUP}/providers/Microsoft.Network/networkInterfaces/nic",
            {"account_id": SUBSCRIPTION},
        ),
        ("x", {}),
        ("", {}),
        (None, {}),
        ("/virtualNetworks/", {}),
    ],
)
def test_the_target_of_the_log_tells_network_and_subnet(target, columns):
    found, _ = volumes(network(END, targetResourceID=target))
    told = stated(found)
    assert {k: told[k] for k in ("account_id", "vpc_id", "subnet_id") if k in told} == columns


@pytest.mark.parametrize("name", ["macAddress", "targetResourceID", "category", "time"])
def test_what_a_record_leaves_out_is_null(name):
    record = network(CONTINUED)
    del record[name]
    sent, _ = volumes(record)
    left = {
        "macAddress": {"interface_id"},
        "targetResourceID": {"account_id", "vpc_id"},
    }.get(name, set())
    assert stated(sent, "record_id") == {k: v for k, v in SENT.items() if k not in left}


def test_the_network_card_of_a_security_group_may_stand_in_two_places():
    text = f"{MS // 1000},10.20.1.6,198.51.100.180,1,2,U,O,A,E,1,60,0,0"
    assert volumes(security_group(text, mac=None))[0]["interface_id"] == MAC
    assert volumes(security_group(text, mac="000D3AF87856"))[0]["interface_id"] == "000D3AF87856"
    assert volumes(security_group(text))[0]["transport"] == "UDP"


def test_the_temporality_is_a_difference_unless_the_export_says_otherwise():
    (found, _) = volumes(network(END), temporality="cumulative")
    assert found["temporality"] == "cumulative"


# -- intervals -----------------------------------------------------------------------------------


def interval(text, make=network):
    found = volumes(make(text))[-1]
    return found["start_at"], found["end_at"]


def test_a_tuple_began_at_the_earliest_five_minutes_before_whatever_stands_before_it():
    assert interval(CONTINUED) == (AT, AT + timedelta(minutes=5))
    assert interval(END)[0] == AT + timedelta(minutes=1, milliseconds=500)
    assert volumes(network(BEGIN, CONTINUED, END))[4:] == volumes(network(END))


def test_seconds_and_milliseconds_are_told_by_their_size():
    seconds = END.replace(END[:13], str(int(END[:13]) // 1000), 1)
    assert interval(seconds) == (AT + timedelta(minutes=1), AT + timedelta(minutes=6))
    denied = DENIED.replace(str(MS), str(MS // 1000))
    assert interval(denied) == (AT - timedelta(seconds=1), AT)
    million = f"{MS + 300_000},10.20.1.6,198.51.100.180,1,2,T,O,A,E,1,60,0,0"
    assert interval(million, make=security_group)[1] == AT + timedelta(minutes=5)


# -- a worked example ----------------------------------------------------------------------------


def test_a_flow_that_both_ends_log_is_told_by_each_network_card_with_the_same_total():
    """Numbers of a long flow as the documentation adds them up: 5,256,000 bytes both ways.

    It continues with 588,096 sent and 4,610,880 received, and ends with 29,952 and 27,072. The
    client's card logs it as outgoing, the server's as incoming: four times as many rows as
    statements, and twice the bytes if added.
    """
    ends = "10.20.1.6,10.30.1.4,35370,23,6"
    tuples = [
        f"{MS},{ends},O,B,NX,,,,",
        f"{MS + 300_000},{ends},O,C,NX,1021,588096,8005,4610880",
        f"{MS + 600_000},{ends},O,E,NX,52,29952,47,27072",
    ]
    client = network(*tuples)
    server = network(*(text.replace(",O,", ",I,") for text in tuples), macAddress="00224871C206")
    found = volumes(client, server)
    assert len(found) == 12
    assert sum(row["bytes"] for row in found) == 10_512_000
    totals = {}
    for row in found:
        key = (row["interface_id"], row["flow_direction"], row["source_address"])
        totals[key] = totals.get(key, 0) + row["bytes"]
    assert totals == {
        (MAC, "egress", "10.20.1.6"): 618_048,
        (MAC, "ingress", "10.30.1.4"): 4_637_952,
        ("00224871C206", "ingress", "10.20.1.6"): 618_048,
        ("00224871C206", "egress", "10.30.1.4"): 4_637_952,
    }
    assert 618_048 + 4_637_952 == 5_256_000


# -- records, documents, identity ----------------------------------------------------------------


def test_each_tuple_is_a_record_at_its_path():
    found = read(network(BEGIN, END), security_group("x"))
    assert [(p.locator, word(p)) for p in found] == [
        ("$.records[0].flowRecords.flows[0].flowGroups[0].flowTuples[0]", "accepted"),
        ("$.records[0].flowRecords.flows[0].flowGroups[0].flowTuples[1]", "accepted"),
        ("$.records[1].properties.flows[0].flows[0].flowTuples[0]", "field_count"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"records": [network(BEGIN, CONTINUED)]}),
        json.dumps({"records": [network(BEGIN, CONTINUED)]}, indent=2),
        json.dumps([network(BEGIN, CONTINUED)]),
        json.dumps(network(BEGIN, CONTINUED)),
        "\ufeff" + json.dumps({"records": [network(BEGIN, CONTINUED)]}),
    ],
)
def test_records_may_stand_in_a_document_in_a_list_or_alone(text):
    found = parse(PARSER, whole(text))
    assert [word(p) for p in found] == ["accepted", "accepted"]
    assert stated(found[1].rows[0][1], "record_id") == SENT


def test_a_tuple_is_identified_by_its_log_card_rules_and_text():
    first = volumes(network(END))[0]["record_id"]
    assert volumes(network(BEGIN, CONTINUED, END))[-1]["record_id"] == first
    assert volumes(network(END, time="2026-03-11T11:00:00Z"))[0]["record_id"] == first
    assert volumes(network(END, targetResourceID=NETWORK.upper()))[0]["record_id"] == first
    others = [
        network(END.replace(",3,", ",4,")), network(END, rule="Other"), network(END, acl="x"),
        network(END, macAddress="00224871C206"), network(END, targetResourceID=f"{NETWORK}2"),
    ]  # fmt: skip
    assert first not in {row["record_id"] for row in volumes(*others)}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (network(), "no_flows"),
        (network(flowRecords={}), "no_flows"),
        (network(flowRecords={"flows": None}), "no_flows"),
        (network(flowRecords={"flows": [{"flowGroups": [{}]}]}), "no_flows"),
        (security_group(properties={"flows": [{"flows": [{}]}]}), "no_flows"),
        ({"category": "DnsResponse", "properties": {"x": 1}}, "other_category"),
        ({"category": "FlowLogFlowEvent"}, "no_flows"),
        ({}, "no_flows"),
        (7, "wrong_type"),
        (network(flowRecords=7), "wrong_type"),
        (network(flowRecords={"flows": [{"flowGroups": [{"flowTuples": "x"}]}]}), "wrong_type"),
        (network(END, macAddress="0022"), "mac"),
        (network(END, macAddress="00224871C20X"), "mac"),
        (network(END, macAddress=5), "wrong_type"),
        (security_group("x", mac="x"), "mac"),
        (security_group(properties=[]), "wrong_type"),
    ],
)
def test_a_record_without_flows_or_with_something_else_is_told_once(record, reason):
    assert [word(p) for p in read(record)] == [reason]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "invalid_json"),
        ("x", "invalid_json"),
        ("{", "invalid_json"),
        ('{"records": [', "invalid_json"),
        ('{"records": {}}', "wrong_type"),
        ('{"records": []}', "empty"),
        ("[]", "empty"),
        ('{"records": ' + "[" * 5_000, "too_deep"),
        ('{"records": [{"flowRecords":' + "[" * 5_000, "too_deep"),
    ],
)
def test_a_document_that_cannot_be_read_is_told_once(text, reason):
    found = parse(PARSER, whole(text))
    check_each(found)
    assert [word(p) for p in found] == [reason]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (7, "wrong_type"),
        (None, "wrong_type"),
        ([END], "wrong_type"),
        ("", "field_count"),
        (END + ",0", "field_count"),
        (END.rpartition(",")[0], "field_count"),
        ("x" * 5_000, "field_count"),
        ("," * 12, "no_time"),
        (END.replace(str(MS + 360_500), "-5"), "no_time"),
        (END.replace(str(MS + 360_500), "0"), "no_time"),
        (END.replace(str(MS + 360_500), "9" * 19), "no_time"),
        (END.replace(str(MS + 360_500), "2026-03-11"), "no_time"),
        (END.replace("10.20.1.6", "10.20.1"), "source"),
        (END.replace("198.51.100.180", ""), "destination"),
        (END.replace("23956", "65536"), "source_port"),
        (END.replace(",443,", ",x,"), "port"),
        (END.replace(",6,O", ",256,O"), "protocol"),
        (END.replace(",6,O", ",T,O"), "protocol"),
        (END.replace(",6,O", ",,O"), "protocol"),
        (END.replace(",O,", ",X,"), "direction"),
        (END.replace(",E,", ",F,"), "state"),
        (END.replace(",E,", ",,"), "state"),
        (END.replace("NX", "N" * 50), "encryption"),
        (END.replace("3,180,2,120", "3,,2,120"), "bytes"),
        (END.replace("3,180,2,120", ",,,"), "bytes"),
        (END.replace(",180,", ",-180,"), "bytes_sent"),
        (END.replace(",180,", ",1.5,"), "bytes_sent"),
        (END.replace(",180,", ",9223372036854775808,"), "bytes_sent"),
        (END.replace("2,120", "x,120"), "packets_received"),
        (BEGIN.replace("0,0,0,0", "1,60,0,0"), "flow_begin"),
        (END.replace("10.20.1.6", "10.20.1.6\x00"), "source"),
    ],
)
def test_a_tuple_that_holds_something_else_is_refused_and_no_other(text, reason):
    assert fate(text, CONTINUED) == [reason, "accepted"]


@pytest.mark.parametrize(
    "text", ["T,O,X,E", "T,O,,E", "T,O,A,F", "T,X,A,E", "Z,O,A,E", "7000,O,A,E"]
)
def test_a_tuple_of_a_security_group_that_holds_something_else_is_refused(text):
    good = f"{MS // 1000},10.20.1.6,198.51.100.180,1,2,"
    (reason,) = fate(f"{good}{text},1,60,0,0", make=security_group)
    assert reason in {"decision", "state", "direction", "protocol"}


def test_bytes_up_to_the_largest_number_are_exact():
    sent, _ = volumes(network(END.replace(",180,", f",{2**63 - 1},")))
    assert sent["bytes"] == 2**63 - 1


def test_what_looks_like_a_credential_is_not_written_or_shown():
    secret = "ghp_FAKE0FAKE0FAKE0FAKE0FAKE0FAKE0FAKE01"
    fields = END.split(",")
    tuples = [",".join([*fields[:n], secret, *fields[n + 1 :]]) for n in range(len(fields))]
    found = read(
        network(*tuples, secret, acl=secret, rule=secret, targetResourceID=f"{NETWORK}/{secret}"),
        network(DENIED, rule=secret),
        network(END, macAddress=secret),
        security_group(*tuples, rule=secret, mac=secret),
        {"category": secret},
    )
    assert secret not in written(found)
    assert secret.lower() not in written(found)
    shown = b"".join(parsed.raw for parsed in found if parsed.reject is not None)
    assert secret.encode() not in shown


FLOWS = [
    f"{MS + 1_000 * n},10.20.1.{n},198.51.100.180,{40_000 + n},443,6,O,E,NX,{n},60,1,{n}"
    for n in range(4)
]


@settings(max_examples=40)
@given(
    at=st.integers(0, 3),
    place=st.integers(0, 80),
    length=st.integers(0, 4),
    inserted=st.text(max_size=3),
)
def test_damage_of_one_tuple_changes_no_other(at, place, length, inserted):
    def read_all(tuples):
        return parse(PARSER, whole(json.dumps(network(*tuples))))

    tuples = list(FLOWS)
    tuples[at] = tuples[at][:place] + inserted + tuples[at][place + length :]
    found, clean = read_all(tuples), read_all(FLOWS)
    check_each(found)
    assert len(found) == 4
    assert [p.rows for n, p in enumerate(found) if n != at] == [
        p.rows for n, p in enumerate(clean) if n != at
    ]


# -- recognition and real records ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps({"records": [network(END)]}), 3),
        (json.dumps({"records": [network(*[END] * 50)]})[:900], 3),
        (json.dumps({"records": [security_group(END)]}, indent=1), 3),
        (json.dumps(network(END)) + "\n" + json.dumps(network(END)), 3),
        (json.dumps({"records": [{"category": "x"}, network(END)]}), 3),
        (json.dumps({"records": [{"category": "DnsResponse", "properties": {"flows": []}}]}), 0),
        (json.dumps({"records": [{"flowRecords": {}}]}), 0),
        (json.dumps({"records": []}), 0),
        (END, 0),
        ("{}", 0),
        ("", 0),
    ],
)
def test_the_format_is_recognised_by_its_flows(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_values_of_real_tuples_are_those_that_stand_in_them(samples):
    found = parse_file(PARSER, samples / "counters" / "azure_vnet_flowlog_v4.json")
    check_each(found)
    check_rows(found)
    assert words(found) == {"accepted": 7}
    real = [row for row in rows(found, "volume_records") if row["connection_state"] != "B"]
    common = {
        "account_id": "00000000-0000-0000-0000-000000000000",
        "interface_id": MAC,
        "vpc_id": (
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourcegroups/myresourcegroup"
            "/providers/microsoft.network/virtualnetworks/myvnet"
        ),
        "transport": "TCP",
        "encryption": "NX",
        "scaled": "raw",
        "temporality": "delta",
        "byte_layer": "packet",
    }
    day = datetime(2022, 9, 14, 9, tzinfo=UTC)
    assert stated(real[0], "record_id") == common | {
        "rule_list": ACL,
        # 1663146003606
        "start_at": day - timedelta(minutes=5) + timedelta(seconds=3, milliseconds=606),
        "end_at": day + timedelta(seconds=3, milliseconds=606),
        "source_address": "10.0.0.6",
        "source_port": 23_956,
        "destination_address": "52.239.184.180",
        "destination_port": 443,
        "action": "ACCEPT",
        "connection_state": "E",
        "bytes": 767,
        "packets": 3,
        "flow_direction": "egress",
    }
    assert [(row["source_address"], row["packets"], row["bytes"]) for row in real] == [
        ("10.0.0.6", 3, 767),
        ("52.239.184.180", 2, 1_580),
        ("10.0.0.6", 3, 705),
        ("40.74.146.17", 4, 4_569),
        ("10.0.0.6", 22, 2_217),
        ("104.16.218.84", 33, 32_466),
        ("101.33.218.153", 0, 0),
    ]
    assert stated(real[6], "record_id") == common | {
        "rule_list": "01020304-abcd-ef00-1234-102030405060",
        # 1663145998065
        "start_at": day - timedelta(seconds=1, milliseconds=936),
        "end_at": day - timedelta(seconds=1, milliseconds=935),
        "source_address": "101.33.218.153",
        "source_port": 55_188,
        "destination_address": "10.0.0.6",
        "destination_port": 22,
        "action": "REJECT",
        "reject_reason": "BlockHighRiskTCPPortsFromInternet",
        "connection_state": "D",
        "bytes": 0,
        "packets": 0,
        "flow_direction": "ingress",
    }


@pytest.mark.samples
def test_tuples_of_the_documentation_add_up_as_it_says(samples):
    path = samples / "counters" / "azure_vnet_tuples_BCE_docs_example.txt"
    found = read(network(*path.read_text().split()))
    assert [word(p) for p in found] == ["accepted"] * 3
    real = [row for row in rows(found, "volume_records") if row["connection_state"] != "B"]
    assert [row["bytes"] for row in real] == [588_096, 4_610_880, 29_952, 27_072]
    assert sum(row["bytes"] for row in real) == 5_256_000
    assert {row["end_at"] - row["start_at"] for row in real} == {timedelta(minutes=5)}

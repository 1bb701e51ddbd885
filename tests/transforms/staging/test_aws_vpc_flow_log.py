from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    check_each,
    check_others,
    check_rows,
    damaged,
    lines,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from transforms.staging.aws_vpc_flow_log import PARSER

FIELDS = {
    "version": "5",
    "account-id": "111122223333",
    "interface-id": "eni-0a1b2c3d4e5f60718",
    "srcaddr": "10.30.1.21",
    "dstaddr": "198.51.100.120",
    "srcport": "57275",
    "dstport": "443",
    "protocol": "6",
    "packets": "30",
    "bytes": "40009",
    "start": "1773223320",
    "end": "1773223390",
    "action": "ACCEPT",
    "log-status": "OK",
    "vpc-id": "vpc-0a1b2c3d",
    "subnet-id": "subnet-0a1b2c3d",
    "instance-id": "i-0a1b2c3d",
    "tcp-flags": "19",
    "type": "IPv4",
    "pkt-srcaddr": "10.30.1.61",
    "pkt-dstaddr": "198.51.100.121",
    "region": "eu-west-1",
    "az-id": "euw1-az1",
    "sublocation-type": "-",
    "sublocation-id": "-",
    "pkt-src-aws-service": "-",
    "pkt-dst-aws-service": "S3",
    "flow-direction": "egress",
    "traffic-path": "7",
}
V2 = tuple(FIELDS)[:14]
HEADER = " ".join(FIELDS)
START = datetime(2026, 3, 11, 10, 2, tzinfo=UTC)
END = datetime(2026, 3, 11, 10, 3, 10, tzinfo=UTC)
EVERYTHING = {
    "start_at": START,
    "end_at": END,
    "account_id": "111122223333",
    "interface_id": "eni-0a1b2c3d4e5f60718",
    "instance_id": "i-0a1b2c3d",
    "vpc_id": "vpc-0a1b2c3d",
    "subnet_id": "subnet-0a1b2c3d",
    "zone_id": "euw1-az1",
    "region": "eu-west-1",
    "source_address": "10.30.1.21",
    "source_port": 57_275,
    "source_packet_address": "10.30.1.61",
    "destination_address": "198.51.100.120",
    "destination_port": 443,
    "destination_packet_address": "198.51.100.121",
    "destination_service": "S3",
    "transport": "TCP",
    "action": "ACCEPT",
    "bytes": 40_009,
    "packets": 30,
    "tcp_flags": 19,
    "flow_direction": "egress",
    "traffic_path": "7",
    "scaled": "raw",
    "temporality": "delta",
    "byte_layer": "packet",
}


def record(*, order=tuple(FIELDS), **changes: str) -> str:
    values = FIELDS | {name.replace("_", "-"): text for name, text in changes.items()}
    return " ".join(values[name] for name in order)


def one(text: str, **context):
    (parsed,) = parse(PARSER, text, **context)
    check_each([parsed])
    check_rows([parsed])
    return parsed


def volume(text: str, **context):
    parsed = one(text, **context)
    assert parsed.reject is None, parsed.reject
    assert [table for table, _ in parsed.rows] == ["volume_records"]
    return parsed.rows[0][1]


def test_every_field_of_version_5_fills_its_column():
    assert stated(volume(f"{HEADER}\n{record()}"), "record_id") == EVERYTHING


@pytest.mark.parametrize("seed", range(5))
def test_the_header_gives_the_order_of_the_fields(seed):
    order = list(FIELDS)
    Random(seed).shuffle(order)
    text = f"{' '.join(order)}\n{record(order=order)}"
    assert stated(volume(text), "record_id") == EVERYTHING


@pytest.mark.parametrize(
    "setting",
    [HEADER, HEADER.replace("-", "_"), " ".join(f"${{{n}}}" for n in FIELDS), ", ".join(FIELDS)],
)
def test_a_file_without_a_header_is_read_by_the_setting(setting):
    assert stated(volume(record(), record_format=setting), "record_id") == EVERYTHING


def test_the_header_of_a_file_wins_over_the_setting():
    text = f"{HEADER}\n{record()}"
    assert stated(volume(text, record_format=" ".join(V2)), "record_id") == EVERYTHING


def test_a_file_without_a_header_may_have_the_default_fields():
    values = volume(record(order=V2, version="2"))
    assert values["bytes"] == 40_009
    assert values["source_packet_address"] is None
    assert values["region"] is None
    assert values["flow_direction"] is None


@pytest.mark.parametrize(
    "text",
    [record(), record(order=V2), record(order=V2[:13], version="2"), "x", "2 " * 14, "\x00"],
)
def test_other_records_without_a_header_are_refused(text):
    assert word(one(text)) == "no_fields"


def test_a_second_header_changes_the_order():
    order = tuple(reversed(FIELDS))
    text = f"{HEADER}\n{record()}\n{' '.join(order)}\n{record(order=order)}"
    first, second = rows(parse(PARSER, text), "volume_records")
    assert first | {"record_id": ""} == second | {"record_id": ""}


def test_headers_are_no_records():
    assert parse(PARSER, f"{HEADER}\n\n{HEADER}\n") == []
    locators = [p.locator for p in parse(PARSER, f"{HEADER}\n\n{record()}\n{HEADER}\n{record()}")]
    assert locators == ["line 3", "line 5"]


def test_fields_of_newer_versions_are_passed_over():
    newer = "ecs-task-id reject-reason resource-id encryption-status next-hop-az-id some-new-field"
    text = f"{HEADER} {newer}\n{record()} t1 BPA - 1 euw1-az2 x"
    assert stated(volume(text), "record_id") == EVERYTHING | {"reject_reason": "BPA"}


def test_a_header_of_few_fields_leaves_the_other_columns_null():
    order = ("bytes", "end", "start")
    values = volume(f"{' '.join(order)}\n{record(order=order)}")
    assert stated(values, "record_id") == {
        "start_at": START, "end_at": END, "bytes": 40_009,
        "scaled": "raw", "temporality": "delta", "byte_layer": "packet",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "column"),
    [
        ("account_id", "account_id"),
        ("interface_id", "interface_id"),
        ("instance_id", "instance_id"),
        ("vpc_id", "vpc_id"),
        ("subnet_id", "subnet_id"),
        ("az_id", "zone_id"),
        ("region", "region"),
        ("srcaddr", "source_address"),
        ("srcport", "source_port"),
        ("pkt_srcaddr", "source_packet_address"),
        ("pkt_dst_aws_service", "destination_service"),
        ("dstaddr", "destination_address"),
        ("dstport", "destination_port"),
        ("pkt_dstaddr", "destination_packet_address"),
        ("protocol", "transport"),
        ("action", "action"),
        ("packets", "packets"),
        ("tcp_flags", "tcp_flags"),
        ("flow_direction", "flow_direction"),
        ("traffic_path", "traffic_path"),
    ],
)
def test_a_dash_is_null(field, column):
    values = volume(f"{HEADER}\n{record(**{field: '-'})}")
    assert stated(values, "record_id") == {k: v for k, v in EVERYTHING.items() if k != column}


@pytest.mark.parametrize(
    ("protocol", "transport", "port"),
    [
        ("6", "TCP", 0),
        ("17", "UDP", 0),
        ("132", "SCTP", 0),
        ("1", "ICMP", None),
        ("58", "ICMPv6", None),
        ("47", "GRE", None),
        ("253", "253", None),
    ],
)
def test_protocols_have_names_and_port_0_is_none_where_there_are_no_ports(
    protocol, transport, port
):
    values = volume(f"{HEADER}\n{record(protocol=protocol, srcport='0', dstport='0')}")
    assert (values["transport"], values["source_port"]) == (transport, port)
    assert values["destination_port"] == port


def test_addresses_are_written_in_one_way():
    text = f"{HEADER}\n{record(srcaddr='2001:DB8:0:0::1', dstaddr='::ffff:192.0.2.1')}"
    values = volume(text)
    assert values["source_address"] == "2001:db8::1"
    assert values["destination_address"] == "192.0.2.1"


def test_blanks_in_runs_are_one():
    text = f"{HEADER.replace(' ', '   ')}\n  {record().replace(' ', '  ')} \t\r"
    assert stated(volume(text), "record_id") == EVERYTHING


def test_an_interval_within_one_second_is_that_second():
    values = volume(f"{HEADER}\n{record(end='1773223320')}")
    assert (values["start_at"], values["end_at"]) == (START, START.replace(second=1))


def test_no_data_is_ignored():
    empty = "2 111122223333 eni-0a1b2c3d - - - - - - - 1773223320 1773223380 - NODATA"
    parsed = one(empty)
    assert (parsed.ignore, parsed.rows) == ("no_data", ())


def test_skipped_data_is_a_loss_of_its_interval():
    skipped = "2 111122223333 eni-0a1b2c3d - - - - - - - 1773223320 1773223390 - SKIPDATA"
    parsed = one(skipped)
    assert [table for table, _ in parsed.rows] == ["loss_reports"]
    assert stated(parsed.rows[0][1], "record_id") == {
        "source": "volume_records",
        "event_at": START,
        "start_at": START,
        "end_at": END,
        "kind": "skipped",
        "reason": "SKIPDATA eni-0a1b2c3d",
    }


def test_what_was_not_skipped_stays():
    parsed = one(f"{HEADER}\n{record(log_status='SKIPDATA')}")
    assert [table for table, _ in parsed.rows] == ["loss_reports", "volume_records"]
    assert parsed.rows[1][1]["bytes"] == 40_009
    assert parsed.rows[0][1]["record_id"] == parsed.rows[1][1]["record_id"]


def test_rejected_traffic_keeps_its_action():
    values = volume(f"{HEADER}\n{record(action='REJECT')}")
    assert (values["action"], values["bytes"]) == ("REJECT", 40_009)


def test_a_record_is_identified_by_its_fields_and_their_order():
    text = f"{HEADER}\n{record()}\n{record()}\n{record(packets='31')}"
    first, again, other = rows(parse(PARSER, text), "volume_records")
    assert first["record_id"] == again["record_id"] != other["record_id"]
    by_setting = volume(record().replace(" ", "  "), record_format=HEADER)
    assert by_setting["record_id"] == first["record_id"]
    # The same text under exchanged names says something else.
    names = HEADER.replace("srcaddr", "x").replace("dstaddr", "srcaddr").replace("x", "dstaddr")
    assert volume(f"{names}\n{record()}")["record_id"] != first["record_id"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bytes": "-"}, "bytes"),
        ({"bytes": "12.5"}, "bytes"),
        ({"bytes": "-1"}, "bytes"),
        ({"bytes": "9223372036854775808"}, "bytes"),
        ({"bytes": "٣"}, "bytes"),
        ({"packets": "many"}, "packets"),
        ({"srcport": "65536"}, "srcport"),
        ({"dstport": "x"}, "dstport"),
        ({"srcaddr": "10.30.1"}, "srcaddr"),
        ({"dstaddr": "localhost"}, "dstaddr"),
        ({"pkt_srcaddr": "1" * 100}, "pkt-srcaddr"),
        ({"protocol": "TCP"}, "protocol"),
        ({"protocol": "256"}, "protocol"),
        ({"action": "accept"}, "action"),
        ({"log_status": "LOST"}, "log_status"),
        ({"log_status": "-"}, "log_status"),
        ({"flow_direction": "in"}, "flow-direction"),
        ({"traffic_path": "seven"}, "traffic-path"),
        ({"interface_id": "eni/1"}, "interface-id"),
        ({"account_id": "AKIAFAKEEXAMPLE2KEYS"}, "account-id"),
        ({"start": "-"}, "no_time"),
        ({"end": "-"}, "no_time"),
        ({"start": "0"}, "interval"),
        ({"start": "2026-03-11T10:02:00Z"}, "interval"),
        ({"start": "1773223391"}, "interval"),
        ({"start": "1773219789"}, "interval"),
        ({"start": "9" * 20, "end": "9" * 20}, "interval"),
        ({"start": "9" * 18, "end": "9" * 18}, "interval"),
    ],
)
def test_a_field_that_does_not_hold_what_its_name_says_is_refused(changes, reason):
    assert word(one(f"{HEADER}\n{record(**changes)}")) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{HEADER}\n{record()} x", "field_count"),
        (f"{HEADER}\n{record()[:80]}", "field_count"),
        (f"{HEADER}\n\x00", "field_count"),
        (f"{HEADER}\n" + "x" * 70_000, "unreadable_line"),
        ("srcaddr dstaddr bytes\n10.0.0.1 10.0.0.2 5", "no_time"),
        ("srcaddr dstaddr start end\n10.0.0.1 10.0.0.2 1773223320 1773223390", "bytes"),
    ],
)
def test_a_record_that_does_not_fit_the_header_is_refused(text, reason):
    assert word(one(text)) == reason


@pytest.mark.parametrize(
    "header",
    ["bytes bytes start end", "version tgw-id srcaddr dstaddr bytes start end tgw-attachment-id"],
)
def test_records_behind_an_unusable_header_are_refused(header):
    found = parse(PARSER, f"{header}\n1 2 3 4\n{HEADER}\n{record()}")
    check_each(found)
    assert [word(p) for p in found[1:]] == ["no_fields", "accepted"]
    assert found[0].reject is not None


def test_a_setting_that_names_no_fields_is_told_with_every_record():
    assert word(one(record(), record_format="what is this")) == "no_fields"


def test_what_looks_like_a_credential_is_not_written():
    secret = "AKIAFAKEEXAMPLE2KEYS"
    changes = ("account_id", "interface_id", "pkt_dst_aws_service", "action", "bytes", "srcaddr")
    for field in changes:
        assert secret not in written([one(f"{HEADER}\n{record(**{field: secret})}")])


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_record_changes_no_other(at, cuts):
    texts = [record(), record(bytes="7"), record(log_status="SKIPDATA"), record(end="1773223321")]
    header, *records = lines("\n".join([HEADER, *texts]))
    clean = parse(PARSER, [header, *records])
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, [header, *records]), clean, at)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (HEADER, 3),
        ("\n" + " ".join(V2) + "\n" + record(order=V2), 3),
        ("instance-id interface-id srcaddr dstaddr", 3),
        (record(order=V2, version="2"), 2),
        (record(), 1),
        ("version tgw-id tgw-attachment-id srcaddr dstaddr bytes start end", 0),
        ("3 - 111122223333 tgw-0a tgw-attach-0b - - vpc-1 vpc-2 - - eni-1 eni-2 - OK -", 0),
        ("the version of the action", 0),
        ("version: 1", 0),
        ('{"version": 2}', 0),
        ("", 0),
    ],
)
def test_the_format_is_recognised_by_its_header(head, score):
    assert PARSER.recognise(head.encode()).score == score


SAMPLES = {
    # The file names neither bytes nor times.
    "aws_vpcflow_nat_example.log": {"no_time": 6},
    # Line 3 is NODATA; line 4 is SKIPDATA, a loss.
    "aws_vpcflow_v2_default_s3.log": {"accepted": 6, "no_data": 1},
    "aws_vpcflow_v5_trafficpath_custom.log": {"accepted": 2},
    "aws_vpcflow_v7_ecs_s3.log": {"accepted": 1},
    # No header and not the default fields.
    "aws_vpcflow_v5_all_fields_noheader.log": {"no_fields": 1},
    "aws_tgwflow_noheader.log": {"no_fields": 2},
}


@pytest.mark.samples
@pytest.mark.parametrize("name", SAMPLES)
def test_real_records_meet_the_fate_that_reading_the_file_tells(samples, name):
    found = parse_file(PARSER, samples / "counters" / name)
    check_each(found)
    check_rows(found)
    assert words(found) == SAMPLES[name]


@pytest.mark.samples
def test_a_real_record_whose_interval_lasts_decades_is_refused(samples):
    path = samples / "counters" / "aws_vpcflow_v5_all_fields_noheader.log"
    order = (
        *V2, "vpc-id", "subnet-id", "instance-id", "tcp-flags", "type", "pkt-srcaddr",
        "pkt-dstaddr", "region", "az-id", "sublocation-type", "sublocation-id",
        "pkt-src-aws-service", "pkt-dst-aws-service", "flow-direction", "traffic-path",
    )  # fmt: skip
    assert words(parse_file(PARSER, path, record_format=" ".join(order))) == {"interval": 1}
    # It starts at 164000066; with a digit more it would last four minutes.
    text = path.read_text().replace(" 164000066 ", " 1640000066 ")
    values = volume(text, record_format=" ".join(order))
    assert (values["bytes"], values["packets"], values["action"]) == (1, 52, "REJECT")
    assert values["source_service"] == "AMAZON"
    assert values["destination_service"] == "CLOUDFRONT"


@pytest.mark.samples
def test_values_of_real_records_are_those_that_stand_in_them(samples):
    folder = samples / "counters"
    default = parse_file(PARSER, folder / "aws_vpcflow_v2_default_s3.log")
    found = rows(default, "volume_records")
    assert [r["bytes"] for r in found] == [8855, 4249, 4249, 336, 336]
    assert [r["action"] for r in found] == ["ACCEPT", "ACCEPT", "REJECT", "ACCEPT", "REJECT"]
    assert [r["transport"] for r in found] == ["TCP", "TCP", "TCP", "ICMP", "ICMP"]
    assert found[0]["source_address"] == "2001:db8:1234:a100:8d6e:3477:df66:f105"
    assert found[0]["start_at"] == datetime(2016, 10, 31, 11, 35, 8, tzinfo=UTC)
    assert found[0]["end_at"] == datetime(2016, 10, 31, 11, 37, tzinfo=UTC)
    (loss,) = rows(default, "loss_reports")
    assert loss["reason"] == "SKIPDATA eni-11111111aaaaaaaaa"
    assert loss["start_at"] == datetime(2015, 5, 10, 18, 1, 16, tzinfo=UTC)
    custom = rows(
        parse_file(PARSER, folder / "aws_vpcflow_v5_trafficpath_custom.log"), "volume_records"
    )
    assert [r["bytes"] for r in custom] == [15_044, 471]
    assert [r["traffic_path"] for r in custom] == [None, "8"]
    assert [r["source_service"] for r in custom] == ["S3", None]
    assert [r["flow_direction"] for r in custom] == ["ingress", "egress"]
    ecs = rows(parse_file(PARSER, folder / "aws_vpcflow_v7_ecs_s3.log"), "volume_records")
    assert (ecs[0]["bytes"], ecs[0]["packets"]) == (3500, 15)

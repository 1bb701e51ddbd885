import json
from datetime import UTC, datetime
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.landing import readers
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
    "traffic_type": "IPv4",
}
LATER = {
    "sublocation-type": ("outpost", "sublocation", "outpost"),
    "ecs-cluster-name": ("train", "ecs_cluster_name", "train"),
    "ecs-service-name": ("svc-a", "ecs_service_name", "svc-a"),
    "ecs-task-id": ("0f1e2d3c", "ecs_task_id", "0f1e2d3c"),
    "ecs-cluster-arn": (
        "arn:aws:ecs:eu-west-1:111122223333:cluster/by-arn", "ecs_cluster_name", "by-arn",
    ),
    "ecs-task-arn": (
        "arn:aws:ecs:eu-west-1:111122223333:task/train/77aa", "ecs_task_id", "77aa",
    ),
    "ecs-container-id": ("c1", "ecs_container_ids", ["c1"]),
    "ecs-second-container-id": ("c2", "ecs_container_ids", ["c2"]),
    "reject-reason": ("BPA", "reject_reason", "BPA"),
    "encryption-status": ("1", "encryption", "nitro"),
    "interface-type": ("network_load_balancer", "interface_type", "network_load_balancer"),
    "next-hop-interface-id": ("eni-0b", "next_hop_interface_id", "eni-0b"),
    "next-hop-interface-type": ("nat_gateway", "next_hop_interface_type", "nat_gateway"),
    "next-hop-vpc-id": ("vpc-0b", "next_hop_vpc_id", "vpc-0b"),
    "next-hop-subnet-id": ("subnet-0b", "next_hop_subnet_id", "subnet-0b"),
    "next-hop-az-id": ("euw1-az2", "next_hop_zone_id", "euw1-az2"),
}  # fmt: skip
"""Field of a later version → its text, the column that it fills, and with what."""
GATEWAY = {
    "version": "6",
    "resource-type": "TransitGateway",
    "account-id": "111122223333",
    "tgw-id": "tgw-0a1b2c3d",
    "tgw-attachment-id": "tgw-attach-0a1b",
    "tgw-src-vpc-account-id": "111122223333",
    "tgw-dst-vpc-account-id": "444455556666",
    "tgw-src-vpc-id": "vpc-0a",
    "tgw-dst-vpc-id": "vpc-0b",
    "tgw-src-subnet-id": "subnet-0a",
    "tgw-dst-subnet-id": "subnet-0b",
    "tgw-src-eni": "eni-0a",
    "tgw-dst-eni": "eni-0b",
    "tgw-src-az-id": "euw1-az1",
    "tgw-dst-az-id": "euw1-az2",
    "tgw-pair-attachment-id": "tgw-attach-0c2d",
    "srcaddr": "10.30.1.61",
    "dstaddr": "10.40.1.9",
    "srcport": "57275",
    "dstport": "443",
    "protocol": "6",
    "packets": "30",
    "bytes": "40009",
    "start": "1773223320",
    "end": "1773223390",
    "log-status": "OK",
    "type": "IPv4",
    "packets-lost-no-route": "1",
    "packets-lost-blackhole": "2",
    "packets-lost-mtu-exceeded": "0",
    "packets-lost-ttl-expired": "4",
    "tcp-flags": "26",
    "region": "eu-west-1",
    "flow-direction": "ingress",
    "pkt-src-aws-service": "-",
    "pkt-dst-aws-service": "-",
}
THROUGH_A_GATEWAY = {
    "start_at": START,
    "end_at": END,
    "account_id": "111122223333",
    "interface_id": "tgw-attach-0a1b",
    "region": "eu-west-1",
    "source_address": "10.30.1.61",
    "source_packet_address": "10.30.1.61",
    "source_port": 57_275,
    "source_vpc_id": "vpc-0a",
    "source_zone": "euw1-az1",
    "destination_address": "10.40.1.9",
    "destination_packet_address": "10.40.1.9",
    "destination_port": 443,
    "destination_vpc_id": "vpc-0b",
    "destination_zone": "euw1-az2",
    "transport": "TCP",
    "bytes": 40_009,
    "packets": 30,
    "undelivered_packets": 7,
    "tcp_flags": 26,
    "flow_direction": "ingress",
    "traffic_type": "IPv4",
    "reporter": "TRANSIT_GATEWAY",
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


def test_every_field_of_versions_6_to_11_fills_its_column():
    fields = {name: text for name, (text, *_) in LATER.items()} | {"sublocation-id": "op-0a1b"}
    values = FIELDS | fields
    text = f"{' '.join(values)}\n{' '.join(values.values())}"
    wanted = {column: value for _, column, value in LATER.values()} | {
        "sublocation": "outpost/op-0a1b",
        "ecs_cluster_name": "train",
        "ecs_task_id": "0f1e2d3c",
        "ecs_container_ids": ["c1", "c2"],
    }
    assert stated(volume(text), "record_id") == EVERYTHING | wanted


@pytest.mark.parametrize("name", LATER)
def test_a_field_of_a_later_version_alone_fills_its_column(name):
    text, column, value = LATER[name]
    order = ("bytes", "start", "end", name)
    values = volume(f"{' '.join(order)}\n40009 1773223320 1773223390 {text}")
    assert values[column] == value
    assert volume(f"{' '.join(order)}\n40009 1773223320 1773223390 -").get(column) is None


@pytest.mark.parametrize(
    ("status", "encryption"),
    [("0", "none"), ("2", "application"), ("3", "nitro_and_application"), ("9", "9")],
)
def test_encryption_is_a_word(status, encryption):
    found = volume(f"{HEADER} encryption-status\n{record()} {status}")
    assert found["encryption"] == encryption


def test_fields_of_unknown_versions_and_tags_are_passed_over():
    text = f"{HEADER} instance-tag instance-tag-2 asg-tag some-new-field\n{record()} a%20b c d x"
    assert stated(volume(text), "record_id") == EVERYTHING


@pytest.mark.parametrize(
    ("fields", "texts", "interface", "reporter"),
    [
        ("interface-id resource-id", "- nat-0a1b2c3d", "nat-0a1b2c3d", "NAT_GATEWAY"),
        ("interface-id resource-id", "eni-0a nat-0a1b", "eni-0a", None),
        ("resource-id", "nat-0a1b2c3d", "nat-0a1b2c3d", "NAT_GATEWAY"),
        ("interface-id interface-type", "eni-0a nat_gateway", "eni-0a", "NAT_GATEWAY"),
        ("interface-id interface-type", "eni-0a regional_nat_gateway", "eni-0a", "NAT_GATEWAY"),
        ("interface-id interface-type", "eni-0a transit_gateway", "eni-0a", "TRANSIT_GATEWAY"),
        ("interface-id interface-type", "eni-0a vpc_endpoint", "eni-0a", None),
        ("tgw-id tgw-attachment-id", "tgw-0a tgw-attach-0b", "tgw-attach-0b", "TRANSIT_GATEWAY"),
        ("tgw-id srcaddr", "tgw-0a 192.0.2.1", "tgw-0a", "TRANSIT_GATEWAY"),
        ("tgw-attachment-id srcaddr", "- 192.0.2.1", None, "TRANSIT_GATEWAY"),
    ],
)
def test_a_gateway_that_observes_says_so(fields, texts, interface, reporter):
    text = f"{fields} bytes start end\n{texts} 5 1773223320 1773223390"
    values = volume(text)
    assert (values["interface_id"], values["reporter"]) == (interface, reporter)


def test_every_field_of_a_transit_gateway_fills_its_column():
    text = f"{' '.join(GATEWAY)}\n{' '.join(GATEWAY.values())}"
    assert stated(volume(text), "record_id") == THROUGH_A_GATEWAY
    assert stated(volume(" ".join(GATEWAY.values())), "record_id") == THROUGH_A_GATEWAY
    lost = {name: "-" for name in GATEWAY if name.startswith("packets-lost")}
    values = GATEWAY | lost
    found = volume(f"{' '.join(values)}\n{' '.join(values.values())}")
    assert found.get("undelivered_packets") is None


def test_skipped_data_of_a_transit_gateway_is_a_loss_at_its_attachment():
    text = " ".join((GATEWAY | {"log-status": "SKIPDATA", "bytes": "-"}).values())
    parsed = one(text)
    assert [table for table, _ in parsed.rows] == ["loss_reports"]
    assert parsed.rows[0][1]["reason"] == "SKIPDATA tgw-attach-0a1b"


def row(names=str, **changes):
    """A row of a Parquet file as it is read: numbers where the format has numbers."""
    values = {
        name: int(text) if text.isdigit() and name != "account-id" else text
        for name, text in FIELDS.items()
    }
    values |= {name.replace("_", "-"): value for name, value in changes.items()}
    return json.dumps({names(name): value for name, value in values.items()})


@pytest.mark.parametrize("names", [str, lambda name: name.replace("-", "_"), str.upper])
def test_a_row_of_a_table_fills_every_column(names):
    assert stated(volume(row(names)), "record_id") == EVERYTHING


@pytest.mark.parametrize("parts", ["-", "_"])
def test_a_parquet_file_of_aws_types_is_recognised_and_read(tmp_path, parts):
    """Numbers are INT_32, or INT_64 where they may be large, all else is text; unset is null."""
    narrow = {"version", "srcport", "dstport", "protocol", "tcp-flags", "traffic-path"}
    wide = {"packets", "bytes", "start", "end"}
    skipped = dict.fromkeys((*V2[3:10], "action", "pkt-srcaddr"), "-") | {"log-status": "SKIPDATA"}
    columns = {}
    for name, text in FIELDS.items():
        kind = pa.int32() if name in narrow else pa.int64() if name in wide else pa.string()
        found = [None if v == "-" else v for v in (text, skipped.get(name, text))]
        numbers = [v if v is None or kind == pa.string() else int(v) for v in found]
        columns[name.replace("-", parts)] = pa.array(numbers, kind)
    path = tmp_path / "flows.parquet"
    pq.write_table(pa.table(columns), path)
    assert PARSER.recognise(readers.head(path)).score == 3
    full, empty = parse_file(PARSER, path)
    assert [table for table, _ in full.rows] == ["volume_records"]
    assert stated(full.rows[0][1], "record_id") == EVERYTHING
    assert [table for table, _ in empty.rows] == ["loss_reports"]


@pytest.mark.parametrize("empty", [None, "", "-"])
def test_null_in_a_row_is_a_dash(empty):
    values = volume(row(pkt_srcaddr=empty, traffic_path=empty))
    left = EVERYTHING.keys() - {"source_packet_address", "traffic_path"}
    assert stated(values, "record_id") == {name: EVERYTHING[name] for name in left}


def test_a_row_says_that_data_was_skipped_or_none_was_there():
    empty = dict.fromkeys(("srcaddr", "dstaddr", "srcport", "dstport", "protocol", "packets"))
    assert one(row(log_status="NODATA", bytes=None, **empty)).ignore == "no_data"
    parsed = one(row(log_status="SKIPDATA", bytes=None, **empty))
    assert [table for table, _ in parsed.rows] == ["loss_reports"]


def test_a_row_is_identified_by_its_fields_in_whichever_order_and_names():
    first = volume(row())["record_id"]
    values = json.loads(row())
    again = json.dumps(dict(sorted(values.items())) | {"unknown": 7})
    assert volume(again)["record_id"] == first
    assert volume(row(str.upper))["record_id"] == first
    assert volume(row(packets=31))["record_id"] != first


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "invalid_json"),
        ("{}", "no_fields"),
        ('{"bytes": 5}', "no_fields"),
        ('{"a": 1, "b": 2}', "no_fields"),
        (row(bytes=None), "bytes"),
        (row(bytes=True), "bytes"),
        (row(bytes=5.5), "bytes"),
        (row(bytes=[5]), "bytes"),
        (row(bytes=-5), "bytes"),
        (row(bytes=2**63), "bytes"),
        (row(bytes=10**4000), "bytes"),
        (row(srcaddr=5), "srcaddr"),
        (row(srcaddr="10.0.0.1\x00"), "srcaddr"),
        (row(start=None), "no_time"),
        (row(log_status=1), "log_status"),
        (row()[:-1] + ', "log_status": "OK"}', "field_twice"),
        ('{"bytes": ' + "[" * 5000, "too_deep"),
    ],
)
def test_a_row_that_holds_something_else_is_refused(text, reason):
    assert word(one(text)) == reason


def test_the_temporality_is_a_difference_unless_the_export_says_otherwise():
    assert volume(f"{HEADER}\n{record()}", temporality="cumulative")["temporality"] == "cumulative"
    assert volume(row(), temporality="cumulative")["temporality"] == "cumulative"


def test_a_transfer_that_two_interfaces_and_a_gateway_see_is_told_by_each_with_its_reporter():
    """A pod at 10.30.1.61 sends 1,000 bytes in 2 records to 10.40.1.9 in another network.

    Its node's interface counts 600 + 400, the receiver's the same 1,000, and the gateway's two
    attachments 1,000 each: five times 1,000 if added, once where one observer is taken.
    """
    fields = "interface-id pkt-srcaddr pkt-dstaddr flow-direction bytes packets start end"
    ends = "10.30.1.61 10.40.1.9"
    near = [
        f"eni-0a {ends} egress 600 4 1773223320 1773223380",
        f"eni-0a {ends} egress 400 3 1773223380 1773223390",
    ]
    far = [f"eni-0b {ends} ingress 1000 7 1773223320 1773223390"]
    through = [
        " ".join((GATEWAY | {"bytes": "1000", "tgw-attachment-id": f"tgw-attach-{side}",
                             "flow-direction": way}).values())
        for side, way in (("0a", "ingress"), ("0b", "egress"))
    ]  # fmt: skip
    found = rows(parse(PARSER, "\n".join([fields, *near, *far])), "volume_records")
    found += rows(parse(PARSER, "\n".join(through)), "volume_records")
    totals = {}
    for values in found:
        key = (values["interface_id"], values["reporter"], values["flow_direction"])
        totals[key] = totals.get(key, 0) + values["bytes"]
    assert totals == {
        ("eni-0a", None, "egress"): 1000,
        ("eni-0b", None, "ingress"): 1000,
        ("tgw-attach-0a", "TRANSIT_GATEWAY", "ingress"): 1000,
        ("tgw-attach-0b", "TRANSIT_GATEWAY", "egress"): 1000,
    }


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
        # 9999-12-31T23:59:59Z, behind which no second has a name.
        ({"start": "253402300799", "end": "253402300799"}, "interval"),
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


@pytest.mark.parametrize("header", ["bytes bytes start end", "srcaddr bytes SRCADDR end"])
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


@settings(max_examples=40)
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
        ("version tgw-id tgw-attachment-id srcaddr dstaddr bytes start end", 3),
        (" ".join(GATEWAY), 3),
        (" ".join(GATEWAY.values()), 2),
        ("3 - 111122223333 tgw-0a tgw-attach-0b - - vpc-1 vpc-2 - - eni-1 eni-2 - OK -", 1),
        (row(), 3),
        (row(lambda name: name.replace("-", "_"))[:200], 3),
        ('{"bytes": 5, "start": 1, "end": 2, "action": "x", "type": "y"}', 0),
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
    # The default fields of transit gateways.
    "aws_tgwflow_noheader.log": {"accepted": 2},
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
    (ecs,) = rows(parse_file(PARSER, folder / "aws_vpcflow_v7_ecs_s3.log"), "volume_records")
    assert (ecs["bytes"], ecs["packets"], ecs["ecs_cluster_name"]) == (3500, 15, "my-cluster")
    assert (ecs["ecs_service_name"], ecs["ecs_task_id"]) == ("my-service", "abcdef1234567890")
    assert ecs["ecs_container_ids"] == ["container-1", "container-2"]


@pytest.mark.samples
def test_real_records_of_a_transit_gateway_fill_its_columns(samples):
    found = parse_file(PARSER, samples / "counters" / "aws_tgwflow_noheader.log")
    (loss,) = rows(found, "loss_reports")
    assert loss["reason"] == "SKIPDATA tgw-attach-0789ijkl"
    first, second = rows(found, "volume_records")
    assert (first["bytes"], second["bytes"]) == (8947, 6842)
    assert first["destination_address"] == "2a02:cf40::"
    assert stated(second, "record_id") == {
        "start_at": datetime(2025, 8, 19, 8, 35, 53, tzinfo=UTC),
        "end_at": datetime(2025, 8, 19, 8, 36, 20, tzinfo=UTC),
        "account_id": "111122223333",
        "interface_id": "tgw-attach-0123abcd",
        "reporter": "TRANSIT_GATEWAY",
        "source_address": "216.160.83.56",
        "source_packet_address": "216.160.83.56",
        "source_port": 36_721,
        "source_vpc_id": "vpc-0abc1234",
        "destination_address": "89.160.20.128",
        "destination_packet_address": "89.160.20.128",
        "destination_port": 8_080,
        "destination_vpc_id": "vpc-0def5678",
        "transport": "UDP",
        "bytes": 6_842,
        "packets": 13,
        "flow_direction": "ingress",
        "scaled": "raw",
        "temporality": "delta",
        "byte_layer": "packet",
    }

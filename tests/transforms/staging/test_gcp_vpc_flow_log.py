import json
from copy import deepcopy
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
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
from transforms.staging.gcp_vpc_flow_log import PARSER
from transforms.staging.parser import RawRecord

PAYLOAD = {
    "connection": {
        "src_ip": "10.20.1.61",
        "src_port": 40_112,
        "dest_ip": "10.20.2.17",
        "dest_port": 443,
        "protocol": 6,
    },
    "reporter": "SRC",
    "bytes_sent": "40009",
    "packets_sent": "30",
    "rtt_msec": "36",
    "start_time": "2026-03-11T10:02:00.000000123Z",
    "end_time": "2026-03-11T10:03:10.250000999Z",
    "src_instance": {
        "project_id": "ml-project",
        "region": "europe-west1",
        "zone": "europe-west1-b",
        "vm_name": "gke-train-pool-1-a",
    },
    "src_vpc": {
        "project_id": "net-project",
        "vpc_name": "shared",
        "subnetwork_name": "nodes",
    },
    "src_gke_details": {
        "cluster": {"cluster_name": "train", "cluster_location": "europe-west1"},
        "pod": {
            "pod_name": "job-0",
            "pod_namespace": "ml",
            "pod_workload": {"workload_name": "job", "workload_type": "STATEFUL_SET"},
        },
        "service": [
            {"service_name": "web", "service_namespace": "ml"},
            {"service_name": "api", "service_namespace": "ml"},
        ],
    },
    "dest_instance": {
        "project_id": "data-project",
        "region": "europe-west4",
        "zone": "europe-west4-a",
        "vm_name": "gke-serve-pool-1-b",
    },
    "dest_vpc": {
        "project_id": "net-project",
        "vpc_name": "data",
        "subnetwork_name": "data-nodes",
    },
    "dest_gke_details": {
        "cluster": {"cluster_name": "serve"},
        "pod": {
            "pod_name": "cache-7",
            "pod_namespace": "data",
            "pod_workload": {"workload_name": "cache", "workload_type": "DEPLOYMENT"},
        },
        "service": [{"service_name": "cache", "service_namespace": "data"}],
    },
    "src_google_service": {"type": "GOOGLE_API"},
    "dest_google_service": {"type": "GOOGLE_API", "service_name": "storage.googleapis.com"},
}
ENTRY = {
    "insertId": "1abcd2",
    "jsonPayload": PAYLOAD,
    "logName": "projects/net-project/logs/compute.googleapis.com%2Fvpc_flows",
    "receiveTimestamp": "2026-03-11T10:03:20.5Z",
    "resource": {
        "type": "gce_subnetwork",
        "labels": {
            "project_id": "net-project",
            "location": "europe-west1-b",
            "subnetwork_name": "nodes",
            "subnetwork_id": "758019854043528829",
        },
    },
    "timestamp": "2026-03-11T10:03:20.123456789Z",
}
START = datetime(2026, 3, 11, 10, 2, tzinfo=UTC)
END = datetime(2026, 3, 11, 10, 3, 10, 250_001, tzinfo=UTC)
EVERYTHING = {
    "start_at": START,
    "end_at": END,
    "account_id": "ml-project",
    "instance_id": "gke-train-pool-1-a",
    "vpc_id": "net-project/shared",
    "subnet_id": "nodes",
    "zone_id": "europe-west1-b",
    "region": "europe-west1",
    "source_address": "10.20.1.61",
    "source_port": 40_112,
    "source_service": "GOOGLE_API",
    "source_cluster_name": "train",
    "source_namespace": "ml",
    "source_pod_name": "job-0",
    "source_workload": "StatefulSet/job",
    "source_cluster_services": ["ml/api", "ml/web"],
    "source_node": "gke-train-pool-1-a",
    "source_zone": "europe-west1-b",
    "source_region": "europe-west1",
    "source_vpc_id": "net-project/shared",
    "destination_address": "10.20.2.17",
    "destination_port": 443,
    "destination_service": "storage.googleapis.com",
    "destination_cluster_name": "serve",
    "destination_namespace": "data",
    "destination_pod_name": "cache-7",
    "destination_workload": "Deployment/cache",
    "destination_cluster_services": ["data/cache"],
    "destination_node": "gke-serve-pool-1-b",
    "destination_zone": "europe-west4-a",
    "destination_region": "europe-west4",
    "destination_vpc_id": "net-project/data",
    "transport": "TCP",
    "bytes": 40_009,
    "packets": 30,
    "flow_direction": "egress",
    "round_trip_seconds": 0.036,
    "scaled": "scaled",
    "reporter": "SRC",
    "temporality": "delta",
    "byte_layer": "payload",
}
OF_THE_DESTINATION = {
    "account_id": "data-project",
    "instance_id": "gke-serve-pool-1-b",
    "vpc_id": "net-project/data",
    "subnet_id": "data-nodes",
    "zone_id": "europe-west4-a",
    "region": "europe-west4",
    "flow_direction": "ingress",
    "reporter": "DEST",
}


def entry(*without: str, **changes) -> dict:
    """The entry with some of the payload's fields changed or left out (`a.b` inside `a`)."""
    found = deepcopy(ENTRY)
    found["jsonPayload"] |= changes
    for path in without:
        *outer, last = path.split(".")
        place = found["jsonPayload"]
        for key in outer:
            place = place[key]
        del place[last]
    return found


def connection(**changes) -> dict:
    return entry(connection=PAYLOAD["connection"] | changes)


def one(value, **context):
    text = value if isinstance(value, str) else json.dumps(value)
    (parsed,) = parse(PARSER, text, **context)
    check_each([parsed])
    check_rows([parsed])
    return parsed


def volume(value, **context):
    parsed = one(value, **context)
    assert parsed.reject is None, parsed.reject
    assert [table for table, _ in parsed.rows] == ["volume_records"]
    return parsed.rows[0][1]


def test_every_field_fills_its_column():
    assert stated(volume(ENTRY), "record_id") == EVERYTHING


def test_columns_of_the_interface_are_those_of_the_end_that_reports():
    found = volume(entry(reporter="DEST"))
    assert stated(found, "record_id") == EVERYTHING | OF_THE_DESTINATION


@pytest.mark.parametrize(("reporter", "side"), [("SRC_GATEWAY", "src"), ("DEST_GATEWAY", "dest")])
def test_a_gateway_that_reports_is_the_interface_and_no_machine(reporter, side):
    gateway = {"project_id": "wan", "location": "europe-west1", "name": "tunnel-1", "type": "VPN"}
    found = volume(entry(f"{side}_instance", reporter=reporter, **{f"{side}_gateway": gateway}))
    assert found["reporter"] == reporter
    assert (found["interface_id"], found["account_id"]) == ("tunnel-1", "wan")
    assert found["region"] == "europe-west1"
    assert stated(found).keys().isdisjoint({"instance_id", "zone_id", "flow_direction"})
    bare = volume(entry(f"{side}_instance", reporter=reporter))
    assert bare["interface_id"] is None


OPTIONAL = {
    "src_instance": (
        "account_id", "instance_id", "zone_id", "region", "source_node", "source_zone",
        "source_region",
    ),
    "src_instance.vm_name": ("instance_id", "source_node"),
    "src_instance.zone": ("zone_id", "source_zone"),
    "src_instance.region": ("region", "source_region"),
    "src_vpc.vpc_name": ("vpc_id", "source_vpc_id"),
    "src_gke_details": (
        "source_cluster_name", "source_namespace", "source_pod_name", "source_workload",
        "source_cluster_services",
    ),
    "src_gke_details.cluster": ("source_cluster_name",),
    "src_gke_details.pod": ("source_namespace", "source_pod_name", "source_workload"),
    "src_gke_details.pod.pod_workload": ("source_workload",),
    "src_gke_details.service": ("source_cluster_services",),
    "src_google_service": ("source_service",),
    "dest_instance": ("destination_node", "destination_zone", "destination_region"),
    "dest_vpc": ("destination_vpc_id",),
    "dest_gke_details": (
        "destination_cluster_name", "destination_namespace", "destination_pod_name",
        "destination_workload", "destination_cluster_services",
    ),
    "dest_google_service": ("destination_service",),
    "connection.src_ip": ("source_address",),
    "connection.src_port": ("source_port",),
    "connection.dest_ip": ("destination_address",),
    "connection.dest_port": ("destination_port",),
    "connection.protocol": ("transport",),
    "packets_sent": ("packets",),
    "rtt_msec": ("round_trip_seconds",),
}  # fmt: skip


@pytest.mark.parametrize("field", OPTIONAL)
def test_what_is_absent_or_null_leaves_its_columns_empty(field):
    left = {name: value for name, value in EVERYTHING.items() if name not in OPTIONAL[field]}
    if field == "src_instance":
        left["account_id"] = "net-project"
    absent = volume(entry(field))
    assert stated(absent, "record_id") == left
    *outer, last = field.split(".")
    null = deepcopy(ENTRY)
    place = null["jsonPayload"]
    for key in outer:
        place = place[key]
    place[last] = None
    assert stated(volume(null), "record_id") == left


def test_base_fields_alone_make_a_record():
    base = {
        name: PAYLOAD[name]
        for name in ("connection", "reporter", "bytes_sent", "start_time", "end_time")
    }
    found = volume(ENTRY | {"jsonPayload": base})
    assert stated(found, "record_id") == {
        "start_at": START,
        "end_at": END,
        "account_id": "net-project",
        "subnet_id": "nodes",
        "source_address": "10.20.1.61",
        "source_port": 40_112,
        "destination_address": "10.20.2.17",
        "destination_port": 443,
        "transport": "TCP",
        "bytes": 40_009,
        "flow_direction": "egress",
        "scaled": "scaled",
        "reporter": "SRC",
        "temporality": "delta",
        "byte_layer": "payload",
    }


def test_a_network_without_a_project_keeps_its_name():
    assert volume(entry("src_vpc.project_id"))["vpc_id"] == "shared"


def test_more_than_two_services_are_not_named():
    many = PAYLOAD["src_gke_details"] | {"service": [{"service_name": "MANY_SERVICES"}]}
    assert volume(entry(src_gke_details=many))["source_cluster_services"] is None
    none = PAYLOAD["src_gke_details"] | {"service": []}
    assert volume(entry(src_gke_details=none))["source_cluster_services"] is None


@pytest.mark.parametrize(
    ("kind", "workload"),
    [
        ("JOB", "Job/job"), ("CRON_JOB", "CronJob/job"), ("REPLICA_SET", "ReplicaSet/job"),
        ("DAEMON_SET", "DaemonSet/job"), ("", "job"),
    ],
)  # fmt: skip
def test_workloads_are_named_as_kubernetes_names_their_kinds(kind, workload):
    details = {"pod": {"pod_workload": {"workload_name": "job", "workload_type": kind}}}
    assert volume(entry(src_gke_details=details))["source_workload"] == workload


@pytest.mark.parametrize(
    ("protocol", "transport", "port"),
    [(6, "TCP", 0), (17, "UDP", 0), (1, "ICMP", None), (50, "ESP", None), (253, "253", None)],
)
def test_protocols_have_names_and_port_0_is_none_where_there_are_no_ports(
    protocol, transport, port
):
    found = volume(connection(protocol=protocol, src_port=0, dest_port=0))
    assert (found["transport"], found["source_port"]) == (transport, port)


@pytest.mark.parametrize("number", [40_009, "40009", 40_009.0])
def test_numbers_may_be_text_or_floats(number):
    assert volume(entry(bytes_sent=number, packets_sent=number))["bytes"] == 40_009
    assert volume(connection(src_port=443.0, protocol="6"))["source_port"] == 443


def test_a_number_beyond_what_a_float_holds_stays_exact():
    assert volume(entry(bytes_sent=str(2**63 - 1)))["bytes"] == 2**63 - 1


def test_zero_bytes_are_a_record():
    found = volume(entry(bytes_sent="0", packets_sent="1"))
    assert (found["bytes"], found["packets"]) == (0, 1)


def test_an_interval_of_one_packet_lasts_a_microsecond():
    found = volume(entry(end_time=PAYLOAD["start_time"]))
    assert found["end_at"] - found["start_at"] == timedelta(microseconds=1)


def test_the_temporality_is_a_difference_unless_the_export_says_otherwise():
    assert volume(ENTRY, temporality="cumulative")["temporality"] == "cumulative"


# -- shapes --------------------------------------------------------------------------------------


def table_row(**changes) -> dict:
    """The entry as a row of BigQuery: floats, null fields, a time with a blank."""
    found = deepcopy(ENTRY) | {"timestamp": "2026-03-11 10:03:20.123456 UTC"}
    found["jsonPayload"]["connection"] |= {
        "src_port": 40_112.0, "dest_port": 443.0, "protocol": 6.0,
    }  # fmt: skip
    found["jsonPayload"] |= {"src_gateway": None, "dest_location": None}
    return found | {"labels": [], "httpRequest": None, "severity": None} | changes


def test_a_row_of_a_table_is_the_entry_that_it_was_made_of():
    assert volume(table_row()) == volume(ENTRY)


def test_a_row_of_a_linked_data_set_is_the_entry_that_it_was_made_of():
    row = table_row(insert_id=ENTRY["insertId"], log_name=ENTRY["logName"], json_payload=PAYLOAD)
    for name in ("insertId", "logName", "jsonPayload"):
        del row[name]
    assert volume(row) == volume(ENTRY)
    assert volume(row | {"json_payload": json.dumps(PAYLOAD)}) == volume(ENTRY)


def test_a_payload_alone_is_a_record():
    found = volume(PAYLOAD)
    assert stated(found, "record_id") == EVERYTHING
    shuffled = dict(reversed(PAYLOAD.items()))
    assert stated(volume(shuffled), "record_id") == EVERYTHING


def test_an_array_holds_an_entry_per_item():
    text = json.dumps([ENTRY, {"logName": "projects/p/logs/other"}, 7], indent=1).encode()
    found = parse(PARSER, [RawRecord("$", 0, text)])
    check_each(found)
    assert [(p.locator, word(p)) for p in found] == [
        ("$[0]", "accepted"), ("$[1]", "other_log"), ("$[2]", "wrong_type"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "fate"),
    [
        ({"logName": "projects/p/logs/networkmanagement.googleapis.com%2Fvpc_flows"}, "accepted"),
        ({"logName": None}, "accepted"),
        ({"logName": None, "resource": {"type": "vpc_flow_logs_config"}}, "accepted"),
        ({"logName": None, "resource": None}, "accepted"),
        ({"logName": None, "resource": {"type": "gce_instance"}}, "other_log"),
        ({"logName": "projects/p/logs/compute.googleapis.com%2Ffirewall"}, "other_log"),
    ],
)
def test_entries_of_other_logs_are_ignored(changes, fate):
    assert word(one(ENTRY | changes)) == fate


def test_an_entry_is_identified_by_its_id_and_time():
    first = volume(ENTRY)["record_id"]
    assert volume(entry(packets_sent="31"))["record_id"] == first
    assert volume(ENTRY | {"insertId": "other"})["record_id"] != first
    assert volume(ENTRY | {"timestamp": "2026-03-11T10:03:21Z"})["record_id"] != first
    without = {name: value for name, value in ENTRY.items() if name != "insertId"}
    assert volume(without)["record_id"] == volume(json.dumps(without, indent=None))["record_id"]
    assert volume(without)["record_id"] != first


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (entry("bytes_sent"), "bytes_sent"),
        (entry(bytes_sent="-5"), "bytes_sent"),
        (entry(bytes_sent=5.5), "bytes_sent"),
        (entry(bytes_sent=2**63), "bytes_sent"),
        (entry(bytes_sent="9223372036854775808"), "bytes_sent"),
        (entry(bytes_sent=[5]), "wrong_type"),
        (entry(bytes_sent=True), "wrong_type"),
        (entry(packets_sent="x"), "packets_sent"),
        (entry(rtt_msec="-1"), "rtt_msec"),
        (entry("reporter"), "reporter"),
        (entry(reporter="BOTH"), "reporter"),
        (entry("start_time"), "no_time"),
        (entry("end_time"), "no_time"),
        (entry(start_time="yesterday"), "interval"),
        (entry(end_time="9999-12-31T23:59:59.999999Z"), "interval"),
        (entry(end_time="2026-03-11T10:01:59Z"), "interval"),
        (entry(end_time="2026-03-11T11:02:01Z"), "interval"),
        (entry(start_time=5), "wrong_type"),
        (connection(src_ip="10.20.1"), "src_ip"),
        (connection(dest_ip="localhost"), "dest_ip"),
        (connection(dest_ip="1" * 5_000), "dest_ip"),
        (connection(src_port=65_536), "src_port"),
        (connection(dest_port="x"), "dest_port"),
        (connection(protocol=256), "protocol"),
        (entry(src_instance="vm"), "wrong_type"),
        (entry(src_gke_details={"service": {}}), "wrong_type"),
        (ENTRY | {"jsonPayload": 5}, "wrong_type"),
        (ENTRY | {"jsonPayload": None}, "no_payload"),
        (ENTRY | {"jsonPayload": "{"}, "invalid_json"),
        (ENTRY | {"jsonPayload": " " * 300_000}, "payload"),
        (ENTRY | {"jsonPayload": {}}, "reporter"),
        (ENTRY | {"timestamp": "soon"}, "no_time"),
        ({}, "no_payload"),
        ("[[]]", "wrong_type"),
        ("{", "invalid_json"),
        ("x", "invalid_json"),
        ('{"a":' + "[" * 5_000, "too_deep"),
    ],
)
def test_an_entry_that_holds_something_else_is_refused(value, reason):
    assert word(one(value)) == reason


def test_what_looks_like_a_credential_is_not_written():
    secret = "ghp_FAKE0FAKE0FAKE0FAKE0FAKE0FAKE0FAKE01"
    details = {
        "cluster": {"cluster_name": secret},
        "pod": {
            "pod_name": secret,
            "pod_namespace": secret,
            "pod_workload": {"workload_name": secret, "workload_type": secret},
        },
        "service": [{"service_name": secret, "service_namespace": secret}],
    }
    place = {"project_id": secret, "region": secret, "zone": secret, "vm_name": secret}
    network = {"project_id": secret, "vpc_name": secret, "subnetwork_name": secret}
    service = {"type": secret, "service_name": secret}
    for side in ("src", "dest"):
        found = entry(
            **{
                f"{side}_instance": place, f"{side}_vpc": network, f"{side}_gke_details": details,
                f"{side}_google_service": service, "reporter": side.upper(),
            }
        )  # fmt: skip
        assert secret not in written([one(found)])
    for name in ("bytes_sent", "reporter", "start_time", "rtt_msec", "packets_sent"):
        assert secret not in written([one(entry(**{name: secret}))])
    for name in ("src_ip", "src_port", "protocol"):
        assert secret not in written([one(connection(**{name: secret}))])


@settings(max_examples=40)
@given(at=st.integers(0, 2), cuts=CUTS)
def test_damage_of_one_entry_changes_no_other(at, cuts):
    values = [ENTRY, entry(reporter="DEST") | {"insertId": "b"}, table_row(insertId="c")]
    records = lines("\n".join(json.dumps(value) for value in values))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, records), clean, at)


# -- a worked example ----------------------------------------------------------------------------


def test_both_ends_report_both_directions_and_each_packet_counts_once_per_reporter():
    """A asks B for 5,342 bytes with 1,224: four records of 13,132 bytes, twice what was sent.

    A reports what it sent (SRC) and what came back (DEST), B reports the same from its side.
    """
    a, b = ("10.20.1.61", 40_112), ("10.20.2.17", 443)
    instances = {a: "vm-a", b: "vm-b"}

    def told(insert_id, source, destination, reporter, sent):
        ends = {
            "src_ip": source[0], "src_port": source[1], "dest_ip": destination[0],
            "dest_port": destination[1], "protocol": 6,
        }  # fmt: skip
        payload = {
            "connection": ends,
            "reporter": reporter,
            "bytes_sent": str(sent),
            "start_time": PAYLOAD["start_time"],
            "end_time": PAYLOAD["end_time"],
            "src_instance": {"vm_name": instances[source]},
            "dest_instance": {"vm_name": instances[destination]},
        }
        return ENTRY | {"insertId": insert_id, "jsonPayload": payload}

    entries = [
        told("1", a, b, "SRC", 1_224),
        told("2", b, a, "DEST", 5_342),
        told("3", a, b, "DEST", 1_224),
        told("4", b, a, "SRC", 5_342),
    ]
    found = rows(parse(PARSER, "\n".join(map(json.dumps, entries))), "volume_records")
    assert len({row["record_id"] for row in found}) == 4
    assert sum(row["bytes"] for row in found) == 13_132
    seen = [(row["instance_id"], row["flow_direction"], row["bytes"]) for row in found]
    assert seen == [
        ("vm-a", "egress", 1_224),
        ("vm-a", "ingress", 5_342),
        ("vm-b", "ingress", 1_224),
        ("vm-b", "egress", 5_342),
    ]
    # What the source reports, once each.
    assert sum(row["bytes"] for row in found if row["reporter"] == "SRC") == 6_566


# -- recognition and real entries ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(ENTRY), 3),
        (json.dumps([ENTRY], indent=1), 3),
        (json.dumps([ENTRY], indent=1)[:700], 3),
        (json.dumps(PAYLOAD), 3),
        (json.dumps(table_row()), 3),
        (json.dumps({"log_name": ENTRY["logName"], "json_payload": json.dumps(PAYLOAD)}), 3),
        (json.dumps({"logName": "projects/p/logs/other"}) + "\n" + json.dumps(ENTRY), 3),
        (json.dumps(ENTRY | {"logName": "projects/p/logs/x%2Ffirewall"}), 0),
        (json.dumps({"connection": {"src_ip": "10.0.0.1", "dest_ip": "10.0.0.2"}}), 0),
        (json.dumps({"jsonPayload": {"queryName": "example.com."}}), 0),
        ("{}", 0),
        ("[]", 0),
        ("reporter", 0),
    ],
)
def test_the_format_is_recognised_by_the_payload(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_values_of_real_entries_are_those_that_stand_in_them(samples):
    found = parse_file(PARSER, samples / "counters" / "gcp_vpcflow_logentries.jsonl")
    check_each(found)
    check_rows(found)
    assert words(found) == {"accepted": 3}
    declared = {"scaled": "scaled", "temporality": "delta", "byte_layer": "payload"}
    kibana = {
        "account_id": "my-sample-project",
        "instance_id": "kibana",
        "vpc_id": "my-sample-project/default",
        "subnet_id": "default",
        "zone_id": "us-east1-b",
        "region": "us-east1",
    }
    first, second, third = (stated(row, "record_id") for row in rows(found, "volume_records"))
    assert first == declared | kibana | {
        "start_at": datetime(2019, 6, 14, 3, 45, 37, 186_193, tzinfo=UTC),
        "end_at": datetime(2019, 6, 14, 3, 45, 37, 301_954, tzinfo=UTC),
        "source_address": "10.87.40.76",
        "source_port": 5_601,
        "source_node": "kibana",
        "source_zone": "us-east1-b",
        "source_region": "us-east1",
        "source_vpc_id": "my-sample-project/default",
        "destination_address": "203.0.113.12",
        "destination_port": 33_478,
        "transport": "TCP",
        "bytes": 1_776,
        "packets": 7,
        "flow_direction": "egress",
        "round_trip_seconds": 0.036,
        "reporter": "SRC",
    }
    assert second == declared | kibana | {
        "start_at": datetime(2019, 6, 14, 3, 40, 8, 466_657, tzinfo=UTC),
        "end_at": datetime(2019, 6, 14, 3, 49, 51, 821_303, tzinfo=UTC),
        "source_address": "198.51.100.248",
        "source_port": 9_200,
        "source_node": "elasticsearch",
        "source_zone": "us-east1-b",
        "source_region": "us-east1",
        "source_vpc_id": "my-sample-project/default",
        "destination_address": "10.87.40.76",
        "destination_port": 33_970,
        "destination_node": "kibana",
        "destination_zone": "us-east1-b",
        "destination_region": "us-east1",
        "destination_vpc_id": "my-sample-project/default",
        "transport": "TCP",
        "bytes": 173_663,
        "packets": 68,
        "flow_direction": "ingress",
        "round_trip_seconds": 0.001,
        "reporter": "DEST",
    }
    assert third == declared | kibana | {
        "start_at": datetime(2019, 6, 14, 3, 40, 45, 860_349, tzinfo=UTC),
        "end_at": datetime(2019, 6, 14, 3, 40, 46, 31_033, tzinfo=UTC),
        "instance_id": "elasticsearch",
        "source_address": "10.139.99.242",
        "source_port": 22,
        "source_node": "elasticsearch",
        "source_zone": "us-east1-b",
        "source_region": "us-east1",
        "source_vpc_id": "my-sample-project/default",
        "destination_address": "192.0.2.23",
        "destination_port": 59_679,
        "transport": "TCP",
        "bytes": 0,
        "packets": 1,
        "flow_direction": "egress",
        "reporter": "SRC",
    }

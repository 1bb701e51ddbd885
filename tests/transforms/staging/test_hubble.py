import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CONTEXT,
    CUTS,
    check_each,
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
from tests.transforms.staging.hubble_events import (
    DNS_RESPONSE,
    FLOW,
    HTTP_RESPONSE,
    TIME,
    changed,
    flow_line,
    line,
)
from transforms.redaction import KeyedHash
from transforms.staging.hubble import PARSER
from transforms.staging.parser import RawRecord

AT = datetime(2026, 3, 10, 10, 0, 30, 500_000, UTC)
EVERYTHING = {
    "record_id": "56dced30-2f83-4c15-9370-cd7ab1e1e048",
    "event_at": AT,
    "uuid": "56dced30-2f83-4c15-9370-cd7ab1e1e048",
    "node": "node-1.example.com",
    "verdict": "FORWARDED",
    "direction": "EGRESS",
    "is_reply": False,
    "event_type": 4,
    "event_sub_type": 3,
    "observation_point": "TO_STACK",
    "trace_reason": "NEW",
    "transport": "TCP",
    "source_address": "192.0.2.11",
    "source_port": 41_012,
    "source_namespace": "ml",
    "source_pod_name": "train-0",
    "source_identity": 54_686,
    "source_endpoint_id": 2_570,
    "source_labels": ["k8s:app=train", "k8s:io.kubernetes.pod.namespace=ml"],
    "source_workload": "Job/train",
    "destination_address": "198.51.100.7",
    "destination_port": 443,
    "destination_identity": 16_777_217,
    "destination_labels": ["cidr:198.51.100.0/24", "reserved:world"],
    "tcp_flags": "SYN,ACK",
    "destination_names": ["storage.example.com"],
    "is_masked": False,
}


def one(text: str, **context):
    (parsed,) = parse(PARSER, text, **context)
    check_each([parsed])
    check_rows([parsed])
    return parsed


def accepted(text: str, **context):
    parsed = one(text, **context)
    assert parsed.reject is None, parsed.reject
    assert parsed.ignore is None, parsed.ignore
    return parsed


def flow(text: str, **context):
    (row,) = rows([accepted(text, **context)], "flows")
    return row


def changed_flow(event=FLOW, **changes):
    return flow(flow_line(event, **changes))


def column(name: str, event=FLOW, **changes):
    return changed_flow(event, **changes).get(name)


# --- one packet


def test_every_field_of_a_packet_fills_its_column():
    assert stated(flow(flow_line())) == EVERYTHING


def test_what_is_not_used_does_not_change_the_row():
    bare = changed(FLOW, dict.fromkeys(("emitter", "ethernet", "Type", "Summary"), ...))
    newer = changed(bare, {"extensions": {"@type": "x"}, "source.new_key": [1, {"a": None}]})
    assert stated(flow(line(newer, new_envelope_key={"a": [1]}))) == EVERYTHING


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-10T10:00:30Z", datetime(2026, 3, 10, 10, 0, 30, tzinfo=UTC)),
        ("2026-03-10T10:00:30.095Z", datetime(2026, 3, 10, 10, 0, 30, 95_000, UTC)),
        ("2026-03-10T10:00:30.095357Z", datetime(2026, 3, 10, 10, 0, 30, 95_357, UTC)),
        ("2026-03-10T10:00:30.095336999Z", datetime(2026, 3, 10, 10, 0, 30, 95_336, UTC)),
        ("2026-03-10T11:00:30+01:00", datetime(2026, 3, 10, 10, 0, 30, tzinfo=UTC)),
    ],
)
def test_times_have_any_number_of_digits_and_are_cut_to_microseconds(text, expected):
    assert column("event_at", time=text) == expected


def test_the_envelope_gives_time_and_node_where_the_flow_has_none():
    masked = changed(FLOW, {"time": ..., "node_name": ...})
    row = flow(line(masked, time=TIME, node_name="alder/node-2"))
    assert (row["event_at"], row["node"]) == (AT, "node-2")


def test_the_flow_wins_over_the_envelope():
    row = flow(line(FLOW, time="2020-01-01T00:00:00Z", node_name="other/node-9"))
    assert (row["event_at"], row["node"]) == (AT, "node-1.example.com")


def test_the_envelope_may_be_empty_but_for_the_flow():
    assert stated(flow(json.dumps({"flow": FLOW}))) == EVERYTHING


@pytest.mark.parametrize(
    ("stated_name", "expected"),
    [("alder/node-1", "node-1"), ("node-1", "node-1"), ("10.20.1.11", "10.20.1.11")],
)
def test_a_node_stands_without_its_cluster(stated_name, expected):
    assert column("node", node_name=stated_name) == expected


@pytest.mark.parametrize("absent", [..., "", "alder/", None])
def test_the_path_names_the_node_where_the_line_does_not(absent):
    text = line(changed(FLOW, {"node_name": absent}), node_name=None)
    assert flow(text, node="node-of-path")["node"] == "node-of-path"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"is_reply": True}, True),
        ({"is_reply": False}, False),
        ({"is_reply": ...}, None),
        ({"is_reply": None}, None),
        ({"is_reply": ..., "reply": True}, True),
        ({"is_reply": ..., "reply": False}, None),
        ({"is_reply": False, "reply": True}, False),
    ],
)
def test_the_direction_of_a_packet_is_null_where_it_is_not_stated(changes, expected):
    assert column("is_reply", **changes) is expected


@pytest.mark.parametrize(
    ("field", "value", "name", "expected"),
    [
        ("verdict", 2, "verdict", "DROPPED"),
        ("verdict", "2", "verdict", "DROPPED"),
        ("verdict", 15, "verdict", "15"),
        ("verdict", "RETRANSMISSION", "verdict", "RETRANSMISSION"),
        ("verdict", "VERDICT_UNKNOWN", "verdict", None),
        ("verdict", 0, "verdict", None),
        ("verdict", ..., "verdict", None),
        ("traffic_direction", 1, "direction", "INGRESS"),
        ("traffic_direction", 2, "direction", "EGRESS"),
        ("traffic_direction", 9, "direction", None),
        ("traffic_direction", "TRAFFIC_DIRECTION_UNKNOWN", "direction", None),
        ("traffic_direction", ..., "direction", None),
        ("trace_observation_point", 101, "observation_point", "TO_ENDPOINT"),
        ("trace_observation_point", 13, "observation_point", "TO_CRYPTO"),
        ("trace_observation_point", "UNKNOWN_POINT", "observation_point", None),
        ("trace_reason", 2, "trace_reason", "ESTABLISHED"),
        ("trace_reason", 77, "trace_reason", "77"),
        ("drop_reason_desc", "POLICY_DENIED", "drop_reason", "POLICY_DENIED"),
        ("drop_reason_desc", 206, "drop_reason", "206"),
        ("drop_reason", 181, "drop_reason", "181"),
    ],
)
def test_an_enum_may_be_a_number(field, value, name, expected):
    assert column(name, **{field: value}) == expected


def test_the_name_of_a_drop_reason_wins_over_its_number():
    assert column("drop_reason", drop_reason=181, drop_reason_desc="POLICY_DENY") == "POLICY_DENY"


@pytest.mark.parametrize(
    ("layer", "transport", "ports"),
    [
        ({"UDP": {"source_port": 53, "destination_port": 5353}}, "UDP", (53, 5353)),
        ({"SCTP": {"source_port": 7, "destination_port": 8}}, "SCTP", (7, 8)),
        ({"TCP": {"destination_port": 443}}, "TCP", (None, 443)),
        ({"TCP": {"source_port": 0, "destination_port": 443}}, "TCP", (None, 443)),
        ({"ICMPv4": {}}, "ICMPv4", (None, None)),
        ({"ICMPv6": {"type": 133}}, "ICMPv6", (None, None)),
        ({"VRRP": {"vrid": 1}}, "VRRP", (None, None)),
        ({"IGMP": {}}, "IGMP", (None, None)),
        ({}, None, (None, None)),
        # What a field mask over several protocols left behind: no telling which one it was.
        ({"TCP": {}, "UDP": {"destination_port": 53}}, None, (None, None)),
    ],
)
def test_the_transport_is_the_one_protocol_that_is_set(layer, transport, ports):
    row = changed_flow(l4=layer)
    assert row.get("transport") == transport
    assert (row.get("source_port"), row.get("destination_port")) == ports
    assert row.get("tcp_flags") is None


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"SYN": True}, "SYN"),
        ({"ACK": True, "PSH": True}, "PSH,ACK"),
        (
            dict.fromkeys(("NS", "CWR", "ECE", "URG", "ACK", "PSH", "RST", "SYN", "FIN"), True),
            "FIN,SYN,RST,PSH,ACK,URG,ECE,CWR,NS",
        ),
        ({"SYN": True, "ACK": False}, "SYN"),
        ({}, ""),
        (..., None),
    ],
)
def test_flags_stand_in_one_order_and_none_set_is_not_unknown(flags, expected):
    assert column("tcp_flags", l4__TCP__flags=flags) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
        ("2001:db8::0:1", "2001:db8::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("", None),
        (None, None),
    ],
)
def test_loosely_written_addresses_become_canonical(text, expected):
    assert column("source_address", IP__source=text) == expected
    assert column("destination_address", IP__destination=text) == expected
    assert column("source_xlated_address", IP__source_xlated=text) == expected


def test_ends_of_a_pod_a_host_and_a_masked_flow():
    row = changed_flow(
        source={"identity": 1, "labels": ["reserved:host"]},
        destination={"ID": 0, "identity": 0, "namespace": "", "labels": [], "workloads": []},
    )
    host = {k: v for k, v in stated(row).items() if k.startswith("source_")}
    assert host == {
        "source_address": "192.0.2.11",
        "source_port": 41_012,
        "source_identity": 1,
        "source_labels": ["reserved:host"],
    }
    masked = {k: v for k, v in stated(row).items() if k.startswith("destination_")}
    assert masked == {
        "destination_address": "198.51.100.7",
        "destination_port": 443,
        "destination_names": ["storage.example.com"],
    }


@pytest.mark.parametrize(
    ("workloads", "expected"),
    [
        ([{"name": "a", "kind": "Job"}, {"name": "b", "kind": "ReplicaSet"}], "Job/a"),
        ([{"name": "a"}], "a"),
        ([{"kind": "Job"}], None),
    ],
)
def test_the_first_workload_counts(workloads, expected):
    assert column("source_workload", source__workloads=workloads) == expected


def test_a_pod_uid_is_taken_where_a_newer_agent_exports_it():
    uid = "30EAAB61-3761-407B-BD1E-03CD0774362E"
    assert column("source_pod_uid", source__pod_uid=uid) == uid.lower()
    assert column("source_pod_uid", source__pod_uid="none") is None


def test_services_and_names_of_both_ends():
    row = changed_flow(
        source_service={"name": "web", "namespace": "ml"},
        destination_service={"name": "only-a-name"},
        source_names=["A.example.com", "b.example.com."],
        destination_names=[],
    )
    assert row["source_service"] == "ml/web"
    assert row["destination_service"] == "only-a-name"
    assert row["source_names"] == ["a.example.com", "b.example.com"]
    assert row["destination_names"] is None


def test_policies_that_denied_are_named():
    row = changed_flow(
        egress_denied_by=[
            {"name": "deny", "namespace": "ml", "revision": "6", "kind": "CiliumNetworkPolicy"}
        ],
        ingress_denied_by=[{"name": "all"}],
        policy_log=[""],
    )
    assert row["denied_by"] == ["CiliumNetworkPolicy/ml/deny", "//all"]


@pytest.mark.parametrize(
    ("event_type", "expected"),
    [
        ({"type": 4}, (4, 0)),
        ({"type": 1, "sub_type": 133}, (1, 133)),
        ({"sub_type": 3}, (None, 3)),
        ({}, (None, None)),
        (..., (None, None)),
    ],
)
def test_a_sub_type_of_0_is_left_out_by_the_exporter(event_type, expected):
    row = changed_flow(event_type=event_type)
    assert (row.get("event_type"), row.get("event_sub_type")) == expected


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ({"ingress_flow_count": 2, "egress_flow_count": 3, "unknown_direction_flow_count": 4}, 9),
        ({"egress_flow_count": 7}, 7),
        ({}, 0),
        (..., None),
    ],
)
def test_an_aggregated_line_counts_its_events(aggregate, expected):
    assert column("flow_count", aggregate=aggregate) == expected


def test_numbers_may_be_texts_as_protojson_writes_64_bits():
    row = changed_flow(source__identity="54686", l4__TCP__source_port="41012", proxy_port="14213")
    assert (row["source_identity"], row["source_port"]) == (54_686, 41_012)
    assert row["proxy_port"] == 14_213


def test_an_identity_may_have_32_bits():
    assert column("source_identity", source__identity=4_294_967_295) == 4_294_967_295


# --- masked lines and identity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"flow":{}}', {"is_masked": True}),
        (
            '{"flow":{"source":{"namespace":"nsA","pod_name":"podA"}}}',
            {"source_namespace": "nsA", "source_pod_name": "podA", "is_masked": True},
        ),
        (
            '{"flow":{"time":"2026-03-10T10:00:30.5Z","source":{},"destination":{}}}',
            {"event_at": AT, "is_masked": True},
        ),
        (
            '{"flow":{"time":"2026-03-10T10:00:30.5Z","destination":{"pod_name":"p"}}}',
            {"event_at": AT, "destination_pod_name": "p", "is_masked": False},
        ),
    ],
)
def test_a_masked_line_is_a_flow(text, expected):
    assert stated(flow(text), "record_id") == expected


def test_a_line_without_uuid_is_known_by_its_text():
    text = flow_line(uuid=...)
    first, again = flow(text)["record_id"], flow(text + "\r", export="another")["record_id"]
    assert first == again
    assert len(first) == 32
    assert flow(flow_line(uuid=..., verdict="ERROR"))["record_id"] != first
    assert flow(text, key_hash=KeyedHash(b"other"))["record_id"] != first
    assert len(flow(text, key_hash=KeyedHash(None))["record_id"]) == 32


MASKED = '{"flow":{}}'
AUDITED = '{"flow":{"verdict":"AUDIT"}}'


def ids_of(*lines):
    return [row["record_id"] for row in rows(parse(PARSER, "\n".join(lines)), "flows")]


def test_masked_lines_of_a_grown_file_repeat_those_of_the_file_that_it_grew_from():
    early = ids_of(MASKED, AUDITED, MASKED)
    assert ids_of(MASKED, AUDITED, MASKED, AUDITED)[:3] == early
    assert len(set(early)) == 3


def test_masked_lines_that_stand_alike_in_another_file_are_other_records():
    """Where one line differs, all behind it are of another file."""
    first = ids_of(MASKED, AUDITED, MASKED, MASKED)
    second = ids_of(MASKED, MASKED, MASKED, MASKED)
    assert first[0] == second[0]
    assert set(first[1:]).isdisjoint(second[1:])


def test_lines_that_say_when_and_where_have_no_part_in_the_lineage_of_masked_ones():
    assert ids_of(MASKED, flow_line())[0] == ids_of(MASKED)[0]
    assert ids_of(flow_line(uuid=...), MASKED)[0] == ids_of(flow_line(uuid=...))[0]


@pytest.mark.parametrize("masked", ['{"flow":{}}', flow_line(uuid=..., time=...)])
def test_equal_masked_lines_are_apart_by_export_node_and_line(masked):
    ids = [row["record_id"] for row in rows(parse(PARSER, f"{masked}\n{masked}"), "flows")]
    assert len(set(ids)) == 2
    again = [row["record_id"] for row in rows(parse(PARSER, f"{masked}\n{masked}"), "flows")]
    assert again == ids
    for other in ({"export": "another"}, {"node": "node-9"}):
        assert flow(masked, **other)["record_id"] not in ids


# --- L7


def test_a_dns_response_fills_flows_and_look_ups():
    parsed = accepted(line(DNS_RESPONSE))
    assert [table for table, _ in parsed.rows] == ["flows", "dns_lookups"]
    (row,) = rows([parsed], "flows")
    assert {k: v for k, v in stated(row).items() if k.startswith(("dns_", "l7_"))} == {
        "l7_type": "RESPONSE",
        "dns_query": "storage.example.com",
        "dns_query_types": ["A"],
        "dns_addresses": ["198.51.100.7", "2001:db8::7"],
        "dns_canonical_names": ["edge.example.com"],
        "dns_ttl_seconds": 30,
        "dns_rcode": 0,
    }
    (lookup,) = rows([parsed], "dns_lookups")
    assert lookup == {
        "record_id": "c938628b-0c3a-4440-9ecd-3e3ca00d3a16",
        "event_at": datetime(2026, 3, 10, 10, 0, 31, tzinfo=UTC),
        "node": "node-1.example.com",
        "client_address": "192.0.2.11",
        "client_port": 54_314,
        "client_namespace": "ml",
        "client_pod_name": "train-0",
        "client_pod_uid": None,
        "resolver_address": "192.0.2.53",
        "transport": "UDP",
        "query_name": "storage.example.com",
        "original_query_name": "storage.example.com",
        "query_type": "A",
        "rcode": "NOERROR",
        "answers": [
            {"name": None, "type": "CNAME", "data": "edge.example.com", "ttl": 30},
            {"name": None, "type": "A", "data": "198.51.100.7", "ttl": 30},
            {"name": None, "type": "AAAA", "data": "2001:db8::7", "ttl": 30},
        ],
        "is_response": True,
    }


def test_a_response_without_answers_has_no_time_to_live():
    row, lookup = (
        values
        for _, values in accepted(
            flow_line(
                DNS_RESPONSE,
                l7__dns={
                    "query": "storage.example.com.ml.svc.cluster.local.",
                    "ttl": 4_294_967_295,
                    "rcode": 3,
                    "qtypes": ["AAAA"],
                },
            )
        ).rows
    )
    assert row["dns_ttl_seconds"] is None
    assert (row["dns_addresses"], row["dns_canonical_names"]) == ([], [])
    assert row["dns_rcode"] == 3
    assert (lookup["rcode"], lookup["answers"]) == ("NXDOMAIN", [])
    assert lookup["original_query_name"] == "storage.example.com.ml.svc.cluster.local"
    assert lookup["query_name"] == "storage.example.com"


def test_a_time_to_live_of_0_is_left_out_by_the_exporter():
    assert column("dns_ttl_seconds", DNS_RESPONSE, l7__dns__ttl=...) == 0
    assert column("dns_ttl_seconds", DNS_RESPONSE, l7__dns={"query": "a.example.com."}) is None


REQUEST = {"query": "storage.example.com.", "observation_source": "proxy", "qtypes": ["A"]}


@pytest.mark.parametrize(
    ("changes", "lookups"),
    [
        ({"verdict": "FORWARDED"}, 0),
        ({"verdict": "REDIRECTED"}, 0),
        ({"verdict": ...}, 0),
        ({"verdict": "DROPPED"}, 1),
        ({"verdict": "ERROR"}, 1),
        ({"verdict": "DROPPED", "traffic_direction": "INGRESS"}, 0),
    ],
)
def test_a_request_is_a_look_up_only_where_no_response_can_follow(changes, lookups):
    parsed = accepted(flow_line(DNS_RESPONSE, l7={"type": "REQUEST", "dns": REQUEST}, **changes))
    (row,) = rows([parsed], "flows")
    assert row["dns_query"] == "storage.example.com"
    assert row.get("dns_rcode") is None
    assert row.get("dns_addresses") is None
    found = rows([parsed], "dns_lookups")
    assert len(found) == lookups
    for lookup in found:
        assert (lookup["client_address"], lookup["client_port"]) == ("192.0.2.53", 53)
        assert lookup["resolver_address"] == "192.0.2.11"
        assert lookup.get("rcode") is None
        assert lookup.get("answers") is None
        assert lookup["is_response"] is False


@pytest.mark.parametrize(
    "changes",
    [
        {"time": ...},
        {"l7__dns__query": ...},
        {"l7__type": ...},
        {"l7__type": "SAMPLE"},
        {"traffic_direction": "INGRESS"},
    ],
)
def test_a_message_that_is_no_whole_look_up_of_a_client_fills_flows_only(changes):
    parsed = accepted(flow_line(DNS_RESPONSE, **changes))
    assert [table for table, _ in parsed.rows] == ["flows"]


def test_http_keeps_method_host_path_status_and_latency():
    row = flow(line(HTTP_RESPONSE))
    assert {k: v for k, v in stated(row).items() if k.startswith(("http_", "l7_", "lat"))} == {
        "l7_type": "RESPONSE",
        "http_method": "GET",
        "http_host": "mirror.example.com",
        "http_path": "/simple/torch/",
        "http_status": 200,
        "latency_seconds": 0.0401,
    }


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("http://example.com", "example.com", "/"),
        ("https://user:pw@example.com:443/a/b?c=d#e", "example.com", "/a/b"),
        ("http://[2001:DB8::1]:8080/x", "2001:db8::1", "/x"),
        ("/only/a/path?q=1", None, "/only/a/path"),
        ("//user:pw@example.com/x", "example.com", "/x"),
        ("example.com:443", "example.com", None),
        ("user:pw@example.com:443", "example.com", None),
        ("*", None, "*"),
        ("", None, None),
        ("?token=x", None, None),
        ("http://a@b@example.com/", "example.com", "/"),
        ("http://example.com?token=x", "example.com", "/"),
    ],
)
def test_urls_lose_port_userinfo_query_and_fragment(url, host, path):
    row = changed_flow(HTTP_RESPONSE, l7__http__url=url)
    assert (row["http_host"], row["http_path"]) == (host, path)


def test_generic_l7_has_its_type_only():
    row = changed_flow(l7={"type": 3, "kafka": {"topic": "t"}})
    assert row["l7_type"] == "SAMPLE"
    assert row["latency_seconds"] is None
    assert row.get("dns_query") is None


# --- other events


def test_lost_events_are_loss_reports_with_their_interval():
    lost = {
        "source": "OBSERVER_EVENTS_QUEUE",
        "num_events_lost": "42",
        "cpu": 0,
        "first": "2026-03-10T10:06:00.123456789Z",
        "last": "2026-03-10T10:06:02Z",
    }
    text = line(lost, "lost_events", node_name="alder/node-1", time=TIME)
    (row,) = rows([accepted(text)], "loss_reports")
    assert stated(row, "record_id") == {
        "source": "flows",
        "node": "node-1",
        "event_at": AT,
        "start_at": datetime(2026, 3, 10, 10, 6, 0, 123_456, UTC),
        "end_at": datetime(2026, 3, 10, 10, 6, 2, tzinfo=UTC),
        "lost_count": 42,
        "kind": "lost",
        "reason": "OBSERVER_EVENTS_QUEUE",
    }


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        ({}, (None, None)),
        ({"source": 1, "num_events_lost": 3}, (3, "PERF_EVENT_RING_BUFFER")),
        ({"num_events_lost": "9223372036854775807"}, (9_223_372_036_854_775_807, None)),
        ({"source": "NEW_SOURCE", "first": TIME, "last": TIME}, (None, "NEW_SOURCE")),
    ],
)
def test_lost_events_may_say_little(lost, expected):
    (row,) = rows([accepted(line(lost, "lost_events"))], "loss_reports")
    assert (row["lost_count"], row["reason"]) == expected
    assert (row["start_at"], row["end_at"], row["event_at"]) == (None, None, None)


def test_a_node_that_relay_cannot_reach_is_a_loss():
    status = {"state_change": "NODE_UNAVAILABLE", "node_names": ["alder/n1", "n2"], "message": "x"}
    found = rows([accepted(line(status, "node_status", time=TIME))], "loss_reports")
    assert [row["node"] for row in found] == ["n1", "n2"]
    assert {(row["event_at"], row["kind"], row["reason"]) for row in found} == {
        (AT, "lost", "NODE_UNAVAILABLE")
    }
    (row,) = rows([accepted(line({"state_change": 3}, "node_status"))], "loss_reports")
    assert (row["node"], row["reason"]) == (None, "NODE_GONE")


IPCACHE = {
    "type": "IPCACHE_UPSERTED",
    "ipcache_update": {
        "cidr": "192.0.2.11/32",
        "identity": 54_686,
        "host_ip": "192.0.2.1",
        "namespace": "ml",
        "pod_name": "train-0",
    },
}


def test_an_agent_event_that_names_a_pods_address_is_a_flow_row():
    row = flow(line(IPCACHE, "agent_event", node_name="node-1", time=TIME))
    assert stated(row, "record_id") == {
        "event_at": AT,
        "node": "node-1",
        "event_type": 130,
        "source_address": "192.0.2.11",
        "source_identity": 54_686,
        "source_namespace": "ml",
        "source_pod_name": "train-0",
        "agent_event": "IPCACHE_UPSERTED",
        "is_masked": False,
    }


@pytest.mark.parametrize(
    ("cidr", "expected"),
    [("2001:DB8::1/128", "2001:db8::1"), ("192.0.2.11", "192.0.2.11")],
)
def test_a_prefix_of_one_host_is_an_address(cidr, expected):
    event = changed(IPCACHE, {"ipcache_update.cidr": cidr})
    assert flow(line(event, "agent_event"))["source_address"] == expected


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        ("agent_event", {}, "agent_event"),
        ("agent_event", {"type": "POLICY_UPDATED", "policy_update": {"revision": "7"}}, None),
        ("agent_event", {"type": "ENDPOINT_CREATED", "endpoint_update": {"pod_name": "p"}}, None),
        ("agent_event", changed(IPCACHE, {"ipcache_update.cidr": "192.0.2.0/24"}), None),
        ("agent_event", changed(IPCACHE, {"ipcache_update.pod_name": ...}), None),
        ("agent_event", changed(IPCACHE, {"ipcache_update.cidr": ...}), None),
        ("debug_event", {}, None),
        ("debug_event", {"type": "DBG_CT_LOOKUP", "hash": 0}, None),
        ("node_status", {"state_change": "NODE_CONNECTED", "node_names": ["n"]}, None),
        ("node_status", {}, None),
    ],
)
def test_other_events_are_ignored_by_their_kind(kind, body, reason):
    parsed = one(line(body, kind, node_name="node-1", time=TIME))
    assert parsed.ignore == (reason or kind)


def test_an_event_of_an_unknown_kind_is_ignored():
    parsed = one(line({"limit": 1}, "rate_limit_info", node_name="node-1", time=TIME))
    assert parsed.ignore == "unknown_event"


def test_a_flow_without_envelope_is_what_the_old_command_line_printed():
    assert stated(flow(json.dumps(FLOW))) == EVERYTHING


# --- refusals


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "invalid_json"),
        (flow_line()[:-1], "invalid_json"),
        (flow_line() + "}", "invalid_json"),
        (flow_line()[:-1] + ",}", "invalid_json"),
        (flow_line()[:-1] + ',"x":NaN}', "invalid_json"),
        (flow_line()[:-1] + ',"x":[1,]}', "invalid_json"),
        ("error msg=x", "invalid_json"),
        ("\x00" * 40, "invalid_json"),
        ('["flow"]', "not_an_object"),
        ("null", "not_an_object"),
        ("17", "not_an_object"),
        ('"flow"', "not_an_object"),
        ("{}", "no_event"),
        ('{"flow":null}', "no_event"),
        ('{"level":"info"}', "no_event"),
        ('{"flow":{},"lost_events":{}}', "several_payloads"),
    ],
)
def test_what_is_no_event_is_refused(text, reason):
    assert word(one(text)) == reason


def test_a_line_that_is_no_utf_8_is_refused_wherever_that_stands():
    for place in (b'"train-0"', b'"Hubble"'):
        text = flow_line().encode().replace(place, b'"\xff\xfe"')
        assert one(text).reject == "invalid_json: expected UTF-8"


@pytest.mark.parametrize("depth", [20_000, 200_000])
def test_a_line_that_is_nested_without_end_is_refused(depth):
    text = '{"x":' + "[" * depth + "]" * depth + ',"flow":{}}'
    assert word(one(text)) == "too_deep"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("time", 5), ("uuid", {}), ("verdict", 1.5), ("verdict", True), ("verdict", {}),
        ("IP", "x"), ("IP", []), ("IP.source", 5), ("l4", 5), ("l4.TCP", []),
        ("l4.TCP.source_port", True), ("l4.TCP.source_port", 1.5), ("l4.TCP.source_port", {}),
        ("l4.TCP.flags", "SYN"), ("l4.TCP.flags.SYN", 1), ("l4.ICMPv4", 8), ("source", 5),
        ("source.ID", []), ("source.identity", 1e3), ("source.namespace", 5),
        ("source.pod_name", False), ("source.labels", "x"), ("source.labels", [5]),
        ("source.labels", [None]), ("source.labels", ["a", {}]), ("source.workloads", {}),
        ("source.workloads", [5]), ("source.workloads", [{"name": 5}]),
        ("source.workloads", [{}, {"kind": 5}]), ("destination.pod_uid", 5),
        ("node_name", 5), ("destination_names", [5]), ("destination_service", "x"),
        ("destination_service.name", 5), ("is_reply", "true"), ("is_reply", 1), ("reply", "x"),
        ("event_type", 4), ("event_type.type", []), ("traffic_direction", []),
        ("trace_reason", {}), ("drop_reason", {}), ("drop_reason_desc", 1.0),
        ("l7", 5), ("l7.type", []), ("l7.latency_ns", 1.5), ("l7.dns", []), ("l7.dns.query", 5),
        ("l7.dns.ips", "x"), ("l7.dns.ips", [5]), ("l7.dns.ttl", {}), ("l7.dns.qtypes", [1]),
        ("l7.dns.rcode", []), ("l7.http", 5), ("l7.http.code", True),
        ("l7.http.url", 5), ("l7.http.method", 5), ("egress_denied_by", {}),
        ("egress_denied_by", ["x"]), ("egress_denied_by", [{"name": 5}]),
        ("proxy_port", []), ("aggregate", []), ("aggregate.egress_flow_count", {}),
    ],
)  # fmt: skip
def test_a_value_of_a_wrong_type_is_refused_with_its_path(path, value):
    parsed = one(line(changed(FLOW, {path: value})))
    assert word(parsed) == "wrong_type"
    assert f" at $.flow.{path}" in (parsed.reject or "")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("time", "yesterday"), ("time", "2026-02-30T00:00:00Z"), ("time", "1773136830"),
        ("uuid", "a b"), ("uuid", "x" * 200), ("verdict", "forwarded"), ("verdict", -1),
        ("traffic_direction", "SIDEWAYS"), ("IP.source", "192.0.2.256"), ("IP.source", "host"),
        ("IP.destination", "192.0.2.1/24"), ("l4.TCP.source_port", 65_536),
        ("l4.TCP.source_port", -1), ("l4.TCP.destination_port", "https"),
        ("l4.TCP.destination_port", " 443"), ("l4.TCP.destination_port", "0x1bb"),
        ("source.identity", 4_294_967_296), ("source.ID", 10**30), ("source.ID", ""),
        ("event_type.type", -4), ("drop_reason", -1), ("proxy_port", 70_000),
        ("l7.type", "OTHER"), ("l7.latency_ns", "1.5"), ("l7.dns.ttl", 4_294_967_296),
        ("l7.http.method", "GET /"), ("l7.dns.qtypes", ["A B"]),
        ("aggregate.egress_flow_count", -1),
    ],
)  # fmt: skip
def test_a_value_that_means_nothing_is_refused_with_its_path(path, value):
    parsed = one(line(changed(FLOW, {path: value})))
    assert word(parsed) == "wrong_value"
    assert f" at $.flow.{path}" in (parsed.reject or "")


def test_paths_of_a_flow_without_envelope_start_at_its_root():
    parsed = one(json.dumps(changed(FLOW, {"IP.source": "host"})))
    assert " at $.IP.source," in (parsed.reject or "")


@pytest.mark.parametrize(
    "changes",
    [
        {"l7__dns__ips": ["198.51.100.7", "not an address"]},
        {"l7__dns__rcode": 5_000},
    ],
)
def test_a_dns_message_with_a_senseless_answer_is_refused(changes):
    assert word(one(flow_line(DNS_RESPONSE, **changes))) == "wrong_value"


def test_more_lost_events_than_64_bits_hold_are_refused():
    text = line({"num_events_lost": "18446744073709551615"}, "lost_events")
    assert word(one(text)) == "wrong_value"


def test_a_byte_order_mark_is_no_part_of_a_line():
    assert stated(flow("\ufeff" + flow_line())) == EVERYTHING


def test_windows_line_ends_and_blank_lines_change_nothing():
    text = f"\r\n{flow_line()}\r\n  \n{flow_line(verdict='ERROR')}"
    parsed = parse(PARSER, text)
    assert [p.locator for p in parsed] == ["line 2", "line 4"]
    assert [row["verdict"] for row in rows(parsed, "flows")] == ["FORWARDED", "ERROR"]


# --- secrets


SECRET = "hf_FAKEtokenFAKEtokenFAKEtoken"


def test_no_header_summary_query_or_userinfo_is_kept():
    event = changed(
        HTTP_RESPONSE,
        {
            "l7.http.url": f"http://u:{SECRET}@example.com/a?X-Amz-Signature={SECRET}#{SECRET}",
            "l7.http.headers": [{"key": "Authorization", "value": f"Bearer {SECRET}"}],
            "Summary": f"HTTP/1.1 GET http://example.com/?token={SECRET}",
            "extensions": {"note": SECRET},
            "node_labels": [f"token={SECRET}"],
            "ethernet.source": SECRET,
            "policy_log": [SECRET],
        },
    )
    parsed = accepted(line(event, note=SECRET))
    assert SECRET not in written([parsed])
    assert rows([parsed], "flows")[0]["http_path"] == "/a"


@pytest.mark.parametrize(
    "path",
    [
        "source.namespace", "source.pod_name", "destination.workloads", "source.labels",
        "node_name", "destination_names", "source_service.name", "egress_denied_by",
        "l7.dns.query", "l7.dns.cnames", "l7.http.url",
    ],
)  # fmt: skip
def test_a_token_in_a_name_is_masked(path):
    as_list = {
        "destination.workloads": [{"name": SECRET, "kind": "Job"}],
        "source.labels": [f"k8s:key={SECRET}"],
        "destination_names": [SECRET],
        "egress_denied_by": [{"name": SECRET}],
        "l7.dns.cnames": [SECRET],
        "l7.http.url": f"/a/{SECRET}/b",
    }
    parsed = accepted(line(changed(DNS_RESPONSE, {path: as_list.get(path, SECRET)})))
    assert SECRET not in written([parsed])
    assert "***" in written([parsed])


@pytest.mark.parametrize(
    "path",
    ["time", "uuid", "verdict", "IP.source", "traffic_direction", "l7.http.method", "l7.dns.ips"],
)
def test_a_reason_never_quotes_the_value(path):
    secret = "password=FAKE secret"
    value = [secret] if path.endswith("ips") else secret
    parsed = one(line(changed(HTTP_RESPONSE, {path: value})))
    assert word(parsed) == "wrong_value"
    assert "FAKE" not in written([parsed])


def test_an_excerpt_shows_no_header_and_no_url():
    event = changed(
        HTTP_RESPONSE,
        {"l7.http.headers": [{"key": "X-Internal", "value": "plain secret"}], "IP.source": "here"},
    )
    parsed = one(line(event))
    assert word(parsed) == "wrong_value"
    for text in (parsed.raw, parsed.place.raw):
        assert b"plain secret" not in text
        assert b"token=" not in text
        assert b'"node_name":"alder/node-1.example.com"' in text


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (flow_line()[:-1] + ",}", len(flow_line())),
        ("\ufeff" + flow_line()[:-1] + ",}", len(flow_line()) + 3),
        (flow_line(verdict="forwarded"), flow_line(verdict="forwarded").index("forwarded")),
        (flow_line(l4__TCP__source_port=True), flow_line(l4__TCP__source_port=True).index("true,")),
    ],
)
def test_the_place_where_a_line_breaks_is_known(text, at):
    parsed = one(text)
    data = text.encode()
    assert parsed.place is not None
    assert parsed.place.raw[parsed.place.at :][:1] == data[at : at + 1]


# --- real lines


@pytest.mark.samples
@pytest.mark.parametrize(
    ("name", "fates", "tables"),
    [
        # Every line of the 2021 files is a flow; 114 and 41 of them are DNS responses.
        ("otel_10flows_gke_cilium1.10_2021", {"accepted": 10}, {"flows": 10}),
        ("otel_dns_gke_2021", {"accepted": 228}, {"flows": 228, "dns_lookups": 114}),
        ("otel_icmp_kind_2021", {"accepted": 18}, {"flows": 18}),
        ("otel_tcp_kind_2021", {"accepted": 197}, {"flows": 197}),
        ("otel_udp_dns_kind_2021", {"accepted": 223}, {"flows": 223, "dns_lookups": 41}),
        ("modern_v1.17-v1.19_real_lines", {"accepted": 8}, {"flows": 8}),
        # Five flows, three of them masked, an empty agent and debug event, two lost events.
        (
            "fieldmask_and_nonflow_lines",
            {"accepted": 7, "agent_event": 1, "debug_event": 1},
            {"flows": 5, "loss_reports": 2},
        ),
    ],
)
def test_real_files_are_read_whole(samples, name, fates, tables):
    path = samples / "hubble" / f"{name}.jsonl"
    parsed = parse_file(PARSER, path)
    check_each(parsed)
    check_rows(parsed)
    assert words(parsed) == fates
    assert {t: len(rows(parsed, t)) for t in PARSER.tables if rows(parsed, t)} == tables
    assert PARSER.recognise(path.read_bytes()[: 64 << 10]).score == 3


@pytest.mark.samples
def test_a_denied_packet_of_cilium_1_18(samples):
    parsed = parse_file(PARSER, samples / "hubble" / "modern_v1.17-v1.19_real_lines.jsonl")
    assert stated(rows(parsed, "flows")[4]) == {
        "record_id": "cd75b2ac-8dd3-486b-beca-3d17d9d56cff",
        "event_at": datetime(2026, 7, 31, 10, 41, 2, 202_450, UTC),
        "uuid": "cd75b2ac-8dd3-486b-beca-3d17d9d56cff",
        "node": "cilium-w1",
        "verdict": "DROPPED",
        "drop_reason": "POLICY_DENY",
        "direction": "EGRESS",
        "event_type": 5,
        "event_sub_type": 0,
        "transport": "TCP",
        "source_address": "10.0.1.235",
        "source_port": 60_524,
        "source_namespace": "net-lab",
        "source_pod_name": "traffic-generator-9b649846d-bxqfc",
        "source_identity": 24_753,
        "source_endpoint_id": 423,
        "source_labels": ["k8s:app=traffic-generator"],
        "source_workload": "Deployment/traffic-generator",
        "destination_address": "10.0.0.21",
        "destination_port": 80,
        "destination_namespace": "net-lab",
        "destination_pod_name": "echo-server-65887564dc-jjw7k",
        "destination_identity": 24_075,
        "destination_labels": ["k8s:app=echo-server"],
        "tcp_flags": "SYN",
        "denied_by": ["CiliumNetworkPolicy/net-lab/deny-tg-to-echo"],
        "is_masked": False,
    }


@pytest.mark.samples
def test_lines_before_is_reply_say_only_that_a_packet_is_a_reply(samples):
    parsed = parse_file(PARSER, samples / "hubble" / "otel_10flows_gke_cilium1.10_2021.jsonl")
    first, second = rows(parsed, "flows")[:2]
    assert (first["is_reply"], second["is_reply"]) == (True, None)
    assert first["observation_point"] == "TO_STACK"
    assert first["node"] == "gke-team-otel-demo-1-team-otel-demo-1-6114bb84-zr1l"


@pytest.mark.samples
def test_real_dns_look_ups(samples):
    gke = rows(parse_file(PARSER, samples / "hubble" / "otel_dns_gke_2021.jsonl"), "dns_lookups")
    # Line 2: NXDOMAIN of a name with two suffixes, ttl 4294967295.
    assert stated(gke[0], "record_id") == {
        "event_at": datetime(2021, 10, 4, 11, 22, 26, 593_860, UTC),
        "node": "gke-team-otel-demo-2-team-otel-demo-2-dac8cc20-hr0z",
        "client_address": "10.156.2.2",
        "client_port": 59_102,
        "client_namespace": "kube-system",
        "client_pod_name": "node-local-dns-88zrp",
        "resolver_address": "10.156.2.3",
        "transport": "TCP",
        "query_name": gke[0]["query_name"],
        "original_query_name": "istiod-istio-1611.istio-system.svc.istio-system.svc.cluster.local",
        "query_type": "A",
        "rcode": "NXDOMAIN",
        "answers": [],
        "is_response": True,
    }
    codes = [row["rcode"] for row in gke]
    assert (codes.count("NXDOMAIN"), codes.count("NOERROR")) == (86, 28)
    kind = rows(parse_file(PARSER, samples / "hubble/otel_udp_dns_kind_2021.jsonl"), "dns_lookups")
    assert kind[0]["query_name"] == "productpage.bookinfo.svc.cluster.local"
    assert kind[0]["answers"] == [{"name": None, "type": "A", "data": "10.245.218.54", "ttl": 19}]
    assert {row["rcode"] for row in kind} == {"NOERROR"}


@pytest.mark.samples
def test_real_http_messages(samples):
    found = rows(parse_file(PARSER, samples / "hubble" / "otel_tcp_kind_2021.jsonl"), "flows")
    http = [row for row in found if row.get("http_method")]
    assert len(http) == 33
    assert sum(row["http_status"] is not None for row in http) == 17
    assert {(row["http_host"], row["http_path"]) for row in http} == {
        ("reviews", "/reviews/0"),
        ("ratings", "/ratings/0"),
        ("productpage", "/productpage"),
        ("details", "/details/0"),
    }


@pytest.mark.samples
def test_echo_replies_are_known_by_their_empty_header(samples):
    found = rows(parse_file(PARSER, samples / "hubble" / "otel_icmp_kind_2021.jsonl"), "flows")
    assert {row["transport"] for row in found} == {"ICMPv4"}
    assert {row.get("source_port") for row in found} == {None}


# --- recognition


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (flow_line().encode(), 3),
        (flow_line().encode()[:300] + b"\n" + flow_line().encode(), 3),
        (line({}, "lost_events").encode(), 3),
        (line({}, "agent_event").encode(), 3),
        (line({}, "debug_event").encode(), 3),
        (line({}, "node_status").encode(), 3),
        (b"\xef\xbb\xbf" + flow_line().encode(), 3),
        (b'{"flow":{}}\n', 2),
        (flow_line().encode()[:500], 2),
        (json.dumps(FLOW).encode(), 2),
        (b"", 0),
        (b'{"verdict":"ok"}', 0),
        (b'{"a":1}\n', 0),
        (b"{}\n[]\n", 0),
        (b'{"kind":"Pod"}', 0),
    ],
)
def test_hubble_is_known_by_its_payload(head, score):
    assert PARSER.recognise(head).score == score


# --- damage


EVENTS = [
    flow_line(),
    line(DNS_RESPONSE),
    line(HTTP_RESPONSE),
    flow_line(uuid=...),
    line(IPCACHE, "agent_event", node_name="node-1", time=TIME),
    line({"num_events_lost": "3"}, "lost_events", node_name="node-1", time=TIME),
    line({}, "debug_event"),
    '{"flow":{}}',
]


@given(st.integers(0, len(EVENTS) - 1), CUTS)
def test_damage_of_one_line_changes_no_other(at, cuts):
    records = lines("\n".join(EVENTS))
    clean = parse(PARSER, records)
    broken = records[at]._replace(data=damaged(records[at].data, cuts))
    found = parse(PARSER, [*records[:at], broken, *records[at + 1 :]])
    check_each(found)
    check_rows(found)
    # A damaged line may hold several records; all of them say that they stand in that line.
    place = records[at].locator
    others = [p for p in found if p.locator != place and not p.locator.startswith(f"{place} ")]
    assert len(found) > len(others)
    assert others == clean[:at] + clean[at + 1 :]


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_any_bytes_are_accounted_for(texts):
    records = [RawRecord(f"line {i}", 0, text) for i, text in enumerate(texts)]
    found = list(PARSER.parse(records, CONTEXT))
    is_archive = bool(texts) and texts[0].startswith(b"PK\x03\x04")
    # A file that is an archive is refused once, whatever bytes of it look like lines.
    assert len(found) == (1 if is_archive else len(records))
    check_each(found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
PATHS = st.sampled_from(
    [
        "time", "uuid", "node_name", "verdict", "IP", "IP.source", "l4", "l4.TCP.source_port",
        "l4.TCP.flags", "source", "source.identity", "source.labels", "source.workloads",
        "destination.namespace", "event_type", "is_reply", "l7", "l7.dns", "l7.dns.ips",
        "l7.dns.ttl", "l7.http.url", "egress_denied_by", "aggregate", "traffic_direction",
    ]
)  # fmt: skip


@given(st.lists(st.tuples(PATHS, JSON), min_size=1, max_size=3))
def test_any_json_in_any_place_is_accepted_or_refused(changes):
    event = DNS_RESPONSE
    for path, value in changes:
        if all(isinstance(part, dict) for part in _parents(event, path)):
            event = changed(event, {path: value})
    parsed = parse(PARSER, json.dumps({"flow": event}))
    check_each(parsed)
    check_rows(parsed)


def _parents(event, path):
    found = [event]
    for key in path.split(".")[:-1]:
        if isinstance(found[-1], dict):
            found.append(found[-1].get(key, {}))
    return found

"""Connections stitched from events."""

import hashlib
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, network_row, rows_of, show
from transforms.day import BuildDay
from transforms.intermediate import connections
from transforms.sql import SqlSession

RUN = "0123456789abcdef0123456789abcdef"
OTHER_RUN = "fedcba9876543210fedcba9876543210"
POD, PEER, NODE, OUT = "192.0.2.1", "192.0.2.2", "192.0.2.250", "203.0.113.9"
CLIENT_PORT, PORT = 40000, 443
TABLES = (
    "flows", "dns_lookups", "pod_intervals", "node_states", "pod_states", "container_states",
    "services", "name_bindings", "address_ranges", "stages",
)  # fmt: skip

Rows = list[dict[str, Any]]


def moment(time: str | datetime) -> datetime:
    return at(time) if isinstance(time, str) else time


def sent(time: str | datetime, flags: str | None = "PSH,ACK", **more: Any) -> dict[str, Any]:
    """A packet of the client, as its own node saw it."""
    return {
        "event_at": moment(time),
        "cluster": "alder",
        "node": "node-a",
        "transport": "TCP",
        "tcp_flags": flags,
        "is_reply": False,
        "verdict": "FORWARDED",
        "direction": "EGRESS",
        "event_type": 4,
        "source_address": POD,
        "source_port": CLIENT_PORT,
        "source_endpoint_id": 7,
        "source_identity": 5000,
        "destination_address": OUT,
        "destination_port": PORT,
        "destination_identity": 2,
        **more,
    }


def answered(time: str | datetime, flags: str | None = "PSH,ACK", **more: Any) -> dict[str, Any]:
    """A packet of the server."""
    return {
        "event_at": moment(time),
        "cluster": "alder",
        "node": "node-a",
        "transport": "TCP",
        "tcp_flags": flags,
        "is_reply": True,
        "verdict": "FORWARDED",
        "direction": "EGRESS",
        "event_type": 4,
        "source_address": OUT,
        "source_port": PORT,
        "source_identity": 2,
        "destination_address": POD,
        "destination_port": CLIENT_PORT,
        "destination_endpoint_id": 7,
        "destination_identity": 5000,
        **more,
    }


def pod(uid: str, address: str = POD, start: str = "00:00", **more: Any) -> dict[str, Any]:
    began = at(start, days=-1) if start == "00:00" else at(start)
    return {
        "cluster": "alder",
        "namespace": "ml",
        "pod_name": f"pod-{uid}",
        "pod_uid": uid,
        "address": address,
        "start_at": began,
        "created_at": began,
        "node": "node-a",
        "run_uuid": RUN,
        "attempt": 1,
        **more,
    }


def build(
    flows: Rows, use: Callable[[SqlSession, str], Any], shift: int = 0, **tables: Rows
) -> Any:
    day = BuildDay(date=DAY + timedelta(days=shift), cluster="alder")
    shown: dict[str, Rows] = {name: [] for name in TABLES}
    shown |= {"flows": flows, "pod_intervals": [pod("a")], **tables}
    shown["pod_intervals"] = [p | {"date": day.date} for p in shown["pod_intervals"]]
    shown["name_bindings"] = [{"date": day.date} | b for b in shown["name_bindings"]]
    with SqlSession(threads=1) as session:
        show(session, **shown)
        return use(session, connections.build(session, day))


def of(flows: Rows, *, shift: int = 0, **tables: Rows) -> Rows:
    """Connections of one day, by start."""

    def take(session: SqlSession, name: str) -> Rows:
        return session.frame(name).sort("start_at", "connection_id").to_dicts()

    found: Rows = build(flows, take, shift, **tables)
    return found


def one(flows: Rows, **more: Any) -> dict[str, Any]:
    rows = of(flows, **more)
    assert len(rows) == 1
    return rows[0]


def starts(flows: Rows, **more: Any) -> list[datetime]:
    return [row["start_at"] for row in of(flows, **more)]


def ignored(flows: Rows, **tables: Rows) -> dict[str, int]:
    def take(session: SqlSession, name: str) -> dict[str, int]:
        assert session.frame(name).is_empty()
        return dict(rows_of(session, "connections_ignored", "reason", "event_count"))

    found: dict[str, int] = build(flows, take, **tables)
    return found


WHOLE = [
    sent("08:00", "SYN", trace_reason="NEW"),
    answered("08:00:00.002", "SYN,ACK"),
    sent("08:00:00.003", "ACK"),
    sent("08:00:10"),
    answered("08:00:20", "FIN,ACK"),
    sent("08:00:20.001", "FIN,ACK"),
]


def test_all_events_of_one_tuple_are_one_connection():
    row = one(WHOLE)
    assert (row["start_at"], row["end_at"]) == (at("08:00"), at("08:00:20.001"))
    assert (row["initiator_address"], row["initiator_port"]) == (POD, CLIENT_PORT)
    assert (row["responder_address"], row["responder_port"]) == (OUT, PORT)
    assert (row["initiator_pod_uid"], row["run_uuid"], row["attempt"]) == ("a", RUN, 1)
    assert row["initiator_match_kind"] == "address_window"
    assert row["responder_match_kind"] == "none"
    assert (row["event_count"], row["attempt_count"], row["has_reply"]) == (6, 1, True)
    assert (row["verdict"], row["drop_reason"]) == ("FORWARDED", None)
    assert (row["close_reason"], row["closed_after"], row["opened_before"]) == ("fin", False, False)
    assert (row["peer_kind"], row["resource_id"]) == ("outside", f"ip://{OUT}:443")
    assert row["stage"] == "unknown"


def test_the_id_is_of_the_tuple_the_start_date_and_the_ordinal():
    key = ["alder", "TCP", POD, "40000", OUT, "443", "2026-03-02", "1"]
    expected = hashlib.md5(chr(31).join(key).encode()).hexdigest()
    assert one(WHOLE)["connection_id"] == expected


def test_events_of_both_nodes_and_of_several_trace_points_are_not_counted_as_connections():
    other = {"node": "node-b", "source_endpoint_id": None, "direction": "INGRESS"}
    row = one([*WHOLE, sent("08:00:00.0004", "SYN", **other), sent("08:00:10.0004", **other)])
    assert (row["event_count"], row["attempt_count"]) == (8, 1)


# -- who began -------------------------------------------------------------------------------


def test_the_best_evidence_tells_who_began():
    """Each event is of another client port, so that it stands alone."""
    events = [
        (sent, "is_reply", {}),
        (answered, "is_reply", {}),
        (sent, "trace_reason", {"is_reply": None, "trace_reason": "NEW"}),
        (answered, "trace_reason", {"is_reply": None, "trace_reason": "REPLY"}),
        (sent, "syn", {"is_reply": None, "flags": "SYN"}),
        (answered, "syn", {"is_reply": None, "flags": "SYN,ACK"}),
        (sent, "lower_port", {"is_reply": None}),
        (answered, "lower_port", {"is_reply": None}),
    ]
    flows = []
    for number, (make, _, more) in enumerate(events):
        end = "source_port" if make is sent else "destination_port"
        flows.append(make("08:00", **({end: 40000 + number} | more)))
    rows = sorted(of(flows), key=lambda row: row["initiator_port"])
    assert [row["orientation_kind"] for row in rows] == [kind for _, kind, _ in events]
    assert {row["initiator_address"] for row in rows} == {POD}


def test_an_event_that_tells_nothing_follows_the_others_of_its_tuple():
    """The client has the lower port here, so that the port alone would turn it round."""
    low = {"source_port": 80, "is_reply": None}
    rows = of([sent("08:00", source_port=80), sent("08:00:01", **low)])
    assert [(row["initiator_port"], row["event_count"]) for row in rows] == [(80, 2)]
    assert rows[0]["orientation_kind"] == "is_reply"


def test_with_equal_ports_the_first_sender_is_only_supposed_to_have_begun():
    equal = {"source_port": 7000, "destination_port": 7000, "is_reply": None}
    row = one([answered("08:00:01", **equal), sent("08:00", **equal)])
    assert (row["orientation_kind"], row["initiator_address"]) == ("unknown", POD)


def test_masked_ports_are_kept_unknown():
    row = one([sent("08:00", source_port=None, destination_port=None)])
    assert (row["initiator_port"], row["responder_port"]) == (None, None)
    assert row["resource_id"] == f"ip://{OUT}"


def test_two_orientations_of_one_pair_of_ends_are_two_connections():
    rows = of([sent("08:00", "SYN"), answered("08:00:01", "SYN", is_reply=False)])
    assert sorted(row["initiator_address"] for row in rows) == [POD, OUT]


# -- one connection or several ---------------------------------------------------------------


def opening(*between: dict[str, Any]) -> Rows:
    return [sent("08:00", "SYN"), *between, sent("08:02", "SYN")]


ALIVE = [sent(at("08:00") + timedelta(seconds=s)) for s in range(5, 120, 50)]


def test_a_repeated_opening_is_an_attempt_while_nothing_ended_the_connection():
    row = one(opening(*ALIVE))
    assert row["attempt_count"] == 2


def test_openings_within_5_seconds_of_each_other_are_one_attempt():
    times = ("08:00", "08:00:01", "08:00:03", "08:00:07", "08:00:15")
    assert one([sent(time, "SYN") for time in times])["attempt_count"] == 2


@pytest.mark.parametrize("flags", ["FIN,ACK", "RST", "RST,ACK"])
def test_an_opening_behind_fin_or_rst_begins_another_connection(flags):
    rows = of(opening(*ALIVE, answered("08:01:50", flags)))
    assert [row["start_at"] for row in rows] == [at("08:00"), at("08:02")]
    assert rows[0]["close_reason"] == ("fin" if flags == "FIN,ACK" else "rst")
    assert rows[1]["close_reason"] is None


def test_an_opening_within_5_seconds_never_begins_another_connection():
    row = one([sent("08:00", "SYN"), answered("08:00:01", "RST"), sent("08:00:05", "SYN")])
    assert row["attempt_count"] == 1


def test_an_opening_behind_60_seconds_of_silence_begins_another_connection():
    rows = of(opening(sent("08:00:30")))
    assert [row["start_at"] for row in rows] == [at("08:00"), at("08:02")]
    assert (rows[0]["close_reason"], rows[0]["end_at"]) == ("reuse", at("08:00:30"))
    silent_before = [sent("08:00", "SYN"), sent("08:01:01"), sent("08:02", "SYN")]
    assert len(of(silent_before)) == 2


def test_silence_alone_never_ends_a_tcp_connection():
    row = one([sent("08:00", "SYN"), sent("11:00"), sent("17:00")])
    assert (row["end_at"], row["closed_after"], row["event_count"]) == (None, True, 3)


def test_an_opening_of_another_pod_begins_another_connection():
    """The address of a pod is reused with the same port within seconds."""
    old = {"source_namespace": "ml", "source_pod_name": "pod-a"}
    new = {"source_namespace": "ml", "source_pod_name": "pod-b"}
    pods = [pod("a", end_at=at("08:00:20")), pod("b", start="08:00:28")]
    flows = [
        sent("08:00", "SYN", **old),
        sent("08:00:15", **old),
        sent("08:00:29.5", **new),
        sent("08:00:30", "SYN", source_namespace=None),
        sent("08:00:30.0001", "SYN", **new),
        sent("08:00:40", **new),
    ]
    rows = of(flows, pod_intervals=pods)
    assert [(row["start_at"], row["initiator_pod_uid"], row["event_count"]) for row in rows] == [
        (at("08:00"), "a", 2),
        (at("08:00:29.5"), "b", 4),
    ]


def test_events_just_before_a_start_belong_to_it_unless_the_old_connection_ended_later():
    early = answered("08:01:59", "SYN,ACK")
    rows = of([sent("08:00", "SYN"), early, sent("08:02", "SYN")])
    assert [(row["start_at"], row["event_count"]) for row in rows] == [
        (at("08:00"), 1),
        (at("08:01:59"), 2),
    ]
    ended = [sent("08:01:58.5", "FIN,ACK"), answered("08:01:59", "ACK"), answered("08:01:59.9")]
    rows = of([sent("08:00", "SYN"), *ended, sent("08:02", "SYN")])
    assert [(row["start_at"], row["event_count"]) for row in rows] == [
        (at("08:00"), 4),
        (at("08:02"), 1),
    ]


def test_packets_behind_an_end_belong_to_the_connection_that_ended():
    row = one([*WHOLE, sent("08:00:21", "ACK"), answered("08:00:50", "RST")])
    assert (row["end_at"], row["close_reason"]) == (at("08:00:50"), "rst")


def test_connections_of_one_tuple_are_numbered_by_their_start():
    flows = [
        event
        for minute in (0, 10, 20)
        for event in (
            sent(f"08:{minute:02d}", "SYN"),
            answered(f"08:{minute:02d}:01", "RST"),
        )
    ]
    key = ["alder", "TCP", POD, "40000", OUT, "443", "2026-03-02"]
    expected = [hashlib.md5(chr(31).join([*key, str(n)]).encode()).hexdigest() for n in (1, 2, 3)]
    assert [row["connection_id"] for row in of(flows)] == expected


@pytest.mark.parametrize("transport", ["UDP", "SCTP"])
def test_other_transports_end_with_60_seconds_of_silence(transport):
    seconds = (0, 60, 120, 180.000001, 200)
    flows = [sent(at("08:00") + timedelta(seconds=s), None, transport=transport) for s in seconds]
    rows = of(flows)
    assert [(row["event_count"], row["close_reason"]) for row in rows] == [
        (3, "silence"),
        (2, "silence"),
    ]
    assert rows[0]["end_at"] == at("08:02")
    assert rows[0]["resource_id"] == f"ip://{OUT}:443/{transport.lower()}"


def test_a_datagram_exchange_of_the_last_minute_is_open_at_the_end_of_the_day():
    row = one([sent("23:59:30", None, transport="UDP")])
    assert (row["end_at"], row["closed_after"], row["close_reason"]) == (None, True, None)


# -- verdicts --------------------------------------------------------------------------------


def dropped(time: str, reason: str = "POLICY_DENY", **more: Any) -> dict[str, Any]:
    return sent(
        time, "SYN", is_reply=None, verdict="DROPPED", drop_reason=reason, event_type=1, **more
    )


def test_a_drop_without_a_reply_is_the_verdict():
    flows = [
        sent("08:00", "SYN", verdict="AUDIT", event_type=5),
        dropped("08:00:00.5", denied_by=["cnp/ml/b", "cnp/ml/a"]),
        dropped("08:00:10", "POLICY_DENIED", denied_by=["cnp/ml/a"]),
    ]
    row = one(flows)
    assert (row["verdict"], row["drop_reason"]) == ("DROPPED", "POLICY_DENY")
    assert row["denied_by"] == ["cnp/ml/a", "cnp/ml/b"]
    assert (row["close_reason"], row["end_at"]) == ("drop", at("08:00:10"))
    assert (row["attempt_count"], row["has_reply"]) == (2, False)
    assert row["first_error"] == "POLICY_DENY"


def test_a_denial_of_the_last_minute_may_go_on():
    assert one([dropped("23:59:30")])["closed_after"]


def test_with_a_reply_the_clients_side_is_the_verdict_and_the_drop_an_error():
    server = {"node": "node-b", "source_endpoint_id": None, "direction": "INGRESS"}
    flows = [
        sent("07:59:59.9", "SYN", verdict="TRACED", **server),
        sent("08:00", "SYN", verdict="REDIRECTED"),
        sent("08:00:00.1"),
        answered("08:00:00.2"),
        dropped("08:00:00.3"),
    ]
    row = one(flows)
    assert (row["verdict"], row["drop_reason"]) == ("REDIRECTED", None)
    assert row["first_error"] == "POLICY_DENY"


def test_a_verdict_that_nobody_knows_is_kept():
    assert one([sent("08:00", "SYN", verdict="15")])["verdict"] == "15"
    assert one([sent("08:00", "SYN", verdict=None)])["verdict"] is None


# -- days ------------------------------------------------------------------------------------

CROSSING = [
    sent("23:50", "SYN"),
    sent("23:59:59.999999"),
    answered(at("00:00:00.5", days=1)),
    sent(at("00:00:50", days=1), "PSH,ACK"),
    sent(at("00:01", days=1), "FIN,ACK"),
]


def test_a_connection_over_midnight_has_one_id_and_each_days_events():
    first, second = one(CROSSING), one(CROSSING, shift=1)
    assert first["connection_id"] == second["connection_id"]
    assert first["start_at"] == second["start_at"] == at("23:50")
    assert (first["end_at"], first["closed_after"]) == (None, True)
    assert (second["end_at"], second["closed_after"]) == (at("00:01", days=1), False)
    assert (first["event_count"], second["event_count"]) == (2, 3)
    assert (first["attempt_count"], second["attempt_count"]) == (1, 0)
    assert not second["opened_before"]


def test_a_day_says_nothing_of_what_came_later():
    ended = [sent("23:59:59", "SYN"), answered(at("00:00:00.5", days=1), "RST")]
    row = one(ended)
    assert (row["has_reply"], row["close_reason"], row["closed_after"]) == (False, None, True)


def test_a_start_in_the_skew_guard_takes_events_of_the_day_before():
    flows = [
        sent("12:00", "SYN"),
        answered("23:59:59", "SYN,ACK"),
        sent(at("00:00:00.9", days=1), "SYN"),
    ]
    rows = of(flows)
    assert [(row["start_at"], row["event_count"]) for row in rows] == [
        (at("12:00"), 1),
        (at("23:59:59"), 1),
    ]
    assert rows[0]["close_reason"] == "reuse"
    assert one(flows, shift=1)["connection_id"] == rows[1]["connection_id"]


def test_a_connection_whose_start_was_never_seen_began_before():
    row = one([sent("08:00"), answered("08:00:01"), sent("09:00")])
    assert row["opened_before"]
    key = ["alder", "TCP", POD, "40000", OUT, "443", "2026-03-02", "0"]
    assert row["connection_id"] == hashlib.md5(chr(31).join(key).encode()).hexdigest()
    older = one([sent(at("09:00", days=-1)), sent("08:00")])
    assert older["opened_before"]
    assert older["start_at"] == at("09:00", days=-1)
    assert older["attempt_count"] == 0


def test_an_answered_opening_that_only_the_answer_shows_is_a_seen_start():
    row = one([answered("08:00", "SYN,ACK"), sent("08:00:01")])
    assert (row["opened_before"], row["attempt_count"]) == (False, 0)


@pytest.mark.parametrize(("time", "is_older"), [("00:01", True), ("00:01:00.000001", False)])
def test_what_tells_no_start_began_before_if_it_was_there_at_the_look_backs_edge(time, is_older):
    flows = [sent(at(time, days=-1), None), sent(at("00:01", days=-1), None), sent("08:00", None)]
    row = one(flows[:1] + flows[2:] if not is_older else flows)
    assert row["opened_before"] is is_older


def test_a_connection_of_yesterday_alone_has_no_row():
    assert of([sent(at("09:00", days=-1), "SYN"), sent(at("10:00", days=-1))]) == []


# -- what is no connection -------------------------------------------------------------------


def test_a_line_that_counts_flows_is_no_connection():
    assert of([sent("08:00", flow_count=12), sent("08:00", "SYN")])[0]["event_count"] == 1
    assert of([sent("08:00", flow_count=12)]) == []


def test_a_resolver_on_another_port_is_known_by_its_look_ups():
    asked = {"transport": "UDP", "destination_port": 5353}
    flows = [
        sent("08:00", None, dns_query="a.example.com", event_type=129, **asked),
        sent("08:05", None, source_port=40001, **asked),
    ]
    assert ignored(flows) == {"dns": 2}


HOST = {"source_address": NODE, "source_identity": 1, "source_endpoint_id": None}
OWN_POD = {
    "destination_address": PEER, "destination_port": 8080, "destination_namespace": "ml",
    "destination_pod_name": "pod-b", "destination_endpoint_id": 9, "destination_identity": 6000,
}  # fmt: skip


def test_a_host_that_probes_its_own_pod_made_no_connection():
    assert ignored([sent("08:00", "SYN", **HOST, **OWN_POD)]) == {"own_host": 1}


def test_a_host_is_known_by_its_address_where_labels_are_masked():
    probe = sent("08:00", "SYN", **HOST, **OWN_POD) | {
        "source_identity": None, "destination_identity": None, "destination_endpoint_id": None,
    }  # fmt: skip
    nodes = [{"cluster": "alder", "node": "node-a", "addresses": [NODE], "created_at": at("00:00")}]
    pods = [pod("b", PEER)]
    assert ignored([probe], node_states=nodes, pod_intervals=pods) == {"own_host": 1}
    elsewhere = [pod("b", PEER, node="node-b")]
    assert one([probe], node_states=nodes, pod_intervals=elsewhere)["initiator_node"] == "node-a"


def test_a_host_that_reaches_a_pod_of_another_node_is_a_connection():
    far = OWN_POD | {"destination_endpoint_id": None}
    row = one([sent("08:00", "SYN", **HOST, **far)], pod_intervals=[pod("b", PEER, node="node-b")])
    assert (row["responder_pod_uid"], row["initiator_pod_uid"]) == ("b", None)


def test_the_upstream_leg_of_a_proxy_is_no_connection_of_the_pod():
    """The packets leave with the pod's identity and an address of no pod (hubble.md 2.4)."""
    leg = {"source_address": "192.0.2.148", "source_endpoint_id": None, "source_port": 56896}
    back = {"destination_address": "192.0.2.148", "destination_identity": 1,
            "destination_endpoint_id": None, "destination_port": 56896}  # fmt: skip
    flows = [sent("08:00", is_reply=None, **leg), answered("08:00:01", **back)]
    named = sent("08:00", source_namespace="ml", source_pod_name="pod-a")
    rows = of([*flows, named])
    assert [row["initiator_address"] for row in rows] == [POD]
    known = [pod("a", "192.0.2.148")]
    assert one(flows, pod_intervals=known)["initiator_pod_uid"] == "a"


def test_an_address_that_another_flow_names_as_a_pods_is_no_proxys():
    far = {"source_address": "192.0.2.20", "source_endpoint_id": None}
    nameless = sent("08:00", "SYN", source_port=40001, **far)
    stated = {"source_namespace": "ml", "source_pod_name": "pod-x"}
    named = sent("09:00", "SYN", source_port=40002, **far, **stated)
    other = sent("09:00", "SYN", source_namespace="ml", source_pod_name="pod-a")
    rows = of([nameless, named], pod_intervals=[])
    assert [(r["initiator_port"], r["initiator_match_kind"]) for r in rows] == [
        (40001, "none"), (40002, "none"),
    ]  # fmt: skip
    rows = of([nameless, other], pod_intervals=[])
    assert [r["initiator_address"] for r in rows] == [POD]


def test_where_no_export_names_pods_a_nameless_pod_is_no_sign_of_a_proxy():
    row = one([sent("08:00", source_endpoint_id=None)], pod_intervals=[])
    assert (row["initiator_address"], row["initiator_match_kind"]) == (POD, "none")


# -- ends ------------------------------------------------------------------------------------

INSIDE = {
    "destination_address": PEER, "destination_port": 9000, "destination_namespace": "ml",
    "destination_pod_name": "pod-b", "destination_identity": 6000,
}  # fmt: skip


def test_both_ends_are_matched_by_name_and_address():
    named = {"source_namespace": "ml", "source_pod_name": "pod-a"}
    pods = [pod("a"), pod("b", PEER, node="node-b", run_uuid=OTHER_RUN)]
    row = one([sent("08:00", "SYN", **named, **INSIDE)], pod_intervals=pods)
    assert (row["initiator_pod_uid"], row["initiator_match_kind"]) == ("a", "name_window")
    assert (row["responder_pod_uid"], row["responder_match_kind"]) == ("b", "name_window")
    assert (row["responder_run_uuid"], row["responder_node"]) == (OTHER_RUN, "node-b")
    assert (row["peer_kind"], row["name_kind"], row["peer_name"]) == ("pod", "none", None)


def test_a_pod_that_no_export_shows_keeps_the_name_that_the_flow_states():
    row = one([sent("08:00", "SYN", source_namespace="ml", source_pod_name="x", **INSIDE)],
              pod_intervals=[])  # fmt: skip
    assert (row["initiator_pod_name"], row["initiator_pod_uid"]) == ("x", None)
    assert (row["initiator_match_kind"], row["initiator_node"]) == ("none", "node-a")
    assert row["resource_id"] == "kube://alder/ml/pod-b:9000"


def test_a_pod_is_contacted_as_its_workload():
    cases = [
        ("Job", "train", "Job/other", "train"),
        ("ReplicaSet", "server-6d9f7c8b5", None, "server"),
        ("ReplicaSet", f"plx-operation-{RUN}", None, f"plx-operation-{RUN}"),
        (None, None, "Deployment/server", "server"),
        (None, None, None, "pod-104"),
    ]
    flows, pods, states = [], [pod("a")], []
    for number, (kind, owner, workload, _) in enumerate(cases, 100):
        address = f"192.0.2.{number}"
        pods.append(pod(str(number), address))
        states.append({"pod_uid": str(number), "owner_kind": kind, "owner_name": owner})
        flows.append(
            sent("08:00", "SYN", destination_workload=workload, destination_address=address)
        )
    rows = of(flows, pod_intervals=pods, pod_states=states)
    found = {row["responder_address"]: row["resource_id"] for row in rows}
    assert found == {
        f"192.0.2.{number}": f"kube://alder/ml/{name}:443"
        for number, (_, _, _, name) in enumerate(cases, 100)
    }


def test_a_service_is_known_by_the_flow_or_by_its_address():
    to_service = {"destination_address": "198.51.100.1", "destination_identity": None}
    stated = sent("08:00", "SYN", destination_service="ml/store", **to_service)
    row = one([stated])
    assert (row["peer_kind"], row["name_kind"]) == ("service", "kube_service")
    assert (row["peer_name"], row["resource_id"]) == ("store.ml.svc", "kube://alder/ml/store:443")
    service = {"namespace": "ml", "service": "store", "addresses": ["198.51.100.1"]}
    row = one([sent("08:00", "SYN", **to_service)], services=[service, service])
    assert row["resource_id"] == "kube://alder/ml/store:443"
    changed = [service, service | {"service": "other"}]
    row = one([sent("08:00", "SYN", **to_service)], services=changed)
    assert row["resource_id"] == "ip://198.51.100.1:443"


def test_the_api_server_is_the_clusters_own_service():
    labels = ["reserved:kube-apiserver", "reserved:world"]
    flows = [
        sent("08:00", "SYN", destination_identity=7),
        sent("08:01", "SYN", source_port=40001, destination_identity=16777217,
             destination_labels=labels),
        sent("08:02", "SYN", source_port=40002, destination_service="default/kubernetes"),
    ]  # fmt: skip
    rows = of(flows)
    assert [row["peer_kind"] for row in rows] == ["api_server"] * 3
    assert {row["resource_id"] for row in rows} == {"kube://alder/default/kubernetes:443"}


def test_a_node_is_contacted_as_a_node():
    nodes = [{"cluster": "alder", "node": "node-b", "addresses": [NODE], "created_at": at("00:00")}]
    to_node = sent("08:00", "SYN", destination_address=NODE, destination_identity=6)
    row = one([to_node], node_states=nodes)
    assert (row["peer_kind"], row["resource_id"]) == ("node", "node://alder/node-b:443")
    row = one([to_node])
    assert (row["peer_kind"], row["resource_id"]) == ("node", f"ip://{NODE}:443")


def test_the_metadata_service_is_known_everywhere():
    row = one([sent("08:00", "SYN", destination_address="169.254.169.254", destination_port=80)])
    assert (row["peer_kind"], row["name_kind"]) == ("metadata", "well_known_address")
    assert row["peer_name"] == "instance-metadata"
    assert row["resource_id"] == "ip://169.254.169.254:80"


RANGES = [
    network_row("203.0.113.0/24", "aws", "AMAZON", "us-east-1"),
    network_row("203.0.113.0/28", "aws", "S3", "us-east-1"),
]


def test_an_address_that_only_a_providers_network_holds_is_a_service_and_no_host():
    row = one([sent("08:00", "SYN")], address_ranges=RANGES)
    assert (row["peer_kind"], row["name_kind"], row["peer_name"]) == (
        "outside", "address_range", "S3",
    )  # fmt: skip
    assert (row["resource_id"], row["canonical_name"], row["candidate_names"]) == (
        f"ip://{OUT}:443", None, None,
    )  # fmt: skip


def test_every_other_rung_comes_before_the_providers_networks():
    http = sent("08:00", http_host="data.example.com", l7_type="REQUEST", event_type=129)
    row = one([sent("08:00", "SYN"), http], address_ranges=RANGES)
    assert row["name_kind"] == "http_host"
    told = sent("08:00", "SYN", destination_names=["a.example.com", "b.example.com"])
    row = one([told], address_ranges=RANGES)
    assert (row["name_kind"], row["peer_name"]) == ("ambiguous", None)
    nodes = [{"cluster": "alder", "node": "node-b", "addresses": [OUT], "created_at": at("00:00")}]
    row = one([sent("08:00", "SYN")], address_ranges=RANGES, node_states=nodes)
    assert (row["peer_kind"], row["name_kind"]) == ("node", "none")


def test_addresses_of_version_6_stand_in_brackets():
    row = one(
        [sent("08:00", "SYN", source_address="2001:db8::1", destination_address="2001:db8::9")]
    )
    assert row["resource_id"] == "ip://[2001:db8::9]:443"


def test_a_private_address_without_evidence_is_unknown():
    row = one([sent("08:00", "SYN", destination_address="10.9.9.9", destination_identity=None)])
    assert row["peer_kind"] == "unknown"


def test_the_only_container_that_ran_at_the_start_is_named():
    state = {
        "pod_uid": "a", "container": "main", "container_role": "main", "state": "running",
        "started_at": at("07:00"),
    }  # fmt: skip
    row = one(WHOLE, container_states=[state])
    assert (row["container"], row["container_kind"]) == ("main", "only_running")
    several = one(WHOLE, container_states=[state, state | {"container": "side"}])
    assert (several["container"], several["container_kind"]) == (None, "several")
    assert several["candidate_containers"] == ["main", "side"]
    assert one(WHOLE)["container_kind"] == "none"


def test_a_connection_that_had_begun_before_may_be_of_a_container_that_ended():
    main = {
        "pod_uid": "a", "container": "main", "container_role": "main", "state": "running",
        "started_at": at("07:50"),
    }  # fmt: skip
    init = main | {
        "container": "init", "container_role": "init", "state": "terminated",
        "started_at": at("07:40"), "finished_at": at("07:49"),
    }  # fmt: skip
    assert one(WHOLE, container_states=[init, main])["container"] == "main"
    row = one(WHOLE[3:], container_states=[init, main])
    assert (row["container"], row["container_kind"]) == (None, "several")
    assert row["candidate_containers"] == ["init", "main"]


# -- names -----------------------------------------------------------------------------------


def binding(name: str = "data.example.com", **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "scope": "pod",
        "scope_id": "a",
        "address": OUT,
        "name": name,
        "canonical_name": "edge.example.net",
        "start_at": at("07:59:28"),
        "end_at": at("08:00:30"),
        "first_answer_at": at("07:59:30"),
        **more,
    }


def lookup(time: str, name: str = "late.example.com", **more: Any) -> dict[str, Any]:
    return {
        "event_at": at(time),
        "cluster": "alder",
        "client_address": POD,
        "query_name": name,
        "query_type": "A",
        "rcode": "NOERROR",
        **more,
    }


def named(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["name_kind"], row["peer_name"], row["candidate_names"], row["resource_id"]


def test_a_name_that_held_at_the_start_holds_while_the_connection_lives():
    row = one([*WHOLE[:3], sent("12:00")], name_bindings=[binding()])
    assert named(row) == ("dns_pod", "data.example.com", None, "dns://data.example.com:443")
    assert (row["canonical_name"], row["name_age_seconds"]) == ("edge.example.net", 30.0)


def test_an_expired_answer_is_not_used():
    assert one(WHOLE, name_bindings=[binding(end_at=at("08:00"))])["name_kind"] == "none"


def test_a_connection_that_began_before_has_no_name_of_now():
    flows = [sent("08:00"), sent("08:00:10")]
    assert one(flows, name_bindings=[binding()])["name_kind"] == "none"
    stated = [sent("08:00", destination_names=["data.example.com"])]
    assert one(stated)["name_kind"] == "flow_names"


def test_two_names_of_one_address_are_ambiguous():
    row = one(WHOLE, name_bindings=[binding(), binding("cdn.example.com")])
    candidates = ["cdn.example.com", "data.example.com"]
    assert named(row) == ("ambiguous", None, candidates, f"ip://{OUT}:443")
    assert row["canonical_name"] is None


def test_the_http_host_is_the_best_name_and_several_hosts_are_ambiguous():
    first = sent("08:00:05", None, event_type=129, l7_type="REQUEST", http_method="GET",
                 http_host="a.example.com")  # fmt: skip
    second = first | {"event_at": at("08:00:06"), "http_host": "b.example.com"}
    row = one([*WHOLE, first], name_bindings=[binding()])
    assert named(row)[:2] == ("http_host", "a.example.com")
    row = one([*WHOLE, first, second], name_bindings=[binding()])
    assert named(row)[:3] == ("ambiguous", None, ["a.example.com", "b.example.com"])


def test_what_hubble_names_comes_behind_the_answers_and_only_at_the_start():
    names = {"destination_names": ["data.example.com"]}
    flows = [sent("08:00", "SYN", **names), *WHOLE[1:]]
    assert named(one(flows))[:2] == ("flow_names", "data.example.com")
    assert one(flows, name_bindings=[binding("x.example.com")])["peer_name"] == "x.example.com"
    late = [*WHOLE[:3], sent("08:00:10", **names)]
    assert one(late)["name_kind"] == "none"
    two = [sent("08:00", "SYN", destination_names=["b.example.com", "a.example.com"])]
    assert named(one(two))[:3] == ("ambiguous", None, ["a.example.com", "b.example.com"])
    replied = [*WHOLE[:1], answered("08:00:00.002", "SYN,ACK", source_names=["r.example.com"])]
    assert one(replied)["peer_name"] == "r.example.com"


def test_the_only_name_asked_just_before_is_the_name_where_the_log_has_no_answers():
    row = one(WHOLE, dns_lookups=[lookup("07:59:59"), lookup("07:59:59.1", query_type="AAAA")])
    assert named(row) == ("dns_time", "late.example.com", None, "dns://late.example.com:443")


def test_a_name_asked_just_before_is_not_the_name_if_the_address_is_known_as_anothers():
    def known(name: str, address: str) -> dict[str, Any]:
        answer = {"name": name, "type": "A", "data": address, "ttl": 60}
        return lookup("07:00", name, client_address="192.0.2.77", answers=[answer])

    asked, other = lookup("07:59:59"), known("other.example.com", OUT)
    assert one(WHOLE, dns_lookups=[asked, other])["name_kind"] == "none"
    row = one(WHOLE, dns_lookups=[asked, other, known("late.example.com", OUT)])
    assert named(row)[:2] == ("dns_time", "late.example.com")
    # Hosts that answer with other addresses each time.
    row = one(WHOLE, dns_lookups=[asked, known("late.example.com", "203.0.113.99")])
    assert named(row)[:2] == ("dns_time", "late.example.com")


def test_look_ups_that_prove_no_name():
    """Each case is of another client, so that it stands alone."""
    cases = [
        [lookup("07:59:54.9")],
        [lookup("08:00:02.1")],
        [lookup("07:59:59"), lookup("07:59:59", "other.example.com")],
        [lookup("07:59:59", rcode="NXDOMAIN")],
        [lookup("07:59:59", "store.ml.svc.cluster.local")],
        [lookup("07:59:59", "plainname")],
        [lookup("07:59:59", query_type="PTR")],
        [lookup("07:59:59"), lookup("07:59:59", answers=[])],
        [],
        [lookup("07:59:59")],
    ]
    clients = [f"192.0.2.{n}" for n, _ in enumerate(cases, 100)]
    rows = of(
        [sent("08:00", "SYN", source_address=client) for client in clients],
        pod_intervals=[pod(client, client) for client in clients],
        dns_lookups=[
            item | {"client_address": client}
            for client, case in zip(clients, cases, strict=True)
            for item in case
        ],
    )
    kinds = {row["initiator_address"]: row["name_kind"] for row in rows}
    assert [kinds[client] for client in clients] == ["none"] * 9 + ["dns_time"]


def test_a_name_asked_just_before_says_nothing_of_a_pod_or_of_an_unknown_client():
    pods = [pod("a"), pod("b", PEER)]
    inside = [sent("08:00", "SYN", **INSIDE)]
    asked = [lookup("07:59:59")]
    assert one(inside, pod_intervals=pods, dns_lookups=asked)["name_kind"] == "none"
    assert one(WHOLE, pod_intervals=[], dns_lookups=asked)["name_kind"] == "none"


def test_a_named_pod_is_still_contacted_inside_the_cluster():
    held = binding("pod-b.headless.ml.svc.cluster.local", address=PEER)
    row = one([sent("08:00", "SYN", **INSIDE)], pod_intervals=[pod("a"), pod("b", PEER)],
              name_bindings=[held])  # fmt: skip
    assert row["name_kind"] == "dns_pod"
    assert row["resource_id"] == "kube://alder/ml/pod-b:9000"


def test_http_requests_count_once_although_both_proxies_tell_them():
    def exchange(time: str, direction: str) -> Rows:
        asked = {"event_type": 129, "http_method": "GET", "http_host": "a.example.com"}
        return [
            sent(time, None, l7_type="REQUEST", direction=direction, **asked),
            answered(time, None, l7_type="RESPONSE", direction=direction, http_status=503, **asked),
        ]

    flows = [*WHOLE]
    for second in (5, 6):
        for direction in ("EGRESS", "INGRESS"):
            flows += exchange(f"08:00:0{second}", direction)
    row = one(flows)
    assert (row["http_request_count"], row["http_error_count"]) == (2, 2)
    assert row["first_error"] == "HTTP 503"


# -- laws ------------------------------------------------------------------------------------


def _random_flows(seed: int) -> Rows:
    """Events of many tuples over midnight, with ports that are used again and again."""
    draw = random.Random(seed)
    flows: Rows = []
    for number in range(150):
        client = {"source_address": f"192.0.2.{number % 40}", "source_port": 30000 + number % 50}
        back = {
            "destination_address": client["source_address"],
            "destination_port": client["source_port"],
        }
        transport = draw.choice(["TCP", "TCP", "UDP"])
        time = at("20:00") + timedelta(seconds=draw.randrange(6 * 3600))
        for step in range(draw.randrange(1, 25)):
            flags = draw.choice(["SYN", "ACK", "PSH,ACK", "FIN,ACK", "RST"]) if step else "SYN"
            told = draw.choice([True, True, True, None])
            make, ends = draw.choice([(sent, client), (answered, back)])
            packet = make(time, flags if transport == "TCP" else None, transport=transport, **ends)
            if flags == "SYN" and make is answered:
                packet["tcp_flags"] = "SYN,ACK" if transport == "TCP" else None
            packet["is_reply"] = packet["is_reply"] if told else None
            flows.append(packet)
            time += timedelta(seconds=draw.choice([0.001, 1.5, 4, 20, 70, 400]))
    draw.shuffle(flows)
    for place, packet in enumerate(flows):
        packet["record_id"] = f"event-{place:05d}"
    return flows


@given(seed=st.integers(0, 2**32))
@settings(max_examples=2)
def test_days_add_up_to_all_events_in_any_order_under_one_id(seed):
    flows = _random_flows(seed)
    pods = [pod(str(n), f"192.0.2.{n}") for n in range(40)]

    def take(session: SqlSession, name: str) -> pl.DataFrame:
        return checked(session, "connections", name)

    def both(events: Rows) -> list[pl.DataFrame]:
        return [build(events, take, shift, pod_intervals=pods) for shift in (0, 1)]

    days = both(flows)
    assert sum(day["event_count"].sum() for day in days) == len(flows)
    crossing = days[0].join(days[1], on="connection_id")
    open_at_midnight = days[1].filter(pl.col("start_at") < at("00:00", days=1))
    assert crossing.height == open_at_midnight.filter(~pl.col("opened_before")).height
    assert (crossing["start_at"] == crossing["start_at_right"]).all()
    assert days[0].filter(pl.col("end_at") > at("00:00", days=1)).is_empty()
    random.Random(seed).shuffle(flows)
    for day, again in zip(days, both(flows), strict=True):
        assert day.equals(again)


def test_tuples_that_are_summed_slice_by_slice_give_the_same_connections(monkeypatch):
    flows = _random_flows(7)
    whole = of(flows)
    assert len(whole) > 10
    monkeypatch.setattr(connections, "TUPLES_AT_ONCE", 3)
    assert of(flows) == whole

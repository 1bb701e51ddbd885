"""Bytes between an address of the fleet and its peers."""

import random
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, network_row, show
from transforms.day import BuildDay, ClusterFacts
from transforms.intermediate import peer_traffic
from transforms.sql import SqlSession

RUN = "0123456789abcdef0123456789abcdef"
POD, OTHER, NODE, OUT = "192.0.2.1", "192.0.2.2", "192.0.2.250", "203.0.113.9"


def record(
    start: str | datetime, end: str | datetime, source: str, target: str, **more: Any
) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "source_format": "aws_vpc_flow_log",
        "start_at": at(start) if isinstance(start, str) else start,
        "end_at": at(end) if isinstance(end, str) else end,
        "interface_id": "eni-a",
        "instance_id": "i-a",
        "source_address": NODE,
        "source_packet_address": source,
        "source_port": 40000,
        "destination_address": target,
        "destination_packet_address": target,
        "destination_port": 443,
        "transport": "TCP",
        "action": "ACCEPT",
        "bytes": 100,
        "packets": 3,
        "scaled": "raw",
        "temporality": "delta",
        "byte_layer": "packet",
        **more,
    }


def pod(uid: str, address: str, start: str = "07:00", **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "namespace": "ml",
        "pod_name": f"pod-{uid}",
        "pod_uid": uid,
        "address": address,
        "start_at": at(start),
        "created_at": at(start),
        "node": "node-a",
        "zone": "us-east-1a",
        "region": "us-east-1",
        "run_uuid": RUN,
        "attempt": 1,
        **more,
    }


def of(
    records: list[dict[str, Any]],
    pods: list[dict[str, Any]] | None = None,
    *,
    bindings: list[dict[str, Any]] | None = None,
    ranges: list[dict[str, Any]] | None = None,
    days: tuple[int, ...] = (0,),
    clusters: tuple[ClusterFacts, ...] = (),
    nat: tuple[tuple[str, str | None], ...] = (),
    **where: Any,
) -> pl.DataFrame:
    """Peer traffic of some days, only rows with the wanted values."""
    found = []
    for shift in days:
        day = BuildDay(
            date=DAY + timedelta(days=shift),
            cluster="fleet",
            clusters=clusters,
            nat_addresses=nat,
        )
        shown = [pod("a", POD)] if pods is None else pods
        with SqlSession(threads=1) as session:
            show(
                session,
                volume_records=records,
                pod_intervals=[p | {"date": day.date} for p in shown],
                node_states=[
                    {"cluster": "alder", "node": "node-a", "addresses": [NODE],
                     "zone": "us-east-1a", "region": "us-east-1",
                     "created_at": at("00:00", days=-9)},
                ],
                name_bindings=bindings or [],
                address_ranges=ranges or [],
            )  # fmt: skip
            found.append(checked(session, "peer_traffic", peer_traffic.build(session, day)))
    return pl.concat(found).filter(*(pl.col(name) == value for name, value in where.items()))


def test_a_record_is_cut_into_windows_by_the_cumulative_floor():
    rows = of([record("08:04", "08:11", POD, OUT)])
    assert rows.select("window_start_at", "bytes", "min_bytes", "max_bytes", "packets").rows() == [
        (at("08:00"), 14, 0, 100, 3),
        (at("08:05"), 71, 0, 100, 0),
        (at("08:10"), 15, 0, 100, 0),
    ]


def test_the_source_sends_and_the_destination_receives():
    out = record("08:01", "08:02", POD, OUT)
    back = record("08:01", "08:02", OUT, POD, source_port=443, destination_port=40000, bytes=900)
    rows = of([out, back])
    shown = ("local_address", "pod_uid", "peer_address", "peer_port", "direction", "bytes")
    assert rows.select(shown).rows() == [
        (POD, "a", OUT, 443, "receive", 900),
        (POD, "a", OUT, 443, "transmit", 100),
    ]
    assert rows.select("scope", "cluster", "run_uuid", "match_kind", "measured_by").row(0) == (
        "alder", "alder", RUN, "address_window", "flow_record",
    )  # fmt: skip


def test_bytes_between_two_pods_stand_at_each_of_them():
    rows = of([record("08:01", "08:02", POD, OTHER)], [pod("a", POD), pod("b", OTHER)])
    assert rows.select("pod_uid", "direction", "bytes").rows() == [
        ("a", "transmit", 100),
        ("b", "receive", 100),
    ]


def test_two_interfaces_that_saw_the_same_bytes_count_once_by_each_ends_own():
    seen = [
        record("08:01", "08:02", POD, OTHER, flow_direction="egress"),
        record(
            "08:01", "08:02", POD, OTHER, flow_direction="ingress", interface_id="eni-b", bytes=99
        ),
    ]
    rows = of(seen, [pod("a", POD), pod("b", OTHER)])
    assert rows.select("pod_uid", "observer", "bytes", "is_chosen").rows() == [
        ("a", "eni-a", 100, True),
        ("a", "eni-b", 99, False),
        ("b", "eni-a", 100, False),
        ("b", "eni-b", 99, True),
    ]


def test_a_gateways_interface_counts_only_where_no_other_saw_the_exchange():
    gateway = {"interface_id": "eni-0", "instance_id": None, "flow_direction": "ingress"}
    both = [
        record("08:01", "08:02", POD, OUT, flow_direction="egress"),
        record("08:01", "08:02", POD, OUT, **gateway),
        record("08:01", "08:02", POD, "203.0.113.8", **gateway),
    ]
    rows = of(both)
    assert rows.select("peer_address", "observer", "is_chosen").rows() == [
        ("203.0.113.8", "eni-0", True),
        (OUT, "eni-0", False),
        (OUT, "eni-a", True),
    ]


@pytest.mark.parametrize("reporter", ["TRANSIT_GATEWAY", "NAT_GATEWAY", "SRC_GATEWAY"])
def test_a_gateway_that_says_so_counts_only_where_no_other_saw_the_exchange(reporter):
    # These fields name no instances, which would tell of a gateway, too.
    gateway = {"interface_id": "eni-0", "instance_id": None, "reporter": reporter}
    records = [
        record("08:01", "08:02", POD, OUT, instance_id=None),
        record("08:01", "08:02", POD, OUT, **gateway),
        record("08:02", "08:03", POD, OUT, **gateway),
        record("08:01", "08:02", POD, "203.0.113.8", **gateway),
    ]
    rows = of(records).sort("peer_address", "observer")
    assert rows.select("peer_address", "observer", "bytes", "is_chosen").rows() == [
        ("203.0.113.8", "eni-0", 100, True),
        (OUT, "eni-0", 200, False),
        (OUT, "eni-a", 100, True),
    ]


def test_a_gateways_own_leg_is_never_counted():
    legs = [
        record("08:01", "08:02", POD, OUT),
        record("08:01", "08:02", "10.9.9.9", OUT, interface_id="eni-0", instance_id=None),
    ]
    rows = of(legs).filter(pl.col("pod_uid").is_null())
    assert rows.select("local_address", "match_kind", "is_chosen").rows() == [
        ("10.9.9.9", "none", False)
    ]


def test_of_two_unknown_ends_one_is_near():
    cases = [
        ("egress", "203.0.113.1", "10.0.0.1", "203.0.113.1"),
        ("ingress", "10.0.0.2", "203.0.113.2", "203.0.113.2"),
        (None, "203.0.113.3", "10.0.0.3", "10.0.0.3"),
        (None, "10.0.0.4", "203.0.113.4", "10.0.0.4"),
        (None, "203.0.113.5", "203.0.113.6", "203.0.113.5"),
    ]
    rows = of(
        [
            record("08:01", "08:02", source, target, flow_direction=direction)
            for direction, source, target, _ in cases
        ]
    )
    assert sorted(rows["local_address"]) == sorted(near for *_, near in cases)
    assert set(rows.select("match_kind", "is_chosen").rows()) == {("none", True)}


def test_refused_bytes_stand_apart():
    rows = of(
        [
            record("08:01", "08:02", POD, OUT),
            record("08:02", "08:03", POD, OUT, action="REJECT", bytes=40),
        ]
    )
    assert rows.select("bytes", "min_bytes", "max_bytes", "packets", "rejected_bytes").rows() == [
        (100, 100, 100, 3, 40)
    ]


def test_an_address_that_changes_hands_inside_a_record_is_ambiguous():
    pods = [pod("a", POD, end_at=at("08:05")), pod("b", POD, "08:05:10")]
    assert of([record("08:01", "08:09", POD, OUT)], pods)["match_kind"].to_list() == [
        "ambiguous",
        "ambiguous",
    ]
    rows = of([record("08:01", "08:04", POD, OUT), record("08:06", "08:09", POD, OUT)], pods)
    assert rows.select("pod_uid", "match_kind").rows() == [
        ("a", "address_window"),
        ("b", "address_window"),
    ]


def test_one_instant_inside_the_skew_guard_of_two_pods_is_settled_by_the_other():
    pods = [pod("a", POD, end_at=at("08:05:00.5")), pod("b", POD, "08:05:01.5")]
    rows = of([record("08:05:01", "08:06", POD, OUT)], pods)
    assert rows.select("pod_uid", "match_kind").rows()[0] == ("b", "address_window")


def test_a_record_that_outlasts_its_pod_is_the_pods():
    rows = of([record("08:01", "08:04", POD, OUT)], [pod("a", POD, end_at=at("08:02"))])
    assert rows["pod_uid"].to_list() == ["a"]


def test_the_nodes_address_is_the_nodes():
    rows = of([record("08:01", "08:02", NODE, OUT)])
    assert rows.select("match_kind", "pod_uid", "cluster").rows() == [("node", None, "alder")]


def test_without_the_packets_address_an_interface_speaks_for_all_its_pods():
    rows = of([record("08:01", "08:02", NODE, OUT, source_packet_address=None)])
    assert rows.select("local_address", "match_kind").rows() == [(NODE, "shared_address")]


def test_an_address_of_two_clusters_is_ambiguous_for_records_of_the_fleet():
    pods = [pod("a", POD), pod("b", POD, cluster="birch")]
    rows = of([record("08:01", "08:02", POD, OUT, cluster=None)], pods)
    assert rows.select("scope", "cluster", "pod_uid", "match_kind").rows() == [
        ("fleet", None, None, "ambiguous")
    ]
    rows = of([record("08:01", "08:02", POD, OUT, cluster="birch")], pods)
    assert rows.select("scope", "cluster", "pod_uid").rows() == [("birch", "birch", "b")]


def test_an_ambiguous_address_names_its_candidates():
    pods = [pod("a", POD), pod("b", POD, cluster="birch"), pod("c", OTHER)]
    rows = of([record("08:01", "08:02", POD, OUT, cluster=None)], pods)
    assert rows["candidate_pod_uids"].to_list() == [["a", "b"]]
    rows = of([record("08:01", "08:02", POD, OUT)], pods)
    assert rows["candidate_pod_uids"].to_list() == [None]


NAT = "203.0.113.200"
LIVES = [
    pod("a", POD, end_at=at("08:03")),
    pod("b", OTHER, start="08:06"),
    pod("c", "192.0.2.3", cluster="birch"),
]


@pytest.mark.parametrize(
    ("stated", "candidates"),
    [
        ((NAT, "alder"), [["a"], ["b"]]),
        ((NAT, None), [["a", "c"], ["b", "c"]]),
    ],
)
def test_a_shared_address_has_the_pods_behind_it_for_candidates(stated, candidates):
    told = [record("08:01", "08:02", NAT, OUT), record("08:07", "08:08", NAT, OUT)]
    rows = of(told, LIVES, nat=(stated,))
    assert rows.select("match_kind", "gateway", "pod_uid").unique().rows() == [
        ("shared_address", "nat", None)
    ]
    assert rows["candidate_pod_uids"].to_list() == candidates


def test_a_shared_address_of_another_cluster_is_none_here():
    rows = of([record("08:01", "08:02", NAT, OUT)], LIVES, nat=((NAT, "birch"),))
    assert rows.select("match_kind", "gateway", "candidate_pod_uids").rows() == [
        ("none", "unknown", None)
    ]


def test_a_node_that_translates_for_its_pods_is_a_shared_address():
    rows = of([record("08:01", "08:02", NODE, OUT)], nat=((NODE, "alder"),))
    shown = ("match_kind", "gateway", "candidate_pod_uids")
    assert rows.select(shown).rows() == [("shared_address", "nat", ["a"])]


def test_a_pod_keeps_an_address_that_is_named_as_shared():
    rows = of([record("08:01", "08:02", POD, OUT)], nat=((POD, None),))
    assert rows.select("pod_uid", "match_kind", "candidate_pod_uids").rows() == [
        ("a", "address_window", None)
    ]


@pytest.mark.parametrize(
    ("ends", "ports", "expected"),
    [
        ((NAT, POD), (40000, 443), ("receive", "nat")),
        ((POD, NAT), (443, 40000), ("transmit", "nat")),
        ((POD, NAT), (40000, 3128), ("transmit", "proxy")),
        ((NAT, POD), (3128, 40000), ("receive", "proxy")),
        ((POD, NAT), (None, None), ("transmit", "unknown")),
    ],
)
def test_a_shared_address_that_is_asked_is_a_proxy_and_one_that_asks_is_a_nat(
    ends, ports, expected
):
    seen = record("08:01", "08:02", *ends, source_port=ports[0], destination_port=ports[1])
    rows = of([seen], nat=((NAT, None),))
    assert rows.select("pod_uid", "direction", "gateway").rows() == [("a", *expected)]


def test_of_more_than_a_hundred_pods_none_is_a_candidate():
    pods = [pod(f"p{n:03d}", f"198.51.100.{n}") for n in range(101)]
    for count, kept in ((100, 100), (101, None)):
        rows = of([record("08:01", "08:02", NAT, OUT)], pods[:count], nat=((NAT, "alder"),))
        ((found,),) = rows.select("candidate_pod_uids").rows()
        assert (len(found) if found else None) == kept


def test_unsampled_records_are_chosen_before_sampled_ones():
    sampled = {"source_format": "netobserv", "interface_id": "x", "sampling_interval": 50}
    rows = of(
        [
            record("08:01", "08:02", POD, OUT),
            record("08:01", "08:02", POD, OUT, bytes=400_000, packets=400, **sampled),
            record("09:01", "09:02", POD, OUT, bytes=400_000, packets=400, **sampled),
        ]
    )
    shown = ("measured_by", "bytes", "min_bytes", "max_bytes", "estimated_bytes", "is_chosen")
    assert rows.select(shown).rows() == [
        ("flow_record", 100, 100, 100, None, True),
        ("sampled_flow_record", 400_000, 400_000, None, 20_000_000, False),
        ("sampled_flow_record", 400_000, 400_000, None, 20_000_000, True),
    ]
    # 400 packets of 1,000 bytes each: the error of their count. Six of 64 KiB and tiny ones: more.
    assert rows["min_sampling_error_ratio"].to_list()[1] == pytest.approx(0.098 * 0.98**0.5)
    assert rows["sampling_error_ratio"].to_list()[1] == pytest.approx(
        1.96 * (0.98 * 65_536 / 400_000) ** 0.5
    )


def test_what_was_scaled_is_certain_of_nothing_and_an_unknown_scale_is_not_counted():
    rows = of([record("08:01", "08:02", POD, OUT, scaled="scaled")])
    assert rows.select("min_bytes", "max_bytes", "is_chosen").rows() == [(0, None, True)]
    rows = of([record("08:01", "08:02", POD, OUT, scaled="unknown")])
    assert rows["is_chosen"].to_list() == [False]


def test_one_observer_name_under_two_formats_is_two_observers():
    rows = of(
        [
            record("08:01", "08:02", POD, OUT),
            record("08:01", "08:02", POD, OUT, source_format="zeek_conn", bytes=90),
        ]
    )
    assert rows.select("observer", "bytes", "is_chosen").rows() == [
        ("eni-a/aws_vpc_flow_log", 100, True),
        ("eni-a/zeek_conn", 90, False),
    ]


def test_records_that_count_since_the_beginning_are_what_they_grew_by():
    readings = [("08:02", 100), ("08:03", 150), ("08:09", 450)]
    rows = of([
        record("08:01", end, POD, OUT, temporality="cumulative", bytes=count, packets=count // 50)
        for end, count in readings
    ])  # fmt: skip
    assert rows.select("window_start_at", "bytes", "min_bytes", "max_bytes", "packets").rows() == [
        (at("08:00"), 250, 150, 450, 9),
        (at("08:05"), 200, 0, 300, 0),
    ]


COUNTER = {
    "source_format": "prometheus", "interface_id": None, "instance_id": None, "observer": "agent",
    "series_id": "s", "temporality": "cumulative", "packets": None,
}  # fmt: skip
RANGE = ("window_start_at", "bytes", "min_bytes", "max_bytes")


def read(moment: str, count: int, **more: Any) -> dict[str, Any]:
    return record(moment, moment, POD, OUT, bytes=count, **COUNTER | more)


def test_nobody_knows_what_a_counter_held_when_it_began_anew():
    """It restarted at 08:11: what it counted between 08:02 and then is gone."""
    rows = of([
        read("08:02", 100, counter_start_at=at("08:01")),
        read("08:12", 30, counter_start_at=at("08:11")),
        read("08:17", 90, counter_start_at=at("08:11")),
    ])  # fmt: skip
    assert rows.select(RANGE).rows() == [
        (at("08:00"), 100, 100, None),
        (at("08:05"), 0, 0, None),
        (at("08:10"), 30 + 36, 30, None),
        (at("08:15"), 24, 0, 60),
    ]


def test_nobody_knows_what_a_forgotten_counter_held():
    """Read each minute and then not for 12: the exporter forgot it, at the latest at 08:14."""
    rows = of([
        read(moment, count, metric="obi_network_flow_bytes_total")
        for moment, count in (("08:02", 100), ("08:03", 150), ("08:15", 40), ("08:16", 45))
    ])  # fmt: skip
    assert rows.select(RANGE).rows() == [
        (at("08:00"), 50, 50, None),
        (at("08:05"), 0, 0, None),
        (at("08:10"), 40, 40, None),
        (at("08:15"), 5, 5, 5),
    ]


def test_time_that_a_restart_hid_is_no_reading_of_its_observer():
    """Two were read by one observer and three by the other, which counts."""
    rows = of([
        read("08:02", 100, counter_start_at=at("08:01")),
        read("08:12", 30, counter_start_at=at("08:11")),
        *(
            read(moment, count, observer="agent-2", counter_start_at=at("08:01"))
            for moment, count in (("08:02", 90), ("08:07", 95), ("08:12", 99))
        ),
    ])  # fmt: skip
    chosen = rows.filter("is_chosen")
    assert chosen["observer"].unique().to_list() == ["agent-2"]
    assert chosen["bytes"].sum() == 99


def test_another_connection_of_the_same_ports_hides_nothing():
    rows = of([
        record("08:01", "08:02", POD, OUT, temporality="cumulative", bytes=100),
        record("08:11", "08:12", POD, OUT, temporality="cumulative", bytes=30),
    ])  # fmt: skip
    assert rows.select(RANGE).rows() == [
        (at("08:00"), 100, 100, 100),
        (at("08:10"), 30, 30, 30),
    ]


def test_records_without_an_address_are_left_out():
    masked = {"source_packet_address": None, "source_address": None}
    assert of([record("08:01", "08:02", POD, OUT, **masked)]).is_empty()


BINDING = {
    "cluster": "alder", "scope": "pod", "scope_id": "a", "address": OUT,
    "name": "data.example.com", "start_at": at("07:59"), "end_at": at("08:01:30"),
    "first_answer_at": at("07:59:02"),
}  # fmt: skip


def test_a_name_that_held_when_the_exchange_began_holds_while_it_goes_on():
    records = [
        record("08:01", "08:02", POD, OUT),
        record("08:02", "08:03", OUT, POD, source_port=443, destination_port=40000),
        record("08:13", "08:14", POD, OUT),
        record("08:24:01", "08:25", POD, OUT),
    ]
    rows = of(records, bindings=[BINDING])
    assert rows.select("window_start_at", "direction", "peer_name", "name_kind").rows() == [
        (at("08:00"), "receive", "data.example.com", "dns_pod"),
        (at("08:00"), "transmit", "data.example.com", "dns_pod"),
        (at("08:10"), "transmit", "data.example.com", "dns_pod"),
        (at("08:20"), "transmit", None, "none"),
    ]


def test_a_window_of_a_named_and_an_unnamed_exchange_has_no_name():
    records = [
        record("08:01", "08:02", POD, OUT),
        record("08:02", "08:03", POD, OUT, source_port=40001),
    ]
    rows = of(records, bindings=[BINDING])
    assert rows.select("peer_name", "name_kind").rows() == [(None, "none")]


def test_what_no_look_up_names_may_be_a_range_or_a_known_address():
    records = [
        record("08:01", "08:02", POD, OUT, destination_service="S3"),
        record("08:01", "08:02", POD, "169.254.169.254"),
    ]
    assert of(records).select("peer_name", "name_kind").rows() == [
        ("instance-metadata", "well_known_address"),
        ("S3", "address_range"),
    ]


def test_distance_between_pods_comes_from_labels():
    places: list[tuple[dict[str, Any], str]] = [
        ({"node": "node-a"}, "same_node"),
        ({"node": "node-b"}, "same_zone"),
        ({"node": "node-c", "zone": "us-east-1b"}, "cross_zone"),
        ({"node": "node-d", "zone": None}, "same_region"),
        ({"node": "node-e", "zone": "eu-west-1a", "region": "eu-west-1"}, "cross_region"),
        ({"node": "node-f", "zone": None, "region": None}, "unknown"),
        ({"node": "node-a", "cluster": "birch"}, "same_region"),
    ]
    peers = [(f"192.0.2.{n}", *place) for n, place in enumerate(places, 100)]
    rows = of(
        [record("08:01", "08:02", POD, address, cluster=None) for address, _, _ in peers],
        [pod("a", POD), *(pod(address, address, **place) for address, place, _ in peers)],
        pod_uid="a",
    )
    found = dict(rows.select("peer_address", "distance").rows())
    assert found == {address: distance for address, _, distance in peers}


def test_zones_of_two_clusters_compare_only_in_one_account():
    pods = [pod("a", POD), pod("b", OTHER, cluster="birch", node="node-b")]
    seen = [record("08:01", "08:02", POD, OTHER, cluster=None)]
    one = tuple(ClusterFacts(name, account_id="111122223333") for name in ("alder", "birch"))
    two = (ClusterFacts("alder", account_id="1"), ClusterFacts("birch", account_id="2"))
    assert of(seen, pods, clusters=one, pod_uid="a")["distance"].to_list() == ["same_zone"]
    assert of(seen, pods, clusters=two, pod_uid="a")["distance"].to_list() == ["same_region"]


def test_distance_of_others_comes_from_the_stated_path():
    """Each case is of another peer."""
    cases = [
        ("1", "10.0.0.1", None, "same_region", "none"),
        ("1", "203.0.113.1", None, "unknown", "unknown"),
        ("2", "203.0.113.2", None, "internet", "unknown"),
        ("2", "203.0.113.3", "S3", "unknown", "unknown"),
        ("3", "10.0.0.2", None, "unknown", "unknown"),
        ("4", "10.0.0.3", None, "same_region", "peering"),
        ("5", "10.0.0.4", None, "cross_region", "peering"),
        ("7", "203.0.113.4", "S3", "same_region", "gateway_endpoint"),
        ("8", "203.0.113.5", None, "internet", "none"),
        ("8", "203.0.113.6", "S3", "unknown", "none"),
        (None, "203.0.113.7", None, "unknown", "unknown"),
        (None, "10.0.0.5", None, "unknown", "unknown"),
    ]
    records = [
        record("08:01", "08:02", POD, peer, traffic_path=path, destination_service=service)
        for path, peer, service, _, _ in cases
    ]
    rows = of(records)
    found = {row[0]: row[1:] for row in rows.select("peer_address", "distance", "gateway").rows()}
    assert found == {peer: (distance, gateway) for _, peer, _, distance, gateway in cases}
    silent = of([item | {"destination_service": None} for item in records])
    assert "internet" not in set(silent["distance"])


def told(rows: pl.DataFrame, *columns: str) -> dict[str, Any]:
    """Values by peer; one column's alone."""
    found = {row[0]: row[1:] for row in rows.select("peer_address", *columns).rows()}
    return {peer: row[0] if len(columns) == 1 else row for peer, row in found.items()}


AWS = ClusterFacts("alder", "aws", "us-east-1", "111122223333")


def at_home(cluster: str, address: str, **place: Any) -> dict[str, Any]:
    """A pod of a cluster, on a node of its own."""
    here = {"cluster": cluster, "node": f"node-{cluster}", "zone": None, "region": None}
    return pod(cluster, address, **here | place)


def test_an_address_of_a_providers_list_has_its_service_and_region():
    ranges = [
        network_row("203.0.113.0/24", "aws", "AMAZON", "us-east-1"),
        network_row("203.0.113.0/28", "aws", "S3", "us-east-1"),
        network_row("203.0.113.16/28", "aws", "S3", "eu-west-1"),
        network_row("203.0.113.32/28", "aws", "CLOUDFRONT", None),
        network_row("198.51.100.0/25", "gcp", "Google Cloud", "us-east1"),
        network_row("198.51.100.0/28", None, None, None),
        network_row("2001:db8::/32", "aws", "EC2", "us-east-1"),
    ]
    cases = {
        "203.0.113.1": ("S3", "address_range", "same_region"),
        "203.0.113.17": ("S3", "address_range", "cross_region"),
        "203.0.113.33": ("CLOUDFRONT", "address_range", "unknown"),
        "203.0.113.99": ("AMAZON", "address_range", "same_region"),
        "198.51.100.99": ("Google Cloud", "address_range", "internet"),
        "198.51.100.1": (None, "none", "unknown"),
        "2001:db8::9": ("EC2", "address_range", "same_region"),
        "198.51.100.200": (None, "none", "unknown"),
        "10.9.9.9": (None, "none", "unknown"),
    }
    pods = [
        pod("alder", POD),
        at_home("birch", "192.0.2.11"),
        at_home("cedar", "192.0.2.12"),
        at_home("dogwood", "192.0.2.13", zone="us-east-1a", region="us-east-1"),
        at_home("dogwood", "192.0.2.14", pod_uid="elm", node="node-x"),
    ]
    facts = (
        AWS,
        ClusterFacts("birch", "aws"),
        ClusterFacts("cedar", "aws", "us-east-1"),
        ClusterFacts("dogwood", "aws", "eu-west-1"),
    )
    records = [
        record("08:01", "08:02", here["address"], peer, cluster=None)
        for here in pods
        for peer in cases
    ]
    rows = of(records, pods, ranges=ranges, clusters=facts)
    of_pod = {here["pod_uid"]: rows.filter(pod_uid=here["pod_uid"]) for here in pods}
    assert told(of_pod["alder"], "peer_name", "name_kind", "distance") == cases
    # Without a region of the reader nothing is near or far; another provider's stays outside.
    found = told(of_pod["birch"], "distance")
    assert found.pop("198.51.100.99") == "internet"
    assert set(found.values()) == {"unknown"}
    # The region of the settings serves where no node says another.
    assert told(of_pod["cedar"], "distance")["203.0.113.17"] == "cross_region"
    assert told(of_pod["elm"], "distance")["203.0.113.17"] == "unknown"


def test_look_ups_and_the_record_itself_come_before_the_list():
    ranges = [network_row("203.0.113.0/24", "aws", "AMAZON", "us-east-1")]
    records = [
        record("08:01", "08:02", POD, OUT),
        record("08:01", "08:02", POD, "203.0.113.8", destination_service="S3"),
    ]
    rows = of(records, ranges=ranges, bindings=[BINDING])
    assert told(rows, "peer_name", "name_kind") == {
        OUT: (BINDING["name"], "dns_pod"),
        "203.0.113.8": ("S3", "address_range"),
    }


def test_an_internet_gateway_leads_out_where_the_list_does_not_hold_the_peer():
    pods = [pod("alder", POD), at_home("birch", "192.0.2.11")]
    records = [
        record("08:01", "08:02", here["address"], OUT, cluster=None, traffic_path="8")
        for here in pods
    ]
    other = [network_row("198.51.100.0/24", "aws", "S3", "us-east-1")]
    rows = of(records, pods, ranges=other, clusters=(AWS, ClusterFacts("birch", "gcp")))
    # The list of another provider says nothing of this one's addresses.
    assert dict(rows.select("pod_uid", "distance").rows()) == {
        "alder": "internet",
        "birch": "unknown",
    }
    assert set(rows["gateway"]) == {"none"}


def test_a_private_address_lies_where_the_clusters_subnets_say():
    facts = ClusterFacts(
        "alder",
        "aws",
        "us-east-1",
        "111122223333",
        zones=(("use1-az1", "us-east-1a"), ("use1-az2", "us-east-1b")),
        subnets=(
            ("10.0.0.0/16", None, "us-east-1"),
            ("10.0.1.0/24", "us-east-1a", "us-east-1"),
            ("10.0.2.0/24", "use1-az2", "us-east-1"),
            ("10.0.3.0/24", "use1-az1", "us-east-1"),
            ("10.9.0.0/24", None, "eu-west-1"),
            ("fd00:1::/64", "use1-az1", "us-east-1"),
        ),
    )
    cases = {
        "10.0.1.9": "same_zone",
        "10.0.2.9": "cross_zone",
        "10.0.3.9": "same_zone",  # by id, where the node has the name
        "10.0.4.9": "same_region",
        "10.9.0.9": "cross_region",
        "10.8.0.9": "unknown",
        "fd00:1::9": "same_zone",
    }
    at_east = {"zone": "us-east-1a", "region": "us-east-1"}
    pods = [
        pod("alder", POD),
        at_home("birch", "192.0.2.11", **at_east),
        at_home("cedar", "192.0.2.12", **at_east),
    ]
    # Records of the whole fleet are of the cluster that the pod is of.
    records = [
        record("08:01", "08:02", here["address"], peer, cluster=None)
        for here in pods
        for peer in cases
    ]
    unlisted = ClusterFacts("cedar", subnets=facts.subnets)
    rows = of(records, pods, clusters=(facts, ClusterFacts("birch"), unlisted))
    assert told(rows.filter(pod_uid="alder"), "distance") == cases
    # Another cluster's subnets say nothing of this one's addresses.
    assert set(told(rows.filter(pod_uid="birch"), "distance").values()) == {"unknown"}
    # An id and a name are not compared without the list of both.
    found = told(rows.filter(pod_uid="cedar"), "distance")
    assert (found["10.0.1.9"], found["10.0.2.9"]) == ("same_zone", "same_region")
    own = [record("08:01", "08:02", POD, "10.0.2.9")]
    assert of(own, clusters=(facts,))["distance"].to_list() == ["cross_zone"]


def test_ids_of_zones_compare_across_accounts():
    zone = {"zone": "us-east-1c", "region": "us-east-1"}
    pods = [pod("a", POD), at_home("birch", OTHER, **zone), at_home("cedar", "192.0.2.3", **zone)]
    seen = [record("08:01", "08:02", POD, here["address"], cluster=None) for here in pods[1:]]
    facts = (
        ClusterFacts("alder", account_id="1", zones=(("use1-az5", "us-east-1a"),)),
        ClusterFacts("birch", account_id="2", zones=(("use1-az5", "us-east-1c"),)),
        ClusterFacts("cedar", account_id="3", zones=(("use1-az1", "us-east-1c"),)),
    )
    rows = of(seen, pods, clusters=facts, pod_uid="a")
    assert told(rows, "distance") == {OTHER: "same_zone", "192.0.2.3": "cross_zone"}


def test_a_machines_own_interface_says_where_it_lies():
    place = {"region": "us-east-1", "zone_id": "use1-az1", "flow_direction": "ingress"}
    other = {"interface_id": "eni-b", "instance_id": "i-b", **place}
    records = [
        record("08:01", "08:02", POD, "10.0.0.9"),
        record("08:01", "08:02", POD, "10.0.0.9", **other),
        record("08:01", "08:02", POD, "10.0.0.8"),
        # An interface that only forwards is no address's own.
        record("08:01", "08:02", POD, "10.0.0.8", **other | {"instance_id": None}),
        record("08:01", "08:02", POD, OUT),
        record("08:01", "08:02", POD, OUT, **other),
    ]
    facts = ClusterFacts("alder", zones=(("use1-az1", "us-east-1a"),))
    rows = told(of(records, clusters=(facts,), observer="eni-a"), "distance")
    assert rows == {"10.0.0.9": "same_zone", "10.0.0.8": "unknown", OUT: "unknown"}


def test_an_interface_endpoint_is_known_by_its_address_or_its_name():
    facts = ClusterFacts(
        "alder",
        endpoints=(
            ("vpce-0example1", "interface", ("10.0.0.9", "fd00:1::9")),
            ("vpce-0example2", "gateway", ("10.0.0.8",)),
        ),
    )
    name = "bucket.vpce-0example3-abc.s3.us-east-1.vpce.amazonaws.com"
    bindings = [BINDING | {"address": "10.0.0.7", "name": name}]
    peers = ("10.0.0.9", "fd00:1::9", "10.0.0.8", "10.0.0.7")
    records = [record("08:01", "08:02", POD, peer, traffic_path="1") for peer in peers]
    rows = of(records, clusters=(facts,), bindings=bindings)
    assert told(rows, "gateway") == {
        "10.0.0.9": "interface_endpoint",
        "fd00:1::9": "interface_endpoint",
        "10.0.0.8": "none",
        "10.0.0.7": "interface_endpoint",
    }


def test_answers_came_the_way_that_the_requests_took():
    records = [
        record("08:01", "08:02", POD, OUT, traffic_path="7", destination_service="S3"),
        record(
            "08:01", "08:02", OUT, POD, source_port=443, destination_port=40000,
            source_service="S3",
        ),
    ]  # fmt: skip
    assert of(records)["gateway"].to_list() == ["gateway_endpoint", "gateway_endpoint"]


def test_more_bytes_than_a_column_holds_do_not_stop_the_day():
    largest = 2**63 - 1
    records = [record("08:01", "08:02", POD, OUT, bytes=largest, packets=largest)] * 2
    rows = of(records)
    assert rows.select("bytes", "max_bytes", "packets").rows() == [(largest, largest, largest)]


@given(seed=st.integers(0, 2**32))
@settings(max_examples=2)
def test_days_add_up_to_the_records_in_any_order(seed):
    draw = random.Random(seed)
    pods = [pod(f"{n:03d}", f"10.1.{n // 200}.{n % 200}", "00:00") for n in range(400)]
    records = []
    for _ in range(1_500):
        start = at("20:00") + timedelta(seconds=draw.randrange(8 * 3600))
        records.append(
            record(
                start,
                start + timedelta(seconds=draw.randrange(700)),
                draw.choice(pods)["address"],
                OUT,
                bytes=draw.choice([1, 7, 1_000, 10**12]) * draw.randrange(3, 9),
                interface_id=f"eni-{draw.randrange(2)}",
                destination_port=draw.choice([443, 80]),
                action=draw.choice(["ACCEPT", "ACCEPT", "REJECT"]),
            )
        )
    rows = of(records, pods, days=(0, 1))
    for column, action in (("bytes", "ACCEPT"), ("rejected_bytes", "REJECT")):
        expected = sum(r["bytes"] for r in records if r["action"] == action)
        assert rows[column].sum() == expected
    assert rows.filter(pl.col("min_bytes") > pl.col("bytes")).is_empty()
    assert rows.filter(pl.col("max_bytes") < pl.col("bytes")).is_empty()
    draw.shuffle(records)
    assert of(records, pods, days=(0, 1)).equals(rows)


def test_an_observer_of_unknown_scale_takes_no_others_place():
    """The one that counts has fewer records: 100 bytes, one packet in 10, so some 1000."""
    seen = {"source_format": "netflow_json", "instance_id": None, "interface_id": None}
    rows = [
        record(start, end, POD, OUT, reporter=reporter, **seen, **more)
        for start, end, reporter, more in (
            ("10:00", "10:01", "a", {"scaled": "unknown"}),
            ("10:01", "10:02", "a", {"scaled": "unknown"}),
            ("10:00", "10:01", "b", {"sampling_interval": 10, "sampled_unit": "packets"}),
        )
    ]
    found = of(rows, [pod("a", POD)]).sort("observer")
    assert found.select("observer", "bytes", "estimated_bytes", "is_chosen").rows() == [
        ("a", 200, None, False),
        ("b", 100, 1000, True),
    ]

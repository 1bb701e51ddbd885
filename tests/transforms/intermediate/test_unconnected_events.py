"""What became of events that are in no connection."""

import random
from typing import Any

import polars as pl

from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.intermediate.test_connections import HOST, OWN_POD, TABLES, pod, sent
from transforms.day import BuildDay
from transforms.intermediate import connections, unconnected_events
from transforms.sql import SqlSession

Rows = list[dict[str, Any]]


def of(flows: Rows, **tables: Rows) -> tuple[pl.DataFrame, int]:
    """The rows of the day, and how many events its connections hold."""
    day = BuildDay(date=DAY, cluster="alder")
    shown: dict[str, Rows] = {name: [] for name in TABLES}
    shown |= {"flows": flows, "pod_intervals": [pod("a")], **tables}
    with SqlSession(threads=1) as session:
        show(session, **shown)
        made = session.frame(connections.build(session, day))
        session.connection.execute("DROP TABLE connections")
        session.register("connections", made.with_columns(date=pl.lit(DAY)))
        built = checked(session, "unconnected_events", unconnected_events.build(session, day))
    return built, made["event_count"].sum()


def counts(flows: Rows, **tables: Rows) -> dict[str, int]:
    rows, _ = of(flows, **tables)
    return dict(rows.group_by("reason").agg(pl.col("event_count").sum()).rows())


ALL = [
    sent("08:00", "SYN"),
    sent("08:00:01"),
    sent("08:00", None, transport="UDP", destination_port=53),
    sent("08:00", None, transport="UDP", source_port=53),
    sent("08:00", None, transport="ICMPv4", source_port=None, destination_port=None),
    sent("08:00", event_type=7),
    sent("08:00", None, agent_event="IPCACHE_UPSERTED", transport=None),
    sent("08:00", destination_identity=4),
    sent("08:00", destination_identity=None, destination_labels=["reserved:health"]),
    sent("08:00", source_address=None),
    sent("08:00", flow_count=7),
    sent("08:00", "SYN", **HOST, **OWN_POD),
    sent("08:01", **HOST, **OWN_POD),
]


def test_events_of_no_connection_are_counted_by_reason():
    assert counts(ALL) == {
        "dns": 2, "other_protocol": 1, "socket": 1, "agent_event": 1, "health": 2, "masked": 1,
        "aggregated": 1, "host_or_proxy": 2,
    }  # fmt: skip


def test_events_of_other_days_and_clusters_are_not_the_days():
    others = [
        sent(at("23:59:59.999999", days=-1), event_type=7),
        sent(at("00:00", days=1), event_type=7),
        sent("08:00", event_type=7, cluster="birch"),
    ]
    assert counts(others) == {}


def test_a_label_of_health_counts_only_where_the_identity_says_nothing():
    host = sent("08:00", "SYN", destination_identity=2, destination_labels=["reserved:health"])
    rows, connected = of([host])
    assert (rows.height, connected) == (0, 1)


def test_aggregated_and_masked_events_keep_what_they_still_say():
    pods = {
        "source_namespace": "ml", "source_pod_name": "pod-a", "destination_port": 443,
        "destination_namespace": None, "destination_pod_name": None, "verdict": "DROPPED",
    }  # fmt: skip
    rows, connected = of(
        [
            sent("08:00", source_address=None, **pods),
            sent("09:00", flow_count=3, **pods),
            sent("10:00", flow_count=4, **pods),
            sent("10:00", flow_count=5, **pods | {"verdict": "FORWARDED"}),
        ]
    )
    assert connected == 0
    told = (
        "reason", "verdict", "source_namespace", "source_pod_name", "destination_port", "node",
        "event_count", "flow_count", "first_event_at", "last_event_at",
    )  # fmt: skip
    same = ("ml", "pod-a", 443, "node-a")
    assert sorted(rows.select(told).rows()) == [
        ("aggregated", "DROPPED", *same, 2, 7, at("09:00"), at("10:00")),
        ("aggregated", "FORWARDED", *same, 1, 5, at("10:00"), at("10:00")),
        ("masked", "DROPPED", *same, 1, None, at("08:00"), at("08:00")),
    ]


def test_counts_beyond_what_a_column_holds_do_not_stop_the_day():
    rows, _ = of([sent("09:00", flow_count=2**62) for _ in range(3)])
    assert rows["flow_count"].to_list() == [2**63 - 1]


def test_all_events_of_the_day_stand_once_in_any_order():
    flows = [
        packet | {"record_id": f"event-{n}-{m}", "source_port": 30000 + m}
        for n, packet in enumerate(ALL)
        for m in range(40)
        if packet["source_port"] != 53
    ]
    rows, connected = of(flows)
    assert rows["event_count"].sum() + connected == len(flows)
    random.Random(3).shuffle(flows)
    again, _ = of(flows)
    assert again.equals(rows)

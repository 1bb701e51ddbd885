"""Which name stood for which address, for whom, and when."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.intermediate.name_bindings import build
from transforms.sql import SqlSession

POD = "aaaaaaaa-0000-0000-0000-00000000000a"
OTHER = "bbbbbbbb-0000-0000-0000-00000000000b"
HOST = "cccccccc-0000-0000-0000-00000000000c"
NEXT = DAY + timedelta(days=1)
BEFORE = DAY - timedelta(days=1)


def pod(uid: str, address: str, **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "namespace": "ml",
        "pod_name": f"pod-{uid[0]}",
        "pod_uid": uid,
        "address": address,
        "start_at": at("00:00", days=-1),
        "created_at": at("00:00", days=-1),
        "node": "node-a",
    } | more


PODS = (
    pod(POD, "192.0.2.10"),
    pod(OTHER, "192.0.2.11"),
    pod(HOST, "198.51.100.7", host_network=True),
)


def record(data: str, ttl: int | None = 300, kind: str = "A", name: str = "") -> dict[str, Any]:
    return {"name": name, "type": kind, "data": data, "ttl": ttl}


def lookup(seen: datetime, *answers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "event_at": seen,
        "source_format": "dns_collector",
        "client_address": "192.0.2.10",
        "query_name": "data.example.com",
        "query_type": "A",
        "rcode": "NOERROR",
        "is_response": True,
        "answers": list(answers) or [record("203.0.113.5")],
    } | more


def built(
    lookups: Iterable[dict[str, Any]],
    day: date = DAY,
    pods: Iterable[dict[str, Any]] = PODS,
) -> pl.DataFrame:
    shown = [p | {"date": day} for p in pods]
    with SqlSession(threads=1) as session:
        show(session, dns_lookups=lookups, pod_intervals=shown, node_states=[])
        name = build(session, BuildDay(date=day, cluster="alder"))
        return checked(session, "name_bindings", name)


def spans(rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    return rows.select("scope", "scope_id", "address", "name", "start_at", "end_at").rows()


def test_an_answer_binds_from_two_seconds_before_it_to_its_time_to_live():
    rows = built([lookup(at("10:00"))])
    assert spans(rows) == [
        ("pod", POD, "203.0.113.5", "data.example.com", at("09:59:58"), at("10:05"))
    ]
    assert rows.select(
        "ttl_seconds", "answer_count", "first_answer_at", "client_match_kind", "source_formats"
    ).row(0) == (300, 1, at("10:00"), "address_window", ["dns_collector"])


def test_a_short_missing_or_wild_time_to_live_binds_for_a_minute():
    minute, midnight = at("10:01"), at("00:00", days=1)
    times = {
        5: (minute, 5),
        0: (minute, 0),
        None: (minute, None),
        -4: (minute, 0),
        2**31: (minute, 0),
        2**62: (minute, 0),
        2**31 - 1: (midnight, 2**31 - 1),
    }
    rows = built(
        [
            lookup(at("10:00"), record("203.0.113.5", ttl), query_name=f"{ttl}.example.com")
            for ttl in times
        ]
    )
    found = {name: rest for name, *rest in rows.select("name", "end_at", "ttl_seconds").rows()}
    assert found == {f"{ttl}.example.com": list(told) for ttl, told in times.items()}


def test_a_chain_of_names_is_credited_to_the_name_asked():
    rows = built(
        [
            lookup(
                at("10:00"),
                record("mid.cdn.example.net", 90, "CNAME", "data.example.com"),
                record("Edge.CDN.example.net.", 120, "CNAME", "mid.cdn.example.net"),
                record("203.0.113.5", 600, "A", "edge.cdn.example.net"),
                record("2001:db8::5", 600, "AAAA", "edge.cdn.example.net"),
                record("10 mail.example.com", 600, "MX"),
            )
        ]
    )
    assert rows.select("address", "name", "canonical_name", "ttl_seconds", "end_at").rows() == [
        ("2001:db8::5", "data.example.com", "edge.cdn.example.net", 90, at("10:01:30")),
        ("203.0.113.5", "data.example.com", "edge.cdn.example.net", 90, at("10:01:30")),
    ]


def test_queries_without_an_answer_bind_nothing():
    rows = built(
        [
            lookup(at("10:00"), answers=None),
            lookup(at("10:01"), answers=[]),
            lookup(at("10:02"), record("elsewhere.example.com", kind="CNAME")),
            lookup(at("10:03"), is_response=False),
            lookup(at("10:04"), cluster="birch"),
        ]
    )
    assert rows.height == 0


CLIENTS: tuple[tuple[dict[str, Any], tuple[str, str, str]], ...] = (
    ({}, ("pod", POD, "address_window")),
    ({"client_namespace": "ml", "client_pod_name": "pod-a"}, ("pod", POD, "name_window")),
    ({"client_pod_uid": POD}, ("pod", POD, "uid")),
    ({"client_address": "198.51.100.7"}, ("node", "node-a", "node")),
    ({"client_address": "169.254.20.10", "node": "node-b"}, ("node", "node-b", "none")),
    ({"client_address": "fe80::1", "node": "node-b"}, ("node", "node-b", "none")),
    ({"client_address": "127.0.0.1"}, ("cluster", "alder", "none")),
    ({"client_address": "192.0.2.99"}, ("cluster", "alder", "none")),
    ({"client_address": None}, ("cluster", "alder", "none")),
    (
        {"client_address": "192.0.2.11", "client_namespace": "ml", "client_pod_name": "pod-a"},
        ("cluster", "alder", "conflict"),
    ),
    (
        {"client_address": None, "client_namespace": "ml", "client_pod_name": "pod-c"},
        ("node", "node-a", "name_window"),
    ),
)


def test_the_client_decides_whose_binding_it_is():
    rows = built(
        [
            lookup(at("10:00"), query_name=f"{n:02d}.example.com", **client)
            for n, (client, _) in enumerate(CLIENTS)
        ]
    ).sort("name")
    assert rows.select("scope", "scope_id", "client_match_kind").rows() == [
        told for _, told in CLIENTS
    ]


def test_overlapping_and_touching_answers_are_merged_and_others_are_not():
    rows = built(
        [
            lookup(at("10:00"), record("203.0.113.5", 60)),
            lookup(at("10:01:02"), record("203.0.113.5", 120)),
            lookup(at("10:03:05"), record("203.0.113.5", 60)),
        ]
    )
    assert rows.select("start_at", "end_at", "ttl_seconds", "answer_count").rows() == [
        (at("09:59:58"), at("10:03:02"), 120, 2),
        (at("10:03:03"), at("10:04:05"), 60, 1),
    ]


def test_addresses_names_and_clients_are_told_apart():
    rows = built(
        [
            lookup(at("10:00"), record("203.0.113.5"), record("203.0.113.6")),
            lookup(at("10:00"), query_name="other.example.com"),
            lookup(at("10:00"), client_address="192.0.2.11"),
        ]
    )
    assert rows.height == 4


def test_a_lookup_that_two_sources_saw_counts_once():
    hubble = {"source_format": "hubble", "client_namespace": "ml", "client_pod_name": "pod-a"}
    rows = built(
        [
            lookup(at("10:00:00")),
            lookup(at("10:00:01.5"), **hubble),
            lookup(at("10:00:10")),
            lookup(at("10:00:12.1"), **hubble),
            lookup(at("10:00:20"), query_type="AAAA"),
            lookup(at("10:00:20"), **hubble),
        ]
    )
    assert rows.select("answer_count", "client_match_kind", "source_formats").rows() == [
        (5, "address_window", ["dns_collector", "hubble"])
    ]


def test_two_lookups_of_one_source_in_one_second_are_two():
    rows = built([lookup(at("10:00:00")), lookup(at("10:00:00.5"))])
    assert rows["answer_count"].to_list() == [2]


def test_what_lives_at_midnight_has_a_row_on_both_days_under_one_id():
    lookups = [lookup(at("23:59")), lookup(at("00:01", days=1))]
    today, tomorrow = built(lookups), built(lookups, NEXT)
    assert spans(today) == [
        ("pod", POD, "203.0.113.5", "data.example.com", at("23:58:58"), at("00:00", days=1))
    ]
    assert tomorrow.select("start_at", "end_at", "answer_count").rows() == [
        (at("23:58:58"), at("00:04", days=1), 0),
        (at("00:00:58", days=1), at("00:06", days=1), 1),
    ]
    assert tomorrow["name_binding_id"][0] == today["name_binding_id"][0]


def test_an_answer_just_after_midnight_binds_the_last_second_of_the_day():
    lookups = [lookup(at("00:00:01", days=1))]
    today, tomorrow = built(lookups), built(lookups, NEXT)
    assert today.select("start_at", "end_at", "answer_count").rows() == [
        (at("23:59:59"), at("00:00", days=1), 0)
    ]
    assert tomorrow.select("start_at", "answer_count").rows() == [(at("23:59:59"), 1)]
    assert tomorrow["name_binding_id"].to_list() == today["name_binding_id"].to_list()


def test_answers_before_the_look_back_are_left_out():
    rows = built([lookup(at("23:59", days=-2), record("203.0.113.5", 200_000))])
    assert rows.height == 0


SOME_LOOKUPS = st.lists(
    st.builds(
        lambda second, client, address, ttl, source: lookup(
            at("23:50") + timedelta(seconds=second),
            record(address, ttl),
            client_address=client,
            source_format=source,
            record_id=f"{second}/{client}/{address}/{ttl}/{source}",
        ),
        st.integers(min_value=0, max_value=1200),
        st.sampled_from(["192.0.2.10", "192.0.2.11", "198.51.100.7", None]),
        st.sampled_from(["203.0.113.5", "203.0.113.6"]),
        st.sampled_from([0, 30, 90, 400, None]),
        st.sampled_from(["hubble", "dns_collector"]),
    ),
    min_size=5,
    max_size=40,
)


@settings(max_examples=4)
@given(lookups=SOME_LOOKUPS, data=st.data())
def test_the_order_of_lookups_has_no_say(lookups: list[dict[str, Any]], data: st.DataObject):
    assert built(lookups).equals(built(data.draw(st.permutations(lookups))))


@settings(max_examples=4)
@given(lookups=SOME_LOOKUPS)
def test_two_days_together_bind_exactly_when_some_answer_does(lookups: list[dict[str, Any]]):
    days = pl.concat([built(lookups), built(lookups, NEXT)])
    for second in range(0, 1800, 29):
        moment = at("23:49") + timedelta(seconds=second)
        held = {
            (look["client_address"], look["answers"][0]["data"])
            for look in lookups
            if look["event_at"] - timedelta(seconds=2)
            <= moment
            < look["event_at"] + timedelta(seconds=max(look["answers"][0]["ttl"] or 0, 60))
        }
        scopes = {"192.0.2.10": POD, "192.0.2.11": OTHER, "198.51.100.7": "node-a", None: "alder"}
        live = days.filter((pl.col("start_at") <= moment) & (pl.col("end_at") > moment))
        assert {(scopes[c], a) for c, a in held} == set(live.select("scope_id", "address").rows())
    counted = days["answer_count"].sum()
    one_source = {look["source_format"] for look in lookups}
    assert counted <= len(lookups)
    assert len(one_source) > 1 or counted == len(lookups)

"""Which pod a record means."""

import random
from datetime import datetime, timedelta
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, frame, rows_of, show
from tests.transforms.intermediate.pod_match_oracle import FIELDS, Oracle
from transforms.day import BuildDay
from transforms.intermediate.pod_match import match_pods
from transforms.sql import SqlSession

BUILD = BuildDay(date=DAY, cluster="alder")
OLD = "11111111-0000-0000-0000-000000000001"
NEW = "22222222-0000-0000-0000-000000000002"
HOST = "33333333-0000-0000-0000-000000000003"
RUN = "0123456789abcdef0123456789abcdef"
INPUT = pl.Schema(
    {
        "item_id": pl.Int64(),
        "cluster": pl.String(),
        "address": pl.String(),
        "namespace": pl.String(),
        "pod_name": pl.String(),
        "pod_uid": pl.String(),
        "event_at": pl.Datetime("us", "UTC"),
    }
)


def pod(uid: str, address: str | None, start: datetime, end: datetime | None, **more: Any) -> dict:
    return {
        "pod_interval_id": f"{uid}/{address}/{start}",
        "cluster": "alder",
        "namespace": "ml",
        "pod_name": f"pod-{uid[0]}",
        "pod_uid": uid,
        "address": address,
        "start_at": start,
        "end_at": end,
        "created_at": start - timedelta(seconds=10),
        "node": "node-a",
        "host_network": False,
        **more,
    }


def ask(session: SqlSession, *items: dict[str, Any]) -> None:
    """Register items, by default of the test's cluster."""
    rows = [{"item_id": n, "cluster": "alder"} | item for n, item in enumerate(items)]
    session.register("match_input", pl.DataFrame(rows, schema=INPUT, orient="row"))


def match(
    pods: list[dict], *items: dict[str, Any], nodes: list[dict] | None = None
) -> list[tuple[Any, ...]]:
    """Kind, pod and candidates of each item, in order."""
    with SqlSession(threads=1) as session:
        show(session, pod_intervals=pods, node_states=nodes or [])
        ask(session, *items)
        name = match_pods(session, BUILD)
        return rows_of(
            session, name, "match_kind", "pod_uid", "candidate_pod_uids", order="item_id"
        )


TWO = [
    pod(OLD, "192.0.2.10", at("09:00"), at("10:00"), run_uuid=RUN, attempt=1),
    pod(NEW, "192.0.2.10", at("10:00:30"), None),
]


def test_an_address_reused_within_a_minute_names_each_pod_in_its_own_time():
    assert match(
        TWO,
        {"address": "192.0.2.10", "event_at": at("09:59:59")},
        {"address": "192.0.2.10", "event_at": at("10:00:01.999999")},
        {"address": "192.0.2.10", "event_at": at("10:00:02")},
        {"address": "192.0.2.10", "event_at": at("10:00:28")},
        {"address": "192.0.2.10", "event_at": at("23:59:59")},
        {"address": "192.0.2.11", "event_at": at("09:30")},
    ) == [
        ("address_window", OLD, None),
        ("address_window", OLD, None),
        ("none", None, None),
        ("address_window", NEW, None),
        ("address_window", NEW, None),
        ("none", None, None),
    ]


def test_two_widened_intervals_make_an_address_ambiguous():
    near = [
        pod(OLD, "192.0.2.10", at("09:00"), at("10:00")),
        pod(NEW, "192.0.2.10", at("10:00:03"), None),
    ]
    assert match(
        near,
        {"address": "192.0.2.10", "event_at": at("10:00:01.5")},
        {"address": "192.0.2.10", "event_at": at("10:00:02.5")},
    ) == [
        ("ambiguous", None, [OLD, NEW]),
        ("address_window", NEW, None),
    ]


def test_a_name_decides_between_two_pods_of_one_address():
    near = [
        pod(OLD, "192.0.2.10", at("09:00"), at("10:00")),
        pod(NEW, "192.0.2.10", at("10:00:03"), None, created_at=at("10:00:02")),
    ]
    assert match(
        near,
        {
            "address": "192.0.2.10",
            "namespace": "ml",
            "pod_name": "pod-2",
            "event_at": at("10:00:01"),
        },
    ) == [("name_window", NEW, None)]


def test_a_name_that_returns_names_each_pod_in_its_own_life_and_the_address_decides_between():
    same = [
        pod(OLD, "192.0.2.10", at("09:00"), at("10:00"), pod_name="w-0"),
        pod(NEW, "192.0.2.20", at("10:00:03"), None, pod_name="w-0", created_at=at("10:00:01")),
    ]
    name = {"namespace": "ml", "pod_name": "w-0"}
    assert match(
        same,
        {**name, "event_at": at("09:30")},
        {**name, "event_at": at("11:00")},
        {**name, "event_at": at("10:00:00.5")},
        {**name, "address": "192.0.2.20", "event_at": at("10:00:01.5")},
    ) == [
        ("name_window", OLD, None),
        ("name_window", NEW, None),
        ("ambiguous", None, [OLD, NEW]),
        ("name_window", NEW, None),
    ]


def test_name_and_address_that_contradict_are_a_conflict_only_by_unwidened_intervals():
    other = [
        pod(OLD, "192.0.2.10", at("09:00"), at("10:00")),
        pod(NEW, "192.0.2.20", at("09:00"), at("09:30")),
    ]
    name = {"namespace": "ml", "pod_name": "pod-1", "address": "192.0.2.20"}
    assert match(
        other,
        {**name, "event_at": at("09:15")},
        {**name, "event_at": at("09:30:01")},
        {**name, "event_at": at("11:00")},
        {**name, "pod_name": "unseen", "event_at": at("09:15")},
    ) == [
        ("conflict", None, [OLD, NEW]),
        ("name_window", OLD, None),
        ("none", None, None),
        ("conflict", None, [NEW]),
    ]


def test_a_uid_is_taken_where_name_and_lifetime_agree():
    item = {"pod_uid": OLD, "event_at": at("09:30")}
    assert match(
        TWO,
        item,
        {**item, "namespace": "ml", "pod_name": "pod-1", "address": "192.0.2.10"},
        {**item, "namespace": "ml", "pod_name": "pod-9"},
        {**item, "event_at": at("12:00")},
        {**item, "event_at": at("12:00"), "address": "192.0.2.10"},
        {"pod_uid": "unknown", "event_at": at("09:30")},
        {"pod_uid": "unknown", "address": "192.0.2.10", "event_at": at("09:30")},
    ) == [
        ("uid", OLD, None),
        ("uid", OLD, None),
        ("conflict", None, [OLD]),
        ("conflict", None, [OLD]),
        ("conflict", None, [OLD, NEW]),
        ("none", None, ["unknown"]),
        ("conflict", None, [OLD, "unknown"]),
    ]


def test_a_host_network_address_is_the_nodes_and_never_a_pods():
    pods = [pod(HOST, "198.51.100.7", at("00:00"), None, host_network=True)]
    assert match(
        pods,
        {"address": "198.51.100.7", "event_at": at("12:00")},
        {
            "address": "198.51.100.7",
            "namespace": "ml",
            "pod_name": "pod-3",
            "event_at": at("12:00"),
        },
    ) == [("node", None, [HOST]), ("name_window", HOST, None)]


def test_a_nodes_address_is_known_from_its_own_states():
    nodes = [
        {
            "cluster": "alder",
            "node": "node-a",
            "addresses": ["198.51.100.7"],
            "observed_at": at("12:00"),
            "created_at": at("01:00", days=-3),
        }
    ]
    with SqlSession(threads=1) as session:
        show(session, pod_intervals=[], node_states=nodes)
        ask(session, {"cluster": None, "address": "198.51.100.7", "event_at": at("12:00")})
        name = match_pods(session, BUILD)
        assert rows_of(session, name, "match_kind", "cluster", "node") == [
            ("node", "alder", "node-a")
        ]


def test_an_address_held_in_two_clusters_is_ambiguous_where_the_cluster_is_not_known():
    pods = [
        pod(OLD, "192.0.2.10", at("09:00"), None),
        pod(NEW, "192.0.2.10", at("09:00"), None, cluster="birch"),
        pod(HOST, "192.0.2.30", at("09:00"), None, cluster="birch"),
    ]
    assert match(
        pods,
        {"address": "192.0.2.10", "event_at": at("12:00")},
        {"cluster": None, "address": "192.0.2.10", "event_at": at("12:00")},
        {"cluster": None, "address": "192.0.2.30", "event_at": at("12:00")},
    ) == [
        ("address_window", OLD, None),
        ("ambiguous", None, [OLD, NEW]),
        ("address_window", HOST, None),
    ]


def test_an_interval_left_open_on_an_older_day_speaks_up_to_the_end_of_that_day():
    pods = [pod(OLD, "192.0.2.10", at("09:00", days=-1), None, date=DAY - timedelta(days=1))]
    assert match(
        pods,
        {"address": "192.0.2.10", "event_at": at("23:59", days=-1)},
        {"address": "192.0.2.10", "event_at": at("00:05")},
    ) == [("address_window", OLD, None), ("none", None, None)]


def test_two_days_of_one_interval_are_one_pod():
    pods = [
        pod(OLD, "192.0.2.10", at("09:00", days=-1), None, date=DAY - timedelta(days=1)),
        pod(OLD, "192.0.2.10", at("09:00", days=-1), at("08:00")),
    ]
    assert match(
        pods,
        {"address": "192.0.2.10", "event_at": at("23:59", days=-1)},
        {"address": "192.0.2.10", "event_at": at("07:00")},
        {"address": "192.0.2.10", "event_at": at("09:00")},
    ) == [("address_window", OLD, None), ("address_window", OLD, None), ("none", None, None)]


def test_a_record_without_a_time_or_with_a_wild_one_matches_nothing():
    wild = datetime.fromisoformat("9998-01-01T00:00:00+00:00")
    ancient = datetime.fromisoformat("0001-01-02T00:00:00+00:00")
    assert match(
        TWO,
        {"address": "192.0.2.10", "event_at": None},
        {"address": "192.0.2.10", "event_at": wild},
        {"address": "192.0.2.10", "event_at": ancient},
        {"address": "192.0.2.10", "event_at": at("09:30")},
    ) == [
        ("none", None, None),
        ("none", None, None),
        ("none", None, None),
        ("address_window", OLD, None),
    ]


def test_the_named_pod_brings_its_node_run_and_attempt():
    with SqlSession(threads=1) as session:
        show(session, pod_intervals=TWO, node_states=[])
        ask(session, {"address": "192.0.2.10", "event_at": at("09:30")})
        name = match_pods(session, BUILD)
        assert rows_of(
            session, name, "cluster", "namespace", "pod_name", "node", "run_uuid", "attempt"
        ) == [("alder", "ml", "pod-1", "node-a", RUN, 1)]


def test_dropping_the_answer_drops_what_stands_behind_it():
    with SqlSession(threads=1) as session:
        show(session, pod_intervals=TWO, node_states=[])
        ask(session, {"address": "192.0.2.10", "event_at": at("09:30")})
        count = "SELECT COUNT(*) FROM {} WHERE {} LIKE '%match_%' AND schema_name <> 'pg_catalog'"
        left = []
        for _ in range(2):
            with session.dropped("match_output"):
                name = match_pods(session, BUILD)
                assert rows_of(session, name, "match_kind") == [("address_window",)]
            left += session.connection.execute(
                f"{count.format('duckdb_tables()', 'table_name')} UNION ALL "
                f"{count.format('duckdb_views()', 'view_name')}"
            ).fetchall()
        # `match_input` is the caller's, shown as a view.
        assert [sum(n for (n,) in left[:2]), sum(n for (n,) in left[2:])] == [1, 1]


MINUTES = st.integers(min_value=0, max_value=600)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[tuple[int, str, int, int]], list[tuple[str, int]]]:
    """Pods (number, address, start, end) and events (address, time), in seconds of the day."""
    addresses = ("192.0.2.1", "192.0.2.2", "192.0.2.3")
    pods = []
    for number in range(draw(st.integers(min_value=1, max_value=25))):
        start = draw(MINUTES)
        pods.append(
            (number, draw(st.sampled_from(addresses)), start, start + draw(st.integers(0, 120)))
        )
    events = [
        (draw(st.sampled_from(addresses)), draw(MINUTES))
        for _ in range(draw(st.integers(min_value=1, max_value=40)))
    ]
    return pods, events


@settings(max_examples=10)
@given(history=histories())
def test_the_segments_agree_with_asking_every_pod_whatever_the_order(
    history: tuple[list[tuple[int, str, int, int]], list[tuple[str, int]]],
):
    pods, events = history
    midnight = at("00:00")
    rows = [
        pod(
            f"{number:08d}-0000-0000-0000-000000000000",
            address,
            midnight + timedelta(seconds=start),
            midnight + timedelta(seconds=end),
        )
        for number, address, start, end in pods
    ]
    expected = []
    for address, second in events:
        holding = sorted(
            f"{number:08d}-0000-0000-0000-000000000000"
            for number, held, start, end in pods
            if held == address and start - 2 <= second < end + 2
        )
        if len(holding) == 1:
            expected.append(("address_window", holding[0], None))
        elif holding:
            expected.append(("ambiguous", None, holding))
        else:
            expected.append(("none", None, None))
    items = [
        {"address": address, "event_at": midnight + timedelta(seconds=second)}
        for address, second in events
    ]
    assert match(rows, *items) == expected
    assert match(rows[::-1], *items) == expected


CLUSTERS = ("alder", "birch")
NAMES = ("w-0", "w-1", "w-2", "w-3")
NAMESPACES = ("ml", "web")
ADDRESSES = ("192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1")
NODES = ("node-a", "node-b")
UIDS = tuple(f"{n:08d}-0000-0000-0000-000000000000" for n in range(9))


def moment(pick: random.Random, reach: int) -> datetime:
    """A moment of the night's first minutes; many of them fall together or a guard apart."""
    return at("00:00") + timedelta(seconds=pick.randint(-reach, reach), microseconds=pick.choice(
        (0, 0, 0, 1, 500_000, 999_999)
    ))  # fmt: skip


def some_pods(pick: random.Random) -> list[dict]:
    """Intervals of pods that share addresses, names and, across clusters, UIDs."""
    homes = {}
    rows = []
    for number in range(pick.randint(1, 25)):
        cluster, uid = pick.choices(CLUSTERS, (4, 1))[0], pick.choice(UIDS)
        home = homes.setdefault(
            (cluster, uid), {"namespace": pick.choice(NAMESPACES), "pod_name": pick.choice(NAMES)}
        )
        if pick.random() < 0.05:
            home = {"namespace": "moved", "pod_name": pick.choice(NAMES)}
        start = moment(pick, 40)
        end = start + timedelta(seconds=pick.randint(0, 25))
        age = pick.choice((None, 0, 3, 10))
        rows.append(
            {
                "pod_interval_id": f"{pick.randint(0, 99)}/{number}",
                "cluster": cluster,
                "pod_uid": uid,
                **home,
                "address": pick.choice((*ADDRESSES, *ADDRESSES, None)),
                "start_at": start,
                "end_at": None if pick.random() < 0.2 else end,
                "created_at": None if age is None else start - timedelta(seconds=age),
                "node": pick.choice((*NODES, None)),
                "host_network": pick.random() < 0.2,
                "run_uuid": pick.choice((RUN, None)),
                "attempt": pick.choice((1, 2, None)),
                "date": DAY - timedelta(days=pick.choice((0, 0, 0, 1))),
            }
        )
    return rows


def some_nodes(pick: random.Random) -> list[dict]:
    return [
        {
            "cluster": pick.choice(CLUSTERS),
            "node": pick.choice(NODES),
            "addresses": pick.sample(ADDRESSES, pick.randint(0, 2)),
            "observed_at": moment(pick, 40),
            "created_at": pick.choice((None, moment(pick, 40))),
        }
        for _ in range(pick.choice((0, 0, 1, 3)))
    ]


def some_items(pick: random.Random, pods: list[dict], count: int) -> list[dict]:
    """Records that state much or little, mostly of one pod, sometimes of several."""
    items = []
    for _ in range(count):
        pod = pick.choice(pods)
        item: dict[str, Any] = {
            "cluster": pick.choices((pod["cluster"], *CLUSTERS, None), (6, 1, 1, 3))[0],
            "event_at": None if pick.random() < 0.02 else moment(pick, 70),
        }
        for column, others, share in (
            ("address", (*ADDRESSES, "203.0.113.9"), 0.8),
            ("namespace", NAMESPACES, 0.5),
            ("pod_name", (*NAMES, "unseen"), 0.5),
            ("pod_uid", (*UIDS, "unknown"), 0.3),
        ):
            if pick.random() < share:
                item[column] = pod[column] if pick.random() < 0.8 else pick.choice(others)
        if pick.random() < 0.01:
            item["event_at"] = pick.choice((at("00:00", days=-50), at("00:00", days=50)))
        items.append(item)
    return items


@settings(max_examples=25)
@given(seed=st.integers(min_value=0, max_value=2**32))
def test_every_record_gets_what_asking_each_interval_gives(seed: int):
    pick = random.Random(seed)
    pods = some_pods(pick)
    nodes = some_nodes(pick)
    items = [
        {"item_id": n, **item}
        for n, item in enumerate(some_items(pick, pods, pick.randint(1, 200)))
    ]
    full = frame("pod_intervals", pods, date_column=True).to_dicts()
    oracle = Oracle(full, frame("node_states", nodes).to_dicts(), BUILD)
    told = pl.DataFrame(items, schema=INPUT, orient="row").to_dicts()
    with SqlSession(threads=1) as session:
        show(session, pod_intervals=pods, node_states=nodes)
        session.register("match_input", pl.DataFrame(told, schema=INPUT, orient="row"))
        name = match_pods(session, BUILD)
        found = rows_of(session, name, "item_id", *FIELDS, order="item_id")
    assert found == [(item["item_id"], *oracle.match(item)) for item in told]

"""run_coverage: dense, exact to the microsecond, and never sure without reason."""

import random
from datetime import timedelta

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay, ClusterFacts
from transforms.marts.run_coverage import TRANSFORM
from transforms.sql import SqlSession

RUN = "a" * 32
OTHER = "b" * 32
YESTERDAY = DAY - timedelta(days=1)
CLUSTERS = (ClusterFacts("alder"), ClusterFacts("birch"))
FLOWS = (("alder", "flows"),)
HOUR = 3600 * 1_000_000


def built(runs, pods, coverage, tables=FLOWS) -> pl.DataFrame:
    day = BuildDay(DAY, "fleet", clusters=CLUSTERS, export_tables=tables)
    with SqlSession(threads=1) as session:
        show(session, runs=runs, pod_intervals=pods, node_coverage=coverage)
        return checked(session, "run_coverage", TRANSFORM.build(session, day))


def run(**more) -> dict:
    return {"run_uuid": RUN, "attempt": 1, "cluster": "alder", "project": "vision"} | more


def pod(uid: str, start: str, end: str, **more) -> dict:
    return {
        "cluster": "alder",
        "pod_uid": uid,
        "address": f"address of {uid}",
        "node": "n1",
        "run_uuid": RUN,
        "start_at": at(start),
        "end_at": at(end),
    } | more


def said(start: str, end: str, status: str = "covered", **more) -> dict:
    return {
        "cluster": "alder",
        "source": "flows",
        "node": "n1",
        "start_at": at(start),
        "end_at": at(end),
        "status": status,
        "node_coverage_id": f"{start} {end} {more.get('node', 'n1')}",
        "reason": None if status == "covered" else f"{status} words",
    } | more


def only(rows: pl.DataFrame) -> dict:
    assert rows.height == 1
    return rows.row(0, named=True)


def numbers(row: dict) -> tuple:
    return row["expected_us"], row["covered_us"], row["doubtful_us"], row["coverage_ratio"]


def test_a_wholly_covered_run_says_that_nothing_else_happened():
    row = only(built([run()], [pod("p1", "10:00", "12:00")], [said("00:00", "18:00")]))
    assert numbers(row) == (2 * HOUR, 2 * HOUR, 0, 1.0)
    assert (row["empty_means"], row["reasons"], row["covered_seconds"]) == (
        "nothing_happened", [], 7200.0,
    )  # fmt: skip
    assert (row["cluster"], row["project"]) == ("alder", "vision")


def test_lossy_time_is_in_doubt_and_its_losses_are_counted_once_per_run():
    row = only(
        built(
            [run()],
            [pod("p1", "10:00", "12:00"), pod("p2", "10:00", "12:00")],
            [
                said("00:00", "11:00"),
                said("11:00", "11:30", "lossy", lost_count=42),
                said("11:30", "18:00"),
                said("18:00", "19:00", "lossy", lost_count=7),
            ],
        )
    )
    assert numbers(row) == (4 * HOUR, 3 * HOUR, HOUR, 0.75)
    assert (row["lost_count"], row["empty_means"]) == (42, "partly_observed")
    assert row["reasons"] == ["lossy words"]


def test_a_missing_file_is_not_observed():
    row = only(built([run()], [pod("p1", "10:00", "12:00")], [said("00:00", "18:00", "missing")]))
    assert numbers(row) == (2 * HOUR, 0, 0, 0.0)
    assert (row["empty_means"], row["reasons"]) == ("not_observed", ["missing words"])


def test_another_nodes_coverage_says_nothing():
    row = only(built([run()], [pod("p1", "10:00", "12:00")], [said("00:00", "18:00", node="n2")]))
    assert (row["covered_us"], row["reasons"]) == (0, ["nothing said"])


def test_a_source_without_nodes_holds_for_every_node_of_its_cluster():
    rows = built(
        [run()],
        [pod("p1", "10:00", "11:00"), pod("p2", "10:00", "11:00", node="n2")],
        [said("10:30", "23:00", node=None), said("00:00", "23:00", node=None, cluster="birch")],
    )
    assert numbers(only(rows)) == (2 * HOUR, HOUR, 0, 0.5)


def test_what_holds_for_the_fleet_holds_for_every_cluster_and_counts_per_bucket():
    rows = built(
        [run(), run(run_uuid=OTHER, cluster="birch")],
        [
            pod("p1", "10:00", "11:00"),
            pod("p2", "10:00", "12:00", run_uuid=OTHER, cluster="birch"),
        ],
        [
            said("10:30", "23:00", cluster="fleet", node=None, source="object_requests:one"),
            said("00:00", "11:00", "unknown", cluster="fleet", node=None,
                 source="object_requests:two"),
        ],
        tables=(("fleet", "object_requests"),),
    )  # fmt: skip
    assert rows.select("run_uuid", "source", "covered_us", "doubtful_us", "empty_means").rows() == [
        (RUN, "object_requests:one", HOUR // 2, 0, "partly_observed"),
        (RUN, "object_requests:two", 0, HOUR, "not_observed"),
        (OTHER, "object_requests:one", 3 * HOUR // 2, 0, "partly_observed"),
        (OTHER, "object_requests:two", 0, HOUR, "not_observed"),
    ]


def test_exports_that_fill_one_table_are_united_and_no_time_counts_twice():
    row = only(
        built(
            [run()],
            [pod("p1", "10:00", "12:00")],
            [
                said("10:00", "11:00"),
                said("11:00", "12:00", "missing"),
                said("10:30", "11:30", node=None),
                said("00:00", "12:00", "unknown", node=None, cluster="fleet"),
            ],
        )
    )
    assert numbers(row) == (2 * HOUR, 3 * HOUR // 2, HOUR // 2, 0.75)


def test_two_addresses_of_a_pod_are_one_expectation():
    pods = [pod("p1", "10:00", "12:00"), pod("p1", "10:30", "12:30", address="2001:db8::1")]
    row = only(built([run()], pods, [said("00:00", "18:00")]))
    assert row["expected_us"] == 5 * HOUR // 2


def test_the_whole_life_counts_over_earlier_days():
    start = at("22:00", days=-1)
    row = only(
        built(
            [run()],
            [
                pod("p1", "22:00", "01:00", start_at=start, end_at=None, date=YESTERDAY),
                pod("p1", "22:00", "01:00", start_at=start),
            ],
            [
                said("22:30", "23:00", start_at=at("22:30", days=-1), end_at=at("00:00"),
                     date=YESTERDAY),
                said("00:00", "00:30"),
            ],
        )
    )  # fmt: skip
    assert numbers(row) == (3 * HOUR, 2 * HOUR, 0, 2 / 3)


def test_rows_are_dense_over_runs_and_sources():
    rows = built(
        [run(), run(attempt=2), run(run_uuid=OTHER, cluster=None, project=None, attempt=None)],
        [pod("p1", "10:00", "11:00")],
        [said("00:00", "18:00"), said("00:00", "18:00", source="sockets", cluster="birch")],
        tables=(
            ("alder", "flows"), ("alder", "pod_states"), ("fleet", "object_requests"),
            ("birch", "volume_records"),
        ),
    )  # fmt: skip
    assert rows.select("run_uuid", "source").rows() == [
        (RUN, "flows"),
        (RUN, "object_requests"),
        (OTHER, "flows"),
        (OTHER, "object_requests"),
        (OTHER, "sockets"),
        (OTHER, "volume_records"),
    ]
    unseen = rows.filter(run_uuid=OTHER)
    assert unseen["expected_us"].to_list() == [0, 0, 0, 0]
    assert unseen["coverage_ratio"].to_list() == [None] * 4
    assert unseen["empty_means"].to_list() == ["not_observed"] * 4


def test_a_pod_that_was_never_bound_is_not_expected_to_be_seen():
    pending = pod("p1", "10:00", "11:00", node=None, address=None)
    assert only(built([run()], [pending], [said("00:00", "18:00")]))["expected_us"] == 0


def test_a_pod_of_an_unknown_node_is_expected_and_no_nodes_file_covers_it():
    pods = [pod("p1", "10:00", "11:00"), pod("p2", "10:00", "11:00", node=None)]
    row = only(built([run()], pods, [said("00:00", "18:00")]))
    assert numbers(row) == (2 * HOUR, HOUR, 0, 0.5)
    assert (row["empty_means"], row["reasons"]) == ("partly_observed", ["nothing said"])
    of_cluster = said("00:00", "18:00", node=None, source="volume_records")
    rows = built([run()], pods, [of_cluster], tables=())
    assert only(rows)["empty_means"] == "nothing_happened"


def test_a_pod_on_its_nodes_network_is_never_wholly_observed_where_the_node_is_told():
    pods = [pod("p1", "10:00", "11:00", host_network=True)]
    log = {"cluster": "fleet", "node": None, "source": "object_requests:data"}
    rows = built([run()], pods, [said("00:00", "18:00"), said("00:00", "18:00", **log)])
    found = rows.sort("source").select(
        "source", "covered_us", "doubtful_us", "reasons", "empty_means"
    )
    why = "a pod on its node's network is told as the node"
    assert found.rows() == [
        ("flows", 0, HOUR, [why], "not_observed"),
        ("object_requests:data", HOUR, 0, [], "nothing_happened"),
    ]


def test_a_run_that_is_not_active_on_the_day_has_no_row():
    assert built([run(date=YESTERDAY)], [pod("p1", "10:00", "11:00")], []).height == 0


MINUTES = 24 * 60


@settings(max_examples=4)
@given(st.integers(0, 2**32))
def test_coverage_equals_a_count_of_minutes(seed):
    draw = random.Random(seed)

    def span() -> tuple[int, int]:
        first = draw.randrange(MINUTES - 1)
        return first, draw.randrange(first + 1, MINUTES + 1)

    def clock(minute: int) -> dict:
        return {"clock": at("00:00") + timedelta(minutes=minute)}["clock"]

    runs, pods, coverage = [], [], []
    for number in range(5):
        runs.append(run(run_uuid=f"{number:032x}"))
        for index in range(draw.randrange(1, 5)):
            first, last = span()
            pods.append((f"{number:032x}", f"p{number}-{index % 3}", f"n{index % 3}", first, last))
    for node in ("n0", "n1", None):
        for index in range(12):
            first, last = span()
            status = draw.choice(["covered", "lossy", "missing", "unknown"])
            coverage.append((node, first, last, status, index))
    rows = built(
        runs,
        [
            pod(uid, "00:00", "00:00", run_uuid=owner, node=node, start_at=clock(first),
                end_at=clock(last), address=f"{first} {last} {place}")
            for place, (owner, uid, node, first, last) in enumerate(pods)
        ],
        [
            said("00:00", "00:00", status, node=node, start_at=clock(first), end_at=clock(last),
                 node_coverage_id=f"{node} {index}", lost_count=1)
            for node, first, last, status, index in coverage
        ],
    )  # fmt: skip
    for row in rows.iter_rows(named=True):
        mine = [p for p in pods if p[0] == row["run_uuid"]]
        lives = {
            (uid, node, minute)
            for _, uid, node, first, last in mine
            for minute in range(first, last)
        }
        words = {
            (uid, node, minute): {
                status
                for place, first, last, status, _ in coverage
                if place in (node, None) and first <= minute < last
            }
            for uid, node, minute in lives
        }
        covered = sum("covered" in said for said in words.values())
        doubtful = sum(
            "covered" not in said and bool(said & {"lossy", "unknown"}) for said in words.values()
        )
        minute_us = 60 * 1_000_000
        assert row["expected_us"] == len(lives) * minute_us
        assert row["covered_us"] == covered * minute_us
        assert row["doubtful_us"] == doubtful * minute_us

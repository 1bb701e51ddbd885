"""Which pod held which address, when, and of which run it is."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, frame, show
from transforms.day import BuildDay
from transforms.intermediate.pod_intervals import build, unbuilt
from transforms.sql import SqlSession

A = "aaaaaaaa-0000-0000-0000-00000000000a"
B = "bbbbbbbb-0000-0000-0000-00000000000b"
C = "cccccccc-0000-0000-0000-00000000000c"
RUN = "0123456789abcdef0123456789abcdef"
OTHER_RUN = "fedcba9876543210fedcba9876543210"
NEXT = DAY + timedelta(days=1)


def state(uid: str, seen: datetime, **more: Any) -> dict[str, Any]:
    """A state of a pod that holds 192.0.2.10 and was created at 09:00."""
    return {
        "cluster": "alder",
        "namespace": "ml",
        "pod_name": f"pod-{uid[0]}",
        "pod_uid": uid,
        "record_id": f"{uid}/{seen.isoformat()}",
        "observed_at": seen,
        "created_at": at("09:00"),
        "start_time_at": at("09:00:05"),
        "addresses": ["192.0.2.10"],
        "phase": "Running",
        "run_match_kind": "none",
        "node": "node-a",
    } | more


def built(
    states: Iterable[dict[str, Any]],
    *,
    day: date = DAY,
    history: pl.DataFrame | None = None,
    nodes: Iterable[dict[str, Any]] = (),
    runs: Iterable[dict[str, Any]] = (),
    agents: Iterable[dict[str, Any]] = (),
    claims: Iterable[dict[str, Any]] = (),
    built_days: tuple[date, ...] = (),
) -> pl.DataFrame:
    """The pod intervals of a day."""
    with SqlSession(threads=1) as session:
        show(session, pod_states=states, flows=agents, node_states=nodes, run_versions=runs)
        show(session, pod_intervals=[], resource_claims=claims)
        if history is not None:
            session.register("pod_intervals", history)
        name = build(session, BuildDay(date=day, cluster="alder", built_days=built_days))
        return checked(session, "pod_intervals", name)


def as_history(*days: tuple[date, pl.DataFrame]) -> pl.DataFrame:
    """Published days as a view shows them."""
    return pl.concat(rows.with_columns(date=pl.lit(day)) for day, rows in days)


def spans(rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Pod's letter, address, start and end with their bases."""
    return [
        (uid[0], *rest)
        for uid, *rest in rows.select(
            "pod_uid", "address", "start_at", "start_basis", "end_at", "end_basis"
        )
        .sort("pod_uid", "start_at", "address")
        .iter_rows()
    ]


def test_an_interval_runs_from_the_ready_sandbox_to_its_teardown():
    rows = built(
        [
            state(A, at("09:10"), sandbox_ready_at=at("09:00:07")),
            state(
                A,
                at("10:00:04"),
                phase="Succeeded",
                last_finished_at=at("10:00"),
                sandbox_ended_at=at("10:00:02"),
            ),
        ]
    )
    assert spans(rows) == [
        ("a", "192.0.2.10", at("09:00:07"), "sandbox_ready", at("10:00:02"), "sandbox_teardown")
    ]
    assert rows.select("phase", "last_seen_at", "created_at").row(0) == (
        "Succeeded",
        at("10:00:04"),
        at("09:00"),
    )


def test_without_sandbox_times_it_runs_from_the_start_time_to_the_last_finish():
    rows = built([state(A, at("12:00"), phase="Failed", last_finished_at=at("10:00"))])
    assert spans(rows) == [
        ("a", "192.0.2.10", at("09:00:05"), "start_time", at("10:00"), "finished")
    ]


def test_without_any_start_it_runs_from_the_first_state_that_shows_the_address():
    rows = built(
        [
            state(A, at("09:10"), addresses=None, start_time_at=None, phase="Pending"),
            state(A, at("09:20"), start_time_at=None),
            state(A, at("09:30"), start_time_at=None),
        ]
    )
    assert spans(rows) == [("a", "192.0.2.10", at("09:20"), "first_state", None, "open")]


def test_containers_that_ended_in_a_pod_that_goes_on_end_nothing():
    rows = built([state(A, at("12:00"), last_finished_at=at("10:00"))])
    assert spans(rows) == [("a", "192.0.2.10", at("09:00:05"), "start_time", None, "open")]


def test_a_completed_pod_that_still_shows_its_address_leaves_it_to_the_next_pod():
    done = {"phase": "Succeeded", "last_finished_at": at("10:00")}
    rows = built(
        [
            state(A, at("09:30")),
            state(A, at("11:00"), **done),
            state(A, at("23:00"), **done),
            state(B, at("11:00"), created_at=at("10:00:20"), start_time_at=at("10:00:30")),
        ]
    )
    assert spans(rows) == [
        ("a", "192.0.2.10", at("09:00:05"), "start_time", at("10:00"), "finished"),
        ("b", "192.0.2.10", at("10:00:30"), "start_time", None, "open"),
    ]


def test_an_interval_without_a_proven_end_ends_at_the_next_start_on_its_address():
    rows = built(
        [
            state(A, at("09:30")),
            state(B, at("11:00"), created_at=at("10:00"), start_time_at=at("10:00:30")),
            state(C, at("12:00"), created_at=at("11:30"), start_time_at=at("11:30:30")),
        ]
    )
    assert spans(rows) == [
        ("a", "192.0.2.10", at("09:00:05"), "start_time", at("10:00:30"), "address_reused"),
        ("b", "192.0.2.10", at("10:00:30"), "start_time", at("11:30:30"), "address_reused"),
        ("c", "192.0.2.10", at("11:30:30"), "start_time", None, "open"),
    ]


def test_host_network_pods_share_an_address_and_end_nothing():
    rows = built(
        [
            state(A, at("09:30"), host_network=True),
            state(B, at("11:00"), host_network=True, start_time_at=at("10:00:30")),
            state(C, at("11:00"), start_time_at=at("09:10")),
        ]
    )
    assert [(uid, basis) for uid, *_, basis in spans(rows)] == [
        ("a", "open"),
        ("b", "open"),
        ("c", "open"),
    ]
    assert rows["host_network"].sum() == 2


def test_a_pod_without_an_address_has_one_row_from_its_creation():
    rows = built(
        [state(A, at("09:30"), addresses=None, start_time_at=None, phase="Pending", node=None)]
    )
    assert spans(rows) == [("a", None, at("09:00"), "created", None, "open")]


def test_a_dual_stack_pod_has_a_row_per_address():
    rows = built([state(A, at("09:30"), addresses=["192.0.2.10", "2001:db8::10"])])
    assert spans(rows) == [
        ("a", "192.0.2.10", at("09:00:05"), "start_time", None, "open"),
        ("a", "2001:db8::10", at("09:00:05"), "start_time", None, "open"),
    ]


def test_a_second_family_shown_later_is_no_other_sandbox():
    rows = built(
        [
            state(A, at("09:30")),
            state(A, at("09:40"), addresses=["192.0.2.10", "2001:db8::10"]),
        ]
    )
    assert {basis for *_, basis, _, _ in spans(rows)} == {"start_time"}


def test_a_new_sandbox_with_another_address_ends_the_old_address():
    rows = built(
        [
            state(A, at("09:30"), sandbox_ready_at=at("09:00:07")),
            state(
                A, at("10:30"), addresses=["192.0.2.11"], sandbox_ready_at=at("10:20"),
            ),
        ]
    )  # fmt: skip
    assert spans(rows) == [
        ("a", "192.0.2.10", at("09:00:07"), "sandbox_ready", at("10:20"), "sandbox_teardown"),
        ("a", "192.0.2.11", at("10:20"), "sandbox_ready", None, "open"),
    ]


def test_a_new_address_without_a_sandbox_time_starts_at_its_first_state():
    rows = built([state(A, at("09:30")), state(A, at("10:30"), addresses=["192.0.2.11"])])
    assert spans(rows) == [
        ("a", "192.0.2.10", at("09:00:05"), "start_time", at("10:30"), "sandbox_teardown"),
        ("a", "192.0.2.11", at("10:30"), "first_state", None, "open"),
    ]


@pytest.mark.parametrize(
    ("last", "end", "basis"),
    [
        ({"is_deleted": True, "observed_basis": "record"}, at("10:00"), "deleted"),
        (
            {
                "is_deleted": True,
                "observed_basis": "landing_day",
                "deletion_at": at("09:50"),
                "observed_at": at("00:00", days=1),
            },
            at("09:50"),
            "deleted",
        ),
        ({"deletion_at": at("10:00:30")}, at("10:00:30"), "deleted"),
        ({"deletion_at": at("09:50")}, None, "open"),
        (
            {"is_deleted": True, "last_finished_at": at("09:59"), "deletion_at": at("10:00:20")},
            at("09:59"),
            "finished",
        ),
        ({"phase": "Failed", "reason": "Evicted"}, at("10:00"), "last_seen"),
    ],
)
def test_a_deleted_pod_ends(last: dict[str, Any], end: datetime | None, basis: str):
    rows = built([state(A, at("09:30")), state(A, at("10:00"), **last)])
    assert [(e, b) for *_, e, b in spans(rows)] == [(end, basis)]


def test_a_pod_last_seen_alive_stays_open_for_the_look_back_and_then_ends():
    first = [state(A, at("09:30"))]
    assert spans(built(first)) == [("a", "192.0.2.10", at("09:00:05"), "start_time", None, "open")]
    assert spans(built(first, day=NEXT)) == [
        (
            "a",
            "192.0.2.10",
            at("09:00:05"),
            "start_time",
            at("21:30", days=1),
            "last_seen",
        )
    ]
    assert built(first, day=NEXT + timedelta(days=1)).height == 0


def test_a_row_says_nothing_later_than_its_day():
    states = [
        state(A, at("20:00")),
        state(A, at("09:00", days=1), phase="Succeeded", last_finished_at=at("03:00", days=1)),
    ]
    today, tomorrow = built(states), built(states, day=NEXT)
    assert spans(today) == [("a", "192.0.2.10", at("09:00:05"), "start_time", None, "open")]
    assert today.select("phase", "last_seen_at").row(0) == ("Running", at("00:00", days=1))
    assert spans(tomorrow) == [
        ("a", "192.0.2.10", at("09:00:05"), "start_time", at("03:00", days=1), "finished")
    ]
    assert tomorrow["phase"].to_list() == ["Succeeded"]
    assert today["pod_interval_id"].to_list() == tomorrow["pod_interval_id"].to_list()


def test_a_state_observed_after_the_day_speaks_for_the_day():
    """The nightly list is taken after midnight, when the job's pod has long ended."""
    late = state(A, at("00:05", days=1), phase="Succeeded", last_finished_at=at("22:00"))
    rows = built([late])
    assert spans(rows) == [
        ("a", "192.0.2.10", at("09:00:05"), "start_time", at("22:00"), "finished")
    ]
    assert rows["phase"].to_list() == ["Succeeded"]
    assert rows["last_seen_at"].to_list() == [at("00:00", days=1)]


def test_a_phase_observed_after_the_day_is_not_the_days():
    rows = built([state(A, at("00:05", days=1))])
    assert rows["phase"].to_list() == [None]


def test_a_pod_that_starts_after_midnight_is_not_the_days_and_one_created_before_has_no_address():
    late = {"start_time_at": at("00:01", days=1)}
    rows = built(
        [
            state(A, at("00:05", days=1), created_at=at("23:59"), **late),
            state(B, at("00:05", days=1), created_at=at("00:00:30", days=1), **late),
        ]
    )
    assert spans(rows) == [("a", None, at("23:59"), "created", None, "open")]


def test_a_start_that_only_an_earlier_day_could_prove_keeps_the_id():
    first = built([state(A, at("09:10"), sandbox_ready_at=at("09:00:07"))])
    later = state(A, at("23:00", days=1), phase="Failed", last_finished_at=at("22:00", days=1))
    tomorrow = built([later], day=NEXT, history=as_history((DAY, first)))
    assert spans(tomorrow) == [
        (
            "a",
            "192.0.2.10",
            at("09:00:07"),
            "sandbox_ready",
            at("22:00", days=1),
            "finished",
        )
    ]
    assert tomorrow["pod_interval_id"].to_list() == first["pod_interval_id"].to_list()


def test_an_interval_of_no_length_stays_on_its_day():
    instant = {"phase": "Failed", "last_finished_at": at("09:00:05")}
    rows = built([state(A, at("12:00"), **instant)])
    assert spans(rows) == [
        ("a", "192.0.2.10", at("09:00:05"), "start_time", at("09:00:05"), "finished")
    ]


def test_zone_and_region_come_from_the_newest_node_state_of_the_day():
    nodes = [
        {"cluster": "alder", "node": "node-a", "zone": zone, "region": "r", "observed_at": seen}
        for zone, seen in (("z1", at("08:00")), ("z2", at("20:00")))
    ] + [
        {
            "cluster": "alder",
            "node": "node-a",
            "zone": "z3",
            "observed_at": at("00:05", days=1),
            "created_at": at("01:00"),
        }
    ]
    rows = built([state(A, at("09:30"))], nodes=nodes)
    assert rows.select("node", "zone", "region").row(0) == ("node-a", "z2", "r")
    rows = built([state(A, at("09:30"))], nodes=nodes[2:])
    assert rows.select("zone", "region").row(0) == ("z3", None)


def test_facts_of_several_states_are_merged_the_newest_of_the_day_first():
    label = [{"name": "team", "value": "vision"}]
    rows = built(
        [
            state(A, at("09:10"), labels=label, service_account="old", replica_index="0"),
            state(A, at("09:20"), service_account="new", gpu_count=2),
            state(A, at("09:00", days=1), service_account="tomorrow", gpu_count=4),
        ]
    )
    assert rows.select("labels", "service_account", "replica_index", "gpu_count").row(0) == (
        label,
        "new",
        "0",
        2,
    )


def run_of(*kinds: tuple[str | None, str], **more: Any) -> tuple[Any, ...]:
    rows = built(
        [
            state(A, at(f"09:{10 + n}"), run_uuid=run, run_match_kind=kind, **more)
            for n, (run, kind) in enumerate(kinds)
        ]
    )
    return rows.select("run_uuid", "run_match_kind", "attempt").row(0)


def test_the_run_is_taken_from_the_best_rung():
    assert run_of((RUN, "label"), (RUN, "name")) == (RUN, "label", 1)
    assert run_of((None, "none"), (RUN, "environment")) == (RUN, "environment", 1)
    assert run_of((None, "none")) == (None, "none", None)


def test_states_that_name_two_runs_are_a_conflict():
    assert run_of((RUN, "label"), (OTHER_RUN, "name")) == (None, "conflict", None)
    assert run_of((RUN, "label"), (None, "conflict")) == (None, "conflict", None)


def test_a_cleaner_pod_has_no_run():
    assert run_of((RUN, "label"), run_component="polyaxon-cleaners") == (None, "none", None)


def attempts(rows: pl.DataFrame) -> dict[str, int | None]:
    return {uid[0]: n for uid, n in rows.select("pod_uid", "attempt").iter_rows()}


def job(uid: str, seen: datetime, created: datetime, **more: Any) -> dict[str, Any]:
    facts = {
        "run_uuid": RUN,
        "run_match_kind": "label",
        "created_at": created,
        "start_time_at": created + timedelta(seconds=5),
        "addresses": [f"192.0.2.{ord(uid[0])}"],
    }
    return state(uid, seen, **(facts | more))


def test_a_retry_is_the_next_attempt_although_the_sandbox_still_stands():
    failed = {
        "phase": "Failed",
        "last_finished_at": at("10:00"),
        "sandbox_ended_at": at("10:00:03"),
    }
    rows = built(
        [
            job(A, at("11:00"), at("09:00"), **failed),
            job(B, at("11:00"), at("10:00:01")),
            job(C, at("11:00"), at("10:30")),
        ]
    )
    assert attempts(rows) == {"a": 1, "b": 2, "c": 2}


def test_pods_with_an_index_are_counted_by_creation_even_where_they_overlap():
    worker = {"replica_type": "worker", "replica_index": "0"}
    rows = built(
        [
            job(B, at("11:00"), at("10:00"), **worker),
            job(A, at("11:00"), at("09:00"), **worker),
            job(C, at("11:00"), at("10:30"), replica_type="worker", replica_index="1"),
        ]
    )
    assert attempts(rows) == {"a": 1, "b": 2, "c": 1}


@pytest.mark.parametrize("index", [None, "0"])
def test_a_run_resumed_on_another_day_goes_on_counting(index: str | None):
    done = {"phase": "Succeeded", "last_finished_at": at("10:00")}
    first = built([job(A, at("11:00"), at("09:00"), replica_index=index, **done)])
    second = built(
        [job(B, at("11:00", days=3), at("09:00", days=3), replica_index=index)],
        day=DAY + timedelta(days=3),
        history=as_history((DAY, first)),
        runs=[{"run_uuid": RUN, "created_at": at("08:00"), "observed_at": at("10:00", days=3)}],
        built_days=(DAY, DAY + timedelta(days=2)),
    )
    assert attempts(second) == {"b": 2}
    assert second["attempt_basis"].to_list() == ["not built: 2026-03-03"]


def test_an_attempt_keeps_its_number_over_midnight():
    first = built([job(A, at("11:00"), at("09:00")), job(B, at("11:00"), at("10:00"))])
    done = {"phase": "Failed", "last_finished_at": at("01:00", days=1)}
    second = built(
        [
            job(A, at("11:00", days=1), at("09:00"), **done),
            job(B, at("11:00", days=1), at("10:00"), **done),
            job(C, at("11:00", days=1), at("01:00:01", days=1)),
        ],
        day=NEXT,
        history=as_history((DAY, first)),
        built_days=(DAY,),
    )
    assert attempts(first) == {"a": 1, "b": 1}
    assert attempts(second) == {"a": 1, "b": 1, "c": 2}


def test_the_basis_of_an_attempt_names_the_days_that_may_hide_earlier_ones():
    created = {"run_uuid": RUN, "observed_at": at("12:00")}
    one = [job(A, at("11:00"), at("09:00"))]

    def basis(run_created: datetime | None, *built_days: date) -> str | None:
        runs = [created | {"created_at": run_created}]
        return built(one, runs=runs, built_days=built_days)["attempt_basis"].item()

    assert basis(at("08:00")) == "complete"
    assert basis(at("08:00", days=-1), DAY - timedelta(days=1)) == "complete"
    assert basis(at("08:00", days=-4), date(2026, 2, 28)) == (
        "not built: 2026-02-26 to 2026-02-27, 2026-03-01"
    )
    assert basis(None, date(2026, 3, 1)) == "not built: to 2026-02-28"
    assert built([state(A, at("09:30"))])["attempt_basis"].to_list() == [None]


def test_unbuilt_days_are_the_gaps_before_the_day():
    day = BuildDay(date=DAY, cluster="alder", built_days=(date(2026, 3, 1), date(2026, 2, 27)))
    assert unbuilt(day) == [
        (date(1, 1, 1), date(2026, 2, 26)),
        (date(2026, 2, 28), date(2026, 2, 28)),
    ]


def test_other_clusters_and_states_out_of_reach_are_left_out():
    rows = built(
        [
            state(A, at("09:30"), cluster="birch"),
            state(B, at("09:30"), cluster=None),
            state(C, at("11:59", days=-2), created_at=at("09:00", days=-2)),
        ]
    )
    assert rows.height == 0


# -- what Cilium's agents tell ------------------------------------------------------------------


def agent(seen: datetime, **more: Any) -> dict[str, Any]:
    """An agent's event: pod-a of `state` was given its address."""
    return {
        "cluster": "alder",
        "node": "node-a",
        "event_at": seen,
        "agent_event": "IPCACHE_UPSERTED",
        "source_namespace": "ml",
        "source_pod_name": "pod-a",
        "source_address": "192.0.2.10",
    } | more


TAKEN = {"agent_event": "IPCACHE_DELETED"}
UNDATED = {"start_time_at": None}
FROM_STATE = ("a", "192.0.2.10", at("09:30"), "first_state", None, "open")
FROM_AGENT = ("a", "192.0.2.10", at("09:00:08"), "agent_event", None, "open")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], FROM_STATE),
        ([agent(at("09:00:08"))], FROM_AGENT),
        # Every agent tells of it, again when it starts; the first one counts.
        ([agent(at("09:00:09")), agent(at("09:00:08"), node="node-b")], FROM_AGENT),
        ([agent(at("09:31"))], FROM_STATE),
        # Before its creation another pod had the name.
        ([agent(at("08:59:59"))], FROM_STATE),
        ([agent(at("09:00:08"), source_address="192.0.2.11")], FROM_STATE),
        ([agent(at("09:00:08"), source_pod_name="pod-b")], FROM_STATE),
        ([agent(at("09:00:08"), source_namespace=None)], FROM_STATE),
        ([agent(at("09:00:08"), cluster="birch")], FROM_STATE),
        ([agent(at("09:00:08"), agent_event=None)], FROM_STATE),
    ],
)
def test_an_agent_tells_when_an_address_was_given_where_no_state_does(events, expected):
    assert spans(built([state(A, at("09:30"), **UNDATED)], agents=events)) == [expected]


def test_a_state_that_proves_a_start_goes_before_agents():
    rows = built([state(A, at("09:30"))], agents=[agent(at("09:00:02"))])
    assert spans(rows) == [("a", "192.0.2.10", at("09:00:05"), "start_time", None, "open")]


START = ("a", "192.0.2.10", at("09:00:05"), "start_time")


@pytest.mark.parametrize(
    ("events", "end", "basis"),
    [
        ([agent(at("11:00"), **TAKEN)], at("11:00"), "agent_event"),
        (
            [agent(at("11:00:01"), **TAKEN), agent(at("11:00"), **TAKEN, node="node-b")],
            at("11:00"),
            "agent_event",
        ),
        # An agent of another clock may still give what is taken.
        (
            [agent(at("11:00"), **TAKEN), agent(at("11:00:02"), node="node-b")],
            at("11:00"),
            "agent_event",
        ),
        ([agent(at("11:00"), **TAKEN), agent(at("11:00:02.000001"))], None, "open"),
        # The pod was seen alive behind it.
        ([agent(at("09:29"), **TAKEN)], None, "open"),
        ([agent(at("11:00"), **TAKEN, source_address="192.0.2.11")], None, "open"),
        ([agent(at("00:00:01", days=1), **TAKEN)], None, "open"),
    ],
)
def test_an_agent_tells_when_an_address_was_taken_where_no_state_does(events, end, basis):
    assert spans(built([state(A, at("09:30"))], agents=events)) == [(*START, end, basis)]


@pytest.mark.parametrize(
    ("more", "end", "basis"),
    [
        ({"last_finished_at": at("09:59"), "phase": "Failed"}, at("09:59"), "finished"),
        ({"phase": "Failed"}, at("09:58"), "agent_event"),
    ],
)
def test_an_agent_goes_behind_a_time_of_death_and_before_the_sight_of_the_dead(more, end, basis):
    states = [state(A, at("09:30")), state(A, at("10:00"), **more)]
    assert spans(built(states, agents=[agent(at("09:58"), **TAKEN)])) == [(*START, end, basis)]


def test_the_next_pod_of_a_name_takes_nothing_from_the_one_before():
    states = [
        state(A, at("09:30"), pod_name="w-0"),
        state(B, at("12:30"), pod_name="w-0", created_at=at("12:00"), start_time_at=at("12:00:05")),
    ]
    event = agent(at("13:00"), source_pod_name="w-0", **TAKEN)
    assert spans(built(states, agents=[event])) == [
        (*START, at("12:00:05"), "address_reused"),
        ("b", "192.0.2.10", at("12:00:05"), "start_time", at("13:00"), "agent_event"),
    ]


def test_an_address_that_another_pod_has_is_not_kept_by_an_agents_clock():
    states = [
        state(A, at("09:30")),
        state(B, at("12:30"), created_at=at("12:00"), start_time_at=at("12:00:05")),
    ]
    rows = built(states, agents=[agent(at("12:00:06"), **TAKEN)])
    assert spans(rows)[0] == (*START, at("12:00:05"), "address_reused")


# -- what flows call an address whose pod nobody saw end ----------------------------------------


def packet(seen: datetime, name: str | None, **more: Any) -> dict[str, Any]:
    """A packet from the address of pod-a."""
    return agent(seen, agent_event=None, source_pod_name=name) | more


BACK = {
    "source_address": "198.51.100.7",
    "source_pod_name": "far",
    "destination_namespace": "ml",
    "destination_pod_name": "pod-z",
    "destination_address": "192.0.2.10",
}


@pytest.mark.parametrize(
    ("events", "end", "basis"),
    [
        # Two guards before the first packet of the other pod.
        ([packet(at("11:00"), "pod-z")], at("10:59:56"), "address_reused"),
        ([packet(at("11:00"), None, **BACK)], at("10:59:56"), "address_reused"),
        (
            [packet(at("11:00"), "pod-z"), packet(at("10:50"), "pod-y")],
            at("10:49:56"),
            "address_reused",
        ),
        # An agent that learned late gave the pod's first packets the name of the one before.
        ([packet(at("11:00"), "pod-z"), packet(at("11:00:01"), "pod-a")], None, "open"),
        (
            [packet(at("10:50"), "pod-z"), packet(at("11:00"), "pod-a"), packet(at("12:00"), "q")],
            at("11:59:56"),
            "address_reused",
        ),
        # States saw it alive behind them.
        ([packet(at("09:30"), "pod-z")], None, "open"),
        # The same name in another namespace is another pod; a mask says nothing.
        (
            [packet(at("11:00"), "pod-a", source_namespace="web")],
            at("10:59:56"),
            "address_reused",
        ),
        ([packet(at("11:00"), "pod-a", source_namespace=None)], None, "open"),
        ([packet(at("11:00"), None)], None, "open"),
        ([packet(at("11:00"), "pod-z", cluster="birch")], None, "open"),
        ([packet(at("11:00"), "pod-z", source_address="192.0.2.11")], None, "open"),
        ([packet(at("00:00:03", days=1), "pod-z")], None, "open"),
        # The pod before lost the address, and an agent tells it late.
        ([packet(at("11:00"), "pod-z", **TAKEN)], None, "open"),
    ],
)
def test_flows_that_name_another_pod_end_an_interval_that_nothing_else_ends(events, end, basis):
    assert spans(built([state(A, at("09:30"))], agents=events)) == [(*START, end, basis)]


def test_flows_end_no_interval_whose_end_is_told_and_none_on_the_hosts_network():
    events = [packet(at("11:00"), "pod-z")]
    told = [state(A, at("12:00"), last_finished_at=at("11:59"), phase="Failed")]
    assert spans(built(told, agents=events)) == [(*START, at("11:59"), "finished")]
    (host,) = spans(built([state(A, at("09:30"), host_network=True)], agents=events))
    assert host[4:] == (None, "open")


NAMELESS = {"addresses": None, "start_time_at": None}


def test_a_pod_whose_states_show_no_address_has_what_its_agents_tell():
    states = [state(A, at("09:30"), **NAMELESS)]
    given = [agent(at("09:10")), agent(at("09:10"), source_address="2001:db8::10")]
    assert spans(built(states, agents=given)) == [
        ("a", "192.0.2.10", at("09:10"), "agent_event", None, "open"),
        ("a", "2001:db8::10", at("09:10"), "agent_event", None, "open"),
    ]


@pytest.mark.parametrize(
    "events",
    [
        # Behind the last sight of it, the name may be another pod's.
        [agent(at("09:31"))],
        [agent(at("09:10")), agent(at("09:20"), source_address="192.0.2.11")],
    ],
)
def test_an_address_is_never_guessed(events):
    rows = built([state(A, at("09:30"), **NAMELESS)], agents=events)
    assert rows["address"].to_list() == [None]


def test_agents_invent_no_pod_and_say_nothing_of_the_hosts_network():
    assert built([], agents=[agent(at("09:10"))]).height == 0
    rows = built([state(A, at("09:30"), host_network=True, **UNDATED)], agents=[agent(at("09:10"))])
    assert rows["start_basis"].to_list() == ["first_state"]


@st.composite
def fleets(draw: st.DrawFn) -> list[dict[str, Any]]:
    """States of up to sixteen pods on three addresses over two days."""
    states = []
    for number in range(draw(st.integers(min_value=3, max_value=16))):
        uid = f"{number:08x}-0000-0000-0000-000000000000"
        created = draw(st.integers(min_value=0, max_value=46 * 60))
        length = draw(st.integers(min_value=1, max_value=30 * 60))
        address = draw(st.sampled_from(["192.0.2.1", "192.0.2.2", "2001:db8::1"]))
        base = state(
            uid,
            at("00:00"),
            created_at=at("00:00") + timedelta(minutes=created),
            start_time_at=at("00:00") + timedelta(minutes=created, seconds=5),
            addresses=[address],
            host_network=draw(st.booleans()) and draw(st.booleans()),
            run_uuid=draw(st.sampled_from([None, RUN])),
            replica_index=draw(st.sampled_from([None, "0"])),
        )
        for _ in range(draw(st.integers(min_value=1, max_value=3))):
            seen = created + draw(st.integers(min_value=1, max_value=40 * 60))
            done = seen > created + length and draw(st.booleans())
            states.append(
                base
                | {
                    "observed_at": at("00:00") + timedelta(minutes=seen),
                    "record_id": f"{uid}/{seen}/{done}",
                    "phase": "Succeeded" if done else "Running",
                    "last_finished_at": at("00:00") + timedelta(minutes=created + length)
                    if done
                    else None,
                }
            )
    return states


def told_of(states: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What agents tell of some of the pods: each state's address given before, or taken behind."""
    return [
        agent(
            s["observed_at"] + timedelta(minutes=(-1) ** number * (7 * number % 90)),
            source_pod_name=s["pod_name"],
            source_address=s["addresses"][0],
            agent_event="IPCACHE_DELETED" if number % 2 == 0 else "IPCACHE_UPSERTED",
        )
        for number, s in enumerate(states)
        if number % 4
    ]


@settings(max_examples=4)
@given(states=fleets(), data=st.data())
def test_the_order_of_states_has_no_say(states: list[dict[str, Any]], data: st.DataObject):
    events = told_of(states)
    again, mixed = data.draw(st.permutations(states)), data.draw(st.permutations(events))
    assert built(states, agents=events).equals(built(again, agents=mixed))


@settings(max_examples=4)
@given(states=fleets())
def test_intervals_of_one_pod_and_address_never_overlap_and_lie_in_reach(
    states: list[dict[str, Any]],
):
    rows = built(states, day=NEXT)
    assert rows.select("pod_uid", "address").is_duplicated().sum() == 0
    assert (rows["start_at"] < at("00:00", days=2)).all()
    assert (rows["end_at"].drop_nulls() < at("00:00", days=2)).all()
    assert (
        rows["end_at"].drop_nulls() >= rows["start_at"].filter(rows["end_at"].is_not_null())
    ).all()
    assert (rows["last_seen_at"] <= at("00:00", days=2)).all()


@settings(max_examples=4)
@given(states=fleets())
def test_the_rows_of_two_days_are_pieces_of_one_interval(states: list[dict[str, Any]]):
    events = told_of(states)
    first = built(states, agents=events)
    history = as_history((DAY, first))
    second = built(states, day=NEXT, history=history, built_days=(DAY,), agents=events)
    both = first.join(second, on=("pod_uid", "address"), suffix="_next", nulls_equal=True)
    assert (both["pod_interval_id"] == both["pod_interval_id_next"]).all()
    assert both["end_at"].null_count() == both.height
    assert both["attempt"].equals(both["attempt_next"], check_names=False) if both.height else True
    going_on = first.filter((pl.col("end_at").is_null()) & pl.col("address").is_not_null()).select(
        "pod_uid", "address"
    )
    missing = going_on.join(second, on=("pod_uid", "address"), how="anti")
    # Open at midnight and gone on the next day only where the end falls on midnight itself.
    assert missing.height == 0 or set(missing["pod_uid"]) <= ends_at_midnight(states)


def ends_at_midnight(states: list[dict[str, Any]]) -> set[str]:
    midnight = at("00:00", days=1)
    proven = {s["pod_uid"] for s in states if s["last_finished_at"] == midnight}
    seen = frame("pod_states", states).group_by("pod_uid").agg(pl.col("observed_at").max())
    assumed = seen.filter(pl.col("observed_at") + timedelta(hours=36) <= midnight)
    return proven | set(assumed["pod_uid"])


def claim(name: str, seen: str = "09:00", **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder", "namespace": "ml", "claim": name, "observed_at": at(seen),
        "record_id": f"{name}/{seen}", "is_template": False,
    } | more  # fmt: skip


ONE = {"name": "gpus", "claim": "a-gpus", "template": "two"}
CLAIMED: list[tuple[list[dict[str, Any]], list[dict[str, Any]], int | None]] = [
    # No claim: the requests alone.
    ([], [claim("a-gpus", allocated_gpu_count=4, reserved_pod_uids=[A])], 1),
    # What was handed out to this pod, whatever the claim asks for, on top of the requests.
    (
        [ONE],
        [claim("a-gpus", requested_gpu_count=8, allocated_gpu_count=4, reserved_pod_uids=[B, A])],
        5,
    ),
    # Another pod had the claim, or one of that name: it asks for as many again.
    (
        [ONE],
        [claim("a-gpus", requested_gpu_count=3, allocated_gpu_count=4, reserved_pod_uids=[B])],
        4,
    ),
    # The newest state that tells it.
    (
        [ONE],
        [
            claim("a-gpus", "09:01", allocated_gpu_count=4, reserved_pod_uids=[A]),
            claim("a-gpus", "09:02", allocated_gpu_count=2, reserved_pod_uids=[A]),
            claim("a-gpus", "09:03", requested_gpu_count=7),
        ],
        3,
    ),
    # Not made yet: as its template says. A claim of the template's name is none.
    (
        [ONE | {"claim": None}],
        [
            claim("two", requested_gpu_count=2, is_template=True),
            claim("two", requested_gpu_count=9),
        ],
        3,
    ),
    # Several are added; one that nothing tells of, or that tells no number, leaves all unknown.
    (
        [ONE, ONE | {"name": "more", "claim": "b"}],
        [claim("a-gpus", requested_gpu_count=2), claim("b", requested_gpu_count=0)],
        3,
    ),
    ([ONE, ONE | {"name": "more", "claim": "b"}], [claim("a-gpus", requested_gpu_count=2)], None),
    ([ONE], [claim("a-gpus", reserved_pod_uids=[A])], None),
    # Of another namespace, another cluster, or of the next day.
    (
        [ONE],
        [
            claim("a-gpus", requested_gpu_count=2, namespace="other"),
            claim("a-gpus", requested_gpu_count=2, cluster="birch"),
            claim("a-gpus", requested_gpu_count=2, created_at=at("00:00", days=1)),
        ],
        None,
    ),
]


@pytest.mark.parametrize(("claims", "states", "count"), CLAIMED)
def test_gpus_of_claims_come_on_top_of_those_of_requests(
    claims: list[dict[str, Any]], states: list[dict[str, Any]], count: int | None
) -> None:
    pods = [state(A, at("09:10"), gpu_count=1, resource_claims=claims or None)]
    assert built(pods, claims=states)["gpu_count"].to_list() == [count]
    assert built(pods, claims=reversed(states))["gpu_count"].to_list() == [count]


def test_a_claim_is_known_by_the_state_that_names_it() -> None:
    pods = [
        state(A, at("09:10"), gpu_count=0, resource_claims=[ONE | {"claim": None}]),
        state(A, at("09:20"), gpu_count=0, resource_claims=[ONE]),
        # Another source tells requests alone.
        state(A, at("09:30"), gpu_count=0),
    ]
    found = built(pods, claims=[claim("a-gpus", requested_gpu_count=2)])
    assert found["gpu_count"].to_list() == [2]

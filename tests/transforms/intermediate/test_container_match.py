"""Which container of a pod acted at a moment."""

from datetime import datetime
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import at, rows_of, show
from transforms.intermediate.container_match import match_containers
from transforms.sql import SqlSession

INPUT = pl.Schema(
    {
        "item_id": pl.Int64(),
        "pod_uid": pl.String(),
        "event_at": pl.Datetime("us", "UTC"),
        "is_begin": pl.Boolean(),
    }
)


def container(name: str, start: str | None, end: str | None, **more: Any) -> dict[str, Any]:
    return {
        "pod_uid": "uid-a",
        "container": name,
        "container_role": "init" if name == "init" else "main",
        "state": "terminated" if end else "running",
        "started_at": at(start) if start else None,
        "finished_at": at(end) if end else None,
        **more,
    }


def ran(
    states: list[dict[str, Any]], time: str | datetime, *, is_begin: bool = True
) -> list[tuple[Any, ...]]:
    moment = at(time) if isinstance(time, str) else time
    with SqlSession(threads=1) as session:
        show(session, container_states=states)
        rows = [{"item_id": 1, "pod_uid": "uid-a", "event_at": moment, "is_begin": is_begin}]
        session.register("container_input", pl.DataFrame(rows, schema=INPUT, orient="row"))
        match_containers(session)
        return rows_of(
            session, "container_output",
            "container_kind", "container", "container_role", "candidate_containers",
        )  # fmt: skip


LIFE = [
    container("init", "08:00", "08:01"),
    container("main", "08:01:10", None),
    container("sidecar", "08:05", "08:06"),
]


@pytest.mark.parametrize(
    ("time", "found"),
    [
        ("07:59:57.999999", []),
        ("07:59:58", [("only_running", "init", "init", None)]),
        ("08:01:01.999999", [("only_running", "init", "init", None)]),
        ("08:01:02", []),
        ("08:02", [("only_running", "main", "main", None)]),
        ("08:05:30", [("several", None, None, ["main", "sidecar"])]),
        ("23:59", [("only_running", "main", "main", None)]),
    ],
)
def test_a_container_is_named_where_it_ran_alone(time, found):
    assert ran(LIFE, time) == found


def test_a_later_state_ends_what_an_earlier_one_left_open():
    states = [container("main", "08:00", None), container("main", "08:00", "08:30")]
    assert ran(states, "08:31") == []


def test_a_restart_ends_the_run_before_it_and_leaves_a_pause_unnamed():
    crashed = container(
        "main", "08:10", None, last_started_at=at("08:00"), last_finished_at=at("08:02")
    )
    assert ran([crashed], "08:01") == [("only_running", "main", "main", None)]
    assert ran([crashed], "08:05") == []
    assert ran([crashed], "08:11") == [("only_running", "main", "main", None)]


def test_a_run_of_unknown_end_ends_at_the_next_start():
    states = [container("main", "08:00", None), container("main", "08:10", "08:20")]
    assert ran(states, "08:05")[0][:2] == ("only_running", "main")
    assert ran(states, "08:21") == []


WAITING = {"state": "waiting", "observed_at": at("08:10")}
OTHER = container("other", "08:00", None)


@pytest.mark.parametrize("state", ["waiting", "unknown"])
def test_a_container_seen_waiting_may_have_started_since(state):
    states = [container("main", None, None, **WAITING | {"state": state}), OTHER]
    assert ran(states, "08:05") == [("only_running", "other", "main", None)]
    assert ran(states, "09:00") == [("several", None, None, ["main", "other"])]


def test_a_later_run_tells_when_a_waiting_container_started():
    states = [container("main", None, None, **WAITING), OTHER, container("main", "09:30", "09:40")]
    assert ran(states, "09:00") == [("only_running", "other", "main", None)]
    assert ran(states[::-1], "09:35") == [("several", None, None, ["main", "other"])]
    assert ran(states, "10:00") == [("only_running", "other", "main", None)]


def test_a_container_that_waits_to_be_restarted_may_have_been():
    crashed = {"last_started_at": at("08:08"), "last_finished_at": at("08:09")}
    states = [container("main", None, None, **WAITING, **crashed), OTHER]
    assert ran(states, "08:08:30")[0][0] == "several"
    assert ran(states, "08:09:30") == [("only_running", "other", "main", None)]
    assert ran(states, "09:00")[0][0] == "several"


def test_a_container_terminated_without_times_ran_at_any_time_before():
    dead = container("main", None, None, state="terminated", observed_at=at("08:10"))
    assert ran([dead, OTHER], "08:05")[0][0] == "several"
    assert ran([dead, OTHER], "08:11") == [("only_running", "other", "main", None)]


def test_a_running_container_of_unknown_start_may_have_run_at_any_time():
    states = [container("main", None, None), container("other", "08:00", "08:01")]
    assert ran(states, "08:00:30")[0][0] == "several"
    assert ran(states, "08:30") == [("only_running", "main", "main", None)]


def test_a_pod_without_states_has_no_container():
    assert ran([container("main", "08:00", None, pod_uid="uid-b")], "08:05") == []


def test_what_may_have_begun_before_may_be_of_any_container_that_had_started():
    several = [("several", None, None, ["init", "main"])]
    assert ran(LIFE, "08:03") == [("only_running", "main", "main", None)]
    assert ran(LIFE, "08:03", is_begin=False) == several
    # Within the skew guard the sidecar may have started, too.
    assert ran(LIFE, "08:04:57", is_begin=False) == several
    assert ran(LIFE, "08:04:58", is_begin=False)[0][3] == ["init", "main", "sidecar"]
    assert ran(LIFE[1:2], "08:30", is_begin=False) == [("only_running", "main", "main", None)]


def test_a_container_that_waited_may_have_started_since_and_not_before():
    waiting = container("late", None, None, state="waiting", observed_at=at("09:00"))
    states = [*LIFE[1:2], waiting]
    assert ran(states, "08:30", is_begin=False) == [("only_running", "main", "main", None)]
    assert ran(states, "09:30", is_begin=False)[0][3] == ["late", "main"]

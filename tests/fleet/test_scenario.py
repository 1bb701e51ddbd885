"""The scenario holds together, and holds the cases that it promises."""

import itertools
from datetime import timedelta

import pytest

from tests.fleet.answers_network import counted, days_of
from tests.fleet.answers_pods import interval_end, interval_start
from tests.fleet.scenario import simulate
from tests.fleet.world import Fleet, Pod

GUARD = timedelta(seconds=2)
"""Definitions.md 35 widens every interval by this; the scenario stays outside it."""


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return simulate()


def _life(fleet: Fleet, pod: Pod) -> tuple[float, float]:
    end = interval_end(fleet, pod)[0]
    start = interval_start(pod)[0].timestamp()
    return start, float("inf") if end is None else end.timestamp()


def test_every_connection_lies_inside_the_lives_of_its_pods(fleet: Fleet) -> None:
    for connection in fleet.connections:
        for pod in (connection.client, connection.server):
            if pod is None:
                continue
            start, end = _life(fleet, pod)
            assert start < connection.start.timestamp()
            assert connection.end is not None
            assert connection.end.timestamp() < end


def test_every_request_and_look_up_lies_inside_the_life_of_its_pod(fleet: Fleet) -> None:
    for request in fleet.requests:
        if request.pod is not None:
            start, end = _life(fleet, request.pod)
            done = request.time.timestamp() + request.milliseconds / 1000
            assert start < request.time.timestamp() <= done < end
    for lookup in fleet.lookups:
        start, end = _life(fleet, lookup.pod)
        assert start < lookup.time.timestamp() < end


def test_no_two_pods_hold_an_address_within_the_skew_guard(fleet: Fleet) -> None:
    lives: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for pod in fleet.pods:
        if not pod.host_network:
            for address in pod.addresses:
                lives.setdefault((pod.cluster.name, address), []).append(_life(fleet, pod))
    reused = [sorted(spans) for spans in lives.values() if len(spans) > 1]
    assert len(reused) == 4
    for spans in reused:
        for (_, end), (start, _) in itertools.pairwise(spans):
            assert end <= start
    # Only scratch-1, whose end nobody saw, touches its successor.
    close = [1 for spans in reused for a, b in itertools.pairwise(spans) if b[0] - a[1] < 4]
    assert len(close) == 1


def test_no_tuple_is_used_by_two_connections(fleet: Fleet) -> None:
    tuples = [
        (item.client_address, item.client_port, item.server_address, item.server_port)
        for item in fleet.connections
    ]
    assert len(set(tuples)) == len(tuples)


def test_a_run_of_no_answers_asked_one_external_name_before_each_connection(fleet: Fleet) -> None:
    for connection in counted(fleet):
        if connection.name_kind != "dns_time":
            continue
        asked = {
            lookup.query
            for lookup in fleet.lookups
            if lookup.pod is connection.client
            and timedelta() <= connection.start - lookup.time < timedelta(minutes=4)
        }
        assert asked == {connection.name}


def test_an_address_is_reused_within_the_same_minute(fleet: Fleet) -> None:
    first = next(pod for pod in fleet.pods if pod.run and pod.run.name == "sweep-lr-1")
    second = next(pod for pod in fleet.pods if pod.run and pod.run.name == "sweep-lr-3")
    assert first.address == second.address
    assert first.node == second.node
    assert first.torn_down is not None
    assert f"{first.torn_down:%H:%M}" == f"{second.sandbox_ready:%H:%M}"


def test_a_pod_name_returns_with_another_uid(fleet: Fleet) -> None:
    names = [pod.name for pod in fleet.pods]
    returned = {name for name in names if names.count(name) > 1}
    assert len(returned) == 1
    assert len({pod.uid for pod in fleet.pods if pod.name in returned}) == 2


def test_a_connection_lives_past_midnight(fleet: Fleet) -> None:
    assert [len(days_of(item)) for item in counted(fleet)].count(2) == 1


def test_a_run_has_disjoint_pods_on_both_sides_of_midnight(fleet: Fleet) -> None:
    run = next(run for run in fleet.runs if run.name == "resume-gpt")
    first, second = run.pods
    assert first.torn_down is not None
    assert second.torn_down is not None
    assert first.torn_down < second.created
    assert second.created.date() < second.torn_down.date()
    assert [pod.attempt for pod in run.pods] == [1, 2]


def test_about_fifteen_runs_in_two_clusters(fleet: Fleet) -> None:
    assert len(fleet.runs) == 17
    assert {run.cluster.name for run in fleet.runs if run.cluster} == {"alder", "birch"}

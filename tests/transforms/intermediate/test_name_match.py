"""Which name an address had for a client."""

from datetime import datetime
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import at, rows_of, show
from transforms.intermediate.name_match import match_names
from transforms.sql import SqlSession

INPUT = pl.Schema(
    {
        "item_id": pl.Int64(),
        "cluster": pl.String(),
        "pod_uid": pl.String(),
        "node": pl.String(),
        "address": pl.String(),
        "event_at": pl.Datetime("us", "UTC"),
    }
)


def binding(name: str, start: str, end: str, **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "scope": "pod",
        "scope_id": "uid-a",
        "address": "203.0.113.9",
        "name": name,
        "start_at": at(start),
        "end_at": at(end),
        "first_answer_at": at(start),
        **more,
    }


def named(
    bindings: list[dict[str, Any]], time: str | datetime, **item: Any
) -> list[tuple[Any, ...]]:
    moment = at(time) if isinstance(time, str) else time
    asked = {
        "item_id": 1, "cluster": "alder", "pod_uid": "uid-a", "node": "node-a",
        "address": "203.0.113.9", "event_at": moment,
    }  # fmt: skip
    with SqlSession(threads=1) as session:
        show(session, name_bindings=bindings)
        session.register("name_input", pl.DataFrame([asked | item], schema=INPUT, orient="row"))
        match_names(session)
        return rows_of(session, "name_output", "name_kind", "name", "candidate_names")


@pytest.mark.parametrize(
    ("time", "is_live"),
    [
        ("07:59:59.999999", False),
        ("08:00", True),
        ("08:04:59.999999", True),
        ("08:05", False),
    ],
)
def test_a_binding_holds_from_its_start_to_before_its_end(time, is_live):
    found = named([binding("a.example.com", "08:00", "08:05")], time)
    assert found == ([("dns_pod", "a.example.com", None)] if is_live else [])


def test_a_binding_over_several_hours_is_found_in_each():
    life = binding("a.example.com", "08:50", "11:10")
    assert named([life], "10:30") == [("dns_pod", "a.example.com", None)]


def test_the_pods_own_answer_is_better_than_its_nodes_and_the_clusters():
    node = {"scope": "node", "scope_id": "node-a"}
    cluster = {"scope": "cluster", "scope_id": "alder"}
    bindings = [
        binding("own.example.com", "08:00", "08:01"),
        binding("node.example.com", "08:00", "08:02", **node),
        binding("cluster.example.com", "08:00", "08:03", **cluster),
    ]
    assert named(bindings, "08:00:30")[0][:2] == ("dns_pod", "own.example.com")
    assert named(bindings, "08:01:30")[0][:2] == ("dns_node", "node.example.com")
    assert named(bindings, "08:02:30")[0][:2] == ("dns_cluster", "cluster.example.com")
    assert named(bindings, "08:03:30") == []


def test_two_names_in_the_best_scope_are_ambiguous():
    bindings = [
        binding("b.example.com", "08:00", "08:05"),
        binding("a.example.com", "08:01", "08:05"),
        binding("c.example.com", "08:00", "08:05", scope="cluster", scope_id="alder"),
    ]
    assert named(bindings, "08:02") == [("ambiguous", None, ["a.example.com", "b.example.com"])]


def test_what_others_asked_names_no_address_that_has_several_names():
    cluster = {"scope": "cluster", "scope_id": "alder"}
    live = binding("b.example.com", "08:00", "08:05", **cluster)
    assert named([live], "08:02") == [("dns_cluster", "b.example.com", None)]
    dead = binding("a.example.com", "03:00", "03:05", **cluster)
    both = ["a.example.com", "b.example.com"]
    assert named([live, dead], "08:02") == [("ambiguous", None, both)]
    elsewhere = [dead | {"cluster": "birch"}, dead | {"address": "203.0.113.8"}]
    assert named([live, *elsewhere], "08:02") == [("dns_cluster", "b.example.com", None)]
    own = binding("c.example.com", "08:00", "08:05")
    assert named([live, dead, own], "08:02") == [("dns_pod", "c.example.com", None)]
    many = [binding(f"n{n:03d}.example.com", "03:00", "03:05", **cluster) for n in range(150)]
    [(kind, name, candidates)] = named([live, *many], "08:02")
    assert (kind, name, len(candidates)) == ("ambiguous", None, 100)


def test_one_binding_told_by_two_days_is_one_name():
    bindings = [
        binding("a.example.com", "08:00", "08:05"),
        binding("a.example.com", "08:00", "08:09"),
    ]
    assert named(bindings, "08:02") == [("dns_pod", "a.example.com", None)]


def test_another_pod_cluster_or_address_names_nothing():
    bindings = [binding("a.example.com", "08:00", "08:05")]
    assert named(bindings, "08:02", pod_uid="uid-b") == []
    assert named(bindings, "08:02", pod_uid=None) == []
    assert named(bindings, "08:02", cluster="birch") == []
    assert named(bindings, "08:02", address="203.0.113.8") == []


def test_a_life_without_end_is_no_harm():
    wild = binding("a.example.com", "08:00", "08:05", end_at=at("08:00", days=700_000))
    assert named([wild], "08:02") == [("dns_pod", "a.example.com", None)]

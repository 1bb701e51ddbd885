"""run_checks: with everything in place all pass; each step broken once fails exactly that one."""

import copy
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.marts.deployment_world import BROKEN, RUN, STEPS, World, in_place, pod
from transforms.day import BuildDay
from transforms.marts import run_checks, run_outputs, runs
from transforms.sql import SqlSession

READ = [read.table for read in run_checks.TRANSFORM.reads]


def build(world: World) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        show(session, **{name: world.get(name, []) for name in READ})
        built = run_checks.TRANSFORM.build(session, BuildDay(DAY, "fleet"))
        return checked(session, "run_checks", built)


def results(world: World) -> dict[str, str]:
    return dict(build(world).select("step", "result").rows())


def test_a_run_with_everything_in_place_passes_six_steps() -> None:
    rows = build(in_place())
    assert rows["step"].to_list() == list(STEPS)
    assert rows["result"].to_list() == ["passed"] * 6
    assert all(ids for ids in rows["evidence_ids"].to_list())
    found = {row["step"]: row for row in rows.to_dicts()}
    handled = found["interruption_handled"]
    assert handled["sentence"] == "it went on from the checkpoint of an earlier attempt"
    assert {"i1", "i2", "s2", "read2", "write1"} <= set(handled["evidence_ids"])
    assert found["failure_visible"]["evidence_ids"] == ["c1", "i1", "s1"]


@pytest.mark.parametrize("name", BROKEN)
def test_each_step_broken_once_fails_exactly_that_step(name: str) -> None:
    broken, step = BROKEN[name]
    world = copy.deepcopy(in_place())
    broken(world)
    expected = dict.fromkeys(STEPS, "passed") | {step: "failed"}
    if name == "output missing":
        # It was not written, so nothing remains that could be seen to.
        world["run_outputs"][0]["remaining_object_count"] = 0
        world["run_outputs"][0]["object_count"] = 0
        expected["cleaned_up"] = "not_observable"
    assert results(world) == expected


def test_what_nothing_shows_is_not_observable_and_never_fails() -> None:
    assert results({"runs": in_place()["runs"]}) == dict.fromkeys(STEPS, "not_observable")


def test_one_replica_may_be_tried_again_without_the_others() -> None:
    world = in_place()
    world["run_versions"][0]["replicas"] = 2
    world["pod_intervals"].append(pod(3, "10:00", "14:00", "Succeeded") | {"attempt": 1})
    assert results(world) == dict.fromkeys(STEPS, "passed")


def test_a_namespace_that_lists_state_is_the_agents() -> None:
    world = in_place()
    listed = world["run_versions"][0] | {"view": "list", "record_id": "l"}
    for pod_row in world["pod_intervals"]:
        pod_row["namespace"] = "elsewhere"
    world["run_versions"].append(listed)
    assert results(world)["submitted"] == "not_observable"
    world["run_versions"][1]["namespace"] = "agents"
    world["run_versions"][0]["updated_at"] = at("16:00")
    assert results(world)["submitted"] == "failed"


@pytest.mark.parametrize("end", [{}, {"end_at": at("20:00"), "end_basis": "last_seen"}])
def test_a_pod_that_was_not_seen_again_may_be_gone(end: dict[str, Any]) -> None:
    world = in_place()
    open_ = {"end_at": None, "end_basis": "open", "last_seen_at": at("15:00")}
    world["pod_intervals"][1] |= open_ | end
    assert results(world) == dict.fromkeys(STEPS, "passed") | {"cleaned_up": "not_observable"}


def test_a_run_that_was_never_interrupted_has_nothing_to_judge_there() -> None:
    world = in_place()
    world["runs"] = world["runs"][:1]
    world["pod_intervals"] = [pod(1, "12:00", "14:00", "Succeeded")]
    world["run_statuses"] = world["run_statuses"][2:]
    world["container_states"] = []
    found = results(world)
    assert found["interruption_handled"] == found["failure_visible"] == "not_observable"


def test_the_order_of_rows_changes_nothing() -> None:
    world = in_place()
    turned = {name: rows[::-1] for name, rows in world.items()}
    assert build(turned).equals(build(world))


def test_outputs_and_runs_lead_to_the_same_sheet() -> None:
    """The chain from what sources say: outputs, then runs, then checks."""
    world = in_place()
    version = world["run_versions"][0]
    version |= {"status": "succeeded", "created_at": at("10:00"), "artifacts_store": "store"}
    version |= {"updated_at": at("14:00")}
    key = f"{RUN}/outputs/checkpoint-1"
    for row in world["object_transfers"]:
        row |= {"provider": "s3", "object_size_bytes": 10, "key": key}
    declared = {
        "declared_dependency_id": "store", "run_uuid": RUN, "component": "polyaxon-sidecar",
        "resource_id": "s3://example-artifacts", "operation": "write", "resource_kind": "bucket",
        "connection": "store", "declared_in": "content",
    }  # fmt: skip
    read = {r.table for t in (run_outputs, runs, run_checks) for r in t.TRANSFORM.reads}
    shown = {name: world.get(name, []) for name in read - {"run_outputs", "runs"}}
    day = BuildDay(DAY, "fleet", is_final=True)
    with SqlSession(threads=1) as session:
        show(session, **shown | {"declared_dependencies": [declared]})
        for transform in (run_outputs, runs, run_checks):
            table = transform.TRANSFORM.table
            made = checked(session, table, transform.TRANSFORM.build(session, day))
            session.register(table, made.with_columns(date=pl.lit(DAY)))
            if table == "runs":
                assert made["outputs_proof"].to_list() == ["proven", "proven"]
    assert made["result"].to_list() == ["passed"] * 6
    assert made["is_final"].all()


def test_steps_carry_how_far_what_shows_them_was_observed() -> None:
    world = copy.deepcopy(in_place())
    world["run_coverage"].append(
        {"run_coverage_id": "f", "run_uuid": RUN, "source": "flows", "expected_us": 90,
         "covered_us": 60, "empty_means": "partly_observed"}
    )  # fmt: skip
    world["run_outputs"][0] |= {"expected_us": 70, "covered_us": 70,
                                "empty_means": "nothing_happened"}  # fmt: skip
    world["run_outputs"].append(
        world["run_outputs"][0] | {"run_output_id": "p", "name": "other", "covered_us": 0,
                                   "empty_means": "not_observed"}
    )  # fmt: skip
    rows = build(world).select("step", "expected_us", "covered_us", "empty_means").rows()
    of_outputs = (140, 70, "partly_observed")
    assert {step: tuple(rest) for step, *rest in rows} == {
        "submitted": (None, None, None),
        "data_and_accelerator": (90, 60, "partly_observed"),
        "outputs_retrievable": of_outputs,
        "interruption_handled": (None, None, None),
        "failure_visible": (None, None, None),
        "cleaned_up": of_outputs,
    }

"""run_checks: with everything in place all pass; each step broken once fails exactly that one."""

import copy
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.marts import run_checks
from transforms.sql import SqlSession

Rows = list[dict[str, Any]]
World = dict[str, Rows]
READ = [read.table for read in run_checks.TRANSFORM.reads]
RUN = "a" * 32
STEPS = (
    "submitted", "data_and_accelerator", "outputs_retrievable", "interruption_handled",
    "failure_visible", "cleaned_up",
)  # fmt: skip
STORE = f"s3://example-artifacts/{RUN}"
CHECKPOINT = f"{STORE}/outputs/checkpoint-1"


def pod(number: int, start: str, end: str, phase: str) -> dict[str, Any]:
    return {
        "pod_interval_id": f"i{number}", "cluster": "alder", "namespace": "ml",
        "pod_uid": f"p{number}", "pod_name": f"pod-{number}", "run_uuid": RUN, "attempt": number,
        "created_at": at(start), "start_at": at(start), "end_at": at(end), "phase": phase,
        "end_basis": "finished", "gpu_count": 1, "address": f"10.0.0.{number}", "node": "n1",
        "labels": [{"name": "kueue.x-k8s.io/queue-name", "value": "gpus"}],
    }  # fmt: skip


def moved(attempt: int, operation: str, clock: str) -> dict[str, Any]:
    return {
        "transfer_id": f"{operation}{attempt}", "run_uuid": RUN, "attempt": attempt,
        "bucket": "example-artifacts", "key": f"{RUN}/outputs/checkpoint-1",
        "object_id": CHECKPOINT, "operation": operation, "start_at": at(clock),
        "end_at": at(clock), "success_count": 1, "request_count": 1,
        "change_times": [at(clock)] if operation == "write" else None,
    }  # fmt: skip


def in_place() -> World:
    """A run that fails once, is resumed, reads its checkpoint and leaves a model."""
    return {
        "runs": [
            {"run_id": f"r{n}", "run_uuid": RUN, "attempt": n, "cluster": "alder",
             "project": "vision", "outcome": "succeeded"}
            for n in (1, 2)
        ],
        "run_versions": [
            {"run_uuid": RUN, "view": "detail", "queue": "gpus", "namespace": "ml",
             "gpu_count": 1, "replicas": 1, "max_retries": 0, "finished_at": at("14:00"),
             "observed_at": at("15:00"), "record_id": "v"}
        ],
        "run_statuses": [
            {"run_uuid": RUN, "status": "failed", "reason": "Error", "event_at": at("11:00"),
             "record_id": "s1"},
            {"run_uuid": RUN, "status": "resuming", "event_at": at("12:00"), "record_id": "s2"},
            {"run_uuid": RUN, "status": "succeeded", "event_at": at("14:00"), "record_id": "s3"},
        ],
        "pod_intervals": [
            pod(1, "10:00", "11:00", "Failed"), pod(2, "12:00", "14:00", "Succeeded"),
        ],
        "container_states": [
            {"cluster": "alder", "namespace": "ml", "pod_uid": "p1", "pod_name": "pod-1",
             "container": "polyaxon-main", "container_role": "main", "state": "terminated",
             "exit_code": 1, "reason": "Error", "restart_count": 0, "observed_at": at("11:05"),
             "record_id": "c1"}
        ],
        "run_dependencies": [
            {"run_dependency_id": "d1", "run_uuid": RUN, "attempt": 2, "operation": "read",
             "resource_id": "s3://example-data/set", "declaration": "declared_seen",
             "request_count": 4, "received_bytes": 100},
            # The first attempt died before it read.
            {"run_dependency_id": "d2", "run_uuid": RUN, "attempt": 1, "operation": "read",
             "resource_id": "s3://example-data/set", "declaration": "declared_not_seen"},
        ],
        "run_artifacts": [
            {"run_uuid": RUN, "name": name, "kind": kind, "stated_in": "lineage",
             "is_input": False, "record_id": name, "observed_at": at("14:00")}
            for name, kind in (("loss", "metric"), ("gpu_0_memory_used", "metric"),
                               ("cpu", "metric"), ("model", "model"))
        ],
        "run_outputs": [
            {"run_output_id": "o", "run_uuid": RUN, "resource_id": STORE, "proof": "proven",
             "expected_from": "artifacts_store", "object_count": 2, "remaining_object_count": 2}
        ],
        "object_transfers": [moved(1, "write", "10:50"), moved(2, "read", "12:05")],
        "run_coverage": [
            {"run_uuid": RUN, "source": "object_requests:example-artifacts",
             "empty_means": "nothing_happened"}
        ],
    }  # fmt: skip


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


def change(table: str, row: int, **values: Any) -> Any:
    return lambda world: world[table][row].update(values)


def without(table: str, *rows: int) -> Any:
    def remove(world: World) -> None:
        world[table] = [row for n, row in enumerate(world[table]) if n not in rows]

    return remove


def all_of(*breaks: Any) -> Any:
    return lambda world: [each(world) for each in breaks]


BROKEN = {
    "another queue": (
        change("pod_intervals", 1, labels=[{"name": "kueue.x-k8s.io/queue-name", "value": "b"}]),
        "submitted",
    ),
    "another namespace": (change("pod_intervals", 1, namespace="default"), "submitted"),
    "fewer accelerators": (change("pod_intervals", 1, gpu_count=0), "submitted"),
    "fewer replicas": (change("run_versions", 0, replicas=2), "submitted"),
    "data denied": (
        change("run_dependencies", 0, declaration="declared_denied", received_bytes=None,
               denied_count=4),
        "data_and_accelerator",
    ),
    "no accelerator seen": (without("run_artifacts", 1), "data_and_accelerator"),
    "no metric": (without("run_artifacts", 0), "outputs_retrievable"),
    "output missing": (
        change("run_outputs", 0, proof="unproven", reason="none wrote it"), "outputs_retrievable",
    ),
    "begun anew": (without("object_transfers", 1), "interruption_handled"),
    "tried again undeclared": (without("run_statuses", 1), "interruption_handled"),
    "failure unexplained": (
        all_of(
            change("run_statuses", 0, reason=None), change("container_states", 0, reason=None)
        ),
        "failure_visible",
    ),
    "a pod stays": (change("pod_intervals", 1, end_at=None, end_basis="open"), "cleaned_up"),
    "an output is deleted": (change("run_outputs", 0, remaining_object_count=0), "cleaned_up"),
}  # fmt: skip


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

"""A run with everything in place, as tables tell it, and what breaks one step of its acceptance."""

from typing import Any

from tests.transforms.frames import at

Rows = list[dict[str, Any]]
World = dict[str, Rows]
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
    "a pod stays": (
        change("pod_intervals", 1, end_at=None, end_basis="open", last_seen_at=at("15:00:01")),
        "cleaned_up",
    ),
    "a pod stayed until it was lost": (
        change("pod_intervals", 1, end_at=at("20:00"), end_basis="last_seen",
               last_seen_at=at("15:00:01")),
        "cleaned_up",
    ),
    "an output is deleted": (change("run_outputs", 0, remaining_object_count=0), "cleaned_up"),
}  # fmt: skip

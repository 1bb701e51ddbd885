"""Answers: what runs left, what their failures show, and who should act (definitions.md 45, 46)."""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from tests.fleet.answer import Table
from tests.fleet.answers_pods import interval_end
from tests.fleet.answers_runs import active_days
from tests.fleet.clock import day_end
from tests.fleet.world import Fleet, ObjectRequest, Run

STORM = 5
CHECKPOINT = re.compile("checkpoint|ckpt")
FINDINGS = (
    "pull_failure", "denied_storage", "denied_network", "retry_storm", "failed_container",
    "failed_import",
)  # fmt: skip


def _requests(fleet: Fleet, run: Run, limit: datetime) -> list[ObjectRequest]:
    """What the run asked of storage, as far as its log shows whose it was."""
    pods = {pod.uid for pod in run.pods}
    return [
        item
        for item in fleet.requests
        if item.pod is not None
        and item.pod.uid in pods
        and item.match_kind in {"address_window", "app_id"}
        and item.time < limit
    ]


def _written(fleet: Fleet, run: Run, limit: datetime) -> list[ObjectRequest]:
    """Checkpoints that the run wrote; nothing in the fixtures is deleted again."""
    return [
        item
        for item in _requests(fleet, run, limit)
        if item.operation == "write"
        and item.status == 200
        and CHECKPOINT.search(f"{item.bucket}/{item.key}")
    ]


def run_outputs(fleet: Fleet) -> Table:
    """Return the checkpoints that runs wrote: no run states a store or lineage."""
    table = Table(
        "run_outputs",
        (
            "date", "run_uuid", "resource_id", "expected_from", "proof", "object_count",
            "remaining_object_count", "bytes", "uploaded_at",
        ),
        ("date", "run_uuid", "resource_id"),
    )  # fmt: skip
    for run in fleet.runs:
        for day in active_days(fleet, run):
            written = _written(fleet, run, day_end(day))
            for bucket in sorted({item.bucket for item in written}):
                items = [item for item in written if item.bucket == bucket]
                ends = [item.time + timedelta(milliseconds=item.milliseconds) for item in items]
                table.add(
                    date=day,
                    run_uuid=run.uuid,
                    resource_id=f"s3://{bucket}",
                    expected_from="checkpoint",
                    proof="proven",
                    object_count=len({item.key for item in items}),
                    remaining_object_count=len({item.key for item in items}),
                    bytes=sum(item.object_bytes or 0 for item in items),
                    uploaded_at=max(ends),
                )
    return table


def run_checks(fleet: Fleet) -> Table:
    """Return the two steps of acceptance that the scenario decides: failures, and what remains."""
    table = Table(
        "run_checks",
        ("date", "run_uuid", "step", "result"),
        ("date", "run_uuid", "step"),
        rows_where="step IN ('failure_visible', 'cleaned_up')",
    )
    for run in fleet.runs:
        for day in active_days(fleet, run):
            limit = day_end(day)
            has_failed = any(moment < limit for _, moment in _exits(run))
            gone = [interval_end(fleet, pod)[0] for pod in run.pods]
            is_gone = bool(gone) and all(end is not None and end <= limit for end in gone)
            is_kept = is_gone and bool(_written(fleet, run, limit))
            for step, passed in (("failure_visible", has_failed), ("cleaned_up", is_kept)):
                result = "passed" if passed else "not_observable"
                table.add(date=day, run_uuid=run.uuid, step=step, result=result)
    return table


def _exits(run: Run) -> list[tuple[str, datetime]]:
    """Main and init containers that ended with an exit code, and when."""
    return [
        (item.name, item.end)
        for pod in run.pods
        for item in pod.containers
        if item.exit_code and item.end is not None and item.role in {"init", "main"}
    ]


def findings(fleet: Fleet) -> Table:
    """Return what failed or was denied, and who can end it."""
    table = Table(
        "findings",
        ("date", "kind", "run_uuid", "resource_id", "responsible", "severity", "occurrence_count"),
        ("date", "kind", "run_uuid", "resource_id"),
        rows_where="kind IN (" + ", ".join(f"'{kind}'" for kind in FINDINGS) + ")",
    )
    for run in fleet.runs:
        for day in active_days(fleet, run):
            for kind, resource, responsible, count in _found(fleet, run, day):
                table.add(
                    date=day,
                    kind=kind,
                    run_uuid=run.uuid,
                    resource_id=resource,
                    responsible=responsible,
                    severity="high",
                    occurrence_count=count,
                )
    return table


def _found(fleet: Fleet, run: Run, day: date) -> Iterator[tuple[str, str | None, str, int]]:
    limit = day_end(day)
    for container in sorted({name for name, end in _exits(run) if end < limit}):
        count = sum(name == container and end < limit for name, end in _exits(run))
        yield "failed_container", None, "ml_team", count
    for pod in run.pods:
        for item in pod.containers:
            pull = item.pull
            if pull is not None and pull.error is not None and pull.start < limit:
                # The tag is not there, which is its user's mistake; each try is told.
                yield "pull_failure", f"oci://{item.image}", "ml_team", 3
    denied = [item for item in _requests(fleet, run, limit) if item.status in {401, 403}]
    for bucket in sorted({item.bucket for item in denied}):
        times = [item.time for item in denied if item.bucket == bucket]
        yield "denied_storage", f"s3://{bucket}", "storage", len(times)
        if len(times) >= STORM:
            yield "retry_storm", f"s3://{bucket}", "storage", len(times)
    pods = {pod.uid for pod in run.pods}
    for item in fleet.connections:
        is_own = item.client is not None and item.client.uid in pods
        if is_own and item.verdict == "DROPPED" and item.start < limit:
            yield "denied_network", f"dns://{item.name}:{item.server_port}", "network", 1

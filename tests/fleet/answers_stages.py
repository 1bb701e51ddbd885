"""Answers: stages and waits of runs' pods, as far as their own times decide them.

Stated are stages whose both edges a state proves: from the pod's creation to its binding, to its
sandbox, and of each container that ran. What pulls and marks cut is left to the tests of stages.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.answers_pods import is_exported
from tests.fleet.clock import day_end, day_start, days_met, seconds
from tests.fleet.world import Container, Fleet, Pod

STATED = ("scheduling", "sandbox", "init", "compute", "interactive", "upload", "teardown")
OF_RUNS = "run_uuid IS NOT NULL AND stage IN (" + ", ".join(f"'{stage}'" for stage in STATED) + ")"
SUMMED = (
    "(SELECT date, run_uuid, stage, CASE WHEN COUNT(DISTINCT cause) = 1 THEN MIN(cause) END "
    "AS cause, CAST(SUM(duration_us) AS BIGINT) AS duration_us, "
    "CAST(SUM(gpu_us) AS BIGINT) AS gpu_us FROM waits WHERE pod_uid IS NOT NULL "
    "GROUP BY date, run_uuid, stage)"
)
CAUSES = {
    "scheduling": "placement", "sandbox": "sandbox", "compute": "working",
    "interactive": "working", "teardown": "working",
}  # fmt: skip
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Stage:
    """One stage of a pod; no end means that it is still open when the fixtures end."""

    pod: Pod
    container: Container | None
    stage: str
    start: datetime
    end: datetime | None


def _stages(pod: Pod) -> Iterator[Stage]:
    bound = pod.created + seconds(1)
    yield Stage(pod, None, "scheduling", pod.created, bound)
    # The condition shows when the sandbox was ready while it stands, which only watches see.
    if pod.cluster.has_sandbox_condition and pod.watched:
        yield Stage(pod, None, "sandbox", bound, pod.sandbox_ready)
    working = "interactive" if pod.run is not None and pod.run.kind == "service" else "compute"
    done = _end(pod, "main")
    kept = _end(pod, "sidecar")
    for item in pod.containers:
        role = role_of(item)
        if item.start is None:
            continue
        if role == "init":
            yield Stage(pod, item, "init", item.start, _handed_over(pod, item))
            continue
        yield Stage(pod, item, working, item.start, done)
        if done is None:
            continue
        if kept is not None:
            yield Stage(pod, item, "upload", done, kept)
        gone = pod.torn_down if pod.cluster.has_sandbox_condition else None
        if role == "main" and gone is not None:
            yield Stage(pod, item, "teardown", kept or done, gone)


def role_of(container: Container) -> str:
    """Its role; Polyaxon's sidecar is told by its name."""
    return "sidecar" if container.name == "polyaxon-sidecar" else container.role


def _end(pod: Pod, role: str) -> datetime | None:
    """When the last container of a role ended; none if one did not."""
    ends = [item.end for item in pod.containers if role_of(item) == role]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None


def _handed_over(pod: Pod, init: Container) -> datetime | None:
    """Its end, but the second that the kubelet cuts off before the next pull is its too."""
    pulls = [item.pull.start for item in pod.containers if item.pull and role_of(item) == "main"]
    if (
        init.end is not None
        and pod.watched
        and pulls
        and init.end < min(pulls) <= init.end + seconds(1)
    ):
        return min(pulls)
    return init.end


def _all(fleet: Fleet) -> Iterator[tuple[Stage, date]]:
    for pod in fleet.pods:
        if pod.run is None or not is_exported(pod):
            continue
        for stage in _stages(pod):
            for day in days_met(stage.start, stage.end):
                yield stage, day


def stages(fleet: Fleet) -> Table:
    """Return each stage on each day that it meets, with what is known by the end of the day."""
    table = Table(
        "stages",
        ("date", "pod_uid", "container", "container_role", "stage", "start_at", "end_at"),
        ("date", "pod_uid", "container", "stage"),
        rows_where=f"pod_uid IS NOT NULL AND {OF_RUNS}",
    )
    for stage, day in _all(fleet):
        pod, item = stage.pod, stage.container
        known = stage.end if stage.end is not None and stage.end < day_end(day) else None
        table.add(
            date=day,
            pod_uid=pod.uid,
            container=item.name if item else None,
            container_role=role_of(item) if item else None,
            stage=stage.stage,
            start_at=stage.start,
            # What goes on when the exports end has only a last sign of life.
            end_at=NOT_STATED if stage.end is None else known,
        )
    return table


def waits(fleet: Fleet) -> Table:
    """Return what the parts of each run's stages add up to on each day, and their GPU time."""
    table = Table(
        "waits",
        ("date", "run_uuid", "stage", "cause", "duration_us", "gpu_us"),
        ("date", "run_uuid", "stage"),
        rows_where=OF_RUNS,
        relation=SUMMED,
    )
    sums: dict[tuple[date, str, str], list[tuple[int, int] | None]] = defaultdict(list)
    for stage, day in _all(fleet):
        pod, item = stage.pod, stage.container
        assert pod.run is not None
        parts = sums[day, pod.run.uuid, stage.stage]
        if stage.end is None:
            parts.append(None)
            continue
        end = min(stage.end, day_end(day))
        length = (end - max(stage.start, day_start(day))) // MICROSECOND
        gpus = sum(container.gpus for container in pod.containers)
        # Once per pod: of its sandbox, an init container or a main one, never before its binding.
        has_gpus = item is None or role_of(item) in {"init", "main"}
        parts.append((length, length * gpus * (has_gpus and stage.stage != "scheduling")))
    for (day, run, name), parts in sums.items():
        known = [part for part in parts if part is not None]
        is_known = len(known) == len(parts)
        table.add(
            date=day,
            run_uuid=run,
            stage=name,
            cause=CAUSES.get(name, NOT_STATED),
            duration_us=sum(length for length, _ in known) if is_known else NOT_STATED,
            gpu_us=sum(gpu for _, gpu in known) if is_known else NOT_STATED,
        )
    return table

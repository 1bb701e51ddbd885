"""Answers: runs, declared_dependencies and the run's coverage (definitions.md 6, 29, 32, 33)."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.answers_pods import interval_end, interval_start
from tests.fleet.clock import DAYS, day_end, day_start, seconds
from tests.fleet.places import MISSING_HUBBLE
from tests.fleet.render_polyaxon import LIST_ONLY, status_at
from tests.fleet.world import Fleet, Node, Pod, Run

MICRO = timedelta(microseconds=1)


def held(fleet: Fleet, pod: Pod, day: date) -> tuple[datetime, datetime] | None:
    """Return the pod's time up to the end of a day."""
    start = interval_start(pod)[0]
    end = interval_end(fleet, pod)[0]
    limit = day_end(day)
    last = limit if end is None else min(end, limit)
    return (start, last) if start < last else None


def active_days(fleet: Fleet, run: Run) -> list[date]:
    """Return the days on which a pod of the run lived, or a condition of it was written."""
    days = []
    for day in DAYS:
        told = any(step.time.date() == day for step in run.conditions)
        lived = False
        for pod in run.pods:
            span = held(fleet, pod, day)
            lived = lived or (span is not None and span[1] > day_start(day))
        if told or lived:
            days.append(day)
    return days


def runs(fleet: Fleet) -> Table:
    """Return each run and attempt as known at the end of each day on which it was active."""
    table = Table(
        "runs",
        (
            "date", "run_uuid", "attempt", "cluster", "namespace", "name", "kind", "runtime",
            "project", "run_owner", "queue", "pipeline_uuid", "status", "outcome", "created_at",
            "start_at", "end_at", "pod_uids", "pod_count", "nodes", "gpu_count", "code_revision",
            "expected_us", "covered_us", "empty_means",
        ),
        ("date", "run_uuid", "attempt"),
    )  # fmt: skip
    for run in fleet.runs:
        for day in active_days(fleet, run):
            limit = day_end(day)
            seen = observed(fleet, run, day)
            status = status_at(run, limit)
            born = {pod.attempt for pod in run.pods if pod.created < limit}
            for attempt in sorted(born, key=lambda number: number or 0) or [None]:
                pods = [pod for pod in run.pods if pod.attempt == attempt and pod.created < limit]
                ends = [interval_end(fleet, pod)[0] for pod in pods]
                known = [end for end in ends if end is not None and end <= limit]
                clones = [item for item in run.declares if item.operation == "clone"]
                table.add(
                    date=day,
                    run_uuid=run.uuid,
                    attempt=attempt,
                    cluster=pods[0].cluster.name if pods else None,
                    namespace=pods[0].namespace if pods else None,
                    name=run.name,
                    kind=run.kind,
                    runtime=run.runtime,
                    project=run.project,
                    run_owner=run.owner,
                    queue=NOT_STATED if run.queue else None,
                    pipeline_uuid=run.parent.uuid if run.parent else None,
                    status=status,
                    outcome=NOT_STATED if len(born) > 1 else status,
                    created_at=run.created,
                    start_at=min(pod.created for pod in pods) if pods else None,
                    end_at=max(known) if pods and len(known) == len(pods) else None,
                    pod_uids=sorted(pod.uid for pod in pods),
                    pod_count=len(pods),
                    nodes=sorted({pod.node.name for pod in pods}),
                    gpu_count=sum(item.gpus for pod in pods for item in pod.containers),
                    code_revision=clones[0].resource_id.split("@")[1]
                    if clones and run.name not in LIST_ONLY
                    else None,
                    expected_us=seen.expected or None,
                    covered_us=seen.covered if seen.expected else None,
                    empty_means=seen.empty_means,
                )
    return table


def declared_dependencies(fleet: Fleet) -> Table:
    """Return the repositories and stored paths that runs declare."""
    table = Table(
        "declared_dependencies",
        ("date", "run_uuid", "resource_id", "operation"),
        ("date", "run_uuid", "resource_id", "operation"),
        rows_where="operation IN ('clone', 'read')",
    )
    for run in fleet.runs:
        for item in run.declares:
            for day in active_days(fleet, run):
                table.add(
                    date=day,
                    run_uuid=run.uuid,
                    resource_id=item.resource_id,
                    operation=item.operation,
                )
    return table


@dataclass
class Stretch:
    """A stretch of a node's day and what its Hubble export is worth there."""

    start: datetime
    end: datetime
    status: str
    lost: int | None


def hubble_stretches(fleet: Fleet, node: Node, day: date) -> list[Stretch]:
    """Tile a day: missing before the first and after the last event, lossy where events got lost.

    The file chain of a node runs over midnight, because the next day's first event comes a few
    seconds after the last of this one.
    """
    begin, finish = day_start(day), day_end(day)
    if (node.name, day) in MISSING_HUBBLE:
        return [Stretch(begin, finish, "missing", None)]
    first, last = _edges(fleet, node, day)
    has_before = day != DAYS[0] and (node.name, DAYS[0]) not in MISSING_HUBBLE
    has_after = day != DAYS[-1] and (node.name, DAYS[-1]) not in MISSING_HUBBLE
    stretches = []
    cursor = begin
    if not has_before:
        stretches.append(Stretch(begin, first, "missing", None))
        cursor = first
    for loss in fleet.losses:
        if loss.node == node and loss.time.date() == day:
            start = loss.start or loss.time - seconds(1)
            end = loss.end or loss.time + seconds(1)
            stretches.append(Stretch(cursor, start, "covered", 0))
            stretches.append(Stretch(start, end, "lossy", loss.count))
            cursor = end
    stop = finish if has_after else last
    stretches.append(Stretch(cursor, stop, "covered", 0))
    if not has_after:
        stretches.append(Stretch(last, finish, "missing", None))
    return stretches


def _edges(fleet: Fleet, node: Node, day: date) -> tuple[datetime, datetime]:
    times = [
        event.time
        for connection in fleet.connections
        for event in connection.events
        if event.node == node and event.time.date() == day
    ]
    return min(times), max(times)


def node_coverage(fleet: Fleet) -> Table:
    """Return what each node's Hubble export covers, by stretch."""
    table = Table(
        "node_coverage",
        ("date", "cluster", "source", "node", "start_at", "end_at", "status", "lost_count"),
        ("date", "cluster", "source", "node", "start_at"),
        rows_where="source = 'flows'",
    )
    for node in fleet.nodes:
        for day in DAYS:
            for part in hubble_stretches(fleet, node, day):
                table.add(
                    date=day,
                    cluster=node.cluster,
                    source="flows",
                    node=node.name,
                    start_at=part.start,
                    end_at=part.end,
                    status=part.status,
                    lost_count=part.lost if part.status == "lossy" else NOT_STATED,
                )
    return table


@dataclass
class Observed:
    """How much of a run's pod time its nodes' Hubble exports cover, up to the end of a day."""

    expected: int
    covered: int
    doubtful: int
    lost: int

    @property
    def ratio(self) -> float | None:
        """Return the covered share."""
        return self.covered / self.expected if self.expected else None

    @property
    def empty_means(self) -> str:
        """Return what an empty answer says."""
        if not self.covered:
            return "not_observed"
        if self.covered == self.expected and not self.doubtful:
            return "nothing_happened"
        return "partly_observed"


def observed(fleet: Fleet, run: Run, day: date, *, since: datetime | None = None) -> Observed:
    """Measure a run against its nodes' stretches, in whole microseconds, from an instant on."""
    total = Observed(0, 0, 0, 0)
    for pod in run.pods:
        span = held(fleet, pod, day)
        if span is None:
            continue
        start = span[0] if since is None else max(span[0], since)
        total.expected += max(0, (span[1] - start) // MICRO)
        for each in DAYS:
            for part in hubble_stretches(fleet, pod.node, each):
                overlap = (min(span[1], part.end) - max(start, part.start)) // MICRO
                if overlap <= 0:
                    continue
                total.covered += overlap if part.status == "covered" else 0
                total.doubtful += overlap if part.status == "lossy" else 0
                total.lost += part.lost or 0
    return total


def run_coverage_days(fleet: Fleet) -> Table:
    """Return how far each run's pods were seen by Hubble on one day."""
    table = Table(
        "run_coverage_days",
        (
            "date", "cluster", "run_uuid", "source", "expected_us", "covered_us", "doubtful_us",
            "lost_count", "empty_means",
        ),
        ("date", "run_uuid", "source"),
        rows_where="source = 'flows' AND run_uuid IS NOT NULL",
    )  # fmt: skip
    for run in fleet.runs:
        for day in DAYS:
            seen = observed(fleet, run, day, since=day_start(day))
            if not seen.expected:
                continue
            table.add(
                date=day,
                cluster=run.cluster.name if run.cluster else None,
                run_uuid=run.uuid,
                source="flows",
                expected_us=seen.expected,
                covered_us=seen.covered,
                doubtful_us=seen.doubtful,
                lost_count=seen.lost,
                empty_means=seen.empty_means,
            )
    return table


def run_coverage(fleet: Fleet) -> Table:
    """Return how far each run's pods were seen by Hubble."""
    table = Table(
        "run_coverage",
        (
            "date", "run_uuid", "source", "cluster", "project", "expected_us", "covered_us",
            "doubtful_us", "covered_seconds", "coverage_ratio", "lost_count", "empty_means",
        ),
        ("date", "run_uuid", "source"),
        rows_where="source = 'flows' AND expected_us > 0",
    )  # fmt: skip
    for run in fleet.runs:
        for day in active_days(fleet, run):
            seen = observed(fleet, run, day)
            if not seen.expected:
                continue
            table.add(
                date=day,
                run_uuid=run.uuid,
                source="flows",
                cluster=run.cluster.name if run.cluster else None,
                project=run.project,
                expected_us=seen.expected,
                covered_us=seen.covered,
                doubtful_us=seen.doubtful,
                covered_seconds=seen.covered / 1_000_000,
                coverage_ratio=seen.ratio,
                lost_count=seen.lost,
                empty_means=seen.empty_means,
            )
    return table

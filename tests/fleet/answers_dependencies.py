"""Answers: run_dependency_days, run_dependencies and the fleet's dependencies.

Only what the flows and the request logs prove is stated here: connections and object requests.
Bytes stand once: a connection to a bucket whose requests are logged has none of its own
(definitions.md 21).
"""

from dataclasses import dataclass, field, replace
from datetime import date

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.answers_network import counted, days_of, resource_of
from tests.fleet.answers_runs import active_days
from tests.fleet.names import bucket_host
from tests.fleet.places import BUCKET_REGIONS, LEXICON
from tests.fleet.transfers import Transfer, transfers
from tests.fleet.world import Connection, Fleet, Run

STATED_OPERATIONS = "operation IN ('connect', 'read', 'write', 'head')"
NODE_PEER = "ip://192.0.2.150:443"
COUNTS = (
    "connection_count", "request_count", "denied_count", "throttled_count", "not_found_count",
    "retry_count",
)  # fmt: skip


@dataclass
class Use:
    """What one attempt of one run, or no run, did to one resource on one day."""

    day: date
    cluster: str | None
    run: Run | None
    attempt: int | None
    resource_id: str
    operation: str
    resource_kind: str
    pod_uids: set[str] = field(default_factory=set)
    connection_count: int = 0
    request_count: int = 0
    denied_count: int = 0
    throttled_count: int = 0
    not_found_count: int = 0
    retry_count: int = 0
    received: int | None = None
    sent: int | None = None
    measured_by: str = "none"
    accounted_in: set[str] = field(default_factory=set)
    reader_regions: set[str | None] = field(default_factory=set)
    bucket_region: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Return what makes two uses the same one."""
        run = self.run.uuid if self.run is not None else None
        return self.day, self.cluster, run, self.attempt, self.resource_id, self.operation

    def absorb(self, other: "Use") -> None:
        """Add another use of the same resource."""
        self.pod_uids |= other.pod_uids
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.received = _sum(self.received, other.received)
        self.sent = _sum(self.sent, other.sent)
        if other.measured_by != "none":
            self.measured_by = other.measured_by
        self.accounted_in |= other.accounted_in
        self.reader_regions |= other.reader_regions


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return left if right is None else right
    return left + right


def uses(fleet: Fleet) -> list[Use]:
    """Return all uses of both days."""
    moved = transfers(fleet)
    found: dict[tuple[object, ...], Use] = {}
    single = [use for item in counted(fleet) for use in _of_connection(fleet, item, moved)]
    single += [_of_transfer(item) for item in moved]
    for use in single:
        if use.key in found:
            found[use.key].absorb(use)
        else:
            found[use.key] = use
    return list(found.values())


def _of_connection(fleet: Fleet, item: Connection, moved: list[Transfer]) -> list[Use]:
    pod = item.client
    assert pod is not None
    explained = _explained_by(item, moved)
    records = [
        record
        for record in fleet.flow_records
        if record.pod is pod
        and record.local_port == item.client_port
        and record.peer_address == item.server_address
    ]
    parts = []
    for index, day in enumerate(days_of(item)):
        use = Use(
            day=day,
            cluster=pod.cluster.name,
            run=pod.run,
            attempt=pod.attempt,
            resource_id=resource_of(item),
            operation="connect",
            resource_kind="connection",
            pod_uids={pod.uid},
            accounted_in=explained,
        )
        if index == 0:
            use.connection_count = 1
            use.denied_count = int(item.verdict == "DROPPED")
            use.retry_count = item.attempts - 1
        if records and not explained:
            if any(record.start.date() != record.end.date() for record in records):
                message = "no record of the scenario crosses midnight"
                raise ValueError(message)
            today = [record for record in records if record.start.date() == day]
            use.received = sum(record.bytes for record in today if record.direction == "receive")
            use.sent = sum(record.bytes for record in today if record.direction == "transmit")
            use.measured_by = "flow_record"
        parts.append(use)
    return parts


def _explained_by(item: Connection, moved: list[Transfer]) -> set[str]:
    """Return the resources of the logged requests that a connection carried."""
    hosts = {bucket_host(bucket, region): bucket for bucket, region in BUCKET_REGIONS.items()}
    bucket = hosts.get(item.name or "")
    assert item.end is not None
    return {
        transfer.resource_id
        for transfer in moved
        if transfer.pod is item.client
        and transfer.first.bucket == bucket
        and transfer.start < item.end
        and transfer.end > item.start
    }


def _of_transfer(item: Transfer) -> Use:
    pod = item.pod
    is_write = item.operation == "write"
    return Use(
        day=item.start.date(),
        cluster=pod.cluster.name if pod is not None else None,
        run=item.run,
        attempt=pod.attempt if pod is not None else None,
        resource_id=item.resource_id,
        operation=item.operation,
        resource_kind="object",
        pod_uids={pod.uid} if pod is not None else set(),
        request_count=len(item.requests),
        denied_count=item.count(401, 403),
        throttled_count=item.count(429, 503),
        not_found_count=item.count(404),
        received=None if is_write else item.bytes,
        sent=item.bytes if is_write else None,
        measured_by="storage_log",
        reader_regions={item.reader_region},
        bucket_region=item.bucket_region,
    )


def _cells(use: Use) -> dict[str, object]:
    """Return the stated cells that days and runs share."""
    is_connection = use.operation == "connect"
    several = len(use.accounted_in) > 1
    received: object = use.received
    sent: object = use.sent
    if use.operation == "head":
        received = sent = NOT_STATED
    elif use.operation == "write":
        received = NOT_STATED
    elif use.operation == "read":
        sent = NOT_STATED
    return {
        "resource_id": use.resource_id,
        "operation": use.operation,
        "project": use.run.project if use.run is not None else None,
        "connection_count": use.connection_count if is_connection else NOT_STATED,
        "request_count": NOT_STATED if is_connection else use.request_count,
        **{name: getattr(use, name) for name in COUNTS[2:]},
        "received_bytes": received,
        "sent_bytes": sent,
        "accounted_in": NOT_STATED if several else next(iter(use.accounted_in), None),
    }


SHARED = (
    "resource_id", "operation", "project", *COUNTS, "received_bytes", "sent_bytes",
    "accounted_in",
)  # fmt: skip


_COUNTS = (
    "connection_count", "request_count", "denied_count", "throttled_count", "not_found_count",
    "retry_count",
)  # fmt: skip
OVER_STAGES = (
    "(SELECT date, cluster, run_uuid, attempt, measured_by, resource_id, operation, "
    "MIN(project) AS project, "
    + ", ".join(f"CAST(SUM({name}) AS BIGINT) AS {name}" for name in _COUNTS)
    + ", "
    + ", ".join(
        f"CASE WHEN COUNT(*) = COUNT({name}) THEN CAST(SUM({name}) AS BIGINT) END AS {name}"
        for name in ("received_bytes", "sent_bytes")
    )
    + ", MIN(accounted_in) AS accounted_in, "
    "LIST_SORT(LIST_DISTINCT(FLATTEN(LIST(pod_uids)))) AS pod_uids "
    "FROM run_dependency_days "
    "GROUP BY date, cluster, run_uuid, attempt, measured_by, resource_id, operation, endpoint)"
)
"""The scenario does not decide stages of pods that nobody saw end: rows are summed over them."""


def run_dependency_days(fleet: Fleet) -> Table:
    """Return what each attempt did to each resource on each day, over containers and stages."""
    table = Table(
        "run_dependency_days",
        ("date", "cluster", "run_uuid", "attempt", "measured_by", *SHARED, "pod_uids"),
        ("date", "cluster", "run_uuid", "attempt", "resource_id", "operation", "measured_by"),
        rows_where=f"{STATED_OPERATIONS} AND resource_id <> '{NODE_PEER}'",
        relation=OVER_STAGES,
    )
    for use in uses(fleet):
        table.add(
            date=use.day,
            cluster=use.cluster,
            run_uuid=use.run.uuid if use.run is not None else None,
            attempt=use.attempt,
            measured_by=use.measured_by,
            pod_uids=sorted(use.pod_uids),
            **_cells(use),
        )
    return table


def run_dependencies(fleet: Fleet) -> Table:
    """Return what each attempt did to each resource up to the end of each of its active days."""
    table = Table(
        "run_dependencies",
        ("date", "run_uuid", "attempt", "measured_by", *SHARED, "declaration"),
        ("date", "run_uuid", "attempt", "resource_id", "operation"),
        rows_where=f"{STATED_OPERATIONS} AND first_seen_at IS NOT NULL",
    )
    every = uses(fleet)
    for run in fleet.runs:
        for day in active_days(fleet, run):
            life: dict[tuple[object, ...], Use] = {}
            for use in every:
                if use.run is not run or use.day > day:
                    continue
                key = (use.attempt, use.resource_id, use.operation)
                if key in life:
                    life[key].absorb(use)
                else:
                    life[key] = replace(
                        use, pod_uids=set(use.pod_uids), accounted_in=set(use.accounted_in)
                    )
            for use in life.values():
                declared = use.resource_id == LEXICON
                told = "declared_seen" if declared else "seen_not_declared"
                table.add(
                    date=day,
                    run_uuid=run.uuid,
                    attempt=use.attempt,
                    measured_by=use.measured_by,
                    declaration=told if use.operation == "read" else NOT_STATED,
                    **_cells(use),
                )
    return table


def project_of(use: Use) -> str:
    """Return the row's project as the fleet view names it (definitions.md 27)."""
    if use.run is not None:
        return use.run.project
    return "(no run)" if use.pod_uids else "(unattributed)"


def dependencies(fleet: Fleet) -> Table:
    """Return the fleet's dependencies over both days."""
    table = Table(
        "dependencies",
        (
            "project", "resource_id", "operation", "run_count", "pod_count", "connection_count",
            "request_count", "received_bytes", "sent_bytes",
        ),
        ("project", "resource_id", "operation"),
        rows_where=f"{STATED_OPERATIONS} AND resource_id <> '{NODE_PEER}'",
    )  # fmt: skip
    for (project, resource_id, operation), group in _by_project(fleet).items():
        whole = group[0]
        cells = _cells(whole)
        table.add(
            project=project,
            resource_id=resource_id,
            operation=operation,
            run_count=len({use.run.uuid for use in group if use.run is not None}),
            pod_count=len(set().union(*(use.pod_uids for use in group))),
            connection_count=_total(group, "connection_count", cells["connection_count"]),
            request_count=_total(group, "request_count", cells["request_count"]),
            received_bytes=_total(group, "received", cells["received_bytes"]),
            sent_bytes=_total(group, "sent", cells["sent_bytes"]),
        )
    return table


def _by_project(fleet: Fleet) -> dict[tuple[str, str, str], list[Use]]:
    groups: dict[tuple[str, str, str], list[Use]] = {}
    for use in uses(fleet):
        groups.setdefault((project_of(use), use.resource_id, use.operation), []).append(use)
    return groups


def _total(group: list[Use], name: str, shown: object) -> object:
    if shown == NOT_STATED:
        return NOT_STATED
    known = [value for use in group if (value := getattr(use, name)) is not None]
    return sum(known) if known else None

"""Answers: object_transfers and repeat_transfers (definitions.md 20, 25, 26, 30)."""

from collections.abc import Callable
from datetime import datetime

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.transfers import Transfer, transfers
from tests.fleet.world import Fleet

SCOPES = ("run", "node", "fleet")


def object_transfers(fleet: Fleet) -> Table:
    """Return every transfer; none of the scenario crosses midnight."""
    table = Table(
        "object_transfers",
        (
            "date", "bucket", "key", "version_id", "operation", "client_address", "start_at",
            "end_at", "object_id", "resource_id", "dataset_id", "request_count", "success_count",
            "denied_count", "not_found_count", "throttled_count", "error_count",
            "transferred_bytes", "error_bytes", "object_size_bytes", "is_complete", "cluster",
            "pod_name", "pod_uid", "node", "run_uuid", "attempt", "match_kind",
            "candidate_pod_uids", "reader_zone", "reader_region", "bucket_region",
        ),
        ("date", "bucket", "key", "version_id", "operation", "client_address", "start_at"),
    )  # fmt: skip
    for item in transfers(fleet):
        if item.start.date() != item.end.date():
            message = "a transfer of the scenario crosses midnight"
            raise ValueError(message)
        pod, run = item.pod, item.run
        table.add(
            date=item.start.date(),
            bucket=item.first.bucket,
            key=item.first.key,
            version_id=item.first.version,
            operation=item.operation,
            client_address=item.first.client_address,
            start_at=item.start,
            end_at=item.end,
            object_id=item.object_id,
            resource_id=item.resource_id,
            dataset_id=item.dataset_id,
            request_count=len(item.requests),
            success_count=item.count(200, 206),
            denied_count=item.count(401, 403),
            not_found_count=item.count(404),
            throttled_count=item.count(429, 503),
            error_count=0,
            transferred_bytes=item.bytes,
            error_bytes=item.error_bytes,
            object_size_bytes=item.size,
            is_complete=item.is_complete,
            cluster=pod.cluster.name if pod else None,
            pod_name=pod.name if pod else None,
            pod_uid=pod.uid if pod else None,
            node=pod.node.name if pod else None,
            run_uuid=run.uuid if run else None,
            attempt=pod.attempt if pod else None,
            match_kind=item.first.match_kind,
            candidate_pod_uids=sorted(one.uid for one in item.first.candidates),
            reader_zone=pod.node.zone if pod else None,
            reader_region=item.reader_region if pod else (NOT_STATED if run else None),
            bucket_region=item.bucket_region,
        )
    return table


def repeats(fleet: Fleet) -> list[dict[str, object]]:
    """Return the rows of repeat_transfers, with the transfer itself under `transfer`."""
    reads = [item for item in transfers(fleet) if item.operation == "read" and item.bytes > 0]
    rows: list[dict[str, object]] = []
    for item in reads:
        fleet_row = _row(item, reads, "fleet", _whole_fleet)
        if fleet_row is None:
            continue
        rows.append(fleet_row)
        for scope, place in (("run", _run_of), ("node", _node_of)):
            if place(item) is None:
                unknown = dict(fleet_row)
                unknown.update(scope=scope, scope_id=None, min_repeat_bytes=0)
                rows.append(unknown)
                continue
            row = _row(item, reads, scope, place)
            if row is not None:
                rows.append(row)
    return rows


def _whole_fleet(_: Transfer) -> str | None:
    return "fleet"


def _run_of(item: Transfer) -> str | None:
    return item.run.uuid if item.run is not None else None


def _node_of(item: Transfer) -> str | None:
    return item.pod.node.name if item.pod is not None else None


def _row(
    item: Transfer,
    reads: list[Transfer],
    scope: str,
    place: Callable[[Transfer], str | None],
) -> dict[str, object] | None:
    """Return the statement of one transfer in one scope, or None where it repeats nothing."""
    earlier = [
        other
        for other in reads
        if other.object_id == item.object_id
        and other.start < item.start
        and place(other) == place(item)
    ]
    size = item.size
    assert size is not None
    before = sum(other.bytes for other in earlier)
    least = max(0, before + item.bytes - size) - max(0, before - size)
    if not earlier and least == 0:
        return None
    previous = max(earlier, key=lambda other: other.start) if earlier else None
    previous_at: datetime = previous.start if previous else item.start
    return {
        "transfer": item,
        "scope": scope,
        "scope_id": place(item) if scope != "fleet" else None,
        "previous_at": previous_at,
        "previous_run_uuid": _run_of(previous) if previous else None,
        "min_repeat_bytes": least,
        "max_repeat_bytes": item.bytes if earlier else least,
    }


def repeat_transfers(fleet: Fleet) -> Table:
    """Return every read that repeats an earlier one within its run, its node or the fleet."""
    table = Table(
        "repeat_transfers",
        (
            "date", "scope", "scope_id", "object_id", "start_at", "previous_at",
            "previous_run_uuid", "cluster", "node", "run_uuid", "project", "resource_id",
            "dataset_id", "grade", "object_size_bytes", "transferred_bytes", "min_repeat_bytes",
            "max_repeat_bytes", "reader_region", "bucket_region", "match_kind",
        ),
        ("date", "scope", "object_id", "start_at"),
        rows_where="scope IN ('run', 'node', 'fleet')",
    )  # fmt: skip
    for row in repeats(fleet):
        item = row.pop("transfer")
        assert isinstance(item, Transfer)
        pod, run = item.pod, item.run
        row_of_unknown = row["scope"] in {"run", "node"} and row["scope_id"] is None
        if row_of_unknown:
            row["previous_at"] = row["previous_run_uuid"] = NOT_STATED
        table.add(
            date=item.start.date(),
            object_id=item.object_id,
            start_at=item.start,
            cluster=pod.cluster.name if pod else None,
            node=pod.node.name if pod else None,
            run_uuid=run.uuid if run else None,
            project=run.project if run else None,
            resource_id=item.resource_id,
            dataset_id=item.dataset_id,
            grade="object",
            object_size_bytes=item.size,
            transferred_bytes=item.bytes,
            reader_region=item.reader_region if pod else (NOT_STATED if run else None),
            bucket_region=item.bucket_region,
            match_kind=item.first.match_kind,
            **row,
        )
    return table

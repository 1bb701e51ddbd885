"""Answers: object_transfers and repeat_transfers (definitions.md 20, 25, 26, 30)."""

from dataclasses import dataclass
from datetime import datetime

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.transfers import Transfer, transfers
from tests.fleet.world import Container, Fleet, Pod, Pull, Run


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


@dataclass(frozen=True)
class Fetch:
    """One read of an object, or one pull of an image, with the bounds of what it moved."""

    kind: str
    object_id: str
    resource_id: str
    dataset_id: str | None
    start: datetime
    size: int
    least: int
    most: int
    pod: Pod | None
    run: Run | None
    match_kind: str
    bucket_region: str | None

    def place(self, scope: str) -> str | None:
        """Return where it happened, or None where that is not known."""
        if scope == "run":
            return self.run.uuid if self.run is not None else None
        if scope == "fleet":
            return "fleet"
        if self.pod is None:
            return None
        node = self.pod.node
        return {"node": node.name, "zone": node.zone, "region": node.region}[scope]


def fetches(fleet: Fleet) -> list[Fetch]:
    """Return all reads that moved bytes and all pulls that ended, by time."""
    found = [_read(item) for item in transfers(fleet) if item.operation == "read" and item.bytes]
    found += [
        _pull(pod, container, container.pull)
        for pod in fleet.pods
        if pod.run is not None and pod.watched
        for container in pod.containers
        if container.pull is not None
        and container.pull.end is not None
        and not container.pull.was_present
        and container.pull.error is None
    ]
    return sorted(found, key=lambda item: (item.start, item.object_id))


def _read(item: Transfer) -> Fetch:
    assert item.size is not None
    return Fetch(
        kind="object",
        object_id=item.object_id,
        resource_id=item.resource_id,
        dataset_id=item.dataset_id,
        start=item.start,
        size=item.size,
        least=item.bytes,
        most=item.bytes,
        pod=item.pod,
        run=item.run,
        match_kind=item.first.match_kind,
        bucket_region=item.bucket_region,
    )


def _pull(pod: Pod, container: Container, pull: Pull) -> Fetch:
    """A pull moved between nothing, if all layers were there, and the whole image."""
    assert pull.end is not None
    assert pull.image_bytes is not None
    if pull.start.date() != pull.end.date():
        message = "a pull of the scenario crosses midnight"
        raise ValueError(message)
    repository = f"oci://{container.image.rpartition(':')[0]}"
    return Fetch(
        kind="image",
        object_id=f"{repository}@{container.digest}",
        resource_id=f"{repository}@{container.digest}",
        dataset_id=repository,
        start=pull.start,
        size=pull.image_bytes,
        least=0,
        most=pull.image_bytes,
        pod=pod,
        run=pod.run,
        match_kind="uid",
        bucket_region=None,
    )


def repeats(fleet: Fleet) -> list[dict[str, object]]:
    """Return the rows of repeat_transfers, with the fetch itself under `fetch`."""
    found = fetches(fleet)
    rows: list[dict[str, object]] = []
    for item in found:
        fleet_row = _row(item, found, "fleet")
        if fleet_row is None:
            continue
        rows.append(fleet_row)
        for scope in ("run", "node", "zone", "region"):
            if item.place(scope) is None:
                unknown = dict(fleet_row)
                unknown.update(scope=scope, scope_id=None, min_repeat_bytes=0)
                rows.append(unknown)
                continue
            row = _row(item, found, scope)
            if row is not None:
                rows.append(row)
    return rows


def _row(item: Fetch, found: list[Fetch], scope: str) -> dict[str, object] | None:
    """Return the statement of one fetch in one scope, or None where it repeats nothing."""
    earlier = [
        other
        for other in found
        if other.object_id == item.object_id
        and other.start < item.start
        and other.place(scope) == item.place(scope)
    ]
    before = sum(other.least for other in earlier)
    least = max(0, before + item.least - item.size) - max(0, before - item.size)
    if not earlier and least == 0:
        return None
    previous = max(earlier, key=lambda other: other.start) if earlier else None
    return {
        "fetch": item,
        "scope": scope,
        "scope_id": item.place(scope) if scope != "fleet" else None,
        "previous_at": previous.start if previous else item.start,
        "previous_run_uuid": previous.place("run") if previous else None,
        "min_repeat_bytes": least,
        "max_repeat_bytes": item.most if earlier else least,
    }


def repeat_transfers(fleet: Fleet) -> Table:
    """Return every fetch of a known content that repeats an earlier one, in every scope.

    Which hosts serve packages or repositories is the catalogue's to say, so that contacts with them
    are not stated.
    """
    table = Table(
        "repeat_transfers",
        (
            "date", "scope", "scope_id", "resource_kind", "object_id", "start_at", "previous_at",
            "previous_run_uuid", "cluster", "node", "run_uuid", "project", "resource_id",
            "dataset_id", "grade", "object_size_bytes", "transferred_bytes",
            "min_repeat_bytes", "max_repeat_bytes", "min_transferred_bytes",
            "max_transferred_bytes", "reader_zone", "reader_region", "bucket_region", "match_kind",
        ),
        ("date", "scope", "object_id", "start_at"),
        rows_where="grade = 'object'",
    )  # fmt: skip
    for row in repeats(fleet):
        item = row.pop("fetch")
        assert isinstance(item, Fetch)
        pod, run = item.pod, item.run
        if row["scope"] != "fleet" and row["scope_id"] is None:
            row["previous_at"] = row["previous_run_uuid"] = NOT_STATED
        elsewhere = NOT_STATED if run else None
        table.add(
            date=item.start.date(),
            resource_kind=item.kind,
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
            transferred_bytes=item.least if item.least == item.most else None,
            min_transferred_bytes=item.least,
            max_transferred_bytes=item.most,
            reader_zone=pod.node.zone if pod else elsewhere,
            reader_region=pod.node.region if pod else elsewhere,
            bucket_region=item.bucket_region,
            match_kind=item.match_kind,
            **row,
        )
    return table

"""Answers: pod_intervals and image_pulls (definitions.md 1, 2, 29)."""

from datetime import date, datetime

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.clock import DAYS, day_end, days_met
from tests.fleet.render_kubernetes import in_list, watch_moments
from tests.fleet.world import Fleet, Pod


def is_exported(pod: Pod) -> bool:
    """Return whether any export shows the pod."""
    return bool(watch_moments(pod)) or any(in_list(pod, day) for day in DAYS)


def interval_start(pod: Pod) -> tuple[datetime, str]:
    """Return when the pod's address became its own, and what proves it.

    The sandbox condition proves it where the cluster has it and some export shows it still true; a
    list that only shows the finished pod has lost that time.
    """
    if not pod.cluster.has_sandbox_condition:
        return pod.start_time, "start_time"
    finished_when_listed = pod.torn_down is not None and not pod.watched
    if finished_when_listed:
        return pod.start_time, "start_time"
    return pod.sandbox_ready, "sandbox_ready"


def interval_end(fleet: Fleet, pod: Pod) -> tuple[datetime | None, str]:
    """Return when the pod gave its address back, and what proves it."""
    if pod.torn_down is not None and pod.cluster.has_sandbox_condition:
        return pod.torn_down, "sandbox_teardown"
    if pod.last_finish is not None:
        return pod.last_finish, "finished"
    start = interval_start(pod)[0]
    followers = [
        interval_start(other)[0]
        for other in fleet.pods
        if other is not pod
        and not other.host_network
        and not pod.host_network
        and set(other.addresses) & set(pod.addresses)
        and other.cluster == pod.cluster
        and interval_start(other)[0] > start
    ]
    if followers:
        return min(followers), "address_reused"
    return None, "open"


def pod_intervals(fleet: Fleet) -> Table:
    """Return every pod's hold on each of its addresses, once for each day it touches."""
    table = Table(
        "pod_intervals",
        (
            "date", "cluster", "namespace", "pod_name", "pod_uid", "address", "start_at",
            "end_at", "node", "zone", "region", "host_network", "start_basis", "end_basis",
            "run_uuid", "attempt", "replica_type", "replica_index", "project", "gpu_count",
        ),
        ("date", "cluster", "pod_uid", "address", "start_at"),
    )  # fmt: skip
    for pod in fleet.pods:
        if not is_exported(pod):
            continue
        start, start_basis = interval_start(pod)
        end, end_basis = interval_end(fleet, pod)
        for day in days_met(start, end):
            known = end if end is not None and end <= day_end(day) else None
            for address in pod.addresses:
                table.add(
                    date=day,
                    cluster=pod.cluster.name,
                    namespace=pod.namespace,
                    pod_name=pod.name,
                    pod_uid=pod.uid,
                    address=address,
                    start_at=start,
                    end_at=known,
                    node=pod.node.name,
                    zone=pod.node.zone,
                    region=pod.node.region,
                    host_network=pod.host_network,
                    start_basis=start_basis,
                    end_basis=end_basis if known is not None else "open",
                    run_uuid=pod.run.uuid if pod.run else None,
                    attempt=pod.attempt,
                    replica_type=pod.replica[0] if pod.replica else None,
                    replica_index=pod.replica[1] if pod.replica else None,
                    project=pod.run.project if pod.run else None,
                    gpu_count=sum(item.gpus for item in pod.containers),
                )
    return table


def image_pulls(fleet: Fleet) -> Table:
    """Return what the kubelet's events say of each watched pod's images."""
    table = Table(
        "image_pulls",
        (
            "date", "cluster", "node", "pod_uid", "container", "start_at", "end_at", "run_uuid",
            "image", "registry", "pulling_seconds", "waiting_seconds", "image_bytes",
            "was_present", "attempt_count", "error_count",
        ),
        ("date", "node", "pod_uid", "container", "start_at"),
    )  # fmt: skip
    for pod in fleet.pods:
        if pod.run is None or not pod.watched:
            continue
        for container in pod.containers:
            pull = container.pull
            if pull is None:
                continue
            failed = pull.error is not None
            total = (pull.end - pull.start).total_seconds() if pull.end is not None else 0.0
            stated = not pull.was_present and not failed
            table.add(
                date=_day(pull.start),
                cluster=pod.cluster.name,
                node=pod.node.name,
                pod_uid=pod.uid,
                container=container.name,
                start_at=pull.start,
                end_at=NOT_STATED if pull.was_present else pull.end,
                run_uuid=pod.run.uuid,
                image=container.image,
                registry=container.image.split("/")[0],
                pulling_seconds=total - 2 if stated else None,
                waiting_seconds=2.0 if stated else None,
                image_bytes=pull.image_bytes,
                was_present=pull.was_present,
                attempt_count=NOT_STATED if pull.was_present else (3 if failed else 1),
                error_count=NOT_STATED if failed else 0,
            )
    return table


def _day(moment: datetime) -> date:
    return moment.date()

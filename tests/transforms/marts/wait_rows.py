"""Rows of everything that waits read, from pods of the oracle, and waits made of them."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl

from tests.transforms.frames import DAY, checked, show
from tests.transforms.marts.wait_oracle import Attempt, Pod
from transforms.day import BuildDay
from transforms.marts import waits
from transforms.sql import SqlSession

CLUSTER = "alder"
ROLES = {"init": "init", "main": "main", "sidecar": "sidecar"}
STATUS = {"ok": 206, "denied": 403, "credentials": 401, "throttled": 503, "failed": 500}
Rows = list[dict[str, Any]]
READ = [read.table for read in waits.TRANSFORM.reads]


def moment(second: int, day: date = DAY) -> datetime:
    """The instant so many seconds from the day's start."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(seconds=second)


def uid(pod: Pod) -> str:
    """UID of a pod."""
    return f"aaaaaaaa-0000-0000-0000-{pod.number:012x}"


def build(day: date = DAY, **tables: Rows) -> pl.DataFrame:
    """Waits of one day."""
    with SqlSession(threads=1) as session:
        show(session, **{name: tables.get(name, []) for name in READ})
        return checked(session, "waits", waits.TRANSFORM.build(session, BuildDay(day, "fleet")))


def tables_of(pods: Iterable[Pod], days: Iterable[date] = (DAY,)) -> dict[str, Rows]:
    """All rows of some days, as the last of them sees them."""
    made: dict[str, Rows] = {name: [] for name in READ}
    days = tuple(days)
    until = 86_400 * ((days[-1] - DAY).days + 1)
    for pod in pods:
        for day in days:
            _add_day(made, pod, day)
        for number, attempt in enumerate(pod.attempts):
            if attempt.begin < until:
                _add_attempt(made, pod, attempt, number, days, until)
    return made


def _add_day(made: dict[str, Rows], pod: Pod, day: date) -> None:
    first = 86_400 * (day - DAY).days
    made["pod_intervals"].append(
        {
            "cluster": CLUSTER, "pod_uid": uid(pod), "address": address(pod), "namespace": "ml",
            "pod_name": f"pod-{pod.number}", "start_at": moment(-86_400),
            "created_at": moment(-86_400), "gpu_count": pod.gpus, "date": day,
        }
    )  # fmt: skip
    for place, stage in enumerate(pod.stages):
        if stage.start < first + 86_400 and stage.end > first:
            made["stages"].append(
                {
                    "stage_id": f"{pod.number}/{place}", "cluster": CLUSTER, "pod_uid": uid(pod),
                    "run_uuid": f"{pod.number:032x}", "container": stage.container,
                    "container_role": ROLES.get(stage.container or ""), "stage": stage.stage,
                    "start_at": moment(stage.start),
                    "end_at": moment(stage.end) if stage.end < first + 86_400 else None,
                    "start_basis": "terminated", "end_basis": "terminated", "date": day,
                }
            )  # fmt: skip
    for bucket in sorted({a.resource for a in pod.attempts if a.kind == "request"}):
        times = [
            (a.begin, a.end)
            for a in pod.attempts
            if a.kind == "request" and a.resource == bucket and a.begin < first + 86_400
        ]
        if times:
            made["object_transfers"].append(
                {
                    "transfer_id": f"{pod.number}/{bucket}", "provider": "s3",
                    "bucket": bucket.removeprefix("s3://"), "key": "k", "operation": "read",
                    "client_address": address(pod), "is_complete": False,
                    "start_at": moment(min(b for b, _ in times)),
                    "end_at": moment(min(max(e for _, e in times), first + 86_400)),
                    "cluster": CLUSTER, "pod_uid": uid(pod), "container_kind": "none",
                    "match_kind": "address_window", "resource_id": bucket, "date": day,
                }
            )  # fmt: skip


def _add_attempt(
    made: dict[str, Rows], pod: Pod, attempt: Attempt, number: int, days: tuple[date, ...],
    until: int,
) -> None:  # fmt: skip
    if attempt.kind == "request":
        made["object_requests"].append(
            {
                "event_at": moment(attempt.begin), "provider": "s3",
                "bucket": attempt.resource.removeprefix("s3://"), "key": "k",
                "operation": "read", "operation_name": "REST.GET.OBJECT",
                "status": STATUS[attempt.outcome], "response_bytes": 10,
                "duration_seconds": float(attempt.end - attempt.begin),
                "client_address": address(pod), "source_format": "s3_access_log",
                "record_id": f"{pod.number}/{number:05}",
            }
        )  # fmt: skip
    elif attempt.kind == "lookup":
        if attempt.end < until:
            made["dns_lookups"].append(
                {
                    "event_at": moment(attempt.end), "cluster": CLUSTER,
                    "client_address": address(pod),
                    "query_name": attempt.resource.removeprefix("dns://"),
                    "original_query_name": attempt.resource.removeprefix("dns://"),
                    "query_type": "A", "is_response": True,
                    "rcode": "NOERROR" if attempt.outcome == "ok" else "SERVFAIL",
                    "latency_seconds": float(attempt.end - attempt.begin),
                    "source_format": "coredns", "record_id": f"{pod.number}/{number:05}",
                }
            )  # fmt: skip
    else:
        _add_connection(made, pod, attempt, number, days, until)


def _add_connection(
    made: dict[str, Rows], pod: Pod, attempt: Attempt, number: int, days: tuple[date, ...],
    until: int,
) -> None:  # fmt: skip
    seen = [e for e in attempt.events if e < until]
    last = max(attempt.events)
    dropped = attempt.outcome in ("denied", "failed")
    answered = not dropped and attempt.end < until
    port = 1_024 + number
    for day in days:
        first = 86_400 * (day - DAY).days
        if attempt.begin >= first + 86_400 or last < first:
            continue
        made["connections"].append(
            {
                "connection_id": f"{pod.number}/{number:05}", "cluster": CLUSTER,
                "start_at": moment(attempt.begin),
                "end_at": moment(last) if last < first + 86_400 else None, "transport": "TCP",
                "initiator_address": address(pod), "initiator_port": port,
                "initiator_pod_uid": uid(pod), "initiator_match_kind": "uid",
                "responder_address": "192.0.2.9", "responder_port": 443,
                "verdict": "DROPPED" if dropped else "FORWARDED",
                "drop_reason": {"denied": "POLICY_DENIED", "failed": "CT_MAP_INSERTION"}.get(
                    attempt.outcome
                ),
                "has_reply": answered, "attempt_count": 1, "resource_id": attempt.resource,
                "peer_kind": "metadata" if attempt.is_gate else "outside",
                "container_kind": "none", "date": day,
            }
        )  # fmt: skip
    for second in seen:
        reply = not dropped and second == attempt.end
        ends = [(address(pod), port), ("192.0.2.9", 443)]
        (source, source_port), (target, target_port) = reversed(ends) if reply else ends
        made["flows"].append(
            {
                "cluster": CLUSTER, "event_at": moment(second), "transport": "TCP",
                "source_address": source, "source_port": source_port,
                "destination_address": target, "destination_port": target_port,
                "event_type": 4, "tcp_flags": "ACK",
            }
        )  # fmt: skip


def address(pod: Pod) -> str:
    """The pod's address."""
    return f"10.{pod.number // 250}.{pod.number % 250}.7"


def seconds_of(table: pl.DataFrame, pod: Pod) -> dict[tuple[str | None, int], tuple[str, str]]:
    """Cause and resource of each (container, second) of a pod: `-` none, `+` several."""
    start = moment(0)
    found: dict[tuple[str | None, int], tuple[str, str]] = {}
    for row in table.filter(pl.col("pod_uid") == uid(pod)).to_dicts():
        first = round((row["start_at"] - start).total_seconds())
        last = round((row["end_at"] - start).total_seconds())
        own = row["sources"] == ["stages"]
        resource = "-" if own else row["resource_id"] or "+"
        for second in range(first, last):
            assert (row["container"], second) not in found
            found[row["container"], second] = (row["cause"], resource)
    return found

"""What failed over and over."""

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.marts import storms
from transforms.sql import SqlSession

Rows = list[dict[str, Any]]
READ = [read.table for read in storms.TRANSFORM.reads]
PODS = "abcdefghijklmnop"


def uid(pod: str) -> str:
    return f"aaaaaaaa-0000-0000-0000-{ord(pod):012x}"


def address(pod: str) -> str:
    return f"10.0.0.{ord(pod)}"


def build(day: Any = DAY, **tables: Rows) -> pl.DataFrame:
    shown = {name: tables.get(name, []) for name in READ}
    shown["pod_intervals"] = [
        {
            "cluster": "alder", "pod_uid": uid(pod), "address": address(pod), "namespace": "ml",
            "pod_name": f"pod-{pod}", "start_at": at("08:00"), "created_at": at("08:00"),
            "node": "node-a", "gpu_count": 1, "date": day,
        }
        for pod in PODS
    ]  # fmt: skip
    with SqlSession(threads=1) as session:
        show(session, **shown)
        return checked(session, "storms", storms.TRANSFORM.build(session, BuildDay(day, "fleet")))


def times(start: str, count: int, gap: float) -> list[Any]:
    return [at(start) + timedelta(seconds=gap * n) for n in range(count)]


def requests(pod: str, moments: list[Any], status: int, error: str | None = None) -> Rows:
    return [
        {
            "event_at": moment, "provider": "s3", "bucket": f"b-{pod}", "key": "k",
            "operation": "read", "operation_name": "REST.GET.OBJECT", "status": status,
            "error": error, "duration_seconds": 1.0, "client_address": address(pod),
            "source_format": "s3_access_log", "record_id": f"{pod}{moment}{status}",
        }
        for moment in moments
    ]  # fmt: skip


def transfer(pod: str, start: str, end: str) -> dict[str, Any]:
    return {
        "transfer_id": f"t-{pod}", "provider": "s3", "bucket": f"b-{pod}", "key": "k",
        "operation": "read", "client_address": address(pod), "is_complete": False,
        "start_at": at(start), "end_at": at(end), "cluster": "alder", "pod_uid": uid(pod),
        "container": "main", "container_kind": "only_running", "container_role": "main",
        "match_kind": "address_window", "resource_id": f"s3://b-{pod}", "date": DAY,
    }  # fmt: skip


def connection(pod: str, number: int, moment: Any, **more: Any) -> dict[str, Any]:
    return {
        "connection_id": f"{pod}{number}", "cluster": "alder", "start_at": moment,
        "end_at": moment + timedelta(seconds=1), "transport": "TCP",
        "initiator_address": address(pod), "initiator_port": 2_000 + number,
        "initiator_pod_uid": uid(pod), "initiator_match_kind": "uid",
        "responder_address": "192.0.2.9", "responder_port": 443, "has_reply": False,
        "attempt_count": 1, "resource_id": "dns://api.example.com:443", "peer_kind": "outside",
        "container_kind": "none", "date": DAY,
    } | more  # fmt: skip


def stage(pod: str, start: str, end: str | None, basis: str = "open", **more: Any) -> Any:
    return {
        "stage_id": f"s-{pod}", "cluster": "alder", "pod_uid": uid(pod), "container": "main",
        "container_role": "main", "stage": "startup", "start_at": at(start),
        "end_at": at(end) if end else None, "end_basis": basis, "start_basis": "terminated",
        "date": DAY,
    } | more  # fmt: skip


def failing(pod: str, reason: str, message: str, last: str, count: int, **more: Any) -> Any:
    return {
        "cluster": "alder", "involved_kind": "Pod", "involved_uid": uid(pod), "namespace": "ml",
        "involved_name": f"pod-{pod}", "reason": reason, "message": message, "container": "main",
        "first_at": at("10:00"), "last_at": at(last), "event_at": at(last),
        "observed_at": at(last), "event_count": count, "record_id": f"{pod}{reason}{count}",
    } | more  # fmt: skip


def pulling(pod: str, said: str, last: str = "10:20", count: int = 8) -> Any:
    message = f'Failed to pull image "registry.example.com/{pod}:1": {said}'
    return failing(pod, "Failed", message, last, count)


POLICY = {"verdict": "DROPPED", "drop_reason": "POLICY_DENIED", "denied_by": ["ml/deny"]}
CRASHED = {
    "cluster": "alder", "namespace": "ml", "pod_uid": uid("n"), "pod_name": "pod-n",
    "container": "main", "container_role": "main", "state": "waiting", "restart_count": 5,
    "last_exit_code": 1, "last_reason": "Error", "last_started_at": at("08:09"),
    "last_finished_at": at("08:10"), "observed_at": at("08:11"),
}  # fmt: skip
TABLES: dict[str, Rows] = {
    "object_requests": [
        *requests("a", times("10:00", 5, 300), 403, "AccessDenied"),
        # Four, then a gap above 300 s, then four: no storm.
        *requests("b", times("10:00", 4, 60), 403),
        *requests("b", times("10:08:01", 4, 60), 403),
        *requests("c", times("10:00", 6, 10), 503, "SlowDown"),
        *requests("c", times("10:01:30", 1, 1), 200),
        # S3 answers 400 to a token that is over.
        *requests("d", times("10:00", 7, 10), 400, "ExpiredToken"),
        *requests("e", times("10:00", 9, 1), 404, "NoSuchKey"),
        # Nobody knows whose these are.
        *(r | {"client_address": "198.51.100.7"} for r in requests("z", times("10:00", 9, 1), 403)),
    ],
    "object_transfers": [
        transfer("a", "10:00", "10:20:01"), transfer("b", "10:00", "10:11:02"),
        transfer("c", "10:00", "10:01:31"), transfer("d", "10:00", "10:01:01"),
        transfer("e", "10:00", "10:00:09"),
        transfer("z", "10:00", "10:00:09") | {"client_address": "198.51.100.7", "pod_uid": None},
    ],
    "connections": [
        *(connection("f", n, t, **POLICY) for n, t in enumerate(times("10:00", 6, 30))),
        # One is refused: its first answer is a reset.
        *(
            connection("g", n, t, has_reply=True, close_reason="rst")
            for n, t in enumerate(times("10:00", 5, 30))
        ),
        # One packet without an answer may be a loss of the export.
        *(connection("h", n, t) for n, t in enumerate(times("10:00", 9, 30))),
    ],
    "flows": [
        {
            "cluster": "alder", "event_at": t, "transport": "TCP", "event_type": 4,
            "source_address": "192.0.2.9", "source_port": 443, "destination_port": 2_000 + n,
            "destination_address": address("g"), "tcp_flags": "RST,ACK",
        }
        for n, t in enumerate(times("10:00", 5, 30))
    ],
    "dns_lookups": [
        {
            "cluster": "alder", "event_at": t, "client_address": address("i"), "rcode": rcode,
            "query_name": name, "original_query_name": asked, "query_type": "A",
            "is_response": True, "source_format": "coredns", "record_id": f"{name}{asked}{t}",
        }
        for name, asked, rcode in (
            ("lost.example.com", "lost.example.com", "NXDOMAIN"),
            # What the search path makes of a name that exists.
            ("there.example.com", "there.example.com.ml.svc.cluster.local", "NXDOMAIN"),
        )
        for t in times("10:00", 6, 5)
    ],
    "kube_event_states": [
        pulling("j", "manifest unknown"),
        pulling("k", "unexpected status: 429 Too Many Requests"),
        pulling("l", "no space left on device", count=4),
        # 20 min apart each: no storm.
        pulling("m", "no space left on device", last="12:00", count=6),
        failing("o", "FailedMount", 'MountVolume.SetUp failed for volume "data": gone', "10:09", 6),
        failing("p", "FailedCreatePodSandBox", "no network", "10:05", 9),
    ],
    "container_states": [CRASHED],
    "stages": [
        stage("a", "09:00", "10:20:05", "terminated", reason="Error"),
        stage("c", "09:00", None), stage("d", "09:00", "10:02", "deletion"),
        stage("e", "09:00", None), stage("f", "09:00", None),
        stage("g", "09:00", "10:02:10", "last_seen"), stage("i", "09:00", None),
        stage("j", "09:00", None), stage("n", "08:00", None),
    ],
    "waits": [
        {
            "wait_id": f"w-{pod}", "cluster": "alder", "pod_uid": uid(pod), "container": "main",
            "container_role": "main", "stage": "startup", "cause": cause, "resource_id": name,
            "start_at": at("10:00"), "end_at": at("10:01"), "duration_us": 60_000_000,
            "gpu_us": 60_000_000, "sources": [], "evidence_ids": [], "date": DAY,
        }
        for pod, cause, name in (
            ("a", "denied", "s3://b-a"), ("c", "throttled", "s3://b-c"),
            # Moving bytes is not lost, nor what another resource cost.
            ("d", "transfer", "s3://b-d"), ("e", "retry", "s3://other"),
        )
    ],
}  # fmt: skip


def test_all_storms_are_found_and_none_is_made_up() -> None:
    found = build(**TABLES)
    shown = found.sort("pod_name").select(
        pl.col("pod_name").str.strip_prefix("pod-"), "activity", "error_class", "failure_count",
        "retry_end", "responsible", "day_lost_seconds",
    )  # fmt: skip
    assert shown.rows() == [
        ("a", "object_access", "forbidden", 5, "gave_up", "storage", 60.0),
        ("c", "object_access", "throttled", 6, "recovered", "storage", 60.0),
        ("d", "object_access", "credentials", 7, "unbounded", "identity", 0.0),
        ("e", "object_access", "not_found", 9, "gave_up", "ml_team", 0.0),
        ("f", "connect", "policy_drop", 6, "gave_up", "network", 0.0),
        ("g", "connect", "connection_failure", 5, "unknown", "network", 0.0),
        ("i", "resolve", "name_failure", 6, "gave_up", "network", 0.0),
        ("j", "image_pull", "not_found", 8, "unbounded", "ml_team", 0.0),
        ("k", "image_pull", "throttled", 8, "unknown", "registry", 0.0),
        ("n", "container", "exit", 6, "unbounded", "ml_team", 0.0),
        ("o", "volume_mount", "other", 6, "unknown", "platform", 0.0),
        ("p", "sandbox", "other", 9, "unknown", "network", 0.0),
    ]
    dropped = found.filter(activity="connect", error_class="policy_drop")
    assert dropped.select("start_at", "end_at", "denied_by", "first_error").rows() == [
        (at("10:00"), at("10:02:30"), ["ml/deny"], "POLICY_DENIED")
    ]
    throttled = found.filter(activity="object_access", error_class="throttled")
    assert throttled.select("status", "first_error", "succeeded_at", "day_lost_gpu_us").rows() == [
        (503, "SlowDown", at("10:01:30"), 60_000_000)
    ]


def test_what_an_image_is_called_says_nothing_of_why_its_pull_failed() -> None:
    host = "registry.example.com"
    digest = "sha256:" + "503a429b" * 8
    said = {
        "a": (f"{host}/app:2024.429", f"failed to resolve {host}/app:2024.429: not found"),
        "b": (f"{host}/disk-tls:401", f"pulling {host}/disk-tls:401: 403 Forbidden"),
        "c": (f"{host}/app:1", f'Head "https://{host}/v2/app/manifests/500": no such host'),
        "d": (f"{host}/app@{digest}", f"GET https://{host}/v2/{digest}: 502 Bad Gateway"),
        "e": ("app:404", "docker.io/library/app:404: unexpected status (401)"),
        "f": ("app:1", f"copying {digest}: i/o timeout"),
    }
    found = build(
        kube_event_states=[
            failing(pod, "Failed", f'Failed to pull image "{image}": {why}', "10:20", 8)
            for pod, (image, why) in said.items()
        ]
    )
    shown = found.sort("pod_name").select("pod_name", "error_class", "responsible")
    assert shown.rows() == [
        ("pod-a", "not_found", "ml_team"),
        ("pod-b", "forbidden", "registry"),
        ("pod-c", "name_failure", "network"),
        ("pod-d", "server_error", "registry"),
        ("pod-e", "credentials", "registry"),
        ("pod-f", "timeout", "platform"),
    ]


def waited(number: int, pod: str, cause: str, start: str, seconds: int, **more: Any) -> Any:
    return {
        "wait_id": f"w-{pod}{number}", "cluster": "alder", "pod_uid": uid(pod),
        "container": "main", "container_role": "main", "stage": "startup", "cause": cause,
        "start_at": at(start), "end_at": at(start) + timedelta(seconds=seconds),
        "duration_us": seconds * 1_000_000, "gpu_us": seconds * 2_000_000, "sources": [],
        "evidence_ids": [], "date": DAY,
    } | more  # fmt: skip


def test_waited_time_is_of_one_storm_and_only_what_lies_within_it() -> None:
    mount = 'MountVolume.SetUp failed for volume "{}": gone'
    found = build(
        object_requests=[
            *requests("a", times("10:00", 6, 10), 403, "AccessDenied"),
            *requests("a", times("10:01", 6, 10), 503, "SlowDown"),
            *requests("a", times("10:02", 1, 1), 200),
            # Server errors without a success: 300 s behind the last, at 10:05:50, all is over.
            *requests("b", times("10:00", 6, 10), 500, "InternalError"),
            *requests("c", times("10:00", 6, 10), 401, "ExpiredToken"),
        ],
        object_transfers=[
            transfer("a", "10:00", "10:02:01"), transfer("b", "10:00", "10:00:51"),
            transfer("c", "10:00", "10:00:51"),
        ],
        connections=[connection("f", n, t, **POLICY) for n, t in enumerate(times("10:00", 6, 30))],
        kube_event_states=[
            failing("o", "FailedMount", mount.format("data"), "10:09", 6),
            failing("o", "FailedMount", mount.format("code"), "10:08", 6, first_at=at("10:01")),
        ],
        waits=[
            waited(1, "a", "denied", "10:00", 60, resource_id="s3://b-a"),
            waited(2, "a", "throttled", "10:01", 60, resource_id="s3://b-a"),
            # 10 s lie before the storm, 290 s of the second behind it.
            waited(1, "b", "retry", "09:59:50", 20, resource_id="s3://b-b"),
            waited(2, "b", "retry", "10:00:40", 600, resource_id="s3://b-b"),
            waited(3, "b", "throttled", "10:00:20", 5, resource_id="s3://b-b"),
            waited(1, "c", "authenticate", "10:00", 50, resource_id="s3://b-c"),
            waited(2, "c", "denied", "10:00:50", 5, resource_id="s3://b-c"),
            waited(1, "f", "denied", "10:00", 150, resource_id="dns://api.example.com:443"),
            waited(2, "f", "retry", "10:02:30", 5, resource_id="dns://api.example.com:443"),
            # The first is over before `code` begins to fail; both storms meet the second.
            waited(1, "o", "volume", "10:00", 60),
            waited(2, "o", "volume", "10:01", 120, gpu_us=None),
        ],
    )  # fmt: skip
    shown = found.sort("pod_name", "start_at").select(
        "pod_name", "error_class", "day_lost_us", "day_lost_gpu_us"
    )
    second = 1_000_000
    assert shown.rows() == [
        ("pod-a", "forbidden", 60 * second, 120 * second),
        ("pod-a", "throttled", 60 * second, 120 * second),
        ("pod-b", "server_error", (10 + 310) * second, (20 + 620) * second),
        ("pod-c", "credentials", 50 * second, 100 * second),
        ("pod-f", "policy_drop", 150 * second, 300 * second),
        ("pod-o", "other", 60 * second, 120 * second),
        ("pod-o", "other", 120 * second, None),
    ]


@pytest.mark.slow
def test_a_storm_over_midnight_is_one_with_its_failures_by_day() -> None:
    moments = times("23:58", 10, 30)
    made = requests("a", moments, 403)
    midnight = at("00:00", days=1)
    before = [r for r in made if r["event_at"] < midnight]
    day = transfer("a", "23:58", "23:59:31")
    first = build(object_requests=before, object_transfers=[day])
    later = day | {"end_at": moments[-1] + timedelta(seconds=1), "date": DAY + timedelta(days=1)}
    second = build(DAY + timedelta(days=1), object_requests=made, object_transfers=[day, later])
    # Four are too few to be a storm by midnight; the next day knows the whole.
    assert first.is_empty()
    assert second.select("start_at", "failure_count", "day_failure_count").rows() == [
        (at("23:58"), 10, 6)
    ]


def test_a_storm_carries_how_far_what_shows_it_observed_its_pods() -> None:
    def said(source: str, covered: int) -> dict[str, Any]:
        return {"cluster": "alder", "source": source, "expected_us": 10, "covered_us": covered,
                "empty_means": "partly_observed"}  # fmt: skip

    rows = build(
        object_requests=requests("a", times("10:00", 5, 10), 503),
        object_transfers=[transfer("a", "10:00", "10:01")],
        connections=[
            connection("b", n, moment, **POLICY) for n, moment in enumerate(times("10:00", 5, 10))
        ],
        kube_event_states=[pulling("c", "manifest unknown")],
        run_coverage_days=[
            said("object_requests:b-a", 4),
            said("flows", 6),
            said("dns_lookups", 5),
        ],
    )
    found = rows.select("activity", "expected_us", "covered_us", "empty_means").rows()
    assert sorted(found) == [
        ("connect", 10, 5, "partly_observed"),
        ("image_pull", None, None, None),
        ("object_access", 10, 4, "partly_observed"),
    ]

"""One pod's life, told by a watch, an audit log, the collector and kube-state-metrics, is one life.

The sources differ in what proves a start and an end, and so by the seconds between these proofs.
"""

import json
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from tests.transforms.frames import checked, show
from tests.transforms.staging.audit_events import audit
from tests.transforms.staging.export_text import parse, rows
from tests.transforms.staging.kube_state_series import info, matrix, phase, seconds, series
from tests.transforms.staging.kubernetes_objects import (
    POD_UID,
    RUN,
    condition,
    ended,
    instant,
    pod,
    running,
    stamp,
)
from tests.transforms.staging.otlp_logs import logs, object_log
from transforms.day import BuildDay
from transforms.intermediate.pod_intervals import build
from transforms.sql import SqlSession
from transforms.staging.hubble import PARSER as HUBBLE
from transforms.staging.kube_state_metrics import PARSER as KUBE_STATE_METRICS
from transforms.staging.kubernetes import PARSER as KUBERNETES
from transforms.staging.kubernetes_audit import PARSER as AUDIT
from transforms.staging.otel_k8sobjects import PARSER as OTEL
from transforms.staging.parser import Parsed

DAY = date(2026, 3, 10)
ADDRESS = "192.0.2.7"
SKEW = timedelta(seconds=2)


def states() -> list[tuple[str, datetime, dict[str, Any]]]:
    """The pod's life: when each change was seen, and the object as it was then."""
    scheduled = condition("PodScheduled", "True", "06:00:01")
    pending = {"phase": "Pending", "conditions": [scheduled]}
    up = {
        "phase": "Running",
        "hostIP": "198.51.100.7",
        "podIP": ADDRESS,
        "podIPs": [{"ip": ADDRESS}],
        "startTime": stamp("06:00:02"),
        "conditions": [scheduled, condition("PodReadyToStartContainers", "True", "06:00:03")],
        "containerStatuses": [running("polyaxon-main", "06:00:20")],
    }
    down = up | {
        "phase": "Succeeded",
        "conditions": [scheduled, condition("PodReadyToStartContainers", "False", "07:00:12")],
        "containerStatuses": [ended("polyaxon-main", "06:00:20", "07:00:10")],
    }
    return [
        ("ADDED", instant("06:00:01"), pod(status=pending, metadata__resourceVersion="1")),
        ("MODIFIED", instant("06:00:21"), pod(status=up, metadata__resourceVersion="2")),
        ("MODIFIED", instant("07:00:13"), pod(status=down, metadata__resourceVersion="3")),
        ("DELETED", instant("07:00:14"), pod(status=down, metadata__resourceVersion="4")),
    ]


def by_watch() -> list[Parsed]:
    lines = [json.dumps({"type": change, "object": found}) for change, _, found in states()]
    return parse(KUBERNETES, "\n".join(lines))


def by_audit() -> list[Parsed]:
    verbs = {"ADDED": "create", "MODIFIED": "patch", "DELETED": "delete"}
    lines = []
    for number, (change, at, found) in enumerate(states()):
        if change == "DELETED":
            found["metadata"] |= {
                "deletionTimestamp": stamp("07:00:14"),
                "deletionGracePeriodSeconds": 0,
            }
        seen = at.isoformat(timespec="microseconds")
        event = audit(verbs[change], response=found, auditID=str(number), stageTimestamp=seen)
        lines.append(json.dumps(event))
    return parse(AUDIT, "\n".join(lines))


def by_collector() -> list[Parsed]:
    records = [
        object_log(
            {"type": change, "object": found},
            observedTimeUnixNano=str(round(at.timestamp()) * 1_000_000_000),
        )
        for change, at, found in states()
    ]
    return parse(OTEL, json.dumps(logs(*records)))


def by_kube_state_metrics() -> list[Parsed]:
    """A scrape each half minute, while the pod is there."""
    born = [
        series("created", seconds("06:00:00")),
        series("start_time", seconds("06:00:02")),
        series("status_scheduled_time", seconds("06:00:01")),
    ]
    end = series("completion_time", seconds("07:00:10"))
    looks = [
        (instant("06:00:15") + timedelta(seconds=30 * n), [info(), *phase("Running"), *born])
        for n in range(120)
    ]
    looks.append((instant("07:00:13"), [info(), *phase("Succeeded"), *born, end]))
    return parse(KUBE_STATE_METRICS, json.dumps(matrix(*looks)))


def intervals(
    found: list[Parsed], day: date = DAY, agents: list[Parsed] | None = None
) -> list[dict[str, Any]]:
    """The pod's intervals of a day."""
    told = [row | {"cluster": "alder"} for row in rows(found, "pod_states")]
    events = [row | {"cluster": "alder"} for row in rows(agents or [], "flows")]
    with SqlSession(threads=1) as session:
        show(session, pod_states=told, flows=events, node_states=[], run_versions=[])
        show(session, pod_intervals=[], resource_claims=[])
        name = build(session, BuildDay(date=day, cluster="alder", built_days=()))
        return checked(session, "pod_intervals", name).to_dicts()


SOURCES = {
    "watch": (by_watch, "06:00:03", "sandbox_ready", "07:00:12", "sandbox_teardown"),
    "audit": (by_audit, "06:00:03", "sandbox_ready", "07:00:12", "sandbox_teardown"),
    "collector": (by_collector, "06:00:03", "sandbox_ready", "07:00:12", "sandbox_teardown"),
    "kube-state-metrics": (by_kube_state_metrics, "06:00:02", "start_time", "07:00:10", "finished"),
}


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_tells_the_same_life(source: str) -> None:
    read, start, start_basis, end, end_basis = SOURCES[source]
    (found,) = intervals(read())
    assert (found["pod_uid"], found["address"], found["run_uuid"]) == (POD_UID, ADDRESS, RUN)
    assert (found["start_at"], found["start_basis"]) == (instant(start), start_basis)
    assert (found["end_at"], found["end_basis"]) == (instant(end), end_basis)
    assert (found["phase"], found["host_network"]) == ("Succeeded", False)


def test_all_sources_together_tell_the_best_proven_life_once() -> None:
    everything = [record for read, *_ in SOURCES.values() for record in read()]
    (found,) = intervals(everything)
    assert (found["start_at"], found["start_basis"]) == (instant("06:00:03"), "sandbox_ready")
    assert (found["end_at"], found["end_basis"]) == (instant("07:00:12"), "sandbox_teardown")
    assert (found["gpu_count"], found["service_account"]) == (2, "ml-runs")


def test_lives_agree_within_the_skew_guard() -> None:
    lives = [intervals(read())[0] for read, *_ in SOURCES.values()]
    for name in ("start_at", "end_at"):
        times = [life[name] for life in lives]
        assert max(times) - min(times) <= SKEW


def test_a_pod_of_which_no_requests_are_known_has_no_number_of_gpus() -> None:
    (found,) = intervals(by_kube_state_metrics())
    assert found["gpu_count"] is None


def test_a_pod_that_kube_state_metrics_saw_alive_last_is_open() -> None:
    born = [info(), *phase("Running"), series("created", seconds("06:00:00"))]
    found = parse(KUBE_STATE_METRICS, json.dumps(matrix((instant("23:59:30"), born))))
    (today,) = intervals(found)
    assert (today["start_at"], today["start_basis"]) == (instant("23:59:30"), "first_state")
    assert (today["end_at"], today["end_basis"]) == (None, "open")


def ipcache(kind: str, clock: str, node: str) -> str:
    """A line of Hubble's export: an agent tells of the pod's address."""
    update = {"cidr": f"{ADDRESS}/32", "identity": 40_000, "namespace": "ml", "pod_name": "NAME"}
    event = {"type": kind, "ipcache_update": update}
    return json.dumps({"agent_event": event, "node_name": node, "time": stamp(clock)})


def test_agents_tell_the_edges_of_a_pod_of_which_only_scrapes_are_known() -> None:
    looks = [
        (
            instant("06:00:15") + timedelta(seconds=30 * n),
            [info(), *phase("Running"), series("created", seconds("06:00:00"))],
        )
        for n in range(120)
    ]
    scraped = parse(KUBE_STATE_METRICS, json.dumps(matrix(*looks)))
    (alone,) = intervals(scraped)
    assert (alone["start_at"], alone["start_basis"]) == (instant("06:00:15"), "first_state")
    assert (alone["end_at"], alone["end_basis"]) == (None, "open")
    lines = [
        ipcache("IPCACHE_UPSERTED", "06:00:05", "node-1"),
        ipcache("IPCACHE_UPSERTED", "06:00:04", "node-2"),
        ipcache("IPCACHE_DELETED", "07:00:13", "node-2"),
    ]
    text = (
        "\n".join(lines)
        .replace("NAME", alone["pod_name"])
        .replace('"ml"', f'"{alone["namespace"]}"')
    )
    (found,) = intervals(scraped, agents=parse(HUBBLE, text))
    assert found["address"] == ADDRESS
    assert (found["start_at"], found["start_basis"]) == (instant("06:00:04"), "agent_event")
    assert (found["end_at"], found["end_basis"]) == (instant("07:00:13"), "agent_event")
    assert found["pod_uid"] == POD_UID

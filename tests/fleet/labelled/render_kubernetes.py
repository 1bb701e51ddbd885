"""Kubernetes exports of the labelled fleet: a watch of pods per cluster and day, and node lists.

A pod is told of when it is created, when it runs, when it ended and when it goes; single states may
be missing, and of some pods nothing is told. `states` says what was told, for the truth.
"""

import json
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fleet.labelled.files import write_lines
from tests.fleet.labelled.moments import (
    HOUR,
    MIDNIGHT,
    SECOND,
    day_of,
    to_seconds_text,
    to_whole_second,
)
from tests.fleet.labelled.scenarios import Scenarios
from tests.fleet.labelled.world import (
    CLEANER,
    NAMESPACE,
    START,
    Container,
    Node,
    Pod,
    World,
    start_time,
)

Json = dict[str, Any]
SPEC_KEYS = {"init": "initContainers", "ephemeral": "ephemeralContainers"}
STATUS_KEYS = {"init": "initContainerStatuses", "ephemeral": "ephemeralContainerStatuses"}


@dataclass(frozen=True)
class State:
    """One state that an export tells.

    Attributes:
        at: When the watch saw it.
        kind: ADDED, MODIFIED or DELETED.
        is_ready: The pod shows its addresses.
        is_over: Its containers ended.
        is_torn_down: Its sandbox was given back.
    """

    at: int
    kind: str
    is_ready: bool
    is_over: bool
    is_torn_down: bool


def states(rng: random.Random, scenarios: Scenarios, world: World) -> dict[str, list[State]]:
    """Which states of which pods are told, by UID."""
    told: dict[str, list[State]] = {}
    for pod in world.pods:
        if not pod.is_exported:
            continue
        several = [
            state for state in _all_states(rng, pod)
            if not (scenarios.missing_states and rng.random() < 0.03)
        ]  # fmt: skip
        if several:
            told[pod.uid] = several
    return told


def _all_states(rng: random.Random, pod: Pod) -> list[State]:
    def soon() -> int:
        return round(rng.uniform(0.05, 0.8) * SECOND)

    found = [State(pod.created + soon(), "ADDED", False, False, False)]
    if pod.ready < START:
        # What was there before the watch began is listed again at midnight too.
        found = [
            State(START + SECOND, "ADDED", True, False, False),
            State(MIDNIGHT + SECOND, "ADDED", True, False, False),
        ]
    else:
        found.append(State(pod.started + soon(), "MODIFIED", True, False, False))
    found += [
        State(container.start + soon(), "MODIFIED", True, False, False)
        for container in pod.others if container.role == "ephemeral"
    ]  # fmt: skip
    if pod.torn_down is not None and pod.deleted is not None:
        over = pod.torn_down + soon()
        found.append(State(min(over, pod.deleted), "MODIFIED", True, True, True))
        found.append(State(pod.deleted + soon(), "DELETED", True, True, True))
    return found


def write(folder: Path, world: World, told: dict[str, list[State]]) -> None:
    """Write the watches and the lists of nodes."""
    lines: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for pod in world.pods:
        for state in told.get(pod.uid, ()):
            value = {"type": state.kind, "object": _pod(pod, state)}
            line = json.dumps(value, separators=(",", ":"))
            lines[pod.cluster.name, str(day_of(state.at))].append((state.at, line))
    for (cluster, day), several in lines.items():
        path = folder / "exports" / cluster / "kubernetes" / day / "watch.jsonl"
        write_lines(path, [line for _, line in sorted(several)])
    for cluster in {node.cluster for node in world.nodes}:
        for moment in (START, MIDNIGHT + 3 * HOUR):
            items = [_node(node) for node in world.nodes if node.cluster == cluster]
            document = {"kind": "NodeList", "apiVersion": "v1", "items": items}
            hour = moment % (24 * HOUR) // HOUR
            day = str(day_of(moment))
            path = folder / "exports" / cluster.name / "kubernetes" / day / f"nodes-{hour:02d}.json"
            write_lines(path, [json.dumps(document)])


def _pod(pod: Pod, state: State) -> Json:
    labels, environment = _run_evidence(pod)
    metadata: Json = {
        "name": pod.name,
        "namespace": NAMESPACE,
        "uid": pod.uid,
        "resourceVersion": str(state.at // SECOND),
        "creationTimestamp": to_seconds_text(pod.created),
        "labels": labels,
    }
    if state.kind == "DELETED":
        assert pod.deleted is not None
        metadata["deletionTimestamp"] = to_seconds_text(pod.deleted)
        metadata["deletionGracePeriodSeconds"] = 0
    container: Json = {"name": "main", "image": "registry.example.org/ml/train:1"}
    if environment:
        container["env"] = environment
    spec: Json = {"nodeName": pod.node.name, "containers": [container]}
    for other in shown_containers(pod, state):
        key = SPEC_KEYS.get(other.role, "containers")
        spec.setdefault(key, []).append({"name": other.name, "image": container["image"]})
    if pod.host_network:
        spec["hostNetwork"] = True
    status: Json = {"phase": "Pending", "hostIP": pod.node.address}
    if state.is_ready:
        status["phase"] = "Running"
        status["podIP"] = pod.address
        status["podIPs"] = [{"ip": address} for address in pod.addresses]
        status["startTime"] = to_seconds_text(start_time(pod))
        status["conditions"] = _conditions(pod, state)
        started = {"startedAt": to_seconds_text(pod.started)}
        body: Json = {"running": started}
        if state.is_over:
            assert pod.finished is not None
            status["phase"] = "Succeeded"
            ended = {"finishedAt": to_seconds_text(pod.finished)}
            body = {"terminated": {"exitCode": 0, "reason": "Completed", **started, **ended}}
        status["containerStatuses"] = [
            {
                "name": "main", "ready": not state.is_over, "restartCount": 0, "state": body,
                "lastState": {}, "image": container["image"], "imageID": "",
            }
        ]  # fmt: skip
        for other in shown_containers(pod, state):
            key = STATUS_KEYS.get(other.role, "containerStatuses")
            status.setdefault(key, []).append(_other_status(other, state, container["image"]))
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": status}


def shown_containers(pod: Pod, state: State) -> list[Container]:
    """Containers beside `main` that a state shows: an ephemeral one from its start on."""
    return [c for c in pod.others if c.role != "ephemeral" or c.start <= state.at]


def is_ended(container: Container, state: State) -> bool:
    """Whether a state shows a container's end."""
    return container.role == "init" or state.is_over


def _other_status(container: Container, state: State, image: str) -> Json:
    started = {"startedAt": to_seconds_text(container.start)}
    body: Json = {"running": started}
    if is_ended(container, state):
        assert container.end is not None
        ended = {"finishedAt": to_seconds_text(container.end)}
        body = {"terminated": {"exitCode": 0, "reason": "Completed", **started, **ended}}
    return {
        "name": container.name, "ready": not state.is_over, "restartCount": 0, "state": body,
        "lastState": {}, "image": image, "imageID": "",
    }  # fmt: skip


def _conditions(pod: Pod, state: State) -> list[Json]:
    conditions = [
        {
            "type": "PodScheduled", "status": "True",
            "lastTransitionTime": to_seconds_text(pod.created),
        }
    ]  # fmt: skip
    if pod.cluster.has_sandbox_condition:
        moment = pod.torn_down if state.is_torn_down else pod.ready
        assert moment is not None
        conditions.append(
            {
                "type": "PodReadyToStartContainers",
                "status": "False" if state.is_torn_down else "True",
                "lastTransitionTime": to_seconds_text(moment),
            }
        )
    return conditions


def _run_evidence(pod: Pod) -> tuple[dict[str, str], list[Json]]:
    """Labels and environment that name the run, by the way in which this pod's do."""
    labels = {"app": pod.workload}
    run = pod.labelled_run
    if run is None:
        return labels, []
    if pod.run is None:
        return {
            **labels,
            "app.kubernetes.io/instance": run.uuid,
            "app.kubernetes.io/managed-by": "polyaxon",
            "app.kubernetes.io/component": CLEANER,
        }, []
    if pod.named_by == "label":
        return {**labels, "operation.polyaxon.com/uuid": run.uuid}, []
    if pod.named_by == "instance_label":
        return {
            **labels,
            "app.kubernetes.io/instance": run.uuid,
            "app.kubernetes.io/managed-by": "polyaxon",
        }, []
    if pod.named_by == "environment":
        value = f"team.{run.project}.runs.{run.uuid}"
        return labels, [{"name": "POLYAXON_RUN_INSTANCE", "value": value}]
    return labels, []


def _node(node: Node) -> Json:
    return {
        "metadata": {
            "name": node.name,
            "uid": f"00000000-0000-4000-8000-{node.cluster.number:06x}{node.number:06x}",
            "creationTimestamp": to_seconds_text(to_whole_second(START - 48 * HOUR)),
            "labels": {
                "topology.kubernetes.io/region": node.cluster.region,
                "topology.kubernetes.io/zone": node.cluster.region + "ab"[node.number % 2],
            },
        },
        "spec": {},
        "status": {"addresses": [{"type": "InternalIP", "address": node.address}]},
    }

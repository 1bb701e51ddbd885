"""Kubernetes objects: watch lines for what came and went, nightly lists for what stayed.

Finished job pods vanish within seconds, so a run's pods stand only in the watch; pods of the
platform and of services stand in the nightly lists. No state is exported by both, because the two
would be one state with two observation times.
"""

import json
from datetime import date, datetime, timedelta
from typing import Any

from tests.fleet import draw, secrets
from tests.fleet.clock import DAYS, at, day_end, day_start, seconds, to_micro, to_second
from tests.fleet.export import ExportFile
from tests.fleet.places import ALDER, BIRCH
from tests.fleet.scenario_birch import LABEL_ADDRESS, LABEL_SERVICE
from tests.fleet.world import Cluster, Container, Fleet, Node, Pod

Json = dict[str, Any]


def render(fleet: Fleet) -> list[ExportFile]:
    """Return the lists and watches of both clusters and days."""
    files = []
    for cluster in fleet.clusters.values():
        for day in DAYS:
            files += [
                _pods_list(fleet, cluster, day),
                _nodes_list(fleet, cluster, day),
                _services_list(cluster, day),
                _events_list(fleet, cluster, day),
                _watch(fleet, cluster, day),
            ]
    return files


def _file(cluster: Cluster, day: date, name: str) -> ExportFile:
    return ExportFile(
        path=f"exports/{cluster.name}/kubernetes/{day}/{name}",
        export="kubernetes-watches" if name.endswith(".jsonl") else "kubernetes-lists",
        format="kubernetes",
        cluster=cluster.name,
        node=None,
        landing_date=day,
    )


def _document(file: ExportFile, kind: str, items: list[Json], version: int) -> ExportFile:
    """Write a List with one item per line, so that a place in it can be found by eye."""
    metadata = {"resourceVersion": str(version)}
    head = json.dumps({"kind": kind, "apiVersion": "v1", "metadata": metadata})
    lines = ",\n".join(json.dumps(item, separators=(",", ":")) for item in items)
    file.text = f'{head[:-1]}, "items": [\n{lines}\n]}}\n'
    file.accepted = len(items)
    return file


# -- pods ----------------------------------------------------------------------------------------


def pod_object(pod: Pod, moment: datetime) -> Json:
    """Return the pod as the API showed it just before `moment`."""
    metadata: Json = {
        "name": pod.name,
        "namespace": pod.namespace,
        "uid": pod.uid,
        "resourceVersion": str(_version(pod.uid, moment)),
        "creationTimestamp": to_second(pod.created),
        "labels": dict(sorted(pod.labels.items())),
    }
    if pod.annotations:
        metadata["annotations"] = pod.annotations
    if pod.owner_kind:
        api = {"Job": "batch/v1", "PyTorchJob": "kubeflow.org/v1"}.get(pod.owner_kind, "apps/v1")
        metadata["ownerReferences"] = [
            {
                "apiVersion": api,
                "kind": pod.owner_kind,
                "name": pod.owner_name,
                "uid": draw.uuid4("owner", pod.namespace, pod.owner_name),
                "controller": True,
            }
        ]
    if pod.deleted is not None and moment > pod.deleted:
        metadata["deletionTimestamp"] = to_second(pod.deleted)
        metadata["deletionGracePeriodSeconds"] = 0
    inits = [item for item in pod.containers if item.role == "init"]
    mains = [item for item in pod.containers if item.role != "init"]
    spec: Json = {"nodeName": pod.node.name, "serviceAccountName": pod.service_account}
    if pod.host_network:
        spec["hostNetwork"] = True
    if inits:
        spec["initContainers"] = [_container_spec(item) for item in inits]
    spec["containers"] = [_container_spec(item) for item in mains]
    status: Json = {"phase": _phase(pod, moment), "hostIP": pod.node.address}
    if moment > pod.sandbox_ready:
        status["podIP"] = pod.address
        status["podIPs"] = [{"ip": address} for address in pod.addresses]
    status["startTime"] = to_second(pod.start_time)
    status["conditions"] = _conditions(pod, moment)
    if inits:
        status["initContainerStatuses"] = [_container_status(item, moment) for item in inits]
    status["containerStatuses"] = [_container_status(item, moment) for item in mains]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": status}


def _version(uid: str, moment: datetime) -> int:
    return 1_000 + (moment - at("01 00:00:00")) // timedelta(seconds=1) * 10 + draw.below(9, uid)


def _container_spec(container: Container) -> Json:
    spec: Json = {"name": container.name, "image": container.image}
    if container.arguments:
        spec["args"] = container.arguments
    if container.environment:
        spec["env"] = [
            {"name": name, "value": value} for name, value in sorted(container.environment.items())
        ]
    spec["resources"] = (
        {"limits": {"nvidia.com/gpu": str(container.gpus)}} if container.gpus else {}
    )
    return spec


def _phase(pod: Pod, moment: datetime) -> str:
    end = pod.last_finish
    if end is not None and moment > end:
        return "Failed" if any(item.exit_code for item in pod.containers) else "Succeeded"
    running = any(
        item.start is not None and item.start < moment
        for item in pod.containers
        if item.role != "init"
    )
    return "Running" if running else "Pending"


def _conditions(pod: Pod, moment: datetime) -> list[Json]:
    """Return the conditions; the sandbox's True time is lost once the sandbox is torn down."""

    def condition(type_: str, is_true: bool, time: datetime) -> Json:
        return {
            "type": type_,
            "status": "True" if is_true else "False",
            "lastProbeTime": None,
            "lastTransitionTime": to_second(time),
        }

    conditions = [condition("PodScheduled", True, pod.created + seconds(1))]
    if pod.cluster.has_sandbox_condition and moment > pod.sandbox_ready:
        is_up = pod.torn_down is None or moment <= pod.torn_down
        time = pod.sandbox_ready if is_up else pod.torn_down
        assert time is not None
        conditions.append(condition("PodReadyToStartContainers", is_up, time))
    mains = [item for item in pod.containers if item.role != "init"]
    started = [item.start for item in mains if item.start is not None]
    ready = max(started) if len(started) == len(mains) else None
    end = pod.last_finish
    if ready is None or moment <= ready:
        conditions.append(condition("Ready", False, pod.created + seconds(1)))
    elif end is not None and moment > end:
        conditions.append(condition("Ready", False, end))
    else:
        conditions.append(condition("Ready", True, ready))
    return conditions


def _container_status(container: Container, moment: datetime) -> Json:
    started = container.start is not None and container.start < moment
    ended = container.end is not None and container.end < moment
    status: Json = {"name": container.name, "ready": started and not ended, "restartCount": 0}
    status["image"] = container.image
    repository = container.image.rsplit(":", 1)[0]
    status["imageID"] = f"{repository}@{container.digest}" if started else ""
    identity = f"containerd://{draw.hex_digits(64, container.name, container.start)}"
    if not started:
        reason, message = container.waiting or ("PodInitializing", "")
        waiting = {"reason": reason, **({"message": message} if message else {})}
        status["state"] = {"waiting": waiting}
    elif ended:
        assert container.start is not None
        assert container.end is not None
        status["state"] = {
            "terminated": {
                "exitCode": container.exit_code,
                "reason": "Error" if container.exit_code else "Completed",
                "startedAt": to_second(container.start),
                "finishedAt": to_second(container.end),
                "containerID": identity,
            }
        }
        status["containerID"] = identity
    else:
        assert container.start is not None
        status["state"] = {"running": {"startedAt": to_second(container.start)}}
        status["containerID"] = identity
    status["lastState"] = {}
    return status


def _pods_list(fleet: Fleet, cluster: Cluster, day: date) -> ExportFile:
    moment = list_time(day)
    there = [
        pod_object(pod, moment)
        for pod in fleet.pods
        if pod.cluster == cluster and in_list(pod, day)
    ]
    return _document(_file(cluster, day, "pods-23.json"), "PodList", there, 900_000 + day.day)


def list_time(day: date) -> datetime:
    """Return when the nightly lists are taken: at 23:00, the hour in their names."""
    return day_end(day) - seconds(3600)


def in_list(pod: Pod, day: date) -> bool:
    """Return whether the nightly list of a day holds the pod; short-lived pods are watched."""
    moment = list_time(day)
    is_there = pod.created < moment and (pod.deleted is None or pod.deleted >= moment)
    return is_there and not pod.watched


# -- the watch -----------------------------------------------------------------------------------


def watch_moments(pod: Pod) -> list[tuple[datetime, str]]:
    """Return when the watch told of a pod: created, running, ended, deleted."""
    if not pod.watched:
        return []
    moments = [(pod.created + seconds(2), "ADDED")]
    mains = [item for item in pod.containers if item.role != "init"]
    started = [item.start for item in mains if item.start is not None]
    ready = max(started) if started else pod.sandbox_ready + seconds(30)
    moments.append((ready + seconds(1), "MODIFIED"))
    if pod.torn_down is not None:
        moments.append((pod.torn_down + seconds(1), "MODIFIED"))
    if pod.deleted is not None:
        moments.append((pod.deleted + seconds(1), "DELETED"))
    return moments


def _watch(fleet: Fleet, cluster: Cluster, day: date) -> ExportFile:
    lines: list[tuple[datetime, str]] = []
    for pod in fleet.pods:
        if pod.cluster != cluster:
            continue
        for moment, kind in watch_moments(pod):
            if day_start(day) <= moment < day_end(day):
                lines.append((moment, _dump({"type": kind, "object": pod_object(pod, moment)})))
        for moment, event in pod_events(pod):
            if day_start(day) <= moment < day_end(day):
                lines.append((moment, _dump({"type": "ADDED", "object": event})))
    lines.sort(key=lambda pair: pair[0])
    file = _file(cluster, day, "watch.jsonl")
    for index, (_, line) in enumerate(lines):
        file.accept(line)
        if index == 3 and cluster == ALDER and day == DAYS[0]:
            file.reject(line[:150], "invalid_json")
        if index == 5 and cluster == BIRCH and day == DAYS[0]:
            file.reject('{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1"}}', "no_uid")
    return file


def _dump(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


# -- events --------------------------------------------------------------------------------------


def pod_events(pod: Pod) -> list[tuple[datetime, Json]]:
    """Return the kubelet's events of a watched pod's image pulls, and the scheduler's."""
    if pod.run is None or not pod.watched:
        return []
    events = [(pod.created + seconds(1), _scheduled(pod))] if pod.cluster == BIRCH else []
    for container in pod.containers:
        pull = container.pull
        if pull is None:
            continue
        name = f'"{container.image}"'
        if pull.was_present:
            assert pull.end is not None
            text = f"Container image {name} already present on machine"
            events.append((pull.start, _kubelet(pod, container, "Pulled", text, pull.start)))
            continue
        pulling = _kubelet(
            pod,
            container,
            "Pulling",
            f"Pulling image {name}",
            pull.start,
            last=pull.start + seconds(120) if pull.error else None,
            count=3 if pull.error else 1,
        )
        events.append((pull.start + seconds(130 if pull.error else 0), pulling))
        if pull.error is not None:
            failed = pull.start + seconds(1)
            events.append(
                (
                    failed + seconds(130),
                    _kubelet(
                        pod,
                        container,
                        "Failed",
                        pull.error,
                        failed,
                        last=failed + seconds(120),
                        count=3,
                        type_="Warning",
                    ),
                )
            )
            back_off = f"Back-off pulling image {name}"
            start = pull.start + seconds(20)
            events.append(
                (
                    start + seconds(600),
                    _kubelet(
                        pod,
                        container,
                        "BackOff",
                        back_off,
                        start,
                        last=start + seconds(590),
                        count=pull.back_offs,
                    ),
                )
            )
        else:
            assert pull.end is not None
            total = (pull.end - pull.start) // seconds(1)
            text = (
                f"Successfully pulled image {name} in {total - 2}s ({total}s including waiting). "
                f"Image size: {pull.image_bytes} bytes."
            )
            events.append((pull.end, _kubelet(pod, container, "Pulled", text, pull.end)))
    return events


def _involved(pod: Pod, container: Container | None) -> Json:
    involved: Json = {
        "kind": "Pod",
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
        "apiVersion": "v1",
    }
    if container is not None:
        group = "initContainers" if container.role == "init" else "containers"
        involved["fieldPath"] = f"spec.{group}{{{container.name}}}"
    return involved


def _event_metadata(pod: Pod, reason: str, part: str, moment: datetime) -> Json:
    return {
        "name": f"{pod.name}.{draw.hex_digits(16, 'event', pod.uid, reason, part)}",
        "namespace": pod.namespace,
        "uid": draw.uuid4("kube-event", pod.uid, reason, part),
        "resourceVersion": str(_version(pod.uid + reason, moment)),
        "creationTimestamp": to_second(moment),
    }


def _scheduled(pod: Pod) -> Json:
    moment = pod.created + seconds(1)
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": _event_metadata(pod, "Scheduled", "", moment),
        "involvedObject": _involved(pod, None),
        "reason": "Scheduled",
        "message": f"Successfully assigned {pod.namespace}/{pod.name} to {pod.node.name}",
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "type": "Normal",
        "eventTime": to_micro(moment),
        "action": "Binding",
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-0",
    }


def _kubelet(
    pod: Pod,
    container: Container | None,
    reason: str,
    message: str,
    first: datetime,
    *,
    last: datetime | None = None,
    count: int = 1,
    type_: str = "Normal",
) -> Json:
    part = container.name if container is not None else ""
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": _event_metadata(pod, reason, part, first),
        "involvedObject": _involved(pod, container),
        "reason": reason,
        "message": message,
        "source": {"component": "kubelet", "host": pod.node.name},
        "firstTimestamp": to_second(first),
        "lastTimestamp": to_second(last or first),
        "count": count,
        "type": type_,
        "eventTime": None,
        "reportingComponent": "kubelet",
        "reportingInstance": pod.node.name,
    }


def _events_list(fleet: Fleet, cluster: Cluster, day: date) -> ExportFile:
    """Return the last hour's events, which is all that the API still has: agents' mounts."""
    items = []
    for pod in fleet.pods:
        if pod.cluster == cluster and pod.owner_name == "node-agent":
            text = (
                'MountVolume.SetUp failed for volume "cache": mount //files.example.com/cache: '
                f"password={secrets.EVENT_MESSAGE_PASSWORD}: permission denied"
            )
            moment = list_time(day) - seconds(1200)
            event = _kubelet(pod, None, "FailedMount", text, moment, type_="Warning")
            event["metadata"]["uid"] = draw.uuid4("mount", pod.uid, day)
            items.append(event)
    return _document(_file(cluster, day, "events-23.json"), "EventList", items, 900_100 + day.day)


# -- nodes and services --------------------------------------------------------------------------


def _node_object(node: Node, day: date) -> Json:
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": node.name,
            "uid": draw.uuid4("node", node.name),
            "resourceVersion": str(_version(node.name, list_time(day))),
            "creationTimestamp": "2026-03-01T00:00:00Z",
            "labels": {
                "kubernetes.io/arch": "amd64",
                "node.kubernetes.io/instance-type": node.instance_type,
                "topology.kubernetes.io/region": node.region,
                "topology.kubernetes.io/zone": node.zone,
            },
        },
        "spec": {"providerID": f"aws:///{node.zone}/{node.instance_id}"},
        "status": {
            "allocatable": {"cpu": "15", "memory": "60Gi", "nvidia.com/gpu": "4", "pods": "110"},
            "addresses": [
                {"type": "InternalIP", "address": node.address},
                {"type": "Hostname", "address": node.name},
            ],
        },
    }


def _nodes_list(fleet: Fleet, cluster: Cluster, day: date) -> ExportFile:
    items = [_node_object(node, day) for node in fleet.nodes if node.cluster == cluster.name]
    return _document(_file(cluster, day, "nodes-23.json"), "NodeList", items, 900_200 + day.day)


def _service_object(
    day: date, path: tuple[str, str], address: str, port: int, selector: Json, protocol: str
) -> Json:
    namespace, name = path
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": draw.uuid4("service", namespace, name, address),
            "resourceVersion": str(_version(name, list_time(day))),
            "creationTimestamp": "2026-03-01T00:00:00Z",
        },
        "spec": {
            "type": "ClusterIP",
            "clusterIP": address,
            "clusterIPs": [address],
            "selector": selector,
            "ports": [{"name": "main", "protocol": protocol, "port": port, "targetPort": port}],
        },
        "status": {"loadBalancer": {}},
    }


def _services_list(cluster: Cluster, day: date) -> ExportFile:
    items = [
        _service_object(
            day, ("kube-system", "kube-dns"), "10.96.0.10", 53, {"app": "coredns"}, "UDP"
        )
    ]
    if cluster == BIRCH:
        selector = {"app.kubernetes.io/name": "label-service"}
        items.append(_service_object(day, LABEL_SERVICE, LABEL_ADDRESS, 8080, selector, "TCP"))
    file = _file(cluster, day, "services-23.json")
    return _document(file, "ServiceList", items, 900_300 + day.day)

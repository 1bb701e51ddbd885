"""Series of kube-state-metrics of documentation values, and the ways they are exported."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from tests.transforms.staging.kubernetes_objects import DIGEST, POD_UID, RUN, instant

Json = dict[str, Any]
POD = f"plx-operation-{RUN}-x7k2p"


class Value(NamedTuple):
    """A series with one value."""

    name: str
    labels: dict[str, str]
    value: float


def seconds(clock: str) -> float:
    """An instant of 10 March 2026 as a value."""
    return instant(clock).timestamp()


def series(name: str, value: float = 1, **labels: str) -> Value:
    """A series of the pod."""
    own = {"namespace": "ml", "pod": POD, "uid": POD_UID}
    return Value(f"kube_pod_{name}", own | labels, value)


def info(**labels: str) -> Value:
    """The pod's information."""
    stated = {
        "host_ip": "198.51.100.7",
        "pod_ip": "192.0.2.7",
        "node": "node-1",
        "created_by_kind": "Job",
        "created_by_name": f"plx-operation-{RUN}",
        "priority_class": "",
        "host_network": "false",
    }
    return series("info", **(stated | labels))


def phase(name: str) -> list[Value]:
    """All phases, of which one holds."""
    phases = ("Pending", "Succeeded", "Failed", "Unknown", "Running")
    return [series("status_phase", float(p == name), phase=p) for p in phases]


def container(name: str = "polyaxon-main", group: str = "container") -> list[Value]:
    """A running container."""
    return [
        series(
            f"{group}_info",
            container=name,
            image_spec="registry.example.com/ml/train:1.4",
            image="registry.example.com/ml/train:1.4",
            image_id=f"registry.example.com/ml/train@{DIGEST}",
            container_id="containerd://c0",
        ),
        series(f"{group}_status_running", container=name),
        series(f"{group}_status_waiting", 0, container=name),
        series(f"{group}_state_started", seconds("06:00:20"), container=name),
        series(f"{group}_status_restarts_total", 2, container=name),
        series(f"{group}_status_last_terminated_reason", container=name, reason="OOMKilled"),
        series(f"{group}_status_last_terminated_exitcode", 137, container=name),
        series(f"{group}_status_last_terminated_timestamp", seconds("06:00:15"), container=name),
        series(f"{group}_resource_requests", 2, container=name, resource="nvidia_com_gpu"),
        series(f"{group}_resource_requests", 0.5, container=name, resource="cpu", unit="core"),
        series(f"{group}_resource_limits", 2, container=name, resource="nvidia_com_gpu"),
    ]


def running() -> list[Value]:
    """All series of a running pod."""
    return [
        info(),
        series("ips", ip="192.0.2.7", ip_family="4"),
        series("ips", ip="2001:db8::7", ip_family="6"),
        series("created", seconds("06:00:00")),
        series("start_time", seconds("06:00:02")),
        series("owner", owner_kind="Job", owner_name=f"plx-operation-{RUN}",
               owner_is_controller="true"),
        series("service_account", service_account="ml-runs"),
        series("labels", label_app_kubernetes_io_instance=RUN,
               label_operation_polyaxon_com_uuid=RUN, label_team="vision",
               label_app_kubernetes_io_managed_by="polyaxon",
               label_app_kubernetes_io_component="polyaxon-jobs"),
        series("status_scheduled_time", seconds("06:00:01")),
        series("status_ready_time", seconds("06:00:21")),
        *phase("Running"),
        *container(),
    ]  # fmt: skip


def text(values: Iterable[Value], stamp: str = "") -> str:
    """The series as Prometheus text."""
    lines = []
    for name, labels, value in values:
        pairs = ",".join(f'{key}="{text}"' for key, text in labels.items())
        lines.append(f"{name}{{{pairs}}} {value!r}{f' {stamp}' if stamp else ''}\n")
    return "".join(lines)


def vector(values: Iterable[Value], at: datetime) -> Json:
    """The series as the answer of an instant query."""
    result = [
        {"metric": {"__name__": name, **labels}, "value": [at.timestamp(), repr(value)]}
        for name, labels, value in values
    ]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def matrix(*looks: tuple[datetime, Iterable[Value]]) -> Json:
    """The series of several looks as the answer of a range query."""
    found: dict[tuple[Any, ...], Json] = {}
    for at, values in looks:
        for name, labels, value in values:
            key = (name, *labels.items())
            entry = found.setdefault(key, {"metric": {"__name__": name, **labels}, "values": []})
            entry["values"].append([at.timestamp(), repr(value)])
    return {"status": "success", "data": {"resultType": "matrix", "result": [*found.values()]}}


def otlp(values: Iterable[Value], at: datetime) -> Json:
    """The series as OTLP metrics of the collector's Prometheus receiver."""
    metrics: dict[str, list[Json]] = {}
    for name, labels, value in values:
        attributes = [{"key": k, "value": {"stringValue": v}} for k, v in labels.items()]
        nanoseconds = str(round(at.timestamp()) * 1_000_000_000)
        point = {"attributes": attributes, "timeUnixNano": nanoseconds, "asDouble": value}
        metrics.setdefault(name, []).append(point)
    entries = [{"name": name, "gauge": {"dataPoints": points}} for name, points in metrics.items()]
    return {"resourceMetrics": [{"scopeMetrics": [{"metrics": entries}]}]}

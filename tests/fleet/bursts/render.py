"""The exports: `promtool tsdb dump`, VictoriaMetrics' JSON lines, OTLP lines, a watch of pods.

What moved is in none of them, only what was read. Times of samples are whole milliseconds.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.fleet.bursts.scrapes import Reading, Series
from tests.fleet.bursts.world import BARE, DATE, IDENTIFIED, MILLISECOND, SECOND, STARTED, Node, Pod

Json = dict[str, Any]

NAMESPACE = "ml"
COLLECTOR = "otlp"
SETTINGS = f"""\
lake: lake
catalog: podledger.duckdb
workers: 1
clusters:
  oak: {{}}
exports:
  - {{name: dumps, format: prometheus, path: "exports/{{cluster}}/dumps/%Y-%m-%d/*.txt"}}
  - {{name: victoria, format: victoriametrics, path: "exports/{{cluster}}/vm/%Y-%m-%d/*.jsonl"}}
  - {{name: {COLLECTOR}, format: otlp, path: "exports/{{cluster}}/otlp/%Y-%m-%d/*.jsonl"}}
  - {{name: watch, format: kubernetes, path: "exports/{{cluster}}/kubernetes/%Y-%m-%d/*.jsonl"}}
"""


def write(folder: Path, pods: Iterable[Pod], series: Iterable[Series]) -> Path:
    """Write exports and settings below a folder; returns the settings file."""
    pods = list(pods)
    by_observer: dict[tuple[str, str], list[Series]] = defaultdict(list)
    nodes: dict[str, Node] = {}
    for one in series:
        nodes[one.pod.node.name] = one.pod.node
        if one.readings:
            by_observer[one.pod.node.name, one.replica].append(one)
    writers = {
        IDENTIFIED: ("dumps", "txt", _dump),
        BARE: ("vm", "jsonl", _victoria),
        STARTED: ("otlp", "jsonl", _otlp),
    }
    for (name, replica), several in by_observer.items():
        place, ending, lines = writers[nodes[name].kind]
        _write(folder, place, f"{name}-{replica}.{ending}", lines(several))
    _write(folder, "kubernetes", "watch.jsonl", _watch(pods))
    settings = folder / "podledger.yaml"
    settings.write_text(SETTINGS, encoding="utf-8")
    return settings


def observer(series: Series) -> str:
    """The name by which an observer can be known from the export."""
    if series.pod.node.kind == STARTED:
        return COLLECTOR
    labels = _target(series)
    return "/".join((labels["prometheus_replica"], labels["job"], labels["instance"]))


def _write(folder: Path, place: str, name: str, lines: Iterable[str]) -> None:
    path = folder / "exports" / "oak" / place / DATE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


# -- cAdvisor ------------------------------------------------------------------------------------


def _target(series: Series) -> dict[str, str]:
    node = series.pod.node
    return {
        "instance": f"192.0.2.{node.number}:10250",
        "job": "kubelet",
        "node": node.name,
        "prometheus_replica": f"prometheus-{series.replica}",
    }


def _metric(series: Series) -> str:
    return f"container_network_{series.direction}_bytes_total"


def _dump(several: Iterable[Series]) -> Iterable[str]:
    """Series by name and labels, as the database keeps them."""
    texts: dict[str, list[tuple[int, float]]] = {}
    for one in several:
        pod = one.pod
        sandbox = f"{int(pod.uid.replace('-', ''), 16) * 16 + (one.sandbox or 0):064x}"
        slice_name = f"kubepods-burstable-pod{pod.uid.replace('-', '_')}.slice"
        own = {
            "id": f"/kubepods.slice/kubepods-burstable.slice/{slice_name}/"
            f"cri-containerd-{sandbox}.scope",
            "image": "registry.example.com/pause:3.9",
            "name": sandbox,
            "namespace": NAMESPACE,
            "pod": pod.name,
        }
        counter = {"__name__": _metric(one), **_target(one), **own, "interface": "eth0"}
        texts[_labels(counter)] = [(r.at, r.value) for r in one.readings]
        start = {"__name__": "container_start_time_seconds", **_target(one), **own}
        texts[_labels(start)] = [(r.at, r.begun / SECOND) for r in one.readings]
    for labels in sorted(texts):
        for at, value in texts[labels]:
            yield f"{labels} {_shortest(value)} {at // MILLISECOND}"


def _labels(labels: dict[str, str]) -> str:
    return "{" + ", ".join(f'{key}="{text}"' for key, text in sorted(labels.items())) + "}"


def _shortest(value: float) -> str:
    """A number as Go's `%g` writes it: the shortest that reads back, a million as `1e+06`."""
    if value < 1_000_000:
        return f"{value:g}"
    digits = repr(float(value))
    if "e" not in digits:
        whole, _, fraction = digits.partition(".")
        power = len(whole) - 1
        kept = (whole + fraction.removesuffix("0" if fraction == "0" else "")).rstrip("0")
        digits = f"{kept[0]}.{kept[1:]}".removesuffix(".") + f"e+{power:02d}"
    assert float(digits) == value
    return digits


def _victoria(several: Iterable[Series]) -> Iterable[str]:
    for one in several:
        labels = {
            "__name__": _metric(one),
            **_target(one),
            "interface": "eth0",
            "namespace": NAMESPACE,
            "pod": one.pod.name,
        }
        yield _json(
            {
                "metric": labels,
                "values": [r.value for r in one.readings],
                "timestamps": [r.at // MILLISECOND for r in one.readings],
            }
        )


# -- OTLP ----------------------------------------------------------------------------------------


def _otlp(several: Iterable[Series]) -> Iterable[str]:
    """One line is one collection of a node."""
    times: dict[int, dict[str, tuple[Pod, list[Json]]]] = defaultdict(dict)
    for one in several:
        for reading in one.readings:
            found = times[reading.at].setdefault(one.pod.uid, (one.pod, []))
            found[1].append(_point(one.direction, reading))
    for at in sorted(times):
        yield _json({"resourceMetrics": [_resource(*found) for found in times[at].values()]})


def _attributes(**pairs: str) -> list[Json]:
    named = {key.replace("_", "."): text for key, text in pairs.items()}
    return [{"key": key, "value": {"stringValue": text}} for key, text in named.items()]


def _point(direction: str, reading: Reading) -> Json:
    return {
        "attributes": _attributes(interface="eth0", direction=direction),
        "startTimeUnixNano": str(reading.begun * 1_000),
        "timeUnixNano": str(reading.at * 1_000),
        "asInt": str(reading.value),
    }


def _resource(pod: Pod, points: list[Json]) -> Json:
    attributes = _attributes(
        k8s_namespace_name=NAMESPACE, k8s_pod_name=pod.name, k8s_pod_uid=pod.uid
    )
    sums = {"dataPoints": points, "aggregationTemporality": 2, "isMonotonic": True}
    metric = {"name": "k8s.pod.network.io", "unit": "By", "sum": sums}
    scope = {"scope": {"name": "kubeletstats"}, "metrics": [metric]}
    return {"resource": {"attributes": attributes}, "scopeMetrics": [scope]}


# -- Kubernetes ----------------------------------------------------------------------------------


def _watch(pods: Iterable[Pod]) -> Iterable[str]:
    states = [
        (moment, number, _json({"type": kind, "object": _pod(pod, number, moment, is_over)}))
        for number, pod in enumerate(pods)
        for moment, kind, is_over in (
            (pod.created + 5 * SECOND, "ADDED", False),
            (pod.finished + SECOND, "MODIFIED", True),
        )
    ]
    return [line for _, _, line in sorted(states)]


def _pod(pod: Pod, number: int, moment: int, is_over: bool) -> Json:
    started = {"startedAt": _text(pod.sandboxes[0][0] + SECOND)}
    state: Json = {"running": started}
    if is_over:
        ended = {"finishedAt": _text(pod.finished)}
        state = {"terminated": {"exitCode": 0, "reason": "Completed", **started, **ended}}
    address = f"10.0.{pod.node.number}.{number % 250 + 1}"
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": pod.name,
            "namespace": NAMESPACE,
            "uid": pod.uid,
            "resourceVersion": str(moment // SECOND),
            "creationTimestamp": _text(pod.created),
        },
        "spec": {
            "nodeName": pod.node.name,
            "containers": [{"name": "main", "image": "registry.example.com/ml/train:1"}],
        },
        "status": {
            "phase": "Succeeded" if is_over else "Running",
            "hostIP": f"192.0.2.{pod.node.number}",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "startTime": _text(pod.created),
            "containerStatuses": [
                {
                    "name": "main",
                    "ready": not is_over,
                    "restartCount": 0,
                    "state": state,
                    "lastState": {},
                    "image": "registry.example.com/ml/train:1",
                    "imageID": "",
                }
            ],
        },
    }


def _text(moment: int) -> str:
    return datetime.fromtimestamp(moment // SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _json(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))

"""A landing zone of many clusters with eight formats each: one pod a cluster, a few lines a file.

Addresses, names and ids differ from cluster to cluster, so that no cluster's pod answers for
another's traffic.
"""

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

FORMATS = (
    "hubble", "coredns", "kubernetes", "polyaxon", "otlp", "aws_vpc_flow_log", "s3_access_log",
    "containerd",
)  # fmt: skip
NODE = "node-1"
PEER = "192.0.2.80"


def cluster_names(count: int) -> list[str]:
    """Names of the clusters, `c00` and on."""
    return [f"c{number:02d}" for number in range(count)]


def settings_text(count: int) -> str:
    """Settings over all clusters; every format is expected of each of them every day."""
    clusters = "\n".join(f"  {name}: {{cloud: aws}}" for name in cluster_names(count))
    exports = "\n".join(
        f"  - {{name: {name}, format: {name}, expect: {{}}, "
        f'path: "in/{{cluster}}/{name}/%Y-%m-%d/{{node}}.log"}}'
        for name in FORMATS
    )
    return (
        "lake: lake\ncatalog: podledger.duckdb\nmemory_limit: 2GB\n"
        f"clusters:\n{clusters}\nexports:\n{exports}\n"
    )


def path_of(folder: Path, cluster: str, name: str, day: dt.date) -> Path:
    """Where one export file lies."""
    return folder / "in" / cluster / name / day.isoformat() / f"{NODE}.log"


def deliver(folder: Path, cluster: str, day: dt.date, names: Sequence[str] = FORMATS) -> None:
    """Write the files of one cluster and day, of some formats."""
    for name in names:
        path = path_of(folder, cluster, name, day)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_CONTENT[name](_Pod(cluster, day)), encoding="utf-8")


class _Pod:
    """The pod of one cluster: a run of ten minutes that reads an object and sends a request."""

    def __init__(self, cluster: str, day: dt.date) -> None:
        number = int(cluster[1:])
        self.cluster, self.day = cluster, day
        self.address = f"10.{number}.0.31"
        self.run = uuid5(NAMESPACE_URL, f"run of {cluster} on {day}").hex
        self.uid = str(uuid5(NAMESPACE_URL, f"pod of {cluster} on {day}"))
        self.name = f"plx-operation-{self.run}-x7k2p"
        self.start = dt.datetime(day.year, day.month, day.day, 10, number, tzinfo=dt.UTC)

    def at(self, seconds: float) -> str:
        """A moment of its life, as RFC 3339."""
        moment = self.start + dt.timedelta(seconds=seconds)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def epoch(self, seconds: float) -> int:
        """The same in seconds since 1970."""
        return int((self.start + dt.timedelta(seconds=seconds)).timestamp())

    @property
    def labels(self) -> dict[str, str]:
        return {
            "app.kubernetes.io/instance": self.run,
            "app.kubernetes.io/managed-by": "polyaxon",
        }


def _hubble(pod: _Pod) -> str:
    ours = {"namespace": "ml", "pod_name": pod.name, "labels": ["k8s:app=ml"]}
    events = []
    for number, (seconds, flags, is_reply) in enumerate(
        ((60, {"SYN": True}, False), (60.1, {"SYN": True, "ACK": True}, True),
         (90, {"FIN": True, "ACK": True}, False))
    ):  # fmt: skip
        ends = [(pod.address, 40_000, ours), (PEER, 443, {"labels": ["reserved:world"]})]
        (source, from_port, one), (destination, to_port, other) = ends[::-1] if is_reply else ends
        at = pod.at(seconds)
        flow = {
            "time": at, "uuid": str(uuid5(NAMESPACE_URL, f"{pod.uid} {number}")),
            "verdict": "FORWARDED", "IP": {"source": source, "destination": destination},
            "l4": {"TCP": {"source_port": from_port, "destination_port": to_port, "flags": flags}},
            "source": one, "destination": other, "Type": "L3_L4",
            "node_name": f"{pod.cluster}/{NODE}", "event_type": {"type": 4},
            "is_reply": is_reply, "trace_observation_point": "TO_STACK",
        }  # fmt: skip
        events.append({"flow": flow, "node_name": f"{pod.cluster}/{NODE}", "time": at})
    return _lines(events)


def _coredns(pod: _Pod) -> str:
    return (
        f"{pod.at(59)} stdout F [INFO] {pod.address}:45000 - 7 "
        '"A IN data.example.com. udp 44 false 1232" NOERROR qr,rd,ra 60 0.001s\n'
    )


def _kubernetes(pod: _Pod) -> str:
    container = {"name": "polyaxon-main", "image": "registry.example.com/ml/trainer:1"}
    state = {
        **container, "imageID": "", "ready": True, "restartCount": 0,
        "state": {"running": {"startedAt": pod.at(10)}},
    }  # fmt: skip
    items = [
        {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": pod.name, "namespace": "ml", "uid": pod.uid, "labels": pod.labels,
                "creationTimestamp": pod.at(0),
            },
            "spec": {"nodeName": NODE, "containers": [container]},
            "status": {
                "phase": "Running", "podIP": pod.address, "podIPs": [{"ip": pod.address}],
                "startTime": pod.at(2), "containerStatuses": [state],
            },
        },
        {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {
                "name": NODE, "uid": str(uuid5(NAMESPACE_URL, f"node of {pod.cluster}")),
                "creationTimestamp": pod.at(-3600),
                "labels": {"topology.kubernetes.io/zone": "us-east-1a"},
            },
            "status": {"addresses": [{"type": "InternalIP", "address": pod.address[:-2] + "11"}]},
        },
    ]  # fmt: skip
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": items})


def _polyaxon(pod: _Pod) -> str:
    run = {
        "uuid": pod.run, "name": f"train-{pod.cluster}", "project": "vision", "kind": "job",
        "runtime": "job", "status": "succeeded", "created_at": pod.at(-5),
        "started_at": pod.at(5), "finished_at": pod.at(600), "updated_at": pod.at(600),
    }  # fmt: skip
    return json.dumps({"count": 1, "results": [run]})


def _otlp(pod: _Pod) -> str:
    def texts(**values: str) -> list[dict[str, object]]:
        return [{"key": k, "value": {"stringValue": v}} for k, v in values.items()]

    points = [
        {
            "attributes": texts(interface="eth0", direction="receive"),
            "startTimeUnixNano": str(pod.epoch(5) * 10**9),
            "timeUnixNano": str(pod.epoch(seconds) * 10**9),
            "asInt": str(value),
        }
        for seconds, value in ((60, 1_000), (120, 51_000))
    ]
    metric = {
        "name": "k8s.pod.network.io", "unit": "By",
        "sum": {"dataPoints": points, "aggregationTemporality": 2, "isMonotonic": True},
    }  # fmt: skip
    of = {"k8s.namespace.name": "ml", "k8s.pod.name": pod.name, "k8s.pod.uid": pod.uid}
    resource = {"attributes": texts(**of)}
    scope = {"scope": {"name": "kubeletstats"}, "metrics": [metric]}
    return _lines([{"resourceMetrics": [{"resource": resource, "scopeMetrics": [scope]}]}])


def _flow_log(pod: _Pod) -> str:
    head = (
        "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes "
        "start end action log-status"
    )
    line = (
        f"2 111122223333 eni-0example{pod.cluster} {PEER} {pod.address} 443 40000 6 10 50000 "
        f"{pod.epoch(60)} {pod.epoch(90)} ACCEPT OK"
    )
    return f"{head}\n{line}\n"


def _access_log(pod: _Pod) -> str:
    when = dt.datetime.fromtimestamp(pod.epoch(70), dt.UTC)
    return (
        f"ownerEXAMPLE example-bucket [{when:%d/%b/%Y:%H:%M:%S} +0000] {pod.address} "
        f"arn:aws:iam::111122223333:role/reader {pod.run[:16].upper()} REST.GET.OBJECT data.bin "
        '"GET /data.bin HTTP/1.1" 200 - 50000 50000 20 10 "-" "boto3/1.34" - hostidEXAMPLE '
        "SigV4 TLS_AES_128_GCM_SHA256 AuthHeader example-bucket.s3.us-east-1.amazonaws.com "
        "TLSv1.3 - -\n"
    )


def _containerd(pod: _Pod) -> str:
    image = "registry.example.com/ml/trainer"
    hexes = "0123456789abcdef" * 4
    fields = {
        "time": pod.at(8), "level": "info",
        "msg": (
            f'Pulled image "{image}:1" with image id "sha256:{hexes}", repo tag "{image}:1", '
            f'repo digest "{image}@sha256:{hexes}", size "2097152" in 1.5s'
        ),
    }  # fmt: skip
    return _lines([fields])


def _lines(records: Sequence[object]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


_CONTENT = {
    "hubble": _hubble,
    "coredns": _coredns,
    "kubernetes": _kubernetes,
    "polyaxon": _polyaxon,
    "otlp": _otlp,
    "aws_vpc_flow_log": _flow_log,
    "s3_access_log": _access_log,
    "containerd": _containerd,
}

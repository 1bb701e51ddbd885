"""Byte counters: scrapes, dumps with times, OpenMetrics with starts, answers of queries.

Starts that stand on lines of their own are not among them: a row without its start's line, as in a
file that breaks off, is another row by design.
"""

import json

_SANDBOX = ("9" * 63 + "a", "8" * 63 + "b", "7" * 63 + "c")
_UID = "5f8c1e1a_7f0c_4b7e_9a53_0f4c3a2b1d0{}"
_AT = 1_773_129_700_000


def cadvisor(number: int, direction: str = "receive") -> tuple[str, dict[str, str]]:
    """A series of a pod's sandbox."""
    sandbox = _SANDBOX[number % 3]
    pod = f"kubepods-pod{_UID.format(number)}.slice/cri-containerd-{sandbox}.scope"
    return f"container_network_{direction}_bytes_total", {
        "container": "",
        "id": f"/kubepods.slice/{pod}",
        "image": "registry.example.com/pause:3.9",
        "instance": "192.0.2.7:10250",
        "interface": "eth0",
        "job": "kubelet",
        "name": sandbox,
        "namespace": "team-vision",
        "node": "node-1",
        "pod": f"train-{number}",
    }


def flow(**labels: str) -> tuple[str, dict[str, str]]:
    """A series of OBI."""
    known = {
        "dst_address": "203.0.113.9",
        "dst_port": "443",
        "iface": "eth0",
        "iface_direction": "egress",
        "k8s_src_name": "train-0",
        "k8s_src_namespace": "team-vision",
        "k8s_src_owner_name": "train",
        "k8s_src_owner_type": "Job",
        "k8s_src_type": "Pod",
        "obi_ip": "192.0.2.7",
        "src_address": "10.0.0.5",
        "transport": "TCP",
    }
    return "obi_network_flow_bytes_total", known | labels


def kubecost(**labels: str) -> tuple[str, dict[str, str]]:
    """A series of network-costs."""
    known = {
        "internet": "false",
        "namespace": "team-vision",
        "pod_name": "train-0",
        "same_region": "true",
        "same_zone": "false",
        "service": "",
    }
    return "kubecost_pod_network_egress_bytes_total", known | labels


def text(series: tuple[str, dict[str, str]], value: str, *more: str) -> str:
    """A line of exposition text."""
    name, labels = series
    inner = ",".join(f'{key}="{stated}"' for key, stated in labels.items())
    return " ".join((f"{name}{{{inner}}}", value, *more)) + "\n"


def dumped(series: tuple[str, dict[str, str]], value: str, milliseconds: int) -> str:
    """A line of `promtool tsdb dump`."""
    name, labels = series
    inner = ", ".join(f'{key}="{stated}"' for key, stated in labels.items())
    return f'{{__name__="{name}", {inner}}} {value} {milliseconds}\n'


def answer(
    kind: str, *series: tuple[tuple[str, dict[str, str]], list[object]]
) -> dict[str, object]:
    """An answer of the HTTP API."""
    key = "value" if kind == "vector" else "values"
    found = [
        {"metric": {"__name__": name, **labels}, key: values} for (name, labels), values in series
    ]
    return {"status": "success", "data": {"resultType": kind, "result": found}}


_NODE = ("node_network_receive_bytes_total", {"device": "ens5", "instance": "node-1:9100"})
_SCRAPE = (
    "# HELP container_network_receive_bytes_total Cumulative count of bytes received\n"
    "# TYPE container_network_receive_bytes_total counter\n"
    + "".join(text(cadvisor(n), f"{40_962 + n}", str(_AT)) for n in range(3))
    + "# TYPE container_network_transmit_bytes_total counter\n"
    + "".join(text(cadvisor(n, "transmit"), f"1.0{n}e+10", str(_AT)) for n in range(3))
    + text(_NODE, "77", str(_AT))
    + "up 1\n"
)
_OPENMETRICS = (
    "# TYPE obi_network_flow_bytes counter\n"
    + text(flow(), "123.3", "1773129700.125", "st@1773129600.5")
    + text(flow(src_port="443"), "9", "1773129700.125", '# {trace_id="ab"} 0.67 1773129699.1')
    + "# TYPE kubecost_pod_network_egress_bytes counter\n"
    + text(kubecost(), "335188219", "1773129700.125")
    + text(kubecost(internet="true", same_region="false"), "5", "1773129700.125")
    + "# EOF\n"
)
_DUMP = "".join(
    dumped(cadvisor(n), f"{5_000 * (step + 1)}", _AT + step * 30_000 + n)
    for n in range(3)
    for step in range(3)
) + dumped(cadvisor(0), "NaN", _AT + 90_000)
_GRID = answer(
    "matrix",
    *(
        (cadvisor(n), [[1_773_129_700 + 60 * step, str(900 + step)] for step in range(3)])
        for n in range(3)
    ),
)
_READ = answer(
    "matrix",
    *(
        (cadvisor(n), [[1_773_129_700.123 + 15.001 * k, str(900 + k)] for k in range(3)])
        for n in range(3)
    ),
)
_VECTOR = answer(
    "vector",
    (flow(), [1_773_129_700.5, "12"]),
    (kubecost(), [1_773_129_700.5, "13"]),
    (("up", {"job": "kubelet"}), [1_773_129_700.5, "1"]),
)

FILES: tuple[bytes, ...] = (
    _SCRAPE.encode(),
    _OPENMETRICS.encode(),
    _DUMP.encode(),
    json.dumps(_GRID, indent=1).encode(),
    json.dumps(_READ, separators=(",", ":")).encode(),
    json.dumps(_VECTOR).encode(),
)

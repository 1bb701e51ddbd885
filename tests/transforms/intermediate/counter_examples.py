"""Worked examples: one pod's counter as each format exports it, with its total by hand.

The pod received 1,000 bytes before it was first read at 08:01, and 500 until 08:02. Its counter
began anew at 08:02:20 and showed 200 at 08:03. Where the export tells when a counter began, all
1,700 are seen; where not, the first 1,000 may be of any time: 700 are. Whoever reads the counter a
second time, or repeats a line, adds nothing.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.transforms.frames import at
from tests.transforms.staging.export_text import parse, rows
from transforms.staging import otlp, prometheus, victoriametrics
from transforms.staging.parser import Parser

STARTS = [int(at(clock).timestamp()) for clock in ("08:00:30", "08:02:20")]
READ = [int(at(clock).timestamp()) for clock in ("08:01", "08:02", "08:03")]
SHOWN = list(zip(READ, (1_000, 1_500, 200), (STARTS[0], STARTS[0], STARTS[1]), strict=True))
"""When the counter was read, what it showed, when it had begun."""
WITH_STARTS, WITHOUT = 1_700, 700
KUBELET = "container_network_receive_bytes_total"
ADDED = {"id": "/", "interface": "eth0", "node": "n1"}
"""The node's own interface, which shows all pods' bytes again."""


@dataclass(frozen=True)
class Example:
    """One file, and how much its pod received."""

    parser: Parser
    text: str
    total: int
    context: dict[str, Any] = field(default_factory=dict)

    def samples(self) -> list[dict[str, Any]]:
        """Rows of `counter_samples`, as landing keeps them."""
        found = rows(parse(self.parser, self.text, **self.context), "counter_samples")
        return [{"cluster": "alder"} | row for row in found]


def uid_of(number: int) -> str:
    """UID of an example's pod, and its name."""
    return f"5f8c1e1a-7f0c-4b7e-9a53-{number:012d}"


def sandbox(number: int, place: int = 0) -> dict[str, str]:
    """Labels of a pod's sandbox; a later place is the sandbox that replaced it."""
    path = f"/kubepods/burstable/pod{uid_of(number)}/{number:032x}{place:032x}"
    return {
        "id": path, "namespace": "ml", "pod": uid_of(number), "interface": "eth0", "container": "",
        "node": "n1",
    }  # fmt: skip


def line(metric: str, labels: dict[str, str], *words: object) -> str:
    inner = ",".join(f'{name}="{text}"' for name, text in labels.items())
    return " ".join((f"{metric}{{{inner}}}", *map(str, words))) + "\n"


def kubelets_text(number: int) -> Example:
    """Two replicas, the node's interface, a container's copy; a new sandbox is a new series."""
    text = ""
    for replica in ("a", "b"):
        for second, value, start in SHOWN:
            own = sandbox(number, STARTS.index(start)) | {"prometheus_replica": replica}
            text += line(KUBELET, own, value, second * 1_000)
            text += line(KUBELET, own | {"container": "main"}, value, second * 1_000)
            text += line(KUBELET, own | ADDED, 9_000_000 + value, second * 1_000)
            text += line("container_start_time_seconds", own, start, second * 1_000)
    return Example(prometheus.PARSER, text, WITH_STARTS)


def openmetrics_with_created_samples(number: int) -> Example:
    base = KUBELET.removesuffix("_total")
    text = "".join(
        line(KUBELET, sandbox(number), value, f"{second}.000")
        + line(f"{base}_created", sandbox(number), f"{start}.000", f"{second}.000")
        for second, value, start in SHOWN
    )
    return Example(prometheus.PARSER, f"{text}# EOF\n", WITH_STARTS)


def openmetrics_2_with_starts_in_line(number: int) -> Example:
    text = "".join(
        line(KUBELET, sandbox(number), value, f"{second}.000", f"st@{start}.000")
        for second, value, start in SHOWN
    )
    return Example(prometheus.PARSER, f"{text}# EOF\n", WITH_STARTS)


def dump_of_promtool(number: int) -> Example:
    """Two replicas whose blocks hold the same scrapes, in another order."""
    lines = [
        "{" + f'__name__="{KUBELET}", '
        + ", ".join(f'{k}="{v}"' for k, v in (sandbox(number) | {"replica": replica}).items())
        + "} " + f"{value:e} {second * 1_000}\n"
        for replica in ("b", "a")
        for second, value, _ in reversed(SHOWN)
    ]  # fmt: skip
    return Example(prometheus.PARSER, "".join(lines), WITHOUT)


def openmetrics_dump_of_promtool(number: int) -> Example:
    text = "".join(
        line(KUBELET, sandbox(number), value, f"{second}.000") for second, value, _ in SHOWN
    )
    return Example(prometheus.PARSER, f"{text}# EOF\n", WITHOUT)


def answer(number: int, *readings: tuple[float, int]) -> str:
    metric = {"__name__": KUBELET, **sandbox(number)}
    values = [[second, str(value)] for second, value in readings]
    result = [{"metric": metric, "values": values}]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def raw_samples_of_a_query(number: int) -> Example:
    text = answer(number, *((second, value) for second, value, _ in SHOWN))
    return Example(prometheus.PARSER, text, WITHOUT, {"record_format": "samples=raw"})


def steps_as_short_as_scrapes(number: int) -> Example:
    """Each scrape is repeated at the step behind it."""
    points = [(second + late, value) for second, value, _ in SHOWN for late in (10, 40)]
    setting = {"record_format": "step=30s scrape_interval=60s"}
    return Example(prometheus.PARSER, answer(number, *points), WITHOUT, setting)


def steps_of_unknown_scrapes(number: int) -> Example:
    """A restart between two steps may be hidden: no bytes."""
    text = answer(number, *((second, value) for second, value, _ in SHOWN))
    return Example(prometheus.PARSER, text, 0)


def kubeletstats_behind_prometheus(number: int) -> Example:
    own = {
        "k8s_pod_uid": uid_of(number), "k8s_pod_name": uid_of(number), "k8s_namespace_name": "ml",
        "interface": "eth0", "direction": "receive",
    }  # fmt: skip
    text = "".join(
        line("k8s_pod_network_io_bytes_total", own, value, second * 1_000)
        for second, value, _ in SHOWN
    )
    return Example(prometheus.PARSER, text, WITHOUT)


def lines_of_victoriametrics(number: int) -> Example:
    """A series on two lines that share a sample; another replica's thinned copy."""
    text = ""
    for replica, parts in (("a", (SHOWN[:2], SHOWN[1:])), ("b", (SHOWN[::2],))):
        metric = {"__name__": KUBELET, **sandbox(number), "prometheus_replica": replica}
        for part in parts:
            entry = {
                "metric": metric,
                "values": [value for _, value, _ in part],
                "timestamps": [second * 1_000 for second, _, _ in part],
            }
            text += json.dumps(entry) + "\n"
    return Example(victoriametrics.PARSER, text, WITHOUT)


def metrics_of_otlp(number: int, temporality: int, points: list[dict[str, Any]]) -> str:
    def attributes(values: dict[str, str]) -> list[dict[str, Any]]:
        return [{"key": key, "value": {"stringValue": text}} for key, text in values.items()]

    pod = {
        "k8s.pod.uid": uid_of(number),
        "k8s.pod.name": uid_of(number),
        "k8s.namespace.name": "ml",
    }
    named = attributes({"interface": "eth0", "direction": "receive"})
    data = {
        "isMonotonic": True,
        "aggregationTemporality": temporality,
        "dataPoints": [point | {"attributes": named} for point in points],
    }
    metric = {"name": "k8s.pod.network.io", "unit": "By", "sum": data}
    scope = {"scope": {"name": "kubeletstats"}, "metrics": [metric]}
    return json.dumps(
        {
            "resourceMetrics": [
                {"resource": {"attributes": attributes(pod)}, "scopeMetrics": [scope]}
            ]
        }
    )


def point(start: int, second: int, value: int) -> dict[str, Any]:
    times = {"startTimeUnixNano": f"{start}{'0' * 9}", "timeUnixNano": f"{second}{'0' * 9}"}
    return times | {"asInt": str(value)}


def otlp_that_counts_on(number: int) -> Example:
    """Files keep no order; the point of 08:02 stands in two of them."""
    points = [point(start, second, value) for second, value, start in SHOWN]
    text = "\n".join(
        metrics_of_otlp(number, 2, part) for part in ([points[2], points[1]], points[:2])
    )
    return Example(otlp.PARSER, text, WITH_STARTS)


def otlp_of_differences(number: int) -> Example:
    """Each begins where the one before it ends; the second was sent twice."""
    points = [
        point(start, second, value)
        for start, second, value in zip(
            (STARTS[0], READ[0], STARTS[1]), READ, (1_000, 500, 200), strict=True
        )
    ]
    text = "\n".join(metrics_of_otlp(number, 1, part) for part in (points, points[1:2]))
    return Example(otlp.PARSER, text, WITH_STARTS)


EXAMPLES: tuple[Callable[[int], Example], ...] = (
    kubelets_text,
    openmetrics_with_created_samples,
    openmetrics_2_with_starts_in_line,
    dump_of_promtool,
    openmetrics_dump_of_promtool,
    raw_samples_of_a_query,
    steps_as_short_as_scrapes,
    steps_of_unknown_scrapes,
    kubeletstats_behind_prometheus,
    lines_of_victoriametrics,
    otlp_that_counts_on,
    otlp_of_differences,
)

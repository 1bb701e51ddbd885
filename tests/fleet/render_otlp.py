"""OTLP JSON lines with `k8s.pod.network.io` of some pods of cluster alder.

One line is one export of the collector, all pods read at that moment; one data point is one record.
Counters start with the sandbox; `timeUnixNano` is the collector's time. One line carries another
metric, which is not used.
"""

import json
from datetime import date, datetime
from typing import Any

from tests.fleet.clock import DAYS, day_end, day_start, seconds, to_nano_count
from tests.fleet.export import ExportFile
from tests.fleet.places import ALDER
from tests.fleet.world import Fleet, Reading

Json = dict[str, Any]


def render(fleet: Fleet) -> list[ExportFile]:
    """Return one file per day."""
    return [_file(fleet, day) for day in DAYS]


def _file(fleet: Fleet, day: date) -> ExportFile:
    file = ExportFile(
        path=f"exports/{ALDER.name}/otlp/{day}/metrics.jsonl",
        export="alder-otlp",
        format="otlp",
        cluster=ALDER.name,
        node=None,
        landing_date=day,
    )
    by_time: dict[datetime, list[Reading]] = {}
    for reading in fleet.readings:
        if day_start(day) < reading.time <= day_end(day):
            by_time.setdefault(reading.time, []).append(reading)
    for index, time in enumerate(sorted(by_time)):
        line = _line([_resource(item) for item in by_time[time]])
        file.accept(line, records=2 * len(by_time[time]))
        if day == DAYS[0] and index == 1:
            file.ignore(_line([_memory(by_time[time][0])]))
        if day == DAYS[0] and index == 6:
            file.reject(line[:301], "invalid_json")
    return file


def _line(resources: list[Json]) -> str:
    return json.dumps({"resourceMetrics": resources}, separators=(",", ":"))


def _attributes(pairs: dict[str, str]) -> list[Json]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items()]


def _pod_attributes(reading: Reading) -> list[Json]:
    return _attributes(
        {
            "k8s.namespace.name": reading.pod.namespace,
            "k8s.pod.name": reading.pod.name,
            "k8s.pod.uid": reading.pod.uid,
        }
    )


def _resource(reading: Reading) -> Json:
    points = [
        {
            "attributes": _attributes({"interface": "eth0", "direction": direction}),
            "startTimeUnixNano": to_nano_count(reading.start),
            "timeUnixNano": to_nano_count(reading.time),
            "asInt": str(value),
        }
        for direction, value in (("receive", reading.receive), ("transmit", reading.transmit))
    ]
    metric = {
        "name": "k8s.pod.network.io",
        "unit": "By",
        "sum": {"dataPoints": points, "aggregationTemporality": 2, "isMonotonic": True},
    }
    return {
        "resource": {"attributes": _pod_attributes(reading)},
        "scopeMetrics": [{"scope": {"name": "kubeletstats"}, "metrics": [metric]}],
    }


def _memory(reading: Reading) -> Json:
    point = {"timeUnixNano": to_nano_count(reading.time + seconds(1)), "asInt": "734003200"}
    metric = {"name": "k8s.pod.memory.usage", "unit": "By", "gauge": {"dataPoints": [point]}}
    return {
        "resource": {"attributes": _pod_attributes(reading)},
        "scopeMetrics": [{"scope": {"name": "kubeletstats"}, "metrics": [metric]}],
    }

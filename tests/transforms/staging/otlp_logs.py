"""OTLP JSON logs of documentation values, as the collector's receivers write them."""

from typing import Any

Json = dict[str, Any]

SEEN = 1_773_124_200_250_000_123
"""10 March 2026, 06:30:00.250000123."""


def any_value(value: Any) -> Json:
    """A value with its type tag."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(entry) for entry in value]}}
    return {}


def pairs(values: Json) -> list[Json]:
    """A mapping as OTLP writes it."""
    return [{"key": key, "value": any_value(value)} for key, value in values.items()]


def object_log(value: Any, resource: str = "pods", **changes: Any) -> Json:
    """A record of the k8sobjects receiver."""
    return {
        "observedTimeUnixNano": str(SEEN),
        "body": any_value(value),
        "attributes": pairs({"k8s.resource.name": resource}),
        "traceId": "",
        "spanId": "",
    } | changes


def event_log(**changes: Any) -> Json:
    """A record of the k8s_events receiver."""
    return {
        "timeUnixNano": str(SEEN),
        "severityNumber": 9,
        "severityText": "Normal",
        "body": any_value('Pulling image "registry.example.com/ml/train:1.4"'),
        "attributes": pairs(
            {
                "k8s.event.reason": "Pulling",
                "k8s.event.action": "",
                "k8s.event.start_time": "2026-03-10 06:00:07 +0000 UTC",
                "k8s.event.name": "train-x7k2p.17a",
                "k8s.event.uid": "22222222-2222-4333-8444-555555555555",
                "k8s.namespace.name": "ml",
                "k8s.event.count": 3,
            }
        ),
    } | changes


def logs(*records: Json, scope: str = "", **resource: str) -> Json:
    """A document of log records."""
    named = {key.replace("__", "."): value for key, value in resource.items()}
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": pairs(named)},
                "scopeLogs": [{"scope": {"name": scope}, "logRecords": list(records)}],
            }
        ]
    }

"""OTLP JSON metrics: the file exporter's lines, one document on one line, one over many lines."""

import json
from typing import Any

UID = "5f8c1e1a-7f0c-4b7e-9a53-0f4c3a2b1d{:02x}"


def _attributes(**values: str | dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "key": key.replace("__", "."),
            "value": value if isinstance(value, dict) else {"stringValue": value},
        }
        for key, value in values.items()
    ]


def _pod(number: int, **more: str) -> dict[str, Any]:
    return {
        "attributes": _attributes(
            k8s__pod__uid=UID.format(number),
            k8s__pod__name=f"train-{number}",
            k8s__namespace__name="team-vision",
            k8s__node__name="ip-10-20-0-12.ec2.internal",
            **more,
        )
    }


def _point(
    number: int, direction: str, value: str | float | None = None, **changes: Any
) -> dict[str, Any]:
    point = {
        "attributes": _attributes(interface="eth0", direction=direction),
        "startTimeUnixNano": "1773129603250000000",
        "timeUnixNano": str(1_773_129_700_000_000_000 + number * 10_000_000_000),
        "asInt": str(40_962 + number * 1_500) if value is None else value,
    }
    return {key: kept for key, kept in (point | changes).items() if kept is not None}


def _metric(*points: dict[str, Any], name: str = "k8s.pod.network.io", **data: Any) -> Any:
    return {
        "name": name,
        "description": "Pod network IO",
        "unit": "By",
        "sum": {
            "dataPoints": list(points),
            "aggregationTemporality": 2,
            "isMonotonic": True,
            **data,
        },
    }


def _document(*resources: tuple[dict[str, Any], list[Any]]) -> dict[str, Any]:
    return {
        "resourceMetrics": [
            {
                "resource": resource,
                "scopeMetrics": [
                    {
                        "scope": {"name": "kubeletstatsreceiver", "version": "0.114.0"},
                        "metrics": metrics,
                    }
                ],
                "schemaUrl": "https://opentelemetry.io/schemas/1.27.0",
            }
            for resource, metrics in resources
        ]
    }


def _gauge() -> dict[str, Any]:
    return {
        "name": "k8s.pod.memory.usage",
        "unit": "By",
        "gauge": {"dataPoints": [{"timeUnixNano": "1773129700000000000", "asInt": "73400320"}]},
    }


_LINES = [
    *(
        _document((_pod(n), [_metric(_point(n, "receive"), _point(n, "transmit"))]))
        for n in range(6)
    ),
    _document(
        (_pod(6), [_gauge(), _metric(_point(6, "receive", None, asDouble=5.0e9, asInt=None))]),
        (_pod(7), [_metric(_point(7, "transmit", 77), aggregationTemporality=1)]),
    ),
    _document(
        (
            _pod(8, service__instance__id="collector-1"),
            [
                _metric(
                    {
                        "attributes": _attributes(
                            network__interface__name="eth0", network__io__direction="receive"
                        ),
                        "timeUnixNano": "1773129800000000000",
                        "asInt": "9223372036854775807",
                    },
                    aggregationTemporality="AGGREGATION_TEMPORALITY_CUMULATIVE",
                )
            ],
        )
    ),
    _document((_pod(9), [_metric(_point(9, "receive", flags=1), _point(9, "transmit"))])),
    {"resourceLogs": [{"resource": {}, "scopeLogs": []}]},
    _document(({"attributes": []}, [_metric(_point(10, "receive"))])),
]
_WHOLE = _document(
    *(
        (_pod(n), [_metric(_point(n, "receive"), _point(n, "transmit"), _point(n + 1, "receive"))])
        for n in range(20, 24)
    )
)


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


FILES: tuple[bytes, ...] = (
    b"".join(_line(document) + b"\n" for document in _LINES),
    _line(_WHOLE),
    json.dumps(_WHOLE, indent=2).encode() + b"\n",
)

"""Export lines of VictoriaMetrics: whole numbers, floats, ends of series, other metrics."""

import json
from typing import Any

from tests.mutations.seeds.prometheus import cadvisor, flow, kubecost

_AT = 1_773_129_700_123


def _line(series: tuple[str, dict[str, str]], values: list[Any]) -> bytes:
    name, labels = series
    times = [_AT + 30_000 * step for step in range(len(values))]
    line = {"metric": {"__name__": name, **labels}, "values": values, "timestamps": times}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


FILES: tuple[bytes, ...] = (
    b"".join(
        (
            *(
                _line(cadvisor(n), [100 * n, 100 * n + 50, 36_028_797_018_963_967])
                for n in range(5)
            ),
            *(_line(cadvisor(n, "transmit"), [7, 8.5, None]) for n in range(3)),
            _line(flow(), [123.3]),
            _line(kubecost(), [1, 2]),
            _line(("up", {"job": "kubelet"}), [1, 1, 0]),
            _line(cadvisor(6), [None]),
        )
    ),
)

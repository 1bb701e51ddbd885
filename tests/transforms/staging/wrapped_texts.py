"""Put wrappers around lines, as runtimes, shippers and stores do."""

import json
from datetime import UTC, datetime, timedelta

from transforms.staging.parser import Wrapper

BASE = datetime(2026, 3, 10, 8, tzinfo=UTC)
BASE_NANOSECONDS = 1_773_129_600 * 10**9


def nanoseconds(layer: int, number: int) -> int:
    """Time of a line in a wrapper: each wrapper adds a second, each line a microsecond and 1 ns."""
    return BASE_NANOSECONDS + layer * 10**9 + number * 1_001


def stamp(layer: int, number: int) -> str:
    """The same time as RFC 3339 with nine digits."""
    at = BASE + timedelta(seconds=layer)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{number * 1_001:09d}Z"


def said(layer: int, number: int, node: str | None = None) -> Wrapper:
    """What a wrapper then says of a line."""
    at = BASE + timedelta(seconds=layer, microseconds=number * 1_001 // 1_000)
    return Wrapper(at, stamp(layer, number), nanoseconds(layer, number), node)


def cri(line: str, layer: int = 0, number: int = 0) -> str:
    return f"{stamp(layer, number)} stdout F {line}"


def docker(line: str, layer: int = 0, number: int = 0) -> str:
    return json.dumps({"log": f"{line}\n", "stream": "stdout", "time": stamp(layer, number)})


def fluent_bit(line: str, layer: int = 0, number: int = 0) -> str:
    kubernetes = {"host": f"n{layer}", "pod_name": "p-1", "annotations": {"a": "b"}}
    return json.dumps({"time": stamp(layer, number), "log": line, "kubernetes": kubernetes})


def vector(line: str, layer: int = 0, number: int = 0) -> str:
    kubernetes = {"pod_node_name": f"n{layer}", "pod_labels": {"a": "b"}}
    value = {"message": line, "timestamp": stamp(layer, number), "kubernetes": kubernetes}
    return json.dumps(value)


def filebeat(line: str, layer: int = 0, number: int = 0) -> str:
    kubernetes = {"node": {"name": f"n{layer}"}}
    value = {"@timestamp": stamp(layer, number), "message": line, "kubernetes": kubernetes}
    return json.dumps(value)


def log_entry(line: str, layer: int = 0, number: int = 0) -> str:
    payload = {"jsonPayload": json.loads(line)} if line.startswith("{") else {"textPayload": line}
    labels = {"compute.googleapis.com/resource_name": f"n{layer}"}
    entry = {"logName": "projects/p/logs/stdout", "insertId": f"{number}", "labels": labels}
    return json.dumps(payload | entry | {"timestamp": stamp(layer, number)})


def loki_line(line: str, layer: int = 0, number: int = 0) -> str:
    stream = {
        "stream": {"node_name": f"n{layer}"},
        "values": [[f"{nanoseconds(layer, number)}", line]],
    }
    return json.dumps({"streams": [stream]})


LINE_WRAPPERS = {
    "cri": (cri, False),
    "docker": (docker, False),
    "fluent_bit": (fluent_bit, True),
    "vector": (vector, True),
    "filebeat": (filebeat, True),
    "log_entry": (log_entry, True),
    "loki_line": (loki_line, True),
}
"""Name → what wraps one line, and whether it names a node."""


def by_lines(lines: list[str], _layer: int) -> str:
    return "".join(f"{line}\n" for line in lines)


def loki_answer(lines: list[str], layer: int) -> str:
    values = [[f"{nanoseconds(layer, n)}", line] for n, line in enumerate(lines)]
    result = [{"stream": {"nodename": f"n{layer}"}, "values": values}]
    answer = {"status": "success", "data": {"resultType": "streams", "result": result}}
    return json.dumps(answer, indent=1)


def loki_push(lines: list[str], layer: int) -> str:
    streams = [
        {
            "stream": {"node": f"n{layer}", "odd": f"{odd}"},
            "values": [
                [f"{nanoseconds(layer, n)}", line] for n, line in enumerate(lines) if n % 2 == odd
            ],
        }
        for odd in (0, 1)
    ]
    return json.dumps({"streams": streams}) + "\n"


def subscription(lines: list[str], layer: int) -> str:
    """Objects of CloudWatch without line ends, as Firehose writes them."""
    return "".join(
        json.dumps(
            {
                "messageType": "DATA_MESSAGE",
                "logGroup": "g",
                "logStream": "s",
                "logEvents": [
                    {"id": f"{n}", "timestamp": nanoseconds(layer, n) // 10**6, "message": line}
                ],
            }
        )
        for n, line in enumerate(lines)
    )


def entries(lines: list[str], layer: int) -> str:
    """What `gcloud logging read --format=json` prints."""
    return json.dumps(
        [json.loads(log_entry(line, layer, n)) for n, line in enumerate(lines)], indent=2
    )


FILE_WRAPPERS = {
    "lines": by_lines,
    "loki_answer": loki_answer,
    "loki_push": loki_push,
    "subscription": subscription,
    "entries": entries,
}
"""Name → what makes a file of lines."""

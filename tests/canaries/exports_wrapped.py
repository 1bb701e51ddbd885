"""Lines of other formats in wrappers, with a secret in everything that a wrapper says."""

import gzip
import io
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.canaries.exports_coredns import asked
from tests.canaries.exports_hubble import flow
from tests.canaries.planter import Planter
from tests.canaries.records import DAY, Json, lines
from tests.mutations.seeds.s3_access_log import FILES as S3_FILES

STAMP = f"{DAY}T08:00:00.000000001Z"
NANOSECONDS = "1773129600000000001"


def _line(p: Planter, where: str) -> str:
    """A look-up with a secret in its name."""
    return asked(f"{p.github(f'{where} query name').lower()}.{p.keep()}.example.com")


def _kubernetes(p: Planter, where: str) -> Json:
    """What shippers say of a pod."""
    return {
        "host": f"{p.keep('node')}.{p.hugging_face(f'{where} host')}",
        "namespace_name": f"ml {p.slack(f'{where} namespace')}",
        "pod_name": f"dns {p.jwt(f'{where} pod')}",
        "container_name": f"c {p.github(f'{where} container')}",
        "container_image": p.plain(f"{where} image"),
        "docker_id": p.plain(f"{where} container id"),
        "labels": {"note": p.plain(f"{where} label"), "token": p.plain(f"{where} named label")},
        "annotations": {"note": p.plain(f"{where} annotation")},
        "namespace_labels": {"note": p.plain(f"{where} label of the namespace")},
    }


def _records(p: Planter, where: str) -> Iterator[Json]:
    """A look-up as each shipper of lines writes it."""
    yield {"log": f"{_line(p, where)}\n", "stream": "stdout", "time": STAMP,
           "attrs": {"tag": p.plain(f"{where} attribute")}}  # fmt: skip
    yield {"time": STAMP, "log": _line(p, where), "kubernetes": _kubernetes(p, where),
           "tag": p.plain(f"{where} tag")}  # fmt: skip
    yield {"@timestamp": STAMP, "message": _line(p, where), "fields": {"a": p.plain(where)},
           "kubernetes": {"node": {"name": p.keep("node")},
                          "labels": {"a": p.plain(f"{where} label")}},
           "agent": {"name": p.plain(f"{where} agent")},
           "log": {"file": {"path": p.plain(f"{where} path")}}}  # fmt: skip
    yield {"message": _line(p, where), "timestamp": STAMP, "file": p.plain(f"{where} file"),
           "kubernetes": {"pod_node_name": p.keep("node"),
                          "pod_labels": {"a": p.plain(f"{where} label")},
                          "pod_annotations": {"a": p.plain(f"{where} annotation")}}}  # fmt: skip
    yield {"textPayload": _line(p, where), "timestamp": STAMP, "insertId": p.plain(f"{where} id"),
           "logName": f"projects/p/logs/{p.plain(f'{where} log')}",
           "labels": {"compute.googleapis.com/resource_name": p.keep("node"),
                      "k8s-pod/note": p.plain(f"{where} label")},
           "resource": {"type": "k8s_container",
                        "labels": {"pod_name": p.plain(f"{where} pod")}}}  # fmt: skip
    yield {"streams": [{"stream": {"node_name": p.keep("node"), "note": p.plain(f"{where} label")},
                        "values": [[NANOSECONDS, _line(p, where),
                                    {"traceID": p.plain(f"{where} metadata")}]]}]}  # fmt: skip


def shipped(p: Planter) -> str:
    """Look-ups in the JSON of shippers, each whole, nested, and broken off."""
    r = p.refused()
    found: list[Json | str] = list(_records(p, "shipped look-up"))
    for record in _records(p, "look-up in two wrappers"):
        text = json.dumps(record)
        found.append(f"{STAMP} stdout F {text}")
    for record in _records(r, "shipped look-up that breaks off"):
        text = json.dumps(record)
        found += [text[:-1], text[: len(text) // 2]]
    for text in p.of_every_shape("line in a wrapper"):
        found.append({"log": f"{p.refused().keep()} {text}", "stream": "stdout", "time": STAMP})
        found.append({"log": text, "time": text, "stream": "stdout"})
    # Pieces of one line, of which a secret is cut in two.
    line = _line(r, "cut into pieces")
    middle = line.find("ghp_") + 20
    found += [f"{STAMP} stdout P {line[:middle]}", f"{STAMP} stdout F {line[middle:]}"]
    line = _line(r, "piece without an end")
    found.append(f"{STAMP} stdout P {line[: line.find('ghp_') + 20]}")
    return lines(*found)


def loki_answer(p: Planter) -> str:
    """The answer of a query."""
    where = "answer of Loki"
    stream: Any = {"nodename": p.keep("node"), "note": p.plain(f"{where} label")}
    values = [
        [NANOSECONDS, _line(p, where)],
        [NANOSECONDS, f"no look-up {p.refused().password(f'{where} other line')}"],
        [p.plain(f"{where} time"), _line(p.refused(), f"{where} without a time")],
    ]
    result = [{"stream": stream, "values": values}]
    data = {"resultType": "streams", "result": result, "stats": {"a": p.plain(f"{where} stats")}}
    return json.dumps({"status": "success", "data": data}, indent=1)


def subscription(p: Planter) -> str:
    """Objects of CloudWatch Logs."""
    where = "subscription"
    event = {"id": p.plain(f"{where} id"), "timestamp": 1_773_129_600_000}
    objects = [
        {
            "messageType": "DATA_MESSAGE",
            "owner": "111122223333",
            "logGroup": p.plain(f"{where} group"),
            "logStream": p.plain(f"{where} stream"),
            "subscriptionFilters": [p.plain(f"{where} filter")],
            "logEvents": [event | {"message": _line(p, where)}],
        },
        {"messageType": "CONTROL_MESSAGE", "logEvents": [{"message": p.plain(f"{where} control")}]},
        {"messageType": "DATA_MESSAGE", "logEvents": [event | {"message": p.jwt(f"{where} text")}]},
    ]
    return "".join(json.dumps(each) for each in objects)


def hubble_in_log_entries(p: Planter) -> str:
    """Events of Hubble as `gcloud logging read` prints them."""
    where = "event in a log entry"
    entries = [
        {
            "insertId": p.plain(f"{where} id"),
            "jsonPayload": flow(
                number,
                source={"namespace": "ml", "pod_name": p.keep("pod"), "labels": [f"k8s:a={text}"]},
            ),
            "labels": {"compute.googleapis.com/resource_name": p.plain(f"{where} node")},
            "logName": "projects/p/logs/stdout",
            "resource": {"labels": {"cluster_name": p.plain(f"{where} cluster")}},
            "timestamp": STAMP,
        }
        for number, text in enumerate(p.of_every_shape(f"{where} label"), 10)
    ]
    return json.dumps(entries, indent=2)


def compressed(p: Planter) -> bytes:
    """Events in a gzip file, the last of which breaks off."""
    where = "event in a compressed file"
    events = [
        flow(
            number,
            uuid=f"00000000-0000-4000-8000-0000000001{number:02d}",
            source={"namespace": "ml", "pod_name": p.keep("pod"), "labels": [f"k8s:a={text}"]},
        )
        for number, text in enumerate(p.of_every_shape(f"{where} label"), 10)
    ]
    broken = f'{{"flow":{{"Summary":"{p.plain(f"{where} that breaks off")}'
    return gzip.compress(f"{lines(*events)}{broken}".encode(), mtime=0)


def s3_rows(p: Planter) -> bytes:
    """Requests of S3 as rows of Parquet."""
    where = "row of Parquet"
    first = json.loads(S3_FILES[2].splitlines()[0])
    rows = []
    for text in p.of_every_shape(f"{where} user agent"):
        row = {name: None if value is None else str(value) for name, value in first.items()}
        row["request_id"] = f"ROW{len(rows):04d}EXAMPLE"
        agent = next(name for name in row if "agent" in name)
        row[agent] = f"{p.keep('agent')} {text}"
        row["note"] = p.plain(f"{where} further column")
        rows.append(row)
    rows.append(rows[-1] | {"request_id": "x y", "request_time": p.jwt(f"{where} time")})
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()

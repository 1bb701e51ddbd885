"""Google Cloud VPC flow logs: entries of every reporter, an array, rows of tables, payloads."""

import json
from typing import Any


def _end(side: str, number: int) -> dict[str, Any]:
    return {
        f"{side}_instance": {
            "project_id": "ml-project",
            "region": "europe-west1",
            "zone": "europe-west1-b",
            "vm_name": f"gke-train-pool-{number}",
        },
        f"{side}_vpc": {
            "project_id": "net-project",
            "vpc_name": "shared",
            "subnetwork_name": "nodes",
        },
        f"{side}_gke_details": {
            "cluster": {"cluster_name": "train", "cluster_location": "europe-west1"},
            "pod": {
                "pod_name": f"job-{number}",
                "pod_namespace": "ml",
                "pod_workload": {"workload_name": "job", "workload_type": "JOB"},
            },
            "service": [{"service_name": "web", "service_namespace": "ml"}],
        },
    }


def _payload(number: int) -> dict[str, Any]:
    outside = {
        "dest_location": {"asn": 64_500, "continent": "Europe", "country": "bel"},
        "dest_google_service": {"type": "GOOGLE_API", "service_name": "storage.googleapis.com"},
    }
    ports = {} if number % 4 == 3 else {"src_port": 40_000 + number, "dest_port": 443}
    reporter = ("SRC", "DEST", "SRC_GATEWAY", "DEST_GATEWAY")[number % 4]
    gateway = {"project_id": "wan", "location": "europe-west1", "name": "tunnel-1", "type": "VPN"}
    return {
        "connection": {
            "src_ip": f"10.20.1.{number}",
            "dest_ip": f"2001:db8::{number}" if number % 3 else f"203.0.113.{number}",
            "protocol": 6 if ports else 1,
            **ports,
        },
        "reporter": reporter,
        "bytes_sent": str(1_776 * number),
        "packets_sent": str(7 + number),
        "rtt_msec": str(number),
        "start_time": f"2026-03-11T10:02:{number:02d}.186193305Z",
        "end_time": f"2026-03-11T10:03:{number:02d}.301953198Z",
        **_end("src", number),
        **(_end("dest", number + 100) if number % 2 else outside),
        **({"src_gateway": gateway} if reporter == "SRC_GATEWAY" else {}),
        **({"dest_gateway": gateway} if reporter == "DEST_GATEWAY" else {}),
    }


def _entry(number: int, log: str = "compute.googleapis.com%2Fvpc_flows") -> dict[str, Any]:
    return {
        "insertId": f"1abcd{number}",
        "jsonPayload": _payload(number),
        "logName": f"projects/net-project/logs/{log}",
        "receiveTimestamp": f"2026-03-11T10:03:{number + 10:02d}.5Z",
        "resource": {
            "type": "gce_subnetwork",
            "labels": {
                "project_id": "net-project",
                "location": "europe-west1-b",
                "subnetwork_name": "nodes",
                "subnetwork_id": "758019854043528829",
            },
        },
        "timestamp": f"2026-03-11T10:03:{number + 10:02d}.123456789Z",
    }


def _table_row(number: int) -> dict[str, Any]:
    row = _entry(number) | {
        "timestamp": f"2026-03-11 10:03:{number + 10:02d}.123456 UTC",
        "severity": None,
        "labels": [],
    }
    connection = row["jsonPayload"]["connection"]
    for name in ("src_port", "dest_port", "protocol"):
        connection[name] = float(connection[name]) if name in connection else None
    return row | {"jsonPayload": row["jsonPayload"] | {"rtt_msec": None, "src_gateway": None}}


def _data_set_row(number: int) -> dict[str, Any]:
    row = _entry(number)
    payload = row.pop("jsonPayload")
    return {
        "insert_id": row.pop("insertId"),
        "log_name": row.pop("logName"),
        "json_payload": json.dumps(payload) if number % 2 else payload,
        **row,
    }


def _lines(*values: dict[str, Any]) -> bytes:
    return "".join(f"{json.dumps(value)}\n" for value in values).encode()


_ENTRIES = [_entry(n) for n in range(8)]

FILES: tuple[bytes, ...] = (
    _lines(*_ENTRIES, _entry(8, "compute.googleapis.com%2Ffirewall")),
    json.dumps(_ENTRIES, indent=1).encode(),
    _lines(*(_table_row(n) for n in range(8))),
    _lines(*(_data_set_row(n) for n in range(8))),
    _lines(*(_payload(n) for n in range(8))),
)

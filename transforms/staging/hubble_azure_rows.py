"""Rows of Azure's tables of AKS' container network logs, given back as the flows that filled them.

Source: microsoft/Docker-Provider, the networkflow source of its output plugin, which maps a Hubble
flow to the columns (`Layer4`, `SourcePodName`, `Policies`, ...); the Azure Monitor reference's page
on the table. It was `RetinaNetworkFlowLogs` up to November 2025 and is `ContainerNetworkLog` since.

* Columns of objects and lists hold their JSON as text, or as it is, as the export writes them.
* `NodeName` has lost the name of Cilium's cluster. Address translation, names of addresses, drop
  reasons as numbers, the proxy's port and UIDs of pods are not in the table.
* Counters of an aggregated flow are columns of their own. `PacketsSent` and `PacketsReceived` of
  the first version count packets of a connection, which no column of ours holds.
* The first version gave a flow a new UUID, so that equal flows do not tell that they are one.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from transforms.staging.refusal import RefusedError

_TIME_KEY = "TimeGenerated"
"""What every row has."""
_TIME_BYTES = _TIME_KEY.encode()
_TABLES = frozenset({"RetinaNetworkFlowLogs", "ContainerNetworkLog"})

_MARKS = frozenset(
    {
        "Verdict", "FlowType", "TrafficDirection", "TraceObservationPoint", "Layer4",
        "SourcePodName", "DestinationPodName", "SourceIdentity", "DestinationIdentity",
    }
)  # fmt: skip
_LEAST_MARKS = 3
_BOM = b"\xef\xbb\xbf"
_TEXTS = {
    "time": _TIME_KEY, "uuid": "UUID", "verdict": "Verdict", "drop_reason_desc": "DropReason",
    "Type": "FlowType", "node_name": "NodeName", "traffic_direction": "TrafficDirection",
    "trace_observation_point": "TraceObservationPoint",
}  # fmt: skip
_PARTS = {"IP": "IP", "l4": "Layer4", "l7": "Layer7", "event_type": "EventType"}
_OF_END = {"identity": "Identity", "namespace": "Namespace", "pod_name": "PodName"}
_COUNTS = {
    "ingress_flow_count": "IngressFlowCount", "egress_flow_count": "EgressFlowCount",
    "unknown_direction_flow_count": "UnknownDirectionFlowCount",
}  # fmt: skip
_POLICIES = (
    "egress_allowed_by", "ingress_allowed_by", "egress_denied_by", "ingress_denied_by",
)  # fmt: skip
_FLAGS = {"true": True, "false": False}
_OBJECT: "msgspec.json.Decoder[dict[str, Any]]" = msgspec.json.Decoder(dict[str, Any])

Json = dict[str, Any]


def as_event(data: bytes) -> bytes | None:
    """The line of a Hubble export that a row was made of; none where a line is no such row.

    Args:
        data: A JSON object.

    Raises:
        RefusedError: A column holds text that is no JSON.
    """
    row = _row(data)
    if row is None:
        return None
    flow = _flow(row)
    try:
        return msgspec.json.encode({"flow": flow, "node_name": flow.get("node_name")})
    except (ValueError, RecursionError):
        message = "invalid_json: expected a row, got text that is no Unicode"
        raise RefusedError(message) from None


def is_table_row(data: bytes) -> bool:
    """Whether a JSON object is a row of the table."""
    return _row(data) is not None


def _row(data: bytes) -> Json | None:
    """The row; none where a line is none."""
    if _TIME_BYTES not in data:
        return None
    try:
        row = _OBJECT.decode(data.removeprefix(_BOM))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return row if _is_row(row) else None


def _is_row(value: Mapping[str, Any]) -> bool:
    if not isinstance(value.get(_TIME_KEY), str):
        return False
    table = value.get("Type", value.get("TableName"))
    is_named = isinstance(table, str) and table in _TABLES
    return is_named or len(_MARKS & value.keys()) >= _LEAST_MARKS


def _flow(row: Json) -> Json:
    policies = _dynamic(row, "Policies")
    policies = policies if isinstance(policies, dict) else {}
    more = _dynamic(row, "AdditionalFlowData")
    more = more if isinstance(more, dict) else {}
    services = _dynamic(row, "Service")
    services = services if isinstance(services, dict) else {}
    flow = {
        **{name: row.get(column) for name, column in _TEXTS.items()},
        **{name: _dynamic(row, column) for name, column in _PARTS.items()},
        "is_reply": _flag(row.get("Reply")),
        "aggregate": _stated({name: row.get(column) for name, column in _COUNTS.items()}),
        "extensions": more.get("Extensions"),
        **{name: _dynamic(policies, name) for name in _POLICIES},
    }
    for end, prefix in (("source", "Source"), ("destination", "Destination")):
        stated = {name: row.get(f"{prefix}{column}") for name, column in _OF_END.items()}
        workloads = _dynamic(row, f"{prefix}Workloads")
        if isinstance(workloads, list):
            stated["workloads"] = [each for each in workloads if isinstance(each, dict)]
        stated["labels"] = more.get(f"{prefix}Labels")
        flow[end] = _stated(stated)
        flow[f"{end}_service"] = _stated(
            {
                "name": services.get(f"{prefix}Service"),
                "namespace": services.get(f"{prefix}ServiceNamespace"),
            }
        )
    return _stated(flow) or {}


def _stated(values: Json) -> Json | None:
    """The values without those that state nothing; none where there are none."""
    found = {
        name: value
        for name, value in values.items()
        if value is False or value not in (None, "", 0, [], {})
    }
    return found or None


def _dynamic(row: Mapping[str, Any], column: str) -> Any:  # noqa: ANN401  any JSON value
    """A column of a dynamic type; none where it states nothing.

    Raises:
        RefusedError: It is text that is no JSON.
    """
    value = row.get(column)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        message = f"wrong_type: expected JSON in {column}, got other text"
        raise RefusedError(message) from None


def _flag(value: Any) -> Any:  # noqa: ANN401  any JSON value
    """A flag, which the command line writes as text."""
    return _FLAGS.get(value.lower()) if isinstance(value, str) else value

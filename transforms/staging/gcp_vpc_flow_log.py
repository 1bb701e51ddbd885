"""VPC Flow Logs of Google Cloud: LogEntry objects whose payload is one direction of a connection.

Source: the VPC documentation's pages on flow logs and on their record format; public lines of
elastic/integrations. A logging sink writes one entry per line into a bucket, `gcloud logging read`
an array. Rows of a BigQuery table, which the sink or a linked data set fills, are entries too: a
null field is one that is absent, numbers may be floats or text, times may be written with a blank
and `UTC`, and the payload may be named `json_payload` and be a text of JSON. A payload alone is
read as well.

* A record tells what the source sent to the destination; the answer is another record. Where both
  ends log, each reports both directions, so that the same bytes stand in two records: `reporter`
  says which end (`SRC`, `DEST`) or whose gateway (`SRC_GATEWAY`, `DEST_GATEWAY`) reports. Columns
  of the interface (`instance_id`, `vpc_id`, ...) are those of the reporting end.
* Google samples packets at a rate that it does not tell, and the settings may sample again; the
  numbers are multiplied up for both. They are estimates without a known error: `scaled`, and no
  `sampling_interval`. A flow of which no packet was sampled has no record.
* `bytes_sent` counts the payload of the user (`payload`); a bare acknowledgement has 0.
* The interval reaches from the first to the last packet sampled, behind which it ends. Aggregation
  takes 15 minutes at most.
* Egress is sampled before the firewall, so that what it denied may be in it: there is no `action`.
* Machines, GKE's pods and services are annotations that may be absent, or wrong where they are
  there. A machine of GKE is a node of that name. Of more than two services none is named.
* The entry's `insertId` and time are its identity, as Pub/Sub delivers an entry at least once.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from transforms.staging import volume_fields as f
from transforms.staging.json_items import parse_items, whole_record_id
from transforms.staging.json_lookups import recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import canonical_address, identity, parse_instant

MAX_INTERVAL = timedelta(hours=1)
"""Google aggregates over 15 minutes at most; a much longer record is damaged."""
SHOWN_KEYS = frozenset(
    {
        b"timestamp", b"receiveTimestamp", b"logName", b"type", b"reporter", b"start_time",
        b"end_time", b"bytes_sent", b"packets_sent", b"rtt_msec", b"src_ip", b"dest_ip",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show."""
MANY_SERVICES = "MANY_SERVICES"
"""What stands in place of more than two services."""

_LOGS = ("%2Fvpc_flows", "/vpc_flows")
_RESOURCES = frozenset({"gce_subnetwork", "vpc_flow_logs_config"})
_SOURCE, _DESTINATION = "SRC", "DEST"
_REPORTERS = frozenset({_SOURCE, _DESTINATION, "SRC_GATEWAY", "DEST_GATEWAY"})
_DIRECTIONS = {_SOURCE: "egress", _DESTINATION: "ingress"}
_MAX_ADDRESS = 64
_MAX_PAYLOAD = 256 << 10
_MAX_MILLISECONDS = 86_400_000
_TICK = timedelta(microseconds=1)

Number = int | float | str | None
"""64-bit numbers are text in JSON, and floats in some tables."""


class _Connection(msgspec.Struct):
    src_ip: str | None = None
    src_port: Number = None
    dest_ip: str | None = None
    dest_port: Number = None
    protocol: Number = None


class _Instance(msgspec.Struct):
    project_id: str | None = None
    region: str | None = None
    zone: str | None = None
    vm_name: str | None = None


class _Vpc(msgspec.Struct):
    project_id: str | None = None
    vpc_name: str | None = None
    subnetwork_name: str | None = None


class _Gateway(msgspec.Struct):
    project_id: str | None = None
    location: str | None = None
    name: str | None = None


class _Cluster(msgspec.Struct):
    cluster_name: str | None = None


class _Workload(msgspec.Struct):
    workload_name: str | None = None
    workload_type: str | None = None


class _Pod(msgspec.Struct):
    pod_name: str | None = None
    pod_namespace: str | None = None
    pod_workload: _Workload | None = None


class _ClusterService(msgspec.Struct):
    service_name: str | None = None
    service_namespace: str | None = None


class _Gke(msgspec.Struct):
    cluster: _Cluster | None = None
    pod: _Pod | None = None
    service: list[_ClusterService] | None = None


class _GoogleService(msgspec.Struct):
    type: str | None = None
    service_name: str | None = None


class _Flow(msgspec.Struct):
    connection: _Connection | None = None
    reporter: str | None = None
    bytes_sent: Number = None
    packets_sent: Number = None
    rtt_msec: Number = None
    start_time: str | None = None
    end_time: str | None = None
    src_instance: _Instance | None = None
    dest_instance: _Instance | None = None
    src_vpc: _Vpc | None = None
    dest_vpc: _Vpc | None = None
    src_gateway: _Gateway | None = None
    dest_gateway: _Gateway | None = None
    src_gke_details: _Gke | None = None
    dest_gke_details: _Gke | None = None
    src_google_service: _GoogleService | None = None
    dest_google_service: _GoogleService | None = None


class _Labels(msgspec.Struct):
    project_id: str | None = None
    subnetwork_name: str | None = None


class _Resource(msgspec.Struct):
    type: str | None = None
    labels: _Labels | None = None


class _Head(msgspec.Struct):
    """What tells the logs apart; entries of other logs may have any payload."""

    insert_id: str | None = msgspec.field(name="insertId", default=None)
    insert_id_of_table: str | None = msgspec.field(name="insert_id", default=None)
    timestamp: str | None = None
    log_name: str | None = msgspec.field(name="logName", default=None)
    log_name_of_table: str | None = msgspec.field(name="log_name", default=None)
    resource: _Resource | None = None
    payload: msgspec.Raw = msgspec.field(name="jsonPayload", default=msgspec.Raw())
    payload_of_table: msgspec.Raw = msgspec.field(name="json_payload", default=msgspec.Raw())
    connection: msgspec.Raw = msgspec.Raw()


class _End:
    """What a record says of one end: its machine, network, gateway, pod and service."""

    def __init__(
        self,
        instance: _Instance | None,
        vpc: _Vpc | None,
        gateway: _Gateway | None,
        gke: _Gke | None,
        service: _GoogleService | None,
    ) -> None:
        """Keep what is stated; what is not has nothing in it."""
        self.instance = instance or _Instance()
        self.vpc = vpc or _Vpc()
        self.gateway = gateway or _Gateway()
        self.gke = gke or _Gke()
        self.service = service or _GoogleService()

    @property
    def vpc_id(self) -> str | None:
        """The network, behind its project: names of networks return in other projects."""
        name = self.vpc.vpc_name
        project = self.vpc.project_id
        return name_text(f"{project}/{name}" if project and name else name)

    @property
    def region(self) -> str | None:
        """The region of the machine."""
        return name_text(self.instance.region)

    def columns(self, side: str) -> dict[str, Any]:
        """Columns of an end, which is the `source` or the `destination`."""
        pod = self.gke.pod or _Pod()
        cluster = self.gke.cluster or _Cluster()
        return {
            f"{side}_service": name_text(self.service.service_name or self.service.type),
            f"{side}_cluster_name": name_text(cluster.cluster_name),
            f"{side}_namespace": name_text(pod.pod_namespace),
            f"{side}_pod_name": name_text(pod.pod_name),
            f"{side}_workload": _workload(pod.pod_workload),
            f"{side}_cluster_services": _services(self.gke.service),
            f"{side}_node": name_text(self.instance.vm_name),
            f"{side}_zone": name_text(self.instance.zone),
            f"{side}_region": self.region,
            f"{side}_vpc_id": self.vpc_id,
        }


_HEAD = msgspec.json.Decoder(_Head)
_FLOW = msgspec.json.Decoder(_Flow)
_TEXT = msgspec.json.Decoder(str)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_items(records, context, _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    head = decode(_HEAD, item.data, item.path)
    kind = head.resource.type if head.resource else None
    if not _is_flow_log(head.log_name or head.log_name_of_table, kind):
        return "other_log"
    flow = decode(_FLOW, *_payload(head, item))
    labels = (head.resource.labels if head.resource else None) or _Labels()
    record_id = _record_id(item, head)
    return ((f.TABLE, {"record_id": record_id, **_volume(flow, labels, context)}),)


def _is_flow_log(log_name: str | None, resource_type: str | None) -> bool:
    """Whether an entry is of the log; one of the two may have been taken off."""
    if log_name:
        return log_name.endswith(_LOGS)
    return resource_type is None or resource_type in _RESOURCES


def _payload(head: _Head, item: Item) -> tuple[bytes, str]:
    """Bytes and path of the payload, which may be a text of JSON, or all that there is."""
    for name, found in (("jsonPayload", head.payload), ("json_payload", head.payload_of_table)):
        data, path = bytes(found), f"{item.path}.{name}"
        if data and data != b"null":
            if data[:1] != b'"':
                return data, path
            text = decode(_TEXT, data, path)
            if len(text) > _MAX_PAYLOAD:
                refuse("payload", f"at most {_MAX_PAYLOAD} characters", len(text))
            return text.encode("utf-8", "replace"), path
    if not bytes(head.connection):
        refuse("no_payload", "a flow in jsonPayload", None)
    return item.data, item.path


def _record_id(item: Item, head: _Head) -> str:
    insert_id = head.insert_id or head.insert_id_of_table
    if not insert_id or not head.timestamp:
        return whole_record_id(item)
    return identity(insert_id, _instant(head.timestamp, "timestamp"))


def _volume(flow: _Flow, labels: _Labels, context: FileContext) -> dict[str, Any]:
    connection = flow.connection or _Connection()
    source = _End(
        flow.src_instance, flow.src_vpc, flow.src_gateway, flow.src_gke_details,
        flow.src_google_service,
    )  # fmt: skip
    destination = _End(
        flow.dest_instance, flow.dest_vpc, flow.dest_gateway, flow.dest_gke_details,
        flow.dest_google_service,
    )  # fmt: skip
    reporter = flow.reporter
    if reporter not in _REPORTERS:
        refuse("reporter", "SRC, DEST, SRC_GATEWAY or DEST_GATEWAY", reporter)
    start_at = _instant(flow.start_time, "start_time")
    end_at = _instant(flow.end_time, "end_time") + _TICK
    f.check_interval(start_at, end_at, MAX_INTERVAL)
    octets = f.octets(flow.bytes_sent, "bytes_sent")
    if octets is None:
        refuse("bytes_sent", "a number of bytes", None)
    transport = f.transport(connection.protocol, "protocol")
    return {
        "start_at": start_at,
        "end_at": end_at,
        **_reporting_end(reporter, source, destination, labels),
        "source_address": _address(connection.src_ip, "src_ip"),
        "source_port": f.port_of(transport, connection.src_port, "src_port"),
        "destination_address": _address(connection.dest_ip, "dest_ip"),
        "destination_port": f.port_of(transport, connection.dest_port, "dest_port"),
        "transport": transport,
        "bytes": octets,
        "packets": f.octets(flow.packets_sent, "packets_sent"),
        "flow_direction": _DIRECTIONS.get(reporter),
        "round_trip_seconds": _round_trip(flow.rtt_msec),
        "sampling_interval": None,
        "scaled": "scaled",
        "reporter": reporter,
        "temporality": context.temporality or "delta",
        "byte_layer": "payload",
        **source.columns("source"),
        **destination.columns("destination"),
    }


def _reporting_end(
    reporter: str, source: _End, destination: _End, labels: _Labels
) -> Mapping[str, str | None]:
    """Columns of the interface: the machine or gateway that reports, and where it stands.

    The subnetwork of the entry's resource is that of the reporting machine.
    """
    end = source if reporter.startswith(_SOURCE) else destination
    if reporter not in _DIRECTIONS:
        gateway = end.gateway
        return {
            "account_id": name_text(gateway.project_id or labels.project_id),
            "interface_id": name_text(gateway.name),
            "vpc_id": end.vpc_id,
            "region": name_text(gateway.location),
        }
    project = end.instance.project_id or end.vpc.project_id or labels.project_id
    return {
        "account_id": name_text(project),
        "instance_id": name_text(end.instance.vm_name),
        "vpc_id": end.vpc_id,
        "subnet_id": name_text(end.vpc.subnetwork_name or labels.subnetwork_name),
        "zone_id": name_text(end.instance.zone),
        "region": end.region,
    }


def _instant(stated: str | None, word: str) -> datetime:
    if not stated:
        refuse("no_time", f"an RFC 3339 time in {word}", None)
    at = parse_instant(f"{stated[:-4]}Z" if stated.endswith(" UTC") else stated)
    if at is None or at.year == 9999:
        refuse("interval" if word != "timestamp" else "no_time", f"a time in {word}", stated)
    return at


def _address(stated: str | None, word: str) -> str | None:
    if not stated:
        return None
    address = canonical_address(stated) if len(stated) <= _MAX_ADDRESS else None
    if address is None:
        refuse(word, "an IP address", stated)
    return address


def _round_trip(stated: Number) -> float | None:
    """Milliseconds as seconds; null where none was measured."""
    milliseconds = f.whole(stated, _MAX_MILLISECONDS, "rtt_msec")
    return None if milliseconds is None else milliseconds / 1_000


def _workload(stated: _Workload | None) -> str | None:
    """`Kind/name`, with the kind as Kubernetes writes it: `STATEFUL_SET` is a StatefulSet."""
    if stated is None or not stated.workload_name:
        return None
    words = (name_text(stated.workload_type) or "").split("_")
    kind = "".join(part.capitalize() for part in words)
    return name_text(f"{kind}/{stated.workload_name}" if kind else stated.workload_name)


def _services(stated: list[_ClusterService] | None) -> list[str] | None:
    """`namespace/name` of each; null where there is none, or where there are too many to name."""
    if not stated or any(service.service_name == MANY_SERVICES for service in stated):
        return None
    names = {
        name_text(f"{service.service_namespace or ''}/{service.service_name}")
        for service in stated
        if service.service_name
    }
    return sorted(name for name in names if name) or None


def _recognise(head: bytes) -> Recognition:
    return recognise_records(head, _variant)


def _variant(entry: Mapping[str, Any]) -> str | None:
    payload = entry.get("jsonPayload") or entry.get("json_payload")
    log = entry.get("logName") or entry.get("log_name")
    if isinstance(log, str) and not log.endswith(_LOGS):
        return None
    if isinstance(payload, str):
        is_flow = isinstance(log, str) and '"connection"' in payload
        return "rows of a table" if is_flow else None
    flow = payload if isinstance(payload, dict) else entry
    connection = flow.get("connection")
    if not isinstance(connection, dict) or not {"src_ip", "dest_ip"} & connection.keys():
        return None
    if "reporter" not in flow and "bytes_sent" not in flow:
        return None
    if flow is entry:
        return "payloads"
    return "log entries" if "jsonPayload" in entry else "rows of a table"


PARSER = Parser(
    name="gcp_vpc_flow_log",
    title="Google Cloud VPC flow log",
    tables=(f.TABLE,),
    shape="json",
    record="one log entry: what one end of a connection sent to the other in one interval",
    cannot_tell=(
        "headers; the error of its estimates; flows of which no packet was sampled; what a "
        "firewall denied; pods' UIDs, and pods at all where GKE's annotations are left out; "
        "traffic between pods of one node without intranode visibility"
    ),
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
)

"""AWS VPC flow logs of cluster birch, with a header of its own in each file.

The first day's files have version 5 and version 3 fields in different orders; both carry the
addresses inside the packet, without which a pod's address on a shared interface is invisible. One
file of the second day has the default version 2 fields, for the node's own traffic; it also says
once that nothing moved and once that records were skipped.
"""

from datetime import date

from tests.fleet.clock import DAYS, epoch_seconds
from tests.fleet.export import ExportFile
from tests.fleet.places import B1, B2, BIRCH
from tests.fleet.story import ACCOUNT
from tests.fleet.world import Fleet, FlowRecord, Node


def _fields(text: str) -> list[str]:
    return text.split()


V2 = _fields(
    "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes "
    "start end action log-status"
)
V3 = _fields(
    "account-id vpc-id subnet-id instance-id interface-id srcaddr dstaddr srcport dstport "
    "protocol pkt-srcaddr pkt-dstaddr packets bytes start end action tcp-flags type "
    "log-status version"
)
V5 = _fields(
    "version srcaddr dstaddr srcport dstport protocol start end type packets bytes "
    "account-id vpc-id subnet-id instance-id interface-id region az-id sublocation-type "
    "sublocation-id action tcp-flags pkt-srcaddr pkt-dstaddr pkt-src-aws-service "
    "pkt-dst-aws-service traffic-path flow-direction log-status"
)
VERSIONS = {len(V2): "2", len(V3): "3", len(V5): "5"}
PROTOCOLS = {"TCP": "6", "UDP": "17"}


def render(fleet: Fleet) -> list[ExportFile]:
    """Return one file per node's interface and day, and one for the nodes' own traffic."""
    files = []
    for day in DAYS:
        for node, columns in ((B1, V5), (B2, V3 if day == DAYS[0] else V5)):
            records = [
                item
                for item in fleet.flow_records
                if item.node == node and item.start.date() == day and item.pod is not None
            ]
            if records:
                files.append(_file(day, f"{node.interface_id}", node, columns, records))
        own = [item for item in fleet.flow_records if item.start.date() == day and item.pod is None]
        if own:
            files.append(_file(day, "nodes-default-fields", own[0].node, V2, own))
    return files


def _file(
    day: date, name: str, node: Node, columns: list[str], records: list[FlowRecord]
) -> ExportFile:
    file = ExportFile(
        path=f"exports/{BIRCH.name}/vpc_flow_logs/{day}/{name}.log",
        export="birch-vpc-flow-logs",
        format="aws_vpc_flow_log",
        cluster=BIRCH.name,
        node=None,
        landing_date=day,
        stored_ending=".gz",
    )
    file.header(" ".join(columns))
    for index, record in enumerate(records):
        values = _values(record) | {"version": VERSIONS[len(columns)]}
        line = " ".join(values.get(column, "-") for column in columns)
        file.accept(line)
        if node == B1 and day == DAYS[0] and index == 3:
            file.reject(" ".join(line.split()[:9]), "field_count")
    if columns == V2:
        quiet = f"2 {ACCOUNT} {node.interface_id} - - - - - - -"
        start = epoch_seconds(records[-1].end)
        file.ignore(f"{quiet} {start} {start + 60} - NODATA")
        file.accept(f"{quiet} {start + 60} {start + 120} - SKIPDATA")
    return file


def _values(record: FlowRecord) -> dict[str, str]:
    """Return the fields of a record; the interface shows its own address, the packet the pod's."""
    receives = record.direction == "receive"
    near, far = record.node.address, record.peer_address
    near_port, far_port = str(record.local_port), str(record.peer_port)
    local = record.local_address
    ends = (far, near, far_port, near_port) if receives else (near, far, near_port, far_port)
    packet = (far, local) if receives else (local, far)
    is_bucket = far.startswith("198.51.100.")
    return {
        "account-id": ACCOUNT,
        "interface-id": record.node.interface_id,
        "srcaddr": ends[0],
        "dstaddr": ends[1],
        "srcport": ends[2],
        "dstport": ends[3],
        "protocol": PROTOCOLS[record.transport],
        "packets": str(record.packets),
        "bytes": str(record.bytes),
        "start": str(epoch_seconds(record.start)),
        "end": str(epoch_seconds(record.end)),
        "action": record.action,
        "log-status": record.status,
        "vpc-id": "vpc-0example00000001",
        "subnet-id": f"subnet-0example0000000{record.node.zone[-1]}",
        "instance-id": record.node.instance_id,
        "tcp-flags": "19" if record.transport == "TCP" else "0",
        "type": "IPv4",
        "pkt-srcaddr": packet[0],
        "pkt-dstaddr": packet[1],
        "region": record.node.region,
        "az-id": "euw1-az1" if record.node.zone.endswith("a") else "euw1-az2",
        "flow-direction": "ingress" if receives else "egress",
        "traffic-path": "-" if receives else ("7" if is_bucket else "8"),
        "pkt-src-aws-service": "S3" if is_bucket and receives else "-",
        "pkt-dst-aws-service": "S3" if is_bucket and not receives else "-",
    }

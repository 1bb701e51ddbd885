"""What each format's own documents say of its records, beyond the rules of JSON and text files.

Keys that may be absent, texts that may hold anything, numbers that may be large. Written from the
documents that the parsers name as their sources, never from the parsers.
"""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from tests.mutations.json_spans import Member, Node, nodes, spans
from tests.mutations.operators import Operator

FREE_TEXTS = (
    "naïve café 数据集 \U0001d518".encode(), b"a b  c", b"x" * 3_000, b"100%25", b"=1+1",
    b"{not json}", b"../..", b"(unknown)", b"\\u00e9\\n\\t", b"-",
)  # fmt: skip
LARGE = (b"0", b"1", b"4294967296", b"9007199254740993", b"1099511627776000")


@dataclass(frozen=True)
class Rules:
    """What may be done to a record of a format that stays valid.

    Attributes:
        optional: Keys that may be absent.
        free: Keys whose text may be any.
        large: Keys whose whole number may be any up to 2**53.
        change: A change of a line of text that leaves it valid.
        together: Finds what the records have in common that become one row together.
    """

    optional: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    large: frozenset[str] = frozenset()
    change: Operator | None = None
    together: re.Pattern[bytes] | None = None


def rules(
    optional: str = "",
    free: str = "",
    large: str = "",
    change: Operator | None = None,
    together: str | None = None,
) -> Rules:
    """Rules by names parted by blanks."""
    words = (frozenset(text.split()) for text in (optional, free, large))
    found = re.compile(together.encode()) if together else None
    return Rules(*words, change=change, together=found)


def valid_change(found: Rules) -> Operator:
    """The change that a format's rules allow."""
    return partial(_changed, found)


def _changed(found: Rules, data: bytes, random: Random) -> bytes | None:
    tree = spans(data)
    if tree is None or tree.kind == "number":
        return found.change(data, random) if found.change else None
    choices: list[tuple[frozenset[str], Callable[[bytes, Node, int, Member, Random], Any]]] = [
        (found.optional, _without),
        (found.free, _with_text),
        (found.large, _with_number),
    ]
    names, change = random.choice(choices)
    places = [
        (node, index, member)
        for node in nodes(tree)
        if node.kind == "object"
        for index, member in enumerate(node.members)
        if member.key in names
    ]
    return change(data, *random.choice(places), random) if places else None


def _without(data: bytes, node: Node, index: int, _member: Member, _random: Random) -> bytes:
    texts = [data[m.start : m.value.end] for i, m in enumerate(node.members) if i != index]
    return data[: node.start] + b"{" + b",".join(texts) + b"}" + data[node.end :]


def _with_text(data: bytes, _node: Node, _i: int, member: Member, random: Random) -> bytes | None:
    if member.value.kind != "string":
        return None
    text = random.choice(FREE_TEXTS)
    return data[: member.value.start + 1] + text + data[member.value.end - 1 :]


def _with_number(data: bytes, _node: Node, _i: int, member: Member, random: Random) -> bytes | None:
    number = random.choice(LARGE)
    if member.value.kind == "string":
        number = b'"' + number + b'"'
    elif member.value.kind != "number":
        return None
    return data[: member.value.start] + number + data[member.value.end :]


def large_vpc_numbers(data: bytes, random: Random) -> bytes | None:
    """Let packets and bytes of a record with the default order of fields be any number."""
    fields = data.split(b" ")
    if len(fields) < 14 or not all(fields[n].isdigit() for n in (0, 8, 9)):
        return None
    fields[random.choice((8, 9))] = random.choice(LARGE)
    return b" ".join(fields)


_ASKED = re.compile(rb"(?<= IN )\S+(?= (?:udp|tcp) )")
_DURATION = re.compile(rb"(?<= )\d+\.\d+s\Z")
_NAMES = (
    b"a-b.example.org.", b"_sip._tcp.example.com.", b"x" * 63 + b".example.com.",
    b"1.0.0.10.in-addr.arpa.", b"xn--bcher-kva.example.",
)  # fmt: skip
_AGENTS = (b"a", b"naive, \xc3\xa9 agent/1.0 (x; y)", b"-", b"%41%2520", b"x" * 2_000, b"{}[]<>")


def other_query(data: bytes, random: Random) -> bytes | None:
    """Ask for another name, or take another time, in a line of CoreDNS."""
    asked, took = _ASKED.search(data), _DURATION.search(data)
    if asked is None or took is None or data.startswith(b"{"):
        return None
    if random.random() < 0.5:
        return data[: took.start()] + random.choice((b"0.000001s", b"29.999999999s"))
    return data[: asked.start()] + random.choice(_NAMES) + data[asked.end() :]


def other_antrea_counts(data: bytes, random: Random) -> bytes | None:
    """Let packets and octets of a report of Antrea's aggregator be any number."""
    fields = data.split(b",")
    if len(fields) < 50 or not all(fields[n].isdigit() for n in range(10, 18)):
        return None
    fields[random.choice(range(10, 18))] = random.choice(LARGE)
    return b",".join(fields)


def other_squid_size(data: bytes, random: Random) -> bytes | None:
    """Let the size of a reply in a line of Squid's own format be any number."""
    found = re.search(rb"(?<=/200 )[0-9]+(?= [A-Z]+ )", data)
    if found is None:
        return None
    return data[: found.start()] + random.choice(LARGE) + data[found.end() :]


def unset_rtt(data: bytes, random: Random) -> bytes | None:  # noqa: ARG001
    """Leave out the round-trip time of a Zeek line with the default fields."""
    fields = data.split(b"\t")
    if len(fields) < 20:
        return None
    fields[8] = b"-"
    return b"\t".join(fields)


def longer_s3_line(data: bytes, random: Random) -> bytes | None:
    """Add a field behind the last, as AWS may, or let the client name itself differently."""
    parts = data.split(b'"')
    if len(parts) != 7 or random.random() < 0.3:
        return data + b" -" if len(parts) == 7 else None
    parts[5] = random.choice(_AGENTS)
    return b'"'.join(parts)


def other_gcs_agent(data: bytes, random: Random) -> bytes | None:
    """Let the client of a line of GCS usage name itself differently."""
    row = next(csv.reader([data.decode("utf-8", "replace")]), [])
    if len(row) < 17:
        return None
    row[12] = random.choice((*_AGENTS, b'say ""hi""')).decode("utf-8", "replace")
    return ",".join('"' + text.replace('"', '""') + '"' for text in row).encode()


def unknown_label(data: bytes, random: Random) -> bytes | None:
    """Add a label to a line of Prometheus text, or blanks where they may stand."""
    name, brace, rest = data.partition(b"{")
    if not brace or b"}" not in rest or data.startswith(b"#"):
        return None
    added = random.choice((b'x_unknown="1",', b'cluster="a\\"b",', b" "))
    return name + brace + added + rest


def other_response_size(data: bytes, random: Random) -> bytes | None:
    """Let the size in a line of a registry be any number."""
    places = list(re.finditer(rb'(?<=" \d{3} )\d+(?= ")|(?<=written=)\d+', data))
    if len(places) != 1:
        return None
    return data[: places[0].start()] + random.choice(LARGE) + data[places[0].end() :]


def other_shard(data: bytes, random: Random) -> bytes | None:
    """Let the name behind a line of a library be any other name of a package."""
    places = list(re.finditer(rb"(?<= Downloading )[a-z]+(?=-1\.0\.whl\Z)", data))
    if len(places) != 1:
        return None
    name = random.choice((b"numpy", b"x" * 50, b"naive_cafe", b"a.b"))
    return data[: places[0].start()] + name + data[places[0].end() :]


def other_description(data: bytes, random: Random) -> bytes | None:
    """Let the description in a bill's line, which is quoted, be any text."""
    places = list(re.finditer(rb'(?<=,")per GB[^"]*(?=",)', data))
    if len(places) != 1 or data.count(b'"') % 2:
        return None
    text = random.choice(FREE_TEXTS).replace(b'"', b'""')
    return data[: places[0].start()] + text + data[places[0].end() :]


def other_pulled_size(data: bytes, random: Random) -> bytes | None:
    """Let the bytes that an image took be any number."""
    places = list(re.finditer(rb"(?<=bytes read=)\d+", data))
    if len(places) != 1:
        return None
    return data[: places[0].start()] + random.choice(LARGE) + data[places[0].end() :]


_OBJECT = (
    "annotations finalizers generation hostIPs managedFields ownerReferences qosClass "
    "selfLink terminationGracePeriodSeconds"
)

RULES: dict[str, Rules] = {
    "hubble": rules(
        optional="Summary is_reply destination_names source_names labels workloads interface",
        free="Summary",
    ),
    "coredns": rules(change=other_query),
    "dns_collector": rules(
        optional="family ip-defragmented tcp-reassembled length opcode geoip suspicious edns"
    ),
    "s3_access_log": rules(change=longer_s3_line),
    "polyaxon": rules(
        optional="description bookmarked is_approved contributors live_state readme",
        free="description",
    ),
    "kubernetes": rules(optional=_OBJECT, free="message"),
    "kubernetes_audit": rules(optional=f"{_OBJECT} userAgent sourceIPs", free="userAgent"),
    "event_exporter": rules(optional=f"{_OBJECT} reportingInstance", free="message"),
    "otel_k8sobjects": rules(optional=f"{_OBJECT} schemaUrl version scope", free="message"),
    "kube_state_metrics": rules(
        change=unknown_label,
        # All series of one pod are its state, wherever they stand.
        together="[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    "otlp": rules(
        optional="description schemaUrl version startTimeUnixNano flags unit scope",
        free="description",
        large="asInt",
    ),
    "prometheus": rules(change=unknown_label, optional="job image service"),
    "victoriametrics": rules(optional="job image service"),
    "aws_vpc_flow_log": rules(
        optional="account_id vpc_id subnet_id instance_id tcp_flags type packets action region "
        "az_id pkt_srcaddr flow_direction traffic_path reject_reason",
        large="bytes packets",
        change=large_vpc_numbers,
    ),
    "gcp_vpc_flow_log": rules(
        optional="receiveTimestamp severity labels src_instance dest_instance src_vpc dest_vpc "
        "src_location dest_location src_gke_details dest_gke_details src_google_service "
        "dest_google_service pod_workload service cluster vm_name zone region rtt_msec "
        "packets_sent asn country continent subnetwork_id",
        free="continent country city cluster_location",
        large="bytes_sent packets_sent",
    ),
    "route53": rules(optional="version account_id region vpc_id srcids answers"),
    "gcp_dns": rules(
        optional="vmInstanceId vmInstanceIdString vmInstanceName vmProjectId vmZoneName severity "
        "sourceNetwork serverLatency authAnswer rdata receiveTimestamp sourceIP"
    ),
    "zeek_dns": rules(
        optional="trans_id rtt rcode rcode_name answers TTLs qclass qclass_name", change=unset_rtt
    ),
    "antrea": rules(change=other_antrea_counts),
    "netflow_json": rules(
        optional="etype in_if tcp_flags vlan_id ip_tos sequence_num iana:ingressInterface "
        "iana:tcpControlBits iana:samplingInterval src_tos sampled export_sysid cnt",
        large="sequence_num vlan_id iana:packetDeltaCount cnt src_tos",
    ),
    "proxy_access_log": rules(
        optional="route_name user_agent x_forwarded_for upstream_service_time request_id authority "
        "response_code_details upstream_local_address requested_server_name path",
        free="user_agent path route_name",
        large="bytes_received bytes_sent",
        change=other_squid_size,
    ),
    "zeek_conn": rules(
        optional="uid service history local_orig local_resp missed_bytes tunnel_parents orig_pkts "
        "resp_pkts orig_bytes resp_bytes",
        free="service history",
        large="orig_ip_bytes resp_ip_bytes missed_bytes orig_pkts",
    ),
    "inspektor_gadget": rules(optional="cwd exepath ppid pcomm podLabels owner labels"),
    "azure_dns": rules(optional="operationName region version vnet_id"),
    "netobserv": rules(
        optional="SrcMac DstMac Dscp AgentIP K8S_ClusterName Packets Sampling PktDropBytes Flags",
        large="PktDropBytes Packets",
    ),
    "cloudtrail": rules(
        optional="additionalEventData readOnly managementEvent recipientAccountId tlsDetails",
        free="userAgent errorMessage",
    ),
    "registry_access_log": rules(
        optional="go.version http.request.id http.response.contenttype http.response.duration "
        "http.request.useragent http.request.host auth.user.name id username",
        free="http.request.useragent username",
        large="http.response.written",
        change=other_response_size,
    ),
    "containerd": rules(
        optional="__CURSOR _PID PRIORITY _SYSTEMD_UNIT _HOSTNAME error level",
        free="error",
        change=other_pulled_size,
    ),
    "stage_marks": rules(
        optional="stage elapsed_s attempts bytes cache outcome error.type resource.id level "
        "severityText severityNumber scope schemaUrl",
        free="message resource.id",
        large="bytes attempts",
        change=other_shard,
    ),
    "aws_cur": rules(
        optional="identity_line_item_id bill_invoice_id line_item_resource_id line_item_operation "
        "product_region_code pricing_public_on_demand_cost line_item_line_item_description product",
        free="line_item_line_item_description line_item_resource_id",
        change=other_description,
    ),
    "focus": rules(
        optional="BillingAccountId ChargeDescription ListCost EffectiveCost ServiceName RegionId "
        "ResourceId SkuId InvoiceId ChargeClass SkuMeter",
        free="ChargeDescription ResourceId",
        change=other_description,
    ),
    "gcs_usage": rules(change=other_gcs_agent),
    "gcs_audit": rules(
        optional="receiveTimestamp severity authorizationInfo", free="callerSuppliedUserAgent"
    ),
    "azure_storage": rules(
        optional="schemaVersion statusText protocol location", free="userAgentHeader"
    ),
    "minio_audit": rules(
        optional="event trigger deploymentid timeToFirstByte responseHeader tags",
        free="userAgent",
    ),
}

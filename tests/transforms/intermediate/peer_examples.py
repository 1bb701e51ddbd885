"""Worked examples: the same traffic as each format exports it, with its total by hand.

Each example has two pods, their nodes, a service's address and one outside of its own, so that all
of them are staged and built together. Lines are in the export's own form and go through the real
parser. Expected are the chosen bytes of the day by (local pod or address, direction, peer).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.transforms.frames import DAY, at, show
from tests.transforms.staging.export_text import parse
from transforms.sql import SqlSession
from transforms.staging import (
    antrea,
    aws_vpc_flow_log,
    azure_flow_log,
    gcp_vpc_flow_log,
    netflow_json,
    netobserv,
    prometheus,
    proxy_access_log,
    victoriametrics,
    zeek_conn,
)
from transforms.staging.parser import CounterFacts, Parser

START = int(at("08:01").timestamp())
"""Second at which the traffic of most examples begins."""
Totals = dict[tuple[str, str, str], int]


@dataclass(frozen=True)
class Places:
    """Addresses of one example: pods `a` and `b`, their nodes, a service, and one outside."""

    number: int

    def _of(self, last: str) -> str:
        return f"10.{self.number}.{last}"

    @property
    def a(self) -> str:
        return self._of("0.1")

    @property
    def b(self) -> str:
        return self._of("0.2")

    @property
    def node_1(self) -> str:
        return self._of("9.1")

    @property
    def node_2(self) -> str:
        return self._of("9.2")

    @property
    def service(self) -> str:
        return self._of("8.1")

    @property
    def out(self) -> str:
        return f"203.0.113.{self.number}"


@dataclass(frozen=True)
class Export:
    """One file of a format."""

    parser: Parser
    text: str
    context: dict[str, Any] = field(default_factory=dict)


def lines(values: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, values))


# -- clouds --------------------------------------------------------------------------------------


def aws_both_interfaces(p: Places) -> tuple[list[Export], Totals]:
    """Both ends' interfaces log one exchange; a NAT gateway logs its two legs of another.

    990 bytes of the 1,000 came in while the other interface looked. What was refused or skipped is
    no traffic.
    """
    nat = f"10.{p.number}.7.7"
    header = (
        "version account-id interface-id instance-id srcaddr dstaddr srcport dstport protocol "
        "packets bytes start end action log-status pkt-srcaddr pkt-dstaddr flow-direction"
    )

    def line(
        interface: str, instance: str, ends: str, octets: int, packet_ends: str, direction: str,
        action: str = "ACCEPT", ports: str = "40000 443",
    ) -> str:  # fmt: skip
        return (
            f"5 111122223333 eni-{interface} {instance} {ends} {ports} 6 9 {octets} {START} "
            f"{START + 58} {action} OK {packet_ends} {direction}"
        )

    inside, outside = f"{p.a} {p.b}", f"{p.a} {p.out}"
    found = [
        header,
        line("a", "i-a", f"{p.node_1} {p.b}", 1_000, inside, "egress"),
        line("b", "i-b", f"{p.a} {p.node_2}", 990, inside, "ingress"),
        line("a", "i-a", f"{p.node_1} {nat}", 5_000, outside, "egress", ports="40001 443"),
        line("nat", "-", f"{p.a} {nat}", 5_000, outside, "ingress", ports="40001 443"),
        line("nat", "-", f"{nat} {p.out}", 5_000, f"{nat} {p.out}", "egress", ports="1025 443"),
        line("a", "i-a", f"{p.node_1} {p.out}", 40, outside, "egress", "REJECT", "40002 25"),
        f"5 111122223333 eni-a - - - - - - - - {START} {START + 58} - SKIPDATA - - -",
    ]
    return [Export(aws_vpc_flow_log.PARSER, "\n".join(found))], {
        ("a", "transmit", p.b): 1_000,
        ("b", "receive", p.a): 990,
        ("a", "transmit", p.out): 5_000,
    }


def aws_rows_of_parquet_and_a_transit_gateway(p: Places) -> tuple[list[Export], Totals]:
    """Rows of Parquet at both ends, and both attachments of the gateway that is between them.

    The receiving end's log lacks 300 bytes; what it holds counts for it all the same.
    """

    def row(side: str, octets: int, second: int, **more: Any) -> dict[str, Any]:
        return {
            "version": 5, "interface_id": f"eni-{side}{p.number}", "instance_id": f"i-{side}",
            "srcaddr": p.a, "dstaddr": p.b, "srcport": 40_000, "dstport": 443, "protocol": 6,
            "packets": 6, "bytes": octets, "start": START + second, "end": START + second + 58,
            "action": "ACCEPT", "log_status": "OK", "pkt_srcaddr": p.a, "pkt_dstaddr": p.b,
            "flow_direction": "egress" if side == "a" else "ingress", **more,
        }  # fmt: skip

    found = [row("a", 1_000, 0), row("b", 990, 0), row("a", 300, 60)]
    fields = (
        "version tgw-id tgw-attachment-id srcaddr dstaddr srcport dstport protocol packets bytes "
        "start end log-status flow-direction"
    )
    attachments = [
        f"6 tgw-{p.number} tgw-attach-{side}{p.number} {p.a} {p.b} 40000 443 6 6 1000 {START} "
        f"{START + 58} OK {way}"
        for side, way in (("a", "ingress"), ("b", "egress"))
    ]
    exports = [
        Export(aws_vpc_flow_log.PARSER, lines(found)),
        Export(aws_vpc_flow_log.PARSER, "\n".join([fields, *attachments])),
    ]
    return exports, {("a", "transmit", p.b): 1_300, ("b", "receive", p.a): 990}


def gcp_both_reporters(p: Places) -> tuple[list[Export], Totals]:
    """Both machines report the request and the answer, as the documentation's example has it.

    In the second interval Google left the machines' names out: the reporter still tells the end.
    """

    def entry(
        reporter: str, source: str, target: str, octets: int, second: int, *, named: bool = True
    ) -> dict[str, Any]:
        ports = (40_000, 443) if source == p.a else (443, 40_000)
        vm = {"vm_name": f"vm-{source if reporter == 'SRC' else target}", "zone": "europe-west1-b"}
        return {
            "insertId": f"{reporter}{source}{second}", "timestamp": "2026-03-02T08:05:00Z",
            "resource": {"type": "gce_subnetwork", "labels": {}},
            "jsonPayload": {
                "connection": {
                    "src_ip": source, "src_port": ports[0], "dest_ip": target,
                    "dest_port": ports[1], "protocol": 6,
                },
                "reporter": reporter, "bytes_sent": str(octets), "packets_sent": "8",
                "start_time": f"2026-03-02T08:01:{second:02d}.5Z",
                "end_time": f"2026-03-02T08:01:{second + 5:02d}Z",
                **({f"{'src' if reporter == 'SRC' else 'dest'}_instance": vm} if named else {}),
            },
        }  # fmt: skip

    found = [
        entry(reporter, source, target, octets, second, named=second == 0)
        for source, target, octets, second in (
            (p.a, p.b, 1_224, 0), (p.b, p.a, 5_342, 0), (p.a, p.b, 100, 30),
        )
        for reporter in ("SRC", "DEST")
    ]  # fmt: skip
    return [Export(gcp_vpc_flow_log.PARSER, lines(found))], {
        ("a", "transmit", p.b): 1_324,
        ("b", "receive", p.a): 1_324,
        ("b", "transmit", p.a): 5_342,
        ("a", "receive", p.b): 5_342,
    }


def azure_both_cards_and_both_logs(p: Places) -> tuple[list[Export], Totals]:
    """The documentation's connection of 5,256,000 bytes, at both cards.

    One card's network has a log, and so have the security groups of the card and of its subnet.
    Numbers are since the last tuple: 588,096 + 29,952 there, 4,610,880 + 27,072 back.
    """
    group = "/subscriptions/0a1b2c3d-0000-4000-8000-00000000abcd/resourceGroups/ml/providers"
    updates = [
        ("B", ",,,"),
        ("C", "1021,588096,8005,4610880"),
        ("E", "52,29952,47,27072"),
    ]

    def network(mac: str, way: str) -> dict[str, Any]:
        tuples = [
            f"{(START + 300 * n) * 1_000},{p.a},{p.b},44931,443,6,{way},{state},NX,{numbers}"
            for n, (state, numbers) in enumerate(updates)
        ]
        return {
            "category": "FlowLogFlowEvent", "macAddress": mac,
            "targetResourceID": f"{group}/Microsoft.Network/virtualNetworks/train",
            "flowRecords": {
                "flows": [{"aclID": "1", "flowGroups": [{"rule": "r", "flowTuples": tuples}]}]
            },
        }  # fmt: skip

    def security_group(mac: str, name: str, way: str) -> dict[str, Any]:
        tuples = [
            f"{START + 300 * n},{p.a},{p.b},44931,443,T,{way},A,{state},{numbers}"
            for n, (state, numbers) in enumerate(updates)
        ]
        return {
            "category": "NetworkSecurityGroupFlowEvent", "macAddress": mac,
            "resourceId": f"{group}/Microsoft.Network/networkSecurityGroups/{name}",
            "properties": {
                "Version": 2, "flows": [{"rule": "r", "flows": [{"flowTuples": tuples}]}]
            },
        }  # fmt: skip

    card_1, card_2 = "00224871C201", "00224871C202"
    found = [
        network(card_1, "O"),
        network(card_2, "I"),
        security_group(card_1, "card", "O"),
        security_group(card_1, "subnet", "O"),
    ]
    return [Export(azure_flow_log.PARSER, lines(found))], {
        ("a", "transmit", p.b): 618_048,
        ("b", "receive", p.a): 618_048,
        ("b", "transmit", p.a): 4_637_952,
        ("a", "receive", p.b): 4_637_952,
    }


# -- clusters ------------------------------------------------------------------------------------


def netobserv_every_way_to_see_a_packet_twice(p: Places) -> tuple[list[Export], Totals]:
    """Both nodes, before and behind a service and a source's translation, and a tunnel."""
    hosts = {p.a: p.node_1, p.b: p.node_2, p.node_1: p.node_1, p.node_2: p.node_2}
    names = {p.a: "pod-a", p.b: "pod-b", p.node_1: "n1", p.node_2: "n2", p.service: "store"}
    kinds = {p.a: "Pod", p.b: "Pod", p.node_1: "Node", p.node_2: "Node", p.service: "Service"}

    def flow(
        agent: str, direction: int, source: str, target: str, octets: int, **more: Any
    ) -> dict[str, Any]:
        ends = {
            f"{prefix}K8S_{what}": value
            for prefix, address in (("Src", source), ("Dst", target))
            for what, value in (
                ("Type", kinds.get(address)), ("Name", names.get(address)),
                ("HostIP", hosts.get(address)),
            )
            if value is not None
        }  # fmt: skip
        return {
            "AgentIP": agent, "FlowDirection": direction, "SrcAddr": source, "DstAddr": target,
            "SrcPort": 40_000, "DstPort": 443, "Proto": 6, "Sampling": 1, "Bytes": octets,
            "Packets": 3, "TimeFlowStartMs": START * 1_000,
            "TimeFlowEndMs": START * 1_000 + 5_000, **ends, **more,
        }  # fmt: skip

    found = [
        # Both nodes of one exchange: each end's own node counts for it.
        flow(p.node_1, 1, p.a, p.b, 1_000),
        flow(p.node_2, 0, p.a, p.b, 990),
        # Another connection to the same pod, seen before and behind the service's translation.
        flow(p.node_1, 1, p.a, p.service, 400, SrcPort=40_001),
        flow(p.node_1, 1, p.a, p.b, 400, SrcPort=40_001),
        flow(p.node_2, 0, p.a, p.b, 400, SrcPort=40_001),
        # The tunnel that carried it.
        flow(p.node_1, 1, p.node_1, p.node_2, 1_600, Proto=17, SrcPort=50_000, DstPort=6081),
        flow(p.node_2, 0, p.node_1, p.node_2, 1_600, Proto=17, SrcPort=50_000, DstPort=6081),
        # Out of the cluster: the pod's packets, and the same behind the node's address.
        flow(p.node_1, 1, p.a, p.out, 849, XlatSrcAddr=p.node_1, XlatSrcPort=58_527,
             XlatDstAddr=p.out, XlatDstPort=443),
        flow(p.node_1, 1, p.node_1, p.out, 849, SrcPort=58_527),
        # And back: the node's address first, behind it the pod.
        flow(p.node_1, 0, p.out, p.node_1, 5_000, SrcPort=443, DstPort=58_527,
             XlatDstAddr=p.a, XlatDstPort=40_000, XlatSrcAddr=p.out, XlatSrcPort=443),
        flow(p.node_1, 0, p.out, p.a, 5_000, SrcPort=443, DstPort=40_000),
        # The node's own traffic has no translation.
        flow(p.node_1, 1, p.node_1, p.out, 70, SrcPort=41_000),
    ]  # fmt: skip
    return [Export(netobserv.PARSER, lines(found))], {
        ("a", "transmit", p.b): 1_400,
        ("b", "receive", p.a): 1_390,
        ("a", "transmit", p.out): 849,
        ("a", "receive", p.out): 5_000,
        (p.node_1, "transmit", p.out): 70,
    }


def antrea_differences_and_totals(p: Places) -> tuple[list[Export], Totals]:
    """A node's agent began anew before the third report and states a difference of 0.

    The totals know what it counted since: 250 + 40 there, 20 + 5 back.
    """

    def report(end: int, total: int, delta: int, back_total: int, back_delta: int) -> str:
        return (
            f"{START},{START + end},{START + end},{START + end},2,{p.a},{p.b},40000,443,6,"
            f"3,{total},3,{delta},3,{back_total},3,{back_delta},pod-a,ml,n1,pod-b,ml,n2,"
            f"{p.service},443,store,,,,0,0,,,,0,0,ESTABLISHED,2,'','',0,0,0,0,0,0,"
            f"0f5d3a52-0000-4000-8000-000000000001,{START + end + 2}"
        )

    found = [
        report(60, 100, 100, 10, 10),
        report(120, 250, 150, 20, 10),
        report(180, 40, 0, 5, 0),
    ]
    return [Export(antrea.PARSER, "\n".join(found))], {
        ("a", "transmit", p.b): 290,
        ("b", "receive", p.a): 290,
        ("b", "transmit", p.a): 25,
        ("a", "receive", p.b): 25,
    }


def obi(p: Places, agent: str) -> dict[str, str]:
    return {
        "__name__": "obi_network_flow_bytes_total", "src_address": p.a, "dst_address": p.out,
        "dst_port": "443", "transport": "TCP", "iface_direction": "egress", "obi_ip": agent,
    }  # fmt: skip


def prometheus_of_two_agents(p: Places) -> tuple[list[Export], Totals]:
    """Two agents saw one exchange; the one that was read more often counts.

    It grew from 1,000 to 1,500, was idle for 10 minutes, was forgotten, and showed 300 then.
    """

    def line(agent: str, value: int, second: int) -> str:
        labels = ", ".join(f'{name}="{text}"' for name, text in obi(p, agent).items())
        return f"{{{labels}}} {value} {(START + second) * 1_000}"

    found = [
        *(line(p.node_1, value, second) for value, second in ((1_000, 0), (1_500, 30), (300, 630))),
        *(line(p.node_2, value, second) for value, second in ((900, 10), (1_300, 40))),
    ]
    return [Export(prometheus.PARSER, "\n".join(found))], {("a", "transmit", p.out): 800}


def prometheus_that_forgets_when_the_settings_say(p: Places) -> tuple[list[Export], Totals]:
    """An agent that forgets after 15 minutes goes on after 10: 500 and 300; after 20 it began anew.

    What it showed then, 2,000, is all that it counted since.
    """
    labels = ", ".join(f'{name}="{text}"' for name, text in obi(p, p.node_1).items())
    found = [
        f"{{{labels}}} {value} {(START + second) * 1_000}"
        for value, second in ((1_000, 0), (1_500, 30), (1_800, 630), (2_000, 1_830))
    ]
    context = {"counters": CounterFacts(expires_after=900)}
    export = Export(prometheus.PARSER, "\n".join(found), context)
    return [export], {("a", "transmit", p.out): 2_800}


def beyla_that_states_its_starts(p: Places) -> tuple[list[Export], Totals]:
    """Two agents saw one exchange; the nearer began anew between 1,500 and 200, and says so."""

    def line(agent: str, value: int, second: int, start: int) -> str:
        labels = obi(p, agent) | {"beyla_ip": agent}
        del labels["__name__"], labels["obi_ip"]
        inner = ",".join(f'{name}="{text}"' for name, text in labels.items())
        moment = f"{START + second}.0 st@{START + start}.0"
        return f"beyla_network_flow_bytes_total{{{inner}}} {value} {moment}"

    found = [
        line(p.node_1, 1_000, 0, -30), line(p.node_1, 1_500, 60, -30), line(p.node_1, 200, 120, 80),
        line(p.node_2, 1_400, 60, -30), line(p.node_2, 1_650, 120, -30), "# EOF",
    ]  # fmt: skip
    return [Export(prometheus.PARSER, "\n".join(found))], {("a", "transmit", p.out): 1_700}


def victoriametrics_with_a_reset(p: Places) -> tuple[list[Export], Totals]:
    """The agent began anew behind 250: 150 before that, and 40 after it."""
    found = {
        "metric": obi(p, p.node_1),
        "values": [100, 250, 40],
        "timestamps": [(START + 30 * n) * 1_000 for n in range(3)],
    }
    return [Export(victoriametrics.PARSER, json.dumps(found))], {("a", "transmit", p.out): 190}


# -- networks ------------------------------------------------------------------------------------


def goflow2_of_two_routers(p: Places) -> tuple[list[Export], Totals]:
    """Two routers on one path, each keeping one packet of 100; one that sends totals tells none."""

    def message(router: str, octets: int, second: int) -> dict[str, Any]:
        return {
            "type": "IPFIX", "sampling_rate": 100, "sampler_address": router,
            "time_received_ns": (START + second + 60) * 10**9,
            "time_flow_start_ns": (START + second) * 10**9,
            "time_flow_end_ns": (START + second + 60) * 10**9, "bytes": octets,
            "packets": octets // 1_000, "src_addr": p.a, "dst_addr": p.out, "proto": "TCP",
            "src_port": 40_000, "dst_port": 443,
        }  # fmt: skip

    found = [
        message("198.51.100.1", 90_000, 0),
        message("198.51.100.1", 10_000, 60),
        message("198.51.100.2", 97_000, 0),
        message("198.51.100.3", 0, 0),
    ]
    return [Export(netflow_json.PARSER, lines(found))], {("a", "transmit", p.out): 100_000}


def nfdump_of_an_exporter_of_totals(p: Places) -> tuple[list[Export], Totals]:
    """nfdump writes octetTotalCount where differences stand; the setting tells it: 250 + 30.

    The router begins a new flow of the same ports at the end.
    """

    def record(first: int, last: int, octets: int) -> dict[str, Any]:
        moments = [f"{at('08:01').replace(second=0):%Y-%m-%dT%H}:{minute:02d}:00.000"
                   for minute in (1 + first, 1 + last)]  # fmt: skip
        return {
            "type": "FLOW", "export_sysid": 4, "first": moments[0], "last": moments[1],
            "in_packets": 1, "in_bytes": octets, "proto": 6, "src4_addr": p.a,
            "dst4_addr": p.out, "src_port": 40_000, "dst_port": 443, "sampled": 0,
            "ip4_router": "198.51.100.4",
        }  # fmt: skip

    found = [record(0, 1, 100), record(0, 2, 150), record(0, 3, 250), record(10, 11, 30)]
    context = {"record_format": "TZ=UTC", "temporality": "cumulative"}
    return [Export(netflow_json.PARSER, lines(found), context)], {("a", "transmit", p.out): 280}


def ipfixcol2_with_both_counts(p: Places) -> tuple[list[Export], Totals]:
    """Three exporters on one path; the first sends both counts, the last only totals.

    A report of the first was lost: its total knows the 80 bytes of it, 100 + 80 + 70.
    """

    def entry(exporter: str, end: int, **counts: int) -> dict[str, Any]:
        return {
            "@type": "ipfix.entry", "ipfix:srcAddr": exporter, "iana:samplingInterval": 1,
            "iana:flowStartMilliseconds": START * 1_000,
            "iana:flowEndMilliseconds": (START + end) * 1_000,
            "iana:sourceIPv4Address": p.a, "iana:destinationIPv4Address": p.out,
            "iana:sourceTransportPort": 40_000, "iana:destinationTransportPort": 443,
            "iana:protocolIdentifier": 6,
            **{f"iana:octet{name}Count": count for name, count in counts.items()},
        }  # fmt: skip

    found = [
        entry("198.51.100.5", 60, Delta=100, Total=100),
        entry("198.51.100.5", 180, Delta=70, Total=250),
        entry("198.51.100.6", 60, Delta=98),
        entry("198.51.100.7", 60, Total=100),
        entry("198.51.100.7", 180, Total=240),
    ]
    return [Export(netflow_json.PARSER, lines(found))], {("a", "transmit", p.out): 250}


def zeek_of_two_sensors(p: Places) -> tuple[list[Export], Totals]:
    """Two sensors without a name saw one connection, one of them not all of it.

    A package tells of it in the middle, too, counted from its beginning; only the end counts.
    """

    def connection(sensor: str, started: float, sent: int, back: int) -> dict[str, Any]:
        return {
            "ts": started, "duration": 7_200.5, "uid": f"CHhAvVGS1DHFjwG{sensor}", "proto": "tcp",
            "id.orig_h": p.a, "id.orig_p": 40_000, "id.resp_h": p.out, "id.resp_p": 443,
            "conn_state": "SF", "history": "ShADadFf", "orig_bytes": 500, "orig_ip_bytes": sent,
            "orig_pkts": 5, "resp_bytes": 9_000, "resp_ip_bytes": back, "resp_pkts": 10,
        }  # fmt: skip

    whole = connection("a", START, 750, 9_400)
    middle = whole | {"_path": "conn_long", "duration": 3_600, "orig_ip_bytes": 400}
    found = [middle, whole, connection("b", START + 0.25, 700, 9_200)]
    return [Export(zeek_conn.PARSER, lines(found))], {
        ("a", "transmit", p.out): 750,
        ("a", "receive", p.out): 9_400,
    }


# -- proxies -------------------------------------------------------------------------------------


def istio_both_sidecars(p: Places) -> tuple[list[Export], Totals]:
    """One request in the logs of both sidecars, whose legs have ports of their own.

    Each end's own sidecar counts for it: the server's read 10 bytes less.
    """

    def logged(side: str, client: str, server: str, asked: int, answered: int) -> dict[str, Any]:
        return {
            "start_time": at("08:01").isoformat(), "duration": 30_000, "method": "PUT",
            "response_code": 200, "response_flags": "-", "upstream_cluster": f"{side}|443||store",
            "authority": "store", "downstream_remote_address": client, "upstream_host": server,
            "bytes_received": asked, "bytes_sent": answered, "request_id": f"r-{p.number}",
        }  # fmt: skip

    found = [
        logged("outbound", f"{p.a}:40000", f"{p.b}:443", 1_000, 50),
        logged("inbound", f"{p.a}:41000", f"{p.b}:443", 990, 50),
    ]
    return [Export(proxy_access_log.PARSER, lines(found))], {
        ("a", "transmit", p.b): 1_000,
        ("b", "receive", p.a): 990,
        ("b", "transmit", p.a): 50,
        ("a", "receive", p.b): 50,
    }


def envoy_records_before_the_end(p: Places) -> tuple[list[Export], Totals]:
    """A passed-through connection that is told every minute, from its beginning: the last counts.

    The records do not tell their type, but share the id of the stream.
    """

    def logged(minutes: int, sent: int, back: int) -> dict[str, Any]:
        return {
            "start_time": at("08:01").isoformat(), "duration": 60_000 * minutes, "method": None,
            "response_code": 0, "response_flags": "-", "upstream_cluster": "out",
            "downstream_remote_address": f"{p.a}:40000", "upstream_host": f"{p.out}:443",
            "bytes_received": sent, "bytes_sent": back, "request_id": f"s-{p.number}",
        }  # fmt: skip

    found = [logged(1, 100, 7), logged(2, 250, 70), logged(3, 400, 700)]
    return [Export(proxy_access_log.PARSER, lines(found))], {
        ("a", "transmit", p.out): 400,
        ("a", "receive", p.out): 700,
    }


def squid_tells_one_way(p: Places) -> tuple[list[Export], Totals]:
    """A tunnel and a request to one server; a hit of the cache comes from no server."""

    def line(result: str, octets: int, peer: str, what: str) -> str:
        return f"{START + 5}.000   4000 {p.a} {result} {octets} {what} - {peer} -"

    found = [
        line("TCP_TUNNEL/200", 9_400, f"HIER_DIRECT/{p.out}", "CONNECT data.example.com:443"),
        line("TCP_MISS/200", 600, f"HIER_DIRECT/{p.out}", "GET https://data.example.com/a"),
        line("TCP_HIT/200", 5_000, "HIER_NONE/-", "GET http://data.example.com/b"),
    ]
    return [Export(proxy_access_log.PARSER, "\n".join(found))], {("a", "receive", p.out): 10_000}


EXAMPLES: tuple[Callable[[Places], tuple[list[Export], Totals]], ...] = (
    aws_both_interfaces,
    gcp_both_reporters,
    azure_both_cards_and_both_logs,
    netobserv_every_way_to_see_a_packet_twice,
    antrea_differences_and_totals,
    prometheus_of_two_agents,
    victoriametrics_with_a_reset,
    prometheus_that_forgets_when_the_settings_say,
    goflow2_of_two_routers,
    nfdump_of_an_exporter_of_totals,
    ipfixcol2_with_both_counts,
    zeek_of_two_sensors,
    istio_both_sidecars,
    envoy_records_before_the_end,
    squid_tells_one_way,
    aws_rows_of_parquet_and_a_transit_gateway,
    beyla_that_states_its_starts,
)


def staged(exports: list[Export], file: str) -> list[dict[str, Any]]:
    """Rows of bytes of exports, as landing keeps them."""
    return [
        values | {
            "cluster": "alder", "source_format": export.parser.name, "record_index": index,
            "row_index": number, "export_file_id": f"{file}-{place}",
        }
        for place, export in enumerate(exports)
        for index, record in enumerate(parse(export.parser, export.text, **export.context))
        for number, (table, values) in enumerate(record.rows)
        if table == "volume_records"
    ]  # fmt: skip


def show_examples(session: SqlSession, records: list[dict[str, Any]], days: int = 1) -> None:
    """Show the records in a session with the pods and nodes of all examples."""
    numbers = range(1, len(EXAMPLES) + 1)
    pods = [
        {"cluster": "alder", "namespace": "ml", "pod_name": f"pod-{end}-{n}",
         "pod_uid": f"{n}-{end}", "address": getattr(Places(n), end),
         "start_at": at("00:00", days=-9), "created_at": at("00:00", days=-9), "date": DAY,
         "node": f"n-{n}-{end}"}
        for n in numbers
        for end in ("a", "b")
    ]  # fmt: skip
    nodes = [
        {"cluster": "alder", "node": f"n-{n}-{end}", "addresses": [address],
         "created_at": at("00:00", days=-9)}
        for n in numbers
        for end, address in (("a", Places(n).node_1), ("b", Places(n).node_2))
    ]  # fmt: skip
    show(
        session, volume_records=records, pod_intervals=pods * days, node_states=nodes,
        name_bindings=[], address_ranges=[],
    )  # fmt: skip

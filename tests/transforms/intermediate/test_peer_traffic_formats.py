"""Worked examples: what each format's exports of the same traffic add up to, by hand."""

import json
from typing import Any

import polars as pl

from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.staging.export_text import parse
from transforms.day import BuildDay
from transforms.intermediate import peer_traffic
from transforms.sql import SqlSession
from transforms.staging import antrea, netflow_json, netobserv, proxy_access_log, zeek_conn
from transforms.staging.parser import Parser

A, B, NODE_1, NODE_2 = "192.0.2.1", "192.0.2.2", "192.0.2.251", "192.0.2.252"
SERVICE, OUT = "198.51.100.10", "203.0.113.9"
START = int(at("08:01").timestamp())


def staged(parser: Parser, text: str, **context: Any) -> list[dict[str, Any]]:
    """Rows of bytes of an export, as landing keeps them."""
    return [
        values | {"cluster": "alder", "source_format": parser.name, "record_index": index,
                  "row_index": number}
        for index, record in enumerate(parse(parser, text, **context))
        for number, (table, values) in enumerate(record.rows)
        if table == "volume_records"
    ]  # fmt: skip


def totals(records: list[dict[str, Any]]) -> dict[tuple[str | None, str, str], int]:
    """Chosen bytes of the day by pod (else the local address), direction and peer."""
    pods = [
        {"cluster": "alder", "namespace": "ml", "pod_name": f"pod-{uid}", "pod_uid": uid,
         "address": address, "start_at": at("07:00"), "created_at": at("07:00"), "date": DAY}
        for uid, address in (("a", A), ("b", B))
    ]  # fmt: skip
    nodes = [
        {"cluster": "alder", "node": name, "addresses": [address],
         "created_at": at("00:00", days=-9)}
        for name, address in (("n1", NODE_1), ("n2", NODE_2))
    ]  # fmt: skip
    with SqlSession(threads=1) as session:
        show(
            session, volume_records=records, pod_intervals=pods, node_states=nodes,
            name_bindings=[],
        )  # fmt: skip
        day = BuildDay(date=DAY, cluster="fleet", clusters=())
        frame = checked(session, "peer_traffic", peer_traffic.build(session, day))
    local = pl.coalesce("pod_uid", "local_address").alias("local")
    found = (
        frame.filter(pl.col("is_chosen"))
        .group_by(local, "direction", "peer_address")
        .agg(pl.col("bytes").sum())
    )
    return {(row[0], row[1], row[2]): row[3] for row in found.iter_rows()}


def flow(
    agent: str, direction: int, source: str, target: str, octets: int, **more: Any
) -> dict[str, Any]:
    hosts = {A: NODE_1, B: NODE_2, NODE_1: NODE_1, NODE_2: NODE_2}
    names = {A: "pod-a", B: "pod-b", NODE_1: "n1", NODE_2: "n2", SERVICE: "store"}
    kinds = {A: "Pod", B: "Pod", NODE_1: "Node", NODE_2: "Node", SERVICE: "Service"}
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
        "Packets": 3, "TimeFlowStartMs": START * 1_000, "TimeFlowEndMs": START * 1_000 + 5_000,
        **ends, **more,
    }  # fmt: skip


def test_netobserv_tells_of_each_packet_once_at_each_end():
    seen = [
        # Both nodes of one exchange: each end's own node counts for it.
        flow(NODE_1, 1, A, B, 1_000),
        flow(NODE_2, 0, A, B, 990),
        # Another connection to the same pod, seen before and behind the service's translation.
        flow(NODE_1, 1, A, SERVICE, 400, SrcPort=40_001),
        flow(NODE_1, 1, A, B, 400, SrcPort=40_001),
        flow(NODE_2, 0, A, B, 400, SrcPort=40_001),
        # The tunnel that carried it.
        flow(NODE_1, 1, NODE_1, NODE_2, 1_600, Proto=17, SrcPort=50_000, DstPort=6081),
        flow(NODE_2, 0, NODE_1, NODE_2, 1_600, Proto=17, SrcPort=50_000, DstPort=6081),
        # Out of the cluster: the pod's packets, and the same behind the node's address.
        flow(NODE_1, 1, A, OUT, 849, XlatSrcAddr=NODE_1, XlatSrcPort=58_527, XlatDstAddr=OUT,
             XlatDstPort=443),
        flow(NODE_1, 1, NODE_1, OUT, 849, SrcPort=58_527),
        # And back: the node's address first, behind it the pod.
        flow(NODE_1, 0, OUT, NODE_1, 5_000, SrcPort=443, DstPort=58_527, XlatDstAddr=A,
             XlatDstPort=40_000, XlatSrcAddr=OUT, XlatSrcPort=443),
        flow(NODE_1, 0, OUT, A, 5_000, SrcPort=443, DstPort=40_000),
        # The node's own traffic has no translation.
        flow(NODE_1, 1, NODE_1, OUT, 70, SrcPort=41_000),
    ]  # fmt: skip
    text = "\n".join(map(json.dumps, seen))
    assert totals(staged(netobserv.PARSER, text)) == {
        ("a", "transmit", B): 1_400,
        ("b", "receive", A): 1_390,
        ("a", "transmit", OUT): 849,
        ("a", "receive", OUT): 5_000,
        (NODE_1, "transmit", OUT): 70,
    }


def test_zeek_tells_a_connection_once_which_is_in_no_window():
    connection = {
        "ts": START, "duration": 7_200.5, "uid": "CHhAvVGS1DHFjwGM9", "proto": "tcp",
        "id.orig_h": A, "id.orig_p": 40_000, "id.resp_h": OUT, "id.resp_p": 443,
        "conn_state": "SF", "history": "ShADadFf", "orig_bytes": 500, "orig_ip_bytes": 750,
        "orig_pkts": 5, "resp_bytes": 9_000, "resp_ip_bytes": 9_400, "resp_pkts": 10,
    }  # fmt: skip
    # A package tells of it after an hour, too, counted from its beginning; only the end counts.
    middle = connection | {"_path": "conn_long", "duration": 3_600, "orig_ip_bytes": 400}
    records = staged(zeek_conn.PARSER, "\n".join(map(json.dumps, (middle, connection))))
    sums = {row["source_address"]: row["bytes"] for row in records}
    assert (len(records), sums) == (2, {A: 750, OUT: 9_400})
    assert totals(records) == {}


def test_antrea_adds_up_its_differences_and_keeps_its_totals_apart():
    def report(end: int, total: int, delta: int, back_total: int, back_delta: int) -> str:
        return (
            f"{START},{START + end},{START + end},{START + end},2,{A},{B},40000,443,6,"
            f"3,{total},3,{delta},3,{back_total},3,{back_delta},pod-a,ml,n1,pod-b,ml,n2,"
            f"{SERVICE},443,store,,,,0,0,,,,0,0,ESTABLISHED,2,'','',0,0,0,0,0,0,"
            f"0f5d3a52-0000-4000-8000-000000000001,{START + end + 2}"
        )

    # Before the third report the node's agent began anew and lost what it had counted.
    reports = [
        report(60, 100, 100, 10, 10),
        report(120, 250, 150, 20, 10),
        report(180, 40, 0, 5, 0),
    ]
    records = staged(antrea.PARSER, "\n".join(reports))
    assert totals(records) == {
        ("a", "transmit", B): 250,
        ("b", "receive", A): 250,
        ("b", "transmit", A): 20,
        ("a", "receive", B): 20,
    }
    # The totals know 40 and 5 more, by the rule of a counter that began anew: 250 + 40, 20 + 5.
    readings = [row["bytes"] for row in records if row["temporality"] == "cumulative"]
    assert readings == [100, 10, 250, 20, 40, 5]


def test_netflow_of_two_routers_on_one_path_counts_once():
    def entry(exporter: str, end: int, **counts: int) -> dict[str, Any]:
        return {
            "@type": "ipfix.entry", "ipfix:srcAddr": exporter, "iana:samplingInterval": 1,
            "iana:flowStartMilliseconds": START * 1_000,
            "iana:flowEndMilliseconds": (START + end) * 1_000,
            "iana:sourceIPv4Address": A, "iana:destinationIPv4Address": OUT,
            "iana:sourceTransportPort": 40_000, "iana:destinationTransportPort": 443,
            "iana:protocolIdentifier": 6,
            **{f"iana:octet{name}Count": count for name, count in counts.items()},
        }  # fmt: skip

    first, second = "198.51.100.1", "198.51.100.2"
    seen = [
        entry(first, 60, Delta=100, Total=100),
        entry(second, 60, Delta=98, Total=98),
        entry(first, 120, Delta=150, Total=250),
        # An exporter that sends only totals: no reading of a counter is added to another.
        entry("198.51.100.3", 60, Total=100),
        entry("198.51.100.3", 120, Total=250),
    ]
    records = staged(netflow_json.PARSER, "\n".join(map(json.dumps, seen)))
    assert totals(records) == {("a", "transmit", OUT): 250}
    readings = [r["bytes"] for r in records if r["reporter"] == "198.51.100.3"]
    assert readings == [100, 250]


def test_one_request_in_the_logs_of_both_sidecars_is_counted_by_who_sent():
    def logged(side: str, client: str, server: str, asked: int, answered: int) -> dict[str, Any]:
        return {
            "start_time": at("08:01").isoformat(), "duration": 30_000, "method": "PUT",
            "response_code": 200, "response_flags": "-", "upstream_cluster": f"{side}|443||store",
            "authority": "store", "downstream_remote_address": client, "upstream_host": server,
            "bytes_received": asked, "bytes_sent": answered,
        }  # fmt: skip

    seen = [
        logged("outbound", f"{A}:40000", f"{B}:443", 1_000, 50),
        logged("inbound", f"{A}:41000", f"{B}:443", 1_000, 50),
    ]
    records = staged(proxy_access_log.PARSER, "\n".join(map(json.dumps, seen)))
    sent = {r["source_address"]: r["bytes"] for r in records if r["reporter"] == "SRC"}
    assert (len(records), sent) == (4, {A: 1_000, B: 50})
    # A request says nothing of when within it the bytes went: they are in no window.
    assert totals(records) == {}

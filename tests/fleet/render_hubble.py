"""Hubble exporter lines, as Cilium 1.19 (alder) and Cilium 1.13 (birch) write them.

1.13 has no event uuid, emitter, trace reason, node labels or cluster name of an endpoint; it does
have `is_reply`, except on drops. Key order is the order of the protobuf declaration.
"""

import json
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from tests.fleet import draw, secrets
from tests.fleet.clock import DAYS, day_end, day_start, to_nano
from tests.fleet.export import ExportFile
from tests.fleet.places import A1, A2, B1, B2, MISSING_HUBBLE
from tests.fleet.world import Connection, Fleet, FlowEvent, Lookup, Loss, Node, Pod

Json = dict[str, Any]
POINTS = {"TO_ENDPOINT": 0, "TO_PROXY": 1, "TO_STACK": 3}
DROPS = {"POLICY_DENY": 181, "POLICY_DENIED": 133}
_TIME = '"time":"{day}T10:00:30'
WORLD: Json = {"identity": 2, "labels": ["reserved:world"]}


def render(fleet: Fleet) -> list[ExportFile]:
    """Return one file per node and day, and the copies that a collector shipped again."""
    files = [
        _file(fleet, node, day)
        for node in fleet.nodes
        for day in DAYS
        if (node.name, day) not in MISSING_HUBBLE
    ]
    whole = next(file for file in files if f"/{DAYS[0]}/{A1.name}/" in file.path)
    files.remove(whole)
    return [*files, *_rotated(whole), _again(files)]


def _new_file(node: Node, day: date, name: str) -> ExportFile:
    return ExportFile(
        path=f"exports/{node.cluster}/hubble/{day}/{node.name}/{name}",
        export=f"{node.cluster}-hubble",
        format="hubble",
        cluster=node.cluster,
        node=node.name,
        landing_date=day,
        stored_ending=".gz" if node.cluster == "alder" else ".zst",
    )


def _file(fleet: Fleet, node: Node, day: date) -> ExportFile:
    file = _new_file(node, day, "events.log")
    lines: list[tuple[datetime, str]] = []
    for connection in fleet.connections:
        for index, event in enumerate(connection.events):
            if event.node == node and day_start(day) <= event.time < day_end(day):
                lines.append((event.time, _flow_line(connection, event, index)))
    for lookup in fleet.lookups:
        if lookup.pod.node == node and day_start(day) <= lookup.time < day_end(day):
            lines += _lookup_lines(fleet, lookup)
    lines += [
        (pod.sandbox_ready, _agent_line(pod))
        for pod in fleet.pods
        if pod.node == node == A2 and pod.run is not None and pod.run.name == "sweep-lr-1"
        if pod.sandbox_ready.date() == day
    ]
    for loss in fleet.losses:
        if loss.node == node and day_start(day) <= loss.time < day_end(day):
            lines.append((loss.time, _loss_line(loss)))
    lines.sort(key=lambda pair: pair[0])
    broken = dict(_broken(node, day))
    for index, (_, line) in enumerate(lines):
        file.accept(line)
        if index in broken:
            kind, make = broken[index]
            file.reject(make(line), kind)
    return file


def _broken(node: Node, day: date) -> Iterator[tuple[int, tuple[str, Any]]]:
    """Yield damage: after how many lines, its reason, and how the line before it was damaged."""
    if node == A1 and day == DAYS[0]:
        yield 9, ("invalid_json", lambda line: line[:211])
        yield (
            20,
            (
                "invalid_json",
                lambda line: '{"flow":{"time":"2026-03-10T08:02:' + line[:90],
            ),
        )
    if node == A2 and day == DAYS[0]:
        yield 5, ("not_an_object", lambda _: '"flow"')
    if node == B1 and day == DAYS[0]:
        yield (
            7,
            (
                "invalid_json",
                lambda _: (
                    '{"flow":{"l7":{"http":{"headers":[{"key":"authorization","value":"Bearer '
                    + secrets.REJECTED_LINE_TOKEN
                ),
            ),
        )


def _rotated(current: ExportFile) -> list[ExportFile]:
    """Split a node's day at 10:00, where the exporter rotated, and copy its beginning.

    The copy was made by an impatient collector at 08:05: it is a prefix of the rotated file, which
    therefore repeats all of its records.
    """
    lines = current.text.splitlines(keepends=True)
    cut = next(index for index, text in enumerate(lines) if _TIME.format(day=DAYS[0]) in text)
    rotated = _new_file(A1, DAYS[0], "events-2026-03-10T10-00-00.000.log")
    rest = _new_file(A1, DAYS[0], "events.log")
    early = _new_file(A1, DAYS[0], "events-2026-03-10T08-05-00.000.log")
    kept = 9
    early.text = "".join(lines[:kept])
    early.accepted = early_count = kept
    rotated.text = "".join(lines[:cut])
    rotated.rejects = [reject for reject in current.rejects if reject.record_index < cut]
    rotated.accepted = cut - len(rotated.rejects) - early_count
    rotated.duplicate = early_count
    rotated.grown_from = early.path
    rest.text = "".join(lines[cut:])
    rest.accepted = len(lines) - cut
    assert len(rotated.rejects) == len(current.rejects)
    return [early, rotated, rest]


def _again(files: list[ExportFile]) -> ExportFile:
    """Return a file of the first day that was shipped once more on the second."""
    first = next(file for file in files if f"/{B2.name}/" in file.path)
    again = _new_file(B2, DAYS[1], "events-2026-03-11T00-10-00.000.log")
    again.text = first.text
    again.same_content_as = first.path
    return again


def _dump(value: Json) -> str:
    text = json.dumps(value, separators=(",", ":"))
    for letter, escaped in (("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e")):
        text = text.replace(letter, escaped)
    return text


def _stamp(moment: datetime, *parts: object) -> str:
    return to_nano(moment, draw.between(1, 999, "nano", moment, *parts))


def _envelope(flow: Json) -> str:
    return _dump({"flow": flow, "node_name": flow["node_name"], "time": flow["time"]})


def _is_new(node: Node) -> bool:
    return node.cluster == "alder"


def _pod_endpoint(pod: Pod, node: Node) -> Json:
    """Return a pod as `node` sees it: the endpoint id and the workload only if it is local."""
    if pod.host_network:
        return _host_endpoint(pod.node, node)
    endpoint: Json = {}
    if pod.node == node:
        endpoint["ID"] = draw.between(100, 4_000, "endpoint", pod.uid)
    endpoint["identity"] = draw.between(10_000, 60_000, "identity", pod.namespace, pod.owner_name)
    if _is_new(node):
        endpoint["cluster_name"] = pod.cluster.name
    endpoint["namespace"] = pod.namespace
    labels = {
        "io.cilium.k8s.policy.cluster": pod.cluster.name,
        "io.cilium.k8s.policy.serviceaccount": pod.service_account,
        "io.kubernetes.pod.namespace": pod.namespace,
    }
    for key in ("app", "app.kubernetes.io/instance"):
        if key in pod.labels:
            labels[key] = pod.labels[key]
    endpoint["labels"] = [f"k8s:{key}={value}" for key, value in sorted(labels.items())]
    endpoint["pod_name"] = pod.name
    if pod.node == node and pod.owner_name:
        kind = "Deployment" if pod.owner_kind == "ReplicaSet" else pod.owner_kind
        endpoint["workloads"] = [{"name": _workload(pod), "kind": kind}]
    return endpoint


def _workload(pod: Pod) -> str:
    """Return the pod's workload; a Deployment's ReplicaSet has a hash behind its name."""
    name = pod.owner_name
    return name.rsplit("-", 1)[0] if pod.owner_kind == "ReplicaSet" else name


def _host_endpoint(host: Node, node: Node) -> Json:
    if host == node:
        return {"identity": 1, "labels": ["reserved:host"]}
    return {"identity": 6, "labels": ["reserved:remote-node"]}


def _head(node: Node, moment: datetime, verdict: str, *parts: object) -> Json:
    flow: Json = {"time": _stamp(moment, *parts)}
    if _is_new(node):
        flow["uuid"] = draw.uuid4("event", moment, *parts)
        flow["emitter"] = {"name": "Hubble", "version": "1.19.2+g3977f6a1"}
    flow["verdict"] = verdict
    return flow


def _tail(node: Node, flow: Json) -> None:
    flow["node_name"] = f"{node.cluster}/{node.name}"
    if _is_new(node):
        flow["node_labels"] = [f"topology.kubernetes.io/zone={node.zone}"]


def _flow_line(connection: Connection, event: FlowEvent, index: int) -> str:
    node = event.node
    verdict = "REDIRECTED" if event.kind == "verdict" else "FORWARDED"
    if _is_denied(event):
        verdict = "DROPPED"
    flow = _head(node, event.time, verdict, connection.client_port, index, node.name)
    if _is_denied(event) and connection.drop_reason is not None:
        flow["drop_reason"] = DROPS[connection.drop_reason]
    _add_ends(flow, connection, event)
    _tail(node, flow)
    is_local = connection.client is not None and connection.client.node == node
    if connection.flow_names and is_local:
        side = "source_names" if event.is_reply else "destination_names"
        flow[side] = list(connection.flow_names)
    if event.http is not None:
        flow["l7"] = _http(event.http, event.is_reply)
    if event.is_reply:
        flow["reply"] = True
    flow["event_type"] = _event_type(connection, event)
    if connection.service is not None:
        namespace, name = connection.service
        side = "source_service" if event.is_reply else "destination_service"
        flow[side] = {"name": name, "namespace": namespace}
    flow["traffic_direction"] = "EGRESS" if is_local else "INGRESS"
    if event.kind in {"verdict", "verdict_denied"}:
        flow["policy_match_type"] = 2
    if event.kind == "trace":
        _add_trace(flow, event)
    if _is_denied(event):
        flow["drop_reason_desc"] = connection.drop_reason
    else:
        flow["is_reply"] = event.is_reply
    _add_interface(flow, event)
    flow["Summary"] = _summary(event)
    _add_policies(flow, connection, event)
    return _envelope(flow)


def _is_denied(event: FlowEvent) -> bool:
    return event.kind in {"drop", "verdict_denied"}


def _add_ends(flow: Json, connection: Connection, event: FlowEvent) -> None:
    """Add addresses, ports and endpoints, turned round for a reply."""
    node = event.node
    client = (
        _pod_endpoint(connection.client, node)
        if connection.client is not None
        else _host_endpoint(connection.client_node, node)
    )
    server = dict(WORLD) if connection.server is None else _pod_endpoint(connection.server, node)
    ends = [
        (connection.client_address, connection.client_port, client),
        (connection.server_address, connection.server_port, server),
    ]
    if event.is_reply:
        ends.reverse()
    (source, source_port, source_end), (target, target_port, target_end) = ends
    if event.http is None:
        flow["ethernet"] = {
            "source": draw.mac(node.name, source),
            "destination": draw.mac(node.name, target),
        }
    flow["IP"] = {
        "source": source,
        "destination": target,
        "ipVersion": "IPv6" if ":" in source else "IPv4",
    }
    ports: Json = {"source_port": source_port, "destination_port": target_port}
    if event.flags:
        order = ("FIN", "SYN", "RST", "PSH", "ACK")
        ports["flags"] = {flag: True for flag in order if flag in event.flags}
    flow["l4"] = {connection.transport: ports}
    flow["source"] = source_end
    flow["destination"] = target_end
    flow["Type"] = "L3_L4" if event.http is None else "L7"


def _add_trace(flow: Json, event: FlowEvent) -> None:
    flow["trace_observation_point"] = event.point
    if _is_new(event.node) and event.reason is not None:
        flow["trace_reason"] = event.reason


def _add_interface(flow: Json, event: FlowEvent) -> None:
    if event.point == "TO_PROXY":
        flow["proxy_port"] = 14_213
    if event.point == "TO_ENDPOINT":
        target = flow["IP"]["destination"]
        number = draw.between(20, 90, "interface", event.node.name, target)
        name = f"lxc{draw.hex_digits(12, event.node.name, target)}"
        flow["interface"] = {"index": number, "name": name}


def _add_policies(flow: Json, connection: Connection, event: FlowEvent) -> None:
    """Name the policy; a default deny has none to name."""
    name = "allow-mirror" if event.kind == "verdict" else connection.policy
    if event.kind not in {"verdict", "verdict_denied"} or name is None:
        return
    key = "egress_allowed_by" if event.kind == "verdict" else "egress_denied_by"
    flow[key] = [{"name": name, "namespace": "ml", "revision": "6", "kind": "CiliumNetworkPolicy"}]


def _event_type(connection: Connection, event: FlowEvent) -> Json:
    if event.kind.startswith("l7"):
        return {"type": 129}
    if event.kind == "drop":
        assert connection.drop_reason is not None
        return {"type": 1, "sub_type": DROPS[connection.drop_reason]}
    if event.kind in {"verdict", "verdict_denied"}:
        return {"type": 5}
    sub_type = POINTS[event.point]
    return {"type": 4, "sub_type": sub_type} if sub_type else {"type": 4}


def _http(exchange: Json, is_reply: bool) -> Json:
    body: Json = {
        "method": exchange["method"],
        "url": f"http://{exchange['host']}{exchange['path']}",
        "protocol": "HTTP/1.1",
        "headers": [
            {"key": ":scheme", "value": "http"},
            {"key": "Authorization", "value": f"Bearer {secrets.HTTP_AUTHORIZATION}"},
            {"key": "Cookie", "value": f"session={secrets.HTTP_COOKIE}"},
            {"key": "User-Agent", "value": "pip/24.0"},
        ],
    }
    if is_reply:
        answer = {"code": exchange["code"], **body}
        return {"type": "RESPONSE", "latency_ns": "40100000", "http": answer}
    return {"type": "REQUEST", "http": body}


def _summary(event: FlowEvent) -> str:
    if event.http is not None:
        return f"HTTP/1.1 {event.http['method']} http://{event.http['host']}{event.http['path']}"
    if event.flags:
        return f"TCP Flags: {', '.join(event.flags)}"
    return "UDP"


def _lookup_lines(fleet: Fleet, lookup: Lookup) -> list[tuple[datetime, str]]:
    """Return a look-up's packets, or its two L7 messages where the DNS proxy saw it."""
    pod, node = lookup.pod, lookup.pod.node
    resolver = next(
        other
        for other in fleet.pods
        if other.cluster == pod.cluster and other.owner_name.startswith("coredns")
    )
    if not lookup.by_proxy:
        return []
    lines = []
    for is_reply, moment in ((False, lookup.time), (True, lookup.answered)):
        flow = _head(node, moment, "FORWARDED", lookup.asked_as, lookup.type, is_reply)
        ends = [
            (pod.address, lookup.port, _pod_endpoint(pod, node)),
            (resolver.address, 53, _pod_endpoint(resolver, node)),
        ]
        if is_reply:
            ends.reverse()
        (source, source_port, source_end), (target, target_port, target_end) = ends
        flow["IP"] = {"source": source, "destination": target, "ipVersion": "IPv4"}
        flow["l4"] = {"UDP": {"source_port": source_port, "destination_port": target_port}}
        flow["source"] = source_end
        flow["destination"] = target_end
        flow["Type"] = "L7"
        _tail(node, flow)
        flow["l7"] = _dns(lookup, is_reply)
        if is_reply:
            flow["reply"] = True
        flow["event_type"] = {"type": 129}
        flow["traffic_direction"] = "EGRESS"
        flow["is_reply"] = is_reply
        word = "Answer" if is_reply else "Query"
        flow["Summary"] = f"DNS {word} {lookup.asked_as}. {lookup.type}"
        lines.append((moment, _envelope(flow)))
    return lines


def _dns(lookup: Lookup, is_reply: bool) -> Json:
    dns: Json = {"query": f"{lookup.asked_as}."}
    if is_reply:
        addresses = [item.data for item in lookup.answers if item.type in {"A", "AAAA"}]
        chain = [item.data for item in lookup.answers if item.type == "CNAME"]
        if addresses:
            dns["ips"] = addresses
        dns["ttl"] = min((item.ttl for item in lookup.answers), default=4_294_967_295)
        if chain:
            dns["cnames"] = [f"{name}." for name in chain]
    dns["observation_source"] = "proxy"
    if is_reply and lookup.rcode == "NXDOMAIN":
        dns["rcode"] = 3
    dns["qtypes"] = [lookup.type]
    if is_reply and lookup.answers:
        dns["rrtypes"] = [item.type for item in lookup.answers]
    return {"type": "RESPONSE" if is_reply else "REQUEST", "dns": dns}


def _agent_line(pod: Pod) -> str:
    """Return the agent's own note that an address now belongs to a pod."""
    body = {
        "type": "IPCACHE_UPSERTED",
        "ipcache_update": {
            "cidr": f"{pod.address}/32",
            "identity": draw.between(10_000, 60_000, "identity", pod.namespace, pod.owner_name),
            "host_ip": pod.node.address,
            "encrypt_key": 0,
            "namespace": pod.namespace,
            "pod_name": pod.name,
        },
    }
    time = to_nano(pod.sandbox_ready, 0)
    return _dump({"agent_event": body, "node_name": pod.node.name, "time": time})


def _loss_line(loss: Loss) -> str:
    body: Json = {"source": loss.source, "num_events_lost": str(loss.count), "cpu": 0}
    if loss.start is not None and loss.end is not None:
        body["first"] = to_nano(loss.start, 0)
        body["last"] = to_nano(loss.end, 0)
    return _dump({"lost_events": body, "node_name": loss.node.name, "time": to_nano(loss.time, 0)})

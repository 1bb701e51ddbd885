"""The shapes of Hubble export lines of a busy cluster, as text; who calls draws what varies.

Keys, their order and lengths are those of Cilium 1.19's exporter with JSON output.
"""

import json
from dataclasses import dataclass

DNS_NO_ANSWER = '"ttl":4294967295,'
FLAGS = (
    ('{"SYN":true}', "TCP Flags: SYN"),
    ('{"ACK":true}', "TCP Flags: ACK"),
    ('{"PSH":true,"ACK":true}', "TCP Flags: ACK, PSH"),
    ('{"FIN":true,"ACK":true}', "TCP Flags: ACK, FIN"),
    ('{"SYN":true,"ACK":true}', "TCP Flags: SYN, ACK"),
)
WORLD = '{"identity":16777217,"labels":["cidr:203.0.113.0/24","reserved:world"]}'


@dataclass(frozen=True)
class Body:
    """What differs between kinds of flows.

    Attributes:
        head: From the verdict to the layers of the packet.
        ends: Both endpoints and the type.
        tail: All behind the node's labels.
    """

    head: str
    ends: str
    tail: str


class NodeLines:
    """Writes the lines of one node of cluster `alder`."""

    def __init__(self, node: str) -> None:
        self._node = node
        labels = (
            "beta.kubernetes.io/arch=amd64", "beta.kubernetes.io/os=linux",
            "kubernetes.io/arch=amd64", f"kubernetes.io/hostname={node}",
            "node.kubernetes.io/instance-type=m6i.2xlarge",
            "topology.kubernetes.io/region=us-east-1", "topology.kubernetes.io/zone=us-east-1a",
        )  # fmt: skip
        self._tail = f'"node_name":"alder/{node}","node_labels":{compact(list(labels))}'

    def other(self, kind: str, body: str, at: str) -> str:
        """A line that is no flow."""
        return f'{{"{kind}":{body},"node_name":"{self._node}","time":"{at}"}}'

    def flow(self, at: str, uuid: str, body: Body) -> str:
        """The line of a flow."""
        return (
            f'{{"flow":{{"time":"{at}","uuid":"{uuid}",'
            f'"emitter":{{"name":"Hubble","version":"1.19.2+g3977f6a1"}},{body.head},{body.ends},'
            f'{self._tail},{body.tail}}},"node_name":"alder/{self._node}","time":"{at}"}}'
        )


def compact(value: object) -> str:
    """JSON without blanks."""
    return json.dumps(value, separators=(",", ":"))


RESOLVER = compact(
    {
        "identity": 104,
        "cluster_name": "alder",
        "namespace": "kube-system",
        "labels": ["k8s:k8s-app=kube-dns"],
        "pod_name": "coredns-6f6b679f8f-x2x2x",
    }
)


def endpoint(
    job: str, team: str, pod_name: str, identity: int, endpoint_id: int | None = None
) -> str:
    """A pod's end of a flow; one that is local to the node has an id and names its workload."""
    is_local = endpoint_id is not None
    return compact(
        {
            **({"ID": endpoint_id} if is_local else {}),
            "identity": identity,
            "cluster_name": "alder",
            "namespace": team,
            "labels": [
                f"k8s:app={job}",
                f"k8s:app.kubernetes.io/instance={job}",
                "k8s:app.kubernetes.io/managed-by=polyaxon",
                f"k8s:io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name={team}",
                "k8s:io.cilium.k8s.policy.cluster=alder",
                "k8s:io.cilium.k8s.policy.serviceaccount=runner",
                f"k8s:io.kubernetes.pod.namespace={team}",
            ],
            "pod_name": pod_name,
            **({"workloads": [{"name": job, "kind": "Job"}]} if is_local else {}),
        }
    )


def tcp(source: object, destination: object, flags: str) -> str:
    """Ports and flags of a TCP packet."""
    return f'{{"TCP":{{"source_port":{source},"destination_port":{destination},"flags":{flags}}}}}'


def udp(source: object, destination: object) -> str:
    """Ports of a UDP packet."""
    return f'{{"UDP":{{"source_port":{source},"destination_port":{destination}}}}}'


def packet(
    addresses: tuple[str, str],
    ends: tuple[str, str],
    l4: str,
    summary: str,
    *,
    mac: str = "02:00:00:00:00:01",
    names: tuple[str, ...] = (),
    is_reply: bool = False,
    is_dropped: bool = False,
) -> Body:
    """A packet at one trace point, or dropped by a policy."""
    verdict, event, drop = '"verdict":"FORWARDED"', '{"type":4,"sub_type":3}', ""
    trace = '"trace_observation_point":"TO_STACK","trace_reason":"ESTABLISHED",'
    if is_dropped:
        verdict = '"verdict":"DROPPED","drop_reason":133'
        event, trace = '{"type":5}', ""
        drop = '"drop_reason_desc":"POLICY_DENIED",'
    family = "IPv6" if ":" in addresses[0] else "IPv4"
    named = f'"destination_names":{compact(list(names))},' if names else ""
    return Body(
        f'{verdict},"ethernet":{{"source":"{mac}","destination":"02:00:00:00:01:01"}},'
        f'"IP":{{"source":"{addresses[0]}","destination":"{addresses[1]}","ipVersion":"{family}"}}'
        f',"l4":{l4}',
        f'"source":{ends[0]},"destination":{ends[1]},"Type":"L3_L4"',
        f'{named}"event_type":{event},"traffic_direction":"EGRESS",{trace}{drop}'
        f'"is_reply":{"true" if is_reply else "false"},"Summary":"{summary}"',
    )


def dns(
    address: str, port: object, pod: str, query: str, answer: str | None, *, is_found: bool = True
) -> Body:
    """A request to the resolver (no answer), or its response with what stands for the answer."""
    ends = [(address, port, pod), ("10.0.0.10", 53, RESOLVER)]
    body = f'{{"query":"{query}.","observation_source":"proxy","qtypes":["A"]}}'
    if answer is not None:
        ends.reverse()
        code = "" if is_found else '"rcode":3,'
        body = (
            f'{{"query":"{query}.",{answer}"observation_source":"proxy",{code}'
            '"qtypes":["A"],"rrtypes":["CNAME","A"]}'
        )
    (source, source_port, one), (target, target_port, two) = ends
    kind = "REQUEST" if answer is None else "RESPONSE"
    return Body(
        f'"verdict":"FORWARDED","IP":{{"source":"{source}","destination":"{target}",'
        f'"ipVersion":"IPv4"}},"l4":{udp(source_port, target_port)}',
        f'"source":{one},"destination":{two},"Type":"L7"',
        f'"l7":{{"type":"{kind}","dns":{body}}},"event_type":{{"type":129}},'
        f'"traffic_direction":"EGRESS","is_reply":{"false" if answer is None else "true"},'
        f'"Summary":"DNS {kind} {query}. A"',
    )


def http(address: str, port: object, pod: str, path: str, latency: int) -> Body:
    """The response of a mirror of packages at 203.0.113.9."""
    return Body(
        f'"verdict":"FORWARDED","IP":{{"source":"203.0.113.9","destination":"{address}",'
        f'"ipVersion":"IPv4"}},"l4":{{"TCP":{{"source_port":80,"destination_port":{port}}}}}',
        f'"source":{{"identity":2,"labels":["reserved:world"]}},"destination":{pod},"Type":"L7"',
        f'"l7":{{"type":"RESPONSE","latency_ns":"{latency}","http":'
        f'{{"code":200,"method":"GET","url":"http://mirror.example.com{path}?token=x",'
        '"protocol":"HTTP/1.1","headers":[{"key":"User-Agent","value":"pip/24.0"}]}},'
        '"event_type":{"type":129},"traffic_direction":"EGRESS","is_reply":true',
    )

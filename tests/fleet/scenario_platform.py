"""What runs on every node whatever the ML teams do: resolvers, agents, probes, lost events.

The kubelet's probes stand near both edges of each day, so that a node's export visibly begins and
ends there; they belong to no connection.
"""

from tests.fleet.clock import DAYS, at, day_start, seconds
from tests.fleet.places import A1, A2, A3, B1, B2, MISSING_HUBBLE
from tests.fleet.story import Story
from tests.fleet.world import Loss, Node, Pod

CREATED = at("01 00:00:10")
AGENT_ADDRESSES = {
    A1: "10.20.1.20",
    A2: "10.20.1.120",
    A3: "10.20.2.20",
    B1: "10.30.1.20",
    B2: "10.30.2.20",
}


def play(story: Story) -> None:
    """Add the platform's pods and their traffic."""
    for node, address in AGENT_ADDRESSES.items():
        agent = story.plain_pod(
            f"node-agent-{node.address.split('.')[-1]}x7",
            node,
            address,
            CREATED,
            namespace="kube-system",
            app="node-agent",
            image="registry.example.com/platform/node-agent:3.1",
        )
        _probe_edges(story, agent, node)
        story.plain_pod(
            f"node-exporter-{node.address.split('.')[-1]}q2",
            node,
            node.address,
            CREATED,
            namespace="kube-system",
            app="node-exporter",
            image="registry.example.com/platform/node-exporter:1.8",
            host_network=True,
        )
    story.plain_pod(
        "coredns-5d78c9869d-7xk2p",
        A1,
        "10.20.1.5",
        CREATED,
        namespace="kube-system",
        app="coredns",
        image="registry.example.com/platform/coredns:1.11.1",
        owner=("ReplicaSet", "coredns-5d78c9869d"),
    )
    story.plain_pod(
        "coredns-6f4bd9c5b8-m2w8d",
        B1,
        "10.30.1.5",
        CREATED,
        namespace="kube-system",
        app="coredns",
        image="registry.example.com/platform/coredns:1.9.3",
        owner=("ReplicaSet", "coredns-6f4bd9c5b8"),
    )
    first_agent = next(pod for pod in story.fleet.pods if pod.node == A1)
    story.probe(first_agent, 8181, at("10 10:00:30.5"))
    story.fleet.losses += [
        Loss(
            A2,
            at("10 10:06:02"),
            "OBSERVER_EVENTS_QUEUE",
            42,
            at("10 10:06:00"),
            at("10 10:06:02"),
        ),
        Loss(A1, at("11 09:05:10"), "PERF_EVENT_RING_BUFFER", 3, None, None),
    ]


def _probe_edges(story: Story, agent: Pod, node: Node) -> None:
    for day in DAYS:
        if (node.name, day) in MISSING_HUBBLE:
            continue
        for offset in (5.25, 43_200.5, 86_395.75):
            story.probe(agent, 8181, day_start(day) + seconds(offset))

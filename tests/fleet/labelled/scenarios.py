"""What can go wrong in a fleet, each a switch of its own."""

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True)
class Scenarios:
    """Switches; all on by default.

    Attributes:
        address_reuse: Addresses are given again after 0 to 90 s, else after minutes.
        completed_pods: Finished pods stay in the API, still showing the address they had.
        returning_names: A retried replica has its predecessor's name and a new UID.
        resumed_runs: A run goes on hours later, in a new pod.
        distributed_runs: Several replicas at a time.
        cleaner_pods: Pods that clean up carry the run's label.
        midnight: Pods, connections and runs live across midnight.
        clock_skew: Clocks of two nodes differ by up to 2 s.
        host_network: Pods that have their node's address.
        kubelet_pulls: Nodes pull images.
        nat: Requests of one cluster's runs leave through one address.
        proxied_flows: Packets that leave a proxy have the router's address and the pod's labels.
        services: Connections to a service's address show their back end.
        ipv6: Pods of one cluster have two addresses.
        shared_addresses: Several names on one address.
        neighbour_names: Other pods of the node ask for a name of the same address.
        long_connections: Connections live longer than the answer that named their peer.
        stale_answers: Connections begin behind the life of the last answer.
        node_cache: A cache on the node asks the resolver in the pods' place.
        silent_resolver: A resolver's log without answers.
        missing_nodes: Nodes without a file for a whole day.
        rotation_gaps: Files of a node between which events are missing.
        lost_events: Intervals in which events were lost, and said to be.
        aggregation: Repeated packets of one connection are told every 5 s only.
        aggregated_exports: A node's exporter counts flows for hours instead of telling them.
        masked_exports: A node's exporter leaves time, node and UUID out for hours.
        both_vantages: Both nodes tell of a connection.
        missing_pods: Pods of which no export tells.
        missing_states: Single states of pods that no export tells.
        late_files: Files that come a day later.
        copied_files: Files that come twice.
        uid_column: Flows of some nodes state the pod's UID.
        wrong_uids: A few of those are the predecessor's.
        nameless_events: Events without a pod name, and nodes that mask it.
        reused_ports: A successor dials the same peer from the same address and port.
        refused: Connections that a policy drops, with retries.
        counters: Byte counters whose series name a pod by namespace and name only.
        volumes: Flow records of pods' addresses, at the edges of their lives too.
        containers: Pods with init containers, sidecars and ephemeral containers, all of which act.
    """

    address_reuse: bool = True
    completed_pods: bool = True
    returning_names: bool = True
    resumed_runs: bool = True
    distributed_runs: bool = True
    cleaner_pods: bool = True
    midnight: bool = True
    clock_skew: bool = True
    host_network: bool = True
    kubelet_pulls: bool = True
    nat: bool = True
    proxied_flows: bool = True
    services: bool = True
    ipv6: bool = True
    shared_addresses: bool = True
    neighbour_names: bool = True
    long_connections: bool = True
    stale_answers: bool = True
    node_cache: bool = True
    silent_resolver: bool = True
    missing_nodes: bool = True
    rotation_gaps: bool = True
    lost_events: bool = True
    aggregation: bool = True
    aggregated_exports: bool = True
    masked_exports: bool = True
    both_vantages: bool = True
    missing_pods: bool = True
    missing_states: bool = True
    late_files: bool = True
    copied_files: bool = True
    uid_column: bool = True
    wrong_uids: bool = True
    nameless_events: bool = True
    reused_ports: bool = True
    refused: bool = True
    counters: bool = True
    volumes: bool = True
    containers: bool = True

    def without(self, *names: str) -> "Scenarios":
        """The same with some switches off."""
        return replace(self, **dict.fromkeys(names, False))

    @classmethod
    def only(cls, *names: str) -> "Scenarios":
        """All switches off but some."""
        return cls(**{field.name: field.name in names for field in fields(cls)})


GAPS = (
    "missing_nodes",
    "rotation_gaps",
    "lost_events",
    "aggregated_exports",
    "masked_exports",
)
"""Switches that take events away from coverage; a fleet without them is clean."""

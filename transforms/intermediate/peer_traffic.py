"""Bytes between an address of the fleet and a peer, from records over intervals.

**Sides.** A record is read from each end that is a pod's or a node's address (the address in the
packet before the interface's): the source's side transmits, the destination's receives. If neither
end is known, the side is the interface's own (`egress`: the source), else the only private
address, else the source; such rows are of no pod. Both instants of the interval are matched; two
pods over one interval are `ambiguous`, unless one of them is the only one that both allow.
AWS shows the interface's own address for every packet of the node where the packet's is not
logged: such rows are `shared_address`, not the node's. So is an address that the settings name as
shared (NAT, proxy) where no pod holds it; `gateway` is then `nat`. Where the peer is such an
address, `gateway` is `proxy` if it was asked (its port is the lower one), and `nat` if it asked.
Candidates are the pods of an ambiguous address, and those that lived behind a shared one in the
window.

**Windows.** What moved over intervals (`volume_intervals`: differences, totals of connections, what
counters and running totals grew by) is cut by the cumulative floor, so that windows add up to it.
`min_bytes` are those of intervals wholly inside a window, `max_bytes` those of all that overlap.

**One observer.** Records of one exchange from several interfaces are the same bytes. Per exchange
and UTC hour one observer is chosen: not a gateway's interface, the side's own interface (`egress`
where it sends), most records, smallest name. Both ends' proxies name one exchange differently, as
each opens connections of its own: where an end's own proxy tells, no other's records count for that
end. Per pod (or address), hour and direction one source is chosen: unsampled before sampled, then
format. The rest is kept with `is_chosen` false, and so is what is scaled in an unknown way, and
gateways' own records where no end is known (reference/counters.md 3.4). Left out are records that
`repeats` says are in others, of two records of one observer before and after its own translation
the one after it, and what `volume_findings` holds back.

**Samples.** `bytes` are as observed and `estimated_bytes` is what they stand for: times the
interval, or what the source made of them. The error of one packet in N is known by the squares of
the sizes of those observed, sum s², as 1.96 * sqrt(sum N (N - 1) s²) / estimate
(reference/counters.md 3.6). Records do not tell sizes: `min_sampling_error_ratio` takes those of a
record to be equal, `sampling_error_ratio` the most that there can be, 64 KiB times the bytes. Each
record has its own N. Whole flows that were sampled, and what the source estimated, have no error.

**Names and distance.** A name that held when the exchange began holds while it goes on (gaps up to
600 s); an address without one has the provider's service that the record or the provider's own list
of networks names (`address_range`). Distance: where both ends lie, by their nodes' labels; else by
the interface that observed an address as its machine's own; else by the cluster's subnets in the
settings; the region also by the settings, where no node of the cluster says another. Zones compare
by id, by name only in one account, and an id with a name only by the settings' list of both. Else
the path that AWS states: gateway endpoint and intra-region peering are `same_region`, inter-region
peering `cross_region`. Else the providers' lists: a network of another provider is `internet`, one
of the cluster's own lies in the region that it is listed for. An internet gateway is `internet`
only where the peer is public and no service of the provider's, by the record or the list.
Everything else is `unknown`: a private address that nothing places is never assumed to be near. The
answer to traffic whose path is known has that path. Interface endpoints are known by their
addresses in the settings, or by their own names.
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD, BuildDay
from transforms.intermediate.cluster_places import show_places
from transforms.intermediate.cluster_regions import cluster_regions
from transforms.intermediate.name_match import match_names
from transforms.intermediate.nat_addresses import nat_addresses
from transforms.intermediate.pod_match import match_pods
from transforms.intermediate.range_match import match_ranges
from transforms.intermediate.volume_intervals import HELPERS, find_intervals
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
MOST_CANDIDATES = 100


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `peer_traffic` of one day."""
    values = {
        "start_us": day.start_us,
        "end_us": day.end_us,
        "guard_us": SKEW_GUARD // timedelta(microseconds=1),
        "most": MOST_CANDIDATES,
    }
    show_places(session, day)
    session.register("cluster_regions", cluster_regions(day))
    session.register("nat_addresses", nat_addresses(day))
    helpers = (
        "peer_addresses", "peer_observers", "peer_records", "peer_instants", "match_input",
        "match_output", "peer_holders", "peer_held", "peer_ended", "peer_ends", "peer_sides",
        "node_places", "agreed_regions", "peer_places", "range_input", "range_output",
        "listed_providers", "name_input", "name_output", "well_known_addresses", "peer_relations",
        "peer_windows", "peer_shared", *HELPERS,
    )  # fmt: skip
    with session.dropped(*helpers):
        with session.dropped("peer_records", "peer_instants", "match_input", "match_output"):
            find_intervals(session, day)
            session.create("peer_addresses", PACKAGE, "peer_addresses", values)
            session.create("peer_observers", PACKAGE, "peer_observers", values)
            session.create("peer_records", PACKAGE, "peer_records", values)
            session.create("peer_instants", PACKAGE, "peer_instants")
            session.create("match_input", PACKAGE, "peer_match_input")
            match_pods(session, day)
            session.create("peer_holders", PACKAGE, "peer_holders")
            session.create("peer_held", PACKAGE, "peer_held")
            session.create("peer_ended", PACKAGE, "peer_ended")
        with session.dropped("peer_held", "peer_ended"):
            session.create("peer_ends", PACKAGE, "peer_ends")
            session.create("peer_sides", PACKAGE, "peer_sides")
        session.create("node_places", PACKAGE, "node_places")
        session.create("agreed_regions", PACKAGE, "agreed_regions")
        session.create("peer_places", PACKAGE, "peer_places", values)
        session.create("range_input", PACKAGE, "peer_range_input")
        match_ranges(session)
        session.create("listed_providers", PACKAGE, "listed_providers")
        session.create("name_input", PACKAGE, "peer_name_input")
        match_names(session)
        session.create("well_known_addresses", PACKAGE, "well_known_addresses")
        session.create("peer_relations", PACKAGE, "peer_relations")
        session.create("peer_windows", PACKAGE, "peer_windows", values)
        session.create("peer_shared", PACKAGE, "peer_shared", values)
        with session.dropped("peer_sides"):
            return session.create("peer_traffic", PACKAGE, "peer_traffic", values)


TRANSFORM = Transform(
    table="peer_traffic",
    reads=(
        Reads("volume_records", "counters", ahead=True),
        Reads("pod_intervals"),
        Reads("node_states", "pods"),
        Reads("name_bindings", "names"),
        Reads("address_ranges"),
    ),
    rows_from=("volume_records",),
    build=build,
    version=11,
)

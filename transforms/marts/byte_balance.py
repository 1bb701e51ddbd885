"""byte_balance: do the sources agree on how much each pod moved, and what does no row explain?

Per pod, direction and hour, side by side, never added: the pod's interfaces, the flow records of
the chosen source, the request logs of storage and of image registries. **One is chosen**
(definitions.md 39): the interface if it has no gap and no reset hid bytes; else unsampled flow
records; else the larger of interface and both logs together, which saw different requests; else
the sampled records' estimate. What the node moved for the pod (image pulls whose bytes are known)
passes no interface of the pod and is added to whatever is chosen, as the marts show it too.

**Unattributed** is what is chosen less what rows of run_dependency_days show of the same pod,
direction and hour: traffic that was served to others, headers, retransmissions, look-ups, peers
that no record names. It is signed, and is taken before those rows are summed up over the day, so
that they and it add up to what is chosen, exactly. Bytes of no pod have rows of their own by the
address they are known by; `run_uuid` is null there.

**Bounds.** Interfaces: increments wholly inside the hour, and overlapping it. Flow records: the
same of their windows of five minutes. Logs: transfers wholly inside, and overlapping; a log stamps
all bytes at one instant, so that the best estimate spreads them over the transfer's time.

**Violations.** A lower layer never sees more than the one above it. Compared is what is certain
below with what is possible above, in an hour or the whole day, of records wholly inside (2 s for
clocks; requests without a logged duration lie inside no hour) and inside times in which the pod's
one interface was counted without a break. Bytes that hold more of each packet than those above them
(frames below packets) are not compared. A violation says that a source is wrong, matched to the
wrong pod, or incomplete; findings read it.

RDMA, EFA and InfiniBand pass no interface that anything counts: `rdma` says `not_observed` for pods
that asked for such a device, and `max_chosen_bytes` is open.
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD, BuildDay
from transforms.intermediate.pod_match import match_pods
from transforms.intermediate.traffic_windows import HOUR, sum_windows
from transforms.marts.row_coverage import cover_rows_of_day
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
EVIDENCE = (
    "dependency_connections",
    "dependency_sides",
    "dependency_flows",
    "dependency_objects",
    "dependency_pulls",
    "dependency_endpoints",
    "dependency_hosts",
    "dependency_contacts",
    "dependency_explained",
    "dependency_owners",
    "dependency_standing",
)
"""Steps of run_dependency_days behind which its bytes are known by hour."""
STEPS = (
    "balance_uses",
    "balance_flows",
    "balance_growth",
    "balance_interfaces",
    "balance_islands",
    "balance_lower",
    "balance_violations",
    "balance_pods",
    "runs_of_day",
)
MATCHED = ("balance_asked", "match_input", "match_output", "balance_registries")


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the rows of one day, of all clusters."""
    values = {
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "start_us": day.start_us,
        "end_us": day.end_us,
        "guard_us": SKEW_GUARD // timedelta(microseconds=1),
    }
    with session.dropped(*EVIDENCE, *STEPS, *MATCHED, "traffic_windows"):
        sum_windows(session, day, HOUR)
        session.create("balance_asked", PACKAGE, "balance_asked", values)
        session.create("match_input", PACKAGE, "balance_match_input")
        match_pods(session, day)
        session.create("balance_registries", PACKAGE, "balance_registries")
        for step in (*EVIDENCE, *STEPS):
            session.create(step, PACKAGE, step, values)
        session.create("mart_rows", PACKAGE, "byte_balance", values)
    return cover_rows_of_day(session)


TRANSFORM = Transform(
    table="byte_balance",
    reads=(
        Reads("connections"),
        Reads("object_transfers"),
        Reads("peer_traffic"),
        Reads("pod_traffic"),
        Reads("counter_increments"),
        Reads("image_pulls"),
        Reads("registry_requests"),
        Reads("pod_intervals", "pods"),
        Reads("node_states", "pods"),
        Reads("container_states", "pods"),
        Reads("runs"),
        Reads("run_coverage_days"),
        Reads("endpoints"),
    ),
    rows_from=(
        "connections",
        "object_transfers",
        "peer_traffic",
        "pod_traffic",
        "counter_increments",
        "image_pulls",
        "registry_requests",
    ),
    build=build,
    version=3,
)

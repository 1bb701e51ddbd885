"""pod_intervals: which pod held which address, when, and of which run it is.

**States.** Read are the states of the cluster whose life, [creation, observed_at), meets the
look-back `pods` and the day. A state speaks for all of that time, also where it was observed after
the day: its dated facts (creation, start, sandbox, finish, deletion) count wherever they fall, and
an interval is worked out from all of them and then cut at the day's end, so that the rows of
successive days are pieces of one interval. Its undated facts (node, labels, phase, …) are taken per
fact from the newest state of the day, else from the earliest later one; a phase observed after the
day counts only if it is an end whose time lies in the day. A state was seen no earlier than the
newest fact that it states. Ties are broken by content (deleted, newer facts, terminal, record id),
so the order of files has no say.

**Start**, best proof first: `sandbox_ready` (the earliest seen with that address), `start_time`,
`agent_event` (Cilium's agents told the address before any state did), `first_state`. What an
earlier day published from states that this day's look-back does not reach counts too, so that an
interval keeps its id over many midnights. An address that replaces another one of its family on the
same pod starts at the new sandbox, else at its first state.

**End**, in this order: `sandbox_teardown` (also where a later address of the pod proves it),
`finished` (last container of a pod that is terminal or being deleted), `deleted` (the watch's time;
without one of its own the deletion timestamp, unless the pod was seen alive later), `last_seen` at
the first sight of a terminal pod that states no time. Else the end is assumed: `address_reused` at
the next start of another pod on that address (never for host-network pods), told by its states or,
where no export knows it, by flows that name another pod there; `last_seen` after the last sight
alive plus the look-back. Where no state tells an end, or only the first sight of a pod that was
dead, agents may: `agent_event`, the address was taken from the pod's name. What ends after the day
is `open`.

**Agents** name a pod by namespace and name. They speak of a pod that states know, at a time at
which that pod is known to have the name (pod_interval_agents.sql); a pod without UID is never made
up. A pod whose states show no address has the one that they tell. Agents' events of endpoints state
no address, and say nothing here.

A pod has one row per address that it showed; one that showed none by the day's end has a row with a
null address from its creation. Rows that only touch the day with an interval of no length stay.

**GPUs** are those of the pod's effective request and of its resource claims (dynamic resource
allocation), as allocated to it, else as asked for by the claim or its template; a claim that tells
no number leaves the pod's unknown. A claim that pods share is each one's: how they share is not
told.

**Run**: from the state with the best rung; states that name different runs are a `conflict`, and
cleaner pods have no run. **Attempt**: definitions.md 29, see pod_interval_attempts.sql;
`attempt_basis` names the days back to the run's creation (`to DAY`: the creation is not known)
that are not built.
"""

from datetime import date, timedelta

from transforms.day import SKEW_GUARD, BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
STEPS = (
    "pod_interval_states",
    "pod_interval_pods",
    "pod_interval_claims",
    "pod_interval_history",
    "pod_interval_agents",
    "pod_interval_renamed",
    "pod_interval_addresses",
    "pod_interval_attempts",
    "pod_interval_nodes",
    "pod_interval_gaps",
)
FIRST_DATE = date(1, 1, 1)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the pod intervals of one cluster and day."""
    gaps = unbuilt(day)
    values = {
        "cluster": day.cluster,
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "read_until": day.read_until,
        "span_start": day.start_at - day.look_back.pods,
        "look_back": day.look_back.pods,
        "skew_guard": SKEW_GUARD,
        "gap_starts": [first for first, _ in gaps],
        "gap_ends": [last for _, last in gaps],
    }
    with session.dropped(*STEPS):
        for step in STEPS:
            session.create(step, PACKAGE, step, values)
        return session.create("pod_intervals_built", PACKAGE, "pod_intervals", values)


def unbuilt(day: BuildDay) -> list[tuple[date, date]]:
    """The runs of days before the built one that are not built, first and last day each.

    The first run starts at the beginning of the calendar.
    """
    one = timedelta(days=1)
    gaps = []
    first = FIRST_DATE
    for built in (*sorted(d for d in set(day.built_days) if d < day.date), day.date):
        if built > first:
            gaps.append((first, built - one))
        first = built + one
    return gaps


TRANSFORM = Transform(
    table="pod_intervals",
    reads=(
        Reads("pod_states", "pods"),
        Reads("resource_claims", "pods"),
        Reads("node_states", "pods"),
        Reads("run_versions", "pods"),
        Reads("flows", "pods"),
        Reads("pod_intervals", "history"),
    ),
    rows_from=("pod_states", "run_versions", "flows", "pod_intervals"),
    build=build,
    version=4,
)

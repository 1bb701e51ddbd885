"""What pods tried and how it went: requests, connections and look-ups as attempts, one by one.

The caller makes a table `attempt_pods` (cluster, pod_uid, start_us, end_us): pods whose moments
count, once each. `make_attempts` makes `attempts`, and `attempt_activity` with the stretches in
which connections of those pods had events.

A connection is answered at the first packet of the reply direction; one whose first answer is a
reset was refused; one without any reply failed if it was opened, or asked for, more than once (one
packet alone may be a loss of the export), and lasted to its last packet. Where a pod asked one
address by one name and at other times by none, it is that name's each time. A look-up takes from
query to answer. A request takes its duration.

Reads of the caller: `object_requests`, `object_transfers` and `connections` (spans `transfers` and
`connections`), `flows` (`connections`), `dns_lookups` (`names`), `run_dependency_days`,
`container_states`, `node_states` and `pod_intervals` (`pods`).
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD, BuildDay
from transforms.intermediate.container_match import match_containers
from transforms.intermediate.pod_match import match_pods
from transforms.sql import SqlSession

PACKAGE = "transforms.marts"
REQUESTS = "transforms.intermediate"
"""Where requests are told as of `object_transfers`."""
MICROSECOND = timedelta(microseconds=1)
MADE = ("attempts", "attempt_activity", "attempt_flows")
"""What the caller drops."""


def make_attempts(session: SqlSession, day: BuildDay, names_before: timedelta) -> str:
    """Make the attempts of all pods, of the day and its look-backs.

    Args:
        session: Session that shows what the docstring of the module names.
        day: The built day, of the fleet.
        names_before: How far before the day look-ups are wanted.

    Returns:
        `attempts`, a temporary table.
    """
    values = {
        "date": day.date,
        "day_end": day.end_at,
        "names_from": day.start_at - names_before,
        "from_us": day.start_us - day.look_back.transfers // MICROSECOND,
        "end_us": day.end_us,
        "guard_us": SKEW_GUARD // MICROSECOND,
    }
    helpers = (
        "transfer_requests", "transfer_agents", "transfer_google", "transfer_bounds",
        "attempt_requests", "match_input", "match_output", "attempt_lookups", "container_input",
        "container_output", "attempt_wanted", "attempt_replies",
    )  # fmt: skip
    with session.dropped(*helpers):
        for step in ("transfer_agents", "transfer_google", "transfer_bounds"):
            session.create(step, REQUESTS, step, values)
        # Of a few dozen columns attempts need a third, once.
        session.create_view("transfer_requests", REQUESTS, "transfer_requests")
        session.create("attempt_requests", PACKAGE, "attempt_requests", values)
        session.create("match_input", PACKAGE, "attempt_lookup_input", values)
        match_pods(session, day)
        session.create("attempt_lookups", PACKAGE, "attempt_lookups", values)
        session.create("container_input", PACKAGE, "attempt_containers", values)
        match_containers(session)
        for step in (
            "attempt_wanted",
            "attempt_flows",
            "attempt_replies",
            "attempts",
            "attempt_activity",
        ):
            session.create(step, PACKAGE, step, values)
    return "attempts"

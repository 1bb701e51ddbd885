"""name_bindings: which name stood for which address, for whom, and when.

Only look-ups whose log holds answers bind, and only their A and AAAA records: every address of an
answer is bound to the name that was asked, from 2 s before the answer to the answer plus the larger
of its time to live (the smallest of the chain's) and 60 s. The last name of a CNAME chain stays
beside it.

**Scope.** The client is matched to a pod (pod_match.py). One pod: `pod`. A client on the host
network, or with a link-local or loopback address (a resolver cache of the node): `node`, if the
node is known. All else, ambiguous and contradicted clients too: `cluster`.

**Merging.** Answers of one UTC day whose bindings overlap or touch are one row. A chain of answers
that goes on over midnight is cut at the new day's first answer, so that a row's start, which is
part of its id, does not depend on how long before the name had been asked. What still lives at
midnight has a row on both days, under one id.

**Counting.** `answer_count` holds the built day's answers (none for a binding of the day before).
One look-up seen by two sources counts once: answers to one client, name, address and query type
that follow each other by at most 2 s are a burst, and a burst counts as many look-ups as the source
that saw most of it. The client is the pod where one is named, else the address.

`client_match_kind` is the weakest rung among the answers merged; a row ends no later than its day.
"""

from transforms.day import BuildDay
from transforms.intermediate.pod_match import match_pods
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the name bindings of one cluster and day."""
    values = {
        "cluster": day.cluster,
        "span_start": day.start_at - day.look_back.names,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "read_until": day.read_until,
    }
    steps = (
        "name_binding_owners",
        "name_binding_keys",
        "name_binding_islands",
        "name_binding_counts",
    )
    with session.dropped(*steps):
        with session.dropped("name_binding_answers", "match_input", "match_output"):
            session.create("name_binding_answers", PACKAGE, "name_binding_answers", values)
            session.create("match_input", PACKAGE, "name_binding_match_input", values)
            match_pods(session, day)
            session.create("name_binding_owners", PACKAGE, "name_binding_owners", values)
        for step in steps[1:]:
            session.create(step, PACKAGE, step, values)
        return session.create("name_bindings_built", PACKAGE, "name_bindings", values)


TRANSFORM = Transform(
    table="name_bindings",
    reads=(
        Reads("dns_lookups", "names"),
        Reads("pod_intervals", "names"),
        Reads("node_states", "pods"),
    ),
    rows_from=("dns_lookups",),
    build=build,
)

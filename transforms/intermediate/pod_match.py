"""Which pod a record means: the pod ladder of design.md 5 over pod_intervals.

The caller makes a table or view `match_input` and calls `match_pods`; it gets `match_output` with
one row per row of the input.

`match_input`, one row per thing to be matched:

* `item_id`: any type, unique; comes back as it is.
* `cluster`: text; null means that any cluster's pod may answer (an address that two clusters hold
  is then ambiguous).
* `address`: text, canonical; null where the record states none.
* `namespace`, `pod_name`, `pod_uid`: text; null where the record states none. A name counts as
  evidence of its own only with its namespace; a part of a name can only contradict.
* `event_at`: TIMESTAMP WITH TIME ZONE. A row without a time matches nothing.

`match_output`:

* `item_id`.
* `cluster`, `pod_uid`, `namespace`, `pod_name`, `node`, `run_uuid`, `attempt`: of the pod, where
  exactly one is named, else null; for `node` only cluster and node are filled, where one node
  holds the address.
* `match_kind`: `uid`, `name_window`, `address_window`, `node`, `ambiguous`, `conflict` or `none`.
* `candidate_pod_uids`: sorted; null unless the pod is one of several, or contradicted, or the
  stated UID is of no known pod. For `node` the host-network pods that have the node's address.

How the rungs are taken (a pod's life is from creation to the end of its address; every interval is
widened by the skew guard of 2 s at both ends; "holds" means the widened interval has the event):

1. A stated UID of a pod whose life holds the event: `uid`. It is a `conflict` if the event lies
   outside that life, if a stated namespace or name is another one, or if unwidened intervals give
   the address to other pods only. A UID of no known pod is `none`, or `conflict` where name or
   address name a known pod.
2. Namespace and name: one life holds the event, or of several only one also has the address:
   `name_window`; several: `ambiguous`. It is a `conflict` if name and address both name pods by
   unwidened intervals and none is the same, or if no life of that name holds the event while
   another pod has the address.
3. The address alone: one pod holds it, `address_window`; several, `ambiguous`. Addresses of
   host-network pods never name a pod: they are the node's, `node`, unless a pod holds them.

Reads of the caller: `pod_intervals` with the look-back that its events need, and `node_states`
(span `pods`). An interval that an older day left open speaks up to the end of that day; one that
the built day left open has no end here.

Method: each address's time is cut into disjoint stretches that name their one pod, or all their
holders; the stretches into buckets of a quarter of an hour. Items meet them in a hash join on
(address, bucket) with the exact range, so that no item doubles (reference/performance.md C). They
give the number of whom the item means, whose texts stand once, in pod_match_owners. That decides

* what states neither name nor UID, by rung 3;
* what states only things that its address's one pod has. That pod's life has the event under that
  very name and UID, because a life begins no later and ends with the address, and no interval that
  has the address contradicts it: rung 1 or 2 names it, whoever else has the name. This holds for
  pods of one name in all intervals, and of a UID that no other cluster has;
* what states a full name and no UID, where nobody has its address and nobody of that name lives:
  it means nobody.

The rest goes the whole ladder. `match_output` is a view over these, so that nobody holds its texts:
`match_input` must stay as it is while the answer is read. Dropping the view by
`SqlSession.dropped` drops what stands behind it.
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD, BuildDay
from transforms.sql import SqlSession

PACKAGE = "transforms.intermediate"
REACH = timedelta(days=40)
"""Nothing further from the built day is matched; more than any look-back of the settings."""
ITEMS_AT_ONCE = 1_000_000
"""Items that go the whole ladder together."""


def match_pods(session: SqlSession, day: BuildDay) -> str:
    """Match `match_input` to pods.

    Args:
        session: Session that shows `match_input`, `pod_intervals` and `node_states`.
        day: The built day.

    Returns:
        `match_output`, a temporary view.
    """
    values = {
        "date": day.date,
        "guard_us": SKEW_GUARD // timedelta(microseconds=1),
        "from_us": int((day.start_at - REACH).timestamp()) * 1_000_000,
        "until_us": int((day.end_at + REACH).timestamp()) * 1_000_000,
    }
    with session.dropped("pod_match_nodes", "pod_match_lives", "pod_match_rest"):
        with session.dropped("pod_match_windows", "pod_match_several"):
            for step in (
                "pod_match_windows", "pod_match_several", "pod_match_lives", "pod_match_pods",
            ):  # fmt: skip
                session.create(step, PACKAGE, step, values)
        session.create("pod_match_nodes", PACKAGE, "pod_match_nodes")
        stretches = ("pod_match_wanted", "pod_match_claims", "pod_match_holders")
        with session.dropped(*stretches):
            for step in (*stretches, "pod_match_buckets", "pod_match_crowds"):
                session.create(step, PACKAGE, step, values)
        owned = ("pod_match_pods", "pod_match_crowds")
        session.create_view("pod_match_owners", PACKAGE, "pod_match_owners", owned)
        with session.dropped("pod_match_unmet", "pod_match_names"):
            for step in ("pod_match_unmet", "pod_match_names", "pod_match_rest"):
                session.create(step, PACKAGE, step, values)
        rest = session.connection.table("pod_match_rest").shape[0]
        slices = rest // ITEMS_AT_ONCE + 1
        with session.dropped("pod_match_evidence"):
            step = "pod_match_evidence"
            session.create_in_slices(step, PACKAGE, step, values, slices)
            session.create("pod_match_ladder", PACKAGE, "pod_match_ladder")
    kept = ("pod_match_owners", "pod_match_buckets", "pod_match_ladder")
    return session.create_view("match_output", PACKAGE, "pod_match", kept)

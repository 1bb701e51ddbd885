"""Which name an address had for a client at a moment: the DNS rungs of the name ladder.

The caller makes a table or view `name_input` and calls `match_names`; it gets `name_output` with
one row for each row of the input that has a live binding.

`name_input`: `item_id` (any type, unique), `cluster`, `pod_uid` (null where no pod is named),
`node`, `address`, `event_at`.

`name_output`: `item_id`, `name` and `canonical_name` (null where several), `name_kind` (`dns_pod`,
`dns_node`, `dns_cluster` or `ambiguous`), `answer_at` (first answer of the newest binding, null
where ambiguous), `candidate_names` (sorted, where ambiguous).

Only the best scope with a live binding speaks; two names in it are ambiguous (definitions.md 36).
What was asked elsewhere in the cluster names an address only if it stood for one name there, in all
that is read: behind a shared edge or a store's front, other pods' answers would force a winner. The
candidates are then the first 100 of all its names.
Bindings are cut into hours and met by a hash join on (scope, owner, address, hour) with the exact
range, so that no item doubles.

Reads of the caller: `name_bindings` with the look-back that its events need.
"""

from transforms.sql import SqlSession

PACKAGE = "transforms.intermediate"
MOST_CANDIDATES = 100


def match_names(session: SqlSession) -> str:
    """Match `name_input` to names.

    Args:
        session: Session that shows `name_input` and `name_bindings`.

    Returns:
        `name_output`, a temporary table.
    """
    with session.dropped("name_match_hours"):
        session.create("name_match_hours", PACKAGE, "name_match_hours")
        return session.create("name_output", PACKAGE, "name_match", {"most": MOST_CANDIDATES})

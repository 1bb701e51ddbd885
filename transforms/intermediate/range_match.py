"""Which provider's published network holds a public address: the longest prefix wins.

The caller makes a table or view `range_input` with a column `address` and calls `match_ranges`; it
gets `range_output` with one row per different public address that some network holds: `address`,
`provider`, `service`, `region` (each null where the network does not tell one, or several).

Private addresses are not looked up: they lie in nobody's published network.

Reads of the caller: `address_ranges`.
"""

from transforms.sql import SqlSession

PACKAGE = "transforms.intermediate"


def match_ranges(session: SqlSession) -> str:
    """Match `range_input` to networks.

    Args:
        session: Session that shows `range_input` and `address_ranges`.

    Returns:
        `range_output`, a temporary table.
    """
    return session.create("range_output", PACKAGE, "range_match")

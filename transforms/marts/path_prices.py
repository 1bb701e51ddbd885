"""Prices of paths: which paths bytes may have gone, what each charges, and what that costs.

A caller makes `paths`, calls `price_paths`, joins its counts with `path_prices`, and lets
`price_of_path.sql` make amounts of `priced_counts`:

    session.create("paths", …)                     # one row per path
    price_paths(session, day)                      # → path_prices: path_id, charge_kind, prices
    session.create("priced_counts", …)             # counts with is_certain, cheapest, best, dearest
    session.create("amounts", PACKAGE, "price_of_path")   # → item_id, min_usd, usd, max_usd

**Columns of `paths`**: `path_id` (text); `from_provider` and `to_provider` (cloud of the sender and
the receiver), `gateway_provider` and `gateway_region` (where NAT and endpoints stand),
`storage_provider` and `storage_region`, all null where not known; `operation` (null unless requests
are charged); `distance`, `gateway` (as in peer_traffic); `from_region`, `to_region`; `is_storage`
(the far end is a regional storage service); `is_incoming` (were it the internet, the sender would
be outside); `is_private` (the address that the far end, or of storage the near end, shows is
private; null where none is known); `is_one_network` (both ends are of one cluster).

**Rules** (definitions.md 40). An unknown distance or gateway ranges over the candidates that the
evidence does not exclude (path_candidates.sql): never a silent default. A charge is certain if
every candidate has it, else it costs nothing at least. A region that is not known ranges over
those of the price book. Where the book has no price for a candidate, neither the least nor the
most is known.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession

PACKAGE = "transforms.marts"
STEPS = ("path_candidates", "path_questions")


def price_paths(session: SqlSession, day: BuildDay) -> str:
    """Make `path_prices` of `paths` and `prices`; the caller drops it.

    Args:
        session: Session that holds `paths` and `prices`.
        day: The day whose prices count.

    Returns:
        The table's name.
    """
    with session.dropped(*STEPS):
        for step in STEPS:
            session.create(step, PACKAGE, step)
        return session.create("path_prices", PACKAGE, "path_prices", {"date": day.date})

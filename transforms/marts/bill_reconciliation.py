"""bill_reconciliation: what is billed beside what podledger explains (definitions.md 41).

**Lines** are those of each bill's newest delivery (bill_newest.sql) that count bytes moved or
requests; other usage is no subject of podledger. They are summed by what they state. A line of more
than a day stands on its first day with `period_end_at`; what is charged on its later days has rows
of the same key there, so that sums over the period agree and no row speaks of a later day.

**Explained** are the charges of transfer_costs, each on one line: of those that it does not
contradict the one that states most. A column that a line does not state tells nothing apart; an
account that a charge does not know may be any. What knows no resource (a NAT gateway) stands on all
lines of its kind together. A charge that fits no line has a row without a bill, a line that nothing
explains one whose explained is 0: foreign traffic is all residual.

`residual` = billed - explained, null where either is not known; where the account's bill reaches
over the day, no line means that nothing is billed. `effective_usd` = explained bytes x billed rate.
Bytes are those of the line's own unit: 2^30 of AWS' GB, a GiB, 10^9 (billing_lines.unit_bytes).
Credits, taxes and the like have rows of their own, which nothing explains.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
STEPS = (
    "bill_newest", "bill_lines", "bill_charges", "bill_fits", "bill_billed", "bill_chosen",
    "bill_joined", "bill_accounts",
)  # fmt: skip


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the reconciliation of one day."""
    values = {"date": day.date, "day_start": day.start_at, "day_end": day.end_at}
    with session.dropped(*STEPS, "priced_counts", "effective_amounts"):
        for step in STEPS:
            session.create(step, PACKAGE, step, values)
        session.create("priced_counts", PACKAGE, "bill_rates")
        session.create("effective_amounts", PACKAGE, "price_of_path")
        return session.create("bill_reconciliation_built", PACKAGE, "bill_reconciliation", values)


TRANSFORM = Transform(
    table="bill_reconciliation",
    reads=(Reads("billing_lines", repeated=True), Reads("transfer_costs")),
    rows_from=("billing_lines", "transfer_costs"),
    build=build,
)

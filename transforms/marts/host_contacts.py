"""Contacts of runs with hosts from which they fetch what they are made of (repeat_hosts.sql).

`repeat_transfers` makes fetches of them, over its look-back. Which rows of run_dependency_days they
are is told day by day, so that other contacts of a day make no repeats stale.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession

PACKAGE = "transforms.marts"
HOST_STEPS = ("repeat_contact_kinds", "repeat_declared", "repeat_hosts")
"""Tables to make in turn; the last one holds the contacts since `$look_back_start`."""


def hosts_of_day(session: SqlSession, day: BuildDay, built: str) -> str:
    """Find them among one day's rows of run_dependency_days.

    Args:
        session: Session that shows declared_dependencies.
        day: The day.
        built: Table with the rows, as they were made.

    Returns:
        `repeat_hosts`.
    """
    rows = session.connection.table(built).project(f"*, DATE '{day.date}' AS \"date\"")
    rows.create_view("run_dependency_days")
    for step in HOST_STEPS:
        session.create(step, PACKAGE, step, {"look_back_start": day.date})
    return HOST_STEPS[-1]

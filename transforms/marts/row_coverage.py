"""The coverage that the rows of marts carry: how far what is able to show them observed their run.

The caller makes a table `mart_rows` with the columns of its mart but for `expected_us`,
`covered_us` and `empty_means`, and these:

* `asked_cluster`, `asked_run`: whose pod time; of rows of a day a null run means all pods of the
  cluster that no run owns, of rows of a run's life the cluster is null;
* `asked_resource`, `asked_operation`: what the row is about; `asked_operation` is a staging table
  where that alone shows such a row, `pull` or null where states, events or the node tell it.

`covered_rows` puts the coverage beside them: of a host with a name the lesser of flows and
look-ups, of an address the greater of flows and flow records, of an object its bucket's log,
inside a cluster flows (definitions.md 33). It is a view over `mart_rows` and one small table, so
that no row is held twice.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession

PACKAGE = "transforms.marts"


def cover_rows_of_day(session: SqlSession) -> str:
    """Cover `mart_rows` by `run_coverage_days`, which the session shows for the built day alone."""
    return _cover(session, "coverage_of_day", {})


def cover_rows_of_lives(session: SqlSession, day: BuildDay) -> str:
    """Cover `mart_rows` by `run_coverage`, up to the end of the day."""
    return _cover(session, "coverage_of_life", {"date": day.date})


def _cover(session: SqlSession, facts: str, values: dict[str, object]) -> str:
    with session.dropped("coverage_facts"):
        session.create("coverage_facts", PACKAGE, facts, values)
        session.create("row_coverage", PACKAGE, "row_coverage")
    kept = ("mart_rows", "row_coverage")
    return session.create_view("covered_rows", PACKAGE, "covered_rows", kept)

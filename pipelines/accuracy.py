"""How sure the attribution of a day is: its rows split by the rungs of the ladders.

The truth of a night is not known, but the split is: a day on which far fewer rows than before are
named by a good rung has lost an export, a label or a clock. Shares are compared with those of the
seven days before; a change of more than five points of what is named at all is worth a look.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from pipelines.parquet import read_files, with_all_columns
from pipelines.storage import Lake
from schemas.registry import table_spec
from transforms.sql import SqlSession

SOURCES = (
    "connections", "object_transfers", "peer_traffic", "counter_increments", "pod_intervals",
)  # fmt: skip
DAYS_BEFORE = 7
CHANGE = 0.05
"""A change of the named share that is reported."""
LEAST_ROWS = 100
"""Shares of fewer rows on either side are chance, and not compared."""
UNNAMED = frozenset({"shared_address", "ambiguous", "conflict", "several", "none"})
"""Rungs that name nothing."""


@dataclass(frozen=True)
class Rung:
    """Rows of one rung.

    Attributes:
        cluster: Cluster, or `fleet` where no pod names one.
        source: Table.
        ladder: Which of its ladders.
        rung: The rung.
        row_count: Rows of the day.
        share: Share of the ladder's rows of the day, 0 to 1.
        share_before: Share over the seven days before; none if none of them is built.
    """

    cluster: str
    source: str
    ladder: str
    rung: str
    row_count: int
    share: float
    share_before: float | None


@dataclass(frozen=True)
class Change:
    """A ladder that named more or less than before.

    Attributes:
        cluster: Cluster.
        source: Table.
        ladder: Which of its ladders.
        named_share: Share of the day's rows that a rung named.
        named_share_before: Share over the seven days before.
    """

    cluster: str
    source: str
    ladder: str
    named_share: float
    named_share_before: float


_Key = tuple[str, str, str]
_Counts = dict[_Key, dict[str, int]]


def _order(key: _Key) -> tuple[str, ...]:
    """Keys in order; what belongs to no cluster stands first."""
    return tuple(part or "" for part in key)


@dataclass(frozen=True)
class Split:
    """The split of one day and of the days before.

    Attributes:
        date: The day.
        today: Rows by cluster, table and ladder, then by rung.
        before: The same, summed over the built days among the seven before.
    """

    date: dt.date
    today: _Counts
    before: _Counts

    def rungs(self) -> list[Rung]:
        """Every rung of the day and of the days before, best known order: by rows."""
        found: list[Rung] = []
        for key in sorted({*self.today, *self.before}, key=_order):
            today, before = self.today.get(key, {}), self.before.get(key, {})
            whole, whole_before = sum(today.values()), sum(before.values())
            found += [
                Rung(
                    *key,
                    rung=rung,
                    row_count=today.get(rung, 0),
                    share=today.get(rung, 0) / whole if whole else 0.0,
                    share_before=before.get(rung, 0) / whole_before if whole_before else None,
                )
                for rung in sorted({*today, *before}, key=lambda r: (-today.get(r, 0), r))
            ]
        return found

    def changes(self, source: str | None = None) -> list[Change]:
        """Ladders whose named share changed by more than CHANGE; of one table if it is given."""
        found = []
        for key, today in sorted(self.today.items(), key=lambda item: _order(item[0])):
            before = self.before.get(key, {})
            if source not in {None, key[1]}:
                continue
            if min(sum(today.values()), sum(before.values())) < LEAST_ROWS:
                continue
            now, then = _named(today), _named(before)
            # A change of exactly five points is none, whatever the last digit of a share is.
            if round(abs(now - then), 9) > CHANGE:
                found.append(Change(*key, named_share=now, named_share_before=then))
        return found


def split_of(lake: Lake, date: dt.date, sources: Iterable[str] = SOURCES) -> Split:
    """Split a day's rows and those of the seven days before it.

    Args:
        lake: The lake.
        date: The day.
        sources: Tables to look at.
    """
    days = {date - dt.timedelta(days=n) for n in range(DAYS_BEFORE + 1)}
    today: _Counts = defaultdict(dict)
    before: _Counts = defaultdict(dict)
    with SqlSession(threads=2) as session:
        for name in SOURCES:
            _show(session, lake, name, days if name in sources else set())
        session.create("rung_counts", "pipelines.accuracy_sql", "rung_counts")
        rows = session.connection.execute(
            "SELECT date, cluster, source, ladder, rung, row_count FROM rung_counts"
        ).fetchall()
    for day, cluster, source, ladder, rung, count in rows:
        counts = (today if day == date else before)[cluster, source, ladder]
        counts[rung] = counts.get(rung, 0) + count
    return Split(date, dict(today), dict(before))


def newest_day(lake: Lake) -> dt.date | None:
    """The newest built day that has one of the tables."""
    return max((day for name in SOURCES for day in lake.days(name)), default=None)


def _show(session: SqlSession, lake: Lake, name: str, days: set[dt.date]) -> None:
    """Show the published rows of some days, with their day."""
    spec = table_spec(name)
    paths = [path for day in sorted(days) for path in lake.files(name, day)]
    if not paths:
        session.register(f"{name}_none", spec.empty())
        session.connection.execute(
            f'CREATE TEMP VIEW "{name}" AS SELECT *, CAST(NULL AS DATE) AS date '  # noqa: S608
            f'FROM "{name}_none"'
        )
        return
    rows = read_files(session.connection, paths, dated=True)
    with_all_columns(rows, spec).create_view(name)


def _named(counts: dict[str, int]) -> float:
    whole = sum(counts.values())
    return sum(n for rung, n in counts.items() if rung not in UNNAMED) / whole

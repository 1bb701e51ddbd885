"""Write down what the rebuild of a final day changed in what people read: the marts.

Before a mart's file of a final day is replaced, the old and the new one are compared by key and
every value that moved is written to `restatements`, first. A build that dies between the two
leaves a comparison whose new file is not there; the name of a comparison says which content it
leads to, so that the next build replaces it, or removes it if it came to nothing.

Intermediate tables are not compared: they are how an answer came about. A bill that comes in a
newer version restates nothing, since its period is open until the bill says that it is final.
"""

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pyarrow.parquet as pq

from pipelines.damage import REBUILD, reading
from pipelines.ledger import EXPORT_FILES
from pipelines.mirror import present
from pipelines.parquet import read_files, scan_files
from pipelines.publication import TableWriter, content_of, digest, ordered_batches
from pipelines.storage import Lake
from schemas.registry import table_spec
from schemas.table import FLEET, TableSpec
from transforms.sql import SqlSession

RESTATEMENTS = "restatements"
OF_OPEN_PERIODS = {"bill_reconciliation"}
"""Marts that a newer bill rebuilds without restatements (definitions.md 41)."""
ROW = "(row)"
"""Column name of a row that came or went as a whole."""
TABLE = "(table)"
"""Row key of a column that came or went as a whole, with the schema."""
_DIGITS = 16
"""Digits of a digest in a file name."""


@dataclass(frozen=True)
class Restating:
    """One rebuild of a final day.

    Attributes:
        published_at: When it began; all tables that it publishes are restated at that time.
        cause: Why the day is built again, in words, with the files.
        files: (id, path) of the export files that the day was not made from before.
    """

    published_at: dt.datetime
    cause: str
    files: tuple[tuple[str, str], ...] = ()


def is_restated(spec: TableSpec) -> bool:
    """Whether changes of a table's final days are written down."""
    return spec.layer == "marts" and spec.name not in OF_OPEN_PERIODS


def restate(
    lake: Lake,
    session: SqlSession,
    spec: TableSpec,
    day: dt.date,
    scope: str,
    new: Path,
    content: str,
    restating: Restating,
) -> int:
    """Write what a new file changes, before it replaces the published one.

    Args:
        lake: The lake.
        session: Session to compare in; what does not fit in its memory is spilled.
        spec: Table.
        day: Day.
        scope: Cluster or `fleet`.
        new: The finished new file, under its temporary name.
        content: Digest of the new file's content.
        restating: The rebuild.

    Returns:
        How many values moved.
    """
    old = lake.path(spec.name, day, scope)
    if not old.is_file():
        return 0
    names = ("restated", "moved", "before", "after", "before_file", "after_file")
    with reading([old], REBUILD):
        _compare(session, spec, old, new)
        session.connection.execute(
            _RESTATED,
            {
                "table_name": spec.name,
                "event_date": day,
                "published_at": restating.published_at,
                "cause": restating.cause,
            },
        )
    moved = _count(session)
    if moved:
        _note_files(lake, day, restating)
        others = [c for c in _comparisons(lake, day) if (c.table, c.scope) == (spec.name, scope)]
        newest = max((c.number for c in others), default=0)
        published = _mark(content_of(old))
        # One that leads elsewhere than to what is published was never finished.
        unfinished = [c for c in others if c.number == newest and c.mark != published]
        number = newest if unfinished else newest + 1
        comparison = _Comparison(spec.name, number, _mark(content), scope)
        path = lake.path(RESTATEMENTS, day, comparison.name)
        target = table_spec(RESTATEMENTS)
        with (
            lake.replacing(path) as temporary,
            TableWriter(target, temporary) as writer,
        ):
            for batch in ordered_batches(session, target, "restated"):
                writer.write_table(batch)
        for left in unfinished:
            if left != comparison:
                lake.remove(lake.path(RESTATEMENTS, day, left.name))
    connection = session.connection
    connection.execute(f"DROP TABLE {names[0]}")
    for name in names[1:]:
        connection.execute(f"DROP VIEW {name}")
    return moved


def settle(lake: Lake, day: dt.date) -> None:
    """Remove comparisons of a day that lead to files which were never published."""
    found = _comparisons(lake, day)
    kept = []
    for comparison in found:
        table, scope = comparison.table, comparison.scope
        if table == EXPORT_FILES:
            continue
        newest = max(c.number for c in found if (c.table, c.scope) == (table, scope))
        published = _mark(content_of(lake.path(table, day, scope)))
        if comparison.number == newest and comparison.mark != published:
            lake.remove(lake.path(RESTATEMENTS, day, comparison.name))
        else:
            kept.append(comparison)
    times = {_published_at(lake, day, comparison) for comparison in kept}
    for comparison in found:
        if comparison.table == EXPORT_FILES and _published_at(lake, day, comparison) not in times:
            lake.remove(lake.path(RESTATEMENTS, day, comparison.name))


def last_cause(lake: Lake, day: dt.date) -> str | None:
    """Why a day was restated last; none if it never was."""
    found = []
    for path in lake.files(RESTATEMENTS, day):
        first = scan_files([path]).head(1).collect()
        found.extend(first.select("published_at", "cause").rows())
    return str(max(found)[1]) if found else None


class _Comparison(NamedTuple):
    """What the name of a file of `restatements` says.

    Attributes:
        table: Table that was restated.
        number: How many times its file was by then.
        mark: Content that it leads to.
        scope: Cluster or `fleet`.
    """

    table: str
    number: int
    mark: str
    scope: str

    @property
    def name(self) -> str:
        """The file's name, without its ending."""
        return f"{self.table}-{self.number:06d}-{self.mark}-{self.scope}"


def _comparisons(lake: Lake, day: dt.date) -> list[_Comparison]:
    found = []
    for path in lake.files(RESTATEMENTS, day):
        table, number, mark, scope = path.stem.split("-", 3)
        found.append(_Comparison(table, int(number), mark, scope))
    return sorted(found)


def _mark(content: str | None) -> str:
    return digest([content or ""])[:_DIGITS]


def _published_at(lake: Lake, day: dt.date, comparison: _Comparison) -> dt.datetime:
    path = lake.path(RESTATEMENTS, day, comparison.name)
    found: dt.datetime = scan_files([path]).select("published_at").head(1).collect().item()
    return found


def _note_files(lake: Lake, day: dt.date, restating: Restating) -> None:
    """Write which files a restated day is made from now, and was not before."""
    spec = table_spec(RESTATEMENTS)
    mark = _mark(restating.published_at.isoformat())
    noted = [c for c in _comparisons(lake, day) if c.table == EXPORT_FILES]
    if not restating.files or mark in {c.mark for c in noted}:
        return
    ids = [
        json.dumps({"export_file_id": file_id}, separators=(",", ":"))
        for file_id, _ in restating.files
    ]
    paths = [path for _, path in restating.files]
    rows = pl.DataFrame(
        {
            "table_name": EXPORT_FILES,
            "event_date": day,
            "row_key": pl.Series(ids, dtype=pl.String),
            "column_name": "path",
            "value_before": None,
            "value_after": pl.Series(paths, dtype=pl.String),
            "cause": restating.cause,
            "published_at": restating.published_at,
        },
        schema_overrides=spec.polars_schema,
    ).select(list(spec.polars_schema))
    number = max((c.number for c in noted), default=0) + 1
    name = _Comparison(EXPORT_FILES, number, mark, FLEET).name
    with (
        lake.replacing(lake.path(RESTATEMENTS, day, name)) as temporary,
        TableWriter(spec, temporary) as writer,
    ):
        writer.write(rows.sort(spec.order))


_RESTATED = """
    CREATE OR REPLACE TEMP TABLE restated AS
    SELECT
        CAST($table_name AS VARCHAR) AS table_name,
        CAST($event_date AS DATE) AS event_date,
        row_key,
        column_name,
        value_before,
        value_after,
        CAST($cause AS VARCHAR) AS cause,
        CAST($published_at AS TIMESTAMPTZ) AS published_at
    FROM moved
    WHERE value_before IS DISTINCT FROM value_after
"""


def _count(session: SqlSession) -> int:
    ((moved,),) = session.connection.execute("SELECT COUNT(*) FROM restated").fetchall()
    return int(moved)


def _compare(session: SqlSession, spec: TableSpec, old: Path, new: Path) -> None:
    """Show `moved`: every value of every row that differs, as text.

    A column that only one of the files has, or that has another type in each, came or went with
    the schema: it is told once, and is no value that moved. A row that came or went is told with
    each value that it holds, so that what was added and what was taken away add up.
    """
    connection = session.connection
    before, after = (pq.read_schema(path) for path in present((old, new)))
    both = [
        n for n in before.names if n in after.names and before.field(n).type == after.field(n).type
    ]
    values = [name for name in both if name not in spec.key]
    for view, path in (("before", old), ("after", new)):
        read_files(connection, [path]).create_view(f"{view}_file")
        connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT *, TRUE AS is_there FROM {view}_file"  # noqa: S608  ours
        )
    same_key = " AND ".join(f'b."{k}" IS NOT DISTINCT FROM a."{k}"' for k in spec.key)
    key = ", ".join(f'\'{k}\', COALESCE(a."{k}", b."{k}")' for k in spec.key)
    differs = " OR ".join(
        ["b.is_there IS NULL", "a.is_there IS NULL"]
        + [f'b."{name}" IS DISTINCT FROM a."{name}"' for name in values]
    )
    row = (
        f"{{'column_name': '{ROW}', "
        "'value_before': CASE WHEN b.is_there THEN 'present' ELSE 'absent' END, "
        "'value_after': CASE WHEN a.is_there THEN 'present' ELSE 'absent' END}"
    )
    cells = [row] + [
        f"{{'column_name': '{name}', 'value_before': CAST(b.\"{name}\" AS VARCHAR), "
        f"'value_after': CAST(a.\"{name}\" AS VARCHAR)}}"
        for name in values
    ]
    changed = [(name, "present", "absent") for name in before.names if name not in both]
    changed += [(name, "absent", "present") for name in after.names if name not in both]
    schema = "".join(
        f" UNION ALL SELECT '{TABLE}', '{name}', '{was}', '{is_}'" for name, was, is_ in changed
    )
    connection.execute(
        "CREATE OR REPLACE TEMP VIEW moved AS "  # noqa: S608  names of our schema
        f"SELECT CAST(json_object({key}) AS VARCHAR) AS row_key, "
        f"UNNEST([{', '.join(cells)}], recursive := true) "
        f"FROM before AS b FULL JOIN after AS a ON {same_key} WHERE {differs}{schema}"
    )

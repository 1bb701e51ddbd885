"""Find records that were staged before; they are left out by readers, never removed.

Equal `record_id`s within one scope and format repeat. The first in commit order is credited; the
others are named by their row positions in the commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from pipelines.landing.parsing import BatchOutcome
from pipelines.ledger import Ledger, StagedPart, repeated_ranges
from pipelines.mirror import present
from pipelines.storage import Lake
from schemas.table import FLEET
from transforms.sql import SqlSession


@dataclass
class Repeats:
    """Repeated rows of new parts.

    Attributes:
        rows: (table, export file) → ranges of positions in its part, ascending.
        records: export file → how many of its records repeat.
    """

    rows: dict[tuple[str, str], list[dict[str, int]]] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)


def find_repeats(
    lake: Lake, ledger: Ledger, outcomes: Sequence[BatchOutcome], session: SqlSession
) -> Repeats:
    """Search the new parts, in commit order, against each other and against earlier parts."""
    found = Repeats()
    groups: dict[tuple[str, str], list[BatchOutcome]] = {}
    for outcome in outcomes:
        key = (outcome.batch.cluster or FLEET, outcome.batch.files[0].format)
        groups.setdefault(key, []).append(outcome)
    connection = session.connection
    # A record may repeat in several tables and counts once; counted by the engine, since a grown
    # file repeats millions.
    connection.execute(
        "CREATE TEMP TABLE repeated_records (export_file_id VARCHAR, record_index BIGINT)"
    )
    for (scope, format_name), group in sorted(groups.items()):
        tables = sorted({t for o in group for f in o.files for t in f.tables})
        for table in tables:
            _search(lake, ledger, scope, format_name, table, group, session, found)
    counted = connection.sql(
        "SELECT export_file_id, COUNT(DISTINCT record_index) FROM repeated_records GROUP BY ALL"
    )
    found.records.update(counted.fetchall())
    return found


def _search(
    lake: Lake,
    ledger: Ledger,
    scope: str,
    format_name: str,
    table: str,
    group: list[BatchOutcome],
    session: SqlSession,
    found: Repeats,
) -> None:
    new = [
        lake.path(table, o.batch.files[0].context.landing_date, f"{scope}-{o.batch.part}")
        for o in group
        if any(table in f.tables for f in o.files)
    ]
    firsts = [f.first_event_at for o in group for f in o.files if f.first_event_at is not None]
    lasts = [f.last_event_at for o in group for f in o.files if f.last_event_at is not None]
    earlier = ledger.parts(
        table,
        (scope,),
        min(firsts, default=None),
        None,
        format_name=format_name,
        last_at=max(lasts, default=None),
    )
    _stage(session, earlier, new)
    connection = session.connection
    session.create("duplicates", "pipelines.landing", "duplicates")
    session.create("duplicate_ranges", "pipelines.landing", "duplicate_ranges")
    for export_file_id, first, count in connection.table("duplicate_ranges").fetchall():
        known = found.rows.setdefault((table, export_file_id), [])
        known.append({"first": first, "count": count})
    connection.execute(
        "INSERT INTO repeated_records SELECT export_file_id, record_index FROM duplicates;"
        "DROP TABLE staged; DROP TABLE duplicates; DROP TABLE duplicate_ranges"
    )


def _stage(session: SqlSession, earlier: Sequence[StagedPart], new: Sequence[Path]) -> None:
    """Make `staged`: rows of the new parts, and rows of the same records in earlier ones.

    Earlier rows that are left out count for nothing: their records are credited to other rows, and
    would be credited to none if those rows' commit were removed and their file landed again.
    """
    connection = session.connection
    paths = [str(path) for path in present((*(part.path for part in earlier), *new))]
    connection.register(
        "part_order", pa.table({"part_path": paths, "part_order": list(range(len(paths)))})
    )
    session.register("left_out_ranges", repeated_ranges(earlier))
    # A view cannot bind values; the paths are a value of the table function instead.
    rows = """
        SELECT
            o.part_order, p.file_row_number AS row_number, p.export_file_id, p.record_index,
            p.record_id
        FROM read_parquet(
            $paths, filename = true, file_row_number = true, hive_partitioning = false
        ) AS p
        INNER JOIN part_order AS o ON p.filename = o.part_path
    """
    connection.execute(
        f"CREATE TEMP TABLE staged AS SELECT *, TRUE AS is_new FROM ({rows})",  # noqa: S608  ours
        {"paths": paths[len(earlier) :]},
    )
    if earlier:
        connection.execute(
            f"""
            INSERT INTO staged
            SELECT e.*, FALSE
            FROM ({rows}) AS e
            WHERE
                e.record_id IN (SELECT record_id FROM staged)
                AND NOT EXISTS (
                    SELECT 1
                    FROM (
                        SELECT part_number, UNNEST(RANGE(first_row, end_row)) AS position
                        FROM left_out_ranges
                    ) AS l
                    WHERE l.part_number = e.part_order AND l.position = e.row_number
                )
            """,  # noqa: S608  ours
            {"paths": paths[: len(earlier)]},
        )
    connection.unregister("part_order")
    connection.unregister("left_out_ranges")

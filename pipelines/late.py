"""What waits for a final day: it is not built for it until somebody asks.

A file is late for a day if it brings records that the day would read and was not there when the
day was published as final. Lists of objects that were seen after the day's watermark are not late:
every later list speaks of a day on which its objects lived already.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipelines.build import basis_of, met_files, scopes_of, window
from pipelines.finality import Basis, last_awaited
from pipelines.ledger import Ledger
from pipelines.parquet import scan_files
from pipelines.restatements import OF_OPEN_PERIODS
from pipelines.settings import Settings
from pipelines.storage import Lake
from schemas.registry import table_spec, tables
from transforms.day import BuildDay
from transforms.registry import transforms

LATE = "late file(s): "
"""How a cause begins that names files."""
NAMED = 3
"""Files, or days, that a text names; it says how many more there are."""


@dataclass(frozen=True)
class LateFile:
    """A file that a final day was not made from and that it would read now.

    Attributes:
        export_file_id: Its id.
        reading: The same with how it was read.
        path: Its path.
        landing_date: Its landing day.
        records: New records of the day itself.
        nearby_records: New records that the day reads as look-back or look-ahead only.
        is_read_again: The day was made from it, too, as it was read before.
    """

    export_file_id: str
    reading: str
    path: str
    landing_date: dt.date
    records: int
    nearby_records: int
    is_read_again: bool = False


@dataclass(frozen=True)
class Waiting:
    """Why a final day would come out otherwise if built now.

    Attributes:
        files: Late files, by path.
        earlier: Earlier days of which the day read something else.
        is_logic: Settings, reference files, schemas or the logic differ.
        is_closed: Inputs of the day were pruned, so that it is built no more.
    """

    files: tuple[LateFile, ...] = ()
    earlier: tuple[dt.date, ...] = ()
    is_logic: bool = False
    is_closed: bool = False

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self.files or self.earlier or self.is_logic)

    def __str__(self) -> str:
        """In words."""
        again = sum(file.is_read_again for file in self.files)
        late = len(self.files) - again
        found = [f"{late} late file(s)"] if late else []
        if again:
            found.append(f"{again} file(s) read again")
        if self.is_closed and found:
            return f"{found[0]} that cannot be built in: inputs of the day were pruned"
        if self.earlier:
            found.append(f"earlier day(s) built again: {some(self.earlier)}")
        return "; ".join(found + ["settings or logic"] * self.is_logic)


def some(items: Sequence[object]) -> str:
    """The first of a list, and how many more there are."""
    more = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return ", ".join(map(str, items[:NAMED])) + more


def waiting(
    settings: Settings,
    lake: Lake,
    ledger: Ledger,
    day: BuildDay,
    basis: Basis,
    states: Iterable[str],
) -> Waiting:
    """What waits for a final day.

    Args:
        settings: Settings.
        lake: The lake.
        ledger: The ledger.
        day: The day.
        basis: What it was published from.
        states: Tables whose rows speak for a time long before they were exported.
    """
    now = basis_of(settings, lake, ledger, day)
    days = sorted(
        d for d in {*now.earlier, *basis.earlier} if now.earlier.get(d) != basis.earlier.get(d)
    )
    files = late_files(settings, ledger, day, basis.files, frozenset(states))
    return Waiting(tuple(files), tuple(days), now.logic != basis.logic)


def late_files(
    settings: Settings,
    ledger: Ledger,
    day: BuildDay,
    known: frozenset[str],
    states: frozenset[str],
) -> list[LateFile]:
    """Files that bring a day records and that are not among the known ones, by path."""
    windows: dict[str, dict[str, list[tuple[dt.datetime | None, dt.datetime]]]] = {}
    rows: dict[str, dict[str, Any]] = {}
    for table, transform in transforms().items():
        if table in OF_OPEN_PERIODS:
            continue
        for read in transform.reads:
            if read.table not in tables() or table_spec(read.table).layer != "staging":
                continue
            for scope in scopes_of(table_spec(table), settings):
                of_scope = day.of(scope)
                met = met_files(ledger, read, of_scope)
                for row in met.filter(~pl.col("reading").is_in(list(known))).iter_rows(named=True):
                    rows[row["export_file_id"]] = row
                    of_file = windows.setdefault(row["export_file_id"], {})
                    of_file.setdefault(read.table, []).append(window(read, of_scope))
    known_ids = {reading.partition(":")[0] for reading in known}
    found = []
    for file_id, row in rows.items():
        spans = windows[file_id]
        if not _is_timely(settings, day.date, row):
            spans = {table: span for table, span in spans.items() if table not in states}
        of_day, nearby = _new_records(ledger, day, row, spans)
        if of_day or nearby:
            stated = (row["reading"], row["path"], row["landing_date"])
            found.append(LateFile(file_id, *stated, of_day, nearby, file_id in known_ids))
    return sorted(found, key=lambda file: (file.path, file.export_file_id))


def _is_timely(settings: Settings, day: dt.date, row: dict[str, Any]) -> bool:
    """Whether a file of states was to come well before its day's watermark."""
    landing, last = row["landing_date"], row["last_event_at"]
    seen = landing if last is None else min(last.date(), landing)
    return bool(seen < last_awaited(settings, day))


def _new_records(
    ledger: Ledger,
    day: BuildDay,
    row: dict[str, Any],
    windows: dict[str, list[tuple[dt.datetime | None, dt.datetime]]],
) -> tuple[int, int]:
    """Records of a file that no earlier record equals: of the day itself, and nearby only."""
    of_day: set[int] = set()
    read: set[int] = set()
    for listed in row["rows_by_table"]:
        spans = windows.get(listed["table_name"])
        if spans is None:
            continue
        spec = table_spec(listed["table_name"])
        start = None if any(s is None for s, _ in spans) else min(s for s, _ in spans if s)
        until = max(end for _, end in spans)
        path = ledger.part_path(spec.name, row["landing_date"], row["cluster"], row["part"])
        rows = (
            scan_files([path])
            .select(
                "export_file_id",
                "record_index",
                first=pl.min_horizontal(*spec.covers),
                last=pl.max_horizontal(*spec.covers),
            )
            .with_row_index("position")
            .filter(pl.col("export_file_id") == row["export_file_id"])
        )
        fresh = _without(rows.collect(), listed["repeated"])
        of_day.update(_met(fresh, day.start_at, day.end_at))
        read.update(_met(fresh, start, until))
    return len(of_day), len(read - of_day)


def _without(rows: pl.DataFrame, repeated: Sequence[dict[str, int]]) -> pl.DataFrame:
    """Rows outside of ranges of positions."""
    if not repeated:
        return rows
    ranges = pl.DataFrame(
        {
            "begin": [r["first"] for r in repeated],
            "end": [r["first"] + r["count"] for r in repeated],
        },
        schema={"begin": pl.Int64, "end": pl.Int64},
    ).sort("begin")
    joined = rows.with_columns(pl.col("position").cast(pl.Int64)).join_asof(
        ranges, left_on="position", right_on="begin"
    )
    return joined.filter((pl.col("position") < pl.col("end")).not_().fill_null(value=True))


def _met(rows: pl.DataFrame, start: dt.datetime | None, until: dt.datetime) -> list[int]:
    """Records of which a row meets [start, until); one without any time meets nothing."""
    met = pl.col("first") < until
    if start is not None:
        met &= pl.col("last") >= start
    found: list[int] = rows.filter(met)["record_index"].unique().to_list()
    return found


def cause_of(found: Waiting, restated: dict[dt.date, str]) -> str:
    """Why a final day is built again, in words.

    Args:
        found: What waited for it.
        restated: Why earlier days were restated, by day.
    """
    causes = []
    # All of them stand in rows of their own.
    late = [file.path for file in found.files if not file.is_read_again]
    again = [file.path for file in found.files if file.is_read_again]
    if late:
        causes.append(f"{LATE}{some(late)}")
    if again:
        causes.append(f"file(s) read again: {some(again)}")
    if found.earlier:
        days = []
        for day in found.earlier:
            # Only files are named: the days between stand in the list themselves.
            first = restated.get(day, "").partition("; ")[0]
            days.append(f"{day} ({first})" if first.startswith(LATE) else str(day))
        causes.append(f"built again before it: {some(days)}")
    if found.is_logic:
        causes.append("settings or logic changed")
    return "; ".join(causes) or "asked for; other inputs changed"

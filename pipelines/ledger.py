"""The ledger: one commit file per landed batch; readers unite them.

A part of staging exists once a commit lists it. What commits say of repeated rows tells readers
which rows to leave out. A commit is replaced, in one step, only where its files were read again on
request; nothing else ever changes one. Parts that retention removed are named in a note beside the
commits, which keep telling that their files are known.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from pipelines.damage import reading
from pipelines.errors import LakeDamagedError
from pipelines.mirror import shown
from pipelines.parquet import scan_files
from pipelines.storage import Lake
from schemas.registry import table_spec
from schemas.table import FLEET

COMMIT_REMEDY = "restore it; what it lists does not exist without it"
EXPORT_FILES = "export_files"
REJECTED_RECORDS = "rejected_records"
REMEMBERED_ROWS = 1_000_000
"""Rows of answers that are kept at most: some days' worth of them, of all clusters."""


@dataclass(frozen=True)
class StagedPart:
    """Rows of one table in one part.

    Attributes:
        path: Parquet file.
        repeated: (first, count) of rows that repeat earlier records.
    """

    path: Path
    repeated: tuple[tuple[int, int], ...]


class ReadFile(NamedTuple):
    """What is asked of a file that has a part; columns as in `export_files`."""

    cluster: str | None
    node: str | None
    project: str | None
    format: str
    landing_date: date
    content_hash: str
    read_as: str | None
    part: str
    rows_by_table: list[dict[str, Any]]


def _read_files(files: pl.DataFrame) -> list[ReadFile]:
    return [ReadFile(*row) for row in files.select(ReadFile._fields).iter_rows()]


class Remembered:
    """Answers by question; so many that memory stays bounded."""

    def __init__(self) -> None:
        """Begin with none."""
        self._answers: dict[Hashable, Any] = {}
        self._rows = 0

    def answer(self, question: Hashable, find: Callable[[], Any]) -> Any:  # noqa: ANN401  anything
        """The answer to a question, found once."""
        # Threads ask at once: none relies on what another may forget.
        found = self._answers.get(question, self)
        if found is self:
            found = find()
            parts = found if isinstance(found, tuple) else (found,)
            size = 1 + sum(len(p) for p in parts if isinstance(p, pl.DataFrame | list))
            if self._rows + size > REMEMBERED_ROWS:
                self._answers.clear()
                self._rows = 0
            self._answers[question] = found
            self._rows += size
        return found


@dataclass(frozen=True)
class Ledger:
    """All commits of a lake.

    Attributes:
        lake: The lake.
        files: Rows of `export_files`, in commit order within a day.
        remembered: What was worked out from the rows, by question: a day's tables ask the same, and
            so does every ledger that is read of the same commits.
    """

    lake: Lake
    files: pl.DataFrame = field(compare=False)
    remembered: "Remembered" = field(default_factory=Remembered, compare=False, repr=False)

    @classmethod
    def read(cls, lake: Lake) -> "Ledger":
        """Unite all commits."""
        paths = [p for day in lake.days(EXPORT_FILES) for p in lake.files(EXPORT_FILES, day)]
        with reading(paths, COMMIT_REMEDY):
            # A build asks once per table; the commits are read again only when one was added.
            notes = [
                p for day in lake.days(EXPORT_FILES) if (p := pruned_note(lake, day)).is_file()
            ]
            read = tuple((p, p.stat().st_mtime_ns) for p in (*paths, *notes))
            return cls(lake, *_united(read[: len(paths)], read[len(paths) :]))

    @cached_property
    def marks(self) -> frozenset[tuple[str, str, str]]:
        """(export, path, mark) of every file known."""
        return frozenset(self.files.select("export", "path", "stored_mark").iter_rows())

    @cached_property
    def contents(self) -> dict[tuple[str, str | None, str, str], list[tuple[str, str]]]:
        """(scope, node, format, content hash) → (file, path) of each that was read."""
        read = self.files.filter(pl.col("same_content_as").is_null())
        columns = ("cluster", "node", "format", "content_hash", "export_file_id", "path")
        found: dict[tuple[str, str | None, str, str], list[tuple[str, str]]] = {}
        for cluster, node, format_name, content_hash, *file in read.select(columns).iter_rows():
            key = (cluster or FLEET, node, format_name, content_hash)
            found.setdefault(key, []).append((file[0], file[1]))
        return found

    @cached_property
    def content_lengths(self) -> dict[tuple[str, str | None, str], set[int]]:
        """(scope, node, format) → lengths of the contents that were read."""
        read = self.files.filter(pl.col("same_content_as").is_null() & (pl.col("text_bytes") > 0))
        found: dict[tuple[str, str | None, str], set[int]] = {}
        for cluster, node, format_name, length in read.select(
            "cluster", "node", "format", "text_bytes"
        ).iter_rows():
            found.setdefault((cluster or FLEET, node, format_name), set()).add(length)
        return found

    def parts(
        self,
        table: str,
        scopes: tuple[str, ...] | None,
        from_at: datetime | None,
        until_at: datetime | None,
        *,
        format_name: str | None = None,
        last_at: datetime | None = None,
    ) -> list[StagedPart]:
        """Parts of a table whose event range meets [from_at, until_at).

        Args:
            table: Staging table.
            scopes: Clusters or `fleet`; all if none.
            from_at: Earliest event; open if none.
            until_at: End of the events, exclusive; open if none.
            format_name: Only parts of this format.
            last_at: Last event, inclusive; open if none.
        """
        question = ("parts", table, scopes, from_at, until_at, format_name, last_at)
        found: list[StagedPart] = self.remembered.answer(
            question,
            lambda: self._parts(table, scopes, from_at, until_at, format_name, last_at),
        )
        return found

    def _parts(
        self,
        table: str,
        scopes: tuple[str, ...] | None,
        from_at: datetime | None,
        until_at: datetime | None,
        format_name: str | None,
        last_at: datetime | None,
    ) -> list[StagedPart]:
        if format_name is None and last_at is None:
            return self._parts_of(self.read_by(scopes, from_at, until_at), table)
        chosen = self.meeting(scopes, from_at, until_at)
        if format_name is not None:
            chosen = chosen.filter(pl.col("format") == format_name)
        if last_at is not None:
            # Records without a time are searched too: they carry no range that could exclude them.
            met = chosen.filter((pl.col("first_event_at") <= last_at).fill_null(value=True))
            chosen = chosen.filter(pl.col("part").is_in(met["part"].unique().to_list()))
        return self._parts_of(_read_files(chosen), table)

    def all_parts(self) -> Iterator[StagedPart]:
        """Parts of all tables."""
        read = _read_files(self.files.filter(pl.col("part").is_not_null()))
        for table in sorted(_tables_of(self.files)):
            yield from self._parts_of(read, table)

    def _parts_of(self, files: Sequence["ReadFile"], table: str) -> list[StagedPart]:
        repeated: dict[Path, list[tuple[int, int]]] = {}
        for file in files:
            for rows in file.rows_by_table:
                if rows["table_name"] == table and rows["row_count"]:
                    path = self.part_path(table, file.landing_date, file.cluster, file.part)
                    ranges = repeated.setdefault(path, [])
                    ranges.extend((r["first"], r["count"]) for r in rows["repeated"])
        return [StagedPart(p, tuple(sorted(r))) for p, r in sorted(repeated.items())]

    def read_by(
        self,
        scopes: tuple[str, ...] | None,
        from_at: datetime | None,
        until_at: datetime | None,
    ) -> list["ReadFile"]:
        """The files of `meeting`, as what a day's tables ask of them one after the other."""
        found: list[ReadFile] = self.remembered.answer(
            ("read", scopes, from_at, until_at),
            lambda: _read_files(self.meeting(scopes, from_at, until_at)),
        )
        return found

    def meeting(
        self,
        scopes: tuple[str, ...] | None,
        from_at: datetime | None,
        until_at: datetime | None,
    ) -> pl.DataFrame:
        """Rows of files with a part whose event range meets [from_at, until_at).

        A part may hold several files; all files of a part that is met are given, since its rows
        are read together.
        """
        question = ("meeting", scopes, from_at, until_at)
        found: pl.DataFrame = self.remembered.answer(
            question, lambda: self._meeting(scopes, from_at, until_at)
        )
        return found

    def _meeting(
        self,
        scopes: tuple[str, ...] | None,
        from_at: datetime | None,
        until_at: datetime | None,
    ) -> pl.DataFrame:
        with_part = self.files.filter(pl.col("part").is_not_null())
        if scopes is not None:
            with_part = with_part.filter(pl.col("cluster").fill_null(FLEET).is_in(scopes))
        met = with_part
        if from_at is not None:
            met = met.filter((pl.col("last_event_at") >= from_at).fill_null(value=True))
        if until_at is not None:
            met = met.filter((pl.col("first_event_at") < until_at).fill_null(value=True))
        return with_part.filter(pl.col("part").is_in(met["part"].unique().to_list()))

    def part_path(self, table: str, day: date, cluster: str | None, part: str) -> Path:
        """Path of one part."""
        return self.lake.path(table, day, f"{cluster or FLEET}-{part}")

    @cached_property
    def listed(self) -> frozenset[tuple[date, str]]:
        """(landing day, file name without ending) of every part."""
        parts = self.files.filter(pl.col("part").is_not_null())
        return frozenset(
            (day, f"{cluster or FLEET}-{part}")
            for day, cluster, part in parts.select("landing_date", "cluster", "part").iter_rows()
        )

    def commit_of(self, day: date, cluster: str | None, part: str) -> Path:
        """The commit that lists a part: named like it, or like the one that was read before it."""
        name = f"{cluster or FLEET}-{part}"
        return self._renamed.get((day, name)) or self.lake.path(EXPORT_FILES, day, name)

    @cached_property
    def _renamed(self) -> dict[tuple[date, str], Path]:
        """Commits of parts that were read again, by part; those keep the name of the first part."""
        found: dict[tuple[date, str], Path] = {}
        for day in self.lake.days(EXPORT_FILES):
            pruned = pruned_parts(self.lake, day)
            for path in self.lake.files(EXPORT_FILES, day):
                is_known = (day, path.stem) in self.listed
                if not is_known and path.stem.rpartition("-")[2] not in pruned:
                    rows = scan_files([path]).select("cluster", "part").drop_nulls("part").unique()
                    for cluster, part in rows.collect().iter_rows():
                        found[day, f"{cluster or FLEET}-{part}"] = path
        return found

    @cached_property
    def pruned_days(self) -> list[date]:
        """Landing days of which parts were pruned."""
        days = self.lake.days(EXPORT_FILES)
        return [day for day in days if pruned_note(self.lake, day).is_file()]

    def reject_paths(self) -> list[Path]:
        """Files of refused records that a commit lists."""
        return [
            path
            for day in self.lake.days(REJECTED_RECORDS)
            for path in self.lake.files(REJECTED_RECORDS, day)
            if (day, path.stem) in self.listed
        ]

    @property
    def remedy(self) -> str:
        """What to do about a part that is missing or damaged."""
        return (
            "restore it, or remove the commit of the same name below "
            f"{shown(self.lake.root / EXPORT_FILES)} to land its exports again"
        )

    def remove_unlisted_parts(self, tables: tuple[str, ...]) -> int:
        """Remove staging and reject files that no commit lists (left by a killed build)."""
        removed = 0
        for table in (*tables, REJECTED_RECORDS):
            for day in self.lake.days(table):
                for path in self.lake.files(table, day):
                    if (day, path.stem) not in self.listed:
                        self.lake.remove(path)
                        removed += 1
        return removed


@lru_cache(maxsize=1)
def _united(
    commits: tuple[tuple[Path, int], ...], notes: tuple[tuple[Path, int], ...]
) -> tuple[pl.DataFrame, Remembered]:
    """Rows of all commits, which are named with the time of their last change, and a memory."""
    spec = table_spec(EXPORT_FILES)
    frames = [spec.empty(), *(_as_now(scan_files([path]).collect()) for path, _ in commits)]
    rows = pl.concat(frames).sort(spec.order)
    pruned = [part for path, _ in notes for part in _named_in(path)]
    if pruned:
        # The file is known, and nothing of it is there.
        is_pruned = pl.col("part").is_in(pruned)
        rows = rows.with_columns(
            part=pl.when(~is_pruned).then("part"),
            rows_by_table=pl.when(is_pruned.fill_null(value=False))
            .then(pl.lit([], spec.polars_schema["rows_by_table"]))
            .otherwise("rows_by_table"),
        )
    return rows, Remembered()


def pruned_note(lake: Lake, day: date) -> Path:
    """The note that names parts of a landing day which were pruned."""
    return lake.path(EXPORT_FILES, day, FLEET).with_name(".pruned")


def pruned_parts(lake: Lake, day: date) -> frozenset[str]:
    """Parts of a landing day that were pruned."""
    note = pruned_note(lake, day)
    return _named_in(note) if note.is_file() else frozenset()


def _named_in(note: Path) -> frozenset[str]:
    try:
        return frozenset(json.loads(note.read_bytes()))
    except (ValueError, TypeError):
        message = f"{note}: damaged; expected a list of the parts that were pruned; restore it"
        raise LakeDamagedError(message) from None


def note_pruned(lake: Lake, day: date, parts: Iterable[str]) -> None:
    """Note that parts of a landing day are pruned: from then on readers do without them."""
    with lake.replacing(pruned_note(lake, day)) as temporary:
        known = pruned_parts(lake, day)
        temporary.write_text(json.dumps(sorted({*known, *parts})), encoding="utf-8")


def _as_now(commit: pl.DataFrame) -> pl.DataFrame:
    """Rows of a commit with the columns of now: one that came later says nothing of earlier files.

    Lists are empty, everything else is null.
    """
    schema = table_spec(EXPORT_FILES).polars_schema
    added = [
        pl.lit([] if isinstance(dtype, pl.List) else None, dtype).alias(name)
        for name, dtype in schema.items()
        if name not in commit.columns
    ]
    return commit.with_columns(added).select(list(schema)).cast(schema)


def _tables_of(files: pl.DataFrame) -> set[str]:
    return {rows["table_name"] for listed in files["rows_by_table"] for rows in listed}


def repeated_ranges(parts: Sequence[StagedPart]) -> pl.DataFrame:
    """Ranges of rows to leave out, by the number of the part in the list; ends are exclusive."""
    rows = [
        (number, first, first + count)
        for number, part in enumerate(parts)
        for first, count in part.repeated
    ]
    schema = {"part_number": pl.Int64, "first_row": pl.Int64, "end_row": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")

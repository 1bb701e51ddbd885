"""Build one table of one day: gather what it reads, run its transform, publish.

A table whose inputs, settings and logic did not change is left as it is.
"""

import datetime as dt
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import duckdb
import polars as pl

from pipelines.damage import REBUILD, reading
from pipelines.deliveries import DELIVERIES, delivery_rows
from pipelines.emptiness import has_ingredients
from pipelines.errors import DataCheckError, LakeDamagedError, LakeOutdatedError
from pipelines.finality import BUILT, Basis, is_final, last_awaited
from pipelines.ingredients import Ingredients, schema_texts
from pipelines.landing.formats import parsers
from pipelines.ledger import EXPORT_FILES, Ledger, ReadFile, StagedPart
from pipelines.mirror import present
from pipelines.parquet import read_files, scan_files, with_all_columns
from pipelines.publication import (
    Made,
    Published,
    content_of,
    digest,
    made_from,
    part_of,
    publish,
)
from pipelines.reference.catalogue import load_endpoints
from pipelines.reference.prices import load_prices
from pipelines.restatements import OF_OPEN_PERIODS, Restating, is_restated, restate
from pipelines.settings import Settings
from pipelines.side_by_side import Room, Share
from pipelines.storage import Lake, spill_of, sweep_spill
from schemas.registry import table_spec, tables
from schemas.table import FLEET, TableSpec
from transforms.day import BuildDay
from transforms.redaction import redact
from transforms.registry import transforms
from transforms.sql import SqlSession
from transforms.transform import Reads, Span, Transform

ENDPOINTS = "endpoints"
PRICES = "prices"
ADDRESS_RANGES = "address_ranges"
OF_NO_CLUSTER = {"run_versions", "run_statuses"}
"""Staging tables that a cluster reads from the fleet's files too: a run's cluster is its pods'."""
NO_ROWS = "no_rows"
"""The result of a transform that has nothing to make rows of."""
MEMORY_FOR_ENGINE = 0.6
"""Share of `memory_limit` that engines may use."""
MEMORY_BESIDE_ENGINE = 1_100_000_000
"""Bytes that Python, its libraries and rows on their way to a file take at least."""
LEAST_FOR_ENGINE = 150_000_000
"""With less, an engine cannot join even small tables."""


_REFUSED = (
    DataCheckError,
    LakeDamagedError,
    LakeOutdatedError,
    duckdb.Error,
    pl.exceptions.PolarsError,
)
"""Errors that keep one table of one scope unpublished and stop nothing else."""


@dataclass(frozen=True)
class Outcome:
    """What became of one table of one day and scope.

    Attributes:
        table: Table.
        day: Day.
        scope: Cluster or `fleet`.
        published: What was written; none if nothing changed or a check failed.
        problem: Why it stays unpublished, if a check failed.
    """

    table: str
    day: dt.date
    scope: str
    published: Published | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Inputs:
    """What one build of one table reads.

    Attributes:
        parts: Staging parts by table.
        files: (day, path) of intermediate and mart files by table.
        frames: Small tables by name.
        repeated: Staging tables of which repeated rows are shown too, as `all_<table>`.
        made: Digests of all of it, with settings and logic.
    """

    parts: dict[str, list[StagedPart]] = field(default_factory=dict)
    files: dict[str, list[tuple[dt.date, Path]]] = field(default_factory=dict)
    frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    made: Made = field(default_factory=lambda: Made("", 0))

    @property
    def part_paths(self) -> list[Path]:
        """All staging parts."""
        return [part.path for parts in self.parts.values() for part in parts]

    @property
    def built_paths(self) -> list[Path]:
        """All intermediate and mart files."""
        return [path for files in self.files.values() for _, path in files]


def scopes_of(spec: TableSpec, settings: Settings) -> tuple[str, ...]:
    """Names under which a table's files of one day stand."""
    clusters = tuple(sorted(settings.clusters))
    return {"cluster": clusters, "fleet": (FLEET,), "both": (*clusters, FLEET)}[spec.scope]


def build_day_of(
    settings: Settings, lake: Lake, ledger: Ledger, day: dt.date, today: dt.date
) -> BuildDay:
    """The day as transforms see it; its cluster is filled in per scope."""
    built = tuple(d for d in lake.days(BUILT) if d < day)
    return BuildDay(
        date=day,
        cluster=FLEET,
        clusters=settings.cluster_facts,
        look_back=settings.look_backs,
        look_ahead=settings.look_ahead,
        final_after=settings.final_after,
        datasets=tuple((d.id, d.pattern) for d in settings.datasets),
        buckets=settings.bucket_regions,
        bucket_owners=settings.bucket_owners,
        nat_addresses=settings.nat_addresses,
        export_tables=_export_tables(settings, ledger),
        built_days=built,
        is_final=is_final(settings, lake, day, today),
    )


def memory_of_engines(settings: Settings) -> int:
    """Bytes that all engines of this process may use together."""
    limit = settings.memory_limit
    allowed = min(int(limit * MEMORY_FOR_ENGINE), limit - MEMORY_BESIDE_ENGINE)
    return max(allowed, LEAST_FOR_ENGINE)


def engine_memory(settings: Settings) -> str:
    """The same for an engine that is alone, as it takes it."""
    return f"{memory_of_engines(settings)}B"


def build_table(
    settings: Settings,
    lake: Lake,
    ledger: Ledger,
    table: str,
    day: BuildDay,
    scope: str,
    room: Room,
    restating: Restating | None = None,
) -> Outcome:
    """Build one table of one day and scope, unless nothing that it depends on changed.

    Call it under the lake's lock.

    Args:
        settings: Settings.
        lake: The lake.
        ledger: The ledger.
        table: Table.
        day: Day.
        scope: Cluster or `fleet`.
        room: Memory and threads, which other builds may share.
        restating: Why the day is built again, where it was published as final: what changes for
            people is written down.
    """
    transform = transforms()[table]
    day = day.of(scope)
    inputs = gather(settings, lake, ledger, transform, day)
    if made_from(lake.path(table, day.date, scope)) == inputs.made:
        return Outcome(table, day.date, scope)
    build = _Build(lake, transform, day, inputs, ledger.remedy, room, restating)
    try:
        published = build.publish()
    except duckdb.InterruptException:
        raise
    except _REFUSED as error:
        return Outcome(table, day.date, scope, problem=_problem(table, error))
    return Outcome(table, day.date, scope, published)


def room_of(settings: Settings, lake: Lake, sides: int | None = None) -> Room:
    """What builds of a lake may share; as many run side by side as memory allows.

    Call it under the lake's lock, before the first of them begins.

    Args:
        settings: Settings.
        lake: The lake.
        sides: Builds at one time at most; as many as there are workers if none.
    """
    spill = spill_of(lake, settings.temp_path)
    # What a killed build left there; nothing of this one has begun.
    sweep_spill(spill)
    return Room(settings.workers, memory_of_engines(settings), spill, sides)


@dataclass(frozen=True)
class _Build:
    """One build of one table of one day and scope."""

    lake: Lake
    transform: Transform
    day: BuildDay
    inputs: Inputs
    remedy: str
    room: Room
    restating: Restating | None

    def publish(self) -> Published | None:
        """Make the rows and publish them; alone if memory does not suffice beside others."""
        try:
            with self.room.beside() as share:
                return self._publish(share)
        except duckdb.OutOfMemoryException:
            if not self.room.has_more_alone:
                raise
        with self.room.alone() as share:
            return self._publish(share)

    def _publish(self, share: Share) -> Published | None:
        with (
            reading(self.inputs.part_paths, self.remedy),
            reading(self.inputs.built_paths, REBUILD),
            self.room.session(share) as session,
        ):
            # Publication sorts; keeping the order of rows on the way would take memory.
            session.connection.execute("SET preserve_insertion_order = false")
            spec, day, scope = table_spec(self.transform.table), self.day.date, self.day.cluster
            if has_ingredients(self.transform, self.inputs.parts, self.inputs.files):
                show(session, self.inputs)
                result = self.transform.build(session, self.day)
                parts = self._parts(session, result)
            else:
                result, parts = NO_ROWS, {}
                session.register(NO_ROWS, spec.empty())

            def write_down(new: Path, content: str) -> None:
                if self.restating is not None and is_restated(spec):
                    restate(self.lake, session, spec, day, scope, new, content, self.restating)

            made = replace(self.inputs.made, parts=parts)
            return publish(self.lake, session, spec, result, day, scope, made, write_down)

    def _parts(self, session: SqlSession, result: str) -> dict[str, str]:
        """Digests of the parts of the rows that others read alone."""
        found = {}
        for name, find in self.transform.parts.items():
            rows = session.frame(find(session, self.day, result))
            found[name] = digest(sorted(map(repr, rows.iter_rows())))
        return found


def _problem(table: str, error: Exception) -> str:
    """What a person should read of why a table stays unpublished.

    An engine that stops over one cluster's values, such as a sum too large for its type, must not
    keep the other clusters from being built.
    """
    if isinstance(error, DataCheckError | LakeDamagedError | LakeOutdatedError):
        return str(error)
    first = redact(str(error).strip().partition("\n")[0])[:300]
    return f"{table}: {type(error).__name__}: {first}"


def gather(
    settings: Settings, lake: Lake, ledger: Ledger, transform: Transform, day: BuildDay
) -> Inputs:
    """Find what a transform reads on a day, and digest it."""
    inputs = Inputs()
    # What follows an open bill is built on final days, too, but not for a change of settings.
    is_open = transform.table in OF_OPEN_PERIODS
    found = Ingredients()
    found.texts.append(transform.table)
    found.add("logic", str(transform.version))
    found.texts.append(f"{day.date} {day.cluster}" if is_open else _facts(day))
    found.add("schema", *schema_texts(table_spec(transform.table)))
    for read in transform.reads:
        part = "" if read.part is None else f" {read.part}"
        found.add("logic", f"reads {read.table} {read.span} {read.ahead}{part}")
        if read.table in _SMALL:
            kind, _ = _SMALL[read.table]
            frame, known = _small(settings, ledger, read.table, day)
            inputs.frames[read.table] = frame
            found.add(kind, known)
        elif read.table == ADDRESS_RANGES:
            known, frame = settings.address_ranges.in_force(day.end_at)
            inputs.frames[ADDRESS_RANGES] = frame
            found.add("reference.address_ranges", known)
        elif read.table == EXPORT_FILES:
            frame, known = _ledger_rows(ledger, day, read)
            inputs.frames[EXPORT_FILES] = frame
            found.add("files", known)
        elif table_spec(read.table).layer == "staging":
            inputs.parts[read.table] = _staged(ledger, read, day)
            if read.repeated:
                inputs.repeated.add(read.table)
            contents = _staged_contents(ledger, read, day)
            found.add("readings", *(reading for _, reading in contents))
            found.kinds.setdefault("files", []).extend(sorted(content for content, _ in contents))
        else:
            files = _built(lake, read, day, transform.table)
            inputs.files[read.table] = files
            contained = (f"{date} {path.stem} {part_of(path, read.part)}" for date, path in files)
            found.add("tables", *contained)
    return replace(inputs, made=found.made(transform.version, None if is_open else day))


def basis_of(settings: Settings, lake: Lake, ledger: Ledger, day: BuildDay) -> Basis:
    """What a day's tables would be made from now, as far as a change of it is worth telling.

    Not all that is read is: the lists of pods of every later night speak of a day, too, and its
    deliveries are counted on. What is worth telling is told by file in `pipelines.late`.
    """
    known, _ = settings.address_ranges.in_force(day.end_at)
    references = [_small(settings, ledger, name, day)[1] for name in (ENDPOINTS, PRICES)]
    texts = [_settings_facts(day), *references, known]
    files: set[str] = set()
    earlier: dict[dt.date, set[str]] = {}
    runs = runs_of(lake, day.date)

    def meets_runs(date: dt.date) -> bool:
        # All of history is read, but only that of the day's own runs goes into the day.
        return not runs.isdisjoint(runs_of(lake, date))

    for table, transform in transforms().items():
        if table in OF_OPEN_PERIODS:
            continue
        spec = table_spec(table)
        texts.extend((table, str(transform.version)))
        texts.extend(schema_texts(spec))
        for read in transform.reads:
            texts.append(f"reads {read.table} {read.span} {read.ahead}")
            layer = table_spec(read.table).layer if read.table in tables() else None
            for scope in scopes_of(spec, settings):
                of_scope = day.of(scope)
                if layer == "staging":
                    files.update(met_files(ledger, read, of_scope)["reading"])
                elif layer in {"intermediate", "marts"}:
                    for date, path in _built(lake, read, of_scope, table):
                        if date < day.date and (read.span != "history" or meets_runs(date)):
                            known = f"{read.table} {path.stem} {content_of(path)}"
                            earlier.setdefault(date, set()).add(known)
    digests = {date: digest(sorted(known))[:32] for date, known in earlier.items()}
    return Basis(frozenset(files), digest(texts), digests)


def runs_of(lake: Lake, day: dt.date) -> frozenset[str]:
    """Runs that are active on a built day."""
    path = lake.path("runs", day, FLEET)
    content = content_of(path)
    return frozenset() if content is None else _runs_in(path, content)


@lru_cache(maxsize=4_000)
def _runs_in(path: Path, _content: str) -> frozenset[str]:
    return frozenset(scan_files([path]).select("run_uuid").collect().to_series())


def window(read: Reads, day: BuildDay) -> tuple[dt.datetime | None, dt.datetime]:
    """First instant that a day reads of a staging table, none for all, and the end."""
    return span_start(day, read.span), _until(day, read)


def met_files(ledger: Ledger, read: Reads, day: BuildDay) -> pl.DataFrame:
    """Ledger rows of files that fill a staging table and whose own events meet a day's window.

    A file without any time has its landing day for one. `reading` tells each reading of a file.
    """
    start, until = window(read, day)
    names = pl.col("rows_by_table").list.eval(pl.element().struct.field("table_name"))
    landed = pl.col("landing_date").cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    met = pl.col("part").is_not_null() & names.list.contains(read.table)
    met &= pl.coalesce("first_event_at", landed) < until
    if start is not None:
        met &= pl.coalesce("last_event_at", landed + dt.timedelta(days=1)) >= start
    scopes = _scopes(day, read.table)
    if scopes is not None:
        met &= pl.col("cluster").fill_null(FLEET).is_in(scopes)
    # A file that is read again under other settings is another one.
    reading = pl.concat_str("export_file_id", pl.col("read_as").fill_null(""), separator=":")
    return ledger.files.filter(met).with_columns(reading=reading)


def show(session: SqlSession, inputs: Inputs) -> None:
    """Show all inputs in a session as views named like their tables."""
    for name, frame in inputs.frames.items():
        session.register(name, frame)
    for table, parts in inputs.parts.items():
        show_parts(session, table_spec(table), parts)
        if table in inputs.repeated:
            whole = [replace(part, repeated=()) for part in parts]
            show_parts(session, table_spec(table), whole, f"all_{table}")
    for table, files in inputs.files.items():
        show_files(session, table_spec(table), files)


def span_start(day: BuildDay, span: Span) -> dt.datetime | None:
    """First instant that a span reads; none for all that is there."""
    if span == "day":
        return day.start_at
    if span == "history":
        return None
    look_back: dt.timedelta = getattr(day.look_back, span)
    if span == "repeats":
        # A read of the oldest day may have begun the day before that.
        look_back += day.look_back.transfers
    if span == "counters":
        # Twice, so that what counts as absent does not depend on it; and what contradicts itself
        # does so on a whole day.
        look_back = max(2 * look_back, dt.timedelta(days=1))
    return day.start_at - look_back


def _endpoints(settings: Settings) -> pl.DataFrame:
    stated = settings.reference.endpoints
    return load_endpoints(settings.resolve(stated) if stated else None)


def _prices(settings: Settings, day: BuildDay) -> pl.DataFrame:
    """Prices that are valid on the day: others say nothing of it and would make it stale."""
    prices = _all_prices(settings)
    starts = pl.col("valid_from") <= day.date
    return prices.filter(starts & (pl.col("valid_to").is_null() | (pl.col("valid_to") > day.date)))


def _all_prices(settings: Settings) -> pl.DataFrame:
    stated = settings.reference.prices
    return load_prices(settings.resolve(stated) if stated else None)


def _settings_facts(day: BuildDay) -> str:
    """What the settings say of every day."""
    return repr(
        (
            day.clusters,
            day.look_back,
            day.look_ahead,
            day.final_after,
            day.datasets,
            day.buckets,
            day.bucket_owners,
            day.nat_addresses,
        )
    )


def _facts(day: BuildDay) -> str:
    return repr(
        (
            day.date,
            day.cluster,
            day.clusters,
            day.look_back,
            day.look_ahead,
            day.final_after,
            day.datasets,
            day.buckets,
            day.bucket_owners,
            day.nat_addresses,
            day.export_tables,
            day.built_days,
            day.is_final,
        )
    )


JUDGED = ("cluster", "export", "format", "landing_date", "status", "latest_event_at")
"""What transforms see of deliveries: the rest is counted on and would make old days stale."""


def _awaited(settings: Settings, ledger: Ledger, day: BuildDay) -> pl.DataFrame:
    """Deliveries of the landing days on which the day's files are awaited.

    Later ones say nothing of the day, and would make every old day stale.
    """
    # The settings stand in the answer, so that their id is not given to others meanwhile.
    _, deliveries = ledger.remembered.answer(
        ("deliveries", id(settings)), lambda: (settings, delivery_rows(settings, ledger))
    )
    last = last_awaited(settings, day.date)
    frame: pl.DataFrame = deliveries.filter(pl.col("landing_date").is_between(day.date, last))
    return frame.select(JUDGED)


_SMALL: dict[str, tuple[str, Callable[[Settings, Ledger, BuildDay], pl.DataFrame]]] = {
    ENDPOINTS: ("reference.endpoints", lambda settings, _ledger, _day: _endpoints(settings)),
    PRICES: ("reference.prices", lambda settings, _ledger, day: _prices(settings, day)),
    DELIVERIES: ("deliveries", _awaited),
}
"""Kind and maker of the small tables that all scopes of a day read alike."""


def _small(
    settings: Settings, ledger: Ledger, table: str, day: BuildDay
) -> tuple[pl.DataFrame, str]:
    """A small table of a day and its digest, made once for all scopes."""

    def find() -> tuple[Settings, pl.DataFrame, str]:
        frame = _SMALL[table][1](settings, ledger, day)
        return settings, frame, _frame_digest(frame)

    stated = {ENDPOINTS: settings.reference.endpoints, PRICES: settings.reference.prices}
    path = stated.get(table)
    written = None
    with suppress(OSError):
        # Whoever reads a file that is gone says so.
        written = None if path is None else Path(settings.resolve(path)).stat().st_mtime_ns
    question = ("small", table, day.date, id(settings), written)
    _, frame, known = ledger.remembered.answer(question, find)
    return frame, known


def _scopes(day: BuildDay, table: str) -> tuple[str, ...] | None:
    if day.cluster == FLEET:
        return None
    return (day.cluster, FLEET) if table in OF_NO_CLUSTER else (day.cluster,)


def _until(day: BuildDay, read: Reads) -> dt.datetime:
    return day.read_until + (day.look_ahead if read.ahead else dt.timedelta(0))


def _staged(ledger: Ledger, read: Reads, day: BuildDay) -> list[StagedPart]:
    return ledger.parts(
        read.table, _scopes(day, read.table), span_start(day, read.span), _until(day, read)
    )


def _staged_contents(ledger: Ledger, read: Reads, day: BuildDay) -> list[tuple[str, str]]:
    """What identifies the rows of the parts, whatever their paths and the order of commits.

    Returns:
        Of each file what it is, and the same with how it was read.
    """
    question = (_scopes(day, read.table), span_start(day, read.span), _until(day, read))
    found: list[tuple[str, str]] = ledger.remembered.answer(
        ("contents", read.table, *question),
        lambda: _contents_of(ledger.read_by(*question), read.table),
    )
    return found


def _contents_of(files: list[ReadFile], table: str) -> list[tuple[str, str]]:
    found = []
    for file in files:
        if any(rows["table_name"] == table for rows in file.rows_by_table):
            identity = list(file[: ReadFile._fields.index("read_as")])
            found.append((repr(identity), repr([*identity, file.read_as])))
    return sorted(found, key=lambda pair: pair[1])


def _ledger_rows(ledger: Ledger, day: BuildDay, read: Reads) -> tuple[pl.DataFrame, str]:
    """Ledger rows of files whose event range meets the span, of the day's cluster, and a digest.

    A file without any time (all masked, or known content) has its landing day for one.
    """
    start, until = span_start(day, read.span), _until(day, read)

    def find() -> tuple[pl.DataFrame, str]:
        files = ledger.files
        if day.cluster != FLEET:
            files = files.filter(pl.col("cluster") == day.cluster)
        landed = pl.col("landing_date").cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
        met = pl.coalesce("first_event_at", landed) < until
        if start is not None:
            met &= pl.coalesce("last_event_at", landed + dt.timedelta(days=1)) >= start
        rows = files.filter(met).sort("landing_date", "path", "export_file_id")
        return rows, _files_digest(rows)

    found: tuple[pl.DataFrame, str] = ledger.remembered.answer(
        ("rows", day.cluster, start, until), find
    )
    return found


def _built(lake: Lake, read: Reads, day: BuildDay, table: str) -> list[tuple[dt.date, Path]]:
    start = span_start(day, read.span)
    names = None if day.cluster == FLEET else {day.cluster, FLEET}
    found: list[tuple[dt.date, Path]] = []
    for date in lake.days(read.table):
        if date > day.date or (start is not None and date < start.date()):
            continue
        if read.table == table and date == day.date:
            continue
        found.extend(
            (date, path)
            for path in lake.files(read.table, date)
            if names is None or path.stem in names
        )
    return found


def show_parts(
    session: SqlSession, spec: TableSpec, parts: list[StagedPart], view: str | None = None
) -> None:
    """Show the rows of staged parts without repeated ones, as a view of the table's name.

    Args:
        session: Where to.
        spec: Table.
        parts: Parts.
        view: Another name.
    """
    name = view or spec.name
    connection = session.connection
    columns = ", ".join(f'"{c.name}"' for c in spec.columns)
    whole = [p.path for p in parts if not p.repeated]
    partly = [p for p in parts if p.repeated]
    selects = []
    if whole:
        rows = with_all_columns(read_files(connection, whole), spec)
        rows.create_view(f"{name}_whole")
        selects.append(f'SELECT {columns} FROM "{name}_whole"')  # noqa: S608  our schema
    if not parts:
        session.register(f"{name}_none", spec.empty())
        selects.append(f'SELECT {columns} FROM "{name}_none"')  # noqa: S608
    if partly:
        session.register(f"{name}_ranges", _ranges(partly))
        rows = connection.read_parquet(
            [str(path) for path in present(part.path for part in partly)],
            filename=True,
            file_row_number=True,
            union_by_name=True,
            hive_partitioning=False,
        )
        with_all_columns(rows, spec).create_view(f"{name}_partly")
        # The engine writes the ranges out: a grown file repeats millions of rows.
        connection.execute(
            f'CREATE TEMP VIEW "{name}_repeated" AS '  # noqa: S608
            "SELECT part_path, UNNEST(RANGE(first_row, first_row + row_count)) AS position "
            f'FROM "{name}_ranges"'
        )
        selects.append(
            f'SELECT {columns} FROM "{name}_partly" AS p WHERE NOT EXISTS ('  # noqa: S608
            f'SELECT 1 FROM "{name}_repeated" AS r '
            "WHERE r.part_path = p.filename AND r.position = p.file_row_number)"
        )
    connection.execute(f'CREATE TEMP VIEW "{name}" AS ' + " UNION ALL ".join(selects))


def _ranges(parts: list[StagedPart]) -> pl.DataFrame:
    return pl.DataFrame(
        [(str(part.path), first, count) for part in parts for first, count in part.repeated],
        schema={"part_path": pl.String, "first_row": pl.Int64, "row_count": pl.Int64},
        orient="row",
    )


def show_files(session: SqlSession, spec: TableSpec, files: list[tuple[dt.date, Path]]) -> None:
    """Show the rows of published files with their `date`, as a view of the table's name.

    Args:
        session: Where to.
        spec: Table.
        files: Day and path of each file.
    """
    connection = session.connection
    columns = ", ".join(f'"{c.name}"' for c in spec.columns)
    source = f"{spec.name}_files"
    if files:
        rows = read_files(connection, (path for _, path in files), dated=True)
        with_all_columns(rows, spec).create_view(source)
    else:
        session.register(source, spec.empty().with_columns(date=pl.lit(None, pl.Date)))
    connection.execute(
        f'CREATE TEMP VIEW "{spec.name}" AS SELECT {columns}, "date" FROM "{source}"'  # noqa: S608
    )


def _frame_digest(frame: pl.DataFrame) -> str:
    return digest(repr(row) for row in frame.iter_rows())


def _files_digest(files: pl.DataFrame) -> str:
    """Digest of files as transforms may see them: by content and name, wherever the folder lies.

    What was read of a content follows from it; which of two equal records or files is credited
    depends on the order of landing, on which nothing that is built may depend.
    """
    content = files.select(
        "export",
        "format",
        "cluster",
        "node",
        "project",
        "landing_date",
        "content_hash",
        name=pl.col("path").str.split("/").list.last(),
    )
    return digest(sorted(repr(row) for row in content.iter_rows()))


def _export_tables(settings: Settings, ledger: Ledger) -> tuple[tuple[str, str], ...]:
    """(cluster or fleet, staging table) that the exports can fill."""
    staging = {name for name, spec in tables().items() if spec.layer == "staging"}
    pairs: set[tuple[str, str]] = set()
    for export in settings.exports:
        formats = {export.format}
        if export.format == "auto":
            seen = ledger.files.filter(pl.col("export") == export.name)["format"]
            formats = set(seen.unique().to_list())
        if export.clusters is not None:
            scopes = export.clusters
        elif "{cluster}" in export.path:
            scopes = tuple(settings.clusters)
        else:
            scopes = (FLEET,)
        pairs.update(
            (scope, table)
            for name in formats
            for table in parsers()[name].tables
            if table in staging
            for scope in scopes
        )
    return tuple(sorted(pairs))

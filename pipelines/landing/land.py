"""Land export files: find what is new, parse it once, account for it, commit it.

Files are read in two passes: a checked pass that hashes the text, so that known content is never
parsed twice, and the parse. Parts are written by worker processes; one writer, under the lake's
lock, finds repeated records and commits.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from multiprocessing import forkserver, get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from pipelines.damage import reading
from pipelines.errors import DataCheckError, InputError, ResourceError
from pipelines.landing.context import file_context, stored_path
from pipelines.landing.detection import Detected, identify
from pipelines.landing.duplicates import Repeats, find_repeats
from pipelines.landing.formats import parsers
from pipelines.landing.inputs import (
    InputFile,
    as_listed,
    is_as_listed,
    list_inputs,
    replaced,
)
from pipelines.landing.marks import Mark, known_marks, remember_marks
from pipelines.landing.parsing import Batch, BatchOutcome, FileJob, FileOutcome, parse_batch
from pipelines.landing.readers import UNREADABLE, Break, Scan, scan
from pipelines.landing.reading import read_as
from pipelines.landing.start import without_main
from pipelines.ledger import EXPORT_FILES, REJECTED_RECORDS, Ledger
from pipelines.publication import TableWriter
from pipelines.settings import ExportSettings, Settings
from pipelines.storage import Lake, spill_of
from schemas.registry import table_spec, tables
from schemas.table import FLEET
from transforms.sql import SqlSession
from transforms.staging.parser import FileContext, Parser
from transforms.staging.values import identity

LARGE_FILE = 32 << 20
"""A file of this size is a part of its own."""
BATCH_FILES = 500
BATCH_BYTES = 64 << 20
PARALLEL_FROM = 16 << 20
"""Below this much input, starting worker processes costs more than they save."""
MEMORY_OF_WORKER = 800_000_000
"""What a process that parses takes at most; big files of Hubble's do."""
MEMORY_BESIDE_WORKERS = 400_000_000
"""What the process that starts them takes, with the one that forks them."""
WAVE_BATCHES = 64
"""Parts committed together; bounds what a killed build must do again."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, done so far, and in all."""


def quiet(_what: str, _done: int, _total: int) -> None:
    """Default progress: none."""


@dataclass
class LandReport:
    """What a landing did.

    Attributes:
        files: Files that are new to the ledger.
        same_content: Files among them whose content was known.
        records: Records by `record`, `accepted`, `duplicate`, `rejected`, `ignored`.
        unknown: Files that stay unread and places that cannot be listed, with the reason.
        days: Landing days that got commits.
    """

    files: int = 0
    same_content: int = 0
    records: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("record", "accepted", "duplicate", "rejected", "ignored"), 0
        )
    )
    unknown: list[tuple[str, str]] = field(default_factory=list)
    days: set[date] = field(default_factory=set)


@dataclass(frozen=True)
class Found:
    """A file with what the checked pass found."""

    file: InputFile
    format: str
    context: FileContext
    scan: Scan
    export_file_id: str
    scope: str
    grown_from: str | None


def land(
    settings: Settings,
    lake: Lake,
    first_seen: date,
    progress: Progress = quiet,
    days: frozenset[date] | None = None,
) -> LandReport:
    """Land every file that the exports match and the ledger does not know.

    Call it under the lake's lock.

    Args:
        settings: Settings.
        lake: The lake.
        first_seen: Landing day of files whose path has none.
        progress: Told how far it is.
        days: Only files of these landing days; all if none.

    Raises:
        DataCheckError: A file's records do not add up.
    """
    lake.sweep()
    ledger = Ledger.read(lake)
    staging = tuple(name for name, spec in tables().items() if spec.layer == "staging")
    ledger.remove_unlisted_parts(staging)
    report = LandReport()
    inputs = _inputs(settings, lake, ledger)
    new = [pair for pair in inputs.new if days is None or (pair[0].facts.day or first_seen) in days]
    _prepare_workers(settings, sum(file.size for file, _ in new))
    found, unread = _examine_all(settings, ledger, new, first_seen, progress)
    report.unknown = inputs.problems + unread
    known, fresh, touched = _split_known(ledger, found)
    remember_marks(lake, {_mark_of(item) for item in touched}, inputs.listed)
    _commit_known(lake, known, report)
    batches = _batches(fresh)
    by_id = {item.export_file_id: item for item in fresh}
    listed = {i.export_file_id: Listed(i.file.mark, i.scan.content_hash) for i in fresh}
    outcomes = parse_all(settings, lake, batches, listed, progress)
    wave: list[BatchOutcome] = []
    for batch, outcome in zip(batches, outcomes, strict=True):
        if isinstance(outcome, str):
            report.unknown.extend((job.context.path, outcome) for job in batch.files)
            continue
        wave.append(outcome)
        if len(wave) >= WAVE_BATCHES:
            ledger = commit(settings, lake, ledger, wave, by_id, report)
            wave = []
    commit(settings, lake, ledger, wave, by_id, report)
    return report


@dataclass(frozen=True)
class NewFiles:
    """What the exports' patterns find that the ledger does not know.

    Attributes:
        days: Landing days of the files, sorted.
        problems: (path, reason) of places that cannot be listed and of folders in place of files.
        unmatched: Names of exports of which no file is there and none ever landed.
    """

    days: list[date]
    problems: list[tuple[str, str]]
    unmatched: list[str]


def new_files(settings: Settings, lake: Lake, first_seen: date) -> NewFiles:
    """What there is to land, and what cannot be listed."""
    ledger = Ledger.read(lake)
    inputs = _inputs(settings, lake, ledger)
    days = sorted({file.facts.day or first_seen for file, _ in inputs.new})
    landed = set(ledger.files["export"].unique())
    return NewFiles(days, inputs.problems, sorted(set(inputs.unmatched) - landed))


@dataclass(frozen=True)
class _Inputs:
    """Files that the exports' patterns find.

    Attributes:
        new: Those that the ledger does not know, small ones first, so that a file is known before
            the one that grew from it.
        listed: Marks of all; none if a place cannot be listed, so that it is not known.
        problems: (path, reason) of what cannot be listed.
        unmatched: Names of exports whose patterns find nothing.
    """

    new: list[tuple[InputFile, ExportSettings]]
    listed: frozenset[Mark] | None
    problems: list[tuple[str, str]]
    unmatched: list[str]


def _inputs(settings: Settings, lake: Lake, ledger: Ledger) -> _Inputs:
    found: list[tuple[InputFile, ExportSettings]] = []
    problems: list[tuple[str, str]] = []
    listed: set[Mark] = set()
    known = ledger.marks | known_marks(lake)
    taken: dict[str, set[str]] = {}
    unmatched: list[str] = []
    for export in settings.exports:
        listing = list_inputs(settings, export)
        if not listing.files:
            unmatched.append(export.name)
        problems.extend(
            (stored_path(path), reason)
            for path, reason in listing.problems
            if (stored_path(path), reason) not in problems
        )
        for file in listing.files:
            # A file is read once, by the first export that matches it, else its records would stand
            # in two scopes. One that states another format is kept, to be named as wrong.
            formats = taken.setdefault(file.path, set())
            if formats and (export.format == "auto" or formats & {export.format, "auto"}):
                continue
            formats.add(export.format)
            mark = (export.name, stored_path(file.path), file.mark)
            listed.add(mark)
            if mark not in known:
                found.append((file, export))
    found.sort(key=lambda p: (p[0].facts.day or date.max, p[0].size, p[0].path))
    return _Inputs(found, None if problems else frozenset(listed), problems, unmatched)


def _examine_all(
    settings: Settings,
    ledger: Ledger,
    new: Sequence[tuple[InputFile, ExportSettings]],
    first_seen: date,
    progress: Progress,
) -> tuple[list[Found], list[tuple[str, str]]]:
    """Read every new file once: what it is, its hash, what it grew from; several at a time.

    Files of one node are read one after the other, small ones first, since each may have grown from
    the one before. Files of no node are read in any order, so that they have grown only from what
    was there before this landing: what is found must not depend on which thread was first.
    """
    contents = Contents(ledger)
    groups: dict[object, list[int]] = {}
    for place, (file, export) in enumerate(new):
        node = file.facts.node
        key = place if node is None else (_cluster_of(file, export), node)
        groups.setdefault(key, []).append(place)
    results: dict[int, Found | str] = {}

    def examine_each(places: list[int]) -> None:
        for place in places:
            file, export = new[place]
            results[place] = item = examine(settings, contents, file, export, first_seen)
            if isinstance(item, Found) and item.context.node is not None:
                contents.add(item)
            progress("reading", len(results), len(new))

    # Threads are enough: hashing, decompression and reading leave the interpreter free.
    with ThreadPoolExecutor(settings.workers) as pool:
        for done in [pool.submit(examine_each, places) for places in groups.values()]:
            done.result()
    found, unknown = [], []
    for place, (file, _) in enumerate(new):
        item = results[place]
        if isinstance(item, str):
            unknown.append((stored_path(file.path), item))
        else:
            found.append(item)
    return found, unknown


def _split_known(
    ledger: Ledger, found: Sequence[Found]
) -> tuple[list[tuple[Found, str]], list[Found], list[Found]]:
    """Files whose content was read before, with the file that was read; the new; the touched."""
    contents = {
        _told_by(*key, path): file_id
        for key, files in ledger.contents.items()
        for file_id, path in reversed(files)
    }
    ids = set(ledger.files["export_file_id"].to_list())
    known: list[tuple[Found, str]] = []
    fresh: list[Found] = []
    touched: list[Found] = []
    for item in found:
        if item.export_file_id in ids:
            # The same path with the same content: only its modification mark is new.
            touched.append(item)
            continue
        ids.add(item.export_file_id)
        key = _told_by(
            item.scope, item.context.node, item.format, item.scan.content_hash, item.context.path
        )
        # A damaged file is no copy of one that ends where it breaks: its break must be counted.
        if key in contents and item.scan.broken is None:
            known.append((item, contents[key]))
        else:
            contents.setdefault(key, item.export_file_id)
            fresh.append(item)
    return known, fresh, touched


def _mark_of(found: Found) -> Mark:
    return (found.context.export, found.context.path, found.file.mark)


def _told_by(
    scope: str, node: str | None, format_name: str, content_hash: str, path: str
) -> tuple[str | None, ...]:
    """What makes two files one statement.

    A list of pods that did not change says each night that they are still there, so that its path
    is part of what it says.
    """
    known = path if parsers()[format_name].reads_path else None
    return (scope, node, format_name, content_hash, known)


class Contents:
    """Contents known to the ledger, and those found in this landing, to tell what grew."""

    def __init__(self, ledger: Ledger) -> None:
        self._files = {key: files[0][0] for key, files in ledger.contents.items()}
        self._lengths = {kind: set(n) for kind, n in ledger.content_lengths.items()}

    def add(self, found: Found) -> None:
        """Note a new file."""
        kind = (found.scope, found.context.node, found.format)
        self._files.setdefault((*kind, found.scan.content_hash), found.export_file_id)
        self._lengths.setdefault(kind, set()).add(found.scan.text_bytes)

    def lengths(self, scope: str, node: str | None, format_name: str) -> list[int]:
        """Lengths of the contents that a file of this kind may have grown from."""
        return sorted(self._lengths.get((scope, node, format_name), ()))

    def grown_from(
        self, scope: str, node: str | None, format_name: str, scanned: Scan
    ) -> str | None:
        """The longest earlier content that the scanned one begins with."""
        for _, prefix_hash in reversed(scanned.prefixes):
            earlier = self._files.get((scope, node, format_name, prefix_hash))
            if earlier is not None:
                return earlier
        return None


def examine(
    settings: Settings,
    contents: Contents,
    file: InputFile,
    export: ExportSettings,
    first_seen: date,
) -> Found | str:
    """Read a file once: what it is, its hash, what it grew from.

    Args:
        settings: Settings.
        contents: Contents that are known.
        file: The file.
        export: Its export.
        first_seen: Its landing day, if its path says none.

    Returns:
        What was found, or why it cannot be read.
    """
    cluster = _cluster_of(file, export)
    scope = cluster or FLEET
    try:
        looked = _look(settings, contents, file, export, scope)
        if looked is None:
            # It was written to while it was read.
            looked = _look(settings, contents, file, export, scope, copied=True)
    except InputError as error:
        # One file that cannot be read must not keep the others, and their clusters, from landing.
        return str(error).removeprefix(f"{file.path}: ")
    except OSError as error:
        return f"{error.strerror or 'cannot be read'}; expected a readable file"
    if looked is None or isinstance(looked, str):
        return looked or "cannot be read"
    parser, scanned = looked
    if scanned.broken is not None and scanned.broken.reason.startswith(UNREADABLE):
        return scanned.broken.reason
    context = file_context(
        settings,
        export,
        path=stored_path(file.path),
        cluster=cluster,
        node=file.facts.node,
        project=file.facts.project,
        landing_date=file.facts.day or first_seen,
        path_at=file.facts.hour_at,
    )
    return Found(
        file,
        parser.name,
        context,
        scanned,
        identity(scope, context.path, scanned.content_hash, *_damage(scanned)),
        scope,
        contents.grown_from(scope, file.facts.node, parser.name, scanned),
    )


def _look(
    settings: Settings,
    contents: Contents,
    file: InputFile,
    export: ExportSettings,
    scope: str,
    *,
    copied: bool = False,
) -> tuple[Parser, Scan] | str | None:
    """Tell the format of a file and hash its bytes as they were listed.

    Returns:
        Parser and hash; or why it is not read; none if the file changed meanwhile.
    """
    with as_listed(file.path, file.size, file.mark, settings.temp_path, copied=copied) as path:
        stated = None if export.format == "auto" else export.format
        detected = identify(path, stated, export.record_format)
        if isinstance(detected, Detected):
            lengths = contents.lengths(scope, file.facts.node, detected.parser.name)
            scanned = scan(path, lengths)
        if path == Path(file.path) and not is_as_listed(file.path, file.mark):
            return None
    return (detected.parser, scanned) if isinstance(detected, Detected) else detected


def _cluster_of(file: InputFile, export: ExportSettings) -> str | None:
    """Cluster that a file belongs to, by its path or its export; none for the fleet's."""
    if file.facts.cluster is None and export.clusters is not None and len(export.clusters) == 1:
        return export.clusters[0]
    return file.facts.cluster


def _damage(scanned: Scan) -> tuple[str, ...]:
    """What tells a damaged file from a whole one of the same path and readable text."""
    return () if scanned.broken is None else (scanned.broken.reason,)


def _batches(fresh: Sequence[Found]) -> list[Batch]:
    groups: dict[tuple[date, str, str], list[Found]] = {}
    for item in fresh:
        key = (item.context.landing_date, item.scope, item.format)
        groups.setdefault(key, []).append(item)
    return [
        batch_of(chunk, identity(*(item.export_file_id for item in chunk))[:16])
        for _, items in sorted(groups.items(), key=lambda pair: pair[0])
        for chunk in _chunks(items)
    ]


def batch_of(items: Sequence[Found], part: str) -> Batch:
    """Files that become one part, of one scope, format and landing day."""
    jobs = tuple(
        FileJob(
            i.export_file_id,
            i.file.path,
            i.file.size,
            i.context,
            i.format,
            i.scan.text_bytes,
            _inside(i.scan.broken),
        )
        for i in items
    )
    return Batch(part, items[0].context.cluster, jobs)


def _inside(broken: Break | None) -> Break | None:
    """The break, if it makes all of the file doubtful."""
    return broken if broken is not None and broken.is_damage else None


def _chunks(items: Sequence[Found]) -> Iterator[list[Found]]:
    chunk: list[Found] = []
    size = 0
    for item in items:
        if item.scan.text_bytes >= LARGE_FILE:
            yield [item]
            continue
        if chunk and (len(chunk) >= BATCH_FILES or size + item.scan.text_bytes > BATCH_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += item.scan.text_bytes
    if chunk:
        yield chunk


@dataclass(frozen=True)
class Listed:
    """What a file was when it was hashed.

    Attributes:
        mark: Mark as listed.
        content_hash: Hash of its text.
    """

    mark: str
    content_hash: str


def parse_all(
    settings: Settings,
    lake: Lake,
    batches: Sequence[Batch],
    listed: dict[str, Listed],
    progress: Progress,
) -> Iterator[BatchOutcome | str]:
    """Parse batches in order; several at a time where there is enough to do.

    A file that vanished or cannot be read any more leaves its batch for the next landing; why is
    given in place of an outcome.
    """
    parses = [
        partial(
            _parse_as_listed,
            parse_batch,
            lake,
            batch,
            {job.export_file_id: listed[job.export_file_id] for job in batch.files},
            settings.temp_path,
        )
        for batch in batches
    ]
    total = sum(job.size for batch in batches for job in batch.files)
    workers = min(_workers(settings), len(batches))
    if workers <= 1 or total < PARALLEL_FROM:
        for done, parse in enumerate(parses):
            progress("parsing", done, len(batches))
            yield _outcome(parse)
        return
    with ProcessPoolExecutor(workers, mp_context=_worker_context()) as pool:
        with without_main():
            waiting = [pool.submit(parse) for parse in parses]
        for done, future in enumerate(waiting):
            progress("parsing", done, len(batches))
            try:
                yield _outcome(future.result)
            except BrokenProcessPool:
                message = (
                    "a process that parsed was ended from outside, most likely because memory ran "
                    "out; what it did is left for the next landing; lower `workers`"
                )
                raise ResourceError(message) from None


def _parse_as_listed(
    parse: Callable[[Lake, Batch, Path | None], BatchOutcome],
    lake: Lake,
    batch: Batch,
    listed: dict[str, Listed],
    temp: Path | None,
) -> BatchOutcome:
    """Parse the very bytes of a batch that were hashed: the work of one worker process.

    Raises:
        InputError: A file was replaced since then, or vanished.
    """
    changed: set[str] = set()
    while True:
        with ExitStack() as stack:
            jobs = tuple(
                _as_hashed(stack, job, listed[job.export_file_id], temp, job.source in changed)
                for job in batch.files
            )
            outcome = parse(lake, replace(batch, files=jobs), temp)
            # One that was written to while it was parsed is parsed again, from a copy.
            written = {
                job.source
                for job, given in zip(batch.files, jobs, strict=True)
                if given.source == job.source
                and not is_as_listed(job.source, listed[job.export_file_id].mark)
            }
        if not written:
            return replace(outcome, batch=batch)
        changed |= written


def _as_hashed(
    stack: ExitStack, job: FileJob, listed: Listed, temp: Path | None, copied: bool
) -> FileJob:
    path = stack.enter_context(as_listed(job.source, job.size, listed.mark, temp, copied=copied))
    if path == Path(job.source):
        return job
    if scan(path).content_hash != listed.content_hash:
        raise replaced(job.source)
    return replace(job, source=str(path))


def _outcome(parse: Callable[[], BatchOutcome]) -> BatchOutcome | str:
    try:
        return parse()
    except InputError as error:
        return f"its part is left for the next landing: {error}"


def _worker_context() -> BaseContext:
    """How workers start: not from this process, as threads of the engines do not survive a fork.

    A server that has done nothing but import forks them, which saves each of them the imports.
    """
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["pipelines.landing.worker"])
    return context


def _workers(settings: Settings) -> int:
    """Processes that parse side by side: as many as the memory limit has room for."""
    memory = settings.memory_limit - MEMORY_BESIDE_WORKERS
    return max(1, min(settings.workers, memory // MEMORY_OF_WORKER))


def _prepare_workers(settings: Settings, total: int) -> None:
    """Let the server of workers import while files are still examined."""
    if _workers(settings) > 1 and total >= PARALLEL_FROM:
        context = _worker_context()
        if context.get_start_method() == "forkserver":
            forkserver.ensure_running()


def commit(
    settings: Settings,
    lake: Lake,
    ledger: Ledger,
    outcomes: Sequence[BatchOutcome],
    by_id: dict[str, Found],
    report: LandReport,
) -> Ledger:
    """Commit parsed batches: write the ledger rows that make their parts exist."""
    if not outcomes:
        return ledger
    rows_of = ledger_rows(settings, lake, ledger, outcomes, by_id)
    for outcome, rows in zip(outcomes, rows_of, strict=True):
        batch = outcome.batch
        day = batch.files[0].context.landing_date
        write_rows(lake, EXPORT_FILES, day, f"{batch.cluster or FLEET}-{batch.part}", rows)
        report.days.add(day)
        for row in rows:
            report.files += 1
            for kind in report.records:
                report.records[kind] += row[f"{kind}_count"]
    return Ledger.read(lake)


def ledger_rows(
    settings: Settings,
    lake: Lake,
    ledger: Ledger,
    outcomes: Sequence[BatchOutcome],
    by_id: dict[str, Found],
) -> list[list[dict[str, Any]]]:
    """What the ledger is to say of parsed batches, whose records repeat those of the ledger.

    Raises:
        DataCheckError: A part's rows do not add up; it stays uncommitted.
    """
    with SqlSession(
        threads=settings.workers,
        memory_limit=f"{settings.memory_limit // 2}B",
        temp_directory=spill_of(lake, settings.temp_path),
    ) as session:
        earlier = (part.path for part in ledger.all_parts())
        with reading(earlier, ledger.remedy):
            repeats = find_repeats(lake, ledger, outcomes, session)
    for outcome in outcomes:
        _check_part(lake, outcome)
    return [
        [
            _ledger_row(outcome.batch, file, by_id[file.export_file_id], repeats)
            for file in outcome.files
        ]
        for outcome in outcomes
    ]


def _check_part(lake: Lake, outcome: BatchOutcome) -> None:
    """Compare what was counted while parsing with what the part's files hold.

    Raises:
        DataCheckError: A file holds another number of rows; the part stays uncommitted.
    """
    batch = outcome.batch
    counted = {REJECTED_RECORDS: sum(file.rejected_count for file in outcome.files)}
    for file in outcome.files:
        for table, (_, count) in file.tables.items():
            counted[table] = counted.get(table, 0) + count
    for table, count in counted.items():
        path = lake.path(
            table, batch.files[0].context.landing_date, f"{batch.cluster or FLEET}-{batch.part}"
        )
        held = pq.read_metadata(path).num_rows if path.is_file() else 0
        if held != count:
            message = (
                f"{batch.files[0].context.path}: {table}: {held} row(s) written, but {count} "
                "counted; nothing of its part is published"
            )
            raise DataCheckError(message)


def _ledger_row(
    batch: Batch,
    outcome: FileOutcome,
    found: Found,
    repeats: Repeats,
) -> dict[str, Any]:
    context = found.context
    duplicates = repeats.records.get(outcome.export_file_id, 0)
    row = {
        **_file_columns(found),
        "same_content_as": None,
        "grown_from": found.grown_from,
        "record_count": outcome.record_count,
        "accepted_count": outcome.accepted_count - duplicates,
        "duplicate_count": duplicates,
        "rejected_count": outcome.rejected_count,
        "ignored_count": outcome.ignored.total(),
        "ignored_reasons": [f"{k}={v}" for k, v in sorted(outcome.ignored.items())],
        "part": batch.part,
        "rows_by_table": [
            {
                "table_name": table,
                "first_row": first,
                "row_count": count,
                "repeated": repeats.rows.get((table, outcome.export_file_id), []),
            }
            for table, (first, count) in sorted(outcome.tables.items())
        ],
        "first_event_at": outcome.first_event_at,
        "last_event_at": outcome.last_event_at,
        "capabilities": sorted(outcome.capabilities),
        "naming_facts": outcome.naming.texts(),
        "lookup_clients": outcome.naming.addresses(),
    }
    total = sum(row[f"{kind}_count"] for kind in ("accepted", "duplicate", "rejected", "ignored"))
    if total != outcome.record_count:
        message = (
            f"{context.path}: {outcome.record_count} records, but {total} accounted for; "
            "nothing of it is published"
        )
        raise DataCheckError(message)
    return row


def _file_columns(found: Found) -> dict[str, Any]:
    context = found.context
    return {
        "export_file_id": found.export_file_id,
        "export": context.export,
        "format": found.format,
        "cluster": context.cluster,
        "node": context.node,
        "project": context.project,
        "path": context.path,
        "landing_date": context.landing_date,
        "stored_mark": found.file.mark,
        "size_bytes": found.file.size,
        "text_bytes": found.scan.text_bytes,
        "content_hash": found.scan.content_hash,
        "read_as": read_as(found.format, context),
    }


def _commit_known(lake: Lake, known: Sequence[tuple[Found, str]], report: LandReport) -> None:
    """Commit files whose content was read before: a row each, with zero records."""
    groups: dict[tuple[date, str], list[tuple[Found, str]]] = {}
    for item, same_as in known:
        groups.setdefault((item.context.landing_date, item.scope), []).append((item, same_as))
    for (day, scope), items in sorted(groups.items()):
        rows = [_file_columns(item) | read_in_its_place(same_as) for item, same_as in items]
        name = f"{scope}-{identity(*(r['export_file_id'] for r in rows))[:16]}"
        write_rows(lake, EXPORT_FILES, day, name, rows)
        report.days.add(day)
        report.files += len(rows)
        report.same_content += len(rows)


def read_in_its_place(file_id: str) -> dict[str, Any]:
    """What the ledger says of a file that another one was read in place of: it has no records."""
    return {
        "same_content_as": file_id,
        "grown_from": None,
        **{
            f"{kind}_count": 0
            for kind in ("record", "accepted", "duplicate", "rejected", "ignored")
        },
        "ignored_reasons": [],
        "part": None,
        "rows_by_table": [],
        "first_event_at": None,
        "last_event_at": None,
        "capabilities": [],
        "naming_facts": [],
        "lookup_clients": [],
    }


def write_rows(
    lake: Lake, table: str, day: date, name: str, rows: Sequence[dict[str, Any]]
) -> None:
    """Write the rows of one commit, or of the rejects that it lists."""
    spec = table_spec(table)
    schema = spec.polars_schema
    frame = pl.DataFrame(
        {c: [row[c] for row in rows] for c in schema}, schema=schema, strict=True
    ).sort(spec.order, nulls_last=True)
    with (
        lake.replacing(lake.path(table, day, name)) as temporary,
        TableWriter(spec, temporary) as writer,
    ):
        writer.write(frame)

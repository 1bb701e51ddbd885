"""Read export files again that would be read otherwise now, where they are still there.

A setting, a redaction key or a parser that changes leaves what was read as it is, until somebody
asks. Then all files of a commit are read into a new part, and the commit that lists the new one
replaces that of the old one in one step; a killed run leaves each commit as it was or as it will
be, and the next one goes on. A file that grew is there as what it grew to: that is read in its
place. Of a commit that lists a file which is gone, nothing is read again: a record that cannot be
read any more stays as it was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from pipelines.landing.context import stored_path
from pipelines.landing.inputs import InputFile, list_inputs
from pipelines.landing.land import (
    WAVE_BATCHES,
    Contents,
    Found,
    Listed,
    Progress,
    batch_of,
    examine,
    ledger_rows,
    parse_all,
    quiet,
    read_in_its_place,
    write_rows,
)
from pipelines.landing.parsing import BatchOutcome
from pipelines.landing.reading import read_as, read_otherwise
from pipelines.ledger import EXPORT_FILES, Ledger
from pipelines.settings import ExportSettings, Settings
from pipelines.storage import Lake
from schemas.registry import tables
from transforms.staging.values import identity

STAYS = "it stays as it was read"
GONE = f"gone, or not what was read; {STAYS}"


@dataclass
class Reread:
    """What was read again.

    Attributes:
        files: How many files.
        left: (path, reason) of files that stay as they were read.
    """

    files: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class _Commit:
    """A commit whose files are to be read again.

    Attributes:
        path: The commit.
        rows: What it says of each file, by id.
        found: Files that are there.
        refused: Why others cannot be read again.
        replaced: Files that are read in the place of others, by those.
    """

    path: Path
    rows: dict[str, dict[str, Any]]
    found: dict[str, Found] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)

    @property
    def problem(self) -> str | None:
        """Why nothing of it is read again."""
        if self.refused:
            path = self.rows[min(self.refused)]["path"]
            return f"its part holds {path}, which cannot be read again; {STAYS}"
        if len({item.format for item in self.found.values()}) > 1:
            return "its part holds files that are of several formats now; " + STAYS
        return None


def read_again(settings: Settings, lake: Lake, progress: Progress = quiet) -> Reread:
    """Read what would be read otherwise now. Call it under the lake's lock.

    Raises:
        DataCheckError: A file's records do not add up; it stays as it was read.
    """
    ledger = Ledger.read(lake)
    stale = {file.export_file_id: file.path for file in read_otherwise(settings, ledger)}
    report = Reread()
    if not stale:
        return report
    commits = _planned(settings, ledger, set(stale))
    chosen = _without_gone(commits)
    read = {file_id for commit in chosen for file_id in commit.rows}
    for commit in commits:
        for file_id in commit.rows.keys() & stale.keys() - read:
            reason = commit.refused.get(file_id) or commit.problem or GONE
            report.left.append((stale[file_id], reason))
    report.left.sort()
    _replace(settings, lake, ledger, chosen, report, progress)
    staging = tuple(name for name, spec in tables().items() if spec.layer == "staging")
    Ledger.read(lake).remove_unlisted_parts(staging)
    return report


def _planned(settings: Settings, ledger: Ledger, stale: set[str]) -> list[_Commit]:
    """Commits of the stale files, and of what those grew to that are gone themselves."""
    rows = {row["export_file_id"]: row for row in ledger.files.iter_rows(named=True)}
    children: dict[str, list[str]] = {}
    for file_id, row in rows.items():
        if row["grown_from"] is not None and row["part"] is not None:
            children.setdefault(row["grown_from"], []).append(file_id)
    at_hand = _AtHand(settings, ledger)
    of_commit: dict[Path, list[str]] = {}
    for file_id, row in rows.items():
        if row["part"] is not None:
            path = ledger.commit_of(row["landing_date"], row["cluster"], row["part"])
            of_commit.setdefault(path, []).append(file_id)
    commit_of = {file_id: path for path, ids in of_commit.items() for file_id in ids}
    planned: dict[Path, _Commit] = {}
    wanted = sorted(stale, key=lambda file_id: (rows[file_id]["path"], file_id))
    while wanted:
        path = commit_of[wanted.pop(0)]
        if path in planned:
            continue
        planned[path] = commit = _Commit(path, {i: rows[i] for i in of_commit[path]})
        for file_id, row in commit.rows.items():
            found = at_hand.find(row)
            if isinstance(found, Found):
                commit.found[file_id] = found
                continue
            grown = _grown_to(file_id, children, rows, at_hand)
            if grown is None:
                commit.refused[file_id] = found
            else:
                commit.replaced[file_id] = grown
                wanted.append(grown)
    return list(planned.values())


def _grown_to(
    file_id: str,
    children: dict[str, list[str]],
    rows: dict[str, dict[str, Any]],
    at_hand: "_AtHand",
) -> str | None:
    """The next file that holds the whole content of another and is there."""
    left = list(children.get(file_id, ()))
    while left:
        child = left.pop(0)
        if isinstance(at_hand.find(rows[child]), Found):
            return child
        left.extend(children.get(child, ()))
    return None


class _AtHand:
    """Export files that are there with the very content that the ledger knows."""

    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self._settings = settings
        self._contents = Contents(ledger)
        self._exports = {export.name: export for export in settings.exports}
        self._listed: dict[str, dict[str, InputFile]] = {}
        self._found: dict[str, Found | str] = {}

    def find(self, row: dict[str, Any]) -> Found | str:
        """The file of a ledger row, or why it is not there any more or cannot be read."""
        file_id = row["export_file_id"]
        if file_id not in self._found:
            self._found[file_id] = self._look(row)
        return self._found[file_id]

    def _look(self, row: dict[str, Any]) -> Found | str:
        export = self._exports.get(row["export"])
        file = self._files_of(export).get(row["path"]) if export is not None else None
        if export is None or file is None:
            return GONE
        found = examine(self._settings, self._contents, file, export, row["landing_date"])
        if isinstance(found, str):
            return f"{found}; {STAYS}"
        return found if found.export_file_id == row["export_file_id"] else GONE

    def _files_of(self, export: ExportSettings) -> dict[str, InputFile]:
        if export.name not in self._listed:
            files = list_inputs(self._settings, export).files
            self._listed[export.name] = {stored_path(file.path): file for file in files}
        return self._listed[export.name]


def _without_gone(commits: Sequence[_Commit]) -> list[_Commit]:
    """Commits of which everything can be read again, those first of which nothing is replaced."""
    chosen = list(commits)
    while True:
        read = {i for commit in chosen for i in commit.found}
        left = [c for c in chosen if c.problem is None and read.issuperset(c.replaced.values())]
        if len(left) == len(chosen):
            break
        chosen = left
    # In the order in which they were made: the first that told a record stays the first.
    return sorted(chosen, key=lambda c: (bool(c.replaced), c.path.stat().st_mtime_ns, c.path.name))


def _replace(
    settings: Settings,
    lake: Lake,
    ledger: Ledger,
    commits: Sequence[_Commit],
    report: Reread,
    progress: Progress,
) -> None:
    """Parse the files of the commits and replace those, some at a time."""
    pending = {file_id for commit in commits for file_id in commit.rows}
    parsed = [commit for commit in commits if commit.found]
    batches = []
    for commit in parsed:
        items = sorted(commit.found.values(), key=lambda item: item.context.path)
        told = (part for i in items for part in (i.export_file_id, read_as(i.format, i.context)))
        batches.append(batch_of(items, identity(*told)[:16]))
    by_id = {i: item for commit in parsed for i, item in commit.found.items()}
    listed = {i: Listed(item.file.mark, item.scan.content_hash) for i, item in by_id.items()}
    outcomes = parse_all(settings, lake, batches, listed, progress)
    wave: list[tuple[_Commit, BatchOutcome]] = []
    whole = {commit.path for commit in commits if not commit.found}

    def publish() -> Ledger:
        others = ledger.files.filter(~pl.col("export_file_id").is_in(list(pending)))
        told = ledger_rows(settings, lake, Ledger(lake, others), [o for _, o in wave], by_id)
        for (commit, _), rows in zip(wave, told, strict=True):
            _write(lake, commit, rows)
            pending.difference_update(commit.rows)
            report.files += len(rows)
        for commit in commits:
            # At once, as its records stand in what was read in its place, too.
            if commit.path in whole and pending.isdisjoint(commit.replaced.values()):
                _write(lake, commit, [])
                pending.difference_update(commit.rows)
                whole.remove(commit.path)
        wave.clear()
        return Ledger.read(lake)

    refused: set[str] = set()
    for commit, outcome in zip(parsed, outcomes, strict=True):
        reason = outcome if isinstance(outcome, str) else GONE
        if isinstance(outcome, str) or refused & {*commit.replaced.values()}:
            refused.update(commit.rows)
            report.left.extend((row["path"], reason) for row in commit.rows.values())
            continue
        wave.append((commit, outcome))
        if len(wave) >= WAVE_BATCHES:
            ledger = publish()
    if wave:
        publish()


def _write(lake: Lake, commit: _Commit, rows: Sequence[dict[str, Any]]) -> None:
    """Replace a commit by one of the files that were read again."""
    of_file = ("export_file_id", "export", "format", "cluster", "node", "project", "path")
    kept = (*of_file, "landing_date", "stored_mark", "size_bytes", "text_bytes", "content_hash")
    replaced = [
        {name: row[name] for name in kept}
        | {"read_as": row["read_as"]}
        | read_in_its_place(commit.replaced[file_id])
        for file_id, row in commit.rows.items()
        if file_id in commit.replaced
    ]
    day = next(iter(commit.rows.values()))["landing_date"]
    write_rows(lake, EXPORT_FILES, day, commit.path.stem, [*rows, *replaced])

"""The lake: where files stand, and how one replaces another in one step.

The only module that writes below a local lake. A file is written under a temporary name in its own
folder, flushed to disk, checked by its writer and then renamed; whoever reads sees the old file or
the new one, never a part. Of a lake on S3 `pipelines.remote_lake` says what differs.
"""

import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from pipelines.errors import LakeBusyError, LakeWriteError, PodledgerError

_DATE_FOLDER = re.compile(r"date=(\d{4}-\d{2}-\d{2})\Z")
TEMPORARY = ".tmp-"
REMEDY = "nothing half-written is visible, and a rerun finishes the work once it can be written"


def _nothing(_moment: str, _path: Path) -> None:
    """Default hook: nothing happens around a rename."""


@dataclass(frozen=True)
class Lake:
    """A lake in a local folder, and what all lakes have in common.

    Attributes:
        root: Its folder.
        hook: Called with `before` and `after` around each rename or removal; tests stop a build
            there.
    """

    root: Path
    hook: Callable[[str, Path], None] = field(default=_nothing, compare=False)

    def path(self, table: str, day: date, name: str) -> Path:
        """Path of one file: `<lake>/<table>/date=YYYY-MM-DD/<name>.parquet`."""
        return self.root / table / f"date={day.isoformat()}" / f"{name}.parquet"

    def days(self, table: str) -> list[date]:
        """Days that a table has a folder for, sorted."""
        folder = self.root / table
        if not folder.is_dir():
            return []
        found = (_DATE_FOLDER.match(entry.name) for entry in folder.iterdir())
        return sorted(date.fromisoformat(match[1]) for match in found if match)

    def files(self, table: str, day: date) -> list[Path]:
        """Published files of a table and day, sorted by name."""
        folder = self.root / table / f"date={day.isoformat()}"
        if not folder.is_dir():
            return []
        return sorted(
            path
            for path in folder.iterdir()
            if path.suffix == ".parquet" and not path.name.startswith(".")
        )

    def sizes(self, paths: Iterable[Path]) -> dict[Path, int]:
        """Bytes of published files."""
        return {path: path.stat().st_size for path in paths}

    def everything(self) -> Iterator[Path]:
        """Published files of all tables, sorted by path."""
        for path in sorted(self.root.glob("*/date=*/*.parquet")):
            if not path.name.startswith("."):
                yield path

    @contextmanager
    def replacing(self, path: Path) -> Iterator[Path]:
        """Give a temporary path beside `path`; rename it there when the block ends well.

        A block that removes the temporary file keeps what stands at `path`.

        Raises:
            LakeWriteError: The disk is full, read-only or fails; what stood at `path` stays.
        """
        temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            if temporary.exists():
                flush(temporary)
                self.hook("before", path)
                self._put(temporary, path)
                self.hook("after", path)
        except OSError as error:
            if not _is_about(error, temporary):
                raise
            message = f"{path}: {error.strerror or error}; {REMEDY}"
            raise LakeWriteError(message) from None
        finally:
            with suppress(OSError):
                temporary.unlink()

    def _put(self, temporary: Path, path: Path) -> None:
        """Put a finished file in its place, in one step."""
        temporary.replace(path)
        flush(path.parent)

    def remove(self, path: Path) -> None:
        """Remove one file."""
        self.hook("before", path)
        self._take_away(path)
        self.hook("after", path)

    def _take_away(self, path: Path) -> None:
        """Remove a file, in one step."""
        with suppress(FileNotFoundError):
            path.unlink()

    def refresh(self) -> None:
        """See what was published by others: in a folder nothing is to be done for that."""

    def sweep(self) -> int:
        """Remove what a killed build left; returns how many files. Call it under the lock."""
        if not self.root.is_dir():
            return 0
        left = list(self.root.glob(f"*/date=*/{TEMPORARY}*"))
        for path in left:
            path.unlink(missing_ok=True)
        sweep_spill(self.spill)
        return len(left)

    @property
    def spill(self) -> Path:
        """Folder in which engines spill what does not fit in memory, unless settings name one."""
        return self.root / f"{TEMPORARY}spill"

    @contextmanager
    def locked(self, owner: str) -> Iterator[None]:
        """Hold the lake's lock, so that one writer commits at a time.

        The lock is held by the operating system, so a killed build leaves no stale lock.

        Raises:
            LakeBusyError: Another build holds it; the message names its owner.
            PodledgerError: The folder cannot be written.
        """
        import fcntl  # noqa: PLC0415  not on every platform; only builds need it

        path = self.root / ".lock"
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            message = f"lake {self.root}: {error.strerror}; expected a folder that can be written"
            raise PodledgerError(message) from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                text = os.read(handle, 4096).decode(errors="replace")
                message = f"lake {self.root} is in use by {_lock_owner(text)}; try again later"
                raise LakeBusyError(message) from None
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps({"owner": owner, "pid": os.getpid()}).encode(), 0)
            yield
        finally:
            os.close(handle)


def spill_of(lake: Lake, temp: Path | None) -> Path:
    """Folder in which an engine that works for a lake spills; several add `-` and a number to it.

    Engines remove what they find in their folder, so that no two of them have the same, nor two
    lakes whose settings name one folder.

    Args:
        lake: The lake.
        temp: Folder of the settings; the lake's own if none.
    """
    if temp is None:
        return lake.spill
    with suppress(OSError):
        # Engines make the last folder only; who cannot make it may never need it.
        temp.mkdir(parents=True, exist_ok=True)
    mark = hashlib.sha256(str(lake.root).encode()).hexdigest()[:12]
    return temp / f"{TEMPORARY}spill-{mark}"


def sweep_spill(spill: Path) -> None:
    """Remove what engines left in a folder of `spill_of`. Call it under the lake's lock."""
    for left in spill.parent.glob(f"{glob.escape(spill.name)}*"):
        shutil.rmtree(left, ignore_errors=True)


def _lock_owner(text: str) -> str:
    try:
        content = json.loads(text)
        return f"{content['owner']} (process {content['pid']})"
    except (ValueError, KeyError, TypeError):
        return "another build"


def _is_about(error: OSError, path: Path) -> bool:
    """Whether an error is about writing a file, or about its folder."""
    return error.filename is not None and Path(error.filename) in {path, *path.parents}


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name a file in errors of the operating system that do not: those of an open file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def flush(path: Path) -> None:
    """Make sure that a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(handle)
    finally:
        os.close(handle)

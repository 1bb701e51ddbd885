"""Find the files of an export, locally or on S3, and make one readable as it was found."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines import object_store
from pipelines.errors import InputError, ObjectStoreError
from pipelines.object_store import SCHEME
from pipelines.path_patterns import PathFacts, PathPattern
from pipelines.settings import ExportSettings, Settings

IGNORED_ENDINGS = (".tmp", ".part", ".partial")
"""Files that their writer has not finished; exporters rename them when they have."""
NO_DAY = "its path names a day or hour that there is not; expected one such as 2026-03-10"
_BLOCK = 1 << 20
_ANY_NAME = re.compile(r"\{[^}]*\}|%.|[*?]")


@dataclass(frozen=True, order=True)
class InputFile:
    """One file that an export's pattern matches.

    Attributes:
        path: Local path or `s3://bucket/key`.
        export: Name of the export.
        size: Size as stored.
        mark: Size with modification time or ETag.
        facts: What the path says.
    """

    path: str
    export: str
    size: int
    mark: str
    facts: PathFacts


@dataclass(frozen=True)
class Listing:
    """What an export's pattern finds.

    Attributes:
        files: The files, by path.
        problems: (path, reason) of places that cannot be listed, of what is in place of files
            (folders, pipes), and of files whose path names a day or hour that there is not.
    """

    files: list[InputFile]
    problems: list[tuple[str, str]] = field(default_factory=list)


def list_inputs(settings: Settings, export: ExportSettings) -> Listing:
    """All files that the export's pattern matches, by path.

    A path whose `{cluster}` is no cluster of the settings, or not one of the export's `clusters`,
    does not match. A place that cannot be listed is named, and what lies elsewhere is found all
    the same.
    """
    pattern = settings.pattern_of(export)
    listing = _list_s3 if pattern.text.startswith("s3://") else _list_local
    found: list[InputFile] = []
    problems: list[tuple[str, str]] = []
    for path, size, mark in listing(pattern, problems):
        # A name on a disk may be no UTF-8; what is stored of it must be.
        text = storable(path)
        match = None if path.endswith(IGNORED_ENDINGS) else pattern.regex.match(text)
        if match is None:
            continue
        cluster = match.groupdict().get("cluster")
        if cluster is not None and cluster not in (export.clusters or settings.clusters):
            continue
        facts = pattern.facts(text)
        if facts is None:
            problems.append((path, NO_DAY))
        else:
            found.append(InputFile(path, export.name, size, mark, facts))
    return Listing(sorted(found), sorted(problems))


def storable(path: str) -> str:
    """A path as text: bytes in it that are no UTF-8 become escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _list_local(
    pattern: PathPattern, problems: list[tuple[str, str]]
) -> Iterator[tuple[str, int, str]]:
    root = Path(pattern.prefix or ".")
    if not os.path.lexists(root):
        return
    # Only `**` reaches deeper than the pattern has folders.
    depth = 1_000 if "**" in pattern.text else pattern.text.count("/") - pattern.prefix.count("/")
    for path in _walk(root, frozenset(), depth, problems, pattern):
        text = path.as_posix()
        if not pattern.regex.match(text):
            continue
        try:
            status = path.stat()
        except OSError:
            # A link that leads nowhere, or a file that was just removed: reading it will say so.
            yield text, 0, "unreadable"
            continue
        if stat.S_ISREG(status.st_mode):
            yield text, status.st_size, _mark(status)
        elif _is_meant_for_files(pattern) and not stat.S_ISDIR(status.st_mode):
            problems.append((text, "no regular file; expected a file"))


def _walk(
    folder: Path,
    above: frozenset[tuple[int, int]],
    depth: int,
    problems: list[tuple[str, str]],
    pattern: PathPattern,
) -> Iterator[Path]:
    """Files below a folder; links to folders are followed, but not back into one above."""
    try:
        status = folder.stat()
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        problems.append((folder.as_posix(), f"{error.strerror}; expected a readable folder"))
        return
    here = (status.st_dev, status.st_ino)
    if here in above:
        return
    for entry in entries:
        path = folder / entry.name
        if not _is_folder(entry):
            yield path
            continue
        if _is_meant_for_files(pattern) and pattern.regex.match(path.as_posix()):
            problems.append((path.as_posix(), "a folder; expected a file"))
        if depth > 0:
            yield from _walk(path, above | {here}, depth - 1, problems, pattern)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link to itself: reading it will say so.
        return False


def _is_meant_for_files(pattern: PathPattern) -> bool:
    """Whether the last name of a pattern says more than that there is one.

    Below `logs/*` folders may lie beside files; what is called `*.log` is meant to be a file.
    """
    return bool(_ANY_NAME.sub("", pattern.text.rpartition("/")[2]))


def _list_s3(
    pattern: PathPattern, problems: list[tuple[str, str]]
) -> Iterator[tuple[str, int, str]]:
    try:
        for stored in object_store.listed(pattern.prefix):
            # A key that ends like a folder is what some tools put in a folder's place.
            if not stored.url.endswith("/"):
                yield stored.url, stored.size, stored.mark
    except ObjectStoreError as error:
        # Without the name of the prefix, which stands beside it.
        problems.append((pattern.prefix, str(error).removeprefix(f"{pattern.prefix}: ")))


def _mark(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}"


def is_as_listed(path: str, mark: str) -> bool:
    """Whether an input still has the mark under which it was listed."""
    try:
        if path.startswith(SCHEME):
            return object_store.head(path).mark == mark
        return _mark(Path(path).stat()) == mark
    except (OSError, ObjectStoreError):
        return False


@contextmanager
def local_copy(path: str, size: int, temp: Path | None) -> Iterator[Path]:
    """Give a local path for an input; a fetched copy is removed when the block ends.

    Raises:
        InputError: The file vanished, cannot be read, or came with another length.
    """
    if not path.startswith(SCHEME):
        local = Path(path)
        if not local.is_file():
            message = f"{path}: vanished; expected a file of {size} bytes"
            raise InputError(message)
        yield local
        return
    with TemporaryDirectory(prefix="podledger-", dir=temp) as folder:
        target = Path(folder) / "input"
        try:
            object_store.fetch(path, target, size)
        except ObjectStoreError as error:
            raise InputError(str(error)) from None
        yield target


@contextmanager
def as_listed(
    path: str, size: int, mark: str, temp: Path | None, *, copied: bool = False
) -> Iterator[Path]:
    """Give a local path under which an input has the bytes that were listed.

    A local file that is still as it was listed is given itself: whoever reads it asks
    `is_as_listed` behind it. One that is written to meanwhile is copied up to its listed length;
    what was added is found by the next landing.

    Args:
        path: Local path or `s3://bucket/key`.
        size: Size as listed.
        mark: Mark as listed.
        temp: Where copies are put.
        copied: Copy a local file in any case.

    Raises:
        InputError: The input vanished, cannot be read, or was replaced.
        OSError: A local file cannot be read.
    """
    with local_copy(path, size, temp) as local:
        if not copied and is_as_listed(path, mark):
            yield local
            return
        if path.startswith(SCHEME):
            raise replaced(path)
        with beginning_of(path, size, temp) as copy:
            yield copy


@contextmanager
def beginning_of(path: str, size: int, temp: Path | None) -> Iterator[Path]:
    """Give a copy of the first bytes of a local file that is written to while it is read.

    Raises:
        InputError: The file is shorter: it was replaced.
        OSError: It cannot be read.
    """
    with TemporaryDirectory(prefix="podledger-", dir=temp) as folder:
        target = Path(folder) / "input"
        left = size
        with Path(path).open("rb") as source, target.open("wb") as copy:
            while left and (block := source.read(min(_BLOCK, left))):
                copy.write(block)
                left -= len(block)
        if left:
            raise replaced(path)
        yield target


def replaced(path: str) -> InputError:
    """What to say of a file whose content is not what was found before."""
    return InputError(f"{path}: replaced while it was read; it is read again by the next landing")

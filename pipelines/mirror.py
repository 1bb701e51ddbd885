"""The local copy of a lake on S3: engines read files, and find those of the lake below a folder.

What was published stands on S3 alone; the copy may be removed at any time, and is made again. It
lies below a folder named `MIRRORS`, so that a path says where its object is. Every object of the
lake has a file there: its bytes, or a stand-in for bytes that nobody asked for yet. Rows of Parquet
are fetched when a reader needs them, everything small at once.

The time of change of a file in the copy is a digest of the object's tag, so that a file says itself
which object it is, and no index beside it can be wrong.
"""

import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from pipelines import object_store
from pipelines.errors import ObjectStoreError
from pipelines.object_store import SCHEME, StoredObject
from pipelines.storage import TEMPORARY

MIRRORS = ".podledger-s3"
"""Folder beside the catalogue: `<bucket>/<prefix>` of each lake lies below it."""
_STAND_IN = b"podledger: not fetched\n"
"""Whole content of a file whose object was not fetched yet; no file of a lake begins like it."""
_LOCK = ".mirror-lock"
_FETCHING = ".fetch-"
_ABANDONED_SECONDS = 3_600
AT_ONCE = ("export_files", "deliveries")
"""Tables of small files that every command reads."""
_TIMES = 10**18
"""Digests are told as nanoseconds from 2001 on, over 31 years: every file system holds these."""
_NOBODY = threading.Lock()


def root_of(folder: Path, url: str) -> Path:
    """Where the copy of a lake lies.

    Args:
        folder: Folder of the catalogue.
        url: `s3://bucket` or `s3://bucket/prefix`.
    """
    bucket, prefix = object_store.bucket_and_key(url)
    return folder.joinpath(MIRRORS, bucket, *filter(None, prefix.split("/")))


def url_of(path: Path) -> str | None:
    """The object that a path in a copy stands for; none for any other path."""
    parts = path.parts
    if MIRRORS not in parts:
        return None
    place = len(parts) - 1 - parts[::-1].index(MIRRORS)
    return SCHEME + "/".join(parts[place + 1 :])


def shown(path: Path) -> str:
    """A path of the lake as people know it."""
    return url_of(path) or str(path)


def is_stand_in(path: Path) -> bool:
    """Whether a file of a copy has none of its object's bytes yet."""
    try:
        if path.stat().st_size != len(_STAND_IN):
            return False
        return path.read_bytes() == _STAND_IN
    except OSError:
        return False


def present(paths: Iterable[Path]) -> list[Path]:
    """The same paths, with the bytes of all that lie in a copy of a lake on S3.

    Raises:
        ObjectStoreError: An object cannot be fetched.
        OSError: The copy cannot be written.
    """
    found = list(paths)
    wanted = [path for path in found if MIRRORS in path.parts and is_stand_in(path)]
    _fetch_all(wanted)
    return found


def _fetch_all(paths: list[Path]) -> None:
    if len(paths) < 2:
        for path in paths:
            _fetch(path)
        return
    with ThreadPoolExecutor(object_store.CONNECTIONS) as pool:
        for done in [pool.submit(_fetch, path) for path in paths]:
            done.result()


def _fetch(path: Path) -> None:
    temporary = path.with_name(f"{_FETCHING}{os.getpid()}-{threading.get_ident()}-{path.name}")
    try:
        stored = object_store.fetch(shown(path), temporary)
        if _time_of(stored) != path.stat().st_mtime_ns:
            # Another one than the file here is of, or it did not come as it is.
            told = object_store.head(stored.url)
            if told.mark != stored.mark:
                stored = object_store.fetch(stored.url, temporary, told.size)
        adopt(temporary, path, stored)
    except ObjectStoreError as error:
        if not error.is_absent:
            raise
        # It was removed since the listing: whoever reads finds no file, as in a local lake.
        forget(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def adopt(temporary: Path, path: Path, stored: StoredObject) -> None:
    """Put a file with an object's bytes in its place in the copy."""
    _date(temporary, stored)
    with _locked(path):
        temporary.replace(path)


def forget(path: Path) -> None:
    """Take a file out of the copy whose object was removed."""
    with _locked(path):
        path.unlink(missing_ok=True)


def refresh(root: Path) -> None:
    """Bring a copy up to date with its lake.

    Files of this machine's own builds that were published meanwhile stay: they are newer than the
    listing.

    Raises:
        ObjectStoreError: The lake cannot be listed, or a small object cannot be fetched.
        OSError: The copy cannot be written.
    """
    root.mkdir(parents=True, exist_ok=True)
    began = time.time_ns()
    prefix = f"{url_of(root)}/"
    there = {}
    for stored in object_store.listed(prefix):
        relative = stored.url.removeprefix(prefix)
        if is_of_lake(relative):
            there[relative] = stored
    wanted: list[Path] = []
    with _locked(root):
        for path, status in _files(root):
            stored_here = there.pop(path.relative_to(root).as_posix(), None)
            if stored_here is None or status.st_mtime_ns != _time_of(stored_here):
                if status.st_ctime_ns >= began:
                    continue
            elif _has_its_bytes(path, status, stored_here):
                continue
            if stored_here is None:
                path.unlink(missing_ok=True)
            elif is_stand_in(path):
                there[stored_here.url.removeprefix(prefix)] = stored_here
            else:
                # Who has looked at the old bytes must not find a stand-in in their place.
                wanted.append(path)
        for relative, stored in there.items():
            path = root / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f"{_FETCHING}{os.getpid()}-{path.name}")
            temporary.write_bytes(_STAND_IN)
            _date(temporary, stored)
            temporary.replace(path)
            if _is_fetched_at_once(path):
                wanted.append(path)
    _fetch_all(wanted)


def is_of_lake(relative: str) -> bool:
    """Whether an object below a lake's prefix is one of its files: the lock is none."""
    name = relative.rpartition("/")[2]
    is_note = relative == name and name.startswith(".")
    folders = relative.split("/")[:-1]
    is_dated = len(folders) == 2 and folders[1].startswith("date=") and ".." not in folders
    is_finished = bool(name) and not name.startswith((TEMPORARY, _FETCHING))
    return is_finished and (is_note or is_dated)


def _is_fetched_at_once(path: Path) -> bool:
    """Whether a file of a copy is read without asking for its bytes, and so needs them."""
    return path.suffix != ".parquet" or path.parent.parent.name in AT_ONCE


def _has_its_bytes(path: Path, status: os.stat_result, stored: StoredObject) -> bool:
    """Whether a file of a copy holds its object's bytes, or nobody needs them yet."""
    if status.st_size == len(_STAND_IN) and is_stand_in(path):
        # Who put it there may have come no further.
        return not _is_fetched_at_once(path)
    return status.st_size == stored.size


def _files(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Files of a copy that are not being written."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if is_of_lake(path.relative_to(root).as_posix()):
                with suppress(FileNotFoundError):
                    yield path, path.stat()


def sweep(root: Path) -> None:
    """Remove what readers that were killed left in a copy; what is fetched at this moment stays."""
    before = time.time() - _ABANDONED_SECONDS
    for path in root.glob(f"*/date=*/{_FETCHING}*"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()


def _time_of(stored: StoredObject) -> int:
    digest = hashlib.sha256(stored.mark.encode()).digest()
    return _TIMES + int.from_bytes(digest[:8]) % _TIMES


def _date(path: Path, stored: StoredObject) -> None:
    moment = _time_of(stored)
    os.utime(path, ns=(moment, moment))


def _root(path: Path) -> Path:
    """Folder of all copies, where their lock lies."""
    return Path(*path.parts[: len(path.parts) - path.parts[::-1].index(MIRRORS)])


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Change a copy alone, among all processes and threads of this machine, for a moment."""
    with _NOBODY:
        handle = os.open(_root(path) / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

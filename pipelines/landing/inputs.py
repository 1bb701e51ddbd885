"""Find the files of an export, locally or on S3, and make one readable as a local file."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipelines.errors import InputError
from pipelines.path_patterns import PathFacts, PathPattern
from pipelines.settings import ExportSettings, Settings

IGNORED_ENDINGS = (".tmp", ".part", ".partial")
"""Files that their writer has not finished; exporters rename them when they have."""


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


@cache
def s3_filesystem() -> Any:  # noqa: ANN401  s3fs is untyped
    """The S3 client; credentials and endpoint come from the standard AWS environment."""
    import s3fs  # noqa: PLC0415  half a second that local inputs need not pay

    return s3fs.S3FileSystem(
        endpoint_url=os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"),
        use_listings_cache=False,
    )


def list_inputs(settings: Settings, export: ExportSettings) -> list[InputFile]:
    """All files that the export's pattern matches, by path.

    A path whose `{cluster}` is no cluster of the settings, or not one of the export's `clusters`,
    does not match.

    Raises:
        InputError: The place cannot be listed.
    """
    pattern = settings.pattern_of(export)
    listing = _list_s3 if pattern.text.startswith("s3://") else _list_local
    found = []
    for path, size, mark in listing(pattern):
        # A name on a disk may be no UTF-8; what is stored of it must be.
        facts = pattern.facts(storable(path))
        if facts is None or path.endswith(IGNORED_ENDINGS):
            continue
        if facts.cluster is not None:
            allowed = export.clusters or tuple(settings.clusters)
            if facts.cluster not in allowed:
                continue
        found.append(InputFile(path, export.name, size, mark, facts))
    return sorted(found)


def storable(path: str) -> str:
    """A path as text: bytes in it that are no UTF-8 become escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _list_local(pattern: PathPattern) -> Iterator[tuple[str, int, str]]:
    root = Path(pattern.prefix or ".")
    if not root.is_dir():
        return
    # Only `**` reaches deeper than the pattern has folders.
    depth = 1_000 if "**" in pattern.text else pattern.text.count("/") - pattern.prefix.count("/")
    for path in _walk(root, frozenset(), depth):
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
            yield text, status.st_size, f"{status.st_size}-{status.st_mtime_ns}"


def _walk(folder: Path, above: frozenset[tuple[int, int]], depth: int) -> Iterator[Path]:
    """Files below a folder; links to folders are followed, but not back into one above."""
    try:
        status = folder.stat()
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        message = f"{folder}: {error.strerror}; expected a readable folder"
        raise InputError(message) from None
    here = (status.st_dev, status.st_ino)
    if here in above:
        return
    for entry in entries:
        if not entry.is_dir():
            yield folder / entry.name
        elif depth > 0:
            yield from _walk(folder / entry.name, above | {here}, depth - 1)


def _list_s3(pattern: PathPattern) -> Iterator[tuple[str, int, str]]:
    try:
        entries = s3_filesystem().find(pattern.prefix, detail=True)
    except FileNotFoundError:
        return
    except Exception as error:  # noqa: BLE001  botocore's errors share no base
        message = f"{pattern.prefix}: cannot be listed ({type(error).__name__})"
        raise InputError(message) from None
    for key, entry in sorted(entries.items()):
        if entry.get("type") == "file":
            size = int(entry.get("size") or 0)
            yield f"s3://{key}", size, f"{size}-{str(entry.get('ETag', '')).strip(chr(34))}"


@contextmanager
def local_copy(path: str, size: int, temp: Path | None) -> Iterator[Path]:
    """Give a local path for an input; a fetched copy is removed when the block ends.

    Raises:
        InputError: The file vanished, cannot be read, or came with another length.
    """
    if not path.startswith("s3://"):
        local = Path(path)
        if not local.is_file():
            message = f"{path}: vanished; expected a file of {size} bytes"
            raise InputError(message)
        yield local
        return
    with TemporaryDirectory(prefix="podledger-", dir=temp) as folder:
        target = Path(folder) / "input"
        try:
            s3_filesystem().get_file(path, str(target))
        except Exception as error:  # noqa: BLE001  botocore's errors share no base
            message = f"{path}: cannot be fetched ({type(error).__name__})"
            raise InputError(message) from None
        if target.stat().st_size != size:
            message = f"{path}: got {target.stat().st_size} bytes, expected {size}"
            raise InputError(message)
        yield target

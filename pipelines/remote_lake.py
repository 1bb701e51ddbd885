"""A lake on S3: the same files under the same names, each replaced by one PUT.

A large one is put in pieces and replaced by their completion. An object is seen whole or not at
all, so that what holds of a rename on a disk holds here: parts exist once the ledger lists them, a
file is replaced in one step, the catalogue comes last. Files are written to the local copy first
(`pipelines.mirror`), which readers and engines read.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pipelines import mirror, object_store
from pipelines.claims import Hold, claimed
from pipelines.errors import LakeWriteError, ObjectStoreError
from pipelines.object_store import SCHEME
from pipelines.settings import Settings
from pipelines.storage import REMEDY, Lake


@dataclass(frozen=True)
class RemoteLake(Lake):
    """A lake on S3.

    Attributes:
        root: Folder of its local copy.
        hook: As of every lake.
        hold: Whether it may be written.
    """

    hold: Hold = field(default_factory=Hold, compare=False, repr=False)

    @property
    def url(self) -> str:
        """`s3://bucket/prefix`."""
        return mirror.shown(self.root)

    def refresh(self) -> None:
        """See what was published by others.

        Raises:
            ObjectStoreError: The store cannot be asked.
        """
        mirror.refresh(self.root)

    def _put(self, temporary: Path, path: Path) -> None:
        self._require_hold()
        try:
            # A large file may take long: it is asked again before it is seen.
            stored = object_store.put(mirror.shown(path), temporary, self._require_hold)
        except ObjectStoreError as error:
            message = f"{error}; {REMEDY}"
            raise LakeWriteError(message) from None
        mirror.adopt(temporary, path, stored)

    def _require_hold(self) -> None:
        self.hold.require(self.url)

    def _take_away(self, path: Path) -> None:
        self._require_hold()
        try:
            object_store.delete(mirror.shown(path))
        except ObjectStoreError as error:
            message = f"{error}; {REMEDY}"
            raise LakeWriteError(message) from None
        mirror.forget(path)

    def sizes(self, paths: Iterable[Path]) -> dict[Path, int]:
        """Bytes of published files, of which the copy may hold no more than a stand-in.

        Raises:
            ObjectStoreError: The store cannot be asked.
        """
        stored = {found.url: found.size for found in object_store.listed(f"{self.url}/")}
        return {path: stored.get(mirror.shown(path), 0) for path in paths}

    def sweep(self) -> int:
        """Remove what a killed build left, here and on S3. Call it under the lock."""
        mirror.sweep(self.root)
        pieces = 0
        # Who may not list unfinished uploads can build all the same, and leaves them to the store.
        with suppress(ObjectStoreError):
            pieces = object_store.forget_pieces(f"{self.url}/", mirror.is_of_lake)
        return super().sweep() + pieces

    @contextmanager
    def locked(self, owner: str) -> Iterator[None]:
        """Hold the lake's lock, and see what others published before.

        Raises:
            LakeBusyError: Another build holds it; the message names its owner.
            ObjectStoreError: The store cannot be read or written.
        """
        with claimed(self.url, owner, self.hold):
            self.refresh()
            yield


def lake_of(settings: Settings) -> Lake:
    """The lake of the settings, without a look at it."""
    if settings.lake.startswith(SCHEME):
        return RemoteLake(settings.lake_path)
    return Lake(settings.lake_path)


def open_lake(settings: Settings) -> Lake:
    """The lake of the settings, to read.

    Raises:
        ObjectStoreError: It lies on S3, which cannot be asked.
    """
    lake = lake_of(settings)
    lake.refresh()
    return lake

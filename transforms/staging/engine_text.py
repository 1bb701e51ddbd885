"""Text that an engine reads as if it were a file, without being written to a disk."""

from collections.abc import Iterable
from typing import Protocol


class Scratch(Protocol):
    """A piece of memory that the engine can open as a file."""

    path: str

    def fill(self, parts: Iterable[bytes | memoryview]) -> None:
        """Replace what it holds."""

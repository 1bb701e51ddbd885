"""Read a file that the settings name, as a whole but never without end.

What is no regular file is refused before anything is read of it: a pipe would be waited for, and a
device such as `/dev/zero` has no end.
"""

import os
import stat
from pathlib import Path


class NotReadError(Exception):
    """A file cannot be read; the text says why."""


def read_stated(path: str | Path, most: int, *, any_kind: bool = False) -> bytes:
    """The bytes of a file.

    Args:
        path: The file.
        most: Bytes that it may have.
        any_kind: Whether it may be a pipe or a device, of which no more than `most` is read, too.

    Raises:
        NotReadError: It is absent, no regular file or too large, or the system refuses it.
    """
    try:
        # A pipe that nobody writes to would be waited for when it is opened.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            os.set_blocking(handle, True)
            kind = os.fstat(handle).st_mode
            if stat.S_ISDIR(kind) or not (any_kind or stat.S_ISREG(kind)):
                raise NotReadError("a folder" if stat.S_ISDIR(kind) else "no regular file")
            with open(handle, "rb", closefd=False) as file:
                content = file.read(most + 1)
        finally:
            os.close(handle)
    except OSError as error:
        raise NotReadError(error.strerror or type(error).__name__) from None
    except ValueError:
        # A path with NUL in it.
        message = "no path"
        raise NotReadError(message) from None
    if len(content) > most:
        message = f"more than {most} bytes"
        raise NotReadError(message)
    return content

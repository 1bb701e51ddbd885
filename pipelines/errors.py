"""Errors that a person sees without a traceback, each with its exit code."""

from datetime import date

from transforms.redaction import redact


class Clean(str):
    """Text that holds no credential any more: our own words, or what was redacted on its own."""

    __slots__ = ()


class PodledgerError(Exception):
    """Base of all errors that end a command with a message.

    Messages go to terminals, logs and Dagster's history, so that they are redacted where they are
    made: part by part, so that the word behind a name such as `token` in one part is not taken for
    its value in another.

    Attributes:
        exit_code: What the command returns (design.md section 6).
    """

    exit_code = 2

    def __init__(self, *parts: str) -> None:
        """Keep the message, which is all parts one behind the other, without credentials."""
        shown = (part if isinstance(part, Clean) else redact(part) for part in parts)
        super().__init__(Clean("".join(shown)))


def wrong_option(option: str, value: str, expected: str) -> PodledgerError:
    """The error of an option's value: of that alone, masks may take something away."""
    return PodledgerError(f"{option} {value}", Clean(f": expected {expected}"))


class SettingsError(PodledgerError):
    """A setting is wrong: names the file, the key, the value and what was expected."""


class InputError(PodledgerError):
    """An input cannot be read: names the file and the reason."""


class DataCheckError(PodledgerError):
    """A table failed its checks and stays unpublished."""

    exit_code = 1


class LakeBusyError(PodledgerError):
    """Another build holds the lake's lock."""


class LakeWriteError(PodledgerError):
    """A file of the lake cannot be written: names it and the reason."""


class LakeDamagedError(PodledgerError):
    """A file of the lake is missing or damaged: names it and what can be done."""


class LakeOutdatedError(PodledgerError):
    """Files of the lake were written by another version and cannot be read: says what to rebuild.

    Attributes:
        days: Days of the files.
    """

    def __init__(self, message: str, days: frozenset[date]) -> None:
        """Keep the message and the days."""
        super().__init__(message)
        self.days = days


class ResourceError(PodledgerError):
    """Memory or disk does not suffice: says for what, and which setting helps."""


class ObjectStoreError(PodledgerError):
    """An object on S3 cannot be listed, read or written: names it and the store's reason.

    Attributes:
        is_absent: The store says that there is no such object.
    """

    def __init__(self, message: str, *, is_absent: bool = False) -> None:
        """Keep the message and whether the object is absent."""
        super().__init__(message)
        self.is_absent = is_absent

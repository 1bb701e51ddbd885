"""Options that several commands share."""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import PodledgerError, wrong_option
from pipelines.settings import Settings, find_settings_file, load_settings

Config = Annotated[
    str | None,
    typer.Option("--config", help="Settings file; else PODLEDGER_CONFIG, else podledger.yaml."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for scripts.")]


def settings_of(config: str | None) -> Settings:
    """Read the settings that a command was given."""
    return load_settings(find_settings_file(config))


def settings_file(config: str | None) -> Path:
    """Settings file that a command was given."""
    return find_settings_file(config)


def utf8(text: str, option: str) -> str:
    """A text that a command was given, if it is one.

    Raises:
        PodledgerError: A shell gave bytes that are no UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        message = f"{option}: cannot encode {ascii(text)[:200]}; expected UTF-8 text"
        raise PodledgerError(message) from None
    return text


def day_of(text: str, option: str) -> dt.date:
    """Read a day.

    Raises:
        PodledgerError: The text is no day.
    """
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise wrong_option(option, text, "a day such as 2026-03-10") from None


def days_of(date: str | None, first: str | None, last: str | None) -> list[dt.date]:
    """The days that `--date`, or `--from` and `--to`, name; none if none is given.

    Raises:
        PodledgerError: The options contradict each other.
    """
    if date is not None and (first is not None or last is not None):
        message = "give --date, or --from with --to"
        raise PodledgerError(message)
    if date is not None:
        return [day_of(date, "--date")]
    if (first is None) != (last is None):
        message = "--from and --to go together"
        raise PodledgerError(message)
    if first is None or last is None:
        return []
    begin, end = day_of(first, "--from"), day_of(last, "--to")
    if end < begin:
        message = f"--to {last}: expected a day not before --from {first}"
        raise PodledgerError(message)
    return [begin + dt.timedelta(days=n) for n in range((end - begin).days + 1)]

"""Export files of the labelled fleet, on disk."""

from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, making the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line)
            file.write("\n")


def next_day(day: date) -> date:
    """The day behind."""
    return day + timedelta(days=1)

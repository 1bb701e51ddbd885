"""An export file while it is written, with the count of what a reader must make of it.

Every renderer says of each record, as it writes it, whether it is to be accepted, refused, ignored
or taken as a repetition. These statements become `expected/export_files.csv` and
`expected/rejected_records.csv`.
"""

from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True)
class Reject:
    """One record that must be refused, and where it stands."""

    locator: str
    record_index: int
    byte_offset: int
    reason: str


@dataclass
class ExportFile:
    """One file under `exports/`.

    `stored_ending` is the compression that the settings name; the committed file is plain text.
    """

    path: str
    export: str
    format: str
    cluster: str | None
    node: str | None
    landing_date: date
    project: str | None = None
    stored_ending: str = ""
    text: str = ""
    accepted: int = 0
    duplicate: int = 0
    ignored: int = 0
    rejects: list[Reject] = field(default_factory=list)
    same_content_as: str | None = None
    grown_from: str | None = None
    counts_stated: bool = True

    @property
    def stored_path(self) -> str:
        """Return the path with the ending of the compressed file."""
        return self.path + self.stored_ending

    @property
    def record_count(self) -> int:
        """Return how many records the file holds."""
        return self.accepted + self.duplicate + self.ignored + len(self.rejects)

    def _place(self) -> tuple[int, int]:
        return self.text.count("\n") + 1, len(self.text.encode())

    def accept(self, line: str, records: int = 1) -> None:
        """Write a line that gives rows; a line of some formats holds several records."""
        self.text += line + "\n"
        self.accepted += records

    def repeat(self, line: str) -> None:
        """Write a line that another file, or this one, already holds."""
        self.text += line + "\n"
        self.duplicate += 1

    def ignore(self, line: str) -> None:
        """Write a line of a kind that is not used."""
        self.text += line + "\n"
        self.ignored += 1

    def reject(self, line: str, reason: str) -> None:
        """Write a broken line."""
        number, offset = self._place()
        index = self.record_count
        self.rejects.append(Reject(f"line {number}", index, offset, reason))
        self.text += line + "\n"

    def header(self, line: str) -> None:
        """Write a line that is no record."""
        self.text += line + "\n"


def by_path(files: list[ExportFile]) -> list[ExportFile]:
    """Return the files in the order in which a reader that sorts paths meets them."""
    return sorted(files, key=lambda file: file.path)

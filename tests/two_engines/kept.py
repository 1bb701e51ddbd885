"""What joins by time bucket read and made while a day was built."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transforms.sql import SqlSession, statement

EACH = 2
"""So many times a join is kept: for the first clusters or days in which it makes rows."""


@dataclass
class Kept:
    """Keeps tables that given steps read and make, as Parquet files, a folder each time.

    Attributes:
        folder: Where to.
        steps: File names of the steps, without `.sql`.
        values: Bound values of what is kept, by folder.
    """

    folder: Path
    steps: frozenset[str]
    values: dict[Path, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing is kept yet."""
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def watch(self, setattr_: Callable[[type, str, Any], None]) -> None:
        """Keep from now on what sessions create; `setattr_` replaces an attribute of a class."""
        create, view = SqlSession.create, SqlSession.create_view

        def created(
            session: SqlSession, name: str, package: str, file: str,
            values: Mapping[str, Any] | None = None,
        ) -> str:  # fmt: skip
            return self._keep(
                session, package, file, values or {},
                lambda: create(session, name, package, file, values),
            )  # fmt: skip

        def viewed(
            session: SqlSession, name: str, package: str, file: str, over: tuple[str, ...] = ()
        ) -> str:
            return self._keep(
                session, package, file, {}, lambda: view(session, name, package, file, over)
            )

        setattr_(SqlSession, "create", created)
        setattr_(SqlSession, "create_view", viewed)

    def _keep(
        self, session: SqlSession, package: str, file: str, values: Mapping[str, Any],
        make: Callable[[], str],
    ) -> str:  # fmt: skip
        if file not in self.steps or self._counts[file] >= EACH:
            return make()
        folder = self.folder / f"{file}-{id(session)}-{len(self.values)}"
        folder.mkdir(parents=True)
        for table in read_by(statement(package, file)):
            session.connection.table(table).write_parquet(str(folder / f"{table}.parquet"))
        name = make()
        made = session.connection.table(name)
        if made.limit(1).fetchall():
            made.write_parquet(str(folder / "made.parquet"))
            with self._lock:
                self._counts[file] += 1
                self.values[folder] = {**values, "package": package, "file": file}
        return name


def read_by(text: str) -> list[str]:
    """Tables that the header of an `.sql` file says it reads."""
    header = " ".join(line.removeprefix("--") for line in text.splitlines() if line[:2] == "--")
    found = re.search(r"Reads: (.*?)\.(\s|$)", header)
    assert found is not None
    return re.findall(r"[a-z_]+", re.sub(r"\(.*?\)", "", found[1]))

"""Run `.sql` files in DuckDB with bound values.

A statement stands in a `.sql` file beside the module that runs it, with a header that names grain,
reads and parameters. Values are bound as `$name`; table names are fixed in the text.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import duckdb

from transforms.sql_macros import macros_in, made

if TYPE_CHECKING:
    import polars as pl


class SqlSession:
    """A private in-memory DuckDB database in which a transform works.

    The texts of `.sql` files may call the macros of `transforms.sql_macros`.
    """

    def __init__(
        self,
        *,
        threads: int = 2,
        memory_limit: str | None = None,
        temp_directory: Path | None = None,
    ) -> None:
        """Open the database.

        Args:
            threads: Threads of the engine.
            memory_limit: Limit such as `2GB`; the engine's default if none.
            temp_directory: Where it spills; nowhere if none.
        """
        self.connection = duckdb.connect()
        run = self.connection.execute
        run("SET TimeZone = 'UTC'")
        # A long statement would draw a bar over the output of a command.
        run("SET enable_progress_bar = false")
        run("SET autoinstall_known_extensions = false")
        run("SET autoload_known_extensions = false")
        run(f"SET threads = {int(threads)}")
        if memory_limit is not None:
            run("SET memory_limit = $limit", {"limit": memory_limit})
        # Unless told, the engine would spill into a folder of the working directory.
        run("SET temp_directory = $folder", {"folder": str(temp_directory or "")})
        self._views: dict[str, tuple[str, ...]] = {}
        self._macros: set[str] = set()

    def __enter__(self) -> Self:
        """Use the session in a `with` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the database."""
        self.connection.close()

    def register(self, name: str, frame: "pl.DataFrame") -> None:
        """Show a frame as a table of that name."""
        # Sessions that see no frame need not load Polars.
        from polars import CompatLevel  # noqa: PLC0415

        self.connection.register(name, frame.to_arrow(compat_level=CompatLevel.oldest()))

    def create(
        self, name: str, package: str, file: str, values: Mapping[str, Any] | None = None
    ) -> str:
        """Make a temporary table from one `.sql` file.

        Args:
            name: Name of the table, fixed in code.
            package: Package that holds the file, such as `transforms.intermediate`.
            file: File name without `.sql`.
            values: Bound values by `$name`; ones that the text does not name are left out.

        Returns:
            The name.
        """
        text = self._statement(package, file)
        bound = {k: v for k, v in (values or {}).items() if f"${k}" in text}
        self.connection.execute(f'CREATE OR REPLACE TEMP TABLE "{name}" AS\n{text}', bound)
        return name

    def insert(
        self, name: str, package: str, file: str, values: Mapping[str, Any] | None = None
    ) -> str:
        """Append the rows of one `.sql` file to a temporary table; as `create` else."""
        self.query(package, file, values, before=f'INSERT INTO "{name}"\n')
        return name

    def query(
        self,
        package: str,
        file: str,
        values: Mapping[str, Any] | None = None,
        *,
        before: str = "",
    ) -> duckdb.DuckDBPyConnection:
        """Run one `.sql` file and give its result.

        Args:
            package: Package that holds the file.
            file: File name without `.sql`.
            values: Bound values by `$name`; ones that the text does not name are left out.
            before: What stands in front of the text.
        """
        text = self._statement(package, file)
        bound = {k: v for k, v in (values or {}).items() if f"${k}" in text}
        return self.connection.execute(before + text, bound)

    def create_view(self, name: str, package: str, file: str, over: tuple[str, ...] = ()) -> str:
        """Make a temporary view of one `.sql` file, for rows that nobody needs to hold.

        Args:
            name: Name of the view, fixed in code.
            package: Package that holds the file.
            file: File name without `.sql`; it binds no values.
            over: Helper tables and views that live as long as the view and are dropped with it.

        Returns:
            The name.
        """
        self.connection.execute(
            f'CREATE OR REPLACE TEMP VIEW "{name}" AS\n{self._statement(package, file)}'
        )
        self._views[name] = over
        return name

    def create_in_slices(
        self, name: str, package: str, file: str, values: Mapping[str, Any], slices: int
    ) -> str:
        """Make a temporary table from one `.sql` file, slice by slice.

        For groups whose sums hold texts, which the engine cannot spill: only one slice of the
        groups is summed at a time. The text chooses the rows of slice `$slice` of `$slices`.

        Args:
            name: Name of the table, fixed in code.
            package: Package that holds the file.
            file: File name without `.sql`.
            values: Bound values by `$name`.
            slices: How many; at least one.

        Returns:
            The name.
        """
        self.create(name, package, file, {**values, "slice": 0, "slices": slices})
        text = statement(package, file)
        for number in range(1, slices):
            bound = {**values, "slice": number, "slices": slices}
            self.connection.execute(
                f'INSERT INTO "{name}"\n{text}', {k: v for k, v in bound.items() if f"${k}" in text}
            )
        return name

    def frame(self, name: str) -> "pl.DataFrame":
        """The rows of a table as a frame."""
        frame: pl.DataFrame = self.connection.table(name).pl()
        return frame

    @contextmanager
    def dropped(self, *names: str) -> Iterator[None]:
        """Drop helper tables and views when the block ends, so that they hold no memory."""
        try:
            yield
        finally:
            for name in names:
                self._drop(name)

    def _statement(self, package: str, file: str) -> str:
        """Text of one `.sql` file; the macros that it calls are made, if they were not yet."""
        text = statement(package, file)
        for name in macros_in(text):
            if name not in self._macros:
                self.connection.execute(made(name))
                self._macros.add(name)
        return text

    def _drop(self, name: str) -> None:
        over = self._views.pop(name, None)
        kind = "TABLE" if over is None else "VIEW"
        self.connection.execute(f'DROP {kind} IF EXISTS "{name}"')
        for helper in over or ():
            self._drop(helper)


def statement(package: str, file: str) -> str:
    """Text of one `.sql` file, without a final semicolon."""
    text = files(package).joinpath(f"{file}.sql").read_text(encoding="utf-8")
    return text.strip().removesuffix(";")

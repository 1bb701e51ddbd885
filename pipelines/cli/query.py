"""`podledger query`: SQL over the catalogue, whose rows are printed as they come."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import duckdb
import typer

from pipelines.cli.options import Config, settings_of, utf8
from pipelines.cli.output import Format, print_blocks
from pipelines.cli.show import open_catalogue
from pipelines.errors import PodledgerError
from transforms.redaction import redact

BLOCK = 1_000
"""Rows that are held and laid out at a time."""
LOOK_SECONDS = 0.2
"""So often it is seen whether Ctrl-C was pressed."""
WITH_ENDS = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
                       "TIMESTAMP WITH TIME ZONE"})  # fmt: skip
"""Types that know `infinity` and `-infinity`, which Python has no word for."""

Row = tuple[Any, ...]
_Found = TypeVar("_Found")


def query(
    sql: Annotated[str, typer.Argument(help="One SELECT over the catalogue.")],
    form: Annotated[Format, typer.Option("--format", help="How to write.")] = Format.TABLE,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
    config: Config = None,
) -> None:
    """Run SQL on the catalogue, read-only, with access to files and network off.

    Rows are printed as they come, a table in blocks of 1,000; Ctrl-C stops it.

    Example: podledger query "SELECT project, COUNT(*) FROM runs GROUP BY 1"
    """
    settings = settings_of(config)
    utf8(sql, "query")
    with open_catalogue(settings) as connection, answering(connection, sql) as (names, blocks):
        print_blocks(names, blocks, Format.JSON if as_json else form)


@contextmanager
def answering(
    connection: duckdb.DuckDBPyConnection, sql: str
) -> Iterator[tuple[list[str], Iterator[Sequence[Row]]]]:
    """Names and rows of an answer, of which the first block is there: what fails first says so.

    The engine works in a thread of its own, as nothing stops it in the main one but its end.

    Raises:
        PodledgerError: The query cannot be answered.
    """
    with ThreadPoolExecutor(1) as thread:

        def wait_for(work: Callable[[], _Found]) -> _Found:
            asked = thread.submit(work)
            try:
                # Libraries that restart what a signal breaks off would let a plain wait go on.
                while not wait([asked], LOOK_SECONDS).done:
                    pass
                return asked.result()
            except KeyboardInterrupt:
                # It may not have begun yet, and one word is lost then.
                while not wait([asked], LOOK_SECONDS).done:
                    connection.interrupt()
                raise
            except duckdb.Error as error:
                raise PodledgerError(_problem(sql, error)) from None
            except (OverflowError, ValueError) as error:
                message = f"query: {error}; expected such a value cast to VARCHAR"
                raise PodledgerError(message) from None

        names, rows = wait_for(lambda: _answer(connection, sql))
        first = wait_for(lambda: rows(BLOCK))

        def blocks() -> Iterator[Sequence[Row]]:
            block = first
            while block:
                yield block
                block = wait_for(lambda: rows(BLOCK))

        yield names, blocks()


def _answer(
    connection: duckdb.DuckDBPyConnection, sql: str
) -> tuple[list[str], Callable[[int], list[Row]]]:
    """Names of the columns, and what gives the next rows."""
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        # Only the last one's rows would be shown.
        message = f"query: expected one SELECT, got {len(statements)} statements"
        raise PodledgerError(message)
    relation = connection.sql(sql)
    if relation is None:
        message = "query: expected one SELECT, got a statement without rows"
        raise PodledgerError(message)
    names = list(relation.columns)
    dated = [i for i, kind in enumerate(relation.types) if str(kind) in WITH_ENDS]
    if not dated or statements[0].type != duckdb.StatementType.SELECT:
        return names, connection.execute(sql).fetchmany
    flags = ", ".join(f"isinf(CAST(#{i + 1} AS TIMESTAMP))" for i in dated)
    # The query stands on lines of its own: it may end with a comment.
    text = f"SELECT *, {flags} FROM (\n{_without_end(sql)}\n)"  # noqa: S608  theirs
    found = connection.execute(text)

    def next_rows(count: int) -> list[Row]:
        return [_with_ends(row, dated) for row in found.fetchmany(count)]

    return names, next_rows


def _without_end(sql: str) -> str:
    """One statement without the semicolon that ends it, and what stands behind it."""
    text = sql.encode()
    for place, kind in duckdb.tokenize(sql):
        if kind == duckdb.token_type.operator and text[place : place + 1] == b";":
            return text[:place].decode()
    return sql


def _with_ends(row: Row, dated: Sequence[int]) -> Row:
    """A row without the flags at its end; what they flag is said in words."""
    cells, flags = list(row[: -len(dated)]), row[-len(dated) :]
    for place, is_end in zip(dated, flags, strict=True):
        if is_end:
            cells[place] = "-infinity" if cells[place].year == 1 else "infinity"
    return tuple(cells)


def _problem(sql: str, error: duckdb.Error) -> str:
    """What is wrong with a query.

    DuckDB shows the part of the query around the error. A secret whose name it cuts off could not
    be told there, so that the part of a query with a secret is left out.
    """
    message = str(error).strip()
    if redact(sql) != sql:
        message = message.partition("\nLINE ")[0].rstrip()
    return f"query: {message}"

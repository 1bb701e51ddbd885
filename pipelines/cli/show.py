"""`podledger show`: read tables of the catalogue, or the lake's other tables."""

import datetime as dt
from typing import Annotated, Any

import duckdb
import typer

from pipelines.build import show_parts
from pipelines.catalog import open_catalog
from pipelines.cli.balance import balance_lines
from pipelines.cli.filters import TEXT, require_possible_value
from pipelines.cli.options import Config, day_of, settings_of, utf8
from pipelines.cli.output import Format, print_plain, print_rows, tell_beside
from pipelines.cli.summing import Condition, column_of, for_people, group_count, summed
from pipelines.damage import REMEDY, reading
from pipelines.errors import PodledgerError
from pipelines.ledger import Ledger
from pipelines.parquet import read_files
from pipelines.remote_lake import open_lake
from pipelines.run_facts import run_named
from pipelines.settings import Settings
from schemas.registry import table_spec, tables
from schemas.table import TableSpec
from schemas.views import views
from transforms.sql import SqlSession
from transforms.staging.values import hex_uuid

DEPENDENCIES = "dependencies"
BALANCE = "byte_balance"
DEFAULT_LIMIT = 50
MOST_ROWS = 10_000_000
"""Rows of an answer are held in memory; `query` and the file itself serve for more."""

FILTERS = {
    "run": ("run_uuid",),
    "project": ("project",),
    "cluster": ("cluster",),
    "pod": ("pod_uid", "initiator_pod_uid", "pod_name", "initiator_pod_name"),
    "resource": ("resource_id", "object_id"),
}


FURTHER = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Any column of a table is an option: `--distance cross_region`."""


def show(
    context: typer.Context,
    table: Annotated[str, typer.Argument(help="Table of the data dictionary.")],
    run: Annotated[
        str | None, typer.Option(help="Uuid of a run, or the name that one run alone has.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Project.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Cluster.")] = None,
    pod: Annotated[str | None, typer.Option(help="Pod UID or name.")] = None,
    resource: Annotated[str | None, typer.Option(help="Resource id or its beginning.")] = None,
    scope: Annotated[str | None, typer.Option(help="Scope of repeats, such as node.")] = None,
    first: Annotated[str | None, typer.Option("--from", help="First day.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last day.")] = None,
    columns: Annotated[str | None, typer.Option(help="Columns, separated by commas.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Sum rows by columns, separated by commas.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_ROWS, help="Rows at most.")] = DEFAULT_LIMIT,
    form: Annotated[Format, typer.Option("--format", help="How to write.")] = Format.TABLE,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
    config: Config = None,
) -> None:
    """Show rows of a table; of byte_balance with --run the account of that run as bars.

    Each column of the table is a filter, too: --charge-kind transfer keeps rows of that value.
    --by adds up what adds up; a best value stands only where every row has one.

    Example: podledger show run_dependencies --run 0123456789abcdef0123456789abcdef

    Example: podledger show transfer_costs --by project --distance cross_region
    """
    if by is not None and columns is not None:
        message = "--by chooses the columns; expected no --columns beside it"
        raise PodledgerError(message)
    settings = settings_of(config)
    values = {
        "run": run,
        "project": project,
        "cluster": cluster,
        "pod": pod,
        "resource": resource,
        "scope": scope,
    }
    for option, value in values.items():
        if value is not None:
            utf8(value, f"--{option}")
    if run is not None:
        values["run"] = hex_uuid(run) or _run_called(settings, run)
    days = (
        day_of(first, "--from") if first else None,
        day_of(last, "--to") if last else None,
    )
    if days[0] and days[1] and days[1] < days[0]:
        message = f"--to {last}: expected a day not before --from {first}"
        raise PodledgerError(message)
    chosen = Format.JSON if as_json else form
    is_drawn = (
        table == BALANCE
        and run is not None
        and columns is None
        and by is None
        and chosen is Format.TABLE
    )
    with (
        reading(open_lake(settings).everything(), REMEDY),
        _source(settings, table) as connection,
    ):
        if is_drawn:
            values["run"] = run_named(connection, str(run))
        spec = views()[table] if table in views() else table_spec(table)
        further = _further(context.args, list(connection.table(table).columns), table)
        condition = _condition(connection, spec, values, further, days)
        if by is None:
            most = MOST_ROWS if is_drawn else limit
            names, rows = _select(connection, table, condition, columns, most)
            total = len(rows) if len(rows) <= most else _count(connection, table, condition)
        else:
            names, rows = summed(connection, spec, by, condition, limit + 1)
            total = len(rows)
            if total > limit:
                total = group_count(connection, spec, by, condition)
    if is_drawn:
        found = (dict(zip(names, row, strict=True)) for row in rows)
        print_plain("\n".join(balance_lines(str(values["run"]), found)))
        return
    if by is not None and chosen is Format.TABLE:
        names, rows = for_people(names, rows)
    print_rows(names, rows[:limit], chosen)
    if total > limit:
        # What a script reads holds rows alone.
        tell = print_plain if chosen is Format.TABLE else tell_beside
        tell(f"{limit} of {total} rows; {_way_to_all(total)} shows all")


def _way_to_all(total: int) -> str:
    return f"--limit {total}" if total <= MOST_ROWS else "`podledger query`"


def _run_called(settings: Settings, name: str) -> str:
    with open_catalogue(settings) as catalogue:
        return run_named(catalogue, name)


def open_catalogue(settings: Settings) -> duckdb.DuckDBPyConnection:
    """Open the catalogue to read.

    Raises:
        PodledgerError: It is absent or cannot be opened.
    """
    path = settings.catalog_path
    if not path.is_file():
        message = f"catalogue {path} is absent; `podledger build` writes it"
        raise PodledgerError(message)
    try:
        return open_catalog(path)
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        message = f"catalogue {path} cannot be opened: {reason}; `podledger build` writes it anew"
        raise PodledgerError(message) from None


def _source(settings: Settings, table: str) -> duckdb.DuckDBPyConnection:
    """A connection that shows the table: the catalogue, or a view over the lake."""
    if table != DEPENDENCIES and table not in tables():
        names = ", ".join(sorted([*tables(), DEPENDENCIES]))
        message = f"no table {table!r}; there are: {names}"
        raise PodledgerError(message)
    connection = open_catalogue(settings)
    known = {row[0] for row in connection.execute("SHOW TABLES").fetchall()}
    if table in known:
        return connection
    connection.close()
    return _lake_view(settings, table_spec(table))


def _lake_view(settings: Settings, spec: TableSpec) -> duckdb.DuckDBPyConnection:
    lake = open_lake(settings)
    session = SqlSession(threads=settings.workers)
    if spec.layer == "staging":
        parts = Ledger.read(lake).parts(spec.name, None, None, None)
        if parts:
            show_parts(session, spec, parts)
            return session.connection
    paths = [p for day in lake.days(spec.name) for p in lake.files(spec.name, day)]
    if spec.layer == "staging" or not paths:
        session.connection.close()
        message = f"{spec.name} holds no rows yet"
        raise PodledgerError(message)
    read_files(session.connection, paths, dated=True).create_view(spec.name)
    return session.connection


def _further(arguments: list[str], there: list[str], table: str) -> dict[str, str]:
    """Values by column of the options that are columns of the table.

    Raises:
        PodledgerError: One has no value, is given twice or is no column.
    """
    found: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        option, is_joined, value = argument.partition("=")
        if not option.startswith("--") or len(option) == 2:
            message = f"{argument}: expected an option such as --distance cross_region"
            raise PodledgerError(message)
        column = column_of(option.removeprefix("--"), there, table)
        given = value if is_joined else next(rest, None)
        if given is None or column in found:
            message = f"{option}: expected one value"
            raise PodledgerError(message)
        found[column] = utf8(given, option)
    return found


def _condition(
    connection: duckdb.DuckDBPyConnection,
    spec: TableSpec,
    values: dict[str, str | None],
    further: dict[str, str],
    days: tuple[dt.date | None, dt.date | None],
) -> Condition:
    """Which rows are asked for; column names are checked against the table, values are bound.

    Raises:
        PodledgerError: A column is not there, or cannot hold a value.
    """
    table = spec.name
    relation = connection.table(table)
    there, kinds = list(relation.columns), [str(kind) for kind in relation.types]
    conditions: list[str] = []
    bound: dict[str, Any] = {}
    for option, value in values.items():
        if value is None:
            continue
        candidates = [c for c in FILTERS.get(option, (option,)) if c in there]
        if not candidates:
            message = f"--{option}: {table} has no such column"
            raise PodledgerError(message)
        tests = [
            f'"{c}" = ${option}' if option != "resource" else f'starts_with("{c}", ${option})'
            for c in candidates
        ]
        conditions.append("(" + " OR ".join(tests) + ")")
        bound[option] = value
        require_possible_value(connection, spec, candidates[0], TEXT, value)
    for number, (column, value) in enumerate(further.items()):
        kind = kinds[there.index(column)]
        require_possible_value(connection, spec, column, kind, value)
        conditions.append(f'"{column}" = CAST($further{number} AS {kind})')
        bound[f"further{number}"] = value
    day = next((c for c in ("date", "as_of_date", "landing_date") if c in there), None)
    for name, sign, value_day in (("first", ">=", days[0]), ("last", "<=", days[1])):
        if value_day is not None:
            if day is None:
                message = f"{table} has no day to filter by"
                raise PodledgerError(message)
            conditions.append(f'"{day}" {sign} ${name}')
            bound[name] = value_day
    return Condition(f" WHERE {' AND '.join(conditions)}" if conditions else "", bound)


def _select(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    condition: Condition,
    columns: str | None,
    limit: int,
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Rows of a table; column names are checked against it."""
    there = list(connection.table(table).columns)
    chosen = [c.strip() for c in columns.split(",")] if columns else there
    unknown = [c for c in chosen if c not in there]
    if unknown:
        message = f"{table} has no column(s) {', '.join(unknown)}; it has: {', '.join(there)}"
        raise PodledgerError(message)
    listed = ", ".join(f'"{c}"' for c in chosen)
    relation = connection.execute(
        f'SELECT {listed} FROM "{table}"{condition.where} LIMIT $limit',  # noqa: S608  names are checked
        {**condition.bound, "limit": limit + 1},
    )
    return chosen, relation.fetchall()


def _count(connection: duckdb.DuckDBPyConnection, table: str, condition: Condition) -> int:
    found = connection.execute(
        f'SELECT COUNT(*) FROM "{table}"{condition.where}',  # noqa: S608  names are checked
        condition.bound,
    )
    return int(found.fetchall()[0][0])

"""`podledger dictionary`: the data dictionary, generated from `schemas/`."""

from dataclasses import asdict
from typing import Annotated

import typer

from pipelines.cli.options import AsJson
from pipelines.cli.output import print_plain, to_json
from pipelines.errors import PodledgerError
from pipelines.settings_dictionary import all_settings
from pipelines.settings_dictionary import as_markdown as settings_table
from schemas.dictionary import as_markdown, as_records, described


def dictionary(
    table: Annotated[str | None, typer.Argument(help="One table; all if left out.")] = None,
    settings: Annotated[
        bool, typer.Option("--settings", help="What every setting of podledger.yaml says.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print what every table and column means, or every setting.

    Example: podledger dictionary run_dependencies

    Example: podledger dictionary --settings
    """
    if settings:
        if table is not None:
            message = f"--settings and {table}: expected one of them"
            raise PodledgerError(message)
        found = all_settings()
        print_plain(to_json([asdict(s) for s in found]) if as_json else settings_table(found))
        return
    names = described()
    if table is not None and table not in names:
        message = f"no table {table!r}; there are: {', '.join(names)}"
        raise PodledgerError(message)
    chosen = [table] if table is not None else names
    print_plain(to_json(as_records(chosen)) if as_json else as_markdown(chosen))

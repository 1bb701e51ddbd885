"""`podledger dictionary`: the data dictionary, generated from `schemas/`."""

from typing import Annotated

import typer

from pipelines.cli.options import AsJson
from pipelines.cli.output import print_plain, to_json
from pipelines.errors import PodledgerError
from schemas.dictionary import as_markdown, as_records, described


def dictionary(
    table: Annotated[str | None, typer.Argument(help="One table; all if left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print what every table and column means.

    Example: podledger dictionary run_dependencies
    """
    names = described()
    if table is not None and table not in names:
        message = f"no table {table!r}; there are: {', '.join(names)}"
        raise PodledgerError(message)
    chosen = [table] if table is not None else names
    print_plain(to_json(as_records(chosen)) if as_json else as_markdown(chosen))

"""`podledger manifest`: one sanitised record of one run."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.options import AsJson, Config, settings_of
from pipelines.cli.output import print_plain
from pipelines.cli.show import open_catalogue
from pipelines.damage import REMEDY, reading
from pipelines.errors import PodledgerError
from pipelines.manifest_markdown import markdown_of
from pipelines.manifests import json_of, schema_text, write_manifest
from pipelines.remote_lake import open_lake
from pipelines.run_facts import RunReader, run_named
from transforms.marts.manifest import manifest_of


class Form(StrEnum):
    """How a manifest is written."""

    JSON = "json"
    MARKDOWN = "markdown"


def manifest(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Uuid, or the name that one run alone has.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How to write.")] = Form.MARKDOWN,
    as_json: AsJson = False,
    into: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write both forms into a folder.")
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of a manifest.")
    ] = False,
    config: Config = None,
) -> None:
    """Show what ran, what it used, where it waited, what it left and what is not known.

    Example: podledger manifest 0123456789abcdef0123456789abcdef --format json
    """
    if schema:
        print_plain(schema_text().removesuffix("\n"))
        return
    if run is None:
        message = "manifest: expected a RUN, or --schema"
        raise PodledgerError(message)
    settings = settings_of(config)
    lake = open_lake(settings)
    with reading(lake.everything(), REMEDY), open_catalogue(settings) as connection:
        facts = RunReader(connection, settings, lake).facts(run_named(connection, run))
    document = manifest_of(facts)
    if into is not None:
        for path in write_manifest(into, document):
            print_plain(f"wrote {path}")
        return
    is_json = as_json or form is Form.JSON
    text = json_of(document) if is_json else markdown_of(document)
    print_plain(text.removesuffix("\n"))

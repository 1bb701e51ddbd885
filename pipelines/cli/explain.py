"""`podledger explain`: from an id back to file, line and offset."""

from typing import Annotated

import typer

from pipelines.cli.options import AsJson, Config, settings_of, utf8
from pipelines.cli.output import print_plain, text, to_json
from pipelines.damage import REMEDY, reading
from pipelines.errors import PodledgerError
from pipelines.evidence import RUNS, followed
from pipelines.evidence import explain as explain_id
from pipelines.remote_lake import open_lake


def explain(
    wanted: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of a row, a record id, or a run's uuid or name."),
    ],
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show the row of an id and the records that it was made from; of a run, its row in `runs`.

    Example: podledger explain 0cc175b9c0f1b6a831c399e269772661
    """
    settings = settings_of(config)
    utf8(wanted, "explain")
    lake = open_lake(settings)
    with reading(lake.everything(), REMEDY):
        found = explain_id(settings, lake, wanted)
    if found is None:
        message = (
            f"nothing has the id {wanted!r}; expected what a table holds in its first column "
            "(…_id), a record_id, or the uuid or name of a run"
        )
        raise PodledgerError(message)
    if as_json:
        content = {
            "table": found.table,
            "row": found.row,
            "record_count": found.record_count,
            "records": [vars(record) for record in found.records],
        }
        print_plain(to_json(content))
        return
    print_plain(f"{found.table}")
    for name, value in found.row.items():
        if value is not None:
            print_plain(f"  {name}: {text(value)}")
    if found.table == RUNS:
        print_plain(f"`podledger manifest {found.row['run_uuid']}` shows all of this run")
    if not found.records:
        tables = ", ".join(followed())
        print_plain(f"its columns say where it comes from; single records are found for {tables}")
    for record in found.records:
        where = record.locator or f"the export is {record.state}"
        offset = "" if record.byte_offset is None else f", byte {record.byte_offset}"
        print_plain(f"  {record.table} {record.record_id}: {record.path}, {where}{offset}")
    if found.record_count > len(found.records):
        print_plain(f"  and {found.record_count - len(found.records)} more record(s)")

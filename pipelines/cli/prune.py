"""`podledger prune`: remove what is older than `retention_days` and needed no more."""

from typing import Annotated, Any

import typer

from pipelines.cli.options import AsJson, Config, settings_file
from pipelines.cli.output import print_plain, print_rows, to_json
from pipelines.ledger import Ledger
from pipelines.retention import plan
from pipelines.retention import prune as remove
from pipelines.run import Workspace


def prune(
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it; without this nothing is changed.")
    ] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show what retention would remove from the lake, or remove it.

    The ledger stays, so that nothing lands twice; what days to come read stays, however old.

    Example: podledger prune

    Example: podledger prune --yes
    """
    workspace = Workspace(settings_file(config))
    content = pruning_of(workspace)
    content["removed_files"] = remove(workspace) if yes else 0
    if as_json:
        print_plain(to_json(content))
        raise typer.Exit(0)
    columns = ("table", "files", "bytes", "first_day", "last_day")
    title = "removed" if yes else "would be removed (--yes removes it)"
    if content["prune"]:
        rows = [[row[c] for c in columns] for row in content["prune"]]
        print_rows(list(columns), rows, title=title)
    else:
        print_plain(f"{title}: nothing")
    for row in content["kept"]:
        print_plain(
            f"kept: {row['table']} of {row['first_day']} to {row['last_day']}: read by "
            f"{content['first_open']} or a later day"
        )
    if content["closed"]:
        days = content["closed"]
        print_plain(
            f"closed: {len(days)} final day(s), {days[0]} to {days[-1]}, keep their answers and "
            "are built no more"
        )


def pruning_of(workspace: Workspace) -> dict[str, Any]:
    """What retention would remove today, what it keeps and which days it closes, as plain rows.

    Raises:
        PodledgerError: The settings do not say how long anything is kept.
    """
    lake = workspace.lake
    ledger = Ledger.read(lake)
    found = plan(workspace, ledger)
    removed: dict[str, list[tuple[Any, int]]] = {}
    leaving = list(found.paths(lake, ledger))
    sizes = lake.sizes(path for _, _, path in leaving) if leaving else {}
    for table, day, path in leaving:
        removed.setdefault(table, []).append((day, sizes[path]))
    kept: dict[str, list[Any]] = {}
    for table, day in found.needed:
        kept.setdefault(table, []).append(day)
    return {
        "first_open": found.first_open,
        "prune": [
            {
                "table": table,
                "files": len(files),
                "bytes": sum(size for _, size in files),
                "first_day": min(day for day, _ in files),
                "last_day": max(day for day, _ in files),
            }
            for table, files in sorted(removed.items())
        ],
        "kept": [
            {"table": table, "first_day": min(days), "last_day": max(days)}
            for table, days in sorted(kept.items())
        ],
        "closed": sorted(found.closed),
    }

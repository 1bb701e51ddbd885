"""`podledger demo`: the shipped fixture days, built into a scratch lake and printed."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from pipelines.catalog import open_catalog
from pipelines.cli.build import BuildReport, print_summary, run_build
from pipelines.cli.output import errors, print_plain, print_rows
from pipelines.cli.status import status_of
from pipelines.errors import PodledgerError
from pipelines.fixtures import compare, lay_out
from pipelines.run import Workspace

MARK = ".podledger-demo"

INVENTORY = """
SELECT
    project, resource_id, operation, run_count AS runs, connection_count AS connections,
    request_count AS requests, received_bytes, sent_bytes
FROM dependencies
ORDER BY run_count DESC, COALESCE(received_bytes, 0) DESC, project, resource_id, operation
LIMIT 25
"""
REPEATS = """
SELECT
    scope, start_at, run_uuid, object_id, previous_run_uuid, transferred_bytes,
    min_repeat_bytes AS min_bytes, max_repeat_bytes AS max_bytes
FROM repeat_transfers
WHERE scope IN ('run', 'node', 'fleet')
ORDER BY scope, start_at, transfer_id
LIMIT 25
"""
COVERAGE = """
SELECT
    project, run_uuid, source, ROUND(coverage_ratio, 4) AS ratio, empty_means, reasons
FROM run_coverage
ORDER BY coverage_ratio NULLS FIRST, run_uuid, source
LIMIT 15
"""
REJECTS = """
SELECT f.path, r.locator, r.byte_offset, r.reason
FROM rejected_records AS r
INNER JOIN export_files AS f USING (export_file_id)
ORDER BY f.path, r.record_index
"""


def demo(
    into: Annotated[Path, typer.Option(help="Scratch folder, made anew.")] = Path("podledger-demo"),
) -> None:
    """Build the two fixture days of two clusters and print what came out.

    Example: podledger demo --into scratch
    """
    if into.exists() and any(into.iterdir()) and not (into / MARK).exists():
        message = f"--into {into}: expected an absent or empty folder, or one of an earlier demo"
        raise PodledgerError(message)
    shutil.rmtree(into, ignore_errors=True)
    settings_file = lay_out(into)
    (into / MARK).touch()
    workspace = Workspace(settings_file)
    report = BuildReport(None)
    errors.print("landing and building two days of two clusters …")
    run_build(workspace, report, [])
    print_summary(workspace, report)
    with open_catalog(workspace.settings.catalog_path) as catalogue:
        for title, sql in (
            ("Fleet inventory: what the projects depend on", INVENTORY),
            ("Repeat transfers: what was fetched again (scopes nest, do not add them)", REPEATS),
            ("Coverage: which runs were not fully observed", COVERAGE),
            ("Rejected records", REJECTS),
        ):
            relation = catalogue.sql(sql)
            print_plain("")
            print_rows(list(relation.columns), relation.fetchall(), title=title)
    print_plain("")
    rows = status_of(workspace)["records"]
    print_rows(list(rows[0]), [list(r.values()) for r in rows], title="Records by export")
    print_plain(f"\ncatalogue: {workspace.settings.catalog_path}")
    print_plain(f"ask it more: podledger query --config {settings_file} 'FROM runs'")
    differences = compare(workspace.lake, into)
    for difference in differences[:20]:
        print_plain(f"differs: {difference.table}: {difference.key}: {difference.what}")
    if differences or any(o.problem for o in report.outcomes):
        print_plain(f"{len(differences)} difference(s) from the fixtures' expected answers")
        raise typer.Exit(1)
    print_plain("every number equals the fixtures' expected answers")

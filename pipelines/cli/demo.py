"""`podledger demo`: the shipped fixture days, built into a scratch lake and printed."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from pipelines.catalog import open_catalog
from pipelines.cli.build import BuildReport, print_summary, run_build
from pipelines.cli.output import errors, people_bytes, print_plain, print_rows
from pipelines.cli.status import status_of
from pipelines.errors import PodledgerError
from pipelines.fixtures import compare, lay_out
from pipelines.run import Workspace

MARK = ".podledger-demo"

INVENTORY = """
SELECT
    project, resource_id, operation, run_count AS runs, connection_count AS connections,
    request_count AS requests, received_bytes AS received, sent_bytes AS sent
FROM dependencies
WHERE operation <> 'resolve'
ORDER BY run_count DESC, COALESCE(received_bytes, 0) DESC, project, resource_id, operation
"""
REPEATS = """
SELECT
    scope, strftime(start_at, '%m-%d %H:%M:%S') AS start_at, u.name AS run, object_id,
    p.name AS previous_run, transferred_bytes AS moved, min_repeat_bytes AS min_again,
    max_repeat_bytes AS max_again
FROM repeat_transfers AS r
LEFT JOIN (SELECT DISTINCT run_uuid, name FROM runs) AS u USING (run_uuid)
LEFT JOIN (SELECT DISTINCT run_uuid, name FROM runs) AS p ON r.previous_run_uuid = p.run_uuid
WHERE scope IN ('run', 'node', 'fleet') AND max_repeat_bytes > 0
ORDER BY scope, r.start_at, transfer_id
"""
COVERAGE = """
SELECT
    project, u.name AS run, source, FLOOR(coverage_ratio * 10000) / 10000 AS ratio,
    lost_count AS lost, empty_means, array_to_string(reasons, '; ') AS reasons
FROM run_coverage
LEFT JOIN (SELECT DISTINCT run_uuid, name FROM runs) AS u USING (run_uuid)
WHERE source = 'flows' AND empty_means <> 'nothing_happened'
ORDER BY coverage_ratio NULLS FIRST, run, source
"""
REJECTS = """
SELECT
    regexp_replace(f.path, '^.*/exports/', '') AS file, r.locator, r.byte_offset AS byte,
    split_part(r.reason, ':', 1) AS reason
FROM rejected_records AS r
INNER JOIN export_files AS f USING (export_file_id)
ORDER BY f.path, r.record_index
"""
SHOWN = 25
"""Rows of a table at most."""
BYTES = {"received", "sent", "moved", "min_again", "max_again"}


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
        for title, sql, table in (
            ("Fleet inventory: what the projects depend on", INVENTORY, "dependencies"),
            (
                "Repeat transfers: what was fetched again (scopes nest, do not add them)",
                REPEATS,
                "repeat_transfers",
            ),
            ("Coverage: which runs were not fully observed", COVERAGE, "run_coverage"),
            ("Rejected records", REJECTS, "rejected_records"),
        ):
            relation = catalogue.sql(sql)
            columns = list(relation.columns)
            rows = [
                [
                    people_bytes(value) if name in BYTES else value
                    for name, value in zip(columns, row, strict=True)
                ]
                for row in relation.fetchall()
            ]
            print_plain("")
            print_rows(columns, rows[:SHOWN], title=title, whole=BYTES)
            if len(rows) > SHOWN:
                print_plain(
                    f"{SHOWN} of {len(rows)} rows; the whole table: {_program()} query --config "
                    f"{settings_file} 'FROM {table}'"
                )
    print_plain("")
    records = status_of(workspace)["records"]
    print_rows(list(records[0]), [list(r.values()) for r in records], title="Records by export")
    print_plain(f"\ncatalogue: {workspace.settings.catalog_path}")
    print_plain(f"ask it more: {_program()} query --config {settings_file} 'FROM runs'")
    differences = compare(workspace.lake, into)
    for difference in differences[:20]:
        print_plain(f"differs: {difference.table}: {difference.key}: {difference.what}")
    if differences or any(o.problem for o in report.outcomes):
        print_plain(f"{len(differences)} difference(s) from the fixtures' expected answers")
        raise typer.Exit(1)
    print_plain("every number equals the fixtures' expected answers")


def _program() -> str:
    """How this program was called: the one of `make demo` is on no search path."""
    called = sys.argv[0]
    return called if Path(called).name == "podledger" else "podledger"

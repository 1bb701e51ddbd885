"""`podledger accept`: the acceptance sheet of a deployment, from `run_checks`."""

from collections.abc import Sequence
from typing import Annotated, Any

import duckdb
import typer
from rich.cells import cell_len, set_cell_size

from pipelines.cli.options import AsJson, Config, settings_of
from pipelines.cli.output import print_plain, printable, to_json
from pipelines.cli.show import open_catalogue
from pipelines.errors import PodledgerError
from pipelines.run_facts import run_named
from schemas.marts.outputs import STEPS
from transforms.staging.values import hex_uuid

WIDTH = 100
"""Cells of a line at most."""
RESULT = len("not observable")
INDENT = " " * (len("step") + 2 + RESULT + 2)
TITLES = {
    "submitted": "went to the stated queue, namespace and resources",
    "data_and_accelerator": "the application saw data and accelerator",
    "outputs_retrievable": "metric and artifact can be retrieved",
    "interruption_handled": "an interruption was handled as declared",
    "failure_visible": "a failing case shows with evidence",
    "cleaned_up": "resources are gone while artifacts remain",
}
EXIT_CODES = {"passed": 0, "failed": 1, "not_observable": 3}

Check = dict[str, Any]


def accept(
    runs: Annotated[list[str], typer.Argument(metavar="RUN…", help="Uuids or names of runs.")],
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Print the acceptance sheet: six steps, judged on one run or on several together.

    With several runs a step passes if one passes it and none fails. Exit codes: 0 all steps passed,
    1 one failed, 3 one is not observable and none failed, 2 a run is not known.

    Example: podledger accept 0123456789abcdef0123456789abcdef
    """
    settings = settings_of(config)
    with open_catalogue(settings) as connection:
        asked = (hex_uuid(run) or run_named(connection, run) for run in runs)
        wanted = list(dict.fromkeys(asked))
        checks = _checks(connection, wanted)
    known = {check["run_uuid"] for check in checks}
    unknown = [run for run in wanted if run not in known]
    if unknown:
        names = ", ".join(printable(run) for run in unknown)
        message = f"accept {names}: no checks in the catalogue; expected a run that was judged"
        raise PodledgerError(message)
    sheet = together(checks)
    result = verdict(sheet)
    if as_json:
        print_plain(to_json({"runs": wanted, "result": result, "steps": sheet}))
    else:
        print_plain("\n".join(sheet_lines(wanted, sheet, result)))
    raise typer.Exit(EXIT_CODES[result])


def _checks(connection: duckdb.DuckDBPyConnection, runs: Sequence[str]) -> list[Check]:
    found = connection.execute(
        "SELECT run_uuid, step, result, sentence, evidence_ids FROM run_checks "
        "WHERE run_uuid IN (SELECT UNNEST($runs)) ORDER BY step_number, run_uuid",
        {"runs": list(runs)},
    )
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def together(checks: Sequence[Check]) -> list[Check]:
    """One entry per step over all runs: failed by any, else passed by any, else not observable.

    Args:
        checks: Rows of run_checks.
    """
    sheet = []
    for step in STEPS:
        of_step = [check for check in checks if check["step"] == step]
        results = {check["result"] for check in of_step}
        result = next((r for r in ("failed", "passed") if r in results), "not_observable")
        deciding = [check for check in of_step if check["result"] == result]
        sheet.append(
            {
                "step": step,
                "title": TITLES[step],
                "result": result,
                "sentence": "; ".join(dict.fromkeys(check["sentence"] for check in deciding)),
                "runs": [check["run_uuid"] for check in deciding],
                "evidence_ids": sorted({i for check in deciding for i in check["evidence_ids"]}),
            }
        )
    return sheet


def verdict(sheet: Sequence[Check]) -> str:
    """What the whole sheet comes to: a failure counts before what cannot be observed."""
    results = {entry["result"] for entry in sheet}
    return next((r for r in ("failed", "not_observable") if r in results), "passed")


def sheet_lines(runs: Sequence[str], sheet: Sequence[Check], result: str) -> list[str]:
    """The sheet for people, no line longer than 100 cells.

    Args:
        runs: Runs judged.
        sheet: Entries of `together`.
        result: Their verdict.
    """
    lines = [_cut(f"acceptance of run {printable(run)}") for run in runs]
    lines += ["", f"{'step':<4}  {'result':<{RESULT}}  what, why and evidence"]
    for number, entry in enumerate(sheet, 1):
        lines.append(f"{number:>4}  {_words(entry['result']):<{RESULT}}  {entry['title']}")
        lines.append(_cut(INDENT + printable(entry["sentence"])))
        lines += _evidence_lines(entry["evidence_ids"])
    count = sum(entry["result"] == "passed" for entry in sheet)
    return [*lines, "", f"{_words(result)}: {count} of {len(sheet)} steps passed"]


def _evidence_lines(ids: Sequence[str]) -> list[str]:
    """Ids whole, so that `podledger explain` takes them; only what no line holds is cut."""
    lines: list[str] = []
    for shown in map(printable, ids):
        if lines and cell_len(lines[-1]) + 1 + cell_len(shown) <= WIDTH:
            lines[-1] += f" {shown}"
        else:
            lines.append(_cut(INDENT + shown))
    return lines


def _cut(line: str) -> str:
    return line if cell_len(line) <= WIDTH else set_cell_size(line, WIDTH - 1) + "…"


def _words(name: str) -> str:
    return name.replace("_", " ")

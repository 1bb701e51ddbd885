"""`podledger compare`: what differs between two runs, or two groups, and what explains the time."""

import datetime as dt
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.cells import chop_cells

from pipelines.cli.options import AsJson, Config, day_of, settings_of
from pipelines.cli.output import people_bytes, print_plain, printable, table_lines, to_json
from pipelines.cli.show import open_catalogue
from pipelines.damage import REMEDY, reading
from pipelines.errors import PodledgerError
from pipelines.manifest_markdown import seconds
from pipelines.remote_lake import open_lake
from pipelines.run_facts import RunReader, run_named, runs_of_project
from transforms.marts.run_comparison import Comparison, Side, comparison_of, side_of
from transforms.redaction import redact

WIDTH = 100
"""Cells of a line at most."""
REFUSED = 3
"""Exit code where a part is not compared."""


def compare(
    a: Annotated[str | None, typer.Argument(metavar="A", help="Uuid or name of a run.")] = None,
    b: Annotated[
        str | None, typer.Argument(metavar="B", help="The run that is held to it.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Compare groups of a project's runs.")] = None,
    first: Annotated[str | None, typer.Option("--from", help="First day of group A.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last day of group A.")] = None,
    versus: Annotated[
        str | None, typer.Option(metavar="FROM..TO", help="First and last day of group B.")
    ] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs from A to B, and what explains the difference in time, in seconds.

    Groups are the runs that ended, by the day of their first pod; their times are means. It ends
    with 3 where parts are not compared, since their sources saw the one side and not the other.

    Example: podledger compare train-1 train-2

    Example: podledger compare --project vision --from 2026-03-01 --to 2026-03-07
    --versus 2026-03-08..2026-03-14
    """
    groups = _groups(a, b, project, (first, last), versus)
    settings = settings_of(config)
    lake = open_lake(settings)
    with reading(lake.everything(), REMEDY), open_catalogue(settings) as connection:
        reader = RunReader(connection, settings, lake)
        if groups is None:
            sides = [_run(reader, str(wanted)) for wanted in (a, b)]
        else:
            sides = [_group(reader, str(project), days) for days in groups]
    comparison = comparison_of(*sides)
    if as_json:
        print_plain(to_json(comparison_document(comparison)))
    else:
        print_plain("\n".join(comparison_lines(comparison)))
    if comparison.refused:
        raise typer.Exit(REFUSED)


Days = tuple[dt.date, dt.date]


def _groups(
    a: str | None,
    b: str | None,
    project: str | None,
    days: tuple[str | None, str | None],
    versus: str | None,
) -> tuple[Days, Days] | None:
    """Days of both groups; none if two runs are asked for.

    Raises:
        PodledgerError: It is neither the one nor the other.
    """
    options = (project, *days, versus)
    if a is not None and b is not None and not any(options):
        return None
    if a is not None or not all(options):
        message = "compare: expected A and B, or --project, --from, --to and --versus FROM..TO"
        raise PodledgerError(message)
    begin, mark, end = str(versus).partition("..")
    if not mark:
        message = f"--versus {versus}: expected two days such as 2026-03-08..2026-03-14"
        raise PodledgerError(message)
    return _span(str(days[0]), str(days[1]), "--from"), _span(begin, end, "--versus")


def _span(first: str, last: str, option: str) -> Days:
    begin, end = day_of(first, option), day_of(last, option)
    if end < begin:
        message = f"{option} {first}: expected a day not after {last}"
        raise PodledgerError(message)
    return begin, end


def _run(reader: RunReader, wanted: str) -> Side:
    facts = reader.facts(run_named(reader.connection, wanted))
    name = facts.of("runs")[0]["name"]
    return side_of(facts.run_uuid if name is None else f"{facts.run_uuid} {redact(name)}", [facts])


def _group(reader: RunReader, project: str, days: Days) -> Side:
    runs = runs_of_project(reader.connection, project, *days)
    if not runs:
        message = f"project {project!r} has no run that ended from {days[0]} to {days[1]}"
        raise PodledgerError(message)
    label = f"project {project}, {days[0]} to {days[1]}: mean of {len(runs)} run(s)"
    return side_of(redact(label), [reader.facts(run) for run in runs])


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """A comparison for scripts: durations in integer microseconds."""
    return {
        "a": {"label": comparison.a.label, "run_uuids": comparison.a.run_uuids},
        "b": {"label": comparison.b.label, "run_uuids": comparison.b.run_uuids},
        "difference_us": comparison.difference_us,
        "explained_by": [vars(piece) for piece in comparison.explained],
        "within_bound_us": comparison.within_bound_us,
        "refused_us": comparison.refused_us,
        "differences": [vars(difference) for difference in comparison.differences],
        "not_known": comparison.unknown,
        "parts": [
            vars(part) | {"delta_us": part.delta_us, "named": [vars(piece) for piece in part.named]}
            for part in comparison.parts
        ],
        "refused": [vars(refused) for refused in comparison.refused],
    }


def comparison_lines(comparison: Comparison) -> list[str]:
    """A comparison for people, in lines of at most 100 cells."""
    return [line.rstrip() for line in _lines(comparison)]


def _lines(comparison: Comparison) -> Iterator[str]:
    yield from _fitted([("A", comparison.a.label), ("B", comparison.b.label)])
    yield ""
    yield f"difference in time, B less A: {seconds(comparison.difference_us)}"
    pieces = [(_factors(piece.factors), piece.duration_us) for piece in comparison.explained]
    if comparison.within_bound_us:
        pieces.append(("within the bound, not named", comparison.within_bound_us))
    if comparison.refused_us:
        pieces.append(("in refused parts", comparison.refused_us))
    if pieces:
        shown = [(name, seconds(us), _share(us, comparison.difference_us)) for name, us in pieces]
        yield from table_lines(("explained by", "time", "share"), shown, WIDTH)
    else:
        yield "nothing is named"
    if comparison.differences:
        yield ""
        rows = [(d.what, d.subject, ", ".join(d.a), ", ".join(d.b)) for d in comparison.differences]
        yield from table_lines(("differs", "of", "A", "B"), rows, WIDTH)
    if comparison.parts:
        yield ""
        yield from _part_lines(comparison)
    for name in comparison.unknown:
        yield f"not known: {name}"
    yield from _fitted(
        [
            ("refused", f"{refused.role or '(pod)'} {refused.stage}: {refused.why}")
            for refused in comparison.refused
        ]
    )


def _part_lines(comparison: Comparison) -> Iterator[str]:
    parts = comparison.parts
    columns = ["role", "stage", "cause", "A", "B", "B-A"]
    rows: list[list[str | None]] = [
        [
            ("~" if part.is_beside else "") + (part.role or "(pod)"), part.stage, part.cause,
            seconds(part.a_us), seconds(part.b_us), seconds(part.delta_us),
        ]
        for part in parts
    ]  # fmt: skip
    if any(part.a_bytes is not None or part.b_bytes is not None for part in parts):
        columns += ["bytes A", "bytes B"]
        for row, part in zip(rows, parts, strict=True):
            row += [_bytes(part.a_bytes), _bytes(part.b_bytes)]
    columns.append("explained by")
    for row, part in zip(rows, parts, strict=True):
        named = "; ".join(_factors(piece.factors) for piece in part.named) or "-"
        row.append("refused" if part.is_refused else named)
    yield from table_lines(columns, rows, WIDTH)
    if any(part.is_beside for part in parts):
        yield "~ runs beside the main containers and is left out of the sums"


def _fitted(rows: list[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield from chop_cells(f"{name}: {printable(text)}", WIDTH)


def _factors(factors: tuple[str, ...]) -> str:
    return " + ".join(factors)


def _bytes(count: int | None) -> str:
    return "-" if count is None else people_bytes(count)


def _share(part: int, whole: int) -> str:
    return f"{(200 * part + whole) // (2 * whole)} %" if whole else "-"

"""`show` reads rows and binds what is asked for; `explain` leads back to files."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import DEPENDENCY, OTHER_RUN, RUN, small_catalogue


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Settings of a lake with a catalogue."""
    return small_catalogue(tmp_path_factory.mktemp("lake"))


def shown(config: Path, *arguments: object) -> list[dict[str, Any]]:
    """Rows that `show … --json` prints."""
    ended = podledger("show", *arguments, "--json", "--config", config)
    assert (ended.code, ended.err) == (0, "")
    rows: list[dict[str, Any]] = json.loads(ended.out)
    return rows


# -- show ----------------------------------------------------------------------------------------


def test_all_rows_of_a_table_are_shown_in_its_order(config: Path) -> None:
    rows = shown(config, "runs")
    assert [row["run_uuid"] for row in rows] == [RUN, OTHER_RUN]
    assert rows[0]["as_of_date"] == "2026-03-10"
    assert rows[0]["queue"] is None
    assert rows[0]["pod_uids"] == []


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (("--run", RUN), [RUN]),
        (("--run", "01234567-89AB-CDEF-0123-456789abcdef"), [RUN]),
        (("--project", "speech"), [OTHER_RUN]),
        (("--cluster", "alder", "--project", "vision"), [RUN]),
        (("--from", "2026-03-10", "--to", "2026-03-10"), [RUN, OTHER_RUN]),
        (("--from", "2026-03-11"), []),
        (("--to", "2026-03-09"), []),
        # Values are bound, so that no text is SQL.
        (("--project", "x' OR 1=1 --"), []),
        (("--project", "vision' --"), []),
        (("--run", "f" * 32), []),
        (("--cluster", ""), []),
    ],
)
def test_filters_take_values_as_they_are(
    config: Path, filters: tuple[str, ...], found: list[str]
) -> None:
    assert [row["run_uuid"] for row in shown(config, "runs", *filters)] == found


@pytest.mark.parametrize(
    ("resource", "count"),
    [("s3://example-datasets", 1), ("s3://", 1), ("dns://hugging", 1), ("s3://example-models", 0),
     ("%", 0), ("_", 0), ("", 2)],
)  # fmt: skip
def test_a_resource_is_found_by_its_beginning(config: Path, resource: str, count: int) -> None:
    assert len(shown(config, "run_dependency_days", "--resource", resource)) == count


def test_columns_are_chosen_in_the_order_asked(config: Path) -> None:
    rows = shown(config, "runs", "--columns", "outcome, project", "--project", "vision")
    assert rows == [{"outcome": "succeeded", "project": "vision"}]


@pytest.mark.parametrize("columns", ["nonsense", "project; DROP TABLE runs", '"', "", "project,,"])
def test_unknown_columns_are_named_with_those_there_are(config: Path, columns: str) -> None:
    ended = podledger("show", "runs", "--columns", columns, "--config", config)
    if columns == "":
        assert ended.code == 0  # none asked: all are shown
        return
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: runs has no column(s) ")
    assert "; it has: " in ended.err
    assert "project" in ended.err


def test_the_view_of_dependencies_is_a_table_like_any_other(config: Path) -> None:
    rows = shown(config, "dependencies", "--project", "vision")
    assert [(row["resource_id"], row["run_count"]) for row in rows] == [
        ("s3://example-datasets", 1)
    ]


def test_staged_rows_come_from_the_lake_without_repeated_ones(config: Path) -> None:
    rows = shown(config, "object_requests", "--columns", "key")
    assert sorted(row["key"] for row in rows) == ["key-1", "key-2"]


def test_more_rows_than_the_limit_are_said(config: Path) -> None:
    ended = podledger("show", "runs", "--limit", "1", "--config", config)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.endswith("\n1 of 2 rows; --limit 2 shows all\n")
    assert "shows all" not in podledger("show", "runs", "--config", config).out
    assert podledger("show", "runs", "--limit", "0", "--config", config).code == 2


@pytest.mark.parametrize("form", ["json", "csv"])
def test_scripts_are_told_beside_their_rows_that_there_are_more(config: Path, form: str) -> None:
    wanted = ("show", "runs", "--limit", "1", "--columns", "project", "--format", form)
    ended = podledger(*wanted, "--config", config)
    assert (ended.code, ended.err) == (0, "1 of 2 rows; --limit 2 shows all\n")
    assert ended.out.split()[-2:] in (["project", "vision"], ["}", "]"])
    by = podledger("show", "runs", "--by", "project", "--limit", "1", "--json", "--config", config)
    assert by.err == "1 of 2 rows; --limit 2 shows all\n"
    few = ("--project", "vision", "--limit", "1")
    assert podledger("show", "runs", *few, "--json", "--config", config).err == ""


def test_a_table_without_rows_says_so(config: Path) -> None:
    ended = podledger("show", "runs", "--project", "biology", "--config", config)
    assert (ended.code, ended.out) == (0, "no rows\n")
    ended = podledger("show", "runs", "--by", "queue", "--project", "biology", "--config", config)
    assert (ended.code, ended.out) == (0, "no rows\n")


@pytest.mark.parametrize(
    ("table", "filters", "expected"),
    [
        ("runs", ("--attempt", "first"), "--attempt first: expected a whole number"),
        ("runs", ("--attempt", "1.7"), "--attempt 1.7: expected a whole number"),
        ("runs", ("--gpu-count=", ), "--gpu-count : expected a whole number"),
        ("runs", ("--start-at", "soon"), "--start-at soon: expected a time such as 2026-03-10T"),
        ("runs", ("--as-of-date", "2026-02-30"), "--as-of-date 2026-02-30: expected a day such"),
        ("runs", ("--is-final", "maybe"), "--is-final maybe: expected true or false"),
        ("runs", ("--pod-uids", "p1"), "--pod-uids p1: expected a whole list such as [a, b]"),
        ("runs", ("--outcome", "succeded"), "--outcome succeded: expected one of succeeded, fail"),
        ("runs", ("--run", "train"), "no run 'train'; expected the uuid or the name of a run"),
        ("run_coverage", ("--coverage-ratio", "all"), "--coverage-ratio all: expected a number"),
        ("repeat_transfers", ("--scope", "nodes"), "--scope nodes: expected one of run, node"),
        ("transfer_costs", ("--max-usd", "1 USD"), "--max-usd 1 USD: expected a number"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("summed", [(), ("--by", "cluster")])
def test_a_value_that_no_row_can_have_is_refused(
    config: Path, table: str, filters: tuple[str, ...], expected: str, summed: tuple[str, ...]
) -> None:
    ended = podledger("show", table, *filters, *summed, "--config", config)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {expected}")


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (("--attempt", "1"), [RUN, OTHER_RUN]),
        (("--attempt", "2"), []),
        (("--outcome", "failed"), [OTHER_RUN]),
        (("--as-of-date", "2026-03-10"), [RUN, OTHER_RUN]),
        (("--pod-uids", "[]"), [RUN, OTHER_RUN]),
        (("--run", "=cmd()"), [OTHER_RUN]),
    ],
)
def test_filters_are_read_as_their_columns_type(
    config: Path, filters: tuple[str, ...], found: list[str]
) -> None:
    assert [row["run_uuid"] for row in shown(config, "runs", *filters)] == found


def test_csv_has_a_header_and_no_formula(config: Path) -> None:
    ended = podledger(
        "show", "runs", "--columns", "name,project", "--format", "csv", "--config", config
    )
    assert list(csv.reader(io.StringIO(ended.out))) == [
        ["name", "project"],
        ["train [bold]x[/bold]", "vision"],
        ["'=cmd()", "speech"],
    ]


def test_a_table_for_people_shows_markup_as_text(config: Path) -> None:
    ended = podledger("show", "runs", "--columns", "name,project", "--config", config)
    assert "train [bold]x[/bold]" in ended.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense",), "error: no table 'nonsense'; there are: "),
        (("runs; DROP TABLE runs",), "error: no table 'runs; DROP TABLE runs'; there are: "),
        (("flows",), "error: flows holds no rows yet"),
        (("runs", "--run", "%"), "error: no run '%'; expected the uuid or the name of a run"),
        (("runs", "--run", '"run_uuid"'), "error: no run '\"run_uuid\"'; expected the uuid"),
        (("runs", "--resource", "x"), "error: --resource: runs has no such column"),
        (("runs", "--scope", "node"), "error: --scope: runs has no such column"),
        (("runs", "--from", "noon"), "error: --from noon: expected a day such as 2026-03-10"),
        (("object_requests", "--from", "2026-03-10"), "error: object_requests has no day to "),
    ],
)
def test_what_cannot_be_shown_is_said(
    config: Path, arguments: tuple[str, ...], message: str
) -> None:
    ended = podledger("show", *arguments, "--config", config)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(message)


# -- explain -------------------------------------------------------------------------------------


def test_an_id_of_a_row_is_explained(config: Path) -> None:
    ended = podledger("explain", DEPENDENCY, "--config", config)
    assert ended.code == 0
    assert ended.out.startswith("run_dependency_days\n")
    assert "  resource_id: s3://example-datasets\n" in ended.out
    assert "single records are found for connections, object_transfers" in ended.out


def test_an_id_of_a_record_leads_to_its_line(config: Path) -> None:
    rows = shown(config, "object_requests", "--columns", "key,record_id")
    wanted = next(row["record_id"] for row in rows if row["key"] == "key-1")
    ended = podledger("explain", wanted, "--json", "--config", config)
    found = json.loads(ended.out)
    assert (ended.code, found["table"], found["record_count"]) == (0, "object_requests", 1)
    (record,) = found["records"]
    assert (record["locator"], record["byte_offset"], record["state"]) == ("line 1", 0, "found")
    assert record["path"].endswith("in/2026-03-10/a.log")


@pytest.mark.parametrize("wanted", [RUN, "01234567-89AB-CDEF-0123-456789abcdef"])
def test_a_run_leads_to_its_row_and_the_command_that_shows_all_of_it(
    config: Path, wanted: str
) -> None:
    ended = podledger("explain", wanted, "--config", config)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("runs\n  run_id: r1\n")
    assert f"`podledger manifest {RUN}` shows all of this run" in ended.out


def test_a_runs_name_leads_to_it_too(config: Path) -> None:
    found = json.loads(podledger("explain", "=cmd()", "--json", "--config", config).out)
    assert (found["table"], found["row"]["run_uuid"]) == ("runs", OTHER_RUN)


@pytest.mark.parametrize("wanted", ["nonsense", "", "x' OR 1=1 --", "0" * 32, "%"])
def test_an_unknown_id_ends_with_code_2(config: Path, wanted: str) -> None:
    ended = podledger("explain", wanted, "--config", config)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: nothing has the id ")
    assert "or the uuid or name of a run" in ended.err


# -- what no answer can be given to --------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "runs", "--project", "a\udcff"),
        ("explain", "a\udcff"),
        ("query", "SELECT 'a\udcff'"),
    ],
)
def test_an_argument_that_is_no_utf8_ends_with_a_message(
    config: Path, arguments: tuple[str, ...]
) -> None:
    ended = podledger(*arguments, "--config", config)
    assert ended.code == 2
    assert "cannot encode 'a\\udcff'" in ended.err or 'cannot encode "SELECT' in ended.err
    assert "expected UTF-8 text" in ended.err
    assert "Error:" not in ended.err


@pytest.mark.parametrize("command", ["manifest", "accept", "compare"])
def test_no_run_is_called_by_what_is_no_utf8(config: Path, command: str) -> None:
    names = ("a\udcff", "a\udcff") if command == "compare" else ("a\udcff",)
    ended = podledger(command, *names, "--config", config)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: no run 'a\\udcff'; expected the uuid or the name of a run")


def test_more_rows_than_memory_could_hold_are_no_limit(config: Path) -> None:
    ended = podledger("show", "runs", "--limit", 2**63, "--config", config)
    assert ended.code == 2
    assert "--limit" in ended.err

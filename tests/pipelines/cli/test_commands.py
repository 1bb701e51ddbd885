"""Every command explains itself, and wrong usage or settings end with code 2 and a message."""

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from pipelines.cli.main import app
from pipelines.settings import DEFAULT_FILE, ENVIRONMENT
from schemas.registry import tables
from tests.pipelines.cli.command import podledger

COMMANDS = [command.callback.__name__ for command in app.registered_commands if command.callback]


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    monkeypatch.chdir(tmp_path)


# -- help ----------------------------------------------------------------------------------------


def test_all_commands_of_this_part_are_there() -> None:
    assert set(COMMANDS) >= {
        "demo", "build", "check", "status", "show", "query", "explain", "dictionary",
    }  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name: str) -> None:
    ended = podledger(name, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert f"Example: podledger {name}" in " ".join(ended.out.split())


def test_help_lists_the_commands() -> None:
    ended = podledger("--help")
    assert ended.code == 0
    assert all(f"\n  {name} " in ended.out for name in COMMANDS)


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("check",), ("show",), ("show", "--nonsense"), ("query",)]
)
def test_wrong_usage_ends_with_code_2(arguments: tuple[str, ...]) -> None:
    ended = podledger(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert "Traceback" not in ended.err
    assert ended.err


def test_ctrl_c_ends_with_a_word() -> None:
    with patch("pipelines.cli.dictionary.print_plain", side_effect=KeyboardInterrupt):
        ended = podledger("dictionary")
    assert (ended.code, ended.out) == (130, "")
    assert "error: stopped; what was published stays" in ended.err


# -- dictionary ----------------------------------------------------------------------------------


DESCRIBED = [*tables(), "dependencies"]
"""Every table, and the view over one."""


def test_the_dictionary_has_a_heading_per_table_and_a_line_per_column() -> None:
    ended = podledger("dictionary")
    assert (ended.code, ended.err) == (0, "")
    headings = [line[3:] for line in ended.out.splitlines() if line.startswith("## ")]
    assert headings == DESCRIBED
    for name, spec in tables().items():
        lines = podledger("dictionary", name).out.splitlines()
        assert len([line for line in lines if line.startswith("| ")]) == len(spec.columns) + 1


def test_one_table_can_be_asked_for() -> None:
    ended = podledger("dictionary", "run_dependency_days")
    assert ended.out.startswith("## run_dependency_days\n")
    assert ended.out.count("## ") == 1
    assert "| received_bytes | BIGINT | bytes |" in ended.out


def test_the_dictionary_is_there_for_scripts() -> None:
    ended = podledger("dictionary", "--json")
    content = json.loads(ended.out)
    assert [table["table"] for table in content] == DESCRIBED
    (runs,) = json.loads(podledger("dictionary", "runs", "--json").out)
    assert (runs["layer"], runs["key"], runs["as_of"]) == ("marts", ["run_uuid", "attempt"], True)
    outcome = next(c for c in runs["columns"] if c["name"] == "outcome")
    assert "succeeded" in outcome["allowed"]
    assert all(
        c["description"] and (c["null_meaning"] or not c["nullable"])
        for t in content
        for c in t["columns"]
    )


def test_an_unknown_table_is_named_with_those_there_are() -> None:
    ended = podledger("dictionary", "nonsense")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: no table 'nonsense'; there are: export_files, ")


# -- settings ------------------------------------------------------------------------------------

GOOD = "lake: {name}\ncatalog: {name}.duckdb\nclusters: {{alder: {{}}}}\nexports: []\n"


def settings(path: Path, name: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(GOOD.format(name=name))
    return path


def catalogue_named(*options: object) -> str:
    """The catalogue that a command looks for, which tells whose settings it read."""
    ended = podledger("query", "SELECT 1", *options)
    assert ended.code == 2
    return Path(ended.err.split(" is absent")[0].rpartition(" ")[2]).name


def test_an_option_wins_over_the_environment_and_that_over_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = settings(tmp_path / DEFAULT_FILE, "here")
    elsewhere = settings(tmp_path / "a" / "x.yaml", "elsewhere")
    stated = settings(tmp_path / "b" / "y.yaml", "stated")
    assert catalogue_named() == "here.duckdb"
    monkeypatch.setenv(ENVIRONMENT, str(elsewhere))
    assert catalogue_named() == "elsewhere.duckdb"
    assert catalogue_named("--config", stated) == "stated.duckdb"
    assert catalogue_named("--config", here) == "here.duckdb"
    monkeypatch.setenv(ENVIRONMENT, "")
    assert catalogue_named() == "here.duckdb"


WRONG = [
    ("workers: many", "workers: 'many': ", "whole number"),
    ("workers: 0", "workers: 0: ", "at least 1"),
    ("memory_limit: lots", "memory_limit: 'lots': ", "expected"),
    ("final_after: soon", "final_after: 'soon': ", "expected"),
    ("retention_days: -1", "retention_days: -1: ", "at least 1"),
    ("nonsense: 1", "nonsense: unknown setting", "lists those there are"),
    ("exports: [{name: x, path: in, format: z}]", "exports.0.format: 'z': ", "auto or one of"),
    ("exports: [{name: x}]", "exports.0.path: missing", "expected a value"),
    ("exports: [{name: x, path: 'in/{pod}'}]", "exports.0.path: ", "unknown placeholder {pod}"),
    ("clusters: {Alder: {}}", "clusters: ", "expected [a-z0-9.-]{1,63}"),
    ("clusters: {fleet: {}}", "clusters: ", "other than 'fleet', got cluster 'fleet'"),
    ("clusters: {a: {account_id: 012}}", "clusters.a.account_id: 10: ", "expected text in quotes"),
]  # fmt: skip


@pytest.mark.parametrize("command", [("status",), ("build",), ("show", "runs"), ("explain", "x")])
@pytest.mark.parametrize(("text", "key_and_value", "expected"), WRONG)
def test_a_wrong_setting_is_refused_with_key_value_and_expectation(
    tmp_path: Path, command: tuple[str, ...], text: str, key_and_value: str, expected: str
) -> None:
    base = {"lake": "l", "catalog": "c", "clusters": "{alder: {}}", "exports": "[]"}
    key, _, value = text.partition(": ")
    base[key] = value
    path = tmp_path / "x.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in base.items()))
    ended = podledger(*command, "--config", path)
    assert (ended.code, ended.out) == (2, "")
    first, second = ended.err.splitlines()
    assert first == f"error: {path}: 1 wrong setting(s)"
    assert second.startswith(f"  {key_and_value}")
    assert expected in second


def test_all_wrong_settings_are_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("lake: 1\nworkers: x\nclusters: {}\n")
    ended = podledger("status", "--config", path)
    assert ended.err.splitlines()[0].endswith(": 5 wrong setting(s)")
    keys = [line.split(":")[0].strip() for line in ended.err.splitlines()[1:]]
    assert keys == ["lake", "catalog", "workers", "clusters", "exports"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory; expected a settings file"),
        (b"\xff\xfe", "not UTF-8 text; expected a settings file"),
        (b"a: [", "line 1 is no YAML"),
        (b"[]", "expected a mapping of settings, got list"),
        (b"", "expected a mapping of settings, got NoneType"),
        (b"[" * 10_000, "is no YAML"),
    ],
)
def test_what_is_no_settings_file_is_said(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "x.yaml"
    if content is not None:
        path.write_bytes(content)
    ended = podledger("status", "--config", path)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--date", "noon"), "--date noon: expected a day such as 2026-03-10"),
        (("--from", "2026-03-10"), "--from and --to go together"),
        (("--date", "2026-03-10", "--from", "2026-03-10"), "give --date, or --from with --to"),
        (("--from", "2026-03-11", "--to", "2026-03-10"), "expected a day not before"),
        (("--stale", "--date", "2026-03-10"), "--stale chooses the days itself"),
        (("--cluster", "birch"), "--cluster birch: expected one of alder"),
        # What stands behind a name that secrets have is no secret here.
        (("--cluster", "token"), "--cluster token: expected one of alder"),
        (("--cluster", "token=hunter2"), "--cluster token=***: expected one of alder"),
    ],
)
def test_options_of_build_that_contradict_each_other_are_refused(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    ended = podledger("build", *options, "--config", settings(tmp_path / "x.yaml", "here"))
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.yaml"]


def test_status_of_an_empty_lake_says_that_there_is_nothing(tmp_path: Path) -> None:
    path = settings(tmp_path / "x.yaml", "here")
    ended = podledger("status", "--config", path)
    assert (ended.code, ended.err) == (0, "")
    assert "days: none" in ended.out
    assert json.loads(podledger("status", "--json", "--config", path).out)["days"] == []
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["x.yaml"]

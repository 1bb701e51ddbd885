"""The rules of the house, as small tests over the source."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
import sqlglot

ROOT = Path(__file__).parents[1]
LAYERS = ("schemas", "transforms", "pipelines")
ALLOWED = {
    "schemas": {"schemas"},
    "transforms": {"schemas", "transforms"},
    "pipelines": {"schemas", "transforms", "pipelines"},
}
ONLY_IN_PIPELINES = {
    "dagster", "s3fs", "fsspec", "botocore", "aiohttp", "typer", "rich", "pydantic", "yaml", "os",
}  # fmt: skip
DISTRIBUTIONS = {"dnspython": "dns", "pyyaml": "yaml"}
NEVER = {"pandas", "orjson", "dagster_duckdb", "dagster_polars", "dagster_pandera"}


def modules(layer: str) -> list[Path]:
    return sorted((ROOT / layer).rglob("*.py"))


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_down_the_layers_only(layer: str) -> None:
    for path in modules(layer):
        ours = {name.split(".")[0] for name in imports(path)} & set(LAYERS)
        assert ours <= ALLOWED[layer], f"{path}: {ours - ALLOWED[layer]}"


@pytest.mark.parametrize("layer", ["schemas", "transforms"])
def test_the_world_is_touched_in_pipelines_only(layer: str) -> None:
    for path in modules(layer):
        roots = {name.split(".")[0] for name in imports(path)}
        assert not roots & ONLY_IN_PIPELINES, f"{path}: {roots & ONLY_IN_PIPELINES}"


@pytest.mark.parametrize("layer", ["schemas", "transforms"])
def test_no_clock_is_read_below_pipelines(layer: str) -> None:
    clock = re.compile(r"\b(?:now|today|utcnow|time_ns|monotonic)\(")
    for path in [*modules(layer), *(ROOT / layer).rglob("*.sql")]:
        text = path.read_text(encoding="utf-8").lower()
        assert not clock.search(text), path
        assert "current_timestamp" not in text, path
        assert "current_date" not in text, path


def test_banned_libraries_are_nowhere() -> None:
    for layer in LAYERS:
        for path in modules(layer):
            assert not {name.split(".")[0] for name in imports(path)} & NEVER, path


def test_every_library_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = (re.split(r"[^\w.-]", line)[0] for line in project["dependencies"])
    declared = {DISTRIBUTIONS.get(name.lower(), name.lower()) for name in names}
    for layer in LAYERS:
        for path in modules(layer):
            roots = {name.split(".")[0] for name in imports(path)}
            others = roots - set(LAYERS) - sys.stdlib_module_names
            assert others <= declared, f"{path}: {others - declared}"


def test_parsers_do_not_import_each_other() -> None:
    formats = importable_parsers()
    for name, path in formats.items():
        others = {f"transforms.staging.{other}" for other in formats if other != name}
        assert not imports(path) & others, path


def importable_parsers() -> dict[str, Path]:
    folder = ROOT / "transforms" / "staging"
    return {
        path.stem: path
        for path in folder.glob("*.py")
        if re.search(r"^PARSER\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def test_every_parser_is_registered_and_named_like_its_module() -> None:
    from pipelines.landing.formats import MODULES, parsers

    assert set(MODULES) == set(importable_parsers())
    assert {parser.name for parser in parsers().values()} == set(MODULES)


def test_every_module_has_a_docstring() -> None:
    for layer in LAYERS:
        for path in modules(layer):
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_no_module_is_called_after_nothing() -> None:
    for layer in LAYERS:
        for path in modules(layer):
            assert path.stem not in {"utils", "helpers", "common", "misc"}, path


def sql_files() -> list[Path]:
    return sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.sql"))


def header(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines)


@pytest.mark.parametrize("path", sql_files(), ids=lambda p: p.stem)
def test_every_sql_file_states_grain_reads_and_parameters(path: Path) -> None:
    stated = header(path.read_text(encoding="utf-8"))
    for word in ("Grain:", "Reads:"):
        assert word in stated, f"{path.name} has no {word}"


@pytest.mark.parametrize("path", sql_files(), ids=lambda p: p.stem)
def test_every_sql_file_states_the_parameters_it_binds(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    body = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    bound = set(re.findall(r"\$([a-z_][a-z0-9_]*)", body))
    stated = header(text).partition("Parameters:")[2]
    named = set(re.findall(r"\$([a-z_][a-z0-9_]*)", stated))
    assert bound == named, path.name


@pytest.mark.parametrize("path", sql_files(), ids=lambda p: p.stem)
def test_every_sql_file_states_the_tables_it_reads(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    stated = header(text).split("Reads:", 1)[1].split("Parameters:", 1)[0]
    for statement in sqlglot.parse(text, dialect="duckdb"):
        if statement is None:
            continue
        ctes = {cte.alias for cte in statement.find_all(sqlglot.exp.CTE)}
        for table in statement.find_all(sqlglot.exp.Table):
            if table.name and table.name not in ctes:
                assert table.name in stated, f"{path.name} reads {table.name}"

"""Which files of a built day are stale, and why: settings, logic, schemas, readings, files."""

import datetime as dt
import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pipelines.cli.status import status_of
from pipelines.ledger import Ledger
from pipelines.publication import TableWriter, made_from, note_of
from pipelines.run import StaleFile, Workspace, land_days, stale_days, stale_files
from schemas.registry import table_spec
from schemas.table import Column
from tests.pipelines.landing_zone import SETTINGS, line, put, zone
from tests.pipelines.plain_build import build_all
from transforms.registry import transforms

DAY = dt.date(2026, 3, 10)
TABLES = len(transforms())
PROVISIONAL = dt.datetime(2026, 3, 12, tzinfo=dt.UTC)
FINAL = dt.datetime(2026, 4, 1, tzinfo=dt.UTC)


def build(folder: Path, at: dt.datetime) -> Path:
    put(folder, "a.log", [line(1)])
    (folder / "one.key").write_text("0123456789abcdef")
    (folder / "other.key").write_text("fedcba9876543210")
    zone(folder, SETTINGS + "redaction_key_file: one.key\n")
    build_all(folder / "podledger.yaml", at=at)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A provisional day, and a copy of it."""
    folder, copy = tmp_path_factory.mktemp("provisional"), tmp_path_factory.mktemp("copy")
    shutil.copytree(build(folder, PROVISIONAL), copy, dirs_exist_ok=True)
    return folder, copy


@pytest.fixture
def provisional(built: tuple[Path, Path]) -> Path:
    """The same day at the same place, as it was built."""
    folder, copy = built
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    return folder


@pytest.fixture(scope="module")
def final(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("final"), FINAL)


def workspace_of(folder: Path, settings: str, at: dt.datetime) -> Workspace:
    zone(
        folder, settings if "redaction" in settings else settings + "redaction_key_file: one.key\n"
    )
    workspace = Workspace(folder / "podledger.yaml")
    workspace.clock = lambda: at
    return workspace


def stale(workspace: Workspace) -> list[StaleFile]:
    return stale_files(workspace, Ledger.read(workspace.lake), DAY)


def test_nothing_is_stale_that_did_not_change(provisional: Path, final: Path) -> None:
    for folder, at in ((provisional, PROVISIONAL), (final, FINAL)):
        workspace = workspace_of(folder, SETTINGS, at)
        assert stale(workspace) == []
        assert status_of(workspace)["stale"] == []


SETTING_CHANGES = [
    ("clusters", SETTINGS.replace("region: us-east-1}\nexports", "region: eu-west-1}\nexports")),
    ("look_back", SETTINGS + "look_back: {pods: 12h}\n"),
    ("look_ahead", SETTINGS + "look_ahead: 2h\n"),
    ("final_after", SETTINGS + "final_after: 4d\n"),
    ("datasets", SETTINGS + "datasets: [{id: keys, pattern: 's3://example-bucket/*'}]\n"),
    ("buckets", SETTINGS + "buckets: {example-bucket: us-east-1}\n"),
    ("exports", SETTINGS + "  - {name: more, format: hubble, path: 'h/{cluster}/%Y-%m-%d/*'}\n"),
]


@pytest.mark.parametrize(("setting", "text"), SETTING_CHANGES, ids=[n for n, _ in SETTING_CHANGES])
def test_a_changed_setting_is_named(provisional: Path, setting: str, text: str) -> None:
    workspace = workspace_of(provisional, text, PROVISIONAL)
    found = stale(workspace)
    # What follows an open bill is not built again for a change of settings.
    assert {file.table for file in found} == {*transforms()} - {"bill_reconciliation"}
    # An export that came is awaited, too.
    causes = {cause for file in found for cause in file.causes}
    assert causes - {"deliveries"} == {f"settings.{setting}"}
    assert stale_days(workspace) == [DAY]


def test_a_changed_reference_file_is_named_by_the_tables_that_read_it(provisional: Path) -> None:
    endpoints = "pattern,service,operation,kind,source,as_of,is_verified\n"
    endpoints += "data.example.com,data,connect,primary,by hand,2026-03-01,true\n"
    (provisional / "endpoints.csv").write_text(endpoints, encoding="utf-8")
    text = SETTINGS + "reference: {endpoints: endpoints.csv}\n"
    found = stale(workspace_of(provisional, text, PROVISIONAL))
    readers = {t for t, f in transforms().items() if any(r.table == "endpoints" for r in f.reads)}
    assert {file.table for file in found} == readers
    assert {file.causes for file in found} == {("reference.endpoints",)}


def test_a_later_version_of_a_transform_makes_its_own_table_stale(
    provisional: Path, final: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transform = transforms()["connections"]
    later = replace(transform, version=transform.version + 1)
    monkeypatch.setitem(transforms(), "connections", later)
    why = f"logic of connections: version {transform.version}, now {later.version}"
    workspace = workspace_of(provisional, SETTINGS, PROVISIONAL)
    assert stale(workspace) == [StaleFile("connections", "alder", (why,))]
    assert stale_days(workspace) == [DAY]
    kept = workspace_of(final, SETTINGS, FINAL)
    assert stale_days(kept) == []
    assert status_of(kept)["stale"] == [
        {"date": DAY, "why": why, "files": 1, "tables": "connections"}
    ]


def test_a_column_that_came_makes_its_table_stale(
    provisional: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = table_spec("storms")
    added = Column("new", pl.Int64(), "New.", True, "not known", "", False, (), None)
    monkeypatch.setitem(spec.__dict__, "columns", (*spec.columns, added))
    found = stale(workspace_of(provisional, SETTINGS, PROVISIONAL))
    assert found == [StaleFile("storms", "fleet", ("other columns or types",))]


def test_a_file_that_is_missing_or_of_unknown_making_is_stale(provisional: Path) -> None:
    workspace = workspace_of(provisional, SETTINGS, PROVISIONAL)
    lake = workspace.lake
    lake.path("waits", DAY, "fleet").unlink()
    note = lake.path("runs", DAY, "fleet").with_name(".fleet.made")
    note.write_text(json.dumps({"content": "of another file", "inputs": "", "version": 1}))
    causes = {(file.table, file.causes) for file in stale(workspace)}
    assert ("waits", ("its file is missing",)) in causes
    assert ("runs", ("made before causes were noted, or not known of this content",)) in causes


def test_a_note_of_before_causes_were_noted_still_counts(provisional: Path) -> None:
    workspace = workspace_of(provisional, SETTINGS, PROVISIONAL)
    for path in workspace.lake.root.rglob(".*.made"):
        note = json.loads(path.read_text(encoding="utf-8"))
        del note["kinds"]
        path.write_text(json.dumps(note), encoding="utf-8")
    assert made_from(workspace.lake.path("runs", DAY, "fleet")) is not None
    assert stale(workspace) == []


def test_a_file_that_landed_is_named_as_such(provisional: Path) -> None:
    put(provisional, "b.log", [line(2)])
    workspace = workspace_of(provisional, SETTINGS, PROVISIONAL)
    land_days(workspace, None)
    causes = {cause for file in stale(workspace) for cause in file.causes}
    # The newest event of its delivery is later, too.
    assert causes == {"files landed", "deliveries"}


def test_a_file_that_was_read_again_is_no_file_that_landed(provisional: Path) -> None:
    for path in (provisional / "lake" / "export_files").rglob("*.parquet"):
        path.unlink()
    other_key = SETTINGS + "redaction_key_file: other.key\n"
    workspace = workspace_of(provisional, other_key, PROVISIONAL)
    land_days(workspace, None)
    causes = {cause for file in stale(workspace) for cause in file.causes}
    assert causes == {"files read again under other settings, formats or parsers"}


def note_parts(path: Path, parts: dict[str, str] | None, content: str | None = None) -> None:
    """Change what the note beside a file says of its parts, and perhaps of its content."""
    note = json.loads(note_of(path).read_text(encoding="utf-8"))
    note["parts"] = parts
    note["content"] = content or note["content"]
    if parts is None:
        del note["parts"]
    note_of(path).write_text(json.dumps(note), encoding="utf-8")


def test_a_table_is_stale_for_the_part_that_it_reads_alone(provisional: Path) -> None:
    """Of run_dependency_days repeats are made of contacts with some hosts only."""
    workspace = workspace_of(provisional, SETTINGS, PROVISIONAL)
    path = workspace.lake.path("run_dependency_days", DAY, "fleet")
    of_repeats = [("repeat_transfers", "fleet")]
    note_parts(path, {"hosts": "one"})
    assert [(file.table, file.scope) for file in stale(workspace)] == of_repeats
    build_all(provisional / "podledger.yaml", at=PROVISIONAL)
    assert made_from(path).parts == {"hosts": "one"}
    assert stale(workspace) == []
    # Other rows, the same part: whoever reads all of it is stale, repeats are not.
    rows = pl.read_parquet(path, hive_partitioning=False)
    with TableWriter(table_spec("run_dependency_days"), path) as writer:
        writer.write(rows.head(0))
    note_parts(path, {"hosts": "one"}, writer.content)
    others = {file.table for file in stale(workspace)}
    assert {"run_dependencies", "byte_balance"} & others
    assert "repeat_transfers" not in others
    # Where the part is not known, all of it counts.
    note_parts(path, None)
    assert "repeat_transfers" in {file.table for file in stale(workspace)}

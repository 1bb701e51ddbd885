"""`podledger manifest`, and manifests beside the artifacts of their runs."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import PodledgerError, SettingsError
from pipelines.manifests import (
    JSON_NAME,
    MARKDOWN_NAME,
    folder_of,
    schema_text,
    write_manifest,
    write_manifests,
)
from pipelines.run import Listener, Workspace, publish_catalogue
from pipelines.settings import load_settings
from pipelines.storage import Lake
from tests.json_schema import problems
from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import DAY, OTHER_RUN, ROWS, RUN, small_catalogue
from tests.pipelines.landing_zone import SETTINGS, zone

START = dt.datetime(2026, 3, 10, 8, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)


@pytest.fixture
def _ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both runs have ended; the project of the second tries to lead elsewhere."""
    first, second = ROWS["runs"]
    of_time = {"start_at": START, "end_at": START + HOUR}
    spoilt = {**second, **of_time, "project": "../../etc"}
    monkeypatch.setitem(ROWS, "runs", [{**first, **of_time}, spoilt])


def test_a_run_is_asked_for_by_uuid_or_name_and_printed_in_both_forms(tmp_path: Path) -> None:
    config = small_catalogue(tmp_path)
    told = podledger("manifest", RUN, "--format", "json", "--config", config)
    assert (told.code, told.err) == (0, "")
    document = json.loads(told.out)
    assert problems(json.loads(schema_text()), document) == []
    assert document["what_ran"]["run_uuid"] == RUN
    assert document["as_of_date"] == "2026-03-10"
    dashed = f"{RUN[:8]}-{RUN[8:12]}-{RUN[12:16]}-{RUN[16:20]}-{RUN[20:]}"
    assert podledger("manifest", dashed, "--json", "--config", config).out == told.out
    by_name = podledger("manifest", "=cmd()", "--json", "--config", config)
    assert json.loads(by_name.out)["what_ran"]["run_uuid"] == OTHER_RUN
    shown = podledger("manifest", RUN, "--config", config)
    assert shown.out.startswith("# Run train \\[bold\\]x\\[/bold\\]\n")
    assert max(map(len, shown.out.splitlines())) <= 100
    schema = podledger("manifest", "--schema")
    assert schema.out == schema_text()


def test_a_run_that_no_row_or_several_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ROWS, "runs", [{**row, "name": "train"} for row in ROWS["runs"]])
    config = small_catalogue(tmp_path)
    for wanted, said in (
        ("train", f"2 runs are called 'train'; expected the uuid of one: {RUN}, {OTHER_RUN}"),
        ("nothing", "no run 'nothing'"),
        ("ab" * 16, f"no run {'ab' * 16!r}"),
    ):
        refused = podledger("manifest", wanted, "--config", config)
        assert (refused.code, refused.out) == (2, "")
        assert said in refused.err
    assert podledger("manifest", "--config", config).code == 2


def test_both_forms_are_written_into_a_folder_and_left_where_nothing_changed(
    tmp_path: Path,
) -> None:
    config = small_catalogue(tmp_path)
    folder = tmp_path / "kept" / "here"
    wrote = podledger("manifest", RUN, "--into", folder, "--config", config)
    assert wrote.out.splitlines() == [f"wrote {folder / n}" for n in (JSON_NAME, MARKDOWN_NAME)]
    before = {path: path.stat().st_mtime_ns for path in sorted(folder.iterdir())}
    assert sorted(p.name for p in before) == [JSON_NAME, MARKDOWN_NAME]
    again = podledger("manifest", RUN, "--into", folder, "--config", config)
    assert again.out == ""
    assert {path: path.stat().st_mtime_ns for path in sorted(folder.iterdir())} == before
    # A link that stands in its place is replaced; what it leads to stays as it is.
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    (folder / JSON_NAME).unlink()
    (folder / JSON_NAME).symlink_to(precious)
    podledger("manifest", RUN, "--into", folder, "--config", config)
    assert not (folder / JSON_NAME).is_symlink()
    assert precious.read_text(encoding="utf-8") == "mine"


@pytest.mark.usefixtures("_ended")
def test_the_end_of_a_build_writes_manifests_of_runs_that_ended(tmp_path: Path) -> None:
    config = small_catalogue(tmp_path)
    text = config.read_text(encoding="utf-8") + "manifests: 'out/{project}/{run_uuid}'\n"
    config.write_text(text, encoding="utf-8")
    told: list[str] = []

    class Heard(Listener):
        def not_written(self, reason: str) -> None:
            told.append(reason)

    publish_catalogue(Workspace(config, listener=Heard()), DAY)
    folder = tmp_path / "out" / "vision" / RUN
    document = json.loads((folder / JSON_NAME).read_text(encoding="utf-8"))
    assert document["what_ran"]["end_at"] == "2026-03-10T09:00:00.000000Z"
    printed = podledger("manifest", RUN, "--json", "--config", config)
    assert (folder / JSON_NAME).read_text(encoding="utf-8") == printed.out
    # The run whose project is a way out keeps no other from being written, and is named.
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["vision"]
    assert len(told) == 1
    assert OTHER_RUN in told[0]
    assert "'../../etc' names no folder" in told[0]


def test_a_run_that_goes_on_has_none_yet_and_no_setting_asks_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ROWS["runs"]
    rows = [{**first, "start_at": START}, {**second, "start_at": START, "end_at": START + HOUR}]
    monkeypatch.setitem(ROWS, "runs", rows)
    config = small_catalogue(tmp_path)
    settings = load_settings(config)
    lake = Lake(settings.lake_path)
    assert write_manifests(settings, lake, DAY) == []
    assert not (tmp_path / "out").exists()
    config.write_text(config.read_text("utf-8") + "manifests: 'out/{run_uuid}'\n", "utf-8")
    assert write_manifests(load_settings(config), lake, DAY) == []
    assert [path.name for path in (tmp_path / "out").iterdir()] == [OTHER_RUN]


@pytest.mark.parametrize(
    "project", ["..", "../x", "a/b", "/etc", ".hidden", "", "a\x00b", "a\nb", "x" * 200, None, "~"]
)
def test_a_project_that_is_no_plain_name_leads_nowhere(tmp_path: Path, project: str | None) -> None:
    with pytest.raises(PodledgerError, match="names no folder"):
        folder_of(str(tmp_path / "{project}" / "{run_uuid}"), RUN, project)


def test_a_link_below_the_folder_of_the_settings_leads_nowhere(tmp_path: Path) -> None:
    kept, elsewhere = tmp_path / "kept", tmp_path / "elsewhere"
    kept.mkdir()
    elsewhere.mkdir()
    template = str(kept / "{project}" / "run-{run_uuid}")
    assert folder_of(template, RUN, "vision") == kept / "vision" / f"run-{RUN}"
    (kept / "vision").symlink_to(elsewhere)
    with pytest.raises(PodledgerError, match="leads out of"):
        folder_of(template, RUN, "vision")


@pytest.mark.parametrize("template", ["out", "out/{project}", "out/{run_uuid}/{name}", "{run_uuid"])
def test_a_template_without_a_folder_a_run_is_refused(tmp_path: Path, template: str) -> None:
    with pytest.raises(SettingsError, match=r"manifests.*expected a folder with \{run_uuid\}"):
        zone(tmp_path, f"{SETTINGS}manifests: '{template}'\n")


def test_a_full_disk_keeps_what_stood_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small_catalogue(tmp_path)
    folder = tmp_path / "kept"
    podledger("manifest", RUN, "--into", folder, "--config", config)
    before = (folder / JSON_NAME).read_bytes()

    def fails(self: Path, _data: Any) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", fails)
    document = json.loads(before)
    document["is_final"] = True
    with pytest.raises(PodledgerError, match="No space left"):
        write_manifest(folder, document)
    assert (folder / JSON_NAME).read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [JSON_NAME, MARKDOWN_NAME]

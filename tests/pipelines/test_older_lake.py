"""A lake of another version opens, or says exactly what is to be built again."""

import datetime as dt
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from pipelines import damage
from pipelines.errors import LakeOutdatedError, PodledgerError
from pipelines.publication import content_of, made_from
from pipelines.run import Workspace, publish_catalogue
from pipelines.storage import Lake
from tests.pipelines.landing_zone import line, put, zone
from tests.pipelines.plain_build import build_all, catalogue_rows, digests

DAY = dt.date(2026, 3, 10)
FINAL = dt.datetime(2026, 4, 1, tzinfo=dt.UTC)
TABLE = "run_dependency_days"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One final day."""
    folder = tmp_path_factory.mktemp("built")
    put(folder, "a.log", [line(1), line(2)])
    zone(folder)
    build_all(folder / "podledger.yaml", at=FINAL)
    return folder


@pytest.fixture
def older(built: Path, tmp_path: Path) -> Path:
    """A copy of it, of a version that did not note the lake's layout."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    (tmp_path / "lake" / ".layout.json").unlink(missing_ok=True)
    return tmp_path


def workspace_of(folder: Path) -> Workspace:
    workspace = Workspace(folder / "podledger.yaml")
    workspace.clock = lambda: FINAL
    return workspace


def rewrite(folder: Path, change: pl.Expr) -> None:
    """Give a mart's file another schema, and its note the versions of then."""
    path = Lake(folder / "lake").path(TABLE, DAY, "fleet")
    note = path.with_name(".fleet.made")
    made = json.loads(note.read_text(encoding="utf-8"))
    frame = pl.read_parquet(path, hive_partitioning=False).with_columns(change)
    frame.write_parquet(path)
    content = f"{damage._digest(path).decode()}-of-then"
    frame.write_parquet(path, metadata={"podledger.content": content})
    made["kinds"]["schema"], made["version"] = "0123456789ab", made["version"] - 1
    made["kinds"]["logic"] = "0123456789ab"
    note.write_text(json.dumps(made | {"content": content_of(path)}), encoding="utf-8")


def test_types_that_fit_are_read_as_those_of_now(built: Path, older: Path) -> None:
    rewrite(older, pl.col("request_count").cast(pl.Int32))
    publish_catalogue(workspace_of(older), DAY)
    assert catalogue_rows(older / "podledger.duckdb") == catalogue_rows(built / "podledger.duckdb")
    assert json.loads((older / "lake" / ".layout.json").read_text()) == {"layout": 1}


def test_what_cannot_be_read_is_named_with_its_days_and_column(older: Path) -> None:
    before = (older / "podledger.duckdb").read_bytes()
    rewrite(older, pl.lit("many").alias("request_count"))
    with pytest.raises(LakeOutdatedError) as caught:
        publish_catalogue(workspace_of(older), DAY)
    assert caught.value.exit_code == 2
    said = (
        "files of the lake were written by another version and cannot be read as they are; "
        "`podledger build --stale` builds them again:\n"
        "  run_dependency_days, event days 2026-03-10 to 2026-03-10: "
        "request_count (large_string, now int64)"
    )
    assert str(caught.value) == said
    assert (older / "podledger.duckdb").read_bytes() == before
    # A later day's build would write the catalogue, an earlier one waits for it.
    assert publish_catalogue(workspace_of(older), DAY - dt.timedelta(days=1)) is None


def test_an_older_version_is_told_and_built_again_on_request(built: Path, older: Path) -> None:
    from pipelines.cli.status import status_of

    rewrite(older, pl.lit("many").alias("request_count"))
    version = made_from(Lake(built / "lake").path(TABLE, DAY, "fleet"))
    assert version is not None
    # What is noted of a final day is older, too.
    note = older / "lake" / TABLE / "date=2026-03-10" / ".final"
    note.write_text(json.dumps(json.loads(note.read_text()) | {"logic": "of then"}))
    shown = {row["why"]: row["tables"] for row in status_of(workspace_of(older))["stale"]}
    assert shown == {
        f"logic of {TABLE}: version {version.version - 1}, now {version.version}": TABLE,
        "other columns or types": TABLE,
    }
    build_all(older / "podledger.yaml", at=FINAL, asked=(DAY,))
    assert digests(older / "lake") == digests(built / "lake")
    assert catalogue_rows(older / "podledger.duckdb") == catalogue_rows(built / "podledger.duckdb")


def test_a_lake_of_a_later_layout_is_left_alone(older: Path) -> None:
    (older / "lake" / ".layout.json").write_text('{"layout": 2}', encoding="utf-8")
    workspace = workspace_of(older)
    for use in (lambda: workspace.lake, lambda: workspace.locked().__enter__()):
        with pytest.raises(PodledgerError, match=r"later version .* \(layout 2, this .* knows 1\)"):
            use()
    (older / "lake" / ".layout.json").write_text("{", encoding="utf-8")
    with pytest.raises(PodledgerError, match=r"\.layout\.json: damaged; expected the layout"):
        workspace_of(older).lake.days(TABLE)

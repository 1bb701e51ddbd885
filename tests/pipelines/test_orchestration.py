"""Dagster's history stands where it can."""

from pathlib import Path

import pytest

from pipelines.errors import PodledgerError
from pipelines.orchestration import instance_of
from pipelines.run import Workspace
from tests.pipelines.landing_zone import zone


@pytest.mark.parametrize("name", ["100%", "what?", "[old]", "a*b"])
def test_a_folder_that_dagster_cannot_open_is_named(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    folder = tmp_path / name
    folder.mkdir()
    zone(folder)
    with (
        pytest.raises(PodledgerError, match="expected a folder without"),
        instance_of(Workspace(folder / "podledger.yaml")),
    ):
        pass
    assert not (folder / ".dagster").exists()

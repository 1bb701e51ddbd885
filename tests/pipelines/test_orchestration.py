"""Dagster's history stands where it can."""

import datetime as dt
from pathlib import Path
from unittest.mock import patch

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite import sqlite_event_log

from pipelines.errors import PodledgerError
from pipelines.orchestration import instance_of, run_job
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


def test_steps_start_no_processes_that_capture_what_they_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C would end each of them with a traceback."""
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    zone(tmp_path)
    with instance_of(Workspace(tmp_path / "podledger.yaml")) as instance:
        assert type(instance.compute_log_manager).__name__ == "NoOpComputeLogManager"


def test_dagster_keeps_its_engines_only_while_a_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    zone(tmp_path)
    before = sqlite_event_log.create_engine
    with instance_of(Workspace(tmp_path / "podledger.yaml")) as instance:
        first, second = (sqlite_event_log.create_engine("sqlite://") for _ in range(2))
        assert first is second
        run = instance.create_run_for_job(dg.GraphDefinition(name="nothing").to_job())
    assert sqlite_event_log.create_engine is before
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / ".dagster"))
    with dg.DagsterInstance.get() as instance:
        assert instance.get_run_by_id(run.run_id) is not None


def test_an_interrupted_job_is_a_stop_as_any_other(tmp_path: Path) -> None:
    """Dagster's own kind of it would end the command with a traceback."""
    zone(tmp_path)
    workspace = Workspace(tmp_path / "podledger.yaml")
    stopped = dg.DagsterExecutionInterruptedError()
    with (
        dg.DagsterInstance.ephemeral() as instance,
        patch.object(dg.JobDefinition, "execute_in_process", side_effect=stopped),
        pytest.raises(KeyboardInterrupt),
    ):
        run_job(workspace, instance, "build", dt.date(2026, 3, 10))

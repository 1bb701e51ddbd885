"""What Dagster is given: an asset per table, two jobs, a schedule, a sensor, real checks."""

import datetime as dt
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
import yaml

from pipelines.assets.partitions import event_days, landing_days
from pipelines.definitions import build_definitions, days_to_build, nightly
from pipelines.fixtures import FIXTURES
from pipelines.run import FIRST_DAY, Workspace
from schemas.registry import tables
from tests.pipelines.landing_zone import SETTINGS, line, put, zone
from transforms.registry import transforms

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def definitions() -> dg.Definitions:
    return build_definitions()


def test_every_table_is_an_asset_of_the_same_name(definitions: dg.Definitions) -> None:
    keys = {key.to_user_string() for key in definitions.resolve_all_asset_keys()}
    assert keys == {*tables(), "catalogue"}


@pytest.mark.parametrize("clock", [(2024, 1, 1), (2024, 2, 29, 23, 59), (2026, 12, 31, 0, 0, 1)])
def test_days_are_those_that_dagster_counts_by_itself(clock: tuple[int, ...]) -> None:
    theirs = dg.DailyPartitionsDefinition(start_date=FIRST_DAY.isoformat(), end_offset=1)
    with dg.partition_loading_context(effective_dt=dt.datetime(*clock, tzinfo=dt.UTC)):
        expected = theirs.get_partition_keys()
        assert expected
        assert event_days.get_partition_keys() == landing_days.get_partition_keys() == expected


def test_dagsters_server_loads_all_definitions(definitions: dg.Definitions) -> None:
    """It refuses more than a run in a process does, such as a job and a step of one name."""
    dg.Definitions.validate_loadable(definitions)


def test_an_asset_depends_on_what_its_transform_reads(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    for name, transform in transforms().items():
        parents = {k.to_user_string() for k in graph.get(dg.AssetKey(name)).parent_keys}
        assert parents == {r.table for r in transform.reads if r.table in tables()} - {name}


def test_every_derived_table_has_a_check_and_the_ledger_accounts(
    definitions: dg.Definitions,
) -> None:
    graph = definitions.resolve_asset_graph()
    checks = {(k.asset_key.to_user_string(), k.name) for k in graph.asset_check_keys}
    assert checks == {(name, "model_and_key") for name in transforms()} | {
        *(
            (name, "attribution")
            for name in (
                "connections",
                "object_transfers",
                "peer_traffic",
                "counter_increments",
                "pod_intervals",
            )
        ),
        ("export_files", "records_accounted_for"),
    }


def test_the_jobs_have_daily_partitions(definitions: dg.Definitions) -> None:
    for job in ("land", "build"):
        partitions = definitions.resolve_job_def(job).partitions_def
        assert isinstance(partitions, dg.DailyPartitionsDefinition)
        assert partitions.timezone == "UTC"


def test_the_instance_file_is_accepted_and_sends_nothing_home(tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / "dagster.yaml").read_text(encoding="utf-8"))
    assert content["telemetry"] == {"enabled": False}
    (tmp_path / "dagster.yaml").write_text((ROOT / "dagster.yaml").read_text(encoding="utf-8"))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert not instance.telemetry_enabled


def evaluate(schedule: dg.ScheduleDefinition, workspace: Workspace) -> list[str]:
    with dg.build_schedule_context(
        resources={"workspace": workspace},
        repository_def=build_definitions().get_repository_def(),
        scheduled_execution_time=dt.datetime(2026, 3, 12, 2, tzinfo=dt.UTC),
    ) as context:
        found = schedule.evaluate_tick(context)
    return [str(request.partition_key) for request in found.run_requests or ()]


def test_the_schedule_lands_the_days_that_have_new_files(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    put(tmp_path, "b.log", [line(2)], day="2026-03-11")
    zone(tmp_path)
    workspace = Workspace(tmp_path / "podledger.yaml")
    assert evaluate(nightly, workspace) == ["2026-03-10", "2026-03-11"]


def test_landing_one_day_leaves_the_files_of_others(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    put(tmp_path, "b.log", [line(2)], day="2026-03-11")
    zone(tmp_path)
    workspace = Workspace(tmp_path / "podledger.yaml")
    with dg.DagsterInstance.ephemeral() as instance:
        result = (
            build_definitions()
            .resolve_job_def("land")
            .execute_in_process(
                partition_key="2026-03-10",
                resources={"workspace": workspace},
                instance=instance,
            )
        )
    assert result.success
    (check,) = result.get_asset_check_evaluations()
    assert check.passed
    assert check.metadata["files"].value == 1
    rows = [
        m.metadata["dagster/partition_row_count"].value
        for m in result.asset_materializations_for_node("land_day")
        if m.asset_key == dg.AssetKey("object_requests")
    ]
    assert rows == [1]
    assert evaluate(nightly, workspace) == ["2026-03-11"]


def asked_for(workspace: Workspace) -> list[dg.RunRequest]:
    with dg.build_sensor_context(
        resources={"workspace": workspace},
        repository_def=build_definitions().get_repository_def(),
    ) as context:
        return list(days_to_build.evaluate_tick(context).run_requests or ())


def test_the_sensor_asks_for_days_whose_files_have_landed(tmp_path: Path) -> None:
    from pipelines.run import land_days

    put(tmp_path, "a.log", [line(1)])
    zone(tmp_path)
    workspace = Workspace(tmp_path / "podledger.yaml")
    land_days(workspace, None)
    (asked,) = asked_for(workspace)
    assert asked.partition_key == "2026-03-10"
    assert [request.run_key for request in asked_for(workspace)] == [asked.run_key]
    zone(tmp_path, SETTINGS + "buckets: {example-bucket: us-east-1}\n")
    (again,) = asked_for(Workspace(tmp_path / "podledger.yaml"))
    assert again.partition_key == "2026-03-10"
    assert again.run_key != asked.run_key


def test_forty_clusters_are_forty_lines_of_settings_and_no_new_asset(tmp_path: Path) -> None:
    content = yaml.safe_load((FIXTURES / "podledger.yaml").read_text(encoding="utf-8"))
    content["clusters"] = {f"cluster-{n}": {"cloud": "aws"} for n in range(40)}
    for export in content["exports"]:
        export.pop("clusters", None)
    content.pop("redaction_key_file")
    path = tmp_path / "podledger.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    keys = set(build_definitions(path).resolve_all_asset_keys())
    assert len(keys) == len(tables()) + 1
    assert len(Workspace(path).scopes(tables()["connections"])) == 40


def test_a_ledger_that_does_not_add_up_fails_its_check() -> None:
    from pipelines.assets.landing import _accounted

    files = tables()["export_files"].empty()
    row = dict.fromkeys(files.columns) | {
        "path": "a.log",
        "record_count": 3,
        "accepted_count": 1,
        "duplicate_count": 0,
        "rejected_count": 1,
        "ignored_count": 0,
    }
    wrong = pl.concat([files, pl.DataFrame([row], schema=files.schema)])
    assert not _accounted(wrong).passed
    assert _accounted(files).passed

from pathlib import Path
from typing import Any

import pytest

from tests.transforms.staging.export_text import parse, parse_file, rows, stated
from tests.transforms.staging.kubernetes_objects import document, instant
from tests.transforms.staging.polyaxon_answers import PARENT, RUN, detail, listed, page
from transforms.staging.polyaxon import PARSER


def version(value: dict[str, Any], **context: Any) -> dict[str, Any]:
    found = parse(PARSER, document(value), **context)
    assert found[0].reject is None, found[0].reject
    return rows(found, "run_versions")[0]


def from_list(**changes: Any) -> dict[str, Any]:
    return version(page(listed(**changes)))


def test_a_run_of_a_list_is_read_whole() -> None:
    assert stated(from_list(), "record_id") == {
        "observed_at": instant("07:00:12.375381"),
        "observed_basis": "record",
        "view": "list",
        "run_uuid": RUN,
        "name": "train-resnet",
        "kind": "job",
        "runtime": "job",
        "status": "succeeded",
        "is_managed": True,
        "managed_by": "agent",
        "author": "ada",
        "created_at": instant("06:00:00.807997"),
        "updated_at": instant("07:00:12.375381"),
        "started_at": instant("06:00:05.360854"),
        "finished_at": instant("07:00:12.375323"),
        "namespace": "polyaxon",
        "tags": ["gpu", "nightly"],
        "inputs": [{"name": "ds", "value": "imagenet-v3"}, {"name": "lr", "value": "0.001"}],
    }


def test_a_detail_adds_owner_project_and_what_its_content_says() -> None:
    found = version(detail())
    assert stated(found, "record_id", "declared_accesses") == stated(from_list(), "record_id") | {
        "view": "detail",
        "project": "vision",
        "run_owner": "acme",
        "queue": "a100",
        "agent": "gpu-agent",
        "namespace": "ml",
        "images": ["busybox:1.36", "registry.example.com/ml/train:1.4", "tensorboard:2"],
        "replicas": 1,
        "gpu_count": 2,
        "max_retries": 3,
        "code_url": "https://git.example.com/ml/train.git",
        "code_revision": "9f1c2ab",
    }


def test_optional_fields_of_a_run_are_read() -> None:
    found = from_list(
        uuid="01234567-89AB-cdef-0123-456789abcdef",
        original={"uuid": PARENT, "name": "a", "kind": "restart"},
        pipeline={"uuid": PARENT, "name": "a", "kind": "matrix"},
        settings={
            "namespace": "polyaxon",
            "agent": {"name": "gpu-agent", "version": "2"},
            "queue": {"name": "a100"},
            "artifacts_store": "store",
        },
        user={"username": "grace"},
        outputs={"acc": 0.9, "labels": ["a", "b"]},
        is_managed=False,
        managed_by="user",
        tags=[],
    )
    assert found["run_uuid"] == RUN
    assert (found["original_uuid"], found["cloning_kind"]) == (PARENT, "restart")
    assert (found["pipeline_uuid"], found["pipeline_kind"]) == (PARENT, "matrix")
    assert (found["agent"], found["queue"]) == ("gpu-agent", "a100")
    assert found["artifacts_store"] == "store"
    assert found["author"] == "grace"
    assert found["outputs"] == [
        {"name": "acc", "value": "0.9"}, {"name": "labels", "value": '["a","b"]'},
    ]  # fmt: skip
    assert (found["is_managed"], found["managed_by"]) == (False, "user")
    assert found["tags"] == []


def test_what_the_settings_say_goes_before_the_content() -> None:
    found = version(detail(settings={"queue": "b200", "agent": "other"}))
    assert (found["agent"], found["queue"]) == ("other", "b200")


def test_a_run_that_only_has_a_uuid_and_a_status_says_nothing_more() -> None:
    found = version({"uuid": RUN, "status": "created"})
    assert stated(found, "record_id") == {
        "observed_at": instant("2026-03-11 00:00:00"),
        "observed_basis": "landing_day",
        "view": "list",
        "run_uuid": RUN,
        "status": "created",
    }


def test_the_project_of_the_path_stands_in_where_the_run_names_none() -> None:
    assert version(page(listed()), project="speech")["project"] == "speech"
    assert version(detail(), project="speech")["project"] == "vision"


def test_a_run_that_is_over_keeps_its_own_time_and_is_one_record() -> None:
    early = version(page(listed()), path_at=instant("08:00:00"))
    late = version(page(listed()), path_at=instant("2026-03-12 08:00:00"))
    assert early == late
    assert early["observed_basis"] == "record"


def test_a_run_that_is_not_over_was_still_so_when_it_was_listed() -> None:
    running = listed(status="running", finished_at=None, updated_at="2026-03-10T06:03:00Z")
    early = version(page(running), path_at=instant("06:00:00"))
    late = version(page(running), path_at=instant("2026-03-12 08:00:00"))
    assert (early["observed_at"], early["observed_basis"]) == (instant("06:03:00"), "record")
    assert (late["observed_at"], late["observed_basis"]) == (
        instant("2026-03-12 08:00:00"), "path",
    )  # fmt: skip
    assert early["record_id"] != late["record_id"]


def test_a_resumed_run_is_not_over_although_it_states_an_end() -> None:
    found = version(page(listed(status="compiled")), path_at=instant("23:00:00"))
    assert found["observed_at"] == instant("23:00:00")
    assert found["finished_at"] == instant("07:00:12.375323")


def test_list_and_detail_of_one_version_are_two_records() -> None:
    assert from_list()["record_id"] != version(detail())["record_id"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"created_at": "now"},
         "wrong_time: expected an RFC 3339 time, got other text at $.results[0].created_at"),
        ({"original": {"uuid": "x"}},
         "wrong_uuid: expected a UUID, got other text at $.results[0].original.uuid"),
        ({"pipeline": {"uuid": "x"}},
         "wrong_uuid: expected a UUID, got other text at $.results[0].pipeline.uuid"),
        ({"inputs": [1]}, "wrong_type: expected object | null, got array at $.results[0].inputs"),
        ({"settings": {"queue": 5}},
         "wrong_type: expected str | object | null, got int at $.results[0].settings.queue"),
        ({"is_managed": "yes"},
         "wrong_type: expected bool | null, got str at $.results[0].is_managed"),
        ({"content": "{"},
         "invalid_json: expected JSON, got an end inside a value at $.results[0].content"),
    ],
)  # fmt: skip
def test_a_broken_run_is_refused(changes: dict[str, Any], reason: str) -> None:
    found = parse(PARSER, document(page(listed(**changes))))
    assert [record.reject for record in found] == [reason]


@pytest.mark.samples
def test_real_runs_are_read_as_they_stand_in_the_files(samples: Path) -> None:
    folder = samples / "polyaxon"
    found = rows(parse_file(PARSER, folder / "api_run_job_detail.json"), "run_versions")[0]
    assert found["run_uuid"] == "10eb7cda2cfd453587cc11ffd71ea28c"
    assert (found["project"], found["run_owner"]) == ("vision", "default")
    assert (found["agent"], found["queue"]) == ("gpu-agent", "a100")
    assert found["namespace"] == "ml-workloads"
    assert (found["gpu_count"], found["replicas"], found["max_retries"]) == (2, 1, 3)
    assert found["code_url"] == "https://git.example.internal/ml/train.git"
    assert found["code_revision"] == "9f1c2ab"
    assert found["updated_at"] == instant("2026-11-30 15:32:26.375381")
    child = rows(parse_file(PARSER, folder / "api_run_matrix_child_detail.json"), "run_versions")[0]
    assert child["pipeline_uuid"] == "2b67b7fa39f84e7c8ceeb44f8582b3fa"
    assert child["images"] == ["busybox:1.36"]
    parent = rows(parse_file(PARSER, folder / "api_run_matrix_parent_detail.json"), "run_versions")
    assert (parent[0]["kind"], parent[0]["images"]) == ("matrix", None)


@pytest.mark.samples
def test_the_command_line_says_the_same_as_the_api(samples: Path) -> None:
    folder = samples / "polyaxon"
    answers = ("api_run_job_detail.json", "cli_ops_get_o_json.json")
    api, cli = (rows(parse_file(PARSER, folder / a), "run_versions")[0] for a in answers)
    assert stated(api, "record_id") == stated(cli, "record_id")

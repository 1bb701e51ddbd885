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


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("2026-03-10T06:00:00Z", "06:00:00"),
        ("2026-03-10T06:00:00.807Z", "06:00:00.807000"),
        ("2026-03-10T06:00:00.807997Z", "06:00:00.807997"),
        ("2026-03-10T06:00:00.807997999Z", "06:00:00.807997"),
        ("2026-03-10T06:00:00.807997+00:00", "06:00:00.807997"),
        ("2026-03-10T11:30:00+05:30", "06:00:00"),
        ("2026-03-09T22:00:00-0800", "06:00:00"),
        ("2026-03-10 06:00:00", "06:00:00"),
        ("2026-03-10T06:00:60Z", "06:00:59.999999"),
        ("1970-01-01T00:00:00Z", "1970-01-01 00:00:00"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999"),
    ],
)
def test_times_of_a_run_have_any_digits_and_zones(text: str, clock: str) -> None:
    assert from_list(created_at=text)["created_at"] == instant(clock)


def test_the_year_one_is_no_time() -> None:
    assert from_list(started_at="0001-01-01T00:00:00Z")["started_at"] is None


def test_an_end_before_the_start_stays_as_it_is_stated() -> None:
    found = from_list(started_at="2026-03-10T08:00:00Z", duration=-3588.0, wait_time=-1)
    assert (found["started_at"], found["finished_at"]) == (
        instant("08:00:00"), instant("07:00:12.375323"),
    )  # fmt: skip


@pytest.mark.parametrize("status", ["retrying", "hibernating", "SUCCEEDED", "unknown"])
def test_a_status_that_no_version_knows_stays_a_word(status: str) -> None:
    found = version(page(listed(status=status)), path_at=instant("23:00:00"))
    assert (found["status"], found["observed_at"]) == (status, instant("23:00:00"))


@pytest.mark.parametrize(
    ("kind", "runtime"),
    [
        ("job", "pytorchjob"), ("job", "tuner"), ("service", "raycluster"), ("matrix", "hyperband"),
        ("schedule", "cron"), ("dag", "dag"), ("paddlejob", None), ("future", "other"),
    ],
)  # fmt: skip
def test_kinds_of_any_version_are_kept(kind: str, runtime: str | None) -> None:
    found = from_list(kind=kind, runtime=runtime)
    assert (found["kind"], found["runtime"]) == (kind, runtime)


def test_another_run_may_be_named_by_its_uuid_alone() -> None:
    dashed = "00000000-aaaa-4bbb-8ccc-dddddddddddd"
    found = from_list(original=dashed, pipeline=dashed)
    assert (found["original_uuid"], found["pipeline_uuid"]) == (PARENT, PARENT)
    assert (found["cloning_kind"], found["pipeline_kind"]) == (None, None)


OF_JOB = {
    "run_uuid": "10eb7cda2cfd453587cc11ffd71ea28c",
    "name": "train-resnet",
    "kind": "job",
    "runtime": "job",
    "is_managed": True,
    "managed_by": "agent",
    "created_at": instant("2026-11-30 15:32:25.807997"),
    "started_at": instant("2026-11-30 15:32:26.360854"),
    "finished_at": instant("2026-11-30 15:32:26.375323"),
    "tags": ["gpu", "nightly"],
    "inputs": [
        {"name": "ds", "value": "imagenet-2012-v3"},
        {"name": "image", "value": "europe-docker.pkg.dev/acme/ml/train:1.4.2"},
        {"name": "lr", "value": "0.001"},
    ],
}
"""What list, detail and command line say alike of the job of the samples."""


@pytest.mark.samples
def test_every_column_of_a_real_detail_and_of_its_resumed_run(samples: Path) -> None:
    folder = samples / "polyaxon"
    of_content = {
        "view": "detail",
        "project": "vision",
        "run_owner": "default",
        "queue": "a100",
        "agent": "gpu-agent",
        "namespace": "ml-workloads",
        "images": [
            "busybox:1.36", "europe-docker.pkg.dev/acme/ml/train:1.4.2", "tensorboard:2",
        ],
        "replicas": 1,
        "gpu_count": 2,
        "max_retries": 3,
        "code_url": "https://git.example.internal/ml/train.git",
        "code_revision": "9f1c2ab",
    }  # fmt: skip
    found = rows(parse_file(PARSER, folder / "api_run_job_detail.json"), "run_versions")[0]
    assert stated(found, "record_id", "declared_accesses") == OF_JOB | of_content | {
        "observed_at": instant("2026-11-30 15:32:26.375381"),
        "observed_basis": "record",
        "status": "succeeded",
        "updated_at": instant("2026-11-30 15:32:26.375381"),
    }
    assert [
        (a["component"], a["container_role"], a["resource_id"], a["operation"], a["credential"])
        for a in found["declared_accesses"]
    ] == [
        ("polyaxon-init-artifacts-datasets-s3", "init", "connection://datasets-s3", "connect",
         None),
        ("polyaxon-init-git-train-repo", "init",
         "git+https://git.example.internal/ml/train.git@9f1c2ab", "clone", None),
        ("polyaxon-main", "main", "connection://datasets-s3", "connect", None),
        ("polyaxon-main", "main", "connection://hf-token", "connect", None),
        ("polyaxon-main", "main", "oci://europe-docker.pkg.dev/acme/ml/train:1.4.2", "pull",
         "regcred"),
        ("tb", "sidecar", "oci://docker.io/library/tensorboard:2", "pull", "regcred"),
        ("warm-cache", "init", "oci://docker.io/library/busybox:1.36", "pull", "regcred"),
    ]  # fmt: skip
    # Resumed, it keeps the uuid and the times of what ran before.
    resumed = rows(parse_file(PARSER, folder / "api_run_resumed_detail.json"), "run_versions")[0]
    assert stated(resumed, "record_id", "declared_accesses") == OF_JOB | of_content | {
        "observed_at": instant("2026-11-30 15:32:26.472243"),
        "observed_basis": "record",
        "status": "compiled",
        "updated_at": instant("2026-11-30 15:32:26.472243"),
    }


@pytest.mark.samples
@pytest.mark.parametrize("name", ["api_runs_list.json", "cli_ops_ls_o_json.json"])
def test_every_column_of_real_lists(samples: Path, name: str) -> None:
    found = {
        row["run_uuid"]: stated(row, "record_id")
        for row in rows(parse_file(PARSER, samples / "polyaxon" / name), "run_versions")
    }
    listing = {"observed_basis": "record", "view": "list", "namespace": "polyaxon"}
    of_agent = {"status": "compiled", "is_managed": True, "managed_by": "agent"}
    of_sweep = {"name": "sweep", "pipeline_uuid": "2b67b7fa39f84e7c8ceeb44f8582b3fa",
                "pipeline_kind": "matrix", "kind": "job", "runtime": "job"}  # fmt: skip
    assert found.pop("10eb7cda2cfd453587cc11ffd71ea28c") == listing | of_agent | OF_JOB | {
        "observed_at": instant("2026-11-30 15:32:26.472243"),
        "updated_at": instant("2026-11-30 15:32:26.472243"),
    }
    assert found.pop("28bdd5119cb6459d918521592842b6b8") == listing | of_agent | {
        "run_uuid": "28bdd5119cb6459d918521592842b6b8",
        "name": "train-resnet",
        "kind": "job",
        "runtime": "job",
        "observed_at": instant("2026-11-30 15:32:26.442157"),
        "created_at": instant("2026-11-30 15:32:26.423441"),
        "updated_at": instant("2026-11-30 15:32:26.442157"),
        "original_uuid": "10eb7cda2cfd453587cc11ffd71ea28c",
        "cloning_kind": "restart",
        "tags": ["gpu", "nightly"],
        "inputs": OF_JOB["inputs"],
    }
    assert found.pop("2364cb8611cd40ebaeee26bd25c9f0bb") == listing | of_agent | {
        "run_uuid": "2364cb8611cd40ebaeee26bd25c9f0bb",
        "name": "ddp-llm",
        "kind": "job",
        "runtime": "pytorchjob",
        "observed_at": instant("2026-11-30 15:32:26.489881"),
        "created_at": instant("2026-11-30 15:32:26.482877"),
        "updated_at": instant("2026-11-30 15:32:26.489881"),
    }
    assert found.pop("2b67b7fa39f84e7c8ceeb44f8582b3fa") == listing | of_agent | {
        "run_uuid": "2b67b7fa39f84e7c8ceeb44f8582b3fa",
        "name": "sweep",
        "kind": "matrix",
        "runtime": "grid",
        "observed_at": instant("2026-11-30 15:32:26.519237"),
        "created_at": instant("2026-11-30 15:32:26.508439"),
        "updated_at": instant("2026-11-30 15:32:26.519237"),
        "inputs": [{"name": "lr", "value": None}],
    }
    assert found.pop("ae2f536566504200b8eaa500b2cb4265") == listing | of_agent | of_sweep | {
        "run_uuid": "ae2f536566504200b8eaa500b2cb4265",
        "observed_at": instant("2026-11-30 15:32:26.529311"),
        "created_at": instant("2026-11-30 15:32:26.516055"),
        "updated_at": instant("2026-11-30 15:32:26.529311"),
        "inputs": [{"name": "lr", "value": "0.1"}],
    }
    assert found.pop("2b90d7f6891d4fcdb28b25e4e5094e3c") == listing | of_agent | of_sweep | {
        "run_uuid": "2b90d7f6891d4fcdb28b25e4e5094e3c",
        "status": "created",
        "observed_at": instant("2026-11-30 15:32:26.516159"),
        "created_at": instant("2026-11-30 15:32:26.516153"),
        "updated_at": instant("2026-11-30 15:32:26.516159"),
        "inputs": [{"name": "lr", "value": "0.01"}],
    }
    assert not found


@pytest.mark.samples
def test_every_column_of_a_real_offline_run(samples: Path) -> None:
    found = parse_file(PARSER, samples / "polyaxon" / "offline_run" / "run.plx.json")
    uuid = "b8f96af8181741ed946093c1935411c1"
    assert stated(rows(found, "run_versions")[0], "record_id") == {
        "observed_at": instant("2026-11-30 15:25:30.261264"),
        "observed_basis": "record",
        "view": "archive",
        "run_uuid": uuid,
        "name": "offline-train",
        "kind": "job",
        "runtime": "job",
        "status": "succeeded",
        "is_managed": False,
        "managed_by": "user",
        "project": "vision",
        "run_owner": "default",
        "created_at": instant("2026-11-30 15:25:30.259781"),
        "started_at": instant("2026-11-30 15:25:30.259912"),
        "finished_at": instant("2026-11-30 15:25:30.261264"),
        "inputs": [{"name": "lr", "value": "0.1"}],
        "outputs": [{"name": "acc", "value": "0.9"}, {"name": "loss", "value": "0.5"}],
    }
    assert [stated(row, "record_id") for row in rows(found, "run_statuses")] == [
        {
            "event_at": at, "run_uuid": uuid, "status": status, "reason": reason,
            "message": message, "transition_at": at, "ordinal": ordinal,
        }
        for ordinal, (at, status, reason, message) in enumerate(
            [
                (instant("2026-11-30 15:25:30.259781"), "created", "OfflineOperation",
                 "Operation is starting"),
                (instant("2026-11-30 15:25:30.259892"), "running", "PolyaxonClient",
                 "Operation is running"),
                (instant("2026-11-30 15:25:30.261237"), "succeeded", "PolyaxonClient",
                 "Operation has succeeded"),
            ]
        )
    ]  # fmt: skip


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

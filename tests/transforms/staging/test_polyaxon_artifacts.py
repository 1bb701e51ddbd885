"""Artifacts of runs: lineage, answers with events, event files."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.landing.readers import raw_records
from tests.transforms.staging.export_text import (
    check_each,
    check_rows,
    parse,
    rows,
    stated,
    word,
    words,
    written,
)
from tests.transforms.staging.kubernetes_objects import document, instant, mutations
from tests.transforms.staging.polyaxon_answers import RUN, artifact, events, logged, page
from transforms.staging.parser import Parsed, RawRecord
from transforms.staging.polyaxon import PARSER

OTHER = "11111111111141118111111111111111"
SECRET = "planted-hunter2-EXAMPLE"
LOSS = f"store/{RUN}/events/metric/loss.plx"
STAGE = f"store/{RUN}/events/text/stage.plx"


def of_lineage(**changes: Any) -> dict[str, Any]:
    found = parse(PARSER, document(page(artifact(**changes))))
    assert found[0].reject is None, found[0].reject
    check_rows(found)
    return rows(found, "run_artifacts")[0]


def test_an_artifact_of_a_lineage_is_read_whole() -> None:
    assert stated(of_lineage(connection="data"), "record_id") == {
        "observed_at": instant("2026-03-11 00:00:00"),
        "observed_basis": "landing_day",
        "stated_in": "lineage",
        "run_uuid": RUN,
        "name": "train-set",
        "kind": "data",
        "is_input": True,
        "path": "sets/v3",
        "resource_kind": "bucket",
        "resource_id": "s3://example-data/sets/v3",
        "content_hash": "sha256:ab12",
        "state": "11111111222233334444555555555555",
        "connection": "data",
    }


def test_code_is_a_repository_at_its_commit() -> None:
    summary = {"commit": "9f1c2ab4", "branch": "main", "is_dirty": True,
               "url": f"https://u:{SECRET}@git.example.com/ml/train.git"}  # fmt: skip
    found = of_lineage(kind="coderef", name="9f1c2ab4", path=None, summary=summary)
    assert stated(found, "record_id", "observed_at", "observed_basis", "state") == {
        "stated_in": "lineage",
        "run_uuid": RUN,
        "name": "9f1c2ab4",
        "kind": "coderef",
        "is_input": True,
        "resource_kind": "git",
        "resource_id": "git+https://git.example.com/ml/train.git@9f1c2ab4",
        "version": "9f1c2ab4",
        "is_dirty": True,
    }
    assert of_lineage(summary={"is_dirty": True})["is_dirty"] is None


def test_an_image_is_its_reference() -> None:
    found = of_lineage(kind="docker_image", path=None, summary={"image": "example.com/ml/t:1.4"})
    assert (found["resource_kind"], found["resource_id"], found["version"]) == (
        "image", "oci://example.com/ml/t:1.4", "1.4",
    )  # fmt: skip


def test_an_output_in_the_store_is_a_path_and_no_resource() -> None:
    found = of_lineage(is_input=False, kind="model", path="outputs/m.pt", summary={"hash": 5})
    assert (found["is_input"], found["path"], found["resource_id"]) == (False, "outputs/m.pt", None)
    assert found["content_hash"] is None


def test_a_path_that_is_a_url_is_the_resource_before_what_the_summary_says() -> None:
    found = of_lineage(path="gs://example-models/best.pt", summary=None)
    assert (found["resource_kind"], found["resource_id"]) == (
        "bucket", "gs://example-models/best.pt",
    )  # fmt: skip


def test_logged_events_say_how_many_there_are_and_when() -> None:
    summary = {
        "is_event": True,
        "step": {"count": 2, "min": 1, "max": 2},
        "timestamp": {
            "min": "2026-03-10T06:10:00.260213+00:00",
            "max": "2026-03-10T08:11:00+02:00",
        },
        "metric": {"last": 0.5},
    }
    found = of_lineage(kind="metric", name="loss", is_input=False, summary=summary)
    assert (found["event_count"], found["first_event_at"], found["last_event_at"]) == (
        2, instant("06:10:00.260213"), instant("06:11:00"),
    )  # fmt: skip
    assert found["observed_basis"] == "landing_day"
    # What a user calls so in a summary is no time of an event.
    assert of_lineage(summary={"timestamp": "noon"})["first_event_at"] is None


def test_the_run_is_that_of_the_artifact_else_of_its_meta_info_else_of_the_folder() -> None:
    assert of_lineage(run="01234567-89AB-cdef-0123-456789abcdef")["run_uuid"] == RUN
    assert of_lineage(run={"uuid": OTHER})["run_uuid"] == OTHER
    assert of_lineage(run=None, meta_info={"run": {"uuid": OTHER}})["run_uuid"] == OTHER
    bare = document(page(artifact(run=None, meta_info=None)))
    for path in (f"runs/{OTHER}/lineages.plx.json", f"v1/acme/vision/runs/{OTHER}/lineage/a.json"):
        assert rows(parse(PARSER, bare, path=path), "run_artifacts")[0]["run_uuid"] == OTHER
    assert [record.reject for record in parse(PARSER, bare)] == [
        "no_uuid: expected $.results[0].run, got none"
    ]


def test_a_list_of_a_folder_and_a_single_artifact_are_read() -> None:
    found = parse(PARSER, json.dumps([artifact(), artifact(name="b")]))
    assert [r["name"] for r in rows(found, "run_artifacts")] == ["train-set", "b"]
    found = parse(PARSER, document(artifact()))
    assert [(record.locator, word(record)) for record in found] == [("$", "accepted")]


def test_edges_between_runs_and_clones_are_ignored_as_their_runs_state_them() -> None:
    edge = {"values": None, "kind": "build", "statuses": None, "upstream": {"uuid": OTHER}}
    clone = {"uuid": OTHER, "name": "a", "kind": "job", "status": "succeeded", "runtime": "job",
             "cloning_kind": "restart"}  # fmt: skip
    assert words(parse(PARSER, document(page(edge, clone)))) == {"lineage": 2}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"run": "short"}, "wrong_uuid: expected a UUID, got other text at $.results[0].run"),
        ({"is_input": "yes"},
         "wrong_type: expected bool | null, got str at $.results[0].is_input"),
        ({"summary": []}, "wrong_type: expected object | null, got array at $.results[0].summary"),
        ({"summary": {"is_event": True, "timestamp": {"min": 5}}},
         "wrong_type: expected str | null, got int at $.results[0].summary.timestamp.min"),
        ({"summary": {"is_event": True, "step": {"count": -1}}},
         "wrong_type: expected int >= 0, got another value at $.results[0].summary.step.count"),
    ],
)  # fmt: skip
def test_a_broken_artifact_is_refused_and_leaves_the_others(changes: Any, reason: str) -> None:
    found = parse(PARSER, document(page(artifact(**changes), artifact())))
    assert word(found[1]) == "accepted"
    assert found[0].reject == reason


def test_an_artifact_observed_again_later_is_another_record() -> None:
    bare = document(page(artifact()))
    ids = {
        rows(parse(PARSER, bare, path_at=at), "run_artifacts")[0]["record_id"]
        for at in (instant("06:00:00"), instant("06:00:00"), instant("07:00:00"))
    }
    assert len(ids) == 2


# -- events --------------------------------------------------------------------------------------


def test_events_of_an_answer_are_counted_and_dated() -> None:
    found = parse(PARSER, document(events(logged())), path=f"runs/{RUN}/events/metric.json")
    assert [record.locator for record in found] == ["$.data[0]"]
    assert stated(rows(found, "run_artifacts")[0], "record_id") == {
        "observed_at": instant("06:12:00.500000"),
        "observed_basis": "record",
        "stated_in": "events",
        "run_uuid": RUN,
        "name": "loss",
        "kind": "metric",
        "event_count": 3,
        "first_event_at": instant("06:09:00"),
        "last_event_at": instant("06:12:00.500000"),
    }
    check_rows(found)


def test_events_of_several_runs_are_told_by_their_keys() -> None:
    dashed = "11111111-1111-4111-8111-111111111111"
    answer = {"data": {RUN: [logged()], dashed: [logged()], "x": [logged()], OTHER: 5}}
    found = parse(PARSER, document(answer))
    assert [record.locator for record in found] == [
        f"$.data.{RUN}[0]", "$.data[1][0]", "$.data[2][0]", f"$.data.{OTHER}",
    ]  # fmt: skip
    assert [r["run_uuid"] for r in rows(found, "run_artifacts")] == [RUN, OTHER]
    assert [word(record) for record in found[2:]] == ["wrong_uuid", "wrong_type"]


@pytest.mark.parametrize(
    ("data", "count", "first"),
    [
        ("step|timestamp|metric\n1|2026-03-10 06:10:00+00:00|0.9\n2||0.5\nx", 2, "06:10:00"),
        ('\n{"timestamp": "2026-03-10 06:10:00+00:00", "step": 1, "text": "a|b"}\n{', 1,
         "06:10:00"),
        ({"step": [1, 2], "timestamp": [None, "NaT"], "metric": [1, 2]}, 2, None),
        ({"step": [], "metric": 5}, 0, None),
        ({}, 0, None),
        (None, 0, None),
        ("", 0, None),
    ],
)  # fmt: skip
def test_events_may_be_text_or_miss_their_times(data: Any, count: int, first: str | None) -> None:
    found = parse(PARSER, document(events(logged(data=data))), path=f"{RUN}/events/m.json")
    row = rows(found, "run_artifacts")[0]
    assert row["event_count"] == count
    assert row["first_event_at"] == (instant(first) if first else None)
    assert row["observed_basis"] == ("record" if first else "landing_day")


def test_events_without_a_run_are_refused() -> None:
    assert [record.reject for record in parse(PARSER, document(events(logged())))] == [
        "no_uuid: expected the run in the answer or in the path, got none"
    ]


def test_a_file_of_metrics_gives_a_row_per_event() -> None:
    text = (
        "step|timestamp|metric\n"
        "1|2026-03-10 06:10:00.260213+00:00|0.9\n"
        "2|2026-03-10 06:10:01+00:00|nan\n"
        "|None|0.4\n"
    )
    found = parse(PARSER, text, path=LOSS)
    assert [word(record) for record in found] == ["header", "accepted", "accepted", "accepted"]
    seen = rows(found, "run_artifacts")
    assert stated(seen[0], "record_id") == {
        "observed_at": instant("06:10:00.260213"),
        "observed_basis": "record",
        "stated_in": "event_file",
        "run_uuid": RUN,
        "name": "loss",
        "kind": "metric",
        "event_count": 1,
        "first_event_at": instant("06:10:00.260213"),
        "last_event_at": instant("06:10:00.260213"),
    }
    assert (seen[2]["first_event_at"], seen[2]["observed_basis"]) == (None, "landing_day")
    assert len({row["record_id"] for row in seen}) == 3
    check_rows(found)


def test_a_file_of_texts_gives_a_row_per_event_and_keeps_no_text() -> None:
    line = {"timestamp": "2026-03-10 06:10:00+00:00", "step": 1, "text": SECRET}
    found = parse(PARSER, f"\n{json.dumps(line)}\n", path=STAGE)
    row = rows(found, "run_artifacts")[0]
    assert (row["name"], row["kind"]) == ("stage", "text")
    assert SECRET not in written(found)
    # Out of the store's layout, the event itself says its kind.
    found = parse(PARSER, json.dumps(line), path=f"{RUN}/stage.plx")
    row = rows(found, "run_artifacts")[0]
    assert (row["name"], row["kind"]) == (None, "text")


def test_an_event_file_of_an_unknown_run_is_refused() -> None:
    found = parse(PARSER, "1|2026-03-10 06:10:00+00:00|0.9", path="events/metric/loss.plx")
    assert [record.reject for record in found] == [
        "no_uuid: expected the run's folder in the path, got none"
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("train/loss", "train/loss"),
        ("a'; DROP TABLE runs--", "a'; DROP TABLE runs--"),
        ("a\nb", "a\nb"),
        ("..", ".."),
        (f"password={SECRET}", "password=***"),
        ("x" * 5_000, "x" * 4_095 + "…"),
    ],
)
def test_names_of_folders_and_files_are_only_text(name: str, shown: str) -> None:
    path = f"store/{RUN}/events/metric/{name}.plx"
    found = parse(PARSER, "1|2026-03-10 06:10:00+00:00|0.9", path=path)
    assert rows(found, "run_artifacts")[0]["name"] == shown
    check_rows(found)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1|noon|0.9", "wrong_time: expected an RFC 3339 time, got other text at $.timestamp"),
        ("html | more", "wrong_event: expected step|timestamp|value, got other text at $"),
        ('{"timestamp": 5, "step": 1, "text": "a"}',
         "wrong_type: expected str | null, got int at $.timestamp"),
    ],
)  # fmt: skip
def test_a_broken_event_is_refused(line: str, reason: str) -> None:
    assert [record.reject for record in parse(PARSER, line, path=LOSS)] == [reason]


def test_logs_of_a_run_are_not_kept() -> None:
    line = {"timestamp": "2026-03-10T06:10:00Z", "node": "n", "pod": "p", "container": "c",
            "value": SECRET}  # fmt: skip
    found = parse(PARSER, json.dumps(line), path=f"{RUN}/plxlogs/p.jsonl")
    found += parse(PARSER, document({"logs": [line], "last_time": None, "last_file": "a"}))
    assert [record.ignore for record in found] == ["log", "log"]
    assert SECRET.encode() not in found[0].raw + found[1].raw


# -- times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("2026-03-10T06:10:00Z", "06:10:00"),
        ("2026-03-10T06:10:00.5Z", "06:10:00.500000"),
        ("2026-03-10T06:10:00.123Z", "06:10:00.123000"),
        ("2026-03-10T06:10:00.123456Z", "06:10:00.123456"),
        ("2026-03-10T06:10:00.123456789Z", "06:10:00.123456"),
        ("2026-03-10 06:10:00", "06:10:00"),
        ("2026-03-10T08:10:00+02:00", "06:10:00"),
        ("2026-03-10T00:40:00-0530", "06:10:00"),
        ("2026-03-10T06:10:60Z", "06:10:59.999999"),
        ("1970-01-01T00:00:00Z", "1970-01-01 00:00:00"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999"),
    ],
)
def test_times_of_events_have_any_digits_and_zones(text: str, micros: str) -> None:
    found = parse(PARSER, f"1|{text}|0.9", path=LOSS)
    assert rows(found, "run_artifacts")[0]["first_event_at"] == instant(micros)
    check_rows(found)


def test_events_out_of_order_span_from_the_first_to_the_last() -> None:
    summary = {"is_event": True, "timestamp": {"min": "2026-03-10T07:00:00Z",
                                               "max": "2026-03-10T06:00:00Z"}}  # fmt: skip
    row = of_lineage(summary=summary)
    assert (row["first_event_at"], row["last_event_at"]) == (
        instant("06:00:00"), instant("07:00:00"),
    )  # fmt: skip


# -- what must not come out ----------------------------------------------------------------------


def test_no_secret_of_an_artifact_is_stored() -> None:
    signed = f"https://u:{SECRET}@example.com/a?X-Amz-Signature={SECRET}&sig={SECRET}#t={SECRET}"
    found = parse(
        PARSER,
        document(
            page(
                artifact(path=signed, summary={"path": signed, "token": SECRET, "url": signed}),
                artifact(path=f"u:{SECRET}@host/a?token={SECRET}", meta_info={"a": SECRET,
                                                                             "run": {"uuid": RUN}}),
                artifact(kind="coderef", summary={"url": f"https://{SECRET}@h.example.com/a.git",
                                                  "commit": "abc", "message": SECRET}),
                artifact(kind="docker_image", summary={"image": f"u:{SECRET}@example.com/a:1"}),
                artifact(name=f"password={SECRET}", connection={"name": "a", "token": SECRET},
                         content=SECRET),
            )
        ),
    )  # fmt: skip
    assert words(found) == {"accepted": 5}
    assert SECRET not in written(found)
    assert rows(found, "run_artifacts")[0]["path"] == "https://example.com/a"
    found = parse(PARSER, document(events(logged(data={"text": [SECRET]}))), path=f"{RUN}/e.json")
    found += parse(PARSER, f"1|2026-03-10 06:10:00|{SECRET}\n{SECRET}|", path=LOSS)
    assert SECRET not in written(found)
    assert SECRET.encode() not in b"".join(record.raw for record in found)


# -- laws ----------------------------------------------------------------------------------------


def test_a_part_of_another_type_is_a_reject_or_another_value_and_never_an_error() -> None:
    found: list[Parsed] = []
    for changed in mutations(artifact()):
        records = parse(PARSER, document(page(artifact(), changed, artifact())))
        assert [word(records[0]), word(records[2])] == ["accepted", "accepted"]
        found.append(records[1])
    for changed in mutations(events(logged())):
        found += parse(PARSER, document(changed), path=f"{RUN}/events/metric.json")
    for changed in mutations({"data": {RUN: [logged()]}}):
        found += parse(PARSER, document(changed))
        PARSER.recognise(json.dumps(changed).encode())
    for changed in mutations({"timestamp": "2026-03-10 06:10:00", "step": 1, "text": "a"}):
        found += parse(PARSER, json.dumps(changed), path=STAGE)
    check_each(found)
    check_rows(found)


# -- real files ----------------------------------------------------------------------------------

OFFLINE_RUN = "b8f96af8181741ed946093c1935411c1"


def of_file(path: Path, name: str) -> list[Parsed]:
    records = (r for r in raw_records(path, "json") if isinstance(r, RawRecord))
    return parse(PARSER, records, path=name)


@pytest.mark.samples
def test_a_real_lineage_has_the_values_in_it(samples: Path) -> None:
    found = of_file(samples / "polyaxon" / "api_run_job_lineage_artifacts.json", "lineage.json")
    of_run = {
        "observed_at": instant("2026-03-11 00:00:00"),
        "observed_basis": "landing_day",
        "stated_in": "lineage",
        "run_uuid": "10eb7cda2cfd453587cc11ffd71ea28c",
    }
    assert [stated(row, "record_id") for row in rows(found, "run_artifacts")] == [
        of_run | {
            "name": "image", "kind": "docker_image", "is_input": True, "resource_kind": "image",
            "resource_id": "oci://europe-docker.pkg.dev/acme/ml/train:1.4.2", "version": "1.4.2",
            "state": "29f4227b2c565c2fb2ba85de863d64d1",
        },
        of_run | {
            "name": "9f1c2ab4d0e1", "kind": "coderef", "is_input": True, "resource_kind": "git",
            "resource_id": "git+https://git.example.internal/ml/train.git@9f1c2ab4d0e1",
            "version": "9f1c2ab4d0e1", "is_dirty": False,
            "state": "8d4ca2198b085488977b72fe38bc724c",
        },
        of_run | {
            "name": "imagenet", "kind": "data", "is_input": True, "path": "imagenet/v3",
            "resource_kind": "bucket", "resource_id": "s3://acme-datasets/imagenet/v3",
            "content_hash": "sha256:ab12", "state": "4698d40598c250ec9061e0314864ffda",
        },
        of_run | {
            "name": "best-model", "kind": "model", "is_input": False, "path": "outputs/model.pt",
            "content_hash": "1f0c", "state": "10eb7cda2cfd453587cc11ffd71ea28c",
        },
    ]  # fmt: skip


@pytest.mark.samples
def test_a_real_offline_folder_has_the_values_in_it(samples: Path) -> None:
    folder = samples / "polyaxon" / "offline_run"
    lineage = of_file(folder / "lineages.plx.json", f"runs/{OFFLINE_RUN}/lineages.plx.json")
    seen = {row["name"]: row for row in rows(lineage, "run_artifacts")}
    assert {row["run_uuid"] for row in seen.values()} == {OFFLINE_RUN}
    assert [seen[name]["path"] for name in ("env", "imagenet", "abc123", "m")] == [
        "outputs/env.json", "s3://acme-datasets/imagenet/v3", None, "/code/outputs/model.pt",
    ]  # fmt: skip
    assert (seen["imagenet"]["resource_id"], seen["m"]["resource_id"]) == (
        "s3://acme-datasets/imagenet/v3", None,
    )  # fmt: skip
    assert (seen["loss"]["event_count"], seen["stage"]["event_count"]) == (2, 1)
    assert seen["loss"]["first_event_at"] == instant("2026-11-30 15:25:30.260213")
    assert seen["loss"]["last_event_at"] == instant("2026-11-30 15:25:30.260459")
    metric = of_file(folder / "events_metric_loss.plx", f"{OFFLINE_RUN}/events/metric/loss.plx")
    assert words(metric) == {"header": 1, "accepted": 2}
    assert [row["first_event_at"] for row in rows(metric, "run_artifacts")] == [
        instant("2026-11-30 15:25:30.260213"), instant("2026-11-30 15:25:30.260459"),
    ]  # fmt: skip
    text = of_file(folder / "events_text_stage.plx", f"{OFFLINE_RUN}/events/text/stage.plx")
    assert [stated(row, "record_id", "observed_at") for row in rows(text, "run_artifacts")] == [
        {
            "observed_basis": "record", "stated_in": "event_file", "run_uuid": OFFLINE_RUN,
            "name": "stage", "kind": "text", "event_count": 1,
            "first_event_at": instant("2026-11-30 15:25:30.260500"),
            "last_event_at": instant("2026-11-30 15:25:30.260500"),
        }
    ]  # fmt: skip
    logs = of_file(folder / "plxlogs_logs.jsonl", f"{OFFLINE_RUN}/plxlogs/pod.jsonl")
    assert words(logs) == {"log": 1}

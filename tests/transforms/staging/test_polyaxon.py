import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.landing.readers import head
from tests.transforms.staging.export_text import (
    check_each,
    check_rows,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from tests.transforms.staging.kubernetes_objects import document, instant, mutations
from tests.transforms.staging.polyaxon_answers import (
    CONTENT,
    RUN,
    artifact,
    detail,
    events,
    listed,
    logged,
    page,
    resource,
    status,
    statuses,
)
from transforms.redaction import redact
from transforms.staging.parser import Parsed, RawRecord
from transforms.staging.polyaxon import PARSER


def test_a_list_gives_one_record_per_run_with_its_json_path() -> None:
    other = listed(uuid="11111111111141118111111111111111")
    found = parse(PARSER, document(page(listed(), other)))
    assert [record.locator for record in found] == ["$.results[0]", "$.results[1]"]
    assert [r["view"] for r in rows(found, "run_versions")] == ["list", "list"]
    check_rows(found)


def test_a_list_without_runs_holds_no_record() -> None:
    assert parse(PARSER, document(page())) == []


@pytest.mark.parametrize(
    "value", [statuses(), statuses(status_conditions=None), {"data": {}}, {"data": {RUN: []}},
              {"data": []}, {"pods": {}, "services": {}}],
)  # fmt: skip
def test_an_answer_about_nothing_is_a_record_by_itself(value: Any) -> None:
    assert [record.ignore for record in parse(PARSER, json.dumps(value))] == ["empty"]


def test_a_list_on_a_line_and_an_array_of_runs_are_read() -> None:
    found = parse(PARSER, json.dumps(page(listed())))
    assert found[0].locator == "line 1 $.results[0]"
    found = parse(PARSER, json.dumps([listed()]))
    assert found[0].locator == "line 1 $[0]"
    assert words(found) == {"accepted": 1}


def test_a_detail_is_one_record() -> None:
    found = parse(PARSER, document(detail()))
    assert [(record.locator, record.offset) for record in found] == [("$", 0)]
    assert rows(found, "run_versions")[0]["view"] == "detail"


def test_lines_of_runs_tell_by_their_keys_what_they_are() -> None:
    found = parse(PARSER, f"{json.dumps(listed())}\n{json.dumps(detail())}")
    assert [r["view"] for r in rows(found, "run_versions")] == ["list", "detail"]


def test_statuses_give_one_record_per_condition() -> None:
    answer = statuses(
        status("starting", "2026-03-10T06:00:05.804Z", "2026-03-10T06:00:05.804Z"),
        status("running", "2026-03-10T06:03:35.804Z", "2026-03-10T06:00:05.804Z", status=True),
    )
    found = parse(PARSER, document(answer))
    assert [record.locator for record in found] == [
        "$.status_conditions[0]", "$.status_conditions[1]",
    ]  # fmt: skip
    assert rows(found, "run_versions") == []
    assert [stated(r, "record_id") for r in rows(found, "run_statuses")] == [
        {
            "event_at": instant("06:00:05.804000"),
            "run_uuid": RUN,
            "status": "starting",
            "reason": "OperatorController",
            "message": "Operation is starting",
            "transition_at": instant("06:00:05.804000"),
            "ordinal": 0,
        },
        {
            # The operator repeats the first transition time; the update is the time.
            "event_at": instant("06:03:35.804000"),
            "run_uuid": RUN,
            "status": "running",
            "reason": "OperatorController",
            "message": "Operation is running",
            "transition_at": instant("06:00:05.804000"),
            "ordinal": 1,
        },
    ]
    check_rows(found)


def test_a_condition_without_an_update_has_no_time() -> None:
    answer = statuses(status("running", None, "2026-03-10T06:00:05.804Z", reason=None))
    found = rows(parse(PARSER, document(answer)), "run_statuses")[0]
    assert found["event_at"] is None
    assert found["transition_at"] == instant("06:00:05.804000")
    assert found["reason"] is None


def test_a_condition_that_is_not_true_was_not_reached() -> None:
    answer = statuses(status("running", None, None, status="False"))
    assert [record.ignore for record in parse(PARSER, document(answer))] == ["not_reached"]


def test_a_broken_condition_leaves_the_others() -> None:
    answer = statuses(
        status("queued", "2026-03-10T06:00:05Z", None),
        status("scheduled", "noon", None),
        {"status": "True"},
        "running",
        status("running", "2026-03-10T06:00:05Z", None),
    )
    found = parse(PARSER, document(answer))
    assert [record.reject for record in found] == [
        None,
        (
            "wrong_time: expected an RFC 3339 time, got other text at "
            "$.status_conditions[1].last_update_time"
        ),
        "no_status: expected $.status_conditions[2].type, got none",
        "wrong_type: expected object, got str at $.status_conditions[3]",
        None,
    ]
    assert [r["ordinal"] for r in rows(found, "run_statuses")] == [0, 4]


def test_statuses_may_take_the_run_from_their_folder() -> None:
    answer = statuses(status("running", None, None))
    del answer["uuid"]
    found = parse(PARSER, document(answer), path=f"exports/vision/{RUN}/statuses.json")
    assert rows(found, "run_statuses")[0]["run_uuid"] == RUN
    found = parse(PARSER, document(answer))
    assert [record.reject for record in found] == ["no_uuid: expected $.uuid, got none"]


def test_conditions_read_again_are_the_same_records() -> None:
    first = status("queued", "2026-03-10T06:00:01Z", None)
    second = status("running", "2026-03-10T06:00:05Z", None)
    early = parse(PARSER, document(statuses(first)), path_at=instant("07:00:00"))
    late = parse(PARSER, document(statuses(first, second)), path_at=instant("08:00:00"))
    ids = [r["record_id"] for found in (early, late) for r in rows(found, "run_statuses")]
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize(
    "value",
    [page(listed()), detail(), page(artifact()), {"data": {RUN: [logged()]}}, [resource()],
     statuses(status("running", "2026-03-10T06:00:05Z", None))],
)  # fmt: skip
def test_the_layout_of_a_file_does_not_change_what_its_records_are(value: Any) -> None:
    found = [parse(PARSER, document(value)), parse(PARSER, json.dumps(value))]
    assert found[0][0].rows == found[1][0].rows != ()


def test_an_offline_run_states_itself_and_its_conditions() -> None:
    offline = listed(
        updated_at=None,
        created_at="2026-03-10T06:00:00+00:00",
        managed_by="user",
        status_conditions=[status("created", "2026-03-10T06:00:00+00:00", None)],
    )
    found = parse(PARSER, document(offline))
    assert [record.locator for record in found] == ["$", "$.status_conditions[0]"]
    version = rows(found, "run_versions")[0]
    assert (version["view"], version["managed_by"]) == ("archive", "user")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"namespace": "polyaxon"}, "namespace"),
        (CONTENT, "content"),
        (page({"upstream": {"uuid": RUN}, "kind": "manual"}), "lineage"),
        ({"kind": "Pod", "apiVersion": "v1", "metadata": {}}, "other_kind"),
        ({"type": "ADDED", "object": {"kind": "Pod", "apiVersion": "v1"}}, "other_kind"),
        ({"kind": "List", "apiVersion": "v1", "items": [{"kind": "Pod", "apiVersion": "v1"}]},
         "other_kind"),
        (page({"uuid": RUN, "name": "vision", "created_at": "2026-03-10T00:00:00Z"}), "other_kind"),
    ],
)  # fmt: skip
def test_other_answers_of_the_api_are_ignored_by_name(value: Any, reason: str) -> None:
    assert [record.ignore for record in parse(PARSER, document(value))] == [reason]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{}", "no_uuid: expected $.uuid, got none"),
        ('{"uuid":"short","status":"x"}', "wrong_uuid: expected a UUID, got other text at $.uuid"),
        ('{"uuid":5,"status":"x"}', "wrong_type: expected str | null, got int at $.uuid"),
        ('{"uuid":null,"status":"x"}', "no_uuid: expected $.uuid, got none"),
        ('{"results":{}}', "wrong_type: expected array, got object at $.results"),
        ('{"results":[5]}', "wrong_type: expected object, got int at $.results[0]"),
        ('{"pods":[]}', "wrong_type: expected object | null, got array at $.pods"),
        (f'{{"uuid":"{RUN}","status_conditions":{{}}}}',
         "wrong_type: expected array, got object at $.status_conditions"),
        ('{"uuid":', "invalid_json: expected JSON, got an end inside a value at $"),
        ("5", "wrong_type: expected object, got int at $"),
    ],
)  # fmt: skip
def test_a_broken_document_is_refused_with_its_reason(line: str, reason: str) -> None:
    found = parse(PARSER, line)
    assert [record.reject for record in found] == [reason]


def test_one_broken_run_leaves_the_others() -> None:
    found = parse(PARSER, document(page(listed(), listed(tags="gpu"), listed())))
    assert [word(record) for record in found] == ["accepted", "wrong_type", "accepted"]
    assert found[1].locator == "$.results[1]"
    assert found[1].reject == "wrong_type: expected array | null, got str at $.results[1].tags"


# -- what must not come out ----------------------------------------------------------------------

SECRET = "planted-hunter2-EXAMPLE"


def secret_detail() -> dict[str, Any]:
    """A detail with a secret in every place where one may stand."""
    content = json.loads(json.dumps(CONTENT))
    run = content["run"]
    run["container"]["args"] = [f"--token={SECRET}", SECRET]
    run["container"]["env"] += [
        {"name": "API_KEY", "value": SECRET},
        {"name": "WANDB_API_KEY", "value": SECRET},
    ]
    run["init"][0]["git"]["url"] = f"https://ci:{SECRET}@git.example.com/ml/train.git?t={SECRET}"
    run["init"][0]["git"]["flags"] = [f"--config http.extraHeader={SECRET}"]
    content["inputs"] = [{"name": "x", "value": SECRET}]
    content["description"] = SECRET
    return detail(
        content=content,
        raw_content=SECRET,
        readme=SECRET,
        description=f"password={SECRET}",
        inputs={"api_key": SECRET, "url": f"https://u:{SECRET}@example.com/?token={SECRET}"},
        outputs={"nested": {"password": SECRET}},
        tags=[f"token={SECRET}"],
        meta_info={"a": SECRET},
    )


def test_no_secret_of_a_run_is_stored() -> None:
    found = parse(PARSER, document(secret_detail()))
    assert words(found) == {"accepted": 1}
    assert SECRET not in written(found)
    version = rows(found, "run_versions")[0]
    assert version["code_url"] == "https://git.example.com/ml/train.git"
    assert "env://WANDB_API_KEY" in {a["resource_id"] for a in version["declared_accesses"]}


def test_the_excerpt_of_a_refused_run_shows_no_value_that_may_be_a_secret() -> None:
    found = parse(PARSER, document(secret_detail() | {"kind": 5}))
    assert word(found[0]) == "wrong_type"
    assert SECRET.encode() not in found[0].raw
    assert found[0].place is not None
    # A reason is shown, and redacted by landing as every text is.
    assert SECRET not in redact(found[0].place.raw.decode())
    assert RUN.encode() in found[0].raw


def test_no_secret_of_a_condition_is_stored() -> None:
    answer = statuses(status("failed", None, None, message=f"clone https://u:{SECRET}@h/x failed"))
    assert SECRET not in written(parse(PARSER, document(answer)))


# -- laws ----------------------------------------------------------------------------------------


def test_a_part_of_another_type_is_a_reject_or_another_value_and_never_an_error() -> None:
    found: list[Parsed] = []
    for value in (detail(), CONTENT, statuses(status("running", None, None)), page(listed())):
        for changed in mutations(value):
            PARSER.recognise(json.dumps(changed).encode())
    for changed in mutations(listed(pipeline={"uuid": RUN, "name": "a", "kind": "matrix"})):
        records = parse(PARSER, document(page(listed(), changed, listed())))
        assert [word(records[0]), word(records[2])] == ["accepted", "accepted"]
        found.append(records[1])
    for changed in mutations(CONTENT):
        found += parse(PARSER, document(detail(content=changed)))
    for changed in mutations(statuses(status("running", "2026-03-10T06:00:05Z", None))):
        found += parse(PARSER, document(changed))
    check_each(found)
    check_rows(found)


@given(st.data())
def test_any_bytes_are_answered(data: st.DataObject) -> None:
    text = json.dumps(page(detail())).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    broken = text[:start] + data.draw(st.binary(max_size=6)) + text[end:]
    found = parse(PARSER, [RawRecord("$", 0, broken)])
    check_each(found)
    check_rows(found)
    PARSER.recognise(broken)


# -- recognition ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "score", "variant"),
    [
        (page(listed()), 3, "run list"),
        ({"count": 1, "results": [listed()]}, 3, "run list"),
        (detail(), 3, "run"),
        (listed(), 3, "run"),
        ([listed()], 3, "list"),
        (statuses(status("running", None, None)), 3, "run statuses"),
        ({"pods": {"a": {"metadata": {"name": "a"}}}, "services": {}}, 3, "spec.json archive"),
        ({"pods": {}, "services": {}}, 3, "spec.json archive"),
        (page({"name": "x", "kind": "data", "is_input": True}), 2, "lineage"),
        (CONTENT, 2, "content of a run"),
        (artifact(), 2, "lineage"),
        ([artifact()], 2, "lineage"),
        ({"upstream": None, "kind": "build"}, 2, "lineage"),
        (events(logged()), 2, "events"),
        ({"data": {RUN: [logged()]}}, 2, "events"),
        ({"data": {"a": [logged()]}}, 0, ""),
        ({"data": []}, 0, ""),
        ({"data": {}}, 0, ""),
        ({"data": [5]}, 0, ""),
        ({"status": "success", "data": {"resultType": "matrix", "result": []}}, 0, ""),
        ({"timestamp": "x", "step": 1, "text": "a"}, 2, "event file"),
        ({"timestamp": "x", "step": 1, "flow": "a"}, 0, ""),
        ({"timestamp": 1, "node": 2, "pod": 3, "container": 4, "value": 5}, 2, "log of a run"),
        ({"logs": [{"timestamp": 1, "value": 5}], "files": None}, 2, "log of a run"),
        ({"logs": [{"timestamp": 1, "value": 5, "level": 1}]}, 0, ""),
        ({"logs": []}, 0, ""),
        (resource(), 2, "custom resources"),
        ([resource()], 2, "custom resources"),
        ({"type": "ADDED", "object": resource()}, 2, "custom resources"),
        ({"type": "ADDED", "object": 5}, 0, ""),
        ({"kind": "List", "apiVersion": "v1", "items": [resource()]}, 2, "custom resources"),
        ({"kind": "JobList", "apiVersion": "polyaxon.com/v1", "items": [{"metadata": {}}]}, 2,
         "custom resources"),
        ({"kind": "JobList", "apiVersion": "batch/v1", "items": [{"metadata": {}}]}, 0, ""),
        ({"kind": "Service", "apiVersion": "v1", "metadata": {}}, 0, ""),
        (page(), 1, "an empty page of a list"),
        ({"pods": {}}, 0, ""),
        ({"namespace": "polyaxon"}, 0, ""),
        ({"count": 1, "results": [{"id": 1}]}, 0, ""),
        ({"uuid": RUN, "flow": {}}, 0, ""),
        ({"uuid": "x", "status": "running", "kind": "job"}, 0, ""),
        ({"kind": "PodList", "apiVersion": "v1", "items": []}, 0, ""),
        ({"resourceLogs": []}, 0, ""),
        ([], 0, ""),
    ],
)  # fmt: skip
def test_a_head_is_judged_by_its_keys(value: Any, score: int, variant: str) -> None:
    for indent in (None, 1):
        found = PARSER.recognise(json.dumps(value, indent=indent).encode())
        assert (found.score, found.variant) == (score, variant)


def test_the_head_of_an_event_file_is_its_header() -> None:
    found = PARSER.recognise(b"\nstep|timestamp|image\n1|2026-03-10 06:10:00|{}")
    assert (found.score, found.variant) == (2, "event file")
    assert PARSER.recognise(b"1|2026-03-10 06:10:00|0.9").score == 0


def test_a_head_cut_inside_a_document_is_recognised() -> None:
    for value in (page(*[listed()] * 20), detail(), statuses(*[status("x", None, None)] * 20)):
        for indent in (None, 1):
            assert PARSER.recognise(json.dumps(value, indent=indent).encode()[:600]).score == 3


# -- real files ----------------------------------------------------------------------------------

COUNTS = {
    # Lists: one record per run. Details: the run. Statuses: one per condition.
    "api_runs_list.json": (3, {"accepted": 6}),
    "api_runs_list_timeline.json": (3, {"accepted": 6}),
    "cli_ops_ls_o_json.json": (3, {"accepted": 6}),
    "api_run_job_detail.json": (3, {"accepted": 1}),
    "api_run_resumed_detail.json": (3, {"accepted": 1}),
    "api_run_matrix_parent_detail.json": (3, {"accepted": 1}),
    "api_run_matrix_child_detail.json": (3, {"accepted": 1}),
    "cli_ops_get_o_json.json": (3, {"accepted": 1}),
    "api_run_job_statuses.json": (3, {"accepted": 8}),
    "api_run_resumed_statuses.json": (3, {"accepted": 10}),
    # Two pods with 10 and 5 events; the two Scheduled events have lost their time.
    "outputs_spec_json_shape.json": (3, {"accepted": 15, "no_time": 2}),
    # The run and its three conditions.
    "offline_run/run.plx.json": (3, {"accepted": 4}),
    # Answers that hold no run.
    "compiled_content_job.json": (2, {"content": 1}),
    "offline_run/plxlogs_logs.jsonl": (2, {"log": 1}),
    "api_run_job_lineage_artifacts.json": (2, {"accepted": 4}),
    # Their run is named by their folder only, which the samples lack.
    "offline_run/lineages.plx.json": (2, {"no_uuid": 6}),
    "offline_run/events_metric_loss.plx": (2, {"header": 1, "no_uuid": 2}),
    "offline_run/events_text_stage.plx": (2, {"no_uuid": 1}),
    # Surer read as objects of Kubernetes, among which they are listed.
    "k8s_cr_job.json": (2, {"accepted": 1}),
    "k8s_cr_matrix_child_job.json": (2, {"accepted": 1}),
    "k8s_cr_raycluster.json": (2, {"accepted": 1}),
    "k8s_cr_service_sandbox.json": (2, {"accepted": 1}),
    # An empty page may be any list's.
    "api_run_job_lineage_upstream.json": (1, {}),
}


@pytest.mark.samples
@pytest.mark.parametrize("name", COUNTS)
def test_real_files_hold_what_was_counted_in_them(samples: Path, name: str) -> None:
    score, counts = COUNTS[name]
    assert PARSER.recognise(head(samples / "polyaxon" / name)).score == score
    found = parse_file(PARSER, samples / "polyaxon" / name)
    assert words(found) == counts
    check_each(found)
    check_rows(found)


@pytest.mark.samples
def test_real_files_of_other_formats_are_not_recognised(samples: Path) -> None:
    for path in sorted(samples.rglob("*")):
        name = str(path.relative_to(samples)).removeprefix("polyaxon/")
        if path.is_file() and name not in COUNTS:
            assert PARSER.recognise(head(path)).score == 0, path.name


@pytest.mark.samples
def test_conditions_of_a_real_run_have_their_own_times(samples: Path) -> None:
    """All conditions of the operator state one transition time, 15:32:30.804."""
    found = parse_file(PARSER, samples / "polyaxon" / "api_run_job_statuses.json")
    seen = rows(found, "run_statuses")
    assert [(r["status"], r["event_at"]) for r in seen[4:]] == [
        ("starting", instant("2026-11-30 15:32:30.804000")),
        ("warning", instant("2026-11-30 15:33:05.804000")),
        ("running", instant("2026-11-30 15:35:35.804000")),
        ("succeeded", instant("2026-11-30 16:39:05.804000")),
    ]
    assert {r["transition_at"] for r in seen[4:]} == {instant("2026-11-30 15:32:30.804000")}
    assert seen[5]["reason"] == "ImagePullBackOff"

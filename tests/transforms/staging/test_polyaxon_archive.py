from pathlib import Path
from typing import Any

import pytest

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
from tests.transforms.staging.kubernetes_objects import (
    OTHER_RUN,
    POD_UID,
    RUN,
    document,
    instant,
    mutations,
    pod,
    running,
    stamp,
)
from transforms.staging.parser import Parsed
from transforms.staging.polyaxon import PARSER

PATH = f"exports/alder/vision/{RUN}/outputs/spec.json"
NAME = f"plx-operation-{RUN}-x7k2p"


def archived(reason: str, first: str | None, last: str | None, **changes: Any) -> dict[str, Any]:
    return {
        "reason": reason,
        "message": f"{reason} it",
        "first_timestamp": first and stamp(first).replace("Z", "+00:00"),
        "last_timestamp": last and stamp(last).replace("Z", "+00:00"),
        "count": 1,
        "type": "Normal",
    } | changes


def archive(*events: Any, **changes: Any) -> dict[str, Any]:
    value = pod(
        status__phase="Running",
        status__conditions=None,
        status__containerStatuses=[running("polyaxon-main", "06:00:20")],
        **changes,
    )
    return {"pods": {NAME: value | {"events": list(events)}}, "services": {}}


def test_an_archive_gives_its_pods_and_events_one_by_one() -> None:
    value = archive(archived("Pulling", "06:00:07", "06:02:07", count=3))
    found = parse(PARSER, document(value), path=PATH)
    assert [record.locator for record in found] == [
        f'$.pods["{NAME}"]', f'$.pods["{NAME}"].events[0]',
    ]  # fmt: skip
    assert [[table for table, _ in record.rows] for record in found] == [
        ["pod_states", "container_states", "container_states"], ["kube_event_states"],
    ]  # fmt: skip
    assert stated(rows(found, "kube_event_states")[0], "record_id") == {
        "observed_at": instant("06:02:07"),
        "event_at": instant("06:02:07"),
        "namespace": "ml",
        "involved_kind": "Pod",
        "involved_name": NAME,
        "reason": "Pulling",
        "message": "Pulling it",
        "first_at": instant("06:00:07"),
        "last_at": instant("06:02:07"),
        "event_count": 3,
        "event_type": "Normal",
    }
    check_rows(found)


def test_the_pod_was_there_at_its_newest_event_and_not_on_the_day_of_the_copy() -> None:
    value = archive(archived("Pulling", "06:00:07", "06:02:07"))
    found = parse(PARSER, document(value), path=PATH, path_at=instant("2026-03-20 00:00:00"))
    state = rows(found, "pod_states")[0]
    assert (state["observed_at"], state["observed_basis"]) == (instant("06:02:07"), "record")
    assert state["last_finished_at"] is None
    assert state["pod_uid"] == POD_UID


def test_the_folder_names_the_run_of_a_pod_without_evidence() -> None:
    value = archive(metadata__labels={}, metadata__name="renamed")
    state = rows(parse(PARSER, document(value), path=PATH, project="vision"), "pod_states")[0]
    assert (state["run_uuid"], state["run_match_kind"]) == (RUN, "name")
    assert state["project"] == "vision"
    bare = rows(parse(PARSER, document(value)), "pod_states")[0]
    assert (bare["run_uuid"], bare["run_match_kind"]) == (None, "none")


def test_a_folder_of_another_run_is_a_conflict() -> None:
    path = PATH.replace(RUN, OTHER_RUN)
    state = rows(parse(PARSER, document(archive()), path=path), "pod_states")[0]
    assert (state["run_uuid"], state["run_match_kind"]) == (None, "conflict")


def test_a_scheduler_s_event_has_lost_its_time_and_is_left_out() -> None:
    found = parse(PARSER, document(archive(archived("Scheduled", None, None))), path=PATH)
    assert [word(record) for record in found] == ["accepted", "no_time"]


def test_equal_events_of_one_second_are_two_records_and_read_again_the_same_two() -> None:
    """Two containers that start in one second give equal events, as their names are lost."""
    twice = [archived("Started", "06:00:20", "06:00:20")] * 2
    first = rows(parse(PARSER, document(archive(*twice)), path=PATH), "kube_event_states")
    more = archive(archived("Pulling", "06:00:07", "06:30:00"), *twice)
    again = rows(parse(PARSER, document(more), path=PATH), "kube_event_states")
    ids = [row["record_id"] for row in first]
    assert len(set(ids)) == 2
    assert [row["record_id"] for row in again][1:] == ids


def test_a_broken_event_leaves_the_pod_and_the_others() -> None:
    value = archive(
        archived("Pulling", "06:00:07", None), archived("Pulled", None, None, count="1"), 5
    )
    found = parse(PARSER, document(value), path=PATH)
    assert [word(record) for record in found] == [
        "accepted", "accepted", "wrong_type", "wrong_type",
    ]  # fmt: skip
    assert found[2].reject == (
        f'wrong_type: expected int | null, got str at $.pods["{NAME}"].events[1].count'
    )


def test_a_broken_pod_leaves_the_others() -> None:
    value = archive()
    value["pods"] = {"a b": {"metadata": {}}, "x" * 80: 5} | value["pods"]
    value["services"] = {"board": {"metadata": {}}}
    found = parse(PARSER, document(value), path=PATH)
    assert [record.locator for record in found] == [
        "$.pods[0]", "$.pods[1]", f'$.pods["{NAME}"]', "$.services[0]",
    ]  # fmt: skip
    assert [word(record) for record in found] == ["no_uid", "wrong_type", "accepted", "other_kind"]


def test_an_empty_archive_is_a_record_by_itself() -> None:
    assert [
        record.ignore
        for record in parse(PARSER, document({"pods": {}, "services": None}), path=PATH)
    ] == ["empty"]


def test_no_secret_of_an_archive_is_stored() -> None:
    secret = "planted-hunter2-EXAMPLE"
    value = archive(archived("Failed", "06:00:07", None, message=f"pull: token={secret}"))
    main = value["pods"][NAME]["spec"]["containers"][0]
    main["env"] = [{"name": "WANDB_API_KEY", "value": secret}, {"name": "PLAIN", "value": secret}]
    found = parse(PARSER, document(value), path=PATH)
    assert words(found) == {"accepted": 2}
    assert secret not in written(found)


def test_a_part_of_another_type_is_never_an_error() -> None:
    found: list[Parsed] = []
    for changed in mutations(archive(archived("Pulling", "06:00:07", None))):
        found += parse(PARSER, document(changed), path=PATH)
    check_each(found)
    check_rows(found)


@pytest.mark.samples
def test_the_shape_of_a_real_archive_is_read(samples: Path) -> None:
    found = parse_file(PARSER, samples / "polyaxon" / "outputs_spec_json_shape.json")
    first = rows(found, "pod_states")[0]
    # The newest time of the first pod and its events: a BackOff at 20:53:53.
    assert first["observed_at"] == instant("2025-09-11 20:53:53")
    assert first["pod_uid"] == "0f6b8526-3587-433e-91fd-1d10ead72f88"
    events = rows(found, "kube_event_states")
    assert len(events) == 13
    assert events[0]["reason"] == "Pulling"
    assert events[0]["event_count"] == 6
    assert {e["involved_uid"] for e in events} == {None}

import json
from datetime import UTC, datetime
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
    written,
)
from tests.transforms.staging.kubernetes_objects import (
    POD_UID,
    document,
    event,
    instant,
    mutations,
    pod,
)
from transforms.staging.event_exporter import PARSER
from transforms.staging.parser import Parsed, RawRecord

SECRET = "planted-hunter2-EXAMPLE"


def exported(**changes: Any) -> dict[str, Any]:
    """An event as kubernetes-event-exporter writes it."""
    found = event(clusterName="alder", **changes)
    del found["kind"], found["apiVersion"]
    if isinstance(found["involvedObject"], dict):
        found["involvedObject"] = found["involvedObject"] | {
            "labels": {"app_kubernetes_io/instance": "x"},
            "annotations": {"note": "y"},
            "ownerReferences": [{"kind": "Job", "name": "train"}],
            "deleted": False,
        }
    return found


def routed(verb: str = "UPDATED", **changes: Any) -> dict[str, Any]:
    """A change as eventrouter writes it."""
    return {"verb": verb, "event": event(count=4), "old_event": event(count=3)} | changes


def test_an_exported_event_gives_every_column() -> None:
    found = parse(PARSER, json.dumps(exported()), path_at=instant("09:00:00"))
    assert stated(rows(found, "kube_event_states")[0], "record_id") == {
        "observed_at": instant("06:02:07"),
        "event_at": instant("06:02:07"),
        "event_uid": "22222222-2222-4333-8444-555555555555",
        "event_name": "train-x7k2p.17a",
        "namespace": "ml",
        "involved_kind": "Pod",
        "involved_name": "train-x7k2p",
        "involved_uid": POD_UID,
        "field_path": "spec.containers{polyaxon-main}",
        "container": "polyaxon-main",
        "reason": "Pulling",
        "message": 'Pulling image "registry.example.com/ml/train:1.4"',
        "first_at": instant("06:00:07"),
        "last_at": instant("06:02:07"),
        "event_count": 3,
        "event_type": "Normal",
        "reporter": "kubelet",
        "node": "ip-10-20-1-11.ec2.internal",
    }
    check_rows(found)


@pytest.mark.parametrize("verb", ["ADDED", "UPDATED"])
def test_a_routed_change_gives_the_newer_state(verb: str) -> None:
    found = parse(PARSER, json.dumps(routed(verb)))
    assert [row["event_count"] for row in rows(found, "kube_event_states")] == [4]
    check_rows(found)


def test_a_scheduler_event_states_its_time_elsewhere() -> None:
    value = exported(
        firstTimestamp=None, lastTimestamp=None, eventTime="2026-03-10T06:00:01.123456Z"
    )
    row = rows(parse(PARSER, json.dumps(value)), "kube_event_states")[0]
    assert row["event_at"] == instant("06:00:01").replace(microsecond=123_456)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-10T06:30:00Z", instant("06:30:00")),
        ("2026-03-10T06:30:00.123Z", instant("06:30:00").replace(microsecond=123_000)),
        ("2026-03-10T06:30:00.123456789Z", instant("06:30:00").replace(microsecond=123_456)),
        ("2026-03-10T08:30:00+02:00", instant("06:30:00")),
        ("2026-03-10T06:29:60Z", instant("06:29:59").replace(microsecond=999_999)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_they_are_written(text: str, at: datetime) -> None:
    row = rows(parse(PARSER, json.dumps(exported(lastTimestamp=text))), "kube_event_states")[0]
    assert (row["event_at"], row["observed_at"]) == (at, at)


def test_an_event_of_1970_keeps_its_time() -> None:
    value = exported(firstTimestamp=None, lastTimestamp="1970-01-01T00:00:00Z")
    value["metadata"]["creationTimestamp"] = None
    row = rows(parse(PARSER, json.dumps(value)), "kube_event_states")[0]
    assert row["event_at"] == datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (routed("DELETED"), "wrong_verb: expected ADDED, UPDATED, got another word at $.verb"),
        (routed(event={"reason": "x"}),
         "no_involved_object: expected $.event.involvedObject, got none"),
        (routed(event=event(metadata={})), "no_uid: expected $.event.metadata.uid, got none"),
        (routed(event=event(count="3")),
         "wrong_type: expected int | null, got str at $.event.count"),
        (exported(involvedObject=None), "no_involved_object: expected $.involvedObject, got none"),
        (exported(metadata={"uid": "a"}, firstTimestamp=None, lastTimestamp=None),
         "no_time: expected $.lastTimestamp or eventTime, got none"),
        (exported(lastTimestamp="noon"),
         "wrong_time: expected an RFC 3339 time, got other text at $.lastTimestamp"),
        ({"my_own_layout": "x"}, "no_involved_object: expected $.involvedObject, got none"),
        ("text", "wrong_type: expected object, got str at $"),
    ],
)  # fmt: skip
def test_a_broken_record_is_refused_with_its_reason(value: object, reason: str) -> None:
    assert [record.reject for record in parse(PARSER, json.dumps(value))] == [reason]


def test_a_document_over_many_lines_is_one_event() -> None:
    found = parse(PARSER, document(exported()))
    assert [record.locator for record in found] == ["$"]
    assert word(found[0]) == "accepted"


def test_no_secret_is_stored_or_shown() -> None:
    value = exported(message=f"pulling https://me:{SECRET}@registry.example.com token={SECRET}")
    value["metadata"]["annotations"] = {"a": SECRET}
    value["involvedObject"]["annotations"] = {"a": SECRET}
    broken = value | {"count": "x"}
    found = parse(PARSER, f"{json.dumps(value)}\n{json.dumps(broken)}")
    assert [word(record) for record in found] == ["accepted", "wrong_type"]
    assert "hunter2" not in written(found)
    assert b"hunter2" not in found[1].raw


def test_a_part_of_another_type_is_a_reject_or_another_value_and_never_an_error() -> None:
    found: list[Parsed] = []
    for value in (exported(), routed()):
        for changed in mutations(value):
            PARSER.recognise(json.dumps(changed).encode())
            found += parse(PARSER, json.dumps(changed))
    check_each(found)
    check_rows(found)


@given(st.data())
def test_any_bytes_are_answered(data: st.DataObject) -> None:
    text = json.dumps(routed()).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    broken = text[:start] + data.draw(st.binary(max_size=6)) + text[end:]
    found = parse(PARSER, [RawRecord("line 1", 0, broken)])
    check_each(found)
    check_rows(found)
    PARSER.recognise(broken)


@pytest.mark.parametrize(
    ("value", "score", "variant"),
    [
        (exported(), 3, "kubernetes-event-exporter lines"),
        ([exported()], 3, "kubernetes-event-exporter lines"),
        (routed(), 3, "eventrouter lines"),
        ({"metadata": {}, "reason": "a", "message": "b"}, 2, "kubernetes-event-exporter lines"),
        ({"verb": "ADDED", "event": {"a": 1}}, 0, ""),
        ({"type": "ADDED", "object": event()}, 0, ""),
        (event(), 0, ""),
        (pod(), 0, ""),
        ([], 0, ""),
        (7, 0, ""),
    ],
)
def test_a_head_is_judged_by_its_structure(value: object, score: int, variant: str) -> None:
    for indent in (None, 2):
        found = PARSER.recognise(json.dumps(value, indent=indent).encode())
        assert (found.score, found.variant) == (score, variant)


@pytest.mark.samples
def test_the_real_event_is_read(samples: Path) -> None:
    path = samples / "kubernetes" / "event_exporter_enhancedevent_backoff.json"
    assert PARSER.recognise(head(path)).score == 3
    found = parse_file(PARSER, path)
    check_rows(found)
    row = rows(found, "kube_event_states")[0]
    assert (row["reason"], row["container"], row["event_count"]) == ("BackOff", "my-app", 1)
    assert row["involved_uid"] == "11f86797-ded9-4e1f-be1e-582b4e8ebde8"
    assert row["event_at"] == instant("2021-02-26 09:30:59")
    assert row["node"] == "xxxxxx.ap-northeast-1.compute.internal"

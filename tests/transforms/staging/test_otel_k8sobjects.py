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
from tests.transforms.staging.otlp_logs import SEEN, any_value, event_log, logs, object_log, pairs
from transforms.staging.kubernetes import PARSER as KUBERNETES
from transforms.staging.otel_k8sobjects import PARSER
from transforms.staging.parser import Parsed, RawRecord

SEEN_AT = datetime(2026, 3, 10, 6, 30, 0, 250_000, tzinfo=UTC)
SECRET = "planted-hunter2-EXAMPLE"
OBJECT = {
    "k8s__object__kind": "Pod",
    "k8s__object__name": "train-x7k2p",
    "k8s__object__uid": POD_UID,
    "k8s__object__fieldpath": "spec.containers{polyaxon-main}",
    "k8s__node__name": "ip-10-20-1-11.ec2.internal",
}


def read(*records: dict[str, Any], **resource: str) -> list[Parsed]:
    """What became of the records of one document."""
    found = parse(PARSER, json.dumps(logs(*records, **resource)), path_at=instant("09:00:00"))
    check_each(found)
    check_rows(found)
    return found


def test_a_pulled_object_gives_the_rows_of_the_object_seen_then() -> None:
    found = read(object_log(pod()))
    direct = parse(KUBERNETES, json.dumps(pod()))
    for ours, theirs in zip(found[0].rows, direct[0].rows, strict=True):
        assert ours[0] == theirs[0]
        own = ("record_id", "observed_at", "observed_basis")
        assert stated(ours[1], *own) == stated(theirs[1], *own)
        assert ours[1]["observed_at"] == SEEN_AT
    assert found[0].rows[0][1]["observed_basis"] == "record"
    assert found[0].locator == "line 1 $.resourceLogs[0].scopeLogs[0].logRecords[0]"


@pytest.mark.parametrize("change", ["ADDED", "MODIFIED", "DELETED"])
def test_a_watched_change_says_what_happened(change: str) -> None:
    body = {"type": change, "object": pod()}
    attributes = pairs({"event.domain": "k8s", "event.name": "train-x7k2p"})
    state = rows(read(object_log(body, attributes=attributes)), "pod_states")[0]
    assert (state["watch_event"], state["is_deleted"]) == (change, change == "DELETED")
    assert state["observed_at"] == SEEN_AT


def test_a_body_of_text_is_read_where_it_is_json() -> None:
    found = read(
        object_log(json.dumps(pod())),
        object_log(json.dumps({"type": "ADDED", "object": pod()})),
        object_log("{ no json"),
        object_log('{"level":"info"}'),
        object_log("[1]"),
    )
    assert [word(record) for record in found] == ["accepted"] * 2 + ["other_log"] * 3


def test_events_nodes_services_and_policies_are_read() -> None:
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "node-1"}}
    policy = {
        "kind": "NetworkPolicy",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": "a", "namespace": "ml"},
        "spec": {"podSelector": {}},
    }
    other = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}}
    changes = [
        {"type": "ADDED", "object": event(apiVersion="events.k8s.io/v1")},
        node,
        policy,
        other,
        {"type": "BOOKMARK", "object": {"kind": "Pod"}},
    ]
    found = read(*[object_log(change) for change in changes])
    assert [record.rows[0][0] if record.rows else record.ignore for record in found] == [
        "kube_event_states", "node_states", "network_policies", "other_kind", "bookmark",
    ]  # fmt: skip
    assert found[0].rows[0][1]["observed_at"] == SEEN_AT
    assert found[0].rows[0][1]["event_at"] == instant("06:02:07")


def test_a_record_of_the_events_receiver_gives_every_column() -> None:
    found = read(event_log(), **OBJECT)
    assert stated(rows(found, "kube_event_states")[0], "record_id") == {
        "observed_at": SEEN_AT,
        "event_at": SEEN_AT,
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
        "last_at": SEEN_AT,
        "event_count": 3,
        "event_type": "Normal",
        "node": "ip-10-20-1-11.ec2.internal",
    }


def test_an_event_without_its_own_time_has_that_of_its_creation() -> None:
    found = read(event_log(timeUnixNano="0", severityText="Warn", observedTimeUnixNano=str(SEEN)))
    row = rows(found, "kube_event_states")[0]
    assert (row["event_at"], row["observed_at"]) == (instant("06:00:07"), SEEN_AT)
    assert (row["last_at"], row["event_type"], row["node"]) == (None, "Warning", None)


def test_a_record_without_its_own_time_was_seen_when_it_changed_last() -> None:
    state = rows(read(object_log(pod(), observedTimeUnixNano=None)), "pod_states")[0]
    assert state["observed_at"] == instant("07:00:12")


@pytest.mark.parametrize(
    ("nanoseconds", "seen"),
    [
        ("1773124200000000000", instant("06:30:00")),
        (1773124200000000000, instant("06:30:00")),
        ("1773124200123456789", instant("06:30:00").replace(microsecond=123_456)),
        ("1000", datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        ("9999999999999999999", datetime(2286, 11, 20, 17, 46, 39, 999_999, tzinfo=UTC)),
    ],
)
def test_times_are_nanoseconds(nanoseconds: object, seen: datetime) -> None:
    state = rows(read(object_log(pod(), observedTimeUnixNano=nanoseconds)), "pod_states")[0]
    assert state["observed_at"] == seen


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"resourceLogs": None}, "no_logs: expected $.resourceLogs, got none"),
        ({"resourceLogs": [{"scopeLogs": 5}]},
         "wrong_type: expected array | null, got int at $.resourceLogs[0].scopeLogs"),
        (logs(object_log(pod(), observedTimeUnixNano="-1")),
         "wrong_time: expected whole nanoseconds since 1970, got `-1`"),
        (logs(object_log(pod(), observedTimeUnixNano="noon")),
         "wrong_time: expected whole nanoseconds since 1970, got text of 4 characters"),
        (logs(object_log(pod(metadata__uid=""))),
         ("no_uid: expected $.resourceLogs[0].scopeLogs[0].logRecords[0].body.metadata.uid, "
         "got none")),
        (logs(object_log(pod(), body={"kvlistValue": {"values": [{"key": "kind", "value": 5}]}})),
         "wrong_value: expected a value of OTLP, got 5"),
        (logs(object_log(pod(), body={"kvlistValue": {"values": {"a": 1}}})),
         "wrong_value: expected a list, got an object"),
        (logs(object_log({"type": "LATER", "object": pod()})),
         ("wrong_watch_event: expected ADDED, MODIFIED, DELETED, got another word at "
         "$.resourceLogs[0].scopeLogs[0].logRecords[0].body.type")),
        (logs(object_log(pod(), attributes=[*pairs({"a": "b"}), *pairs({"a": "c"})])),
         "attributes: expected each key once"),
        (logs(event_log(attributes=pairs({"k8s.event.reason": "x"}))),
         "no_uid: expected $.resourceLogs[0].scopeLogs[0].logRecords[0].metadata.uid, got none"),
        (logs(event_log(attributes=pairs({"k8s.event.uid": "x", "k8s.event.count": -1}))),
         "wrong_value: expected a number of times, got -1"),
        (logs(event_log(attributes=pairs({"k8s.event.uid": 7}))),
         "wrong_value: expected a text, got 7"),
    ],
)  # fmt: skip
def test_a_broken_record_is_refused_with_its_reason(value: object, reason: str) -> None:
    assert [record.reject for record in parse(PARSER, json.dumps(value))] == [reason]


def test_other_logs_and_signals_are_ignored() -> None:
    found = read(
        {"body": any_value("started"), "attributes": pairs({"service": "x"})},
        {"body": any_value({"level": "info"})},
        {"body": None},
    )
    assert [word(record) for record in found] == ["other_log"] * 3
    assert [word(r) for r in parse(PARSER, '{"resourceMetrics":[]}')] == ["other_signal"]
    assert [word(r) for r in parse(PARSER, '{"resourceLogs":[]}')] == ["empty"]


def test_a_value_nested_too_deep_is_refused() -> None:
    for depth in (100, 50_000):
        body = '{"arrayValue":{"values":[' * depth + "]}}" * depth
        line = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":' + body + "}]}]}]}"
        found = parse(PARSER, line)
        assert word(found[0]) == "too_deep"
        check_each(found)


def test_a_document_over_many_lines_and_documents_on_lines_are_read_alike() -> None:
    value = logs(object_log(pod()), event_log(), **OBJECT)
    whole = parse(PARSER, document(value))
    lines = parse(PARSER, json.dumps(value) + "\n" + json.dumps(logs(object_log(pod()))))
    assert [record.rows for record in whole] == [record.rows for record in lines[:2]]
    assert lines[2].locator == "line 2 $.resourceLogs[0].scopeLogs[0].logRecords[0]"


def test_no_secret_is_stored_or_shown() -> None:
    main = {"name": "polyaxon-main", "env": [{"name": "TOKEN", "value": SECRET}], "args": [SECRET]}
    secret = {"kind": "Secret", "apiVersion": "v1", "data": {"value": SECRET}}
    found = read(
        object_log(pod(spec__containers=[main])),
        object_log(secret),
        object_log(pod(spec__containers=[main], metadata__uid=7)),
        event_log(body=any_value(f"token={SECRET}")),
        event_log(body=any_value(SECRET), attributes=pairs({"k8s.event.uid": 7, "x": SECRET})),
    )
    assert [word(record) for record in found] == [
        "accepted", "other_kind", "wrong_type", "accepted", "wrong_value",
    ]  # fmt: skip
    assert "hunter2" not in written(found)
    for record in found:
        if record.reject:
            assert b"hunter2" not in record.raw
            assert "hunter2" not in repr(record.place)


def test_a_part_of_another_type_is_a_reject_or_another_value_and_never_an_error() -> None:
    found: list[Parsed] = []
    small = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "node-1"}}
    for value in (logs(object_log({"type": "ADDED", "object": small})), logs(event_log())):
        for changed in mutations(value):
            PARSER.recognise(json.dumps(changed).encode())
            found += parse(PARSER, json.dumps(changed))
    check_each(found)
    check_rows(found)


@given(st.data())
def test_any_bytes_are_answered(data: st.DataObject) -> None:
    text = json.dumps(logs(event_log())).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    broken = text[:start] + data.draw(st.binary(max_size=6)) + text[end:]
    found = parse(PARSER, [RawRecord("line 1", 0, broken)])
    check_each(found)
    check_rows(found)
    PARSER.recognise(broken)


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (logs(object_log(pod())), 3),
        (logs(object_log(pod(), attributes=[])), 3),
        (logs(object_log({"type": "ADDED", "object": pod()}, attributes=[])), 3),
        (logs(event_log()), 3),
        (logs({"body": any_value("x")}, scope="a/b/k8sobjectsreceiver"), 3),
        (logs({"body": any_value("x")}), 0),
        (logs({"body": any_value({"level": "info"})}), 0),
        ({"resourceLogs": []}, 0),
        ({"resourceMetrics": []}, 0),
        (pod(), 0),
        ([], 0),
    ],
)
def test_a_head_is_judged_by_its_records(value: object, score: int) -> None:
    for indent in (None, 2):
        assert PARSER.recognise(json.dumps(value, indent=indent).encode()).score == score


@pytest.mark.samples
def test_real_logs_of_applications_are_not_recognised(samples: Path) -> None:
    for name in ("otlp_events_example.json", "otlp_logs_example.json", "otlp_trace_example.json"):
        assert PARSER.recognise(head(samples / "kubernetes" / name)).score == 0

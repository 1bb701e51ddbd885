import json
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.staging.export_text import parse, parse_file, rows, stated
from tests.transforms.staging.kubernetes_objects import POD_UID, event, instant, stamp
from transforms.staging.kubernetes import PARSER


def row(value: dict[str, Any], **context: Any) -> dict[str, Any]:
    """The row of an event in a watch line."""
    found = parse(PARSER, json.dumps({"type": "ADDED", "object": value}), **context)
    assert found[0].reject is None, found[0].reject
    return rows(found, "kube_event_states")[0]


KUBELET = {
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


def test_a_kubelet_s_event_is_read_whole() -> None:
    assert stated(row(event()), "record_id") == KUBELET


def test_the_newer_spelling_of_the_same_event_gives_the_same_row() -> None:
    old = event()
    new = {
        "kind": "Event",
        "apiVersion": "events.k8s.io/v1",
        "metadata": old["metadata"],
        "regarding": old["involvedObject"],
        "reason": old["reason"],
        "note": old["message"],
        "type": old["type"],
        "eventTime": None,
        "deprecatedSource": old["source"],
        "deprecatedFirstTimestamp": old["firstTimestamp"],
        "deprecatedLastTimestamp": old["lastTimestamp"],
        "deprecatedCount": old["count"],
        "reportingController": "kubelet",
        "reportingInstance": "ip-10-20-1-11.ec2.internal",
    }
    assert row(new) == row(old)


def test_the_scheduler_s_event_has_its_time_in_event_time() -> None:
    value = event(
        firstTimestamp=None,
        lastTimestamp=None,
        count=None,
        eventTime="2026-03-10T06:00:01.950359Z",
        source={},
        reportingComponent="default-scheduler",
        reportingInstance="default-scheduler-0",
    )
    found = row(value)
    at = instant("06:00:01.950359")
    assert (found["event_at"], found["first_at"], found["last_at"]) == (at, at, at)
    assert found["event_count"] is None
    assert found["reporter"] == "default-scheduler"
    assert found["node"] is None


def test_a_series_tells_the_newest_time_and_the_count() -> None:
    value = event(
        firstTimestamp=None,
        lastTimestamp=None,
        count=None,
        eventTime="2026-03-10T06:00:01.5Z",
        series={"count": 4, "lastObservedTime": "2026-03-10T06:09:00.25Z"},
    )
    found = row(value)
    assert found["first_at"] == instant("06:00:01.500000")
    assert found["last_at"] == found["event_at"] == instant("06:09:00.250000")
    assert found["event_count"] == 4


def test_an_event_that_only_states_its_creation_happened_then() -> None:
    found = row(event(firstTimestamp=None, lastTimestamp=None))
    assert found["event_at"] == instant("06:00:07")
    assert (found["first_at"], found["last_at"]) == (None, None)


def test_creation_and_managers_prove_observation_but_not_the_event_s_time() -> None:
    value = event()
    value["metadata"]["managedFields"] = [{"time": stamp("06:05:00")}]
    found = row(value)
    assert found["event_at"] == instant("06:02:07")
    assert found["observed_at"] == instant("06:05:00")


@pytest.mark.parametrize(
    ("path", "container"),
    [
        ("spec.containers{a-1}", "a-1"),
        ("spec.initContainers{b}", "b"),
        ("spec.ephemeralContainers{c}", "c"),
        ("spec.volumes{d}", None),
        ("spec.containers{}", None),
        (None, None),
    ],
)
def test_only_the_field_path_names_a_container(path: str | None, container: str | None) -> None:
    value = event()
    value["involvedObject"]["fieldPath"] = path
    found = row(value)
    assert (found["field_path"], found["container"]) == (path, container)


def test_an_event_of_a_node_keeps_the_name_that_stands_for_its_uid() -> None:
    value = event(involvedObject={"kind": "Node", "name": "node-1", "uid": "node-1"})
    value["metadata"]["namespace"] = "default"
    found = row(value)
    assert found["involved_uid"] == "node-1"
    assert found["namespace"] == "default"
    assert found["container"] is None


def test_the_uid_of_a_static_pod_is_written_with_dashes() -> None:
    value = event()
    value["involvedObject"]["uid"] = POD_UID.replace("-", "").upper()
    assert row(value)["involved_uid"] == POD_UID


def test_the_kubelet_s_instance_names_the_node_where_no_source_does() -> None:
    assert row(event(source=None))["node"] == "ip-10-20-1-11.ec2.internal"
    assert row(event(source={"component": "kubelet"}, reportingComponent=""))["node"] == (
        "ip-10-20-1-11.ec2.internal"
    )


def test_a_count_of_zero_is_not_stated() -> None:
    assert row(event(count=0))["event_count"] is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"count": "3"}, "wrong_type: expected int | null, got str at $.object.count"),
        ({"count": -1}, "wrong_type: expected int >= 0, got another value at $.object.count"),
        (
            {"lastTimestamp": "noon"},
            "wrong_time: expected an RFC 3339 time, got other text at $.object.lastTimestamp",
        ),
        (
            {"series": {"lastObservedTime": "x"}},
            (
                "wrong_time: expected an RFC 3339 time, got other text at "
                "$.object.series.lastObservedTime"
            ),
        ),
        (
            {"involvedObject": {"name": 1}},
            "wrong_type: expected str | null, got int at $.object.involvedObject.name",
        ),
        (
            {"metadata": {"labels": {"a": 1}}},
            "wrong_type: expected str, got int at $.object.metadata.labels[...]",
        ),
        ({"metadata": {}}, "no_uid: expected $.object.metadata.uid, got none"),
    ],
)
def test_a_broken_event_is_refused(change: dict[str, Any], reason: str) -> None:
    found = parse(PARSER, json.dumps({"type": "ADDED", "object": event(**change)}))
    assert [record.reject for record in found] == [reason]


@pytest.mark.samples
def test_real_events_are_read_as_they_stand_in_the_file(samples: Path) -> None:
    path = samples / "kubernetes" / "k3s_bundle_2025_events_default.json"
    found = rows(parse_file(PARSER, path), "kube_event_states")
    scheduled = found[0]
    assert scheduled["reason"] == "Scheduled"
    assert scheduled["event_at"] == instant("2025-09-11 20:50:19.950359")
    assert scheduled["reporter"] == "default-scheduler"
    pulling = found[1]
    assert pulling["reason"] == "Pulling"
    assert pulling["event_count"] == 6
    assert pulling["container"] == "api-server"
    assert pulling["node"] == "c9b7eea91"
    assert pulling["first_at"] == instant("2025-09-11 20:50:20")
    assert pulling["last_at"] == instant("2025-09-11 20:53:26")
    sized = [r for r in found if "Image size: 3810510 bytes." in (r["message"] or "")]
    assert len(sized) == 8
    assert sum(r["involved_kind"] == "Pod" for r in found) == 27
    assert {r["involved_uid"] for r in found if r["involved_kind"] == "Node"} >= {"c9b7eea91"}


@pytest.mark.samples
def test_a_real_series_of_the_scheduler_is_counted(samples: Path) -> None:
    path = samples / "kubernetes" / "troubleshoot_events_message-image-pull-fail.json"
    found = rows(parse_file(PARSER, path), "kube_event_states")
    failed = [r for r in found if r["reason"] == "FailedScheduling"]
    assert len(failed) == 2
    assert sorted(r["event_count"] is None for r in failed) == [False, True]
    pulls = [r for r in found if r["reason"] == "BackOff"]
    assert [r["event_count"] for r in pulls] == [5]

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.audit_events import audit, deleted_pod, status_of
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
from transforms.staging.kubernetes_audit import PARSER
from transforms.staging.parser import Parsed, RawRecord

ENDED = datetime(2026, 3, 10, 6, 30, 0, 260_001, tzinfo=UTC)
SECRET = "planted-hunter2-EXAMPLE"


def one(value: object) -> Parsed:
    """What became of the one event."""
    (found,) = parse(PARSER, json.dumps(value))
    check_each([found])
    check_rows([found])
    return found


def test_a_patch_of_a_pods_status_gives_the_state_that_it_left() -> None:
    found = one(audit(response=pod()))
    state = rows([found], "pod_states")[0]
    assert (state["pod_uid"], state["namespace"]) == (POD_UID, "ml")
    assert (state["observed_at"], state["observed_basis"]) == (ENDED, "record")
    assert (state["watch_event"], state["is_deleted"]) == ("MODIFIED", False)
    assert state["addresses"] == ["192.0.2.7", "2001:db8::7"]
    assert state["created_at"] == instant("06:00:00")
    assert [row["container"] for row in rows([found], "container_states")] == [
        "polyaxon-init-auth",
        "polyaxon-main",
    ]


@pytest.mark.parametrize(
    ("verb", "change"),
    [("create", "ADDED"), ("update", "MODIFIED"), ("patch", "MODIFIED")],
)
def test_the_verb_says_what_happened(verb: str, change: str) -> None:
    found = one(audit(verb, response=pod(), reference={"subresource": ""}, code=201))
    assert rows([found], "pod_states")[0]["watch_event"] == change


@pytest.mark.parametrize(
    ("metadata", "change"),
    [
        ({"deletionGracePeriodSeconds": 30}, "MODIFIED"),
        ({"deletionGracePeriodSeconds": 0}, "DELETED"),
        ({"deletionGracePeriodSeconds": 0, "finalizers": ["batch.kubernetes.io/job-tracking"]},
         "MODIFIED"),
        ({"deletionTimestamp": None}, "DELETED"),
    ],
)  # fmt: skip
def test_a_deleted_pod_is_gone_where_nothing_holds_it_back(
    metadata: dict[str, Any], change: str
) -> None:
    value = audit("delete", response=deleted_pod(**metadata), reference={"subresource": ""})
    state = rows([one(value)], "pod_states")[0]
    assert (state["watch_event"], state["is_deleted"]) == (change, change == "DELETED")
    assert state["observed_at"] == ENDED


def test_a_deleted_collection_gives_each_pod() -> None:
    bare = deleted_pod(deletionGracePeriodSeconds=30)
    del bare["kind"], bare["apiVersion"]
    body = {"kind": "PodList", "apiVersion": "v1", "items": [bare, pod(metadata__uid="b")]}
    found = one(audit("deletecollection", response=body, reference={"subresource": ""}))
    assert [s["watch_event"] for s in rows([found], "pod_states")] == ["MODIFIED", "DELETED"]
    assert len({values["record_id"] for _, values in found.rows}) == 1


def test_an_update_at_level_request_holds_the_whole_object() -> None:
    value = audit("update", request=pod(), level="Request", reference={"subresource": ""})
    assert rows([one(value)], "pod_states")[0]["pod_uid"] == POD_UID


def test_events_nodes_services_and_namespaces_are_read() -> None:
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "node-1"}}
    service = {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {"name": "a", "namespace": "ml"},
        "spec": {"clusterIP": "192.0.2.9"},
    }
    namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "ml"}}
    new_event = event(apiVersion="events.k8s.io/v1")
    cases = [
        (audit("create", "events", response=event()), "kube_event_states"),
        (
            audit("patch", "events", response=new_event, reference={"apiGroup": "events.k8s.io"}),
            "kube_event_states",
        ),
        (audit("patch", "nodes", response=node), "node_states"),
        (audit("create", "services", response=service), "services"),
        (audit("create", "namespaces", response=namespace), "namespaces"),
        # A namespace's deletion only begins.
        (audit("delete", "namespaces", response=namespace), "namespaces"),
    ]
    for value, table in cases:
        found = one(value)
        assert [name for name, _ in found.rows] == [table]
        assert found.rows[0][1]["observed_at"] == ENDED
    assert found.rows[0][1]["watch_event"] == "MODIFIED"


def test_a_deleted_policy_is_known_by_its_name() -> None:
    reference = {
        "apiGroup": "networking.k8s.io",
        "name": "only-storage",
        "subresource": None,
        "uid": None,
    }
    uid = "55555555-2222-4333-8444-555555555555"
    value = audit(
        "delete", "networkpolicies", response=status_of(uid, "networkpolicies"), reference=reference
    )
    row = rows([one(value)], "network_policies")[0]
    assert stated(row, "record_id") == {
        "observed_at": ENDED,
        "watch_event": "DELETED",
        "namespace": "ml",
        "policy_name": "only-storage",
        "policy_uid": uid,
        "policy_kind": "NetworkPolicy",
        "api_version": "networking.k8s.io/v1",
    }
    # The level `Metadata` says as much, but for the UID.
    bare = audit("delete", "networkpolicies", level="Metadata", reference=reference)
    assert rows([one(bare)], "network_policies")[0]["policy_uid"] is None


def test_a_created_cilium_policy_is_read() -> None:
    body = {
        "kind": "CiliumClusterwideNetworkPolicy",
        "apiVersion": "cilium.io/v2",
        "metadata": {"name": "dns"},
        "spec": {"endpointSelector": {}, "egress": [{"toEntities": ["kube-apiserver"]}]},
    }
    value = audit(
        "create",
        "ciliumclusterwidenetworkpolicies",
        response=body,
        reference={"apiGroup": "cilium.io", "apiVersion": "v2", "subresource": ""},
        code=201,
    )
    row = rows([one(value)], "network_policies")[0]
    assert (row["policy_kind"], row["applies_to_egress"]) == (
        "CiliumClusterwideNetworkPolicy",
        True,
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (audit(response=pod(), stage="RequestReceived"), "stage"),
        (audit(response=pod(), stage="ResponseStarted"), "stage"),
        (audit("get", response=pod()), "read_request"),
        (audit("watch", response=pod()), "read_request"),
        (audit("create", "secrets", response={"kind": "Secret"}), "other_resource"),
        (audit("create", "configmaps", response={"kind": "ConfigMap"}), "other_resource"),
        (audit("create", "pods", reference={"apiGroup": "metrics.k8s.io"}), "other_resource"),
        (audit("create", reference={"subresource": "portforward"}), "other_subresource"),
        (audit("create", "serviceaccounts", reference={"subresource": "token"}), "other_resource"),
        (audit(response=pod(), code=403), "denied"),
        (audit(response=pod(), annotations={"authorization.k8s.io/decision": "forbid"}), "denied"),
        (audit(response=pod(), code=409), "failed"),
        (audit(response=pod(), code=500), "failed"),
        (audit(response=pod(), stage="Panic"), "failed"),
        (audit(response=pod(), requestURI="/api/v1/namespaces/ml/pods?dryRun=All"), "dry_run"),
        (audit(annotations={"audit.k8s.io/truncated": "true"}), "truncated"),
        (audit("delete", level="Metadata"), "no_object"),
        (audit("create", request=pod(), level="Request"), "no_object"),
        (audit("patch", request={"metadata": {"uid": POD_UID}}, level="Request"), "no_object"),
        (audit("delete", response=status_of()), "no_object"),
        (audit("create", response=status_of(), reference={"subresource": "binding"}), "no_object"),
        (audit("create", response=status_of(), reference={"subresource": "eviction"}), "no_object"),
        (audit(objectRef=None, response=pod()), "other_resource"),
    ],
)
def test_what_left_no_state_is_ignored_with_a_reason(value: object, reason: str) -> None:
    assert one(value).ignore == reason


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (audit(response=pod(), kind="Pod"),
         "no_audit_event: expected an Event of audit.k8s.io at $, got another"),
        (audit(response=pod(), apiVersion="v1"),
         "no_audit_event: expected an Event of audit.k8s.io at $, got another"),
        ({"items": 5}, "wrong_type: expected array, got int at $.items"),
        (audit(response=pod(), stageTimestamp=None, requestReceivedTimestamp=None),
         "no_time: expected $.stageTimestamp, got none"),
        (audit(response=pod(), stageTimestamp="noon"),
         "wrong_time: expected an RFC 3339 time, got other text at $.stageTimestamp"),
        (audit(response=pod(metadata__uid=None)),
         "no_uid: expected $.responseObject.metadata.uid, got none"),
        (audit(response=pod(spec__containers="none")),
         "wrong_type: expected array | null, got str at $.responseObject.spec.containers"),
        (audit(response=pod(), responseStatus={"code": "200"}),
         "wrong_type: expected int | null, got str at $.responseStatus.code"),
        (audit(response=[]),  # type: ignore[arg-type]
         "wrong_type: expected object | null, got array at $.responseObject"),
    ],
)  # fmt: skip
def test_a_broken_event_is_refused_with_its_reason(value: object, reason: str) -> None:
    assert one(value).reject == reason


def test_items_of_a_list_leave_their_kind_out() -> None:
    items = [audit(response=pod()), audit("get"), audit(response=pod(metadata__uid=None))]
    for item in items:
        del item["kind"], item["apiVersion"]
    value = {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": items}
    for found in (parse(PARSER, json.dumps(value)), parse(PARSER, document(value))):
        assert [word(record) for record in found] == ["accepted", "read_request", "no_uid"]
        assert (
            found[2].reject == "no_uid: expected $.items[2].responseObject.metadata.uid, got none"
        )
    assert [record.locator for record in found] == ["$.items[0]", "$.items[1]", "$.items[2]"]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("2026-03-10T06:30:00Z", instant("06:30:00")),
        ("2026-03-10T06:30:00.123Z", instant("06:30:00").replace(microsecond=123_000)),
        ("2026-03-10T06:30:00.123456789Z", instant("06:30:00").replace(microsecond=123_456)),
        ("2026-03-10T08:30:00.5+02:00", instant("06:30:00").replace(microsecond=500_000)),
        ("2026-03-10T06:29:60Z", instant("06:29:59").replace(microsecond=999_999)),
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_they_are_written(text: str, seen: datetime) -> None:
    found = one(audit(response=pod(), stageTimestamp=text))
    assert rows([found], "pod_states")[0]["observed_at"] == seen


def test_the_request_was_received_where_no_end_is_stated() -> None:
    found = one(audit(response=pod(), stageTimestamp=None))
    seen = rows([found], "pod_states")[0]["observed_at"]
    assert seen == instant("06:30:00").replace(microsecond=250_000)


def test_the_path_says_nothing_of_when_a_request_was_made() -> None:
    text = json.dumps(audit(response=pod()))
    (found,) = parse(PARSER, text, path_at=instant("08:00:00"))
    assert rows([found], "pod_states")[0]["observed_at"] == ENDED


def test_a_record_is_known_by_its_audit_id() -> None:
    first, other = one(audit(response=pod())), one(audit(response=pod(), level="Request"))
    assert first.rows[0][1]["record_id"] == other.rows[0][1]["record_id"]
    another = one(audit(response=pod(), auditID="7"))
    assert another.rows[0][1]["record_id"] != first.rows[0][1]["record_id"]
    nameless = [one(audit(response=pod(), auditID=None, level=x)) for x in ("a", "b")]
    assert len({record.rows[0][1]["record_id"] for record in nameless}) == 2


# -- what must not come out ----------------------------------------------------------------------


def test_nothing_of_requests_users_and_secrets_is_stored_or_shown() -> None:
    user = {"username": SECRET, "extra": {"token": [SECRET]}, "uid": SECRET}
    secret = {"kind": "Secret", "data": {"name": SECRET, "uid": SECRET, "kind": SECRET}}
    main = {"name": "polyaxon-main", "env": [{"name": "TOKEN", "value": SECRET}]}
    values = [
        audit(response=pod(spec__containers=[main]), user=user, userAgent=SECRET),
        audit("create", "secrets", request=secret, response=secret, user=user),
        audit("create", "secrets", request=secret, stage=5, user=user),
        audit("update", request=secret | {"metadata": 5}, user=user, requestURI=f"/{SECRET}"),
        audit(response=pod(metadata__uid=None, spec__containers=[main]), user=user),
    ]
    text = "\n".join(json.dumps(value) for value in values)
    found = parse(PARSER, text)
    assert [word(record) for record in found] == [
        "accepted", "other_resource", "wrong_type", "no_object", "no_uid",
    ]  # fmt: skip
    assert "hunter2" not in written(found)
    for record in found:
        if record.reject:
            assert b"hunter2" not in record.raw
            assert "hunter2" not in repr(record.place)


@given(st.integers(0, 2_000))
def test_no_cut_of_a_line_shows_a_text(length: int) -> None:
    secret = {"kind": "Secret", "data": {"name": SECRET, "uid": SECRET}}
    line = json.dumps(audit("create", "secrets", request=secret, response=secret))[:length]
    for record in parse(PARSER, line):
        assert record.ignore is not None or b"hunter2" not in record.raw
        assert record.reject is None or "hunter2" not in repr(record.place)


# -- laws ----------------------------------------------------------------------------------------


def test_a_part_of_another_type_is_a_reject_or_another_value_and_never_an_error() -> None:
    small = {
        "kind": "NetworkPolicy",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": "a", "namespace": "ml"},
        "spec": {"podSelector": {}},
    }
    reference = {"apiGroup": "networking.k8s.io", "apiVersion": "v1", "subresource": ""}
    found: list[Parsed] = []
    for value in (audit("create", "networkpolicies", response=small, reference=reference),
                  audit("delete", response=deleted_pod())):  # fmt: skip
        for changed in mutations(value):
            PARSER.recognise(json.dumps(changed).encode())
            found += parse(PARSER, json.dumps(changed))
    check_each(found)
    check_rows(found)


@given(st.data())
def test_any_bytes_are_answered(data: st.DataObject) -> None:
    text = json.dumps(audit(response=pod())).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    broken = text[:start] + data.draw(st.binary(max_size=6)) + text[end:]
    found = parse(PARSER, [RawRecord("line 1", 0, broken)])
    check_each(found)
    check_rows(found)
    PARSER.recognise(broken)


# -- recognition ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "score", "variant"),
    [
        (audit(response=pod()), 3, "audit events"),
        ([audit()], 3, "audit events"),
        ({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": []}, 3, "audit EventList"),
        ({"items": [{"auditID": "a", "stage": "Panic"}]}, 3, "audit EventList"),
        ({"kind": "Policy", "apiVersion": "audit.k8s.io/v1"}, 0, ""),
        (pod(), 0, ""),
        (event(), 0, ""),
        ([], 0, ""),
        ("text", 0, ""),
    ],
)
def test_a_head_is_judged_by_its_structure(value: object, score: int, variant: str) -> None:
    for indent in (None, 2):
        found = PARSER.recognise(json.dumps(value, indent=indent).encode())
        assert (found.score, found.variant) == (score, variant)


def opened(query: str = "?command=bash&container=polyaxon-main&stdin=true", **changes: Any) -> Any:
    """A session of half a minute in a container."""
    return audit(
        changes.pop("verb", "create"),
        reference={"subresource": changes.pop("subresource", "exec")},
        code=changes.pop("code", 101),
        level="Metadata",
        **{
            "requestURI": f"/api/v1/namespaces/ml/pods/train-x7k2p/exec{query}",
            "requestReceivedTimestamp": "2026-03-10T06:29:30.260001Z",
        }
        | changes,
    )


@pytest.mark.parametrize("verb", ["create", "get"])
@pytest.mark.parametrize("subresource", ["exec", "attach"])
def test_a_session_in_a_container_is_a_mark_of_when_it_was(verb: str, subresource: str) -> None:
    secret = f"?command=sh&command=-c&command=pip+install+{SECRET}&container=polyaxon-main&tty=true"
    value = opened(secret, verb=verb, subresource=subresource)
    found = one(value)
    (mark,) = rows([found], "stage_marks")
    assert (mark["activity"], mark["phase"], mark["basis"]) == ("terminal_session", "end", "event")
    assert (mark["event_at"], mark["elapsed_seconds"]) == (ENDED, 30.0)
    assert (mark["namespace"], mark["pod_name"], mark["container"]) == (
        "ml", "train-x7k2p", "polyaxon-main",
    )  # fmt: skip
    assert mark["pod_uid"] is None
    assert SECRET not in repr(mark)


def test_a_session_names_its_pod_and_container_where_the_request_does() -> None:
    value = opened("?command=container%3Dsecret")
    value["objectRef"]["uid"] = POD_UID.upper()
    (mark,) = rows([one(value)], "stage_marks")
    assert (mark["pod_uid"], mark["container"]) == (POD_UID, None)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"stage": "ResponseStarted"}, "stage"),
        ({"stage": "Panic"}, "failed"),
        ({"code": 403}, "denied"),
        ({"code": 500}, "failed"),
        ({"verb": "delete"}, "other_subresource"),
        ({"subresource": "portforward"}, "other_subresource"),
        ({"subresource": "log", "verb": "get"}, "read_request"),
    ],
)
def test_what_opened_no_session_is_none(changes: dict[str, Any], why: str) -> None:
    assert word(one(opened(**changes))) == why

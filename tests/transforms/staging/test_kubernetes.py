import json
from pathlib import Path

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
from tests.transforms.staging.kubernetes_objects import (
    POD_UID,
    document,
    event,
    instant,
    mutations,
    pod,
    pod_list,
)
from transforms.redaction import redact
from transforms.staging.kubernetes import PARSER
from transforms.staging.parser import Parsed, RawRecord

NODE = {
    "kind": "Node",
    "apiVersion": "v1",
    "metadata": {"name": "node-1", "creationTimestamp": "2026-03-01T00:00:00Z"},
}
SERVICE = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {"name": "label-service", "namespace": "ml"},
}


def test_a_list_gives_one_record_per_item_with_its_json_path() -> None:
    found = parse(PARSER, document(pod_list(pod(), pod(metadata__name="second"))))
    assert [record.locator for record in found] == ["$.items[0]", "$.items[1]"]
    assert [record.offset for record in found] == [None, None]
    assert [row["pod_name"] for row in rows(found, "pod_states")][1] == "second"


def test_items_of_a_typed_list_take_kind_and_version_from_it() -> None:
    bare = pod()
    del bare["kind"], bare["apiVersion"]
    found = parse(PARSER, document(pod_list(bare)))
    assert words(found) == {"accepted": 1}


def test_a_list_of_mixed_kinds_fills_each_table_and_ignores_other_kinds() -> None:
    other = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}, "data": {"a": "b"}}
    found = parse(PARSER, document(pod_list(pod(), event(), NODE, SERVICE, other, kind="List")))
    assert [{table for table, _ in record.rows} for record in found] == [
        {"pod_states", "container_states"},
        {"kube_event_states"},
        {"node_states"},
        {"services"},
        set(),
    ]
    assert found[4].ignore == "other_kind"
    check_rows(found)


def test_a_kind_of_another_group_is_another_kind() -> None:
    others = [
        {"kind": "Service", "apiVersion": "serving.knative.dev/v1", "metadata": {"name": "a"}},
        {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "a"}},
        {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "metadata": {"name": "a"}},
        {"kind": "Pod", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {"name": "a"}},
    ]
    found = parse(PARSER, document(pod_list(*others, kind="List")))
    assert words(found) == {"other_kind": 4}


def test_lines_of_objects_keep_line_and_offset() -> None:
    text = json.dumps(pod()) + "\n\n" + json.dumps(NODE) + "\n"
    found = parse(PARSER, text)
    assert [record.locator for record in found] == ["line 1", "line 3"]
    assert found[1].offset == text.index('{"kind": "Node"')


def test_a_list_on_a_line_is_located_behind_its_line() -> None:
    found = parse(PARSER, "\n" + json.dumps(pod_list(pod(), {"kind": "Pod"})))
    assert [record.locator for record in found] == ["line 2 $.items[0]", "line 2 $.items[1]"]
    assert found[1].reject == "no_uid: expected $.items[1].metadata.uid, got none"


def test_a_json_array_of_objects_is_read_item_by_item() -> None:
    found = parse(PARSER, document([pod(), NODE]))
    assert [record.locator for record in found] == ["$[0]", "$[1]"]
    assert words(found) == {"accepted": 2}


def test_an_empty_list_holds_no_record() -> None:
    assert parse(PARSER, document(pod_list())) == []
    assert parse(PARSER, document(pod_list() | {"items": None})) == []


def test_indented_documents_behind_each_other_are_read_one_by_one() -> None:
    """`kubectl get --watch --output-watch-events -o json` writes them so."""
    watched = [{"type": "ADDED", "object": pod()}, {"type": "DELETED", "object": pod()}]
    text = "\n" + "\n".join(json.dumps(w, indent=4) for w in watched) + "\n"
    found = parse(PARSER, [RawRecord("$", 0, text.encode())])
    assert [row["watch_event"] for row in rows(found, "pod_states")] == ["ADDED", "DELETED"]
    second = text.index('{\n    "type": "DELETED"')
    assert found[0].locator == "line 2"
    assert found[1].locator == f"line {text[:second].count(chr(10)) + 1}"
    assert found[1].offset == second


@pytest.mark.parametrize("change", ["ADDED", "MODIFIED", "DELETED"])
def test_a_watch_line_tells_what_happened_to_the_object(change: str) -> None:
    found = parse(PARSER, json.dumps({"type": change, "object": pod()}))
    state = rows(found, "pod_states")[0]
    assert state["watch_event"] == change
    assert state["is_deleted"] is (change == "DELETED")
    assert state["observed_basis"] == "record"
    assert state["observed_at"] == instant("07:00:12")


def test_watch_lines_without_an_object_to_keep_are_ignored_with_a_reason() -> None:
    bookmark = {"type": "BOOKMARK", "object": {"kind": "Pod", "apiVersion": "v1", "metadata": {}}}
    error = {"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "code": 410}}
    found = parse(PARSER, json.dumps(bookmark) + "\n" + json.dumps(error))
    assert [record.ignore for record in found] == ["bookmark", "watch_error"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"type":"LATER","object":{"kind":"Pod"}}',
         "wrong_watch_event: expected ADDED, MODIFIED, DELETED, got another word at $.type"),
        ('{"type":5,"object":{"kind":"Pod"}}', "wrong_type: expected str, got int at $.type"),
        ('{"object":{"kind":"Pod"}}', "wrong_type: expected str, got null at $.type"),
        ('{"type":"ADDED","object":null}', "wrong_type: expected object, got null at $.object"),
        ('{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1"}}',
         "no_uid: expected $.object.metadata.uid, got none"),
        ('{"kind":"Pod","metadata":{"uid":"a"}}', "no_name: expected $.metadata.name, got none"),
        ('{"kind":"Pod","metadata":{"uid":"a","name":"b"}}',
         "no_namespace: expected $.metadata.namespace, got none"),
        ('{"kind":"Pod","metadata":{"uid":"a","name":"b","namespace":"c"}}',
         "no_time: expected $.metadata.creationTimestamp, got none"),
        ('{"kind":"Event","metadata":{"uid":"a"}}',
         "no_time: expected $.lastTimestamp or eventTime, got none"),
        ('{"kind":"Node"}', "no_name: expected $.metadata.name, got none"),
        ('{"kind":"Service","metadata":{"name":"a"}}',
         "no_namespace: expected $.metadata.namespace, got none"),
        ('{"metadata":{"name":"x"}}', "no_kind: expected $.kind, got none"),
        ('{"kind":"Status","apiVersion":"v1","status":"Failure","message":"forbidden"}',
         "no_objects: expected objects, got a Status Failure"),
        ('{"kind":"PodList","items":{"a":1}}',
         "wrong_type: expected array | null, got object at $.items"),
        ('{"kind":7}', "wrong_type: expected str | null, got int at $.kind"),
        ('{"kind":"Pod"', "invalid_json: expected JSON, got an end inside a value at $"),
        ("? token=abc", "invalid_json: expected JSON, got invalid character (byte 0) at $"),
        ("null", "wrong_type: expected object, got null at $"),
    ],
)  # fmt: skip
def test_a_broken_record_is_refused_with_its_reason(line: str, reason: str) -> None:
    found = parse(PARSER, line)
    assert [record.reject for record in found] == [reason]


def test_a_record_that_is_no_utf_8_is_refused() -> None:
    found = parse(PARSER, b'{"kind":"Pod","metadata":{"uid":"\xff"}}')
    assert word(found[0]) == "invalid_json"


def test_a_record_nested_too_deep_is_refused() -> None:
    found = parse(PARSER, '{"kind":"Pod","spec":' + "[" * 100_000)
    assert word(found[0]) in {"too_deep", "invalid_json"}
    deep = '{"kind":"Pod","apiVersion":"v1","extra":' + "[" * 50_000 + "]" * 50_000 + "}"
    assert word(parse(PARSER, deep)[0]) == "too_deep"


def test_one_broken_item_leaves_the_others() -> None:
    broken = pod(spec__containers="none")
    found = parse(PARSER, document(pod_list(pod(), broken, pod())))
    assert [word(record) for record in found] == ["accepted", "wrong_type", "accepted"]
    assert found[1].locator == "$.items[1]"
    assert found[1].reject == (
        "wrong_type: expected array | null, got str at $.items[1].spec.containers"
    )


def test_yaml_is_refused_once_with_the_option_that_writes_json() -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: train\n"
    recognised = PARSER.recognise(text.encode())
    assert (recognised.score, recognised.variant) == (
        2,
        "YAML, which is not read: export it with -o json",
    )
    found = parse(PARSER, text)
    assert found[0].reject == ("yaml: expected JSON, as `kubectl get -o json` writes it, got YAML")
    assert [record.ignore for record in found[1:]] == ["yaml"] * 3


def test_a_comment_does_not_make_yaml_of_the_json_behind_it() -> None:
    namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "ml"}}
    found = parse(PARSER, f"# a comment\n{json.dumps(namespace)}\nkind: Pod\n")
    assert [word(record) for record in found] == ["yaml", "accepted", "yaml"]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("# a comment\n---\napiVersion: apps/v1\nkind: List\n", 2),
        ("items:\n- apiVersion: v1\n  kind: Pod\n", 2),
        ("apiVersion: v1\n", 0),
        ("# HELP up Whether it is up.\nup 1\n", 0),
        ("metadata: {}\n", 0),
    ],
)
def test_yaml_is_told_by_the_two_keys_of_every_object(text: str, score: int) -> None:
    assert PARSER.recognise(text.encode()).score == score


# -- namespaces and policies ---------------------------------------------------------------------


def test_a_namespace_gives_its_labels_and_phase() -> None:
    value = {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {
            "name": "ml",
            "uid": "44444444-2222-4333-8444-555555555555",
            "resourceVersion": "7",
            "creationTimestamp": "2026-03-01T00:00:00Z",
            "deletionTimestamp": "2026-03-10T07:00:00Z",
            "labels": {"kubernetes.io/metadata.name": "ml", "team": "vision"},
            "annotations": {"note": "not kept"},
        },
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Terminating"},
    }
    found = parse(PARSER, json.dumps({"type": "MODIFIED", "object": value}))
    assert stated(rows(found, "namespaces")[0], "record_id") == {
        "observed_at": instant("07:00:00"),
        "watch_event": "MODIFIED",
        "namespace": "ml",
        "namespace_uid": "44444444-2222-4333-8444-555555555555",
        "labels": [
            {"name": "kubernetes.io/metadata.name", "value": "ml"},
            {"name": "team", "value": "vision"},
        ],
        "phase": "Terminating",
        "created_at": instant("2026-03-01 00:00:00"),
        "deletion_at": instant("07:00:00"),
    }
    check_rows(found)


def policy(kind: str, version: str, **sections: object) -> dict[str, object]:
    """A policy of documentation values."""
    metadata: dict[str, object] = {
        "name": "only-storage",
        "uid": "55555555-2222-4333-8444-555555555555",
        "resourceVersion": "8",
        "generation": 2,
        "creationTimestamp": "2026-03-01T00:00:00Z",
        "labels": {"owner": "platform"},
    }
    if kind != "CiliumClusterwideNetworkPolicy":
        metadata["namespace"] = "ml"
    return {"kind": kind, "apiVersion": version, "metadata": metadata, **sections}


def read_policy(value: dict[str, object]) -> dict[str, object]:
    """The one row of a policy."""
    found = parse(PARSER, json.dumps(value), path_at=instant("08:00:00"))
    check_rows(found)
    (row,) = rows(found, "network_policies")
    return row


def test_a_network_policy_gives_every_column() -> None:
    spec = {
        "podSelector": {"matchLabels": {"app": "train"}},
        "policyTypes": ["Egress"],
        "egress": [{"to": [{"ipBlock": {"cidr": "203.0.113.0/24"}}], "ports": [{"port": 443}]}],
    }
    row = read_policy(policy("NetworkPolicy", "networking.k8s.io/v1", spec=spec))
    assert stated(row, "record_id") == {
        "observed_at": instant("08:00:00"),
        "namespace": "ml",
        "policy_name": "only-storage",
        "policy_uid": "55555555-2222-4333-8444-555555555555",
        "policy_kind": "NetworkPolicy",
        "api_version": "networking.k8s.io/v1",
        "labels": [{"name": "owner", "value": "platform"}],
        "selector": '{"matchLabels":{"app":"train"}}',
        "applies_to_ingress": False,
        "applies_to_egress": True,
        "spec": (
            '{"egress":[{"ports":[{"port":443}],"to":[{"ipBlock":{"cidr":"203.0.113.0/24"}}]}],'
            '"podSelector":{"matchLabels":{"app":"train"}},"policyTypes":["Egress"]}'
        ),
        "generation": 2,
        "created_at": instant("2026-03-01 00:00:00"),
    }


@pytest.mark.parametrize(
    ("kind", "version", "sections", "selector", "ingress", "egress"),
    [
        # Without policyTypes ingress is restricted, and egress if there are rules for it.
        ("NetworkPolicy", "networking.k8s.io/v1", {"spec": {"podSelector": {}}}, "{}", True, False),
        ("NetworkPolicy", "extensions/v1beta1", {"spec": {"egress": [{}]}}, "{}", True, True),
        ("NetworkPolicy", "networking.k8s.io/v1", {"spec": {"egress": []}}, "{}", True, False),
        ("NetworkPolicy", "networking.k8s.io/v1", {}, None, None, None),
        ("CiliumNetworkPolicy", "cilium.io/v2",
         {"spec": {"endpointSelector": {}, "egressDeny": [{"toEntities": ["world"]}]}},
         "{}", False, True),
        ("CiliumNetworkPolicy", "cilium.io/v2",
         {"specs": [{"endpointSelector": {"matchLabels": {"a": "b"}}, "ingress": [{}]},
                    {"endpointSelector": {}, "egress": [{}]}]},
         '[{"matchLabels":{"a":"b"}},{}]', True, True),
        ("CiliumClusterwideNetworkPolicy", "cilium.io/v2",
         {"spec": {"nodeSelector": {"matchLabels": {"x": "y"}}, "ingress": []}},
         '{"matchLabels":{"x":"y"}}', False, False),
        ("CiliumNetworkPolicy", "cilium.io/v2", {"spec": None}, None, None, None),
    ],
)  # fmt: skip
def test_a_policy_says_whom_it_selects_and_what_it_restricts(
    kind: str,
    version: str,
    sections: dict[str, object],
    selector: str | None,
    ingress: bool | None,
    egress: bool | None,
) -> None:
    row = read_policy(policy(kind, version, **sections))
    assert (row["policy_kind"], row["api_version"]) == (kind, version)
    assert row["namespace"] == (None if kind == "CiliumClusterwideNetworkPolicy" else "ml")
    assert row["selector"] == selector
    assert (row["applies_to_ingress"], row["applies_to_egress"]) == (ingress, egress)
    assert (row["spec"] is None) is (selector is None)


def test_a_policy_of_another_group_is_another_kind() -> None:
    calico = policy("NetworkPolicy", "projectcalico.org/v3", spec={})
    assert words(parse(PARSER, json.dumps(calico))) == {"other_kind": 1}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"spec": []}, "wrong_type: expected object | null, got array at $.spec"),
        ({"spec": {"policyTypes": "Egress"}},
         "wrong_type: expected array | null, got str at $.spec.policyTypes"),
        ({"metadata": {"namespace": "ml"}}, "no_name: expected $.metadata.name, got none"),
        ({"metadata": {"name": "a"}}, "no_namespace: expected $.metadata.namespace, got none"),
    ],
)  # fmt: skip
def test_a_broken_policy_is_refused(changes: dict[str, object], reason: str) -> None:
    value = policy("NetworkPolicy", "networking.k8s.io/v1", spec={}) | changes
    assert [record.reject for record in parse(PARSER, json.dumps(value))] == [reason]


def test_a_policy_nested_too_deep_is_refused() -> None:
    head_ = '{"kind":"CiliumNetworkPolicy","apiVersion":"cilium.io/v2","metadata":'
    head_ += '{"name":"a","namespace":"ml"},"spec":{"a":'
    for depth in (400, 900, 5_000):
        found = parse(PARSER, head_ + "[" * depth + "]" * depth + "}}")
        assert word(found[0]) in {"accepted", "too_deep"}
        check_each(found)
    assert word(found[0]) == "too_deep"


def test_no_secret_of_a_policy_is_stored() -> None:
    rules = {
        "http": [
            {
                "method": "GET",
                "path": "/v2/.*",
                "headers": [f"X-Any: {SECRET}", f"Other {SECRET}"],
                "headerMatches": [{"name": "X-Any", "value": SECRET, "mismatch": "LOG"}],
            }
        ]
    }
    spec = {
        "endpointSelector": {"matchLabels": {"api_key": SECRET, "app": "train"}},
        "description": f"uses password={SECRET}",
        "egress": [{"toPorts": [{"ports": [{"port": "443"}], "rules": rules}]}],
    }
    row = read_policy(policy("CiliumNetworkPolicy", "cilium.io/v2", spec=spec))
    assert SECRET not in repr(row)
    kept = json.loads(str(row["spec"]))
    http = kept["egress"][0]["toPorts"][0]["rules"]["http"][0]
    assert http["method"] == "GET"
    assert http["path"] == "/v2/.*"
    assert http["headers"] == ["X-Any: ***", "Other: ***"]
    assert http["headerMatches"] == [{"name": "X-Any", "value": "***", "mismatch": "LOG"}]
    assert kept["endpointSelector"]["matchLabels"] == {"api_key": "***", "app": "train"}


def test_a_broken_list_with_secrets_shows_none_of_their_data() -> None:
    value = {
        "kind": "Secret",
        "apiVersion": "v1",
        "metadata": {"name": "db"},
        "data": {"name": "aHVudGVyMg", "status": "hunter2", "reason": "hunter2"},
    }
    text = json.dumps(pod_list(value, kind="List"))[:-2]
    found = parse(PARSER, text)
    assert word(found[0]) == "invalid_json"
    for record in found:
        assert b"hunter2" not in record.raw
        assert b"aHVudGVyMg" not in record.raw
        assert "hunter2" not in repr(record.place)


# -- what must not come out ----------------------------------------------------------------------

SECRET = "planted-hunter2-EXAMPLE"


def secret_pod() -> dict[str, object]:
    """A pod with a secret in every place where one may stand."""
    found = pod(
        metadata__annotations={
            "kubectl.kubernetes.io/last-applied-configuration": f'{{"env":"{SECRET}"}}',
            "operation.polyaxon.com/name": f"train password={SECRET}",
        },
        status__message=f"password={SECRET}",
        status__reason=f"token={SECRET}",
    )
    found["metadata"]["labels"] |= {"api_key": SECRET, "note": f"password={SECRET}"}
    found["metadata"]["managedFields"] = [{"manager": SECRET, "time": "2026-03-10T06:00:00Z"}]
    main = found["spec"]["containers"][0]
    main["env"] = [
        {"name": "DB_PASSWORD", "value": SECRET},
        {"name": "PLAIN", "value": SECRET},
        {"name": "HF_TOKEN", "value": SECRET},
        {"name": "POLYAXON_HOST", "value": f"https://user:{SECRET}@polyaxon.example.com"},
        {"name": "POLYAXON_SANDBOX_TOKEN", "value": SECRET},
        {
            "name": "POLYAXON_CONNECTIONS_CATALOG",
            "value": json.dumps(
                {
                    "connections": [
                        {
                            "name": "data",
                            "kind": "s3",
                            "schema": {"bucket": f"s3://key:{SECRET}@example-data/x?sig={SECRET}"},
                            "env": [{"name": "AWS_SECRET", "value": SECRET}],
                            "annotations": {"a": SECRET},
                        },
                        {
                            "name": "db",
                            "kind": "postgres",
                            "schema": {"url": f"postgres://u:{SECRET}@db.example.com/x"},
                        },
                    ]
                }
            ),
        },
    ]
    main["args"] = [f"--password={SECRET}", SECRET]
    main["command"] = ["sh", "-c", f"curl -u me:{SECRET} https://example.com"]
    main["livenessProbe"] = {"httpGet": {"httpHeaders": [{"name": "A", "value": SECRET}]}}
    init = found["spec"]["initContainers"]
    init.append(
        {
            "name": "polyaxon-init-git-code",
            "command": ["polyaxon", "initializer", "git"],
            "args": [
                f"--url=https://ci:{SECRET}@git.example.com/ml/train.git?token={SECRET}",
                "--revision=9f1c2ab",
                "--connection=code",
                f"--flags={SECRET}",
            ],
        }
    )
    init.append(
        {
            "name": "polyaxon-init-artifacts-data",
            "args": [
                (
                    "polyaxon initializer path --connection-name=data "
                    f"--path-from=s3://example-data/sets/a?X-Amz-Signature={SECRET} --t={SECRET}"
                )
            ],
        }
    )
    status = found["status"]["containerStatuses"][0]
    status["state"]["terminated"]["message"] = f"Authorization: Bearer {SECRET}1"
    status["lastState"] = {"terminated": {"reason": f"secret={SECRET}", "message": SECRET + "="}}
    return found


def test_no_secret_of_a_pod_is_stored() -> None:
    found = parse(PARSER, json.dumps(secret_pod()))
    assert words(found) == {"accepted": 1}
    text = written(found)
    # A bare word in a termination message is no recognisable secret; all others must be gone.
    assert text.replace(repr(SECRET + "="), "").count(SECRET) == 0
    check_rows(found)
    accesses = rows(found, "pod_states")[0]["declared_accesses"]
    assert {a["resource_id"] for a in accesses} >= {
        "git+https://git.example.com/ml/train.git@9f1c2ab",
        "s3://example-data/sets/a",
        "s3://example-data/x",
        "dns://db.example.com:5432",
        "env://HF_TOKEN",
    }


def test_the_excerpt_of_a_refused_pod_shows_no_value_that_may_be_a_secret() -> None:
    broken = secret_pod()
    broken["status"]["phase"] = 5  # type: ignore[index]
    found = parse(PARSER, json.dumps(broken))
    assert word(found[0]) == "wrong_type"
    assert SECRET.encode() not in found[0].raw
    assert found[0].place is not None
    # A reason is shown, and redacted by landing as every text is.
    assert SECRET not in redact(found[0].place.raw.decode())
    assert POD_UID.encode() in found[0].raw


@given(st.integers(0, 2_000))
def test_no_cut_of_a_line_shows_a_value_that_may_be_a_secret(length: int) -> None:
    line = json.dumps({"type": "ADDED", "object": {"spec": secret_pod()["spec"]}})[:length]
    for record in parse(PARSER, line):
        assert record.reject is not None
        assert b"hunter2" not in record.raw
        assert "hunter2" not in repr(record.place)


def test_no_secret_of_an_event_is_stored() -> None:
    changed = event(
        message=f"Failed to pull https://me:{SECRET}@registry.example.com/v2/: token={SECRET}",
        reason=f"password={SECRET}",
    )
    changed["metadata"]["annotations"] = {"a": SECRET}
    found = parse(PARSER, json.dumps(changed))
    assert words(found) == {"accepted": 1}
    assert SECRET not in written(found)


# -- laws ----------------------------------------------------------------------------------------


def test_a_part_of_another_type_is_a_reject_or_another_value_and_never_an_error() -> None:
    objects = (pod(), event(), NODE | {"spec": {"podCIDRs": ["192.0.2.0/24"]}}, SERVICE)
    for value in objects:
        found: list[Parsed] = []
        for changed in mutations(value):
            PARSER.recognise(json.dumps({"type": "ADDED", "object": changed}).encode())
            PARSER.recognise(json.dumps(pod_list(changed, kind="List")).encode())
            records = parse(PARSER, document(pod_list(pod(), changed, pod())))
            assert [word(records[0]), word(records[2])] == ["accepted", "accepted"]
            assert len(records) == 3
            found.append(records[1])
        check_each(found)
        check_rows(found)


@given(st.data())
def test_any_bytes_are_answered(data: st.DataObject) -> None:
    text = json.dumps({"type": "ADDED", "object": pod()}).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    broken = text[:start] + data.draw(st.binary(max_size=6)) + text[end:]
    record = RawRecord("line 1", 0, broken)
    found = parse(PARSER, [record])
    check_each(found)
    check_rows(found)
    PARSER.recognise(broken)


def test_the_same_state_seen_again_later_is_another_record() -> None:
    first = parse(PARSER, document(pod_list(pod())), path_at=instant("08:00:00"))
    again = parse(PARSER, document(pod_list(pod())), path_at=instant("08:00:00"))
    later = parse(PARSER, document(pod_list(pod())), path_at=instant("09:00:00"))
    ids = [rows(found, "pod_states")[0]["record_id"] for found in (first, again, later)]
    assert ids[0] == ids[1] != ids[2]
    newer = parse(PARSER, document(pod_list(pod(metadata__resourceVersion="4712"))))
    assert rows(newer, "pod_states")[0]["record_id"] not in ids


def test_all_rows_of_a_record_share_its_id() -> None:
    found = parse(PARSER, json.dumps(pod()))
    assert len({values["record_id"] for _, values in found[0].rows}) == 1


# -- recognition ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "score", "variant"),
    [
        (pod_list(pod()), 3, "PodList"),
        (pod_list(pod(), kind="List"), 3, "List"),
        ({"apiVersion": "v1", "items": [pod()], "kind": "List"}, 3, "List"),
        ({"apiVersion": "v1", "items": [{"metadata": {"name": "x"}}]}, 2, "List"),
        (pod(), 3, "Pod objects"),
        ([pod()], 3, "Pod objects"),
        ({"type": "MODIFIED", "object": pod()}, 3, "watch events"),
        ({"type": "BOOKMARK", "object": {"kind": "Pod"}}, 3, "watch events"),
        ({"type": "ADDED", "object": {"uuid": "x"}}, 0, ""),
        ({"type": "created", "object": pod()}, 0, ""),
        ({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "metadata": {}}, 0, ""),
        ({"metadata": {"name": "x"}, "reason": "BackOff", "involvedObject": {}}, 0, ""),
        ({"resourceLogs": []}, 0, ""),
        ({"count": 1, "results": [{"uuid": "x", "kind": "job"}]}, 0, ""),
        ({"flow": {"time": "2026-03-10T00:00:00Z"}}, 0, ""),
        ({"items": [1, 2]}, 0, ""),
        ([], 0, ""),
        ("text", 0, ""),
    ],
)
def test_a_head_is_judged_by_its_structure(value: object, score: int, variant: str) -> None:
    for indent in (None, 2):
        found = PARSER.recognise(json.dumps(value, indent=indent).encode())
        assert (found.score, found.variant) == (score, variant)


def test_a_head_cut_inside_a_document_is_recognised() -> None:
    text = json.dumps(pod_list(*[pod()] * 40), indent=1).encode()
    for length in (200, 1_000, 20_000):
        assert PARSER.recognise(text[:length]).score == 3


def test_kubectl_lists_whose_kind_stands_last_are_recognised() -> None:
    value = {"apiVersion": "v1", "items": [dict(sorted(pod().items()))] * 40, "kind": "List"}
    head_ = json.dumps(value, indent=4).encode()[:4_000]
    assert PARSER.recognise(head_).score == 3


# -- real files ----------------------------------------------------------------------------------

COUNTS = {
    # One record per item; no item is broken and none is of another kind.
    "kubernetes/k3s_bundle_2025_pods_default.json": {"accepted": 6},
    "kubernetes/k3s_bundle_2025_events_default.json": {"accepted": 56},
    "kubernetes/troubleshoot_events_message-container-creating-failed-mount.json": {"accepted": 76},
    "kubernetes/troubleshoot_events_message-image-pull-fail.json": {"accepted": 17},
    "kubernetes/troubleshoot_pods_message-container-creating-failed-mount.json": {"accepted": 1},
    "kubernetes/troubleshoot_pods_message-image-pull-fail.json": {"accepted": 1},
    "kubernetes/troubleshoot_pods_message-oomkill-pod.json": {"accepted": 1},
    "kubernetes/troubleshoot_pods_message-pending-node-affinity.json": {"accepted": 1},
    "kubernetes/troubleshoot_pods_message-pending-pod-resources.json": {"accepted": 1},
    # Polyaxon's own resources.
    "polyaxon/k8s_cr_job.json": {"accepted": 1},
    "polyaxon/k8s_cr_matrix_child_job.json": {"accepted": 1},
    "polyaxon/k8s_cr_raycluster.json": {"accepted": 1},
    "polyaxon/k8s_cr_service_sandbox.json": {"accepted": 1},
}


YAML_SAMPLE = "polyaxon/real_pod_metadata_v1.1.8_issue1064.yaml"


@pytest.mark.samples
@pytest.mark.parametrize("name", COUNTS)
def test_real_files_hold_what_was_counted_in_them(samples: Path, name: str) -> None:
    assert PARSER.recognise(head(samples / name)).score == 3
    found = parse_file(PARSER, samples / name)
    assert words(found) == COUNTS[name]
    check_each(found)
    check_rows(found)


@pytest.mark.samples
def test_a_real_file_of_yaml_is_recognised_and_refused_once(samples: Path) -> None:
    path = samples / YAML_SAMPLE
    assert PARSER.recognise(head(path)).score == 2
    found = parse_file(PARSER, path)
    assert found[0].reject is not None
    assert {record.ignore for record in found[1:]} == {"yaml"}


@pytest.mark.samples
def test_real_files_of_other_formats_are_not_recognised(samples: Path) -> None:
    for path in sorted(samples.rglob("*")):
        if path.is_file() and str(path.relative_to(samples)) not in {*COUNTS, YAML_SAMPLE}:
            assert PARSER.recognise(head(path)).score == 0, path.name

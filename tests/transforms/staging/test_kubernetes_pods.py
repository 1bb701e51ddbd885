import json
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.staging.export_text import parse, parse_file, rows, stated, word
from tests.transforms.staging.kubernetes_objects import (
    DIGEST,
    OTHER_RUN,
    POD_UID,
    RUN,
    RUN_LABELS,
    condition,
    document,
    ended,
    instant,
    pod,
    pod_list,
    running,
    stamp,
)
from transforms.staging.kubernetes import PARSER


def state(value: dict[str, Any], **context: Any) -> dict[str, Any]:
    """The pod_states row of a pod in a watch line."""
    found = parse(PARSER, json.dumps({"type": "MODIFIED", "object": value}), **context)
    assert found[0].reject is None, found[0].reject
    return rows(found, "pod_states")[0]


def containers(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The container_states rows of a pod in a watch line."""
    found = parse(PARSER, json.dumps({"type": "MODIFIED", "object": value}))
    assert found[0].reject is None, found[0].reject
    return rows(found, "container_states")


def test_a_finished_pod_of_a_run_is_read_whole() -> None:
    found = state(pod())
    del found["record_id"], found["labels"], found["declared_accesses"]
    assert found == {
        "observed_at": instant("07:00:12"),
        "observed_basis": "record",
        "watch_event": "MODIFIED",
        "namespace": "ml",
        "pod_name": f"plx-operation-{RUN}-x7k2p",
        "pod_uid": POD_UID,
        "node": "ip-10-20-1-11.ec2.internal",
        "addresses": ["192.0.2.7", "2001:db8::7"],
        "host_addresses": ["10.20.1.11"],
        "host_network": False,
        "owner_kind": None,
        "owner_name": None,
        "service_account": "ml-runs",
        "ports": None,
        "phase": "Succeeded",
        "reason": None,
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "True",
                "reason": None,
                "message": None,
                "transition_at": instant("06:00:01"),
            },
            {
                "type": "PodReadyToStartContainers",
                "status": "False",
                "reason": None,
                "message": None,
                "transition_at": instant("07:00:12"),
            },
        ],
        "created_at": instant("06:00:00"),
        "scheduled_at": instant("06:00:01"),
        "start_time_at": instant("06:00:02"),
        "sandbox_ready_at": None,
        "sandbox_ended_at": instant("07:00:12"),
        "first_started_at": instant("06:00:05"),
        "last_finished_at": instant("07:00:10"),
        "deletion_at": None,
        "is_deleted": False,
        "run_uuid": RUN,
        "run_match_kind": "label",
        "run_component": "polyaxon-jobs",
        "run_name": None,
        "run_owner": None,
        "project": None,
        "run_kind": None,
        "replica_type": None,
        "replica_index": None,
        "gpu_count": 2,
        "resource_claims": None,
    }


def test_a_finished_pod_keeps_its_address_beside_the_end_of_its_sandbox() -> None:
    found = state(pod())
    assert found["addresses"] == ["192.0.2.7", "2001:db8::7"]
    assert found["sandbox_ended_at"] == instant("07:00:12")


def test_a_pod_that_only_has_identity_and_creation_is_accepted() -> None:
    bare = {
        "kind": "Pod",
        "metadata": {
            "name": "a", "namespace": "b", "uid": POD_UID, "creationTimestamp": stamp("06:00:00")
        },
    }  # fmt: skip
    assert stated(state(bare), "record_id") == {
        "observed_at": instant("06:00:00"),
        "observed_basis": "record",
        "watch_event": "MODIFIED",
        "namespace": "b",
        "pod_name": "a",
        "pod_uid": POD_UID,
        "host_network": False,
        "created_at": instant("06:00:00"),
        "is_deleted": False,
        "run_match_kind": "none",
        "gpu_count": 0,
    }
    assert containers(bare) == []


def test_optional_fields_of_a_pod_are_read() -> None:
    value = pod(
        metadata__ownerReferences=[
            {"kind": "Other", "name": "not-in-charge"},
            {"kind": "Job", "name": "train", "controller": True},
        ],
        metadata__deletionTimestamp=stamp("07:10:30"),
        metadata__deletionGracePeriodSeconds=30,
        metadata__annotations={
            "operation.polyaxon.com/name": "train-resnet",
            "operation.polyaxon.com/owner": "acme",
            "operation.polyaxon.com/project": "vision",
            "operation.polyaxon.com/kind": "job",
        },
        spec__hostNetwork=True,
        status__hostIPs=[{"ip": "10.20.1.11"}, {"ip": "2001:db8::11"}],
        status__reason="Evicted",
    )
    value["spec"]["containers"][0]["ports"] = [
        {"name": "metrics", "containerPort": 9090},
        {"containerPort": 53, "protocol": "UDP"},
        {"name": "no number"},
    ]
    found = state(value)
    assert found["owner_kind"] == "Job"
    assert found["owner_name"] == "train"
    assert found["deletion_at"] == instant("07:10:30")
    assert found["observed_at"] == instant("07:10:00")
    assert found["host_network"] is True
    assert found["host_addresses"] == ["10.20.1.11", "2001:db8::11"]
    assert found["reason"] == "Evicted"
    assert [found[key] for key in ("run_name", "run_owner", "project", "run_kind")] == [
        "train-resnet", "acme", "vision", "job",
    ]  # fmt: skip
    assert found["ports"] == [
        {
            "name": "metrics", "port": 9090, "target_port": None, "protocol": "TCP",
            "container": "polyaxon-main",
        },
        {
            "name": None, "port": 53, "target_port": None, "protocol": "UDP",
            "container": "polyaxon-main",
        },
    ]  # fmt: skip


def test_labels_are_pairs_in_the_order_of_their_names() -> None:
    found = state(pod(metadata__labels={"b": "2", "a": "1"}))
    assert found["labels"] == [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]


def test_an_old_service_account_field_and_a_single_address_are_used() -> None:
    value = pod(spec__serviceAccountName=None, spec__serviceAccount="old", status__podIPs=None)
    found = state(value)
    assert found["service_account"] == "old"
    assert found["addresses"] == ["192.0.2.7"]


def test_an_empty_address_is_no_address() -> None:
    assert state(pod(status__podIPs=[], status__podIP=""))["addresses"] is None


# -- time ----------------------------------------------------------------------------------------


def test_a_list_stands_for_the_time_in_its_path_or_the_newest_time_it_states() -> None:
    listed = document(pod_list(pod()))
    found = rows(parse(PARSER, listed, path_at=instant("23:00:00")), "pod_states")[0]
    assert (found["observed_at"], found["observed_basis"]) == (instant("23:00:00"), "path")
    found = rows(parse(PARSER, listed, path_at=instant("00:00:00")), "pod_states")[0]
    assert (found["observed_at"], found["observed_basis"]) == (instant("07:00:12"), "record")


def test_a_list_without_a_time_in_its_path_stands_for_the_end_of_its_landing_day() -> None:
    found = rows(parse(PARSER, document(pod_list(pod()))), "pod_states")[0]
    assert found["observed_at"] == instant("2026-03-11 00:00:00")
    assert found["observed_basis"] == "landing_day"


def test_times_written_by_managers_prove_that_the_pod_was_there() -> None:
    value = pod(metadata__managedFields=[{"time": stamp("09:00:00")}, {"manager": "kubelet"}])
    assert state(value)["observed_at"] == instant("09:00:00")


def test_go_s_zero_time_is_no_time() -> None:
    found = state(pod(status__startTime="0001-01-01T00:00:00Z"))
    assert found["start_time_at"] is None


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("metadata__creationTimestamp", ".metadata.creationTimestamp"),
        ("metadata__deletionTimestamp", ".metadata.deletionTimestamp"),
        ("status__startTime", ".status.startTime"),
    ],
)
def test_a_wrong_time_is_a_reject_that_names_its_place(place: str, path: str) -> None:
    found = parse(PARSER, json.dumps(pod(**{place: "yesterday"})))
    assert found[0].reject == (f"wrong_time: expected an RFC 3339 time, got other text at ${path}")


def test_a_wrong_time_of_a_container_names_its_status() -> None:
    value = pod()
    value["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] = "soon"
    found = parse(PARSER, document(pod_list(value)))
    assert found[0].reject == (
        "wrong_time: expected an RFC 3339 time, got other text at "
        "$.items[0].status.containerStatuses[0].state.terminated.finishedAt"
    )


def test_a_wrong_address_is_a_reject() -> None:
    found = parse(PARSER, json.dumps(pod(status__podIP="ten")))
    assert found[0].reject == (
        "wrong_address: expected an IP address, got other text at $.status.podIPs"
    )


# -- the sandbox and the end ---------------------------------------------------------------------


def test_a_sandbox_that_became_ready_is_not_ended() -> None:
    found = state(
        pod(
            status__phase="Running",
            status__conditions=[condition("PodReadyToStartContainers", "True", "06:00:04")],
        )
    )
    assert found["sandbox_ready_at"] == instant("06:00:04")
    assert found["sandbox_ended_at"] is None


def test_a_sandbox_that_is_not_ready_yet_has_not_ended() -> None:
    found = state(
        pod(
            status__phase="Pending",
            status__conditions=[condition("PodReadyToStartContainers", "False", "06:00:02")],
            status__initContainerStatuses=None,
            status__containerStatuses=None,
        )
    )
    assert found["sandbox_ready_at"] is None
    assert found["sandbox_ended_at"] is None


def test_a_condition_that_is_false_gives_no_time_of_becoming_true() -> None:
    found = state(pod(status__conditions=[condition("PodScheduled", "False", "06:00:01")]))
    assert found["scheduled_at"] is None


def test_the_end_is_unknown_while_a_container_runs() -> None:
    found = state(
        pod(
            status__phase="Running",
            status__containerStatuses=[running("polyaxon-main", "06:00:20")],
        )
    )
    assert found["first_started_at"] == instant("06:00:05")
    assert found["last_finished_at"] is None


def test_a_container_that_may_start_again_leaves_the_end_unknown() -> None:
    """A snapshot between two restarts shows all containers terminated."""
    between = pod(spec__restartPolicy="Always", status__phase="Running")
    assert state(between)["last_finished_at"] is None
    never = pod(spec__restartPolicy="Never", status__phase="Running")
    assert state(never)["last_finished_at"] == instant("07:00:10")


def test_a_failed_init_container_ends_the_pod_whose_main_container_never_began() -> None:
    found = state(
        pod(
            status__phase="Failed",
            status__initContainerStatuses=[ended("polyaxon-init-auth", "06:00:05", "06:00:09", 1)],
            status__containerStatuses=[
                {"name": "polyaxon-main", "state": {"waiting": {"reason": "PodInitializing"}}}
            ],
        )
    )
    assert found["last_finished_at"] == instant("06:00:09")


def test_a_lost_node_s_pod_that_is_said_to_run_has_no_known_end() -> None:
    found = state(
        pod(
            status__phase="Failed",
            status__containerStatuses=[running("polyaxon-main", "06:00:20")],
        )
    )
    assert found["last_finished_at"] is None


def test_a_deleted_pod_ended_when_its_containers_did() -> None:
    value = pod(spec__restartPolicy="Always", status__phase="Running")
    found = parse(PARSER, json.dumps({"type": "DELETED", "object": value}))
    assert rows(found, "pod_states")[0]["last_finished_at"] == instant("07:00:10")


# -- the run -------------------------------------------------------------------------------------


def test_a_pod_of_no_run_names_none_and_takes_no_project_from_the_path() -> None:
    value = pod(metadata__labels={"app": "agent"}, metadata__name="agent-1")
    found = state(value, project="vision")
    assert (found["run_uuid"], found["run_match_kind"]) == (None, "none")
    assert found["project"] is None


def test_a_pod_of_a_run_takes_the_project_of_the_path_where_no_annotation_names_it() -> None:
    assert state(pod(), project="vision")["project"] == "vision"


def test_contradicting_evidence_names_no_run() -> None:
    value = pod(metadata__labels=RUN_LABELS | {"operation.polyaxon.com/uuid": OTHER_RUN})
    found = state(value)
    assert (found["run_uuid"], found["run_match_kind"]) == (None, "conflict")


def test_the_environment_names_the_run_and_is_not_stored() -> None:
    value = pod(metadata__labels={}, metadata__name="renamed")
    value["spec"]["containers"][0]["env"] = [
        {"name": "POLYAXON_RUN_INSTANCE", "value": f"acme.vision.runs.{RUN}"}
    ]
    found = state(value)
    assert (found["run_uuid"], found["run_match_kind"]) == (RUN, "environment")
    assert "acme.vision.runs" not in repr(found)


def test_a_cleaner_keeps_its_component_so_that_its_traffic_can_be_told_apart() -> None:
    labels = RUN_LABELS | {"app.kubernetes.io/component": "polyaxon-cleaners"}
    assert state(pod(metadata__labels=labels))["run_component"] == "polyaxon-cleaners"
    named = state(pod(metadata__labels={}, metadata__name=f"plx-cleaner-{RUN}-abcde"))
    assert named["run_component"] == "polyaxon-cleaners"
    assert (named["run_uuid"], named["run_match_kind"]) == (RUN, "name")


def test_a_replica_of_a_distributed_run_is_told_by_its_labels() -> None:
    labels = RUN_LABELS | {
        "training.kubeflow.org/replica-type": "worker",
        "training.kubeflow.org/replica-index": "1",
    }
    found = state(pod(metadata__labels=labels))
    assert (found["replica_type"], found["replica_index"]) == ("worker", "1")


# -- containers ----------------------------------------------------------------------------------


def test_a_container_that_ended_is_read_whole() -> None:
    found = containers(pod())[1]
    assert stated(found, "record_id") == {
        "observed_at": instant("07:00:12"),
        "namespace": "ml",
        "pod_name": f"plx-operation-{RUN}-x7k2p",
        "pod_uid": POD_UID,
        "node": "ip-10-20-1-11.ec2.internal",
        "container": "polyaxon-main",
        "container_role": "main",
        "ordinal": 0,
        "image": "registry.example.com/ml/train:1.4",
        "image_digest": DIGEST,
        "container_id": "c0" * 32,
        "state": "terminated",
        "reason": "Completed",
        "exit_code": 0,
        "started_at": instant("06:00:20"),
        "finished_at": instant("07:00:10"),
        "restart_count": 0,
        "limits": [{"name": "nvidia.com/gpu", "value": "2"}],
    }


def test_a_container_that_waits_after_a_crash_keeps_its_last_run() -> None:
    last = ended("polyaxon-main", "06:05:00", "06:06:00", 137)["state"]
    last["terminated"]["reason"] = "OOMKilled"
    found = containers(
        pod(
            status__phase="Running",
            status__containerStatuses=[
                {
                    "name": "polyaxon-main",
                    "restartCount": 4,
                    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
                    "lastState": last,
                }
            ],
        )
    )[1]
    assert stated(found, "record_id", "observed_at", "limits") | {"exit_code": None} == {
        "namespace": "ml",
        "pod_name": f"plx-operation-{RUN}-x7k2p",
        "pod_uid": POD_UID,
        "node": "ip-10-20-1-11.ec2.internal",
        "container": "polyaxon-main",
        "container_role": "main",
        "ordinal": 0,
        "image": "registry.example.com/ml/train:1.4",
        "state": "waiting",
        "reason": "CrashLoopBackOff",
        "message": "back-off 40s",
        "exit_code": None,
        "restart_count": 4,
        "last_reason": "OOMKilled",
        "last_exit_code": 137,
        "last_started_at": instant("06:05:00"),
        "last_finished_at": instant("06:06:00"),
    }


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"running": {"startedAt": "2026-03-10T06:00:20Z"}}, "running"),
        ({"running": {}}, "running"),
        ({"waiting": {}}, "waiting"),
        ({"terminated": {}}, "terminated"),
        ({}, "unknown"),
        (None, "unknown"),
    ],
)
def test_the_state_of_a_container_is_named(said: Any, expected: str) -> None:
    found = containers(pod(status__containerStatuses=[{"name": "polyaxon-main", "state": said}]))[1]
    assert found["state"] == expected


def test_a_container_without_a_status_is_unknown_and_one_without_a_spec_is_kept() -> None:
    found = containers(
        pod(
            status__initContainerStatuses=None,
            status__containerStatuses=[running("injected", "06:00:20")],
        )
    )
    assert [(c["container"], c["state"], c["container_role"]) for c in found] == [
        ("polyaxon-init-auth", "unknown", "init"),
        ("polyaxon-main", "unknown", "main"),
        ("injected", "running", "sidecar"),
    ]


@pytest.mark.parametrize(
    ("image_id", "digest"),
    [
        (f"registry.example.com/ml/train@{DIGEST}", DIGEST),
        (f"docker-pullable://registry.example.com/ml/train@{DIGEST}", DIGEST),
        # The id of a configuration in the node's store is not what was pulled.
        (DIGEST, None),
        (f"docker://{DIGEST}", None),
        ("", None),
        ("registry.example.com/ml/train@sha256:short", None),
    ],
)
def test_the_digest_is_what_was_pulled(image_id: str, digest: str | None) -> None:
    status = running("polyaxon-main", "06:00:20") | {"imageID": image_id}
    assert containers(pod(status__containerStatuses=[status]))[1]["image_digest"] == digest


def roles(**spec: Any) -> list[tuple[str, str, int]]:
    value = pod(spec=spec, status={})
    return [(c["container"], c["container_role"], c["ordinal"]) for c in containers(value)]


def test_roles_follow_the_lists_and_the_names_that_polyaxon_gives() -> None:
    assert roles(
        initContainers=[{"name": "fetch"}, {"name": "proxy", "restartPolicy": "Always"}],
        containers=[{"name": "polyaxon-main"}, {"name": "polyaxon-sidecar"}, {"name": "board"}],
        ephemeralContainers=[{"name": "debug"}],
    ) == [
        ("fetch", "init", 0),
        ("proxy", "sidecar", 1),
        ("polyaxon-main", "main", 0),
        ("polyaxon-sidecar", "sidecar", 1),
        ("board", "sidecar", 2),
        ("debug", "ephemeral", 0),
    ]


@pytest.mark.parametrize("name", ["pytorch", "tensorflow"])
def test_operators_name_the_main_container_after_the_framework(name: str) -> None:
    assert roles(containers=[{"name": "helper"}, {"name": name}]) == [
        ("helper", "sidecar", 0), (name, "main", 1),
    ]  # fmt: skip


def test_without_a_known_name_all_containers_but_polyaxon_s_sidecar_are_main() -> None:
    assert roles(containers=[{"name": "a"}, {"name": "b"}, {"name": "polyaxon-sidecar"}]) == [
        ("a", "main", 0), ("b", "main", 1), ("polyaxon-sidecar", "sidecar", 2),
    ]  # fmt: skip


def test_the_annotation_of_the_default_container_names_the_main_one() -> None:
    value = pod(
        metadata__annotations={"kubectl.kubernetes.io/default-container": "b"},
        spec={"containers": [{"name": "a"}, {"name": "b"}]},
        status={},
    )
    assert [c["container_role"] for c in containers(value)] == ["sidecar", "main"]


def test_resources_are_pairs_of_text() -> None:
    found = containers(
        pod(
            spec={
                "containers": [
                    {
                        "name": "polyaxon-main",
                        "resources": {
                            "requests": {"memory": "32Gi", "cpu": 0.5},
                            "limits": {"nvidia.com/gpu": 2},
                        },
                    }
                ]
            },
            status={},
        )
    )[0]
    assert found["requests"] == [
        {"name": "cpu", "value": "0.5"}, {"name": "memory", "value": "32Gi"},
    ]  # fmt: skip
    assert found["limits"] == [{"name": "nvidia.com/gpu", "value": "2"}]


def test_a_restartable_init_container_counts_with_the_containers() -> None:
    gpu = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    value = pod(
        spec={
            "initContainers": [
                {"name": "proxy", "restartPolicy": "Always", **gpu},
                {"name": "fetch", "resources": {"limits": {"nvidia.com/gpu": "4"}}},
            ],
            "containers": [{"name": "polyaxon-main", **gpu}],
        },
        status={},
    )
    assert state(value)["gpu_count"] == 5


def test_a_pod_names_its_claims_and_what_they_hold_is_not_in_its_own_gpus() -> None:
    other = {"name": "proxy", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    spec = {
        "resourceClaims": [
            {"name": "gpus", "resourceClaimTemplateName": "one-h100"},
            {"name": "late", "resourceClaimTemplateName": "one-h100"},
            {"name": "shared", "resourceClaimName": "all-of-node"},
        ],
        "containers": [
            {"name": "polyaxon-main", "resources": {"claims": [{"name": "gpus"}]}},
            other,
        ],
    }
    made = {"name": "gpus", "resourceClaimName": "train-gpus-x7k2f"}
    found = state(pod(spec=spec, status={"resourceClaimStatuses": [made, {"name": "late"}]}))
    assert found["gpu_count"] == 1
    assert found["resource_claims"] == [
        {"name": "gpus", "claim": "train-gpus-x7k2f", "template": "one-h100"},
        {"name": "late", "claim": None, "template": "one-h100"},
        {"name": "shared", "claim": "all-of-node", "template": None},
    ]
    without = {"containers": [{"name": "polyaxon-main", "resources": {"claims": []}}, other]}
    assert state(pod(spec=without, status={}))["resource_claims"] is None


def test_a_number_of_gpus_that_is_no_number_is_a_reject() -> None:
    value = pod()
    value["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "500m"}}
    assert word(parse(PARSER, json.dumps(value))[0]) == "wrong_quantity"


# -- real files ----------------------------------------------------------------------------------


@pytest.mark.samples
def test_a_real_pod_that_restarts_is_read_as_it_stands_in_the_file(samples: Path) -> None:
    found = parse_file(PARSER, samples / "kubernetes" / "k3s_bundle_2025_pods_default.json")
    first = rows(found, "pod_states")[0]
    assert first["pod_name"] == "backend-api-75fb46b7bd-xtkrh"
    assert first["pod_uid"] == "0f6b8526-3587-433e-91fd-1d10ead72f88"
    assert (first["owner_kind"], first["owner_name"]) == ("ReplicaSet", "backend-api-75fb46b7bd")
    assert first["addresses"] == ["10.42.0.16"]
    assert first["created_at"] == instant("2025-09-11 20:50:19")
    assert first["sandbox_ready_at"] == instant("2025-09-11 20:50:20")
    assert first["last_finished_at"] is None
    assert first["run_match_kind"] == "none"
    container = rows(found, "container_states")[0]
    assert container["state"] == "waiting"
    assert container["reason"] == "CrashLoopBackOff"
    assert container["restart_count"] == 5
    assert container["last_exit_code"] == 1
    assert container["image_digest"] == (
        "sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1"
    )
    unscheduled = rows(found, "pod_states")[2]
    assert unscheduled["node"] is None
    assert unscheduled["scheduled_at"] is None
    assert unscheduled["addresses"] is None


@pytest.mark.samples
def test_a_real_pod_that_was_killed_ended_when_its_container_did(samples: Path) -> None:
    path = samples / "kubernetes" / "troubleshoot_pods_message-oomkill-pod.json"
    found = parse_file(PARSER, path)
    killed = rows(found, "pod_states")[0]
    assert killed["phase"] == "Failed"
    assert killed["last_finished_at"] == instant("2023-07-11 04:43:25")
    container = rows(found, "container_states")[0]
    assert (container["exit_code"], container["reason"]) == (137, "OOMKilled")
    assert container["image_digest"] == (
        "sha256:b99901aacc6c87f86a767b3a0b02cdc926aae62bb4a5e7361d895f26f4773562"
    )
    assert container["container_id"].startswith("84d3d308bb9a")


@pytest.mark.samples
def test_a_real_pod_that_cannot_be_placed_asks_for_five_gpus(samples: Path) -> None:
    path = samples / "kubernetes" / "troubleshoot_pods_message-pending-pod-resources.json"
    assert rows(parse_file(PARSER, path), "pod_states")[0]["gpu_count"] == 5


@pytest.mark.samples
def test_the_containers_of_a_real_pod_keep_their_order_and_roles(samples: Path) -> None:
    path = samples / "kubernetes" / "troubleshoot_pods_message-pending-node-affinity.json"
    found = rows(parse_file(PARSER, path), "container_states")
    assert [(c["container"], c["container_role"], c["ordinal"]) for c in found] == [
        ("schemahero-plan", "init", 0),
        ("schemahero-apply", "init", 1),
        ("restore-db", "init", 2),
        ("restore-s3", "init", 3),
        ("kotsadm", "main", 0),
    ]

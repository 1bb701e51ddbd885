"""Custom resources of runs."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.canaries.planter import Planter
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
    document,
    instant,
    mutations,
    pod,
    pod_list,
)
from tests.transforms.staging.polyaxon_answers import (
    RUN,
    TEMPLATE,
    condition,
    container,
    resource,
)
from transforms.staging.kubernetes import PARSER as KUBERNETES
from transforms.staging.parser import Parsed
from transforms.staging.polyaxon import PARSER
from transforms.staging.polyaxon_resources import is_operation

OTHER = "11111111111141118111111111111111"
SECRET = "planted-hunter2-EXAMPLE"


def metadata(**changes: Any) -> dict[str, Any]:
    """Metadata of the resource, changed."""
    return resource()["metadata"] | changes


def parsed(value: dict[str, Any], **context: Any) -> list[Parsed]:
    found = parse(PARSER, document(value), **context)
    assert found[0].reject is None, found[0].reject
    check_each(found)
    check_rows(found)
    return found


def version(value: dict[str, Any], **context: Any) -> dict[str, Any]:
    return rows(parsed(value, **context), "run_versions")[0]


def test_a_resource_is_a_version_of_its_run() -> None:
    assert stated(version(resource()), "record_id", "declared_accesses") == {
        "observed_at": instant("2026-03-11 00:00:00"),
        "observed_basis": "landing_day",
        "view": "resource",
        "run_uuid": RUN,
        "name": "train-resnet",
        "kind": "job",
        "runtime": "job",
        "status": "running",
        "project": "vision",
        "run_owner": "acme",
        "created_at": instant("06:00:04"),
        "updated_at": instant("06:03:35"),
        "started_at": instant("06:00:05"),
        "namespace": "ml",
        "artifacts_store": "store",
        "images": [
            "polyaxon/polyaxon-init:2.18.0",
            "polyaxon/polyaxon-sidecar:2.18.0",
            "registry.example.com/ml/train:1.4",
        ],
        "replicas": 1,
        "gpu_count": 2,
        "max_retries": 3,
        "code_url": "https://git.example.com/ml/train.git",
        "code_revision": "9f1c2ab",
    }


def test_its_pods_declare_what_they_use() -> None:
    found = version(resource())["declared_accesses"]
    assert [(a["component"], a["resource_id"], a["operation"], a["credential"]) for a in found] == [
        (None, "kube://alder/ml/persistentvolumeclaims/scratch", "connect", None),
        ("polyaxon-init-git-code-0123456789",
         "git+https://git.example.com/ml/train.git@9f1c2ab", "clone", None),
        ("polyaxon-init-git-code-0123456789", "oci://docker.io/polyaxon/polyaxon-init:2.18.0",
         "pull", "pull-keys"),
        ("polyaxon-main", "oci://registry.example.com/ml/train:1.4", "pull", "pull-keys"),
        ("polyaxon-main", "env://HF_TOKEN", "connect", "hub"),
        ("polyaxon-sidecar", "oci://docker.io/polyaxon/polyaxon-sidecar:2.18.0", "pull",
         "pull-keys"),
    ]  # fmt: skip


def test_its_conditions_are_statuses_in_the_words_of_the_api() -> None:
    found = parsed(resource())
    version_id = rows(found, "run_versions")[0]["record_id"]
    assert [stated(row) for row in rows(found, "run_statuses")] == [
        {
            "record_id": version_id,
            "event_at": instant("06:00:05"),
            "run_uuid": RUN,
            "status": "starting",
            "reason": "OperatorController",
            "message": "Operation is starting",
            "transition_at": instant("06:00:05"),
            "ordinal": 0,
        },
        {
            # The operator repeats the first transition time; the update is the time.
            "record_id": version_id,
            "event_at": instant("06:03:35"),
            "run_uuid": RUN,
            "status": "running",
            "reason": "OperatorController",
            "message": "Operation is running",
            "transition_at": instant("06:00:05"),
            "ordinal": 1,
        },
    ]


def test_a_condition_that_does_not_hold_was_not_reached() -> None:
    failed = condition("Failed", "2026-03-10T06:04:00Z", status="False")
    status = {"conditions": [condition("Running", "2026-03-10T06:03:35Z"), failed]}
    found = parsed(resource(status=status))
    assert [r["status"] for r in rows(found, "run_statuses")] == ["running"]
    assert rows(found, "run_versions")[0]["status"] == "running"


def test_an_unknown_status_stays_a_word_and_no_status_is_none() -> None:
    status = {"conditions": [condition("Hibernating", None)]}
    found = version(resource(status=status))
    assert (found["status"], found["updated_at"]) == ("hibernating", None)
    for nothing in (None, {}, {"conditions": None}):
        found = version(resource(status=nothing))
        assert (found["status"], found["started_at"]) == (None, None)


def test_a_run_that_is_over_keeps_its_own_time() -> None:
    status = {"conditions": [condition("Succeeded", "2026-03-10T07:00:12Z")],
              "completionTime": "2026-03-10T07:00:13Z"}  # fmt: skip
    found = version(resource(status=status), path_at=instant("09:00:00"))
    assert (found["status"], found["finished_at"], found["updated_at"]) == (
        "succeeded", instant("07:00:13"), instant("07:00:13"),
    )  # fmt: skip
    assert (found["observed_at"], found["observed_basis"]) == (instant("07:00:13"), "record")


def test_a_watch_line_was_written_when_it_changed() -> None:
    line = json.dumps({"type": "MODIFIED", "object": resource()})
    found = parse(PARSER, line)
    assert [record.locator for record in found] == ["line 1"]
    row = rows(found, "run_versions")[0]
    assert (row["observed_at"], row["observed_basis"]) == (instant("06:03:40"), "record")
    bookmark = json.dumps({"type": "BOOKMARK", "object": resource()})
    assert [record.ignore for record in parse(PARSER, bookmark)] == ["other_kind"]


def test_lists_of_resources_are_read_and_other_kinds_left_out() -> None:
    found = parse(PARSER, document(pod_list(resource(), pod(), resource(), kind="List")))
    assert [(record.locator, word(record)) for record in found] == [
        ("$.items[0]", "accepted"), ("$.items[1]", "other_kind"), ("$.items[2]", "accepted"),
    ]  # fmt: skip


def test_a_list_of_pods_and_resources_loses_neither() -> None:
    items = pod_list(resource(), pod(), resource(kind="Job", apiVersion="batch/v1"), kind="List")
    found = parse(KUBERNETES, document(items))
    assert [word(record) for record in found] == ["accepted", "accepted", "other_kind"]
    assert [table for table, _ in found[0].rows] == ["run_versions", "run_statuses", "run_statuses"]
    assert found[1].rows[0][0] == "pod_states"
    check_each(found)
    check_rows(found)
    alone = parse(PARSER, document(resource()))
    assert found[0].rows == alone[0].rows
    assert KUBERNETES.recognise(json.dumps(items).encode()).score == 3
    seen = parse(KUBERNETES, json.dumps({"type": "DELETED", "object": resource()}))
    assert rows(seen, "run_versions")[0]["observed_at"] == instant("06:03:40")


def test_the_operation_of_earlier_versions_is_read_alike() -> None:
    labels = {"app.kubernetes.io/instance": RUN, "app.kubernetes.io/managed-by": "polyaxon"}
    old = resource(
        apiVersion="core.polyaxon.com/v1",
        kind="Operation",
        metadata=metadata(labels=labels, annotations=None),
    )
    found = version(old, project="speech")
    assert (found["run_uuid"], found["kind"], found["runtime"]) == (RUN, "job", "job")
    assert (found["name"], found["run_owner"], found["project"]) == (None, None, "speech")


def replica(count: int | None, gpus: int, image: str = "example.com/ml/t:1") -> dict[str, Any]:
    main = container("pytorch", image, resources={"limits": {"nvidia.com/gpu": gpus}})
    return {"replicas": count, "template": {"spec": {"containers": [main]}}}


CLAIMING = {
    "spec": {
        "containers": [container("main", "a/b:1", resources={"claims": [{"name": "gpus"}]})],
    }
}


@pytest.mark.parametrize(
    ("spec", "work", "expected"),
    [
        ("pytorchJobSpec", {"replicaSpecs": {"Master": replica(1, 8), "Worker": replica(3, 8)}},
         ("job", "pytorchjob", 4, 8)),
        ("tfJobSpec", {"replicaSpecs": {"Chief": replica(None, 4), "PS": replica(2, 0)}},
         ("job", "tfjob", 3, None)),
        ("mpiJobSpec", {"replicaSpecs": {"Launcher": replica(1, 0)}}, ("job", "mpijob", 1, 0)),
        ("mxJobSpec", {"replicaSpecs": {}}, ("job", "mxjob", None, None)),
        ("xgboostJobSpec", {"replicaSpecs": {"Worker": replica(2, 1)}}, ("job", "xgbjob", 2, 1)),
        ("paddleJobSpec", {"replicaSpecs": {"Worker": replica(2, 1)}},
         ("job", "paddlejob", 2, 1)),
        ("rayClusterSpec", {"head": replica(None, 1), "workers": [replica(2, 1), replica(3, 1)]},
         ("service", "raycluster", 6, 1)),
        ("rayJobSpec", {"head": replica(1, 1), "workers": None}, ("job", "rayjob", 1, 1)),
        ("daskClusterSpec", {"replicaSpecs": {"Scheduler": replica(1, 0)}, "service": {}},
         ("service", "daskcluster", 1, 0)),
        ("daskJobSpec", {"replicaSpecs": {"Job": replica(1, 0)}}, ("job", "daskjob", 1, 0)),
        ("serviceSpec", {"replicas": 2, "ports": [80], "template": TEMPLATE},
         ("service", "service", 2, 2)),
        ("serviceSpec", {"template": CLAIMING}, ("service", "service", 1, None)),
        ("futureSpec", {"template": TEMPLATE}, (None, None, None, None)),
    ],
)  # fmt: skip
def test_the_kind_of_work_tells_kind_runtime_replicas_and_gpus(
    spec: str, work: Any, expected: tuple[Any, ...]
) -> None:
    value = resource(metadata=metadata(annotations={}), **{spec: work})
    del value["batchJobSpec"]
    found = version(value)
    assert (found["kind"], found["runtime"], found["replicas"], found["gpu_count"]) == expected


def test_the_annotation_names_the_runtime_within_a_batch_job() -> None:
    found = version(
        resource(metadata=metadata(annotations={"operation.polyaxon.com/kind": "tuner"}))
    )
    assert (found["kind"], found["runtime"]) == ("job", "tuner")


def test_annotations_and_labels_of_the_pods_stand_in() -> None:
    template = copy.deepcopy(TEMPLATE)
    template["metadata"]["annotations"] = {"operation.polyaxon.com/project": "speech"}
    template["metadata"]["labels"] = {"operation.polyaxon.com/uuid": RUN}
    value = resource(metadata={"name": "renamed"}, batchJobSpec={"template": template})
    found = version(value)
    assert (found["run_uuid"], found["project"], found["created_at"]) == (RUN, "speech", None)


def test_a_name_alone_names_the_run() -> None:
    value = {"apiVersion": "polyaxon.com/v1", "kind": "KfJob",
             "metadata": {"name": f"plx-operation-{OTHER}"}}  # fmt: skip
    assert stated(version(value), "record_id", "observed_at", "observed_basis") == {
        "view": "resource", "run_uuid": OTHER,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"metadata": {"name": "a"}, "batchJobSpec": None},
         "no_uuid: expected one run's labels and name, got none at $.metadata"),
        ({"metadata": {"name": f"plx-operation-{OTHER}"}},
         "no_uuid: expected one run's labels and name, got several at $.metadata"),
        ({"metadata": {}}, "no_name: expected $.metadata.name, got none"),
        ({"status": {"conditions": [{"status": "True"}]}},
         "no_status: expected $.status.conditions[0].type, got none"),
        ({"status": {"startTime": "noon"}},
         "wrong_time: expected an RFC 3339 time, got other text at $.status.startTime"),
        ({"batchJobSpec": []}, "wrong_type: expected object | null, got array at $.batchJobSpec"),
        ({"termination": {"backoffLimit": "3"}},
         "wrong_type: expected int | null, got str at $.termination.backoffLimit"),
    ],
)  # fmt: skip
def test_a_broken_resource_is_refused(changes: Any, reason: str) -> None:
    found = parse(PARSER, document(resource(**changes)))
    assert [record.reject for record in found] == [reason]


@pytest.mark.parametrize(
    ("name", "component", "reason"),
    [
        (f"plx-cleaner-{RUN}", "polyaxon-jobs", "cleaner"),
        (f"plx-operation-{RUN}", "polyaxon-cleaners", "cleaner"),
        (f"plx-notifier-{RUN}", "polyaxon-notifiers", "other_kind"),
        (f"plx-watchdog-{RUN}", "polyaxon-jobs", "other_kind"),
    ],
)
def test_what_works_for_a_run_is_no_run(name: str, component: str, reason: str) -> None:
    labels = metadata()["labels"] | {"app.kubernetes.io/component": component}
    value = resource(metadata=metadata(name=name, labels=labels))
    assert [record.ignore for record in parse(PARSER, document(value))] == [reason]


@pytest.mark.parametrize(
    ("kind", "group", "is_one"),
    [
        ("Operation", "core.polyaxon.com/v1", True),
        ("Job", "polyaxon.com/v1", True),
        ("Service", "polyaxon.com/v1beta1", True),
        ("KfJob", "polyaxon.com/v1", True),
        ("Cluster", "polyaxon.com/v1", True),
        ("Job", "batch/v1", False),
        ("Service", "v1", False),
        ("Cluster", "cluster.example.com/v1", False),
        ("Job", "polyaxon.com.example.com/v1", False),
        ("Agent", "polyaxon.com/v1", False),
        (None, None, False),
    ],
)
def test_kind_and_group_together_tell_a_resource(
    kind: str | None, group: str | None, is_one: bool
) -> None:
    assert is_operation(kind, group) is is_one


def test_a_listing_of_a_later_day_is_another_record_and_a_repeated_one_is_not() -> None:
    ids = {
        version(resource(), path_at=at)["record_id"]
        for at in (instant("07:00:00"), instant("07:00:00"), instant("08:00:00"))
    }
    assert len(ids) == 2


# -- what must not come out ----------------------------------------------------------------------


def secret_resource() -> dict[str, Any]:
    """A resource with a secret in every place where one may stand."""
    template = copy.deepcopy(TEMPLATE)
    init, main = template["spec"]["initContainers"][0], template["spec"]["containers"][0]
    init["args"][0] = f"--url=https://ci:{SECRET}@git.example.com/ml/train.git?t={SECRET}"
    main["args"] = [f"--token={SECRET}", SECRET]
    main["command"] = ["sh", "-c", f"TOKEN={SECRET} python train.py"]
    catalogue = {
        "connections": [
            {"name": "db", "kind": "postgres",
             "schema": {"url": f"postgres://u:{SECRET}@db.example.com/x?password={SECRET}"},
             "secret": {"name": "db-keys"}, "env": {"name": "A", "value": SECRET}}
        ]
    }  # fmt: skip
    main["env"] += [
        {"name": "POLYAXON_SANDBOX_TOKEN", "value": SECRET},
        {"name": "WANDB_API_KEY", "value": SECRET},
        {"name": "POLYAXON_CONNECTIONS_CATALOG", "value": json.dumps(catalogue)},
    ]
    annotations = metadata()["annotations"] | {
        "kubectl.kubernetes.io/last-applied-configuration": SECRET,
        "operation.polyaxon.com/name": f"password={SECRET}",
    }
    return resource(
        metadata=metadata(annotations=annotations, labels=metadata()["labels"] | {"a": SECRET}),
        batchJobSpec={"template": template},
        notifications=[{"connections": [SECRET]}],
        status={"conditions": [condition("Failed", None, message=f"token={SECRET} refused")]},
    )


def test_no_secret_of_a_resource_is_stored() -> None:
    found = parsed(secret_resource())
    assert SECRET not in written(found)
    declared = {a["resource_id"] for a in rows(found, "run_versions")[0]["declared_accesses"]}
    assert {"dns://db.example.com:5432", "env://WANDB_API_KEY"} <= declared
    refused = parse(PARSER, document(secret_resource() | {"status": 5}))
    assert word(refused[0]) == "wrong_type"
    assert SECRET.encode() not in refused[0].raw


def test_no_credential_of_any_shape_is_a_status_or_another_word() -> None:
    planter = Planter()
    for text in planter.of_every_shape("resource"):
        said = condition(text, None, reason=text, message=text)
        named = dict.fromkeys(("operation.polyaxon.com/name", "operation.polyaxon.com/kind"), text)
        found = parse(
            PARSER,
            document(resource(metadata=metadata(annotations=named), status={"conditions": [said]})),
        )
        stored = "".join(
            str(value) for record in found for _, row in record.rows for value in row.values()
        ).lower()
        assert not [str(c) for c in planter.canaries if any(piece in stored for piece in c.pieces)]


# -- laws ----------------------------------------------------------------------------------------


def test_a_part_of_another_type_is_a_reject_or_another_value_and_never_an_error() -> None:
    found: list[Parsed] = []
    for changed in mutations(resource()):
        records = parse(PARSER, document({"apiVersion": "v1", "kind": "List",
                                          "items": [resource(), changed]}))  # fmt: skip
        assert word(records[0]) == "accepted"
        found.append(records[1])
    check_each(found)
    check_rows(found)


# -- real files ----------------------------------------------------------------------------------


@pytest.mark.samples
def test_a_real_job_has_the_values_in_it(samples: Path) -> None:
    found = parse_file(PARSER, samples / "polyaxon" / "k8s_cr_job.json")
    row = rows(found, "run_versions")[0]
    assert stated(row, "record_id", "declared_accesses") == {
        "observed_at": instant("2026-03-11 00:00:00"),
        "observed_basis": "landing_day",
        "view": "resource",
        "run_uuid": "10eb7cda2cfd453587cc11ffd71ea28c",
        "name": "train-resnet",
        "kind": "job",
        "runtime": "job",
        "project": "vision",
        "run_owner": "default",
        "namespace": "ml-workloads",
        "artifacts_store": "plx-artifacts",
        "images": [
            "busybox:1.36",
            "europe-docker.pkg.dev/acme/ml/train:1.4.2",
            "polyaxon/polyaxon-init:2.18.0",
            "polyaxon/polyaxon-sidecar:2.18.0",
            "tensorboard:2",
        ],
        "replicas": 1,
        "gpu_count": 2,
        "max_retries": 3,
        "code_url": "https://git.example.internal/ml/train.git",
        "code_revision": "9f1c2ab",
    }
    buckets = {
        (a["component"], a["resource_id"], a["operation"], a["credential"], a["declared_in"])
        for a in row["declared_accesses"]
        if a["resource_kind"] == "bucket"
    }
    data = "polyaxon-init-artifacts-datasets-s3-aed4174663"
    assert buckets == {
        (data, "s3://acme-datasets/imagenet/v3", "read", "s3-creds", "pod_spec"),
        (data, "s3://acme-datasets/labels.json", "read", "s3-creds", "pod_spec"),
        ("polyaxon-init-artifacts-default",
         "gs://acme-plx-artifacts/10eb7cda2cfd453587cc11ffd71ea28c", "read", "gcs-creds",
         "pod_spec"),
        ("polyaxon-main", "s3://acme-datasets", "read", "s3-creds", "environment"),
        ("polyaxon-sidecar", "gs://acme-plx-artifacts", "write", "gcs-creds", "environment"),
        ("tb", "s3://acme-datasets", "read", "s3-creds", "environment"),
    }  # fmt: skip


@pytest.mark.samples
def test_real_services_clusters_and_children_are_runs(samples: Path) -> None:
    found = {
        name: rows(parse_file(PARSER, samples / "polyaxon" / f"k8s_cr_{name}.json"), "run_versions")
        for name in ("raycluster", "service_sandbox", "matrix_child_job")
    }
    assert {
        name: (row["run_uuid"], row["name"], row["kind"], row["runtime"], row["replicas"],
               row["code_revision"])
        for name, (row,) in found.items()
    } == {
        # One head and two workers.
        "raycluster": ("c2432c0280c8482286353b9116653560", "ray", "service", "raycluster", 3, None),
        "service_sandbox": (
            "fa3dc1849bd54bf192a13c5fdf27a170", "sandbox-nb", "service", "service", 1, "main",
        ),
        "matrix_child_job": (
            "ae2f536566504200b8eaa500b2cb4265", "sweep", "job", "job", 1, None,
        ),
    }  # fmt: skip


@pytest.mark.samples
def test_the_token_of_a_real_sandbox_is_not_stored(samples: Path) -> None:
    path = samples / "polyaxon" / "k8s_cr_service_sandbox.json"
    containers = json.loads(path.read_text())["serviceSpec"]["template"]["spec"]["containers"]
    token = next(v["value"] for v in containers[0]["env"] if v["name"] == "POLYAXON_SANDBOX_TOKEN")
    found = parse_file(PARSER, path)
    assert words(found) == {"accepted": 1}
    assert len(token) > 8
    assert token not in written(found)
    assert token.encode() not in found[0].raw

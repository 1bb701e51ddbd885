import pytest

from transforms.staging.run_identity import (
    Replica,
    RunMatch,
    event_file,
    instance_run,
    replica_of_pod,
    role_in_name,
    run_of_folder,
    run_of_pod,
)

RUN = "0123456789abcdef0123456789abcdef"
DASHED = "01234567-89ab-cdef-0123-456789abcdef"
OTHER = "fedcba9876543210fedcba9876543210"
LABEL = {"operation.polyaxon.com/uuid": RUN}
INSTANCE = {"app.kubernetes.io/instance": RUN, "app.kubernetes.io/managed-by": "polyaxon"}
VARIABLE = f"acme.vision.runs.{RUN}"
NAME = f"plx-operation-{RUN}-x7k2p"


def match(
    labels: dict[str, str] | None = None,
    instances: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
    folder: str | None = None,
) -> RunMatch:
    return run_of_pod(labels=labels or {}, instances=instances, names=names, folder_run=folder)


def test_each_rung_names_the_run_in_the_order_of_the_ladder() -> None:
    assert match(LABEL | INSTANCE, (VARIABLE,), (NAME,)) == RunMatch(RUN, "label", False)
    assert match(INSTANCE, (VARIABLE,), (NAME,)) == RunMatch(RUN, "instance_label", False)
    assert match({}, (VARIABLE,), (NAME,)) == RunMatch(RUN, "environment", False)
    assert match({}, (), ("worker", NAME)) == RunMatch(RUN, "name", False)
    assert match({}, (), ("worker",), RUN) == RunMatch(RUN, "name", False)
    assert match({}, (), ("worker",)) == RunMatch(None, "none", False)


def test_a_run_written_with_dashes_is_the_same_run() -> None:
    found = match({"operation.polyaxon.com/uuid": DASHED.upper()} | INSTANCE, (), (NAME,), RUN)
    assert found == RunMatch(RUN, "label", False)


def test_an_instance_label_of_another_manager_is_no_evidence() -> None:
    assert match({"app.kubernetes.io/instance": RUN}) == RunMatch(None, "none", False)
    helm = INSTANCE | {"app.kubernetes.io/managed-by": "Helm"}
    assert match(helm) == RunMatch(None, "none", False)
    assert match(INSTANCE | {"app.kubernetes.io/instance": "polyaxon"}).kind == "none"


@pytest.mark.parametrize(
    ("labels", "instances", "names", "folder"),
    [
        (LABEL | {"app.kubernetes.io/instance": OTHER, "app.kubernetes.io/managed-by": "polyaxon"},
         (), (), None),
        (LABEL, (f"acme.vision.runs.{OTHER}",), (), None),
        (LABEL, (), (f"plx-operation-{OTHER}-abcde",), None),
        (LABEL, (), (), OTHER),
        ({}, (VARIABLE, f"acme.vision.runs.{OTHER}"), (), None),
        ({}, (), (NAME, f"plx-operation-{OTHER}"), None),
    ],
)  # fmt: skip
def test_contradicting_evidence_is_a_conflict_and_names_no_run(
    labels: dict[str, str], instances: tuple[str, ...], names: tuple[str, ...], folder: str | None
) -> None:
    assert match(labels, instances, names, folder) == RunMatch(None, "conflict", False)


def test_the_cleaner_of_a_run_is_told_by_its_name() -> None:
    assert match(LABEL, (), (f"plx-cleaner-{RUN}-abcde",)) == RunMatch(RUN, "label", True)


@pytest.mark.parametrize(
    ("name", "run"),
    [
        (f"plx-operation-{RUN}", RUN),
        (f"plx-operation-{RUN}-worker-0", RUN),
        (f"plx-operation-{DASHED}-abcde", RUN),
        (f"plx-notifier-{RUN}-abcde", RUN),
        (f"plx-tuner-{RUN}-abcde", RUN),
        (f"plx-watchdog-{RUN}-abcde", RUN),
        (f"plx-{RUN}-master-0", RUN),
        (f"plx-{RUN}", None),
        (f"plx-operation-{RUN}f", None),
        (f"plx-operation-{RUN[:-1]}-abcde", None),
        (f"plx-other-{RUN}-abcde", None),
        (f"my-plx-operation-{RUN}", None),
        ("", None),
    ],
)
def test_names_follow_polyaxon_s_pattern(name: str, run: str | None) -> None:
    assert match({}, (), (name,)).run_uuid == run


@pytest.mark.parametrize(
    ("text", "run"),
    [
        (VARIABLE, RUN),
        (f"acme.vision.runs.{DASHED}", RUN),
        (f"a.b.c.runs.{RUN}", RUN),
        (f"runs.{RUN}", None),
        (f"acme.vision.jobs.{RUN}", None),
        (f"acme.vision.runs.{RUN}x", None),
        ("x" * 2_000 + f".runs.{RUN}", None),
        ("", None),
    ],
)
def test_an_instance_ends_with_the_run(text: str, run: str | None) -> None:
    assert instance_run(text) == run


@pytest.mark.parametrize(
    ("path", "run"),
    [
        (f"store/{RUN}/outputs/spec.json", RUN),
        (f"s3://example-store/plx/{RUN}/outputs/spec.json", RUN),
        (f"{DASHED}/outputs/spec.json", RUN),
        (f"exports/{RUN}/statuses.json", RUN),
        (f"store/.agents/{RUN}/outputs/spec.json", None),
        (f"store/{RUN}/a/b/spec.json", None),
        (f"store/x{RUN}/outputs/spec.json", None),
        ("outputs/spec.json", None),
        (f"store/{RUN}/events/metric/train/loss.plx", RUN),
        (f"store/{RUN}/resources/metric/memory.plx.gz", RUN),
        (f"store/.agents/{RUN}/events/metric/loss.plx", None),
        (f"store/{RUN}/lineage/artifacts.json", RUN),
        (f"store/x{RUN}/events/metric/loss.plx", None),
    ],
)
def test_the_folder_of_an_archive_names_the_run(path: str, run: str | None) -> None:
    assert run_of_folder(path) == run


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"s3://example-store/plx/{DASHED}/events/metric/loss.plx", (RUN, "metric", "loss")),
        (f"{RUN}/events/text/train/stage.plx.zst", (RUN, "text", "train/stage")),
        (f"{RUN}/events/a..b/../x.plx", (None, None, None)),
        (f"{RUN}/events/METRIC/x.plx", (None, None, None)),
        (f"{RUN}/events/metric/", (None, None, None)),
        (f"{RUN}/events/metric.json", (RUN, None, None)),
        (f"{RUN}/loss.plx", (RUN, None, None)),
        (f".agents/{RUN}/events/metric/loss.plx", (None, None, None)),
        ("events/metric/loss.plx", (None, None, None)),
        ("", (None, None, None)),
    ],
)
def test_the_place_of_an_event_file_names_run_kind_and_artifact(
    path: str, expected: tuple[str | None, ...]
) -> None:
    assert event_file(path) == expected


@pytest.mark.parametrize(
    ("name", "role"),
    [
        (f"plx-operation-{RUN}", "operation"),
        (f"plx-cleaner-{DASHED}", "cleaner"),
        (f"plx-notifier-{RUN}-x7k2p", "notifier"),
        (f"plx-{RUN}-master-0", None),
        ("train", None),
    ],
)
def test_a_name_tells_what_an_object_is_for(name: str, role: str | None) -> None:
    assert role_in_name(name) == role


@pytest.mark.parametrize(
    ("labels", "name", "replica"),
    [
        ({"training.kubeflow.org/replica-type": "worker",
          "training.kubeflow.org/replica-index": "0"}, "", Replica("worker", "0")),
        ({"pytorch-replica-type": "Master", "pytorch-replica-index": "0"}, "",
         Replica("master", "0")),
        ({"batch.kubernetes.io/job-completion-index": "7"}, "", Replica(None, "7")),
        ({"ray.io/node-type": "head"}, "", Replica("head", None)),
        ({}, f"plx-operation-{RUN}-worker-12", Replica("worker", "12")),
        ({}, f"plx-operation-{RUN}-launcher", Replica("launcher", None)),
        ({}, f"plx-operation-{RUN}-abcde", Replica(None, None)),
        ({}, "worker-0", Replica(None, None)),
    ],
)  # fmt: skip
def test_a_replica_is_told_by_labels_else_by_name(
    labels: dict[str, str], name: str, replica: Replica
) -> None:
    assert replica_of_pod(labels, [name]) == replica

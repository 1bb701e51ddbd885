import copy
import json
from typing import Any

import pytest

from tests.transforms.staging.polyaxon_answers import CONTENT
from transforms.staging.json_records import RecordError
from transforms.staging.polyaxon_content import MAX_CONTENT, ContentFacts, content_facts

GPU = {"resources": {"limits": {"nvidia.com/gpu": 8}}}


def facts(content: Any) -> ContentFacts:
    return content_facts(json.dumps(json.dumps(content)).encode(), "$.content")


def with_run(**run: Any) -> ContentFacts:
    return facts({"kind": "compiled_operation", "run": run})


def brief(found: ContentFacts) -> list[tuple[Any, ...]]:
    return [
        (a["component"], a["container_role"], a["resource_id"], a["operation"], a["credential"])
        for a in found.declared_accesses or ()
    ]


def test_a_job_s_content_declares_images_code_and_connections() -> None:
    secrets = "more-keys,pull-keys"
    assert brief(facts(CONTENT)) == [
        ("board", "sidecar", "oci://docker.io/library/tensorboard:2", "pull", secrets),
        ("polyaxon-init-artifacts-data", "init", "connection://data", "connect", None),
        ("polyaxon-init-git-code", "init", "git+https://git.example.com/ml/train.git@9f1c2ab",
         "clone", None),
        ("polyaxon-main", "main", "connection://data", "connect", None),
        ("polyaxon-main", "main", "oci://registry.example.com/ml/train:1.4", "pull", secrets),
        ("polyaxon-main", "main", "env://HF_TOKEN", "connect", "hub"),
        ("warm", "init", "oci://docker.io/library/busybox:1.36", "pull", secrets),
    ]  # fmt: skip


def test_every_access_says_that_the_content_declares_it() -> None:
    found = facts(CONTENT).declared_accesses or []
    assert {a["declared_in"] for a in found} == {"content"}
    assert {a["connection"] for a in found} == {None, "code", "data"}


def test_a_content_may_be_an_object_or_absent() -> None:
    assert content_facts(json.dumps(CONTENT).encode(), "$") == facts(CONTENT)
    for nothing in (b"", b"null", b'""'):
        assert content_facts(nothing, "$") == ContentFacts()
    assert facts({}) == ContentFacts()


def test_replicas_of_a_distributed_job_add_up() -> None:
    found = with_run(
        kind="pytorchjob",
        master={"replicas": 1, "container": {"image": "a/train:1", **GPU}},
        worker={"replicas": 3, "container": {"image": "a/train:1", **GPU}},
    )
    assert (found.replicas, found.gpu_count) == (4, 8)
    assert found.images == ["a/train:1"]
    assert brief(found) == [("pytorch", "main", "oci://docker.io/a/train:1", "pull", None)]


def test_replicas_that_ask_for_different_gpus_have_no_common_number() -> None:
    found = with_run(
        kind="tfjob",
        chief={"container": {"image": "a/train:1"}},
        worker={"replicas": 2, "container": {"image": "a/train:1", **GPU}},
        ps={"replicas": 0, "container": {"image": "a/ps:1", **GPU}},
    )
    assert (found.replicas, found.gpu_count) == (3, None)
    assert found.images == ["a/ps:1", "a/train:1"]


def test_a_cluster_has_a_head_and_named_workers() -> None:
    found = with_run(
        kind="raycluster",
        head={"container": {"image": "a/ray:1"}},
        workers={"small": {"replicas": 2, "container": {"image": "a/ray:1"}}},
    )
    assert (found.replicas, found.gpu_count) == (3, 0)


def test_a_service_asks_for_its_replicas() -> None:
    assert with_run(kind="service", replicas=2, container={"image": "a/web:1"}).replicas == 2
    assert with_run(kind="service", container={"image": "a/web:1"}).replicas == 1


@pytest.mark.parametrize(
    "more", [{"matrix": {"kind": "grid"}}, {"schedule": {"kind": "cron"}}, {"run": {"kind": "dag"}}]
)
def test_a_content_that_starts_other_runs_declares_nothing_itself(more: dict[str, Any]) -> None:
    assert facts(CONTENT | more) == ContentFacts(
        queue="a100", agent="gpu-agent", namespace="ml", max_retries=3
    )


def test_the_gpus_of_an_init_container_count_if_they_are_more() -> None:
    found = with_run(
        kind="job",
        init=[{"container": {"name": "a", "image": "a/b:1", **GPU}}],
        container={"image": "a/b:1"},
    )
    assert found.gpu_count == 8


def test_what_a_container_claims_does_not_say_how_many_gpus_it_has() -> None:
    claiming = {"image": "a/b:1", "resources": {"claims": [{"name": "gpus"}]}}
    assert with_run(kind="job", container=claiming).gpu_count is None


def test_two_repositories_are_not_one_code() -> None:
    content = copy.deepcopy(CONTENT)
    content["run"]["init"].append({"git": {"url": "https://git.example.com/other.git"}})
    found = facts(content)
    assert (found.code_url, found.code_revision) == (None, None)
    assert sum(a["operation"] == "clone" for a in found.declared_accesses or ()) == 2


def test_a_repository_that_only_its_connection_names_is_a_connection() -> None:
    found = with_run(kind="job", init=[{"git": {"revision": "v1"}, "connection": "code"}])
    assert brief(found) == [
        ("polyaxon-init-git-code", "init", "connection://code", "connect", None)
    ]
    assert found.code_url is None


def test_paths_and_files_of_an_init_step_declare_their_connection() -> None:
    found = with_run(kind="job", init=[{"paths": ["a"], "connection": "data"}, {"dockerfile": {}}])
    assert brief(found) == [(None, "init", "connection://data", "connect", None)]


def test_variables_may_be_a_mapping() -> None:
    found = with_run(kind="job", container={"env": {"HF_HOME": "/x", "A": "planted"}})
    assert brief(found) == [("polyaxon-main", "main", "env://HF_HOME", "connect", None)]


@pytest.mark.parametrize(
    ("queue", "agent", "name"),
    [("a100", None, "a100"), ("gpu-agent/a100", "gpu-agent", "a100"), ("", None, None)],
)
def test_a_queue_may_be_named_behind_its_agent(
    queue: str, agent: str | None, name: str | None
) -> None:
    found = facts({"queue": queue})
    assert (found.agent, found.queue) == (agent, name)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"run": {"container": {"image": 5}}},
         "wrong_type: expected str | null, got int at $.content.run.container.image"),
        ({"run": {"replicas": -1}},
         "wrong_type: expected int >= 0, got another value at $.content.run.replicas"),
        ({"run": {"init": {"git": {}}}},
         "wrong_type: expected array | null, got object at $.content.run.init"),
        ({"run": {"container": {"resources": {"limits": {"nvidia.com/gpu": "half"}}}}},
         "wrong_quantity: expected a whole number of GPUs, got another at $.content.run"),
        ([], "wrong_type: expected object, got array at $.content"),
    ],
)  # fmt: skip
def test_a_broken_content_says_where(content: Any, reason: str) -> None:
    with pytest.raises(RecordError) as caught:
        facts(content)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b'"' + b"x" * MAX_CONTENT + b'"', "content_too_large"),
        (b'"{"', "invalid_json"),
        (b"5", "wrong_type"),
        (json.dumps('{"x":' + "[" * 50_000 + "]" * 50_000 + "}").encode(), "too_deep"),
        (b'"{"run": [', "invalid_json"),
        (b'"version: 1.1"', "invalid_json"),
    ],
)
def test_what_is_no_content_is_refused(data: bytes, word: str) -> None:
    with pytest.raises(RecordError) as caught:
        content_facts(data, "$.content")
    assert str(caught.value).partition(":")[0] == word

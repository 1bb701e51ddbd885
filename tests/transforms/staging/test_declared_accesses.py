import json
from typing import Any

import pytest

from transforms.staging.declared_accesses import ContainerFacts, claim, of_container, ordered

URL = "https://git.example.com/ml/train.git"
CATALOGUE = {
    "connections": [
        {
            "name": "data",
            "kind": "s3",
            "schema": {"bucket": "s3://example-data"},
            "secret": {"name": "data-keys"},
        },
        {
            "name": "code",
            "kind": "git",
            "schema": {"url": URL, "revision": "main"},
            "secret": {"name": "git-keys"},
        },
        {"name": "db", "kind": "postgres", "schema": {"url": "postgres://db.example.com/x"}},
        {"name": "disk", "kind": "volume_claim", "schema": {"volumeClaim": "scratch"}},
        {"name": "hub", "kind": "custom", "secret": {"name": "hub-token"}},
    ]
}


def accesses(name: str = "polyaxon-main", role: str = "main", **facts: Any) -> list[dict[str, Any]]:
    container = ContainerFacts(name=name, role=role, **facts)
    return list(
        of_container(container, namespace="ml", cluster="alder", pull_secrets=("pull-keys",))
    )


def brief(found: list[dict[str, Any]]) -> list[tuple[str, str, Any, Any]]:
    return [(a["resource_id"], a["operation"], a["connection"], a["credential"]) for a in found]


def test_an_image_is_pulled_with_the_secrets_of_the_pod() -> None:
    assert accesses(image="registry.example.com/ml/train:1.4") == [
        {
            "component": "polyaxon-main",
            "container_role": "main",
            "resource_kind": "image",
            "resource_id": "oci://registry.example.com/ml/train:1.4",
            "operation": "pull",
            "version": "1.4",
            "credential": "pull-keys",
            "connection": None,
            "needed_in_stage": "image_pull",
            "declared_in": "pod_spec",
        }
    ]
    assert accesses(image="{{ image }}") == []


def test_an_init_container_of_git_clones_a_revision() -> None:
    found = accesses(
        "polyaxon-init-git-code-0123456789",
        "init",
        command=(
            "polyaxon", "initializer", "git", "--repo-path=/plx/code", f"--url={URL}",
            "--revision=9f1c2ab", "--connection=code", '--flags=["--depth 1"]',
        ),
        environment={"POLYAXON_CONNECTIONS_CATALOG": json.dumps(CATALOGUE)},
    )  # fmt: skip
    assert found[0] == {
        "component": "polyaxon-init-git-code-0123456789",
        "container_role": "init",
        "resource_kind": "git",
        "resource_id": "git+https://git.example.com/ml/train.git@9f1c2ab",
        "operation": "clone",
        "version": "9f1c2ab",
        "credential": "git-keys",
        "connection": "code",
        "needed_in_stage": "init",
        "declared_in": "pod_spec",
    }
    # The connection of the argument is not declared a second time by the catalogue.
    assert [a["connection"] for a in found] == ["code", "data", "db", "disk"]


@pytest.mark.parametrize(
    "command",
    [
        ("polyaxon", "initializer", "git", "--url", URL, "--revision", "v1"),
        ("sh", "-c", f"polyaxon initializer git --url={URL} --revision=v1; true"),
    ],
)
def test_a_clone_is_read_in_other_spellings_of_the_command(command: tuple[str, ...]) -> None:
    found = accesses("fetch", "init", command=command)
    assert brief(found) == [(f"git+{URL}@v1", "clone", None, None)]


def test_a_url_of_another_program_is_no_clone() -> None:
    assert accesses("fetch", "init", command=("curl", f"--url={URL}")) == []
    assert accesses("polyaxon-main", "main", command=("git", f"--url={URL}")) == []


def test_an_init_container_of_artifacts_reads_every_path_it_names() -> None:
    shell = (
        'if [ ! -d "/plx/a" ]; then mkdir -p /plx/a; fi; '
        "polyaxon initializer path --connection-name=data --connection-kind=s3 "
        "--path-from=s3://example-data/labels.json --path-to=/plx/a/labels.json --is-file; "
        "polyaxon initializer path --connection-name=data --connection-kind=s3 "
        '--path-from="s3://example-data/sets/v3/" --path-to=/plx/a/v3 ; '
        "polyaxon initializer path --connection-name disk --path-from '/mnt/disk' --path-to=/plx/b;"
    )
    found = accesses(
        "polyaxon-init-artifacts-data",
        "init",
        command=("/bin/sh", "-c", shell),
        environment={"POLYAXON_CONNECTIONS_CATALOG": json.dumps(CATALOGUE)},
    )
    assert brief(found) == [
        ("s3://example-data/labels.json", "read", "data", "data-keys"),
        ("s3://example-data/sets/v3", "read", "data", "data-keys"),
        (f"git+{URL}@main", "clone", "code", "git-keys"),
        ("dns://db.example.com:5432", "connect", "db", None),
        ("kube://alder/ml/persistentvolumeclaims/scratch", "connect", "disk", None),
    ]
    assert found[0]["needed_in_stage"] == "init"
    assert found[0]["declared_in"] == "pod_spec"


def test_arguments_in_a_list_are_read_like_a_shell_line() -> None:
    found = accesses(
        "fetch",
        "init",
        command=("polyaxon", "initializer", "path", "--connection-name=d",
                 "--path-from=gs://example-data/x"),
    )  # fmt: skip
    assert brief(found) == [("gs://example-data/x", "read", "d", None)]


def test_the_catalogue_declares_what_a_container_may_use() -> None:
    variables = {"POLYAXON_CONNECTIONS_CATALOG": json.dumps(CATALOGUE)}
    found = accesses(environment=variables)
    assert [(a["resource_kind"], a["operation"], a["needed_in_stage"]) for a in found] == [
        ("bucket", "read", None),
        ("git", "clone", None),
        ("host", "connect", None),
        ("volume", "connect", "volume_mount"),
    ]
    assert {a["declared_in"] for a in found} == {"environment"}


def test_the_platform_s_sidecar_uploads_to_its_store() -> None:
    variables = {"POLYAXON_CONNECTIONS_CATALOG": json.dumps(CATALOGUE)}
    found = accesses("polyaxon-sidecar", "sidecar", environment=variables)
    assert brief(found)[0] == ("s3://example-data", "write", "data", "data-keys")
    assert found[0]["needed_in_stage"] == "upload"


@pytest.mark.parametrize(
    "text",
    ["", "not json", "[]", '{"connections": 5}', '{"connections": [5, {"name": 5}, {}]}',
     '{"connections": [{"name": "a", "schema": {"bucket": 5}}]}', "[" * 100_000,
     '{"connections": [{"name": "a", "schema": {"bucket": "nowhere"}}]}'],
)  # fmt: skip
def test_a_broken_catalogue_takes_nothing_from_the_pod(text: str) -> None:
    found = accesses(image="busybox:1", environment={"POLYAXON_CONNECTIONS_CATALOG": text})
    assert brief(found) == [("oci://docker.io/library/busybox:1", "pull", None, "pull-keys")]


def test_names_of_some_variables_are_kept_and_no_value() -> None:
    found = accesses(
        environment={"HF_TOKEN": None, "PIP_INDEX_URL": "https://u:p@pypi.example.com", "PATH": "x",
                     "WANDB_API_KEY": "planted", "HF_HOME": "/cache", "MY_HF_TOKEN": "x"},
        variable_secrets={"HF_TOKEN": "hub-token"},
    )  # fmt: skip
    assert brief(found) == [
        ("env://HF_HOME", "connect", None, None),
        ("env://HF_TOKEN", "connect", None, "hub-token"),
        ("env://PIP_INDEX_URL", "connect", None, None),
        ("env://WANDB_API_KEY", "connect", None, None),
    ]
    assert {a["resource_kind"] for a in found} == {"variable"}


def test_a_volume_claim_belongs_to_the_pod_as_a_whole() -> None:
    found = claim(cluster="alder", namespace="ml", name="scratch")
    assert found["component"] is None
    assert found["resource_id"] == "kube://alder/ml/persistentvolumeclaims/scratch"


def test_accesses_stand_once_and_in_one_order() -> None:
    first = claim(cluster="alder", namespace="ml", name="b")
    second = claim(cluster="alder", namespace="ml", name="a")
    assert ordered([first, second, dict(first)]) == [second, first]
    assert ordered([]) is None

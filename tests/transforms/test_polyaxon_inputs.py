"""What custom resources and lineage of Polyaxon say, as far as the marts read it."""

from datetime import date
from typing import Any

import polars as pl

from tests.transforms.frames import checked, show
from tests.transforms.staging.export_text import parse, rows
from tests.transforms.staging.kubernetes_objects import document, instant
from tests.transforms.staging.polyaxon_answers import (
    RUN,
    artifact,
    condition,
    listed,
    page,
    resource,
)
from transforms.day import BuildDay
from transforms.intermediate import declared_dependencies
from transforms.marts import runs
from transforms.sql import SqlSession
from transforms.staging.polyaxon import PARSER
from transforms.transform import Transform

DAY = date(2026, 3, 10)
TABLES = ("run_versions", "run_statuses", "run_artifacts")


def built(transform: Transform, *answers: Any, day: date = DAY, **context: Any) -> pl.DataFrame:
    """Parse answers, and make a table of what they say."""
    staged: dict[str, list[dict[str, Any]]] = {read.table: [] for read in transform.reads}
    for answer in answers:
        found = parse(PARSER, document(answer), **context)
        for table in TABLES:
            if table in staged:
                staged[table] += rows(found, table)
    with SqlSession(threads=1) as session:
        show(session, **staged)
        name = transform.build(session, BuildDay(day, "fleet", is_final=True))
        return checked(session, transform.table, name)


def run_of(*answers: Any, **more: Any) -> dict[str, Any]:
    found = built(runs.TRANSFORM, *answers, **more)
    assert found.height == 1
    return found.row(0, named=True)


def test_a_run_is_known_by_its_resource_alone() -> None:
    row = run_of(resource())
    assert {
        name: row[name]
        for name in ("run_uuid", "name", "kind", "runtime", "project", "run_owner", "status",
                     "outcome", "created_at", "code_revision", "is_final")
    } == {
        "run_uuid": RUN,
        "name": "train-resnet",
        "kind": "job",
        "runtime": "job",
        "project": "vision",
        "run_owner": "acme",
        "status": "running",
        "outcome": "running",
        "created_at": instant("06:00:04"),
        "code_revision": "9f1c2ab",
        "is_final": False,
    }  # fmt: skip


def test_the_end_that_the_api_tells_goes_before_a_listing_of_the_resource() -> None:
    # The listing stands for the end of its day, but what it says is as old as its conditions.
    row = run_of(resource(), page(listed()))
    assert (row["status"], row["outcome"]) == ("succeeded", "succeeded")
    # The run was created before its resource.
    assert row["created_at"] == instant("06:00:00.807997")


def test_the_end_that_the_operator_saw_goes_before_an_older_answer() -> None:
    ended = {"conditions": [condition("Failed", "2026-03-10T07:30:00Z", reason="OOMKilled")],
             "completionTime": "2026-03-10T07:30:00Z"}  # fmt: skip
    older = page(listed(status="running", finished_at=None, updated_at="2026-03-10T06:03:00Z"))
    row = run_of(older, resource(status=ended), path_at=instant("07:00:00"))
    assert (row["status"], row["outcome"], row["is_final"]) == ("failed", "failed", True)
    # It is not active on the day behind.
    assert built(runs.TRANSFORM, resource(status=ended), day=date(2026, 3, 11)).is_empty()


def test_resource_and_lineage_declare_what_a_run_uses() -> None:
    found = built(
        declared_dependencies.TRANSFORM,
        resource(),
        page(artifact(), artifact(name="best", is_input=False, path="gs://models/best.pt")),
    )
    assert set(found.select("component", "resource_id", "operation", "declared_in").rows()) == {
        (None, "gs://models/best.pt", "write", "lineage"),
        (None, "kube://alder/ml/persistentvolumeclaims/scratch", "connect", "pod_spec"),
        (None, "s3://example-data/sets/v3", "read", "lineage"),
        ("polyaxon-init-git-code-0123456789",
         "git+https://git.example.com/ml/train.git@9f1c2ab", "clone", "pod_spec"),
        ("polyaxon-init-git-code-0123456789", "oci://docker.io/polyaxon/polyaxon-init:2.18.0",
         "pull", "pod_spec"),
        ("polyaxon-main", "env://HF_TOKEN", "connect", "environment"),
        ("polyaxon-main", "oci://registry.example.com/ml/train:1.4", "pull", "pod_spec"),
        ("polyaxon-sidecar", "oci://docker.io/polyaxon/polyaxon-sidecar:2.18.0", "pull",
         "pod_spec"),
    }  # fmt: skip

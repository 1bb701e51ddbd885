"""The document of a run: its layout, its sums, and what it says is not known."""

import json
import random
from datetime import timedelta
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from pipelines.manifest_markdown import markdown_of
from pipelines.manifests import json_of, schema_text
from pipelines.markdown import statement
from schemas.registry import tables
from tests.json_schema import problems
from tests.transforms.frames import DAY, at, frame
from transforms.marts import manifest
from transforms.marts.manifest import RunFacts, manifest_of

GOLDEN = Path(__file__).parent / "golden"
RUN = "0123456789abcdef0123456789abcdef"
DIGEST = "sha256:" + "5" * 64
DATASET = "s3://example-datasets/imagenet"
SECRETS = ("hunter2-EXAMPLE-secret", "wJalrXUtnFEMI-EXAMPLE-KEY", "FAKE-signature-EXAMPLE")


def rows(table: str, *given: dict[str, Any]) -> list[dict[str, Any]]:
    return frame(table, given, date_column=True).to_dicts()


def as_of(table: str, *given: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**row, "as_of_date": DAY} for row in rows(table, *given)]


def wait(stage: str, cause: str, start: str, end: str, **more: Any) -> dict[str, Any]:
    length = at(end) - at(start)
    microseconds = round(length.total_seconds() * 1_000_000)
    return {
        "wait_id": start + cause, "run_uuid": RUN, "attempt": 1, "pod_uid": "p1", "stage": stage,
        "cause": cause, "start_at": at(start), "end_at": at(end), "duration_us": microseconds,
        "gpu_us": 2 * microseconds,
    } | more  # fmt: skip


def of_init(resource: str = DATASET, **more: Any) -> dict[str, Any]:
    return {"container": "fetch", "container_role": "init", "resource_id": resource, **more}


def dependency(resource: str, **more: Any) -> dict[str, Any]:
    return {
        "run_uuid": RUN, "attempt": 1, "resource_id": resource, "resource_kind": "dataset",
        "operation": "read", "container_role": "init", "stage": "init",
        "declaration": "declared_seen", "empty_means": "partly_observed",
    } | more  # fmt: skip


def facts() -> RunFacts:
    """One run of two attempts that downloads, trains and writes."""
    return RunFacts(RUN, {
        "runs": as_of("runs",
            {"run_uuid": RUN, "attempt": 1, "cluster": "alder", "namespace": "ml",
             "name": "train | <b>x</b>", "project": "vision", "run_owner": "acme", "kind": "job",
             "status": "succeeded", "outcome": "succeeded", "created_at": at("08:00"),
             "start_at": at("08:00:01"), "end_at": at("08:10"), "pod_uids": ["p1"],
             "pod_count": 1, "nodes": ["node-1"], "gpu_count": 2, "pod_us": 599_000_000,
             "code_revision": "9f1c2ab", "image_digests": [DIGEST], "run_match_kind": "label"},
            {"run_uuid": RUN, "attempt": 2, "cluster": "alder", "outcome": "succeeded",
             "start_at": at("08:11"), "end_at": at("08:30"), "pod_uids": ["p2"], "pod_count": 1,
             "nodes": ["node-1"], "pod_us": 1_140_000_000, "name": "train | <b>x</b>",
             "project": "vision"},
        ),
        "nodes": [{"cluster": "alder", "node": "node-1", "instance_type": "p4d.24xlarge"}],
        "image_pulls": rows("image_pulls", {
            "run_uuid": RUN, "image": "registry.example.com/train:1", "image_digest": DIGEST,
            "container": "train", "node": "node-1", "start_at": at("08:00:10"),
            "end_at": at("08:00:50"), "was_present": False}),
        "run_dependencies": as_of("run_dependencies",
            dependency(DATASET, version="v3", version_basis="declared", request_count=4,
                       received_bytes=10_000_000_000, min_received_bytes=10_000_000_000,
                       max_received_bytes=10_000_000_000, measured_by="storage_log",
                       first_seen_at=at("08:01"), last_seen_at=at("08:05"), denied_count=3,
                       first_error="403 AccessDenied: Authorization: Bearer " + SECRETS[0]),
            dependency("hf://example/bert", resource_kind="model",
                       declaration="declared_not_observable", empty_means="not_observed"),
            dependency("git+https://x:" + SECRETS[1] + "@git.example.com/train",
                       resource_kind="git", operation="clone", version="9f1c2ab",
                       version_basis="observed"),
            dependency("s3://example-runs/" + RUN, operation="write", sent_bytes=500,
                       request_count=2, declaration="seen_not_declared", version="1",
                       received_bytes=0, min_received_bytes=0, max_received_bytes=0),
        ),
        "waits": rows("waits",
            wait("image_pull", "image_pull", "08:00:10", "08:00:50", container="train",
                 container_role="main"),
            wait("init", "denied", "08:01", "08:01:30",
                 **of_init(first_error="403 AccessDenied")),
            wait("init", "transfer", "08:01:30", "08:03",
                 **of_init(transferred_bytes=4_000_000_000)),
            wait("init", "unexplained", "08:03", "08:03:01", **of_init()),
            # The same wait on the next day adds up, and a part without a logged request, too.
            wait("init", "transfer", "08:03:01", "08:05",
                 **of_init(transferred_bytes=6_000_000_000)),
            wait("init", "transfer", "08:05", "08:05:00.5", **of_init()),
            wait("compute", "working", "08:05:01", "08:10", container="train",
                 container_role="main", gpu_us=None),
        ),
        "storms": rows("storms",
            {"storm_id": "s", "run_uuid": RUN, "resource_id": DATASET, "failure_count": 5,
             "start_at": at("08:01"), "end_at": at("08:01:10")},
            {"storm_id": "s", "run_uuid": RUN, "resource_id": DATASET, "failure_count": 9,
             "start_at": at("08:01"), "end_at": at("08:01:30"), "date": DAY + timedelta(days=1)},
        ),
        "run_outputs": as_of("run_outputs", {
            "run_uuid": RUN, "resource_id": "s3://example-runs/" + RUN, "name": "artifacts",
            "proof": "unproven", "reason": "none wrote it?X-Amz-Signature=" + SECRETS[2],
            "expected_from": "artifacts_store"}),
        "transfer_costs": rows("transfer_costs",
            {"run_uuid": RUN, "resource_id": DATASET, "distance": "cross_region",
             "gateway": "nat", "charge_kind": "transfer", "bytes": 6_000_000_000,
             "min_usd": Decimal("0.12"), "usd": Decimal("0.12"), "max_usd": Decimal("0.12")},
            {"run_uuid": RUN, "resource_id": DATASET, "distance": "cross_region",
             "gateway": "nat", "charge_kind": "transfer", "bytes": 4_000_000_000,
             "min_usd": Decimal("0.08"), "usd": None, "max_usd": Decimal("0.08")},
        ),
        "repeat_transfers": rows("repeat_transfers", {
            "run_uuid": RUN, "scope": "node", "resource_id": DATASET, "remedy": "node_cache",
            "min_repeat_bytes": 1_000_000, "max_repeat_bytes": 2_000_000}),
        "run_coverage": as_of("run_coverage", {
            "run_uuid": RUN, "source": "flows", "cluster": "alder", "expected_us": 599_000_000,
            "covered_us": 500_000_000, "lost_count": 7, "reasons": ["lost_events"],
            "empty_means": "partly_observed"}),
        "findings": as_of("findings",
            {"run_uuid": RUN, "rank": 4, "kind": "denied_storage", "severity": "high",
             "responsible": "storage", "resource_id": DATASET, "detail": "9 requests denied",
             "occurrence_count": 9,
             "suggested_change": "let the role of the service account read the prefix",
             "shown_by": "a run without 403 of this prefix", "lost_us": 30_000_000,
             "lost_gpu_us": 60_000_000, "evidence_ids": ["s"]}),
        "observations": [
            {"export_file_id": "f1", "export": "flows", "format": "hubble", "cluster": "alder",
             "node": "node-1", "file": "hubble.json.gz", "landing_date": DAY, "size_bytes": 100,
             "content_hash": "ab" * 32, "first_event_at": at("08:00"),
             "last_event_at": at("09:00")}],
    })  # fmt: skip


@pytest.mark.parametrize("form", ["json", "md"])
def test_the_layout_is_the_golden_file(form: str) -> None:
    document = manifest_of(facts())
    shown = json_of(document) if form == "json" else markdown_of(document)
    assert shown == (GOLDEN / f"manifest.{form}").read_text(encoding="utf-8")


def test_times_and_bytes_are_summed_exactly_and_unknown_stays_unknown() -> None:
    document = manifest_of(facts())
    ran, used = document["what_ran"], document["what_it_used"]
    assert (ran["start_at"], ran["end_at"]) == (
        "2026-03-02T08:00:01.000000Z",
        "2026-03-02T08:30:00.000000Z",
    )
    waited = {row["cause"]: row for row in document["where_it_waited"]["by_cause"]}
    assert {cause: row["duration_us"] for cause, row in waited.items()} == {
        "denied": 30_000_000, "image_pull": 40_000_000, "transfer": 209_500_000,
        "unexplained": 1_000_000, "working": 299_000_000,
    }  # fmt: skip
    assert waited["transfer"]["gpu_us"] == 419_000_000
    assert waited["working"]["gpu_us"] is None
    (transfer,) = (w for w in document["where_it_waited"]["waits"] if w["cause"] == "transfer")
    assert transfer["transferred_bytes"] == 10_000_000_000
    assert (transfer["start_at"][11:19], transfer["end_at"][11:21]) == ("08:01:30", "08:05:00.5")
    (storm,) = document["where_it_waited"]["storms"]
    assert storm["failure_count"] == 9
    (cost,) = used["costs"]
    assert (cost["bytes"], cost["min_usd"], cost["usd"]) == (10_000_000_000, "0.200000000", None)
    assert used["total_cost"] == {"min_usd": "0.200000000", "usd": None, "max_usd": "0.200000000"}


def test_versions_stand_with_their_basis() -> None:
    used = manifest_of(facts())["what_it_used"]
    assert [(row["version"], row["version_basis"]) for row in used["code"]] == [
        ("9f1c2ab", "observed")
    ]
    assert [(row["resource_id"], row["version"], row["version_basis"], row["declaration"])
            for row in used["data_and_models"]] == [
        ("hf://example/bert", None, None, "declared_not_observable"),
        (DATASET, "v3", "declared", "declared_seen"),
    ]  # fmt: skip


def test_what_is_not_known_is_said() -> None:
    told = manifest_of(facts())["what_is_not_known"]["statements"]
    about = {(row["about"], row["statement"].partition(":")[0]) for row in told}
    assert about == {
        ("costs", "1 of 1 amounts have no single price"),
        ("dependencies", "1 contacts have no measured bytes"),
        ("hf://example/bert", "declared; no source could show whether it was used"),
        ("hf://example/bert", "its version is not known"),
        ("run", "its days are not final"),
        (f"s3://example-runs/{RUN}", "output unproven"),
        ("waits", "1000000 us are explained by no evidence"),
        ("waits", "GPU time of the cause working"),
    }
    bare = RunFacts(RUN, {"runs": as_of("runs", {"run_uuid": RUN})})
    assert manifest_of(bare)["findings"] is None
    told = manifest_of(bare)["what_is_not_known"]["statements"]
    absent = {row["about"] for row in told if "no such table" in row["statement"]}
    assert absent == {
        "run_dependencies", "waits", "storms", "run_outputs", "transfer_costs", "repeat_transfers",
        "run_coverage", "findings",
    }  # fmt: skip
    assert {row["about"] for row in told} - absent == {"run", "code", "images"}
    assert problems(json.loads(schema_text()), manifest_of(bare)) == []


def test_it_fits_its_schema_and_shows_no_secret() -> None:
    document = manifest_of(facts())
    schema = json.loads(schema_text())
    assert problems(schema, document) == []
    assert problems(schema, document | {"manifest_version": 2, "more": 1}) != []
    assert problems(schema, document | {"as_of_date": "yesterday"}) != []
    for shown in (json_of(document), markdown_of(document)):
        assert not [secret for secret in SECRETS if secret in shown]
        assert "***" in shown.replace("\\", "")


def test_the_schema_allows_what_the_tables_allow() -> None:
    schema = json.loads(files("schemas").joinpath("manifest-1.schema.json").read_text("utf-8"))
    parts = schema["properties"]
    sections = {
        "run_dependencies": (parts["what_it_used"]["properties"]["dependencies"],
                             manifest.DEPENDENCY),
        "waits": (parts["where_it_waited"]["properties"]["waits"], manifest.WAIT_KEY),
        "storms": (parts["where_it_waited"]["properties"]["storms"], manifest.STORM),
        "run_outputs": (parts["what_it_left"]["properties"]["outputs"], manifest.OUTPUT),
        "findings": (parts["findings"], manifest.FINDING),
        "run_coverage": (parts["what_is_not_known"]["properties"]["coverage"], manifest.COVERAGE),
        "transfer_costs": (parts["what_it_used"]["properties"]["costs"], manifest.COST_KEY),
        "repeat_transfers": (parts["what_it_used"]["properties"]["repeats"], manifest.REPEAT_KEY),
    }  # fmt: skip
    for table, (section, columns) in sections.items():
        properties = section["items"]["properties"]
        for column in tables()[table].columns:
            if column.name in columns and "enum" in properties[column.name]:
                # A new value of a table is a new value of the schema.
                allowed = set(properties[column.name]["enum"])
                assert set(column.allowed) == allowed - {None}, f"{table}.{column.name}"


def test_the_order_of_rows_makes_no_difference() -> None:
    given, mixed = facts(), random.Random(7)
    shuffled = {
        name: None if found is None else mixed.sample(list(found), len(found))
        for name, found in given.rows.items()
    }
    assert json_of(manifest_of(RunFacts(RUN, shuffled))) == json_of(manifest_of(given))


def test_hostile_text_stays_text_within_100_columns() -> None:
    hostile = (
        "[x](javascript:1) <script>|\n# `数`*_\x1b[2J https://example.com www.example.com " * 9
    )
    given = facts()
    spoilt = {
        name: None
        if found is None
        else [
            {
                key: hostile if isinstance(value, str) and key not in manifest_enums() else value
                for key, value in row.items()
            }
            for row in found
        ]
        for name, found in given.rows.items()
    }
    shown = markdown_of(manifest_of(RunFacts(RUN, spoilt)))
    assert max(map(cell_len, shown.splitlines())) <= 100
    assert all(line.isprintable() for line in shown.splitlines())
    assert "<" not in shown
    assert "[x](" not in shown
    assert "https://" not in shown
    assert "www." not in shown
    wide = "# 数" * 400 + " " + "数|" * 200
    said = statement(wide, wide)
    assert max(map(cell_len, said)) <= 100
    assert "".join(said[1:]).replace("\\", "").replace(" ", "") == wide.replace(" ", "")
    assert not [line for line in said if line.startswith("  #")]
    assert statement("a", "1. " + "b" * 99)[1] == "  1\\."
    lines = [line for line in shown.splitlines() if line.startswith("|")]
    ours = [line.replace("\\|", "") for line in lines]
    assert {line.count("|") - 1 for line in ours} <= {2, 3, 4, 5, 6, 7}
    assert [line for line in shown.splitlines() if line.startswith("## ")] == [
        "## What ran", "## What it used", "## Where it waited", "## What it left",
        "## What is not known", "## What someone should do", "## Retained observations",
    ]  # fmt: skip


def manifest_enums() -> set[str]:
    """Columns whose values a table closes, of which exports cannot make others."""
    return {"storm_id", "declaration", "operation"}

"""run_outputs: the right verdict for every run of a small fleet whose truth is known."""

import random
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.marts import run_outputs
from transforms.sql import SqlSession

Rows = list[dict[str, Any]]
READ = [read.table for read in run_outputs.TRANSFORM.reads]
STORE = "s3://example-artifacts"


def uuid(letter: str) -> str:
    return format(ord(letter), "032x")


def uid(letter: str) -> str:
    return f"aaaaaaaa-0000-0000-0000-{ord(letter):012x}"


def run(letter: str, status: str = "succeeded", **more: Any) -> dict[str, Any]:
    return {
        "run_uuid": uuid(letter), "status": status, "created_at": at("10:00"),
        "finished_at": at("12:00"), "updated_at": at("12:00"), "observed_at": at("12:00"),
        "view": "detail", "artifacts_store": "store", "record_id": f"v{letter}",
    } | more  # fmt: skip


def pod(letter: str) -> dict[str, Any]:
    return {
        "cluster": "alder", "pod_uid": uid(letter), "pod_name": f"pod-{letter}",
        "namespace": "ml", "run_uuid": uuid(letter), "attempt": 1, "created_at": at("10:00"),
        "start_at": at("10:01"), "end_at": at("12:00"), "node": "n1", "address": f"a{letter}",
    }  # fmt: skip


def store(letter: str, bucket: str = STORE) -> dict[str, Any]:
    return {
        "declared_dependency_id": f"d{letter}", "run_uuid": uuid(letter),
        "component": "polyaxon-sidecar", "container_role": "sidecar", "resource_id": bucket,
        "operation": "write", "resource_kind": "bucket", "connection": "store",
        "declared_in": "content",
    }  # fmt: skip


def transfer(letter: str, clock: str, key: str = "outputs/model.bin", **more: Any) -> Any:
    name = f"{uuid(letter)}/{key}"
    return {
        "transfer_id": f"t{letter}{clock}{key}", "provider": "s3", "bucket": "example-artifacts",
        "key": name, "object_id": f"{STORE}/{name}", "operation": "write", "start_at": at(clock),
        "end_at": at(clock), "request_count": 1, "run_uuid": uuid(letter),
        "client_address": f"a{letter}",
    } | more  # fmt: skip


def written(letter: str, clock: str, key: str = "outputs/model.bin", **more: Any) -> Any:
    done = {"change_times": [at(clock)], "success_count": 1, "object_size_bytes": 1000}
    return transfer(letter, clock, key, **done, **more)


def failed(letter: str, clock: str, key: str = "outputs/model.bin") -> Any:
    return transfer(letter, clock, key, denied_count=1, first_error="AccessDenied")


def deleted(letter: str, clock: str, key: str = "outputs/model.bin", **more: Any) -> Any:
    gone = {"operation": "delete", "change_times": [at(clock)], "success_count": 1}
    return transfer(letter, clock, key, **gone, **more)


def request(letter: str, clock: str, **more: Any) -> dict[str, Any]:
    return {
        "event_at": at(clock), "provider": "s3", "bucket": "example-artifacts",
        "key": f"{uuid(letter)}/outputs/model.bin", "client_address": f"a{letter}",
        "operation": "write", "operation_name": "REST.PUT.OBJECT", "status": 200,
        "source_format": "s3_access_log", "record_id": f"q{letter}{clock}",
    } | more  # fmt: skip


def covered(bucket: str, start: str = "00:00", end: str = "23:00") -> dict[str, Any]:
    return {
        "cluster": "fleet", "source": f"object_requests:{bucket}", "start_at": at(start),
        "end_at": at(end), "status": "covered", "node_coverage_id": f"{bucket}{start}",
    }  # fmt: skip


def mark(letter: str, stated: int) -> dict[str, Any]:
    return {
        "event_at": at("11:00"), "run_uuid": uuid(letter), "activity": "checkpoint_save",
        "event_name": "checkpoint_save.finished", "phase": "end", "outcome": "ok",
        "resource": f"{STORE}/{uuid(letter)}", "bytes": stated, "basis": "event",
        "record_id": f"m{letter}",
    }  # fmt: skip


def sent(letter: str, most: int | None) -> dict[str, Any]:
    return {
        "cluster": "alder", "pod_uid": uid(letter), "run_uuid": uuid(letter),
        "direction": "transmit", "window_start_at": at("11:50"), "bytes": 1, "min_bytes": 1,
        "max_bytes": most, "interface": "eth0", "pod_traffic_id": letter,
    }  # fmt: skip


TRUTH = {
    # Plainly written; written again behind a failure; at the end of its hour of grace; and rotated.
    "a": "proven", "b": "proven", "c": "proven", "d": "proven",
    # Refused last; aborted; removed by itself; sent less than it says.
    "e": "contradicted", "f": "contradicted", "g": "contradicted", "h": "contradicted",
    # Nothing came; only somebody else wrote; too late; only another run's folder.
    "i": "unproven", "j": "unproven", "k": "unproven", "l": "unproven",
    # A bucket without a whole log; one that is not known; an hour is missing.
    "m": "not_observed", "n": "not_observed", "o": "not_observed",
    # Counters that set no bound contradict nothing; deleted later by another.
    "p": "proven", "q": "proven",
    # Failed, and left something all the same.
    "r": "proven",
    # The one object stands, another one's last write failed.
    "u": "contradicted",
    # The store's place is not known, but its folder was written.
    "w": "proven",
}  # fmt: skip
"""Verdict by run; `s` and `t` have none: failed without a write, still running without one."""

DARK = {"m": "s3://example-dark", "o": "s3://example-half"}
TABLES: dict[str, Rows] = {
    "run_versions": [
        *(run(x) for x in TRUTH if x != "r"),
        run("r", "failed"), run("s", "failed"), run("t", "running", finished_at=None),
        # No store, no output.
        run("v", artifacts_store=None),
    ],
    "pod_intervals": [pod(x) for x in (*TRUTH, "s", "t", "v")],
    "declared_dependencies": [
        store(x, DARK.get(x, STORE)) for x in (*TRUTH, "s", "t") if x not in "nw"
    ],
    "object_transfers": [
        written("a", "11:59"),
        transfer("b", "11:00", denied_count=1, change_times=[at("11:01")], request_count=2,
                 end_at=at("11:01"), success_count=1),
        written("c", "12:59:59"),
        written("d", "11:00", "ckpt/1"), written("d", "11:30", "ckpt/2"),
        deleted("d", "11:31", "ckpt/1"),
        written("e", "11:00"), failed("e", "11:58"),
        transfer("f", "11:00", operation="other", success_count=1, end_at=at("11:10")),
        written("g", "11:00"), deleted("g", "11:30"),
        written("h", "11:00"),
        written("j", "11:00") | {"run_uuid": uuid("x")},
        written("k", "13:00"),
        written("a", "11:58", "outputs/other") | {"run_uuid": uuid("l"), "transfer_id": "foreign"},
        written("p", "11:00"),
        written("q", "11:00"), deleted("q", "14:00", run_uuid=uuid("x")),
        written("r", "11:00"),
        written("u", "11:00", "outputs/a"), failed("u", "11:30", "outputs/b"),
        written("w", "11:00"),
    ],
    "object_requests": [
        request("b", "11:00", status=403), request("b", "11:01"),
        request("f", "11:05", operation="other", operation_name="REST.DELETE.UPLOAD", status=204),
    ],
    "node_coverage": [
        covered("example-artifacts", end="11:30"), covered("example-artifacts", "11:30"),
        covered("example-half", end="11:00"), covered("example-half", "12:00"),
    ],
    "container_states": [
        {"cluster": "alder", "pod_uid": uid(x), "container": "polyaxon-sidecar",
         "container_role": "sidecar", "state": "terminated", "exit_code": code,
         "observed_at": at("12:01"), "record_id": f"side{x}"}
        for x, code in (("a", 0), ("m", 0), ("i", 1))
    ],
    "stage_marks": [mark("h", 5000), mark("p", 5000), mark("a", 5000)],
    "pod_traffic": [sent("h", 4000), sent("p", None), sent("a", 5000)],
}  # fmt: skip


def build(tables: dict[str, Rows]) -> pl.DataFrame:
    shown = {name: tables.get(name, []) for name in READ}
    with SqlSession(threads=1) as session:
        show(session, **shown)
        built = run_outputs.TRANSFORM.build(session, BuildDay(DAY, "fleet"))
        return checked(session, "run_outputs", built)


def test_every_run_gets_the_right_verdict() -> None:
    rows = build(TABLES)
    of_store = rows.filter(pl.col("expected_from") == "artifacts_store")
    assert dict(of_store.select("run_uuid", "proof").rows()) == {
        uuid(x): proof for x, proof in TRUTH.items()
    }
    assert rows.height == of_store.height
    found = {row["run_uuid"]: row for row in rows.to_dicts()}
    first = found[uuid("a")]
    assert (first["resource_id"], first["name"], first["bucket"], first["uploaded_at"]) == (
        f"{STORE}/{uuid('a')}", "store", "example-artifacts", at("11:59"),
    )  # fmt: skip
    assert (first["object_count"], first["bytes"], first["stated_bytes"]) == (1, 1000, 5000)
    assert found[uuid("e")]["reason"] == "the last write failed: AccessDenied"
    assert found[uuid("d")]["object_count"] == 1
    later = found[uuid("q")]
    assert (later["deleted_at"], later["object_count"], later["remaining_object_count"]) == (
        at("14:00"), 1, 0,
    )  # fmt: skip
    assert found[uuid("n")]["resource_id"] is None
    # The sidecar's word is told, and proves nothing.
    dark = found[uuid("m")]
    assert dark["reason"] == (
        "requests to the bucket are not all logged; the sidecar that uploads ended with exit code 0"
    )
    assert (dark["sidecar_exit_code"], "sidem" in dark["evidence_ids"]) == (0, True)


def artifact(name: str, kind: str, path: str, **more: Any) -> dict[str, Any]:
    return {
        "run_uuid": uuid("a"), "name": name, "kind": kind, "path": path, "is_input": False,
        "stated_in": "lineage", "observed_at": at("12:00"), "observed_basis": "record",
        "record_id": f"art-{name}",
    } | more  # fmt: skip


def test_lineage_and_checkpoints_are_expected_below_the_store() -> None:
    key = f"{STORE}/{uuid('a')}"
    rows = build(
        {
            "run_versions": [run("a")],
            "pod_intervals": [pod("a")],
            "declared_dependencies": [
                store("a"),
                store("a") | {
                    "declared_dependency_id": "w", "component": None, "connection": "models",
                    "resource_id": "s3://example-models/prod", "container_role": "main",
                },
            ],
            "run_artifacts": [
                artifact("model", "model", "outputs/model.bin"),
                artifact("last", "file", "outputs/checkpoint-9"),
                # No files, or read and not made, or events.
                artifact("code", "coderef", "code"),
                artifact("set", "data", "data", is_input=True),
                artifact("loss", "metric", "events/metric/loss.plx", event_count=7),
            ],
            "object_transfers": [written("a", "11:00")],
            "node_coverage": [covered("example-artifacts"), covered("example-models")],
        }
    )  # fmt: skip
    assert set(rows.select("resource_id", "name", "expected_from", "proof").rows()) == {
        (key, "store", "artifacts_store", "proven"),
        (f"{key}/outputs/model.bin", "model", "lineage", "proven"),
        (f"{key}/outputs/checkpoint-9", "last", "checkpoint", "unproven"),
        ("s3://example-models/prod", "models", "declared", "unproven"),
    }


def test_checkpoints_are_expected_where_the_run_writes_them() -> None:
    place = {"key": "ckpt-1/a", "object_id": "s3://other/ckpt-1/a", "bucket": "other"}
    place["resource_id"] = "s3://other"
    log = {"key": "log/a", "object_id": "s3://third/log/a", "resource_id": "s3://third"}
    rows = build(
        {
            "run_versions": [run(x, artifacts_store=None) for x in "ab"] + [run("c", "failed")],
            "pod_intervals": [pod(x) for x in "abc"],
            "object_transfers": [
                written("a", "11:00", **place), written("a", "11:00") | log | {"transfer_id": "l"},
                failed("b", "11:00") | place, failed("c", "11:00") | place,
            ],
        }
    )  # fmt: skip
    chosen = rows.select("run_uuid", "resource_id", "expected_from", "proof").rows()
    assert chosen == [
        (uuid("a"), "s3://other", "checkpoint", "proven"),
        (uuid("b"), "s3://other", "checkpoint", "contradicted"),
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_rows_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    shuffled = {name: chance.sample(rows, len(rows)) for name, rows in TABLES.items()}
    assert build(shuffled).equals(build(TABLES))


def test_an_output_carries_how_far_its_buckets_log_was_there() -> None:
    found = {
        row["run_uuid"]: (row["expected_us"], row["covered_us"], row["empty_means"])
        for row in build(TABLES).to_dicts()
    }
    # Ten to an hour behind twelve; nothing of one bucket is logged, of one no hour from eleven.
    hour = 3_600_000_000
    assert {x: found[uuid(x)] for x in "imno"} == {
        "i": (3 * hour, 3 * hour, "nothing_happened"),
        "m": (3 * hour, 0, "not_observed"),
        "n": (None, None, "not_observed"),
        "o": (3 * hour, 2 * hour, "partly_observed"),
    }

"""findings: every planted fault is found once, with the owner who can end it."""

import random
from datetime import timedelta
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.marts import findings
from transforms.sql import SqlSession

Rows = list[dict[str, Any]]
READ = [read.table for read in findings.TRANSFORM.reads]
YESTERDAY = DAY - timedelta(days=1)
SECOND = 1_000_000


def uuid(letter: str) -> str:
    return format(ord(letter), "032x")


def wait(letter: str, cause: str, seconds: int, **more: Any) -> dict[str, Any]:
    return {
        "wait_id": f"w{letter}{cause}{len(more)}{more.get('date', DAY)}", "cluster": "alder",
        "run_uuid": uuid(letter), "pod_uid": f"p{letter}", "container": "main", "cause": cause,
        "start_at": at("10:00"), "end_at": at("10:10"), "duration_us": seconds * SECOND,
        "gpu_us": 2 * seconds * SECOND, "sources": [], "evidence_ids": [],
    } | more  # fmt: skip


def pull(letter: str, error: str) -> dict[str, Any]:
    image = f"registry.example.com/{letter}:401"
    return {
        "image_pull_id": f"i{letter}", "cluster": "alder", "run_uuid": uuid(letter),
        "image": image, "registry": "registry.example.com", "start_at": at("10:00"),
        "error": f'Failed to pull image "{image}": {error}', "error_count": 3,
    }  # fmt: skip


def dependency(letter: str, project: str, resource: str, declaration: str, **more: Any) -> Any:
    return {
        "run_dependency_id": f"d{letter}{resource}", "run_uuid": uuid(letter), "project": project,
        "resource_id": resource, "operation": "read", "declaration": declaration,
        "request_count": 4, "first_seen_at": at("10:00"), "last_seen_at": at("10:30"),
    } | more  # fmt: skip


def denied(letter: str, error: str, **more: Any) -> Any:
    return dependency(
        letter, "vision", f"s3://closed-{letter}", "declared_denied", denied_count=4,
        first_error=error, **more,
    )  # fmt: skip


def storm(letter: str, **more: Any) -> dict[str, Any]:
    return {
        "storm_id": f"storm-{letter}", "cluster": "alder", "run_uuid": uuid(letter),
        "pod_uid": f"p{letter}", "resource_id": f"s3://closed-{letter}",
        "activity": "object_access", "error_class": "forbidden", "failure_count": 9,
        "day_failure_count": 9, "retry_end": "unbounded", "responsible": "storage",
        "start_at": at("10:00"), "end_at": at("10:20"), "day_lost_us": 50 * SECOND,
        "day_lost_gpu_us": 50 * SECOND,
    } | more  # fmt: skip


def ended(letter: str, message: str | None, **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder", "pod_uid": f"p{letter}", "container": "polyaxon-main",
        "container_role": "main", "state": "terminated", "exit_code": 1, "reason": "Error",
        "message": message, "finished_at": at("10:20"), "observed_at": at("11:00"),
        "record_id": f"c{letter}",
    } | more  # fmt: skip


def transfer(letter: str, principal: str, resource: str) -> dict[str, Any]:
    return {
        "transfer_id": f"t{letter}{principal}", "run_uuid": uuid(letter), "principal": principal,
        "resource_id": resource, "operation": "read", "start_at": at("10:00"),
        "end_at": at("10:01"), "request_count": 2,
    }  # fmt: skip


def output(letter: str, proof: str, reason: str) -> dict[str, Any]:
    return {
        "run_output_id": f"o{letter}", "run_uuid": uuid(letter), "proof": proof,
        "reason": reason, "resource_id": f"s3://out/{letter}", "name": "store",
    }  # fmt: skip


def repeat(letter: str | None, remedy: str | None, scope: str = "fleet", **more: Any) -> Any:
    return {
        "repeat_transfer_id": f"again-{letter}{scope}{remedy}", "transfer_id": f"x{letter}{remedy}",
        "scope": scope, "run_uuid": uuid(letter) if letter else None, "cluster": "alder",
        "resource_id": "s3://data/set", "remedy": remedy, "min_repeat_bytes": 100,
        "max_repeat_bytes": 100, "start_at": at("11:00"), "min_avoidable_usd": Decimal("1.5"),
        "max_avoidable_usd": Decimal(2),
    } | more  # fmt: skip


PLANTED: dict[str, tuple[str, str]] = {
    "a": ("pull_failure", "registry"), "b": ("pull_failure", "ml_team"),
    "c": ("pull_failure", "platform"), "d": ("pull_failure", "network"),
    "e": ("slow_pull", "platform"), "f": ("placement_wait", "platform"),
    "g": ("volume_wait", "platform"), "h": ("denied_storage", "storage"),
    "i": ("denied_storage", "identity"), "j": ("denied_network", "network"),
    "k": ("failed_import", "ml_team"), "l": ("failed_container", "ml_team"),
    "m": ("cross_project_read", "identity"), "n": ("undeclared_principal", "identity"),
    "o": ("output_contradicted", "storage"), "p": ("output_contradicted", "identity"),
    "q": ("output_unproven", "ml_team"), "r": ("byte_balance_violation", "platform"),
    "s": ("missing_coverage", "platform"), "t": ("repeat_transfer", "platform"),
    "u": ("repeat_transfer", "storage"), "v": ("failed_import", "ml_team"),
    "w": ("pull_failure", "registry"),
}  # fmt: skip
"""Kind and owner of the one fault of each run; `x` has a storm and its denial, `y` no fault."""

TABLES: dict[str, Rows] = {
    "runs": [
        {"run_id": x, "run_uuid": uuid(x), "attempt": 1, "cluster": "alder",
         "project": "speech" if x == "m" else "vision"}
        for x in (*PLANTED, "x", "y")
    ],
    "image_pulls": [
        # The tag of the image is no status.
        pull("a", "unexpected status: 429 Too Many Requests"), pull("b", "manifest unknown"),
        pull("c", "no space left on device"), pull("d", "dial tcp: lookup: no such host"),
        pull("w", "unauthorized: authentication required"),
    ],
    "waits": [
        wait("a", "image_pull", 5, resource_id="oci://registry.example.com/a:401"),
        wait("e", "image_pull", 45, resource_id="oci://registry.example.com/e:1"),
        wait("e", "image_pull", 20, resource_id="oci://registry.example.com/e:1", date=YESTERDAY),
        wait("f", "placement", 600, container=None, first_error="0/3 nodes are available"),
        wait("g", "volume", 61, gpu_us=None),
        wait("h", "denied", 30, resource_id="s3://closed-h"),
        wait("x", "denied", 50, resource_id="s3://closed-x"),
        # Too short to act on, and no waits at all.
        wait("y", "placement", 59), wait("y", "image_pull", 59), wait("y", "working", 9000),
    ],
    "run_dependencies": [
        denied("h", "AccessDenied"), denied("i", "ExpiredToken"), denied("x", "AccessDenied"),
        dependency("j", "vision", "dns://api.example.com:443", "seen_not_declared",
                   operation="connect", denied_count=3, first_error="POLICY_DENIED"),
        dependency("m", "speech", "s3://theirs/set", "seen_not_declared"),
        dependency("y", "vision", "s3://theirs/set", "declared_seen"),
        # Read by a project of which one run declares it, and declared by nobody.
        dependency("n", "vision", "s3://theirs/set", "seen_not_declared"),
        dependency("n", "vision", "s3://nobody", "seen_not_declared"),
    ],
    "object_transfers": [
        # One role, which each run assumes under a name of its own.
        transfer("y", "arn:aws:sts::111122223333:assumed-role/vision/y", "s3://theirs/set"),
        transfer("n", "arn:aws:sts::111122223333:assumed-role/vision/n", "s3://theirs/set"),
        transfer("n", "arn:aws:iam::111122223333:user/somebody", "s3://nobody"),
        # No declared access of the project shows whom it uses.
        transfer("m", "arn:aws:iam::111122223333:role/speech", "s3://theirs/set"),
    ],
    "storms": [
        storm("x"), storm("x", date=YESTERDAY, failure_count=4, day_lost_us=0, day_lost_gpu_us=0),
    ],
    "pod_intervals": [
        {"cluster": "alder", "pod_uid": f"p{x}", "run_uuid": uuid(x), "address": x,
         "start_at": at("10:00"), "created_at": at("10:00")}
        for x in "kvly"
    ],
    "container_states": [
        ended("k", "ModuleNotFoundError: No module named 'torch'"), ended("v", None),
        ended("l", None, exit_code=137, reason="OOMKilled"),
        ended("y", None, exit_code=0, reason="Completed"),
        ended("y", None, container="polyaxon-sidecar", container_role="sidecar"),
    ],
    "stage_marks": [
        {"cluster": "alder", "pod_uid": "pv", "event_at": at("10:10"), "error_type": "ImportError",
         "activity": "startup", "outcome": "error", "record_id": "mark"},
    ],
    "run_outputs": [
        output("o", "contradicted", "the last write failed: AccessDenied"),
        output("p", "contradicted", "the last write failed: ExpiredToken"),
        output("q", "unproven", "none wrote it"), output("y", "not_observed", "gaps"),
    ],
    "byte_balance": [
        {"byte_balance_id": f"bal{n}", "cluster": "alder", "pod_uid": "pr", "run_uuid": uuid("r"),
         "direction": "receive", "hour_start_at": at(f"1{n}:00"), "chosen_by": "none",
         "day_violations": ["flow_exceeds_interface"]}
        for n in range(2)
    ],
    "run_coverage": [
        {"run_coverage_id": f"cov{source}{x}", "run_uuid": uuid(x), "source": source,
         "expected_us": 10, "empty_means": means}
        for x, source, means in (
            ("s", "flows", "not_observed"), ("s", "dns_lookups", "partly_observed"),
            ("y", "flows", "nothing_happened"),
        )
    ],
    "repeat_transfers": [
        repeat("t", "node_cache"), repeat("t", "node_cache", "node"),
        repeat("t", "node_cache", date=YESTERDAY, max_avoidable_usd=None),
        repeat("u", "bucket_replica"), repeat("y", None), repeat(None, "zone_cache"),
    ],
    "counter_findings": [
        {"counter_finding_id": f"cf{kind}", "cluster": "alder", "series_id": "s", "observer": "o",
         "kind": kind, "detail": "it falls", "first_at": at("10:00"), "last_at": at("11:00")}
        for kind in ("falls_like_delta", "wraps")
    ],
    "volume_findings": [
        {"volume_finding_id": f"vf{is_bad}", "scope": "fleet", "source_format": "netobserv",
         "observer": "n1", "kind": "moving_start" if is_bad else "no_reading",
         "is_contradiction": is_bad, "temporality": "delta", "detail": "d", "record_count": 3,
         "first_at": at("10:00"), "last_at": at("11:00")}
        for is_bad in (True, False)
    ],
}  # fmt: skip


def build(tables: dict[str, Rows]) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        show(session, **{name: tables.get(name, []) for name in READ})
        built = findings.TRANSFORM.build(session, BuildDay(DAY, "fleet"))
        return checked(session, "findings", built)


@pytest.fixture(scope="module")
def found() -> pl.DataFrame:
    return build(TABLES)


def of(found: pl.DataFrame, letter: str, kind: str) -> dict[str, Any]:
    rows = found.filter((pl.col("run_uuid") == uuid(letter)) & (pl.col("kind") == kind))
    assert rows.height == 1
    return rows.row(0, named=True)


def test_every_planted_fault_is_found_once_with_its_owner(found: pl.DataFrame) -> None:
    of_runs = found.filter(pl.col("run_uuid").is_not_null())
    assert sorted(of_runs.select("run_uuid", "kind", "responsible").rows()) == sorted(
        [
            *((uuid(x), *fault) for x, fault in PLANTED.items()),
            (uuid("x"), "retry_storm", "storage"), (uuid("x"), "denied_storage", "storage"),
        ]
    )  # fmt: skip
    others = found.filter(pl.col("run_uuid").is_null())
    assert sorted(others.select("kind", "responsible").rows()) == [
        ("contradicted_counter", "platform"), ("contradicted_volume", "platform"),
        ("repeat_transfer", "platform"),
    ]  # fmt: skip


def test_what_was_lost_is_counted_once_and_ranks_first(found: pl.DataFrame) -> None:
    assert found["rank"].to_list() == list(range(1, found.height + 1))
    lost = {
        (row["run_uuid"], row["kind"]): row["lost_gpu_seconds"]
        for row in found.filter(pl.col("lost_gpu_us") > 0).to_dicts()
    }
    # In the order of the ranks: two GPUs waited 600, 65, 30 and 5 s, a storm lost 50.
    assert list(lost.items()) == [
        ((uuid("f"), "placement_wait"), 1200.0),
        ((uuid("e"), "slow_pull"), 130.0),
        ((uuid("h"), "denied_storage"), 60.0),
        ((uuid("x"), "retry_storm"), 50.0),
        ((uuid("a"), "pull_failure"), 10.0),
    ]
    assert of(found, "x", "denied_storage")["lost_us"] == 0
    unknown = of(found, "g", "volume_wait")
    assert (unknown["lost_us"], unknown["lost_gpu_us"]) == (61 * SECOND, None)
    # Behind them what can be saved: 3 USD of two days, then 1.5.
    assert found["kind"][5] == "repeat_transfer"
    again = of(found, "t", "repeat_transfer")
    assert (again["rank"], again["avoidable_usd"], again["max_avoidable_usd"]) == (
        6, Decimal(3), None,
    )  # fmt: skip
    assert of(found, "u", "repeat_transfer")["max_avoidable_usd"] == Decimal(2)


def test_of_a_denial_what_its_storm_lost_stands_with_the_storm() -> None:
    found = build({
        "runs": [{"run_id": "h", "run_uuid": uuid("h"), "attempt": 1, "cluster": "alder"}],
        "run_dependencies": [denied("h", "AccessDenied")],
        "waits": [
            wait("h", "denied", 30, resource_id="s3://closed-h", stage="upload",
                 container_role="main"),
            # The same time of the container beside it.
            wait("h", "denied", 30, resource_id="s3://closed-h", stage="upload", gpu_us=0,
                 container_role="sidecar"),
        ],
        "storms": [
            storm("h", day_lost_us=10 * SECOND, day_lost_gpu_us=20 * SECOND),
            # Throttling denies nothing.
            storm("h", storm_id="slow", error_class="throttled", day_lost_us=99 * SECOND),
        ],
    })  # fmt: skip
    row = of(found, "h", "denied_storage")
    assert (row["lost_us"], row["lost_gpu_us"]) == (20 * SECOND, 40 * SECOND)


def test_a_finding_says_what_it_knows(found: pl.DataFrame) -> None:
    row = of(found, "x", "retry_storm")
    assert row["detail"] == "9 failures (forbidden), unbounded"
    assert (row["evidence_ids"], row["occurrence_count"]) == (["storm-x"], 9)
    assert of(found, "f", "placement_wait")["detail"].endswith("0/3 nodes are available")
    assert of(found, "m", "cross_project_read")["detail"] == (
        "project speech read what only vision declares"
    )
    assert of(found, "n", "undeclared_principal")["subject"].endswith(":user/somebody")
    assert of(found, "v", "failed_import")["evidence_ids"] == ["cv", "mark"]
    assert of(found, "s", "missing_coverage")["detail"] == (
        "not wholly observed by dns_lookups, flows"
    )
    assert of(found, "r", "byte_balance_violation")["occurrence_count"] == 2
    assert all(found["suggested_change"].to_list())
    assert all(found["shown_by"].to_list())
    assert all(ids for ids in found["evidence_ids"].to_list())


def test_each_kind_and_remedy_has_one_rule() -> None:
    with SqlSession(threads=1) as session:
        session.create("rules", "transforms.marts", "finding_rules")
        session.create("owners", "transforms.marts", "owner_rules")
        rules, owners = session.frame("rules"), session.frame("owners")
    from schemas.marts.findings import KINDS
    from schemas.marts.repeats import REMEDIES
    from schemas.marts.waits import ACTIVITIES

    assert set(rules["kind"]) == set(KINDS)
    assert sorted(r for r in rules["remedy"] if r) == sorted(REMEDIES)
    assert rules.select("kind", "remedy").is_duplicated().sum() == 0
    assert owners.select("activity", "error_class").is_duplicated().sum() == 0
    rest = set(owners.filter(pl.col("error_class").is_null())["activity"])
    assert set(owners["activity"]) == rest
    assert set(ACTIVITIES) <= rest


def test_the_order_of_rows_changes_nothing(found: pl.DataFrame) -> None:
    chance = random.Random(1)
    shuffled = {name: chance.sample(rows, len(rows)) for name, rows in TABLES.items()}
    assert build(shuffled).equals(found)


def test_a_finding_carries_how_far_what_shows_it_observed_the_run() -> None:
    said = [
        {"run_coverage_id": f"c{x}{source}", "run_uuid": uuid(x), "source": source,
         "expected_us": 10, "covered_us": covered, "empty_means": "partly_observed"}
        for x, source, covered in (
            ("h", "object_requests:closed-h", 7), ("r", "counter_samples", 5), ("k", "flows", 3),
        )
    ]  # fmt: skip
    found = build(TABLES | {"run_coverage": said})
    carried = {
        (letter, kind): tuple(
            of(found, letter, kind)[c] for c in ("expected_us", "covered_us", "empty_means")
        )
        for letter, kind in (
            ("h", "denied_storage"), ("r", "byte_balance_violation"), ("k", "failed_import"),
            ("k", "missing_coverage"), ("j", "denied_network"),
        )
    }  # fmt: skip
    assert carried == {
        ("h", "denied_storage"): (10, 7, "partly_observed"),
        ("r", "byte_balance_violation"): (10, 5, "partly_observed"),
        ("k", "failed_import"): (None, None, None),
        ("k", "missing_coverage"): (10, 3, "partly_observed"),
        ("j", "denied_network"): (None, None, "not_observed"),
    }

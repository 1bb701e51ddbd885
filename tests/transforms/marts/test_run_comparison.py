"""Pairs of runs that differ by exactly one thing, and pairs that differ in nothing."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import at, frame
from transforms.marts.manifest import RunFacts
from transforms.marts.run_comparison import Comparison, comparison_of, side_of

A, B = "a" * 32, "b" * 32
BUCKET = "s3://example-datasets"
DATASET = f"{BUCKET}/imagenet"
SECOND = 1_000_000
GB = 10**9

STAGES: dict[tuple[str | None, str | None, str, str], float] = {
    (None, None, "scheduling", "placement"): 4,
    (None, None, "sandbox", "sandbox"): 1,
    ("init", "fetch", "image_pull", "image_pull"): 6,
    ("init", "fetch", "init", "connect"): 0.5,
    ("init", "fetch", "init", "transfer"): 100,
    ("init", "fetch", "init", "unexplained"): 3,
    ("main", "train", "image_pull", "image_pull"): 40,
    ("main", "train", "startup", "working"): 20,
    ("main", "train", "compute", "working"): 3_600,
    ("sidecar", "watch", "compute", "working"): 3_700,
    ("sidecar", "watch", "upload", "upload"): 5,
}
"""Seconds of a run by (role, container, stage, cause)."""


def rows(table: str, *given_rows: dict[str, Any]) -> list[dict[str, Any]]:
    return frame(table, given_rows, date_column=True).to_dicts()


def run(
    uuid: str,
    seconds: dict[tuple[str | None, str | None, str, str], float] | None = None,
    *,
    digest: str = "sha256:1",
    was_present: bool = False,
    code: str | None = "9f1c2ab",
    version: str | None = "v1",
    instance_type: str = "p4d.24xlarge",
    distance: str = "same_region",
    transferred: int | None = 10 * GB,
    covered: dict[str, int] | None = None,
    pod: str = "p1",
) -> RunFacts:
    """A run whose pod reads a dataset in its init container and then trains."""
    clock, waits = at("10:00"), []
    for (role, container, stage, cause), length in {**STAGES, **(seconds or {})}.items():
        end = clock + timedelta(seconds=length)
        if length:
            waits.append(
                {
                    "wait_id": f"{len(waits)}", "run_uuid": uuid, "attempt": 1, "pod_uid": pod,
                    "cluster": "alder", "node": f"node-{uuid[0]}", "container": container,
                    "container_role": role, "stage": stage, "cause": cause, "start_at": clock,
                    "end_at": end, "duration_us": round(length * SECOND),
                    "resource_id": DATASET if cause == "transfer" else None,
                    "transferred_bytes": transferred if cause == "transfer" else None,
                }
            )  # fmt: skip
        clock = end
    dependency = {
        "run_uuid": uuid, "attempt": 1, "resource_id": DATASET, "operation": "read",
        "version": version, "declaration": "declared_seen",
    }  # fmt: skip
    # Where a run writes lies under its own name and is no difference.
    written = dependency | {"resource_id": f"s3://example-runs/{uuid}", "operation": "write"}
    pull = {
        "run_uuid": uuid, "pod_uid": pod, "container": "train", "image": "example.com/train:1",
        "image_digest": digest, "was_present": was_present,
        "min_transferred_bytes": 0 if was_present else 5 * GB,
        "max_transferred_bytes": 0 if was_present else 5 * GB,
    }  # fmt: skip
    cost = {
        "run_uuid": uuid, "resource_id": DATASET, "distance": distance, "gateway": "none",
        "charge_kind": "transfer", "from_region": "us-east-1",
    }  # fmt: skip
    covered = (
        {"flows": 100, "object_requests:example-datasets": 100} if covered is None else covered
    )
    return RunFacts(
        uuid,
        {
            "runs": rows("runs", {"run_uuid": uuid, "attempt": 1, "code_revision": code,
                                  "image_digests": [digest]}),
            "waits": rows("waits", *waits),
            "run_dependencies": rows("run_dependencies", dependency, written),
            "image_pulls": rows("image_pulls", pull),
            "transfer_costs": rows("transfer_costs", cost),
            "run_coverage": rows("run_coverage", *(
                {"run_uuid": uuid, "source": source, "covered_us": share, "expected_us": 100}
                for source, share in covered.items()
            )),
            "nodes": [{"cluster": "alder", "node": f"node-{uuid[0]}",
                       "instance_type": instance_type}],
        },
    )  # fmt: skip


def compared(a: RunFacts, b: RunFacts) -> Comparison:
    found = comparison_of(side_of("A", [a]), side_of("B", [b]))
    total = sum(p.duration_us for p in found.explained) + found.within_bound_us + found.refused_us
    assert total == found.difference_us
    return found


def named(found: Comparison) -> dict[str, int]:
    return {" + ".join(p.factors): p.duration_us // SECOND for p in found.explained}


INIT = ("init", "fetch", "init", "transfer")
PULL = ("main", "train", "image_pull", "image_pull")
START = ("main", "train", "startup", "working")
TRAIN = ("main", "train", "compute", "working")
# What no two runs have exactly alike; each is within 2 s or 2 % of its stage.
NOISE = {
    (None, None, "scheduling", "placement"): 5.5,
    ("init", "fetch", "init", "connect"): 0.9,
    START: 21.5,
    TRAIN: 3_650,
    ("sidecar", "watch", "upload", "upload"): 3.5,
}  # fmt: skip


def test_runs_that_differ_in_nothing_name_nothing() -> None:
    for b in (run(B), run(B, NOISE), run(B, {INIT: 102, PULL: 38})):
        found = compared(run(A), b)
        assert named(found) == {}
        assert found.refused == ()
        assert found.differences == ()
    assert compared(run(A), run(B)).difference_us == 0


PAIRS = [
    # A warm cache: the dataset lies on the node, 10 GB at 100 MB/s less.
    ("cache", -97, {INIT: 3}, {"transferred": 300_000_000}),
    ("cache", -100, {INIT: 0}, {}),
    # A warm cache of images: nothing is pulled.
    ("cache", -40, {PULL: 0}, {"was_present": True}),
    # Another region: the same bytes, further away.
    ("path", 300, {INIT: 400}, {"distance": "cross_region"}),
    # A new image, which is to be pulled anew.
    ("image", 80, {PULL: 120}, {"digest": "sha256:2"}),
    # Slower code.
    ("code", 900, {TRAIN: 4_500}, {"code": "0badc0d"}),
    ("node_type", 900, {TRAIN: 4_500}, {"instance_type": "g5.xlarge"}),
    # A larger version of the data: 10 GB more at the same rate.
    ("data", 100, {INIT: 200}, {"version": "v2", "transferred": 20 * GB}),
]


@pytest.mark.parametrize(("thing", "seconds", "changed", "facts"), PAIRS)
def test_the_one_thing_that_differs_is_named_with_its_seconds(
    thing: str,
    seconds: int,
    changed: dict[tuple[str | None, str | None, str, str], float],
    facts: dict[str, Any],
) -> None:
    found = compared(run(A), run(B, changed, **facts))
    assert named(found) == {thing: seconds}
    assert sum(p.duration_us for p in found.explained) == found.difference_us
    # What no two runs have alike takes nothing from it, and names nothing beside it.
    noisy = compared(run(A), run(B, NOISE | changed, **facts))
    assert noisy.explained == found.explained
    assert noisy.within_bound_us
    assert named(compared(run(B, changed, **facts), run(A))) == {thing: -seconds}


def test_bytes_go_to_the_cache_at_the_rate_of_a_and_the_rest_to_the_path() -> None:
    # 5 GB less at 100 MB/s saves 50 s; that it took 250 s is the path.
    found = compared(run(A), run(B, {INIT: 250}, transferred=5 * GB, distance="cross_region"))
    assert named(found) == {"path": 200, "cache": -50}
    # Where no log tells the bytes, and the path is the same, nothing explains it.
    assert named(compared(run(A, transferred=None), run(B, {INIT: 250}, transferred=None))) == {
        "unexplained": 150
    }


def test_several_things_that_differ_are_listed_together_with_one_sum() -> None:
    b = run(B, {TRAIN: 4_600}, code="0badc0d", instance_type="g5.xlarge")
    assert named(compared(run(A), b)) == {"code + node_type": 1_000}
    # What is not known of one side does not differ; the wait for a place is its own name.
    b = run(B, {TRAIN: 4_600, (None, None, "scheduling", "placement"): 64}, code=None)
    found = compared(run(A), b)
    assert named(found) == {"unexplained": 1_000, "placement": 60}
    assert "code revision of B" in found.unknown


def test_what_is_within_two_seconds_or_two_percent_is_not_named() -> None:
    for length, expected in ((22, {}), (22.000001, {"code": 2})):
        assert named(compared(run(A), run(B, {START: length}, code="0badc0d"))) == expected
    for length, expected in ((3_672, {}), (3_672.000001, {"code": 72})):
        assert named(compared(run(A), run(B, {TRAIN: length}, code="0badc0d"))) == expected


def test_stages_of_which_one_side_was_not_seen_are_refused() -> None:
    b = run(B, {INIT: 0, ("init", "fetch", "init", "unexplained"): 80, TRAIN: 4_500},
            code="0badc0d", covered={"flows": 94, "object_requests:other": 0})  # fmt: skip
    found = compared(run(A), b)
    assert {(r.role, r.stage) for r in found.refused} == {
        ("init", "init"), ("main", "startup"), ("sidecar", "upload"),
    }  # fmt: skip
    (why,) = {r.why for r in found.refused}
    assert why == "flows covers 100 % and 94 %: more than 5 percentage points apart"
    # The training itself is told by states, which both sides have.
    assert named(found) == {"code": 900}
    assert found.refused_us == -23 * SECOND
    assert compared(run(A), run(B, covered={"flows": 95})).refused == ()
    assert compared(run(A), run(B, covered={})).refused != ()


def test_the_replica_that_ends_last_is_compared() -> None:
    slow, fast = run(A, {TRAIN: 5_000}, pod="p2"), run(A)
    both = RunFacts(A, {**slow.rows, "waits": [*fast.of("waits"), *slow.of("waits")]})
    assert compared(both, run(B)).difference_us == -1_400 * SECOND
    # The sidecar that runs beside is shown and not added.
    assert any(part.is_beside and part.a_us for part in compared(both, run(B)).parts)


def test_a_sidecar_counts_only_where_the_main_containers_have_no_such_stage() -> None:
    upload = ("sidecar", "watch", "upload", "upload")
    assert named(compared(run(A), run(B, {upload: 65}))) == {"upload": 60}
    of_main = {upload: 65, ("main", "train", "upload", "upload"): 65}
    assert named(compared(run(A), run(B, of_main))) == {"upload": 65}
    training = ("sidecar", "watch", "compute", "working")
    assert compared(run(A), run(B, {training: 9_000})).difference_us == 0


def test_groups_are_exact_sums_divided_once() -> None:
    group = [run(A, {TRAIN: 100.000001}), run(B, {TRAIN: 200}), run("c" * 32, {TRAIN: 300})]
    side = side_of("A", group)
    assert side.parts["main", "compute", "working"].duration_us == 200_000_000
    assert side.parts["init", "init", "transfer"].transferred_bytes == 10 * GB
    other = side_of("B", [run("d" * 32, {TRAIN: 260}, code="0badc0d")])
    assert named(comparison_of(side, other)) == {"code": 60}
    assert named(comparison_of(side, side)) == {}


lengths = st.dictionaries(st.sampled_from(sorted(STAGES, key=str)), st.integers(0, 9_000))
facts_of = st.fixed_dictionaries(
    {},
    optional={
        "digest": st.sampled_from(["sha256:1", "sha256:2"]),
        "was_present": st.booleans(),
        "code": st.sampled_from(["9f1c2ab", "0badc0d", None]),
        "version": st.sampled_from(["v1", "v2", None]),
        "distance": st.sampled_from(["same_region", "cross_region", "unknown"]),
        "transferred": st.none() | st.integers(0, 2**40),
        "covered": st.just({"flows": 80}),
    },
)


@settings(max_examples=20)
@given(a=lengths, b=lengths, of_a=facts_of, of_b=facts_of)
def test_all_pieces_add_up_to_the_difference_whatever_differs(
    a: dict[Any, float], b: dict[Any, float], of_a: dict[str, Any], of_b: dict[str, Any]
) -> None:
    left, right = run(A, a, **of_a), run(B, b, **of_b)
    found = compared(left, right)
    assert found.difference_us == -compared(right, left).difference_us
    assert all(p.named == () for p in found.parts if p.is_refused)
    assert named(compared(left, left)) == {}
    reverse = RunFacts(A, {name: list(reversed(rows or ())) for name, rows in left.rows.items()})
    assert compared(reverse, right).parts == found.parts

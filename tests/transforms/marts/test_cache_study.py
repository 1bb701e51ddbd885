"""What caches would have saved, from rows by hand."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from tests.transforms.frames import DAY, at, frame
from transforms.marts.cache_study import Point, Study, study
from transforms.sql import SqlSession

R1, R2, R3 = "1" * 32, "2" * 32, "3" * 32
MB = 1_000_000


def read(number: int, clock: str, key: str, **more: Any) -> dict[str, Any]:
    """One whole read of an object of 10 MB by a pod of a node in us-east-1a."""
    day = more.get("date", DAY)
    return {
        "transfer_id": f"t{number}", "start_at": at(clock, day), "end_at": at(clock, day),
        "provider": "s3", "bucket": "example-datasets", "key": key, "operation": "read",
        "object_id": f"s3://example-datasets/{key}", "resource_id": "s3://example-datasets",
        "transferred_bytes": 10 * MB, "object_size_bytes": 10 * MB, "cluster": "alder",
        "node": "n1", "reader_zone": "us-east-1a", "reader_region": "us-east-1", "run_uuid": R1,
        "etag": "e",
    } | more  # fmt: skip


def studied(
    transfers: list[dict[str, Any]],
    repeats: list[dict[str, Any]] | None = None,
    contacts: list[dict[str, Any]] | None = None,
    **more: Any,
) -> Study:
    """The study of the test day, with a day of warm-up."""
    with SqlSession() as session:
        for name, rows in (
            ("object_transfers", transfers),
            ("repeat_transfers", repeats or []),
            ("run_dependency_days", contacts or []),
        ):
            session.register(name, frame(name, rows, date_column=True))
        return study(session, DAY, DAY, dt.timedelta(days=1), **more)


def point(found: Study, placement: str, start: str = "cold", policy: str = "lru") -> Point:
    """The one point of a kind."""
    (only,) = (
        p for p in found.points if (p.placement, p.start, p.policy) == (placement, start, policy)
    )
    return only


def test_a_cache_answers_what_its_place_read_before() -> None:
    found = studied(
        [
            read(1, "09:00", "a"),
            read(2, "09:10", "a", node="n2", end_at=at("09:10:30")),
            read(3, "09:20", "a", end_at=at("09:20:10")),
            read(4, "09:30", "b"),
            read(5, "09:40", "a", node="n3", reader_zone="us-east-1b"),
        ],
        capacities=[100 * MB],
    )
    kinds = {name: point(found, name) for name in ("node", "zone", "region")}
    assert {name: p.hit_count for name, p in kinds.items()} == {"node": 1, "zone": 2, "region": 3}
    assert {name: p.cache_count for name, p in kinds.items()} == {"node": 3, "zone": 2, "region": 1}
    assert kinds["zone"].hit_bytes == 20 * MB
    assert kinds["zone"].read_bytes == 50 * MB
    assert kinds["zone"].fetched_bytes == 30 * MB
    assert kinds["zone"].max_saved_seconds == 40.0
    assert kinds["zone"].hit_ratio == 0.4


def test_another_version_tag_or_write_is_another_content() -> None:
    found = studied(
        [
            read(1, "09:00", "a"),
            read(2, "09:01", "a", etag="other"),
            read(3, "09:02", "a", version_id="v2"),
            read(
                4, "09:03", "a", operation="write", change_times=[at("09:03")], transferred_bytes=0,
            ),
            read(5, "09:04", "a"),
            read(6, "09:05", "a"),
            read(7, "09:06", "c", provider="gcs", etag=None),
        ],
        capacities=[100 * MB],
    )  # fmt: skip
    only = point(found, "region")
    assert (only.read_count, only.hit_count) == (6, 1)


def test_another_size_is_another_content_and_an_unknown_one_may_be() -> None:
    plain: dict[str, Any] = {"etag": None}
    found = studied(
        [
            read(1, "09:00", "a", **plain),
            read(2, "09:01", "a", **plain, object_size_bytes=11 * MB),
            read(3, "09:02", "a", **plain, object_size_bytes=None),
            read(4, "09:03", "a", **plain, object_size_bytes=11 * MB),
        ],
        capacities=[100 * MB],
    )
    only = point(found, "region")
    assert (only.read_count, only.hit_count, only.unsized_count) == (4, 1, 1)


def test_unknown_sizes_and_places_are_counted_and_never_answered() -> None:
    found = studied(
        [
            read(1, "09:00", "a", object_size_bytes=None),
            read(2, "09:01", "a", object_size_bytes=None),
            read(3, "09:02", "b", node=None, reader_zone=None),
            read(4, "09:03", "b", node=None, reader_zone=None),
        ],
        capacities=[100 * MB],
    )
    node, region = point(found, "node"), point(found, "region")
    assert (node.hit_count, node.unplaced_count, node.unsized_count) == (0, 2, 2)
    assert (region.hit_count, region.unplaced_count) == (1, 0)


def test_only_reads_of_somebody_that_may_have_moved_bytes_ask_a_cache() -> None:
    unlogged = {"transferred_bytes": 0, "unlogged_bytes_count": 1, "object_size_bytes": None}
    found = studied(
        [
            read(1, "09:00", "a", principal="svc:replication"),
            read(2, "09:01", "a", transferred_bytes=0),
            read(3, "09:02", "a", **unlogged, not_modified_count=1),
            read(4, "09:03", "a", **unlogged),
            read(5, "09:04", "a"),
            read(6, "09:05", "a"),
        ],
        capacities=[100 * MB],
    )
    only = point(found, "region")
    assert (only.read_count, only.unsized_count, only.hit_count) == (3, 1, 1)


def test_a_warm_cache_saw_the_days_before_and_counts_only_the_asked_ones() -> None:
    before = DAY - dt.timedelta(days=1)
    found = studied(
        [read(1, "20:00", "a", date=before), read(2, "09:00", "a"), read(3, "09:01", "a")],
        capacities=[100 * MB],
    )
    cold, warm = point(found, "node"), point(found, "node", "warm")
    assert (cold.read_count, cold.hit_count) == (2, 1)
    assert (warm.read_count, warm.hit_count) == (2, 2)
    assert warm.fetched_bytes == 0


def test_a_transfer_over_midnight_is_one_read_with_the_bytes_of_both_days() -> None:
    before = DAY - dt.timedelta(days=1)
    found = studied(
        [
            read(1, "23:00", "a", date=before, transferred_bytes=4 * MB),
            read(1, "23:00", "a", date=DAY, start_at=at("23:00", before), transferred_bytes=6 * MB),
            read(2, "09:00", "a"),
        ],
        capacities=[100 * MB],
    )
    assert point(found, "node").read_count == 1
    assert point(found, "node", "warm").hit_count == 1


def test_sizes_that_a_client_forged_end_at_the_largest_number() -> None:
    before, most = DAY - dt.timedelta(days=1), 2**63 - 1
    found = studied(
        [
            read(1, "23:00", "a", date=before, start_at=at("00:00"), transferred_bytes=most),
            read(1, "00:00", "a", transferred_bytes=most),
        ],
        capacities=[100 * MB],
    )
    assert point(found, "node").read_bytes == most


def test_money_is_what_repeats_call_avoidable_in_the_scope_and_unknown_if_one_is() -> None:
    reads = [read(1, "09:00", "a"), read(2, "09:01", "a"), read(3, "09:02", "a")]
    repeats = [
        {
            "transfer_id": f"t{n}", "scope": scope, "transferred_bytes": 10 * MB,
            "min_avoidable_usd": least, "max_avoidable_usd": Decimal("0.002"),
        }
        for n, scope, least in (
            (2, "node", Decimal("0.001")), (3, "node", Decimal("0.001")),
            (2, "zone", None), (3, "zone", Decimal("0.001")),
        )
    ]  # fmt: skip
    found = studied(reads, repeats, capacities=[100 * MB])
    node, zone, region = (point(found, name) for name in ("node", "zone", "region"))
    assert (node.min_saved_usd, node.max_saved_usd) == (Decimal("0.002"), Decimal("0.004"))
    assert (zone.min_saved_usd, zone.max_saved_usd) == (None, Decimal("0.004"))
    assert (region.min_saved_usd, region.unpriced_count) == (None, 2)


@pytest.mark.parametrize("has_warm_run", [True, False])
def test_endpoints_of_cold_runs_only_are_named_where_a_warm_run_shows_that(has_warm_run) -> None:
    contacts = [
        {"run_uuid": R1, "resource_id": "dns://token.example.com:443", "operation": "connect"},
        {"run_uuid": R1, "resource_id": "dns://always.example.com:443", "operation": "connect"},
        {"run_uuid": R2, "resource_id": "dns://always.example.com:443", "operation": "connect"},
        {"run_uuid": R3, "resource_id": "dns://other.example.com:443", "operation": "connect"},
    ]
    reads = [read(1, "09:00", "a")]
    if has_warm_run:
        reads.append(read(2, "09:01", "a", run_uuid=R2))
    found = studied(reads, contacts=contacts, capacities=[100 * MB])
    named = (("dns://token.example.com:443", "connect", 1),) if has_warm_run else ()
    assert found.cold_endpoints == named


def test_sizes_to_try_are_parts_of_what_the_fullest_place_read() -> None:
    reads = [read(n, f"09:0{n}", f"k{n}") for n in range(4)]
    reads.append(read(5, "09:05", "k0", node="n2"))
    found = studied(reads, placements=["node"], policies=["lru"])
    cold = [p.capacity_bytes for p in found.points if p.start == "cold"]
    assert cold == [4 * MB, 10 * MB, 20 * MB, 30 * MB, 40 * MB]


def test_what_a_cache_does_not_keep_passes_through_with_the_bytes_that_were_read() -> None:
    # The small queue of S3-FIFO is of 10 MB: the first object fills it, the second one does not.
    found = studied(
        [
            read(1, "09:00", "a", transferred_bytes=4 * MB),
            read(2, "09:01", "b", transferred_bytes=3 * MB, object_size_bytes=10 * MB - 1),
        ],
        placements=["node"],
        capacities=[100 * MB],
    )
    assert point(found, "node", policy="s3-fifo").fetched_bytes == 4 * MB + 10 * MB - 1
    assert point(found, "node").fetched_bytes == 20 * MB - 1


def test_only_caches_of_places_that_read_in_the_days_asked_for_are_counted() -> None:
    before = DAY - dt.timedelta(days=1)
    found = studied(
        [read(1, "20:00", "a", date=before, node="n2"), read(2, "09:00", "a")],
        capacities=[100 * MB],
    )
    assert (point(found, "node").cache_count, point(found, "node", "warm").cache_count) == (1, 1)


def test_sizes_to_try_of_forged_sizes_end_at_the_largest_number() -> None:
    most = 2**63 - 1
    reads = [read(n, f"09:0{n}", f"k{n}", object_size_bytes=most) for n in range(2)]
    found = studied(reads, placements=["node"], policies=["lru"])
    # 10, 25, 50, 75 and 100 percent of 9223372036854775807, rounded up.
    assert [p.capacity_bytes for p in found.points if p.start == "cold"] == [
        922337203685477581, 2305843009213693952, 4611686018427387904, 6917529027641081856, most,
    ]  # fmt: skip
    assert [p.hit_count for p in found.points] == [0] * 10


def test_no_reads_give_no_points() -> None:
    assert studied([]).points == ()
    (only,) = {p.hit_ratio for p in studied([], capacities=[MB]).points}
    assert only is None

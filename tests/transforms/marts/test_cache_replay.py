"""Replayed caches answer exactly what another implementation of the same policies answers."""

import libcachesim
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.marts.cache_replay import POLICIES, Policy, Reads, replay

THEIRS = {"lru": libcachesim.LRU, "s3-fifo": libcachesim.S3FIFO}


def reads(items: list[int], sizes: list[int], places: list[int] | None = None) -> Reads:
    """Reads of items, with the size and the place of each item."""
    return Reads(
        np.array(items, np.int32),
        np.array([sizes[item] for item in items], np.int64),
        np.array(places or [0] * len(sizes), np.int32),
    )


def answered(trace: Reads, capacity: int, policy: Policy) -> list[bool]:
    return [bool(hit) for hit in replay(trace, capacity, policy).hits]


def theirs(trace: Reads, capacity: int, policy: Policy) -> list[bool]:
    """What libcachesim answers."""
    cache = THEIRS[policy](capacity)
    found = []
    for item, size in zip(trace.items, trace.sizes, strict=True):
        request = libcachesim.Request()
        request.obj_id, request.obj_size = int(item), int(size)
        found.append(bool(cache.get(request)))
    return found


def test_lru_drops_what_was_read_longest_ago() -> None:
    # Two fit. a b a c: c drops b.
    trace = reads([0, 1, 0, 2, 1, 2], [1, 1, 1])
    assert answered(trace, 2, "lru") == [False, False, True, False, False, True]


def test_s3_fifo_keeps_what_was_read_thrice_beside_a_scan() -> None:
    # 40 items of a byte in 20 bytes: the small queue holds 2. Item 0 is read three times, so that
    # the scan, of which nothing is read again, goes through without it.
    items = [0, 0, 0, *range(1, 40), 0]
    trace = reads(items, [1] * 40)
    assert answered(trace, 20, "s3-fifo")[-1]
    assert not answered(trace, 20, "lru")[-1]


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_too_large_or_of_unknown_size_is_never_kept(policy: Policy) -> None:
    trace = reads([0, 0, 1, 1, 2, 2], [101, -1, 5])
    assert answered(trace, 100, policy) == [False] * 5 + [True]


@pytest.mark.parametrize("policy", POLICIES)
def test_each_place_has_a_cache_of_its_own(policy: Policy) -> None:
    trace = reads([0, 1, 0, 1], [5, 5], [0, 1])
    assert answered(trace, 60, policy) == [False, False, True, True]


def test_s3_fifo_never_keeps_what_is_as_large_as_its_small_queue() -> None:
    # 100 bytes, so 10 in the small queue: item 0 has 10, items 1 and 2 fill the queue, and until
    # anything is dropped item 3 goes to the main queue.
    trace = reads([0, 0, 1, 2, 0, 0, 3, 3], [10, 5, 5, 9])
    answers = replay(trace, 100, "s3-fifo")
    assert answers.hits.tolist() == [False] * 7 + [True] == theirs(trace, 100, "s3-fifo")
    assert answers.kept.tolist() == [n in (2, 3, 6) for n in range(8)]


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_read_is_nothing_answered(policy: Policy) -> None:
    assert answered(reads([], []), 10, policy) == []


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("share", [5, 20, 60])
@pytest.mark.parametrize("is_sized", [False, True])
def test_hits_equal_those_of_libcachesim(policy: Policy, share: int, is_sized: bool) -> None:
    random = np.random.default_rng(share)
    weights = 1 / np.arange(1, 2_001) ** 0.8
    items = random.choice(2_000, 20_000, p=weights / weights.sum())
    sizes = random.integers(1, 2_000, 2_000) if is_sized else np.full(2_000, 1_000)
    trace = reads(items.tolist(), sizes.tolist())
    capacity = int(sizes.sum()) * share // 100
    assert answered(trace, capacity, policy) == theirs(trace, capacity, policy)


@given(
    items=st.lists(st.integers(0, 30), min_size=200, max_size=400),
    sizes=st.lists(st.integers(1, 40), min_size=31, max_size=31),
    capacity=st.integers(40, 600),
)
def test_any_short_trace_is_answered_by_lru_as_by_libcachesim(items, sizes, capacity) -> None:
    trace = reads(items, sizes)
    assert answered(trace, capacity, "lru") == theirs(trace, capacity, "lru")


@given(
    items=st.lists(st.integers(0, 20), min_size=100, max_size=200),
    capacity=st.integers(1, 30),
)
def test_a_larger_lru_cache_answers_whatever_a_smaller_one_does(items, capacity) -> None:
    trace = reads(items, [1] * 21)
    small = answered(trace, capacity, "lru")
    large = answered(trace, capacity + 3, "lru")
    assert all(there or not here for here, there in zip(small, large, strict=True))

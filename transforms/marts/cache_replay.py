"""What a cache of some size would have held: a replay of the reads of objects, compiled (numba).

Two policies that people run: LRU, and S3-FIFO (Yang et al., SOSP 2023) with the numbers of its
reference implementation: a small queue of a tenth of the capacity, a ghost queue of nine tenths,
and a second read that promotes. Each place has a cache of its own. An object larger than the cache
is not kept; of S3-FIFO, nor is one as large as its small queue.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from transforms.compiled import compiled

Policy = Literal["lru", "s3-fifo"]
POLICIES: tuple[Policy, ...] = ("lru", "s3-fifo")

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

_SMALL_SHARE, _GHOST_SHARE = 10, 9
"""The small queue is a tenth, the ghost queue nine tenths of the capacity."""
_PROMOTED = 2
"""Reads while in the small queue that bring an object into the main one."""
_MOST_CREDIT = 3


class Reads(NamedTuple):
    """Reads in order of time.

    Attributes:
        items: Number, from 0, of the object and the place whose cache it asks.
        sizes: Bytes that the cache holds for it; negative where the size is not known, and then
            the object is never kept.
        places: Number, from 0, of the place of each item.
    """

    items: Ints
    sizes: Longs
    places: Ints


class Answers(NamedTuple):
    """What a cache did with each read.

    Attributes:
        hits: Whether it answered.
        kept: Whether it did not, but kept the object from then on.
    """

    hits: Flags
    kept: Flags


def replay(reads: Reads, capacity: int, policy: Policy) -> Answers:
    """Whether each read would have been answered from its place's cache, which begins empty.

    Args:
        reads: The reads.
        capacity: Bytes of each cache.
        policy: What it drops first.
    """
    count = int(reads.places.max(initial=-1)) + 1
    if policy == "lru":
        return Answers(*_lru(*reads, _queues(len(reads.places), count), capacity))
    return Answers(*_s3_fifo(*reads, _queues(len(reads.places), 3 * count), capacity))


class _Queues(NamedTuple):
    """Queues of items, which remember how large an item is and which queue holds it."""

    older: Ints
    newer: Ints
    newest: Ints
    oldest: Ints
    used: Longs
    queue_of: Ints
    held: Longs
    credit: Ints


def _queues(items: int, queues: int) -> _Queues:
    return _Queues(
        older=np.full(items, -1, np.int32),
        newer=np.full(items, -1, np.int32),
        newest=np.full(queues, -1, np.int32),
        oldest=np.full(queues, -1, np.int32),
        used=np.zeros(queues, np.int64),
        queue_of=np.full(items, -1, np.int32),
        held=np.zeros(items, np.int64),
        credit=np.zeros(items, np.int32),
    )


@compiled
def _push(q: _Queues, item: int, queue: int) -> None:
    """Put an item at the new end of a queue."""
    last = q.newest[queue]
    q.older[item], q.newer[item] = last, -1
    if last >= 0:
        q.newer[last] = item
    else:
        q.oldest[queue] = item
    q.newest[queue] = item
    q.queue_of[item] = queue
    q.used[queue] += q.held[item]


@compiled
def _pull(q: _Queues, item: int) -> None:
    """Take an item out of its queue."""
    queue = q.queue_of[item]
    before, behind = q.older[item], q.newer[item]
    if before >= 0:
        q.newer[before] = behind
    else:
        q.oldest[queue] = behind
    if behind >= 0:
        q.older[behind] = before
    else:
        q.newest[queue] = before
    q.queue_of[item] = -1
    q.used[queue] -= q.held[item]


@compiled
def _lru(items: Ints, sizes: Longs, places: Ints, q: _Queues, capacity: int) -> tuple[Flags, Flags]:
    hits = np.zeros(items.shape[0], np.bool_)
    kept = np.zeros(items.shape[0], np.bool_)
    for at in range(items.shape[0]):
        item, size = items[at], sizes[at]
        place = places[item]
        if q.queue_of[item] >= 0:
            hits[at] = True
            _pull(q, item)
            _push(q, item, place)
            continue
        if size < 0 or size > capacity:
            continue
        while q.used[place] > capacity - size:
            _pull(q, q.oldest[place])
        q.held[item] = size
        kept[at] = True
        _push(q, item, place)
    return hits, kept


@compiled
def _drop_from_main(q: _Queues, main: int) -> None:
    """Drop the oldest that nobody read since its last round."""
    while q.oldest[main] >= 0:
        item = q.oldest[main]
        _pull(q, item)
        if q.credit[item] < 1:
            break
        q.credit[item] = min(q.credit[item], _MOST_CREDIT) - 1
        _push(q, item, main)


@compiled
def _drop_from_small(q: _Queues, small: int, main: int, ghost: int, ghost_capacity: int) -> None:
    """Drop the oldest that was read too rarely, but remember it; promote the others."""
    while q.oldest[small] >= 0:
        item = q.oldest[small]
        _pull(q, item)
        if q.credit[item] >= _PROMOTED:
            q.credit[item] = 0
            _push(q, item, main)
            continue
        if q.held[item] <= ghost_capacity:
            while q.used[ghost] > ghost_capacity - q.held[item]:
                _pull(q, q.oldest[ghost])
            _push(q, item, ghost)
        break


@compiled
def _s3_fifo(
    items: Ints, sizes: Longs, places: Ints, q: _Queues, capacity: int
) -> tuple[Flags, Flags]:
    """Queues of place p: 3 p the small one, 3 p + 1 the main one, 3 p + 2 the ghosts."""
    small_capacity = capacity // _SMALL_SHARE
    ghost_capacity = capacity // 10 * _GHOST_SHARE
    was_full = np.zeros(q.used.shape[0], np.bool_)
    hits = np.zeros(items.shape[0], np.bool_)
    kept = np.zeros(items.shape[0], np.bool_)
    for at in range(items.shape[0]):
        item, size = items[at], sizes[at]
        small = 3 * places[item]
        main, ghost = small + 1, small + 2
        queue = q.queue_of[item]
        if queue in (small, main):
            hits[at] = True
            q.credit[item] = min(q.credit[item] + 1, 100)
            continue
        if queue == ghost:
            _pull(q, item)
        if size < 0 or size > small_capacity:
            continue
        while q.used[small] + q.used[main] > capacity - size:
            was_full[small] = True
            if q.used[main] > capacity - small_capacity or q.oldest[small] < 0:
                _drop_from_main(q, main)
            else:
                _drop_from_small(q, small, main, ghost, ghost_capacity)
        is_filling = not was_full[small] and q.used[small] >= small_capacity
        into = main if queue == ghost or is_filling else small
        if queue != ghost and size >= small_capacity:
            continue
        q.credit[item] = 0
        q.held[item] = size
        kept[at] = True
        _push(q, item, into)
    return hits, kept

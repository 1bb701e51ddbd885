"""One curve of the cache what-if, beside libcachesim replaying the same accesses in the same run.

Ten million reads of a million objects, Zipf-distributed, of sizes from 1 KB to 10 MB; five sizes of
cache, one placement, one policy. libcachesim is asked read by read, as its Python interface is.

    python -m benchmarks.bench_cache [--reads 10000000] [--peer-reads 1000000]
"""

import argparse
import time

import libcachesim
import numpy as np

from transforms.marts.cache_replay import POLICIES, Policy, Reads, replay

SHARES = (5, 10, 20, 40, 80)
SECONDS = 60.0
"""One curve over 10 million reads takes less."""
THEIRS = {"lru": libcachesim.LRU, "s3-fifo": libcachesim.S3FIFO}


def trace(count: int, objects: int) -> Reads:
    """Reads of one place."""
    random = np.random.default_rng(1)
    weights = np.cumsum(1 / np.arange(1, objects + 1) ** 0.8)
    items = np.searchsorted(weights, random.random(count) * weights[-1]).astype(np.int32)
    sizes = random.integers(1_000, 10_000_000, objects)
    return Reads(items, sizes[items], np.zeros(objects, np.int32))


def theirs(reads: Reads, capacity: int, policy: Policy) -> tuple[int, float]:
    """Hits and seconds of libcachesim."""
    cache = THEIRS[policy](capacity)
    request = libcachesim.Request()
    begun, hits = time.perf_counter(), 0
    for item, size in zip(reads.items.tolist(), reads.sizes.tolist(), strict=True):
        request.obj_id, request.obj_size = item, size
        hits += cache.get(request)
    return hits, time.perf_counter() - begun


def main() -> int:
    """Measure and compare; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reads", type=int, default=10_000_000)
    parser.add_argument("--peer-reads", type=int, default=1_000_000)
    asked = parser.parse_args()
    reads = trace(asked.reads, max(asked.reads // 10, 1))
    few = Reads(reads.items[: asked.peer_reads], reads.sizes[: asked.peer_reads], reads.places)
    whole = int(np.bincount(reads.items, reads.sizes / np.bincount(reads.items)[reads.items]).sum())
    is_met = True
    for policy in POLICIES:
        replay(Reads(few.items[:10], few.sizes[:10], few.places), 1, policy)  # compile
        begun, busy = time.perf_counter(), time.process_time()
        hits = [int(replay(reads, whole * share // 100, policy).hits.sum()) for share in SHARES]
        seconds, busy = time.perf_counter() - begun, time.process_time() - busy
        capacity = whole * SHARES[1] // 100
        begun = time.perf_counter()
        ours = int(replay(few, capacity, policy).hits.sum())
        few_seconds = time.perf_counter() - begun
        hit, took = theirs(few, capacity, policy)
        points = 100 * (ours - hit) / len(few.items)
        is_met &= seconds < SECONDS or asked.reads > 10_000_000
        is_met &= points == 0 if policy == "lru" else abs(points) <= 0.5
        ratios = ", ".join(f"{100 * h / asked.reads:.1f} %" for h in hits)
        print(
            f"{policy:8s} curve of {len(SHARES)} sizes over {asked.reads:,d} reads: "
            f"{seconds:.1f} s (below {SECONDS:.0f}), {busy:.1f} s of CPU; hits {ratios}"
        )
        print(
            f"{'':8s} libcachesim on {len(few.items):,d}: {took:.1f} s, "
            f"{took / few_seconds:.0f} x ours; hits differ by {points:.2f} points"
        )
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""Measure the attribution: `python -m tests.fleet.labelled --seeds 5 --events 1000000`.

Each seed is a fleet of its own, made, landed, built and compared with its truth; then one without
injected gaps, in which no gap may be found. Exits 1 if a bound is not kept.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from tests.fleet.labelled.bounds import measures
from tests.fleet.labelled.build import make_fleet
from tests.fleet.labelled.scenarios import GAPS, Scenarios
from tests.fleet.labelled.score import MEASURED, Score, Scorer
from tests.pipelines.plain_build import build_all


def measure(folder: Path, seed: int, scenarios: Scenarios, events: int) -> tuple[Score, Scorer]:
    """Make one fleet, build it and compare it with its truth."""
    fleet = make_fleet(folder, seed, scenarios, events)
    fleet.truth.write(folder / "truth")
    build_all(fleet.settings, tables=tuple(MEASURED.values()))
    scorer = Scorer(folder / "lake", folder / "truth", fleet.events)
    return scorer.score(), scorer


def main() -> int:
    """Measure and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--events", type=int, default=1_000_000)
    asked = arguments.parse_args()
    say = sys.stdout.write
    total: Counter[str] = Counter()
    rungs: Counter[tuple[str, str]] = Counter()
    for seed in range(1, asked.seeds + 1):
        begun = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix="labelled-"))
        try:
            score, scorer = measure(folder, seed, Scenarios(), asked.events)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        total.update(asdict(score))
        for side, rung, ends, _, _ in scorer.rungs():
            rungs[side, rung] += ends
        seconds = time.monotonic() - begun
        say(
            f"seed {seed}: {score.events:,} events, {score.connections:,} connections, "
            f"{score.wrong} wrong pods, {score.wrong_names} wrong names, {seconds:.0f} s\n"
        )
        sys.stdout.flush()
    folder = Path(tempfile.mkdtemp(prefix="labelled-"))
    try:
        clean, _ = measure(folder, 99, Scenarios().without(*GAPS), asked.events // 10)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    whole = Score(**total)
    say(f"\n{'measured':<42} {'part':>10} {'of':>10} {'share':>10}   bound\n")
    is_kept = clean.false_gap_us == 0
    for found in measures(whole):
        is_kept &= found.is_met
        sign = ">=" if found.is_least else "<="
        verdict = "" if found.is_met else "   NOT KEPT"
        say(
            f"{found.title:<42} {found.part:>10,} {found.whole:>10,} {found.share:>10.4%}   "
            f"{sign} {found.bound:.2%}{verdict}\n"
        )
    say(f"{'gaps found in a fleet without any':<42} {clean.false_gap_us:>10,} microseconds\n")
    say(f"{'of containers that no state shows':<42} {whole.untold_containers:>10,}\n")
    undetermined = 1 - whole.determined / max(1, whole.ends)
    say(f"\n{whole.ends:,} ends, {undetermined:.2%} undetermined (nodes and outside included)\n")
    for (side, rung), ends in sorted(rungs.items(), key=lambda item: (item[0][0], -item[1])):
        say(f"  {side:<8} {rung:<16} {ends:>10,}\n")
    return 0 if is_kept else 1


if __name__ == "__main__":
    raise SystemExit(main())

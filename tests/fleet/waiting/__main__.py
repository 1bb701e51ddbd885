"""Measure the waits: `python -m tests.fleet.waiting --seeds 3 --pods 300`.

Each seed is a fleet of its own, made, landed, built and compared with its truth. Exits 1 if a bound
is not kept.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fleet.waiting.render import write
from tests.fleet.waiting.score import Score, broken, score
from tests.fleet.waiting.world import World
from tests.pipelines.plain_build import build_all

MEASURED = ("waits", "storms", "run_outputs", "findings")


def measure(folder: Path, seed: int, pods: int) -> Score:
    """Make one fleet below a folder, build it and compare it with its truth."""
    world = World(seed, pods)
    build_all(write(folder, world.pods), tables=MEASURED)
    return score(folder, world)


def table(found: Score) -> str:
    """The figures, for people."""
    names = f"{'cause':<14}{'stages':>8}{'near':>8}{'share':>9}{'untraced':>10}"
    lines = [f"{names}{'true s':>11}{'found s':>11}"]
    for cause, of_cause in sorted(found.causes.items()):
        share = of_cause.near / of_cause.stages if of_cause.stages else 1.0
        lines.append(
            f"{cause:<14}{of_cause.stages:>8}{of_cause.near:>8}{share:>9.1%}{of_cause.untraced:>10}"
            f"{of_cause.true_seconds:>11.1f}{of_cause.seconds:>11.1f}"
        )
    lines.append(f"{'all':<14}{found.stages:>8}{found.near:>8}{found.near / found.stages:>9.1%}")
    unexplained = found.unexplained_seconds / found.painted_seconds
    truly = found.truly_unexplained / found.painted_seconds
    sources = ", ".join(f"{name} {count}" for name, count in sorted(found.bereft.items()))
    much, little = len(found.told_too_much), len(found.told_too_little)
    unowned, blamed = len(found.unowned), len(found.blamed)
    lines += [
        f"unexplained in init, startup, download, upload: {unexplained:.2%} (truly {truly:.2%})",
        f"pods without a source: {sources}; told too much {much}, too little {little}",
        f"stages and pods whose sums are not exact: {len(found.sums)}",
        f"storms: {found.storms}, missed {len(found.missed)}, invented {len(found.invented)}",
        f"outputs: {found.outputs}, misjudged {len(found.misjudged)}",
        f"faults: {found.faults}, without their owner {unowned}, blamed without one {blamed}",
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--pods", type=int, default=300)
    asked = arguments.parse_args()
    whole = Score()
    for seed in range(1, asked.seeds + 1):
        with tempfile.TemporaryDirectory(prefix="waiting-") as folder:
            whole.add(measure(Path(folder), seed, asked.pods))
    problems = broken(whole)
    sys.stdout.write("\n".join([table(whole), *problems, ""]))
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())

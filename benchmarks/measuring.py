"""What benchmarks share: a process and all below it measured, two sides that take turns.

Each measurement is a process of its own, interpreter and imports included. Memory is the peak of
the summed resident sizes of the process tree, seen 25 times a second.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

SEEN_EVERY = 0.04
COPY = "(FORMAT parquet, COMPRESSION zstd)"
"""How rows are written, by both sides."""


@dataclass(frozen=True)
class Run:
    """One process: wall and processor seconds, peak bytes of its tree."""

    wall: float
    cpu: float
    memory: int


@dataclass(frozen=True)
class Turns:
    """Runs of both sides."""

    ours: Sequence[Run]
    peer: Sequence[Run]

    @property
    def wall(self) -> float:
        """Our wall time by the peer's, of medians."""
        return median(r.wall for r in self.ours) / median(r.wall for r in self.peer)

    @property
    def cpu(self) -> float:
        """Our processor time by the peer's, of medians."""
        return median(r.cpu for r in self.ours) / median(r.cpu for r in self.peer)

    @property
    def memory(self) -> int:
        """Our peak."""
        return max(r.memory for r in self.ours)

    @property
    def memory_of_peer(self) -> int:
        """The peer's peak."""
        return max(r.memory for r in self.peer)


def measure(command: Sequence[str]) -> Run:
    """Run a command to its end."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak, seconds = 0, {}
    while process.poll() is None:
        tree = process_tree(process.pid)
        peak = max(peak, sum(memory for memory, _ in tree.values()))
        seconds |= {pid: cpu for pid, (_, cpu) in tree.items()}
        time.sleep(SEEN_EVERY)
    wall = time.perf_counter() - start
    if process.returncode:
        message = f"{' '.join(command[:4])} …: exit code {process.returncode}"
        raise SystemExit(message)
    return Run(wall, sum(seconds.values()), peak)


def take_turns(module: str, folder: Path, rounds: int) -> Turns:
    """Run a benchmark's `--ours` and `--peer` in turns on a folder, and print both medians."""
    command = [sys.executable, "-m", module]
    runs: dict[str, list[Run]] = {"ours": [], "peer": []}
    for _ in range(rounds):
        for side, found in runs.items():
            found.append(measure([*command, f"--{side}", str(folder)]))
    for side, found in runs.items():
        print(f"  {side:5s} {median(r.wall for r in found):7.2f} s wall "
              f"{median(r.cpu for r in found):7.2f} s cpu "
              f"{max(r.memory for r in found) / 1e6:6.0f} MB", flush=True)  # fmt: skip
    return Turns(runs["ours"], runs["peer"])


def quoted(path: Path) -> str:
    """A path as text of SQL."""
    return "'" + str(path).replace("'", "''") + "'"


def process_tree(root: int) -> dict[int, tuple[int, float]]:
    """Resident bytes and processor seconds of a process and of all below it.

    Read from /proc, as the system adds up only children that their own parent has waited for.
    """
    found: dict[int, tuple[int, float]] = {}
    page, tick = resource.getpagesize(), os.sysconf("SC_CLK_TCK")
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        folder = Path(f"/proc/{pid}")
        try:
            memory = int((folder / "statm").read_text().split()[1]) * page
            times = (folder / "stat").read_text().rpartition(")")[2].split()
            found[pid] = memory, (int(times[11]) + int(times[12])) / tick
            for task in (folder / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except (OSError, ValueError, IndexError):
            continue
    return found

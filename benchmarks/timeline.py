"""A process measured while it runs, and what of that falls to each step that it tells of.

The process writes one line of JSON per step that it has ended: `step`, and `at` by the monotonic
clock, which all processes share. What the whole tree used between two of them is the step's.
"""

import json
import subprocess
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import SEEN_EVERY, Run, process_tree

STARTED = "start"


@dataclass(frozen=True)
class Sample:
    """The process tree at one moment: seconds, resident bytes, bytes written until then."""

    at: float
    cpu: float
    memory: int
    written: int
    watched: int


@dataclass(frozen=True)
class Step:
    """One step: wall and processor seconds, peak of the tree, bytes written to disk."""

    name: str
    wall: float
    cpu: float
    memory: int
    written: int


@dataclass(frozen=True)
class Timeline:
    """A whole run.

    Attributes:
        run: All of it.
        written: Bytes that the tree wrote to disk.
        watched: The largest value of what was watched beside.
        steps: In order; equal names are one.
    """

    run: Run
    written: int
    watched: int
    steps: tuple[Step, ...]


def follow(command: Sequence[str], marks: Path, watch: Callable[[], int] = int) -> Timeline:
    """Run a command that writes its steps to a file, to its end.

    Args:
        command: The command.
        marks: The file.
        watch: Something to look at beside, each time: bytes in a folder.
    """
    marks.unlink(missing_ok=True)
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    samples = [Sample(start, 0.0, 0, 0, 0)]
    seconds: dict[int, float] = {}
    bytes_written: dict[int, int] = {}
    while process.poll() is None:
        found = process_tree(process.pid)
        seconds |= {pid: cpu for pid, (_, cpu) in found.items()}
        bytes_written |= _written_by(found)
        samples.append(
            Sample(
                time.monotonic(),
                sum(seconds.values()),
                sum(memory for memory, _ in found.values()),
                sum(bytes_written.values()),
                watch(),
            )
        )
        time.sleep(SEEN_EVERY)
    wall = time.monotonic() - start
    if process.returncode not in {0, 3}:
        message = f"{' '.join(command[:4])} …: exit code {process.returncode}"
        raise SystemExit(message)
    last = samples[-1]
    run = Run(wall, last.cpu, max(s.memory for s in samples))
    return Timeline(run, last.written, max(s.watched for s in samples), _steps(samples, marks))


def mark(marks: Path, step: str) -> None:
    """Tell that a step has ended; called by the process that is measured."""
    with marks.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"step": step, "at": time.monotonic()}) + "\n")


def _written_by(pids: Sequence[int] | dict[int, tuple[int, float]]) -> dict[int, int]:
    found = {}
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/io").read_text(encoding="utf-8")
        except OSError:
            continue
        found[pid] = int(text.partition("\nwrite_bytes: ")[2].partition("\n")[0] or 0)
    return found


def _steps(samples: list[Sample], marks: Path) -> tuple[Step, ...]:
    found: dict[str, Step] = {}
    if not marks.is_file():
        return ()
    times = [s.at for s in samples]
    previous, start = samples[0], samples[0].at
    for text in marks.read_text(encoding="utf-8").splitlines():
        told = json.loads(text)
        end = min(bisect_left(times, told["at"]), len(samples) - 1)
        now = samples[end]
        first = bisect_left(times, previous.at)
        name = told["step"]
        known = found.get(name, Step(name, 0.0, 0.0, 0, 0))
        found[name] = Step(
            name,
            known.wall + told["at"] - start,
            known.cpu + now.cpu - previous.cpu,
            max([known.memory, *(s.memory for s in samples[first : end + 1])]),
            known.written + now.written - previous.written,
        )
        previous, start = now, told["at"]
    return tuple(found.values())

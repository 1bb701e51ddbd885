"""Build tables and clusters of a day side by side where memory allows.

A build begins as soon as all that it reads of the same day is built. Those that run at one time
share the engine's memory in equal parts; one for which its part does not suffice is tried again
with all of it, one thread and nobody beside.
"""

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from transforms.sql import SqlSession

LEAST_MEMORY = 600_000_000
"""Bytes of the engine's memory below which no further build runs beside."""

Result = TypeVar("Result")
Task = tuple[str, str]
"""Table and scope."""


@dataclass(frozen=True)
class Share:
    """What one session may use.

    Attributes:
        threads: Threads of the engine.
        memory: Bytes of memory.
        folder: Where it spills; no other session does.
    """

    threads: int
    memory: int
    folder: Path


class Room:
    """Threads, memory and folder that sessions of one process share."""

    def __init__(self, threads: int, memory: int, spill: Path, sides: int | None = None) -> None:
        """Say what there is.

        Args:
            threads: Threads of each session.
            memory: Bytes that all sessions may use together.
            spill: Where they spill, with a number behind the name.
            sides: Sessions at one time at most; as many as memory allows if none.
        """
        allowed = max(1, min(threads, memory // LEAST_MEMORY))
        self.sides = allowed if sides is None else min(allowed, sides)
        self._threads, self._memory, self._spill = threads, memory, spill
        self._free = self.sides
        self._waiting = 0
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._running: set[SqlSession] = set()

    @contextmanager
    def beside(self) -> Iterator[Share]:
        """An equal part of the memory, as soon as one is free."""
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0 and not self._waiting)
            self._free -= 1
        try:
            yield self._share(self._threads, self._memory // self.sides)
        finally:
            self._give_back(1)

    @contextmanager
    def alone(self) -> Iterator[Share]:
        """All of the memory and one thread, once nobody else runs.

        What each thread holds for itself cannot be spilled, so that one alone needs the least.
        """
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: self._free == self.sides)
            self._waiting -= 1
            self._free = 0
        try:
            yield self._share(1, self._memory)
        finally:
            self._give_back(self.sides)

    @property
    def has_more_alone(self) -> bool:
        """Whether a build that is alone has more memory, or less to hold, than one beside."""
        return self.sides > 1 or self._threads > 1

    @contextmanager
    def session(self, share: Share) -> Iterator[SqlSession]:
        """A session within a share, which `interrupt` stops; its folder goes with it."""
        with SqlSession(
            threads=share.threads, memory_limit=f"{share.memory}B", temp_directory=share.folder
        ) as session:
            with self._changed:
                self._running.add(session)
            try:
                yield session
            finally:
                with self._changed:
                    self._running.discard(session)

    def interrupt(self) -> None:
        """Stop what the sessions do."""
        with self._changed:
            for session in self._running:
                session.connection.interrupt()

    def _share(self, threads: int, memory: int) -> Share:
        folder = self._spill.with_name(f"{self._spill.name}-{next(self._numbers)}")
        return Share(threads, memory, folder)

    def _give_back(self, sides: int) -> None:
        with self._changed:
            self._free += sides
            self._changed.notify_all()


@dataclass
class _State(Generic[Result]):
    """What became of a task."""

    missing: set[Task]
    future: Future[Result] = field(default_factory=Future)


class SideBySide(Generic[Result]):
    """Runs tasks in threads, each behind those that it needs.

    Of those that could begin, the one that most others wait for does.
    """

    def __init__(
        self,
        needs: Mapping[Task, Sequence[Task]],
        run: Callable[[str, str], Result],
        sides: int,
    ) -> None:
        """Begin.

        Args:
            needs: For each task those that must have ended before it begins, without a circle.
            run: Does one.
            sides: How many at one time.
        """
        self._run = run
        self._states = {
            task: _State[Result](set(needed) & needs.keys()) for task, needed in needs.items()
        }
        self._followers: dict[Task, list[Task]] = {task: [] for task in needs}
        for task, state in self._states.items():
            for needed in state.missing:
                self._followers[needed].append(task)
        self._weight = {task: len(self._behind(task)) for task in needs}
        self._ready = [task for task, state in self._states.items() if not state.missing]
        self._left = len(needs)
        self._is_stopped = False
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._work, name="build", daemon=True)
            for _ in range(min(sides, len(needs)))
        ]
        for thread in self._threads:
            thread.start()

    def result(self, task: Task) -> Result:
        """What a task gave, once it ended.

        Raises:
            BaseException: What it raised, or one that it needs.
        """
        return self._states[task].future.result()

    def stop(self, interrupt: Callable[[], object]) -> None:
        """Begin nothing more, stop what runs, and wait until it ended.

        Args:
            interrupt: Has what runs end soon; not called if all has ended.
        """
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        while any(thread.is_alive() for thread in self._threads):
            # What comes to the engine a moment later must be told, too.
            interrupt()
            for thread in self._threads:
                thread.join(timeout=0.1)

    def _work(self) -> None:
        """Run tasks until none is left: the work of one thread."""
        while (task := self._take()) is not None:
            state = self._states[task]
            try:
                result = self._run(*task)
            except BaseException as error:  # noqa: BLE001  raised again where it is waited for
                self._give_up(task, error)
            else:
                state.future.set_result(result)
                self._ended(task)

    def _take(self) -> Task | None:
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._is_stopped or not self._left)
            if self._is_stopped or not self._ready:
                return None
            task = max(self._ready, key=lambda ready: self._weight[ready])
            self._ready.remove(task)
            return task

    def _ended(self, task: Task) -> None:
        with self._changed:
            self._left -= 1
            for follower in self._followers[task]:
                missing = self._states[follower].missing
                missing.discard(task)
                if not missing:
                    self._ready.append(follower)
            self._changed.notify_all()

    def _give_up(self, task: Task, error: BaseException) -> None:
        """A task failed: those that need it cannot be run either."""
        with self._changed:
            for lost in (task, *self._behind(task)):
                future = self._states[lost].future
                if not future.done():
                    future.set_exception(error)
                    self._left -= 1
            self._changed.notify_all()

    def _behind(self, task: Task) -> set[Task]:
        """All that wait for a task."""
        found: set[Task] = set()
        left = [task]
        while left:
            for follower in self._followers[left.pop()]:
                if follower not in found:
                    found.add(follower)
                    left.append(follower)
        return found

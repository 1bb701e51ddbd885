"""Tables of a day are built side by side, and come out as one by one."""

import itertools
import threading
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from pipelines.orchestration import run_job
from pipelines.run import (
    Workspace,
    build_table_of_day,
    land_days,
    publish_catalogue,
    tables_side_by_side,
)
from pipelines.side_by_side import LEAST_MEMORY, Room, SideBySide
from pipelines.storage import Lake
from tests.pipelines.plain_build import (
    assert_readable,
    build_all,
    digests,
    land_all,
    lay_out_small_day,
)
from tests.pipelines.test_crash import Killed
from transforms.registry import transforms
from transforms.sql import SqlSession


def test_each_runs_behind_what_it_needs_and_others_beside() -> None:
    both = threading.Barrier(2, timeout=20)
    ended: list[str] = []

    def run(table: str, scope: str) -> str:
        if table in {"left", "right"}:
            both.wait()
        ended.append(table)
        return f"{table} of {scope}"

    needs = {
        ("last", "a"): [("left", "a"), ("right", "a")],
        ("left", "a"): [("first", "a")],
        ("right", "a"): [("first", "a")],
        ("first", "a"): [("unknown", "a")],
    }
    tasks = SideBySide(needs, run, 2)
    assert tasks.result(("last", "a")) == "last of a"
    tasks.stop(lambda: None)
    assert (ended[0], ended[3], set(ended[1:3])) == ("first", "last", {"left", "right"})


def test_of_those_that_may_begin_the_one_that_most_wait_for_does() -> None:
    ended: list[str] = []
    needs = {
        ("alone", "a"): [],
        ("awaited", "a"): [],
        ("next", "a"): [("awaited", "a")],
        ("end", "a"): [("next", "a")],
    }
    tasks = SideBySide(needs, lambda table, _: ended.append(table), 1)
    for task in needs:
        tasks.result(task)
    tasks.stop(lambda: None)
    assert ended == ["awaited", "next", "alone", "end"]


def test_an_error_reaches_those_that_need_it_and_no_others() -> None:
    def run(table: str, _scope: str) -> str:
        if table == "broken":
            message = "no space left"
            raise OSError(message)
        return table

    needs = {
        ("broken", "a"): [],
        ("behind", "a"): [("broken", "a")],
        ("far behind", "a"): [("behind", "a")],
        ("other", "a"): [],
    }
    tasks = SideBySide(needs, run, 2)
    assert tasks.result(("other", "a")) == "other"
    for table in ("broken", "behind", "far behind"):
        with pytest.raises(OSError, match="no space left"):
            tasks.result((table, "a"))
    tasks.stop(lambda: None)


def test_a_stop_ends_what_the_engine_does_and_begins_nothing_more(tmp_path: Path) -> None:
    room = Room(1, LEAST_MEMORY, tmp_path / "spill")
    is_running = threading.Event()
    began: list[str] = []

    def run(table: str, _scope: str) -> None:
        began.append(table)
        with room.beside() as share, room.session(share) as session:
            is_running.set()
            session.connection.execute("SELECT SUM(sin(range)) FROM range(1000000000000)")

    tasks = SideBySide({("first", "a"): [], ("second", "a"): []}, run, 1)
    assert is_running.wait(20)
    tasks.stop(room.interrupt)
    assert began == ["first"]
    with pytest.raises(duckdb.InterruptException):
        tasks.result(("first", "a"))


@pytest.mark.parametrize(
    ("threads", "memory", "stated", "sides"),
    [
        (2, 2 * LEAST_MEMORY, None, 2),
        (2, 2 * LEAST_MEMORY - 1, None, 1),
        (8, 3 * LEAST_MEMORY, None, 3),
        (2, 10 * LEAST_MEMORY, None, 2),
        (2, 10 * LEAST_MEMORY, 1, 1),
        (2, 1, None, 1),
    ],
)
def test_as_many_as_memory_and_workers_allow(
    tmp_path: Path, threads: int, memory: int, stated: int | None, sides: int
) -> None:
    room = Room(threads, memory, tmp_path / "spill", stated)
    assert room.sides == sides
    with room.beside() as share:
        assert (share.threads, share.memory) == (threads, memory // sides)
    with room.alone() as share:
        assert (share.threads, share.memory) == (1, memory)


def test_who_needs_all_of_the_memory_has_nobody_beside(tmp_path: Path) -> None:
    room = Room(2, 2 * LEAST_MEMORY, tmp_path / "spill")
    events: list[str] = []
    is_alone = threading.Event()

    def alone() -> None:
        with room.alone():
            events.append("alone")
            is_alone.set()

    def beside() -> None:
        with room.beside():
            events.append("beside")

    with room.beside():
        first = threading.Thread(target=alone)
        first.start()
        # It waits, and whoever comes behind it waits longer.
        while not room._waiting:
            pass
        second = threading.Thread(target=beside)
        second.start()
        events.append("held")
    first.join(20)
    second.join(20)
    assert events == ["held", "alone", "beside"]


def test_sessions_side_by_side_spill_into_folders_of_their_own(tmp_path: Path) -> None:
    """An engine removes all spilled files that it finds in its folder."""
    room = Room(1, LEAST_MEMORY, tmp_path / "spill")

    def fill(session: SqlSession) -> None:
        session.connection.execute("SET memory_limit = '40MB'")
        session.connection.execute(
            "CREATE TEMP TABLE t AS SELECT md5(CAST(range AS VARCHAR)) AS a, "
            "md5(CAST(range + 1 AS VARCHAR)) AS b FROM range(1000000)"
        )

    with room.beside() as share, room.session(share) as kept:
        fill(kept)
        assert any(share.folder.iterdir())
        with room.session(room._share(1, LEAST_MEMORY)) as session:
            fill(session)
        assert kept.connection.execute("SELECT COUNT(DISTINCT a) FROM t").fetchall() == [(1000000,)]
    assert not list(tmp_path.iterdir())


def test_a_day_built_side_by_side_is_the_day_built_table_by_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    lay_out_small_day(tmp_path / "serial")
    serial = build_all(tmp_path / "serial" / "podledger.yaml", workers=1)
    workspace = Workspace(lay_out_small_day(tmp_path / "beside"))
    object.__setattr__(workspace.settings, "memory_limit", 4_000_000_000)
    with dg.DagsterInstance.ephemeral() as instance, workspace.locked():
        land_days(workspace, None)
        for day in workspace.lake.days("export_files"):
            run_job(workspace, instance, "build", day)
    assert not workspace.begun
    assert digests(workspace.settings.lake_path) == digests(serial.settings.lake_path)


@pytest.mark.slow
def test_a_day_that_dies_while_tables_are_written_side_by_side_is_finished_by_a_rerun(
    tmp_path: Path,
) -> None:
    settings_file = lay_out_small_day(tmp_path / "serial")
    serial = build_all(settings_file, workers=1)
    (day,) = serial.lake.days("runs")
    settings_file = lay_out_small_day(tmp_path / "dying")
    land_all(settings_file)

    def build(die_at: int | None) -> None:
        moments = itertools.count(1)

        def hook(_moment: str, _path: Path) -> None:
            if next(moments) == die_at:
                raise Killed

        workspace = Workspace(settings_file)
        object.__setattr__(workspace.settings, "memory_limit", 4_000_000_000)
        workspace._held = Lake(workspace.settings.lake_path, hook)
        with tables_side_by_side(workspace, day):
            for table in transforms():
                assert not any(o.problem for o in build_table_of_day(workspace, table, day))
        publish_catalogue(workspace, day)

    died = 0
    for die_at in (3, 10, 21, 30):
        # What ran beside goes on until the loss is seen, so that later ones may have less to do.
        try:
            build(die_at)
        except Killed:
            died += 1
        assert_readable(tmp_path / "dying")
    assert died >= 2
    build(None)
    assert digests(tmp_path / "dying/lake") == digests(serial.settings.lake_path)
    assert not list((tmp_path / "dying/lake").rglob(".tmp-*"))

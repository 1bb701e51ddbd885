"""Late files: of a provisional day silently, of a final day on request and written down."""

import datetime as dt
import json
import re
import shutil
from decimal import Decimal
from pathlib import Path

import dagster as dg
import duckdb
import polars as pl
import pytest

from pipelines.build import basis_of, build_day_of
from pipelines.cli.status import status_of
from pipelines.definitions import build_definitions, days_to_build
from pipelines.finality import final_basis, is_asked
from pipelines.ledger import Ledger
from pipelines.publication import TableWriter
from pipelines.restatements import RESTATEMENTS, Restating, restate, settle
from pipelines.run import Workspace, ask_for, is_stale, land_days, stale_days
from pipelines.storage import Lake
from schemas.registry import table_spec
from tests.pipelines.landing_zone import SETTINGS, line, put, zone
from tests.pipelines.plain_build import (
    assert_readable,
    build_all,
    catalogue_rows,
    digests,
    lay_out_small_day,
    published,
)
from transforms.sql import SqlSession

DAY = dt.date(2026, 3, 10)
NEXT = DAY + dt.timedelta(days=1)
AWAITED = dt.datetime(2026, 3, 14, 23, 59, tzinfo=dt.UTC)
"""The last landing day that hours of the day await: 23:00 and three days is the 14th."""
LATER = dt.datetime(2026, 3, 15, 2, tzinfo=dt.UTC)
"""The first night behind it."""
MUCH_LATER = dt.datetime(2026, 4, 1, 2, tzinfo=dt.UTC)


def file_of(folder: Path) -> Path:
    return folder / "podledger.yaml"


def restatements(folder: Path) -> pl.DataFrame:
    paths = sorted((folder / "lake" / RESTATEMENTS).rglob("*.parquet"))
    spec = table_spec(RESTATEMENTS)
    frames = [pl.read_parquet(path, hive_partitioning=False) for path in paths]
    return pl.concat([spec.empty(), *frames]).sort(spec.order)


def moved(folder: Path, table: str) -> dict[str, tuple[str | None, str | None]]:
    """Values that moved, by column; for tables of one row."""
    rows = restatements(folder).filter(pl.col("table_name") == table)
    return {
        column: (before, after)
        for column, before, after in rows.select(
            "column_name", "value_before", "value_after"
        ).iter_rows()
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two final days, of two reads and one; and a copy of it."""
    folder, copy = tmp_path_factory.mktemp("final"), tmp_path_factory.mktemp("copy")
    put(folder, "a.log", [line(1), line(2)])
    put(folder, "b.log", [line(90_000)], day="2026-03-11")
    zone(folder)
    build_all(file_of(folder), at=MUCH_LATER)
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    return folder, copy


@pytest.fixture
def final(built: tuple[Path, Path]) -> Path:
    """The same two days at the same place, as they were built."""
    folder, copy = built
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    return folder


def received(folder: Path, day: dt.date = DAY) -> int:
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as connection:
        ((found,),) = connection.execute(
            "SELECT CAST(SUM(received_bytes) AS BIGINT) FROM run_dependency_days "
            'WHERE "date" = $day',
            {"day": day},
        ).fetchall()
    return int(found)


def test_a_day_is_final_once_the_last_landing_day_that_it_awaits_is_over(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    zone(tmp_path)
    for at, state in ((AWAITED, "provisional"), (LATER, "final")):
        workspace = build_all(file_of(tmp_path), at=at)
        assert [day["state"] for day in status_of(workspace)["days"]] == [state]
        assert (final_basis(workspace.lake, DAY) is not None) == (state == "final")


def test_a_late_file_of_a_provisional_day_rebuilds_it_silently(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    zone(tmp_path)
    build_all(file_of(tmp_path), at=AWAITED)
    assert received(tmp_path) == 100
    put(tmp_path, "late.log", [line(2)], day="2026-03-12")
    workspace = build_all(file_of(tmp_path), at=AWAITED)
    assert received(tmp_path) == 200
    assert restatements(tmp_path).is_empty()
    assert status_of(workspace)["late"] == []


def test_what_landed_before_a_day_was_published_as_final_is_no_restatement(
    tmp_path: Path,
) -> None:
    """A job that stood still over the watermark finds both the day and its late file."""
    put(tmp_path, "a.log", [line(1)])
    zone(tmp_path)
    build_all(file_of(tmp_path), at=AWAITED)
    put(tmp_path, "late.log", [line(2)], day="2026-03-12")
    build_all(file_of(tmp_path), at=MUCH_LATER)
    assert received(tmp_path) == 200
    assert restatements(tmp_path).is_empty()


def test_a_day_stays_final_whatever_the_clock_or_the_settings_say_later(final: Path) -> None:
    zone(final, SETTINGS + "final_after: 60d\n")
    workspace = build_all(file_of(final), at=AWAITED)
    states = {day["state"] for day in status_of(workspace)["days"]}
    assert states == {"final"}
    assert restatements(final).is_empty()


def test_a_late_file_of_a_final_day_shows_in_status_and_is_not_built(final: Path) -> None:
    before = digests(final / "lake")
    put(final, "late.log", [line(3), line(4), line(2)])
    workspace = build_all(file_of(final), at=MUCH_LATER)
    assert digests(final / "lake") == before
    assert received(final) == 200
    status = status_of(workspace)
    assert [(d["date"], d["stale"], d["waits_for"]) for d in status["days"]] == [
        (DAY, True, "1 late file(s)"),
        # Names and transfers of the day before are read by its look-back.
        (NEXT, True, "1 late file(s)"),
    ]
    path = str(final / "in/2026-03-10/late.log")
    # Of its three records one was known.
    assert [(f["date"], f["path"], f["records"], f["nearby_records"]) for f in status["late"]] == [
        (DAY, path, 2, 0),
        (NEXT, path, 0, 2),
    ]


def test_on_request_a_final_day_is_built_and_what_moved_is_written_down(final: Path) -> None:
    put(final, "late.log", [line(3, size=50)])
    workspace = build_all(file_of(final), at=MUCH_LATER, asked=(DAY,))
    assert received(final) == 250
    path = str(final / "in/2026-03-10/late.log")
    found = moved(final, "run_dependency_days")
    assert found["received_bytes"] == ("200", "250")
    assert found["request_count"] == ("2", "3")
    assert "first_seen_at" not in found
    rows = restatements(final)
    assert rows["event_date"].unique().to_list() == [DAY]
    assert rows["published_at"].unique().to_list() == [MUCH_LATER]
    assert rows["cause"].unique().to_list() == [f"late file(s): {path}"]
    key = json.loads(rows.filter(pl.col("column_name") == "received_bytes")["row_key"].item())
    assert list(key) == list(table_spec("run_dependency_days").key)
    assert (key["resource_id"], key["operation"]) == ("s3://example-bucket", "read")
    (file,) = rows.filter(pl.col("table_name") == "export_files").iter_rows(named=True)
    known = dict(Ledger.read(workspace.lake).files.select("path", "export_file_id").iter_rows())
    assert json.loads(file["row_key"]) == {"export_file_id": known[path]}
    assert (file["column_name"], file["value_before"], file["value_after"]) == ("path", None, path)
    status = status_of(workspace)
    assert (status["late"], [d["waits_for"] for d in status["days"]]) == ([], ["", ""])


def test_the_catalogue_holds_the_restatements(final: Path) -> None:
    put(final, "late.log", [line(3)])
    build_all(file_of(final), at=MUCH_LATER, asked=(DAY,))
    with duckdb.connect(str(final / "podledger.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            "SELECT value_before, value_after FROM restatements "
            "WHERE event_date = '2026-03-10' AND column_name = 'received_bytes'"
        ).fetchall()
    assert rows == [("200", "300")]


def test_a_row_that_comes_is_told_with_its_values_so_that_differences_add_up(
    final: Path,
) -> None:
    other = line(5, size=70).replace("example-bucket", "other-bucket")
    put(final, "late.log", [line(3, size=50), other])
    build_all(file_of(final), at=MUCH_LATER, asked=(DAY,))
    rows = restatements(final).filter(pl.col("table_name") == "run_dependency_days")
    came = rows.filter(pl.col("column_name") == "(row)")
    assert came.select("value_before", "value_after").rows() == [("absent", "present")]
    assert json.loads(came["row_key"].item())["resource_id"] == "s3://other-bucket"
    bytes_moved = rows.filter(pl.col("column_name") == "received_bytes")
    difference = sum(
        Decimal(after or 0) - Decimal(before or 0)
        for before, after in bytes_moved.select("value_before", "value_after").iter_rows()
    )
    assert 200 + difference == received(final) == 320


@pytest.mark.slow
def test_a_later_request_is_a_restatement_of_its_own(final: Path) -> None:
    for number, hours in ((3, 1), (4, 2)):
        put(final, f"late-{number}.log", [line(number)])
        build_all(file_of(final), at=MUCH_LATER + dt.timedelta(hours=hours), asked=(DAY,))
    rows = restatements(final).filter(pl.col("column_name") == "received_bytes")
    assert rows.select("value_before", "value_after").rows() == [("200", "300"), ("300", "400")]
    assert rows["published_at"].n_unique() == 2


def test_a_request_for_a_day_that_nothing_waits_for_writes_nothing(final: Path) -> None:
    before = published(final)
    build_all(file_of(final), at=MUCH_LATER, asked=(DAY, NEXT))
    assert published(final) == before
    assert restatements(final).is_empty()


def test_a_late_file_that_moves_no_answer_is_built_in_and_restates_nothing(final: Path) -> None:
    put(final, "copy.log", [line(2)])
    workspace = build_all(file_of(final), at=MUCH_LATER)
    assert status_of(workspace)["late"] == []
    assert [d["stale"] for d in status_of(workspace)["days"]] == [False, False]
    build_all(file_of(final), at=MUCH_LATER, asked=(DAY,))
    assert restatements(final).is_empty()


def test_later_final_days_that_read_the_restated_one_are_built_with_it(final: Path) -> None:
    """The object that the day after read was read before, says the late file."""
    again = (
        line(4, size=100).replace("key-4 ", "key-90000 ").replace("key-4 HTTP", "key-90000 HTTP")
    )
    put(final, "late.log", [again])
    workspace = build_all(file_of(final), at=MUCH_LATER, asked=(DAY,))
    rows = restatements(final)
    repeats = rows.filter(
        (pl.col("table_name") == "repeat_transfers") & (pl.col("column_name") == "(row)")
    )
    assert repeats["event_date"].unique().to_list() == [NEXT]
    path = str(final / "in/2026-03-10/late.log")
    (cause,) = repeats["cause"].unique().to_list()
    assert f"late file(s): {path}" in cause
    assert [d["waits_for"] for d in status_of(workspace)["days"]] == ["", ""]


@pytest.mark.slow
def test_changed_settings_do_not_rebuild_a_final_day_and_are_told(final: Path) -> None:
    before = digests(final / "lake")
    zone(final, SETTINGS + "datasets: [{id: keys, pattern: 's3://example-bucket/*'}]\n")
    workspace = build_all(file_of(final), at=MUCH_LATER)
    assert digests(final / "lake") == before
    assert {d["waits_for"] for d in status_of(workspace)["days"]} == {"settings or logic"}
    build_all(file_of(final), at=MUCH_LATER, asked=(DAY,))
    rows = restatements(final).filter(pl.col("event_date") == DAY)
    assert rows["cause"].unique().to_list() == ["settings or logic changed"]
    rows = rows.filter(pl.col("column_name") == "(row)")
    assert set(rows.select("value_before", "value_after").rows()) == {
        ("present", "absent"),
        ("absent", "present"),
    }


def test_a_file_that_a_final_day_has_lost_is_made_again_without_being_asked_for(
    final: Path,
) -> None:
    before = digests(final / "lake")
    (final / "lake/repeat_transfers/date=2026-03-10/fleet.parquet").unlink()
    build_all(file_of(final), at=MUCH_LATER)
    assert digests(final / "lake") == before
    assert restatements(final).is_empty()


def test_a_cluster_that_is_new_in_the_settings_rebuilds_no_final_day(final: Path) -> None:
    before = digests(final / "lake")
    zone(final, SETTINGS.replace("exports:", "  birch: {cloud: aws}\nexports:"))
    workspace = build_all(file_of(final), at=MUCH_LATER)
    assert digests(final / "lake") == before
    assert {d["waits_for"] for d in status_of(workspace)["days"]} == {"settings or logic"}


DEADLY = {RESTATEMENTS, "run_dependency_days"}


class Killed(BaseException):
    """What a test raises in place of a kill; nothing catches it."""


@pytest.mark.slow
def test_a_request_that_dies_at_every_rename_restates_every_value_once(
    final: Path, built: tuple[Path, Path], tmp_path: Path
) -> None:
    """At those of restatements, of a mart, of notes and of the catalogue."""
    put(final, "late.log", [line(3)])
    dead = tmp_path / "dead"
    workspace = Workspace(file_of(final))
    died: set[tuple[str, str]] = set()

    def die(moment: str, path: Path) -> None:
        # Names of comparisons end in what they lead to, which differs by the time of the attempt.
        place = (moment, re.sub("-[0-9a-f]{16}-", "-", path.relative_to(final).as_posix()))
        if place not in died and path.parts[-3] in DEADLY | {final.parent.name}:
            died.add(place)
            raise Killed

    at = MUCH_LATER
    for _ in range(200):
        at += dt.timedelta(minutes=1)
        try:
            # Asked for once; whoever comes next finishes it.
            asked = (DAY,) if not is_asked(workspace.lake, DAY) else ()
            build_all(file_of(final), die, at=at, asked=asked)
        except Killed:
            assert_readable(final)
        else:
            if not is_asked(workspace.lake, DAY) and received(final) == 300:
                break
    names = {Path(name).name for _, name in died}
    assert {".asked", ".final", "fleet.parquet", "podledger.duckdb"} <= names
    assert {
        "run_dependency_days-000001-fleet.parquet",
        "export_files-000001-fleet.parquet",
    } <= names
    shutil.copytree(final, dead)
    shutil.rmtree(final)
    shutil.copytree(built[1], final)
    put(final, "late.log", [line(3)])
    build_all(file_of(final), at=MUCH_LATER, asked=(DAY,))
    assert catalogue_rows(final / "podledger.duckdb") == catalogue_rows(dead / "podledger.duckdb")
    shown = ["table_name", "event_date", "row_key", "column_name", "value_before", "value_after"]

    def without_files(folder: Path) -> pl.DataFrame:
        rows = restatements(folder).filter(pl.col("table_name") != "export_files")
        return rows.select(shown).sort(shown)

    assert without_files(final).equals(without_files(dead))
    files = restatements(final).filter(pl.col("table_name") == "export_files")
    assert files["value_after"].unique().to_list() == [str(final / "in/2026-03-10/late.log")]
    assert stale_days(workspace) == []


def write(
    lake: Lake, size: int, table: str = "repeat_transfers", **values: object
) -> tuple[Path, str]:
    """A file of one row beside the lake, and its content's digest."""
    spec = table_spec(table)
    some: dict[object, object] = {
        pl.String: "x", pl.Int64: size, pl.Boolean: False, pl.Datetime: MUCH_LATER, pl.List: [],
    }  # fmt: skip
    row = {
        c.name: some.get(type(c.dtype) if isinstance(c.dtype, pl.DataType) else c.dtype)
        for c in spec.columns
    }
    frame = pl.DataFrame([row], schema=spec.polars_schema)
    frame = frame.with_columns(
        **{name: pl.lit(v, spec.polars_schema[name]) for name, v in values.items()}
    )
    path = lake.root / "new.parquet"
    with TableWriter(spec, path) as writer:
        writer.append(frame)
    return path, writer.content


def test_a_comparison_that_came_to_nothing_is_replaced_or_removed(tmp_path: Path) -> None:
    lake, spec = Lake(tmp_path / "lake"), table_spec("repeat_transfers")
    target = lake.path(spec.name, DAY, "fleet")
    target.parent.mkdir(parents=True)
    restating = Restating(MUCH_LATER, "late file(s): x.log", (("f", "x.log"),))
    with SqlSession() as session:
        old, _ = write(lake, 1)
        old.rename(target)
        first, content = write(lake, 2)
        counts = [restate(lake, session, spec, DAY, "fleet", first, content, restating)]
        # It dies here; the next build comes to another file.
        second, content = write(lake, 3)
        counts.append(restate(lake, session, spec, DAY, "fleet", second, content, restating))
    found = moved(tmp_path, "repeat_transfers")
    assert counts == [len(found), len(found)]
    assert found["transferred_bytes"] == ("1", "3")
    assert len(list((lake.root / RESTATEMENTS).rglob("repeat_transfers-*"))) == 1
    settle(lake, DAY)
    assert restatements(tmp_path).is_empty()


@pytest.mark.slow
def test_lists_of_later_nights_are_not_late_though_they_speak_of_the_day(tmp_path: Path) -> None:
    """A list of pods says of each that it has lived since it was created."""
    settings = lay_out_small_day(tmp_path)
    build_all(settings, at=LATER)
    lists = tmp_path / "exports/alder/kubernetes"
    night = lists / "2026-03-20/pods-23.json"
    night.parent.mkdir(parents=True)
    shutil.copyfile(lists / "2026-03-10/pods-23.json", night)
    workspace = build_all(settings, at=MUCH_LATER)
    (row,) = [d for d in status_of(workspace)["days"] if d["date"] == DAY]
    assert (row["state"], row["stale"], row["waits_for"]) == ("final", False, "")
    # One that was to come before the watermark is.
    held = lists / "2026-03-11/pods-05.json"
    shutil.copyfile(night, held)
    workspace = build_all(settings, at=MUCH_LATER)
    (row,) = [d for d in status_of(workspace)["days"] if d["date"] == DAY]
    assert (row["stale"], row["waits_for"]) == (True, "1 late file(s)")
    assert {f["path"] for f in status_of(workspace)["late"]} == {str(held)}


def test_history_makes_a_later_day_read_another_only_where_they_share_a_run(
    tmp_path: Path,
) -> None:
    """Forty days lie behind every look-back; a run may live longer."""
    zone(tmp_path)
    workspace = at_time(tmp_path, MUCH_LATER)
    lake, settings = workspace.lake, workspace.settings
    lake.root.mkdir()
    later = DAY + dt.timedelta(days=40)
    for day, run in ((DAY, "one"), (NEXT, "two"), (later, "one")):
        for table in ("runs", "run_dependency_days"):
            path, _ = write(lake, 1, table, run_uuid=run)
            target = lake.path(table, day, "fleet")
            target.parent.mkdir(parents=True)
            path.rename(target)
    ledger = Ledger.read(lake)
    build = build_day_of(settings, lake, ledger, later, workspace.today)
    assert set(basis_of(settings, lake, ledger, build).earlier) == {DAY}


def asked_for(workspace: Workspace) -> list[str]:
    with dg.build_sensor_context(
        resources={"workspace": workspace},
        repository_def=build_definitions().get_repository_def(),
    ) as context:
        requests = days_to_build.evaluate_tick(context).run_requests or ()
        return [str(request.partition_key) for request in requests]


def at_time(folder: Path, at: dt.datetime) -> Workspace:
    workspace = Workspace(file_of(folder))
    workspace.clock = lambda: at
    return workspace


def test_the_sensor_asks_for_provisional_days_that_late_files_touched(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    zone(tmp_path)
    build_all(file_of(tmp_path), at=AWAITED)
    workspace = at_time(tmp_path, AWAITED)
    assert asked_for(workspace) == []
    put(tmp_path, "late.log", [line(2)], day="2026-03-12")
    land_days(workspace, None)
    assert asked_for(workspace) == ["2026-03-10"]
    # The same day asks once more when its watermark has passed, to be published as final.
    build_all(file_of(tmp_path), at=AWAITED)
    assert asked_for(at_time(tmp_path, LATER)) == ["2026-03-10"]


def test_the_sensor_leaves_final_days_until_they_are_asked_for(final: Path) -> None:
    workspace = at_time(final, MUCH_LATER)
    put(final, "late.log", [line(3)])
    land_days(workspace, None)
    # The newest day's job brings the ledger of what landed into the catalogue, and builds nothing.
    assert asked_for(workspace) == ["2026-03-11"]
    build_all(file_of(final), at=MUCH_LATER)
    assert received(final) == 200
    assert asked_for(workspace) == []
    ask_for(workspace, DAY)
    assert asked_for(workspace) == ["2026-03-10"]


def run_by_hand(workspace: Workspace, tags: dict[str, str]) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        result = (
            build_definitions()
            .resolve_job_def("build")
            .execute_in_process(
                partition_key="2026-03-10",
                resources={"workspace": workspace},
                instance=instance,
                tags=tags,
            )
        )
    assert result.success


def test_a_job_that_is_started_by_hand_asks_for_its_day_and_one_of_the_sensor_does_not(
    final: Path,
) -> None:
    workspace = at_time(final, MUCH_LATER)
    put(final, "late.log", [line(3)])
    land_days(workspace, None)
    run_by_hand(workspace, {"dagster/sensor_name": "days_to_build"})
    assert received(final) == 200
    run_by_hand(workspace, {})
    assert received(final) == 300
    assert moved(final, "run_dependency_days")["received_bytes"] == ("200", "300")
    # The day after read the late file in its look-back: it is asked for, too.
    assert asked_for(workspace) == ["2026-03-11"]
    assert is_stale(workspace, Ledger.read(workspace.lake), NEXT)

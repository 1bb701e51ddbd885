"""The catalogue is one file that is replaced in one step, with everything in it explained."""

import os
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb
import pytest

from pipelines.catalog import is_current, made_from, open_catalog, write_catalog
from pipelines.errors import LakeWriteError
from pipelines.storage import Lake
from schemas.registry import table_spec
from schemas.views import views
from tests.pipelines.plain_build import untouched_processes
from tests.pipelines.test_publication import DAY, SPEC, rows
from tests.transforms.frames import at, frame
from transforms.sql import SqlSession


def publish(folder: Path, count: int) -> Lake:
    from pipelines.publication import Made, publish

    lake = Lake(folder / "lake")
    with SqlSession() as session:
        session.register("result", rows(count))
        publish(lake, session, SPEC, "result", DAY, "alder", Made(str(count), 1))
    return lake


def counted(connection: duckdb.DuckDBPyConnection) -> int:
    return int(connection.sql("SELECT COUNT(*) FROM node_coverage").fetchall()[0][0])


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "podledger.duckdb"
    write_catalog(publish(tmp_path, 3), path)
    yield path
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".tmp-")] == []


def test_who_has_the_catalogue_open_reads_the_old_one_to_the_end(
    catalogue: Path, tmp_path: Path
) -> None:
    with open_catalog(catalogue) as reader:
        assert counted(reader) == 3
        write_catalog(publish(tmp_path, 300), catalogue)
        assert counted(reader) == 3
    with open_catalog(catalogue) as reader:
        assert counted(reader) == 300


def _read(path: Path, told: Connection) -> None:
    """An analyst's process: opens the catalogue, answers until it is told to stop, opens it anew.

    Each answer is a number of rows, asked twice, and what the catalogue was made from.
    """
    for _ in range(2):
        with duckdb.connect(str(path), read_only=True) as connection:
            while told.recv() == "ask":
                ((made,),) = connection.sql("SELECT digest FROM internal.made_from").fetchall()
                ours = connection.sql("FROM node_coverage WHERE cluster = 'alder'")
                told.send((counted(connection), len(ours.fetchall()), made))


def test_an_analyst_of_another_process_reads_one_build_until_the_file_is_opened_anew(
    catalogue: Path, tmp_path: Path
) -> None:
    context = untouched_processes()
    told, tells = context.Pipe()
    process = context.Process(target=_read, args=(catalogue, tells))
    process.start()

    def ask() -> tuple[int, int, str]:
        told.send("ask")
        assert told.poll(60)
        return told.recv()

    first = ask()
    assert first[:2] == (3, 3)
    for count in (300, 20):
        lake = publish(tmp_path, count)
        assert ask() == first
        write_catalog(lake, catalogue)
        assert ask() == first
        assert is_current(lake, catalogue)
    told.send("open anew")
    newest = ask()
    assert newest[:2] == (20, 20)
    assert newest[2] == made_from(lake) != first[2]
    told.send("end")
    process.join(60)
    assert process.exitcode == 0


def test_another_file_or_folder_is_never_replaced(tmp_path: Path) -> None:
    lake = publish(tmp_path, 3)
    notes, folder, empty = tmp_path / "notes.txt", tmp_path / "folder", tmp_path / "empty.duckdb"
    notes.write_text("what a person wrote", encoding="utf-8")
    folder.mkdir()
    empty.touch()
    with pytest.raises(LakeWriteError, match="another file stands there and stays"):
        write_catalog(lake, notes)
    with pytest.raises(LakeWriteError, match="a folder stands there"):
        write_catalog(lake, folder)
    os.mkfifo(tmp_path / "pipe.duckdb")
    with pytest.raises(LakeWriteError, match="a pipe or device stands there"):
        write_catalog(lake, tmp_path / "pipe.duckdb")
    assert (tmp_path / "pipe.duckdb").is_fifo()
    assert notes.read_text(encoding="utf-8") == "what a person wrote"
    write_catalog(lake, empty)
    write_catalog(lake, empty)
    with open_catalog(empty) as reader:
        assert counted(reader) == 3


def test_a_catalogue_that_cannot_be_finished_leaves_the_old_one(
    catalogue: Path, tmp_path: Path
) -> None:
    publish(tmp_path, 300)

    def die(moment: str, _path: Path) -> None:
        if moment == "before":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_catalog(Lake(tmp_path / "lake", die), catalogue)
    with open_catalog(catalogue) as reader:
        assert counted(reader) == 3


def test_what_a_killed_build_left_beside_the_catalogue_is_removed(
    catalogue: Path, tmp_path: Path
) -> None:
    (tmp_path / ".tmp-1-podledger.duckdb").write_bytes(b"half")
    (tmp_path / ".tmp-1-podledger.duckdb.wal").write_bytes(b"half")
    (tmp_path / ".tmp-1-podledger.duckdb.tmp").mkdir()
    other = tmp_path / ".tmp-1-other.duckdb"
    other.write_bytes(b"not ours")
    write_catalog(Lake(tmp_path / "lake"), catalogue, threads=1, memory_limit="200MB")
    assert other.read_bytes() == b"not ours"
    other.unlink()


def test_the_view_and_every_column_of_it_are_explained(catalogue: Path) -> None:
    spec = views()["dependencies"]
    with open_catalog(catalogue) as reader:
        assert reader.sql(
            "SELECT comment FROM duckdb_views() WHERE view_name = 'dependencies'"
        ).fetchall() == [(spec.grain,)]
        columns = reader.sql(
            "SELECT column_name, data_type, comment FROM duckdb_columns() "
            "WHERE table_name = 'dependencies' ORDER BY column_index"
        ).fetchall()
    assert [name for name, _, _ in columns] == [c.name for c in spec.columns]
    assert all(comment for _, _, comment in columns)
    kinds = {str(c.dtype): t for c, (_, t, _) in zip(spec.columns, columns, strict=True)}
    assert kinds == {
        "String": "VARCHAR",
        "Int64": "BIGINT",
        "Datetime(time_unit='us', time_zone='UTC')": "TIMESTAMP WITH TIME ZONE",
        "Float64": "DOUBLE",
        "Boolean": "BOOLEAN",
    }


def test_tables_are_explained_with_unit_null_and_whether_they_add_up(catalogue: Path) -> None:
    with open_catalog(catalogue) as reader:
        comments = dict(
            reader.sql(
                "SELECT column_name, comment FROM duckdb_columns() "
                "WHERE table_name = 'run_dependency_days'"
            ).fetchall()
        )
    spec = table_spec("run_dependency_days")
    assert set(comments) == {"date", *(c.name for c in spec.columns)}
    assert comments["received_bytes"] == (
        "Bytes to the pods. Unit: bytes. Null: not measured. Adds up over rows."
    )


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (1_001, 2_000, "yes"),
        (1_001, None, "yes"),
        (1_000, 2_000, "unknown"),
        (1_000, 1_000, "no"),
        (0, 999, "no"),
        (0, None, "unknown"),
        (None, 999, "no"),
        (None, 1_001, "unknown"),
        (None, None, "unknown"),
    ],
)
def test_a_range_supports_that_there_was_more_than_a_thousand(
    catalogue: Path, least: int | None, most: int | None, said: str
) -> None:
    with open_catalog(catalogue) as reader:
        answer = reader.execute("SELECT supports(?, ?, 1000)", [least, most]).fetchall()
        of_nothing = reader.execute("SELECT supports(?, ?, NULL)", [least, most]).fetchall()
        comments = reader.execute(
            "SELECT comment FROM duckdb_functions() WHERE function_name IN "
            "('supports', 'runs_reading_more_than')"
        ).fetchall()
    assert (answer, of_nothing) == ([(said,)], [("unknown",)])
    assert all(comment for (comment,) in comments)
    assert len(comments) == 2


def test_a_run_read_no_more_only_if_all_that_it_did_was_measured_and_seen(tmp_path: Path) -> None:
    path = tmp_path / "podledger.duckdb"
    write_catalog(publish(tmp_path, 1), path)
    row = {"measured_by": "flow_record", "empty_means": "nothing_happened"}
    measured = row | {"min_received_bytes": 300, "received_bytes": 400, "max_received_bytes": 500}
    rows = {
        "small": [measured, measured | {"accounted_in": "s3://b", "max_received_bytes": None}],
        "large": [measured] * 4,
        "sampled": [measured, measured | {"max_received_bytes": None}],
        "unseen": [measured, measured | {"empty_means": "partly_observed"}],
        "unmeasured": [measured, row | {"min_received_bytes": None, "received_bytes": None}],
        "declared": [measured, row | {"first_seen_at": None}],
        "sender": [measured, row | {"min_sent_bytes": 7, "max_sent_bytes": 9}],
        "remote memory": [measured],
    }  # fmt: skip
    found = [
        {"run_uuid": run, "first_seen_at": at("08:00")} | item
        for run, items in rows.items()
        for item in items
    ]
    balance = [
        {"run_uuid": "remote memory", "direction": "receive", "rdma": "not_observed"},
        *({"run_uuid": run, "direction": "receive", "rdma": None} for run in ("small", None)),
    ]
    with duckdb.connect(path) as writer:
        for table, filling in (("run_dependencies", found), ("byte_balance", balance)):
            filled = frame(table, filling).to_arrow()
            writer.register("filled", filled)
            names = ", ".join(f'"{c.name}"' for c in table_spec(table).columns)
            writer.execute(f"INSERT INTO {table} BY NAME SELECT {names} FROM filled")
    with open_catalog(path) as reader:
        told = reader.execute("SELECT run_uuid, supports FROM runs_reading_more_than(1000)")
        assert dict(told.fetchall()) == {
            "small": "no", "large": "yes", "sampled": "unknown", "unseen": "unknown",
            "unmeasured": "unknown", "declared": "no", "sender": "no",
            "remote memory": "unknown",
        }  # fmt: skip

"""What is published is ordered, checked and the same bytes for the same rows."""

import datetime as dt
from pathlib import Path

import duckdb
import pandera.errors
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import DataCheckError
from pipelines.publication import (
    Made,
    Published,
    TableWriter,
    _next_batch,
    _passes,
    check_table,
    content_of,
    digest,
    made_from,
    ordered_batches,
    publish,
)
from pipelines.storage import Lake
from schemas.registry import table_spec
from transforms.sql import SqlSession

SPEC = table_spec("node_coverage")
DAY = dt.date(2026, 3, 10)
START = dt.datetime(2026, 3, 10, tzinfo=dt.UTC)


def rows(count: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "node_coverage_id": [f"{n:032x}" for n in range(count)],
            "cluster": ["alder"] * count,
            "source": ["flows"] * count,
            "node": [f"node-{n % 7}" for n in range(count)],
            "start_at": [START + dt.timedelta(microseconds=n) for n in range(count)],
            "end_at": [START + dt.timedelta(microseconds=n + 1) for n in range(count)],
            "status": ["covered"] * count,
            "lost_count": [None] * count,
            "masked_count": [0] * count,
            "sampled_ratio": [None] * count,
            "reason": [None] * count,
        },
        schema=SPEC.polars_schema,
    )


MADE = Made("abc", 3)


def publish_rows(
    folder: Path, frame: pl.DataFrame, threads: int = 2, made: Made = MADE
) -> Published | None:
    with SqlSession(threads=threads) as session:
        session.register("result", frame)
        return publish(Lake(folder), session, SPEC, "result", DAY, "alder", made)


def path_of(folder: Path) -> Path:
    return Lake(folder).path(SPEC.name, DAY, "alder")


def test_rows_come_out_in_the_declared_order_whatever_their_order(tmp_path: Path) -> None:
    frame = rows(300_000)
    publish_rows(tmp_path / "a", frame, threads=1)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    publish_rows(tmp_path / "b", shuffled, made=Made("other inputs", 4))
    first, second = path_of(tmp_path / "a"), path_of(tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    read = pl.read_parquet(first, hive_partitioning=False)
    assert read.equals(frame.sort(SPEC.order))
    assert made_from(first) == MADE
    assert made_from(second) == Made("other inputs", 4)


def test_rows_that_are_published_already_leave_the_file_as_it_is(tmp_path: Path) -> None:
    assert publish_rows(tmp_path, rows(3)) == Published(
        path_of(tmp_path), 3, path_of(tmp_path).stat().st_size
    )
    before = path_of(tmp_path).stat().st_mtime_ns
    assert publish_rows(tmp_path, rows(3), made=Made("later", 3)) is None
    assert path_of(tmp_path).stat().st_mtime_ns == before
    assert made_from(path_of(tmp_path)) == Made("later", 3)


def test_other_rows_have_another_content(tmp_path: Path) -> None:
    found = set()
    for n, frame in enumerate((SPEC.empty(), rows(1), rows(2))):
        publish_rows(tmp_path / str(n), frame)
        found.add(content_of(path_of(tmp_path / str(n))))
    assert len(found) == 3
    assert None not in found


def test_a_file_whose_note_is_of_another_content_must_be_made_again(tmp_path: Path) -> None:
    """So it stands after a death between the file's rename and its note's."""
    publish_rows(tmp_path, rows(3))
    publish_rows(tmp_path / "other", rows(4))
    path_of(tmp_path / "other").replace(path_of(tmp_path))
    assert made_from(path_of(tmp_path)) is None


def test_an_empty_table_is_published_with_its_types(tmp_path: Path) -> None:
    publish_rows(tmp_path, SPEC.empty())
    read = pl.read_parquet(path_of(tmp_path), hive_partitioning=False)
    assert read.schema == SPEC.polars_schema


def test_a_repeated_key_stays_unpublished(tmp_path: Path) -> None:
    frame = pl.concat([rows(3), rows(1)])
    with pytest.raises(DataCheckError, match=r"node_coverage: key \(cluster, source, node"):
        publish_rows(tmp_path, frame)
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_value_that_the_model_forbids_stays_unpublished(tmp_path: Path) -> None:
    frame = rows(3).with_columns(status=pl.lit("perhaps"))
    with pytest.raises(DataCheckError, match="status"):
        publish_rows(tmp_path, frame)
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_null_where_none_may_stand_is_refused(tmp_path: Path) -> None:
    frame = rows(3).with_columns(masked_count=pl.lit(None, pl.Int64))
    with pytest.raises(DataCheckError, match="masked_count"):
        publish_rows(tmp_path, frame)


def test_a_transform_that_forgets_a_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataCheckError, match=r"made no column\(s\) reason"):
        publish_rows(tmp_path, rows(1).drop("reason"))


def test_nothing_is_known_of_a_foreign_file(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    assert (content_of(path), made_from(path)) == (None, None)
    path.write_bytes(b"not parquet")
    assert (content_of(path), made_from(path)) == (None, None)


@pytest.mark.parametrize("is_part", [True, False])
def test_files_tell_least_and_greatest_texts_by_which_the_engine_plans(
    tmp_path: Path, is_part: bool
) -> None:
    path = tmp_path / "rows.parquet"
    with TableWriter(SPEC, path, is_part=is_part) as writer:
        writer.write(rows(9))
    group = pq.ParquetFile(path).metadata.row_group(0)
    told = {
        group.column(n).path_in_schema: group.column(n).statistics for n in range(group.num_columns)
    }
    assert (told["node"].min, told["node"].max) == ("node-0", "node-6")
    assert (told["status"].min, told["status"].max) == ("covered", "covered")


def test_digests_tell_lists_apart_that_join_to_one_text() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
    assert digest([]) != digest([""])


TEXT = st.one_of(st.none(), st.sampled_from(["covered", "lossy", "perhaps", ""]))
NUMBER = st.one_of(st.none(), st.integers(-2, 2))


CHANGES = {"status": TEXT, "node": TEXT, "lost_count": NUMBER, "masked_count": NUMBER}


@given(st.lists(st.fixed_dictionaries(CHANGES), max_size=4))
def test_the_quick_checks_pass_what_the_model_passes(changes: list[dict[str, object]]) -> None:
    good = rows(len(changes))
    frame = good.with_columns(
        pl.Series(name, [change[name] for change in changes], dtype=good.schema[name])
        for name in CHANGES
    )
    arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    arrow = pa.Table.from_arrays(arrow.columns, schema=SPEC.arrow_schema)
    try:
        SPEC.model.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors:
        assert not _passes(SPEC, frame)
        with pytest.raises(DataCheckError, match="rows break the model"):
            check_table(SPEC, arrow)
    else:
        assert _passes(SPEC, frame)
        check_table(SPEC, arrow)


def test_columns_in_another_order_or_of_another_type_do_not_pass() -> None:
    frame = rows(2)
    assert _passes(SPEC, frame)
    assert not _passes(SPEC, frame.select(sorted(frame.columns)))
    assert not _passes(SPEC, frame.with_columns(pl.col("masked_count").cast(pl.Int32)))
    assert not _passes(SPEC, frame.drop("reason"))


class Broken:
    """A result of the engine whose second batch fails, as Arrow hands it on."""

    def __init__(self, error: OSError) -> None:
        self._error = error

    def read_next_batch(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError("Out of Memory Error: failed to pin block"), duckdb.OutOfMemoryException),
        (OSError("Conversion Error: Could not convert string"), duckdb.Error),
        (OSError(28, "No space left on device", "x"), OSError),
    ],
)
def test_what_stops_the_engine_while_rows_are_fetched_is_its_own_error(
    error: OSError, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match=str(error.args[-1] if error.errno is None else error.strerror)):
        _next_batch(Broken(error))


def test_an_engine_without_memory_for_the_result_says_so() -> None:
    """Building alone with all of the memory is tried only where it is known what is missing."""
    spec = table_spec("node_coverage")
    with SqlSession(threads=1, memory_limit="50MB") as session:
        session.connection.execute(
            "CREATE TEMP VIEW result AS SELECT md5(CAST(range AS VARCHAR)) AS node_coverage_id, "
            "'alder' AS cluster, 'flows' AS source, md5(CAST(range * 3 AS VARCHAR)) AS node, "
            "now() AS start_at, now() AS end_at, 'covered' AS status, NULL AS lost_count, "
            "0 AS masked_count, NULL AS sampled_ratio, repeat('x', 200) AS reason "
            "FROM range(1000000)"
        )
        with pytest.raises(duckdb.OutOfMemoryException):
            for _ in ordered_batches(session, spec, "result"):
                pass

"""What is published is ordered, checked and the same bytes for the same rows."""

import datetime as dt
from pathlib import Path

import polars as pl
import pytest

from pipelines.errors import DataCheckError
from pipelines.publication import digest, fingerprint_of, publish
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


def publish_rows(folder: Path, frame: pl.DataFrame, threads: int = 2) -> Path:
    with SqlSession(threads=threads) as session:
        session.register("result", frame)
        return publish(Lake(folder), session, SPEC, "result", DAY, "alder", "abc", 3).path


def test_rows_come_out_in_the_declared_order_whatever_their_order(tmp_path: Path) -> None:
    frame = rows(300_000)
    first = publish_rows(tmp_path / "a", frame, threads=1)
    second = publish_rows(tmp_path / "b", frame.sample(fraction=1, shuffle=True, seed=3))
    assert first.read_bytes() == second.read_bytes()
    read = pl.read_parquet(first, hive_partitioning=False)
    assert read.equals(frame.sort(SPEC.order))
    assert fingerprint_of(first) == ("abc", 3)


def test_an_empty_table_is_published_with_its_types(tmp_path: Path) -> None:
    path = publish_rows(tmp_path, SPEC.empty())
    assert pl.read_parquet(path, hive_partitioning=False).schema == SPEC.polars_schema


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


def test_a_foreign_file_has_no_fingerprint(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    assert fingerprint_of(path) is None
    path.write_bytes(b"not parquet")
    assert fingerprint_of(path) is None


def test_digests_tell_lists_apart_that_join_to_one_text() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
    assert digest([]) != digest([""])

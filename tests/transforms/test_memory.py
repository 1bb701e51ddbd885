"""A day larger than memory is built: what does not fit is spilled, and the answer is the same."""

from pathlib import Path

import polars as pl
import pytest

from schemas.registry import table_spec
from tests.transforms.frames import DAY
from transforms.day import BuildDay
from transforms.intermediate import connections, object_transfers
from transforms.intermediate.address_prefixes import ADDRESS_RANGES
from transforms.sql import SqlSession
from transforms.transform import Transform

MEGABYTE = 1_000_000


def fill(
    session: SqlSession, table: str, columns: dict[str, str], count: int, folder: Path
) -> None:
    """Stage generated rows in a file, as landing does.

    Args:
        session: Where the table is shown.
        table: Staging table.
        columns: SQL expressions over `n`, the row's number, by column; the others are null.
        count: Number of rows.
        folder: Where the file stands.
    """
    run = session.connection.execute
    path = folder / f"{table}.parquet"
    session.register("shape", table_spec(table).empty())
    run('CREATE TEMP TABLE "staged" AS FROM shape')
    chosen = ", ".join(f'{sql} AS "{name}"' for name, sql in columns.items())
    run(f"INSERT INTO staged BY NAME SELECT {chosen} FROM range({count}) AS t (n)")
    run(f"COPY staged TO '{path}' (FORMAT parquet)")
    run("DROP TABLE staged")
    session.connection.read_parquet(str(path)).create_view(table)


def built(transform: Transform, session: SqlSession, cluster: str, limit: int) -> pl.DataFrame:
    """Build with little memory; tables that are not there are empty."""
    known = {row[0] for row in session.connection.execute("SHOW TABLES").fetchall()}
    for read in transform.reads:
        if read.table == "address_ranges":
            session.register(read.table, pl.DataFrame(schema=ADDRESS_RANGES))
        elif read.table not in known:
            spec = table_spec(read.table)
            empty = spec.empty()
            if spec.layer in {"intermediate", "marts"}:
                empty = empty.with_columns(date=pl.lit(None, pl.Date))
            session.register(read.table, empty)
    session.connection.execute("SET preserve_insertion_order = false")
    session.connection.execute(f"SET memory_limit = '{limit}B'")
    return session.frame(transform.build(session, BuildDay(DAY, cluster)))


STAGED = {
    "export_file_id": "'file'",
    "record_index": "n",
    "row_index": "0",
    "record_id": "MD5(CAST(n AS VARCHAR))",
    "event_at": f"TIMESTAMPTZ '{DAY} 00:00:00+00' + INTERVAL (n * 80) MILLISECOND",
}
ADDRESS = "CONCAT_WS('.', 10, n // 65536 % 256, n // 256 % 256, n % 256)"


@pytest.mark.slow
def test_a_day_of_more_requests_than_memory_holds_is_built(tmp_path: Path):
    count, limit = 1_000_000, 400 * MEGABYTE
    with SqlSession(threads=2, temp_directory=tmp_path / "spill") as session:
        fill(
            session,
            "object_requests",
            STAGED
            | {
                "source_format": "'s3_access_log'",
                "provider": "'s3'",
                "bucket": "'example-datasets'",
                "key": "'imagenet/shard-' || n % 50000 || '.tar'",
                "operation": "'read'",
                "operation_name": "'REST.GET.OBJECT'",
                "status": "200",
                "response_bytes": "100",
                "object_size_bytes": "100",
                "etag": "MD5('etag' || n % 50000)",
                "client_address": ADDRESS,
                "principal": "'arn:aws:sts::111122223333:assumed-role/ml/session'",
                "user_agent": "'boto3/1.34.0 md/Botocore#1.34.0 ua/2.0 os/linux#6.8'",
                "endpoint": "'example-datasets.s3.eu-west-1.amazonaws.com'",
                "request_id": "MD5('request' || n)",
            },
            count,
            tmp_path,
        )
        rows = built(object_transfers.TRANSFORM, session, "fleet", limit)
    assert rows.estimated_size() > limit
    assert rows.height == count
    assert rows["transferred_bytes"].sum() == 100 * count


@pytest.mark.slow
def test_a_day_of_more_connections_than_memory_holds_is_built(tmp_path: Path):
    count, limit = 1_000_000, 500 * MEGABYTE
    with SqlSession(threads=2, temp_directory=tmp_path / "spill") as session:
        fill(
            session,
            "flows",
            STAGED
            | {
                "source_format": "'hubble'",
                "cluster": "'alder'",
                "node": "'node-' || n % 40",
                "verdict": "'FORWARDED'",
                "direction": "'EGRESS'",
                "is_reply": "FALSE",
                "trace_reason": "'NEW'",
                "transport": "'TCP'",
                "tcp_flags": "['SYN']",
                "source_address": ADDRESS,
                "source_port": "30000 + n % 30000",
                "source_namespace": "'namespace-of-team-' || n % 100",
                "source_pod_name": "'training-job-of-team-' || n % 2000 || '-worker'",
                "destination_address": "'198.51.100.' || n % 250",
                "destination_port": "443",
                "is_masked": "FALSE",
            },
            count,
            tmp_path,
        )
        rows = built(connections.TRANSFORM, session, "alder", limit)
    # Beside the answer, a fact per connection is summed, matched and named on the way.
    assert 2 * rows.estimated_size() > limit
    assert rows.height == count
    assert rows["event_count"].sum() == count

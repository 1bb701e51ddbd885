"""dependencies: the macro and the view of the catalogue over run_dependency_days."""

from collections.abc import Iterator
from datetime import date, timedelta
from importlib.resources import files

import duckdb
import polars as pl
import pytest

from tests.transforms.frames import DAY, at, frame

RUN = "a" * 32
OTHER = "b" * 32
HOST = "dns://data.example.com:443"
ONE = timedelta(days=1)


def row(**more) -> dict:
    return {
        "run_dependency_day_id": str(sorted(map(str, more.items()))),
        "cluster": "alder",
        "run_uuid": RUN,
        "project": "vision",
        "resource_id": HOST,
        "operation": "connect",
        "resource_kind": "host",
        "connection_count": 1,
        "pod_uids": ["p1"],
        "first_seen_at": at("10:00"),
        "last_seen_at": at("11:00"),
    } | more


@pytest.fixture
def catalogue() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def filled(connection: duckdb.DuckDBPyConnection, rows: list[dict]) -> None:
    shown = frame("run_dependency_days", rows, date_column=True)
    connection.register("given", shown.to_arrow(compat_level=pl.CompatLevel.oldest()))
    connection.execute("CREATE TABLE run_dependency_days AS SELECT * FROM given")
    script = files("transforms.marts").joinpath("dependencies.sql").read_text(encoding="utf-8")
    connection.execute(script)


def asked(connection: duckdb.DuckDBPyConnection, source: str, *columns: str) -> list[tuple]:
    return connection.execute(f"SELECT {', '.join(columns)} FROM {source}").fetchall()


def test_projects_pods_of_no_run_and_what_no_pod_is_known_for_are_rows_of_their_own(catalogue):
    filled(
        catalogue,
        [
            row(connection_count=2),
            row(run_uuid=OTHER, pod_uids=["p2", "p3"]),
            row(run_uuid=OTHER, pod_uids=["p3"], date=DAY - ONE),
            row(run_uuid=OTHER, project=None, pod_uids=[]),
            row(run_uuid=None, project=None),
            row(run_uuid=None, project=None, pod_uids=[], cluster=None),
        ],
    )
    columns = ("project", "run_count", "pod_count", "connection_count")
    assert asked(catalogue, "dependencies", *columns) == [
        ("(no run)", 0, 1, 1),
        ("(unattributed)", 0, 0, 1),
        ("vision", 2, 3, 4),
        (None, 1, 0, 1),
    ]


def test_a_range_counts_both_its_ends(catalogue):
    filled(catalogue, [row(date=DAY + n * ONE, first_seen_at=at("10:00", days=n),
                           last_seen_at=at("11:00", days=n)) for n in range(5)])  # fmt: skip
    source = f"dependencies('{DAY + ONE}', '{DAY + 3 * ONE}')"
    assert asked(catalogue, source, "connection_count", "first_seen_at", "last_seen_at") == [
        (3, at("10:00", days=1), at("11:00", days=3))
    ]
    assert asked(catalogue, f"dependencies(NULL, DATE '{DAY}')", "connection_count") == [(1,)]
    assert asked(catalogue, f"dependencies(DATE '{DAY}', DATE '{DAY}')", "connection_count") == [
        (1,)
    ]
    assert asked(catalogue, "dependencies", "connection_count") == [(5,)]


def test_bytes_add_up_and_what_is_not_measured_is_null(catalogue):
    flow = {"received_bytes": 5, "min_received_bytes": 4, "max_received_bytes": 6}
    filled(
        catalogue,
        [
            row(measured_by="flow_record", **flow),
            row(measured_by="flow_record", **flow | {"max_received_bytes": None}, run_uuid=OTHER),
            row(measured_by="none", accounted_in="s3://bucket"),
            row(operation="resolve", measured_by="none"),
        ],
    )
    names = [f"{bound}received_bytes" for bound in ("", "min_", "max_")]
    assert asked(catalogue, "dependencies", "operation", *names, "sent_bytes") == [
        ("connect", 10, 8, None, None),
        ("resolve", None, None, None, None),
    ]
    types = dict(catalogue.sql("SELECT * FROM dependencies").pl().schema)
    assert types["received_bytes"] == types["run_count"] == pl.Int64


def test_contact_that_nothing_measured_leaves_the_upper_bound_open(catalogue):
    flow = {"received_bytes": 5, "min_received_bytes": 4, "max_received_bytes": 6}
    filled(
        catalogue,
        [
            row(measured_by="flow_record", **flow),
            row(measured_by="none", denied_count=1),
            row(resource_id="dns://else:1", measured_by="flow_record", **flow),
            row(resource_id="dns://else:1", measured_by="none", run_uuid=OTHER),
        ],
    )
    assert asked(catalogue, "dependencies", "resource_id", "max_received_bytes") == [
        (HOST, 6), ("dns://else:1", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("built", "seen", "expected"),
    [
        (range(1, 31), (), True),
        (range(1, 31), (30,), False),
        (range(1, 32), (31,), True),
        (range(1, 30), (), None),
        (range(1, 5), (3,), False),
        ((), (), None),
    ],
)
def test_new_is_what_the_thirty_days_before_did_not_show(catalogue, built, seen, expected):
    other = [row(resource_id="dns://else:1", date=DAY - n * ONE) for n in built]
    same = [row(date=DAY - n * ONE) for n in seen]
    filled(catalogue, [row(), *other, *same])
    source = f"dependencies(DATE '{DAY}', NULL)"
    found = dict(asked(catalogue, source, "resource_id", "is_new"))
    assert found == {HOST: expected}


def test_an_empty_table_gives_no_rows(catalogue):
    filled(catalogue, [])
    assert asked(catalogue, "dependencies", "*") == []
    assert asked(catalogue, f"dependencies('{date(2026, 1, 1)}', NULL)", "*") == []


def test_totals_close_over_all_projects(catalogue):
    rows = [
        row(run_uuid=run, project=project, received_bytes=n, min_received_bytes=n,
            max_received_bytes=n, pod_uids=pods, date=DAY - (n % 3) * ONE, resource_id=f"r{n % 4}")
        for n, (run, project, pods) in enumerate(
            [(RUN, "a", ["p1"]), (None, None, ["p2"]), (None, None, []), (OTHER, "b", [])] * 5
        )
    ]  # fmt: skip
    filled(catalogue, rows)
    assert asked(catalogue, "dependencies", "SUM(received_bytes)::BIGINT") == [(sum(range(20)),)]

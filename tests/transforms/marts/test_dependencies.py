"""dependencies: the macro and the view of the catalogue over run_dependency_days."""

from collections.abc import Iterable, Iterator
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


def filled(
    connection: duckdb.DuckDBPyConnection, rows: list[dict], balances: Iterable[dict] = ()
) -> None:
    for name, given in (("run_dependency_days", rows), ("byte_balance", balances)):
        shown = frame(name, given, date_column=True)
        connection.register("given", shown.to_arrow(compat_level=pl.CompatLevel.oldest()))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
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


def balance(direction: str, chosen: int, shown: int, **more) -> dict:
    left = chosen - shown
    return {
        "byte_balance_id": f"{direction} {chosen} {sorted(map(str, more.items()))}",
        "run_uuid": RUN, "project": "vision", "pod_uid": "p1", "cluster": "alder",
        "direction": direction, "hour_start_at": at("10:00"), "chosen_bytes": chosen,
        "attributed_bytes": shown, "unattributed_bytes": left,
        "min_unattributed_bytes": left - 1, "max_unattributed_bytes": left + 1,
    } | more  # fmt: skip


def test_what_no_row_shows_is_the_projects_unresolved_remainder(catalogue):
    measured = {"received_bytes": 100, "min_received_bytes": 90, "max_received_bytes": 110}
    filled(
        catalogue,
        [row(**measured), row(date=DAY - ONE, **measured)],
        [
            balance("receive", 100, 70),
            balance("receive", 20, 30, pod_uid="p2"),
            balance("transmit", 5, 0, max_unattributed_bytes=None),
            balance("receive", 9, 0, run_uuid=None, project=None),
            balance("receive", 4, 0, run_uuid=None, project=None, pod_uid=None, cluster=None),
            balance("receive", 3, 0, run_uuid=OTHER, project=None),
            balance("receive", 2**40, 0, date=DAY + ONE),
        ],
    )
    columns = (
        "project", "run_count", "pod_count", "received_bytes", "min_received_bytes",
        "max_received_bytes", "sent_bytes", "max_sent_bytes", "connection_count", "is_new",
    )  # fmt: skip
    day = f"dependencies(DATE '{DAY}', DATE '{DAY}') WHERE resource_id = '(unresolved)'"
    assert asked(catalogue, day, *columns) == [
        ("(no run)", 0, 1, 9, 8, 10, None, None, 0, None),
        ("(unattributed)", 0, 0, 4, 3, 5, None, None, 0, None),
        ("vision", 1, 2, 20, 18, 22, 5, None, 0, None),
        (None, 1, 1, 3, 2, 4, None, None, 0, None),
    ]
    total = f"dependencies(DATE '{DAY}', DATE '{DAY}')"
    assert asked(catalogue, total, "SUM(received_bytes)") == [(100 + 20 + 9 + 4 + 3,)]


def test_rows_add_up_to_what_was_chosen_where_a_sum_is_shown_as_unknown(catalogue):
    pull = {"resource_id": "oci://registry.example.com/a:1", "operation": "pull"}
    filled(
        catalogue,
        [
            row(received_bytes=50, min_received_bytes=50, **pull),
            row(received_bytes=None, min_received_bytes=10, run_uuid=OTHER, **pull),
            # No balance of that day: nothing tells what was chosen.
            row(received_bytes=2**40, min_received_bytes=1, date=DAY - ONE, **pull),
        ],
        [balance("receive", 60, 50)],
    )
    assert asked(catalogue, "dependencies", "resource_id", "received_bytes") == [
        ("(unresolved)", 60),
        ("oci://registry.example.com/a:1", None),
    ]


def test_coverage_is_a_share_of_the_pod_time_behind_all_rows(catalogue):
    half = {"expected_us": 100, "covered_us": 50, "empty_means": "partly_observed"}
    filled(
        catalogue,
        [
            row(**half),
            row(**half | {"expected_us": 300, "covered_us": 300}, date=DAY - ONE),
            # What nothing shows by the hour has no part in it.
            row(run_uuid=OTHER),
            row(operation="pull"),
        ],
        [{"run_uuid": RUN, "project": "vision", "pod_uid": "p1", "hour_start_at": at("10:00"),
          "direction": "receive", "expected_us": 8, "covered_us": 2}],
    )  # fmt: skip
    assert asked(catalogue, "dependencies", "operation", "coverage_ratio") == [
        ("other", 0.25),
        ("connect", 0.875),
        ("pull", None),
    ]

"""The split of a day by the rungs of the ladders, and its change against the week before."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from dagster import AssetCheckSeverity

from pipelines.accuracy import Change, newest_day, split_of
from pipelines.assets.tables import attribution_check
from pipelines.storage import Lake
from schemas.registry import table_spec

DAY = dt.date(2026, 3, 10)


def before(days: int) -> dt.date:
    return DAY - dt.timedelta(days=days)


def connection(**changes: Any) -> dict[str, Any]:
    return {
        "cluster": "oak", "initiator_match_kind": "name_window", "initiator_pod_uid": "a",
        "responder_match_kind": "none", "peer_kind": "outside", "name_kind": "dns_pod",
        "container_kind": "only_running",
    } | changes  # fmt: skip


def transfer(kind: str, cluster: str | None = "oak") -> dict[str, Any]:
    return {"cluster": cluster, "match_kind": kind}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def publish(
    lake: Lake, table: str, rows: list[Mapping[str, Any]], day: dt.date = DAY, name: str = "oak"
) -> None:
    schema = table_spec(table).polars_schema
    path = lake.path(table, day, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {column: [row.get(column) for row in rows] for column in schema}
    pl.DataFrame(columns, schema=schema).write_parquet(path)


def test_rows_are_split_by_cluster_table_ladder_and_rung(lake: Lake):
    publish(
        lake,
        "connections",
        [
            connection(),
            connection(),
            connection(initiator_match_kind="none", initiator_pod_uid=None, name_kind="none"),
            connection(peer_kind="pod", responder_match_kind="uid", name_kind="kube_service"),
        ],
    )
    publish(lake, "connections", [connection(cluster="elm")], name="elm")
    transfers = [transfer("address_window"), transfer("shared_address", None)]
    publish(lake, "object_transfers", transfers, name="fleet")
    publish(lake, "peer_traffic", [transfer("address_window")])
    publish(lake, "counter_increments", [transfer("uid"), transfer("none")])
    pods = [{"cluster": "oak", "run_match_kind": kind} for kind in ("label", "label", "none")]
    publish(lake, "pod_intervals", pods)
    found = {
        (r.cluster, r.source, r.ladder, r.rung): (r.row_count, r.share)
        for r in split_of(lake, DAY).rungs()
    }
    flows = "connections"
    assert found == {
        ("elm", flows, "container", "only_running"): (1, 1.0),
        ("elm", flows, "initiator pod", "name_window"): (1, 1.0),
        ("elm", flows, "peer name", "dns_pod"): (1, 1.0),
        ("fleet", "object_transfers", "reader pod", "shared_address"): (1, 1.0),
        ("oak", flows, "container", "only_running"): (3, 1.0),
        ("oak", flows, "initiator pod", "name_window"): (3, 0.75),
        ("oak", flows, "initiator pod", "none"): (1, 0.25),
        ("oak", flows, "peer name", "dns_pod"): (2, pytest.approx(2 / 3)),
        ("oak", flows, "peer name", "none"): (1, pytest.approx(1 / 3)),
        ("oak", flows, "responder pod", "uid"): (1, 1.0),
        ("oak", "object_transfers", "reader pod", "address_window"): (1, 1.0),
        ("oak", "peer_traffic", "local pod", "address_window"): (1, 1.0),
        ("oak", "counter_increments", "counted pod", "uid"): (1, 0.5),
        ("oak", "counter_increments", "counted pod", "none"): (1, 0.5),
        ("oak", "pod_intervals", "run", "label"): (2, pytest.approx(2 / 3)),
        ("oak", "pod_intervals", "run", "none"): (1, pytest.approx(1 / 3)),
    }


def test_shares_stand_beside_those_of_the_seven_days_before(lake: Lake):
    publish(lake, "object_transfers", [transfer("none")], before(8))
    publish(lake, "object_transfers", [transfer("uid")] * 3, before(7))
    publish(lake, "object_transfers", [transfer("uid"), transfer("none")], before(1))
    publish(lake, "object_transfers", [transfer("none"), transfer("node")])
    publish(lake, "object_transfers", [transfer("uid")] * 9, before(-1))
    rungs = split_of(lake, DAY).rungs()
    assert [(r.rung, r.row_count, r.share, r.share_before) for r in rungs] == [
        ("node", 1, 0.5, 0.0), ("none", 1, 0.5, 0.2), ("uid", 0, 0.0, 0.8),
    ]  # fmt: skip
    first = split_of(lake, before(8)).rungs()
    assert [(r.rung, r.share, r.share_before) for r in first] == [("none", 1.0, None)]


def mixed(named: int, unnamed: str, count: int) -> list[dict[str, Any]]:
    return [transfer("uid")] * named + [transfer(unnamed)] * (count - named)


@pytest.mark.parametrize(
    ("then", "now", "is_told"),
    [
        ((100, 100), (95, 100), False), ((100, 100), (94, 100), True),
        ((94, 100), (100, 100), True), ((1000, 1000), (47, 99), False),
        ((99, 99), (10, 100), False),
    ],
)  # fmt: skip
def test_a_change_of_more_than_five_points_is_told_if_there_are_rows_enough(
    lake: Lake, then: tuple[int, int], now: tuple[int, int], is_told: bool
):
    publish(lake, "object_transfers", mixed(then[0], "ambiguous", then[1]), before(3))
    publish(lake, "object_transfers", mixed(now[0], "shared_address", now[1]))
    split = split_of(lake, DAY)
    expected = Change("oak", "object_transfers", "reader pod", now[0] / now[1], then[0] / then[1])
    assert split.changes() == ([expected] if is_told else [])
    assert split.changes("object_transfers") == split.changes()
    assert split.changes("connections") == []


def test_a_rung_that_another_takes_over_is_no_change_of_what_is_named(lake: Lake):
    publish(lake, "object_transfers", [transfer("uid")] * 200, before(1))
    publish(lake, "object_transfers", [transfer("address_window")] * 200)
    assert split_of(lake, DAY).changes() == []


def test_only_the_tables_asked_for_are_read(lake: Lake):
    publish(lake, "connections", [connection()])
    publish(lake, "object_transfers", [transfer("uid")])
    split = split_of(lake, DAY, ["object_transfers"])
    assert {rung.source for rung in split.rungs()} == {"object_transfers"}


def test_the_newest_day_is_the_newest_of_any_table(lake: Lake):
    assert newest_day(lake) is None
    assert split_of(lake, DAY).rungs() == []
    publish(lake, "connections", [connection()], before(2))
    publish(lake, "object_transfers", [transfer("uid")], before(1))
    assert newest_day(lake) == before(1)


def test_dagster_warns_of_a_table_that_names_less_than_before(lake: Lake):
    publish(lake, "object_transfers", mixed(200, "none", 200), before(1))
    publish(lake, "object_transfers", mixed(100, "none", 200))
    check = attribution_check(lake, "object_transfers", DAY)
    assert (check.passed, check.severity) == (False, AssetCheckSeverity.WARN)
    told = {name: value.value for name, value in check.metadata.items()}
    assert told == {"oak, reader pod": "50.00% named, 100.00% in the week before"}
    assert attribution_check(lake, "object_transfers", before(1)).passed
    assert attribution_check(lake, "connections", DAY).passed

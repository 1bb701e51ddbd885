"""`cache` prints a curve with what it must be read with, and names what it lacks."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.publication import Made, publish
from pipelines.settings import load_settings
from pipelines.storage import Lake
from schemas.registry import table_spec
from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import DAY, small_catalogue
from tests.transforms.frames import at, frame
from transforms.sql import SqlSession


def read(number: int, clock: str) -> dict[str, Any]:
    return {
        "transfer_id": f"t{number}", "start_at": at(clock, DAY), "end_at": at(clock, DAY),
        "provider": "s3", "bucket": "example-datasets", "key": "a", "operation": "read",
        "object_id": "s3://example-datasets/a", "resource_id": "s3://example-datasets",
        "transferred_bytes": 10_000_000, "object_size_bytes": 10_000_000, "cluster": "alder",
        "node": "n1", "reader_region": "us-east-1", "etag": "e",
    }  # fmt: skip


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with two reads of one object."""
    path = small_catalogue(tmp_path_factory.mktemp("lake"))
    lake = Lake(load_settings(path).lake_path)
    with SqlSession() as session:
        session.register("rows", frame("object_transfers", [read(1, "09:00"), read(2, "09:10")]))
        spec = table_spec("object_transfers")
        publish(lake, session, spec, "rows", DAY, "fleet", Made("by hand", 1))
    return path


RANGE = ("--from", "2026-03-10", "--to", "2026-03-10")


def test_the_curve_of_a_size(config: Path) -> None:
    ended = podledger(
        "cache", *RANGE, "--placement", "node", "--policy", "lru", "--capacity", "1GB", "--json",
        "--config", config,
    )  # fmt: skip
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    assert [(p["start"], p["capacity_bytes"], p["hit_ratio"]) for p in told["points"]] == [
        ("cold", 10**9, 0.5),
        ("warm", 10**9, 0.5),
    ]
    assert len(told["missing_warm_up_days"]) == 7


def test_people_read_a_table_and_a_warning(config: Path) -> None:
    ended = podledger("cache", *RANGE, "--config", config)
    assert ended.code == 0
    assert "50.0 %" in ended.out
    assert "A cache must not be the only copy" in ended.out
    assert "not built, so not replayed: warm-up 2026-03-03" in ended.out


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_range_is_shortened(config: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.cli.output.terminal_width", lambda: width)
    monkeypatch.setattr("pipelines.cli.cache._money", lambda _: "1234567.89 to 2345678.90")
    options = (*RANGE, "--policy", "lru", "--capacity", "1GB", "--config", config)
    ended = podledger("cache", *options)
    # Nodes, zones and regions, cold and warm.
    assert ended.out.count("1234567.89 to 2345678.90") == 6
    assert "…" not in ended.out


def test_endpoints_of_cold_runs_only_are_warned_of(tmp_path: Path) -> None:
    path = small_catalogue(tmp_path)
    lake = Lake(load_settings(path).lake_path)
    cold, warm = "c" * 32, "d" * 32
    tables: dict[str, list[dict[str, Any]]] = {
        "object_transfers": [
            read(1, "09:00") | {"run_uuid": cold}, read(2, "09:10") | {"run_uuid": warm},
        ],
        "run_dependency_days": [
            {"run_dependency_day_id": f"{n}", "run_uuid": run, "operation": "connect",
             "resource_id": f"dns://{host}:443"}
            for n, (run, host) in enumerate(
                [(cold, "token.example.com"), (cold, "always.example.com"),
                 (warm, "always.example.com")]
            )
        ],
    }  # fmt: skip
    for table, rows in tables.items():
        with SqlSession() as session:
            session.register("rows", frame(table, rows))
            publish(lake, session, table_spec(table), "rows", DAY, "fleet", Made("by hand", 1))
    options = (*RANGE, "--capacity", "1GB", "--policy", "lru", "--placement", "node")
    ended = podledger("cache", *options, "--json", "--config", path)
    assert json.loads(ended.out)["cold_endpoints"] == [
        {"resource_id": "dns://token.example.com:443", "operation": "connect", "cold_run_count": 1}
    ]
    ended = podledger("cache", *options, "--config", path)
    assert "only cold runs contact dns://token.example.com:443 (connect, 1 runs)" in ended.out
    assert "always.example.com" not in ended.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*RANGE, "--placement", "rack"), "--placement rack: expected one of node, zone, region"),
        ((*RANGE, "--policy", "fifo"), "--policy fifo: expected one of lru, s3-fifo"),
        ((*RANGE, "--capacity", "much"), "--capacity much: expected a size such as 4GB or 512MiB"),
        (("--from", "2026-03-10", "--to", "soon"), "--to soon: expected a day such as 2026-03-10"),
        (
            ("--from", "2026-01-01", "--to", "2026-01-02"),
            "no day of it is built; expected built days",
        ),
    ],
)
def test_what_is_asked_wrongly_is_told(config: Path, options: tuple[str, ...], message) -> None:
    ended = podledger("cache", *options, "--config", config)
    assert ended.code == 2
    assert message in " ".join(ended.err.split())


def test_a_day_that_is_not_built_is_named_and_ends_with_3(config: Path) -> None:
    ended = podledger("cache", "--from", "2026-03-10", "--to", "2026-03-11", "--config", config)
    assert ended.code == 3
    assert "not built, so not replayed: 2026-03-11" in ended.out


def test_the_first_day_of_all_has_none_before_it(config: Path) -> None:
    ended = podledger("cache", "--from", "0001-01-02", "--to", "0001-01-03", "--config", config)
    assert ended.code == 2
    assert "no day of it is built" in ended.err

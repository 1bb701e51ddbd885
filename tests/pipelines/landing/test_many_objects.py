"""Patterns find their files among a hundred thousand objects on S3."""

import hashlib
from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

import pytest

from pipelines import object_store
from pipelines.landing.inputs import InputFile, list_inputs
from tests.pipelines.landing_zone import zone
from tests.pipelines.s3_server import S3Server, empty_object, end, start

CLUSTERS = ("alder", "birch", "cedar", "downy")
DAYS = tuple(date(2026, 3, 1) + timedelta(days=n) for n in range(25))
NODES, FILES = 10, 100
SETTINGS = """
lake: lake
catalog: podledger.duckdb
clusters: {alder: {cloud: aws}, birch: {cloud: aws}, cedar: {cloud: aws}, downy: {cloud: aws}}
exports:
  - {name: all, format: hubble, path: "s3://many/in/{cluster}/%Y-%m-%d/{node}/events-*.log.gz"}
  - {name: some, format: hubble, path: "s3://many/in/{cluster}/%Y-%m-%d/{node}/events-0?7.log.gz"}
  - {name: one, format: hubble, clusters: [birch], path: "s3://many/in/birch/**/events-007.log.gz"}
  - {name: few, format: hubble, clusters: [cedar], path: "s3://many/in/{cluster}/????-??-02/*/*.gz"}
  - {name: none, format: hubble, path: "s3://many/in/{cluster}/%Y-%m-%d/events-*.log.gz"}
  - {name: last, format: hubble, path: "s3://many/in/downy/2026-03-25/{node}/*.log.gz"}
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    files = {
        f"events-{n:03d}.log.gz": empty_object(hashlib.md5(str(n).encode()).hexdigest())
        for n in range(FILES)
    }
    nodes = {f"node-{n}": files for n in range(NODES)}
    days = {day.isoformat(): nodes for day in DAYS}
    folder = tmp_path_factory.mktemp("many")
    server, process = start(folder, {"many": {"in": dict.fromkeys(CLUSTERS, days)}})
    try:
        yield server
    finally:
        end(process)


@pytest.mark.slow
def test_patterns_over_a_hundred_thousand_objects_find_theirs_and_what_changed(
    tmp_path: Path, many: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in many.environment.items():
        monkeypatch.setenv(name, value)
    settings = zone(tmp_path, SETTINGS)
    listed = object_store.listed
    # The store takes seconds for a page: of one prefix one listing does for all patterns.
    known = lru_cache(lambda url: list(listed(url)))

    def found(name: str) -> list[InputFile]:
        (export,) = (e for e in settings.exports if e.name == name)
        listing = list_inputs(settings, export)
        assert listing.problems == []
        return listing.files

    with monkeypatch.context() as patch:
        patch.setattr(object_store, "listed", known)
        everything = found("all")
        assert len({file.path for file in everything}) == len(everything) == 100_000
        assert {file.facts.cluster for file in everything} == set(CLUSTERS)
        assert {file.facts.day for file in everything} == set(DAYS)
        assert {file.facts.node for file in everything} == {f"node-{n}" for n in range(NODES)}
        assert len(found("some")) == 10 * 4 * 25 * 10
        assert len(found("few")) == 10 * 100
        assert found("none") == []
    assert len(found("one")) == 25 * 10
    before = found("last")
    assert len(before) == NODES * FILES
    key = "in/downy/2026-03-25/node-9/events-099.log.gz"
    many.client.put_object(Bucket="many", Key=key, Body=b"12345")
    grown = found("last")
    ((was, now),) = [(a, b) for a, b in zip(before, grown, strict=True) if a != b]
    assert now.path == f"s3://many/{key}"
    assert (was.size, now.size) == (0, 5)
    many.client.put_object(Bucket="many", Key=key, Body=b"54321")
    ((was, now),) = [(a, b) for a, b in zip(grown, found("last"), strict=True) if a != b]
    assert (was.size, now.size) == (5, 5)
    assert was.mark != now.mark

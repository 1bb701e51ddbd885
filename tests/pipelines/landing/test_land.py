"""Landing reads each content once, counts every record once, and says what it refused."""

import datetime as dt
import gzip
import json
import os
import random
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pipelines.errors import DataCheckError
from pipelines.landing import land as land_module
from pipelines.landing import readers
from pipelines.landing.formats import parsers
from pipelines.landing.land import LandReport, land
from pipelines.landing.parsing import Batch, BatchOutcome
from pipelines.ledger import Ledger
from pipelines.publication import TableWriter
from pipelines.settings import Settings
from pipelines.storage import Lake
from tests.pipelines.landing_zone import FIRST_SEEN, SETTINGS, line, put, zone
from transforms.staging.parser import FileContext, Parsed, RawRecord


def run(settings: Settings) -> tuple[LandReport, Ledger]:
    lake = Lake(settings.lake_path)
    report = land(settings, lake, FIRST_SEEN)
    return report, Ledger.read(lake)


def keys(ledger: Ledger) -> list[str]:
    """Keys of the requests that readers see, without repeated rows."""
    found: list[str] = []
    for part in ledger.parts("object_requests", None, None, None):
        rows = pl.read_parquet(part.path)["key"].to_list()
        left_out = {p for first, n in part.repeated for p in range(first, first + n)}
        found.extend(key for position, key in enumerate(rows) if position not in left_out)
    return sorted(found)


def counts(report: LandReport) -> tuple[int, ...]:
    names = ("record", "accepted", "duplicate", "rejected", "ignored")
    return tuple(report.records[name] for name in names)


def test_a_file_is_staged_with_its_place_in_the_export(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1), line(2)])
    report, ledger = run(zone(tmp_path))
    assert counts(report) == (2, 2, 0, 0, 0)
    (part,) = ledger.parts("object_requests", ("fleet",), None, None)
    rows = pl.read_parquet(part.path)
    assert rows["record_index"].to_list() == [0, 1]
    assert rows["key"].to_list() == ["key-1", "key-2"]
    assert rows["export_file_id"].unique().to_list() == ledger.files["export_file_id"].to_list()
    assert part.path.parent.name == "date=2026-03-10"
    assert part.path.name.startswith("fleet-")


def test_a_second_landing_finds_nothing(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    settings = zone(tmp_path)
    run(settings)
    report, _ = run(settings)
    assert report.files == 0
    assert counts(report) == (0, 0, 0, 0, 0)


def test_a_copy_is_a_row_of_the_ledger_without_records(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1), line(2)])
    put(tmp_path, "b.log", [line(1), line(2)])
    packed = tmp_path / "in/2026-03-11/c.log.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress((tmp_path / "in/2026-03-10/a.log").read_bytes()))
    report, ledger = run(zone(tmp_path))
    assert (report.files, report.same_content) == (3, 2)
    assert counts(report) == (2, 2, 0, 0, 0)
    first = ledger.files.filter(pl.col("same_content_as").is_null())
    copies = ledger.files.filter(pl.col("same_content_as").is_not_null())
    assert first["path"].to_list() == [str(tmp_path / "in/2026-03-10/a.log")]
    assert copies["same_content_as"].unique().to_list() == first["export_file_id"].to_list()
    assert copies["record_count"].to_list() == [0, 0]
    assert keys(ledger) == ["key-1", "key-2"]


def test_a_grown_file_adds_its_new_records_only(tmp_path: Path) -> None:
    path = put(tmp_path, "a.log", [line(1), line(2)])
    settings = zone(tmp_path)
    run(settings)
    before = Ledger.read(Lake(settings.lake_path)).files["export_file_id"].to_list()
    put(tmp_path, "a.log", [line(1), line(2), line(3)])
    report, ledger = run(settings)
    assert counts(report) == (3, 1, 2, 0, 0)
    grown = ledger.files.filter(pl.col("grown_from").is_not_null())
    assert grown["grown_from"].to_list() == before
    assert keys(ledger) == ["key-1", "key-2", "key-3"]
    assert path.exists()


def test_overlapping_files_share_their_records(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1), line(2), line(3)])
    put(tmp_path, "b.log", [line(3), line(2), line(4), line(4)])
    report, ledger = run(zone(tmp_path))
    assert counts(report) == (7, 4, 3, 0, 0)
    assert keys(ledger) == ["key-1", "key-2", "key-3", "key-4"]
    by_path = dict(ledger.files.select("path", "duplicate_count").iter_rows())
    assert by_path[str(tmp_path / "in/2026-03-10/a.log")] == 0
    assert by_path[str(tmp_path / "in/2026-03-10/b.log")] == 3


def test_a_broken_record_is_kept_with_place_reason_and_excerpt(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1), "this is no log line", "", line(2)])
    report, ledger = run(zone(tmp_path))
    assert counts(report) == (3, 2, 0, 1, 0)
    (row,) = rejects(ledger)
    assert row["locator"] == "line 2"
    assert row["byte_offset"] == len(line(1)) + 1
    assert row["record_index"] == 1
    assert row["excerpt"] == "this is no log line"
    assert ": expected" in row["reason"]


def rejects(ledger: Ledger) -> list[dict[str, object]]:
    lake = ledger.lake
    return [
        row
        for day in lake.days("rejected_records")
        for path in lake.files("rejected_records", day)
        for row in pl.read_parquet(path).to_dicts()
    ]


def test_a_truncated_file_keeps_what_came_before(tmp_path: Path) -> None:
    rng = random.Random(7)
    texts = [line(n, size=rng.randrange(10**9)) for n in range(3_000)]
    path = put(tmp_path, "a.log", texts)
    packed = gzip.compress(path.read_bytes())
    path.unlink()
    (path.parent / "a.log.gz").write_bytes(packed[: len(packed) // 2])
    report, ledger = run(zone(tmp_path))
    records, accepted, duplicate, rejected, ignored = counts(report)
    assert (duplicate, rejected, ignored) == (0, 1, 0)
    assert records == accepted + 1
    assert 0 < accepted < 3_000
    assert keys(ledger) == sorted(f"key-{n}" for n in range(accepted))
    (row,) = rejects(ledger)
    assert str(row["reason"]).startswith("truncated: ")


def test_a_file_of_unknown_format_is_named_and_left(tmp_path: Path) -> None:
    put(tmp_path, "a.log", ["once upon a time", "there was a text"])
    settings = zone(tmp_path, SETTINGS.replace("format: s3_access_log", "format: auto"))
    report, ledger = run(settings)
    ((path, reason),) = report.unknown
    assert path.endswith("a.log")
    assert reason.startswith("no known format recognises it")
    assert ledger.files.is_empty()


def test_a_wrongly_stated_format_is_not_believed(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    settings = zone(tmp_path, SETTINGS.replace("format: s3_access_log", "format: otlp"))
    report, _ = run(settings)
    assert [reason for _, reason in report.unknown] == [
        "stated as otlp, but the content is s3_access_log"
    ]


def test_undated_files_land_on_the_day_first_seen(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    settings = zone(tmp_path, SETTINGS.replace("in/%Y-%m-%d/*.log*", "in/*/*.log*"))
    _, ledger = run(settings)
    assert ledger.files["landing_date"].to_list() == [FIRST_SEEN]


def test_parts_that_no_commit_lists_are_removed(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    settings = zone(tmp_path)
    _, ledger = run(settings)
    (part,) = ledger.parts("object_requests", None, None, None)
    orphan = part.path.with_name("fleet-0123456789abcdef.parquet")
    orphan.write_bytes(part.path.read_bytes())
    left = part.path.with_name(".tmp-1-x.parquet")
    left.write_bytes(b"half")
    run(settings)
    assert not orphan.exists()
    assert not left.exists()
    assert part.path.exists()


def test_a_folder_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are read; what lies in it, the next time."""
    put(tmp_path, "a.log", [line(1)])
    put(tmp_path, "b.log", [line(2)], day="2026-03-11")
    settings = zone(tmp_path)
    scan_folder = os.scandir

    def refuse(folder: Path) -> object:
        if folder.name == "2026-03-10":
            raise PermissionError(13, "Permission denied", str(folder))
        return scan_folder(folder)

    monkeypatch.setattr("os.scandir", refuse)
    report, ledger = run(settings)
    assert keys(ledger) == ["key-2"]
    assert report.unknown == [
        (str(tmp_path / "in/2026-03-10"), "Permission denied; expected a readable folder")
    ]
    monkeypatch.undo()
    _, ledger = run(settings)
    assert keys(ledger) == ["key-1", "key-2"]


def test_a_file_is_read_by_the_first_export_that_matches_it(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1), line(2)])
    more = """
  - {name: again, format: s3_access_log, path: "in/%Y-%m-%d/a*", clusters: [alder]}
  - {name: any, format: auto, path: "in/**/*.log"}
  - {name: other, format: coredns, path: "in/%Y-%m-%d/a*"}
"""
    settings = zone(tmp_path, SETTINGS.rstrip() + more)
    report, ledger = run(settings)
    assert counts(report) == (2, 2, 0, 0, 0)
    assert ledger.files["export"].to_list() == ["logs"]
    assert [reason for _, reason in report.unknown] == [
        "stated as coredns, but the content is s3_access_log"
    ]


def test_a_damaged_file_is_no_copy_of_an_empty_one(tmp_path: Path) -> None:
    empty = put(tmp_path, "a.log", [])
    put(tmp_path, "b.log", []).write_bytes(b"\x1f\x8b damaged")
    settings = zone(tmp_path)
    report, _ = run(settings)
    assert counts(report) == (1, 0, 0, 1, 0)
    empty.write_bytes(b"\x1f\x8b damaged")
    report, ledger = run(settings)
    assert counts(report) == (1, 0, 0, 1, 0)
    assert sorted(ledger.files["rejected_count"].to_list()) == [0, 1, 1]
    assert run(settings)[0].files == 0


def test_a_file_that_cannot_be_opened_is_named_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.log", [line(1)])
    put(tmp_path, "b.log", [line(2)])
    settings = zone(tmp_path)
    opened = readers._open

    def refuse(path: Path) -> object:
        if path.name == "b.log":
            raise PermissionError(13, "Permission denied")
        return opened(path)

    monkeypatch.setattr(readers, "_open", refuse)
    report, _ = run(settings)
    assert counts(report) == (1, 1, 0, 0, 0)
    assert report.unknown == [
        (str(tmp_path / "in/2026-03-10/b.log"), "unreadable: Permission denied")
    ]
    monkeypatch.undo()
    report, ledger = run(settings)
    assert keys(ledger) == ["key-1", "key-2"]


@hypothesis_settings(max_examples=20)
@given(st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=60), min_size=1, max_size=4))
def test_any_overlap_of_files_gives_each_record_once(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("zone")
    for number, content in enumerate(files):
        put(folder, f"{number}.log", [line(n) for n in content])
    report, ledger = run(zone(folder))
    distinct = {n for content in files for n in content}
    assert keys(ledger) == sorted(f"key-{n}" for n in distinct)
    records, accepted, duplicate, rejected, ignored = counts(report)
    assert accepted == len(distinct)
    assert records == accepted + duplicate + rejected + ignored
    read = {tuple(content) for content in files}
    assert records == sum(len(content) for content in read)


def test_neighbouring_repeated_rows_are_one_range_of_the_ledger(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(n) for n in range(5)])
    settings = zone(tmp_path)
    run(settings)
    put(tmp_path, "b.log", [line(n) for n in (7, 0, 1, 2, 8, 4, 7)])
    _, ledger = run(settings)
    (listed,) = ledger.files.filter(pl.col("duplicate_count") == 5)["rows_by_table"].to_list()
    assert [rows["repeated"] for rows in listed] == [
        [{"first": 1, "count": 3}, {"first": 5, "count": 2}]
    ]
    assert keys(ledger) == sorted(f"key-{n}" for n in (0, 1, 2, 3, 4, 7, 8))


def test_a_part_that_does_not_hold_what_was_counted_is_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.log", [line(1), line(2), "no log line"])
    settings = zone(tmp_path)
    appended = TableWriter.append_table
    for lost in ("object_requests", "rejected_records"):

        def lose(writer: TableWriter, table: pa.Table, lost: str = lost) -> None:
            whole = writer._spec.name != lost
            appended(writer, table if whole else table.slice(1))

        monkeypatch.setattr(TableWriter, "append_table", lose)
        with pytest.raises(DataCheckError, match=f"{lost}: .* row"):
            run(settings)
        monkeypatch.undo()
        assert Ledger.read(Lake(settings.lake_path)).files.is_empty()
    report, ledger = run(settings)
    assert counts(report) == (3, 2, 0, 1, 0)
    assert keys(ledger) == ["key-1", "key-2"]


def test_a_record_that_a_parser_says_nothing_of_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.log", [line(1), line(2)])
    parser = parsers()["s3_access_log"]

    def silent(records: Iterator[RawRecord], context: FileContext) -> Iterator[Parsed]:
        for parsed in parser.parse(records, context):
            yield replace(parsed, rows=()) if parsed.locator == "line 2" else parsed

    monkeypatch.setattr(
        "pipelines.landing.parsing.parsers",
        lambda: {"s3_access_log": replace(parser, parse=silent)},
    )
    report, ledger = run(zone(tmp_path))
    assert counts(report) == (2, 1, 0, 1, 0)
    assert [row["reason"] for row in rejects(ledger)] == [
        "no_row: expected a row, a reason to refuse it or a reason to ignore it"
    ]


def test_the_event_range_of_a_file_stands_in_the_ledger(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(5), line(90), line(1)])
    _, ledger = run(zone(tmp_path))
    day = dt.datetime(2026, 3, 10, tzinfo=dt.UTC)
    assert ledger.files["first_event_at"].to_list() == [day + dt.timedelta(seconds=1)]
    assert ledger.files["last_event_at"].to_list() == [day + dt.timedelta(seconds=90)]
    meeting = ledger.meeting(("fleet",), day + dt.timedelta(seconds=91), None)
    assert meeting.is_empty()


def test_names_with_odd_characters_are_read_and_a_token_in_a_name_is_not_stored(
    tmp_path: Path,
) -> None:
    put(tmp_path, "a?x=1#y.log", [line(1)])
    put(tmp_path, "b?x=2#y.log", [line(2)])
    token = "ghp_" + "A1b2C3d4E5" * 4
    put(tmp_path, f"{token}.log", [line(3)])
    _, ledger = run(zone(tmp_path))
    assert keys(ledger) == ["key-1", "key-2", "key-3"]
    paths = ledger.files["path"].to_list()
    assert len(set(paths)) == 3
    assert not any(token in path for path in paths)


def test_a_lost_part_lands_again_once_its_commit_is_removed(tmp_path: Path) -> None:
    """Records that a later file repeats are still credited to one row."""
    put(tmp_path, "a.log", [line(1), line(2)])
    settings = zone(tmp_path)
    _, first = run(settings)
    put(tmp_path, "b.log", [line(2), line(3)])
    run(settings)
    (part,) = first.parts("object_requests", None, None, None)
    part.path.unlink()
    (tmp_path / "lake/export_files/date=2026-03-10" / part.path.name).unlink()
    report, ledger = run(settings)
    assert counts(report) == (2, 2, 0, 0, 0)
    assert keys(ledger) == ["key-1", "key-2", "key-3"]


def test_a_file_that_vanishes_before_it_is_parsed_leaves_its_part_for_the_next_landing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.log", [line(1)])
    gone = put(tmp_path, "b.log", [line(2)], day="2026-03-11")
    settings = zone(tmp_path)
    parse = land_module.parse_batch

    def vanish(lake: Lake, batch: Batch, temp: Path | None) -> BatchOutcome:
        gone.unlink(missing_ok=True)
        return parse(lake, batch, temp)

    monkeypatch.setattr(land_module, "parse_batch", vanish)
    report, ledger = run(settings)
    assert keys(ledger) == ["key-1"]
    ((path, reason),) = report.unknown
    assert path == str(gone)
    assert "left for the next landing" in reason
    assert "vanished; expected a file of" in reason
    assert not list((tmp_path / "lake").rglob(".tmp-*.parquet"))
    monkeypatch.undo()
    put(tmp_path, "b.log", [line(2)], day="2026-03-11")
    _, ledger = run(settings)
    assert keys(ledger) == ["key-1", "key-2"]


def test_what_files_of_no_node_grew_from_does_not_depend_on_which_was_read_first(
    tmp_path: Path,
) -> None:
    put(tmp_path, "a.log", [line(1)])
    settings = zone(tmp_path)
    _, before = run(settings)
    for length in range(2, 6):
        put(tmp_path, f"{length}.log", [line(n) for n in range(1, length)] + [line(length)])
    _, ledger = run(settings)
    grown = ledger.files.filter(pl.col("grown_from").is_not_null())
    assert grown["grown_from"].to_list() == before.files["export_file_id"].to_list() * 4


STATES = """
lake: lake
catalog: podledger.duckdb
clusters:
  alder: {cloud: aws}
exports:
  - {name: kube, format: kubernetes, path: "in/%Y-%m-%d/pods.json", clusters: [alder]}
"""
PODS = """{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "notebook-0",
"namespace": "ml", "uid": "5f0c9c1e-6d57-4d3a-9d0b-1c2d3e4f5a6b", "resourceVersion": "7",
"creationTimestamp": "2026-03-09T08:00:00Z"}, "status": {"phase": "Running"}}]}
"""


def test_a_list_that_did_not_change_says_each_night_that_its_pods_are_still_there(
    tmp_path: Path,
) -> None:
    put(tmp_path, "pods.json", [PODS])
    put(tmp_path, "pods.json", [PODS], day="2026-03-11")
    settings = zone(tmp_path, STATES)
    report, ledger = run(settings)
    assert (counts(report), report.same_content) == ((2, 2, 0, 0, 0), 0)
    seen = [
        when
        for part in ledger.parts("pod_states", None, None, None)
        for when in pl.read_parquet(part.path, hive_partitioning=False)["observed_at"]
    ]
    assert len(set(seen)) == 2
    report, _ = run(settings)
    assert report.files == 0


def growing(path: Path, when: str, monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> None:
    """Have lines added to a file while it is hashed, or while it is parsed."""
    whole = getattr(land_module, when)

    def grow(*arguments: Any) -> object:
        result = whole(*arguments)
        if lines:
            with path.open("a", encoding="utf-8") as file:
                file.write(lines.pop(0) + "\n")
        return result

    monkeypatch.setattr(land_module, when, grow)


@pytest.mark.parametrize("when", ["identify", "scan", "parse_batch"])
def test_a_file_that_grows_while_it_is_read_is_read_as_it_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    path = put(tmp_path, "a.log", [line(1)])
    listed = path.read_bytes()
    settings = zone(tmp_path)
    growing(path, when, monkeypatch, [line(2), line(3), line(4)])
    report, ledger = run(settings)
    assert report.unknown == []
    assert counts(report) == (1, 1, 0, 0, 0)
    (row,) = ledger.files.iter_rows(named=True)
    assert (row["size_bytes"], row["text_bytes"]) == (len(listed), len(listed))
    assert row["content_hash"] == sha256(listed).hexdigest()
    monkeypatch.undo()
    _, ledger = run(settings)
    written = len(path.read_text(encoding="utf-8").splitlines())
    assert written > 1
    assert keys(ledger) == [f"key-{n}" for n in range(1, written + 1)]
    assert ledger.files["grown_from"].drop_nulls().to_list() == [row["export_file_id"]]


@pytest.mark.parametrize("text", [f"{line(8)}\n{line(9)}\n", f"{line(8)}\n", ""])
def test_a_file_that_is_replaced_between_hash_and_parse_is_refused_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """By a longer one, one of the same length, or by nothing (copied and truncated)."""
    path = put(tmp_path, "a.log", [line(1)])
    put(tmp_path, "b.log", [line(2)], day="2026-03-11")
    settings = zone(tmp_path)
    batches = land_module._batches

    def replace_file(*arguments: Any) -> object:
        path.write_text(text, encoding="utf-8")
        return batches(*arguments)

    monkeypatch.setattr(land_module, "_batches", replace_file)
    report, ledger = run(settings)
    assert keys(ledger) == ["key-2"]
    ((named, reason),) = report.unknown
    assert named == str(path)
    assert "a.log: replaced while it was read; it is read again by the next landing" in reason
    monkeypatch.undo()
    report, ledger = run(settings)
    assert report.unknown == []
    assert keys(ledger) == sorted(
        ["key-2", *(["key-8"] if text else []), *(["key-9"] * (text.count("key-9") > 0))]
    )


def test_a_touched_file_is_hashed_once_more_and_then_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path, "a.log", [line(1)])
    settings = zone(tmp_path)
    run(settings)
    os.utime(path, ns=(1, 1))
    hashed = []
    scan = land_module.scan
    monkeypatch.setattr(land_module, "scan", lambda *a: hashed.append(a) or scan(*a))
    for _ in range(3):
        report, ledger = run(settings)
        assert report.files == 0
    assert len(hashed) == 1
    assert ledger.files.height == 1
    # What is touched again, or gone, is forgotten.
    os.utime(path, ns=(2, 2))
    run(settings)
    assert len(hashed) == 2
    marks = tmp_path / "lake/.touched.json"
    assert [mark[2] for mark in json.loads(marks.read_text())] == [f"{path.stat().st_size}-2"]
    marks.write_text("damaged")
    run(settings)
    assert len(hashed) == 3


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_torn_packed_file_keeps_whole_records_and_its_break_is_a_reject(
    tmp_path: Path, kind: str
) -> None:
    rng = random.Random(3)
    texts = [line(n, size=rng.randrange(10**9)) for n in range(3_000)]
    plain = put(tmp_path, "a.log", texts)
    text = plain.read_bytes()
    plain.unlink()
    packed = gzip.compress(text) if kind == "gzip" else pa.compress(text, "zstd", asbytes=True)
    (plain.parent / "a.log.packed").write_bytes(packed[: len(packed) * 2 // 3])
    report, ledger = run(zone(tmp_path))
    records, accepted, _, rejected, _ = counts(report)
    assert (rejected, records) == (1, accepted + 1)
    assert 0 < accepted < 3_000
    (row,) = rejects(ledger)
    assert str(row["reason"]).startswith("truncated: expected the end of the compressed stream")


def test_an_empty_file_of_a_stated_format_lands_and_one_of_any_format_is_named(
    tmp_path: Path,
) -> None:
    put(tmp_path, "a.log", [])
    report, ledger = run(zone(tmp_path))
    assert report.unknown == []
    assert ledger.files.select("size_bytes", "record_count").rows() == [(0, 0)]
    other = tmp_path / "other"
    put(other, "a.log", [])
    report, ledger = run(zone(other, SETTINGS.replace("format: s3_access_log", "format: auto")))
    assert report.unknown == [(str(other / "in/2026-03-10/a.log"), "the file is empty")]
    assert ledger.files.is_empty()


def test_a_stream_damaged_inside_gives_one_reject_and_its_whole_copy_gives_all(
    tmp_path: Path,
) -> None:
    """A wrong checksum says that some text is wrong, not which: none of it may count."""
    path = put(tmp_path, "a.log", [line(1), line(2)])
    text = path.read_bytes()
    path.unlink()
    packed = bytearray(gzip.compress(text))
    packed[-8] ^= 0xFF
    (path.parent / "a.log.gz").write_bytes(bytes(packed))
    settings = zone(tmp_path)
    report, ledger = run(settings)
    assert counts(report) == (1, 0, 0, 1, 0)
    assert [row["reason"] for row in rejects(ledger)] == [
        "checksum: expected the checksum in the stream, got another one"
    ]
    (path.parent / "b.log.gz").write_bytes(gzip.compress(text))
    report, ledger = run(settings)
    assert counts(report) == (2, 2, 0, 0, 0)
    assert keys(ledger) == ["key-1", "key-2"]

"""What would be read otherwise is read again on request; what is gone stays as it was read."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pipelines.errors import DataCheckError
from pipelines.landing import rereading
from pipelines.landing.formats import parsers
from pipelines.landing.land import land
from pipelines.landing.reading import read_otherwise
from pipelines.landing.rereading import Reread, read_again
from pipelines.ledger import EXPORT_FILES, Ledger
from pipelines.parquet import scan_files
from pipelines.settings import Settings
from pipelines.storage import Lake
from tests.pipelines.landing_zone import FIRST_SEEN, SETTINGS, line, put, zone

ONE = SETTINGS + "redaction_key_file: one.key\n"
OTHER = SETTINGS + "redaction_key_file: other.key\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.key").write_text("0123456789abcdef")
    (tmp_path / "other.key").write_text("fedcba9876543210")
    return tmp_path


def lake_of(settings: Settings, hook: Callable[[str, Path], None] | None = None) -> Lake:
    return Lake(settings.lake_path) if hook is None else Lake(settings.lake_path, hook)


def landed(folder: Path, text: str = ONE) -> Ledger:
    settings = zone(folder, text)
    land(settings, lake_of(settings), FIRST_SEEN)
    return Ledger.read(lake_of(settings))


def again(folder: Path, text: str = OTHER) -> tuple[Reread, Ledger]:
    settings = zone(folder, text)
    report = read_again(settings, lake_of(settings))
    return report, Ledger.read(lake_of(settings))


def rows(ledger: Ledger) -> list[tuple[str, str]]:
    """(file name, key read) of every row that readers see, by time."""
    names = dict(ledger.files.select("export_file_id", "path").iter_rows())
    found = []
    for part in ledger.parts("object_requests", None, None, None):
        frame = scan_files([part.path]).collect()
        left_out = {n for first, count in part.repeated for n in range(first, first + count)}
        found += [
            (row["event_at"], Path(names[row["export_file_id"]]).name, row["key"])
            for position, row in enumerate(frame.iter_rows(named=True))
            if position not in left_out
        ]
    return [(name, key) for _, name, key in sorted(found)]


def counts(ledger: Ledger) -> dict[str, tuple[int, int, int]]:
    """Records, accepted and repeated, by file name (the newest content of each)."""
    return {
        Path(path).name: (records, accepted, duplicate)
        for path, records, accepted, duplicate in ledger.files.select(
            "path", "record_count", "accepted_count", "duplicate_count"
        ).iter_rows()
    }


def test_files_that_are_there_are_read_again_under_the_names_of_their_commits(
    folder: Path,
) -> None:
    put(folder, "a.log", [line(1), line(2), "no log line"])
    put(folder, "b.log", [line(2), line(3)], day="2026-03-11")
    before = landed(folder)
    report, after = again(folder)
    assert (report.files, report.left) == (2, [])
    assert read_otherwise(zone(folder, OTHER), after) == []
    assert counts(after) == counts(before) == {"a.log": (3, 2, 0), "b.log": (2, 1, 1)}
    assert rows(after) == [("a.log", "key-1"), ("a.log", "key-2"), ("b.log", "key-3")]
    # Ids and commits keep their names, readings and parts have others.
    assert set(after.files["export_file_id"]) == set(before.files["export_file_id"])
    assert not set(after.files["read_as"]) & set(before.files["read_as"])
    assert not set(after.files["part"]) & set(before.files["part"])
    commits = sorted((folder / "lake" / EXPORT_FILES).rglob("*.parquet"))
    assert {path.stem for path in commits} == {f"fleet-{part}" for part in before.files["part"]}
    # Nothing of the old parts is left, and nothing lands again.
    parts = {path.stem for path in (folder / "lake" / "object_requests").rglob("*.parquet")}
    rejects = {path.stem for path in (folder / "lake" / "rejected_records").rglob("*.parquet")}
    assert parts == {f"fleet-{part}" for part in after.files["part"]}
    assert rejects < parts
    assert land(zone(folder, OTHER), lake_of(zone(folder, OTHER)), FIRST_SEEN).files == 0
    report, _ = again(folder)
    assert report.files == 0


def test_a_later_parser_reads_again_and_an_equal_one_does_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, "a.log", [line(1)])
    landed(folder)
    assert again(folder, ONE)[0].files == 0
    parser = parsers()["s3_access_log"]
    monkeypatch.setitem(parsers(), "s3_access_log", replace(parser, version=parser.version + 1))
    assert again(folder, ONE)[0].files == 1


def test_a_changed_format_reads_again_as_that_format(folder: Path) -> None:
    """Text of Prometheus, in which one format finds bytes and another pods."""
    text = ONE.replace("s3_access_log", "prometheus")
    pod = 'namespace="ml",pod="trainer",uid="5d0d9f9a-0c7b-4a3e-8f3a-1f1e2d3c4b5a"'
    info = f'{pod},host_ip="192.0.2.1",pod_ip="192.0.2.7",node="n1",host_network="false"'
    samples = [
        f"kube_pod_info{{{info}}} 1 1773136800000",
        f"kube_pod_created{{{pod}}} 1773136700 1773136800000",
    ]
    put(folder, "a.log", samples)
    before = landed(folder, text)
    assert before.files.select("format", "accepted_count").rows() == [("prometheus", 0)]
    as_pods = text.replace("format: prometheus", "format: kube_state_metrics")
    report, after = again(folder, as_pods)
    assert (report.files, report.left) == (1, [])
    assert after.files.select("format", "accepted_count").rows() == [("kube_state_metrics", 1)]
    assert [rows["table_name"] for rows in after.files["rows_by_table"][0]] == ["pod_states"]


def test_a_format_that_a_file_is_not_of_is_named_and_changes_nothing(folder: Path) -> None:
    path = put(folder, "a.log", [line(1)])
    before = landed(folder)
    report, after = again(folder, ONE.replace("format: s3_access_log", "format: hubble"))
    ((refused, reason),) = report.left
    assert (report.files, refused) == (0, str(path))
    assert "s3_access_log" in reason
    assert reason.endswith("it stays as it was read")
    assert after.files.equals(before.files)


def test_a_file_that_is_gone_stays_as_it_was_read_with_all_of_its_commit(folder: Path) -> None:
    gone = put(folder, "a.log", [line(1)])
    kept = put(folder, "b.log", [line(2)])
    other = put(folder, "c.log", [line(3)], day="2026-03-11")
    before = landed(folder)
    gone.unlink()
    report, after = again(folder)
    assert report.files == 1
    assert report.left == [
        (str(gone), "gone, or not what was read; it stays as it was read"),
        (str(kept), f"its part holds {gone}, which cannot be read again; it stays as it was read"),
    ]
    assert [file.path for file in read_otherwise(zone(folder, OTHER), after)] == [
        str(gone),
        str(kept),
    ]
    readings = dict(after.files.select("path", "read_as").iter_rows())
    earlier = dict(before.files.select("path", "read_as").iter_rows())
    assert readings[str(gone)] == earlier[str(gone)]
    assert readings[str(other)] != earlier[str(other)]
    assert rows(after) == [("a.log", "key-1"), ("b.log", "key-2"), ("c.log", "key-3")]


def test_a_file_that_grew_is_read_again_as_what_it_grew_to(folder: Path) -> None:
    text = ONE.replace("%Y-%m-%d/*.log*", "%Y-%m-%d/{node}.log")
    put(folder, "n1.log", [line(1)])
    landed(folder, text)
    put(folder, "n1.log", [line(1), line(2)])
    landed(folder, text)
    put(folder, "n1.log", [line(1), line(2), line(3)])
    before = landed(folder, text)
    assert before.files["record_count"].sum() == 6
    report, after = again(folder, text.replace("one.key", "other.key"))
    assert (report.files, report.left) == (1, [])
    whole = after.files.filter(pl.col("part").is_not_null())
    assert whole.select("record_count", "accepted_count", "duplicate_count").rows() == [(3, 3, 0)]
    others = after.files.filter(pl.col("part").is_null())
    assert others["same_content_as"].to_list() == [whole["export_file_id"].item()] * 2
    assert others["record_count"].sum() == 0
    assert [key for _, key in rows(after)] == ["key-1", "key-2", "key-3"]
    assert read_otherwise(zone(folder, text.replace("one.key", "other.key")), after) == []


def test_a_run_that_dies_at_any_moment_is_finished_by_the_next(folder: Path) -> None:
    text = ONE.replace("%Y-%m-%d/*.log*", "%Y-%m-%d/{node}.log")
    put(folder, "n1.log", [line(1)])
    landed(folder, text)
    put(folder, "n1.log", [line(1), line(2)])
    put(folder, "n2.log", [line(2), line(3), "no log line"], day="2026-03-11")
    landed(folder, text)
    settings = zone(folder, text.replace("one.key", "other.key"))
    died: set[tuple[str, str]] = set()

    class Killed(BaseException):
        pass

    def die(moment: str, path: Path) -> None:
        if (moment, path.name) not in died:
            died.add((moment, path.name))
            raise Killed

    for _ in range(100):
        try:
            read_again(settings, lake_of(settings, die))
            break
        except Killed:
            ledger = Ledger.read(lake_of(settings))
            # All that is listed is there and no record is lost, whatever is credited with it.
            assert all(part.path.is_file() for part in ledger.all_parts())
            assert {key for _, key in rows(ledger)} == {"key-1", "key-2", "key-3"}
    assert len(died) >= 10
    ledger = Ledger.read(lake_of(settings))
    assert [key for _, key in rows(ledger)] == ["key-1", "key-2", "key-3"]
    assert read_otherwise(settings, ledger) == []


def test_a_part_that_does_not_add_up_leaves_everything_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, "a.log", [line(1)])
    before = landed(folder)

    def refuse(*_: object) -> None:
        message = "a.log: 2 records, but 1 accounted for"
        raise DataCheckError(message)

    monkeypatch.setattr(rereading, "ledger_rows", refuse)
    with pytest.raises(DataCheckError):
        again(folder)
    assert rows(Ledger.read(before.lake)) == rows(before)

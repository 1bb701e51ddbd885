"""What was read under other settings is named, stays as it is, and lands again on request."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pipelines.landing.formats import parsers
from pipelines.landing.land import land
from pipelines.landing.reading import read_otherwise
from pipelines.ledger import EXPORT_FILES, Ledger
from pipelines.settings import Settings
from pipelines.storage import Lake
from tests.pipelines.landing_zone import FIRST_SEEN, SETTINGS, line, put, zone


def landed(settings: Settings) -> Ledger:
    lake = Lake(settings.lake_path)
    land(settings, lake, FIRST_SEEN)
    return Ledger.read(lake)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.key").write_text("0123456789abcdef")
    (tmp_path / "other.key").write_text("fedcba9876543210")
    put(tmp_path, "a.log", [line(1)])
    put(tmp_path, "b.log", [line(2)], day="2026-03-11")
    landed(zone(tmp_path, SETTINGS + "redaction_key_file: one.key\n"))
    return tmp_path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("one.key", "other.key"),
        ("redaction_key_file: one.key", "workers: 1"),
        ("region: us-east-1}\n", "region: eu-west-1}\n"),
        ("region: us-east-1}\n", "region: us-east-1, temporality: delta}\n"),
    ],
)
def test_files_read_under_other_settings_are_named_and_not_read_again(
    folder: Path, before: str, after: str
) -> None:
    text = SETTINGS + "redaction_key_file: one.key\n"
    # The export's own line, not that of the cluster.
    head, _, exports = text.partition("exports:")
    settings = zone(folder, head + "exports:" + exports.replace(before, after))
    ledger = Ledger.read(Lake(settings.lake_path))
    found = read_otherwise(settings, ledger)
    assert [file.path for file in found] == [
        str(folder / "in/2026-03-10/a.log"),
        str(folder / "in/2026-03-11/b.log"),
    ]
    assert all(file.commit.is_file() for file in found)
    assert land(settings, ledger.lake, FIRST_SEEN).files == 0


def test_other_settings_name_nothing(folder: Path) -> None:
    text = SETTINGS + "redaction_key_file: one.key\nfinal_after: 9d\n"
    settings = zone(folder, text.replace("us-east-1}\nexports", "eu-west-1}\nexports"))
    assert read_otherwise(settings, Ledger.read(Lake(settings.lake_path))) == []


def test_a_later_version_of_a_parser_names_what_an_earlier_one_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = zone(folder, SETTINGS + "redaction_key_file: one.key\n")
    ledger = Ledger.read(Lake(settings.lake_path))
    assert read_otherwise(settings, ledger) == []
    parser = parsers()["s3_access_log"]
    monkeypatch.setitem(parsers(), "s3_access_log", replace(parser, version=parser.version + 1))
    assert len(read_otherwise(settings, ledger)) == 2


def test_a_file_whose_commit_is_removed_is_read_as_the_settings_say_now(folder: Path) -> None:
    settings = zone(folder, SETTINGS + "redaction_key_file: other.key\n")
    lake = Lake(settings.lake_path)
    first, second = read_otherwise(settings, Ledger.read(lake))
    first.commit.unlink()
    report = land(settings, lake, FIRST_SEEN)
    assert (report.files, report.records["accepted"]) == (1, 1)
    assert read_otherwise(settings, Ledger.read(lake)) == [second]


def test_the_key_does_not_stand_in_what_tells_it_apart(folder: Path) -> None:
    ledger = Ledger.read(Lake(folder / "lake"))
    (digest,) = ledger.files["read_as"].unique().to_list()
    assert len(digest) == 32
    for path in (folder / "lake").rglob("*"):
        assert not path.is_file() or b"0123456789abcdef" not in path.read_bytes()


def test_a_commit_of_before_the_column_is_read_and_names_nothing(folder: Path) -> None:
    settings = zone(folder, SETTINGS + "redaction_key_file: other.key\n")
    lake = Lake(settings.lake_path)
    for path in sorted((lake.root / EXPORT_FILES).rglob("*.parquet")):
        rows = pl.read_parquet(path, hive_partitioning=False)
        rows.drop("read_as", "naming_facts").write_parquet(path)
    ledger = Ledger.read(lake)
    assert ledger.files.select("read_as", "naming_facts").rows() == [(None, []), (None, [])]
    assert read_otherwise(settings, ledger) == []
    assert land(settings, lake, FIRST_SEEN).files == 0

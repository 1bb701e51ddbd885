"""Files in another encoding than UTF-8 are refused by its name, whatever they are stated to be."""

import gzip
from datetime import date
from pathlib import Path

import pytest

from pipelines.landing.detection import Detected, identify
from pipelines.landing.land import land
from pipelines.storage import Lake
from tests.pipelines.landing_zone import zone
from tests.transforms.staging.hubble_events import flow_line

SETTINGS = """
lake: lake
catalog: podledger.duckdb
clusters: {alder: {cloud: aws, region: us-east-1}}
exports:
  - {name: flows, format: hubble, clusters: [alder], path: "in/%Y-%m-%d/*"}
"""


@pytest.mark.parametrize("format_name", [None, "hubble", "coredns"])
@pytest.mark.parametrize(
    ("encoding", "mark", "name"),
    [
        ("utf-16-le", b"\xff\xfe", "UTF-16 (it begins with the bytes ff fe)"),
        ("utf-16-be", b"\xfe\xff", "UTF-16 (it begins with the bytes fe ff)"),
        ("utf-32-le", b"\xff\xfe\0\0", "UTF-32 (it begins with the bytes ff fe 00 00)"),
        ("utf-32-be", b"\0\0\xfe\xff", "UTF-32 (it begins with the bytes 00 00 fe ff)"),
    ],
)
def test_another_encoding_is_named(
    tmp_path: Path, format_name: str | None, encoding: str, mark: bytes, name: str
) -> None:
    path = tmp_path / "events.log"
    text = mark + flow_line().encode(encoding)
    for data in (text, gzip.compress(text)):
        path.write_bytes(data)
        assert identify(path, format_name, None) == f"encoded as {name}; expected UTF-8"


def test_the_mark_of_utf_8_is_no_other_encoding(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    path.write_bytes(b"\xef\xbb\xbf" + flow_line().encode())
    assert isinstance(identify(path, None, None), Detected)


def test_landing_says_so_and_lands_the_other_files(tmp_path: Path) -> None:
    folder = tmp_path / "in/2026-03-10"
    folder.mkdir(parents=True)
    (folder / "a.log").write_text(flow_line(), encoding="utf-16")
    (folder / "b.log").write_text(flow_line(), encoding="utf-8")
    settings = zone(tmp_path, SETTINGS)
    report = land(settings, Lake(settings.lake_path), date(2026, 3, 11))
    assert report.records["accepted"] == 1
    (problem,) = report.unknown
    assert "a.log" in str(problem)
    assert "encoded as UTF-16" in str(problem)

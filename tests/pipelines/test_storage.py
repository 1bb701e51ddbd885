"""A file of the lake is whole or absent, and one process writes at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.errors import LakeBusyError, PodledgerError
from pipelines.storage import Lake


def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    lake, target = Lake(tmp_path), tmp_path / "t" / "date=2026-03-10" / "alder.parquet"
    with lake.replacing(target) as temporary:
        temporary.write_bytes(b"whole")
        assert not target.exists()
    assert target.read_bytes() == b"whole"


def test_an_error_leaves_the_old_file_and_no_trace(tmp_path: Path) -> None:
    lake, target = Lake(tmp_path), tmp_path / "file"
    target.write_bytes(b"old")

    def write_half() -> None:
        with lake.replacing(target) as temporary:
            temporary.write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_days_and_files_are_sorted_and_hidden_files_left_out(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for name in ("date=2026-03-11/b", "date=2026-03-10/z", "date=2026-03-10/a", "other/x"):
        path = tmp_path / "t" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "t/date=2026-03-10/.tmp-5-a.parquet").touch()
    days = lake.days("t")
    assert [d.isoformat() for d in days] == ["2026-03-10", "2026-03-11"]
    assert [p.stem for p in lake.files("t", days[0])] == ["a", "z"]


def test_the_second_writer_is_told_who_holds_the_lake(tmp_path: Path) -> None:
    with (
        Lake(tmp_path).locked("night job on node-1"),
        pytest.raises(LakeBusyError, match=r"in use by night job on node-1 \(process \d+\)"),
        Lake(tmp_path).locked("someone else"),
    ):
        pass
    with Lake(tmp_path).locked("someone else"):
        pass


def test_a_killed_writer_leaves_no_lock(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from pipelines.storage import Lake\n"
        "with Lake(Path(sys.argv[1])).locked('killed'): os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    with Lake(tmp_path).locked("next"):
        pass


def test_a_lake_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(PodledgerError, match="expected a folder that can be written"),
        Lake(tmp_path / "file" / "lake").locked("me"),
    ):
        pass

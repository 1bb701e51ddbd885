"""`podledger status --accuracy` on a lake of few rows."""

import json
from pathlib import Path

import pytest

from pipelines.storage import Lake
from tests.pipelines.cli.command import podledger
from tests.pipelines.test_accuracy import before, mixed, publish

SETTINGS = "lake: lake\ncatalog: c\nclusters: {oak: {}}\nexports: []\n"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "podledger.yaml"
    path.write_text(SETTINGS)
    lake = Lake(tmp_path / "lake")
    publish(lake, "object_transfers", mixed(200, "none", 200), before(1))
    publish(lake, "object_transfers", mixed(150, "none", 200))
    return path


def test_rungs_and_changes_are_printed(settings: Path) -> None:
    ended = podledger("status", "--accuracy", "--config", settings)
    assert (ended.code, ended.err) == (0, "")
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert lines == [
        "rows of 2026-03-10 by the rung that names them",
        "cluster table ladder rung rows share 7 days before",
        "oak object_transfers reader pod uid 150 75.00% 100.00%",
        "oak object_transfers reader pod none 50 25.00% 0.00%",
        "",
        "changed: oak, object_transfers, reader pod: 75.00% named, 100.00% in the week before",
    ]


def test_a_day_may_be_asked_for(settings: Path) -> None:
    ended = podledger("status", "--accuracy", "--date", before(1), "--config", settings)
    assert "oak object_transfers reader pod uid 200 100.00% no day" in " ".join(ended.out.split())
    assert "no ladder names 5% more or less" in ended.out
    none = podledger("status", "--accuracy", "--date", before(30), "--config", settings)
    assert (none.code, none.out) == (0, f"{before(30)}: no rows\n")


def test_scripts_read_the_same_as_json(settings: Path) -> None:
    ended = podledger("status", "--accuracy", "--json", "--config", settings)
    content = json.loads(ended.out)
    assert content["date"] == "2026-03-10"
    assert [(r["rung"], r["row_count"], r["share"]) for r in content["rungs"]] == [
        ("uid", 150, 0.75), ("none", 50, 0.25),
    ]  # fmt: skip
    assert content["changes"] == [
        {
            "cluster": "oak", "source": "object_transfers", "ladder": "reader pod",
            "named_share": 0.75, "named_share_before": 1.0,
        }
    ]  # fmt: skip


def test_wrong_use_ends_with_a_message(settings: Path, tmp_path: Path) -> None:
    for arguments, told in (
        (("--date", "2026-03-10"), "--date goes with --accuracy"),
        (("--accuracy", "--date", "soon"), "expected a day such as"),
    ):
        ended = podledger("status", *arguments, "--config", settings)
        assert (ended.code, ended.out) == (2, "")
        assert told in " ".join(ended.err.split())
    empty = tmp_path / "empty.yaml"
    empty.write_text(SETTINGS.replace("lake: lake", "lake: other"))
    ended = podledger("status", "--accuracy", "--config", empty)
    assert ended.code == 2
    assert "no day is built" in ended.err

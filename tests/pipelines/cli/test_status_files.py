"""`status` names files that the settings name and that are missing or cannot be read."""

import json
from pathlib import Path

import pytest

from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import small_catalogue


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Settings of a lake with a catalogue."""
    return small_catalogue(tmp_path_factory.mktemp("lake"))


def catalogue(config: Path) -> list[dict[str, str]]:
    ended = podledger("status", "--json", "--config", config)
    assert (ended.code, ended.err) == (0, "")
    found: list[dict[str, str]] = json.loads(ended.out)["catalogue"]
    return found


def test_a_catalogue_that_people_cannot_read_is_named(config: Path) -> None:
    path = config.parent / "podledger.duckdb"
    whole = path.read_bytes()
    assert catalogue(config) == []
    path.unlink()
    assert catalogue(config) == [
        {"path": str(path), "problem": "absent; podledger build writes it"}
    ]
    path.write_bytes(b"what a person wrote")
    (found,) = catalogue(config)
    assert "another file stands there and stays" in found["problem"]
    path.write_bytes(whole[:2000] + b"x" * 2000)
    (found,) = catalogue(config)
    assert found["problem"].startswith("cannot be opened: ")
    assert found["problem"].endswith("; podledger build writes it anew")
    path.write_bytes(whole)
    (config.parent / "lake/runs/date=2026-03-10/fleet.parquet").unlink()
    assert catalogue(config) == [
        {
            "path": str(path),
            "problem": "older than what is published; podledger build writes it anew",
        }
    ]


@pytest.mark.parametrize("command", ["status", "build"])
def test_all_files_that_cannot_be_used_are_named_at_once(config: Path, command: str) -> None:
    other = config.with_name("other.yaml")
    (config.parent / "prices.csv").write_text("price_id\n1\n", encoding="utf-8")
    other.write_text(
        config.read_text(encoding="utf-8")
        + "redaction_key_file: no.key\n"
        + "reference: {prices: prices.csv, endpoints: /dev/zero, nat_addresses: no.csv,\n"
        + "            address_ranges: [no.json]}\n",
        encoding="utf-8",
    )
    ended = podledger(command, "--config", other)
    assert (ended.code, ended.out) == (2, "")
    first, *lines = ended.err.splitlines()
    assert first == f"error: {other}: 5 kind(s) of files that it names cannot be used"
    folder = config.parent
    for expected in (
        "  redaction_key_file: no.key: No such file or directory; expected a readable file",
        "  reference.endpoints: /dev/zero: no regular file; expected a readable CSV file in UTF-8",
        f"  reference.prices: {folder}/prices.csv: wrong reference file",
        f"  reference.address_ranges: {folder}/no.json: No such file or directory; expected a",
        f"  reference.nat_addresses: {folder}/no.csv: No such file or directory; expected a",
    ):
        assert [line for line in lines if line.startswith(expected)], expected

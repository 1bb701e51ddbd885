"""Mutated files of all formats, landed together: the ledger's counts add up for every one of them.

`podledger check` counts no repeated records, so that this is asked of landing itself.
"""

import datetime as dt
import gzip
from collections import Counter
from pathlib import Path
from random import Random

import polars as pl

from pipelines.landing.land import land
from pipelines.ledger import Ledger
from pipelines.settings import load_settings
from pipelines.storage import Lake
from tests.mutations import suite
from tests.mutations.rules import RULES, Rules, valid_change

FILES = 8
EXPORT = "  - {{name: {0}, format: {0}, clusters: [alder], path: 'in/{0}/*'}}\n"


def put_mutated(format_name: str, folder: Path, seeds_in: Path) -> int:
    """Write mutated files of a format, every second one compressed, and one of them twice."""
    folder.mkdir(parents=True)
    seeds = suite.seeds_of(format_name, seeds_in)
    for number in range(FILES):
        seed = seeds[number % len(seeds)]
        random = Random(f"ledger {format_name} {number}")
        valid_kept = valid_change(RULES.get(format_name, Rules()))
        text = b"\n".join(p.data for p in suite.changed(seed, random, valid_kept))
        name = f"{number}.log.gz" if number % 2 else f"{number}.log"
        (folder / name).write_bytes(gzip.compress(text, 1) if number % 2 else text)
        if number == 0:
            # The same records once more, behind a line that keeps the content from being the same.
            (folder / "again.log").write_bytes(text + b"\n" + text.split(b"\n")[-1])
    return FILES + 1


def test_the_counts_of_each_mutated_file_add_up(tmp_path: Path) -> None:
    put = {name: put_mutated(name, tmp_path / "in" / name, tmp_path) for name in suite.FORMATS}
    text = "lake: lake\ncatalog: podledger.duckdb\nclusters:\n  alder: {cloud: aws}\nexports:\n"
    settings_file = tmp_path / "podledger.yaml"
    settings_file.write_text(
        text + "".join(EXPORT.format(n) for n in suite.FORMATS), encoding="utf-8"
    )
    settings = load_settings(settings_file)
    lake = Lake(settings.lake_path)
    report = land(settings, lake, dt.date(2026, 3, 20))
    ledger = Ledger.read(lake)
    files = ledger.files
    counted = pl.col("accepted_count", "duplicate_count", "rejected_count", "ignored_count")
    assert files.filter(pl.col("record_count") != pl.sum_horizontal(counted)).is_empty()
    # A file whose first bytes are damaged is named as unknown; every other one is in the ledger.
    found = Counter(files["format"].to_list())
    assert files.height + len(report.unknown) == sum(put.values())
    assert all(found[name] >= put[name] // 2 for name in suite.FORMATS), found
    rejects = pl.concat(pl.read_parquet(path) for path in ledger.reject_paths())
    by_file = Counter(rejects["export_file_id"].to_list())
    stated = {i: n for i, n in files.select("export_file_id", "rejected_count").rows() if n}
    assert by_file == stated
    assert files["duplicate_count"].sum() > 0

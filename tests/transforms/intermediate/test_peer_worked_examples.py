"""One worked example per format that states bytes between two ends: every packet counts once."""

from collections.abc import Callable

import polars as pl
import pytest

from tests.transforms.frames import DAY, checked
from tests.transforms.intermediate.peer_examples import (
    EXAMPLES,
    Export,
    Places,
    Totals,
    show_examples,
    staged,
)
from transforms.day import BuildDay
from transforms.intermediate import peer_traffic
from transforms.sql import SqlSession


@pytest.fixture(scope="module")
def built() -> pl.DataFrame:
    """Traffic of the day on which all examples were exported."""
    records = [
        row
        for number, example in enumerate(EXAMPLES, 1)
        for row in staged(example(Places(number))[0], example.__name__)
    ]
    with SqlSession(threads=1) as session:
        show_examples(session, records)
        day = BuildDay(date=DAY, cluster="fleet", clusters=())
        return checked(session, "peer_traffic", peer_traffic.build(session, day))


@pytest.mark.parametrize(
    ("number", "example"), list(enumerate(EXAMPLES, 1)), ids=[e.__name__ for e in EXAMPLES]
)
def test_every_packet_counts_once(
    built: pl.DataFrame, number: int, example: Callable[[Places], tuple[list[Export], Totals]]
):
    places = Places(number)
    ours = f"10.{number}."
    local = pl.col("pod_uid").str.strip_prefix(f"{number}-")
    found = (
        built.filter(pl.col("is_chosen"), pl.col("local_address").str.starts_with(ours))
        .group_by(pl.coalesce(local, "local_address").alias("local"), "direction", "peer_address")
        .agg(pl.col("bytes").sum())
    )
    assert {(row[0], row[1], row[2]): row[3] for row in found.iter_rows()} == example(places)[1]

"""One worked example per format of interface counters: every byte counts once."""

from collections.abc import Callable

import polars as pl
import pytest

from tests.transforms.frames import DAY
from tests.transforms.intermediate.counter_examples import EXAMPLES, Example, uid_of
from tests.transforms.intermediate.counter_oracle import traffic


@pytest.fixture(scope="module")
def received() -> dict[str, int]:
    """Bytes of the day by pod, of all examples at once."""
    samples = [row for n, example in enumerate(EXAMPLES) for row in example(n).samples()]
    moved = traffic(samples, [DAY])
    assert set(moved["direction"]) == {"receive"}
    return dict(moved.group_by("pod_uid").agg(pl.col("bytes").sum()).iter_rows())


@pytest.mark.parametrize(
    ("number", "example"), list(enumerate(EXAMPLES)), ids=[e.__name__ for e in EXAMPLES]
)
def test_every_byte_counts_once(
    received: dict[str, int], number: int, example: Callable[[int], Example]
) -> None:
    assert received.get(uid_of(number), 0) == example(number).total

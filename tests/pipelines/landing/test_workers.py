"""How many processes parse side by side."""

from dataclasses import dataclass

import pytest

from pipelines.landing.land import _workers


@dataclass(frozen=True)
class Limits:
    workers: int
    memory_limit: int


@pytest.mark.parametrize(
    ("workers", "memory_limit", "expected"),
    [
        (2, 4_000_000_000, 2),
        (8, 4_000_000_000, 4),
        (2, 2_000_000_000, 2),
        (2, 1_999_999_999, 1),
        (2, 1_000_000_000, 1),
        (1, 64_000_000_000, 1),
    ],
)
def test_as_many_processes_parse_as_the_memory_limit_has_room_for(
    workers: int, memory_limit: int, expected: int
) -> None:
    assert _workers(Limits(workers, memory_limit)) == expected

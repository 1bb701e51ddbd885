"""The files that are mutated are as they should be: else nothing is told of what is valid."""

from pathlib import Path

import pytest

from tests.mutations import suite


@pytest.mark.parametrize("format_name", suite.FORMATS)
def test_no_record_of_a_file_to_mutate_is_refused(format_name: str, tmp_path: Path) -> None:
    for number, seed in enumerate(suite.seeds_of(format_name, tmp_path)):
        results = [result for found in seed.results.values() for result in found]
        refused = [(r.locator, r.word) for r in results if r.fate == "rejected"]
        assert (number, refused) == (number, [])

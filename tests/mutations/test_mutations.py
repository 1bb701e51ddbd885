"""Files of every format, mutated: nothing raises, nothing disappears, what is untouched stays."""

from pathlib import Path

import pytest

from pipelines.landing.formats import MODULES
from tests.mutations import suite

FEW, MANY = 300, 10_000
ACCEPTED = 0.95
"""Share of the changed records that are valid still and must be accepted."""


def check(format_name: str, count: int, folder: Path) -> None:
    report = suite.run(format_name, count, folder)
    assert not report.problems, "\n".join(report.problems[:5])
    assert report.mutations.total() >= count
    valid, refused = report.valid.total(), report.refused.total()
    assert valid >= count // 60, "the oracle must know enough records"
    assert valid - refused >= ACCEPTED * valid, report.refused.most_common(10)


def test_each_format_has_files_to_mutate() -> None:
    assert suite.FORMATS == MODULES


@pytest.mark.parametrize("format_name", suite.FORMATS)
def test_a_few_mutations_of_each_format(format_name: str, tmp_path: Path) -> None:
    check(format_name, FEW, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("format_name", suite.FORMATS)
def test_many_mutations_of_each_format(format_name: str, tmp_path: Path) -> None:
    check(format_name, MANY, tmp_path)

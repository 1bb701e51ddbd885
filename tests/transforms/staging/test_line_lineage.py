"""Lines without time or node are told by all such lines before them."""

from transforms.staging import line_lineage
from transforms.staging.line_lineage import LineLineage
from transforms.staging.parser import RawRecord


def told(*texts):
    lineage = LineLineage()
    return [
        lineage.of(RawRecord(f"line {number}", 10 * number, b""), text)
        for number, text in enumerate(texts)
    ]


def test_a_longer_file_begins_with_the_ids_of_the_shorter_one():
    assert told("a", "b", "a")[:2] == told("a", "b")


def test_one_other_line_makes_all_behind_it_others():
    first, second = told("a", "b", "c", "c"), told("a", "x", "c", "c")
    assert first[0] == second[0]
    assert set(first[1:]).isdisjoint(second[1:])


def test_a_line_that_is_given_again_is_the_same_and_changes_nothing(monkeypatch):
    monkeypatch.setattr(line_lineage, "KEPT", 4)
    lineage = LineLineage()
    lines = [RawRecord(f"line {n}", n, b"") for n in range(9)]
    given = [lineage.of(line, "a") for line in lines[:7]]
    assert [lineage.of(line, "a") for line in lines[5:7]] == given[5:]
    given += [lineage.of(line, "a") for line in lines[7:]]
    assert given == told_at(lines)


def told_at(lines):
    lineage = LineLineage()
    return [lineage.of(line, "a") for line in lines]

"""Patterns find files and read facts from their paths."""

import datetime as dt

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipelines.path_patterns import PathPattern


def test_a_path_gives_cluster_node_project_day_and_hour() -> None:
    pattern = PathPattern.compile("/x/{cluster}/{project}/%Y-%m-%d/%H/{node}/events*.log.gz")
    facts = pattern.facts("/x/alder/vision/2026-03-10/07/node-1/events-old.log.gz")
    assert facts is not None
    assert (facts.cluster, facts.project, facts.node) == ("alder", "vision", "node-1")
    assert facts.day == dt.date(2026, 3, 10)
    assert facts.hour_at == dt.datetime(2026, 3, 10, 7, tzinfo=dt.UTC)


def test_listing_starts_at_the_longest_literal_folder() -> None:
    assert PathPattern.compile("/x/y/pre-{cluster}/z").prefix == "/x/y/"
    assert PathPattern.compile("s3://logs/a/%Y/%m/%d/*").prefix == "s3://logs/a/"


def test_a_star_does_not_cross_folders_and_two_stars_do() -> None:
    assert PathPattern.compile("/a/*.log").facts("/a/b/c.log") is None
    assert PathPattern.compile("/a/**/*.log").facts("/a/b/c/d.log") is not None
    assert PathPattern.compile("/a/**/*.log").facts("/a/d.log") is not None


def test_the_same_placeholder_twice_must_agree() -> None:
    pattern = PathPattern.compile("/{cluster}/x/{cluster}.log")
    assert pattern.facts("/a/x/a.log") is not None
    assert pattern.facts("/a/x/b.log") is None


def test_an_impossible_day_is_no_match() -> None:
    assert PathPattern.compile("/%Y-%m-%d").facts("/2026-02-30") is None


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("/a/../b", r"without `\.\.`"),
        ("/a/{zone}/b", "unknown placeholder {zone}"),
        ("/a/%Y/b", "%Y, %m and %d together"),
        ("/a/%j", "unknown placeholder %j"),
        ("gs://a/b", "begins with s3://"),
        ("~/a", "not expanded"),
        ("s3://", "s3://bucket"),
        ("s3:///a", "s3://bucket"),
        ("s3://{cluster}/a", "s3://bucket"),
        ("s3://logs-*/a", "s3://bucket"),
        ("s3://name:word@logs/a", "without credentials"),
    ],
)
def test_a_wrong_pattern_says_what_was_expected(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PathPattern.compile(pattern)


@given(st.text(alphabet="abc.[]()+^$|\\ -", min_size=1, max_size=20))
def test_characters_of_regular_expressions_are_plain_text(name: str) -> None:
    assume(name != "..")
    pattern = PathPattern.compile(f"/x/{name}")
    assert pattern.facts(f"/x/{name}") is not None
    assert pattern.facts(f"/x/{name}z") is None

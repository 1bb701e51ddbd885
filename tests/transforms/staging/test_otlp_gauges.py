import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.transforms.staging.export_text import check_each
from tests.transforms.staging.kubernetes_objects import mutations
from tests.transforms.staging.otlp_logs import SEEN, pairs
from transforms.staging.json_records import Item
from transforms.staging.otlp_gauges import Point, names_in, points_of
from transforms.staging.parser import Parsed

AT = datetime(2026, 3, 10, 6, 30, 0, 250_000, tzinfo=UTC)


def point(**changes: Any) -> dict[str, Any]:
    """A point with a label."""
    return {
        "attributes": pairs({"a": "b", "number": 7}),
        "timeUnixNano": str(SEEN),
        "asDouble": 1.5,
    } | changes


def metrics(*found: dict[str, Any]) -> dict[str, Any]:
    """A document of metrics."""
    return {"resourceMetrics": [{"scopeMetrics": [{"metrics": list(found)}]}]}


def read(value: Any) -> list[Point | Parsed]:
    """The points of a document."""
    return list(points_of(Item("$", "$", 0, json.dumps(value).encode())))


def test_points_of_gauges_and_sums_are_read() -> None:
    found = read(
        metrics(
            {"name": "up", "gauge": {"dataPoints": [point()]}},
            {"name": "ups", "sum": {"dataPoints": [point(asDouble=None, asInt="3"), point()]}},
        )
    )
    assert [(p.name, p.labels, p.value, p.at) for p in found if isinstance(p, Point)] == [
        ("up", {"a": "b"}, 1.5, AT),
        ("ups", {"a": "b"}, "3", AT),
        ("ups", {"a": "b"}, 1.5, AT),
    ]
    assert [p.item.path for p in found if isinstance(p, Point)] == [
        "$.resourceMetrics[0].scopeMetrics[0].metrics[0].gauge.dataPoints[0]",
        "$.resourceMetrics[0].scopeMetrics[0].metrics[1].sum.dataPoints[0]",
        "$.resourceMetrics[0].scopeMetrics[0].metrics[1].sum.dataPoints[1]",
    ]


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (metrics(), "empty"),
        (metrics({"name": "a", "histogram": {"dataPoints": [{}]}}), "other_metric"),
        (metrics({"name": "a", "gauge": {"dataPoints": [point(flags=1)]}}), "stale"),
    ],
)
def test_what_holds_no_value_is_ignored(value: Any, word: str) -> None:
    assert [found.ignore for found in read(value) if isinstance(found, Parsed)] == [word]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"timeUnixNano": None}, "no_time: expected timeUnixNano, got none"),
        ({"timeUnixNano": "x"},
         "wrong_time: expected whole nanoseconds since 1970, got text of 1 characters"),
        ({"asDouble": None}, "no_value: expected asInt or asDouble, got none"),
        ({"attributes": [*pairs({"a": "b"}), *pairs({"a": "b"})]},
         "attributes: expected each key once"),
    ],
)  # fmt: skip
def test_a_broken_point_is_refused(changes: dict[str, Any], reason: str) -> None:
    found = read(metrics({"name": "a", "gauge": {"dataPoints": [point(**changes), point()]}}))
    assert isinstance(found[0], Parsed)
    assert found[0].reject == reason
    assert isinstance(found[1], Point)


def test_a_part_of_another_type_is_never_an_error() -> None:
    for changed in mutations(metrics({"name": "up", "gauge": {"dataPoints": [point()]}})):
        check_each(found for found in read(changed) if isinstance(found, Parsed))
        names_in(changed)


def test_names_are_those_of_the_metrics() -> None:
    assert names_in(metrics({"name": "a"}, {"name": "b"}, {"name": 5}, {})) == {"a", "b"}
    assert names_in([]) == names_in({}) == names_in({"resourceMetrics": 5}) == set()

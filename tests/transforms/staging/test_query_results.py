import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.staging.export_text import check_each
from tests.transforms.staging.kubernetes_objects import mutations
from transforms.staging.json_records import Item
from transforms.staging.parser import Parsed
from transforms.staging.query_results import Series, names_in, series_of

AT = datetime(2026, 3, 10, 6, 30, 0, 250_000, tzinfo=UTC)
LATER = datetime(2026, 3, 10, 6, 31, 0, 250_000, tzinfo=UTC)
METRIC = {"__name__": "up", "job": "node"}


def read(value: Any) -> list[Series | Parsed]:
    """The series of one answer."""
    return list(series_of(Item("$", "$", 0, json.dumps(value).encode())))


def answer(result_type: str, *result: Any) -> dict[str, Any]:
    """An answer of the API."""
    return {"status": "success", "data": {"resultType": result_type, "result": list(result)}}


def refusals(value: Any) -> list[str | None]:
    """Why the parts of an answer are refused."""
    return [found.reject for found in read(value) if isinstance(found, Parsed)]


def test_a_vector_has_one_sample_per_series() -> None:
    (found,) = read(answer("vector", {"metric": METRIC, "value": [1773124200.25, "1"]}))
    assert isinstance(found, Series)
    assert (found.name, found.labels, found.samples) == ("up", {"job": "node"}, [(AT, "1")])
    assert found.item.locator == "$.data.result[0]"


def test_a_matrix_has_all_samples_in_order() -> None:
    values = [[1773124200.25, "1"], [1773124260.25, "NaN"]]
    found = read(
        answer("matrix", {"metric": METRIC, "values": values}, {"metric": {}, "values": []})
    )
    assert isinstance(found[0], Series)
    assert found[0].samples == [(AT, "1"), (LATER, "NaN")]
    assert refusals(answer("matrix", {"metric": {}, "values": []})) == [
        "no_value: expected $.data.result[0].value or values, got none"
    ]


def test_the_result_alone_is_read() -> None:
    """`promtool query -o json` prints it so."""
    entry = {"metric": {"job": "node"}, "value": [1773124200.25, "1"]}
    for value, locator in (
        ([entry], "$[0]"),
        ({"resultType": "vector", "result": [entry]}, "$.result[0]"),
    ):
        (found,) = read(value)
        assert isinstance(found, Series)
        assert (found.name, found.item.locator) == ("", locator)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (answer("scalar", 1773124200, "1"), "no_series"),
        (answer("vector"), "empty"),
        ([], "empty"),
        (answer("vector", {"metric": {}, "histogram": [1773124200, {"count": "1"}]}), "histogram"),
    ],
)
def test_what_holds_no_series_is_ignored(value: Any, word: str) -> None:
    assert [found.ignore for found in read(value) if isinstance(found, Parsed)] == [word]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"status": "error", "errorType": "timeout", "error": "token=x"},
         "no_result: expected the result of a query, got an error"),
        ({"status": "success"}, "no_result: expected $.data.result, got none"),
        (answer("vector", {"value": [1, "1"]}),
         "no_metric: expected $.data.result[0].metric, got none"),
        (answer("vector", {"metric": {}, "value": [1, 1]}),
         "wrong_type: expected str, got int at $.data.result[0].value[1]"),
        (answer("vector", {"metric": {}, "value": [1]}),
         "wrong_type: expected array of length 2, got another value at $.data.result[0].value"),
        (answer("vector", {"metric": {}, "value": [1e15, "1"]}),
         "wrong_time: expected seconds since 1970, up to the year 9999"),
        (answer("vector", {"metric": {}, "value": [260000000000, "1"]}),
         "wrong_time: expected seconds since 1970, up to the year 9999"),
        ("x", "wrong_type: expected object, got str at $"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(value: Any, reason: str) -> None:
    assert refusals(value) == [reason]


@pytest.mark.parametrize(
    ("seconds", "at"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (0.001, datetime(1970, 1, 1, 0, 0, 0, 1_000, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (253402300799.999, datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
    ],
)
def test_times_are_seconds(seconds: float, at: datetime) -> None:
    (found,) = read(answer("vector", {"metric": {}, "value": [seconds, "1"]}))
    assert isinstance(found, Series)
    assert found.samples == [(at, "1")]


def test_a_part_of_another_type_is_never_an_error() -> None:
    value = answer("matrix", {"metric": METRIC, "values": [[1, "1"], [2, "2"]]})
    for changed in mutations(value):
        check_each(found for found in read(changed) if isinstance(found, Parsed))
        names_in(changed)


@pytest.mark.samples
def test_the_real_matrix_is_read(samples: Path) -> None:
    data = (samples / "counters" / "prometheus_query_range_matrix.json").read_bytes()
    found = list(series_of(Item("$", "$", 0, data)))
    assert all(isinstance(f, Series) for f in found)
    assert [f.labels["job"] for f in found if isinstance(f, Series)] == ["prometheus", "node"]
    assert [[v for _, v in f.samples] for f in found if isinstance(f, Series)] == [
        ["1", "1", "1"],
        ["0", "0", "1"],
    ]
    assert names_in(json.loads(data)) == {"up"}

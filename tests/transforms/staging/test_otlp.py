import json
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    check_each,
    check_rows,
    damaged,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from transforms.staging.otlp import PARSER
from transforms.staging.parser import Parsed, RawRecord

UID = "ba9aab32-23d5-4056-b6ac-25bb80e918ef"
START = "1773129603250000000"
TIME = "1773129700000000000"
EVENT_AT = datetime(2026, 3, 10, 8, 1, 40, tzinfo=UTC)
STARTED_AT = datetime(2026, 3, 10, 8, 0, 3, 250_000, tzinfo=UTC)
POD = {
    "k8s.pod.uid": UID,
    "k8s.pod.name": "train-0",
    "k8s.namespace.name": "ml",
    "k8s.node.name": "node-1",
}


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": value if isinstance(value, dict) else {"stringValue": value}}
        for key, value in values.items()
    ]


def point(named: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A data point; a change to none leaves the field out."""
    values = {
        "attributes": attributes(named or {"interface": "eth0", "direction": "receive"}),
        "startTimeUnixNano": START,
        "timeUnixNano": TIME,
        "asInt": "40962",
    }
    return {k: v for k, v in (values | changes).items() if v is not None}


def metric(*points: Any, name: str = "k8s.pod.network.io", **changes: Any) -> dict[str, Any]:
    data = {"dataPoints": list(points), "aggregationTemporality": 2, "isMonotonic": True}
    kind = changes.pop("kind", "sum")
    unit = changes.pop("unit", "By")
    data = {k: v for k, v in (data | changes).items() if v is not None}
    return {"name": name, "unit": unit, kind: data}


def document(*metrics: Any, resource: Any = POD, scope: str = "kubeletstats") -> dict[str, Any]:
    return {
        "resourceMetrics": [
            {
                "resource": {"attributes": attributes(resource)},
                "scopeMetrics": [
                    {"scope": {"name": scope, "version": "0.1"}, "metrics": list(metrics)}
                ],
            }
        ]
    }


def parse_lines(*documents: Any, **context: Any) -> list[Parsed]:
    found = parse(PARSER, "\n".join(json.dumps(d) for d in documents), **context)
    check_each(found)
    check_rows(found)
    return found


def sample(given_point: dict[str, Any] | None = None, **context: Any) -> dict[str, Any]:
    (parsed,) = parse_lines(document(metric(given_point or point())), **context)
    assert parsed.reject is None, parsed.reject
    return parsed.rows[0][1]


def fate(*metrics: Any, **context: Any) -> str:
    (parsed,) = parse_lines(document(*metrics), **context)
    return word(parsed)


def test_a_point_fills_every_column():
    (parsed,) = parse_lines(document(metric(point())))
    assert [table for table, _ in parsed.rows] == ["counter_samples"]
    assert stated(parsed.rows[0][1], "record_id", "series_id") == {
        "observer": "test-export",
        "metric": "k8s.pod.network.io",
        "node": "node-1",
        "namespace": "ml",
        "pod_name": "train-0",
        "pod_uid": UID,
        "interface": "eth0",
        "direction": "receive",
        "temporality": "cumulative",
        "byte_layer": "frame",
        "value": 40_962,
        "event_at": EVENT_AT,
        "counter_start_at": STARTED_AT,
    }


def test_a_record_is_one_point_and_its_locator_a_json_path():
    two = document(metric(point()), metric(point(), point(asInt="x")))
    locators = [(p.locator, p.offset, word(p)) for p in parse_lines(document(), two)]
    inside = "$.resourceMetrics[0].scopeMetrics[0].metrics"
    assert locators == [
        ("line 1", 0, "empty"),
        (f"line 2 {inside}[0].sum.dataPoints[0]", None, "accepted"),
        (f"line 2 {inside}[1].sum.dataPoints[0]", None, "accepted"),
        (f"line 2 {inside}[1].sum.dataPoints[1]", None, "value"),
    ]


def test_a_whole_document_is_read_like_a_line():
    text = json.dumps(document(metric(point(), point())), indent=2).encode()
    found = parse(PARSER, [RawRecord("$", 0, text)])
    assert [p.locator for p in found] == [
        "$.resourceMetrics[0].scopeMetrics[0].metrics[0].sum.dataPoints[0]",
        "$.resourceMetrics[0].scopeMetrics[0].metrics[0].sum.dataPoints[1]",
    ]
    assert words(found) == {"accepted": 2}


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({"asInt": "0"}, 0),
        ({"asInt": 7}, 7),
        ({"asInt": str(2**63 - 1)}, 2**63 - 1),
        ({"asInt": None, "asDouble": 5.0}, 5),
        ({"asInt": None, "asDouble": 5}, 5),
        ({"asInt": None, "asDouble": "5"}, 5),
        ({"asInt": None, "asDouble": 1.0267820369e10}, 10_267_820_369),
    ],
)
def test_values_are_whole_bytes_however_they_are_written(changes, value):
    assert sample(point(**changes))["value"] == value


@pytest.mark.parametrize(
    "changes",
    [
        {"asInt": "-1"},
        {"asInt": str(2**63)},
        {"asInt": "1e3"},
        {"asInt": "٣"},
        {"asInt": ""},
        {"asInt": None},
        {"asInt": None, "asDouble": 5.5},
        {"asInt": None, "asDouble": -1.0},
        {"asInt": None, "asDouble": 1e300},
        {"asInt": None, "asDouble": "NaN"},
        {"asInt": None, "asDouble": "Infinity"},
        {"asInt": "5", "asDouble": 5.0},
    ],
)
def test_a_value_that_is_no_number_of_bytes_is_refused(changes):
    assert fate(metric(point(**changes))) == "value"


@pytest.mark.parametrize("start", [None, "0", 0, TIME, "1773129699999999999"])
def test_a_start_that_equals_the_time_or_is_absent_is_unknown(start):
    # The last start lies less than a microsecond before the time.
    time = {"timeUnixNano": "1773129699999999999"} if start == "1773129699999999999" else {}
    assert sample(point(startTimeUnixNano=start, **time))["counter_start_at"] is None


def test_times_may_be_numbers_and_are_cut_to_microseconds():
    values = sample(point(timeUnixNano=1_773_129_700_123_456_789, startTimeUnixNano=int(START)))
    assert values["event_at"] == datetime(2026, 3, 10, 8, 1, 40, 123_456, tzinfo=UTC)
    assert values["counter_start_at"] == STARTED_AT


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"timeUnixNano": None}, "no_time"),
        ({"timeUnixNano": "0"}, "no_time"),
        ({"timeUnixNano": 0}, "no_time"),
        ({"timeUnixNano": "2026-03-10T08:01:40Z"}, "timeUnixNano"),
        ({"timeUnixNano": -5}, "timeUnixNano"),
        ({"timeUnixNano": 10**30}, "timeUnixNano"),
        ({"startTimeUnixNano": "x"}, "startTimeUnixNano"),
        ({"startTimeUnixNano": "1773129700000000001"}, "start_time"),
        ({"timeUnixNano": {}}, "wrong_type"),
        ({"asInt": []}, "wrong_type"),
        ({"asInt": True}, "wrong_type"),
        ({"attributes": {}}, "wrong_type"),
        ({"attributes": [1]}, "wrong_type"),
        ({"flags": "x"}, "flags"),
    ],
)
def test_a_point_without_proper_times_or_types_is_refused(changes, reason):
    assert fate(metric(point(**changes))) == reason


@pytest.mark.parametrize("flags", [1, "1", 3])
def test_a_point_without_a_recorded_value_marks_that_there_is_none(flags):
    row = sample(point(flags=flags, asInt=None))
    assert (row["value"], row["sample_kind"]) == (0, "stale")
    assert "counter_start_at" not in row or row["counter_start_at"] is None
    assert row["series_id"] == sample()["series_id"]
    assert fate(metric(point(flags=2))) == "accepted"


@pytest.mark.parametrize(
    ("stated_as", "setting", "expected"),
    [
        (1, None, "delta"),
        (2, None, "cumulative"),
        ("AGGREGATION_TEMPORALITY_DELTA", None, "delta"),
        ("AGGREGATION_TEMPORALITY_CUMULATIVE", None, "cumulative"),
        (None, "delta", "delta"),
        (0, "cumulative", "cumulative"),
        (2, "delta", "delta"),
        (1, "cumulative", "cumulative"),
    ],
)
def test_temporality_is_what_the_setting_says_else_what_is_stated(stated_as, setting, expected):
    (parsed,) = parse_lines(
        document(metric(point(), aggregationTemporality=stated_as)), temporality=setting
    )
    assert parsed.rows[0][1]["temporality"] == expected


@pytest.mark.parametrize(
    ("stated_as", "setting"), [(3, "delta"), (2, "per_connection_total"), (None, None)]
)
def test_no_setting_makes_a_counter_of_what_is_none(stated_as, setting):
    (parsed,) = parse_lines(
        document(metric(point(), aggregationTemporality=stated_as)), temporality=setting
    )
    assert word(parsed) == "temporality"


@pytest.mark.parametrize(
    ("given_metric", "reason"),
    [
        (metric(point(), aggregationTemporality=None), "temporality"),
        (metric(point(), aggregationTemporality=0), "temporality"),
        (metric(point(), aggregationTemporality=3), "temporality"),
        (metric(point(), aggregationTemporality="2"), "temporality"),
        (metric(point(), isMonotonic=False), "not_monotonic"),
        (metric(point(), isMonotonic=None), "not_monotonic"),
        (metric(point(), kind="gauge"), "metric_type"),
        (metric(point(), kind="summary"), "metric_type"),
        (metric(point(), unit="kBy"), "unit"),
        (metric(point(), isMonotonic="yes"), "wrong_type"),
        (metric(point(), name=5), "wrong_type"),
        ([], "wrong_type"),
        (None, "wrong_type"),
    ],
)
def test_a_metric_that_is_no_counter_of_bytes_is_refused(given_metric, reason):
    assert fate(given_metric) == reason


def test_each_point_of_a_refused_metric_is_counted():
    found = parse_lines(document(metric(point(), point(), kind="gauge")))
    assert words(found) == {"metric_type": 2}


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ({"interface": "eth0"}, "direction"),
        ({"direction": "both"}, "direction"),
        ({"direction": {"intValue": "1"}}, "direction"),
        ({"direction": "receive", "network.io.direction": "transmit"}, "attributes"),
        ({"direction": "receive", "interface": "e" * 65}, "interface"),
        ({"direction": "receive", "interface": "eth\n0"}, "interface"),
    ],
)
def test_a_point_needs_a_direction(named, reason):
    assert fate(metric(point(named))) == reason


def test_attributes_have_an_old_and_a_new_name():
    old = sample(point({"interface": "eth0", "direction": "transmit"}))
    new = sample(point({"network.interface.name": "eth0", "network.io.direction": "transmit"}))
    assert old == new
    assert (new["direction"], new["interface"]) == ("transmit", "eth0")
    assert sample(point({"direction": "receive"}))["interface"] is None


def test_a_key_that_stands_twice_is_refused():
    twice = attributes({"direction": "receive"}) + attributes({"direction": "receive"})
    assert fate(metric(point(attributes=twice))) == "attributes"


def resource_sample(resource: Any, **context: Any) -> dict[str, Any]:
    (parsed,) = parse_lines(document(metric(point()), resource=resource), **context)
    assert parsed.reject is None, parsed.reject
    return parsed.rows[0][1]


def test_what_a_resource_leaves_out_is_null():
    values = resource_sample({})
    names = ("node", "namespace", "pod_name", "pod_uid")
    assert [values[name] for name in names] == [None] * 4
    assert resource_sample({}, node="node-9")["node"] == "node-9"
    assert resource_sample(POD, node="node-9")["node"] == "node-1"


def test_a_uid_without_dashes_is_the_same_pod():
    assert resource_sample(POD | {"k8s.pod.uid": UID.replace("-", "").upper()})["pod_uid"] == UID


@pytest.mark.parametrize(
    "changes",
    [
        {"k8s.pod.uid": "train-0"},
        {"k8s.pod.name": "Train 0"},
        {"k8s.namespace.name": "x" * 254},
        {"k8s.node.name": "-"},
        {"k8s.pod.name": {"arrayValue": {}}},
    ],
)
def test_a_resource_that_names_no_kubernetes_object_is_refused(changes):
    found = parse_lines(document(metric(point(), point()), resource=POD | changes))
    assert [p.reject is not None for p in found] == [True, True]
    assert word(found[0]) in {"pod_uid", "k8s.pod.name", "k8s.namespace.name", "k8s.node.name"}


def test_the_observer_is_the_instance_that_exports_else_the_export():
    values = resource_sample(POD | {"service.instance.id": "collector-7"})
    assert values["observer"] == "collector-7"
    assert values["series_id"] == resource_sample(POD)["series_id"]


def test_a_series_is_the_pod_the_interface_and_the_direction():
    base = sample()
    assert (
        sample(point(asInt="9", timeUnixNano="1773129760000000000"))["series_id"]
        == (base["series_id"])
    )
    others = [
        sample(point({"interface": "eth0", "direction": "transmit"})),
        sample(point({"interface": "net1", "direction": "receive"})),
        sample(point({"interface": "eth0", "direction": "receive", "more": {"intValue": "1"}})),
        sample(point({"interface": "eth0", "direction": "receive", "more": "1"})),
        resource_sample(POD | {"k8s.pod.uid": UID.replace("b", "c")}),
        resource_sample(POD, cluster="birch"),
        *(r for _, r in parse_lines(document(metric(point()), scope="other"))[0].rows),
        *(
            r
            for _, r in parse_lines(
                document(metric(point(), aggregationTemporality=1)),
            )[0].rows
        ),
    ]
    series = [base["series_id"], *(other["series_id"] for other in others)]
    assert len(set(series)) == len(series)


def test_attributes_that_processors_add_begin_no_new_series():
    late = POD | {"k8s.deployment.name": "train", "k8s.pod.labels.app": "x", "host.name": "h"}
    assert resource_sample(late)["series_id"] == resource_sample(POD)["series_id"]


def test_without_a_uid_all_attributes_of_the_resource_name_the_series():
    unnamed = {name: text for name, text in POD.items() if name != "k8s.pod.uid"}
    first = resource_sample(unnamed)
    again = resource_sample(dict(reversed(unnamed.items())))
    other = resource_sample(unnamed | {"k8s.pod.name": "train-1"})
    assert first["series_id"] == again["series_id"] != other["series_id"]


def test_a_record_is_identified_by_series_time_and_value():
    first, again, later, more = (
        sample(point(**changes))["record_id"]
        for changes in (
            {},
            {"startTimeUnixNano": None},
            {"timeUnixNano": "1773129701000000000"},
            {"asInt": "40963"},
        )
    )
    assert first == again
    assert len({first, later, more}) == 3


def test_points_of_other_metrics_are_ignored_one_by_one():
    errors = metric(point(), point(), name="k8s.pod.network.errors")
    gauge = metric({}, "no point", 5, name="k8s.pod.memory.usage", kind="gauge")
    kinds = [
        metric({"bucketCounts": []}, name="a", kind=kind)
        for kind in ("histogram", "exponentialHistogram", "summary")
    ]
    found = parse_lines(document(errors, gauge, *kinds, metric(point()), {"name": "b"}))
    assert words(found) == {"other_metric": 8, "accepted": 1}
    assert fate(metric(point(), name="k8s.node.network.io")) == "other_metric"


@pytest.mark.parametrize(
    ("text", "fates"),
    [
        ('{"resourceMetrics":[]}', ["empty"]),
        ('{"resourceMetrics":[{}]}', ["empty"]),
        ('{"resourceMetrics":[{"scopeMetrics":[{}]}]}', ["empty"]),
        ('{"resourceMetrics":null}', ["no_metrics"]),
        ('{"resourceLogs":[{}]}', ["other_signal"]),
        ('{"resourceSpans":[]}', ["other_signal"]),
        ('{"resourceProfiles":[]}', ["other_signal"]),
        ("{}", ["no_metrics"]),
        ("[]", ["wrong_type"]),
        ("5", ["wrong_type"]),
        ("null", ["wrong_type"]),
        ('{"resourceMetrics":5}', ["wrong_type"]),
        ('{"resourceMetrics":[5,{"scopeMetrics":5},{"resource":5}]}', ["wrong_type"] * 3),
        ('{"resourceMetrics":[{"scopeMetrics":[5,{"metrics":5}]}]}', ["wrong_type"] * 2),
        ('{"resourceMetrics":[', ["invalid_json"]),
        ('{"resourceMetrics":[{"scopeMetrics":[}]}', ["invalid_json"]),
        ("\x00", ["invalid_json"]),
        ("nothing", ["invalid_json"]),
        ('{"resourceMetrics":' + "[" * 50_000, ["too_deep"]),
        ('{"x":' * 50_000, ["too_deep"]),
    ],
)
def test_a_document_of_another_shape_is_told(text, fates):
    found = parse(PARSER, text)
    check_each(found)
    assert [word(p) for p in found] == fates


@pytest.mark.parametrize(("levels", "fates"), [(50, {"accepted": 2}), (50_000, {"too_deep": 1})])
def test_attributes_of_too_many_levels_are_refused(levels, fates):
    deep = '{"arrayValue":{"values":[' * levels + "]}}" * levels
    attribute = point({"direction": "receive", "x": "HERE"})
    text = json.dumps(document(metric(point(), attribute)))
    found = parse(PARSER, text.replace('{"stringValue": "HERE"}', deep))
    check_each(found)
    assert words(found) == fates


def test_what_looks_like_a_credential_is_not_written():
    token = "ghp_" + "a1B2" * 9
    keys = ("k8s.pod.name", "k8s.namespace.name", "k8s.node.name", "k8s.pod.uid",
            "service.instance.id", token)  # fmt: skip
    found = [
        *(parse_lines(document(metric(point()), resource=POD | {key: token}))[0] for key in keys),
        *(
            parse_lines(document(metric(point({"direction": "receive"} | named))))[0]
            for named in ({"interface": token}, {"direction": token}, {token: token})
        ),
        *(parse_lines(document(metric(point(asInt=token))))),
        *(parse_lines(document(metric(point(), unit=token)))),
        *(parse_lines(document(metric(point(), name=token)))),
    ]
    assert token not in written(found)
    assert "***" in written(found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of everything inside a JSON value."""
    inside = list(value.items()) if isinstance(value, dict) else []
    inside += list(enumerate(value)) if isinstance(value, list) else []
    return [place for key, item in inside for place in [(*path, key), *places(item, (*path, key))]]


@given(data=st.data())
def test_damage_of_one_point_changes_no_other(data):
    clean = document(metric(point(), point(asInt="2"), point(asInt="3")))
    expected = parse_lines(clean)
    damaged = deepcopy(clean)
    points = damaged["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["sum"]["dataPoints"]
    *way, last = data.draw(st.sampled_from([(1,), *places([None, points[1]], ())[1:]]))
    target = points
    for step in way:
        target = target[step]
    target[last] = data.draw(JSON)
    found = parse_lines(damaged)
    assert len(found) == 3
    assert [found[0].rows, found[2].rows] == [expected[0].rows, expected[2].rows]


@given(cuts=CUTS)
def test_damage_of_one_line_changes_no_other(cuts):
    text = json.dumps(document(metric(point(), point(asInt="2")))).encode()
    texts = (text, damaged(text, cuts), text)
    found = parse(PARSER, [RawRecord(f"line {n}", 0, data) for n, data in enumerate(texts)])
    check_each(found)
    check_rows(found)
    by_line = [[p.rows for p in found if p.locator.startswith(f"line {n}")] for n in range(3)]
    assert by_line[0] == by_line[2]
    assert len(by_line[0]) == 2
    assert by_line[1]


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(document(metric(point()))), 3),
        (json.dumps(document(metric(point())), indent=1)[:300], 3),
        (json.dumps(document(metric(point())))[:300], 3),
        ('{"resourceMetrics":[]}', 3),
        ('{"resourceMetrics":5}', 0),
        ('{"resourceLogs":[{"scopeLogs":[]}]}', 0),
        ('{"resourceSpans":[{"x":"resourceMetrics"}]}', 0),
        ('{"items":[{"resourceMetrics":[]}]}', 0),
        ("[]", 0),
        ("resourceMetrics: []", 0),
        ("", 0),
    ],
)
def test_the_format_is_recognised_by_its_first_key(head, score):
    assert PARSER.recognise(head.encode()).score == score


SAMPLES = {
    # Sum, gauge, histogram and exponential histogram with one point each.
    "counters/otlp_examples_metrics.json": {"other_metric": 4},
    # Four lines of two metrics with two points.
    "counters/otlp_file_exporter_metrics.jsonl": {"other_metric": 16},
    "kubernetes/otlp_events_example.json": {"other_signal": 1},
    "kubernetes/otlp_logs_example.json": {"other_signal": 1},
    "kubernetes/otlp_trace_example.json": {"other_signal": 1},
}


@pytest.mark.samples
@pytest.mark.parametrize("name", SAMPLES)
def test_real_documents_hold_other_metrics_and_signals(samples, name):
    found = parse_file(PARSER, samples / name)
    check_each(found)
    assert words(found) == SAMPLES[name]


@pytest.mark.samples
def test_real_points_are_read_if_they_are_of_the_pod_network(samples):
    # The public examples hold no pod network metric: the same points under its name.
    path = samples / "counters" / "otlp_file_exporter_metrics.jsonl"
    text = path.read_text().replace('"counter-int","unit":"1"', '"k8s.pod.network.io","unit":"By"')
    text = text.replace('"label-1"', '"direction"').replace('"label-value-1"', '"receive"')
    text = text.replace('"label-2"', '"direction"').replace('"label-value-2"', '"transmit"')
    found = rows(parse(PARSER, text), "counter_samples")
    assert [r["value"] for r in found] == [
        123, 456, 123, 456, 120, 456, 123, 456, 121, 456, 123, 456, 125, 456, 123, 456,
    ]  # fmt: skip
    # Line 1: start equals time, then three starts a second before; line 2: all starts equal.
    known = datetime(2020, 2, 11, 20, 26, 12, 0, tzinfo=UTC)
    assert [r["counter_start_at"] for r in found[:8]] == [None, *[known] * 3, *[None] * 4]
    assert found[0]["event_at"] == datetime(2020, 2, 11, 20, 26, 13, tzinfo=UTC)
    # A series stands twice in each line: as one record where the values agree.
    assert found[1]["record_id"] == found[3]["record_id"]


def test_what_is_read_twice_is_judged_as_what_is_read_once() -> None:
    """Attributes are read once a file; each point gives what it gives in a file of its own."""
    send = {"interface": "eth0", "direction": "transmit"}
    lost = {"interface": "eth0"}
    other = POD | {"k8s.pod.uid": "0a9aab32-23d5-4056-b6ac-25bb80e918ef"}
    wrong = POD | {"k8s.pod.uid": "no uid"}
    documents = [
        document(metric(point(), point(send), point(lost), point(asInt="-1"))),
        document(metric(point(asInt="50000"), point(send), point(lost), point(asInt=[1]))),
        document(metric(point(), point(send)), scope="another"),
        document(metric(point(), aggregationTemporality=1)),
        document(metric(point(), point(timeUnixNano=None)), resource=other),
        document(metric(point()), resource=wrong),
        document(metric(point()), resource=wrong),
        document(metric(point()), resource={}),
        document(metric(point())),
    ]
    together = parse_lines(*documents)
    alone = [parsed for one in documents for parsed in parse_lines(one)]
    assert [(p.rows, p.reject) for p in together] == [(p.rows, p.reject) for p in alone]
    series = [row["series_id"] for row in rows(together, "counter_samples")]
    assert len(series) == 10
    assert len(set(series)) == 7

"""Byte counters in export lines of VictoriaMetrics; expected values are written by hand."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.landing.readers import head
from tests.mutations.seeds.prometheus import answer, cadvisor, flow, kubecost
from tests.transforms.intermediate.counter_oracle import increments
from tests.transforms.staging.export_text import (
    CUTS,
    check_each,
    check_others,
    check_rows,
    damaged,
    lines,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from transforms.staging import byte_counters
from transforms.staging.parser import Parsed
from transforms.staging.prometheus import PARSER as PROMETHEUS
from transforms.staging.victoriametrics import PARSER

SECRET = "planted-hunter2-EXAMPLE"
MS = 1_773_129_700_123
AT = datetime(2026, 3, 10, 8, 1, 40, 123_000, tzinfo=UTC)
LATER = datetime(2026, 3, 10, 8, 2, 10, 123_000, tzinfo=UTC)
SERIES = cadvisor(0)


def line(
    *values: Any,
    series: Any = SERIES,
    timestamps: Any = None,
    raw: str | None = None,
    **labels: Any,
) -> str:
    """An export line with values 30 s apart; `raw` stands in place of the list of values."""
    name, known = series
    times = [MS + 30_000 * n for n in range(len(values))] if timestamps is None else timestamps
    text = json.dumps(list(values)) if raw is None else raw
    metric = json.dumps({"__name__": name, **known, **labels})
    return f'{{"metric":{metric},"values":{text},"timestamps":{json.dumps(times)}}}\n'


def read(text: str | bytes, **context: Any) -> list[Parsed]:
    found = parse(PARSER, text, **context)
    check_each(found)
    check_rows(found)
    return found


def samples_of(text: str, **context: Any) -> list[dict[str, Any]]:
    return rows(read(text, **context), "counter_samples")


def fate(text: str) -> str:
    (record,) = read(text)
    return word(record)


def test_a_line_is_a_record_with_a_row_per_sample() -> None:
    (found,) = read(line(40_962, 45_000))
    assert found.locator == "line 1"
    first, second = (row for _, row in found.rows)
    assert stated(first, "record_id", "series_id") == {
        "observer": "kubelet/192.0.2.7:10250",
        "metric": "container_network_receive_bytes_total",
        "node": "node-1",
        "namespace": "team-vision",
        "pod_name": "train-0",
        "pod_uid": "5f8c1e1a-7f0c-4b7e-9a53-0f4c3a2b1d00",
        "interface": "eth0",
        "direction": "receive",
        "temporality": "cumulative",
        "byte_layer": "frame",
        "value": 40_962,
        "event_at": AT,
    }
    assert (second["value"], second["event_at"]) == (45_000, LATER)
    assert second["series_id"] == first["series_id"]


def test_a_series_is_the_same_whether_it_comes_from_prometheus_or_from_here() -> None:
    theirs = json.dumps(answer("matrix", (SERIES, [[MS / 1_000, "40962"]])))
    (raw,) = rows(parse(PROMETHEUS, theirs, record_format="samples=raw"), "counter_samples")
    assert samples_of(line(40_962)) == [raw]


def test_a_series_may_stand_on_several_lines() -> None:
    found = samples_of(line(1, 2) + line(3, timestamps=[MS + 60_000]))
    assert [row["value"] for row in found] == [1, 2, 3]
    assert len({row["series_id"] for row in found}) == 1


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ("[36028797018963967]", [36_028_797_018_963_967]),
        ("[9223372036854775807]", [2**63 - 1]),
        ("[1.0267820369e+10,123.9]", [10_267_820_369, 123]),
        ("[7,null]", [7, 0]),
    ],
)
def test_whole_numbers_are_exact_and_ends_of_series_no_readings(
    values: str, found: list[int]
) -> None:
    times = [MS + n for n in range(values.count(",") + 1)]
    assert [row["value"] for row in samples_of(line(raw=values, timestamps=times))] == found


def test_a_mark_of_the_end_of_a_series_is_kept_as_one() -> None:
    found = samples_of(line(7, None, 9))
    assert [row["sample_kind"] for row in found] == [None, "stale", None]
    assert words(read(line(None, None))) == {"accepted": 1}
    growth = increments([{"cluster": "alder"} | row for row in found], [date(2026, 3, 10)])
    assert growth.select("bytes", "is_gap").rows() == [(2, True)]
    assert words(read(line(None, series=flow()))) == {"stale": 1}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (line("Infinity"), "value"),
        (line(-1), "value"),
        (line("x"), "value"),
        (line(raw="[9223372036854775808]", timestamps=[MS]), "value"),
        (line(raw="[1e400]", timestamps=[MS]), "out_of_range"),
        (line(raw="[true]", timestamps=[MS]), "wrong_type"),
        (line(1, 2, timestamps=[MS]), "timestamps"),
        (line(1, timestamps=[-1]), "wrong_time"),
        (line(1, timestamps=[10**15]), "wrong_time"),
        (line(1, timestamps=["x"]), "wrong_type"),
        (line(1, pod="A"), "pod"),
        (line(), "stale"),
        (line(1, series=("up", {})), "other_metric"),
        ('{"metric":{"pod":"a"},"values":[1],"timestamps":[1]}', "other_metric"),
        ('{"metric":{"__name__":"up"}}', "no_values"),
        ('{"metric":3}', "wrong_type"),
        ('{"metric":', "invalid_json"),
        ("[" * 100_000, "wrong_type"),
        ("x", "invalid_json"),
    ],
)
def test_what_is_no_reading_is_said_with_its_word(text: str, found: str) -> None:
    assert fate(text) == found


def test_counters_that_state_peers_become_volumes() -> None:
    found = read(line(123.3, series=flow()) + line(7, series=kubecost()))
    one, other = rows(found, "volume_records")
    assert (one["bytes"], one["source_pod_name"], one["destination_port"]) == (123, "train-0", 443)
    assert (one["start_at"], one["end_at"], one["temporality"]) == (AT, AT, "cumulative")
    assert (other["bytes"], other["stated_distance"]) == (7, "cross_zone")


def test_the_start_of_a_sandbox_is_that_of_its_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    start = line(1773129600.5, series=("container_start_time_seconds", SERIES[1]))
    found = read(line(1, 2) + start + line(3))
    assert [word(record) for record in found] == ["accepted", "counter_start", "accepted"]
    starts = {row["counter_start_at"] for row in rows(found, "counter_samples")}
    assert starts == {datetime(2026, 3, 10, 8, 0, 0, 500_000, tzinfo=UTC)}
    monkeypatch.setattr(byte_counters, "MAX_QUEUED", 0)
    text = line(1) + start
    assert samples_of(text)[0]["counter_start_at"] is None
    # A file can be read again for what stands behind.
    (row,) = samples_of(text, read_again=lambda: lines("{" + "\n" + text))
    assert row["counter_start_at"] in starts


def test_only_the_exports_setting_says_that_values_are_differences() -> None:
    assert {row["temporality"] for row in samples_of(line(9, 5, 1))} == {"cumulative"}
    found = samples_of(line(1, 2, 3), temporality="delta")
    assert {row["temporality"] for row in found} == {"delta"}


def test_secrets_in_labels_are_not_kept() -> None:
    url = f"https://user:{SECRET}@example.com"
    found = read(line(1, job=url, image=url, x=url) + line(1, pod=url) + line(url))
    assert words(found) == {"accepted": 1, "pod": 1, "value": 1}
    assert SECRET not in written(found)
    refused = [record.raw for record in found if record.reject]
    assert all(SECRET.encode() not in raw for raw in refused)


@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_line_changes_no_other(
    index: int, cuts: list[tuple[int, int, bytes]]
) -> None:
    whole = [line(n, n + 1, series=cadvisor(n)).strip().encode() for n in range(4)]
    broken = list(whole)
    broken[index] = damaged(whole[index], cuts).strip() or b"x"
    found, clean = (parse(PARSER, lines(b"\n".join(each))) for each in (broken, whole))
    check_others(found, clean, index)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (line(1), 3),
        (line(1, series=("kube_pod_info", {})), 3),
        (line(*range(20_000))[:60_000], 2),
        ('{"metric":{},"values":[[1,"1"]]}', 0),
        ('{"metric":"x","values":[1],"timestamps":[1]}', 0),
        ("[]", 0),
        ("x", 0),
    ],
)
def test_a_head_is_judged_by_its_three_keys(text: str, score: int) -> None:
    assert PARSER.recognise(text.encode()).score == score
    assert PROMETHEUS.recognise(text.encode()).score == 0


@pytest.mark.samples
def test_a_real_export_is_read(samples: Path) -> None:
    path = samples / "counters" / "victoriametrics_export.jsonl"
    assert PARSER.recognise(head(path)).score == 3
    assert words(parse_file(PARSER, path)) == {"other_metric": 2}
    text = path.read_text().replace('"up"', '"node_network_receive_bytes_total"')
    found = samples_of(text)
    assert [(row["value"], row["observer"]) for row in found] == [
        *[(0, "node_exporter/localhost:9100")] * 3,
        *[(1, "prometheus/localhost:9090")] * 3,
    ]
    assert found[0]["event_at"] == datetime(2019, 2, 11, 13, 24, 32, 10_000, tzinfo=UTC)

"""Byte counters in what Prometheus exports; expected values are written by hand."""

import gzip
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.landing.parsing import parse_records
from pipelines.landing.readers import head
from tests.mutations.seeds import prometheus as seeds
from tests.transforms.intermediate.counter_oracle import increments, traffic
from tests.transforms.staging.export_text import (
    CONTEXT,
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
from transforms.staging.kube_state_metrics import PARSER as KUBE_STATE_METRICS
from transforms.staging.otlp import PARSER as OTLP
from transforms.staging.parser import CounterFacts, Parsed, RawRecord
from transforms.staging.prometheus import PARSER

SECRET = "planted-hunter2-EXAMPLE"
SANDBOX = "9e6914890be99324e095c414b7400d6462b89be1b5636e56e228e8f4747f8fb5"
UID = "67c629a2-d18f-451a-9d89-f65758e13e12"
CGROUP = (
    "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod"
    f"{UID.replace('-', '_')}.slice/cri-containerd-{SANDBOX}.scope"
)
MS = 1_773_129_700_123
AT = datetime(2026, 3, 10, 8, 1, 40, 123_000, tzinfo=UTC)
STARTED = datetime(2026, 3, 10, 8, 0, 0, 500_000, tzinfo=UTC)
STARTED_TEXT = "1773129600.5"
SERIES = {
    "container": "",
    "id": CGROUP,
    "image": "registry.example.com/pause:3.6",
    "instance": "192.0.2.7:10250",
    "interface": "eth0",
    "job": "kubelet",
    "name": SANDBOX,
    "namespace": "monitoring",
    "node": "node-1",
    "pod": "train-0",
}
RECEIVED = "container_network_receive_bytes_total"
SENT = "container_network_transmit_bytes_total"
FLOW = "obi_network_flow_bytes_total"


def line(
    metric: str = RECEIVED, value: Any = 40_962, /, *more: Any, base: Any = SERIES, **labels: Any
) -> str:
    """A line of text; a label that is none is left out."""
    known = {key: text for key, text in (base | labels).items() if text is not None}
    inner = ",".join(f'{key}="{text}"' for key, text in known.items())
    return " ".join((f"{metric}{{{inner}}}", str(value), *map(str, more))) + "\n"


def read(text: str | bytes, **context: Any) -> list[Parsed]:
    found = parse(PARSER, text, **context)
    check_each(found)
    check_rows(found)
    return found


def samples_of(text: str, **context: Any) -> list[dict[str, Any]]:
    found = read(text, **context)
    assert [record.reject for record in found if record.reject] == []
    return rows(found, "counter_samples")


def sample(*more: Any, **labels: Any) -> dict[str, Any]:
    """The row of one line with a time."""
    (row,) = samples_of(line(RECEIVED, 40_962, *(more or (MS,)), **labels))
    return row


def fate(text: str, **context: Any) -> str:
    (record,) = read(text, **context)
    return word(record)


def answer(*series: Any, kind: str = "matrix", **labels: Any) -> str:
    key = "value" if kind == "vector" else "values"
    name = labels.pop("name", RECEIVED)
    result = [{"metric": {"__name__": name, **SERIES, **labels}, key: v} for v in series]
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}})


# -- a pod's sandbox -------------------------------------------------------------------------------


def test_a_line_of_the_kubelet_fills_every_column() -> None:
    (found,) = read(line(RECEIVED, 40_962, MS))
    assert [table for table, _ in found.rows] == ["counter_samples"]
    assert stated(found.rows[0][1], "record_id", "series_id") == {
        "observer": "kubelet/192.0.2.7:10250",
        "metric": RECEIVED,
        "node": "node-1",
        "namespace": "monitoring",
        "pod_name": "train-0",
        "pod_uid": UID,
        "interface": "eth0",
        "direction": "receive",
        "temporality": "cumulative",
        "byte_layer": "frame",
        "value": 40_962,
        "event_at": AT,
    }


def test_the_direction_is_in_the_name() -> None:
    (row,) = samples_of(line(SENT, 7, MS))
    assert (row["direction"], row["metric"], row["value"]) == ("transmit", SENT, 7)


@pytest.mark.parametrize(
    ("path", "uid"),
    [
        (CGROUP, UID),
        (f"/kubepods/burstable/pod{UID}/{SANDBOX}", UID),
        (f"/kubepods/burstable/pod{UID.upper()}/{SANDBOX}", None),
        # The hash of a static pod's manifest is not the UID that the API shows.
        (f"/kubepods/burstable/pod{'ab' * 16}/{SANDBOX}", None),
        ("/system.slice/x", None),
    ],
)
def test_the_uid_stands_in_the_path_of_the_cgroup(path: str, uid: str | None) -> None:
    assert sample(id=path)["pod_uid"] == uid


def test_a_uid_may_stand_in_a_label() -> None:
    assert sample(id=None, uid=UID)["pod_uid"] == UID
    own = {"container_label_io_kubernetes_pod_uid": UID}
    assert sample(id=f"/docker/{SANDBOX}", **own)["pod_uid"] == UID
    assert sample(id=None, uid="no uid")["pod_uid"] is None


def test_a_label_that_the_target_has_too_is_read_as_the_pods_own() -> None:
    row = sample(pod="cadvisor-x", namespace="agents", exported_pod="a", exported_namespace="ml")
    assert (row["namespace"], row["pod_name"]) == ("ml", "a")


def test_labels_of_kubelets_before_1_16_and_of_cadvisor_alone_name_the_pod() -> None:
    old = sample(pod=None, container=None, pod_name="a", container_name="POD")
    assert old["pod_name"] == "a"
    own = "container_label_io_kubernetes"
    alone = {
        f"{own}_pod_name": "b",
        f"{own}_pod_namespace": "ml",
        f"{own}_container_name": "POD",
    }
    row = sample(pod="cadvisor-x", namespace="agents", container=None, **alone)
    assert (row["namespace"], row["pod_name"]) == ("ml", "b")


@pytest.mark.parametrize(
    ("container", "image", "found"),
    [
        ("", "", "accepted"),
        (None, None, "accepted"),
        ("POD", "registry.example.com/any:1", "accepted"),
        ("cadvisor", "registry.k8s.io/pause:3.6", "accepted"),
        ("cadvisor", "pause@sha256:ab", "accepted"),
        ("main", "registry.example.com/train:1", "not_sandbox"),
        ("main", "registry.example.com/pauser:1", "not_sandbox"),
        ("main", "", "not_sandbox"),
    ],
)
def test_only_rows_of_sandboxes_count(container: str | None, image: str | None, found: str) -> None:
    assert fate(line(RECEIVED, 1, MS, container=container, image=image)) == found


@pytest.mark.parametrize("interface", ["eth0", "net1", "cali248950e0d8c", "flannel.1", "lo"])
def test_any_interface_is_kept(interface: str) -> None:
    assert sample(interface=interface)["interface"] == interface
    assert sample(interface=None)["interface"] is None


# -- nodes and others ------------------------------------------------------------------------------


def test_the_root_cgroup_is_the_nodes_whatever_pod_the_target_has() -> None:
    for labels in ({"pod": "", "namespace": ""}, {"pod": "cadvisor-x", "namespace": "agents"}):
        row = sample(id="/", image="", name="", **labels)
        assert (row["node"], row["pod_name"], row["namespace"], row["pod_uid"]) == (
            "node-1",
            None,
            None,
            None,
        )


def test_a_row_without_names_is_the_nodes() -> None:
    row = sample(id=None, image=None, name=None, pod=None, namespace=None)
    assert (row["node"], row["pod_name"]) == ("node-1", None)


def test_a_node_is_named_by_a_label_the_path_or_the_target() -> None:
    root = {"id": "/", "pod": None, "namespace": None, "name": None, "node": None}
    text = line(RECEIVED, 1, MS, **root)
    (by_path,) = samples_of(text, node="node-9")
    (by_target,) = samples_of(text)
    assert (by_path["node"], by_target["node"]) == ("node-9", None)
    (other,) = samples_of(line(RECEIVED, 1, MS, **root, instance="192.0.2.8:10250"))
    assert len({row["series_id"] for row in (by_path, by_target, other)}) == 3
    (refused,) = read(line(RECEIVED, 1, MS, **(root | {"instance": None})))
    assert refused.reject is not None
    assert refused.reject.startswith("no_node: expected a label node or instance")


def test_a_container_of_no_pod_is_left_out() -> None:
    alone = {"pod": None, "namespace": None}
    assert fate(line(RECEIVED, 1, MS, id="testcontainer", **alone)) == "no_pod"
    assert fate(line(RECEIVED, 1, MS, id=None, **alone)) == "no_pod"


def test_node_exporter_counts_a_nodes_devices() -> None:
    base = {"device": "ens5", "instance": "node-1:9100", "job": "node", "nodename": "node-1"}
    (row,) = samples_of(
        line("node_network_transmit_bytes_total", "1.0267820369e+10", MS, base=base)
    )
    assert (row["node"], row["interface"], row["direction"], row["value"], row["pod_name"]) == (
        "node-1",
        "ens5",
        "transmit",
        10_267_820_369,
        None,
    )


def test_the_counter_of_kubeletstats_keeps_its_meaning_behind_a_prometheus_exporter() -> None:
    base = {
        "k8s_pod_uid": UID,
        "k8s_pod_name": "train-0",
        "k8s_namespace_name": "ml",
        "k8s_node_name": "node-1",
        "interface": "eth0",
        "direction": "transmit",
    }
    (row,) = samples_of(line("k8s_pod_network_io_bytes_total", 5, MS, base=base))
    (utf8,) = samples_of(
        '{"k8s.pod.network.io",'
        + ",".join(f'"{k.replace("_", ".")}"="{v}"' for k, v in base.items())
        + f"}} 5 {MS}\n"
    )
    wanted = {
        "pod_uid": UID, "pod_name": "train-0", "namespace": "ml", "node": "node-1",
        "interface": "eth0", "direction": "transmit", "value": 5, "observer": "test-export",
    }  # fmt: skip
    for found in (row, utf8):
        assert {key: found[key] for key in wanted} == wanted
    assert utf8["metric"] == "k8s.pod.network.io"
    name = "k8s_pod_network_io_bytes_total"
    assert fate(line(name, 5, MS, base=base, direction="both")) == "direction"
    assert fate(line(name, 5, MS, base=base, k8s_pod_uid="x")) == "pod_uid"
    assert fate(line(name, 5, MS, base={"direction": "receive"})) == "no_pod"


@pytest.mark.parametrize(
    "name",
    [
        "up", "container_network_receive_packets_total", "container_network_receive_errors_total",
        "obi_network_inter_zone_bytes_total", "kube_pod_info", "ns:container_network:sum_irate",
        "container_network_tcp_usage_total", "go_created", RECEIVED + "_bucket",
    ],
)  # fmt: skip
def test_other_metrics_are_left_out(name: str) -> None:
    assert fate(line(name, 1, MS)) == "other_metric"


# -- series ----------------------------------------------------------------------------------------


def test_a_series_is_named_by_pod_sandbox_interface_and_direction() -> None:
    own = sample()["series_id"]
    for same in ({"job": "x"}, {"instance": "x"}, {"image": ""}, {"foo": "bar"}, {"node": "n"},
                 {"pod": "b"}, {"name": None}):  # fmt: skip
        assert sample(**same)["series_id"] == own, same
    others = [
        sample(interface="net1")["series_id"],
        sample(id=CGROUP.replace("67c629a2", "67c629a3"))["series_id"],
        sample(id=CGROUP.replace(SANDBOX, "a" * 64))["series_id"],
        samples_of(line(SENT, 40_962, MS))[0]["series_id"],
        samples_of(line(RECEIVED, 40_962, MS), cluster="birch")[0]["series_id"],
    ]
    assert len({own, *others}) == 6


def test_where_only_names_are_known_node_or_target_are_part_of_the_series() -> None:
    bare = {"id": None, "name": None}
    one = sample(**bare)
    assert sample(**bare, instance="x")["series_id"] == one["series_id"]
    assert sample(**bare, node="n")["series_id"] != one["series_id"]
    unknown = sample(**bare, node=None)
    assert sample(**bare, node=None, instance="x")["series_id"] != unknown["series_id"]


def test_replicas_are_observers_of_one_series() -> None:
    a, b = (sample(prometheus_replica=f"prometheus-{n}") for n in range(2))
    assert a["observer"] == "prometheus-0/kubelet/192.0.2.7:10250"
    assert a["series_id"] == b["series_id"]
    assert len({a["record_id"], b["record_id"]}) == 2
    assert sample(job=None, instance=None)["observer"] == "test-export"


def test_a_repeated_sample_has_the_same_id_and_another_value_another() -> None:
    text = line(RECEIVED, 1, MS) + line(RECEIVED, 1, MS) + line(RECEIVED, 2, MS)
    ids = [row["record_id"] for row in samples_of(text)]
    assert ids[0] == ids[1] != ids[2]


def test_series_of_a_second_cluster_are_refused() -> None:
    text = line(RECEIVED, 1, MS, cluster="a") + line(RECEIVED, 1, MS, cluster="b", interface="x")
    assert [word(found) for found in read(text)] == ["accepted", "wrong_cluster"]


# -- values, times, starts -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("40962", 40_962), ("2.7382759192e+10", 27_382_759_192),
        ("1.73172021942e+11", 173_172_021_942), ("123.3", 123), ("99.999999", 99), ("0.5", 0),
        ("+7", 7), (".5e1", 5), ("9007199254740993", 9_007_199_254_740_993),
        ("9223372036854775807", 2**63 - 1), ("9.223372036854775e+18", 9_223_372_036_854_775_000),
    ],
)  # fmt: skip
def test_values_are_whole_bytes_cut_never_rounded_up(text: str, value: int) -> None:
    (row,) = samples_of(line(RECEIVED, text, MS))
    assert row["value"] == value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("+Inf", "value"), ("-Inf", "value"), ("-1", "value"),
        ("9223372036854775808", "value"), ("1e9999", "value"), ("1e-9999", "accepted"),
        ("0x10", "wrong_value"), ("1_000", "wrong_value"), ("", "accepted"),
    ],
)  # fmt: skip
def test_what_is_no_number_of_bytes_is_no_reading(text: str, found: str) -> None:
    assert fate(line(RECEIVED, text, MS)) == found


@pytest.mark.parametrize("text", ["NaN", "nan"])
def test_the_mark_of_a_series_that_ended_is_no_reading(text: str) -> None:
    (mark,) = samples_of(line(RECEIVED, text, MS) + started())
    assert (mark["sample_kind"], mark["value"], mark["event_at"]) == ("stale", 0, AT)
    assert mark["counter_start_at"] is None
    reading = sample(MS)
    assert {**mark, **{k: reading[k] for k in ("value", "sample_kind", "record_id")}} == reading
    # Without a time of its own it would mark no time; pairs of ends have no gaps.
    assert fate(line(RECEIVED, text)) == "stale"
    flow = {"src_address": "192.0.2.1", "dst_address": "198.51.100.1"}
    assert fate(line(FLOW, text, MS, base=flow)) == "stale"


MARKED = ["100", "350", "NaN", "400", "410"]
"""Read each 15 s. The last scrapes before a mark and behind it show one counter."""
STEPS = [(250, False), (50, True), (10, False)]


def steps_of(readings: list[dict[str, Any]]) -> list[tuple[int, bool]]:
    """Bytes between adjacent readings, and whether there is a gap."""
    found = [{"cluster": "alder"} | row for row in readings]
    return increments(found, [date(2026, 3, 10)]).select("bytes", "is_gap").rows()


@pytest.mark.parametrize("form", ["exposition", "tsdb dump", "dump-openmetrics", "query"])
def test_a_series_ends_at_its_mark_in_every_form_of_export(form: str) -> None:
    times = [MS + 15_000 * n for n in range(len(MARKED))]
    pairs = list(zip(MARKED, times, strict=True))
    setting = None
    if form == "exposition":
        text = "".join(line(RECEIVED, value, at) for value, at in pairs)
    elif form == "tsdb dump":
        text = "".join(dumped(value, at) for value, at in pairs)
    elif form == "dump-openmetrics":
        text = "".join(line(RECEIVED, value, f"{at / 1000:.3f}") for value, at in pairs) + "# EOF\n"
    else:
        text, setting = answer([[at / 1000, value] for value, at in pairs]), "samples=raw"
    assert steps_of(samples_of(text, record_format=setting)) == STEPS
    # A query at steps has no marks, and its points no increments.
    if form == "query":
        assert {row["sample_kind"] for row in samples_of(text)} == {"grid_point"}


def test_times_are_milliseconds_in_prometheus_and_seconds_in_openmetrics() -> None:
    assert sample(MS)["event_at"] == AT
    assert sample("1773129700.123")["event_at"] == AT
    (_, row) = read(f"# UNIT {RECEIVED} bytes\n" + line(RECEIVED, 1, 1_773_129_700))
    assert row.rows[0][1]["event_at"] == AT.replace(microsecond=0)
    assert fate(line(RECEIVED, 1, 1_773_129_700)) == "wrong_time"


def test_a_text_without_times_is_of_the_time_in_its_path_and_no_reading() -> None:
    hour = datetime(2026, 3, 10, 7, tzinfo=UTC)
    (row,) = samples_of(line(), path_at=hour)
    assert (row["event_at"], row["sample_kind"]) == (hour, "path_time")
    (row,) = samples_of(line(), landing_date=date(2026, 3, 9))
    assert row["event_at"] == datetime(2026, 3, 10, tzinfo=UTC)
    assert row["sample_kind"] == "path_time"
    assert sample()["sample_kind"] is None


def created(value: Any = STARTED_TEXT, *more: Any, **labels: Any) -> str:
    return line("container_network_receive_bytes_created", value, *more, **labels)


def test_openmetrics_1_tells_a_counters_start_on_a_line_of_its_own() -> None:
    text = f"# TYPE {RECEIVED[:-6]} counter\n" + line(RECEIVED, 17, "1773129700.123")
    for found in (
        read(text + created(STARTED_TEXT, "1773129700.123") + "# EOF\n"),
        read(created(STARTED_TEXT, "1773129700.123") + text),
    ):
        assert words(found)["counter_start"] == 1
        assert rows(found, "counter_samples")[0]["counter_start_at"] == STARTED
    (other,) = samples_of(text + created(STARTED_TEXT, "1773129700.123", interface="net1"))
    (later,) = samples_of(text + created(STARTED_TEXT, "1773129701.123"))
    assert other["counter_start_at"] is None
    assert later["counter_start_at"] is None


def test_openmetrics_2_tells_a_counters_start_behind_its_value() -> None:
    start = f"st@{STARTED_TEXT}"
    exemplar = '# {trace_id="ab"} 0.67 1773129699.1'
    for more in (("1773129700.123", start), ("1773129700.123", start, exemplar)):
        row = sample(*more)
        assert (row["value"], row["event_at"], row["counter_start_at"]) == (40_962, AT, STARTED)
    (row,) = samples_of(line(RECEIVED.removesuffix("_total"), 5, "1773129700.123"))
    assert (row["value"], row["counter_start_at"]) == (5, None)


def started(value: Any = STARTED_TEXT, **labels: Any) -> str:
    return line("container_start_time_seconds", value, MS, **({"interface": None} | labels))


def test_a_sandboxes_counters_began_when_it_did() -> None:
    found = read(line(RECEIVED, 1, MS) + line(SENT, 2, MS + 30_000) + started() + "up 1\n")
    assert words(found) == {"accepted": 2, "counter_start": 1, "other_metric": 1}
    assert [record.locator for record in found] == [f"line {n}" for n in range(1, 5)]
    starts = [row["counter_start_at"] for row in rows(found, "counter_samples")]
    assert starts == [STARTED, STARTED]


def test_two_starts_of_a_sandbox_or_one_behind_the_reading_say_nothing() -> None:
    for starts in (
        started() + started(value="1773129601"),
        started(value="1773129700.123"),
        started(value="1773129800"),
        started(id=CGROUP.replace(SANDBOX, "a" * 64)),
        started(value="NaN"),
    ):
        (row,) = samples_of(line(RECEIVED, 1, MS) + starts)
        assert row["counter_start_at"] is None
    assert words(read(started(value="-1"))) == {"value": 1}
    assert words(read(started(value="1e300"))) == {"value": 1}
    assert words(read(started(id=None, name=None))) == {"other_metric": 1}


def test_a_stated_start_is_better_than_that_of_the_sandbox() -> None:
    (row,) = samples_of(line(RECEIVED, 1, "1773129700.123", "st@1773129650") + started())
    assert row["counter_start_at"] == datetime(2026, 3, 10, 8, 0, 50, tzinfo=UTC)


def test_a_long_text_is_not_held_for_what_may_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_counters, "MAX_HELD", 2)
    text = "".join(line(RECEIVED, n, MS + n) for n in range(4)) + started()
    starts = [row["counter_start_at"] for row in samples_of(text + line(RECEIVED, 9, MS + 9))]
    assert starts == [None, None, None, STARTED, STARTED]
    monkeypatch.setattr(byte_counters, "MAX_STARTS", 0)
    assert samples_of(line(RECEIVED, 1, MS) + started())[0]["counter_start_at"] is None


def dump(folder: Path, text: str) -> list[dict[str, Any]]:
    """Samples of a file, read as landing reads it."""
    path = folder / "dump.txt.gz"
    path.write_bytes(gzip.compress(text.encode(), 1))
    found = list(parse_records(path, PARSER, CONTEXT))
    check_each(found)
    places = [record.locator.partition(" $")[0] for record in found]
    assert places == [f"line {n + 1}" for n in range(len(found))]
    return rows(found, "counter_samples")


def test_a_dump_by_name_tells_all_starts_however_long_it_is(tmp_path: Path) -> None:
    """All counters stand before all starts, and only some of them are held."""
    sandboxes = [f"{n:064x}" for n in range(100)]
    count = byte_counters.MAX_HELD * 5 // 400
    text = "".join(
        line(RECEIVED, value, MS + value * 15_000, base={"id": f"/pod/{sandbox}", "pod": f"p-{n}"})
        for n, sandbox in enumerate(sandboxes)
        for value in range(count)
    )
    for n, sandbox in enumerate(sandboxes):
        one = {"id": f"/pod/{sandbox}", "pod": f"p-{n}"}
        text += line("container_start_time_seconds", 1_773_129_600 + n, MS, base=one)
    # A sandbox of two starts, of which the second stands last, says nothing.
    text += line("container_start_time_seconds", 1_773_129_000, MS, base=one)
    found = dump(tmp_path, text)
    assert len(found) == 100 * count > byte_counters.MAX_HELD + 100
    told = {(row["pod_name"], row["counter_start_at"]) for row in found}
    assert told == {
        (f"p-{n}", datetime.fromtimestamp(1_773_129_600 + n, UTC) if n < 99 else None)
        for n in range(100)
    }


@settings(max_examples=40)
@given(order=st.permutations(range(9)), held=st.integers(0, 5))
def test_rows_do_not_depend_on_how_much_is_held(order: list[int], held: int) -> None:
    counters = [line(RECEIVED, n, MS + n * 1_000) for n in range(4)] + [
        line(SENT, 7, MS, id=None, name=None, pod="other-0"), "up 1\n",
    ]  # fmt: skip
    others = [started(), started(value="1773129601", id="/pod/" + "a" * 64), line("x_created", 1)]
    records = lines("".join((counters + others)[n] for n in order))
    whole = parse(PARSER, records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_counters, "MAX_HELD", held)
        assert parse(PARSER, records, read_again=lambda: records) == whole


def test_a_long_file_of_answers_or_created_samples_tells_all_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byte_counters, "MAX_HELD", 2)
    counters = [[AT.timestamp() + n, str(n)] for n in range(5)]
    start = answer([[AT.timestamp(), STARTED_TEXT]], name="container_start_time_seconds")
    answers = "".join(
        json.dumps(json.loads(text)) + "\n"
        for text in (answer(counters), answer(counters, interface="net1"), start)
    )
    assert [row["counter_start_at"] for row in dump(tmp_path, answers)] == [STARTED] * 10
    times = [f"{1_773_129_700 + n}.123" for n in range(5)]
    text = "".join(line(RECEIVED, n, at, id=None) for n, at in enumerate(times))
    base = RECEIVED.removesuffix("_total")
    text += "".join(line(f"{base}_created", STARTED_TEXT, at, id=None) for at in times)
    assert [row["counter_start_at"] for row in dump(tmp_path, text)] == [STARTED] * 5


def test_bytes_of_a_pod_add_up_through_a_burst_a_new_sandbox_and_two_replicas() -> None:
    """1,000,000 before the first scrape, 250,000 until the second, 300 in the next sandbox."""
    new = "a" * 64
    pod = {"pod": UID, "namespace": "ml"}
    text = ""
    for replica in ("a", "b"):
        own: dict[str, Any] = {**pod, "prometheus_replica": replica}
        text += line(RECEIVED, 1_000_000, MS, **own) + line(RECEIVED, 1_250_000, MS + 30_000, **own)
        text += line(RECEIVED, 1_250_000, MS + 30_000, **own, container="main", image="train:1")
        text += line(RECEIVED, 300, MS + 60_000, **own, id=CGROUP.replace(SANDBOX, new))
        text += line(RECEIVED, 9_000_000, MS, **own, id="/") + line(SENT, 5, MS, **own)
    text += started(**pod) + started("1773129740", **pod, id=CGROUP.replace(SANDBOX, new))
    grid = samples_of(answer([[1773129710, "1000000"], [1773129770, "300"]], **pod))
    found = [{"cluster": "alder"} | row for row in [*samples_of(text), *grid]]
    received = [
        row
        for row in increments(found, [date(2026, 3, 10)]).iter_rows(named=True)
        if row["pod_uid"] == UID and row["direction"] == "receive"
    ]
    assert {
        observer: sorted(
            (r["bytes"], r["start_basis"]) for r in received if r["observer"] == observer
        )
        for observer in {row["observer"] for row in received}
    } == {
        f"{replica}/kubelet/192.0.2.7:10250": [
            (300, "known_start"),
            (250_000, "sample"),
            (1_000_000, "known_start"),
        ]
        for replica in ("a", "b")
    }
    moved = traffic(found, [date(2026, 3, 10)])
    assert moved.filter(direction="receive")["bytes"].sum() == 1_250_300


# -- what the settings declare ---------------------------------------------------------------------


def test_width_link_and_expiry_are_those_of_the_settings():
    declared = CounterFacts(bits=32, link_bits_per_second=10**9, expires_after=300)
    names = ("counter_bits", "link_bits_per_second", "expires_after_seconds")
    (row,) = samples_of(line(RECEIVED, 1, MS), counters=declared)
    assert [row[name] for name in names] == [32, 10**9, 300]
    (row,) = samples_of(line(RECEIVED, 1, MS))
    assert [row[name] for name in names] == [None, None, None]


# -- temporality -----------------------------------------------------------------------------------


def test_only_the_exports_setting_says_that_values_are_differences() -> None:
    text = f"# TYPE {RECEIVED} gauge\n" + "".join(line(RECEIVED, v, MS + v) for v in (9, 5, 1))
    assert {row["temporality"] for row in samples_of(text)} == {"cumulative"}
    found = samples_of(text + started(), temporality="delta")
    assert {row["temporality"] for row in found} == {"delta"}
    # A difference did not begin with its sandbox.
    assert {row["counter_start_at"] for row in found} == {None}
    assert found[0]["series_id"] != samples_of(text)[0]["series_id"]
    assert fate(line(RECEIVED, 1, MS), temporality="per_connection_total") == "temporality"


def test_each_metric_is_declared() -> None:
    declared = {name: (d.temporality, d.byte_layer) for name, d in byte_counters.METRICS.items()}
    assert declared[RECEIVED] == declared[SENT] == ("cumulative", "frame")
    assert declared["node_network_receive_bytes_total"] == ("cumulative", "frame")
    assert declared["k8s_pod_network_io"] == ("cumulative", "frame")
    assert declared["beyla_network_flow_bytes"] == declared[FLOW] == ("cumulative", "frame")
    assert declared["kubecost_pod_network_egress_bytes_total"] == ("cumulative", "packet")
    assert {temporality for temporality, _ in declared.values()} == {"cumulative"}


# -- dumps and answers of queries ------------------------------------------------------------------


def dumped(value: Any, milliseconds: int) -> str:
    inner = ", ".join(f'{key}="{text}"' for key, text in SERIES.items())
    return f'{{__name__="{RECEIVED}", {inner}}} {value} {milliseconds}\n'


def test_dumps_of_promtool_give_the_rows_of_a_scrape() -> None:
    expected = samples_of(line(RECEIVED, 10_267_820_369, MS))
    assert samples_of(dumped("1.0267820369e+10", MS)) == expected
    assert samples_of(line(RECEIVED, "1.0267820369e+10", "1773129700.123") + "# EOF\n") == expected
    whole = dumped("1.0267820369e+10", MS) + "\n" + dumped("NaN", MS + 1)
    found = read(whole)
    assert [(r.locator, word(r)) for r in found] == [("line 1", "accepted"), ("line 3", "accepted")]
    assert [row["sample_kind"] for row in rows(found, "counter_samples")] == [None, "stale"]
    (one,) = parse(PARSER, [RawRecord("$", 0, dumped("1.0267820369e+10", MS).encode())])
    assert rows([one], "counter_samples") == expected


MATRIX = answer([[1773129700.123, "900"], [1773129760.123, "950"], [1773129820.123, "NaN"]])


def test_points_of_a_grid_are_marked() -> None:
    found = samples_of(MATRIX)
    assert [(row["value"], row["sample_kind"]) for row in found] == [
        (900, "grid_point"),
        (950, "grid_point"),
    ]
    assert found[0]["event_at"] == AT
    (row,) = samples_of(answer([1773129700.123, "900"], kind="vector"))
    assert (row["value"], row["sample_kind"], row["event_at"]) == (900, "grid_point", AT)


@pytest.mark.parametrize(
    ("setting", "matrix", "vector"),
    [
        (None, "grid_point", "grid_point"),
        ("samples=raw", None, None),
        ("step=15s scrape_interval=30s", None, "grid_point"),
        ("step=1m scrape_interval=60s", None, "grid_point"),
        ("step=500ms scrape_interval=1s", None, "grid_point"),
    ],
)
def test_only_the_exports_setting_makes_readings_of_them(
    setting: str | None, matrix: str | None, vector: str | None
) -> None:
    for text, kind in ((MATRIX, matrix), (answer([1773129700.123, "1"], kind="vector"), vector)):
        found = samples_of(text, record_format=setting)
        assert {row["sample_kind"] for row in found} - {"stale"} == {kind}


@pytest.mark.parametrize(
    "setting", ["step=1h scrape_interval=30s", "step=61s scrape_interval=1m", "raw", "step=0s", ""]
)
def test_a_setting_that_allows_no_readings_refuses_answers(setting: str) -> None:
    assert fate(MATRIX, record_format=setting) == "record_format"
    assert fate(line(RECEIVED, 1, MS), record_format=setting) == "accepted"


def test_a_series_of_an_answer_is_a_record() -> None:
    good = [[1773129700.123, "900"]]
    found = read(
        json.dumps(
            {
                "data": {
                    "resultType": "matrix",
                    "result": [
                        {"metric": {"__name__": RECEIVED, **SERIES}, "values": good},
                        {"metric": {"__name__": RECEIVED, **SERIES}, "values": [[1, "-5"]]},
                        {"metric": {"pod": "a"}, "values": good},
                        {"metric": {"__name__": RECEIVED, **SERIES}, "values": [[1, "NaN"]]},
                        {"metric": {"__name__": RECEIVED}, "values": 3},
                    ],
                }
            }
        )
    )
    assert [(r.locator, word(r)) for r in found] == [
        ("line 1 $.data.result[0]", "accepted"),
        ("line 1 $.data.result[1]", "value"),
        ("line 1 $.data.result[2]", "other_metric"),
        ("line 1 $.data.result[3]", "stale"),
        ("line 1 $.data.result[4]", "wrong_type"),
    ]


# -- counters that state peers ---------------------------------------------------------------------

OBI = {
    "dst_address": "203.0.113.9",
    "dst_port": "443",
    "dst_zone": "us-east-1b",
    "iface": "eth0",
    "iface_direction": "egress",
    "instance": "192.0.2.7:8999",
    "job": "obi",
    "k8s_dst_name": "api",
    "k8s_dst_namespace": "web",
    "k8s_dst_type": "Service",
    "k8s_src_name": "train-0",
    "k8s_src_namespace": "ml",
    "k8s_src_node_name": "node-1",
    "k8s_src_owner_name": "train",
    "k8s_src_owner_type": "Job",
    "k8s_src_type": "Pod",
    "obi_ip": "192.0.2.7",
    "src_address": "::ffff:10.0.0.5",
    "src_port": "0",
    "src_zone": "us-east-1a",
    "transport": "tcp",
}


def volume(
    name: str = FLOW, value: Any = "123.3", base: Any = OBI, **labels: Any
) -> dict[str, Any]:
    found = read(line(name, value, MS, base=base, **labels))
    assert found[0].reject is None, found[0].reject
    assert [table for table, _ in found[0].rows] == ["volume_records"]
    return found[0].rows[0][1]


def test_a_flow_of_obi_fills_every_column() -> None:
    assert stated(volume(), "record_id", "series_id") == {
        "start_at": AT,
        "end_at": AT,
        "observer": "obi/192.0.2.7:8999/192.0.2.7",
        "metric": FLOW,
        "interfaces": ["eth0"],
        "flow_direction": "egress",
        "transport": "TCP",
        "source_address": "10.0.0.5",
        "source_namespace": "ml",
        "source_pod_name": "train-0",
        "source_workload": "Job/train",
        "source_node": "node-1",
        "source_zone": "us-east-1a",
        "destination_address": "203.0.113.9",
        "destination_port": 443,
        "destination_namespace": "web",
        "destination_cluster_services": ["web/api"],
        "destination_zone": "us-east-1b",
        "bytes": 123,
        "scaled": "raw",
        "temporality": "cumulative",
        "byte_layer": "frame",
    }


def test_beyla_names_the_same_counter_otherwise() -> None:
    labels = {key: text for key, text in OBI.items() if key != "obi_ip"}
    row = volume("beyla_network_flow_bytes_total", 5, labels | {"beyla_ip": "192.0.2.7"})
    assert (row["observer"], row["bytes"]) == ("obi/192.0.2.7:8999/192.0.2.7", 5)


def test_only_what_is_said_to_be_a_pod_is_one() -> None:
    row = volume(k8s_src_type=None, k8s_dst_type="Node", k8s_dst_name="node-2")
    assert (row["source_pod_name"], row["destination_pod_name"]) == (None, None)
    assert (row["destination_node"], row["destination_cluster_services"]) == ("node-2", None)
    (defaults,) = read(
        line(FLOW, 1, MS, base={"k8s_src_owner_name": "a", "k8s_src_namespace": "ml"})
    )
    assert defaults.rows[0][1]["source_workload"] == "a"


def test_agents_observe_one_series_and_other_ends_are_another() -> None:
    one = volume()
    same = {"obi_ip": "192.0.2.8", "instance": "x", "obi_version": "2", "telemetry_sdk_name": "x",
            "pod": "obi-1", "node": "node-2"}  # fmt: skip
    for key, text in same.items():
        assert volume(**{key: text})["series_id"] == one["series_id"], key
    for key in ("src_zone", "dst_port", "iface", "direction"):
        assert volume(**{key: "7"})["series_id"] != one["series_id"]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({"src_address": "x"}, "src_address"),
        ({"dst_port": "65536"}, "dst_port"),
        ({"k8s_dst_namespace": "A B"}, "dst_namespace"),
        ({"iface": "x" * 65}, "interface"),
    ],
)
def test_an_end_that_is_none_refuses_the_flow(labels: dict[str, str], found: str) -> None:
    assert fate(line(FLOW, 1, MS, base=OBI, **labels)) == found


KUBECOST = {
    "internet": "false",
    "namespace": "ml",
    "pod_name": "train-0",
    "same_region": "true",
    "same_zone": "false",
    "service": "aws-s3",
}


def test_kubecost_states_a_pod_a_service_and_how_far() -> None:
    sent = volume("kubecost_pod_network_egress_bytes_total", 335_188_219, KUBECOST)
    assert stated(sent, "record_id", "series_id") == {
        "start_at": AT,
        "end_at": AT,
        "observer": "test-export",
        "metric": "kubecost_pod_network_egress_bytes_total",
        "flow_direction": "egress",
        "source_namespace": "ml",
        "source_pod_name": "train-0",
        "destination_service": "aws-s3",
        "stated_distance": "cross_zone",
        "bytes": 335_188_219,
        "scaled": "raw",
        "temporality": "cumulative",
        "byte_layer": "packet",
    }
    received = volume("kubecost_pod_network_ingress_bytes_total", 1, KUBECOST)
    assert (received["destination_pod_name"], received["source_service"]) == ("train-0", "aws-s3")
    assert received["flow_direction"] == "ingress"
    assert fate(line("kubecost_pod_network_egress_bytes_total", 1, MS, base={})) == "no_pod"


@pytest.mark.parametrize(
    ("internet", "zone", "region", "distance"),
    [
        ("true", "false", "false", "internet"),
        ("false", "true", "true", "same_zone"),
        ("false", "false", "true", "cross_zone"),
        ("false", "false", "false", "cross_region"),
        ("false", "false", None, None),
        ("false", None, None, None),
        (None, "true", "true", None),
    ],
)
def test_kubecosts_labels_say_how_far_under_both_spellings(
    internet: str | None, zone: str | None, region: str | None, distance: str | None
) -> None:
    name = "kubecost_pod_network_egress_bytes_total"
    base = {"pod_name": "a", "namespace": "ml", "internet": internet}
    new = volume(name, 1, base | {"same_zone": zone, "same_region": region})
    old = volume(name, 1, base | {"sameZone": zone, "sameRegion": region})
    assert new["stated_distance"] == old["stated_distance"] == distance
    assert new["series_id"] == old["series_id"]


# -- broken and hostile ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (RECEIVED + '{pod="a"', "wrong_labels"),
        (RECEIVED + '{pod="a",pod="b"} 1', "wrong_labels"),
        (RECEIVED + '{pod="a\\x"} 1', "wrong_escape"),
        (RECEIVED + "{} x", "wrong_value"),
        (RECEIVED + "{} 1 x", "wrong_time"),
        (RECEIVED + '{pod="a"} 1 1773129700123 1', "trailing_text"),
        ("{} 1", "invalid_json"),
        ("\x00", "no_name"),
        ('{"data":', "invalid_json"),
        ("[1]", "wrong_type"),
        ("[]", "empty"),
        (line(RECEIVED, 1, MS, pod="A"), "pod"),
        (line(RECEIVED, 1, MS, namespace="a b"), "namespace"),
        (line(RECEIVED, 1, MS, node="é"), "node"),
        (line(RECEIVED, 1, MS, interface="\x01"), "interface"),
        (line(RECEIVED, 1, 10**19), "wrong_time"),
    ],
)
def test_a_broken_record_is_refused_with_its_word(text: str, reason: str) -> None:
    assert fate(text) == reason


def test_escapes_in_labels_are_read() -> None:
    assert sample(foo='a\\"b\\\\c\\n', job='x\\"y')["observer"] == 'x"y/192.0.2.7:10250'


def test_a_hostile_line_of_many_labels_is_refused() -> None:
    labels = ",".join(f'l{n}="x"' for n in range(100_000))
    found = read(f"{RECEIVED}{{{labels}}} 1 {MS}\n" + line(RECEIVED, 1, MS))
    assert [word(record) for record in found] == ["wrong_labels", "accepted"]


def test_secrets_in_labels_are_not_kept() -> None:
    url = f"https://user:{SECRET}@example.com"
    text = line(RECEIVED, 1, MS, job=url, image=url, foo=url, prometheus=url)
    text += line(FLOW, 1, MS, base=OBI, src_zone=url, k8s_src_owner_name=url)
    text += line("kubecost_pod_network_egress_bytes_total", 1, MS, base=KUBECOST, service=url)
    text += line(RECEIVED, 1, MS, pod=url) + line(RECEIVED, url, MS)
    found = read(text)
    assert words(found) == {"accepted": 3, "pod": 1, "wrong_value": 1}
    assert SECRET not in written(found)


SCRAPE = seeds.FILES[0]


@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, SCRAPE.count(b"\n") - 1), cuts=CUTS)
def test_damage_of_one_line_changes_no_other(
    index: int, cuts: list[tuple[int, int, bytes]]
) -> None:
    whole = SCRAPE.rstrip(b"\n").split(b"\n")
    broken = list(whole)
    broken[index] = damaged(whole[index], cuts) or b"#"
    if not broken[index].strip():
        broken[index] = b"#"
    records = [
        [RawRecord(f"line {n}", 0, text) for n, text in enumerate(text_lines, 1)]
        for text_lines in (broken, whole)
    ]
    found, clean = (parse(PARSER, record) for record in records)
    if [record.locator for record in found] == [record.locator for record in clean]:
        check_others(found, clean, index)
    check_each(found)


# -- recognition -----------------------------------------------------------------------------------

KUBE = 'kube_pod_info{namespace="ml",pod="a",uid="b"} 1\n'


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (line(), 3),
        ("# HELP up x\n# TYPE up gauge\nup 1\n", 2),
        ('up{job="a"} 1\n', 2),
        ("up 1\n", 0),
        ("# HELP go_x y\n" * 300 + line(), 3),
        (dumped(1, MS), 3),
        ('{"k8s.pod.network.io","direction"="receive"} 1\n', 3),
        (MATRIX, 3),
        (json.dumps(json.loads(MATRIX), indent=2), 3),
        (json.dumps(json.loads(MATRIX)["data"]["result"]), 3),
        (answer([1, "1"], kind="vector", name="up"), 2),
        (answer(), 2),
        ('{"status":"success","data":{"resultType":"streams","result":[]}}', 0),
        ('{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}', 0),
        (KUBE, 1),
        ("# TYPE kube_pod_info gauge\n" + KUBE, 1),
        (answer([1, "1"], kind="vector", name="kube_pod_info"), 1),
        ("2026-03-10 INFO x{a=1} 3\nfoo bar\n", 0),
        ("", 0),
    ],
)
def test_a_head_is_judged_by_its_form_and_names(text: str, score: int) -> None:
    assert PARSER.recognise(text.encode()).score == score


def test_states_of_pods_stay_with_kube_state_metrics_and_both_together_are_asked_for() -> None:
    def scores(text: str) -> tuple[int, int]:
        data = text.encode()
        return PARSER.recognise(data).score, KUBE_STATE_METRICS.recognise(data).score

    assert scores(KUBE) == (1, 3)
    assert scores("# HELP go_x y\ngo_x 1\n" + KUBE) == (2, 3)
    assert scores(line() + KUBE) == (3, 3)
    assert scores(line()) == (3, 1)
    # Each format reads its part of such a file.
    found = read(line(RECEIVED, 1, MS) + KUBE)
    assert words(found) == {"accepted": 1, "other_metric": 1}


def test_otlp_is_not_ours() -> None:
    assert OTLP.recognise(SCRAPE).score == 0
    assert PARSER.recognise(b'{"resourceMetrics":[]}').score == 0


# -- real files ------------------------------------------------------------------------------------


@pytest.mark.samples
def test_real_metrics_of_cadvisor(samples: Path) -> None:
    path = samples / "counters" / "cadvisor_container_network.prom"
    assert words(parse_file(PARSER, path)) == {
        "comment": 28, "other_metric": 135, "no_pod": 2, "counter_start": 1,
    }  # fmt: skip
    assert PARSER.recognise(head(path)).score == 3
    issue = parse_file(PARSER, samples / "counters" / "cadvisor_issue_samples.prom", node="node-1")
    assert words(issue) == {"comment": 1, "other_metric": 2, "accepted": 2}
    found = rows(issue, "counter_samples")
    assert [
        (r["interface"], r["value"], r["event_at"], r["node"], r["pod_name"]) for r in found
    ] == [
        (
            "cali4b582af34b2",
            27_382_759_192,
            datetime(2022, 10, 12, 6, 15, 20, 87_000, tzinfo=UTC),
            "node-1",
            None,
        ),
        (
            "cali9399a8b58c4",
            173_172_021_942,
            datetime(2022, 10, 12, 6, 15, 20, 87_000, tzinfo=UTC),
            "node-1",
            None,
        ),
    ]


@pytest.mark.samples
def test_real_labels_of_a_pod_on_bytes(samples: Path) -> None:
    """The real row of an issue counts packets; its labels are those of bytes, too."""
    path = samples / "counters" / "cadvisor_issue_samples.prom"
    text = path.read_text().splitlines()[2].replace("_packets_total", "_bytes_total")
    (row,) = samples_of(text + f" {MS}\n")
    assert stated(row, "record_id", "series_id") == {
        "observer": "cadvisor/192.168.0.100:4194",
        "metric": RECEIVED,
        "node": "worker-644d7bdb55-xcrhj",
        "namespace": "monitoring",
        "pod_name": "node-exporter-nnbtg",
        "pod_uid": UID,
        "interface": "cali248950e0d8c",
        "direction": "receive",
        "temporality": "cumulative",
        "byte_layer": "frame",
        "value": 240_008,
        "event_at": AT,
    }


@pytest.mark.samples
def test_real_dumps_of_promtool_are_read_whole(samples: Path) -> None:
    """Their names are of nothing that counts bytes; under such a name each line is a reading."""
    folder = samples / "counters"
    text = (folder / "prometheus_promtool_dump-openmetrics.prom").read_text()
    found = samples_of(text.replace("my_counter{", 'node_network_receive_bytes_total{node="n",'))
    assert [row["value"] for row in found] == [1, 2, 3, 4, 5]
    assert [row["event_at"].minute for row in found] == [0, 1, 2, 3, 4]
    # 60,000 milliseconds of 1970 may as well be seconds.
    assert words(parse_file(PARSER, folder / "prometheus_promtool_tsdb-dump.prom")) == {
        "other_metric": 3,
        "wrong_time": 12,
    }
    matrix = (folder / "prometheus_query_range_matrix.json").read_text()
    renamed = matrix.replace('"up"', '"node_network_receive_bytes_total"')
    (one,) = parse(PARSER, [RawRecord("$", 0, matrix.encode())])[:1]
    assert word(one) == "other_metric"
    found = rows(parse(PARSER, [RawRecord("$", 0, renamed.encode())]), "counter_samples")
    assert [row["value"] for row in found] == [1, 1, 1, 0, 0, 1]
    assert {row["sample_kind"] for row in found} == {"grid_point"}
    assert found[0]["event_at"] == datetime(2015, 7, 1, 20, 10, 30, 781_000, tzinfo=UTC)

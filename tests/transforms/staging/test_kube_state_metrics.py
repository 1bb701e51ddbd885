import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.landing.readers import head
from tests.transforms.staging.export_text import (
    CUTS,
    check_each,
    check_rows,
    damaged,
    parse,
    rows,
    stated,
    word,
    words,
    written,
)
from tests.transforms.staging.kube_state_series import (
    POD,
    Value,
    container,
    info,
    matrix,
    otlp,
    phase,
    running,
    seconds,
    series,
    text,
    vector,
)
from tests.transforms.staging.kubernetes_objects import (
    DIGEST,
    POD_UID,
    RUN,
    document,
    instant,
    mutations,
)
from transforms.staging.kube_state_metrics import PARSER
from transforms.staging.otlp import PARSER as OTLP
from transforms.staging.parser import Parsed, RawRecord

SECRET = "planted-hunter2-EXAMPLE"
AT = instant("06:30:00")
CREATED = series("created", seconds("06:00:00"))
HEADERS = (
    "# TYPE kube_pod_container_resource_requests gauge\n"
    "# TYPE kube_pod_init_container_resource_requests gauge\n"
)


def read(value: str | Any, **context: Any) -> list[Parsed]:
    """What became of a text, or of a JSON document."""
    records = value if isinstance(value, str) else document(value)
    found = parse(PARSER, records, **context)
    check_each(found)
    check_rows(found)
    return found


def states(value: str | Any, **context: Any) -> list[dict[str, Any]]:
    """States of pods that a file gives."""
    return rows(read(value, **context), "pod_states")


# -- one look ------------------------------------------------------------------------------------


def test_a_scrape_gives_every_column_of_a_pod() -> None:
    found = read(text(running()), path_at=AT)
    assert words(found) == {"partial": len(running()) - 1, "accepted": 1}
    state = stated(rows(found, "pod_states")[0], "record_id", "declared_accesses")
    assert state == {
        "observed_at": AT,
        "observed_basis": "path",
        "namespace": "ml",
        "pod_name": POD,
        "pod_uid": POD_UID,
        "node": "node-1",
        "addresses": ["192.0.2.7", "2001:db8::7"],
        "host_addresses": ["198.51.100.7"],
        "host_network": False,
        "labels": [
            {"name": "app.kubernetes.io/component", "value": "polyaxon-jobs"},
            {"name": "app.kubernetes.io/instance", "value": RUN},
            {"name": "app.kubernetes.io/managed-by", "value": "polyaxon"},
            {"name": "operation.polyaxon.com/uuid", "value": RUN},
        ],
        "owner_kind": "Job",
        "owner_name": f"plx-operation-{RUN}",
        "service_account": "ml-runs",
        "phase": "Running",
        "conditions": [
            {"type": type_, "status": "True", "reason": None, "message": None, "transition_at": at}
            for type_, at in (
                ("PodScheduled", instant("06:00:01")),
                ("Ready", instant("06:00:21")),
            )
        ],
        "created_at": instant("06:00:00"),
        "scheduled_at": instant("06:00:01"),
        "start_time_at": instant("06:00:02"),
        "first_started_at": instant("06:00:20"),
        "is_deleted": False,
        "run_uuid": RUN,
        "run_match_kind": "label",
        "run_component": "polyaxon-jobs",
        "gpu_count": 2,
    }
    accesses = rows(found, "pod_states")[0]["declared_accesses"]
    assert [a["resource_id"] for a in accesses] == ["oci://registry.example.com/ml/train:1.4"]


def test_a_scrape_gives_every_column_of_a_container() -> None:
    found = read(text(running()), path_at=AT)
    assert stated(rows(found, "container_states")[0], "record_id") == {
        "observed_at": AT,
        "namespace": "ml",
        "pod_name": POD,
        "pod_uid": POD_UID,
        "node": "node-1",
        "container": "polyaxon-main",
        "container_role": "main",
        "image": "registry.example.com/ml/train:1.4",
        "image_digest": DIGEST,
        "container_id": "c0",
        "state": "running",
        "started_at": instant("06:00:20"),
        "restart_count": 2,
        "last_reason": "OOMKilled",
        "last_exit_code": 137,
        "last_finished_at": instant("06:00:15"),
        "requests": [{"name": "cpu", "value": "0.5"}, {"name": "nvidia.com/gpu", "value": "2"}],
        "limits": [{"name": "nvidia.com/gpu", "value": "2"}],
    }


def test_the_same_series_give_the_same_state_however_they_are_exported() -> None:
    left_out = ("record_id", "observed_basis")
    expected = stated(states(text(running()), path_at=AT)[0], *left_out)
    stamp = str(round(AT.timestamp()))
    openmetrics = "# TYPE kube_pod_info info\n" + text(running(), stamp) + "# EOF\n"
    dump = "".join(
        f'{{__name__="{line.partition("{")[0]}",{line.partition("{")[2]}'
        for line in text(running(), f"{stamp}000").splitlines(keepends=True)
    )
    exports: list[Any] = [
        text(running(), f"{stamp}000"),
        text(running(), f"{stamp}.000"),
        openmetrics,
        dump,
        vector(running(), AT),
        vector(running(), AT)["data"]["result"],
        matrix((AT, running())),
        otlp(running(), AT),
        json.dumps(vector(running(), AT)) + "\n",
        json.dumps(otlp(running()[:6], AT)) + "\n" + json.dumps(otlp(running()[6:], AT)),
    ]
    for export in exports:
        (state,) = states(export, path_at=instant("09:00:00"))
        assert (state["observed_at"], state["observed_basis"]) == (AT, "record")
        assert stated(state, *left_out) == expected


def test_a_text_that_begins_with_a_brace_is_read_by_lines() -> None:
    line = '{__name__="kube_pod_created",namespace="ml",pod="a",uid="b"} 1 1773124200000\n'
    found = parse(PARSER, [RawRecord("$", 0, f"\n{line}{line}x".encode())])
    assert [(r.locator, r.offset) for r in found] == [
        ("line 3", 1 + len(line)),
        ("line 4", 1 + 2 * len(line)),
        ("line 2", 1),
    ]
    assert [word(record) for record in found] == ["partial", "no_value", "no_info"]


def test_a_pod_is_located_where_it_is_first_told_of() -> None:
    other = [
        Value(
            v.name, v.labels | {"uid": "99999999-2222-4333-8444-555555555555", "pod": "b"}, v.value
        )
        for v in (info(), CREATED)
    ]
    lines = text([info(), *other, CREATED])
    found = read(lines)
    assert [(r.locator, r.offset) for r in found[2:]] == [
        ("line 1", 0),
        ("line 2", len(text([info()]))),
    ]
    assert [s["pod_name"] for s in rows(found, "pod_states")] == [POD, "b"]


def test_labels_that_prometheus_renamed_are_those_of_the_series() -> None:
    renamed = [
        Value(
            v.name,
            {f"exported_{k}" if k in {"namespace", "pod"} else k: x for k, x in v.labels.items()}
            | {"namespace": "monitoring", "pod": "kube-state-metrics-0", "job": "ksm"},
            v.value,
        )
        for v in (info(), CREATED)
    ]
    (state,) = states(text(renamed))
    assert (state["namespace"], state["pod_name"]) == ("ml", POD)


@pytest.mark.parametrize(
    ("values", "gpus"),
    [
        ([info(), CREATED], None),
        ([info(), CREATED, *container()], 2),
        # Ends first, and so runs beside none of the others.
        ([info(), CREATED, *container("init", "init_container"), *container()], 2),
        ([info(), CREATED, *container("a"), *container("b")], 4),
        ([info(), CREATED,
          series("container_resource_requests", 3, container="a", resource="nvidia_com_mig_1g")],
         3),
    ],
)  # fmt: skip
def test_gpus_are_those_that_are_requested(values: list[Value], gpus: int | None) -> None:
    assert states(text(values))[0]["gpu_count"] == gpus


def test_no_gpu_is_known_only_where_the_whole_family_is_exported() -> None:
    values = [info(), CREATED, *container()[:2]]
    assert states(HEADERS + text(values))[0]["gpu_count"] == 0
    assert states(text(values))[0]["gpu_count"] is None
    assert states(HEADERS.splitlines()[0] + "\n" + text(values))[0]["gpu_count"] is None
    # What Prometheus kept may be a part of it.
    assert states(HEADERS + text(values, "1773124200000"))[0]["gpu_count"] is None


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, False),
        ({"host_network": "true", "pod_ip": "198.51.100.7"}, True),
        ({"host_network": "", "pod_ip": "198.51.100.7"}, True),
        ({"host_network": ""}, False),
    ],
)
def test_a_pod_shares_its_nodes_network_or_not(labels: dict[str, str], expected: bool) -> None:
    assert states(text([info(**labels), CREATED]))[0]["host_network"] is expected


def test_a_pod_without_owner_node_and_address_has_none() -> None:
    alone = info(node="", pod_ip="", host_ip="", created_by_kind="<none>", created_by_name="<none>")
    state = states(text([alone, CREATED]))[0]
    names = ("node", "addresses", "host_addresses", "owner_kind", "owner_name", "phase", "labels")
    assert [state[name] for name in names] == [None] * 7


@pytest.mark.parametrize(
    ("name", "group", "policy", "role"),
    [
        ("polyaxon-main", "container", "", "main"),
        ("polyaxon-sidecar", "container", "", "sidecar"),
        ("other", "container", "", "main"),
        ("polyaxon-init-auth", "init_container", "", "init"),
        ("proxy", "init_container", "Always", "sidecar"),
    ],
)
def test_a_container_has_a_role(name: str, group: str, policy: str, role: str) -> None:
    told = series(f"{group}_info", container=name, restart_policy=policy)
    found = read(text([info(), CREATED, told]))
    assert [c["container_role"] for c in rows(found, "container_states")] == [role]


def test_beside_a_known_main_container_the_others_are_sidecars() -> None:
    found = read(text([info(), CREATED, *container("other"), *container()]))
    roles = {c["container"]: c["container_role"] for c in rows(found, "container_states")}
    assert roles == {"other": "sidecar", "polyaxon-main": "main"}


@pytest.mark.parametrize(
    ("values", "state", "reason"),
    [
        ([series("container_status_waiting", container="a"),
          series("container_status_waiting_reason", container="a", reason="ImagePullBackOff"),
          series("container_status_terminated_reason", 0, container="a", reason="Error")],
         "waiting", "ImagePullBackOff"),
        ([series("container_status_terminated", container="a"),
          series("container_status_terminated_reason", 0, container="a", reason="Completed"),
          series("container_status_terminated_reason", container="a", reason="Error")],
         "terminated", "Error"),
        ([series("container_status_running", container="a"),
          series("container_status_waiting", container="a")], "unknown", None),
        ([series("container_status_running", 0, container="a")], "unknown", None),
    ],
)  # fmt: skip
def test_a_container_does_what_its_flags_say(
    values: list[Value], state: str, reason: str | None
) -> None:
    (found,) = rows(read(text([info(), CREATED, *values])), "container_states")
    assert (found["state"], found["reason"]) == (state, reason)


def test_what_is_not_of_a_pod_is_ignored() -> None:
    lines = (
        'kube_node_info{node="a"} 1\nkube_pod_status_ready{namespace="ml",pod="a",uid="b"} 1\n'
        "up 1\n# HELP up x\nkube_pod_init_info 1\n# EOF\n"
    )
    found = read(lines)
    assert words(found) == {"other_metric": 4, "comment": 2}
    assert words(read({"status": "success", "data": {"result": []}})) == {"empty": 1}


# -- looks over time -----------------------------------------------------------------------------


def look(clock: str, *values: Value | list[Value]) -> tuple[datetime, list[Value]]:
    """What was seen at a time."""
    flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
    return instant(clock), flat


def test_a_matrix_gives_the_first_and_last_sample_of_each_span() -> None:
    pending = info(pod_ip="", host_ip="", node="")
    looks = [
        look("06:00:30", pending, CREATED, phase("Pending")),
        *(look(f"06:{m:02d}:30", info(), CREATED, phase("Running")) for m in range(1, 40)),
        look("06:40:30", info(), CREATED, phase("Succeeded"),
             series("completion_time", seconds("06:40:10"))),
        look("06:41:30", info(), CREATED, phase("Succeeded"),
             series("completion_time", seconds("06:40:10"))),
    ]  # fmt: skip
    found = read(matrix(*looks))
    seen = [
        (s["observed_at"], s["phase"], s["addresses"], s["node"], s["last_finished_at"])
        for s in rows(found, "pod_states")
    ]
    address, finish = ["192.0.2.7"], instant("06:40:10")
    assert seen == [
        (instant("06:00:30"), "Pending", None, None, None),
        (instant("06:01:30"), "Running", address, "node-1", None),
        (instant("06:39:30"), "Running", address, "node-1", None),
        (instant("06:40:30"), "Succeeded", address, "node-1", finish),
        (instant("06:41:30"), "Succeeded", address, "node-1", finish),
    ]
    assert len({values["record_id"] for r in found for _, values in r.rows}) == 1


def test_instants_some_seconds_apart_are_one_look() -> None:
    first, second = vector([info()], AT), vector([CREATED], AT + timedelta(seconds=2))
    found = states(json.dumps(first) + "\n" + json.dumps(second))
    assert [(s["observed_at"], s["addresses"]) for s in found] == [
        (AT, ["192.0.2.7"]),
        (AT + timedelta(seconds=2), ["192.0.2.7"]),
    ]


def test_a_sample_counts_for_five_minutes() -> None:
    looks = [
        look("06:00:30", info(), CREATED, phase("Running")),
        look("06:05:30", CREATED),
        look("06:05:31", CREATED),
    ]
    found = [(s["observed_at"], s["phase"], s["addresses"]) for s in states(matrix(*looks))]
    assert found == [
        (instant("06:00:30"), "Running", ["192.0.2.7"]),
        (instant("06:05:31"), None, None),
    ]


def test_an_end_is_not_known_before_it_was_seen() -> None:
    deletion = series("deletion_timestamp", seconds("06:10:00"))
    looks = [
        look("06:01:00", info(), CREATED, phase("Running")),
        look("06:09:40", info(), CREATED, phase("Running"), deletion),
        look("06:09:55", info(), CREATED, phase("Running"), deletion),
    ]
    assert [s["deletion_at"] for s in states(matrix(*looks))] == [
        None,
        instant("06:10:00"),
        instant("06:10:00"),
    ]


def test_an_address_that_is_replaced_is_gone() -> None:
    looks = [
        look("06:01:00", info(), series("ips", ip="192.0.2.7"), CREATED),
        look("06:02:00", info(pod_ip="192.0.2.9"), series("ips", ip="192.0.2.9"), CREATED),
    ]
    assert [s["addresses"] for s in states(matrix(*looks))] == [["192.0.2.7"], ["192.0.2.9"]]


def test_samples_out_of_order_give_the_same_states() -> None:
    looks = [
        look(f"06:{m:02d}:00", info(), CREATED, phase("Pending" if m < 5 else "Running"))
        for m in range(10)
    ]
    expected = states(matrix(*looks))
    assert len(expected) == 4
    backwards = "\n".join(json.dumps(vector(values, at)) for at, values in reversed(looks))
    assert [stated(s, "record_id") for s in states(backwards)] == [
        stated(s, "record_id") for s in expected
    ]


def test_stale_markers_are_ignored() -> None:
    value = matrix((AT, [info(), CREATED]))
    value["data"]["result"][0]["values"].append([AT.timestamp() + 60, "NaN"])
    value["data"]["result"].append(
        {"metric": value["data"]["result"][0]["metric"], "values": [[AT.timestamp(), "NaN"]]}
    )
    found = read(value)
    assert words(found) == {"partial": 1, "stale": 1, "accepted": 1}
    flagged = otlp([info()], AT)
    flagged["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["gauge"]["dataPoints"][0][
        "flags"
    ] = 1
    assert words(read(flagged)) == {"stale": 1}


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (text([CREATED]), "no_info: expected the pod's kube_pod_info, got none"),
        (text([info()]), "no_time: expected the pod's kube_pod_created, got none"),
        (text([info(host_network="", pod_ip=""), CREATED]),
         "no_host_network: expected the label host_network of kube_pod_info, got none"),
        (text([info(pod_ip="here"), CREATED]),
         "wrong_address: expected an IP address, got other text at pod_ip"),
        (text([info(), CREATED, series("container_resource_requests", 0.5, container="a",
                                       resource="nvidia_com_gpu")]),
         "wrong_quantity: expected a whole number of GPUs, got another at requests"),
        ('kube_pod_created{namespace="ml",pod="a"} 1\n',
         "no_uid: expected labels namespace, pod and uid (before 2.0 there is no uid)"),
        (text([series("container_info")]), "no_container: expected a label container"),
        (text([info()._replace(value=2)]), "wrong_value: expected 1 or 0"),
        (text([series("created", -1)]),
         "wrong_time: expected seconds from 1970 to the year 9999"),
        (text([series("created", 1e12)]),
         "wrong_time: expected seconds from 1970 to the year 9999"),
        (text([series("container_status_restarts_total", -1, container="a")]),
         "wrong_value: expected an amount from 0"),
        ("kube_pod_created{ 1\n",
         "wrong_labels: expected labels and a closing brace, got other text"),
        ('{"resourceMetrics":[{"scopeMetrics":5}]}',
         "wrong_type: expected array | null, got int at $.resourceMetrics[0].scopeMetrics"),
        (json.dumps(otlp([info()], datetime(1970, 1, 1, tzinfo=UTC))),
         "no_time: expected timeUnixNano, got none"),
        ('{"status":"error","error":"timeout"}',
         "no_result: expected the result of a query, got an error"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_its_reason(lines: str, reason: str) -> None:
    assert [record.reject for record in read(lines) if record.reject] == [reason]


def test_a_broken_line_takes_only_its_fact() -> None:
    lines = text([info(), CREATED, series("start_time", 5)]).replace(" 5\n", " x\n")
    found = read(lines)
    assert [word(record) for record in found] == ["partial", "wrong_value", "accepted"]
    assert rows(found, "pod_states")[0]["start_time_at"] is None


def test_a_series_is_taken_whole_or_not_at_all() -> None:
    value = matrix((AT, [CREATED, info()]), (AT + timedelta(minutes=1), [CREATED, info()]))
    value["data"]["result"][1]["values"][1][1] = "2"
    found = read(value)
    assert [word(record) for record in found] == ["wrong_value", "no_info"]
    assert [record.locator for record in found] == ["$.data.result[1]", "$.data.result[0]"]


def test_two_values_of_a_series_need_times() -> None:
    found = read(text([info(), CREATED, *phase("Running"), *phase("Pending"), info()]))
    refused = Counter(record.reject for record in found if record.reject)
    assert refused == {"no_time: expected a time where a series has two values": 2}


def test_a_file_of_two_clusters_is_refused_in_part() -> None:
    def of(cluster: str, value: Value, uid: str) -> Value:
        return Value(value.name, value.labels | {"cluster": cluster, "uid": uid}, value.value)

    values = [of(c, v, u) for c, u in (("alder", "a"), ("birch", "b")) for v in (info(), CREATED)]
    found = read(text(values))
    assert words(found) == {"partial": 1, "wrong_cluster": 2, "accepted": 1}


def test_a_pod_of_more_changes_than_can_be_true_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transforms.staging.kube_state_pods.MAX_WORK", 15)
    looks = [look(f"06:0{m}:00", phase("Running" if m % 2 else "Pending")) for m in range(4)]
    found = read(matrix(*looks))
    assert found[-1].reject == (
        "too_large: expected at most 15 changes times series of a pod, got more"
    )


@pytest.mark.parametrize(
    ("value", "created"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1.7731224e9, instant("06:00:00")),
        (1773122400.125, instant("06:00:00").replace(microsecond=125_000)),
        (253402300799, datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_times_are_seconds_since_1970(value: float, created: datetime) -> None:
    lines = text([info(), series("created", value)], "253402300799.000")
    assert states(lines)[0]["created_at"] == created


# -- what must not come out ----------------------------------------------------------------------


def test_no_secret_is_stored_or_shown() -> None:
    values = [
        info(created_by_name=f"password={SECRET}"),
        CREATED,
        series("labels", label_team=SECRET, label_app_kubernetes_io_version=f"token={SECRET}"),
        series("container_info", container="a", image_spec=f"https://u:{SECRET}@example.com/x"),
        series("annotations", annotation_note=SECRET),
    ]
    for export in (text(values), vector(values, AT), otlp(values, AT)):
        found = read(export)
        assert "hunter2" not in written(found)
        assert words(found)["accepted"] == 1


# -- laws ----------------------------------------------------------------------------------------


def test_a_part_of_another_type_is_a_reject_or_another_value_and_never_an_error() -> None:
    few = [info(), CREATED, series("container_info", container="a")]
    for value in (vector(few, AT), otlp(few, AT)):
        found: list[Parsed] = []
        for changed in mutations(value):
            line = json.dumps(changed).encode()
            PARSER.recognise(line)
            found += parse(PARSER, [RawRecord("line 1", 0, line)])
        check_each(found)
        check_rows(found)


@given(st.data())
def test_any_bytes_are_answered(data: st.DataObject) -> None:
    lines = text([info(), CREATED, *phase("Running")]).encode()
    start = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    broken = lines[:start] + data.draw(st.binary(max_size=6)) + lines[end:]
    raws = [
        RawRecord(f"line {n}", 0, line) for n, line in enumerate(broken.split(b"\n"), 1) if line
    ]
    found = parse(PARSER, raws)
    check_each(found)
    check_rows(found)
    PARSER.recognise(broken)


@given(st.integers(0, len(running()) - 1), CUTS)
def test_a_damaged_line_of_one_pod_takes_nothing_from_another(at: int, cuts: Any) -> None:
    uid = "99999999-2222-4333-8444-555555555555"
    other = [Value(v.name, v.labels | {"uid": uid, "pod": "b"}, v.value) for v in running()]
    lines = text(running()).encode().splitlines()
    lines[at] = damaged(lines[at], cuts)
    found = parse(PARSER, b"\n".join([*lines, *text(other).encode().splitlines()]), path_at=AT)
    check_each(found)
    (theirs,) = [s for s in rows(found, "pod_states") if s["pod_uid"] == uid]
    (expected,) = rows(parse(PARSER, text(other), path_at=AT), "pod_states")
    assert theirs == expected


@settings(max_examples=20)
@given(st.permutations(range(len(running()))))
def test_the_order_of_lines_has_no_say(order: list[int]) -> None:
    values = running()
    expected = states(text(values), path_at=AT)
    assert states(text(values[n] for n in order), path_at=AT) == expected


# -- recognition ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("export", "score"),
    [
        (text(running()), 3),
        ("# HELP kube_configmap_info x\n# TYPE kube_configmap_info gauge\n", 3),
        ("# HELP go_gc_seconds x\ngo_gc_seconds 1\n" + text([info()]), 3),
        ("# HELP kube_x_info x\nkube_node_info 1\nup 1\n", 0),
        ('{__name__="kube_pod_info",a="b"} 1 1773124200000\n', 3),
        ('{"kube_pod_info",a="b"} 1\n', 3),
        ("up 1\n", 0),
        ("kubelet_running_pods 1\n", 0),
        # Pods may follow.
        ('container_memory_rss{pod="a"} 1\n', 1),
        ("apiVersion: v1\nkind: Pod\n", 0),
        (json.dumps(vector(running(), AT)), 3),
        (json.dumps(matrix((AT, running())), indent=2), 3),
        (json.dumps(vector(running(), AT)["data"]["result"]), 3),
        (json.dumps(vector([Value("kube_node_info", {}, 1)], AT)), 2),
        (json.dumps(vector([Value("up", {}, 1)], AT)), 0),
        (json.dumps(otlp(running(), AT)), 3),
        (json.dumps(otlp([Value("k8s.pod.network.io", {}, 1)], AT)), 0),
        ("[]", 0),
        ("{}", 0),
    ],
)
def test_a_head_is_judged_by_the_names_in_it(export: str, score: int) -> None:
    assert PARSER.recognise(export.encode()).score == score


def test_otlp_metrics_are_of_one_format() -> None:
    ours = json.dumps(otlp(running(), AT)).encode()
    theirs = json.dumps(otlp([Value("k8s.pod.network.io", {}, 1)], AT)).encode()
    assert OTLP.recognise(ours).score == 1
    assert OTLP.recognise(theirs).score == 3


@pytest.mark.samples
def test_real_metrics_of_others_are_not_recognised(samples: Path) -> None:
    for path in sorted((samples / "counters").iterdir()):
        assert PARSER.recognise(head(path)).score <= (path.suffix == ".prom"), path.name

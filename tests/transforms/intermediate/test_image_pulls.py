"""Which images a node pulled for which containers."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay, ClusterFacts
from transforms.intermediate.image_pulls import build
from transforms.sql import SqlSession

CLUSTERS = (ClusterFacts("alder", region="us-east-1"),)
POD = "aaaaaaaa-0000-0000-0000-00000000000a"
RUN = "0123456789abcdef0123456789abcdef"
NEXT = DAY + timedelta(days=1)
IMAGE = "registry.example.com/ml/train:1"
NAME = f'image "{IMAGE}"'
DONE = f"Successfully pulled {NAME} in 12s (14s including waiting). Image size: 1000 bytes."


def event(
    reason: str,
    message: str,
    first: datetime,
    last: datetime | None = None,
    count: int = 1,
    **more: Any,
) -> dict[str, Any]:
    last = last or first
    return {
        "cluster": "alder",
        "namespace": "ml",
        "involved_kind": "Pod",
        "involved_name": "pod-a",
        "involved_uid": POD,
        "container": "polyaxon-main",
        "node": "node-a",
        "event_uid": f"{reason}/{message}/{first}",
        "event_name": f"{reason}/{message}/{first}",
        "record_id": f"{reason}/{message}/{first}/{last}/{count}",
        "reason": reason,
        "message": message,
        "first_at": first,
        "last_at": last,
        "event_at": last,
        "observed_at": last,
        "event_count": count,
    } | more


def pulling(first: datetime, last: datetime | None = None, count: int = 1, **more: Any) -> dict:
    return event("Pulling", f"Pulling {NAME}", first, last, count, **more)


def pulled(first: datetime, last: datetime | None = None, count: int = 1, **more: Any) -> dict:
    return event("Pulled", more.pop("message", DONE), first, last, count, **more)


def present(first: datetime, **more: Any) -> dict:
    return event("Pulled", f"Container {NAME} already present on machine", first, **more)


def failed(first: datetime, last: datetime | None = None, count: int = 1, **more: Any) -> dict:
    message = more.pop("message", f"Failed to pull {NAME}: rpc error: not found")
    return event("Failed", message, first, last, count, **more)


def pod(**more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "namespace": "ml",
        "pod_name": "pod-a",
        "pod_uid": POD,
        "start_at": at("08:00"),
        "created_at": at("08:00"),
        "node": "node-a",
        "run_uuid": RUN,
        "attempt": 2,
    } | more


def built(
    events: Iterable[dict[str, Any]],
    *,
    containers: Iterable[dict[str, Any]] = (),
    pods: Iterable[dict[str, Any]] | None = None,
    day: date = DAY,
    nodes: Iterable[dict[str, Any]] = (),
    runtime: Iterable[dict[str, Any]] = (),
    requests: Iterable[dict[str, Any]] = (),
) -> pl.DataFrame:
    shown = [p | {"date": day} for p in ([pod()] if pods is None else pods)]
    with SqlSession(threads=1) as session:
        show(
            session,
            kube_event_states=events,
            container_states=containers,
            pod_intervals=shown,
            node_states=nodes,
            image_pull_logs=runtime,
            registry_requests=requests,
        )
        name = build(session, BuildDay(day, "alder", clusters=CLUSTERS))
        return checked(session, "image_pulls", name)


def spans(rows: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return rows.sort("start_at").select("start_at", "end_at", *columns).rows()


def test_a_pull_runs_from_its_pulling_to_its_pulled_event():
    rows = built([pulling(at("10:00")), pulled(at("10:00:14"))])
    assert rows.height == 1
    assert rows.drop("image_pull_id").to_dicts()[0] == {
        "cluster": "alder",
        "namespace": "ml",
        "pod_name": "pod-a",
        "node": "node-a",
        "pod_uid": POD,
        "container": "polyaxon-main",
        "start_at": at("10:00"),
        "run_uuid": RUN,
        "attempt": 2,
        "image": IMAGE,
        "image_digest": None,
        "registry": "registry.example.com",
        "end_at": at("10:00:14"),
        "pulling_seconds": 12.0,
        "waiting_seconds": 2.0,
        "image_bytes": 1000,
        "min_transferred_bytes": 0,
        "max_transferred_bytes": 1000,
        "shared_bytes": None,
        "fetched_blob_count": None,
        "measured_by": "image_size",
        "was_present": False,
        "attempt_count": 1,
        "error": None,
        "error_count": 0,
        "reader_zone": None,
        "reader_region": "us-east-1",
    }


FORMS = (
    ("", None, None, None),
    (" in 4.783086211s", 4.783086, None, None),
    (" in 2.3s (1m2.3s including waiting)", 2.3, 60.0, None),
    (" in 284ms (1.284s including waiting). Image size: 3810510 bytes.", 0.284, 1.0, 3810510),
    (" in 1m21.284220239s (1h2m3.004s including waiting)", 81.28422, 3641.71978, None),
    (" in 12µs (12µs including waiting)", 0.000012, 0.0, None),
    (" in 999ns", 0.0, None, None),
    (" in 2m40s", 160.0, None, None),
    (f" in 1..5s (x including waiting). Image size: {10**30} bytes.", None, None, None),
    (" in 99999999999999999999999s", None, None, None),
)


def test_the_forms_of_a_pulled_message_are_read():
    events = []
    for n, (words, *_) in enumerate(FORMS):
        named = {"container": f"c{n}"}
        message = f"Successfully pulled {NAME}{words}"
        events += [pulling(at("10:00"), **named), pulled(at("12:00"), message=message, **named)]
    rows = built(events).sort("container")
    columns = ("pulling_seconds", "waiting_seconds", "image_bytes", "max_transferred_bytes")
    assert rows.select(columns).rows() == [
        (took, waited, size, size) for _, took, waited, size in FORMS
    ]


@pytest.mark.parametrize("tail", ["", " and can be accessed by the pod"])
def test_an_image_that_was_present_moved_no_bytes(tail: str):
    message = f"Container {NAME} already present on machine{tail}"
    rows = built([event("Pulled", message, at("10:00"))])
    assert spans(rows, "was_present", "min_transferred_bytes", "max_transferred_bytes") == [
        (at("10:00"), at("10:00"), True, 0, 0)
    ]
    assert rows["attempt_count"].to_list() == [0]


def test_a_pull_that_fails_and_then_succeeds_is_one_pull_of_unbounded_bytes():
    rows = built(
        [
            pulling(at("10:00"), at("10:01:21"), 4),
            failed(at("10:00:01"), at("10:00:50"), 2),
            failed(at("10:00:20"), message=f"Failed to pull {NAME}: rpc error: TLS time-out"),
            failed(at("10:00:01"), at("10:00:50"), 3, message="Error: ErrImagePull"),
            failed(at("10:00:02"), at("10:01:10"), 5, message="Error: ImagePullBackOff"),
            event("BackOff", f"Back-off pulling {NAME}", at("10:00:02"), at("10:01:10"), 5),
            pulled(at("10:01:35")),
        ]
    )
    columns = ("attempt_count", "error_count", "error", "max_transferred_bytes", "image_bytes")
    assert spans(rows, *columns) == [
        (at("10:00"), at("10:01:35"), 4, 3, "rpc error: not found", None, 1000)
    ]


def test_a_pull_that_never_succeeds_has_no_end():
    rows = built([pulling(at("10:00"), at("10:05"), 3), failed(at("10:00:01"), at("10:05:01"), 3)])
    columns = ("attempt_count", "error_count", "was_present", "max_transferred_bytes")
    assert spans(rows, *columns) == [(at("10:00"), None, 3, 3, False, None)]


@pytest.mark.parametrize(
    "word", ["ErrImagePull", "RegistryUnavailable", "SignatureValidationFailed"]
)
def test_each_word_of_a_refused_pull_counts_as_its_error(word: str):
    rows = built(
        [pulling(at("10:00")), event("Failed", f"Error: {word}", at("10:00:02"), at("10:01"), 2)]
    )
    assert spans(rows, "error", "error_count") == [(at("10:00"), None, word, 2)]


def test_a_failure_alone_starts_a_pull():
    rows = built([event("BackOff", f"Back-off pulling {NAME}", at("10:00"), at("10:10"), 9)])
    assert spans(rows, "attempt_count", "error_count", "error") == [
        (at("10:00"), None, 0, 0, f"Back-off pulling {NAME}")
    ]


def test_the_pulls_of_a_restarting_container_are_told_apart_by_what_they_took():
    """The shape of a real crash loop: six pulls, of whose starts the event shows two."""

    def done(first: datetime, took: str, last: datetime | None = None, count: int = 1) -> dict:
        message = f"Successfully pulled {NAME} in {took} ({took} including waiting)"
        return pulled(first, last, count, message=message)

    rows = built(
        [
            pulling(at("20:50:20"), at("20:53:26"), 6),
            done(at("20:50:20"), "284ms"),
            done(at("20:50:22"), "308ms"),
            done(at("20:50:40"), "385ms"),
            done(at("20:51:13"), "325ms", at("20:51:56"), 2),
            done(at("20:53:27"), "848ms"),
        ]
    )
    assert spans(rows, "attempt_count") == [
        (at("20:50:20"), at("20:50:20"), 1),
        (at("20:50:21.692"), at("20:50:22"), 1),
        (at("20:50:39.615"), at("20:50:40"), 1),
        (at("20:51:12.675"), at("20:51:13"), 1),
        (at("20:51:55.675"), at("20:51:56"), 1),
        (at("20:53:26"), at("20:53:27"), 1),
    ]


def test_a_pull_whose_end_was_dropped_does_not_swallow_the_next():
    rows = built([pulling(at("10:00"), at("11:00"), 2), pulled(at("11:00:14"))])
    assert spans(rows, "max_transferred_bytes") == [
        (at("10:00"), None, None),
        (at("11:00"), at("11:00:14"), 1000),
    ]


def test_the_states_of_one_event_count_once_and_show_its_repetitions():
    rows = built(
        [
            pulling(at("10:00")),
            pulling(at("10:00"), at("10:01"), 2, event_uid="came back"),
            pulling(at("10:00"), at("10:01"), 2),
            failed(at("10:00:01")),
        ]
    )
    assert spans(rows, "attempt_count", "error_count") == [(at("10:00"), None, 2, 1)]


ARCHIVED = dict.fromkeys(("event_uid", "event_name", "involved_uid", "container", "node"))


def test_an_archived_event_is_matched_by_name_and_has_no_container():
    rows = built([pulling(at("10:00"), **ARCHIVED), pulled(at("10:00:14"), **ARCHIVED)])
    columns = ("pod_uid", "container", "node", "run_uuid")
    assert rows.select(columns).rows() == [(POD, None, "node-a", RUN)]


def test_what_an_archive_repeats_counts_once():
    rows = built(
        [
            pulling(at("10:00"), **ARCHIVED),
            pulling(at("10:00")),
            pulled(at("10:00:14")),
            pulled(at("10:00:14"), **ARCHIVED),
        ]
    )
    assert rows.select("container", "attempt_count").rows() == [("polyaxon-main", 1)]


def test_an_archived_event_of_an_unknown_pod_keeps_its_name():
    rows = built([present(at("10:00"), **ARCHIVED)], pods=[])
    assert rows.select("pod_uid", "pod_name", "node", "run_uuid").rows() == [
        (None, "pod-a", None, None)
    ]


def test_two_images_of_an_archive_in_one_second_are_two_rows():
    other = 'Container image "busybox" already present on machine'
    rows = built(
        [present(at("10:00"), **ARCHIVED), event("Pulled", other, at("10:00"), **ARCHIVED)]
    )
    assert rows.select("image", "registry").rows() == [
        ("busybox", "docker.io"),
        (IMAGE, "registry.example.com"),
    ]


def test_the_registry_is_the_host_part():
    registries = {
        "busybox:1.28": "docker.io",
        "localhost/train": "localhost",
        "nvcr.io/nvidia/pytorch@sha256:00": "nvcr.io",
        "polyaxon/polyaxon-init:2.18.0": "docker.io",
        "registry:5000/train": "registry:5000",
    }
    rows = built(
        [
            event("Pulling", f'pulling image "{image}"', at("10:00"), container=image[:4])
            for image in registries
        ]
    )
    assert dict(rows.select("image", "registry").rows()) == registries


def test_other_events_are_no_pulls():
    rows = built(
        [
            failed(at("10:00"), message="Error: failed to create containerd task"),
            event("BackOff", "Back-off restarting failed container", at("10:00")),
            event("Started", "Started container polyaxon-main", at("10:00")),
            pulling(at("10:00"), involved_kind="Node"),
            pulling(at("10:00"), cluster="birch"),
            pulling(at("11:59", days=-2)),
            pulling(at("00:00", days=1)),
        ]
    )
    assert rows.height == 0


def test_an_error_that_names_no_image_takes_the_containers():
    refused = failed(at("10:00"), message="Error: ErrImagePull")
    container = {
        "cluster": "alder",
        "pod_uid": POD,
        "container": "polyaxon-main",
        "image": IMAGE,
        "observed_at": at("10:05"),
    }
    assert built([refused]).height == 0
    assert built([refused], containers=[container]).select(
        "image", "error", "error_count"
    ).rows() == [(IMAGE, "ErrImagePull", 1)]


def test_the_digest_is_that_of_the_container_that_then_started():
    def container(started: datetime, digest: str) -> dict[str, Any]:
        return {
            "cluster": "alder",
            "pod_uid": POD,
            "container": "polyaxon-main",
            "image": IMAGE,
            "image_digest": digest,
            "started_at": started,
            "observed_at": at("23:00"),
        }

    rows = built(
        [
            pulling(at("10:00")),
            pulled(at("10:00:14")),
            pulling(at("12:00")),
            pulled(at("12:00:20")),
        ],
        containers=[
            container(at("10:00:15"), "sha256:11"),
            container(at("12:00:19"), "sha256:22"),
        ],
    )
    assert spans(rows, "image_digest") == [
        (at("10:00"), at("10:00:14"), "sha256:11"),
        (at("12:00"), at("12:00:20"), "sha256:22"),
    ]


def test_a_pull_over_midnight_stands_on_both_days_under_one_id_and_its_counts_add_up():
    events = [
        pulling(at("23:50"), at("23:55"), 2),
        pulling(at("23:50"), at("00:01", days=1), 3),
        failed(at("23:50:01"), at("23:55:01"), 2),
        pulled(at("00:02", days=1)),
    ]
    pods = [pod(start_at=at("23:00"), created_at=at("23:00"))]
    today, tomorrow = built(events, pods=pods), built(events, pods=pods, day=NEXT)
    columns = ("attempt_count", "error_count", "image_bytes", "max_transferred_bytes")
    assert spans(today, *columns) == [(at("23:50"), None, 2, 2, None, None)]
    assert spans(tomorrow, *columns) == [(at("23:50"), at("00:02", days=1), 1, 0, 1000, None)]
    assert today["image_pull_id"].to_list() == tomorrow["image_pull_id"].to_list()


def test_what_a_count_from_before_the_day_does_not_tell_is_left_out():
    rows = built([pulling(at("23:00", days=-1), at("10:00"), 40), failed(at("10:00:01"))])
    assert rows["attempt_count"].to_list() == [1]


@st.composite
def kubelets(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Events of three containers around midnight."""
    events = []
    for _ in range(draw(st.integers(min_value=4, max_value=25))):
        kind = draw(st.sampled_from([pulling, pulled, failed, present]))
        first = at("23:00") + timedelta(minutes=draw(st.integers(min_value=0, max_value=120)))
        named = {
            "container": draw(st.sampled_from(["a", "b", None])),
            "involved_uid": draw(st.sampled_from([POD, None])),
        }
        if kind is present:
            events.append(present(first, **named))
        else:
            last = first + timedelta(minutes=draw(st.integers(min_value=0, max_value=30)))
            count = draw(st.integers(min_value=1, max_value=5)) if last > first else 1
            events.append(kind(first, last, count, **named))
    return events


@settings(max_examples=4)
@given(events=kubelets(), data=st.data())
def test_the_order_of_events_has_no_say(events: list[dict[str, Any]], data: st.DataObject):
    assert built(events).equals(built(data.draw(st.permutations(events))))


@settings(max_examples=4)
@given(events=kubelets())
def test_rows_are_pulls_with_an_end_behind_their_start_and_an_honest_range(
    events: list[dict[str, Any]],
):
    for day in (DAY, NEXT):
        rows = built(events, day=day)
        ended = rows.filter(pl.col("end_at").is_not_null())
        assert (ended["end_at"] >= ended["start_at"]).all()
        assert (rows["min_transferred_bytes"] == 0).all()
        limited = rows.filter(pl.col("max_transferred_bytes") > 0)
        assert (limited["max_transferred_bytes"] == limited["image_bytes"]).all()
        assert rows.filter(pl.col("was_present"))["attempt_count"].sum() == 0


# -- logs of the runtime and of the registry -----------------------------------------------------

NODE = {
    "cluster": "alder",
    "node": "node-a",
    "addresses": ["10.0.0.1"],
    "zone": "us-east-1b",
    "region": "us-east-1",
}
BYTES = ("min_transferred_bytes", "max_transferred_bytes", "shared_bytes", "measured_by")


def fetched(time: str, count: int, **more: Any) -> dict[str, Any]:
    line = {"cluster": "alder", "node": "node-a", "event": "fetched", "image": IMAGE,
            "registry": "registry.example.com"}  # fmt: skip
    return line | {"event_at": at(time), "transferred_bytes": count} | more


def asked(time: str, count: int | None, target: str = "blob", **more: Any) -> dict[str, Any]:
    return {
        "event_at": at(time),
        "log_kind": "access",
        "registry": "registry.example.com",
        "repository": "ml/train",
        "target": target,
        "digest": f"sha256:{count}",
        "operation": "read",
        "status": 200,
        "response_bytes": count,
        "client_address": "10.0.0.1",
    } | more


PULL = [pulling(at("10:00")), pulled(at("10:00:14"))]


def test_the_runtimes_line_tells_what_a_pull_read_and_so_what_the_node_had():
    (row,) = built(PULL, runtime=[fetched("10:00:13", 300)], nodes=[NODE]).to_dicts()
    assert [row[name] for name in BYTES] == [300, 300, 700, "application_log"]
    assert (row["reader_zone"], row["reader_region"]) == ("us-east-1b", "us-east-1")


@pytest.mark.parametrize(
    ("asked_for", "written_out"),
    [
        ("train:1", "docker.io/library/train:1"),
        ("ml/train", "docker.io/ml/train:latest"),
        (f"train:1@sha256:{'a' * 64}", f"docker.io/library/train@sha256:{'a' * 64}"),
    ],
)
def test_the_runtime_writes_out_the_image_that_the_pod_names_in_short(
    asked_for: str, written_out: str
):
    events = [e | {"message": e["message"].replace(IMAGE, asked_for)} for e in PULL]
    for image, expected in ((written_out, (300, 300, 700, "application_log")),
                            (written_out + "0", (0, 1000, None, "image_size"))):  # fmt: skip
        line = fetched("10:00:13", 300, image=image, registry="docker.io")
        assert built(events, runtime=[line]).select(BYTES).rows() == [expected]


def test_an_attempt_without_a_line_leaves_the_most_open():
    events = [pulling(at("09:59")), failed(at("09:59:30")), *PULL]
    one = [fetched("10:00:13", 300)]
    assert built(events, runtime=one).select(BYTES).rows() == [(300, None, None, "application_log")]
    both = [fetched("09:59:30", 200), *one]
    (row,) = built(events, runtime=both).select(BYTES).rows()
    assert row == (500, 500, 500, "application_log")


def test_lines_that_two_pulls_may_have_caused_count_for_neither():
    other = "bbbbbbbb-0000-0000-0000-00000000000b"
    twice = [*PULL, *(e | {"involved_uid": other, "involved_name": "pod-b"} for e in PULL)]
    line, request = [fetched("10:00:13", 300)], [asked("10:00:05", 300)]
    rows = built(twice, pods=[pod(), pod(pod_uid=other, pod_name="pod-b")], runtime=line,
                 requests=request, nodes=[NODE])  # fmt: skip
    assert rows.select(BYTES).rows() == [(0, 1000, None, "image_size")] * 2


@pytest.mark.parametrize(
    "line",
    [
        fetched("10:00:17", 300), fetched("09:59:57", 300), fetched("10:00:13", 300, node="node-b"),
        fetched("10:00:13", 300, image="registry.example.com/ml/train:2"),
        fetched("10:00:13", 300, cluster="birch"), fetched("10:00:13", 300, node=None),
    ],
)  # fmt: skip
def test_lines_of_other_times_nodes_and_images_are_not_this_pulls(line: dict[str, Any]):
    assert built(PULL, runtime=[line]).select(BYTES).rows() == [(0, 1000, None, "image_size")]


def test_a_runtimes_size_stands_where_the_kubelet_states_none():
    old = [pulling(at("10:00")), pulled(at("10:00:14"), message=f"Successfully pulled {NAME}")]
    line = fetched("10:00:13", None, event="pulled", image_bytes=900)
    (row,) = built(old, runtime=[line]).to_dicts()
    assert (row["image_bytes"], row["max_transferred_bytes"]) == (900, 900)


def test_a_registrys_log_tells_what_it_sent_to_the_node():
    requests = [
        asked("10:00:01", 10, "manifest"), asked("10:00:02", 400), asked("10:00:03", 200),
        asked("10:00:03", 200, log_kind="application"),
        asked("10:00:04", 5, operation="head"), asked("10:00:04", 5, status=404),
        asked("10:00:04", 5, client_address="10.0.0.9"), asked("10:00:04", 5, repository="ml/x"),
        asked("10:00:04", 5, registry="other.example.com"),
        asked("10:00:04", None, log_kind="audit"), asked("09:00", 5),
    ]  # fmt: skip
    (row,) = built(PULL, requests=requests, nodes=[NODE]).to_dicts()
    assert [row[name] for name in BYTES] == [610, 610, 390, "registry_log"]
    assert row["fetched_blob_count"] == 2
    away = [*requests, asked("10:00:05", None, status=307, is_redirected=True)]
    assert built(PULL, requests=away, nodes=[NODE]).select(BYTES).rows() == [
        (610, 1000, None, "registry_log")
    ]
    no_manifest = built(PULL, requests=requests[1:], nodes=[NODE])
    assert no_manifest.select(BYTES).rows() == [(600, 1000, None, "registry_log")]


def test_events_of_ecr_tell_how_many_layers_the_node_had_not():
    host = "111122223333.dkr.ecr.us-east-1.amazonaws.com"
    events = [e | {"message": e["message"].replace("registry.example.com", host)} for e in PULL]
    layer = {"provider": "ecr", "log_kind": "audit", "registry": host, "status": None,
             "is_redirected": True}  # fmt: skip
    requests = [
        # Of the manifest, of two layers (one asked for twice), and one that was refused.
        asked("10:00:01", None, "manifest", **layer | {"is_redirected": None}),
        asked("10:00:02", None, **layer, digest="sha256:a"),
        asked("10:00:03", None, **layer, digest="sha256:a"),
        asked("10:00:03", None, **layer, digest="sha256:b"),
        asked("10:00:04", None, **layer | {"is_redirected": None, "digest": "sha256:c"}),
    ]
    (row,) = built(events, requests=requests, nodes=[NODE]).to_dicts()
    # Layers are of any size: the bytes stay between none and the whole image.
    assert [row[name] for name in BYTES] == [0, 1000, None, "image_size"]
    assert row["fetched_blob_count"] == 2


def test_the_runtime_is_believed_before_the_registry():
    requests = [asked("10:00:01", 10, "manifest"), asked("10:00:02", 400)]
    rows = built(PULL, requests=requests, runtime=[fetched("10:00:13", 350)], nodes=[NODE])
    assert rows.select(BYTES).rows() == [(350, 350, 650, "application_log")]


def test_wild_numbers_of_logs_do_not_stop_the_day():
    most = 2**63 - 1
    requests = [asked("10:00:01", most, "manifest"), asked("10:00:02", most)]
    rows = built(PULL, requests=requests, nodes=[NODE])
    assert rows.select(BYTES).rows() == [(most, most, None, "registry_log")]

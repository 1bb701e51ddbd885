"""Transfers of objects."""

import random
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay, ClusterFacts
from transforms.intermediate import object_transfers
from transforms.sql import SqlSession

RUN = "0123456789abcdef0123456789abcdef"
OTHER_RUN = "fedcba9876543210fedcba9876543210"
POD = "192.0.2.1"


def request(time: str | datetime, key: str | None = "data/a.bin", **more: Any) -> dict[str, Any]:
    return {
        "event_at": at(time) if isinstance(time, str) else time,
        "source_format": "s3_access_log",
        "provider": "s3",
        "bucket": "lake",
        "key": key,
        "operation": "read",
        "operation_name": "REST.GET.OBJECT",
        "status": 206,
        "response_bytes": 10,
        "object_size_bytes": 100,
        "client_address": POD,
        "principal": "arn:aws:sts::111122223333:assumed-role/ml/s",
        "user_agent": "agent",
        "duration_seconds": 1.5,
        **more,
    }


def pod(uid: str, address: str = POD, start: str = "00:00", **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "namespace": "ml",
        "pod_name": f"pod-{uid}",
        "pod_uid": uid,
        "address": address,
        "start_at": at(start, days=-1) if start == "00:00" else at(start),
        "created_at": at(start, days=-1) if start == "00:00" else at(start),
        "node": "node-a",
        "zone": "us-east-1a",
        "region": "us-east-1",
        "run_uuid": RUN,
        "attempt": 1,
        **more,
    }


def of(
    requests: list[dict[str, Any]],
    pods: list[dict[str, Any]] | None = None,
    *,
    shift: int = 0,
    tables: dict[str, list[dict[str, Any]]] | None = None,
    **facts: Any,
) -> pl.DataFrame:
    """Object transfers of one day."""
    day = BuildDay(date=DAY + timedelta(days=shift), cluster="fleet", **facts)
    shown: dict[str, Any] = {
        "object_requests": requests,
        "pod_intervals": [p | {"date": day.date} for p in (pods or [])],
        "node_states": [],
        "container_states": [],
        "declared_dependencies": [],
        "run_versions": [],
    }
    with SqlSession(threads=2) as session:
        show(session, **(shown | (tables or {})))
        return checked(session, "object_transfers", object_transfers.build(session, day))


def test_requests_of_one_client_for_one_object_are_a_burst():
    row = of([request("08:00"), request("08:04"), request("08:09")], [pod("a")]).to_dicts()
    assert len(row) == 1
    assert row[0]["start_at"] == at("08:00")
    assert row[0]["end_at"] == at("08:09:01.5")
    assert row[0]["request_count"] == 3
    assert row[0]["transferred_bytes"] == 30
    assert row[0]["object_size_bytes"] == 100
    assert row[0]["object_id"] == "s3://lake/data/a.bin"
    assert not row[0]["is_complete"]


@pytest.mark.parametrize(("second", "count"), [("08:05", 1), ("08:05:00.000001", 2)])
def test_a_gap_above_300_seconds_begins_another_burst(second, count):
    assert of([request("08:00"), request(second)]).height == count


@pytest.mark.parametrize(
    "other",
    [
        {"key": "data/b.bin"},
        {"key": None},
        {"bucket": "other"},
        {"provider": "minio"},
        {"version_id": "v1"},
        {"operation": "head"},
        {"client_address": "192.0.2.9"},
        {"client_address": None},
        {"principal": None},
        {"user_agent": "another"},
    ],
)
def test_another_object_client_or_operation_is_another_transfer(other):
    assert of([request("08:00"), request("08:01", **other)]).height == 2


def test_a_complete_read_is_a_transfer_of_its_own():
    whole = {"status": 200, "response_bytes": 100}
    rows = of([request("08:00", **whole), request("08:00:01", **whole), request("08:00:02")])
    assert rows.select("is_complete", "request_count", "transferred_bytes").rows() == [
        (True, 1, 100),
        (True, 1, 100),
        (False, 1, 10),
    ]


def test_a_whole_answer_cut_short_is_not_complete():
    assert of([request("08:00", status=200, response_bytes=60)])["is_complete"].to_list() == [False]


def test_answers_are_counted_by_class_and_the_first_error_is_told():
    answers = [
        (200, None), (206, None), (304, None), (301, None), (401, "ExpiredToken"),
        (403, "AccessDenied"), (404, "NoSuchKey"), (429, None), (503, "SlowDown"),
        (500, "InternalError"), (412, None),
    ]  # fmt: skip
    row = of(
        [
            request(f"08:00:{n:02d}", status=status, error=error, response_bytes=n)
            for n, (status, error) in enumerate(answers)
        ]
    ).to_dicts()[0]
    counts = {name: value for name, value in row.items() if name.endswith("_count")}
    assert counts == {
        "request_count": 11, "success_count": 3, "not_modified_count": 1, "denied_count": 2,
        "not_found_count": 1, "throttled_count": 2, "error_count": 2, "unlogged_bytes_count": 0,
    }  # fmt: skip
    assert row["first_error"] == "ExpiredToken"
    assert row["transferred_bytes"] == 0 + 1 + 2
    assert row["error_bytes"] == 4 + 5 + 6 + 7 + 8 + 9 + 10


def test_an_error_without_a_code_is_told_by_its_status():
    assert of([request("08:00", status=500)])["first_error"].to_list() == ["500"]


def test_a_write_moves_what_was_stored():
    stored = {"operation": "write", "operation_name": "REST.PUT.OBJECT", "response_bytes": None}
    row = of([request("08:00", status=200, object_size_bytes=70, **stored)]).to_dicts()[0]
    assert (row["transferred_bytes"], row["object_size_bytes"]) == (70, 70)
    assert row["unlogged_bytes_count"] == 0


def test_an_upload_in_parts_counts_its_parts_and_takes_its_size_from_the_completion():
    part = {
        "operation": "write", "operation_name": "REST.PUT.PART", "status": 200,
        "response_bytes": None, "upload_id": "u",
    }  # fmt: skip
    done = part | {"operation_name": "REST.POST.UPLOAD", "response_bytes": 300}
    parts = [
        request("08:00", object_size_bytes=60, part_number=1, **part),
        request("08:01", object_size_bytes=40, part_number=2, **part),
    ]
    whole = of([*parts, request("08:02", object_size_bytes=100, **done)])
    assert whole.select("transferred_bytes", "object_size_bytes").rows() == [(100, 100)]
    assert of(parts).select("transferred_bytes", "object_size_bytes").rows() == [(100, None)]


def test_copies_heads_and_deletes_move_nothing_to_a_client():
    for operation in ("copy", "head", "delete"):
        row = of([request("08:00", operation=operation, status=200, response_bytes=224)])
        assert row["transferred_bytes"].to_list() == [0]


def test_s3_writes_no_number_for_no_bytes_and_others_leave_bytes_unlogged():
    cut = request("08:00", response_bytes=None)
    row = of([cut]).select("transferred_bytes", "unlogged_bytes_count")
    assert row.rows() == [(0, 0)]
    row = of([cut | {"source_format": "azure_storage"}])
    assert row.select("transferred_bytes", "unlogged_bytes_count").rows() == [(0, 1)]


def test_requests_that_name_no_bucket_are_no_transfers():
    assert of([request("08:00", bucket=None, key=None)]).is_empty()


def test_the_pod_is_the_one_that_held_the_address():
    row = of([request("08:00")], [pod("a")]).to_dicts()[0]
    assert (row["pod_uid"], row["match_kind"], row["cluster"]) == ("a", "address_window", "alder")
    assert (row["run_uuid"], row["attempt"], row["node"]) == (RUN, 1, "node-a")
    assert (row["reader_zone"], row["reader_region"]) == ("us-east-1a", "us-east-1")


def test_a_burst_is_cut_where_the_address_comes_to_mean_another_pod():
    """An address that is reused within the minute, by a client that looks the same."""
    pods = [pod("a", end_at=at("08:00:30")), pod("b", start="08:00:40")]
    rows = of([request("08:00:20"), request("08:00:50"), request("08:01:00")], pods)
    assert rows.select("pod_uid", "request_count").rows() == [("a", 1), ("b", 2)]


def test_an_address_of_two_clusters_is_ambiguous():
    pods = [pod("a"), pod("b", cluster="birch", region="eu-west-1")]
    row = of([request("08:00")], pods).to_dicts()[0]
    assert (row["match_kind"], row["pod_uid"], row["cluster"]) == ("ambiguous", None, None)
    assert row["candidate_pod_uids"] == ["a", "b"]
    assert row["reader_region"] is None
    known = of([request("08:00", cluster="birch")], pods).to_dicts()[0]
    assert (known["pod_uid"], known["reader_region"]) == ("b", "eu-west-1")


def test_a_host_network_pods_address_is_its_nodes():
    row = of([request("08:00")], [pod("a", host_network=True)]).to_dicts()[0]
    assert (row["match_kind"], row["pod_uid"], row["run_uuid"]) == ("node", None, None)
    assert row["reader_region"] == "us-east-1"


def test_an_unknown_address_is_nobodys_unless_the_client_names_a_known_run():
    assert of([request("08:00")])["match_kind"].to_list() == ["none"]
    asked = request("08:00", app_id=f"plx-{RUN}")
    assert of([asked])["run_uuid"].to_list() == [None]
    row = of([asked], tables={"run_versions": [{"run_uuid": RUN}]}).to_dicts()[0]
    assert (row["match_kind"], row["run_uuid"], row["pod_uid"]) == ("app_id", RUN, None)


def test_the_only_container_that_ran_is_named():
    state = {
        "pod_uid": "a", "container": "main", "container_role": "main", "state": "running",
        "started_at": at("07:00"),
    }  # fmt: skip
    row = of([request("08:00")], [pod("a")], tables={"container_states": [state]}).to_dicts()[0]
    assert (row["container"], row["container_kind"]) == ("main", "only_running")
    assert of([request("08:00")], [pod("a")])["container_kind"].to_list() == ["none"]


def declared(resource: str, run: str = RUN) -> dict[str, Any]:
    return {"run_uuid": run, "resource_id": resource, "operation": "read"}


@pytest.mark.parametrize(
    ("declarations", "resource", "dataset"),
    [
        ([], "s3://lake", None),
        ([declared("s3://lake/data")], "s3://lake/data", "s3://lake/data"),
        ([declared("s3://lake/data/")], "s3://lake/data", "s3://lake/data"),
        ([declared("s3://lake/dat")], "s3://lake", None),
        ([declared("s3://lake/data/a.bin")], "s3://lake/data/a.bin", "s3://lake/data/a.bin"),
        ([declared("s3://lake")], "s3://lake", None),
        ([declared("s3://lake"), declared("s3://lake/data")], "s3://lake/data", "s3://lake/data"),
        ([declared("s3://lake/data", OTHER_RUN)], "s3://lake/data", "s3://lake/data"),
        (
            [declared("s3://lake/data"), declared("s3://lake/data/a.bin", OTHER_RUN)],
            "s3://lake/data",
            "s3://lake/data",
        ),
        ([declared("dns://lake:443")], "s3://lake", None),
    ],
)
def test_the_resource_is_the_longest_declared_path(declarations, resource, dataset):
    row = of([request("08:00")], [pod("a")], tables={"declared_dependencies": declarations})
    assert row.select("resource_id", "dataset_id").rows() == [(resource, dataset)]


def test_what_nobody_declares_is_a_dataset_of_the_settings():
    datasets = (
        ("s3://lake/data", "s3://lake/data/*"),
        ("everything", "s3://lake/*"),
    )
    rows = of(
        [request("08:00"), request("08:01", "x/y"), request("08:02", bucket="other")],
        datasets=datasets,
    )
    assert rows.select("resource_id", "dataset_id").rows() == [
        ("s3://lake/data", "s3://lake/data"),
        ("everything", "everything"),
        ("s3://other", None),
    ]


def test_a_declared_path_inside_a_dataset_keeps_the_dataset():
    row = of(
        [request("08:00")],
        [pod("a")],
        tables={"declared_dependencies": [declared("s3://lake/data/a.bin")]},
        datasets=(("set", "s3://lake/data/*"),),
    )
    assert row.select("resource_id", "dataset_id").rows() == [("s3://lake/data/a.bin", "set")]


@pytest.mark.parametrize(
    ("provider", "owner", "version", "object_id"),
    [
        ("s3", "o", "v7", "s3://lake/data/a.bin@v7"),
        ("gcs", None, None, "gs://lake/data/a.bin"),
        ("azure", "account", None, "az://account/lake/data/a.bin"),
    ],
)
def test_objects_are_written_as_people_read_them(provider, owner, version, object_id):
    stated = request("08:00", provider=provider, bucket_owner=owner, version_id=version)
    assert of([stated])["object_id"].to_list() == [object_id]


def test_a_readers_region_is_its_clusters_only_if_every_node_agrees():
    bare = pod("a", zone=None, region=None)
    facts = (ClusterFacts("alder", region="us-east-1"),)
    assert of([request("08:00")], [bare], clusters=facts)["reader_region"][0] == "us-east-1"
    abroad = pod("b", "192.0.2.2", node="node-b", region="eu-west-1")
    assert of([request("08:00")], [bare, abroad], clusters=facts)["reader_region"][0] is None


def test_a_buckets_region_is_the_logs_then_that_of_its_other_requests_then_the_settings():
    buckets = (("lak*", "eu-west-1"), ("*", "us-west-2"))
    told = request("08:00", bucket_region="us-east-1")
    silent = request("08:01", "b")
    assert of([told, silent], buckets=buckets)["bucket_region"].to_list() == ["us-east-1"] * 2
    assert of([silent], buckets=buckets)["bucket_region"].to_list() == ["eu-west-1"]
    assert of([silent])["bucket_region"].to_list() == [None]
    contrary = request("08:02", "c", bucket_region="us-west-1")
    assert of([told, silent, contrary])["bucket_region"].to_list() == [
        "us-east-1", None, "us-west-1",
    ]  # fmt: skip


def trail(time: str, **more: Any) -> dict[str, Any]:
    return request(
        time, source_format="cloudtrail", status=None, request_id="r", response_bytes=9, **more
    )


def test_one_request_in_two_logs_is_one_with_the_servers_bytes_and_the_trails_principal():
    served = request("08:00", request_id="r", principal=None)
    row = of([served, trail("08:00:01", principal="someone")]).to_dicts()
    assert len(row) == 1
    assert (row[0]["transferred_bytes"], row[0]["principal"]) == (10, "someone")
    assert row[0]["start_at"] == at("08:00")


def test_a_request_of_the_trail_alone_counts_where_no_server_logged_that_hour():
    other = request("08:00", "z", request_id="q")
    assert of([other, trail("08:30")]).height == 1
    rows = of([other, trail("09:30")])
    assert rows.select("transferred_bytes", "success_count").rows() == [(10, 1), (9, 1)]
    refused = of([trail("09:30", error="AccessDenied")]).to_dicts()[0]
    assert (refused["denied_count"], refused["first_error"]) == (1, "AccessDenied")


def test_a_burst_over_midnight_is_one_transfer_with_each_days_requests():
    requests = [
        request("23:57"),
        request("23:59:59", duration_seconds=5.0),
        request(at("00:02", days=1), status=503),
    ]
    first, second = of(requests).to_dicts()[0], of(requests, shift=1).to_dicts()[0]
    assert first["transfer_id"] == second["transfer_id"]
    assert first["start_at"] == second["start_at"] == at("23:57")
    assert (first["request_count"], first["throttled_count"]) == (2, 0)
    assert (second["request_count"], second["throttled_count"]) == (1, 1)
    assert first["end_at"] == at("00:00", days=1)
    assert second["end_at"] == at("00:02:01.5", days=1)


def test_a_burst_older_than_the_look_back_starts_anew_with_the_day():
    requests = [request(at("00:04", days=-1) + timedelta(minutes=4 * n)) for n in range(365)]
    row = of(requests).to_dicts()
    assert len(row) == 1
    assert row[0]["opened_before"]
    assert row[0]["start_at"] == at("00:00")
    younger = of(requests[1:]).to_dicts()
    assert not younger[0]["opened_before"]
    assert younger[0]["start_at"] == at("00:08", days=-1)


def test_wild_numbers_do_not_stop_the_day():
    largest = 2**63 - 1
    wild = {"response_bytes": largest, "duration_seconds": 1e300}
    row = of([request("08:00", **wild), request("08:01", **wild)]).to_dicts()[0]
    assert row["transferred_bytes"] == largest
    assert row["end_at"] == at("00:00", days=1)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=2)
def test_days_add_up_to_the_requests_in_any_order(seed):
    draw = random.Random(seed)
    pods = [pod(f"{n:02d}", f"192.0.2.{n}") for n in range(50)]
    requests = []
    for _ in range(2_000):
        size = draw.choice([0, 9, 10**12])
        requests.append(
            request(
                at("18:00") + timedelta(seconds=draw.randrange(12 * 3600)),
                f"k{draw.randrange(4)}",
                status=draw.choice([200, 206, 206, 206, 304, 403, 404, 503]),
                response_bytes=draw.choice([size, size // 3]),
                object_size_bytes=size,
                client_address=f"192.0.2.{draw.randrange(60)}",
            )
        )
    whole = pl.concat([of(requests, pods), of(requests, pods, shift=1)])
    good = sum(r["response_bytes"] for r in requests if r["status"] < 400)
    bad = sum(r["response_bytes"] for r in requests if r["status"] >= 400)
    assert whole["request_count"].sum() == len(requests)
    assert whole["transferred_bytes"].sum() == good
    assert whole["error_bytes"].sum() == bad
    for number, item in enumerate(requests):
        item["record_id"] = f"r{number}"
    draw.shuffle(requests)
    assert pl.concat([of(requests, pods), of(requests, pods, shift=1)]).equals(whole)

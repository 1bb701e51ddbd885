"""Transfers of objects: hand-made cases, and laws against a plain pass."""

import random
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.intermediate.transfer_oracle import FACTS, moved, transfers
from transforms.day import BuildDay, ClusterFacts, LookBack
from transforms.intermediate import object_transfers
from transforms.sql import SqlSession

RUN = "0123456789abcdef0123456789abcdef"
DASHED_RUN = "01234567-89ab-cdef-0123-456789abcdef"
OTHER_RUN = "fedcba9876543210fedcba9876543210"
POD = "192.0.2.1"
MOST = 2**63 - 1


def request(time: str | datetime, key: str | None = "data/a.bin", **more: Any) -> dict[str, Any]:
    """A part of an object of 100 bytes, read."""
    return {
        "event_at": at(time) if isinstance(time, str) else time,
        "source_format": "s3_access_log",
        "provider": "s3",
        "bucket": "lake",
        "key": key,
        "version_id": None,
        "operation": "read",
        "operation_name": "REST.GET.OBJECT",
        "status": 206,
        "error": None,
        "response_bytes": 10,
        "object_size_bytes": 100,
        "client_address": POD,
        "principal": "arn:aws:sts::111122223333:assumed-role/ml/s",
        "user_agent": "agent",
        "duration_seconds": 1.5,
        **more,
    }


def whole(time: str | datetime, key: str = "data/a.bin", **more: Any) -> dict[str, Any]:
    return request(time, key, **{"status": 200, "response_bytes": 100, **more})


def write(time: str, key: str, size: int | None, **more: Any) -> dict[str, Any]:
    stored = {"operation": "write", "operation_name": "REST.PUT.OBJECT", "response_bytes": None}
    return request(time, key, **{**stored, "status": 200, "object_size_bytes": size, **more})


def part(time: str, key: str, size: int, number: int, **more: Any) -> dict[str, Any]:
    sent = {"operation_name": "REST.PUT.PART", "upload_id": "u", "part_number": number}
    return write(time, key, size, **{**sent, **more})


def completion(time: str, key: str, size: int | None, **more: Any) -> dict[str, Any]:
    sent = {"operation_name": "REST.POST.UPLOAD", "upload_id": "u", "response_bytes": 300}
    return write(time, key, size, **{**sent, **more})


def pod(uid: str, address: str = POD, **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder",
        "namespace": "ml",
        "pod_name": f"pod-{uid}",
        "pod_uid": uid,
        "address": address,
        "start_at": at("00:00", days=-1),
        "created_at": at("00:00", days=-1),
        "node": "node-a",
        "zone": "us-east-1a",
        "region": "us-east-1",
        "run_uuid": RUN,
        "attempt": 1,
        **more,
    }


def of(
    requests: Iterable[dict[str, Any]],
    pods: Iterable[dict[str, Any]] = (),
    *,
    shift: int = 0,
    tables: dict[str, list[dict[str, Any]]] | None = None,
    **facts: Any,
) -> pl.DataFrame:
    """Object transfers of the test day, or of a day so many days from it."""
    day = BuildDay(date=DAY + timedelta(days=shift), cluster="fleet", **facts)
    shown: dict[str, Any] = {
        "object_requests": requests,
        "pod_intervals": [p | {"date": day.date} for p in pods],
        "node_states": [],
        "container_states": [],
        "declared_dependencies": [],
        "stages": [],
        "run_versions": [],
        "credential_sessions": [],
    }
    with SqlSession(threads=1) as session:
        show(session, **(shown | (tables or {})))
        return checked(session, "object_transfers", object_transfers.build(session, day))


def by_key(rows: pl.DataFrame, *columns: str) -> dict[str | None, Any]:
    """Columns of the rows by the object's key, where each key has one row."""
    assert rows["key"].n_unique() == rows.height
    found = rows.select("key", *columns).rows()
    return {key: values[0] if len(columns) == 1 else tuple(values) for key, *values in found}


# -- bursts --------------------------------------------------------------------------------------


def test_requests_of_one_client_for_one_object_are_a_burst():
    requests = [request("08:00"), request("08:04"), request("08:09", duration_seconds=0.5)]
    (row,) = of(requests, [pod("a")]).to_dicts()
    assert (row["start_at"], row["end_at"]) == (at("08:00"), at("08:09:00.5"))
    assert (row["request_count"], row["success_count"]) == (3, 3)
    assert (row["transferred_bytes"], row["error_bytes"]) == (30, 0)
    assert (row["object_size_bytes"], row["duration_seconds"]) == (100, 1.5)
    assert (row["object_id"], row["first_record_id"]) == ("s3://lake/data/a.bin", "r0")
    assert (row["is_complete"], row["opened_before"]) == (False, False)


def test_a_gap_above_300_seconds_begins_another_burst():
    rows = of(
        [
            request("08:00", "together"), request("08:05", "together"),
            request("08:00", "apart"), request("08:05:00.000001", "apart"),
        ]
    )  # fmt: skip
    assert rows.group_by("key").len().sort("key").rows() == [("apart", 2), ("together", 1)]


def test_every_part_of_object_client_and_operation_tells_transfers_apart():
    others: list[dict[str, Any]] = [
        {"key": "data/b.bin"}, {"key": None}, {"bucket": "other"}, {"provider": "minio"},
        {"version_id": "v1"}, {"version_id": "v2"}, {"operation": "head"},
        {"client_address": "192.0.2.9"}, {"client_address": None}, {"principal": None},
        {"user_agent": "another"}, {"user_agent": None},
        # Containers of one name in two accounts.
        {"provider": "azure", "bucket_owner": "x"}, {"provider": "azure", "bucket_owner": "y"},
    ]  # fmt: skip
    rows = of([request("08:00", **other) for other in ({}, *others)])
    assert rows["request_count"].to_list() == [1] * 15
    assert rows["transfer_id"].n_unique() == 15


def test_the_order_in_which_a_process_lists_its_features_tells_no_clients_apart():
    def agent(features: str) -> str:
        return f"Boto3/1.35.1 md/Botocore#1.35.1 ua/2.1 {features} cfg/retry-mode#standard"

    same = ("m/b,G,AA", "m/G,AA,b", "m/AA,b,G")
    others = ("m/b,G", "m/b,G,AB", "m/b", "m/", "m/,b", "x/b,G,AA", "x/G,AA,b")
    rows = of([request("08:00", user_agent=agent(features)) for features in (*same, *others)])
    found = dict(rows.select("user_agent", "request_count").rows())
    # What is no such list stays as it is.
    sorted_ones = ("m/AA,G,b", "m/G,b", "m/AB,G,b", *others[2:])
    assert found == dict.fromkeys(map(agent, sorted_ones), 1) | {agent("m/AA,G,b"): 3}


def test_complete_reads_are_taken_out_of_a_burst_and_stand_alone():
    rows = of(
        [
            request("08:00:00"), whole("08:00:01"), whole("08:00:01"), request("08:00:02"),
            # Taken out before the cut: it does not bridge the gap between its neighbours.
            whole("08:04:00"), request("08:05:03"),
        ]
    )  # fmt: skip
    facts = rows.sort("start_at").select("is_complete", "request_count", "transferred_bytes")
    assert facts.rows() == [
        (False, 2, 20), (True, 1, 100), (True, 1, 100), (True, 1, 100), (False, 1, 10),
    ]  # fmt: skip


def test_a_read_is_complete_only_if_one_200_carried_all_bytes():
    rows = of(
        [
            whole("08:00", "whole"),
            whole("08:00", "cut short", response_bytes=60),
            whole("08:00", "all bytes as a range", status=206),
            whole("08:00", "size unknown", object_size_bytes=None),
            whole("08:00", "closed early", response_bytes=None),
            whole("08:00", "empty", response_bytes=None, object_size_bytes=0),
            whole("08:00", "not modified", status=304, response_bytes=None),
            whole("08:00", "not a read", operation="list"),
        ]
    )
    complete = [key for key, is_complete in by_key(rows, "is_complete").items() if is_complete]
    assert sorted(complete) == ["empty", "whole"]
    assert by_key(rows, "transferred_bytes")["cut short"] == 60


def test_parts_of_one_object_are_one_burst_however_many_there_are():
    parts = [request(at("08:00") + timedelta(seconds=n // 8)) for n in range(240)]
    (row,) = of(parts).to_dicts()
    assert (row["request_count"], row["transferred_bytes"]) == (240, 2400)


def test_sizes_that_differ_within_a_burst_leave_the_size_open():
    """An overwritten object: its bytes must not look like a second read of one content."""
    rows = of(
        [
            request("08:00", "replaced"), request("08:01", "replaced", object_size_bytes=70),
            request("08:00", "told once"), request("08:01", "told once", object_size_bytes=None),
            request("08:00", "silent", object_size_bytes=None),
            request("08:00", "etags", etag="x"), request("08:01", "etags", etag="y"),
        ]
    )  # fmt: skip
    assert by_key(rows, "object_size_bytes") == {
        "replaced": None, "told once": 100, "silent": None, "etags": 100,
    }  # fmt: skip
    assert by_key(rows, "etag")["etags"] is None


def test_a_record_that_two_scopes_show_counts_once():
    one = whole("08:00") | {"record_id": "r", "cluster": "alder", "export_file_id": "x"}
    two = one | {"cluster": "birch", "export_file_id": "y"}
    ranges = [request("08:01") | {"record_id": "s", "cluster": c} for c in (None, "birch")]
    rows = of([two, one, *ranges]).sort("start_at")
    assert rows.select("first_record_id", "request_count", "transferred_bytes").rows() == [
        ("r", 1, 100), ("s", 1, 10),
    ]  # fmt: skip


def test_one_request_id_may_have_several_requests_of_one_log():
    """A revalidation and the read behind it; the parts of a batch delete."""
    twice = {"request_id": "one", "user_agent": "browser"}
    deleted = {"operation": "delete", "request_id": "many", "status": 204, "response_bytes": None}
    rows = of(
        [
            request("08:00", "a", status=304, response_bytes=None, **twice),
            request("08:00", "a", status=206, **twice),
            request("08:00", "b", operation_name="BATCH.DELETE.OBJECT", **deleted),
            request("08:00", "c", operation_name="BATCH.DELETE.OBJECT", **deleted),
            request("08:00", None, operation_name="REST.POST.MULTI_OBJECT_DELETE", **deleted),
        ]
    )
    assert by_key(rows, "request_count", "success_count", "transferred_bytes") == {
        "a": (2, 2, 10), "b": (1, 1, 0), "c": (1, 1, 0), None: (1, 1, 0),
    }  # fmt: skip


# -- bytes and outcomes --------------------------------------------------------------------------


def test_answers_are_counted_by_class_and_the_first_error_is_told():
    answers = [
        (200, None), (206, None), (304, None), (301, "PermanentRedirect"), (401, "ExpiredToken"),
        (403, "AccessDenied"), (404, "NoSuchKey"), (429, None), (503, "SlowDown"),
        (500, "InternalError"), (412, None), (None, None),
    ]  # fmt: skip
    rows = of(
        [
            request(f"08:00:{n:02d}", status=status, error=error, response_bytes=2**n)
            for n, (status, error) in enumerate(answers)
        ]
        + [request("08:00", "no code", status=500, response_bytes=None)]
    )
    row = rows.filter(key="data/a.bin").to_dicts()[0]
    assert {name: value for name, value in row.items() if name.endswith("_count")} == {
        "request_count": 12, "success_count": 3, "not_modified_count": 1, "denied_count": 2,
        "not_found_count": 1, "throttled_count": 2, "error_count": 2, "unlogged_bytes_count": 1,
    }  # fmt: skip
    assert row["transferred_bytes"] == 0b011
    assert row["error_bytes"] == 0b1111_1111_1000
    assert by_key(rows, "first_error") == {"data/a.bin": "ExpiredToken", "no code": "500"}


def test_credentials_that_are_refused_with_400_are_a_denial():
    answers = [
        (400, "ExpiredToken"), (400, "InvalidToken"), (400, "TokenRefreshRequired"),
        (400, "InvalidRequest"), (400, None),
    ]  # fmt: skip
    rows = of(
        [
            request(f"08:00:{n:02d}", status=status, error=error)
            for n, (status, error) in enumerate(answers)
        ]
    )
    assert rows.select("denied_count", "error_count").rows() == [(3, 2)]


def test_a_retry_belongs_to_the_burst_of_what_failed():
    rows = of(
        [
            request("08:00:00", status=503, error="SlowDown", response_bytes=350,
                    object_size_bytes=None),
            request("08:00:01"),
        ]
    )  # fmt: skip
    columns = ("request_count", "throttled_count", "transferred_bytes", "error_bytes")
    assert by_key(rows, *columns) == {"data/a.bin": (2, 1, 10, 350)}
    assert rows["first_record_id"].to_list() == ["r0"]


def test_bytes_that_the_log_leaves_out_are_none_in_s3_and_unknown_elsewhere():
    silent = {"response_bytes": None}
    rows = of(
        [
            request("08:00", "s3", **silent),
            request("08:00", "s3 not modified", status=304, **silent),
            request("08:00", "azure", source_format="azure_storage", **silent),
            request("08:00", "azure not modified", source_format="azure_storage", status=304,
                    response_bytes=0),
            request("08:00", "azure list", source_format="azure_storage", operation="list",
                    **silent),
            write("08:00", "no size", None),
            request("08:00", "failed", source_format="azure_storage", status=403, **silent),
        ]
    )  # fmt: skip
    assert by_key(rows, "transferred_bytes", "unlogged_bytes_count", "not_modified_count") == {
        "s3": (0, 0, 0), "s3 not modified": (0, 1, 1), "azure": (0, 1, 0),
        "azure not modified": (0, 1, 1), "azure list": (0, 1, 0), "no size": (0, 1, 0),
        "failed": (0, 0, 0),
    }  # fmt: skip


@pytest.mark.parametrize("source", ["gcs_usage", "minio_audit", "azure_storage", "s3_access_log"])
def test_a_304_moves_nothing_whatever_its_log_states_for_it(source: str):
    """RFC 9110, 15.4.5: it has no body; some logs count the header."""
    seen = {"source_format": source, "object_size_bytes": None}
    rows = of(
        [
            request("08:00", "fresh", status=304, response_bytes=431, **seen),
            request("08:00", "both", status=304, response_bytes=431, **seen),
            request("08:01", "both", status=200, response_bytes=70, **seen),
        ]
    )
    assert by_key(rows, "transferred_bytes", "error_bytes", "success_count") == {
        "fresh": (0, 0, 1),
        "both": (70, 0, 2),
    }
    # What no log tells of a body, beside what a 304 has none of.
    left = by_key(rows, "unlogged_bytes_count", "not_modified_count")
    assert left == {"fresh": (1, 1), "both": (1, 1)}


def test_parts_whose_offsets_are_logged_are_ranges_with_how_often_each_was_read():
    def sent(clock: str, key: str, offset: int | None, count: int = 10, **more: Any) -> dict:
        return request(clock, key, response_offset_bytes=offset, response_bytes=count, **more)

    rows = of(
        [
            # Parts that touch are one, however they are ordered; twice the middle.
            sent("08:00", "parts", 10), sent("08:01", "parts", 0), sent("08:02", "parts", 40, 20),
            sent("08:03", "parts", 5, 10), sent("08:03:01", "parts", None, 9, status=503),
            sent("08:04", "parts", None, 0, status=304), sent("08:04", "parts", 90, 0),
            # One part of unknown place, or bytes that are not logged, and nothing is told.
            sent("08:00", "open", 10), sent("08:01", "open", None),
            sent("08:00", "blank", 10, source_format="minio_audit"),
            sent("08:01", "blank", 20, source_format="minio_audit") | {"response_bytes": None},
            # A 200 that broke off began with the object, a part of it or a query's results did not.
            sent("08:00", "broken", None, 40, status=200),
            sent("08:01", "broken", 40, 60),
            sent("08:00", "by part", None, 40, status=200, part_number=2),
            sent("08:00", "query", None, 40, status=200, operation_name="SelectObjectContent"),
            sent("08:00", "no size", None, 40, status=200, object_size_bytes=None),
            sent("08:00", "stated", 7, 40, object_size_bytes=None),
            # A part that is all of the object.
            sent("08:00", "all", None, 100),
            # Several contents under one name, and what lies beyond the object.
            sent("08:00", "sizes", 0), sent("08:01", "sizes", 0, object_size_bytes=90),
            sent("08:00", "tags", 0, etag="a"), sent("08:01", "tags", 0, etag="b"),
            sent("08:00", "beyond", 95), sent("08:00", "forged", MOST, object_size_bytes=None),
            whole("08:00", "whole"),
            sent("08:00", "written", 0, operation="write"),
        ]
    )  # fmt: skip

    def parts(*triples: tuple[int, int, int]) -> list[dict[str, int]]:
        return [dict(zip(("start", "stop", "count"), triple, strict=True)) for triple in triples]

    assert by_key(rows, "read_ranges") == {
        "parts": parts((0, 5, 1), (5, 15, 2), (15, 20, 1), (40, 60, 1)),
        "broken": parts((0, 100, 1)),
        "stated": parts((7, 47, 1)),
        "all": parts((0, 100, 1)),
    } | dict.fromkeys(
        ("open", "blank", "by part", "query", "no size", "sizes", "tags", "beyond", "forged",
         "whole", "written"),
    )  # fmt: skip
    scattered = [sent("08:00", "many", 2 * n, 1, object_size_bytes=5000) for n in range(1001)]
    assert by_key(of(scattered), "read_ranges") == {"many": None}
    assert len(by_key(of(scattered[1:]), "read_ranges")["many"]) == 1000


def test_ranges_of_a_burst_over_midnight_are_each_days():
    requests = [
        request(at("23:59", days=-1), response_offset_bytes=0),
        request("00:01", response_offset_bytes=30),
    ]
    for shift, start in ((-1, 0), (0, 30)):
        (row,) = of(requests, shift=shift).to_dicts()
        assert row["read_ranges"] == [{"start": start, "stop": start + 10, "count": 1}]


def test_uploads_count_what_was_stored_once_and_take_their_size_from_the_completion():
    bare = {"upload_id": None, "part_number": None}
    rows = of(
        [
            write("08:00", "whole", 70),
            write("08:00", "received", 70, request_bytes=60),
            part("08:00", "parts", 60, 1), part("08:01", "parts", 40, 2),
            completion("08:02", "parts", 100),
            part("08:00", "aborted", 60, 1), part("08:01", "aborted", 40, 2),
            part("08:00", "repeated", 60, 1), part("08:01", "repeated", 60, 1),
            completion("08:02", "repeated", 60),
            part("08:00", "refused", 60, 1),
            completion("08:02", "refused", 60, status=500, error="InternalError"),
            # What the query said of upload and part was masked or cut.
            part("08:00", "masked", 60, 1, **bare), completion("08:02", "masked", 60, **bare),
            part("08:00", "part twice", 60, 1, part_number=None),
            write("08:00", "overwritten", 5), write("08:01", "overwritten", 6),
            write("08:00", "denied", 70, status=403, error="AccessDenied", response_bytes=243),
            write("08:00", "copied", 70, operation="copy", operation_name="REST.COPY.OBJECT"),
            part("08:00", "parts copied", 70, 1, operation="copy", operation_name="REST.COPY.PART"),
            # A read by part number tells the size of the whole object.
            request("08:00", "read by part", part_number=2, is_range=True),
        ]
    )  # fmt: skip
    columns = ("request_count", "transferred_bytes", "error_bytes", "object_size_bytes")
    assert by_key(rows, *columns) == {
        "whole": (1, 70, 0, 70),
        "received": (1, 60, 0, 70),
        "parts": (3, 100, 0, 100),
        "aborted": (2, 100, 0, None),
        "repeated": (3, 120, 0, 60),
        "refused": (2, 60, 300, None),
        "masked": (2, 60, 0, 60),
        "part twice": (1, 60, 0, None),
        "overwritten": (2, 11, 0, None),
        "denied": (1, 0, 243, None),
        "copied": (1, 0, 0, 70),
        "parts copied": (1, 0, 0, None),
        "read by part": (1, 10, 0, 100),
    }
    assert rows["unlogged_bytes_count"].sum() == 0


def test_copies_heads_and_deletes_move_nothing_between_client_and_storage():
    done = {"status": 200, "response_bytes": 224}
    rows = of(
        [
            *(
                request("08:00", name, operation=name, **done)
                for name in ("copy", "head", "delete", "list", "other")
            ),
            request("08:00", "refused", operation="delete", status=403, response_bytes=243),
        ]
    )  # fmt: skip
    assert by_key(rows, "transferred_bytes", "error_bytes") == {
        "copy": (0, 0), "head": (0, 0), "delete": (0, 0), "list": (224, 0), "other": (224, 0),
        "refused": (0, 243),
    }  # fmt: skip


def test_writes_completions_copies_and_deletions_change_an_object_and_nothing_else_does():
    multi = {"operation": "delete", "response_bytes": None, "object_size_bytes": None}
    requests = [
        write("08:00", "put", 100),
        write("08:00", "twice", 100), write("08:02", "twice", 100),
        *(write(f"08:0{n}", "often", 100) for n in (3, 1, 2)),
        part("08:00", "parts", 50, 1), part("08:01", "parts", 50, 2),
        completion("08:03", "parts", 100),
        write("08:00", "refused", 100, status=503),
        request("08:00", "copied", operation="copy", operation_name="REST.COPY.OBJECT", status=200),
        request("08:00", "source", operation="copy", operation_name="REST.COPY.OBJECT_GET",
                status=200),
        request("08:00", "piece", operation="copy", operation_name="REST.COPY.PART", status=200),
        request("08:00", "deleted", operation_name="REST.DELETE.OBJECT", status=204, **multi),
        request("08:00", "expired", operation_name="S3.EXPIRE.OBJECT", status=None, **multi),
        request("08:00", "kept", operation_name="REST.DELETE.OBJECT", status=403, **multi),
        request("08:00", "read"),
        write("08:00", "block", 9, operation_name="PutBlock", provider="azure"),
    ]  # fmt: skip
    found = by_key(of(requests), "change_times")
    after = timedelta(seconds=1.5)
    assert {key: times for key, times in found.items() if times} == {
        "put": [at("08:00") + after],
        "twice": [at("08:00") + after, at("08:02") + after],
        "often": [at(f"08:0{n}") + after for n in (1, 2, 3)],
        "parts": [at("08:03") + after],
        "copied": [at("08:00") + after],
        "deleted": [at("08:00") + after],
        "expired": [at("08:00") + after],
    }
    late = write("23:59:59", "late", 100, duration_seconds=9)
    assert by_key(of([late]), "change_times") == {"late": [at("00:00", days=1)]}


def test_what_the_storage_does_by_itself_is_nobodys():
    itself = {"client_address": None, "principal": None, "user_agent": None, "status": None}
    expired = {"operation": "delete", "operation_name": "S3.EXPIRE.OBJECT", "response_bytes": None}
    (row,) = of([request("08:00", **itself, **expired)], [pod("a")]).to_dicts()
    assert (row["request_count"], row["success_count"], row["transferred_bytes"]) == (1, 0, 0)
    assert (row["match_kind"], row["pod_uid"], row["first_error"]) == ("none", None, None)


def test_requests_that_name_no_bucket_are_no_transfers():
    assert of([request("08:00", bucket=None, key=None)]).is_empty()


def test_wild_numbers_do_not_stop_the_day():
    wild = {"response_bytes": MOST, "duration_seconds": 1e300, "client_address": "192.0.2.2"}
    rows = of(
        [
            request("08:00", **wild), request("08:01", **wild),
            request("08:00", "e", **wild | {"status": 404}),
            request("08:01", "e", **wild | {"status": 404}),
            write("08:00", "w", MOST), write("08:01", "w", MOST),
        ]
    )  # fmt: skip
    assert by_key(rows, "transferred_bytes", "error_bytes") == {
        "data/a.bin": (MOST, 0), "e": (0, MOST), "w": (MOST, 0),
    }  # fmt: skip
    assert by_key(rows, "end_at")["data/a.bin"] == at("00:00", days=1)


def test_hostile_names_stay_what_they_are():
    keys = [
        "x'; DROP TABLE object_requests; --", '"quoted"', "a\x1fb", "\x1e", "nul\x00nul", "%2e",
        "*", "[", "a/../b", "/lead", "trail/", "//", "\u202e", "🗄", "a@v1", "$end_us", "k" * 5000,
        "/" * 1024,
    ]  # fmt: skip
    rows = of(
        [
            *(request("08:00", key) for key in keys),
            # One path by two ways of cutting it, and a key that looks like another's version.
            request("08:00", "c/d", bucket="a"),
            request("08:00", "d", bucket="a/c"),
            request("08:00", "a", version_id="v1"),
        ],
        tables={"declared_dependencies": [declared("s3://lake/" + "/".join("abcdefgh"))]},
        datasets=(("set", "s3://lake/[*"), ("set", "[")),
        buckets=(("[", "nowhere"), ("a/c", "eu-west-1")),
    )
    assert rows.height == len(keys) + 3 == rows["transfer_id"].n_unique()
    assert set(keys) < set(rows["key"])
    assert rows.filter(bucket="a/c")["bucket_region"].to_list() == ["eu-west-1"]
    assert rows.filter(bucket="a")["bucket_region"].to_list() == [None]
    assert rows.filter(bucket="a/c")["resource_id"].to_list() == ["s3://a/c"]


# -- who -----------------------------------------------------------------------------------------


def test_the_pod_is_the_one_that_held_the_address():
    (row,) = of([request("08:00", cluster="birch")], [pod("a")]).to_dicts()
    assert (row["pod_uid"], row["match_kind"], row["cluster"]) == ("a", "address_window", "alder")
    assert (row["namespace"], row["pod_name"], row["node"]) == ("ml", "pod-a", "node-a")
    assert (row["run_uuid"], row["attempt"], row["candidate_pod_uids"]) == (RUN, 1, None)
    assert (row["reader_zone"], row["reader_region"]) == ("us-east-1a", "us-east-1")
    assert (row["container"], row["container_kind"], row["stage"]) == (None, "none", "unknown")


def test_a_burst_is_cut_where_the_address_comes_to_mean_another_pod():
    """An address that is reused within the minute, by a client that looks the same."""
    late = {"start_at": at("08:00:40"), "created_at": at("08:00:40")}
    pods = [pod("a", end_at=at("08:00:30")), pod("b", **late)]
    clocks = ("08:00:20", "08:00:31", "08:00:35", "08:00:50", "08:01:00")
    rows = of([request(clock) for clock in clocks], pods)
    assert rows.sort("start_at").select("pod_uid", "match_kind", "request_count").rows() == [
        ("a", "address_window", 2), (None, "none", 1), ("b", "address_window", 2),
    ]  # fmt: skip


def test_an_address_of_two_clusters_is_ambiguous_and_a_nodes_own_names_no_pod():
    pods = [
        pod("a"), pod("b", cluster="birch", region="eu-west-1", node="node-b"),
        pod("c", "192.0.2.3", host_network=True),
    ]  # fmt: skip
    rows = of([request("08:00"), request("08:00", "n", client_address="192.0.2.3")], pods)
    columns = ("match_kind", "cluster", "pod_uid", "candidate_pod_uids", "node", "reader_region")
    assert by_key(rows, *columns) == {
        "data/a.bin": ("ambiguous", None, None, ["a", "b"], None, None),
        "n": ("node", "alder", None, ["c"], "node-a", "us-east-1"),
    }
    assert rows["run_uuid"].to_list() == [None, None]


def test_where_no_pod_is_found_the_client_may_name_a_known_run():
    nobody, node = {"client_address": "203.0.113.9"}, {"client_address": "192.0.2.3"}
    apps = {
        "plain": RUN, "dashed": f"plx.{DASHED_RUN}", "upper": RUN.upper(), "cafe": f"cafe-{RUN}",
        "longer": f"{RUN}0", "unknown": OTHER_RUN, "later": "e" * 32, "word": "train",
    }  # fmt: skip
    rows = of(
        [
            *(
                request("08:00", key, app_id=app, user_agent=app, **nobody)
                for key, app in apps.items()
            ),
            request("08:00", "node", app_id=RUN, **node),
            request("08:00", "pod", app_id=RUN),
        ],
        [pod("a", run_uuid=OTHER_RUN[::-1]), pod("c", "192.0.2.3", host_network=True)],
        tables={
            "run_versions": [
                {"run_uuid": RUN, "created_at": at("07:00")},
                {"run_uuid": "e" * 32, "created_at": at("00:00", days=1)},
            ]
        },
    )  # fmt: skip
    found = by_key(rows, "match_kind", "run_uuid", "pod_uid")
    assert {key for key, facts in found.items() if facts == ("app_id", RUN, None)} == {
        "plain", "dashed", "upper", "cafe", "node",
    }  # fmt: skip
    assert {found[key] for key in ("longer", "unknown", "later", "word")} == {("none", None, None)}
    assert found["pod"] == ("address_window", OTHER_RUN[::-1], "a")
    assert by_key(rows, "node")["node"] == "node-a"


def test_a_container_is_named_if_it_was_the_only_one_at_each_request():
    def container(name: str, start: str, end: str | None = None) -> dict[str, Any]:
        return {
            "pod_uid": "a", "container": name, "container_role": name, "state": "running",
            "started_at": at(start), "finished_at": at(end) if end else None,
        }  # fmt: skip

    states = [
        container("init", "08:00", "08:10"),
        container("main", "08:10:30"),
        container("sidecar", "09:00"),
    ]
    rows = of(
        [
            request("08:01", "init"), request("08:02", "init"),
            request("08:09", "handed over"), request("08:12", "handed over"),
            request("08:20", "main"),
            request("08:59", "joined"), request("09:01", "joined"),
            request("07:00", "before"),
        ],
        [pod("a")],
        tables={"container_states": states},
    )  # fmt: skip
    assert by_key(rows, "container", "container_role", "container_kind") == {
        "init": ("init", "init", "only_running"),
        "handed over": (None, None, "several"),
        "main": ("main", "main", "only_running"),
        "joined": (None, None, "several"),
        "before": (None, None, "none"),
    }


# -- what and where ------------------------------------------------------------------------------


def declared(resource: str, run: str = RUN) -> dict[str, Any]:
    return {"run_uuid": run, "resource_id": resource, "operation": "read"}


def test_the_resource_is_the_longest_declared_path_else_the_dataset_else_the_bucket():
    keys = (
        "data/a.bin", "data/sub/b.bin", "data2/c.bin", "data3/d.bin", "exact.bin", "data/", "x/y",
        None,
    )  # fmt: skip
    declarations = [
        declared("s3://lake/data/"), declared("s3://lake/data"), declared("s3://lake/data/sub//"),
        declared("s3://lake/exact.bin", OTHER_RUN), declared("s3://lak"), declared("gs://lake/x"),
        declared("dns://lake:443"), declared("s3://"), declared("s3:///x"),
    ]  # fmt: skip
    datasets = (("first", "s3://lake/data2/*"), ("second", "s3://lake/data*"))
    rows = of(
        [request("08:00", key) for key in keys],
        tables={"declared_dependencies": declarations},
        datasets=datasets,
    )
    assert by_key(rows, "resource_id", "dataset_id") == {
        "data/a.bin": ("s3://lake/data", "s3://lake/data"),
        "data/sub/b.bin": ("s3://lake/data/sub", "s3://lake/data/sub"),
        "data2/c.bin": ("first", "first"),
        "data3/d.bin": ("second", "second"),
        "exact.bin": ("s3://lake/exact.bin", "s3://lake/exact.bin"),
        "data/": ("s3://lake/data", "s3://lake/data"),
        "x/y": ("s3://lake", "s3://lake/x"),
        None: ("s3://lake", None),
    }
    bases = by_key(rows, "dataset_basis")
    assert (bases["data2/c.bin"], bases["exact.bin"]) == ("settings", "declared")
    assert (bases["x/y"], bases[None]) == ("prefix", None)


@pytest.mark.parametrize(
    ("key", "prefix"),
    [
        ("imagenet-1k/train/shard-0000.tar", "imagenet-1k/train"),
        ("llama-3-8b/weights.bin", "llama-3-8b"),
        ("cifar10/v1.0/train2017/a.png", "cifar10/v1.0/train2017"),
        ("logs/dt=2026-03-01/part.parquet", "logs"),
        ("logs/2026/03/01/a", "logs"),
        ("logs/run_at_2026-03-01T10/a", "logs"),
        ("logs/20260301/a", "logs"),
        ("models/base/checkpoint-500/w.pt", "models/base"),
        ("models/Epoch_3/w.pt", "models"),
        (f"out/{RUN}/w.pt", "out"),
        (f"out/{DASHED_RUN}/w.pt", "out"),
        ("out//w.pt", "out"),
        ("a'; DROP TABLE x; --/\x00/b", "a'; DROP TABLE x; --/\x00"),
        ("x.bin", None),
        ("00017/x.bin", None),
        ("/x.bin", None),
        ("part-7/x/y.bin", None),
    ],
)
def test_a_key_alone_tells_its_longest_stable_prefix(key: str, prefix: str | None):
    (row,) = of([request("08:00", key)]).to_dicts()
    expected = None if prefix is None else f"s3://lake/{prefix}"
    assert (row["dataset_id"], row["resource_id"]) == (expected, "s3://lake")
    assert row["dataset_basis"] == (prefix and "prefix")


def test_a_declared_bucket_is_a_declared_path_and_no_dataset():
    declarations = [declared("s3://lake/"), declared("s3://lake/data", OTHER_RUN)]
    rows = of(
        [request("08:00", key) for key in ("data/a", "set/b", "c", None)],
        tables={"declared_dependencies": declarations},
        datasets=(("set", "s3://lake/set/*"),),
    )
    assert by_key(rows, "resource_id", "dataset_id") == {
        "data/a": ("s3://lake/data", "s3://lake/data"),
        "set/b": ("s3://lake", "set"),
        "c": ("s3://lake", None),
        None: ("s3://lake", None),
    }


def test_a_run_names_what_it_reads_by_its_own_declared_path_whatever_others_declare():
    """Of one object, read by runs that declare above it, below that, the bucket and nothing."""
    whole_bucket, silent = "a" * 32, "b" * 32
    runs = {"192.0.2.1": RUN, "192.0.2.2": OTHER_RUN, "192.0.2.3": whole_bucket,
            "192.0.2.4": silent}  # fmt: skip
    declarations = [
        declared("s3://lake/data"), declared("s3://lake/data/train", OTHER_RUN),
        declared("s3://lake/data", OTHER_RUN), declared("s3://lake", whole_bucket),
        declared("s3://lake/other", silent),
    ]  # fmt: skip
    addresses = (*runs, "192.0.2.9")
    rows = of(
        [request("08:00", "data/train/a.bin", client_address=address) for address in addresses],
        [pod(run, address, run_uuid=run) for address, run in runs.items()],
        tables={"declared_dependencies": declarations},
        datasets=(("set", "s3://lake/data/*"),),
    )
    names = rows.select("run_uuid", "resource_id", "dataset_id", "dataset_basis").rows()
    assert {run: named for run, *named in names} == {
        RUN: ["s3://lake/data", "s3://lake/data", "declared"],
        OTHER_RUN: ["s3://lake/data/train", "s3://lake/data/train", "declared"],
        # A whole bucket is a declared path and no dataset.
        whole_bucket: ["s3://lake", "set", "settings"],
        # Where the run says nothing of the object, what anyone says of it.
        silent: ["s3://lake/data/train", "s3://lake/data/train", "declared"],
        None: ["s3://lake/data/train", "s3://lake/data/train", "declared"],
    }
    assert rows["object_id"].unique().to_list() == ["s3://lake/data/train/a.bin"]


def test_a_run_that_the_client_states_names_what_it_reads_by_its_own_declared_path():
    rows = of(
        [request("08:00", "data/train/a.bin", client_address="203.0.113.9", app_id=RUN)],
        tables={
            "declared_dependencies": [
                declared("s3://lake/data"), declared("s3://lake/data/train", OTHER_RUN),
            ],
            "run_versions": [{"run_uuid": RUN, "created_at": at("07:00")}],
        },
    )  # fmt: skip
    assert rows.select("match_kind", "run_uuid", "resource_id", "dataset_id").rows() == [
        ("app_id", RUN, "s3://lake/data", "s3://lake/data")
    ]


def test_globs_of_datasets_take_special_characters_as_globs_do():
    datasets = (
        ("class", "s3://lake/v[12]/*"), ("literal", "s3://lake/w[[]1]/*"),
        ("star", r"s3://lake/\*/*"), ("one", "s3://lake/?.bin"), ("open", "s3://lake/u[/*"),
        ("version", "s3://lake/exact.bin"),
    )  # fmt: skip
    keys = ("v1/a", "v[12]/a", "w[1]/a", "*/a", "x.bin", "é.bin", "xx.bin", "u[/a", "v3/\x00")
    requests = [*(request("08:00", key) for key in keys)]
    rows = of([*requests, request("08:00", "exact.bin", version_id="v9")], datasets=datasets)
    found = by_key(rows, "dataset_id", "dataset_basis")
    assert {k: d for k, (d, basis) in found.items() if basis == "settings"} == {
        "v1/a": "class", "w[1]/a": "literal", "*/a": "star", "x.bin": "one", "é.bin": "one",
        "exact.bin": "version",
    }  # fmt: skip
    assert by_key(rows, "object_id")["exact.bin"] == "s3://lake/exact.bin@v9"


def test_objects_are_written_as_people_read_them():
    rows = of(
        [
            request("08:00", "s3", version_id="v7", bucket_owner="o"),
            request("08:00", "gcs", provider="gcs"),
            request("08:00", "minio", provider="minio"),
            request("08:00", "azure", provider="azure", bucket_owner="account"),
            request("08:00", None, bucket_owner="o"),
        ]
    )
    assert by_key(rows, "object_id", "resource_id") == {
        "s3": ("s3://lake/s3@v7", "s3://lake"),
        "gcs": ("gs://lake/gcs", "gs://lake"),
        "minio": ("s3://lake/minio", "s3://lake"),
        "azure": ("az://account/lake/azure", "az://account/lake"),
        None: ("s3://lake", "s3://lake"),
    }


def test_a_readers_region_is_its_clusters_only_if_no_node_says_another():
    bare = pod("a", zone=None, region=None)
    facts = (ClusterFacts("alder", region="us-east-1"), ClusterFacts("birch", region="us-west-2"))
    node = {"cluster": "alder", "node": "node-b", "region": "eu-west-1"}

    def region(*pods: dict[str, Any], nodes: Iterable[dict[str, Any]] = ()) -> str | None:
        rows = of([request("08:00")], pods, clusters=facts, tables={"node_states": list(nodes)})
        return rows["reader_region"].item()

    assert region(bare) == "us-east-1"
    assert region(bare, nodes=[node]) is None
    assert region(bare, nodes=[node | {"region": "us-east-1"}]) == "us-east-1"


def test_a_buckets_region_is_the_logs_then_that_of_its_other_requests_then_the_settings():
    def silent(bucket: str) -> dict[str, Any]:
        return request("08:01", f"{bucket} silent", bucket=bucket)

    rows = of(
        [
            request("08:00", "told", bucket_region="us-east-1"), silent("lake"),
            silent("lakeside"), silent("other"),
            request("08:00", "one", bucket="torn", bucket_region="us-east-1"),
            request("08:00", "two", bucket="torn", bucket_region="us-west-1"), silent("torn"),
            request("08:00", "both", bucket="split", bucket_region="us-east-1"),
            request("08:01", "both", bucket="split", bucket_region="us-west-1"),
        ],
        buckets=(("lak*", "eu-west-1"), ("lakeside", "eu-north-1"), ("t*", "us-west-2")),
    )  # fmt: skip
    assert by_key(rows, "bucket_region") == {
        "told": "us-east-1", "lake silent": "us-east-1", "lakeside silent": "eu-west-1",
        "other silent": None, "one": "us-east-1", "two": "us-west-1", "torn silent": "us-west-2",
        "both": None,
    }  # fmt: skip


# -- two logs ------------------------------------------------------------------------------------


def trail(time: str, key: str, **more: Any) -> dict[str, Any]:
    said = {"source_format": "cloudtrail", "status": None, "request_id": key, "response_bytes": 9}
    return request(time, key, **said | more)


def test_one_request_in_two_logs_is_one_with_the_servers_bytes_and_the_trails_principal():
    served = {"principal": None, "bucket": "served"}
    rows = of(
        [
            request("08:00", "both", request_id="both", **served),
            trail("08:00:01", "both", principal="someone", bucket="served"),
            trail("09:00", "both later", request_id="both", bucket="served"),
            # The trail alone: in an hour of a server's log, and in one without.
            trail("08:30", "doubted", bucket="served"),
            trail("10:30", "alone", bucket="served"),
            trail("08:30", "denied", error="AccessDenied"),
            trail("08:30", "failed", error="InternalError"),
            # Two principals of one request say nothing.
            request("08:00", "torn", request_id="torn", **served),
            trail("08:00", "torn", principal="a", bucket="served"),
            trail("08:00", "torn", principal="b", bucket="served"),
        ]
    )
    columns = ("principal", "success_count", "transferred_bytes", "error_bytes", "first_error")
    role = "arn:aws:sts::111122223333:assumed-role/ml/s"
    assert by_key(rows, *columns) == {
        "both": ("someone", 1, 10, 0, None),
        "both later": (role, 1, 9, 0, None),
        "alone": (role, 1, 9, 0, None),
        "denied": (role, 0, 0, 9, "AccessDenied"),
        "failed": (role, 0, 0, 9, "InternalError"),
        "torn": (None, 1, 10, 0, None),
    }
    assert by_key(rows, "start_at")["both"] == at("08:00")
    assert by_key(rows, "end_at")["alone"] == at("10:30")


GOOGLE = {"provider": "gcs", "user_agent": "gcloud"}


def usage(time: str | datetime, key: str, **more: Any) -> dict[str, Any]:
    """A record of Google's usage log, which names nobody."""
    said = {"source_format": "gcs_usage", "principal": None, "status": 200, "response_bytes": 10}
    return request(time, key, **GOOGLE | said | {"object_size_bytes": None} | more)


def audit(
    time: str | datetime, key: str, principal: str | None = "ml@example.com", **more: Any
) -> dict:
    """A record of Google's audit log, which tells no bytes."""
    said = {"source_format": "gcs_audit", "principal": principal, "status": None,
            "response_bytes": None, "object_size_bytes": None}  # fmt: skip
    return request(time, key, **GOOGLE | said | more)


def test_records_of_googles_two_logs_are_one_request_where_each_has_one_candidate():
    rows = of(
        [
            usage("08:00:00", "pair"), audit("08:00:02", "pair", access_key_id_hash="k"),
            # A HEAD is a read of metadata, which the audit log does not tell from one of content.
            usage("08:00:00", "head", operation="head"), audit("08:00:01", "head"),
            usage("08:00:00", "late"), audit("08:00:02.000001", "late"),
            usage("08:00:00", "address"), audit("08:00:00", "address", client_address="192.0.2.9"),
            usage("08:00:00", "deed"), audit("08:00:00", "deed", operation="write"),
            usage("08:00:00", "place"), audit("08:00:00", "place", bucket="other"),
            usage("08:00:00", "nameless"), audit("08:00:00", "nameless", None),
            # The two logs put one request into two hours, of which the bucket's log has one.
            usage("09:59:59.5", "hours", bucket="quiet"),
            audit("10:00:00.5", "hours", bucket="quiet"),
            audit("10:30", "alone", bucket="quiet"),
        ]
    ).filter(pl.col("bucket") != "other")  # fmt: skip
    someone = "ml@example.com"
    assert by_key(rows, "principal", "request_count", "transferred_bytes") == {
        "pair": (someone, 1, 10), "head": (someone, 1, 0), "late": (None, 1, 10),
        "address": (None, 1, 10), "deed": (None, 1, 10), "place": (None, 1, 10),
        "nameless": (None, 1, 10), "hours": (someone, 1, 10), "alone": (someone, 1, 0),
    }  # fmt: skip
    assert by_key(rows, "start_at")["pair"] == at("08:00:00")


def test_parts_with_several_candidates_have_the_principal_that_all_of_these_have():
    parts = [usage(f"08:00:0{n}", "parts", status=206) for n in range(5)]
    parts += [audit(f"08:00:0{n}", "parts") for n in range(5)]
    mixed = [usage(f"08:00:0{n}", "mixed", status=206) for n in range(2)]
    mixed += [
        audit("08:00:00", "mixed", "a@example.com"),
        audit("08:00:01", "mixed", "b@example.com"),
    ]
    rows = of([*parts, *mixed])
    assert by_key(rows, "principal", "request_count", "transferred_bytes") == {
        "parts": ("ml@example.com", 5, 50), "mixed": (None, 2, 20),
    }  # fmt: skip


@settings(max_examples=5)
@given(st.integers(0, 2**32))
def test_principals_of_googles_logs_are_those_that_a_plain_pass_over_all_pairs_finds(seed: int):
    draw = random.Random(seed)

    def drawn(count: int) -> list[tuple[datetime, str, str]]:
        return [
            (at("08:00") + timedelta(seconds=draw.randrange(60) / 2), draw.choice("ab"),
             draw.choice(("192.0.2.1", "192.0.2.2")))
            for _ in range(count)
        ]  # fmt: skip

    served = drawn(40)
    heard = [(*one, draw.choice(("x", "x", "x", "y", None))) for one in drawn(draw.randrange(60))]
    expected = {}
    for number, (when, key, address) in enumerate(served):
        found = {
            who
            for heard_at, heard_key, heard_from, who in heard
            if (heard_key, heard_from) == (key, address)
            and abs(heard_at - when) <= timedelta(seconds=2)
        }
        expected[f"agent {number}"] = next(iter(found)) if len(found) == 1 else None
    rows = of(
        [
            *(usage(when, key, client_address=address, user_agent=f"agent {n}")
              for n, (when, key, address) in enumerate(served)),
            *(audit(when, key, who, client_address=address) for when, key, address, who in heard),
        ]
    )  # fmt: skip
    # All in one hour of a log that tells bytes: the trail adds no request.
    assert dict(rows.select("user_agent", "principal").rows()) == expected
    assert rows["request_count"].sum() == len(served)


def test_a_google_trail_tells_failures_by_the_names_of_its_codes():
    names = ("PERMISSION_DENIED", "UNAUTHENTICATED", "NOT_FOUND", "UNAVAILABLE", "INTERNAL")
    more = {"source_format": "gcs_audit", "provider": "gcs", "request_id": None}
    rows = of([trail("08:00", name, error=name, **more) for name in names])
    assert by_key(rows, "denied_count", "not_found_count", "throttled_count") == {
        "PERMISSION_DENIED": (1, 0, 0),
        "UNAUTHENTICATED": (1, 0, 0),
        "NOT_FOUND": (0, 1, 0),
        "UNAVAILABLE": (0, 0, 1),
        "INTERNAL": (0, 0, 0),
    }


def test_a_log_that_stamps_the_answer_adds_no_duration():
    rows = of(
        [
            request("08:00", name, source_format=name, duration_seconds=5.0)
            for name in ("minio_audit", "gcs_usage", "azure_storage")
        ]
    )
    assert by_key(rows, "end_at") == {
        "minio_audit": at("08:00"), "gcs_usage": at("08:00"), "azure_storage": at("08:00:05"),
    }  # fmt: skip


# -- days ----------------------------------------------------------------------------------------


def test_a_burst_over_midnight_is_one_transfer_with_each_days_requests():
    requests = [
        request("23:57", object_size_bytes=None),
        request("23:59:59", duration_seconds=5.0, object_size_bytes=None),
        request(at("00:02", days=1), status=503, response_bytes=7),
        request(at("00:03", days=1)),
        whole(at("00:03", days=1), "b"),
    ]
    (first,) = of(requests).to_dicts()
    second = of(requests, shift=1).filter(key="data/a.bin").to_dicts()[0]
    assert first["transfer_id"] == second["transfer_id"]
    assert first["start_at"] == second["start_at"] == at("23:57")
    assert (first["end_at"], second["end_at"]) == (
        at("00:00", days=1), at("00:03:01.5", days=1),
    )  # fmt: skip
    counts = ("request_count", "throttled_count", "transferred_bytes", "error_bytes")
    assert [first[name] for name in counts] == [2, 0, 20, 0]
    assert [second[name] for name in counts] == [2, 1, 10, 7]
    assert (first["object_size_bytes"], second["object_size_bytes"]) == (None, 100)
    assert (first["opened_before"], second["opened_before"]) == (False, False)
    assert of(requests, shift=2).is_empty()


@pytest.mark.parametrize(
    ("look_back", "first", "is_open", "start"),
    [
        (timedelta(days=1), "00:04:59", True, "00:00:59"),
        (timedelta(days=1), "00:05:00", False, "00:05:00"),
        (timedelta(0), "00:05:00", True, "00:01:00"),
    ],
)
def test_a_burst_that_may_be_older_than_the_look_back_starts_anew_with_the_day(
    look_back: timedelta, first: str, is_open: bool, start: str
):
    times = [at(first, days=-1) + timedelta(minutes=4 * n) for n in range(370)]
    (row,) = of(
        [request(time) for time in times], look_back=LookBack(transfers=look_back)
    ).to_dicts()
    assert row["opened_before"] == is_open
    assert row["start_at"] == at(start, days=0 if is_open else -1)
    assert row["request_count"] == sum(time >= at("00:00") for time in times)
    assert row["first_record_id"] == f"r{times.index(row['start_at'])}"


# -- laws ----------------------------------------------------------------------------------------


def drawn(seed: int, count: int = 1_500) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Requests of two days by pods whose addresses change hands, dense around midnight."""
    draw = random.Random(seed)
    pods = []
    for n in range(12):
        end = at("22:00") + timedelta(seconds=draw.randrange(4 * 3600))
        pods.append(pod(f"old-{n}", f"192.0.2.{n}", end_at=end))
        start = end + timedelta(seconds=draw.choice([0, 1, 5, 60]))
        other = draw.choice(["alder", "birch"])
        pods.append(
            pod(f"new-{n}", f"192.0.2.{n}", start_at=start, created_at=start, cluster=other)
        )
    requests = []
    for number in range(count):
        operation, name = draw.choice(
            [("read", "REST.GET.OBJECT")] * 5
            + [
                ("write", "REST.PUT.OBJECT"),
                ("write", "REST.PUT.PART"),
                ("list", "REST.GET.BUCKET"),
            ]
            + [("write", "REST.POST.UPLOAD"), ("head", "REST.HEAD.OBJECT")]
        )
        size = draw.choice([10**12, 10**12, 9, 0])
        status = draw.choice([200, 200, 206, 206, 206, 206, 304, 307, 403, 404, 412, 500, 503])
        spread = draw.choice([1, 600, 23 * 3600])
        requests.append(
            request(
                at("23:59") + timedelta(seconds=draw.randint(-spread, spread)),
                draw.choice(["a", "b", None]),
                record_id=f"r{number:04d}",
                version_id=draw.choice([None, None, "v1"]),
                operation=operation,
                operation_name=name,
                upload_id="u" if name in {"REST.PUT.PART", "REST.POST.UPLOAD"} else None,
                part_number=1 if name == "REST.PUT.PART" else None,
                status=status,
                error="Error" if status == 412 else None,
                response_bytes=draw.choice([size, size, size // 3, None]),
                object_size_bytes=size,
                client_address=draw.choice([f"192.0.2.{draw.randrange(14)}", None]),
                duration_seconds=draw.choice([0.0, 0.25, 90.0]),
            )
        )
    return requests, pods


def oracle_rows(rows: pl.DataFrame) -> dict[str, tuple[Any, ...]]:
    return {row[0]: row[1:] for row in rows.select("first_record_id", *FACTS).rows()}


@given(seed=st.integers(0, 2**32))
@settings(max_examples=2)
def test_two_days_built_alone_equal_one_plain_pass_in_any_order(seed: int):
    requests, pods = drawn(seed)
    days = [of(requests, pods), of(requests, pods, shift=1)]
    for shift, rows in enumerate(days):
        assert oracle_rows(rows) == transfers(requests, pods, DAY + timedelta(days=shift))
    both = pl.concat(days)
    # One id stands for one first request on both days, whatever else happened.
    pairs = both.select("transfer_id", "first_record_id").unique()
    assert pairs["transfer_id"].n_unique() == pairs["first_record_id"].n_unique() == pairs.height
    assert both.height > pairs.height
    # No byte and no request is lost or counted twice.
    total = both["transferred_bytes"].sum() + both["error_bytes"].sum()
    assert total == sum(map(moved, requests))
    assert both["request_count"].sum() == len(requests)
    assert (both.filter("is_complete")["request_count"] == 1).all()
    assert (both["start_at"] <= both["end_at"]).all()
    random.Random(seed).shuffle(requests)
    assert of(requests, pods, shift=1).equals(days[1])


@given(seed=st.integers(0, 2**32))
@settings(max_examples=1)
def test_a_short_look_back_equals_a_plain_pass_that_sees_no_more(seed: int):
    requests, pods = drawn(seed)
    look_back = timedelta(minutes=7)
    rows = of(requests, pods, shift=1, look_back=LookBack(transfers=look_back))
    assert oracle_rows(rows) == transfers(requests, pods, DAY + timedelta(days=1), look_back)
    assert rows["opened_before"].any()

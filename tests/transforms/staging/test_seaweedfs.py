"""Access log of SeaweedFS: requests without bytes, named as S3 names them.

Constructed records follow `weed/s3api/s3err/audit_fluent.go`.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    check_others,
    damaged,
    lines,
    parse,
    word,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, but, with_changes
from tests.transforms.staging.request_rows import RequestReader
from transforms.staging.seaweedfs import PARSER

AGENT = "aws-cli/2.17.60 md/command#s3.cp app/run-42"
SESSION = "arn:aws:sts::111122223333:assumed-role/trainer/run-42"
RECORD = {
    "bucket": "example-data",
    "time": 1_773_144_121,
    "remote_ip": "10.20.1.51:40122",
    "requester": "trainer",
    "request_id": "1773144121000000000",
    "operation": "REST.GET.OBJECT",
    "key": "/train/shard 1.tar",
    "host_id": "weed-s3-0",
    "host_header": "S3.example.com:8333",
    "user_agent": AGENT,
    "status": 200,
    "signature_version": "SigV4",
}
REQUEST = {
    "event_at": datetime(2026, 3, 10, 12, 2, 1, tzinfo=UTC),
    "provider": "seaweedfs",
    "bucket": "example-data",
    "key": "train/shard 1.tar",
    "operation": "read",
    "operation_name": "REST.GET.OBJECT",
    "http_method": "GET",
    "status": 200,
    "is_range": False,
    "client_address": "10.20.1.51",
    "principal": "trainer",
    "user_agent": AGENT,
    "app_id": "run-42",
    "request_id": "1773144121000000000",
    "endpoint": "s3.example.com",
}

reader = RequestReader(PARSER)
record = with_changes(RECORD)


def test_every_column_of_a_read_is_read():
    assert reader.request(RECORD) == REQUEST


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"remote_ip": "[2001:DB8::1]:4000"}, {"client_address": "2001:db8::1"}),
        ({"remote_ip": "2001:db8::1"}, {"client_address": "2001:db8::1"}),
        ({"remote_ip": "192.0.2.1"}, {"client_address": "192.0.2.1"}),
        ({"remote_ip": "192.0.2.1, 10.0.0.1"}, {"client_address": None}),
        ({"remote_ip": "unknown"}, {"client_address": None}),
        ({"remote_ip": ...}, {"client_address": None}),
        ({"requester": ...}, {"principal": None}),
        ({"requester": "anonymous"}, {"principal": None}),
        ({"requester_arn": SESSION}, {"principal": SESSION, "session_arn": SESSION}),
        ({"requester_arn": "arn:aws:iam::111122223333:user/a"},
         {"principal": "arn:aws:iam::111122223333:user/a"}),
        ({"status": 206}, {"status": 206, "is_range": True}),
        ({"status": 404, "error_code": "NoSuchKey"},
         {"status": 404, "error": "NoSuchKey", "is_range": None}),
        ({"status": ...}, {"status": None, "is_range": None}),
        ({"status": 0}, {"status": None, "is_range": None}),
        ({"key": "a"}, {"key": "a"}),
        ({"key": "//a"}, {"key": "/a"}),
        ({"key": "/"}, {"key": None}),
        ({"key": ...}, {"key": None}),
        ({"bucket": ""}, {"bucket": None}),
        ({"host_header": ...}, {"endpoint": None}),
        ({"request_id": ...}, {"request_id": None}),
        ({"user_agent": ...}, {"user_agent": None, "app_id": None}),
        ({"time": "1773144121"}, {}),
        ({"time": 1_773_144_121.0}, {}),
        ({"host_id": ..., "signature_version": ..., "other": 5}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.request(record(changes)) == but(REQUEST, fields)


@pytest.mark.parametrize(
    ("name", "operation", "method"),
    [
        ("REST.PUT.OBJECT", "write", "PUT"),
        ("REST.HEAD.OBJECT", "head", "HEAD"),
        ("REST.DELETE.OBJECT", "delete", "DELETE"),
        ("BATCH.DELETE.OBJECT", "delete", None),
        ("REST.GET.BUCKET", "list", "GET"),
        ("REST.GET.OBJECTTAGGING", "other", "GET"),
        ("REST.PUT.LIFECYCLECONFIGURATION", "other", "PUT"),
    ],
)
def test_operations_are_named_alike_for_all_stores(name, operation, method):
    values = reader.request(record({"operation": name}))
    assert (values["operation"], values.get("http_method")) == (operation, method)


@pytest.mark.parametrize(
    ("seconds", "at"),
    [
        (1, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (253_402_300_799, datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_times_of_any_year_are_read(seconds, at):
    assert reader.request(record({"time": seconds}))["event_at"] == at


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (record({"time": ...}), "no_time"),
        (record({"time": 0}), "no_time"),
        (record({"time": -62_135_596_800}), "no_time"),
        (record({"time": 253_402_300_800}), "no_time"),
        (record({"time": 1.5}), "time"),
        (record({"time": "2026-03-10T12:02:01Z"}), "time"),
        (record({"operation": ...}), "operation"),
        (record({"operation": "a b"}), "operation"),
        (record({"status": 20}), "status"),
        (record({"status": "x"}), "status"),
        (record({"bucket": 5}), "wrong_type"),
        ({}, "operation"),
        (json.dumps(RECORD)[:-40], "invalid_json"),
        ("free text", "invalid_json"),
        ('{"other":' + "[" * 100_000, "too_deep"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(value, reason):
    assert word(reader.one(value)) == reason


def test_equal_records_are_one():
    def record_id(value):
        return reader.row(value)[1]["record_id"]

    assert record_id(RECORD) == record_id(json.dumps(RECORD) + " ")
    assert record_id(RECORD) != record_id(record({"request_id": "other"}))


def test_no_credential_of_a_record_is_written():
    token = "ghp_" + "a1B2" * 9
    values = [
        record({"key": f"/{token}", "user_agent": f"x {token}", "requester": token,
                "bucket": token, "request_id": token, "host_header": f"{token}.example.com"}),
        record({"status": 5, "key": token}),
    ]  # fmt: skip
    found = parse(PARSER, "\n".join(json.dumps(value) for value in values))
    assert [word(p) for p in found] == ["accepted", "status"]
    assert token not in written(found)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(RECORD) + "\n" + json.dumps(RECORD)[:50], 3),
        (json.dumps([RECORD]), 3),
        (json.dumps(record({"added": 1})), 2),
        (json.dumps(record({"operation": "GetObject"})), 0),
        (json.dumps(record({"time": "now"})), 0),
        (json.dumps(record({"bucket": ...})), 0),
        ('{"bucket":"b","time":5,"operation":"REST.GET.OBJECT"}', 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_record(head, score):
    assert PARSER.recognise(head.encode()).score == score


@given(st.sampled_from(list(RECORD)), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(path, new):
    reader.one(record({path: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_record_changes_no_other(at, cuts):
    records = lines("\n".join(json.dumps(record({"request_id": f"id{n}"})) for n in range(4)))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, records), clean, at)

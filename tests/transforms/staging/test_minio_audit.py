"""MinIO audit records: requests are read, and of their headers only what is no credential.

Constructed records follow MinIO's page on logging.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    KEY,
    check_others,
    check_rows,
    damaged,
    lines,
    parse,
    parse_file,
    stated,
    word,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, NO_TIMES, TIMES, but, with_changes
from tests.transforms.staging.request_rows import RequestReader
from transforms.redaction import excerpt
from transforms.staging.minio_audit import PARSER

AGENT = "MinIO (linux; amd64) minio-go/v7.0.70 app/run-42"
RECORD = {
    "version": "1",
    "deploymentid": "0a1b2c3d-0000-4000-8000-000000000001",
    "time": "2026-03-10T12:02:01.500613982Z",
    "event": "",
    "trigger": "incoming",
    "api": {
        "name": "GetObject",
        "bucket": "example-data",
        "object": "train/shard 1.tar",
        "status": "OK",
        "statusCode": 200,
        "rx": 0,
        "tx": 1_048_576,
        "timeToFirstByte": "31000000ns",
        "timeToFirstByteInNS": "31000000",
        "timeToResponse": "1250000000ns",
        "timeToResponseInNS": "1250000000",
    },
    "remotehost": "10.20.1.51",
    "requestID": "17CDC1F4D7E69123",
    "userAgent": AGENT,
    "requestPath": "/example-data/train/shard 1.tar",
    "requestHost": "MinIO.example.com:9000",
    "requestQuery": {"versionId": "v1"},
    "requestClaims": {"sub": "FAKEclaims", "accessKey": "FAKEclaimsKey"},
    "requestHeader": {
        "Authorization": "AWS4-HMAC-SHA256 Credential=FAKEcredential/x, Signature=FAKEsignature",
        "X-Amz-Security-Token": "FAKEtoken",
    },
    "responseHeader": {"Content-Length": "1048576", "ETag": '"9fe7a344"', "Server": "MinIO"},
    "tags": {"objectLocation": {"name": "x"}},
    "accessKey": "FAKEACCESSKEY",
    "parentUser": "trainer",
}
REQUEST = {
    "event_at": datetime(2026, 3, 10, 12, 2, 1, 500_613, tzinfo=UTC),
    "provider": "minio",
    "bucket": "example-data",
    "key": "train/shard 1.tar",
    "version_id": "v1",
    "etag": "9fe7a344",
    "operation": "read",
    "operation_name": "GetObject",
    "status": 200,
    "response_bytes": 1_048_576,
    "request_bytes": 0,
    "object_size_bytes": 1_048_576,
    "is_range": False,
    "duration_seconds": 1.25,
    "turn_around_seconds": 0.031,
    "client_address": "10.20.1.51",
    "principal": "trainer",
    "access_key_id_hash": KEY.of("FAKEACCESSKEY"),
    "user_agent": AGENT,
    "app_id": "run-42",
    "request_id": "17CDC1F4D7E69123",
    "authentication": "AuthHeader",
    "endpoint": "minio.example.com",
}

reader = RequestReader(PARSER)
record = with_changes(RECORD)


def test_every_column_of_a_read_is_read():
    assert reader.request(RECORD) == REQUEST


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"remotehost": "[2001:DB8::1]:4000"}, {"client_address": "2001:db8::1"}),
        ({"remotehost": ""}, {"client_address": None}),
        ({"requestID": ...}, {"request_id": None}),
        ({"userAgent": ...}, {"user_agent": None, "app_id": None}),
        ({"requestHost": ...}, {"endpoint": None}),
        ({"requestQuery": ...}, {"version_id": None}),
        ({"responseHeader/X-Amz-Version-Id": "v2"}, {"version_id": "v2"}),
        ({"requestQuery": {"uploadId": "abc", "partNumber": "2"}},
         {"version_id": None, "upload_id": "abc", "part_number": 2, "is_range": True}),
        ({"requestQuery/partNumber": "x"}, {}),
        ({"requestQuery/X-Amz-Signature": "FAKE", "requestHeader": {}},
         {"authentication": "QueryString"}),
        ({"requestHeader": ...}, {"authentication": None}),
        ({"requestHeader/Range": "bytes=0-99"}, {"is_range": True}),
        ({"requestHeader/Range": "bytes=0-99", "api/statusCode": 206, "api/tx": 100,
          "responseHeader/Content-Length": "100",
          "responseHeader/Content-Range": "bytes 0-99/1048576"},
         {"is_range": True, "status": 206, "response_bytes": 100, "response_offset_bytes": 0}),
        ({"requestHeader/Range": "bytes=-99", "api/statusCode": 206,
          "responseHeader/Content-Range": "bytes 1048477-1048575/1048576"},
         {"is_range": True, "status": 206, "response_offset_bytes": 1_048_477}),
        ({"requestHeader/Range": "bytes=7-", "api/statusCode": 206, "responseHeader": ...},
         {"is_range": True, "status": 206, "response_offset_bytes": 7, "etag": None,
          "object_size_bytes": None}),
        ({"requestHeader/Range": "bytes=FAKEtoken", "api/statusCode": 206},
         {"is_range": True, "status": 206, "object_size_bytes": None}),
        ({"api/statusCode": 206}, {"is_range": True, "status": 206, "object_size_bytes": None}),
        ({"responseHeader": ...}, {"etag": None, "object_size_bytes": None}),
        ({"responseHeader/Content-Length": "x"}, {"object_size_bytes": None}),
        ({"api/statusCode": 404, "api/status": "Not Found"},
         {"status": 404, "error": "Not Found", "object_size_bytes": None}),
        ({"api/statusCode": 403, "responseHeader/X-Minio-Error-Code": "AccessDenied"},
         {"status": 403, "error": "AccessDenied", "object_size_bytes": None}),
        ({"api/statusCode": 0}, {"status": None, "object_size_bytes": None}),
        ({"api/tx": -1, "api/rx": ...}, {"response_bytes": None, "request_bytes": None}),
        ({"api/timeToResponseInNS": ...}, {}),
        ({"api/timeToResponseInNS": 1_250_000_000}, {}),
        ({"api/timeToResponseInNS": "soon"}, {"duration_seconds": None}),
        ({"api/timeToResponseInNS": ..., "api/timeToResponse": ...}, {"duration_seconds": None}),
        ({"api/timeToFirstByteInNS": ..., "api/timeToFirstByte": ...},
         {"turn_around_seconds": None}),
        ({"api/bucket": ..., "api/object": ...}, {"bucket": None, "key": None}),
        ({"accessKey": ...}, {"access_key_id_hash": None}),
        ({"parentUser": ...}, {"principal": None}),
        ({"trigger": ...}, {}),
        ({"requestClaims": ..., "tags": ..., "event": ..., "deploymentid": ...}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.request(record(changes)) == but(REQUEST, fields)


def put(**changes):
    values = {
        "api/name": "PutObject",
        "api/rx": 401,
        "api/tx": 0,
        "requestHeader/X-Amz-Decoded-Content-Length": "228",
        "responseHeader/Content-Length": "0",
        "requestQuery": ...,
    }
    return reader.request(record(values | changes))


def test_a_body_signed_in_chunks_is_more_than_the_object():
    fields = {
        "operation": "write", "operation_name": "PutObject", "request_bytes": 228,
        "response_bytes": 0, "object_size_bytes": 228, "is_range": None, "version_id": None,
    }  # fmt: skip
    assert put() == but(REQUEST, fields)
    plain = {"requestHeader/X-Amz-Decoded-Content-Length": "x"}
    assert put(**plain) == but(REQUEST, fields | {"request_bytes": 401, "object_size_bytes": 401})
    # Not all of it may have come.
    failed = put(**{"api/statusCode": 499, "api/status": "Client Closed"})
    assert (failed["request_bytes"], failed.get("object_size_bytes")) == (401, None)


def test_the_source_of_a_copy_loses_its_query():
    values = put(
        **{"api/name": "CopyObject", "requestHeader/X-Amz-Copy-Source": "/in/a%2Fb?versionId=1"}
    )
    assert (values["operation"], values["copy_source"]) == ("copy", "s3://in/a/b")


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("GetObject", "read"),
        ("HeadObject", "head"),
        ("PutObject", "write"),
        ("PutObjectPart", "write"),
        ("NewMultipartUpload", "other"),
        ("CompleteMultipartUpload", "write"),
        ("CopyObjectPart", "copy"),
        ("ListObjectsV2", "list"),
        ("DeleteMultipleObjects", "delete"),
        ("GetBucketLocation", "other"),
    ],
)
def test_operations_are_named_alike_for_all_stores(name, operation):
    values = reader.request(record({"api/name": name}))
    assert (values["operation"], values["operation_name"]) == (operation, name)


@pytest.mark.parametrize("trigger", ["internal-scanner", "external-drive"])
def test_what_the_store_itself_does_is_ignored(trigger):
    assert reader.one(record({"trigger": trigger})).ignore == "internal"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (record({"time": ...}), "no_time"),
        (record({"time": "yesterday"}), "no_time"),
        (record({"api": ...}), "no_api"),
        (record({"api": 5}), "wrong_type"),
        (record({"api/name": ...}), "operation"),
        (record({"api/name": "a b"}), "operation"),
        (record({"api/statusCode": 20}), "status"),
        (record({"api/rx": -2}), "rx"),
        (record({"api/tx": "x"}), "tx"),
        (record({"remotehost": "host.example.com"}), "remotehost"),
        (record({"requestHeader": []}), "wrong_type"),
        (record({"requestQuery": "x"}), "wrong_type"),
        ({}, "no_api"),
        ('{"flow":{}}', "no_api"),
        (json.dumps(RECORD)[:-40], "invalid_json"),
        ("free text", "invalid_json"),
        ('{"other":' + "[" * 100_000, "too_deep"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(value, reason):
    assert word(reader.one(value)) == reason


@pytest.mark.parametrize(("time", "at"), TIMES)
def test_times_of_any_year_and_precision_are_read(time, at):
    assert reader.request(record({"time": time}))["event_at"] == at


@pytest.mark.parametrize("time", NO_TIMES)
def test_what_is_no_time_is_refused(time):
    assert word(reader.one(record({"time": time}))) == "no_time"


@pytest.mark.parametrize("duration", [-1, "-5", "-5ns", 604_800_000_000_001, "1.5"])
def test_a_duration_of_no_time_or_weeks_is_unknown(duration):
    changes = {"api/timeToResponseInNS": duration, "api/timeToFirstByteInNS": duration}
    fields = {"duration_seconds": None, "turn_around_seconds": None}
    assert reader.request(record(changes)) == but(REQUEST, fields)


def test_equal_records_are_one():
    def record_id(value):
        return reader.row(value)[1]["record_id"]

    assert record_id(RECORD) == record_id(json.dumps(RECORD) + " ")
    assert record_id(RECORD) != record_id(record({"requestID": "other"}))


def test_no_credential_of_a_record_is_written():
    token = "ghp_" + "a1B2" * 9
    values = [
        RECORD,
        record({"api/object": f"a/{token}", "userAgent": f"x {token}", "parentUser": token,
                "requestQuery": {"X-Amz-Signature": "FAKE", "uploadId": token},
                "responseHeader/ETag": token}),
        record({"api/statusCode": 5}),
        record({"time": "FAKE"}),
        record({"accessKey": ["FAKE"]}),
    ]  # fmt: skip
    found = parse(PARSER, "\n".join(json.dumps(value) for value in values))
    assert [word(p) for p in found] == [
        "accepted", "accepted", "status", "no_time", "wrong_type",
    ]  # fmt: skip
    assert "FAKE" not in written(found)
    assert token not in written(found)
    for parsed in found[2:]:
        shown = excerpt(parsed.raw, 4_000)
        assert "FAKEs" not in shown
        assert "FAKEc" not in shown
        assert "FAKEA" not in shown


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(RECORD) + "\n" + json.dumps(RECORD)[:50], 3),
        (json.dumps(RECORD, indent=2), 3),
        (json.dumps([RECORD]), 3),
        (json.dumps(record({"deploymentid": ...})), 0),
        (json.dumps(record({"api": ...})), 0),
        (json.dumps(record({"api/name": ...})), 0),
        (json.dumps(record({"time": ...})), 0),
        (json.dumps(RECORD)[:60], 0),
        ('{"deploymentid":"x","level":"ERROR","api":{"args":{}}}', 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_record(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_values_of_a_real_record_are_those_that_stand_in_it(samples):
    [parsed] = parse_file(PARSER, samples / "object_storage" / "minio_audit_putobject.json")
    check_rows([parsed])
    assert stated(parsed.rows[0][1], "record_id") == {
        "event_at": datetime(2024, 5, 9, 7, 38, 10, 449_688, tzinfo=UTC),
        "provider": "minio",
        "bucket": "testbucket",
        "key": "hosts",
        "etag": "9fe7a344ef4227d3e53751e9d88ce41e",
        "operation": "write",
        "operation_name": "PutObject",
        "status": 200,
        "response_bytes": 0,
        "request_bytes": 228,
        "object_size_bytes": 228,
        "duration_seconds": 0.013309747,
        "client_address": "127.0.0.1",
        "access_key_id_hash": KEY.of("minioadmin"),
        "user_agent": "MinIO (linux; amd64) minio-go/v7.0.70 mc/RELEASE.2024-04-30T17-44-48Z",
        "request_id": "17CDC1F4D7E69123",
        "authentication": "AuthHeader",
        "endpoint": "localhost",
    }


PATHS = [
    *RECORD, *(f"api/{key}" for key in RECORD["api"]), "responseHeader/ETag",
    "requestQuery/versionId", "requestHeader/Authorization",
]  # fmt: skip


@given(st.sampled_from(PATHS), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(path, new):
    reader.one(record({path: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_record_changes_no_other(at, cuts):
    texts = [json.dumps(record({"requestID": f"id{n}"})) for n in range(4)]
    records = lines("\n".join(texts))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, records), clean, at)

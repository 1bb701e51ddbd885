"""Server access logs as objects have the reading that their lines have."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.landing.detection import Detected, identify
from pipelines.landing.parsing import parse_records
from tests.transforms.staging.export_text import (
    CONTEXT,
    CUTS,
    KEY,
    check_others,
    damaged,
    lines,
    parse,
    word,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, NO_TIMES, TIMES, but, with_changes
from tests.transforms.staging.request_rows import RequestReader
from transforms.redaction import excerpt
from transforms.staging.s3_access_log import PARSER

OWNER = "0123456789abcdef" * 4
SESSION = "arn:aws:sts::111122223333:assumed-role/ml-runs/eks-alder-train-0a1b"
AGENT = "Boto3/1.35.20 ua/2.0 os/linux#6.1.0 app/run-42"
HOST = "example-data.s3.eu-west-1.amazonaws.com"
RECORD = {
    "schema_version_id": "V_1_0",
    "bucket_arn": "arn:aws:s3:::example-data",
    "bucket_name": "example-data",
    "request_time": "2026-03-10T12:02:01.250Z",
    "bucket_owner_id": OWNER,
    "remote_ip": "10.20.1.51",
    "requester": SESSION,
    "request_id": "6NTNFZKAGUI7VK7X",
    "operation": "REST.GET.OBJECT",
    "key_name": "train/shard-0001.tar",
    "request_uri": "GET /train/shard-0001.tar HTTP/1.1",
    "http_status": 200,
    "error_code": None,
    "bytes_sent": 1_048_576,
    "object_size": 1_048_576,
    "total_time": 1_250,
    "turn_around_time": 31,
    "referrer": None,
    "user_agent": AGENT,
    "version_id": "v1.EXAMPLE",
    "host_id": "hostid=",
    "signature_version": "SigV4",
    "cipher_suite": "TLS_AES_128_GCM_SHA256",
    "authentication_type": "AuthHeader",
    "host_header": HOST,
    "tls_version": "TLSv1.3",
    "access_point_arn": None,
    "acl_required": None,
    "source_region": "eu-west-1",
}
REQUEST = {
    "event_at": datetime(2026, 3, 10, 12, 2, 1, 250_000, UTC),
    "provider": "s3",
    "bucket_owner": OWNER,
    "bucket": "example-data",
    "key": "train/shard-0001.tar",
    "version_id": "v1.EXAMPLE",
    "operation": "read",
    "operation_name": "REST.GET.OBJECT",
    "http_method": "GET",
    "status": 200,
    "response_bytes": 1_048_576,
    "object_size_bytes": 1_048_576,
    "is_range": False,
    "duration_seconds": 1.25,
    "turn_around_seconds": 0.031,
    "client_address": "10.20.1.51",
    "principal": SESSION,
    "session_arn": SESSION,
    "user_agent": AGENT,
    "app_id": "run-42",
    "request_id": "6NTNFZKAGUI7VK7X",
    "authentication": "AuthHeader",
    "bucket_region": "eu-west-1",
    "source_region": "eu-west-1",
    "endpoint": HOST,
}
OF_TABLE = {
    "bucketowner": OWNER,
    "bucket_name": "example-data",
    "requestdatetime": "10/Mar/2026:12:02:01 +0000",
    "remoteip": "10.20.1.51",
    "requester": SESSION,
    "requestid": "6NTNFZKAGUI7VK7X",
    "operation": "REST.GET.OBJECT",
    "key": "train/shard-0001.tar",
    "request_uri": '"GET /train/shard-0001.tar HTTP/1.1"',
    "httpstatus": "200",
    "errorcode": "-",
    "bytessent": 1_048_576,
    "objectsize": 1_048_576,
    "totaltime": "1250",
    "turnaroundtime": "31",
    "referrer": '"-"',
    "useragent": f'"{AGENT}"',
    "versionid": "v1.EXAMPLE",
    "hostid": "hostid=",
    "sigv": "SigV4",
    "ciphersuite": "TLS_AES_128_GCM_SHA256",
    "authtype": "AuthHeader",
    "endpoint": HOST,
    "tlsversion": "TLSv1.3",
    "accesspointarn": "-",
    "aclrequired": "-",
}

reader = RequestReader(PARSER)
record = with_changes(RECORD)


def test_every_column_of_a_vended_record_is_read():
    assert reader.request(RECORD) == REQUEST


def test_a_row_of_a_table_has_the_same_reading():
    fields = {"event_at": datetime(2026, 3, 10, 12, 2, 1, tzinfo=UTC), "source_region": None}
    assert reader.request(OF_TABLE) == but(REQUEST, fields)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"remote_ip": None}, {"client_address": None}),
        ({"requester": None}, {"principal": None, "session_arn": None}),
        ({"http_status": None}, {"status": None, "is_range": None}),
        ({"http_status": 206.0}, {"status": 206, "is_range": True}),
        ({"http_status": 404, "error_code": "NoSuchKey"},
         {"status": 404, "error": "NoSuchKey", "is_range": None}),
        ({"bytes_sent": None}, {"response_bytes": None}),
        ({"object_size": ...}, {"object_size_bytes": None}),
        ({"total_time": None, "turn_around_time": -3},
         {"duration_seconds": None, "turn_around_seconds": None}),
        ({"user_agent": ""}, {"user_agent": None, "app_id": None}),
        ({"version_id": ...}, {"version_id": None}),
        ({"host_header": ...}, {"endpoint": None, "bucket_region": None}),
        ({"source_region": None}, {"source_region": None}),
        ({"key_name": None, "operation": "REST.GET.BUCKET"},
         {"key": None, "operation": "list", "operation_name": "REST.GET.BUCKET",
          "is_range": None}),
        ({"request_uri": None}, {"http_method": None}),
        ({"schema_version_id": "V_2_0", "bucket_arn": ..., "added": [5]}, {}),
        ({"acl_required": True, "tls_version": 5, "cipher_suite": ...}, {}),
        ({"request_uri": "GET /k?partNumber=2&uploadId=abc HTTP/1.1"},
         {"part_number": 2, "upload_id": "abc", "is_range": True}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.request(record(changes)) == but(REQUEST, fields)


@pytest.mark.parametrize(
    ("key", "uri", "expected"),
    [
        ("a%253Db", "GET /a%3Db HTTP/1.1", "a=b"),
        ("a%3Db", "GET /a%3Db HTTP/1.1", "a=b"),
        ("a%3Db", "GET /bucket/a%253Db?x HTTP/1.1", "a%3Db"),
        ("100%", "GET /100%25 HTTP/1.1", "100%"),
        ("a=b", "GET /a%3Db HTTP/1.1", "a=b"),
        ("a%253Db", "-", "a=b"),
    ],
)
def test_the_request_line_tells_how_a_key_is_encoded(key, uri, expected):
    values = reader.request(record({"key_name": key, "request_uri": uri}))
    assert values["key"] == expected


@pytest.mark.parametrize(("time", "at"), TIMES)
def test_times_of_any_year_and_precision_are_read(time, at):
    assert reader.request(record({"request_time": time}))["event_at"] == at


@pytest.mark.parametrize("time", NO_TIMES)
def test_what_is_no_time_is_refused(time):
    assert word(reader.one(record({"request_time": time}))) == "no_time"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (record({"operation": "GET OBJECT"}), "operation"),
        (record({"operation": ...}), "not_a_request"),
        (record({"remote_ip": "somewhere"}), "client_address"),
        (record({"http_status": 20}), "status"),
        (record({"bytes_sent": -1}), "bytes_sent"),
        (record({"bytes_sent": 1.5}), "wrong_type"),
        (record({"key_name": ["a"]}), "wrong_type"),
        (record({"request_time": ...}), "no_time"),
        ({}, "not_a_request"),
        ("[5]", "wrong_type"),
        (json.dumps(RECORD)[:-40], "invalid_json"),
        ('{"other":' + "[" * 100_000, "too_deep"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(value, reason):
    assert word(reader.one(value)) == reason


def test_lines_and_objects_may_stand_in_one_file():
    text = (
        f"{OWNER} example-data [10/Mar/2026:12:02:01 +0000] 10.20.1.51 - R REST.GET.OBJECT a "
        '"GET /a HTTP/1.1" 200 - 1 1 1 1 "-" "-" -'
    )
    found = parse(PARSER, f"{text}\n{json.dumps(RECORD)}\n[{json.dumps(RECORD)}]\n")
    assert [word(p) for p in found] == ["accepted"] * 3
    assert [p.locator for p in found] == ["line 1", "line 2", "line 3 $[0]"]


def test_no_credential_of_a_record_is_written():
    token = "ghp_" + "a1B2" * 9
    signed = "GET /a?X-Amz-Credential=AKIAFAKEFAKEFAKEFAKE%2Fx&X-Amz-Signature=FAKEsig HTTP/1.1"
    values = [
        record({"request_uri": signed, "authentication_type": "QueryString"}),
        record({"key_name": token, "user_agent": token, "referrer": f"https://x/?sig={token}"}),
        record({"request_uri": signed, "http_status": 5}),
    ]
    found = parse(PARSER, "\n".join(json.dumps(value) for value in values))
    assert [word(p) for p in found] == ["accepted", "accepted", "status"]
    assert found[0].rows[0][1]["access_key_id_hash"] == KEY.of("AKIAFAKEFAKEFAKEFAKE")
    assert "FAKE" not in written(found)
    assert token not in written(found)
    assert "FAKE" not in excerpt(found[2].raw, 4_000)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(RECORD) + "\n" + json.dumps(RECORD)[:50], 3),
        (json.dumps([RECORD]), 3),
        (json.dumps(OF_TABLE), 3),
        (json.dumps(record({"request_time": ...})), 0),
        (json.dumps(record({"operation": ...})), 0),
        ("[]", 0),
        ('{"bucket":"b"}', 0),
    ],
)
def test_a_file_is_recognised_by_its_first_record(head, score):
    assert PARSER.recognise(head.encode()).score == score


def test_a_parquet_file_of_the_same_fields_has_the_same_rows(tmp_path: Path):
    path = tmp_path / "part-0"
    columns = {
        key: [RECORD[key], record({"request_id": "OTHER"})[key], RECORD[key]] for key in RECORD
    }
    columns["request_time"] = [datetime(2026, 3, 10, 12, 2, 1, 250_000, UTC)] * 3
    columns["http_status"] = [200, 200, 20]
    pq.write_table(pa.table(columns), path)
    detected = identify(path, None, None)
    assert isinstance(detected, Detected)
    assert detected.parser is PARSER
    found = list(parse_records(path, PARSER, CONTEXT))
    assert [(p.locator, p.offset, word(p)) for p in found] == [
        ("row 1", None, "accepted"), ("row 2", None, "accepted"), ("row 3", None, "status"),
    ]  # fmt: skip
    values = {k: v for k, v in found[0].rows[0][1].items() if v is not None}
    del values["record_id"]
    assert values == REQUEST


@given(st.sampled_from(list(RECORD)), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(path, new):
    reader.one(record({path: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_record_changes_no_other(at, cuts):
    records = lines("\n".join(json.dumps(record({"request_id": f"id{n}"})) for n in range(4)))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, records), clean, at)

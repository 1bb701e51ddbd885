"""Operations of Ceph's RADOS Gateway: every sink's form is read, and no query or header is kept.

Constructed records follow `src/rgw/rgw_log.cc`.
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
    damaged,
    lines,
    parse,
    word,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, NO_TIMES, TIMES, but, with_changes
from tests.transforms.staging.request_rows import RequestReader
from transforms.redaction import excerpt
from transforms.staging.ceph_rgw import PARSER
from transforms.staging.parser import RawRecord

AGENT = "Boto3/1.34.0 md/Botocore#1.34.0 app/run-42"
RECORD = {
    "bucket": "example-data",
    "time": "2026-03-10T12:02:01.500613Z",
    "time_local": "2026-03-10T13:02:01.500613+0100",
    "remote_addr": "10.20.1.51",
    "object_owner": "trainer",
    "user": "trainer",
    "operation": "get_obj",
    "uri": "GET /example-data/train/shard%201.tar?versionId=v1&X-Amz-Signature=FAKEsig HTTP/1.1",
    "http_status": "200",
    "error_code": "",
    "bytes_sent": 1_048_576,
    "bytes_received": 0,
    "object_size": 1_048_576,
    "total_time": 1_250,
    "user_agent": AGENT,
    "referrer": "",
    "http_x_headers": [{"HTTP_X_AMZ_SECURITY_TOKEN": "FAKEtoken"}],
    "trans_id": "tx00000a1b2c3d-0065ee-1a2b-default",
    "authentication_type": "Local",
    "access_key_id": "FAKEACCESSKEY",
    "temp_url": False,
}
REQUEST = {
    "event_at": datetime(2026, 3, 10, 12, 2, 1, 500_613, UTC),
    "provider": "ceph",
    "bucket": "example-data",
    "key": "train/shard 1.tar",
    "version_id": "v1",
    "operation": "read",
    "operation_name": "get_obj",
    "http_method": "GET",
    "status": 200,
    "response_bytes": 1_048_576,
    "request_bytes": 0,
    "object_size_bytes": 1_048_576,
    "is_range": False,
    "duration_seconds": 1.25,
    "client_address": "10.20.1.51",
    "principal": "trainer",
    "access_key_id_hash": KEY.of("FAKEACCESSKEY"),
    "user_agent": AGENT,
    "app_id": "run-42",
    "request_id": "tx00000a1b2c3d-0065ee-1a2b-default",
    "authentication": "QueryString",
}

reader = RequestReader(PARSER)
record = with_changes(RECORD)


def test_every_column_of_a_read_is_read():
    assert reader.request(RECORD) == REQUEST


PLAIN = "GET /example-data/a HTTP/1.1"
NO_QUERY = {"key": "a", "version_id": None, "authentication": None}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"uri": PLAIN}, NO_QUERY),
        ({"uri": "GET /example-data/a%2Bb/c"}, NO_QUERY | {"key": "a+b/c"}),
        ({"uri": "/example-data/a"}, NO_QUERY | {"http_method": None}),
        ({"uri": "HEAD /example-data/a HTTP/1.1"},
         NO_QUERY | {"http_method": "HEAD", "operation": "head", "is_range": None}),
        ({"uri": "GET /train/a HTTP/1.1"}, NO_QUERY | {"key": "train/a"}),
        ({"uri": "GET /swift/v1/example-data/a HTTP/1.1"}, NO_QUERY),
        ({"uri": "GET /swift/v1/AUTH_team/example-data/a HTTP/1.1"}, NO_QUERY),
        ({"uri": "GET /team:example-data/a HTTP/1.1", "bucket": "team/example-data"},
         NO_QUERY | {"bucket": "team/example-data"}),
        ({"uri": "GET /example-data HTTP/1.1", "operation": "list_bucket"},
         NO_QUERY | {"key": None, "operation": "list", "operation_name": "list_bucket",
                     "is_range": None, "object_size_bytes": None}),
        ({"uri": "GET / HTTP/1.1", "operation": "list_buckets", "bucket": ""},
         NO_QUERY | {"key": None, "operation": "list", "operation_name": "list_buckets",
                     "is_range": None, "object_size_bytes": None, "bucket": None}),
        ({"uri": "not an URI"}, NO_QUERY | {"key": None, "http_method": None}),
        ({"uri": ...}, NO_QUERY | {"key": None, "http_method": None}),
        ({"uri": "GET /example-data/a?partNumber=3&uploadId=abc HTTP/1.1"},
         NO_QUERY | {"part_number": 3, "upload_id": "abc", "is_range": True}),
        ({"uri": "PUT /example-data/a HTTP/1.1", "operation": "put_obj", "bytes_sent": 0,
          "bytes_received": 10, "object_size": 10},
         NO_QUERY | {"operation": "write", "operation_name": "put_obj", "http_method": "PUT",
                     "response_bytes": 0, "request_bytes": 10, "object_size_bytes": 10,
                     "is_range": None}),
        ({"uri": "GET /example-data/a?temp_url_sig=FAKE HTTP/1.1"},
         {"key": "a", "version_id": None}),
        ({"uri": PLAIN, "temp_url": True}, {"key": "a", "version_id": None}),
        ({"http_status": "206", "bytes_sent": 100},
         {"status": 206, "is_range": True, "response_bytes": 100}),
        ({"http_status": "206", "bytes_sent": 10, "http_x_headers": [{"HTTP_RANGE": "bytes=-10"}]},
         {"status": 206, "is_range": True, "response_bytes": 10,
          "response_offset_bytes": 1_048_566}),
        ({"http_x_headers": [{"HTTP_RANGE": "bytes=5-9"}]}, {}),
        ({"http_status": "404", "error_code": "NoSuchKey", "bytes_sent": 217, "object_size": 0},
         {"status": 404, "error": "NoSuchKey", "response_bytes": 217, "is_range": None,
          "object_size_bytes": None}),
        ({"bytes_sent": 0, "object_size": 0}, {"response_bytes": 0, "object_size_bytes": 0}),
        ({"http_status": "206", "object_size": 0},
         {"status": 206, "is_range": True, "object_size_bytes": None}),
        ({"http_status": 200}, {}),
        ({"http_status": ""}, {"status": None, "is_range": None, "object_size_bytes": None}),
        ({"total_time": 0}, {"duration_seconds": 0.0}),
        ({"total_time": -4}, {"duration_seconds": None}),
        ({"total_time": ...}, {"duration_seconds": None}),
        ({"remote_addr": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
        ({"remote_addr": "192.0.2.1, 10.0.0.1"}, {"client_address": None}),
        ({"user": "team$trainer"}, {"principal": "team$trainer"}),
        ({"user": "anonymous"}, {"principal": None}),
        ({"user": ""}, {"principal": None}),
        ({"bucket": "-"}, {"bucket": None, "key": "example-data/train/shard 1.tar"}),
        ({"access_key_id": ...}, {"access_key_id_hash": None}),
        ({"trans_id": ...}, {"request_id": None}),
        ({"user_agent": ""}, {"user_agent": None, "app_id": None}),
        ({"http_x_headers": 5, "time_local": ..., "referrer": ..., "temp_url": ...}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.request(record(changes)) == but(REQUEST, fields)


def test_the_source_of_a_copy_is_the_only_header_that_is_kept():
    copied = {
        "operation": "copy_obj",
        "uri": "PUT /example-data/a HTTP/1.1",
        "http_x_headers": [
            {"HTTP_X_AMZ_COPY_SOURCE": "/in/a%2Fb?X-Amz-Signature=FAKE"},
            {"HTTP_X_OTHER": "FAKE"},
        ],
    }
    values = reader.request(record(copied))
    assert (values["operation"], values["copy_source"]) == ("copy", "s3://in/a/b")


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("get_obj", "read"), ("put_obj", "write"), ("post_obj", "write"), ("copy_obj", "copy"),
        ("complete_multipart", "write"), ("init_multipart", "other"), ("delete_obj", "delete"),
        ("multi_object_delete", "delete"), ("list_bucket", "list"), ("list_buckets", "list"),
        ("stat_bucket", "head"), ("get_acls", "other"), ("unknown", "other"),
    ],
)  # fmt: skip
def test_operations_are_named_alike_for_all_stores(name, operation):
    values = reader.request(record({"operation": name}))
    assert (values["operation"], values["operation_name"]) == (operation, name)


@pytest.mark.parametrize(
    ("time", "at"), [*TIMES, ("2026-03-10 12:02:01.500613Z", REQUEST["event_at"])]
)
def test_times_of_any_year_and_precision_are_read(time, at):
    assert reader.request(record({"time": time}))["event_at"] == at


@pytest.mark.parametrize("time", [*NO_TIMES, "0.000000", "123.456000"])
def test_what_is_no_time_is_refused(time):
    assert word(reader.one(record({"time": time}))) == "no_time"


OTHERS = [record({"trans_id": f"tx{n}"}) for n in range(3)]
TEXTS = [json.dumps(value) for value in OTHERS]


def ids(parsed):
    return [p.rows[0][1]["request_id"] for p in parsed if p.rows]


def document(text):
    return parse(PARSER, [RawRecord("$", 0, text.encode())])


@pytest.mark.parametrize(
    ("text", "locators"),
    [
        (f"[{TEXTS[0]},\n{TEXTS[1]},\n{TEXTS[2]},\n", ["line 1", "line 2", "line 3"]),
        (f"[{TEXTS[0]},\n{TEXTS[1]},\n{TEXTS[2]}]\n", ["$[0]", "$[1]", "$[2]"]),
        (f"[\n{TEXTS[0]},\n{TEXTS[1]},\n[{TEXTS[2]},\n",
         ["line 1", "line 2", "line 3", "line 4"]),
        (json.dumps(OTHERS, indent=1), ["$[0]", "$[1]", "$[2]"]),
        (json.dumps({"bucket_id": "1", "log_entries": OTHERS, "log_sum": {}}, indent=1),
         ["$.log_entries[0]", "$.log_entries[1]", "$.log_entries[2]"]),
    ],
)  # fmt: skip
def test_what_a_socket_or_the_admin_tool_writes_is_read(text, locators):
    found = document(text)
    assert [p.locator for p in found] == locators
    assert ids(found) == ["tx0", "tx1", "tx2"]


def test_the_lines_of_a_stream_are_read_one_by_one():
    found = parse(PARSER, f"[{TEXTS[0]},\n{TEXTS[1]},\n]\n,\n{TEXTS[2]}\n")
    assert [p.ignore for p in found] == [None, None, "bracket", "bracket", None]
    assert ids(found) == ["tx0", "tx1", "tx2"]


def test_an_item_of_a_stream_has_its_place_in_the_file():
    text = f"[{TEXTS[0]},\n{TEXTS[1]},\n"
    found = document(text)
    assert [p.offset for p in found] == [1, text.index(TEXTS[1])]


def test_a_torn_item_of_a_stream_costs_itself_only():
    found = document(f"[{TEXTS[0]},\n{TEXTS[1][:60]}\n{TEXTS[2]},\n")
    assert [word(p) for p in found] == ["accepted", "invalid_json", "accepted"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (record({"operation": ...}), "operation"),
        (record({"operation": "a b"}), "operation"),
        (record({"http_status": "20"}), "status"),
        (record({"bytes_sent": -1}), "bytes_sent"),
        (record({"bytes_received": "x"}), "bytes_received"),
        (record({"total_time": "x"}), "total_time"),
        (record({"object_size": 2**63}), "object_size"),
        (record({"bucket": 5}), "wrong_type"),
        (record({"time": ...}), "no_time"),
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

    assert record_id(RECORD) == record_id(json.dumps(RECORD) + " ,")
    assert record_id(RECORD) != record_id(record({"trans_id": "other"}))


def test_no_credential_of_a_record_is_written():
    token = "ghp_" + "a1B2" * 9
    values = [
        RECORD,
        record({"uri": f"GET /example-data/{token}?uploadId={token} HTTP/1.1", "user": token,
                "user_agent": f"x {token}", "trans_id": token, "bucket": token}),
        record({"http_status": 5}),
        record({"time": "FAKE"}),
        record({"access_key_id": ["FAKE"]}),
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
        assert "FAKEt" not in shown
        assert "FAKEA" not in shown


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (TEXTS[0] + "\n" + TEXTS[1][:50], 3),
        (f"[{TEXTS[0]},\n{TEXTS[1][:50]}", 3),
        (json.dumps(OTHERS), 3),
        (json.dumps({"bucket_id": "1", "bucket": "b", "log_entries": OTHERS})[:-40], 3),
        (json.dumps(record({"uri": ...})), 0),
        (json.dumps(record({"time": 5})), 0),
        (TEXTS[0][:60], 0),
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


@given(at=st.integers(0, 2), cuts=CUTS)
def test_damage_of_one_record_changes_no_other(at, cuts):
    records = lines("\n".join(TEXTS))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, records), clean, at)

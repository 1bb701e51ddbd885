"""Usage logs of Cloud Storage: every column is read by name, and no signature is kept.

Constructed lines follow the documentation's list of columns.
"""

from datetime import UTC, datetime

import pytest
from hypothesis import given

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
from tests.transforms.staging.lookup_rows import but
from tests.transforms.staging.request_rows import RequestReader
from transforms.redaction import excerpt
from transforms.staging.gcs_usage import PARSER, USAGE_COLUMNS

FIELDS = {
    "time_micros": "1773144121500613",
    "c_ip": "10.20.1.51",
    "c_ip_type": "1",
    "c_ip_region": "",
    "cs_method": "GET",
    "cs_uri": "/example-data/train/shard%201.tar?generation=17",
    "sc_status": "200",
    "cs_bytes": "0",
    "sc_bytes": "1048576",
    "time_taken_micros": "1250000",
    "cs_host": "Storage.Googleapis.com",
    "cs_referer": "",
    "cs_user_agent": "python-gcsfs/2025.3.0 app/run-42,gzip(gfe)",
    "s_request_id": "ADPyEXAMPLE",
    "cs_operation": "GET_Object",
    "cs_bucket": "example-data",
    "cs_object": 'train/shard "1".tar',
}
REQUEST = {
    "event_at": datetime(2026, 3, 10, 12, 2, 1, 500_613, tzinfo=UTC),
    "provider": "gcs",
    "bucket": "example-data",
    "key": 'train/shard "1".tar',
    "version_id": "17",
    "operation": "read",
    "operation_name": "GET_Object",
    "http_method": "GET",
    "status": 200,
    "response_bytes": 1_048_576,
    "request_bytes": 0,
    "is_range": False,
    "duration_seconds": 1.25,
    "client_address": "10.20.1.51",
    "user_agent": "python-gcsfs/2025.3.0 app/run-42",
    "app_id": "run-42",
    "request_id": "ADPyEXAMPLE",
    "endpoint": "storage.googleapis.com",
}


def quoted(values):
    return ",".join('"' + value.replace('"', '""') + '"' for value in values)


HEADER = quoted(USAGE_COLUMNS)
reader = RequestReader(PARSER)


def line(**changes):
    return quoted((FIELDS | changes).values())


def fate(text):
    return word(reader.one(text))


def test_every_column_of_a_read_is_read():
    assert reader.request(line()) == REQUEST


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"c_ip": ""}, {"client_address": None}),
        ({"c_ip": "2001:DB8::1", "c_ip_type": "2"}, {"client_address": "2001:db8::1"}),
        ({"cs_uri": "/example-data/x"}, {"version_id": None}),
        ({"cs_uri": "/example-data/x?generation=1&generation=2"}, {"version_id": None}),
        ({"sc_status": "206"}, {"status": 206, "is_range": True}),
        ({"sc_status": "304"}, {"status": 304, "is_range": None}),
        ({"sc_status": "0"}, {"status": None, "is_range": None}),
        ({"sc_status": ""}, {"status": None, "is_range": None}),
        ({"cs_bytes": "2048"}, {"request_bytes": 2048}),
        ({"cs_bytes": ""}, {"request_bytes": None}),
        ({"sc_bytes": ""}, {"response_bytes": None}),
        ({"time_taken_micros": ""}, {"duration_seconds": None}),
        ({"time_taken_micros": "604800000001"}, {"duration_seconds": None}),
        ({"cs_host": ""}, {"endpoint": None}),
        ({"cs_referer": "http://example.org/?q=a,b"}, {}),
        ({"cs_user_agent": ""}, {"user_agent": None, "app_id": None}),
        ({"cs_user_agent": "GCS Lifecycle Management"},
         {"user_agent": "GCS Lifecycle Management", "app_id": None}),
        ({"s_request_id": ""}, {"request_id": None}),
        ({"cs_bucket": "", "cs_object": ""}, {"bucket": None, "key": None}),
        ({"cs_object": "集"}, {"key": "集"}),
        ({"cs_method": "SPAM"}, {"http_method": None}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.request(line(**changes)) == but(REQUEST, fields)


def test_the_region_is_the_exports():
    assert reader.request(line(), region="us-east1")["bucket_region"] == "us-east1"


@pytest.mark.parametrize(
    ("stated_operation", "operation"),
    [
        ("GET_Object", "read"),
        ("HEAD_Object", "head"),
        ("PUT_Object", "write"),
        ("POST_Object", "write"),
        ("DELETE_Object", "delete"),
        ("COPY_Object", "copy"),
        ("GET_Bucket", "list"),
        ("GET_Service", "list"),
        ("GET_ACL", "other"),
        ("DELETE_Bucket", "other"),
    ],
)
def test_operations_are_named_alike_for_all_stores(stated_operation, operation):
    values = reader.request(line(cs_operation=stated_operation))
    assert (values["operation"], values["operation_name"]) == (operation, stated_operation)


@pytest.mark.parametrize(
    ("method", "uri", "operation"),
    [
        ("GET", "/storage/v1/b/b/o/train%2Fx?alt=media", "read"),
        ("GET", "/download/storage/v1/b/b/o/train%2Fx?alt=media", "read"),
        ("GET", "/storage/v1/b/b/o/train%2Fx", "head"),
        ("GET", "/storage/v1/b/b/o?prefix=a%2Cb", "list"),
        ("GET", "/storage/v1/b?project=x", "list"),
        ("GET", "/storage/v1/b/b", "other"),
        ("GET", "/storage/v1/b/b/iam", "other"),
        ("POST", "/upload/storage/v1/b/b/o?uploadType=resumable", "write"),
        ("PUT", "/upload/storage/v1/b/b/o?uploadType=resumable&upload_id=FAKE", "write"),
        ("PUT", "/resumable/upload/storage/v1/b/b/o?upload_id=FAKE", "write"),
        ("DELETE", "/upload/storage/v1/b/b/o?upload_id=FAKE", "other"),
        ("POST", "/storage/v1/b/b/o/x/rewriteTo/b/c/o/y", "copy"),
        ("POST", "/storage/v1/b/b/o/x/copyTo/b/c/o/y", "copy"),
        ("POST", "/storage/v1/b/b/o/x/compose", "other"),
        ("PATCH", "/storage/v1/b/b/o/x", "other"),
        ("DELETE", "/storage/v1/b/b/o/x", "delete"),
        ("DELETE", "/storage/v1/b/b", "other"),
        ("GET", "/b/x", "read"),
        ("HEAD", "/b/x", "head"),
        ("PUT", "/b/x", "write"),
        ("OPTIONS", "/b/x", "other"),
    ],
)
def test_a_request_without_a_stated_operation_is_told_by_its_uri(method, uri, operation):
    values = reader.request(line(cs_operation="", cs_method=method, cs_uri=uri))
    assert (values["operation"], values["operation_name"]) == (operation, method)


def test_a_request_without_object_and_operation_is_a_listing_or_other():
    found = [
        reader.request(line(cs_operation="", cs_object="", cs_method=method))["operation"]
        for method in ("GET", "HEAD", "POST", "")
    ]
    assert found == ["list", "head", "other", "other"]


def test_columns_are_read_by_the_names_of_the_header():
    names = [*reversed(USAGE_COLUMNS), "later"]
    values = [*reversed(FIELDS.values()), "x"]
    text = "\n".join([quoted(names), quoted(values), HEADER, line()])
    found = parse(PARSER, text)
    check_each(found)
    assert [word(p) for p in found] == ["header", "accepted", "header", "accepted"]
    assert [stated(row, "record_id") for row in rows(found, "object_requests")] == [REQUEST] * 2


def test_a_storage_log_holds_no_requests():
    found = parse(PARSER, '"bucket","storage_byte_hours"\n"example-data","4096"')
    assert [word(p) for p in found] == ["header", "storage_usage"]


def test_a_byte_order_mark_and_a_carriage_return_are_no_part_of_a_line():
    found = parse(PARSER, f"\ufeff{HEADER}\r\n{line()}\r\n")
    assert [word(p) for p in found] == ["header", "accepted"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (line(time_micros=""), "no_time"),
        (line(time_micros="x"), "time_micros"),
        (line(time_micros="9" * 18), "no_time"),
        (line(c_ip="internal"), "c_ip"),
        (line(sc_status="20"), "status"),
        (line(sc_bytes="-5"), "sc_bytes"),
        (line(cs_bytes="1.5"), "cs_bytes"),
        (line(cs_bytes=str(2**63)), "cs_bytes"),
        (line(time_taken_micros="x"), "time_taken_micros"),
        (line()[:200], "unreadable_line"),
        (line() + ',"more"', "columns"),
        (quoted(list(FIELDS.values())[:5]), "columns"),
        (line() + "x", "unreadable_line"),
        ('"x"y', "unreadable_line"),
        (line(cs_user_agent="x" * 140_000), "unreadable_line"),
        ("free text", "columns"),
        ('{"flow":{}}', "columns"),
    ],
)
def test_a_line_that_cannot_be_kept_is_refused_with_its_reason(text, reason):
    assert fate(text) == reason


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (quoted([*USAGE_COLUMNS, *(f"more_{n}" for n in range(84))]), "too_many_columns"),
        (quoted([*USAGE_COLUMNS, "x" * 257]), "name_too_long"),
        (quoted([*USAGE_COLUMNS, "cs_uri"]), "duplicate_column"),
    ],
)
def test_limits_of_columns_have_clear_errors(header, reason):
    assert fate(header) == reason


def test_files_behind_each_other_are_read_by_their_own_headers():
    swapped = ["cs_object", "cs_bucket", *USAGE_COLUMNS[:-2]]
    other = quoted((FIELDS | {"s_request_id": "OTHER"})[name] for name in swapped)
    found = parse(PARSER, "\n".join([HEADER, line(), quoted(swapped), other, HEADER, line()]))
    assert [word(p) for p in found] == [
        "header", "accepted", "header", "accepted", "header", "accepted",
    ]  # fmt: skip
    assert {p.rows[0][1]["key"] for p in found if p.rows} == {FIELDS["cs_object"]}


@pytest.mark.parametrize(
    ("micros", "at"),
    [
        ("0", datetime(1970, 1, 1, tzinfo=UTC)),
        ("1", datetime(1970, 1, 1, 0, 0, 0, 1, UTC)),
        ("1773144121000000", datetime(2026, 3, 10, 12, 2, 1, 0, UTC)),
        ("253402300799999999", datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)),
    ],
)
def test_times_of_any_year_are_read(micros, at):
    assert reader.request(line(time_micros=micros))["event_at"] == at


@pytest.mark.parametrize("micros", ["253402300800000000", "-1", "1773144121.5", "1e15", " 1"])
def test_what_is_no_time_is_refused(micros):
    assert fate(line(time_micros=micros)) in {"no_time", "time_micros"}


@pytest.mark.parametrize("micros", ["-1", "-1250000", "604800000001", ""])
def test_a_duration_of_no_time_or_weeks_is_unknown(micros):
    values = reader.request(line(time_taken_micros=micros))
    assert values == but(REQUEST, {"duration_seconds": None})


def test_a_record_is_its_whole_line():
    def record_id(text):
        return reader.row(text)[1]["record_id"]

    assert record_id(line()) == record_id(line())
    # Requests of a batch share a request id.
    assert record_id(line()) != record_id(line(cs_object="train/other"))


def test_no_signature_and_no_session_of_an_upload_is_written():
    secret = "FAKEsignatureFAKE"
    token = "ghp_" + "a1B2" * 9
    query = f"?GoogleAccessId=a%40example.com&Signature={secret}&upload_id={secret}"
    found = parse(
        PARSER,
        "\n".join(
            [
                line(cs_uri=f"/b/k{query}", cs_referer=f"https://example.com/{query}"),
                line(cs_uri=f"/b/k{query}", sc_status="x"),
                line(cs_uri=f"/b/k{query}")[:-40],
                line(cs_object=f"a/{token}", cs_user_agent=f"x {token}", cs_operation=token),
            ]
        ),
    )
    assert [word(p) for p in found] == ["accepted", "status", "unreadable_line", "accepted"]
    kept = written(found) + "".join(excerpt(p.raw) for p in found if p.reject)
    assert secret not in kept
    assert token not in kept
    first, last = rows(found, "object_requests")
    assert first["authentication"] == "QueryString"
    assert last["key"] == "a/***"


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (line() + "\n", 2),
        (line(cs_method="get"), 0),
        (line(time_micros="now"), 0),
        (f"{HEADER}\n{line()}", 3),
        (f"\ufeff{HEADER}\r\n", 3),
        (f"\n{HEADER}", 3),
        ('"bucket","storage_byte_hours"\n"b","1"', 3),
        (HEADER[:60], 0),
        ('"time","bytes"\n"1","2"', 0),
        ("bucket", 0),
        ("{}", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_header(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_values_of_sample_lines_are_those_that_stand_in_them(samples):
    path = samples / "object_storage" / "example_usage_2023_08_28_07_00_00_0123abcd_v0"
    found = parse_file(PARSER, path)
    check_each(found)
    check_rows(found)
    assert words(found) == {"header": 1, "accepted": 3}
    read, write, listing = rows(found, "object_requests")
    assert read["event_at"] == datetime(2023, 8, 28, 7, 0, 14, 339_368, tzinfo=UTC)
    assert (read["key"], read["endpoint"]) == ("v1/kanji/集", "kanjiapi.dev")
    assert (read["response_bytes"], read["duration_seconds"]) == (277, 0.488)
    assert (write["operation"], write["request_bytes"]) == ("write", 2048)
    assert (write["authentication"], write["user_agent"]) == ("QueryString", "Java/1.8.0_171")
    assert (listing["operation"], listing["key"], listing["response_bytes"]) == ("list", None, 5310)


@given(at=..., cuts=CUTS)
def test_damage_of_one_line_changes_no_other(at: bool, cuts):
    records = lines("\n".join([HEADER, line(), line(cs_object="b"), line(cs_object="c")]))
    clean = parse(PARSER, records)
    index = 3 if at else 1
    records[index] = records[index]._replace(data=damaged(records[index].data, cuts))
    check_others(parse(PARSER, records), clean, index)

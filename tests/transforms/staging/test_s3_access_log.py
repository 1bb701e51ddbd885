from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    KEY,
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
from transforms.redaction import KeyedHash
from transforms.staging import s3_access_log
from transforms.staging.s3_access_log import PARSER

OWNER = "0123456789abcdef" * 4
SESSION = "arn:aws:sts::111122223333:assumed-role/ml-runs/eks-alder-train-0a1b"
AGENT = "Boto3/1.35.20 ua/2.0 os/linux#6.1.0 app/run-42"
FIELDS = {
    "owner": OWNER,
    "bucket": "example-data",
    "time": "[10/Mar/2026:12:02:01 +0000]",
    "address": "10.20.1.51",
    "requester": SESSION,
    "request_id": "6NTNFZKAGUI7VK7X",
    "operation": "REST.GET.OBJECT",
    "key": "train/shard-0001.tar",
    "uri": '"GET /train/shard-0001.tar HTTP/1.1"',
    "status": "200",
    "error": "-",
    "sent": "1048576",
    "size": "1048576",
    "total": "1250",
    "turn": "31",
    "referer": '"-"',
    "agent": f'"{AGENT}"',
    "version": "v1.EXAMPLE",
    "host_id": "hostid=",
    "signature": "SigV4",
    "cipher": "TLS_AES_128_GCM_SHA256",
    "authentication": "AuthHeader",
    "host": "example-data.s3.eu-west-1.amazonaws.com",
    "tls": "TLSv1.3",
    "access_point": "-",
    "acl": "-",
}


def line(**changes: str) -> str:
    return " ".join((FIELDS | changes).values())


def row(text: str, **context):
    (parsed,) = parse(PARSER, text, **context)
    assert parsed.reject is None, parsed.reject
    check_rows([parsed])
    return parsed.rows[0][1]


def fate(text: str | bytes) -> str:
    (parsed,) = parse(PARSER, text)
    check_each([parsed])
    return word(parsed)


def test_a_plain_read_fills_every_column_that_the_line_states():
    (parsed,) = parse(PARSER, line())
    assert [table for table, _ in parsed.rows] == ["object_requests"]
    assert stated(parsed.rows[0][1], "record_id") == {
        "event_at": datetime(2026, 3, 10, 12, 2, 1, tzinfo=UTC),
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
        "endpoint": "example-data.s3.eu-west-1.amazonaws.com",
    }


@pytest.mark.parametrize(
    ("field", "columns"),
    [
        ("owner", ["bucket_owner"]),
        ("bucket", ["bucket"]),
        ("address", ["client_address"]),
        ("requester", ["principal", "session_arn"]),
        ("request_id", ["request_id"]),
        ("key", ["key"]),
        ("uri", ["http_method"]),
        ("status", ["status"]),
        ("error", ["error"]),
        ("sent", ["response_bytes"]),
        ("size", ["object_size_bytes"]),
        ("total", ["duration_seconds"]),
        ("turn", ["turn_around_seconds"]),
        ("agent", ["user_agent", "app_id"]),
        ("version", ["version_id"]),
        ("authentication", ["authentication"]),
        ("host", ["endpoint", "bucket_region", "vpc_endpoint_id"]),
        ("access_point", ["access_point"]),
    ],
)
def test_a_dash_is_null(field, columns):
    for dash in ("-", '"-"') if field in {"uri", "agent"} else ("-",):
        values = row(line(**{field: dash}))
        assert [values[column] for column in columns] == [None] * len(columns)


@pytest.mark.parametrize("count", [18, 19, 22, 24, 25, 26])
def test_fields_that_an_older_log_does_not_have_are_null(count):
    values = row(" ".join(list(FIELDS.values())[:count]))
    assert values["response_bytes"] == 1_048_576
    assert values["user_agent"] == AGENT
    assert values["version_id"] == "v1.EXAMPLE"
    assert values["authentication"] == ("AuthHeader" if count >= 22 else None)
    assert values["bucket_region"] == ("eu-west-1" if count >= 24 else None)


@pytest.mark.parametrize("more", ["-", "- new newer newest", "- - - - - - -", "  "])
def test_fields_that_aws_may_append_are_passed_over(more):
    values, plain = row(f"{line()} {more}"), row(line())
    assert values | {"record_id": ""} == plain | {"record_id": ""}


def test_seventeen_fields_are_too_few():
    assert fate(" ".join(list(FIELDS.values())[:17])) == "unreadable_line"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"agent": '""Mozilla/5.0 (X11)"'}, {"user_agent": '"Mozilla/5.0 (X11)'}),
        ({"agent": '"curl/8"""'}, {"user_agent": 'curl/8""'}),
        ({"agent": '""'}, {"user_agent": None}),
        ({"agent": '"a "b" c"'}, {"user_agent": 'a "b" c'}),
        ({"uri": '"GET /x/a"b.tar HTTP/1.1"'}, {"http_method": "GET"}),
        ({"uri": '"GET /" HTTP/1.1"', "key": "%2522"}, {"key": '"'}),
        ({"uri": '"PUT /?f="a";g="b"," HTTP/1.1"'}, {"http_method": "PUT"}),
        ({"referer": '"https://example.com/?q="x" y"'}, {"user_agent": AGENT}),
        ({"referer": '""'}, {"user_agent": AGENT}),
        ({"referer": '"a b c"', "uri": '"GET /a b HTTP/1.1"'}, {"http_method": "GET"}),
    ],
)
def test_quotes_and_blanks_inside_quoted_fields_move_no_other_field(changes, expected):
    values = row(line(**changes))
    assert {name: values[name] for name in expected} == expected
    assert (values["status"], values["response_bytes"]) == (200, 1_048_576)
    assert (values["duration_seconds"], values["turn_around_seconds"]) == (1.25, 0.031)
    assert values["version_id"] == "v1.EXAMPLE"
    assert values["endpoint"] == "example-data.s3.eu-west-1.amazonaws.com"


@pytest.mark.parametrize(
    "changes",
    [
        {"uri": '"GET /k?x=" 200 - 999999 5 1 1 "-" "-" HTTP/1.1"', "status": "404"},
        {"agent": '"x" 200 - 999999 5 1 1 "-" "-"', "status": "404"},
        {"referer": '"x" 200 - 999999 5 1 1 "-" "-"', "status": "404"},
        {"agent": '"a" "b"'},
        {"referer": '"a" "b"'},
    ],
)
def test_a_line_whose_quotes_can_be_read_in_two_ways_is_refused(changes):
    assert fate(line(**changes)) == "ambiguous_quotes"


HOSTILE = st.lists(
    st.sampled_from(
        ['"', '" "', " ", "-", '"-"', "200", "206", "404", " 1 1 1 1 ", "999999", "x", " - ",
         '" 200 - 999999 5 1 1 "', '"-" "-"', "HTTP/1.1", "app/forged", "\t", "é", "?", "&", "="],
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(uri=HOSTILE, referer=HOSTILE, agent=HOSTILE)
def test_no_text_of_a_client_becomes_a_number_of_the_record(uri, referer, agent):
    text = line(uri=f'"GET /{uri}"', referer=f'"{referer}"', agent=f'"{agent}"')
    (parsed,) = parse(PARSER, text)
    check_each([parsed])
    if parsed.rows:
        values = parsed.rows[0][1]
        assert values["status"] == 200
        assert values["response_bytes"] == values["object_size_bytes"] == 1_048_576
        assert (values["duration_seconds"], values["turn_around_seconds"]) == (1.25, 0.031)
        assert values["version_id"] == "v1.EXAMPLE"
    else:
        assert word(parsed) == "ambiguous_quotes"


PLAIN = st.text(st.characters(blacklist_characters='"\n', blacklist_categories=["Cs"]), max_size=20)


@given(uri=PLAIN, referer=PLAIN, agent=PLAIN, count=st.integers(18, 26))
def test_splitting_and_the_anchored_pattern_read_the_same(uri, referer, agent, count):
    fields = FIELDS | {"uri": f'"{uri}"', "referer": f'"{referer}"', "agent": f'"{agent}"'}
    text = " ".join(list(fields.values())[:count])
    split, matched = s3_access_log._split(text), s3_access_log._match(text)
    assert split is not None
    assert [list(part) for part in split] == [list(part) for part in matched]


def test_two_blanks_around_the_address_are_read_as_one():
    double = line().replace("10.20.1.51 arn", "10.20.1.51  arn")
    assert row(double) | {"record_id": ""} == row(line()) | {"record_id": ""}


def test_a_record_is_identified_by_its_whole_line():
    first, again, other = (
        row(text)["record_id"] for text in (line(), line(), line(host_id="other="))
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("key", "operation", "expected"),
    [
        ("plain/key.tar", "REST.GET.OBJECT", "plain/key.tar"),
        ("year%253D2020/a%2520b", "REST.GET.OBJECT", "year=2020/a b"),
        ("a%252Bb+c", "REST.GET.OBJECT", "a+b+c"),
        ("%25253D", "REST.GET.OBJECT", "%3D"),
        ("%25C3%25A9", "REST.PUT.OBJECT", "é"),
        ("%25FF", "REST.GET.OBJECT", "%FF"),
        ("Screen+Shot%2B1.png", "BATCH.DELETE.OBJECT", "Screen Shot+1.png"),
        ("year%3D2020", "S3.EXPIRE.OBJECT", "year=2020"),
        ("%253D", "S3.EXPIRE.OBJECT", "%3D"),
    ],
)
def test_keys_are_decoded_as_often_as_the_operation_encodes_them(key, operation, expected):
    assert row(line(key=key, operation=operation))["key"] == expected


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("REST.GET.OBJECT", "read"),
        ("WEBSITE.GET.OBJECT", "read"),
        ("REST.HEAD.OBJECT", "head"),
        ("REST.PUT.OBJECT", "write"),
        ("REST.PUT.PART", "write"),
        ("REST.POST.UPLOAD", "write"),
        ("REST.POST.UPLOADS", "other"),
        ("REST.DELETE.UPLOAD", "other"),
        ("REST.GET.BUCKET", "list"),
        ("REST.DELETE.OBJECT", "delete"),
        ("REST.POST.MULTI_OBJECT_DELETE", "delete"),
        ("BATCH.DELETE.OBJECT", "delete"),
        ("S3.EXPIRE.OBJECT", "delete"),
        ("S3.TRANSITION_SIA.OBJECT", "other"),
        ("REST.COPY.OBJECT", "copy"),
        ("REST.COPY.PART_GET", "copy"),
        ("REST.GET.OBJECT_TAGGING", "other"),
        ("REST.GET.ACL", "other"),
    ],
)
def test_operations_are_named_alike_for_all_stores(name, operation):
    values = row(line(operation=name))
    assert (values["operation"], values["operation_name"]) == (operation, name)


@pytest.mark.parametrize(
    ("operation", "status", "query", "expected"),
    [
        ("REST.GET.OBJECT", "200", "", False),
        ("REST.GET.OBJECT", "206", "", True),
        ("REST.GET.OBJECT", "416", "", True),
        ("REST.GET.OBJECT", "200", "?partNumber=2", True),
        ("REST.GET.OBJECT", "304", "", None),
        ("REST.GET.OBJECT", "403", "", None),
        ("REST.GET.OBJECT", "-", "", None),
        ("REST.PUT.OBJECT", "200", "", None),
        ("REST.PUT.PART", "200", "?partNumber=2&uploadId=u", None),
    ],
)
def test_a_range_is_told_by_status_and_part_number(operation, status, query, expected):
    uri = f'"GET /k{query} HTTP/1.1"'
    assert row(line(operation=operation, status=status, uri=uri))["is_range"] is expected


def test_a_part_of_an_upload_names_upload_and_part():
    uri = '"PUT /ckpt/step-1.pt?partNumber=17&uploadId=abc.DEF_1~2- HTTP/1.1"'
    values = row(line(operation="REST.PUT.PART", uri=uri, sent="-"))
    assert (values["upload_id"], values["part_number"]) == ("abc.DEF_1~2-", 17)
    assert (values["operation"], values["response_bytes"]) == ("write", None)


@pytest.mark.parametrize("part", ["0", "10001", "x", "", "1&partNumber=2"])
def test_a_part_number_that_says_nothing_is_null(part):
    uri = f'"PUT /k?partNumber={part}&uploadId=%22 HTTP/1.1"'
    values = row(line(operation="REST.PUT.PART", uri=uri))
    assert (values["part_number"], values["upload_id"]) == (None, None)


def test_a_batch_delete_has_no_request_line():
    values = row(
        line(operation="BATCH.DELETE.OBJECT", uri="-", status="204", sent="-", total="-", turn="-",
             referer="-", agent="-", version="-")
    )  # fmt: skip
    assert (values["operation"], values["http_method"]) == ("delete", None)
    assert (values["response_bytes"], values["duration_seconds"]) == (None, None)


def test_a_lifecycle_action_has_no_address_and_no_status():
    values = row(
        line(address="-", requester="AmazonS3", operation="S3.EXPIRE.OBJECT", uri='"-"',
             status="-", sent="-", total="-", turn="-", agent='"-"', signature="-", cipher="-",
             authentication="-", host="-", tls="-")
    )  # fmt: skip
    assert values["principal"] == "AmazonS3"
    assert values["client_address"] is None
    assert values["status"] is None
    assert values["authentication"] is None


def test_the_source_side_of_a_copy_names_its_object():
    common = {"uri": "-", "sent": "-", "referer": "-", "agent": "-"}
    source = row(line(operation="REST.COPY.OBJECT_GET", key="a/b", **common))
    target = row(line(operation="REST.COPY.OBJECT", key="c/d", **common))
    assert (source["operation"], source["copy_source"]) == ("copy", "s3://example-data/a/b")
    assert (target["operation"], target["copy_source"]) == ("copy", None)


@pytest.mark.parametrize(
    ("requester", "session"),
    [
        (SESSION, SESSION),
        ("arn:aws-us-gov:sts::111122223333:federated-user/jane",) * 2,
        ("arn:aws:iam::111122223333:user/jane@example.com", None),
        ("arn:aws:sts::111122223333:assumed-role/no-session", None),
        ("svc:delivery.logs.amazonaws.com", None),
        (OWNER, None),
    ],
)
def test_only_sessions_of_temporary_credentials_have_a_session(requester, session):
    values = row(line(requester=requester))
    assert (values["principal"], values["session_arn"]) == (requester, session)


SIGNED = (
    "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=ASIAFAKEEXAMPLE2PODS%2F20260310%2Feu-west-1"
    "%2Fs3%2Faws4_request&X-Amz-Security-Token=FAKEtoken&X-Amz-Signature=FAKEsignature"
)


def signed(query: str = SIGNED, **changes: str) -> str:
    fields = {"authentication": "QueryString", "uri": f'"GET /k{query} HTTP/1.1"'}
    return line(**(fields | changes))


def test_the_key_id_of_a_presigned_request_becomes_a_keyed_hash():
    expected = KEY.of("ASIAFAKEEXAMPLE2PODS")
    assert row(signed())["access_key_id_hash"] == expected
    assert row(signed(SIGNED.replace("%2F", "/")))["access_key_id_hash"] == expected
    old = "?AWSAccessKeyId=ASIAFAKEEXAMPLE2PODS&Signature=FAKEsignature&Expires=1"
    assert row(signed(old, signature="SigV2"))["access_key_id_hash"] == expected
    assert row(signed(), key_hash=KeyedHash(None))["access_key_id_hash"] is None


@pytest.mark.parametrize(
    "changes",
    [
        {"authentication": "AuthHeader"},
        {"authentication": "-"},
        {"requester": "-"},
        {"query": SIGNED + "&X-Amz-Credential=ASIAFAKEEXAMPLEOTHER%2F20260310"},
        {"query": "?X-Amz-Credential=%20/x"},
        {"query": "?X-Amz-Credential="},
    ],
)
def test_a_key_id_that_s3_did_not_check_is_no_evidence(changes):
    assert row(signed(**changes))["access_key_id_hash"] is None


def test_nothing_of_a_signed_query_is_written():
    secrets = ("FAKEtoken", "FAKEsignature", "ASIAFAKEEXAMPLE2PODS")
    broken = [signed(sent="x"), signed(time="[10/Foo/2026]"), signed() + ' "', signed(address="y")]
    referred = line(referer=f'"https://example.com/{SIGNED}"')
    token = "ghp_" + "a1B2" * 9
    named = line(
        key=f"logs/{token}", agent=f'"curl {token}"', requester=f"arn:aws:iam::1:user/{token}"
    )
    found = parse(PARSER, "\n".join([signed(), *broken, referred, named]))
    text = written(found)
    assert not [secret for secret in (*secrets, token) if secret in text]
    assert rows(found, "object_requests")[-1]["key"] == "logs/***"


@pytest.mark.parametrize(
    ("agent", "app_id"),
    [
        ("app/run-42", "run-42"),
        ("Boto3/1 app/a+b.c~d Botocore/1", "a+b.c~d"),
        ("Boto3/1 app/one app/one", "one"),
        ("Boto3/1 app/one app/two", None),
        ("Boto3/1 myapp/one", None),
        ("Boto3/1 app/", None),
        ("Boto3/1 app/" + "x" * 51, None),
        ("Boto3/1 app/" + "x" * 50, "x" * 50),
        ("Boto3/1 app/one;two", None),
        ("Boto3/1 app/ghp_" + "a1B2" * 9, None),
    ],
)
def test_an_application_states_its_id_in_the_user_agent(agent, app_id):
    assert row(line(agent=f'"{agent}"'))["app_id"] == app_id


@pytest.mark.parametrize(
    ("host", "endpoint", "region", "vpc_endpoint"),
    [
        ("b.s3.amazonaws.com", "b.s3.amazonaws.com", None, None),
        ("s3.us-east-1.amazonaws.com", "s3.us-east-1.amazonaws.com", "us-east-1", None),
        ("S3-us-gov-west-1.amazonaws.com:443", "s3-us-gov-west-1.amazonaws.com", "us-gov-west-1",
         None),
        ("b.s3.dualstack.eu-north-1.amazonaws.com", "b.s3.dualstack.eu-north-1.amazonaws.com",
         "eu-north-1", None),
        ("b.s3-website.cn-north-1.amazonaws.com.cn", "b.s3-website.cn-north-1.amazonaws.com.cn",
         "cn-north-1", None),
        ("a-111122223333.s3-accesspoint.us-west-2.amazonaws.com",
         "a-111122223333.s3-accesspoint.us-west-2.amazonaws.com", "us-west-2", None),
        ("b--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com",
         "b--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com", "us-west-2", None),
        ("b.bucket.vpce-0123456789abcdef0-abcd1234.s3.eu-west-1.vpce.amazonaws.com",
         "b.bucket.vpce-0123456789abcdef0-abcd1234.s3.eu-west-1.vpce.amazonaws.com", "eu-west-1",
         "vpce-0123456789abcdef0"),
        ("b.s3-accelerate.amazonaws.com", "b.s3-accelerate.amazonaws.com", None, None),
        ("s3.eu-west-1.b.s3.amazonaws.com", "s3.eu-west-1.b.s3.amazonaws.com", None, None),
        ("s3.eu-west-1.amazonaws.com.example.com", "s3.eu-west-1.amazonaws.com.example.com", None,
         None),
        ("données", None, None, None),
    ],
)  # fmt: skip
def test_a_regional_endpoint_names_the_bucket_region(host, endpoint, region, vpc_endpoint):
    values = row(line(host=host))
    assert values["endpoint"] == endpoint
    assert values["bucket_region"] == region
    assert values["vpc_endpoint_id"] == vpc_endpoint


@pytest.mark.parametrize(
    ("changes", "region"),
    [
        ({"status": "301"}, None),
        ({"status": "307"}, None),
        ({"status": "400"}, None),
        ({"status": "404"}, "eu-west-1"),
        ({"host": "b.s3.amazonaws.com",
          "access_point": "arn:aws:s3:us-west-1:111122223333:accesspoint/a"}, "us-west-1"),
        ({"host": "b.s3.amazonaws.com",
          "access_point": "arn:aws:s3::111122223333:accesspoint/a.mrap"}, None),
    ],
)  # fmt: skip
def test_a_wrong_endpoint_says_nothing_of_the_bucket_region(changes, region):
    assert row(line(**changes))["bucket_region"] == region
    assert row(line(**changes), region="sa-east-1")["bucket_region"] == (region or "sa-east-1")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"time": "[10/Mrz/2026:12:02:01 +0000]"}, "time"),
        ({"time": "[31/Feb/2026:12:02:01 +0000]"}, "time"),
        ({"time": "[10/Mar/2026:12:02:61 +0000]"}, "time"),
        ({"time": "[01/Jan/0001:00:00:00 +2359]"}, "time"),
        ({"time": "10/Mar/2026:12:02:01 +0000"}, "unreadable_line"),
        ({"address": "internal"}, "client_address"),
        ({"operation": "-"}, "operation"),
        ({"operation": "REST"}, "operation"),
        ({"status": "20"}, "status"),
        ({"status": "2000"}, "status"),
        ({"sent": "-5"}, "bytes_sent"),
        ({"sent": "12,5"}, "bytes_sent"),
        ({"sent": "9223372036854775808"}, "bytes_sent"),
        ({"size": "٣"}, "object_size"),
        ({"total": "1.5"}, "total_time"),
        ({"turn": "x"}, "turn_around_time"),
        ({"version": "-  "}, "unreadable_line"),
        ({"uri": "GET"}, "unreadable_line"),
    ],
)
def test_a_field_that_does_not_hold_what_its_place_says_is_refused(changes, reason):
    assert fate(line(**changes)) == reason


@pytest.mark.parametrize(
    "text",
    ["x", '"', '"' * 8, "  x", line()[70:], line()[:200], line()[:300], "\x00\x00"],
)
def test_a_torn_line_is_refused(text):
    assert fate(text) == "unreadable_line"


def test_a_line_beyond_all_limits_of_s3_is_refused_unread():
    assert fate(line(agent='"' + "x" * 70_000 + '"')) == "unreadable_line"
    assert fate(line(agent='"' + '" 200 - 1 1 1 1 "-" "' * 2_500 + '"')) == "ambiguous_quotes"


def test_times_with_another_offset_become_utc():
    values = row(line(time="[10/Mar/2026:00:30:00 +0130]"))
    assert values["event_at"] == datetime(2026, 3, 9, 23, tzinfo=UTC)


def test_bytes_that_are_no_utf8_stay_in_their_field():
    text = line(agent='"curl \xff\xfe"').encode("latin-1")
    (parsed,) = parse(PARSER, text)
    assert parsed.rows[0][1]["user_agent"] == "curl \ufffd\ufffd"


@pytest.mark.parametrize(
    ("time", "at"),
    [
        ("[01/Jan/1970:00:00:00 +0000]", datetime(1970, 1, 1, tzinfo=UTC)),
        ("[31/Dec/9999:23:59:59 +0000]", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("[31/Dec/2016:23:59:60 +0000]", datetime(2016, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("[10/Mar/2026:17:47:01 +0545]", datetime(2026, 3, 10, 12, 2, 1, tzinfo=UTC)),
        ("[10/Mar/2026:02:32:01 -0930]", datetime(2026, 3, 10, 12, 2, 1, tzinfo=UTC)),
    ],
)
def test_times_of_any_year_and_zone_are_read(time, at):
    assert row(line(time=time))["event_at"] == at


@pytest.mark.parametrize("time", ["[31/Dec/9999:23:59:59 -0100]", "[10/Mar/2026:12:02:61 +0000]"])
def test_what_is_no_time_is_refused(time):
    assert fate(line(time=time)) == "time"


@pytest.mark.parametrize("text", ["-1", "-250", "604800001"])
@pytest.mark.parametrize("address", ["10.20.1.51", " 10.20.1.51"])
def test_a_duration_of_no_time_or_weeks_is_unknown(text, address):
    values = row(line(total=text, turn=text, address=address))
    assert (values["duration_seconds"], values["turn_around_seconds"]) == (None, None)
    assert row(line(total=text, turn=text, agent='"a "b" c"'))["duration_seconds"] is None


def test_the_newest_field_names_the_region_of_the_request():
    text = line() + " us-east-1"
    assert row(text)["source_region"] == "us-east-1"
    assert row(line() + " -")["source_region"] is None
    assert row(text + " more 5 -")["source_region"] == "us-east-1"


@given(at=st.integers(0, 2), cuts=CUTS)
def test_damage_of_one_line_changes_no_other(at, cuts):
    records = lines("\n".join([line(), line(uri='"GET /a"b HTTP/1.1"'), signed()]))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, records), clean, at)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (line(), 3),
        (line()[:260], 3),
        ("\n\n" + line(), 3),
        ("torn\n" + line(), 2),
        (line(operation="GET"), 0),
        ('192.0.2.1 - - [10/Mar/2026:12:02:01 +0000] "GET / HTTP/1.1" 200 5', 0),
        ('{"operation": "REST.GET.OBJECT"}', 0),
        ("", 0),
    ],
)
def test_the_format_is_recognised_by_time_and_operation(head, score):
    assert PARSER.recognise(head.encode()).score == score


SAMPLES = {
    # Lines 3 and 4 are forgeries: their quotes can be read in two ways.
    "s3_access_adversarial.log": {"accepted": 2, "ambiguous_quotes": 2},
    "s3_access_awsdocs_LogFormat_5lines.log": {"accepted": 5},
    "s3_access_dandi_2022-01-01-05-06-35-0123456789ABCDEF.log": {"accepted": 7},
    "s3_access_elastic_integrations.log": {"accepted": 8},
    "s3_server_access_panther.log": {"accepted": 1},
}


@pytest.mark.samples
@pytest.mark.parametrize("name", SAMPLES)
def test_real_lines_are_accepted_but_for_forgeries(samples, name):
    found = parse_file(PARSER, samples / "object_storage" / name)
    check_each(found)
    check_rows(found)
    assert words(found) == SAMPLES[name]


@pytest.mark.samples
def test_values_of_real_lines_are_those_that_stand_in_them(samples):
    folder = samples / "object_storage"
    names = ("adversarial", "dandi_2022-01-01-05-06-35-0123456789ABCDEF", "elastic_integrations")
    hostile, dandi, elastic = (
        rows(parse_file(PARSER, folder / f"s3_access_{name}.log"), "object_requests")
        for name in names
    )
    assert (hostile[0]["key"], hostile[0]["status"], hostile[0]["response_bytes"]) == (
        '"',
        403,
        243,
    )
    assert hostile[1]["copy_source"] == "s3://bucketEXAMPLE/a/b"
    assert hostile[1]["object_size_bytes"] == 4_406_583
    assert [r["status"] for r in dandi] == [200, 404, 304, 200, 304, 200, 206]
    assert [r["response_bytes"] for r in dandi] == [12, 272, None, 1_194_552, None, None, None]
    assert [r["object_size_bytes"] for r in dandi] == [
        174, None, 250_340, 9_045_012, 8_810_214, 0, 199_693_197,
    ]  # fmt: skip
    assert [r["is_range"] for r in dandi] == [False, None, None, False, None, False, True]
    assert dandi[0]["user_agent"].startswith('"Mozilla/5.0 (Windows NT 10.0')
    assert dandi[1]["user_agent"].startswith("Mozilla/5.0 (compatible; Baiduspider/2.0")
    assert dandi[3]["access_key_id_hash"] == KEY.of("XYZ")
    assert dandi[6]["principal"] == "arn:aws:iam::123:user/dandi-api-heroku"
    assert dandi[6]["bucket_region"] == "us-east-2"
    assert [r["operation"] for r in elastic] == [
        "other", "list", "delete", "delete", "write", "write", "write", "delete",
    ]  # fmt: skip
    assert elastic[3]["key"] == "Screen Shot 2019-09-09 at 9.08.44 AM.png"
    assert [r["status"] for r in elastic] == [200, 200, 204, 204, 200, 200, None, None]
    assert elastic[5]["access_point"] == "arn:aws:s3:us-west-1:123456789012:accesspoint/example-AP"
    assert elastic[5]["bucket_region"] == "us-gov-west-1"
    assert elastic[7]["version_id"] == "qsEq9bDa2VyxyZ4cz0c7oBnF67VYTTij"
    assert elastic[0]["session_arn"] == elastic[0]["principal"]

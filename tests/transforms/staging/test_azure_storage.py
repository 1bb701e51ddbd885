"""Azure Blob Storage: resource log records and classic lines are read into the same columns.

Constructed records follow the Azure documentation of both logs.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from tests.transforms.staging.lookup_rows import ANY_VALUE, NO_TIMES, TIMES, but, with_changes
from tests.transforms.staging.request_rows import RequestReader
from transforms.redaction import excerpt
from transforms.staging.azure_storage import PARSER
from transforms.staging.parser import RawRecord

RESOURCE = (
    "/subscriptions/0a1b/resourceGroups/ml/providers/Microsoft.Storage/storageAccounts/"
    "exampledata/blobServices/default"
)
URI = "https://exampledata.blob.core.windows.net:443/train/shard%201.tar?sv=2024-11-04&sig=FAKEsig"
AGENT = "azsdk-python-storage-blob/12.24.0 app/run-42"
RECORD = {
    "time": "2026-03-10T12:02:01.5006139Z",
    "resourceId": RESOURCE,
    "category": "StorageRead",
    "operationName": "GetBlob",
    "operationVersion": "2024-11-04",
    "schemaVersion": "1.0",
    "statusCode": 200,
    "statusText": "SASSuccess",
    "durationMs": 1_250,
    "callerIpAddress": "10.20.1.51:44321",
    "correlationId": "00000000-0000-4000-8000-000000000001",
    "location": "West Europe",
    "protocol": "HTTPS",
    "uri": URI,
    "identity": {
        "type": "OAuth",
        "tokenHash": "FAKEhash",
        "requester": {"objectId": "object-id", "appId": "app-id", "upn": "trainer@example.com"},
    },
    "properties": {
        "accountName": "exampledata",
        "userAgentHeader": AGENT,
        "etag": '"0x8D9CEF88"',
        "serviceType": "blob",
        "operationCount": 0,
        "requestHeaderSize": 654,
        "requestBodySize": 0,
        "responseHeaderSize": 337,
        "responseBodySize": 1_048_576,
        "serverLatencyMs": 31,
        "objectKey": "/exampledata/train/shard 1.tar",
        "tlsVersion": "TLS 1.3",
        "metricResponseType": "Success",
    },
}
REQUEST = {
    "event_at": datetime(2026, 3, 10, 12, 2, 1, 500_613, tzinfo=UTC),
    "provider": "azure",
    "bucket_owner": "exampledata",
    "bucket": "train",
    "key": "shard 1.tar",
    "etag": "0x8D9CEF88",
    "operation": "read",
    "operation_name": "GetBlob",
    "status": 200,
    "response_bytes": 1_048_576,
    "request_bytes": 0,
    "is_range": False,
    "duration_seconds": 1.25,
    "turn_around_seconds": 0.031,
    "client_address": "10.20.1.51",
    "principal": "trainer@example.com",
    "user_agent": AGENT,
    "app_id": "run-42",
    "request_id": "00000000-0000-4000-8000-000000000001",
    "authentication": "OAuth",
    "bucket_region": "westeurope",
    "endpoint": "exampledata.blob.core.windows.net",
}
FIELDS = {
    "version": "2.0",
    "time": "2026-03-10T12:02:01.5006139Z",
    "operation": "GetBlob",
    "status_text": "OAuthSuccess",
    "status": "200",
    "end_to_end_ms": "1250",
    "server_ms": "31",
    "authentication": "bearer",
    "requester": "",
    "owner": "exampledata",
    "service": "blob",
    "url": URI.replace("&", "&amp;"),
    "object_key": '"/exampledata/train/shard 1.tar"',
    "request_id": "00000000-0000-4000-8000-000000000001",
    "operation_count": "0",
    "client": "10.20.1.51:44321",
    "request_version": "2024-11-04",
    "request_header_size": "654",
    "request_packet_size": "0",
    "response_header_size": "337",
    "response_packet_size": "1048576",
    "content_length": "0",
    "request_md5": "",
    "server_md5": '"xxxx=="',
    "etag": '"&quot;0x8D9CEF88&quot;"',
    "last_modified": "Tuesday, 10-Mar-26 12:00:00 GMT",
    "conditions": "",
    "user_agent": f'"{AGENT}"',
    "referrer": "",
    "client_request_id": '"x"',
    "user_object_id": '"object-id"',
    "tenant_id": "",
    "application_id": '"app-id"',
    "audience": "",
    "issuer": "",
    "upn": '"trainer@example.com"',
    "reserved": "",
    "authorization": '"[{&quot;action&quot;:&quot;x&quot;,&quot;reason&quot;:&quot;y;&quot;}]"',
}
LINE_REQUEST = but(REQUEST, {"authentication": "bearer", "bucket_region": None})

reader = RequestReader(PARSER)
record = with_changes(RECORD)


def properties(**changes):
    return record({f"properties/{key}": new for key, new in changes.items()})


def line(count=38, **changes):
    return ";".join([*(FIELDS | changes).values()][:count])


# -- resource logs -------------------------------------------------------------------------------


def test_every_column_of_a_record_is_read():
    assert reader.request(RECORD) == REQUEST


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"statusCode": "206"}, {"status": 206, "is_range": True}),
        ({"statusCode": "Unknown", "statusText": "NetworkError"},
         {"status": None, "is_range": None, "error": "NetworkError"}),
        ({"statusCode": ...}, {"status": None, "is_range": None}),
        ({"statusCode": 404, "statusText": "BlobNotFound"},
         {"status": 404, "is_range": None, "error": "BlobNotFound"}),
        ({"statusText": ..., "properties/metricResponseType": "AuthorizationError"},
         {"error": "AuthorizationError"}),
        ({"statusText": ..., "properties/metricResponseType": "SuccessWithThrottling"}, {}),
        ({"durationMs": "1250"}, {}),
        ({"durationMs": 1_250.5}, {"duration_seconds": 1.2505}),
        ({"durationMs": ""}, {"duration_seconds": None}),
        ({"durationMs": -1}, {"duration_seconds": None}),
        ({"durationMs": ...}, {"duration_seconds": None}),
        ({"callerIpAddress": "[2001:DB8::1]:443"}, {"client_address": "2001:db8::1"}),
        ({"callerIpAddress": "10.20.1.51"}, {}),
        ({"callerIpAddress": ...}, {"client_address": None}),
        ({"location": ...}, {"bucket_region": None}),
        ({"location": "westeurope"}, {}),
        ({"uri": ...}, {"endpoint": None}),
        ({"uri": "https://x.example.com/a/b?versionid=2026-03-10T00%3A00%3A00Z&sig=FAKE"},
         {"endpoint": "x.example.com", "version_id": "2026-03-10T00:00:00Z"}),
        ({"uri": "https://x.example.com/a/b?snapshot=2026-03-01"},
         {"endpoint": "x.example.com", "version_id": "2026-03-01"}),
        ({"uri": "nonsense"}, {"endpoint": None}),
        ({"identity": ...}, {"principal": None, "authentication": None}),
        ({"identity": {"type": "SAS", "tokenHash": "sas-1(FAKE)"}},
         {"principal": None, "authentication": "SAS"}),
        ({"identity/requester/upn": ...}, {"principal": "object-id"}),
        ({"identity/requester/upn": "", "identity/requester/objectId": ...},
         {"principal": "app-id"}),
        ({"resourceId": RESOURCE.upper()}, {}),
        ({"operationName": "getblob"}, {"operation_name": "getblob"}),
        ({"correlationId": ...}, {"request_id": None}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.request(record(changes)) == but(REQUEST, fields)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"accountName": ...}, {}),
        ({"serviceType": ...}, {}),
        ({"userAgentHeader": ...}, {"user_agent": None, "app_id": None}),
        ({"etag": ...}, {"etag": None}),
        ({"operationCount": "1"}, {}),
        ({"requestBodySize": "13"}, {"request_bytes": 13}),
        ({"requestBodySize": ...}, {"request_bytes": None}),
        ({"responseBodySize": ""}, {"response_bytes": None}),
        ({"serverLatencyMs": "31"}, {}),
        ({"serverLatencyMs": ...}, {"turn_around_seconds": None}),
        ({"objectKey": '"/exampledata/train/a/b"'}, {"key": "a/b"}),
        ({"objectKey": "/exampledata/train"}, {"key": None}),
        ({"objectKey": "/exampledata/"}, {"bucket": None, "key": None}),
        ({"objectKey": ...}, {"bucket": None, "key": None}),
        ({"objectKey": "no path"}, {"bucket": None, "key": None}),
        ({"sourceUri": "https://other.blob.core.windows.net/in/x?sv=1&sig=FAKEsig"},
         {"copy_source": "az://other/in/x"}),
        ({"sourceUri": "nonsense"}, {}),
    ],
)  # fmt: skip
def test_every_optional_property_is_read(changes, fields):
    assert reader.request(properties(**changes)) == but(REQUEST, fields)


def test_without_properties_only_the_account_of_the_resource_is_known():
    left = ("status", "is_range", "event_at", "provider", "bucket_owner", "operation",
            "operation_name", "duration_seconds", "client_address", "principal", "request_id",
            "authentication", "bucket_region", "endpoint")  # fmt: skip
    found = reader.request(record({"properties": ...}))
    assert found == {name: REQUEST[name] for name in left}


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("GetBlob", "read"),
        ("ReadFile", "read"),
        ("GetBlobProperties", "head"),
        ("PutBlob", "write"),
        ("PutBlock", "write"),
        ("PutBlockList", "write"),
        ("AppendFile", "write"),
        ("CopyBlob", "copy"),
        ("PutBlobFromURL", "copy"),
        ("ListBlobs", "list"),
        ("DeleteBlob", "delete"),
        ("DeleteContainer", "other"),
        ("GetBlobServiceProperties", "other"),
        ("LISTBLOBS", "list"),
    ],
)
def test_operations_are_named_alike_for_all_stores(name, operation):
    values = reader.request(record({"operationName": name}))
    assert (values["operation"], values["operation_name"]) == (operation, name)
    assert reader.request(line(operation=name))["operation"] == operation


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (properties(serviceType="file"), "other_service"),
        (record({"resourceId": RESOURCE.replace("blobServices", "queueServices"),
                 "properties/serviceType": ...}), "other_service"),
        (record({"resourceId": "/subscriptions/x/providers/Microsoft.KeyVault/vaults/y"}),
         "other_resource"),
        (record({"resourceId": ...}), "other_resource"),
        (record({"resourceId": ..., "properties": 5}), "other_resource"),
        (line(service="queue"), "other_service"),
    ],
)  # fmt: skip
def test_what_is_no_request_for_blobs_is_ignored(value, reason):
    assert reader.one(value).ignore == reason


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (record({"time": ...}), "no_time"),
        (record({"time": "yesterday"}), "no_time"),
        (record({"operationName": ...}), "operation"),
        (record({"operationName": "a;b"}), "operation"),
        (record({"statusCode": 20}), "status"),
        (record({"statusCode": {}}), "wrong_type"),
        (record({"durationMs": "soon"}), "duration_ms"),
        (record({"callerIpAddress": "x:1"}), "caller_ip_address"),
        (record({"properties": "x"}), "wrong_type"),
        (record({"identity": []}), "wrong_type"),
        (properties(requestBodySize=-1), "request_body_size"),
        (properties(responseBodySize="1.5"), "response_body_size"),
        (properties(operationCount=[]), "wrong_type"),
        ({}, "no_operation"),
        ('{"flow":{}}', "no_operation"),
        (json.dumps(RECORD)[:-40], "invalid_json"),
        ('{"other":' + "[" * 100_000, "too_deep"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(value, reason):
    assert word(reader.one(value)) == reason


# -- the classic log -----------------------------------------------------------------------------


def test_every_column_of_a_line_is_read():
    assert reader.request(line()) == LINE_REQUEST


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"status": "206"}, {"status": 206, "is_range": True}),
        ({"status": "", "status_text": "NetworkError"},
         {"status": None, "is_range": None, "error": "NetworkError"}),
        ({"status_text": "AnonymousSuccess"}, {}),
        ({"end_to_end_ms": "", "server_ms": ""},
         {"duration_seconds": None, "turn_around_seconds": None}),
        ({"upn": ""}, {"principal": "object-id"}),
        ({"upn": "", "user_object_id": ""}, {"principal": "app-id"}),
        ({"upn": "", "user_object_id": "", "application_id": "", "requester": "acct"},
         {"principal": "acct"}),
        ({"owner": ""}, {}),
        ({"url": ""}, {"endpoint": None}),
        ({"url": '"https://x.example.com/a?x=1;2&amp;snapshot=s"'},
         {"endpoint": "x.example.com", "version_id": "s"}),
        ({"object_key": '"/exampledata/train/a;b&amp;c&quot;"'}, {"key": 'a;b&c"'}),
        ({"object_key": '"/exampledata/train/&#38;&#x26;"'}, {"key": "&&"}),
        ({"client": ""}, {"client_address": None}),
        ({"request_packet_size": "13"}, {"request_bytes": 13}),
        ({"response_packet_size": ""}, {"response_bytes": None}),
        ({"etag": ""}, {"etag": None}),
        ({"user_agent": ""}, {"user_agent": None, "app_id": None}),
        ({"authentication": ""}, {"authentication": None}),
        ({"request_id": ""}, {"request_id": None}),
    ],
)  # fmt: skip
def test_every_optional_field_is_read(changes, fields):
    assert reader.request(line(**changes)) == but(LINE_REQUEST, fields)


def test_version_1_has_thirty_fields_and_no_principal_but_the_account():
    text = line(30, version="1.0", requester="acct")
    assert reader.request(text) == but(LINE_REQUEST, {"principal": "acct"})
    assert reader.request(text, region="northeurope")["bucket_region"] == "northeurope"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (line(37), "fields"),
        (line() + ";x", "fields"),
        (line(30), "fields"),
        (line(version="1.0"), "fields"),
        (line(version="3.0"), "unreadable_line"),
        (line(user_agent='"a"b'), "unreadable_line"),
        (line(user_agent='a"b'), "unreadable_line"),
        (line(user_agent="x" * 70_000), "unreadable_line"),
        (line(time="yesterday"), "no_time"),
        (line(operation="a b?"), "operation"),
        (line(status="20"), "status"),
        (line(client="x"), "client"),
        (line(response_packet_size="-1"), "response_packet_size"),
        (line(server_ms="x"), "server_ms"),
        (line(operation_count="x"), "operation_count"),
        ("free text", "unreadable_line"),
        (";" * 200_000, "unreadable_line"),
    ],
)
def test_a_line_that_cannot_be_kept_is_refused_with_its_reason(text, reason):
    assert word(reader.one(text)) == reason


# -- files, identity, secrets --------------------------------------------------------------------


def test_records_of_an_event_hub_are_read_one_by_one():
    text = json.dumps({"records": [RECORD, properties(serviceType="table"), record({"time": 5})]})
    found = parse(PARSER, [RawRecord("$", 0, text.encode())])
    check_each(found)
    assert [(p.locator, word(p)) for p in found] == [
        ("$.records[0]", "accepted"),
        ("$.records[1]", "other_service"),
        ("$.records[2]", "wrong_type"),
    ]
    assert stated(rows(found, "object_requests")[0], "record_id") == REQUEST


def test_a_record_is_identified_by_correlation_id_and_operation_count_in_both_logs():
    def record_id(value):
        return reader.row(value)[1]["record_id"]

    assert record_id(RECORD) == record_id(properties(operationCount="0")) == record_id(line())
    assert record_id(RECORD) != record_id(properties(operationCount=1))
    assert record_id(line(operation_count="1")) == record_id(properties(operationCount=1))
    without = record({"correlationId": ...})
    assert record_id(without) == record_id(json.dumps(without) + " ")
    assert record_id(without) != record_id(without | {"schemaVersion": "2"})
    assert record_id(line(request_id="")) != record_id(line(request_id="", status="201"))


def test_no_signature_and_no_hash_of_a_token_is_written():
    token = "ghp_" + "a1B2" * 9
    values = [
        RECORD,
        properties(objectKey=f"/exampledata/train/{token}", userAgentHeader=f"x {token}",
                   sourceUri=f"https://o.blob.core.windows.net/c/{token}?sig=FAKEsig"),
        record({"statusCode": 5}),
        record({"uri": ["FAKEsig"]}),
    ]  # fmt: skip
    texts = [json.dumps(v) for v in values]
    texts += [line(), line(status="x"), line(37), line(object_key=f'"/exampledata/c/{token}"')]
    found = parse(PARSER, "\n".join(texts))
    assert [word(p) for p in found] == [
        "accepted", "accepted", "status", "wrong_type", "accepted", "status", "fields", "accepted",
    ]  # fmt: skip
    kept = written(found) + "".join(excerpt(p.raw) for p in found if p.reject)
    assert "FAKE" not in kept
    assert token not in kept
    assert rows(found, "object_requests")[1]["key"] == "***"


# -- rows of Log Analytics -----------------------------------------------------------------------

ROW = {
    "TenantId": "workspace",
    "TimeGenerated": "2026-03-10T12:02:01.5006139Z",
    "AccountName": "exampledata",
    "Location": "West Europe",
    "Category": "StorageRead",
    "OperationName": "GetBlob",
    "OperationVersion": "2024-11-04",
    "StatusCode": "200",
    "StatusText": "SASSuccess",
    "DurationMs": 1_250.0,
    "ServerLatencyMs": 31.0,
    "CallerIpAddress": "10.20.1.51:44321",
    "CorrelationId": "00000000-0000-4000-8000-000000000001",
    "Uri": URI,
    "AuthenticationType": "OAuth",
    "AuthenticationHash": "FAKEhash",
    "RequesterUpn": "trainer@example.com",
    "RequesterObjectId": "object-id",
    "RequesterAppId": "app-id",
    "UserAgentHeader": AGENT,
    "ObjectKey": "/exampledata/train/shard 1.tar",
    "Etag": '"0x8D9CEF88"',
    "OperationCount": 0,
    "RequestBodySize": 0,
    "ResponseBodySize": 1_048_576,
    "ServiceType": "blob",
    "MetricResponseType": "Success",
    "SourceUri": "",
    "Type": "StorageBlobLogs",
    "_ResourceId": RESOURCE.lower(),
}
table_row = with_changes(ROW)


def test_every_column_of_a_row_is_read():
    assert reader.request(ROW) == REQUEST
    assert reader.row(ROW)[1]["record_id"] == reader.row(RECORD)[1]["record_id"]


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"DurationMs": "1250", "ServerLatencyMs": "31", "ResponseBodySize": "1048576"}, {}),
        ({"StatusCode": "Unknown", "StatusText": "NetworkError"},
         {"status": None, "is_range": None, "error": "NetworkError"}),
        ({"RequesterUpn": ""}, {"principal": "object-id"}),
        ({"RequesterUpn": None, "RequesterObjectId": ..., "RequesterAppId": ""},
         {"principal": None}),
        ({"AuthenticationType": "SAS", "RequesterUpn": "", "RequesterObjectId": "",
          "RequesterAppId": ""}, {"authentication": "SAS", "principal": None}),
        ({"AuthenticationType": ...}, {"authentication": None}),
        ({"ResponseBodySize": ""}, {"response_bytes": None}),
        ({"ResponseBodySize": None}, {"response_bytes": None}),
        ({"_ResourceId": ...}, {}),
        ({"ServiceType": ...}, {}),
        ({"Type": ...}, {}),
        ({"SourceUri": "https://other.blob.core.windows.net/in/x?sig=FAKEsig"},
         {"copy_source": "az://other/in/x"}),
        ({"ObjectKey": "", "Uri": "", "Location": "", "UserAgentHeader": "", "Etag": ""},
         {"bucket": None, "key": None, "endpoint": None, "bucket_region": None,
          "user_agent": None, "app_id": None, "etag": None}),
    ],
)  # fmt: skip
def test_every_optional_column_of_a_row_is_read(changes, fields):
    assert reader.request(table_row(changes)) == but(REQUEST, fields)


def test_rows_of_other_services_are_ignored():
    assert reader.one(table_row({"ServiceType": "file"})).ignore == "other_service"
    queue = table_row({"ServiceType": ..., "Type": "StorageQueueLogs"})
    assert reader.one(queue).ignore == "other_service"


def test_a_row_that_cannot_be_kept_is_refused_and_shows_no_signature():
    for changes in ({"OperationName": 5}, {"StatusCode": "20"}, {"DurationMs": "soon"}):
        found = reader.one(table_row(changes))
        assert found.reject is not None
        assert "FAKE" not in excerpt(found.raw, 4_000)
    assert "FAKE" not in written([reader.one(ROW)])


def test_a_type_that_is_no_text_names_no_table():
    for kind in ({"a": 1}, ["StorageBlobLogs"], 5):
        # The service alone tells that it is a row, too.
        assert reader.request(table_row({"Type": kind})) == REQUEST
        assert reader.one(table_row({"Type": kind, "ServiceType": ...})).rows == ()


# -- times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("time", "at"), TIMES)
def test_times_of_any_year_and_precision_are_read(time, at):
    assert reader.request(record({"time": time}))["event_at"] == at
    assert reader.request(table_row({"TimeGenerated": time}))["event_at"] == at
    if time[-1] == "Z":
        assert reader.request(line(time=time))["event_at"] == at


@pytest.mark.parametrize("time", NO_TIMES)
def test_what_is_no_time_is_refused(time):
    assert word(reader.one(record({"time": time}))) == "no_time"


@pytest.mark.parametrize("duration", ["-1", "604800001"])
def test_a_duration_of_no_time_or_weeks_is_unknown(duration):
    assert reader.request(record({"durationMs": duration})).get("duration_seconds") is None
    assert reader.request(table_row({"DurationMs": duration})).get("duration_seconds") is None


def test_a_negative_duration_of_a_line_is_unknown():
    for number in ("-1", "-250"):
        values = reader.request(line(end_to_end_ms=number, server_ms=number))
        assert values == but(LINE_REQUEST, {"duration_seconds": None, "turn_around_seconds": None})


# -- recognition ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(RECORD) + "\n" + json.dumps(RECORD)[:50], 3),
        (json.dumps({"records": [RECORD]}), 3),
        (json.dumps([RECORD]), 3),
        (json.dumps(ROW) + "\n", 3),
        (json.dumps([ROW], indent=1), 3),
        (json.dumps(table_row({"Type": ..., "ServiceType": ...})), 0),
        (json.dumps(record({"resourceId": RESOURCE.upper()})), 3),
        (line(), 3),
        (line()[:200], 3),
        (line(30, version="1.0"), 3),
        ("\ufeff" + line(), 3),
        (line(version="3.0"), 0),
        (line(time="2026"), 0),
        (json.dumps(record({"resourceId": "/subscriptions/x"})), 0),
        (json.dumps(record({"resourceId": ...})), 0),
        (json.dumps(record({"operationName": ...})), 0),
        (json.dumps(record({"time": ...})), 0),
        ('{"records":[]}', 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_record(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_values_of_real_records_are_those_that_stand_in_them(samples):
    path = samples / "object_storage" / "azure_storagebloblogs_panther_a.ndjson"
    found = parse_file(PARSER, path)
    check_each(found)
    check_rows(found)
    assert words(found) == {"accepted": 4}
    values = rows(found, "object_requests")
    assert [row["bucket"] for row in values] == ["sensitive-data", "backups", "uploads", "secrets"]
    assert [row["operation"] for row in values] == ["read", "read", "write", "read"]
    assert [row["error"] for row in values] == [None, None, None, "AuthorizationFailure"]
    assert [row["client_address"] for row in values] == [
        "8.8.8.8", "1.1.1.1", "10.0.0.1", "9.9.9.9",
    ]  # fmt: skip
    assert values[0]["key"] == "financials/report_2025.xlsx"
    assert values[0]["turn_around_seconds"] == 0.018
    assert values[0]["response_bytes"] is None


@pytest.mark.samples
def test_entities_of_a_real_line_end_no_field(samples):
    path = samples / "object_storage" / "azure_storage_analytics_classic_v2.log"
    [parsed] = parse_file(PARSER, path)
    check_rows([parsed])
    assert stated(parsed.rows[0][1], "record_id") == {
        "event_at": datetime(2022, 1, 3, 20, 34, 54, 461_750, tzinfo=UTC),
        "provider": "azure",
        "bucket_owner": "logsamples",
        "bucket": "container1",
        "key": "1.txt",
        "etag": "0x8D9CEF88004E296",
        "operation": "write",
        "operation_name": "PutBlob",
        "status": 201,
        "response_bytes": 0,
        "request_bytes": 13,
        "duration_seconds": 0.007,
        "turn_around_seconds": 0.007,
        "client_address": "71.197.193.44",
        "user_agent": (
            "Microsoft Azure Storage Explorer, 1.20.1, win32, azcopy-node, 2.0.0, win32,  "
            "AzCopy/10.11.0 Azure-Storage/0.13 (go1.15; Windows_NT)"
        ),
        "request_id": "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
        "authentication": "sas",
        "endpoint": "logsamples.blob.core.windows.net",
    }


# -- any text ------------------------------------------------------------------------------------

PATHS = [
    *RECORD, *(f"properties/{key}" for key in RECORD["properties"]), "identity/requester",
    "identity/type",
]  # fmt: skip


@given(st.sampled_from(PATHS), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(path, new):
    reader.one(record({path: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_record_changes_no_other(at, cuts):
    texts = [json.dumps(RECORD), line(), json.dumps(properties(operationCount=1)), line(status="")]
    records = lines("\n".join(texts))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    found = parse(PARSER, records)
    check_others(found, clean, at)

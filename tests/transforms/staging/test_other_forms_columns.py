"""Forms of records beside the usual one of their format, by columns: as the row parser does."""

import json
from typing import Any

import pytest

from pipelines.landing.columns import _memory as memory
from pipelines.landing.columns import json_columns
from tests.transforms.staging.export_text import CONTEXT
from tests.transforms.staging.test_json_columns import check
from transforms.sql import SqlSession

ABSENT = object()
EVENT: dict[str, Any] = {
    "eventTime": "2026-03-10T12:02:01Z", "eventSource": "s3.amazonaws.com",
    "eventName": "GetObject", "eventCategory": "Data", "awsRegion": "eu-west-1",
    "sourceIPAddress": "192.0.2.7", "eventID": "00000001-0000-4000-8000-000000000001",
    "requestParameters": {"bucketName": "example-data", "key": "a/b"},
    "additionalEventData": {"bytesTransferredOut": 7},
}  # fmt: skip
EVENTS: tuple[Any, ...] = (
    EVENT, None, ABSENT, {}, "x", [], EVENT | {"eventSource": None}, EVENT | {"eventName": "a b"},
    EVENT | {"eventSource": "ec2.amazonaws.com"}, EVENT | {"eventID": ABSENT},
    EVENT | {"sharedEventID": "s"}, EVENT | {"addendum": {"originalEventID": "o"}},
    EVENT | {"requestParameters": None}, EVENT | {"requestParameters": "x"},
    EVENT | {"resources": [{"type": "AWS::S3::Object"}]}, EVENT | {"eventTime": "x"},
    EVENT | {"eventsource": "s3.amazonaws.com"}, EVENT | {"eventCategory": "Insight"},
)  # fmt: skip
ENVELOPES: tuple[dict[str, Any], ...] = (
    {"detail-type": "AWS API Call via CloudTrail"}, {"detail-type": ""}, {"detail-type": None},
    {"detail-type": 7}, {}, {"detail-type": "x", "eventSource": "s3.amazonaws.com"},
    {"detail-type": "x", "Records": []}, {"detail-type": "x", "Records": None},
)  # fmt: skip
BUILT_IN: dict[str, Any] = {
    "node": "n1", "namespace": "ml", "pod": "train-0", "timestamp": 1773111719500613661, "qr": "R",
    "nameserver": "192.0.2.53", "pktType": "HOST", "qtype": "A", "name": "data.example.com.",
    "rcode": "NoError", "latency": 613061, "numAnswers": 1, "addresses": ["203.0.113.31"],
    "srcIP": "192.0.2.53", "dstIP": "192.0.2.71", "srcPort": 53, "dstPort": 39745,
    "protocol": "UDP", "id": "0001",
}  # fmt: skip
BUILT_IN_CHANGES: tuple[dict[str, Any], ...] = (
    {}, {"timestamp": 99999999999999999}, {"timestamp": 100000000000000000},
    {"timestamp": 9223372036854775807}, {"timestamp": 9300000000000000000}, {"timestamp": 1e18},
    {"timestamp": "2026-03-10T03:01:59.5Z"}, {"timestamp": None}, {"timestamp": "1773111719500613"},
    {"timestamp": -1}, {"pod": ""}, {"pod": None}, {"pod": 5}, {"namespace": ABSENT},
    {"node": ABSENT}, {"qr": "Q"}, {"qr": "x"}, {"pktType": "OUTGOING"}, {"pktType": "MULTICAST"},
    {"pktType": ABSENT, "pkt_type_raw": 0}, {"pktType": "x"}, {"latency": 0}, {"latency": ABSENT},
    {"latency": 2**60}, {"latency": -1}, {"addresses": None}, {"addresses": []},
    {"addresses": "203.0.113.31,2001:db8::1"}, {"addresses": ["x"]}, {"numAnswers": 0},
    {"nameserver": {"addr": "192.0.2.9"}}, {"nameserver": ABSENT}, {"srcPort": 5353},
    {"dstPort": 65536}, {"dstPort": ABSENT}, {"dstIP": ""}, {"dstIP": "x"}, {"id": 7},
    {"id": "0xffff"}, {"id": "x"}, {"rcode": "NXDOMAIN"}, {"rcode": ABSENT, "rcode_raw": 3},
    {"name": ""}, {"name": ABSENT}, {"qtype_raw": 28}, {"k8s": {"podName": "other"}},
    {"src": {"addr": "192.0.2.1"}}, {"num_answers": 0, "addresses": []}, {"latency_ns_raw": 5},
)  # fmt: skip
ROW: dict[str, Any] = {
    "TimeGenerated": "2026-03-10T12:02:01.5006139Z", "AccountName": "exampledata",
    "Location": "West Europe", "OperationName": "GetBlob", "StatusCode": "200",
    "StatusText": "Success", "DurationMs": 1_250.0, "ServerLatencyMs": 31.0,
    "CallerIpAddress": "10.20.1.51:44321", "CorrelationId": "00000000-0000-4000-8000-000000000007",
    "Uri": "https://exampledata.blob.core.windows.net/train/a?versionid=2026-03-10T00:00:00Z",
    "AuthenticationType": "OAuth", "RequesterObjectId": "0a1b", "UserAgentHeader": "azsdk",
    "ObjectKey": "/exampledata/train/a.tar", "OperationCount": 0, "RequestBodySize": 0,
    "ResponseBodySize": 1_048_576, "ServiceType": "blob", "Type": "StorageBlobLogs",
    "Etag": '"0x8D9"', "SourceUri": "https://other.blob.core.windows.net/c/b?sig=x",
    "_ResourceId": "/subscriptions/0/providers/microsoft.storage/storageaccounts/exampledata",
}  # fmt: skip
ROW_CHANGES: tuple[dict[str, Any], ...] = (
    {}, *({name: value} for name in ROW for value in ("", None, ABSENT, 7, True, ["x"], {"a": 1})),
    {"Type": "StorageQueueLogs"}, {"Type": "StorageQueueLogs", "ServiceType": ""},
    {"Type": "Other"}, {"Type": "Other", "ServiceType": None}, {"ServiceType": "queue"},
    {"ServiceType": "BLOB"}, {"_ResourceId": ABSENT, "AccountName": "b"},
    {"_ResourceId": "/x", "AccountName": "b"}, {"_ResourceId": 0, "AccountName": ""},
    {"AccountName": ABSENT, "ObjectKey": "x"}, {"StatusCode": 206}, {"StatusCode": "Unknown"},
    {"DurationMs": "1250"}, {"OperationCount": "3"}, {"OperationCount": 2**70},
    {"ResponseBodySize": 2**70}, {"ResponseBodySize": 1e30}, {"resourceId": "/x"}, {"records": []},
    {"records": None}, {"operationName": "PutBlob"}, {"RequesterUpn": "a@example.com"},
    {"AuthenticationType": 0}, {"AuthenticationType": False}, {"other": 1e300},
)  # fmt: skip


def stated(value: Any) -> Any:
    """The value without what is absent."""
    if not isinstance(value, dict):
        return value
    return {key: stated(inner) for key, inner in value.items() if inner is not ABSENT}


def test_events_in_envelopes_are_read_alike() -> None:
    lines = [
        json.dumps(stated(envelope | {"detail": event})).encode()
        for envelope in ENVELOPES
        for event in EVENTS
    ]
    check("cloudtrail", lines)
    check("cloudtrail", lines, 2_000, region="eu-west-1")


@pytest.mark.parametrize("first", range(2))
def test_events_of_the_built_in_gadget_are_read_alike(first: int) -> None:
    lines = [json.dumps(stated(BUILT_IN | change)).encode() for change in BUILT_IN_CHANGES]
    check("inspektor_gadget", [lines[6]] * first + lines)
    check("inspektor_gadget", lines, 1_000, node="n7")


def test_rows_of_a_workspace_are_read_alike() -> None:
    lines = [json.dumps(stated(ROW | change)).encode() for change in ROW_CHANGES]
    lines.append(lines[0][:-1] + b', "other": 1e400}')
    check("azure_storage", lines)
    check("azure_storage", lines, 1_000, region="eu-west-1")


@pytest.mark.parametrize(
    ("format_name", "record"),
    [
        ("cloudtrail", {"detail-type": "AWS API Call via CloudTrail", "detail": EVENT}),
        ("inspektor_gadget", BUILT_IN),
        ("azure_storage", ROW),
    ],
)
def test_a_usual_record_of_the_form_is_for_columns(
    format_name: str, record: dict[str, Any]
) -> None:
    line = json.dumps(record).encode() + b"\n"
    with SqlSession(threads=1) as session, memory() as scratch:
        (part,) = json_columns(format_name).reader(CONTEXT, session, scratch).read(line).parts
    assert part.numbers.tolist() == [0]

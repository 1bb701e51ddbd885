"""One rule per source says which records are one: the same one lands once, whatever carries it."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.landing.land import land
from pipelines.storage import Lake
from tests.pipelines.landing_zone import FIRST_SEEN, line, zone

SETTINGS = """
lake: lake
catalog: podledger.duckdb
clusters: {{alder: {{cloud: aws}}}}
exports:
  - {{name: logs, format: {format}, path: "in/*", clusters: [alder]}}
"""
AT = "2026-03-10T10:00:00.000000Z"


def hubble(**changed: Any) -> str:
    flow = {
        "time": AT, "uuid": "u-1", "verdict": "FORWARDED", "node_name": "node-1",
        "IP": {"source": "192.0.2.7", "destination": "198.51.100.9", "ipVersion": "IPv4"},
        "l4": {"TCP": {"source_port": 41000, "destination_port": 443, "flags": {"SYN": True}}},
        "Type": "L3_L4",
    } | changed  # fmt: skip
    return json.dumps({"flow": flow, "node_name": "node-1", "time": AT})


def cloudtrail(**changed: Any) -> str:
    event = {
        "eventVersion": "1.09", "eventTime": "2026-03-10T10:00:00Z", "eventCategory": "Data",
        "eventSource": "s3.amazonaws.com", "eventName": "GetObject", "awsRegion": "us-east-1",
        "eventID": "e-1", "requestID": "R1", "eventType": "AwsApiCall",
        "userIdentity": {"type": "AWSService", "invokedBy": "example"},
        "requestParameters": {"bucketName": "example-bucket", "key": "a"},
        "sourceIPAddress": "192.0.2.7", "userAgent": "boto3",
    } | changed  # fmt: skip
    return json.dumps({k: v for k, v in event.items() if v is not None})


def gcs_audit(**changed: Any) -> str:
    entry = {
        "insertId": "i-1", "timestamp": AT, "logName":
        "projects/example/logs/cloudaudit.googleapis.com%2Fdata_access",
        "resource": {"type": "gcs_bucket", "labels": {"bucket_name": "example-bucket"}},
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
            "serviceName": "storage.googleapis.com", "methodName": "storage.objects.get",
            "resourceName": "projects/_/buckets/example-bucket/objects/a",
        },
    } | changed  # fmt: skip
    return json.dumps(entry)


def azure(**changed: Any) -> str:
    entry = {
        "time": AT, "category": "StorageRead", "operationName": "GetBlob",
        "resourceId": "/subscriptions/x/resourceGroups/g/providers/Microsoft.Storage/"
        "storageAccounts/exampleaccount/blobServices/default",
        "operationVersion": "2024-08-04", "schemaVersion": "1.0", "statusCode": 200,
        "statusText": "Success", "correlationId": "c-1", "location": "westeurope",
        "callerIpAddress": "192.0.2.7:41000", "protocol": "HTTPS",
        "uri": "https://exampleaccount.blob.core.windows.net:443/c/a",
        "properties": {"accountName": "exampleaccount", "objectKey": "/exampleaccount/c/a",
                       "operationCount": 0, "serviceType": "blob"},
    } | changed  # fmt: skip
    return json.dumps(entry)


def gcp_flow(**changed: Any) -> str:
    flow = {
        "connection": {"src_ip": "192.0.2.7", "dest_ip": "198.51.100.9", "protocol": 6},
        "reporter": "SRC", "bytes_sent": "100", "start_time": AT, "end_time": AT,
    }  # fmt: skip
    entry = {
        "insertId": "i-1", "timestamp": AT, "jsonPayload": flow,
        "logName": "projects/example/logs/compute.googleapis.com%2Fvpc_flows",
    } | changed  # fmt: skip
    return json.dumps(entry)


def azure_flow(bytes_sent: int = 100, **changed: Any) -> str:
    ends = "192.0.2.7,198.51.100.9,41000,443,6,O"
    group = {"rule": "a", "flowTuples": [f"1773136800000,{ends},E,NX,1,{bytes_sent},1,40"]}
    record = {
        "time": AT, "macAddress": "00224871C205", "category": "FlowLogFlowEvent",
        "flowRecords": {"flows": [{"aclID": "b", "flowGroups": [group]}]},
    } | changed  # fmt: skip
    return json.dumps(record)


def vpc_flow(octets: int = 100) -> str:
    return (
        "2 111122223333 eni-0a 192.0.2.7 198.51.100.9 41000 443 6 1 "
        f"{octets} 1773136800 1773136860 ACCEPT OK"
    )


def docker(text: str) -> str:
    """The line in the wrapper of Docker's json-file."""
    return json.dumps({"log": text + "\n", "stream": "stdout", "time": AT})


def azure_properties(count: int) -> dict[str, Any]:
    return json.loads(azure())["properties"] | {"operationCount": count}


@pytest.mark.parametrize(
    ("format_name", "first", "same", "other"),
    [
        # The uuid alone: the same event that another file tells with other labels.
        ("hubble", hubble(), hubble(Summary="TCP Flags: SYN"), hubble(uuid="u-2")),
        # No uuid: the whole record.
        ("hubble", hubble(uuid=""), hubble(uuid=""), hubble(uuid="", verdict="DROPPED")),
        # Two accounts get a copy each, of one sharedEventID.
        (
            "cloudtrail",
            cloudtrail(sharedEventID="s-1", eventID="e-1"),
            cloudtrail(sharedEventID="s-1", eventID="e-2"),
            cloudtrail(sharedEventID="s-2", eventID="e-1"),
        ),
        ("cloudtrail", cloudtrail(), cloudtrail(userAgent="x"), cloudtrail(eventID="e-2")),
        (
            "gcs_audit",
            gcs_audit(),
            gcs_audit(receiveTimestamp=AT),
            gcs_audit(timestamp="2026-03-10T10:00:00.000001Z"),
        ),
        (
            "azure_storage",
            azure(),
            azure(durationMs=5),
            azure(properties=azure_properties(1)),
        ),
        ("s3_access_log", line(1), line(1), line(1, size=101)),
        ("aws_vpc_flow_log", vpc_flow(), vpc_flow().replace(" ", "  "), vpc_flow(101)),
        # As a table has it, whose numbers and times are written otherwise.
        (
            "gcp_vpc_flow_log",
            gcp_flow(),
            gcp_flow(timestamp="2026-03-10 10:00:00 UTC", severity=None),
            gcp_flow(insertId="i-2"),
        ),
        # A tuple gives two rows; it may stand in the record of another minute.
        ("azure_flow_log", azure_flow(), azure_flow(time="later"), azure_flow(101)),
        # Wrappers are taken off before records are told apart.
        ("hubble", hubble(uuid=""), docker(hubble(uuid="")), docker(hubble(uuid="u-2"))),
        ("gcs_audit", gcs_audit(), docker(gcs_audit()), docker(gcs_audit(insertId="i-2"))),
        ("s3_access_log", line(1), docker(line(1)), docker(line(2))),
    ],
)
def test_the_same_record_lands_once_and_another_one_too(
    tmp_path: Path, format_name: str, first: str, same: str, other: str
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    settings = zone(tmp_path, SETTINGS.format(format=format_name))
    lake = Lake(settings.lake_path)
    counts = []
    # Of three landings, so that files differ, and the rule looks behind all that landed before.
    for name, texts in (("a", [first]), ("b", [same, same]), ("c", [other, first])):
        (folder / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        records = land(settings, lake, FIRST_SEEN).records
        counts.append((records["record"], records["accepted"], records["duplicate"]))
    assert counts == [(1, 1, 0), (2, 0, 2), (2, 1, 1)]

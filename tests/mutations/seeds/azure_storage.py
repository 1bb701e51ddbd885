"""Azure Blob Storage: resource logs, rows of Log Analytics, classic lines of both versions."""

import json
from typing import Any

_RESOURCE = (
    "/subscriptions/0a1b/resourceGroups/ml/providers/Microsoft.Storage/storageAccounts/"
    "exampledata/blobServices/default"
)
_AGENT = "azsdk-python-storage-blob/12.24.0 app/run-42"
_URI = "https://exampledata.blob.core.windows.net:443/train/shard-{:06d}.tar"


def _record(number: int, operation: str = "GetBlob", **changes: Any) -> dict[str, Any]:
    found = {
        "time": f"2026-03-10T12:02:{number:02d}.5006139Z",
        "resourceId": _RESOURCE,
        "category": "StorageRead",
        "operationName": operation,
        "schemaVersion": "1.0",
        "statusCode": 200,
        "statusText": "Success",
        "durationMs": 1_250,
        "callerIpAddress": "10.20.1.51:44321",
        "correlationId": f"00000000-0000-4000-8000-0000000{number:05d}",
        "location": "West Europe",
        "protocol": "HTTPS",
        "uri": _URI.format(number),
        "identity": {"type": "OAuth", "requester": {"objectId": "0a1b", "appId": "2c3d"}},
        "properties": {
            "accountName": "exampledata",
            "userAgentHeader": _AGENT,
            "serviceType": "blob",
            "operationCount": 0,
            "requestBodySize": 0,
            "responseBodySize": 1_048_576 + number,
            "serverLatencyMs": 31,
            "objectKey": f"/exampledata/train/shard-{number:06d}.tar",
            "metricResponseType": "Success",
        },
    }
    return found | changes


def _row(number: int) -> dict[str, Any]:
    return {
        "TimeGenerated": f"2026-03-10T12:02:{number:02d}.5006139Z",
        "AccountName": "exampledata",
        "Location": "West Europe",
        "Category": "StorageRead",
        "OperationName": "GetBlob",
        "StatusCode": "200",
        "StatusText": "Success",
        "DurationMs": 1_250.0,
        "ServerLatencyMs": 31.0,
        "CallerIpAddress": "10.20.1.51:44321",
        "CorrelationId": f"00000000-0000-4000-8000-0000000{number:05d}",
        "Uri": _URI.format(number),
        "AuthenticationType": "OAuth",
        "RequesterObjectId": "0a1b",
        "UserAgentHeader": _AGENT,
        "ObjectKey": f"/exampledata/train/shard-{number:06d}.tar",
        "OperationCount": 0,
        "RequestBodySize": 0,
        "ResponseBodySize": 1_048_576 + number,
        "ServiceType": "blob",
        "Type": "StorageBlobLogs",
        "_ResourceId": _RESOURCE.lower(),
    }


def _line(number: int, version: str = "2.0") -> str:
    fields = [
        version, f"2026-03-10T12:02:{number:02d}.5006139Z", "GetBlob", "OAuthSuccess", "200",
        "1250", "31", "bearer", "", "exampledata", "blob",
        f"{_URI.format(number)}?a=1&amp;b=2", f'"/exampledata/train/shard-{number:06d}.tar"',
        f"00000000-0000-4000-8000-0000000{number:05d}", "0", "10.20.1.51:44321", "2024-11-04",
        "654", "0", "337", str(1_048_576 + number), "0", "", '"xxxx=="', '"&quot;0x8D9&quot;"',
        "Tuesday, 10-Mar-26 12:00:00 GMT", "", f'"{_AGENT}"', "", '"x"',
    ]  # fmt: skip
    if version == "2.0":
        fields += ['"0a1b"', "", '"2c3d"', "", "", '"trainer@example.com"', "", '"[]"']
    return ";".join(fields)


def _lines(*records: Any) -> bytes:
    texts = (record if isinstance(record, str) else json.dumps(record) for record in records)
    return "".join(f"{text}\n" for text in texts).encode()


_BROKEN = {"statusCode": "Unknown", "statusText": "NetworkError", "durationMs": "7"}
FILES: tuple[bytes, ...] = (
    _lines(
        *(_record(n) for n in range(8)),
        _record(8, "PutBlob"),
        _record(9, "ListBlobs", statusCode="206"),
        _record(10, **_BROKEN),
        _record(11, identity={"type": "SAS"}),
    ),
    json.dumps({"records": [_record(n) for n in range(6)]}, indent=1).encode(),
    _lines(*(_row(n) for n in range(8))),
    _lines(*(_line(n) for n in range(8))),
    _lines(*(_line(n, "1.0") for n in range(8))),
)

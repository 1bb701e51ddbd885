"""Rows of Azure's table `StorageBlobLogs`, given back as the resource logs that filled it.

Source: the Azure Monitor reference's page on the table. A data export of the workspace writes one
object per row, the command line an array of them whose numbers are text.
"""

from typing import Any

import msgspec

from transforms.staging.json_records import Item, RecordError

TIME_KEY = "TimeGenerated"
"""What every row has, and no resource log."""
RESOURCE_KEY = "_ResourceId"

_COLUMNS = {
    "time": TIME_KEY,
    "operationName": "OperationName",
    "statusCode": "StatusCode",
    "statusText": "StatusText",
    "durationMs": "DurationMs",
    "callerIpAddress": "CallerIpAddress",
    "correlationId": "CorrelationId",
    "location": "Location",
    "uri": "Uri",
}
_PROPERTIES = {
    "accountName": "AccountName",
    "userAgentHeader": "UserAgentHeader",
    "etag": "Etag",
    "operationCount": "OperationCount",
    "requestBodySize": "RequestBodySize",
    "responseBodySize": "ResponseBodySize",
    "serverLatencyMs": "ServerLatencyMs",
    "objectKey": "ObjectKey",
    "sourceUri": "SourceUri",
    "metricResponseType": "MetricResponseType",
}
_REQUESTER = {"upn": "RequesterUpn", "objectId": "RequesterObjectId", "appId": "RequesterAppId"}
_SERVICES = {
    "StorageBlobLogs": "blob", "StorageFileLogs": "file", "StorageQueueLogs": "queue",
    "StorageTableLogs": "table",
}  # fmt: skip


def is_row(value: dict[str, Any]) -> bool:
    """Whether an object is a row of a table of storage logs."""
    kind = value.get("Type")
    is_table = isinstance(kind, str) and kind in _SERVICES
    is_storage = is_table or isinstance(value.get("ServiceType"), str)
    return isinstance(value.get(TIME_KEY), str) and "OperationName" in value and is_storage


def as_resource_log(item: Item) -> Item:
    """The resource log of a row; what is no row is given back as it is."""
    if TIME_KEY.encode() not in item.data:
        return item
    try:
        value = msgspec.json.decode(item.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return item
    if not isinstance(value, dict) or not is_row(value):
        return item
    try:
        return item._replace(data=msgspec.json.encode(_resource_log(value)))
    except (UnicodeEncodeError, ValueError, RecursionError):
        message = f"invalid_json: expected a row, got text that is no Unicode at {item.path}"
        raise RecordError(message) from None


def _resource_log(row: dict[str, Any]) -> dict[str, Any]:
    def stated(columns: dict[str, str]) -> dict[str, Any]:
        return {name: row[column] for name, column in columns.items() if row.get(column) != ""}

    row = {
        **dict.fromkeys((*_COLUMNS.values(), *_PROPERTIES.values(), *_REQUESTER.values())),
        **row,
    }
    kind = row.get("Type")
    service = row.get("ServiceType") or (_SERVICES.get(kind) if isinstance(kind, str) else None)
    resource = row.get(RESOURCE_KEY) or f"/storageaccounts/{row['AccountName'] or ''}"
    return {
        **stated(_COLUMNS),
        "resourceId": resource,
        "identity": {
            "type": row.get("AuthenticationType") or None,
            "requester": stated(_REQUESTER),
        },
        "properties": {**stated(_PROPERTIES), "serviceType": service},
    }

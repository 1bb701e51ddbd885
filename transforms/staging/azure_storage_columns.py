"""Resource logs of Azure's blob storage by columns; the rules are those of `azure_storage`.

Rows of a Log Analytics workspace, which have other names, are read one by one.
"""

from typing import Any

import pyarrow.compute as pc

from transforms.staging import azure_requests as a
from transforms.staging import azure_storage
from transforms.staging import request_fields as f
from transforms.staging.azure_log_analytics import TIME_KEY
from transforms.staging.column_rules import INTEGER, TEXT
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.request_columns import add_hosts, addresses_without_port, etags, is_range
from transforms.staging.values import parse_instant

_HOST = "host of the URI"


class _Record(azure_storage.Record, rename="camel"):
    resource_id: str | None = None


def _count(stated: object) -> int:
    return f.whole(stated, "operation_count") or 0


def _placed(
    object_key: str | None, account: str | None, resource: str | None
) -> dict[str, str | None]:
    return azure_storage.placed(object_key, account or azure_storage.account_of(resource))


def _of_uri(uri: str | None) -> dict[str, str | None]:
    return {"version_id": a.version(uri), "endpoint": a.endpoint(uri)}


def _columns(records: Records) -> dict[str, Any]:
    request_id = records.text("correlation_id")
    records.need("correlation_id")
    records.doubt(pc.equal(request_id, ""))
    count = records.one(_count, "properties.operation_count", INTEGER)
    records.doubt(count.is_null())
    kind = records.rows(
        ("resource_id", "operation_name", "properties.service_type"),
        ("operation", "operation_name"),
        ("other_resource", "other_service"),
    )
    status = records.rows(("status_code",), ("status",))["status"]
    add_hosts(records, "uri", _HOST)
    asker = "identity.requester"
    return {
        "record_id": records.ids(request_id, count),
        "event_at": records.instants("time", parse_instant),
        "provider": "azure",
        **records.each(
            _placed,
            ("properties.object_key", "properties.account_name", "resource_id"),
            ("bucket_owner", "bucket", "key"),
        ),
        **records.each(_of_uri, (_HOST,), ("version_id", "endpoint")),
        "etag": etags(records, "properties.etag"),
        **kind,
        "status": status,
        **records.rows(("status_text", "properties.metric_response_type"), ("error",)),
        "response_bytes": records.integers(
            "properties.response_body_size", azure_storage.response_bytes
        ),
        "request_bytes": records.integers(
            "properties.request_body_size", azure_storage.request_bytes
        ),
        "is_range": is_range(kind["operation"], status),
        **records.rows(("duration_ms",), ("duration_seconds",)),
        **records.rows(("properties.server_latency_ms",), ("turn_around_seconds",)),
        "client_address": addresses_without_port(
            records, "caller_ip_address", azure_storage.address
        ),
        **records.rows(
            tuple(f"{asker}.{n}" for n in ("upn", "object_id", "app_id")), ("principal",)
        ),
        **records.rows(("properties.user_agent_header",), ("user_agent", "app_id")),
        "request_id": records.names("correlation_id"),
        **records.rows(("identity.type",), ("authentication",)),
        **records.rows(("location",), ("bucket_region",)),
        "copy_source": records.one(a.copy_source, "properties.source_uri", TEXT),
    }


COLUMNS = JsonColumns(
    azure_storage.PARSER,
    f.TABLE,
    Shape(_Record, list_key=azure_storage.LIST_KEY, foreign=(TIME_KEY,)),
    _columns,
    base={
        "time": '"2026-01-01T00:00:00Z"',
        "resource_id": '"/storageaccounts/a/blobservices/default"',
        "operation_name": '"GetBlob"',
    },
)

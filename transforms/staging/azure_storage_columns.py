"""Logs of Azure's blob storage by columns; the rules are those of `azure_storage`.

Resource logs are one form, rows of a Log Analytics workspace, which have other names, another.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow.compute as pc

from transforms.staging import azure_requests as a
from transforms.staging import azure_storage
from transforms.staging import request_fields as f
from transforms.staging.azure_log_analytics import RESOURCE_KEY, TIME_KEY
from transforms.staging.column_rules import INTEGER, TEXT
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.request_columns import add_hosts, addresses_without_port, etags, is_range
from transforms.staging.values import parse_instant

_HOST = "host of the URI"


class _Record(azure_storage.Record, rename="camel"):
    resource_id: str | None = None


class _Row(msgspec.Struct, rename="pascal"):
    """A row of the table; `azure_log_analytics` has its names."""

    time: str | None = msgspec.field(name=TIME_KEY, default=None)
    operation_name: str | None = None
    status_code: azure_storage.Number = None
    status_text: str | None = None
    duration_ms: azure_storage.Number = None
    caller_ip_address: str | None = None
    correlation_id: str | None = None
    location: str | None = None
    uri: str | None = None
    account_name: str | None = None
    user_agent_header: str | None = None
    etag: str | None = None
    operation_count: azure_storage.Number = None
    request_body_size: azure_storage.Number = None
    response_body_size: azure_storage.Number = None
    server_latency_ms: azure_storage.Number = None
    object_key: str | None = None
    source_uri: str | None = None
    metric_response_type: str | None = None
    requester_upn: str | None = None
    requester_object_id: str | None = None
    requester_app_id: str | None = None
    authentication_type: Any = None
    service_type: Any = None
    table: Any = msgspec.field(name="Type", default=None)
    resource_id: Any = msgspec.field(name=RESOURCE_KEY, default=None)


def _is_row(keys: tuple[str, ...]) -> bool:
    return {TIME_KEY, "OperationName"}.issubset(keys) and azure_storage.LIST_KEY not in keys


def _count(stated: object) -> int:
    return f.whole(stated, "operation_count") or 0


def _placed(object_key: str | None, account: str | None, resource: object) -> dict[str, str | None]:
    stated = resource if isinstance(resource, str) else None
    return azure_storage.placed(object_key, account or azure_storage.account_of(stated))


def _of_uri(uri: str | None) -> dict[str, str | None]:
    return {"version_id": a.version(uri), "endpoint": a.endpoint(uri)}


@dataclass(frozen=True)
class _Columns:
    """Columns of one form.

    Attributes:
        kept: What tells whether a record is left out, and what was done.
        requester: Names of who asked.
        authentication: How they did.
        parent: Path of what is under `properties` in resource logs.
    """

    kept: tuple[str, ...]
    requester: tuple[str, ...]
    authentication: str
    parent: str

    def __call__(self, records: Records) -> dict[str, Any]:
        request_id = records.text("correlation_id")
        records.need("correlation_id")
        records.doubt(pc.equal(request_id, ""))
        count = records.one(_count, self._path("operation_count"), INTEGER)
        records.doubt(count.is_null())
        kind = records.rows(
            self.kept, ("operation", "operation_name"), ("other_resource", "other_service")
        )
        status = records.rows(("status_code",), ("status",))["status"]
        add_hosts(records, "uri", _HOST)
        return {
            "record_id": records.ids(request_id, count),
            "event_at": records.instants("time", parse_instant),
            "provider": "azure",
            **records.each(
                _placed,
                (self._path("object_key"), self._path("account_name"), "resource_id"),
                ("bucket_owner", "bucket", "key"),
            ),
            **records.each(_of_uri, (_HOST,), ("version_id", "endpoint")),
            "etag": etags(records, self._path("etag")),
            **kind,
            "status": status,
            **records.rows(("status_text", self._path("metric_response_type")), ("error",)),
            "response_bytes": records.integers(
                self._path("response_body_size"), azure_storage.response_bytes
            ),
            "request_bytes": records.integers(
                self._path("request_body_size"), azure_storage.request_bytes
            ),
            "is_range": is_range(kind["operation"], status),
            **records.rows(("duration_ms",), ("duration_seconds",)),
            **records.rows((self._path("server_latency_ms"),), ("turn_around_seconds",)),
            "client_address": addresses_without_port(
                records, "caller_ip_address", azure_storage.address
            ),
            **records.rows(self.requester, ("principal",)),
            **records.rows((self._path("user_agent_header"),), ("user_agent", "app_id")),
            "request_id": records.names("correlation_id"),
            **records.rows((self.authentication,), ("authentication",)),
            **records.rows(("location",), ("bucket_region",)),
            "copy_source": records.one(a.copy_source, self._path("source_uri"), TEXT),
        }

    def _path(self, name: str) -> str:
        return self.parent + name


_BASE = {
    "time": '"2026-01-01T00:00:00Z"',
    "resource_id": '"/storageaccounts/a/blobservices/default"',
    "operation_name": '"GetBlob"',
}
COLUMNS = JsonColumns(
    azure_storage.PARSER,
    f.TABLE,
    Shape(_Record, list_key=azure_storage.LIST_KEY, foreign=(TIME_KEY,)),
    _Columns(
        kept=("resource_id", "operation_name", "properties.service_type"),
        requester=(
            "identity.requester.upn", "identity.requester.object_id", "identity.requester.app_id",
        ),
        authentication="identity.type",
        parent="properties.",
    ),
    base=_BASE,
    others=(
        JsonColumns(
            azure_storage.PARSER,
            f.TABLE,
            Shape(_Row, judge=_is_row, decodes_all=True),
            _Columns(
                kept=("resource_id", "account_name", "operation_name", "service_type", "table"),
                requester=("requester_upn", "requester_object_id", "requester_app_id"),
                authentication="authentication_type",
                parent="",
            ),
            base=_BASE | {"table": '"StorageBlobLogs"'},
        ),
    ),
)  # fmt: skip

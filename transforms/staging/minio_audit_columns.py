"""Audit logs of MinIO by columns; the rules are those of `minio_audit`.

Headers differ from record to record, and are read one by one.
"""

from typing import Any

from transforms.staging import minio_audit
from transforms.staging import request_fields as f
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.values import parse_instant

_OF_HEADERS = (
    "version_id", "etag", "error", "request_bytes", "object_size_bytes", "is_range",
    "response_offset_bytes", "upload_id", "part_number", "authentication", "copy_source",
)  # fmt: skip


def _of_headers(name: str | None, *parts: Any) -> dict[str, Any]:  # noqa: ANN401  as the parser has
    return minio_audit.of_headers(name or "", *parts)


def _columns(records: Records) -> dict[str, Any]:
    return {
        "event_at": records.instants("time", parse_instant),
        "provider": "minio",
        "bucket": records.names("api.bucket"),
        "key": records.names("api.object"),
        **records.rows(("trigger", "api.name"), ("operation", "operation_name"), ("internal",)),
        **records.rows(("api.status_code",), ("status",)),
        **records.rows(("api.tx",), ("response_bytes",)),
        **records.rows(("api.response_ns", "api.response"), ("duration_seconds",)),
        **records.rows(("api.first_byte_ns", "api.first_byte"), ("turn_around_seconds",)),
        "client_address": records.addresses("remotehost", minio_audit.address),
        "principal": records.names("parent_user"),
        **records.rows(("access_key",), ("access_key_id_hash",)),
        **records.rows(("user_agent",), ("user_agent", "app_id")),
        "request_id": records.names("request_id"),
        "bucket_region": records.context.region,
        **records.rows(("request_host",), ("endpoint",)),
        **records.each(
            _of_headers,
            (
                "api.name", "api.status", "api.status_code", "api.rx", "request_query",
                "request_header", "response_header",
            ),
            _OF_HEADERS,
        ),
    }  # fmt: skip


COLUMNS = JsonColumns(
    minio_audit.PARSER,
    f.TABLE,
    Shape(minio_audit.Record),
    _columns,
    base={"time": '"2026-01-01T00:00:00Z"', "api.name": '"GetObject"'},
)

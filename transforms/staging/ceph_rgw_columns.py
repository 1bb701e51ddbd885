"""Operations logs of Ceph's gateway by columns; the rules are those of `ceph_rgw`."""

from typing import Any

from transforms.staging import ceph_rgw
from transforms.staging import request_fields as f
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.values import parse_instant

_OF_REQUEST_LINE = (
    "key", "version_id", "operation", "http_method", "upload_id", "part_number", "authentication",
    "object_size_bytes", "is_range", "response_offset_bytes", "copy_source",
)  # fmt: skip


def _asked_of(name: str | None, *parts: Any) -> dict[str, Any]:  # noqa: ANN401  as the parser has
    return ceph_rgw.asked_of(name or "", *parts)


def _columns(records: Records) -> dict[str, Any]:
    return {
        "event_at": records.instants("time", parse_instant),
        "provider": "ceph",
        **records.rows(("bucket",), ("bucket",)),
        **records.rows(("operation",), ("operation_name",)),
        **records.rows(("http_status",), ("status",)),
        **records.rows(("error_code",), ("error",)),
        "response_bytes": records.integers("bytes_sent", ceph_rgw.bytes_sent),
        "request_bytes": records.integers("bytes_received", ceph_rgw.bytes_received),
        **records.rows(("total_time",), ("duration_seconds",)),
        "client_address": records.addresses("remote_addr", f.address_if_any),
        **records.rows(("user",), ("principal",)),
        **records.rows(("access_key_id",), ("access_key_id_hash",)),
        **records.rows(("user_agent",), ("user_agent", "app_id")),
        "request_id": records.names("trans_id"),
        "bucket_region": records.context.region,
        **records.each(
            _asked_of,
            (
                "operation", "uri", "bucket", "http_status", "object_size", "http_x_headers",
                "temp_url",
            ),
            _OF_REQUEST_LINE,
        ),
    }  # fmt: skip


COLUMNS = JsonColumns(
    ceph_rgw.PARSER,
    f.TABLE,
    Shape(ceph_rgw.Record, list_key=ceph_rgw.LIST_KEY),
    _columns,
    base={"time": '"2026-01-01T00:00:00Z"', "operation": '"get_obj"'},
)

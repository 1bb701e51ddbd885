"""CloudTrail events by columns; the rules are those of `cloudtrail`.

Only events of S3 in CloudTrail's own form are for columns; credentials that were given, and events
of EventBridge, Athena and Lake, are read one by one. So are the parameters of every request, which
name its object.
"""

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import cloudtrail
from transforms.staging import request_fields as f
from transforms.staging.cloudtrail_events import Event, Resource
from transforms.staging.cloudtrail_exports import ENVELOPE_KEY, LOWER_CASE_KEY
from transforms.staging.column_rules import FLAG
from transforms.staging.json_columns import JsonColumns, Records, joined
from transforms.staging.json_shapes import Shape
from transforms.staging.stored_text import name_text
from transforms.staging.values import parse_instant

_PARAMETERS: "msgspec.json.Decoder[cloudtrail.Parameters | None]" = msgspec.json.Decoder(
    cloudtrail.Parameters | None
)
_RESPONSE: "msgspec.json.Decoder[cloudtrail.Response | None]" = msgspec.json.Decoder(
    cloudtrail.Response | None
)
_OF_PARAMETERS = (
    "bucket_owner", "bucket", "key", "version_id", "etag", "upload_id", "part_number", "endpoint",
    "access_point", "vpc_endpoint_id", "copy_source",
)  # fmt: skip
_LEFT_OUT = (
    "network_activity", "insight", "other_service", "management_event"
)  # fmt: skip
_SEPARATOR = chr(31)


def _of_parameters(
    parameters: str | None,
    answer: str | None,
    resources: list[Resource] | None,
    host: str | None,
) -> dict[str, Any]:
    asked = _PARAMETERS.decode(parameters or "null")
    return cloudtrail.of_parameters(asked, _RESPONSE.decode(answer or "null"), resources, host)


def _record_ids(records: Records) -> pa.Array:
    records.need("event_id")
    own, shared = records.text("event_id"), records.text("shared_event_id")
    records.doubt(pc.equal(own, ""))
    # An event that replaces an earlier one is the earlier one.
    records.doubt(records.text("addendum.original_event_id").is_valid())
    is_shared = pc.fill_null(pc.not_equal(shared, ""), False)
    return records.ids(
        pc.if_else(
            is_shared,
            joined("sharedEventID", _SEPARATOR, shared),
            joined("eventID", _SEPARATOR, own),
        )
    )


def _columns(records: Records) -> dict[str, Any]:
    parts = records.each(
        _of_parameters,
        (
            "request_parameters", "response_elements", "resources",
            "tls_details.client_provided_host_header",
        ),
        _OF_PARAMETERS,
    )  # fmt: skip
    kind = records.rows(
        ("event_source", "event_name", "event_type", "event_category", "management_event"),
        ("operation", "operation_name"),
        _LEFT_OUT,
    )
    is_part = pc.and_(pc.equal(kind["operation"], "read"), parts["part_number"].is_valid())
    endpoint = records.one(name_text, "vpc_endpoint_id", parts["vpc_endpoint_id"].type)
    asker, moved = "user_identity", "additional_event_data"
    return {
        "record_id": _record_ids(records),
        "event_at": records.instants("event_time", parse_instant),
        "provider": "s3",
        **parts,
        **kind,
        **records.rows(("error_code", "aws_region"), ("error", "bucket_region")),
        "response_bytes": records.integers(f"{moved}.bytes_transferred_out", cloudtrail.bytes_out),
        "request_bytes": records.integers(f"{moved}.bytes_transferred_in", cloudtrail.bytes_in),
        "is_range": pc.if_else(is_part, True, pa.scalar(None, FLAG)),
        "client_address": records.addresses("source_ip_address", f.address_if_any),
        **records.rows(
            tuple(f"{asker}.{n}" for n in ("arn", "invoked_by", "user_name", "principal_id")),
            ("principal", "session_arn"),
        ),
        **records.rows((f"{asker}.access_key_id",), ("access_key_id_hash",)),
        **records.rows(("user_agent",), ("user_agent", "app_id")),
        "request_id": records.names("request_id"),
        **records.rows((f"{moved}.authentication_method",), ("authentication",)),
        "vpc_endpoint_id": pc.coalesce(endpoint, parts["vpc_endpoint_id"]),
    }


COLUMNS = JsonColumns(
    cloudtrail.PARSER,
    f.TABLE,
    Shape(
        Event,
        whole=("resources",),
        list_key=cloudtrail.LIST_KEY,
        foreign=(ENVELOPE_KEY, LOWER_CASE_KEY),
    ),
    _columns,
    base={
        "event_time": '"2026-01-01T00:00:00Z"',
        "event_source": '"s3.amazonaws.com"',
        "event_name": '"GetObject"',
    },
)

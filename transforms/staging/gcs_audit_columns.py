"""Audit logs of Google Cloud Storage by columns; the rules are those of `gcs_audit`."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import gcs_audit
from transforms.staging import request_fields as f
from transforms.staging.column_rules import FLAG, TEXT
from transforms.staging.json_columns import JsonColumns, Records, joined
from transforms.staging.json_shapes import Shape
from transforms.staging.values import parse_instant


def _place(resource: str | None, labelled: str | None) -> dict[str, Any]:
    bucket, key = gcs_audit.place(resource, labelled)
    return {"bucket": bucket, "key": key}


def _columns(records: Records) -> dict[str, Any]:
    event_at, insert_id = records.instants("timestamp", parse_instant), records.text("insert_id")
    records.need("insert_id")
    records.doubt(pc.equal(insert_id, ""))
    # An entry without a payload is left out for another reason than one of another service.
    records.need("proto_payload.service_name")
    place = records.each(
        _place, ("proto_payload.resource_name", "resource.labels.bucket_name"), ("bucket", "key")
    )
    source = ("proto_payload.metadata.destination",)
    is_source = records.one(gcs_audit.is_destination, source[0], FLAG)
    path = joined("gs://", place["bucket"], "/", place["key"])
    request = "proto_payload.request_metadata"
    asker = "proto_payload.authentication_info"
    return {
        "record_id": records.ids(insert_id, event_at),
        "event_at": event_at,
        "provider": "gcs",
        **place,
        **records.rows(
            ("proto_payload.service_name", "proto_payload.method_name", *source),
            ("operation", "operation_name"),
            ("other_service",),
        ),
        **records.rows(("proto_payload.status.code",), ("error",)),
        "client_address": records.addresses(f"{request}.caller_ip", f.address_if_any),
        **records.rows((f"{asker}.principal_email", f"{asker}.principal_subject"), ("principal",)),
        **records.rows((f"{asker}.service_account_key_name",), ("access_key_id_hash",)),
        **records.rows((f"{request}.caller_supplied_user_agent",), ("user_agent", "app_id")),
        **records.rows(
            ("proto_payload.resource_location.current_locations", "resource.labels.location"),
            ("bucket_region",),
        ),
        "copy_source": pc.if_else(is_source, path, pa.scalar(None, TEXT)),
    }


COLUMNS = JsonColumns(
    gcs_audit.PARSER,
    f.TABLE,
    Shape(gcs_audit.Head, inner={"proto_payload": gcs_audit.Payload}),
    _columns,
    base={
        "timestamp": '"2026-01-01T00:00:00Z"',
        "proto_payload.service_name": f'"{gcs_audit.SERVICE}"',
        "proto_payload.method_name": '"storage.objects.get"',
    },
)

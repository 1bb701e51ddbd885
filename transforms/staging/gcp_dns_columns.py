"""Cloud DNS query logs by columns; the rules are those of `gcp_dns`."""

from typing import Any

import pyarrow.compute as pc

from transforms.staging import gcp_dns
from transforms.staging import lookup_fields as f
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant


def _answered(name: str | None, code: str | None, rdata: str | None) -> dict[str, Any]:
    if name is None:
        refuse("query_name", "a name", None)
    return gcp_dns.answered(name, code, rdata)


def _latency(code: str | None, milliseconds: float | None) -> dict[str, Any]:
    return {"latency_seconds": gcp_dns.latency(code, milliseconds)}


def _columns(records: Records) -> dict[str, Any]:
    event_at, insert_id = records.instants("timestamp", parse_instant), records.text("insert_id")
    records.need("insert_id")
    records.doubt(pc.equal(insert_id, ""))
    query = "json_payload"
    return {
        "record_id": records.ids(insert_id, event_at),
        "event_at": event_at,
        "client_address": records.addresses(f"{query}.source_ip", gcp_dns.client_address),
        **records.rows(
            ("log_name", "resource.type", "resource.labels.source_type"),
            (),
            ("other_log", "public_zone"),
        ),
        **records.rows((f"{query}.vm_instance_name",), ("node",)),
        **records.rows((f"{query}.protocol",), ("transport",)),
        **records.rows((f"{query}.query_type",), ("query_type",)),
        **records.each(
            _answered,
            (f"{query}.query_name", f"{query}.response_code", f"{query}.rdata"),
            ("query_name", "original_query_name", "rcode", "answers", "is_response"),
        ),
        **records.each(
            _latency,
            (f"{query}.response_code", f"{query}.server_latency"),
            ("latency_seconds",),
        ),
    }


COLUMNS = JsonColumns(
    gcp_dns.PARSER,
    f.TABLE,
    Shape(gcp_dns.Entry, inner={"json_payload": gcp_dns.Query}),
    _columns,
    base={
        "timestamp": '"2026-01-01T00:00:00Z"',
        "json_payload.query_name": '"x"',
    },
)

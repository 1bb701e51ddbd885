"""CloudTrail events by columns; the rules are those of `cloudtrail`.

Only events of S3 are for columns, in CloudTrail's own form or in an envelope of EventBridge;
credentials that were given, pulls of images, and events of Athena and Lake are read one by one. So
are the parameters of every request, which name its object.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import cloudtrail
from transforms.staging import request_fields as f
from transforms.staging.cloudtrail_events import Event, Resource
from transforms.staging.cloudtrail_exports import ENVELOPE_KEY, EVENT_KEY, LOWER_CASE_KEY
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


@dataclass(frozen=True)
class _Columns:
    """Columns of one form.

    Attributes:
        parent: Path of the event.
    """

    parent: str = ""

    def __call__(self, records: Records) -> dict[str, Any]:
        path = self._path
        parts = records.each(
            _of_parameters,
            self._paths(
                "request_parameters", "response_elements", "resources",
                "tls_details.client_provided_host_header",
            ),
            _OF_PARAMETERS,
        )  # fmt: skip
        kind = records.rows(
            self._paths(
                "event_source", "event_name", "event_type", "event_category", "management_event"
            ),
            ("operation", "operation_name"),
            _LEFT_OUT,
        )
        is_part = pc.and_(pc.equal(kind["operation"], "read"), parts["part_number"].is_valid())
        own_id = path("vpc_endpoint_id")
        endpoint = records.one(name_text, own_id, parts["vpc_endpoint_id"].type)
        moved = path("additional_event_data")
        return {
            "record_id": self._record_ids(records),
            "event_at": records.instants(path("event_time"), parse_instant),
            "provider": "s3",
            **parts,
            **kind,
            **records.rows(self._paths("error_code", "aws_region"), ("error", "bucket_region")),
            "response_bytes": records.integers(
                f"{moved}.bytes_transferred_out", cloudtrail.bytes_out
            ),
            "request_bytes": records.integers(f"{moved}.bytes_transferred_in", cloudtrail.bytes_in),
            "is_range": pc.if_else(is_part, True, pa.scalar(None, FLAG)),
            "client_address": records.addresses(path("source_ip_address"), f.address_if_any),
            **records.rows(
                self._paths(
                    "user_identity.arn", "user_identity.invoked_by", "user_identity.user_name",
                    "user_identity.principal_id",
                ),
                ("principal", "session_arn"),
            ),
            **records.rows((path("user_identity.access_key_id"),), ("access_key_id_hash",)),
            **records.rows((path("user_agent"),), ("user_agent", "app_id")),
            "request_id": records.names(path("request_id")),
            **records.rows((f"{moved}.authentication_method",), ("authentication",)),
            "vpc_endpoint_id": pc.coalesce(endpoint, parts["vpc_endpoint_id"]),
        }  # fmt: skip

    def _record_ids(self, records: Records) -> pa.Array:
        records.need(self._path("event_id"))
        own = records.text(self._path("event_id"))
        shared = records.text(self._path("shared_event_id"))
        records.doubt(pc.equal(own, ""))
        # An event that replaces an earlier one is the earlier one.
        earlier = records.text(self._path("addendum.original_event_id"))
        records.doubt(earlier.is_valid())
        is_shared = pc.fill_null(pc.not_equal(shared, ""), False)
        return records.ids(
            pc.if_else(
                is_shared,
                joined("sharedEventID", _SEPARATOR, shared),
                joined("eventID", _SEPARATOR, own),
            )
        )

    def _path(self, path: str) -> str:
        return self.parent + path

    def _paths(self, *paths: str) -> tuple[str, ...]:
        return tuple(map(self._path, paths))


class _Enveloped(_Columns):
    """Columns of events in the envelope of EventBridge."""

    def __call__(self, records: Records) -> dict[str, Any]:
        records.need("envelope")
        records.text("envelope")
        # What is no event is left out for another reason.
        records.need(self._path("event_source"))
        return super().__call__(records)


class _Envelope(msgspec.Struct):
    """An envelope of EventBridge."""

    envelope: str | None = msgspec.field(name=ENVELOPE_KEY, default=None)
    event: Event | None = msgspec.field(name=EVENT_KEY, default=None)


def _is_envelope(keys: tuple[str, ...]) -> bool:
    return {ENVELOPE_KEY, EVENT_KEY}.issubset(keys)


COLUMNS = JsonColumns(
    cloudtrail.PARSER,
    f.TABLE,
    Shape(
        Event,
        whole=("resources",),
        list_key=cloudtrail.LIST_KEY,
        foreign=(ENVELOPE_KEY, LOWER_CASE_KEY),
    ),
    _Columns(),
    base={
        "event_time": '"2026-01-01T00:00:00Z"',
        "event_source": '"s3.amazonaws.com"',
        "event_name": '"GetObject"',
    },
    others=(
        JsonColumns(
            cloudtrail.PARSER,
            f.TABLE,
            Shape(
                _Envelope,
                whole=("event.resources",),
                list_key=cloudtrail.LIST_KEY,
                foreign=(LOWER_CASE_KEY,),
                judge=_is_envelope,
            ),
            _Enveloped("event."),
            base={
                "envelope": '"AWS API Call via CloudTrail"',
                "event.event_time": '"2026-01-01T00:00:00Z"',
                "event.event_source": '"s3.amazonaws.com"',
                "event.event_name": '"GetObject"',
            },
        ),
    ),
)

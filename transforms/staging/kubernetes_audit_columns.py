"""Audit events by columns, of which most are left out; the rules are those of `kubernetes_audit`.

An event that changed an object holds the object, which is read by the row parser. What is left out
(reads, other stages, other resources, what failed) is told without looking into bodies.
"""

from typing import Any

from transforms.staging import kubernetes_audit as audit
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.refusal import refuse

_DRY_RUN = "dry run"
_PATHS = (
    "kind", "api_version", "stage", "verb", "object_ref.api_group", "object_ref.resource",
    "object_ref.subresource", "response_status.code", "annotations", _DRY_RUN,
)  # fmt: skip


def _left_out(
    kind: str | None,
    version: str | None,
    stage: str | None,
    verb: str | None,
    group: str | None,
    resource: str | None,
    subresource: str | None,
    code: int | None,
    annotations: dict[str, str] | None,
    dry_run: str | None,
) -> str:
    event = audit.Event(
        kind=kind,
        api_version=version,
        stage=stage,
        verb=verb,
        response_status=audit.ResponseStatus(code),
        annotations=annotations,
        request_uri=dry_run and "dryRun=",
    )
    reference = audit.Reference(api_group=group, resource=resource, subresource=subresource)
    word = audit.left_out(event, audit.KINDS.get((group or "", resource or "")), reference)
    if word is None or not audit.is_event(event):
        refuse("event", "one that is left out")
    return word


def _columns(records: Records) -> dict[str, Any]:
    records.add_sign(_DRY_RUN, "request_uri", "dryRun=")
    records.each(_left_out, _PATHS, ())
    return {}


COLUMNS = JsonColumns(
    audit.PARSER,
    "",
    Shape(
        audit.Event,
        list_key="items",
        unread=("request_object", "response_object"),
    ),
    _columns,
)

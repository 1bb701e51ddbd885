"""Route 53 Resolver query logs by columns; the rules are those of `route53`."""

from typing import Any

from transforms.staging import lookup_fields as f
from transforms.staging import route53
from transforms.staging.answer_columns import ALIASES, Aliases, aliases, answers_of, of_responses
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant


def _asked(
    query_class: str | None, query_type: str | None, port: int | str | None, transport: str | None
) -> dict[str, Any] | str:
    if query_class not in route53.CLASSES:
        return route53.OTHER_CLASS
    return {
        "query_type": f.record_type(query_type or None),
        "client_port": f.port(port or None, "srcport"),
        "transport": f.transport(transport),
    }


def _name(name: str | None, code: str | None, stated: Aliases) -> dict[str, Any]:
    if name is None:
        refuse("query_name", "a name", None)
    return route53.named(name, code, aliases(stated))


def _columns(records: Records) -> dict[str, Any]:
    event_at = records.instants("query_timestamp", parse_instant)
    records.doubt(event_at.is_null())
    answers = answers_of(records, route53.answer, "answers")
    names = ("query_name", "original_query_name", "rcode", "is_response")
    name = records.each(_name, ("query_name", "rcode", ALIASES), names)
    return {
        "event_at": event_at,
        "node": records.context.node,
        "client_address": records.addresses("srcaddr", route53.client_address),
        **records.each(
            _asked,
            ("query_class", "query_type", "srcport", "transport"),
            ("query_type", "client_port", "transport"),
        ),
        **name,
        "answers": of_responses(answers, name["is_response"]),
    }


COLUMNS = JsonColumns(
    route53.PARSER, f.TABLE, Shape(route53.Record, whole=("answers[]",)), _columns
)

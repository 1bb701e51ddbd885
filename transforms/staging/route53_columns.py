"""Route 53 Resolver query logs by columns; the rules are those of `route53`."""

from typing import Any

from transforms.staging import lookup_fields as f
from transforms.staging import route53
from transforms.staging.answer_columns import ALIASES, Aliases, aliases, answers_of, of_responses
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant


def _name(name: str | None, code: str | None, stated: Aliases) -> dict[str, Any]:
    if name is None:
        refuse("query_name", "a name", None)
    return route53.named(name, code, aliases(stated))


def _columns(records: Records) -> dict[str, Any]:
    event_at = records.instants("query_timestamp", parse_instant)
    answers = answers_of(records, route53.answer, "answers")
    names = ("query_name", "original_query_name", "rcode", "is_response")
    name = records.each(_name, ("query_name", "rcode", ALIASES), names)
    return {
        "event_at": event_at,
        "node": records.context.node,
        "client_address": records.addresses("srcaddr", route53.client_address),
        **records.rows(("srcport",), ("client_port",)),
        **records.rows(
            ("query_class", "query_type", "transport"),
            ("query_type", "transport"),
            (route53.OTHER_CLASS,),
        ),
        **name,
        "answers": of_responses(answers, name["is_response"]),
    }


COLUMNS = JsonColumns(
    route53.PARSER,
    f.TABLE,
    Shape(route53.Record, whole=("answers[]",)),
    _columns,
    base={"query_timestamp": '"2026-01-01T00:00:00Z"', "query_name": '"x"'},
)

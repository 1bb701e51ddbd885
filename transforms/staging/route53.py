"""Route 53 Resolver query logs: one JSON object per query that a VPC's resolver was asked.

Source: the Route 53 developer guide's pages on the format of resolver query logs; public lines of
elastic/integrations and ocsf/examples. Files in S3 hold one object per line.

* Only unique queries are logged: what the resolver answers from its cache within the time to live
  gives no record. A row is one asker of a name, never every asker, and nothing follows from a row
  that is missing.
* The time is that of the query, in whole seconds; there is no latency. A record without a response
  code is a query without a known response.
* `answers` have types and data, but neither owner nor time to live; CNAMEs come before addresses.
  A record without the key has null answers.
* `client_address` is the pod only where the pod asks the VPC's resolver itself; behind CoreDNS or
  a node-local cache it is theirs. The instance in `srcids` is a cloud id and no node's name, and is
  not kept. What asks through a resolver endpoint is outside of the VPC and is a row all the same.
* What a DNS firewall decided shows in the answer that it gave; its rules are not read.
* Two queries of one client, port, name and second that are told alike are one record.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from transforms.staging import lookup_fields as f
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_lookups import Row, parse_lookups, recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant

SHOWN_KEYS = frozenset(
    {
        b"query_timestamp", b"query_name", b"query_type", b"query_class", b"rcode", b"srcaddr",
        b"srcport", b"transport", b"Type", b"Class",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; answers may hold texts of any kind."""
CLASSES = frozenset({"IN", "", None})
"""Stated classes of queries that are read."""
OTHER_CLASS = "other_class"
_MARKS = ("query_timestamp", "query_name", "query_type", "srcaddr")


class Answer(msgspec.Struct, rename="pascal"):
    """One answer record."""

    rdata: str | None = None
    type: str | None = None


class Record(msgspec.Struct):
    """One query."""

    query_timestamp: str | None = None
    query_name: str | None = None
    query_type: str | None = None
    query_class: str | None = None
    rcode: str | None = None
    answers: list[Answer] | None = None
    srcaddr: str | None = None
    srcport: int | str | None = None
    transport: str | None = None


_RECORD = msgspec.json.Decoder(Record)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_lookups(records, context, _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> Row | str:
    record = decode(_RECORD, item.data, item.path)
    if record.query_name is None:
        refuse("query_name", "a name", None)
    if record.query_class not in CLASSES:
        return OTHER_CLASS
    event_at = parse_instant(record.query_timestamp) if record.query_timestamp else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in query_timestamp", record.query_timestamp)
    # Without a response code nothing is known of an answer.
    answers = _answers(record.answers) if record.rcode else None
    return {
        "record_id": whole_record_id(item),
        "event_at": event_at,
        "node": context.node,
        "client_address": client_address(record.srcaddr),
        "client_port": f.port(record.srcport or None, "srcport"),
        "client_namespace": None,
        "client_pod_name": None,
        "client_pod_uid": None,
        "resolver_address": None,
        "transport": f.transport(record.transport),
        "query_type": f.record_type(record.query_type or None),
        **named(record.query_name, record.rcode, answers or ()),
        "answers": answers,
        "latency_seconds": None,
        "dns_message_id": None,
    }


def client_address(stated: str | None) -> str | None:
    """Address of who asked."""
    return f.address(stated, "srcaddr")


def named(name: str, stated_code: str | None, answers: Sequence[f.Answer]) -> Row:
    """The name asked, and the response code, without which there is no response."""
    rcode = f.response_code(stated_code) if stated_code else None
    return {
        **f.asked(f.escaped_name(name), rcode, answers=answers),
        "rcode": rcode,
        "is_response": rcode is not None,
    }


def _answers(stated: list[Answer] | None) -> list[f.Answer] | None:
    return None if stated is None else [answer(each) for each in f.not_too_many(stated)]


def answer(stated: Answer) -> f.Answer:
    """One answer.

    Raises:
        RefusedError: It has no type that is known.
    """
    kind = f.record_type(stated.type)
    if kind is None:
        refuse("answers", "a record type in Type", None)
    data = stated.rdata
    return f.answer(kind, None if data is None else f.answer_data(kind, data, is_escaped=True))


def _recognise(head: bytes) -> Recognition:
    return recognise_records(head, _variant)


def _variant(record: Row) -> str | None:
    is_query = all(isinstance(record.get(key), str) for key in _MARKS)
    return "query log records" if is_query else None


PARSER = Parser(
    name="route53",
    title="Route 53 Resolver query log",
    tables=(f.TABLE,),
    shape="json",
    record="one object: one query that the resolver did not answer from its cache",
    cannot_tell=(
        "queries that were answered from the resolver's cache; times to live and owners of "
        "answers; latency; pods (only addresses); the client behind CoreDNS or a node-local cache; "
        "times below a second"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=("client_address", "client_port", "transport", "answers", "rcode"),
    tested_on="real",
)

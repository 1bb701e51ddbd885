r"""Cloud DNS query logs of Google Cloud: LogEntry objects whose payload is one query.

Source: the Cloud DNS documentation's page on logging and monitoring; public lines of
elastic/integrations. A logging sink writes one entry per line into a bucket,
`gcloud logging read --format=json` an array.

* `rdata` holds the answers as text: records parted by line ends, each
  `name\tttl\tclass\ttype\tdata` with the type in lower case. Cloud DNS cuts the text at 260
  characters and puts `...` behind it; the last record is then a part, or none, and is left out. A
  list that was cut is not complete, and is null where nothing whole is left of it.
* `serverLatency` is whole milliseconds, as the server measured.
* The time is that of the entry. The entry's `insertId` and time are its identity.
* `node` is the virtual machine that asked, in `vmInstanceName` behind the project's number; GKE
  names a node like its machine. `sourceIP` is optional.
* `destinationIP` is where Cloud DNS forwarded to, and not the resolver that was asked.
* Queries that resolvers of the internet ask of a public zone (`source_type` internet) are no
  look-ups of a client of ours and are ignored; so are entries of other logs.
* An entry without a response code is a query without a known response.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from transforms.staging import lookup_fields as f
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_lookups import Row, parse_lookups, recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import identity, parse_instant

SHOWN_KEYS = frozenset(
    {
        b"timestamp", b"receiveTimestamp", b"logName", b"type", b"source_type", b"target_type",
        b"queryName", b"queryType", b"responseCode", b"protocol", b"sourceIP",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; `rdata` may hold texts of any kind."""
CUT_MARK = "..."

_LOGS = ("/dns.googleapis.com%2Fdns_queries", "/dns.googleapis.com/dns_queries")
_RESOURCE = "dns_query"
_MAX_TTL_DIGITS = 10


class _Labels(msgspec.Struct):
    source_type: str | None = None


class _Resource(msgspec.Struct):
    type: str | None = None
    labels: _Labels | None = None


class Query(msgspec.Struct, rename="camel"):
    """The payload: one query."""

    query_name: str | None = None
    query_type: str | None = None
    response_code: str | None = None
    rdata: str | None = None
    protocol: str | None = None
    server_latency: int | float | None = None
    source_ip: str | None = msgspec.field(name="sourceIP", default=None)
    vm_instance_name: str | None = None


class Entry(msgspec.Struct, rename="camel"):
    """What tells the logs apart; entries of other logs may have any payload."""

    insert_id: str | None = None
    timestamp: str | None = None
    log_name: str | None = None
    resource: _Resource | None = None
    json_payload: msgspec.Raw = msgspec.Raw()


_HEAD = msgspec.json.Decoder(Entry)
_QUERY = msgspec.json.Decoder(Query)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_lookups(records, context, _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> Row | str:
    head = decode(_HEAD, item.data, item.path)
    if not _is_query_log(head.log_name, head.resource.type if head.resource else None):
        return "other_log"
    labels = head.resource.labels if head.resource else None
    if labels is not None and labels.source_type == "internet":
        return "public_zone"
    query = decode(_QUERY, bytes(head.json_payload) or b"{}", f"{item.path}.jsonPayload")
    if query.query_name is None:
        refuse("query_name", "a name in jsonPayload.queryName", None)
    event_at = parse_instant(head.timestamp) if head.timestamp else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in timestamp", head.timestamp)
    return {
        "record_id": _record_id(item, head.insert_id, event_at),
        "event_at": event_at,
        "node": _machine(query.vm_instance_name) or context.node,
        "client_address": client_address(query.source_ip),
        "client_port": None,
        "client_namespace": None,
        "client_pod_name": None,
        "client_pod_uid": None,
        "resolver_address": None,
        "transport": f.transport(query.protocol),
        **_answered(query.query_name, query.response_code, query.rdata),
        "query_type": f.record_type(query.query_type or None),
        "latency_seconds": latency(query.response_code, query.server_latency),
        "dns_message_id": None,
    }


def client_address(stated: str | None) -> str | None:
    """Address of who asked."""
    return f.address(stated, "source_ip")


def _answered(name: str, stated_code: str | None, rdata: str | None) -> Row:
    """The name asked and what was answered; without a response code there is no response."""
    rcode = response_code(stated_code)
    answers = None if rcode is None else _answers(rdata)
    return {
        **f.asked(f.escaped_name(name), rcode, answers=answers),
        "rcode": rcode,
        "answers": answers,
        "is_response": rcode is not None,
    }


def response_code(stated: str | None) -> str | None:
    """Response code; null where there is no response.

    Raises:
        RefusedError: The text is none.
    """
    return f.response_code(stated) if stated else None


def _is_query_log(log_name: str | None, resource_type: str | None) -> bool:
    """Whether an entry is of the log; one of the two may have been taken off."""
    if log_name:
        return log_name.endswith(_LOGS)
    return resource_type in {_RESOURCE, None}


def _record_id(item: Item, insert_id: str | None, event_at: datetime) -> str:
    return identity(insert_id, event_at) if insert_id else whole_record_id(item)


def _machine(stated: str | None) -> str | None:
    """Name of a virtual machine, without the number of its project."""
    if not stated:
        return None
    project, _, name = stated.partition(".")
    return name_text(name if name and project.isdigit() else stated)


def latency(stated_code: str | None, milliseconds: float | None) -> float | None:
    """Milliseconds as seconds; 0 is less than one, and what is out of range is null."""
    if (
        not stated_code
        or milliseconds is None
        or not 0 <= milliseconds <= f.MAX_LATENCY_SECONDS * 1_000
    ):
        return None
    return milliseconds / 1_000


def _answers(rdata: str | None) -> list[f.Answer] | None:
    """The answers that are whole; null where there is no text, or none is whole."""
    if rdata is None:
        return None
    records = f.not_too_many([line for line in rdata.split("\n") if line.strip()])
    if rdata.endswith(CUT_MARK):
        return [answer(line) for line in records[:-1]] or None
    return [answer(line) for line in records]


def answer(line: str) -> f.Answer:
    """One answer, as a line of `rdata` has it.

    Raises:
        RefusedError: It is none.
    """
    parts = line.split("\t", 4)
    if len(parts) < 5:
        parts = line.split(None, 4)
    if len(parts) < 5:
        refuse("rdata", "records of name, ttl, class, type and data", line)
    owner, ttl, _, kind_text, data = parts
    kind = f.record_type(kind_text)
    if kind is None or not (ttl.isascii() and ttl.isdigit() and len(ttl) <= _MAX_TTL_DIGITS):
        refuse("rdata", "records of name, ttl, class, type and data", line)
    return f.answer(
        kind,
        f.answer_data(kind, data, is_escaped=True),
        owner=f.escaped_name(owner),
        ttl=int(ttl),
    )


def _recognise(head: bytes) -> Recognition:
    return recognise_records(head, _variant)


def _variant(entry: Row) -> str | None:
    payload, resource, log = entry.get("jsonPayload"), entry.get("resource"), entry.get("logName")
    if not isinstance(payload, dict) or not isinstance(payload.get("queryName"), str):
        return None
    if isinstance(log, str):
        return "log entries" if log.endswith(_LOGS) else None
    is_marked = isinstance(resource, dict) and resource.get("type") == _RESOURCE
    return "log entries" if is_marked and log is None else None


PARSER = Parser(
    name="gcp_dns",
    title="Google Cloud DNS query log",
    tables=(f.TABLE,),
    shape="json",
    record="one log entry: one query",
    cannot_tell=(
        "answers behind the 260th character; pods (only addresses and machines); the client where "
        "`sourceIP` is absent; the resolver and ports"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=(
        "node", "client_address", "transport", "answers", "latency_seconds", "rcode",
    ),
)  # fmt: skip

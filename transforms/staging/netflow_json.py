"""NetFlow, IPFIX and sFlow as collectors write them: goflow2, nfdump and ipfixcol2.

Each collector does something else with the same elements of a flow, so each is read by its own
rules: netflow_goflow2.py, netflow_nfdump.py, netflow_ipfixcol2.py. What a record is of is told by
its own keys, or by the line of names of nfdump's CSV.

Every exporter on a path reports the same packets: `reporter` is the exporter, and records of
several are never added. Where a collector does not state it, all of an export are one observer.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging import netflow_goflow2 as goflow2
from transforms.staging import netflow_ipfixcol2 as ipfixcol2
from transforms.staging import netflow_nfdump as nfdump
from transforms.staging.json_items import parse_items, whole_record_id
from transforms.staging.json_lookups import recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    Row,
    accepted,
    ignored,
    rejected,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.values import identity
from transforms.staging.volume_fields import TABLE

MAX_LINE = 1 << 16
SHOWN_KEYS = goflow2.SHOWN_KEYS | nfdump.SHOWN_KEYS | ipfixcol2.SHOWN_KEYS
"""Keys whose text an excerpt may show."""

_BOM = b"\xef\xbb\xbf"
_SUMMARY = "Summary"
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    names: tuple[str, ...] | None = None
    is_summary = False
    for raw in records:
        data = raw.data.removeprefix(_BOM)
        if data.lstrip()[:1] in {b"{", b"["}:
            yield from parse_items([raw], context, _read, SHOWN_KEYS)
            continue
        if len(data) > MAX_LINE:
            yield rejected(raw, f"unreadable_line: expected at most {MAX_LINE} bytes")
            continue
        cells = [cell.strip() for cell in data.decode("utf-8", "replace").split(",")]
        header = _header(cells)
        if header is not None:
            names, is_summary = header, False
        elif names is None:
            yield rejected(raw, "no_fields: expected JSON, or a line of nfdump's names before it")
        elif is_summary or cells[0] == _SUMMARY:
            is_summary = True
            yield ignored(raw, "summary")
        else:
            yield _line(raw, names, cells, context)


def _header(cells: list[str]) -> tuple[str, ...] | None:
    found = set(cells)
    is_header = any(needed <= found for needed in nfdump.HEADERS) and len(found) == len(cells)
    return tuple(cells) if is_header else None


def _line(raw: RawRecord, names: tuple[str, ...], cells: list[str], context: FileContext) -> Parsed:
    if len(cells) != len(names):
        return rejected(raw, f"field_count: expected {len(names)} fields, got {len(cells)}")
    record_id = identity(",".join(names), ",".join(cells))
    try:
        found = nfdump.volumes(dict(zip(names, cells, strict=True)), context)
    except RefusedError as error:
        return refused(raw, error)
    if isinstance(found, str):
        return ignored(raw, found)
    return accepted(raw, *_rows(found, record_id))


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    values = decode(_OBJECT, item.data, item.path)
    collector = _collector(values)
    if collector == "ipfixcol2":
        found = ipfixcol2.volumes(values, context)
    elif collector == "goflow2":
        found = goflow2.volumes(values, context)
    elif collector == "nfdump":
        found = nfdump.volumes(values, context)
    else:
        refuse("no_flow", "keys of goflow2, nfdump or ipfixcol2", None)
    return found if isinstance(found, str) else _rows(found, whole_record_id(item))


def _rows(found: list[dict[str, Any]], record_id: str) -> tuple[Row, ...]:
    return tuple((TABLE, row | {"record_id": record_id}) for row in found)


def _collector(values: dict[str, Any]) -> str | None:
    """Which collector wrote a record, by its keys."""
    if str(values.get("@type", ""))[:6] == "ipfix.":
        return "ipfixcol2"
    if len(goflow2.MARKS & values.keys()) > 1:
        return "goflow2"
    return "nfdump" if len(nfdump.MARKS & values.keys()) > 1 else None


def _recognise(head: bytes) -> Recognition:
    beginning = head.removeprefix(_BOM).lstrip()
    if beginning[:1] in {b"{", b"["}:
        return recognise_records(head, _variant)
    first = beginning.split(b"\n", 1)[0][:MAX_LINE].decode("utf-8", "replace")
    names = _header([cell.strip() for cell in first.split(",")])
    return Recognition(3, f"nfdump, CSV of {len(names)} fields") if names else Recognition(0)


def _variant(values: dict[str, Any]) -> str | None:
    collector = _collector(values)
    return f"{collector}, JSON" if collector else None


PARSER = Parser(
    name="netflow_json",
    title="NetFlow, IPFIX, sFlow: goflow2, nfdump, ipfixcol2",
    tables=(TABLE,),
    shape="json",
    record="one flow record of a collector, or one line of nfdump's CSV; the line of names is none",
    cannot_tell=(
        "pods and names; with goflow2, bytes of exporters that send only totals; with nfdump, "
        "whether bytes are totals, the zone of its times (state `record_format: TZ=UTC`), in CSV "
        "whether they were multiplied; with ipfixcol2, the exporter unless it writes details; "
        "sampling that was not told"
    ),
    recognise=_recognise,
    parse=_parse,
    expected_form=nfdump.expected_form,
    tested_on="real",
)

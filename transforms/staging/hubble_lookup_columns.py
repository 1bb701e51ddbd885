"""Columns of `dns_lookups` from columns of `flows`, as `hubble_rows.dns_lookup` has them."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas.registry import table_spec
from transforms.staging import hubble_values as v
from transforms.staging.column_rules import INTEGER, TEXT, Columns, Doubts
from transforms.staging.hubble_rows import REQUEST, RESPONSE, UNANSWERED
from transforms.staging.refusal import RefusedError
from transforms.staging.search_suffix import without_search_suffix

_EXISTS = {"NOERROR": True, "NXDOMAIN": False}


def lookup_columns(flows: Columns, doubts: Doubts) -> Columns | None:
    """Read the look-ups that rows of `flows` state.

    Args:
        flows: Columns of `flows`, with `record_index`.
        doubts: Rows that are in doubt give none here; a response code that is none adds a doubt.

    Returns:
        The columns of `dns_lookups` without the provenance that is the same for all rows; none
        where no row states a look-up.
    """
    if flows["dns_query"].null_count == len(flows["dns_query"]):
        return None
    chosen = _chosen(flows)
    if doubts.mask is not None:
        chosen = pc.and_not(chosen, doubts.mask)
    codes = _codes(flows["dns_rcode"], chosen, doubts)
    if doubts.mask is not None:
        chosen = pc.and_not(chosen, doubts.mask)
    if not pc.any(chosen).as_py():
        return None
    stated = {name: column.filter(chosen) for name, column in flows.items()}
    return _columns(stated, codes.filter(chosen))


def _chosen(flows: Columns) -> pa.BooleanArray:
    is_asked = pc.and_(flows["dns_query"].is_valid(), flows["event_at"].is_valid())
    is_client = pc.fill_null(pc.not_equal(flows["direction"], "INGRESS"), True)
    is_unanswered = pc.and_(
        pc.equal(flows["l7_type"], REQUEST),
        pc.is_in(flows["verdict"], pa.array(sorted(UNANSWERED), TEXT)),
    )
    is_stated = pc.or_kleene(pc.equal(flows["l7_type"], RESPONSE), is_unanswered)
    return pc.fill_null(pc.and_kleene(pc.and_(is_asked, is_client), is_stated), False)


def _codes(column: pa.Array, chosen: pa.BooleanArray, doubts: Doubts) -> pa.Array:
    """Names of response codes; a row whose code is none is in doubt."""
    encoded = pc.if_else(chosen, column, pa.scalar(None, INTEGER)).dictionary_encode()
    names: list[str | None] = []
    for value in encoded.dictionary.to_pylist():
        try:
            names.append(v.response_code(value, ""))
        except RefusedError:
            names.append(None)
    found = pa.array(names, TEXT).take(encoded.indices)
    doubts.note(pc.and_(found.is_null(), encoded.is_valid()))
    return found


def _columns(stated: Columns, codes: pa.Array) -> Columns:
    is_response = pc.equal(stated["l7_type"], RESPONSE)
    count = len(is_response)

    def side(part: str, *, is_client: bool) -> pa.Array:
        toward, back = ("destination", "source") if is_client else ("source", "destination")
        return pc.if_else(is_response, stated[f"{toward}_{part}"], stated[f"{back}_{part}"])

    out: Columns = {
        name: stated[name] for name in ("record_index", "record_id", "event_at", "node")
    }
    for part in ("address", "port", "namespace", "pod_name", "pod_uid"):
        out[f"client_{part}"] = side(part, is_client=True)
    out["resolver_address"] = side("address", is_client=False)
    out["transport"] = stated["transport"]
    out["original_query_name"] = stated["dns_query"]
    out["query_type"] = _first(stated["dns_query_types"])
    out["rcode"] = codes
    out["is_response"] = is_response
    out["answers"] = _answers(
        stated["dns_canonical_names"],
        stated["dns_addresses"],
        stated["dns_ttl_seconds"],
        is_response,
    )
    out["query_name"] = _without_suffixes(
        stated["dns_query"], codes, out["client_namespace"], _first(stated["dns_canonical_names"])
    )
    out["latency_seconds"] = pa.nulls(count, pa.float64())
    out["dns_message_id"] = pa.nulls(count, INTEGER)
    return out


def _without_suffixes(
    names: pa.Array, codes: pa.Array, namespaces: pa.Array, aliases: pa.Array
) -> pa.Array:
    rows = zip(*(column.to_pylist() for column in (names, codes, namespaces, aliases)), strict=True)
    return pa.array(
        [
            without_search_suffix(name, exists=_EXISTS.get(code), namespace=namespace, alias=alias)
            for name, code, namespace, alias in rows
        ],
        TEXT,
    )


def _first(column: pa.LargeListArray) -> pa.Array:
    """The first element of each list; null where there is none."""
    has_one = pc.fill_null(pc.greater(pc.list_value_length(column), 0), False)
    places = pc.if_else(has_one, column.offsets.slice(0, len(column)), pa.scalar(None, INTEGER))
    return column.values.take(places)


def _answers(
    aliases: pa.LargeListArray,
    hosts: pa.LargeListArray,
    ttl: pa.Array,
    is_response: pa.BooleanArray,
) -> pa.Array:
    """Answer records: aliases, then addresses; null for a request."""
    kind = table_spec("dns_lookups").arrow_schema.field("answers").type
    rows = pa.concat_arrays([pc.list_parent_indices(aliases), pc.list_parent_indices(hosts)])
    names, addresses = pc.list_flatten(aliases), pc.list_flatten(hosts)
    data = pa.concat_arrays([names, addresses])
    types = pa.concat_arrays(
        [
            pa.repeat(pa.scalar("CNAME", TEXT), len(names)),
            pc.if_else(
                pc.match_substring(addresses, ":"), pa.scalar("AAAA", TEXT), pa.scalar("A", TEXT)
            ),
        ]
    )
    # Aliases come first of equal rows, as the second key says.
    order = pc.sort_indices(
        pa.table({"row": rows, "place": pa.array(range(len(rows)), INTEGER)}),
        sort_keys=[("row", "ascending"), ("place", "ascending")],
    )
    rows = rows.take(order)
    values: dict[str, Any] = {
        "name": pa.nulls(len(rows), TEXT),
        "type": types.take(order),
        "data": data.take(order),
        "ttl": ttl.take(rows),
    }
    struct = pa.StructArray.from_arrays(
        [values[field.name] for field in kind.value_type], fields=list(kind.value_type)
    )
    lengths = pc.add(
        pc.fill_null(pc.list_value_length(aliases), 0),
        pc.fill_null(pc.list_value_length(hosts), 0),
    )
    offsets = pa.concat_arrays([pa.array([0], INTEGER), pc.cumulative_sum(lengths).cast(INTEGER)])
    return pa.LargeListArray.from_arrays(offsets, struct, type=kind, mask=pc.invert(is_response))

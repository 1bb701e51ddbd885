"""Look-ups that NetObserv's flows tell of, by columns; the rules are those of `netobserv`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import lookup_fields as f
from transforms.staging import netobserv
from transforms.staging.column_rules import FLAG, INTEGER, NUMBER, TEXT
from transforms.staging.dns_names import rcode_name
from transforms.staging.json_columns import Records
from transforms.staging.netobserv_flow import Flow
from transforms.staging.search_suffix import ends_with_cluster_domain
from transforms.staging.volume_fields import whole

SIDES = ("source_address", "source_port", "destination_address", "destination_port")
"""Columns of both ends that a look-up has, too."""
_DNS = ("dns_id", "dns_flags", "dns_code", "dns_latency_ms", "dns_name")
_MOST = 65_535
_MOST_PACKETS = 2**53
_CODE, _RCODE, _NAMESPACE = "code of the look-up", "its name", "namespace of the client"
_OF_CLIENT = ("node", "client_namespace", "client_pod_name", "client_pod_uid")


@dataclass(frozen=True)
class Seen:
    """What the row of a flow's bytes has read.

    Attributes:
        end_at: End of the flow.
        packets: Packets.
        sides: Addresses and ports by name.
        source: Parts of the source that any record has.
        destination: Those of the destination.
    """

    end_at: pa.TimestampArray
    packets: pa.Array
    sides: Mapping[str, pa.Array]
    source: tuple[str, ...]
    destination: tuple[str, ...]


@dataclass(frozen=True)
class _OfFlow:
    """Reads parts of a flow; equal for equal parts."""

    names: tuple[str, ...]

    def flow(self, values: tuple[Any, ...]) -> Flow:
        return Flow(**dict(zip(self.names, values, strict=True)))


class _IsSeenHere(_OfFlow):
    def __call__(self, *values: Any) -> dict[str, Any]:  # noqa: ANN401  as the parts have
        return {"is_here": netobserv.seen_elsewhere(self.flow(values)) is None}


class _Client(_OfFlow):
    def __call__(self, *values: Any) -> dict[str, Any]:  # noqa: ANN401  as the parts have
        return netobserv.client_of(self.flow(values))


def _number(stated: object) -> int | None:
    return whole(stated, _MOST, "number")


def _of_name(stated: str | None) -> dict[str, Any]:
    name = f.raw_name(stated or "")
    return {
        "is_whole": netobserv.name_problem(stated) is None,
        "is_of_cluster": ends_with_cluster_domain(name),
    }


def _code(stated: str | None) -> dict[str, Any]:
    return {"code": rcode_name(stated or "")}


def _asked(name: str | None, rcode: str | None, namespace: str | None) -> dict[str, Any]:
    return f.asked(f.raw_name(name or ""), rcode, namespace=namespace)


def add_lookups(records: Records, seen: Seen) -> None:
    """Add the rows of look-ups.

    Args:
        records: The records.
        seen: What was read of them.
    """
    if not any(records.is_stated(path) for path in _DNS):
        return
    message_id = records.integers("dns_id", _number, maximum=_MOST)
    flags = records.integers("dns_flags", _number, maximum=_MOST)
    name = records.text("dns_name")
    records.doubt(pc.greater(seen.packets, _MOST_PACKETS))
    of_name = records.each(
        _of_name, ("dns_name",), ("is_whole", "is_of_cluster"), is_whole=FLAG, is_of_cluster=FLAG
    )
    is_alone = _true(pc.equal(seen.packets, 1))
    rcode = _rcode(records, flags, is_alone, of_name["is_of_cluster"])
    client = records.each(
        _Client(seen.destination), seen.destination, _OF_CLIENT, **dict.fromkeys(_OF_CLIENT, TEXT)
    )
    records.add_texts(_RCODE, rcode)
    records.add_texts(_NAMESPACE, client["client_namespace"])
    tells = pc.or_(_true(pc.greater(pc.binary_length(name), 0)), _true(pc.greater(message_id, 0)))
    is_lookup = pc.and_(pc.and_not(tells, _is_query(flags, seen)), _is_here(records, seen))
    none = pa.scalar(None, NUMBER)
    records.add_rows(
        f.TABLE,
        pc.and_(is_lookup, of_name["is_whole"]),
        {
            "event_at": seen.end_at,
            **client,
            "node": pc.coalesce(client["node"], pa.scalar(records.context.node, TEXT)),
            "client_address": seen.sides["destination_address"],
            "client_port": seen.sides["destination_port"],
            "resolver_address": seen.sides["source_address"],
            "transport": records.one(netobserv.transport, "protocol", TEXT),
            **records.each(
                _asked,
                ("dns_name", _RCODE, _NAMESPACE),
                ("query_name", "original_query_name"),
                query_name=TEXT,
                original_query_name=TEXT,
            ),
            "rcode": rcode,
            "latency_seconds": pc.if_else(
                is_alone, records.one(netobserv.latency, "dns_latency_ms", NUMBER), none
            ),
            "is_response": True,
            "dns_message_id": pc.if_else(is_alone, message_id, pa.scalar(None, INTEGER)),
        },
    )


def _true(mask: pa.BooleanArray) -> pa.BooleanArray:
    return pc.fill_null(mask, False)


def _is_query(flags: pa.Array, seen: Seen) -> pa.BooleanArray:
    """Which flows are of queries, by their flags or else by their ports."""
    is_response = pc.not_equal(pc.bit_wise_and(flags, netobserv.RESPONSE), 0)
    from_server = _true(pc.equal(seen.sides["source_port"], netobserv.DNS_PORT))
    to_server = _true(pc.equal(seen.sides["destination_port"], netobserv.DNS_PORT))
    return pc.coalesce(pc.invert(is_response), pc.and_not(to_server, from_server))


def _is_here(records: Records, seen: Seen) -> pa.BooleanArray:
    """Which responses give a look-up where they are seen."""
    parts = ("is_duplicate", "flow_direction", *seen.source)
    return records.each(_IsSeenHere(parts), parts, ("is_here",), is_here=FLAG)["is_here"]


def _rcode(
    records: Records, flags: pa.Array, is_alone: pa.BooleanArray, is_of_cluster: pa.BooleanArray
) -> pa.Array:
    """Codes, where they are of one response and of the whole name."""
    of_flags = pc.bit_wise_and(flags, netobserv.RCODE).cast(TEXT)
    records.add_texts(_CODE, pc.coalesce(of_flags, records.text("dns_code")))
    code = records.each(_code, (_CODE,), ("code",), code=TEXT)["code"]
    is_kept = _true(pc.and_(is_alone, is_of_cluster))
    is_kept = pc.or_(is_kept, _true(pc.equal(code, "NOERROR")))
    return pc.if_else(is_kept, code, pa.scalar(None, TEXT))

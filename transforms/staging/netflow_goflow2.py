"""Messages of goflow2: NetFlow v5 and v9, IPFIX and sFlow.

Source: netsampler/goflow2, pb/flow.proto and producer/proto.

* goflow2 reads octetDeltaCount (1) and its counterpart behind a middlebox (23) as `bytes`, and
  knows no octetTotalCount (85): a number is one of an interval (`delta`). A record of an exporter
  that sends only totals has 0 bytes, which says nothing: it is ignored as `no_bytes`.
* Nothing is multiplied. `sampling_rate` is 0 until the exporter told it, and then unknown.
* sFlow samples single packets and counts whole frames; the rest counts IP packets.
"""

from datetime import datetime, timedelta
from typing import Any

from transforms.staging import lookup_fields as f
from transforms.staging import volume_fields as v
from transforms.staging.parser import FileContext
from transforms.staging.refusal import refuse
from transforms.staging.values import instant_of_microseconds

MARKS = frozenset({"sampler_address", "sampling_rate", "time_received_ns", "time_flow_start_ns"})
SHOWN_KEYS = frozenset(
    {b"type", b"sampler_address", b"src_addr", b"dst_addr", b"etype", b"proto"}
)  # fmt: skip
MAX_LENGTH = timedelta(days=366)

_MOST_NANOSECONDS = 253_402_300_799_999_999_999


def volumes(values: dict[str, Any], context: FileContext) -> list[dict[str, Any]] | str:
    """The row of a message, or the word for which it is left out.

    Raises:
        RefusedError: A value is none that its field can have.
    """
    octets = v.octets(values.get("bytes"), "bytes")
    if not octets:
        return "no_bytes"
    received = _instant(values, "time_received_ns")
    start_at = _instant(values, "time_flow_start_ns") or received
    end_at = _instant(values, "time_flow_end_ns") or received or start_at
    if start_at is None or end_at is None:
        refuse("no_time", "nanoseconds since 1970 in time_flow_start_ns", None)
    v.check_interval(start_at, end_at, MAX_LENGTH)
    sampling = v.octets(values.get("sampling_rate"), "sampling_rate") or None
    transport = v.stated_transport(values.get("proto"), "proto")
    has_ports = v.has_ports(transport)
    return [
        {
            "start_at": start_at,
            "end_at": end_at,
            "source_address": f.address(v.text(values, "src_addr"), "src_addr"),
            "source_port": v.port(values.get("src_port"), "src_port") if has_ports else None,
            "destination_address": f.address(v.text(values, "dst_addr"), "dst_addr"),
            "destination_port": v.port(values.get("dst_port"), "dst_port") if has_ports else None,
            "transport": transport,
            "bytes": octets,
            "packets": v.octets(values.get("packets"), "packets"),
            "tcp_flags": v.flags(values.get("tcp_flags"), "tcp_flags"),
            "interfaces": v.interface_numbers(values, "in_if", "out_if"),
            "sampling_interval": sampling,
            "scaled": "unknown" if sampling is None else "raw",
            "reporter": f.address(v.text(values, "sampler_address"), "sampler_address"),
            "temporality": context.temporality or "delta",
            "byte_layer": "frame" if values.get("type") == "SFLOW_5" else "packet",
        }
    ]


def _instant(values: dict[str, Any], name: str) -> datetime | None:
    nanoseconds = v.whole(values.get(name), _MOST_NANOSECONDS, name)
    return instant_of_microseconds(nanoseconds // 1_000) if nanoseconds else None

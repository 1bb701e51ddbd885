"""Records of ipfixcol2's JSON output: IPFIX information elements by name or number.

Source: CESNET/ipfixcol2, src/plugins/output/json; IANA's registry of IPFIX elements.

* `octetDeltaCount` is of the time since the last report (`delta`), `octetTotalCount` since the
  connection's first (`cumulative`). A record with both becomes a row of each, which are never added
  to each other; the export's `temporality` setting keeps only the one column, and where a record
  has only one, says what it is.
* Elements of the reverse direction (`iana@reverse:`) become rows the other way round.
* Nothing is multiplied. A sampling interval of 0 or none is unknown.
* Other kinds of records (`ipfix.template`, `ipfix.optionsEntry`) are ignored as `other_record`.
* Times are ISO 8601, or milliseconds of whatever precision the element has.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from transforms.staging import lookup_fields as f
from transforms.staging import volume_fields as v
from transforms.staging.parser import FileContext
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant

ENTRY = "ipfix.entry"
SHOWN_KEYS = frozenset(
    {
        b"@type", b"iana:flowStartMilliseconds", b"iana:flowEndMilliseconds",
        b"iana:sourceIPv4Address", b"iana:destinationIPv4Address", b"iana:sourceIPv6Address",
        b"iana:destinationIPv6Address", b"iana:protocolIdentifier", b"iana:tcpControlBits",
    }
)  # fmt: skip
MAX_LENGTH = timedelta(days=366)

_NUMBERED = {
    1: "octetDeltaCount", 2: "packetDeltaCount", 4: "protocolIdentifier", 6: "tcpControlBits",
    7: "sourceTransportPort", 8: "sourceIPv4Address", 10: "ingressInterface",
    11: "destinationTransportPort", 12: "destinationIPv4Address", 14: "egressInterface",
    27: "sourceIPv6Address", 28: "destinationIPv6Address", 34: "samplingInterval",
    50: "samplerRandomInterval", 61: "flowDirection", 85: "octetTotalCount", 86: "packetTotalCount",
    148: "flowId", 150: "flowStartSeconds", 151: "flowEndSeconds", 152: "flowStartMilliseconds",
    153: "flowEndMilliseconds", 154: "flowStartMicroseconds", 155: "flowEndMicroseconds",
    156: "flowStartNanoseconds", 157: "flowEndNanoseconds", 225: "postNATSourceIPv4Address",
    226: "postNATDestinationIPv4Address", 227: "postNAPTSourceTransportPort",
    228: "postNAPTDestinationTransportPort", 281: "postNATSourceIPv6Address",
    282: "postNATDestinationIPv6Address",
}  # fmt: skip
_NUMBER = re.compile(r"en0:id([0-9]{1,5})")
_PRECISIONS = ("Milliseconds", "Microseconds", "Nanoseconds", "Seconds")
_REVERSE = "iana@reverse:"
_COLUMNS = {"delta": "Delta", "cumulative": "Total"}
_DIRECTIONS = ("ingress", "egress")


def volumes(values: dict[str, Any], context: FileContext) -> list[dict[str, Any]] | str:
    """The rows of a record, or the word for which it is left out.

    Raises:
        RefusedError: A value is none that its field can have.
    """
    if values.get("@type") != ENTRY:
        return "other_record"
    fields = _by_name(values)
    start_at, end_at = _instant(fields, "flowStart"), _instant(fields, "flowEnd")
    v.check_interval(start_at, end_at, MAX_LENGTH)
    common = _common(fields, start_at, end_at)
    there, back = _ends(fields, common["transport"])
    rows = []
    for temporality, column in _columns(fields, context):
        for prefix, ends in (("", there), ("reverse ", back)):
            octets = v.octets(fields.get(f"{prefix}octet{column}Count"), f"octet{column}Count")
            packets = v.octets(fields.get(f"{prefix}packet{column}Count"), f"packet{column}Count")
            if octets is not None:
                counted = {"bytes": octets, "packets": packets, "temporality": temporality}
                rows.append(common | ends | counted)
    return rows or "no_bytes"


def _by_name(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the name of their element, those of the reverse direction behind `reverse`."""
    fields: dict[str, Any] = {}
    for key, value in values.items():
        name = key
        numbered = _NUMBER.fullmatch(key)
        if numbered is not None:
            name = f"iana:{_NUMBERED.get(int(numbered[1]), '')}"
        if name.startswith(_REVERSE):
            fields[f"reverse {name.removeprefix(_REVERSE)}"] = value
        elif name.startswith("iana:"):
            fields[name.removeprefix("iana:")] = value
        elif name.startswith("ipfix:"):
            fields[name] = value
    return fields


def _columns(fields: Mapping[str, Any], context: FileContext) -> list[tuple[str, str]]:
    """Which columns are read, and as what."""
    stated = [
        (temporality, column)
        for temporality, column in _COLUMNS.items()
        if f"octet{column}Count" in fields or f"reverse octet{column}Count" in fields
    ]
    wanted = context.temporality
    if wanted is None:
        return stated
    if len(stated) > 1:
        stated = [pair for pair in stated if (pair[0] == "delta") == (wanted == "delta")]
    return [(wanted, column) for _, column in stated]


def _common(fields: Mapping[str, Any], start_at: datetime, end_at: datetime) -> dict[str, Any]:
    direction = v.whole(fields.get("flowDirection"), 1, "flowDirection")
    sampling = _sampling(fields)
    flow_id = v.octets(fields.get("flowId"), "flowId")
    return {
        "start_at": start_at,
        "end_at": end_at,
        "flow_id": None if flow_id is None else str(flow_id),
        "transport": v.stated_transport(fields.get("protocolIdentifier"), "protocolIdentifier"),
        "tcp_flags": v.flags(fields.get("tcpControlBits"), "tcpControlBits"),
        "flow_direction": None if direction is None else _DIRECTIONS[direction],
        "interfaces": v.interface_numbers(fields, "ingressInterface", "egressInterface"),
        "sampling_interval": sampling,
        "scaled": "unknown" if sampling is None else "raw",
        "reporter": f.address(v.text(fields, "ipfix:srcAddr"), "ipfix:srcAddr"),
        "byte_layer": "packet",
    }


def _sampling(fields: Mapping[str, Any]) -> int | None:
    for name in ("samplingInterval", "samplerRandomInterval"):
        found = v.octets(fields.get(name), name)
        if found:
            return found
    return None


def _ends(
    fields: Mapping[str, Any], transport: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns of both ends, there and back."""
    ends = {
        f"{end}_{what}": value
        for end, element in (("source", "source"), ("destination", "destination"))
        for what, value in _end(fields, element, has_ports=v.has_ports(transport)).items()
    }
    turned = {"source": "destination", "destination": "source"}
    back = {
        f"{turned[name.partition('_')[0]]}_{name.partition('_')[2]}": value
        for name, value in ends.items()
    }
    return ends, back


def _end(fields: Mapping[str, Any], element: str, *, has_ports: bool) -> dict[str, Any]:
    address = _address(fields, f"{element}IP")
    port = v.port(fields.get(f"{element}TransportPort"), f"{element}TransportPort")
    behind = element.capitalize()
    xlated_address = _address(fields, f"postNAT{behind}IP")
    name = f"postNAPT{behind}TransportPort"
    xlated_port = v.port(fields.get(name), name)
    return {
        "address": address,
        "port": port if has_ports else None,
        "xlated_address": None if xlated_address == address else xlated_address,
        "xlated_port": xlated_port if has_ports and xlated_port not in {0, port} else None,
    }


def _address(fields: Mapping[str, Any], element: str) -> str | None:
    for version in ("v4", "v6"):
        name = f"{element}{version}Address"
        text = v.text(fields, name)
        if text is not None:
            return f.address(text, name)
    return None


def _instant(fields: Mapping[str, Any], element: str) -> datetime:
    names = (f"{element}{precision}" for precision in _PRECISIONS)
    name = next((name for name in names if fields.get(name) is not None), f"{element}Milliseconds")
    stated = fields.get(name)
    if not isinstance(stated, str) or stated.isdigit():
        return v.instant(stated, 1_000, name)
    at = parse_instant(stated)
    if at is None:
        refuse("no_time", f"an ISO 8601 time in {name}", stated)
    return at

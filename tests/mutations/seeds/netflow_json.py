"""NetFlow of goflow2, ipfixcol2 and nfdump as JSON, and nfdump's newer CSV."""

import json
from typing import Any

_GOFLOW2: dict[str, Any] = {
    "type": "IPFIX",
    "time_received_ns": 1_773_111_725_000_000_000,
    "sequence_num": 7,
    "sampling_rate": 100,
    "sampler_address": "198.51.100.1",
    "time_flow_start_ns": 1_773_111_719_500_000_000,
    "time_flow_end_ns": 1_773_111_724_507_000_000,
    "bytes": 9_400,
    "packets": 12,
    "src_addr": "192.0.2.71",
    "dst_addr": "203.0.113.7",
    "etype": "IPv4",
    "proto": "TCP",
    "src_port": 39_745,
    "dst_port": 443,
    "in_if": 3,
    "tcp_flags": 18,
    "vlan_id": 0,
    "ip_tos": 0,
}
_IPFIXCOL2: dict[str, Any] = {
    "@type": "ipfix.entry",
    "iana:octetDeltaCount": 9_400,
    "iana:packetDeltaCount": 12,
    "iana:flowStartMilliseconds": "2026-03-10T03:01:59.500Z",
    "iana:flowEndMilliseconds": "2026-03-10T03:02:04.507Z",
    "iana:ingressInterface": 3,
    "iana:sourceIPv4Address": "192.0.2.71",
    "iana:destinationIPv4Address": "203.0.113.7",
    "iana:protocolIdentifier": "TCP",
    "iana:tcpControlBits": ".A..S.",
    "iana:sourceTransportPort": 39_745,
    "iana:destinationTransportPort": 443,
    "iana:samplingInterval": 100,
}
_NFDUMP: dict[str, Any] = {
    "cnt": 1,
    "type": "FLOW",
    "export_sysid": 4,
    "first": "2026-03-10T03:01:59.500Z",
    "last": "2026-03-10T03:02:04.507Z",
    "in_packets": 12,
    "in_bytes": 9_400,
    "proto": 6,
    "tcp_flags": "...A..S.",
    "src_port": 39_745,
    "dst_port": 443,
    "src4_addr": "192.0.2.71",
    "dst4_addr": "203.0.113.7",
    "src_tos": 0,
    "sampled": 0,
}
_RECORDS: list[list[dict[str, Any]]] = [
    [
        _GOFLOW2,
        _GOFLOW2 | {"sequence_num": 8, "type": "SFLOW_5", "proto": "UDP"},
        _GOFLOW2 | {"sequence_num": 9, "bytes": 0},
        _GOFLOW2 | {"sequence_num": 10, "sampling_rate": 0, "proto": "ICMP"},
        _GOFLOW2 | {"sequence_num": 11, "src_addr": "2001:db8::71", "dst_addr": "2001:db8::5"},
    ],
    [
        _IPFIXCOL2,
        _IPFIXCOL2 | {"iana:octetTotalCount": 70_000, "iana:packetTotalCount": 90},
        _IPFIXCOL2 | {"iana@reverse:octetDeltaCount": 50, "iana@reverse:packetDeltaCount": 1},
        {"@type": "ipfix.template", "ipfix:templateId": 49_171, "ipfix:fields": []},
        _IPFIXCOL2 | {"iana:samplingInterval": 0, "iana:flowStartMilliseconds": 1_773_111_719_500},
    ],
    [
        _NFDUMP,
        _NFDUMP | {"cnt": 2, "sampled": 1, "ip4_router": "198.51.100.1"},
        _NFDUMP | {"cnt": 3, "type": "EVENT"},
        _NFDUMP | {"cnt": 4, "src4_xlt_ip": "198.51.100.9", "src_xlt_port": 61_000},
        _NFDUMP | {"cnt": 5, "proto": 17},
    ],
]
_CSV = [
    (
        "cnt,af,firstSeen,lastSeen,proto,srcAddr,srcPort,dstAddr,dstPort,srcAS,dstAS,input,output,"
        "flags,srcTos,packets,bytes"
    ),
    *(
        f"{n},2,{1_773_111_719_500 + n},1773111724507,6,192.0.2.71,39745,203.0.113.7,443,0,0,3,5,"
        "...A..S.,0,12,9400"
        for n in range(1, 6)
    ),
]

FILES: tuple[bytes, ...] = (
    *("".join(f"{json.dumps(each)}\n" for each in records).encode() for records in _RECORDS),
    "".join(f"{line}\n" for line in _CSV).encode(),
    json.dumps(_RECORDS[0], indent=1).encode(),
)

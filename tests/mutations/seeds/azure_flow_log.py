"""Azure flow logs: of networks and security groups, documents, lists, and a record per line."""

import json
from typing import Any

_GROUP = "/subscriptions/0a1b2c3d-0000-4000-8000-00000000abcd/resourceGroups/ml"
_MS = 1_773_223_200_000
_MAC = "00224871C205"


def _network(minute: int, *tuples: str, rule: str = "AllowOut") -> dict[str, Any]:
    return {
        "time": f"2026-03-11T10:{minute:02d}:52.5625085Z",
        "flowLogVersion": 4,
        "flowLogGUID": "0a1b2c3d-2345-6789-0abc-def012345678",
        "macAddress": _MAC,
        "category": "FlowLogFlowEvent",
        "flowLogResourceID": f"{_GROUP}/PROVIDERS/MICROSOFT.NETWORK/NETWORKWATCHERS/W/FLOWLOGS/F",
        "targetResourceID": f"{_GROUP}/providers/Microsoft.Network/virtualNetworks/train",
        "operationName": "FlowLogFlowEvent",
        "flowRecords": {
            "flows": [
                {
                    "aclID": "00000000-1234-abcd-ef00-c1c2c3c4c5c6",
                    "flowGroups": [{"rule": rule, "flowTuples": list(tuples)}],
                }
            ]
        },
    }


def _security_group(minute: int, *tuples: str, rule: str) -> dict[str, Any]:
    return {
        "time": f"2026-03-11T10:{minute:02d}:52.5625085Z",
        "systemId": "0a1b2c3d-2345-6789-0abc-def012345678",
        "macAddress": _MAC,
        "category": "NetworkSecurityGroupFlowEvent",
        "resourceId": f"{_GROUP}/PROVIDERS/MICROSOFT.NETWORK/NETWORKSECURITYGROUPS/N".upper(),
        "operationName": "NetworkSecurityGroupFlowEvents",
        "properties": {
            "Version": 2,
            "flows": [{"rule": rule, "flows": [{"mac": _MAC, "flowTuples": list(tuples)}]}],
        },
    }


def _flow(number: int, minute: int, state: str) -> str:
    """A tuple of a network's log."""
    at = _MS + 60_000 * minute + number
    far = f"2001:db8::{number}" if number % 3 == 2 else f"198.51.100.{number}"
    ends = f"10.20.1.6,{far},{40_000 + number},443,{17 if number % 4 == 3 else 6}"
    if number % 5 == 4:
        return f"{at},203.0.113.{number},10.20.1.6,{50_000 + number},22,6,I,D,NX,0,0,0,0"
    counters = "0,0,0,0" if state == "B" else f"{number},{1_500 * number},{2 * number},{99_000}"
    return f"{at},{ends},{'I' if number % 2 else 'O'},{state},NX,{counters}"


def _flow_of_group(number: int, minute: int, state: str) -> str:
    at = _MS // 1_000 + 60 * minute + number
    ends = f"10.20.1.7,198.51.100.{number},{40_000 + number},443,{'U' if number % 4 == 3 else 'T'}"
    counters = ",,," if state == "B" else f"{number},{1_500 * number},{2 * number},{99_000}"
    decision = "D" if number % 5 == 4 else "A"
    return f"{at},{ends},{'I' if number % 2 else 'O'},{decision},{state},{counters}"


_NETWORK = [
    _network(0, *(_flow(n, 0, "B") for n in range(8))),
    _network(5, *(_flow(n, 5, "C") for n in range(8)), rule="AllowAll"),
    _network(6, *(_flow(n, 6, "E") for n in range(8))),
]
_SECURITY_GROUP = [
    _security_group(0, *(_flow_of_group(n, 0, "B") for n in range(8)), rule="UserRule_A"),
    _security_group(5, *(_flow_of_group(n, 5, "C") for n in range(8)), rule="UserRule_A"),
    _security_group(7, *(_flow_of_group(n, 7, "E") for n in range(8)), rule="UserRule_B"),
]

# Of a document on one line, records before a break are kept: the rule for lines is another.
FILES: tuple[bytes, ...] = (
    json.dumps({"records": _NETWORK}, indent=1).encode(),
    json.dumps({"records": _SECURITY_GROUP}, indent=1).encode(),
    json.dumps(_SECURITY_GROUP, indent=1).encode(),
    "".join(f"{json.dumps(record)}\n" for record in _NETWORK).encode(),
    "".join(f"{json.dumps(record)}\n" for record in _SECURITY_GROUP).encode(),
)

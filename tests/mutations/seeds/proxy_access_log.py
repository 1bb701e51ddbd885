"""Access logs of proxies: Istio's JSON and text, Envoy's default text, Squid's own and combined."""

import json
from typing import Any

_ISTIO: dict[str, Any] = {
    "start_time": "2026-03-10T03:01:59.500Z",
    "method": "PUT",
    "path": "/bucket/part",
    "protocol": "HTTP/1.1",
    "response_code": 200,
    "response_flags": "-",
    "response_code_details": "via_upstream",
    "bytes_received": 1_048_576,
    "bytes_sent": 41,
    "duration": 5_007,
    "upstream_service_time": "4990",
    "x_forwarded_for": None,
    "user_agent": "client/1.0",
    "request_id": "0f5d3a52-0000-4000-8000-000000000001",
    "authority": "data.example.com",
    "upstream_host": "203.0.113.7:443",
    "upstream_cluster": "outbound|443||data.example.com",
    "upstream_local_address": "192.0.2.71:51234",
    "downstream_local_address": "198.51.100.10:443",
    "downstream_remote_address": "192.0.2.71:39745",
    "requested_server_name": None,
    "route_name": "allow_any",
}
_RECORDS = [
    _ISTIO | {"duration": 5_007 + n} | change
    for n, change in enumerate(
        (
            {},
            {"method": "GET", "bytes_received": 0, "bytes_sent": 9_400},
            {"method": None, "response_code": 0, "authority": None},
            {"access_log_type": "DownstreamPeriodic"},
            {"upstream_cluster": "inbound|8080||"},
            {"bytes_received": "7", "bytes_sent": "8"},
        )
    )
]
_ID = "0f5d3a52-0000-4000-8000-000000000001"
_TEXT = [
    *(
        f'[2026-03-10T03:01:59.500Z] "PUT /bucket/part HTTP/1.1" 200 - via_upstream - "-" '
        f'{size} 41 5007 4990 "-" "client/1.0" "{_ID}" "data.example.com" "203.0.113.7:443" '
        "outbound|443||data.example.com 192.0.2.71:51234 198.51.100.10:443 192.0.2.71:39745 - any"
        for size in range(1_000, 1_004)
    ),
    *(
        f'[2026-03-10T03:01:59.500Z] "GET /bucket/part HTTP/1.1" 200 - 0 {size} 5007 4990 "-" '
        f'"client/1.0" "{_ID}" "data.example.com" "203.0.113.7:443"'
        for size in range(1_000, 1_004)
    ),
]
_SQUID = [
    *(
        f"1773111724.50{n}   5007 192.0.2.71 TCP_TUNNEL/200 9400 CONNECT data.example.com:443 - "
        "HIER_DIRECT/203.0.113.7 -"
        for n in range(5)
    ),
    (
        '192.0.2.71 - - [10/Mar/2026:04:01:59 +0100] "GET http://data.example.com/x HTTP/1.1" 200 '
        '9400 "-" "client/1.0" TCP_MISS:HIER_DIRECT'
    ),
]

FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(record)}\n" for record in _RECORDS).encode(),
    "".join(f"{line}\n" for line in _TEXT).encode(),
    "".join(f"{line}\n" for line in _SQUID).encode(),
)

"""Whole files of Hubble events in every shape in which people have them, built from the protos.

Each is told with what it must give: records accepted, and those refused or ignored by the first
word of their reason.
"""

import io
import json
import tarfile
import zipfile
from typing import Any, NamedTuple

from tests.transforms.staging.hubble_events import (
    DNS_RESPONSE,
    FLOW,
    HTTP_RESPONSE,
    TIME,
    Json,
    changed,
    flow_line,
    line,
)

LOST = line(
    {"source": "OBSERVER_EVENTS_QUEUE", "num_events_lost": "7", "cpu": 0},
    "lost_events",
    node_name="node-1.example.com",
    time=TIME,
)
AGENT = line(
    {"type": "POLICY_UPDATED", "policy_update": {"revision": "6", "rule_count": "1"}},
    "agent_event",
    node_name="node-1.example.com",
    time=TIME,
)
DEBUG = line({"type": "DBG_GENERIC"}, "debug_event", node_name="node-1.example.com", time=TIME)
CONNECTED = line(
    {"state_change": "NODE_CONNECTED", "node_names": ["alder/node-1"]},
    "node_status",
    node_name="relay",
    time=TIME,
)
GONE = line(
    {"state_change": "NODE_UNAVAILABLE", "node_names": ["alder/node-1", "alder/node-2"]},
    "node_status",
    node_name="relay",
    time=TIME,
)
LINES = [flow_line(), line(DNS_RESPONSE), line(HTTP_RESPONSE)]
WHOLE = [json.loads(text) for text in LINES]
BARE = [json.dumps(event["flow"]) for event in WHOLE]
LOGS = [
    'level=info msg="Starting Cilium" subsys=daemon',
    'time="2026-03-10T10:00:30Z" level=warning msg="a \\"quoted\\" thing" subsys=hubble',
    "time=2026-03-10T10:00:30.5Z level=info source=/go/src/x.go:7 msg=ready module=agent.hubble",
    '{"level":"info","msg":"JSON log","subsys":"daemon","time":"2026-03-10T10:00:30Z"}',
    '{"time":"2026-03-10T10:00:30.5Z","level":"INFO","msg":"JSON of slog","module":"agent"}',
    "I0310 10:00:30.500000       1 reflector.go:368] Caches populated for *v1.Pod",
    "W0310 10:00:30.500000       1 warnings.go:70] v1 Endpoints is deprecated",
    "[2026-03-10 10:00:30.500][12][info][upstream] [external/envoy/x.cc:7] cds: added",
    "2026/03/10 10:00:30 gops agent: listening",
]
RETINA: Json = {
    "time": "2026-03-10T10:00:33.000000009Z",
    "verdict": "DROPPED",
    "IP": {"source": "192.0.2.11", "destination": "192.0.2.12", "ipVersion": "IPv4"},
    "l4": {"TCP": {"source_port": 41012, "destination_port": 8080, "flags": {"SYN": True}}},
    "Type": "L3_L4",
    "node_name": "aks-pool-1",
    "event_type": {"type": 1},
    "traffic_direction": "EGRESS",
    "trace_observation_point": "TO_STACK",
    "is_reply": False,
    "extensions": {
        "@type": "type.googleapis.com/utils.RetinaMetadata",
        "bytes": "74",
        "tcp_id": "99",
        "drop_reason": "SKB_DROP_REASON_NETFILTER_DROP",
        "previously_observed_bytes": 3_000,
        "previously_observed_packets": 2,
        "previously_observed_tcp_flags": {"SYN": 1},
    },
}
AGGREGATED: Json = {
    "time": TIME,
    "verdict": "FORWARDED",
    "source": {"namespace": "ml", "pod_name": "train-0"},
    "destination": {"namespace": "ml", "pod_name": "store-0"},
    "aggregate": {"ingress_flow_count": 3, "egress_flow_count": 4},
}
MASKED = [
    (
        '{"flow":{"time":"2026-03-10T10:00:30Z","source":{"namespace":"ml","pod_name":"train-0"},'
        '"destination":{}},"time":"2026-03-10T10:00:30Z"}'
    ),
    (
        '{"flow":{"time":"2026-03-10T10:00:31Z","l4":{"TCP":{},"UDP":{"destination_port":53}},'
        '"destination":{"pod_name":"store-0"}},"time":"2026-03-10T10:00:31Z"}'
    ),
    '{"flow":{}}',
    '{"flow":{"verdict":"AUDIT"}}',
]
LATER = changed(
    FLOW,
    {
        "uuid": "0b6f6f3a-5f0c-4d2e-9a43-9f2f7f3c7c10",
        "source.pod_uid": "30EAAB61-3761-407B-BD1E-03CD0774362E",
        "destination.pod_uid": "5a6dbb53-6a3a-4f0f-b8a8-2a9f40d0a6c5",
        "verdict": 23,
        "trace_reason": 19,
        "trace_observation_point": 14,
        "drop_reason_desc": 290,
        "policy_log": [""],
        "file": {"name": "bpf_lxc.c", "line": 1_234},
        "socket_cookie": "18446744073709551615",
        "cgroup_id": "7",
        "ip_trace_id": {"trace_id": "5", "ip_option_type": 136},
        "tunnel": {"protocol": "VXLAN", "IP": {"source": "203.0.113.7"}, "vni": 4},
        "bytes": "1500",
        "packets": {"sent": 3},
        "new_message": {"list": [{"a": None}]},
    },
)
COMPACT = [
    (
        "Mar 10 10:00:30.500: ml/train-0:41012 (ID:54686) -> 198.51.100.7:443 (world) to-stack "
        "FORWARDED (TCP Flags: SYN)"
    ),
    (
        "Mar 10 10:00:30.501 [alder/node-1]: ml/train-0:41012 (ID:54686) <- 198.51.100.7:443 "
        "(world) to-endpoint FORWARDED (TCP Flags: SYN, ACK)"
    ),
    "Mar 10 10:00:30.502: 192.0.2.1 (host) <> ml/train-0 (ID:54686) from-host TRACED (ICMPv4)",
    "EVENTS LOST: HUBBLE_RING_BUFFER CPU(0) 3",
]
TABLE = [
    "TIMESTAMP             SOURCE             DESTINATION        TYPE       VERDICT     SUMMARY",
    "Mar 10 10:00:30.500   ml/train-0:41012   198.51.100.7:443   to-stack   FORWARDED   TCP",
]
DICT = [
    "  TIMESTAMP: Mar 10 10:00:30.500",
    "     SOURCE: ml/train-0:41012",
    "DESTINATION: 198.51.100.7:443",
    "       TYPE: to-stack",
    "    VERDICT: FORWARDED",
    "    SUMMARY: TCP Flags: SYN",
    "------------",
]


def camel(value: Any) -> Any:
    """JSON as protojson writes it by itself: keys in camel case, labels and texts as they are."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, inner in value.items():
        head, *words = key.split("_")
        found[head + "".join(word.capitalize() for word in words)] = camel(inner)
    return found


def text(*each: str, end: str = "\n") -> bytes:
    """Lines of a file."""
    return "".join(part + end for part in each).encode()


def _zip() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("cilium-sysdump-20260310-100000/hubble-flows-cilium-x.json", "b/nodes.yaml"):
            archive.writestr(zipfile.ZipInfo(name), "\n".join(LINES * 30))
    return held.getvalue()


def _tar() -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        member = tarfile.TarInfo("cilium-bugtool-20260310/cmd/hubble-observe.md")
        data = "\n".join(LINES).encode()
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return held.getvalue()


class Variant(NamedTuple):
    """A file, and what becomes of its records."""

    data: bytes
    fates: dict[str, int]


_TORN = flow_line()[:500]
_OPEN = '{"flow":{"time":"2026-03-10T10:00:30Z","source":{"labels":['

VARIANTS: dict[str, Variant] = {
    "lines": Variant(text(*LINES), {"accepted": 3}),
    "lines without a final line end": Variant(text(*LINES)[:-1], {"accepted": 3}),
    "bare flows": Variant(
        text(*BARE, '{"source":"HUBBLE_RING_BUFFER","num_events_lost":"3","cpu":0}'),
        {"accepted": 4},
    ),
    "hubble observe": Variant(
        text(CONNECTED, *LINES, LOST, AGENT, DEBUG, GONE),
        {"accepted": 5, "agent_event": 1, "debug_event": 1, "node_status": 1},
    ),
    "a list on one line": Variant(f"[{','.join(LINES)}]".encode(), {"accepted": 3}),
    "a list of bare flows": Variant(
        json.dumps([e["flow"] for e in WHOLE]).encode(), {"accepted": 3}
    ),
    "a list with an event per line": Variant(
        f"[\n{LINES[0]},\n{LINES[1]},\n{LINES[2]}\n]\n".encode(), {"accepted": 3}
    ),
    "a list that opens and closes beside events": Variant(
        f"[{LINES[0]},\n{LINES[1]}\n,{LINES[2]}]".encode(), {"accepted": 3}
    ),
    "a pretty-printed list": Variant(json.dumps(WHOLE, indent=2).encode(), {"accepted": 3}),
    "a pretty-printed list of bare flows": Variant(
        json.dumps([e["flow"] for e in WHOLE], indent=4).encode(), {"accepted": 3}
    ),
    "documents behind each other": Variant(
        text(*(json.dumps(event, indent=2) for event in WHOLE)), {"accepted": 3}
    ),
    "documents of lines without indentation": Variant(
        text(*(json.dumps(event, indent=0) for event in WHOLE)), {"accepted": 3}
    ),
    "events without line ends": Variant("".join(LINES).encode(), {"accepted": 3}),
    "bare flows without line ends": Variant("".join(BARE).encode(), {"accepted": 3}),
    "a torn event and a whole one on one line": Variant(
        text(LINES[1], _TORN + LINES[2], LINES[0]), {"accepted": 3, "torn": 1}
    ),
    "an event torn between brackets and a whole one": Variant(
        text(_OPEN + LINES[2], LINES[0]), {"accepted": 2, "torn": 1}
    ),
    "an event torn between brackets at a line end": Variant(
        text(LINES[1], _OPEN, LINES[2], LINES[0], _OPEN), {"accepted": 3, "invalid_json": 2}
    ),
    "several torn events and several whole ones": Variant(
        text(_TORN + _TORN + LINES[0] + LINES[1] + _TORN[:90] + LINES[2]),
        {"accepted": 3, "torn": 2},
    ),
    "the end of an event and a whole one": Variant(
        text(LINES[0][-200:] + LINES[1], LINES[2]), {"accepted": 2, "torn": 1}
    ),
    "zeros where a node crashed": Variant(
        text(LINES[0], "\0" * 300 + LINES[1], LINES[2] + "\0" * 40),
        {"accepted": 3, "torn": 2},
    ),
    "an event with a bracket too many": Variant(
        text(LINES[0] + "}", LINES[1]), {"accepted": 1, "invalid_json": 1}
    ),
    "a list that was cut off": Variant(
        f"[\n{LINES[0]},\n{LINES[1]},\n".encode(), {"accepted": 2, "unfinished_list": 1}
    ),
    "a pretty-printed document that was cut off": Variant(
        text(json.dumps(WHOLE[0], indent=2), json.dumps(WHOLE[1], indent=2)[:400]),
        {"accepted": 1, "torn": 1},
    ),
    "a damaged pretty-printed document among others": Variant(
        text(
            json.dumps(WHOLE[0], indent=2),
            json.dumps(WHOLE[1], indent=2).replace('"IP": {', '"IP" {'),
            json.dumps(WHOLE[2], indent=2),
        ),
        {"accepted": 2, "torn": 1},
    ),
    "a pretty-printed document without its end among others": Variant(
        text(
            json.dumps(WHOLE[0], indent=2)[:-30],
            json.dumps(WHOLE[1], indent=2),
            LINES[2],
        ),
        {"accepted": 2, "torn": 1},
    ),
    "events among log lines": Variant(
        text(*LOGS[:5], LINES[0], *LOGS[5:], LINES[1], LINES[2]), {"accepted": 3, "agent_log": 9}
    ),
    "output that cilium-bugtool kept": Variant(
        text("# hubble observe --last 10000 -o jsonpb", "", "```", *LINES, "", "```"),
        {"accepted": 3, "markdown": 3},
    ),
    "masked exports": Variant(text(*MASKED), {"accepted": 4}),
    "a mask that changes inside the file": Variant(
        text(*LINES, *MASKED, *LINES[:1]), {"accepted": 8}
    ),
    "an aggregated export": Variant(text(line(AGGREGATED), LINES[0], LOST), {"accepted": 3}),
    "Retina": Variant(
        text(json.dumps({"flow": RETINA}), line(RETINA), line(camel(RETINA))), {"accepted": 3}
    ),
    "AKS, without an envelope's keys": Variant(
        text(*(json.dumps({"flow": event["flow"]}) for event in WHOLE)), {"accepted": 3}
    ),
    "a later version": Variant(text(line(LATER)), {"accepted": 1}),
    "protojson's own names": Variant(
        text(*(json.dumps(camel(event)) for event in (*WHOLE, *map(json.loads, (LOST, AGENT))))),
        {"accepted": 4, "agent_event": 1},
    ),
    "bare flows under protojson's own names": Variant(
        text(*(json.dumps(camel(event["flow"])) for event in WHOLE)), {"accepted": 3}
    ),
    "Windows line ends and a byte order mark": Variant(
        b"\xef\xbb\xbf" + text(*LINES, end="\r\n\r\n"), {"accepted": 3}
    ),
    "printed compact": Variant(text(*COMPACT), {"text_output": 4}),
    "printed as a table": Variant(text(*TABLE), {"text_output": 2}),
    "printed as dict": Variant(text(*DICT * 2), {"text_output": 14}),
    "a sysdump as zip": Variant(_zip(), {"archive": 1}),
    "a bugtool archive as tar": Variant(_tar(), {"archive": 1}),
}

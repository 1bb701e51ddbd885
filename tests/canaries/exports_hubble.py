"""Events of Hubble with a secret in every place that could hold one."""

import json
from typing import Any

from tests.canaries.planter import Planter
from tests.canaries.records import DAY, Json, lines


def flow(number: int, **changes: Any) -> Json:
    """A flow of a pod to an address outside."""
    time = f"{DAY}T08:00:{number:02d}.000000001Z"
    found: Json = {
        "time": time,
        "uuid": f"00000000-0000-4000-8000-0000000000{number:02d}",
        "verdict": "FORWARDED",
        "IP": {"source": "10.20.1.5", "destination": "203.0.113.9", "ipVersion": "IPv4"},
        "l4": {"TCP": {"source_port": 40_000 + number, "destination_port": 443}},
        "source": {"namespace": "ml", "pod_name": "train-0", "labels": ["k8s:app=train"]},
        "destination": {"identity": 2, "labels": ["reserved:world"]},
        "traffic_direction": "EGRESS",
        "event_type": {"type": 4, "sub_type": 3},
        "node_name": "alder/node-1",
        **changes,
    }
    return {"flow": found, "node_name": "alder/node-1", "time": time}


def hubble(p: Planter) -> str:
    """Events of an exporter."""
    where = "hubble"
    http = {
        "code": 200,
        "method": "GET",
        "protocol": "HTTP/1.1",
        "url": (
            f"{p.url_password(f'{where} URL', f'{p.keep()}.example.com')}/{p.keep()}"
            f"/{p.github(f'{where} path of a URL')}?token={p.plain(f'{where} query')}"
            f"&page=2#{p.plain(f'{where} fragment')}"
        ),
        "headers": [
            {"key": "Authorization", "value": p.bearer(f"{where} authorization header")[15:]},
            {"key": "Cookie", "value": f"session={p.plain(f'{where} cookie')}"},
            {"key": "X-Anything", "value": p.plain(f"{where} other header")},
        ],
    }
    named = [
        flow(
            1,
            l7={"type": "REQUEST", "http": http},
            Summary=f"HTTP/1.1 GET https://example.com/?q={p.plain(f'{where} summary')}",
            source={
                "namespace": "ml",
                "pod_name": p.keep("pod"),
                "labels": [
                    f"k8s:note={p.hugging_face(f'{where} label')}",
                    f"k8s:api-key={p.plain(f'{where} label of a secret name')}",
                    f"k8s:app={p.keep()}",
                ],
                "workloads": [{"name": p.github(f"{where} workload"), "kind": "Job"}],
            },
            emitter={"name": p.plain(f"{where} emitter"), "version": "1.19.2"},
            node_labels={"pool": p.plain(f"{where} node label")},
            extensions={"@type": "x", "note": p.plain(f"{where} extension")},
        ),
        flow(
            2,
            destination_names=[
                f"{p.aws_key_id(f'{where} destination name').lower()}.{p.keep()}.example.com"
            ],
            destination_service={"name": p.keep("service"), "namespace": "ml"},
            egress_denied_by=[
                {"name": p.keep("policy"), "namespace": "ml", "labels": [p.plain(f"{where} rule")]}
            ],
        ),
        flow(
            3,
            l4={"UDP": {"source_port": 53, "destination_port": 40_003}},
            IP={"source": "10.20.0.10", "destination": "10.20.1.5"},
            is_reply=True,
            source={"namespace": "kube-system", "pod_name": p.keep("dns")},
            destination={"namespace": "ml", "pod_name": "train-0"},
            l7={
                "type": "RESPONSE",
                "dns": {
                    "query": f"{p.github(f'{where} DNS query').lower()}.{p.keep()}.example.com.",
                    "ips": ["203.0.113.9"],
                    "ttl": 60,
                    "cnames": [f"{p.openai(f'{where} CNAME').lower()}.example.net."],
                    "qtypes": ["A"],
                },
            },
        ),
        flow(4, l7={"type": "REQUEST", "kafka": {"topic": p.plain(f"{where} Kafka topic")}}),
    ]
    others: list[Json] = [
        {"debug_event": {"message": p.plain(f"{where} debug event")}, "node_name": "node-1"},
        {
            "agent_event": {"agent_start": {"note": p.plain(f"{where} agent event")}},
            "node_name": "node-1",
        },
        {"lost_events": {"num_events_lost": "3", "note": p.plain(f"{where} lost events")}},
    ]
    headers = [{"key": "X-Anything", "value": p.plain(f"{where} header of a rejected line")}]
    broken = json.dumps(
        {"flow": {"node_name": p.keep("node"), "l7": {"http": {"headers": headers}}}}
    )
    wrong = flow(
        9, l7={"http": {"headers": [{"key": "A", "value": p.plain(f"{where} wrong type")}]}}
    )
    wrong["flow"] = {
        "l4": {"TCP": {"source_port": True}},
        "Summary": p.plain(f"{where} summary of a rejected line"),
        **wrong["flow"],
    }
    wrong["flow"]["l4"] = {"TCP": {"source_port": True}}
    rejected = [
        broken[:-2] + ' "x":1}',
        wrong,
        json.dumps([{"flow": {"Summary": p.plain(f"{where} array")}}]),
        f'{{"flow":{{"Summary":"{p.plain(f"{where} cut line")}',
        *(
            f"{p.keep()} {text}".replace("\n", " ")
            for text in p.of_every_shape(f"{where} line of text")
        ),
    ]
    return lines(*named, *others, *rejected)

"""Lines of CoreDNS and messages of DNS-collector with a secret in every place."""

import json
from typing import Any

from tests.canaries.planter import Planter
from tests.canaries.records import DAY, Json, lines


def asked(name: str) -> str:
    """A line of the log plugin."""
    return (
        f'[INFO] 10.20.1.5:40000 - 4711 "A IN {name}. udp 60 false 1232" NOERROR qr,rd,ra 94 '
        "0.000150566s"
    )


def coredns(p: Planter) -> str:
    """Lines of containers, wrapped by a runtime and by log shippers."""
    where = "coredns"
    r = p.refused()
    stamp = f"{DAY}T08:00:00.000000001Z"

    def shipped(p: Planter, text: str, place: str, **changes: Any) -> Json:
        return {
            "log": f"{text}\n",
            "stream": "stdout",
            "time": stamp,
            "kubernetes": {
                "host": p.keep("node"),
                "labels": {"note": p.plain(f"{where} label of {place}")},
                "annotations": {"note": p.plain(f"{where} annotation of {place}")},
            },
            **changes,
        }

    secret = p.github(f"{where} query name").lower()
    return lines(
        f"{stamp} stdout F {asked(f'{secret}.{p.keep()}.example.com')}",
        shipped(p, asked(f"{p.keep()}.example.com"), "a shipped line"),
        {
            "log": f"{asked(f'{p.keep()}.example.org')}\n",
            "stream": "stdout",
            "time": stamp,
            "attrs": {"TOKEN": p.plain(f"{where} attribute of Docker")},
        },
        f"{stamp} stdout F [ERROR] plugin/errors: 2 a. A: {p.password(f'{where} error')}",
        # Refused: no time, no text, no such line, broken JSON.
        shipped(r, asked(f"{p.keep()}.example.net"), "a line without a time", time=None),
        {"kubernetes": {"annotations": {"note": p.plain(f"{where} line without a text")}}},
        shipped(
            r,
            f"[INFO] 10.20.1.5:1 - x {p.keep()} {p.hugging_face(f'{where} unreadable line')}",
            "an unreadable line",
        ),
        json.dumps(shipped(r, "x", "a cut line"))[:-1],
        *(
            f"{stamp} stdout F [INFO] 10.20.1.5:1 - {text}".replace("\n", " ")
            for text in p.of_every_shape(f"{where} unreadable line")
        ),
    )


def dns_collector(p: Planter) -> str:
    """Messages of DNS-collector, nested and flat."""
    where = "dns_collector"

    def message(name: str, **dns: Any) -> Json:
        return {
            "network": {
                "query-ip": "10.20.1.5", "query-port": "40000", "response-ip": "10.20.0.10",
                "protocol": "UDP",
            },
            "dns": {
                "id": 7, "opcode": 0, "rcode": "NOERROR", "qname": name, "qtype": "TXT",
                "qclass": "IN", **dns,
            },
            "edns": {"options": [{"name": "X", "data": p.plain(f"{where} EDNS option")}]},
            "dnstap": {
                "operation": "CLIENT_RESPONSE",
                "identity": p.plain(f"{where} identity"),
                "extra": p.plain(f"{where} extra"),
                "timestamp-rfc3339ns": f"{DAY}T08:00:00.000000001Z",
                "latency": 0.001,
            },
            "geoip": {"city": p.plain(f"{where} unknown key")},
        }  # fmt: skip

    answers = [
        {"name": "x.example.com", "rdatatype": "TXT", "ttl": 60, "rdata": f"{p.keep()} {text}"}
        for text in p.of_every_shape(f"{where} answer")
    ]
    name = f"{p.openai(f'{where} query name').lower()}.{p.keep()}.example.com"
    good = message(name, **{"resource-records": {"an": answers, "ns": [], "ar": []}})
    flat = {
        "dnstap.operation": "CLIENT_RESPONSE",
        "dnstap.timestamp-rfc3339ns": f"{DAY}T08:00:01Z",
        "dnstap.identity": p.plain(f"{where} flat identity"),
        "dnstap.extra": p.plain(f"{where} flat extra"),
        "dns.qname": f"{p.keep()}.example.org",
        "dns.qtype": "A",
        "dns.rcode": "NOERROR",
        "geoip.city": p.plain(f"{where} flat unknown key"),
    }
    no_time = message(f"{p.keep()}.example.net")
    no_time["dnstap"]["timestamp-rfc3339ns"] = p.jwt(f"{where} time")
    first = {"dns.qname": p.keep(), "dnstap.extra": p.plain(f"{where} extra of a rejected line")}
    return lines(
        good,
        flat,
        no_time,
        {**first, "dnstap.operation": p.hugging_face(f"{where} operation")},
        json.dumps(message("a.example.com"))[:-1],
        json.dumps({"dnstap": {"extra": p.plain(f"{where} line without dns")}}),
    )

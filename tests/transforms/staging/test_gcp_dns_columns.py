"""Answers of Cloud DNS by columns: each line of a text of them is read as the row parser does."""

import json
from typing import Any

from tests.transforms.staging.test_json_columns import check

ALIAS = "Data.example.com.\t300\tIN\tCNAME\tedge.example.net."
ADDRESS = "edge.example.net. 60 IN A 203.0.113.31"
TEXT = 'data.example.com.\t5\tIN\tTXT\t"v=1 \\"x\\" \u00fc"'
ABSENT = object()
ANSWERS: tuple[Any, ...] = (
    ABSENT, None, "", "\n", " ", " \n", ALIAS, f"{ALIAS}\n{ADDRESS}", f"{ALIAS}\n{ADDRESS}\n",
    f"\n{ALIAS}\n\n{ADDRESS}", f" {ALIAS}", f"{ALIAS}\n \n{ADDRESS}", f"{ALIAS}\n\t\n", TEXT,
    f"{ALIAS}\r\n{ADDRESS}", f"{ALIAS}...", f"{ALIAS}\n{ADDRESS[:9]}...", f"{ALIAS}\n...", "...",
    f"{ALIAS}\n{ADDRESS}...\n", "x", "a b c d", "a x IN A 192.0.2.1", "a 1 IN ! 192.0.2.1",
    f"{ADDRESS}\n{ALIAS}", "a. 1 IN CNAME b.\nc. 1 IN CNAME d.", "\u2003" + ALIAS, "\x1c", 7, [],
    {"a": "\\n"}, "\n".join([ALIAS] * 4_097), "\ud83d\ude00" + ALIAS,
)  # fmt: skip
CODES: tuple[Any, ...] = ("NOERROR", "NXDOMAIN", "", None, ABSENT, "x y", 3)


def entry(answers: Any, code: Any, **changes: Any) -> bytes:
    """A log entry."""
    payload = {
        "queryName": "data.example.com.", "queryType": "A", "responseCode": code, "rdata": answers,
        "sourceIP": "192.0.2.71", "serverLatency": 3, "protocol": "UDP", **changes,
    }  # fmt: skip
    stated = {key: value for key, value in payload.items() if value is not ABSENT}
    record = {
        "insertId": "x1", "timestamp": "2026-03-10T12:00:00.5Z", "jsonPayload": stated,
        "resource": {"type": "dns_query", "labels": {"source_type": "gce-vm"}},
        "logName": "projects/p/logs/dns.googleapis.com%2Fdns_queries",
    }  # fmt: skip
    return json.dumps(record).encode()


def test_answers_are_read_alike() -> None:
    lines = [entry(answers, code) for answers in ANSWERS for code in CODES]
    check("gcp_dns", lines)
    check("gcp_dns", lines, 3_000)


def test_names_are_read_alike() -> None:
    names = (ABSENT, None, "", "a", "x" * 1_021, 5, "a\\032b.", "\u00fc.", "pypi.org.ml.svc.local.")
    check("gcp_dns", [entry(ALIAS, code, queryName=name) for name in names for code in CODES])

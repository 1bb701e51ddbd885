"""Answers of Zeek's JSON by columns: what tells their types and times to live is read alike."""

import json
from itertools import product
from typing import Any

from tests.transforms.staging.test_json_columns import check

RECORD = {
    "ts": 1773111719.500613, "id.orig_h": "192.0.2.71", "id.orig_p": 39_745,
    "id.resp_h": "198.51.100.53", "id.resp_p": 53, "proto": "udp", "trans_id": 7, "rtt": 0.0625,
    "query": "data.example.com.ml.svc.cluster.local", "qclass": 1, "qclass_name": "C_INTERNET",
}  # fmt: skip
ABSENT = object()
ANSWERS: tuple[Any, ...] = (
    ABSENT, None, [], ["203.0.113.31"], ["2001:db8::5"], ["2001:DB8::5", "203.0.113.31"],
    ["edge.example.net", "203.0.113.31"], ["edge.example.net", "second.example.net"],
    ["203.0.113.31", "edge.example.net"], ["a.example.net", "203.0.113.1", "b.example.net", "::1"],
    ["edge.example.net"] * 3, ["TXT 6 v=spf1"], ["<unknown type=65>"], ["TXT 3 a\\x0ab"], [""],
    ["Edge.Example.NET."], ["a b"], ["\u00fc.example.net"], ["a\"b\\"], [None], [7], [["a"]], "a",
    {}, 5, ["x" * 2_000], ["203.0.113.31", None], ["198.51.100.1"] * 4_097,
)  # fmt: skip
TTLS: tuple[Any, ...] = (
    ABSENT, None, [], [60.0], [60.0, 7], [1, 2, 3], [1.9, 2**31, -1, True], ["60"], ["-"], [None],
    [1e300], "60", {}, [1] * 4_097,
)  # fmt: skip
ASKED: tuple[dict[str, Any], ...] = (
    {"qtype": 1, "qtype_name": "A"}, {"qtype": 28}, {"qtype_name": "CNAME"}, {"qtype_name": "*"},
    {"qtype_name": "query-65"}, {}, {"qtype": 65_536},
)  # fmt: skip
CODES: tuple[dict[str, Any], ...] = (
    {"rcode": 0}, {"rcode": 3, "rcode_name": "NXDOMAIN"}, {}, {"rejected": True},
    {"rcode_name": "unassigned-99"}, {"rejected": "T"}, {"rcode": "x"},
)  # fmt: skip


def lines(*changes: tuple[dict[str, Any], ...]) -> list[bytes]:
    """A record for each choice of changes."""
    found = []
    for chosen in product(*changes):
        record: dict[str, Any] = dict(RECORD)
        for change in chosen:
            record |= change
        found.append({key: value for key, value in record.items() if value is not ABSENT})
    return [json.dumps(record).encode() for record in found]


def test_answers_of_every_type_are_read_alike() -> None:
    texts = lines(tuple({"answers": x} for x in ANSWERS), ASKED)
    check("zeek_dns", texts, 1 << 20)
    check("zeek_dns", texts, 3_000)


def test_times_to_live_belong_to_their_answers() -> None:
    answers = tuple({"answers": x} for x in ANSWERS[:10])
    check("zeek_dns", lines(answers, tuple({"TTLs": x} for x in TTLS)))


def test_responses_are_told_alike() -> None:
    check("zeek_dns", lines(tuple({"answers": x} for x in ANSWERS[:5]), CODES))

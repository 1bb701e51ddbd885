r"""Zeek dns.log: text and JSON say the same, and a masked time is no time."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    check_each,
    check_others,
    check_rows,
    damaged,
    lines,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, NAMES, TIMES, Reader, but
from transforms.redaction import excerpt
from transforms.staging.lookup_fields import MAX_ANSWERS
from transforms.staging.parser import RawRecord
from transforms.staging.zeek_dns import PARSER

RECORD = {
    "ts": 1773111719.500613,
    "uid": "CAcJw21BbVedgFnYH3",
    "id.orig_h": "192.0.2.71",
    "id.orig_p": 39745,
    "id.resp_h": "198.51.100.53",
    "id.resp_p": 53,
    "proto": "udp",
    "trans_id": 17757,
    "rtt": 0.25,
    "query": "data.example.com",
    "qclass": 1,
    "qclass_name": "C_INTERNET",
    "qtype": 1,
    "qtype_name": "A",
    "rcode": 0,
    "rcode_name": "NOERROR",
    "AA": False,
    "TC": False,
    "RD": True,
    "RA": True,
    "Z": 0,
    "answers": ["edge.example.net", "203.0.113.31"],
    "TTLs": [300.0, 60.0],
    "rejected": False,
    "opcode": 0,
    "opcode_name": "query",
}
ANSWERS = [
    {"name": None, "type": "CNAME", "data": "edge.example.net", "ttl": 300},
    {"name": None, "type": "A", "data": "203.0.113.31", "ttl": 60},
]
LOOKUP = {
    # The query at 03:01:59.500613 and the time to the answer.
    "event_at": datetime(2026, 3, 10, 3, 1, 59, 750_613, tzinfo=UTC),
    "node": "n1",
    "client_address": "192.0.2.71",
    "client_port": 39_745,
    "resolver_address": "198.51.100.53",
    "transport": "UDP",
    "query_name": "data.example.com",
    "original_query_name": "data.example.com",
    "query_type": "A",
    "rcode": "NOERROR",
    "answers": ANSWERS,
    "latency_seconds": 0.25,
    "is_response": True,
    "dns_message_id": 17_757,
}
ASKED_AT = datetime(2026, 3, 10, 3, 1, 59, 500_613, tzinfo=UTC)

reader = Reader(PARSER, node="n1")


def changed(changes):
    """The record with other values; `...` takes one out."""
    return {k: v for k, v in (RECORD | changes).items() if v is not ...}


def as_json(value):
    return json.dumps(value)


def cell(value):
    """A value as Zeek's text writer writes it."""
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, list):
        return ",".join(map(cell, value)) if value else "(empty)"
    if isinstance(value, float):
        return f"{value:.6f}"
    return str(value) if value != "" else "(empty)"


def header(fields, path="dns"):
    return "\n".join(
        [
            r"#separator \x09",
            "#set_separator\t,",
            "#empty_field\t(empty)",
            "#unset_field\t-",
            f"#path\t{path}",
            "#open\t2026-03-10-03-00-00",
            "\t".join(["#fields", *fields]),
            "\t".join(["#types", *["string" for _ in fields]]),
        ]
    )


def as_text(value):
    """A whole log of one record; fields that the record lacks are unset."""
    fields = list(RECORD)
    line = "\t".join("-" if value.get(f) is None else cell(value[f]) for f in fields)
    return f"{header(fields)}\n{line}\n#close\t2026-03-10-04-00-00\n"


FORMS = pytest.mark.parametrize("form", [as_json, as_text])


@FORMS
def test_both_forms_give_the_same_row(form):
    assert reader.lookup(form(RECORD)) == LOOKUP
    assert reader.lookup("\ufeff" + form(RECORD)) == LOOKUP


UNANSWERED = {
    "event_at": ASKED_AT, "rcode": None, "answers": None, "latency_seconds": None,
    "is_response": False,
}  # fmt: skip


@FORMS
@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"id.orig_h": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
        ({"id.orig_h": ...}, {"client_address": None}),
        ({"id.orig_p": ...}, {"client_port": None}),
        ({"id.resp_h": ...}, {"resolver_address": None}),
        ({"id.resp_p": ...}, {}),
        ({"id.resp_p": 10_053}, {}),
        ({"proto": "tcp"}, {"transport": "TCP"}),
        ({"proto": "unknown_transport"}, {"transport": None}),
        ({"proto": ...}, {"transport": None}),
        ({"trans_id": 0}, {"dns_message_id": 0}),
        ({"trans_id": ...}, {"dns_message_id": None}),
        ({"rtt": ...}, {"event_at": ASKED_AT, "latency_seconds": None}),
        ({"rtt": -0.5}, {"event_at": ASKED_AT, "latency_seconds": None}),
        ({"rtt": 86_401.0}, {"event_at": ASKED_AT, "latency_seconds": None}),
        ({"query": "x.example.org"}, dict.fromkeys(NAMES, "x.example.org")),
        ({"query": ""}, dict.fromkeys(NAMES, ".")),
        ({"query": "a b.example.org"}, dict.fromkeys(NAMES, "a\\ b.example.org")),
        ({"query": r"\x00\xff.example.org"}, dict.fromkeys(NAMES, "\\000\\255.example.org")),
        ({"query": "é.example.org"}, dict.fromkeys(NAMES, "\\195\\169.example.org")),
        ({"qclass": ..., "qclass_name": ...}, {}),
        ({"qclass": ...}, {}),
        ({"qtype_name": "other"}, {}),
        ({"qtype": 65, "qtype_name": "HTTPS", "answers": ..., "TTLs": ...},
         {"query_type": "HTTPS", "answers": None}),
        ({"qtype": ...}, {}),
        ({"qtype": ..., "qtype_name": "query-65", "answers": ...},
         {"query_type": "HTTPS", "answers": None}),
        ({"qtype": ..., "qtype_name": "*", "answers": ...},
         {"query_type": "ANY", "answers": None}),
        ({"qtype": ..., "qtype_name": ...}, {"query_type": None}),
        ({"rcode": 3, "rcode_name": "NXDOMAIN"}, {"rcode": "NXDOMAIN"}),
        ({"rcode": 23, "rcode_name": "BADCOOKIE"}, {"rcode": "BADCOOKIE"}),
        ({"rcode": 3841, "rcode_name": "rcode-3841"}, {"rcode": "3841"}),
        ({"rcode": ..., "rcode_name": "NXRRSet"}, {"rcode": "NXRRSET"}),
        ({"rcode": ..., "rcode_name": "rcode-3841"}, {"rcode": "3841"}),
        ({"rcode_name": ...}, {}),
        ({"rcode": ..., "rcode_name": ...}, {"rcode": None}),
        ({"rcode": 5, "rcode_name": "REFUSED", "rejected": True, "answers": ..., "rtt": ...},
         {"rcode": "REFUSED", "answers": None, "event_at": ASKED_AT, "latency_seconds": None}),
        ({"rcode": ..., "rcode_name": ..., "answers": ..., "rejected": True},
         {"rcode": None, "answers": None}),
        ({"rcode": ..., "rcode_name": ..., "answers": ..., "TTLs": ...}, UNANSWERED),
        ({"rcode": ..., "rcode_name": ..., "answers": ..., "rejected": ...}, UNANSWERED),
        ({"answers": []}, {"answers": []}),
        ({"answers": ..., "TTLs": ...}, {"answers": None}),
        ({"opcode": ..., "opcode_name": ..., "AA": ..., "Z": ..., "uid": ...}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(form, changes, fields):
    assert reader.lookup(form(changed(changes))) == but(LOOKUP, fields)


@FORMS
@pytest.mark.parametrize(
    ("changes", "answers"),
    [
        ({}, [("CNAME", "edge.example.net", 300), ("A", "203.0.113.31", 60)]),
        # Without a type asked, a name is an alias where an address stands behind it.
        ({"qtype": ..., "qtype_name": ...},
         [("CNAME", "edge.example.net", 300), ("A", "203.0.113.31", 60)]),
        ({"qtype": ..., "qtype_name": ..., "answers": ["a.example.net", "b.example.net"]},
         [(None, "a.example.net", 300), (None, "b.example.net", 60)]),
        ({"answers": ["a.example.net", "b.example.net"]},
         [("CNAME", "a.example.net", 300), ("CNAME", "b.example.net", 60)]),
        ({"qtype": 28, "answers": ["2001:DB8::7"], "TTLs": [5.0]}, [("AAAA", "2001:db8::7", 5)]),
        # A name that looks like an address of the other family.
        ({"qtype": 28, "answers": ["192.0.2.7"], "TTLs": [5.0]}, [("CNAME", "192.0.2.7", 5)]),
        ({"qtype": 12, "answers": ["host.example.net"], "TTLs": [5.0]},
         [(None, "host.example.net", 5)]),
        ({"qtype": 5, "answers": ["a.example.net"], "TTLs": [5.0]},
         [("CNAME", "a.example.net", 5)]),
        ({"qtype": 16, "answers": ["TXT 26 v=1 token=FAKE-EXAMPLE end"], "TTLs": [5.0]},
         [("TXT", "TXT 26 v=1 token=*** end", 5)]),
        ({"qtype": 65, "answers": ["<unknown type=65>"], "TTLs": [5.0]}, [("HTTPS", None, 5)]),
        ({"qtype": 48, "answers": ["DNSKEY 8", "RRSIG 48 example.com"]},
         [("DNSKEY", "DNSKEY 8", 300), ("RRSIG", "RRSIG 48 example.com", 60)]),
        ({"qtype": 44, "answers": ["SSHFP: ab", "NSEC3"]},
         [("SSHFP", "SSHFP: ab", 300), ("NSEC3", "NSEC3", 60)]),
        ({"TTLs": [300.0]}, [("CNAME", "edge.example.net", None), ("A", "203.0.113.31", None)]),
        ({"TTLs": ...}, [("CNAME", "edge.example.net", None), ("A", "203.0.113.31", None)]),
        ({"TTLs": [-1.0, 2147483648.0]},
         [("CNAME", "edge.example.net", None), ("A", "203.0.113.31", None)]),
        ({"TTLs": [0.0, 59.9]}, [("CNAME", "edge.example.net", 0), ("A", "203.0.113.31", 59)]),
    ],
)  # fmt: skip
def test_answers_have_the_types_that_can_be_told(form, changes, answers):
    found = reader.lookup(form(changed(changes)))["answers"]
    assert [(a["type"], a["data"], a["ttl"]) for a in found] == answers
    assert {a["name"] for a in found} == {None}


def test_escapes_of_the_text_form_come_off():
    value = changed({"qtype": 16, "answers": [r"TXT 5 a\x2cb\\c", "\\x2d", "(empty)"], "TTLs": ...})
    found = reader.lookup(as_text(value))["answers"]
    assert [a["data"] for a in found] == [r"TXT 5 a,b\c", "-", "."]


@pytest.mark.parametrize(
    ("ts", "at"),
    [
        (1773111719, datetime(2026, 3, 10, 3, 1, 59, tzinfo=UTC)),
        (1773111719.9999999, datetime(2026, 3, 10, 3, 2, tzinfo=UTC)),
        # JSON::TS_MILLIS and JSON::TS_ISO8601.
        (1773111719500, datetime(2026, 3, 10, 3, 1, 59, 500_000, tzinfo=UTC)),
        (1773111719500.613, ASKED_AT),
        ("2026-03-10T03:01:59.500613Z", ASKED_AT),
        ("2026-03-10T03:01:59Z", datetime(2026, 3, 10, 3, 1, 59, tzinfo=UTC)),
        ("1773111719.500613", ASKED_AT),
        (0.000001, datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        (99999999999.0, datetime(5138, 11, 16, 9, 46, 39, tzinfo=UTC)),
    ],
)
def test_times_in_json_are_read_as_the_writer_may_write_them(ts, at):
    assert reader.lookup(as_json(changed({"ts": ts, "rtt": ...})))["event_at"] == at


@pytest.mark.parametrize(
    ("ts", "at"),
    [
        ("1773111719.500613", ASKED_AT),
        ("1773111719", datetime(2026, 3, 10, 3, 1, 59, tzinfo=UTC)),
        ("1773111719.5006139", ASKED_AT),
        ("2026-03-10T03:01:59+0000", datetime(2026, 3, 10, 3, 1, 59, tzinfo=UTC)),
    ],
)
def test_times_in_text_lose_no_microsecond(ts, at):
    assert reader.lookup(as_text(changed({"ts": ts, "rtt": ...})))["event_at"] == at


@FORMS
def test_times_of_all_years_precisions_and_zones_are_read(form):
    for text, at in TIMES:
        assert reader.row(as_json(changed({"ts": text, "rtt": ...})))["event_at"] == at
    for text, at in (
        ("0.000001", datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        ("253402300799.999999", datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ):
        assert reader.row(form(changed({"ts": text, "rtt": ...})))["event_at"] == at
    for text in ("253402300800", "-1.5", "2026-02-30T00:00:00Z", "2026-03-10"):
        assert word(reader.one(form(changed({"ts": text})))) == "no_time"


@pytest.mark.parametrize("ts", [10**11, 253_402_300_799, 788_918_399_999, 253_402_300_800_000])
def test_a_number_that_may_count_seconds_or_milliseconds_is_no_time(ts):
    assert word(reader.one(as_json(changed({"ts": ts})))) == "no_time"


@FORMS
def test_a_negative_time_to_the_answer_is_not_measured(form):
    found = reader.lookup(form(changed({"rtt": -0.25})))
    assert found == but(LOOKUP, {"event_at": ASKED_AT, "latency_seconds": None})


def test_fields_stand_in_any_order_and_some_may_be_missing():
    text = (
        "#separator \\x7c\n#set_separator|;\n#empty_field|<>\n#unset_field|NULL\n#path|dns\n"
        "#fields|answers|query|rcode|ts|TTLs|id.orig_h\n"
        "edge.example.net;203.0.113.31|data.example.com|0|1773111719.500613|300.0;60.0|192.0.2.71\n"
        "NULL|data.example.com|NULL|1773111719.500613|NULL|192.0.2.72\n"
        "<>|a,-b|0|1773111719.500613|<>|192.0.2.73\n"
    )
    found = parse(PARSER, text)
    check_rows(found)
    first, second, third = (stated(r, "record_id") for r in rows(found, "dns_lookups"))
    assert first == {
        "event_at": ASKED_AT,
        "client_address": "192.0.2.71",
        "query_name": "data.example.com",
        "original_query_name": "data.example.com",
        "rcode": "NOERROR",
        # No type was asked, but an address stands behind the name.
        "answers": ANSWERS,
        "is_response": True,
    }
    assert (second["is_response"], second["client_address"]) == (False, "192.0.2.72")
    assert (third["answers"], third["query_name"]) == ([], "a,-b")


@pytest.mark.parametrize("form", [as_json, lambda value: as_text(value).replace("id.", "id_")])
def test_scopes_may_be_parted_otherwise(form):
    renamed = {k.replace("id.", "id_"): v for k, v in RECORD.items()}
    value = renamed if form is as_json else RECORD
    assert reader.lookup(form(value)) == LOOKUP


def test_headers_are_no_records_and_other_comments_are_ignored():
    line = as_text(RECORD)
    text = f"### a note\n{line}\n\n# another\n{line}"
    found = parse(PARSER, text, node="n1")
    check_each(found)
    assert [(p.locator, word(p)) for p in found] == [
        ("line 1", "comment"), ("line 10", "accepted"), ("line 14", "comment"),
        ("line 23", "accepted"),
    ]  # fmt: skip
    assert {stated(r, "record_id") == LOOKUP for r in rows(found, "dns_lookups")} == {True}


@FORMS
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id.resp_p": 137, "query": "WORKGROUP", "qtype": 32}, "netbios"),
        ({"id.resp_p": 5353, "id.resp_h": "224.0.0.251"}, "multicast"),
        ({"id.resp_p": 5355, "id.resp_h": "ff02::1:3"}, "multicast"),
        ({"opcode": 4, "opcode_name": "notify"}, "other_operation"),
        ({"qclass": 3, "qclass_name": "C_CHAOS"}, "other_class"),
        ({"qclass": ..., "qclass_name": "C_CHAOS"}, "other_class"),
        ({"query": ...}, "no_question"),
    ],
)
def test_what_is_no_look_up_of_a_resolver_is_ignored(form, changes, reason):
    assert reader.one(form(changed(changes))).ignore == reason


def test_other_logs_of_zeek_are_ignored_where_their_name_is_stated():
    conn = f"{header(['ts', 'uid', 'query'], 'conn')}\n1773111719.5\tC1\t-"
    assert reader.one(conn).ignore == "other_log"
    assert reader.one(as_json(RECORD | {"_path": "conn"})).ignore == "other_log"
    assert reader.lookup(as_json(RECORD | {"_path": "dns", "_system_name": "sensor"})) == LOOKUP
    assert reader.lookup(as_text(RECORD).replace("#path\tdns", "#path\tdns_inside")) == LOOKUP
    both = parse(PARSER, f"{conn}\n{as_text(RECORD)}")
    assert [word(p) for p in both] == ["other_log", "accepted"]


@FORMS
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ts": ...}, "no_time"),
        ({"ts": "XXXXXXXXXX.XXXXXX"}, "no_time"),
        ({"ts": 0.0}, "no_time"),
        ({"ts": -1.0}, "no_time"),
        ({"ts": "1e9"}, "no_time"),
        ({"ts": "999999999999.0"}, "no_time"),
        ({"query": "a" * 1_021}, "name"),
        ({"query": r"\x00" * 300}, "name"),
        ({"id.orig_h": "192.0.2.999"}, "id.orig_h"),
        ({"id.resp_h": "resolver"}, "id.resp_h"),
        ({"id.orig_p": 65_536}, "id.orig_p"),
        ({"id.orig_p": "53/udp"}, "id.orig_p"),
        ({"id.resp_p": "x"}, "id.resp_p"),
        ({"trans_id": 65_536}, "trans_id"),
        ({"qtype": 65_536}, "qtype"),
        ({"qtype": "A"}, "qtype"),
        ({"qtype": ..., "qtype_name": "not a type"}, "query_type"),
        ({"qclass": -1}, "qclass"),
        ({"opcode": 16}, "opcode"),
        ({"rcode": 4_096}, "rcode"),
        ({"rcode": ..., "rcode_name": "not a code"}, "rcode"),
        ({"rtt": "soon"}, "rtt"),
        ({"answers": ["a.x"] * (MAX_ANSWERS + 1)}, "answers"),
        ({"answers": ["a" * 1_021]}, "name"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(form, changes, reason):
    assert word(reader.one(form(changed(changes)))) == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ts": True}, "no_time"),
        ({"ts": 10**40}, "no_time"),
        ({"ts": 253402300800000}, "no_time"),
        ({"ts": []}, "no_time"),
        ({"query": 5}, "query"),
        ({"proto": 17}, "proto"),
        ({"rtt": []}, "rtt"),
        ({"answers": "203.0.113.31"}, "answers"),
        ({"answers": [5]}, "answers"),
        ({"answers": [None]}, "answers"),
        ({"TTLs": 5}, "TTLs"),
        ({"_path": 5}, "_path"),
    ],
)
def test_values_of_other_json_types_are_refused(changes, reason):
    assert word(reader.one(as_json(changed(changes)))) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (as_json(RECORD)[:-40], "invalid_json"),
        (as_json(RECORD) * 2, "invalid_json"),
        (b'{"query":"\xff"}', "invalid_json"),
        ('{"other":' + "[" * 100_000, "too_deep"),
        ("{}", "no_dns"),
        ('{"flow":{}}', "no_dns"),
        ('{"query":"a"}', "no_time"),
        ("free text", "no_fields"),
        (f"{header(['ts', 'uid'])}\n1773111719.5\tC1", "no_fields"),
        (f"{header(['ts', 'query'])}\n1773111719.5", "field_count"),
        (f"{header(['ts', 'query'])}\n1773111719.5\ta\tb", "field_count"),
        (f"{header(['ts', 'query'])}\n{as_json(RECORD)}", "field_count"),
        (f"{header(['ts', 'ts', 'query'])}\n1773111719.5\t1\ta", "header"),
        ("#separator \n#fields\tts\tquery\n1773111719.5\ta", "header"),
        ("x" * ((1 << 20) + 1), "unreadable_line"),
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused(text, reason):
    assert word(reader.one(text)) == reason


def test_a_reject_shows_where_its_record_breaks():
    for form in (as_json, as_text):
        parsed = reader.one(form(changed({"id.orig_h": "192.0.2.999"})))
        assert parsed.reject == "id.orig_h: expected an IP address, got `192.0.2.999`"
        assert parsed.place is not None
        assert parsed.place.raw[parsed.place.at :].startswith(b"192.0.2.999")


@FORMS
def test_the_id_of_a_record_is_the_whole_record(form):
    ids = {reader.row(form(changed(c)))["record_id"] for c in ({}, {"uid": "C2"}, {"TC": True})}
    assert len(ids) == 3
    assert reader.row(form(RECORD))["record_id"] in ids


def test_the_order_of_fields_is_a_part_of_a_text_record():
    def record_id(*fields):
        text = f"{header(fields)}\n1773111719.5\t1773111720.5\ta.x\t1"
        return reader.row(text)["record_id"]

    assert record_id("ts", "rtt", "query", "Z") != record_id("rtt", "ts", "query", "Z")


def test_a_document_is_one_record():
    [parsed] = parse(PARSER, [RawRecord("$", 0, json.dumps(RECORD, indent=2).encode())], node="n1")
    assert parsed.locator == "$"
    assert stated(rows([parsed], "dns_lookups")[0], "record_id") == LOOKUP


@FORMS
def test_a_search_suffix_comes_off(form):
    value = changed(
        {"query": "pypi.example.org.tools.svc.cluster.local", "rcode": 3, "answers": ...}
    )
    found = reader.lookup(form(value))
    assert found["query_name"] == "pypi.example.org"
    assert found["original_query_name"] == "pypi.example.org.tools.svc.cluster.local"


@FORMS
def test_a_secret_in_a_record_is_not_stored(form):
    value = changed(
        {
            "query": "x.akiaiosfodnn7example.example.com",
            "proto": "AKIAIOSFODNN7EXAMPLE",
            "answers": ["TXT 25 password=FAKE-txt-EXAMPLE", "token-akiaiosfodnn7example.x"],
        }
    )
    kept = written([reader.one(form(value)), reader.one(form(value | {"ts": "FAKE-time"}))])
    assert "FAKE" not in kept
    assert "akiaios" not in kept.lower()
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + as_json(value)[1:-5])
    assert broken.reject is not None
    assert "FAKE" not in excerpt(broken.raw)


CONN = header(["ts", "uid", "id.orig_h", "id.orig_p", "proto", "service", "duration"], "conn")


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (as_text(RECORD), 3),
        ("### a note\n" + as_text(RECORD)[:400], 3),
        (as_text(RECORD).replace("\n", "\r\n"), 3),
        (as_text(RECORD)[:90], 2),
        (as_text(RECORD)[:50], 0),
        (as_text(RECORD).replace("#path\tdns", "#path\tdns_inside"), 3),
        (CONN, 0),
        (header(["ts", "query"], "other"), 0),
        (as_json(RECORD) + "\n" + as_json(RECORD)[:50], 3),
        (as_json(changed({"query": ...})), 3),
        (as_json(changed({"ts": ...})), 0),
        (json.dumps(RECORD, indent=2), 3),
        (as_json(RECORD | {"_path": "conn"}), 0),
        (as_json({"ts": 1.5, "uid": "C1", "id.orig_h": "192.0.2.1", "trans_id": 5}), 0),
        ("# HELP metric text\n# TYPE metric counter\nmetric 5\n", 0),
        ("#fields\tts\tquery\n", 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_header_or_its_first_record(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_no_other_sample_is_taken_for_zeek_dns(samples):
    assert reader.taken(samples) == {
        "zeek_dns.elastic.jsonl", "zeek_dns_single.ocsf.json", "zeek_dns_tsv.baseline.log",
    }  # fmt: skip


@pytest.mark.samples
def test_the_sample_of_json_lines_is_read(samples):
    parsed = parse_file(PARSER, samples / "dns" / "zeek_dns.elastic.jsonl")
    check_each(parsed)
    check_rows(parsed)
    assert [word(p) for p in parsed] == [
        "accepted", "multicast", "accepted", "accepted", "accepted",
    ]  # fmt: skip
    found = [stated(row, "record_id") for row in rows(parsed, "dns_lookups")]
    assert found[0] == {
        # 1547188415.857497 s and 0.076967 s.
        "event_at": datetime(2019, 1, 11, 6, 33, 35, 934_464, tzinfo=UTC),
        "client_address": "192.168.86.167",
        "client_port": 38_339,
        "resolver_address": "192.168.86.1",
        "transport": "UDP",
        "query_name": "dd625ffb4fc54735b281862aa1cd6cd4.us-west1.gcp.cloud.es.io",
        "original_query_name": "dd625ffb4fc54735b281862aa1cd6cd4.us-west1.gcp.cloud.es.io",
        "query_type": "A",
        "rcode": "NOERROR",
        "answers": [
            {"name": None, "type": "CNAME", "data": "proxy-production-us-west1.gcp.cloud.es.io",
             "ttl": 119},
            {"name": None, "type": "CNAME",
             "data": "proxy-production-us-west1-v1-009.gcp.cloud.es.io", "ttl": 119},
            {"name": None, "type": "A", "data": "89.160.20.156", "ttl": 59},
        ],
        "latency_seconds": 0.076967,
        "is_response": True,
        "dns_message_id": 15_209,
    }  # fmt: skip
    assert found[1]["event_at"] == datetime(2021, 3, 30, 11, 59, 52, 91_052, tzinfo=UTC)
    assert [a["type"] for a in found[1]["answers"]] == ["CNAME", "CNAME", "A"]
    # Neither a type asked nor an address: what the names are is not told.
    assert [a["type"] for a in found[2]["answers"]] == [None] * 3
    assert [a["ttl"] for a in found[3]["answers"]] == [299, 214, *[243] * 9]
    assert [a["type"] for a in found[3]["answers"]] == ["CNAME"] * 3 + ["A"] * 8


@pytest.mark.samples
def test_the_sample_document_is_read(samples):
    parsed = parse_file(PARSER, samples / "dns" / "zeek_dns_single.ocsf.json")
    check_rows(parsed)
    [found] = rows(parsed, "dns_lookups")
    # 14:30:29.145864 and 0.004117 s.
    assert found["event_at"] == datetime(2024, 10, 18, 14, 30, 29, 149_981, tzinfo=UTC)
    assert found["query_name"] == "staging-validation-poc.s3.amazonaws.com"
    assert (found["query_type"], found["rcode"]) == ("AAAA", "NOERROR")
    assert found["answers"] == [
        {"name": None, "type": "CNAME", "data": "s3-1-w.amazonaws.com", "ttl": 300},
        {"name": None, "type": "CNAME", "data": "s3-w.us-east-1.amazonaws.com", "ttl": 140},
    ]
    assert found["latency_seconds"] == 0.004117012023925781


@pytest.mark.samples
def test_the_sample_of_text_has_masked_times(samples):
    # Of 34 records 12 go to ports 5353 and 5355, and 8 to port 137.
    parsed = parse_file(PARSER, samples / "dns" / "zeek_dns_tsv.baseline.log")
    check_each(parsed)
    assert words(parsed) == {"comment": 1, "multicast": 12, "netbios": 8, "no_time": 14}
    assert parsed[1].locator == "line 10"


@pytest.mark.samples
def test_the_sample_of_text_is_read_once_it_has_times(samples):
    text = (samples / "dns" / "zeek_dns_tsv.baseline.log").read_text()
    parsed = parse(PARSER, text.replace("XXXXXXXXXX.XXXXXX", "1300475168.853899"))
    check_rows(parsed)
    assert words(parsed) == {"comment": 1, "multicast": 12, "netbios": 8, "accepted": 14}
    found = rows(parsed, "dns_lookups")
    assert [row["rcode"] for row in found] == [
        "NOERROR", "NXDOMAIN", "NOERROR", "NOERROR", "NXDOMAIN", "NOERROR", "NOERROR", "NXDOMAIN",
        "NOERROR", "NOERROR", "NXDOMAIN", "NOERROR", "NOERROR", "NOERROR",
    ]  # fmt: skip
    assert stated(found[2], "record_id") == {
        # 0.000392 s after the query.
        "event_at": datetime(2011, 3, 18, 19, 6, 8, 854_291, tzinfo=UTC),
        "client_address": "141.142.220.118",
        "client_port": 40_526,
        "resolver_address": "141.142.2.2",
        "transport": "UDP",
        "query_name": "upload.wikimedia.org",
        "original_query_name": "upload.wikimedia.org",
        "query_type": "A",
        "rcode": "NOERROR",
        "answers": [
            {"name": None, "type": "CNAME", "data": "upload.pmtpa.wikimedia.org", "ttl": 124},
            {"name": None, "type": "A", "data": "208.80.152.3", "ttl": 2_156},
        ],
        "latency_seconds": 0.000392,
        "is_response": True,
        "dns_message_id": 26_096,
    }
    assert found[0]["answers"] is None


@given(st.sampled_from(sorted(RECORD)), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(name, new):
    reader.one(as_json(changed({name: new})))


@given(st.sampled_from(sorted(RECORD)), st.text(max_size=20))
def test_any_text_in_any_field_is_read_or_refused(name, new):
    text = new.translate({ord(c): None for c in "\t\n\r"})
    found = parse(PARSER, as_text(changed({name: text})))
    check_each(found)
    check_rows(found)
    assert len(found) == 1


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_line_of_text_changes_no_other(at, cuts):
    fields = list(RECORD)
    texts = ["\t".join(cell(RECORD[f] if f != "trans_id" else n) for f in fields) for n in range(4)]
    head, records = lines(header(fields)), lines("\n".join(texts))
    clean = parse(PARSER, [*head, *records])
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    found = parse(PARSER, [*head, *records])
    # A line that now begins like a header line is no record any more.
    if not records[at].data.startswith(b"#"):
        check_others(found, clean, at)


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_record_of_json_changes_no_other(at, cuts):
    records = lines("\n".join(as_json(changed({"trans_id": n})) for n in range(4)))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    found = parse(PARSER, records)
    if not records[at].data.startswith(b"#"):
        check_others(found, clean, at)

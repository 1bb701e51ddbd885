"""DNS-collector's text format: the stated directives tell what a line says."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import CUTS, damaged, parse, rows, word, words, written
from tests.transforms.staging.lookup_rows import NO_TIMES, TIMES, Reader, but
from transforms.redaction import excerpt
from transforms.staging.dns_collector import PARSER
from transforms.staging.dns_text_format import text_fields, text_form

DEFAULT = (
    "timestamp-rfc3339ns identity qr operation rcode queryip queryport family protocol "
    "length-unit qname qtype latency ttl"
)
LINE = (
    "2026-03-10T03:01:59.500613639Z coredns-0 R CLIENT_RESPONSE NOERROR 192.0.2.71 39745 IPv4 "
    "UDP 54b Data.Example.com A 0.000613 60"
)
LOOKUP = {
    "event_at": datetime(2026, 3, 10, 3, 1, 59, 500_613, tzinfo=UTC),
    "client_address": "192.0.2.71",
    "client_port": 39_745,
    "transport": "UDP",
    "query_name": "data.example.com",
    "original_query_name": "data.example.com",
    "query_type": "A",
    "rcode": "NOERROR",
    "latency_seconds": 0.000613,
    "is_response": True,
}
FULL = (
    "operation;timestamp-unixns;queryip;responseip;id;qclass;opcode;qname;rcode;answer-ips;ancount"
)
FULL_LINE = (
    "CLIENT_RESPONSE;1773111719500613639;192.0.2.71;198.51.100.53;17757;IN;0;Data.Example.com;"
    "NOERROR;203.0.113.31,2001:DB8::5;3"
)
FULL_LOOKUP = but(
    LOOKUP,
    {
        "client_port": None,
        "transport": None,
        "query_type": None,
        "latency_seconds": None,
        "resolver_address": "198.51.100.53",
        "dns_message_id": 17_757,
        "answers": [
            {"name": None, "type": "A", "data": "203.0.113.31", "ttl": None},
            {"name": None, "type": "AAAA", "data": "2001:db8::5", "ttl": None},
        ],
    },
)

reader = Reader(PARSER, record_format=DEFAULT)
full = Reader(PARSER, record_format=FULL)


def test_a_line_of_the_default_form_is_read():
    assert reader.lookup(LINE) == LOOKUP
    assert reader.lookup(LINE, node="n1") == LOOKUP | {"node": "n1"}


def test_a_line_with_another_delimiter_and_all_addresses_is_read():
    assert full.lookup(FULL_LINE) == FULL_LOOKUP


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ("192.0.2.71", "2001:db8::7", {"client_address": "2001:db8::7"}),
        ("192.0.2.71", "-", {"client_address": None}),
        ("39745", "-", {"client_port": None}),
        ("UDP", "DOH", {"transport": "DOH"}),
        ("NOERROR", "NXDOMAIN", {"rcode": "NXDOMAIN"}),
        (" A ", " HTTPS ", {"query_type": "HTTPS"}),
        (" A ", " - ", {"query_type": None}),
        ("0.000613", "0.000000", {"latency_seconds": None}),
        ("0.000613", "-0.000613", {"latency_seconds": None}),
        ("coredns-0", '"core dns\\"0"', {}),
        ("coredns-0", "-", {}),
        (" 60", " -", {}),
    ],
)
def test_every_value_of_a_line_is_read(old, new, fields):
    assert old in LINE
    assert reader.lookup(LINE.replace(old, new, 1)) == but(LOOKUP, fields)


def test_a_name_in_quotes_is_read():
    found = reader.lookup(LINE.replace("Data.Example.com", '"a b\\"c.example.com"'))
    assert found["query_name"] == r"a\ b\"c.example.com"


@pytest.mark.parametrize(
    ("answers", "count", "expected"),
    [("-", "0", []), ("-", "2", None), ("-", "-", None), ("", "0", [])],
)
def test_no_address_is_no_answer_only_where_their_count_says_so(answers, count, expected):
    line = FULL_LINE.replace("203.0.113.31,2001:DB8::5;3", f"{answers};{count}")
    assert full.lookup(line) == but(FULL_LOOKUP, {"answers": expected})


def test_a_first_answer_alone_is_not_taken_for_all():
    form = "timestamp-rfc3339ns operation qname rcode answer-ip"
    line = "2026-03-10T03:01:59Z CLIENT_RESPONSE example.com NOERROR 203.0.113.31"
    assert "answers" not in reader.lookup(line, record_format=form)


@pytest.mark.parametrize(
    ("directive", "text"),
    [
        ("timestamp-rfc3339ns", "2026-03-10T03:01:59.500613639Z"),
        ("timestamp", "2026-03-10T03:01:59.500613Z"),
        ("timestamp-unixus", "1773111719500613"),
        ("timestamp-unixns", "1773111719500613639"),
    ],
)
def test_every_time_with_a_zone_is_one(directive, text):
    line = LINE.replace("2026-03-10T03:01:59.500613639Z", text)
    form = DEFAULT.replace("timestamp-rfc3339ns", directive)
    assert reader.lookup(line, record_format=form) == LOOKUP


def test_milliseconds_are_read_and_local_time_is_no_time():
    form = DEFAULT.replace("timestamp-rfc3339ns", "timestamp-unixms")
    line = LINE.replace("2026-03-10T03:01:59.500613639Z", "1773111719500")
    at = datetime(2026, 3, 10, 3, 1, 59, 500_000, tzinfo=UTC)
    assert reader.lookup(line, record_format=form)["event_at"] == at
    assert word(reader.one(line.replace("1773", "x"), record_format=form)) == "no_time"
    form = DEFAULT.replace("timestamp-rfc3339ns", "localtime")
    line = LINE.replace("2026-03-10T03:01:59.500613639Z", "12:00:00")
    assert word(reader.one(line, record_format=form)) == "no_time"


def test_times_are_read_whatever_their_form():
    for text, at in TIMES:
        line = LINE.replace("2026-03-10T03:01:59.500613639Z", text)
        assert reader.lookup(line)["event_at"] == at
    for text in NO_TIMES:
        quoted = f'"{text}"' if " " in text else text
        line = LINE.replace("2026-03-10T03:01:59.500613639Z", quoted)
        assert word(reader.one(line)) == "no_time"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("CLIENT_RESPONSE", "CLIENT_QUERY", "query"),
        ("CLIENT_RESPONSE", "FORWARDER_RESPONSE", "resolver_side"),
    ],
)
def test_what_is_no_look_up_of_a_client_is_ignored(old, new, reason):
    assert reader.one(LINE.replace(old, new)).ignore == reason


def test_an_unanswered_query_is_a_row_without_a_response():
    line = LINE.replace("CLIENT_RESPONSE NOERROR", "CLIENT_QUERY TIMEOUT")
    assert reader.lookup(line) == but(
        LOOKUP, {"rcode": None, "latency_seconds": None, "is_response": False}
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (LINE + " more", "unreadable_line"),
        (LINE.rpartition(" ")[0], "unreadable_line"),
        ("free text", "unreadable_line"),
        (LINE.replace("39745", "x"), "query-port"),
        (LINE.replace("Data.Example.com", "-"), "qname"),
        (LINE.replace("CLIENT_RESPONSE", "-"), "operation"),
        (LINE.replace("NOERROR", "?"), "rcode"),
        (LINE.replace("Data.Example.com", "a" * 70_000), "unreadable_line"),
        ('{"dns":5}', "no_dns"),
    ],
)
def test_a_line_that_cannot_be_kept_is_refused_with_its_reason(line, reason):
    assert word(reader.one(line)) == reason


def test_literal_text_and_directives_of_transforms_are_passed_over():
    form = "{dns:} timestamp-rfc3339ns operation geoip-country qname rcode"
    line = "dns: 2026-03-10T03:01:59Z CLIENT_RESPONSE DE example.com NOERROR"
    assert reader.lookup(line, record_format=form)["query_name"] == "example.com"
    assert word(reader.one(line[1:], record_format=form)) == "unreadable_line"


def test_the_state_of_extra_is_no_text_form():
    assert text_form("{/kubernetes/client-namespace}/{/kubernetes/client-pod-name}") is None
    assert text_form("qname only") is None
    assert text_form("operation qname {") is None
    assert text_form("") is None
    form = text_form("operation,qname,answer-ips")
    assert form is not None
    assert text_fields('CLIENT_RESPONSE,x,"203.0.113.1,203.0.113.2"', form) == {
        "dnstap.operation": "CLIENT_RESPONSE",
        "dns.qname": "x",
        "dns.resource-records.an.0.rdatatype": "A",
        "dns.resource-records.an.0.rdata": "203.0.113.1",
        "dns.resource-records.an.1.rdatatype": "A",
        "dns.resource-records.an.1.rdata": "203.0.113.2",
    }


def test_json_lines_are_read_beside_the_stated_form():
    found = parse(PARSER, LINE + '\n{"dns":{}}\n' + LINE, record_format=DEFAULT)
    assert words(found) == {"accepted": 2, "operation": 1}


def test_a_secret_in_a_line_is_not_stored():
    line = LINE.replace("Data.Example.com", "x.akiaiosfodnn7example.example.com")
    line = line.replace("coredns-0", "token=FAKE-id-EXAMPLE")
    broken = reader.one("token=FAKE-broken-EXAMPLE")
    kept = written([reader.one(line), broken])
    assert "FAKE" not in kept
    assert "akiaios" not in kept.lower()
    assert "FAKE" not in excerpt(broken.raw)


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_line_changes_no_other(at, cuts):
    texts = [LINE.replace("39745", str(n)) for n in range(4)]
    texts[at] = damaged(texts[at].encode(), cuts).decode("utf-8", "replace").replace("\r", "")
    found = parse(PARSER, "\n".join(texts), record_format=DEFAULT)
    ports = [row["client_port"] for row in rows(found, "dns_lookups")]
    assert {0, 1, 2, 3} - {at} <= set(ports)


@given(st.text("qname operation{}-;,\t\\*(", max_size=40), st.text(max_size=40))
def test_any_setting_and_line_are_read_or_refused(stated, line):
    form = f"operation qname {stated}"
    for parsed in parse(PARSER, line.replace("\n", " "), record_format=form):
        assert parsed.reject is not None

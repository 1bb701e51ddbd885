"""CoreDNS lines: every form, every reason to leave one out, no wrong value from a broken one."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    check_each,
    check_rows,
    lines,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from transforms.redaction import excerpt
from transforms.staging.coredns import PARSER

NAMES = ("query_name", "original_query_name")
STAMP = "2026-03-10T08:00:06.500000999Z"
AT = datetime(2026, 3, 10, 8, 0, 6, 500000, tzinfo=UTC)
COMMON = (
    '[INFO] 192.0.2.31:45576 - 12448 "A IN www.example.com. udp 63 false 1232" '
    "NOERROR qr,rd,ra 94 0.001293327s"
)
LOOKUP = {
    "event_at": AT,
    "node": "n1",
    "client_address": "192.0.2.31",
    "client_port": 45_576,
    "transport": "UDP",
    "query_name": "www.example.com",
    "original_query_name": "www.example.com",
    "query_type": "A",
    "rcode": "NOERROR",
    "latency_seconds": 0.001293327,
    "is_response": True,
    "dns_message_id": 12_448,
}


def one(text, **changes):
    """The record of a single line."""
    [parsed] = parse(PARSER, text, **({"node": "n1"} | changes))
    check_each([parsed])
    check_rows([parsed])
    return parsed


def lookup(text, **changes):
    """The row of a single line, without null values and id."""
    parsed = one(text, **changes)
    assert parsed.reject is None, parsed.reject
    [row] = rows([parsed], "dns_lookups")
    return stated(row, "record_id")


def cri(text, stamp=STAMP):
    return f"{stamp} stdout F {text}"


def changed(**fields):
    return {k: v for k, v in (LOOKUP | fields).items() if v is not None}


@pytest.mark.parametrize(
    "line",
    [
        cri(COMMON),
        cri(COMMON + ' "0"'),
        cri(COMMON.removeprefix("[INFO] ")),
        cri(COMMON + "  "),
        f"{STAMP} {COMMON}",
        f"[pod/coredns-abc/coredns] {STAMP} {COMMON}",
        f"2026-03-10T09:00:06.500000999+01:00 {COMMON}",
        f"{STAMP} 2026-03-10T08:00:06.5Z {COMMON}",
        f"{STAMP} stdout F 2017/12/27 19:25:44 {COMMON}",
        json.dumps({"log": COMMON + "\n", "stream": "stdout", "time": STAMP}),
        json.dumps({"message": COMMON, "@timestamp": STAMP, "_p": "F"}),
    ],
)
def test_a_line_reads_the_same_in_every_wrapper(line):
    assert lookup(line) == changed(event_at=AT)


def test_the_wrappers_time_goes_before_that_of_the_line():
    line = cri("2026-03-10T07:00:00.262Z " + COMMON)
    assert lookup(line)["event_at"] == AT
    embedded = f"2026-03-10T07:00:00.262Z {COMMON}"
    assert lookup(embedded)["event_at"] == datetime(2026, 3, 10, 7, 0, 0, 262000, tzinfo=UTC)


def test_the_node_is_the_wrappers_or_that_of_the_path():
    line = json.dumps({"log": COMMON, "time": STAMP, "kubernetes": {"host": "n2"}})
    assert lookup(line)["node"] == "n2"
    assert lookup(line.replace("host", "other"))["node"] == "n1"
    assert "node" not in lookup(cri(COMMON), node=None)


def test_every_optional_value_stays_null_where_the_line_has_none():
    [row] = rows([one(cri(COMMON))], "dns_lookups")
    assert {k for k, v in row.items() if v is None} == {
        "client_namespace", "client_pod_name", "client_pod_uid", "resolver_address", "answers",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ("192.0.2.31:", "[2001:DB8::1]:", {"client_address": "2001:db8::1"}),
        ("192.0.2.31:", "[fe80::1%eth0]:", {"client_address": "fe80::1"}),
        ("192.0.2.31:", "2001:db8::1:", {"client_address": "2001:db8::1"}),
        ("192.0.2.31:", "[::ffff:192.0.2.7]:", {"client_address": "192.0.2.7"}),
        ("192.0.2.31:", "10.233.68.0:", {"client_address": "10.233.68.0"}),
        (" - 12448 ", " - 0 ", {"dns_message_id": 0}),
        (":45576 ", ":65535 ", {"client_port": 65_535}),
        ('"A IN', '"TYPE65 IN', {"query_type": "HTTPS"}),
        ('"A IN', '"TYPE65534 IN', {"query_type": "TYPE65534"}),
        ('"A IN', '"AAAA IN', {"query_type": "AAAA"}),
        (
            '"A IN www.example.com.',
            '"  .',
            {"query_type": None, "query_name": ".", "original_query_name": "."},
        ),
        ("udp 63", "tcp 63", {"transport": "TCP"}),
        ("qr,rd,ra 94", " 94", {}),
        ("qr,rd,ra 94", "qr,aa,tc,rd,ra,z,ad,cd 94", {}),
        ("NOERROR", "NXDOMAIN", {"rcode": "NXDOMAIN"}),
        ("NOERROR", "23", {"rcode": "BADCOOKIE"}),
        ("NOERROR", "3841", {"rcode": "3841"}),
        ("0.001293327s", "2.0s", {"latency_seconds": 2.0}),
        ("0.001293327s", "3s", {"latency_seconds": 3.0}),
        ("0.001293327s", "150.5ms", {"latency_seconds": 0.1505}),
        ("0.001293327s", "-", {"latency_seconds": None}),
        (
            "www.example.com.",
            r"a\.b\032\"x.example.com.",
            dict.fromkeys(NAMES, r"a\.b\032\"x.example.com"),
        ),
        (
            "www.example.com.",
            "_http._tcp.x-1.example.com.",
            dict.fromkeys(NAMES, "_http._tcp.x-1.example.com"),
        ),
        (
            "www.example.com.",
            "www.example.com.cluster.local.",
            {"original_query_name": "www.example.com.cluster.local"},
        ),
        (
            "www.example.com. udp 63 false 1232\" NOERROR",
            "www.example.com.team-a.svc.cluster.local. udp 63 false 1232\" NXDOMAIN",
            {
                "original_query_name": "www.example.com.team-a.svc.cluster.local",
                "rcode": "NXDOMAIN",
            },
        ),
        (
            "www.example.com.",
            "db-0.db.team-a.svc.cluster.local.",
            dict.fromkeys(NAMES, "db-0.db.team-a.svc.cluster.local"),
        ),
    ],
)  # fmt: skip
def test_every_value_of_a_line_is_read(old, new, fields):
    assert old in COMMON
    assert lookup(cri(COMMON.replace(old, new))) == changed(**fields)


@pytest.mark.parametrize(
    "tail",
    [
        "- - 0 6.500000s",  # 1.8.5 to 1.14.4
        "NOERROR - 0 6.500000s",  # up to 1.8.4, a code that nobody sent
        "- - - 6.5s",
    ],
)
def test_a_query_without_a_response_stands_at_the_time_it_came(tail):
    line = cri(COMMON.replace("NOERROR qr,rd,ra 94 0.001293327s", tail))
    assert lookup(line) == changed(
        event_at=AT - timedelta(seconds=6.5), rcode=None, latency_seconds=None, is_response=False
    )


def test_a_response_that_tells_failure_is_a_response():
    line = cri(COMMON.replace("NOERROR qr,rd,ra 94", "SERVFAIL qr,rd 36"))
    assert lookup(line) == changed(rcode="SERVFAIL")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (".:53", "banner"),
        ("cluster.local.:53 on 169.254.20.10", "banner"),
        ("dns://example.org.:1053", "banner"),
        ("CoreDNS-1.11.1", "banner"),
        ("linux/amd64, go1.20.7, ae2bbc2", "banner"),
        ("linux/amd64, go1.24.1, ", "banner"),
        ("maxprocs: Leaving GOMAXPROCS=2: CPU quota undefined", "banner"),
        ("[INFO] plugin/reload: Running configuration SHA512 = 0123abcd", "plugin_reload"),
        ("[ERROR] plugin/errors: 2 example.org. A: read udp: i/o timeout", "plugin_errors"),
        (
            "[WARNING] plugin/errors: 4 errors like '^error.*!$' occurred in last 2s",
            "plugin_errors",
        ),
        ('[WARNING] plugin/kubernetes: starting server with "unsynced" API', "plugin"),
        ("[FATAL] plugin/loop: Loop (127.0.0.1:1 -> :53) detected", "plugin"),
        ("[INFO] SIGTERM: Shutting down servers then terminating", "server"),
        ("[INFO] Reloading complete", "server"),
        ("[WARNING] No files matching import glob pattern: custom/*.override", "server"),
        ("I0310 08:00:00.123456       1 reflector.go:351] Caches populated", "klog"),
        (
            '127.0.0.1:4 - 4 "HINFO IN 8017112298403134586.29463663. udp 57 false 512" - - 0 1s',
            "loop_probe",
        ),
        (COMMON.replace("A IN www.example.com.", "TXT CH version.bind."), "other_class"),
        (COMMON + ' "4"', "other_operation"),
    ],
)
def test_what_coredns_says_besides_look_ups_is_ignored(text, reason):
    assert one(cri(text)).ignore == reason
    assert one(text).ignore == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (COMMON, "no_time"),
        (cri(COMMON, "2026-13-10T08:00:00.000Z"), "unreadable_line"),
        (cri(COMMON[:-1]), "unreadable_line"),
        (cri(COMMON[:60]), "unreadable_line"),
        (cri(COMMON[20:]), "unreadable_line"),
        (cri(COMMON.replace("udp", "ucp")), "unreadable_line"),
        (cri(COMMON.replace("NOERROR", "NOERRAR")), "rcode"),
        (cri(COMMON.replace("NOERROR", "9999")), "rcode"),
        (cri(COMMON.replace('"A IN', '"TYPE65536 IN')), "query_type"),
        (cri(COMMON.replace("45576", "65536")), "port"),
        (cri(COMMON.replace("12448", "65536")), "id"),
        (cri(COMMON.replace("192.0.2.31", "192.0.2.310")), "address"),
        (cri(COMMON.replace("192.0.2.31", "[2001:db8]")), "address"),
        (cri(COMMON.replace("0.001293327s", "86401s")), "duration"),
        (cri(COMMON.replace("www.example.com.", "a" * 1_021 + ".")), "name"),
        (cri(COMMON.replace("www.example.com.", "a" * 9_000 + ".")), "unreadable_line"),
        (cri(COMMON.replace("www", "w\x00w")), "unreadable_line"),
        (cri(COMMON.replace("www", "wéw")), "unreadable_line"),
        (cri('[INFO] 192.0.2.1:1 "said nothing"'), "unreadable_line"),
        (cri("[INFO] something else"), "unreadable_line"),
        (cri("free text"), "unreadable_line"),
        (cri("'; DROP TABLE dns_lookups; --"), "unreadable_line"),
        ('{"time":"2026-03-10T08:00:00Z","level":"INFO","msg":"query"}', "no_text"),
        ('{"log":"[INFO] 192.0', "invalid_json"),
        (f"{STAMP} stdout P [INFO] 192.0.2.31:45576 - 1", "unfinished_line"),
    ],
)
def test_a_line_that_cannot_be_kept_is_refused_with_its_reason(text, reason):
    parsed = one(text)
    assert word(parsed) == reason
    assert parsed.reject.startswith(f"{reason}: expected ")


def test_no_cut_of_a_line_gives_other_values():
    whole = lookup(cri(COMMON))
    for length in range(1, len(cri(COMMON))):
        parsed = one(cri(COMMON)[:length])
        assert not parsed.rows, parsed
    combined = cri(COMMON + ' "0"')
    for length in range(1, len(combined)):
        found = one(combined[:length])
        assert not found.rows or stated(found.rows[0][1], "record_id") == whole


def test_a_line_in_pieces_is_one_look_up():
    text = f"{STAMP} stdout P {COMMON[:50]}\n{STAMP} stdout F {COMMON[50:]}"
    parsed = parse(PARSER, text, node="n1")
    check_each(parsed)
    assert words(parsed) == {"partial": 1, "accepted": 1}
    assert stated(parsed[1].rows[0][1], "record_id") == LOOKUP


def test_the_id_of_a_record_is_its_text_time_and_node():
    def record_id(text, **changes):
        return rows([one(text, **changes)], "dns_lookups")[0]["record_id"]

    assert record_id(cri(COMMON)) == record_id(f"{STAMP} stderr F {COMMON}")
    assert record_id(cri(COMMON)) != record_id(cri(COMMON, "2026-03-10T08:00:06.500000998Z"))
    assert record_id(cri(COMMON)) != record_id(cri(COMMON), node="n2")
    assert record_id(cri(COMMON)) != record_id(cri(COMMON.replace("12448", "12449")))


CUSTOM = (
    "{remote}:{port} {type} {class} {name} {/kubernetes/client-namespace} "
    "{/kubernetes/client-pod-name}"
)


def test_a_custom_form_is_read_by_the_setting():
    line = cri("[INFO] 192.0.2.31:45576 A IN www.example.com. ml train-0")
    assert word(one(line)) == "unreadable_line"
    assert lookup(line, record_format=CUSTOM) == {
        "event_at": AT,
        "node": "n1",
        "client_address": "192.0.2.31",
        "client_port": 45_576,
        "client_namespace": "ml",
        "client_pod_name": "train-0",
        "query_name": "www.example.com",
        "original_query_name": "www.example.com",
        "query_type": "A",
        "is_response": False,
    }


def test_an_unknown_pod_in_a_custom_form_is_null():
    found = lookup(cri("[INFO] 192.0.2.31:45576 A IN www.example.com. - - "), record_format=CUSTOM)
    assert "client_namespace" not in found
    assert "client_pod_name" not in found


def test_every_placeholder_of_a_custom_form_is_read():
    form = (
        "{remote} {port} {local} {proto} {type} {class} {name} {size} {rcode} {rsize} {duration} "
        "{>rflags} {>bufsize} {>do} {>id} {>opcode} {/forward/upstream} {common} {name} [x]*"
    )
    line = (
        "[2001:db8::1] 5353 198.51.100.53 tcp TXT IN x.example.com. 40 NXDOMAIN 90 0.5s "
        "qr,rd 1232 true 7 0 203.0.113.1:53 {common} x.example.com. [x]*"
    )
    assert lookup(cri(line), record_format=form) == {
        "event_at": AT,
        "node": "n1",
        "client_address": "2001:db8::1",
        "client_port": 5353,
        "resolver_address": "198.51.100.53",
        "transport": "TCP",
        "query_name": "x.example.com",
        "original_query_name": "x.example.com",
        "query_type": "TXT",
        "rcode": "NXDOMAIN",
        "latency_seconds": 0.5,
        "is_response": True,
        "dns_message_id": 7,
    }


@pytest.mark.parametrize("form", ["common", "combined", "{common}", " {combined} ", CUSTOM])
def test_the_named_forms_are_read_under_every_setting(form):
    assert lookup(cri(COMMON), record_format=form) == LOOKUP
    assert lookup(cri(COMMON + ' "0"'), record_format=form) == LOOKUP


OWN = {
    "time": STAMP,
    "level": "INFO",
    "msg": COMMON.removeprefix("[INFO] "),
    "plugin": "log",
    "client_ip": "192.0.2.31",
    "client_port": 45_576,
    "qname": "www.example.com.",
    "qtype": "A",
    "qclass": "IN",
    "rcode": "NOERROR",
    "duration_seconds": 0.001293327,
}


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(OWN),
        json.dumps(OWN | {"plugin": ...}, default=lambda _: None),
        cri(json.dumps(OWN | {"time": "2026-03-10T07:00:00Z"})),
        json.dumps({"log": json.dumps(OWN) + "\n", "stream": "stdout", "time": STAMP}),
    ],
)
def test_coredns_own_json_holds_the_line_of_the_format(line):
    assert lookup(line) == LOOKUP


@pytest.mark.parametrize(
    "kubernetes", [{"host": "n2"}, {"pod_node_name": "n2"}, {"node": {"name": "n2"}}]
)
def test_the_node_stands_where_a_shipper_that_took_json_apart_puts_it(kubernetes):
    assert lookup(json.dumps(OWN | {"kubernetes": kubernetes})) == changed(node="n2")
    decoded = json.loads(JSON_TEXT) | {"time": STAMP, "kubernetes": kubernetes}
    assert lookup(json.dumps(decoded), record_format=JSON_FORM)["node"] == "n2"
    assert lookup(json.dumps(OWN | {"kubernetes": {"host": 5, "node": []}})) == LOOKUP


def test_coredns_own_json_is_read_by_its_fields_where_the_line_has_another_form():
    line = json.dumps(OWN | {"msg": "asked www"})
    without = {"transport": None, "dns_message_id": None}
    assert lookup(line) == changed(**without)
    assert lookup(json.dumps(OWN | {"msg": "asked www", "rcode": None})) == changed(
        **without,
        event_at=AT - timedelta(seconds=0.001293327),
        rcode=None,
        latency_seconds=None,
        is_response=False,
    )
    stated = CUSTOM.replace("{remote}:{port}", "from {remote}")
    line = json.dumps(OWN | {"msg": "from 192.0.2.9 AAAA IN x.example.com. ml train-0"})
    assert lookup(line, record_format=stated)["client_pod_name"] == "train-0"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"level": "ERROR", "msg": "2 example.com. A: read udp", "plugin": "errors"},
         "plugin_errors"),
        ({"level": "INFO", "msg": "Running configuration", "plugin": "reload"}, "plugin_reload"),
        ({"level": "WARN", "msg": "starting", "plugin": "kubernetes"}, "plugin"),
        ({"level": "INFO", "msg": "SIGTERM: Shutting down servers then terminating"}, "server"),
        ({"level": "INFO", "msg": "CoreDNS-1.15.0"}, "banner"),
        (OWN | {"level": "ERROR", "msg": "2 x. A: timeout", "plugin": "errors"}, "plugin_errors"),
        ({"level": "INFO", "msg": ".:53"}, "banner"),
    ],
)  # fmt: skip
def test_other_lines_of_coredns_own_json_are_ignored(value, reason):
    line = json.dumps({"time": STAMP} | value)
    assert one(line).ignore == reason
    assert one(cri(line)).ignore == reason


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (OWN | {"time": None}, "no_time"),
        (OWN | {"msg": "", "client_ip": "somewhere"}, "remote"),
        (OWN | {"msg": "", "qname": "a b"}, "name"),
        (OWN | {"msg": "", "rcode": "lost"}, "rcode"),
        (OWN | {"msg": "", "duration_seconds": -0.5}, "duration"),
        (OWN | {"msg": "", "duration_seconds": 1e300}, "duration"),
        (OWN | {"msg": "", "client_port": 65_536}, "port"),
        ({"level": "INFO", "msg": "something else", "time": STAMP}, "no_text"),
        ({"qname": "x.", "qtype": "A", "time": STAMP}, "no_text"),
    ],
)
def test_a_json_line_that_cannot_be_kept_is_refused_with_its_reason(value, reason):
    assert word(one(json.dumps(value))) == reason


JSON_FORM = (
    '{"client":"{remote}:{port}","q":{"name":"{name}","type":"{type} {class}"},"bytes":{size},'
    '"code":"{rcode}","flags":"{>rflags}","took":"{duration}",'
    '"upstream":"{/forward/upstream}","ns":"{/kubernetes/client-namespace}","kind":"dns"}'
)
JSON_TEXT = (
    '{"client":"192.0.2.31:45576","q":{"name":"www.example.com.","type":"A IN"},"bytes":63,'
    '"code":"NOERROR","flags":"qr,rd,ra","took":"0.001293327s",'
    '"upstream":"198.51.100.53:53","ns":"ml","kind":"dns"}'
)
JSON_LOOKUP = changed(transport=None, dns_message_id=None, client_namespace="ml")


def test_a_form_that_is_json_is_read_as_text_and_decoded():
    assert lookup(cri(f"[INFO] {JSON_TEXT}"), record_format=JSON_FORM) == JSON_LOOKUP
    assert lookup(f"{STAMP} [INFO] {JSON_TEXT}", record_format=JSON_FORM) == JSON_LOOKUP
    decoded = dict(reversed(json.loads(JSON_TEXT).items())) | {"time": STAMP}
    assert lookup(json.dumps(decoded), record_format=JSON_FORM) == JSON_LOOKUP
    assert lookup(cri(json.dumps(decoded)), record_format=JSON_FORM) == JSON_LOOKUP
    shipped = json.dumps({"log": f"[INFO] {JSON_TEXT}\n", "time": STAMP, "stream": "stdout"})
    assert lookup(shipped, record_format=JSON_FORM) == JSON_LOOKUP


def test_an_escaped_name_in_a_form_that_is_json_is_kept():
    text = JSON_TEXT.replace("www.example.com.", r"a\032b\".example.com.")
    found = lookup(cri(f"[INFO] {text}"), record_format=JSON_FORM)
    assert found["query_name"] == r"a\032b\".example.com"


def test_json_of_another_form_than_the_stated_one_is_refused():
    decoded = json.loads(JSON_TEXT)
    for key in ("client", "q", "bytes", "code", "flags", "took", "upstream", "ns"):
        other = {k: v for k, v in decoded.items() if k != key} | {"time": STAMP}
        assert word(one(json.dumps(other), record_format=JSON_FORM)) == "no_text"
        assert word(one(cri(json.dumps(other)), record_format=JSON_FORM)) == "unreadable_line"
        other[key] = {"deep": [1]}
        assert word(one(cri(json.dumps(other)), record_format=JSON_FORM)) == "unreadable_line"


def test_json_whose_keys_are_named_like_the_placeholders_needs_no_setting():
    value = {
        "remote": "192.0.2.31", "port": "45576", "type": "A", "class": "IN",
        "name": "www.example.com.", "proto": "udp", "rcode": "NOERROR", ">rflags": "qr,rd",
        "duration": "0.001293327s", ">id": "12448", "size": 63,
    }  # fmt: skip
    assert lookup(cri(f"[INFO] {json.dumps(value)}")) == LOOKUP
    assert lookup(json.dumps(value | {"@timestamp": STAMP})) == LOOKUP


def test_the_forms_of_the_first_versions_hold_a_time():
    old = COMMON.replace("- 12448", "- [10/Mar/2026:09:00:06 +0100] 12448")
    for line in (old, old + ' "0"', f"2026/03/10 08:00:06 {old}"):
        assert lookup(line) == changed(event_at=AT.replace(microsecond=0))
    assert lookup(cri(old)) == LOOKUP
    assert word(one(old.replace("/Mar/", "/Foo/"))) == "no_time"
    assert word(one(old.replace("10/Mar", "40/Mar"))) == "no_time"


@pytest.mark.parametrize(
    ("stated", "seconds"),
    [
        ("1m2.5s", 62.5), ("1h0m0.25s", 3600.25), ("12.5\u03bcs", 0.0000125),
        ("12.5\u00b5s", 0.0000125), ("15us", 0.000015), ("15ms", 0.015), ("7ns", 7e-9),
        ("0s", 0.0), ("86400s", 86_400.0),
    ],
)  # fmt: skip
def test_every_spelling_of_a_duration_is_read(stated, seconds):
    assert lookup(cri(COMMON.replace("0.001293327s", stated)))["latency_seconds"] == seconds


@pytest.mark.parametrize("stated", ["-0.5s", "-1ns", "86400.001s", "24h0m1s", "1.2.3s", "5m"])
def test_a_duration_that_is_none_is_refused(stated):
    parsed = one(cri(COMMON.replace("0.001293327s", stated)))
    assert word(parsed) in {"duration", "unreadable_line"}
    assert not parsed.rows


def test_a_negative_duration_is_told_as_one():
    parsed = one(cri(COMMON.replace("0.001293327s", "-0.5s")))
    assert parsed.reject == "duration: expected 0 to 86400 seconds, got text of 5 characters"


@pytest.mark.parametrize("name", ["a%!s(MISSING)b.example.com.", "100%!(noverb).example.com."])
def test_a_name_that_a_format_verb_broke_is_refused(name):
    parsed = one(cri(COMMON.replace("www.example.com.", name)))
    assert parsed.reject.startswith("name: expected a name, not a broken format verb")
    assert lookup(cri(COMMON.replace("www", "50%")))["query_name"] == "50%.example.com"


@pytest.mark.parametrize(
    "form",
    [
        '{remote}:{port} > "{name}" [{type}/{class}] ({rcode}) flags={>rflags};t={duration}',
        '{remote}:{port} > "{name}" [{type}/{class}] ({rcode}) flags={>RFLAGS};t={duration}',
    ],
)
def test_text_around_placeholders_is_literal(form):
    line = '192.0.2.31:45576 > "www.example.com." [A/IN] (NOERROR) flags=qr,rd;t=0.001293327s'
    expected = changed(transport=None, dns_message_id=None)
    assert lookup(cri(line), record_format=form) == expected
    assert word(one(cri(line.replace(">", "<")), record_format=form)) == "unreadable_line"


def test_metadata_labels_may_be_quoted_and_empty():
    form = '{remote} {name} "{/kubernetes/client-pod-name}" "{/forward/upstream}" {/log/class}'
    line = '192.0.2.31 www.example.com. "train-0" "198.51.100.53:53" success'
    assert lookup(cri(line), record_format=form)["client_pod_name"] == "train-0"
    line = '192.0.2.31 www.example.com. "" "" -'
    assert "client_pod_name" not in lookup(cri(line), record_format=form)


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("2016-12-31T23:59:60.5Z", datetime(2016, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("2026-03-10T08:00:06.123Z", datetime(2026, 3, 10, 8, 0, 6, 123_000, UTC)),
        ("2026-03-10T08:00:06.123456Z", datetime(2026, 3, 10, 8, 0, 6, 123_456, UTC)),
        ("2026-03-10T13:45:06.123456789+05:45", datetime(2026, 3, 10, 8, 0, 6, 123_456, UTC)),
        ("2026-03-09T22:30:06-09:30", datetime(2026, 3, 10, 8, 0, 6, tzinfo=UTC)),
    ],
)
def test_times_of_all_precisions_zones_and_years_are_read(stamp, at):
    for line in (f"{stamp} {COMMON}", json.dumps(OWN | {"time": stamp})):
        assert lookup(line)["event_at"] == at


def test_a_time_that_is_none_is_no_time():
    for stamp in ("9999-12-31T23:59:59-01:00", "2026-02-30T00:00:00Z", "2026-03-10T24:00:00Z"):
        assert word(one(f"{stamp} {COMMON}")) == "no_time"
    first = f"0001-01-01T00:00:00Z {COMMON}".replace("NOERROR qr,rd,ra 94 0.001293327s", "- - 0 6s")
    # A query before the first year stands at the time of its line.
    assert lookup(first)["event_at"] == datetime(1, 1, 1, tzinfo=UTC)


def test_a_stated_namespace_tells_the_search_suffix():
    line = cri("[INFO] 192.0.2.31:1 A IN a.b.example.co.uk.uk.svc.cluster.local. uk p")
    assert lookup(line, record_format=CUSTOM)["query_name"] == "a.b.example.co.uk"


def test_a_code_without_flags_needs_bytes_to_be_a_response():
    form = "{remote} {name} {rcode} {rsize}"
    assert lookup(cri("192.0.2.1 x. NOERROR 40"), record_format=form)["is_response"] is True
    assert lookup(cri("192.0.2.1 x. NOERROR 0"), record_format=form)["is_response"] is False
    form = "{remote} {name} {rcode}"
    assert lookup(cri("192.0.2.1 x. NOERROR"), record_format=form)["is_response"] is True
    assert lookup(cri("192.0.2.1 x. -"), record_format=form)["is_response"] is False


def test_a_setting_without_a_name_refuses_every_record():
    parsed = parse(PARSER, cri(COMMON) + "\n" + cri(".:53"), record_format="{remote} {type}")
    assert words(parsed) == {"record_format": 2}


def test_a_secret_in_a_name_or_a_broken_line_is_not_stored():
    line = cri(COMMON.replace("www.example.com.", "akiaiosfodnn7example.www.example.com."))
    assert lookup(line)["original_query_name"] == "***.www.example.com"
    broken = one(cri("[INFO] token=FAKE-secret-EXAMPLE"))
    assert "FAKE" not in written([broken])
    assert "FAKE" not in excerpt(broken.raw)


@pytest.mark.samples
def test_the_sample_of_common_and_combined_lines_is_read(samples):
    # Seven of nine lines have no time; the other two begin with one.
    parsed = parse_file(PARSER, samples / "dns" / "coredns_common_combined.elastic.log")
    check_each(parsed)
    check_rows(parsed)
    assert words(parsed) == {"no_time": 7, "accepted": 2}
    first, second = (stated(row, "record_id") for row in rows(parsed, "dns_lookups"))
    assert first == {
        "event_at": datetime(2019, 3, 6, 8, 55, 28, 903000, tzinfo=UTC),
        "client_address": "172.17.0.4",
        "client_port": 36_413,
        "transport": "UDP",
        "query_name": "httpbin.org",
        "original_query_name": "httpbin.org.cluster.local",
        "query_type": "A",
        "rcode": "NXDOMAIN",
        "latency_seconds": 0.000102078,
        "is_response": True,
        "dns_message_id": 21_583,
    }
    assert second["event_at"] == datetime(2019, 3, 19, 5, 13, 36, 289000, tzinfo=UTC)
    assert second["client_address"] == "::1"
    assert second["query_name"] == "www.yahoo.com"


@pytest.mark.samples
def test_the_sample_of_wrapped_lines_is_read_whole(samples):
    text = (samples / "dns" / "coredns_common_combined.elastic.log").read_text()
    wrapped = "\n".join(cri(line) for line in text.splitlines())
    found = rows(parse(PARSER, wrapped), "dns_lookups")
    assert [row["query_name"] for row in found] == [
        "host.example.com", "abc.xyz", "asdf.coma", "abc-xyz.com", "vpn.example.com",
        "google.com", "81.2.69.195", "httpbin.org", "www.yahoo.com",
    ]  # fmt: skip
    assert [row["query_type"] for row in found] == [
        "A", "A", "A", "MX", "CNAME", "A", "PTR", "A", "A",
    ]  # fmt: skip


@pytest.mark.samples
def test_the_sample_of_error_lines_is_ignored(samples):
    parsed = parse_file(PARSER, samples / "dns" / "coredns_errors_plugin.elastic.log")
    check_each(parsed)
    assert words(parsed) == {"plugin_errors": 8}


@pytest.mark.samples
def test_the_sample_of_unanswered_and_custom_lines_is_read(samples):
    # Lines 1, 2, 4 and 5 have no time, 3 is of the errors plugin, 6 and 7 have a custom form.
    path = samples / "dns" / "coredns_noresponse_and_custom.issues.log"
    parsed = parse_file(PARSER, path)
    check_each(parsed)
    assert [word(record) for record in parsed] == [
        "no_time", "no_time", "plugin_errors", "no_time", "no_time", "unreadable_line",
        "unreadable_line", "accepted", "accepted",
    ]  # fmt: skip
    first, second = rows(parsed, "dns_lookups")
    service = "peer1-org2.fabric-net.svc.cluster.local"
    assert first["query_name"] == second["query_name"] == service
    assert first["original_query_name"] == f"{service}.fabric-net.svc.cluster.local"
    assert (first["rcode"], second["rcode"]) == ("NXDOMAIN", "NOERROR")
    stated_form = parse_file(PARSER, path, record_format=CUSTOM)
    assert words(stated_form) == {"no_time": 6, "plugin_errors": 1, "accepted": 2}


@pytest.mark.samples
def test_the_unanswered_lines_of_the_sample_keep_their_time_once_wrapped(samples):
    path = samples / "dns" / "coredns_noresponse_and_custom.issues.log"
    line = path.read_text().splitlines()[0]
    found = lookup(cri(line))
    assert found["event_at"] == AT - timedelta(microseconds=6_002_436)
    assert found["query_name"] == "cognito-idp.us-east-1.amazonaws.com"
    assert found["is_response"] is False
    assert "rcode" not in found


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (cri(COMMON) + "\n", 3),
        (f"{cri('.:53')}\n{cri(COMMON)}\n{cri(COMMON)[:50]}", 3),
        (COMMON, 3),
        ("[ERROR] plugin/errors: 2 example.org. A: timeout\n", 2),
        (cri("CoreDNS-1.11.1") + "\n", 2),
        ("[INFO] 192.0.2.31:45576 A IN www.example.com. - -\n", 1),
        (json.dumps(OWN) + "\n", 3),
        (cri(json.dumps(OWN | {"msg": "asked"})) + "\n", 3),
        ('{"level":"INFO","msg":"Running configuration","plugin":"reload"}\n', 2),
        ('{"level":"INFO","msg":"Starting server","time":"2026-03-10T08:00:00Z"}\n', 0),
        ("I0310 08:00:00.123456       1 reflector.go:351] Caches populated\n", 0),
        ("free text\n", 0),
        ('{"flow":{}}\n', 0),
        ("", 0),
        ("\n\n", 0),
        (cri(COMMON)[:50], 0),
    ],
)
def test_a_file_is_recognised_by_its_lines(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_no_other_sample_is_taken_for_coredns(samples):
    taken = {
        path.name
        for path in samples.rglob("*")
        if path.is_file() and PARSER.recognise(path.read_bytes()[: 64 << 10]).score
    }
    assert taken == {
        "coredns_common_combined.elastic.log",
        "coredns_errors_plugin.elastic.log",
        "coredns_noresponse_and_custom.issues.log",
    }


LINES = [
    cri(COMMON),
    cri(COMMON.replace("NOERROR qr,rd,ra 94", "- - 0") + ""),
    cri("[ERROR] plugin/errors: 2 example.org. A: timeout"),
    json.dumps({"log": COMMON, "time": STAMP}),
    f"{STAMP} {COMMON}",
    COMMON,
    json.dumps(OWN),
    cri(JSON_TEXT),
]


@given(
    st.sampled_from(LINES),
    st.integers(0, 200),
    st.binary(max_size=4).filter(lambda b: b"\n" not in b),
    st.integers(0, 60),
)
def test_a_damaged_line_raises_nothing_and_leaves_its_neighbours_alone(line, place, new, cut):
    data = line.encode()
    damaged = data[:place] + new + data[place + cut :]
    before, after = cri(COMMON.replace("12448", "1")), cri(COMMON.replace("12448", "2"))
    text = b"\n".join([before.encode(), damaged, after.encode()])
    parsed = parse(PARSER, text)
    check_each(parsed)
    check_rows(parsed)
    assert len(parsed) == len(lines(text))
    assert parsed[0].rows == parse(PARSER, before)[0].rows
    if word(parsed[1] if len(parsed) == 3 else parsed[0]) != "partial":
        assert parsed[-1].rows == parse(PARSER, after)[0].rows


@given(
    st.lists(st.binary(max_size=60), max_size=6),
    st.sampled_from([None, "common", CUSTOM, JSON_FORM]),
)
def test_any_bytes_are_accounted_for(data, form):
    records = lines(b"\n".join(data))
    parsed = parse(PARSER, records, record_format=form)
    check_each(parsed)
    assert [record.locator for record in parsed] == [raw.locator for raw in records]


@given(st.text("{}/>remotnapyudcls abx:\\[]()*+", max_size=40), st.text(max_size=40))
def test_any_setting_is_a_form(form, line):
    check_each(parse(PARSER, cri(line.replace("\n", " ")) + "\n" + cri(COMMON), record_format=form))

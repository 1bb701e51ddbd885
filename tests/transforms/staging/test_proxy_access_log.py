"""Proxies' access logs: what each side sent in a request, who tells it, and what cannot be seen."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import CUTS, parse, rows, word, written
from tests.transforms.staging.lookup_rows import ANY_VALUE, but, with_changes
from tests.transforms.staging.volume_rows import VolumeReader
from transforms.redaction import excerpt
from transforms.staging.parser import RawRecord, Wrapper
from transforms.staging.proxy_access_log import PARSER

START = datetime(2026, 3, 10, 3, 1, 59, 500_000, tzinfo=UTC)
END = datetime(2026, 3, 10, 3, 2, 4, 507_000, tzinfo=UTC)
REQUEST_ID = "0f5d3a52-0000-4000-8000-000000000001"
ISTIO = {
    "start_time": "2026-03-10T03:01:59.500Z",
    "method": "PUT",
    "path": "/bucket/part?X-Amz-Signature=FAKE-signature",
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
    "request_id": REQUEST_ID,
    "authority": "Data.Example.com:443",
    "upstream_host": "203.0.113.7:443",
    "upstream_cluster": "outbound|443||data.example.com",
    "upstream_local_address": "192.0.2.71:51234",
    "downstream_local_address": "198.51.100.10:443",
    "downstream_remote_address": "192.0.2.71:39745",
    "requested_server_name": None,
    "route_name": "allow_any",
}
COMMON = {
    "start_at": START, "end_at": END, "flow_id": REQUEST_ID, "transport": "TCP",
    "http_method": "PUT", "http_host": "data.example.com", "http_status": 200, "scaled": "raw",
    "temporality": "per_connection_total", "byte_layer": "body",
}  # fmt: skip
THERE = COMMON | {
    "source_address": "192.0.2.71", "source_port": 39_745,
    "destination_address": "203.0.113.7", "destination_port": 443,
    "destination_original_address": "198.51.100.10", "destination_original_port": 443,
    "bytes": 1_048_576, "reporter": "SRC",
}  # fmt: skip
BACK = COMMON | {
    "source_address": "203.0.113.7", "source_port": 443,
    "destination_address": "192.0.2.71", "destination_port": 39_745,
    "bytes": 41, "reporter": "DEST",
}  # fmt: skip
NO_ORIGINAL = {"destination_original_address": None, "destination_original_port": None}

ISTIO_LINE = (
    f'[2026-03-10T03:01:59.500Z] "PUT /bucket/part?sig=FAKE HTTP/1.1" 200 - via_upstream - "-" '
    f'1048576 41 5007 4990 "-" "client/1.0 \\"x\\"" "{REQUEST_ID}" "data.example.com" '
    '"203.0.113.7:443" outbound|443||data.example.com 192.0.2.71:51234 198.51.100.10:443 '
    "192.0.2.71:39745 - allow_any"
)
ENVOY_LINE = (
    f'[2026-03-10T03:01:59.500Z] "PUT /bucket/part HTTP/1.1" 200 - 1048576 41 5007 4990 "-" '
    f'"client/1.0" "{REQUEST_ID}" "data.example.com" "203.0.113.7:443"'
)

reader = VolumeReader(PARSER)
istio = with_changes(ISTIO)


def test_every_column_of_a_request_is_read_from_json_and_from_text():
    assert reader.volumes(ISTIO) == [THERE, BACK]
    assert reader.volumes(ISTIO_LINE) == [THERE, BACK]


def test_envoys_default_line_says_neither_client_nor_side():
    nothing = {
        "source_address": None, "source_port": None, "reporter": None, **NO_ORIGINAL,
    }  # fmt: skip
    there, back = reader.volumes(ENVOY_LINE)
    assert there == but(THERE, nothing)
    assert back == but(
        BACK, {"destination_address": None, "destination_port": None, "reporter": None}
    )


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"bytes_received": "1048576", "bytes_sent": "41", "duration": "5007"}, {}),
        ({"response_flags": "UF,URX"}, {"response_flags": "UF,URX"}),
        ({"response_flags": "no flag"}, {}),
        ({"response_code": 0}, {"http_status": None}),
        ({"duration": ...}, {"end_at": START}),
        ({"protocol": "HTTP/3"}, {"transport": "UDP"}),
        ({"request_id": None}, {"flow_id": None}),
        ({"authority": None, "requested_server_name": "Other.example.com"},
         {"http_host": "other.example.com"}),
        ({"authority": None}, {"http_host": None}),
        ({"method": None, "response_code": 0, "authority": None,
          "requested_server_name": "data.example.com"},
         {"http_method": None, "http_status": None, "byte_layer": "payload"}),
        ({"access_log_type": "DownstreamEnd"}, {}),
        ({"access_log_type": "TcpConnectionEnd"}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.volumes(istio(changes)) == [but(THERE, fields), but(BACK, fields)]


def test_addresses_are_read_where_they_are_some():
    there, _ = reader.volumes(
        istio(
            {
                "downstream_remote_address": "[2001:DB8::1]:39745",
                "upstream_host": "envoy://internal/x", "downstream_local_address": None,
            }
        )
    )  # fmt: skip
    none = {"destination_address": None, "destination_port": None, **NO_ORIGINAL}
    assert there == but(THERE, {"source_address": "2001:db8::1"} | none)
    same, _ = reader.volumes(istio({"downstream_local_address": "203.0.113.7:443"}))
    assert same == but(THERE, NO_ORIGINAL)


@pytest.mark.parametrize(
    ("cluster", "reporters"),
    [
        ("outbound|443||data.example.com", ("SRC", "DEST")),
        ("inbound|8080||", ("DEST", "SRC")),
        ("PassthroughCluster", (None, None)),
        (None, (None, None)),
    ],
)
def test_the_cluster_says_whose_sidecar_speaks(cluster, reporters):
    found = reader.volumes(istio({"upstream_cluster": cluster}))
    assert tuple(row.get("reporter") for row in found) == reporters


def test_the_pod_that_wrote_the_line_is_the_sidecars():
    wrapper = Wrapper(namespace="ml", pod_name="train-0", pod_uid=None, node="n1")
    pod = {"namespace": "ml", "pod_name": "train-0", "node": "n1"}

    def named(text: str) -> list[dict[str, Any]]:
        raw = RawRecord("line 1", 0, text.encode(), wrapper)
        found = rows(parse(PARSER, [raw]), "volume_records")
        return [
            {key: row[f"{end}_{key}"] for key in pod}
            for row in found
            for end in ("source", "destination")
            if row.get(f"{end}_pod_name")
        ]

    assert named(json.dumps(ISTIO)) == [pod, pod]
    assert named(ISTIO_LINE) == [pod, pod]
    assert named(ENVOY_LINE) == []
    there, back = rows(
        parse(PARSER, [RawRecord("line 1", 0, ISTIO_LINE.encode(), wrapper)]), "volume_records"
    )
    assert (there["source_pod_name"], back["destination_pod_name"]) == ("train-0", "train-0")
    [first, _] = rows(
        parse(PARSER, [RawRecord("l", 0, ISTIO_LINE.replace("outbound|", "inbound|").encode(),
                                 wrapper)]),
        "volume_records",
    )  # fmt: skip
    assert (first.get("source_pod_name"), first["destination_pod_name"]) == (None, "train-0")


@pytest.mark.parametrize(
    "kind", ["DownstreamPeriodic", "TcpPeriodic", "DownstreamStart", "TcpUpstreamConnected"]
)
def test_records_before_the_end_are_ignored_where_they_say_so(kind):
    assert reader.one(istio({"access_log_type": kind})).ignore == "intermediate"


def test_a_side_whose_bytes_are_not_stated_has_no_row():
    assert reader.volumes(istio({"bytes_received": ...})) == [BACK]
    assert reader.volumes(istio({"bytes_sent": "-"})) == [THERE]
    assert reader.one(istio({"bytes_received": "-", "bytes_sent": None})).ignore == "no_bytes"


# -- Squid ---------------------------------------------------------------------------------------

NATIVE = (
    "1773111724.507   5007 192.0.2.71 TCP_TUNNEL/200 9400 CONNECT data.example.com:443 - "
    "HIER_DIRECT/203.0.113.7 -"
)
SQUID = {
    "start_at": START, "end_at": END, "source_address": "203.0.113.7", "source_port": 443,
    "destination_address": "192.0.2.71", "transport": "TCP", "bytes": 9_400,
    "http_method": "CONNECT", "http_host": "data.example.com", "http_status": 200,
    "response_flags": "TCP_TUNNEL", "scaled": "raw", "temporality": "per_connection_total",
    "byte_layer": "payload",
}  # fmt: skip
COMBINED = (
    '192.0.2.71 - user [10/Mar/2026:04:01:59 +0100] "GET http://u:FAKE@data.example.com/x?FAKE '
    'HTTP/1.1" 200 9400 "-" "client/1.0" TCP_MISS:HIER_DIRECT'
)
NO_PEER = {"source_address": None, "source_port": None}


def test_squid_tells_only_what_went_to_the_client():
    """An upload through a tunnel is in no field, so there is no row of it, and never a 0."""
    assert reader.volumes(NATIVE) == [SQUID]


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ("HIER_DIRECT/203.0.113.7", "HIER_NONE/-", NO_PEER),
        ("HIER_DIRECT/203.0.113.7", "FIRSTUP_PARENT/198.51.100.3", NO_PEER),
        ("HIER_DIRECT/203.0.113.7", "HIER_DIRECT/data.example.com", {"source_address": None}),
        ("TCP_TUNNEL/200", "TCP_MISS/000", {"http_status": None, "response_flags": "TCP_MISS"}),
        ("TCP_TUNNEL/200", "TCP_DENIED/403",
         {"http_status": 403, "response_flags": "TCP_DENIED", "action": "REJECT",
          "reject_reason": "TCP_DENIED"}),
        ("CONNECT data.example.com:443", "GET http://data.example.com/a/b?c",
         {"http_method": "GET", "source_port": 80}),
        ("CONNECT data.example.com:443", "GET https://Data.example.com:8443/",
         {"http_method": "GET", "source_port": 8443}),
        ("CONNECT data.example.com:443", "NONE error:invalid-request",
         {"http_method": "NONE", "http_host": None, "source_port": None}),
        (" 192.0.2.71 ", " client.example.com ", {"destination_address": None}),
        ("  5007", "     0", {"start_at": END}),
        ("  5007", "    -1", {"start_at": END}),
    ],
)  # fmt: skip
def test_every_form_of_squids_values_is_read(old, new, fields):
    assert old in NATIVE
    assert reader.volume(NATIVE.replace(old, new)) == but(SQUID, fields)


def test_the_common_and_combined_formats_are_instants():
    at = datetime(2026, 3, 10, 3, 1, 59, tzinfo=UTC)
    expected = but(
        SQUID,
        {
            "start_at": at, "end_at": at, "source_address": None, "source_port": 80,
            "http_method": "GET", "response_flags": "TCP_MISS",
        },
    )  # fmt: skip
    assert reader.volume(COMBINED) == expected
    assert reader.volume(COMBINED.replace(' "-" "client/1.0"', "")) == expected


# -- all -----------------------------------------------------------------------------------------


def test_values_never_decide_temporality_and_the_setting_does():
    for record in (istio({"bytes_sent": 2**62}), NATIVE):
        words = {row["temporality"] for row in reader.volumes(record)}
        assert words == {"per_connection_total"}
        words = {row["temporality"] for row in reader.volumes(record, temporality="delta")}
        assert words == {"delta"}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (istio({"start_time": None}), "no_time"),
        (istio({"start_time": "now"}), "no_time"),
        (istio({"bytes_sent": -1}), "bytes_sent"),
        (istio({"bytes_received": "many"}), "bytes_received"),
        (istio({"bytes_sent": 2**63}), "bytes_sent"),
        (istio({"duration": "x"}), "duration"),
        (istio({"duration": 2**62}), "duration"),
        (istio({"duration": 10**12}), "interval"),
        (istio({"response_code": "x"}), "response_code"),
        (istio({"method": 5}), "method"),
        (istio({"authority": []}), "authority"),
        ({"start_time": "2026-03-10T03:01:59Z"}, "no_request"),
        (ENVOY_LINE.replace("1048576", "many"), "bytes_received"),
        (ENVOY_LINE.replace("2026-03-10T", "yesterday "), "no_time"),
        (ENVOY_LINE[:-8], "format"),
        (NATIVE[:-20], "format"),
        (NATIVE.replace(" 9400 ", f" {2**63} "), "size"),
        (NATIVE.replace("   5007", f"   {10**11}"), "interval"),
        (COMBINED.replace("/Mar/", "/Mrz/"), "no_time"),
        ("free text", "format"),
        ("x" * 70_000, "unreadable_line"),
        (json.dumps(ISTIO)[:-5], "invalid_json"),
        ('{"x":' + "[" * 100_000, "too_deep"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(record, reason):
    assert word(reader.one(record)) == reason


def test_the_same_line_of_two_pods_is_two_records():
    ids = {
        row["record_id"]
        for text in (json.dumps(ISTIO), ISTIO_LINE)
        for pod in ("train-0", "train-1")
        for row in rows(
            parse(PARSER, [RawRecord("l", 0, text.encode(), Wrapper(pod_name=pod))]),
            "volume_records",
        )
    }
    assert len(ids) == 4


def test_a_secret_in_a_record_is_not_stored():
    hidden = "AKIAIOSFODNN7EXAMPLE"
    found = [
        reader.one(ISTIO),
        reader.one(ISTIO_LINE),
        reader.one(COMBINED),
        reader.one(istio({"request_id": hidden, "authority": f"{hidden}.example.com"})),
        reader.one(istio({"user_agent": hidden, "x_forwarded_for": hidden, "method": hidden})),
        reader.one(NATIVE.replace("data.example.com", f"{hidden}.example.com")),
    ]
    assert "FAKE" not in written(found)
    assert hidden.lower() not in written(found).lower()
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(ISTIO)[1:-5])
    assert "FAKE" not in excerpt(broken.raw)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(ISTIO) + "\n" + json.dumps(ISTIO)[:50], 3),
        (ISTIO_LINE, 3),
        (ENVOY_LINE, 3),
        ("2026-03-10T03:00:00Z info starting\n" + ISTIO_LINE, 3),
        (NATIVE, 2),
        (COMBINED, 2),
        ('192.0.2.1 - - [10/Mar/2026:04:01:59 +0100] "GET / HTTP/1.1" 200 5', 0),
        (json.dumps({"bytes_sent": 5, "start_time": "x"}), 0),
        ("[]", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_lines(head, score):
    assert PARSER.recognise(head.encode()).score == score


@given(st.sampled_from(sorted({*ISTIO, "access_log_type"})), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(key, new):
    reader.one(istio({key: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_line_changes_no_other(at, cuts):
    reader.check_damage([ISTIO_LINE.replace(" 41 ", f" {n} ") for n in range(4)], at, cuts)
    reader.check_damage([NATIVE.replace("9400", str(n)) for n in range(4)], at, cuts)

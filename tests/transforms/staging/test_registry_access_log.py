"""Logs of image registries: the same request in each of a registry's logs, and what is none.

Lines are built from the forms that distribution's, gorilla's and Harbor's sources write.
"""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.landing.detection import Detected, detect
from pipelines.landing.parsing import parse_records
from tests.transforms.staging.export_text import (
    CONTEXT,
    CUTS,
    check_each,
    check_others,
    check_rows,
    damaged,
    lines,
    parse,
    rows,
    stated,
    word,
    words,
    written,
)
from transforms.staging.logrus_text import logrus_fields
from transforms.staging.registry_access_log import PARSER
from transforms.staging.registry_paths import asked

HEX = "0123456789abcdef" * 4
BLOB = f"sha256:{HEX}"
AGENT = "containerd/1.7.2 app/run-42"
COMBINED = (
    f'192.0.2.10 - trainer [10/Mar/2026:13:00:01 +0100] "GET /v2/ml/trainer/blobs/{BLOB}?ns=x '
    f'HTTP/1.1" 200 1048576 "" "{AGENT}"'
)
COMPLETED = {
    "time": "2026-03-10T12:00:01.123456789Z",
    "level": "info",
    "msg": "response completed",
    "go.version": "go1.23.7",
    "http.request.host": "Registry.example.com:5000",
    "http.request.id": "0a1b2c3d-0000-4000-8000-000000000001",
    "http.request.method": "GET",
    "http.request.remoteaddr": "192.0.2.10:51234",
    "http.request.uri": f"/v2/ml/trainer/blobs/{BLOB}",
    "http.request.useragent": AGENT,
    "http.response.contenttype": "application/octet-stream",
    "http.response.duration": "1.218327s",
    "http.response.status": 200,
    "http.response.written": 1_048_576,
    "auth.user.name": "trainer",
}
NGINX = (
    f'192.0.2.10 - "GET /v2/ml/trainer/blobs/{BLOB} HTTP/1.1" 200 1048576 "-" "{AGENT}" '
    "0.250 0.200, 0.011 ."
)
AUDIT = {
    "id": 7,
    "username": "robot$trainer",
    "resource": f"ml/trainer@{BLOB}",
    "resource_type": "artifact",
    "operation": "pull",
    "op_time": "2026-03-10T12:00:01.000Z",
}
ASKED = {
    "repository": "ml/trainer",
    "digest": BLOB,
    "target": "blob",
    "operation": "read",
    "operation_name": "GET",
    "http_method": "GET",
    "status": 200,
    "is_redirected": False,
    "response_bytes": 1_048_576,
    "client_address": "192.0.2.10",
    "user_agent": AGENT,
    "app_id": "run-42",
}
NOON = datetime(2026, 3, 10, 12, 0, 1, tzinfo=UTC)


def text(record: dict) -> str:
    return " ".join(
        f"{k}={json.dumps(v) if isinstance(v, str) and k != 'level' else v}"
        for k, v in record.items()
    )


def one(line: str | dict, **context):
    line = line if isinstance(line, str) else json.dumps(line)
    [parsed] = parse(PARSER, line, **context)
    check_each([parsed])
    return parsed


def request(line: str | dict, **context):
    [row] = rows([one(line, **context)], "registry_requests")
    return stated(row, "record_id")


def completed(**changes):
    return COMPLETED | {k.replace("__", "."): v for k, v in changes.items()}


def test_a_line_of_each_log_fits_the_table():
    syslog = f"Mar 10 12:00:01 192.0.2.1 proxy[812]: {NGINX}"
    check_rows([one(line) for line in (COMBINED, COMPLETED, text(COMPLETED), syslog, AUDIT)])


def test_a_line_of_the_combined_form_is_read_whole():
    assert request(COMBINED) == ASKED | {
        "event_at": NOON,
        "provider": "distribution",
        "log_kind": "access",
        "principal": "trainer",
    }


@pytest.mark.parametrize("write", [text, json.dumps])
def test_a_completed_response_is_read_whole_as_text_and_as_json(write):
    assert request(write(COMPLETED) if write is text else COMPLETED) == ASKED | {
        "event_at": NOON.replace(microsecond=123_456),
        "provider": "distribution",
        "log_kind": "application",
        "registry": "registry.example.com",
        "duration_seconds": 1.218_327,
        "principal": "trainer",
        "request_id": "0a1b2c3d-0000-4000-8000-000000000001",
    }


def test_a_line_of_harbors_nginx_needs_the_time_around_it(tmp_path):
    row = {
        "event_at": NOON,
        "provider": "harbor",
        "log_kind": "proxy",
        "registry": "registry.example.com",
        "duration_seconds": 0.25,
        "upstream_seconds": 0.211,
    }
    shared = {"record_format": "registry=Registry.example.com"}
    syslog = f"Mar 10 12:00:01 192.0.2.1 proxy[812]: {NGINX}"
    assert request(syslog, **shared) == ASKED | row
    full = f"<30>2026-03-10T12:00:01Z harbor proxy: {NGINX}"
    assert request(full, **shared) == ASKED | row
    assert word(one(NGINX)) == "no_time"
    path = tmp_path / "proxy.log"
    path.write_text(f"2026-03-10T12:00:01Z stdout F {NGINX}\n" * 2)
    found = list(parse_records(path, PARSER, CONTEXT))
    assert [stated(r, "record_id") for r in rows(found, "registry_requests")] == [
        stated(ASKED | row, "registry")
    ] * 2


@pytest.mark.parametrize(
    ("written_at", "landed", "at"),
    [
        ("Dec 31 23:59:59", date(2026, 1, 1), datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("Jan  1 00:00:01", date(2025, 12, 31), datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)),
        ("Feb 29 12:00:00", date(2025, 3, 1), datetime(2024, 2, 29, 12, tzinfo=UTC)),
    ],
)
def test_the_year_that_syslog_leaves_out_is_that_of_the_landing_day(written_at, landed, at):
    row = request(f"{written_at} harbor proxy[1]: {NGINX}", landing_date=landed)
    assert row["event_at"] == at


def test_a_record_of_harbors_audit_log_is_read_whole():
    assert request(AUDIT) == {
        "event_at": NOON,
        "provider": "harbor",
        "log_kind": "audit",
        "repository": "ml/trainer",
        "reference": BLOB,
        "digest": BLOB,
        "target": "manifest",
        "operation": "read",
        "operation_name": "pull",
        "principal": "robot$trainer",
    }


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"resource": "ml/trainer:1.4"}, {"repository": "ml/trainer", "reference": "1.4"}),
        ({"resource": f"ml/trainer:{BLOB}"}, {"digest": BLOB}),
        ({"resource": "ml/trainer"}, {"repository": "ml/trainer"}),
        ({"operation": "create"}, {"operation": "write", "operation_name": "create"}),
        ({"operation": "delete_artifact"}, {"operation": "delete"}),
        ({"operation_result": False}, {"error": "failed"}),
        ({"client_ip": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
    ],
)
def test_every_form_of_an_audit_record_is_read(changes, fields):
    assert request(AUDIT | changes).items() >= fields.items()


@pytest.mark.parametrize(
    ("method", "uri", "found"),
    [
        ("GET", "/v2/", ("version", "other", None, None, None)),
        ("GET", "/v2/_catalog?n=10", ("catalog", "list", None, None, None)),
        ("GET", "/service/token?account=x&scope=y", ("token", "other", None, None, None)),
        ("HEAD", "/v2/a/manifests/1.4", ("manifest", "head", "a", "1.4", None)),
        ("GET", f"/v2/a/b/c/manifests/{BLOB}", ("manifest", "read", "a/b/c", BLOB, BLOB)),
        ("PUT", "/v2/a/manifests/1.4", ("manifest", "write", "a", "1.4", None)),
        ("DELETE", "/v2/a/manifests/1.4", ("manifest", "delete", "a", "1.4", None)),
        ("GET", "/v2/a/blobs/SHA256:x", ("blob", "read", "a", None, None)),
        ("GET", f"/v2/manifests/x/blobs/{BLOB}", ("blob", "read", "manifests/x", None, BLOB)),
        ("GET", "/v2/blobs/uploads/manifests/1", ("manifest", "read", "blobs/uploads", "1", None)),
        ("POST", "/v2/a/blobs/uploads/", ("upload", "write", "a", None, None)),
        ("PATCH", "/v2/a/blobs/uploads/0a1b", ("upload", "write", "a", None, None)),
        ("PUT", f"/v2/a/blobs/uploads/0a?digest={BLOB}", ("upload", "write", "a", None, BLOB)),
        ("POST", f"/v2/a/blobs/uploads/?mount={BLOB}&from=b", ("blob", "copy", "a", None, BLOB)),
        ("GET", "/v2/a/tags/list?last=b", ("tags", "list", "a", None, None)),
        ("GET", f"/v2/a/referrers/{BLOB}", ("referrers", "list", "a", None, BLOB)),
        ("GET", "/v2/nothing", ("other", "other", None, None, None)),
        (None, f"/v2/a/blobs/{BLOB}", ("blob", "other", "a", None, BLOB)),
    ],
)  # fmt: skip
def test_paths_of_the_registrys_interface_are_told_apart(method, uri, found):
    row = asked(method, uri)
    assert row is not None
    assert (row.target, row.operation, row.repository, row.reference, row.digest) == found


@pytest.mark.parametrize("uri", ["/", "/api/v2.0/projects", "/healthz", "*", ""])
def test_what_is_no_request_to_a_registry_is_left_out(uri):
    assert asked("GET", uri) is None
    line = COMBINED.replace(f"/v2/ml/trainer/blobs/{BLOB}?ns=x", uri)
    assert word(one(line)) == "other_request"


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"http__response__status": 307, "http__response__written": 0},
         {"status": 307, "is_redirected": True, "response_bytes": 0}),
        ({"http__response__status": 206}, {"status": 206, "is_redirected": False}),
        ({"http__response__status": 404, "err__code": "blob unknown",
          "msg": "response completed with error"},
         {"status": 404, "error": "blob unknown"}),
        ({"http__response__duration": 4_218_327}, {"duration_seconds": 0.004218327}),
        ({"http__response__duration": "2h3m"}, {"duration_seconds": 7_380.0}),
        ({"http__request__remoteaddr": "[2001:db8::1]:443"}, {"client_address": "2001:db8::1"}),
        ({"http__request__remoteaddr": "192.0.2.7"}, {"client_address": "192.0.2.7"}),
    ],
)  # fmt: skip
def test_every_optional_value_of_a_completed_response_is_read(changes, fields):
    found = request(completed(**changes))
    assert found.items() >= fields.items()
    if fields.get("status") == 404:
        assert "is_redirected" not in found


@pytest.mark.parametrize(
    "name",
    [
        "http.request.host", "http.request.id", "http.request.remoteaddr", "auth.user.name",
        "http.request.useragent", "http.response.duration", "http.response.status",
        "http.response.written", "go.version", "level",
    ],
)  # fmt: skip
def test_every_optional_value_may_be_absent(name):
    record = {k: v for k, v in COMPLETED.items() if k != name}
    whole = request(COMPLETED)
    found = request(record)
    assert found.items() <= whole.items()
    assert len(found) >= len(whole) - 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("what is this", "unreadable_line"),
        (COMBINED.replace("10/Mar/2026", "31/Feb/2026"), "no_time"),
        (COMBINED.replace(" 200 ", " 099 "), "status"),
        (text(COMPLETED)[:-4], "unreadable_line"),
        ({"a": 1}, "no_request"),
        (completed(time=5), "wrong_value"),
        (completed(time="yesterday"), "no_time"),
        (completed(http__response__written=-1), "written"),
        (completed(http__response__status="many"), "status"),
        (AUDIT | {"op_time": None}, "no_time"),
        ('{"msg": "response completed", "http.request.uri": "/v2/', "invalid_json"),
        ("x" * 70_000, "unreadable_line"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(line, reason):
    assert word(one(line)) == reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (completed(msg="authorized request"), "other_line"),
        ('time="2026-03-10T12:00:00Z" level=info msg="listening on [::]:5000"', "other_line"),
        (
            "Mar 10 12:00:01 192.0.2.1 core[7]: 2026-03-10 [INFO] [/server/x.go:42]: ok",
            "other_line",
        ),
        (AUDIT | {"resource_type": "project"}, "other_resource"),
    ],
)
def test_what_is_no_request_is_ignored_by_a_word(line, reason):
    assert word(one(line)) == reason


@pytest.mark.parametrize(
    ("head", "variant"),
    [
        (COMBINED, "combined form"),
        (f"Mar 10 12:00:01 h proxy[1]: {NGINX}", "Harbor's nginx"),
        (text(COMPLETED), "distribution, text"),
        (json.dumps(COMPLETED), "distribution, JSON"),
        (json.dumps([AUDIT, AUDIT], indent=1), "Harbor's audit log"),
        (f"2026-03-10T12:00:01Z stdout F {COMBINED}", "combined form in CRI"),
    ],
)
def test_each_log_is_told_by_its_content(head, variant):
    found = detect(f"{head}\n".encode())
    assert isinstance(found, Detected)
    assert (found.parser.name, found.variant) == ("registry_access_log", variant)


@pytest.mark.parametrize(
    "head",
    [
        '192.0.2.1 - - [10/Mar/2026:13:00:01 +0100] "GET /index.html HTTP/1.1" 200 7 "-" "x"',
        'time="2026-03-10T12:00:00Z" level=info msg="listening on [::]:5000"',
    ],
)
def test_logs_of_other_servers_are_not_taken(head):
    assert PARSER.recognise(f"{head}\n".encode()).score == 0


def test_secrets_of_a_request_are_never_kept():
    token = "hf_" + "A1b2C3d4E5" * 4
    lines_of = [
        COMBINED.replace("?ns=x", f"?_state={token}&ns=x").replace("trainer [", f"{token} ["),
        text(completed(http__request__uri=f"/v2/ml/{token}/manifests/1?token={token}")),
        text(completed(auth__user__name=token, http__request__useragent=f"x Bearer {token}")),
        COMBINED.replace(" 200 ", " 099 ").replace("?ns=x", "?signature=plainsecret"),
    ]
    found = parse(PARSER, "\n".join(lines_of))
    assert token not in written(found)
    assert "plainsecret" not in str(found[-1].raw)


def test_equal_requests_have_one_id_and_others_another():
    found = parse(PARSER, "\n".join([COMBINED, COMBINED, COMBINED.replace(":01 ", ":02 ")]))
    ids = [row["record_id"] for row in rows(found, "registry_requests")]
    assert ids[0] == ids[1] != ids[2]


@settings(max_examples=15)
@given(CUTS, st.integers(0, 3))
def test_damage_of_one_line_changes_no_other(cuts, at):
    records = lines("\n".join([COMBINED, text(COMPLETED), json.dumps(COMPLETED), COMBINED]))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, records), clean, at)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (r'time="t" level=info msg="a \"b\" \\ \n" x=1', {"msg": 'a "b" \\ \n', "x": "1"}),
        (r'time="t" level=info msg="\x41\u00e9\U0001d518\ud800"', {"msg": "Aé\U0001d518\ufffd"}),
        ('time="t" level=info msg=a msg=b', {"msg": "a"}),
        ('time="t" level=info empty= msg=a', {"empty": "", "msg": "a"}),
    ],
)
def test_fields_of_logrus_are_unquoted_as_go_quotes_them(line, fields):
    found = logrus_fields(line)
    assert found is not None
    assert found == {"time": "t", "level": "info"} | fields


def test_a_file_of_all_kinds_accounts_for_every_line(tmp_path: Path):
    path = tmp_path / "registry.log"
    path.write_text(
        "\n".join([COMBINED, text(COMPLETED), "", "nonsense", json.dumps(AUDIT), "{"]) + "\n"
    )
    assert words(parse_records(path, PARSER, CONTEXT)) == {
        "accepted": 3,
        "unreadable_line": 1,
        "invalid_json": 1,
    }

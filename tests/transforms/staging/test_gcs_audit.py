"""Audit entries of Cloud Storage: calls are read, other logs and services are left out by name.

Constructed lines follow the documentation of the audit log format.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    KEY,
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
from tests.transforms.staging.lookup_rows import ANY_VALUE, NO_TIMES, TIMES, but, with_changes
from tests.transforms.staging.request_rows import RequestReader
from transforms.redaction import excerpt
from transforms.staging.gcs_audit import PARSER
from transforms.staging.parser import RawRecord

ENTRY = {
    "insertId": "1f28uoif27x",
    "logName": "projects/p/logs/cloudaudit.googleapis.com%2Fdata_access",
    "protoPayload": {
        "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
        "authenticationInfo": {
            "principalEmail": "trainer@example-project.iam.gserviceaccount.com",
            "serviceAccountKeyName": (
                "//iam.googleapis.com/projects/p/serviceAccounts/s@example.com/keys/0a1b2c3d4e5f"
            ),
        },
        "authorizationInfo": [
            {"granted": True, "permission": "storage.objects.get", "resource": "x"}
        ],
        "methodName": "storage.objects.get",
        "requestMetadata": {
            "callerIp": "10.20.1.51",
            "callerSuppliedUserAgent": "python-gcsfs/2025.3.0 app/run-42,gzip(gfe)",
            "requestAttributes": {"auth": {}, "time": "2026-03-10T12:02:01.5Z"},
            "destinationAttributes": {},
        },
        "resourceLocation": {"currentLocations": ["US-EAST1"]},
        "resourceName": "projects/_/buckets/example-data/objects/train/shard 1.tar",
        "serviceName": "storage.googleapis.com",
        "status": {},
    },
    "receiveTimestamp": "2026-03-10T12:02:03.000000001Z",
    "resource": {
        "labels": {"bucket_name": "example-data", "location": "us-east1", "project_id": "p"},
        "type": "gcs_bucket",
    },
    "severity": "INFO",
    "timestamp": "2026-03-10T12:02:01.500613639Z",
}
AGENT = "python-gcsfs/2025.3.0 app/run-42"
REQUEST = {
    "event_at": datetime(2026, 3, 10, 12, 2, 1, 500_613, tzinfo=UTC),
    "provider": "gcs",
    "bucket": "example-data",
    "key": "train/shard 1.tar",
    "operation": "read",
    "operation_name": "storage.objects.get",
    "client_address": "10.20.1.51",
    "principal": "trainer@example-project.iam.gserviceaccount.com",
    "access_key_id_hash": KEY.of("0a1b2c3d4e5f"),
    "user_agent": AGENT,
    "app_id": "run-42",
    "bucket_region": "us-east1",
}
DESTINATION = "projects/_/buckets/other/objects/x"
SUBJECT = "principal://iam.googleapis.com/projects/1/p.svc.id.goog/subject/ns/ml/sa/trainer"

reader = RequestReader(PARSER)
entry = with_changes(ENTRY)


def payload(**changes):
    return entry({f"protoPayload/{key}": new for key, new in changes.items()})


def test_every_column_of_a_call_is_read():
    assert reader.request(ENTRY) == REQUEST


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"requestMetadata/callerIp": "private"}, {"client_address": None}),
        ({"requestMetadata/callerIp": "gce-internal-ip"}, {"client_address": None}),
        ({"requestMetadata/callerIp": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
        ({"requestMetadata": ...}, {"client_address": None, "user_agent": None, "app_id": None}),
        ({"authenticationInfo": ...}, {"principal": None, "access_key_id_hash": None}),
        ({"authenticationInfo": {"principalSubject": SUBJECT}},
         {"principal": SUBJECT, "access_key_id_hash": None}),
        ({"authenticationInfo/serviceAccountKeyName": "x"}, {"access_key_id_hash": None}),
        ({"resourceName": ...}, {"key": None}),
        ({"resourceName": "projects/_/buckets/example-data"}, {"key": None}),
        ({"resourceName": "projects/_/buckets/b/objects/a/objects/b"}, {"key": "a/objects/b"}),
        ({"resourceLocation": ...}, {}),
        ({"status": ...}, {}),
        ({"status": None}, {}),
        ({"status": {"code": 0}}, {}),
        ({"status": {"code": 7, "message": "no"}}, {"error": "PERMISSION_DENIED"}),
        ({"status": {"code": 5}}, {"error": "NOT_FOUND"}),
        ({"status": {"code": 99}}, {"error": "UNKNOWN"}),
        ({"metadata": {"destination": DESTINATION, "requested_bytes": 5}},
         {"operation": "copy", "copy_source": "gs://example-data/train/shard 1.tar"}),
        ({"metadata": {"audit_context": {}}}, {}),
        ({"metadata": None}, {}),
    ],
)  # fmt: skip
def test_every_optional_part_of_a_call_is_read(changes, fields):
    assert reader.request(payload(**changes)) == but(REQUEST, fields)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"timestamp": "2026-03-10 12:02:01.500613639"}, {}),
        ({"insertId": ..., "receiveTimestamp": ..., "severity": ..., "logName": ...}, {}),
        ({"resource": ...}, {}),
        ({"resource/labels/bucket_name": ..., "resource/labels/location": ...}, {}),
        ({"resource": ..., "protoPayload/resourceLocation": ...}, {"bucket_region": None}),
        ({"resource/labels/location": "US"}, {"bucket_region": "us"}),
        ({"resource/labels/location": "no region"}, {"bucket_region": None}),
    ],
)
def test_every_optional_part_of_an_entry_is_read(changes, fields):
    assert reader.request(entry(changes)) == but(REQUEST, fields)


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("storage.objects.get", "read"),
        ("storage.objects.list", "list"),
        ("storage.objects.create", "write"),
        ("storage.objects.insert", "write"),
        ("storage.objects.delete", "delete"),
        ("storage.objects.copy", "copy"),
        ("storage.objects.rewrite", "copy"),
        ("storage.objects.compose", "other"),
        ("storage.objects.update", "other"),
        ("storage.buckets.get", "other"),
        ("storage.buckets.list", "list"),
    ],
)
def test_operations_are_named_alike_for_all_stores(name, operation):
    values = reader.request(payload(methodName=name))
    assert (values["operation"], values["operation_name"]) == (operation, name)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"protoPayload": ..., "textPayload": "x"}, "other_log"),
        ({"protoPayload": None}, "other_log"),
        ({"protoPayload/serviceName": "bigquery.googleapis.com"}, "other_service"),
        ({"protoPayload/serviceName": ...}, "other_service"),
        ({"protoPayload": {"serviceName": "k8s.io", "status": 5}}, "other_service"),
    ],
)
def test_what_is_no_call_of_storage_is_ignored(changes, reason):
    assert reader.one(entry(changes)).ignore == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"timestamp": ...}, "no_time"),
        ({"timestamp": "yesterday"}, "no_time"),
        ({"timestamp": 5}, "wrong_type"),
        ({"protoPayload": "text"}, "wrong_type"),
        ({"protoPayload/methodName": ...}, "method"),
        ({"protoPayload/methodName": "not a name"}, "method"),
        ({"protoPayload/status": {"code": "7"}}, "wrong_type"),
        ({"protoPayload/requestMetadata": []}, "wrong_type"),
        ({"resource": "text"}, "wrong_type"),
    ],
)
def test_an_entry_that_cannot_be_kept_is_refused_with_its_reason(changes, reason):
    assert word(reader.one(entry(changes))) == reason


@pytest.mark.parametrize(("time", "at"), [*TIMES, ("2026-03-10 08:00:06.123456789", TIMES[6][1])])
def test_times_of_any_year_and_precision_are_read(time, at):
    assert reader.request(entry({"timestamp": time}))["event_at"] == at


@pytest.mark.parametrize("time", NO_TIMES)
def test_what_is_no_time_is_refused(time):
    assert word(reader.one(entry({"timestamp": time}))) == "no_time"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(ENTRY)[:-40], "invalid_json"),
        ("free text", "invalid_json"),
        ("5", "wrong_type"),
        ('{"other":' + "[" * 100_000, "too_deep"),
    ],
)
def test_what_is_no_entry_is_refused(text, reason):
    assert word(reader.one(text)) == reason


def test_an_array_as_the_command_line_writes_it_gives_one_result_per_entry():
    text = json.dumps([ENTRY, payload(serviceName="x"), payload(methodName=5)], indent=2)
    found = parse(PARSER, [RawRecord("$", 0, text.encode())])
    check_each(found)
    assert [(p.locator, word(p)) for p in found] == [
        ("$[0]", "accepted"), ("$[1]", "other_service"), ("$[2]", "wrong_type"),
    ]  # fmt: skip
    assert stated(rows(found, "object_requests")[0], "record_id") == REQUEST
    assert found[2].reject is not None
    assert found[2].reject.endswith(" at $[2].protoPayload.methodName")


def test_an_entry_is_identified_by_its_insert_id_and_time():
    def record_id(value):
        return reader.row(value)[1]["record_id"]

    first = record_id(ENTRY)
    assert first == record_id(entry({"receiveTimestamp": "2026-03-10T12:09:00Z"}))
    assert first != record_id(entry({"insertId": "other"}))
    assert first != record_id(entry({"timestamp": "2026-03-10T12:02:00Z"}))
    without = entry({"insertId": ...})
    assert record_id(without) == record_id(json.dumps(without) + " ")
    assert record_id(without) != record_id(without | {"severity": "NOTICE"})


def test_a_secret_in_an_entry_is_not_written():
    token = "ghp_" + "a1B2" * 9
    value = entry(
        {
            "protoPayload/resourceName": f"projects/_/buckets/b/objects/a/{token}",
            "protoPayload/requestMetadata/callerSuppliedUserAgent": f"x {token}",
            "protoPayload/authenticationInfo/principalEmail": token,
            "protoPayload/metadata": {"destination": token, "audit_context": token},
            "resource/labels/bucket_name": token,
        }
    )
    broken = value | {"timestamp": "FAKE-time", "labels": {"note": "FAKE-note"}}
    found = parse(PARSER, lines(json.dumps(value) + "\n" + json.dumps(broken)))
    assert [word(p) for p in found] == ["accepted", "no_time"]
    kept = written(found) + excerpt(found[1].raw)
    assert token not in kept
    assert "0a1b2c3d4e5f" not in kept
    assert "FAKE-note" not in kept


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(ENTRY) + "\n" + json.dumps(ENTRY)[:50], 3),
        (json.dumps([ENTRY, ENTRY], indent=2), 3),
        (json.dumps(payload(**{"@type": ...})), 3),
        (json.dumps(payload(serviceName="bigquery.googleapis.com")), 1),
        (json.dumps(payload(serviceName=...)), 0),
        (json.dumps(payload(methodName=...)), 0),
        (json.dumps(ENTRY)[:60], 0),
        ('{"jsonPayload":{"queryName":"x"}}', 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_entry(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_values_of_real_entries_are_those_that_stand_in_them(samples):
    found = parse_file(PARSER, samples / "object_storage" / "gcs_audit_panther.ndjson")
    check_each(found)
    check_rows(found)
    assert words(found) == {"accepted": 3}
    out, same, plain = rows(found, "object_requests")
    assert out["event_at"] == datetime(2025, 12, 15, 15, 55, 3, 915_792, tzinfo=UTC)
    assert (out["bucket"], out["key"]) == ("source-bucket", "sensitive.txt")
    assert (out["operation"], out["copy_source"]) == ("copy", "gs://source-bucket/sensitive.txt")
    assert (out["principal"], out["client_address"]) == ("jane@example.com", "1.2.3.4")
    assert out["bucket_region"] == "us"
    assert (same["operation"], same["bucket"]) == ("copy", "prod-bucket")
    assert (plain["operation"], plain["copy_source"]) == ("read", None)


PATHS = [
    *ENTRY, *(f"protoPayload/{key}" for key in ENTRY["protoPayload"]), "resource/labels",
    "resource/labels/location", "protoPayload/requestMetadata/callerIp",
]  # fmt: skip


@given(st.sampled_from(PATHS), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(path, new):
    reader.one(entry({path: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_entry_changes_no_other(at, cuts):
    texts = [json.dumps(entry({"insertId": f"id{n}"})) for n in range(4)]
    records = lines("\n".join(texts))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    found = parse(PARSER, records)
    check_others(found, clean, at)

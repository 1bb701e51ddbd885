"""Stage marks: structured events, OTLP logs, lines of libraries and of a stated pattern.

Texts of libraries are those of their sources; attribute names are OpenTelemetry's.
"""

import json
import re
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.landing.detection import Detected, detect
from pipelines.landing.parsing import parse_records
from tests.transforms.staging.export_text import (
    CONTEXT,
    CUTS,
    check_each,
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
from tests.transforms.staging.lookup_rows import but
from transforms.staging.stage_fields import resource
from transforms.staging.stage_marks import CHUNK_LINES, PARSER
from transforms.staging.stage_names import stage_name
from transforms.staging.stage_patterns import LinePattern, line_pattern

UID = "5f8c1e1a-7f0c-4b7e-9a53-0f4c3a2b1d00"
RUN = "0123456789abcdef0123456789abcdef"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
EVENT = {
    "event.name": "dataset_download_finished",
    "time_unix_nano": 1_773_144_000_123_456_789,
    "stage": "dataset_download",
    "resource.kind": "s3",
    "resource.id": "s3://example-data/train@v3",
    "elapsed_s": 41.25,
    "attempts": 3,
    "bytes": 1_048_576,
    "cache": "miss",
    "outcome": "ok",
    "http.response.status_code": 200,
    "polyaxon.run.uuid": "01234567-89ab-cdef-0123-456789abcdef",
    "k8s.pod.uid": UID.upper(),
    "k8s.pod.name": "train-0",
    "k8s.namespace.name": "ml",
    "k8s.node.name": "node-1",
    "k8s.container.name": "polyaxon-main",
    "k8s.container.restart_count": 1,
}
MARK = {
    "event_at": NOON.replace(microsecond=123_456),
    "node": "node-1",
    "namespace": "ml",
    "pod_name": "train-0",
    "pod_uid": UID,
    "container": "polyaxon-main",
    "restart_count": 1,
    "run_uuid": RUN,
    "event_name": "dataset_download_finished",
    "activity": "dataset_download",
    "phase": "end",
    "elapsed_seconds": 41.25,
    "attempts": 3,
    "bytes": 1_048_576,
    "resource": "s3://example-data/train@v3",
    "cache": "miss",
    "outcome": "ok",
    "status": 200,
    "basis": "event",
}
BARE = {"event.name": "model.load.start", "timestamp": "2026-03-10T12:00:00Z"}


def one(record, **context):
    line = record if isinstance(record, str) else json.dumps(record)
    [parsed] = parse(PARSER, line, **context)
    check_each([parsed])
    return parsed


def marks(record, **context):
    parsed = one(record, **context)
    return [stated(row, "record_id") for row in rows([parsed], "stage_marks")]


def mark(record, **context):
    [row] = marks(record, **context)
    return row


def event(changes):
    return {k: v for k, v in (EVENT | changes).items() if v is not ...}


# -- structured events ---------------------------------------------------------------------------


def test_every_column_of_an_event_is_read():
    library = one("2026-03-10 12:00:00 HTTP Error 503 thrown while requesting GET https://x/y")
    check_rows([one(EVENT), one(BARE), library])
    assert mark(EVENT) == MARK


def test_nested_objects_are_read_as_names_joined_by_dots():
    nested: dict = {}
    for name, value in EVENT.items():
        *outer, last = name.split(".")
        place = nested
        for key in outer:
            place = place.setdefault(key, {})
        place[last] = value
    assert mark(nested) == MARK


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"elapsed_s": ..., "elapsed_ms": 1_500}, {"elapsed_seconds": 1.5}),
        ({"elapsed_s": ..., "event.duration": "2500000000"}, {"elapsed_seconds": 2.5}),
        ({"elapsed_s": "41.25"}, {}),
        ({"elapsed_s": -1}, {"elapsed_seconds": None}),
        ({"elapsed_s": 1e9}, {"elapsed_seconds": None}),
        ({"elapsed_s": "soon"}, {"elapsed_seconds": None}),
        ({"attempts": ..., "http.request.resend_count": 2}, {}),
        ({"attempts": "many"}, {"attempts": None}),
        ({"bytes": -1}, {"bytes": None}),
        ({"bytes": 1.5}, {"bytes": None}),
        ({"bytes": 2.0}, {"bytes": 2}),
        ({"bytes": 2**63}, {"bytes": None}),
        ({"bytes": ..., "http.response.body.size": "7"}, {"bytes": 7}),
        ({"resource.id": ..., "url.full": "https://u:p@data.example.com/a?sig=x#y"},
         {"resource": "https://data.example.com/a"}),
        ({"resource.id": ..., "aws.s3.bucket": "b", "aws.s3.key": "k/1"},
         {"resource": "s3://b/k/1"}),
        ({"resource.id": ..., "server.address": "data.example.com"},
         {"resource": "data.example.com"}),
        ({"resource.id": ...}, {"resource": None}),
        ({"cache": True}, {"cache": "hit"}),
        ({"cache": "stale"}, {"cache": None}),
        ({"outcome": ...}, {"outcome": None}),
        ({"outcome": "Failure", "error.type": "SlowDown"},
         {"outcome": "error", "error_type": "SlowDown"}),
        ({"outcome": ..., "error.type": "SlowDown"},
         {"outcome": "error", "error_type": "SlowDown"}),
        ({"error": "the bucket is gone"}, {}),
        ({"http.response.status_code": 999}, {"status": None}),
        ({"polyaxon.run.uuid": "none"}, {"run_uuid": None}),
        ({"k8s.pod.uid": "none"}, {"pod_uid": None}),
        ({"k8s.container.name": "../x"}, {"container": None}),
        ({"k8s.node.name": ..., "k8s.pod.name": ..., "k8s.namespace.name": ...},
         {"node": None, "pod_name": None, "namespace": None}),
        ({"stage": "data loading"}, {"activity": "data_loading"}),
        ({"stage": ...}, {}),
        ({"list": [1, {"event.name": "x"}]}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read_and_what_is_none_is_null(changes, fields):
    assert mark(event(changes)) == but(MARK, fields)


@pytest.mark.parametrize(
    ("name", "activity", "phase", "outcome"),
    [
        ("dataset_download_started", "dataset_download", "start", None),
        ("dataset.download.start", "dataset_download", "start", None),
        ("DatasetDownloadCompleted", "dataset_download", "end", None),
        ("checkpoint-save: done", "checkpoint_save", "end", None),
        ("model_load_failed", "model_load", "end", "error"),
        ("artifact_upload.succeeded", "artifact_upload", "end", "ok"),
        ("upload.retry", "upload", "point", "retry"),
        ("first_batch", "first_batch", "point", None),
        ("checkpoint.save", "checkpoint_save", "point", None),
    ],
)
def test_names_say_activity_phase_and_outcome(name, activity, phase, outcome):
    row = mark(BARE | {"event.name": name})
    assert (row["activity"], row["phase"], row.get("outcome")) == (activity, phase, outcome)


@pytest.mark.parametrize(
    "record",
    [
        {"event_name": "model.load.start"},
        {"eventName": "model.load.start"},
        {"event": {"name": "model.load.start"}},
        {"event": "model_load_start"},
        {"message": "model_load_start"},
        {"stage": "model_load", "phase": "start"},
        {"stage": "model_load", "status": "started"},
    ],
)
def test_every_way_to_name_an_event_is_read(record):
    row = mark({"timestamp": "2026-03-10T12:00:00Z"} | record)
    assert (row["event_at"], row["activity"], row["phase"]) == (NOON, "model_load", "start")


@pytest.mark.parametrize(
    ("stated_time", "at"),
    [
        ({"timestamp": "2026-03-10T13:00:00.5+01:00"}, NOON.replace(microsecond=500_000)),
        ({"asctime": "2026-03-10 12:00:00,500"}, NOON.replace(microsecond=500_000)),
        ({"@timestamp": "2026-03-10T12:00:00Z"}, NOON),
        ({"ts": 1_773_144_000}, NOON),
        ({"ts": 1_773_144_000.5}, NOON.replace(microsecond=500_000)),
        ({"ts": "1773144000.123456789"}, NOON.replace(microsecond=123_456)),
        ({"time": 1_773_144_000_500}, NOON.replace(microsecond=500_000)),
        ({"time": 1_773_144_000_000_001}, NOON.replace(microsecond=1)),
        ({"timeUnixNano": "1773144000000001999"}, NOON.replace(microsecond=1)),
        ({"timestamp": "today", "ts": 1_773_144_000}, NOON),
    ],
)
def test_times_are_read_in_every_unit(stated_time, at):
    assert mark({"event.name": "model_load_start"} | stated_time)["event_at"] == at


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"event.name": "user.login", "ts": 1}, "other_event"),
        ({"event.name": "a b c <x>", "ts": 1}, "other_event"),
        ({"event.name": "x" * 500 + "_start", "ts": 1}, "other_event"),
        ({"event.name": "started", "ts": 1}, "other_event"),
        ({"event": "the download has started", "ts": 1}, "other_line"),
        ({"message": "user_start", "ts": 1}, "other_line"),
        ({"message": "hello"}, "other_line"),
        ({}, "other_line"),
        ({"event.name": "model_load_start"}, "no_time"),
        ({"event.name": "model_load_start", "timestamp": "soon", "ts": -5}, "no_time"),
        ("hello", "other_line"),
        ("Downloading data", "no_time"),
        ("[1, 2]", "other_line"),
        ('["a"]', "wrong_type"),
        ("{", "invalid_json"),
        ("5", "other_line"),
        ("x" * 70_000, "unreadable_line"),
    ],
)
def test_everything_else_is_ignored_or_refused_by_a_word(record, reason):
    assert {word(p) for p in parse(PARSER, record if isinstance(record, str) else json.dumps(
        record))} == {reason}  # fmt: skip


def test_what_a_wrapper_says_of_the_pod_is_kept(tmp_path):
    path = tmp_path / "file"
    inner = json.dumps({"event.name": "model_load_start"})
    outer = {
        "log": inner, "stream": "stdout", "time": "2026-03-10T12:00:00Z",
        "kubernetes": {"pod_name": "train-0", "namespace_name": "ml", "pod_id": UID,
                       "container_name": "polyaxon-main", "host": "node-1"},
    }  # fmt: skip
    path.write_text(f"{json.dumps(outer)}\n" * 2)
    found = list(parse_records(path, PARSER, CONTEXT))
    check_rows(found)
    kept = ("node", "namespace", "pod_name", "pod_uid", "container")
    assert [[row[name] for name in kept] for row in rows(found, "stage_marks")] == [
        ["node-1", "ml", "train-0", UID, "polyaxon-main"]
    ] * 2
    assert {row["event_at"] for row in rows(found, "stage_marks")} == {NOON}


# -- OTLP ----------------------------------------------------------------------------------------


def value(found):
    if isinstance(found, bool):
        return {"boolValue": found}
    if isinstance(found, int):
        return {"intValue": str(found)}
    return {"doubleValue": found} if isinstance(found, float) else {"stringValue": found}


def attributes(values):
    return [{"key": k, "value": value(v)} for k, v in values.items()]


def document(*records, **resource):
    pod = {k: v for k, v in EVENT.items() if k.startswith("k8s.")}
    return {
        "resourceLogs": [
            {"resource": {"attributes": attributes(pod | resource)},
             "scopeLogs": [{"logRecords": list(records)}]}
        ]
    }  # fmt: skip


def otlp(name="dataset_download_finished", **changes):
    left_out = {"event.name", "time_unix_nano"} | {k for k in EVENT if k.startswith("k8s.")}
    values = {k: v for k, v in EVENT.items() if k not in left_out}
    return {
        "timeUnixNano": str(EVENT["time_unix_nano"]),
        "eventName": name,
        "attributes": attributes(values),
    } | changes


def test_an_event_of_otlp_gives_the_same_mark():
    assert mark(document(otlp())) == MARK
    named = otlp(eventName="")
    named["attributes"] += attributes({"event.name": "dataset_download_finished"})
    assert mark(document(named)) == MARK
    body = otlp(attributes=[], body={"kvlistValue": {"values": otlp()["attributes"]}})
    assert mark(document(body)) == MARK


def test_every_log_record_of_a_document_is_a_record():
    text = {"stringValue": "Downloading data"}
    records = [
        otlp(), otlp("user.login", attributes=[]), otlp("", body=text, attributes=[]),
        otlp(timeUnixNano="x"),
        otlp("", body={"stringValue": "hello"}, attributes=[]), {"attributes": 5},
        otlp(timeUnixNano="0", observedTimeUnixNano="1773144000000000000"),
    ]  # fmt: skip
    found = parse(PARSER, json.dumps(document(*records)))
    check_rows(found)
    assert [word(p) for p in found] == [
        "accepted", "other_event", "accepted", "wrong_time", "other_line", "wrong_type", "accepted",
    ]  # fmt: skip
    assert [p.locator for p in found][:2] == [
        f"line 1 $.resourceLogs[0].scopeLogs[0].logRecords[{n}]" for n in (0, 1)
    ]
    assert rows(found, "stage_marks")[1]["source_library"] == "datasets"
    assert rows(found, "stage_marks")[2]["event_at"] == NOON


# -- libraries -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fetching 5 files:   0%|          | 0/5 [00:00<?, ?it/s]", "hub_download start"),
        ("Fetching 5 files: 100%|##########| 5/5", "hub_download end ok"),
        ("HTTP Error 503 thrown while requesting GET https://data.example.com/m?sig=a",
         "hub_download point retry 503 https://data.example.com/m"),
        ("Retrying in 1s [Retry 2/5].", "hub_download point retry x2"),
        ("Rate limited. Waiting 12s before retry [Retry 1/5].", "hub_download point retry 429 x1"),
        ("'(ReadTimeoutError(\"x\"))' thrown while requesting GET https://data.example.com/m",
         None),
        ("'ReadTimeoutError(x)' thrown while requesting GET https://data.example.com/m",
         "hub_download point retry ReadTimeoutError https://data.example.com/m"),
        ("Error while downloading from https://data.example.com/m?Signature=x: timed out",
         "hub_download point retry https://data.example.com/m"),
        ("Max retries exceeded.", "hub_download end error MaxRetriesExceeded"),
        ("Downloading data: 100%|##|", "dataset_download start"),
        ("Downloading and preparing dataset glue/mrpc to /cache",
         "dataset_download start glue/mrpc"),
        ("Found cached dataset glue (/cache/x)", "dataset_download end ok hit glue"),
        ("Downloading took 1.5 min", "dataset_download end ok 90.0s"),
        ("Generating train split: 0 examples [00:00, ? examples/s]", "dataset_prepare start"),
        ("Got disconnected from remote data host. Retrying in 5sec [3/20]",
         "dataset_download point retry x3"),
        ("***** Running training *****", "training start"),
        ("Training completed. Do not forget to share your model", "training end ok"),
        ("Saving model checkpoint to /out/checkpoint-500",
         "checkpoint_save point /out/checkpoint-500"),
        ("GPU available: True (cuda), used: True", "accelerator point ok"),
        ("GPU available: True (cuda), used: False", "accelerator point error"),
        ("GPU available: False, used: False", "accelerator point error"),
        ("Restoring states from the checkpoint path at /out/last.ckpt",
         "checkpoint_load start /out/last.ckpt"),
        ("Epoch 0, global step 9: 'val' reached 0.5, saving model to '/out/e0.ckpt' as top 1",
         "checkpoint_save point /out/e0.ckpt"),
        ("Retry needed, action of: 0.5", "request point retry"),
        ("Max attempts of 5 reached.", "request end error x5 MaxAttemptsReached"),
        ("  Downloading torch-2.4.0-cp311-cp311-linux_x86_64.whl (797.1 MB)",
         "package_install point torch-2.4.0-cp311-cp311-linux_x86_64.whl"),
        ("Using cached numpy-2.0.0.tar.gz", "package_install point hit numpy-2.0.0.tar.gz"),
        ("WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'x': /simple",
         "package_install point retry"),
        ("Cloning into 'code'...", "repository_clone start code"),
        ("Git Repo is initialized, path: `/plx-context/x`", "repository_clone end ok"),
        ("s3 path is initialized, path: `/data`", "artifacts_download end ok s3"),
        ("Could not establish connection, retrying ...", "authentication point retry"),
        ("Auth context initialized.", "authentication end ok"),
        ("wandb: Synced 5 W&B file(s), 0 media file(s)", "tracking end ok"),
        ("a line about downloading data", None),
        ("Fetching 5 files:  40%|####      | 2/5", None),
    ],
)  # fmt: skip
def test_lines_of_libraries_say_when_something_began_or_ended(text, found):
    line = f"2026-03-10 12:00:00,000 INFO {text}"
    if found is None:
        assert word(one(line)) == "other_line"
        return
    row = mark(line)
    parts = (
        row["activity"], row["phase"], row.get("outcome"), row.get("cache"), row.get("status"),
        f"x{row['attempts']}" if "attempts" in row else None, row.get("error_type"),
        f"{row['elapsed_seconds']}s" if "elapsed_seconds" in row else None, row.get("resource"),
    )  # fmt: skip
    assert " ".join(str(part) for part in parts if part is not None) == found
    assert (row["event_at"], row["basis"]) == (NOON, "library")
    assert mark({"message": text, "timestamp": "2026-03-10T12:00:00Z"}) == row


def test_a_progress_bar_tells_its_beginning_and_its_end_once():
    bar = "\r".join(f"Fetching 5 files: {n:3d}%|#|" for n in (0, 0, 20, 100, 100))
    found = marks({"log": bar, "ts": 1_773_144_000})
    assert [(row["phase"], row["event_name"]) for row in found] == [
        ("start", "hub_download.start"), ("end", "hub_download.end"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "record",
    [
        {"timestamp": "2026-03-10T12:00:00+00:00", "node": "n", "pod": "train-0",
         "container": "polyaxon-main", "value": "Downloading data"},
        {"timestamp": "2026-03-10 12:00:00+00:00", "step": 1, "text": "dataset_download_started"},
    ],
)  # fmt: skip
def test_what_polyaxon_stores_of_a_run_is_read_where_the_format_is_stated(record):
    row = mark(record)
    assert (row["event_at"], row["activity"], row["phase"]) == (NOON, "dataset_download", "start")
    assert row.get("pod_name") == record.get("pod")
    found = detect(f"\n{json.dumps(record)}\n".encode())
    assert isinstance(found, Detected)
    assert found.parser.name == "polyaxon"
    assert PARSER.recognise(json.dumps(record).encode()).score == 1


# -- patterns ------------------------------------------------------------------------------------

PATTERN = (
    r"^(?P<time>\S+ \S+) \w+ stage=(?P<event>\w+)(?: took=(?P<elapsed>[\d.]+)s)?"
    r"(?: n=(?P<attempts>\d+))?(?: bytes=(?P<bytes>\d+))?(?: of=(?P<resource>\S+))?"
    r"(?: was=(?P<outcome>\w+))?(?: err=(?P<error>\w+))?(?: cache=(?P<cache>\w+))?"
    r"(?: status=(?P<status>\d+))?$"
)


def test_a_stated_pattern_reads_every_group():
    line = (
        "2026-03-10 12:00:00,5 INFO stage=download_end took=1.5s n=2 bytes=7 "
        "of=https://u:p@data.example.com/x?sig=y was=failed err=SlowDown cache=miss status=503"
    )
    assert mark(line, record_format=PATTERN) == {
        "event_at": NOON.replace(microsecond=500_000),
        "event_name": "download_end",
        "activity": "download",
        "phase": "end",
        "elapsed_seconds": 1.5,
        "attempts": 2,
        "bytes": 7,
        "resource": "https://data.example.com/x",
        "outcome": "error",
        "error_type": "SlowDown",
        "cache": "miss",
        "status": 503,
        "basis": "pattern",
    }
    assert word(one("2026-03-10 12:00:00 INFO nothing", record_format=PATTERN)) == "other_line"
    assert word(one("x y INFO stage=download_end", record_format=PATTERN)) == "no_time"
    assert mark("2026-03-10 12:00:00 INFO stage=warm", record_format=PATTERN)["phase"] == "point"
    library = "2026-03-10 12:00:00 INFO Downloading data"
    assert mark(library, record_format=PATTERN)["basis"] == "library"
    assert mark(BARE, record_format=PATTERN)["basis"] == "event"


def test_more_lines_than_are_matched_together_stay_in_order():
    count = 2 * CHUNK_LINES + 3
    text = "\n".join(
        f"2026-03-10 12:00:00 INFO stage=s{n}_start" if n % 3 else json.dumps(BARE)
        for n in range(count)
    )
    found = parse(PARSER, text, record_format=PATTERN)
    check_each(found)
    assert [p.locator for p in found] == [f"line {n}" for n in range(1, count + 1)]
    names = [row["event_name"] for row in rows(found, "stage_marks")]
    assert names == [f"s{n}_start" if n % 3 else "model.load.start" for n in range(count)]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"stage=(\w+)", "a pattern with a group named event"),
        (r"(?P<event>a)(?P<event>b)", "each group once"),
        (r"(?P<event>a)(?P<pod>b)", "each group once"),
        (r"(?P<event>a(?=b))", "a pattern without look-around"),
        (r"(?P<event>a)\1", "a pattern without look-around"),
        (r"(?P<event>a", "a pattern without look-around"),
        (r"(?P<event>a{9999})", "repetitions of at most"),
        (r"(?P<event>(?:\w{1000}){1000})", "a pattern without look-around"),
        ("(?P<event>a)" + "b" * 2_000, "a pattern of at most"),
    ],
)
def test_a_pattern_that_cannot_be_used_refuses_every_line_and_says_why(pattern, why):
    found = line_pattern(pattern)
    assert isinstance(found, str)
    assert found.startswith(why)
    refused = parse(PARSER, "a\nb", record_format=pattern)
    check_each(refused)
    assert [word(p) for p in refused] == ["record_format"] * 2


def test_a_careless_pattern_takes_time_by_the_length_of_the_line_only():
    pattern = line_pattern(r"^(?P<event>(?:a|aa|a*)*)b$")
    assert isinstance(pattern, LinePattern)
    began = time.process_time()
    assert pattern.match(["a" * 16_000] * 20) == [None] * 20
    # Backtracking would take longer than the universe is old.
    assert time.process_time() - began < 20


# -- the whole ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "variant"),
    [
        (json.dumps(EVENT), "events as JSON"),
        (json.dumps({"stage": "model_load", "phase": "start", "ts": 1}), "events as JSON"),
        (json.dumps(document(otlp())), "OTLP logs of events"),
        ("hello\nDownloading data\n", "lines of libraries"),
        (f"2026-03-10T12:00:00Z stdout F {json.dumps(EVENT)}", "events as JSON in CRI"),
        ("2026-03-10T12:00:00Z stderr F Downloading data", "lines of libraries in CRI"),
    ],
)
def test_each_form_is_told_by_its_content(head, variant):
    found = detect(f"{head}\n".encode())
    assert isinstance(found, Detected)
    assert (found.parser.name, found.variant) == ("stage_marks", variant)


@pytest.mark.parametrize(
    "head",
    [
        json.dumps({"event.name": "user.login", "ts": 1}), json.dumps({"message": "hello"}),
        json.dumps(document(otlp("user.login"))), "hello\nworld\n", "",
        json.dumps({"event": "model_load_start", "ts": 1}),
    ],
)  # fmt: skip
def test_other_logs_are_not_taken(head):
    assert PARSER.recognise(head.encode()).score == 0


def test_a_key_that_other_logs_have_too_does_not_tell_the_format():
    event = {"eventSource": "ecr.amazonaws.com", "eventName": "BatchGetImage", "eventTime": "x",
             "eventType": "AwsApiCall"}  # fmt: skip
    head = json.dumps(event).encode()
    assert PARSER.recognise(head).score == 1
    found = detect(head)
    assert isinstance(found, Detected)
    assert found.parser.name == "cloudtrail"


@pytest.mark.samples
def test_no_sample_of_another_format_is_taken_and_what_is_none_is_ignored(samples):
    taken = {
        path.name
        for path in samples.rglob("*")
        if path.is_file() and PARSER.recognise(path.read_bytes()[: 64 << 10]).score > 1
    }
    assert taken == set()
    events = samples / "kubernetes" / "otlp_events_example.json"
    assert words(parse_file(PARSER, events)) == {"other_event": 1}
    text = samples / "polyaxon" / "offline_run" / "events_text_stage.plx"
    [row] = rows(parse_file(PARSER, text), "stage_marks")
    assert (row["activity"], row["phase"]) == ("dataset_download", "end")
    log = samples / "polyaxon" / "offline_run" / "plxlogs_logs.jsonl"
    assert set(words(parse_file(PARSER, log))) == {"other_line"}


def test_secrets_are_never_kept():
    token = "hf_" + "A1b2C3d4E5" * 4
    url = f"https://user:{token}@data.example.com/{token}?X-Amz-Signature={token}"
    found = [
        one(event({"resource.id": url, "error.type": token, "k8s.pod.name": token})),
        one(event({"event.name": f"download {token} start", "stage": ...})),
        one(f"2026-03-10 12:00:00 HTTP Error 503 thrown while requesting GET {url}"),
        one(f"2026-03-10 12:00:00 INFO stage=x_{token}", record_format=PATTERN),
        one({"event.name": "model_load_start", "note": "plainsecret"}),
    ]
    assert token not in written(found)
    assert token.lower() not in written(found).lower()
    assert "plainsecret" not in str(found[-1].raw)


@settings(max_examples=15)
@given(CUTS, st.integers(0, 3))
def test_damage_of_one_line_changes_no_other(cuts, at):
    text = "2026-03-10 12:00:00 Downloading data"
    texts = [json.dumps(EVENT), json.dumps(document(otlp())), text, json.dumps(BARE)]
    records = lines("\n".join(texts))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    found = parse(PARSER, records)
    check_each(found)
    check_rows(found)
    other = [p for p in found if not re.match(rf"line {at + 1}(?: |\Z)", p.locator)]
    assert [p.rows for p in other] == [p.rows for n, p in enumerate(clean) if n != at]


@settings(max_examples=40)
@given(st.text(max_size=40), st.text(max_size=10) | st.none())
def test_any_name_is_read_or_none_and_never_raises(text, activity):
    found = stage_name(text, activity)
    if found is not None:
        assert re.fullmatch(r"[a-z0-9]+(?:[._][a-z0-9]+)*", found.event_name)
        assert found.phase in {"start", "end", "point"}
        assert found.activity


@pytest.mark.parametrize(
    ("stated", "kept"),
    [
        ("user:hunter2@git.example.com/x", "git.example.com/x"),
        ("git@git.example.com:team/x.git", "git@git.example.com:team/x.git"),
        ("https://user:hunter2@git.example.com/x?token=hunter2", "https://git.example.com/x"),
        ("s3://example-datasets/a@b", "s3://example-datasets/a@b"),
    ],
)
def test_a_resource_is_kept_without_userinfo_with_a_scheme_or_without(stated, kept):
    assert resource(stated) == kept

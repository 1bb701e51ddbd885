"""Messages of containerd about pulls, from its journal in all its forms and from its own file.

Messages are built from the texts in containerd's source.
"""

import json
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
from transforms.staging.containerd import PARSER, registry_of
from transforms.staging.go_durations import seconds_of_go_duration

HEX = "0123456789abcdef" * 4
IMAGE = "registry.example.com:5000/ml/trainer:1.4"
NAMED = f"registry.example.com:5000/ml/trainer@sha256:{HEX}"
AT = datetime(2026, 3, 10, 12, 0, 1, 123_456, tzinfo=UTC)
PULLED = (
    f'Pulled image "{IMAGE}" with image id "sha256:{HEX}", repo tag "{IMAGE}", repo digest '
    f'"{NAMED}", size "2097152" in 1m21.284220239s'
)
SHARED = {"event_at": AT, "node": "node-1", "runtime": "containerd", "process_id": 812}
OF_IMAGE = {"image": IMAGE, "registry": "registry.example.com:5000"}


def message(msg: str, **fields: str) -> dict[str, str]:
    return {"time": "2026-03-10T12:00:01.123456789Z", "level": "info", "msg": msg} | fields


def text(fields: dict[str, str]) -> str:
    return " ".join(f"{k}={v if k == 'level' else json.dumps(v)}" for k, v in fields.items())


def journal(fields: dict[str, str], **changes) -> dict:
    return {
        "__CURSOR": "s=0a1b;i=1",
        "__REALTIME_TIMESTAMP": "1773144009000000",
        "_HOSTNAME": "node-1",
        "_SYSTEMD_UNIT": "containerd.service",
        "SYSLOG_IDENTIFIER": "containerd",
        "_PID": "812",
        "MESSAGE": text(fields),
    } | changes


def one(record, **context):
    line = record if isinstance(record, str) else json.dumps(record)
    [parsed] = parse(PARSER, line, **context)
    check_each([parsed])
    return parsed


def pull(record, **context):
    [row] = rows([one(record, **context)], "image_pull_logs")
    return stated(row, "record_id")


@pytest.mark.parametrize(
    ("fields", "row"),
    [
        (message(f'PullImage "{IMAGE}"'), {"event": "requested", **OF_IMAGE}),
        (message(f'PullImage "{IMAGE}" returns image reference "sha256:{HEX}"'),
         {"event": "returned", "image_id": f"sha256:{HEX}", **OF_IMAGE}),
        (message(f"stop pulling image {IMAGE}: active requests=2, bytes read=1048576"),
         {"event": "fetched", "transferred_bytes": 1_048_576, "active_request_count": 2,
          **OF_IMAGE}),
        (message(PULLED),
         {"event": "pulled", "image_id": f"sha256:{HEX}", "image_tag": IMAGE,
          "image_digest": f"sha256:{HEX}", "image_bytes": 2_097_152, "pull_seconds": 81.284220239,
          **OF_IMAGE}),
        (message(PULLED.partition(" in 1m")[0].replace(f'tag "{IMAGE}"', 'tag ""')),
         {"event": "pulled", "image_id": f"sha256:{HEX}", "image_digest": f"sha256:{HEX}",
          "image_bytes": 2_097_152, **OF_IMAGE}),
        (message(f'PullImage "{IMAGE}" failed', level="error",
                 error="failed to resolve reference: unexpected status code 403: 403 Forbidden"),
         {"event": "failed", "status": 403,
          "error": "failed to resolve reference: unexpected status code 403: 403 Forbidden",
          **OF_IMAGE}),
        (message(f"cancel pulling image {IMAGE} because of no progress in 5m0s", level="error"),
         {"event": "cancelled", "pull_seconds": 300.0, **OF_IMAGE}),
        (message("trying next host", error="dial tcp: i/o timeout", host="Mirror.example.com"),
         {"event": "retried", "error": "dial tcp: i/o timeout", "registry": "mirror.example.com"}),
        (message("trying next host - response was http.StatusNotFound", host="mirror.example.com"),
         {"event": "retried", "status": 404, "registry": "mirror.example.com",
          "error": "trying next host - response was http.StatusNotFound"}),
        (message(f'PullImage "{NAMED}"'),
         {"event": "requested", "image": NAMED, "image_digest": f"sha256:{HEX}",
          "registry": "registry.example.com:5000"}),
    ],
)  # fmt: skip
def test_every_message_of_a_pull_is_read_in_every_form(fields, row):
    whole = SHARED | row
    assert pull(journal(fields)) == whole
    prefix = "Mar 10 12:00:09 node-1 containerd[812]: "
    assert pull(prefix + text(fields)) == whole
    assert pull(text(fields), node="node-1") == stated(whole, "process_id")
    assert pull(fields, node="node-1") == stated(whole, "process_id")


def test_messages_of_every_kind_fit_the_table():
    failed = message(f'PullImage "{IMAGE}" failed', error="403 Forbidden")
    check_rows([one(journal(m)) for m in (message(PULLED), failed, message("trying next host"))])


@pytest.mark.parametrize(
    "prefix",
    [
        "Mar 10 12:00:09.123456 node-1 containerd[812]: ",
        "2026-03-10T12:00:09+0000 node-1 containerd[812]: ",
        "2026-03-10T12:00:09.123456+01:00 node-1 containerd[812]: ",
        "1773144009.123456 node-1 containerd[812]: ",
        "Tue 2026-03-10 12:00:09 UTC node-1 containerd[812]: ",
    ],
)
def test_every_short_form_of_the_journal_is_read(prefix):
    assert pull(prefix + text(message(f'PullImage "{IMAGE}"')))["event_at"] == AT


@pytest.mark.parametrize(
    ("prefix", "at"),
    [
        ("2026-03-10T13:00:09+0100 n containerd: ", datetime(2026, 3, 10, 12, 0, 9, tzinfo=UTC)),
        ("1773144009.5 n containerd: ", datetime(2026, 3, 10, 12, 0, 9, 500_000, tzinfo=UTC)),
    ],
)
def test_the_journals_time_counts_where_containerd_wrote_none(prefix, at):
    fields = message(f'PullImage "{IMAGE}"', time="-")
    assert pull(prefix + text(fields))["event_at"] == at
    assert word(one(f"Mar 10 12:00:09 n containerd: {text(fields)}")) == "no_time"


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"MESSAGE": list(text(message(f'PullImage "{IMAGE}"')).encode())}, {"image": IMAGE}),
        ({"_HOSTNAME": ...}, {"node": None}),
        ({"_PID": ...}, {"process_id": None}),
        ({"SYSLOG_IDENTIFIER": ...}, {"image": IMAGE}),
        ({"SYSLOG_IDENTIFIER": ..., "_SYSTEMD_UNIT": ..., "_COMM": "containerd"},
         {"image": IMAGE}),
        ({"__CURSOR": ..., "__REALTIME_TIMESTAMP": ...}, {"event_at": AT}),
    ],
)  # fmt: skip
def test_every_optional_value_of_the_journal_is_read(changes, found):
    record = journal(message(f'PullImage "{IMAGE}"'))
    record = {k: v for k, v in (record | changes).items() if v is not ...}
    row = pull(record)
    assert {name: row.get(name) for name in found} == found


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (journal(message("loading plugin")), "other_line"),
        (journal(message("x"), SYSLOG_IDENTIFIER="kubelet", _SYSTEMD_UNIT="kubelet.service"),
         "other_unit"),
        (journal(message("x"), MESSAGE=None), "too_long_for_the_journal"),
        (journal(message("x"), MESSAGE="panic: runtime error"), "other_line"),
        ("Mar 10 12:00:09 node-1 kubelet[9]: I0310 12:00:09 x", "other_unit"),
        ("-- Boot 0a1b2c3d --", "journal_note"),
        ("-- Logs begin at Tue 2026-03-10 00:00:00 UTC, end at Tue 2026-03-10. --", "journal_note"),
        (text(message("ImageCreate event name:\\\"x\\\"")), "other_line"),
        ("nonsense", "unreadable_line"),
        (text(message("PullImage"))[:-1], "unreadable_line"),
        ({"a": 1}, "no_message"),
        ("{", "invalid_json"),
        (journal(message("x"), MESSAGE=5), "wrong_value"),
        (journal(message("x"), MESSAGE=[300]), "wrong_value"),
        (journal(message(f'PullImage "{IMAGE}"', time="?"), __REALTIME_TIMESTAMP="0"), "no_time"),
        ("x" * 70_000, "unreadable_line"),
    ],
)  # fmt: skip
def test_everything_else_is_ignored_or_refused_by_a_word(record, reason):
    assert word(one(record)) == reason


@pytest.mark.parametrize(
    ("image", "registry"),
    [
        ("docker.io/library/x:1", "docker.io"), ("library/x", "docker.io"), ("x:1", "docker.io"),
        ("localhost/x", "localhost"), ("host:5000/x", "host:5000"), ("a.b/c/d@sha256:0", "a.b"),
        ("", None), (None, None),
    ],
)  # fmt: skip
def test_the_registry_is_the_host_that_an_image_names(image, registry):
    assert registry_of(image) == registry


@pytest.mark.parametrize(
    ("written_as", "seconds"),
    [
        ("954ms", 0.954), ("1.005s", 1.005), ("1m21.284220239s", 81.284220239), ("2m40s", 160.0),
        ("1h2m3.004s", 3_723.004), ("284.5µs", 0.0002845), ("12us", 0.000012), ("0s", 0.0),
        ("1.999999999ms", 0.001999999), ("-1s", None), ("1x", None), ("", None), ("s" * 50, None),
    ],
)  # fmt: skip
def test_durations_are_read_as_go_prints_them(written_as, seconds):
    found = seconds_of_go_duration(written_as)
    assert found == (None if seconds is None else pytest.approx(seconds, abs=1e-12))


@pytest.mark.parametrize(
    ("head", "variant"),
    [
        (json.dumps(journal(message("x"))), "journal, JSON"),
        ("Mar 10 12:00:09 node-1 containerd[8]: time", "journal, text"),
        ("-- Boot 0a --\nMar 10 12:00:09 n kubelet[9]: x\nMar 10 12:00:09 n containerd[8]: x",
         "journal, text"),
        (text(message(f'PullImage "{IMAGE}"')), "containerd's file"),
        (json.dumps(message(f'PullImage "{IMAGE}"')), "containerd's file, JSON"),
    ],
)  # fmt: skip
def test_each_form_is_told_by_its_content(head, variant):
    found = detect(f"{head}\n".encode())
    assert isinstance(found, Detected)
    assert (found.parser.name, found.variant) == ("containerd", variant)


@pytest.mark.parametrize(
    "head",
    [text(message("listening")), json.dumps(message("x")), "Mar 10 12:00:09 n kubelet[8]: x"],
)
def test_other_logs_are_not_taken(head):
    assert PARSER.recognise(f"{head}\n".encode()).score == 0


def test_one_line_of_two_exports_has_one_id_and_another_node_another():
    fields = message(f'PullImage "{IMAGE}"')
    found = [
        one(journal(fields)),
        one(f"Mar 10 12:00:09 node-1 containerd[812]: {text(fields)}"),
        one(journal(fields, _HOSTNAME="node-2")),
    ]
    ids = [row["record_id"] for row in rows(found, "image_pull_logs")]
    assert ids[0] == ids[1] != ids[2]


def test_secrets_of_a_failed_pull_are_never_kept():
    token = "hf_" + "A1b2C3d4E5" * 4
    error = f'Get "https://user:{token}@registry.example.com/v2/?token={token}": 401 Unauthorized'
    found = [
        one(journal(message(f'PullImage "{IMAGE}" failed', error=error))),
        one(journal(message(f'PullImage "registry.example.com/{token}/x"'))),
    ]
    assert token not in written(found)
    assert words(found) == {"accepted": 2}


@settings(max_examples=15)
@given(CUTS, st.integers(0, 3))
def test_damage_of_one_line_changes_no_other(cuts, at):
    fields = message(PULLED)
    forms = [
        json.dumps(journal(fields)), f"Mar 10 12:00:09 n containerd[8]: {text(fields)}",
        text(fields), json.dumps(fields),
    ]  # fmt: skip
    records = lines("\n".join(forms))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, records), clean, at)


def test_a_wrapper_supplies_time_and_node(tmp_path):
    path = tmp_path / "pulls.log"
    fields = message(f'PullImage "{IMAGE}"', time="?")
    path.write_text(f"2026-03-10T12:00:01.5Z stdout F {text(fields)}\n" * 2)
    found = rows(parse_records(path, PARSER, CONTEXT), "image_pull_logs")
    assert [row["event_at"] for row in found] == [AT.replace(microsecond=500_000)] * 2

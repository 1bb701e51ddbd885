"""Every wrapper comes off: what stood in it, where, and what it says of time, node, pod, stream."""

import base64
import gzip
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging import cloud_envelopes
from transforms.staging.line_pieces import Piece
from transforms.staging.parser import Wrapper
from transforms.staging.wrapper_kinds import LABELS, peel

AT = datetime(2026, 3, 10, 8, 0, 0, 123456, tzinfo=UTC)
STAMP = "2026-03-10T08:00:00.123456789Z"
NS = 1_773_129_600_123_456_789
TIME = {"at": AT, "written": STAMP, "nanoseconds": NS}
UID = "9d0f1a52-6f0e-4f5e-8a53-4a1e0c2b7d11"
POD = {
    "namespace": "kube-system",
    "pod_name": "coredns-1",
    "pod_uid": UID,
    "container": "coredns",
    "node": "node-1.example.com",
}


def one(value):
    """The only record in a wrapper, with the wrapper's kind."""
    peeled = peel(value if isinstance(value, bytes) else json.dumps(value).encode())
    (inner,) = list(peeled.inner)
    return peeled.kind, peeled.is_sure, inner


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (f"{STAMP} stdout F a b", b"a b", Wrapper(**TIME, stream="stdout")),
        (
            "2026-03-10T10:00:00.5+02:00 stderr F:x a",
            b"a",
            Wrapper(
                datetime(2026, 3, 10, 8, 0, 0, 500000, tzinfo=UTC),
                "2026-03-10T10:00:00.5+02:00",
                1_773_129_600_500_000_000,
                stream="stderr",
            ),
        ),
        (
            "2016-12-31T23:59:60.25Z stdout F a",
            b"a",
            Wrapper(
                datetime(2016, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
                "2016-12-31T23:59:60.25Z",
                1_483_228_799_999_999_000,
                stream="stdout",
            ),
        ),
    ],
)
def test_a_cri_line(line, text, said):
    kind, is_sure, inner = one(line.encode())
    assert (kind, is_sure, inner.data, inner.wrapper) == ("cri", True, text, said)


def test_a_line_of_dockers_json_file():
    kind, is_sure, inner = one({"log": 'say "é"\n', "stream": "stderr", "time": STAMP})
    assert (kind, is_sure) == ("docker", True)
    assert inner.data == 'say "é"'.encode()
    assert inner.wrapper == Wrapper(**TIME, stream="stderr")


FLUENT_BIT = {
    "host": "node-1.example.com",
    "pod_name": "coredns-1",
    "namespace_name": "kube-system",
    "pod_id": UID,
    "container_name": "coredns",
    "labels": {"app": "dns"},
}
VECTOR = {
    "pod_node_name": "node-1.example.com",
    "pod_name": "coredns-1",
    "pod_namespace": "kube-system",
    "pod_uid": UID.upper(),
    "container_name": "coredns",
}
FILEBEAT = {
    "node": {"name": "node-1.example.com"},
    "pod": {"name": "coredns-1", "uid": UID},
    "namespace": "kube-system",
    "container": {"name": "coredns"},
}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"log": "a\n", "stream": "stdout", "time": STAMP, "kubernetes": FLUENT_BIT}, "log"),
        ({"message": "a", "stream": "stdout", "timestamp": STAMP, "kubernetes": VECTOR}, "message"),
        (
            {
                "message": "a",
                "stream": "stdout",
                "@timestamp": STAMP,
                "log": {"file": {"path": "/var/log/x"}, "offset": 7},
                "kubernetes": FILEBEAT,
            },
            "message",
        ),
    ],
)
def test_the_object_of_a_shipper(value, kind):
    found, is_sure, inner = one(value)
    assert (found, is_sure, inner.data) == (f"shipper.{kind}", True, b"a")
    assert inner.wrapper == Wrapper(**TIME, **POD, stream="stdout")


@pytest.mark.parametrize("key", ["message", "log", "log_processed", "structured", "json"])
def test_a_record_that_a_shipper_decoded(key):
    kind, _, inner = one({key: {"b": [1, "x"]}, "kubernetes": FLUENT_BIT})
    assert (kind, inner.data) == (f"shipper.{key}", b'{"b":[1,"x"]}')
    assert inner.wrapper == Wrapper(**POD)


@pytest.mark.parametrize(
    ("date", "nanoseconds"),
    [
        ("1773129600.123456", 1_773_129_600_123_456_000),
        ("1773129600", 1_773_129_600_000_000_000),
        ("1.7731296001234567e9", 1_773_129_600_123_456_700),
        ('"1773129600.5"', 1_773_129_600_500_000_000),
        ("0", None),
        ("-5", None),
        ("253402300799", 253_402_300_799_000_000_000),
        ("253402300800", None),
        ("1e300", None),
        ("9" * 400, None),
        ("true", None),
        ("[]", None),
        ('"yesterday"', None),
    ],
)
def test_a_time_in_seconds_is_exact_or_unknown(date, nanoseconds):
    _, _, inner = one(f'{{"log": "a", "date": {date}}}'.encode())
    assert inner.wrapper.nanoseconds == nanoseconds


def test_a_line_of_a_fluentd_file():
    kind, _, inner = one(f'{STAMP}\tkube.x\t{{"log": "a"}}'.encode())
    assert (kind, inner.data) == ("fluent_file", b'{"log": "a"}')
    assert inner.wrapper == Wrapper(**TIME)
    kind, _, inner = one(b'kube.x: [1773129600.123456789, {"log": "a"}]')
    assert (kind, inner.data, inner.wrapper.at) == ("fluent_file", b'{"log": "a"}', AT)


LABELLED = {
    "node_name": "node-1.example.com",
    "pod": "coredns-1",
    "namespace": "kube-system",
    "container": "coredns",
    "stream": "stdout",
}
LOKI_POD = {k: v for k, v in POD.items() if k != "pod_uid"}


def loki_said(nanoseconds=NS, at=AT):
    return Wrapper(at, str(nanoseconds), nanoseconds, **LOKI_POD, stream="stdout")


LATER = datetime(2026, 3, 10, 8, 0, 1, 123456, tzinfo=UTC)
VALUES = [[str(NS + 10**9), "b"], [str(NS), "a", {"trace_id": "t"}]]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"streams": [{"stream": LABELLED, "values": VALUES}]}, ".streams[0].values"),
        (
            {
                "status": "success",
                "data": {
                    "resultType": "streams",
                    "result": [{"stream": LABELLED, "values": VALUES}],
                    "stats": {"summary": {"bytesProcessedPerSecond": 5}},
                },
            },
            ".data.result[0].values",
        ),
        ({"stream": LABELLED, "values": VALUES}, ".values"),
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_streams_of_loki(document, path, indent):
    data = json.dumps(document, indent=indent).encode()
    peeled = peel(data)
    found = list(peeled.inner)
    assert (peeled.kind, peeled.is_sure) == ("loki", True)
    assert [(i.data, i.step) for i in found] == [(b"b", f"{path}[0]"), (b"a", f"{path}[1]")]
    assert [i.wrapper for i in found] == [loki_said(NS + 10**9, LATER), loki_said()]
    assert all(json.JSONDecoder().raw_decode(data[i.at :].decode())[0][1] for i in found)


def test_entries_of_loki_with_labels_as_text():
    labels = '{node_name="node-1.example.com", pod="coredns-1", namespace="kube-system", a="\\"}"}'
    streams = [
        {"labels": labels, "entries": [{"ts": STAMP, "line": "a"}, {"line": "b"}, {"ts": STAMP}]}
    ]
    found = list(peel(json.dumps({"streams": streams}).encode()).inner)
    assert [(i.data, i.step) for i in found] == [
        (b"a", ".streams[0].entries[0]"),
        (b"b", ".streams[0].entries[1]"),
        (b"", ".streams[0].entries[2]"),
    ]
    assert found[0].wrapper == Wrapper(
        **TIME, node="node-1.example.com", pod_name="coredns-1", namespace="kube-system"
    )
    assert found[1].wrapper.at is None
    assert found[2].problem.startswith("wrong_type: expected a time and a line")


def test_structured_metadata_of_loki_names_the_pod():
    values = [[str(NS), "a", {"structuredMetadata": {"pod": "p-1", "k8s_pod_uid": UID}}]]
    ((inner),) = peel(json.dumps({"stream": {"app": "x"}, "values": values}).encode()).inner
    assert (inner.wrapper.pod_name, inner.wrapper.pod_uid) == ("p-1", UID)


def test_a_line_of_logcli():
    kind, _, inner = one({"labels": LABELLED, "line": "a", "timestamp": STAMP})
    assert (kind, inner.data) == ("loki.line", b"a")
    assert inner.wrapper == Wrapper(**TIME, **LOKI_POD, stream="stdout")


def test_values_of_loki_that_are_none_are_refused_one_by_one():
    streams = [
        {"stream": LABELLED, "values": [5, [str(NS)], [str(NS), 5], [str(NS), "a"], {"line": 1}]},
        5,
        {"stream": 7, "values": 7},
        {"stream": 7, "values": [[None, "b"]]},
    ]
    found = list(peel(json.dumps({"streams": streams}).encode()).inner)
    assert [(i.data, (i.problem or "").partition(":")[0]) for i in found] == [
        (b"", "wrong_type"),
        (b"", "wrong_type"),
        (b"", "wrong_type"),
        (b"a", ""),
        (b"", "wrong_type"),
        (b"", "wrong_type"),
        (b"", "wrong_type"),
        (b"b", ""),
    ]
    assert found[-1].wrapper == Wrapper()


def test_lines_that_the_store_gives_newest_first_are_joined_oldest_first():
    values = [[str(NS + i), f"{STAMP} stdout {tag} x"] for i, tag in ((2, "F"), (1, "P"))]
    found = list(peel(json.dumps({"stream": {}, "values": values}).encode()).inner)
    assert [i.step for i in found] == [".values[1]", ".values[0]"]


SUBSCRIPTION = {
    "messageType": "DATA_MESSAGE",
    "owner": "111122223333",
    "logGroup": "/aws/eks",
    "logStream": "s-1",
    "subscriptionFilters": ["f"],
    "logEvents": [
        {"id": "1", "timestamp": 1_773_129_600_123, "message": "a\n"},
        {"id": "2", "timestamp": "soon", "message": '{"b": 1}'},
        {"id": "3"},
    ],
}


def test_a_subscription_of_cloudwatch():
    data = json.dumps(SUBSCRIPTION).encode()
    peeled = peel(data)
    found = list(peeled.inner)
    assert (peeled.kind, peeled.is_sure) == ("cloudwatch", True)
    assert [(i.data, i.step) for i in found] == [
        (b"a", ".logEvents[0].message"),
        (b'{"b": 1}', ".logEvents[1].message"),
        (b"", ".logEvents[2].message"),
    ]
    assert found[0].wrapper == Wrapper(
        datetime(2026, 3, 10, 8, 0, 0, 123000, tzinfo=UTC),
        "1773129600123",
        1_773_129_600_123_000_000,
    )
    assert found[1].wrapper == Wrapper()
    assert found[2].problem == "no_message: expected an event with a message, got none"
    assert data[found[1].at :].startswith(b'{"id": "2"')


def test_a_control_message_of_cloudwatch_is_no_record():
    _, _, inner = one(SUBSCRIPTION | {"messageType": "CONTROL_MESSAGE"})
    assert inner.left_out == "control_message"


def packed(data):
    return {"awslogs": {"data": base64.b64encode(data).decode()}}


def test_what_lambda_gets_is_packed():
    kind, _, inner = one(packed(gzip.compress(json.dumps(SUBSCRIPTION).encode())))
    assert (kind, json.loads(inner.data)) == ("lambda", SUBSCRIPTION)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ({"awslogs": {"data": "***"}}, "damaged"),
        (packed(b"no gzip"), "damaged"),
        (packed(gzip.compress(b"x" * 99)[:-9]), "damaged"),
        (packed(gzip.compress(b"x" * 5_000)), "too_large"),
    ],
)
def test_a_packed_message_that_is_none_is_refused(value, word, monkeypatch):
    monkeypatch.setattr(cloud_envelopes, "MAX_INFLATED", 4_000)
    _, _, inner = one(value)
    assert inner.problem.startswith(f"{word}: expected ")


ENTRY = {
    "insertId": "x",
    "logName": "projects/p/logs/stdout",
    "resource": {
        "type": "k8s_container",
        "labels": {
            "pod_name": "coredns-1",
            "namespace_name": "kube-system",
            "container_name": "coredns",
            "cluster_name": "alder",
        },
    },
    "labels": {"compute.googleapis.com/resource_name": "node-1.example.com"},
    "timestamp": STAMP,
    "receiveTimestamp": "2026-03-10T08:00:09Z",
}


@pytest.mark.parametrize(
    ("payload", "data"),
    [({"textPayload": "a\n"}, b"a"), ({"jsonPayload": {"b": 1}}, b'{"b":1}')],
)
def test_an_entry_of_google_cloud(payload, data):
    kind, is_sure, inner = one(ENTRY | payload)
    assert (kind, is_sure, inner.data) == (f"log_entry.{next(iter(payload))}", False, data)
    assert inner.wrapper == Wrapper(**TIME, **LOKI_POD, stream="stdout")


def test_an_entry_that_google_cloud_split_is_a_piece():
    split = {"uid": "u", "index": 1, "totalSplits": 2}
    assert one(ENTRY | {"textPayload": "a", "split": split})[2].piece == Piece(
        is_last=True, id="u", ordinal=2
    )
    split = {"uid": "u", "totalSplits": 2}
    assert one(ENTRY | {"textPayload": "a", "split": split})[2].piece == Piece(id="u", ordinal=1)


def test_records_of_azure():
    data = json.dumps({"records": [{"a": 1}, {"b": 2}]}).encode()
    peeled = peel(data)
    found = list(peeled.inner)
    assert (peeled.kind, peeled.is_sure) == ("azure_records", False)
    assert [(i.data, i.step, data[i.at :][:4]) for i in found] == [
        (b'{"a":1}', ".records[0]", b'{"a"'),
        (b'{"b":2}', ".records[1]", b'{"b"'),
    ]


@pytest.mark.parametrize("as_text", [False, True])
def test_a_resource_log_of_azure_with_a_line(as_text):
    properties = {"log": '{"kind":"Event"}\n', "stream": "stderr", "pod": "kube-apiserver-1"}
    value = {
        "time": STAMP,
        "category": "kube-audit",
        "resourceId": "/X",
        "properties": json.dumps(properties) if as_text else properties,
    }
    kind, _, inner = one(value)
    assert (kind, inner.data) == ("azure_properties", b'{"kind":"Event"}')
    assert inner.wrapper == Wrapper(**TIME, pod_name="kube-apiserver-1", stream="stderr")


def test_a_container_log_of_azure_monitor():
    value = {
        "TimeGenerated": STAMP,
        "Computer": "node-1.example.com",
        "PodNamespace": "kube-system",
        "PodName": "coredns-1",
        "ContainerName": "coredns",
        "LogSource": "stdout",
        "LogMessage": "a",
    }
    kind, _, inner = one(value)
    assert (kind, inner.data) == ("azure_log", b"a")
    assert inner.wrapper == Wrapper(**TIME, **LOKI_POD, stream="stdout")


def test_hits_of_elasticsearch():
    hit = {"_index": "i", "_id": "1", "_source": {"message": "a"}}
    kind, is_sure, inner = one(hit)
    assert (kind, is_sure, inner.data) == ("elasticsearch", True, b'{"message":"a"}')
    answer = json.dumps({"took": 1, "hits": {"total": 2, "hits": [hit, {"_id": "2"}]}}).encode()
    found = list(peel(answer).inner)
    assert [(i.data, i.step) for i in found] == [
        (b'{"message":"a"}', ".hits.hits[0]._source"),
        (b"", ".hits.hits[1]._source"),
    ]
    assert found[1].problem == "no_source: expected a hit with its source"


def test_objects_behind_each_other_are_parted_and_a_torn_one_costs_itself():
    data = b'{"a": "}{\\"a\\":", "b": {"a": 1}} {"a": 2}{"c": [{"a": 1}]}{"a": "x{"a": 3}'
    peeled = peel(data)
    found = list(peeled.inner)
    assert (peeled.kind, peeled.is_sure) == ("concatenated", True)
    assert [i.data for i in found] == [
        b'{"a": "}{\\"a\\":", "b": {"a": 1}}',
        b'{"a": 2}',
        b'{"c": [{"a": 1}]}',
        b'{"a": "x',
        b'{"a": 3}',
    ]
    assert [i.step for i in found] == [f"[{n}]" for n in range(5)]
    assert all(data[i.at :].startswith(i.data) for i in found)


@pytest.mark.parametrize(
    ("value", "piece"),
    [
        ({"log": "a", "_p": "P", "kubernetes": {}}, Piece()),
        ({"log": "a", "_p": "F", "kubernetes": {}}, None),
        ({"log": "a", "logtag": "P:x"}, Piece()),
        ({"message": "a", "_partial": True}, Piece()),
        ({"message": "a", "_partial": False}, None),
        ({"log": "a", "partial_message": "true"}, Piece()),
        (
            {"log": "a", "partial_message": "true", "partial_id": "x", "partial_ordinal": "1"},
            Piece(id="x", ordinal=1),
        ),
        (
            {"log": "a", "partial_id": "x", "partial_ordinal": 2, "partial_last": "true"},
            Piece(is_last=True, id="x", ordinal=2),
        ),
        ({"log": "a", "partial_message": "false"}, None),
    ],
)
def test_a_shipper_marks_pieces(value, piece):
    assert one(value)[2].piece == piece


def test_containers_write_lines_of_their_own():
    def source(**changes):
        return one({"log": "a", "stream": "stdout", "kubernetes": FLUENT_BIT | changes})[2].source

    others = [{"pod_id": None}, {"container_name": "x"}, {"pod_name": "x"}, {"docker_id": "x"}]
    assert len({source(), *(source(**other) for other in others)}) == 5


@pytest.mark.parametrize(
    "value",
    [
        {"flow": {"time": STAMP}},
        {"log": 5},
        {"log": None, "message": [1]},
        {"streams": 5},
        {"streams": [5]},
        {"data": {"resultType": "matrix", "result": []}},
        {"data": {"resultType": "streams"}},
        {"data": "x"},
        {"logEvents": 5, "messageType": "x"},
        {"logEvents": []},
        {"awslogs": {"data": 5}},
        {"awslogs": 5},
        {"records": [5]},
        {"records": "x"},
        {"hits": {"hits": 5}},
        {"_source": 5, "_id": "x"},
        {"textPayload": "a"},
        {"labels": 5, "line": "x"},
        {"labels": {}, "line": 5},
        {"stream": 5, "values": []},
        {"properties": {"log": "x"}},
        {"properties": 5, "category": "x"},
        {"LogMessage": [1]},
        [],
        [5],
        5,
        "text",
    ],
)
def test_what_is_no_wrapper_stays(value):
    assert peel(json.dumps(value).encode()) is None


def test_a_text_of_no_unicode_is_refused():
    _, _, inner = one(b'{"log": "\xff\xfe", "stream": "stdout"}')
    assert inner.problem.startswith("wrong_text: expected ")


@pytest.mark.parametrize(
    "names", [5, "x", ["x"], {"host": 5}, {"host": "a b"}, {"host": "x" * 300}]
)
def test_names_that_are_none_are_unknown(names):
    _, _, inner = one({"log": "a", "kubernetes": names})
    assert inner.wrapper == Wrapper()


HOSTILE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.just(STAMP)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "log",
                    "message",
                    "time",
                    "stream",
                    "kubernetes",
                    "streams",
                    "values",
                    "data",
                    "result",
                    "resultType",
                    "logEvents",
                    "messageType",
                    "records",
                    "properties",
                    "category",
                    "textPayload",
                    "logName",
                    "hits",
                    "_source",
                    "_id",
                    "line",
                    "labels",
                    "awslogs",
                    "host",
                    "entries",
                    "split",
                    "LogMessage",
                    "partial_id",
                    "partial_ordinal",
                ]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=20,
)


@given(HOSTILE)
def test_any_value_is_peeled_or_stays(value):
    peeled = peel(json.dumps(value).encode())
    if peeled is not None:
        for inner in peeled.inner:
            assert isinstance(inner.data, bytes)
            assert inner.problem is None or ": expected " in inner.problem
        assert peeled.kind.partition(".")[0] in LABELS


@given(st.binary(max_size=60))
def test_any_bytes_are_peeled_or_stay(data):
    for start in (b"", b"{", b"[", b'{"log":', f"{STAMP} stdout ".encode()):
        peeled = peel(start + data)
        assert peeled is None or [inner.data for inner in peeled.inner]

"""Wrappers come off, pieces are joined, and every record has one result in source order."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import lines
from transforms.staging.line_pieces import MAX_JOINED, MAX_WAITING
from transforms.staging.shipper_objects import DOCKER_PIECE
from transforms.staging.wrappers import unwrap

AT = datetime(2026, 3, 10, 8, 0, 0, 123456, tzinfo=UTC)
STAMP = "2026-03-10T08:00:00.123456789Z"
NANOSECONDS = "1773129600123456789"


def results(text):
    return list(unwrap(lines(text)))


def fates(text):
    return [
        item.text if item.verdict is None else item.verdict.ignore or item.verdict.reject
        for item in results(text)
    ]


@pytest.mark.parametrize(
    ("line", "text", "at", "stamp"),
    [
        (f"{STAMP} stdout F hello world", "hello world", AT, NANOSECONDS),
        (f"{STAMP} stderr F  two blanks", " two blanks", AT, NANOSECONDS),
        (f"{STAMP} stdout F", "", AT, NANOSECONDS),
        (f"{STAMP} stdout F ", "", AT, NANOSECONDS),
        (f"{STAMP} stdout F:tag:x hello", "hello", AT, NANOSECONDS),
        (
            "2026-03-10T10:00:00.123456+02:00 stdout F a",
            "a",
            AT,
            "1773129600123456000",
        ),
        ("2026-03-10T08:00:00Z stdout F a", "a", AT.replace(microsecond=0), "1773129600000000000"),
        ("hello world", "hello world", None, None),
        ("2026-99-10T08:00:00.1Z stdout F a", "2026-99-10T08:00:00.1Z stdout F a", None, None),
        (f"{STAMP} stdout X a", f"{STAMP} stdout X a", None, None),
        (f"{STAMP} [INFO] a", f"{STAMP} [INFO] a", None, None),
    ],
)
def test_a_runtime_line_gives_text_and_time(line, text, at, stamp):
    [item] = results(line)
    assert (item.text, item.wrapped_at, item.stamp, item.verdict) == (text, at, stamp, None)


@pytest.mark.parametrize(
    ("value", "text", "at", "node"),
    [
        ({"log": "a b\n", "stream": "stdout", "time": STAMP}, "a b", AT, None),
        ({"log": "a b", "stream": "stdout", "time": STAMP}, "a b", AT, None),
        (
            {"message": "a", "@timestamp": STAMP, "kubernetes": {"node": {"name": "n1"}}},
            "a",
            AT,
            "n1",
        ),
        ({"log": "a", "time": STAMP, "_p": "F", "kubernetes": {"host": "n1"}}, "a", AT, "n1"),
        (
            {"message": "a", "timestamp": STAMP, "kubernetes": {"pod_node_name": "n1"}},
            "a",
            AT,
            "n1",
        ),
        ({"log": "a", "date": 1773129600.123456}, "a", AT, None),
        ({"log": "a", "time": "yesterday", "kubernetes": 5}, "a", None, None),
        ({"log": "a", "time": True, "kubernetes": {"host": "a b"}}, "a", None, None),
        ({"log": "a"}, "a", None, None),
    ],
)
def test_a_shippers_object_gives_text_time_and_node(value, text, at, node):
    [item] = results(json.dumps(value))
    assert (item.text, item.wrapped_at, item.node, item.verdict) == (text, at, node, None)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('{"log": "a"', "invalid_json"),
        ('{"log": 5, "time": "x"}', "no_text"),
        ('{"flow": {}}', "no_text"),
        ('{"a":' + "[" * 50_000, "invalid_json"),
    ],
)
def test_an_object_without_a_text_is_refused(line, word):
    [item] = results(line)
    assert item.verdict is not None
    assert item.verdict.reject.startswith(f"{word}: expected ")


def test_pieces_of_one_stream_are_joined_into_the_record_that_ends_them():
    found = results(
        f"{STAMP} stdout P one \n"
        f"{STAMP} stderr F other\n"
        f"{STAMP} stdout P:x two \n"
        "2026-03-10T08:00:01Z stdout F three\n"
        f"{STAMP} stdout F after"
    )
    assert [item.raw.locator for item in found] == [f"line {n}" for n in range(1, 6)]
    assert [item.text for item in found] == ["", "other", "", "one two three", "after"]
    assert [item.verdict.ignore if item.verdict else None for item in found] == [
        "partial", None, "partial", None, None,
    ]  # fmt: skip
    joined = found[3]
    assert joined.wrapped_at == datetime(2026, 3, 10, 8, 0, 1, tzinfo=UTC)
    assert joined.raw.data == b"2026-03-10T08:00:01Z stdout F one two three"


def test_two_streams_in_pieces_at_once_stay_apart():
    text = "\n".join(
        f"{STAMP} {rest}"
        for rest in ("stdout P a", "stderr P x", "stdout F b", "stderr F y", "stdout F c")
    )
    assert fates(text) == ["partial", "partial", "ab", "xy", "c"]


def test_a_piece_of_docker_is_a_full_buffer_without_a_line_end():
    long = "x" * DOCKER_PIECE
    text = "\n".join(
        json.dumps({"log": log, "stream": "stdout", "time": STAMP}) for log in (long, "y\n", "z\n")
    )
    assert fates(text) == ["partial", long + "y", "z"]


@pytest.mark.parametrize("tag", [{"_p": "P"}, {"logtag": "P"}, {"_partial": True}])
def test_a_shipper_tags_pieces_too(tag):
    text = "\n".join(
        json.dumps({"log": log, "time": STAMP} | more) for log, more in (("a", tag), ("b", {}))
    )
    assert fates(text) == ["partial", "ab"]


def test_a_line_that_never_ends_is_refused_without_its_text():
    found = results(f"{STAMP} stdout P token=abc\n{STAMP} stderr F other\n{STAMP} stdout P def")
    assert [item.text for item in found] == ["", "other", ""]
    for item in (found[0], found[2]):
        assert item.verdict.reject.startswith("unfinished_line: expected ")
        assert item.verdict.raw == f"{STAMP} stdout P ".encode()


def test_waiting_for_the_end_of_a_line_is_bounded():
    text = f"{STAMP} stdout P a\n" + f"{STAMP} stderr F b\n" * (MAX_WAITING + 5)
    taken = 0

    def counted():
        nonlocal taken
        for raw in lines(text):
            taken += 1
            yield raw

    found = unwrap(counted())
    first = next(found)
    assert first.verdict.reject.startswith("unfinished_line")
    assert taken == MAX_WAITING + 1
    assert sum(1 for _ in found) == MAX_WAITING + 5


def test_the_length_of_a_joined_line_is_bounded():
    piece = "x" * (MAX_JOINED // 2)
    text = f"{STAMP} stdout P {piece}\n" * 3 + f"{STAMP} stdout F end"
    fate = fates(text)
    assert [f.partition(":")[0] for f in fate] == ["unfinished_line"] * 3 + ["end"]


def test_a_record_without_pieces_is_given_at_once():
    def endless():
        while True:
            yield lines(f"{STAMP} stdout F a")[0]

    assert next(unwrap(endless())).text == "a"


LINES = st.lists(
    st.one_of(
        st.builds(
            lambda stream, tag, text: f"{STAMP} {stream} {tag} {text}".encode(),
            st.sampled_from(["stdout", "stderr"]),
            st.sampled_from(["P", "F"]),
            st.text("ab ", max_size=3),
        ),
        st.binary(min_size=1, max_size=30).filter(lambda b: b"\n" not in b and b.strip()),
        st.sampled_from([b'{"log":"a","_p":"P"}', b'{"log":"b","time":"x"}', b"{", b"[1]"]),
    ),
    max_size=30,
)


@given(LINES)
def test_every_record_has_one_result_in_source_order(data):
    records = lines(b"\n".join(data))
    found = list(unwrap(records))
    assert [(item.raw.locator, item.raw.offset) for item in found] == [
        (raw.locator, raw.offset) for raw in records
    ]
    assert all(item.text == "" or item.verdict is None for item in found)

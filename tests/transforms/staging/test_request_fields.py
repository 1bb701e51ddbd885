"""Fields of a storage request: what a log must hold is refused, what a client chose may be null."""

import pytest

from transforms.redaction import KeyedHash
from transforms.staging import request_fields as f
from transforms.staging.refusal import RefusedError

KEY = KeyedHash(b"a key for tests")


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        (None, None), ("", None), (0, 0), ("0", 0), (224.0, 224), ("224", 224),
        (2**63 - 1, 2**63 - 1),
    ],
)  # fmt: skip
def test_whole_numbers_are_read_in_every_spelling(stated, found):
    assert f.whole(stated, "bytes") == found


@pytest.mark.parametrize(
    "stated", [-1, "-1", 2**63, "x", "1.5", 1.5, True, [], {}, "٣", float("inf")]
)
def test_what_is_no_whole_number_is_refused(stated):
    with pytest.raises(RefusedError, match=r"^bytes: expected "):
        f.whole(stated, "bytes")


@pytest.mark.parametrize("stated", [99, 1_000, "x", -200])
def test_a_status_has_three_digits(stated):
    assert f.status(206) == f.status("206") == 206
    with pytest.raises(RefusedError, match=r"^status: expected "):
        f.status(stated)


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        (None, None),
        ("", None),
        (":443", None),
        ("192.0.2.1:443", "192.0.2.1"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:DB8::1]:443", "2001:db8::1"),
        ("2001:db8::1:443", "2001:db8::1:443"),
        ("[::ffff:192.0.2.1]:1", "192.0.2.1"),
    ],
)
def test_a_port_comes_off_an_address(stated, found):
    assert f.address_without_port(stated, "address") == found


@pytest.mark.parametrize("stated", ["x", "x:443", "192.0.2.1:x", "[]:1", "1" * 90])
def test_what_is_no_address_is_refused(stated):
    with pytest.raises(RefusedError, match=r"^address: expected "):
        f.address_without_port(stated, "address")


@pytest.mark.parametrize(
    ("operation", "status", "part", "found"),
    [
        ("read", 206, None, True),
        ("read", 416, False, True),
        ("read", 200, None, False),
        ("read", 200, True, True),
        ("read", None, False, False),
        ("read", None, None, None),
        ("read", 404, None, None),
        ("write", 206, True, None),
    ],
)
def test_a_part_is_told_by_status_or_request(operation, status, part, found):
    assert f.is_range(operation, status, asks_for_part=part) is found


@pytest.mark.parametrize(
    ("asked", "sent", "size", "found"),
    [
        ("bytes=0-99", None, None, 0),
        ("bytes=5-", None, 100, 5),
        ("bytes=-30", None, 100, 70),
        ("bytes=-300", None, 100, 0),
        ("bytes=-30", None, None, None),
        ("bytes=5-9", "bytes 7-9/100", 100, 7),
        (None, "bytes 7-9/*", None, 7),
        ("bytes=5-9", "bytes */100", 100, 5),
        ("bytes=0-1,5-6", None, 100, None),
        ("bytes=-", None, 100, None),
        ("bytes=x-", "bytes FAKE", 100, None),
        (f"bytes={2**63}-", None, None, None),
        (f"bytes=0{'9' * 30}-", None, None, None),
        (None, None, 100, None),
    ],
)
def test_where_a_part_begins_is_told_by_the_answer_else_by_what_was_asked(asked, sent, size, found):
    assert f.response_offset("read", 206, asked, sent, size) == found
    assert f.response_offset("read", 200, asked, sent, size) is None
    assert f.response_offset("write", 206, asked, sent, size) is None


def test_parameters_that_stand_twice_say_nothing():
    asked = f.query_parameters("a=1&b=x%2Fy&a=2&c")
    assert asked == {"a": ["1", "2"], "b": ["x/y"], "c": [""]}
    assert (f.only(asked, "a"), f.only(asked, "b"), f.only(asked, "d")) == (None, "x/y", None)
    assert f.query_parameters("") == {}


@pytest.mark.parametrize(
    ("stated", "found"),
    [(1_500.0, 1.5), (0, 0.0), (None, None), (-1, None), (10**12, None), (604_800_000, 604_800.0)],
)
def test_a_duration_is_not_negative_and_at_most_a_week(stated, found):
    assert f.seconds(stated, 1_000) == found


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ('"0x8D"', "0x8D"), ('W/"a"', "a"), ("plain", "plain"), ("", None), (None, None),
        ('""', None),
    ],
)  # fmt: skip
def test_an_entity_tag_loses_its_quotes(stated, found):
    assert f.etag(stated) == found


def test_a_key_id_is_only_kept_as_a_keyed_hash():
    assert f.key_id_hash("ASIAFAKEEXAMPLE", KEY) == KEY.of("ASIAFAKEEXAMPLE")
    for stated in ("", None, "a b", "x" * 129):
        assert f.key_id_hash(stated, KEY) is None
    assert f.key_id_hash("ASIAFAKEEXAMPLE", KeyedHash(None)) is None


def test_text_that_would_be_no_utf8_stays_encoded():
    assert (f.decoded("a%2Fb"), f.decoded("%C3%A9"), f.decoded("%ff")) == ("a/b", "é", "%ff")


def test_hosts_lose_their_port_and_case():
    assert f.host("Storage.Googleapis.com:443") == "storage.googleapis.com"
    assert (f.host(None), f.host(""), f.host("a b"), f.host("x" * 600)) == (None,) * 4

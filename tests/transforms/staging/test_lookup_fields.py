"""Fields of look-ups: one spelling for what logs write in many, a reason for what cannot be."""

import pytest

from transforms.staging import lookup_fields as f
from transforms.staging.refusal import RefusedError


@pytest.mark.parametrize(
    ("stated", "value"),
    [(None, None), (0, 0), (53, 53), ("53", 53), ("65535", 65_535)],
)
def test_a_port_is_a_number_or_its_text(stated, value):
    assert f.port(stated, "port") == value


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        (True, "port: expected a whole number, got true"),
        (1.5, "port: expected a whole number, got 1.5"),
        ("", "port: expected a whole number, got empty text"),
        ("x", "port: expected a whole number, got text of 1 characters"),
        ("٣", "port: expected a whole number, got text of 1 characters"),
        ("9" * 11, "port: expected a whole number, got `99999999999`"),
        (65_536, "port: expected 0 to 65535, got 65536"),
        (-1, "port: expected 0 to 65535, got -1"),
        ([], "port: expected a whole number, got an array"),
    ],
)
def test_what_is_no_port_is_refused(stated, reason):
    with pytest.raises(RefusedError) as caught:
        f.port(stated, "port")
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("stated", "value"),
    [("udp", "UDP"), ("DOH", "DOH"), ("", None), (None, None), ("U-P", None), ("x" * 99, None)],
)
def test_a_transport_is_one_word_in_capitals(stated, value):
    assert f.transport(stated) == value


@pytest.mark.parametrize(
    ("seconds", "value"),
    [(0.25, 0.25), (86_400.0, 86_400.0), (0.0, None), (-1.0, None), (86_401.0, None), (None, None)],
)
def test_a_latency_is_positive_and_at_most_a_day(seconds, value):
    assert f.measured_seconds(seconds) == value


@pytest.mark.parametrize(
    ("kind", "data", "stored"),
    [
        ("A", "203.0.113.7", "203.0.113.7"),
        ("AAAA", "2001:DB8:0:0:0:0:0:7", "2001:db8::7"),
        ("A", "1" * 65, None),
        ("CNAME", "Edge.Example.net.", "edge.example.net"),
        ("TXT", "api_key=FAKE-EXAMPLE", "api_key=***"),
    ],
)
def test_data_of_an_answer_has_the_form_of_its_type(kind, data, stored):
    assert f.answer_data(kind, data, is_escaped=True) == stored
    assert f.answer_data(kind, data, is_escaped=False) == stored


def test_names_are_escaped_once():
    assert f.answer_data("PTR", r"a\.b.x", is_escaped=True) == r"a\.b.x"
    assert f.answer_data("PTR", r"a\.b.x", is_escaped=False) == r"a\\.b.x"


@pytest.mark.parametrize("name", ["a" * 1_021, "é" * 200])
def test_a_name_longer_than_names_can_be_is_refused(name):
    for read in (f.raw_name, f.escaped_name):
        with pytest.raises(RefusedError, match=r"\Aname: expected at most 1020 characters"):
            read(name)


@pytest.mark.parametrize(
    ("owner", "place", "asked"),
    [
        (None, 0, "huggingface.co"),
        ("huggingface.co.ml.svc.cluster.local", 0, "huggingface.co"),
        ("huggingface.co.ml.svc.cluster.local", 1, "huggingface.co"),
        ("other", 0, "huggingface.co.ml.svc.cluster.local"),
        (None, 1, "huggingface.co.ml.svc.cluster.local"),
    ],
)
def test_an_alias_of_the_asked_name_itself_proves_a_search_suffix(owner, place, asked):
    name = "huggingface.co.ml.svc.cluster.local"
    answers = [f.answer("A", "203.0.113.7", owner="other")]
    answers.insert(place, f.answer("CNAME", "huggingface.co", owner=owner))
    # Without an alias the name is decided otherwise: SERVFAIL proves nothing.
    assert f.asked(name, "SERVFAIL")["query_name"] != "huggingface.co"
    assert f.asked(name, "SERVFAIL", answers=answers)["query_name"] == asked


@pytest.mark.parametrize(
    ("ttl", "stored"), [(0, 0), (2**31 - 1, 2**31 - 1), (2**31, None), (-1, None), (None, None)]
)
def test_a_time_to_live_out_of_range_is_not_stored(ttl, stored):
    assert f.answer("A", "203.0.113.7", ttl=ttl)["ttl"] == stored

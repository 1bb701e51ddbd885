"""Names, types and codes of DNS in one spelling."""

import pytest

from transforms.staging.dns_names import (
    asked_name,
    presentation_of,
    query_type,
    rcode_name,
    safe_presentation,
)


@pytest.mark.parametrize(
    ("presentation", "name"),
    [
        ("Example.COM.", "example.com"),
        ("example.com", "example.com"),
        (".", "."),
        ("", "."),
        (r"a\.b.example.com.", r"a\.b.example.com"),
        ("a\\.", "a\\."),
        (r"\032x.example.com.", r"\032x.example.com"),
        ("ÀB.", "Àb"),
        ("akiaiosfodnn7example.x.example.com.", "***.x.example.com"),
    ],
)
def test_a_name_is_lower_case_without_its_final_dot(presentation, name):
    assert asked_name(presentation) == name


@pytest.mark.parametrize(
    ("raw", "presentation"),
    [
        ("example.com", "example.com"),
        ("_tcp.example.com", "_tcp.example.com"),
        ("a b@c\"\\'();.x", "a\\ b\\@c\\\"\\\\\\'\\(\\)\\;.x"),
        ("a\x00\n\x7f.x", "a\\000\\010\\127.x"),
        ("é.x", "\\195\\169.x"),
        ("", ""),
        (b"example.com", "example.com"),
        (b"\xff a.x", "\\255\\ a.x"),
        ("é.x".encode(), "\\195\\169.x"),
    ],
)
def test_a_raw_name_is_escaped_as_dns_software_prints_it(raw, presentation):
    assert presentation_of(raw) == presentation


@pytest.mark.parametrize(
    ("presentation", "safe"),
    [
        ("example.com.", "example.com."),
        (r"a\.b\032c.x", r"a\.b\032c.x"),
        (r"a\ b.x", r"a\ b.x"),
        ("a\x00\n.x", r"a\000\010.x"),
        ("é.x", r"\195\169.x"),
        ("", ""),
    ],
)
def test_a_name_in_presentation_form_keeps_its_escapes(presentation, safe):
    assert safe_presentation(presentation) == safe


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A", "A"),
        ("aaaa", "AAAA"),
        ("TYPE65", "HTTPS"),
        ("TYPE65534", "TYPE65534"),
        ("NIMLOC", "NIMLOC"),
        ("TYPE65536", None),
        ("A B", None),
        ("", None),
        ("1", None),
        ("X" * 17, None),
    ],
)
def test_a_type_has_one_name(text, name):
    assert query_type(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NOERROR", "NOERROR"),
        ("NXDOMAIN", "NXDOMAIN"),
        ("23", "BADCOOKIE"),
        ("3841", "3841"),
        ("BADSIG", "BADVERS"),
        ("4096", None),
        ("NOERR", None),
        ("-1", None),
        ("", None),
    ],
)
def test_a_code_has_one_name(text, name):
    assert rcode_name(text) == name

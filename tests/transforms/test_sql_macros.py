"""Macros come into a session with the texts that call them."""

from transforms.sql import SqlSession
from transforms.sql_macros import MACROS, macros_in, made


def test_a_macro_brings_those_that_it_calls_before_it() -> None:
    assert macros_in("SELECT image_resource(a, b, c) FROM t") == (
        "image_registry",
        "image_path",
        "image_repository",
        "image_resource",
    )
    assert macros_in("SELECT is_public_address(a)") == ("is_private_address", "is_public_address")


def test_a_name_within_another_word_calls_nothing() -> None:
    assert macros_in("SELECT my_row_id, row_ids, image_paths FROM t") == ()


def test_every_macro_can_be_made_from_those_before_it() -> None:
    with SqlSession() as session:
        for name in MACROS:
            session.connection.execute(made(name))
        row = session.connection.execute(
            "SELECT in_64_bits(9223372036854775808::HUGEINT), address_bits('::1'), "
            "image_resource('busybox:1.36', 'docker.io', NULL), "
            "is_public_address('192.168.0.1'), is_public_address('8.8.8.8')"
        ).fetchone()
    assert row == (
        9_223_372_036_854_775_807,
        "6" + "0" * 127 + "1",
        "oci://docker.io/library/busybox:1.36",
        False,
        True,
    )


def test_a_refused_credential_is_told_by_its_code_or_status() -> None:
    with SqlSession() as session:
        session.connection.execute(made("is_refused_credential"))
        refused = session.connection.execute(
            "SELECT [e FOR e IN ['401', '403', 'ExpiredToken', 'AccessDenied', '4010', 'no 401', "
            "'the last write failed: 401', 'UNAUTHENTICATED'] IF is_refused_credential(e)], "
            "is_refused_credential(NULL)"
        ).fetchone()
    assert refused == (
        ["401", "ExpiredToken", "the last write failed: 401", "UNAUTHENTICATED"],
        False,
    )


def test_parts_of_what_moved_add_up_and_layers_are_ordered() -> None:
    """100 bytes over seven: floors of 14.3, 85.7 and 100; the largest number does no harm."""
    with SqlSession() as session:
        for name in ("moved_until", "moved_between", "layer_rank", "layer_of"):
            session.connection.execute(made(name))
        found = session.connection.execute(
            "SELECT [moved_between(100, 4, 11, e, e + 5) FOR e IN [-5, 0, 5, 10, 11]], "
            "moved_between(9223372036854775807, 0, 3, 0, 2), "
            "layer_of(MAX(layer_rank(layer))) FROM (VALUES ('body'), ('packet'), (NULL)) v(layer)"
        ).fetchone()
    assert found == ([0, 14, 71, 15, 0], 6_148_914_691_236_517_204, "packet")

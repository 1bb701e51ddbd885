import pytest

from transforms.staging.stored_text import (
    NAME_LIMIT,
    TEXT_LIMIT,
    free_text,
    is_secret_name,
    name_text,
    pairs,
)


def test_an_empty_text_is_null() -> None:
    assert free_text("") is None
    assert free_text(None) is None
    assert name_text("") is None
    assert name_text(None) is None


def test_a_secret_in_a_text_is_masked() -> None:
    assert free_text("login failed: password=planted") == "login failed: password=***"


def test_long_texts_are_cut_visibly() -> None:
    assert free_text("a b " * 5_000) == ("a b " * 5_000)[: TEXT_LIMIT - 1] + "…"
    assert name_text("a-" * 5_000) == ("a-" * 5_000)[: NAME_LIMIT - 1] + "…"


def test_a_secret_at_the_cut_is_not_shown() -> None:
    found = free_text("a " * (TEXT_LIMIT // 2 - 8) + "password=planted-secret")
    assert found is not None
    assert "planted" not in found


def test_pairs_are_ordered_and_keep_what_null_is() -> None:
    assert pairs({"b": 1.5, "a": "x", "c": None, "d": [1, {"e": True}], "f": ""}) == [
        {"name": "a", "value": "x"},
        {"name": "b", "value": "1.5"},
        {"name": "c", "value": None},
        {"name": "d", "value": '[1,{"e":true}]'},
        {"name": "f", "value": ""},
    ]
    assert pairs({}) is None
    assert pairs(None) is None


def test_a_value_whose_name_says_that_it_is_secret_is_masked() -> None:
    assert pairs({"db_password": "plain words", "token": 5, "tokenizer": "bert"}) == [
        {"name": "db_password", "value": "***"},
        {"name": "token", "value": "***"},
        {"name": "tokenizer", "value": "bert"},
    ]


def test_a_secret_inside_a_nested_value_is_masked() -> None:
    found = pairs({"settings": {"api_key": "planted", "lr": 0.1}})
    assert found == [{"name": "settings", "value": '{"api_key":"***","lr":0.1}'}]


@pytest.mark.parametrize(
    ("name", "secret"),
    [("password", True), ("HF_TOKEN", True), ("lr", False), ("dataset", False), ("", False)],
)
def test_secret_names(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret

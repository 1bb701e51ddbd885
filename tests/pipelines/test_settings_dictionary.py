"""Every setting is listed with what it says, from the models that check it."""

import json

import pytest
import yaml

from pipelines.fixtures import FIXTURES
from pipelines.settings_dictionary import all_settings
from tests.pipelines.cli.command import podledger


def test_every_setting_says_what_it_is() -> None:
    found = all_settings()
    assert [s.key for s in found if not s.description] == []
    assert len({s.key for s in found}) == len(found)


@pytest.mark.parametrize(
    ("key", "expected", "default"),
    [
        ("lake", "text", "required"),
        ("memory_limit", "size such as 4GB", "4000000000"),
        ("final_after", "duration such as 36h", "3d"),
        ("look_back.pods", "duration such as 36h", "36h"),
        ("retention_days", "whole number of days or mapping", "none"),
        ("buckets", "text or mapping by name", "none"),
        ("reference.address_ranges", "list of text or mapping", "none"),
        ("retention_days.marts", "whole number", "none"),
        ("clusters.NAME.cloud", "`aws` or `azure` or `gcp`", "none"),
        ("clusters.NAME.subnets[].cidr", "text", "required"),
        ("exports[].clusters", "list of text", "none"),
        ("exports[].expect.by_hour_utc", "whole number", "none"),
        ("buckets.NAME.requester_pays", "true or false", "false"),
        ("reference.address_ranges[].valid_from", "day", "none"),
    ],
)
def test_what_is_expected_is_said(key: str, expected: str, default: str) -> None:
    (setting,) = [s for s in all_settings() if s.key == key]
    assert (setting.expected, setting.default) == (expected, default)


def test_the_settings_of_the_fixtures_are_all_listed() -> None:
    keys = {s.key for s in all_settings()}
    content = yaml.safe_load((FIXTURES / "podledger.yaml").read_text(encoding="utf-8"))
    assert set(content) <= keys
    assert {f"exports[].{key}" for export in content["exports"] for key in export} <= keys


def test_the_command_prints_the_list() -> None:
    shown = podledger("dictionary", "--settings")
    assert shown.code == 0
    assert "| `final_after` | duration such as 36h | 3d | How long after an hour" in shown.out
    listed = json.loads(podledger("dictionary", "--settings", "--json").out)
    assert {row["key"] for row in listed} == {s.key for s in all_settings()}
    refused = podledger("dictionary", "runs", "--settings")
    assert (refused.code, "expected one of them" in refused.err) == (2, True)
